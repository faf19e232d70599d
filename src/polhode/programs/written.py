"""Texts as modules: a text is written to a file named by its digest, and its functions are imported from there.

A file that never changes is what the cache of compiled kernels needs: functions made in memory would be compiled in
every process. What is run, and what the compiler reads, is the text at hand, never what a file holds, which another
process may remove.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import sys
import threading
from pathlib import Path
from types import ModuleType

from polhode.durable import write
from polhode.kernel.cache import cache_root, prune
from polhode.kernel.holes import HOLES, Hole
from polhode.kernel.interrupts import held
from polhode.kernel.reach import WRITTEN
from polhode.programs.primitives import KERNELS
from polhode.programs.text import HEAD

_lock = threading.RLock()


def module_of(text: str, head: str = HEAD) -> ModuleType:
    """The module of a text of functions, with imports before it, and those of kernels that it calls; one for each text,
    in ``sys.modules`` before anything of it is compiled: numba asks for it by its name."""
    called = sorted(name for name in KERNELS if f"{name}(" in text)
    held_here = {name: KERNELS[name] for name in called if not isinstance(KERNELS[name], str)}
    head += "".join(f"\nfrom {KERNELS[name]} import {name}" for name in called if name not in held_here)
    text = f'"""Written by polhode from a traced function."""\n\n{head}\n\n{text}'
    name = WRITTEN + hashlib.sha256(text.encode()).hexdigest()[:32]
    with _lock:
        if name not in sys.modules:
            module = ModuleType(name)
            module.__file__ = str(_file_of(name, text))
            holes = {name: one for name, one in held_here.items() if isinstance(one, Hole)}
            module.__dict__.update(held_here | {HOLES: holes})
            linecache.cache[module.__file__] = len(text), None, text.splitlines(True), module.__file__
            exec(compile(text, module.__file__, "exec"), module.__dict__)
            sys.modules[name] = module
        return sys.modules[name]


def _file_of(name: str, text: str) -> Path:
    """The file of a text, written unless it is there; its path even where it cannot be written."""
    path = cache_root() / "programs" / f"{name.rpartition('.')[2]}.py"
    try:
        if path.exists() and path.read_text() == text:
            return path
        cache_root().mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with held():
            write(path, text.encode(), apart=f".{os.getpid()}")
        prune(path)
    except OSError:  # a full disk: what is compiled is then not cached
        pass
    return path
