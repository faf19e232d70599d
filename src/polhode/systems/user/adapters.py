"""What calls a user's function from compiled code, written for what it takes and returns.

The numbers of all states stand behind the bodies in the flat state; a function takes them as a named tuple.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from polhode.kernel import jit
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
