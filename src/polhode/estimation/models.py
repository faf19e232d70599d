"""Residuals of measurements and their derivatives by the states, the inertias and the masses at the same time.

A residual is measured minus predicted; of an attitude it is log(q_predicted^-1 q_measured) in the body frame, of a
direction the angle between the two, along two axes across the measured one. Derivatives are those of the *prediction*
by position, momentum (space frame), left-trivialised rotation and angular momentum (body frame), as in
``state_transition`` [sola2018, sec. 4.1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, Indices
from polhode.errors import InvalidInput
from polhode.estimation.measurements import Measurement

SEEN = ("position", "velocity", "attitude", "angular_velocity")  # what measurements see of a body


class Rows(NamedTuple):
    """States of one body at the times of some measurements; None where a body has no such state."""

    position: Any  # position, velocity: (n, 3), in the space frame
    velocity: Any
    attitude: Any  # (n, 4), body to space
    angular_velocity: Any  # (n, 3), in the body frame
    inverse_inertia: Any  # (3, 3), in the user's body frame
    mass: Any  # at the start of the run, by which momenta are velocities
    by_mass: Array  # by_mass, by_inertia: (n,), (n, 3, 3): derivatives by the numbers by which slopes are asked for
    by_inertia: Array

    def at(self, index: Indices) -> Rows:
        """The states of some rows."""
        seen: dict[str, Any] = {word: a[index] for word in SEEN if (a := getattr(self, word)) is not None}
        return self._replace(**seen)


def hat(v: Array) -> Array:
    """Matrices (n, 3, 3) of the cross product with vectors (n, 3)."""
    zero = np.zeros(len(v))
    x, y, z = v.T
    return np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)


def across(u: Array) -> Array:
    """Two unit vectors across each of the unit vectors u (n, 3), as (n, 2, 3)."""
    first = np.cross(u, np.eye(3)[np.abs(u).argmin(axis=1)])
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return np.stack([first, np.cross(u, first)], axis=1)


def left_inverse(v: Array) -> Array:
    """Inverse left Jacobian of the rotation group at rotation vectors (n, 3) [sola2018, eq. 146]."""
    angle = np.linalg.norm(v, axis=1)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    factor = np.where(small, 1.0 / 12.0 + angle**2 / 720.0, 1.0 / safe**2 - 0.5 / (safe * np.tan(0.5 * safe)))
    cross = hat(v)
    return np.eye(3) - 0.5 * cross + factor[:, None, None] * (cross @ cross)


def right_jacobian(v: Array) -> Array:
    """Right Jacobian of the rotation group at one rotation vector (3,): exp(v + d) = exp(v) exp(J d)
    [sola2018, eq. 143]."""
    return np.linalg.inv(left_inverse(-np.asarray(v, dtype=float)[None]))[0]


def whitened(one: Measurement, value: Array) -> Array:
    """Residuals (n, r) or slopes (n, r, k) over the noise of their measurement."""
    return np.asarray(one.whitening @ value if value.ndim > 2 else (one.whitening @ value[:, :, None])[:, :, 0])


def residual_of(one: Measurement, rows: Rows) -> tuple[Array, dict[str, Array]]:
    """Residuals (n, r), measured minus predicted, and the derivatives (n, r, 3) of the prediction by the blocks of the
    state, and at a fixed state by the numbers of ``Rows`` ("direct")."""
    turning = one.kind in ("gyro", "direction", "attitude")
    if (rows.attitude is None) if turning else (rows.position is None):
        lacks = "does not turn" if turning else "does not move through space"
        raise InvalidInput(f"the data have {one.name}, but the body of this system {lacks}; leave {one.name} out")
    return MODELS[one.kind](one, rows)


def residual_among(
    one: Measurement, of: tuple[int, int | None], rows: Sequence[Rows], index: Indices
) -> tuple[Array, list[tuple[int, dict[str, Array]]]]:
    """As ``residual_of``, of data of one body, perhaps seen from another: derivatives by the states of both."""
    body, station = of
    mine = rows[body].at(index)
    if station is None:
        residual, by = residual_of(one, mine)
        return residual, [(body, by)]
    there = rows[station].at(index)
    residual, by = residual_of(replace(one, reference=there.position, reference_velocity=there.velocity), mine)
    _, back = residual_of(replace(one, reference=mine.position, reference_velocity=mine.velocity), there)
    return residual, [(body, by), (station, back)]


def _gyro(one: Measurement, rows: Rows) -> tuple[Array, dict[str, Array]]:
    n, omega, inverse = len(one.times), rows.angular_velocity, rows.inverse_inertia
    by_momentum = np.broadcast_to(inverse, (n, 3, 3))
    direct = -inverse @ np.einsum("kij,nj->nik", rows.by_inertia, omega)  # d(I^-1 m) = -I^-1 dI omega
    return one.values - omega, {"angular_momentum": by_momentum, "direct": direct}


def _direction(one: Measurement, rows: Rows) -> tuple[Array, dict[str, Array]]:
    u = rotation.rotate_inverse(rows.attitude, np.broadcast_to(one.reference, (len(one.times), 3)))
    axes, by_rotation = across(one.values), hat(u)  # (R exp(d))^T s = u + u x d
    aside = np.einsum("nij,nj->ni", axes, u)
    # The length of the residual is the angle itself, so that opposite directions do not look alike.
    sine, cosine = np.linalg.norm(aside, axis=1), np.einsum("ni,ni->n", u, one.values)
    apart = sine > 1e-9
    safe = np.where(apart, sine, 1.0)
    angle, toward = np.arctan2(sine, cosine), np.where(apart[:, None], aside / safe[:, None], 0.0)
    stretch = np.where(apart, angle / safe, 1.0)[:, None, None]
    along = toward[:, :, None] * toward[:, None, :]
    slope = stretch * (np.eye(2) - along) + cosine[:, None, None] * along
    slope = slope @ axes - (sine[:, None] * toward)[:, :, None] * one.values[:, None, :]
    return -aside * stretch[:, :, 0], {"rotation": slope @ by_rotation}


def _attitude(one: Measurement, rows: Rows) -> tuple[Array, dict[str, Array]]:
    error = rotation.multiply(rotation.conjugate(rows.attitude), one.values)
    error = np.where(error[:, :1] < 0.0, -error, error)
    vector = rotation.log_quaternion(error)
    return vector, {"rotation": left_inverse(vector)}  # log(exp(-d) E) = log E - J_l^-1 d


def _position(one: Measurement, rows: Rows) -> tuple[Array, dict[str, Array]]:
    return one.values - rows.position, {"position": np.broadcast_to(np.eye(3), (len(one.times), 3, 3))}


def _velocity(one: Measurement, rows: Rows) -> tuple[Any, dict[str, Any]]:
    by_momentum = np.broadcast_to(np.eye(3) / rows.mass, (len(one.times), 3, 3))
    direct = -rows.velocity[:, :, None] * rows.by_mass / rows.mass
    return one.values - rows.velocity, {"momentum": by_momentum, "direct": direct}


def _range(one: Measurement, rows: Rows) -> tuple[Array, dict[str, Array]]:
    to = rows.position - one.reference
    distance = np.linalg.norm(to, axis=1)
    return one.values - distance[:, None], {"position": (to / distance[:, None])[:, None, :]}


def _range_rate(one: Measurement, rows: Rows) -> tuple[Any, dict[str, Any]]:
    to, speed = rows.position - one.reference, rows.velocity - one.reference_velocity
    distance = np.linalg.norm(to, axis=1, keepdims=True)
    unit = to / distance
    rate = np.einsum("ni,ni->n", unit, speed)[:, None]
    direct = -np.einsum("ni,ni->n", unit, rows.velocity)[:, None, None] * rows.by_mass / rows.mass
    return one.values - rate, {
        "position": ((speed - rate * unit) / distance)[:, None, :], "momentum": unit[:, None, :] / rows.mass,
        "direct": direct,
    }  # fmt: skip


MODELS = {
    "gyro": _gyro, "direction": _direction, "attitude": _attitude, "position": _position, "velocity": _velocity,
    "range": _range, "range_rate": _range_rate,
}  # fmt: skip
"""The model of each kind of measurement."""
