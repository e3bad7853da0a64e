// The statements that the threads of a block run together: strided loops, folds over the block, barriers, tiles.
#include <algorithm>
#include <map>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"
#include "support/text.h"

namespace kgen {

constexpr int64_t kUnknownLength = 2048; // of loops whose length the host does not know

// ---- tiles ---------------------------------------------------------------------------------------------------------

bool CudaKernel::uses_tiles(const std::vector<PlanNode> &nodes) const {
  for (const PlanNode &node : nodes)
    for (const Access &a : accesses_of(plan_.kernel, node))
      if (tiles_.count(a.var) != 0)
        return true;
  return false;
}

void CudaKernel::take_tiles(const std::vector<PlanNode> &nodes) {
  std::set<VarId> used;
  for (const PlanNode &node : nodes)
    for (const Access &a : accesses_of(plan_.kernel, node))
      if (tiles_.count(a.var) != 0)
        used.insert(a.var);
  spelling().helper("block_fold");
  out().add("char* tile = tiles != nullptr ? tiles + int64_t(blockIdx.x) * tile_bytes : "
            "reinterpret_cast<char*>(shared_memory()) + " +
            std::to_string(kFoldBytes) + ";");
  for (VarId var : used) {
    const std::string type = Spelling::c_type(plan_.kernel.vars[var].type);
    out().add(type + "* const " + printer_.name(var) + " = " + spelling().helper("take") + "<" + type + ">(tile, " +
              printer_.buffer_elements(var) + ");");
  }
}

// A compound statement without the statements inside.
static PlanNode head_of(const PlanNode &node) {
  PlanNode head = node;
  head.body.clear();
  head.otherwise.clear();
  head.step.clear();
  return head;
}

// Do the threads of the block go through the statements inside together, one after the other?
bool CudaKernel::is_block_list(const PlanNode &node) {
  return node.kind == PlanNode::Kind::branch || node.kind == PlanNode::Kind::repeat ||
         node.kind == PlanNode::Kind::steps || (node.order != PlanNode::Order::ordered && !own_buffers(node).empty());
}

// Memory that is written in the phase and touched by more than one statement of the block.
void CudaKernel::find_shared(const std::vector<PlanNode> &list) {
  std::map<VarId, int> touched;
  std::set<VarId> written;
  auto touch = [&](const PlanNode &node, int times) {
    std::set<VarId> here;
    for (const Access &a : accesses_of(plan_.kernel, node)) {
      if (plan_.storage[a.var].kind == Storage::Kind::scalar || plan_.storage[a.var].kind == Storage::Kind::array)
        continue;
      here.insert(a.memory);
      if (a.write)
        written.insert(a.memory);
    }
    for (VarId var : here)
      touched[var] += times;
  };
  // Steps and rounds come round again: what they touch is touched twice.
  auto visit = [&](auto &&self, const std::vector<PlanNode> &nodes, int times) -> void {
    for (const PlanNode &node : nodes) {
      if (is_block_list(node)) {
        touch(head_of(node), times);
        for (const auto *inner : {&node.body, &node.otherwise, &node.step})
          self(self, *inner, node.kind == PlanNode::Kind::branch ? times : 2);
        continue;
      }
      touch(node, times);
    }
  };
  visit(visit, list, 1);
  for (VarId var : written)
    if (touched[var] > 1)
      shared_.insert(var);
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
void CudaKernel::strided(const std::vector<const PlanNode *> &chain, const std::vector<PlanNode> &body,
                         const Printer::Range *part) {
  note_length(chain);
  if (packed_loop(chain, part))
    return;
  const bool single = chain.size() == 1 && chain[0]->kind == PlanNode::Kind::loop;
  const bool wide = !counted_by_arrays(chain);
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
  const bool guarded = !team_.present.empty() && sets_elements(body);
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

// Are there assignments to memory?
bool CudaKernel::sets_elements(const std::vector<PlanNode> &list) const {
  bool found = false;
  for (const PlanNode &root : list)
    for_each_node(root, [&](const PlanNode &n) {
      const bool writes = n.kind == PlanNode::Kind::assign || n.kind == PlanNode::Kind::scan_step;
      found = found ||
              (writes && ((n.target != kNone && in_memory(n.target)) || (n.partner != kNone && in_memory(n.partner))));
    });
  return found;
}

// Do the elements of an array count the points of the nest, so that Index is wide enough for them?
bool CudaKernel::counted_by_arrays(const std::vector<const PlanNode *> &chain) const {
  AxisSet axes;
  for (const PlanNode *node : chain)
    if (node->kind == PlanNode::Kind::loop)
      axes |= AxisSet::of(node->axis);
  return chain.size() == 1 || std::any_of(plan_.kernel.vars.begin(), plan_.kernel.vars.end(), [&](const Var &var) {
           return (var.kind == Var::Kind::input || var.kind == Var::Kind::output) && var.axes.contains(axes);
         });
}

// The number of points of a nest of loops, as the host knows it; empty: it depends on more than sizes.
std::string CudaKernel::length_of(const std::vector<const PlanNode *> &chain) {
  std::string length;
  for (const PlanNode *node : chain) {
    Size extent = Size::integer(1);
    if (node->kind == PlanNode::Kind::loop) {
      const Axis &axis = plan_.kernel.axes[node->axis];
      extent = printer_.extent_of(node->axis);
      if (node->share != kNone)
        extent = Size::make(Size::Op::cdiv, {std::move(extent), plan_.kernel.axes[node->share].block});
      if (axis.ragged != kNone) // on average
        extent =
            Size::make(Size::Op::cdiv,
                       {axis.size, Size::make(Size::Op::max, {plan_.kernel.axes[axis.over].size, Size::integer(1)})});
    }
    if (any_node(extent, [](const Size &s) {
          return s.op == Size::Op::grid || s.op == Size::Op::grid_size || s.op == Size::Op::table;
        }))
      return "";
    length += (length.empty() ? "" : " * ") + at_least(printer_.size(extent), binding::kMultiply);
  }
  return length;
}

// The host chooses the threads of a block by the number of points that they share.
void CudaKernel::note_length(const std::vector<const PlanNode *> &chain) {
  const std::string known = length_of(chain), length = known.empty() ? std::to_string(kUnknownLength) : known;
  if (std::find(lengths_.begin(), lengths_.end(), length) == lengths_.end())
    lengths_.push_back(length);
}

std::string CudaKernel::longest_length() {
  std::string longest = lengths_.empty() ? "1" : lengths_.back();
  for (size_t i = lengths_.size(); i-- > 1;)
    longest = spelling().helper("larger") + "(" + lengths_[i - 1] + ", " + longest + ")";
  return longest;
}

// Buffers of which each turn of the loops that threads share has its own, while the block has one.
std::set<VarId> CudaKernel::own_buffers(const PlanNode &loop) {
  std::set<VarId> out;
  if (loop.kind != PlanNode::Kind::loop)
    return out;
  const bool ordered = loop.order == PlanNode::Order::ordered;
  for (const PlanNode *shared : ordered ? std::vector{&loop} : chain_of(loop, kMostNested, loop.order))
    for (const Access &a : accesses_of(plan_.kernel, loop)) {
      const Storage &storage = plan_.storage[a.var];
      if (shared->kind == PlanNode::Kind::loop && storage.kind == Storage::Kind::worker &&
          printer_.scopes.of(a.var).open.contains(shared->axis) &&
          std::find(storage.dims.begin(), storage.dims.end(), shared->axis) == storage.dims.end())
        out.insert(a.var);
    }
  return out;
}

// Such a buffer has room for all turns where that is known to be little.
void CudaKernel::widen_buffers(const PlanNode &loop) {
  if (loop.order == PlanNode::Order::ordered)
    return;
  const int64_t most = plan_.decide(Decision::shared_tile_bytes);
  for (VarId var : own_buffers(loop)) {
    Storage wide = plan_.storage[var];
    for (const PlanNode *shared : chain_of(loop, kMostNested, loop.order))
      if (shared->kind == PlanNode::Kind::loop && printer_.scopes.of(var).open.contains(shared->axis) &&
          std::find(wide.dims.begin(), wide.dims.end(), shared->axis) == wide.dims.end())
        wide.dims.push_back(shared->axis);
    int64_t bytes = bytes_of(plan_.kernel.vars[var].type);
    for (int64_t extent : plan_.kernel.vars[var].array)
      bytes *= extent;
    for (AxisId axis : wide.dims) {
      const Size extent = printer_.extent_of(axis);
      bytes = extent.is_integer() && bytes <= most ? bytes * extent.value : most + 1;
    }
    if (bytes <= most)
      plan_.storage[var] = wide;
  }
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
  const bool alone = !own_buffers(node).empty(); // a turn at a time
  if (node.order == PlanNode::Order::ordered) {
    LaneAnalysis(plan_).has_scans_only(node) && !alone ? block_scans(node) : block_in_order(node);
  } else if (alone) {
    rounds_of_block(node);
  } else if (node.order == PlanNode::Order::reduction) {
    block_reduction(node);
  } else {
    const std::vector<const PlanNode *> chain = chain_of(node, kMostNested);
    strided(chain, chain.back()->body, part_ ? &*part_ : nullptr);
  }
  barrier_after(node);
}

bool CudaKernel::in_memory(VarId var) const {
  return plan_.storage[var].kind != Storage::Kind::scalar && plan_.storage[var].kind != Storage::Kind::array;
}

// One thread goes through the loop; what it leaves in variables goes to the others.
void CudaKernel::block_in_order(const PlanNode &node) {
  out().add("if (threadIdx.x == 0) {");
  printer_.node(node, {});
  out().add("}");
  std::set<VarId> assigned;
  for_each_node(node, [&](const PlanNode &n) {
    for (VarId var : {n.target, n.partner})
      if (var != kNone && plan_.storage[var].kind == Storage::Kind::scalar &&
          block_lists_.count(printer_.scopes.of(var).list) != 0)
        assigned.insert(var);
  });
  for (VarId var : assigned) {
    folds_ = true;
    out().add(printer_.name(var) + " = " + spelling().helper("broadcast") + "(" + printer_.name(var) + ");");
  }
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
