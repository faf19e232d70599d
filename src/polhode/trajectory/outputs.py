"""What may be written without being asked for by name: in the folder one is in, and over results of polhode alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from polhode import reading
from polhode.errors import FileProblem, PolhodeError
from polhode.trajectory.digests import FOOTER, FOOTER_SIZE

MAKER = "polhode"  # what pictures and films name as the program that made them
MARKS = {
    ".png": b"tEXtSoftware\0polhode", ".apng": b"tEXtSoftware\0polhode", ".gif": b"!\xfe\7polhode\0",
    ".mp4": b"polhode", ".webm": b"polhode", ".pdf": b"/Creator (polhode)", ".svg": b"<dc:title>polhode</dc:title>",
    ".html": b'id="polhode-scene"', ".csv": b"method,step,steps,",
}  # fmt: skip
"""How they do so in their files."""


def made_by_polhode(path: Path) -> bool:
    """Whether a file or folder, which is no link, is a trajectory, picture, page or table that polhode wrote."""
    mode = path.lstat().st_mode
    try:
        if path.suffix == ".zarr":
            return stat.S_ISDIR(mode) and b'"polhode_version"' in reading.data(path / "zarr.json", "record")
        if not stat.S_ISREG(mode):
            return False
        with reading.opened(path, "trajectory") as file:
            if path.suffix == ".nc":
                file.seek(max(0, path.lstat().st_size - FOOTER_SIZE))
                return FOOTER.fullmatch(file.read()) is not None
            mark = MARKS.get(path.suffix.lower())
            return mark is not None and mark in file.read()
    except PolhodeError:
        return False


def check_within(path: str | os.PathLike[str], key: str, remedy: str) -> None:
    """Refuse a name in a scenario that leads out of the folder one is in: absolute, by ``..``, by a link, or a URL."""
    here = Path.cwd().resolve()
    try:
        there = (here / path).resolve()
        circle = any(one.is_symlink() for one in (there, *there.parents))  # Python 3.13 and later leave links in it
        inside = "://" not in os.fspath(path) and there.is_relative_to(here) and not circle
    except (OSError, RuntimeError):  # links in a circle
        inside = False
    if not inside:
        raise FileProblem(f"{key} is {str(path)!r}, which leads out of {here}, the folder you are in; {remedy}")


def check_replaceable(path: Path, remedy: str) -> None:
    """Refuse to replace what is no result of polhode's."""
    if os.path.lexists(path) and not made_by_polhode(path):
        raise FileProblem(f"{str(path)!r} is there already, and polhode did not write it; {remedy}")


def check_defaults(output: Path | None, overwrite: bool, *default: Path) -> None:
    """Refuse to replace files that the user has not named: all of these where there is no ``output``, else those beside
    it, unless it is said that they may be replaced."""
    for path in default:
        if not overwrite and (output is None or path != output):
            check_replaceable(path, "name another file with -o, or add --overwrite")
