#include "cli/explanation.h"

#include <algorithm>
#include <cmath>

#include "ir/interpret.h"
#include "support/text.h"

namespace kgen {

namespace {

using Row = Explanation::Row;
using Section = Explanation::Section;

std::string verdict_text(Verdict verdict) {
  constexpr const char *kNames[] = {"proved", "checked at the call", "checked in each step", "refuted"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string names_of(const Kernel &kernel, const std::vector<GridId> &dims) {
  std::vector<std::string> names;
  for (GridId g : dims)
    names.push_back(kernel.grid[g].name);
  return join(names, ", ");
}

// "i64[B + 1]": what a caller passes, with blocks and squeezed dimensions left to `window`.
std::string shape_text(const Kernel &kernel, const Var &var) {
  std::string out;
  for (size_t d = 0; d < var.dims.size(); ++d) {
    const Dim &dim = var.dims[d];
    const bool same = d > 0 && var.dims[d - 1].array_dim == dim.array_dim;
    const std::string axis = dim.axis == kNone ? "" : kernel.axes[dim.axis].name;
    const std::string extent = to_string(var.kind == Var::Kind::scratch ? dim.block : dim.extent);
    out += (d == 0 ? "" : same ? " " : ", ") + (axis.empty() || axis == extent ? extent : axis + "=" + extent);
  }
  return std::string(type_row(var.type).name) + "[" + out + "]";
}

std::string window_text(const Kernel &kernel, const Var &var, const OperandFact &fact) {
  const bool whole = std::all_of(var.dims.begin(), var.dims.end(), [](const Dim &dim) { return dim.whole; });
  if (whole || var.kind == Var::Kind::scratch)
    return whole && var.kind != Var::Kind::scratch ? "whole" : "one block";
  std::vector<std::string> blocks;
  for (const Dim &dim : var.dims)
    blocks.push_back(dim.whole ? "whole" : to_string(dim.block));
  return join(blocks, " x ") + (fact.moves_with.empty() ? "" : ", moves with " + names_of(kernel, fact.moves_with));
}

Section operands_section(const Variation &variation) {
  const Kernel &kernel = variation.kernel;
  Section out{"operands", {}, "", ""};
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    const Var &var = kernel.vars[v];
    if (var.kind == Var::Kind::local)
      continue;
    constexpr const char *kRoles[] = {"input", "output", "scratch"};
    const OperandFact &fact = variation.facts.operands[v];
    const Size bytes = Size::make(Size::Op::multiply, {Size::integer(bytes_of(var.type)), fact.elements});
    out.rows.push_back({{"role", kRoles[static_cast<size_t>(var.kind)]},
                        {"name", var.name},
                        {"shape", shape_text(kernel, var)},
                        {"bytes", to_string(bytes)},
                        {"window", window_text(kernel, var, fact)}});
  }
  for (const Table &table : kernel.tables) {
    std::vector<std::string> dims;
    for (const Size &dim : table.dims)
      dims.push_back(to_string(dim));
    out.rows.push_back({{"role", "table"},
                        {"name", table.name},
                        {"shape", std::string(type_row(table.type).name) + "[" + join(dims, ", ") + "]"},
                        {"bytes", ""},
                        {"window", std::string(table.sorted ? "sorted " : "") + (table.unique ? "unique " : "") +
                                       (table.range ? "below " + to_string(*table.range) : "")}});
  }
  return out;
}

Section axes_section(const Variation &variation) {
  const Kernel &kernel = variation.kernel;
  Section out{"axes", {}, "", ""};
  for (size_t a = 0; a < kernel.axes.size(); ++a) {
    const Axis &axis = kernel.axes[a];
    const AxisFact &fact = variation.facts.axes[a];
    const bool argument = std::find(kernel.size_arguments.begin(), kernel.size_arguments.end(),
                                    static_cast<AxisId>(a)) != kernel.size_arguments.end();
    const auto fixed = kernel.fixed_axes.find(axis.name);
    out.rows.push_back(
        {{"axis", axis.name},
         {"size", fixed != kernel.fixed_axes.end() ? std::to_string(fixed->second)
                  : argument                       ? "an argument"
                                                   : to_string(axis.size)},
         {"multiple of", axis.multiple_of > 1 ? std::to_string(axis.multiple_of) : "", true},
         {"is", fact.independent ? "independent: its elements may be shared out" : "not independent: " + fact.reason}});
  }
  return out;
}

Section grid_section(const Variation &variation) {
  const Kernel &kernel = variation.kernel;
  Section out{"grid", {}, "", ""};
  for (size_t g = 0; g < kernel.grid.size(); ++g) {
    const GridDim &dim = kernel.grid[g];
    const GridFact &fact = variation.facts.grid[g];
    std::vector<std::string> carried;
    if (fact.accumulates)
      for (const auto &c : fact.accumulates->carried)
        carried.push_back(kernel.vars[c.var].name);
    const std::string axis = dim.axis == kNone ? "" : kernel.axes[dim.axis].name;
    const bool stays =
        std::ranges::any_of(variation.lowered.grid, [&](const GridDim &d) { return d.name == dim.name; });
    const std::string becomes = fact.dissolvable || (!stays && !fact.accumulates)
                                    ? "only tiles: " + axis + " is one loop, cut as each target likes"
                                : fact.accumulates ? "folds " + join(carried, ", ") + " over the whole of " + axis
                                : !fact.dissolve_reason.empty() ? "stays as it is: " + fact.dissolve_reason
                                                                : fact.accumulate_reason;
    out.rows.push_back({{"dimension", dim.name},
                        {"steps", to_string(dim.size)},
                        {"semantics", std::string(fact.semantics == Semantics::parallel ? "parallel" : "arbitrary") +
                                          (fact.stated ? ", stated" : ", found")},
                        {"because", fact.finding.reason},
                        {"becomes", becomes}});
  }
  return out;
}

Section claims_section(const Variation &variation) {
  const Kernel &kernel = variation.kernel;
  Section out{"claims", {}, "", ""};
  auto add = [&](const std::string &name, const char *claim, const Finding &finding) {
    if (!finding.reason.empty())
      out.rows.push_back(
          {{"of", name}, {"claim", claim}, {"verdict", verdict_text(finding.verdict)}, {"because", finding.reason}});
  };
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    const Var &var = kernel.vars[v];
    const OperandFact &fact = variation.facts.operands[v];
    if (var.kind == Var::Kind::input || var.kind == Var::Kind::output)
      add(var.name, "its windows are inside", fact.bounds);
    if (var.kind == Var::Kind::output) {
      add(var.name, "no two parallel steps write one element", fact.disjoint);
      add(var.name, "no window is come back to", fact.revisit);
      add(var.name, "every element is in a window", fact.windows_cover);
      add(var.name, "every element of a window is written", fact.written);
    }
    if (var.kind == Var::Kind::scratch || var.kind == Var::Kind::output)
      add(var.name, "nothing is read before it is written", fact.initialised);
  }
  for (const auto &[id, reason] : variation.facts.inside_reason)
    if (!variation.facts.inside[id])
      out.rows.push_back({{"of", kernel.vars[kernel.expr(id).ref].name},
                          {"claim", "this read is inside"},
                          {"verdict", "checked at each read"},
                          {"because", reason}});
  return out;
}

Section checks_section(const Variation &variation) {
  Section out{"checked at the call", {}, "", "", "checked at the call, which else is refused with"};
  for (const Requirement &required : variation.kernel.requirements)
    out.rows.push_back({{"else", required.text}});
  for (const Check &check : variation.facts.checks)
    out.rows.push_back({{"else", check.message}});
  for (const Guard &guard : variation.facts.guards)
    out.rows.push_back({{"else", guard.message + " (in each step)"}});
  for (const std::string &note : variation.facts.notes)
    out.rows.push_back({{"else", "note: " + note}});
  return out;
}

// --- what it costs ---

// Operations of f32 that a machine does while it moves one byte from or to memory.
struct BalanceRow {
  TargetKind kind;
  const char *target;
  double operations_a_byte;
  const char *machine;
};
constexpr BalanceRow kBalances[] = {
    {TargetKind::openmp, "openmp", 10, "a server processor: 2 TFLOP/s beside 200 GB/s"},
    {TargetKind::cuda, "cuda", 20, "an H100 without tensor cores: 67 TFLOP/s beside 3.35 TB/s"},
};
constexpr int64_t kExampleSize = 1024;

std::string rounded(double value) {
  constexpr const char *kUnits[] = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  for (; value >= 10'000 && unit + 1 < std::size(kUnits); ++unit)
    value /= 1000;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, value < 100 ? "%.3g" : "%.0f", value);
  return buffer + std::string(kUnits[unit]);
}

class Costs {
public:
  Costs(const Variation &variation, const std::map<std::string, int64_t> &sizes)
      : variation_(variation), kernel_(variation.kernel) {
    for (AxisId axis : kernel_.size_arguments) {
      const std::string &name = kernel_.axes[axis].name;
      const auto given = sizes.find(name), fixed = kernel_.fixed_axes.find(name);
      input_.sizes[name] = fixed != kernel_.fixed_axes.end() ? fixed->second
                           : given != sizes.end()            ? given->second
                                                             : kExampleSize;
    }
  }

