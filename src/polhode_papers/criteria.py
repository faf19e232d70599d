"""Criteria that decide the parts of a claim; each is fixed before the data are seen and worded from its own bounds.

Each function takes the measured value and the bounds and returns a ``Check`` that holds both; a report shows them side
by side. A statement of *equality* gets a lower and an upper bound, which may not be so wide that an order off by one,
or a factor of two, passes: such bounds raise ``ValueError``. A statement of *small* or *large* gets one bound
(``at_most``, ``at_least``). NaN meets no criterion; a
claim of which nothing else was measured is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isinf, nan
from typing import Any

import numpy as np
import scipy

import polhode as ph
from polhode_papers.study import Check

MOST_TOLERANCE, MOST_FACTOR = 0.5, 2.0
"""Limits of the tolerance of an order and of the factor of a ratio, so that the next order or a factor 2 fails."""
POINTS = 3
"""Least number of steps in the asymptotic range for an order to count."""


def count(x: Any) -> float:
    """A count, as an integer; NaN where nothing was counted."""
    return nan if np.isnan(x) else int(x)


def short(x: float) -> str:
    """A bound with four significant digits."""
    return f"{x:.4g}"


# ------------------------------------------------------------------ one number
def within(value: float, low: float, high: float) -> Check:
    """The number lies between two bounds."""
    if not low < high:
        raise ValueError(f"{low} to {high} is no range")
    return Check(f"{short(low)} to {short(high)}", float(value), bool(low <= value <= high))


def at_most(value: float, bound: float) -> Check:
    """The number is small: not above the bound."""
    return Check(f"at most {short(bound)}", float(value), bool(value <= bound))


def at_least(value: float, bound: float) -> Check:
    """The number is large: not below the bound."""
    return Check(f"at least {short(bound)}", float(value), bool(value >= bound))


def ratio_within(ratio: float, expected: float, factor: float) -> Check:
    """The ratio is the expected one to within a factor, which must be between 1 and 2."""
    if not 1.0 < factor < MOST_FACTOR:
        raise ValueError(f"a ratio is judged within a factor between 1 and {MOST_FACTOR:g}, not {factor}")
    return within(ratio, expected / factor, expected * factor)


def share_within(share: float, count: int, of: int, confidence: float = 0.95) -> Check:
    """A share measured over many trials is within the confidence interval of a printed count of few trials.

    Clopper-Pearson interval: each tail has the probability ``(1 - confidence) / 2``.
    """
    tail = (1.0 - confidence) / 2.0
    low = float(scipy.stats.beta.ppf(tail, count, of - count + 1)) if count else 0.0
    high = float(scipy.stats.beta.ppf(1.0 - tail, count + 1, of - count)) if count < of else 1.0
    result = within(share, low, high)
    words = f"{low:.3f} to {high:.3f}, the {confidence:.0%} interval of {count} of {of}"
    return Check(words, result.measured, result.true)


def fewer(less: float, more: float, resolution: int) -> Check:
    """One count is below another; undecided if they differ by ``resolution`` or less, the ambiguity of counting."""
    true = None if abs(less - more) <= resolution else less < more
    return Check(f"fewer by over {resolution}; undecided within", f"{less} against {more}", true)


# ------------------------------------------------------------------ orders
def order_is(found: float, order: float, tolerance: float = 0.1) -> Check:
    """The observed order is the stated one to within a tolerance below 0.5; an infinite order means exact."""
    if isinf(order):
        return Check("exact", float(found), found == order)
    if not 0.0 < tolerance < MOST_TOLERANCE:
        raise ValueError(f"an order is judged within less than {MOST_TOLERANCE:g}, not {tolerance}")
    words = f"order {short(order)}: {short(order - tolerance)} to {short(order + tolerance)}"
    return Check(words, float(found), bool(abs(found - order) <= tolerance))


def order_within(steps: Any, errors: Any, order: float, tolerance: float = 0.1, floor: float = 0.0) -> Check:
    """Errors fall with the stated power of the step, over at least three steps in the asymptotic range.

    Undecided where fewer than three are in it, but false if the errors fall less steeply everywhere: a wrong order or
    none at all shows at large steps too, a right one may not. Errors not above ``floor`` are ignored (round-off).
    """
    h, e = np.asarray(steps, dtype=float), np.asarray(errors, dtype=float)
    judged = order_is(ph.trajectory.convergence.observed_order(h, e, floor), order, tolerance)
    words = f"{judged.criterion}, over {POINTS} steps or more; undecided where fewer tell"
    if ph.trajectory.convergence.asymptotic(h, e, floor).sum() >= POINTS:
        return Check(words, judged.measured, judged.true)
    used = [k for k in np.argsort(h) if np.isfinite(e[k]) and e[k] > max(floor, 0.0)]
    steepest = float((np.diff(np.log(e[used])) / np.diff(np.log(h[used]))).max(initial=-np.inf))
    if -np.inf < steepest < order - MOST_TOLERANCE:
        return Check(words, steepest, False)
    return Check(words, judged.measured, None)


# ------------------------------------------------------------------ many
def every(values: Mapping[str, float], judge: Callable[..., Check], *bounds: float) -> Check:
    """All values meet one criterion, ``judge(value, *bounds)``; reported are the extremes, or else those that fail."""
    checks = {name: judge(value, *bounds) for name, value in values.items()}
    if not checks:
        raise ValueError("nothing to judge")
    (criterion,) = {check.criterion for check in checks.values()}
    wrong = {name: check.measured for name, check in checks.items() if not check}
    ends = {name: values[name] for name in (min(values, key=values.__getitem__), max(values, key=values.__getitem__))}
    return Check(f"{criterion}, each", wrong or ends, not wrong)


def rising(values: Mapping[str, float], by: float = 1.0) -> Check:
    """The values increase in this order, each more than ``by`` times the one before."""
    names, numbers = list(values), np.array([float(x) for x in values.values()])
    true = bool((numbers[1:] > by * numbers[:-1]).all()) and bool(np.isfinite(numbers).all())
    words = " < ".join(names) + (f", each by more than {short(by)} times" if by != 1.0 else "")
    return Check(words, dict(zip(names, map(float, numbers), strict=True)), true)


def falling(values: Any) -> Check:
    """The values fall from each to the next; reported is the largest change."""
    largest = float(np.diff(np.asarray(values, dtype=float)).max(initial=-np.inf))
    return Check("every change below 0", largest, np.isfinite(largest) and largest < 0.0)


def fact(true: bool, criterion: str, measured: Any = "") -> Check:
    """A yes-or-no fact, such as which of several comes first."""
    return Check(criterion, measured, bool(true))
