"""Ctrl-C where it must not be lost, or must wait a moment.

Python raises ``KeyboardInterrupt`` wherever the main thread happens to be. In a callback of compiled code it is printed
and forgotten, in a compiler it may come out as another error, and between two files of one result it leaves half of it.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class _Noticed:
    """What happens to Ctrl-C within a block, on the main thread; nothing where it is not Python's to handle."""

    def __init__(self) -> None:
        self.pressed = False
        self.previous: Any = None

    def __enter__(self) -> _Noticed:
        # A handler that is no function is that of a process in the background, which Ctrl-C does not concern.
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self.previous = signal.signal(signal.SIGINT, self.press)
        return self

    def press(self, number: int, frame: FrameType | None) -> None:
        raise NotImplementedError

    def after(self) -> None:
        """What is left to do for a press that no ``KeyboardInterrupt`` has told of."""
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.previous is None:
            return
        signal.signal(signal.SIGINT, self.previous)
        if self.pressed and not (kind and issubclass(kind, KeyboardInterrupt)):
            self.after()


class held(_Noticed):
    """``with held():`` Ctrl-C waits for the end of the block: for what takes a moment and must not be torn."""

    def press(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True

    def after(self) -> None:
        self.previous(signal.SIGINT, None)


class never_lost(_Noticed):
    """``with never_lost():`` Ctrl-C is raised at once, and at the end of the block again if it got lost in there."""

    def press(self, number: int, frame: FrameType | None) -> None:
        try:
            self.previous(number, frame)
        except KeyboardInterrupt:
            self.pressed = True
            raise

    def after(self) -> None:
        raise KeyboardInterrupt from None
