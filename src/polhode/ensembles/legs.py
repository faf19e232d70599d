"""Members whose loads change during a run, or whose events are looked for: leg after leg of steps under the same loads.

Legs end at times that all members have in common: switches, impulses, samples between steps. What happens to one of
them alone, an event or the edge of a shadow, is looked for in the states after all steps of a leg
(``kernel.member_events``). Where steps are cut there, the member goes on as its single run does, up to the end of the
leg; legs are of so many steps whatever the members are, so that its numbers depend on nothing but its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from polhode.arguments import Array
from polhode.ensembles.engines import ENDED, Block
from polhode.errors import PolhodeError
from polhode.kernel import jit, layout as L
from polhode.kernel.member_events import ALONE, ENDS, FAILED, NO_EDGE, RECORDED, find_events
from polhode.runs.event_detection import Ended, Found
from polhode.runs.stepping import Run
from polhode.runs.tangent.engine import Steps
from polhode.runs.tangent.passage import Passage

WATCHED, CUT = 512, 32
"""Steps of a leg in which events are looked for, and in which they may cut steps."""
AT_ONCE = 2**19
"""Numbers of rows, about, in which events are looked for at once."""
FOUND_AT_ONCE = 1024
"""Events that are found at once."""


class Looking:
    """What happens to members of a block between their steps and within them, each as to its single run, whose arrays
    they borrow."""

    def __init__(self, run: Run, block: Block) -> None:
        self.run, self.block = Run(run.request), block
        self.own, self.detection = self.run.integrator, self.run.event_detection
        self.own.bodies = self.own.bodies.copy()
        self.own.addresses = self.own._addresses(self.own.loads)
        self.told, self.loop = self.own.step_info.copy(), jit.addresses_of(self.own.loop)
        M, watches, self.status = len(block.states), self.detection.watches, block.status
        self.sides = np.zeros((M, 2 * len(watches)))
        self.parameters = np.repeat(block.parameters, M if len(block.parameters) < M and self.detection.cuts else 1, 0)
        self.names = [(w.falling, w.rising)[:: 1 if self.run.direction > 0.0 else -1] for w in watches]
        ends = [ENDS if w.terminal else RECORDED for w in watches]
        kinds = [[bool(name) * end for name in pair] for pair, end in zip(self.names, ends, strict=True)]
        edges = [w.flag if w.cuts and w.acts is None and not w.rising + w.falling else NO_EDGE for w in watches]
        self.kinds = np.array([[*kind, edge] for kind, edge in zip(kinds, edges, strict=True)], dtype=np.int64)
        for k in range(M):
            block.found[k] = []

    @contextmanager
    def member(self, k: int) -> Iterator[None]:
        """Have the run stand for a member, which ends or fails by what is raised."""
        own, block, E = self.own, self.block, len(self.kinds)
        for mine, theirs in (own.bodies, block.bodies), (own.frames, block.frames), (own.parameters, self.parameters):
            row = theirs[k if len(theirs) > 1 else 0][: mine.size]
            mine[: row.size] = row
        own.step_info[:] = self.told
        self.detection.found, self.detection.crossings, self.run.breaks = block.found[k], [], []
        self.detection.sides[:] = self.sides[k, :E]
        try:
            yield
        except (Ended, PolhodeError) as told:
            self.status[k] = ENDED if isinstance(told, Ended) else L.NOT_FINITE
        self.sides[k, :E] = self.detection.sides
        if self.detection.cuts:
            self.parameters[k] = own.parameters[: self.parameters.shape[1]]

    def fire(self, t: float, states: Array) -> Array:
        """States after what happens at a time that all members have in common; at the start they take sides."""
        states = states.copy()
        for k in map(int, np.flatnonzero(self.status == L.OK)):
            before = states[k].copy()
            with self.member(k):
                if (fired := self.detection.fire(t, states[k])) and t != self.run.t0:
                    self.detection.close(t, before)
                    self.detection.restart(t, states[k])
                self.block.found[k] += fired
                if t == self.run.t0:
                    self.detection.begin(t, states[k])
        return states

    def find(self, part: Block, times: Array) -> None:
        """Tell of events in the steps of a leg, to ``times``; where they cut steps, or end a run, rows behind change or
        have no meaning."""
        own, n, what = self.own, part.n, np.zeros(len(self.status), dtype=np.int64)
        self.status[self.status == L.OK] = part.status[self.status == L.OK]
        at = np.where(self.status == L.OK, 0, n)
        found, states = np.empty((FOUND_AT_ONCE, 4)), np.empty((FOUND_AT_ONCE, own.y.size))
        while (at < n).any():
            count = find_events(
                self.loop, own.event_addresses, part.begin, part.t0, part.h, times, own.limit, own.system.N,
                own.blocks.size // 2, self.detection.cuts, self.kinds, part.states, part.bodies, part.frames,
                self.parameters, self.told, own.y, own.bodies, own.frames, own.parameters, own.stage_state, own.load,
                own.step_info, own.addresses, np.zeros(3, dtype=np.int64), np.zeros(0), part.rows, part.iterations, at,
                what, self.sides, np.zeros((3, max(6, own.y.size, len(self.kinds)))), found, states,
            )  # fmt: skip
            for (k, e, rises, t), y in zip(found[:count].tolist(), states[:count].copy(), strict=True):
                self.block.found[int(k)].append(Found(t, self.names[int(e)][int(rises)], y))
            self.status[what == ENDS], self.status[what == FAILED] = ENDED, L.NOT_FINITE
            for k in map(int, np.flatnonzero(what == ALONE)):
                self.take_step(part, k, int(at[k]), times)
                at[k] += 1
            at[self.status != L.OK], what[:] = n, 0

    def take_step(self, part: Block, k: int, i: int, times: Array) -> None:
        """Take the step of a member from row i as its single run does, and where it is cut the others of the leg."""
        rows, left = part.rows[k], part.n - i - 1
        self.run.done, counts = part.begin + i, part.iterations[k, i + 2 :]
        with self.member(k):
            y, cut = self.run.through(times[i], rows[i], times[i + 1])
            rows[i + 1] = y if cut else rows[i + 1]
            marched = (part.begin + i + 1, left, 1, part.t0, part.h, rows[i + 2 :], counts)
            if cut and left and self.own.march(*marched, y=y.copy()):
                self.status[k] = L.NOT_FINITE

    def close(self, states: Array) -> None:
        """The end of members has come."""
        for k in map(int, np.flatnonzero(self.status == L.OK) if self.detection else ()):
            with self.member(k):
                self.detection.close(self.run.final, states[k])


def looked_after(run: Run) -> bool:
    """Whether more than switches and samples happens to members between their steps."""
    return bool(run.event_detection) or bool(run.system.impulses)


def in_legs(run: Run, block: Block, take: Callable[[Block], None]) -> None:
    """Have ``take`` fill a block leg after leg of the common run of its members.

    A leg has steps of one size under the same loads; rows are at ends of steps of the run, which cuts leave where they
    were.
    """
    looks, (M, width), sampled, room = looked_after(run), block.states.shape, bool(run.system.sampled), np.empty(0)
    longest = CUT if run.event_detection.cuts else WATCHED
    if looks and (few := max(1, AT_ONCE // (width * longest))) < M:
        for first in range(0, M, few):
            in_legs(run, block.part(first, min(first + few, M)), take)
        return
    block.status[:], block.done[:], block.iterations[:, 0], done = L.OK, 0, 0, 0
    looking = Looking(run, block) if looks else None
    states = block.states if looking is None else looking.fire(run.t0, block.states)
    parameters = block.parameters.copy() if looking is None else looking.parameters
    block.rows[:, 0], shown, most = states, states, np.zeros(M, dtype=np.int64)
    for leg in Passage(Steps(run.t0, run.h, run.total or 0), run.system, run).legs():
        steps, at = leg.steps, 0
        for switch in run.system.switches:
            parameters[:, switch.index] = leg.parameters[switch.index]
        while at < steps.n and (block.status == L.OK).any():
            left = block.every - done % block.every
            every = block.every if left == block.every and steps.n - at >= left else min(left, steps.n - at)
            count = (steps.n - at) // every * every if every == block.every else every
            if looking is not None and looking.detection:
                every, count = 1, min(steps.n - at, longest)
            R, grid = 1 + count // every, steps.ends is None and not sampled
            if room.size < M * (R + sampled) * width:
                room = np.empty(M * (R + sampled) * width)
            part = block.having(
                states=states, parameters=parameters, t0=float(steps.t0 if grid else steps.end(at)),
                h=float(steps.size(at)), n=count, every=every, begin=steps.first + at if grid else 0,
                rows=room[: M * (R + sampled) * width].reshape(M, R + sampled, width),
                iterations=np.zeros((M, R + sampled), dtype=np.int64), status=np.zeros(M, dtype=np.int64),
                done=np.zeros(M, dtype=np.int64),
            )  # fmt: skip
            part.rows[:, -1] = np.nan
            take(part)
            if looking is not None and looking.detection:
                looking.find(part, steps.end(at + np.arange(count + 1)))
            if not at and leg.first == run.t0:
                block.rows[:, 0] = part.rows[:, 0]
            at += count
            good = block.status == L.OK
            block.status[good] = part.status[good]
            states = np.where((block.status == L.OK)[:, None], part.rows[:, -1], block.states)
            block.status[np.isnan(states).any(axis=1)] = L.NOT_FINITE  # of one taken alone, which has no such row
            shown, part.iterations[:, 1] = part.rows[:, R - 1], np.maximum(part.iterations[:, 1], most)
            ends = done + every * np.arange(1, R)
            there = np.zeros(0, dtype=int) if leg.exact else np.flatnonzero(ends % block.every == 0)
            if there.size:
                rows = ends[there] // block.every
                block.rows[:, rows] = part.rows[:, 1 + there]
                begins = np.append(0, there[:-1] + 1)
                block.iterations[:, rows] = np.maximum.reduceat(part.iterations[:, 1 : 2 + there[-1]], begins, axis=1)
            most = part.iterations[:, 2 + there[-1] if there.size else 1 : R].max(axis=1, initial=0)
            if not leg.exact:  # within a step of the run
                block.done[good] += part.done[good]
                done += count
        if looking is not None and leg.last != run.t0:
            for cut in leg.cuts:
                states = shown = looking.fire(cut.time, states)
                if not leg.exact and done % block.every == 0:
                    block.rows[:, done // block.every] = states
    if looking is not None:
        looking.close(states)
    if done % block.every:
        block.rows[:, -1], block.iterations[:, -1] = shown, most
