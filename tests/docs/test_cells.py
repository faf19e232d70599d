"""Pages of the documentation are executed in processes of their own, and know nothing of each other."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[2] / "docs" / "_ext"
pytest.importorskip("jupyter_cache")

SAYS = """
import os, sys, warnings, matplotlib, numpy as np
pages = globals().get("pages", 0) + 1
warnings.warn("told on every page")
print(pages, np.array([1 / 3]), matplotlib.rcParams["lines.linewidth"] < 40, "PAGE" in os.environ, sorted(os.listdir()))
import matplotlib.pyplot as plt
print(plt.get_fignums(), __name__)
"""
LEAVES = """
warnings.simplefilter("ignore")
os.environ["PAGE"] = "1"
np.set_printoptions(precision=2)
matplotlib.rcParams["lines.linewidth"] = 50
open("left", "w").close()
plt.plot([0, 1]);
"""
SHOWS = """
from IPython.display import HTML, display
print("one")
line = display(HTML("<b>a</b>"), display_id=True)
print("two")
line.update(HTML("<b>b</b>"))
3
"""
PAGES = {"leaves": [SAYS, LEAVES], "says": [SAYS], "fails": ["2", "1 / 0", "print('after')"], "shows": ["1;", SHOWS],
         "dies": ["import os; os._exit(3)"]}  # fmt: skip
CODE = """
import json, pathlib, sys, nbformat, cells
told = {}
for name, sources in json.load(sys.stdin).items():
    folder = pathlib.Path(name)
    folder.mkdir()
    page = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in sources])
    found = cells.executed(page, str(folder), 60, False)
    told[name] = [cell.outputs for cell in page.cells], str(found.err or ""), found.exc_string or "", found.time
    assert page.metadata.language_info.pygments_lexer == "ipython3"  # by which its code is coloured
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Of each page the outputs of its cells, its error, its traceback and its time; all from one build."""
    path = os.pathsep.join(filter(None, [str(EXTENSIONS), os.environ.get("PYTHONPATH")]))
    done = subprocess.run([sys.executable, "-c", CODE], cwd=tmp_path_factory.mktemp("build"), input=json.dumps(PAGES),
                          env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said(outputs):
    return "".join(one.get("text", "") for one in outputs)


def test_a_page_sees_nothing_of_the_one_before(pages):
    (first, drawn), *_ = pages["leaves"]
    assert said(first) == said(pages["says"][0][0]) and pages["says"][1] == ""
    assert "told on every page" in said(first) and "1 [0.33333333] True False []\n[] __main__\n" in said(first)
    assert [set(one["data"]) for one in drawn] == [{"text/plain", "image/png"}]


def test_a_page_that_fails_or_dies_is_told(pages):
    cells, error, traced, seconds = pages["fails"]
    plain = re.sub("\x1b\\[[0-9;]*m", "", traced)
    assert (
        error == "ZeroDivisionError: division by zero" and "In[2], line 1" in plain and cells[2] == [] and seconds > 0
    )
    assert "ended with 3" in pages["dies"][1]


def test_what_cells_show_stands_in_its_order(pages):
    silent, shown = pages["shows"][0]
    assert silent == [] and [one["output_type"] for one in shown] == [
        "stream",
        "display_data",
        "stream",
        "execute_result",
    ]
    assert shown[1]["data"]["text/html"] == "<b>b</b>" and shown[3]["data"] == {"text/plain": "3"}
    assert shown[3]["execution_count"] == 2
