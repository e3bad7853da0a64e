"""A product of matrices as a call of torch and of JAX, beside the framework's own: products.py KGEN SIZE

Both sides make the array of their result. What a call does besides is in it: the checks, the workspace. NumPy is not here:
the threads of its library go on spinning beside those of the next side.
"""
import os
import pathlib
import sys

import turns

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["KGEN_EXECUTABLE"] = str(pathlib.Path(sys.argv[1]).resolve())
sys.path.insert(0, str(ROOT / "bindings"))

import jax  # noqa: E402
import kgen  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402


def main():
    size, dice = int(sys.argv[2]), np.random.default_rng(1)
    x, y = (dice.random((size, size), "f4") for _ in range(2))
    product = kgen.load(ROOT / "specs/matmul/matmul.toml", T="f32")
    tensors, arrays = [torch.tensor(a) for a in (x, y)], [jax.numpy.asarray(a) for a in (x, y)]
    ours, theirs = jax.jit(lambda x, y: product(x, y)), jax.jit(jax.numpy.matmul)
    sides = {"torch": (lambda: product(*tensors), lambda: torch.mm(*tensors)),
             "jax": (lambda: jax.block_until_ready(ours(*arrays)), lambda: jax.block_until_ready(theirs(*arrays)))}
    figures = {}
    for framework, (own, other) in sides.items():  # one after the other: threads of one would wait beside those of the next
        figures |= turns.best(turns.measure({f"{framework}, ours": own, framework: other}, rounds=20, calls=5))
    turns.tell(figures)


main()
