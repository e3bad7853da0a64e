"""Jitted calls with tiny arrays of JAX: the binding, and a handler by hand for one type: overhead_jax.py KGEN"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import turns

ROOT = pathlib.Path(__file__).resolve().parents[2]
BY_HAND = """
#include "softmax.h"
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
static ffi::Error call(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  const auto d = x.dimensions();
  const int status = softmax_f32_openmp(x.typed_data(), y->typed_data(), d[0], d[1], nullptr, 0);
  return status ? ffi::Error::InvalidArgument(softmax_error(status)) : ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(by_hand, call,
                              ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
"""


def by_hand(folder):
    (folder / "by_hand.cpp").write_text(BY_HAND)
    subprocess.run(["c++", "-O2", "-std=c++17", "-fopenmp", "-fPIC", "-shared", "-isystem", jax.ffi.include_dir(),
                    "by_hand.cpp", "softmax_openmp.cpp", "-o", "by_hand.so"], cwd=folder, check=True)
    handler = ctypes.CDLL(str(folder / "by_hand.so")).by_hand
    jax.ffi.register_ffi_target("by_hand", jax.ffi.pycapsule(handler), platform="cpu")
    return lambda x: jax.ffi.ffi_call("by_hand", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


def main():
    kgen = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([kgen, ROOT / "specs/norm/softmax.toml", "-o", name, "--root", name, "--targets", "openmp",
                        "--bind", "jax"], check=True, capture_output=True)
        subprocess.run([sys.executable, folder / "softmax_jax.py"], check=True, env={**os.environ, "NVCC": ""})
        sys.path.insert(0, name)
        from softmax_jax import softmax
        functions, x = [jax.jit(softmax), jax.jit(by_hand(folder))], jnp.ones((3, 4))
        sides = {name: lambda f=f: f(x).block_until_ready() for name, f in zip(("ours", "by hand"), functions)}
        turns.tell(turns.best(turns.measure(sides, rounds=200, calls=50)))


main()
