"""Where compiled kernels are kept between processes, and what makes one of them fit to be run.

What is loaded from here is run as code. So the folder must be the user's own, closed to others, and so must be every
file that is opened; where it is not, nothing in it is read. A file is sealed with a digest over its content and over
what it is the machine code of: one that is torn, cut short or in the place of another is compiled anew.

Folders farther up are not looked at: who may write there can put another folder in the place of ours, but that one is
not ours, and is refused.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from polhode.errors import FileProblem
from polhode.kernel.interrupts import held

ROOMS = ("kernel", "algebra", "flows", "systems", "methods")
KEPT_GENERATIONS = 4
FORMAT = b"polhode kernel 1\n"
SEAL = hashlib.sha256().digest_size
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@functools.cache
def digest() -> str:
    """Digest of every source a kernel can depend on, and of the compiler's version."""
    total = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version_info[:2]}".encode())
    package = Path(__file__).parent.parent
    for room in ROOMS:
        for path in sorted((package / room).rglob("*.py")):
            total.update(path.relative_to(package).as_posix().encode())
            total.update(path.read_bytes())
    return total.hexdigest()[:16]


# ------------------------------------------------------------------ the folder
def cache_root() -> Path:
    """Where compiled kernels are kept: POLHODE_CACHE_DIR, else the user's cache folder of this platform."""
    chosen = os.environ.get("POLHODE_CACHE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "polhode"


@functools.cache
def cache_folder() -> Path:
    """The cache folder of exactly these sources, closed to others; those of older sources are pruned, the newest stay.

    A temporary folder that goes when the process ends where nothing can be written, and, with a warning, where the
    user's own cache folder is not safe.

    Raises
    ------
    FileProblem
        POLHODE_CACHE_DIR names a folder that is not safe.
    """
    root, chosen = cache_root(), bool(os.environ.get("POLHODE_CACHE_DIR"))
    folder = root / digest()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not chosen and os.name == "posix" and root.stat().st_uid == os.geteuid():
            root.chmod(0o700)  # made by an earlier version, which left that to the umask
        unsafe = _unsafe(folder)
        if unsafe and chosen:
            raise FileProblem(f"{unsafe}, or set POLHODE_CACHE_DIR to another one")
        if unsafe:
            warnings.warn(f"{unsafe}; until then kernels are compiled in every process", stacklevel=2)
            return _temporary()
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except FileProblem:
        raise
    except OSError:
        return _temporary()
    with contextlib.suppress(OSError):
        os.utime(folder)
        # Only folders that a digest has named: the root may be a place with other things in it.
        generations = [p for p in root.iterdir() if re.fullmatch("[0-9a-f]{16}", p.name) and p.is_dir()]
        for old in sorted(generations, key=lambda p: -p.stat().st_mtime)[KEPT_GENERATIONS:]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def _temporary() -> Path:
    """A folder of this process alone."""
    folder = tempfile.mkdtemp(prefix="polhode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _is_ours(found: os.stat_result) -> bool:
    """Whether nobody but this user (and the administrator) can have written a file or folder, or can from now on."""
    return os.name != "posix" or (found.st_uid == os.geteuid() and not found.st_mode & OTHERS_WRITE)


def _unsafe(folder: Path) -> str:
    """Why code must not be loaded from a folder and how to mend that, in words; empty where it may.

    The folder must be ours alone. The one it is in may be the administrator's, and open to others where they cannot
    rename what is not theirs (as in /tmp).
    """
    if os.name != "posix":
        return ""
    use = "what is in it is run as code, so it must be yours alone: remove it"
    if folder.is_symlink():
        return f"{folder} in the cache of compiled kernels is a link; {use}"
    root, me = folder.parent, os.geteuid()
    for place, owners, sticky in ((folder, (me,), 0), (root, (me, 0), stat.S_ISVTX)):
        found = place.stat()
        if found.st_uid not in owners:
            return f"the cache of compiled kernels, {place}, belongs to another user; {use}"
        if found.st_mode & OTHERS_WRITE and not found.st_mode & sticky:
            return f"others may write to the cache of compiled kernels, {place}; {use}, or empty it and chmod 700 it"
    return ""


# ------------------------------------------------------------------ the files
class KernelCache(_Cache):  # type: ignore[misc]
    """What numba asks for the machine code of one function; a file for every signature and processor.

    Parameters
    ----------
    function : function
        Of a source file.
    """

    def __init__(self, function: Any) -> None:
        self.function = function

    @property
    def cache_path(self) -> str:
        return str(cache_folder())

    def enable(self) -> None:
        """Always."""

    disable = flush = enable

    def _place(self, signature: Any, codegen: Any) -> tuple[Path, bytes]:
        """The file of a kernel, and the digest of what it is the machine code of."""
        name, code = self.function.__qualname__, self.function.__code__
        cells = [cell.cell_contents for cell in self.function.__closure__ or ()]
        parts = (signature, codegen.magic_tuple(), self.function.__module__, name, code.co_firstlineno)
        key = hashlib.sha256(repr(parts).encode())
        for part in (Path(code.co_filename).read_bytes(), code.co_code, dumps(tuple(cells)) if cells else b""):
            key.update(hashlib.sha256(part).digest())
        label = re.sub(r"\W", "_", name)[:100]
        return cache_folder() / f"{label}-{key.hexdigest()[:24]}.kernel", key.digest()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None where there is no whole file of it that is ours."""
        target_context.refresh()
        content = opened(*self._place(sig, target_context.codegen()))
        return None if content is None else CompileResult._rebuild(target_context, *pickle.loads(content))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function; where it cannot be written, it will be compiled again."""
        if data.library.has_dynamic_globals or not all(lifted.can_cache for lifted in data.lifted):
            return
        with contextlib.suppress(OSError):
            write_sealed(*self._place(sig, data.codegen), dumps(data._reduce()))


def _seal(key: bytes, content: bytes | memoryview) -> bytes:
    total = hashlib.sha256(key)
    total.update(content)
    return total.digest()


def write_sealed(path: Path, key: bytes, content: bytes) -> None:
    """Write a file that ``opened`` will know as whole; several processes may do so at once.

    Raises
    ------
    OSError
        The disk is full, and the like; the file is the one before, or none.
    """
    with held():
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".partial")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(FORMAT + _seal(key, content))
                file.write(content)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise


def opened(path: Path, key: bytes) -> memoryview | None:
    """The content of a file that was written with this key, or None where it is missing, torn or not ours."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            if not _is_ours(os.fstat(file.fileno())):
                return None
            whole = memoryview(file.read())
    except OSError:
        return None
    begin = len(FORMAT) + SEAL
    if whole[:begin] != FORMAT + _seal(key, whole[begin:]):
        return None
    return whole[begin:]
