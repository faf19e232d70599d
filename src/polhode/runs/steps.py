"""How the steps of a run are taken: of one size, by a tolerance, or by the motion; and the rows that are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import copysign, inf, isfinite
from typing import Any, cast

import numpy as np

from polhode.arguments import Array, has_quantity, number, numbers, whole as whole_number
from polhode.errors import InvalidInput

TIGHTEST = 1e-17
FLOOR = 1e-3
"""Smallest rtol; the default of atol in units of it."""
MOST_STEPS = 10_000_000
EPSILON = 2.0**-52
COUNTABLE = 10**15
"""Most steps of one size: beyond it the times of two steps in a row are hardly told apart."""
RESOLVED = 1e4
"""Fewest roundings of the time in a step: what times of rows and stages are off by is then below 1e-4 of it."""
LARGEST = 1e100
"""Times and steps beyond this or below its inverse over- or underflow when they are squared."""
MOST = 2**62
"""Largest number of steps: what is counted has 64 bits."""


@dataclass(frozen=True)
class FixedStep:
    """Steps of one size."""

    step: float  # their size, positive
    steps: int | None  # how many
    backwards: bool = False  # whether they go back in time

    def __post_init__(self) -> None:
        keep(self, step=number(self.step, "step"), steps=_counted(self.steps), backwards=bool(self.backwards))
        if not self.step > 0.0:
            raise InvalidInput(
                f"step is {self.step:g}; it must be positive (to run backwards in time, give t_end before the start)"
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
        Relative part, below 1; of attitudes in rad. From 1e-14, where round-off of an estimate begins; of ``taylor``,
        whose estimate is a term of a series, from 1e-17.
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
            raise InvalidInput(f"rtol is {rtol:g}; it must be at least {TIGHTEST:g}, far below round-off, and below 1")
        keep(self, rtol=rtol)
        for name, unit in (("atol", ""), ("first_step", "s"), ("max_step", "s")):
            value = getattr(self, name)
            if value is None:
                continue
            size = number(value, name, unit)
            if not size > 0.0:
                raise InvalidInput(f"{name} is {size:g}; it must be positive")
            if not has_quantity(value):  # a quantity becomes a number where the units of the run are known
                keep(self, **{name: size})
        keep(self, max_steps=whole_number(self.max_steps, "max_steps", 1))

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


def keep(record: object, **values: object) -> None:
    """Set attributes of a frozen record that is being made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)


def _counted(given: object) -> int | None:
    """A number of steps, checked; none where they are not counted."""
    if given is None:
        return None
    steps = int(whole_number(given, "steps", -(2**53)))
    if steps < 0:
        raise InvalidInput(f"steps is {steps}; it must not be negative (to run backwards, give t_end before the start)")
    if steps > MOST:
        raise InvalidInput("steps is more than 2^62, which no run takes")
    if steps > COUNTABLE:
        raise InvalidInput(f"steps is {steps:g}, more than can be counted; give at most {COUNTABLE:g}")
    return steps


def span(
    step: Any, t_end: float | None, steps: int | None, t0: float, kind: type[FixedStep] = FixedStep
) -> tuple[FixedStep, float]:
    """The steps of one size, and the start time, from what the user gave; each of them is checked here, once."""
    made, start = kind(step, steps), number(t0, "time")
    if (t_end is None) == (steps is None):
        raise InvalidInput("give either t_end or steps, the one or the other")
    if steps is not None:
        return made, start
    end, h = number(t_end, "t_end"), made.step
    ratio = abs(end - start) / h
    if not ratio <= COUNTABLE:
        raise InvalidInput(
            f"from the start to t_end is {end - start:g}, {ratio:g} steps of {h:g}, more than can be counted; give an "
            "earlier t_end or a larger step"
        )
    n = round(ratio)
    if abs(ratio - n) > 1e-9 * max(1.0, ratio):
        better = abs(end - start) / max(1, n)
        raise InvalidInput(
            f"from the start to t_end is {end - start:g}, {ratio:.9g} steps of {h:g}; the nearest step that fits is "
            f"{better!r}"
        )
    keep(made, steps=n, backwards=end < start)
    return made, start


def planned(
    given: Mapping[str, Any], time_transformed: bool, own: tuple[float, float] | None = None
) -> tuple[Steps, float, float | None]:
    """``plan`` with times that tell its steps apart."""
    steps, t0, t_end = plan(given, time_transformed, own)
    final = steps.final(t0, t_end)
    size, what = (abs(final - t0), "the run up to t_end") if isinstance(steps, Tolerance) else (steps.step, "step")
    counted = type(steps) is not TimeTransformed or t_end is not None  # else nobody knows when it ends
    furthest = max(abs(t0), abs(final) if counted else 0.0)
    check_told_apart(size, what, furthest)
    return steps, t0, t_end


