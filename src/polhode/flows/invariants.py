"""Corrections that keep the angular momentum of a free body on its invariants, length and energy, despite rounding.

A flow that keeps both in exact arithmetic misses them by rounding, and where the same rounded coefficients are used in
every step, always to the same side: after n steps the error is of the order n, not sqrt(n). The errors are far below
the last digit of the momentum, so the momentum itself cannot be corrected by them; instead its change is corrected,
together with the rounding error of that change.

Legend: ``m`` angular momentum and ``dm`` its change, in orthonormal axes along the principal ones, in any order; ``c``
inverse moments minus their mean 2E/m^2, times any factor; ``square`` m^2.
"""

from __future__ import annotations

from polhode.algebra.kepler import two_sum
from polhode.algebra.so3 import add, axpy, dot, scale, times
from polhode.kernel.jit import inlined
from polhode.kernel.simd import fused

FLAT = 1e-290  # squared gradient of the energy on the sphere of constant length, below which it counts as zero


@inlined
def squared_speed(low, high, w, c):
    """Largest squared angular speed during the free motion, from the smallest and the largest inverse moment.

    ``c`` = m^2/2, ``w`` = sum of (j_k - low) m_k^2/2. The speed is reached where the component along the middle axis
    vanishes; it is a constant of the motion.
    """
    return 2.0 * (low * low * c + (low + high) * w)


@inlined
def product(f, a):
    """The product f a and its rounding error."""
    p = scale(f, a)
    return p, (fused(f, a[0], -p[0]), fused(f, a[1], -p[1]), fused(f, a[2], -p[2]))


@inlined
def apart(m, end, rest):
    """Change from ``m`` to ``end`` and its rounding error; ``rest`` is the rounding error of ``end``."""
    (x, dx), (y, dy), (z, dz) = two_sum(end[0], -m[0]), two_sum(end[1], -m[1]), two_sum(end[2], -m[2])
    return (x, y, z), add(rest, (dx, dy, dz))


@inlined
def restoring(m, dm, rest, c, square):
    """Correction to add to a change of the momentum so that length and energy stay; ``rest``: rounding error of ``dm``.

    The length is corrected along the momentum, the energy along its gradient on the sphere, ``c`` times the momentum.
    Neither loses digits near an axis, for a rod or for a nearly spherical body, provided that ``c`` does not.
    """
    middle, end = axpy(0.5, dm, m), add(m, dm)
    longer = dot(dm, middle) + dot(rest, end)
    gradient = times(c, end)
    more = dot(dm, times(c, middle)) + dot(rest, gradient)
    steep = dot(gradient, gradient)
    if steep > FLAT:
        rest = axpy(-more / steep, gradient, rest)
    return axpy(-longer / square, end, rest)
