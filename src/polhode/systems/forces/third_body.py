"""Gravity of another body."""

from __future__ import annotations

import numpy as np

from polhode.algebra.so3 import axpy, dot, scale
from polhode.arguments import number
from polhode.arguments.words import GravitationalParameter, Position, Positions, Times
from polhode.errors import InvalidInput, answering
from polhode.surroundings.ephemerides import Ephemerides, ephemeris_of
from polhode.surroundings.paths import Circle, path_of, place_at, receding_at, square_at, velocity_at
from polhode.systems.forces.record import Force

# Numbers: the gravity parameter of the body, then its path.


def third_body_acceleration(p, at, mu, t, r, v):
    """m (d/|d|^3 - s/|s|^3) as -m/|d|^3 (r + f s), f of q = r . (r - 2 s)/s^2, without cancellation [battin1999].

    f is |d|^3/|s|^3 - 1, and its denominator is made of these cubes, whose powers a program has anyway.
    """
    s, far = place_at(p, at + 1, t), square_at(p, at + 1, t)
    d = axpy(-1.0, r, s)
    near = dot(d, d)
    q = dot(r, axpy(-2.0, s, r)) / far
    cube = near * np.sqrt(near)
    f = q * (3.0 + q * (3.0 + q)) / (1.0 + cube / (far * np.sqrt(far)))
    k = -p[at] / cube
    return axpy(k * f, s, scale(k, r))


def third_body_potential(p, at, mu, t, r):
    """-m (1/|d| - 1/|s| - r . s/|s|^3) per unit mass, zero at the centre; also without cancellation."""
    s = place_at(p, at + 1, t)
    square = dot(s, s)
    q = dot(r, axpy(-2.0, s, r)) / square
    w = np.sqrt(1.0 + q)
    tide = q * q * (w + 2.0) / (2.0 * w * (1.0 + w) * (1.0 + w)) - 0.5 * dot(r, r) / square
    return -p[at] / np.sqrt(square) * tide


def third_body_rate(p, at, mu, t, r):
    """Partial time derivative of ``third_body_potential``; with f of the acceleration and s' the body's velocity,

        m / |s|^3 (r . s' f / (1 + f) - s . s' (f / (1 + f) + 3 r . s / s^2)),

    the bracket evaluated without cancellation. On a circle s . s' = 0.
    """
    s, ds = place_at(p, at + 1, t), velocity_at(p, at + 1, t)
    d = axpy(-1.0, r, s)
    near, square, receding = dot(d, d), square_at(p, at + 1, t), receding_at(p, at + 1, t)
    q = dot(r, axpy(-2.0, s, r)) / square
    w = np.sqrt(1.0 + q)
    cube = near * np.sqrt(near) / (square * np.sqrt(square))  # 1 + f
    f = q * (3.0 + q * (3.0 + q)) / (1.0 + cube)
    rest = 1.5 * q * q * (1.0 + q / 1.5 - (1.0 + q) / (1.0 + w)) / (1.0 + cube)  # f - 3 q / 2
    bracket = (rest - 1.5 * q * f) / cube + 1.5 * dot(r, r) / square
    return p[at] / (square * np.sqrt(square)) * (dot(r, ds) * f / cube - receding * bracket)


@answering
def third_body(
    mu: GravitationalParameter | None = None,
    *,
    position: Position | None = None,
    times: Times | None = None,
    positions: Positions | None = None,
    circle: Circle | None = None,
    ephemeris: Ephemerides | None = None,
) -> Force:
    """Gravity of another body, minus its pull on the centre, the origin of the frame.

    Near the centre the direct and the indirect term nearly cancel; their difference is computed by a formula without
    cancellation [battin1999].

    Parameters
    ----------
    mu : float, optional
        Gravity constant times mass of the body; by default that of the ephemeris' body.
    position : array_like (3,), optional
        Its position, if at rest; or
    times, positions : array_like (n,), (n, 3), optional
        A table, n >= 4, interpolated by a cubic spline; or
    circle : mapping, optional
        A circle about the centre: ``radius``, ``period`` (negative: clockwise), and optionally ``phase`` (rad, at time
        0, from the ascending node on the plane z = 0, or from x if the circle lies in that plane) and ``normal``; or
    ephemeris : Ephemeris, optional
        From ``polhode.surroundings.ephemeris``, or a mapping of its arguments: Sun, Moon and planets. The run is then
        in SI units.

    Returns
    -------
    Force

    Raises
    ------
    InvalidInput
        Naming the argument that is wrong.
    """
    path = path_of(position, times, positions, circle, ephemeris)
    if mu is None and ephemeris is None:
        raise InvalidInput("mu is missing; give the gravity parameter of the body, or an ephemeris, which has it")
    mu = number(ephemeris_of(ephemeris).mu if mu is None else mu, "mu", "m**3 / s**2", positive=True)
    if path.still and not any(path.numbers[1:]):
        raise InvalidInput("position is zero, the place of the centre; give the place of the other body")
    return Force(
        "third_body",
        f"gravity of another body {path.words}",
        {"mu": mu, **path.arguments},
        (mu, *path.numbers),
        third_body_acceleration,
        third_body_potential,
        third_body_rate,
        velocity_dependent=False,
        autonomous=path.still,
    )
