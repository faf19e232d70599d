"""An interactive page in a browser: its kernel takes the steps of the machine that made it; sliders, pushes, words."""

import base64
import functools

import numpy as np
import pytest

import browser as browsers
import polhode as ph
from test_drawn import STILL, WATCHED, drawn, one_of

TOP = {"attitude": ph.rotation.exp_quaternion((0.6, 0, 0)), "angular_velocity": (0.0, 0.0, 8.0)}
READY = "globalThis.polhodeHandle"
SLIDER = """((name, share) => {
  const row = [...document.querySelectorAll(".pv-knob")].find((one) => one.textContent.startsWith(name));
  const input = row.querySelector("input");
  input.value = share * input.max;
  input.dispatchEvent(new Event("input"));
  return row.querySelector("output").textContent;
})"""
HELD = """(() => {
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
  for (let r = 0; r < 0.5; r += 0.02) for (let a = 0; a < 6.3; a += 0.2) {
    const [x, y] = [box.left + box.width * (0.5 + r * Math.cos(a)), box.top + box.height * (0.5 + r * Math.sin(a))];
    const there = {clientX: x, clientY: y, bubbles: true, pointerType: "mouse"};
    canvas.dispatchEvent(new PointerEvent("pointermove", there));
    if (document.querySelector(".pv-held")) return [x, y];
  }
})()"""
"""A place on the canvas at which a body can be taken hold of."""


def top(weight):
    return ph.heavy_top(inertia=(2.4, 2.4, 0.9), center_of_mass=(0, 0, 1), weight=weight)


@functools.cache
def view():
    return ph.interactive(top(20.0), "v2", step=0.01, knobs={"weight": (0.0, 60.0)}, **TOP)


@functools.cache
def text():
    return view().html()


