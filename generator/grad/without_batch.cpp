#include "grad/without_batch.h"

#include <algorithm>

namespace kgen::grad {

Spec without_batch(const Spec &spec) {
  Spec out = spec;
  if (!spec.batch.empty())
    for (OperandDecl &operand : out.operands)
      for (DimDecl &dim : operand.dims)
        if (dim.kind == DimDecl::Kind::rest)
          dim.kind = DimDecl::Kind::axes;
  for (const BatchDecl &batch : spec.batch)
    for (OperandDecl &operand : out.operands)
      if (operand.role != Role::input ||
          std::find(batch.operands.begin(), batch.operands.end(), operand.name) != batch.operands.end()) {
        DimDecl dim;
        dim.axes = {batch.axis};
        dim.place = batch.place;
        operand.dims.insert(operand.dims.begin(), dim);
        if (operand.window) {
          WindowDecl &window = *operand.window;
          window.block.insert(window.block.begin(), {WindowDecl::Kind::whole, Size::integer(1), batch.place});
          for (auto *starts : {&window.index, &window.offset})
            if (*starts)
              (*starts)->insert((*starts)->begin(), Size::integer(0));
        }
      }
  for (const BatchDecl &batch : spec.batch)
    out.axis_order.insert(out.axis_order.begin(), batch.axis);
  out.batch.clear();
  return out;
}

} // namespace kgen::grad
