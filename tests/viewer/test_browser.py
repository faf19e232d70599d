"""The page of a view in a browser: what is drawn, what keys and mouse do, what is said, and that nothing leaves."""

import base64
import functools
import json
import re

import numpy as np
import pytest

import browser as browsers
import polhode as ph
from polhode.viewer.arrays import Arrays
from polhode.viewer.page import page as page_of
from test_scene import craft, free, top

READY = "globalThis.polhodeHandle"
AGAIN = """(() => {
  const { view, views } = polhodeHandle.state();
  if (view !== views[0] || !document.querySelector("canvas")) polhodeHandle.choose(views[0]);
  [...document.querySelectorAll(".pv-bar button")].find((one) => one.textContent === "Reset camera").click();
  polhodeHandle.frame(false, false);
  polhodeHandle.setFrame(0);
})()"""


@pytest.fixture(scope="module")
def browser():
    browsers.chromium()
    with browsers.Browser() as found:
        yield found


@pytest.fixture(scope="module")
def pages(browser, tmp_path_factory):
    """Opens the page of a view, once, and shows its first view and frame."""
    folder, kept = tmp_path_factory.mktemp("pages"), {}

    def page_of(text, size=(640, 480), **features):
        if text in kept:
            page = kept[text]
            page.look(size, **features)
            page.do(AGAIN)
            return page
        target = folder / f"{len(kept)}.html"
        target.write_text(text, encoding="utf-8")
        page = kept[text] = browser.open(target.as_uri(), size, **features)
        page.wait(READY)
        page.expected = {target.as_uri(), "data:,"}
        return page

    return page_of


@pytest.fixture
def opened(pages):
    """The page of a view; afterwards it has asked for nothing and complained of nothing."""
    used = []

    def open_(*words, **more):
        used.append(pages(*words, **more))
        return used[-1]

    yield open_
    for page in used:
        assert set(page.requests) <= page.expected and page.complaints == []


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


def colours(pixels):
    """How many there are."""
    return len(np.unique(pixels.astype(int) @ (65536, 256, 1)))


@functools.cache
def free_page():
    return ph.view(free()).html()


@functools.cache
def craft_page():
    return ph.view(craft(), labels=["a run with a rather long label"]).html()


@functools.cache
def liquid(many=1000, frames=5):
    """The page of molecules that drift and turn in a box, made without a run."""
    rng = np.random.default_rng(1)
    start, drift = rng.uniform(0, 3, (many, 3)), rng.normal(0, 0.3, (many, 3))
    t = np.linspace(0, 1, frames)
    turn = rng.normal(0, 2, (many, 3))
    q = ph.rotation.exp_quaternion(t[:, None, None] * turn)
    arrays = Arrays()
    atoms = [{"at": [0, 0, 0], "radius": 0.09, "colour": "#c8332c"}]
    atoms += [{"at": [x, 0.06, 0], "radius": 0.05, "colour": "#eeeeee"} for x in (0.08, -0.08)]
    run = {
        "label": "liquid", "facts": [["system", "molecules"]], "clock": {"values": arrays.exact(t), "unit": "ps"},
        "bodies": {"count": many, "attitude": arrays.short(q, 1.0), "axes": False,
                   "position": arrays.short(np.mod(start + t[:, None, None] * drift, 3.0), 3.0),
                   "shapes": [{"kind": "atoms", "atoms": atoms}]},
        "cell": [3.0, 3.0, 3.0], "vectors": [], "poinsot": None, "orbit": None,
        "series": [{"group": "Temperature", "unit": "K", "log": False,
                    "lines": [{"label": "all", "values": arrays.single(300 + np.sin(9 * t))}]}],
        "invariants": [],
    }  # fmt: skip
    scene = {"version": 1, "title": "Liquid", "subtitle": "", "generator": "polhode", "runs": [run]}
    return page_of(scene, bytes(arrays))


