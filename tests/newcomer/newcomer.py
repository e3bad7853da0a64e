"""README.md and docs/tutorial.md followed literally, with nothing but a clone: newcomer.py KGEN [--plant | --build]

A clone of the committed tree (with what is changed in the working tree, as the program has that too, but without files
that git does not know), an environment with PATH and a new HOME only. Every ```sh block of the pages is run in order as
it stands, specs are saved as the page says, and where a page shows what comes out, that is compared. A page is left at
its first step that fails. Afterwards no file of the clone may have changed.

README is followed in the clone, the tutorial in an empty folder with `kgen` on the path. Not followed: what LEFT_OUT
names. Nor is the program built again: the clone gets the one that is tested here, in the place where ./kgen looks,
after its build has been configured. --build lets ./kgen install and build as for a newcomer (minutes; not part of
./check). --plant puts mistakes into copies of the pages, and fails unless each is noticed.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
import snippets

PAGES = ["README.md", "docs/tutorial.md"]
LEFT_OUT = {"./check": "it is what runs this test"}
SAVED = re.compile(r"as\s+`(\w+\.toml)`")  # how a page says where a spec is to be saved, in the text before it
NAMED = re.compile(r"under\s+the\s+name\s+of\s+its\s+kernel")  # or once for all specs that follow

PLANTED = [  # page, what it says, what the copy says instead, what must be noticed
    ("README.md", "./kgen specs/giou/planes.toml", "./kgen specs/giou/plane.toml", "exit code"),
    ("README.md", "0.2447", "0.2448", "printed was"),
    ("README.md", "Save it as `softmax.toml`", "Save it", "softmax.toml"),
    ("README.md", "error[KG0408]: the windows", "error[KG0408]: the window", "printed was"),
    ("docs/tutorial.md", "kgen run add_vectors.toml", "kgen run add_vector.toml", "exit code"),
    ("docs/tutorial.md", "int add_vectors_openmp(const float* x", "int add_vectors_openmp(float* x", "does not hold"),
]


class Newcomer(snippets.Page):
    """A page that is followed: like the test of its blocks, but with nothing prepared."""

    def __init__(self, folder, path, home):
        self.folder, self.path, self.home, self.printed = folder, path, home, None
        self.before = set(self.files())

    def files(self):
        return {os.path.join(at, name) for at, _, names in os.walk(self.folder) if ".git" not in at for name in names}

    def run(self, command):
        environment = {"PATH": self.path, "HOME": self.home}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=3600)

    def save(self, content, name):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(content)

    def refused_spec(self, content, code):
        """Nobody is told to save it: it is tried as the page says that it fails."""
        name = re.search(r'^kernel = "(\w+)"', content, re.MULTILINE)[1] + ".toml"
        self.save(content, name)
        done = self.run([shutil.which("kgen", path=self.path) or "./kgen", name, "-o", "refused"])
        self.printed = done.stderr
        return "" if done.returncode == 2 and f"[{code}]" in done.stderr else f"is not refused:\n{done.stderr}"

    def commands(self, content):
        kept = [line for line in content.splitlines() if line.split("#")[0].strip() not in LEFT_OUT]
        return super().commands("\n".join(kept))

    def excerpt(self, content, name):
        made = sorted(path for path in self.files() - self.before if os.path.basename(path) == name)
        return self.excerpt_of(content, made[0]) if made else f"nothing that was done gives {name}"

    def follow(self, text):
        """What is wrong with the first step that fails, as (line, problem), or None; and the number of steps."""
        named, excerpts, steps, line_before = False, [], 0, 0
        lines = text.splitlines()
        for line, language, rest, content in snippets.blocks_of(text):
            prose = "\n".join(lines[line_before : line - 1])
            line_before = line + content.count("\n") + 1
            named = named or NAMED.search(prose) is not None
            problem = ""
            if language == "toml" and not rest:
                said = SAVED.findall(prose)
                kernel = re.search(r'^kernel = "(\w+)"', content, re.MULTILINE)[1] + ".toml"
                if said or named:
                    self.save(content, said[-1] if said else kernel)
            elif language == "cpp" and rest.startswith("from "):
                excerpts.append((line, content, rest.split()[1]))  # what is shown may be made further down
            elif language == "sh":
                problem = self.commands(content)
            elif (language, rest) == ("text", "output"):
                problem = self.output(content)
            elif language == "toml" and rest.startswith("error "):
                problem = self.refused_spec(content, rest.split()[1])
            else:
                continue
            steps += 1
            if problem:
                return (line, problem), steps
        for line, content, name in excerpts:
            if problem := self.excerpt(content, name):
                return (line, problem), steps
        return None, steps


def git(*arguments, folder=".", **more):
    options = {"capture_output": True, "text": True, "errors": "surrogateescape", "check": True}
    return subprocess.run(["git", "-C", folder, *arguments], **options, **more).stdout


def clone_into(folder, kgen, path, home):
    """A clone of what is committed. Unless kgen is None, its build is configured and then holds this program."""
    clone = os.path.join(folder, "clone")
    git("clone", "--quiet", os.path.abspath("."), clone)
    changes = git("diff", "--binary", git("rev-parse", "HEAD", folder=clone).strip())
    if changes:
        print("with changes that are not committed yet", flush=True)
        git("apply", "--index", "-", folder=clone, input=changes)
        author = ("-c", "user.name=newcomer", "-c", "user.email=none")
        git(*author, "commit", "--quiet", "--message", "changes", folder=clone)
    if kgen is None:
        return clone
    build = os.path.join(clone, "build", "release")
    configure = ["cmake", "-S", clone, "-B", build, "-G", "Ninja", "-DKGEN_TESTS=OFF"]
    for command in (configure, ["ninja", "-n", "-C", build, "kgen"]):
        done = subprocess.run(command, env={"PATH": path, "HOME": home}, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"the clone cannot be built: {' '.join(command)}\n{done.stdout}{done.stderr}")
    os.symlink(kgen, os.path.join(build, "kgen"))
    open(os.path.join(build, ".stamp"), "w").close()
    return clone


def follow(clone, page, text, folder, path, home):
    if page == "README.md":
        return Newcomer(clone, path, home).follow(text)
    lesson = tempfile.mkdtemp(dir=folder)
    return Newcomer(lesson, clone + os.pathsep + path, home).follow(text)


def page_text(clone, page):
    with open(os.path.join(clone, page), encoding="utf-8") as file:
        return file.read()


def follow_pages(clone, folder, path, home):
    """The problems of all pages."""
    problems = []
    for page in PAGES:
        failed, steps = follow(clone, page, page_text(clone, page), folder, path, home)
        print(f"{page}: {steps} steps followed", flush=True)
        if failed or steps < 5:
            problems.append(f"{page}:{failed[0]}: {failed[1]}" if failed else f"{page}: hardly any steps found")
    if changed := git("status", "--porcelain", "--untracked-files=no", folder=clone):
        problems.append(f"following the pages has changed files of the clone:\n{changed}")
    return problems


def plant(clone, folder, path, home):
    """Each planted mistake must be noticed, as what it is."""
    problems = []
    for page, old, new, expected in PLANTED:
        text = page_text(clone, page)
        if old not in text:
            problems.append(f"{page} has no `{old}` any more: plant another mistake")
            continue
        git("clean", "-dfq", folder=clone)  # what is ignored stays: the program
        failed, _ = follow(clone, page, text.replace(old, new, 1), folder, path, home)
        if not failed or expected not in failed[1]:
            problems.append(f"not noticed in {page}: `{new}` in place of `{old}`: {failed}")
    print(f"{len(PLANTED) - len(problems)} of {len(PLANTED)} planted mistakes are noticed")
    return problems


def main():
    kgen, options = os.path.abspath(sys.argv[1]), sys.argv[2:]
    path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    folder = tempfile.mkdtemp()
    try:
        home = os.path.join(folder, "home")
        os.mkdir(home)
        clone = clone_into(folder, None if "--build" in options else kgen, path, home)
        problems = (plant if "--plant" in options else follow_pages)(clone, folder, path, home)
    finally:
        shutil.rmtree(folder)
    for command, reason in LEFT_OUT.items():
        print(f"left out: {command}: {reason}")
    if "--build" not in options:
        print("left out: installing packages and compiling (newcomer.py KGEN --build does both)")
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
