"""Trajectories to and from disk: netCDF-4 or a Zarr folder, chosen by the suffix."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import xarray as xr

from polhode.errors import FileProblem, InvalidInput

SUFFIXES = (".nc", ".zarr")
CHECKPOINT = "checkpoint.json"
"""In the live store of a run, see ``polhode.runs.store``."""


def is_store(path: Path) -> bool:
    """Whether a folder is the live store of a run, also one without its checkpoint."""
    if (path / CHECKPOINT).is_file():
        return True
    try:
        return '"polhode_store"' in (path / "zarr.json").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The suffix of an output, checked.

    Raises
    ------
    InvalidInput
        Neither ``.nc`` nor ``.zarr``.
    """
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise InvalidInput(f"{str(path)!r} must end in .nc (netCDF) or .zarr (Zarr folder)")
    return suffix


@contextlib.contextmanager
def appearing_whole(target: Path) -> Iterator[Path]:
    """A place to write to, from where a file or folder moves to ``target`` at the end, or not at all.

    Raises
    ------
    FileProblem
        The disk is full, the folder not writable, and the like.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as folder:
            draft = Path(folder) / target.name
            yield draft
            os.replace(draft, target)
    except OSError as problem:
        raise FileProblem(
            f"cannot write {target}: {problem.strerror or problem}; choose another place with -o"
        ) from problem


def save(ds: xr.Dataset, path: str | os.PathLike[str]) -> Path:
    """Write a trajectory; the file appears whole or not at all.

    Parameters
    ----------
    ds : xarray.Dataset
        The trajectory.
    path : path
        Ends in ``.nc`` or ``.zarr``; its folder is made when missing; an older result is replaced.

    Returns
    -------
    Path

    Raises
    ------
    InvalidInput
        Another suffix.
    FileProblem
        The disk is full, the folder not writable, and the like.
    """
    suffix = suffix_of(path)
    target = Path(path)
    with appearing_whole(target) as draft:
        if suffix == ".nc":
            ds.to_netcdf(draft, engine="h5netcdf")
            with draft.open("rb") as written:
                os.fsync(written.fileno())
        else:
            # Strings of fixed length have no specification in Zarr 3; those of variable length do.
            strings = {name: c.astype(object) for name, c in ds.coords.items() if c.dtype.kind == "U"}
            ds.assign_coords(strings).to_zarr(draft, mode="w", consolidated=False)
        if target.is_dir():
            if is_store(target):
                raise FileExistsError(errno.EEXIST, "the live store of a run is there")
            if suffix == ".nc" or (any(target.iterdir()) and not (target / "zarr.json").exists()):
                raise FileExistsError(errno.EEXIST, "there is a folder of that name with other things in it")
            shutil.rmtree(target)
    return target


def load(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read a trajectory file into memory; ``polhode.load`` also reads live stores.

    Raises
    ------
    FileProblem
        The file is missing, torn, or not a trajectory.
    InvalidInput
        Another suffix.
    """
    suffix = suffix_of(path)
    if not Path(path).exists():
        raise FileProblem(f"there is no file {str(path)!r}; check the name")
    if is_store(Path(path)):
        raise FileProblem(f"{str(path)!r} is the live store of a run, which polhode.load reads")
    try:
        if suffix == ".nc":
            with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as ds:
                found = ds.load()
        else:
            with xr.open_zarr(path, decode_times=False, consolidated=False) as ds:
                found = ds.load()
    except Exception as problem:
        raise FileProblem(
            f"cannot read {str(path)!r}: it is torn or not a trajectory ({type(problem).__name__})"
        ) from problem
    if "polhode_version" not in found.attrs:
        raise FileProblem(f"{str(path)!r} was not written by polhode: it has no attribute 'polhode_version'")
    return found
