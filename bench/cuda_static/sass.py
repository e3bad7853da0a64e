"""Reads what nvdisasm prints of a kernel, and executes it for one thread: integers, addresses and conditions are computed,
what comes from memory is unknown. So loops make the turns that they make on the device, without one."""

import re
import struct
from dataclasses import dataclass, field

MASK = 0xffffffff
LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
LABEL = re.compile(r"^(\.L_x?_?\w+|\$\S+):")
TARGET = re.compile(r"`\(([^)]+)\)")
# First operands that are no result: all of these read only.
READS_ONLY = ("ST", "BRA", "EXIT", "BAR", "BSSY", "BSYNC", "RED", "CALL", "RET", "MEMBAR", "CCTL", "NOP", "YIELD", "WARPSYNC",
              "NANOSLEEP", "ERRBAR", "CGAERRBAR", "UCGABAR", "DEPBAR", "BREAK", "KILL", "BPT", "JMP", "BRX", "LDGDEPBAR",
              "LDGSTS", "ACQBULK", "PREEXIT", "UTMA", "SYNCS", "FENCE", "BMOV", "ARRIVES")


@dataclass
class Instruction:
    address: int
    guard: str
    opcode: str
    operands: list
    target: str = ""

    @property
    def name(self):
        return self.opcode.split(".")[0]

    @property
    def modifiers(self):
        return self.opcode.split(".")[1:]


def split_operands(text):
    out, depth, begin = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign in "[(") - (sign in "])")
        if sign == "," and depth == 0:
            out.append(text[begin:at].strip())
            begin = at + 1
    last = text[begin:].strip()
    return out + [last] if last else out


def read_kernels(text):
    """{name: (instructions, {label: index})} of the output of `nvdisasm -c`."""
    kernels, name, instructions, labels = {}, None, [], {}
    for line in text.splitlines():
        section = re.match(r"\.text\.(\S+):", line)
        if section:
            name, instructions, labels = section[1], [], {}
            kernels[name] = (instructions, labels)
            continue
        if name is None:
            continue
        label = LABEL.match(line)
        if label:
            labels[label[1]] = len(instructions)
        found = LINE.search(line)
        if found:
            target = TARGET.search(found[4])
            operands = [o.replace(".reuse", "") for o in split_operands(TARGET.sub("", found[4]))]
            instructions.append(Instruction(int(found[1], 16), found[2] or "", found[3], [o for o in operands if o],
                                            target[1] if target else ""))
    return kernels


def signed(value, bits=32):
    return value - (1 << bits) if value is not None and value >> (bits - 1) & 1 else value


