"""Derivatives of flows that are not those of their source, which stops an iteration as soon as the numbers are found.

Newton's method doubles the digits of derivatives as it doubles those of the numbers, one round later.
"""

from __future__ import annotations

from typing import Any

from polhode.algebra import kepler
from polhode.algebra.quaternion import multiply
from polhode.flows import dmv, free_rotation, glide, kick
from polhode.kernel.jit import bind, helper, inlined
from polhode.kernel.tangent_mode import plain, with_derivatives

NEARER = 1e-14
"""Relative correction at which Newton's method of the discrete Moser-Veselov map stops with derivatives."""

CORRECTIONS = 8
"""Corrections of the multipliers of joints with derivatives."""


@inlined
def started(h, m, q, j):
    """The attitude after a step of a body at rest: its derivatives are those of a small momentum."""
    return multiply(q, (1.0, 0.5 * h * j[0] * m[0], 0.5 * h * j[1] * m[1], 0.5 * h * j[2] * m[2]))


@inlined
def acting(width, load, rest):
    """Loads that are zero may have derivatives."""
    return True


@inlined
def corrected(worst, count):
    """Corrections go on for the derivatives of the residuals, of which each leaves the part that the matrix is off."""
    return count >= CORRECTIONS


@inlined
def since_periapsis(b, eta, zeta, zeta_q):
    """The anomaly since periapsis; the source divides by b what nearly cancels on a nearly parabolic orbit.

    From eta G0 = zeta G1, where both sides are functions of the anomaly and b.
    """
    c, x, z, d = plain(b), plain(eta), plain(zeta), plain(zeta_q)
    s = kepler.since_periapsis(c, x, z, d)
    G1, G2, G3 = kepler.universal(c, s)
    return with_derivatives(
        s, ((1.0 - c * G2) / d, eta), (-G1 / d, zeta), (-0.5 * (x * s * G1 + z * (G3 - s * G2)) / d, b)
    )


RULES: tuple[tuple[Any, Any], ...] = (
    (dmv.at_rest, started),
    (dmv.polished, helper(bind(dmv.polished, NEAR=NEARER))),
    (dmv.newton, inlined(bind(dmv.newton, NEAR=NEARER))),
    (kepler.since_periapsis, since_periapsis),
    (kick.acting, acting),
    (glide.enough, corrected),
)
"""Pairs (helper, rule) for ``kernel.tangent_mode.derivative_rules``."""
APART: tuple[Any, ...] = (free_rotation.increment, kepler.kepler_motion)
"""Helpers that are objects of their own there: half of what kernels of splittings would otherwise compile anew."""
