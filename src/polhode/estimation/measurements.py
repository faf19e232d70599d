"""Measurements: what was measured of a motion, when, and how well; every number is checked here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from polhode.arguments import Array, ArrayLike, Indices, Mask, array, choice, has, in_unit, room_for, text, whole
from polhode.errors import InvalidInput, answering, shown, unknown_name

LENGTH_OF_QUATERNION = 1e-2  # most by which the length of a measured quaternion may differ from 1
LENGTH_OF_DIRECTION = 0.05
"""The same of a measured direction; where the noise is known, five times its standard deviation if that is more."""
LARGEST = 1e60
"""Most that a measured number or a standard deviation may be, so that squares of their ratios are numbers."""


class Kind(NamedTuple):
    """A kind of measurement: numbers in a value, numbers of its residual, of a bias (0 where it can have none), what it
    is, names of the numbers of its residual, and SI units of the value and of its error."""

    size: int
    residuals: int
    bias: int
    about: str
    components: tuple[str, ...]
    unit: str
    error: str


XYZ = ("x", "y", "z")
KINDS = {
    "gyro": Kind(3, 3, 3, "angular velocity in the body frame, rad per unit of time", XYZ, "rad / s", "rad / s"),
    "direction": Kind(
        3, 2, 0, "a known direction of space seen in the body frame, a unit vector", ("first", "second"), "", "rad"
    ),
    "attitude": Kind(4, 3, 0, "quaternion (w, x, y, z), body to space", XYZ, "", "rad"),
    "position": Kind(3, 3, 3, "position in the space frame", XYZ, "m", "m"),
    "velocity": Kind(3, 3, 3, "velocity in the space frame", XYZ, "m / s", "m / s"),
    "range": Kind(1, 1, 1, "distance from a station", ("",), "m", "m"),
    "range_rate": Kind(1, 1, 1, "rate of change of the distance from a station", ("",), "m / s", "m / s"),
}
"""Every kind of measurement. Residuals of directions are angles (rad) along two axes across the direction, those of
attitudes a rotation vector in the body frame (rad)."""
DIRECTIONS = ("direction", "sun", "magnetometer")  # names by which a kind is known to be a direction


@dataclass(frozen=True, eq=False)
class Measurement:
    """Measurements of one kind by one instrument; made by ``polhode.estimation.gyro`` and so on.

    Attributes
    ----------
    kind : str
        One of ``polhode.estimation.KINDS``.
    name : str
        Of the instrument: in results, in ``noise=`` and in ``free=["gyro.bias"]``.
    times : array (n,)
        In any order.
    values : array (n, k)
        Measured values.
    whitening : array (n or 1, r, r) or None
        Turns a residual into one of unit covariance; None while the noise is unknown.
    reference : array (3,) or (n, 3), or None
        The direction in space, or the position of the station.
    reference_velocity : array (3,) or (n, 3), or None
        The velocity of the station.
    body, station : str
        Names of the body that it is of, empty where there is only one, and of a body that is the station.
    """

    kind: str
    name: str
    times: Array
    values: Array
    whitening: Any = None
    reference: Any = None
    reference_velocity: Any = None
    body: str = ""
    station: str = ""

    @property
    def residuals(self) -> int:
        """Numbers in the residual of one measurement."""
        return KINDS[self.kind].residuals

    def with_noise(self, sigma: float) -> Measurement:
        """The same with a standard deviation or covariance.

        Raises
        ------
        InvalidInput
            A wrong shape, a number that is not positive, no covariance.
        """
        return replace(self, whitening=_whitening(sigma, self.name, self.kind, len(self.times)))

    def part(self, chosen: Mask | Indices) -> Measurement:
        """The measurements that a mask or an index array selects."""
        n = len(self.times)

        def several(a: Array | None, most: int) -> bool:
            return a is not None and a.ndim == most and len(a) == n

        return replace(
            self, times=self.times[chosen], values=self.values[chosen],
            whitening=self.whitening[chosen] if several(self.whitening, 3) and n > 1 else self.whitening,
            reference=self.reference[chosen] if several(self.reference, 2) else self.reference,
            reference_velocity=self.reference_velocity[chosen] if several(self.reference_velocity, 2)
            else self.reference_velocity,
        )  # fmt: skip


def _rows(time: ArrayLike, values: ArrayLike, kind: str, name: str) -> tuple[Array, Array]:
    """Times (n,) and values (n, k), finite."""
    size = KINDS[kind].size
    times, found = _finite(time, f"time of {name}", "s"), _finite(values, name, KINDS[kind].unit)
    if times.ndim != 1 or not times.size:
        raise InvalidInput(f"time of {name} has shape {times.shape}; give one time for each measurement, at least one")
    if size == 1 and found.ndim == 1:
        found = found[:, None]
    if found.shape != (times.size, size):
        wanted = f"({times.size},)" if size == 1 else f"({times.size}, {size})"
        raise InvalidInput(f"{name} has shape {np.shape(values)}, but there are {times.size} times; give {wanted}: "
                           f"{KINDS[kind].about}")  # fmt: skip
    return times, found


def _finite(given: ArrayLike, name: str, unit: str) -> Array:
    """Numbers; one that is not finite is named with its row."""
    values = getattr(given, "values", given) if has(given, "values") else given
    given = in_unit(given if callable(values) else values, unit, name)
    try:
        quick = np.asarray(given)
    except Exception:  # what an object raises when it is converted; the next call says what is wrong with it
        quick = array(given, name, unit)
    if quick.dtype.kind not in "fiu" or isinstance(given, np.ma.MaskedArray):
        quick = array(given, name, unit)
    room_for(2.0 * quick.size, name)
    quick = quick.astype(float)
    if quick.ndim and not np.isfinite(quick).all():
        row = int(np.argwhere(~np.isfinite(quick))[0][0])
        raise InvalidInput(f"{name} is not finite in row {row}: {shown(quick[row].tolist())}; leave that row out, or "
                           "leave its cells empty in a table")  # fmt: skip
    if quick.ndim and not (np.abs(quick) <= LARGEST).all():
        row = int(np.argwhere(np.abs(quick) > LARGEST)[0][0])
        raise InvalidInput(f"{name} is {shown(quick[row].tolist())} in row {row}; what is measured is at most "
                           f"{LARGEST:g}, so check its units, or leave that row out")  # fmt: skip
    return quick


def in_range(sigma: Array, what: str) -> None:
    """Refuse standard deviations whose squares are too small or too large to be told from 0 and from infinity."""
    wrong = sigma[~((sigma >= 1.0 / LARGEST) & (sigma <= LARGEST))]
    if wrong.size:
        raise InvalidInput(f"{what} is {wrong[0]:g}; standard deviations must be positive, from {1.0 / LARGEST:g} to "
                           f"{LARGEST:g}, so check its units")  # fmt: skip


def inverse_cholesky(covariance: Array, what: str) -> Array:
    """Inverse Cholesky factors (..., k, k) of covariances."""
    try:
        symmetric = np.allclose(covariance, np.swapaxes(covariance, -1, -2), rtol=1e-9, atol=0.0)
        factor = np.linalg.cholesky(covariance) if symmetric else None
    except np.linalg.LinAlgError:
        factor = None
    if factor is None:
        raise InvalidInput(f"{what} is no covariance; give a symmetric positive definite matrix, or a standard "
                           "deviation")  # fmt: skip
    in_range(np.diagonal(factor, axis1=-2, axis2=-1), what)
    return np.linalg.inv(factor)


def _whitening(sigma: ArrayLike | None, name: str, kind: str, n: int) -> Array | None:
    """Whitening matrices (n or 1, r, r) from standard deviations or covariances."""
    if sigma is None:
        return None
    r = KINDS[kind].residuals
    given = array(sigma, f"noise of {name}", KINDS[kind].error)
    if given.shape in ((r, r), (n, r, r)) and r > 1:
        return inverse_cholesky(given.reshape(-1, r, r), f"noise of {name}")
    in_range(given, f"noise of {name}")
    if given.shape in ((), (r,)):
        return np.diag(1.0 / np.broadcast_to(given, (r,)))[None]
    if given.shape in ((n,), (n, 1), (n, r)):
        spread = np.broadcast_to(given.reshape(n, -1), (n, r))
        return (1.0 / spread)[:, :, None] * np.eye(r)
    raise InvalidInput(f"noise of {name} has shape {given.shape}; give a standard deviation, one for each of the {r} "
                       f"components or of the {n} rows, or a covariance ({r}, {r})")  # fmt: skip


def _reference(given: ArrayLike, what: str, n: int, name: str, unit: str) -> Array:
    found = _finite(given, what, unit)
    if found.shape not in ((3,), (n, 3)):
        raise InvalidInput(f"{what} of {name} has shape {found.shape}; give 3 numbers in the space frame, or one row "
                           f"for each of the {n} times")  # fmt: skip
    return found


def _made(
    kind: str, time: ArrayLike, values: ArrayLike, sigma: ArrayLike | None, name: str | None, body: str | None
) -> Measurement:
    of = "" if body is None else name_of_body(body, "body")
    called = text((f"{of}.{kind}" if of else kind) if name is None else name, "name", 64)
    times, found = _rows(time, values, kind, called)
    return Measurement(kind, called, times, found, _whitening(sigma, called, kind, times.size), body=of)


def name_of_body(given: str | int, what: str) -> str:
    """The name of a body, or its number in a system whose bodies have none."""
    return str(whole(given, what)) if isinstance(given, int) else text(given, what)


# ------------------------------------------------------------------ what users call
@answering
def gyro(
    time: ArrayLike, values: ArrayLike, sigma: ArrayLike | None = None, *,
    name: str | None = None, body: str | None = None,
) -> Measurement:  # fmt: skip
    """Angular velocities from rate gyros.

    Parameters
    ----------
    time : array_like (n,)
        In any order.
    values : array_like (n, 3)
        In the body frame, rad per unit of time.
    sigma : float or array_like, optional
        Standard deviation of a component in the same unit; three of them, one for each row, or a covariance (3, 3).
    name : str, optional
        Of the instrument, ``"gyro"`` unless given. ``free=["gyro.bias"]`` fits a constant offset of the three axes.
    body : str, optional
        Name of the body that it is of, where a system has several; the instrument is then ``"a.gyro"`` unless named.

    Raises
    ------
    InvalidInput
        Wrong shapes; a number that is not finite, with its row.

    Examples
    --------
    >>> import polhode as ph
    >>> truth = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> gyro = ph.estimation.gyro(truth.time, truth.angular_velocity, sigma=1e-3)
    >>> guess = {"angular_velocity": (0.2, 0.9, 0.1)}
    >>> found = ph.fit(ph.free_body((1, 2, 2.5)), [gyro], ["angular_velocity"], step=0.1, start=guess)
    >>> found.values["angular_velocity"].round(4)
    array([0.2, 1. , 0.1])
    """
    return _made("gyro", time, values, sigma, name, body)


@answering
def direction(
    time: ArrayLike, values: ArrayLike, reference: ArrayLike, sigma: ArrayLike | None = None, *,
    name: str | None = None, body: str | None = None,
) -> Measurement:  # fmt: skip
    """A direction known in space, as an instrument sees it in the body frame: Sun sensor, star, magnetometer.

    Parameters
    ----------
    time : array_like (n,)
        In any order.
    values : array_like (n, 3)
        Unit vectors in the body frame; lengths within 0.05 of 1 (or within 5 ``sigma``) are set to 1.
    reference : array_like (3,) or (n, 3)
        The same direction in the space frame, of any length, one for all times or for each.
    sigma : float or array_like, optional
        Standard deviation of the direction along each of two axes across it (rad), for all rows or for each.
    name : str, optional
        Of the instrument, ``"direction"`` unless given.
    body : str, optional
        As for ``gyro``.

    Raises
    ------
    InvalidInput
        As ``gyro``; vectors that are not unit vectors; a reference of length zero.

    See Also
    --------
    attitude : whole attitudes, such as those of a star tracker.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> truth = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> seen = ph.rotation.rotate_inverse(truth.attitude, (1.0, 0.0, 0.0))
    >>> sun = ph.estimation.direction(truth.time, seen, reference=(1.0, 0.0, 0.0), sigma=1e-3, name="sun")
    >>> sun.name, sun.values.shape
    ('sun', (101, 3))
    """
    made = _made("direction", time, values, sigma, name, body)
    toward = _reference(reference, "reference", len(made.times), made.name, "")
    size = np.abs(toward).max(axis=-1, keepdims=True)
    if not (size > 0.0).all():
        raise InvalidInput(f"the reference of {made.name} has length 0; give a direction in the space frame")
    toward = toward / size
    sizes = np.linalg.norm(made.values, axis=1)
    allowed = LENGTH_OF_DIRECTION
    if made.whitening is not None:
        allowed = max(allowed, 5.0 / float(np.abs(made.whitening[:, 0, 0]).min()))
    wrong = np.flatnonzero((np.abs(sizes - 1.0) > allowed) | (sizes == 0.0))
    if wrong.size:
        row = int(wrong[0])
        raise InvalidInput(f"{made.name} has length {sizes[row]:g} in row {row}; give unit vectors: divide each by its "
                           "length")  # fmt: skip
    length = np.linalg.norm(toward, axis=-1, keepdims=True)
    return replace(made, values=made.values / sizes[:, None], reference=toward / length)


@answering
def attitude(
    time: ArrayLike, values: ArrayLike, sigma: ArrayLike | None = None, *,
    name: str | None = None, body: str | None = None,
) -> Measurement:  # fmt: skip
    """Attitudes, such as those of a star tracker.

    Parameters
    ----------
    time : array_like (n,)
        In any order.
    values : array_like (n, 4)
        Unit quaternions (w, x, y, z), body to space; q and -q are the same.
    sigma : float or array_like, optional
        Standard deviation of the error as a rotation vector in the body frame (rad), about each axis or all; or its
        covariance (3, 3).
    name : str, optional
        Of the instrument, ``"attitude"`` unless given.
    body : str, optional
        As for ``gyro``.

    Raises
    ------
    InvalidInput
        As ``gyro``; quaternions whose length is not 1 to a hundredth.

    See Also
    --------
    direction : one direction alone, such as that of a Sun sensor.

    Examples
    --------
    >>> import polhode as ph
    >>> truth = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> tracker = ph.estimation.attitude(truth.time[::20], truth.attitude[::20], sigma=1e-4)
    >>> found = ph.fit(ph.free_body((1, 2, 2.5)), [tracker], ["attitude", "angular_velocity"], step=0.1,
    ...                angular_velocity=(0.2, 0.9, 0.1))
    >>> found.values["angular_velocity"].round(4)
    array([0.2, 1. , 0.1])
    """
    made = _made("attitude", time, values, sigma, name, body)
    sizes = np.linalg.norm(made.values, axis=1)
    wrong = np.flatnonzero(np.abs(sizes - 1.0) > LENGTH_OF_QUATERNION)
    if wrong.size:
        row = int(wrong[0])
        raise InvalidInput(f"{made.name} has length {sizes[row]:g} in row {row}; give unit quaternions (w, x, y, z)")
    return replace(made, values=made.values / sizes[:, None])


@answering
def position(
    time: ArrayLike, values: ArrayLike, sigma: ArrayLike | None = None, *,
    name: str | None = None, body: str | None = None,
) -> Measurement:  # fmt: skip
    """Positions in the space frame, such as those of a GNSS receiver; ``free=["position.bias"]`` fits an offset.

    Parameters
    ----------
    time, values, sigma, name, body
        As for ``gyro``, in units of length.

    Raises
    ------
    InvalidInput
        As ``gyro``.

    Examples
    --------
    >>> import polhode as ph
    >>> craft, start = ph.orbit(ph.planets.EARTH.mu), {"position": (7000e3, 0, 0), "velocity": (0, 7.5e3, 1e3)}
    >>> truth = ph.integrate(craft, step=60.0, steps=20, start=start)
    >>> receiver = ph.estimation.position(truth.time, truth.position, sigma=5.0)
    >>> guess = {"position": (7000.5e3, 0, 0), "velocity": (0, 7.5e3, 1.001e3)}
    >>> found = ph.fit(craft, [receiver], ["position", "velocity"], step=60.0, start=guess)
    >>> found.values["velocity"][1:].round(2)
    array([7500., 1000.])
    """
    return _made("position", time, values, sigma, name, body)


@answering
def velocity(
    time: ArrayLike, values: ArrayLike, sigma: ArrayLike | None = None, *,
    name: str | None = None, body: str | None = None,
) -> Measurement:  # fmt: skip
    """Velocities in the space frame.

    Parameters
    ----------
    time, values, sigma, name, body
        As for ``gyro``, in units of length over time.

    Raises
    ------
    InvalidInput
        As ``gyro``.

    Examples
    --------
    >>> import polhode as ph
    >>> craft, start = ph.orbit(ph.planets.EARTH.mu), {"position": (7000e3, 0, 0), "velocity": (0, 7.5e3, 1e3)}
    >>> truth = ph.integrate(craft, step=60.0, steps=20, start=start)
    >>> receiver = ph.estimation.velocity(truth.time, truth.velocity, sigma=0.01)
    >>> receiver.kind, receiver.values.shape
    ('velocity', (21, 3))
    """
    return _made("velocity", time, values, sigma, name, body)


@answering
def range(
    time: ArrayLike, values: ArrayLike, station: ArrayLike | str, sigma: ArrayLike | None = None, *,
    name: str | None = None, body: str | None = None,
) -> Measurement:  # fmt: skip
    """Distances from a station.

    Parameters
    ----------
    time : array_like (n,)
        In any order.
    values : array_like (n,)
        Geometric distances at these times; light times and delays must have been taken off.
    station : array_like (3,) or (n, 3), or str
        Where the station is in the space frame, at all times or at each; or the name of another body of the system.
    sigma : float or array_like, optional
        Standard deviation, of all rows or of each.
    name : str, optional
        Of the station, ``"range"`` unless given. ``free=["range.bias"]`` fits an offset.
    body : str, optional
        As for ``gyro``.

    Raises
    ------
    InvalidInput
        As ``gyro``.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> craft, start = ph.orbit(ph.planets.EARTH.mu), {"position": (7000e3, 0, 0), "velocity": (0, 7.5e3, 1e3)}
    >>> truth, station = ph.integrate(craft, step=60.0, steps=20, start=start), np.array((6378e3, 0.0, 0.0))
    >>> distances = np.linalg.norm(truth.position - station, axis=1)
    >>> ph.estimation.range(truth.time, distances, station, sigma=10.0, name="kiruna").values[:2].round()
    array([[622000.],
           [758091.]])
    """
    made = _made("range", time, values, sigma, name, body)
    if isinstance(station, str):
        return replace(made, station=text(station, "station"))
    return replace(made, reference=_reference(station, "station", len(made.times), made.name, "m"))


@answering
def range_rate(
    time: ArrayLike, values: ArrayLike, station: ArrayLike | str, sigma: ArrayLike | None = None, *,
    station_velocity: ArrayLike | None = None, name: str | None = None, body: str | None = None,
) -> Measurement:  # fmt: skip
    """Rates of change of the distance from a station (Doppler).

    Parameters
    ----------
    time, values, station, sigma, name, body
        As for ``range``.
    station_velocity : array_like (3,) or (n, 3), optional
        In the space frame; zero for a station that stands still, to be given for one whose positions change.

    Raises
    ------
    InvalidInput
        As ``gyro``; a moving station without velocity, or the velocity of one that is a body.

    Examples
    --------
    >>> import numpy as np
    >>> import polhode as ph
    >>> craft, start = ph.orbit(ph.planets.EARTH.mu), {"position": (7000e3, 0, 0), "velocity": (0, 7.5e3, 1e3)}
    >>> truth, station = ph.integrate(craft, step=60.0, steps=20, start=start), np.array((6378e3, 0.0, 0.0))
    >>> line = (truth.position - station).values
    >>> rates = (line * truth.velocity.values).sum(axis=1) / np.linalg.norm(line, axis=1)
    >>> ph.estimation.range_rate(truth.time, rates, station, sigma=0.01).kind
    'range_rate'
    """
    made = _made("range_rate", time, values, sigma, name, body)
    if isinstance(station, str):
        if station_velocity is not None:
            raise InvalidInput(f"the station of {made.name} is body {shown(station)}, whose velocity is known; leave "
                               "station_velocity out")  # fmt: skip
        return replace(made, station=text(station, "station"))
    where = _reference(station, "station", len(made.times), made.name, "m")
    if station_velocity is None:
        if where.ndim == 2 and np.ptp(where, axis=0).any():
            raise InvalidInput(f"the station of {made.name} moves; give station_velocity, one for each time")
        speed = np.zeros(3)
    else:
        speed = _reference(station_velocity, "station_velocity", len(made.times), made.name, "m / s")
    return replace(made, reference=where, reference_velocity=speed)


def measurement(kind: str, words: dict[str, Any]) -> Measurement:
    """A measurement of a kind from the words of its function."""
    make = MAKERS[choice(kind, "kind of measurement", MAKERS)]
    known = signature(make).parameters
    for word in words:
        if word not in known:
            raise unknown_name(f"name in the data of {words.get('name', kind)}", word, list(known))
    for word, parameter in known.items():
        if parameter.default is parameter.empty and words.get(word) is None:
            remedy = {"reference": "the direction in the space frame", "station": "where it stands in the space frame"}
            raise InvalidInput(f"{words.get('name', kind)} has no {word}; give {remedy.get(word, 'it')}")
    return make(**words)


MAKERS: dict[str, Callable[..., Measurement]] = {
    "gyro": gyro, "direction": direction, "attitude": attitude, "position": position, "velocity": velocity,
    "range": range, "range_rate": range_rate,
}  # fmt: skip
