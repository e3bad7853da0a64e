"""Second opinions by scalar loops: x holds inputs, tables and scalars; s sizes; p params."""

import math

import numpy as np

LOOPS = {}


def loops(function):
    LOOPS[function.__name__] = function
    return function


def is_clamped(params):
    return params.get("iou") != "unclamped"


def box_giou(p, t, clamped):
    low = (lambda e: max(e, 0.0)) if clamped else (lambda e: e)
    overlap = low(min(p[2], t[2]) - max(p[0], t[0])) * low(min(p[3], t[3]) - max(p[1], t[1]))
    hull = low(max(p[2], t[2]) - min(p[0], t[0])) * low(max(p[3], t[3]) - min(p[1], t[1]))
    joined = (p[2] - p[0]) * (p[3] - p[1]) + (t[2] - t[0]) * (t[3] - t[1]) - overlap
    return overlap / max(joined, 1e-5) - (hull - joined) / max(hull, 1e-5)


def plane_loop(x, clamped):
    names = ("left", "top", "right", "bottom")
    giou = np.zeros(x["left_p"].shape)
    for at in np.ndindex(giou.shape):
        giou[at] = box_giou([x[f"{n}_p"][at] for n in names], [x[f"{n}_t"][at] for n in names], clamped)
    return {"giou": giou}


@loops
def similarity_int8(x, s, p):
    score = np.zeros((s["M"], s["N"]))
    for m, n in np.ndindex(score.shape):
        total = sum(int(a) * int(b) for a, b in zip(x["query"][m], x["row"][n]))
        score[m, n] = total * float(x["query_scale"][m]) * float(x["row_scale"][n])
    return {"score": score}


@loops
def giou_planes(x, s, p):
    return plane_loop(x, True)


@loops
def giou_planes_plain(x, s, p):
    return plane_loop(x, True)


@loops
def giou_planes_unclamped(x, s, p):
    return plane_loop(x, False)


@loops
def giou_loss_conditional(x, s, p):
    giou, mask = np.zeros((s["B"], s["N"])), np.zeros((s["B"], s["N"]), bool)
    for at in np.ndindex(giou.shape):
        mask[at] = x["target"][at][3] != 0
        giou[at] = box_giou(x["pred"][at], x["target"][at], is_clamped(p)) if mask[at] else 0
    return {"giou": giou, "mask": mask, "loss": (1 - giou[mask]).sum() / max(mask.sum(), 1)}


@loops
def giou_loss_padded(x, s, p):
    return giou_loss_conditional(x, s, p)


@loops
def giou_loss_ragged(x, s, p):
    giou = np.array([box_giou(a, b, is_clamped(p)) for a, b in zip(x["pred"], x["target"])])
    rows = [1 - giou[a:b] for a, b in zip(x["box_start"][:-1], x["box_start"][1:])]
    picture = np.array([row.sum() / max(row.size, 1) for row in rows])
    return {"giou": giou, "picture_loss": picture, "loss": (1 - giou).mean() if giou.size else 0.0}


@loops
def giou_loss_packed(x, s, p):
    rows = [(b, n) for b in range(s["B"]) for n in range(x["box_start"][b + 1] - x["box_start"][b])]
    pairs = [(x["pred"][b][n], x["target"][x["box_start"][b] + n]) for b, n in rows]
    giou = np.array([box_giou(a, b, is_clamped(p)) for a, b in pairs])
    return {"giou": giou, "loss": (1 - giou).mean() if giou.size else 0.0}


@loops
def ragged_mean_square(x, s, p):
    rows = [x["x"][a:b] for a, b in zip(x["row_start"][:-1], x["row_start"][1:])]
    rms = np.array([math.sqrt(sum(v * v for v in row) / len(row)) if len(row) else math.nan for row in rows])
    y = [v / r if r > 0 else 0.0 for row, r in zip(rows, rms) for v in row]
    return {"rms": rms, "y": np.array(y)}


@loops
def linear_recurrence(x, s, p):
    h = np.zeros((s["B"], s["S"], s["C"]))
    for b, step, c in np.ndindex(h.shape):
        h[b, step, c] = x["a"][b, step, c] * (h[b, step - 1, c] if step else 0.0) + x["x"][b, step, c]
    return {"h": h}


