"""Orbital elements: classical, modified equinoctial and equinoctial, from states and back."""

from __future__ import annotations

from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra.orbits import kernels
from polhode.algebra.orbits.anomalies import together, true_from_mean
from polhode.algebra.orbits.operands import (
    LONGEST,
    MU,
    NUMBER,
    POSITION,
    VELOCITY,
    read_eccentricity,
    read_mu,
    read_size,
    read_sized,
    refuse,
    refuse_overflow,
)
from polhode.algebra.vectorised import Operand, Rows, columns
from polhode.arguments import Array, array, truth
from polhode.errors import InvalidInput, naming

__all__ = [
    "ClassicalElements", "EquinoctialElements", "ModifiedEquinoctialElements", "classical_elements",
    "equinoctial_elements", "modified_equinoctial_elements", "semi_latus_rectum", "state", "state_from_classical",
    "state_from_equinoctial", "state_from_modified_equinoctial",
]  # fmt: skip

SIX = Operand(6, array)
_CLASSICAL = Rows(kernels.classical, (6,), position=POSITION, velocity=VELOCITY, mu=MU)
_MODIFIED = Rows(kernels.modified, (6,), position=POSITION, velocity=VELOCITY, mu=MU, retrograde=NUMBER)
_EQUINOCTIAL = Rows(kernels.equinoctial, (6,), position=POSITION, velocity=VELOCITY, mu=MU, retrograde=NUMBER)
_FROM_CLASSICAL = Rows(kernels.from_classical, (6,), elements=SIX, mu=MU)
_FROM_MODIFIED = Rows(kernels.from_modified, (6,), elements=SIX, mu=MU, retrograde=NUMBER)
_FROM_EQUINOCTIAL = Rows(kernels.from_equinoctial, (6,), elements=SIX, mu=MU, retrograde=NUMBER)

NO_PLANE = "is parallel to the velocity, up to rounding: a straight orbit has no elements; keep position and velocity"


class ClassicalElements(NamedTuple):
    """Classical elements, in the order of ``state_from_classical``."""

    semi_latus_rectum: Array
    eccentricity: Array
    inclination: Array
    node: Array
    argument_of_periapsis: Array
    true_anomaly: Array

    @property
    def semi_major_axis(self) -> Array:
        """p/(1 - e^2): negative for a hyperbola, infinite for a parabola."""
        e = np.asarray(self.eccentricity)
        with np.errstate(divide="ignore"):
            return np.asarray(self.semi_latus_rectum / ((1.0 - e) * (1.0 + e)))[()]


class ModifiedEquinoctialElements(NamedTuple):
    """p, f, g, h, k, L of [walker1985], in the order of ``state_from_modified_equinoctial``."""

    p: Array
    f: Array
    g: Array
    h: Array
    k: Array
    L: Array


class EquinoctialElements(NamedTuple):
    """a, h, k, p, q, mean longitude of [broucke1972], in the order of ``state_from_equinoctial``."""

    a: Array
    h: Array
    k: Array
    p: Array
    q: Array
    mean_longitude: Array


def _checked(out: Array) -> tuple[Array, ...]:
    """The six elements of a result, which must have a plane and be in range."""
    refuse(np.isnan(out[..., 0]), "position", NO_PLANE)
    refuse_overflow(~np.isfinite(out[..., [1, 2, 5]]).all(axis=-1))
    return columns(out)


def _back(rows: Rows, named: dict[str, Array], mu: ArrayLike, *more: Array) -> tuple[Array, Array]:
    """Position and velocity from named elements."""
    elements = together(lambda *six: np.stack(six, axis=-1), **named)
    out = rows.over(elements, read_mu(mu, "mu"), *more)
    last = list(named)[-1]
    refuse(np.isnan(out[..., 0]), last, "points beyond the asymptote of a hyperbola, or along the end of a parabola")
    refuse(~np.isfinite(out).all(axis=-1), last, "gives numbers beyond 1e308 with these elements; choose other units")
    return out[..., :3], out[..., 3:]