# ------------------------------------------------------------------ what is drawn
def test_slider_moves_the_body_and_a_frame_shows_the_data(opened):
    ds = free()
    page = opened(ph.view(ds).html())
    first = page.pixels()
    assert colours(first) > 50  # a lit body, not an empty stage
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
    page = opened(free_page())
    assert state(page)["views"] == ["Body", "Polhode", "Herpolhode"]
    seen = []
    for name in ("Body", "Polhode", "Herpolhode"):
        if seen:
            choose(page, name)
        page.do("polhodeHandle.setFrame(0)")
        before = page.pixels()
        page.do("polhodeHandle.setFrame(90)")
        seen.append(page.pixels())
        assert changed(before, seen[-1]) > 1e-3
        assert name in page.do("document.querySelector('canvas').getAttribute('aria-label')")
        if name == "Body":
            choose(page, "Body frame")
            assert state(page)["inBody"] and changed(seen[0], page.pixels()) > 0.01
            choose(page, "Space frame")
    assert changed(seen[0], seen[1]) > 0.05 and changed(seen[1], seen[2]) > 0.05


def test_orbit_with_its_two_cameras_and_the_ground_track(opened):
    page = opened(craft_page())
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


def test_a_thousand_molecules_take_little_of_a_frame(opened):
    page = opened(liquid())
    assert state(page)["views"] == ["Cell"]
    first = page.pixels()
    spent = page.do("""(() => {
      polhodeHandle.setFrame(1);
      const before = polhodeHandle.state().draws;
      for (let k = 2; k < 5; k++) polhodeHandle.setFrame(k);
      const after = polhodeHandle.state().draws;
      return (after.milliseconds - before.milliseconds) / (after.count - before.count);
    })()""")
    assert spent < 160.0  # ten times what sixty frames a second leave, for machines that do much besides
    assert changed(first, page.pixels()) > 0.05


# ------------------------------------------------------------------ keys, mouse, words
def test_keys_and_the_mouse(opened):
    page = opened(free_page())
    assert not state(page)["playing"]  # nothing moves before it is asked to
    page.key(" ")  # nothing has the focus yet
    page.wait("polhodeHandle.state().playing && polhodeHandle.state().frame > 2")
    page.key(" ")
    now = state(page)
    assert not now["playing"] and now["time"] == free().time.values[now["frame"]]  # it stops on a row
    for key, frame in (("End", 400), ("Home", 0), (".", 1), (".", 2), (",", 1)):
        page.key(key)
        assert state(page)["frame"] == frame, key
    page.do("document.querySelector('input[type=range]').focus()")
    page.key("ArrowRight")
    assert state(page)["frame"] == 2
    spoken = page.do("document.querySelector('input[type=range]').getAttribute('aria-valuetext')")
    assert "0.1" in spoken and "frame 3 of 401" in spoken
    before = state(page)["runs"][0]["camera"]["position"]
    page.do("document.querySelector('canvas').focus()")
    page.key("ArrowRight")
    turned = state(page)["runs"][0]["camera"]["position"]
    assert turned != before and state(page)["frame"] == 2
    page.key("0")
    assert np.allclose(state(page)["runs"][0]["camera"]["position"], before)
    left, top_, width, height = page.place("canvas")
    middle = (left + width / 2, top_ + height / 2)
    page.mouse(middle, (middle[0] + 40, middle[1] + 10), (middle[0] + 90, middle[1] + 20))
    assert not np.allclose(state(page)["runs"][0]["camera"]["position"], before)
    page.click(".pv-plot", x=0.6)
    assert 100 < state(page)["frame"] < 350


def test_everything_has_a_name_and_can_be_reached(opened):
    page = opened(craft_page())
    assert (
        page.do("""[...document.querySelectorAll('button, select, input, canvas, svg.pv-plot')].filter((one) =>
      !(one.textContent || '').trim() && !one.getAttribute('aria-label')).map((one) => one.outerHTML.slice(0, 80))""")
        == []
    )
    assert page.do(
        "[...document.querySelectorAll('canvas, svg.pv-plot')].every((one) => one.getAttribute('role') === 'img')"
    )
    assert page.do("document.documentElement.lang") == "en"
    reached = set()
    for _ in range(16):
        page.key("Tab")
        reached.add(page.do("document.activeElement.tagName"))
    assert {"BUTTON", "CANVAS", "INPUT", "SELECT"} <= reached


