"""How far a run is, for people: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from polhode.errors import InvalidInput, shown

SECONDS_BETWEEN_LINES = 5.0
COMPILING = "compiling (the first run of a method takes some seconds longer)"


@dataclass(frozen=True)
class Progress:
    """Where a run is: handed to the ``progress`` function a few times a second.

    Attributes
    ----------
    done, total : int
        Steps; the total is None where they are chosen by a tolerance.
    seconds : float
        Time computed so far.
    stage : str
        ``preparing``, then ``compiling`` if anything is compiled, then ``running``.
    share : float
        Part of the span of time that is done.
    """

    done: int
    total: int | None
    seconds: float
    stage: str
    share: float = 0.0


class Display:
    """Tells how far a run is, on stderr: a bar in a terminal, a line now and then elsewhere, nothing when quiet.

    Attributes
    ----------
    counted : str
        What is counted: ``steps``, or ``members`` of an ensemble.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.counted = "steps"
        self.quiet, self.bar, self.task, self.told = quiet, None, None, 0.0  # type: Any, Any, Any, float
        self.running = False

    def __enter__(self) -> Any:
        if self.quiet or not sys.stderr.isatty():
            return self
        from rich import progress as rich
        from rich.console import Console

        self.bar = rich.Progress(
            rich.SpinnerColumn(), rich.TextColumn("{task.description}"), rich.BarColumn(), rich.TaskProgressColumn(),
            rich.TextColumn("{task.fields[rate]}"), rich.TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(stderr=True),
        )  # fmt: skip
        self.bar.start()
        self.task = self.bar.add_task("preparing", total=None, rate="")
        return self

    def __call__(self, progress: Progress) -> None:
        """Tell it."""
        rate = f"{progress.done / progress.seconds:,.0f} {self.counted}/s" if progress.seconds > 0.0 else ""
        if self.bar is not None:
            total = 1.0 if progress.stage == "running" else None
            self.bar.update(self.task, description=progress.stage, completed=progress.share, total=total, rate=rate)
        elif not self.quiet and progress.stage == "compiling":
            self.say(COMPILING)
        elif not self.quiet and progress.done:
            now = time.perf_counter()
            if not self.running or progress.share >= 1.0 or now - self.told > SECONDS_BETWEEN_LINES:
                self.told = now
                share, of = f"{100.0 * progress.share:5.1f} %", ""
                if progress.total is not None:
                    of = f" of {progress.total}"
                left = (1.0 / progress.share - 1.0) * progress.seconds if progress.share > 0.0 else float("inf")
                steps_taken = f", {rate}, {duration(round(left))} to go" if progress.seconds > 0.1 else ""
                self.say(f"running {share}  {progress.done}{of} {self.counted}{steps_taken}")
            self.running = True

    def say(self, line: str) -> None:
        """One line."""
        print(line, file=sys.stderr, flush=True)

    def stopped(self) -> None:
        """The run ended early: the bar stays where it was."""
        if self.bar is not None:
            self.bar.update(self.task, description="stopped")

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


def teller(told: Any, name: str, kind: str = "a function") -> Callable[[Any], None]:
    """A function of the user's that is told how far something is, or one that does nothing where None is given. What it
    raises is the user's, and comes through as it is.

    Raises
    ------
    InvalidInput
        Something else.
    """
    if told is None:
        return lambda state: None
    if not callable(told):
        raise InvalidInput(f"{name} must be {kind}, not {shown(told)}")
    return told  # type: ignore[no-any-return]


def duration(seconds: float) -> str:
    """A time in the unit that fits it: ns, us, ms, s, min or h.

    Examples
    --------
    >>> [duration(t) for t in (2.2e-8, 1.4e-6, 0.0312, 45.2, 5400, 86400)]
    ['22 ns', '1.4 us', '31.2 ms', '45.2 s', '90 min', '24 h']
    """
    if seconds == 0.0:
        return "0 s"
    for unit, size, least in (("h", 3600.0, 7200.0), ("min", 60.0, 120.0), ("s", 1.0, 1.0), ("ms", 1e-3, 1e-3),
                              ("us", 1e-6, 1e-6)):  # fmt: skip
        if seconds >= least * (1.0 - 5e-4):
            return f"{seconds / size:.3g} {unit}" if seconds < 1000.0 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
