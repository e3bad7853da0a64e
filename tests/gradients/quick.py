"""`kgen grad` of each spec that ships takes at most 200 ms of a processor like the one that ./check's budgets are for.

quick.py KGEN [--list]: prints all times
"""
import subprocess
import sys
import tempfile

from differences import ROOT, is_floating

sys.path.insert(0, str(ROOT / "tests/tools"))
from processor_time import seconds_of, used_by  # noqa: E402

MOST = 0.2


def seconds(kgen, path):
    with tempfile.TemporaryDirectory() as folder:
        command = (kgen, "grad", path, "-o", folder)
        how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": False}  # some are refused
        once = used_by(command, **how)
        return once if once <= MOST else seconds_of(command, **how)


def main():
    took = {path: seconds(sys.argv[1], path) for path in sorted((ROOT / "specs").rglob("*.toml")) if is_floating(path)}
    for path, time in took.items():
        if time > MOST or "--list" in sys.argv:
            print(f"{path.relative_to(ROOT)}: {time * 1000:.0f} ms")
    quick = sum(time <= MOST for time in took.values())
    print(f"{quick} of {len(took)} take at most {MOST * 1000:.0f} ms")
    return 0 if took and quick == len(took) else 1


if __name__ == "__main__":
    sys.exit(main())
