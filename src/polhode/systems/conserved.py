"""What the motion of a sum conserves, found from its loads: at random states, of random bodies and of sizes from a
centimetre to the distance of the Moon, with other parameters than are given, so that it holds for all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.quaternion import rotate, to_matrix
from polhode.arguments import Array, Indices
from polhode.programs.attitude import ROWS
from polhode.programs.graph import Graph
from polhode.programs.of_arrays import values

TRIALS, LEAST = 16, 8
"""States at which loads are looked at, and the least number of these at which they must be finite."""
NEAR = 1e-9
"""Each state is looked at twice, with places that differ by about this, relative: what their loads differ by shows how
many digits they lose, such as those between distant neutral molecules."""
LOST = 100.0  # largest sum of loads that counts as none, relative to what it differs by
MOST = 1e100
"""Loads at least as large tell nothing: their moments may have no number."""
NEARLY = 1e-11  # largest sum of loads that counts as none, relative to the loads


class Acting(NamedTuple):
    """Loads of one program on several sets of bodies."""

    graph: Graph  # inputs as in ``programs.memory``, of as many bodies as there are in a set
    force: Sequence[int]  # force, torque: rows of forces (space) and torques (principal axes), 3 a body
    torque: Sequence[int]
    on: Indices  # (sets, n): the bodies
    places: Mapping[str, Any]  # (sets,): of inputs that are other parameters for each set: which


def conserved(
    moves: Sequence[bool], acting: Sequence[Acting], parameters: Array, fixed: Collection[str] = ()
) -> tuple[str, ...]:
    """Names of what is conserved beside the energy."""
    N, moving = len(moves), np.array(moves)[:, None]
    if N > 1 and not all(moves):
        return ()
    draw = np.random.default_rng(1)
    state, numbers = _states(draw, N), _numbers(draw, parameters, fixed)
    F, T, good = _sums(acting, state, numbers, fixed, draw)
    if good.sum() < 2 * LEAST:
        return ()
    r, F, T = state["r"][good] * moving, F[good] * moving, T[good]
    turned = np.stack(rotate(np.moveaxis(state["q"][good], -1, 0), np.moveaxis(T, -1, 0)), axis=-1)
    about = np.concatenate([np.cross(r, F), turned], axis=1).sum(axis=1)
    strongest = np.abs(F).max(axis=(1, 2))
    largest = np.abs(r).max(axis=(1, 2)) * strongest + np.abs(T).max(axis=(1, 2))
    whole = _vanishes(about, largest)
    vertical = _vanishes(about[:, 2:], largest)
    pushed = _vanishes(F.sum(axis=1), strongest)
    momentum, spin = ("momentum", "angular_momentum_space") if N == 1 else ("total_momentum", "total_angular_momentum")
    linear = (momentum,) * bool(pushed and moves[0])
    angular = (spin,) if whole else ("vertical_angular_momentum",) * bool(vertical)
    return angular + linear if N == 1 else linear + angular


def apart(N: int, acting: Acting, others: Acting, parameters: Array, fixed: Collection[str] = ()) -> float:
    """The largest difference of loads on N bodies, relative to the loads at a state; arguments as of ``conserved``."""
    draw, found = np.random.default_rng(1), []
    state, numbers = _states(draw, N), _numbers(draw, parameters, fixed)
    for one in (acting, others):
        F, T, good = _sums([one], state, numbers, fixed, np.random.default_rng(2))
        found.append((np.concatenate([F, T], axis=2)[good], good))
    (mine, good), (theirs, also) = found
    if good.sum() < 2 * LEAST or (good != also).any():
        return 0.0
    sizes = np.abs(mine).max(axis=(1, 2)) + np.abs(theirs).max(axis=(1, 2)) + 1e-300
    return float((np.abs(mine - theirs).max(axis=(1, 2)) / sizes).max())


def _sums(
    acting: Sequence[Acting], state: Mapping[str, Any], numbers: Array, fixed: Collection[str],
    draw: np.random.Generator,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Forces and torques (2 trials, N, 3), and at which trials they are finite."""
    F, T = np.zeros((2, 2 * TRIALS, state["r"].shape[1], 3))
    for one in acting:
        names = one.graph.names([*one.force, *one.torque])
        given = {name: _input(name, state, one, numbers, draw) for name in names if name[0] != "P"}
        given |= {f"p{k}": x for k, x in enumerate(numbers) if f"p{k}" in fixed and f"p{k}" not in given}
        sets, n = np.shape(one.on)
        rows = np.empty((2 * 3 * n, 2 * TRIALS, sets))
        for k, found in enumerate(values(one.graph, [*one.force, *one.torque], given)):
            rows[k] = found
        rows = rows.reshape(2, n, 3, 2 * TRIALS, sets).transpose(0, 3, 4, 1, 2)
        for to, loads in zip((F, T), rows, strict=True):
            there: Any = (slice(None), one.on)
            np.add.at(to, there, loads)
    finite = (np.abs(F) < MOST) & (np.abs(T) < MOST)
    return F, T, np.tile(finite.reshape(2, TRIALS, -1).all(axis=(0, 2)), 2)