def check_told_apart(size: float, what: str, furthest: float) -> None:
    """Refuse a step, or another span, of which the times up to the furthest from zero have too few roundings."""
    for time, called in ((size, what), (furthest, "the end or start of the run")):
        if time and not 1.0 / LARGEST <= time <= LARGEST:
            raise InvalidInput(f"{called} is {time:g}, beyond {1.0 / LARGEST:g} to {LARGEST:g}, where squares over- or "
                               "underflow; choose another unit of time")  # fmt: skip
    if 0.0 < size < RESOLVED * EPSILON * furthest:
        raise InvalidInput(f"{what} is {size:g} at times near {furthest:g}, which numbers tell apart by "
                           f"{EPSILON * furthest:.2g}, less than {RESOLVED:g} of them to it; count the time from an "
                           "instant near the start, which settings={'epoch': ...} names")  # fmt: skip


def plan(
    given: Mapping[str, Any], time_transformed: bool, own: tuple[float, float] | None = None
) -> tuple[Steps, float, float | None]:
    """How steps are taken, the start time, and the end where steps of one size do not say it."""
    step, t_end, steps, t0 = (given.get(name) for name in ("step", "t_end", "steps", "time"))
    t0 = 0.0 if t0 is None else t0
    if own is not None and step is None and not isinstance(steps, Tolerance):
        if steps is not None:
            raise InvalidInput("with a tolerance the steps are not counted beforehand; give t_end and no steps")
        steps = Tolerance(*own)
    if (step is not None) == isinstance(steps, Tolerance):
        raise InvalidInput(
            "give either step, the size of all steps, or a tolerance by which they are chosen: "
            "steps=polhode.Tolerance(1e-9)"
        )
    if isinstance(steps, Tolerance):
        if t_end is None:
            raise InvalidInput("with a tolerance the steps are not counted beforehand; give t_end")
        if steps.atol is None:
            steps = replace(steps, atol=steps.rtol * FLOOR if own is None else own[1])
        return steps, number(t0, "time"), number(t_end, "t_end")
    kind = TimeTransformed if time_transformed else FixedStep
    if not time_transformed or t_end is None or steps is not None:
        return *span(step, t_end, steps, t0, kind), None
    made, start = span(step, None, 0, t0, kind)
    end = number(t_end, "t_end")
    keep(made, steps=None, backwards=end < start)
    return made, start, end


def grid(steps: Steps, t0: float, t_end: float | None) -> tuple[float, int]:
    """Signed step and number of steps; chosen ones count as one step, or none where the span is empty."""
    if type(steps) is FixedStep:
        return steps.h, cast(int, steps.steps)
    length = steps.final(t0, t_end) - t0
    return (length, 1) if length else (1.0, 0)


# ------------------------------------------------------------------ the rows
@dataclass(frozen=True)
class Recording:
    """Which states are recorded: those after every so many steps, or those at given times."""

    every: int = 1  # steps from one row to the next
    t_eval: tuple[float, ...] | None = None  # the times

    @classmethod
    def of(cls, every: object, t_eval: object, steps: Steps, t0: float, t_end: float | None) -> Recording:
        """The recording of a run by these steps from a time on, checked."""
        every = whole_number(every, "every", 1, MOST)
        return cls(
            every, None if t_eval is None else tuple(sample_times(t_eval, every, t0, *grid(steps, t0, t_end)).tolist())
        )

    def to_json(self) -> dict[str, Any]:
        """Itself in JSON's types."""
        return {"every": self.every, "t_eval": None if self.t_eval is None else list(self.t_eval)}


def times_asked_for(t_eval: object) -> Array:
    times = numbers(t_eval, "t_eval", "")
    if not times.size:
        raise InvalidInput("t_eval must be a flat sequence of at least one finite time")
    return times


def sample_times(t_eval: object, every: int, start: float, h: float, n: int) -> Array:
    if not isfinite(h):
        raise InvalidInput(
            "with t_eval give t_end: it is not known when a number of steps with a time transformation ends"
        )
    if every != 1:
        raise InvalidInput("every and t_eval are both given; t_eval alone says what is recorded")
    times = times_asked_for(t_eval)
    if (np.diff(times if h > 0.0 else -times) < 0).any():
        raise InvalidInput("t_eval must be in the order of the run: times must not go back")
    with np.errstate(over="ignore"):  # of times far beyond the end
        along = (times[[0, -1]] - start) / h
    if along[0] < 0 or along[-1] > n * (1 + 1e-12):
        raise InvalidInput(
            f"t_eval must lie between the start of the run, t = {start:g}, and its end, {start + n * h:g}"
        )
    return times


def checked_breaks(breaks: object, start: float, end: float | None) -> list[float]:
    """Times at which loads jump, in the order of numbers; an unknown end is no limit."""
    if type(breaks) is tuple and not breaks:
        return []
    times = numbers(breaks, "breaks", "")
    low, high = (start, inf) if end is None else (min(start, end), max(start, end))
    for t in times:
        if not low <= t <= high:
            raise InvalidInput(f"breaks has t = {t:g}, outside of the run from t = {low:g} to {high:g}; leave it out")
    return sorted(set(times.tolist()))
