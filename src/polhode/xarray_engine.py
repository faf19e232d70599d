"""The engine ``"polhode"`` of ``xarray.open_dataset``: trajectories and live stores, by ``polhode.load``.

xarray imports this module whenever it opens a file, with any engine; so it imports nothing of polhode until one is
opened by it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import xarray as xr
from xarray.backends import BackendEntrypoint

from polhode import in_xarray

in_xarray.register()


class TrajectoryBackend(BackendEntrypoint):
    """Opens what polhode has written: files (``.nc``, ``.zarr``) and live stores of runs.

    ``xarray.open_dataset("run.nc", engine="polhode")`` verifies digests and checks the contents, as ``polhode.load``;
    the live store of a run, which is chosen without ``engine``, is opened lazily unless ``lazy=False``.
    """

    description = "Trajectories and live stores of polhode (.nc, .zarr), their digests verified"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "lazy")
    supports_groups = False

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None, lazy: bool | None = None) -> xr.Dataset:
        """Read a trajectory, or open a live store."""
        import polhode

        store = _is_live_store(filename_or_obj)
        ds: xr.Dataset = polhode.load(filename_or_obj, lazy=store if lazy is None else lazy)
        names = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        return ds.drop_vars(names, errors="ignore")

    def guess_can_open(self, filename_or_obj: object) -> bool:
        """Whether this is the live store of a run; files are left to xarray's own engines unless polhode is asked."""
        return _is_live_store(filename_or_obj)


def _is_live_store(path: object) -> bool:
    """Whether there is a folder ``*.zarr`` with a checkpoint."""
    if not isinstance(path, str | os.PathLike):
        return False
    try:
        folder = Path(path)
        return folder.suffix == ".zarr" and (folder / "checkpoint.json").is_file()
    except (OSError, ValueError):  # an address, or a name that no file can have
        return False
