"""A run as pictures, films and pages see it: its rows, its units, and what the record of the run says of it.

Panels see rows in order of increasing time, in units for people: times of runs in SI units become minutes, hours, days
or years where they are long, lengths kilometres or astronomical units, angles degrees. What follows from positions
(LVLH, elements, shadows) is computed once, of a part of the rows. A page sees chosen rows, in memory.
"""

from __future__ import annotations

from base64 import b85decode
from functools import cache, cached_property
from math import pi
from pathlib import Path
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import MOST_SQUARED, Array, ArrayLike, Indices
from polhode.bodies.inertia import parallel_axis, principal
from polhode.errors import InvalidInput, PolhodeError
from polhode.lazy import xr
from polhode.plots.rows import scattered, thinned
from polhode.trajectory import frames, surroundings
from polhode.trajectory.convergence import total_of
from polhode.trajectory.relative import Fastening, fastenings, joined, relative
from polhode.trajectory.schema import MOVING, trajectory

TIME_UNITS = (("s", 1.0, 600.0), ("min", 60.0, 10800.0), ("h", 3600.0, 345600.0), ("d", 86400.0, 9.5e7),
          ("yr", 31557600.0, np.inf))  # fmt: skip
"""Units of time: name, seconds, and the longest run that they are for (s)."""
DEGREE = 180.0 / pi
ASTRONOMICAL_UNIT = 149597870700.0
LARGER: dict[str, tuple[tuple[float, float, str], ...]] = {
    "m": ((3e10, 1.0 / ASTRONOMICAL_UNIT, "au"), (1e4, 1e-3, "km")),
    "m s-1": ((1e3, 1e-3, "km s-1"),),
    "rad": ((0.0, DEGREE, "deg"),),
    "rad s-1": ((0.0, DEGREE, "deg s-1"),),
}
"""Of a unit: the least size from which on another is used, its factor, its name."""
SHORTER = {"kg m2 s-1": "N m s", "kg m s-1": "N s", "A m^2": "A m2"}
DERIVED = 20_000  # most rows of which elements and angles are computed
PLAIN = ("", "consistent")  # labels of units that are the user's own
BETWEEN = 32767  # stands between pieces of coasts
MOST_SHADOWS = 150  # more shadows would be a grey area
POINT = (np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0)))  # inertia of a body that does not turn
Inertia = tuple[Array, Array]
"""Principal moments (3,) and the quaternion of the principal frame in the body's."""


def in_units(units: str, reach: float) -> tuple[float, str]:
    """Factor and name of the unit in which values up to ``reach`` are shown."""
    for least, factor, name in LARGER.get(units, ()):
        if reach >= least:
            return factor, name
    return 1.0, SHORTER.get(units, units)


@cache
def coastline() -> Array:
    """Longitudes and latitudes (n, 2; deg) of the coasts of the Earth, with NaN between pieces."""
    text = Path(__file__).with_name("coastline.txt").read_text(encoding="ascii").rpartition("\n\n")[2]
    hundredths = np.frombuffer(b85decode(text.replace("\n", "")), "<i2").reshape(-1, 2)
    return np.where(hundredths == BETWEEN, np.nan, 0.01 * hundredths)


BATH = "Energy with the bath's: change / kinetic energy"  # what ``Shown.bath_error`` is


