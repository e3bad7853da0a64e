// Axes and the grid: where each axis has its size from, what of it is an argument, and how the grid blocks it.
#include "ir/build.h"

#include <algorithm>

#include "support/check.h"

namespace kgen::build {

namespace {

constexpr int64_t kLongestSize = 2000; // names, numbers and signs

// The brackets of operands and tables in file order: the order of size arguments.
class Mentions {
public:
  explicit Mentions(const Build &build) {
    struct Item {
      Place place;
      const OperandDecl *operand;
      const TableDecl *table;
    };
    std::vector<Item> items;
    for (const OperandDecl &operand : build.spec.operands)
      items.push_back({operand.place, &operand, nullptr});
    for (const TableDecl &table : build.spec.tables)
      items.push_back({table.place, nullptr, &table});
    std::stable_sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    for (const Item &item : items)
      item.operand ? add(*item.operand) : add(*item.table);
  }

  std::vector<std::string> order;
  std::map<std::string, Place> places;
  std::map<std::string, std::vector<Size>> extents; // X=e
  std::set<std::string> plain;

private:
  void add(const OperandDecl &operand) {
    for (const DimDecl &dim : operand.dims) {
      for (const std::string &axis : dim.axes) {
        note(axis, dim.place);
        if (dim.extent)
          extents[axis].push_back(*dim.extent);
        else
          plain.insert(axis);
      }
      if (dim.extent)
        note_names(*dim.extent, dim.place);
    }
  }

  void add(const TableDecl &table) {
    for (const Size &dim : table.dims)
      note_names(dim, table.place);
  }

  void note(const std::string &name, const Place &place) {
    if (places.emplace(name, place).second)
      order.push_back(name);
  }

  void note_names(const Size &size, const Place &place) {
    any_node(size, [&](const Size &node) {
      if (node.op == Size::Op::axis)
        note(node.name, place);
      return false;
    });
  }
};

const AxisDecl *declaration(const Spec &spec, const std::string &name) {
  for (const AxisDecl &decl : spec.axes)
    if (decl.name == name)
      return &decl;
  return nullptr;
}

// The sizes of axes by their declarations and brackets. `argument`: the caller gives it.
class AxisSizes {
public:
  AxisSizes(Build &build, const Mentions &mentions) : build_(build), mentions_(mentions) {}

  struct Found {
    Size size;
    bool argument = false;
    bool derived = false;
  };

  Found find(const std::string &name, const Place &place) {
    const AxisDecl *decl = declaration(build_.spec, name);
    if (decl && decl->fixed.size() == 1)
      return {Size::integer(decl->fixed[0])};
    if (auto it = build_.variant.axes.find(name); it != build_.variant.axes.end())
      return {Size::integer(it->second), true};
    if (decl && decl->equals)
      return {*decl->equals, false, true};
    auto extents = mentions_.extents.find(name);
    if (mentions_.plain.count(name) || (mentions_.places.count(name) && extents == mentions_.extents.end()))
      return {Size::axis(name), true};
    if (extents == mentions_.extents.end()) {
      build_.diags.add(DiagId::axis_unsized, place, {name}).help =
          "name it in the brackets of an operand, or give it a size: axes." + name + " = 64";
      return {Size::integer(1)};
    }
    if (const auto block = block_of(name))
      return {*block};
    for (const Size &other : extents->second)
      if (!(build_.resolve(other) == build_.resolve(extents->second[0])))
        add_many_sizes(name, extents->second[0], other);
    return {extents->second[0]};
  }

private:
  void add_many_sizes(const std::string &name, const Size &here, const Size &there) const {
    const bool may_be_equal = !here.is_integer() || !there.is_integer();
    build_.diags
        .add(DiagId::axis_many_sizes, mentions_.places.at(name),
             {name, "size " + to_string(here), "size " + to_string(there)})
        .help = "give one of the arrays an axis of another name" +
                (may_be_equal ? "; if the sizes are the same, say it: axes." + name + " = { equals = \"...\" }" : "");
  }

