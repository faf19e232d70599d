"""Context managers that delay Ctrl-C or make sure that it is not lost.

Python raises ``KeyboardInterrupt`` wherever the main thread happens to be. In a callback of compiled code it is printed
and ignored; in the compiler it may become another error, or crash the process when the compiler is used again; between
two files of one result it leaves only the first.
"""

from __future__ import annotations

import _signal  # without the enumerations of ``signal``, which cost a short run a tenth of its time
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from polhode.errors import Interrupted


class Noticed:
    """Base class: handles Ctrl-C within a block, on the main thread and where SIGINT has a Python handler."""

    def __init__(self) -> None:
        self.pressed = False
        self.previous: Any = None

    def __enter__(self) -> Self:
        # Not callable: SIG_IGN or SIG_DFL, as in a background process, which Ctrl-C must not stop.
        if threading.current_thread() is threading.main_thread() and callable(_signal.getsignal(_signal.SIGINT)):
            self.previous = _signal.signal(_signal.SIGINT, self.press)
        return self

    def press(self, number: int, frame: FrameType | None) -> None:
        """The handler of Ctrl-C."""
        self.pressed = True

    def unreported(self) -> None:
        """Called at the end if Ctrl-C was pressed but the block raised no ``KeyboardInterrupt`` or ``Interrupted``."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.previous is None:
            return
        _signal.signal(_signal.SIGINT, self.previous)
        if self.pressed and not isinstance(error, KeyboardInterrupt | Interrupted):
            self.unreported()


class held(Noticed):
    """``with held():`` delays Ctrl-C to the end of the block; a second Ctrl-C acts at once.

    With ``always`` the second one is delayed too, as the compiler needs, which must not be interrupted at all.
    """

    def __init__(self, always: bool = False) -> None:
        super().__init__()
        self.always = always

    def press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed and not self.always:
            self.previous(number, frame)
        self.pressed = True

    def unreported(self) -> None:
        self.previous(_signal.SIGINT, None)


class never_lost(Noticed):
    """``with never_lost():`` Ctrl-C raises at once, and again at its end if the exception was swallowed."""

    def press(self, number: int, frame: FrameType | None) -> None:
        try:
            self.previous(number, frame)
        except KeyboardInterrupt:
            self.pressed = True
            raise

    def unreported(self) -> None:
        raise KeyboardInterrupt from None
