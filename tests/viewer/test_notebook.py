"""Views in notebooks: in the cell, and growing with a run."""

import json
import sys
import threading
import time

import pytest

import polhode as ph
from polhode.errors import FileProblem, InvalidInput, MissingExtra
from polhode.viewer import live
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
