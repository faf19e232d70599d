"""Threads that help a run: they wait in a compiled function while it marches, and take slices of its loads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import numpy as np

from polhode.kernel import jit
from polhode.kernel.neighbours import TEAM
from polhode.kernel.signatures import SERVE
from polhode.kernel.team import CONTROL, STOP


@cache
def _served(serve: Callable[..., Any]) -> Any:
    return jit.compile_kernel(serve, SERVE)  # type: ignore[no-untyped-call]


class Team:
    """Further threads for the loads of a system, at work within ``with team:``.

    Results do not depend on how many there are. Where a system's loads are not shared, or nothing is compiled, the
    thread of the run works alone.
    """

    def __init__(self, serve: Callable[..., Any] | None, parameters: Any, threads: int) -> None:
        self.parameters = parameters
        self.waiting: list[Future[None]] = []
        self.helpers = 0 if serve is None or jit.disabled() else threads - 1
        if self.helpers:
            self.control = np.zeros(CONTROL, dtype=np.int64)
            self.serve = _served(serve)  # type: ignore[arg-type]
            self.pool = ThreadPoolExecutor(self.helpers, "polhode")

    def __enter__(self) -> Team:
        if self.helpers:
            self.control[:] = 0
            address = self.control.ctypes.data
            self.waiting = [self.pool.submit(self.serve, address) for _ in range(self.helpers)]
            self.parameters[TEAM] = address
        return self

    def __exit__(self, *_: object) -> None:
        if self.helpers:
            self.parameters[TEAM] = 0.0
            self.control[STOP] = 1
            wait(self.waiting)
