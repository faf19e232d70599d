"""Functions called in processes forked from the build, which has loaded what they use: none finds what another one
left, and none waits for imports."""

from __future__ import annotations

import gc
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import wait
from time import monotonic
from typing import Any


class Failed(Exception):
    """What went wrong in a process, in words."""


def several(
    works: Sequence[Callable[[], Any]], at_once: int = 1, timeout: float = 3600.0,
    done: Callable[[int, Any], None] = lambda k, found: None,
) -> list[Any]:  # fmt: skip
    """What functions return, each called in a process of its own; ``done`` is told the number and the result of each.

    Raises
    ------
    Failed
        A function raised an exception, its process died, or took more than ``timeout`` seconds.
    """
    context, waiting, running, found = get_context("fork"), list(enumerate(works)), {}, {}
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                k, work = waiting.pop(0)
                here, there = context.Pipe(duplex=False)
                process = context.Process(target=answer, args=(work, there))
                process.start()
                there.close()
                running[here] = k, process, monotonic()
            for here in wait(list(running), timeout=1.0):
                k, process, _ = running[here]
                try:
                    problem, found[k] = here.recv()
                except EOFError:
                    process.join()
                    problem = Failed(f"its process ended with {process.exitcode}")
                if problem is not None:
                    raise problem
                del running[here]
                process.join()
                done(k, found[k])
            if any(monotonic() - begun > timeout for _, _, begun in running.values()):
                raise Failed(f"it took more than {timeout:g} s")
    finally:
        for _, process, _ in running.values():
            process.kill()
            process.join()
    return [found[k] for k in range(len(works))]


def answer(work: Callable[[], Any], there: Any) -> None:
    """Call a function and send what it returns, or what it raises."""
    gc.freeze()  # what was there before is no garbage
    try:
        there.send((None, work()))
    except Failed as problem:
        there.send((problem, None))
    except BaseException:
        there.send((Failed(traceback.format_exc()), None))