def classical_elements(position: ArrayLike, velocity: ArrayLike, mu: ArrayLike) -> ClassicalElements:
    """Classical elements: semi-latus rectum, eccentricity, inclination, node, argument of periapsis, true anomaly.

    Parameters
    ----------
    position, velocity : array_like (..., 3)
        State.
    mu : array_like (...)
        Gravity parameter, positive.

    Returns
    -------
    ClassicalElements
        Of arrays (...): ``semi_latus_rectum``, ``eccentricity``, ``inclination`` from 0 to pi, ``node`` and
        ``argument_of_periapsis`` from 0 to 2 pi, ``true_anomaly`` from -pi to pi.
        If the orbit lies in the xy-plane, the node is 0 and angles are measured from the x-axis in the direction of
        motion. On an exact circle the argument of periapsis is 0 and the true anomaly is measured from the node. Near
        these cases single angles lose digits (errors 1e-16/sin i and 1e-16/e), but the errors cancel when they are
        converted back to a state.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, mu not positive, a point at the centre; a rectilinear orbit, or one whose periapsis is
        below 1e-13 of the distance.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> elements = ph.kepler.classical_elements((7000e3, 0, 0), (0, 7.0e3, 3.0e3), ph.planets.EARTH.mu)
    >>> round(float(elements.eccentricity), 4), round(float(np.rad2deg(elements.inclination)), 2)
    (0.0186, 23.2)
    """
    return ClassicalElements(*_checked(_CLASSICAL(position, velocity, mu)))


def state_from_classical(
    semi_latus_rectum: ArrayLike, eccentricity: ArrayLike, inclination: ArrayLike, node: ArrayLike,
    argument_of_periapsis: ArrayLike, true_anomaly: ArrayLike, mu: ArrayLike,
) -> tuple[Array, Array]:  # fmt: skip
    """Position and velocity from classical elements.

    Parameters
    ----------
    semi_latus_rectum, eccentricity, inclination, node, argument_of_periapsis, true_anomaly : array_like (...)
        Any angles in radians, the inclination from 0 to pi. The function ``semi_latus_rectum`` computes the first of
        them from a semi-major axis.
    mu : array_like (...)
        Gravity parameter, positive.

    Returns
    -------
    position, velocity : arrays (..., 3)
        Relative error a few 1e-16 plus that of the angles; near the asymptote or the apoapsis of a nearly rectilinear
        orbit, times r/p.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite; p or mu not positive, e negative, an inclination outside 0 to pi; a true anomaly
        beyond the asymptote of a hyperbola.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> mu, p = ph.planets.EARTH.mu, 7000e3
    >>> position, velocity = ph.kepler.state_from_classical(p, 0.001, np.deg2rad(98.0), 0.5, 1.0, 0.2, mu)
    >>> ds = ph.integrate(ph.orbit(mu), step=30.0, steps=20, position=position, velocity=velocity)
    >>> round(float(np.linalg.norm(ds.position[-1])) / 1e3)
    6995
    """
    named = {
        "semi_latus_rectum": read_size(semi_latus_rectum, "semi_latus_rectum"),
        "eccentricity": read_eccentricity(eccentricity),
        "inclination": array(inclination, "inclination", "rad"),
        "node": array(node, "node", "rad"),
        "argument_of_periapsis": array(argument_of_periapsis, "argument_of_periapsis", "rad"),
        "true_anomaly": array(true_anomaly, "true_anomaly", "rad"),
    }
    i = named["inclination"]
    refuse((i < 0.0) | (i > pi), "inclination", "is not from 0 to pi; give radians")
    return _back(_FROM_CLASSICAL, named, mu)


def semi_latus_rectum(semi_major_axis: ArrayLike, eccentricity: ArrayLike) -> Array:
    """Semi-latus rectum p = a (1 - e^2).

    Parameters
    ----------
    semi_major_axis : array_like (...)
        Positive for ellipses, negative for hyperbolas.
    eccentricity : array_like (...)
        Not negative and not 1: a parabola has no semi-major axis; give p itself.

    Returns
    -------
    array (...)

    Raises
    ------
    InvalidInput
        Not finite, shapes that do not broadcast, an eccentricity of 1, or a semi-major axis of the wrong sign.

    Examples
    --------
    >>> import polhode as ph
    >>> p = ph.kepler.semi_latus_rectum(26560e3, 0.74)
    >>> position, velocity = ph.kepler.state_from_classical(p, 0.74, 1.1, 0.0, 4.7, 0.0, ph.planets.EARTH.mu)
    >>> round(float(p) / 1e3)
    12016
    """
    e, a = read_eccentricity(eccentricity), array(semi_major_axis, "semi_major_axis", "m")
    refuse(e == 1.0, "eccentricity", "is 1: a parabola has no semi-major axis; give its semi-latus rectum")
    p = np.asarray(together(lambda a, e: a * (1.0 - e) * (1.0 + e), semi_major_axis=a, eccentricity=e))
    refuse(p <= 0.0, "semi_major_axis", "has the wrong sign: positive for ellipses, negative for hyperbolas")
    return p[()]


_parameter = semi_latus_rectum  # an alias, since arguments shadow the name


