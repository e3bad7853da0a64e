#include "emit/text/helpers.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "emit/interface/header.h"
#include "emit/interface/statuses.h"
#include "emit/openmp/instruction_sets.h"
#include "emit/text/comments.h"
#include "support/check.h"
#include "support/text.h"

namespace kgen {

namespace {

const HelperNames kOpenmp = {"kgen_openmp.h", "kgen_openmp", "KGEN_OPENMP_REVISION", "openmp/kgen_openmp.h"};
const HelperNames kCuda = {"kgen_cuda.h", "kgen_cuda", "KGEN_CUDA_REVISION", "cuda/kgen_cuda.h"};

// In the order in which files have them.
std::vector<std::string> helper_files(TargetKind target) {
  if (target == TargetKind::cuda)
    return {"common/helpers.h", "common/checks.h", "cuda/helpers.h",
            "cuda/rows.h",      "cuda/scans.h",    "common/element_types.h"};
  return {"common/helpers.h",
          "common/checks.h",
          "openmp/helpers.h",
          "openmp/workspace.h",
          "openmp/lanes.h",
          "openmp/memory.h",
          "openmp/extremes.h",
          "openmp/folds.h",
          "openmp/conversions.h",
          "openmp/maths.h",
          "openmp/maths_in_doubles.h",
          "common/element_types.h",
          "openmp/element_lanes.h",
          "openmp/cuts.h",
          "openmp/tiles.h",
          "openmp/contract_narrow.h",
          "openmp/contract.h",
          "openmp/contract_words.h"};
}

HelperSections sections_of(const Templates &templates, TargetKind target) {
  const bool cuda = target == TargetKind::cuda;
  HelperSections out;
  for (const std::string &file : helper_files(target))
    out.add(templates.text(file));
  for (auto &[name, text] : out.sections) {
    replace_all(text, "FUNCTION", cuda ? "__host__ __device__ inline" : "inline");
    replace_all(text, "EXP_F32", cuda ? "expf" : "std::exp");
    replace_all(text, "EXP_F64", cuda ? "exp" : "std::exp");
  }
  return out;
}

std::string without_template(const std::string &line) {
  if (!line.starts_with("template <"))
    return line;
  int open = 0;
  for (size_t at = line.find('<'); at < line.size(); ++at)
    if (open += (line[at] == '<') - (line[at] == '>'); open == 0)
      return std::string(trim(line.substr(at + 1)));
  return "";
}

// What a line declares outside of all braces, where lines of helpers begin without blanks: `inline T name(...`,
// `constexpr int kName = ...`, `struct Name`. Empty: nothing.
std::string declared_by(const std::string &line) {
  const std::string text = without_template(line);
  if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_'))
    return "";
  std::string word;
  bool goes_on = false, is_type = false;
  int open = 0;
  for (const char c : text + "\n") {
    const bool is_part = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (open == 0 && is_part) {
      word = goes_on ? word + c : std::string(1, c);
    } else if (open == 0) {
      const bool opens_type = word == "struct" || word == "class" || word == "union" || word == "using";
      const bool ends = std::string_view("(={;").find(c) != std::string_view::npos && word != "__attribute__";
      if (ends || (goes_on && is_type && !opens_type))
        return word;
      is_type = is_type || opens_type;
    }
    open += (c == '<' || c == '(') - (c == '>' || c == ')');
    goes_on = is_part;
  }
  return "";
}

// The helpers that are the same for all sets of instructions: those of launchers, with what they need. CUDA knows no
// sets.
std::set<std::string> shared_names(const Templates &templates, const HelperSections &all, TargetKind target) {
  std::set<std::string> out;
  HelperSections shared;
  if (target == TargetKind::cuda)
    shared = all;
  else
    for (const char *file : {"common/checks.h", "openmp/workspace.h"})
      shared.add(templates.text(file));
  for (const auto &[name, text] : shared.sections)
    out.insert(name);
  return all.with_needs(out);
}

std::string joined_text(const HelperSections &all, std::set<std::string> names) {
  std::string out;
  for (const auto &[name, text] : all.sections)
    if (names.erase(name) != 0)
      if (const std::string_view own = trim(text); !own.empty()) // some only stand for others
        out += std::string(own) + "\n\n";
  KGEN_CHECK(names.empty());
  return out;
}

// Internal linkage, so that objects that were compiled with other flags link into one program. `opening`: what the
// innermost begins with.
std::string in_namespaces(const std::vector<std::string> &names, const std::string &opening,
                          const std::string &helpers) {
  if (helpers.empty())
    return "";
  // Not the other way round: nvcc confuses two unnamed namespaces where one is seen through a using-directive.
  std::string before = "namespace {\n", after;
  for (const std::string &name : names) {
    before += "namespace " + name + " {\n";
    after.insert(0, "}  // namespace " + name + "\n");
  }
  return before + opening + "\n" + helpers + after + "}  // namespace\n";
}

HelperTexts texts_of(const Templates &templates, const HelperSections &all, TargetKind target,
                     const std::set<std::string> &wanted) {
  const std::set<std::string> shared = shared_names(templates, all, target);
  std::set<std::string> first, second;
  for (const std::string &name : all.with_needs(wanted))
    (shared.count(name) != 0 ? first : second).insert(name);
  const std::string outer = helper_names(target).helpers;
  return {in_namespaces({outer}, "", joined_text(all, first)),
          in_namespaces({outer, "KGEN_SET"}, "using namespace " + outer + ";  // for those who use this one\n",
                        joined_text(all, second))};
}

std::string revision_of(const Templates &templates, TargetKind target) {
  std::istringstream in(templates.text("revisions.txt"));
  for (std::string header, number, hash; in >> header >> number >> hash;)
    if (header == helper_names(target).header)
      return number;
  KGEN_UNREACHABLE("a helper header without a revision");
}

} // namespace

const HelperNames &helper_names(TargetKind target) { return target == TargetKind::cuda ? kCuda : kOpenmp; }

const std::set<std::string> &names_of_helpers() {
  static const std::set<std::string> names = [] {
    std::set<std::string> out;
    for (TargetKind target : {TargetKind::openmp, TargetKind::cuda})
      for (const std::string &file : helper_files(target)) {
        std::istringstream in(Templates().text(file));
        for (std::string line; std::getline(in, line);)
          out.insert(declared_by(line));
      }
    out.erase("");
    return out;
  }();
  return names;
}

std::string helper_header(const Templates &templates, TargetKind target) {
  const HelperSections all = sections_of(templates, target);
  std::set<std::string> names;
  for (const auto &[name, text] : all.sections)
    names.insert(name);
  const bool cuda = target == TargetKind::cuda;
  const HelperTexts texts = texts_of(templates, all, target, names);
  const std::string every = texts.shared + texts.of_set;
  View view;
  view.set("revision", revision_of(templates, target)).set("helpers", texts.shared);
  view.set("includes", includes(every, cuda ? cuda_includes(every) : std::vector<std::string>{"cstdint", "cstdlib"}));
  view.set("strict_maths", templates.text("common/strict_maths.h"));
  view.set("statuses", status_block(templates));
  if (!cuda)
    view.set("omp", templates.text("openmp/omp.h"))
        .set("sets", templates.text("openmp/sets.h"))
        .set("end_set", templates.text("openmp/end_set.h"))
        .set("set_list", set_views(templates))
        .set("set_helpers", texts.of_set);
  return templates.render(helper_names(target).header_template, view);
}

std::string status_block(const Templates &templates) {
  Views kinds;
  for (const StatusRow &row : status_rows())
    kinds.push_back(
        View().set("name", row.name).set("number", std::to_string(static_cast<int>(row.kind))).set("text", row.text));
  return templates.render("common/statuses.h", View().set("kinds", kinds));
}

std::string helper_include(const Templates &templates, TargetKind target, const std::string &root,
                           const std::string &file) {
  const HelperNames &names = helper_names(target);
  const std::string header = root + names.header;
  View view;
  view.set("header", header).set("macro", names.revision);
  view.set("revision", revision_of(templates, target));
  if (target == TargetKind::cuda)
    return templates.render("cuda/include_helpers.h", view);
  return templates.render("openmp/include_helpers.h", view.set("sets", file_sets(file, header)));
}

HelperTexts helper_texts(const Templates &templates, TargetKind target, const std::set<std::string> &wanted) {
  return texts_of(templates, sections_of(templates, target), target, wanted);
}

std::string helper_text(const Templates &templates, TargetKind target, const std::set<std::string> &wanted) {
  const HelperSections all = sections_of(templates, target);
  return joined_text(all, all.with_needs(wanted));
}

Views includes(const std::string &text, std::vector<std::string> first) {
  static const std::vector<std::pair<std::string, std::string>> table = {{"std::max(", "algorithm"},
                                                                         {"std::sort", "algorithm"},
                                                                         {"std::exp", "cmath"},
                                                                         {"std::", "cmath"},
                                                                         {"INFINITY", "cmath"},
                                                                         {"std::numeric_limits", "limits"},
                                                                         {"std::make_index_sequence", "utility"},
                                                                         {"NAN", "cmath"},
                                                                         {"std::malloc", "cstdlib"},
                                                                         {"std::getenv", "cstdlib"},
                                                                         {"std::strcmp", "cstring"},
                                                                         {"memcpy", "cstring"},
                                                                         {"initializer_list", "initializer_list"},
                                                                         {"std::set", "set"},
                                                                         {"std::conditional", "type_traits"},
                                                                         {"std::enable_if", "type_traits"},
                                                                         {"std::index_sequence", "utility"},
                                                                         {"std::is_", "type_traits"},
                                                                         {"std::vector", "vector"}};
  for (const auto &[word, header] : table)
    if (text.find(word) != std::string::npos && std::find(first.begin(), first.end(), header) == first.end())
      first.push_back(header);
  std::sort(first.begin(), first.end());
  Views out;
  for (const std::string &name : first)
    out.push_back(View().set("name", name));
  return out;
}

std::vector<std::string> cuda_includes(const std::string &text) {
  std::vector<std::string> out = {"cuda_runtime.h"};
  if (text.find("bfloat16") != std::string::npos)
    out.push_back("cuda_bf16.h");
  if (text.find("__half") != std::string::npos)
    out.push_back("cuda_fp16.h");
  return out;
}

} // namespace kgen
