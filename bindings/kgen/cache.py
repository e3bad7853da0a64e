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

from kgen.errors import CacheError


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


def key(*parts):
    compiler = shlex.split(os.environ.get("CXX") or "c++")
    everything = [*parts, *compiler, stamp(compiler[0]), os.environ.get("CXXFLAGS", "")]
    return hashlib.sha256("\0".join(f"{len(part)} {part}" for part in everything).encode()).hexdigest()[:32]


@contextlib.contextmanager
def writing():
    try:
        yield
    except OSError as error:
        raise CacheError(f"cannot write to {root()}: {error}; name another folder in $KGEN_CACHE_DIR") from error


@contextlib.contextmanager
def locked(name):
    """One process at a time works on this entry."""
    with writing():
        root().mkdir(parents=True, exist_ok=True)
        lock = open(root() / f"{name}.lock", "w")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def entry(name, make):
    """The folder of this name; where there is none, what `make` writes into an empty one."""
    folder = root() / name
    if folder.is_dir():
        return folder
    with locked(name):
        if folder.is_dir():
            return folder
        for left in root().glob(f"{name}.*.part"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        with writing():
            part = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}.", suffix=".part", dir=root()))
        try:
            make(part)
            with writing():
                os.rename(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return folder
