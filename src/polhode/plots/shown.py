"""A trajectory as panels see it: rows in order of increasing time, in units for people, with what several panels need.

Times of runs in SI units become minutes, hours, days or years where they are long, lengths kilometres or astronomical
units, angles degrees. What follows from positions (LVLH, elements, shadows) is computed once, of a part of the rows.
"""

from __future__ import annotations

from functools import cached_property
from math import pi

import numpy as np

from polhode.arguments import MOST_SQUARED, Array
from polhode.errors import InvalidInput
from polhode.lazy_packages import xr
from polhode.plots.recorded import Recorded
from polhode.plots.rows import scattered
from polhode.trajectory import frames
from polhode.trajectory.convergence import total_of
from polhode.trajectory.relative import joined, relative
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
DERIVED = 20_000
"""Most rows of which elements and angles are computed."""
MEASURES = {"SI", "molecular"}


def in_units(units: str, reach: float) -> tuple[float, str]:
    """Factor and name of the unit in which values up to ``reach`` are shown."""
    for least, factor, name in LARGER.get(units, ()):
        if reach >= least:
            return factor, name
    return 1.0, units


class Shown(Recorded):
    """A trajectory with what panels need of it."""

    def __init__(self, ds: xr.Dataset) -> None:
        super().__init__(ds)
        self.ds = ds

    def __contains__(self, name: str) -> bool:
        return name in self.ds

    @cached_property
    def rows(self) -> int:
        """Rows of the trajectory."""
        return int(self.ds.sizes["time"])

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
        if self.rows <= DERIVED:
            return self
        return Shown(self.ds.isel(time=scattered(self.rows, DERIVED)))

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
        if self.centre is None or "velocity" not in self.ds or self.rows < 2:
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
        if "body" in self.ds.dims and "body" in self.ds.coords:
            return f", body {self.names[0]!r} of {self.bodies}"
        return f", body 1 of {self.bodies}" if self.bodies > 1 else ""


MOST_SHADOWS = 150
"""More shadows would be a grey area."""
