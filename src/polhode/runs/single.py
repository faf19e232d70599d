"""One run: a method over a system, recorded as a Dataset."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from math import copysign, floor, inf, isfinite, log10, sqrt
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra.quaternion import multiply, rotate_inverse
from polhode.errors import (
    ConvergenceError,
    Interrupted,
    InvalidInput,
    NotFinite,
    PolhodeError,
    StepFailed,
    StepTooLarge,
    StepTooSmall,
    UserFunctionError,
    unknown_name,
)
from polhode.flows.sums import CARRIES
from polhode.kernel import drive
from polhode.kernel.signatures import (
    ACCEPTED,
    ANGULAR,
    ATTITUDE,
    BEGUN,
    BODY,
    CLOCK_NUMBERS,
    CROSSED,
    CUT,
    ERROR,
    ITERATIONS,
    LARGEST,
    MOMENTUM,
    MUTED,
    NEXT_TIME,
    NOT_CONVERGED,
    OK,
    POSITION,
    REJECTED,
    RESIDUAL,
    ROW_ITERATIONS,
    ROWS,
    SINGULAR,
    SMALLEST,
    STEPS_DONE,
    TAKEN,
    TIME,
    TOO_LARGE,
    TOO_SMALL,
    TOTAL_ITERATIONS,
)
from polhode.methods import Chosen
from polhode.methods import method as find_method
from polhode.runs.bench import Bench, check_estimate, extended
from polhode.runs.watching import EPSILON, Ended, Found, Watching, break_times, check_span, fire, rows_of
from polhode.systems import SYSTEMS, System
from polhode.systems.events import Event, event_of, events_of
from polhode.systems.record import in_si, is_quantity, vector
from polhode.trajectory import CONVENTIONS, UNITS, dataset
from polhode.trajectory.build import with_events
from polhode.trajectory.charts import singular_note
from polhode.trajectory.epochs import epoch_of
from polhode.trajectory.schema import MEANING

SLICE_SECONDS = 0.2
FIRST_SLICE = 16
LARGEST_ROWS = 2**31
FIRST_ROWS = 1024

TIGHTEST = 1e-14
FLOOR = 1e-3
"""Smallest rtol; the default of atol in units of it."""
SHORTEST = 1e-14
"""Part of the span below which steps are too small."""
MOST_STEPS = 10_000_000
ADAPTIVE = "mkrk:dp8"
"""The method of a run with rtol that names none."""


@cache
def release() -> str:
    """Version of polhode; reading it off the installation takes as long as a short run."""
    return version("polhode")


@dataclass(frozen=True)
class Progress:
    """Where a run is: handed to the ``progress`` function a few times a second.

    Attributes
    ----------
    done, total : int
        Steps; the total is None where they are chosen by a tolerance.
    seconds : float
        Time computed so far.
    stage : str
        ``compiling`` or ``running``.
    share : float
        Part of the span of time that is done.
    """

    done: int
    total: int | None
    seconds: float
    stage: str
    share: float = 0.0


# ------------------------------------------------------------------ the span
def span(step: Any, t_end: Any, steps: Any, t0: Any) -> tuple[float, int, float]:
    """Signed step, number of steps and start time from what the user gave.

    Raises
    ------
    InvalidInput
        Step not positive; neither or both of ``t_end`` and ``steps``; ``t_end`` no whole number of steps away.
    """
    h, start = _number(step, "step"), _number(t0, "t0")
    if not h > 0.0:
        raise InvalidInput(f"step is {h:g}; it must be positive (to run backwards in time, give t_end before t0)")
    if (t_end is None) == (steps is None):
        raise InvalidInput("give either t_end or steps, the one or the other")
    if steps is not None:
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer):
            raise InvalidInput(f"steps must be a whole number, not {steps!r}")
        if steps < 0:
            raise InvalidInput(f"steps is {steps}; it must not be negative (to run backwards, give t_end before t0)")
        return h, int(steps), start
    end = _number(t_end, "t_end")
    ratio = abs(end - start) / h
    n = round(ratio)
    if abs(ratio - n) > 1e-9 * max(1.0, ratio):
        better = abs(end - start) / max(1, n)
        raise InvalidInput(
            f"t_end - t0 = {end - start:g} is {ratio:.9g} steps of {h:g}; the nearest step that fits is {better!r}"
        )
    return (h if end >= start else -h), n, start


def clocked_span(step: Any, t_end: Any, steps: Any, t0: Any) -> dict[str, Any]:
    """What a run of a method with a clock is told, checked: any end, or a number of steps.

    Raises
    ------
    InvalidInput
        As ``span``, but for the end.
    """
    if t_end is None or steps is not None:
        h, n, start = span(step, t_end, steps, t0)
        return {"step": h, "steps": n, "backwards": False, "t0": start, "t_end": None}
    h, _, start = span(step, None, 0, t0)
    end = _number(t_end, "t_end")
    return {"step": h, "steps": None, "backwards": end < start, "t0": start, "t_end": end}


def tolerances(
    rtol: Any, atol: Any, t_end: Any, steps: Any, t0: Any, first_step: Any, max_step: Any, max_steps: Any
) -> dict[str, Any]:
    """What a run with chosen steps is told, checked, with its defaults put in.

    Raises
    ------
    InvalidInput
        A number out of its range; ``steps``, which is for steps of one size; no ``t_end``.
    """
    found: dict[str, Any] = {"rtol": _number(rtol, "rtol")}
    if not TIGHTEST <= found["rtol"] < 1.0:
        raise InvalidInput(f"rtol is {rtol:g}; it must be at least {TIGHTEST:g}, where round-off begins, and below 1")
    found["atol"] = found["rtol"] * FLOOR if atol is None else _number(atol, "atol")
    if steps is not None or t_end is None:
        raise InvalidInput("with rtol the steps are not counted beforehand; give t_end and no steps")
    found |= {"t0": _number(t0, "t0"), "t_end": _number(t_end, "t_end")}
    for name, value in (("first_step", first_step), ("max_step", max_step)):
        found[name] = None if value is None else _number(value, name)
    for name in ("atol", "first_step", "max_step"):
        if found[name] is not None and not found[name] > 0.0:
            raise InvalidInput(f"{name} is {found[name]:g}; it must be positive")
    if isinstance(max_steps, bool) or not isinstance(max_steps, int | np.integer) or max_steps < 1:
        raise InvalidInput(f"max_steps is {max_steps!r}; it must be a whole number, 1 or more")
    return found | {"max_steps": int(max_steps)}


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidInput(f"{name} must be a number, not {value!r}")
    if not isfinite(value):
        raise InvalidInput(f"{name} is {value}; it must be a finite number")
    return float(value)


# ------------------------------------------------------------------ the start
def start_state(
    system: System,
    attitude: Any = None,
    angular_velocity: Any = None,
    angular_momentum: Any = None,
    position: Any = None,
    velocity: Any = None,
    momentum: Any = None,
) -> Any:
    """State vector from the initial values, each for one body (shape (k,)) or all (shape (N, k)).

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, a zero quaternion, two values for one thing, a value the system has no use for, or a
        position at the centre of attraction.
    """
    N = system.N
    y = np.zeros(BODY * N)
    body = y.reshape(N, BODY)
    body[:, ATTITUDE] = 1.0
    turning = {"attitude": attitude, "angular_velocity": angular_velocity, "angular_momentum": angular_momentum}
    moving = {"position": position, "velocity": velocity, "momentum": momentum}
    for names, allowed, does in ((turning, system.rotates, "turn"), (moving, system.translates, "move through space")):
        for name, value in names.items():
            if value is not None and not allowed:
                raise InvalidInput(f"{name} is given, but the bodies of {system.name!r} do not {does}; leave it out")
    if angular_velocity is not None and angular_momentum is not None:
        raise InvalidInput("angular_velocity and angular_momentum are both given; keep one of them")
    if velocity is not None and momentum is not None:
        raise InvalidInput("velocity and momentum are both given; keep one of them")
    for i, frame in enumerate(system.frames):
        if attitude is not None:
            q = _of_body(attitude, "attitude", i, N, 4)
            length = float(np.linalg.norm(q))
            if abs(length - 1.0) > 1e-6:
                raise InvalidInput(f"attitude has length {length:g}; give a unit quaternion (w, x, y, z)")
            body[i, ATTITUDE : ATTITUDE + 4] = q / length
        q = body[i, ATTITUDE : ATTITUDE + 4]
        body[i, ATTITUDE : ATTITUDE + 4] = multiply(q, frame)
        if angular_velocity is not None:
            omega = rotate_inverse(frame, _of_body(angular_velocity, "angular_velocity", i, N, 3))
            body[i, ANGULAR : ANGULAR + 3] = _heavy(system.moments[i], omega, "angular_velocity", i, "turn")
        if angular_momentum is not None:
            m = rotate_inverse(frame, _of_body(angular_momentum, "angular_momentum", i, N, 3))
            body[i, ANGULAR : ANGULAR + 3] = m
        if position is not None:
            body[i, POSITION : POSITION + 3] = _of_body(position, "position", i, N, 3)
        if velocity is not None:
            v = _of_body(velocity, "velocity", i, N, 3)
            body[i, MOMENTUM : MOMENTUM + 3] = _heavy(
                np.full(3, system.mass[i]), v, "velocity", i, "move through space"
            )
        if momentum is not None:
            body[i, MOMENTUM : MOMENTUM + 3] = _of_body(momentum, "momentum", i, N, 3)
        if system.attracted and np.isfinite(system.mass[i]) and not body[i, POSITION : POSITION + 3].any():
            given = "is missing" if position is None else "is at the centre, where the attraction is infinite"
            raise InvalidInput(f"position {given}; say where the orbit begins")
    return y


def _start(
    system: System, chosen: Chosen, coordinates: Any, carries: Any, clock: Any, attitude: Any, *rest: Any
) -> Any:
    """State vector a method starts from: its own numbers follow the attitudes, or replace them where given."""
    prepared = chosen.prepare()
    if prepared.carries and not system.translates:
        raise InvalidInput(
            "compensated sums are of positions and momenta, but the bodies of "
            f"{system.name!r} do not move through space; leave it out"
        )
    if carries is not None and not prepared.carries:
        raise InvalidInput("carries are given without compensated=True, to which they belong; leave them out")
    y = start_state(system, attitude, *rest)
    if carries is not None:
        left = [_of_body(carries, "carries", i, system.N, CARRIES) for i in range(system.N)]
        return extended(system, prepared, y, carries=left)
    if clock is not None:
        if not prepared.clock:
            raise InvalidInput(f"method {chosen.label!r} has no clock of its own; leave clock out")
        y = _start(system, chosen, coordinates, None, None, attitude, *rest)
        y[-CLOCK_NUMBERS:] = vector(np.array(clock, dtype=float), "clock", CLOCK_NUMBERS)
        if not y[2 - CLOCK_NUMBERS] >= 0.0:
            raise InvalidInput(f"clock[2], the density of steps, is {clock[2]:g}; it must be positive")
        return y
    if coordinates is None:
        return extended(system, prepared, y)
    own = prepared.coordinates
    if own is None:
        raise InvalidInput(f"method {chosen.label!r} has no coordinates of its own; give the attitude")
    if attitude is not None:
        raise InvalidInput(f"attitude and coordinates ({own.name}) are both given; keep one of them")
    given = [_of_body(coordinates, "coordinates", i, system.N, own.size) for i in range(system.N)]
    return extended(system, prepared, y, given)


def _heavy(inertia: Any, rate: Any, name: str, i: int, does: str) -> Any:
    """inertia times rate; what has infinite inertia stays at rest."""
    fixed = ~np.isfinite(inertia)
    if (fixed & (rate != 0.0)).any():
        raise InvalidInput(f"{name} of body {i} is not zero, but that body does not {does}")
    return np.where(fixed, 0.0, inertia) * rate


def _of_body(value: Any, name: str, i: int, N: int, length: int) -> Any:
    if is_quantity(value):
        return vector(value, name, length)
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be {length} numbers, not {value!r}") from None
    if N > 1 and array.shape == (N, length):
        return vector(array[i], f"{name} of body {i}", length)
    return vector(array, name, length)


# ------------------------------------------------------------------ the run
class _Record:
    """Rows recorded so far."""

    def __init__(self, rows: int, width: int) -> None:
        self.count = 0
        self.times, self.sizes = np.empty(0), np.empty(0)
        self.states, self.iterations = np.empty((0, width)), np.empty(0, dtype=np.int64)
        self._make(rows)

    def _make(self, rows: int) -> None:
        """Memory for so many rows; those there are stay."""
        width = self.states.shape[1]
        size = f"{rows} rows would need {rows * width * 8 / 1e9:.0f} GB of memory; record less with every="
        if rows * width > LARGEST_ROWS:
            raise InvalidInput(size)
        try:
            for name in ("times", "sizes", "states", "iterations"):
                old = getattr(self, name)
                new = np.zeros((rows, *old.shape[1:]), dtype=old.dtype)
                new[: self.count] = old[: self.count]
                setattr(self, name, new)
        except MemoryError:
            raise InvalidInput(size) from None

    def add(self, times: Any, states: Any, iterations: Any, sizes: Any = 0.0) -> None:
        """Add one row or several."""
        here = slice(self.count, self.count + np.size(times))
        self.times[here], self.states[here], self.iterations[here] = times, states, iterations
        self.sizes[here] = sizes
        self.count = here.stop

    def room(self, rows: int) -> tuple[Any, Any, Any, Any]:
        """Where the next rows go: times, sizes of steps, states, iterations. One more than asked for always fits."""
        if self.count + rows >= len(self.times):
            self._make(max(2 * len(self.times), self.count + rows + 1))
        here = slice(self.count, None)
        return self.times[here], self.sizes[here], self.states[here], self.iterations[here]

    def cut(self, t: float, direction: float) -> None:
        """Drop the rows after a time."""
        while self.count and (self.times[self.count - 1] - t) * direction > 0.0:
            self.count -= 1

    def replace(self, t: float, y: Any) -> None:
        """Another state in the rows at this time, which are the last ones if there are any."""
        row = self.count - 1
        while row >= 0 and self.times[row] == t:
            self.states[row] = y
            row -= 1


class _Run:
    """A run with steps of one size: its arrays, how far it is, and the slices it takes."""

    adaptive = False
    clocked = False

    def __init__(self, system: System, chosen: Chosen, recipe: Mapping[str, Any], events: Sequence[Event] = ()) -> None:
        self.system, self.chosen, self.recipe = system, chosen, recipe
        self.t0, self.guard = recipe["t0"], recipe["guard"]
        self.start = np.array(recipe["state"])
        self.direction = copysign(1.0, self.final - self.t0)
        fired = [] if recipe.get("since", self.t0) != self.t0 else fire(system, self.t0, self.start, self.direction)
        limit = chosen.method.range if self.guard else None
        self.bench = Bench(system, chosen, self.start.copy(), self.t0, limit, self.adaptive)
        self.report = self.bench.report
        self.done: int = 0
        self.seconds = 0.0
        self.slice = FIRST_SLICE
        self.ended: Found | None = None
        self.breaks = break_times(system, self.t0, self.final)
        system.settle(self.bench.parameters, self.t0, self.direction)
        self.watching = Watching(system, self.bench, events, self.direction, self.t0, self.start)
        self.watching.begin(self.t0, self.start)
        self.watching.found += fired
        self.set_out()

    @property
    def final(self) -> float:
        """Time at the end of the span."""
        length = self.recipe["step"] * self.recipe["steps"]
        return float(self.t0 - length if self.recipe["backwards"] else self.t0 + length)

    def set_out(self) -> None:
        """Get ready for the first step."""
        self.total: int | None = self.recipe["steps"]
        self.h = -self.recipe["step"] if self.recipe["backwards"] else self.recipe["step"]

    @property
    def now(self) -> float:
        """Time of the present state."""
        return float(self.time(self.done))

    @property
    def share(self) -> float:
        """Part of the span that is done."""
        return float(self.done / self.total) if self.total else 1.0

    @property
    def last(self) -> float:
        """Size of the last step."""
        return float(abs(self.h))

    @property
    def pace(self) -> dict[str, Any]:
        """Attributes that tell of the steps."""
        return {"step": abs(self.h), "steps": self.done}

    def number(self, t: float) -> int:
        """Number of the step that begins at a time."""
        return round(float((t - self.t0) / self.h))

    def advice(self, h: float) -> str:
        """What may help where a step of h failed."""
        return f"take a smaller step than {abs(h):g}"

    def carry_out(self, record: _Record, every: int, samples: Any, look: Callable[[], None]) -> None:
        """The whole run; ``look`` is called now and then."""
        if samples is None:
            record.add(self.t0, self.start, 0)
            self.prepare()
            self.advance(self.recipe["steps"], every, record, look)
        else:
            self.prepare()
            self.sample(samples, record, look)

    def sample(self, samples: Any, record: _Record, look: Callable[[], None]) -> None:
        """Rows at given times: the grid is walked as ever, and each time off it is reached by a side step."""
        n = self.recipe["steps"]
        for t in samples:
            along = (t - self.t0) / self.h
            k = round(along)
            on_grid = abs(along - k) <= 1e-12 * max(1.0, abs(along)) and k <= n
            self.advance((k if on_grid else min(n - 1, floor(along))) - self.done, 1, None, look)
            if on_grid:
                record.add(t, self.state(), int(self.report[ROW_ITERATIONS]))
            else:
                try:
                    record.add(t, *self.aside(t))
                except Ended:  # before that time; the step itself will tell
                    break
            self.report[ROW_ITERATIONS] = 0.0
        self.advance(n - self.done, 1, None, look)

    @property
    def y(self) -> Any:
        """The state the method works on; see ``state``."""
        return self.bench.y

    def prepare(self) -> None:
        """Make the state the method works on from that of the system, at the present time."""
        status, problem = OK, None
        self.bench.forget()
        try:
            status = self.bench.prepare(self.now, self.h)
        except Exception as caught:
            problem = caught
        if status != OK or problem is not None:
            raise self.failure(status, self.done, self.start, self.now, self.h, self.y.copy(), problem)

    def state(self) -> Any:
        """The state of the system after the steps done; a processed method's own where it cannot be turned back."""
        if self.done == 0:
            return self.start.copy()
        try:
            status, shown = self.bench.present(self.time(self.done), self.h)
        except Exception:  # a function of the user's, whose failure the caller tells
            return self.y.copy()
        return shown if status == OK else self.y.copy()

    def time(self, k: Any) -> Any:
        """Time of the grid state after ``k`` steps."""
        return self.t0 + k * self.h

    def advance(self, n: int, every: int, record: _Record | None, look: Callable[[], None]) -> None:
        """Take ``n`` steps in slices; states after a multiple of ``every`` steps go to ``record``.

        Raises
        ------
        StepFailed, UserFunctionError
            A step failed; the state is the one before it.
        Ended
            An event that ends the run.
        """
        last = self.done + n
        while self.done < last:
            whole = self.whole_steps()
            if whole == 0:
                self.cut_step(every, record)
                look()
                continue
            count = min(self.slice, last - self.done, whole)
            kept, before = self.y.copy(), self.done
            made = (before + count) // every - before // every if record else 0
            rows, iterations = np.empty((made, kept.size)), np.zeros(made, dtype=np.int64)
            begun = time.perf_counter()
            status, problem = OK, None
            try:
                status = self.bench.march(
                    before, count, every if record else last + 1, self.t0, self.h, rows, iterations
                )
            except Exception as caught:
                problem = caught
            except KeyboardInterrupt:  # a second Ctrl-C: the slice is lost
                self.y[:] = kept
                raise
            elapsed = time.perf_counter() - begun
            self.seconds += elapsed
            self.done += int(self.report[STEPS_DONE])
            if record:
                usable = self.done // every - before // every
                numbers = every * np.arange(before // every + 1, before // every + 1 + usable)
                record.add(self.time(numbers), rows[:usable], iterations[:usable])
            if status == CROSSED:
                self.met(record)
            elif status != OK or problem is not None:
                after = self.y.copy()
                self._back(before, kept)
                raise self.failure(status, self.done, self.y, self.time(self.done), self.h, after, problem)
            elif self.near(self.now):
                self.arrive(self.state(), record)
            look()
            self.adjust(elapsed)

    def near(self, t: float) -> bool:
        """Whether the next break counts as being at time t."""
        if not self.breaks:
            return False
        return bool(abs(t - self.breaks[0]) <= 4.0 * EPSILON * max(abs(self.t0), abs(t), abs(self.h)))

    def whole_steps(self) -> int:
        """How many steps can be taken before the next break lies within one."""
        if not self.breaks:
            return LARGEST_ROWS
        along = (self.breaks[0] - self.t0) / self.h
        k = round(along)
        return max(0, int(k if self.near(self.time(k)) else floor(along)) - self.done)

    def pass_break(self, t: float, y: Any) -> Any:
        """Set the switches for what follows the next break, which is at time t or counts as there; fire; the state."""
        at = self.breaks.pop(0)
        self.system.settle(self.bench.parameters, at, self.direction)
        after = y.copy()
        fired = fire(self.system, at, after, self.direction)
        if fired:
            self.watching.close(t, y)
            self.watching.found += fired
            self.watching.restart(t, after)
        return after

    def arrive(self, y: Any, record: _Record | None) -> None:
        """Go on from a state of the system at the present time, past the breaks there; it also belongs into its row."""
        while self.near(self.now):
            y = self.pass_break(self.now, y)
        self.y[:] = y
        if record:
            record.replace(self.now, y)
        self.prepare()

    def cut_step(self, every: int, record: _Record | None) -> None:
        """Take the next step in pieces."""
        y, _ = self.through(self.now, self.state(), self.time(self.done + 1))
        self.done += 1
        if record and self.done % every == 0:
            record.add(self.now, y, int(self.report[ROW_ITERATIONS]))
            self.report[ROW_ITERATIONS] = 0.0
        self.arrive(y, record)

    def met(self, record: _Record | None) -> None:
        """Tell the events in the step just taken; where one of them cuts it, take it again in pieces."""
        after, own, before = self.state(), self.y.copy(), self.report.copy()
        self.done -= 1
        self.y[:] = self.bench.before[: own.size]
        y, cut = self.through(self.now, self.state(), self.time(self.done + 1), after)
        self.done += 1
        self.y[:] = own
        self.report[[ROW_ITERATIONS, TOTAL_ITERATIONS]] = before[[ROW_ITERATIONS, TOTAL_ITERATIONS]]
        if cut or self.near(self.now):
            self.arrive(y, record)

    def through(self, t: float, y: Any, goal: float, after: Any = None) -> tuple[Any, bool]:
        """State at ``goal``, within the next step or at its end, and whether something has cut the way there."""
        cut = False
        while True:
            middle = bool(self.breaks) and (goal - self.breaks[0]) * self.direction > 0.0 and not self.near(goal)
            target = self.breaks[0] if middle else goal
            if after is None:
                after = self.part(t, y, target)
            if self.watching:
                crossing = self.watching.passed(t, y, target, after, self.part)
                if crossing is not None:
                    (t, y), after, cut = crossing, None, True
                    continue
            if not middle:
                return after, cut
            t, y, after, cut = target, self.pass_break(target, after), None, True

    def part(self, t: float, y: Any, goal: float) -> Any:
        """State of the system at ``goal``, by one step of the method from the state y at time t."""
        h = goal - t
        y = y.copy()
        if h == 0.0:
            return y
        begun = y.copy()
        status, problem = OK, None
        try:
            status = self.bench.prepare(t, h, y)
            if status == OK:
                status = self.bench.march(0, 1, 2, t, h, y=y)
            if status == OK:
                status, y = self.bench.present(goal, h, y)
        except Exception as caught:
            problem = caught
        if status != OK or problem is not None:
            raise self.failure(status, self.done, begun, t, h, y, problem)
        return y

    def close(self) -> None:
        """The run has come to its end."""
        self.watching.close(self.now, self.state())

    def adjust(self, elapsed: float) -> None:
        """Make the next slice last about SLICE_SECONDS."""
        if elapsed < SLICE_SECONDS / 2:
            self.slice *= 16 if elapsed < SLICE_SECONDS / 32 else 2
        elif elapsed > 2 * SLICE_SECONDS:
            self.slice = max(1, self.slice // 2)

    def _back(self, before: int, kept: Any) -> None:
        """Find the last good state of a failed slice: take its good steps again."""
        report = self.report.copy()
        self.y[:] = kept
        try:
            self.bench.march(before, self.done - before, self.done + 1, self.t0, self.h)
        except Exception:  # a function of the user that does something else the second time
            self.y[:] = kept
            self.done = before
        self.report[:] = report

    def aside(self, t: float) -> Any:
        """State at time ``t`` within the next step, reached by a step of its own from the present grid state."""
        before, kept, breaks = self.report.copy(), self.watching.kept(), list(self.breaks)
        try:
            y, _ = self.through(self.time(self.done), self.state(), t)
            if self.breaks and self.breaks[0] == t:
                y = self.pass_break(t, y)
        finally:
            self.watching.put_back(kept)
            self.breaks = breaks
        most = int(self.report[ROW_ITERATIONS])
        self.report[[ROW_ITERATIONS, TOTAL_ITERATIONS]] = before[[ROW_ITERATIONS, TOTAL_ITERATIONS]]
        return y, most

    def failure(
        self,
        status: int,
        step: int,
        y: Any,
        t: float,
        h: float,
        after: Any = None,
        problem: Exception | None = None,
    ) -> PolhodeError:
        """The error for a step that returned ``status`` or raised ``problem``.

        ``y`` is the state before it, ``after`` (else the run's own) what it left behind.
        """
        where: dict[str, Any] = {"step": step, "time": t}
        iterations, residual = int(self.report[ITERATIONS]), float(self.report[RESIDUAL])
        told = self._user_failure(problem, y, h, where)
        if told is not None:
            return told
        place = f"in step {step} (t = {t:.9g})"
        label = self.chosen.label
        if status == NOT_CONVERGED:
            return ConvergenceError(
                f"{label!r} did not converge {place}: {iterations} iterations, last relative correction "
                f"{residual:.1e}; {self.advice(h)}",
                residual=residual, iterations=iterations, **where,
            )  # fmt: skip
        if status == SINGULAR:
            edge = float(self.report[ERROR])
            return ConvergenceError(
                f"the Cayley factor I - A of {label!r} becomes singular {place} at a step of {edge:.4g}, where "
                f"I - (h/2)^2 M^-1 dF/dq has the reciprocal condition number {residual:.1e}; a step of {edge / 2:.3g} "
                "is safe there",
                residual=residual, iterations=iterations, **where,
            )  # fmt: skip
        if status == TOO_LARGE:
            return self._too_large(place, h, (y, self.y if after is None else after), where)
        return NotFinite(
            f"the state or a load is infinite or not a number {place}; {self._singular(y, t)}check the loads and "
            f"initial values, or {self.advice(h)}", **where,
        )  # fmt: skip

    def _singular(self, y: Any, t: float) -> str:
        """What to say of a state at which the numbers of a method are singular, followed by a semicolon."""
        own = self.bench.prepared.coordinates
        if own is None or not own.rates:
            return ""
        values = y[BODY * self.system.N :].reshape(1, self.system.N, own.size)
        if own.name == "rotation_vector" and not values.any(axis=2).all():
            return "the rotation vector is zero, where the printed rates divide by zero: take form='regularised', or "
        note = singular_note(own.name, values, own.attributes.get("sequence"), np.array([t]), rates=True)
        return note and f"{note}; a method without '_direct' passes such points; "

    def _too_large(self, place: str, h: float, states: Sequence[Any], where: dict[str, Any]) -> StepTooLarge:
        speeds = [sqrt(drive.squared_speed(self.system.N, y, self.bench.bodies)) for y in states]
        fastest = max(filter(isfinite, speeds), default=0.0)
        largest = self.chosen.method.range / fastest if fastest > 0.0 else inf
        if self.bench.prepared.largest is not None:
            largest = min(largest, self._largest_of_flow(states))
        angle = f"by {fastest * abs(h):.3g} rad"
        if not largest < abs(h):  # it was a stage inside the step that turned too far
            largest, angle = abs(h) / 2, "too far in one of its stages"
        digits = 10.0 ** (floor(log10(largest)) - 2)
        largest = float(f"{floor(largest / digits) * digits:.3g}")  # rounded down, so that what is printed is safe
        anyway = " (guard=False takes it anyway)" if self.guard else ""
        return StepTooLarge(
            f"a step of {abs(h):g} turns the body {angle} {place}, more than {self.chosen.label!r} can represent; "
            f"the largest safe step there is about {largest:g}{anyway}",
            largest_step=largest, **where,
        )  # fmt: skip

    def _largest_of_flow(self, states: Sequence[Any]) -> float:
        """Largest step in which the method's own guard lets every body turn, from either state."""
        found = [inf]
        for y in states:
            for i, moments in enumerate(self.system.moments):
                m = y[BODY * i + ANGULAR : BODY * (i + 1)]
                if np.isfinite(m).all() and np.isfinite(moments).all():
                    found.append(self.bench.prepared.largest(m, 1.0 / moments))  # type: ignore[misc]
        return min(found)

    def _user_failure(
        self, problem: Exception | None, y: Any, h: float, where: dict[str, Any]
    ) -> UserFunctionError | None:
        """The failure of a user's function, with the user's traceback: the step is taken again with plain Python.

        None when no function of the user's failed.
        """
        bridge = None if isinstance(problem, UserFunctionError) else self.system.bridged_loads()
        if bridge is not None:
            try:
                self.bench.march(0, 1, 2, where["time"], h, y=y.copy(), loads=bridge)
            except Exception as again:
                problem = again
        if problem is None:
            return None
        place = f"in step {where['step']}"
        if isinstance(problem, UserFunctionError):
            error = UserFunctionError(f"{problem} {place}", **where)
            error.__cause__ = problem.__cause__
        else:
            error = UserFunctionError(f"a load raised {type(problem).__name__}: {problem} {place}", **where)
            error.__cause__ = problem
        return error


class _AdaptiveRun(_Run):
    """A run whose steps are chosen by their estimated error; all they depend on is in the course of the bench."""

    adaptive = True

    @property
    def final(self) -> float:
        return float(self.recipe["t_end"])

    def set_out(self) -> None:
        recipe = self.recipe
        self.total, self.end = None, recipe["t_end"]
        self.h = copysign(1.0, self.end - self.t0)
        self.bench.adapt(self.t0, recipe["rtol"], recipe["atol"], self.h * (recipe["first_step"] or 0.0))

    @property
    def now(self) -> float:
        return float(self.bench.course[TIME])

    @property
    def share(self) -> float:
        return (self.now - self.t0) / (self.end - self.t0) if self.end != self.t0 else 1.0

    @property
    def last(self) -> float:
        return float(self.bench.course[TAKEN])

    @property
    def pace(self) -> dict[str, Any]:
        course = self.bench.course
        told = {"rtol": self.recipe["rtol"], "atol": self.recipe["atol"], "steps": self.done}
        told |= {"steps_accepted": self.done, "steps_rejected": int(course[REJECTED])}
        if self.done:
            told |= {"step_smallest": float(course[SMALLEST]), "step_largest": float(course[LARGEST])}
        return told

    def number(self, t: float) -> int:
        return -1

    def advice(self, h: float) -> str:
        return f"loosen rtol: steps down to {abs(h):.2g} were tried"

    def state(self) -> Any:
        return self.y.copy()

    def carry_out(self, record: _Record, every: int, samples: Any, look: Callable[[], None]) -> None:
        bench, course, most = self.bench, self.bench.course, self.recipe["max_steps"]
        span = abs(self.end - self.t0)
        longest = self.recipe["max_step"] or (span / 10.0 if bench.prepared.controller == "ode45" else inf)
        shortest = SHORTEST * span
        wanted = np.empty(0)
        edge: tuple[float, int, float] | None = None  # where a step is to end, an event being there: time, number, side
        if samples is None:
            record.add(self.t0, self.start, 0)
        else:  # times may be past the end by round-off
            every, wanted = 0, np.clip(samples, min(self.t0, self.end), max(self.t0, self.end))
        while True:
            tried = int(course[ACCEPTED] + course[REJECTED])
            count = min(self.slice, most - tried)
            times, sizes, rows, iterations = record.room(count // every + 1 if every else 0)
            kept, before = self.y.copy(), course.copy()
            target = edge[0] if edge else self.breaks[0] if self.breaks else self.end
            begun = time.perf_counter()
            status, problem = OK, None
            try:
                status = bench.march_adaptive(
                    count, every, target, wanted, times, sizes, rows, iterations, longest=longest, shortest=shortest
                )
            except Exception as caught:
                problem = caught
            except KeyboardInterrupt:  # a second Ctrl-C: the slice is lost
                self.y[:], course[:] = kept, before
                raise
            elapsed = time.perf_counter() - begun
            self.seconds += elapsed
            self.done = int(course[ACCEPTED])
            record.count += int(course[ROWS])
            if status in (CROSSED, CUT):
                edge = self.met_in_step(status, edge)
            elif status != OK or problem is not None:
                h = self.report[NEXT_TIME] - self.now
                if not h * self.h > 0.0:  # it was not in a step but in the choice of the first one
                    h = 1e-3 * (self.end - self.t0)
                raise self.failure(status, self.done, self.y, self.now, h, self.y.copy(), problem)
            if self.now == target and status in (OK, CROSSED):
                self.land(edge, record)
                edge = None
            look()
            if self.now == self.end:
                return
            if course[ACCEPTED] + course[REJECTED] >= most:
                raise StepFailed(
                    f"{most} steps were tried and the run is only at t = {self.now:g} of {self.end:g}; raise "
                    "max_steps, or loosen rtol", step=self.done, time=self.now,
                )  # fmt: skip
            self.adjust(elapsed)

    def met_in_step(self, status: int, edge: tuple[float, int, float] | None) -> tuple[float, int, float] | None:
        """Tell the events of the step just taken, or find where the step just refused is to be cut."""
        watching, course = self.watching, self.bench.course
        if status == CROSSED:
            begun = float(course[BEGUN])
            watching.passed(begun, self.bench.kept.copy(), self.now, self.y.copy(), self.part)
            return edge
        a, b = self.now, float(self.report[NEXT_TIME])
        ya, values = self.y.copy(), watching.values.copy()
        yb = self.part(a, ya, b)
        edges = [
            (watching.locate(k, a, ya, b, yb, values[k], self.part)[0], k, copysign(1.0, values[k]))
            for k in watching.changed(values) if k < watching.cuts
        ]  # fmt: skip
        t, k, side = min(edges, key=lambda place: place[0] * self.direction)
        if t == a:
            watching.cross(k, side)
            return edge
        if edge is not None:  # this one comes before it
            watching.sides[edge[1]] = -edge[2]
        watching.sides[k] = MUTED
        return t, k, side

    def land(self, edge: tuple[float, int, float] | None, record: _Record) -> None:
        """The state is at an edge, at a break or at the end."""
        if edge is not None:
            self.watching.cross(edge[1], edge[2])
        while self.breaks and self.breaks[0] == self.now:
            self.y[:] = self.pass_break(self.now, self.y)
            record.replace(self.now, self.y)
        self.bench.forget()

    def failure(
        self,
        status: int,
        step: int,
        y: Any,
        t: float,
        h: float,
        after: Any = None,
        problem: Exception | None = None,
    ) -> PolhodeError:
        if status != TOO_SMALL or problem is not None:
            return super().failure(status, step, y, t, h, after, problem)
        return StepTooSmall(
            f"rtol = {self.recipe['rtol']:g} asks for steps below {abs(h):.2g} in step {step} (t = {t:.9g}), which "
            "time cannot resolve; loosen rtol, or look for a load that jumps or grows without bound there",
            step=step, time=t,
        )  # fmt: skip


def integrate(
    system: System,
    method: str | None = None,
    *,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    t_end: float | None = None,
    steps: int | None = None,
    t0: float = 0.0,
    first_step: float | None = None,
    max_step: float | None = None,
    max_steps: int = MOST_STEPS,
    every: int = 1,
    t_eval: Any = None,
    attitude: Any = None,
    angular_velocity: Any = None,
    angular_momentum: Any = None,
    position: Any = None,
    velocity: Any = None,
    momentum: Any = None,
    coordinates: Any = None,
    events: Any = (),
    since: float | None = None,
    clock: Any = None,
    compensated: bool = False,
    carries: Any = None,
    guard: bool = True,
    units: str = "consistent",
    epoch: Any = None,
    progress: Callable[[Progress], None] | None = None,
    **options: str,
) -> xr.Dataset:
    """Integrate a system, with steps of one size or with steps chosen by a tolerance, and record the trajectory.

    Parameters
    ----------
    system : System
        From ``polhode.free_body``, ``polhode.heavy_top`` and so on.
    method : str, optional
        Such as ``"trapm"`` or ``"mkrk:gauss4:cayley"``; without one, what the measured tables recommend for the
        system (the attribute ``method`` of the result says which); with ``rtol`` it is ``"mkrk:dp8"``.
    step : float
        Step size, positive; every consistent unit of time. Of a method with a clock (``"reversible:v2"``) that of the
        first step; the others follow the motion, and the last one ends at ``t_end`` exactly, whatever that is.
    rtol : float
        In the place of ``step``: steps are chosen so that the estimated error of each is at most this, of attitudes in
        rad, of angular velocities and the motion through space relative to their size. Errors of steps add up: expect a
        multiple of it at the end. Methods with an embedded tableau estimate their error (``"mkrk:dp5"``).
    atol : float, optional
        Absolute part of the tolerance of angular velocities, positions and velocities, in their units; it counts where
        they are near zero. By default ``1e-3 * rtol``. The tolerance of a number x is ``atol + rtol |x|``.
    t_end, steps : float, int
        End time, a whole number of steps from ``t0`` (before ``t0``: the run goes backwards), or the number of steps.
        With ``rtol`` any end time; the last step ends there exactly.
    t0 : float
        Start time.
    first_step, max_step : float, optional
        With ``rtol``: the first step to try, else chosen from the loads; the largest step allowed.
    max_steps : int
        With ``rtol``: most steps to try.
    every : int
        Record every this many steps; the start and the end are always recorded.
    t_eval : array_like, optional
        Record at exactly these times instead, in the order of the run. Times off the grid are reached by a side step
        from the last grid state, with ``rtol`` by the dense output of the method: so the step sequence is that of a run
        without them.
    attitude : array_like (4,)
        Unit quaternion (w, x, y, z), body to space. Identity by default.
    angular_velocity, angular_momentum : array_like (3,)
        In the body frame, one of them. Zero by default.
    position, velocity, momentum : array_like (3,)
        In the space frame. Zero by default.
    coordinates : array_like (3,)
        Of a method that keeps attitudes as numbers of its own (rotation vector, Euler angles of its sequence): these,
        in the place of ``attitude``, also where they are longer than principal ones.
    events : sequence
        What to look for, from ``polhode.events`` or words such as ``"periapsis"``; found to round-off, listed in the
        variables ``event_time``, ``event_kind`` and so on. Events that are ``terminal`` end the run.
    since : float, optional
        Of a run that is the rest of another: where that began, from ``t0`` on which it goes. What is switched or fired
        between the two times is past, and so is an impulse at ``t0``.
    clock : array_like (4,), optional
        Of a method with a clock, to go on with the steps of another run: the last row of its variable ``clock``.
    compensated : bool
        Carry what rounding leaves out of positions, momenta and work into their next sums: for runs of very many steps,
        and for small forces on ``/kepler`` methods. The Dataset then has ``position_carry`` and ``momentum_carry``.
    carries : array_like (6,)
        With ``compensated``, of a run that goes on from another: ``position_carry`` and ``momentum_carry`` of that one.
        Zero by default.
    guard : bool
        Refuse steps that turn a body further than the method can represent.
    units : {"consistent", "SI"}
        How the variables are labelled; no number changes. Quantities of astropy among the arguments (times, positions,
        velocities, momenta) are turned into SI, and the run is labelled SI: then plain numbers must be in it too.
    epoch : str, datetime or astropy Time, optional
        Which instant time 0 is, such as ``"2030-01-01T00:00:00 TDB"``, UTC unless it says so: recorded for exports,
        while no load reads it.
    progress : function, optional
        Called with a ``Progress`` a few times a second.
    **options : str
        Options of the method by name, such as ``tableau="gauss4"``.

    Returns
    -------
    xarray.Dataset
        See ``polhode.trajectory.schema``.

    Raises
    ------
    InvalidInput
        An argument is wrong; the sentence names it.
    ConvergenceError, StepTooLarge, NotFinite, StepTooSmall
        A step failed, with ``rtol`` at every size tried; ``.trajectory`` holds the run so far and the state before it.
    UserFunctionError
        A function of the user failed; ``__cause__`` is its own exception, ``.trajectory`` the run so far.
    Interrupted
        Ctrl-C; ``.trajectory`` holds the run so far and the state where it stopped.
    """
    if not isinstance(system, System):
        raise InvalidInput(f"the first argument must be a system such as polhode.free_body(...), not {system!r}")
    bare = [step, t_end, t0, first_step, max_step, t_eval, angular_velocity, angular_momentum, position, velocity]
    if any(map(is_quantity, [*bare, momentum])):
        step, t_end, t0, first_step, max_step, t_eval = (
            in_si(value, "s", name)
            for name, value in (("step", step), ("t_end", t_end), ("t0", t0), ("first_step", first_step),
                                ("max_step", max_step), ("t_eval", t_eval))
        )  # fmt: skip
        position, velocity = in_si(position, "m", "position"), in_si(velocity, "m / s", "velocity")
        momentum = in_si(momentum, "kg m / s", "momentum")
        angular_velocity = in_si(angular_velocity, "rad / s", "angular_velocity")
        angular_momentum = in_si(angular_momentum, "kg m2 / s", "angular_momentum")
        units = "SI"
    usual = system.recommended if rtol is None else ADAPTIVE
    chosen = replace(find_method(usual if method is None else method, **options), compensated=bool(compensated))
    own = chosen.method.tolerances
    if own is not None and step is None:
        rtol, atol = own[0] if rtol is None else rtol, own[1] if atol is None else atol
    if (step is None) == (rtol is None):
        raise InvalidInput("give either step, the size of all steps, or rtol, the tolerance by which they are chosen")
    if rtol is None:
        for name, value in (("atol", atol), ("first_step", first_step), ("max_step", max_step)):
            if value is not None:
                raise InvalidInput(f"{name} is given without rtol, to which it belongs; leave it out")
        if chosen.prepare().clock:
            pace = clocked_span(step, t_end, steps, t0)
            h, n, start = whole(pace)
        else:
            h, n, start = span(step, t_end, steps, t0)
            pace = {"step": abs(h), "steps": n, "backwards": h < 0, "t0": start}
    else:
        check_estimate(chosen)
        pace = tolerances(rtol, atol, t_end, steps, t0, first_step, max_step, max_steps)
        h, n, start = whole(pace)
    first = start if since is None else _number(since, "since")
    end = pace.get("t_end", start + n * h)
    check_span(system, first, inf if end is None else end)
    wanted = events_of(events, system)
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise InvalidInput(f"every is {every!r}; it must be a whole number, 1 or more")
    if units not in UNITS:
        raise unknown_name("units", units, UNITS)
    samples = None if t_eval is None else sample_times(t_eval, every, start, h, n)
    turning, moving = (attitude, angular_velocity, angular_momentum), (position, velocity, momentum)
    y = _start(system, chosen, coordinates, carries, clock, *turning, *moving)
    if clock is not None:
        y[-CLOCK_NUMBERS] = start
    recipe = {
        "system": {"name": system.name, "arguments": dict(system.arguments)},
        "method": chosen.label,
        **pace,
        "every": int(every),
        "t_eval": None if samples is None else samples.tolist(),
        "guard": bool(guard),
        "units": units,
        "state": y.tolist(),
    }
    if chosen.compensated:
        recipe["compensated"] = True
    if wanted:
        recipe["events"] = [dict(event.arguments) for event in wanted]
    if first != start:
        recipe["since"] = first
    if epoch is not None:
        recipe["epoch"] = str(epoch_of(epoch))
    return _carry_out(system, chosen, recipe, progress, wanted)


def whole(pace: Mapping[str, Any]) -> tuple[float, int, float]:
    """The span of a run with chosen steps as one step: signed size, number, start; no step where it is empty."""
    length = (inf if pace["t_end"] is None else pace["t_end"]) - pace["t0"]  # counted steps of a clock end somewhere
    return (length, 1, pace["t0"]) if length else (1.0, 0, pace["t0"])


def sample_times(t_eval: Any, every: int, start: float, h: float, n: int) -> Any:
    if not isfinite(h):
        raise InvalidInput("with t_eval give t_end: when a number of steps with a clock of their own ends is not known")
    if every != 1:
        raise InvalidInput("every and t_eval are both given; t_eval alone says what is recorded")
    try:
        times = np.atleast_1d(np.array(t_eval, dtype=float))
    except (TypeError, ValueError):
        raise InvalidInput(f"t_eval must be a sequence of times, not {t_eval!r}") from None
    if times.ndim != 1 or not times.size or not np.isfinite(times).all():
        raise InvalidInput("t_eval must be a flat sequence of at least one finite time")
    along = (times - start) / h
    if (np.diff(along) < 0).any():
        raise InvalidInput("t_eval must be in the order of the run: times must not go back")
    if along[0] < 0 or along[-1] > n * (1 + 1e-12):
        raise InvalidInput(f"t_eval must lie between t0 = {start:g} and the end of the run, {start + n * h:g}")
    return times


class _Watch:
    """Turns Ctrl-C into a flag that is looked at between slices, where the main thread runs us.

    A second one breaks off the slice, but not what is left to do when the run is over.
    """

    def __enter__(self) -> _Watch:
        self.flag = self.over = False
        self.previous = None
        if threading.current_thread() is threading.main_thread():
            self.previous = signal.signal(signal.SIGINT, self._raise_flag)
        return self

    def _raise_flag(self, *_: Any) -> None:
        if self.flag and not self.over and callable(self.previous):
            self.previous(signal.SIGINT, None)
        self.flag = True

    def __exit__(self, *_: Any) -> None:
        if self.previous is not None:
            signal.signal(signal.SIGINT, self.previous)


def _carry_out(
    system: System,
    chosen: Chosen,
    recipe: Mapping[str, Any],
    progress: Callable[[Progress], None] | None,
    events: Sequence[Event],
) -> xr.Dataset:
    """Run a recipe; raises what went wrong with the trajectory so far on it."""
    every = recipe["every"]
    samples = None if recipe["t_eval"] is None else np.array(recipe["t_eval"])
    total = recipe.get("steps")
    rows = FIRST_ROWS if total is None else total // every
    record = _Record((rows if samples is None else len(samples)) + 2, len(recipe["state"]))
    tell = progress or (lambda state: None)
    tell(Progress(0, total, 0.0, "compiling"))
    run = _kind_of_run(chosen, recipe)(system, chosen, recipe, events)
    potential = system.compiled_potential(run.t0, run.start)
    error: PolhodeError | None = None
    stopped = ""
    with _Watch() as watch:
        tell(Progress(0, total, 0.0, "running"))
        told = time.perf_counter()

        def look() -> None:
            nonlocal told
            now = time.perf_counter()
            if run.share >= 1.0 or now - told >= SLICE_SECONDS / 2:
                told = now
                tell(Progress(run.done, total, run.seconds, "running", run.share))
            if watch.flag:
                raise KeyboardInterrupt

        try:
            run.carry_out(record, every, samples, look)
            run.close()
        except Ended as ended:
            run.ended = ended.event
            record.cut(run.ended.time, run.direction)
            if not record.count or record.times[record.count - 1] != run.ended.time:
                most, size = int(run.report[ROW_ITERATIONS]), run.last
                record.room(1)
                record.add(run.ended.time, run.ended.state, most, size)
            stopped = str(ended)
            tell(Progress(run.done, total, run.seconds, "running", 1.0))
        except (StepFailed, UserFunctionError) as failed:
            error = failed
        except KeyboardInterrupt:
            of = "" if total is None else f" of {total}"
            error = Interrupted(f"interrupted after {run.done}{of} steps (t = {run.now:g})")
        watch.over = True
        if not stopped and (samples is None or error is not None):
            t = run.now
            if not record.count or (t - record.times[record.count - 1]) * run.h > 0.0:
                record.add(t, run.state(), int(run.report[ROW_ITERATIONS]), run.last)
        return _finish(run, recipe, potential, record, error, stopped)


def _order(system: System, chosen: Chosen) -> dict[str, Any]:
    """The order of a method on a system, and what is to be said of it."""
    p = chosen.promises
    if not isfinite(p.order):
        return {"order": "exact"}
    if p.order_velocity == p.order or not (system.velocity_dependent or any(own.by_velocity for own in system.own)):
        return {"order": p.order}
    kept = f"{p.kept_by} keeps {p.order}" if p.kept_by else f"without such loads it is {p.order}"
    lower = f"order {p.order_velocity}"
    if system.velocity_dependent:
        return {"order": p.order_velocity, "order_note": f"{lower} with velocity-dependent loads; {kept}"}
    return {"order": p.order, "order_note": f"{lower} of the work, {p.order} of the motion; {kept}"}


def _kind_of_run(chosen: Chosen, recipe: Mapping[str, Any]) -> type[_Run]:
    if chosen.prepare().clock:
        from polhode.runs.clocked import ClockedRun

        return ClockedRun
    return _Run if "step" in recipe else _AdaptiveRun


def _finish(
    run: _Run, recipe: Mapping[str, Any], potential: Any, record: _Record, error: PolhodeError | None, stopped: str
) -> xr.Dataset:
    rows = (record.times, record.states, record.iterations, record.sizes)
    times, states, iterations, sizes = (a[: record.count] for a in rows)
    energies = None
    if potential is not None:
        energies, problem = _potential_energies(run, potential, times, states)
        if len(energies) < len(times):
            # A run that had failed before tells of that.
            error = error or problem
            times, states, iterations, sizes = (a[: len(energies)] for a in (times, states, iterations, sizes))
    pace = run.pace
    named = next(iter(pace))
    attributes = {
        "title": f"{run.system.name}, {run.chosen.label}, {named} {pace[named]:g}",
        "system": run.system.name,
        "method": run.chosen.label,
        "method_description": run.chosen.method.description,
        **_order(run.system, run.chosen),
        "citation": run.chosen.method.cite,
        **pace,
        "load_evaluations": run.bench.evaluations,
        **({"load_evaluations_by_velocity": run.bench.repeated} if run.bench.repeated else {}),
        **({"sums": "compensated"} if run.chosen.compensated else {}),
        "conserves": ", ".join(run.system.conserves),
        "conventions": CONVENTIONS,
        "units": recipe["units"],
        "polhode_version": release(),
        "run": json.dumps(recipe),
    }
    if "epoch" in recipe:
        attributes["epoch"] = recipe["epoch"]
    if error is not None:
        attributes["incomplete"] = str(error)
    if stopped:
        attributes["stopped"] = stopped
    chart = run.bench.prepared.coordinates
    carries = run.bench.prepared.carries
    ds = dataset(run.system, times, states, iterations, energies, attributes, recipe["units"], chart, carries)
    if run.adaptive or run.clocked:
        ds["step"] = ("time", sizes.copy(), {"long_name": MEANING["step"], "units": UNITS[recipe["units"]]["step"]})
    if recipe.get("events") or run.system.impulses or run.system.watches:
        slack = 4.0 * EPSILON * max(abs(run.t0), abs(run.now), run.last)
        found = [e for e in run.watching.found if stopped or (e.time - run.now) * run.direction <= slack]
        ds = with_events(ds, run.system, rows_of(found, BODY * run.system.N), recipe["units"])
    if run.clocked:
        words = {"long_name": MEANING["clock"], "units": UNITS[recipe["units"]]["clock"]}
        ds["clock"] = (("time", "clock_number"), states[:, -CLOCK_NUMBERS:].copy(), words)
    ds.encoding["seconds"] = run.seconds
    if error is not None:
        error.trajectory = ds
        raise error
    return ds


def _potential_energies(
    run: _Run, potential: Any, times: Any, states: Any
) -> tuple[Any, UserFunctionError | NotFinite | None]:
    """Potential energy of the rows, up to the first where it fails, and that failure."""
    system = run.system
    energies = np.full(len(times), np.nan)
    problem: Exception | None = None
    try:
        drive.energy_loop()(times, states, run.bench.bodies, system.parameters, potential, energies)
    except Exception as caught:
        problem = caught
    failed = np.flatnonzero(~np.isfinite(energies))
    if not failed.size:
        return energies, None
    k = int(failed[0])
    t = float(times[k])
    where: dict[str, Any] = {"step": run.number(t), "time": t}
    bridge = system.bridged_potential()
    if bridge is not None and not isinstance(problem, UserFunctionError):
        try:
            drive.energy_loop()(
                times[k : k + 1], states[k : k + 1], run.bench.bodies, system.parameters, bridge, energies[k : k + 1]
            )
        except Exception as again:
            problem = again
    if problem is None:
        return energies[:k], NotFinite(f"the potential energy is not finite at t = {t:.9g}", **where)
    error = UserFunctionError(str(problem), **where)
    error.__cause__ = problem.__cause__ or problem
    return energies[:k], error


def rerun(
    ds: xr.Dataset, *, progress: Callable[[Progress], None] | None = None, **functions: Callable[..., Any]
) -> xr.Dataset:
    """Run again what a Dataset records; the numbers are the same, bit for bit, on the same machine and version.

    Parameters
    ----------
    ds : xarray.Dataset
        From ``integrate`` or read from disk.
    progress : function, optional
        As for ``integrate``.
    **functions : function
        The user's functions by keyword (``torque=f``): a Dataset keeps their source for reading and never runs it.

    Raises
    ------
    InvalidInput
        No recipe in the Dataset, or a function missing or not wanted.
    """
    if "run" not in ds.attrs:
        raise InvalidInput("this Dataset records no run: it has no attribute 'run'")
    recipe = json.loads(ds.attrs["run"])
    events, rest = [], dict(functions)
    for given in recipe.get("events", ()):
        if given["kind"] == "user":
            name = given["name"]
            if name not in functions:
                raise InvalidInput(f"this run used a function for the event {name!r}; hand it in again: "
                                   f"rerun(ds, {name}={given['function']['function']})")  # fmt: skip
            rest.pop(name, None)
            given = given | {"function": functions[name]}
        events.append(event_of(given))
    system = rebuild(recipe["system"], rest)
    chosen = replace(find_method(recipe["method"]), compensated=recipe.get("compensated", False))
    return _carry_out(system, chosen, recipe, progress, events)


def rebuild(recipe: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> System:
    """The system of a recipe, with the user's functions handed in again."""
    if recipe["name"] not in SYSTEMS:
        raise InvalidInput(f"no function of polhode builds the system {recipe['name']!r}; use integrate instead")
    arguments = dict(recipe["arguments"])
    wanted = {key for key, value in arguments.items() if isinstance(value, dict) and "sha256" in value}
    for key in sorted(wanted - set(functions)):
        name = arguments[key]["function"]
        raise InvalidInput(f"this run used a function for {key!r}, {name!r}; hand it in again: rerun(ds, {key}={name})")
    for key in sorted(set(functions) - wanted):
        raise unknown_name("function of this run", key, wanted or ["(none)"])
    return SYSTEMS[recipe["name"]](**{**arguments, **functions})
