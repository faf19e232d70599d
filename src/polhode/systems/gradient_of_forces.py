r"""The gravity gradient of forces with a potential, such as harmonics of a field or third bodies, on a rigid body.

To second order in its size a body feels the potential as six points would, two on each principal axis e_k of its
inertia I, at a distance h from the centre of mass on either side, with the potential phi of a unit mass:

    V = -1/2 sum I_k (e_k . grad)^2 phi  =  -sum I_k / (2 h^2) (phi(r + h e_k) + phi(r - h e_k) - 2 phi(r))

where phi has no sources, so that a sphere feels nothing and the third axis may be left out. Force and torque are those
on the points, the exact gradient of the second form. With h a ten-thousandth of the distance both forms differ by
(n h / r)^2 / 12 for harmonics of degree n, 3e-7 for 20, of a part that is itself a thousandth of the whole.
"""

from __future__ import annotations

import numpy as np

from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.algebra.so3 import add, axpy, cross, dot, scale
from polhode.kernel import layout as L
from polhode.kernel.access import get3
from polhode.kernel.jit import hole
from polhode.systems.forces.sums import ACCELERATION

ARM = 4
"""Numbers of a pair of points: I_3 - I_k, and their axis."""
PAIRS = 2
REACH = 1e-4
"""Distance of the points from the centre of mass, over that from the centre of attraction."""

acceleration = hole(ACCELERATION, "The sum over the forces, and their works.")
beyond = hole("beyond(p, t, r) -> float", "The sum of the potentials without the centre's.")


def loads_on_points(part, p, at, t, r, v, q, out, work_at):
    """Force (space frame) and torque (body frame) on the points, whose numbers begin at ``p[at]``."""
    F, T = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    potential = part & L.POTENTIAL_PART
    if potential != 0:
        h = REACH * np.sqrt(dot(r, r))
        total = 0.0
        for k in range(PAIRS):
            slot = at + ARM * k
            weight, e = p[slot] / (2.0 * h * h), get3(p, slot + 1)
            d = rotate(q, e)
            f = scale(weight, acceleration(potential, p, t, axpy(h, d, r), v, weight, out, work_at))
            g = scale(weight, acceleration(potential, p, t, axpy(-h, d, r), v, weight, out, work_at))
            F = add(F, add(f, g))
            T = axpy(h, cross(e, rotate_inverse(q, axpy(-1.0, g, f))), T)
            total += weight
        F = axpy(-2.0 * total, acceleration(potential, p, t, r, v, -2.0 * total, out, work_at), F)
    return F, T


def potential_of_points(p, at, t, r, q):
    """Their potential."""
    h = REACH * np.sqrt(dot(r, r))
    total, middle = 0.0, beyond(p, t, r)
    for k in range(PAIRS):
        slot = at + ARM * k
        d = rotate(q, get3(p, slot + 1))
        total += p[slot] / (2.0 * h * h) * (beyond(p, t, axpy(h, d, r)) + beyond(p, t, axpy(-h, d, r)) - 2.0 * middle)
    return total


def no_loads_on_points(part, p, at, t, r, v, q, out, work_at):
    """Of a spacecraft that feels the gradient of the centre only."""
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def no_potential_of_points(p, at, t, r, q):
    """Likewise."""
    return 0.0
