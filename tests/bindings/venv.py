"""Runs a script with the Python packages that tests of bindings need: venv.py BUILD_FOLDER SCRIPT ARGUMENT...

They are installed once a build folder, into BUILD_FOLDER/bindings_venv, and again when requirements.txt changes; a
Python that has them already can be named in $KGEN_BINDINGS_PYTHON. Exits 77, for a skipped test, where they cannot be
had.
"""
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).with_name("requirements.txt")


def installed(build):
    """The Python of the folder, made if it is missing or older than what it should hold; None after a message."""
    folder = build / "bindings_venv"
    python, done = folder / "bin/python", folder / "requirements.txt"
    with open(build / "bindings_venv.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists() and done.read_text() == REQUIREMENTS.read_text():
            return python
        shutil.rmtree(folder, ignore_errors=True)
        for command in ([sys.executable, "-m", "venv", folder],
                        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS]):
            made = subprocess.run(command, capture_output=True, text=True)
            if made.returncode != 0:
                print(f"skipped: {' '.join(map(str, command))} failed, perhaps for want of a network:\n{made.stderr}")
                return None
        shutil.copy(REQUIREMENTS, done)
        return python


def main():
    build, script = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    python = os.environ.get("KGEN_BINDINGS_PYTHON") or installed(build)
    if python is None:
        sys.exit(77)
    os.execv(python, [str(python), *script])


main()
