"""Disk cache of compiled kernels: its folder, the checks before a file is run, and locks between processes.

What is loaded from here is run as code. So the folder and every file must be owned by the user and not writable by
others; otherwise nothing is read. A file starts with a digest of its content and of the source that it was compiled
from (``reach``): a file that is truncated, corrupt or of another kernel is compiled anew.

Folders above the root of the cache are not checked: who may write there can replace the cache by another one, but that
one is not owned by the user, and is rejected.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import importlib.util
import os
import pickle
import re
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from polhode import operating_system
from polhode.errors import FileProblem
from polhode.kernel import reach
from polhode.kernel.interrupts import held
from polhode.kernel.machine import OBJECT, Kernel, load, processor
from polhode.lazy import shutil, tempfile
from polhode.operating_system import AS_BYTES, NO_LINKS, OTHERS_WRITE, is_ours, lock, unlock, user

ROOMS = ("kernel", "programs", "algebra", "flows", "bodies", "surroundings", "systems", "methods")
KEPT_GENERATIONS, KEPT_FILES = 4, 5000
HOUR = 3600.0
listeners: list[Callable[[Any], None]] = []
"""What is called with a function before it is compiled, and with None while another process compiles it."""
PATIENCE = 120.0
"""Seconds for which a process waits for another one that compiles the same kernel; then it compiles too."""
FORMAT = b"polhode kernel 3\n"
SEAL = hashlib.sha256().digest_size


@functools.cache
def digest() -> str:
    """Digest of the versions of numba, llvmlite, numpy, Python and the file format; names the folder."""
    total = hashlib.sha256(f"{np.__version__} {sys.version_info[:2]} {object.__basicsize__} {FORMAT!r}".encode())
    for package in ("numba", "llvmlite"):
        spec: Any = importlib.util.find_spec(package)  # which imports nothing
        total.update(Path(spec.origin).with_name("_version.py").read_bytes())
    return total.hexdigest()[:16]


# ------------------------------------------------------------------ the folder
def cache_root() -> Path:
    """Root of the cache: POLHODE_CACHE_DIR, else the user's cache folder on this platform."""
    chosen = os.environ.get("POLHODE_CACHE_DIR")
    return Path(chosen).expanduser() if chosen else operating_system.cache_folder() / "polhode"


@functools.cache
def cache_folder() -> Path:
    """The private cache folder for these versions of compiler and Python; the oldest folders of others are removed.

    Where nothing can be written, and (with a warning) where the user's cache folder is not safe, a temporary folder
    that is removed when the process ends."""
    root, chosen = cache_root(), bool(os.environ.get("POLHODE_CACHE_DIR"))
    folder = root / digest()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not chosen and root.stat().st_uid == user():
            root.chmod(0o700)  # earlier versions left the mode to the umask
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
        # Only folders named by a digest: the root may contain other things.
        generations = [p for p in root.iterdir() if re.fullmatch("[0-9a-f]{16}", p.name) and p.is_dir()]
        for old in sorted(generations, key=lambda p: -p.stat().st_mtime)[KEPT_GENERATIONS:]:
            shutil.rmtree(old, ignore_errors=True)
    return folder


