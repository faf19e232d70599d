"""Jacobi elliptic functions and elliptic integrals, in terms of the complementary parameter.

All functions take ``mc`` = 1 - m = 1 - k^2 where textbooks take the parameter m or the modulus k. Near the separatrix
of a rigid body mc is far below 1e-16 and still matters: the period is 4 K with K about ln(4/sqrt(mc)). Computed as
1 - m it would be lost, so it is an argument. mc = 0 is the separatrix (sech and tanh), mc = 1 the circle (cosine and
sine).

Two parts: kernels, used by the flows, take and return plain numbers without checks. The public functions
(``polhode.algebra.elliptic``: ``sn`` to ``RD`` below) take array_like of any shapes that broadcast, return float64, and
raise ``polhode.errors.InvalidInput`` for invalid arguments.

Legend: ``u`` argument; ``phi`` amplitude, any real number; ``n`` characteristic of the third kind and ``nc`` = 1 - n;
``s, c, d`` = sn, cn, dn, or sine and cosine of an amplitude and sqrt(1 - m sin^2); K, E, Pi complete integrals; RF, RC,
RJ, RD Carlson's symmetric integrals.

Integrals of amplitudes beyond pi/2 are continued by F(phi + j pi) = F(phi) + 2 j K, and likewise for Pi
[dlmf, 19.2.10]; am maps the real line onto itself.
"""

from __future__ import annotations

import functools
from math import asinh, atan, atan2, copysign, cos, exp, floor, inf, nan, pi, sin, sqrt, tanh

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra.vectorised import Operand, Rows, columns, leading_axes, numbers, over_rows
from polhode.arguments import Array, array
from polhode.errors import InvalidInput
from polhode.kernel.jit import helper, inlined
from polhode.lazy import public_names

__all__ = ["RC", "RD", "RF", "RJ", "E", "F", "K", "Pi", "Pi_complete", "am", "cn", "dn", "jacobi", "sn"]
__dir__ = public_names(__all__)

NEARLY_EQUAL = 1e-8
"""Relative difference at which an arithmetic-geometric mean has converged: the next one would be its square over 8."""

TINY = 1e-60  # below this sn(u) = u to the last digit; its inverse square does not overflow

LARGEST, LONGEST = 1e30, 1e12
"""Largest complementary parameter, and largest argument and amplitude, that the public functions accept."""

PI_HEAD, PI_TAIL = 3.140625, 9.676535897932384626e-4
"""pi as a sum of two parts; products of the first with integers up to 2^40 are exact."""


# Jacobi elliptic functions.


@inlined
def half_turns(phi):
    """(j, phi - j pi) with the remainder between -pi/2 and pi/2."""
    j = floor(phi / pi + 0.5)
    return j, (phi - j * PI_HEAD) - j * PI_TAIL


@helper
def landen(e, n, u):
    """Bulirsch's descending scheme for the pair (e, n) of an arithmetic-geometric mean, by recursion.

    Returns a and c = cot(phi) times the mean, d = dn at this level, and the number j of half turns (multiples of pi) of
    the amplitude. Descending, the pair converges to its mean, where the functions are circular and the argument is
    reduced; ascending, only positive numbers are added and divided, so cn and dn keep their relative accuracy
    [bulirsch1965].
    """
    if not abs(e - n) > NEARLY_EQUAL * e:  # nan ends the recursion, too
        mean = 0.5 * (e + n)
        j, v = half_turns(u * mean)
        v = copysign(max(abs(v), 1e-70), v)  # avoids a zero at multiples of 2 K; other arguments are never so small
        a = abs(cos(v)) / sin(v)  # rounding may have left |v| just beyond pi/2
        c, d = mean * a, 1.0
    else:
        a, c, d, j = landen(0.5 * (e + n), sqrt(e * n), u)
    a = a * c
    c = c * d
    d = (n + a) / (e + a)
    return c / e, c, d, j


@inlined
def jacobi_kernel(u, mc):
    """(sn, cn, dn, am) of the argument u; any mc >= 0, see ``jacobi``. nan where u is not finite or beyond 1e15."""
    if not abs(u) < 1e15:
        return nan, nan, nan, nan
    if abs(u) < TINY:
        return u, 1.0, 1.0, u
    if mc == 0.0:
        e = exp(-abs(u))
        s, c = tanh(u), 2.0 * e / (1.0 + e * e)
        return s, c, c, atan2(s, c)
    _, c, d, j = landen(1.0, sqrt(mc), u)
    s = copysign(1.0 / sqrt(1.0 + c * c), c)
    c = c * s
    f = 1.0 - 2.0 * (j % 2)
    return f * s, f * c, d, j * pi + atan2(s, c)


