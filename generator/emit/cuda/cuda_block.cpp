// The statements that the threads of a block run together: strided loops, folds over the block, barriers, tiles.
#include <algorithm>
#include <map>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"
#include "support/text.h"

namespace kgen {

// ---- tiles ---------------------------------------------------------------------------------------------------------

void CudaKernel::take_tiles() {
  spelling().helper("block_fold");
  out().add("char* tile = tiles != nullptr ? tiles + int64_t(blockIdx.x) * tile_bytes : "
            "reinterpret_cast<char*>(shared_memory()) + " +
            std::to_string(kFoldBytes) + ";");
  for (VarId var : phase_->launch.buffers) {
    const std::string type = Spelling::c_type(plan_.kernel.vars[var].type);
    out().add(type + "* const " + printer_.name(var) + " = " + spelling().helper("take") + "<" + type + ">(tile, " +
              printer_.buffer_elements(var) + ");");
  }
}

// One is enough where two would follow each other.
void CudaKernel::barrier() {
  const std::string barrier = "__syncthreads();";
  if (out().last() != barrier)
    out().add(barrier);
}

void CudaKernel::barrier_after(const PlanNode &node) {
  for (const Access &a : accesses_of(plan_.kernel, node))
    if (shared_.count(a.memory) != 0)
      return barrier();
}

// The condition of a compound statement. All threads have read it before one goes on and changes what it reads.
Code CudaKernel::agreed_condition(const PlanNode &node) {
  const Code condition = printer_.expression(node.condition);
  const std::vector<Access> accesses = accesses_of(plan_.kernel, head_of(node));
  if (std::none_of(accesses.begin(), accesses.end(), [&](const Access &a) { return shared_.count(a.memory) != 0; }))
    return condition;
  const std::string name = names_.claim("holds");
  out().add("const bool " + name + " = " + condition.text + ";");
  barrier();
  return {name};
}

// ---- statements of a block ------------------------------------------------------------------------------------------

void CudaKernel::block_list(const std::vector<PlanNode> &list) {
  for (size_t i = 0; i < list.size(); ++i) {
    printer_.declare_before(list, i);
    block_node(list[i], list);
  }
}

void CudaKernel::block_node(const PlanNode &node, const std::vector<PlanNode> &siblings) {
  switch (node.kind) {
  case PlanNode::Kind::loop:
    return block_loop(node);
  case PlanNode::Kind::steps:
    return block_steps(node);
  case PlanNode::Kind::branch:
    out().add("if (" + Spelling::condition(agreed_condition(node).text) + ") {");
    block_list(node.body);
    if (!node.otherwise.empty()) {
      out().add("} else {");
      block_list(node.otherwise);
    }
    out().add("}");
    return;
  case PlanNode::Kind::repeat: {
    if (node.step.empty()) {
      out().add("for (;;) {");
    } else {
      const std::string again = names_.claim("again");
      out().add("for (bool " + again + " = false;; " + again + " = true) {");
      out().add("if (" + again + ") {");
      block_list(node.step);
      out().add("}");
    }
    if (node.condition != kNone)
      out().add("if (!" + at_least(agreed_condition(node), binding::kUnary) + ") break;");
    block_list(node.body);
    out().add("}");
    return;
  }
  default:
    break;
  }
  // One value for all threads: each computes it for itself; memory is written by one of them.
  const bool memory = node.target != kNone && (in_memory(node.target) || pending_.count(node.target) != 0);
  PlanNode written = node;
  if (memory && node.kind == PlanNode::Kind::fold_init && node.partner != kNone && !in_memory(node.partner)) {
    printer_.start(node.partner, siblings); // each thread has its own
    written.partner = kNone;
  }
  if (memory)
    out().add("if (" + team_.writer + ") {");
  printer_.node(written, siblings);
  if (memory)
    out().add("}");
  barrier_after(node);
}

// The threads of the block take neighbouring points of the loops in turn, `part` of them or all.
void CudaKernel::strided(const Nest &chain, const std::vector<PlanNode> &body, const Printer::Range *part) {
  if (packed_loop(chain, part))
    return;
  const bool single = chain.size() == 1 && chain[0]->kind == PlanNode::Kind::loop;
  const bool wide = !counted_by_arrays(plan_.kernel, chain);
  const std::string type = wide ? "int64_t" : "Index", own = type + "(" + team_.index + ")",
                    v = single ? printer_.axis_name(chain[0]->axis) : "point";
  Printer::Range points{"0", (wide ? "int64_t{1} * " : "") + items_text(chain)};
  if (part != nullptr && chain.size() == 1)
    points = *part;
  else if (part != nullptr)
    points = {part->begin, spelling().helper("smaller") + "(" + part->end + ", " + points.end + ")"};
  else if (single)
    points = range_of(*chain[0]);
  const bool named = std::all_of(points.begin.begin(), points.begin.end(), is_word);
  const bool guarded = !team_.present.empty() && sets_elements(plan_, body);
  if (guarded)
    out().add("if (" + team_.present + ") {");
  if (team_.index != Team().index) // each thread goes down a column: loads of several rows are under way at once
    out().add("#pragma unroll 4");
  out().add("for (" + type + " " + v + " = " +
            (points.begin == "0" ? own : (named ? points.begin : type + "(" + points.begin + ")") + " + " + own) +
            "; " + v + " < " + points.end + "; " + v + " += " + type + "(" + team_.size + ")) {");
  if (!single)
    decode(chain, v);
  printer_.list(body);
  out().add(guarded ? "}\n}" : "}");
}

std::string CudaKernel::product_of(const std::vector<Size> &factors) {
  std::vector<std::string> texts;
  for (const Size &factor : factors)
    texts.push_back(at_least(printer_.size(factor), binding::kMultiply));
  return join(texts, " * ");
}

// The number of points of a nest of loops, as the host knows it.
std::string CudaKernel::length_of(const Nest &nest) {
  return nest.empty() ? "" : product_of(lengths_of(plan_.kernel, {nest}).front());
}

// The host chooses the threads of a block by the number of points that they share.
std::string CudaKernel::longest_length() {
  if (phase_->launch.work == Phase::Launch::Work::points)
    return "chunk";
  std::string longest;
  for (auto factors = phase_->launch.lengths.rbegin(); factors != phase_->launch.lengths.rend(); ++factors) {
    const std::string length = product_of(*factors);
    longest = longest.empty() ? length : spelling().helper("larger") + "(" + length + ", " + longest + ")";
  }
  return longest.empty() ? "1" : longest;
}

// One round after the other, whose statements the threads share.
void CudaKernel::rounds_of_block(const PlanNode &loop) {
  std::vector<const PlanNode *> folds = folds_over(loop);
  std::erase_if(folds, [&](const PlanNode *fold) { return pending_.count(fold->target) != 0; });
  const Shares shares = begin_shares(folds);
  const std::set<VarId> outer = pending_;
  for (const PlanNode *fold : folds)
    pending_.insert({fold->target, fold->partner == kNone ? fold->target : fold->partner});
  const Printer::Range range = printer_.range(loop);
  const std::string &v = printer_.axis_name(loop.axis);
  out().add("for (Index " + v + " = " + (range.begin == "0" ? "0" : "Index(" + range.begin + ")") + "; " + v + " < " +
            range.end + "; ++" + v + ") {");
  block_list(loop.body);
  barrier(); // the next round writes into the same buffers
  out().add("}");
  pending_ = outer;
  end_shares(shares);
  for (const PlanNode *fold : folds)
    fold_shares(*fold, shares);
}

void CudaKernel::block_loop(const PlanNode &node) {
  const bool alone = !own_buffers(plan_, printer_.scopes, node).empty(); // a turn at a time
  if (node.order == PlanNode::Order::ordered) {
    LaneAnalysis(plan_).has_scans_only(node) && !alone ? block_scans(node) : block_in_order(node);
  } else if (alone) {
    rounds_of_block(node);
  } else if (node.order == PlanNode::Order::reduction) {
    block_reduction(node);
  } else {
    const Nest chain = nest_of(plan_, node, PlanNode::Order::parallel);
    strided(chain, chain.back()->body, part_ ? &*part_ : nullptr);
  }
  barrier_after(node);
}

// One thread goes through the loop; what it leaves in variables goes to the others.
void CudaKernel::block_in_order(const PlanNode &node) {
  out().add("if (threadIdx.x == 0) {");
  printer_.node(node, {});
  out().add("}");
  for (VarId var : found_in_order(plan_, printer_.scopes, block_lists_, node))
    out().add(printer_.name(var) + " = " + spelling().helper("broadcast") + "(" + printer_.name(var) + ");");
}

void CudaKernel::block_steps(const PlanNode &node) {
  const std::string &v = printer_.grid_name(node.grid);
  printer_.declare_step_count(node.grid);
  out().add("for (Index " + v + " = 0; " + v + " < " + printer_.step_count_text(node.grid) + "; ++" + v + ") {");
  if (!contains_steps(node.body) && printer_.guards != nullptr)
    out().add(printer_.step_guard(statuses_));
  block_list(node.body);
  out().add("}");
}

} // namespace kgen