def _temporary() -> Path:
    """A temporary folder of this process, removed when it ends."""
    folder = tempfile.mkdtemp(prefix="polhode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _unsafe(folder: Path) -> str:
    """Why code must not be loaded from a folder, with the remedy; empty where it may.

    The folder must be owned by the user and not writable by others. Its parent may also be the administrator's, and
    writable by others where the sticky bit keeps them from renaming it (as in /tmp).
    """
    root, me = folder.parent, user()
    if me is None:
        return ""
    use = "what is in it is run as code, so it must be yours alone: remove it"
    if folder.is_symlink():
        return f"{folder} in the cache of compiled kernels is a link; {use}"
    for entry_path, owners, sticky in ((folder, (me,), 0), (root, (me, 0), stat.S_ISVTX)):
        status = entry_path.stat()
        if status.st_uid not in owners:
            return f"the cache of compiled kernels, {entry_path}, belongs to another user; {use}"
        if status.st_mode & OTHERS_WRITE and not status.st_mode & sticky:
            return (
                f"others may write to the cache of compiled kernels, {entry_path}; {use}, or empty it and chmod 700 it"
            )
    return ""


# ------------------------------------------------------------------ the files
def place_of(function: Any, signature: object, options: dict[str, Any]) -> tuple[Path, bytes] | None:
    """The file of a kernel, and the digest of all that it is compiled from; None where ``reach`` has none."""
    try:
        key = hashlib.sha256(reach.digest_of(function, options))
    except reach.Unknown:
        return None
    key.update(reach.digest_of_signature(signature))
    key.update(processor().encode())
    label = re.sub(r"\W", "_", function.__qualname__)[:100]
    return cache_folder() / f"{label}-{key.hexdigest()[:24]}.kernel", key.digest()


def kernel_in(kept_at: tuple[Path, bytes], function: Any) -> Kernel | None:
    """The compiled function, or None where it has no intact file owned by the user."""
    content = opened(*kept_at)
    made = None if content is None else kernel_of(pickle.loads(content), function, True)
    if made is not None:
        _keep(kept_at[0])
    return made


def kernel_of(parts: tuple[Any, ...], function: Any, loaded: bool = False) -> Kernel | None:
    """A kernel from what ``direct.compiled`` returns; None where something that it calls is nowhere."""
    code, needs, name, roles = parts
    objects = [name for name in needs if name.startswith(OBJECT)]
    there = all(loaded_object(name) is not None for name in objects)
    if not (there and load(code, [name for name in needs if name not in objects])):
        return None
    return Kernel(function, name, roles, loaded)


def save(kept_at: tuple[Path, bytes], parts: tuple[Any, ...]) -> None:
    """Save a compiled function; a file that cannot be written is skipped."""
    with contextlib.suppress(OSError):
        write_sealed(*kept_at, pickle.dumps(parts))
        prune(kept_at[0])


_objects: dict[str, tuple[Any, ...]] = {}


def loaded_object(name: str) -> tuple[Any, ...] | None:
    """What is known of a function that kernels call by this name; None where it is neither in this process nor has a
    file."""
    if name not in _objects:
        path = cache_folder() / f"{name}.kernel"
        content = opened(path, name.encode())
        parts = None if content is None else pickle.loads(content)
        if parts is None or not load(*parts[:2]):
            return None
        _keep(path)
        _objects[name] = parts[2:]
    return _objects[name]


def object_made(name: str, make: Callable[[], tuple[Any, ...]]) -> Any:
    """What is known of the function of this name, which ``make() -> (code, what it needs, what is known)`` compiles
    where it is neither in this process nor has a file."""
    with alone(cache_folder() / f"{name}.kernel"):
        if loaded_object(name) is None:
            parts = make()
            load(*parts[:2])
            _objects[name] = parts[2:]
            with contextlib.suppress(OSError):
                write_sealed(cache_folder() / f"{name}.kernel", name.encode(), pickle.dumps(parts))
    return _objects[name][0]


def _keep(path: Path) -> None:
    """Note that a file is used: ``prune`` removes the least recently used."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > HOUR:
            os.utime(path)


def prune(new: Path) -> None:
    """Where there are more than KEPT_FILES files in its folder, remove the least recently used, down to four fifths of
    KEPT_FILES; for one new file of sixteen, as looking takes milliseconds."""
    with os.scandir(new.parent) as entries:
        names = [entry.path for entry in entries] if new.stem.endswith("0") else []
    if len(names) <= KEPT_FILES:
        return
    ages = []
    for name in names:
        with contextlib.suppress(OSError):  # removed meanwhile
            ages.append((os.stat(name).st_mtime, name))
    for _, name in sorted(ages)[: len(ages) - KEPT_FILES * 4 // 5]:
        with contextlib.suppress(OSError):
            os.unlink(name)


# ------------------------------------------------------------------ one process at a time
@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """A block that writes a file while other processes that would write the same one wait.

    Enters at once where the file exists, and where there are no locks; after ``PATIENCE`` seconds in any case. The lock
    is on a separate file.
    """
    taken: list[int] = []
    try:
        _wait(path, taken)
        yield
    finally:
        for handle in taken:
            with contextlib.suppress(OSError):
                os.unlink(path.with_suffix(".lock"))  # while the lock is held
            unlock(handle)


def report_compiling(function: Any) -> None:
    """Call the ``listeners``."""
    for one in listeners:
        one(function)


def _wait(path: Path, taken: list[int]) -> None:
    """Wait until the file exists or the lock is acquired, whose handle is appended to ``taken``."""
    begin = time.monotonic()
    while not path.exists():
        with held():
            try:
                handle = lock(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | NO_LINKS)
            except BlockingIOError:
                pass
            except OSError:  # nothing can be written, or there are no locks
                return
            else:
                if os.fstat(handle).st_nlink > 0:
                    taken.append(handle)
                else:  # its owner removed it after it was opened here
                    os.close(handle)
        if taken or time.monotonic() - begin > PATIENCE:
            return
        report_compiling(None)
        time.sleep(0.05)


def _seal(key: bytes, content: bytes | memoryview) -> bytes:
    total = hashlib.sha256(key)
    total.update(content)
    return total.digest()


def write_sealed(path: Path, key: bytes, content: bytes) -> None:
    """Write a file with its digest, atomically; several processes may do so at once."""
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
    """The content of a file written with this key; None where it is missing, corrupt or not owned by the user."""
    try:
        with open(os.open(path, os.O_RDONLY | NO_LINKS | AS_BYTES), "rb") as file:
            if not is_ours(os.fstat(file.fileno())):
                return None
            whole = memoryview(file.read())
    except OSError:
        return None
    begin = len(FORMAT) + SEAL
    if whole[:begin] != FORMAT + _seal(key, whole[begin:]):
        return None
    return whole[begin:]