# Complete integrals.


@inlined
def cel(kc, p, a, b):
    """Bulirsch's complete integral of (a cos^2 + b sin^2) / ((cos^2 + p sin^2) sqrt(cos^2 + kc^2 sin^2)), 0 to pi/2.

    kc > 0 and p not 0; for p < 0 the Cauchy principal value. For p, a, b > 0 there is no cancellation [bulirsch1969].
    """
    if p > 0.0:
        p = sqrt(p)
        b = b / p
    else:
        g = 1.0 - p
        q = (1.0 - kc * kc) * (b - a * p)
        p = sqrt((kc * kc - p) / g)
        a = (a - b) / g
        b = a * p - q / (g * g * p)
    e, m, n = kc, 1.0, kc
    while True:
        f, a = a, a + b / p
        g = e / p
        b = 2.0 * (b + f * g)
        p = p + g
        g, m = m, m + n
        if not abs(g - n) > NEARLY_EQUAL * g:
            return 0.5 * pi * (b + a * m) / (m * (m + p))
        n = 2.0 * sqrt(e)
        e = n * m


@inlined
def K_kernel(mc):
    """Complete integral of the first kind; infinite at mc = 0."""
    if mc == 0.0:
        return inf
    return cel(sqrt(mc), 1.0, 1.0, 1.0)


@inlined
def E_kernel(mc):
    """Complete integral of the second kind."""
    if mc == 0.0:
        return 1.0
    return cel(sqrt(mc), 1.0, 1.0, mc)


@inlined
def Pi_complete_kernel(nc, mc):
    """Complete integral of the third kind of characteristic 1 - nc; infinite at nc = 0 and at mc = 0."""
    if nc == 0.0:
        return inf
    if mc == 0.0:
        return copysign(inf, nc)
    return cel(sqrt(mc), nc, 1.0, 1.0)


# Carlson's integrals by duplication [carlson1995], then series to the seventh power [dlmf, 19.36.1, 19.36.2].

FAR = 150.0
"""Duplication stops when the largest relative distance from the mean is below 1/150; the series to its seventh power
then has an error below 1e-17."""


@inlined
def RC_kernel(x, y):
    """RC(x, y) for x >= 0, y > 0: an arc tangent or hyperbolic arc sine, without cancellation near x = y."""
    t = y - x
    w = sqrt(abs(t))
    if t > 0.0:
        return atan2(w, sqrt(x)) / w
    if t < 0.0:
        return asinh(w / sqrt(y)) / w
    return 1.0 / sqrt(x)


@inlined
def RC_any(x, y):
    """RC with the principal value where y < 0."""
    if y > 0.0:
        return RC_kernel(x, y)
    return sqrt(x / (x - y)) * RC_kernel(x - y, -y)


@inlined
def RF_kernel(x, y, z):
    """RF(x, y, z) for non-negative arguments; infinite where two of them are 0."""
    A = (x + y + z) / 3.0
    X, Y = A - x, A - y
    far, f = FAR * max(abs(X), abs(Y), abs(A - z)), 1.0
    while far > f * A:
        p, q, r = sqrt(x), sqrt(y), sqrt(z)
        lam = p * q + p * r + q * r
        if lam == 0.0:
            return inf  # two arguments vanish
        x, y, z, A = 0.25 * (x + lam), 0.25 * (y + lam), 0.25 * (z + lam), 0.25 * (A + lam)
        f = 4.0 * f
    X, Y = X / (f * A), Y / (f * A)
    Z = -X - Y
    e2, e3 = X * Y - Z * Z, X * Y * Z
    e = e2 * e2
    series = -e2 / 10.0 + e3 / 14.0 + e / 24.0 - 3.0 * e2 * e3 / 44.0
    series = series - 5.0 * e2 * e / 208.0 + 3.0 * e3 * e3 / 104.0 + e * e3 / 16.0
    return (1.0 + series) / sqrt(A)


