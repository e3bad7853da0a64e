"""How long `kgen.load` takes for a spec that is in the cache, in a process that has loaded nothing before: load.py KGEN"""
import os
import pathlib
import subprocess
import sys
import tempfile

import turns

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = ROOT / "specs/norm/softmax.toml"
CODE = f"""import time
begin = time.perf_counter()
import kgen
imported = time.perf_counter()
kgen.load({str(SPEC)!r})
print(imported - begin, time.perf_counter() - imported)
"""


def once(environment):
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
    return [float(seconds) * 1e6 for seconds in done.stdout.split()]


def main():
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, KGEN_EXECUTABLE=str(pathlib.Path(sys.argv[1]).resolve()), KGEN_CACHE_DIR=cache,
                           PYTHONPATH=str(ROOT / "bindings"))
        once(environment)
        imports, loads = zip(*(once(environment) for _ in range(30)))
    turns.tell(turns.best({"import kgen": imports, "kgen.load of a cached spec": loads})
               | turns.middle({"kgen.load of a cached spec, median": loads}))


main()
