"""What a run is asked to do, as records that are checked once and can be written down.

``requested`` makes a ``Request`` of what a user gave. ``Request.to_json`` is the attribute ``run`` of every Dataset and
the record in every live store; ``Request.from_json`` reads it. Nothing else travels from a call to the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import copysign, inf, isfinite
from typing import Any, cast

import numpy as np

from polhode.algebra.quaternion import multiply, rotate_inverse
from polhode.arguments import UNKNOWN, array, choice, has_quantity, in_unit, mapping, number, numbers, truth, vector
from polhode.arguments import whole as whole_number
from polhode.errors import InvalidInput, PolhodeError, shown, unknown_name
from polhode.flows.sums import COMPENSATION
from polhode.kernel import layout as L
from polhode.methods import MethodSpec
from polhode.methods import method as find_method
from polhode.runs.event_detection import check_span
from polhode.runs.integrator import check_estimate, extended
from polhode.runs.parameters import with_parameters
from polhode.runs.turning import ANGLES, FORMS, TURNING, as_kept
from polhode.systems import SYSTEMS, System, built
from polhode.systems.events import Event, event_of, events_of
from polhode.systems.inertia import RELATIVE_TOLERANCE
from polhode.systems.record import plain
from polhode.trajectory import UNITS
from polhode.trajectory.epochs import epoch_of
from polhode.trajectory.schema import trajectory

LARGEST = 1e60
"""Moments of inertia and angular momenta beyond this or below its inverse over- or underflow when they are squared."""
OVERFLOWING = 1e100
"""Numbers of a start beyond this would overflow when squared; distances from a centre below its inverse."""
TIGHTEST = 1e-14
FLOOR = 1e-3
"""Smallest rtol; the default of atol in units of it."""
MOST_STEPS = 10_000_000
COUNTABLE = 10**15
"""Most steps of one size: beyond it the times of two steps in a row are hardly told apart."""
MOST = 2**62
"""Largest number of steps: what is counted has 64 bits."""
ADAPTIVE = "mkrk:dp8"
"""The method of a run with rtol that names none."""
TOLERANCE = ("rtol", "atol", "first_step", "max_step", "max_steps")
CONTINUED = ("since", "clock", "thermostat", "compensation", "coordinates")
"""Words of a scenario that are one argument of a run, ``steps`` and ``start``."""
TIMES = ("step", "t_end", "t0", "first_step", "max_step", "t_eval", "since", "breaks")
GIVEN_IN = {
    "SI": {"time": "s", "position": "m", "velocity": "m / s", "momentum": "kg * m / s", "angular_velocity": "rad / s",
           "angular_momentum": "kg * m**2 / s"},
    "molecular": {"time": "ps", "position": "nm", "velocity": "nm / ps", "momentum": "u * nm / ps",
                  "angular_velocity": "rad / ps", "angular_momentum": "u * nm**2 / ps"},
}  # fmt: skip
"""What quantities among the arguments of a run are turned into, by its units."""


# ------------------------------------------------------------------ the steps
@dataclass(frozen=True)
class FixedStep:
    """Steps of one size.

    Attributes
    ----------
    step : float
        Their size, positive.
    steps : int
        How many.
    backwards : bool
        Whether they go back in time.

    Raises
    ------
    InvalidInput
        A size that is not positive, or more steps than can be counted.
    """

    step: float
    steps: int | None
    backwards: bool = False

    def __post_init__(self) -> None:
        _keep(self, step=number(self.step, "step"), steps=_counted(self.steps), backwards=bool(self.backwards))
        if not self.step > 0.0:
            raise InvalidInput(
                f"step is {self.step:g}; it must be positive (to run backwards in time, give t_end before t0)"
            )

    @property
    def h(self) -> float:
        """The step with its sign."""
        return -self.step if self.backwards else self.step

    def final(self, t0: float, t_end: float | None) -> float:
        """Time at the end of the run."""
        return t0 + self.h * cast(int, self.steps)

    def to_json(self, t0: float, t_end: float | None) -> dict[str, Any]:
        """Itself and its span of time in JSON's types."""
        return {"step": self.step, "steps": self.steps, "backwards": self.backwards, "t0": t0}


@dataclass(frozen=True)
class TimeTransformed(FixedStep):
    """Steps of a method with a time transformation: ``step`` is the size of the first one, and the others follow the
    motion; without ``steps`` they are not counted, and the last one ends at the end of the run."""

    def final(self, t0: float, t_end: float | None) -> float:
        """Time at the end of the run, infinite where only its steps are counted."""
        return t_end if t_end is not None else copysign(inf, self.h)

    def to_json(self, t0: float, t_end: float | None) -> dict[str, Any]:
        """Itself and its span of time in JSON's types."""
        return super().to_json(t0, t_end) | {"t_end": t_end}


