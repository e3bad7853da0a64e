"""`kgen grad` of each spec that ships takes at most 200 ms of a processor like the one that ./check's budgets are for.
And what many steps share is planned in time: the gradient of a median of seven neighbours, by a network of minima.

quick.py KGEN [--list]: prints all times
"""
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

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


MEDIAN = """kernel = "median"
inputs.x = "f32[N]"
outputs.y = "f32[N]"
body = '''
float v[7];
for (int i = 0; i < 7; ++i) v[i] = at(x, N = index(N) + i - 3);
for (int i = 0; i < 7; ++i)
  for (int j = 0; j < 6; ++j) {
    float lesser = min(v[j], v[j + 1]), greater = max(v[j], v[j + 1]);
    v[j] = lesser;
    v[j + 1] = greater;
  }
y = v[3];
'''
"""


def median_is_planned(kgen):
    """In 2 GiB; it took 10 and more, and minutes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "median.toml"
        path.write_text(MEDIAN)
        subprocess.run([kgen, "grad", path, "-o", folder], check=True, capture_output=True)
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        done = subprocess.run([kgen, path.with_name("median_backward.toml"), "-o", folder], preexec_fn=limit,
                              capture_output=True, text=True)
        print(done.stderr, end="")
        return done.returncode == 0


def main():
    took = {path: seconds(sys.argv[1], path) for path in sorted((ROOT / "specs").rglob("*.toml")) if is_floating(path)}
    for path, time in took.items():
        if time > MOST or "--list" in sys.argv:
            print(f"{path.relative_to(ROOT)}: {time * 1000:.0f} ms")
    quick = sum(time <= MOST for time in took.values())
    print(f"{quick} of {len(took)} take at most {MOST * 1000:.0f} ms")
    return 0 if took and quick == len(took) and median_is_planned(sys.argv[1]) else 1


if __name__ == "__main__":
    sys.exit(main())
