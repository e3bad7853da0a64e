"""kgen takes at most 4 s of processor time for each shipped backward spec: they have the most statements.

    tests/tools/time_of_specs.py KGEN
"""

import pathlib
import subprocess
import sys
import tempfile

from processor_time import seconds_of, used_by

LIMIT = 4.0  # the longest takes 0.7 s on a fast machine, 2.3 s on a slow one


def seconds(kgen, spec, folder):
    command, quietly = (kgen, spec, "-o", folder), {"stdout": subprocess.DEVNULL}
    once = used_by(command, **quietly)
    return once if once <= LIMIT else seconds_of(command, **quietly)


specs = sorted(pathlib.Path("specs").rglob("*_backward.toml"))
with tempfile.TemporaryDirectory() as out:
    late = {spec: took for spec in specs if (took := seconds(sys.argv[1], spec, out)) > LIMIT}
for spec, took in late.items():
    print(f"{spec}: {took:.1f} s of at most {LIMIT} s")
sys.exit(1 if late or not specs else 0)
