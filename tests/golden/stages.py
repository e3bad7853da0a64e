"""What each stage makes of a few specs, as text: tests/golden/stages/SPEC.STAGE.txt. `--update` writes them anew."""

import argparse
import difflib
import pathlib
import subprocess
import sys

SPECS = ("norm/softmax.toml", "matmul/matmul_blocked.toml", "giou/loss_padded.toml", "scan/prefix_sum.toml")
STAGES = ("spec", "body", "ir", "facts", "rewrite", "plan")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = root / "tests/golden/stages"
    folder.mkdir(exist_ok=True)
    passed = failed = 0
    for spec in SPECS:
        for stage in STAGES:
            command = [arguments.kgen, "generate", f"specs/{spec}", "--stop-after", stage]
            run = subprocess.run(command, cwd=root, capture_output=True, text=True)
            golden = folder / f"{pathlib.Path(spec).stem}.{stage}.txt"
            if run.returncode != 0:
                print(f"{spec} --stop-after {stage}: exit code {run.returncode}\n{run.stderr}")
                failed += 1
                continue
            if arguments.update:
                golden.write_text(run.stdout)
            wanted = golden.read_text() if golden.exists() else ""
            if run.stdout == wanted:
                passed += 1
                continue
            failed += 1
            difference = difflib.unified_diff(wanted.splitlines(), run.stdout.splitlines(), str(golden.name), "now", lineterm="")
            print("\n".join(list(difference)[:60]))
    if failed:
        print("to accept: tests/golden/stages.py --kgen PATH --update, then review the diff")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
