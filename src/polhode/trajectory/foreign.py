"""Safety checks of files from unknown sources, made before their contents are read.

Allowed are numbers and text, in chunks of the declared size, within the file itself. Everything else is refused by
name: filters and codecs that would load plugins, objects, links out of the file, and shapes or lengths that would
exhaust the memory.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import stat
import struct
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from polhode import reading
from polhode.errors import FileProblem
from polhode.reading import LIMIT, amount

SMALL = 2**26  # sizes up to this many bytes are always accepted
DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3
FILTERS = (DEFLATE, SHUFFLE, FLETCHER32)  # HDF5's built-in filters; others would be loaded from a plugin folder
MOST_INFLATION = 1040  # upper bound of the expansion ratio of Deflate
CODECS = ("bytes", "vlen-utf8", "zstd", "crc32c")
NUMBERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64")
MOST_CHUNKS = 10**6
FRAME_HEAD = 18  # bytes of the longest Zstandard frame header
MOST_TEXT = 2**28  # most bytes of a Zarr node, or of an unpacked chunk of strings
HEAP, OBJECT = b"GCOL\x01", struct.Struct("<H6xQ")
"""How an HDF5 heap begins, before 3 bytes and its size; and each object in it: index (0: free space), size."""
NOT_A_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"


def _refused(path: Path, why: str) -> FileProblem:
    return FileProblem(f"{str(path)!r} is not read: {why}; it is damaged, or polhode did not write it")


class _Memory:
    """Sum of the memory that the contents of a file need; raises if it exceeds ``reading.limit()``."""

    def __init__(self, path: Path) -> None:
        self.path, self.most, self.total = path, reading.limit(), 0

    def add(self, what: str, size: int) -> None:
        self.total += size
        if self.total > self.most:
            raise FileProblem(
                f"{str(self.path)!r} is not read: with {what} it needs {amount(self.total)} of memory, but at most "
                f"{amount(self.most)} are given to a file; {LIMIT} in the environment raises that"
            )


# ------------------------------------------------------------------ netCDF
def check_netcdf(path: Path) -> None:
    """Refuse a netCDF-4 file with contents that polhode never writes."""
    import h5py

    memory = _Memory(path)
    with h5py.File(path, "r") as file:
        if file.id.get_create_plist().get_sizes() != (8, 8):
            raise _refused(path, "its addresses and lengths have other than 8 bytes")
        _check_heaps(path)
        _check_attributes(path, "the file", file, memory)
        for name in file:
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                raise _refused(path, f"{name!r} is a link out of its place")
            thing = file[name]
            if isinstance(thing, h5py.Group):
                continue
            if not isinstance(thing, h5py.Dataset):
                raise _refused(path, f"{name!r} is a type of its own")
            _check_attributes(path, f"variable {name!r}", thing, memory)
            _check_hdf5(path, name, thing, memory)


def _check_heaps(path: Path) -> None:
    """Refuse a heap of strings (HDF5 File Format Specification, III.E) that HDF5 would read for ever: it walks from
    object to object, and stays where one has no length."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        left, begin = len(data) // OBJECT.size, data.find(HEAP)
        while begin >= 0:
            at = begin + OBJECT.size
            end = min(begin + int.from_bytes(data[begin + len(HEAP) + 3 : at], "little"), len(data))
            while at + OBJECT.size <= end:
                index, size = OBJECT.unpack_from(data, at)
                length = ((size + 7 & -8) + OBJECT.size if index else size) % 2**64
                left -= 1
                if not length or left < 0:
                    raise _refused(path, f"its heap of strings at byte {begin} has an object without end at byte {at}")
                at += length
            begin = data.find(HEAP, begin + 1)


def _check_attributes(path: Path, whose: str, thing: Any, memory: _Memory) -> None:
    """Check the sizes of attributes; variable-length strings may all refer to the same long one."""
    import h5py

    for name in thing.attrs:
        attribute = thing.attrs.get_id(name)
        kind = attribute.get_type()
        many = attribute.get_space().get_select_npoints()
        if isinstance(kind, h5py.h5t.TypeStringID) and kind.is_variable_str() and many > 1:
            memory.add(f"attribute {name!r} of {whose}", many * min(path.stat().st_size, SMALL))
        elif many * kind.get_size() > SMALL:
            raise _refused(path, f"attribute {name!r} of {whose} would need {amount(many * kind.get_size())}")


