"""What a compiler said of the same text before: remembered by all that it read, in the user's cache, as ccache does for
objects. For checks that compile and throw away what comes out."""
import hashlib
import json
import os
import pathlib
import subprocess

PLACE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "kgen/tests"


def version_of(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout


def key_of(*parts):
    """`parts` are texts, or the paths of files."""
    key = hashlib.sha256()
    for part in parts:
        key.update(b"\0" + (part.read_bytes() if isinstance(part, pathlib.Path) else part.encode()))
    return key.hexdigest()


def remembered(key, find, keep):
    """What `find()` gave for this key, or gives now; kept where `keep(result)`."""
    path = PLACE / f"{key}.json"
    if path.exists():
        return json.loads(path.read_text())
    result = find()
    if keep(result):
        PLACE.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(result))
        new.rename(path)
    return json.loads(json.dumps(result))
