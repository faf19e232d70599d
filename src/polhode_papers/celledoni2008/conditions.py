"""Order conditions and effective errors of splitting schemes, from the definition (appendix C).

One step is a product of exponentials of two noncommuting operators, exp(a1 h A) exp(b1 h B) ...; its logarithm is
h (A + B) + errors. A scheme has order p if all error terms up to degree p vanish and one of degree p + 1 does not. The
effective error is s |c|^(1/p) for s stages, with c the coordinates of the errors of degree p + 1 in a basis of the Lie
algebra. The paper does not name the basis, on which the value depends by some per cent. Here it is the nested
commutators [x, [y, ... [A, B]]], taken in the order BB... to AA... if independent of those before; this reproduces
three of the four printed values to all digits.

A word is a product of letters A, B; ``x[d]`` holds the coefficients of all words of length d, in the order of
``words(d)``. For Nystroem schemes [B,[B,[B,A]]] = 0, so BBBA is replaced by 3 BBAB - 3 BABB + ABBB in every word.
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
"""Letters and fractions of a step, in order of application."""
Polynomial = dict[str, Any]


def times(x: list[Any], y: list[Any]) -> list[Any]:
    """Product of two series."""
    return [sum(np.kron(x[i], y[d - i]) for i in range(d + 1)) for d in range(len(x))]


def step_of(stages: Stages, degree: int) -> list[Any]:
    """Series of the product of exponentials, up to a degree."""
    whole = [np.zeros(2**d, dtype=Real) for d in range(degree + 1)]
    whole[0][0] = 1
    for letter, c in stages:
        factor = [np.zeros(2**d, dtype=Real) for d in range(degree + 1)]
        for d in range(degree + 1):
            factor[d][0 if letter == "A" else -1] = Real(c) ** d / factorial(d)
        whole = times(whole, factor)
    return whole


def logarithm(x: list[Any]) -> list[Any]:
    """Logarithm of a series that begins with 1."""
    rest = [np.zeros_like(x[0]), *x[1:]]
    power, total = rest, [c.copy() for c in rest]
    for k in range(2, len(x)):
        power = times(power, rest)
        total = [a + (-1) ** (k + 1) * b / k for a, b in zip(total, power, strict=True)]
    return total


@cache
def normal_form(word: str) -> tuple[tuple[str, int], ...]:
    """A word modulo [B,[B,[B,A]]], as words without BBBA and their coefficients."""
    at = word.find("BBBA")
    if at < 0:
        return ((word, 1),)
    results: dict[str, int] = {}
    for middle, c in (("BBAB", 3), ("BABB", -3), ("ABBB", 1)):
        for other, factor in normal_form(word[:at] + middle + word[at + 4 :]):
            results[other] = results.get(other, 0) + c * factor
    return tuple(results.items())


def words(degree: int) -> list[str]:
    """All words of a degree, in binary order with A = 0, B = 1."""
    return ["".join(letters) for letters in product("AB", repeat=degree)]


def errors(stages: Stages, degree: int, nystrom: bool) -> list[Polynomial]:
    """Logarithm minus (A + B): error coefficients by degree and word."""
    results: list[Polynomial] = []
    for d, values in enumerate(logarithm(step_of(stages, degree))):
        these: Polynomial = {}
        for word, value in zip(words(d), values, strict=True):
            for other, factor in normal_form(word) if nystrom else ((word, 1),):
                these[other] = these.get(other, Real(0)) + factor * value
        results.append(these)
    results[1] = {word: value - 1 for word, value in results[1].items()}
    return results


def residual(polynomial: Polynomial) -> float:
    """Largest absolute coefficient."""
    return float(max(map(abs, polynomial.values())))


def nested(word: str) -> Polynomial:
    """The commutator [x, [y, ... [A, B]]] of a word xy...AB, expanded."""
    results: Polynomial = {word[-1]: 1}
    for letter in reversed(word[:-1]):
        forth = {letter + w: v for w, v in results.items()}
        for w, v in results.items():
            forth[w + letter] = forth.get(w + letter, 0) - v
        results = forth
    return results


def basis(degree: int, nystrom: bool) -> tuple[list[str], Any]:
    """Words of independent nested commutators, and their coefficients as rows over all words of the degree."""
    positions = {word: k for k, word in enumerate(words(degree))}
    chosen: list[str] = []
    rows = np.zeros((0, len(positions)))
    for letters in product("BA", repeat=degree - 2):
        row = np.zeros(len(positions))
        for word, value in nested("".join(letters) + "AB").items():
            for other, factor in normal_form(word) if nystrom else ((word, 1),):
                row[positions[other]] += value * factor
        if np.linalg.matrix_rank(np.vstack([rows, row])) > len(rows):
            chosen, rows = [*chosen, "".join(letters) + "AB"], np.vstack([rows, row])
    return chosen, rows


def coordinates(polynomial: Polynomial, degree: int, nystrom: bool) -> Any:
    """Coordinates of an element of the Lie algebra in ``basis``; ValueError for what is not in the algebra."""
    _, rows = basis(degree, nystrom)
    values = np.array([float(polynomial.get(word, 0.0)) for word in words(degree)])
    result = np.linalg.lstsq(rows.T, values, rcond=None)[0]
    if np.abs(rows.T @ result - values).max() > 1e-9 * np.abs(values).max():
        raise ValueError(f"no element of degree {degree} of the Lie algebra")
    return result


def effective_error(stages: Stages, order: int, count: int, nystrom: bool) -> float:
    """Effective error s |c|^(1/p) of a scheme with s = ``count`` stages and order p."""
    leading = errors(stages, order + 1, nystrom)[order + 1]
    size = float(np.linalg.norm(coordinates(leading, order + 1, nystrom)))
    return float(count * size ** (1.0 / order))