def state(
    mu: ArrayLike, *, semi_major_axis: ArrayLike | None = None, semi_latus_rectum: ArrayLike | None = None,
    periapsis: ArrayLike | None = None, eccentricity: ArrayLike = 0.0, inclination: ArrayLike = 0.0,
    node: ArrayLike = 0.0, argument_of_periapsis: ArrayLike = 0.0, true_anomaly: ArrayLike | None = None,
    mean_anomaly: ArrayLike | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Position and velocity from classical elements by name, with a choice of size and of anomaly.

    Parameters
    ----------
    mu : array_like (...)
        Gravity parameter, positive.
    semi_major_axis, semi_latus_rectum, periapsis : array_like (...)
        Size of the orbit, one of the three: the semi-major axis (negative for a hyperbola; a parabola has none), the
        semi-latus rectum, or the distance of the periapsis.
    eccentricity, inclination, node, argument_of_periapsis : array_like (...)
        Zero by default; angles in radians, as for ``state_from_classical``.
    true_anomaly, mean_anomaly : array_like (...)
        Position on the orbit, one of the two; by default the periapsis. The mean anomaly of a parabola is
        2 sqrt(mu/p^3) t.

    Returns
    -------
    position, velocity : arrays (..., 3)

    Raises
    ------
    InvalidInput
        As ``state_from_classical``; no size or two of them, both anomalies, or a semi-major axis of the wrong sign.

    Examples
    --------
    >>> r, v = state(1.0, semi_major_axis=2.0, eccentricity=0.5)
    >>> r.tolist(), bool(abs(v[1] - np.sqrt(1.5 / 1.0)) < 1e-15)
    ([1.0, 0.0, 0.0], True)
    """
    sizes = {"semi_major_axis": semi_major_axis, "semi_latus_rectum": semi_latus_rectum, "periapsis": periapsis}
    sizes = {name: value for name, value in sizes.items() if value is not None}
    if not sizes:
        raise InvalidInput("the size of the orbit is missing; give semi_major_axis, semi_latus_rectum or periapsis")
    if len(sizes) > 1:
        raise InvalidInput(f"{' and '.join(sizes)} are given; keep one of them")
    if true_anomaly is not None and mean_anomaly is not None:
        raise InvalidInput("true_anomaly and mean_anomaly are both given; keep one of them")
    if semi_major_axis is not None:
        p = _parameter(semi_major_axis, eccentricity)
    elif periapsis is not None:
        e, q = read_eccentricity(eccentricity), read_size(periapsis, "periapsis")
        p = together(lambda q, e: q * (1.0 + e), periapsis=q, eccentricity=e)
    else:
        assert semi_latus_rectum is not None
        p = read_size(semi_latus_rectum, "semi_latus_rectum")
    nu = 0.0 if true_anomaly is None else true_anomaly
    if mean_anomaly is not None:
        with naming(mean="mean_anomaly"):
            nu = true_from_mean(mean_anomaly, eccentricity)
    return state_from_classical(p, eccentricity, inclination, node, argument_of_periapsis, nu, mu)


def _factor(retrograde: bool) -> Array:
    return np.asarray(-1.0 if truth(retrograde, "retrograde") else 1.0)


def _no_frame(k: Array, retrograde: bool) -> None:
    if retrograde:
        case = "gives an inclination of 0, for which retrograde elements are not defined; pass retrograde=False"
    else:
        case = "gives an inclination of pi, for which these elements are not defined; pass retrograde=True"
    refuse(np.isnan(k), "velocity", case)


def modified_equinoctial_elements(
    position: ArrayLike, velocity: ArrayLike, mu: ArrayLike, retrograde: bool = False
) -> ModifiedEquinoctialElements:
    """Modified equinoctial elements p, f, g, h, k, L [walker1985], for every conic.

    With w the argument of periapsis and O the node, f and g are e times cosine and sine of w + O, h and k are tan(i/2)
    times cosine and sine of O, and L = w + O + nu. With ``retrograde``, w - O replaces w + O, and cot(i/2) replaces
    tan(i/2).

    Parameters
    ----------
    position, velocity : array_like (..., 3)
        State.
    mu : array_like (...)
        Gravity parameter, positive.
    retrograde : bool
        Use the retrograde set, singular at i = 0 instead of i = pi.

    Returns
    -------
    ModifiedEquinoctialElements
        Of arrays (...), L from 0 to 2 pi. Circular and equatorial orbits are not special cases.

    Raises
    ------
    InvalidInput
        As ``classical_elements``; an inclination of pi, with ``retrograde`` of 0.

    Examples
    --------
    >>> import polhode as ph
    >>> mu = ph.planets.EARTH.mu
    >>> elements = ph.kepler.modified_equinoctial_elements((42164e3, 0, 0), (10.0, 3.07e3, 0.05e3), mu)
    >>> round(float(elements.p / 1e3), 1), round(float(elements.f), 4), round(float(elements.h), 4)
    (42047.3, -0.0028, 0.0081)
    """
    elements = _checked(_MODIFIED(position, velocity, mu, _factor(retrograde)))
    _no_frame(elements[3], retrograde)
    return ModifiedEquinoctialElements(*elements)


def state_from_modified_equinoctial(
    p: ArrayLike, f: ArrayLike, g: ArrayLike, h: ArrayLike, k: ArrayLike, L: ArrayLike, mu: ArrayLike,
    retrograde: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """Position and velocity from modified equinoctial elements.

    Parameters
    ----------
    p, f, g, h, k, L : array_like (...)
        As ``modified_equinoctial_elements`` returns them.
    mu : array_like (...)
        Gravity parameter, positive.
    retrograde : bool
        As for ``modified_equinoctial_elements``.

    Returns
    -------
    position, velocity : arrays (..., 3)

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite; p or mu not positive; a longitude beyond the asymptote of a hyperbola.

    Examples
    --------
    >>> import polhode as ph
    >>> mu = ph.planets.EARTH.mu
    >>> position, velocity = ph.kepler.state_from_modified_equinoctial(42164e3, 0.01, 0.02, 0.05, 0.03, 1.2, mu)
    >>> (position / 1e3).round()
    array([15034., 38296.,  2938.])
    """
    values = {"f": f, "g": g, "h": h, "k": k}
    named = {"p": read_size(p, "p")} | {name: array(value, name) for name, value in values.items()}
    named["L"] = array(L, "L", "rad")
    return _back(_FROM_MODIFIED, named, mu, _factor(retrograde))


def equinoctial_elements(
    position: ArrayLike, velocity: ArrayLike, mu: ArrayLike, retrograde: bool = False
) -> EquinoctialElements:
    """Equinoctial elements a, h, k, p, q and mean longitude [broucke1972], for ellipses.

    h and k are e times sine and cosine of w + O, p and q are tan(i/2) times sine and cosine of O, and the mean
    longitude is w + O + M. The letters differ from those of the modified set.

    Parameters
    ----------
    position, velocity, mu, retrograde
        As for ``modified_equinoctial_elements``.

    Returns
    -------
    EquinoctialElements
        Of arrays (...), the mean longitude from 0 to 2 pi. Circular and equatorial orbits are not special cases.

    Raises
    ------
    InvalidInput
        As ``modified_equinoctial_elements``; a parabola or hyperbola, which has no mean longitude.

    Examples
    --------
    >>> import polhode as ph
    >>> mu = ph.planets.EARTH.mu
    >>> elements = ph.kepler.equinoctial_elements((42164e3, 0, 0), (10.0, 3.07e3, 0.05e3), mu)
    >>> [round(float(x), 4) for x in (elements.h, elements.k, elements.q)]
    [-0.0032, -0.0028, 0.0081]
    """
    elements = _EQUINOCTIAL(position, velocity, mu, _factor(retrograde))
    checked = _checked(elements)
    refuse(np.isinf(elements[..., 0]), "velocity", "is that of escape or above; use modified_equinoctial_elements")
    _no_frame(elements[..., 3], retrograde)
    return EquinoctialElements(*checked)


def state_from_equinoctial(
    a: ArrayLike, h: ArrayLike, k: ArrayLike, p: ArrayLike, q: ArrayLike, mean_longitude: ArrayLike, mu: ArrayLike,
    retrograde: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """Position and velocity from equinoctial elements.

    Parameters
    ----------
    a, h, k, p, q, mean_longitude : array_like (...)
        As ``equinoctial_elements`` returns them; any longitude up to 1e12.
    mu : array_like (...)
        Gravity parameter, positive.
    retrograde : bool
        As for ``equinoctial_elements``.

    Returns
    -------
    position, velocity : arrays (..., 3)

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite; a or mu not positive; h^2 + k^2 not below 1.

    Examples
    --------
    >>> import polhode as ph
    >>> position, velocity = ph.kepler.state_from_equinoctial(42164e3, 0.01, 0.02, 0.05, 0.03, 1.2, ph.planets.EARTH.mu)
    >>> (position / 1e3).round()
    array([13885., 39070.,   959.])
    """
    named = {"a": read_size(a, "a")}
    named |= {name: array(value, name) for name, value in {"h": h, "k": k, "p": p, "q": q}.items()}
    named["mean_longitude"] = read_sized(mean_longitude, "mean_longitude", LONGEST, "rad")
    try:
        e = np.hypot(named["h"], named["k"])
    except ValueError:
        e = np.zeros(())  # they do not broadcast: _back raises a better message
    refuse(e >= 1.0, "h", "and k are those of a parabola or hyperbola; use modified equinoctial elements")
    return _back(_FROM_EQUINOCTIAL, named, mu, _factor(retrograde))
