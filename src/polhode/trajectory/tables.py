"""Trajectories as flat tables of pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.errors import InvalidInput, MissingExtra
from polhode.lazy_packages import xr
from polhode.trajectory.schema import AXES, QUATERNION

if TYPE_CHECKING:
    import pandas as pd


def table_of(ds: xr.Dataset) -> pd.DataFrame:
    """What ``ds.polhode.to_pandas`` returns, of a Dataset with members, times and bodies in this order."""
    if "time" not in ds.dims:
        raise InvalidInput("to_pandas: this Dataset has no dimension time, so there are no rows; take one with rows")
    try:
        import pandas
    except ImportError:
        raise MissingExtra("to_pandas needs pandas; pip install pandas") from None
    outer = ("member", "time") if "member" in ds.dims else ("time",)
    columns, units = dict[str, Any](), dict[str, str]()
    for name, variable in ds.data_vars.items():
        if "time" not in variable.dims:
            continue
        inner = [str(dim) for dim in variable.dims if dim not in outer]
        absent = {dim: ds.sizes[dim] for dim in outer if dim not in variable.dims}
        filled = variable.expand_dims(absent).transpose(*outer, *inner)
        values = np.asarray(filled.values).reshape(int(np.prod([ds.sizes[dim] for dim in outer])), -1)
        for k, label in enumerate(_labels(ds, str(name), inner)):
            while label in columns:  # two forces of one name
                label += "_"
            columns[label] = values[:, k]
            units[label] = str(variable.attrs.get("units", ""))
    times = np.asarray(ds["time"].values)
    if outer == ("time",):
        index: Any = pandas.Index(times, name="time")
    else:
        numbers = ds["member"].values if "member" in ds.coords else np.arange(ds.sizes["member"])
        both = [np.repeat(numbers, ds.sizes["time"]), np.broadcast_to(times, (len(numbers), ds.sizes["time"])).ravel()]
        index = pandas.MultiIndex.from_arrays(both, names=["member", "time"])
    frame = pandas.DataFrame(columns, index=index)
    frame.attrs = {"units": units, "title": str(ds.attrs.get("title", ""))}
    return frame


def _labels(ds: xr.Dataset, name: str, dims: Sequence[str]) -> list[str]:
    """Names of the columns of a variable, in the order of its numbers."""
    names = [name]
    for dim in dims:
        known: Any = ds[dim].values if dim in ds.coords else {"axis": AXES, "quaternion": QUATERNION}.get(dim)
        entries = range(ds.sizes[dim]) if known is None else known
        names = [f"{before}_{entry}" for before in names for entry in entries]
    return names