@dataclass(frozen=True)
class Tolerance:
    """Steps chosen so that the estimated error of each is at most a tolerance, ``atol + rtol |x|`` of a number x.

    Attributes
    ----------
    rtol : float
        Relative part, from 1e-14 to 1; of attitudes in rad.
    atol : float, optional
        Absolute part for angular velocities, positions and velocities, in their units; it counts where they are near
        zero. By default ``1e-3 * rtol``.
    max_step, first_step : float, optional
        Largest step allowed, and the first one to try, which is chosen from the loads unless given. Steps that are long
        where nothing happens may leap over a load that acts for a short time only: a ``max_step`` below that time finds
        it, ``breaks`` at its beginning and end resolve it.
    max_steps : int
        Most steps to try.

    Raises
    ------
    InvalidInput
        A number out of its range.
    """

    rtol: float
    atol: float | None = None
    max_step: float | None = None
    first_step: float | None = None
    max_steps: int = MOST_STEPS

    def __post_init__(self) -> None:
        rtol = number(self.rtol, "rtol")
        if not TIGHTEST <= rtol < 1.0:
            raise InvalidInput(
                f"rtol is {rtol:g}; it must be at least {TIGHTEST:g}, where round-off begins, and below 1"
            )
        _keep(self, rtol=rtol)
        for name, unit in (("atol", ""), ("first_step", "s"), ("max_step", "s")):
            value = getattr(self, name)
            if value is None:
                continue
            size = number(value, name, unit)
            if not size > 0.0:
                raise InvalidInput(f"{name} is {size:g}; it must be positive")
            if not has_quantity(value):  # a quantity becomes a number where the units of the run are known
                _keep(self, **{name: size})
        _keep(self, max_steps=whole_number(self.max_steps, "max_steps", 1))

    def final(self, t0: float, t_end: float | None) -> float:
        """Time at the end of the run."""
        return cast(float, t_end)

    def to_json(self, t0: float, t_end: float | None) -> dict[str, Any]:
        """Itself and its span of time in JSON's types."""
        return {
            "rtol": self.rtol, "atol": self.atol, "t0": t0, "t_end": t_end, "first_step": self.first_step,
            "max_step": self.max_step, "max_steps": self.max_steps,
        }  # fmt: skip


Steps = FixedStep | TimeTransformed | Tolerance


def _keep(record: Any, **values: Any) -> None:
    """Set attributes of a frozen record that is being made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _counted(given: Any) -> int | None:
    """A number of steps, checked; none where they are not counted."""
    if given is None:
        return None
    steps = int(whole_number(given, "steps", -(2**53)))
    if steps < 0:
        raise InvalidInput(f"steps is {steps}; it must not be negative (to run backwards, give t_end before t0)")
    if steps > MOST:
        raise InvalidInput("steps is more than 2^62, which no run takes")
    if steps > COUNTABLE:
        raise InvalidInput(f"steps is {steps:g}, more than can be counted; give at most {COUNTABLE:g}")
    return steps


def span(step: Any, t_end: Any, steps: Any, t0: Any) -> tuple[float, int, float]:
    """Signed step, number of steps and start time from what the user gave.

    Raises
    ------
    InvalidInput
        Step not positive; neither or both of ``t_end`` and ``steps``; ``t_end`` no whole number of steps away.
    """
    h, start = FixedStep(step, 0).step, number(t0, "t0")
    if (t_end is None) == (steps is None):
        raise InvalidInput("give either t_end or steps, the one or the other")
    if steps is not None:
        return h, cast(int, _counted(steps)), start
    end = number(t_end, "t_end")
    ratio = abs(end - start) / h
    if not ratio <= COUNTABLE:
        raise InvalidInput(f"t_end - t0 = {end - start:g} is {ratio:g} steps of {h:g}, more than can be counted; "
                           "give an earlier t_end or a larger step")  # fmt: skip
    n = round(ratio)
    if abs(ratio - n) > 1e-9 * max(1.0, ratio):
        better = abs(end - start) / max(1, n)
        raise InvalidInput(
            f"t_end - t0 = {end - start:g} is {ratio:.9g} steps of {h:g}; the nearest step that fits is {better!r}"
        )
    return (h if end >= start else -h), n, start


def planned(given: Mapping[str, Any], time_transformed: bool) -> tuple[Steps, float, float | None]:
    """How steps are taken, the start time, and the end where steps of one size do not say it.

    Parameters
    ----------
    given : mapping
        ``step``, ``steps``, ``t_end`` and ``t0`` as of ``polhode.integrate``.
    time_transformed : bool
        Whether the method has a time transformation.

    Raises
    ------
    InvalidInput
        A number out of its range, numbers that do not go together, or a span that is not said.
    """
    step, t_end, steps, t0 = (given.get(name) for name in ("step", "t_end", "steps", "t0"))
    t0 = 0.0 if t0 is None else t0
    if isinstance(steps, Tolerance):
        if t_end is None:
            raise InvalidInput("with a tolerance the steps are not counted beforehand; give t_end")
        return steps, number(t0, "t0"), number(t_end, "t_end")
    if not time_transformed:
        h, n, start = span(step, t_end, steps, t0)
        return FixedStep(abs(h), n, h < 0), start, None
    if t_end is None or steps is not None:
        h, n, start = span(step, t_end, steps, t0)
        return TimeTransformed(h, n), start, None
    h, _, start = span(step, None, 0, t0)
    end = number(t_end, "t_end")
    return TimeTransformed(h, None, end < start), start, end


def grouped(words: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``polhode.integrate`` from the flat words of a scenario or of a record: those of a tolerance become
    ``steps``, those of a run that goes on from another become ``start``.

    Raises
    ------
    InvalidInput
        Words that do not go together.
    """
    found = dict(words)
    told = {name: found.pop(name) for name in TOLERANCE if found.get(name) is not None}
    if told:
        if "rtol" not in told:
            raise InvalidInput(f"{next(iter(told))} is given without rtol, to which it belongs; leave it out")
        if found.get("step") is not None:
            raise InvalidInput("rtol and step are both given; keep one of them")
        if found.get("steps") is not None or found.get("t_end") is None:
            raise InvalidInput("with rtol the steps are not counted beforehand; give t_end and no steps")
        found["steps"] = Tolerance(**told)
    start = {name: found.pop(name) for name in CONTINUED if found.get(name) is not None}
    return found | ({"start": start} if start else {})


