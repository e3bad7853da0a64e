"""The library has the derivatives of its functions and of the builtins, as `kgen grad` writes them for choices; and these
agree with differences of the functions.

library.py KGEN           exit code 1: generator/body/prelude/derivatives.body says something else
library.py KGEN --update  writes it
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

KGEN = str(Path(sys.argv[1]).resolve())
PRELUDE = Path(__file__).resolve().parents[2] / "generator/body/prelude"
HEAD = """// The derivatives of the functions of the library and of builtins, as `kgen grad` writes them: what `derivative(f, v)` and
// `derivative(f, 1, a, b)` call. Written by tests/gradients/library.py.

"""
OPERATORS = {"add", "sub", "mul", "div", "neg"}  # are no functions


def functions():
    """(name, number of arguments) of all that take numbers and have a derivative."""
    table = subprocess.run([KGEN, "reference", "derivatives"], capture_output=True, text=True, check=True).stdout
    operations = table.split("| function |")[0]
    arguments = {}
    for name, by in re.findall(r"^\| `(\w+)` \| ([abc]) \|", operations, re.M):
        arguments[name] = max(arguments.get(name, 0), "abc".index(by) + 1)
    out = [(name, count) for name, count in arguments.items() if name not in OPERATORS]
    for name, takes in re.findall(r"^(?:template <class V> V|real) (\w+)\((.*?)\) \{", (PRELUDE / "library.h").read_text(), re.M):
        if "axis" not in takes:
            given = takes.split(", ")
            least = sum("=" not in parameter for parameter in given)
            out += [(name, count) for count in range(least, len(given) + 1)]
    return out


def derivatives(name, count, folder):
    """The text of the functions that `kgen grad` writes for a choice of this function, which must be right."""
    names = [f"x{i}" for i in range(count)]
    inputs = "".join(f'inputs.{x} = "f32[N]"\n' for x in names)
    takes = ", ".join(f"real {x}" for x in names)
    (folder / "k.toml").write_text(f'kernel = "k"\nparams.f = ["{name}", "other"]\n{inputs}outputs.y = "f32[N]"\n'
                                   f"functions = 'real other({takes}) {{ return x0; }}'\n"
                                   f"body = 'y = f({', '.join(names)});'\n")
    subprocess.run([KGEN, "grad", "k.toml", "-o", "."], stdout=subprocess.DEVNULL, cwd=folder, check=True)
    subprocess.run([KGEN, "verify", "--grad", "k.toml", "-D", f"f={name}"], stdout=subprocess.DEVNULL, cwd=folder, check=True)
    text = (folder / "k_backward.toml").read_text()
    return "\n".join(re.findall(rf"^real {name}_derivative.*?^}}\n", text, re.S | re.M))


def main():
    with tempfile.TemporaryDirectory() as folder:
        texts = [derivatives(name, count, Path(folder)) for name, count in functions()]
    text = HEAD + "\n".join(texts)
    path = PRELUDE / "derivatives.body"
    if sys.argv[2:] == ["--update"]:
        path.write_text(text)
    elif path.read_text() != text:
        print(f"{path.name} is not what `kgen grad` writes: run tests/gradients/library.py with --update")
        return 1
    print(f"{len(texts)} functions of the library and builtins have derivatives in it")
    return 0


sys.exit(main())
