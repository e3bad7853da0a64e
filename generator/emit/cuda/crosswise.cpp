#include "emit/cuda/kernels.h"

#include <map>
#include <set>

#include "emit/cuda/points.h"
#include "emit/target_file.h"
#include "plan/cuda/packs.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

namespace kgen {
namespace {

// Prints the three passes over a tile: the other way round for loads, along the lanes, the other way round for stores.
class TilePrinter {
public:
  TilePrinter(KernelText &out, const PlanNode &loop, const Crossing &crossing)
      : printer_(out.printer), names_(out.names), loop_(loop), other_(crossing.other->axis), side_(crossing.side),
        lanes_(out.plan()), column_(names_.claim("column")), row_(names_.claim("row")), i_(names_.claim("i")) {
    for (const PlanNode &node : loop_.body)
      collect(node);
  }

  void print(const std::string &lane_first, const std::string &lane_end, const std::string &other_first,
             const std::string &other_end) {
    Lines &out = printer_.lines;
    const std::string side = std::to_string(side_), lane = printer_.axis_name(loop_.axis),
                      other = printer_.axis_name(other_);
    out.add("const int " + column_ + " = int(threadIdx.x) % " + side + ", " + row_ + " = int(threadIdx.x) / " + side +
            ";");
    out.append(tiles_);
    auto pass = [&](const std::string &along, const std::string &along_first, const std::string &across,
                    const std::string &across_first, const std::string &text) {
      out.add("#pragma unroll\nfor (int " + i_ + " = " + row_ + "; " + i_ + " < " + side + "; " + i_ +
              " += " + std::to_string(printer_.plan.decide(Decision::block_threads) / side_) + ") {\nconst Index " +
              across + " = " + across_first + " + " + i_ + ", " + along + " = " + along_first + " + " + column_ +
              ";\nif (" + lane + " < " + lane_end + " && " + other + " < " + other_end + ") {\n" + text + "}\n}");
    };
    if (!loads_.empty()) {
      pass(other, other_first, lane, lane_first, loads_);
      out.add("__syncthreads();");
    }
    printer_.held = places_;
    const std::string body = printer_.captured([&] { printer_.list(loop_.body); });
    printer_.held.clear();
    pass(lane, lane_first, other, other_first, body);
    if (!stores_.empty()) {
      out.add("__syncthreads();");
      pass(other, other_first, lane, lane_first, stores_);
    }
  }

private:
  void collect(const PlanNode &node) {
    for (ExprId id : expressions_of(node))
      walk(printer_.kernel, id, [&](ExprId at) {
        const Expr &e = printer_.kernel.expr(at);
        if (e.op == Op::read && (e.safe || !may_be_outside(printer_.kernel, printer_.kernel.vars[e.ref], e.coords)))
          hold(e.ref, e.coords, true);
        return true;
      });
    for (const auto *list : {&node.body, &node.otherwise})
      for (const PlanNode &child : *list)
        collect(child);
    if (node.target != kNone)
      hold(node.target, {}, false);
  }

  void hold(VarId var, const std::vector<Coordinate> &coords, bool load) {
    const Var &v = printer_.kernel.vars[var];
    if (printer_.plan.storage[var].kind != Storage::Kind::argument || v.optional ||
        !lanes_.is_crosswise(var, coords, loop_.axis, other_))
      return;
    const std::string place = printer_.element(var, coords, {});
    auto [tile, fresh] = names_of_tiles_.try_emplace(place, "");
    if (fresh) {
      tile->second = names_.claim(printer_.name(var), "_tile");
      tiles_ += "__shared__ " + printer_.spelling.helper("Tile") + "<" + Spelling::c_type(v.type) + ", " +
                std::to_string(side_) + "> " + tile->second + ";\n";
      if (load)
        loads_ += tile->second + ".at[" + i_ + "][" + column_ + "] = " + place + ";\n";
    }
    if (!load && stored_.insert(place).second)
      stores_ += place + " = " + tile->second + ".at[" + i_ + "][" + column_ + "];\n";
    places_[place] = tile->second + ".at[" + column_ + "][" + i_ + "]";
  }

  Printer &printer_;
  Names &names_;
  const PlanNode &loop_;
  const AxisId other_;
  const int side_;
  const LaneAnalysis lanes_;
  const std::string column_, row_, i_;
  std::map<std::string, std::string> names_of_tiles_, places_;
  std::set<std::string> stored_;
  std::string tiles_, loads_, stores_;
};

} // namespace

KernelLaunch crosswise_kernel(KernelText &out, const Phase &phase) {
  Printer &printer = out.printer;
  const Nest items = items_of(out.plan(), phase);
  const Crossing crosswise = *crossing(out.plan(), items);
  const PlanNode &loop = *items.back();
  const std::string side = std::to_string(crosswise.side);
  TilePrinter tiles(out, loop, crosswise);
  std::map<AxisId, std::string> names, firsts, ends, counts;
  std::string prepare, origins;
  for (const PlanNode *node : {crosswise.other, &loop}) {
    const AxisId axis = node->axis;
    names[axis] = printer.axis_name(axis);
    ends[axis] = at_least(code_of(printer.range(*node).end), binding::kAdd);
    firsts[axis] = out.names.claim(names[axis], "_first");
    counts[axis] = out.names.claim(names[axis], "_tiles");
    const std::string &count = counts[axis], tile = out.names.claim(names[axis], "_tile");
    prepare += "const int64_t " + count + " = " + out.helper("ceil_div") + "(" + ends[axis] + ", " + side + ");\n";
    origins += "const Index " + firsts[axis] + " = " + tile + " * " + side + ";\n";
    printer.set_part(axis, {"0", count});
    printer.rename_axis(axis, tile);
  }
  const std::string blocks = points_text(printer, items),
                    decoded = printer.captured([&] { decode(out, items, "item"); });
  for (const auto &[axis, count] : counts)
    if (mentions_word(decoded, count)) // not that of the outermost loop
      out.add("const Index " + count + " = Index((" + ends[axis] + " + " + std::to_string(crosswise.side - 1) + ") / " +
              side + ");");
  out.add("const Index item = Index(blockIdx.x);");
  out.append(decoded + origins);
  printer.clear_parts();
  for (const auto &[axis, name] : names)
    printer.rename_axis(axis, name);
  const AxisId other = crosswise.other->axis;
  tiles.print(firsts[loop.axis], ends[loop.axis], firsts[other], ends[other]);
  return {.blocks = blocks, .prepare = prepare};
}

} // namespace kgen
