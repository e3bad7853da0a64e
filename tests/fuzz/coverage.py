"""What was reached: features of the language, counted by the generator; decisions of the planner, read from plans."""
import re
from collections import Counter

# Decisions of a plan, by the words that --stop-after plan uses.
DECISIONS = {
    "phase of one worker": r"phase \d+: one worker",
    "phase in chunks": r"phase \d+: chunks",
    "work list over 1 loop": r"work list over the first 1 loop\b",
    "work list over several loops": r"work list over the first [2-9] loops",
    "one thread an item": r", a thread an item",
    "one block an item": r", a block an item",
    **{f"kernel: {work}": rf"^ +kernel: {work}\b" for work in
       ("packs", "crosswise", "columns", "warps", "row", "team", "points", "rounds")},
    "several items a thread": r", \d+ a thread where",
    "tiles of a block": r", in tiles of",
    "lanes": r"lanes along",
    "loop in parallel": r"for \w+: parallel",
    "loop that reduces": r"for \w+: reduction",
    "loop in order": r"for \w+: in order",
    "loop downwards": r", downwards",
    "steps in parallel": r"steps \w+: parallel",
    "steps in order": r"steps \w+: in order",
    "branch": r"^ +if ",
    "branch with else": r"^ +else",
    "repeat": r"^ +while ",
    "break": r"^ +break",
    "continue": r"^ +continue",
    "local array": r"^ +array ",
    "scan": r"scan through",
    "scatter that adds": r"\] \+= ",
    "fold with a condition": r" with .* where ",
    **{f"fold: {m}": rf"= identity of {m}$" for m in
       ("sum", "product", "min", "max", "all", "any", "argmax", "argmin")},
    "small array": r": small array",
    "buffer of each worker": r": buffer of each worker",
    "buffer of the kernel": r": buffer of the kernel",
    "several phases": r"^phase 2:",
    "four phases": r"^phase 4:",
}


class Coverage:
    def __init__(self, features):
        self.features = Counter({name: 0 for name in features})
        self.decisions = {"openmp": Counter(), "cuda": Counter()}
        self.refused = Counter()

    def add(self, features, plan):
        for name in features:
            self.features[name] += 1
        for part in re.split(r"^(?=plan for )", plan, flags=re.M):
            target = "cuda" if part.startswith("plan for cuda") else "openmp"
            if part.startswith("plan for "):
                for name, pattern in DECISIONS.items():
                    if re.search(pattern, part, re.M):
                        self.decisions[target][name] += 1

    def never(self):
        out = [f"feature: {name}" for name, count in sorted(self.features.items()) if count == 0]
        only_cuda = {"one thread an item", "one block an item", "several items a thread", "tiles of a block",
                     *(name for name in DECISIONS if name.startswith("kernel: "))}
        for target, counts in self.decisions.items():
            out += [f"{target}: {name}" for name in DECISIONS
                    if counts[name] == 0 and (target == "cuda" or name not in only_cuda)]
        return out

    def table(self):
        out = ["feature of the language            specs"]
        out += [f"  {name:<34}{count:>6}" for name, count in sorted(self.features.items())]
        out += ["decision of the planner           openmp    cuda"]
        openmp, cuda = self.decisions["openmp"], self.decisions["cuda"]
        out += [f"  {name:<32}{openmp[name]:>8}{cuda[name]:>8}" for name in DECISIONS]
        if self.refused:
            out += ["refused by                         specs"]
            out += [f"  {code:<34}{count:>6}" for code, count in self.refused.most_common()]
        return "\n".join(out)
