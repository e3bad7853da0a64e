"""Times functions beside their peers: graphs of calls on rotated buffers, replayed in turn, medians of the replays."""

import math
import statistics

import numpy as np

import data
import peers
from call import arguments, workspace_bytes
from device import Buffer

SAMPLES, FEWEST_SAMPLES = 30, 5
WARM = 2
ENOUGH_MS = 1500  # for all samples of one runner
MAX_SETS = 200
MAX_BYTES = 8 << 30


def sets_needed(device, one_set):
    """So many sets of buffers that none is still in the cache when its turn comes again."""
    wanted = math.ceil(3 * max(device.l2_bytes(), 1) / max(one_set, 1)) + 1
    affordable = int(min(MAX_BYTES, 0.4 * device.c.bench_free_bytes()) // max(one_set, 1))
    return max(1, min(wanted, affordable, MAX_SETS))


class Ours:
    """A generated function, captured once for each set of buffers into one graph."""

    def __init__(self, device, library, function, cases, sizes, contents):
        self.device, self.graph, self.buffers = device, None, []
        self.sets = sets_needed(device, sum(array.nbytes for array in contents.values()))
        first = {name: Buffer(device, array) for name, array in contents.items()}
        self.buffers = [first] + [{n: b.twin() for n, b in first.items()} for _ in range(self.sets - 1)]
        wanted = workspace_bytes(function, library, sizes)
        self.workspace = Buffer(device, np.zeros(wanted, np.uint8)) if wanted > 0 else None
        extra = (device.stream, self.workspace.address if wanted else None, wanted)
        scalars = data.scalars(function, cases)
        call = getattr(library, f"{function.stem}_cuda")
        calls = [arguments(function, buffers, scalars, sizes, (), extra) for buffers in self.buffers]
        self.status = call(*calls[0])
        device.finish()
        if self.status == 0 and device.c.bench_capture_begin() == 0:
            for values in calls:
                self.status = self.status or call(*values)
            self.graph = device.c.bench_capture_end()

    def milliseconds(self):
        return self.device.c.bench_graph_time(self.graph) / self.sets

    def free(self):
        if self.graph:
            self.device.c.bench_graph_free(self.graph)
        for buffers in self.buffers:
            for buffer in buffers.values():
                buffer.free()
        if self.workspace:
            self.workspace.free()


def time_function(device, library, function, cases, sizes, copy_rate):
    """One row of the result: our median and spread, bytes a second, and each peer's median and ratio."""
    row = {"function": function.stem, "sizes": sizes}
    contents = data.arrays(function, cases, sizes, np.random.default_rng(7))
    if contents is None:
        return {**row, "error": "these sizes are not legal"}
    ours = Ours(device, library, function, cases, sizes, contents)
    try:
        if ours.status or not ours.graph:
            return {**row, "error": f"status {ours.status}" if ours.status else "its launches cannot be captured"}
        rivals = peers.prepare(function, contents, data.scalars(function, cases), sizes, ours.sets)
        runners = {"kgen": ours.milliseconds, **{name: r.milliseconds for name, r in rivals.items() if not r.error}}
        warm = [milliseconds() for _ in range(WARM) for milliseconds in runners.values()]
        count = min(SAMPLES, max(FEWEST_SAMPLES, int(ENOUGH_MS / (max(warm) * ours.sets))))
        samples = {name: [] for name in runners}
        for _ in range(count):
            for name, milliseconds in runners.items():
                samples[name].append(milliseconds())
        device.finish()
        return {**row, **summary(function, cases, sizes, ours.sets, samples, rivals, copy_rate)}
    finally:
        ours.free()


def summary(function, cases, sizes, sets, samples, rivals, copy_rate):
    median = statistics.median(samples["kgen"])
    quartiles = statistics.quantiles(samples["kgen"], n=4)
    row = {"milliseconds": median, "spread": (quartiles[2] - quartiles[0]) / median, "sets": sets}
    row["samples"] = len(samples["kgen"])
    row["bytes"] = data.bytes_of(function, sizes)
    row["gigabytes_per_second"] = row["bytes"] / median / 1e6
    row["of_copy"] = row["gigabytes_per_second"] / copy_rate
    flops = cases.of(function, "flops")
    if flops:
        row["teraflops"] = data.evaluate(flops, sizes) / median / 1e9
    row["peers"] = {}
    for name, rival in rivals.items():
        if rival.error:
            row["peers"][name] = {"error": rival.error}
        else:
            peer = statistics.median(samples[name])
            row["peers"][name] = {"milliseconds": peer, "ratio": peer / median, "captured": bool(rival.graph)}
    return row


def time_sizes(function, cases):
    """What cases.json says under `time`, else one size that fills a good part of the device."""
    given = cases.of(function, "time")
    if given:
        return given
    return [data.largest_alike(function, cases, work_cap=1 << 36, byte_cap=1 << 29, odd=0)]
