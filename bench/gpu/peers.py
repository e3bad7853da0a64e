"""What PyTorch does for the same work. PEERS: kernel name (a pattern) -> {label: function of (operands, sizes)}.

The operands are tensors and scalars by name. The label `compiled` goes through torch.compile. Others
may add rows; a kernel without one is timed alone.
"""

import fnmatch

from interface import ARRAYS

TORCH = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32"}
TORCH |= {"i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool"}


def functional():
    import torch.nn.functional

    return torch.nn.functional


def torch():
    import torch as module

    return module


def giou(o, clamp):
    """Eight planes, the formula of the specs."""
    t = torch()
    size = (lambda v: v.clamp(min=0)) if clamp else (lambda v: v)
    area_p = (o["right_p"] - o["left_p"]) * (o["bottom_p"] - o["top_p"])
    area_t = (o["right_t"] - o["left_t"]) * (o["bottom_t"] - o["top_t"])
    width = size(t.minimum(o["right_p"], o["right_t"]) - t.maximum(o["left_p"], o["left_t"]))
    height = size(t.minimum(o["bottom_p"], o["bottom_t"]) - t.maximum(o["top_p"], o["top_t"]))
    hull = size(t.maximum(o["right_p"], o["right_t"]) - t.minimum(o["left_p"], o["left_t"]))
    hull = hull * size(t.maximum(o["bottom_p"], o["bottom_t"]) - t.minimum(o["top_p"], o["top_t"]))
    overlap = width * height
    joined = area_p + area_t - overlap
    return overlap / joined.clamp(min=1e-5) - (hull - joined) / hull.clamp(min=1e-5)


def giou_loss(o):
    fields = {f"{side}_{box[0]}": o[box][..., i] for box in ("pred", "target") for i, side in enumerate(SIDES)}
    mask = o["target"][..., 3] != 0
    value = giou(fields, True) * mask
    return value, mask, (mask * (1 - value)).sum() / mask.sum().clamp(min=1)


SIDES = ("left", "top", "right", "bottom")


def attention(o, causal):
    return functional().scaled_dot_product_attention(o["q"], o["k"], o["v"], is_causal=causal, scale=o["scale"])


def layer_norm(o):
    dtype = o["x"].dtype
    return functional().layer_norm(o["x"], o["x"].shape[-1:], o["gamma"].to(dtype), o["beta"].to(dtype), 1e-5)


def group_norm(o, sizes):
    x = o["x"]
    gamma, beta = o["gamma"].to(x.dtype).flatten(), o["beta"].to(x.dtype).flatten()
    return functional().group_norm(x, sizes["G"], gamma, beta, 1e-5)


def both(function):
    return {"torch": function, "compiled": function}


