// Random grids and windows, judged by the analysis and by trying: for small sizes that pass all launcher checks, every
// step's window is evaluated and every element counted. What the analysis lets pass must be legal; what it calls
// parallel must not collide. The trying is written here from the design, apart from the analysis' own search.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "analysis_harness.h"

using namespace kgen;
using kgen::test::analyse;
using kgen::test::Analysed;

namespace {

using Names = std::map<std::string, int64_t>;

std::optional<int64_t> eval(const Kernel &kernel, const Size &size, const Names &names) {
  SizeValues values;
  values.name = [&](Size::Op op, std::string_view name) -> std::optional<long long> {
    if (op == Size::Op::grid_size)
      for (const GridDim &dim : kernel.grid)
        if (dim.name == name)
          return eval(kernel, dim.size, names);
    for (const Axis &axis : kernel.axes)
      if (op == Size::Op::axis && axis.name == name && !(axis.size == Size::axis(axis.name)))
        return eval(kernel, axis.size, names);
    const auto found = names.find(std::string(name));
    return found == names.end() ? std::nullopt : std::optional<long long>(found->second);
  };
  values.table = [](std::string_view, const std::vector<long long> &) { return std::optional<long long>(); };
  return evaluate(size, values);
}

std::vector<Names> steps_of(const Kernel &kernel, const Names &sizes, const std::vector<GridId> &dims) {
  std::vector<Names> out = {sizes};
  for (GridId g : dims) {
    std::vector<Names> next;
    for (const Names &outer : out)
      for (int64_t i = 0; i < eval(kernel, kernel.grid[g].size, outer).value_or(0); ++i) {
        next.push_back(outer);
        next.back()[kernel.grid[g].name] = i;
      }
    out = next;
  }
  return out;
}

std::vector<GridId> all_dims(const Kernel &kernel) {
  std::vector<GridId> out;
  for (size_t g = 0; g < kernel.grid.size(); ++g)
    out.push_back(static_cast<GridId>(g));
  return out;
}

// Would the launcher go ahead?
bool launches(const Analysed &a, const Names &sizes) {
  for (const Check &check : a.facts.checks) {
    if (!check.factors.empty())
      continue;
    for (const Names &step : steps_of(a.kernel, sizes, check.loops))
      if (eval(a.kernel, check.condition, step).value_or(0) == 0)
        return false;
  }
  return true;
}

struct Tried {
  bool outside = false, collides = false, revisits = false, uncovered = false;
  std::vector<bool> repeats; // per dimension: steps that differ in it share an element
};

Tried try_out(const Kernel &kernel, const Var &z, const Names &sizes) {
  Tried out;
  out.repeats.assign(kernel.grid.size(), false);
  std::map<std::vector<int64_t>, std::vector<std::pair<Names, int>>> writers;
  std::vector<int64_t> extents;
  int64_t elements = 1;
  for (const Dim &dim : z.dims) {
    extents.push_back(*eval(kernel, dim.extent, sizes));
    elements *= extents.back();
  }
  if (elements == 0)
    return out;
  std::vector<std::pair<int64_t, int64_t>> last;
  int run = 0;
  for (const Names &step : steps_of(kernel, sizes, all_dims(kernel))) {
    std::vector<std::pair<int64_t, int64_t>> box;
    std::vector<std::vector<int64_t>> points = {{}};
    for (size_t d = 0; d < z.dims.size(); ++d) {
      const int64_t start = *eval(kernel, z.dims[d].start, step), block = *eval(kernel, z.dims[d].block, step);
      out.outside = out.outside || (!z.dims[d].whole && (start >= extents[d] || start + block <= 0));
      box.emplace_back(start, block);
      std::vector<std::vector<int64_t>> next;
      for (const auto &point : points)
        for (int64_t i = std::max<int64_t>(start, 0); i < std::min(start + block, extents[d]); ++i) {
          next.push_back(point);
          next.back().push_back(i);
        }
      points = next;
    }
    run += box != last;
    last = box;
    for (const auto &point : points)
      writers[point].emplace_back(step, run);
  }
  out.uncovered = static_cast<int64_t>(writers.size()) < elements;
  for (const auto &[point, list] : writers)
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        out.revisits = out.revisits || list[i].second != list[j].second;
        for (size_t g = 0; g < kernel.grid.size(); ++g) {
          const std::string &name = kernel.grid[g].name;
          if (list[i].first.at(name) == list[j].first.at(name))
            continue;
          out.repeats[g] = true;
          out.collides = out.collides || kernel.grid[g].semantics == Semantics::parallel;
        }
      }
  return out;
}

class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string spec() { return pick(3) == 0 ? wild() : tame(); }

