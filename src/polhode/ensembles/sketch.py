"""Quantiles of any number of members in a fixed memory: the mergeable sketch of Munro and Paterson.

A sketch keeps, at every row, values that stand for 1, 2, 4, ... members each. Up to ``2 size - 1`` members all values
are kept, and quantiles are exact. Where two full sets of ``size`` values of one weight w meet, the 2 ``size`` sorted
values are halved: every other one stays and stands for 2 w members, beginning with the first or the second by turns
[munro1980] [manku1998]. Each halving changes the rank of a value by at most w, so among N members ranks are right to
log2(N / size) / (2 size) of N; errors of neighbouring halvings have opposite signs, and typical ones are much smaller
(docs: Ensembles). Nothing is random, and merging in the same order gives the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import Array


class Sketch(NamedTuple):
    """Values of some members."""

    first: int  # number of the first member
    members: int  # how many there are, with those that have no value
    levels: dict[int, Array]  # of each weight, values (m, rows, ...); nan where there is none
    error: float  # bound of the error of ranks, in members


def of_batch(values: Array, first: int) -> Sketch:
    """A sketch of values (members, rows, ...); those that are not finite count for nothing."""
    return Sketch(first, len(values), {1: np.where(np.isfinite(values), values, np.nan)}, 0.0)


def merged(a: Sketch, b: Sketch, size: int) -> Sketch:
    """A sketch of two groups, ``b`` the one behind ``a``."""
    members, error = a.members + b.members, a.error + b.error
    levels: dict[int, Array] = {}
    for weight in sorted({*a.levels, *b.levels}):
        parts = [levels[weight]] if weight in levels else []
        parts += [part.levels[weight] for part in (a, b) if weight in part.levels]
        values = np.concatenate(parts) if len(parts) > 1 else parts[0]
        if len(values) < 2 * size:
            levels[weight] = values
            continue
        values = np.sort(values, axis=0)  # nan last
        pairs = len(values) // 2
        second = a.first // members % 2
        levels[2 * weight] = values[second : 2 * pairs : 2]
        if len(values) % 2:
            levels[weight] = values[-1:]
        error += weight
    return Sketch(a.first, members, levels, error)


def quantiles(sketch: Sketch, q: Any) -> Array:
    """Quantiles (len(q), rows, ...), linear between neighbouring values as ``numpy.quantile``; nan without values."""
    values = np.concatenate([*sketch.levels.values()])
    weights = np.concatenate([np.full(len(part), float(w)) for w, part in sketch.levels.items()])
    columns = values.reshape(len(values), -1)
    out = np.full((len(q), columns.shape[1]), np.nan)
    for k in range(columns.shape[1]):
        there = np.isfinite(columns[:, k])
        if not there.any():
            continue
        order = np.argsort(columns[there, k], kind="stable")
        sizes = weights[there][order]
        total = sizes.sum()
        # Each value lies in the middle of the members it stands for; those are numbered from 0 to total - 1.
        ranks = np.cumsum(sizes) - 0.5 * (sizes + 1.0)
        out[:, k] = np.interp(np.multiply(q, total - 1.0), ranks, columns[there, k][order])
    return out.reshape(len(q), *values.shape[1:])
