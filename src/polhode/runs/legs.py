"""Runs of one kind that are taken together past the times at which loads are switched or controllers sample,
the same for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.kernel import layout as L
from polhode.runs.stepping import Run
from polhode.runs.tangent.passage import Passage


def in_legs(run: Run, block: Any, take: Callable[[Any], None]) -> None:
    """Have ``take`` fill a block of members (``ensembles.engines``) leg after leg of their common run.

    A leg has steps of one size under the same loads; rows are at ends of steps of the run, which cuts leave where they
    were.
    """
    M, states, done, sampled = len(block.states), block.states, 0, bool(run.system.sampled)
    block.rows[:, 0], block.iterations[:, 0], block.status[:], block.done[:] = block.states, 0, L.OK, 0
    most = np.zeros(M, dtype=np.int64)
    for leg in Passage(run).legs():
        parameters, at, n = block.parameters.copy(), 0, len(leg.schedule.sizes)
        for switch in run.system.switches:
            parameters[:, switch.index] = leg.parameters[switch.index]
        while at < n:
            left = block.every - done % block.every
            every = block.every if left == block.every and n - at >= left else min(left, n - at)
            count = (n - at) // every * every if every == block.every else every
            R = 1 + count // every
            part = replace(
                block, states=states, parameters=parameters, t0=float(leg.schedule.begins[at]),
                h=float(leg.schedule.sizes[at]), n=count, every=every,
                rows=np.full((M, R + sampled, states.shape[1]), np.nan),
                iterations=np.zeros((M, R + sampled), dtype=np.int64), status=np.zeros(M, dtype=np.int64),
                done=np.zeros(M, dtype=np.int64),
            )  # fmt: skip
            take(part)
            if not at and leg.first == run.t0:
                block.rows[:, 0] = part.rows[:, 0]
            at += count
            good = block.status == L.OK
            block.status[good] = part.status[good]
            states = np.where((block.status == L.OK)[:, None], part.rows[:, -1], block.states)
            block.status[np.isnan(states).any(axis=1)] = L.NOT_FINITE  # of one taken alone, which has no such row
            shown, part.iterations[:, 1] = part.rows[:, R - 1], np.maximum(part.iterations[:, 1], most)
            most = part.iterations[:, R - 1]
            if leg.exact:  # within a step of the run
                continue
            block.done[good] += part.done[good]
            done += count
            if done % block.every == 0:
                rows = slice(done // block.every - R + 2, done // block.every + 1)
                block.rows[:, rows], block.iterations[:, rows] = part.rows[:, 1:R], part.iterations[:, 1:R]
                most = 0 * most
    if done % block.every:
        block.rows[:, -1], block.iterations[:, -1] = shown, most
