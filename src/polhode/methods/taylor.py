"""Taylor methods of any order for bodies whose torque depends on the vertical only: free bodies, tops, satellites.

    "taylor16"           order 16; any order from 2 to 30

A step sums the Taylor series of angular momentum and of the vertical in the body frame [jorba2005] and rotates the
body by ``flows.taylor``. The user fixes step and order; a step depends on the state alone. The system provides the
Taylor coefficients of the torque one after the other, which together count as one evaluation of the loads.
"""

from __future__ import annotations

import re
from functools import cache
from math import inf, pi
from typing import Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.flows import taylor
from polhode.flows.drift import drift
from polhode.kernel import layout as L
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.methods.record import CompiledMethod, Method, Promises

SMALLEST_ORDER = 2
SHOWN = (8, 12, 16, 20)
"""Orders that are listed."""

rotate_free = hole("rotate_free(i, t, h, p) -> status", "Rotates body i by its Taylor series.")


def taylor_step(t, h, p):
    """Rotate each body by its Taylor series; positions drift, as no force acts on them."""
    for k in range(p.B):
        i = p.blocks[2 * k]
        if p.blocks[2 * k + 1] == L.ROTATION:
            status = rotate_free(i, t, h, p)
            if status != L.OK:
                return status
        else:
            drift(i, h, p)
    p.step_info[L.EVALUATIONS] += 1.0
    p.step_info[L.LOADED] = 0.0
    return L.OK


def safe_step(m: Any, j: Any) -> float:
    """The step in which a body rotates by pi, and so the vertical in it at most; m: body angular momentum, j: inverse
    principal moments."""
    speed = float(np.linalg.norm(np.multiply(m, j)))
    return pi / speed if speed > 0.0 else inf


@cache
def _step(order: int, fours: int) -> Any:
    """The compiled step of an order, with 4 ``fours`` quadrature nodes."""
    polynomials = inlined(bind(taylor.polynomials, ORDER=order))
    turning = bind(taylor.rotate_free, ORDER=order, NODE_LANES=fours, polynomials=polynomials)
    return bind(taylor_step, rotate_free=helper(turning))


@cache
def row(order: int) -> Method:
    """The row of the method of this order."""
    fours = (order + 7) // 8  # groups of four quadrature nodes; order/2 nodes are needed

    def prepare() -> CompiledMethod:
        coefficients = np.zeros(taylor.TABLE)
        coefficients[: taylor.WEIGHTS] = 1.0 / np.arange(1, taylor.WEIGHTS + 1)
        x, weights = np.polynomial.legendre.leggauss(4 * fours)
        coefficients[taylor.WEIGHTS : taylor.WEIGHTS + 4 * fours] = 0.5 * weights
        powers = coefficients[taylor.POWERS :].reshape(-1, taylor.NODES)
        powers[:, : 4 * fours] = (0.5 * (1.0 + x)) ** np.arange(len(powers))[:, None]
        return CompiledMethod(
            _step(order, fours), lambda bodies, blocks: taylor.SIZE, coefficients, largest=safe_step, needs={"series"}
        )  # fmt: skip

    promises = Promises(
        order=order,
        requires="the Taylor series of a torque that depends on the vertical only",
        keeps_top=("axial_momentum",),
    )
    return Method(
        f"taylor{order}", "taylor", f"Taylor series of order {order} of momentum and vertical", "jorba2005",
        prepare, lambda: promises, range=inf,
    )  # fmt: skip


def find(name: str) -> Method | None:
    """The method ``taylorN`` of this name, else None.

    Raises
    ------
    InvalidInput
        An order that is not offered.
    """
    match = re.fullmatch(r"taylor(\d+)", name)
    if match is None:
        return None
    if not SMALLEST_ORDER <= int(match[1]) <= taylor.LARGEST_ORDER:
        raise InvalidInput(f"{name!r} is not offered; the order is {SMALLEST_ORDER} to {taylor.LARGEST_ORDER}")
    return row(int(match[1]))


ROWS = tuple(map(row, SHOWN))
"""The orders that are listed; ``find`` makes others."""
