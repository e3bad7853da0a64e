"""Is the text of each helper header the one that its revision stands for? templates/revisions.txt holds a hash beside
each number, so that no two texts go by one number.

To mend: tests/golden/revisions.py --kgen ./kgen --update, which counts on, then build again.
"""
import argparse
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOOK = ROOT / "templates/revisions.txt"


def hashes(kgen):
    """{header: hash of its text, without the number}"""
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([kgen, ROOT / "specs/elementwise/add_vectors.toml", "-o", folder], check=True,
                       stdout=subprocess.DEVNULL)
        for path in sorted(pathlib.Path(folder).glob("kgen_*.h")):
            text = re.sub(r"(#define KGEN_\w+_REVISION) \d+\n", r"\1\n", path.read_text(), count=1)
            out[path.name] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kgen", required=True)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    found = hashes(pathlib.Path(arguments.kgen).resolve())
    book = {header: (int(number), kept) for header, number, kept in map(str.split, BOOK.read_text().splitlines())}
    if set(found) != set(book) or not found:
        print(f"{BOOK.name} names {sorted(book)}, kgen writes {sorted(found)}")
        return 1
    changed = [header for header in found if found[header] != book[header][1]]
    if arguments.update:
        rows = [f"{header} {book[header][0] + (header in changed)} {found[header]}\n" for header in sorted(book)]
        BOOK.write_text("".join(rows))
        return 0
    for header in changed:
        print(f"{header} has another text than revision {book[header][0]}")
    if changed:
        print("to mend: tests/golden/revisions.py --kgen ./kgen --update, then build again")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
