"""Two-body orbits of arrays: propagation, orbital elements and anomalies, as ``polhode.kepler``.

A point has the acceleration -mu r/|r|^3 towards the origin; ``mu`` is positive, units are any consistent set, angles
are radians. Every function takes array_like with leading axes that broadcast, positions and velocities with a last axis
of length 3, and returns float64. Invalid arguments raise ``polhode.errors.InvalidInput``.

Three sets of elements, each a named tuple, converted back to a state by ``state_from_...(*elements, mu)``:

===================== ========================================= ====================================================
set                   elements                                  undefined for
===================== ========================================= ====================================================
classical             p, e, i, node, argument of periapsis, nu  nothing, by convention: see ``classical_elements``
modified equinoctial  p, f, g, h, k, L [walker1985]             i = pi; with ``retrograde=True`` i = 0 instead
equinoctial           a, h, k, p, q, lambda [broucke1972]       the same; parabolas and hyperbolas
===================== ========================================= ====================================================

The classical angles lose digits on nearly circular or equatorial orbits; their sum does not, nor do the other sets. A
rectilinear orbit has no plane and no elements: keep its position and velocity.

Legend: ``p`` semi-latus rectum, ``a`` semi-major axis, ``e`` eccentricity, ``i`` inclination, ``nu`` true anomaly;
``L`` true longitude, ``lambda`` mean longitude; ``u`` argument of latitude; in kernels ``h, H`` angular momentum and
its length, ``d`` distance, ``I`` = -1 for retrograde elements, else 1.
"""

from polhode.algebra.orbits import anomalies, elements, propagation
from polhode.algebra.orbits.anomalies import *  # noqa: F403
from polhode.algebra.orbits.elements import *  # noqa: F403
from polhode.algebra.orbits.propagation import *  # noqa: F403
from polhode.lazy import public_names

__all__ = sorted([*anomalies.__all__, *elements.__all__, *propagation.__all__])
__dir__ = public_names(__all__)
