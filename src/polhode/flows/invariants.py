"""Putting the momentum of a free body back on its two invariants: its length and the energy.

A flow that keeps both in exact arithmetic misses them by its rounding, and where the same rounded coefficients serve
step after step, always to the same side: after n steps the error is of the order n, not sqrt(n). The errors are far
below the last digit of the momentum, so that no momentum can be corrected by them; what can is its change, together
with what rounding left out of that.

Legend: ``m`` angular momentum and ``dm`` its change, in any orthonormal axes along the principal ones; ``c`` inverse
moments less their mean 2E/m^2, times any number; ``square`` m^2.
"""

from __future__ import annotations

from polhode.algebra.kepler import two_sum
from polhode.algebra.so3 import add, axpy, dot, scale, times
from polhode.kernel.jit import inlined
from polhode.kernel.simd import fused

FLAT = 1e-290
"""Squared gradient of the energy along the sphere of constant length below which there is none."""


@inlined
def squared_speed(low, high, w, c):
    """Largest squared angular speed on the orbit, from the smallest and the largest inverse moment.

    ``c`` is half the square of the momentum, ``w`` half the sum of its squares times inverse moments less the smallest.
    The speed is reached where the component about the middle axis vanishes, and does not change from step to step.
    """
    return 2.0 * (low * low * c + (low + high) * w)


@inlined
def product(f, a):
    """f a and what rounding left out."""
    p = scale(f, a)
    return p, (fused(f, a[0], -p[0]), fused(f, a[1], -p[1]), fused(f, a[2], -p[2]))


@inlined
def apart(m, end, rest):
    """Change from m to end and what rounding left out of it; ``rest`` belongs to the end."""
    (x, dx), (y, dy), (z, dz) = two_sum(end[0], -m[0]), two_sum(end[1], -m[1]), two_sum(end[2], -m[2])
    return (x, y, z), add(rest, (dx, dy, dz))


@inlined
def restoring(m, dm, rest, c, square):
    """What to add to a change of the momentum so that it keeps length and energy; ``rest`` belongs to the change.

    The correction of the length is along the momentum, that of the energy along its gradient on the sphere, which is
    ``c`` times the momentum. Neither loses digits near an axis, for a rod or for a nearly spherical body if ``c`` does
    not.
    """
    middle, end = axpy(0.5, dm, m), add(m, dm)
    longer = dot(dm, middle) + dot(rest, end)
    gradient = times(c, end)
    more = dot(dm, times(c, middle)) + dot(rest, gradient)
    steep = dot(gradient, gradient)
    if steep > FLAT:
        rest = axpy(-more / steep, gradient, rest)
    return axpy(-longer / square, end, rest)