def float_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def bits_of(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


@dataclass
class Run:
    """What one thread did."""
    executed: int = 0
    barriers: int = 0
    pipes: dict = field(default_factory=dict)     # by name of the instruction
    waits: list = field(default_factory=list)     # bytes under way whenever a loaded value was needed first
    bytes: dict = field(default_factory=lambda: {"load": 0, "store": 0})
    wide: int = 0         # global loads of 16 bytes
    most_wide: int = 0    # of these under way at once
    guesses: int = 0      # branches on values that come from memory


BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def access_bytes(instruction):
    return next((BYTES[m] for m in instruction.modifiers if m in BYTES), 4)


class Thread:
    def __init__(self, kernel, constants, special, most=2_000_000):
        self.instructions, self.labels = kernel
        self.constants, self.special, self.most = constants, special, most
        self.values, self.run = {}, Run()
        self.under_way = []  # (registers, bytes) of loads, oldest first
        self.calls = []

    # ---- operands ----

    def register(self, name, width=1):
        """The value of a register, or of a pair; None: not known."""
        kind, number = re.match(r"(U?R)(\d+|Z)", name).groups()
        if number == "Z":
            return 0
        low = self.values.get(name)
        if width == 1 or low is None:
            return low
        high = self.values.get(f"{kind}{int(number) + 1}")
        return None if high is None else high << 32 | low

    def constant(self, address, size=4):
        data = self.constants[address:address + size]
        return int.from_bytes(data.ljust(size, b"\0"), "little")

    def value(self, text, width=1):
        text = text.strip()
        sign = ""
        while text and text[0] in "-~|":
            sign, text = sign + text[0], text[1:]
        text = text.rstrip("|")
        base = text.split(".")[0]
        if re.fullmatch(r"U?R(\d+|Z)", base):
            out = self.register(base, width)
        elif base in ("SRZ", "URZ"):
            out = 0
        elif re.fullmatch(r"0x[0-9a-f]+", text):
            out = int(text, 16)
            if width == 2 and sign == "" and out >> 31 and out <= MASK:
                out |= MASK << 32 if self.sign_extends else 0
        elif text.startswith("c["):
            address = re.fullmatch(r"c\[0x0\]\[(?:U?RZ|(0x[0-9a-f]+)|(U?R\d+)(?:\+(0x[0-9a-f]+))?)\]", text)
            if not address:
                return None
            at = int(address[1] or "0", 16)
            if address[2]:
                index = self.register(address[2])
                if index is None:
                    return None
                at = index + int(address[3] or "0", 16)
            out = self.constant(at, 4 * width)
        else:
            return None
        limit = MASK if width == 1 else (1 << 64) - 1
        for mark in reversed(sign):
            if out is None:
                return None
            out = -out if mark == "-" else out ^ limit if mark == "~" else abs(signed(out, 32 * width))
            if mark == "-" and out == 0:
                out = limit + 1 if self.counts_carry else 0
        return out if out is None or (self.counts_carry and out == limit + 1) else out & limit

    sign_extends = True
    counts_carry = False

    def predicate(self, text):
        if text.startswith("!"):
            inner = self.predicate(text[1:])
            return None if inner is None else not inner
        return True if text in ("PT", "UPT") else self.values.get(text)

    def set(self, name, value, width=1):
        kind, number = re.match(r"(U?R)(\d+|Z)", name).groups()
        if number == "Z":
            return
        for i in range(width):
            self.values[f"{kind}{int(number) + i}"] = None if value is None else value >> 32 * i & MASK

    def set_predicate(self, name, value):
        if name not in ("PT", "UPT"):
            self.values[name] = value

    # ---- loads under way ----

    def note_reads(self, instruction):
        """A value that a load has yet to bring is waited for; what was asked for before it has come, too."""
        if not self.under_way:
            return
        operands = instruction.operands if instruction.name.startswith(READS_ONLY) else instruction.operands[1:]
        read = set(re.findall(r"\bR\d+", " ".join(operands)))
        if instruction.name.startswith("ST"):  # the value may have several registers
            first = re.fullmatch(r"R(\d+)", instruction.operands[-1])
            if first:
                read |= {f"R{int(first[1]) + i}" for i in range(max(1, access_bytes(instruction) // 4))}
        last = max((i for i, (registers, _) in enumerate(self.under_way) if registers & read), default=-1)
        if last >= 0:
            self.run.waits.append(sum(b for _, b in self.under_way))
            del self.under_way[:last + 1]

    def note_access(self, instruction):
        size = access_bytes(instruction)
        if instruction.name in ("LDG", "LD"):
            first = re.fullmatch(r"R(\d+)", instruction.operands[0])
            registers = {f"R{int(first[1]) + i}" for i in range(max(1, size // 4))} if first else set()
            self.under_way.append((registers, size))
            self.run.bytes["load"] += size
            self.run.wide += size == 16
            self.run.most_wide = max(self.run.most_wide, sum(b == 16 for _, b in self.under_way))
        elif instruction.name in ("STG", "ST"):
            self.run.bytes["store"] += size

    # ---- execution ----

    def execute(self):
        at = 0
        while at < len(self.instructions) and self.run.executed < self.most:
            instruction = self.instructions[at]
            self.run.executed += 1
            self.run.pipes[instruction.name] = self.run.pipes.get(instruction.name, 0) + 1
            guard = self.predicate(instruction.guard) if instruction.guard else True
            self.note_reads(instruction)
            name = instruction.name
            if name in ("BRA", "EXIT", "CALL", "RET"):
                at = self.jump(instruction, guard, at)
                if at is None:
                    return self.run
                continue
            if guard is False:
                at += 1
                continue
            if name == "BAR":
                self.run.barriers += 1
            self.note_access(instruction)
            self.compute(instruction, guard)
            at += 1
        return self.run

    def jump(self, instruction, guard, at):
        """Where it goes on; None: at the end."""
        if instruction.name == "EXIT":
            self.run.guesses += guard is None
            return None if guard else at + 1
        if instruction.name == "RET":
            return self.calls.pop() if self.calls else None
        if "DIV" in instruction.modifiers:  # the threads of the warp are together
            return at + 1
        for operand in instruction.operands:
            if re.fullmatch(r"!?U?P\w+", operand):
                other = self.predicate(operand)
                guard = False if guard is False or other is False else None if guard is None or other is None else True
        if guard is None:  # a rare path, or a loop on what memory holds
            self.run.guesses += 1
            return at + 1
        if not guard:
            return at + 1
        if instruction.name == "CALL":
            self.calls.append(at + 1)
        return self.labels.get(instruction.target, None)

    def compute(self, instruction, guard):
        if instruction.name.startswith(READS_ONLY) or not instruction.operands:
            return
        handler = getattr(self, "do_" + instruction.name.lower(), None) or \
            (getattr(self, "do_" + instruction.name[1:].lower(), None) if instruction.name[0] == "U" else None)
        results = self.results_of(instruction)
        old = {name: self.values.get(name) for name in results}
        try:
            done = handler is not None and handler(instruction.operands, instruction.modifiers) is not False
        except TypeError:  # an operand is not known
            done = False
        if not done:
            for name in results:
                self.values[name] = None
        if guard is None:
            for name in results:
                if self.values.get(name) != old[name]:
                    self.values[name] = None

    def results_of(self, instruction):
        """The registers and predicates that it writes."""
        out, modifiers = [], instruction.modifiers
        width = 4 if "128" in modifiers else 2 if "64" in modifiers or "WIDE" in modifiers or \
            instruction.name in ("DADD", "DMUL", "DFMA") or (instruction.name == "CS2R" and "32" not in modifiers) else 1
        if instruction.name in ("HMMA", "IMMA"):
            width = 4
        for operand in instruction.operands[:3]:
            if re.fullmatch(r"U?P(\d|T)", operand):
                out += [operand] if operand not in ("PT", "UPT") else []
                if instruction.name.endswith("SETP") and len(out) and operand is instruction.operands[1]:
                    break
                continue
            found = re.fullmatch(r"(U?R)(\d+)", operand)
            if found and not instruction.name.endswith(("SETP", "PLOP3")):
                out += [f"{found[1]}{int(found[2]) + i}" for i in range(width)]
                if re.fullmatch(r"(?:U?IADD3|U?LEA|IADD)", instruction.name):  # carries stand behind it
                    out += [o for o in instruction.operands[1:3] if re.fullmatch(r"U?P\d", o)]
            break
        return out

    # Each gives False where it does not know the form; a TypeError where an operand is not known.

    def need(self, value):
        if value is None:
            raise TypeError
        return value

    def all(self, operands, width=1):
        return [self.need(self.value(o, width)) for o in operands]

    def do_mov(self, operands, modifiers):
        self.set(operands[0], self.need(self.value(operands[1])))

    def do_r2ur(self, operands, modifiers):
        self.set(operands[0], self.need(self.value(operands[-1])))

    def do_s2r(self, operands, modifiers):
        self.set(operands[0], self.special.get(operands[1], 0))

    do_s2ur = do_s2r

    def do_cs2r(self, operands, modifiers):
        if operands[1] != "SRZ":
            return False
        self.set(operands[0], 0, 1 if "32" in modifiers else 2)

    def do_ldc(self, operands, modifiers):
        width = 2 if "64" in modifiers else 1
        value = self.need(self.value(operands[1], width))
        self.set(operands[0], value & {"U8": 0xff, "U16": 0xffff}.get(modifiers[0] if modifiers else "", -1), width)

    def do_imad(self, operands, modifiers):
        unsigned = "U32" in modifiers
        if "WIDE" in modifiers or "HI" in modifiers:
            self.sign_extends = not unsigned
            c = self.need(self.value(operands[3], 2))
            self.sign_extends = True
            a, b = self.all(operands[1:3])
            total = (a * b if unsigned else signed(a) * signed(b)) + c
            if "HI" in modifiers:
                self.set(operands[0], total >> 32 & MASK)
            else:
                self.set(operands[0], total & (1 << 64) - 1, 2)
            return None
        a, b, c = self.all(operands[1:4])
        carry = self.need(self.predicate(operands[4])) if "X" in modifiers and len(operands) > 4 else 0
        self.set(operands[0], a * b + c + carry & MASK)

    def do_iadd3(self, operands, modifiers):
        carries = [o for o in operands[1:3] if re.fullmatch(r"U?P(\d|T)", o)]
        rest = operands[1 + len(carries):]
        self.counts_carry = bool(carries)
        try:
            total = sum(self.all(rest[:3]))
        finally:
            self.counts_carry = False
        if "X" in modifiers:
            total += sum(self.need(self.predicate(o)) for o in rest[3:])
        self.set(operands[0], total & MASK)
        if carries:
            self.set_predicate(carries[0], total > MASK)

    def do_viadd(self, operands, modifiers):
        a, b = self.all(operands[1:3])
        self.set(operands[0], a + b & MASK)

    def do_lea(self, operands, modifiers):
        carries = [o for o in operands[1:2] if re.fullmatch(r"U?P(\d|T)", o)]
        rest = operands[1 + len(carries):]
        a, b = self.all(rest[:2])
        if "HI" in modifiers:
            if "SX32" in modifiers:
                high, shift, at = (MASK if a >> 31 else 0), self.need(self.value(rest[2])), 3
            else:
                high, shift, at = self.need(self.value(rest[2])), self.need(self.value(rest[3])), 4
            a = (high << 32 | a) << shift >> 32 & MASK
        else:
            shift, at = self.need(self.value(rest[2])) if len(rest) > 2 else 0, 3
            a = a << shift & MASK
        total = a + b + (self.need(self.predicate(rest[at])) if "X" in modifiers and len(rest) > at else 0)
        self.set(operands[0], total & MASK)
        if carries:
            self.set_predicate(carries[0], total > MASK)

    def do_shf(self, operands, modifiers):
        low, shift, high = self.all(operands[1:4])
        shift &= 63 if "U64" in modifiers or "S64" in modifiers else 31 if "W" in modifiers else 63
        pair = high << 32 | low
        if modifiers[0] == "L":
            out = pair << shift >> 32 if "HI" in modifiers else low << shift
        else:
            value = signed(pair, 64) if "S32" in modifiers or "S64" in modifiers else pair
            out = value >> shift >> 32 if "HI" in modifiers else value >> shift
        self.set(operands[0], out & MASK)

    def do_lop3(self, operands, modifiers):
        predicates = [o for o in operands[:1] if re.fullmatch(r"U?P(\d|T)", o)]
        rest = operands[len(predicates):]
        a, b, c, table = self.all(rest[1:5])
        out = 0
        for i in range(8):
            if table >> i & 1:
                out |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        self.set(rest[0], out & MASK)
        if predicates:
            self.set_predicate(predicates[0], out & MASK != 0)

    def do_plop3(self, operands, modifiers):
        a, b, c = (self.need(self.predicate(o)) for o in operands[2:5])
        for at, name in enumerate(operands[:2]):
            self.set_predicate(name, bool(self.need(self.value(operands[5 + at])) >> (a * 4 + b * 2 + c) & 1))

    def do_sel(self, operands, modifiers):
        chosen = self.need(self.predicate(operands[3]))
        self.set(operands[0], self.need(self.value(operands[1 if chosen else 2])))

    def do_isetp(self, operands, modifiers):
        a, b = self.all(operands[2:4])
        if "U32" not in modifiers:
            a, b = signed(a), signed(b)
        holds = {"EQ": a == b, "NE": a != b, "LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b}[modifiers[0]]
        if "EX" in modifiers:  # the high halves; the last operand tells of the low ones
            lower = self.need(self.predicate(operands[5]))
            if modifiers[0] in ("EQ", "NE"):
                holds = (a == b and lower) if modifiers[0] == "EQ" else (a != b or lower)
            else:
                holds = lower if a == b else (a < b) == (modifiers[0] in ("LT", "LE"))
        other = self.predicate(operands[4])
        if "AND" in modifiers:
            out, not_out = (False if not holds or other is False else other), (False if holds or other is False else other)
        else:
            out, not_out = (True if holds or other else other), (True if not holds or other else other)
        self.set_predicate(operands[0], out)
        self.set_predicate(operands[1], not_out)

    def do_vimnmx(self, operands, modifiers):
        a, b = self.all(operands[1:3])
        least = self.need(self.predicate(operands[3]))
        key = (lambda v: v) if "U32" in modifiers else signed
        self.set(operands[0], min(a, b, key=key) if least else max(a, b, key=key))

    do_imnmx = do_vimnmx

    def do_viaddmnmx(self, operands, modifiers):
        a, b, limit = self.all(operands[1:4])
        least = self.need(self.predicate(operands[4]))
        key = (lambda v: v) if "U32" in modifiers else signed
        self.set(operands[0], min(a + b & MASK, limit, key=key) if least else max(a + b & MASK, limit, key=key))

    def do_iabs(self, operands, modifiers):
        self.set(operands[0], abs(signed(self.need(self.value(operands[1])))) & MASK)

    def do_prmt(self, operands, modifiers):
        a, selector, c = self.all(operands[1:4])
        source, out = c << 32 | a, 0
        for i in range(4):
            nibble = selector >> 4 * i & 15
            byte = source >> 8 * (nibble & 7) & 255
            out |= ((255 if byte >> 7 else 0) if nibble & 8 else byte) << 8 * i
        self.set(operands[0], out)

    def do_popc(self, operands, modifiers):
        self.set(operands[0], bin(self.need(self.value(operands[1]))).count("1"))

    def do_flo(self, operands, modifiers):
        value = self.need(self.value(operands[-1]))
        self.set(operands[0], MASK if value == 0 else (32 - value.bit_length() if "SH" in modifiers else value.bit_length() - 1))

    def do_vote(self, operands, modifiers):
        if self.predicate(operands[-1]) is not True or not operands[0].startswith(("R", "UR")):
            return False
        self.set(operands[0], MASK)

    # Divisions of integers go by way of floats.

    def do_i2f(self, operands, modifiers):
        if "F64" in modifiers or "S64" in modifiers or "U64" in modifiers:
            return False
        value = self.need(self.value(operands[1]))
        self.set(operands[0], bits_of(float(value if "U32" in modifiers else signed(value))))

    def do_mufu(self, operands, modifiers):
        if modifiers[0] != "RCP":
            return False
        value = float_of(self.need(self.value(operands[1])))
        self.set(operands[0], bits_of(1 / value if value else float("inf")))

    def do_f2i(self, operands, modifiers):
        if "U32" not in modifiers:
            return False
        value = float_of(self.need(self.value(operands[1])))
        self.set(operands[0], min(max(int(value), 0), MASK) if value == value and abs(value) != float("inf") else MASK)

    def do_fchk(self, operands, modifiers):  # is the division a rare one?
        self.set_predicate(operands[0], False)
