"""A rigid body in the gravity gradient of a distant centre.

    m' = m x I^-1 m + 3 mu / radius^3 u x I u,     u = R^T e3                             [celledoni2008, eq. 3.9]

with ``e3 = (0, 0, 1)`` in space, the direction to the centre. Potential ``U = 3 mu / (2 radius^3) u . I u``
[celledoni2008, eq. 3.8]. Only the attitude moves: distance and direction of the centre are fixed, which neglects
the orbital motion, ``sqrt(mu / radius^3)`` radians per unit time.

Conserved: energy; the vertical component of the spatial angular momentum; for a body with two equal moments, also the
angular momentum about its axis of symmetry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from polhode.algebra.quaternion import rotate
from polhode.arguments import Array, in_unit, number
from polhode.arguments.words import GravitationalParameter, Inertia, Length, Loads, described_by
from polhode.bodies.body import Body
from polhode.bodies.inertia import KG_M2, moments_and_frame
from polhode.errors import answering
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.loads.load import made
from polhode.programs.attitude import matrix_of
from polhode.systems.builders import assembled, given_of
from polhode.systems.record import System

# parameters: k = 3 mu / radius^3. In the principal frame u x I u has differences of moments as factors, which are
# exact for a nearly spherical body too.


def gradient_series(part, t, k, u, bodies, parameters, out):
    """Taylor coefficient of the torque: products u_y u_z, u_z u_x, u_x u_y of series."""
    I = get3(bodies, L.INERTIA)
    x = y = z = 0.0
    for n in range(k + 1):
        a, b = get3(u, 3 * n), get3(u, 3 * (k - n))
        x += a[1] * b[2]
        y += a[2] * b[0]
        z += a[0] * b[1]
    s = parameters[0]
    put3(out, 0, (s * (I[2] - I[1]) * x, s * (I[0] - I[2]) * y, s * (I[1] - I[0]) * z))


def gradient_level(body, strength):
    """k u . I u / 2."""
    u = matrix_of(body.principal).T @ np.array((0.0, 0.0, 1.0))
    return (0.5 * strength * u) @ (body.moments * u)


def axis_of_symmetry(moments: Sequence[float] | Array, frame: Iterable[float]) -> Array | None:
    """The principal axis (user's body frame) whose two other moments are equal within 1e-14, or None."""
    a, b, c = moments
    apart, least = [abs(c - b), abs(a - c), abs(b - a)], 1e-14 * max(a, b, c)
    if min(apart) > least:
        return None
    k = next(k for k in range(3) if apart[k] <= least)
    return np.array(rotate(tuple(frame), tuple(np.eye(3)[k])))


@answering
@described_by(given_of)
def gravity_gradient(inertia: Inertia, mu: GravitationalParameter, radius: Length, loads: Loads = ()) -> System:
    """The attitude of a rigid body in the gravity gradient of a distant centre.

    Parameters
    ----------
    inertia : array_like (3,) or (3, 3)
        Principal moments in any order or full tensor, about the centre of mass, in the user's body frame.
    mu : float
        Gravitational constant times mass of the centre, positive.
    radius : float
        Distance of the centre, positive; its direction is z in space.

    Examples
    --------
    >>> import polhode as ph
    >>> station = ph.systems.gravity_gradient(inertia=(1.7e4, 3.7e4, 5.4e4), mu=3.986e14, radius=6.9e6)
    >>> station.conserves
    ('energy', 'vertical_angular_momentum')
    >>> ds = ph.integrate(station, step=10.0, steps=60, angular_velocity=(0, 0, 1e-3))
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    inertia = in_unit(inertia, KG_M2, "inertia")
    moments, frame = moments_and_frame(inertia)
    mu, radius = number(mu, "mu", "m**3 / s**2", positive=True), number(radius, "radius", "m", positive=True)
    # Divided three times, because the cube may overflow where the quotient does not.
    strength = number(3.0 * mu / radius / radius / radius, "3 mu / radius^3", positive=True)
    axis, given = axis_of_symmetry(moments, frame), given_of({}, loads=loads)
    return assembled(
        "gravity_gradient", [Body("body", np.inf, moments, frame)],
        [made(gradient_level, "gradient", strength=strength)],
        {"inertia": inertia, "mu": mu, "radius": radius}, given,
        axis, {"series": gradient_series, "recommended": "aba10_6_4"}, {"principal": not given.acts},
    )  # fmt: skip
