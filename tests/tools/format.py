"""Every hand-written C++ file is as clang-format leaves it, helpers of emitted code too. What kgen wrote and tests hold
it to (reviewed_*) is laid out by kgen. Usage: format.py CLANG_FORMAT"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import tree

clang_format = sys.argv[1]


def is_unformatted(path):
    return subprocess.run([clang_format, "--dry-run", "-Werror", path], capture_output=True).returncode != 0


paths = [path for path in tree.files() if (tree.is_code(path) or tree.is_helpers(path)) and "/reviewed_" not in path]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    wrong = [path for path, bad in zip(paths, pool.map(is_unformatted, paths)) if bad]
tree.finish(wrong, f"Run: {os.path.basename(clang_format)} -i {' '.join(wrong)}")
