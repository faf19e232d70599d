"""``python -m polhode`` is the command."""

from __future__ import annotations

import _io
import atexit
import gc
import os
import sys
import threading
from contextlib import suppress

from polhode.errors import MissingExtra, missing


def main() -> None:
    """The command, whose packages may not be there."""
    try:
        from polhode.cli import main as command

        command()
    except ModuleNotFoundError as error:
        told = missing(error)
        if not isinstance(told, MissingExtra):
            raise
        print(f"polhode: {told}", file=sys.stderr)
        sys.exit(told.exit_code)


def shell() -> None:
    """Entry point: the command as a process of its own. It ends without freeing all that was loaded, which takes 0.1 to
    0.3 s, where no debugger, profiler or measure of coverage waits for the end."""
    try:
        main()
    except SystemExit as end:
        tools = getattr(sys, "monitoring", None)
        watched = sys.gettrace() or sys.getprofile() or (tools and any(map(tools.get_tool, range(6))))
        if isinstance(end.code, int | None) and not (watched or sys.flags.interactive):
            with suppress(OSError, ValueError, KeyboardInterrupt):  # a pipe that is closed: Python tells it at its end
                threading._shutdown()  # type: ignore[attr-defined]
                atexit._run_exitfuncs()
                for one in gc.get_objects():
                    if issubclass(type(one), _io._IOBase) and not one.closed:
                        one.flush()
                os._exit(end.code or 0)
        raise


if __name__ == "__main__":
    shell()