def grid(steps: Steps, t0: float, t_end: float | None) -> tuple[float, int]:
    """Signed step and number of steps; chosen ones count as one step, or none where the span is empty."""
    if type(steps) is FixedStep:
        return steps.h, cast(int, steps.steps)
    length = steps.final(t0, t_end) - t0
    return (length, 1) if length else (1.0, 0)


# ------------------------------------------------------------------ the rows
@dataclass(frozen=True)
class Recording:
    """Which states are recorded: those after every so many steps, or those at given times.

    Attributes
    ----------
    every : int
        Steps from one row to the next.
    t_eval : tuple of float, optional
        The times.
    """

    every: int = 1
    t_eval: tuple[float, ...] | None = None

    @classmethod
    def of(cls, every: Any, t_eval: Any, start: float, h: float, n: int) -> Recording:
        """The recording of a run of ``n`` steps of ``h`` from a time on, checked.

        Raises
        ------
        InvalidInput
            As ``sample_times``, or ``every`` that is no whole number of at least 1.
        """
        every = whole_number(every, "every", 1, MOST)
        return cls(every, None if t_eval is None else tuple(sample_times(t_eval, every, start, h, n).tolist()))

    def to_json(self) -> dict[str, Any]:
        """Itself in JSON's types."""
        return {"every": self.every, "t_eval": None if self.t_eval is None else list(self.t_eval)}


def sample_times(t_eval: Any, every: int, start: float, h: float, n: int) -> Any:
    if not isfinite(h):
        raise InvalidInput("with t_eval give t_end: when a number of steps with a clock of their own ends is not known")
    if every != 1:
        raise InvalidInput("every and t_eval are both given; t_eval alone says what is recorded")
    times = numbers(t_eval, "t_eval", "")
    if not times.size:
        raise InvalidInput("t_eval must be a flat sequence of at least one finite time")
    along = (times - start) / h
    if (np.diff(along) < 0).any():
        raise InvalidInput("t_eval must be in the order of the run: times must not go back")
    if along[0] < 0 or along[-1] > n * (1 + 1e-12):
        raise InvalidInput(f"t_eval must lie between t0 = {start:g} and the end of the run, {start + n * h:g}")
    return times


def checked_breaks(breaks: Any, start: float, end: float | None) -> list[float]:
    """Times at which loads jump, in the order of numbers; an unknown end is no limit.

    Raises
    ------
    InvalidInput
        No flat sequence of finite times, or one outside of the run.
    """
    times = numbers(breaks, "breaks", "")
    low, high = (start, inf) if end is None else (min(start, end), max(start, end))
    for t in times:
        if not low <= t <= high:
            raise InvalidInput(f"breaks has t = {t:g}, outside of the run from t = {low:g} to {high:g}; leave it out")
    return sorted(set(times.tolist()))


# ------------------------------------------------------------------ the start
STATE_WORDS = ("attitude", "angular_velocity", "angular_momentum", "position", "velocity", "momentum")


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
    y = np.zeros(L.BODY * N)
    body = y.reshape(N, L.BODY)
    body[:, L.ATTITUDE] = 1.0
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
    frames = np.asarray(system.frames, dtype=float)
    if attitude is not None:
        q = _of_bodies(attitude, "attitude", N, 4)
        length = np.sqrt(np.matmul(q[:, None, :], q[:, :, None])[:, 0, 0])  # rounds as the norm of each alone does
        wrong = np.flatnonzero(np.abs(length - 1.0) > 1e-6)
        if wrong.size:
            i = int(wrong[0])
            raise InvalidInput(
                f"attitude{_whose(attitude, i)} has length {length[i]:g}; give a unit quaternion (w, x, y, z)"
            )
        body[:, L.ATTITUDE : L.ATTITUDE + 4] = q / length[:, None]
    body[:, L.ATTITUDE : L.ATTITUDE + 4] = _by_columns(multiply, body[:, L.ATTITUDE : L.ATTITUDE + 4], frames)
    if angular_velocity is not None:
        omega = _by_columns(rotate_inverse, frames, _of_bodies(angular_velocity, "angular_velocity", N, 3))
        omega = _across(system, omega, "angular_velocity")
        body[:, L.ANGULAR : L.ANGULAR + 3] = _heavy(system.moments, omega, "angular_velocity", "turn")
    if angular_momentum is not None:
        m = _of_bodies(angular_momentum, "angular_momentum", N, 3)
        body[:, L.ANGULAR : L.ANGULAR + 3] = _across(system, _by_columns(rotate_inverse, frames, m), "angular_momentum")
    _check_size(system, body[:, L.ANGULAR :])
    if position is not None:
        body[:, L.POSITION : L.POSITION + 3] = _of_bodies(position, "position", N, 3)
    if velocity is not None:
        v = _of_bodies((0.0, 0.0, 0.0) if _is_zero(velocity) else velocity, "velocity", N, 3)
        body[:, L.MOMENTUM : L.MOMENTUM + 3] = _heavy(system.mass[:, None], v, "velocity", "move through space")
    if momentum is not None:
        body[:, L.MOMENTUM : L.MOMENTUM + 3] = _of_bodies(momentum, "momentum", N, 3)
    distance = np.abs(body[:, L.POSITION : L.POSITION + 3]).max(axis=1)
    if "central_gravity" in system.provides and (np.isfinite(system.mass) & (distance < 1.0 / OVERFLOWING)).any():
        given = "is missing" if position is None else "is at the centre, where the attraction is infinite"
        raise InvalidInput(f"position {given}; say where the orbit begins")
    return y


