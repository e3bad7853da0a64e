"""The table of README.md says what the newest results of bench/cpu/run say: measured.py [--update]

The rows of some workloads, fast and slow ones, from the newest results of each machine; one sentence while there are
none. --update writes them into README.md."""
import glob
import json
import re
import sys

WORKLOADS = ["add 2^24", "giou planes", "softmax", "layer norm", "transpose", "bf16 to f32", "mandelbrot", "matmul"]
RESULTS = "bench/results/cpu-[0-9]*.json"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"


class Results:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            measured = json.load(file)
        self.machine, self.page = measured["machine"], path.removesuffix(".json") + ".md"
        self.rows = {row["workload"]: row for row in measured["results"]}
        for name in WORKLOADS:
            if not any(row.startswith(name) for row in self.rows):
                raise ValueError(f"{path} has no `{name}`: was bench/cpu/run stopped, or called with --only?")

    def name(self):
        return re.sub(r"\(.*?\)| Processor", "", self.machine["cpu"])

    def cells(self, workload):
        if workload not in self.rows:
            return "| | "
        row = self.rows[workload]
        return f"| {row['ours_ms']:.2f} | {row['ratio']:.2f} {row['best_peer']} "


def table(results):
    machine = results[0].machine
    pages = ",\n".join(f"[an {r.name()}]({r.page})" for r in results)
    shown = [row for name in WORKLOADS for row in results[0].rows if row.startswith(name)]
    lines = [
        f"On {machine['threads']} threads of",
        f"{pages}, whose pages have all that is measured;",
        f"{machine['compiler']} {machine['flags']}:",
        "",
        "| workload " + "".join(f"| {r.name()}: ours, ms | ratio to " for r in results) + "|",
        "|---" * (1 + 2 * len(results)) + "|",
    ]
    lines += [f"| {row} " + "".join(r.cells(row) for r in results) + "|" for row in shown]
    return "\n".join(lines) + "\n"


def expected():
    newest = {}
    for path in sorted(glob.glob(RESULTS), reverse=True):
        results = Results(path)
        newest.setdefault(results.name(), results)
    return table(list(newest.values())) if newest else "No results of it are committed yet.\n"


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
