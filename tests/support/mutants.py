"""Spoiled copies of the data of a figure, and what a claim says of them: a verdict that no mutant changes is none."""

from __future__ import annotations

import numpy as np


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
    """Whether the verdict on the mutant is another than the one on the data, or a part of it is."""
    judge = claim_of(figure, words).judge
    before, after = judge(data), judge(mutant(data))
    return decided(before) != decided(after)


def decided(finding):
    """All parts, true or false."""
    return [bool(x) for x in (*finding.parts.values(), *finding.corrected.values())]
