"""How the Earth stands in space: its rotation angle, its axes with precession and nutation, and those of TEME;
the axis of any body and the angle of its prime meridian, as arguments of its fields."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from math import pi
from typing import Annotated, Any, Literal

import numpy as np

from polhode.arguments import Array, choice, number, unit_vector
from polhode.arguments.recorded import called
from polhode.arguments.words import Angle, TableOf, Time, Vector
from polhode.epochs import DAY, STARTS, Epoch, epoch_of, instants, without_tdb
from polhode.errors import InvalidInput, MissingExtra, answering, shown

JD_2000 = 2451545.0
ARC = pi / 648000.0
LEAPS_BEFORE_2000 = sum(start <= 0 for start in STARTS)
ERA = (0.7790572732640, 1.00273781191135448)
"""Earth rotation angle at 2000-01-01T12:00:00 UT1, in turns, and turns in a day [petit2010, eq. 5.15]."""
GMST = (67310.54841, 876600.0 * 3600.0 + 8640184.812866, 0.093104, -6.2e-6)
"""Mean sidereal time of Greenwich, s, by powers of centuries of UT1 from 2000-01-01T12 [vallado2013, eq. 3-47]."""


def days_of_ut(epoch: Any, ut1_utc: float = 0.0) -> float:
    """Days of UT1 from 2000-01-01T12:00:00 to an instant."""
    counted = instants(without_tdb(epoch_of(epoch)), [0.0], "UTC")[0]
    return (float(counted - (bisect_right(STARTS, counted) - LEAPS_BEFORE_2000)) + ut1_utc) / DAY - 0.5


@answering
def earth_rotation_angle(epoch: Any) -> float:
    """Angle from x of space to the meridian of Greenwich, for the ``angle`` of gravity and magnetic fields.

    Precession, nutation and polar motion are neglected, 15 km at the surface in 2023: ``earth_orientation`` has them.
    UTC is taken for UT1 (0.9 s at most, or 7e-5 rad).

    Parameters
    ----------
    epoch : str, datetime or astropy Time
        An instant, such as "2026-03-20T12:00:00 UTC".

    Returns
    -------
    float
        rad, from 0 to 2 pi.

    Raises
    ------
    InvalidInput
        No instant.

    Examples
    --------
    >>> round(earth_rotation_angle("2000-01-01T12:00:00 UTC"), 6)
    4.894961
    """
    return 2.0 * pi * ((ERA[0] + ERA[1] * days_of_ut(epoch)) % 1.0)


@answering
def earth_orientation(
    epoch: str | None = None, *, ut1_utc: Time | None = None, source: Literal["builtin", "astropy"] = "builtin"
) -> dict[str, Any]:
    """The Earth's axis and the angle of Greenwich, as arguments of gravity and magnetic fields.

    Polar motion is left out, up to 18 m at the surface: the axis is that about which the Earth turns.

    Parameters
    ----------
    epoch : str
        The instant of time 0, such as "2026-03-20T12:00:00 UTC". In a scenario by default that under [run].
    ut1_utc : float
        UT1 - UTC, s, at most 0.9, which the IERS publishes: 465 m at the equator for each second. By default 0, with
        astropy that of its tables.
    source : str
        "builtin": the precession of IAU 1976 and the four largest terms of nutation, in the axes of the equator and
        equinox of J2000 (25 milliseconds of arc from those of the ICRS), at the surface within 20 m of astropy.
        "astropy": IAU 2006/2000A, in the axes of the ICRS, with UT1 from the tables of the IERS that come with
        ``polhode[astropy]``; they end about a year after they were published.

    Returns
    -------
    dict
        ``axis`` (3,) towards the north pole and ``angle``, rad, from where the equator rises through the plane z = 0 to
        the meridian of Greenwich: ``forces.gravity_field("egm2008", **planets.earth_orientation(epoch))``.

    Raises
    ------
    InvalidInput
        No instant, or one that is missing; an instant beyond the tables.
    MissingExtra
        The source "astropy" without astropy.

    Examples
    --------
    >>> round(earth_orientation("2026-03-20T12:00:00 UTC")["axis"][0], 6)
    0.002559
    """
    if epoch is None:
        raise InvalidInput("epoch is missing; give the instant of time 0, in a scenario under [run]")
    lead = None if ut1_utc is None else number(ut1_utc, "ut1_utc", "s")
    if lead is not None and abs(lead) > 1.0:
        raise InvalidInput(f"ut1_utc is {lead:g} s, but leap seconds keep it below 1 s; give what the IERS publishes")
    axes = {"builtin": _builtin_axes, "astropy": _astropy_axes}
    pole, greenwich = axes[choice(source, "source", axes)](epoch_of(epoch), lead)
    node, across, _ = equator(pole)
    return {"axis": tuple(pole.tolist()), "angle": float(np.arctan2(across @ greenwich, node @ greenwich) % (2.0 * pi))}


def _builtin_axes(epoch: Epoch, lead: float | None) -> tuple[Array, Array]:
    """Directions of the pole and of the meridian of Greenwich on the equator, in the axes of J2000."""
    days = days_of_ut(epoch, lead or 0.0)
    T = days / 36525.0
    R = to_j2000(np.array([T]))[0]
    turned = pi / 43200.0 * (sum(c * T**k for k, c in enumerate(GMST)) % 86400.0)
    return R[:, 2], R @ (np.cos(turned), np.sin(turned), 0.0)


def _astropy_axes(epoch: Epoch, lead: float | None) -> tuple[Any, Any]:
    """The same of IAU 2006/2000A, in the axes of the ICRS, with UT1 of the IERS where it is not given."""
    try:
        import erfa
    except ImportError:
        raise MissingExtra("source='astropy' needs astropy: pip install 'polhode[astropy]'") from None
    if lead is None:
        lead = _ut1_utc(days_of_ut(epoch))
    terrestrial = float(instants(without_tdb(epoch), [0.0], "TT")[0]) / DAY - 0.5
    x, y, s = erfa.xys06a(JD_2000, terrestrial)
    R = erfa.c2tcio(erfa.c2ixys(x, y, s), erfa.era00(JD_2000, days_of_ut(epoch, lead)), np.eye(3))
    return R[2], R[0]


def _ut1_utc(days: float) -> float:
    """UT1 - UTC (s) by the tables that come with astropy, days of UTC after 2000-01-01T12:00:00."""
    from astropy.utils import iers

    table = iers.IERS_A.open(iers.IERS_A_FILE)  # read once; the one of astropy by default would ask the network
    lead, status = table.ut1_utc(JD_2000, days, return_status=True)
    if status not in (iers.FROM_IERS_B, iers.FROM_IERS_A, iers.FROM_IERS_A_PREDICTION):
        raise InvalidInput(
            "epoch is beyond the tables of the IERS that come with astropy; give ut1_utc, or install "
            "a newer astropy-iers-data"
        )
    return float(lead.value)


def equator(k: Array) -> tuple[Array, Array, Array]:
    """Axes of a body with the unit vector k towards its pole: where its equator rises through the plane z = 0 (x for a
    pole along z), the direction a quarter turn ahead, and k."""
    node = np.array((-k[1], k[0], 0.0)) if k[0] or k[1] else np.array((1.0, 0.0, 0.0))
    node /= np.abs(node).max()  # so that squares of the smallest numbers are some
    node /= np.linalg.norm(node)
    return node, np.cross(k, node), k


def _about(axis: int, angle: Array) -> Array:
    """Matrices (n, 3, 3) that express vectors in axes turned by an angle about one of them."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.zeros((*np.shape(angle), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[..., axis, axis] = 1.0
    R[..., i, i], R[..., i, j], R[..., j, i], R[..., j, j] = c, s, -s, c
    return R


