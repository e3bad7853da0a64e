"""Calls with tiny tensors of torch: the operator, and a stable one by hand with the same checks and register_autograd, both
without and with a gradient: overhead_torch.py KGEN"""
import os
import pathlib
import subprocess
import sys
import tempfile

import torch
import turns

SPEC = """kernel = "muladd"
types.T = ["f32", "f64"]
scalars.c = "f32"
inputs.a = "T[N]"
inputs.b = "T[N]"
outputs.y = "T[N]"
body = 'y = a * b + c;'
"""
BY_HAND = """
#define TORCH_TARGET_VERSION 0x020d000000000000
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include "muladd.h"
using torch::headeronly::ScalarType;
using torch::stable::Tensor;
static Tensor muladd(const Tensor& a, const Tensor& b, double c) {
  STD_TORCH_CHECK(a.scalar_type() == b.scalar_type(), "a and b must have one type");
  STD_TORCH_CHECK(a.dim() == 1 && b.dim() == 1 && a.size(0) == b.size(0), "a and b must have one shape");
  STD_TORCH_CHECK(a.device() == b.device(), "a and b must be on one device");
  const Tensor x = torch::stable::contiguous(a), y = torch::stable::contiguous(b);
  Tensor out = torch::stable::empty_like(x);
  int status = 1;
  if (a.scalar_type() == ScalarType::Float)
    status = muladd_f32_openmp(float(c), x.const_data_ptr<float>(), y.const_data_ptr<float>(),
                               out.mutable_data_ptr<float>(), x.size(0));
  else if (a.scalar_type() == ScalarType::Double)
    status = muladd_f64_openmp(float(c), x.const_data_ptr<double>(), y.const_data_ptr<double>(),
                               out.mutable_data_ptr<double>(), x.size(0));
  STD_TORCH_CHECK(status == 0, muladd_error(status));
  return out;
}
STABLE_TORCH_LIBRARY_FRAGMENT(by_hand, m) { m.def("muladd(Tensor a, Tensor b, float c) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(by_hand, CPU, m) { m.impl("muladd", TORCH_BOX(&muladd)); }
"""


def by_hand(folder):
    (folder / "by_hand.cpp").write_text(BY_HAND)
    root = os.path.dirname(torch.__file__)
    subprocess.run(["c++", "-O2", "-std=c++17", "-fPIC", "-fopenmp", "-shared", "-isystem", root + "/include",
                    "by_hand.cpp", "muladd_openmp.cpp", "-L" + root + "/lib", "-ltorch_cpu", "-o", "libby_hand.so"],
                   cwd=folder, check=True)
    torch.ops.load_library(folder / "libby_hand.so")
    torch.library.register_fake("by_hand::muladd", lambda a, b, c: torch.empty_like(a))
    keep = lambda ctx, inputs, output: ctx.save_for_backward(*inputs[:2])
    gradients = lambda ctx, d: (d * ctx.saved_tensors[1], d * ctx.saved_tensors[0], None)
    torch.library.register_autograd("by_hand::muladd", gradients, setup_context=keep)
    return torch.ops.by_hand.muladd.default


def main():
    kgen = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "muladd.toml").write_text(SPEC)
        subprocess.run([kgen, "grad", "muladd.toml", "-o", "."], cwd=folder, check=True, capture_output=True)
        subprocess.run([kgen, "muladd.toml", "--targets", "openmp", "--bind", "torch"], cwd=folder, check=True,
                       capture_output=True)
        subprocess.run([sys.executable, "muladd_torch.py"], cwd=folder, check=True)
        sys.path.insert(0, name)
        import muladd_torch
        plain, learned = torch.ones(8), torch.ones(8, requires_grad=True)
        sides = {}
        for label, function in (("ours", muladd_torch.muladd), ("by hand", by_hand(folder))):
            sides[label] = lambda f=function: f(plain, plain, 1.0)
            sides[label + ", forward of a gradient"] = lambda f=function: f(learned, learned, 1.0)
        turns.tell(turns.best(turns.measure(sides, rounds=400, calls=100)))


main()
