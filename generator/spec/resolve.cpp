// What the names in expressions mean, and where each kind may stand. Afterwards every Size of the Spec has its names in
// their kinds, is folded, and is known to have a value for every choice of the parameters.
#include <algorithm>

#include "spec/read.h"
#include "support/text.h"

namespace kgen {

namespace {

// What may stand in an expression at one place.
struct Allowed {
  std::string where; // "the size of an array"
  size_t grid = 0;   // that many outermost grid dimensions
  bool tables = false;
  bool is_size = false; // it counts something: not negative
};

class Resolver {
public:
  Resolver(Reader &reader, const Allowed &allowed) : reader_(reader), allowed_(allowed) {}

  void run(Size &size) {
    const size_t before = reader_.diags.error_count();
    size = rewrite(size, [&](const Size &node) { return replace(node); });
    if (reader_.diags.error_count() == before)
      check_values(size);
  }

private:
  std::optional<Size> replace(const Size &node) {
    if (node.op == Size::Op::axis)
      return plain(node);
    if (node.op != Size::Op::table)
      return std::nullopt;
    Size out = node;
    for (Size &arg : out.args)
      arg = rewrite(arg, [&](const Size &inner) { return replace(inner); });
    return check_table(node) ? out : Size::integer(1);
  }

  Size plain(const Size &node) {
    const auto found = reader_.names.find(node.name);
    Size out = node;
    if (found == reader_.names.end()) {
      if (!reader_.axes_incomplete)
        reader_.diags.add(DiagId::spec_unknown_name, node.place, {node.name}).help = did_you_mean(node.name, known());
      return Size::integer(1);
    }
    switch (found->second.kind) {
    case NameKind::axis:
      return out;
    case NameKind::param:
      out.op = Size::Op::param;
      return check_param(node) ? out : Size::integer(1);
    case NameKind::grid:
      out.op = Size::Op::grid;
      return check_grid(node) ? out : Size::integer(1);
    case NameKind::table:
      reader_.diags.add(DiagId::spec_table_bare, node.place, {node.name}).help = "read an entry: " + node.name + "[i]";
      return Size::integer(1);
    default: {
      Diagnostic &d = reader_.diags.add(DiagId::spec_no_size, node.place, {node.name, found->second.what});
      d.help = "sizes are made of axes, parameters and tables: their values are known before the kernel runs";
      add_first_label(d, found->second);
      return Size::integer(1);
    }
    }
  }

  std::vector<std::string> known() const {
    std::vector<std::string> names = names_of(reader_, {NameKind::axis, NameKind::param});
    for (size_t i = 0; i < allowed_.grid; ++i)
      names.push_back(reader_.spec.grid[i].name);
    return names;
  }

  bool check_param(const Size &node) {
    for (const Param &param : reader_.spec.params)
      if (param.name == node.name && !std::holds_alternative<int64_t>(param.choices.front())) {
        reader_.diags.add(DiagId::spec_param_no_integer, node.place, {node.name})
            .labels.push_back({param.place, "declared here"});
        return false;
      }
    return true;
  }

  bool check_grid(const Size &node) {
    const std::vector<GridDecl> &grid = reader_.spec.grid;
    for (size_t i = 0; i < std::min(allowed_.grid, grid.size()); ++i)
      if (grid[i].name == node.name)
        return true;
    Diagnostic &d =
        reader_.diags.add(DiagId::spec_name_not_allowed, node.place, {node.name, "a grid dimension", allowed_.where});
    if (allowed_.tables)
      d.help = "a size may use the dimensions outside it: those that stand before it in the file";
    return false;
  }

  bool check_table(const Size &node) {
    const auto found = reader_.names.find(node.name);
    if (found == reader_.names.end()) {
      reader_.diags.add(DiagId::spec_unknown_name, node.place, {node.name}).help =
          did_you_mean(node.name, names_of(reader_, {NameKind::table}));
      return false;
    }
    if (found->second.kind != NameKind::table) {
      add_first_label(reader_.diags.add(DiagId::spec_not_a_table, node.place, {node.name, found->second.what}),
                      found->second);
      return false;
    }
    if (!allowed_.tables) {
      reader_.diags.add(DiagId::spec_name_not_allowed, node.place, {node.name, "a table", allowed_.where});
      return false;
    }
    for (const TableDecl &table : reader_.spec.tables)
      if (table.name == node.name && table.dims.size() != node.args.size()) {
        reader_.diags
            .add(DiagId::spec_table_indices, node.place,
                 {node.name, std::to_string(table.dims.size()), std::to_string(node.args.size())})
            .labels.push_back({table.place, "declared here"});
        return false;
      }
    return true;
  }

  // An expression with its parameters replaced, and in words by what.
  struct Choice {
    Size size;
    std::string values;
  };

