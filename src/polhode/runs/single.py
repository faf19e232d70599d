"""One run: a method over a system, recorded as a Dataset."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from math import floor, inf, isfinite, pi, sqrt
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra import rotation
from polhode.errors import (
    ConvergenceError,
    Interrupted,
    InvalidInput,
    NotFinite,
    PolhodeError,
    StepTooLarge,
    UserFunctionError,
    unknown_name,
)
from polhode.kernel import drive
from polhode.kernel.signatures import (
    ANGULAR,
    ATTITUDE,
    BODY,
    ITERATIONS,
    LOAD,
    MOMENTUM,
    NOT_CONVERGED,
    OK,
    POSITION,
    REPORT,
    RESIDUAL,
    STEPS_DONE,
    TOO_LARGE,
)
from polhode.methods import Chosen
from polhode.methods import method as find_method
from polhode.systems import SYSTEMS, System
from polhode.systems.record import vector
from polhode.trajectory import CONVENTIONS, UNITS, dataset

SLICE_SECONDS = 0.2
LARGEST_ROWS = 2**31


@dataclass(frozen=True)
class Progress:
    """Where a run is: handed to the ``progress`` function a few times a second."""

    done: int
    total: int
    seconds: float
    stage: str


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
        Wrong shapes, not finite, a zero quaternion, two values for one thing, or a value the system has no use for.
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
        body[i, ATTITUDE : ATTITUDE + 4] = rotation.multiply(q, frame)
        if angular_velocity is not None:
            omega = rotation.rotate_inverse(frame, _of_body(angular_velocity, "angular_velocity", i, N, 3))
            body[i, ANGULAR : ANGULAR + 3] = system.moments[i] * omega
        if angular_momentum is not None:
            m = rotation.rotate_inverse(frame, _of_body(angular_momentum, "angular_momentum", i, N, 3))
            body[i, ANGULAR : ANGULAR + 3] = m
        if position is not None:
            body[i, POSITION : POSITION + 3] = _of_body(position, "position", i, N, 3)
        if velocity is not None:
            body[i, MOMENTUM : MOMENTUM + 3] = system.mass[i] * _of_body(velocity, "velocity", i, N, 3)
        if momentum is not None:
            body[i, MOMENTUM : MOMENTUM + 3] = _of_body(momentum, "momentum", i, N, 3)
    return y


def _of_body(value: Any, name: str, i: int, N: int, length: int) -> Any:
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be {length} numbers, not {value!r}") from None
    if N > 1 and array.shape == (N, length):
        return vector(array[i], f"{name} of body {i}", length)
    return vector(array, name, length)


# ------------------------------------------------------------------ the run
class _Run:
    """The arrays of one run and the slices it takes."""

    def __init__(self, system: System, chosen: Chosen, y: Any, t0: float, h: float, guard: bool) -> None:
        self.system, self.chosen, self.t0, self.h = system, chosen, t0, h
        self.prepared = chosen.prepare()
        self.limit = chosen.method.range if guard else inf
        blocks = system.blocks
        self.blocks = blocks if blocks.size else np.zeros(0, dtype=np.int64)
        self.bodies = system.bodies
        self.y = y
        self.trial = y.copy()
        self.load = np.zeros(LOAD * system.N)
        self.work = np.zeros(max(1, self.prepared.work(system.N, blocks.size // 2)))
        self.report = np.zeros(REPORT)
        self.loads = system.compiled_loads(t0, y)
        self.loop = drive.loop_for(self.prepared.step)

    def march(self, first: int, n: int, every: int, rows: Any, iterations: Any, **other: Any) -> int:
        """Take steps; returns the status. ``other`` may replace the start time, step, state or loads."""
        y = other.get("y", self.y)
        return int(
            self.loop(
                first, n, every, other.get("t0", self.t0), other.get("h", self.h), self.limit, self.system.N, y,
                self.bodies, self.system.parameters, other.get("loads", self.loads), self.prepared.table,
                self.prepared.layout, self.blocks, self.trial, self.load, self.work, self.report, rows, iterations,
            )
        )  # fmt: skip

    def failure(self, status: int, step: int, y: Any, t: float, h: float) -> PolhodeError:
        """The error for a status; ``y`` is the state before the failing step."""
        where = f"in step {step} (t = {t:.9g})"
        label = self.chosen.label
        if status == NOT_CONVERGED:
            count, residual = int(self.report[ITERATIONS]), float(self.report[RESIDUAL])
            return ConvergenceError(
                f"{label!r} did not converge {where}: {count} iterations, last relative correction {residual:.1e}; "
                f"take a smaller step than {abs(h):g}",
                residual=residual, iterations=count, step=step, time=t,
            )  # fmt: skip
        if status == TOO_LARGE:
            speed = sqrt(drive.squared_speed(self.system.N, y, self.bodies))
            after = sqrt(drive.squared_speed(self.system.N, self.y, self.bodies))
            fastest = max(speed, after if isfinite(after) else 0.0)
            largest = min(abs(h) / 2, pi / fastest) if fastest * abs(h) <= pi else pi / fastest
            return StepTooLarge(
                f"a step of {abs(h):g} turns the body by {max(speed, fastest) * abs(h):.3g} rad {where}, more than "
                f"{label!r} can represent; the largest safe step there is about {largest:.3g} (guard=False takes it anyway)",
                largest_step=largest, step=step, time=t,
            )  # fmt: skip
        return NotFinite(
            f"the state or a load is infinite or not a number {where}; check the loads and initial values, or take a "
            f"smaller step than {abs(h):g}", step=step, time=t,
        )  # fmt: skip


def integrate(
    system: System,
    method: str | None = None,
    *,
    step: float,
    t_end: float | None = None,
    steps: int | None = None,
    t0: float = 0.0,
    every: int = 1,
    t_eval: Any = None,
    attitude: Any = None,
    angular_velocity: Any = None,
    angular_momentum: Any = None,
    position: Any = None,
    velocity: Any = None,
    momentum: Any = None,
    guard: bool = True,
    units: str = "consistent",
    progress: Callable[[Progress], None] | None = None,
    **options: str,
) -> xr.Dataset:
    """Integrate a system with a fixed step and record the trajectory.

    Parameters
    ----------
    system : System
        From ``polhode.free_body``, ``polhode.heavy_top`` and so on.
    method : str, optional
        Such as ``"trapm"`` or ``"mkrk:gauss4:cayley"``; without one, what the measured tables recommend for the
        system (the attribute ``method`` of the result says which).
    step : float
        Step size, positive; every consistent unit of time.
    t_end, steps : float, int
        End time, a whole number of steps from ``t0`` (before ``t0``: the run goes backwards), or the number of steps.
    t0 : float
        Start time.
    every : int
        Record every this many steps; the start and the end are always recorded.
    t_eval : array_like, optional
        Record at exactly these times instead, in the order of the run. Times off the grid are reached by a side step
        from the last grid state, so the step sequence is that of a run without them.
    attitude : array_like (4,)
        Unit quaternion (w, x, y, z), body to space. Identity by default.
    angular_velocity, angular_momentum : array_like (3,)
        In the body frame, one of them. Zero by default.
    position, velocity, momentum : array_like (3,)
        In the space frame. Zero by default.
    guard : bool
        Refuse steps that turn a body further than the method can represent.
    units : {"consistent", "SI"}
        How the variables are labelled; no number changes.
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
    ConvergenceError, StepTooLarge, NotFinite
        A step failed; ``.trajectory`` holds the run so far.
    UserFunctionError
        A function of the user failed; ``__cause__`` is its own exception, ``.trajectory`` the run so far.
    Interrupted
        Ctrl-C; ``.trajectory`` holds the run so far.
    """
    if not isinstance(system, System):
        raise InvalidInput(f"the first argument must be a system such as polhode.free_body(...), not {system!r}")
    chosen = find_method(system.recommended if method is None else method, **options)
    h, n, start = span(step, t_end, steps, t0)
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise InvalidInput(f"every is {every!r}; it must be a whole number, 1 or more")
    if units not in UNITS:
        raise unknown_name("units", units, UNITS)
    samples = None if t_eval is None else _samples(t_eval, every, start, h, n)
    y = start_state(system, attitude, angular_velocity, angular_momentum, position, velocity, momentum)
    tell = progress or (lambda state: None)
    tell(Progress(0, n, 0.0, "compiling"))
    run = _Run(system, chosen, y.copy(), start, h, guard)
    potential = system.compiled_potential(start, y)
    recipe = {
        "system": {"name": system.name, "arguments": dict(system.arguments)},
        "method": chosen.label,
        "step": abs(h),
        "steps": n,
        "backwards": h < 0,
        "t0": start,
        "every": int(every),
        "t_eval": None if samples is None else samples.tolist(),
        "guard": bool(guard),
        "units": units,
        "state": y.tolist(),
    }
    if samples is None:
        record, recorder = _grid(run, n, int(every), tell)
    else:
        record, recorder = _sampled(run, n, samples, tell)
    return _finish(run, recipe, potential, record, recorder, units)


def _samples(t_eval: Any, every: int, start: float, h: float, n: int) -> Any:
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


class _Record:
    """Rows recorded so far."""

    def __init__(self, rows: int, width: int) -> None:
        if rows * width > LARGEST_ROWS:
            raise InvalidInput(
                f"{rows} rows would need {rows * width * 8 / 1e9:.0f} GB of memory; record less with every="
            )
        self.times = np.empty(rows)
        self.states = np.empty((rows, width))
        self.iterations = np.zeros(rows, dtype=np.int64)
        self.count = 0

    def add(self, t: float, y: Any, iterations: int = 0) -> None:
        self.times[self.count], self.states[self.count], self.iterations[self.count] = t, y, iterations
        self.count += 1


@dataclass
class _Outcome:
    """How a run ended: None, or the error to raise, and what it cost."""

    error: PolhodeError | None = None
    cause: BaseException | None = None
    seconds: float = 0.0
    done: int = 0
    iterations: float = 0.0


class _Watch:
    """Turns Ctrl-C into a flag that is looked at between slices, where the main thread runs us."""

    def __enter__(self) -> _Watch:
        self.flag = False
        self.previous = None
        if threading.current_thread() is threading.main_thread():
            self.previous = signal.signal(signal.SIGINT, self._raise_flag)
        return self

    def _raise_flag(self, *_: Any) -> None:
        if self.flag and callable(self.previous):
            self.previous(signal.SIGINT, None)
        self.flag = True

    def __exit__(self, *_: Any) -> None:
        if self.previous is not None:
            signal.signal(signal.SIGINT, self.previous)


def _slices(
    run: _Run,
    n: int,
    every: int,
    record: _Record,
    outcome: _Outcome,
    tell: Callable[[Progress], None],
    first: int = 0,
    total: int = 0,
) -> bool:
    """Take ``n`` steps from step ``first`` in slices; False when the run is over. Rows at multiples of ``every``."""
    width = run.y.size
    size = 16
    last = first + n
    k = first
    while k < last:
        count = min(size, last - k)
        kept = run.y.copy()
        made = (k + count) // every - k // every
        rows, iterations = np.empty((made, width)), np.zeros(made, dtype=np.int64)
        begun = time.perf_counter()
        status, problem = OK, None
        try:
            status = run.march(k, count, every, rows, iterations)
        except KeyboardInterrupt:
            raise
        except Exception as caught:
            problem = caught
        elapsed = time.perf_counter() - begun
        outcome.seconds += elapsed
        good = int(run.report[STEPS_DONE])
        usable = (k + good) // every - k // every
        times = run.t0 + run.h * every * np.arange(k // every + 1, k // every + 1 + usable)
        record.times[record.count : record.count + usable] = times
        record.states[record.count : record.count + usable] = rows[:usable]
        record.iterations[record.count : record.count + usable] = iterations[:usable]
        record.count += usable
        outcome.done = k + good
        if status != OK or problem is not None:
            _explain(run, kept, k, good, status, problem, record, outcome)
            return False
        k += count
        tell(Progress(k, total or last, outcome.seconds, "running"))
        if elapsed < SLICE_SECONDS / 2:
            size *= 2
        elif elapsed > 2 * SLICE_SECONDS:
            size = max(1, size // 2)
    return True


def _explain(
    run: _Run, kept: Any, k: int, good: int, status: int, problem: Exception | None, record: _Record, outcome: _Outcome
) -> None:
    """Find the last good state again, add it to the record, and say what went wrong."""
    step = k + good
    t = run.t0 + step * run.h
    bad, report = run.y.copy(), run.report.copy()
    none, nothing = np.empty((good + 1, kept.size)), np.zeros(good + 1, dtype=np.int64)
    run.y[:] = kept
    if good:
        run.march(k, good, good + 1 if (k + good) % (good + 1) else good + 2, none, nothing)
    state = run.y.copy()
    if not record.count or record.times[record.count - 1] != t:
        _grow(record)
        record.add(t, state)
    run.y[:] = bad
    run.report[:] = report
    if problem is None:
        outcome.error = run.failure(status, step, state, t, run.h)
        run.y[:] = state
        return
    outcome.error, outcome.cause = _user_failure(run, state, step, t, problem)
    run.y[:] = state


def _user_failure(
    run: _Run, state: Any, step: int, t: float, problem: Exception
) -> tuple[PolhodeError, BaseException | None]:
    """The user's exception with the user's traceback: the failing step is taken again with the plain function."""
    if isinstance(problem, UserFunctionError):
        seen: Exception = problem
    else:
        seen = problem
        bridge = run.system.bridged_loads()
        if bridge is not None:
            rows, iterations = np.empty((1, state.size)), np.zeros(1, dtype=np.int64)
            try:
                run.march(step, 1, step + 2, rows, iterations, y=state.copy(), loads=bridge)
            except Exception as again:
                seen = again
    if isinstance(seen, UserFunctionError):
        error = UserFunctionError(f"{seen} in step {step}", step=step, time=t)
        return error, seen.__cause__
    return UserFunctionError(
        f"a load raised {type(seen).__name__}: {seen} in step {step} (t = {t:g})", step=step, time=t
    ), seen


def _grow(record: _Record) -> None:
    if record.count == len(record.times):
        record.times = np.append(record.times, 0.0)
        record.states = np.vstack([record.states, np.zeros(record.states.shape[1])])
        record.iterations = np.append(record.iterations, 0)


def _grid(run: _Run, n: int, every: int, tell: Callable[[Progress], None]) -> tuple[_Record, _Outcome]:
    record, outcome = _Record(n // every + 2, run.y.size), _Outcome()
    record.add(run.t0, run.y)
    with _Watch() as watch:

        def look(state: Progress) -> None:
            tell(state)
            if watch.flag:
                raise KeyboardInterrupt

        try:
            finished = _slices(run, n, every, record, outcome, look)
        except KeyboardInterrupt:
            finished = False
            outcome.error = Interrupted(
                f"interrupted after {outcome.done} of {n} steps (t = {run.t0 + outcome.done * run.h:g})"
            )
        if (outcome.error is None and finished and n % every) or isinstance(outcome.error, Interrupted):
            t = run.t0 + outcome.done * run.h
            if record.times[record.count - 1] != t:
                _grow(record)
                record.add(t, run.y)
    return record, outcome


def _sampled(run: _Run, n: int, samples: Any, tell: Callable[[Progress], None]) -> tuple[_Record, _Outcome]:
    """Rows at given times: the grid is walked as ever, and each time off it is reached by a side step."""
    record, outcome = _Record(len(samples) + 1, run.y.size), _Outcome()
    h = run.h
    nothing, none = np.empty((1, run.y.size)), np.zeros(1, dtype=np.int64)
    at = 0
    with _Watch() as watch:

        def look(state: Progress) -> None:
            tell(state)
            if watch.flag:
                raise KeyboardInterrupt

        scratch = _Record(2, run.y.size)
        try:
            for t in samples:
                along = (t - run.t0) / h
                k = round(along)
                on_grid = abs(along - k) <= 1e-12 * max(1.0, abs(along)) and k <= n
                if not on_grid:
                    k = min(n - 1, floor(along))
                if k > at:
                    scratch.count = 0
                    if not _slices(run, k - at, n + k + 1, scratch, outcome, look, first=at, total=n):
                        break
                    at = k
                if on_grid:
                    record.add(t, run.y, int(run.report[ITERATIONS]))
                    continue
                y = run.y.copy()
                grid = run.t0 + at * h
                try:
                    status = run.march(0, 1, 2, nothing, none, y=y, t0=grid, h=t - grid)
                except Exception as problem:
                    outcome.error, outcome.cause = _user_failure(run, run.y.copy(), at, grid, problem)
                    break
                if status != OK:
                    outcome.error = run.failure(status, at, run.y, grid, t - grid)
                    break
                record.add(t, y, int(run.report[ITERATIONS]))
            if outcome.error is None and at < n:
                scratch.count = 0
                _slices(run, n - at, n + n + 1, scratch, outcome, look, first=at, total=n)
        except KeyboardInterrupt:
            outcome.error = Interrupted(
                f"interrupted after {outcome.done} of {n} steps (t = {run.t0 + outcome.done * h:g})"
            )
    return record, outcome


def _finish(
    run: _Run, recipe: dict[str, Any], potential: Any, record: _Record, outcome: _Outcome, units: str
) -> xr.Dataset:
    attributes = {
        "title": f"{run.system.name}, {run.chosen.label}, step {abs(run.h):g}",
        "system": run.system.name,
        "method": run.chosen.label,
        "method_description": run.chosen.method.description,
        "order": run.chosen.promises.order,
        "citation": run.chosen.method.cite,
        "step": abs(run.h),
        "steps": outcome.done,
        "conserves": ", ".join(run.system.conserves),
        "conventions": CONVENTIONS,
        "units": units,
        "polhode_version": version("polhode"),
        "run": json.dumps(recipe),
    }
    if outcome.error is not None:
        attributes["incomplete"] = str(outcome.error)
    count = record.count
    ds = dataset(
        run.system, record.times[:count], record.states[:count], record.iterations[:count], potential, attributes, units
    )
    ds.encoding["seconds"] = outcome.seconds
    if outcome.error is not None:
        outcome.error.trajectory = ds
        raise outcome.error from outcome.cause
    return ds


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
    system = rebuild(recipe["system"], functions)
    y = np.array(recipe["state"])
    h, n, start = (-1.0 if recipe["backwards"] else 1.0) * recipe["step"], recipe["steps"], recipe["t0"]
    tell = progress or (lambda state: None)
    tell(Progress(0, n, 0.0, "compiling"))
    run = _Run(system, find_method(recipe["method"]), y.copy(), start, h, recipe["guard"])
    potential = system.compiled_potential(start, y)
    if recipe["t_eval"] is None:
        record, outcome = _grid(run, n, recipe["every"], tell)
    else:
        record, outcome = _sampled(run, n, np.array(recipe["t_eval"]), tell)
    return _finish(run, recipe, potential, record, outcome, recipe["units"])


def rebuild(recipe: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]) -> System:
    """The system of a recipe, with the user's functions handed in again."""
    arguments = dict(recipe["arguments"])
    wanted = {key for key, value in arguments.items() if isinstance(value, dict) and "sha256" in value}
    for key in sorted(wanted - set(functions)):
        name = arguments[key]["function"]
        raise InvalidInput(f"this run used a function for {key!r}, {name!r}; hand it in again: rerun(ds, {key}={name})")
    for key in sorted(set(functions) - wanted):
        raise unknown_name("function of this run", key, wanted or ["(none)"])
    return SYSTEMS[recipe["name"]](**{**arguments, **functions})
