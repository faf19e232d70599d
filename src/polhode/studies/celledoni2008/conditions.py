"""Order conditions and effective errors of splitting schemes, from the definition (appendix C).

One step is a product of exponentials of two letters that do not commute, exp(a1 h A) exp(b1 h B) ...; its logarithm is
h (A + B) + errors. A scheme has order p where all errors up to degree p vanish and one of degree p + 1 does not. The
effective error is s |c|^(1/p), c the coordinates of the errors of degree p + 1 in a basis of the Lie algebra. The
paper does not say which, and the value depends on it, by some per cent. Here it is made of the nested commutators
[x, [y, ... [A, B]]], taken in the order of their words from BB... to AA... as long as they are independent: three of
the four printed values come out to all digits.

Words are letters; ``x[d]`` are the coefficients of all words of length d, in the order of ``words(d)``. In Nystroem
schemes [B,[B,[B,A]]] = 0, so BBBA is rewritten as 3 BBAB - 3 BABB + ABBB until no word has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from math import factorial
from typing import Any

import numpy as np

Real = np.longdouble
Stages = Sequence[tuple[str, float]]
"""Letters and fractions of a step, in their order."""
Polynomial = dict[str, Any]


def times(x: list[Any], y: list[Any]) -> list[Any]:
    """The product of two series."""
    return [sum(np.kron(x[i], y[d - i]) for i in range(d + 1)) for d in range(len(x))]


def step_of(stages: Stages, degree: int) -> list[Any]:
    """The product of the exponentials, up to a degree."""
    whole = [np.zeros(2**d, dtype=Real) for d in range(degree + 1)]
    whole[0][0] = 1
    for letter, c in stages:
        factor = [np.zeros(2**d, dtype=Real) for d in range(degree + 1)]
        for d in range(degree + 1):
            factor[d][0 if letter == "A" else -1] = Real(c) ** d / factorial(d)
        whole = times(whole, factor)
    return whole


def logarithm(x: list[Any]) -> list[Any]:
    """Of a series that begins with 1."""
    rest = [np.zeros_like(x[0]), *x[1:]]
    power, total = rest, [c.copy() for c in rest]
    for k in range(2, len(x)):
        power = times(power, rest)
        total = [a + (-1) ** (k + 1) * b / k for a, b in zip(total, power, strict=True)]
    return total


@cache
def normal_form(word: str) -> tuple[tuple[str, int], ...]:
    """A word modulo [B,[B,[B,A]]], by words without BBBA."""
    at = word.find("BBBA")
    if at < 0:
        return ((word, 1),)
    found: dict[str, int] = {}
    for middle, c in (("BBAB", 3), ("BABB", -3), ("ABBB", 1)):
        for other, factor in normal_form(word[:at] + middle + word[at + 4 :]):
            found[other] = found.get(other, 0) + c * factor
    return tuple(found.items())


def words(degree: int) -> list[str]:
    """In the order of their bits."""
    return ["".join(letters) for letters in product("AB", repeat=degree)]


def errors(stages: Stages, degree: int, nystrom: bool) -> list[Polynomial]:
    """What the logarithm has besides A + B, by degree and word."""
    found: list[Polynomial] = []
    for d, values in enumerate(logarithm(step_of(stages, degree))):
        these: Polynomial = {}
        for word, value in zip(words(d), values, strict=True):
            for other, factor in normal_form(word) if nystrom else ((word, 1),):
                these[other] = these.get(other, Real(0)) + factor * value
        found.append(these)
    found[1] = {word: value - 1 for word, value in found[1].items()}
    return found


def residual(polynomial: Polynomial) -> float:
    """The largest coefficient."""
    return float(max(map(abs, polynomial.values())))


def nested(word: str) -> Polynomial:
    """[x, [y, ... [A, B]]] of a word xy...AB."""
    found: Polynomial = {word[-1]: 1}
    for letter in reversed(word[:-1]):
        forth = {letter + w: v for w, v in found.items()}
        for w, v in found.items():
            forth[w + letter] = forth.get(w + letter, 0) - v
        found = forth
    return found


def basis(degree: int, nystrom: bool) -> tuple[list[str], Any]:
    """Words of independent nested commutators, and these as rows over all words of the degree."""
    places = {word: k for k, word in enumerate(words(degree))}
    chosen: list[str] = []
    rows = np.zeros((0, len(places)))
    for letters in product("BA", repeat=degree - 2):
        row = np.zeros(len(places))
        for word, value in nested("".join(letters) + "AB").items():
            for other, factor in normal_form(word) if nystrom else ((word, 1),):
                row[places[other]] += value * factor
        if np.linalg.matrix_rank(np.vstack([rows, row])) > len(rows):
            chosen, rows = [*chosen, "".join(letters) + "AB"], np.vstack([rows, row])
    return chosen, rows


def coordinates(polynomial: Polynomial, degree: int, nystrom: bool) -> Any:
    """Of an element of the Lie algebra in that basis.

    Raises
    ------
    ValueError
        It is no such element.
    """
    _, rows = basis(degree, nystrom)
    values = np.array([float(polynomial.get(word, 0.0)) for word in words(degree)])
    found = np.linalg.lstsq(rows.T, values, rcond=None)[0]
    if np.abs(rows.T @ found - values).max() > 1e-9 * np.abs(values).max():
        raise ValueError(f"no element of degree {degree} of the Lie algebra")
    return found


def effective_error(stages: Stages, order: int, count: int, nystrom: bool) -> float:
    """s |c|^(1/p) of a scheme of ``count`` stages and order p."""
    leading = errors(stages, order + 1, nystrom)[order + 1]
    size = float(np.linalg.norm(coordinates(leading, order + 1, nystrom)))
    return float(count * size ** (1.0 / order))
