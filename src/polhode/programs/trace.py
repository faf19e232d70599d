"""Programs from plain Python functions, by running them on tracers.

A function with a memory (a counter, random numbers, a file) would be frozen at one call: ``purity`` tells it
beforehand, and as a second line of defence a function is run twice, and both runs must write the same program.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from polhode.errors import InvalidInput, UserFunctionError
from polhode.programs.attitude import ROWS, attitude, matrix_of, vector
from polhode.programs.decisions import Decisions, TooManyWays
from polhode.programs.graph import Graph
from polhode.programs.memory import Parameters
from polhode.programs.raising import swallowed
from polhode.programs.rewire import rewired, user_line
from polhode.programs.tracer import ASKS, DECIDES, NotTraceable, Tracer, where

__all__ = ["NotTraceable", "Program", "trace", "where"]

HERE = os.path.dirname(__file__) + os.sep
OURS = os.path.dirname(os.path.dirname(__file__)) + os.sep
MEMORY = "it returns other numbers when it is called again, or writes to what outlives the call (a list, a file)"

Size = Any
"""What an argument is: 0 a number, 3 a vector of three, "attitude" a quaternion, (frame) a quaternion seen in another
body frame, an array of numbers that stand for themselves, () nothing, None the index 0, a range the numbers p0, p1, ...
that are read by their index."""


@dataclass(frozen=True)
class Program:
    """A function that was traced."""

    graph: Graph  # its rows; what is derived is written into it too
    outputs: tuple[int, ...]  # rows of the numbers that it returns, in order
    # inputs that the function counts or decides by: it is the program for these values of theirs
    fixed: Mapping[str, float] = field(default_factory=dict, compare=False)
    raised: int = 0  # the row that is not zero where the plain function raises, though the program has a result

    def guarded(self, rows: Sequence[int]) -> list[int]:
        """Rows that follow from the outputs, the first without a value where the plain function raises."""
        g, (first, *rest) = self.graph, rows
        return [g.fun("choose", self.raised, g.nan(), first), *rest]

    def __call__(self, **given: object) -> list[float]:
        """The numbers it returns, in plain Python; vectors are given whole: ``r=(1, 0, 0)``."""
        return self.graph.evaluate(self.outputs, spread(**given))


def spread(**given: Any) -> dict[str, float]:
    """Values of inputs by name from numbers, vectors, and quaternions (called q or beginning with q_), with rows."""
    values: dict[str, float] = {}
    for name, value in given.items():
        if np.ndim(value) == 0:
            values[name] = value
        else:
            values |= {f"{name}{k}": x for k, x in enumerate(value)}
        if name == "q":
            rows = zip(ROWS, matrix_of(value), strict=True)
            values |= {f"q_{name}{k}": x for name, row in rows for k, x in enumerate(row)}
    return values


def trace(
    function: Callable[..., Any], arguments: Mapping[str, Size], shape: tuple[int, ...] | None = None,
    what: str = "function", numbers: Mapping[str, Any] | None = None,
) -> Program:  # fmt: skip
    """The program of a function."""
    copy = rewired(function)
    values = {} if numbers is None else spread(**numbers)
    name = described(function, what)

    def run() -> Program:
        g, decisions = Graph(), Decisions(values)
        with g.asking(decisions):
            rows = decisions.followed(g, lambda: _once(g, copy, arguments, shape, name))
        *outputs, raised = rows
        return Program(g, tuple(outputs), {one: values[one] for one in sorted(decisions.asked)}, raised)

    try:
        first, second = run(), run()
    except TooManyWays:
        raise NotTraceable(DECIDES, _first_line(function)) from None
    if first.graph.rows != second.graph.rows or first.outputs != second.outputs:
        raise NotTraceable(MEMORY, _first_line(function))
    return first


def _once(g: Graph, copy: Any, arguments: Mapping[str, Size], shape: tuple[int, ...] | None, name: str) -> list[int]:
    """The rows of what a rewired function returns, on one way through it, and that of ``Program.raised``."""
    given = [_argument(g, key, size) for key, size in arguments.items()]
    g.raising.clear()
    result = called(lambda: copy(*given), name)
    found = shape_of(result)
    if found is None or (shape is not None and found != shape and not (shape == () and found == (1,))):
        wanted = {(): "one number", (3,): "3 numbers", (2, 3): "two times 3 numbers"}
        asked = wanted.get(shape, "numbers") if shape is not None else "numbers"
        given_back = "no numbers" if found is None else f"numbers of shape {found}"
        raise UserFunctionError(f"{name} returns {given_back}; it must return {asked}")
    rows = []
    for one in flat(result):
        if not isinstance(one, Tracer) and np.isnan(one):
            raise UserFunctionError(f"{name} returns nan whatever it is given; every number must be finite")
        rows.append(one.row if isinstance(one, Tracer) else g.const(one))
    return [*rows, swallowed(g, g.raising, rows)]


def called(run: Callable[[], Any], name: str) -> Any:
    """The result of a function run on tracers; what it raises as NotTraceable or UserFunctionError, with its line."""
    try:
        with np.errstate(all="ignore"):
            return run()
    except NotTraceable as problem:
        raise NotTraceable(problem.reason, problem.line or _line(problem)) from problem
    except NameError as problem:
        raise UserFunctionError(
            f"{name} reads the name {problem.name!r} ({_line(problem)}), which is not defined"
        ) from problem
    except AttributeError as problem:
        if isinstance(problem.obj, ModuleType):
            raise UserFunctionError(
                f"{name} reads {problem.obj.__name__}.{problem.name} ({_line(problem)}), which does not exist"
            ) from problem
        raise NotTraceable(f"it raised AttributeError: {problem}", _line(problem)) from problem
    except InvalidInput as problem:
        if "Tracer(" in str(problem):  # a function of polhode that reads its arguments itself
            raise NotTraceable(ASKS, _line(problem)) from problem
        raise UserFunctionError(f"{name}: {problem} ({_line(problem)})") from problem
    except UserFunctionError:
        raise
    except Exception as problem:
        raise NotTraceable(f"it raised {type(problem).__name__}: {problem}", _line(problem)) from problem


def _line(problem: BaseException) -> str:
    """File and line where an exception was raised: the user's, of a function of polhode's own its own."""
    return user_line(problem, OURS) or user_line(problem, HERE)


def _argument(g: Graph, name: str, size: Size) -> object:
    if isinstance(size, str):
        return attitude(g, name)
    if isinstance(size, tuple):
        return attitude(g, name, size) if size else vector(g, name, 0)
    if isinstance(size, np.ndarray):
        return size
    if size is None:
        return 0
    if isinstance(size, range):
        return Parameters(g, len(size))
    return Tracer(g, g.input(name), True) if size == 0 else vector(g, name, size)


def shape_of(result: object) -> tuple[int, ...] | None:
    """Shape of a number, an array or a nested sequence of numbers; None where it has none."""
    if isinstance(result, Tracer | bool | int | float | np.number | np.bool_):
        return None if isinstance(result, np.complexfloating) else ()
    if isinstance(result, np.ndarray) and result.dtype.kind in "biufO":
        return tuple(result.shape)
    if isinstance(result, list | tuple) and result:
        shapes = {shape_of(part) for part in result}
        if len(shapes) == 1 and None not in shapes:
            return (len(result), *next(iter(shapes)))  # type: ignore[misc]
    return None


def flat(result: Any) -> list[Any]:
    """The numbers in a number, an array or a nested sequence."""
    if isinstance(result, Tracer) or np.ndim(result) == 0:
        return [result.item() if isinstance(result, np.ndarray) else result]
    return [x for part in result for x in flat(part)]


def described(function: Callable[..., Any], what: str) -> str:
    """A function for messages: "potential 'u' (orbit.py:12)"."""
    plain = getattr(function, "py_func", function)
    name, line = getattr(plain, "__name__", type(plain).__name__), _first_line(function)
    return f"{what} {name!r} ({line})" if line else f"{what} {name!r}"


def _first_line(function: Callable[..., Any]) -> str:
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    return f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}" if code else ""