@pytest.fixture(scope="module")
def browser():
    browsers.chromium()
    with browsers.Browser() as found:
        yield found


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a page, whose bodies are not drawn; afterwards it has asked for nothing, and complained of what it may."""
    pages = []

    def open_(text, size=(1000, 800), before="", may=(), **features):
        target = tmp_path / f"{len(pages)}.html"
        target.write_text(text, encoding="utf-8")
        page = browser.open(target.as_uri(), size, STILL + before, **features)
        page.wait(READY)
        pages.append((page, {target.as_uri(), "data:,"}, may))
        return page

    yield open_
    for page, expected, may in pages:
        assert set(page.requests) <= expected
        assert [one for one in page.complaints if not any(word in one for word in may)] == []
        page.close()


def state(page):
    return page.do("polhodeHandle.state()")


def vertical(state):
    """Vertical angular momentum, which only a push changes."""
    numbers = np.array(state["state"])
    return ph.rotation.rotate(numbers[6:10], numbers[10:13])[2]


def after(page, weight, steps=300):
    """How far the state of the page is from that of ``polhode.integrate``."""
    ds = ph.integrate(top(weight), "v2", step=0.01, steps=steps, **TOP)
    page.do(f"polhodeHandle.setFrame({steps})")
    now = np.array(state(page)["state"])
    return np.abs(now[10:13] - ds.angular_momentum.values[-1]).max()


def test_the_page_takes_the_steps_of_the_machine_that_made_it(opened):
    page = opened(text())
    page.wait("polhodeHandle.state().steps > 30")
    assert state(page)["same"] and state(page)["playing"]
    words = page.do("document.querySelector('.pv-same').textContent")
    assert words == "The same bits as on the machine that made this page: 1,000 steps."
    assert page.do("document.querySelectorAll('.pv-plot').length") == 3
    assert after(page, 20.0) < 1e-12
    energy = "parseFloat(document.querySelector('.pv-values dd').textContent)"
    before = page.do(energy)
    page.do(f"{SLIDER}('weight', 0.5)")  # in the midst of the motion
    assert abs(page.do(energy) - before) > 0.1
    assert state(page)["values"] == {"weight": 30.0} and after(page, 30.0) < 1e-12 < 0.1 < after(page, 20.0)
    assert state(page)["errors"]["vertical_angular_momentum"] < 1e-12 < 1e-7 < state(page)["errors"]["energy"] < 1e-2


def test_the_polhode_is_drawn_as_the_steps_come(opened):
    """Of a top, whose angular momentum changes its size: both surfaces are those of now."""
    page = opened(text())
    page.do(WATCHED)
    for frame in (150, 300):
        meshes = drawn(page, "Polhode", frame)
        m, moments = np.array(state(page)["state"])[10:13], np.array((2.4, 2.4, 0.9))
        first = np.linalg.norm(moments * TOP["angular_velocity"])
        middle = one_of(meshes, "d55e00")["points"].mean(axis=0)
        ball, ellipsoid = (one_of(meshes, colour)["points"] for colour in ("56b4e9", "e69f00"))
        size = np.linalg.norm(ball, axis=1).mean() / np.linalg.norm(m)
        np.testing.assert_allclose(middle / size, 1.01 * m, rtol=0, atol=0.05 * first)
        level = np.einsum("ni,i->n", (ellipsoid / size) ** 2, 1.0 / moments)
        np.testing.assert_allclose(level, m @ (m / moments), rtol=1e-5)
    assert abs(np.linalg.norm(m) / first - 1.0) > 1e-3


def test_other_bits_are_told(opened):
    end = view().scene["live"]["end"]
    other = np.frombuffer(base64.b64decode(end)).copy()
    other[12] += 3e-9
    page = opened(text().replace(end, base64.b64encode(other.tobytes()).decode()))
    words = page.do("document.querySelector('.pv-same').textContent")
    assert words == "After 1,000 steps the state differs by 3×10⁻⁹ from that of the machine that made this page."
    assert not state(page)["same"]


def test_a_body_is_thrown_by_hand_and_by_a_button(opened):
    page = opened(text())
    page.do(f"{SLIDER}('pace', 0)")  # so that it hardly moves
    page.do("document.activeElement.blur()")
    left, up = page.do(HELD)
    before = state(page)
    button = {"button": "left", "clickCount": 1}
    page.send("Input.dispatchMouseEvent", type="mousePressed", x=left, y=up, **button)
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=left + 80, y=up, button="left")
    page.wait(f"polhodeHandle.state().steps > {before['steps'] + 1}")
    page.send("Input.dispatchMouseEvent", type="mouseReleased", x=left + 80, y=up, **button)
    page.drawn()
    thrown = state(page)
    assert thrown["runs"][0]["camera"] == before["runs"][0]["camera"]
    assert abs(vertical(thrown) - vertical(before)) > 1e-6 > 1e-12 > thrown["errors"]["vertical_angular_momentum"]
    page.key(" ")
    page.wait("!polhodeHandle.state().playing")
    page.do("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Start again').click()")
    page.key(" ")
    calm = np.array(state(page)["state"])
    page.do("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Push').click()")
    assert np.abs(np.array(state(page)["state"]) - calm).max() > 1.0 and state(page)["errors"]["energy"] < 1e-6


def test_what_can_be_reached_and_read(opened):
    page = opened(text(), (400, 800), prefers_reduced_motion="reduce", prefers_color_scheme="dark")
    assert not state(page)["playing"] and page.do("document.documentElement.scrollWidth") <= 400
    reached = set()
    for _ in range(16):
        page.key("Tab")
        reached.add(
            page.do("document.activeElement.closest('label')?.textContent ?? document.activeElement.textContent")
        )
    assert {"Pause", "Start again", "Values as given", "Push"} & reached and any("weight" in one for one in reached)
    assert (
        page.do("""[...document.querySelectorAll('button, input, canvas')].filter((one) =>
      !(one.closest('label') || one).textContent.trim() && !one.getAttribute('aria-label')).length""")
        == 0
    )
    page.do("document.querySelector('.pv-knob input').focus()")
    page.key("ArrowRight")
    assert 20.0 < state(page)["values"]["weight"] < 20.1
    assert page.do("document.activeElement.getAttribute('aria-valuetext')").startswith("20.0")


@pytest.mark.parametrize(("before", "policy", "words"), [
    ("delete globalThis.WebAssembly;", True, "This browser has no WebAssembly"),
    ("", False, "A policy refuses WebAssembly here"),
])  # fmt: skip
def test_without_webassembly_the_recorded_run_is_shown(opened, before, policy, words):
    page = opened(text() if policy else text().replace(" 'wasm-unsafe-eval'", ""), before=before, may=("WebAssembly",))
    told = page.do("document.querySelector('header [role=status]').textContent")
    assert told == f"{words}, so this page does not take steps itself: it shows the run that was recorded."
    assert state(page)["frames"] == 1001


def test_slower_than_asked_is_said(opened):
    slow = "globalThis.requestAnimationFrame = (then) => setTimeout(() => then(performance.now()), 350);"
    page = opened(text(), before=slow)
    page.wait("document.querySelector('.pv-alert').textContent.startsWith('Slower than asked: ')")
