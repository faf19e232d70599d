"""Views in notebooks: in the cell, and growing with a run."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from polhode.errors import FileProblem, InvalidInput, MissingExtra
from polhode.viewer import live
from polhode.viewer.arrays import read
from polhode.viewer.scene import dumped

SYSTEM = ph.free_body([2.0, 3.0, 4.5])
RUN = {"step": 0.01, "angular_velocity": [0.01, 1.0, 0.3]}


# ------------------------------------------------------------------ the widget
def test_widget_follows_a_run_that_has_not_begun(tmp_path):
    pytest.importorskip("anywidget")
    store = tmp_path / "live.zarr"
    view = ph.view(store, live=True, labels=["slow"], title="Live", frames=300)
    assert view.going and view.told == f"waiting for {store}" and not view.scene
    ds = ph.integrate(SYSTEM, "v2/mr", steps=2000, store=store, **RUN)
    assert view.wait(60.0) and not view.going
    once = ph.view(ds, labels=["slow"], title="Live", frames=300)
    assert (view.scene, view.arrays) == (dumped(once.scene), once.arrays)
    assert "polhodeViewer" in view._esm and "export default" in view._esm


def test_widget_shows_rows_while_a_run_goes_on(tmp_path, monkeypatch):
    pytest.importorskip("anywidget")
    store, seen, grown = tmp_path / "live.zarr", [], threading.Event()
    view = ph.view(store, live=True)

    def look(change):
        seen.append(json.loads(change["new"])["runs"][0]["clock"]["values"]["shape"][0])
        grown.set()

    view.observe(look, "scene")

    def tell(progress):  # until some of the run is seen, it goes slowly
        if not grown.is_set():
            time.sleep(0.05)

    monkeypatch.setattr("polhode.runs.stepping.SLICE_SECONDS", 1e-3)
    monkeypatch.setattr("polhode.runs.streamed.SECONDS", 0.0)
    ph.integrate(SYSTEM, "v2/mr", steps=200_000, every=200, store=ph.Store(store, 0.0), progress=tell, **RUN)
    assert view.wait(60.0)
    assert len(seen) > 1 and seen[0] < seen[-1] == 1001


def test_widget_of_a_dataset_and_what_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("anywidget")
    ds = ph.integrate(SYSTEM, steps=10, **RUN)
    view = ph.view(ds, live=True)
    assert view.arrays == ph.view(ds).arrays and view.wait() and not view.going
    ph.save(ds, tmp_path / "a.zarr")
    for wrong, kind, words in [
        (tmp_path / "a.nc", InvalidInput, r"\.zarr"), (tmp_path / "a.zarr", FileProblem, "leave live out"),
        (3, InvalidInput, "name of a file"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=words):
            ph.view(wrong, live=True)
    with pytest.raises(InvalidInput, match="one run"):
        ph.view(ds, ds, live=True)
    waiting = ph.view(tmp_path / "never.zarr", live=True)
    assert repr(waiting) == "<live View: it goes on; stop(), wait()>"
    waiting.stop()
    assert waiting.wait(10.0)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    live.widget_class.cache_clear()
    with pytest.raises(MissingExtra, match=r"polhode\[notebook\]"):
        ph.view(ds, live=True)
    live.widget_class.cache_clear()


# ------------------------------------------------------------------ a notebook
CELLS = [
    "import polhode as ph\ntop = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)",
    'ds = ph.integrate(top, "trapm", step=1e-3, t_end=1.0, angular_velocity=(0, 0, 50),\n'
    "                  attitude=ph.rotation.exp_quaternion((0.3, 0, 0)))\nph.view(ds)",
    'view = ph.view("live.zarr", live=True)\ndisplay(view)\n'
    'ds = ph.integrate(top, "trapm", step=1e-4, t_end=1.0, every=10, angular_velocity=(0, 0, 50), store="live.zarr")\n'
    "print(view.wait(60), len(ds.time))",
]


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """The cells, run in a kernel."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    folder = tmp_path_factory.mktemp("notebook")
    sources = str(Path(ph.__file__).parents[1])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([sources, *([before] if before else [])])
    try:
        client = nbclient.NotebookClient(
            book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        )
        client.execute()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return book, client


def page_of(book):
    """The page in the frame that a cell shows."""
    shown = next(one for one in book.cells[1].outputs if "data" in one)["data"]["text/html"]
    frame = r'<iframe class="polhode-view" srcdoc="[^"]*" sandbox="allow-scripts" [^<>]*></iframe>'
    assert re.fullmatch(rf"<style>[^<>]*</style>{frame}", shown)
    return html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])


def test_a_cell_shows_the_page(notebook):
    book, _ = notebook
    page = page_of(book)
    assert page.startswith("<!doctype html>") and len(page) < 1_000_000
    scene = json.loads(re.search(r'id="polhode-scene">(.*?)</script>', page)[1])
    assert scene["runs"][0]["clock"]["values"]["shape"] == [1001]


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
    outputs = book.cells[2].outputs
    assert "True 1001" in "".join(one.get("text", "") for one in outputs)
    model = next(
        one["data"]["application/vnd.jupyter.widget-view+json"]["model_id"] for one in outputs if "data" in one
    )
    state = client.widget_state[model]
    scene = json.loads(state["scene"])
    assert scene["runs"][0]["clock"]["values"]["shape"] == [1001] and state["going"] is False
    buffers = {tuple(one["path"]): one["data"] for one in client.widget_buffers[model].values()}
    import base64

    arrays = base64.b64decode(buffers[("arrays",)])
    times = read(arrays, scene["runs"][0]["clock"]["values"])
    assert np.array_equal(times[[0, -1]], [0.0, 1.0])