@inlined
def series_of_3(e2, e3, e4, e5):
    """The final series of RJ and RD."""
    e = e2 * e2
    near = -3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e / 88.0 - 3.0 * e4 / 22.0 - 9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0
    far = -e * e2 / 16.0 + 3.0 * e3 * e3 / 40.0 + 3.0 * e2 * e4 / 20.0 + 45.0 * e * e3 / 272.0
    return 1.0 + (near + (far - 9.0 * (e3 * e4 + e2 * e5) / 68.0))


@inlined
def RJ_kernel(x, y, z, p):
    """RJ(x, y, z, p) for non-negative x, y, z of which at most one is 0, and p > 0."""
    A = (x + y + z + 2.0 * p) / 5.0
    X, Y, Z = A - x, A - y, A - z
    far, f, total = FAR * max(abs(X), abs(Y), abs(Z), abs(A - p)), 1.0, 0.0
    while far > f * A:
        a, b, c = sqrt(x), sqrt(y), sqrt(z)
        lam = a * b + a * c + b * c
        if lam == 0.0:
            return inf
        g = p * (a + b + c) + a * b * c
        h = (p + lam) / g
        total = total + RC_kernel(1.0, p * h * h) / (f * g)
        x, y, z, A = 0.25 * (x + lam), 0.25 * (y + lam), 0.25 * (z + lam), 0.25 * (A + lam)
        p = 0.25 * (p + lam)
        f = 4.0 * f
    X, Y, Z = X / (f * A), Y / (f * A), Z / (f * A)
    P = -0.5 * (X + Y + Z)
    xyz, pp = X * Y * Z, P * P
    e2 = X * Y + X * Z + Y * Z - 3.0 * pp
    series = series_of_3(e2, xyz + 2.0 * P * (e2 + 2.0 * pp), P * (2.0 * xyz + P * (e2 + 3.0 * pp)), xyz * pp)
    return 3.0 * total + series / (f * A * sqrt(A))


@inlined
def RJ_any(x, y, z, p):
    """RJ with the Cauchy principal value where p < 0 [dlmf, 19.20.14]."""
    if p > 0.0:
        return RJ_kernel(x, y, z, p)
    low, high = min(x, y), max(x, y)
    x, y, z = min(low, z), max(low, min(high, z)), max(high, z)
    q = -p
    p = (z * (x + y + q) - x * y) / (z + q)
    t = x * y + p * q
    r = (p - z) * RJ_kernel(x, y, z, p) - 3.0 * RF_kernel(x, y, z)
    return (r + 3.0 * sqrt(x * y * z / t) * RC_kernel(t, p * q)) / (z + q)


@inlined
def RD_kernel(x, y, z):
    """RD(x, y, z) = RJ(x, y, z, z) for non-negative x, y that are not both 0, and z > 0."""
    A = (x + y + 3.0 * z) / 5.0
    X, Y = A - x, A - y
    far, f, total = FAR * max(abs(X), abs(Y), abs(A - z)), 1.0, 0.0
    while far > f * A:
        a, b, c = sqrt(x), sqrt(y), sqrt(z)
        lam = a * b + a * c + b * c
        if lam == 0.0:
            return inf
        total = total + 1.0 / (f * c * (z + lam))
        x, y, z, A = 0.25 * (x + lam), 0.25 * (y + lam), 0.25 * (z + lam), 0.25 * (A + lam)
        f = 4.0 * f
    X, Y = X / (f * A), Y / (f * A)
    Z = -(X + Y) / 3.0
    xy, zz = X * Y, Z * Z
    series = series_of_3(xy - 6.0 * zz, (3.0 * xy - 8.0 * zz) * Z, 3.0 * (xy - zz) * zz, xy * zz * Z)
    return 3.0 * total + series / (f * A * sqrt(A))


# Incomplete integrals of an amplitude between -pi/2 and pi/2, given by its sine s and cosine c >= 0.


@inlined
def F_part(s, c, mc):
    """First kind. The cosine of the amplitude is an argument, so no accuracy is lost where it is small."""
    c2 = c * c
    return s * RF_kernel(c2, c2 + mc * s * s, 1.0)


@inlined
def Pi_carlson(s, c, nc, mc):
    """Third kind as RF + (n/3) RJ, the common form [carlson1995]; the two terms cancel where nc is large."""
    c2, s2 = c * c, s * s
    d2 = c2 + mc * s2
    return s * (RF_kernel(c2, d2, 1.0) + (1.0 - nc) / 3.0 * s2 * RJ_any(c2, d2, 1.0, c2 + nc * s2))


