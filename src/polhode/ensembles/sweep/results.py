"""What a sweep has found so far, as a Dataset."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from polhode.arguments import path as checked_path
from polhode.ensembles.sweep.folder import Folder
from polhode.ensembles.sweep.store import SweepStore
from polhode.errors import FileProblem, answering
from polhode.lazy_packages import xr

IN_MEMORY = 2**28
"""Bytes up to which a sweep is read into memory; a larger one is read where it is looked at."""
MOST_NAMED = 10**6
"""Members up to which sentences and words are variables."""


@answering
def open_sweep(store: str | os.PathLike[str]) -> xr.Dataset:
    """Read what a sweep has found, which may be going on.

    Parameters
    ----------
    store : path or URL
        Of ``polhode.sweep``.

    Returns
    -------
    xarray.Dataset
        Dimension ``member``; coordinates are what varies, by its keys (``ds["run.step"]``); ``status`` is 0 of members
        whose run came to its end, -1 of those not computed yet, else as its ``flag_meanings`` say; ``failure`` (up to a
        million members) is the sentence. Variables are those of a run: of its last row, or of all. Up to 256 MB it is
        in memory; what is more is read when it is used. While members are missing it has an attribute ``incomplete``.

    Raises
    ------
    FileProblem
        It is not the store of a sweep, or cannot be read.

    See Also
    --------
    sweep_status : only how far it is.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, store = f"{folder}/top.toml", f"{folder}/top.zarr"
    ...     _ = ph.runs.write_scenario(file, top, step=0.01, steps=100, start={"angular_velocity": (0.1, 0, 20)})
    ...     _ = ph.sweep(file, {"grid": {"run.step": [0.01, 0.005]}}, store=store)
    ...     ph.ensembles.open_sweep(store)["run.step"].values
    array([0.01 , 0.005])
    """
    return open_store(SweepStore(Folder(checked_path(store, "store"))))


def open_store(store: SweepStore) -> xr.Dataset:
    """The same of a store that is open."""
    plan = store.plan
    try:
        store.check_contents()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ds: xr.Dataset = xr.open_zarr(
                store.folder.zarr(writable=False), chunks=None, consolidated=True, mask_and_scale=False
            )
        ds = ds.set_coords([name for name in (*store.columns, *plan.labels) if name in ds.variables])
        if ds.nbytes <= IN_MEMORY:
            ds = ds.load()
    except FileProblem:
        raise
    except Exception as problem:  # whatever a torn folder makes of a reader
        raise FileProblem(f"cannot read {store.folder}: {problem}; see polhode sweep --check") from problem
    labels = {name: (name, np.array(values)) for name, values in plan.labels.items() if name not in ds.variables}
    ds = ds.assign_coords(labels)
    done, failures = 0, []
    for mark in store.marks():
        done += mark["members"][1] - mark["members"][0]
        failures += mark["failures"]
    if plan.members <= MOST_NAMED:
        sentences: Any = np.full(plan.members, "", dtype=object)
        for number, _, why in failures:
            sentences[number] = why
        ds["failure"] = ("member", sentences, {"long_name": "why the run failed"})
        for name, column in store.columns.items():
            if "words" in column:
                words = np.array([*column["words"], ""], dtype=object)
                ds = ds.assign_coords({name: ("member", words[ds[name].values], {"long_name": name})})
    for name in ("sweep", "coordinates"):
        ds.attrs.pop(name, None)
    ds.encoding["store"] = store.folder.name
    if done < plan.members:
        ds.attrs["incomplete"] = f"{done} of {plan.members} members are computed"
    return ds