  Section symbols() const {
    const Counts &counts = variation_.facts.counts;
    Section out{"cost", {}, "", ""};
    auto add = [&](const std::string &what, const std::string &count) {
      out.rows.push_back({{"what", what}, {"count", count}});
    };
    add("bytes read, each array once", to_string(counts.bytes_read));
    add("bytes written", to_string(counts.bytes_written));
    for (const auto &[op, count] : counts.operations)
      add("operations: " + std::string(op_name(op)), to_string(count));
    if (!counts.bounded)
      add("note", "a loop of unknown length counts as one turn");
    return out;
  }

  Section numbers(const std::vector<TargetKind> &targets) const {
    std::vector<std::string> at;
    for (const auto &[name, size] : input_.sizes)
      at.push_back(name + "=" + std::to_string(size));
    Section out{"bound", {}, "", join(at, ", ")};
    const Counts &counts = variation_.facts.counts;
    double operations = 0;
    for (const auto &[op, count] : counts.operations)
      operations += value(count);
    const double bytes = value(counts.bytes_read) + value(counts.bytes_written);
    if (std::isnan(bytes) || std::isnan(operations) || bytes <= 0)
      return out;
    for (const BalanceRow &row : kBalances) {
      if (std::find(targets.begin(), targets.end(), row.kind) == targets.end())
        continue;
      const double intensity = operations / bytes;
      out.rows.push_back(
          {{"target", row.target},
           {"bytes", rounded(bytes)},
           {"operations", rounded(operations)},
           {"operations a byte", rounded(intensity)},
           {"bound by", intensity < row.operations_a_byte ? "memory" : "arithmetic"},
           {"for a machine of", rounded(row.operations_a_byte) + " operations a byte, as " + row.machine}});
    }
    return out;
  }

private:
  double value(const Size &size) const {
    const std::optional<int64_t> known = size_value(kernel_, size, input_);
    return known ? static_cast<double>(*known) : NAN;
  }

