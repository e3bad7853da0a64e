#include "cli/inputs.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>

#include "emit/bindings/sizes_of_arrays.h"
#include "ir/evaluate.h"

namespace kgen {

namespace {

// The axis and number that an extent like `N`, `B + 1` or `S - 2` determines.
struct Linear {
  std::string axis;
  int64_t offset = 0;
};

std::optional<Linear> linear(const Size &size) {
  if (size.op == Size::Op::axis)
    return Linear{size.name, 0};
  bool sum = size.op == Size::Op::add, difference = size.op == Size::Op::subtract;
  if ((sum || difference) && size.args[0].op == Size::Op::axis && size.args[1].is_integer())
    return Linear{size.args[0].name, sum ? size.args[1].value : -size.args[1].value};
  if (sum && size.args[1].op == Size::Op::axis && size.args[0].is_integer())
    return Linear{size.args[1].name, size.args[0].value};
  return std::nullopt;
}

class SizeFinder {
public:
  SizeFinder(const Kernel &kernel, RunInput &input, std::string &reason)
      : kernel_(kernel), input_(input), reason_(reason) {}

  bool run() {
    for (const Var &var : kernel_.vars) {
      auto given = input_.arrays.find(var.name);
      if (given != input_.arrays.end() && !from_operand(var, given->second))
        return false;
    }
    for (const Table &table : kernel_.tables) {
      auto given = input_.tables.find(table.name);
      if (given == input_.tables.end())
        continue;
      const std::vector<int64_t> &shape = given->second.shape;
      if (shape.size() != table.dims.size())
        return rank_differs(table.name, shape.size(), table.dims.size());
      for (size_t d = 0; d < shape.size(); ++d)
        if (!note(table.dims[d], shape[d], table.name))
          return false;
    }
    while (solve_one()) {
    }
    return true;
  }

private:
  bool from_operand(const Var &var, const Array &array) {
    std::vector<std::vector<const Dim *>> dims; // by dimension of the array
    for (const Dim &dim : var.dims) {
      if (static_cast<int>(dims.size()) <= dim.array_dim)
        dims.emplace_back();
      dims.back().push_back(&dim);
    }
    std::vector<int64_t> shape = array.shape;
    bool rest = !dims.empty() && dims[0][0]->axis != kNone && kernel_.axes[dims[0][0]->axis].rest;
    if (rest && shape.size() + 1 >= dims.size()) { // the leading dimensions count as one
      size_t leading = shape.size() + 1 - dims.size();
      int64_t rows = 1;
      for (size_t d = 0; d < leading; ++d)
        rows *= shape[d];
      shape.erase(shape.begin(), shape.begin() + leading);
      shape.insert(shape.begin(), rows);
    }
    if (shape.size() != dims.size())
      return rank_differs(var.name, shape.size(), dims.size());
    for (size_t d = 0; d < dims.size(); ++d)
      if (!from_dimension(var, dims[d], shape[d]))
        return false;
    return true;
  }

  bool from_dimension(const Var &var, const std::vector<const Dim *> &dims, int64_t extent) {
    if (dims.size() == 1)
      return note(dims[0]->extent, extent, var.name);
    const Dim *last = dims.back();
    if (last->axis != kNone && kernel_.axes[last->axis].ragged != kNone) // the total
      return note(last->extent, extent, var.name);
    const Dim *open = nullptr;
    for (const Dim *dim : dims) { // all but one known: the last one follows
      std::optional<int64_t> known = size_of(dim->extent);
      if (!known && open)
        return true;
      if (!known)
        open = dim;
      else if (*known > 0 && extent % *known == 0)
        extent /= *known;
    }
    return !open || note(open->extent, extent, var.name);
  }

  std::optional<int64_t> size_of(const Size &size) {
    return evaluate(size, {[&](Size::Op op, std::string_view name) -> std::optional<long long> {
                             auto it = input_.sizes.find(std::string(name));
                             return op == Size::Op::axis && it != input_.sizes.end()
                                        ? std::optional<long long>(it->second)
                                        : std::nullopt;
                           },
                           [](std::string_view, const std::vector<long long> &) { return std::nullopt; }});
  }

