"""The commands of examples/README.md, run as they stand in a copy of the folder, print what the page says.

examples_test.py KGEN SECTION
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns("__pycache__", "build", "dist", "*.so", "*.egg-info")


def blocks(section):
    """The commands of a section, and what they print where the page shows it."""
    page = (ROOT / "examples/README.md").read_text()
    text = re.split(r"^## ", page, flags=re.MULTILINE)
    own = next(part for part in text if part.startswith(f"{section}\n"))
    found = {kind: content for kind, content in re.findall(r"^```(\w+)\n(.*?)^```$", own, re.MULTILINE | re.DOTALL)}
    return found["sh"], found.get("text")


def run(kgen, commands, folder):
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=LEFT_OUT)
    (folder / "specs").symlink_to(ROOT / "specs")
    (folder / "bin").mkdir()
    (folder / "bin/kgen").symlink_to(kgen)
    python = folder / "bin/python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    environment = dict(os.environ, PATH=f"{folder / 'bin'}:{os.environ['PATH']}", PYTHONPATH=str(ROOT / "bindings"),
                       KGEN_EXECUTABLE=str(kgen), KGEN_CACHE_DIR=str(folder / "cache"), CXXFLAGS="-O1", NVCC="")
    return subprocess.run(["bash", "-euc", commands], cwd=folder / "examples", env=environment, capture_output=True,
                          text=True)


def committed_files_differ(folder):
    """Files of the example that commits what kgen writes, which its commands have written anew."""
    files = [path.relative_to(folder) for path in sorted((folder / "examples/product/kernels").iterdir())]
    return [str(file) for file in files if (folder / file).read_bytes() != (ROOT / file).read_bytes()]


def main():
    kgen, section = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    commands, expected = blocks(section)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = run(kgen, commands, folder)
        if done.returncode != 0:
            sys.exit(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        if expected is not None and done.stdout != expected:
            sys.exit(f"examples/README.md shows\n{expected}and this came out:\n{done.stdout}")
        if stale := committed_files_differ(folder):
            sys.exit(f"{', '.join(stale)}: kgen writes another text now; run the first commands of examples/README.md")


main()
