"""Functions of users as functions of loads: of a body, by what it offers.

``acting(user)`` is traced as any other load. Where a function is no program, ``called(user)`` calls it as it is, by a
kernel that is bound where a run starts (``user.chosen``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from inspect import Parameter, Signature
from typing import Any

from polhode.errors import UserFunctionError
from polhode.kernel import jit
from polhode.kernel.holes import Hole
from polhode.loads import Load
from polhode.programs.opaque import CALLED, Opaque
from polhode.systems.user.function import UserFunction
from polhode.systems.user.roles import Form
from polhode.systems.user.states import named

OFFERED = {"position": 3, "velocity": 3, "q": 4, "omega": 3}
"""What a body offers to functions, by the names of their arguments, and how many numbers each is."""
STATE = "state_"
"""What names of states begin with among the arguments of a load."""


def load_of(user: UserFunction, name: str, parameters: Any, books: bool = True, as_it_is: bool = False) -> Load:
    """The load that a function is, under this name."""
    form = user.form
    act = called(form, user.velocity_dependent) if as_it_is else acting(user)
    known = user.looked if user.looked and not user.looked.opaque else None
    return Load(
        act, name, parameters, kind="called" if as_it_is else "", books=books,
        returns="reported" if name == "reported_energy" else "",
        reads={STATE + one: one for one, _ in form.states}, made=known and (known.made, form),
    )  # fmt: skip


def acting(user: UserFunction) -> Callable[..., Any]:
    """The function of a load that this function is."""
    function, form = jit.python_of(user.function), user.form
    names, rated = tuple(form.arguments.split(", ")), tuple(name for name, _ in form.rated)
    states, number = tuple(name for name, _ in form.states), form.numbers == 1

    def act(body: Any, t: Any, _handed: Any, **others: Any) -> Any:
        seen = {"t": t, "parameters": _handed} | {name: seen_by(body, name) for name in names if name in OFFERED}
        if states:
            seen["states"] = named(states)(*(others[STATE + one] for one in states))
        result = function(*(seen[name] for name in names))
        return result if number else by_name(result, names, rated)

    return _taking(act, states)


@lru_cache(jit.KEPT_KERNELS)
def called(form: Form, moving: bool) -> Callable[..., Any]:
    """The function of a load that calls a function of this form; at rest, unless it is ``moving``."""
    given, states = taken(form), tuple(name for name, _ in form.states)
    kernel, number, sizes = opaque_of(form), form.numbers == 1, form.rated

    def act(body: Any, t: Any, _handed: Any, **others: Any) -> Any:
        vectors = [seen_by(body, name) if moving or name in ("position", "q") else [0.0] * 3 for name in given]
        if states:
            every = [others[STATE + one] for one in states]
            vectors.append([x for one in every for x in (one if getattr(one, "ndim", 0) else [one])])
        found = kernel(_handed, *vectors, t)
        if number:
            return found
        at = 6 if form.states or form.numbers == 6 else 3
        parts = {"force": found[:3]} if "position" in form.arguments else {}
        if ", q," in form.arguments:
            parts["torque"] = found[at - 3 : at]
        for name, size in sizes:
            parts[STATE + name] = found[at : at + size] if size else found[at]
            at += size or 1
        return parts

    return _taking(act, states)


def _taking(act: Any, states: tuple[str, ...]) -> Any:
    """The function of a load with these states among its arguments."""
    act.__signature__ = _signature(states)
    return act


@lru_cache(jit.KEPT_KERNELS)
def _signature(states: tuple[str, ...]) -> Signature:
    names = ("body", "t", "_handed", *(STATE + one for one in states))
    return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def seen_by(body: Any, name: str) -> Any:
    """What a body offers, by the name of an argument of a function."""
    of_body = {"q": "attitude", "omega": "angular_velocity"}
    return getattr(body, of_body.get(name, name))


def by_name(result: Any, names: tuple[str, ...], rated: tuple[str, ...]) -> dict[str, Any]:
    """Force, torque and rates by their names, from what a function of these arguments returns."""
    wanted = ["force"] * ("position" in names) + ["torque"] * ("q" in names) + [STATE + one for one in rated]
    items = result if len(wanted) > 1 else (result,)
    if len(items) != len(wanted):
        raise UserFunctionError("it returns another count of things")
    return dict(zip(wanted, items, strict=True))


# ------------------------------------------------------------------ called as it is
def taken(form: Form) -> tuple[str, ...]:
    """The vectors that the kernel of a form takes, but for states; with states it takes all of them."""
    return tuple(OFFERED) if form.states else tuple(name for name in form.arguments.split(", ") if name in OFFERED)


@lru_cache(jit.KEPT_KERNELS)
def opaque_of(form: Form) -> Opaque:
    """The kernel that functions of a form are called by, a hole named by what it takes and returns."""
    given = taken(form)
    sizes = [OFFERED[name] for name in given] + [form.count] * bool(form.states)
    count = form.numbers if not form.states else 6 + form.count_rated
    name = f"called_{'_'.join(map(str, (form.what, *given, form.count, count)))}"
    if name in CALLED:
        return CALLED[name]
    words, takes = f"a {form.what} that is called as it is", (*sizes, 0)
    one = f"{name}_slopes"
    slopes = Opaque(_hole(one), sum(sizes), words, None, one, takes) if form.numbers == 1 else None
    return Opaque(_hole(name), count, words, slopes, name, takes)


def _hole(name: str) -> Hole:
    """What stands for a kernel until it is bound."""
    return Hole(f"{name}(...)", "A function of the user's.")
