"""The PTX of a device, read and carried out in Python, an instruction at a time, as its manual says.

Registers hold bits. Every access to memory must lie in an array that was given, in a constant of the text, or in the
thread's own memory. Instructions without a stated rounding, which a device may fuse, are not known here.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from fractions import Fraction

import numpy as np

ALL, SIGN = (1 << 64) - 1, 1 << 63
LINE = re.compile(r"(?:@(!?)(%\w+)\s+)?([a-z][\w.]*)\s*(.*?)\s*;")
SIZES = {"b8": 1, "b32": 4, "u32": 4, "s32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8}


def real(bits):
    """A number from its bits."""
    return struct.unpack("<d", struct.pack("<Q", bits & ALL))[0]


def bits_of(x):
    """The bits of a number."""
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def signed(bits, width=64):
    """An integer from its bits."""
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits


def fused(a, b, c):
    """a b + c, rounded once."""
    if not all(map(math.isfinite, (a, b, c))):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def quotient(a, b):
    """a / b, where b may be 0."""
    return float(np.float64(a) / np.float64(b))


OF_NUMBERS = {
    "add.rn.f64": lambda a, b: a + b,
    "sub.rn.f64": lambda a, b: a - b,
    "mul.rn.f64": lambda a, b: float(np.float64(a) * np.float64(b)),
    "div.rn.f64": quotient,
    "rcp.rn.f64": lambda a: quotient(1.0, a),
    "fma.rn.f64": fused,
    "neg.f64": lambda a: -a,
    "abs.f64": abs,
    "sqrt.rn.f64": lambda a: math.sqrt(a) if a >= 0.0 else math.nan,
    "copysign.f64": lambda a, b: math.copysign(b, a),
    "cvt.rmi.f64.f64": lambda a: float(np.floor(a)),
    "max.f64": lambda a, b: float(np.fmax(a, b)),
    "min.f64": lambda a, b: float(np.fmin(a, b)),
}
"""Functions of numbers, to a number."""
OF_INTEGERS = {
    "add.s64": lambda a, b: a + b, "add.u64": lambda a, b: a + b, "sub.s64": lambda a, b: a - b,
    "mul.lo.s64": lambda a, b: a * b, "mad.lo.s64": lambda a, b, c: a * b + c, "neg.s64": lambda a: -a,
    "mul.wide.u32": lambda a, b: (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF), "and.b64": lambda a, b: a & b,
    "or.b64": lambda a, b: a | b, "xor.b64": lambda a, b: a ^ b, "shl.b64": lambda a, b: a << b,
    "shr.u64": lambda a, b: (a & ALL) >> b, "shr.s64": lambda a, b: signed(a) >> b,
    "max.s64": lambda a, b: max(signed(a), signed(b)), "min.s64": lambda a, b: min(signed(a), signed(b)),
    "max.u64": lambda a, b: max(a & ALL, b & ALL), "abs.s64": lambda a: abs(signed(a)),
    "rem.s64": lambda a, b: int(math.fmod(signed(a), signed(b))),
    "rem.u32": lambda a, b: (a & 0xFFFFFFFF) % (b & 0xFFFFFFFF), "cvt.u64.u32": lambda a: a & 0xFFFFFFFF,
    "cvt.u32.u64": lambda a: a & 0xFFFFFFFF, "mov.b64": lambda a: a, "mov.u32": lambda a: a, "mov.b32": lambda a: a,
    "mov.u64": lambda a: a, "mov.pred": lambda a: a & 1, "cvta.to.global.u64": lambda a: a,
    "cvta.local.u64": lambda a: a, "cvta.global.u64": lambda a: a, "and.pred": lambda a, b: a & b,
    "or.pred": lambda a, b: a | b, "xor.pred": lambda a, b: a ^ b, "not.pred": lambda a: 1 - a,
    "add.s32": lambda a, b: a + b,
    "selp.b64": lambda a, b, p: a if p else b, "selp.f64": lambda a, b, p: a if p else b,
    "selp.b32": lambda a, b, p: a if p else b,
}  # fmt: skip
"""Functions of bits, to bits."""
COMPARED = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip


def compare(name, kind, a, b):
    """``setp``: those with u hold where there is no number, others do not."""
    if kind == "f64":
        a, b = real(a), real(b)
        if math.isnan(a) or math.isnan(b):
            return int(name in ("equ", "neu", "ltu", "leu", "gtu", "geu", "nan"))
        if name in ("num", "nan"):
            return int(name == "num")
        return int(COMPARED[name[:2]](a, b))
    if kind[0] == "s":
        a, b = signed(a, 8 * SIZES[kind]), signed(b, 8 * SIZES[kind])
    else:
        a, b = a & ALL, b & ALL
    return int(COMPARED[name](a, b))


class Function:
    """A function of the text: its parameters, its own memory, and its instructions."""

    def __init__(self, name, result, parameters, body):
        self.name, self.result = name, result
        self.parameters = re.findall(r"\.param\s+\.(\w+)[^,()]*?([\w$]+)(?=,|$)", parameters.replace("\n", " ").strip())
        self.own = {n: int(size) for n, size in re.findall(r"\.local\s.*?([\w$]+)\[(\d+)\];", body)}
        tables = re.compile(r"(\$\w+): \.branchtargets([^;]*);")  # places for a branch by an index
        self.targets = {name: re.findall(r"\$\w+", told) for name, told in tables.findall(body)}
        self.lines, self.labels = [], {}
        for line in tables.sub("", body).splitlines():
            line = line.split("//")[0].strip()
            if re.fullmatch(r"\$\w+:", line):
                self.labels[line[:-1]] = len(self.lines)
            elif line and not line.startswith((".", "{", "}")):
                found = LINE.fullmatch(line)
                assert found, f"what is {line!r}?"
                negated, guard, name, rest = found.groups()
                operands = [one.strip() for one in re.findall(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,\s]+", rest)]
                self.lines.append((guard, negated == "!", name, operands))


class Text:
    """PTX, ready to run.

    Parameters
    ----------
    ptx : str
        The text.
    """

    def __init__(self, ptx):
        self.memory, self.places, at = [], {}, 1 << 40
        for name, size, values in re.findall(r"^\.global\s.*?([\w$]+)\[(\d+)\] = \{([^}]*)\};", ptx, re.MULTILINE):
            numbers = bytes(int(v) & 0xFF for v in values.split(","))
            self.places[name] = at
            self.memory.append((at, memoryview(bytearray(numbers.ljust(int(size), b"\0"))), False))
            at += 1 << 20
        form = r"^\.(?:visible \.entry|func)\s+(\([^)]*\))?\s*([\w$]+)\s*\(([^)]*)\)\s*\{(.*?)^\}"
        self.functions = {
            name: Function(name, bool(result), parameters, body)
            for result, name, parameters, body in re.findall(form, ptx, re.MULTILINE | re.DOTALL)
        }
        self.carried_out: Counter[str] = Counter()

    def run(self, entry, arguments, thread, block=128, writable=()):
        """Run one thread; arguments are numbers, and arrays for pointers; only those in ``writable`` may be written."""
        self.given = list(self.memory)
        values = []
        for a in arguments:
            if isinstance(a, np.ndarray):
                place = memoryview(a.reshape(-1).view(np.uint8))
                self.given.append((a.ctypes.data, place, any(a is one for one in writable)))
                values.append(a.ctypes.data)
            else:
                values.append(bits_of(a) if isinstance(a, float) else a & ALL)
        self.special = {"%tid.x": thread % block, "%ntid.x": block, "%ctaid.x": thread // block}
        self.call(self.functions[entry], [v.to_bytes(8, "little") for v in values])

    def found(self, address, size, write):
        """The memory at an address."""
        for begin, place, writable in self.given:
            if begin <= address and address + size <= begin + len(place):
                assert writable or not write, "a constant is written to"
                return place, address - begin
        raise AssertionError(f"{size} bytes at {address:#x} are in no array")

    def call(self, function, arguments):
        """Carry out a function; returns its result as bytes."""
        registers, places = {}, {}
        named = {name: bytearray(a) for (_, name), a in zip(function.parameters, arguments, strict=True)}
        own = bytearray(16)
        for k, (name, size) in enumerate(function.own.items()):
            places[name] = (1 << 50) + (len(self.given) << 30) + (k << 24)
            self.given.append((places[name], memoryview(bytearray(size)), True))
        depth = len(self.given)

        def value(word):
            if word in registers:
                return registers[word]
            if word.startswith("0d"):
                return int(word[2:], 16)
            if word in self.special:
                return self.special[word]
            if word in places or word in self.places:
                return places.get(word) or self.places[word]
            return int(word) & ALL

        def memory(word, size, space, write=False):
            base, _, shift = word.strip("[]").partition("+")
            if space == "param":
                held = own if base == "func_retval0" else named.setdefault(base, bytearray(16))
                return memoryview(held), int(shift or 0)
            return self.found(value(base) + int(shift or 0), size, write)

        at = 0
        while at < len(function.lines):
            guard, negated, name, operands = function.lines[at]
            at += 1
            if guard and bool(registers[guard]) == negated:
                continue
            self.carried_out[name] += 1
            parts = name.split(".")
            if parts[0] == "bra":
                at = function.labels[operands[0]]
            elif parts[0] == "brx":
                at = function.labels[function.targets[operands[1]][value(operands[0])]]
            elif parts[0] == "ret":
                break
            elif parts[0] in ("ld", "st"):
                size, space = SIZES[parts[-1]], parts[1]
                place, register = operands if parts[0] == "st" else operands[::-1]
                held, begin = memory(place, size * register.count(",") + size, space, parts[0] == "st")
                for k, one in enumerate(w.strip() for w in register.strip("{}").split(",")):
                    part = slice(begin + k * size, begin + (k + 1) * size)
                    if parts[0] == "ld":
                        registers[one] = int.from_bytes(held[part], "little")
                    else:
                        held[part] = (value(one) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            elif parts[0] == "call":
                result, callee, given = operands
                named[result.strip("()")] = self.call(
                    self.functions[callee], [bytes(named.pop(g.strip())[:8]) for g in given.strip("()").split(",")]
                )
            elif parts[0] == "setp":
                registers[operands[0]] = compare(parts[1], parts[2], *map(value, operands[1:]))
            elif name == "cvt.rzi.s64.f64":
                registers[operands[0]] = int(real(value(operands[1]))) & ALL
            elif name in ("cvt.rn.f64.s64", "cvt.rn.f64.u64", "cvt.rn.f64.u32", "cvt.rn.f64.s32"):
                number = value(operands[1])
                registers[operands[0]] = bits_of(float(signed(number) if "s" in parts[-1] else number))
            elif name in OF_NUMBERS:
                registers[operands[0]] = bits_of(OF_NUMBERS[name](*(real(value(w)) for w in operands[1:])))
            else:
                found = OF_INTEGERS[name](*map(value, operands[1:]))
                registers[operands[0]] = found if "pred" in name else found & ALL
        del self.given[depth:]
        return own
