"""How far a run is, for people: a bar in a terminal or a notebook, a line now and then elsewhere."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

from polhode.errors import InvalidInput, shown
from polhode.lazy import public_names

__all__ = ["Progress"]
__dir__ = public_names(__all__)

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_UPDATES = 0.2  # of the line in a notebook
COMPILING = "compiling (the first run of a method takes some seconds longer)"


class Progress(NamedTuple):
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
    """Tells how far a run is: a bar in a terminal (on stderr) or below a notebook's cell, where one line is written
    again and again; a line on stderr now and then elsewhere; nothing when quiet.

    Attributes
    ----------
    counted : str
        What is counted: ``steps``, or ``members`` of an ensemble.
    """

    def __init__(self, quiet: bool = False) -> None:
        self.counted = "steps"
        self.quiet, self.bar, self.task, self.told = quiet, None, None, 0.0  # type: Any, Any, Any, float
        self.running = False
        self.cell: _Cell | None = None

    def __enter__(self) -> Any:
        if not self.quiet and in_notebook():
            self.cell = _Cell()
            return self
        if self.quiet or not sys.stderr.isatty() or importlib.util.find_spec("rich") is None:
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
        if self.bar is not None or self.cell is not None:
            to_go = ""
            if self.cell is not None and 0.0 < progress.share < 1.0 and progress.seconds > 0.1:
                to_go = f", {duration(round((1.0 / progress.share - 1.0) * progress.seconds))} to go"
            self.show(progress.stage, progress.share if progress.stage == "running" else None, rate + to_go)
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

    def show(self, what: str, share: float | None, words: str) -> bool:
        """Move the bar of a terminal or a notebook; returns whether there is one."""
        if self.bar is not None:
            total = None if share is None else 1.0
            self.bar.update(self.task, description=what, completed=share or 0.0, total=total, rate=words)
        elif self.cell is not None:
            self.cell.show(what, share, words)
        return self.bar is not None or self.cell is not None

    def sentence(self, words: str) -> None:
        """What begins now, of which nobody knows how long it takes."""
        if not self.show(words, None, "") and not self.quiet:
            self.say(words)

    def say(self, line: str) -> None:
        """One line."""
        print(line, file=sys.stderr, flush=True)

    def stopped(self) -> None:
        """The run ended early: the bar stays where it was."""
        if self.bar is not None:
            self.bar.update(self.task, description="stopped")
        if self.cell is not None:
            self.cell.show("stopped", self.cell.share, self.cell.words)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()
        if self.cell is not None:
            self.cell.close(bool(_) and _[0] is not None)


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this: what is displayed appears below a cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class _Cell:
    """One line below a cell of a notebook, which is written anew at most a few times a second."""

    def __init__(self) -> None:
        self.handle: Any = None
        self.what, self.share, self.words, self.told = "preparing", None, "", -1.0  # type: str, float | None, str, float
        self.waiting = False
        self._write()

    def show(self, what: str, share: float | None, words: str) -> None:
        """What is going on; written if the last time is long enough ago, or something else begins."""
        other = what != self.what
        self.what, self.share, self.words = what, share, words
        self.waiting = True
        if other or time.perf_counter() - self.told > SECONDS_BETWEEN_UPDATES:
            self._write()

    def close(self, failed: bool) -> None:
        """The last line stays."""
        if failed and self.what != "stopped":
            self.show("stopped", self.share, self.words)
        elif self.waiting:
            self._write()

    def _write(self) -> None:
        from IPython import display

        self.told, self.waiting = time.perf_counter(), False
        share = "" if self.share is None else f"{100.0 * self.share:.1f} %"
        line = "  ".join(word for word in (self.what, share, self.words) if word)
        bar = "<progress style='width:18em'></progress>"
        if self.share is not None:
            bar = f"<progress style='width:18em' max='1' value='{min(max(self.share, 0.0), 1.0):.4f}'></progress>"
        content = {"text/plain": line, "text/html": f"<div>{bar} {escape(line)}</div>"}
        if self.handle is None:
            self.handle = display.display(content, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self.handle.update(content, raw=True)


def teller(told: object, name: str, kind: str = "a function") -> Callable[[Any], None]:
    """A function of the user's that is told how far something is, or one that does nothing where None is given. What it
    raises is the user's, and comes through as it is."""
    if told is None:
        return lambda state: None
    if not callable(told):
        raise InvalidInput(f"{name} must be {kind}, not {shown(told)}")
    return told


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
