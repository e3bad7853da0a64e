"""How much there is to read in generated/: budgets of lines. A change that makes kernels longer raises one here, in sight.

Usage: lines.py GENERATED
"""

import pathlib
import re
import sys

# The specs whose files were to shrink to a third when kernels became templates; others came later.
FIRST = {
    "attention": "attention attention_causal attention_online",
    "conv": "average_pool average_pool_1d average_pool_3d conv2d frames_energy max_pool max_pool_1d max_pool_3d",
    "elementwise": "activation add_vectors dropout iota mandelbrot muladd rope",
    "giou": "box_measures loss_conditional loss_padded loss_ragged planes planes_plain planes_unclamped",
    "loss": "cosine_similarity hinge_loss huber_loss kl_divergence mse_loss triplet_loss",
    "matmul": "matmul matmul_activation matmul_batched matmul_bf16 matmul_blocked matmul_halves matmul_int8",
    "memory": "boxes_to_planes convert dequantize embedding quantize quantize_rows sgd_momentum transpose",
    "norm": "batch_norm batch_norm_inference group_norm instance_norm layer_norm layer_norm_backward log_softmax"
            " normalize normalize_frobenius ragged_mean_square rms_norm softmax softmax_backward softmax_channels",
    "reduce": "argmax argmin column_sum cross_entropy histogram logsumexp mean_variance row_sum segment_sum"
              " segment_sum_by_id top1",
    "scan": "cumsum cumsum_columns linear_recurrence prefix_sum running",
    "sparse": "bsr_matmul coo_matmul",
}
TOTAL, OF_FIRST = "all files", "files of the first 78 specs"
MOST = {TOTAL: 82340, OF_FIRST: 38900, "norm/softmax_openmp.cpp": 256, "kgen_openmp.h": 4651, "kgen_cuda.h": 1498}


def is_first(spec):
    family, name = pathlib.PurePosixPath(spec).parts[-2:]
    return name.removesuffix(".toml") in FIRST.get(family, "").split()


def specs_of_files(folder):
    """{file: the spec it was made from}, of the kernels."""
    return dict(re.findall(r'^"([^"]+)" = \{ spec = "([^"]+)"', (folder / "kgen.lock").read_text(), re.MULTILINE))


def main():
    folder = pathlib.Path(sys.argv[1])
    lines = {path.relative_to(folder).as_posix(): path.read_text().count("\n") for path in folder.rglob("*")
             if path.is_file()}
    specs = specs_of_files(folder)
    if len({spec for spec in specs.values() if is_first(spec)}) != len(" ".join(FIRST.values()).split()):
        print("some of the first specs have no files")
        return 1
    total = sum(lines.values())
    lines[OF_FIRST] = sum(count for name, count in lines.items() if name in specs and is_first(specs[name]))
    lines[TOTAL] = total
    over = [f"{name} has {lines[name]} lines, {most} are allowed" for name, most in MOST.items() if lines[name] > most]
    print("\n".join(over) or f"{total} lines")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