def to_j2000(T: Array) -> Array:
    """Matrices (n, 3, 3) from TEME to the equator and equinox of J2000, T Julian centuries after it (UTC for TT)."""
    turn = 2.0 * np.pi
    node = np.radians(125.04452 - 1934.136261 * T)
    sun, moon = (np.radians(a + b * T) % turn for a, b in ((280.4665, 36000.7698), (218.3165, 481267.8813)))
    psi = ARC * (-17.20 * np.sin(node) - 1.32 * np.sin(2 * sun) - 0.23 * np.sin(2 * moon) + 0.21 * np.sin(2 * node))
    eps = ARC * (9.20 * np.cos(node) + 0.57 * np.cos(2 * sun) + 0.10 * np.cos(2 * moon) - 0.09 * np.cos(2 * node))
    mean = ARC * (84381.448 - 46.8150 * T)
    zeta = ARC * (2306.2181 * T + 0.30188 * T**2 + 0.017998 * T**3)
    z = ARC * (2306.2181 * T + 1.09468 * T**2 + 0.018203 * T**3)
    theta = ARC * (2004.3109 * T - 0.42665 * T**2 - 0.041833 * T**3)
    of_date = _about(2, -z) @ _about(1, theta) @ _about(2, -zeta)  # from J2000
    nutation = _about(0, -mean - eps) @ _about(2, -psi) @ _about(0, mean)
    return np.swapaxes(nutation @ of_date, -1, -2) @ _about(2, -psi * np.cos(mean))


Orientation = Annotated[Mapping[str, Any], TableOf(earth_orientation)]


def oriented(orientation: Any, axis: Vector, angle: Angle) -> tuple[Any, float]:
    """Axis (3,) of unit length and angle of a body, from an orientation in place of them if it is given."""
    if orientation is not None:
        if angle != 0.0 or not np.array_equal(axis, (0.0, 0.0, 1.0)):
            raise InvalidInput("orientation is given beside axis or angle, which follow from it; leave these out")
        given = orientation if isinstance(orientation, Mapping) else {"epoch": orientation}
        try:
            made = given if set(given) == {"axis", "angle"} else called(earth_orientation, given)
        except InvalidInput as refused:
            raise InvalidInput(f"orientation {shown(orientation)}: {refused}") from None
        axis, angle = made["axis"], made["angle"]
    return np.array(unit_vector(axis, "axis")), number(angle, "angle", "rad")
