"""The table of README.md says what the newest results of bench/cpu/run say: measured.py [--update]

The rows of some workloads, fast and slow ones, from the newest bench/results/cpu-<date>.json; one sentence while there
is none. --update writes them into README.md."""
import glob
import json
import sys

WORKLOADS = ["add 2^24", "giou planes", "softmax", "layer norm", "transpose", "bf16 to f32", "mandelbrot", "matmul"]
RESULTS = "bench/results/cpu-[0-9]*.json"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"


def table(path):
    with open(path, encoding="utf-8") as file:
        measured = json.load(file)
    machine, rows = measured["machine"], []
    for name in WORKLOADS:
        found = [r for r in measured["results"] if r["workload"].startswith(name)]
        if not found:
            raise ValueError(f"{path} has no `{name}`: was bench/cpu/run stopped, or called with --only?")
        rows += found
    page = path.removesuffix(".json") + ".md"
    lines = [
        f"On {machine['threads']} threads of an {machine['cpu']}, {machine['compiler']} {machine['flags']}; from",
        f"[{page}]({page}), which has all that is measured:",
        "",
        "| workload | ours ms | fastest other, ms | ratio |",
        "|---|---|---|---|",
    ]
    for row in rows:
        other = f"{row['best_peer']} {row['peers_ms'][row['best_peer']]:.2f}"
        lines.append(f"| {row['workload']} | {row['ours_ms']:.2f} | {other} | {row['ratio']:.2f} |")
    return "\n".join(lines) + "\n"


def expected():
    newest = max(glob.glob(RESULTS), default=None)
    return table(newest) if newest else "No results of it are committed yet.\n"


def with_table(page, text):
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return page[:begin] + text + page[end:]


def main():
    with open("README.md", encoding="utf-8") as file:
        page = file.read()
    right = with_table(page, expected())
    if "--update" in sys.argv[1:]:
        with open("README.md", "w", encoding="utf-8") as file:
            file.write(right)
    elif right != page:
        print("README.md does not say what the newest results say: python3 tests/docs/measured.py --update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
