#include "emit/bindings/sizes_of_arrays.h"

#include <algorithm>
#include <set>

namespace kgen {
namespace {

using SizeOp = Size::Op;

bool has(const Size &size, const std::string &name) { return mentions(size, SizeOp::axis, name); }

// One step down to the unknown, which is in args[at].
std::optional<Size> undo(const Size &e, size_t at, const Size &value) {
  const Size &other = e.args.size() == 2 ? e.args[1 - at] : e.args[0];
  switch (e.op) {
  case SizeOp::negate:
    return Size::make(SizeOp::negate, {value});
  case SizeOp::add:
    return Size::make(SizeOp::subtract, {value, other});
  case SizeOp::subtract:
    return at == 0 ? Size::make(SizeOp::add, {value, other}) : Size::make(SizeOp::subtract, {other, value});
  case SizeOp::multiply:
    return Size::make(SizeOp::divide, {value, other});
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<Size> solve(const Size &e, const std::string &unknown, const Size &value) {
  if (e.op == SizeOp::axis && e.name == unknown)
    return value;
  if (e.op == SizeOp::choose && !has(e.args[0], unknown)) {
    const std::optional<Size> a = solve(e.args[1], unknown, value), b = solve(e.args[2], unknown, value);
    return a && b ? std::optional(Size::make(SizeOp::choose, {e.args[0], *a, *b})) : std::nullopt;
  }
  std::vector<size_t> where;
  for (size_t i = 0; i < e.args.size(); ++i)
    if (has(e.args[i], unknown))
      where.push_back(i);
  if (where.size() != 1)
    return std::nullopt;
  const std::optional<Size> rest = undo(e, where[0], value);
  return rest ? solve(e.args[where[0]], unknown, *rest) : std::nullopt;
}

namespace {

class Finder {
public:
  explicit Finder(Signature &signature) : s_(signature) {}

  void run() {
    for_extents([&](int a, int d, const Size &e) { take_plain(a, d, e); });
    for (const SignatureSize &size : s_.sizes) {
      while (take_one_expression()) {
      }
      known_.insert(size.name); // where nothing gives it, callers pass it, and others may follow
    }
    for_extents([&](int a, int d, const Size &e) { compare(a, d, e); }, true);
  }

private:
  // Optional arrays give nothing, but are compared.
  template <class Do> void for_extents(Do act, bool with_optional = false) {
    for (size_t a = 0; a < s_.arrays.size(); ++a)
      if (s_.arrays[a].is_argument() && (with_optional || !s_.arrays[a].optional))
        for (size_t d = 0; d < s_.arrays[a].dims.size(); ++d)
          act(static_cast<int>(a), static_cast<int>(d), s_.arrays[a].dims[d]);
  }

  void take(SignatureSize &size, int array, int dim, const Size &value) {
    size.array = array;
    size.dim = dim;
    size.value = value;
    known_.insert(size.name);
    sources_.insert({array, dim});
    s_.size_order.push_back(static_cast<int>(&size - s_.sizes.data()));
  }

  void take_plain(int array, int dim, const Size &e) {
    for (SignatureSize &size : s_.sizes)
      if (size.array < 0 && e.op == SizeOp::axis && e.name == size.name)
        take(size, array, dim, extent_of(s_.arrays[array], dim));
  }

  // The first size that is the only unknown of an extent.
  bool take_one_expression() {
    bool taken = false;
    for_extents([&](int array, int dim, const Size &e) {
      SignatureSize *unknown = taken ? nullptr : only_unknown(e);
      if (unknown == nullptr)
        return;
      const std::optional<Size> value = solve(e, unknown->name, extent_of(s_.arrays[array], dim));
      taken = value.has_value();
      if (taken) {
        take(*unknown, array, dim, *value);
        if (any_node(*value, [](const Size &s) { return s.op == SizeOp::divide; })) // it may leave a rest
          sources_.erase({array, dim});
      }
    });
    return taken;
  }

  SignatureSize *only_unknown(const Size &e) {
    SignatureSize *out = nullptr;
    for (SignatureSize &size : s_.sizes)
      if (known_.count(size.name) == 0 && has(e, size.name)) {
        if (out != nullptr)
          return nullptr;
        out = &size;
      }
    return out;
  }

  void compare(int array, int dim, const Size &e) {
    if (sources_.count({array, dim}) != 0)
      return;
    ExtentCheck check{array, dim, e, {}};
    for (const SignatureSize &size : s_.sizes)
      if (has(e, size.name) && size.array >= 0 && size.array != array &&
          std::find(check.given_by.begin(), check.given_by.end(), size.array) == check.given_by.end())
        check.given_by.push_back(size.array);
    s_.checks.push_back(std::move(check));
  }

  Signature &s_;
  std::set<std::string> known_;
  std::set<std::pair<int, int>> sources_; // extents that are sizes as they are
};

} // namespace

void find_sizes(Signature &signature) { Finder(signature).run(); }

} // namespace kgen
