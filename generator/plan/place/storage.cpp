// A variable is declared at the innermost node that contains all its accesses. The axes whose loops are outside that
// node need no storage; the others make it a buffer. Scratch lives across the ordered steps of the grid.
#include "plan/place/storage.h"

#include <algorithm>
#include <optional>

#include "plan/index/access.h"
#include "plan/index/asked.h"
#include "plan/index/exprs.h"
#include "plan/index/scopes.h"
#include "plan/program/prune.h"

namespace kgen {
namespace {

// The number of positions along an axis where that is a constant.
std::optional<int64_t> constant_extent(const Kernel &kernel, AxisId axis) {
  const Axis &a = kernel.axes[axis];
  if (a.most > 0)
    return a.most;
  const Size &extent = a.uniform ? a.block : a.size;
  if (!extent.is_integer() || a.ragged != kNone)
    return std::nullopt;
  return extent.value;
}

Storage storage_of(const Plan &plan, const Scopes &scopes, VarId id) {
  const Var &var = plan.kernel.vars[id];
  Storage storage;
  if (var.kind == Var::Kind::input || var.kind == Var::Kind::output) {
    storage.kind = Storage::Kind::argument;
    return storage;
  }
  const Scopes::Scope &scope = scopes.of(id);
  if (!scope.used)
    return storage;
  for (AxisId axis : plan.axis_order)
    if ((var.axes - scope.open).contains(axis))
      storage.dims.push_back(axis);
  if (scope.list == nullptr) {
    // Phases of one OpenMP function share its variables; kernels share memory only.
    const bool variable = storage.dims.empty() && var.array.empty() && plan.target == TargetKind::openmp;
    storage.kind = variable ? Storage::Kind::scalar : Storage::Kind::program;
    return storage;
  }
  if (storage.dims.empty() && var.array.empty())
    return storage;
  for (auto axis = storage.dims.rbegin(); axis != storage.dims.rend(); ++axis)
    if (const auto part = scope.parts.find(*axis); part != scope.parts.end() && var.array.empty()) {
      storage.in_parts = *axis;
      storage.part = part->second->parts;
      storage.kind = Storage::Kind::array;
      if (storage.dims.size() > 1) {
        storage.kind = Storage::Kind::worker;
        storage.kept = part->second->kept;
        if (part->second->row_by_row)
          std::rotate(storage.dims.begin(), std::prev(axis.base()), axis.base());
      }
      return storage;
    }
  const int64_t most = plan.decide(Decision::stack_elements, var);
  int64_t elements = 1;
  bool constant = true;
  for (AxisId axis : storage.dims) {
    const std::optional<int64_t> extent = constant_extent(plan.kernel, axis);
    constant = constant && extent && *extent <= most;
    elements *= constant ? *extent : 1;
  }
  for (int64_t extent : var.array)
    elements *= extent;
  storage.kind = constant && elements <= most ? Storage::Kind::array : Storage::Kind::worker;
  return storage;
}

bool is_buffer(Storage::Kind kind) { return kind == Storage::Kind::worker || kind == Storage::Kind::program; }

// ---- recomputing --------------------------------------------------------------------------------------------------

struct Definition {
  int assignments = 0;
  ExprId value = kNone;
  AxisSet lanes;
  bool plain = false;                              // one unconditional assignment of the whole variable
  const PlanNode *init = nullptr, *step = nullptr; // of a fold, unconditional as well
  AxisSet readers;                                 // the axes of statements that read it
  bool read_elsewhere = false;
  bool read_often = false;              // by statements with further loops around them
  std::map<std::set<VarId>, int> asked; // the outputs that questions around readers are about: how many readers
};

class Recompute {
public:
  Recompute(Plan &plan, std::vector<PlanNode> &program, Recomputing &recomputing)
      : plan_(plan), kernel_(plan.kernel), program_(program), recomputing_(recomputing) {}

