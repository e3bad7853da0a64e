// Map kernels on CUDA whose arrays lie crosswise: a block takes a tile of both axes. What has its neighbours along the
// other axis goes through shared memory, so that neighbouring threads always touch neighbouring elements.
#include <map>
#include <set>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"
#include "plan/index/ranges.h"

namespace kgen {
namespace {

// Prints the three passes over a tile: the other way round for loads, along the lanes, the other way round for stores.
class TilePrinter {
public:
  TilePrinter(Printer &printer, Names &names, const PlanNode &loop, const Crossing &crossing)
      : printer_(printer), names_(names), loop_(loop), other_(crossing.other->axis), side_(crossing.side),
        lanes_(printer.plan), column_(names.claim("column")), row_(names.claim("row")), i_(names.claim("i")) {
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
    Lines body;
    std::swap(body, printer_.lines);
    printer_.list(loop_.body);
    std::swap(body, printer_.lines);
    printer_.held.clear();
    pass(lane, lane_first, other, other_first, body.text());
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
        !is_crossing(lanes_, var, coords, loop_.axis, other_))
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

void CudaKernel::tiled_phase(const Nest &chain, const Crossing &crossing) {
  const PlanNode &loop = *chain.back();
  const std::string side = std::to_string(crossing.side);
  TilePrinter tiles(printer_, names_, loop, crossing);
  std::map<AxisId, std::string> names, firsts, ends, counts;
  std::string prepare, origins;
  for (const PlanNode *node : {crossing.other, &loop}) {
    const AxisId axis = node->axis;
    names[axis] = printer_.axis_name(axis);
    ends[axis] = at_least(code_of(printer_.range(*node).end), binding::kAdd);
    firsts[axis] = names_.claim(names[axis], "_first");
    counts[axis] = names_.claim(names[axis], "_tiles");
    const std::string &count = counts[axis], tile = names_.claim(names[axis], "_tile");
    prepare +=
        "const int64_t " + count + " = " + spelling().helper("ceil_div") + "(" + ends[axis] + ", " + side + ");\n";
    origins += "const Index " + firsts[axis] + " = " + tile + " * " + side + ";\n";
    printer_.set_part(axis, {"0", count});
    printer_.rename_axis(axis, tile);
  }
  Launch launch{items_text(chain)};
  Lines decoded;
  std::swap(decoded, printer_.lines);
  decode(chain, "item");
  std::swap(decoded, printer_.lines);
  for (const auto &[axis, count] : counts)
    if (mentions_word(decoded.text(), count)) // not that of the outermost loop
      out().add("const Index " + count + " = Index((" + ends[axis] + " + " + std::to_string(crossing.side - 1) +
                ") / " + side + ");");
  out().add("const Index item = Index(blockIdx.x);");
  out().append(decoded.text() + origins);
  printer_.clear_parts();
  for (const auto &[axis, name] : names)
    printer_.rename_axis(axis, name);
  const AxisId other = crossing.other->axis;
  tiles.print(firsts[loop.axis], ends[loop.axis], firsts[other], ends[other]);
  launch.prepare = prepare;
  finish(launch);
}

} // namespace kgen
