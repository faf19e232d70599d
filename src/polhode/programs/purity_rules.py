"""What ``purity`` goes by: what it knows by name, sources as syntax trees, whole numbers in them, and bytecode."""

from __future__ import annotations

import ast
import builtins
import collections
import dis
import functools
import itertools
import linecache
import re
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType
from typing import Any, Protocol

import numpy as np

from polhode.kernel.jit import global_names, python_of

# ------------------------------------------------------------------ names: packages, methods, functions
CAREFUL = (
    "polhode", "numpy", "math", "cmath", "scipy", "numba", "builtins", "operator", "functools", "itertools",
    "collections", "fractions", "decimal", "typing", "types", "abc", "enum", "dataclasses", "bisect", "jax", "sympy",
    "copy", "numbers", "heapq", "string", "re", "statistics", "contextlib", "textwrap", "json",
)  # fmt: skip
"""Packages whose functions leave nothing behind, but for those named below."""
OUTSIDE = ("random", "time", "os", "sys", "secrets", "datetime", "io", "pathlib", "socket", "threading", "uuid")
"""Packages whose functions read or change what is outside of a run."""
TELLING = ("logging", "warnings")
"""Packages whose functions only tell somebody."""
UNKNOWN, ARGUMENT = object(), object()
"""An object that cannot be looked into; the parameters of a run."""
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic, np.dtype, range, slice)
ADDERS = {"append", "extend", "insert", "add", "appendleft", "extendleft", "write", "writelines", "writerow"}
"""Methods that change an object and tell nothing of it."""
CHANGERS = ADDERS | {
    "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem", "discard", "popleft", "rotate",
    "fill", "put", "itemset", "partition", "resize", "setfield", "setflags", "send", "throw", "__setitem__",
    "__delitem__", "__setattr__", "__next__", "intersection_update", "difference_update",
    "symmetric_difference_update", "subtract", "__iadd__", "__imul__",
}  # fmt: skip
"""Methods that change an object."""
WRITERS = {
    "setitem", "delitem", "iadd", "isub", "imul", "iconcat", "copyto", "put", "place", "putmask", "fill_diagonal",
    "shuffle", "at", "put_along_axis", "heappush", "heappop", "insort", "insort_left", "insort_right",
}  # fmt: skip
"""Functions that change their first argument."""
VIEWS = {
    "view", "reshape", "ravel", "transpose", "get", "setdefault", "__getitem__", "swapaxes", "squeeze", "diagonal",
    "values", "items", "asarray", "asanyarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "broadcast_to",
    "iter", "reversed", "zip", "enumerate", "pop", "getattr", "__getattribute__", "itemgetter", "attrgetter",
}  # fmt: skip
"""What returns its arguments, parts or views of them."""
REFLECTING = {"setattr", "delattr", "exec", "eval", "globals", "vars", "open", "input", "__import__"}
Function = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef
WHOLE = {"int", "floor", "ceil", "trunc", "round", "factorial", "comb", "perm"}
"""Functions that return whole numbers."""
OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv", "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow",
    "MatMult": "matmul",
}  # fmt: skip
CONTAINERS = (list, dict, set, bytearray, collections.deque, np.ndarray)
MOST_ELEMENTS = 100
"""Elements of a container that are looked at."""
MOST_PASSES = 8
"""Readings of a body until what its names may be is taken as known."""


def of_a_user(value: object) -> bool:
    """Whether a function is none of the packages that are known to be careful."""
    plain = python_of(value)
    return isinstance(plain, FunctionType | MethodType) and str(plain.__module__).partition(".")[0] not in CAREFUL


# ------------------------------------------------------------------ source
def full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def codes(code: CodeType) -> list[CodeType]:
    """Code and that of the functions in it."""
    return [code, *(inner for part in code.co_consts if isinstance(part, CodeType) for inner in codes(part))]


@functools.lru_cache(256)
def _module(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


@functools.lru_cache(1024)
def node_of(code: CodeType) -> Function | None:
    """The syntax tree of code; None where there is no source, or it is no longer that of the code."""
    tree = _module("".join(linecache.getlines(code.co_filename)))
    kinds = (ast.Lambda,) if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    fits = []
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, kinds):
            continue
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        if first != code.co_firstlineno or getattr(node, "name", "<lambda>") != code.co_name:
            continue
        if [one.arg for one in (*node.args.posonlyargs, *node.args.args)] == list(code.co_varnames[: code.co_argcount]):
            fits.append(node)
    if len(fits) > 1:  # several lambdas in one line, told apart by columns
        places = [one for one in code.co_positions() if one[0] is not None and one[0] == one[1]]
        low = max((one[2] or 0 for one in places if one[0] == code.co_firstlineno), default=0)
        fits = [one for one in fits if one.col_offset <= low <= (one.end_col_offset or 0)]
    return fits[0] if len(fits) == 1 else None


# ------------------------------------------------------------------ whole numbers that may leave 63 bits
MAKERS = {"astype", "array", "asarray", "zeros", "ones", "empty", "full", "arange", "dtype"}
"""What takes a kind of numbers in its place."""


