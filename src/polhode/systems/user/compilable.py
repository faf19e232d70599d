"""A user's function as it is compiled: what it calls is compiled with it, and its indices are checked."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from polhode.algebra.vectorised import Rows
from polhode.kernel import jit
from polhode.programs.rewire import StandIn, copied

LIBRARIES = ("builtins", "cmath", "math", "numba", "numpy", "scipy")
"""Packages whose functions and objects are left to numba."""
ALGEBRA = "polhode.algebra."


def compilable(function: FunctionType) -> Any:
    """A helper that is a copy of a function; the plain functions that it calls, by a name, in a closure or through a
    module, are such helpers too."""
    return _Copies().helper(function, forceinline=True)


class _Copies:
    """Copies of what a function reads; each one once."""

    def __init__(self) -> None:
        self.kept: dict[Any, tuple[Any, Any]] = {}

    def helper(self, function: FunctionType, **options: Any) -> Any:
        """The copy of a function, with its indices checked."""

        def keep(copy: FunctionType) -> Any:
            self.kept[id(function)] = function, jit.helper(copy, boundscheck=True, **options)  # type: ignore[no-untyped-call]
            return self.kept[id(function)][1]

        return copied(function, keep, self.replaced)

    def replaced(self, value: Any) -> Any:
        """What stands in for a value that a function reads: itself unless it is a function, a module or an object."""
        key = (id(value.__func__), id(value.__self__)) if isinstance(value, MethodType) else id(value)
        if key not in self.kept:
            made = self._made(value)
            self.kept.setdefault(key, (value, made))  # kept alive, so that no other object gets its id
        return self.kept[key][1]

    def _made(self, value: Any) -> Any:
        if isinstance(value, Rows):
            return _of_one(value)
        module = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
        package = module.partition(".")[0]
        if package in LIBRARIES:
            return value
        if isinstance(value, ModuleType):
            return StandIn(value, self.replaced)
        if package == "polhode" and not module.startswith(ALGEBRA):
            return value
        if isinstance(value, FunctionType):
            return self.helper(value)
        if isinstance(value, MethodType) and isinstance(value.__func__, FunctionType):
            return _bound(self.replaced(value.__func__), self.replaced(value.__self__), value.__func__.__code__)
        known = issubclass(value, tuple | BaseException) if isinstance(value, type) else callable(value)
        return value if known or not hasattr(value, "__dict__") else StandIn(value, self.replaced)


def _bound(function: Any, owner: Any, code: CodeType) -> Any:
    """A method as a helper that takes what follows the object."""
    names = ", ".join(code.co_varnames[1 : code.co_argcount])
    return jit.helper(eval(f"lambda {names}: function(owner, {names})", {"function": function, "owner": owner}))  # type: ignore[no-untyped-call]


# ------------------------------------------------------------------ polhode's functions of arrays
def _three(a):  # type: ignore[no-untyped-def]
    return (a[0], a[1], a[2])


def _four(a):  # type: ignore[no-untyped-def]
    return (a[0], a[1], a[2], a[3])


def _six(a):  # type: ignore[no-untyped-def]
    return (a[0], a[1], a[2], a[3], a[4], a[5])


def _matrix(a):  # type: ignore[no-untyped-def]
    return (a[0, 0], a[0, 1], a[0, 2], a[1, 0], a[1, 1], a[1, 2], a[2, 0], a[2, 1], a[2, 2])


def _same(r):  # type: ignore[no-untyped-def]
    return r


def _array(r):  # type: ignore[no-untyped-def]
    return np.array(r)


def _square(r):  # type: ignore[no-untyped-def]
    return np.array(r).reshape((3, 3))


READS: dict[int, Callable[..., Any]] = {0: _same, 3: _three, 4: _four, 6: _six, 9: _matrix}


def _of_one(rows: Rows) -> Any:
    """A function of array_like as a helper that takes one element of each argument; itself where there is no form."""
    reads = [jit.inlined(READS[operand.length]) for operand in rows.operands.values()]
    shaped = jit.inlined(_square if len(rows.gives) == 2 else _array if rows.gives else _same)
    formula = jit.inlined(jit.python_of(rows.kernel))
    if rows.planned or len(reads) > 2:
        return rows
    first, last = reads[0], reads[-1]

    def one(a):  # type: ignore[no-untyped-def]
        return shaped(formula(first(a)))

    def two(a, b):  # type: ignore[no-untyped-def]
        return shaped(formula(first(a), last(b)))

    return jit.inlined(one if len(reads) == 1 else two)
