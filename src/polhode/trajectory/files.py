"""Save and load trajectories: netCDF-4 or a Zarr folder, chosen by the suffix.

Files have per-chunk checksums, which every reader of the format verifies, and digests of the whole file, which ``load``
verifies. Since a file may come from anybody, its contents are checked before they are read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from polhode import reading
from polhode.arguments import path as checked_path
from polhode.errors import FileProblem, InvalidInput, answering
from polhode.kernel.interrupts import held
from polhode.lazy import xr
from polhode.trajectory import digests, foreign
from polhode.trajectory.growing import Growing
from polhode.trajectory.schema import renamed, trajectory

SUFFIXES = (".nc", ".zarr")
SMALL = 2**14
"""Bytes up to which a netCDF variable is stored contiguously, without an HDF5 checksum; a chunk costs 2 kB."""
CHUNK = 2**20  # bytes of a netCDF chunk (at least one row): what HDF5 keeps in memory of a variable
CHECKPOINT = "checkpoint.json"  # file in the live store of a run, see ``polhode.runs.store``


def is_store(path: Path) -> bool:
    """Whether a folder is the live store of a run, even if its checkpoint is missing."""
    if (path / CHECKPOINT).is_file():
        return True
    node = path / "zarr.json"
    try:
        if not node.is_file():
            return False
        with node.open("rb") as file:
            return b'"polhode_store"' in file.read(2**20)
    except OSError:
        return False


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of an output path, checked.

    Parameters
    ----------
    path : path
        The path.

    Raises
    ------
    InvalidInput
        Neither ``.nc`` nor ``.zarr``.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.trajectory.suffix_of("results/run.nc")
    '.nc'
    """
    path = checked_path(path)
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise InvalidInput(f"{str(path)!r} must end in .nc (netCDF) or .zarr (Zarr folder)")
    return suffix


@contextlib.contextmanager
def appearing_whole(target: Path) -> Iterator[Path]:
    """Write atomically: yield a temporary path that is renamed to ``target`` if the block succeeds."""
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


@answering
def save(ds: xr.Dataset, path: str | os.PathLike[str]) -> Path:
    """Save a trajectory atomically, with digests that ``polhode.load`` verifies.

    Parameters
    ----------
    ds : xarray.Dataset
        The trajectory.
    path : path
        Ends in ``.nc`` or ``.zarr``; its folder is created if missing; an existing result is replaced.

    Raises
    ------
    InvalidInput
        Another suffix.
    FileProblem
        The disk is full, the folder not writable, and the like.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ph.save(ds, f"{folder}/run.nc").name
    'run.nc'
    """
    trajectory(ds)
    suffix = suffix_of(path)
    target = Path(path)
    with appearing_whole(target) as draft, held():
        (_write_netcdf if suffix == ".nc" else _write_zarr)(ds.drop_encoding(), draft)
        if target.is_dir():
            if is_store(target):
                raise FileExistsError(errno.EEXIST, "the live store of a run is there")
            if suffix == ".nc" or (any(target.iterdir()) and not (target / "zarr.json").exists()):
                raise FileExistsError(errno.EEXIST, "there is a folder of that name with other things in it")
            shutil.rmtree(target)
    return target


