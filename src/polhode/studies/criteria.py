"""Criteria that decide the parts of a claim; each is fixed before the data are seen and worded from its own bounds.

Each function takes the measured value and the bounds and returns a ``Check`` that holds both; a report shows them side
by side. A statement of *equality* gets a lower and an upper bound, which may not be so wide that an order off by one,
or a factor of two, passes: such bounds raise ``ValueError``. A statement of *small* or *large* gets one bound
(``at_most``, ``at_least``). NaN meets no criterion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isinf
from typing import Any

import numpy as np
from scipy.stats import beta

from polhode.studies.study import Check
from polhode.trajectory.convergence import asymptotic, observed_order

MOST_TOLERANCE, MOST_FACTOR = 0.5, 2.0
"""Limits of the tolerance of an order and of the factor of a ratio, so that the next order or a factor 2 fails."""
POINTS = 3
"""Least number of steps in the asymptotic range for an order to count."""


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
    low = float(beta.ppf(tail, count, of - count + 1)) if count else 0.0
    high = float(beta.ppf(1.0 - tail, count + 1, of - count)) if count < of else 1.0
    result = within(share, low, high)
    words = f"{low:.3f} to {high:.3f}, the {confidence:.0%} interval of {count} of {of}"
    return Check(words, result.measured, result.true)


def fewer(less: int, more: int, resolution: int) -> Check:
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

    Parameters
    ----------
    steps, errors : array_like (n,)
        Step sizes in any order, and errors.
        floor : float
            Errors not above this are ignored (round-off).
    """
    judged = order_is(observed_order(steps, errors, floor), order, tolerance)
    points = int(asymptotic(steps, errors, floor).sum())
    words = f"{judged.criterion}, over {POINTS} steps or more"
    return Check(words, judged.measured, judged.true and points >= POINTS)


# ------------------------------------------------------------------ many
def every(values: Mapping[str, float], judge: Callable[[float], Check]) -> Check:
    """All values meet one criterion; reported are the smallest and the largest, or else those that fail."""
    checks = {name: judge(value) for name, value in values.items()}
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


def fact(true: bool, criterion: str, measured: Any = "") -> Check:
    """A yes-or-no fact, such as which of several comes first."""
    return Check(criterion, measured, bool(true))
