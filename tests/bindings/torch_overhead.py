"""The time of a call with tiny tensors, beside an operator written by hand with the same checks: torch_overhead.py KGEN

Prints microseconds; no test, for on a busy machine it tells nothing.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import timeit

import torch

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
    torch.library.register_autograd("by_hand::muladd", lambda ctx, d: (d, d, None))
    return torch.ops.by_hand.muladd.default


def main():
    kgen = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "muladd.toml").write_text(SPEC)
        subprocess.run([kgen, "muladd.toml", "--targets", "openmp", "--bind", "torch"], cwd=folder, check=True,
                       capture_output=True)
        subprocess.run([sys.executable, "muladd_torch.py"], cwd=folder, check=True)
        sys.path.insert(0, name)
        import muladd_torch
        a = torch.ones(8)
        functions = {"by hand": by_hand(folder), "generated": muladd_torch.muladd}
        best = dict.fromkeys(functions, 1.0)
        for _ in range(300):
            for label, function in functions.items():
                best[label] = min(best[label], timeit.timeit(lambda: function(a, a, 1.0), number=100) / 100)
        for label, time in best.items():
            print(f"{label:10} {time * 1e6:6.2f} us")


main()