  bool run() {
    define();
    std::vector<VarId> chosen;
    for (VarId v = 0; v < static_cast<VarId>(kernel_.vars.size()); ++v)
      if (needs_buffer(v) && recomputing_.stored.count(origin_of(v).var) == 0 && (cheap(v) || is_short_fold(v)))
        chosen.push_back(v);
    // Those that read another chosen one wait for the next round.
    for (VarId v : chosen) {
      const bool waits = std::any_of(chosen.begin(), chosen.end(), [&](VarId other) {
        return other != v && reads(kernel_, definitions_[v].value, other);
      });
      if (waits)
        continue;
      if (recomputing_.has_too_many())
        break;
      if (!definitions_[v].plain)
        fold_ = {*definitions_[v].init, *definitions_[v].step};
      clone(v, program_);
      define(); // copies bring what they are made of, which may read one that is gone by now
      changed_ = true;
    }
    return changed_;
  }

private:
  void define() {
    definitions_.assign(kernel_.vars.size(), {});
    collect(program_, true, {});
  }

  void collect(const std::vector<PlanNode> &nodes, bool top, const std::set<VarId> &asked) {
    for (const PlanNode &node : nodes) {
      std::set<VarId> read_here;
      for (ExprId id : expressions_of(node))
        walk(kernel_, id, [&](ExprId at) {
          const Expr &e = kernel_.expr(at);
          if (e.op == Op::element)
            definitions_[e.ref].read_elsewhere = true;
          if (e.op == Op::read) {
            read_here.insert(e.ref);
            Definition &read = definitions_[e.ref];
            read.readers |= node.lanes;
            read.read_often = read.read_often || !kernel_.vars[e.ref].axes.contains(node.lanes);
            for (const Coordinate &c : e.coords)
              read.read_elsewhere = read.read_elsewhere || !is_identity(kernel_, c);
          }
          return true;
        });
      for (VarId var : read_here)
        ++definitions_[var].asked[asked];
      for (VarId var : {node.target, node.partner}) {
        if (var == kNone)
          continue;
        Definition &d = definitions_[var];
        ++d.assignments;
        d.value = node.value;
        d.lanes = node.lanes;
        d.plain = top && node.kind == PlanNode::Kind::assign && node.coords.empty() && node.indices.empty();
        if (top && node.partner == kNone)
          (node.kind == PlanNode::Kind::fold_init ? d.init : d.step) = &node;
      }
      const bool inner_top = top && node.kind == PlanNode::Kind::steps;
      const bool branches = node.kind == PlanNode::Kind::branch;
      const std::set<VarId> own = branches ? outputs_asked_for(kernel_, node.condition) : std::set<VarId>();
      collect(node.body, inner_top, own.empty() ? asked : own);
      collect(node.otherwise, false, asked);
      collect(node.step, false, asked);
    }
  }

  // Is it read once each for outputs that are asked for one by one? Mostly one of them is wanted.
  static bool serves_one_at_a_time(const Definition &d) {
    return d.asked.size() > 1 && std::all_of(d.asked.begin(), d.asked.end(), [](const auto &readers) {
             return !readers.first.empty() && readers.second == 1;
           });
  }

  bool needs_buffer(VarId v) const { return is_buffer(plan_.storage[v].kind); }

  Recomputing::Origin origin_of(VarId v) const {
    const auto copy = recomputing_.copies.find(v);
    return copy == recomputing_.copies.end() ? Recomputing::Origin{v, plan_.storage[v].kind} : copy->second;
  }

  bool cheap(VarId v) const {
    const Definition &d = definitions_[v];
    if (kernel_.vars[v].kind != Var::Kind::local || d.assignments != 1 || !d.plain || d.read_elsewhere)
      return false;
    // A GPU computes anything faster than memory gives it back, as long as it does so once for each reader.
    const bool is_again = plan_.target == TargetKind::cuda && !recomputing_.only_light;
    bool stable = is_light(kernel_, d.value) || ((is_again || serves_one_at_a_time(d)) && !d.read_often);
    walk(kernel_, d.value, [&](ExprId at) {
      const Expr &e = kernel_.expr(at);
      if (e.op == Op::read) {
        const Var &var = kernel_.vars[e.ref];
        if (var.kind == Var::Kind::input)
          stable = stable && var.alias == kNone;
        if (var.kind == Var::Kind::output || var.kind == Var::Kind::scratch)
          stable = false;
        if (var.kind == Var::Kind::local)
          stable = stable && settled(e.ref);
      }
      if (e.op == Op::element)
        stable = false;
      return true;
    });
    return stable;
  }

