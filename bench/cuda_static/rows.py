"""The kernels that are looked at: function, sizes, bytes that must move, elements that instructions are counted by."""

SIZES = [(4096, 4096), (8192, 768), (65536, 128)]
BYTES = {"f32": 4, "bf16": 2}


def rows():
    """(name, source, function, sizes, bytes, elements)"""
    for rows, n in SIZES:
        for of, width in BYTES.items():
            all, sizes = rows * n, {"rows": rows, "N": n}
            title = f"{rows}x{n} {of}"
            yield f"softmax {title}", "norm/softmax", f"softmax_{of}", sizes, 2 * all * width, all
            yield f"layer_norm {title}", "norm/layer_norm", f"layer_norm_{of}", sizes, 2 * all * width, all
            yield f"rms_norm {title}", "norm/rms_norm", f"rms_norm_{of}", sizes, 2 * all * width, all
            matrix = {"M": rows, "N": n}
            yield f"row_sum {title}", "reduce/row_sum", f"row_sum_{of}_f32", matrix, all * width, all
            yield f"column_sum {title}", "reduce/column_sum", f"column_sum_{of}_f32", matrix, all * width, all
    for of, width in BYTES.items():
        all = 4096 * 4096
        matrix = {"M": 4096, "N": 4096}
        yield f"transpose 4096x4096 {of}", "memory/transpose", f"transpose_{of}", matrix, 2 * all * width, all
        yield (f"gelu 4096x4096 {of}", "elementwise/activation", f"activation_gelu_{of}", {"rows": 4096, "N": 4096},
               2 * all * width, all)
        yield (f"layer_norm_backward 4096x4096 {of}", "norm/layer_norm_backward", f"layer_norm_backward_{of}", matrix,
               3 * all * width, all)
    all = 4096 * 4096
    yield "cumsum 4096x4096 f32", "scan/running_cumsum", "running_cumsum_f32", {"M": 4096, "N": 4096}, 8 * all, all
    yield "giou_planes 4096x1024 f32", "giou/giou_planes", "giou_planes_f32", {"M": 4096, "N": 1024}, 36 * (1 << 22), 1 << 22
    yield "histogram 2^26 u8", "reduce/histogram", "histogram", {"N": 1 << 26}, 1 << 26, 1 << 26
