"""What ``purity`` knows by name: packages, methods and functions, and what they leave behind."""

from __future__ import annotations

import collections
from types import FunctionType, MethodType

import numpy as np

from polhode.kernel.jit import python_of

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
