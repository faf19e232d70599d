"""The solver of a fit: SciPy's least squares over the directions that the data determine; spans that grow, and multiple
shooting, where the first guess is too far away for the whole span.

Multiple shooting [bock1983] gives every arc an initial state of its own, first from the data in it. The gaps between
arcs are residuals beside those of the data; they count more and more, until the arcs are one motion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import Array, Indices
from polhode.errors import EstimationWarning, InvalidInput, StepFailed, unwarned, warn
from polhode.estimation.bodies import Block, values_of
from polhode.estimation.models import left_inverse, right_jacobian
from polhode.estimation.observability import Directions
from polhode.estimation.problem import Linearisation, Point, Problem, checked
from polhode.estimation.quantities import quantities
from polhode.estimation.result import Convergence
from polhode.lazy import xr

SOLVERS = ("trf", "dogbox", "lm")
LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
ROUNDS = 4  # most times that the unobservable directions are found anew
ALIKE = 1e-6  # sine of the angle between two spaces of directions that count as the same
TOLERANCES = {"xtol": 1e-10, "ftol": 1e-10, "gtol": 1e-10}
HUGE = 1e100  # residuals of a run that fails, for a solver that takes finite numbers only


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
        n, k = held.shape
        across = np.linalg.qr(np.hstack([held, np.eye(n)]))[0][:, k:n] if k else np.eye(n)
        x, convergence = _minimised(problem, words, x, across, scale, costs)
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


# ------------------------------------------------------------------ first guesses far away
FAILURES = (InvalidInput, StepFailed, np.linalg.LinAlgError)
"""What a solution ends with where numbers are no motion."""
ARCS = 8  # arcs of the multiple shooting that is tried where all else ends badly
GROWTH = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # parts of the span over which a fit grows
PATIENCE = 15  # runs after which a fit over the whole span that has not converged is tried over spans that grow
POOR = 10.0  # chi squared per number beyond which a fit over the whole span is tried again over spans that grow
STEPS = 25  # most evaluations of each problem of multiple shooting
TIGHTNESS = (1e-1, 1e-2, 1e-3, 1e-5)
"""Standard deviations of gaps between arcs, relative to the state, one after the other."""
CLOSED, SETTLED = 1e-3, 1e-5
"""Gaps above this part of the state are warned of; relative improvements below this are the end of a problem."""


def cost(at: Linearisation) -> float:
    """Chi squared per number."""
    return float(at.f @ at.f) / len(at.f)


def solve_from_anywhere(problem: Problem, words: SolverWords, hopeless: Callable[[Solution], bool]) -> Solution:
    """The solution from the guess, over the whole span if that soon ends well, else over spans that grow, or arcs.

    Arcs are not tried where what was found is ``hopeless``, which is asked only if needed.
    """
    first = refused = None
    try:
        first = solve(problem, replace(words, max_evaluations=min(PATIENCE, words.max_evaluations)))
    except FAILURES as failure:
        refused = failure
    poor = first is None or (problem.noise > 0.0 and cost(first.at) > POOR)
    if first is not None and first.convergence.converged and not poor:
        return first
    found = grown(problem, words, first)
    if found is None:
        raise refused  # type: ignore[misc]
    if (found.convergence.converged and not (poor and cost(found.at) > POOR)) or (poor and hopeless(found)):
        return found
    calls, others = found.convergence.evaluations, [found]
    for arcs in (ARCS, 1):
        try:
            others.append(shoot(problem, arcs, words) if arcs > 1 else solve(problem, words, found.x))
        except FAILURES:
            continue
        calls += others[-1].convergence.evaluations
        if others[-1].convergence.converged and cost(others[-1].at) < POOR:
            break
    best = min(others, key=lambda one: (not one.convergence.converged, cost(one.at)))
    return replace(best, convergence=replace(best.convergence, evaluations=calls))


def grown(problem: Problem, words: SolverWords, first: Solution | None) -> Solution | None:
    """The better of a solution and of one found over spans that grow, each beginning where the last one ended; None
    where there is neither."""
    t0, last = problem.words.t0, float(problem.times[-1])
    x = problem.start
    calls = 0 if first is None else first.convergence.evaluations
    for part in GROWTH:
        shorter = problem.within(t0 + part * (last - t0)) if part < 1.0 else problem
        if shorter is None:
            continue
        try:
            found = solve(shorter, words, x)
        except FAILURES:
            continue
        x, calls = found.x, calls + found.convergence.evaluations
        if shorter is problem and (first is None or cost(found.at) < cost(first.at)):
            return replace(found, convergence=replace(found.convergence, evaluations=calls))
    return first and replace(first, convergence=replace(first.convergence, evaluations=calls))


class Arc:
    """One arc: the data in it, and its run from a state."""

    def __init__(self, whole: Problem, begin: float, end: float, last: bool) -> None:
        self.begin, self.end = begin, end
        inside = lambda t: (t >= begin) & ((t <= end) if last else (t < end))  # noqa: E731
        self.problem = whole.of_data(inside)
        self.words = replace(whole.words, t0=begin)
        self.whole = whole

    def run(self, point: Point, state: dict[str, Array]) -> xr.Dataset:
        """The run with its state transition, from a state, at the times of the data and at the end."""
        times = [self.end] if self.problem is None else np.unique([*self.problem.times, self.end])
        with unwarned():
            return self.whole.run(point, state, self.begin, t_eval=times, **self.words.span(self.end))


def moved(state: Mapping[str, Array], change: Array, blocks: Sequence[Block]) -> dict[str, Array]:
    """A state moved by the errors of its blocks."""
    out = {}
    for k, one in enumerate(blocks):
        part, value = change[3 * k : 3 * k + 3], state[one.key]
        out[one.key] = (
            rotation.normalize(rotation.multiply(value, rotation.exp_quaternion(part)))
            if one.name == "rotation" else value + part
        )  # fmt: skip
    return out


def sizes(state: Mapping[str, Array], block: Block) -> Array:
    """What errors of a block of a state are compared with: a radian, or its size."""
    return np.full(3, 1.0 if block.name == "rotation" else np.linalg.norm(state[block.key]) or 1.0)


def difference(state: Mapping[str, Array], other: Mapping[str, Array], blocks: Sequence[Block]) -> Array:
    """The errors that take ``other`` to ``state``."""
    out = []
    for one in blocks:
        a, b = state[one.key], other[one.key]
        if one.name == "rotation":
            turn = rotation.multiply(rotation.conjugate(b), a)
            out.append(rotation.log_quaternion(turn if turn[0] >= 0.0 else -turn))
        else:
            out.append(a - b)
    return np.concatenate(out)


def nodes_of(problem: Problem, arcs: int) -> list[float]:
    """Times at which arcs meet: grid points of the run."""
    t0, last, h = problem.words.t0, float(problem.times[-1]), problem.words.step
    even = np.linspace(t0, last, arcs + 1)
    if h is None:
        return [float(t) for t in even]
    count = np.rint((even - t0) / h)
    if len(np.unique(count[:-1])) < arcs:
        raise InvalidInput(f"arcs is {arcs}, but the run has {int(count[-1])} steps only; take fewer arcs")
    return [*(float(t0 + n * h) for n in count[:-1]), max(last, float(t0 + count[-2] * h) + h)]


def shoot(problem: Problem, arcs: int, words: SolverWords) -> Solution:
    """The solution by multiple shooting, ended by a fit over the whole span."""
    system = problem.system
    if system.read_from < len(system.auxiliary):
        raise InvalidInput(f"arcs is {arcs}, but {system.name!r} has states of its own, such as momenta of wheels, "
                           "which arcs do not begin with; leave arcs out")  # fmt: skip
    times = nodes_of(problem, arcs)
    pieces = [Arc(problem, a, b, k == arcs - 1) for k, (a, b) in enumerate(pairwise(times))]
    if pieces[0].problem is None:
        raise InvalidInput(f"arcs is {arcs}, but there are no data before t = {times[1]:g}; take fewer arcs")
    calls = problem.calls
    x, states = begun(problem, pieces, words)
    for tightness in TIGHTNESS:
        joined = Joined(problem, pieces, x, states, tightness)
        x, states = joined.minimised(words)
    gap = joined.gap
    if gap > CLOSED:
        warn(f"multiple shooting left gaps of {gap:.1g} between {arcs} arcs, relative to the state; give a better "
             "guess, or other arcs", EstimationWarning)  # fmt: skip
    calls = problem.calls - calls
    found = solve(problem, words, x)
    return replace(found, convergence=replace(found.convergence, evaluations=calls + found.convergence.evaluations))


def begun(problem: Problem, pieces: list[Arc], words: SolverWords) -> tuple[Array, list[dict[str, Array]]]:
    """Numbers and states to begin with: the first arc is fitted alone, then the initial state of each one after it,
    from where the one before it ends."""
    x = solve(pieces[0].problem, words).x  # type: ignore[arg-type]
    point = problem.point(x)
    ds = pieces[0].run(point, point.start)
    states: list[dict[str, Any]] = [point.start]
    for arc in pieces[1:]:
        state = values_of(ds, problem.blocks, -1)
        if arc.problem is not None:
            unbiased = [one for one in arc.problem.measurements if f"{one.name}.bias" not in point.values]
            if unbiased:
                free = quantities(point.system, list(state), state, unbiased)
                own = Problem(point.system, unbiased, free, state, arc.words)
                try:
                    found = solve(own, words)
                    state = own.point(found.x).start
                except FAILURES:
                    pass
        states.append(state)
        ds = arc.run(point, state)
    return x, states


class Joined:
    """All arcs as one least-squares problem, in the free numbers and changes of the initial states of arcs."""

    def __init__(
        self, problem: Problem, pieces: list[Arc], x: Array, states: list[dict[str, Array]], tightness: float
    ) -> None:
        self.problem, self.pieces, self.x, self.states, self.tightness = problem, pieces, x, states, tightness
        self.n, self.D = len(x), len(problem.rows)
        self.total = self.n + self.D * (len(pieces) - 1)
        self.gap = np.inf
        self._last: tuple[Any, Any] | None = None

    def parts(self, z: Array) -> tuple[Array, list[dict[str, Array]]]:
        """Numbers and states at changes z of both."""
        changes = z[self.n :].reshape(-1, self.D)
        later = (moved(*of, self.problem.blocks) for of in zip(self.states[1:], changes, strict=True))
        return self.x + z[: self.n], [self.states[0], *later]

    def evaluate(self, z: Array) -> tuple[Array, Array]:
        """Residuals and their Jacobian by z."""
        if self._last is not None and np.array_equal(self._last[0], z):
            return self._last[1]
        problem, blocks, n, D = self.problem, self.problem.blocks, self.n, self.D
        x, states = self.parts(z)
        point = problem.point(x)
        padded = np.concatenate([x, np.zeros(D)])
        f, J, gaps = [], [], [0.0]
        for k, arc in enumerate(self.pieces):
            ds = arc.run(point, point.start if k == 0 else states[k])
            inputs = np.zeros((len(point.inputs), n + D))
            inputs[D:, :n] = point.inputs[D:]
            if k == 0:
                inputs[:D, :n] = point.inputs[:D]
            else:
                inputs[:D, n:] = self._of_change(z, k)
            places = np.r_[:n, n + D * (k - 1) : n + D * k] if k else np.arange(n)
            if arc.problem is not None:
                at = arc.problem.linearised(ds, replace(point, inputs=inputs), padded, priors=k == 0)
                f.append(at.f)
                J.append(self._placed(at.J[:, : len(places)], places))
            if k + 1 < len(self.pieces):
                end = values_of(ds, blocks, -1)
                gap = difference(states[k + 1], end, blocks)
                size = np.concatenate([sizes(end, one) for one in blocks])
                gaps.append(float(np.abs(gap / size).max()))
                weight = 1.0 / (size * self.tightness)
                before, after = self._of_gap(gap)
                A = problem.transition(ds)[-1] @ inputs
                slope = self._placed((before @ A)[:, : len(places)], places)
                slope[:, n + D * k : n + D * (k + 1)] += after @ self._of_change(z, k + 1)
                f.append(weight * gap)
                J.append(weight[:, None] * slope)
        self.gap = max(gaps)
        self._last = (np.array(z), (np.concatenate(f), np.concatenate(J)))
        return self._last[1]

    def _placed(self, slope: Array, places: Indices) -> Array:
        out = np.zeros((len(slope), self.total))
        out[:, places] = slope
        return out

    @property
    def _rotations(self) -> list[int]:
        """The first rows of rotations."""
        return [3 * k for k, one in enumerate(self.problem.blocks) if one.name == "rotation"]

    def _of_change(self, z: Array, k: int) -> Array:
        """Derivative (D, D) of the error of the initial state of an arc by its change."""
        out = np.eye(self.D)
        for at in self._rotations:
            first = self.n + self.D * (k - 1) + at
            out[at : at + 3, at : at + 3] = right_jacobian(z[first : first + 3])
        return out

    def _of_gap(self, gap: Array) -> tuple[Array, Array]:
        """Derivatives (D, D) of a gap by the errors of the end before it and of the beginning after it."""
        before, after = -np.eye(self.D), np.eye(self.D)
        for at in self._rotations:
            own = slice(at, at + 3)
            before[own, own] = -left_inverse(gap[None, own])[0]
            after[own, own] = left_inverse(-gap[None, own])[0]
        return before, after

    def minimised(self, words: SolverWords) -> tuple[Array, list[dict[str, Array]]]:
        """Numbers and states at the minimum."""
        f, J = self.evaluate(np.zeros(self.total))
        lengths = np.linalg.norm(J, axis=0)
        stride = np.repeat([1.0 if one.name == "rotation" else np.inf for one in self.problem.blocks], 3)
        far = np.concatenate([self.problem.stride, np.tile(stride, len(self.pieces) - 1)])
        scale = np.minimum(1.0 / np.where(lengths > 0.0, lengths, 1.0), far)

        def residuals(z: Array) -> Array:
            try:
                with np.errstate(all="ignore"):
                    found = self.evaluate(z)[0]
            except (*FAILURES, FloatingPointError):
                return np.full(len(f), np.inf)
            return found if np.isfinite(found).all() else np.full(len(f), np.inf)

        z, _ = least((f, J), residuals, lambda z: self.evaluate(z)[1], np.diag(scale), far, words, max_nfev=STEPS,
                     ftol=SETTLED, xtol=1e-8, gtol=1e-10)  # fmt: skip
        self.evaluate(z)
        return self.parts(z)
