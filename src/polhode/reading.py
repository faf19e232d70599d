"""Files that users name and that may come from anybody: regular files alone, up to a stated size of each kind.

No pipe or device is opened, and no file takes more memory than its kind allows, so that none can hang a program or
exhaust the machine. ``POLHODE_LARGEST_FILE_MB`` in the environment raises all these sizes. Trajectories are opened by
the libraries of their formats, after ``check`` here and the checks of their contents in ``trajectory.foreign``.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import stat
from collections.abc import Iterator
from typing import Any, NamedTuple

from polhode.errors import FileProblem, InvalidInput, PolhodeError, shown
from polhode.operating_system import AS_BYTES, AT_ONCE, memory

LIMIT = "POLHODE_LARGEST_FILE_MB"
MB = 10**6
LONGEST_LINE = 4 * MB  # bytes of a line where a file is read line by line
Named = str | os.PathLike[str]


class Kind(NamedTuple):
    """What users name as a file."""

    most: float  # largest size, MB; infinite: what ``limit`` gives to all
    said: str  # the error, with ``{path}`` and ``{why}``
    error: type[PolhodeError] = InvalidInput
    absent: str = ""  # why, of a file that is not there; else in the words of the system


KINDS = {
    "scenario": Kind(4, "cannot read the scenario {path!r}: {why}", FileProblem,
                     "there is no such file; check the name"),
    "python": Kind(4, "cannot read the functions in {path!r}: {why}; give a Python file", FileProblem),
    "gravity field": Kind(1000, "gravity field {path!r} cannot be read: {why}; give 'egm2008', or the path of a .gfc "
                                "file"),
    "tle": Kind(1, "tle is {path!r}, which cannot be read: {why}; give the name of a file with two-line elements"),
    "omm": Kind(100, "given is {path!r}, which cannot be read: {why}; give the name of an OMM file"),
    "OEM": Kind(200, "path is {path!r}, which cannot be read: {why}; give the name of an OEM file"),
    "AEM": Kind(200, "path is {path!r}, which cannot be read: {why}; give the name of an AEM file"),
    "magnetic field": Kind(4, "{path} cannot be read as coefficients: {why}; give the name of an .shc file",
                           FileProblem),
    "ephemeris": Kind(4000, "source is {path!r}, which cannot be read: {why}; give 'builtin', 'astropy' or the path "
                            "of a .bsp file"),
    "mesh": Kind(200, "cannot read the mesh {path!r}: {why}; name another, or give (vertices, faces)", FileProblem,
                 "there is no file of that name"),
    "measurements": Kind(1000, "cannot read {path}: {why}; give the name of a CSV file", FileProblem),
    "members": Kind(1000, "{path} cannot be read: {why}; give the name of a CSV file", FileProblem),
    "record": Kind(256, "cannot read {path}: {why}", FileProblem),
    "trajectory": Kind(float("inf"), "{path!r} is not read: {why}", FileProblem),
}  # fmt: skip
"""Every kind of file that is read, by its name."""


def limit(most: float = float("inf")) -> float:
    """Bytes allowed where a kind allows so many MB, or, if that is infinite, half of the memory of this machine."""
    usual = min(most * MB, memory() / 2)
    given = os.environ.get(LIMIT)
    if not given:
        return usual
    try:
        raised = float(given)
    except ValueError:
        raised = 0.0
    if not 0.0 < raised < float("inf"):
        raise InvalidInput(f"{LIMIT} is {shown(given)} in the environment; write a number of megabytes, such as 4000")
    return max(usual, raised * MB)


def amount(number: float) -> str:
    """Bytes in words."""
    scale, unit = (1e9, "GB") if number >= 1e8 else (1e6, "MB")
    return f"{min(number, 1e99) / scale:.3g} {unit}"


def _checked(status: os.stat_result, most: float) -> None:
    """Refuse what is no regular file, and one that is too large."""
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        what = "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
        raise OSError(errno.EINVAL, f"it is {what}, not a file")
    if status.st_size > most:
        raise _too_large(amount(status.st_size), most)


def _too_large(has: str, most: float) -> OSError:
    return OSError(errno.EFBIG, f"it has {has}, but at most {amount(most)} are read; {LIMIT} in the environment raises "
                                "that")  # fmt: skip


class _Bounded(io.RawIOBase):
    """A file that ends with an error where more is read of it than is allowed, as of one that grows."""

    def __init__(self, handle: int, most: float) -> None:
        self.file, self.most, self.left = io.FileIO(handle), most, most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        got = self.file.readinto(buffer) or 0
        self.left -= got
        if self.left < 0:
            raise _too_large("more", self.most)
        return got

    def close(self) -> None:
        self.file.close()
        super().close()


@contextlib.contextmanager
def _refusing(path: Named, row: Kind) -> Iterator[None]:
    """Errors of the system become the sentence of a kind."""
    try:
        yield
    except PolhodeError:
        raise
    except OSError as problem:
        why = (isinstance(problem, FileNotFoundError) and row.absent) or problem.strerror or str(problem)
        raise row.error(row.said.format(path=str(path), why=why)) from None


@contextlib.contextmanager
def opened(path: Named, kind: str) -> Iterator[io.BufferedReader[Any]]:
    """A file of a kind, open as bytes."""
    row = KINDS[kind]
    most = limit(row.most)
    with _refusing(path, row):
        _checked(os.stat(path), most)  # a pipe would wait for its writer, and a device may act when it is opened
        handle = os.open(path, os.O_RDONLY | AT_ONCE | AS_BYTES)
        with io.BufferedReader(_Bounded(handle, most), 2**20) as file:
            _checked(os.fstat(handle), most)
            yield file


def check(path: Named, kind: str) -> None:
    """Refuse a file that a library will open; the arguments and errors are those of ``opened``."""
    row = KINDS[kind]
    with _refusing(path, row):
        _checked(os.stat(path), limit(row.most))


def data(path: Named, kind: str) -> bytes:
    """All bytes of a file of a kind; errors as of ``opened``."""
    with opened(path, kind) as file:
        return file.read()


def text(path: Named, kind: str, encoding: str = "utf-8-sig", errors: str = "replace") -> str:
    """All text of a file of a kind, with line ends as Python has them; errors as of ``opened``."""
    try:
        found = data(path, kind).decode(encoding, errors)
    except UnicodeDecodeError as wrong:
        raise InvalidInput(f"{path} is not a text file in UTF-8 (byte {wrong.start})") from None
    return io.IncrementalNewlineDecoder(None, True).decode(found, True)


@contextlib.contextmanager
def lines(path: Named, kind: str, encoding: str = "utf-8-sig", errors: str = "strict") -> Iterator[Iterator[str]]:
    """The lines of a file, read one by one; errors as of ``opened``, of too long lines, and UnicodeDecodeError."""
    with opened(path, kind) as file, io.TextIOWrapper(file, encoding, errors, newline="") as stream:
        yield _lines(stream)


def _lines(stream: io.TextIOWrapper) -> Iterator[str]:
    count = 0
    while line := stream.readline(LONGEST_LINE + 1):
        count += 1
        if len(line) > LONGEST_LINE:
            raise OSError(errno.EFBIG, f"line {count} has more than {amount(LONGEST_LINE)}")
        yield line


def same(path: Named, kind: str, recorded: str) -> str:
    """The SHA-256 of a file, which must be the recorded one, if there is one."""
    found = digest(path, kind)
    if recorded and recorded != found:
        raise InvalidInput(f"{path} is not the file that this run was made with: its SHA-256 differs; find that file, "
                           "or leave digest out")  # fmt: skip
    return found


def digest(path: Named, kind: str) -> str:
    """SHA-256 of a file of a kind; errors as of ``opened``."""
    with opened(path, kind) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
