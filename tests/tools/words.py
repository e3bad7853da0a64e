"""No riddles: turns of phrase that reviewers had to read twice stand nowhere in code, templates, specs, generated text,
messages and docs. Each has beside it what to say in its place."""
import re

import tree

RIDDLES = {
    r"\bhang(s|ing)? (on|together)\b": "depend on, belong together",
    r"\bon which \w+ hangs?\b": "depend on",
    r"\bquestions of others\b": "the tests that other loops need",
    r"\bby other ways\b": "say which",
    r"\bnothing but ask\b": "only prefetch",
    r"\bmade apart\b": "a type, or a function, of its own",
    r"\bdoes the rest\b": "say what: combines what the others found",
}
EXEMPT = ("tests/tools/words.py", "tests/tools/tools_can_fail.py", "bench/results/")  # these name them, or are records

problems = []
for path in tree.files():
    if path.startswith(EXEMPT):
        continue
    text = tree.text(path)
    for riddle, plain in RIDDLES.items():
        for found in re.finditer(riddle.replace(" ", r"(?:\s|//|#|\*)+"), text, re.IGNORECASE):
            line = text.count("\n", 0, found.start()) + 1
            problems.append(f"{path}:{line}: '{' '.join(found[0].split())}': {plain}")
tree.finish(problems, "Say it in plain words.")
