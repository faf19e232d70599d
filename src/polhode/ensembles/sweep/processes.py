"""Worker processes on this machine. One that dies, of whatever, is replaced, and its task is given out again.

A task whose worker has died is done carefully from then on: the worker says which member it begins. A member at which
workers die again and again is given up and marked, so that it stops nobody else.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polhode
from polhode import errors
from polhode.errors import FileProblem, PolhodeError

MOST_DEATHS = 5
"""Workers that a member may cost before it is given up."""
MOST_BEGINNINGS = 5
"""Workers in a row that may end before they have done anything."""


class Worker:
    """One process, and a thread that reads its answers."""

    def __init__(self, first: dict[str, Any], answers: queue.Queue[tuple[Worker, Any]]) -> None:
        env = dict(os.environ)
        root = str(Path(polhode.__file__).parent.parent)
        code = f"import sys; sys.path.append({root!r}); from polhode.ensembles.sweep.work import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env,
            start_new_session=True,
        )  # fmt: skip
        self.answers, self.chunk, self.member, self.useful = answers, None, None, False  # type: Any, Any, Any, bool
        self.say(first)
        threading.Thread(target=self._listen, daemon=True).start()

    def say(self, line: dict[str, Any]) -> None:
        """Give it a line; one that is dead already is heard of by its silence."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.write(json.dumps(line) + "\n")
            self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                self.answers.put((self, json.loads(line)))
            except ValueError:  # cut off in the middle
                break
        self.answers.put((self, None))

    def end(self) -> None:
        """End it, wherever it is."""
        with suppress(OSError):
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()


class Processes:
    """Worker processes that do the tasks of a sweep; used in a ``with`` block, which ends them."""

    def __init__(
        self, store: str, digest: str, by: dict[str, Any], allow_code: bool, count: int, careful: bool = False
    ) -> None:
        self.first = {"store": store, "digest": digest, "by": by, "allow_code": allow_code}
        self.count, self.all_careful = count, careful
        self.answers: queue.Queue[tuple[Worker, Any]] = queue.Queue()
        self.workers: list[Worker] = []
        self.careful: set[int] = set()
        self.deaths: Counter[int] = Counter()
        self.given_up: dict[int, str] = {}

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.end()

    def carry_out(self, chunks: Iterable[int], done: Callable[[dict[str, Any]], None]) -> None:
        """Do all chunks; ``done`` is called with the mark of each."""
        left, waiting, useless = iter(chunks), deque[int](), 0
        while True:
            for worker in [*self.workers, *[None] * (self.count - len(self.workers))]:
                if worker is not None and worker.chunk is not None:
                    continue
                chunk = waiting.popleft() if waiting else next(left, None)
                if chunk is None:
                    break
                if worker is None:
                    worker = Worker(self.first, self.answers)
                    self.workers.append(worker)
                self._ask(worker, chunk)
            if all(worker.chunk is None for worker in self.workers):
                return
            worker, said = self.answers.get()
            if worker not in self.workers:
                continue
            if said is None:
                useless = 0 if worker.useful else useless + 1
                worker.end()
                if useless >= MOST_BEGINNINGS * self.count:
                    raise FileProblem(f"{useless} worker processes ended before they had done anything, the last one "
                                      f"by {_cause(worker)}; try it with one worker, workers=1")  # fmt: skip
                chunk = worker.chunk
                self._buried(worker)
                if chunk is not None:
                    waiting.append(chunk)
            elif "at" in said:
                worker.member, worker.useful = said["at"], True
            elif "problem" in said:
                kind = getattr(errors, said["problem"], PolhodeError)
                raise kind(said["message"])
            else:
                worker.chunk = worker.member = None
                worker.useful, useless = True, 0
                done(said["done"])

    def _ask(self, worker: Worker, chunk: int) -> None:
        worker.chunk, worker.member = chunk, None
        careful = self.all_careful or chunk in self.careful
        given_up = {str(member): why for member, why in self.given_up.items()} if careful else {}
        worker.say({"chunk": chunk, "careful": careful, "given_up": given_up})

    def _buried(self, worker: Worker) -> None:
        """Draw the conclusions from a death."""
        self.workers.remove(worker)
        if worker.chunk is None:
            return
        self.careful.add(worker.chunk)
        if worker.member is not None:
            self.deaths[worker.member] += 1
            if self.deaths[worker.member] >= MOST_DEATHS:
                self.given_up[worker.member] = (
                    f"{MOST_DEATHS} worker processes ended at this member, the last one by {_cause(worker)}"
                )


def _cause(worker: Worker) -> str:
    """How a process ended, in words."""
    code = worker.process.returncode
    if code is not None and code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
        return f"signal {-code}"
    return f"exit code {code}"
