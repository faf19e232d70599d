"""Export of trajectories, as ``polhode.trajectory.export``: CCSDS messages and molecular dynamics files.

``extended_xyz``, ``gsd`` and ``lammps_dump`` (``polhode.trajectory.molecules``) write many bodies for molecular
dynamics programs. ``oem`` and ``aem`` write an orbit and an attitude as messages that flight software reads:

    ph.trajectory.export.oem(ds, "europa.oem", epoch="2030-01-01T00:00:00 TDB", object_name="ORBITER",
                             center_name="EUROPA", units="km")
    ph.trajectory.export.aem(ds, "europa.aem", epoch="2030-01-01T00:00:00 TDB", object_name="ORBITER")

Both write text in the KVN form: an OEM of version 2.0 [ccsds2009] with positions in km and velocities in km/s, an AEM
of version 1.0 [ccsds2008] with quaternions. Numbers have 17 significant digits, the full precision of a double. Times
of the trajectory must be in seconds, and its space axes those of the reference frame named: no rotation is applied.

**Times.** ``epoch`` is the instant at which ``ds.time`` is 0 (not that of its first row). The default is the epoch
recorded by the setting ``epoch`` of a run or a scenario. The message is in the epoch's own time system unless
``time_system`` names another; a text without a scale is taken to be in the one named, else UTC.

**Rows.** A run backwards in time is written forwards. Where a time occurs twice, as before and after an impulse, a new
segment begins, across which readers do not interpolate.

**Attitude.** The quaternion of polhode rotates the space axes into the body axes: x_space = R(q) x_body. The CCSDS
quaternion has the axis and angle of the rotation from frame A to frame B. With space as A and the body as B they are
the same: ``REF_FRAME_A = ICRF``, ``REF_FRAME_B = SC_BODY_1``, ``ATTITUDE_DIR = A2B``. A vector with coordinates x in A
has the coordinates R(q)^T x in B. Signs are not changed, so consecutive quaternions stay close.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import xarray as xr

from polhode.arguments import Array, choice, path as checked_path, text, whole
from polhode.epochs import Epoch, epoch_of, instants, texts
from polhode.errors import InvalidInput, answering, naming, shown
from polhode.lazy import public_names
from polhode.trajectory.files import appearing_whole
from polhode.trajectory.molecules import extended_xyz, gsd, lammps_dump
from polhode.trajectory.schema import trajectory

__all__ = ["aem", "extended_xyz", "gsd", "lammps_dump", "oem"]
__dir__ = public_names(__all__)

TO_KM = {"km": 1.0, "m": 1000.0}  # length units per kilometre
SCALAR = ("first", "last")
FEWEST, MOST = 3, 12
"""Fewest and most decimals of the seconds in a message."""
WIDEST = 200


@answering
def oem(
    ds: xr.Dataset, path: str | os.PathLike[str], *, object_name: str, center_name: str, epoch: object = None,
    units: str | None = None, object_id: str = "UNKNOWN", ref_frame: str = "ICRF", time_system: str | None = None,
    originator: str = "POLHODE", body: int | None = None,
) -> Path:  # fmt: skip
    """Write positions and velocities as an orbit ephemeris message (OEM) [ccsds2009].

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory of bodies that translate, with times in seconds.
    path : path
        File to write; its folder is created if missing.
    object_name, object_id : str
        Name of the object, and its international designator such as ``2030-001A``.
    center_name : str
        Body at the origin, such as ``EARTH``.
    epoch : str, datetime or astropy Time, optional
        Instant of time 0; required unless the trajectory records one.
    units : {"km", "m"}
        Length unit of the trajectory; required where it is not labelled SI.
    ref_frame : str
        Reference frame of the space axes: ``ICRF``, ``EME2000``, ``GCRF``, ``TEME`` and so on.
    time_system : {"UTC", "TAI", "TT", "TDB"}, optional
        Time system of the message; default that of the epoch.
    originator : str
        ORIGINATOR of the message.
    body : int, optional
        Which of several bodies, from 0.

    Raises
    ------
    InvalidInput
        A wrong or missing argument, by name; a trajectory without positions, with values that are not finite, or with
        times that are not monotonic.
    MissingExtra
        Conversion from or to TDB without astropy.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> mu, start = ph.planets.EARTH.mu, {"position": (6878e3, 0, 0), "velocity": (0, 7.613e3, 0)}
    >>> settings = {"units": "SI", "epoch": "2026-03-20T12:00:00 UTC"}
    >>> ds = ph.integrate(ph.orbit(mu), step=60.0, steps=90, start=start, settings=settings)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ph.trajectory.export.oem(ds, f"{folder}/a.oem", object_name="CRAFT", center_name="EARTH")
    ...     ph.initial.oem(file).position
    array([6878000.,       0.,       0.])
    """
    trajectory(ds, "time")
    positions, velocities = _rows(ds, "position", body), _rows(ds, "velocity", body)
    scale = TO_KM[_length(ds, units)]
    head = {"OBJECT_NAME": object_name, "OBJECT_ID": object_id, "CENTER_NAME": center_name, "REF_FRAME": ref_frame}
    times, epoch_and_system = _times(ds, epoch, time_system)
    values = np.column_stack([positions, velocities]) / scale
    return _write(path, _message("OEM", "2.0", originator, ds, head, {}, times, values, epoch_and_system, False))


@answering
def aem(
    ds: xr.Dataset, path: str | os.PathLike[str], *, object_name: str, epoch: object = None, object_id: str = "UNKNOWN",
    center_name: str | None = None, ref_frame: str = "ICRF", body_frame: str = "SC_BODY_1", scalar: str = "first",
    time_system: str | None = None, originator: str = "POLHODE", body: int | None = None,
) -> Path:  # fmt: skip
    """Write attitudes as an attitude ephemeris message (AEM) [ccsds2008].

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory of bodies that rotate, with times in seconds.
    ref_frame, body_frame : str
        Names of the space axes (frame A) and the body axes (frame B).
    scalar : {"first", "last"}
        Position of the scalar part in a row, QUATERNION_TYPE.
    path, object_name, object_id, center_name, epoch, time_system, originator, body
        As for ``oem``; the centre is optional.

    Raises
    ------
    InvalidInput, MissingExtra, FileProblem
        As ``oem``; a trajectory without attitudes.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 2.5)), step=1.0, steps=60, angular_velocity=(0.02, 0.1, 0.01))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = ph.trajectory.export.aem(ds, f"{folder}/a.aem", object_name="CRAFT", epoch="2026-03-20T12:00:00 UTC")
    ...     print(file.read_text().splitlines()[-1])
    DATA_STOP
    """
    trajectory(ds, "time")
    scalar = choice(scalar, "scalar", SCALAR)
    q = _rows(ds, "attitude", body)
    head = {"OBJECT_NAME": object_name, "OBJECT_ID": object_id}
    head |= {} if center_name is None else {"CENTER_NAME": center_name}
    head |= {"REF_FRAME_A": ref_frame, "REF_FRAME_B": body_frame, "ATTITUDE_DIR": "A2B"}
    kind = {"ATTITUDE_TYPE": "QUATERNION", "QUATERNION_TYPE": scalar.upper()}
    times, epoch_and_system = _times(ds, epoch, time_system)
    values = q if scalar == "first" else np.roll(q, -1, axis=1)
    with naming(ref_frame_a="ref_frame", ref_frame_b="body_frame"):
        return _write(path, _message("AEM", "1.0", originator, ds, head, kind, times, values, epoch_and_system, True))


# ------------------------------------------------------------------ data from the trajectory
def _rows(ds: xr.Dataset, name: str, body: int | None) -> Array:
    """Values of a variable for one body, (time, components), checked to be finite."""
    if name not in ds:
        has = "does not turn" if name == "attitude" else "does not move through space"
        raise InvalidInput(f"this trajectory has no {name}: what it describes {has}, so there is nothing to write")
    variable = ds[name]
    if "time" not in variable.dims:
        raise InvalidInput(f"{name} is that of one row; keep its time, as ds.isel(time=[0]) does")
    if "body" in variable.dims:
        count = variable.sizes["body"]
        if body is None:
            raise InvalidInput(f"body is missing; the trajectory has {count}, give one of 0 to {count - 1}")
        if not 0 <= whole(body, "body", -(2**53)) < count:
            raise InvalidInput(f"body is {body}; the trajectory has {count}, give one of 0 to {count - 1}")
        variable = variable.isel(body=int(body))
    elif body is not None and whole(body, "body") != 0:
        raise InvalidInput(f"body is {body}, but the trajectory has one body; leave it out")
    values = np.asarray(variable.transpose("time", ...).values, dtype=float)
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if wrong.size:
        raise InvalidInput(f"{name} is not finite in row {wrong[0]}; leave such rows out: ds.isel(time=slice(...))")
    return values


def _length(ds: xr.Dataset, units: str | None) -> str:
    """The trajectory's unit of length, "m" or "km"."""
    labelled = ds.attrs.get("units") == "SI"
    if units is None and not labelled:
        raise InvalidInput(
            "units is missing; the trajectory may be in any consistent set, so say which lengths it has beside "
            "seconds: units='km' or units='m'"
        )
    if units is not None:
        choice(units, "units", TO_KM)
    if labelled and units == "km":
        raise InvalidInput("units is 'km', but the trajectory is labelled SI, whose lengths are metres; leave it out")
    return units or "m"