def check_moving(system: System, velocity: Any, momentum: Any) -> None:
    """Refuse a start about a centre of attraction that does not say how anything moves.

    Raises
    ------
    InvalidInput
    """
    if "central_gravity" in system.provides and velocity is None and momentum is None:
        raise InvalidInput(
            "velocity is missing, and from rest everything falls into the centre; give velocity or momentum, or say "
            "velocity=0 where that is meant"
        )


def initial_state(system: System, chosen: MethodSpec, given: Mapping[str, Any], t0: float) -> Any:
    """State vector a method starts from: behind the bodies stand its own numbers, which follow from the start or are
    given (``coordinates``, ``compensation``, ``thermostat``, ``clock``).

    Raises
    ------
    InvalidInput
        As ``start_state``; numbers the method does not have, or not as many.
    """
    prepared, N = chosen.prepare(), system.N
    chosen.method.check_complete(chosen.options)
    coordinates, compensation, thermostat, clock = (
        given.get(name) for name in ("coordinates", "compensation", "thermostat", "clock")
    )
    own, bath = prepared.coordinates, prepared.bath
    if thermostat is not None and bath is None:
        raise InvalidInput(f"method {chosen.label!r} has no heat bath; leave thermostat out")
    if prepared.compensation and not system.translates:
        raise InvalidInput(
            "compensated sums are of positions and momenta, but the bodies of "
            f"{system.name!r} do not move through space; leave it out"
        )
    if compensation is not None and not prepared.compensation:
        raise InvalidInput("compensation is given without compensated=True, to which it belongs; leave it out")
    y = start_state(system, **{name: given.get(name) for name in STATE_WORDS})
    if clock is not None and not prepared.step_density:
        raise InvalidInput(f"method {chosen.label!r} has no clock of its own; leave clock out")
    if coordinates is not None and own is None:
        raise InvalidInput(f"method {chosen.label!r} has no coordinates of its own; give the attitude")
    if coordinates is not None and own is not None:
        if given.get("attitude") is not None:
            raise InvalidInput(f"attitude and coordinates ({own.name}) are both given; keep one of them")
        coordinates = _of_bodies(coordinates, "coordinates", N, own.size)
    if compensation is not None:
        compensation = _of_bodies(compensation, "compensation", N, COMPENSATION)
    if thermostat is not None and bath is not None:
        thermostat = vector(thermostat, "thermostat", bath.numbers.size, UNKNOWN)
    y = extended(system, prepared, y, coordinates, compensation, thermostat)
    if clock is not None:
        y[-L.TIME_VARIABLES :] = vector(clock, "clock", L.TIME_VARIABLES, UNKNOWN)
        if not y[2 - L.TIME_VARIABLES] >= 0.0:
            raise InvalidInput(f"clock[2], the density of steps, is {clock[2]:g}; it must be positive")
        y[-L.TIME_VARIABLES] = t0
    return y


def _heavy(inertia: Any, rate: Any, name: str, does: str) -> Any:
    """inertia times rate of every body; what has infinite inertia stays at rest."""
    fixed = ~np.isfinite(inertia)
    moved = np.flatnonzero((fixed & (rate != 0.0)).any(axis=1))
    if moved.size:
        raise InvalidInput(f"{name} of body {moved[0]} is not zero, but that body does not {does}")
    with np.errstate(over="ignore"):
        made = np.where(fixed, 0.0, inertia) * rate
    if not np.isfinite(made).all():
        raise InvalidInput(f"{name} times the inertia is beyond 1e308; check their units")
    return made


