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


def compilable(function: FunctionType) -> Callable[..., Any]:
    """A copy of a function that functions compiled by numba can call, with polhode's formulas in it compiled too.

    Parameters
    ----------
    function : function
        Of numbers, tuples and arrays. It may call polhode's functions of rotations and elliptic functions, of one
        element of at most two arguments, and plain functions that do so.

    Returns
    -------
    function
        For functions that ``numba.njit`` compiles. What it calls, by a name, in a closure or through a module, is
        copied as it is now; indices are checked.

    Examples
    --------
    >>> import numba
    >>> import polhode as ph
    >>> swing = ph.systems.compilable(lambda u: ph.algebra.elliptic.sn(u, 0.5))
    >>> largest = numba.njit(lambda n: max([swing(0.1 * k) for k in range(n)]))
    >>> round(largest(40), 2)
    1.0
    """
    return _Copies().helper(function, forceinline=True)


class _Copies:
    """Copies of what a function reads; each one once."""

    def __init__(self) -> None:
        self.kept: dict[Any, tuple[Any, Any]] = {}

    def helper(self, function: FunctionType, **options: bool) -> Callable[..., Any]:
        """The copy of a function, with its indices checked."""

        def keep(copy: FunctionType) -> Callable[..., Any]:
            self.kept[id(function)] = function, jit.helper(copy, boundscheck=True, **options)
            return self.kept[id(function)][1]

        return copied(function, keep, lambda value, _: self.replaced(value))

    def replaced(self, value: object) -> Any:
        """What stands in for a value that a function reads: itself unless it is a function, a module or an object."""
        key = (id(value.__func__), id(value.__self__)) if isinstance(value, MethodType) else id(value)
        if key not in self.kept:
            self.kept.setdefault(key, (value, self._made(value)))  # kept alive, so that no other object gets its id
        return self.kept[key][1]

    def _made(self, value: object) -> Any:
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


def _bound(function: Callable[..., Any], owner: object, code: CodeType) -> Callable[..., Any]:
    """A method as a helper that takes what follows the object."""
    names = ", ".join(code.co_varnames[1 : code.co_argcount])
    return jit.helper(eval(f"lambda {names}: function(owner, {names})", {"function": function, "owner": owner}))


def _of_one(rows: Rows) -> Callable[..., Any]:
    """A function of array_like as a helper that takes one element of each argument; itself where it takes a plan."""
    if rows.planned:
        return rows
    given = dict(zip("abcd", (operand.length for operand in rows.operands.values()), strict=False))
    read = [f"({', '.join(_entry(name, k, length) for k in range(length))})" if length else name
            for name, length in given.items()]  # fmt: skip
    result = f"formula({', '.join(read)})"
    result = f"np.array({result}).reshape({rows.gives})" if rows.gives else result
    formula = jit.inlined(jit.python_of(rows.kernel))
    return jit.inlined(eval(f"lambda {', '.join(given)}: {result}", {"formula": formula, "np": np}))


def _entry(name: str, k: int, length: int) -> str:
    """A number of an argument; of nine numbers the matrix is taken."""
    return f"{name}[{k // 3}, {k % 3}]" if length == 9 else f"{name}[{k}]"
