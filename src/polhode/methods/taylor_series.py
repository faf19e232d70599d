"""Taylor methods of any order, for every system whose loads can be traced.

    "taylor16"           order 16; any order from 2 to 30
    "taylor"             of chosen steps the order too follows from the tolerance; of equal steps it is 20

A step sums the Taylor series of all that moves [jorba2005] (``flows.polynomial``), whose recursions are written from
the program of the loads (``programs.series_role``). All coefficients together count as one evaluation of the loads.
With a tolerance a step is as long as two of its last terms allow, so that no step is refused; its polynomial is the
dense output, on which events are found. Loads that choose between formulas are followed to where the choice changes,
and the step ends there.

Steps of one size of a body whose torque depends on the vertical only, and whose system provides its series, rotate it
by ``flows.taylor``, which keeps the quaternion's length exactly. All sums are compensated (``flows.sums``), so that the
errors of many steps stay near the last digits of the state.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from math import ceil, inf, log10, pi
from typing import Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.flows import polynomial, taylor
from polhode.flows.drift import drift_compensated
from polhode.kernel import layout as L
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.kernel.recurrences import LARGEST_ORDER
from polhode.kernel.simd import load4, load8, spread, spread8
from polhode.lazy import no_collections
from polhode.methods.record import CompiledMethod, Method, Promises
from polhode.programs.series_role import series_role

SMALLEST_ORDER = 2
SHOWN = (8, 12, 16, 20, 30)
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
            drift_compensated(i, h, p)
    p.step_info[L.EVALUATIONS] += 1.0
    p.step_info[L.LOADED] = 0.0
    return L.OK


def safe_step(m: np.ndarray, j: np.ndarray) -> float:
    """The step in which a body rotates by pi, and so the vertical in it at most; m: body angular momentum, j: inverse
    principal moments."""
    speed = float(np.linalg.norm(np.multiply(m, j)))
    return pi / speed if speed > 0.0 else inf


@lru_cache(maxsize=64)
def _step(order: int, fours: int, series: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled step of an order for a series of the torque, with 4 ``fours`` quadrature nodes."""
    rotating = bind(
        taylor.rotate_free, ORDER=order, NODE_LANES=fours, series=inlined(series),
        rates_4=inlined(bind(taylor.rates, ORDER=order, load=load4, spread_out=spread)),
        rates_8=inlined(bind(taylor.rates, ORDER=order, load=load8, spread_out=spread8)),
    )  # fmt: skip
    return bind(taylor_step, rotate_free=helper(rotating))


# ------------------------------------------------------------------ any system
OF_EQUAL_STEPS = 20
"""Order of ``taylor`` with steps of one size."""


def order_for(rtol: float) -> int:
    """The even order that reaches an error in the least time; errors of odd ones were up to 20 times larger."""
    return min(22, max(8, 2 * ceil(2.9 - 0.5 * log10(rtol))))


@no_collections()
def of_program(name: str, order: int, by_tolerance: Callable[[float], int] | None, system: Any) -> CompiledMethod:
    """The method for a system whose loads are a program."""
    dynamics = system.in_full
    if dynamics.reason:
        why = system.untraced or f"those of {system.name!r} cannot be traced: {dynamics.reason}"
        raise InvalidInput(
            f"method {name!r} needs the Taylor series of the loads, but {why}; take 'mkrk:cv8', or a splitting such as "
            "'rkn6_14a'"
        )
    moves, turns = (tuple(np.isfinite(one).tolist()) for one in (system.mass, np.min(system.moments, axis=1)))
    made = series_role(dynamics.graph, system.N, dynamics.force, dynamics.torque, dynamics.rates, moves, turns)
    numbers = [order, made.states, made.width, made.conditions, made.conditions_at, made.size, made.code_at]
    return CompiledMethod(
        polynomial.taylor_step, lambda bodies, blocks: made.size + polynomial.SUMS_ROWS * made.width, np.zeros(1),
        np.concatenate([np.array([*numbers, len(made.code)], np.int64), made.code]),
        estimate=order, dense=polynomial.polynomial_state, auxiliary_work=0, controller="own", role=made.function,
        reading=lambda wheels: of_program(name, order, by_tolerance, system),
        by_tolerance=by_tolerance, polynomial=True, compensation=True, compensates_rotation=True,
    )  # fmt: skip


# ------------------------------------------------------------------ the rows
@cache
def row(order: int = 0) -> Method:
    """The row of the method of this order; 0: by the tolerance."""
    name, by_tolerance = (f"taylor{order}", None) if order else ("taylor", order_for)
    equal = order or OF_EQUAL_STEPS

    def made_for(system: Any, adaptive: bool) -> CompiledMethod:
        if "series" in system.provides and not adaptive:
            return by_the_vertical(equal, system.series_role)
        return of_program(name, equal, by_tolerance, system)

    def prepare() -> CompiledMethod:
        return CompiledMethod(
            polynomial.taylor_step, lambda bodies, blocks: 0, estimate=equal, dense=polynomial.polynomial_state,
            auxiliary_work=0, controller="own", made_for=made_for, compensation=True,
            compensates_rotation=True, compensated=prepare, reading=lambda wheels: prepare(),
        )  # fmt: skip

    promises = Promises(order=equal, requires="loads that can be traced", keeps_top=("axial_momentum",))
    described = f"Taylor series of order {order}" if order else "Taylor series, with a tolerance of the order it needs"
    return Method(name, "taylor", described, "jorba2005", prepare, lambda: promises, range=inf)


@lru_cache(maxsize=64)
def by_the_vertical(order: int, series: Callable[..., Any]) -> CompiledMethod:
    """The method of this order for a torque that depends on the vertical only, by the role of its series."""
    fours = (order + 7) // 8  # groups of four quadrature nodes; order/2 nodes are needed

    coefficients = np.zeros(taylor.TABLE)
    coefficients[: taylor.WEIGHTS] = 1.0 / np.arange(1, taylor.WEIGHTS + 1)
    x, weights = np.polynomial.legendre.leggauss(4 * fours)
    coefficients[taylor.WEIGHTS : taylor.WEIGHTS + 4 * fours] = 0.5 * weights
    powers = coefficients[taylor.POWERS :].reshape(-1, taylor.NODES)
    powers[:, : 4 * fours] = (0.5 * (1.0 + x)) ** np.arange(len(powers))[:, None]
    return CompiledMethod(
        _step(order, fours, series), lambda bodies, blocks: taylor.SIZE, coefficients, largest=safe_step,
        needs={"series"}, compensation=True, compensates_rotation=True,
    )  # fmt: skip


def find(name: str) -> Method | None:
    """The method ``taylorN`` of this name, else None; ``taylor`` is a row."""
    match = re.fullmatch(r"taylor(\d+)", name)
    if match is None:
        return None
    if not SMALLEST_ORDER <= int(match[1]) <= LARGEST_ORDER:
        raise InvalidInput(f"{name!r} is not offered; the order is {SMALLEST_ORDER} to {LARGEST_ORDER}")
    return row(int(match[1]))


ROWS = (*map(row, SHOWN), row())
"""The orders that are listed; ``find`` makes others."""
