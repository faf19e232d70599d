"""A recorded run with the rows of it that a page shows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from polhode.arguments import Array, Indices
from polhode.lazy_packages import xr
from polhode.plots import recorded

PLAIN = ("", "consistent")
"""Labels of units that are the user's own."""


class Recorded(recorded.Recorded):
    """A Dataset with chosen rows, in order of increasing time."""

    def __init__(self, whole: xr.Dataset, ds: xr.Dataset, rows: Indices) -> None:
        super().__init__(whole)
        self.ds = ds  # the rows that are shown, in memory
        self.rows = rows  # their numbers among all rows

    @property
    def units(self) -> str:
        """Label of its units."""
        return str(self.whole.attrs.get("units", "consistent"))

    @property
    def molecules(self) -> bool:
        """Whether the bodies are molecules."""
        return "temperature" in self.whole or "dipole" in self.whole or "box" in self.whole

    @cached_property
    def times(self) -> Array:
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
