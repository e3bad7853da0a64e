#!/usr/bin/env python3
"""Each row of decisions.def decides something: another legal value gives other text for the spec that is named here.

A row without such a spec, or with one whose text stays the same, goes, or gets another spec.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
KGEN = str(pathlib.Path(sys.argv.pop(1)).resolve())
ROW = re.compile(r"\| `(\w+)` \| [^|]+ \| (\d+) \| (?:.* from )?(\d+) to (\d+) \|")

# By spec: the keys that it shows, each with a value that is not the rule's.
SHOWN_BY = {
    "specs/attention/attention.toml": {"rows_of_part": 64, "rows_for_parts": 1, "product_depth": 1024, "product_columns": 1024},
    "specs/conv/average_pool_1d.toml": {"rounds_again": 1},
    "specs/elementwise/iota.toml": {"chunk": 64, "serial_below_light": 0},
    "specs/matmul/gram.toml": {"sum_block": 64, "product_rows": 1, "serial_below": 0, "array_bytes": 1, "register_bytes": 16},
    "specs/norm/softmax.toml": {"held_bytes": 16},
    "specs/matmul/matmul_softmax.toml": {"tile_blocks": 1, "shared_tile_bytes": 0},
    "specs/memory/transpose.toml": {"turned_part": 64, "wide_tile_columns": 8, "tile_rows": 1},
    "specs/reduce/histogram.toml": {"scatter_elements": 64},
    "specs/scan/cumsum_columns.toml": {"column_rows": 4, "rows_at_once_numbers": 16, "rows_at_once_columns": 1},
    "tests/conformance/specs/atomic_halves.toml": {"deepest_chunk": 1},
    "tests/conformance/specs/bins_of_column_sums.toml": {"enough_items": 2, "share_elements": 1, "scatter_shares": 2, "scatter_rounds": 1, "column_bytes": 2048, "ahead_rows": 0},
    "tests/conformance/specs/columns.toml": {"many_columns": 1},
    "tests/conformance/specs/coordinates.toml": {"reads_again": 1},
    "tests/conformance/specs/counts_of_types.toml": {"deep_fold_chunk": 1},
    "tests/conformance/specs/folds_nested.toml": {"enough_parts": 2, "share_rows": 1},
    "tests/conformance/specs/no_sizes.toml": {"own_rounds": 1},
    "tests/conformance/specs/one_step_found.toml": {"few_rows": 1},
    "tests/conformance/specs/packs_strided.toml": {"ahead_arrays": 1},
    "tests/conformance/specs/points_of_other_axes.toml": {"most_chunks": 1, "fold_chunks": 1},
    "tests/conformance/specs/ragged_trailing.toml": {"column_parts": 1},
    "tests/conformance/specs/read_at_its_best.toml": {"near_bytes": 256, "ahead_row_bytes": 64},
    "tests/conformance/specs/rows_ahead.toml": {"team_blocks": 1},
    "tests/conformance/specs/scans_behind_totals.toml": {"fold_chunk": 1},
    "tests/conformance/specs/shares_of_fixed_sizes.toml": {"share_numbers": 1},
    "tests/conformance/specs/short_ragged_rows.toml": {"flat_row": 8, "flat_operations": 1024},
    "specs/giou/loss_ragged.toml": {"flat_mean": 64, "flat_longest": 64},
    "tests/conformance/specs/sizes_choose_the_sum.toml": {"short_row": 1, "deep_chunk": 1},
    "tests/conformance/specs/square.toml": {"serial_below_tiles": 0, "block_threads": 64},
    "tests/conformance/specs/squares.toml": {"stack_elements": 1},
    "tests/conformance/specs/turned_after_writes.toml": {"tile_columns": 8},
    "tests/conformance/specs/two_ragged.toml": {"turns": 1},
    "tests/conformance/specs/votes_of_rows.toml": {"ahead_bytes": 64},
    "tests/conformance/specs/workspace_names.toml": {"few_columns": 1},
}


def kgen(*arguments):
    return subprocess.run([KGEN, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def rows():
    """Key -> the rule's value, the least and the greatest legal one."""
    found = (ROW.match(line) for line in kgen("reference", "decisions").stdout.splitlines())
    return {row[1]: tuple(map(int, row.groups()[1:])) for row in found if row}


def generated(spec, *decisions):
    with tempfile.TemporaryDirectory(prefix="kgen_decisions_") as folder:
        options = [word for decision in decisions for word in ("--decide", decision)]
        done = kgen(ROOT / spec, "-o", folder, *options)
        assert done.returncode == 0, done.stderr
        return {path.name: path.read_text() for path in pathlib.Path(folder).glob(f"*{pathlib.Path(spec).stem}*")}


class Decisions(unittest.TestCase):
    def test_each_row_decides_something(self):
        table, shown = rows(), {}
        for spec, values in SHOWN_BY.items():
            plain = generated(spec)
            self.assertTrue(plain)
            for key, value in values.items():
                shown[key] = spec
                self.assertNotEqual(plain, generated(spec, f"{key}={value}"), f"{key}={value} changes nothing in {spec}")
        self.assertEqual(set(shown), set(table))

    def test_a_rule_pinned_is_the_rule(self):
        for spec in list(SHOWN_BY)[::6]:
            rules = [f"{key}={rule}" for key, (rule, _, _) in rows().items()]
            self.assertEqual(generated(spec), generated(spec, *rules))

    def test_beyond_its_ends_no_value_is_legal(self):
        for key, (rule, least, most) in rows().items():
            self.assertTrue(least <= rule <= most, key)
            for value in (least - 1, most + 1, "", "x", "1.5"):
                done = kgen("tests/conformance/specs/square.toml", "--decide", f"{key}={value}")
                self.assertEqual(done.returncode, 3, key)
                self.assertIn(f"`{key}` takes ", done.stderr)

    def test_of_one_axis_only(self):
        plan = kgen(ROOT / "specs/scan/cumsum_columns.toml", "--stop-after", "plan", "--decide", "column_rows@M=8").stdout
        self.assertIn("column_rows@M 8 (--decide)", plan)
        other = kgen(ROOT / "specs/scan/cumsum_columns.toml", "--stop-after", "plan", "--decide", "column_rows@N=8").stdout
        self.assertNotIn("column_rows@M 8", other)

    def test_a_plan_says_why_its_numbers_are_what_they_are(self):
        plan = kgen(ROOT / "tests/conformance/specs/pinned_numbers.toml", "--stop-after", "plan", "--decide", "few_rows=8").stdout
        self.assertIn("  share_elements 64 (schedule)\n", plan)
        self.assertIn("  few_rows 8 (--decide)\n", plan)
        self.assertRegex(plan, r"  enough_items \d+ \(rule\)\n")


if __name__ == "__main__":
    unittest.main()
