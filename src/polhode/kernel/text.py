"""Writes LLVM's text line by line: a builder for ``translate``, at a tenth of the cost of llvmlite's own.

Types, functions and modules are llvmlite's, and methods have the names of its builder, so that the functions of numba
that write code (calling conventions, structures) take this one too. What is rare is written as llvmlite's object.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

F, I, BIT, I32, LABEL = ir.DoubleType(), ir.IntType(64), ir.IntType(1), ir.IntType(32), ir.LabelType()
COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
ZEROS = {"0", "0x0000000000000000"}


INTRINSICS = {
    math.exp: "exp", math.log: "log", math.sin: "sin", math.cos: "cos", math.fabs: "fabs", math.log10: "log10",
    np.exp: "exp", np.log: "log", np.sin: "sin", np.cos: "cos", np.fabs: "fabs", np.floor: "floor", np.ceil: "ceil",
}  # fmt: skip
"""Functions of one number that LLVM knows."""
EXTERNS = {
    math.sqrt: "sqrt", math.tan: "tan", math.asin: "asin", math.acos: "acos", math.atan: "atan", math.sinh: "sinh",
    math.cosh: "cosh", math.tanh: "tanh", math.asinh: "asinh", math.acosh: "acosh", math.atanh: "atanh",
    math.expm1: "expm1", math.log1p: "log1p", math.erf: "erf", math.erfc: "erfc", math.log2: "log2",
    np.sqrt: "sqrt", np.tan: "tan", np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan", np.sinh: "sinh",
    np.cosh: "cosh", np.tanh: "tanh", np.arcsinh: "asinh", np.arccosh: "acosh", np.arctanh: "atanh",
    np.expm1: "expm1", np.log1p: "log1p",
    math.atan2: "atan2", np.arctan2: "atan2",
}  # fmt: skip
"""Functions of the C library."""
WIDE = {
    math.sqrt: ("sqrt", 1), np.sqrt: ("sqrt", 1), abs: ("fabs", 1), np.abs: ("fabs", 1), math.fabs: ("fabs", 1),
    np.fabs: ("fabs", 1), np.floor: ("floor", 1), np.ceil: ("ceil", 1), np.rint: ("rint", 1),
    math.copysign: ("copysign", 2), np.copysign: ("copysign", 2),
}  # fmt: skip
"""Functions that are instructions on lanes, with the number of their arguments."""
TO_INTEGER = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}


class Constant(ir.Constant):  # type: ignore[misc]
    """A constant: a number, numbers of a vector or an array, ``ir.Undefined``, or None for zero."""

    def __init__(self, kind: ir.Type, value: Any) -> None:
        self.type, self.constant, self.text = kind, value, _constant(kind, value)

    def get_reference(self) -> str:
        return self.text


def _constant(kind: ir.Type, value: Any) -> str:
    """The text of a constant."""
    if value is None or value is ir.Undefined or isinstance(value, ir.Constant):
        return kind.null if value is None else "undef" if value is ir.Undefined else value.get_reference()
    if isinstance(kind, ir.IntType):
        return str(int(value))
    if isinstance(kind, ir.DoubleType):
        return f"0x{struct.pack('>d', value).hex()}"
    alike = len(value) > 1 and all(x is value[0] for x in value)
    texts = [_constant(kind.element, value[0])] * len(value) if alike else [_constant(kind.element, x) for x in value]
    if set(texts) <= ZEROS:
        return "zeroinitializer"
    parts = ", ".join([f"{kind.element} {one}" for one in texts])
    return f"<{parts}>" if isinstance(kind, ir.VectorType) else f"[{parts}]"


class Made:
    """An instruction, read as an ``ir.Value``: its line, and the type and name of what it makes."""

    __slots__ = ("line", "name", "parent", "type")

    def __init__(self, kind: ir.Type | None, name: str, line: str, parent: ir.Block | None = None) -> None:
        self.type, self.name, self.line, self.parent = kind, name, line, parent

    def __str__(self) -> str:
        return self.line

    def get_reference(self) -> str:
        """How it is read."""
        return self.name

    function_type = property(lambda self: self.type.pointee)
    module = property(lambda self: self.parent.module)

    def add_incoming(self, value: ir.Value, block: ir.Block) -> None:
        """The value behind a block, of one that depends on the block before."""
        comma = "," if self.line.endswith("]") else ""
        self.line += f"{comma} [{value.get_reference()}, {block.get_reference()}]"

    def set_metadata(self, name: str, node: ir.MDValue) -> None:
        """Tell LLVM something about it."""
        self.line += f", !{name} {node.get_reference()}"

    def set_weights(self, weights: Sequence[int]) -> None:
        """How often a branch goes to its first and to its second block."""
        ir.instructions.PredictableInstr.set_weights(self, weights)


class Block(ir.Block):  # type: ignore[misc]
    """A block of instructions at the end of a function, named by its number there."""

    def __init__(self, parent: ir.Function) -> None:
        self.parent, self.type, self.scope, self._name = parent, LABEL, parent.scope, f"b{len(parent.blocks)}"
        self.instructions, self.terminator = list[Any](), None
        parent.blocks.append(self)

    def descr(self, buf: list[str]) -> None:
        """Write its lines."""
        buf.append(f"{self._name}:\n")
        buf += [f"  {one.line if type(one) is Made else one}\n" for one in self.instructions]


class Whole:
    """A structure by its parts; put together where it is read, for most are only taken apart."""

    __slots__ = ("builder", "parts", "type")

    def __init__(self, builder: Builder, kind: ir.Type, parts: Sequence[ir.Value]) -> None:
        self.builder, self.type, self.parts = builder, kind, parts

    def get_reference(self) -> str:
        """How it is read."""
        found: ir.Value = Constant(self.type, ir.Undefined)
        for k, part in enumerate(self.parts):
            found = self.builder.insert_value(found, part, k)
        return found.name


def _operator(symbol: str, rounded: bool = False) -> Callable[..., Made]:
    """The method that writes an operator; ``rounded``: LLVM may fuse it with another."""

    def write(self: Builder, a: ir.Value, b: ir.Value, name: str = "", flags: Sequence[str] = ()) -> Made:
        how = self.contract if rounded and not flags else "".join([f" {flag}" for flag in flags])
        return self.made(a.type, f"{symbol}{how} {a.type} {a.get_reference()}, {b.get_reference()}")

    return write


def _comparison(symbol: str, prefix: str) -> Callable[..., Made]:
    """The method that writes a comparison: a bit, or one for each number of vectors."""

    def write(self: Builder, sign: str, a: ir.Value, b: ir.Value, name: str = "") -> Made:
        signed = prefix if symbol == "fcmp" or sign not in ("==", "!=") else ""
        test = signed + COMPARISONS[sign] if sign in COMPARISONS else sign
        bits, how = BIT, self.contract if symbol == "fcmp" else ""
        bits = ir.VectorType(bits, a.type.count) if isinstance(a.type, ir.VectorType) else bits
        return self.made(bits, f"{symbol}{how} {test} {a.type} {a.get_reference()}, {b.get_reference()}")

    return write


def _conversion(symbol: str) -> Callable[..., ir.Value]:
    """The method that writes a conversion to another type."""

    def write(self: Builder, value: ir.Value, kind: ir.Type, name: str = "") -> ir.Value:
        return value if value.type == kind else self.made(kind, f"{symbol} {_told(value)} to {kind}")

    return write


def _instruction(symbol: str, kind: Callable[..., ir.Type]) -> Callable[..., Made]:
    """The method that writes an instruction, whose type follows from its operands."""

    def write(self: Builder, *values: ir.Value, name: str = "") -> Made:
        return self.made(kind(*values), f"{symbol} {_told(*values)}")

    return write


def _end(symbol: str) -> Callable[..., Made]:
    """The method that writes the end of a block."""

    def write(self: Builder, *values: ir.Value) -> Made:
        return self._set_terminator(Made(None, "", f"{symbol} {_told(*values)}", self._block))

    return write


def _told(*values: ir.Value) -> str:
    """Values with their types, as instructions read them."""
    return ", ".join([f"{value.type} {value.get_reference()}" for value in values])


class Builder(ir.IRBuilder):  # type: ignore[misc]
    """Writes the instructions of one function; ``contract``: products may be fused with sums."""

    def __init__(self, block: ir.Block | None = None, contract: bool = False) -> None:
        super().__init__(block)
        self.contract, self.count = " contract" if contract else "", 0
        self.kept: dict[Any, Made] = {}

    def append_basic_block(self, name: str = "") -> Block:
        return Block(self._block.parent)

    def made(self, kind: ir.Type, line: str) -> Made:
        """Write an instruction that makes a value."""
        self.count += 1
        name = f"%v{self.count}"
        found = Made(kind, name, f"{name} = {line}")
        self._block.instructions.insert(self._anchor, found)
        self._anchor += 1
        return found

    add, sub, mul, sdiv, srem = map(_operator, ("add", "sub", "mul", "sdiv", "srem"))
    shl, lshr, ashr, and_, or_, xor = map(_operator, ("shl", "lshr", "ashr", "and", "or", "xor"))
    fadd, fsub, fmul, fdiv, frem = (_operator(name, True) for name in ("fadd", "fsub", "fmul", "fdiv", "frem"))
    icmp_signed, icmp_unsigned = _comparison("icmp", "s"), _comparison("icmp", "u")
    fcmp_ordered, fcmp_unordered = _comparison("fcmp", "o"), _comparison("fcmp", "u")
    trunc, zext, sext, bitcast, ptrtoint = map(_conversion, ("trunc", "zext", "sext", "bitcast", "ptrtoint"))
    uitofp, sitofp, fptosi, inttoptr = map(_conversion, ("uitofp", "sitofp", "fptosi", "inttoptr"))
    fneg, select = _instruction("fneg", lambda a: a.type), _instruction("select", lambda test, a, b: a.type)
    extract_element = _instruction("extractelement", lambda vector, at: vector.type.element)
    insert_element = _instruction("insertelement", lambda vector, x, at: vector.type)
    shuffle_vector = _instruction("shufflevector", lambda a, b, k: ir.VectorType(a.type.element, k.type.count))
    branch, cbranch, ret, ret_void, unreachable = map(_end, ("br", "br", "ret", "ret void", "unreachable"))

    def alloca(self, kind: ir.Type, size: ir.Value | None = None, name: str = "") -> Made:
        return self.made(kind.as_pointer(), f"alloca {kind}" + ("" if size is None else f", {_told(size)}"))

    def load(self, slot: ir.Value, name: str = "", align: int | None = None) -> Made:
        kind = slot.type.pointee
        return self.made(kind, f"load {kind}, {_told(slot)}" + (f", align {align}" if align else ""))

    def store(self, value: ir.Value, slot: ir.Value, align: int | None = None) -> None:
        self._insert(Made(None, "", f"store {_told(value, slot)}" + (f", align {align}" if align else "")))

    def gep(self, slot: ir.Value, indices: Sequence[ir.Value], inbounds: bool = False, name: str = "") -> Made:
        kind = slot.type.pointee
        for index in indices[1:]:
            kind = kind.gep(index)
        how, kind = " inbounds" if inbounds else "", slot.type if len(indices) == 1 else kind.as_pointer()
        return self.made(kind, f"getelementptr{how} {slot.type.pointee}, {_told(slot, *indices)}")

    def repeated(self, x: ir.Value, kind: ir.VectorType) -> ir.Value:
        """A number in all places of a vector; written once in a block."""
        if isinstance(x, Constant) and x.constant is not ir.Undefined:
            return Constant(kind, [x.constant] * kind.count)
        key = (self._block, x.get_reference(), kind.count)
        if key not in self.kept:
            one = self.made(kind, f"insertelement {kind} undef, {_told(x)}, i32 0")
            mask = f"{kind} undef, <{kind.count} x i32> zeroinitializer"
            self.kept[key] = self.made(kind, f"shufflevector {kind} {one.name}, {mask}")
        return self.kept[key]

    def extract_value(self, whole: ir.Value, at: int | Sequence[int], name: str = "") -> Made:
        kind, places = whole.type, at if isinstance(at, tuple | list) else (at,)
        for k in places:
            kind = kind.elements[k]
        return self.made(kind, f"extractvalue {_told(whole)}, {', '.join(map(str, places))}")

    def parts(self, whole: ir.Value) -> Sequence[ir.Value]:
        """The parts of a structure."""
        known = isinstance(whole, Whole)
        return whole.parts if known else [self.extract_value(whole, k) for k in range(len(whole.type.elements))]

    def insert_value(self, whole: ir.Value, x: ir.Value, at: int | Sequence[int], name: str = "") -> Made:
        places = at if isinstance(at, tuple | list) else (at,)
        return self.made(whole.type, f"insertvalue {_told(whole, x)}, {', '.join(map(str, places))}")

    def phi(self, kind: ir.Type, name: str = "") -> Made:
        return self.made(kind, f"phi {kind}")

    def call(self, function: ir.Value, arguments: Sequence[ir.Value], name: str = "", **how: Any) -> ir.Value:
        result = function.function_type.return_type
        if function.function_type.var_arg or how:
            return super().call(function, arguments, name, **how)
        line = f"{result} {function.get_reference()}({_told(*arguments)})"
        if isinstance(result, ir.VoidType):
            found = Made(result, "", f"call {line}")
            self._insert(found)
            return found
        return self.made(result, f"call{self.contract if isinstance(result, ir.DoubleType) else ''} {line}")
