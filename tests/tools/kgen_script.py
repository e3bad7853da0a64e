"""./kgen, on a copy of the tree with a stand-in for the program: passes on arguments, folder and exit code, builds when
and only when a source is newer, and adds less than 20 ms."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

LIMIT_MS = 20
BUILT = ["generator", "templates", "cmake"]
PROGRAM = '#!/bin/sh\n[ "$1" = quick ] && exit 0\npwd\nprintf "%s|" "$@"\nexit 7\n'
BUILDER = '#!/bin/sh\necho built >> "$1/log"\ntouch "$1/.stamp"\nexit ${BUILD_RESULT:-0}\n'

os.environ.pop("KGEN_BUILD_DIR", None)  # where the whole tree is built
failures = []


def expect(what, holds):
    if not holds:
        failures.append(what)


def write_script(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def best_ms(command):
    def once():
        start = time.perf_counter()
        subprocess.run(command, check=True)
        return (time.perf_counter() - start) * 1000
    return min(once() for _ in range(15))


with tempfile.TemporaryDirectory() as root:
    root = os.path.realpath(root)
    for name in BUILT:
        if os.path.isdir(name):
            shutil.copytree(name, os.path.join(root, name))
    for name in ("kgen", "CMakeLists.txt"):
        shutil.copy2(name, root)
    write_script(f"{root}/cmake/build.sh", BUILDER)
    write_script(f"{root}/build/release/kgen", PROGRAM)
    kgen, log = f"{root}/kgen", f"{root}/build/release/log"
    builds = lambda: open(log).read().count("built") if os.path.exists(log) else 0

    result = subprocess.run([kgen, "a b", "-D", "x=1"], cwd=tempfile.gettempdir(), capture_output=True, text=True)
    expect("the first call builds", builds() == 1)
    expect("arguments are passed on whole", result.stdout.endswith("a b|-D|x=1|"))
    expect("the caller's folder stays", result.stdout.startswith(os.path.realpath(tempfile.gettempdir()) + "\n"))
    expect("the exit code is passed on", result.returncode == 7)
    subprocess.run([kgen, "quick"])
    expect("a second call does not build", builds() == 1)

    os.symlink(kgen, f"{root}/link")
    subprocess.run([f"{root}/link", "quick"])
    expect("a link to it finds the tree", builds() == 1)
    subprocess.run(["bash", "kgen", "quick"], cwd=root)
    expect("it runs without a folder in its name", builds() == 1)

    script, program = best_ms([kgen, "quick"]), best_ms([f"{root}/build/release/kgen", "quick"])
    print(f"./kgen adds {script - program:.1f} ms")
    expect(f"it adds less than {LIMIT_MS} ms", script - program < LIMIT_MS)

    # Timestamps move in ticks of some milliseconds.
    time.sleep(0.02)
    os.utime(f"{root}/generator/CMakeLists.txt")
    subprocess.run([kgen, "quick"])
    expect("a newer source is built", builds() == 2)
    time.sleep(0.02)
    os.remove(f"{root}/generator/CMakeLists.txt")
    subprocess.run([kgen, "quick"])
    expect("a removed source is noticed", builds() == 3)
    time.sleep(0.02)
    os.utime(f"{root}/CMakeLists.txt")
    failed = subprocess.run([kgen, "quick"], env=os.environ | {"BUILD_RESULT": "1"})
    expect("a failed build runs nothing", failed.returncode == 70)

for failure in failures:
    print(f"./kgen: this does not hold: {failure}")
sys.exit(1 if failures else 0)
