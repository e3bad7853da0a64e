#include "emit/openmp/instruction_sets.h"

#include <iterator>

namespace kgen {
namespace {

// Its namespace, and what macros are named after it.
struct InstructionSet {
  std::string name, macro;
};
const InstructionSet kSets[] = {{"baseline", "BASELINE"}, {"avx2", "AVX2"}, {"avx512", "AVX512"}}; // least first

std::string begin_text(const Templates &templates, size_t number) {
  View view;
  view.set("name", kSets[number].name).set("macro", kSets[number].macro).set("number", std::to_string(number));
  view.set("target", number > 0); // the least is what a compiler takes anyway
  return templates.render("openmp/begin_set.h", view);
}

} // namespace

Views set_views(const Templates &templates) {
  Views out;
  for (size_t i = 0; i < std::size(kSets); ++i) {
    const std::string condition =
        i == 0 ? "#if !defined(KGEN_SET_NUMBER)" : "#elif KGEN_SET_NUMBER == " + std::to_string(i - 1);
    out.push_back(
        View().set("condition", condition).set("begin", begin_text(templates, i)).set("macro", kSets[i].macro));
  }
  return out;
}

Views file_sets(const std::string &file, const std::string &header) {
  return Views(std::size(kSets), View().set("file", file).set("header", header));
}

std::string standalone_sets(const Templates &templates, const std::string &file) {
  std::string out;
  for (size_t i = 0; i < std::size(kSets); ++i)
    out += begin_text(templates, i) + "#include \"" + file + "\"\n" + templates.text("openmp/end_set.h");
  return out + "#undef KGEN_SET_NUMBER\n";
}

} // namespace kgen
