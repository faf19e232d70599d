"""Users' functions as programs, where they can be traced."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from polhode.errors import UserFunctionError
from polhode.kernel import jit
from polhode.programs.graph import Graph
from polhode.programs.trace import NotTraceable, Program, trace
from polhode.systems.user.adapters import adapters
from polhode.systems.user.forms import Form

INPUTS: dict[str, tuple[str, Any]] = {
    "t": ("t", 0), "position": ("r", 3), "velocity": ("v", 3), "q": ("q", "attitude"), "omega": ("w", 3),
}  # fmt: skip
"""Names and sizes of the inputs of a program, by the names of the arguments of a user's function."""
SHAPES = {1: (), 3: (3,), 6: (2, 3)}


@dataclass(frozen=True)
class Traced:
    """A user's function that was traced, or why it was not."""

    program: Program | None  # what it computes
    reason: str = ""  # why there is none, a clause about the function ("it decides by ...")
    values: Mapping[str, float] = field(default_factory=dict, compare=False)  # the parameters for which there is none


def arguments_of(form: Form, size: int) -> dict[str, Any]:
    """Names and sizes of the inputs of a program, for a function of a form with a number of parameters."""
    inputs = INPUTS | {"parameters": ("p", size or ()), "states": ("s", form.count)}
    return dict(inputs[name] for name in form.arguments.split(", "))


Arguments = tuple[tuple[str, Any], ...]


@functools.lru_cache(jit.KEPT_KERNELS)
def _known(made: jit.Made, arguments: Arguments, shape: tuple[int, ...], changing: frozenset[int]) -> list[Traced]:
    """What is known of a function: its programs for several values of the parameters that it asks for."""
    return []


def traced(
    made: jit.Made, arguments: Arguments, shape: tuple[int, ...], what: str, values: Any,
    changing: frozenset[int] = frozenset(),
) -> Traced:  # fmt: skip
    """The program of a function, traced once for all values of its parameters p that it does not ask for."""
    known = _known(made, arguments, shape, changing)
    for one in known:
        fixed = one.program.fixed if one.program is not None else one.values
        if all(values[int(name[1:])] == value for name, value in fixed.items()):
            return one
    numbers = {f"p{k}": float(x) for k, x in enumerate(values) if k not in changing}
    try:
        found = Traced(trace(made.function, dict(arguments), shape, what, numbers or None))
    except NotTraceable as problem:
        found = Traced(None, str(problem), numbers)
    except UserFunctionError as problem:  # found again by the plain call, with the state at which it happens
        found = Traced(None, str(problem), numbers)
    known[:] = [one for one in known if one.program is not None]  # of failures, the last is kept
    known.append(found)
    return found


def program_of(user: Any) -> Traced:
    """The program of a ``UserFunction`` as it was looked at; only of a plain function."""
    made = user.looked.made
    if not isinstance(made, jit.Made) or not isinstance(made.function, FunctionType):
        return Traced(None, f"it is no plain function but of type {type(user.function).__name__!r}")
    values, form = user.parameters, user.form
    arguments, count = tuple(arguments_of(form, len(values)).items()), form.count_wanted
    if not form.states:
        return traced(made, arguments, SHAPES[count], form.what, values)
    adapter = jit.in_python(adapters(form).plain, {"user": made.function})
    adapter.__module__ = made.function.__module__  # so that it is known by the function that it calls
    return traced(jit.Made(adapter), arguments, (count,) if count > 1 else (), form.what, values)


def jumps(g: Graph, outputs: Sequence[int]) -> bool:
    """Whether rows may jump at some time, as they decide by the time or round it."""
    rows = [(a, g.rows[a]) for a in g.needed(outputs) if g.rows[a][0] == "fun"]
    ends = {row[2][0] for _, row in rows if row[1] == "choose" and g.nan() in row[2]}  # where a table ends
    steps = (row for a, row in rows if row[1] in ("less", "at_most", "floor", "floordiv", "sign") and a not in ends)
    return any("t" in g.names(row[2]) for row in steps)
