"""What all tree checks share: the list of files, and the way to report. They run from the root of the tree."""
import os
import subprocess
import sys


def files():
    """Paths of all files that are, or could be, committed: sorted, with forward slashes."""
    try:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=True)
        paths = listed.stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):  # no git, or an exported tree
        paths = []
        for folder, below, names in os.walk("."):
            below[:] = [name for name in below if name not in ("build", ".git", "__pycache__")]
            paths += [os.path.relpath(os.path.join(folder, name), ".") for name in names]
    return sorted(p for p in set(paths) if os.path.isfile(p))


def is_code(path):
    """C++ that people write: not emitted files, not goldens."""
    parts = path.split("/")
    return (parts[0] in ("generator", "tests", "bench", "examples") and path.endswith((".h", ".cpp", ".cu", ".cuh"))
            and "kernels" not in parts and not any(part.startswith("golden") for part in parts))


def is_helpers(path):
    """Helper functions of emitted code, which get into it as they stand; not frames, which are no C++."""
    return path.startswith("templates/") and path.endswith(".h") and text(path).startswith("//@ ")


def text(path):
    """The file's text; empty for binary files."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError:
        return ""


def finish(problems, how_to_fix):
    """Prints every problem, then the way out; exits as ctest expects."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"\n{len(problems)} found. {how_to_fix}")
    sys.exit(1 if problems else 0)
