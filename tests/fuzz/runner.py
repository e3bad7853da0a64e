"""Runs kgen on a spec and says how it went: refused, right, or wrong in some way.

A failure has a `kind` that does not change while a spec is cut down: the tool or runner that failed and the first words
of why, without names and numbers.
"""
import os
import pathlib
import re
import shutil
import subprocess

HANG_S = 20          # what kgen itself may take
RUN_S = 240          # one target: compiling and all runs
USUAL_WORK = 20000   # operations of the interpreter in one case; more of them reach longer rows
STRICT = "-Wall -Wextra -Wconversion -Wshadow -Werror"
# g++ loses sight of arrays that unrolled loops fill; CUDA code is for another compiler.
ALSO = {"openmp": "", "cuda_model": " -Wno-maybe-uninitialized"}
TARGETS = ("openmp", "cuda_model")
PLAIN = "-O0"        # what a compiler is asked that ended in a fault of its own
ADDRESSES = "-O1 -fsanitize=address -march=native"  # its library must be there before kgen is
COMPILERS = ("g++", "clang++")


def other_compiler(usual):
    """One that a user may have beside the usual one, if it is here with OpenMP; else nothing."""
    usual = usual or os.environ.get("CXX", "c++")
    version = subprocess.run([*usual.split(), "--version"], capture_output=True, text=True).stdout
    name = COMPILERS[0 if "clang" in version else 1]
    if not shutil.which(name):
        return ""
    made = subprocess.run([name, "-fopenmp", "-shared", "-fPIC", "-x", "c++", "-o", os.devnull, "-"], text=True,
                          capture_output=True, input="#include <omp.h>\nint f() { return omp_get_max_threads(); }\n")
    return name if made.returncode == 0 else ""


class Outcome:
    """`state` is right, refused or failed; `kind` a code of a diagnostic or the kind of a failure."""

    def __init__(self, state, kind="", text="", target=""):
        self.state, self.kind, self.text, self.target = state, kind, text, target


class Runner:
    def __init__(self, kgen, model, library, folder, cxx="", flags="-O1", work=USUAL_WORK, templates="",
                 race_flags=""):
        self.kgen, self.model, self.library, self.work = kgen, model, library, work
        self.cxx, self.flags, self.templates, self.race_flags = cxx, flags, templates, race_flags
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.decisions = []  # of the spec at hand, as behind --decide
        self.cases, self.elements, self.exact, self.undecided = 0, 0, 0, 0
        self.crashes = 0  # of the compiler

    def run(self, command, limit, **environment):
        limit *= max(1, os.getloadavg()[0] / os.cpu_count())  # a busy machine is no hang
        try:
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace",
                                  timeout=limit, env=dict(os.environ, TMPDIR=str(self.folder), **environment))
        except subprocess.TimeoutExpired:
            return None, "", ""
        return done.returncode, done.stdout, done.stderr

    def legal_decisions(self):
        """Key, least and greatest value of each number of a plan."""
        _, page, _ = self.run([self.kgen, "reference", "decisions"], HANG_S)
        return [(row[1], int(row[2]), int(row[3])) for row in
                re.finditer(r"^\| `(\w+)` \| [^|]+ \| \d+ \| (?:.* from )?(\d+) to (\d+) \|", page, re.M)]

    def common(self):
        pinned = [word for decision in self.decisions for word in ("--decide", decision)]
        return pinned + (["--templates", self.templates] if self.templates else [])

    def plan(self, path):
        """The plans as text, or why there are none."""
        code, out, err = self.run([self.kgen, "generate", path, "--stop-after", "plan", *self.common()], HANG_S)
        return out, front_end(code, err)

    def verify(self, path, target, data, seeds=1, plainly=False):
        flags, work, environment = PLAIN if plainly else self.flags, self.work, {}
        if target == "cuda_model":  # which has stacks of its own, and takes its time
            flags, work = flags.replace(ADDRESSES, "-O1") + " " + self.race_flags, min(work, USUAL_WORK)
        elif flags == ADDRESSES:
            environment = {"LD_PRELOAD": self.address_library(), "ASAN_OPTIONS": "detect_leaks=0"}
        command = [self.kgen, "verify", path, "--target", target, "--work", work, "--seeds", seeds, "--data", data,
                   "--cxxflags", f"{flags} {STRICT}{ALSO[target]}", "--model", self.model, "--model-library", self.library]
        if self.cxx:
            command += ["--cxx", self.cxx]
        code, out, err = self.run(command + self.common(), RUN_S, **environment)
        if code == 0:
            self.count(out)
            return Outcome("right", target=target)
        if code == 1 and "internal compiler error" in err and not plainly:
            self.crashes += 1
            print(f"{path.name}, {flags}: the compiler crashed", flush=True)
            return self.verify(path, target, data, seeds, plainly=True)
        if code == 1:
            return Outcome("failed", f"{target}: {kind_of_difference(err)}", err, target)
        if code is None:
            return Outcome("failed", f"{target}: hangs", "more than the time limit", target)
        return front_end(code, err)

    def address_library(self):
        compiler = self.cxx or os.environ.get("CXX", "c++")
        return subprocess.run([*compiler.split(), "-print-file-name=libasan.so"], capture_output=True,
                              text=True).stdout.strip()

    def count(self, out):
        found = re.search(r": (\d+) cases on .*?, (\d+) elements compared, (\d+) of them bit for bit, (\d+) und", out)
        if found:
            cases, elements, exact, undecided = map(int, found.groups())
            self.cases += cases
            self.elements += elements
            self.exact += exact
            self.undecided += undecided

    def whole(self, path, data, seeds=1, targets=TARGETS):
        """Plan, then each target: the first failure, and the text of the plan."""
        text, outcome = self.plan(path)
        if outcome.state != "right":
            return text, outcome
        for target in targets:
            outcome = self.verify(path, target, data, seeds)
            if outcome.state != "right":
                break
        return text, outcome


def front_end(code, err):
    if code == 0:
        return Outcome("right")
    if code == 2:
        codes = re.findall(r"error\[(KG\d+)\]", err)
        return Outcome("refused", codes[0] if codes else "no code", err)
    if code is None:
        return Outcome("failed", "kgen hangs", "")
    first = next((line for line in err.splitlines() if "internal error" in line or "kgen" in line), "")
    return Outcome("failed", f"kgen ends with {code}: {plain(first)}", err)


def kind_of_difference(err):
    if "does not compile" in err:
        found = re.search(r"(?:error|warning): (.*)", err)
        return "does not compile: " + plain(found.group(1) if found else "")
    found = re.search(r"they differ at .*?, seed \d+: (.*)", err, re.S)
    if not found:
        found = re.search(r"they differ at [^:]*: (.*)", err, re.S)
    text = found.group(1) if found else err
    for known in ("the interpreter refuses the reference run only", "the interpreter refuses", "are undecided",
                  "the launcher returned", "has other bits than with the first run", "must be kept", "did not end",
                  "crashed", "the interpreter has", "wrote outside", "changed its input", "ended the process"):
        if known in text:
            return known
    return plain(text)


def plain(text):
    """Without what differs between two specs that fail in one way."""
    text = re.sub(r"[`‘'\"].*?[’`'\"]", "_", text.strip().splitlines()[0] if text.strip() else "")
    return re.sub(r"[-+]?\d[\w.]*", "0", text)[:100]