  // A fold over few rounds of what positions alone decide, such as how many elements a window has.
  bool is_short_fold(VarId v) const {
    const Definition &d = definitions_[v];
    const bool fold = d.assignments == 2 && d.init != nullptr && d.step != nullptr &&
                      d.init->kind == PlanNode::Kind::fold_init && d.step->kind == PlanNode::Kind::fold_step;
    if (!fold || kernel_.vars[v].kind != Var::Kind::local || d.read_elsewhere || !(d.readers & d.step->reduced).empty())
      return false;
    const int64_t most = plan_.decide(Decision::rounds_again);
    int64_t rounds = 1;
    for (AxisId axis : d.step->reduced.list()) {
      const std::optional<int64_t> extent = constant_extent(kernel_, axis);
      if (!extent || *extent > most)
        return false;
      rounds *= *extent;
    }
    bool of_positions = rounds <= most;
    for (ExprId id : {d.step->value, d.step->condition}) {
      if (id == kNone)
        continue;
      of_positions = of_positions && is_light(kernel_, id);
      walk(kernel_, id, [&](ExprId at) {
        const Op op = kernel_.expr(at).op;
        return of_positions = of_positions && op != Op::read && op != Op::element && op != Op::table;
      });
    }
    return of_positions;
  }

  // The value of a copy in another phase: with what it reads computed there as well, which would be kept in memory
  // else.
  ExprId value_of_copy(VarId v) {
    if (plan_.storage[v].kind != Storage::Kind::program)
      return definitions_[v].value;
    const ExprId whole = replace(kernel_, definitions_[v].value, [&](ExprId at) {
      const Expr e = kernel_.expr(at);
      return e.op == Op::read && e.coords.empty() && cheap(e.ref) ? definitions_[e.ref].value : kNone;
    });
    return is_light(kernel_, whole) ? whole : definitions_[v].value;
  }

  // Never assigned again once it may be read: one assignment, or a fold's init and step.
  bool settled(VarId v) const {
    const Definition &d = definitions_[v];
    return d.assignments == 1 || (d.assignments == 2 && d.value != kNone && fold_result(v));
  }
  bool fold_result(VarId v) const {
    bool found = false;
    for (const PlanNode &root : program_)
      for_each_node(
          root, [&](const PlanNode &n) { found = found || (n.kind == PlanNode::Kind::fold_step && n.target == v); });
    return found;
  }

  bool reads_itself(const PlanNode &node, VarId var) const {
    const std::vector<ExprId> ids = expressions_of(node);
    return std::any_of(ids.begin(), ids.end(), [&](ExprId id) { return reads(kernel_, id, var); });
  }

  // The loops in which the copy is made: those of the statement that reads it; of several, those that all have.
  AxisSet lanes_of_readers(const PlanNode &node, VarId var) const {
    if (node.kind != PlanNode::Kind::repeat)
      return node.lanes;
    std::optional<AxisSet> lanes;
    for_each_node(node, [&](const PlanNode &n) {
      if (reads_itself(n, var))
        lanes = lanes ? *lanes & n.lanes : n.lanes;
    });
    return lanes.value_or(node.lanes);
  }

  // `copy = value`, with copies of what it is made of at the same points, so that the copy stands wherever its reader
  // does. No more of them once there are too many.
  VarId put_copy(VarId v, ExprId value, AxisSet lanes, const Place &place, std::vector<PlanNode> &out) {
    Var copy = kernel_.vars[v];
    copy.axes |= lanes;
    std::map<VarId, VarId> operands;
    const ExprId own = replace(kernel_, value, [&](ExprId at) {
      const Expr e = kernel_.expr(at);
      if (e.op != Op::read || !e.coords.empty() || kernel_.vars[e.ref].axes != kernel_.vars[v].axes ||
          recomputing_.has_too_many() || !cheap(e.ref))
        return kNone;
      if (operands.count(e.ref) == 0)
        operands[e.ref] = put_copy(e.ref, definitions_[e.ref].value, lanes, place, out);
      return make_read(kernel_, operands[e.ref]);
    });
    const VarId fresh = add_var(kernel_, std::move(copy));
    recomputing_.copies.emplace(fresh, origin_of(v));
    out.push_back(make_assign(kernel_, fresh, own, place));
    return fresh;
  }

  VarId put_fold_copy(VarId v, AxisSet lanes, std::vector<PlanNode> &out) {
    Var copy = kernel_.vars[v];
    copy.axes |= lanes;
    const VarId fresh = add_var(kernel_, std::move(copy));
    recomputing_.copies.emplace(fresh, origin_of(v));
    for (const PlanNode &part : fold_) {
      out.push_back(part);
      out.back().target = fresh;
      out.back().lanes |= lanes;
    }
    return fresh;
  }