def _numbers(draw: np.random.Generator, parameters: Array, fixed: Collection[str]) -> Array:
    """Other parameters than are given, but for those that are fixed."""
    return np.array([x if f"p{k}" in fixed else x * draw.uniform(0.7, 1.3) if x else draw.normal()
                     for k, x in enumerate(parameters)])  # fmt: skip


def _vanishes(sums: Array, largest: Array) -> bool:
    """Whether sums (2 n, k) of what is so large are zero but for rounding, which is others in the second half."""
    one, other = np.split(sums, 2)
    lost = LOST * np.abs(one - other).max(axis=1)
    return bool((np.abs(one).max(axis=1) <= NEARLY * largest[: len(one)] + lost).all())


def _states(draw: np.random.Generator, N: int) -> dict[str, Any]:
    """Random states of N bodies, by the beginnings of names of inputs, each an array (2 trials, N, ...)."""
    size = np.geomspace(1e-2, 4e8, TRIALS)[:, None, None]
    q, f = (one / np.linalg.norm(one, axis=-1, keepdims=True) for one in draw.normal(size=(2, TRIALS, N, 4)))
    mass, moments = draw.uniform(0.5, 2.0, (TRIALS, N, 1)), draw.uniform(1.0, 2.0, (TRIALS, N, 3))
    r, v, m = draw.normal(size=(3, TRIALS, N, 3))
    matrix = to_matrix(np.moveaxis(q, -1, 0))
    first = {
        "t": draw.uniform(0.0, 10.0, (TRIALS, 1)), "r": size * r, "v": v, "m": m, "I": moments, "j": 1.0 / moments,
        "mass": mass, "q": q, "f": f,
    } | {f"q_{name}": np.stack(matrix[3 * n : 3 * n + 3], axis=-1) for n, name in enumerate(ROWS)}  # fmt: skip
    both = {name: np.concatenate([one, one]) for name, one in first.items()}
    both["r"][TRIALS:] *= 1.0 + NEAR * draw.normal(size=r.shape)
    return both


def _input(name: str, state: Mapping[str, Any], one: Acting, numbers: Array, draw: np.random.Generator) -> Array:
    """The values of an input, (2 trials, sets) or what broadcasts to it."""
    kind = name.rstrip("0123456789")
    if kind == "p":
        return numbers[one.places[name]][None] if name in one.places else numbers[int(name[1:])]
    if kind == "aux":
        return np.tile(draw.normal(size=(TRIALS, 1)), (2, 1))
    if kind == "t":
        return state["t"]
    i, k = divmod(int(name[len(kind) :]), state[kind].shape[-1])
    return state[kind][:, one.on[:, i], k]
