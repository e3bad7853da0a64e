"""Seconds of a processor like the one that ./check's budgets are for: it compiles little_file.cpp in 5 s, and another is
faster or slower by what it takes for that."""

import os
import pathlib
import resource
import subprocess

LITTLE_FILE = pathlib.Path(__file__).with_name("little_file.cpp")


def used_by(command, **options):
    spent = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before = spent()
    subprocess.run(command, **{"check": True, **options})
    return spent() - before


def seconds_of(command, **options):
    """The least of three runs of each, in turns, so that what else the machine does counts little."""
    little = ("g++", "-std=c++20", "-O2", "-c", LITTLE_FILE, "-o", os.devnull)
    usual, taken = map(min, zip(*((used_by(little), used_by(command, **options)) for _ in range(3))))
    return taken * 5 / usual
