"""Ctrl-C where it must not be lost, or must wait a moment.

Python raises ``KeyboardInterrupt`` wherever the main thread happens to be. In a callback of compiled code it is printed
and forgotten, in a compiler it may come out as another error or end the process when that is used again, and between
two files of one result it leaves half of it.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from polhode.errors import Interrupted


class Noticed:
    """A block that is told of Ctrl-C, where it runs on the main thread and Ctrl-C is Python's to handle.

    Attributes
    ----------
    pressed : bool
    previous : function or None
        What Ctrl-C did before.
    """

    def __init__(self) -> None:
        self.pressed = False
        self.previous: Any = None

    def __enter__(self) -> Any:
        # A handler that is no function is that of a process in the background, which Ctrl-C does not concern.
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self.previous = signal.signal(signal.SIGINT, self.press)
        return self

    def press(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-C."""
        self.pressed = True

    def untold(self) -> None:
        """The block has ended after a press, and neither with ``KeyboardInterrupt`` nor with ``Interrupted``."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.previous is None:
            return
        signal.signal(signal.SIGINT, self.previous)
        if self.pressed and not isinstance(error, KeyboardInterrupt | Interrupted):
            self.untold()


class held(Noticed):
    """``with held():`` Ctrl-C waits for the end of the block, for what must not be torn; a second one does not.

    With ``always`` it does: in a compiler, which cannot be left and entered again without harm to the process.
    """

    def __init__(self, always: bool = False) -> None:
        super().__init__()
        self.always = always

    def press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed and not self.always:
            self.previous(number, frame)
        self.pressed = True

    def untold(self) -> None:
        self.previous(signal.SIGINT, None)


class never_lost(Noticed):
    """``with never_lost():`` Ctrl-C is raised at once, and at the end of the block again if it got lost in there."""

    def press(self, number: int, frame: FrameType | None) -> None:
        try:
            self.previous(number, frame)
        except KeyboardInterrupt:
            self.pressed = True
            raise

    def untold(self) -> None:
        raise KeyboardInterrupt from None
