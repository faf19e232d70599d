"""Initial values of a fit: what the user says, and what is free and unsaid from the first of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import UNKNOWN, Array, array, in_unit, vector
from polhode.errors import InvalidInput
from polhode.estimation.bodies import body_and_word, body_of, does, inverse_of, key_of, lacks, names_of, tensor_of
from polhode.estimation.measurements import Measurement
from polhode.runs.initial_state import OF_BODY, by_name
from polhode.runs.state import FORMS, STATE_WORDS, UNITS_OF_STATE, Start, State, as_kept, refuse_own_states, state_of
from polhode.systems import System

NEITHER_PARALLEL = 0.05  # least sine of the angle between two directions from which an attitude follows


def guess_of(
    system: System, start: Start, given: Mapping[str, Any], free: Sequence[str] | None,
    measurements: Sequence[Measurement],
) -> tuple[dict[str, Any], float]:  # fmt: skip
    """Initial values by the keys of ``bodies.key_of``, and their time; all are ``free`` where that is None."""
    said, t0 = _said(system, start, given)
    found: dict[str, Any] = {}
    for i in range(system.N):
        own, turning, moving = _of_body(system, said, i)
        mine = [one for one in measurements if body_of(system, one.body, one.name) == i]
        asked = [body_and_word(system, name) for name in free or ()]
        names = EVERY if free is None else [one[1] for one in asked if one is not None and one[0] == i]
        of_body: dict[str, Any] = {}
        if does(system, i, "attitude"):
            of_body |= _turning(system, i, turning, names, mine)
        if does(system, i, "position"):
            of_body |= _moving(system, i, moving, names, mine, t0)
        for name in own:
            if not does(system, i, name):
                raise InvalidInput(f"{name} is given, {lacks(system, i, name)}")
        found |= {key_of(system, i, name): value for name, value in of_body.items()}
    return found, t0


EVERY = ("attitude", "angular_velocity", "position", "velocity")


def _said(system: System, start: Any, given: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """What is said of the start, by words of all bodies or by names of bodies; and its time."""
    own: dict[str, Any] = {}
    if isinstance(start, Mapping) and not hasattr(type(start), "isel") and system.names:
        start, own = by_name(system.names, start)
    refuse_own_states(system, start, "these runs")
    said = dict((State.of(start) if hasattr(type(start), "isel") else state_of(start)).given)
    for name, value in given.items():
        if value is not None:
            if name in said:
                raise InvalidInput(f"{name} is given, and start has it too; keep one of them")
            said[name] = value
    return said | own, float(said.pop("time", 0.0))


def _of_body(system: System, said: Mapping[str, Any], i: int) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
    """What is said of a body alone; how it is turned and turns, and where it is and moves."""
    own = dict(said.get(names_of(system)[i], {}))
    several = {name: value for name, value in said.items() if name in OF_BODY}
    for name, value in several.items():
        if name in own:
            raise InvalidInput(f"start has {name} of all bodies and of {names_of(system)[i]!r}; keep one of them")
        own[name] = _row(value, name, system.N, i)
    turning = as_kept({name: own.get(name) for name in FORMS})
    moving = {name: own[name] for name in STATE_WORDS[3:] if name in own}
    alone = [name for name in (*turning, *moving) if name not in several or system.N == 1]
    return alone, turning, moving


def _row(value: Any, name: str, N: int, i: int) -> Any:
    """The value of body i, of one for all bodies or one for each."""
    if N == 1 or name == "sequence" or isinstance(value, int | float):
        return value
    unit = "deg" if name.endswith("_deg") else UNITS_OF_STATE.get(name.removesuffix("_space"), "rad")
    value = in_unit(value, unit, name)  # an array keeps none
    rows = np.asarray(value)
    return rows[i] if rows.ndim == 2 and len(rows) == N else value


def _first(kind: str, measurements: Sequence[Measurement], count: int = 1) -> tuple[Any, Any] | None:
    """The first ``count`` times and values of a kind."""
    for one in measurements:
        if one.kind == kind and len(np.unique(one.times)) >= count:
            times, index = np.unique(one.times, return_index=True)
            return times[:count], one.values[index[:count]]
    return None


def _turning(
    system: System, body: int, said: Mapping[str, Any], free: Sequence[str], measurements: Sequence[Measurement]
) -> dict[str, Array]:
    if "attitude" in said:
        q = array(said["attitude"], "attitude")
        if q.shape != (4,) or abs(np.linalg.norm(q) - 1.0) > 1e-6:
            raise InvalidInput("attitude must be a unit quaternion (w, x, y, z)")
        q = q / np.linalg.norm(q)
    else:
        q = _attitude(measurements) if "attitude" in free else np.array([1.0, 0.0, 0.0, 0.0])
    name = "angular_momentum" if "angular_momentum" in free else "angular_velocity"
    if "angular_momentum" in said and "angular_velocity" not in free:
        return {"attitude": q, "angular_momentum": vector(said["angular_momentum"], "angular_momentum", 3, UNKNOWN)}
    if "angular_momentum" in said:
        omega = inverse_of(system, body) @ vector(said["angular_momentum"], "angular_momentum", 3, UNKNOWN)
    elif "angular_velocity" in said:
        omega = vector(said["angular_velocity"], "angular_velocity", 3, UNKNOWN)
    else:
        omega = _rate(measurements) if name in free else np.zeros(3)
    return {"attitude": q, name: omega if name == "angular_velocity" else tensor_of(system, body) @ omega}


def _attitude(measurements: Sequence[Measurement]) -> Array:
    """The first measured attitude, or that of the first directions [markley1988]; else none."""
    first = _first("attitude", measurements)
    if first is not None:
        return first[1][0]
    seen = [one for one in measurements if one.kind == "direction"]
    profile, sizes = np.zeros((3, 3)), []
    for one in seen:
        k = int(np.argmin(one.times))
        toward = one.reference if one.reference.ndim == 1 else one.reference[k]
        profile += np.outer(toward, one.values[k])
        sizes.append(toward)
    if len(seen) < 2 or np.linalg.matrix_rank(np.array(sizes), tol=NEITHER_PARALLEL) < 2:
        return np.array([1.0, 0.0, 0.0, 0.0])
    U, _, Vt = np.linalg.svd(profile)
    return rotation.quaternion_from_matrix(U @ np.diag([1.0, 1.0, np.linalg.det(U) * np.linalg.det(Vt)]) @ Vt)


def _rate(measurements: Sequence[Measurement]) -> Array:
    """The first measured angular velocity, or that between the first two attitudes; else none."""
    first = _first("gyro", measurements)
    if first is not None:
        return first[1][0]
    two = _first("attitude", measurements, 2)
    if two is None:
        return np.zeros(3)
    (a, b), (q, r) = two
    turn = rotation.multiply(rotation.conjugate(q), r)
    return rotation.log_quaternion(turn if turn[0] >= 0.0 else -turn) / (b - a)


def _moving(
    system: System,
    body: int,
    said: Mapping[str, Any],
    free: Sequence[str],
    measurements: Sequence[Measurement],
    t0: float,
) -> dict[str, Any]:
    attracted = "central_gravity" in system.provides
    name = "momentum" if "momentum" in free else "velocity"
    if "momentum" in said and "velocity" not in free:
        name = "momentum"
    mass = float(system.mass[body])
    r = vector(said["position"], "position", 3, UNKNOWN) if "position" in said else None
    v: Array | None = None
    if "velocity" in said:
        v = said["velocity"]
        v = np.zeros(3) if isinstance(v, int | float) and v == 0 else v
        v = vector(v, "velocity", 3, UNKNOWN)
    elif "momentum" in said:
        v = vector(said["momentum"], "momentum", 3, UNKNOWN) / mass
    first, second = _first("position", measurements), _first("position", measurements, 2)
    speed = _first("velocity", measurements)
    if v is None and {"velocity", "momentum"} & set(free):
        if speed is not None:
            v = speed[1][0]
        elif second is not None:
            (a, b), (p, q) = second
            v = (q - p) / (b - a)
    if r is None and "position" in free and first is not None:
        r = first[1][0] + (0.0 if v is None else (t0 - first[0][0]) * v)
    for what, value in (("position", r), ("velocity", v)):
        if value is None and attracted:
            raise InvalidInput(f"{what} has no guess; give {what}= near the truth, at the time of the start")
    r, v = (np.zeros(3) if value is None else value for value in (r, v))
    return {"position": r, name: v if name == "velocity" else mass * v}
