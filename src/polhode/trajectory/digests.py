"""SHA-256 digests of a trajectory file, written with it and verified before the file is parsed.

In a netCDF file they are appended after the end of the HDF5 data, where other programs do not look. In a Zarr folder
they are attributes of the group ``polhode_digests``, which readers of variables ignore. A program that reads and
rewrites the Dataset drops them, so a deliberate change is not reported as damage.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from polhode.durable import write
from polhode.errors import FileProblem

GROUP = "polhode_digests"
ABOUT = "SHA-256 of what polhode wrote; polhode.load compares it"
SIGNATURE = b"\x89HDF\r\n\x1a\n"
FOOTER = re.compile(rb"([0-9a-f]{64}) (\d{12}) polhode\n")
FOOTER_SIZE = 64 + 1 + 12 + 9
BLOCK = 2**20
MOST_TEXT = 2**28  # most bytes of the text with all digests
MOST_NAMES = 4  # most damaged parts that the error message lists


def torn(path: str | os.PathLike[str], what: Iterable[str]) -> FileProblem:
    """Return the error for a damaged file, naming its damaged parts."""
    names = list(dict.fromkeys(what))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return FileProblem(
        f"{str(path)!r} is torn or was changed: {', '.join(names[:MOST_NAMES])}{more}; take a copy of it, or run again "
        "(what xarray still reads of it, polhode.save writes anew)"
    )


def _of(file: BinaryIO, regions: Iterable[tuple[int, int]]) -> str:
    """Digest of regions of a file, each an offset and a number of bytes."""
    total = hashlib.sha256()
    for at, size in regions:
        file.seek(at)
        while size > 0 and (block := file.read(min(size, BLOCK))):
            total.update(block)
            size -= len(block)
    return total.hexdigest()


# ------------------------------------------------------------------ netCDF
def seal_netcdf(path: Path) -> None:
    """Append digests to a netCDF-4 file: of the whole file, and of the data of each variable."""
    regions = _data_regions(path)
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        variables = {name: {"at": at, "sha256": _of(file, at)} for name, at in regions.items()}
        recorded = {"about": ABOUT, "size": size, "sha256": _of(file, [(0, size)]), "variables": variables}
        text = json.dumps(recorded).encode()
        file.seek(size)
        file.write(text + b"%b %012d polhode\n" % (hashlib.sha256(text).hexdigest().encode(), len(text)))
        file.flush()
        os.fsync(file.fileno())


def _data_regions(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Byte ranges (offset, size) of each variable's data; small variables have none of their own."""
    import h5py

    regions: dict[str, list[tuple[int, int]]] = {}
    with h5py.File(path, "r") as file:
        for name, data in file.items():
            if isinstance(data, h5py.Dataset) and data.chunks is not None:
                at: list[tuple[int, int]] = []
                data.id.chunk_iter(lambda chunk, at=at: at.append((chunk.byte_offset, chunk.size)))
                regions[name] = sorted(at)
            elif isinstance(data, h5py.Dataset) and data.id.get_offset() is not None:
                regions[name] = [(data.id.get_offset(), data.id.get_storage_size())]
    return regions


def check_netcdf(path: Path) -> None:
    """Verify the digests of a netCDF file; a file without digests passes if its length is right."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        recorded = _footer(path, file, size)
        if recorded is None:
            end = _end(file)
            if end is not None and end != size:
                raise torn(path, [f"it has {size} bytes of {end}" if size < end else "something else follows its end"])
            return
        if _of(file, [(0, recorded["size"])]) == recorded["sha256"]:
            return
        wrong = [
            f"variable {name!r}" for name, one in recorded["variables"].items() if _of(file, one["at"]) != one["sha256"]
        ]
    raise torn(path, wrong or ["its attributes, or where its variables are"])


def _footer(path: Path, file: BinaryIO, size: int) -> dict[str, Any] | None:
    """The digests appended to a file; None where there are none."""
    file.seek(max(0, size - FOOTER_SIZE))
    footer = FOOTER.fullmatch(file.read())
    if footer is None:
        return None
    begin = size - FOOTER_SIZE - int(footer[2])
    if not 0 < begin < size - FOOTER_SIZE <= begin + MOST_TEXT:
        raise torn(path, ["its digests"])
    file.seek(begin)
    text = file.read(int(footer[2]))
    if hashlib.sha256(text).hexdigest().encode() != footer[1]:
        raise torn(path, ["its digests"])
    recorded = json.loads(text)
    if recorded["size"] != begin:
        raise torn(path, ["its digests"])
    return recorded


def _end(file: BinaryIO) -> int | None:
    """End of an HDF5 file according to its superblock (HDF5 File Format Specification, II.A); None without one."""
    file.seek(0)
    head = file.read(64)
    if len(head) < 64 or head[:8] != SIGNATURE or head[8] > 3:
        return None
    at = (40, 44, 28, 28)[head[8]]
    return int.from_bytes(head[at : at + 8], "little")


# ------------------------------------------------------------------ Zarr
def _files(path: Path) -> dict[str, Path]:
    """Files of a Zarr folder by relative path, without the digests."""
    found = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if not file.is_dir()}
    return {name: file for name, file in sorted(found.items()) if not name.startswith(f"{GROUP}/")}


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal_zarr(path: Path) -> None:
    """Write the digests of all files of a Zarr folder into the folder."""
    found = {name: _of_file(file) for name, file in _files(path).items()}
    node = {"zarr_format": 3, "node_type": "group", "attributes": {"about": ABOUT, "sha256": found}}
    write(path / GROUP / "zarr.json", json.dumps(node).encode())


def check_zarr(path: Path) -> None:
    """Verify the digests of a Zarr folder; a folder without digests passes."""
    if not (path / GROUP).exists():
        return
    try:
        node = json.loads((path / GROUP / "zarr.json").read_text(encoding="utf-8"))
        written: Mapping[str, str] = dict(node["attributes"]["sha256"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise torn(path, ["its digests"]) from None
    files = _files(path)
    wrong = [name for name in written if name not in files or _of_file(files[name]) != written[name]]
    wrong += [name for name in files if name not in written]
    if wrong:
        raise torn(path, map(_what, wrong))


def _what(name: str) -> str:
    """Description of a file of a Zarr folder, for the error message."""
    variable, _, rest = name.partition("/")
    if not rest:
        return "its attributes" if name == "zarr.json" else name
    return f"{'attributes of ' if rest == 'zarr.json' else ''}variable {variable!r}"
