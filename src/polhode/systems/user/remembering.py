"""What is said of a function that remembers, or that depends on more than its arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

from polhode.errors import InvalidInput
from polhode.kernel.jit import python_of
from polhode.programs.purity import Finding, handed_over
from polhode.programs.purity_rules import CHANGERS


def refusal(described: str, worst: Finding, command: bool, summand: bool = False) -> str:
    """The sentence that refuses a function, with the same law as a state; ``command``: it is that of a controller,
    ``summand``: it is a part of a sum."""
    told = f"it {worst.what}" + (f" ({worst.line})" if worst.line else "")
    if worst.kind == "outside":
        drawn = "{'noise': 1.0, 'every': 0.1}"
        noise = f".states(noise={drawn})" if summand else f"states={{'noise': {drawn}}}"
        return (
            f"{described} depends on more than its arguments: {told}; compute such numbers beforehand and give them in "
            f"parameters=, and draw noise as a state, {noise}"
        )
    name = (re.findall(r"[A-Za-z_]\w*", worst.what.partition(", which")[0]) or ["memory"])[-1]
    name = name if name not in CHANGERS else "memory"
    states = f".states({name}=0.0)" if summand else f"states={{{name!r}: 0.0}}"
    keeps = f"{states} and polhode.controller(..., keeps={name!r})"
    read = f"read {name!r} by its name" if summand else f"read states.{name}"
    law = (
        f"give {keeps}, {read}, and return its new value {'' if summand else 'behind the command'}".rstrip()
        if command
        else f"give {states}, {read}, and return its rate, or let a controller set it: {keeps}"
    )
    cache = "; for a cache, use functools.lru_cache" if re.search(r"\[[^\]\d'\"]", told) else ""
    return (
        f"{described} remembers from call to call: {told}; a run calls it in no fixed order and more often than it has "
        f"steps, so what it remembers must be part of the state: {law}{cache}"
    )


def check_shared(users: Sequence[Any]) -> None:
    """Refuse functions of one run, each a ``UserFunction``, of which one reads what another leaves behind."""
    logging = [one for one in users if one.logs]
    for one, other in product(logging, users):
        if one is other:
            continue
        if (told := handed_over(python_of(one.function), python_of(other.function))) is not None:
            raise InvalidInput(f"{other.described} reads what {one.described} leaves behind; "
                               f"{refusal(one.described, told, one.form.what == 'command')}")  # fmt: skip
