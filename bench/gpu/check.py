"""Holds the CUDA functions to the OpenMP ones: edge sizes, large sizes, null optional operands, unaligned pointers."""

from dataclasses import dataclass, field

import numpy as np

import data
from call import HostBuffer, arguments, workspace_bytes
from device import Buffer
from interface import ARRAYS

TOLERANCE = {"f64": 1e-10, "f32": 3e-5, "f16": 4e-3, "bf16": 3e-2}


@dataclass
class Verdict:
    """What came of all calls of one function."""

    compared: int = 0
    refused: int = 0
    worst: float = 0.0
    failures: list = field(default_factory=list)

    def ok(self):
        return not self.failures and self.compared > 0

    def text(self):
        if self.failures:
            return f"FAIL {self.failures[0]}" + (
                f" (and {len(self.failures) - 1} more)" if len(self.failures) > 1 else ""
            )
        if not self.compared:
            return f"FAIL all {self.refused} sizes were refused: give sizes in cases.json"
        return f"ok, {self.compared} calls, largest error {self.worst:.2g}, {self.refused} sizes refused"


def difference(got, want, argument, tolerance):
    """The largest error in units of the data's scale, and the share of elements beyond the tolerance."""
    if argument.type not in data.FLOATS:
        wrong = got != want
        return float(wrong.any()), float(wrong.mean()) if wrong.size else 0.0
    a, b = data.widen(got, argument.type), data.widen(want, argument.type)
    finite = np.isfinite(a) & np.isfinite(b)
    wrong = ~finite & ~((a == b) | (np.isnan(a) & np.isnan(b)))
    with np.errstate(invalid="ignore"):
        error = np.where(finite, np.abs(a - b), 0.0)
    good = np.abs(b[finite])
    scale = np.abs(np.where(finite, b, 0.0)) + (float(np.sqrt(np.mean(good * good))) if good.size else 0.0)
    relative = error / np.where(scale > 0, scale, 1.0)
    wrong |= relative > tolerance
    return float(relative.max(initial=0.0)), float(wrong.mean()) if wrong.size else 0.0


def place(sizes, left_out, shift):
    notes = [f"{name}={size}" for name, size in sizes.items()]
    notes += [f"without {name}" for name in left_out] + (["unaligned"] if shift else [])
    return ", ".join(notes)


class Checker:
    def __init__(self, device, libraries, cases, seed=1):
        self.device, self.libraries, self.cases, self.seed = device, libraries, cases, seed

    def run(self, function, sizes_list):
        verdict = Verdict()
        optional = [argument.name for argument in function.of_kind(*ARRAYS) if argument.optional]
        for turn, sizes in enumerate(sizes_list):
            left_out = optional if turn % 2 else []
            self.one(function, sizes, left_out, turn % 3 == 2, turn, verdict)
        return verdict

    def one(self, function, sizes, left_out, shifted, turn, verdict):
        contents = data.arrays(function, self.cases, sizes, np.random.default_rng([self.seed, turn]))
        if contents is None:
            verdict.refused += 1
            return
        where = place(sizes, left_out, shifted)
        host_status, host = self.on_host(function, contents, sizes, left_out)
        device_status, on_device = self.on_device(function, contents, sizes, left_out, shifted)
        if bool(host_status) != bool(device_status):
            verdict.failures.append(f"status {device_status} on the device, {host_status} on the host at {where}")
        elif host_status:
            verdict.refused += 1
        else:
            verdict.compared += 1
            self.compare(function, host, on_device, left_out, where, verdict)

    def on_host(self, function, contents, sizes, left_out):
        buffers = {name: HostBuffer(array) for name, array in contents.items()}
        values = arguments(function, buffers, data.scalars(function, self.cases), sizes, left_out)
        status = getattr(self.libraries["openmp"], f"{function.stem}_openmp")(*values)
        return status, {name: buffer.read() for name, buffer in buffers.items()}

    def on_device(self, function, contents, sizes, left_out, shifted):
        library, device = self.libraries["cuda"], self.device
        buffers = {name: Buffer(device, array, array.itemsize if shifted else 0) for name, array in contents.items()}
        wanted = workspace_bytes(function, library, sizes)
        workspace = Buffer(device, np.full(wanted, 0xFF, np.uint8)) if wanted > 0 else None
        try:
            extra = (device.stream, workspace.address if workspace else None, wanted if workspace else 0)
            values = arguments(function, buffers, data.scalars(function, self.cases), sizes, left_out, extra)
            status = getattr(library, f"{function.stem}_cuda")(*values)
            device.finish()
            results = {name: buffer.read() for name, buffer in buffers.items()}
            if workspace:
                results["workspace"] = workspace.read()
            return status, results
        finally:
            for buffer in [*buffers.values(), *([workspace] if workspace else [])]:
                buffer.free()

    def launch(self, function, contents, sizes):
        """One call whose results nobody reads. What the function has to write or to clear itself stays as the device
        hands it out, so that a sanitizer sees a read of it."""
        library, device = self.libraries["cuda"], self.device
        kinds = {argument.name: argument.kind for argument in function.of_kind(*ARRAYS)}
        buffers = {name: Buffer(device, array, fill=kinds[name] != "out") for name, array in contents.items()}
        wanted = workspace_bytes(function, library, sizes)
        workspace = Buffer(device, np.empty(wanted, np.uint8), fill=False) if wanted > 0 else None
        extra = (device.stream, workspace.address if workspace else None, wanted if workspace else 0)
        getattr(library, f"{function.stem}_cuda")(
            *arguments(function, buffers, data.scalars(function, self.cases), sizes, [], extra)
        )
        device.finish()
        for buffer in [*buffers.values(), *([workspace] if workspace else [])]:
            buffer.free()

    def compare(self, function, host, on_device, left_out, where, verdict):
        for name, (_, guards_stand) in on_device.items():
            if not guards_stand:
                verdict.failures.append(f"{name} was written outside at {where}")
        for argument in function.of_kind(*ARRAYS):
            if argument.name in left_out:
                continue
            (want, _), (got, _) = host[argument.name], on_device[argument.name]
            tolerance = self.cases.of(function, "tolerance") or TOLERANCE.get(argument.type, 0.0)
            error, share = difference(got, want, argument, tolerance)
            verdict.worst = max(verdict.worst, error)
            if share > (self.cases.of(function, "undecided") or 0.0):
                verdict.failures.append(
                    f"{argument.name} differs in {share:.2%} of elements, by {error:.3g}, at {where}"
                )
