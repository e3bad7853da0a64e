// Folds over the threads of a block, and over the blocks of a whole array's chunks, of which the last to come combines
// what all have left in the workspace. Both go in an order that depends on sizes alone.
#include <algorithm>
#include <map>

#include "emit/cuda/cuda_kernel.h"
#include "plan/index/access.h"

namespace kgen {
namespace {

constexpr int64_t kChunkMultiple = 16; // elements, so that all chunks begin with a whole access

} // namespace

// ---- over a block --------------------------------------------------------------------------------------------------

// From here on the folds go into variables of each thread, which this declares.
CudaKernel::Shares CudaKernel::begin_shares(const std::vector<const PlanNode *> &folds) {
  Shares shares;
  for (const PlanNode *fold : folds)
    for (VarId var : {fold->target, fold->partner}) {
      if (var == kNone)
        continue;
      const Type type = plan_.kernel.vars[var].type;
      const std::string whole = printer_.name(var), mine = names_.claim_one_of(whole, {"_own", "_of_thread"});
      out().add(Spelling::arithmetic(type) + " " + mine + " = " +
                (var == fold->target ? spelling().identity(fold->monoid, type) : spelling().constant(type, 0, 0)) +
                ";");
      printer_.rename(var, mine);
      shares[var] = {whole, mine, printer_.own.insert(var).second};
    }
  return shares;
}

void CudaKernel::end_shares(const Shares &shares) {
  for (const auto &[var, share] : shares) {
    printer_.rename(var, share.whole);
    if (share.begins)
      printer_.own.erase(var);
  }
}

// Every thread folds its share, then the block folds the threads' results.
void CudaKernel::block_reduction(const PlanNode &node) {
  const Nest chain = nest_of(plan_, node, PlanNode::Order::reduction);
  std::vector<const PlanNode *> folds = folds_over(node);
  std::erase_if(folds, [&](const PlanNode *fold) { return pending_.count(fold->target) != 0; });
  const Shares shares = begin_shares(folds);
  strided(chain, chain.back()->body, part_ ? &*part_ : nullptr);
  end_shares(shares);
  for (const PlanNode *fold : folds)
    fold_shares(*fold, shares);
}

// The place of a fold takes in what the threads of the block have. That of a chunk, and that of the whole array, has
// nothing yet, nor is it declared.
void CudaKernel::fold_shares(const PlanNode &fold, const Shares &shares, Result of) {
  const bool fresh = of != Result::item;
  const auto &[a, b] = names_.pair();
  const Type type = plan_.kernel.vars[fold.target].type;
  const std::string place = printer_.element(fold.target, {}, {}), &mine = shares.at(fold.target).mine;
  if (fold.partner == kNone) {
    const std::string c_type = Spelling::arithmetic(type);
    spelling().helper(team_.helper);
    const std::string folded = team_.fold + "(" + mine + ", " + combination_of(fold) + ")";
    // What is in memory is read and written by one thread, when all have come through the fold.
    const bool memory = in_memory(fold.target);
    const std::string whole =
        memory ? names_.claim_one_of("whole", {"", "_" + plan_.kernel.vars[fold.target].name}) : folded;
    if (memory)
      out().add("const " + c_type + " " + whole + " = " + folded + ";");
    if (fresh && !memory)
      printer_.mark_declared(fold.target);
    out().add((memory  ? "if (" + team_.writer + ") "
               : fresh ? "const " + c_type + " "
                       : "") +
              place + " = " + (fresh ? whole : printer_.combined(fold, place, {whole}).text) + ";");
    return;
  }
  // The better value, and of equals the smaller index: the order of threads does not count.
  const std::string best = printer_.element(fold.partner, {}, {});
  const std::string value_type = Spelling::arithmetic(plan_.kernel.vars[fold.partner].type);
  const std::string &better = spelling().helper(fold.monoid == Monoid::argmax ? "above" : "below");
  const std::string pair = names_.claim("found");
  spelling().helper(team_.helper);
  out().add("const " + spelling().helper("Best") + "<" + value_type + "> " + pair + " = " + team_.fold + "(Best<" +
            value_type + ">{" + shares.at(fold.partner).mine + ", " + mine + "}, [](Best<" + value_type + "> " + a +
            ", Best<" + value_type + "> " + b + ") { return " + spelling().helper("first_" + better) + "(" + a + ", " +
            b + "); });");
  if (fresh) {
    for (const auto &[var, field] : {std::pair{fold.partner, ".value"}, std::pair{fold.target, ".index"}}) {
      const bool memory = in_memory(var);
      if (!memory && of == Result::whole && var == fold.partner)
        continue; // the best value has served
      if (!memory)
        printer_.mark_declared(var);
      out().add(
          (memory ? "if (" + team_.writer + ") " : "const " + Spelling::arithmetic(plan_.kernel.vars[var].type) + " ") +
          printer_.element(var, {}, {}) + " = " + pair + field + ";");
    }
    return;
  }
  std::string wins = pair + ".index >= 0 && (" + place + " < 0 || " + better + "(" + pair + ".value, " + best + "))";
  const bool memory = in_memory(fold.target) || in_memory(fold.partner);
  if (memory) { // all threads look before one of them writes
    const std::string name = names_.claim("wins");
    out().add("const bool " + name + " = " + wins + ";");
    barrier();
    wins = name;
  }
  const std::string keeps_value = best + " = " + pair + ".value;", keeps_index = place + " = " + pair + ".index;";
  if (!memory) {
    out().add("if (" + wins + ") {\n" + keeps_value + "\n" + keeps_index + "\n}");
    return;
  }
  out().add("if (" + wins + (in_memory(fold.partner) ? " && " + team_.writer + ") " : ") ") + keeps_value);
  out().add("if (" + wins + (in_memory(fold.target) ? " && " + team_.writer + ") " : ") ") + keeps_index);
}

// ---- over the grid --------------------------------------------------------------------------------------------------

// Blocks take chunks; the last of them to come combines what all have found, and does what comes next.
void CudaKernel::chunked_phase(const Phase &phase, const Phase *next) {
  const PlanNode &root = phase.nodes.front();
  const bool points = phase.launch.work == Phase::Launch::Work::points, tiles = !phase.launch.buffers.empty();
  const Nest chain = nest_of(plan_, root, PlanNode::Order::reduction, points ? kMostNested : 1);
  const std::string type = counted_by_arrays(plan_.kernel, chain) ? "Index" : "int64_t";
  const std::string length = (type == "Index" ? "" : "int64_t{1} * ") + items_text(chain);
  const Printer::Range range = chain.size() == 1 ? printer_.range(root) : Printer::Range{"0", length};
  if (tiles)
    take_tiles();
  out().add("const " + type + " first = " + type + "(blockIdx.x) * chunk" +
            (range.begin == "0" ? "" : " + " + type + "(" + range.begin + ")") + ";");
  out().add("const " + type + " last = " +
            (chain.size() == 1
                 ? type + "(" + spelling().helper("smaller") + "(first + chunk, " + printer_.range(root).end + "))"
                 : "first + chunk") +
            ";");
  fold_chunk(phase, chain, points, type, tiles);
  out().add("if (!" + spelling().helper("is_last_block") + "(ticket, gridDim.x)) return;");
  const std::vector<const PlanNode *> folds = folds_over(root);
  const Shares shares = begin_shares(folds);
  out().add("for (unsigned part = threadIdx.x; part < gridDim.x; part += blockDim.x) {");
  fold_parts(folds, shares, "part");
  out().add("}");
  end_shares(shares);
  for (const PlanNode *fold : folds)
    fold_shares(*fold, shares, Result::whole);
  if (next != nullptr &&
      std::any_of(phase.partials.begin(), phase.partials.end(), [&](VarId var) { return in_memory(var); }))
    barrier();
  if (next != nullptr) {
    shared_ = exchanged(plan_, printer_.scopes, next->nodes);
    phase_nodes(next->nodes);
  }
  std::string turns = length;
  if (goes_by_groups(plan_, chain, together_)) {
    printer_.set_part(chain.back()->axis,
                      {"0", spelling().helper("ceil_div") + "(" + printer_.range(*chain.back()).end + ", " +
                                std::to_string(together_) + ")"});
    turns = items_text(chain);
    printer_.clear_part(chain.back()->axis);
  }
  const std::string &larger = spelling().helper("larger"), &ceil_div = spelling().helper("ceil_div");
  Launch launch{"chunks"};
  launch.items = larger + "(" + turns + ", 1)"; // the last block does what comes next, also where it is the only one
  launch.known = !asks_tables(plan_.kernel, chain);
  launch.chunk = type;
  launch.prepare = "const int64_t chunk = " + larger + "(" +
                   std::to_string(!points                             ? int64_t{1}
                                  : contains_loop(chain.back()->body) ? plan_.decide(Decision::deep_fold_chunk)
                                                                      : plan_.decide(Decision::fold_chunk)) +
                   ", " + ceil_div + "(" + turns + ", " +
                   std::to_string(points ? plan_.decide(Decision::fold_chunks) * kChunkMultiple
                                         : plan_.decide(Decision::fold_chunks)) +
                   ")" + (points ? " * " + std::to_string(kChunkMultiple) : "") + "), chunks = " + larger + "(" +
                   ceil_div + "(" + turns + ", chunk), 1);\n" +
                   checked("cudaMemsetAsync(workspace + space.ticket, 0, sizeof(uint32_t), stream)");
  finish(launch);
}

// What the block finds in its chunk goes to the workspace.
void CudaKernel::fold_chunk(const Phase &phase, const Nest &chain, bool points, const std::string &type, bool tiles) {
  const PlanNode &root = *chain.front();
  const std::vector<const PlanNode *> folds = folds_over(root);
  std::map<VarId, Share> places;
  for (VarId var : phase.partials) {
    const std::string name = printer_.name(var);
    places[var] = {name, names_.claim(name, "_part"), printer_.own.insert(var).second};
  }
  const Shares shares = begin_shares(folds);
  if (points) {
    const Printer::Range part{"first", "last"};
    strided(chain, chain.back()->body, &part);
  } else {
    shared_ = exchanged(plan_, printer_.scopes, root.body);
    std::erase_if(shared_, [&](VarId var) { return !in_memory(var); });
    const std::string &v = printer_.axis_name(root.axis);
    out().add("for (" + type + " " + v + " = first; " + v + " < last; ++" + v + ") {");
    name_rows({&root});
    pending_.insert(phase.partials.begin(), phase.partials.end());
    block_list(root.body);
    pending_.clear();
    if (tiles && shared_.empty())
      barrier();
    out().add("}");
    printer_.named.clear();
  }
  end_shares(shares);
  for (const auto &[var, place] : places)
    printer_.rename(var, place.mine);
  for (const PlanNode *fold : folds)
    fold_shares(*fold, shares, Result::chunk);
  out().add("if (threadIdx.x == 0) {");
  for (VarId var : phase.partials)
    out().add(parts_name(var) + "[blockIdx.x] = " + places[var].mine + ";");
  out().add("}");
  end_shares(places);
}

// A thread takes what a block has found into its share.
void CudaKernel::fold_parts(const std::vector<const PlanNode *> &folds, const Shares &shares, const std::string &slot) {
  auto part_of = [&](VarId var) { return parts_name(var) + "[" + slot + "]"; };
  for (const PlanNode *fold : folds) {
    const std::string &mine = shares.at(fold->target).mine, part = part_of(fold->target);
    if (fold->partner == kNone) {
      out().add(mine + " = " + printer_.combined(*fold, mine, {part}).text + ";");
      continue;
    }
    const std::string &best = shares.at(fold->partner).mine, value = part_of(fold->partner);
    out().add("if (" + part + " >= 0 && (" + mine + " < 0 || " +
              spelling().helper(fold->monoid == Monoid::argmax ? "above" : "below") + "(" + value + ", " + best +
              "))) {\n" + mine + " = " + part + ";\n" + best + " = " + value + ";\n}");
  }
}

} // namespace kgen
