// Work items that are rows: folds along them, and what is computed from these, all over one nest of loops. Part of a
// warp, a block or several blocks share a row, as the host's table of lengths says. What several loops read stays in
// shared memory, where each thread finds again what it has loaded before. Blocks that share a single fold leave its end
// to the last of them; where more comes after a fold, they wait for each other.
#include <algorithm>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"
#include "plan/index/exprs.h"

namespace kgen {
namespace {

bool same_axes(const std::vector<const PlanNode *> &a, const std::vector<const PlanNode *> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const PlanNode *one, const PlanNode *other) { return one->axis == other->axis; });
}

} // namespace

// Does each turn of the nest take several neighbours of the last loop?
bool CudaKernel::goes_by_groups(const std::vector<const PlanNode *> &chain) {
  return chain.size() > 1 && together_ > 1 && team_.index == Team().index && positions_of(chain) > 1;
}

// The host's shape, by the numbers of turns and of items.
std::string CudaKernel::row_shape(const std::vector<const PlanNode *> &chain, std::vector<const PlanNode *> nest,
                                  const std::vector<VarId> &kept, int64_t most_chunks) {
  std::string turns = length_of(nest);
  const int each = goes_by_groups(nest) ? together_ : 1;
  if (each > 1) {
    const std::string last = length_of({nest.back()});
    nest.pop_back();
    turns = length_of(nest) + " * " + spelling().helper("ceil_div") + "(" + last + ", " + std::to_string(each) + ")";
  }
  int bytes = 0;
  for (VarId var : kept)
    bytes += bytes_of(plan_.kernel.vars[var].type) * each;
  return spelling().helper("RowShape") + "(" + turns + ", " + std::to_string(each) + ", " + items_text(chain) + ", " +
         std::to_string(bytes) + ", " + std::to_string(most_chunks) + ")";
}

// ---- a single fold --------------------------------------------------------------------------------------------------

// The loop that blocks share in a phase of a block an item; null: there is none, each block takes items of its own.
const PlanNode *CudaKernel::split_row(const std::vector<const PlanNode *> &chain) {
  return !chain.empty() && is_list_of_folds(chain) && !uses_tiles(chain.back()->body) ? split_fold(chain.back()->body)
                                                                                      : nullptr;
}

void CudaKernel::row_phase(const std::vector<const PlanNode *> &chain, const PlanNode &split) {
  const std::vector<PlanNode> &body = chain.back()->body;
  together_ = positions_shared(body);
  team_.fold = team_.helper = "row_fold";
  out().add("const Index items = Index(" + items_text(chain) + ");"); // derived sizes have 64 bits
  out().add("for (Index item = Index(blockIdx.x / chunks) * Index(blockDim.y) + Index(threadIdx.y); item < items; item "
            "+= Index(gridDim.x / chunks) * Index(blockDim.y)) {");
  open_item(chain);
  list_of_folds(body, &split);
  out().add("}");
  team_ = {};
  Launch launch{"shape.blocks"};
  launch.folds = launch.shared = true;
  launch.threads = "dim3(shape.threads, shape.together)";
  launch.together = together_;
  launch.chunk = "Index";
  launch.prepare = prepare_shape(row_shape(chain, chain_of(split, kMostNested, PlanNode::Order::reduction), {},
                                           plan_.decide(Decision::fold_chunks)),
                                 &split);
  finish(launch);
}

// ---- folds, and what comes after them -------------------------------------------------------------------------------