# ------------------------------------------------------------------ where it is shown
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1400, "light")])
def test_widths_and_colours(opened, width, scheme):
    page = opened(craft_page())
    page.do("globalThis.before = document.querySelector('canvas'), 0")
    page.look((width, 800), prefers_color_scheme=scheme)
    if scheme == "dark":
        page.wait("document.querySelector('canvas') !== before")  # made anew, in other colours
    assert page.do("document.documentElement.scrollWidth") <= width
    ground, ink = page.do("""(() => { const s = getComputedStyle(document.querySelector('.pv'));
      return [s.backgroundColor, s.color].map((one) => one.match(/[0-9]+/g).slice(0, 3).map(Number)); })()""")
    assert (max(ground) < 60 and min(ink) > 180) if scheme == "dark" else (min(ground) > 230 and max(ink) < 70)
    corner = page.pixels()[5, 5]
    assert max(corner) < 70 if scheme == "dark" else min(corner) > 200


def test_the_policy_holds(opened):
    page = opened(free_page())
    with pytest.raises(RuntimeError, match="EvalError"):
        page.do("new Function('return 1')()")
    assert page.do("fetch('http://127.0.0.1:9/').then(() => 'left', () => 'refused')") == "refused"
    source = re.sub(r"<script.*?</script>|<style.*?</style>", "", free_page(), flags=re.DOTALL)
    assert not re.search(r"<[^>]+\s(style|on\w+)=", source)  # what the policy would refuse
    # Refused by the policy of the page, before anything was sent.
    assert any("Content Security Policy" in one for one in page.complaints) and len(page.complaints) >= 1
    page.complaints.clear()
    page.requests[:] = [one for one in page.requests if not one.startswith("http://127.0.0.1:9/")]


def test_without_webgl_the_numbers_are_shown(opened):
    page = opened(free_page())
    page.do("""(() => {
      const context = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
        return kind.startsWith("webgl") ? null : context.call(this, kind, ...more);
      };
      polhodeHandle.choose("Body");
      HTMLCanvasElement.prototype.getContext = context;
    })()""")
    assert "WebGL" in page.do("document.querySelector('[role=alert]').textContent")
    assert page.do("document.querySelectorAll('svg.pv-plot').length") >= 2
    page.do("polhodeHandle.setFrame(7)")
    assert state(page)["runs"][0]["invariants"]["energy"] == free().energy.values[7]


def test_page_in_the_frame_of_a_notebook(browser, tmp_path):
    """It has the theme of the notebook, though the browser has the other one."""
    target = tmp_path / "notebook.html"
    body = '<body data-jp-theme-light="false">'
    target.write_text(f"<!doctype html>{body}{ph.view(free())._repr_html_()}", encoding="utf-8")
    page = browser.open(target.as_uri(), (620, 850))
    assert page.do("document.querySelector('iframe').getAttribute('sandbox')") == "allow-scripts"
    for dark in (True, False):
        page.look((620, 850), prefers_color_scheme="light" if dark else "dark")
        page.do(f"document.body.dataset.jpThemeLight = '{str(not dark).lower()}'")
        for _ in range(100):
            seen = page.pixels("iframe")
            if colours(seen) > 300 and (max(seen[2, 2]) < 70 if dark else min(seen[2, 2]) > 200):
                break
        else:
            pytest.fail(f"nothing is drawn in the frame, or not so: {page.complaints}")
    assert set(page.requests) <= {target.as_uri(), "about:srcdoc", "data:,"}
    page.close()


def test_a_longer_scene_keeps_camera_view_and_time(opened):
    long, short = ph.view(free()), ph.view(free().isel(time=slice(0, 200)))
    page = opened(short.html())
    choose(page, "Polhode")
    page.do("polhodeHandle.setFrame(50)")
    page.do("document.querySelector('canvas').focus()")
    page.key("ArrowRight")
    before = state(page)
    data = base64.b64encode(long.arrays).decode()
    numbers = f"Uint8Array.from(atob('{data}'), (letter) => letter.charCodeAt(0)).buffer"
    add = f"polhodeHandle.append({json.dumps(long.scene)}, {numbers})"
    page.do(add)
    after = state(page)
    assert after["frames"] == 401 and after["view"] == "Polhode" and after["frame"] == 50
    assert np.allclose(after["runs"][0]["camera"]["position"], before["runs"][0]["camera"]["position"])
    page.do("polhodeHandle.setFrame(400)")
    page.do(add)
    assert state(page)["frame"] == 400
    page.do("polhodeHandle.destroy()")
    assert page.do("document.getElementById('polhode-view').childElementCount") == 0
