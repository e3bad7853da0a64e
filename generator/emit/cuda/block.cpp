#include "emit/cuda/block.h"

#include <algorithm>

#include "emit/cuda/packs.h"
#include "emit/cuda/points.h"
#include "plan/cuda/blocks.h"
#include "plan/index/access.h"
#include "plan/index/lanes.h"
#include "support/text.h"

namespace kgen {
namespace {

void barrier_after(Block &block, const PlanNode &node) {
  for (const Access &a : accesses_of(block.out.kernel(), node))
    if (block.shared.count(a.memory) != 0)
      return block.out.barrier();
}

// The condition of a compound statement. All threads have read it before one goes on and changes what it reads.
Code agreed_condition(Block &block, const PlanNode &node) {
  const Code condition = block.out.printer.expression(node.condition);
  const std::vector<Access> accesses = accesses_of(block.out.kernel(), head_of(node));
  if (std::none_of(accesses.begin(), accesses.end(),
                   [&](const Access &a) { return block.shared.count(a.memory) != 0; }))
    return condition;
  const std::string name = block.out.names.claim("holds");
  block.out.add("const bool " + name + " = " + condition.text + ";");
  block.out.barrier();
  return {name};
}

// ---- loops ---------------------------------------------------------------------------------------------------------

// One round after the other, whose statements the threads share.
void rounds_of_block(Block &block, const PlanNode &loop) {
  KernelText &out = block.out;
  const std::vector<const PlanNode *> folds = ending_folds(block, loop);
  const Shares shares = begin_shares(out, folds);
  const std::set<VarId> outer = block.pending;
  for (const PlanNode *fold : folds)
    block.pending.insert({fold->target, fold->partner == kNone ? fold->target : fold->partner});
  const Printer::Range range = out.printer.range(loop);
  const std::string &v = out.printer.axis_name(loop.axis);
  out.add("for (Index " + v + " = " + (range.begin == "0" ? "0" : "Index(" + range.begin + ")") + "; " + v + " < " +
          range.end + "; ++" + v + ") {");
  block_list(block, loop.body);
  out.barrier(); // the next round writes into the same buffers
  out.add("}");
  block.pending = outer;
  end_shares(out.printer, shares);
  for (const PlanNode *fold : folds)
    fold_shares(out, block.team, *fold, shares);
}

// Every thread folds its share, then the block folds the threads' results.
void block_reduction(Block &block, const PlanNode &loop, const Printer::Range *points) {
  const std::vector<const PlanNode *> folds = ending_folds(block, loop);
  Shares shares = begin_shares(block.out, folds);
  strided(block, nest_of(block.out.plan(), loop, PlanNode::Order::reduction), points);
  end_shares(block.out.printer, shares);
  if (block.part && !block.part->takes_part.empty())
    shares = shares_of_takers(block.out, folds, std::move(shares), block.part->takes_part);
  for (const PlanNode *fold : folds)
    fold_shares(block.out, block.team, *fold, shares);
}

// One thread goes through the loop; what it leaves in variables goes to the others.
void block_in_order(Block &block, const PlanNode &loop) {
  KernelText &out = block.out;
  out.add("if (threadIdx.x == 0) {");
  out.printer.node(loop, {});
  out.add("}");
  for (VarId var : found_in_order(out.plan(), out.printer.scopes, loop)) {
    const std::string &name = out.printer.name(var);
    out.add(name + " = " + out.helper("broadcast") + "(" + name + ");");
  }
}

void block_loop(Block &block, const PlanNode &loop) {
  const Plan &plan = block.out.plan();
  const bool alone = !own_buffers(plan, block.out.printer.scopes, loop).empty(); // a turn at a time
  const Printer::Range *const points = block.part ? &block.part->points : nullptr;
  if (loop.order == PlanNode::Order::ordered)
    LaneAnalysis(plan).has_scans_only(loop) && !alone ? block_scans(block, loop) : block_in_order(block, loop);
  else if (alone)
    rounds_of_block(block, loop);
  else if (loop.order == PlanNode::Order::reduction)
    block_reduction(block, loop, points);
  else
    strided(block, nest_of(plan, loop, PlanNode::Order::parallel), points);
  barrier_after(block, loop);
}

// ---- other statements ----------------------------------------------------------------------------------------------

void block_steps(Block &block, const PlanNode &node) {
  Printer &printer = block.out.printer;
  const std::string &v = printer.grid_name(node.grid);
  printer.declare_step_count(node.grid);
  block.out.add("for (Index " + v + " = 0; " + v + " < " + printer.step_count_text(node.grid) + "; ++" + v + ") {");
  if (!contains_steps(node.body) && printer.guards != nullptr)
    block.out.add(printer.step_guard(*printer.guards));
  block_list(block, node.body);
  block.out.add("}");
}

void block_branch(Block &block, const PlanNode &node) {
  block.out.add("if (" + Spelling::condition(agreed_condition(block, node).text) + ") {");
  block_list(block, node.body);
  if (!node.otherwise.empty()) {
    block.out.add("} else {");
    block_list(block, node.otherwise);
  }
  block.out.add("}");
}

void block_repeat(Block &block, const PlanNode &node) {
  KernelText &out = block.out;
  if (node.step.empty()) {
    out.add("for (;;) {");
  } else {
    const std::string again = out.names.claim("again");
    out.add("for (bool " + again + " = false;; " + again + " = true) {");
    out.add("if (" + again + ") {");
    block_list(block, node.step);
    out.add("}");
  }
  if (node.condition != kNone)
    out.add("if (!" + at_least(agreed_condition(block, node), binding::kUnary) + ") break;");
  block_list(block, node.body);
  out.add("}");
}

// One value for all threads: each computes it for itself; memory is written by one of them.
void block_value(Block &block, const PlanNode &node, const std::vector<PlanNode> &siblings) {
  KernelText &out = block.out;
  const auto memory = [&](VarId var) { return in_memory(out.printer, var); };
  const bool writes = node.target != kNone && (memory(node.target) || block.pending.count(node.target) != 0);
  PlanNode written = node;
  if (writes && node.kind == PlanNode::Kind::fold_init && node.partner != kNone && !memory(node.partner)) {
    out.printer.start(node.partner, siblings); // each thread has its own
    written.partner = kNone;
  }
  if (writes)
    out.add("if (" + block.team.writer + ") {");
  out.printer.node(written, siblings);
  if (writes)
    out.add("}");
  barrier_after(block, node);
}

} // namespace

void block_list(Block &block, const std::vector<PlanNode> &list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (starts_chunks(block.out.plan(), list[i]))
      continue;
    block.out.printer.declare_before(list, i);
    block_node(block, list[i], list);
  }
}

