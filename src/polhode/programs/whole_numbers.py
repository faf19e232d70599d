"""Whole numbers in a syntax tree: those that may leave 63 bits, in which compiled code counts and Python does not."""

from __future__ import annotations

import ast
import re
from typing import Any, Protocol

import numpy as np

from polhode.programs.purity_tables import WHOLE

MAKERS = {"astype", "array", "asarray", "zeros", "ones", "empty", "full", "arange", "dtype"}
"""What takes a kind of numbers in its place."""


class Names(Protocol):
    """Names of whole numbers: small ones, and those without a bound."""

    small: set[str]
    wide: set[str]


def whole(node: object, names: Names) -> str:
    """``small`` or ``wide`` for an expression that is a whole number in Python, empty for others."""
    if isinstance(node, ast.Constant):
        return "" if type(node.value) is not int else "small" if abs(node.value) < 2**31 else "wide"
    if isinstance(node, ast.Name):
        return "wide" if node.id in names.wide else "small" if node.id in names.small else ""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "len":
            return "small"
        if name in ("abs", "min", "max") and node.args:
            kinds = {whole(one, names) for one in node.args}
            return "" if "" in kinds else "wide" if "wide" in kinds else "small"
        of_numpy = ast.unparse(node.func).startswith(("np.", "numpy."))
        return "wide" if name in WHOLE and not of_numpy and (name != "round" or len(node.args) == 1) else ""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return whole(node.operand, names)
    if isinstance(node, ast.BinOp):
        a, b = whole(node.left, names), whole(node.right, names)
        if not a or not b or isinstance(node.op, ast.Div):
            return ""
        if isinstance(node.op, ast.Mod) and b == "small":
            return "small"
        return "wide" if "wide" in (a, b) else "small"
    return ""


NARROW = re.compile(r"u?int(8|16|32|c)|uint(64)?|float(16|32)|half|single|u?byte|u?short|longdouble|[iuf][124]|u8")
"""Names of numbers of numpy that stay in as few bits, as compiled code does not keep them."""


def narrow(call: ast.Call) -> str:
    """The kind of numbers that a call makes, where compiled code computes with more bits, or a sign."""
    asked = [call.func, *(one.value for one in call.keywords if one.arg == "dtype")]
    if isinstance(call.func, ast.Attribute) and call.func.attr in MAKERS:
        asked += call.args
    for one in asked:
        name = one.attr if isinstance(one, ast.Attribute) else one.value if isinstance(one, ast.Constant) else ""
        if isinstance(name, str) and NARROW.fullmatch(name.lstrip("<>=|")):
            return name
    return ""


def narrow_kind(value: object) -> str:
    """The kind of the numbers of an array, or of a number of numpy, that have few bits; empty for others."""
    kind = value.dtype if isinstance(value, np.ndarray | np.generic) else None
    return str(kind) if kind is not None and kind.kind in "iuf" and kind not in (np.int64, np.float64) else ""


def unbounded(left: Any, op: Any, right: Any, names: Names) -> str:
    """What is to be said of an operation on whole numbers that is another one with 64 bits; empty where it is not."""
    a, b = whole(left, names), whole(right, names)
    if not a or not b:
        return ""
    right = right.operand if isinstance(right, ast.UnaryOp) else right
    known = isinstance(right, ast.Constant)
    if isinstance(op, ast.FloorDiv | ast.Mod) and (not known or not right.value):
        return "divides whole numbers, perhaps by zero"
    if isinstance(op, ast.Mult) and a == b == "wide":
        return "multiplies whole numbers without a bound"
    raised = isinstance(op, ast.LShift | ast.Pow) and not (isinstance(left, ast.Constant) and known)
    if raised and (b == "wide" or (a == "wide" and not (known and right.value <= 2))):
        return "raises whole numbers without a bound"
    return ""
