"""Mechanical mutations of one line of C++ or of a template: what a slip of the hand would leave behind."""
import re

COMPARE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "*"}
LOGIC = {"&&": "||", "||": "&&"}

# Operators stand between spaces; the brackets of C++ templates and the stars of pointers do not.
OPERATOR = re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||[-+*/%<>])(?= )")
NUMBER = re.compile(r"(?<![\w.\"'#])(\d+)(?![\w.\"'])")
NEGATION = re.compile(r"(?<=[( ])!(?=[\w(])")
# Two plain arguments of a call, or the last two.
PAIR = re.compile(r"(?<=[(\s])([\w.]+(?:\[\w+\])?), ([\w.]+(?:\[\w+\])?)(?=\))")
# What is the same for arguments in another order.
SYMMETRIC = re.compile(r"\b(?:min|max)(?:<\w+>)?\($")
# A call or an assignment that fills its line, so that dropping it leaves well-formed text.
STATEMENT = re.compile(r"^\s+(?:[\w.>\[\]()-]+(?:\([^;{}]*\))?(?:\.\w+\([^;{}]*\))*;|[\w.>\[\]-]+ [-+*|&]?= [^;{}]*;)$")
DECLARATION = re.compile(r"^\s*(return|const|auto|static|using|friend|break|continue|throw|goto|typedef|template|case)\b")


def strings_of(line):
    """The parts of a line that are string or character literals, or comment: left alone."""
    return [m.span() for m in re.finditer(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|//.*$", line)]


def mutations(line):
    """All mutations of a line, as (kind, new line)."""
    if not line.strip() or line.lstrip().startswith(("//", "#", "{{", "*", "template", "KGEN_")):
        return []
    literals = strings_of(line)

    def free(match):
        return not any(begin < match.end() and match.start() < end for begin, end in literals)

    out = []
    for table, kind in ((COMPARE, "comparison"), (ARITHMETIC, "arithmetic"), (LOGIC, "logic")):
        for match in OPERATOR.finditer(line):
            text_joined = match.group(1) == "+" and '"' in line  # strings are not subtracted
            if match.group(1) in table and free(match) and not text_joined:
                out.append((kind, line[:match.start()] + table[match.group(1)] + line[match.end():]))
    for match in NUMBER.finditer(line):
        if free(match):
            out.append(("constant", line[:match.start()] + str(int(match.group(1)) + 1) + line[match.end():]))
    for match in NEGATION.finditer(line):
        if free(match):
            out.append(("negation", line[:match.start()] + line[match.end():]))
    for match in PAIR.finditer(line):
        if free(match) and match.group(1) != match.group(2) and not SYMMETRIC.search(line[:match.start()]):
            out.append(("swapped arguments",
                        line[:match.start()] + f"{match.group(2)}, {match.group(1)}" + line[match.end():]))
    if STATEMENT.match(line) and not DECLARATION.match(line):
        out.append(("dropped statement", line[:len(line) - len(line.lstrip())] + ";"))
    return out
