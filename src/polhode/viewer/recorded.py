"""What a Dataset and the record of its run say: system, arguments, units, which bodies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra import rotation
from polhode.bodies.inertia import parallel_axis, principal
from polhode.errors import PolhodeError

if TYPE_CHECKING:
    import xarray as xr

PLAIN = ("", "consistent")
"""Labels of units that are the user's own."""
POINT = (np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0)))
"""Inertia of a body that does not turn."""


@dataclass(frozen=True)
class Recorded:
    """A Dataset with chosen rows, in order of increasing time."""

    whole: xr.Dataset  # all of its rows, in the order of the run; variables may lie on disk
    ds: xr.Dataset  # the rows that are shown, in memory
    rows: Any  # their numbers among all rows

    @cached_property
    def record(self) -> dict[str, Any]:
        """The record of the run, empty where there is none."""
        return record_of(self.whole)

    @cached_property
    def system(self) -> str:
        """Name of the system."""
        told = self.record.get("system")
        named = told.get("name") if isinstance(told, dict) else None
        return str(named or self.whole.attrs.get("system", ""))

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the system."""
        told = self.record.get("system")
        found = told.get("arguments") if isinstance(told, dict) else None
        return dict(found) if isinstance(found, dict) else {}

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

    @property
    def units(self) -> str:
        """Label of its units."""
        return str(self.whole.attrs.get("units", "consistent"))

    @property
    def bodies(self) -> int:
        """How many bodies."""
        return int(self.whole.sizes.get("body", 1))

    @property
    def molecules(self) -> bool:
        """Whether the bodies are molecules."""
        return "temperature" in self.whole or "dipole" in self.whole or "box" in self.whole

    @cached_property
    def times(self) -> Any:
        """Times of the rows shown."""
        return np.asarray(self.ds["time"].values, dtype=float)

    def unit(self, name: str) -> str:
        """Unit of a variable; empty where units are the user's own, or there is none."""
        if self.units in PLAIN or name not in self.whole.variables:
            return ""
        unit = str(self.whole[name].attrs.get("units", ""))
        return "" if unit == "1" else unit

    def of(self, name: str) -> Any:
        """Values (F, B, ...) of a variable of bodies, at the rows shown; None where there is no such variable."""
        if name not in self.ds:
            return None
        values = np.asarray(self.ds[name].values, dtype=float)
        return values if "body" in self.ds[name].dims else values[:, None]

    def first(self, name: str) -> Any:
        """Values (F, ...) of the first body."""
        values = self.of(name)
        return None if values is None else values[:, 0]

    def argument(self, name: str) -> float | None:
        """A number among the arguments of the system."""
        value = self.arguments.get(name)
        return float(value) if isinstance(value, int | float) and np.isfinite(value) else None

    @cached_property
    def mass(self) -> Any:
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
    def inertia(self) -> list[tuple[Any, Any]]:
        """Principal moments (3,) and the quaternion of the principal frame in the body's, of each body or of all.

        Empty where the bodies have none, or it is not known; that of a point among other bodies is zero.
        """
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
            if given.shape in ((3,), (3, 3)) and not (given.ndim == 2 and self.bodies == 3 and not _tensor(given)):
                return [_pair(self._about_fixed_point(given))]
            if len(given) == self.bodies:
                return [_pair(one) for one in given]
        except (TypeError, ValueError, KeyError, PolhodeError):  # a record of another version
            pass
        return self._fitted()

    def _about_fixed_point(self, given: Any) -> Any:
        """The inertia of a top about its fixed point, which the record may hold about its centre of mass."""
        if self.arguments.get("inertia_about") != "center_of_mass":
            return given
        tensor = np.diag(given) if given.ndim == 1 else given
        return parallel_axis(tensor, self.arguments["mass"], self.arguments["center_of_mass"])

    def _fitted(self) -> list[tuple[Any, Any]]:
        """That which belongs to the momenta and velocities of the rows, where they determine it."""
        from polhode.plots.sphere_panels import inverse_inertia

        m, w = self.first("angular_momentum"), self.first("angular_velocity")
        if m is None or w is None or self.bodies > 1:
            return []
        found = inverse_inertia(m, w)
        if found is None:
            return []
        values, axes = np.linalg.eigh(found)
        if not (values > 0.0).all():
            return []
        axes = axes * np.array([1.0, 1.0, np.linalg.det(axes)])
        return [(1.0 / values, rotation.quaternion_from_matrix(axes))]


def _pair(given: Any) -> tuple[Any, Any]:
    found = principal(given, triangle=False)
    return found.moments, found.frame


def _tensor(given: Any) -> bool:
    return bool(np.allclose(given, given.T, rtol=1e-9, atol=0.0))


def record_of(ds: xr.Dataset) -> dict[str, Any]:
    """The record of the run in a Dataset, empty where there is none that can be read."""
    try:
        found = json.loads(str(ds.attrs.get("run", "")))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
