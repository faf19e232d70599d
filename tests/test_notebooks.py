"""What a notebook shows: tables, systems, methods, reports and pictures as such, and one line of progress."""

import base64
import html
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from polhode.checks.report import Line, Report
from polhode.display import Display, Progress, in_notebook
from polhode.html import Table, Tables, facts
from polhode.plots.picture import Picture
from polhode.viewer.arrays import read
from public_calls import arguments_of


class Parsed(HTMLParser):
    """Opening tags and texts of HTML in which every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)


# ------------------------------------------------------------------ tables
def test_methods_is_a_module_and_the_table_of_methods():
    tables = ph.methods()
    assert str(tables) == repr(tables) == ph.methods.method_table()
    found = Parsed(tables._repr_html_())
    assert found.tags.count("table") == len(tables.tables) and "rkn6_14a" in found.texts and "blanes2002" in found.texts
    assert "a" not in found.tags  # citations are keys, not links
    assert sum(len(one.rows) for one in tables.tables) == found.tags.count("tr") - len(tables.tables)


def test_systems_is_a_module_and_the_table_of_systems():
    tables = ph.systems()
    found = Parsed(tables._repr_html_())
    for name in ph.systems.SYSTEMS:
        assert f"\n{name} " in str(tables) and name in found.texts
    for name in ph.systems.PROBLEMS:
        assert name in found.texts
    assert "(thrusters)" in str(tables) and "zonal" in found.texts


def test_methods_and_their_rows_show_what_they_keep():
    for thing in (ph.methods.method("rkn6_14a"), ph.methods.METHODS["rkn6_14a"]):
        found = Parsed(thing._repr_html_())
        assert {"rkn6_14a", "order", "blanes2002", "vertical momentum, axial momentum"} <= set(found.texts)
        assert "a" not in found.tags
    assert "option :temperature=" in Parsed(ph.methods.METHODS["baoab"]._repr_html_()).texts


def test_a_system_shows_arguments_inertia_loads_and_what_it_conserves():
    top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    found = Parsed(top._repr_html_()).texts
    assert found[0] == "heavy_top" and "rotates about a fixed point" in found[1]
    assert found[found.index("principal moments") + 1] == "5, 5, 1" and found[found.index("weight") + 1] == "20"
    assert "energy, vertical angular momentum, axial angular momentum" in found
    earth = ph.planets.EARTH
    craft = ph.spacecraft(inertia=(90, 70, 60), mu=earth.mu, forces=[ph.forces.zonal(**earth.zonal)])
    found = Parsed(craft._repr_html_()).texts
    assert found[found.index("forces") + 1] == "zonal" and found[found.index("mu") + 1] == f"{earth.mu:.10g}"

    def damping(t, q, omega, parameters):
        return -parameters[0] * omega

    own = ph.rigid_body((2, 3, 4), torque=damping, parameters=[0.05])
    assert "your function damping" in Parsed(own._repr_html_()).texts
    many = ph.gravitating_bodies(mass=(1.0, 1e-3))
    assert "2, points" in Parsed(many._repr_html_()).texts


def test_a_report_shows_every_line():
    report = Report("a<b", (Line("order", True, "2", "2.001"), Line("energy <i>", False, "kept", "not & kept")))
    text = report._repr_html_()
    found = Parsed(text)
    assert {"a<b", "energy <i>", "not & kept", "FAIL", "ok"} <= set(found.texts) and "<i>" not in text
    assert "1 of 2 checks passed" in text


def test_everything_is_escaped():
    bad = "<script>alert('1')</script>&\""
    table = Table(bad, bad, (bad,), ((bad,),))
    for text in (Tables((table,), f"{bad}\n{bad}")._repr_html_(), facts(bad, bad, [(bad, bad)])):
        assert "<script" not in text and Parsed(text).texts.count(bad) >= 3


@each("name", some(["dashboard", "bands", "corner", "success", "work_precision"], 2))
def test_every_picture_is_shown_as_one(name):
    figure = getattr(ph.plots, name)(**arguments_of(f"plots.{name}"))
    assert isinstance(figure, Picture) and figure._repr_png_().startswith(b"\x89PNG")
    assert not repr(figure).startswith("<") and "pixels" in repr(figure)


# ------------------------------------------------------------------ progress
class Kernel:
    """What IPython is within a kernel, as far as progress needs it."""

    version_info = (9, 0)  # matplotlib asks

    def __init__(self):
        self.shown, self.updates = [], []

    def get_ipython(self):
        return SimpleNamespace(kernel=object())

    def display(self, content, raw, display_id):
        assert raw and display_id
        self.shown.append(content)
        return self

    def update(self, content, raw):
        assert raw
        self.updates.append(content)


@pytest.fixture
def kernel(monkeypatch):
    fake = Kernel()
    monkeypatch.setitem(sys.modules, "IPython", fake)
    fake.display_module = SimpleNamespace(display=fake.display)
    monkeypatch.setattr(fake, "display", fake.display_module)
    return fake


def test_in_a_notebook_one_line_is_written_again_and_again(kernel, capsys):
    assert in_notebook()
    with Display() as shown:
        for k in range(1, 1001):
            shown(Progress(k, 1000, 1e-3 * k, "running", k / 1000))
    assert len(kernel.shown) == 1 and 1 <= len(kernel.updates) < 50  # not a thousand
    assert kernel.shown[0]["text/plain"] == "preparing" and "100.0 %" in kernel.updates[-1]["text/plain"]
    assert "value='1.0000'" in kernel.updates[-1]["text/html"] and capsys.readouterr() == ("", "")


def test_progress_true_works_for_runs_comparisons_and_films(kernel, capsys, tmp_path):
    body = ph.free_body((1, 2, 3))
    ds = ph.integrate(body, "v2/mr", step=0.1, steps=50, angular_velocity=(0.1, 1, 0), progress=True)
    assert len(kernel.shown) == 1 and "100.0 %" in kernel.updates[-1]["text/plain"]
    ph.rerun(ds, progress=True)
    ph.compare(body, "v2/mr", [0.1, 0.05], t_end=1.0, angular_velocity=(0.1, 1, 0), progress=True)
    assert len(kernel.shown) == 3 and any("reference" in one["text/plain"] for one in kernel.updates)
    ph.plots.animate(ds, tmp_path / "a.gif", seconds=0.2, fps=10, size=(200, 160), panels="body", progress=True)
    assert len(kernel.shown) == 4 and "frames/s" in kernel.updates[-1]["text/plain"]
    assert capsys.readouterr() == ("", "")


def test_a_run_that_fails_leaves_a_line_that_says_so(kernel):
    with pytest.raises(RuntimeError), Display() as shown:
        shown(Progress(1, 10, 1.0, "running", 0.1))
        raise RuntimeError
    assert kernel.updates[-1]["text/plain"].startswith("stopped  10.0 %")


def test_elsewhere_lines_go_to_stderr(capsys):
    assert not in_notebook()
    body = ph.free_body((1, 2, 3))
    ph.compare(body, "v2/mr", [0.1], t_end=1.0, angular_velocity=(0.1, 1, 0), progress=True)
    err = capsys.readouterr().err
    assert "reference, 10 steps" in err and "v2/mr, 1 of 1: step 0.1" in err
    with pytest.raises(ph.errors.InvalidInput, match="progress must be True or a function"):
        ph.compare(body, "v2/mr", [0.1], t_end=1.0, angular_velocity=(0.1, 1, 0), progress=3)


# ------------------------------------------------------------------ a kernel
CELLS = [
    "import polhode as ph\n"
    "ds = ph.integrate(ph.free_body((1, 2, 3)), 'v2/mr', step=0.1, steps=50, angular_velocity=(0,1,0), progress=True)",
    "ph.plots.dashboard(ds)",
    "ph.methods()",
    "ph.free_body((1, 2, 3))",
    "ph.plots.animate(ds, 'film.gif', seconds=0.2, fps=10, size=(200, 160), panels='body', progress=True)",
    "top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)",
    'ds = ph.integrate(top, "trapm", step=1e-3, t_end=1.0, angular_velocity=(0, 0, 50),\n'
    "                  attitude=ph.rotation.exp_quaternion((0.3, 0, 0)))\nph.view(ds)",
]
LIVE = (
    'view = ph.view("live.zarr", live=True)\ndisplay(view)\n'
    'ds = ph.integrate(top, "trapm", step=1e-4, t_end=1.0, every=10, angular_velocity=(0, 0, 50), store="live.zarr")\n'
    "print(view.wait(60), len(ds.time))"
)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """The cells, run in a kernel; the last one where there is anywidget."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = [*CELLS, LIVE] if importlib.util.find_spec("anywidget") else CELLS
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    at = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(ph.__file__).parents[1]), prepend=os.pathsep)
        client = nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources=at)
        client.execute()
    return book, client


