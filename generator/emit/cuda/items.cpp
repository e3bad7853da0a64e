#include "emit/cuda/kernels.h"

#include "emit/cuda/block.h"
#include "emit/cuda/points.h"
#include "plan/cuda/blocks.h"

namespace kgen {

KernelLaunch thread_kernel(KernelText &out, const Phase &phase) {
  const Nest items = items_of(out.plan(), phase);
  const std::string count = points_text(out.printer, items),
                    threads = std::to_string(out.plan().decide(Decision::block_threads));
  out.add("const Index item = Index(blockIdx.x) * " + threads + " + Index(threadIdx.x);");
  out.add("if (item >= " + count + ") return;");
  open_item(out, items);
  guard_item(out, items, "return");
  out.printer.list(items.back()->body);
  return {out.helper("ceil_div") + "(" + count + ", " + threads + ")"};
}

KernelLaunch block_kernel(KernelText &out, const Phase &phase) {
  Block block{out};
  take_buffers(out, phase.launch.buffers);
  if (phase.kind == Phase::Kind::serial) {
    block.shared = exchanged(out.plan(), out.printer.scopes, phase.nodes);
    block_list(block, phase.nodes);
    return {"1"};
  }
  const Nest items = items_of(out.plan(), phase);
  const std::vector<PlanNode> &body = items.back()->body;
  const bool rows = phase.launch.work == Phase::Launch::Work::warps;
  const std::string count = points_text(out.printer, items);
  block.shared = exchanged(out.plan(), out.printer.scopes, body);
  out.add(std::string("for (Index item = Index(blockIdx.x)") +
          (rows ? " * Index(blockDim.y) + Index(threadIdx.y)" : "") + "; item < " + count +
          "; item += Index(gridDim.x)" + (rows ? " * Index(blockDim.y)" : "") + ") {");
  open_item(out, items);
  guard_item(out, items, "continue");
  block_list(block, body);
  if (!phase.launch.buffers.empty() && block.shared.empty())
    out.barrier();
  out.add("}");
  if (!rows)
    return {count};
  const std::string threads =
      out.helper("scan_threads") + "(" + longest_text(out.printer, phase.launch) + ", " + count + ")";
  return {.blocks = out.helper("smaller") + "(" + out.helper("ceil_div") + "(" + count + ", " + threads +
                    ".y), int64_t{1} << 30)",
          .threads = threads};
}

} // namespace kgen
