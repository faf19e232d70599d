"""Threads that help a run: they wait in a compiled function while it marches, and take slices of its loads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Thread
from typing import Any

import numpy as np

from polhode.kernel import jit
from polhode.kernel.neighbours import NOW_AT, SLICES, TEAM
from polhode.kernel.signatures import SERVE
from polhode.kernel.work_sharing import CONTROL, STOP


@cache
def _served(serve: Callable[..., Any]) -> Any:
    return jit.compile_kernel(serve, SERVE, thorough=True)  # type: ignore[no-untyped-call]


class ThreadPool:
    """Further threads for the loads of a system, at work within ``with thread_pool:``.

    Results do not depend on how many there are. Where a system's loads are not shared, or nothing is compiled, the
    thread of the run works alone; there are never more threads than slices of work.
    """

    def __init__(self, serve: Callable[..., Any] | None, parameters: Any, threads: int) -> None:
        self.helpers, self.at_work = 0, list[Thread]()
        if serve is not None and threads > 1 and not jit.disabled():
            self.helpers = min(threads, int(parameters[SLICES])) - 1
        if self.helpers:
            self.parameters, self.control_at = parameters, int(parameters[NOW_AT]) + TEAM
            self.control = np.zeros(CONTROL, dtype=np.int64)
            self.serve = _served(serve)  # type: ignore[arg-type]

    def _help(self) -> None:
        self.serve(self.control.ctypes.data)  # a bound method: the memory stays while somebody looks at it

    def __enter__(self) -> ThreadPool:
        if self.helpers:
            self.control[:] = 0
            self.at_work = [Thread(target=self._help, name="polhode", daemon=True) for _ in range(self.helpers)]
            try:
                for thread in self.at_work:
                    thread.start()
            except BaseException:
                self._dismiss()
                raise
            self.parameters[self.control_at] = self.control.ctypes.data
        return self

    def __exit__(self, *_: object) -> None:
        if self.helpers:
            self.parameters[self.control_at] = 0.0
            self._dismiss()

    def _dismiss(self) -> None:
        self.control[STOP] = 1
        for thread in self.at_work:
            if thread.ident is not None:
                thread.join()
        self.at_work = []
