"""Worker processes on this machine, and a Dask cluster, any deployment of it, by the address of its scheduler.

A worker that dies, of whatever, is replaced, and its task is given out again. A task whose worker has died is done
carefully from then on: the worker says which member it begins. A member at which workers die again and again is given
up and marked, so that it stops nobody else. On a cluster a careful task is a process of its own on the worker. Only so
many tasks are handed to a scheduler at a time that its workers do not wait, so that it holds as little for 10^9 members
as for 10^3.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import polhode
from polhode import errors
from polhode.errors import FileProblem, InvalidInput, MissingExtra, PolhodeError, shown

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
                worker.chunk, worker.member = chunk, None
                careful = self.all_careful or chunk in self.careful
                given_up = {str(member): why for member, why in self.given_up.items()} if careful else {}
                worker.say({"chunk": chunk, "careful": careful, "given_up": given_up})
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
                raise getattr(errors, said["problem"], PolhodeError)(said["message"])
            else:
                worker.chunk = worker.member = None
                worker.useful, useless = True, 0
                done(said["done"])

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


# ------------------------------------------------------------------ a Dask cluster
AHEAD = 3
"""Tasks handed out for each thread of the cluster."""
ADDRESS = r"((tcp|tls|ucx|wss?)://)?[^\s/:]+:\d{1,5}|inproc://\S+"
PATIENCE = 60.0
"""Seconds for which a scheduler or its workers may be away."""
LOOKS = 0.5
"""Seconds between looks at the connection."""


class Cluster:
    """A connection to a scheduler."""

    def __init__(self, scheduler: Any) -> None:
        try:
            import distributed
        except ImportError:
            raise MissingExtra(
                "a scheduler is named, for which Dask is needed: pip install 'polhode[cluster]'"
            ) from None
        self.distributed: Any = distributed
        self.mine = not isinstance(scheduler, distributed.Client)
        self.address = scheduler if self.mine else scheduler.scheduler.address
        if not isinstance(self.address, str) or not re.fullmatch(ADDRESS, self.address):
            raise InvalidInput(f"scheduler must be an address such as 'tcp://10.0.0.1:8786', not {shown(scheduler)}")
        self.client: Any = None if self.mine else scheduler
        self.size, self.counted, self.quiet = 1, -LOOKS, ExitStack()
        for name in ("distributed.client", "distributed.comm", "distributed.core"):
            # Dask's own words about connections that break: what they mean is said in a sentence
            self.quiet.callback(logging.getLogger(name).setLevel, logging.getLogger(name).level)
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if self.mine:
            self._connect(10.0)

    @property
    def threads(self) -> int:
        """How many threads its workers have together, or had when that was last known; at least one."""
        if time.monotonic() - self.counted > LOOKS:
            with suppress(Exception):  # the connection broke just now, which is looked at elsewhere
                self.size = max(1, sum(self.client.nthreads().values()))
            self.counted = time.monotonic()
        return self.size

    def close(self) -> None:
        """Let go of it."""
        if self.mine and self.client is not None:
            with suppress(Exception):
                self.client.close(timeout=2)
        self.quiet.close()

    def _connect(self, patience: float) -> None:
        """Connect, again and again until it answers."""
        began = time.monotonic()
        while True:
            try:
                self.client = self.distributed.Client(
                    self.address, timeout=min(5.0, 1.0 + patience), set_as_default=False
                )
                return
            except (OSError, TimeoutError, ValueError) as refused:
                if time.monotonic() - began > patience or isinstance(refused, ValueError):
                    raise FileProblem(f"the scheduler at {self.address} does not answer; start it, check its address, "
                                      "and give the same command again to go on") from refused  # fmt: skip
                time.sleep(LOOKS)

    # -------------------------------------------------------------- tasks
    def carry_out(self, do: Any, chunks: Iterable[int], done: Callable[[dict[str, Any]], None]) -> None:
        """Do all chunks; ``done`` is called with the mark of each."""
        left, waiting, handed = iter(chunks), list[int](), dict[int, Any]()
        answers: queue.Queue[tuple[int, Any]] = queue.Queue()
        careful: set[int] = set()
        seen = time.monotonic()
        while True:
            most = AHEAD * self.threads
            while len(handed) < most:
                one = waiting.pop() if waiting else next(left, None)
                if one is None:
                    break
                task = (careful_task, *do.args, one) if one in careful else (do, one)
                try:
                    words = do.keywords if one in careful else {}
                    handed[one] = self.client.submit(*task, **words, pure=False, retries=0)
                except (OSError, RuntimeError):  # the scheduler is gone
                    waiting.append(one)
                    seen = self._seen(seen, handed, waiting)
                    break
                handed[one].add_done_callback(lambda over, one=one: answers.put((one, over)))
            if not handed and not waiting:
                return
            try:
                chunk, over = answers.get(timeout=LOOKS)
            except queue.Empty:
                seen = self._seen(seen, handed, waiting)
                continue
            if chunk not in handed or handed[chunk] is not over:
                continue
            del handed[chunk]
            seen = time.monotonic()
            if over.status == "finished":
                try:
                    mark = dict(over.result(timeout=PATIENCE))
                except (OSError, TimeoutError, self.distributed.CancelledError):  # lost with the scheduler or a worker
                    waiting.append(chunk)
                    continue
                done(mark)
            elif over.status == "error":
                self._failed(over.exception(), chunk, careful)
                waiting.append(chunk)
            else:  # cancelled or lost with the scheduler
                waiting.append(chunk)
                seen = self._seen(seen, handed, waiting)

    def _failed(self, problem: BaseException, chunk: int, careful: set[int]) -> None:
        """A task that failed is done again, carefully, where its workers died; else what it met is raised."""
        if isinstance(problem, self.distributed.scheduler.KilledWorker) and chunk not in careful:
            careful.add(chunk)
            return
        if isinstance(problem, PolhodeError):
            raise problem
        if isinstance(problem, ImportError):
            raise FileProblem(f"a worker of {self.address} cannot import polhode as it is here ({problem}); install "
                              "the same version of polhode[cluster] there") from problem  # fmt: skip
        raise FileProblem(f"a worker of {self.address} failed: {type(problem).__name__}: {problem}; what is done stays "
                          "done: give the same command again to go on") from problem  # fmt: skip

    def _seen(self, seen: float, handed: dict[int, Any], waiting: list[int]) -> float:
        """When the cluster was last seen at work; one that is gone is waited for, and gets its tasks again."""
        now = time.monotonic()
        if self.client.status == "running":
            try:
                if self.client.nthreads():
                    return now
            except Exception:  # the connection broke just now
                pass
            else:
                if now - seen > PATIENCE:
                    raise FileProblem(f"the scheduler at {self.address} has had no workers for {PATIENCE:.0f} s; start "
                                      "some, and give the same command again to go on")  # fmt: skip
                return seen
        if not self.mine:
            raise FileProblem(f"the scheduler at {self.address} is gone; what is done stays done: start it, and give "
                              "the same command again to go on")  # fmt: skip
        with suppress(Exception):
            self.client.close(timeout=1)
        waiting += handed
        handed.clear()
        self._connect(PATIENCE)
        return time.monotonic()


def careful_task(name: str, digest: str, by: Mapping[str, Any], chunk: int, allow_code: bool) -> dict[str, Any]:
    """Do one chunk in a process of its own, which may die."""
    marks: list[dict[str, Any]] = []
    with Processes(name, digest, dict(by), allow_code, 1, careful=True) as processes:
        processes.carry_out([chunk], marks.append)
    return marks[0]
