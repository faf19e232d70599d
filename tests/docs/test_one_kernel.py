"""Pages of the documentation that are executed one after the other in one kernel know nothing of each other."""

import re
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("jupyter_cache")
sys.path.append(str(Path(__file__).parents[2] / "docs" / "_ext"))
import gallery  # noqa: E402
import one_kernel  # noqa: E402

SAYS = """
import os, sys, warnings, matplotlib, numpy as np
pages = globals().get("pages", 0) + 1
warnings.warn("told on every page")
print(pages, np.array([1 / 3]), matplotlib.rcParams["lines.linewidth"] < 40, "PAGE" in os.environ, os.getpid())
import matplotlib.pyplot as plt
print(plt.get_fignums(), sorted(os.listdir()))
"""
LEAVES = """
import warnings
warnings.simplefilter("ignore")
os.environ["PAGE"] = "1"
np.set_printoptions(precision=2)
matplotlib.rcParams["lines.linewidth"] = 50
open("left", "w").close()
plt.ioff()
plt.figure()
plt.plot([0, 1])
"""


def executed(folder, *cells):
    folder.mkdir()
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    found = one_kernel.executed(page, str(folder), 60, False)
    return found, [cell.outputs for cell in page.cells]


@pytest.fixture
def one(monkeypatch):
    """The kernel, which ends with the test."""
    for name in ("MPLBACKEND", "PAGE"):
        monkeypatch.delenv(name, raising=False)
    with gallery.kernel() as made:
        monkeypatch.setattr(one_kernel, "kernel_of", lambda process: made)
        yield made


def test_a_page_sees_nothing_of_the_one_before(tmp_path, one):
    first, _ = executed(tmp_path / "a", SAYS, LEAVES)
    assert first.err is None and first.time > 0.0
    second, again = executed(tmp_path / "b", SAYS)
    assert second.err is None
    said = "".join(one.text for one in again[0])
    assert "told on every page" in said and "1 [0.33333333] True False" in said and "[] []" in said
    failed, _ = executed(tmp_path / "c", "2", "1 / 0", "print('after')")
    plain = re.sub("\x1b\\[[0-9;]*m", "", failed.exc_string)
    assert "ZeroDivisionError" in plain and "In[2], line 1" in plain
    last = executed(tmp_path / "d", "1", "2")[1]
    assert [one[0].execution_count for one in last] == [1, 2]
