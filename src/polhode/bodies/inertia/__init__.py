r"""Mass and inertia: mass properties of bodies, principal moments and principal frames.

``principal`` converts three moments or a full tensor to principal moments and a unit quaternion; the constructors
(``point_masses``, ``box``, ``ellipsoid``, ``sphere``, ``cylinder``, ``thin_rod``, ``disk``, ``mesh``) return a
``MassProperties``, which can be rotated, translated and added to others. With positions x relative to the centre of
mass,

.. math::  J = \int x x^T dm, \qquad I = \mathrm{tr}(J)\,1 - J, \qquad J = \tfrac12 \mathrm{tr}(I)\,1 - I.

In principal axes J is the diagonal matrix of Vilmart's d_k and I_1 = d_2 + d_3 (cyclic) [vilmart2013, eq. 2]. A tensor
is physically possible exactly if J has no negative eigenvalue; for the moments this is the triangle inequality
I_i <= I_j + I_k. Any consistent set of units; quaternions are scalar first (w, x, y, z).
"""

from __future__ import annotations

from polhode.bodies.inertia.mass_properties import MassProperties, mass_of
from polhode.bodies.inertia.principal_axes import (
    MomentsAndFrame as MomentsAndFrame,
    Principal,
    inertias_of as inertias_of,
    moments_and_frame as moments_and_frame,
    principal,
    principal_of_many,
    principals,
    turning,
)
from polhode.bodies.inertia.second_moments import (
    KG_M2 as KG_M2,
    RELATIVE_TOLERANCE as RELATIVE_TOLERANCE,
    d_from_inertia,
    inertia_from_d,
    inertia_from_second_moments,
    parallel_axis,
    parallel_axis_inverse,
    second_moments_from_inertia,
)
from polhode.bodies.inertia.shapes import box, cylinder, disk, ellipsoid, mesh, point_masses, sphere, thin_rod
from polhode.lazy import public_names

__all__ = [
    "Principal", "principal", "principal_of_many", "principals", "turning", "second_moments_from_inertia",
    "inertia_from_second_moments", "d_from_inertia", "inertia_from_d", "parallel_axis", "parallel_axis_inverse",
    "MassProperties", "mass_of", "point_masses", "box", "ellipsoid", "sphere", "cylinder", "disk", "thin_rod", "mesh",
]  # fmt: skip
__dir__ = public_names(__all__)