  // Arrays may differ in size along an axis of which each step sees equal blocks: then it is a block that the axis has.
  // Nothing: all arrays have one size, or none says a window.
  std::optional<Size> block_of(const std::string &name) {
    const std::vector<Size> &extents = mentions_.extents.at(name);
    const bool differ = std::any_of(extents.begin(), extents.end(), [&](const Size &extent) {
      return !(build_.resolve(extent) == build_.resolve(extents[0]));
    });
    bool said = false, blocked = false;
    for (const GridDecl &grid : build_.spec.grid)
      blocked = blocked || grid.axis == name;
    Size block = Size::integer(1); // where all operands see single elements
    for (const OperandDecl &operand : build_.spec.operands) {
      size_t entry = 0;
      for (const DimDecl &dim : operand.dims) {
        for (const std::string &axis : dim.axes) {
          const WindowDecl::Dim *window = operand.window ? &operand.window->block[entry] : nullptr;
          ++entry;
          if (axis != name || operand.role == Role::scratch)
            continue;
          const bool whole = window == nullptr || window->kind == WindowDecl::Kind::whole;
          said = said || !whole;
          if (whole || window->kind != WindowDecl::Kind::squeeze)
            block = whole ? *dim.extent : window->block;
        }
        entry += dim.kind == DimDecl::Kind::one ? 1 : 0;
      }
    }
    if (!differ || !said || blocked)
      return std::nullopt;
    const auto other = std::find_if(extents.begin(), extents.end(), [&](const Size &extent) {
      return !(build_.resolve(extent) == build_.resolve(extents[0]));
    });
    build_.many_sizes.emplace(name, std::pair(extents[0], *other));
    return block;
  }

  Build &build_;
  const Mentions &mentions_;
};

// Does the size of `axis` lead back to itself? Arguments stand for themselves. `straight` are those known not to.
bool is_circular(const Build &build, AxisId axis, AxisSet open, AxisSet &straight) {
  const Axis &own = build.kernel.axes[axis];
  const std::vector<AxisId> &arguments = build.kernel.size_arguments;
  if (straight.contains(axis) || std::find(arguments.begin(), arguments.end(), axis) != arguments.end())
    return false;
  if (open.contains(axis))
    return true;
  const bool circular = any_node(own.size, [&](const Size &node) {
    AxisId next = node.op == Size::Op::axis ? build.axis_of(node.name) : kNone;
    return next != kNone && is_circular(build, next, open | AxisSet::of(axis), straight);
  });
  if (!circular)
    straight = straight | AxisSet::of(axis);
  return circular;
}

// The length of sizes once those that they name are put in: sizes that name each other twice grow beyond all bounds.
class PutIn {
public:
  explicit PutIn(const Build &build) : build_(build), lengths_(build.kernel.axes.size(), 0) {}

  int64_t length(AxisId axis) {
    int64_t &known = lengths_[axis];
    if (known == 0) {
      known = 1; // arguments, which lead to themselves
      known = length(build_.kernel.axes[axis].size);
    }
    return known;
  }

private:
  int64_t length(const Size &size) {
    const AxisId axis = size.op == Size::Op::axis ? build_.axis_of(size.name) : kNone;
    int64_t out = axis != kNone ? length(axis) : 1;
    for (const Size &arg : size.args)
      out = std::min(out + length(arg), kLongestSize + 1);
    return out;
  }