def _is_zero(value: Any) -> bool:
    """Whether a value is the number 0, which says that nothing moves."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and value == 0


def _across(system: System, spin: Any, name: str) -> Any:
    """Angular velocities or momenta (N, 3, principal frame), of bodies without thickness across their axis only."""
    along = np.where(system.without_thickness[:, None] & np.isinf(system.moments), spin, 0.0)
    wrong = np.flatnonzero(np.abs(along).max(axis=1) > RELATIVE_TOLERANCE * np.abs(spin).max(axis=1))
    if wrong.size:
        raise InvalidInput(
            f"{name} of body {wrong[0]} has a part along the axis about which its moment of inertia is zero, but a "
            "body without thickness does not turn about its own axis; leave that part out, or give it a thickness"
        )
    return spin - along


def _check_size(system: System, m: Any) -> None:
    """Refuse bodies and momenta whose squares and products would over- or underflow.

    Raises
    ------
    InvalidInput
    """
    turns = np.isfinite(system.moments)
    low = np.min(np.where(turns, system.moments, np.inf), axis=1)
    high = np.max(np.where(turns, system.moments, 0.0), axis=1)
    size = np.abs(m).max(axis=1)
    for name, values in (("moments of inertia", low), ("moments of inertia", high), ("angular momentum", size)):
        wrong = np.flatnonzero(turns.any(axis=1) & (values > 0.0) & ((values < 1.0 / LARGEST) | (values > LARGEST)))
        if wrong.size:
            i = int(wrong[0])
            raise InvalidInput(
                f"{name} of body {i}: {values[i]:.3g} is beyond {1.0 / LARGEST:g} to {LARGEST:g}, where squares over- "
                "or underflow; choose other units"
            )


def _by_columns(kernel: Callable[..., Any], *rows: Any) -> Any:
    """A kernel of tuples on every row of arrays (N, k), rounded as it is on one row alone."""
    return np.stack(kernel(*(tuple(one.T) for one in rows)), axis=1)


def _whose(value: Any, i: int) -> str:
    """Of which body a value is, where every body has its own."""
    return f" of body {i}" if np.ndim(value) == 2 else ""


def _of_bodies(value: Any, name: str, N: int, length: int) -> Any:
    """Numbers (N, length) from those of one body, which are then the same for all, or of each."""
    given = array(value, name, "")
    if given.size and np.abs(given).max() > OVERFLOWING:
        raise InvalidInput(f"{name} has entries beyond {OVERFLOWING:g}; check its units")
    if given.ndim == 1 or (N == 1 and given.shape != (1, length)):
        return np.tile(vector(given, name, length), (N, 1))
    if given.shape != (N, length):
        raise InvalidInput(
            f"{name} must be {length} numbers, or {length} for each of {N} bodies, but has shape {given.shape}"
        )
    return given.copy()


def in_units_of(system: System, units: Any, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Values by the names of arguments of a run as plain numbers in its units, and what these are called.

    Parameters
    ----------
    system : System
        Whose units they are, where it has some of its own.
    units : str
        What the user calls them.
    given : mapping
        Times, initial values, with units or without.

    Raises
    ------
    InvalidInput
        Unknown units; a quantity of another kind, or one for a system whose units are not known.
    """
    units = choice(units, "units", UNITS)
    if not any(map(has_quantity, given.values())):
        return units, dict(given)
    own = system.units or ("SI" if units == "consistent" else units)
    if own not in GIVEN_IN:
        raise InvalidInput(f"{system.name} is in units of its own, which a quantity cannot be turned into; give plain "
                           "numbers")  # fmt: skip
    of = GIVEN_IN[own]
    plain = {name: in_unit(value, of.get(name.removesuffix("_space"), of["time"]), name)
             for name, value in given.items()}  # fmt: skip
    return own if units == "consistent" else units, plain


