"""Users' functions as programs: traced where they can be, so that loads follow from a potential without differences.

The role of a traced function is the template of any other, with the text of the program in the place of the function;
that of the loads of a potential calls derivatives. Such roles are cached on disk.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from types import FunctionType
from typing import Any

from polhode.algebra.so3 import add
from polhode.errors import UserFunctionError
from polhode.kernel import jit
from polhode.kernel import layout as slots
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import hole
from polhode.programs import derive
from polhode.programs.graph import Graph
from polhode.programs.text import function as text_of
from polhode.programs.trace import NotTraceable, Program, trace
from polhode.programs.written import module_of
from polhode.systems.user.roles import (
    Form,
    add_to,
    place_gradient_added,
    position_gradient_added,
    principal_torque,
    user_attitude,
)

derived = hole("derived(...) -> numbers", "The loads of the potential, then its partial time derivative.")
built = hole("built(...)", "The built-in role that the function is added to.")
turned = hole("turned", "Whether the user's body frame is not the principal one.")
count = hole("count", "Number of parameters.")
first = hole("first", "Number of parameters of the built-in role.")
own = hole("own", "Index of the auxiliary variable that is the work of the potential; -1 without.")
view = hole("view(pointer, length) -> array", "An array on the memory of a pointer.", default=jit.view)

INPUTS = {"t": ("t", 0), "position": ("r", 3), "velocity": ("v", 3), "q": ("q", "attitude"), "omega": ("w", 3)}
"""Names and sizes of the inputs of a program, by the names of the arguments of a user's function."""
SHAPES = {1: (), 3: (3,), 6: (2, 3)}


# ------------------------------------------------------------------ roles
def position_derived_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if own >= 0:
        out[slots.LOAD + own] = 0.0
    if part & slots.POTENTIAL_PART != 0:
        F = derived(t, get3(y, slots.POSITION), view(parameters, count)[first:])
        put3(out, 0, add(get3(out, 0), (F[0], F[1], F[2])))
        if own >= 0:
            out[slots.LOAD + own] = F[3]


def place_derived_added(part, t, N, y, bodies, parameters, out):
    built(part, t, N, y, bodies, parameters, out)
    if own >= 0:
        out[slots.LOAD + own] = 0.0
    if part & slots.POTENTIAL_PART != 0:
        p = view(parameters, count)[first:]
        L = derived(t, get3(y, slots.POSITION), user_attitude(y, bodies, turned), p)
        add_to(out, bodies, (L[0], L[1], L[2]), principal_torque((L[3], L[4], L[5]), bodies, turned))
        if own >= 0:
            out[slots.LOAD + own] = L[6]


DERIVED = {
    position_gradient_added: position_derived_added, place_gradient_added: place_derived_added,
}  # fmt: skip
"""The template of the loads of a traced potential, by that of the loads by differences."""


# ------------------------------------------------------------------ programs
@dataclass(frozen=True)
class Traced:
    """A user's function that was traced, or why it was not.

    Attributes
    ----------
    program : Program or None
        What it computes.
    reason : str
        Why there is none, a clause about the function ("it decides by ...").
    values : mapping of str to float
        The parameters for which there is none.
    """

    program: Program | None
    reason: str = ""
    values: Mapping[str, float] = field(default_factory=dict, compare=False)


def arguments_of(form: Form, size: int) -> dict[str, Any]:
    """Names and sizes of the inputs of a program, for a function of a form with a number of parameters."""
    if form.states:  # as ``systems.states`` calls it
        names = ["t", "position", "velocity", "q", "omega", "parameters"]
        return dict(INPUTS.get(name, ("p", size if size else ())) for name in names) | {"s": form.count}
    return dict(INPUTS.get(name, ("p", size if size else ())) for name in form.arguments.split(", "))


Arguments = tuple[tuple[str, Any], ...]


@functools.lru_cache(jit.KEPT_KERNELS)
def _known(made: jit.Made, arguments: Arguments, shape: tuple[int, ...], changing: frozenset[int]) -> list[Traced]:
    """What is known of a function: its programs for several values of the parameters that it asks for."""
    return []


