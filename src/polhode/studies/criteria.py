"""Criteria of judges: each is stated before the data are seen, and its words are made from the numbers it uses.

A function takes what was measured and the criterion, and returns a ``Check``: true or false, with both in it. A report
shows them side by side. What a paper says to be *equal* has two sides here, and no side may be so wide that an order
off by one, or a factor of two, passes: such a criterion is refused where it is written. What a paper says to be *small*
or *large* has one (``at_most``, ``at_least``). A measurement that is not a number fulfils nothing.
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
"""Of an order, and of a ratio: a criterion must be below, so that the neighbouring order and twice the value fail."""
POINTS = 3
"""Steps on the straight line from which an order is read, at least."""


def short(x: float) -> str:
    """A bound as a person writes it."""
    return f"{x:.4g}"


# ------------------------------------------------------------------ one number
def within(value: float, low: float, high: float) -> Check:
    """A number between two bounds."""
    if not low < high:
        raise ValueError(f"{low} to {high} is no range")
    return Check(f"{short(low)} to {short(high)}", float(value), bool(low <= value <= high))


def at_most(value: float, bound: float) -> Check:
    """A number that a claim says is small."""
    return Check(f"at most {short(bound)}", float(value), bool(value <= bound))


def at_least(value: float, bound: float) -> Check:
    """A number that a claim says is large."""
    return Check(f"at least {short(bound)}", float(value), bool(value >= bound))


def ratio_within(ratio: float, expected: float, factor: float) -> Check:
    """A ratio that is the expected one within a factor, which is below 2."""
    if not 1.0 < factor < MOST_FACTOR:
        raise ValueError(f"a ratio is judged within a factor between 1 and {MOST_FACTOR:g}, not {factor}")
    return within(ratio, expected / factor, expected * factor)


def share_within(share: float, count: int, of: int, confidence: float = 0.95) -> Check:
    """A share of many trials that agrees with a printed count of few: it is in the confidence interval of the count.

    The interval is Clopper and Pearson's: shares beyond it give such a count, or one further off, less often than
    half of ``1 - confidence``.
    """
    tail = (1.0 - confidence) / 2.0
    low = float(beta.ppf(tail, count, of - count + 1)) if count else 0.0
    high = float(beta.ppf(1.0 - tail, count + 1, of - count)) if count < of else 1.0
    found = within(share, low, high)
    words = f"{low:.3f} to {high:.3f}, the {confidence:.0%} interval of {count} of {of}"
    return Check(words, found.measured, found.true)


def fewer(less: int, more: int, resolution: int) -> Check:
    """A count that is below another; undecided where they differ by no more than ways of counting do."""
    true = None if abs(less - more) <= resolution else less < more
    return Check(f"fewer by over {resolution}; undecided within", f"{less} against {more}", true)


# ------------------------------------------------------------------ orders
def order_is(found: float, order: float, tolerance: float = 0.1) -> Check:
    """An observed order that is the stated one within a tolerance, which is below a half; infinite: exact."""
    if isinf(order):
        return Check("exact", float(found), found == order)
    if not 0.0 < tolerance < MOST_TOLERANCE:
        raise ValueError(f"an order is judged within less than {MOST_TOLERANCE:g}, not {tolerance}")
    words = f"order {short(order)}: {short(order - tolerance)} to {short(order + tolerance)}"
    return Check(words, float(found), bool(abs(found - order) <= tolerance))


def order_within(steps: Any, errors: Any, order: float, tolerance: float = 0.1, floor: float = 0.0) -> Check:
    """Errors that fall with the stated power of the step, over three steps or more on a straight line.

    Parameters
    ----------
    steps, errors : array_like (n,)
        Step sizes in any order, and errors.
    floor : float
        Errors that are not larger say nothing.
    """
    judged = order_is(observed_order(steps, errors, floor), order, tolerance)
    points = int(asymptotic(steps, errors, floor).sum())
    words = f"{judged.criterion}, over {POINTS} steps or more"
    return Check(words, judged.measured, judged.true and points >= POINTS)


# ------------------------------------------------------------------ many
def every(values: Mapping[str, float], judge: Callable[[float], Check]) -> Check:
    """All values fulfil one criterion; shown are the two that come nearest to failing, or fail."""
    checks = {name: judge(value) for name, value in values.items()}
    if not checks:
        raise ValueError("nothing to judge")
    (criterion,) = {check.criterion for check in checks.values()}
    wrong = {name: check.measured for name, check in checks.items() if not check}
    ends = {name: values[name] for name in (min(values, key=values.__getitem__), max(values, key=values.__getitem__))}
    return Check(f"{criterion}, each", wrong or ends, not wrong)


def rising(values: Mapping[str, float], by: float = 1.0) -> Check:
    """Values in this order from small to large, each larger than the one before by more than a factor."""
    names, numbers = list(values), np.array([float(x) for x in values.values()])
    true = bool((numbers[1:] > by * numbers[:-1]).all()) and bool(np.isfinite(numbers).all())
    words = " < ".join(names) + (f", each by more than {short(by)} times" if by != 1.0 else "")
    return Check(words, dict(zip(names, map(float, numbers), strict=True)), true)


def fact(true: bool, criterion: str, measured: Any = "") -> Check:
    """Something that is or is not so, such as which of several is the first."""
    return Check(criterion, measured, bool(true))
