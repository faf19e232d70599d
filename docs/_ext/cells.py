"""The cells of a page or of an example of the gallery are executed by IPython in a process of their own, forked from
that of the build: a kernel for each would spend more time on imports than on cells, one for all needs to be swept."""

from __future__ import annotations

import base64
import contextlib
import functools
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import forked
import matplotlib_inline.backend_inline as inline
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import activate_matplotlib
from nbformat.v4 import new_output
from traitlets import Type
from traitlets.config import Config

BACKEND = "module://matplotlib_inline.backend_inline"
WARM = """
import io
import matplotlib.pyplot
import polhode as ph
top = ph.heavy_top((5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
ph.plots.dashboard(ph.integrate(top, step=0.01, t_end=2.0, angular_velocity=(0, 0, 30))).savefig(io.BytesIO())
"""
"""What is run once, so that every process finds loaded what most of them need."""


@dataclass
class Ran:
    """A cell that was executed: what it shows, its number, and the seconds it took."""

    outputs: list[Any]
    count: int
    seconds: float


def run(sources: Sequence[str], folder: str, retina: bool = False) -> tuple[list[Ran], str, str]:
    """Execute cells in a folder and in this process, which then is of no other use: what came of them, and what the
    first one that failed raised, in a line and with its traceback."""
    os.chdir(folder)
    os.environ["MPLBACKEND"] = BACKEND
    shell = warm()
    shell.kernel = "of this page"  # what is displayed stands below its cell
    shell.config.InlineBackend.figure_formats = {"retina" if retina else "png"}
    sys.modules["__main__"] = shell.user_module
    sys.path.insert(0, "")
    activate_matplotlib(BACKEND)
    inline.configure_inline_support(shell, BACKEND)
    found: list[Ran] = []
    for source in sources:
        shell.shown, begun = [], perf_counter()
        with contextlib.redirect_stdout(Stream("stdout")), contextlib.redirect_stderr(Stream("stderr")):
            result = shell.run_cell(source, store_history=True)
        found.append(Ran(shell.shown, result.execution_count, perf_counter() - begun))
        if shell.raised is not None:
            return found, f"{type(shell.raised).__name__}: {shell.raised}", shell.traced
    return found, "", ""


@functools.cache
def warm() -> Any:
    """The shell after a first run and its picture; called before processes are forked."""
    main, path = sys.modules["__main__"], sys.path[:]
    shell = Shell.instance()
    shell.run_cell(WARM, store_history=False)
    if shell.raised is not None:
        raise forked.Failed(shell.traced)
    shell.reset()
    sys.modules["__main__"], sys.path[:] = main, path
    return shell


class Stream(io.TextIOBase):
    """Standard output or error of a cell."""

    def __init__(self, name: str):
        self.name = name

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        shown = Shell.instance().shown
        if shown and shown[-1].get("name") == self.name:
            shown[-1]["text"] += text
        elif text:
            shown.append(new_output("stream", name=self.name, text=text))
        return len(text)


def in_text(data: dict[str, Any]) -> dict[str, Any]:
    """The forms of a result, pictures too as text."""
    return {kind: base64.b64encode(one).decode() if isinstance(one, bytes) else one for kind, one in data.items()}


class Hook(DisplayHook):
    """Takes what the last line of a cell returns."""

    def start_displayhook(self) -> None:
        pass

    finish_displayhook = write_output_prompt = start_displayhook

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        forms, count = in_text(format_dict), self.prompt_count
        self.shell.shown.append(new_output("execute_result", forms, execution_count=count, metadata=md_dict or {}))


class Publisher(DisplayPublisher):
    """Takes what a cell displays, and displays anew."""

    def publish(
        self, data: Any, metadata: Any = None, *_: Any, transient: Any = None, update: bool = False, **__: Any
    ) -> None:
        name, shell = (transient or {}).get("display_id"), self.shell
        if update:
            shell.named[name]["data"] = in_text(data)
        else:
            shell.shown.append(new_output("display_data", in_text(data), metadata=metadata or {}))
            shell.named[name] = shell.shown[-1]

    def clear_output(self, wait: bool = False) -> None:
        self.shell.shown.clear()


class Shell(InteractiveShell):
    """Executes cells and keeps what they show in ``shown``."""

    displayhook_class = Type(Hook)
    display_pub_class = Type(Publisher)
    kernel = None

    def __init__(self, **words: Any):
        config = Config()
        config.HistoryManager.enabled = False
        config.HistoryManager.hist_file = ":memory:"
        super().__init__(config=config, **words)
        self.shown: list[Any] = []
        self.named: dict[str, Any] = {}
        self.raised, self.traced = None, ""

    def enable_gui(self, gui: Any = None) -> None:
        """No window is opened."""

    def _showtraceback(self, etype: Any, evalue: Any, stb: Any) -> None:
        self.raised, self.traced = evalue, "\n".join(stb)


def executed(page: Any, cwd: str, timeout: int, allow_errors: bool, **_: Any) -> Any:
    """In place of ``single_nb_execution`` of jupyter-cache, which starts a kernel: execute the cells of a page."""
    from jupyter_cache.executors.utils import ExecutionResult

    codes, begun = [cell for cell in page.cells if cell.cell_type == "code"], perf_counter()
    work = partial(run, [cell.source for cell in codes], cwd)
    try:
        ((found, said, traced),) = forked.several([work], timeout=timeout)
    except forked.Failed as failed:
        found, said, traced = [], str(failed), str(failed)
    for cell, one in zip(codes, found, strict=False):
        cell.outputs, cell.execution_count = one.outputs, one.count
    page.metadata["language_info"] = {"name": "python", "pygments_lexer": "ipython3"}
    problem = forked.Failed(said) if said else None
    return ExecutionResult(page, cwd, perf_counter() - begun, problem, traced or None)


def begin(app: Any, config: Any) -> None:
    """Load what cells use, and make the file of results, before several processes do so."""
    from jupyter_cache import get_cache

    warm()
    get_cache(config.nb_execution_cache_path).list_cache_records()


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    from myst_nb.core.execute import cache

    cache.single_nb_execution = executed
    app.connect("config-inited", begin, priority=90)  # the gallery has 100
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
