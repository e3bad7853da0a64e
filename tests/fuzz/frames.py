"""The table of frames, and whole specs: a frame declares axes, arrays and grid, and asks a Body for the rest."""
import blocks
import elsewhere
import grids
import loops
import orders
import places
import products
import records
import totals
import windows
from frame import Frame

FRAMES = {
    grids.plain: 30, orders.orders: 40, grids.known: 4, grids.rest: 4, grids.split: 4, grids.derived: 4, grids.blocked: 12,
    grids.carried: 16, grids.in_place: 5, grids.in_output: 4, windows.windows: 4, windows.beside_windows: 3,
    windows.overlapping: 4, windows.segments: 4, windows.pages: 2, windows.copies: 2, windows.at_most: 2,
    windows.shifted: 2, windows.overwrites: 3, windows.ragged: 10, windows.partials: 3, windows.blocks_by_table: 3,
    windows.gather: 3, windows.triangular: 3, blocks.gathered_blocks: 4, blocks.blocks_of_no_rows: 3,
    blocks.blocks_that_end: 4, products.products: 12,
    totals.totals: 8, records.records: 8, elsewhere.elsewhere: 6, places.places: 16, loops.loops: 12,
    windows.atomic: 2, windows.few_steps: 3, windows.steps_of_steps: 3}


# Where all that is known of a number comes from its variable: it may be an end of its type.
EXTREME = {grids.plain, orders.orders, grids.rest, grids.split, grids.blocked, grids.carried, grids.in_output}


def random_spec(rng, name, real, only=None):
    """A spec, perhaps of one frame only, and what of the language it uses."""
    frame = Frame(rng, name, real)
    frame.body.extremes = not real and rng.random() < 0.15
    able = {made: weight for made, weight in FRAMES.items() if only in (None, made.__name__)}
    made = rng.choices(list(able), list(able.values()))[0]
    frame.use("frame " + made.__name__)
    frame.body.extremes = frame.body.extremes and made in EXTREME
    if frame.body.extremes:
        frame.use("ends of types")
        for _ in range(rng.choice([1, 2])):
            frame.scalar()
    made(frame)
    spec = frame.finish()
    if frame.batchable and rng.random() < 0.08:
        batch(frame, spec)
    return spec, frame.body.used


def batch(frame, spec):
    """A leading dimension for all outputs and some inputs."""
    arrays = [k.split(".")[1] for k, v in spec.items if k.startswith("outputs.")]
    aliased = [v["alias"] for k, v in spec.items if k.startswith("outputs.") and isinstance(v, dict) and "alias" in v]
    inputs = [k.split(".")[1] for k, v in spec.items if k.startswith("inputs.")]
    arrays += aliased + [x for x in inputs if x not in aliased and frame.rng.random() < 0.6]
    spec.items.insert(0, ["batch.Batch", arrays])
    frame.use("batch")
