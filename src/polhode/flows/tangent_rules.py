"""Derivatives of flows that are not those of their source, which stops an iteration as soon as the numbers are found.

Newton's method doubles the digits of derivatives as it doubles those of the numbers, one round later.
"""

from __future__ import annotations

from typing import Any

from polhode.algebra.quaternion import multiply
from polhode.flows import dmv
from polhode.kernel.jit import bind, helper, inlined

NEARER = 1e-14
"""Relative correction at which Newton's method of the discrete Moser-Veselov map stops with derivatives."""


@inlined
def started(h, m, q, j):
    """The attitude after a step of a body at rest: its derivatives are those of a small momentum."""
    return multiply(q, (1.0, 0.5 * h * j[0] * m[0], 0.5 * h * j[1] * m[1], 0.5 * h * j[2] * m[2]))


RULES: tuple[tuple[Any, Any], ...] = (
    (dmv.at_rest, started),
    (dmv.polished, helper(bind(dmv.polished, NEAR=NEARER))),
    (dmv.newton, inlined(bind(dmv.newton, NEAR=NEARER))),
)
"""Pairs (helper, rule) for ``kernel.tangent_mode.derivative_rules``."""
