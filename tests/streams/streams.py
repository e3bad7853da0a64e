"""Outputs that go around the caches are written as the others are, wherever they lie.

    streams.py --kgen PATH --build FOLDER

Emits each spec twice; the second copy goes around the caches however small its outputs are. streams.cpp compares them.
Built for the baseline and for this machine: the stores differ.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FROM, TO = "kBeyondCaches = 16 << 20;", "kBeyondCaches = 0;"
ONE_SET = ["-DKGEN_NO_AVX2", "-DKGEN_NO_AVX512"]
MACHINES = {"baseline": ONE_SET, "native": ["-march=native"]}  # flags
# What shows that outputs go around the caches.
EXPECTED = {"rows": "for_lines<", "turned": "-into_line(y)", "fields": "pairs_fields, around_caches);"}


def emit(kgen, folder):
    for name, loops in EXPECTED.items():
        spec = HERE / f"{name}.toml"
        around = folder / f"around_{name}.toml"
        around.write_text(spec.read_text().replace(f'kernel = "{name}"', f'kernel = "around_{name}"'))
        command = [str(kgen), str(spec), str(around), "--targets", "openmp", "--standalone", "-o", str(folder)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        source = folder / f"around_{name}_openmp.cpp"
        text = source.read_text()
        if FROM not in text or loops not in text:
            sys.exit(f"FAIL: the outputs of {name} do not go around the caches")
        source.write_text(text.replace(FROM, TO))


def run(folder, machine):
    compiler = [shutil.which("ccache"), "g++"] if shutil.which("ccache") else ["g++"]
    objects = []
    for source in [HERE / "streams.cpp", *sorted(folder.glob("*_openmp.cpp"))]:
        objects.append(str(folder / f"{source.stem}_{machine}.o"))
        flags = ["-std=c++17", "-O2", "-fopenmp", *MACHINES[machine], "-I", str(folder)]
        subprocess.run([*compiler, *flags, "-c", str(source), "-o", objects[-1]], check=True)
    program = folder / f"streams_{machine}"
    subprocess.run(["g++", "-fopenmp", *objects, "-o", str(program)], check=True)
    return subprocess.run([str(program)]).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kgen", required=True, type=lambda p: Path(p).resolve())
    parser.add_argument("--build", required=True, type=lambda p: Path(p).resolve())
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    emit(options.kgen, options.build)
    failed = [machine for machine in MACHINES if run(options.build, machine) != 0]
    print("FAIL on " + " ".join(failed) if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
