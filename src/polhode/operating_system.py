"""What differs from one operating system to the next, one function each: owners of files, locks, memory, processors,
the user's folders and browser. No other file asks on which one it runs; of processors ``kernel/machine.py`` knows."""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import sys
from pathlib import Path

NO_LINKS, AS_BYTES, AT_ONCE = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_BINARY", "O_NONBLOCK"))
"""Flags of ``os.open``, 0 where there are none: not through a link, no line ends translated, without waiting."""
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """The user's folder for what can be made again."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def user() -> int | None:
    """Whose the files are that this process writes; None where files have no owners and modes."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def is_ours(status: os.stat_result) -> bool:
    """Whether a file or folder is owned by this user and not writable by others, where files have owners."""
    me = user()
    return me is None or (status.st_uid == me and not status.st_mode & OTHERS_WRITE)


def lock(path: Path, flags: int, shared: bool = False) -> int:
    """Open a file or a folder with a lock (``flock``), which ends with its process; returns the handle. While another
    process has it BlockingIOError is raised, and another OSError where there are no locks, as on Windows."""
    try:
        import fcntl
    except ImportError:
        raise OSError("files have no locks here") from None
    handle = os.open(path, flags, 0o600)
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BaseException:
        os.close(handle)
        raise
    return handle


def unlock(handle: int) -> None:
    """Let a lock go, also for child processes that have been forked meanwhile."""
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where folders can be opened."""
    if user() is not None:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@functools.cache
def memory() -> int:
    """Memory of this machine or of the container that we are in, in bytes; 16 GiB where the system does not say."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        found = 16 << 30
    for limit in ("memory.max", "memory/memory.limit_in_bytes"):  # of the second and the first version
        with contextlib.suppress(OSError, ValueError), open(f"/sys/fs/cgroup/{limit}", encoding="ascii") as file:
            found = min(found, int(file.read()))
    return found


def memory_allowed() -> int:
    """The same, or the limit of this process where it is lower."""
    try:
        import resource
    except ImportError:  # as on Windows
        return memory()
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return memory() if limit == resource.RLIM_INFINITY else min(memory(), limit)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cuda_drivers() -> tuple[str, ...]:
    """Names of the library of NVIDIA's driver."""
    return ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")


def has_display() -> bool:
    """Whether a browser has something to appear on."""
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))


def show_page(page: Path) -> bool:
    """Open a page in the browser; False where none is found."""
    import webbrowser

    return webbrowser.open(page.resolve().as_uri())