  bool note(const Size &size, int64_t extent, const std::string &of) {
    std::optional<Linear> form = linear(size);
    if (!form) {
      open_.emplace_back(size, extent);
      return true;
    }
    int64_t value = extent - form->offset;
    const auto axis = std::ranges::find(kernel_.axes, form->axis, &Axis::name);
    if (axis != kernel_.axes.end() && axis->ragged == kNone && axis->size.op != Size::Op::axis)
      open_.emplace_back(axis->size, value); // K=2 * N
    auto [it, fresh] = input_.sizes.emplace(form->axis, value);
    if (fresh || it->second == value)
      return true;
    reason_ =
        "`" + of + "` makes " + form->axis + " " + std::to_string(value) + ", but it is " + std::to_string(it->second);
    return false;
  }

  // The only size that is not known of an expression, as K=2 * N has it.
  bool solve_one() {
    for (const auto &[extent, value] : open_) {
      std::set<std::string> unknown;
      any_node(extent, [&](const Size &part) {
        if (part.op == Size::Op::axis && !size_of(part))
          unknown.insert(part.name);
        return false;
      });
      const std::optional<Size> solved =
          unknown.size() == 1 ? solve(extent, *unknown.begin(), Size::integer(value)) : std::nullopt;
      const std::optional<int64_t> size = solved ? size_of(*solved) : std::nullopt;
      if (!size || *size < 0)
        continue;
      input_.sizes[*unknown.begin()] = *size;
      if (size_of(extent) == value)
        return true;
      input_.sizes.erase(*unknown.begin());
    }
    return false;
  }

  bool rank_differs(const std::string &name, size_t is, size_t wanted) {
    reason_ = "`" + name + "` has " + std::to_string(is) + " dimensions instead of " + std::to_string(wanted);
    return false;
  }

  const Kernel &kernel_;
  RunInput &input_;
  std::string &reason_;
  std::vector<std::pair<Size, int64_t>> open_; // extents that are no plain sizes, and what they are
};

class Filler {
public:
  Filler(const Kernel &kernel, RunInput &input, const RandomOptions &options, std::string &reason)
      : kernel_(kernel), input_(input), options_(options), reason_(reason), random_(options.seed) {}

  bool run() {
    find_coordinates();
    for (const Var &var : kernel_.vars)
      if (!fill_operand(var))
        return false;
    for (const ScalarArgument &scalar : kernel_.scalars)
      if (!input_.scalars.count(scalar.name))
        fill_scalar(scalar);
    for (const Table &table : kernel_.tables)
      if (!input_.tables.count(table.name) && !fill_table(table))
        return false;
    return true;
  }

private:
  // Integer inputs that a coordinate is made of: the extent that they run over.
  void find_coordinates() {
    auto note = [&](VarId target, const std::vector<Coordinate> &coords) {
      for (const Coordinate &coordinate : coords)
        for (const Dim &dim : kernel_.vars[target].dims)
          if (dim.axis == coordinate.axis)
            mark(coordinate.value, size_value(kernel_, dim.extent, input_));
    };
    for (const Expr &e : kernel_.exprs)
      if ((e.op == Op::read || e.op == Op::inside) && !e.coords.empty())
        note(e.ref, e.coords);
    std::vector<const Stmt *> open;
    auto push = [&](const std::vector<Stmt> &list) {
      for (const Stmt &s : list)
        open.push_back(&s);
    };
    push(kernel_.statements);
    while (!open.empty()) {
      const Stmt *s = open.back();
      open.pop_back();
      if (s->kind == Stmt::Kind::assign && !s->coords.empty())
        note(s->target, s->coords);
      push(s->body);
      push(s->otherwise);
      push(s->step);
    }
  }

  void mark(ExprId id, std::optional<int64_t> extent) {
    const Expr &e = kernel_.expr(id);
    if (e.op == Op::cast)
      return mark(e.args[0], extent);
    if (e.op == Op::read && extent && is_integer(kernel_.vars[e.ref].type))
      ranges_[e.ref] = *extent;
  }

