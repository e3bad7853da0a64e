"""The program kgen: the one that the package brings along, or $KGEN_EXECUTABLE."""
import numbers
import os
import pathlib
import subprocess

from kgen.errors import SpecError

TYPE_NAMES = {"bool": "bool", "bfloat16": "bf16"} | {
    f"{word}{bits}": f"{word[0]}{bits}" for word in ("int", "uint", "float") for bits in (8, 16, 32, 64)}


def executable():
    path = os.path.abspath(os.environ.get("KGEN_EXECUTABLE") or pathlib.Path(__file__).with_name("bin") / "kgen")
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"there is no program {path}: name a built kgen in $KGEN_EXECUTABLE")
    return path


def run(*arguments, folder=None):
    """What it prints; a SpecError where it refuses."""
    done = subprocess.run([executable(), *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    if done.returncode < 0:
        raise SpecError(f"{done.stderr}kgen was ended by signal {-done.returncode}: is there enough memory?")
    if done.returncode != 0:
        raise SpecError(done.stderr.strip())
    return done.stdout


def word(value):
    """A parameter's or a type's value as specs have it. Types of frameworks do, too: "f32" is numpy.float32 and
    torch.float32."""
    if value is None or isinstance(value, (str, numbers.Number)):
        return value if value is None else str(value)
    name = getattr(value, "__name__", str(value)).rpartition(".")[2]
    return TYPE_NAMES.get(name, str(value))
