"""Anomalies: mean, eccentric, hyperbolic, parabolic and true, each from the others, on any conic."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra.kepler import TWO_PI, TWO_PI_TAIL
from polhode.algebra.orbits.kernels import eccentric_anomaly, hyperbolic_sine, mean_anomaly
from polhode.algebra.orbits.operands import (
    ELLIPSE,
    HYPERBOLA,
    LONGEST,
    NUMBER,
    WIDEST,
    read_eccentricity,
    read_sized,
    refuse,
    sized,
)
from polhode.algebra.vectorised import Rows, leading_axes
from polhode.arguments import Array, array, room_for

__all__ = [
    "eccentric_from_mean", "eccentric_from_true", "hyperbolic_from_mean", "hyperbolic_from_true",
    "mean_from_eccentric", "mean_from_hyperbolic", "mean_from_parabolic", "mean_from_true", "parabolic_from_mean",
    "parabolic_from_true", "true_from_eccentric", "true_from_hyperbolic", "true_from_mean", "true_from_parabolic",
]  # fmt: skip

_MEAN_OF_ELLIPSE = Rows(mean_anomaly, (), eccentric=sized(LONGEST, "rad"), eccentricity=ELLIPSE, sign=NUMBER)
_MEAN_OF_HYPERBOLA = Rows(mean_anomaly, (), hyperbolic=sized(WIDEST), eccentricity=HYPERBOLA, sign=NUMBER)
_ECCENTRIC = Rows(eccentric_anomaly, (), mean=sized(LONGEST, "rad"), eccentricity=ELLIPSE)
_HYPERBOLIC_SINE = Rows(hyperbolic_sine, (), mean=sized(1e100), eccentricity=HYPERBOLA)


def together(function: Callable[..., Any], **operands: Array) -> Any:
    """A function of NumPy arrays for operands that broadcast."""
    room_for(prod(leading_axes(**{name: a.shape for name, a in operands.items()})), "the arguments together")
    return function(*np.broadcast_arrays(*operands.values()))


def mean_from_eccentric(eccentric: ArrayLike, eccentricity: ArrayLike) -> Array:
    """Mean anomaly E - e sin E of an ellipse, over any number of revolutions.

    Parameters
    ----------
    eccentric : array_like (...)
        Eccentric anomaly, at most 1e12.
    eccentricity : array_like (...)
        0 <= e < 1.

    Returns
    -------
    array (...)
        M = sqrt(mu/a^3) t, to full relative accuracy within a revolution, including e near 1.

    Raises
    ------
    InvalidInput
        Not finite, out of range, shapes that do not broadcast.

    Examples
    --------
    >>> import polhode as ph
    >>> round(float(ph.kepler.mean_from_eccentric(2.0, 0.1)), 4)
    1.9091
    """
    return _MEAN_OF_ELLIPSE(eccentric, eccentricity, 1.0)


def eccentric_from_mean(mean: ArrayLike, eccentricity: ArrayLike) -> Array:
    """Eccentric anomaly: the solution of Kepler's equation E - e sin E = M.

    Parameters
    ----------
    mean : array_like (...)
        Mean anomaly, at most 1e12.
    eccentricity : array_like (...)
        0 <= e < 1.

    Returns
    -------
    array (...)
        Eccentric anomaly in the same revolution; relative error a few 1e-16, plus that from rounding M and e.

    Raises
    ------
    InvalidInput
        Not finite, out of range, shapes that do not broadcast.

    Examples
    --------
    >>> import polhode as ph
    >>> E = ph.kepler.eccentric_from_mean([0.5, 1.0, 3.0], 0.7)
    >>> E.round(4)
    array([1.1344, 1.6946, 3.0583])
    """
    return _ECCENTRIC(mean, eccentricity)


def true_from_eccentric(eccentric: ArrayLike, eccentricity: ArrayLike) -> Array:
    """True anomaly, tan(nu/2) = sqrt((1 + e)/(1 - e)) tan(E/2), in the same revolution; see ``mean_from_eccentric``.

    Parameters
    ----------
    eccentric : array_like (...)
        Eccentric anomaly, at most 1e12.
    eccentricity : array_like (...)
        0 <= e < 1.

    Examples
    --------
    >>> import polhode as ph
    >>> E = ph.kepler.eccentric_from_mean(1.0, 0.3)
    >>> round(float(ph.kepler.true_from_eccentric(E, 0.3)), 4)
    1.5938
    """
    E = read_sized(eccentric, "eccentric", LONGEST, "rad")
    return together(_half_angles(1.0), E=E, e=read_eccentricity(eccentricity, kind="ellipse"))


def eccentric_from_true(true: ArrayLike, eccentricity: ArrayLike) -> Array:
    """Eccentric anomaly of a true anomaly up to 1e12, in the same revolution; inverse of ``true_from_eccentric``.

    Parameters
    ----------
    true : array_like (...)
        True anomaly.
    eccentricity : array_like (...)
        0 <= e < 1.

    Examples
    --------
    >>> import polhode as ph
    >>> E = ph.kepler.eccentric_from_true(2.0, 0.3)
    >>> round(float(ph.kepler.mean_from_eccentric(E, 0.3)), 4)
    1.4066
    """
    nu = read_sized(true, "true", LONGEST, "rad")
    return together(_half_angles(-1.0), nu=nu, e=read_eccentricity(eccentricity, kind="ellipse"))


def _half_angles(sign):
    def convert(x, e):
        whole = np.floor(x / TWO_PI + 0.5)
        rest = (x - whole * TWO_PI) - whole * TWO_PI_TAIL
        y = np.sqrt(1.0 + sign * e) * np.sin(0.5 * rest)
        return whole * TWO_PI + 2.0 * np.arctan2(y, np.sqrt(1.0 - sign * e) * np.cos(0.5 * rest))

    return convert


def mean_from_hyperbolic(hyperbolic: ArrayLike, eccentricity: ArrayLike) -> Array:
    """Mean anomaly e sinh H - H of a hyperbola.

    Parameters
    ----------
    hyperbolic : array_like (...)
        Hyperbolic anomaly, at most 700.
    eccentricity : array_like (...)
        Above 1.

    Returns
    -------
    array (...)
        M = sqrt(mu/|a|^3) t, to full relative accuracy, including e near 1.

    Raises
    ------
    InvalidInput
        Not finite, out of range, shapes that do not broadcast.

    Examples
    --------
    >>> import polhode as ph
    >>> round(float(ph.kepler.mean_from_hyperbolic(1.2, 1.4)), 4)
    0.9132
    """
    return _MEAN_OF_HYPERBOLA(hyperbolic, eccentricity, -1.0)


def hyperbolic_from_mean(mean: ArrayLike, eccentricity: ArrayLike) -> Array:
    """Hyperbolic anomaly: the solution of e sinh H - H = M; M at most 1e100, else as ``mean_from_hyperbolic``.

    Parameters
    ----------
    mean : array_like (...)
        Mean anomaly.
    eccentricity : array_like (...)
        Above 1.

    Examples
    --------
    >>> import polhode as ph
    >>> H = ph.kepler.hyperbolic_from_mean([0.5, 2.0, 20.0], 1.4)
    >>> H.round(4)
    array([0.8621, 1.6987, 3.5152])
    """
    return np.arcsinh(_HYPERBOLIC_SINE(mean, eccentricity))


def true_from_hyperbolic(hyperbolic: ArrayLike, eccentricity: ArrayLike) -> Array:
    """True anomaly, tan(nu/2) = sqrt((e + 1)/(e - 1)) tanh(H/2); arguments as ``mean_from_hyperbolic``.

    Parameters
    ----------
    hyperbolic : array_like (...)
        Hyperbolic anomaly, at most 700.
    eccentricity : array_like (...)
        Above 1.

    Examples
    --------
    >>> import polhode as ph
    >>> H = ph.kepler.hyperbolic_from_mean(2.0, 1.4)
    >>> round(float(ph.kepler.true_from_hyperbolic(H, 1.4)), 4)
    2.074
    """
    H = read_sized(hyperbolic, "hyperbolic", WIDEST)
    e = read_eccentricity(eccentricity, kind="hyperbola")
    return together(lambda H, e: 2.0 * np.arctan(np.sqrt((e + 1.0) / (e - 1.0)) * np.tanh(0.5 * H)), H=H, e=e)


def hyperbolic_from_true(true: ArrayLike, eccentricity: ArrayLike) -> Array:
    """Hyperbolic anomaly of a true anomaly, the inverse of ``true_from_hyperbolic``.

    Parameters
    ----------
    true : array_like (...)
        True anomaly, of size below that of the asymptote, arccos(-1/e).
    eccentricity : array_like (...)
        Above 1.

    Returns
    -------
    array (...)

    Raises
    ------
    InvalidInput
        Not finite, out of range, at or beyond the asymptote, shapes that do not broadcast.

    Examples
    --------
    >>> import polhode as ph
    >>> H = ph.kepler.hyperbolic_from_true(1.5, 1.4)
    >>> round(float(ph.kepler.mean_from_hyperbolic(H, 1.4)), 4)
    0.4441
    """
    nu, e = array(true, "true", "rad"), read_eccentricity(eccentricity, kind="hyperbola")
    ratio = np.asarray(together(lambda nu, e: np.where(abs(nu) < pi, 1.0 + e * np.cos(nu), -1.0), true=nu, e=e))
    refuse(ratio <= 0.0, "true", "is at or beyond the asymptote, arccos(-1/e)")
    return np.arcsinh(np.sqrt((e - 1.0) * (e + 1.0)) * np.sin(nu) / ratio)


def mean_from_parabolic(parabolic: ArrayLike) -> Array:
    """Mean anomaly of a parabola, Barker's equation D + D^3/3 = 2 sqrt(mu/p^3) t.

    Parameters
    ----------
    parabolic : array_like (...)
        D = tan(nu/2), at most 1e100.

    Returns
    -------
    array (...)

    Raises
    ------
    InvalidInput
        Not finite or beyond 1e100.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> p, mu = 2 * 7000e3, ph.planets.EARTH.mu
    >>> D = ph.kepler.parabolic_from_true(np.deg2rad(90.0))
    >>> round(float(ph.kepler.mean_from_parabolic(D) * np.sqrt(p**3 / mu) / 2))
    1749
    """
    D = read_sized(parabolic, "parabolic", 1e100)
    return (D + D * D * D / 3.0)[()]


def parabolic_from_mean(mean: ArrayLike) -> Array:
    """D = tan(nu/2) of a mean anomaly up to 1e300, the inverse of ``mean_from_parabolic``, in closed form.

    Parameters
    ----------
    mean : array_like (...)
        Mean anomaly.

    Examples
    --------
    >>> import polhode as ph
    >>> D = ph.kepler.parabolic_from_mean(1.5)
    >>> round(float(ph.kepler.true_from_parabolic(D)), 4)
    1.6477
    """
    return 2.0 * np.sinh(np.arcsinh(1.5 * read_sized(mean, "mean", 1e300)) / 3.0)


def true_from_parabolic(parabolic: ArrayLike) -> Array:
    """True anomaly 2 arctan D of a parabola.

    Parameters
    ----------
    parabolic : array_like (...)
        D = tan(nu/2).

    Examples
    --------
    >>> import polhode as ph
    >>> round(float(ph.kepler.true_from_parabolic(1.5)), 4)
    1.9656
    """
    return 2.0 * np.arctan(array(parabolic, "parabolic"))


def parabolic_from_true(true: ArrayLike) -> Array:
    """D = tan(nu/2) of a true anomaly between -pi and pi (exclusive), on a parabola.

    Parameters
    ----------
    true : array_like (...)
        True anomaly.

    Examples
    --------
    >>> import polhode as ph
    >>> round(float(ph.kepler.parabolic_from_true(2.0)), 4)
    1.5574
    """
    nu = array(true, "true", "rad")
    refuse(abs(nu) >= pi, "true", "is not between -pi and pi, where a parabola ends")
    return np.tan(0.5 * nu)


KINDS = (
    (lambda e: e < 1.0, eccentric_from_mean, true_from_eccentric, eccentric_from_true, mean_from_eccentric),
    (lambda e: e > 1.0, hyperbolic_from_mean, true_from_hyperbolic, hyperbolic_from_true, mean_from_hyperbolic),
)


def _by_conic(first: int, value: Array, e: Array, parabola) -> Array:
    """Convert an anomaly through each conic's own anomaly; ``first`` is the index in KINDS of the first function."""
    out = np.array(parabola(np.where(e == 1.0, value, 0.0)))
    for applies, *functions in KINDS:
        k = applies(e)
        if k.any():
            middle, last = functions[first], functions[first + 1]
            out[k] = last(middle(value[k], e[k]), e[k])
    return out[()]


