"""What happens between and within the steps of a run: known times at which it is cut, and events to be found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from polhode.arguments import Array
from polhode.errors import InvalidInput, StepFailed, UserFunctionError
from polhode.kernel import drive, layout as L
from polhode.kernel.member_events import narrowing
from polhode.runs.integrator import Integrator
from polhode.runs.steps import FixedStep, TimeTransformed
from polhode.systems.events import impact
from polhode.systems.sampling import cut_by
from polhode.systems.structure import compiled_events, table_of

if TYPE_CHECKING:
    from polhode.runs.request import Request

EPSILON = 2.0**-52
MOST_AT_ONCE = 100
"""Most impulses at one time."""
SOON = 1e-9
"""After which part of a run an event is looked at again, to see to which side the motion leads."""


class Found(NamedTuple):
    """An event that was met: time, kind, state (of an impulse that after it), state before, work done on the body."""

    time: float
    kind: str
    state: Array
    before: Array | None = None
    work: float = 0.0


class Ended(Exception):
    """An event that ends the run."""

    def __init__(self, event: Found) -> None:
        super().__init__(f"stopped by the event {event.kind!r} at t = {event.time:.9g}")
        self.event = event


# ------------------------------------------------------------------ known times
def check_span(switches: Sequence[Any], impulses: Sequence[Any], start: float, end: float) -> None:
    """Refuse what is switched or fired at times that are all outside of a run."""
    low, high = min(start, end), max(start, end)
    if low == high:
        return
    slack = 4.0 * EPSILON * max(abs(low), abs(high))
    for switch in switches:
        if switch.stop <= low or switch.start >= high:
            told = f"on from t = {switch.start:g} to {switch.stop:g}".replace("from t = -inf ", "").replace(
                " to inf", ""
            )
            raise InvalidInput(f"{switch.what}: it is {told}, outside of the run from t = {low:g} to {high:g}; "
                               "change its times, or leave it out")  # fmt: skip
    for impulse in impulses:
        if not low - slack <= impulse.time <= high + slack:
            raise InvalidInput(f"{impulse.what}: it is at t = {impulse.time:g}, outside of the run from t = {low:g} to "
                               f"{high:g}; change its time, or leave it out")  # fmt: skip


# ------------------------------------------------------------------ zeros
def zero(f: Callable[[float], float], a: float, fa: float, b: float, fb: float) -> float:
    """Where f is zero between a and b, at which it has different signs: to the last digit of the larger of both."""
    bracket, x, resolved = [b, fb, a, fa, a, fa], b + 0.5 * (a - b), EPSILON * max(abs(a), abs(b))
    while x not in (bracket[0], bracket[2]):
        x = narrowing(bracket, x, f(x), resolved)  # type: ignore[no-untyped-call]
    return x


# ------------------------------------------------------------------ events
class EventDetection:
    """The events of a run: what happens at known times, what to look for, on which side of each the motion is, and what
    was found."""

    def __init__(self, request: Request) -> None:
        self.system, self.t0, self.final, self.cut_at = request.system, request.t0, request.final, request.breaks
        self.direction, self.over = copysign(1.0, self.final - self.t0), request.since is not None
        if self.direction < 0.0 and self.system.one_way:
            raise InvalidInput(f"{self.system.one_way}, and happens forwards in time only: what was before does not "
                               "follow from what is after; let t_end lie after the start")  # fmt: skip
        h = request.steps.h if isinstance(request.steps, FixedStep) else None
        sampled = self.system.sampled if h is not None else ()  # chosen steps end there within the loop
        self.sampled = cut_by(sampled, self.t0, h, self.final) if sampled else ()
        asked = [watch for event in request.events for watch in event.watches]
        self.watches, self.asked = sorted([*self.system.watches, *asked], key=lambda watch: not watch.cuts), len(asked)
        self.found: list[Found] = []
        # of what cuts steps: time, number, side behind it, what happens there
        self.crossings: list[tuple[float, int, float, Sequence[Any]]] = []
        self.cuts = sum(watch.cuts for watch in self.watches)
        self.table = table_of(self.watches, self.system) if self.watches else np.zeros(1)
        self.ground = self.system.ground if self.direction > 0.0 else None
        beyond = request.tangent is not None or isinstance(request.steps, TimeTransformed)
        if beyond and self.ground is not None and self.ground.assumed:  # fits pass through such motions
            self.ground = None

    def watch(self, integrator: Integrator, t: float, y: Array) -> None:
        """Have the loops of an integrator look for the events, and take sides at the start."""
        r = y[L.POSITION : L.POSITION + 3]
        if self.ground is not None and float(r @ r) < self.ground.radius**2:
            if not self.ground.assumed:
                raise InvalidInput(f"the position at the start is below the surface of radius {self.ground.radius:g}")
            self.ground = None
        self._look(integrator, t, y, 0.0 if self.ground is None else self.ground.radius**2)
        self.begin(t, y)
        self.sides_at_start = self.sides.copy()

    def _look(self, integrator: Integrator, t: float, y: Array, ground: float) -> None:
        """Have the loops look for the events; for the ground at this distance squared, 0 for none."""
        self.integrator, count = integrator, len(self.watches)
        if count:
            self.role = compiled_events(self.watches, self.system, t, y)
        integrator.watch(self.role if count else None, self.table, count, self.cuts, ground)
        self.sides, self.values = integrator.sides[:count], integrator.sides[count : 2 * count]

    def land(self, t: float, y: Array) -> None:
        """Watch the ground as an event from a state above it on; loops have only looked whether a step ends below."""
        assert self.ground is not None
        at = len(self.watches) - self.asked  # behind those of the system
        sides, there, self.ground = np.insert(self.sides, at, 1.0), impact(self.ground.radius), None
        self.watches.insert(at, there)
        self.table = table_of(self.watches, self.system)
        self._look(self.integrator, t, y, 0.0)
        self.sides[:] = sides

    def breaks_after(self, t: float, every_sample: bool = False) -> list[float]:
        """Times after this one at which the run is cut, in its order; at its end only if something happens there. Of
        the sampling times of each controller that cut steps the next one, or all of them."""
        if not (self.system.switches or self.system.impulses or self.cut_at or self.sampled):
            return []
        start, end = self.t0, self.final
        slack = 4.0 * EPSILON * max(abs(start), abs(end))
        times = {t for switch in self.system.switches for t in (switch.start, switch.stop) if isfinite(t) and t != end}
        times |= {impulse.time for impulse in self.system.impulses} | {t for t in self.cut_at if t != end}
        for one in self.sampled:
            at = one.after(max(t, start))
            while at < end:
                times.add(at)
                at = one.after(at) if every_sample else end
        inside = (
            at for at in times
            if (at - start) * self.direction > 0.0 and (end - at) * self.direction >= -slack
            and (at - t) * self.direction > 0.0
        )  # fmt: skip
        return sorted(inside, key=lambda at: at * self.direction)

    def fire(self, t: float, y: Array, first: bool = False) -> list[Found]:
        """Apply the impulses of this time to a state, in place; backwards in time their inverses in the other order."""
        found: list[Found] = []
        for impulse in () if first and self.over else self.system.impulses[:: 1 if self.direction > 0.0 else -1]:
            if impulse.time == t:
                found.append(self._apply(impulse, t, y))
        if first:
            self.found += found
        return found

    def _apply(self, impulse: Any, t: float, y: Array) -> Found:
        """Apply an impulse to a state, in place, or set states."""
        before, now = y.copy(), getattr(self, "integrator", self.system)
        work = impulse.apply(t, y, now.bodies, now.parameters, self.direction)
        if not np.isfinite(work):
            velocity = before[impulse.places(self.system.N)[:3]] / self.system.mass[impulse.body]
            raise StepFailed(f"{impulse.what}, at t = {t:g}: its frame has no axes there, or nothing leads to the "
                             f"velocity {velocity.tolist()} by it; give delta_v in frame 'inertial'",
                             time=t)  # fmt: skip
        return Found(t, impulse.kind, y.copy(), before, work)

    def act(self, k: int, t: float, y: Array, part: Callable[[float, Array, float], Array]) -> None:
        """What happens at event k, which is met at time t, to the state there, in place; ``part`` as in ``passed``."""
        if self.watches[k].acts is None or not self._name(k, self.sides[k]):
            return
        same = [j for j, other in enumerate(self.watches) if other.is_that_of(self.watches[k])]
        met = [j for j in same if j == k or self.sides[j] == -self.sides[k]]  # at the same time, to round-off
        for j in met:
            self.sides[j] = self.sides[k]
            self.note_event(j, t, y)
        self.close(t, y)
        acting = [j for j in met if self.watches[j].acts is not None and self._name(j, self.sides[j])]
        self.crossings[-1] = (t, k, self.sides[k], [self.watches[j].acts for j in acting])
        for j in acting:
            act = self.watches[j].acts
            if sum(one.kind == act.kind and one.time == t for one in self.found) > MOST_AT_ONCE:
                raise StepFailed(f"{act.what} happens more than {MOST_AT_ONCE} times at t = {t:g}; its event must not "
                                 "be met again at once", time=t)  # fmt: skip
            found = self._apply(act, t, y)
            if (found.state != found.before).any():  # a load that has ended may end again
                self.found.append(found)
        self.restart(t, y)
        soon = t + SOON * (self.final - self.t0)
        leading = np.sign(self.evaluate(soon, part(t, y, soon)))  # at the time itself it is zero, to round-off
        for j in same:
            if self.sides[j] != L.EVENT_DISABLED:
                self.sides[j] = leading[j] or L.EVENT_UNARMED
        for j in acting:
            if self.watches[j].acts.once:
                self.sides[j] = L.EVENT_DISABLED

    def __bool__(self) -> bool:
        return bool(self.watches)

    def evaluate(
        self, t: float, y: Array, bodies: Array | None = None, parameters: Array | None = None,
        table: Array | None = None,
    ) -> Array:  # fmt: skip
        """Values of all functions at a state of the system; perhaps with other constants, or numbers of events."""
        now, out = self.integrator, np.zeros(len(self.watches))
        given = ((bodies, now.bodies), (parameters, now.parameters), (table, self.table))
        try:
            drive.event_values(self.role, t, y, *(own if one is None else one for one, own in given), out)
        except UserFunctionError:
            raise
        except Exception as problem:
            raise UserFunctionError(
                f"the function of an event raised {type(problem).__name__}: {problem} (at t = {t:g})", time=t
            ) from problem
        return out

    def begin(self, t: float, y: Array) -> None:
        """Take sides at the start of the run, and set the flags that follow from them."""
        if not self:
            return
        self.sides[:] = np.sign(self.evaluate(t, y))
        for k, watch in enumerate(self.watches):
            if watch.cuts and self.sides[k] == 0.0:
                self.sides[k] = 1.0
            self._flag(k)

    def restart(self, t: float, y: Array) -> None:
        """Take sides after the velocity has jumped; what depends on places only stays."""
        if self:
            signs = np.sign(self.evaluate(t, y))
            steady = [watch.cuts and watch.acts is None for watch in self.watches]
            keeps = steady | (self.sides == L.EVENT_DISABLED)
            self.sides[:] = np.where(keeps, self.sides, np.where(signs == 0.0, L.EVENT_UNARMED, signs))

    def close(self, t: float, y: Array) -> None:
        """Tell of functions that are exactly zero where they will not be seen to leave: at a jump, or at the end."""
        if self:
            for k in np.flatnonzero(self.evaluate(t, y) == 0.0):
                if abs(self.sides[k]) == 1.0 and k >= self.cuts:
                    self.sides[k] = -self.sides[k]
                    self.note_event(int(k), t, y)

    def cross(self, k: int, side: float, t: float) -> None:
        """The motion is on this side of event k from time t on."""
        if k < self.cuts:
            self.crossings.append((t, k, side, ()))
        self.sides[k] = side
        self._flag(k)

    def changed(self, values: Array) -> list[int]:
        """Which of the events changed sides, given the values after a step."""
        s = self.sides
        left = (s == 0.0) & (values != 0.0)
        return [int(k) for k in np.flatnonzero(left | ((np.abs(s) == 1.0) & (values * s < 0.0)))]

    def passed(
        self, a: float, ya: Array, b: float, yb: Array, part: Callable[[float, Array, float], Array]
    ) -> tuple[float, Array] | None:
        """Look for events in a step from (a, ya) to (b, yb) and tell them in their order."""
        values = self.evaluate(b, yb)
        edges = [watch.cuts and watch.acts is None for watch in self.watches]
        wanted = [k for k in self.changed(values) if edges[k] or self._name(k, values[k])]
        zeros = [(*self.locate(k, a, ya, b, yb, values[k], part), k) for k in wanted]
        for t, y, k in sorted(zeros, key=lambda found: found[0] * self.direction):
            self.cross(k, copysign(1.0, values[k]), t)
            self.note_event(k, t, y)
            if self.watches[k].cuts:
                self.act(k, t, y, part)
                return t, y
        sides = np.where(values == 0.0, self.sides, np.sign(values))
        self.sides[:] = np.where(self.sides == L.EVENT_DISABLED, L.EVENT_DISABLED, sides)
        return None

    def locate(
        self, k: int, a: float, ya: Array, b: float, yb: Array, fb: float, part: Callable[[float, Array, float], Array]
    ) -> tuple[float, Array]:
        """Time and state of the zero of event k in a step, to round-off."""
        fa, soon = float(self.evaluate(a, ya)[k]), a + SOON * (self.final - self.t0)
        if self.watches[k].acts is not None and fa * fb > 0.0 and (b - soon) * self.direction > 0.0:
            there = part(a, ya, soon)  # from an impulse at such an event the motion may lead away from it and back
            away = float(self.evaluate(soon, there)[k])
            a, ya, fa = (soon, there, away) if away * fb < 0.0 else (a, ya, fa)
        if fa == 0.0 or fa * fb > 0.0:  # it is the start of the step, to round-off
            return a, ya.copy()
        states = {a: ya, b: yb}

        def f(t: float) -> float:
            if t not in states:
                states[t] = part(a, ya, t)
            return float(self.evaluate(t, states[t])[k])

        t = zero(f, a, fa, b, fb)
        return t, states[t].copy()

    def _name(self, k: int, side: float) -> str:
        watch = self.watches[k]
        return watch.rising if side * self.direction > 0.0 else watch.falling

    def flag(self) -> None:
        """Set the flags that follow from the sides."""
        for k in range(len(self.watches)):
            self._flag(k)

    def _flag(self, k: int) -> None:
        if self.watches[k].flag >= 0:
            self.integrator.parameters[self.watches[k].flag] = float(self.sides[k] > 0.0)

    def note_event(self, k: int, t: float, y: Array) -> None:
        """Note the crossing of event k to the side it is on now, if that is an event."""
        name = self._name(k, self.sides[k])
        if name and self.watches[k].acts is None:
            self.found.append(Found(t, name, y.copy()))
            if self.watches[k].terminal:
                raise Ended(self.found[-1])


def rows_of(found: Sequence[Found], width: int) -> dict[str, Any]:
    """Events as arrays: times, kinds, states, states before them, work."""
    states = np.array([event.state[:width] for event in found]).reshape(len(found), width)
    before = [event.state if event.before is None else event.before for event in found]
    return {
        "time": np.array([event.time for event in found], dtype=float),
        "kind": np.array([event.kind for event in found], dtype=object),
        "state": states,
        "before": np.array([y[:width] for y in before]).reshape(len(found), width),
        "work": np.array([event.work for event in found], dtype=float),
    }
