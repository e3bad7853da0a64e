// The statements that the threads of a block run together: strided loops, folds over the block, barriers, tiles.
#include <algorithm>
#include <map>

#include "emit/cuda_kernel.h"
#include "plan/access.h"

namespace kgen {

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
  // Steps come round again: what they touch is touched twice.
  auto visit = [&](auto &&self, const std::vector<PlanNode> &nodes, int times) -> void {
    for (const PlanNode &node : nodes) {
      if (node.kind == PlanNode::Kind::branch || node.kind == PlanNode::Kind::repeat ||
          node.kind == PlanNode::Kind::steps) {
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

void CudaKernel::barrier_after(const PlanNode &node) {
  for (const Access &a : accesses_of(plan_.kernel, node))
    if (shared_.count(a.memory) != 0) {
      out().add("__syncthreads();");
      return;
    }
}

// The condition of a compound statement. All threads have read it before one goes on and changes what it reads.
Code CudaKernel::agreed_condition(const PlanNode &node) {
  const Code condition = printer_.expression(node.condition);
  const std::vector<Access> accesses = accesses_of(plan_.kernel, head_of(node));
  if (std::none_of(accesses.begin(), accesses.end(), [&](const Access &a) { return shared_.count(a.memory) != 0; }))
    return condition;
  const std::string name = names_.claim("holds");
  out().add("const bool " + name + " = " + condition.text + ";");
  out().add("__syncthreads();");
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
    out().add("if (" + agreed_condition(node).text + ") {");
    block_list(node.body);
    if (!node.otherwise.empty()) {
      out().add("} else {");
      block_list(node.otherwise);
    }
    out().add("}");
    return;
  case PlanNode::Kind::repeat: {
    out().add("for (bool again = false;; again = true) {");
    if (!node.step.empty()) {
      out().add("if (again) {");
      block_list(node.step);
      out().add("}");
    } else {
      out().add("(void)again;");
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
  const bool memory = node.target != kNone && in_memory(node.target);
  PlanNode written = node;
  if (memory && node.kind == PlanNode::Kind::fold_init && node.partner != kNone && !in_memory(node.partner)) {
    printer_.start(node.partner, siblings); // each thread has its own
    written.partner = kNone;
  }
  if (memory)
    out().add("if (threadIdx.x == 0) {");
  printer_.node(written, siblings);
  if (memory)
    out().add("}");
  barrier_after(node);
}

void CudaKernel::strided(const std::vector<const PlanNode *> &chain, const std::vector<PlanNode> &body) {
  if (chain.size() == 1 && chain[0]->kind == PlanNode::Kind::loop) {
    const Printer::Range r = range_of(*chain[0]);
    const std::string &v = printer_.axis_name(chain[0]->axis);
    const std::string begin = r.begin == "0" ? "Index(threadIdx.x)" : "Index(" + r.begin + ") + Index(threadIdx.x)";
    out().add("for (Index " + v + " = " + begin + "; " + v + " < " + r.end + "; " + v +
              " += " + std::to_string(kBlockThreads) + ") {");
  } else {
    out().add("for (Index point = Index(threadIdx.x); point < " + items_text(chain) +
              "; point += " + std::to_string(kBlockThreads) + ") {");
    decode(chain, "point");
  }
  printer_.list(body);
  out().add("}");
}

void CudaKernel::block_loop(const PlanNode &node) {
  if (node.order == PlanNode::Order::reduction) {
    block_reduction(node, printer_.range(node));
  } else if (node.order == PlanNode::Order::ordered) {
    block_in_order(node);
  } else {
    const std::vector<const PlanNode *> chain = chain_of(node, 64);
    strided(chain, chain.back()->body);
  }
  barrier_after(node);
}

bool CudaKernel::in_memory(VarId var) const {
  return plan_.storage[var].kind != Storage::Kind::scalar && plan_.storage[var].kind != Storage::Kind::array;
}

// Every thread folds its share, then the block folds the threads' results.
void CudaKernel::block_reduction(const PlanNode &node, const Printer::Range &range) {
  folds_ = true;
  const std::vector<const PlanNode *> folds = folds_over(node);
  std::vector<std::pair<VarId, std::string>> renamed;
  auto own = [&](VarId var, const std::string &start) {
    const std::string whole = printer_.name(var);
    const std::string mine = names_.claim(whole + "_own");
    out().add(Spelling::arithmetic(plan_.kernel.vars[var].type) + " " + mine + " = " + start + ";");
    renamed.push_back({var, whole});
    printer_.rename(var, mine);
  };
  std::map<VarId, Storage::Kind> kinds;
  for (const PlanNode *fold : folds)
    for (VarId var : {fold->target, fold->partner}) {
      if (var == kNone)
        continue;
      own(var, var == fold->target ? spelling().identity(fold->monoid, plan_.kernel.vars[var].type)
                                   : spelling().constant(plan_.kernel.vars[var].type, 0, 0));
      kinds[var] = plan_.storage[var].kind;
      plan_.storage[var].kind = Storage::Kind::scalar;
    }
  const std::string &v = printer_.axis_name(node.axis);
  const std::string begin = range.begin == "0"
                                ? "Index(threadIdx.x)"
                                : at_least(code_of(range.begin), binding::kAdd) + " + Index(threadIdx.x)";
  out().add("for (Index " + v + " = " +
            (begin.find("Index(") == 0 || range.begin == "first" ? begin : "Index(" + begin + ")") + "; " + v + " < " +
            range.end + "; " + v + " += " + std::to_string(kBlockThreads) + ") {");
  printer_.list(node.body);
  out().add("}");
  std::map<VarId, std::string> mine;
  for (const auto &[var, whole] : renamed) {
    mine[var] = printer_.name(var);
    printer_.rename(var, whole);
    plan_.storage[var].kind = kinds[var];
  }
  for (const PlanNode *fold : folds) {
    const auto &[a, b] = names_.pair();
    const Type type = plan_.kernel.vars[fold->target].type;
    const std::string place = printer_.element(fold->target, {}, {});
    if (fold->partner == kNone) {
      const std::string c_type = Spelling::arithmetic(type);
      const std::string folded = spelling().helper("block_fold") + "(" + mine[fold->target] + ", [](" + c_type + " " +
                                 a + ", " + c_type + " " + b + ") { return " + c_type + "(" +
                                 spelling().combine(fold->monoid, type, a, {b}).text + "); })";
      // What is in memory is read and written by one thread, when all have come through the fold.
      const bool memory = in_memory(fold->target);
      const std::string whole = memory ? names_.claim("whole") : folded;
      if (memory)
        out().add("const " + c_type + " " + whole + " = " + folded + ";");
      out().add((memory ? "if (threadIdx.x == 0) " : "") + place + " = " +
                spelling().combine(fold->monoid, type, place, {whole}).text + ";");
      continue;
    }
    // The better value, and of equals the smaller index: the order of threads does not count.
    const std::string best = printer_.element(fold->partner, {}, {});
    const std::string value_type = Spelling::arithmetic(plan_.kernel.vars[fold->partner].type);
    const std::string better = spelling().helper(fold->monoid == Monoid::argmax ? "above" : "below");
    const std::string pair = names_.claim("found");
    out().add("const " + spelling().helper("Best") + "<" + value_type + "> " + pair + " = " +
              spelling().helper("block_fold") + "(Best<" + value_type + ">{" + mine[fold->partner] + ", " +
              mine[fold->target] + "}, [](Best<" + value_type + "> " + a + ", Best<" + value_type + "> " + b +
              ") { return " + b + ".index >= 0 && (" + a + ".index < 0 || " + better + "(" + b + ".value, " + a +
              ".value) || (!" + better + "(" + a + ".value, " + b + ".value) && " + b + ".index < " + a +
              ".index)) ? " + b + " : " + a + "; });");
    std::string wins = pair + ".index >= 0 && (" + place + " < 0 || " + better + "(" + pair + ".value, " + best + "))";
    const bool memory = in_memory(fold->target) || in_memory(fold->partner);
    if (memory) { // all threads look before one of them writes
      const std::string name = names_.claim("wins");
      out().add("const bool " + name + " = " + wins + ";");
      out().add("__syncthreads();");
      wins = name;
    }
    const std::string keeps_value = best + " = " + pair + ".value;", keeps_index = place + " = " + pair + ".index;";
    if (!memory) {
      out().add("if (" + wins + ") {\n" + keeps_value + "\n" + keeps_index + "\n}");
      continue;
    }
    out().add("if (" + wins + (in_memory(fold->partner) ? " && threadIdx.x == 0) " : ") ") + keeps_value);
    out().add("if (" + wins + (in_memory(fold->target) ? " && threadIdx.x == 0) " : ") ") + keeps_index);
  }
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