// May the statement stand in a row whose loops go over the nest? Then no thread reads what another writes.
bool CudaKernel::fits_row(const PlanNode &node, const std::vector<const PlanNode *> &chain,
                          const std::vector<const PlanNode *> &nest) {
  const bool loop = node.kind == PlanNode::Kind::loop;
  const bool value = (node.kind == PlanNode::Kind::assign && node.coords.empty() && !node.scatter_add) ||
                     node.kind == PlanNode::Kind::fold_init;
  if ((!loop && !value) || (loop && node.order == PlanNode::Order::ordered))
    return false;
  AxisSet kept, points;
  for (const PlanNode *outer : chain)
    kept |= AxisSet::of(outer->axis);
  for (const PlanNode *inner : nest)
    points |= AxisSet::of(inner->axis);
  std::set<VarId> targets;
  bool same_threads = false; // as in the first loop, for each point
  if (loop) {
    const std::vector<const PlanNode *> own = chain_of(node, kMostNested, node.order);
    const bool loops =
        std::all_of(own.begin(), own.end(), [](const PlanNode *n) { return n->kind == PlanNode::Kind::loop; });
    if (!loops || !same_axes(own, nest) || goes_by_groups(own) != goes_by_groups(nest))
      return false;
    same_threads = (positions_of(own) > 1) == (positions_of(nest) > 1);
    for (const PlanNode *fold : folds_over(node)) {
      if (!kept.contains(fold->lanes - fold->reduced) || (fold->partner != kNone && in_memory(fold->target)))
        return false;
      targets.insert(fold->target);
    }
  }
  const std::vector<Access> accesses = accesses_of(plan_.kernel, node);
  return std::none_of(accesses.begin(), accesses.end(), [&](const Access &a) {
    const bool own = loop ? targets.count(a.var) != 0 || (same_threads && a.aligned.contains(points | kept))
                          : in_memory(node.target);
    return shared_.count(a.memory) != 0 && !own;
  });
}

std::optional<CudaKernel::Row> CudaKernel::row_of(const std::vector<const PlanNode *> &chain) {
  if (chain.empty() || uses_tiles(chain.back()->body))
    return std::nullopt;
  const std::vector<PlanNode> &body = chain.back()->body;
  const auto is_loop = [](const PlanNode &node) { return node.kind == PlanNode::Kind::loop; };
  const auto first = std::find_if(body.begin(), body.end(), is_loop);
  const auto any_steps = [](const PlanNode *node) { return node->kind != PlanNode::Kind::loop; };
  if (first == body.end() || first->order != PlanNode::Order::reduction || split_row(chain) != nullptr ||
      std::any_of(chain.begin(), chain.end(), any_steps))
    return std::nullopt;
  Row row;
  row.nest = chain_of(*first, kMostNested, PlanNode::Order::reduction);
  std::vector<const PlanNode *> all = chain;
  all.insert(all.end(), row.nest.begin(), row.nest.end());
  together_ = positions_shared(body);
  if (!counted_by_arrays(all) || length_of(row.nest).empty())
    return std::nullopt;
  shared_.clear();
  find_shared(body);
  const bool fits =
      std::all_of(body.begin(), body.end(), [&](const PlanNode &node) { return fits_row(node, chain, row.nest); });
  shared_.clear();
  if (!fits)
    return std::nullopt;
  for (const PlanNode *loop : row.nest) {
    const Printer::Range range = printer_.range(*loop);
    const bool varies = std::any_of(chain.begin(), chain.end(), [&](const PlanNode *outer) {
      const std::string &v = printer_.axis_name(outer->axis);
      return mentions_word(range.begin, v) || mentions_word(range.end, v);
    });
    row.ragged = row.ragged || plan_.kernel.axes[loop->axis].ragged != kNone;
    row.splits = row.splits && (row.ragged ? row.nest.size() == 1 && range.begin == "0" : !varies);
  }
  if (row.splits && !row.ragged)
    row.kept = kept_by(chain, row.nest);
  row.shape = row_shape(chain, row.nest, row.kept, row.splits ? plan_.decide(Decision::team_blocks) : 1);
  return row;
}

// Arrays of which the thread loads the elements at its own points in wide accesses.
void CudaKernel::find_packed_reads(const PlanNode &loop, std::set<VarId> &reads) {
  const LaneAnalysis lanes(plan_);
  for_each_node(loop, [&](const PlanNode &node) {
    for (ExprId id : expressions_of(node))
      walk(plan_.kernel, id, [&](ExprId at) {
        const Expr &e = plan_.kernel.expr(at);
        if (e.op != Op::read || !e.coords.empty() || lanes.guarded(e, loop.axis))
          return true;
        const auto packed = packed_access(plan_, lanes, e.ref, e.coords, loop.axis);
        if (packed && packed->fields == 1 && (e.safe || printer_.guard(e.ref, e.coords).empty()))
          reads.insert(e.ref);
        return true;
      });
  });
}

