"""A grid that goes through an axis by single positions costs nothing: its steps are the positions, and the kernel is the
one without a grid, whatever it does with their numbers. Where the step is more than a position, it stays."""

import re
import unittest

from sandbox import Sandbox

HEAD = 'kernel = "k"\ninputs.x = "f32[N, K]"\ninputs.n = "i32[N]"\noutputs.o = "f32[N]"\n'
GRID = 'grid.i = { axis = "N", block = 1 }\n'

# A body over the steps i, and the same over positions.
SAME = [
    ("o = i;", "o = index(N);"),
    ("o = index(N);", "o = index(N);"),
    ("real v = i * 2 + n; o = v * v;", "real v = index(N) * 2 + n; o = v * v;"),
    ("o = 0; if (i > 3 && n > 0) o = i;", "o = 0; if (index(N) > 3 && n > 0) o = index(N);"),
    ("o = sum(x * i, K) + at(x, K = i);", "o = sum(x * index(N), K) + at(x, K = index(N));"),
    ("int64_t s = 0; for (int64_t j = 0; j < i % 5; ++j) s += j; o = s;",
     "int64_t s = 0; for (int64_t j = 0; j < index(N) % 5; ++j) s += j; o = s;"),
]
# Here the step is seen as such.
STAYS = [
    ("", "o = last(i) ? 1 : i;"),
    ("", "o = first(i) ? n : n * 2;"),
]


class Steps(Sandbox):
    def emitted(self, name, spec):
        self.write("k.toml", spec)
        self.kgen("k.toml", "-o", name)
        texts = [(self.folder / name / f"k{end}").read_text() for end in (".h", "_openmp.cpp", "_cuda.cu")]
        return [re.sub(r"^//.*\n", "", text, flags=re.M) for text in texts]  # the header quotes the body

    def test_single_positions_give_the_code_without_a_grid(self):
        for steps, positions in SAME:
            with self.subTest(steps):
                with_grid = self.emitted("a", HEAD + GRID + f"body = '{steps}'\n")
                self.assertEqual(with_grid, self.emitted("b", HEAD + f"body = '{positions}'\n"))

    def test_steps_of_one_position_agree_with_the_interpreter(self):
        dissolved = [("", steps) for steps, _ in SAME]
        for group in (dissolved, STAYS):
            scratch = outputs = text = ""
            for i, (declared, body) in enumerate(group):
                outputs += f'outputs.o{i} = "f32[N]"\n'
                scratch += declared.replace("scratch.t", f"scratch.t{i}")
                text += re.sub(r"\b([svto])\b", rf"\g<1>{i}", body) + "\n"
            head = HEAD.replace('outputs.o = "f32[N]"\n', outputs)
            self.write("all.toml", head + scratch + GRID + f"body = '''\n{text}'''\n")
            self.kgen("verify", "all.toml", "--seeds", "1")


unittest.main()
