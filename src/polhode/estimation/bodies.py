"""The bodies of a system as estimation sees them: blocks of their states, what these are called, mass and inertia.

Of one body a block is called ``position``; of several, with the name of the body before it, or its number where it has
none: ``a.position``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array
from polhode.errors import InvalidInput, PolhodeError, unknown_name
from polhode.runs.parameters import system_with, value_at
from polhode.runs.state import STATE_WORDS
from polhode.runs.tangent.columns import slope
from polhode.systems import System

TURNING, MOVING = STATE_WORDS[:3], STATE_WORDS[3:]
LETTERS = ("x", "y", "z")
STATE = {"position": "position", "momentum": "momentum", "rotation": "attitude", "angular_momentum": "angular_momentum"}
"""Blocks of three rows of a state transition, in the order of each body, and the words for their values."""
OFFSETS = (1e-2, 1e-4, 1e-6)
"""How far arguments are changed to see whether masses and inertias change with them, relative."""


class Block(NamedTuple):
    """Three rows of a state transition."""

    name: str  # one of ``STATE``
    body: int
    key: str  # by which its value stands among those of a state

    def labels(self, several: bool) -> list[str]:
        """The names of its rows."""
        return [f"{self.name}_{a}" + f".{self.body}" * several for a in LETTERS]


def names_of(system: System) -> tuple[str, ...]:
    """The names of the bodies, or their numbers; that of the one body of a builder is "body"."""
    return tuple(system.names) or (("body",) if system.N == 1 else tuple(map(str, range(system.N))))


def key_of(system: System, body: int, word: str) -> str:
    """What a quantity of a body is called."""
    return word if system.N == 1 else f"{names_of(system)[body]}.{word}"


def does(system: System, body: int, word: str) -> bool:
    """Whether a body has a quantity of this name."""
    return bool(np.isfinite(system.moments[body] if word in TURNING else system.mass[body]).any())


def lacks(system: System, body: int, word: str) -> str:
    """Why a body has no quantity of this name, the end of a sentence."""
    whose = "the body" if system.N == 1 else f"body {names_of(system)[body]!r}"
    what = "turn" if word in TURNING else "move through space"
    return f"but {whose} of {system.name!r} does not {what}; leave it out"


def blocks_of(system: System) -> list[Block]:
    """The blocks of a state, in the order of the rows of a state transition."""
    return [Block(name, i, key_of(system, i, word)) for i in range(system.N) for name, word in STATE.items()
            if does(system, i, word)]  # fmt: skip


def body_and_word(system: System, name: object) -> tuple[int, str] | None:
    """The body and the word of the name of a quantity of a state; None for the name of something else."""
    head, _, word = name.rpartition(".") if isinstance(name, str) else ("", "", name)
    if word not in (*TURNING, *MOVING):
        return None
    if not head and system.N > 1:
        raise InvalidInput(f"{word} is that of one of {system.N} bodies; say of which: "
                           f"{' or '.join(f'{one}.{word}' for one in names_of(system)[:2])}")  # fmt: skip
    if head and head not in names_of(system):
        return None
    return (names_of(system).index(head) if head else 0), word


def body_of(system: System, name: str, whose: str) -> int:
    """The number of a body that data are of; the only one where they do not say."""
    if not name and system.N > 1:
        raise InvalidInput(f"{whose} is of one of {system.N} bodies; say of which: body={names_of(system)[0]!r}, or "
                           f"call it {names_of(system)[0]}.{whose}")  # fmt: skip
    if name and name not in names_of(system):
        raise unknown_name(f"body that {whose} is of", name, names_of(system))
    return names_of(system).index(name) if name else 0


# ------------------------------------------------------------------ mass and inertia
def matrix_of(system: System, body: int = 0) -> Array:
    """Matrix (3, 3) from the principal to the user's frame."""
    return rotation.matrix_from_quaternion(np.asarray(system.frames[body]))


def tensor_of(system: System, body: int = 0) -> Array:
    """Inertia (3, 3) of a body in the user's frame; zero about an axis without thickness."""
    moments = np.where(np.isfinite(system.moments[body]), system.moments[body], 0.0)
    R = matrix_of(system, body)
    return (R * moments) @ R.T


def inverse_of(system: System, body: int = 0) -> Array:
    """Inverse inertia (3, 3) in the user's frame."""
    R = matrix_of(system, body)
    return (R / np.asarray(system.moments[body])) @ R.T


RATES = {"angular_velocity": "angular_momentum", "velocity": "momentum"}
"""The blocks that rates are multiplied to."""


def heft_of(system: System, body: int, block: str) -> Array:
    """What a rate of a body is multiplied by to be a block of its state."""
    return tensor_of(system, body) if block == "angular_momentum" else float(system.mass[body]) * np.eye(3)


def heft_by(system: System, path: str, size: int) -> tuple[Array, Array]:
    """Derivatives of masses (N, size) and inertias (N, size, 3, 3) by the numbers of an argument."""
    N, value = system.N, np.atleast_1d(np.asarray(value_at(system, path, "free"), dtype=float))
    found = np.zeros((size, 10 * N))
    for k in range(size):

        def changed(s: float, k: int = k) -> Array:
            other = value.copy()
            other[k] += s
            at = system_with(system, {path: other if value.size > 1 else float(other[0])}, "free")
            masses = np.where(np.isfinite(at.mass), at.mass, 0.0)  # zero of what is infinite
            return np.concatenate([masses, *(tensor_of(at, i).ravel() for i in range(at.N))])

        for offset in OFFSETS:
            h = offset * (abs(value[k]) or 1.0)
            try:
                if np.array_equal(changed(h), changed(-h)):
                    break
                found[k] = slope(changed, h)
                break
            except PolhodeError:  # no system has such a number; one nearer may do
                continue
    return found[:, :N].T, np.moveaxis(found[:, N:].reshape(size, N, 3, 3), 0, 1)


# ------------------------------------------------------------------ where runs start
def start_words(system: System, state: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the keys of blocks as words of ``polhode.integrate``."""
    if system.N == 1:
        return dict(state)
    found: dict[str, Any] = {}
    for i in range(system.N):
        for word, rate in (("momentum", "velocity"), ("angular_momentum", "angular_velocity")):
            if not does(system, i, word):
                continue
            value = state.get(key_of(system, i, word))
            value = heft_of(system, i, word) @ state[key_of(system, i, rate)] if value is None else value
            found.setdefault(word, np.zeros((system.N, 3)))[i] = value
            along = "position" if rate == "velocity" else "attitude"
            rows = np.zeros((system.N, 3)) if along == "position" else np.tile([1.0, 0.0, 0.0, 0.0], (system.N, 1))
            found.setdefault(along, rows)[i] = state[key_of(system, i, along)]
    return found


def values_of(ds: Any, blocks: Sequence[Block], row: int) -> dict[str, Any]:
    """The values of blocks in a row of a run, by their keys."""
    several = "body" in ds.dims
    return {one.key: ds[STATE[one.name]].values[(row, one.body) if several else row] for one in blocks}
