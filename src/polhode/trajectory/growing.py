"""A Dataset on disk that grows along one dimension: a Zarr group that others may open at any time.

The arrays are written as Zarr 3 specifies them, a chunk in a file, each file as a whole, and at the end durably. Rows
of an unfinished chunk stay in memory, so that nothing is ever read back. How many rows there are is said by the
metadata of the group, one file with those of all arrays (consolidated), which is replaced after the chunks: who opens
the group sees whole rows only. Attributes, and variables without that dimension, may change until the end.
"""

from __future__ import annotations

import functools
import json
import math
import shutil
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polhode import lazy
from polhode.arguments import Array, Indices
from polhode.durable import Unsynced, write, write_durably
from polhode.lazy import xr

BUFFER = 2**22  # bytes of the unfinished chunks of all variables; a chunk has one row at least
INDEXED = 2**17
"""Rows up to which the coordinate along which a Dataset grows is in memory as an index, see ``on_disk``."""
NODE = "zarr.json"


@functools.cache
def packer() -> Any:
    """What packs chunks; asked for early by who has begun nothing yet."""
    return lazy.opened("numcodecs.zstd").Zstd(level=1, checksum=True)


def _text(values: xr.Variable | NDArray[Any]) -> bool:
    return values.dtype.kind not in "biuf"


def encoded(values: Array | Indices | NDArray[np.object_]) -> bytes:
    """The content of a chunk."""
    if not _text(values):
        return bytes(packer().encode(np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).tobytes()))
    from numcodecs.vlen import VLenUTF8

    return bytes(packer().encode(bytes(VLenUTF8().encode(values.astype(object)))))


def node_of(variable: xr.Variable, shape: tuple[int, ...], chunk: tuple[int, ...], empty: int = 0) -> dict[str, Any]:
    """The metadata of an array; ``empty`` is an integer that is not there."""
    text = _text(variable)
    kind = "string" if text else variable.dtype.name
    first = {"name": "vlen-utf8"} if text else {"name": "bytes", "configuration": {"endian": "little"}}
    fill = {"f": "NaN", "b": False}.get(variable.dtype.kind, "" if text else empty)
    return {
        "zarr_format": 3, "node_type": "array", "shape": list(shape), "data_type": kind,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [max(1, size) for size in chunk]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": fill,
        "codecs": [first, {"name": "zstd", "configuration": {"level": 1, "checksum": True}}],
        "attributes": dict(variable.attrs), "dimension_names": list(variable.dims), "storage_transformers": [],
    }  # fmt: skip


def group_of(nodes: Mapping[str, Any], attributes: Mapping[str, Any]) -> bytes:
    """The metadata of a group, with those of all its arrays."""
    gathered = {"kind": "inline", "must_understand": False, "metadata": dict(nodes)}
    group = {"zarr_format": 3, "node_type": "group", "attributes": dict(attributes), "consolidated_metadata": gathered}
    return text_of(group)


def text_of(node: Mapping[str, Any]) -> bytes:
    """Metadata as the content of a file."""
    return json.dumps(node, default=lambda value: value.tolist()).encode()  # of numpy


