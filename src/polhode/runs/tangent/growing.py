"""Tangent vectors along one run whose loads change on the way, made of length 1, or orthogonal, at its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from polhode.arguments import Array
from polhode.errors import StepFailed
from polhode.kernel import layout as L, tangent_drive as D
from polhode.runs.integrate import taken
from polhode.runs.request import Request
from polhode.runs.steps import Recording
from polhode.runs.tangent.columns import Columns
from polhode.runs.tangent.engine import TangentEngine
from polhode.runs.tangent.passage import Cut, Passage

APART = 1e-6
"""Largest relative distance from the run, from row to row, that round-off may lead to."""


def carry_past_changes(
    request: Request, engine: TangentEngine, every: int, vectors: Array, weights: Array, orthogonal: bool,
    growth: Array, row_done: Callable[[int, Array], None],
) -> None:  # fmt: skip
    """Carry vectors (width, K) along a run and add to its numbers of ``kernel.tangent_drive``; ``row_done`` gets the
    numbers of rows and the vectors there. At rows the bodies are put where they are in the run, so that round-off does
    not part the ways."""
    run, record = taken(replace(request, recording=Recording(every=every), events=(), tangent=()))
    passage, rows = Passage(run, Columns(request.system, engine.prepared, request.state.values, ())), record.count
    times, states = record.between(0, rows)[:2]
    known = [cut.time for cut in passage.cuts if cut.crossing < 0]
    passage.cuts += [Cut(t) for t in times[1:] if not any(run.same_time(t, other) for other in known)]
    bodies, K, row = L.BODY * request.system.N, engine.directions, 0

    def visit(t: float, state: Array, change: Array) -> tuple[Array, Array]:
        nonlocal row
        if row + 1 == rows or not run.same_time(t, times[row + 1]):
            return state, change
        row, there, now = row + 1, states[row + 1, :bodies], np.ascontiguousarray(change)
        with np.errstate(invalid="ignore"):  # of what has no length
            D.scaled.py_func(now.ravel(), K, len(state), weights, K, orthogonal, t - times[row - 1], growth)
        if not np.abs(state[:bodies] - there).max() <= APART * np.abs(there).max():
            raise StepFailed(f"the steps of {request.method.label!r} with derivatives lead elsewhere than the run; "
                             "give a smaller every", step=0, time=t)  # fmt: skip
        row_done(row, now)
        return np.concatenate([there, state[bodies:]]), now

    passage.march(engine, times[-1:], vectors, range(K), visit)
