"""The maths functions of emitted OpenMP code keep what docs/maths.md promises: errors and special values, on random and
edge arguments; the same bits in every lane, in tails and beside f64. For each compiler and machine that is there.

`--can-fail` plants faults into the functions instead, each of which must be noticed."""
import argparse
import pathlib
import shutil
import sys
import tempfile

import builds

# A text of the templates of maths functions, what stands there instead, and a function that it breaks.
FAULTS = [
    ("0.04166839f", "0.04166f", "exp"),
    ("n, x, -104.0f, 89.0f)", "n, x, -104.0f, 88.0f)", "exp"),
    ("constexpr T kMost = Real<T>::kBias - 2;", "constexpr T kMost = Real<T>::kBias + 1;", "exp"),
    ("return with_sign(log_ends(near, log_sum(f, parts.e)), x)", "return log_ends(near, log_sum(f, parts.e))", "log1p"),
    ("constexpr float kManyTurns = 1048576.0f", "constexpr float kManyTurns = 1e30f", "sin"),
    ("choose(x == T(0), -T(INFINITY)", "choose(x == T(0), T(INFINITY)", "log2"),
    ("choose(size < kAllWhole, whole, size)", "whole", "round"),
    ("whole && round(y * 0.5) != y * 0.5", "whole", "pow"),
    ("choose(bits_of(u) < int64_t(0)", "choose(u < 0.0", "atan2"),
    ("inline Lanes<T, N> rsqrt(Lanes<T, N> x) {",
     "inline Lanes<T, N> rsqrt(Lanes<T, N> x) {\n  x = choose(x == x[N - 1], x * T(2), x);", "rsqrt"),
]


def check(driver, bounds, names, count):
    """What of the promises does not hold, and how many lines were looked at."""
    faults, lines = [], 0
    for words in builds.ask(driver, "sample", count, *names):
        row = builds.Row(words)
        fault = row.fault(bounds)
        lines += 1
        if fault:
            faults.append(f"{row.function} {row.type} {row.build}: {fault}")
    for _, name, type_name, build, differing in builds.ask(driver, "same", count // 8, *names):
        lines += 1
        if differing != "0":
            faults.append(f"{name} {type_name} {build}: {differing} results depend on where the element stands")
    return faults, lines


def notices_faults(bounds, folder):
    """Is each planted fault found?"""
    unseen = 0
    for index, (right, wrong, name) in enumerate(FAULTS):
        templates = folder / f"fault{index}"
        shutil.copytree(builds.ROOT / "templates", templates)
        paths = [templates / source.removeprefix("templates/") for source in builds.SOURCES]
        path = next((path for path in paths if right in path.read_text()), paths[0])
        text = path.read_text()
        if text.count(right) != 1:
            print(f"the maths functions have not one text {right!r} any more: write the fault anew")
            unseen += 1
            continue
        path.write_text(text.replace(right, wrong))
        driver = builds.compile_driver(templates, builds.all_builds()[:1], ("-O1",), templates)
        faults, _ = check(driver, bounds, [name], 40000)
        print(f"{name}: {faults[0] if faults else 'NOT NOTICED: ' + wrong}")
        unseen += not faults
    return unseen == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=150000, help="arguments a function and type")
    parser.add_argument("--can-fail", action="store_true")
    arguments = parser.parse_args()
    bounds = builds.promised()
    names = list(bounds)
    if len(names) < 20:
        print("docs/maths.md has no table that this test can read")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        if arguments.can_fail:
            return 0 if notices_faults(bounds, pathlib.Path(folder)) else 1
        chosen = [build for build in builds.all_builds() if not build[0].endswith("v4")]
        driver = builds.compile_driver(pathlib.Path(folder), chosen)
        faults, lines = check(driver, bounds, names, arguments.count)
    print("\n".join(faults))
    print(f"{lines - len(faults)} lines hold, {len(faults)} do not; builds: {' '.join(name for name, _ in chosen)}")
    return 1 if faults or lines != 4 * len(names) * len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
