"""Every maths function of emitted OpenMP code compiles with the helpers that it names, as f32 and as f64, and brings no
others: one spec a function and type.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ONE = """exp exp2 expm1 log log2 log1p sqrt rsqrt cbrt sin cos tan sinh cosh tanh sigmoid erf erfinv
floor ceil round trunc abs""".split()
CALLS = [f"{name}(x)" for name in ONE] + ["pow(x, y)", "atan2(x, y)", "fma(x, y, x)"]
# The functions that are printed for the sake of others.
USED = {"tanh_of_f32": "exp", "tanh_of_f64": "expm1", "sigmoid_of_f32": "exp", "sigmoid_of_f64": "exp",
        "rsqrt_of_f32": "sqrt", "rsqrt_of_f64": "sqrt", "erfinv_of_f32": "sqrt",
        "sinh_of_f32": "expm1", "cosh_of_f32": "exp", "pow_of_f32": "round",
        **{f"{f}_of_{t}": "round" for f in ("floor", "ceil", "trunc") for t in ("f32", "f64")}}
IN_DOUBLES = {"cbrt", "sin", "cos", "tan", "sinh", "cosh", "erfinv", "pow", "atan2"}
STRICT = ["-std=c++17", "-fopenmp", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]

SPEC = """kernel = "{name}"
inputs.x = "{type}[N]"
inputs.y = "{type}[N]"
outputs.z = "{type}[N]"
body = 'z = {call} + y;'
"""


def printed(text):
    """The maths functions that a file defines."""
    names = set(re.findall(r"^inline Lanes<\w+, N> (\w+)\(Lanes<", text, re.MULTILINE))
    return names & {call.split("(")[0] for call in CALLS}


def surplus(name, text):
    """What a file has that it does not need."""
    function, type_name = name.split("_of_")
    found = printed(text) - {function, USED.get(name)}
    if type_name == "f32" and function not in IN_DOUBLES and "Lanes<double" in text:
        found.add("f64 vectors")
    return found


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
        subprocess.run([arguments.kgen, *map(str, sorted(root.glob("*.toml"))), "--targets", "openmp", "--standalone", "-o",
                        folder],
                       check=True, stdout=subprocess.DEVNULL)
        for index, source in enumerate(sorted(root.glob("*_openmp.cpp"))):
            command = compilers[index // 2 % len(compilers)]  # one compiler a function: the helpers are the same
            done = subprocess.run([*command, *STRICT, str(source)], capture_output=True, text=True)
            count += 1
            name, text = source.name.removesuffix("_openmp.cpp"), source.read_text()
            if surplus(name, text) or name.split("_of_")[0] not in printed(text) | {"abs"}:
                failed += 1
                print(f"{source.name} prints {', '.join(surplus(name, text)) or 'no vector form'}")
            elif done.returncode != 0:
                failed += 1
                print("$", *command, source.name)
                print("\n".join(line for line in done.stderr.splitlines() if "error" in line)[:800])
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count != 2 * len(CALLS) else 0


if __name__ == "__main__":
    sys.exit(main())