def true_from_mean(mean: ArrayLike, eccentricity: ArrayLike) -> Array:
    """True anomaly of a mean anomaly on any conic.

    Parameters
    ----------
    mean : array_like (...)
        Mean anomaly: sqrt(mu/|a|^3) t since the periapsis; on a parabola 2 sqrt(mu/p^3) t.
    eccentricity : array_like (...)
        Not negative; ellipses, parabolas (exactly 1) and hyperbolas may be mixed.

    Returns
    -------
    array (...)
        True anomaly; on an ellipse in the same revolution.

    Raises
    ------
    InvalidInput
        Not finite, out of range, shapes that do not broadcast.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> M = 2 * np.pi * np.array([0.1, 0.25, 0.4])
    >>> np.rad2deg(ph.kepler.true_from_mean(M, 0.74)).round(1)
    array([128.5, 157.2, 171.8])
    """
    M, e = array(mean, "mean", "rad"), read_eccentricity(eccentricity)
    return together(lambda M, e: _by_conic(0, M, e, lambda x: true_from_parabolic(parabolic_from_mean(x))), mean=M, e=e)


def mean_from_true(true: ArrayLike, eccentricity: ArrayLike) -> Array:
    """Mean anomaly of a true anomaly on any conic, the inverse of ``true_from_mean``.

    Parameters
    ----------
    true : array_like (...)
        True anomaly; on parabolas and hyperbolas below that of the asymptote.
    eccentricity : array_like (...)
        Not negative.

    Returns
    -------
    array (...)

    Raises
    ------
    InvalidInput
        Not finite, out of range, at or beyond the asymptote, shapes that do not broadcast.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.kepler.mean_from_true(1.5, [0.3, 1.0, 1.4]).round(4)
    array([0.9197, 1.2011, 0.4441])
    """
    nu, e = array(true, "true", "rad"), read_eccentricity(eccentricity)
    return together(
        lambda nu, e: _by_conic(2, nu, e, lambda x: mean_from_parabolic(parabolic_from_true(x))), true=nu, e=e
    )