private:
  // Mostly legal: each dimension counts its own blocks, in one of several ways, sometimes with a slip.
  std::string tame() {
    const int dims = pick(2) + 1;
    std::string grid, index, blocks, brackets;
    int names = 0;
    const auto step = [&](const std::string &size) {
      const std::string stated =
          std::vector<std::string>{"", "", ", semantics = \"parallel\"", ", semantics = \"arbitrary\""}[pick(4)];
      grid += "grid." + name(names) + " = { size = \"" + size + "\"" + stated + " }\n";
      return name(names++);
    };
    const auto still = [&] {
      if (pick(4) == 0)
        step(std::vector<std::string>{"M", "2", "1"}[pick(3)]);
    };
    for (int d = 0; d < dims; ++d) {
      const std::string extent = std::vector<std::string>{"M", "N", "M * 2", "M + N", "12"}[pick(5)];
      const std::string block = std::vector<std::string>{"1", "2", "3", "cdiv(M, 2)", "min(N, 3)"}[pick(5)];
      const std::string count = "cdiv(" + extent + ", max(1, " + block + "))";
      std::string at;
      still();
      switch (pick(9)) {
      case 0:
        at = step("cdiv(" + count + ", 2)") + " * 2 + ";
        at += step("2");
        break;
      case 1: {
        const std::string i = step(count);
        at = count + " - 1 - " + i;
        break;
      }
      case 2: {
        const std::string i = step("2 * " + count);
        at = i + " / 2";
        break;
      }
      case 3: {
        const std::string i = step("2 * " + count);
        at = i + " % " + count;
        break;
      }
      case 4: {
        const std::string i = step(count);
        at = "(" + i + (d > 0 ? " + " + name(0) : " + 1") + ") % " + count;
        break;
      }
      case 5: {
        const std::string i = step("M");
        const std::string j = step(count);
        at = pick(2) == 0 ? j : "min(" + j + ", " + i + ")";
        break;
      }
      case 6: {
        const std::string i = step("2");
        at = i + " * cdiv(" + count + ", 2) + " + step("cdiv(" + count + ", 2)");
        break;
      }
      default:
        at = step(count);
      }
      still();
      blocks += (d ? ", \"" : "\"") + block + "\"";
      index += (d ? ", \"" : "\"") + at + "\"";
      brackets += (d ? ", " : "") + std::string(1, static_cast<char>('A' + d)) + "=" + extent;
    }
    return "kernel = \"a\"\ninputs.s = \"f32[M, N]\"\noutputs.z = { type = \"f32[" + brackets + "]\", block = [" +
           blocks + "], index = [" + index + "] }\n" + grid + "body = 'if (first(z)) z = 0;'\n";
  }

  std::string wild() {
    const int dims = pick(3) + 1, grid = pick(3) + 1;
    std::string out = "kernel = \"a\"\ninputs.s = \"f32[M, N]\"\n", index, blocks, brackets;
    const bool offset = pick(5) == 0;
    for (int d = 0; d < dims; ++d) {
      const std::string block =
          std::vector<std::string>{"1", "2", "3", "4", "\"cdiv(M, 2)\"", "\"min(N, 3)\""}[pick(6)];
      blocks += (d ? ", " : "") + block;
      index += (d ? ", \"" : "\"") + expression(grid, 2) + "\"";
      const std::string extent =
          std::vector<std::string>{"M", "N", "M * 2", "M + N", "M * N", "12", "max(M, N)"}[pick(7)];
      brackets += (d ? ", " : "") + std::string(1, static_cast<char>('A' + d)) + "=" + extent;
    }
    out += "outputs.z = { type = \"f32[" + brackets + "]\", block = [" + blocks + "], " +
           (offset ? "offset" : "index") + " = [" + index + "] }\n";
    for (int g = 0; g < grid; ++g) {
      const std::string size = std::vector<std::string>{"M",        "N",     "cdiv(M, 2)",     "cdiv(N, 3)",     "2",
                                                        "3",        "M * N", "cdiv(M, 2) * 2", "cdiv(M * N, 4)", "1",
                                                        "M / 2 + 1"}[pick(11)];
      const std::string stated =
          std::vector<std::string>{"", "", ", semantics = \"parallel\"", ", semantics = \"arbitrary\""}[pick(4)];
      out += std::string("grid.") + name(g) + " = { size = \"" + size + "\"" + stated + " }\n";
    }
    return out + "body = 'if (first(z)) z = 0;'\n";
  }

  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  static std::string name(int g) { return std::string(1, static_cast<char>('i' + g)); }

  std::string expression(int grid, int depth) {
    const std::string step = name(pick(grid));
    if (depth == 0 || pick(3) == 0)
      return step;
    const std::string a = expression(grid, depth - 1), b = expression(grid, depth - 1);
    const std::string n = std::vector<std::string>{"2", "3", "4", "cdiv(M, 2)", "N", "M"}[pick(6)];
    switch (pick(8)) {
    case 0:
      return "(" + a + ") * " + n + " + " + b;
    case 1:
      return "(" + a + ") / (" + n + ")";
    case 2:
      return "(" + a + ") % (" + n + ")";
    case 3:
      return a + " + " + b;
    case 4:
      return a + " + 1";
    case 5:
      return "min(" + a + ", " + n + ")";
    case 6:
      return n + " - 1 - " + step;
    default:
      return step;
    }
  }

  std::mt19937 random_;
};

} // namespace

TEST_CASE("what passes the analysis and the launcher is legal") {
  int accepted = 0, refused = 0, judged = 0, parallel = 0;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    Generator generator(seed);
    const std::string text = generator.spec();
    const Analysed a = analyse(text);
    if (!a.built)
      continue;
    INFO(text);
    const bool legal = a.errors.empty();
    (legal ? accepted : refused) += 1;
    const Var &z = a.kernel.vars[1];
    REQUIRE(z.name == "z");
    for (const auto &[m, n] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {4, 4}, {5, 3}, {3, 6}, {6, 5}, {0, 2}, {7, 1}}) {
      const Names sizes = {{"M", m}, {"N", n}};
      CAPTURE(m);
      CAPTURE(n);
      if (!legal || !launches(a, sizes))
        continue;
      ++judged;
      const Tried tried = try_out(a.kernel, z, sizes);
      CHECK(!tried.outside);
      CHECK(!tried.collides);
      CHECK(!tried.revisits);
      CHECK(!tried.uncovered);
      for (const GridFact &fact : a.facts.grid)
        parallel += fact.semantics == Semantics::parallel;
    }
  }
  // The test must have had something to judge.
  CHECK(accepted > 150);
  CHECK(refused > 100);
  CHECK(judged > 500);
  CHECK(parallel > 500);
  MESSAGE(accepted << " accepted, " << refused << " refused, " << judged << " grids tried");
}
