"""Where generated and compiled kernels are kept: a folder for each spec, as it is with all that decides what it gives.

A folder gets its name when it is whole, and libraries theirs likewise, under a lock: whatever is interrupted leaves
nothing that anybody would load.
"""
import contextlib
import fcntl
import hashlib
import os
import pathlib
import shlex
import shutil
import tempfile

from kgen.errors import CacheError, CompileError


def root():
    """Absolute, for programs with other working folders get paths in it."""
    if given := os.environ.get("KGEN_CACHE_DIR"):
        return pathlib.Path(given).absolute()
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache").absolute() / "kgen"


def stamp(program):
    """Changes with the program: asking each for its version would take longer than all else."""
    path = os.path.realpath(shutil.which(program) or program)
    with contextlib.suppress(OSError):
        status = os.stat(path)
        return f"{path} {status.st_size} {status.st_mtime_ns}"
    return path


def compiler():
    """The words of $CXX; a CompileError where they, or those of $CXXFLAGS, cannot be told."""
    words = {}
    for variable, usual in (("CXX", "c++"), ("CXXFLAGS", "")):
        text = os.environ.get(variable) or usual
        try:
            words[variable] = shlex.split(text)
        except ValueError as error:
            raise CompileError(f"${variable} cannot be read, {text!r}: {error}") from None
    if not words["CXX"]:
        raise CompileError("$CXX names no compiler: it is blank")
    return words["CXX"]


def key(*parts):
    programs = [stamp(word) for word in compiler() if shutil.which(word)]  # of "ccache g++" both
    everything = [*parts, os.environ.get("CXX", ""), os.environ.get("CXXFLAGS", ""), *programs]
    return hashlib.sha256("\0".join(f"{len(part)} {part}" for part in everything).encode()).hexdigest()[:32]


@contextlib.contextmanager
def used():
    """What is done in the cache: where the system refuses it, the exception names the way out."""
    try:
        yield
    except OSError as error:
        raise CacheError(f"cannot use {root()}: {error}; name another folder in $KGEN_CACHE_DIR") from error


@contextlib.contextmanager
def whole(folder):
    """What needs an entry to be as it was made: where it is not, the exception names the way out."""
    try:
        yield
    except (OSError, ImportError, LookupError, StopIteration, SyntaxError, UnicodeError) as error:
        if isinstance(error, PermissionError):
            raise
        raise CacheError(f"{folder} is damaged: {error}; remove that folder, and load the kernel again") from error


@contextlib.contextmanager
def locked(name):
    """One process at a time works on this entry."""
    with used():
        root().mkdir(parents=True, exist_ok=True)
        lock = open(root() / f"{name}.lock", "w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def entry(name, make):
    """The folder of this name; where there is none, what `make` writes into an empty one."""
    folder = root() / name
    with used():
        if folder.is_dir():
            return folder
    with locked(name):
        if folder.is_dir():
            return folder
        for left in root().glob(f"{name}.*.part"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        with used():
            part = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}.", suffix=".part", dir=root()))
        try:
            make(part)
            with used():
                os.rename(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return folder