# ------------------------------------------------------------------ the request
@dataclass(frozen=True, eq=False)
class InitialState:
    """The state a run starts from.

    Attributes
    ----------
    values : array (13 N + S + extra)
        What ``initial_state`` makes: the bodies, the auxiliary variables of the system, the numbers of the method.
    """

    values: Any

    @classmethod
    def from_json(cls, values: Any, system: System, chosen: MethodSpec) -> InitialState:
        """The state of a record, checked to be as long as kernels take it to be."""
        upright = np.zeros((system.N, L.BODY))
        upright[:, L.ATTITUDE] = 1.0
        size = extended(system, chosen.prepare(), upright.ravel()).size
        return cls(vector(np.array(values, dtype=float), "state", size))

    def to_json(self) -> list[float]:
        """Itself in JSON's types."""
        return self.values.tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Request:
    """One run, asked for: all that it depends on.

    Attributes
    ----------
    system : System
        What moves, with the parameters of this run.
    method : MethodSpec
        The method with its options.
    state : InitialState
        Where it starts.
    steps : FixedStep, Tolerance or TimeTransformed
        How steps are taken.
    t0, t_end : float
        Start time; the end, where ``steps`` do not say it.
    recording : Recording
        Which states are recorded.
    events : tuple of Event
        What to look for.
    breaks : tuple of float
        Times at which loads of the user's jump.
    since : float, optional
        Of the rest of another run: where that began.
    guard : bool
        Whether steps that are too large and energies that explode are refused.
    units, epoch : str, str or None
        How variables are labelled; which instant time 0 is.
    parameters : list or dict, optional
        Those of this run in the place of those the system was built with.
    """

    system: System
    method: MethodSpec
    state: InitialState
    steps: Steps
    t0: float = 0.0
    t_end: float | None = None
    recording: Recording = Recording()
    events: tuple[Event, ...] = ()
    breaks: tuple[float, ...] = ()
    since: float | None = None
    guard: bool = True
    units: str = "consistent"
    epoch: str | None = None
    parameters: Any = None

    @property
    def final(self) -> float:
        """Time at the end of the span."""
        return self.steps.final(self.t0, self.t_end)

    @property
    def total(self) -> int | None:
        """How many steps, where they are counted beforehand."""
        return None if isinstance(self.steps, Tolerance) else self.steps.steps

    @property
    def samples(self) -> Any:
        """The times to record, as an array, or None."""
        return None if self.recording.t_eval is None else np.array(self.recording.t_eval)

    def to_json(self) -> dict[str, Any]:
        """Itself in JSON's types; what has its default and came later than others is left out."""
        found = {
            "system": {"name": self.system.name, "arguments": dict(self.system.arguments)},
            "method": self.method.label,
            **self.steps.to_json(self.t0, self.t_end),
            **self.recording.to_json(),
            "guard": self.guard,
            "units": self.units,
            "state": self.state.to_json(),
        }
        rest = {
            "compensated": self.method.compensated or None,
            "events": [dict(event.arguments) for event in self.events] or None,
            "breaks": list(self.breaks) or None,
            "since": self.since,
            "parameters": self.parameters,
            "epoch": self.epoch,
        }
        return found | {name: value for name, value in rest.items() if value is not None}

    @classmethod
    def from_json(
        cls, text: Any, functions: Mapping[str, Callable[..., Any]], system: System | None = None,
        call: str = "rerun(ds, ",
    ) -> Request:  # fmt: skip
        """The request of a record, with the user's functions, or a system of the user's, handed in again.

        Raises
        ------
        InvalidInput
            What is missing or not wanted; ``call`` is how the words that tell of it begin. The text may come from
            anybody: it is no record, or one that ``integrate`` would have refused.
        """
        try:
            kept = json.loads(text)
            return cls._read(kept, *_rebuilt(kept, functions, system, call))
        except PolhodeError:
            raise
        except Exception as wrong:  # of whatever kind and number things are that should be others
            raise InvalidInput(
                f"the record of this run is not one that polhode wrote ({type(wrong).__name__}: {wrong}); use "
                "integrate instead"
            ) from wrong

    @classmethod
    def _read(cls, kept: Mapping[str, Any], system: System, chosen: MethodSpec, events: list[Event]) -> Request:
        """The request of a record whose system, method and events are made."""
        time_transformed = bool(chosen.prepare().step_density)
        equal = "rtol" not in kept and not time_transformed
        words = {name: kept.get(name) for name in ("step", "steps", *TOLERANCE)}
        words |= {"t0": kept["t0"], "t_end": None if equal else kept["t_end"]}
        steps, t0, t_end = planned(grouped(words), time_transformed)
        if isinstance(steps, FixedStep) and equal:
            steps = replace(steps, backwards=truth(kept["backwards"], "backwards"))
        recording = Recording.of(kept["every"], kept["t_eval"], t0, *grid(steps, t0, t_end))
        return cls(
            system, chosen, InitialState.from_json(kept["state"], system, chosen), steps, t0, t_end, recording,
            tuple(events), tuple(checked_breaks(kept.get("breaks", []), -inf, inf)),
            None if kept.get("since") is None else number(kept["since"], "since"), truth(kept["guard"], "guard"),
            choice(kept["units"], "units", UNITS), kept.get("epoch"), kept.get("parameters"),
        )  # fmt: skip


