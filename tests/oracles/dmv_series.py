"""The series of the preprocessed discrete Moser-Veselov map, derived from nothing but the equations of motion.

    python tests/oracles/dmv_series.py

prints s3, t3 ... s9, t9. Everything is exact: rational bodies and momenta, truncated power series, linear algebra over
the rationals. Let e(h) be the Cayley vector of the exact rotation over a step h. The map makes this rotation when its
modified moments fulfil

    1/I~_j = 2 e_j / (h Y_j),    Y = m - e x m + (e . m) e,

and these turn out to be S/I_j + T with the same even series S, T for the three axes [Hairer & Vilmart 2006]. The
coefficient of h^2k is a polynomial of degree k in the energy H and in C = |m|^2/2; its coefficients are polynomials in
the symmetric functions of the inverse moments a_j,

    p = a1 a2 + a2 a3 + a3 a1,    r = a1 a2 a3,    a1 + a2 + a3 = 1    (a choice of units).

They are found from samples, more than there are unknowns; an answer that does not fit all of them is an error.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

ORDERS = 4  # h^2 ... h^8


class Polynomial:
    """With rational coefficients: ``terms`` maps sorted tuples of (variable, exponent) to them."""

    def __init__(self, terms):
        self.terms = {k: v for k, v in terms.items() if v != 0}

    def __add__(self, other):
        total = dict(self.terms)
        for k, v in lifted(other).terms.items():
            total[k] = total.get(k, 0) + v
        return Polynomial(total)

    def __mul__(self, other):
        total = {}
        for a, x in self.terms.items():
            for b, y in lifted(other).terms.items():
                exponents = dict(a)
                for name, n in b:
                    exponents[name] = exponents.get(name, 0) + n
                key = tuple(sorted(exponents.items()))
                total[key] = total.get(key, 0) + x * y
        return Polynomial(total)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -lifted(other)

    def __rsub__(self, other):
        return lifted(other) - self

    def __eq__(self, other):
        return self.terms == lifted(other).terms

    __radd__, __rmul__, __hash__ = __add__, __mul__, None

    def __repr__(self):
        powers = ["".join(f" {name}^{n}" for name, n in key) for key in self.terms]
        return " + ".join(f"{v}{power}" for v, power in zip(self.terms.values(), powers, strict=True)) or "0"


def lifted(value):
    """A number as a polynomial."""
    return value if isinstance(value, Polynomial) else Polynomial({(): Fraction(value)})


def variable(name):
    """A variable as a polynomial."""
    return Polynomial({((name, 1),): Fraction(1)})


# ------------------------------------------------------------------ power series in h: lists of coefficients
def coefficient(a, b, n):
    """The n-th of the product."""
    return sum(a[i] * b[n - i] for i in range(n + 1))


def product(a, b):
    return [coefficient(a, b, n) for n in range(min(len(a), len(b)))]


def quotient(a, b):
    out = []
    for n in range(min(len(a), len(b))):
        out.append((a[n] - sum(out[i] * b[n - i] for i in range(n))) / b[0])
    return out


def plus(*series):
    return [sum(terms) for terms in zip(*series, strict=True)]


def times(number, a):
    return [number * x for x in a]


def rotation(a, m, count):
    """Cayley vector of the exact rotation, three series: m' = m x a m, q' = q (0, a m)/2 from q = 1."""
    y = [[Fraction(x)] for x in m]
    q = [[Fraction(x)] for x in (1, 0, 0, 0)]
    for n in range(count):
        w = [times(a[k], y[k]) for k in range(3)]
        gain = []
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            gain.append((coefficient(y[i], w[j], n) - coefficient(y[j], w[i], n)) / (n + 1))
        turn = [
            -sum(coefficient(q[k + 1], w[k], n) for k in range(3)),
            *(
                coefficient(q[0], w[k], n)
                + coefficient(q[(k + 1) % 3 + 1], w[(k + 2) % 3], n)
                - coefficient(q[(k + 2) % 3 + 1], w[(k + 1) % 3], n)
                for k in range(3)
            ),
        ]
        for k in range(3):
            y[k].append(gain[k])
        for k in range(4):
            q[k].append(turn[k] / (2 * (n + 1)))
    return [quotient(q[k + 1], q[0]) for k in range(3)]


def modified(a, m):
    """Coefficients of h^2, h^4 ... in S and in T for inverse moments a and momentum m."""
    count = 2 * ORDERS + 2
    e = rotation(a, m, count)
    along = plus(*(times(m[k], e[k]) for k in range(3)))
    inverse = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        start = [Fraction(m[k])] + [Fraction(0)] * count
        Y = plus(start, times(-m[j], e[i]), times(m[i], e[j]), product(along, e[k]))
        inverse.append(quotient(times(2, e[k][1:]), Y))
    S = times(1 / (a[0] - a[1]), plus(inverse[0], times(-1, inverse[1])))
    T = plus(inverse[0], times(-a[0], S))
    assert plus(times(a[2], S), T) == inverse[2], "the three axes do not share S and T"
    assert S[0] == 1 and T[0] == 0 and not any(S[1::2] + T[1::2])
    return S[2::2][:ORDERS], T[2::2][:ORDERS]


# ------------------------------------------------------------------ from samples to polynomials
def solved(rows, values):
    """The solution of an over-determined system of full rank, which must fit every row."""
    table = [[*row, value] for row, value in zip(rows, values, strict=True)]
    n = len(rows[0])
    for k in range(n):
        pivot = next(i for i in range(k, len(table)) if table[i][k] != 0)
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [x / table[k][k] for x in table[k]]
        for i in range(len(table)):
            if i != k and table[i][k] != 0:
                f = table[i][k]
                table[i] = [x - f * z for x, z in zip(table[i], table[k], strict=True)]
    assert not any(row[n] for row in table[n:]), "the samples do not fit a polynomial of this degree"
    return [table[k][n] for k in range(n)]


MOMENTA = ((1, 2, 3), (2, 1, 1), (1, 1, 2), (3, 1, 2), (1, 3, 1), (3, 2, 5))
BODIES = tuple(combinations((1, 2, 3, 5, 7, 11), 3))[::-1][:14]
"""Momenta and bodies: of each a few more than there are unknowns."""


def monomials(degree):
    """Exponents of p and r, which have the weights 2 and 3."""
    return [(i, j) for i in range(degree // 2 + 1) for j in range(degree // 3 + 1) if 2 * i + 3 * j <= degree]


def derive():
    """The polynomials [(s3, t3), (s5, t5), (s7, t7), (s9, t9)] in p, r, H and C."""
    samples = []
    for integers in BODIES:
        a = [Fraction(n, sum(integers)) for n in integers]
        H = [sum(k * x * x for k, x in zip(a, m, strict=True)) / 2 for m in MOMENTA]
        C = [Fraction(sum(x * x for x in m), 2) for m in MOMENTA]
        series = [modified(a, m) for m in MOMENTA]
        rows = {}
        for k in range(1, ORDERS + 1):
            powers = [[h**i * c ** (k - i) for i in range(k + 1)] for h, c in zip(H, C, strict=True)]
            rows[k] = [solved(powers, [both[which][k - 1] for both in series]) for which in (0, 1)]
        samples.append((a[0] * a[1] + a[1] * a[2] + a[2] * a[0], a[0] * a[1] * a[2], rows))
    p, r, H, C = map(variable, "prHC")
    found = []
    for k in range(1, ORDERS + 1):
        pair = []
        for which in (0, 1):
            total = lifted(0)
            for i in range(k + 1):
                powers = monomials(2 * k - i + which)
                rows = [[at_p**u * at_r**v for u, v in powers] for at_p, at_r, _ in samples]
                values = [sample[k][which][i] for _, _, sample in samples]
                for (u, v), number in zip(powers, solved(rows, values), strict=True):
                    total += power(p, u) * power(r, v) * power(H, i) * power(C, k - i) * number
            pair.append(total)
        found.append(tuple(pair))
    return found


def power(x, n):
    """x^n."""
    out = lifted(1)
    for _ in range(n):
        out = out * x
    return out


if __name__ == "__main__":
    for number, (s, t) in zip((3, 5, 7, 9), derive(), strict=True):
        print(f"s{number} = {s}\nt{number} = {t}")