  // Overflow, division by zero and negative sizes among numbers, for every choice of the parameters.
  void check_values(const Size &size) {
    for (const Choice &choice : choices_of(size)) {
      if (report_failing(choice.size, choice.values))
        return;
      if (allowed_.is_size && choice.size.is_integer() && choice.size.value < 0) {
        reader_.diags.add(DiagId::spec_negative_size, size.place, {std::to_string(choice.size.value)}).help =
            choice.values;
        return;
      }
    }
  }

  std::vector<Choice> choices_of(const Size &size) const {
    constexpr size_t kMostChoices = 256;
    std::vector<Choice> choices = {{size, ""}};
    for (const Param &param : reader_.spec.params) {
      if (!mentions(size, Size::Op::param, param.name))
        continue;
      std::vector<Choice> next;
      for (const Choice &choice : choices)
        for (const ParamValue &value : param.choices) {
          const int64_t number = std::get<int64_t>(value);
          Size made = rewrite(choice.size, [&](const Size &node) {
            const bool is_it = node.op == Size::Op::param && node.name == param.name;
            return is_it ? std::optional(Size::integer(number)) : std::nullopt;
          });
          next.push_back({std::move(made), choice.values + (choice.values.empty() ? "with " : ", ") + param.name +
                                               " = " + std::to_string(number)});
        }
      if (next.size() > kMostChoices)
        next.resize(kMostChoices);
      choices = std::move(next);
    }
    return choices;
  }

  // What folding left although all its arguments are numbers has no value.
  bool report_failing(const Size &size, const std::string &values) {
    for (const Size &arg : size.args)
      if (report_failing(arg, values))
        return true;
    const bool divides = size.op == Size::Op::divide || size.op == Size::Op::modulo || size.op == Size::Op::cdiv;
    const bool by_zero = divides && size.args[1].is_integer(0);
    const bool numbers = !size.args.empty() && size.op != Size::Op::table &&
                         std::all_of(size.args.begin(), size.args.end(), [](const Size &a) { return a.is_integer(); });
    if (!numbers && !by_zero)
      return false;
    reader_.diags
        .add(DiagId::spec_size_overflow, size.place,
             {to_string(size), by_zero ? "divides by zero" : "does not fit in 64 bits"})
        .help = values;
    return true;
  }

  Reader &reader_;
  const Allowed &allowed_;
};

void resolve(Reader &reader, Size &size, const Allowed &allowed) { Resolver(reader, allowed).run(size); }
void resolve(Reader &reader, std::optional<Size> &size, const Allowed &allowed) {
  if (size)
    resolve(reader, *size, allowed);
}

// A block is raised to at least 1, so that `cdiv(M, 2)` works for an empty M.
void resolve_block(Reader &reader, Size &block, const Allowed &allowed) {
  const Place place = block.place;
  resolve(reader, block, allowed);
  block = Size::make(Size::Op::max, {block, Size::integer(1)});
  block.place = place;
}

} // namespace

void resolve_expressions(Reader &reader) {
  Spec &spec = reader.spec;
  const Allowed sizes{"the size of an array", 0, false, true}, axis{"the size of an axis", 0, false, true};
  const Allowed block{"the size of a block"};
  const Allowed range{"a `range`", 0, false, true}, at_most{"`at_most`", 0, false, true};
  const Allowed window{"`index` or `offset`", spec.grid.size(), true};
  for (AxisDecl &decl : spec.axes) {
    const BrokenGuard guard(reader, decl.name);
    resolve(reader, decl.equals, axis);
  }
  for (OperandDecl &operand : spec.operands) {
    const BrokenGuard guard(reader, operand.name);
    for (DimDecl &dim : operand.dims)
      if (dim.extent)
        resolve(reader, *dim.extent, sizes);
    if (!operand.window)
      continue;
    for (WindowDecl::Dim &dim : operand.window->block)
      if (dim.kind == WindowDecl::Kind::block)
        resolve_block(reader, dim.block, block);
    for (auto *positions : {&operand.window->index, &operand.window->offset})
      if (*positions)
        for (Size &position : **positions)
          resolve(reader, position, window);
  }
  for (TableDecl &table : spec.tables) {
    const BrokenGuard guard(reader, table.name);
    for (Size &dim : table.dims)
      resolve(reader, dim, sizes);
    resolve(reader, table.range, range);
  }
  for (size_t i = 0; i < spec.grid.size(); ++i) {
    for (Size &size : spec.grid[i].blocks)
      resolve_block(reader, size, block);
    resolve(reader, spec.grid[i].size, Allowed{"the size of a grid dimension", i, true, true});
    resolve(reader, spec.grid[i].at_most, at_most);
  }
}

} // namespace kgen
