"""Functions that kernels are made of, without numba, which takes as long to import as all the rest: what it has to know
of them is made where it asks for their types."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from polhode.lazy import numba, types

DISABLED = bool(sys.modules["numba"].config.DISABLE_JIT if "numba" in sys.modules else
                int(os.environ.get("NUMBA_DISABLE_JIT") or 0))  # fmt: skip
"""Whether compilation is disabled (NUMBA_DISABLE_JIT)."""
OPTIONS = {"error_model": "numpy", "fastmath": {"contract"}}
"""FMA contraction only: full fastmath would break compensated sums and polynomial reductions."""
LANES = 1 if DISABLED else 8
"""Lanes of ``in_lanes``."""
PLACES = 32
"""How many roles with data behind them one compiled function can be at a time."""
_waiting: list[tuple[Callable[..., Any], Callable[..., Any]]] = []


def overload(function: Callable[..., Any], written: Callable[..., Any]) -> Callable[..., Any]:
    """What a function is where numba compiles, as numba's own of this name."""
    _waiting.append((function, written))
    if "numba" in sys.modules:
        teach()
        numba.core.registry.cpu_target.typing_context.refresh()  # it may be compiling what reads the function
    return written


def teach() -> None:
    """Make overloads known to numba, which asks for them when it is first used (entry point ``numba_extensions``)."""
    while _waiting:
        function, written = _waiting.pop()
        numba.extending.overload(function)(written)


class Intrinsic:
    """An intrinsic of numba's by its definition; where compilation is disabled it runs as ``plain``."""

    def __init__(self, definition: Any, plain: Callable[..., Any] | None = None) -> None:
        functools.update_wrapper(self, definition)
        self.definition, self.plain = definition, plain

    def __call__(self, *arguments: object) -> Any:
        if self.plain is None or not DISABLED:
            raise NotImplementedError(f"{self.definition.__name__} exists in kernels only")
        return self.plain(*arguments)

    @functools.cached_property
    def made(self) -> Any:
        return numba.extending.intrinsic(self.definition)

    @property
    def _numba_type_(self) -> Any:
        made, context = self.made, numba.core.registry.cpu_target.typing_context
        context.refresh()
        return context.resolve_value_type(made)


def intrinsic(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of the definition of an intrinsic."""
    return functools.partial(Intrinsic, plain=plain)


def by_hand(name: str, typed: Callable[..., Any], write: Callable[..., Any], plain: Any = None) -> Intrinsic:
    """An intrinsic: ``typed(*kinds)`` is its signature in kernels, ``write(builder, *arguments)`` writes it."""

    def definition(typing: Any, *kinds: Any) -> Any:
        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = write(builder, *arguments)
            if signature.return_type == types.none:
                return context.get_dummy_value()
            return context.make_tuple(builder, signature.return_type, made) if isinstance(made, list) else made

        return typed(*kinds), build

    definition.__name__ = name
    return Intrinsic(definition, plain)


class Helper:
    """A function that is compiled into kernels only; called from Python it runs as plain Python. Its dispatcher is made
    where numba asks for its type."""

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self.targetoptions = function, options

    def __call__(self, *arguments, **named):
        return self.py_func(*arguments, **named)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    @functools.cached_property
    def dispatcher(self):
        options = {name: value for name, value in self.targetoptions.items() if name != "lanes"}
        return numba.jit(**options)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        return numba.typeof(self.dispatcher)


def helper(function, **options):
    """Compile ``function`` only as part of the kernels that call it: no entry points, half the compilation time."""
    if DISABLED:
        return function
    entries = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return Helper(function, entries | OPTIONS | {"nopython": True, "boundscheck": None} | options)


def inlined(function):
    """A helper that LLVM always inlines."""
    return helper(function, forceinline=True)


def apart(function):
    """A helper that LLVM never inlines: a rare path within code that runs often, whose registers it would take."""
    return helper(function, inline="never")


def in_lanes(function):
    """A helper for so many elements at a time as there are LANES, translated by ``lane_mode`` and compiled once for all
    kernels that call it, with arguments that are the same for all; otherwise ``lane_numbers`` is 0, of one lane."""
    return helper(function, lanes=LANES)


def lane_numbers():
    """The number of each lane: 0, 1, 2, ..."""
    return 0


def as_lanes(numbers):
    """A pointer to numbers as a pointer to lanes; it must be aligned to a whole vector."""
    return numbers


def some_lane(condition):
    """Whether a condition holds in some lane."""
    return bool(condition)


def data_behind():
    """A pointer to the data, integers, behind the role at hand (``jit.closed``)."""


def call_python(address, numbers, handed, count):
    """So many numbers that a Python object writes, which is called with ``numbers``, and where an array stands and the
    result is to stand."""