  const Variation &variation_;
  const Kernel &kernel_;
  RunInput input_;
};

} // namespace

Explanation explain_variation(const Spec &spec, const Variation &variation, const std::map<std::string, int64_t> &sizes,
                              const std::vector<TargetKind> &targets) {
  const Kernel &kernel = variation.kernel;
  Explanation out;
  out.function = kernel.name + (kernel.suffix.empty() ? "" : "_" + kernel.suffix);
  for (const auto &[axis, size] : variation.variant.axes)
    out.function += ", " + axis + "=" + std::to_string(size);
  out.doc = spec.doc;
  out.spec = spec.path;
  const Costs costs(variation, sizes);
  out.sections = {operands_section(variation), axes_section(variation),   grid_section(variation),
                  claims_section(variation),   checks_section(variation), costs.symbols(),
                  costs.numbers(targets)};
  for (TargetKind target : targets)
    for (Section &section : explain_plan(variation, target))
      out.sections.push_back(std::move(section));
  return out;
}

namespace {

// Rows below each other, under the names of their columns where there are several.
std::string table_text(const std::vector<Row> &rows) {
  std::vector<Row> all = rows;
  if (rows.front().size() > 2) {
    Row names = rows.front();
    for (Explanation::Cell &cell : names)
      cell.text = cell.key;
    all.insert(all.begin(), names);
  }
  std::vector<size_t> widths(rows.front().size(), 0);
  for (size_t c = 0; c < widths.size(); ++c)
    if (std::any_of(rows.begin(), rows.end(), [&](const Row &row) { return !row[c].text.empty(); }))
      for (const Row &row : all)
        widths[c] = std::max(widths[c], display_width(row[c].text));
  std::string out;
  for (const Row &row : all) {
    std::string line = " ";
    for (size_t c = 0; c < row.size(); ++c)
      if (widths[c] > 0)
        line += " " + row[c].text + std::string(widths[c] + 1 - display_width(row[c].text), ' ');
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

} // namespace

std::string Explanation::text() const {
  std::string out = "== " + function + (doc.empty() ? "" : ": " + doc) + "\n";
  for (const Section &section : sections) {
    if (section.rows.empty() && section.below.empty())
      continue;
    out += "\n" + (section.title.empty() ? section.name : section.title) +
           (section.at.empty() ? "" : " at " + section.at) + "\n" +
           (section.rows.empty() ? "" : table_text(section.rows));
    for (const std::string &line : split(trim(section.below), '\n'))
      out += line.empty() ? "" : "    " + line + "\n";
  }
  return out;
}

std::string Explanation::json() const {
  std::string out =
      "{\"function\":" + json_string(function) + ",\"doc\":" + json_string(doc) + ",\"spec\":" + json_string(spec);
  for (const Section &section : sections) {
    std::string rows;
    for (const Row &row : section.rows) {
      std::string cells;
      for (const Cell &cell : row)
        if (!cell.text.empty())
          cells += (cells.empty() ? "" : ",") + json_string(cell.key) + ":" +
                   (cell.number ? cell.text : json_string(cell.text));
      rows += (rows.empty() ? "{" : ",{") + cells + "}";
    }
    out += "," + json_string(section.name) + ":[" + rows + "]";
    if (!section.below.empty())
      out += "," + json_string(section.name + " plan") + ":" + json_string(section.below);
    if (!section.at.empty())
      out += "," + json_string(section.name + " at") + ":" + json_string(section.at);
  }
  return out + "}";
}

} // namespace kgen