  // Puts `copy = value` before each statement that reads the variable; the original goes.
  void clone(VarId v, std::vector<PlanNode> &nodes) {
    std::vector<PlanNode> out;
    for (PlanNode &node : nodes) {
      if (node.target == v)
        continue;
      // Loops of unknown length compute it once, before them.
      const bool repeats = node.kind == PlanNode::Kind::repeat;
      bool used = false;
      for_each_node(node, [&](const PlanNode &n) { used = used || ((&n == &node || repeats) && reads_itself(n, v)); });
      if (used) {
        const AxisSet lanes = lanes_of_readers(node, v);
        const VarId fresh = definitions_[v].plain ? put_copy(v, value_of_copy(v), lanes, node.place, out)
                                                  : put_fold_copy(v, lanes, out);
        replace_reads(kernel_, node, v, make_read(kernel_, fresh), repeats);
      }
      clone(v, node.body);
      clone(v, node.otherwise);
      clone(v, node.step);
      out.push_back(std::move(node));
    }
    nodes = std::move(out);
  }

  Plan &plan_;
  Kernel &kernel_;
  std::vector<PlanNode> &program_;
  Recomputing &recomputing_;
  std::vector<Definition> definitions_;
  std::vector<PlanNode> fold_; // of which copies are made
  bool changed_ = false;
};

} // namespace

std::vector<Storage> places_of(const Plan &plan) {
  const Scopes scopes(plan);
  std::vector<Storage> out;
  for (VarId v = 0; v < static_cast<VarId>(plan.kernel.vars.size()); ++v)
    out.push_back(storage_of(plan, scopes, v));
  return out;
}

void place_variables(Plan &plan) { plan.storage = places_of(plan); }

bool threads_have_memory(const Plan &plan) {
  return std::ranges::any_of(plan.phases, contains_contraction) ||
         std::ranges::any_of(plan.storage, [](const Storage &s) { return s.kind == Storage::Kind::worker; });
}

bool recompute_cheap_locals(Plan &plan, std::vector<PlanNode> &program, Recomputing &recomputing) {
  return Recompute(plan, program, recomputing).run();
}

namespace {
// What copies are made of never changes, so the first one of a list serves all statements behind it. `served` has the
// reads that stand for those of others now.
void merge_copies(Plan &plan, const Recomputing &recomputing, std::vector<PlanNode> &nodes,
                  std::map<VarId, ExprId> served) {
  std::map<VarId, VarId> first; // by what they are copies of
  const auto by_first = [&](VarId read) {
    const auto copy = served.find(read);
    return copy == served.end() ? kNone : copy->second;
  };
  std::vector<PlanNode> out;
  for (PlanNode &node : nodes) {
    replace_reads(plan.kernel, node, by_first, false);
    const auto copy = recomputing.copies.find(node.target);
    if (node.kind == PlanNode::Kind::assign && copy != recomputing.copies.end() &&
        plan.storage[node.target].kind == Storage::Kind::scalar) {
      const auto [known, fresh] = first.emplace(copy->second.var, node.target);
      if (!fresh) {
        served[node.target] = make_read(plan.kernel, known->second);
        continue;
      }
    }
    for (std::vector<PlanNode> *list : {&node.body, &node.otherwise, &node.step})
      merge_copies(plan, recomputing, *list, served);
    out.push_back(std::move(node));
  }
  nodes = std::move(out);
}
} // namespace

// What merged copies were made of may be a copy that nobody else reads.
void merge_copies(Plan &plan, const Recomputing &recomputing) {
  for (Phase &phase : plan.phases)
    merge_copies(plan, recomputing, phase.nodes, {});
  prune(plan);
  place_variables(plan);
}

std::set<VarId> computed_again_in_vain(const Plan &plan, const Recomputing &recomputing) {
  std::map<VarId, int> buffers;
  for (const auto &[copy, origin] : recomputing.copies)
    buffers[origin.var] += is_buffer(origin.kind) && plan.storage[copy].kind == origin.kind;
  std::set<VarId> out;
  for (const auto &[var, count] : buffers)
    if (count > 1)
      out.insert(var);
  return out;
}

} // namespace kgen