  bool fill_operand(const Var &var) {
    bool input = var.kind == Var::Kind::input, output = var.kind == Var::Kind::output;
    if (output && var.optional && options_.fewer_outputs && below(2) == 0) {
      input_.unwanted.insert(var.name);
      return true;
    }
    bool kept = output && var.alias == kNone && var.partial && options_.partial_outputs;
    if ((!input && !kept) || input_.arrays.count(var.name))
      return true;
    if (var.alias != kNone && input_.arrays.count(kernel_.vars[var.alias].name))
      return true;
    if (input && var.optional && !options_.optional_operands)
      return true;
    std::optional<std::vector<int64_t>> shape = array_shape(kernel_, var, input_);
    if (!shape || is_too_big(*shape)) {
      reason_ = "the shape of `" + var.name + "` is not known, negative, or too big";
      return false;
    }
    VarId id = static_cast<VarId>(&var - kernel_.vars.data());
    auto range = ranges_.find(id);
    fill(input_.arrays[var.name], var.type, *shape, [&] {
      if (range != ranges_.end() && range->second > 0)
        return integer_value(below(20) == 0 && !is_unsigned(var.type) ? -1 : below(range->second));
      return value_of(var.type);
    });
    return true;
  }

  static bool is_too_big(const std::vector<int64_t> &shape) {
    constexpr int64_t kMost = int64_t{1} << 40;
    int64_t elements = 1; // a shape's product is known not to overflow
    for (const int64_t extent : shape)
      elements *= extent;
    return elements > kMost;
  }

  void fill_scalar(const ScalarArgument &scalar) {
    if (!options_.extremes || !is_integer(scalar.type) || scalar.type == Type::boolean || below(2) == 0) {
      input_.scalars[scalar.name] = scalar_of(scalar.type);
      return;
    }
    const int64_t value = end_of(scalar.type);
    input_.scalars[scalar.name] = static_cast<double>(value);
    input_.integers[scalar.name] = value;
  }

  // The least or the greatest number of the type, or one close by.
  int64_t end_of(Type type) {
    const Bounds all = type == Type::u64 ? Bounds{0, -1} : bounds_of(type); // -1: the bits of the greatest
    const int64_t away = below(2) == 0 ? 0 : below(40);
    return below(2) == 0 ? all.low + away : all.high - away;
  }

  double scalar_of(Type type) {
    if (is_floating(type))
      return options_.integers ? 1 + below(3) : 0.25 + 0.5 * unit();
    return static_cast<double>(type == Type::boolean ? below(2) : 1 + below(5));
  }

  // Beside real numbers whole ones are of any size, as far as 16 bits go: the ends often.
  Value whole_number(Type type) {
    if (options_.extremes && bytes_of(type) >= 4 && below(4) == 0)
      return integer_value(end_of(type));
    const Type narrow = bytes_of(type) <= 2 ? type : is_unsigned(type) ? Type::u16 : Type::i16;
    const Bounds all = bounds_of(narrow);
    const bool any = !options_.integers && (narrow == type || below(8) == 0);
    if (!any)
      return integer_value(is_unsigned(type) ? below(8) : below(9) - 4);
    const int64_t end = below(8);
    return integer_value(end == 0 ? all.low : end == 1 ? all.high : all.low + below(all.high - all.low + 1));
  }

  Value value_of(Type type) {
    if (type == Type::boolean)
      return integer_value(below(2));
    if (is_integer(type))
      return whole_number(type);
    if (options_.nans && below(16) == 0)
      return number_value(std::numeric_limits<double>::quiet_NaN());
    return number_value(options_.integers ? static_cast<double>(below(7) - 3) : round_to(2 * unit() - 1, type));
  }

