#include "emit/interface/arrays.h"

#include <algorithm>

#include "analysis/in_place.h"
#include "emit/interface/computed_sizes.h"
#include "ir/interpret_sizes.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

constexpr size_t kMostPairs = 64; // of arrays that may overlap; with more, a sentence for each is too much

bool is_output(const Argument &a) { return a.kind == Argument::Kind::out || a.kind == Argument::Kind::inout; }

bool is_array(const Argument &a) { return a.var != kNone || a.table != kNone; }

class Arrays {
public:
  Arrays(const Function &function, const Variation &variation, Printer &p, Statuses &statuses)
      : kernel_(variation.kernel), p_(p), statuses_(statuses), in_place_(variation.kernel, variation.facts) {
    for (const Argument &a : function.arguments)
      if (is_array(a))
        arrays_.push_back(&a);
  }

  void print() {
    const bool strided = std::ranges::any_of(arrays_, [&](const Argument *a) { return is_strided(*a); });
    std::string rows, pairs;
    for (const Argument *a : arrays_)
      rows += (rows.empty() ? "" : ", ") + row(*a, strided);
    for (const Argument *out : arrays_)
      for (const Argument *in : arrays_)
        if (is_output(*out) && may_be(*out, *in))
          pairs += (pairs.empty() ? "{" : ", {") + place(*out) + ", " + place(*in) + "}";
    p_.lines.add("const " + p_.spelling.helper(strided ? "StridedArray" : "Array") + " arrays[] = {" + rows + "};");
    p_.lines.add("if (const int status = " + p_.spelling.helper("check_arrays") + "(arrays" +
                 (pairs.empty() ? "" : ", {" + pairs + "}") + ")) return status;");
    for (const Argument *a : arrays_)
      explain(*a);
    explain_overlaps();
  }

private:
  bool is_strided(const Argument &a) const { return a.var != kNone && kernel_.vars[a.var].strided; }

  std::string place(const Argument &a) const { return std::to_string(statuses_.place(a.name)); }

  // {2, y, {rows, N}}
  std::string row(const Argument &a, bool strided) {
    std::string extents;
    for (const std::string &extent : a.table != kNone ? extents_of(kernel_.tables[a.table].dims)
                                     : is_strided(a)  ? strided_extents(kernel_.vars[a.var])
                                                      : extents_of(kernel_.vars[a.var]))
      extents += (extents.empty() ? "" : ", ") + extent;
    if (extents.empty() && strided) // two constructors take an empty list
      extents = "1";
    return "{" + place(a) + ", " + a.name + ", {" + extents + "}" +
           (a.optional ? ", " + p_.spelling.helper("kMayBeNull") : "") + "}";
  }

  std::vector<std::string> extents_of(const std::vector<Size> &sizes) {
    std::vector<std::string> out;
    for (const Size &size : sizes)
      if (!size.is_integer(1))
        out.push_back(p_.size_text(size));
    return out;
  }

  // A packed array counts its elements once: rows times row length is the total.
  std::vector<std::string> extents_of(const Var &var) {
    std::vector<Size> sizes;
    for (size_t d = 0; d < var.dims.size(); ++d)
      if (!interpreter::is_packed(kernel_, var, d))
        sizes.push_back(extent_in_arguments(kernel_, var.dims[d]));
    return extents_of(sizes);
  }

  // {M, x_stride_M}
  std::vector<std::string> strided_extents(const Var &var) {
    std::vector<std::string> out;
    for (size_t d = 0; d < var.dims.size();) {
      const int array_dim = var.dims[d].array_dim;
      Size extent = Size::integer(1);
      for (; d < var.dims.size() && var.dims[d].array_dim == array_dim; ++d)
        if (!interpreter::is_packed(kernel_, var, d))
          extent = Size::make(Size::Op::multiply, {extent, extent_in_arguments(kernel_, var.dims[d])});
      out.push_back("{" + p_.size_text(extent) + ", " + stride_name(kernel_, var, array_dim) + "}");
    }
    return out;
  }

  void explain(const Argument &a) {
    const std::vector<std::string> extents =
        a.table != kNone ? extents_of(kernel_.tables[a.table].dims) : extents_of(kernel_.vars[a.var]);
    if (!extents.empty())
      statuses_.of(StatusKind::too_large, a.name + " has more bytes than can be counted", a.name);
    if (!a.optional)
      statuses_.of(StatusKind::null, a.name + " must not be null", a.name);
    if (a.type != "bool" && a.type != "int8_t" && a.type != "uint8_t")
      statuses_.of(StatusKind::misaligned, a.name + " must lie at a multiple of its element's size", a.name);
    if (is_strided(a))
      statuses_.of(
          StatusKind::strides,
          "the strides of " + a.name +
              (is_output(a) ? " must each step past what the shorter ones reach" : " lead further than can be counted"),
          a.name);
  }

  void explain_overlaps() {
    const auto outputs =
        static_cast<size_t>(std::ranges::count_if(arrays_, [](const Argument *a) { return is_output(*a); }));
    const bool many = outputs * (arrays_.size() - 1) > kMostPairs;
    for (size_t i = 0; i < arrays_.size(); ++i)
      for (size_t j = 0; j < arrays_.size(); ++j) {
        const Argument &out = *arrays_[i], &other = *arrays_[j];
        if (!is_output(out) || i == j || (is_output(other) && j < i))
          continue;
        if (many)
          statuses_.of(StatusKind::overlap, out.name + " must not overlap another array", out.name);
        else
          statuses_.of(StatusKind::overlap, out.name + " must not overlap " + other.name, out.name, other.name);
      }
  }

  bool may_be(const Argument &out, const Argument &other) const {
    return other.kind == Argument::Kind::in && in_place_.allowed(other.var, out.var);
  }

  const Kernel &kernel_;
  Printer &p_;
  Statuses &statuses_;
  std::vector<const Argument *> arrays_;
  InPlace in_place_;
};

} // namespace

void print_arrays(const Function &function, const Variation &variation, Printer &printer, Statuses &statuses) {
  Arrays(function, variation, printer, statuses).print();
}

void explain_workspace(const Function &function, Statuses &statuses, bool cuda) {
  statuses.of(StatusKind::workspace_small, "the workspace is too small");
  if (cuda)
    statuses.of(StatusKind::workspace_misaligned, "the workspace must lie at a multiple of 16 bytes");
  for (const Argument &a : function.arguments)
    if (is_array(a))
      statuses.of(StatusKind::workspace_overlap, "the workspace must not overlap " + a.name, a.name);
  statuses.of(StatusKind::no_memory, "there is not enough memory for the workspace");
}

} // namespace kgen
