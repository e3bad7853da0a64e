// The one translation unit that Clang parses for all variants of a spec, and the way back from its offsets to the
// user's text. Names that stand for something of the spec are found here again by the converter.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "body/source.h"
#include "spec/spec.h"

namespace kgen::body {

// What a variant's names stand for, in C++ terms.
struct VariantNames {
  Type real = Type::f32;
  bool has_f64 = false;
  std::map<std::string, Type> operands; // arithmetic types, of run-time scalars too
};

struct Unit {
  struct Segment {
    size_t begin = 0; // in `text`
    const SourceText *source = nullptr;
    int variant = 0;
    size_t from = 0, length = 0; // of it in the source
  };

  const Spec *spec = nullptr;
  const std::vector<Variant> *variants = nullptr;
  size_t sets = 0; // of functions, for which these variants stand
  const SourceText *body = nullptr;
  const SourceText *functions = nullptr; // may be null
  std::string text;
  std::vector<Segment> segments;   // ascending
  std::vector<std::string> axes;   // kgen_axis<i>
  std::vector<std::string> grid;   // kgen_grid<i>
  std::vector<VariantNames> names; // one per variant

  int variant_at(size_t offset) const;
  // nullopt: not the user's text.
  std::optional<Span> span(size_t begin, size_t length) const;
};

// Choices that C++ cannot tell apart, as bf16 and f32 or the sizes of an axis, have one tree.
struct DistinctVariants {
  std::vector<Variant> variants; // one of each
  std::vector<size_t> of;        // which of them each of all variants is
};
DistinctVariants distinct(const Spec &spec, const std::vector<Variant> &variants);

struct UnitOptions {
  size_t sets = 1;           // of functions, for which the variants stand
  bool needed_alone = false; // of the user's functions, in all variants but the first
};

// `real_locals`: offsets in the body where `auto` stands for a
// constant and is to be read as `real`.
Unit make_unit(const Spec &spec, const std::vector<Variant> &variants, const UnitOptions &options,
               const SourceText &body, const SourceText *functions, const std::vector<Span> &real_locals);

ParamValue param_value(const Param &param, const Variant &variant);

// What `name` is in this spec, for messages ("an input", "an axis", "a builtin", ...); empty: nothing.
std::string describe_name(const Spec &spec, std::string_view name);

// Every name that a body may use, for did-you-mean; without `of_body` those that functions see.
std::vector<std::string> known_names(const Unit &unit, bool of_body);

} // namespace kgen::body
