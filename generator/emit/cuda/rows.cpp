#include "emit/cuda/kernels.h"

#include "emit/cuda/points.h"
#include "emit/cuda/shared_folds.h"
#include "emit/target_file.h"
#include "plan/cuda/blocks.h"
#include "plan/cuda/rows.h"

namespace kgen {
namespace {

// Positions of the last loop that are one turn of the nest.
int each_turn(const Nest &nest) { return nest.size() > 1 && nest.back()->packs ? nest.back()->packs->together : 1; }

} // namespace

std::string row_shape(Printer &printer, const Phase &phase, const std::string &wide) {
  const Phase::Launch &launch = phase.launch;
  const Nest items = items_of(printer.plan, phase);
  Nest nest = nest_of_row(printer.plan, items);
  std::string turns = length_text(printer, nest);
  const int each = each_turn(nest);
  if (each > 1) {
    const std::string last = length_text(printer, Nest{nest.back()});
    nest.pop_back();
    turns = length_text(printer, nest) + " * " + printer.spelling.helper("ceil_div") + "(" + last + ", " +
            std::to_string(each) + ")";
  }
  int bytes = 0;
  for (VarId var : launch.kept)
    bytes += bytes_of(printer.kernel.vars[var].type) * each;
  const Decision most = launch.work == Phase::Launch::Work::team ? Decision::team_blocks : Decision::fold_chunks;
  return printer.spelling.helper("RowShape") + "(" + turns + ", " + std::to_string(each) + ", " +
         points_text(printer, items) + ", " + std::to_string(bytes) + ", " +
         std::to_string(launch.split ? printer.plan.decide(most) : 1) +
         (launch.held > 0 ? ", " + std::to_string(launch.held) + " * " + std::to_string(launch.together) + wide : "") +
         ")";
}

KernelLaunch row_kernel(KernelText &out, const Phase &phase) {
  const Nest items = items_of(out.plan(), phase);
  const std::vector<PlanNode> &body = items.back()->body;
  const PlanNode &split = *split_fold(out.plan(), body);
  Block block{out, {.fold = "row_fold", .helper = "row_fold"}};
  out.add("const Index items = Index(" + points_text(out.printer, items) + ");"); // derived sizes have 64 bits
  out.add("for (Index item = Index(blockIdx.x / chunks) * Index(blockDim.y) + Index(threadIdx.y); item < items; item "
          "+= Index(gridDim.x / chunks) * Index(blockDim.y)) {");
  open_item(out, items);
  list_of_folds(block, body, &split);
  out.add("}");
  return {.blocks = "shape.blocks",
          .prepare = prepare_shape(out.printer, row_shape(out.printer, phase), &split),
          .threads = "dim3(shape.threads, shape.together)",
          .chunk = "Index"};
}

namespace {

// Which part of the row is the block's. The host says how long the parts are where all rows are of one length.
Printer::Range open_team_part(KernelText &out, const Nest &nest) {
  std::string chunk = "chunk";
  if (is_ragged(out.kernel(), nest)) {
    chunk = out.names.claim("row_chunk");
    out.add("const Index " + chunk + " = Index(" + out.helper("ceil_div") + "(" + out.printer.range(*nest.front()).end +
            ", int64_t(team.chunks) * 16) * 16);");
  }
  return open_part(out, nest, "blockIdx.x % team.chunks", chunk);
}

// Room for what is kept of rows.
std::map<VarId, std::string> take_kept(KernelText &out, const Phase::Launch &launch, const Nest &nest) {
  std::map<VarId, std::string> kept;
  if (launch.kept.empty())
    return kept;
  out.add("char* tile = " + out.helper("row_tile") + "(team);");
  const int each = each_turn(nest);
  for (VarId var : launch.kept) {
    kept[var] = out.names.claim(out.printer.name(var), "_kept");
    out.add(out.helper("KeptRow") + "<" + Spelling::c_type(out.kernel().vars[var].type) + ", " +
            std::to_string(launch.together) + ", " + (launch.held > 0 ? "kTurns" : "0") + ", kWide> " + kept[var] +
            "(team, tile, chunk" + (each > 1 ? " * " + std::to_string(each) : "") + ");");
  }
  return kept;
}

} // namespace

KernelLaunch team_kernel(KernelText &out, const Phase &phase) {
  const Nest items = items_of(out.plan(), phase), nest = nest_of_row(out.plan(), items);
  const bool splits = phase.launch.split, ragged = is_ragged(out.kernel(), nest);
  const std::string writes = out.names.claim("writes");
  out.helper("RowTeam");
  Block block{out, {.writer = writes, .fold = "team.fold", .helper = "RowTeam"}};
  const bool held = phase.launch.held > 0;
  out.add(held ? "team.begin<kTurns>();" : "team.begin();");
  const std::map<VarId, std::string> kept = take_kept(out, phase.launch, nest);
  if (splits && !ragged)
    block.part = {open_team_part(out, nest), kept};
  if (held) {
    block.part->takes_part = out.names.claim("takes_part");
    out.add("const bool " + block.part->takes_part + " = team.takes_part();");
  }
  out.declare_spare(writes, "const bool " + writes + " = threadIdx.x == 0 && blockIdx.x % team.chunks == 0;");
  out.add("const Index items = Index(" + points_text(out.printer, items) + ");"); // derived sizes have 64 bits
  out.add("for (Index item = Index(team.first_row()); item < items; item += Index(team.rows_at_once())) {");
  open_item(out, items);
  if (splits && ragged)
    block.part = {open_team_part(out, nest), kept};
  block_list(block, items.back()->body);
  out.add("}");
  return {.blocks = "",
          .prepare = prepare_shape(out.printer, row_shape(out.printer, phase, ", wide"), nullptr),
          .slots = splits ? "workspace + space." + out.printer.name_beside(phase.launch.rooms.front().var, "_slots")
                          : "nullptr"};
}

} // namespace kgen