  bool fill_table(const Table &table) {
    std::optional<std::vector<int64_t>> shape = table_shape(kernel_, table, input_);
    if (!shape || is_too_big(*shape)) {
      reason_ = "the shape of table `" + table.name + "` is not known, negative, or too big";
      return false;
    }
    Array array;
    const Axis *ragged = nullptr;
    for (const Axis &axis : kernel_.axes)
      if (axis.ragged != kNone && kernel_.tables[axis.ragged].name == table.name)
        ragged = &axis;
    int64_t range = range_of(table);
    std::set<int64_t> taken;
    fill(array, table.type, *shape, [&] {
      int64_t v = range > 0 ? below(range) : 0;
      while (table.unique && static_cast<int64_t>(taken.size()) < range && !taken.insert(v).second)
        v = (v + 1) % range;
      return integer_value(v);
    });
    std::optional<int64_t> total = ragged ? size_value(kernel_, ragged->size, input_) : std::nullopt;
    if (total)
      spread(array, *total);
    else if (table.sorted)
      sort(array);
    input_.tables[table.name] = std::move(array);
    return true;
  }

  // Row starts: 0, random cuts in order, the total.
  void spread(Array &array, int64_t total) {
    int bytes = bytes_of(array.type);
    int64_t n = array.elements();
    for (int64_t i = 0; i < n; ++i)
      store_value(array.bytes.data() + i * bytes, array.type,
                  integer_value(i == 0       ? 0
                                : i + 1 == n ? total
                                : total > 0  ? below(total + 1)
                                             : 0));
    sort(array);
  }

  void sort(Array &array) {
    int bytes = bytes_of(array.type);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < array.elements(); ++i)
      values.push_back(load_value(array.bytes.data() + i * bytes, array.type).integer);
    std::sort(values.begin(), values.end());
    for (size_t i = 0; i < values.size(); ++i)
      store_value(array.bytes.data() + i * bytes, array.type, integer_value(values[i]));
  }

  // What is declared; else what windows by the table allow; else the smallest axis.
  int64_t range_of(const Table &table) {
    if (table.range)
      if (std::optional<int64_t> range = size_value(kernel_, *table.range, input_))
        return *range;
    int64_t least = -1;
    auto note = [&](int64_t v) { least = least < 0 ? v : std::min(least, v); };
    for (const Var &var : kernel_.vars)
      for (const Dim &dim : var.dims) {
        if (!mentions(dim.start, Size::Op::table, table.name))
          continue;
        std::optional<int64_t> extent = size_value(kernel_, dim.extent, input_),
                               block = size_value(kernel_, dim.block, input_);
        if (extent && block)
          note(dim.offset ? std::max<int64_t>(1, *extent - *block + 1) : (*extent + *block - 1) / *block);
      }
    if (least >= 0)
      return least;
    for (const Axis &axis : kernel_.axes)
      if (std::optional<int64_t> size = size_value(kernel_, axis.size, input_))
        note(*size);
    return std::max<int64_t>(least, 1);
  }

  template <class Next> void fill(Array &array, Type type, const std::vector<int64_t> &shape, Next next) {
    array.type = type;
    array.shape = shape;
    int64_t n = array.elements();
    array.bytes.resize(n * bytes_of(type));
    for (int64_t i = 0; i < n; ++i)
      store_value(array.bytes.data() + i * bytes_of(type), type, next());
  }

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  double unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  const Kernel &kernel_;
  RunInput &input_;
  const RandomOptions &options_;
  std::string &reason_;
  std::mt19937_64 random_;
  std::map<VarId, int64_t> ranges_;
};

} // namespace

bool infer_sizes(const Kernel &kernel, RunInput &input, std::string &reason) {
  return SizeFinder(kernel, input, reason).run();
}

std::vector<std::string> missing_sizes(const Kernel &kernel, const RunInput &input) {
  std::vector<std::string> out;
  for (AxisId axis : kernel.size_arguments)
    if (kernel.axes[axis].size.op == Size::Op::axis && !input.sizes.count(kernel.axes[axis].name))
      out.push_back(kernel.axes[axis].name);
  return out;
}

bool fill_random(const Kernel &kernel, RunInput &input, const RandomOptions &options, std::string &reason) {
  return Filler(kernel, input, options, reason).run();
}

} // namespace kgen
