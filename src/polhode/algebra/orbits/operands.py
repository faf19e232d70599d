"""The arguments of ``polhode.kepler``: states, gravity parameters, eccentricities, sizes, and how they are checked."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra.vectorised import Operand, numbers, read_vectors, vectors
from polhode.arguments import Array, array
from polhode.errors import InvalidInput

LONGEST = 1e12
"""Largest mean and eccentric anomaly: beyond, double precision loses the phase."""

WIDEST = 700.0  # largest hyperbolic anomaly: beyond, its hyperbolic sine overflows


def refuse(wrong: ArrayLike, name: str, sentence: str) -> None:
    """Raise if any entry is wrong, with the name and, of an array, the index of the first wrong entry."""
    if np.any(wrong):
        index_text = ", ".join(str(int(k)) for k in np.argwhere(wrong)[0]) if np.ndim(wrong) else ""
        raise InvalidInput(f"{name}[{index_text}] {sentence}" if index_text else f"{name} {sentence}")


def refuse_overflow(wrong: ArrayLike) -> None:
    """Raise if a result has overflowed."""
    refuse(wrong, "position", "gives numbers beyond 1e308 with this velocity and mu; choose other units")


def read_mu(value: ArrayLike, name: str) -> Array:
    """Gravity parameters."""
    a = array(value, name, "m**3 / s**2")
    wrong = ~((a > 0.0) & (a < 1e100))
    refuse(wrong, name, "is not positive, or beyond 1e100; it is the gravity parameter G M of the centre")
    return a


def read_position(value: ArrayLike, name: str) -> Array:
    """Positions relative to the centre, not at it."""
    r = read_vectors(value, name, "m")
    refuse((np.abs(r) < 1e-100).all(axis=-1), name, "is at the centre, where the attraction is infinite")
    return r


def read_eccentricity(value: ArrayLike, name: str = "eccentricity", kind: str = "any") -> Array:
    """Eccentricities of an ellipse, of a hyperbola, or any."""
    a = array(value, name)
    if kind == "hyperbola":
        refuse(~(a > 1.0), name, "is not above 1: a hyperbola is meant here")
    elif kind == "ellipse":
        refuse((a < 0.0) | (a >= 1.0), name, "is not in 0 <= e < 1: an ellipse is meant here")
    else:
        refuse(a < 0.0, name, "is negative")
    refuse(a > 1e50, name, "is beyond 1e50")
    return a


def read_sized(value: ArrayLike, name: str, largest: float, unit: str = "") -> Array:
    """Numbers of at most this size."""
    a = array(value, name, unit)
    refuse(np.abs(a) > largest, name, f"is beyond {largest:g}, where double precision has lost it")
    return a


def sized(largest: float, unit: str = "") -> Operand:
    """An argument (...) of at most this size."""
    read = functools.partial(read_sized, largest=largest, unit=unit)
    return Operand(0, read, (-largest, largest))


def read_size(value: ArrayLike, name: str) -> Array:
    """Positive lengths."""
    a = array(value, name, "m")
    refuse(~((a > 1e-100) & (a < 1e100)), name, "is not between 1e-100 and 1e100")
    return a


POSITION, VELOCITY, MU = (
    Operand(3, read_position, (1e-99, 1e100)),
    vectors("m / s"),
    Operand(0, read_mu, (5e-324, 9e99)),
)
TIME, NUMBER = numbers("s"), numbers()
ELLIPSE = Operand(0, functools.partial(read_eccentricity, kind="ellipse"), (0.0, 1.0 - 2.0**-53))
HYPERBOLA = Operand(0, functools.partial(read_eccentricity, kind="hyperbola"), (1.0 + 2.0**-52, 1e50))