class Shown:
    """A trajectory with what panels and pages need of it."""

    def __init__(self, whole: xr.Dataset, ds: xr.Dataset | None = None, rows: Indices | None = None) -> None:
        self.whole = whole  # all rows, in the order of the run; variables may lie on disk
        self.ds = whole if ds is None else ds  # the rows that are shown
        self.rows = np.arange(self.count) if rows is None else rows  # their numbers among all rows

    def __contains__(self, name: str) -> bool:
        return name in self.ds

    @cached_property
    def count(self) -> int:
        """How many rows are shown."""
        return int(self.ds.sizes["time"])

    # ------------------------------------------------------------------ the record of the run
    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the system."""
        return surroundings.recorded(self.whole)

    @cached_property
    def of_bodies(self) -> list[dict[str, Any]]:
        """Arguments of each body of a sum; empty of other systems, and where they are not known."""
        told = {
            name: one for name, one in self.arguments.items() if isinstance(one, dict) and one.get("kind") == "body"
        }
        if "body" in self.whole.coords:
            names = [str(one) for one in np.atleast_1d(self.whole["body"].values)]
            told = {name: told[name] for name in names if name in told}
        return list(told.values()) if len(told) == self.bodies else []

    @cached_property
    def system(self) -> str:
        """Name of the system."""
        return str(self.whole.attrs.get("system", ""))

    @cached_property
    def called(self) -> str:
        """What a picture calls it: the names of the bodies of a sum, else its kind."""
        told = [name for name, one in self.arguments.items() if isinstance(one, dict) and one.get("kind") == "body"]
        return ", ".join(told[:3]) + " ..." * (len(told) > 3) if told else self.system.replace("_", " ")

    @cached_property
    def bodies(self) -> int:
        """How many bodies."""
        return int(self.whole.sizes.get("body", 1))

    @cached_property
    def conserved(self) -> list[str]:
        """What the run conserves by its system."""
        return [word for word in str(self.whole.attrs.get("conserves", "")).split(", ") if word]

    @cached_property
    def centre(self) -> surroundings.Centre | None:
        """The body at the origin."""
        return surroundings.centre(self.whole)

    @cached_property
    def top(self) -> Array | None:
        """Centre of mass of a top from its fixed point; None of what is no top."""
        return surroundings.centre_of_top(self.whole)

    @cached_property
    def axis(self) -> Array:
        """The axis of a pinned body, a unit vector in it: through its centre of mass, else z."""
        try:
            axis = self.arguments.get("center_of_mass") if self.top is None else self.top
            axis = np.asarray(axis, dtype=float).reshape(3)
        except (TypeError, ValueError):
            axis = np.zeros(3)
        axis = axis if np.isfinite(axis).all() and axis.any() else np.array([0.0, 0.0, 1.0])
        return axis / np.linalg.norm(axis)

    @cached_property
    def mass(self) -> Array | None:
        """Masses (B,) where they are known, else None."""
        given: Any = None
        if "mass" in self.whole and "time" not in self.whole["mass"].dims:
            given = self.whole["mass"].values
        given = self.arguments.get("mass") if given is None else given
        given = [one.get("mass") for one in self.of_bodies] or None if given is None else given
        given = self.arguments.get("mu") if given is None and self.system == "gravitating_bodies" else given
        try:
            values = np.broadcast_to(np.asarray(given, dtype=float), (self.bodies,))
        except (TypeError, ValueError):
            return None
        return values if np.isfinite(values).all() and (values >= 0.0).all() and values.any() else None

    @cached_property
    def inertia(self) -> list[Inertia]:
        """Principal moments (3,) and the quaternion of the principal frame in the body's, of each body or of all; zero
        of a point among others, empty where there is none or it is not known."""
        if "attitude" not in self.whole:
            return []
        if any("inertia" in one for one in self.of_bodies):
            try:
                return [_pair(one["inertia"]) if "inertia" in one else POINT for one in self.of_bodies]
            except (TypeError, ValueError, PolhodeError):  # a record of another version
                pass
        if "inertia" in self.whole and self.whole["inertia"].dims == ("body", "axis"):
            given = np.unique(np.asarray(self.whole["inertia"].values, dtype=float), axis=0)
            one = [(given[0], np.array((1.0, 0.0, 0.0, 0.0)))]
            return one if len(given) == 1 else [(row, one[0][1]) for row in self.whole["inertia"].values]
        try:
            given = np.asarray(self.arguments.get("inertia"), dtype=float)
            tensor = given.shape == (3, 3) and (self.bodies != 3 or np.allclose(given, given.T, rtol=1e-9, atol=0.0))
            if given.shape == (3,) or tensor:
                if self.arguments.get("inertia_about") == "center_of_mass":  # of a top
                    about = self.arguments["mass"], self.arguments["center_of_mass"]
                    given = parallel_axis(np.diag(given) if given.ndim == 1 else given, *about)
                return [_pair(given)]
            if len(given) == self.bodies:
                return [_pair(one) for one in given]
        except (TypeError, ValueError, KeyError, PolhodeError):  # a record of another version
            pass
        return [] if self.bodies > 1 else self.fitted

    @cached_property
    def fitted(self) -> list[Inertia]:
        """That which belongs to the momenta and velocities of the first body, where they determine it."""
        m, w = self.first("angular_momentum"), self.first("angular_velocity")
        found = None if m is None or w is None else inverse_inertia(m, w)
        if found is None:
            return []
        values, axes = np.linalg.eigh(found)
        if not (values > 0.0).all():
            return []
        axes = axes * np.array([1.0, 1.0, np.linalg.det(axes)])
        return [(1.0 / values, rotation.quaternion_from_matrix(axes))]

    @cached_property
    def bath_error(self) -> Array | None:
        """Change, at all rows, of the energy with that of a heat bath, over the mean kinetic energy; None without."""
        if "conserved_energy" not in self.whole:
            return None
        values = np.asarray(self.whole["conserved_energy"].values, dtype=float)
        return (values - values[0]) / (float(self.whole["kinetic_energy"].mean()) or 1.0)

    # ------------------------------------------------------------------ panels
    @cached_property
    def names(self) -> list[str]:
        """Names of the bodies, or their numbers from 1 on."""
        if "body" in self.ds.dims and "body" in self.ds.coords:
            return [str(one) for one in self.ds["body"].values]
        return [f"body {k + 1}" for k in range(self.bodies)]

    @cached_property
    def backwards(self) -> bool:
        """Whether the times of the trajectory decrease."""
        return bool(self.ds["time"].values[-1] < self.ds["time"].values[0])

    def increasing(self, rows: Array) -> Array:
        """Rows in order of increasing time."""
        return rows[::-1] if self.backwards else rows

    @cached_property
    def seconds(self) -> Array:
        """Times, increasing, in the units of the trajectory."""
        return self.increasing(np.asarray(self.ds["time"].values, dtype=float))

    @cached_property
    def time_unit(self) -> tuple[float, str]:
        """How many of the trajectory's units of time make one that is shown, and its name."""
        unit = str(self.ds["time"].attrs.get("units", ""))
        if unit != "s":
            return 1.0, unit
        span = float(abs(self.seconds[-1] - self.seconds[0]))
        name, size, _ = next(row for row in TIME_UNITS if span <= row[2])
        return size, name

    @cached_property
    def times(self) -> Array:
        """Times, increasing, in the unit of time that is shown."""
        return self.seconds / self.time_unit[0]

    def values(self, name: str) -> Array:
        """Values of a variable in order of increasing time, of the first body if there are several."""
        return self.increasing(self.run(name))

    def run(self, name: str) -> Array:
        """The same, in the order of the run."""
        variable = trajectory(self.ds, name)[name]
        if "body" in variable.dims:
            variable = variable.isel(body=0)
        values = np.asarray(variable.values, dtype=float)
        if name in MOVING | {"angular_momentum_space"}:
            there = (np.abs(values) <= MOST_SQUARED).all(axis=-1)
            if name == "attitude":
                there[there] = np.abs(np.linalg.norm(values[there], axis=-1) - 1.0) < 1e-3
            if not there.all():
                k = int(there.argmin())
                raise InvalidInput(
                    f"{name} of row {k} is {values[k]}, which no run has; leave such rows out: ds.isel(time=...)"
                )
        return values

    def total(self, name: str) -> Array:
        """A variable, summed over the bodies, in order of increasing time."""
        return self.increasing(total_of(self.ds, name))

    def all_bodies(self, name: str) -> Array:
        """Values (n, N, ...) of all bodies, in order of increasing time."""
        values = np.asarray(self.ds[name].values, dtype=float)
        return self.increasing(values if "body" in self.ds[name].dims else values[:, None])

    def units(self, name: str) -> str:
        """Units of a variable."""
        return str(self.ds[name].attrs.get("units", ""))

    @cached_property
    def pulling(self) -> Array | None:
        """Gravity parameters of bodies that attract each other, or None."""
        found = frames.gravity_parameters(self.ds)
        return found if found is not None and len(found) == self.bodies else None

    @cached_property
    def dominated(self) -> bool:
        """Whether one of several bodies that attract each other is far heavier than all others."""
        return self.pulling is not None and float(self.pulling.max()) > 0.8 * float(self.pulling.sum())

    @cached_property
    def thin(self) -> Shown:
        """The same trajectory with at most ``DERIVED`` rows, for what is computed row by row."""
        return self if self.count <= DERIVED else Shown(self.ds.isel(time=scattered(self.count, DERIVED)))

    @cached_property
    def lvlh(self) -> xr.Dataset:
        """Attitude relative to LVLH, of ``thin``."""
        return frames.lvlh(self.thin.ds)

    @cached_property
    def elements(self) -> xr.Dataset:
        """Osculating elements, of ``thin``."""
        return frames.elements(self.thin.ds)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """Bodies that loads act between, by their places."""
        return joined(self.ds) if "position" in self.ds and "velocity" in self.ds else []

    @cached_property
    def fastenings(self) -> list[Fastening]:
        """The joints of the run."""
        return fastenings(self.ds) if "position" in self.ds else []

    @cached_property
    def turning_pairs(self) -> list[tuple[int, int]]:
        """Those of them that both have an inertia."""
        return joined(self.ds, turning=True) if self.pairs and "attitude" in self.ds else []

    def between(self, pair: tuple[int, int]) -> xr.Dataset:
        """The second of a pair as seen from the first, of ``thin``: in its LVLH about a centre, else in space."""
        return relative(self.thin.ds, *pair, "space" if self.centre is None else "lvlh")

    def derived(self, values: xr.DataArray) -> Array:
        """An array of ``lvlh``, ``elements`` or ``between`` as numbers, in order of increasing time."""
        return self.increasing(np.asarray(values.values, dtype=float))

    @cached_property
    def shadows(self) -> Array:
        """Begin and end (k, 2) of each shadow, in the unit of time that is shown; of many, none."""
        if self.centre is None or "velocity" not in self.ds or self.count < 2:
            return np.empty((0, 2))
        found = np.empty((0, 2))
        for rows in (self.thin.ds, self.ds):
            try:
                found = frames.shadow(rows) / self.time_unit[0]
            except InvalidInput:  # too few rows to tell
                continue
            return found if len(found) <= MOST_SHADOWS else found[:0]
        return found

    @property
    def of_body(self) -> str:
        """Ending of a title that says which body of several is drawn."""
        return f", {self.names[0]}" if self.bodies > 1 else ""

    # ------------------------------------------------------------------ pages
    @property
    def label(self) -> str:
        """Label of its units."""
        return str(self.whole.attrs.get("units", "consistent"))

    @property
    def molecules(self) -> bool:
        """Whether the bodies are molecules."""
        return "temperature" in self.whole or "dipole" in self.whole or "box" in self.whole

    def unit(self, name: str) -> str:
        """Unit of a variable; empty where units are the user's own, or there is none."""
        if self.label in PLAIN or name not in self.whole.variables:
            return ""
        unit = str(self.whole[name].attrs.get("units", ""))
        return "" if unit == "1" else SHORTER.get(unit, unit)

    def of(self, name: str) -> Array | None:
        """Values (n, N, ...) of a variable of bodies at the rows shown; None where there is no such variable."""
        if name not in self.ds:
            return None
        values = np.asarray(self.ds[name].values, dtype=float)
        return values if "body" in self.ds[name].dims else values[:, None]

    def first(self, name: str) -> Array | None:
        """The same of the first body."""
        values = self.of(name)
        return None if values is None else values[:, 0]

    def argument(self, name: str) -> float | None:
        """A number among the arguments of the system."""
        value = self.arguments.get(name)
        return float(value) if isinstance(value, int | float) and np.isfinite(value) else None


def inverse_inertia(momentum: Array, velocity: Array) -> Array | None:
    """Symmetric matrix J with ``velocity = J momentum``, fitted to rows of both; None if they do not determine it."""
    moving = np.isfinite(momentum).all(axis=1)
    m, w = momentum[moving], velocity[moving]
    m, w = thinned(m, 2000), thinned(w, 2000)
    if len(m) < 3:
        return None
    singular = np.linalg.svd(m, compute_uv=False)
    if singular[0] == 0.0 or singular[2] < 1e-5 * singular[0]:
        return None
    J = np.linalg.lstsq(m, w, rcond=None)[0]
    return 0.5 * (J + J.T)


def _pair(given: ArrayLike) -> Inertia:
    found = principal(given, triangle=False)
    return found.moments, found.frame
