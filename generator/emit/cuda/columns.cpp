#include "emit/cuda/kernels.h"

#include "emit/cuda/points.h"
#include "emit/cuda/shared_folds.h"
#include "plan/cuda/rows.h"

namespace kgen {

std::string column_shape(Printer &printer, const Phase &phase) {
  return printer.spelling.helper("ColumnShape") + "(" + longest_text(printer, phase.launch) + ", " +
         points_text(printer, items_of(printer.plan, phase)) + ", " + (phase.launch.split ? "1024" : "1") + ")";
}

KernelLaunch columns_kernel(KernelText &out, const Phase &phase) {
  const Nest items = items_of(out.plan(), phase);
  const std::vector<PlanNode> &body = items.back()->body;
  const PlanNode *split = phase.launch.split ? split_fold(out.plan(), body) : nullptr;
  const std::string column = out.names.claim("column"), writes = out.names.claim("writes");
  const Team team = {.index = "threadIdx.y",
                     .size = "blockDim.y",
                     .writer = writes,
                     .fold = "column_fold",
                     .helper = "column_fold",
                     .columns = true,
                     .present = column + " < items"};
  Block block{out, team};
  out.add("const Index items = Index(" + points_text(out.printer, items) + ");"); // derived sizes have 64 bits
  out.add("const Index " + column + " = Index(blockIdx.x" + (split != nullptr ? " / chunks" : "") +
          ") * Index(blockDim.x) + Index(threadIdx.x);");
  out.add("const Index item = " + out.helper("smaller") + "(" + column + ", items - 1);");
  out.declare_spare(writes, "const bool " + writes + " = " + column + " < items && threadIdx.y == 0;");
  open_item(out, items);
  list_of_folds(block, body, split);
  return {.blocks = "shape.blocks",
          .prepare = prepare_shape(out.printer, column_shape(out.printer, phase), split),
          .threads = "dim3(shape.wide, shape.deep)",
          .chunk = split != nullptr ? "Index" : ""};
}

} // namespace kgen