@inlined
def Pi_part(s, c, nc, mc):
    """Third kind to full relative accuracy: for nc > 1 from the characteristic 1 - mc/nc, whose terms do not cancel.

    [abramowitz1964, eq. 17.7.15]
    """
    if not nc > max(1.0, mc):
        return Pi_carlson(s, c, nc, mc)
    b = nc - mc
    d = sqrt(c * c + mc * s * s)
    third = (nc - 1.0) * mc / (nc * b) * Pi_carlson(s, c, mc / nc, mc)
    first = (1.0 - mc) / b * F_part(s, c, mc)
    return third + first + sqrt((nc - 1.0) / (nc * b)) * atan(sqrt((nc - 1.0) * b / nc) * s * c / d)


# Incomplete integrals of any amplitude.


@inlined
def F_kernel(phi, mc):
    """First kind; infinite where mc = 0 and the amplitude exceeds pi/2."""
    j, r = half_turns(phi)
    part = F_part(sin(r), cos(r), mc)
    return part if j == 0 else 2.0 * j * K_kernel(mc) + part


@inlined
def Pi_kernel(phi, n, mc):
    """Third kind; the Cauchy principal value where n sin^2 phi > 1."""
    j, r = half_turns(phi)
    part = Pi_part(sin(r), cos(r), 1.0 - n, mc)
    return part if j == 0 else 2.0 * j * Pi_complete_kernel(1.0 - n, mc) + part


@inlined
def Pi_complete_of(n, mc):
    """Complete integral of the third kind, as a function of n instead of nc."""
    return Pi_complete_kernel(1.0 - n, mc)


@inlined
def sn_kernel(u, mc):
    """sn alone."""
    return jacobi_kernel(u, mc)[0]


@inlined
def cn_kernel(u, mc):
    """cn alone."""
    return jacobi_kernel(u, mc)[1]


@inlined
def dn_kernel(u, mc):
    """dn alone."""
    return jacobi_kernel(u, mc)[2]


@inlined
def am_kernel(u, mc):
    """am alone."""
    return jacobi_kernel(u, mc)[3]


# The public functions.


def _read_complementary(value: ArrayLike, name: str) -> Array:
    a = array(value, name)
    if a.size and (a.min() < 0.0 or a.max() > LARGEST):
        wrong = a.min() if a.min() < 0.0 else a.max()
        raise InvalidInput(f"mc = 1 - k^2 is not negative and at most {LARGEST:g}, got {wrong:g}")
    return a


def _read_sized(value: ArrayLike, name: str, unit: str = "") -> Array:
    """Arguments and amplitudes, checked: at most 1e12, beyond which the phase is lost."""
    a = array(value, name, unit)
    if a.size and np.abs(a).max() > LONGEST:
        raise InvalidInput(f"{name} has entries beyond 1e12, where double precision has lost the phase")
    return a


def _arguments(operands: dict[str, ArrayLike], zeros: int) -> dict[str, Array]:
    """Arguments of Carlson's integrals, checked: not negative, at most ``zeros`` of them 0 at the same index."""
    arrays = {name: array(value, name) for name, value in operands.items()}
    for name, a in arrays.items():
        if a.size and (a.min() < 0.0 or a.max() > 1e60):
            raise InvalidInput(f"{name} lies between 0 and 1e60; scale the arguments first")
        if a.size and ((a > 0.0) & (a < 1e-200)).any():
            raise InvalidInput(f"{name} has entries below 1e-200; scale the arguments, or set them to 0")
    leading_axes(**{name: a.shape for name, a in arrays.items()})
    if np.any(sum((a == 0.0).astype(int) for a in arrays.values()) > zeros):
        raise InvalidInput(f"the integral diverges: at most {zeros} of {', '.join(arrays)} may be 0")
    return arrays


_ANY, _MC = numbers(), Operand(0, _read_complementary, (0.0, LARGEST), ("mc outside 0 ... 1e30",))
_U = Operand(0, _read_sized, (-LONGEST, LONGEST), ("u beyond 1e12",))
_PHI = Operand(0, functools.partial(_read_sized, unit="rad"), (-LONGEST, LONGEST), ("phi beyond 1e12",))