  const Build &build_;
  std::vector<int64_t> lengths_;
};

// Puts sizes of axes into each other until only arguments and computed axes are named; refuses circles.
void settle_sizes(Build &build) {
  std::vector<Axis> &axes = build.kernel.axes;
  AxisSet straight;
  for (size_t i = 0; i < axes.size(); ++i)
    if (is_circular(build, static_cast<AxisId>(i), AxisSet(), straight)) {
      build.diags.add(DiagId::axis_circular, axes[i].place, {axes[i].name}).help =
          "one of the sizes that lead to each other must be given";
      axes[i].size = Size::integer(1);
    }
  PutIn put_in(build);
  std::vector<size_t> too_long;
  for (size_t i = 0; i < axes.size(); ++i)
    if (put_in.length(static_cast<AxisId>(i)) > kLongestSize)
      too_long.push_back(i);
  if (!too_long.empty()) // one message: those that name it are too long as well
    build.diags.add(DiagId::spec_expression_too_long, axes[too_long.front()].place, {std::to_string(kLongestSize)})
        .help = "so it is with the sizes that it names put in";
  for (size_t i : too_long)
    axes[i].size = Size::integer(1);
  for (size_t round = 0; round < axes.size(); ++round)
    for (Axis &axis : axes)
      axis.size = build.resolve(axis.size);
}

} // namespace

Size Build::resolve(const Size &size) const {
  return rewrite(size, [&](const Size &node) -> std::optional<Size> {
    if (node.op == Size::Op::param) {
      auto it = variant.params.find(node.name);
      if (it == variant.params.end())
        return std::nullopt;
      if (const int64_t *value = std::get_if<int64_t>(&it->second))
        return Size::integer(*value);
      return std::nullopt;
    }
    if (node.op == Size::Op::axis) {
      auto it = axis_ids.find(node.name);
      if (it == axis_ids.end())
        return std::nullopt;
      const Size &own = kernel.axes[it->second].size;
      bool plain = own.is_integer() || (own.op == Size::Op::axis && own.name != node.name);
      return plain ? std::optional(own) : std::nullopt;
    }
    return std::nullopt;
  });
}

void Build::ask_size(const std::string &axis, const Place &place) {
  const auto sizes = many_sizes.find(axis);
  if (sizes != many_sizes.end())
    diags
        .add(DiagId::axis_many_sizes, place,
             {axis, "size " + to_string(sizes->second.first), "size " + to_string(sizes->second.second)})
        .help = "name one of them; in the body, say whose: size(x, " + axis + ")";
}

AxisId Build::axis_of(const std::string &name) const {
  auto it = axis_ids.find(name);
  return it == axis_ids.end() ? kNone : it->second;
}

std::string Build::axis_names(AxisSet axes, const char *before_last) const {
  std::string out;
  std::vector<AxisId> list = axes.list();
  for (size_t i = 0; i < list.size(); ++i)
    out += (i == 0 ? "" : i + 1 == list.size() ? before_last : ", ") + kernel.axes[list[i]].name;
  return out;
}

void build_axes(Build &build) {
  Mentions mentions(build);
  Kernel &kernel = build.kernel;
  auto add = [&](const std::string &name, const Place &place, AxisSizes::Found found) -> Axis & {
    build.axis_ids[name] = static_cast<AxisId>(kernel.axes.size());
    if (found.argument)
      kernel.size_arguments.push_back(build.axis_ids[name]);
    Axis axis;
    axis.name = name;
    axis.size = found.size;
    axis.derived = found.derived;
    axis.place = place;
    kernel.axes.push_back(std::move(axis));
    return kernel.axes.back();
  };
  for (const BatchDecl &batch : build.spec.batch) {
    if (build.axis_ids.count(batch.axis))
      continue;
    add(batch.axis, batch.place, {Size::axis(batch.axis), true}).batch = true;
    build.batch_axes |= AxisSet::of(build.axis_ids[batch.axis]);
  }
  AxisSizes sizes(build, mentions);
  std::vector<std::string> names = mentions.order;
  names.insert(names.end(), build.spec.axis_order.begin(), build.spec.axis_order.end());
  for (const std::string &name : names) {
    if (build.axis_ids.count(name))
      continue;
    const AxisDecl *decl = declaration(build.spec, name);
    auto mentioned = mentions.places.find(name);
    Place place = mentioned != mentions.places.end() ? mentioned->second : decl ? decl->place : Place{};
    KGEN_CHECK(kernel.axes.size() < 64);
    Axis &axis = add(name, place, sizes.find(name, place));
    axis.rest = name == kRestAxis;
    if (decl)
      axis.multiple_of = decl->multiple_of;
  }
  for (const auto &[name, size] : build.variant.axes)
    if (build.axis_ids.count(name))
      kernel.fixed_axes[name] = size;
  settle_sizes(build);
  for (const AxisDecl &decl : build.spec.axes) {
    AxisId axis = build.axis_of(decl.name);
    if (axis == kNone || decl.ragged.empty())
      continue;
    for (size_t t = 0; t < build.spec.tables.size(); ++t)
      if (build.spec.tables[t].name == decl.ragged)
        kernel.axes[axis].ragged = static_cast<TableId>(t);
    kernel.axes[axis].over = build.axis_of(decl.over);
    KGEN_CHECK(kernel.axes[axis].ragged != kNone && kernel.axes[axis].over != kNone);
  }
  for (Axis &axis : kernel.axes) {
    axis.start = Size::integer(0);
    axis.block = build.resolve(Size::axis(axis.name));
  }
}

// How far steps along an axis go: a row of a ragged one, where an outer dimension takes the rows one by one.
Size length_of(const Build &build, AxisId id) {
  const Axis &axis = build.kernel.axes[id];
  const GridId rows = axis.ragged == kNone ? kNone : build.kernel.axes[axis.over].grid;
  if (rows == kNone || !build.kernel.grid[rows].block.is_integer(1))
    return build.axis_size(id);
  const Size row = Size::grid(build.kernel.grid[rows].name);
  const auto entry = [&](const Size &index) {
    Size out;
    out.op = Size::Op::table;
    out.name = build.spec.tables[axis.ragged].name;
    out.args = {index};
    return out;
  };
  return Size::make(Size::Op::subtract, {entry(Size::make(Size::Op::add, {row, Size::integer(1)})), entry(row)});
}

// Sizes that the grid, windows and tables name.
void ask_sizes(Build &build) {
  const auto ask = [&](const Size &size, const Place &place) {
    any_node(size, [&](const Size &node) {
      if (node.op == Size::Op::axis)
        build.ask_size(node.name, place);
      return false;
    });
  };
  for (const GridDecl &decl : build.spec.grid)
    for (const std::optional<Size> &size : {decl.size, decl.at_most})
      if (size)
        ask(*size, decl.place);
  for (const OperandDecl &operand : build.spec.operands) {
    if (!operand.window)
      continue;
    for (const WindowDecl::Dim &dim : operand.window->block)
      ask(dim.block, dim.place);
    for (const auto &list : {operand.window->index, operand.window->offset})
      for (const Size &size : list.value_or(std::vector<Size>{}))
        ask(size, operand.window->place);
  }
  for (const TableDecl &table : build.spec.tables)
    for (const Size &dim : table.dims)
      ask(dim, table.place);
}

void build_grid(Build &build) {
  Kernel &kernel = build.kernel;
  for (const GridDecl &decl : build.spec.grid) {
    GridDim dim;
    dim.name = decl.name;
    dim.place = decl.place;
    dim.stated = decl.semantics;
    dim.semantics = decl.semantics.value_or(Semantics::arbitrary);
    if (decl.at_most)
      dim.at_most = build.resolve(*decl.at_most);
    GridId id = static_cast<GridId>(kernel.grid.size());
    build.grid_ids[decl.name] = id;
    if (decl.axis.empty()) {
      dim.size = build.resolve(decl.size.value_or(Size::integer(1)));
    } else {
      dim.axis = build.axis_of(decl.axis);
      KGEN_CHECK(dim.axis != kNone);
      Axis &axis = kernel.axes[dim.axis];
      axis.grid = id;
      dim.block = build.resolve(decl.blocks.empty() ? Size::integer(1) : decl.blocks[0]);
      dim.size = Size::make(Size::Op::cdiv, {length_of(build, dim.axis), dim.block});
      if (decl.semantics != Semantics::parallel) // first and last run, also for an empty axis
        dim.size = Size::make(Size::Op::max, {Size::integer(1), dim.size});
      axis.block = dim.block;
      axis.start = Size::make(Size::Op::multiply, {Size::grid(dim.name), dim.block});
    }
    kernel.grid.push_back(std::move(dim));
  }
  ask_sizes(build);
}

std::set<GridId> grid_mentions(const Build &build, const Size &size) {
  std::set<GridId> out;
  any_node(size, [&](const Size &node) {
    if (node.op == Size::Op::grid)
      if (auto it = build.grid_ids.find(node.name); it != build.grid_ids.end())
        out.insert(it->second);
    return false;
  });
  return out;
}

} // namespace kgen::build
