"""The solver of a fit: SciPy's least squares over the directions that the data determine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from polhode.arguments import Array
from polhode.errors import InvalidInput
from polhode.estimation.observability import Directions
from polhode.estimation.problem import Linearisation, Problem, checked
from polhode.estimation.result import Convergence

SOLVERS = ("trf", "dogbox", "lm")
LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
ROUNDS = 4
"""Most times that the unobservable directions are found anew."""
ALIKE = 1e-6
"""Sine of the angle between two spaces of directions that count as the same."""
TOLERANCES = {"xtol": 1e-10, "ftol": 1e-10, "gtol": 1e-10}
HUGE = 1e100
"""Residuals of a run that fails, for a solver that takes finite numbers only."""


@dataclass(frozen=True)
class SolverWords:
    """How the least squares are solved: words of ``scipy.optimize.least_squares``."""

    solver: str = "trf"
    loss: str = "linear"
    loss_scale: float = 1.0
    max_evaluations: int = 100


@dataclass(frozen=True, eq=False)
class Solution:
    """Numbers, linearisation there, what is observable, and how the solver ended."""

    x: Array
    at: Linearisation
    found: Directions
    convergence: Convergence


def weights(f: Array, words: SolverWords) -> Array:
    """Square roots (m,) of the derivative of the loss at the residuals: outliers weigh less."""
    z = (f / words.loss_scale) ** 2
    slopes: dict[str, Any] = {
        "linear": lambda: np.ones_like(z), "soft_l1": lambda: 1.0 / np.sqrt(1.0 + z),
        "huber": lambda: np.where(z > 1.0, 1.0 / np.sqrt(np.maximum(z, 1.0)), 1.0), "cauchy": lambda: 1.0 / (1.0 + z),
        "arctan": lambda: 1.0 / (1.0 + z * z),
    }  # fmt: skip
    return np.sqrt(slopes[words.loss]())


def solve(problem: Problem, words: SolverWords, x: Array | None = None) -> Solution:
    """The least squares of a problem, from its guess or from other numbers, which are held along directions that
    nothing was measured of."""
    calls = problem.calls
    guess = x = problem.start if x is None else x
    checked("data over loss_scale", problem.evaluate(x).f / words.loss_scale)
    found = problem.directions(x)
    costs: list[float] = []
    convergence = Convergence(False, "", 0, (), np.inf)
    for _ in range(ROUNDS):
        if not found.sizes.size:
            raise InvalidInput("the data say nothing about what is free: "
                               f"{', '.join(one.name for one in problem.free)}; free something else, or give data of "
                               "other kinds")  # fmt: skip
        held, scale = _held(problem, x, found)
        # The guess along what nothing was measured of, unless that, too far from here, is no motion.
        moved = guess + _without(held, (x - guess) / scale) * scale
        x = x if problem.failing(moved) is None else moved
        x, convergence = _minimised(problem, words, x, _complement(held), scale, costs)
        before, found = found, problem.directions(x)
        if _same(before, found):
            break
    at = problem.evaluate(x)
    weighted = problem.directions(x, weights(at.f, words)[:, None])
    found = weighted if weighted.null.shape == found.null.shape else found
    return Solution(x, at, found, replace(convergence, evaluations=problem.calls - calls))


def _held(problem: Problem, x: Array, found: Directions) -> tuple[Array, Array]:
    """Orthonormal directions (n, k) of the numbers, in their units, that nothing was measured of; and these units."""
    lengths = np.linalg.norm(problem.evaluate(x).J, axis=0)
    units = np.minimum(1.0 / np.where(lengths > 0.0, lengths, 1.0), problem.stride)
    along = np.linalg.solve(problem.reported(x), found.scale[:, None] * found.null) / units[:, None]
    return np.linalg.qr(along / np.maximum(np.linalg.norm(along, axis=0), 1e-300))[0], units


def _without(held: Array, y: Array) -> Array:
    return y - held @ (held.T @ y)


def _complement(held: Array) -> Array:
    """Orthonormal directions (n, n - k) across those that are held."""
    n, k = held.shape
    return np.linalg.qr(np.hstack([held, np.eye(n)]))[0][:, k:n] if k else np.eye(n)


def _same(one: Directions, other: Directions) -> bool:
    """Whether two Jacobians have the same null space."""
    if one.null.shape != other.null.shape:
        return False
    if not one.null.size:
        return True
    ours, theirs = (np.linalg.qr(d.scale[:, None] * d.null)[0] for d in (one, other))
    return bool(np.linalg.norm(theirs - ours @ (ours.T @ theirs)) < ALIKE * np.sqrt(theirs.shape[1]))


def _minimised(
    problem: Problem, words: SolverWords, base: Array, across: Array, scale: Array, costs: list[float]
) -> tuple[Array, Convergence]:
    """The minimum over the directions ``across`` (n, r), in units ``scale`` (n,), through a point."""
    begun = problem.evaluate(base)

    def residuals(change: Array) -> Array:
        at = problem.failing(base + change)
        if at is None:
            return np.full(len(begun.f), HUGE if words.solver == "lm" else np.inf)
        cost = 0.5 * float(at.f @ at.f)
        if not costs or cost < costs[-1]:
            costs.append(cost)
        return at.f

    change, ended = least(
        (begun.f, begun.J), residuals, lambda change: problem.evaluate(base + change).J, scale[:, None] * across,
        problem.stride, words, method=words.solver, max_nfev=words.max_evaluations, **TOLERANCES,
    )  # fmt: skip
    lengths = np.linalg.norm(ended.jac, axis=0)
    gradient = float(np.abs(ended.grad / np.where(lengths > 0.0, lengths, 1.0)).max())
    reason = ended.message.rstrip(".").replace("`", "") or "no reason given"
    return base + change, Convergence(ended.status > 0, f"{reason[0].lower()}{reason[1:]}", 0, tuple(costs), gradient)


def least(
    begun: tuple[Array, Array], residuals: Callable[[Array], Array], jacobian: Callable[[Array], Array],
    to_changes: Array, stride: Array, words: SolverWords, **more: Any,
) -> tuple[Array, Any]:  # fmt: skip
    """The change of numbers of which residuals are least, over directions (n, r), and what SciPy says; ``begun`` are
    residuals and Jacobian where it begins. SciPy's first trust region has the radius 1: that of the first Gauss-Newton
    step, or what may be changed at once (``stride``)."""
    from scipy.optimize import least_squares

    newton = np.linalg.lstsq(begun[1] @ to_changes, -begun[0], rcond=1e-12)[0]
    bold = float(np.max(np.abs(to_changes @ newton) / stride))
    to_changes = to_changes * (float(np.linalg.norm(newton)) / max(bold, 1.0) or 1.0)
    ended = least_squares(
        lambda z: residuals(to_changes @ z), np.zeros(to_changes.shape[1]),
        lambda z: jacobian(to_changes @ z) @ to_changes, loss=words.loss, f_scale=words.loss_scale, x_scale=1.0, **more,
    )  # fmt: skip
    return to_changes @ ended.x, ended
