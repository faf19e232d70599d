"""Spoiled copies of the data of a figure, and what a claim says of them: a verdict that no mutant changes is none."""

from __future__ import annotations

from itertools import product

import numpy as np

from polhode_papers.celledoni2008 import theta


def scaled(data, variable, by=2.0, **where):
    """A factor on some values of a variable."""
    values = data[variable].astype(float).copy()
    values.loc[where] = values.sel(where) * by
    return data.assign({variable: values})


def order_off(data, variable, by=1, step="step", **where):
    """Errors that fall with a power of the step that is off by one; the error at the largest step stays.

    ``step`` is the name of the steps, or what they are proportional to.
    """
    values = data[variable].astype(float).copy()
    h = data[step] if isinstance(step, str) else step
    values.loc[where] = (values * (h / h.max()) ** by).sel(where).transpose(*values.sel(where).dims)
    return data.assign({variable: values})


def put(data, variable, value, **where):
    """A value in the place of some."""
    values = data[variable].astype(np.asarray(value).dtype if data[variable].dtype.kind in "ib" else float).copy()
    values.loc[where] = value
    return data.assign({variable: values})


def claim_of(figure, words):
    """The one claim of a figure that has these words."""
    (found,) = [claim for claim in figure.claims if words in claim.text]
    return found


def flips(figure, words, data, mutant):
    """Whether a part of the verdict on the mutant is another than on the data."""
    judge = claim_of(figure, words).judge
    before, after = judge(data), judge(mutant(data))
    return decided(before) != decided(after)


def decided(finding):
    """All parts, true, false or undecided, and whether anything was measured."""
    parts = (*finding.parts.values(), *finding.corrected.values())
    return [check.true for check in parts], finding.verdict


def decided_or_not(claim, mutant):
    """As ``decided``; None for a mutant that has no numbers to divide by, or none left to choose from."""
    try:
        with np.errstate(all="ignore"):
            return decided(claim.judge(mutant))
    except (ArithmeticError, ValueError):
        return None


def blank(data, word=""):
    """Nothing was measured: NaN in the place of all numbers, a word in that of all words."""
    variables = {
        name: (v.dims, np.full(v.shape, word) if v.dtype.kind in "UOS" else np.full(v.shape, np.nan))
        for name, v in data.data_vars.items()
    }
    return data.assign(variables).assign_attrs(dict.fromkeys(measured_attributes(data), "nan"))


def measured_attributes(data):
    """Attributes that are numbers, but for the digits of long doubles, which are a property of the machine."""

    def is_number(x):
        try:
            return bool(str(float(x)))
        except ValueError:
            return False

    return [name for name, x in data.attrs.items() if is_number(x) and name != theta.REMARK]


def spoilt(data):
    """Copies with values of one or of all variables scaled, reversed, or turned into values that do not change."""
    names = [name for name, v in data.data_vars.items() if v.dtype.kind in "fib"]

    def of(name, how):
        v = data[name]
        x = v.values.astype(float)
        return (v.dims, how(x) if x.size else x)

    ways = {
        "up": lambda x: 1e12 * x + 1e3, "down": lambda x: 1e-12 * x, "negative": lambda x: -x - 1e3,
        "flat": lambda x: np.full_like(x, 0.7), "one": lambda x: np.full_like(x, 1.0), "none": np.zeros_like,
        "reversed": lambda x: x.ravel()[::-1].reshape(x.shape), "large": lambda x: np.full_like(x, 1e3),
        "mixed": lambda x: np.random.default_rng(0).permutation(x.ravel()).reshape(x.shape),
        "wild": lambda x: x * 10.0 ** np.random.default_rng(1).normal(0.0, 8.0, x.shape),
        "half up": lambda x: x * np.where(np.arange(x.shape[0]) % 2, 1e6, 1e-6).reshape(-1, *[1] * (x.ndim - 1)),
    }  # fmt: skip
    for how in ways.values():
        yield data.assign({name: of(name, how) for name in names})
    for name, how in product(names, ways.values()):
        yield data.assign({name: of(name, how)})
    for word in ("", "completed"):
        words = {name: (v.dims, np.full(v.shape, word)) for name, v in data.data_vars.items() if v.dtype.kind in "UOS"}
        yield data.assign(words)
    for number in ("0", "1e9"):
        yield data.assign_attrs(dict.fromkeys(measured_attributes(data), number))


def blind_claims(figure, data):
    """The claims of a figure whose verdict does not change when nothing was measured, or when anything was."""
    blind = []
    for claim in figure.claims:
        before = decided(claim.judge(data))
        nothing = [claim.judge(blank(data, word)) for word in ("", "completed")]
        if all(decided(found) == before for found in nothing):
            blind.append(f"{claim.text}: the same verdict on nothing")
        elif all(decided_or_not(claim, mutant) == before for mutant in spoilt(data)):
            blind.append(f"{claim.text}: the same verdict on anything")
    return blind
