"""Digests of the bytes of a trajectory file, written with it and compared before anything in it is understood.

Of a netCDF file they stand behind its end, where HDF5 says that end is and other programs do not look. Of a Zarr
folder they are attributes of a group ``polhode_digests``, which readers of variables pass by. A program that reads and
writes a Dataset takes none along, so that what was changed on purpose is not called torn.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from polhode.errors import FileProblem

GROUP = "polhode_digests"
ABOUT = "SHA-256 of what polhode wrote; polhode.load compares it"
SIGNATURE = b"\x89HDF\r\n\x1a\n"
FOOTER = re.compile(rb"([0-9a-f]{64}) (\d{12}) polhode\n")
FOOTER_SIZE = 64 + 1 + 12 + 9
BLOCK = 2**20
MOST_TEXT = 2**28
"""Bytes of all digests."""
MOST_NAMES = 4
"""Torn things a sentence lists."""


def torn(path: str | os.PathLike[str], what: Iterable[str]) -> FileProblem:
    """The error for a file that is damaged."""
    names = list(dict.fromkeys(what))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return FileProblem(
        f"{str(path)!r} is torn or was changed: {', '.join(names[:MOST_NAMES])}{more}; take a copy of it, or run again "
        "(what xarray still reads of it, polhode.save writes anew)"
    )


def _of(file: BinaryIO, regions: Iterable[tuple[int, int]]) -> str:
    """Digest of parts of a file, each a place and a number of bytes."""
    total = hashlib.sha256()
    for at, size in regions:
        file.seek(at)
        while size > 0 and (block := file.read(min(size, BLOCK))):
            total.update(block)
            size -= len(block)
    return total.hexdigest()


# ------------------------------------------------------------------ netCDF
def seal_netcdf(path: Path) -> None:
    """Write the digests of a netCDF-4 file behind it: of all its bytes, and of those of each variable."""
    places = _places(path)
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        told = {
            "about": ABOUT,
            "size": size,
            "sha256": _of(file, [(0, size)]),
            "variables": {name: {"at": at, "sha256": _of(file, at)} for name, at in places.items()},
        }
        text = json.dumps(told).encode()
        file.seek(size)
        file.write(text + b"%b %012d polhode\n" % (hashlib.sha256(text).hexdigest().encode(), len(text)))
        file.flush()
        os.fsync(file.fileno())


def _places(path: Path) -> dict[str, list[tuple[int, int]]]:
    """Where in the file the numbers of each variable are; small ones may be among the rest."""
    import h5py

    places: dict[str, list[tuple[int, int]]] = {}
    with h5py.File(path, "r") as file:
        for name, data in file.items():
            if isinstance(data, h5py.Dataset) and data.chunks is not None:
                at: list[tuple[int, int]] = []
                data.id.chunk_iter(lambda chunk, at=at: at.append((chunk.byte_offset, chunk.size)))
                places[name] = sorted(at)
            elif isinstance(data, h5py.Dataset) and data.id.get_offset() is not None:
                places[name] = [(data.id.get_offset(), data.id.get_storage_size())]
    return places


def check_netcdf(path: Path) -> None:
    """Refuse a netCDF file that is not what its digests say; one that never had any is passed.

    Raises
    ------
    FileProblem
        The sentence names what is torn.
    """
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        told = _footer(path, file, size)
        if told is None:
            end = _end(file)
            if end is not None and end != size:
                raise torn(path, [f"it has {size} bytes of {end}" if size < end else "something else follows its end"])
            return
        if _of(file, [(0, told["size"])]) == told["sha256"]:
            return
        wrong = [
            f"variable {name!r}"
            for name, one in told["variables"].items()
            if _of(file, one["at"]) != one["sha256"]
        ]  # fmt: skip
    raise torn(path, wrong or ["its attributes, or where its variables are"])


def _footer(path: Path, file: BinaryIO, size: int) -> Any:
    """The digests behind a file; None where there are none."""
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
    told = json.loads(text)
    if told["size"] != begin:
        raise torn(path, ["its digests"])
    return told


def _end(file: BinaryIO) -> int | None:
    """Where an HDF5 file ends by its superblock (HDF5 File Format Specification, II.A); None where it has none."""
    file.seek(0)
    head = file.read(64)
    if len(head) < 64 or head[:8] != SIGNATURE or head[8] > 3:
        return None
    at = (40, 44, 28, 28)[head[8]]
    return int.from_bytes(head[at : at + 8], "little")


# ------------------------------------------------------------------ Zarr
def _files(path: Path) -> dict[str, Path]:
    """The files of a Zarr folder by their names in it, but for the digests."""
    found = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if not file.is_dir()}
    return {name: file for name, file in sorted(found.items()) if not name.startswith(f"{GROUP}/")}


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal_zarr(path: Path) -> None:
    """Write the digests of every file of a Zarr folder into it."""
    import zarr

    told = {name: _of_file(file) for name, file in _files(path).items()}
    group = zarr.open_group(path, mode="r+", use_consolidated=False)
    group.create_group(GROUP, attributes={"about": ABOUT, "sha256": told})


def check_zarr(path: Path) -> None:
    """Refuse a Zarr folder that is not what its digests say; one that never had any is passed.

    Raises
    ------
    FileProblem
        The sentence names what is torn.
    """
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
    """What a file of a Zarr folder holds."""
    variable, _, rest = name.partition("/")
    if not rest:
        return "its attributes" if name == "zarr.json" else name
    return f"{'attributes of ' if rest == 'zarr.json' else ''}variable {variable!r}"
