"""Plants faults in a copy of a generated file, one at a time: each must be reported, by the tool meant for it.

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
FAMILY, KERNEL = "elementwise", "add_vectors"

# What a fault does at the end of the function, with `out` the output, `in` an input, `count` their elements; in which
# mode; and what must be said of it. The modes without redzones rely on guards and on comparing numbers of threads.
FAULTS = {
    "nothing": ("address", ";", None),
    "write_behind": ("address", "if (count > 0) out[count] = out[0];", "heap-buffer-overflow"),
    "read_behind": ("address", "if (count > 0) out[0] += 0 * in[count];", "heap-buffer-overflow"),
    "write_before": ("address", "if (count > 0) out[-1] = out[0];", "guard before"),
    "overflow": ("address", "volatile int big = INT32_MAX; big = big + 1;", "signed integer overflow"),
    "no_fault": ("thread", ";", None),
    "race": ("thread", '_Pragma("omp parallel") if (count > 0) out[0] = out[0] + 0;', "data race"),
    "guard": ("thread", "if (count > 0) out[count] = out[0];", "guard behind"),
    "threads": ("thread", "if (count > 0) out[0] = static_cast<float>(omp_get_max_threads());", "threads differ"),
}


def first_function_written_out(text):
    """The file with the first use of the macro for C functions as what it stands for."""
    macro = re.search(r"#define (\w+_FUNCTIONS)\((.*?)\)\s*\\\n((?:.*\\\n)*.*\n)", text)
    use = re.search(rf"^{macro.group(1)}\((.*?)\)\n", text, re.M)
    body = re.sub(r" *\\\n", "\n", macro.group(3))
    for name, argument in zip(macro.group(2).split(", "), use.group(1).split(", ")):
        body = re.sub(rf"(##)?\b{name}\b(##)?|##{name}##", argument, body)
    return text[: use.start()] + body + text[use.end() :]


def plant(text, statement):
    """The file with a statement behind the call in the first launcher."""
    text = first_function_written_out(text)
    pattern = (r'^ *extern "C" int \w+_openmp\(([^\\]*?)\) \{\n'
               r' *BY_SET\((return launch_\w+(?:<[\w, ]*>)?\([^\\]*?\))\)\n')
    launcher = re.search(pattern, text, re.S | re.M)
    pointers = re.findall(r"(const )?float\* (\w+)", launcher.group(1))
    out = next(name for constant, name in pointers if not constant)
    read = next(name for constant, name in pointers if constant)
    size = re.search(r"int64_t (\w+)", launcher.group(1)).group(1)
    names = f"float* const out = {out}; const float* const in = {read}; const int64_t count = {size};"
    planted = f"{{ {names} (void)out; (void)in; (void)count; {statement} }}"
    call = launcher.group(2).replace("return", "const int status =")
    return f"{text[:launcher.start(2)]}{call}; {planted} return status{text[launcher.end(2):]}"


def attempt(folder, name):
    """None, or how the fault went unnoticed."""
    mode, statement, expected = FAULTS[name]
    generated = folder / name / "generated"
    generated.mkdir(parents=True, exist_ok=True)
    source = ROOT / "generated" / FAMILY / f"{KERNEL}_openmp.cpp"
    shutil.copy(source.with_name(f"{KERNEL}.h"), generated)
    shutil.copy(ROOT / "generated/kgen_openmp.h", generated.parent)
    (generated / source.name).write_text(plant(source.read_text(), statement))
    command = [sys.executable, str(HERE / "sanitize.py"), mode, "--generated", str(generated)]
    done = subprocess.run(command + ["--build", str(folder / name)], capture_output=True, text=True, errors="replace")
    output = done.stdout + done.stderr
    if done.returncode == 77:
        return None
    if expected is None:
        return None if done.returncode == 0 else output[-2000:]
    return None if done.returncode == 1 and expected in output else f"`{expected}` not reported, but:\n{output[-2000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    folder = parser.parse_args().build.resolve()
    problems = {name: attempt(folder, name) for name in FAULTS}
    for name, problem in problems.items():
        print(f"{name}: {'as expected' if problem is None else problem}")
    return 1 if any(problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
