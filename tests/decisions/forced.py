#!/usr/bin/env python3
"""Numbers that choose between forms of a loop, each forced both ways on three specs, against the interpreter.

A spec is a site of such a number if the plan has other loops, conditions or storage with its least legal value than with
its greatest. What an end leaves as the rule has it is not run again: conformance does; and plans that come out the same
are run once. Each row of decisions.def that a target has stands here: with three specs, or with a reason why not.
Usage: forced.py KGEN openmp|cuda_model MODEL_LIBRARY [--only KEY]
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import sys

from least import FLAGS, ROOT, kgen, verify

ENOUGH = 3
ROW = re.compile(r"\| `(\w+)` \| (both|OpenMP|CUDA)\b[^|]* \| [^|]+ \| (?:.* from )?(\d+) to (\d+) \|")
DECIDED = re.compile(r"^  \w+(@\w+)? \S+ \((rule|--decide|schedule)\)\n", re.MULTILINE)

# By target and number: specs that have a site.
FORCED = {
    "openmp": {
        "enough_items": ["totals_of_long_rows"],
        "share_elements": ["shares_of_fixed_sizes", "long_rows", "long_channels"],
        "scatter_elements": ["histogram", "scatter_copies_of_any_length"],
        "near_bytes": ["read_at_its_best", "squares", "softmax"],
        "column_bytes": ["bins_of_column_sums", "cumsum_columns", "squares"],
        "column_parts": ["softmax_channels_backward", "embedding_backward", "softmax_of_many_columns"],
        "column_rows": ["cumsum_columns", "column_sum", "folds_nested"],
        "few_columns": ["workspace_names", "softmax_channels", "lanes_across_parts"],
        "few_rows": ["one_step_found", "in_place", "own_scratch"],
        "rows_of_part": ["max_pool", "average_pool", "attention"],
        "rows_for_parts": ["max_pool", "average_pool", "attention"],
        "short_row": ["sizes_choose_the_sum", "squares", "softmax"],
        "sum_block": ["gram", "sizes_choose_the_sum", "read_at_its_best"],
        "stack_elements": ["squares", "softmax", "log_softmax"],
        "rounds_again": ["average_pool_1d", "average_pool"],
        "reads_again": ["coordinates", "locals_elsewhere"],
        "product_depth": ["attention", "attention_causal", "attention_online"],
        "product_columns": ["attention", "attention_causal", "attention_online"],
        "product_rows": ["gram", "bilinear", "constant_size_in_quotes"],
        "flat_row": ["loss_ragged", "short_ragged_rows", "giou_loss_ragged_backward"],
        "flat_longest": ["loss_ragged", "short_ragged_rows", "giou_loss_ragged_backward"],
        "flat_mean": ["loss_ragged"],
        "flat_operations": ["rows_that_wrap", "segment_sum", "ragged_mean_square"],
        "ahead_rows": ["bins_of_column_sums", "cumsum_columns", "votes_of_rows"],
        "ahead_arrays": ["packs_strided", "muladd", "strided_in_place"],
    },
    "cuda_model": {
        "stack_elements": ["local_arrays_beyond", "arrays_around_scans", "small_axes_on_lanes"],
        "rounds_again": ["average_pool_1d", "average_pool", "no_sizes"],
        "reads_again": ["coordinates", "locals_elsewhere"],
        "own_rounds": ["no_sizes"],
        "many_columns": ["columns", "shared_by_parts", "softmax_of_many_columns"],
        "array_bytes": ["gram", "iota", "packs_strided"],
        "register_bytes": ["gram", "packs_strided", "packs_in_place"],
        "held_bytes": ["softmax", "layer_norm", "rms_norm"],
    },
}

NO_MORE = "no other spec here has a site"
COUNTS = "how many shares or copies there are: the loops over them stay"
CALLS = "compared when a kernel is called: the plan has what either answer needs"
SIZES = "how much is taken at once: the loops stay"
THREADS = "whether threads are started: the loops stay"
NOT_ON_CUDA = "no plan for CUDA here is another with it"

# By target and number: why it has fewer specs.
EXCUSED = {
    "openmp": {
        **dict.fromkeys(["enough_items", "scatter_elements", "rounds_again", "reads_again", "flat_mean"], NO_MORE),
        **dict.fromkeys(["enough_parts", "share_rows", "share_numbers", "scatter_shares", "scatter_rounds"], COUNTS),
        **dict.fromkeys(["rows_at_once_numbers", "rows_at_once_columns", "tile_rows"], CALLS),
        **dict.fromkeys(["chunk", "deep_chunk", "deepest_chunk", "turned_part", "tile_columns", "wide_tile_columns",
                         "most_chunks", "turns", "ahead_row_bytes", "ahead_bytes"], SIZES),
        **dict.fromkeys(["serial_below", "serial_below_light", "serial_below_tiles"], THREADS),
    },
    "cuda_model": {
        **dict.fromkeys(["reads_again", "own_rounds"], NO_MORE),
        **dict.fromkeys(["enough_items", "enough_parts", "share_elements", "share_rows", "share_numbers", "near_bytes"],
                        NOT_ON_CUDA),
        **dict.fromkeys(["shared_tile_bytes"], CALLS),
        **dict.fromkeys(["block_threads", "fold_chunks", "fold_chunk", "deep_fold_chunk", "team_blocks", "tile_blocks"], SIZES),
    },
}


def plan_target(options):
    return "openmp" if options.target == "openmp" else "cuda"


def ends_by_key(options):
    """The numbers that the target has, each with its least and its greatest legal value."""
    found = (ROW.match(line) for line in kgen(options.kgen, "reference", "decisions").stdout.splitlines())
    return {row[1]: (row[3], row[4]) for row in found if row and row[2].lower() in ("both", plan_target(options))}


def wrong_rows(target, keys):
    """What is wrong with the tables themselves."""
    forced, excused = FORCED[target], EXCUSED[target]
    few = [f"{key}: fewer than {ENOUGH} specs, and no reason why" for key in keys
           if len(set(forced.get(key, []))) < ENOUGH and key not in excused]
    idle = [f"{key}: {ENOUGH} specs, and a reason why not" for key in excused if len(set(forced.get(key, []))) >= ENOUGH]
    return few + idle + [f"{key}: is no number of {target}" for key in {*forced, *excused} - set(keys)]


def spec_named(name):
    conformance = ROOT / "tests/conformance/specs" / f"{name}.toml"
    return conformance if conformance.exists() else next((ROOT / "specs").rglob(f"{name}.toml"))


def loops(options, name, *decisions):
    """The plan, but for the list of numbers."""
    done = kgen(options.kgen, spec_named(name), "--stop-after", "plan", "--targets", plan_target(options), *decisions)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return DECIDED.sub("", done.stdout)


def other_plans(options, key, ends, name):
    """What is wrong with a site; and by spec and plan, where that is not the rule's, what to pin for it."""
    pins = [f"{key}={end}" for end in ends]
    rule, *plans = [loops(options, name, *decisions) for decisions in ((), *(("--decide", pin) for pin in pins))]
    if plans[0] == plans[1]:
        return [f"{name}: {key} chooses nothing"], {}
    return [], {(name, plan): pin for pin, plan in zip(pins, plans) if plan != rule}


def run(options, name, pin):
    wrong = verify(options, spec_named(name), "--decide", pin)
    return [f"{name} {pin}: {wrong}"] if wrong else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kgen", type=pathlib.Path)
    parser.add_argument("target", choices=FLAGS)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="KEY")
    options = parser.parse_args()
    ends = ends_by_key(options)
    wrong = wrong_rows(options.target, ends)
    sites = [(key, ends[key], name) for key, names in FORCED[options.target].items() if key in ends and options.only in ("", key)
             for name in names]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda site: other_plans(options, *site), sites))
        runs = {name_and_plan: pin for _, plans in found for name_and_plan, pin in plans.items()}
        said = list(pool.map(lambda item: run(options, item[0][0], item[1]), runs.items()))
    wrong += [line for lines, _ in found for line in lines] + [line for lines in said for line in lines]
    print("\n".join([*wrong, f"{len(sites)} sites, {len(runs)} runs, {len(wrong)} wrong"]))
    return 1 if wrong or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
