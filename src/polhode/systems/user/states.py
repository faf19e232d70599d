"""What calls a user's function with states, written for their names and sizes.

The numbers of all states stand behind the bodies in the flat state; the function takes them as a named tuple, and
returns their rates behind the load.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.programs.written import module_of

Sizes = tuple[tuple[str, int], ...]
"""Names of states and how many numbers each has; 0: one number, not a vector."""

VALUE = "the value"
"""Of a function that returns one number and no rates, in the place of the name of a state that it sets."""


def sizes_read(variables: Any) -> Sizes:
    """The names by which functions read auxiliary variables, and how many numbers each has."""
    counts: dict[str, int] = {}
    for one in variables:
        counts[one.quantity] = counts.get(one.quantity, 0) + 1 if one.dimension else 0
    return tuple(counts.items())


HEAD = """from typing import Any, NamedTuple

import numpy as np

from polhode.kernel.jit import hole

user = hole("user(...) -> numbers", "The user's function.")
"""


class Adapters(NamedTuple):
    """What calls a function with states, ``adapter(t, r, v, q, w, p, s) -> force, torque and rates`` in one tuple, with
    ``s`` all numbers of the states; the user's function is bound into them."""

    tuples: Callable[..., Any]  # tuples, arrays: with vectors as tuples, or as arrays
    arrays: Callable[..., Any]
    plain: Callable[..., Any]  # for plain Python, and to be traced
    states: Any  # the named tuple of states


GIVEN = {"position": "a", "velocity": "b", "q": "c", "omega": "d"}


@lru_cache(jit.KEPT_KERNELS)
def adapters(arguments: str, sizes: Sizes, held: int = 0, sets: tuple[str, ...] = ()) -> Adapters:
    """The adapters of functions with these arguments and states, which return the rates of those behind the first
    ``held``; without such, the load alone; or the new values of the states ``sets``, and no load."""
    names = arguments.split(", ")[1:-2]
    forces, torques = "position" in names and not sets, "q" in names and not sets
    items: list[tuple[int, int]] = [(3, k) for k in range(forces + torques)]
    behind = [(name, dict(sizes).get(name, 0)) for name in sets] or list(sizes[held:])
    alone = len(items) + len(behind) == 1
    items += [(size, k) for k, (_, size) in enumerate(behind, len(items))]

    def entries(form: str) -> list[str]:
        found = ["0.0"] * 6 if sets else [] if forces else ["0.0"] * 3
        for index, (size, k) in enumerate(items):
            if index == forces and not torques and not sets:
                found += ["0.0"] * 3
            found += [form.format(f"r[{k}]")] if size == 0 else [form.format(f"r[{k}][{n}]") for n in range(size)]
        return found + ["0.0"] * (L.LOAD - len(found))

    def packed(form: str) -> str:
        parts, at = [], 0
        for _, size in sizes:
            one = f"s[{at}]" if size == 0 else form.format(", ".join(f"s[{at + n}]" for n in range(size)))
            parts.append(one)
            at += size or 1
        return f"States({', '.join(parts)})"

    checks = [f"len(r) != {len(items)}"] + [f"len(r[{k}]) != {size}" for size, k in items if size > 0]
    fields = "\n".join(f"    {name}: Any" for name, _ in sizes)
    lines = [f"class States(NamedTuple):\n{fields}\n"]
    for name, vector, pack, form in (
        ("tuples", "{}", "({},)", "float({})"),
        ("arrays", "np.array({})", "np.array(({},))", "float({})"),
        ("plain", "{}", "np.array([{}])", "{}"),
    ):
        given = ", ".join(["t", *(vector.format(GIVEN[one]) for one in names), "p", packed(pack)])
        lines.append(
            f"def {name}(t, a, b, c, d, p, s):\n    r = {'(' if alone else ''}user({given}){',)' if alone else ''}\n"
            f"    if {' or '.join(checks)}:\n"
            f'        raise ValueError("not the numbers that are asked for")\n    return ({", ".join(entries(form))})\n'
        )
    module = module_of("\n\n".join(lines), HEAD)
    return Adapters(module.tuples, module.arrays, module.plain, module.States)


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


@lru_cache(jit.KEPT_KERNELS)
def access(first: int, count: int, places: tuple[int, ...] = ()) -> dict[str, Any]:
    """``states_in(y)``, the numbers of states that are the auxiliary variables from ``first`` on; and ``put_set(out,
    numbers)``, which writes those behind force and torque among the numbers to these places among the states. Of one
    body."""
    read = ", ".join(f"y[{L.BODY + first + k}]" for k in range(count))
    put = "".join(f"    out[{L.LOAD + first + n}] = numbers[{L.LOAD + k}]\n" for k, n in enumerate(places))
    text = f"def states_in(y):\n    return ({read},)\n\n\ndef put_set(out, numbers):\n{put or '    pass'}\n"
    module = module_of(text, "")
    return {name: jit.inlined(getattr(module, name)) for name in ("states_in", "put_set")}  # type: ignore[no-untyped-call]