def traced(
    made: jit.Made, arguments: Arguments, shape: tuple[int, ...], what: str, values: Any,
    changing: frozenset[int] = frozenset(),
) -> Traced:  # fmt: skip
    """The program of a function, traced once for all values of its parameters p that it does not ask for.

    Parameters
    ----------
    made : Made
        The function.
    arguments : tuple of (str, size)
        Names and sizes of the inputs, of which p are the parameters.
    shape, what
        As in ``trace``.
    values : sequence of float
        The parameters. Of those by which the function decides or counts its loops, other values make another program,
        where they lead elsewhere.
    changing : frozenset of int
        Indices of those that a run changes, whose values cannot be asked for.
    """
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
    """The program of a ``UserFunction``; only of a plain function, whose changes are seen by its code."""
    made = user.made
    if not isinstance(made, jit.Made) or not isinstance(made.function, FunctionType):
        return Traced(None, f"it is no plain function but of type {type(user.function).__name__!r}")
    values, form = user.parameters[user.first :], user.form
    if form.states:
        calling = form.adapters.plain
        adapter = jit.in_python(calling, {"user": made.function})
        adapter.__module__ = made.function.__module__  # so that it is known by the function that it calls
        called = jit.Made(adapter)
        return traced(
            called, tuple(arguments_of(form, len(values)).items()), (6 + form.count_rated,), form.what, values
        )
    return traced(made, tuple(arguments_of(form, len(values)).items()), SHAPES[form.numbers], form.what, values)


def helpers_of(user: Any, program: Program) -> dict[str, Callable[..., Any]]:
    """What fills the holes of the role of a ``UserFunction`` with a program."""
    arguments = arguments_of(user.form, len(user.parameters) - user.first)
    g, rows = program.graph, list(program.outputs)
    if user.template not in DERIVED:
        return {"call": module_of(text_of(g, program.guarded(rows), "call", arguments)).call}
    r, q = ("r" if "r" in arguments else ""), ("q" if "q" in arguments else "")
    force, torque = derive.loads(g, rows[0], r, q)
    rates = derive.rate_in_time(g, rows)
    text = text_of(g, program.guarded([*force, *torque, *rates]), "derived", arguments)
    return {"derived": module_of(text).derived}


def jumps(g: Graph, outputs: Sequence[int]) -> bool:
    """Whether rows may jump at some time, as they decide by the time or round it."""
    rows = [(a, g.rows[a]) for a in g.needed(outputs) if g.rows[a][0] == "fun"]
    ends = {row[2][0] for _, row in rows if row[1] == "choose" and g.nan() in row[2]}  # where a table ends
    steps = (row for a, row in rows if row[1] in ("less", "at_most", "floor", "floordiv", "sign") and a not in ends)
    return any("t" in g.names(row[2]) for row in steps)


def rate_of(user: Any) -> Callable[..., Any]:
    """The partial time derivative of a potential, a ``UserFunction`` with a program; its arguments are those of the
    potential.

    Raises
    ------
    UserFunctionError
        The potential had a program when the system was built, but has none now.
    """
    program = program_of(user).program
    if program is None:
        raise UserFunctionError(f"{user.untraced}; it could when the system was built: build it again")
    rates = derive.rate_in_time(program.graph, program.outputs)
    arguments = arguments_of(user.form, len(user.parameters) - user.first)
    return module_of(text_of(program.graph, rates, "rated", arguments)).rated  # type: ignore[no-any-return]


def unraised(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is infinite where floats of Python raise, as it is when it is compiled."""

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except (ArithmeticError, ValueError):
            return inf

    return call


def role_of(user: Any, program: Program, signature: Any, bound: dict[str, Any]) -> Callable[..., Any]:
    """The role of a ``UserFunction`` with a program, compiled or loaded from disk."""
    template = DERIVED.get(user.template, user.template)
    key: tuple[Any, ...] = (
        id(program),
        user.template,
        user.form,
        user.first,
        len(user.parameters),
        user.own,
        user.frame != IDENTITY,
    )
    key = (*key, user.compiled_built, tuple(bound.items()))
    kept = _roles.get(key)
    if kept is not None:
        return kept[1]  # type: ignore[no-any-return]
    role = _role_of(user, program, template, signature, bound)
    _roles[key] = program, role  # which keeps the program, so that no other gets its address
    while len(_roles) > jit.KEPT_KERNELS:
        _roles.pop(next(iter(_roles)), None)
    return role


_roles: dict[Any, tuple[Program, Any]] = {}
IDENTITY = (1.0, 0.0, 0.0, 0.0)


def _role_of(user: Any, program: Program, template: Any, signature: Any, bound: dict[str, Any]) -> Callable[..., Any]:
    used = jit.global_names(jit.python_of(template).__code__)
    values = {name: value for name, value in bound.items() if name in used} | helpers_of(user, program)
    if user.compiled_built is not None:
        values["built"] = jit.compile_kernel(user.compiled_built, signature)
    return jit.compile_kernel(jit.bind(template, **values), signature)
