"""Propagation of orbits, and the integrals of motion: energy, period, angular momentum, eccentricity, apsides."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from polhode.algebra.kepler import cross_exact
from polhode.algebra.orbits.kernels import apsides_of, eccentricity_of, energy_and_period, propagated
from polhode.algebra.orbits.operands import MU, POSITION, TIME, VELOCITY, refuse, refuse_overflow
from polhode.algebra.vectorised import Rows, columns
from polhode.arguments import Array
from polhode.kernel import layout as slots

__all__ = [
    "angular_momentum", "apsides", "eccentricity_vector", "period", "propagate", "specific_energy",
]  # fmt: skip

_PROPAGATE = Rows(propagated, (7,), lanes=True, position=POSITION, velocity=VELOCITY, t=TIME, mu=MU)
_ENERGY = Rows(energy_and_period, (2,), position=POSITION, velocity=VELOCITY, mu=MU)
_MOMENTUM = Rows(cross_exact, (3,), position=POSITION, velocity=VELOCITY)
_ECCENTRICITY = Rows(eccentricity_of, (3,), position=POSITION, velocity=VELOCITY, mu=MU)
_APSIDES = Rows(apsides_of, (2,), position=POSITION, velocity=VELOCITY, mu=MU)


def propagate(position: ArrayLike, velocity: ArrayLike, t: ArrayLike, mu: ArrayLike) -> tuple[Array, Array]:
    """Propagate a Kepler orbit of any kind over any time, in universal variables.

    Parameters
    ----------
    position, velocity : array_like (..., 3)
        State at time 0, relative to the centre.
    t : array_like (...)
        Time, of either sign.
    mu : array_like (...)
        Gravity parameter, positive.

    Returns
    -------
    position, velocity : arrays (..., 3)
        State at time t. Errors are about those from rounding the arguments: at most 2.2 times that in 16,000 random
        cases (every conic, ellipses up to the largest representable e, hyperbolas with e up to 100, falls towards the
        centre, 1e-12 to 1e4 periods); for exact arguments, no worse after many periods than after one. A rectilinear
        fall turns back at the centre, as the limit of e -> 1 does.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, mu not positive; a point that starts or ends at the centre; more than 1e15 periods.

    Examples
    --------
    >>> r, v = propagate((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), 2.0, 1.0)
    >>> bool(abs(r[0] - np.cos(2.0)) < 1e-15)
    True
    """
    out = _PROPAGATE(position, velocity, t, mu)
    if out.ndim == 1 and out[6] == slots.OK:
        return out[:3], out[3:6]
    status = out[..., 6]
    if np.count_nonzero(status):
        lost = "is more than 1e15 periods, after which nothing is left of the phase"
        refuse(status == slots.NOT_CONVERGED, "t", lost)
        refuse(status != slots.OK, "t", "leads into the centre, or beyond the range of double precision")
    return out[..., :3], out[..., 3:6]


def specific_energy(position: ArrayLike, velocity: ArrayLike, mu: ArrayLike) -> Array:
    """Specific orbital energy v^2/2 - mu/r, per unit mass.

    Parameters
    ----------
    position, velocity : array_like (..., 3)
        State.
    mu : array_like (...)
        Gravity parameter, positive.

    Returns
    -------
    array (...)
        Negative for ellipses. Relative error 1e-16, even where kinetic and potential energy nearly cancel.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, mu not positive, a point at the centre.

    Examples
    --------
    >>> import polhode as ph
    >>> mu = ph.planets.EARTH.mu
    >>> energy = ph.kepler.specific_energy((7000e3, 0, 0), (0, 7.6e3, 0), mu)
    >>> round(-mu / (2 * float(energy)) / 1e3)
    7102
    """
    energy = _ENERGY(position, velocity, mu)[..., 0][()]
    refuse_overflow(~np.isfinite(energy))
    return energy


def period(position: ArrayLike, velocity: ArrayLike, mu: ArrayLike) -> Array:
    """Period of an ellipse, 2 pi sqrt(a^3/mu).

    Parameters
    ----------
    position, velocity, mu : array_like
        As for ``specific_energy``.

    Returns
    -------
    array (...)
        Relative error 2e-16.

    Raises
    ------
    InvalidInput
        As ``specific_energy``; a parabola or hyperbola, which has no period.

    Examples
    --------
    >>> import polhode as ph
    >>> T = ph.kepler.period((7000e3, 0, 0), (0, 7.6e3, 0), ph.planets.EARTH.mu)
    >>> round(float(T) / 60, 2)
    99.27
    """
    values = _ENERGY(position, velocity, mu)
    refuse(values[..., 0] >= 0.0, "velocity", "is that of escape or above: the orbit is open and has no period")
    refuse_overflow(~np.isfinite(values).all(axis=-1))
    return values[..., 1][()]


def angular_momentum(position: ArrayLike, velocity: ArrayLike) -> Array:
    """Specific angular momentum r x v, per unit mass.

    Parameters
    ----------
    position, velocity : array_like (..., 3)
        State.

    Returns
    -------
    array (..., 3)
        Each component accurate to its own last digit, even where position and velocity are nearly parallel.

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, a point at the centre.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.kepler.angular_momentum((7000e3, 0, 0), (0, 7.0e3, 2.5e3))[1:] / 1e9
    array([-17.5,  49. ])
    """
    return _MOMENTUM(position, velocity)


def eccentricity_vector(position: ArrayLike, velocity: ArrayLike, mu: ArrayLike) -> Array:
    """Eccentricity vector v x (r x v)/mu - r/|r|, pointing from the centre to the periapsis, with length e.

    Parameters
    ----------
    position, velocity, mu : array_like
        As for ``specific_energy``.

    Returns
    -------
    array (..., 3)
        Error a few 1e-16 times 1 + e, so for a circle the direction is meaningless. For a rectilinear orbit it is
        -r/|r|.

    Raises
    ------
    InvalidInput
        As ``specific_energy``.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.kepler.eccentricity_vector((7000e3, 1000e3, 0), (-1e3, 8.0e3, 0), ph.planets.EARTH.mu)[:2].round(4)
    array([0.1541, 0.0016])
    """
    vector = _ECCENTRICITY(position, velocity, mu)
    refuse_overflow(~np.isfinite(vector).all(axis=-1))
    return vector


def apsides(position: ArrayLike, velocity: ArrayLike, mu: ArrayLike) -> tuple[Array, Array]:
    """Periapsis and apoapsis distance.

    Parameters
    ----------
    position, velocity, mu : array_like
        As for ``specific_energy``.

    Returns
    -------
    periapsis, apoapsis : arrays (...)
        Distances from the centre; 0 for the periapsis of a rectilinear orbit, infinity for the apoapsis of a parabola
        or hyperbola. Their directions are those of ``eccentricity_vector`` and of its negative.

    Raises
    ------
    InvalidInput
        As ``specific_energy``.

    Examples
    --------
    >>> import polhode as ph
    >>> low, high = ph.kepler.apsides((7000e3, 0, 0), (0, 8.0e3, 0), ph.planets.EARTH.mu)
    >>> round(float(low) / 1e3), round(float(high) / 1e3)
    (7000, 8981)
    """
    periapsis, apoapsis = columns(_APSIDES(position, velocity, mu))
    refuse_overflow(~np.isfinite(periapsis) | np.isnan(apoapsis))
    return periapsis, apoapsis
