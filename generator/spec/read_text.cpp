// kernel, doc, license, body and functions. Code is taken from literal strings only: they have no escapes, so that the
// columns of messages about it are those of the file.
#include <algorithm>
#include <filesystem>

#include "spec/read.h"
#include "support/files.h"
#include "support/text.h"

namespace kgen {
namespace fs = std::filesystem;

namespace {

// Headers of C and of CUDA that a header of this name would stand before, in the folders that a compiler looks into.
constexpr std::string_view kHeaders[] = {
    "assert",           "complex", "ctype",    "cuda",        "cuda_bf16", "cuda_fp16", "cuda_runtime",
    "device_functions", "errno",   "fenv",     "float",       "inttypes",  "iso646",    "limits",
    "locale",           "malloc",  "math",     "memory",      "omp",       "pthread",   "sched",
    "setjmp",           "signal",  "stdalign", "stdarg",      "stdatomic", "stdbool",   "stddef",
    "stdint",           "stdio",   "stdlib",   "stdnoreturn", "string",    "strings",   "tgmath",
    "threads",          "time",    "uchar",    "unistd",      "wchar",     "wctype"};

void read_kernel(Reader &reader, const Node &node) {
  const auto name = read_string(reader, node, "`kernel`");
  if (!name)
    return;
  constexpr size_t kLongest = 100; // it becomes the name of files
  reader.spec.kernel = *name;
  reader.spec.kernel_place = node.text.at(0, name->size());
  if (!is_identifier(*name) || name->size() > kLongest)
    reader.diags.add(DiagId::spec_bad_name, reader.spec.kernel_place, {*name}).help =
        "a name has up to 100 letters, digits and _, and does not begin with a digit";
  else if (is_keyword(*name))
    reader.diags.add(DiagId::spec_reserved_name, reader.spec.kernel_place, {*name, "a word of C++"});
  else if (std::find(std::begin(kHeaders), std::end(kHeaders), *name) != std::end(kHeaders))
    reader.diags.add(DiagId::spec_reserved_name, reader.spec.kernel_place, {*name, "the name of a system's header"});
}

// Text for the heads of the emitted files.
std::string read_prose(Reader &reader, const Entry &entry) {
  constexpr size_t kLongest = 20'000;
  std::string text = read_string(reader, entry.value, ticked(entry.key)).value_or("");
  if (text.size() > kLongest)
    reader.diags
        .add(DiagId::spec_too_large, entry.place,
             {ticked(entry.key) + " has more than " + std::to_string(kLongest) + " characters"})
        .help = "it is repeated in every file: name a place where more is said";
  return text;
}

Text read_code(Reader &reader, const Entry &entry) {
  const Node &node = entry.value;
  Text out;
  if (!read_string(reader, node, ticked(entry.key)))
    out.place = node.place;
  else if (!node.literal)
    reader.diags.add(DiagId::spec_code_not_literal, out.place = node.place, {entry.key}).help =
        "write it between ''' and ''' (or ' and '): there backslashes and quotes stand for themselves, and messages "
        "find "
        "the column";
  else
    out = {node.text.text, node.text.start};
  if (entry.key == "body" && node.literal && trim(out.text).empty())
    reader.diags.add(DiagId::spec_empty_body, node.place);
  return out;
}

bool lies_below(const fs::path &path, const fs::path &root) {
  const fs::path relative = path.lexically_relative(root);
  return !relative.empty() && *relative.begin() != "..";
}

// Only below the spec's folder or an include root: a spec from elsewhere must not read what it likes.
Text read_functions_from(Reader &reader, const Node &node) {
  const auto name = read_string(reader, node, "`functions_from`");
  if (!name)
    return {};
  auto refuse = [&](const std::string &why) {
    Diagnostic &d = reader.diags.add(DiagId::spec_functions_file, node.place, {*name, why});
    return &d;
  };
  const fs::path relative(*name);
  bool climbs = false;
  for (const fs::path &part : relative)
    climbs = climbs || part == "..";
  if (name->empty() || relative.is_absolute() || climbs || name->find('\\') != std::string::npos) {
    refuse("it must be a path without `..` below the folder of the spec")->help =
        "other folders are named on the command line: --include FOLDER";
    return {};
  }
  std::vector<std::string> roots = {fs::path(reader.spec.path).parent_path().string()};
  roots.insert(roots.end(), reader.options.include_roots.begin(), reader.options.include_roots.end());
  for (const std::string &root : roots) {
    std::error_code error;
    const fs::path shown = fs::path(root) / relative;
    if (!fs::exists(shown, error))
      continue;
    const fs::path real_root = fs::canonical(root.empty() ? "." : root, error);
    const fs::path real = fs::canonical(shown, error);
    std::string reason;
    if (error || !lies_below(real, real_root))
      return refuse("a link leads out of the folder"), Text{};
    const bool regular = fs::is_regular_file(real, error);
    const auto text = regular ? read_file(shown.string(), kLargestSource, reason) : std::nullopt;
    if (!regular)
      reason = fs::is_directory(real, error) ? "it is a folder" : "it is not a file of text";
    if (!text)
      return refuse(reason), Text{};
    if (find_bad_utf8(*text) != std::string::npos || find_control(*text) != std::string::npos)
      return refuse("it is not UTF-8 text without control characters"), Text{};
    reader.diags.add_source(shown.string(), *text);
    return {*text, Place{shown.string(), 1, 1, 1}};
  }
  refuse("there is no such file")->help =
      "looked in the folder of the spec" + std::string(roots.size() > 1 ? " and the include folders" : "");
  return {};
}

} // namespace

void read_text(Reader &reader, const Node &root) {
  Spec &spec = reader.spec;
  bool has_kernel = false, has_body = false;
  for (const Entry &entry : root.entries) {
    if (entry.key == "kernel") {
      has_kernel = true;
      read_kernel(reader, entry.value);
    } else if (entry.key == "doc") {
      spec.doc = read_prose(reader, entry);
    } else if (entry.key == "license") {
      spec.license = read_prose(reader, entry);
    } else if (entry.key == "backward_of") {
      spec.backward_of = read_prose(reader, entry);
    } else if (entry.key == "backward") {
      spec.backward = read_prose(reader, entry);
      spec.backward_place = entry.value.place;
    } else if (entry.key == "body") {
      has_body = true;
      spec.body = read_code(reader, entry);
    } else if (entry.key == "functions") {
      spec.functions = read_code(reader, entry);
    } else if (entry.key == "functions_from") {
      if (root.find("functions") != nullptr)
        reader.diags.add(DiagId::spec_functions_twice, entry.place).help =
            "move all functions into the file, or into the spec";
      else
        spec.functions = read_functions_from(reader, entry.value), spec.functions_from = entry.value.text.text;
    }
  }
  if (!has_kernel && reader.misplaced.count("kernel") == 0)
    reader.diags.add(DiagId::spec_missing_key, reader.file, {"the spec", "kernel"}).help =
        "begin with kernel = \"its_name\", above any [table]";
  if (!has_body && reader.misplaced.count("body") == 0)
    reader.diags.add(DiagId::spec_missing_key, reader.file, {"the spec", "body"}).help =
        "end with body = '''...''', which says what happens to one element";
}

} // namespace kgen
