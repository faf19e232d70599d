"""Users' functions as programs, where they can be traced; and what calls them from compiled code, written for what they
take and return.

The numbers of all states stand behind the bodies in the flat state; a function takes them as a named tuple.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple

from polhode.errors import UserFunctionError
from polhode.kernel import jit
from polhode.programs.graph import Graph
from polhode.programs.trace import NotTraceable, Program, trace
from polhode.programs.written import module_of
from polhode.systems.user.forms import OFFERED, Form, Sizes

HEAD = """from typing import Any, NamedTuple

import numpy as np

from polhode.kernel import jit

user = jit.hole("user(...) -> numbers", "The user's function.")
call = jit.hole("call(...) -> numbers", "The adapter around the user's function.")
COUNT = jit.hole("COUNT", "How many numbers the user hands to it.")
view = jit.hole("view(pointer, length) -> array", "An array on the memory of a pointer.", default=jit.view)
"""


class Adapters(NamedTuple):
    """What calls a function, ``adapter(t, a, b, ..., p, s) -> numbers``: what it takes of a body, its numbers, and all
    numbers of the states if it takes states; the user's function is bound into them."""

    tuples: Callable[..., Any]  # tuples, arrays: with vectors as tuples, or as arrays
    arrays: Callable[..., Any]
    plain: Callable[..., Any]  # to be traced
    as_it_is: Callable[..., Any]  # with all that it is given, and what it returns, as they are
    # ``kernel(p, at, a, b, ..., s, t)``, the kernel that a program calls; and one that remembers its last result
    kernel: Callable[..., Any]
    at_rest: Callable[..., Any]


@lru_cache(jit.KEPT_KERNELS)
def adapters(form: Form) -> Adapters:
    """The adapters of functions of a form."""
    vectors, wanted = dict(zip("abcd", form.taken, strict=False)), form.wanted
    takes = ", ".join(["t", *vectors, "p", *["s"] * bool(form.states)])
    alone = len(wanted) == 1
    sizes = [(size, "r" if alone else f"r[{k}]") for k, (_, size) in enumerate(wanted)]
    wrong = [] if alone else [f"len(r) != {len(wanted)}"]
    wrong += [f"len({one}) != {size}" for size, one in sizes if size]
    entries = [one if size == 0 else f"{one}[{n}]" for size, one in sizes for n in range(size or 1)]

    def packed(form_of_one: str) -> str:
        parts, at = [], 0
        for _, size in form.states:
            one = ", ".join(f"s[{at + n}]" for n in range(size or 1))
            parts.append(form_of_one.format(one) if size else one)
            at += size or 1
        return f"States({', '.join(parts)})"

    def numbers(given: list[str]) -> str:
        return f"({', '.join(given)})" if len(given) > 1 else given[0]

    fields = "\n".join(f"    {name}: Any" for name, _ in form.states)
    lines = [f"class States(NamedTuple):\n{fields}\n"] if fields else []
    for name, vector, pack, one in (
        ("tuples", "{}", "({},)", "float({})"), ("arrays", "np.array({})", "np.array(({},))", "float({})"),
        ("plain", "{}", "np.array([{}])", "{}"),
    ):  # fmt: skip
        given = ["t", *map(vector.format, vectors), "p", *[packed(pack)] * bool(form.states)]
        check = f"    if {' or '.join(wrong)}:\n        raise ValueError('not the numbers that are asked for')\n"
        lines.append(f"def {name}({takes}):\n    r = user({', '.join(given)})\n{check if wrong else ''}"
                     f"    return {numbers([one.format(entry) for entry in entries])}\n")  # fmt: skip
    lines.append(f"def as_it_is({takes}):\n    return user({takes})\n")
    called = f"call({', '.join(['t', *vectors, 'view(p, at + COUNT)[at:]', *['s'] * bool(form.states)])})"
    inside = ", ".join(["p", "at", *vectors, *["s"] * bool(form.states), "t"])
    lines.append(f"def kernel({inside}):\n    return {called}\n")
    # Memory behind the parameters: the last result of a function that does not read velocities, with its time, position
    # and attitude: the power is needed where the load was just evaluated, at other velocities.
    resting = [f"{a}[{n}]" for a, what in vectors.items() if what in ("position", "q") for n in range(OFFERED[what])]
    kept = {"m": "1.0", "m + 1": "t"} | {f"m + {k}": one for k, one in enumerate(resting, 2)}
    found = [f"p[m + {9 + k}]" for k in range(form.count_wanted)]
    result = ["r"] if len(found) == 1 else [f"r[{k}]" for k in range(len(found))]
    stores = [*zip(found, result, strict=True), *((f"p[{k}]", one) for k, one in kept.items())]
    lines.append(f"def at_rest({inside}):\n    m = max(1, at + COUNT)\n"
                 f"    if not ({' and '.join(f'p[{k}] == {one}' for k, one in kept.items())}):\n"
                 f"        r = {called}\n" + "".join(f"        {to} = {one}\n" for to, one in stores)
                 + f"    return {numbers(found)}\n")  # fmt: skip
    module = module_of("\n\n".join(lines), HEAD)
    return Adapters(*(getattr(module, name) for name in Adapters._fields))


def packed(sizes: Sizes, numbers: Any) -> Any:
    """The named tuple of states from the array of all their numbers."""
    made = named(tuple(name for name, _ in sizes))
    parts, at = [], 0
    for _, size in sizes:
        parts.append(numbers[at] if size == 0 else numbers[at : at + size])
        at += size or 1
    return made(*parts)


@lru_cache(jit.KEPT_KERNELS)
def named(names: tuple[str, ...]) -> Any:
    """The named tuple with these names."""
    return namedtuple("States", names)


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


@lru_cache(jit.KEPT_KERNELS)
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