void block_node(Block &block, const PlanNode &node, const std::vector<PlanNode> &siblings) {
  switch (node.kind) {
  case PlanNode::Kind::loop:
    return block_loop(block, node);
  case PlanNode::Kind::steps:
    return block_steps(block, node);
  case PlanNode::Kind::branch:
    return block_branch(block, node);
  case PlanNode::Kind::repeat:
    return block_repeat(block, node);
  default:
    return block_value(block, node, siblings);
  }
}

std::vector<const PlanNode *> ending_folds(const Block &block, const PlanNode &loop) {
  std::vector<const PlanNode *> folds = folds_over(loop);
  std::erase_if(folds, [&](const PlanNode *fold) { return block.pending.count(fold->target) != 0; });
  return folds;
}

namespace {

// Which points of the nest, whose number has the type.
Printer::Range points_of(KernelText &out, const Nest &nest, const Printer::Range *points, bool wide) {
  if (points != nullptr && nest.size() == 1)
    return *points;
  if (points == nullptr && nest.size() == 1 && nest[0]->kind == PlanNode::Kind::loop)
    return out.printer.range(*nest[0]);
  const std::string end = (wide ? "int64_t{1} * " : "") + points_text(out.printer, nest);
  if (points == nullptr)
    return {"0", end};
  return {points->begin, out.helper("smaller") + "(" + points->end + ", " + end + ")"};
}

} // namespace

void strided(Block &block, const Nest &nest, const Printer::Range *part) {
  if (nest.back()->packs)
    return packed_loop(block, nest, part);
  KernelText &out = block.out;
  const std::vector<PlanNode> &body = nest.back()->body;
  const bool single = nest.size() == 1 && nest[0]->kind == PlanNode::Kind::loop;
  const bool wide = !counted_by_arrays(out.kernel(), nest);
  const std::string type = wide ? "int64_t" : "Index", own = type + "(" + block.team.index + ")",
                    v = single ? out.printer.axis_name(nest[0]->axis) : "point";
  const Printer::Range points = points_of(out, nest, part, wide);
  const bool named = std::all_of(points.begin.begin(), points.begin.end(), is_word);
  const bool guarded = !block.team.present.empty() && sets_elements(out.plan(), body);
  if (guarded)
    out.add("if (" + block.team.present + ") {");
  if (block.team.columns) // loads of several rows are under way at once
    out.add("#pragma unroll 4");
  out.add("for (" + type + " " + v + " = " +
          (points.begin == "0" ? own : (named ? points.begin : type + "(" + points.begin + ")") + " + " + own) + "; " +
          v + " < " + points.end + "; " + v + " += " + type + "(" + block.team.size + ")) {");
  if (!single)
    decode(out, nest, v);
  out.printer.list(body);
  out.add(guarded ? "}\n}" : "}");
}

void take_buffers(KernelText &out, const std::vector<VarId> &buffers) {
  if (buffers.empty())
    return;
  out.helper("block_fold");
  out.add("char* tile = tiles != nullptr ? tiles + int64_t(blockIdx.x) * tile_bytes : "
          "reinterpret_cast<char*>(shared_memory()) + " +
          std::to_string(kFoldBytes) + ";");
  for (VarId var : buffers) {
    const std::string type = Spelling::c_type(out.kernel().vars[var].type);
    out.add(type + "* const " + out.printer.name(var) + " = " + out.helper("take") + "<" + type + ">(tile, " +
            out.printer.buffer_elements(var) + ");");
  }
}

} // namespace kgen