class Names(Protocol):
    """Names of whole numbers: small ones, and those without a bound."""

    small: set[str]
    wide: set[str]


def whole(node: object, names: Names) -> str:
    """``small`` or ``wide`` for an expression that is a whole number in Python, empty for others."""
    match node:
        case ast.Constant():
            return "" if type(node.value) is not int else "small" if abs(node.value) < 2**31 else "wide"
        case ast.Name():
            return "wide" if node.id in names.wide else "small" if node.id in names.small else ""
        case ast.Call():
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "len":
                return "small"
            if name in ("abs", "min", "max") and node.args:
                kinds = {whole(one, names) for one in node.args}
                return "" if "" in kinds else "wide" if "wide" in kinds else "small"
            of_numpy = ast.unparse(node.func).startswith(("np.", "numpy."))
            return "wide" if name in WHOLE and not of_numpy and (name != "round" or len(node.args) == 1) else ""
        case ast.UnaryOp(op=ast.USub()):
            return whole(node.operand, names)
        case ast.BinOp():
            a, b = whole(node.left, names), whole(node.right, names)
            if not a or not b or isinstance(node.op, ast.Div):
                return ""
            small = "wide" not in (a, b) or (isinstance(node.op, ast.Mod) and b == "small")
            return "small" if small else "wide"
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


def unbounded(left: ast.expr, op: ast.operator, right: Any, names: Names) -> str:
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


# ------------------------------------------------------------------ functions without source
def read_bytecode(reader: Any, function: FunctionType) -> None:
    """Findings without source: any store counts where an object that outlives calls is reached, and what is
    reached counts as called by all names that the function has."""
    code = function.__code__
    line = f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}"
    parts = codes(code)
    steps = [step for part in parts for step in dis.get_instructions(part)]
    for step in steps:
        outer = step.opname in ("STORE_DEREF", "DELETE_DEREF") and step.argval in code.co_freevars
        if outer or step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR"):
            reader.found("memory", f"writes to {step.argval!r}", line)
    if any(step.opname == "PUSH_EXC_INFO" for step in steps):  # loops in brackets have tables of exceptions, too
        reader.found("handler", "handles exceptions (try, with)", line)
    names = {name for part in parts for name in part.co_names}
    reached = [function.__globals__.get(name, getattr(builtins, name, None)) for name in global_names(code)]
    reached += [one.cell_contents for one in function.__closure__ or () if full(one)]
    reached += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    reached += [sys.modules.get(step.argval) for step in steps if step.opname == "IMPORT_NAME"]
    known: dict[int, Any] = {}
    for one in reached:  # which grows
        for value in vars(one).values() if isinstance(one, type) else (one,):
            if kind := narrow_kind(value):
                what = f"reads numbers of the kind {kind}, in which compiled code does not compute"
                reader.found("integers", what, line)
        if one is None or isinstance(one, PLAIN) or id(one) in known or len(known) > MOST_ELEMENTS:
            continue
        known[id(one)] = one
        if not isinstance(one, type | FunctionType | BuiltinFunctionType):
            reached += [value for name in names for value in reader.values(reader.attribute(reader.of(one), name))]
    for one in known.values():
        if isinstance(one, Iterator):
            reader.found("memory", "uses an iterator, which outlives the call", line)
        elif getattr(one, "__module__", "") == "builtins" and getattr(one, "__name__", "") in REFLECTING:
            reader.found("outside", f"calls {one.__name__}", line)
        elif callable(one) and not isinstance(one, type) and one is not UNKNOWN and one is not ARGUMENT:
            reader.called(one, [], {}, line)
    done = {step.argrepr for step in steps if step.opname == "BINARY_OP"}
    if (names & WHOLE and done & {"//", "%", "**", "<<", "//=", "%=", "**=", "<<="}) or (
        "range" in names and done & {"*=", "**", "<<", "**=", "<<="}
    ):
        reader.found("integers", "may divide whole numbers by zero or make them beyond 63 bits, without source", line)
    if any(isinstance(one, CONTAINERS) for one in known.values()):
        stores = any(step.opname in ("STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR") for step in steps)
        if stores or CHANGERS & names:
            reader.found("memory", "may write to a list, dictionary or array, and has no source to read", line)
        elif _in_place(steps):
            reader.found("log", "may change a list or array in place, and has no source to read", line)


def _in_place(steps: list[Any]) -> set[Any]:
    """Names that are changed in place and may stand for something else than a number that was just computed."""
    changed: set[Any] = set()
    doubtful: set[Any] = set()
    for before, step in itertools.pairwise(steps):
        if step.opname.startswith("STORE_"):  # some versions of Python store and load, or store two, in one instruction
            stored = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            stored = stored[:1] if "LOAD" in step.opname else stored
            if before.opname == "BINARY_OP" and before.argrepr.endswith("="):
                changed.update(stored)
            elif before.opname not in ("BINARY_OP", "LOAD_SMALL_INT", "UNARY_NEGATIVE") and (
                before.opname != "LOAD_CONST" or not isinstance(before.argval, int | float)
            ):
                doubtful.update(stored)
    return changed & doubtful
