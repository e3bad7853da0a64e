"""Writes what a run found: all of it as JSON, and a page for people."""

import json
import subprocess
import time
from pathlib import Path


def describe_machine():
    """The device as its driver names it; empty words where nothing answers."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,memory.total", "--format=csv,noheader"]
    try:
        reply = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
    except FileNotFoundError:
        reply = []
    values = [value.strip() for value in reply[0].split(",")] if reply else [""] * 4
    return dict(zip(("device", "driver", "sm_clock", "memory"), values))


def with_earlier(result, path):
    """What a run of the same day on the same device found in the steps that this one left out, or did not come to."""
    earlier = json.loads(path.read_text()) if path.exists() else {}
    if any(earlier.get(key) != result[key] for key in ("machine", "arch", "compiler")):
        return result
    timed = {(row["function"], str(row["sizes"])) for row in result["times"]}
    rest = [row for row in earlier["times"] if (row["function"], str(row["sizes"])) not in timed]
    return {
        **result,
        "checks": earlier["checks"] | result["checks"],
        "sanitizer": earlier["sanitizer"] | result["sanitizer"],
        "times": rest + result["times"],
    }


def write(folder, result):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / f"gpu-{time.strftime('%Y-%m-%d')}"
    result = with_earlier(result, base.with_suffix(".json"))
    base.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
    base.with_suffix(".md").write_text(page(result))
    return base


def page(result):
    machine = result["machine"]
    lines = [
        f"# GPU run of {result['date']} on {machine['device']}",
        "",
        f"Driver {machine['driver']}, {result['compiler']}, compiled for {result['arch']}. Written by `bench/gpu/run`.",
        "Times are medians of graph replays on buffers rotated beyond the L2 cache; a ratio above 1 means faster than",
        "the peer; \"of copy\" is the share of what a copy of 1 GiB on the device moves. Random data: normal floats, see cases.json.",
        "",
        "## Checks against OpenMP",
        "",
        "| function | outcome |",
        "|---|---|",
    ]
    lines += [f"| {name} | {check['text']} |" for name, check in result["checks"].items()]
    lines += ["", "## compute-sanitizer", ""]
    lines += [f"- {tool}: {outcome}" for tool, outcome in result["sanitizer"].items()] or ["- not run"]
    lines += ["", "## Times", "", "| function | sizes | ms | GB/s | of copy | TFLOP/s | peers |", "|---|---|---|---|---|---|---|"]
    lines += [time_line(row) for row in result["times"]]
    return "\n".join(lines) + "\n"


def time_line(row):
    sizes = " ".join(f"{name}={size}" for name, size in row["sizes"].items())
    if "error" in row:
        return f"| {row['function']} | {sizes} | {row['error']} | | | | |"
    flops = f"{row['teraflops']:.1f}" if "teraflops" in row else ""
    peers = "; ".join(peer_text(name, peer) for name, peer in row["peers"].items())
    rate = f"{row['gigabytes_per_second']:.0f}"
    return f"| {row['function']} | {sizes} | {row['milliseconds']:.4g} | {rate} | {row['of_copy']:.2f} | {flops} | {peers} |"


def peer_text(name, peer):
    if "error" in peer:
        return f"{name}: {peer['error']}"
    by_call = "" if peer["captured"] else " (launched call by call)"
    return f"{name} {peer['milliseconds']:.4g} ms{by_call}, ratio {peer['ratio']:.2f}"