def test_a_notebook_shows_pictures_tables_films_and_one_line_of_progress(notebook):
    cells = notebook[0].cells[:5]
    run, picture, methods, system, film = ([one.get("data", one) for one in cell.outputs] for cell in cells)
    assert len(run) == 1 and "100.0 %" in run[0]["text/plain"] and "<progress" in run[0]["text/html"]
    assert len(picture) == 1 and "image/png" in picture[0] and "<Figure" not in str(picture)
    assert "<table>" in methods[0]["text/html"] and "rkn6_14a" in methods[0]["text/plain"]
    assert "principal moments" in system[0]["text/html"]
    assert len(film) == 2 and "frames/s" in film[0]["text/plain"] and "data:image/gif" in film[1]["text/html"]


def page_of(book):
    """The page in the frame that a cell shows."""
    shown = next(one for one in book.cells[6].outputs if "data" in one)["data"]["text/html"]
    frame = r'<iframe class="polhode-view" srcdoc="[^"]*" sandbox="allow-scripts" [^<>]*></iframe>'
    assert re.fullmatch(rf"<style>[^<>]*</style>{frame}", shown)
    return html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])


def test_a_cell_shows_the_page(notebook):
    book, _ = notebook
    page = page_of(book)
    assert page.startswith("<!doctype html>") and len(page) < 1_000_000
    scene = json.loads(re.search(r'id="polhode-scene">(.*?)</script>', page)[1])
    assert scene["runs"][0]["clock"]["values"]["shape"] == [1001]