def assembled(x, s, rows, row_of):
    """The dense matrix of the blocks, cut to the rows and to K."""
    dense = np.zeros((-(-rows // 64) * 64, -(-s["K"] // 64) * 64))
    for number in range(s["S"]):
        r, c = 64 * row_of(number), 64 * x["col"][number]
        dense[r : r + 64, c : c + 64] += x["a"][number]
    return dense[:rows, : s["K"]] @ x["x"]


@loops
def bsr_matmul(x, s, p):
    return {"z": assembled(x, s, 64 * s["R"], lambda n: np.searchsorted(x["row_ptr"], n, "right") - 1)}


@loops
def coo_matmul(x, s, p):
    return {"z": assembled(x, s, s["M"], lambda n: x["row"][n])}


@loops
def frames_energy(x, s, p):
    starts = range(0, len(x["x"]) - 399, 160)
    return {"energy": np.array([sum(v * v for v in x["x"][a : a + 400]) for a in starts])}


@loops
def mandelbrot(x, s, p):
    count = np.zeros((s["H"], s["W"]), np.int32)
    for h, w in np.ndindex(count.shape):
        c, z = complex(x["x0"] + x["step"] * w, x["y0"] + x["step"] * h), 0j
        while count[h, w] < p["limit"] and z.real * z.real + z.imag * z.imag <= 4:
            z, count[h, w] = z * z + c, count[h, w] + 1
    return {"count": count}


@loops
def dropout(x, s, p):
    kept = np.zeros((s["M"], s["N"]), bool)
    for m, n in np.ndindex(kept.shape):
        kept[m, n] = (scalar_philox(x["seed"], m * s["N"] + n) >> 8) / 2**24 >= x["rate"]
    return {"kept": kept, "y": kept * x["x"] / (1 - x["rate"])}


def scalar_philox(seed, counter):
    mask = 0xFFFFFFFF
    key = [seed & mask, (seed >> 32) & mask]
    word = [counter & mask, counter >> 32, 0, 0]
    for _ in range(10):
        a, b = word[0] * 0xD2511F53, word[2] * 0xCD9E8D57
        word = [b >> 32 ^ word[1] ^ key[0], b & mask, a >> 32 ^ word[3] ^ key[1], a & mask]
        key = [key[0] + 0x9E3779B9 & mask, key[1] + 0xBB67AE85 & mask]
    return word[0]


@loops
def iota(x, s, p):
    return {"z": np.array(list(range(s["N"])), np.int32)}


@loops
def sgd_momentum(x, s, p):
    velocity = x["momentum"] * x["old_velocity"] + x["gradient"]
    return {"velocity": velocity, "weight": x["old_weight"] - x["rate"] * velocity}


@loops
def muladd(x, s, p):
    return {"z": np.array([a * b + x["c"] for a, b in zip(x["a"], x["b"])])}


@loops
def add_vectors(x, s, p):
    return {"z": np.array([a + b for a, b in zip(x["x"], x["y"])])}


@loops
def convert(x, s, p):
    if p["U"] == "i8":
        return {"y": np.array([max(-128, min(127, int(a))) for a in x["x"]], np.int8)}
    return {"y": np.array([float(a) for a in x["x"]])}


@loops
def quantize(x, s, p):
    low, high = (0, 255) if p["Q"] == "u8" else (-128, 127)
    shifted = [float(np.float32(a) / np.float32(x["scale"])) for a in x["x"]]
    return {"q": np.array([max(low, min(high, round(a) + x["zero"])) for a in shifted], np.int64)}


@loops
def dequantize(x, s, p):
    result = np.zeros(x["q"].shape)
    for n, c in np.ndindex(result.shape):
        result[n, c] = (int(x["q"][n, c]) - int(x["zero"][c])) * x["scale"][c]
    return {"x": result}


@loops
def boxes_to_planes(x, s, p):
    rows = list(zip(*x["boxes"])) if s["N"] else [[]] * 4
    return {side: np.array(row) for side, row in zip(("left", "top", "right", "bottom"), rows)}


@loops
def rope(x, s, p):
    r, y = s["R"], np.zeros(x["x"].shape)
    for b, t, h, i in np.ndindex(s["B"], s["S"], s["H"], r):
        turned = complex(x["x"][b, t, h, i], x["x"][b, t, h, r + i]) * complex(x["cosine"][t, i], x["sine"][t, i])
        y[b, t, h, i], y[b, t, h, r + i] = turned.real, turned.imag
    return {"y": y}


@loops
def box_measures(x, s, p):
    def measure(a, b):
        overlap = max(min(a[2], b[2]) - max(a[0], b[0]), 0) * max(min(a[3], b[3]) - max(a[1], b[1]), 0)
        iou = overlap / max((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - overlap, 1e-7)
        if p["measure"] == "intersection_over_union":
            return iou
        diagonal = (max(a[2], b[2]) - min(a[0], b[0])) ** 2 + (max(a[3], b[3]) - min(a[1], b[1])) ** 2
        centres = ((a[0] + a[2] - b[0] - b[2]) / 2) ** 2 + ((a[1] + a[3] - b[1] - b[3]) / 2) ** 2
        iou_left = iou - centres / max(diagonal, 1e-7)
        if p["measure"] == "distance_iou":
            return iou_left
        v = 4 / math.pi**2 * (math.atan2(b[2] - b[0], b[3] - b[1]) - math.atan2(a[2] - a[0], a[3] - a[1])) ** 2
        return iou_left - v * v / max(1 - iou + v, 1e-7)

    return {"result": np.array([measure(a, b) for a, b in zip(x["p"], x["t"])])}


@loops
def embedding(x, s, p):
    v = s["V"]
    return {
        "row": np.array([x["table"][k] if 0 <= k < v else np.zeros(s["D"]) for k in x["token"]]).reshape(s["N"], s["D"])
    }


@loops
def histogram(x, s, p):
    return {"counts": np.array([(x["x"] == k).sum() for k in range(256)])}


@loops
def transpose(x, s, p):
    return {"y": np.einsum("mn->nm", x["x"])}


def by_rows(function, shape, *arrays):
    """What a function of rows gives, stacked."""
    return np.array([function(*rows) for rows in zip(*arrays)]).reshape(shape)


@loops
def log_softmax(x, s, p):
    def row(v):
        return v - math.log(sum(math.exp(e) for e in v)) if len(v) else v

    return {"y": by_rows(row, x["x"].shape, x["x"])}


@loops
def rms_norm(x, s, p):
    def row(v):
        return v / math.sqrt(sum(e * e for e in v) / len(v) + p["eps"]) * x["gamma"] if len(v) else v

    return {"y": by_rows(row, x["x"].shape, x["x"])}


def standardised(values, eps):
    return (values - np.average(values)) / math.sqrt(np.var(values) + eps) if values.size else values


@loops
def instance_norm(x, s, p):
    y = np.zeros(x["x"].shape)
    for b, c in np.ndindex(s["B"], s["C"]):
        gamma, beta = (1 if x["gamma"] is None else x["gamma"][c]), (0 if x["beta"] is None else x["beta"][c])
        y[b, c] = standardised(x["x"][b, c], p["eps"]) * gamma + beta
    return {"y": y}


@loops
def batch_norm(x, s, p):
    y, momentum = np.zeros(x["x"].shape), x["momentum"]
    stats = np.full((2, s["C"]), np.nan)
    for c in range(s["C"]):
        values = x["x"][:, c]
        y[:, c] = standardised(values, p["eps"]) * x["gamma"][c] + x["beta"][c]
        if values.size:
            stats[:, c] = np.average(values), np.var(values)
    old = np.array([x["old_mean"], x["old_variance"]])
    running = (1 - momentum) * old + momentum * stats
    names = ("batch_mean", "batch_variance", "running_mean", "running_variance")
    return {"y": y, **dict(zip(names, (*stats, *running)))}


@loops
def batch_norm_inference(x, s, p):
    y = np.zeros(x["x"].shape)
    for c in range(s["C"]):
        scale = x["gamma"][c] / math.sqrt(x["running_variance"][c] + p["eps"])
        y[:, c] = x["x"][:, c] * scale + (x["beta"][c] - x["running_mean"][c] * scale)
    return {"y": y}


@loops
def normalize(x, s, p):
    order = {"l1": 1, "l2": 2, "largest": np.inf}[p["length"]]
    return {"y": by_rows(lambda v: v / max(np.linalg.norm(v, order), p["eps"]) if v.size else v, x["x"].shape, x["x"])}


@loops
def normalize_frobenius(x, s, p):
    length = math.sqrt(math.fsum(v * v for v in x["x"].flat))
    return {"frobenius": length, "y": x["x"] / max(length, p["eps"])}


@loops
def softmax_backward(x, s, p):
    def row(y, d_y):
        return (np.diag(y) - np.outer(y, y)) @ d_y  # by the matrix of all derivatives

    return {"d_x": by_rows(row, x["y"].shape, x["y"], x["d_y"])}


@loops
def log_softmax_backward(x, s, p):
    def row(y, d_y):
        return (np.eye(y.size) - np.exp(y)[:, None]) @ d_y

    return {"d_x": by_rows(row, x["y"].shape, x["y"], x["d_y"])}


@loops
def embedding_backward(x, s, p):
    d_table = np.zeros((s["V"], s["D"]))
    for v in range(s["V"]):
        d_table[v] = sum((row for token, row in zip(x["token"], x["d_row"]) if token == v), np.zeros(s["D"]))
    return {"d_table": d_table}


@loops
def linear_recurrence_backward(x, s, p):
    d_x = np.zeros(x["h"].shape)
    for t in range(s["S"]):  # how much of a step is left at later ones
        left = np.cumprod(x["a"][:, t + 1 :], axis=1, dtype=np.float64)
        d_x[:, t] = x["d_h"][:, t] + (x["d_h"][:, t + 1 :] * left).sum(1)
    d_a = np.zeros(d_x.shape)
    d_a[:, 1:] = d_x[:, 1:] * x["h"][:, :-1]
    return {"d_a": d_a, "d_x": d_x}


def product(x, w):
    """Each number by a dot product of its own."""
    return np.array([[math.fsum(row * column) for column in w.T] for row in x.astype(np.float64)]).reshape(len(x), w.shape[1])


@loops
def mlp(x, s, p):
    gelu = np.vectorize(lambda v: 0.5 * v * math.erfc(-v / math.sqrt(2)), otypes=[np.float64])
    return {"z": product(gelu(product(x["x"], x["w1"]) + x["b1"]), x["w2"]) + x["b2"]}


@loops
def gated_mlp(x, s, p):
    gate = product(x["x"], x["gate"])
    return {"z": product(gate / (1 + np.exp(-gate)) * product(x["x"], x["up"]), x["down"])}


@loops
def matmul_softmax(x, s, p):
    powers = [[math.exp(v - max(row)) for v in row] for row in product(x["x"], x["w"])]
    return {"p": np.array([[e / math.fsum(row) for e in row] for row in powers]).reshape(s["M"], s["N"])}


@loops
def linear_norm(x, s, p):
    v = product(x["x"], x["w"].T) + x["residual"]
    scale = [1 / math.sqrt(np.mean(row * row) + p["eps"]) if s["N"] else 1.0 for row in v]
    return {"y": v * np.array(scale).reshape(-1, 1) * x["gamma"]}


@loops
def linear(x, s, p):
    return {"z": product(x["x"], x["w"].T) + x["bias"]}


@loops
def linear_int8(x, s, p):
    weights = (x["w"].astype(np.float64) - x["zero"][:, None]) * x["scale"][:, None]
    return {"z": product(x["x"], weights.T)}


@loops
def lora(x, s, p):
    return {"z": product(x["x"], x["w"].T) + float(x["alpha"]) * product(product(x["x"], x["down"].T), x["up"].T)}


@loops
def matmul_tn(x, s, p):
    return {"z": product(x["x"].T, x["y"])}


@loops
def matmul_tt(x, s, p):
    return {"z": product(x["x"].T, x["y"].T)}


@loops
def matmul_triangular(x, s, p):
    left, right = x["x"].astype(np.float64), x["y"].astype(np.float64)
    rows = [[math.fsum(row[: m + 1] * column[: m + 1]) for column in right.T] for m, row in enumerate(left)]
    return {"z": np.array(rows).reshape(s["M"], s["N"])}


@loops
def matmul_chain(x, s, p):
    return {"z": product(product(x["x"], x["y"]), x["w"])}


@loops
def gram(x, s, p):
    return {"z": product(x["x"], x["x"].T)}


@loops
def bilinear(x, s, p):
    left, right = x["x"].astype(np.float64), x["y"].astype(np.float64)
    forms = [[a @ w @ b for w in x["w"].astype(np.float64)] for a, b in zip(left, right)]
    return {"z": np.array(forms).reshape(s["M"], s["N"])}


@loops
def nearest_distance(x, s, p):
    points, centres = x["x"].astype(np.float64), x["centre"].astype(np.float64)
    least = [min((float(((a - b) ** 2).sum()) for b in centres), default=math.inf) for a in points]
    return {"distance": np.array(least).reshape(s["M"])}


@loops
def rms_norm_backward(x, s, p):
    n = s["N"]

    def normalised(v):
        return v / math.sqrt(sum(e * e for e in v) / n + p["eps"]) if n else v

    def row(v, d_y):
        if not n:
            return v
        normal = normalised(v)
        derivatives = (np.eye(n) - np.outer(normal, normal) / n) / math.sqrt(np.mean(v * v) + p["eps"])
        return derivatives @ (d_y * x["gamma"])

    normal = by_rows(normalised, x["x"].shape, x["x"])
    d_gamma = (normal * x["d_y"]).reshape(-1, n).sum(0) if n else np.zeros(0)
    return {"d_x": by_rows(row, x["x"].shape, x["x"], x["d_y"]), "d_gamma": d_gamma}


@loops
def layer_norm_backward(x, s, p):
    n = s["N"]

    def row(v, d_y):
        if not n:
            return v
        normal = standardised(v, p["eps"])
        derivatives = (np.eye(n) - 1 / n - np.outer(normal, normal) / n) / math.sqrt(np.var(v) + p["eps"])
        return derivatives @ (d_y * x["gamma"])

    normal = by_rows(lambda v: standardised(v, p["eps"]), x["x"].shape, x["x"])
    d_gamma = np.einsum("mn,mn->n", normal, x["d_y"])
    return {
        "d_x": by_rows(row, x["x"].shape, x["x"], x["d_y"]),
        "d_gamma": d_gamma,
        "d_beta": np.einsum("mn->n", x["d_y"]),
    }


def with_mean(losses):
    return {"loss": np.array(losses), "mean_loss": math.fsum(losses) / max(len(losses), 1)}


@loops
def mse_loss(x, s, p):
    return {"loss": math.fsum((a - b) ** 2 for a, b in zip(x["prediction"], x["target"])) / max(s["N"], 1)}


@loops
def huber_loss(x, s, p):
    def loss(a, b):  # the part beyond delta has the slope delta
        e = abs(a - b)
        return min(e, x["delta"]) ** 2 / 2 + x["delta"] * max(e - x["delta"], 0)

    return with_mean([loss(a, b) for a, b in zip(x["prediction"], x["target"])])


@loops
def kl_divergence(x, s, p):
    def loss(prediction, target):
        return math.fsum(t * math.log(t) - t * q for q, t in zip(prediction, target) if t > 0)

    return with_mean([loss(a, b) for a, b in zip(x["prediction"], x["target"])])


@loops
def hinge_loss(x, s, p):
    def loss(score, target):
        return math.fsum(max(p["margin"] + e - score[target], 0) for v, e in enumerate(score) if v != target)

    return with_mean([loss(a, b) for a, b in zip(x["score"], x["target"])])


@loops
def triplet_loss(x, s, p):
    rows = zip(x["anchor"], x["positive"], x["negative"])
    return with_mean([max(math.dist(a, b) - math.dist(a, c) + p["margin"], 0) for a, b, c in rows])


@loops
def cosine_similarity(x, s, p):
    def cosine(a, b):
        return math.fsum(a * b) / max(math.hypot(*a) * math.hypot(*b), p["eps"])

    return {"similarity": np.array([cosine(a, b) for a, b in zip(x["x"], x["y"])])}


@loops
def logsumexp(x, s, p):
    return {"y": np.array([np.logaddexp.reduce(row) for row in x["x"]])}


@loops
def argmin(x, s, p):
    order = lambda v: (not math.isnan(v), v)  # noqa: E731
    position = [min(range(len(row)), key=lambda n: order(row[n]), default=-1) for row in x["x"]]
    value = [row[n] if len(row) else math.inf for row, n in zip(x["x"], position)]
    return {"position": np.array(position, np.int64), "value": np.array(value)}


@loops
def top1(x, s, p):
    best = [max(range(len(row)), key=lambda v: row[v], default=-1) for row in x["score"]]
    sums = [math.fsum(map(math.exp, row)) for row in x["score"]]
    share = [math.exp(row[v]) / total if len(row) else math.inf for row, v, total in zip(x["score"], best, sums)]
    return {"best": np.array(best, np.int64), "probability": np.array(share)}


@loops
def mean_variance(x, s, p):
    def moments(row):
        return (math.fsum(row) / len(row), math.fsum(row * row) / len(row) - (math.fsum(row) / len(row)) ** 2)

    rows = [moments(row) if len(row) else (math.nan, math.nan) for row in x["x"]]
    return dict(zip(("row_mean", "row_variance"), np.array(rows).reshape(s["M"], 2).T))


@loops
def segment_sum(x, s, p):
    rows = [sum(x["x"][a:b], np.zeros(s["D"])) for a, b in zip(x["start"][:-1], x["start"][1:])]
    return {"y": np.array(rows).reshape(s["B"], s["D"])}


@loops
def segment_sum_by_id(x, s, p):
    chosen = [[e for e, n in zip(x["x"], x["id"]) if n == b] for b in range(s["B"])]
    return {"y": np.array([sum(rows, np.zeros(s["D"])) for rows in chosen]).reshape(s["B"], s["D"])}


@loops
def quantize_rows(x, s, p):
    scale = np.array([np.float32(max(map(abs, row), default=0)) / np.float32(127) for row in x["x"]], np.float32)
    q = [round(float(np.float32(v) / a)) if a else 0 for row, a in zip(x["x"], scale) for v in row]
    return {"scale": scale, "q": np.array(q, np.int64).reshape(x["x"].shape)}


@loops
def row_sum(x, s, p):
    return {"total": np.array([math.fsum(row) for row in x["x"]])}


@loops
def column_sum(x, s, p):
    return {"total": np.array([math.fsum(column) for column in x["x"].T])}


@loops
def running(x, s, p):
    y = np.zeros(x["x"].shape, x["x"].dtype)
    wrapped = (lambda v: v) if y.dtype.kind == "f" else (lambda v: (v + 2**31) % 2**32 - 2**31)  # noqa: E731
    for m, row in enumerate(x["x"].tolist()):
        start, step = {
            "cummax": (-math.inf, max),
            "cumsum": (0, lambda a, b: wrapped(a + b)),
            "cumprod": (1, lambda a, b: wrapped(a * b)),
        }[p["form"].split("_")[0]]
        state = start
        for n in range(s["N"])[:: -1 if "reverse" in p["form"] else 1]:
            before, state = state, step(state, row[n])
            y[m, n] = before if p["form"].endswith("exclusive") else state
    return {"y": y}


def pool_loop(x, size, before, function):
    y = np.zeros(x.shape[:2] + tuple((n + 2 * before - size) // 2 + 1 for n in x.shape[2:]))
    for at in np.ndindex(y.shape):
        first = [2 * i - before for i in at[2:]]
        y[at] = function(x[at[:2]][tuple(slice(max(i, 0), i + size) for i in first)])
    return {"y": y}


@loops
def average_pool(x, s, p):
    return pool_loop(x["x"], 3, 1, np.average)


@loops
def average_pool_1d(x, s, p):
    return pool_loop(x["x"], 3, 1, np.average)


@loops
def average_pool_3d(x, s, p):
    return pool_loop(x["x"], 2, 0, np.average)


@loops
def max_pool_1d(x, s, p):
    return pool_loop(x["x"], 3, 1, np.max)


@loops
def max_pool_3d(x, s, p):
    return pool_loop(x["x"], 2, 0, np.max)
