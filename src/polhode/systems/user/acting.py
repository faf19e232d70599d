"""Functions of users as functions of bodies, as loads, controllers and events of a sum are; and what calls them from
compiled code, written for what they take and return.

``acting(function, form)`` is traced as any other. Where a function is no program, ``as_it_is(form)`` stands for it,
which calls it by a hole that is filled where a run starts (``user.chosen``). The numbers of all states stand behind the
bodies in the flat state; a function takes them as a named tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from inspect import Parameter, Signature
from typing import Any

import numpy as np

from polhode.algebra.quaternion import multiply
from polhode.algebra.so3 import dot
from polhode.errors import UserFunctionError
from polhode.kernel import jit
from polhode.kernel.holes import Hole
from polhode.programs.opaque import CALLED, Opaque
from polhode.programs.written import module_of
from polhode.systems.user.forms import ENERGIES, OFFERED, Form, named, split

STATE = "state_"  # what names of states begin with among the arguments of a load, and its rates
HANDED = "_handed"
"""Of a function that is handed numbers: these, which stand behind all others; no number of a load of one's own can be
called so."""
AT_REST = ("position", "q")
OF_BODY = {"q": "attitude", "omega": "angular_velocity"}
"""What a body offers that is called otherwise than the argument of a function."""


@lru_cache(jit.KEPT_KERNELS)
def acting(function: Callable[..., Any], form: Form, moving: bool = True) -> Callable[..., Any]:
    """The function of bodies that a function of this form is; at rest, unless it is ``moving``."""
    names, states = form.names, [STATE + one for one, _ in form.states]
    rated = len(form.acts) + len(form.sets)
    keys = [name if k < rated else STATE + name for k, (name, _) in enumerate(form.wanted)]

    def act(body: Any, t: object, _handed: object, **others: Any) -> Any:
        seen = {"t": t, "parameters": _handed}
        for name in form.taken:
            seen[name] = getattr(body, OF_BODY.get(name, name)) if moving or name in AT_REST else [0.0] * 3
        if states:
            seen["states"] = named(form.states)(*(others[one] for one in states))
        result = function(*(seen[name] for name in names))
        if not rated:
            return result
        items = result if len(keys) > 1 else (result,)
        if len(items) != len(keys):
            raise UserFunctionError("it returns another count of things")
        return dict(zip(keys, items, strict=True))

    order = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("body", "t", HANDED, *states)]
    act.__signature__ = Signature(order)  # type: ignore[attr-defined]
    return act


@lru_cache(jit.KEPT_KERNELS)
def as_it_is(form: Form) -> Callable[..., Any]:
    """A function of this form that calls one as it is."""
    kernel, names = opaque_of(form), form.names

    def call(*given: Any) -> Any:
        seen = dict(zip(names, given, strict=True))
        vectors = [seen[name] for name in form.taken]
        if form.states:
            vectors.append([x for one in seen["states"] for x in (one if getattr(one, "ndim", 0) else [one])])
        found = kernel(seen["parameters"], *vectors, seen["t"])
        parts = split(form.wanted, found if form.count_wanted > 1 else [found])
        return parts if len(parts) > 1 else parts[0]

    return call


@lru_cache(jit.KEPT_KERNELS)
def opaque_of(form: Form) -> Opaque:
    """The kernel that functions of a form are called by, a hole named by what it takes and returns."""
    sizes, count = [OFFERED[name] for name in form.taken] + [form.count] * bool(form.states), form.count_wanted
    name = f"called_{'_'.join(map(str, (form.what + form.which, *form.taken, form.count, count)))}"
    if name in CALLED:
        return CALLED[name]
    words, takes, sloped = f"a {form.what} that is called as it is", (*sizes, 0), f"{name}_slopes"
    hole, slopes = (Hole(f"{one}(...)", "A function of the user's.") for one in (name, sloped))
    derivative = Opaque(slopes, sum(sizes), words, None, sloped, takes) if form.what in ENERGIES else None
    return Opaque(hole, count, words, derivative, name, takes)


# ------------------------------------------------------------------ derivatives, by differences
DIFFERENCE = 1e-2
# Central differences of order 6: error about DIFFERENCE^6/140 of the seventh derivative, and round-off of 1e-14.
STENCIL = (45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)


@jit.inlined
def turned_by(q, k, angle):
    s = np.sin(0.5 * angle)
    return multiply(q, (np.cos(0.5 * angle), s * (k == 0), s * (k == 1), s * (k == 2)))


@jit.inlined
def shift_of(r):
    size = np.sqrt(dot(r, r))
    return DIFFERENCE * size if size > 0.0 else DIFFERENCE


@jit.inlined
def of_quaternion(q, d):
    """By the parts of a unit quaternion, along which its length stays, from those by turns about the body's axes."""
    x, y, z = 2.0 * d[0], 2.0 * d[1], 2.0 * d[2]
    return (-(q[1] * x + q[2] * y + q[3] * z), q[0] * x + q[2] * z - q[3] * y, q[0] * y + q[3] * x - q[1] * z,
            q[0] * z + q[1] * y - q[2] * x)  # fmt: skip