def _check_hdf5(path: Path, name: str, data: Any, memory: _Memory) -> None:
    import h5py

    if bytes(data.attrs.get("NAME", b"")).startswith(NOT_A_VARIABLE):
        return
    what = f"variable {name!r}"
    properties = data.id.get_create_plist()
    for k in range(properties.get_nfilters()):
        number, _, _, label = properties.get_filter(k)
        if number not in FILTERS:
            raise _refused(path, f"{what} has the filter {number} ({label.decode(errors='replace') or 'unnamed'})")
    if properties.get_layout() == h5py.h5d.VIRTUAL or properties.get_external_count():
        raise _refused(path, f"{what} has its numbers in other files")
    text = h5py.check_string_dtype(data.dtype)
    if data.dtype.kind not in "biufS" and text is None:
        raise _refused(path, f"{what} holds {data.dtype}, neither numbers nor text")
    if text is not None and text.length is None:
        _add_strings(path, what, data, memory)
        return
    size = data.size * data.dtype.itemsize
    memory.add(what, data.size * max(8, data.dtype.itemsize))
    chunk = math.prod(data.chunks or ()) * data.dtype.itemsize
    if chunk > max(SMALL, 2 * size):
        raise _refused(path, f"{what} has chunks of {amount(chunk)}, more than all of it")
    stored = data.id.get_storage_size()
    packed = any(properties.get_filter(k)[0] == DEFLATE for k in range(properties.get_nfilters()))
    if size > stored * (MOST_INFLATION if packed else 1):
        raise _refused(path, f"{what} has {data.size} numbers by its shape but only {stored} bytes of them")
    if packed:
        _check_packed(path, what, data, memory)


def _check_packed(path: Path, what: str, data: Any, memory: _Memory) -> None:
    """Refuse large compressed chunks: a chunk is unpacked as a whole, whatever its unpacked size."""
    largest = 0

    def inspect_chunk(chunk: Any) -> None:
        nonlocal largest
        largest = max(largest, chunk.size)

    data.id.chunk_iter(inspect_chunk)
    if largest * MOST_INFLATION > memory.most:
        raise _refused(path, f"{what} has a packed chunk of {amount(largest)}, whose content nobody can foretell")


