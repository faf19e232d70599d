"""Functions of users as functions of bodies, as loads, controllers and events of a sum are.

``acting(function, form)`` is traced as any other. Where a function is no program, ``called(form)`` calls it as it is,
by a kernel that is bound where a run starts (``user.chosen``).
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
from polhode.systems.user.forms import ENERGIES, OFFERED, Form
from polhode.systems.user.function import UserFunction
from polhode.systems.user.traced import named

STATE = "state_"
"""What names of states begin with among the arguments of a load, and its rates."""
HANDED = "_handed"
"""Of a function that is handed numbers: these, which stand behind all others; no number of a load of one's own can be
called so."""


def load_of(user: UserFunction, name: str, parameters: Any, books: bool = True, as_it_is: bool = False) -> Load:
    """The load that a function is, under this name."""
    returns = "reported" if name == "reported_energy" else ""
    return Load(name=name, parameters=parameters, books=books, returns=returns, **of_function(user, as_it_is))


def of_function(user: UserFunction, as_it_is: bool) -> dict[str, Any]:
    """What a load, controller or event has of a function."""
    known = user.looked if user.looked and not user.looked.opaque else None
    return {
        "function": (called(user.form, user.velocity_dependent) if as_it_is else
                     acting(jit.python_of(user.function), user.form)),
        "kind": "called" if as_it_is else "", "made": known and (known.made, user.form),
        "reads": {STATE + one: one for one, _ in user.form.states},
    }  # fmt: skip


@lru_cache(jit.KEPT_KERNELS)
def acting(function: Callable[..., Any], form: Form) -> Callable[..., Any]:
    """The function of bodies that a function of this form is."""
    names, states, number, keys = form.arguments.split(", "), [one for one, _ in form.states], form.number, _keys(form)

    def act(body: Any, t: Any, _handed: Any, **others: Any) -> Any:
        seen = {"t": t, "parameters": _handed} | {name: seen_by(body, name) for name in form.taken}
        if states:
            seen["states"] = named(tuple(states))(*(others[STATE + one] for one in states))
        result = function(*(seen[name] for name in names))
        if number:
            return result
        items = result if len(keys) > 1 else (result,)
        if len(items) != len(keys):
            raise UserFunctionError("it returns another count of things")
        return dict(zip(keys, items, strict=True))

    return _taking(act, form)


@lru_cache(jit.KEPT_KERNELS)
def called(form: Form, moving: bool) -> Callable[..., Any]:
    """The function of bodies that calls a function of this form; at rest, unless it is ``moving``."""
    kernel, keys = opaque_of(form), _keys(form)

    def act(body: Any, t: Any, _handed: Any, **others: Any) -> Any:
        vectors = [seen_by(body, name) if moving or name in ("position", "q") else [0.0] * 3 for name in form.taken]
        if form.states:
            every = [others[STATE + one] for one, _ in form.states]
            vectors.append([x for one in every for x in (one if getattr(one, "ndim", 0) else [one])])
        found = kernel(_handed, *vectors, t)
        if form.number:
            return found
        numbers = found if form.count_wanted > 1 else [found]
        parts, at = dict[str, Any](), 0
        for key, (_, size) in zip(keys, form.wanted, strict=True):
            parts[key] = numbers[at : at + size] if size else numbers[at]
            at += size or 1
        return parts

    return _taking(act, form)


def _keys(form: Form) -> tuple[str, ...]:
    """By what a function of bodies returns what this one does."""
    names, acts = (name for name, _ in form.wanted), len(form.acts)
    return tuple(name if k < acts or form.sets else STATE + name for k, name in enumerate(names))


def _taking(act: Any, form: Form) -> Any:
    """The function of bodies with the states of a form among its arguments."""
    act.__signature__ = _signature(tuple(name for name, _ in form.states))
    return act


@lru_cache(jit.KEPT_KERNELS)
def _signature(states: tuple[str, ...]) -> Signature:
    names = ("body", "t", HANDED, *(STATE + one for one in states))
    return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def seen_by(body: Any, name: str) -> Any:
    """What a body offers, by the name of an argument of a function."""
    of_body = {"q": "attitude", "omega": "angular_velocity"}
    return getattr(body, of_body.get(name, name))


# ------------------------------------------------------------------ called as it is
@lru_cache(jit.KEPT_KERNELS)
def opaque_of(form: Form) -> Opaque:
    """The kernel that functions of a form are called by, a hole named by what it takes and returns."""
    sizes, count = [OFFERED[name] for name in form.taken] + [form.count] * bool(form.states), form.count_wanted
    name = f"called_{'_'.join(map(str, (form.what + form.which, *form.taken, form.count, count)))}"
    if name in CALLED:
        return CALLED[name]
    words, takes = f"a {form.what} that is called as it is", (*sizes, 0)
    one = f"{name}_slopes"
    slopes = Opaque(_hole(one), sum(sizes), words, None, one, takes) if form.what in ENERGIES else None
    return Opaque(_hole(name), count, words, slopes, name, takes)


def _hole(name: str) -> Hole:
    """What stands for a kernel until it is bound."""
    return Hole(f"{name}(...)", "A function of the user's.")
