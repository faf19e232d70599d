"""The index of a long coordinate that is left on disk; ``growing`` imports it, and with it xarray, when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.core.indexing import IndexSelResult

from polhode.trajectory import growing


class OnDisk(xr.Index):
    """Finds rows by a coordinate that grows, or falls, from row to row; reads what it needs of it."""

    def __init__(self, variable: xr.Variable) -> None:
        self.variable, self.dimension = variable, variable.dims[0]
        self.sign = -1.0 if len(variable) > 1 and self.at(-1) < self.at(0) else 1.0

    @classmethod
    def from_variables(cls, variables: Mapping[Any, xr.Variable], *, options: Mapping[str, Any]) -> OnDisk:
        (variable,) = variables.values()
        return cls(variable)

    def create_variables(self, variables: Mapping[Any, xr.Variable] | None = None) -> Any:
        return dict.fromkeys(variables or [self.dimension], self.variable)

    def at(self, row: int) -> float:
        return float(self.variable[row].values)

    def first(self, value: float, beyond: bool) -> int:
        """The first row at a value or behind it; only behind it if ``beyond``."""
        low, high = 0, len(self.variable)
        while low < high:
            middle = (low + high) // 2
            ahead = self.sign * (self.at(middle) - value)
            low, high = (middle + 1, high) if ahead < 0.0 or (beyond and ahead == 0.0) else (low, middle)
        return low

    def one(self, value: float, method: str | None, tolerance: float | None) -> int:
        """The row of a value, or the one that ``method`` takes for it."""
        row, rows = self.first(value, False), len(self.variable)
        if row < rows and self.at(row) == value:
            return row
        before, after = ([k] if 0 <= k < rows else [] for k in (row - 1, row))
        kept = {
            "nearest": before + after, "pad": before, "ffill": before, "backfill": after, "bfill": after,
        }.get(method or "", [])  # fmt: skip
        if not kept:
            raise KeyError(value)
        found = min(kept, key=lambda k: abs(self.at(k) - value))
        if tolerance is not None and abs(self.at(found) - value) > tolerance:
            raise KeyError(value)
        return found

    def sel(self, labels: dict[Any, Any], method: str | None = None, tolerance: float | None = None) -> Any:
        (label,) = labels.values()
        if isinstance(label, slice):
            begin = 0 if label.start is None else self.first(float(label.start), False)
            end = None if label.stop is None else self.first(float(label.stop), True)
            return IndexSelResult({self.dimension: slice(begin, end, label.step)})
        values = np.asarray(label, dtype=float)
        rows = np.array([self.one(x, method, tolerance) for x in values.ravel()], dtype=np.int64)
        if isinstance(label, xr.DataArray | xr.Variable) and values.ndim:
            return IndexSelResult({self.dimension: xr.Variable(label.dims, rows.reshape(values.shape))})
        return IndexSelResult({self.dimension: rows.reshape(values.shape) if values.ndim else int(rows[0])})

    def isel(self, indexers: Mapping[Any, Any]) -> Any:
        rows = indexers[self.dimension]
        if isinstance(rows, slice):
            left = self.variable[rows]
            return (
                type(self)(left) if len(left) > growing.INDEXED else xr.indexes.PandasIndex(left.values, self.dimension)
            )
        if np.ndim(rows) == 1 and getattr(rows, "dims", (self.dimension,)) == (self.dimension,):
            return xr.indexes.PandasIndex(self.variable[rows].values, self.dimension)
        return None

    def equals(self, other: object, **_: object) -> bool:
        return isinstance(other, OnDisk) and bool(self.variable.equals(other.variable))  # type: ignore[no-untyped-call]
