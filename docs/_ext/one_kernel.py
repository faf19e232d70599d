"""Pages are executed one after the other in one kernel of each process of the build, swept before each page: in a
kernel of its own a page would spend more time on imports than on its cells."""

from __future__ import annotations

import contextlib
import functools
import os
import traceback
from multiprocessing.util import Finalize
from time import perf_counter
from typing import Any

import nbclient
import nbformat
from gallery import kernel

SWEEP = """import os
os.chdir({folder!r})
%reset -f
import os, sys, warnings
import matplotlib.figure, numpy
from matplotlib._pylab_helpers import Gcf
ip = get_ipython()
called = ip.events.callbacks["post_execute"]
if not hasattr(ip, "at_start"):
    ip.at_start = warnings.filters[:], dict(matplotlib.rcParams), dict(os.environ), numpy.get_printoptions(), called[:]
warnings.filters[:], settings, environment, printed, called[:] = ip.at_start
warnings.simplefilter("default", append=True)
matplotlib.rcParams.update(settings)
os.environ.clear()
os.environ.update(environment)
numpy.set_printoptions(**printed)
Gcf.destroy_all()
for shows in ip.display_formatter.formatters.values():
    shows.pop(matplotlib.figure.Figure, None)
for name in ("matplotlib.pyplot", "matplotlib_inline.backend_inline"):
    sys.modules.pop(name, None)
get_ipython().reset()"""
"""A first cell that no reader sees: nothing of the page before stays, warnings come again, and cells count from 1."""


@functools.cache
def kernel_of(process: int) -> Any:
    """The kernel of this process, which ends with it."""
    stack = contextlib.ExitStack()
    Finalize(None, stack.close, exitpriority=100)
    return stack.enter_context(kernel())


class Client(nbclient.NotebookClient):
    """Executes a page whose first cell is no part of it, and is not counted."""

    async def async_execute_cell(self, cell: Any, cell_index: int, execution_count: Any = None, **_: Any) -> Any:
        return await super().async_execute_cell(cell, cell_index, execution_count - 1, store_history=cell_index > 0)


def executed(page: Any, cwd: str, timeout: int, allow_errors: bool, **_: Any) -> Any:
    """As ``single_nb_execution`` of jupyter-cache, which starts a kernel: the cells of a page with their outputs."""
    from jupyter_cache.executors.utils import ExecutionResult
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    begun, problem, told = perf_counter(), None, None
    page.cells.insert(0, nbformat.v4.new_code_cell(SWEEP.format(folder=cwd)))
    client = Client(page, km=kernel_of(os.getpid()), timeout=timeout, allow_errors=allow_errors, record_timing=False)
    try:
        client.execute(reset_kc=True)
    except (CellExecutionError, CellTimeoutError) as failed:
        problem, told = failed, traceback.format_exc()
    finally:
        del page.cells[0]
        if client.kc is not None:
            client.kc.stop_channels()
    return ExecutionResult(page, cwd, perf_counter() - begun, problem, told)


def begin(app: Any, config: Any) -> None:
    """Make the file of results before several processes do so at once."""
    from jupyter_cache import get_cache

    get_cache(config.nb_execution_cache_path).list_cache_records()


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    from myst_nb.core.execute import cache

    cache.single_nb_execution = executed
    app.connect("config-inited", begin)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