PEERS = {
    "add_vectors": {"torch": lambda o, n: o["x"] + o["y"]},
    "muladd": both(lambda o, n: o["a"] * o["b"] + o["c"]),
    "iota": {"torch": lambda o, n: torch().arange(n["N"], dtype=torch().int32, device="cuda")},
    "transpose": {"torch": lambda o, n: o["x"].t().contiguous()},
    "embedding": {"torch": lambda o, n: functional().embedding(o["token"], o["table"])},
    "matmul": {"torch": lambda o, n: o["x"] @ o["y"]},
    "matmul_blocked": {"torch": lambda o, n: o["x"] @ o["y"]},
    "matmul_halves": {"torch": lambda o, n: o["x"] @ o["y"]},
    "matmul_bf16": {"torch": lambda o, n: o["x"] @ o["y"]},
    "matmul_batched": {"torch": lambda o, n: o["x"] @ o["y"]},
    "matmul_int8": {"torch": lambda o, n: torch()._int_mm(o["x"], o["y"])},
    "softmax": {"torch": lambda o, n: functional().softmax(o["x"], -1)},
    "layer_norm": {"torch": lambda o, n: layer_norm(o)},
    "group_norm": {"torch": group_norm},
    "attention": {"torch": lambda o, n: attention(o, False)},
    "attention_*": {"torch": lambda o, n: attention(o, True)},
    "argmax": {"torch": lambda o, n: o["x"].max(-1)},
    "cross_entropy": {
        "torch": lambda o, n: functional().cross_entropy(o["score"], o["target"].long(), reduction="none")
    },
    "histogram": {"torch": lambda o, n: torch().bincount(o["x"], minlength=256)},
    "cumsum": {"torch, inclusive alone": lambda o, n: o["x"].cumsum(-1)},
    "prefix_sum": {"torch": lambda o, n: o["x"].cumsum(0)},
    "max_pool": {"torch": lambda o, n: functional().max_pool2d(o["x"], 3, 2, 1)},
    "conv2d": {"torch": lambda o, n: functional().conv2d(o["x"], o["w"], o["bias"], 2, 1)},
    "giou_planes": both(lambda o, n: giou(o, True)),
    "giou_planes_plain": both(lambda o, n: giou(o, True)),
    "giou_planes_unclamped": both(lambda o, n: giou(o, False)),
    "giou_loss_padded": both(lambda o, n: giou_loss(o)),
    "giou_loss_conditional": both(lambda o, n: giou_loss(o)),
}


def known(kernel):
    """The rows of the first pattern that names the kernel, exact names first."""
    if kernel in PEERS:
        return PEERS[kernel]
    return next((rows for pattern, rows in PEERS.items() if fnmatch.fnmatch(kernel, pattern)), {})


def to_tensor(array, kind):
    tensor = torch().from_numpy(array.view("int16") if kind == "bf16" else array)
    return (tensor.view(torch().bfloat16) if kind == "bf16" else tensor).cuda()


class Peer:
    """A peer's work on its own rotated operands, as a graph where it can be captured, else call by call."""

    def __init__(self, work, operands, scalars, sizes, sets):
        t = torch()
        self.error, self.graph = None, None
        try:
            copies = [{n: v.clone() for n, v in operands.items()} | scalars for _ in range(sets)]
            self.run = lambda: [work(copy, sizes) for copy in copies][-1]
            self.sets, self.begin, self.end = sets, t.cuda.Event(enable_timing=True), t.cuda.Event(enable_timing=True)
            side = t.cuda.Stream()
            side.wait_stream(t.cuda.current_stream())  # which may still be copying the operands
            with t.cuda.stream(side):
                for _ in range(3):
                    work(copies[0], sizes)
            t.cuda.synchronize()
            self.capture()
        except Exception as error:  # a peer that is not there is a remark in the result, not a failure
            self.error = f"{type(error).__name__}: {error}".splitlines()[0][:200]

    def capture(self):
        t = torch()
        graph = t.cuda.CUDAGraph()
        try:
            with t.cuda.graph(graph):
                self.run()
            self.graph = graph
        except RuntimeError:
            t.cuda.synchronize()

    def milliseconds(self):
        self.begin.record()
        if self.graph:
            self.graph.replay()
        else:
            self.run()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) / self.sets


def prepare(function, contents, scalars, sizes, sets):
    """{label: Peer} for one function; nothing for kernels and types that PyTorch has no counterpart of."""
    rows = known(function.kernel)
    inputs = [a for a in function.of_kind(*ARRAYS) if a.kind != "out"]
    if not rows or any(argument.type not in TORCH for argument in inputs):
        return {}
    try:
        t = torch()
    except ImportError:
        return {}
    t.backends.cuda.matmul.allow_tf32 = False
    t.backends.cudnn.allow_tf32 = False
    operands = {argument.name: to_tensor(contents[argument.name], argument.type) for argument in inputs}
    compiled = {label: t.compile(work, dynamic=False) if label == "compiled" else work for label, work in rows.items()}
    return {label: Peer(work, operands, scalars, sizes, sets) for label, work in compiled.items()}
