"""Sides that take turns, so that what else a machine does meets all alike."""
import json
import statistics
import sys
import time


def measure(sides, rounds, calls):
    """Microseconds of a call: for each side a list with a number for each round."""
    times = {name: [] for name in sides}
    for function in sides.values():
        function()
    for _ in range(rounds):
        for name, function in sides.items():
            begin = time.perf_counter()
            for _ in range(calls):
                function()
            times[name].append((time.perf_counter() - begin) / calls * 1e6)
    return times


def best(times):
    """Of calls that do next to nothing, the fastest round: the others were disturbed."""
    return {name: min(values) for name, values in times.items()}


def middle(times):
    return {name: statistics.median(values) for name, values in times.items()}


def tell(figures):
    """One line of JSON, which `run` reads."""
    json.dump(figures, sys.stdout)
    print()