def metadata_of(nodes: Mapping[str, Any], attributes: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of metadata of a group and its arrays, by their names; last that by which the group is there."""
    return {f"{name}/{NODE}": text_of(node) for name, node in nodes.items()} | {NODE: group_of(nodes, attributes)}


def file_of(name: str, chunk: int, dimensions: int) -> str:
    """The name of the file of a chunk, which has all there is along the other dimensions."""
    return "/".join([name, "c", str(chunk), *["0"] * (dimensions - 1)])


def padded(rows: Any, chunk: int, empty: float = 0) -> Any:
    """Rows of a chunk that is not full, with those that are not there: NaN, or this integer."""
    whole = np.full((chunk, *rows.shape[1:]), np.nan if rows.dtype.kind == "f" else empty, dtype=rows.dtype)
    whole[: len(rows)] = rows
    return whole


class Growing:
    """Writes a Dataset that grows along a dimension: ``rows`` handed in, ``shown`` to who opens the group."""

    def __init__(self, folder: Path, dimension: str = "time", most: int | None = None, buffer: int = 0) -> None:
        self.folder, self.dimension, self.most, self.buffer = Path(folder), dimension, most, buffer or BUFFER
        self.rows, self.shown, self.chunk = 0, 0, 0
        self.nodes: dict[str, dict[str, Any]] = {}
        self.pending: dict[str, Any] = {}
        self.fills: dict[str, Any] = {}  # of variables whose empty numbers are none of those that are usual
        self.coordinates: dict[str, str] = {}
        self.disk = Unsynced()
        packer()

    # -------------------------------------------------------------- rows
    def add(self, piece: xr.Dataset) -> None:
        """Add rows. The first piece says which variables there are; those without the dimension are taken from it."""
        n, done = piece.sizes[self.dimension], 0
        if not self.pending:
            self._begin(piece)
        values = {name: piece.variables[name].values for name in self.pending}
        while done < n:
            filled = self.rows % self.chunk
            take = min(self.chunk - filled, n - done)
            for name, buffer in self.pending.items():
                buffer[filled : filled + take] = values[name][done : done + take]
            if filled + take == self.chunk:
                self._write_chunk(self.rows // self.chunk, self.pending)
            self.rows += take  # after they are written, so that no row is shown that a full disk did not take
            done += take

    def _begin(self, piece: xr.Dataset) -> None:
        growing = {str(name): v for name, v in piece.variables.items() if self.dimension in v.dims}
        row = sum(v.dtype.itemsize * math.prod(v.shape[1:]) for v in growing.values())
        self.chunk = max(1, min(self.buffer // max(1, row), self.most or self.buffer))
        for name, variable in growing.items():
            within = variable.shape[1:]
            node = node_of(variable, (self.rows, *within), (self.chunk, *within), self.fills.get(name, 0))
            fill = np.nan if variable.dtype.kind == "f" else node["fill_value"]
            kind = object if _text(variable) else variable.dtype
            self.pending[name] = np.full((self.chunk, *within), fill, dtype=kind)
            self._put(name, node)
        self.put(piece.drop_vars(list(growing)))
        names = [str(name) for name in piece.coords if name not in piece.dims]
        self.coordinates = {"coordinates": " ".join(names)} if names else {}  # as xarray writes it

    def _write_chunk(self, number: int, buffers: Mapping[str, Any]) -> None:
        for name, buffer in buffers.items():
            self.disk.write(self.folder / file_of(name, number, buffer.ndim), encoded(buffer))

    def _remove_beyond(self, name: str) -> None:
        """Remove chunks of another run of the same, which had more rows when it ended."""
        chunks = -(-self.rows // self.chunk)
        for entry in (self.folder / name / "c").glob("*"):
            if entry.name.isdigit() and int(entry.name) >= chunks:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    # -------------------------------------------------------------- what does not grow
    def _put(self, name: str, node: dict[str, Any]) -> None:
        self.nodes[name] = node
        self.disk.write(self.folder / name / NODE, text_of(node))

    def put(self, fixed: xr.Dataset) -> None:
        """Write variables that do not grow, each in one chunk, in the place of those of that name."""
        for name, variable in fixed.variables.items():
            values = variable.values
            if values.size:
                self.disk.write(self.folder.joinpath(str(name), "c", *["0"] * values.ndim), encoded(values))
            self._put(str(name), node_of(variable, values.shape, values.shape))

    def show(self, attributes: Mapping[str, Any], last: bool = False) -> None:
        """Write the unfinished chunk and, after it, the metadata by which others see all rows handed in."""
        filled = self.rows % self.chunk if self.chunk else 0
        if filled:
            for buffer in self.pending.values():
                buffer[filled:] = np.nan if buffer.dtype.kind == "f" else 0
            self._write_chunk(self.rows // self.chunk, self.pending)
        for name in self.pending:
            self.nodes[name] = {**self.nodes[name], "shape": [self.rows, *self.nodes[name]["shape"][1:]]}
            if last:
                self._put(name, self.nodes[name])
                self._remove_beyond(name)
        data = group_of(self.nodes, {**attributes, **self.coordinates})
        if last:
            self.disk.sync()
            write_durably(self.folder / NODE, data)
        else:
            write(self.folder / NODE, data)
        self.shown = self.rows


# ------------------------------------------------------------------ reading
def opened(folder: Path, dimension: str = "time") -> xr.Dataset:
    """Open a Dataset on disk: its variables are read when they are used, the parts of them that are used."""
    from polhode.trajectory.on_disk import OnDisk

    known = signature(xr.open_zarr).parameters
    plain: dict[str, Any] = {"create_default_indexes": False} if "create_default_indexes" in known else {}
    ds: xr.Dataset = xr.open_zarr(
        folder, chunks=None, decode_times=False, consolidated=True, zarr_format=3, **plain
    ).drop_encoding()
    few = ds.sizes[dimension] <= INDEXED
    for name in [name for name, v in ds.variables.items() if _text(v) and (few or dimension not in v.dims)]:
        text = ds.variables[name]
        ds[name] = (text.dims, np.array(text.values.tolist(), dtype=str).reshape(text.shape), text.attrs)
    for name in map(str, ds.coords):
        if name in ds.dims and name not in ds.xindexes:
            ds = ds.set_xindex(name) if few or name != dimension else ds.set_xindex(name, OnDisk)
    return ds