def _times(ds: xr.Dataset, epoch: object, time_system: str | None) -> tuple[Array, tuple[Epoch, str]]:
    """Times (s), and (epoch, time system of the message)."""
    if epoch is None:
        epoch = ds.attrs.get("epoch")
    if epoch is None:
        raise InvalidInput("epoch is missing; say which instant is time 0, such as epoch='2030-01-01T00:00:00 UTC'")
    requested = None if time_system is None else text(time_system, "time_system").upper()
    start = epoch_of(epoch, requested or "UTC")
    times = np.asarray(ds["time"].values, dtype=float)
    if not times.size:
        raise InvalidInput("the trajectory has no rows, so there is nothing to write")
    return times, (start, requested or start.scale)


# ------------------------------------------------------------------ the text
def _message(
    kind: str, version: str, originator: str, ds: xr.Dataset, head: dict[str, str], tail: dict[str, str], times: Array,
    values: Array, epoch_and_system: tuple[Epoch, str], data_markers: bool,
) -> Iterator[str]:  # fmt: skip
    """Lines of a message; with ``data_markers`` the data are enclosed by DATA_START and DATA_STOP."""
    start, system = epoch_and_system
    if times[0] > times[-1]:
        times, values = times[::-1], values[::-1]
    decreasing = np.flatnonzero(np.diff(times) < 0.0)
    if decreasing.size:
        k = int(decreasing[0])
        raise InvalidInput(f"time goes back from {times[k]:g} to {times[k + 1]:g} and forth again; sort ds by time")
    head = {name: _word(value, name.lower()) for name, value in {"ORIGINATOR": originator, **head}.items()}
    exact = instants(start, times, system)
    digits = min(MOST, max(FEWEST, max(-int(t.normalize().as_tuple().exponent) for t in exact)))
    stamps = texts(system, exact, digits)
    cuts = [0, *(np.flatnonzero(np.diff(times) == 0.0) + 1).tolist(), len(times)]
    for k in np.flatnonzero(np.diff(times) > 0.0).tolist():
        if stamps[k] == stamps[k + 1]:
            raise InvalidInput(f"times {times[k]} and {times[k + 1]} are closer than 1e-{digits} s; thin out the rows")
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S")
    yield f"CCSDS_{kind}_VERS = {version}"
    for name in ("title", "method", "polhode_version"):
        if name in ds.attrs:
            plain = str(ds.attrs[name]).encode("ascii", "replace").decode().split()
            yield f"COMMENT {name.replace('_', ' ')}: {' '.join(plain)[:WIDEST]}"
    yield f"CREATION_DATE = {now}"
    yield f"ORIGINATOR = {head.pop('ORIGINATOR')}"
    for first, last in pairwise(cuts):
        span = {"TIME_SYSTEM": system, "START_TIME": stamps[first], "STOP_TIME": stamps[last - 1]}
        yield ""
        yield "META_START"
        yield from (f"{name} = {value}" for name, value in {**head, **span, **tail}.items())
        yield "META_STOP"
        yield ""
        yield from ("DATA_START",) if data_markers else ()
        for stamp, row in zip(stamps[first:last], values[first:last].tolist(), strict=True):
            yield stamp + "".join(f" {x:.16e}" for x in row)
        yield from ("DATA_STOP",) if data_markers else ()


def _word(value: object, name: str) -> str:
    """A header value, checked: one line of printable ASCII."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} must be a name, not {shown(value)}")
    if not (value.isascii() and value.isprintable()) or len(value) > WIDEST:
        raise InvalidInput(f"{name} is {shown(value)}; a message takes one line of at most {WIDEST} ASCII characters")
    return value.strip()


def _write(path: str | os.PathLike[str], lines: Iterable[str]) -> Path:
    """Write the lines to a text file atomically."""
    target = Path(checked_path(path))
    message = "\n".join(lines) + "\n"
    with appearing_whole(target) as draft:
        draft.write_text(message, encoding="ascii", newline="\n")
    return target
