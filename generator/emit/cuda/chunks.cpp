#include "emit/cuda/kernels.h"

#include <algorithm>

#include "emit/cuda/block.h"
#include "emit/cuda/points.h"
#include "emit/cuda/shared_folds.h"
#include "plan/cuda/blocks.h"
#include "plan/index/access.h"

namespace kgen {
namespace {

constexpr int64_t kChunkMultiple = 16; // elements, so that all chunks begin with a whole access

bool by_points(const Phase &phase) { return phase.launch.work == Phase::Launch::Work::points; }

std::string type_of_points(const Kernel &kernel, const Nest &nest) {
  return counted_by_arrays(kernel, nest) ? "Index" : "int64_t";
}

// A round after the other, whose statements the threads share.
void fold_rounds(Block &block, const Phase &phase, const std::string &type) {
  KernelText &out = block.out;
  const PlanNode &root = phase.nodes.front();
  block.shared = exchanged(out.plan(), out.printer.scopes, root.body);
  std::erase_if(block.shared, [&](VarId var) { return !in_memory(out.printer, var); });
  const std::string &v = out.printer.axis_name(root.axis);
  out.add("for (" + type + " " + v + " = first; " + v + " < last; ++" + v + ") {");
  name_rows(out, {&root});
  block.pending.insert(phase.partials.begin(), phase.partials.end());
  block_list(block, root.body);
  block.pending.clear();
  if (!phase.launch.buffers.empty() && block.shared.empty())
    out.barrier();
  out.add("}");
  out.printer.named.clear();
}

// What the block finds in its chunk goes to the workspace.
void fold_chunk(Block &block, const Phase &phase, const Nest &nest, const Printer::Range &part) {
  KernelText &out = block.out;
  const std::vector<const PlanNode *> folds = folds_over(*nest.front());
  Shares places;
  for (VarId var : phase.partials) {
    const std::string name = out.printer.name(var);
    places[var] = {name, out.names.claim(name, "_part"), out.printer.own.insert(var).second};
  }
  const Shares shares = begin_shares(out, folds);
  if (by_points(phase))
    strided(block, nest, &part);
  else
    fold_rounds(block, phase, type_of_points(out.kernel(), nest));
  end_shares(out.printer, shares);
  for (const auto &[var, place] : places)
    out.printer.rename(var, place.mine);
  for (const PlanNode *fold : folds)
    fold_shares(out, block.team, *fold, shares, Result::chunk);
  out.add("if (threadIdx.x == 0) {");
  for (VarId var : phase.partials)
    out.add(parts_name(out.printer, var) + "[blockIdx.x] = " + places[var].mine + ";");
  out.add("}");
  end_shares(out.printer, places);
}

void combine_chunks(Block &block, const std::vector<const PlanNode *> &folds) {
  KernelText &out = block.out;
  out.add("if (!" + out.helper("is_last_block") + "(ticket, gridDim.x)) return;");
  const Shares shares = begin_shares(out, folds);
  out.add("for (unsigned part = threadIdx.x; part < gridDim.x; part += blockDim.x) {");
  fold_parts(out, folds, shares, "part");
  out.add("}");
  end_shares(out.printer, shares);
  for (const PlanNode *fold : folds)
    fold_shares(out, block.team, *fold, shares, Result::whole);
}

// Statements of the host that say how long a chunk is, and how many there are.
std::string prepare_chunks(KernelText &out, const Phase &phase, const Nest &nest) {
  const Plan &plan = out.plan();
  const std::string turns = chunked_turns(out.printer, phase), &larger = out.helper("larger"),
                    &ceil_div = out.helper("ceil_div");
  const int64_t multiple = by_points(phase) ? kChunkMultiple : 1, least = !by_points(phase) ? 1
                                                                          : contains_loop(nest.back()->body)
                                                                              ? plan.decide(Decision::deep_fold_chunk)
                                                                              : plan.decide(Decision::fold_chunk);
  return "const int64_t chunk = " + larger + "(" + std::to_string(least) + ", " + ceil_div + "(" + turns + ", " +
         std::to_string(plan.decide(Decision::fold_chunks) * multiple) + ")" +
         (multiple > 1 ? " * " + std::to_string(multiple) : "") + "), chunks = " + larger + "(" + ceil_div + "(" +
         turns + ", chunk), 1);\n" + checked("cudaMemsetAsync(workspace + space.ticket, 0, sizeof(uint32_t), stream)");
}

} // namespace

Nest chunked_nest(const Plan &plan, const Phase &phase) {
  return nest_of(plan, phase.nodes.front(), PlanNode::Order::reduction, by_points(phase) ? kMostNested : 1);
}

std::string chunked_turns(Printer &printer, const Phase &phase) {
  const Nest nest = chunked_nest(printer.plan, phase);
  const bool wide = type_of_points(printer.kernel, nest) != "Index";
  if (nest.size() == 1 || !nest.back()->packs)
    return (wide ? "int64_t{1} * " : "") + points_text(printer, nest);
  const AxisId axis = nest.back()->axis;
  printer.set_part(axis, {"0", printer.spelling.helper("ceil_div") + "(" + printer.range(*nest.back()).end + ", " +
                                   std::to_string(nest.back()->packs->together) + ")"});
  std::string turns = points_text(printer, nest);
  printer.clear_part(axis);
  return turns;
}

KernelLaunch chunks_kernel(KernelText &out, const Phase &phase) {
  const Plan &plan = out.plan();
  const Phase *const next = phase_behind(plan, static_cast<size_t>(&phase - plan.phases.data()));
  const Nest nest = chunked_nest(plan, phase);
  const std::string type = type_of_points(out.kernel(), nest);
  Block block{out};
  take_buffers(out, phase.launch.buffers);
  const Printer::Range part = open_part(out, nest, "blockIdx.x", "chunk", type);
  fold_chunk(block, phase, nest, part);
  combine_chunks(block, folds_over(*nest.front()));
  if (next != nullptr) {
    if (std::ranges::any_of(phase.partials, [&](VarId var) { return in_memory(out.printer, var); }))
      out.barrier();
    block.shared = exchanged(plan, out.printer.scopes, next->nodes);
    block_list(block, next->nodes);
  }
  return {.blocks = "chunks", .prepare = prepare_chunks(out, phase, nest), .chunk = type};
}

} // namespace kgen