class _Disk:
    """A new file that never raises, as HDF5 would abort: the first error is ``refused``, later writes are dropped."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("w+b", buffering=0)
        self.refused: OSError | None = None
        self.seek, self.tell = self.file.seek, self.file.tell
        self.read, self.readinto = self.file.read, self.file.readinto

    def __enter__(self) -> _Disk:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def _try(self, act: Callable[[], Any]) -> None:
        if self.refused is None:
            try:
                act()
            except OSError as refused:
                self.refused = refused

    def write(self, data: bytes | memoryview) -> int:
        rest = memoryview(data).cast("B")

        def act() -> None:
            nonlocal rest
            while rest:
                rest = rest[self.file.write(rest) or 0 :]

        size = len(rest)
        self._try(act)
        return size

    def truncate(self, size: int) -> int:
        self._try(lambda: self.file.truncate(size))
        return size

    def flush(self) -> None:
        """Do nothing: the file is unbuffered."""


def _plain(variable: xr.Variable) -> bool:
    """Whether a variable is of numbers or texts in memory, which are written without importing dask."""
    texts = variable.dtype.kind == "O" and all(type(one) is str for one in variable.values.flat)
    return (texts or variable.dtype.kind in "biuf") and variable.chunks is None


def _write_netcdf(ds: xr.Dataset, path: Path) -> None:
    import h5netcdf

    def chunk(variable: xr.Variable) -> tuple[int, ...]:
        rows = max(1, CHUNK * variable.shape[0] // variable.nbytes)
        return (min(rows, variable.shape[0]), *variable.shape[1:])

    large = {str(n): v for n, v in ds.variables.items() if v.dtype.kind in "biuf" and v.ndim and v.nbytes > SMALL}
    encoding = {name: {"fletcher32": True, "chunksizes": chunk(variable)} for name, variable in large.items()}
    with _Disk(path) as disk, h5netcdf.File(disk, "w") as file:
        store: Any = xr.backends.H5NetCDFStore(file)
        if all(map(_plain, ds.variables.values())):
            variables, attributes = xr.conventions.encode_dataset_coordinates(ds)
            for name, one in encoding.items():
                variables[name].encoding = one
            variables, attributes = xr.conventions.cf_encoder(variables, attributes)
            store.set_attributes(attributes)
            store.set_dimensions(variables)
            for name, variable in variables.items():
                if variable.dtype.kind == "O":
                    variable.encoding["dtype"] = str
                target, source = store.prepare_variable(name, variable, name in encoding)
                target[...] = source
        else:
            ds.dump_to_store(store, encoding=encoding)
    if disk.refused is not None:
        raise disk.refused
    digests.seal_netcdf(path)


def _write_zarr(ds: xr.Dataset, path: Path) -> None:
    growing = Growing(path, most=max(1, ds.sizes["time"]))
    growing.add(ds)
    growing.show(ds.attrs, last=True)
    digests.seal_zarr(path)


def load(path: str | os.PathLike[str]) -> xr.Dataset:
    """Read a trajectory file into memory and verify its digests; ``polhode.load`` also reads live stores.

    A file without digests, from an earlier version or another program, is read without this check. Variables get the
    names they have now.

    Parameters
    ----------
    path : path
        The file, ``.nc`` or ``.zarr``.

    Raises
    ------
    FileProblem
        The file is missing, damaged, or not a trajectory; its contents could run code or exhaust the memory.
    InvalidInput
        Another suffix.

    See Also
    --------
    polhode.load : also live stores.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> ds = ph.integrate(ph.free_body((1, 2, 2.5)), step=0.1, steps=100, angular_velocity=(0.2, 1, 0.1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ph.trajectory.load(ph.save(ds, f"{folder}/run.zarr")).sizes["time"]
    101
    """
    suffix = suffix_of(path)
    source = Path(path)
    if not source.exists():
        raise FileProblem(f"there is no file {str(path)!r}; check the name")
    if not (source.is_file() if suffix == ".nc" else source.is_dir()):
        kind = "a file" if suffix == ".nc" else "a folder"
        raise FileProblem(f"{str(path)!r} is not {kind}; a trajectory of that name is")
    if is_store(source):
        raise FileProblem(f"{str(path)!r} is the live store of a run, which polhode.load reads")
    if suffix == ".nc":
        reading.check(source, "trajectory")
    try:
        if suffix == ".nc":
            digests.check_netcdf(source)
            foreign.check_netcdf(source)
            ds = _read(xr.open_dataset(source, engine="h5netcdf", decode_times=False), source)
        else:
            foreign.check_folder(source)
            digests.check_zarr(source)
            foreign.check_zarr(source)
            ds = _read(xr.open_zarr(source, decode_times=False, consolidated=False, zarr_format=3), source)
    except FileProblem:
        raise
    except Exception as problem:
        raise FileProblem(
            f"cannot read {str(path)!r}: it is torn or not a trajectory ({type(problem).__name__})"
        ) from problem
    if "polhode_version" not in ds.attrs:
        raise FileProblem(f"{str(path)!r} was not written by polhode: it has no attribute 'polhode_version'")
    return renamed(ds)


def _read(ds: xr.Dataset, path: Path) -> xr.Dataset:
    """Load all variables into memory; the error names a variable that cannot be read."""
    with ds:
        for name, variable in ds.variables.items():
            try:
                variable.load()
            except Exception as problem:
                raise digests.torn(path, [f"variable {name!r} cannot be read ({type(problem).__name__})"]) from problem
        return ds.drop_encoding()
