"""Fits whose first guess is too far away for the whole span: spans that grow, and multiple shooting.

Multiple shooting [bock1983] gives every arc an initial state of its own. A Gauss-Newton step changes all of them such
that the ends of arcs, to first order, meet the next beginning: these conditions are eliminated by a recursion, so that
the least squares are in the free numbers alone, and what they lack is closed as the steps converge.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra import rotation
from polhode.errors import EstimationWarning, InvalidInput, StepFailed, unwarned, warn
from polhode.estimation.observability import directions
from polhode.estimation.problem import BLOCKS, Linearisation, Point, Problem
from polhode.estimation.quantities import quantities
from polhode.estimation.solve import Solution, SolverWords, solve, weights

GROWTH = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)
"""Parts of the span over which a fit grows."""
PATIENCE = 15
"""Runs after which a fit over the whole span that has not converged is tried over spans that grow."""
POOR = 10.0
"""Chi squared per number beyond which a fit over the whole span is tried again over spans that grow."""
STEPS = 30
"""Most steps of multiple shooting."""
CLOSED, SETTLED = 1e-3, 1e-4
"""Gaps below this part of the state, and relative improvements below this, are the end: a fit over all follows."""
GAPS = 1e6
"""Weight of squared relative gaps beside chi squared."""
DAMPING = 1e-9
"""Least damping, relative to the best known direction, where a step was not good."""
STATE = {"rotation": "attitude", "position": "position", "momentum": "momentum", "angular_momentum": "angular_momentum"}


def cost(at: Linearisation) -> float:
    """Chi squared per number."""
    return float(at.f @ at.f) / len(at.f)


def solve_from_anywhere(problem: Problem, words: SolverWords) -> Solution:
    """The solution from the guess, over the whole span if that soon ends well, else over spans that grow."""
    first = solve(problem, replace(words, max_evaluations=min(PATIENCE, words.max_evaluations)))
    poor = problem.noise > 0.0 and cost(first.at) > POOR
    if first.convergence.converged and not poor:
        return first
    found = grown(problem, words, first)
    if found.convergence.converged:
        return found
    calls = found.convergence.evaluations
    found = solve(problem, words, found.x)
    return replace(found, convergence=replace(found.convergence, evaluations=calls + found.convergence.evaluations))


def grown(problem: Problem, words: SolverWords, first: Solution) -> Solution:
    """The better of a solution and of one found over spans that grow, each beginning where the last one ended."""
    t0, last = problem.words.t0, float(problem.times[-1])
    x = problem.start
    calls = first.convergence.evaluations
    for part in GROWTH:
        shorter = problem.within(t0 + part * (last - t0)) if part < 1.0 else problem
        if shorter is None:
            continue
        try:
            found = solve(shorter, words, x)
        except (InvalidInput, StepFailed):
            continue
        x, calls = found.x, calls + found.convergence.evaluations
        if shorter is problem and cost(found.at) < cost(first.at):
            return replace(found, convergence=replace(found.convergence, evaluations=calls))
    return replace(first, convergence=replace(first.convergence, evaluations=calls))


class Arc:
    """One arc: the data in it, and its run from a state.

    Attributes
    ----------
    problem : Problem
        Of the data in the arc, with the free quantities of the whole; None where there are no data.
    begin, end : float
        Its times.
    """

    def __init__(self, whole: Problem, begin: float, end: float, last: bool) -> None:
        self.begin, self.end = begin, end
        inside = lambda t: (t >= begin) & ((t <= end) if last else (t < end))  # noqa: E731
        self.problem = whole.of_data(inside)
        self.words = replace(whole.words, t0=begin)
        self.whole = whole

    def run(self, point: Point, state: Any) -> Any:
        """The run with its state transition, from a state, at the times of the data and at the end."""
        times = [self.end] if self.problem is None else np.unique([*self.problem.times, self.end])
        whole = self.whole
        from polhode.runs.integrate import integrate

        whole.calls += 1
        with unwarned():
            return integrate(
                point.system, self.words.method, start={"time": self.begin, **state}, t_eval=times,
                tangent=whole.paths or "state", **self.words.span(self.end), **self.words.more,
            )  # fmt: skip


def state_at(ds: Any, row: int, names: Any) -> dict[str, Any]:
    """The state in a row of a run."""
    return {STATE[name]: ds[STATE[name]].values[row] for name in names}


def moved(state: Any, change: Any, names: Any) -> dict[str, Any]:
    """A state moved by the errors of its blocks."""
    out = {}
    for k, name in enumerate(names):
        part = change[3 * k : 3 * k + 3]
        value = state[STATE[name]]
        out[STATE[name]] = (
            rotation.normalize(rotation.multiply(value, rotation.exp_quaternion(part)))
            if name == "rotation" else value + part
        )  # fmt: skip
    return out


def difference(state: Any, other: Any, names: Any) -> Any:
    """The errors that take ``other`` to ``state``."""
    out = []
    for name in names:
        a, b = state[STATE[name]], other[STATE[name]]
        if name == "rotation":
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
    """The solution by multiple shooting, ended by a fit over the whole span.

    Raises
    ------
    InvalidInput
        More arcs than steps, or a first arc without data.
    """
    times = nodes_of(problem, arcs)
    pieces = [Arc(problem, a, b, k == arcs - 1) for k, (a, b) in enumerate(pairwise(times))]
    if pieces[0].problem is None:
        raise InvalidInput(f"arcs is {arcs}, but there are no data before t = {times[1]:g}; take fewer arcs")
    x, states = begun(problem, pieces, words)
    at, damping = joined(problem, pieces, x, states, words), 0.0
    for _ in range(STEPS):
        change, size = step(problem, at, damping, x)
        new = x + change
        moves = [G @ change + size * g for G, g in zip(at.by_numbers, at.shifts, strict=True)]
        moved_states = [states[0], *(moved(states[k], moves[k], problem.blocks) for k in range(1, arcs))]
        try:
            after = joined(problem, pieces, new, moved_states, words)
        except (InvalidInput, StepFailed):
            after = None
        if after is None or not after.merit < at.merit:
            damping = max(10.0 * damping, DAMPING)
            if damping > 1.0 / DAMPING:
                break
            continue
        settled = at.merit - after.merit < SETTLED * at.merit
        x, states, at, damping = new, moved_states, after, 0.1 * damping if damping > DAMPING else 0.0
        if settled and at.gap < CLOSED:
            break
    if at.gap > CLOSED:
        warn(f"multiple shooting left gaps of {at.gap:.1g} between {arcs} arcs, relative to the state; give a better "
             "guess, or other arcs", EstimationWarning)  # fmt: skip
    return solve(problem, words, x)


def begun(problem: Problem, pieces: list[Arc], words: SolverWords) -> tuple[Any, list[dict[str, Any]]]:
    """Numbers and states to begin with: the first arc is fitted alone, then the initial state of each one after it,
    from where the one before it ends."""
    x = solve(pieces[0].problem, words).x  # type: ignore[arg-type]
    point = problem.point(x)
    names = [name for name in BLOCKS if name in problem.blocks]
    ds = pieces[0].run(point, point.start)
    states: list[dict[str, Any]] = [point.start]
    for arc in pieces[1:]:
        state = state_at(ds, -1, names)
        if arc.problem is not None:
            unbiased = [one for one in arc.problem.measurements if f"{one.name}.bias" not in point.values]
            if unbiased:
                free = quantities(point.system, list(state), state, unbiased)
                own = Problem(point.system, unbiased, free, state, arc.words)
                try:
                    found = solve(own, words)
                    state = own.point(found.x).start
                except (InvalidInput, StepFailed):
                    pass
        states.append(state)
        ds = arc.run(point, state)
    return x, states


class Joined(NamedTuple):
    """All arcs, linearised at numbers and states.

    Attributes
    ----------
    f, J : array (m,), (m, n)
        Residuals after the gaps are closed, to first order, and their Jacobian by the numbers.
    by_numbers, shifts : list of array (D, n), (D,)
        Changes of the initial state of each arc by the numbers, and those that close the gaps.
    gap : float
        The largest, relative to the state.
    merit : float
        Chi squared, and the gaps.
    """

    f: Any
    J: Any
    by_numbers: list[Any]
    shifts: list[Any]
    gap: float
    merit: float


def joined(
    problem: Problem, pieces: list[Arc], x: Any, states: list[dict[str, Any]], words: SolverWords
) -> Joined:  # fmt: skip
    """The arcs from given states, their conditions eliminated."""
    names, D = problem.blocks, len(problem.rows)
    point = problem.point(x)
    G, g = point.inputs[:D], np.zeros(D)
    of_parameters = point.inputs[D:]
    F, J, Gs, gs, gaps = [], [], [], [], [0.0]
    merit = 0.0
    for k, arc in enumerate(pieces):
        Gs.append(G)
        gs.append(g)
        ds = arc.run(point, point.start if k == 0 else states[k])
        order = [list(ds["row"].values).index(name) for name in problem.rows]
        columns = [list(ds["column"].values).index(name) for name in (*problem.rows, *problem.columns)]
        A = ds["state_transition"].values[:, order][:, :, columns]
        if arc.problem is not None:
            own = replace(point, inputs=np.vstack([G, of_parameters]))
            at = arc.problem.linearised(ds, own, x, priors=k == 0)
            closing = replace(point, values={}, inputs=np.append(g, np.zeros(len(of_parameters)))[:, None])
            closed = arc.problem.linearised(ds, closing, np.zeros(1), priors=False, direct=False)
            w = weights(at.f, words)
            merit += float(np.sum((w * at.f) ** 2))
            F.append(w * (at.f + np.append(closed.J[:, 0], np.zeros(len(at.f) - len(closed.f)))))
            J.append(w[:, None] * at.J)
        if k + 1 < len(pieces):
            end = state_at(ds, -1, names)
            c = difference(states[k + 1], end, names)
            size = np.concatenate([np.ones(3) if name == "rotation" else
                                   np.full(3, np.linalg.norm(end[STATE[name]]) or 1.0) for name in names])  # fmt: skip
            gaps.append(float(np.abs(c / size).max()))
            merit += float(np.sum((c / size) ** 2)) * GAPS
            G, g = A[-1, :, :D] @ G + A[-1, :, D:] @ of_parameters, A[-1, :, :D] @ g - c
    return Joined(np.concatenate(F), np.concatenate(J), Gs, gs, max(gaps), merit)


def step(problem: Problem, at: Joined, damping: float, x: Any) -> tuple[Any, float]:
    """A damped Gauss-Newton step (n,) of the numbers, across what nothing was measured of, and the part of it taken."""
    to_errors = problem.reported(x)
    known = directions(at.J @ np.linalg.inv(to_errors), problem.reach(x), problem.noise)
    across = np.linalg.solve(to_errors, known.scale[:, None] * known.observable)
    unit = np.sqrt(damping) * known.sizes[0] * np.eye(across.shape[1])
    slope, f = np.vstack([at.J @ across, unit]), np.append(at.f, np.zeros(len(unit)))
    change = across @ np.linalg.lstsq(slope, -f, rcond=None)[0]
    part = 1.0 / max(float(np.max(np.abs(change) / problem.stride)), 1.0)
    return part * change, part
