"""The program kgen: the one that the package brings along, or $KGEN_EXECUTABLE."""
import os
import pathlib
import subprocess

from kgen.errors import SpecError


def executable():
    path = os.path.abspath(os.environ.get("KGEN_EXECUTABLE") or pathlib.Path(__file__).with_name("bin") / "kgen")
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"there is no program {path}: name a built kgen in $KGEN_EXECUTABLE")
    return path


def run(*arguments, folder=None):
    """What it prints; a SpecError where it refuses."""
    done = subprocess.run([executable(), *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SpecError(done.stderr.strip())
    return done.stdout
