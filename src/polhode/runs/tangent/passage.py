"""The way of a run whose loads change: legs of steps with the same loads, and what happens between them.

The end of a leg is a break or an impulse at a known time, or a crossing: where a function of time and state is zero, as
the edge of a shadow. The time of a crossing depends on the state, so that the ends of both steps that meet there move
with it: these two are taken with a begin and a size that have derivatives, too. How impulses and states that are set
depend on the state, and functions of events, is found by differences of order 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import copysign, floor
from typing import Any

import numpy as np

from polhode.arguments import Array, Indices, Mask
from polhode.errors import StepFailed
from polhode.kernel import layout as L
from polhode.runs.stepping import Run
from polhode.runs.tangent.columns import Columns, slope
from polhode.runs.tangent.engine import ON_GRID, Constants, Marched, Steps, TangentEngine
from polhode.systems import System
from polhode.systems.structure import bodies_of_event

OFFSETS = (1e-2, 1e-3, 1e-4, 1e-5)
"""Offsets of differences tried, relative to the size of a number: that counts which differs least from its half."""
AT_ONCE = 4096
"""Most steps from row to row that are taken in one call."""
FEW_BETWEEN = 64
"""Most steps from row to row, on average, after which states are kept all at once."""
GRAZING = 1e-12
"""Rate of a function along the motion, relative to the sizes of its terms, below which its zero is only touched."""


@dataclass(frozen=True)
class Cut:
    """Something that happens between two steps: a break at a known time, or where ``crossing`` is not -1 the zero of
    the function of this number, behind which its side is ``side``; and impulses and settings there."""

    time: float
    crossing: int = -1
    side: float = 0.0
    acts: Sequence[Any] = ()


@dataclass(frozen=True, eq=False)
class Leg:
    """Steps with the same loads, in the time of loads of ``parameters``, and the cuts at their end.

    ``moving`` says whether begin and end follow a crossing; ``exact``, whether only times equal to the end are there.
    """

    steps: Steps
    parameters: Array
    cuts: tuple[Cut, ...]
    moving: tuple[bool, bool] = (False, False)
    exact: bool = False

    @property
    def first(self) -> float:
        """Time of the begin."""
        return float(self.steps.end(0))

    @property
    def last(self) -> float:
        """Time of the end."""
        return float(self.steps.end(self.steps.n))


class Passage:
    """The legs of a run that has been taken, and how states and derivatives pass along them; where loads do not change,
    all its steps are one leg, and no run is needed."""

    def __init__(self, steps: Steps, system: System, run: Run | None = None) -> None:
        self.steps, self.system, self.t0, self.run = steps, system, steps.t0, run
        self.direction = copysign(1.0, steps.h)
        self.step = abs(steps.h) if steps.ends is None or not steps.n else float(np.abs(np.diff(steps.ends)).max())
        self._timed: dict[int, TangentEngine] = {}
        self.cuts: list[Cut] = []
        if run is not None:
            self.detection = run.event_detection
            self.cuts = [Cut(*crossing) for crossing in self.detection.crossings]
            self.cuts += [Cut(t) for t in self.detection.breaks_after(self.t0, True)]

    def timed_engine(self, engine: TangentEngine) -> TangentEngine:
        """The engine whose steps have begins and sizes with derivatives, for as many columns as another."""
        found = self._timed.get(engine.directions)
        if found is None:
            found = TangentEngine(
                engine.system, engine.method, engine.directions, engine.varied, engine.guard, engine.adaptive,
                engine.breaks, True, engine.of_bodies,
            )  # fmt: skip
            found.step_info[L.COMMANDED] = engine.step_info[L.COMMANDED]
            self._timed[engine.directions] = found
        return found

    # -------------------------------------------------------------- legs
    def legs(self) -> Iterator[Leg]:
        """The legs, in order; the first has no steps and ends where the run starts."""
        if self.run is not None:
            self.sides = self.detection.sides_at_start.copy()
        parameters = self._parameters(self.t0)
        yield Leg(Steps(self.t0, 0.0, 0), parameters, (Cut(self.t0),))
        follows = False
        for steps, cuts, exact in self._of_one_size() if self.steps.ends is None else self._chosen(self.steps.ends):
            ends_moving = any(cut.crossing >= 0 for cut in cuts)
            parts = list(_split(steps, follows, ends_moving))
            for n, (part, moving) in enumerate(parts):
                last = n == len(parts) - 1
                yield Leg(part, parameters, cuts if last else (), moving, exact and last)
            follows = ends_moving
            for cut in cuts:
                if cut.crossing >= 0:
                    self.sides[cut.crossing] = cut.side
                parameters = self._parameters(cut.time)

    def _parameters(self, t: float) -> Array:
        """What loads read from a time on."""
        found = self.system.with_memory
        if self.run is None:
            return found
        self.system.set_switches(found, t, self.direction)
        for k in range(self.detection.cuts):
            flag = self.detection.watches[k].flag
            if flag >= 0:
                found[flag] = float(self.sides[k] > 0.0)
        if not self.run.cuts:
            return found
        self.run.set_at(t)
        return np.concatenate([found, self.run.integrator.parameters[-2:]])

    def _of_one_size(self) -> Iterator[tuple[Steps, tuple[Cut, ...], bool]]:
        """Steps, cuts at their end and whether it is no end of a step of the run; as ``Run`` takes them."""
        whole, done, total = self.steps, 0, self.steps.n
        cuts = sorted(
            ((*self._step_of(cut), cut.time * self.direction, cut) for cut in self.cuts), key=lambda one: one[:3]
        )

        def popped(step: int, within: bool) -> tuple[Cut, ...]:
            """The cuts there, if they come next."""
            found = []
            while cuts and cuts[0][:2] == (step, within):
                found.append(cuts.pop(0)[3])
            return tuple(found)

        while done < total:
            step, within = cuts[0][:2] if cuts else (total, False)
            step = min(step, total)
            if step > done or not within:
                yield whole.part(done, step), popped(step, False), False
                done = step
                continue
            t = whole.end(done)
            for cut in popped(done, True):
                yield Steps.between(np.array([t, cut.time])), (cut,), True
                t = cut.time
            yield Steps.between(np.array([t, whole.end(done + 1)])), popped(done + 1, False), False
            done += 1

    def _step_of(self, cut: Cut) -> tuple[int, bool]:
        """The number of the step at whose begin, or within which, a cut is, and whether it is within."""
        assert self.run is not None
        along = (cut.time - self.t0) / self.steps.h
        k = round(along)
        if cut.crossing < 0 and self.run.same_time(cut.time, self.steps.end(k)):
            return k, False
        step = min(max(floor(along), 0), max(self.steps.n - 1, 0))
        if step > 0 and (self.steps.end(step) - cut.time) * self.direction >= 0.0:
            step -= 1  # it has been met in the step that ends there
        return step, True

    def _chosen(self, ends: Array) -> Iterator[tuple[Steps, tuple[Cut, ...], bool]]:
        """As ``_of_one_size`` for steps that a tolerance chose, which end at all cuts."""
        done = 0
        for cut in sorted(self.cuts, key=lambda cut: cut.time * self.direction):
            stop = max(done, int(np.argmin(np.abs(ends - cut.time))))
            yield self.steps.part(done, stop), (cut,), True
            done = stop
        yield self.steps.part(done, self.steps.n), (), False

    # -------------------------------------------------------------- states and derivatives
    def march(
        self, columns: Columns, engine: TangentEngine, times: Array, seeds: Array, part: Indices,
        visit: Callable[[float, Array, Array], tuple[Array, Array]] | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """States (rows, width) and derivatives (rows, width, columns) at the times of rows. What ``visit`` returns for
        time, state and derivatives takes their place at the ends of legs that do not move."""
        state, change, row = columns.start.state.copy(), seeds.copy(), 0
        states, changes = np.empty((len(times), state.size)), np.empty((len(times), *change.shape))
        begin = np.zeros(len(part))  # derivative of the time at which a leg begins
        ending = range(0)  # rows at the end of the leg before, at which controllers act in the one that begins there
        for leg in self.legs():
            taking = _Taking(self, columns, engine, leg, part, begin)
            taking.show(ending, times, states, changes)
            until = row + int(np.argmin(np.append(taking.holds(times[row:]), False)))
            state, change = taking.carry(state, change, times[row:until], states[row:until], changes[row:until])
            taking.show(range(row, until), times, states, changes)
            row, begin = until, np.zeros(len(part))
            for cut in leg.cuts:
                acts = cut.acts
                if cut.crossing >= 0:
                    begin = taking.crossing(cut, state, change)
                    change = change + np.outer(taking.rate, begin)
                elif self.system.impulses and (cut.time != self.t0 or not self.detection.over):
                    acts = [one for one in self.system.impulses if one.time == cut.time]
                for act in acts[:: 1 if self.direction > 0.0 else -1]:
                    state, change = taking.acted(act, cut.time, state, change, begin)
            if visit is not None and leg.steps.n and not any(cut.crossing >= 0 for cut in leg.cuts):
                state, change = visit(leg.last, state, change)
            row += int(np.argmin(np.append(taking.at_end(times[row:]), False)))
            states[until:row], changes[until:row] = state, change
            ending = range(until, row)
            if row == len(times):
                break
        taking.show(ending, times, states, changes)
        states[row:], changes[row:] = state, change  # beyond the end by round-off
        return states, changes


class _Taking:
    """A leg that is being taken with derivatives."""

    def __init__(
        self, passage: Passage, columns: Columns, engine: TangentEngine, leg: Leg, part: Indices, begin: Array
    ) -> None:
        self.passage, self.columns, self.engine = passage, columns, engine
        self.leg, self.part, self.begin = leg, part, begin
        self.constants = replace(columns.constants_of(part), parameters=leg.parameters[None])
        varied = self.constants.varied
        behind = len(leg.parameters) - (0 if varied is None else varied[2].shape[1])
        if varied is not None and behind:
            more = np.concatenate([varied[2], np.zeros((1, behind, varied[2].shape[2]))], axis=1)
            self.constants = replace(self.constants, varied=(varied[0], varied[1], more))

    def at_end(self, times: Array) -> Mask:
        """Which rows are at the end."""
        leg = self.leg
        if leg.exact or not leg.steps.n:
            return times == leg.last
        return np.abs(times - leg.last) <= ON_GRID * np.maximum(abs(leg.steps.size(leg.steps.n - 1)), np.abs(times))

    def holds(self, times: Array) -> Mask:
        """Which rows are before the end."""
        return ((self.leg.last - times) * self.passage.direction > 0.0) & ~self.at_end(times)

    def carry(self, state: Array, change: Array, times: Array, states: Array, changes: Array) -> tuple[Array, Array]:
        """State and derivatives at the end, those at the times of rows go to ``states`` and ``changes``."""
        leg, steps, n = self.leg, self.leg.steps, self.leg.steps.n
        self.before = state
        if leg.moving[0] or leg.moving[1]:
            for r, t in enumerate(times):
                states[r], changes[r] = self.moved(state, change, float(t))
            return self.moved(state, change, leg.last)
        if n == 0:
            return state, change
        numbers, there = steps.of_times(times)
        every, done = int(np.gcd.reduce(numbers)) or n, 0
        whole = n <= min(AT_ONCE, FEW_BETWEEN * every) * (len(times) + 1) or self.engine.prepared.processed
        if whole:
            marched = self.taken(state, change, steps, every=every)
            at = -(-numbers // every)
            states[:], changes[:] = marched.states[0, at], marched.derivatives[0, at]
            state, change, done = marched.states[0, -1], marched.derivatives[0, -1], n
        for r, k in enumerate([] if whole else numbers.tolist()):
            state, change = self.taken_to(state, change, done, k)
            done, states[r], changes[r] = k, state, change
        for r in np.flatnonzero(~there).tolist():
            aside = Steps.between(np.array([steps.end(numbers[r]), times[r]]))
            states[r], changes[r] = self.taken_to(states[r], changes[r], 0, 1, aside)
        return self.taken_to(state, change, done, n)

    def show(self, numbers: range, times: Array, states: Array, changes: Array) -> None:
        """Let rows have what controllers set at their times."""
        for r in numbers if self.engine.system.sampled else ():
            states[r], changes[r] = self.engine.shown(states[r], changes[r], float(times[r]), self.constants)

    def taken_to(
        self, state: Array, change: Array, first: int, last: int, steps: Steps | None = None
    ) -> tuple[Array, Array]:
        """State and derivatives after some of the steps of the leg, or of others."""
        for k in range(first, last, AT_ONCE):
            marched = self.taken(state, change, (steps or self.leg.steps).part(k, min(k + AT_ONCE, last)))
            state, change = marched.states[0, -1], marched.derivatives[0, -1]
        return state, change

    def taken(
        self, state: Array, change: Array, steps: Steps, engine: TangentEngine | None = None, **how: Any
    ) -> Marched:
        """Steps with derivatives; refuses those that fail."""
        marched = (engine or self.engine).march(
            state[None], change[None], steps, **{"constants": self.constants, **how}
        )
        if int(marched.status[0]) != L.OK:
            k = min(int(marched.done[0]), steps.n - 1)
            raise StepFailed(
                f"the step at t = {steps.end(k):.9g} could not be taken with derivatives; take a smaller step "
                f"than {abs(steps.size(k)):g}", step=k, time=float(steps.end(k)),
            )  # fmt: skip
        return marched

    def moved(self, state: Array, change: Array, end: float) -> tuple[Array, Array]:
        """State and derivatives after one step to a time that stays, from a begin that moves."""
        by_begin = float(self.leg.moving[0]) * self.begin
        return self.timed(state, change, end, by_begin, -by_begin)

    def timed(
        self, state: Array, change: Array, end: float, by_begin: Array, by_size: Array,
        constants: Constants | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """State and derivatives after one step whose begin and size vary; perhaps with other constants."""
        engine, steps = self.passage.timed_engine(self.engine), Steps.between(np.array([self.leg.first, end]))
        how = {"constants": constants or self.constants, "moving": (by_begin[None], by_size[None])}
        marched = self.taken(state, change, steps, engine, **how)
        return marched.states[0, -1], marched.derivatives[0, -1]

    def crossing(self, cut: Cut, state: Array, change: Array) -> Array:
        """The derivatives of the time of a crossing at the end of the leg, ``change`` being that at a fixed time; and
        ``rate``, the derivative of the state there by the time."""
        k, passage, detection = cut.crossing, self.passage, self.passage.detection
        along_first = np.eye(len(self.part))[0]
        still, last = replace(self.constants, varied=None), self.leg.last
        self.rate = self.timed(self.before, 0.0 * change, last, 0.0 * along_first, along_first, still)[1][:, 0]
        watch, y, table = detection.watches[k], state.copy(), detection.table.copy()
        seen, sizes = self.seen((0,) if watch.of is None else bodies_of_event(watch.of, passage.system), state)
        first = int(table[k])
        own = slice(first, first + len(watch.numbers))

        def value(t: float, x: Array, bodies: Array, parameters: Array, numbers: Array) -> Array:
            y[seen], table[own] = x, numbers
            return detection.evaluate(t, y, bodies, parameters, table)[k : k + 1]

        before = [*passage.system.sudden, *detection.watches[:k]]
        by_time, by_state, found = self.slopes(value, cut.time, (state[seen], sizes), table[own].copy(), before)
        along = by_time[0] + float(by_state[0] @ self.rate[seen])
        scale = abs(by_time[0]) + float(np.abs(by_state[0]) @ np.abs(self.rate[seen]))
        if not abs(along) > GRAZING * scale:
            raise StepFailed(
                f"what cuts a step (the edge of a shadow, saturation, an event) is only touched at t = {cut.time:.9g}, "
                "so that its time has no derivative; leave tangent out, or start elsewhere", step=0, time=cut.time,
            )  # fmt: skip
        return -(by_state[0] @ change[seen] + found[0]) / along

    def acted(self, act: Any, t: float, state: Array, change: Array, begin: Array) -> tuple[Array, Array]:
        """State and derivatives after an impulse or a setting at a time that has the derivatives ``begin``."""
        system, direction = self.passage.system, self.passage.direction
        places, (seen, sizes) = act.places(system.N), self.seen(act.reads, state)
        work = L.BODY * system.N + np.arange(system.read_from)  # which it adds to
        still = state.copy()
        still[work] = 0.0

        def after(t: float, x: Array, bodies: Array, parameters: Array, numbers: Array) -> Array:
            y = still.copy()
            y[seen] = x
            act.with_numbers(numbers).apply(t, y, bodies, parameters, direction)
            return y[places]

        own, sudden = np.array(act.numbers), system.sudden
        before = sudden[: next(k for k, one in enumerate(sudden) if one is act)]
        by_time, by_state, found = self.slopes(after, t, (still[seen], sizes), own, before)
        new, moved, constants = state.copy(), change.copy(), self.constants
        new[places] = after(t, still[seen], constants.bodies[0], constants.parameters[0], own)
        moved[places] = by_state @ change[seen] + np.outer(by_time, begin) + found
        new[work] += np.isin(work, places) * state[work]
        moved[work] += np.isin(work, places)[:, None] * change[work]
        return new, moved

    def seen(self, bodies: Sequence[int] | None, state: Array) -> tuple[list[int], list[float]]:
        """Places in the state of bodies, and of all that loads read beside these, and the sizes of what is there."""
        read, _ = self.columns.read_by_loads
        places, sizes = list[int](), list[float]()
        for i in bodies or ():
            for first, count in ((L.POSITION, 3), (L.MOMENTUM, 3), (L.ATTITUDE, 4), (L.ANGULAR, 3)):
                own = range(L.BODY * i + first, L.BODY * i + first + count)
                places, sizes = [*places, *own], sizes + [float(np.linalg.norm(state[own])) or 1.0] * count
        if bodies is None:
            return [], []
        return [*places, *read], [*sizes, *_sizes(state[read])]

    def slopes(
        self, function: Callable[..., Array], t: float, state: tuple[Array, list[float]], own: Array,
        before: Sequence[Any],
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """The derivatives of a function of a time, numbers of the state (they and their sizes), constants of bodies,
        parameters, and numbers of its own, which stand behind those of ``before``: by the time, by the state, and by
        what varies for each column."""
        columns, (x, sizes) = self.columns, state
        constants = [self.constants.bodies[0], self.constants.parameters[0], own]
        by_time = _best(lambda s: function(t + s, x, *constants), self.passage.step)
        by_state, found = np.zeros((len(by_time), len(x))), np.zeros((len(by_time), len(self.part)))
        for n, (e, size) in enumerate(zip(np.eye(len(x)), sizes, strict=True)):
            by_state[:, n] = _best(lambda s, e=e: function(t, x + s * e, *constants), size)
        if columns.varied is None or columns.changing is None or self.constants.varied is None:
            return by_time, by_state, found
        first = sum(len(one.numbers) for one in before)
        changing = columns.changing[first : first + len(own), self.part]
        for n, slopes in enumerate((self.constants.varied[0][0], self.constants.varied[2][0], changing)):

            def moved(numbers: Array, n: int = n) -> Array:
                return function(t, x, *constants[:n], numbers, *constants[n + 1 :])

            found += _along(moved, constants[n], slopes, _sizes(constants[n]))
        return by_time, by_state, found


def _split(steps: Steps, first: bool, last: bool) -> Iterator[tuple[Steps, tuple[bool, bool]]]:
    """The first and the last step alone where begin or end move; and whether they do."""
    n = steps.n
    if n <= 1 or not (first or last):
        yield steps, (first, last)
        return
    edges = sorted({0, 1 if first else 0, n - 1 if last else n, n})
    for a, b in pairwise(edges):
        yield steps.part(a, b), (first and a == 0, last and b == n)


def _sizes(numbers: Array) -> Array:
    """Those of numbers; 1 of nothing, and of the mass of what is pinned."""
    sizes = np.abs(numbers)
    return np.where((sizes > 0.0) & (sizes < np.inf), sizes, 1.0)


def _best(function: Callable[..., Array], size: float) -> Array:
    """The derivative of a function at 0, which is smooth near there, by the differences that agree best."""
    found = [(slope(function, 0.5 * offset * size), slope(function, offset * size)) for offset in OFFSETS]
    return min(found, key=lambda pair: float(np.linalg.norm(pair[0] - pair[1])))[0]


def _along(function: Callable[[Array], Array], here: Array, slopes: Array, sizes: Array) -> Array:
    """The derivatives of a function of numbers along columns (numbers, columns)."""
    found = []
    for column in slopes.T:
        largest = float(np.max(np.abs(column) / sizes, initial=0.0))
        found.append(
            _best(lambda s, column=column: function(here + s * column), 1.0 / largest)
            if largest
            else np.zeros(len(function(here)))
        )
    return np.stack(found, axis=-1)
