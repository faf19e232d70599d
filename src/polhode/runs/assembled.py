"""Where a mechanism starts, from coordinates of its joints: the tree of its bodies is placed from the root on, then the
loops are closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polhode.algebra.rotation import multiply, quaternion_from_matrix, rotate
from polhode.arguments import Array, mapping, number
from polhode.errors import InvalidInput, answering, unknown_name
from polhode.flows.mechanism import HEAD, NODE, PIECE, PIECES
from polhode.kernel import layout as L
from polhode.runs.initial_state import rows_by_name, start_state
from polhode.runs.state import ATTITUDES, FORMS, STATE_WORDS, TURNING, as_kept, state_of
from polhode.systems import System
from polhode.systems.joined import COORDINATES, Configuration, Meeting
from polhode.systems.mechanisms import Joined
from polhode.systems.record import present_system

TRIES = 6
"""How often loops are closed from other values of the coordinates that are free: a mechanism that is stretched out does
not know which way to bend."""
Q, W = slice(L.ATTITUDE, L.ANGULAR), slice(L.ANGULAR, L.BODY)


@answering
def assemble(
    system: System, given: Mapping[str, float] | None = None, rates: Mapping[str, float] | None = None,
    start: Mapping[str, Any] | None = None, near: Mapping[str, float] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The start of a mechanism, with all joints closed, from coordinates of its joints.

    Bodies are placed one after the other from the ground on, or from the first of a group that floats; then loops are
    closed by corrections that are least as the masses weigh them, and velocities likewise.

    Parameters
    ----------
    system : System
        From ``polhode.system(...)``, with joints.
    given : mapping of str to float, optional
        By names of joints angles of hinges (rad) and lengths of sliders (m). Of others they are zero, unless loops need
        them otherwise; what a ball holds is not turned against its neighbour, what a rod holds hangs below it.
    rates : mapping of str to float, optional
        By names of joints the rates of these (rad/s, m/s); of others zero, unless loops need them otherwise.
    start : mapping, optional
        As of ``integrate``: where bodies that float are and how they move, by default at rest at the origin, and how
        bodies on balls are turned and turn.
    near : mapping of str to float, optional
        By names of joints values from which coordinates that loops decide are sought: which way an elbow bends.

    Returns
    -------
    dict
        By names of the bodies ``position``, ``velocity``, ``attitude`` and ``angular_velocity``: the ``start`` of
        ``integrate``.

    Raises
    ------
    InvalidInput
        No joints, an unknown joint or one without a coordinate, or values that the mechanism cannot take: out of
        reach, or more than it has freedoms.

    Examples
    --------
    >>> import polhode as ph
    >>> arm = ph.system(ph.body("arm", 2.0, (1, 1, 0.1)), ph.loads.weight(),
    ...                 ph.joints.hinge(at=(0, 0, 1), axis=(0, 1, 0), name="shoulder").on("arm", ph.ground))
    >>> start = ph.assemble(arm, {"shoulder": 0.3}, rates={"shoulder": 2.0})
    >>> start["arm"]["angular_velocity"].round(12)
    array([0., 2., 0.])
    """
    system = present_system(system)
    if system.mechanism is None:
        raise InvalidInput(f"{system.title} has no joints to assemble; give integrate the positions of its bodies")
    state = state_of(rows_by_name(system.names, _beside(system, start)))
    turned = as_kept({name: getattr(state, name) for name in FORMS})
    y = start_state(system, **turned, **{name: getattr(state, name) for name in STATE_WORDS[3:]})
    told = (("given", given), ("rates", rates), ("near", near))
    values, speeds, about = (_coordinates(system, one, name) for name, one in told)
    said = tuple(_said(system, start, words) for words in (ATTITUDES, TURNING, ("position",)))
    draw, found = np.random.default_rng(1), None
    free = [k for k, one in enumerate(system.mechanism.joints) if one.kind == "hinge" and k not in values | about]
    for attempt in range(TRIES if free else 1):
        drawn = {k: draw.uniform(-1.5, 1.5) for k in free} if attempt else {}
        body, staying = _tree(system, y, drawn | about | values, speeds, said)
        found = Meeting(system, body.ravel(), values, speeds, staying)
        if found.placed():
            break
    else:
        first = Meeting(system, _tree(system, y, about | values, speeds, said)[0].ravel(), values)
        first.placed()
        wanted = ", ".join(f"{name} = {value:g}" for name, value in (given or {}).items())
        raise InvalidInput(f"no position was found that meets the joints{' with ' * bool(wanted)}{wanted}: "
                           f"{first.unmet()}; it is out of reach, or more is given than the mechanism has freedoms: "
                           "give fewer coordinates, or others")  # fmt: skip
    if not found.moved():
        wanted = ", ".join(f"{name} = {value:g}" for name, value in (rates or {}).items())
        raise InvalidInput(f"no velocities meet the joints with the rates {wanted}: more are given than the mechanism "
                           "has freedoms there; give fewer")  # fmt: skip
    return _by_name(system, found.body[0])


def _beside(system: System, start: object) -> object:
    """A start by bodies in which those that say no position are where the first is that does: joints place them."""
    told = start if isinstance(start, Mapping) else {}
    own = {name: one for name in system.names if isinstance(one := told.get(name), Mapping)}
    where = next((one["position"] for one in own.values() if one.get("position") is not None), None)
    if where is None:
        return start
    return {**told, **{name: {"position": where, **own.get(name, {})} for name in system.names}}


