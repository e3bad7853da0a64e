"""Every maths function of emitted OpenMP code compiles with the helpers that it names and no others, as f32 and as f64.

One spec a function and type: a helper that a section of templates/openmp/maths.h needs and does not name is missing then.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ONE = """exp exp2 expm1 log log2 log1p sqrt rsqrt cbrt sin cos tan sinh cosh tanh sigmoid erf erfinv floor ceil round trunc
abs""".split()
CALLS = [f"{name}(x)" for name in ONE] + ["pow(x, y)", "atan2(x, y)", "fma(x, y, x)"]
STRICT = ["-std=c++17", "-fopenmp", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]

SPEC = """kernel = "{name}"
inputs.x = "{type}[N]"
inputs.y = "{type}[N]"
outputs.z = "{type}[N]"
body = 'z = {call} + y;'
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kgen", required=True)
    arguments = parser.parse_args()
    compilers = [["g++"], ["g++", "-march=x86-64-v3"]]
    if shutil.which("clang++-19"):
        compilers.append(["clang++-19", "-march=x86-64-v4"])
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for call in CALLS:
            for type_name in ("f32", "f64"):
                name = f"{call.split('(')[0]}_of_{type_name}"
                (root / f"{name}.toml").write_text(SPEC.format(name=name, type=type_name, call=call))
        subprocess.run([arguments.kgen, *map(str, sorted(root.glob("*.toml"))), "--targets", "openmp", "-o", folder],
                       check=True, stdout=subprocess.DEVNULL)
        for index, source in enumerate(sorted(root.glob("*_openmp.cpp"))):
            command = compilers[index // 2 % len(compilers)]  # each function with one compiler: the helpers are the same
            done = subprocess.run([*command, *STRICT, str(source)], capture_output=True, text=True)
            count += 1
            if done.returncode != 0:
                failed += 1
                print("$", *command, source.name)
                print("\n".join(line for line in done.stderr.splitlines() if "error" in line)[:800])
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count != 2 * len(CALLS) else 0


if __name__ == "__main__":
    sys.exit(main())
