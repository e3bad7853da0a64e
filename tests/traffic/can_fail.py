"""Plants faults in a copy of one emitted file; traffic.py must report each.

    can_fail.py --build FOLDER
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
from traffic import cannot_run  # noqa: E402

FAMILY, KERNEL, FUNCTION = "loss", "mse_loss", "mse_loss_f32_f32"

CALL = r"^(  if \(memory.status == 0\) )(mse_loss<.*>\(.*\);)$"

# What is changed in the file, and what must be said of it; the first one changes nothing.
FAULTS = {
    "nothing": (r"\A", "", None),
    "double_read": (CALL, r"\1{ \2 \2 }", "times its floor, may move"),
    "no_work": (CALL, "", "which cannot be"),
    "wrong_statement": (r"must move: 8 \* N read", "must move: 4 * N read", "bytes read and written, its arrays have"),
    "no_statement": (r"^// Bytes that .*\n", "", "says no bytes"),
}


def attempt(folder, name):
    """None, or how the fault went unnoticed."""
    pattern, instead, expected = FAULTS[name]
    place = folder / name / FAMILY
    place.mkdir(parents=True, exist_ok=True)
    source = ROOT / "generated" / FAMILY / f"{KERNEL}_openmp.cpp"
    shutil.copy(source.with_name(f"{KERNEL}.h"), place)
    shutil.copy(ROOT / "generated/kgen_openmp.h", place.parent)
    text, changes = re.subn(pattern, instead, source.read_text(), flags=re.M)
    if changes != 1:
        return f"could be planted at {changes} places"
    (place / source.name).write_text(text)
    command = [sys.executable, str(HERE / "traffic.py"), "--build", str(folder / name / "build")]
    command += ["--generated", str(folder / name), "--only", FUNCTION]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    output = done.stdout + done.stderr
    if expected is None:
        return None if done.returncode == 0 else output[-2000:]
    return None if done.returncode == 1 and expected in output else f"`{expected}` not reported, but:\n{output[-2000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    folder = parser.parse_args().build.resolve()
    if problem := cannot_run():
        print(f"SKIP: {problem}")
        return 77
    problems = {name: attempt(folder, name) for name in FAULTS}
    for name, problem in problems.items():
        print(f"{name}: {'as expected' if problem is None else problem}")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
