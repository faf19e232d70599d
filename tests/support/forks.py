"""Fresh processes that need not load numpy, numba and xarray first: forks of one that has loaded these, and nothing of
polhode."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

SERVER = """
import atexit, json, os, signal, sys, traceback, warnings
import numba.core.registry, numpy, xarray

for line in sys.stdin:
    asked = json.loads(line)
    if isinstance(asked, int):
        print(os.waitstatus_to_exitcode(os.waitpid(asked, 0)[1]), flush=True)
        continue
    code, folder, environment = asked
    process = os.fork()
    if process:
        print(process, flush=True)
        continue
    status = 1
    try:
        signal.alarm(300)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT, 0o600), stream)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:0] = environment.get("PYTHONPATH", "").split(os.pathsep)
        sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in environment
        numba.config.reload_config()
        warnings.simplefilter("error")
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(status)
"""


class Fork:
    """A process that runs some code, whose output goes to files."""

    def __init__(self, ask: Any, code: str, environment: dict[str, str]) -> None:
        self.ask, self.folder = ask, tempfile.TemporaryDirectory()
        self.pid = ask([textwrap.dedent(code), self.folder.name, environment])

    def told(self, name: str = "out") -> str:
        """What it has written so far."""
        path = Path(self.folder.name, name)
        return path.read_text() if path.exists() else ""

    def end(self) -> tuple[int, str]:
        """Wait for it: how it ended, a signal as a negative number, and what it said of errors."""
        status, said, self.out = self.ask(self.pid), self.told("err"), self.told()
        self.folder.cleanup()
        return status, said

    def answer(self) -> Any:
        """Wait for the JSON that it prints last."""
        status, said = self.end()
        assert status == 0, said
        return json.loads(self.out.splitlines()[-1])


class Forks:
    """``forks(code, **environment)``: the JSON that ``code`` prints last, run in a fork."""

    def __init__(self) -> None:
        alone = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHASHSEED")}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=alone
        )

    def start(self, code: str, **environment: str) -> Fork:
        return Fork(self._ask, code, dict(os.environ) | environment)

    def __call__(self, code: str, **environment: str) -> Any:
        return self.start(code, **environment).answer()

    def _ask(self, what: Any) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()
