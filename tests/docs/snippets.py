"""The code blocks of README.md and docs/*.md, tried with the program: snippets.py KGEN [--update] [PAGE...]

    ```toml                 a whole spec: `kgen generate` takes it
    ```toml fragment        part of one: parsed as TOML only
    ```toml error KG0318    a whole spec that is refused, with this code
    ```text output          what the refused spec above printed, or the commands above
    ```sh run               commands, run in a folder that holds ./kgen, specs/ and every file that was generated before
    ```cpp from NAME        an excerpt of a file that the page's specs or commands wrote; a line `// ...` leaves lines out

Blocks of other kinds are only shown. Runs from the root of the tree. --update writes what was printed into the blocks
that show it; read the difference before you commit it.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

FENCE = re.compile(r"^```(\S*)[ \t]*(.*?)[ \t]*$")
LEFT_OUT = re.compile(r"^\s*// \.\.\.$", re.MULTILINE)
TIMEOUT_S = 300


def blocks_of(text):
    """(line, language, rest of the opening line, content) of each fenced block."""
    found, opened, content = [], None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if opened and line.startswith("```"):
            found.append((*opened, "\n".join(content) + "\n"))
            opened = None
        elif opened:
            content.append(line)
        elif fence:
            opened, content = (number, fence[1], fence[2]), []
    if opened:
        raise ValueError(f"the block of line {opened[0]} is not closed")
    return found


class Page:
    """One page: a folder in which its specs lie and its commands run, and what the last block printed."""

    def __init__(self, kgen, folder):
        self.folder = folder
        self.printed = None
        os.symlink(kgen, os.path.join(folder, "kgen"))
        os.symlink(os.path.abspath("specs"), os.path.join(folder, "specs"))

    def run(self, command):
        environment = os.environ | {"NO_COLOR": "1", "PATH": self.folder + os.pathsep + os.environ["PATH"]}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)

    def generate(self, content):
        name = tomllib.loads(content)["kernel"] + ".toml"
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(content)
        return self.run(["./kgen", "generate", name, "-o", "generated"])

    def spec(self, content):
        done = self.generate(content)
        if done.returncode != 0:
            return f"kgen refuses it (exit code {done.returncode}):\n{done.stderr}"
        return "" if not done.stderr else f"kgen warns:\n{done.stderr}"

    def refused_spec(self, content, code):
        done = self.generate(content)
        self.printed = done.stderr
        if done.returncode == 2 and f"[{code}]" in done.stderr:
            return ""
        return f"should be refused with {code} (exit code {done.returncode}):\n{done.stderr}"

    def commands(self, content):
        done = self.run(["bash", "-euc", content])
        self.printed = done.stdout
        return "" if done.returncode == 0 else f"exit code {done.returncode}:\n{done.stdout}{done.stderr}"

    def output(self, content):
        printed, self.printed = self.printed, None
        if printed is None:
            return "nothing above it was run"
        return "" if printed.split() == content.split() else f"printed was:\n{printed}"

    def excerpt(self, content, name):
        files = glob.glob(os.path.join(self.folder, "generated", "**", name), recursive=True)
        if not files:
            return f"no block above generates {name}"
        return self.excerpt_of(content, files[0])

    def excerpt_of(self, content, path):
        with open(path, encoding="utf-8") as file:
            rest = file.read()
        for piece in LEFT_OUT.split(content):
            piece = piece.strip("\n")
            if piece not in rest:
                return f"{os.path.basename(path)} does not hold, in this order:\n{piece}"
            rest = rest[rest.index(piece) + len(piece):]
        return ""

    def block(self, language, rest, content):
        """What is wrong with the block; empty when nothing is. None: it is only shown."""
        words = rest.split()
        if language == "toml" and not words:
            return self.spec(content)
        if language == "toml" and words == ["fragment"]:
            tomllib.loads(content)
            return ""
        if language == "toml" and words[0] == "error" and len(words) == 2:
            return self.refused_spec(content, words[1])
        if language == "sh" and words == ["run"]:
            return self.commands(content)
        if language == "text" and words == ["output"]:
            return self.output(content)
        if language == "cpp" and words[:1] == ["from"] and len(words) == 2:
            return self.excerpt(content, words[1])
        return f"blocks are not marked `{rest}`" if words else None


def with_block(text, line, printed):
    """The page with what was printed as the content of the block that opens on this line."""
    lines = text.split("\n")
    return "\n".join([*lines[:line], *printed.rstrip("\n").split("\n"), *lines[lines.index("```", line):]])


def update(path, shown):
    """Writes (line, printed) into the page, from its end so that the lines before stay where they are."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for line, printed in reversed(shown):
        text = with_block(text, line, printed)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def check(kgen, path, problems, updates=False):
    with open(path, encoding="utf-8") as file:
        blocks = blocks_of(file.read())
    tried, shown = 0, []
    folder = tempfile.mkdtemp()
    try:
        page = Page(kgen, folder)
        for line, language, rest, content in blocks:
            if updates and (language, rest) == ("text", "output") and page.printed is not None:
                if page.printed.split() != content.split():
                    shown.append((line, page.printed))
                    content = page.printed
            try:
                problem = page.block(language, rest, content)
            except (tomllib.TOMLDecodeError, KeyError, subprocess.TimeoutExpired) as error:
                problem = f"{type(error).__name__}: {error}"
            tried += problem is not None
            if problem:
                problems.append(f"{path}:{line}: {problem}")
    finally:
        shutil.rmtree(folder)
    if shown:
        update(path, shown)
    print(f"{path}: {tried} blocks tried")
    return tried


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    updates = len(arguments) < len(sys.argv) - 1
    kgen, pages = os.path.abspath(arguments[0]), arguments[1:] or ["README.md", *sorted(glob.glob("docs/*.md"))]
    problems = []
    if sum(check(kgen, page, problems, updates) for page in pages) == 0:
        problems.append("no block was tried at all")
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} blocks are wrong")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