// What more than one loop reads of the row, and none writes before the last of them has read it.
std::vector<VarId> CudaKernel::kept_by(const std::vector<const PlanNode *> &chain,
                                       const std::vector<const PlanNode *> &nest) {
  AxisSet points, items;
  for (const PlanNode *loop : nest)
    points |= AxisSet::of(loop->axis);
  for (const PlanNode *loop : chain)
    items |= AxisSet::of(loop->axis);
  std::map<VarId, int> loops;
  std::set<VarId> written, spoilt;
  for (const PlanNode &node : chain.back()->body) {
    std::set<VarId> reads;
    const std::vector<const PlanNode *> own = chain_of(node, kMostNested, node.order);
    if (!own.empty() && together_ > 1 && positions_of(own) > 1)
      find_packed_reads(*own.back(), reads);
    for (VarId var : reads) {
      ++loops[var];
      if (written.count(memory_of(plan_.kernel, var)) != 0)
        spoilt.insert(var);
    }
    for (const Access &a : accesses_of(plan_.kernel, node))
      if (a.write)
        written.insert(a.memory);
  }
  std::vector<VarId> kept;
  for (const auto &[var, times] : loops) {
    const AxisSet axes = plan_.kernel.vars[var].axes;
    if (times > 1 && spoilt.count(var) == 0 && plan_.storage[var].kind == Storage::Kind::argument &&
        axes.contains(points) && !(axes & items).empty())
      kept.push_back(var);
  }
  return kept;
}

std::string CudaKernel::slots_name(const Row &row) {
  return printer_.name_beside(folds_over(*row.nest.front()).front()->target, "_slots");
}

// Which part of the row is the block's. The host says how long the parts are where all rows are of one length.
void CudaKernel::open_team_part(const Row &row) {
  const bool single = row.nest.size() == 1;
  const Printer::Range range = single ? printer_.range(*row.nest.front()) : Printer::Range{"0", ""};
  const std::string chunk = row.ragged ? names_.claim("row_chunk") : "chunk";
  if (row.ragged)
    out().add("const Index " + chunk + " = Index(" + spelling().helper("ceil_div") + "(" + range.end +
              ", int64_t(team.chunks) * 16) * 16);");
  out().add("const Index first = Index(blockIdx.x % team.chunks) * " + chunk +
            (range.begin == "0" ? "" : " + Index(" + range.begin + ")") + ";");
  out().add("const Index last = " +
            (single ? "Index(" + spelling().helper("smaller") + "(first + " + chunk + ", " + range.end + "))"
                    : "first + " + chunk) +
            ";");
  part_ = {"first", "last"};
}

void CudaKernel::team_phase(const std::vector<const PlanNode *> &chain, const Row &row) {
  const std::string each = goes_by_groups(row.nest) ? " * " + std::to_string(together_) : "";
  const std::string writes = names_.claim("writes");
  spelling().helper("RowTeam");
  team_.writer = writes;
  team_.fold = "team.fold";
  team_.helper = "RowTeam";
  std::string head = "team.begin();\n";
  if (!row.kept.empty())
    head += "char* tile = " + spelling().helper("row_tile") + "(team);\nconst bool keeps = team.kept_bytes > 0;\n";
  for (VarId var : row.kept) {
    const std::string tile = names_.claim(printer_.name(var), "_kept"),
                      type = Spelling::c_type(plan_.kernel.vars[var].type);
    head += type + "* const " + tile + " = " + spelling().helper("take") + "<" + type + ">(tile, chunk" + each + ");\n";
    kept_.tiles[var] = tile;
  }
  if (row.splits && !row.ragged)
    head += printer_.captured([&] { open_team_part(row); });
  out().add("const Index items = Index(" + items_text(chain) + ");"); // derived sizes have 64 bits
  out().add("for (Index item = Index(team.first_row()); item < items; item += Index(team.rows_at_once())) {");
  open_item(chain);
  if (row.splits && row.ragged)
    open_team_part(row);
  block_list(chain.back()->body);
  out().add("}");
  if (mentions_word(out().text(), writes))
    head += "const bool " + writes + " = threadIdx.x == 0 && blockIdx.x % team.chunks == 0;\n";
  const std::string body = out().text();
  out() = Lines();
  out().append(head + body);
  team_ = {};
  part_.reset();
  kept_ = {};
  Launch launch{""};
  launch.shared = true;
  launch.together = together_;
  launch.slots = row.splits ? "workspace + space." + slots_name(row) : "nullptr";
  launch.prepare = "const RowShape shape" + row.shape.substr(row.shape.find('(')) + ";\n";
  finish(launch);
}

} // namespace kgen
