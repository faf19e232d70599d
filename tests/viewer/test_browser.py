"""The page of a view in a browser: what is drawn, what keys and mouse do, what is said, and that nothing leaves."""

import numpy as np
import pytest

import browser as browsers
import polhode as ph
from test_scene import craft, free, top

READY = "globalThis.polhodeHandle"


@pytest.fixture(scope="module")
def browser():
    browsers.chromium()
    with browsers.Browser() as found:
        yield found


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the page of a view; afterwards it has asked for nothing and complained of nothing."""
    pages = []

    def open_(text, size=(640, 480), **features):
        target = tmp_path / f"{len(pages)}.html"
        target.write_text(text, encoding="utf-8")
        page = browser.open(target.as_uri(), size, **features)
        page.wait(READY)
        page.expected = {target.as_uri(), "data:,"}
        pages.append(page)
        return page

    yield open_
    for page in pages:
        assert set(page.requests) <= page.expected and page.complaints == []
        page.close()


def state(page):
    return page.do("polhodeHandle.state()")


def choose(page, name):
    button = page.do(
        f"[...document.querySelectorAll('.pv-bar button')].findIndex((one) => one.textContent === '{name}')"
    )
    assert button >= 0, name
    page.do(f"document.querySelectorAll('.pv-bar button')[{button}].click()")


def changed(a, b):
    """Share of the pixels that differ clearly."""
    assert a.shape == b.shape
    return float((np.abs(a - b).max(axis=2) > 24).mean())


# ------------------------------------------------------------------ what is drawn
def test_slider_moves_the_body_and_a_frame_shows_the_data(opened):
    ds = free()
    page = opened(ph.view(ds).html())
    first = page.pixels()
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 50  # a lit body, not an empty stage
    page.do("(() => { const s = document.querySelector('input[type=range]'); s.value = 150; "
            "s.dispatchEvent(new Event('input', {bubbles: true})); })()")  # fmt: skip
    assert changed(first, page.pixels()) > 0.01
    now = state(page)
    run = now["runs"][0]
    assert now["frame"] == 150 and now["frames"] == 401 and now["time"] == ds.time.values[150]
    q = ds.attitude.values[150] * np.sign(ds.attitude.values[150] @ np.array(run["quaternion"]))
    assert np.abs(np.array(run["quaternion"]) - q).max() < 1e-4
    assert run["invariants"]["energy"] == ds.energy.values[150]
    assert run["invariants"]["energy error"] == ds.energy_error.values[150]
    shown = page.do("[...document.querySelectorAll('.pv-values dd')].map((one) => one.textContent)")
    assert float(shown[0]) == pytest.approx(float(ds.energy.values[150]), rel=1e-7)
    page.do("polhodeHandle.setFrame(0)")
    assert changed(first, page.pixels()) == 0.0  # the same frame, the same picture


def test_every_view_of_a_body_shows_its_own_picture(opened):
    page = opened(ph.view(free()).html())
    assert state(page)["views"] == ["Body", "Polhode", "Herpolhode"]
    seen = []
    for name in ("Body", "Polhode", "Herpolhode"):
        choose(page, name)
        page.do("polhodeHandle.setFrame(0)")
        before = page.pixels()
        page.do("polhodeHandle.setFrame(90)")
        assert changed(before, page.pixels()) > 1e-3
        assert name in page.do("document.querySelector('canvas').getAttribute('aria-label')")
        seen.append(page.pixels())
    assert changed(seen[0], seen[1]) > 0.05 and changed(seen[1], seen[2]) > 0.05
    choose(page, "Body")
    space = page.pixels()
    choose(page, "Body frame")
    assert state(page)["inBody"] and changed(space, page.pixels()) > 0.01


def test_orbit_with_its_two_cameras_and_the_ground_track(opened):
    page = opened(ph.view(craft()).html())
    now = state(page)
    assert {"Body", "Orbit", "Ground track"} <= set(now["views"])
    choose(page, "Orbit")
    outside = page.pixels()
    camera = state(page)["runs"][0]["camera"]["position"]
    choose(page, "LVLH camera")
    now = state(page)
    assert now["inOrbit"] and now["runs"][0]["camera"]["position"] != camera
    assert changed(outside, page.pixels()) > 0.05
    page.do("polhodeHandle.setFrame(700)")
    choose(page, "Inertial camera")
    assert not state(page)["inOrbit"]
    choose(page, "Ground track")
    first = page.pixels()
    page.do("polhodeHandle.setFrame(1400)")
    assert changed(first, page.pixels()) > 1e-4
    assert "longitude" in page.do("document.querySelector('canvas').getAttribute('aria-label')")


def test_top_and_several_runs_go_by_one_clock(opened):
    page = opened(ph.view(top(), top(step=2e-3), labels=["fine", "coarse"]).html())
    page.do("polhodeHandle.setTime(0.25)")
    now = state(page)
    assert [run["label"] for run in now["runs"]] == ["fine", "coarse"]
    assert [run["frame"] for run in now["runs"]] == [250, 125]
    assert all(run["time"] == pytest.approx(0.25, abs=1e-12) for run in now["runs"])
    assert page.do("document.querySelectorAll('canvas').length") == 2
    lefts = page.do("[...document.querySelectorAll('.pv-run')].map((one) => one.getBoundingClientRect().left)")
    assert lefts[0] < lefts[1]
    words = page.do("document.querySelector('.pv-legend').textContent")
    assert "fine" in words and "coarse" in words