def _coordinates(system: System, told: object, argument: str) -> dict[int, float]:
    """Values by the numbers of joints."""
    joints, found = {one.name: k for k, one in enumerate(system.mechanism.joints)}, dict[int, float]()  # type: ignore[union-attr]
    for name, value in mapping({} if told is None else told, argument).items():
        if name not in joints:
            raise unknown_name(f"joint in {argument}", name, joints)
        kind = system.mechanism.joints[joints[name]].kind  # type: ignore[union-attr]
        if kind not in COORDINATES:
            raise InvalidInput(f"{argument} has {name}, but a {kind} has no coordinate; hinges have an angle, sliders "
                               "a length")  # fmt: skip
        unit = ("rad" if kind == "hinge" else "m") + " / s" * (argument == "rates")
        found[joints[name]] = number(value, f"{argument}[{name!r}]", unit)
    return found


def _said(system: System, start: object, words: tuple[str, ...]) -> list[bool]:
    """Of which bodies a start has one of these words."""
    told = start if isinstance(start, Mapping) else {}
    of_all = any(told.get(word) is not None for word in words)
    own = [told.get(name) for name in system.names]
    return [of_all or (isinstance(one, Mapping) and any(one.get(word) is not None for word in words)) for one in own]


def _tree(
    system: System, y: Array, values: dict[int, float], rates: dict[int, float], said: tuple[list[bool], ...]
) -> tuple[Array, tuple[int, ...]]:
    """Bodies (N, 13) placed along the tree, and the roots of groups that float."""
    mechanism, N = system.mechanism, system.N
    assert mechanism is not None
    table, body = mechanism.integers, np.array(y[: L.BODY * N]).reshape(N, L.BODY)
    nodes = table[HEAD + PIECE * table[PIECES] :][: NODE * N].reshape(N, NODE)
    entry, staying = {one.row: k for k, one in enumerate(mechanism.joints)}, list[int]()
    here = Configuration(system, body[None])
    x, R, v = here.x[0], here.R[0], here.velocities[0]
    for i, up, row, rows, second in nodes[::-1].tolist():  # ``second``: whether it is the second of its joint
        if not rows:
            staying.append(i)
            continue
        one, value, rate = mechanism.joints[entry[row]], values.get(entry[row], 0.0), rates.get(entry[row], 0.0)
        numbers, b, sign = here.numbers[0, one.piece :], one.bodies[1], -1.0 if second else 1.0
        turn, axis = _relative(here, one, value)
        if turn is not None:
            R[i] = R[up] @ (turn.T if second else turn)
        elif not said[0][i]:  # as its neighbour
            R[i] = R[up] @ _user(system, up) @ _user(system, i).T
        along, own, other = R[b] @ axis, R[i] @ numbers[0, second], R[up] @ numbers[0, 1 - second]
        if turn is not None or not said[1][i]:
            v[i, 3:] = v[up, 3:] + sign * rate * along * (one.kind == "hinge")
        d = value * along if one.kind == "slider" else np.zeros(3)
        if one.kind == "rod":
            d = x[i] + own - x[up] - other if said[2][i] else np.zeros(3)
            size = np.sqrt(d @ d)
            d = sign * numbers[0, 2, 0] * (d / size if size else np.array([0.0, 0.0, -1.0]))
        opening = rate * along * (one.kind == "slider") + np.cross(v[b if one.kind == "slider" else up, 3:], d)
        x[i] = x[up] + other - own + sign * d
        v[i, :3] = v[up, :3] + np.cross(v[up, 3:], other) - np.cross(v[i, 3:], own) + sign * opening
    body[:, L.POSITION : L.MOMENTUM], body[:, Q] = x[:N], quaternion_from_matrix(R[:N])
    body[:, L.MOMENTUM : L.ATTITUDE] = v[:N, :3] * system.mass[:, None]
    spin = (np.swapaxes(R[:N], 1, 2) @ v[:N, 3:, None])[..., 0]
    body[:, W] = spin * np.where(np.isfinite(system.moments), system.moments, 0.0)
    return body, tuple(staying)


def _relative(here: Configuration, one: Joined, value: float) -> tuple[Array | None, Array]:
    """Of a joint the turn from the axes of its first body to those of the second, None where it is free, and its axis
    in those of the second."""
    numbers = here.numbers[0, one.piece : one.piece + one.pieces]
    if one.kind == "hinge":
        (p, q), (u, v), axis = numbers[1:, 0], here.zero(one), numbers[1, 1]
        turned = [np.cos(value) * u + np.sin(value) * v, np.cos(value) * v - np.sin(value) * u, axis]
        return np.stack(turned, axis=1) @ np.stack([p, q, np.cross(p, q)]), axis
    if one.kind not in ("weld", "slider"):
        return None, np.zeros(3)
    axis = np.cross(*numbers[:2, 2]) if one.kind == "slider" else np.zeros(3)
    return numbers[-3:, 1][[2, 0, 1]].T @ numbers[-3:, 0], axis


def _user(system: System, k: int) -> Any:
    """The matrix from the user's axes of a body, or of space, to its principal ones."""
    return np.eye(3) if k == system.N else rotate(system.frames[k] * (1.0, -1.0, -1.0, -1.0), np.eye(3)).T


def _by_name(system: System, body: Array) -> dict[str, Any]:
    """The start of bodies (N, 13) by their names, in their own axes."""
    found: dict[str, Any] = {}
    for k, name in enumerate(system.names):
        own, frame = body[k], np.asarray(system.frames[k])
        found[name] = {"position": own[L.POSITION : L.MOMENTUM].copy(),
                       "velocity": own[L.MOMENTUM : L.ATTITUDE] / system.mass[k]}  # fmt: skip
        if np.isfinite(system.moments[k]).any():
            found[name] |= {"attitude": multiply(own[Q], frame * (1.0, -1.0, -1.0, -1.0)),
                            "angular_velocity": rotate(frame, own[W] / system.moments[k])}  # fmt: skip
    return found
