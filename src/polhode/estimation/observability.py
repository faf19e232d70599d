"""Which directions of the errors of what is free the data determine, and names for those that they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import Array
from polhode.estimation.quantities import Quantity

RANK = 1e-9
"""Singular values of the Jacobian with columns of length 1 below this part of the largest are those of directions that
nothing was measured of: rounding of exact derivatives is 1e-12, and such a direction would be known 1e9 times worse."""
LOST = 10.0
"""Standard deviations beyond this many times the reach of a number (``Problem.reach``) are those of a direction of
which nothing is known."""
SHARE = 1e-3  # components of a direction below this part of its largest are left out of its name
EQUAL = 1e-3  # relative difference below which two sizes count as equal, so that their order decides
ALIKE = 0.01  # how near a change of inertia is to a change of its scale, to be called one


class Directions(NamedTuple):
    """Directions of the errors of n fitted numbers, in units in which every column of the Jacobian has length 1."""

    scale: Array  # (n,): these units
    observable: Array  # (n, r), orthonormal
    sizes: Array  # (r,): their singular values
    null: Array  # (n, n - r), orthonormal: the data say nothing about these

    @property
    def half(self) -> Array:
        """Matrix (n, r) whose product with its transpose is the covariance of the errors, what was not measured being
        held at the guess."""
        return self.scale[:, None] * self.observable / self.sizes


class Unobservable(NamedTuple):
    """A combination of free quantities that the data do not determine.

    Attributes
    ----------
    name : str
        In words.
    direction : dict of str to float
        Changes of the free quantities that change nothing in the data; the largest is 1 or -1.
    """

    name: str
    direction: dict[str, float]

    def __str__(self) -> str:
        return self.name


def directions(J: Array, reach: Array, noise: float = 1.0) -> Directions:
    """Directions from a whitened Jacobian (m, n) by the errors."""
    n = J.shape[1]
    lengths = np.linalg.norm(J, axis=0)
    # A column that is but rounding must not be scaled up.
    scale = np.minimum(1.0 / np.where(lengths > 0.0, lengths, 1.0), LOST * reach)
    # R of the Jacobian has its singular values and is small; rows of zeros where there are fewer data than numbers.
    R = np.linalg.qr(J * scale, mode="r")
    _, sizes, Vt = np.linalg.svd(np.vstack([R, np.zeros((max(0, n - len(R)), n))]))
    rank = int(np.count_nonzero(sizes > RANK * sizes[0])) if sizes.size and sizes[0] > 0.0 else 0
    while rank and noise * np.max(np.abs(scale * Vt[rank - 1]) / (LOST * reach)) > sizes[rank - 1]:
        rank -= 1
    return Directions(scale, Vt[:rank].T, sizes[:rank], Vt[rank:].T)


def unobservable(found: Directions, free: Sequence[Quantity], values: Mapping[str, Any]) -> tuple[Unobservable, ...]:
    """The directions that nothing was measured of, each with as few quantities in it as can be."""
    if not found.null.size:
        return ()
    basis = found.null @ np.linalg.inv(found.null[_independent(found.null)])
    labels = [label for one in free for label in one.labels]
    out = []
    for vector in basis.T:
        told = found.scale * vector
        told[np.abs(vector) < SHARE * np.abs(vector).max()] = 0.0
        told = told / told[_first_of_largest(np.abs(told))]
        changes = {label: float(value) for label, value in zip(labels, told, strict=True) if value != 0.0}
        out.append(Unobservable(_name(changes, free, values), changes))
    return tuple(out)


def _independent(null: Array) -> list[int]:
    """Rows that tell all directions apart: the longest, then what is longest beside it; of equal ones the first."""
    left, few = np.array(null), []
    for _ in range(null.shape[1]):
        sizes = np.linalg.norm(left, axis=1)
        few.append(_first_of_largest(sizes))
        along = left[few[-1]] / sizes[few[-1]]
        left = left - np.outer(left @ along, along)
    return sorted(few)


def _first_of_largest(sizes: Array) -> int:
    return int(np.argmax(sizes >= (1.0 - EQUAL) * sizes.max()))


def scaled_together(
    changes: Mapping[str, float], free: Sequence[Quantity], values: Mapping[str, Any]
) -> dict[str, float]:
    """Values, by their labels, of what an unobservable direction changes in proportion: inertia, alone or with others;
    empty where it is no such scale."""
    held = {label: float(x) for one in free if one.kind != "attitude" and any(name in changes for name in one.labels)
            for label, x in zip(one.labels, one.flat(np.atleast_1d(values[one.name])), strict=True)}  # fmt: skip
    if not set(changes) <= set(held) or not any(one.kind == "inertia" and one.labels[0] in held for one in free):
        return {}
    told, known = np.array([changes.get(label, 0.0) for label in held]), np.array(list(held.values()))
    told, known = told / np.linalg.norm(told), known / np.linalg.norm(known)
    return held if np.linalg.norm(told - np.sign(told @ known) * known) < ALIKE else {}


def _name(changes: dict[str, float], free: Sequence[Quantity], values: Mapping[str, Any]) -> str:
    scaled = scaled_together(changes, free, values)
    if scaled:
        others = [one.name for one in free if one.kind != "inertia" and any(label in scaled for label in one.labels)]
        if others:
            return f"the common scale of inertia and {' and '.join(others)} (only their ratios are determined)"
        return "the common scale of inertia (only ratios of the moments are determined)"
    text = ""
    for label, value in changes.items():
        size = "" if abs(abs(value) - 1.0) < SHARE else f"{abs(value):.3g} "
        text += (" - " if value < 0.0 else " + " if text else "") + size + label
    return text.strip()
