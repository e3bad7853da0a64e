#include "emit/cuda/workspace.h"

#include <set>

#include "emit/cuda/folds.h"
#include "emit/cuda/kernels.h"
#include "emit/cuda/points.h"
#include "emit/target_file.h"
#include "plan/cuda/rows.h"
#include "plan/index/access.h"
#include "support/text.h"

namespace kgen {
namespace {

using Room = Phase::Launch::Room;

// By variable: the phases that write it. Found once, for there may be hundreds of either.
std::vector<std::set<size_t>> writers_of(const Plan &plan) {
  std::vector<std::set<size_t>> out(plan.kernel.vars.size());
  for (size_t i = 0; i < plan.phases.size(); ++i)
    for (const PlanNode &node : plan.phases[i].nodes)
      for (const Access &a : accesses_of(plan.kernel, node))
        if (a.write)
          out[a.var].insert(i);
  return out;
}

// The elements of a buffer that phases share: none where those that write it are left out.
std::string shared_elements(Printer &printer, VarId var, const std::set<size_t> &writers) {
  const std::string elements = printer.buffer_elements(var);
  std::set<ExprId> conditions;
  for (size_t phase : writers)
    conditions.insert(printer.plan.phases[phase].unless ? kNone : printer.plan.phases[phase].when);
  if (conditions.size() != 1 || *conditions.begin() == kNone)
    return elements;
  const auto condition = [&] { return at_least(printer.expression(*conditions.begin()), binding::kChoose + 1); };
  return on_host(printer, condition) + " ? " + elements + " : 0";
}

// What says how much room the blocks of a phase need, where the host finds that by sizes.
std::string room_shape(Printer &printer, const Phase &phase) {
  return phase.launch.work == Phase::Launch::Work::columns ? column_shape(printer, phase) : row_shape(printer, phase);
}

void add_rooms(Printer &printer, const Phase &phase, Workspace &out) {
  const bool parallel = phase.kind == Phase::Kind::parallel;
  const std::string shape = parallel && !phase.launch.rooms.empty() ? room_shape(printer, phase) + "." : "",
                    chunks = std::to_string(printer.plan.decide(Decision::fold_chunks));
  for (const Room &room : phase.launch.rooms)
    switch (room.kind) {
    case Room::parts:
      out.push_back(
          {parts_name(printer, room.var), parallel ? shape + "parts" : chunks, printer.kernel.vars[room.var].type});
      break;
    case Room::tickets:
      out.push_back({printer.name_beside(room.var, "_tickets"), shape + "tickets", Type::u32});
      break;
    case Room::slots:
      out.push_back({printer.name_beside(room.var, "_slots"), shape + "slot_bytes", Type::u8, true});
      break;
    case Room::ticket: // all kernels have one after the other
      break;
    }
}

// So many blocks of the phase at most have work.
std::string most_blocks(Printer &printer, const Phase &phase) {
  if (phase.kind == Phase::Kind::serial)
    return "1";
  const bool chunked = phase.kind == Phase::Kind::chunked;
  const Nest nest = chunked ? chunked_nest(printer.plan, phase) : items_of(printer.plan, phase);
  const std::string most = std::to_string(printer.plan.decide(Decision::tile_blocks));
  if (asks_tables(printer.kernel, nest))
    return most;
  // The last block does what comes next, also where it is the only one.
  const std::string blocks = chunked ? printer.spelling.helper("larger") + "(" + chunked_turns(printer, phase) + ", 1)"
                                     : points_text(printer, nest);
  return blocks == "1" ? blocks : printer.spelling.helper("smaller") + "(" + blocks + ", " + most + ")";
}

} // namespace

Workspace workspace_of(Printer &printer) {
  const Plan &plan = printer.plan;
  Workspace out;
  const std::vector<std::set<size_t>> writers = writers_of(plan);
  for (size_t v = 0; v < plan.storage.size(); ++v)
    if (const VarId var = static_cast<VarId>(v); plan.storage[v].kind == Storage::Kind::program)
      out.push_back({printer.name(var), shared_elements(printer, var, writers[v]), plan.kernel.vars[v].type});
  bool ticket = false;
  for (const Phase::Kind kind : {Phase::Kind::parallel, Phase::Kind::chunked})
    for (const Phase &phase : plan.phases)
      if (phase.kind == kind) {
        add_rooms(printer, phase, out);
        ticket = ticket || kind == Phase::Kind::chunked;
      }
  if (ticket)
    out.push_back({"ticket", "1", Type::u32});
  for (const KernelPhase &kernel : kernels_of(plan))
    if (const std::vector<VarId> &buffers = kernel.phase->launch.buffers; !buffers.empty())
      out.push_back({kernel.suffix + "_tiles",
                     printer.spelling.helper("workspace_tiles") + "(" + buffer_bytes(printer, buffers) + ", " +
                         std::to_string(plan.decide(Decision::shared_tile_bytes)) + ", " +
                         most_blocks(printer, *kernel.phase) + ")",
                     Type::u8, true});
  return out;
}

WorkspaceText workspace_struct(const std::string &name, const Function &function, const Workspace &workspace,
                               Printer &printer) {
  std::string fields, body;
  for (const WorkspaceField &field : workspace) {
    fields += field.name + ", ";
    body += field.name + " = " + printer.spelling.helper("reserve") + "(bytes, " + field.count + ", " +
            (field.bytes ? "1" : std::to_string(bytes_of(field.type))) + ");\n";
  }
  return workspace_text(name, function, "", "int64_t " + fields + "bytes = 0;",
                        derived_declarations(printer, body) + body);
}

std::string buffer_bytes(Printer &printer, const std::vector<VarId> &buffers) {
  std::vector<std::string> texts;
  for (VarId var : buffers)
    texts.push_back(printer.spelling.helper("padded_bytes") + "(" + printer.buffer_elements(var) + ", " +
                    std::to_string(bytes_of(printer.kernel.vars[var].type)) + ")");
  return join(texts, " + ");
}

std::vector<KernelPhase> kernels_of(const Plan &plan) {
  std::vector<KernelPhase> out;
  for (size_t i = 0; i < plan.phases.size(); ++i)
    if (is_kernel(plan, i))
      out.push_back({&plan.phases[i], "kernel"});
  for (size_t k = 0; out.size() > 1 && k < out.size(); ++k)
    out[k].suffix = "part" + std::to_string(k + 1) + "_kernel";
  return out;
}

} // namespace kgen