def requested(system: Any, method: Any, given: Mapping[str, Any], options: Mapping[str, Any]) -> Request:
    """The request of a call of ``polhode.integrate``, all of it checked.

    Parameters
    ----------
    system, method
        Its first two arguments.
    given : mapping
        The others by name; what is left out has its default.
    options : mapping
        Options of the method.

    Raises
    ------
    InvalidInput
        An argument is wrong; the sentence names it.
    """
    if not isinstance(system, System):
        raise InvalidInput(f"the first argument must be a system such as polhode.free_body(...), not {shown(system)}")
    given, options, parameters = dict(given), dict(options), given.get("parameters")
    if parameters is not None:
        system = with_parameters(system, parameters)
        by_name = isinstance(parameters, Mapping)
        parameters = {k: system.arguments[k] for k in parameters} if by_name else plain(parameters)
    start, kept = given.get("start"), _record(given.get("start"))
    if all(given.get(name) is None for name in ("step", "rtol")) and not isinstance(given.get("steps"), Tolerance):
        given |= {name: kept[name] for name in ("step",) if name in kept}
        if "rtol" in kept:
            given["steps"] = Tolerance(kept["rtol"], kept.get("atol"), kept.get("max_step"))
    adaptive = given.get("rtol") is not None or isinstance(given.get("steps"), Tolerance)
    if method is None:
        method = kept.get("method") or (ADAPTIVE if adaptive else system.recommended)
        given["compensated"] = given.get("compensated") or kept.get("compensated", False)
    row = find_method(method).method
    for name in options:
        if name in CONTINUED:
            raise InvalidInput(f"{name} belongs to a start: write start={{{name!r}: ...}}, or start= the earlier run")
        if name in TOLERANCE:
            raise InvalidInput(f"{name} belongs to a tolerance: write steps=polhode.Tolerance(rtol, {name}=...)")
        if name not in row.options:
            raise unknown_name(f"argument of integrate or option of method {row.name!r}", name, [*given, *row.options])
    if given.get("sequence") is not None and "sequence" in row.options:
        options["sequence"] = given["sequence"]
        if not any(given.get(name) is not None for name in ANGLES):
            given["sequence"] = None
    chosen = replace(find_method(method, **options), compensated=truth(given.get("compensated", False), "compensated"))
    given = _started(start, kept, given, system, chosen)
    asked = given.get("steps") if isinstance(given.get("steps"), Tolerance) else None
    given |= {name: getattr(asked, name, None) for name in ("first_step", "max_step")}
    measured = {name: given.get(name) for name in MEASURED}
    units, measured = in_units_of(system, given.get("units", "consistent"), measured)
    given |= measured | {"coordinates": in_unit(given.get("coordinates"), UNKNOWN, "coordinates")}
    given |= dict.fromkeys(STATE_WORDS[:3]) | as_kept({name: given.get(name) for name in FORMS})
    if asked is not None:
        given["steps"] = replace(asked, first_step=measured["first_step"], max_step=measured["max_step"])
    steps, t0, t_end = _steps_of(chosen, given)
    final = steps.final(t0, t_end)
    elsewhere = given.get("time") is not None and given["time"] != t0  # than where start ends: nothing is past
    first = t0 if given["since"] is None or elsewhere else number(given["since"], "since")
    check_span(system, first, final)
    events, breaks = events_of(given.get("events", ()), system), checked_breaks(given["breaks"], first, final)
    if system.units:
        if units not in ("consistent", system.units):
            raise InvalidInput(f"{system.name} is in {system.units} units with k_B = {system.boltzmann:.6g}, not in "
                               f"{units} ones; leave units out and give plain numbers")  # fmt: skip
        units = system.units
    elif units == "molecular":
        raise InvalidInput(f"units is 'molecular', but {system.name} has no such units of its own; leave it out")
    guard = truth(given.get("guard", True), "guard")
    recording = Recording.of(given.get("every", 1), given["t_eval"], t0, *grid(steps, t0, t_end))
    y = initial_state(system, chosen, given, t0)
    check_moving(system, given["velocity"], given["momentum"])
    wrong = "" if system.check is None else system.check(y[: L.BODY * system.N])
    if wrong and given["position"] is None:
        raise InvalidInput(
            "position is missing; say where the bodies are, for instance on a lattice: polhode.initial.cubic, or "
            "lattice = 'cubic' in a scenario"
        )
    if wrong:
        raise InvalidInput(f"the run cannot start: {wrong}")
    epoch = None if given.get("epoch") is None else str(epoch_of(given["epoch"]))
    return Request(
        system, chosen, InitialState(y), steps, t0, t_end, recording, tuple(events), tuple(breaks),
        None if first == t0 else first, guard, units, epoch, parameters,
    )  # fmt: skip


KEPT_STATE = ("attitude", "angular_momentum", "position", "momentum")
MEASURED = (*TIMES, *TURNING, "position", "velocity", "momentum")


def _steps_of(chosen: MethodSpec, given: Mapping[str, Any]) -> tuple[Steps, float, float | None]:
    """The steps of a call, where the method may have a tolerance of its own."""
    own, given = chosen.method.tolerances, dict(given)
    steps, rtol, atol = given.get("steps"), given.get("rtol"), None
    if own is not None and given["step"] is None and not isinstance(steps, Tolerance):
        rtol, atol = own[0] if rtol is None else rtol, own[1]
    if sum((given["step"] is not None, rtol is not None, isinstance(steps, Tolerance))) != 1:
        raise InvalidInput(
            "give either step, the size of all steps, or a tolerance by which they are chosen: rtol, or "
            "steps=polhode.Tolerance(...)"
        )
    if rtol is not None:
        if steps is not None or given["t_end"] is None:
            raise InvalidInput("with rtol the steps are not counted beforehand; give t_end and no steps")
        steps = given["steps"] = Tolerance(rtol, atol)
    if isinstance(steps, Tolerance):
        check_estimate(chosen)
        if steps.atol is None:
            given["steps"] = replace(steps, atol=own[1] if own is not None else steps.rtol * FLOOR)
    return planned(given, bool(chosen.prepare().step_density))


def _record(start: Any) -> dict[str, Any]:
    """What a start records of its run, where it is a Dataset that does."""
    attributes = start.attrs if hasattr(type(start), "isel") else {}
    try:
        kept = json.loads(attributes.get("run", "{}"))
    except Exception:  # of whatever kind the text is
        kept = None
    if not isinstance(kept, dict):
        raise InvalidInput(
            "the record of the run in start is not one that polhode wrote; give a mapping of its last row"
        )
    return kept