def _slopes(taken: dict[str, str]) -> str:
    """The text of the derivatives of a potential, by coordinates and then by the parts of a unit quaternion."""
    begins, adds, found = ["n = view(p, at + COUNT)[at:]"], list[str](), list[str]()
    for a, what in taken.items():
        turns = what == "q"
        begins += [f"h_{a} = DIFFERENCE" if turns else f"h_{a} = shift_of({a})", f"{a}0 = {a}1 = {a}2 = 0.0"]
        adds += [f"    d, s = h_{a} * (k + 1), STENCIL[k] / h_{a}"]
        for j in range(3):
            moved = [[f"{a}[{i}]" + f" {sign} d" * (i == j) for i in range(3)] for sign in "+-"]
            ways = [f"turned_by({a}, {j}, {d})" for d in ("d", "-d")] if turns else [f"({', '.join(r)})" for r in moved]
            over, under = (", ".join(one if b == a else b for b in taken) for one in ways)
            adds.append(f"    {a}{j} += s * (call(t, {over}, n) - call(t, {under}, n))")
        found.append(f"*of_quaternion({a}, ({a}0, {a}1, {a}2))" if turns else f"{a}0, {a}1, {a}2")
    lines = [*begins, "for k in range(3):", *adds, f"return ({', '.join(found)},)"]
    return "\n    ".join([f"def slopes(p, at, {', '.join(taken)}, t):", *lines]) + "\n"


# ------------------------------------------------------------------ adapters
HEAD = f"""from typing import Any, NamedTuple

from polhode.kernel import jit
from {__name__} import DIFFERENCE, STENCIL, of_quaternion, shift_of, turned_by

user = jit.hole("user(...) -> numbers", "The user's function.")
vector = jit.hole("vector(numbers) -> vector", "Numbers as the function takes them, as a tuple or as an array.")
call = jit.hole("call(...) -> numbers", "The adapter around the user's function.")
NUMBER = jit.hole("NUMBER", "Which of the functions in plain Python behind the role it is.")
COUNT = jit.hole("COUNT", "How many numbers the user hands to it.")
view = jit.hole("view(pointer, length) -> array", "An array on the memory of a pointer.", default=jit.view)
"""