@pytest.mark.full
def test_the_page_of_a_cell_draws_in_a_browser(notebook, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here: whether the page of a cell draws was not tested")
    file = tmp_path / "cell.html"
    file.write_text(page_of(notebook[0]), encoding="utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    software = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    words = [browser, "--headless", "--no-sandbox", *software, profile, "--virtual-time-budget=5000", "--dump-dom"]
    done = subprocess.run([*words, file.as_uri()], capture_output=True, text=True, timeout=300, check=True)
    drawn = done.stdout.partition('id="polhode-view"')[2].partition("<script")[0]
    said = html.unescape(re.sub("<[^>]*>", " ", drawn))
    assert "<canvas" in drawn and "frame 1 of 1,001" in said and "This browser cannot" not in said
    assert re.search(r"energy\s+1269\.1067\s", said)  # 50^2 / 2 + 20 cos 0.3


def test_a_run_in_a_cell_is_seen_while_it_goes(notebook):
    pytest.importorskip("anywidget")
    book, client = notebook
    outputs = book.cells[7].outputs
    assert "True 1001" in "".join(one.get("text", "") for one in outputs)
    model = next(
        one["data"]["application/vnd.jupyter.widget-view+json"]["model_id"] for one in outputs if "data" in one
    )
    state = client.widget_state[model]
    scene = json.loads(state["scene"])
    assert scene["runs"][0]["clock"]["values"]["shape"] == [1001] and state["going"] is False
    buffers = {tuple(one["path"]): one["data"] for one in client.widget_buffers[model].values()}
    arrays = base64.b64decode(buffers[("arrays",)])
    times = read(arrays, scene["runs"][0]["clock"]["values"])
    assert np.array_equal(times[[0, -1]], [0.0, 1.0])
