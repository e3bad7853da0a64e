"""From what a thread executes to what a device would make of it. README.md says how, and how far off it is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    name: str
    multiprocessors: int
    clock_ghz: float
    bandwidth: float       # bytes a second, of memory
    latency_ns: float      # of a load from memory, under load
    shared_bytes: int      # of a multiprocessor
    registers: int = 65536
    warps: int = 64
    blocks: int = 32
    issue: float = 4.0     # warp instructions a clock
    barrier_clocks: float = 40.0
    dependent_clocks: float = 4.5  # between two instructions of one warp, on average

    @property
    def bytes_a_clock(self):
        """Of one multiprocessor's share of memory."""
        return self.bandwidth / self.multiprocessors / (self.clock_ghz * 1e9)


DEVICES = {
    "sm_90": Device("H100 SXM", 132, 1.755, 3.35e12, 600, 228 << 10),
    "sm_80": Device("A100 SXM 40 GB", 108, 1.41, 1.555e12, 600, 164 << 10),
}
REACHABLE = 0.92  # of the speed of memory, by the best copies


def blocks_resident(device, threads, registers, shared):
    """Blocks that a multiprocessor holds at once."""
    warps = -(-threads // 32)
    registers_of_warp = -(-registers * 32 // 256) * 256
    by_registers = device.registers // (registers_of_warp * warps) if registers else device.blocks
    by_shared = device.shared_bytes // (shared + 1024)
    return min(device.blocks, device.warps // warps, by_registers, by_shared)


@dataclass
class Measured:
    """Of one kernel: averages over the threads that were executed."""
    blocks: int
    threads: int
    registers: int
    shared: int
    executed: float       # instructions of a warp, in the life of a block
    barriers: float
    rounds: float         # times that a warp waits for memory
    in_flight: float      # bytes that a thread waits for at once, on average
    most_wide: int        # loads of 16 bytes under way at once
    guesses: int


def predict(device, kernels, bytes_moved):
    """The share of memory speed that launches one after the other reach, and what limits the longest."""
    total, longest = 0.0, (0.0, {})
    for k in kernels:
        resident = max(1, blocks_resident(device, k.threads, k.registers, k.shared))
        warps = -(-k.threads // 32)
        waves = max(1.0, k.blocks / (resident * device.multiprocessors))
        # Clocks for all blocks that one multiprocessor gets, by what could be the limit.
        blocks = k.blocks / device.multiprocessors
        issue = blocks * warps * k.executed / device.issue
        latency = device.latency_ns * device.clock_ghz
        life = k.rounds * latency + k.barriers * device.barrier_clocks + k.executed * device.dependent_clocks
        waiting = waves * life
        memory = bytes_moved / len(kernels) / device.multiprocessors / device.bytes_a_clock / REACHABLE
        # They overlap, but not wholly: the nearer two are, the more each hinders the other.
        clocks = (issue ** 4 + waiting ** 4 + memory ** 4) ** 0.25
        total += clocks
        if clocks > longest[0]:
            limits = {"issue": issue, "latency": waiting, "memory": memory}
            longest = (clocks, {"occupancy": resident * warps / device.warps, "resident": resident,
                                "in_flight_sm": resident * k.threads * k.in_flight,
                                "limit": max(limits, key=limits.get)})
    ideal = bytes_moved / device.multiprocessors / device.bytes_a_clock
    return {"share": ideal / total, **longest[1]}
