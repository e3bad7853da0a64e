// The axes of all values, and what follows from them: choices of what differs, dimensions of the batch.
#include "ir/axes_of_values.h"
#include "ir/build.h"

namespace kgen::build {

namespace {

class Inference {
public:
  explicit Inference(Build &build) : build_(build), kernel_(build.kernel) {}

  void run() {
    find_axes_of_values(kernel_, build_.batch_axes);
    if (restore_axes(build_))
      find_axes_of_values(kernel_, build_.batch_axes);
    settle_kept();
    for (Var &var : kernel_.vars)
      if (var.kind == Var::Kind::scratch)
        add_batch_dims(var);
  }

private:
  // Now that this is known, it is a choice, or what reads it reads the value.
  void settle_kept() {
    std::vector<ExprId> now(kernel_.exprs.size());
    for (size_t i = 0; i < now.size(); ++i) {
      Expr &e = kernel_.exprs[i];
      now[i] = static_cast<ExprId>(i);
      for (ExprId &arg : e.args)
        arg = now[arg];
      for (Coordinate &coord : e.coords)
        coord.value = now[coord.value];
      if (e.op != Op::kept)
        continue;
      const bool choice = kernel_.exprs[e.args[0]].axes.contains(e.reduced);
      e.op = choice ? Op::choose : Op::cast;
      e.args = choice ? std::vector<ExprId>{e.args[1], e.args[0], e.args[2]} : std::vector<ExprId>{e.args[0]};
      e.reduced = AxisSet();
      if (!choice)
        now[i] = e.args[0];
    }
    for_each(kernel_.statements, [&](Stmt &s) {
      for (ExprId &index : s.indices)
        index = now[index];
      for (Coordinate &coord : s.coords)
        coord.value = now[coord.value];
      if (s.value != kNone)
        s.value = now[s.value];
      for (Shown &shown : s.shown)
        if (shown.value != kNone)
          shown.value = now[shown.value];
    });
  }

  void add_batch_dims(Var &var) {
    for (AxisId axis : (var.axes & build_.batch_axes).list()) {
      for (Dim &dim : var.dims)
        ++dim.array_dim;
      Dim dim;
      dim.axis = axis;
      dim.extent = dim.block = Size::axis(kernel_.axes[axis].name);
      var.dims.insert(var.dims.begin(), dim);
    }
  }

  Build &build_;
  Kernel &kernel_;
};

} // namespace

void infer_axes(Build &build) { Inference(build).run(); }

} // namespace kgen::build
