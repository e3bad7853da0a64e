"""The same kernels for Triton, written by us, compiled for a device that is not there, and executed like ours. Of each the
best of some settings of block and warps is kept."""

import re
import subprocess
import tempfile

import rows
import sass

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def softmax_kernel(x, y, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    place = row[:, None] * N + at[None, :]
    inside = at[None, :] < N
    v = tl.load(x + place, inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(y + place, (e / tl.sum(e, 1)[:, None]).to(y.dtype.element_ty), inside)


@triton.jit
def layer_norm_kernel(x, gamma, beta, y, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    place = row[:, None] * N + at[None, :]
    inside = at[None, :] < N
    v = tl.load(x + place, inside, other=0.0).to(tl.float32)
    d = tl.where(inside, v - (tl.sum(v, 1) / N)[:, None], 0.0)
    scale = tl.rsqrt(tl.sum(d * d, 1) / N + 1e-5)
    g = tl.load(gamma + at, at < N, other=0.0).to(tl.float32)
    b = tl.load(beta + at, at < N, other=0.0).to(tl.float32)
    tl.store(y + place, (d * scale[:, None] * g[None, :] + b[None, :]).to(y.dtype.element_ty), inside)


@triton.jit
def rms_norm_kernel(x, gamma, y, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    place = row[:, None] * N + at[None, :]
    inside = at[None, :] < N
    v = tl.load(x + place, inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, 1) / N + 1e-6)
    g = tl.load(gamma + at, at < N, other=0.0).to(tl.float32)
    tl.store(y + place, (v * scale[:, None] * g[None, :]).to(y.dtype.element_ty), inside)


@triton.jit
def row_sum_kernel(x, y, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row[:, None] * N + at[None, :], at[None, :] < N, other=0.0).to(tl.float32)
    tl.store(y + row, tl.sum(v, 1))


@triton.jit
def transpose_kernel(x, y, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + m[:, None] * N + n[None, :], (m[:, None] < M) & (n[None, :] < N), other=0)
    tl.store(y + n[:, None] * M + m[None, :], tl.trans(v), (n[:, None] < N) & (m[None, :] < M))


@triton.jit
def gelu_kernel(x, y, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, at < N, other=0.0).to(tl.float32)
    tl.store(y + at, (0.5 * v * (1 + tl.erf(v * 0.7071067811865476))).to(y.dtype.element_ty), at < N)


@triton.jit
def column_sum_kernel(x, y, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for first in range(tl.program_id(1) * 512, tl.program_id(1) * 512 + 512, ROWS):  # a part of the rows: of 8 or more
        m = first + tl.arange(0, ROWS)
        total += tl.load(x + m[:, None].to(tl.int64) * N + n[None, :], (m[:, None] < M) & (n[None, :] < N), other=0).to(tl.float32)
    tl.store(y + tl.program_id(1) * N + n, tl.sum(total, 0), n < N)


def power_of_2(n):
    return 1 << (n - 1).bit_length()


def row_settings(n):
    """(rows of a block, columns, warps)"""
    for warps in (1, 2, 4, 8, 16):
        for together in (1, 2, 4, 8, 16):
            if 256 <= power_of_2(n) * together <= 32768 and 64 * warps <= power_of_2(n) * together * 2:
                yield together, power_of_2(n), warps


def flat_settings(_):
    return ((1, block, warps) for block in (512, 1024, 2048, 4096) for warps in (2, 4, 8))


def tile_settings(_):
    return ((1, block, warps) for block in (32, 64, 128) for warps in (2, 4, 8, 16))


def column_settings(_):
    return ((deep, block, warps) for deep in (8, 16, 32) for block in (64, 128, 256) for warps in (4, 8))


# Kernel, the names of its arguments, settings, and the grid for M rows, N columns.
PEERS = {
    "softmax": (softmax_kernel, "x y", "N", row_settings, lambda m, n, r, b: (-(-m // r), 1, 1)),
    "layer_norm": (layer_norm_kernel, "x gamma beta y", "N", row_settings, lambda m, n, r, b: (-(-m // r), 1, 1)),
    "rms_norm": (rms_norm_kernel, "x gamma y", "N", row_settings, lambda m, n, r, b: (-(-m // r), 1, 1)),
    "row_sum": (row_sum_kernel, "x y:f32", "N", row_settings, lambda m, n, r, b: (-(-m // r), 1, 1)),
    "column_sum": (column_sum_kernel, "x y:f32", "M N", column_settings, lambda m, n, r, b: (-(-n // b), -(-m // 512), 1)),
    "transpose": (transpose_kernel, "x y", "M N", tile_settings, lambda m, n, r, b: (-(-m // b), -(-n // b), 1)),
    "gelu": (gelu_kernel, "x y", "N", flat_settings, lambda m, n, r, b: (-(-m * n // b), 1, 1)),
}
POINTERS = {"f32": "*fp32", "bf16": "*bf16"}


def disassembled(nvdisasm, compiled):
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled.asm["cubin"])
        file.flush()
        return subprocess.run([nvdisasm, "-c", file.name], capture_output=True, text=True, check=True).stdout


def arguments_of(pointers, numbers):
    """Pointers, then numbers, then the two pointers to scratch that Triton adds."""
    out = b"".join((at << 40).to_bytes(8, "little") for at in range(1, len(pointers) + 1))
    out += b"".join(number.to_bytes(4, "little") for number in numbers)
    return out.ljust(-(-len(out) // 8) * 8, b"\0") + bytes(16)


def try_setting(peer, of, m, n, setting, architecture, nvdisasm, measure):
    kernel, pointers, numbers, _, grid = PEERS[peer]
    together, block, warps = setting
    values = {"M": m, "N": m * n if peer == "gelu" else n}
    signature, attributes = {}, {}
    for at, name in enumerate(pointers.split()):
        name, _, own = name.partition(":")
        signature[name] = POINTERS[own or of]
        attributes[(at,)] = [["tt.divisibility", 16]]
    for at, name in enumerate(numbers.split(), len(pointers.split())):
        signature[name] = "i32"
        attributes[(at,)] = [["tt.divisibility", 16]]
    signature.update(ROWS="constexpr", BLOCK="constexpr")
    source = ASTSource(kernel, signature, {"ROWS": together, "BLOCK": block}, attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", int(architecture[3:]), 32), options={"num_warps": warps})
    text = disassembled(nvdisasm, compiled)
    code = next(iter(sass.read_kernels(text).values()))
    registers = highest_register(code[0])
    shared = compiled.metadata.shared
    blocks = grid(m, n, together, block)
    found = measure(code, architecture, blocks, (32 * warps, 1, 1), registers, shared,
                    arguments_of(pointers.split(), [values[name] for name in numbers.split()]))
    found.blocks = blocks[0] * blocks[1]
    return found


def highest_register(instructions):
    """How many registers are used, in steps of 8 as they are given out."""
    most = max((int(number) for i in instructions for o in i.operands for number in re.findall(r"\bR(\d+)", o)), default=0)
    return -(-(most + 1) // 8) * 8


def reports(only, architecture, nvdisasm, measure, report):
    for name, _, _, sizes, bytes_moved, elements in rows.rows():
        peer = name.split()[0]
        if only not in name or peer not in PEERS:
            continue
        m, n = sizes.get("rows", sizes.get("M")), sizes["N"]
        best = None
        for setting in PEERS[peer][3](n):
            found = report(name, architecture, [try_setting(peer, name.split()[2], m, n, setting, architecture, nvdisasm, measure)],
                           bytes_moved, elements)
            found["setting"] = setting
            best = max(best or found, found, key=lambda r: r["share"])
        yield best