def _started(
    start: Any, kept: Mapping[str, Any], given: Mapping[str, Any], system: System, chosen: MethodSpec
) -> dict[str, Any]:
    """The words of a call with those of its start.

    Raises
    ------
    InvalidInput
        No start; one of another system; a word it does not know, or that is given twice.
    """
    if start is None:
        return dict(given)
    if hasattr(type(start), "isel"):
        words = _last_row(start, kept, system, chosen)
    else:
        words = {name: value for name, value in mapping(start, "start").items() if value is not None}
    known = (*FORMS, *STATE_WORDS[3:], *CONTINUED, "time")
    for name in words:
        if name not in known:
            raise unknown_name("name in start", name, known)
        if given.get(name) is not None:
            raise InvalidInput(f"{name} is given, and start has it too; keep one of them")
    found = {**given, **words}
    if given.get("t0") is None:
        found["t0"] = found.pop("time", None)
    if hasattr(type(start), "isel"):
        if found.get("units", "consistent") == "consistent":
            found["units"] = kept.get("units", "consistent")
        found["epoch"] = kept.get("epoch") if found.get("epoch") is None else found["epoch"]
        steps, last = found.get("steps"), start.isel(time=-1)
        if isinstance(steps, Tolerance) and steps.first_step is None and "step" in last and float(last.step) > 0.0:
            found["steps"] = replace(steps, first_step=float(last.step))
    return found


def _last_row(ds: Any, kept: Mapping[str, Any], system: System, chosen: MethodSpec) -> dict[str, Any]:
    """All that a run by this method can go on with of the last row of a trajectory."""
    trajectory(ds)
    if ds.attrs.get("system") != system.name:
        raise InvalidInput(f"start is a trajectory of {ds.attrs.get('system')!r}, but the run is of {system.name!r}")
    if not ds.sizes["time"]:
        raise InvalidInput("start has no rows; give a trajectory that has some")
    last, prepared = ds.isel(time=-1), chosen.prepare()
    found = {name: last[name].values for name in KEPT_STATE if name in last}
    own = prepared.coordinates
    if own is not None and own.name in last:  # these, for an attitude does not say how often it has turned
        del found["attitude"]
        found["coordinates"] = last[own.name].values
    if prepared.bath is not None and "thermostat" in last:
        found["thermostat"] = last["thermostat"].values
    if prepared.compensation and "position_carry" in last:
        found["compensation"] = np.concatenate([last["position_carry"], last["momentum_carry"]], axis=-1)
    if prepared.step_density and "clock" in last:
        found["clock"] = last["clock"].values
    begun = kept.get("since", kept.get("t0"))
    return found | {"time": float(last["time"]), "since": float(ds["time"][0]) if begun is None else begun}


# ------------------------------------------------------------------ reading a record
def _rebuilt(
    recipe: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], system: System | None, call: str
) -> tuple[System, MethodSpec, list[Event]]:
    events, rest = [], dict(functions)
    for given in recipe.get("events", ()):
        if given["kind"] == "user":
            name = given["name"]
            if name not in functions:
                raise InvalidInput(f"this run used a function for the event {name!r}; hand it in again: "
                                   f"{call}{name}={given['function']['function']})")  # fmt: skip
            rest.pop(name, None)
            given = given | {"function": functions[name]}
        events.append(event_of(given))
    if system is None:
        if recipe["system"]["arguments"].get("n", 0) * L.BODY > len(recipe["state"]):
            raise InvalidInput("the record of this run has more bodies than its state")
        system = rebuild(recipe["system"], rest, call)
    else:
        for key in rest:
            raise unknown_name("function of this run", key, ["(none, for the system is handed in)"])
        name, width = recipe["system"]["name"], L.BODY * system.N + len(system.auxiliary)
        if system.name != name or width > len(recipe["state"]):
            raise InvalidInput(f"this run is of a system {name!r}; {system.name!r} of {system.N} bodies is handed in")
        if "parameters" in recipe:
            system = with_parameters(system, recipe["parameters"])
    chosen = replace(find_method(recipe["method"]), compensated=recipe.get("compensated", False))
    return system, chosen, events


def rebuild(recipe: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], call: str = "rerun(ds, ") -> System:
    """The system of a recipe, with the user's functions handed in again."""
    if recipe["name"] not in SYSTEMS and not call.startswith("rerun"):
        raise InvalidInput(f"no function of polhode builds the system {recipe['name']!r}; hand it in: {call}system=s)")
    if recipe["name"] not in SYSTEMS:
        raise InvalidInput(f"no function of polhode builds the system {recipe['name']!r}; use integrate instead")
    arguments = dict(recipe["arguments"])
    wanted = {key for key, value in arguments.items() if isinstance(value, dict) and "sha256" in value}
    for key in sorted(wanted - set(functions)):
        name = arguments[key]["function"]
        raise InvalidInput(f"this run used a function for {key!r}, {name!r}; hand it in again: {call}{key}={name})")
    for key in sorted(set(functions) - wanted):
        raise unknown_name("function of this run", key, wanted or ["(none)"])
    return built(recipe["name"], arguments, functions)