_JACOBI = Rows(jacobi_kernel, (4,), u=_U, mc=_MC)
_RF, _RD = (Rows(kernel, (), x=_ANY, y=_ANY, z=_ANY) for kernel in (RF_kernel, RD_kernel))
_RC, _RJ = Rows(RC_any, (), x=_ANY, y=_ANY), Rows(RJ_any, (), x=_ANY, y=_ANY, z=_ANY, p=_ANY)


def jacobi(u: ArrayLike, mc: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Jacobi elliptic functions sn, cn, dn and the amplitude am, from one evaluation.

    Parameters
    ----------
    u : array_like
        Arguments, at most 1e12.
    mc : array_like
        Complementary parameter 1 - k^2, from 0 to 1e30; beyond 1 the modulus k is imaginary.

    Returns
    -------
    sn, cn, dn, am : arrays of the broadcast shape
        Each with a relative error of a few 1e-16 times its condition number with respect to u and mc; also for mc down
        to 1e-300, where cn and dn fall to sqrt(mc), and over any number of periods. The amplitude is unbounded,
        am(u + 2 K) = am(u) + pi.

    Raises
    ------
    InvalidInput
        Not finite, mc outside 0 ... 1e30, u beyond 1e12, shapes that do not broadcast.

    Examples
    --------
    >>> [float(x) for x in jacobi(0.0, 0.5)]
    [0.0, 1.0, 1.0, 0.0]
    """
    return columns(_JACOBI(u, mc))


@over_rows(sn_kernel, (), u=_U, mc=_MC)
def sn(u: ArrayLike, mc: ArrayLike) -> Array:
    """Jacobi elliptic function sn; see ``jacobi``.

    Parameters
    ----------
    u, mc : array_like
        As of ``jacobi``.

    Examples
    --------
    >>> sn([0.5, 1.0], 0.5).round(6)
    array([0.47075 , 0.803002])
    """


@over_rows(cn_kernel, (), u=_U, mc=_MC)
def cn(u: ArrayLike, mc: ArrayLike) -> Array:
    """Jacobi elliptic function cn; see ``jacobi``.

    Parameters
    ----------
    u, mc : array_like
        As of ``jacobi``.

    Examples
    --------
    >>> cn([0.5, 1.0], 0.5).round(6)
    array([0.882266, 0.595977])
    """


@over_rows(dn_kernel, (), u=_U, mc=_MC)
def dn(u: ArrayLike, mc: ArrayLike) -> Array:
    """Jacobi elliptic function dn; see ``jacobi``.

    Parameters
    ----------
    u, mc : array_like
        As of ``jacobi``.

    Examples
    --------
    >>> dn([0.5, 1.0], 0.5).round(6)
    array([0.942972, 0.823161])
    """


@over_rows(am_kernel, (), u=_U, mc=_MC)
def am(u: ArrayLike, mc: ArrayLike) -> Array:
    """Jacobi amplitude am, which maps the real line onto itself; see ``jacobi``.

    Parameters
    ----------
    u, mc : array_like
        As of ``jacobi``.

    Examples
    --------
    >>> round(float(am(2.0 * K(0.5), 0.5)), 6)
    3.141593
    """


@over_rows(K_kernel, (), mc=_MC)
def K(mc: ArrayLike) -> Array:
    """Complete elliptic integral of the first kind.

    Parameters
    ----------
    mc : array_like
        Complementary parameter from 0 to 1e30; K(0) is infinite.

    Returns
    -------
    array
        To a few 1e-16, relative.

    Examples
    --------
    >>> round(float(K(0.5)), 6)
    1.854075
    """


@over_rows(E_kernel, (), mc=_MC)
def E(mc: ArrayLike) -> Array:
    """Complete elliptic integral of the second kind; as ``K``, and E(0) = 1.

    Examples
    --------
    >>> round(float(E(0.5)), 6)
    1.350644
    """


@over_rows(Pi_complete_of, (), n=_ANY, mc=_MC)
def Pi_complete(n: ArrayLike, mc: ArrayLike) -> Array:
    """Complete elliptic integral of the third kind, of 1/((1 - n sin^2 t) sqrt(1 - m sin^2 t)) from 0 to pi/2.

    Parameters
    ----------
    n : array_like
        Characteristic. For n > 1 the Cauchy principal value.
    mc : array_like
        Complementary parameter from 0 to 1e30.

    Returns
    -------
    array
        For n < 1 relative error a few 1e-16 times the condition number in n; infinite at n = 1 and at mc = 0.

    Examples
    --------
    >>> round(float(Pi_complete(0.3, 0.5)), 6)
    2.250377
    """


@over_rows(F_kernel, (), phi=_PHI, mc=_MC)
def F(phi: ArrayLike, mc: ArrayLike) -> Array:
    """Incomplete elliptic integral of the first kind, the inverse of ``am``.

    Parameters
    ----------
    phi : array_like
        Amplitudes in radians, any real numbers up to 1e12.
    mc : array_like
        Complementary parameter from 0 to 1e30.

    Returns
    -------
    array
        Relative error a few 1e-16 times the condition number in phi. Infinite where mc = 0 and phi exceeds pi/2.

    Examples
    --------
    >>> round(float(F(am(1.2, 0.5), 0.5)), 6)
    1.2
    """


@over_rows(Pi_kernel, (), phi=_PHI, n=_ANY, mc=_MC)
def Pi(phi: ArrayLike, n: ArrayLike, mc: ArrayLike) -> Array:
    """Incomplete elliptic integral of the third kind, of 1/((1 - n sin^2 t) sqrt(1 - m sin^2 t)) from 0 to phi.

    Parameters
    ----------
    phi : array_like
        Amplitudes in radians, any real numbers up to 1e12.
    n : array_like
        Characteristic. Where n sin^2 t passes 1 in the interval, the Cauchy principal value.
    mc : array_like
        Complementary parameter from 0 to 1e30.

    Returns
    -------
    array
        For n < 1 relative error a few 1e-16 times the condition number in phi and n, for mc > 1 times mc as well; for
        principal values 1e-13 away from their zeros and poles.

    Examples
    --------
    >>> round(float(Pi(1.0, 0.3, 0.5)), 6)
    1.192325
    """


def RF(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
    """Carlson's symmetric integral of the first kind.

    Parameters
    ----------
    x, y, z : array_like
        Arguments, each 0 or from 1e-200 to 1e60; at most one of them 0.

    Returns
    -------
    array
        To a few 1e-16, relative.

    Raises
    ------
    InvalidInput
        Arguments outside that range, shapes that do not broadcast.

    Examples
    --------
    >>> round(float(RF(0.0, 0.5, 1.0)), 6)
    1.854075
    """
    return _RF.over(*_arguments({"x": x, "y": y, "z": z}, 1).values())


def RC(x: ArrayLike, y: ArrayLike) -> Array:
    """Carlson's RC(x, y) = RF(x, y, y), for y < 0 its principal value; x as in ``RF``, y not 0.

    Examples
    --------
    >>> round(float(RC(1.0, 2.0)), 6)
    0.785398
    """
    below = np.sign(array(y, "y"))
    checked = _arguments({"x": x}, 1) | _arguments({"y": np.abs(array(y, "y"))}, 0)
    return _RC.over(checked["x"], below * checked["y"])


def RJ(x: ArrayLike, y: ArrayLike, z: ArrayLike, p: ArrayLike) -> Array:
    """Carlson's symmetric integral of the third kind.

    Parameters
    ----------
    x, y, z : array_like
        As in ``RF``.
    p : array_like
        Not 0, its size from 1e-200 to 1e60; for p < 0 the Cauchy principal value.

    Returns
    -------
    array
        To a few 1e-16, relative, for p > 0.

    Raises
    ------
    InvalidInput
        Arguments outside that range, shapes that do not broadcast.

    Examples
    --------
    >>> round(float(RJ(0.0, 0.5, 1.0, 0.7)), 6)
    3.963021
    """
    below = np.sign(array(p, "p"))
    checked = _arguments({"p": np.abs(array(p, "p"))}, 0)
    return _RJ.over(*_arguments({"x": x, "y": y, "z": z}, 1).values(), below * checked["p"])


def RD(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
    """Carlson's integral of the second kind, RJ(x, y, z, z); x and y as in ``RF``, z not 0.

    Examples
    --------
    >>> round(float(RD(0.0, 0.5, 1.0)), 6)
    3.020585
    """
    return _RD.over(*_arguments({"x": x, "y": y}, 1).values(), *_arguments({"z": z}, 0).values())
