// Each sentence is printed from what is known of the kernel, so that none can be false of it or say nothing.
#include "emit/interface/contract.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "analysis/in_place.h"
#include "emit/interface/header.h"
#include "emit/text/comments.h"
#include "support/text.h"

namespace kgen {
namespace {

constexpr size_t kLongestFormula = 40; // lines; a longer one is read in the spec

std::string value_text(const ParamValue &value) {
  if (const auto *number = std::get_if<int64_t>(&value))
    return std::to_string(*number);
  if (const auto *name = std::get_if<std::string>(&value))
    return *name;
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) { // as few as give the number back
    std::snprintf(text, sizeof text, "%.*g", digits, std::get<double>(value));
    if (std::strtod(text, nullptr) == std::get<double>(value))
      break;
  }
  return text;
}

// Where a comment, or a text in quotes, that begins at `at` ends; `at` where none does.
size_t end_of_comment(const std::string &code, size_t at) {
  if (code.compare(at, 2, "//") == 0)
    return std::min(code.find('\n', at), code.size());
  if (code.compare(at, 2, "/*") == 0)
    return std::min(code.find("*/", at + 2), code.size() - 2) + 2;
  return at;
}
size_t end_of_quotes(const std::string &code, size_t at) {
  const char quote = code[at];
  if (quote != '"' && quote != '\'')
    return at;
  for (++at; at < code.size() && code[at] != quote; ++at)
    at += code[at] == '\\' ? 1 : 0;
  return std::min(at + 1, code.size());
}

// Code without its comments, and without the lines that hold nothing else. What they say is the spec's.
std::string without_comments(const std::string &code) {
  std::string kept; // as many lines
  for (size_t at = 0; at < code.size();) {
    if (const size_t end = end_of_comment(code, at); end != at) {
      for (; at != end; ++at)
        kept += code[at] == '\n' ? "\n" : "";
      continue;
    }
    const size_t end = std::max(end_of_quotes(code, at), at + 1);
    kept += code.substr(at, end - at);
    at = end;
  }
  std::string out, before, after;
  for (std::istringstream was(code), is(kept); std::getline(was, before);) {
    std::getline(is, after);
    if (after.erase(after.find_last_not_of(" \t") + 1).empty() && !trim(before).empty())
      continue;
    out += after + "\n";
  }
  return out;
}

// Code of the spec, indented; nothing where it is too long.
std::string code_of_spec(const std::string &title, const std::string &code) {
  const std::string own(trim(without_comments(code)));
  if (own.empty() || static_cast<size_t>(std::ranges::count(own, '\n')) >= kLongestFormula)
    return "";
  std::string text = title + ":\n";
  for (const std::string &line : split(own, '\n'))
    text += "  " + line + "\n";
  return text;
}

// The body says what happens to one element; the functions that it calls, and its constants, stand beside it.
std::string formula(const Spec &spec) {
  std::string text = code_of_spec("Each element, by named axes", spec.body.text);
  if (!text.empty())
    text += spec.functions_from.empty() ? code_of_spec("with the functions", spec.functions.text)
                                        : "with the functions of " + spec.functions_from + "\n";
  std::string constants;
  for (const Param &param : spec.params) {
    std::vector<std::string> values;
    for (const ParamValue &value : param.choices)
      values.push_back(value_text(value));
    constants += (constants.empty() ? "with " : ", ") + param.name + " = " + join(values, " or ");
  }
  return text + (constants.empty() ? "" : constants + "\n");
}

template <class Choose> std::string names_where(const Function &function, Choose choose) {
  std::vector<std::string> names;
  for (const Argument &a : function.arguments)
    if (choose(a))
      names.push_back(a.name);
  return join(names, ", ");
}

bool has_type(const Kernel &kernel, bool (*is)(Type)) {
  return std::ranges::any_of(kernel.vars, [&](const Var &var) { return is(var.type); });
}

std::string arrays(const std::vector<Function> &functions) {
  const Function &function = functions.front();
  const Kernel &kernel = function.variations[0]->kernel;
  const std::string strided =
      names_where(function, [&](const Argument &a) { return a.var != kNone && kernel.vars[a.var].strided; });
  std::string text = "Arrays: dense and row-major, the last index is the fastest";
  if (!strided.empty())
    text += "; but " + strided + " by strides, in elements";
  text += ". Each lies at a multiple of its element's size, which is checked.";
  if (std::ranges::any_of(functions, [](const Function &f) { return has_type(f.variations[0]->kernel, is_half); }))
    text += " bf16 and f16 are uint16_t.";
  return text + "\n";
}

std::string aliasing(const Function &function) {
  std::vector<InPlace> of_each; // of the sizes that the function was made for
  for (const Variation *v : function.variations)
    of_each.emplace_back(v->kernel, v->facts);
  std::string text = "Aliasing: an output shares no memory with another array";
  bool any = false;
  for (const Argument &out : function.arguments) {
    const std::string inputs = names_where(function, [&](const Argument &in) {
      return (out.kind == Argument::Kind::out || out.kind == Argument::Kind::inout) && in.kind == Argument::Kind::in &&
             std::ranges::all_of(of_each, [&](const InPlace &one) { return one.allowed(in.var, out.var); });
    });
    if (inputs.empty())
      continue;
    text += (any ? ", " : "; but exactly, element for element, ") + out.name + " may be " +
            (inputs.find(',') == std::string::npos ? inputs : "one of " + inputs);
    any = true;
  }
  return text + ".\n";
}

std::string numbers(const std::vector<Function> &functions) {
  const auto floating = [](const Function &f) { return has_type(f.variations[0]->kernel, is_floating); };
  if (std::ranges::none_of(functions, floating))
    return "Numbers: whole ones wrap around at the width that they are computed in.\n";
  const bool tables = !functions[0].variations[0]->kernel.tables.empty();
  return std::string("Numbers: NaN and infinity go through the formula as IEEE arithmetic has them; min and max pass "
                     "NaN on. Half precision is computed in f32.") +
         (tables ? " Whole numbers wrap around at the width that they are computed in." : "") +
         "\n"
         "Accuracy: tests hold each result r to 4 u |r| + 8 u' (1 + log2 n) S of the exact one, with u and u' the unit "
         "roundoff of the stored and of the computed type, n the longest sum, and S the magnitude of what is summed.\n";
}

std::string bits(const Function &function, bool openmp) {
  const Kernel &kernel = function.variations[0]->kernel;
  const std::string any_order = names_where(function, [&](const Argument &a) {
    return a.var != kNone && kernel.vars[a.var].atomic && is_floating(kernel.vars[a.var].type);
  });
  std::string text = "Determinism: the same arguments give the same bits in each run of a binary on one machine, for "
                     "any number of threads";
  text += any_order.empty() ? "." : "; but " + any_order + ", to which floats are added in any order, may differ.";
  if (openmp && has_type(kernel, is_floating))
    text += " OpenMP functions give them whatever compiler and flags made the binary, as long as the set of "
            "instructions is the same, and the C library; other sets may differ in the last bits. KGEN_ISA in the "
            "environment names the set to take: baseline, avx2, avx512, avx512_bf16 or neon.";
  return text + "\n";
}

std::string threads() {
  return "Threads (OpenMP): as many as OpenMP gives. Functions keep no state, so that any number of threads may call "
         "them at once.\n";
}

// May blocks of a GPU wait for each other, in calls of some function?
bool have_teams(const std::vector<Function> &functions) {
  return std::ranges::any_of(functions, [](const Function &function) {
    return std::ranges::any_of(function.variations, [](const Variation *variation) {
      return blocks_wait(variation->plans.at(TargetKind::cuda));
    });
  });
}

std::string cuda(const std::vector<Function> &functions) {
  const Function &function = functions.front();
  const Kernel &kernel = function.variations[0]->kernel;
  const std::string on_host =
      names_where(function, [&](const Argument &a) { return a.table != kNone && kernel.tables[a.table].on_host; });
  std::string text = "CUDA: arrays are device memory" + (on_host.empty() ? "" : ", but " + on_host + ", of the host") +
                     ". The stream belongs to the current device. A function returns when its work is in the stream, "
                     "and waits for nothing; its status is about the arguments and the launches. What depends on the "
                     "device and on the sizes is decided in the call, for a graph when it is captured.";
  if (has_type(kernel, is_floating))
    text += " nvcc makes fused multiply-adds of products and sums, unless -fmad=false is given to it.";
  if (have_teams(functions))
    text += " Several blocks may share a row. They must run at once: a device, or a part of one, that has no room for "
            "them shares rows in other ways, with other roundings, or answers with its error.";
  if (has_device_tables(kernel))
    text += " What is wrong with entries of tables gets into *table_status, in device memory, if it is not null: it "
            "becomes the greatest status of those and of what is there, so set it to 0 before. Entries that must be "
            "unique, or that may not come back, are not looked at. Whatever the entries, "
            "nothing outside the arrays is touched, and no loop is endless; results of wrong ones mean nothing.";
  return text + "\n";
}

std::string workspace(const std::vector<Function> &functions,
                      const std::map<std::string, const TargetSource *> &targets) {
  std::string text =
      "Workspace: memory for what is kept in between, as many bytes as ..._workspace says for the sizes "
      "(where a size is refused by itself, a status as a negative number), for one call at a time. Null: the "
      "function allocates it.";
  const auto has_team = [](const Function &function) {
    return std::ranges::any_of(function.variations, [](const Variation *variation) {
      return threads_have_memory(variation->plans.at(TargetKind::openmp));
    });
  };
  if (targets.count("openmp") != 0 && std::ranges::any_of(functions, has_team))
    text +=
        " For OpenMP fewer bytes, down to those for one thread, are taken too: fewer threads work then, and the bits "
        "are the same.";
  const auto cuda = targets.find("cuda");
  const auto takes = [&](const Function &one) { return takes_workspace(one, "cuda", *cuda->second); };
  if (cuda != targets.end() && std::ranges::any_of(functions, takes))
    text += " For CUDA it lies at a multiple of 16 bytes, and what is in it does not matter; calls in two streams need "
            "two. What the function allocates is taken and given back in the stream: a graph captured from that "
            "cannot be the child of another.";
  return text + "\n";
}

} // namespace

std::string contract_text(const Spec &spec, const std::vector<Function> &functions,
                          const std::map<std::string, const TargetSource *> &targets, bool memory) {
  const Function &function = functions.front();
  std::string text = formula(spec);
  text += (text.empty() ? "" : "\n") + arrays(functions) + aliasing(function) + numbers(functions) +
          bits(function, targets.count("openmp") != 0);
  if (targets.count("openmp") != 0)
    text += threads();
  if (targets.count("cuda") != 0)
    text += cuda(functions);
  if (memory)
    text += workspace(functions, targets);
  return as_comment(text + "Status: 0, or what is wrong with the arguments, checked before anything is written; " +
                    spec.kernel + "_error explains it.\n");
}

} // namespace kgen
