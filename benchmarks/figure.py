"""What a measurement gives to ``all.py``: the ``figures(words, quick)`` of a script yields these."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One number, the smaller the better.

    Attributes
    ----------
    name : str
        By which a row of ``all.py`` finds it.
    ours : float
        Ours, in the unit of the row.
    peer : float, optional
        The same of the program it is compared with.
    errors : tuple of float
        Ours, and that of the peer, where errors are named.
    note : str
        What else there is to say.
    refused : str
        The sentence with which it was refused, in place of a number.
    """

    name: str
    ours: float = float("nan")
    peer: float | None = None
    errors: tuple[float, ...] = ()
    note: str = ""
    refused: str = ""


def in_turns(
    calls: Mapping[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.thread_time
) -> dict[str, float]:
    """The least seconds of each of some calls, taken in turns; the first turn, in which all is new, does not count."""
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(repeats):
        for name, call in calls.items():
            begun = clock()
            call()
            best[name] = min(best[name], clock() - begun)
    return best


def attempt(name: str, call: Callable[[], Any]) -> Figure:
    """0 where a call is answered, else what it was refused with."""
    try:
        call()
    except Exception as problem:  # whatever it is, it is not done
        return Figure(name, 1.0, refused=" ".join(str(problem).split()) or type(problem).__name__)
    return Figure(name, 0.0)
