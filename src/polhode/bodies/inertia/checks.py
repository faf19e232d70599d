"""Checks of masses, lengths and tensors of inertia that a user gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.arguments import array, number, vector
from polhode.errors import InvalidInput

Array = NDArray[np.float64]

RELATIVE_TOLERANCE = 1e-9
"""Largest relative violation of symmetry, triangle inequality or unit norm that is accepted in inputs."""

KG_M2 = "kg * m**2"

LARGEST = 1e100
"""Largest mass or length, so that products do not overflow."""

EPSILON = float(np.finfo(float).eps)


def bounded(given: Array | float, name: str, largest: float = LARGEST) -> None:
    if np.size(given) and np.max(np.abs(given)) > largest:
        raise InvalidInput(f"{name} is beyond {largest:g}; check its units")


def mass_from(value: ArrayLike, name: str) -> float:
    mass = number(value, name, "kg", positive=True)
    bounded(mass, name)
    return mass


def length_from(value: ArrayLike, name: str, *, zero: bool = False) -> float:
    length = number(value, name, "m", positive=True, zero=zero)
    bounded(length, name)
    return length


def position_from(value: ArrayLike, name: str) -> Array:
    given = vector(value, name, unit="m")
    bounded(given, name)
    return given


def tensor_from(value: ArrayLike, name: str) -> Array:
    """An exactly symmetric (3, 3) tensor from three moments or a 3x3 tensor."""
    given = array(value, name, KG_M2)
    if given.shape == (3,):
        return np.diag(given)
    if given.shape == (3, 3):
        return symmetric(given, name)
    raise InvalidInput(
        f"{name} must be 3 principal moments or a 3x3 tensor, but its shape is {given.shape}; "
        "for a body with three equal moments write (I, I, I)"
    )


def symmetric(given: Array, name: str) -> Array:
    if given.shape != (3, 3):
        raise InvalidInput(f"{name} must be a 3x3 tensor, but its shape is {given.shape}")
    gap = np.abs(given - given.T)
    i, j = (int(k) for k in np.unravel_index(int(np.argmax(gap)), gap.shape))
    if gap[i, j] > RELATIVE_TOLERANCE * np.max(np.abs(given)):
        raise InvalidInput(
            f"{name} is not symmetric: {name}[{i},{j}] = {float(given[i, j])!r} but {name}[{j},{i}] = "
            f"{float(given[j, i])!r}; give both entries the same value"
        )
    return 0.5 * given + 0.5 * given.T


def check_triangle(moments: Sequence[float], labels: Sequence[str], remedy: str) -> None:
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if moments[k] > (moments[i] + moments[j]) * (1.0 + RELATIVE_TOLERANCE):
            raise InvalidInput(
                f"{labels[k]} = {moments[k]!r} exceeds {labels[i]} + {labels[j]} = {moments[i] + moments[j]!r}, "
                f"which no body can have; {remedy}"
            )