def _add_strings(path: Path, what: str, data: Any, memory: _Memory) -> None:
    """Check variable-length strings: they may all refer to one long string, so their total must fit into the file."""
    whole = path.stat().st_size
    if data.size > whole:
        raise _refused(path, f"{what} has {data.size} strings by its shape, more than the file has bytes")
    memory.add(what, whole)
    at_once, left = max(1, SMALL // whole), whole
    for part in _blocks(data.shape, at_once):
        left -= sum(map(len, np.asarray(data[part], dtype=object).ravel()))
        if left < 0:
            raise _refused(path, f"{what} has strings of more bytes than the file")


def _blocks(shape: tuple[int, ...], most: int) -> Iterator[Any]:
    """Slices of rows that cover an array, each with at most ``most`` elements, or one row if that is longer."""
    if not shape:
        yield ()
        return
    rows = max(1, most // max(1, math.prod(shape[1:])))
    yield from (slice(begin, begin + rows) for begin in range(0, shape[0], rows))


# ------------------------------------------------------------------ Zarr
def check_folder(path: Path, whole: bool = True) -> None:
    """Refuse a folder that contains links, special files or oversized files; nothing is opened. All files together may
    have as many bytes as one, if they are read as a ``whole``."""
    total, most = 0.0, reading.limit()
    for part, folders, files in os.walk(path):
        for name in (*folders, *files):
            entry = Path(part, name)
            try:
                info = entry.lstat()
            except FileNotFoundError:  # a running integration has just renamed it
                continue
            if not (stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode)):
                raise _refused(path, f"{entry.relative_to(path)} is a link, or no file at all")
            total += info.st_size
            if info.st_size > (MOST_TEXT if name.endswith(".json") else most):
                raise _refused(path, f"{entry.relative_to(path)} has {amount(info.st_size)}")
    if whole and total > most:
        raise FileProblem(f"{str(path)!r} is not read: it has {amount(total)}, but at most {amount(most)} are given to "
                          f"a file; {LIMIT} in the environment raises that")  # fmt: skip


def check_zarr(
    path: Path, whole: bool = True, only: Collection[str] | None = None, damaged: set[int] | None = None
) -> None:
    """Refuse a Zarr folder with contents that polhode never writes."""
    memory = _Memory(path)
    root = _node(path)
    gathered = (root.get("consolidated_metadata") or {}).get("metadata", {})
    if root["node_type"] != "group":
        raise _refused(path, "it is one array, not a group of them")
    for folder in sorted(entry for entry in path.iterdir() if entry.is_dir()):
        if only is not None and folder.name not in only:
            continue
        if not (folder / "zarr.json").is_file():
            raise _refused(path, f"{folder.name!r} is not an array of Zarr version 3")
        node = _node(folder)
        if node["node_type"] == "array":
            _check_array(path, folder, node, memory, whole, damaged)
            again = gathered.get(folder.name, node)  # which some read instead
            if any(again[key] != node[key] for key in ("data_type", "codecs", "chunk_grid")):
                raise _refused(path, f"variable {folder.name!r} is another one in the group's own zarr.json")
            _check_header(path, f"variable {folder.name!r}", again, _Memory(path), whole)
    for name in gathered if only is None else only:
        if name in gathered and not (path / name / "zarr.json").is_file():
            raise _refused(path, f"variable {name!r} is not there, but in the group's own zarr.json")


def _node(folder: Path) -> dict[str, Any]:
    node: dict[str, Any] = json.loads((folder / "zarr.json").read_text(encoding="utf-8"))
    if node["zarr_format"] != 3:
        raise _refused(folder, f"it is of Zarr version {node['zarr_format']!r}, not 3")
    return node


def _check_array(
    path: Path, folder: Path, node: dict[str, Any], memory: _Memory, whole: bool, damaged: set[int] | None
) -> None:
    what = f"variable {folder.name!r}"
    codecs, chunk = _check_header(path, what, node, memory, whole)
    for part, _, files in os.walk(folder):
        for name in files:
            file = Path(part, name)
            if file != folder / "zarr.json" and not name.endswith(".partial"):
                try:
                    _check_chunk(path, what, file, codecs, chunk)
                except FileProblem:
                    index = file.relative_to(folder).parts[1:2]
                    if damaged is None or not "".join(index).isdigit():
                        raise
                    damaged.add(int(index[0]))


def _check_header(
    path: Path, what: str, node: dict[str, Any], memory: _Memory, whole: bool
) -> tuple[list[str], int | None]:
    """Check what an array says of itself; its codecs, and the bytes of a chunk if it holds numbers."""
    kind = node["data_type"]
    if kind != "string" and kind not in NUMBERS:
        raise _refused(path, f"{what} holds {kind!r}, neither numbers nor text")
    codecs = [codec["name"] if isinstance(codec, dict) else codec for codec in node["codecs"]]
    for codec in codecs:
        if codec not in CODECS:
            raise _refused(path, f"{what} has the codec {codec!r}")
    if node.get("storage_transformers"):
        raise _refused(path, f"{what} has storage transformers")
    if node["chunk_grid"]["name"] != "regular":
        raise _refused(path, f"{what} has the chunk grid {node['chunk_grid']['name']!r}")
    shape, chunks = node["shape"], node["chunk_grid"]["configuration"]["chunk_shape"]
    if not all(type(n) is int and n >= 0 for n in shape) or not all(type(n) is int and n > 0 for n in chunks):
        raise _refused(path, f"{what} has the shape {shape} in chunks {chunks}")
    width = 8 if kind == "string" else np.dtype(kind).itemsize
    size, chunk = width * math.prod(shape), width * math.prod(chunks)
    if whole:
        memory.add(what, size)
        if math.prod(-(-n // m) for n, m in zip(shape, chunks, strict=True)) > MOST_CHUNKS:
            raise _refused(path, f"{what} is in more than {MOST_CHUNKS} chunks")
    if chunk > max(SMALL, 2 * size):
        raise _refused(path, f"{what} has chunks of {amount(chunk)}, more than all of it")
    return codecs, None if kind == "string" else chunk


def _check_chunk(path: Path, what: str, file: Path, codecs: list[str], size: int | None) -> None:
    """Check that a chunk unpacks to the size of its numbers, or holds no more strings than its bytes allow."""
    stored = file.stat().st_size
    if stored > max(SMALL, 2 * (size or 0)):
        raise _refused(path, f"a chunk of {what} has {amount(stored)}")
    with file.open("rb") as chunk:
        content = chunk.read(FRAME_HEAD if size is not None else -1)
    if "zstd" in codecs:
        unpacked_size = _unpacked_size(content)
        if unpacked_size is None or unpacked_size > (MOST_TEXT if size is None else size):
            raise _refused(path, f"a chunk of {what} does not say that it unpacks to what its shape needs")
    if size is None:
        content = content[:-4] if "crc32c" in codecs else content
        text = content
        if "zstd" in codecs:
            from numcodecs.zstd import Zstd

            text = bytes(Zstd().decode(content))
        if int.from_bytes(text[:4], "little") > len(text) // 4:
            raise _refused(path, f"a chunk of {what} says that it has more strings than {len(text)} bytes can hold")


def _unpacked_size(frame: bytes) -> int | None:
    """Unpacked size from the header of a Zstandard frame (RFC 8878, 3.1.1.1); None if absent or not a frame."""
    if len(frame) < 6 or frame[:4] != b"\x28\xb5\x2f\xfd":
        return None
    flags = frame[4]
    single = flags >> 5 & 1
    width = (single, 2, 4, 8)[flags >> 6]
    if not width:
        return None
    begin = 6 - single + (0, 1, 2, 4)[flags & 3]
    return int.from_bytes(frame[begin : begin + width], "little") + (256 if width == 2 else 0)
