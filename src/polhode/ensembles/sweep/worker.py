"""A worker process on this machine: does tasks that come line by line, one after the other.

Lines are JSON. In: ``{"chunk": 3, "careful": false, "given_up": {"17": "..."}}`` after a first line that says what
sweep it is. Out: ``{"done": mark}``, ``{"problem": kind, "message": sentence}``, and of a careful task
``{"at": member}`` before each member. The worker ends when its input does, for then whoever asked is gone.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from polhode import errors
from polhode.ensembles.sweep.work import task


def main() -> None:
    """Serve until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what functions of the user's print does not mix with answers

    def answer(said: Any) -> None:
        out.write(json.dumps(said) + "\n")
        out.flush()

    told = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        asked = json.loads(line)
        given_up = asked["given_up"]

        def begin(member: int, given_up: dict[str, str] = given_up) -> str | None:
            answer({"at": member})
            return given_up.get(str(member))

        careful = begin if asked["careful"] else None
        try:
            mark = task(told["store"], told["digest"], told["by"], asked["chunk"], told["allow_code"], careful)
        except errors.PolhodeError as problem:
            answer({"problem": type(problem).__name__, "message": str(problem)})
        else:
            answer({"done": mark})


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