@lru_cache(jit.KEPT_KERNELS)
def adapters(form: Form) -> Any:
    """The adapters of functions of a form: ``ask(t, a, b, ..., p, s) -> numbers``, of what it takes of a body, its
    numbers, and all numbers of the states if it takes states; ``python``, the same of a function behind the role,
    which calls what ``behind`` makes; ``kernel(p, at, a, b, ..., s, t)``, which a program calls; ``at_rest``, one that
    remembers its last result; and ``slopes`` of a potential."""
    vectors, wanted, states = dict(zip("abcd", form.taken, strict=False)), form.wanted, ["s"] * bool(form.states)
    sizes = [(size, "r" if len(wanted) == 1 else f"r[{k}]") for k, (_, size) in enumerate(wanted)]
    wrong = [f"len(r) != {len(wanted)}"] * (len(wanted) > 1) + [f"len({one}) != {size}" for size, one in sizes if size]
    entries = [f"float({one}[{n}])" if size else f"float({one})" for size, one in sizes for n in range(size or 1)]
    parts = split(form.states, [f"s[{k}]" for k in range(form.count)])
    packed = ", ".join(one if isinstance(one, str) else f"vector(({', '.join(one)},))" for one in parts)
    given = ["t", *(f"vector({a})" for a in vectors), "p", *[f"States({packed})"] * bool(states)]
    fields = "".join(f"\n    {name}: Any" for name, _ in form.states)
    lines = [f"class States(NamedTuple):{fields}\n"] if fields else []
    check = f"    if {' or '.join(wrong)}:\n        raise ValueError('not the numbers that are asked for')\n"
    lines.append(f"def ask({', '.join(['t', *vectors, 'p', *states])}):\n    r = user({', '.join(given)})\n"
                 f"{check if wrong else ''}    return {_numbers(entries)}\n")  # fmt: skip
    sizes_taken = [(a, OFFERED[what]) for a, what in vectors.items()] + [("s", form.count)] * bool(states)
    flat = ", ".join(["t", *(f"{a}[{n}]" for a, size in sizes_taken for n in range(size))])
    lines.append(f"def python({', '.join(['t', *vectors, 'p', *states])}):\n"
                 f"    r = jit.call_python(jit.data_behind()[NUMBER], ({flat},), p, {form.count_wanted})\n"
                 f"    return {_numbers([f'r[{k}]' for k in range(form.count_wanted)])}\n")  # fmt: skip
    together = [f"({', '.join(f'{a}{n}' for n in range(size))},)" for a, size in sizes_taken]
    together.insert(len(vectors), "numbers(p)")
    lines.append(f"def behind(function, numbers, results):\n"
                 f"    def called({flat.replace('[', '').replace(']', '')}, p, r):\n"
                 f"        results(r)[{':' if form.count_wanted > 1 else '0'}] = function(t, {', '.join(together)})\n"
                 f"    return called\n")  # fmt: skip
    called = f"call({', '.join(['t', *vectors, 'view(p, at + COUNT)[at:]', *states])})"
    inside = ", ".join(["p", "at", *vectors, *states, "t"])
    lines.append(f"def kernel({inside}):\n    return {called}\n")
    # Memory behind the parameters: the last result of a function that does not read velocities, with its time, position
    # and attitude: the power is needed where the load was just evaluated, at other velocities.
    resting = [f"{a}[{n}]" for a, what in vectors.items() if what in AT_REST for n in range(OFFERED[what])]
    kept = {"m": "1.0", "m + 1": "t"} | {f"m + {k}": one for k, one in enumerate(resting, 2)}
    found = [f"p[m + {9 + k}]" for k in range(form.count_wanted)]
    result = ["r"] if len(found) == 1 else [f"r[{k}]" for k in range(len(found))]
    stores = [*zip(found, result, strict=True), *((f"p[{k}]", one) for k, one in kept.items())]
    lines.append(f"def at_rest({inside}):\n    m = max(1, at + COUNT)\n"
                 f"    if not ({' and '.join(f'p[{k}] == {one}' for k, one in kept.items())}):\n"
                 f"        r = {called}\n" + "".join(f"        {to} = {one}\n" for to, one in stores)
                 + f"    return {_numbers(found)}\n")  # fmt: skip
    lines += [_slopes(vectors)] * (form.what in ENERGIES)
    return module_of("\n\n".join(lines), HEAD)


def _numbers(given: list[str]) -> str:
    return f"({', '.join(given)})" if len(given) > 1 else given[0]
