"""The page of a view: one file that asks for nothing, in which no text of a user is code; its sizes; the command."""

import base64
import functools
import gzip
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode import cli
from polhode.errors import FileProblem, InvalidInput, MissingExtra
from polhode.viewer import page
from polhode.viewer.page import arranged, inert, packed

EVIL = "</script><script>alert(1)</script><!-- \" ' & \u2028 é"


@functools.cache
def run(steps=200, **words):
    return ph.integrate(ph.free_body([2.0, 3.0, 4.5]), step=0.01, steps=steps, angular_velocity=[0.01, 1, 0.3], **words)


@pytest.fixture(autouse=True)
def assets(monkeypatch):
    """Small scripts in the place of three.js and the viewer."""
    texts = {
        "three.min.js": "var THREE = {};", "order.txt": "# first\na.js\nb.js\n", "a.js": "let a = 1;",
        "b.js": "globalThis.polhodeViewer = { mount() {} };", "viewer.css": "body { margin: 0 }",
    }  # fmt: skip
    monkeypatch.setattr(page, "asset", texts.__getitem__)


class Read(HTMLParser):
    """Elements of a page with their attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        self.found.append(["", {}, ""])

    def handle_data(self, data):
        if self.found:
            self.found[-1][2] += data

    def of(self, tag):
        return [(attributes, text) for name, attributes, text in self.found if name == tag]


# ------------------------------------------------------------------ the page
def test_page_is_whole_and_asks_for_nothing():
    view = ph.view(run())
    text = view.html()
    read = Read(text)
    assert not re.search(r'(?:src|href)="(?!data:)', text)
    policy = next(one["content"] for one, _ in read.of("meta") if one.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ") and "connect-src 'none'" in policy and "unsafe" not in policy
    scripts = [body for attributes, body in read.of("script") if not attributes]
    assert len(scripts) == 3 and scripts[1] == "let a = 1;\nglobalThis.polhodeViewer = { mount() {} };"
    for body in [*scripts, read.of("style")[0][1]]:
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert view.html() == text  # the same bytes again


def test_texts_of_users_are_text():
    view = ph.view(run().assign_attrs(incomplete=EVIL, system=EVIL), title=EVIL, labels=[EVIL])
    read = Read(view.html())
    assert len(read.of("script")) == 5 and not any("alert(1)" in body for at, body in read.of("script") if not at)
    assert read.of("title")[0][1].startswith(EVIL.split("&")[0])
    scene = next(body for attributes, body in read.of("script") if attributes.get("id") == "polhode-scene")
    assert json.loads(scene) == view.scene and scene == inert(scene)
    assert view.scene["title"] == view.scene["runs"][0]["label"] == EVIL
    frame = view._repr_html_()
    assert frame.count("<") == 4 and 'sandbox="allow-scripts"' in frame
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1]) == view.html()


def undone(layout, bytes_):
    """What the page's script makes of the packed numbers, here in Python."""
    found = bytearray(bytes_)
    for at, rows, columns, size, order in layout:
        count = rows * columns
        planes = np.frombuffer(bytes_, np.uint8, count * size, at).reshape(size, count)
        values = np.ascontiguousarray(planes.T).view(f"<u{size}").reshape(columns, rows).copy()
        for first in range(order, 0, -1):
            for k in range(first, rows):
                values[:, k] += values[:, k - 1]
        found[at : at + count * size] = np.ascontiguousarray(values.T).tobytes()
    return bytes(found)


def test_numbers_are_packed_without_loss():
    view = ph.view(run())
    layout, text = packed(view.scene, view.arrays)
    bytes_ = gzip.decompress(base64.b64decode(text))
    assert bytes_ != view.arrays and undone(json.loads(layout), bytes_) == view.arrays
    raw = np.array([[5, 1], [3, 2], [2**16 - 1, 3]], dtype="<u2")
    for order in range(3):
        assert undone([[0, 3, 2, 2, order]], arranged(raw, order)) == raw.tobytes()


@pytest.mark.parametrize("kind", ["rigid body", "spacecraft"])
def test_five_thousand_frames_leave_half_a_megabyte_for_the_scripts(kind):
    """A page of less than 1 MB has these numbers, and the scripts."""
    if kind == "rigid body":
        ds = run(4999)
    else:
        earth = ph.planets.EARTH
        system = ph.spacecraft([2.0, 3.0, 4.5], earth.mu, 10.0, forces=[ph.forces.zonal(**earth.zonal)])
        ds = ph.integrate(system, "v2/mr", step=5.0, steps=9998, every=2, position=[7.0e6, 1.0e5, -2.0e5],
                          velocity=[100.0, 7.4e3, 900.0], angular_velocity=[0.001, 0.002, 0.01],
                          settings={"units": "SI"})  # fmt: skip
    view = ph.view(ds)
    assert view.scene["runs"][0]["clock"]["values"]["shape"] == [5000]
    assert len(view.html()) < {"rigid body": 150_000, "spacecraft": 450_000}[kind]


@pytest.mark.parametrize("name", ["angular_momentum", "angular_velocity"])
def test_a_series_that_is_not_finite_is_named(name):
    ds = run().copy(deep=True)
    ds[name][-1, 0] = np.nan
    with pytest.raises(InvalidInput, match=rf"^{name} is not finite: {name}\["):
        ph.view(ds)


def test_files_appear_whole_and_problems_are_named(tmp_path, monkeypatch):
    view = ph.view(run())
    assert view.save(tmp_path / "new" / "page.html").read_text(encoding="utf-8") == view.html()
    with pytest.raises(InvalidInput, match=r"must end in \.html"):
        view.save(tmp_path / "page.png")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileProblem, match="cannot write"):
        view.save(tmp_path / "file" / "page.html")
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address))
    shown = view.show()
    assert opened == [shown.as_uri()] and shown.read_text(encoding="utf-8") == view.html()
    assert repr(view) == "<View of 1 run, 201 frames: show(), save(path), html()>"


# ------------------------------------------------------------------ meshes
def tetrahedron(name, folder):
    corners, faces = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    if name.endswith(".stl"):
        lines = ["solid t"]
        for face in faces:
            lines += ["facet normal 0 0 0", "outer loop"]
            lines += ["vertex {} {} {}".format(*corners[k]) for k in face] + ["endloop", "endfacet"]
        lines.append("endsolid t")
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


@pytest.mark.parametrize("name", ["body.obj", "body.stl"])
def test_mesh_of_a_file(name, tmp_path):
    pytest.importorskip("trimesh")
    view = ph.view(run(), mesh=tetrahedron(name, tmp_path))
    shape = view.scene["runs"][0]["bodies"]["shapes"][0]
    assert shape["kind"] == "mesh" and shape["faces"]["shape"] == [4, 3] and shape["vertices"]["shape"][1] == 3


def test_meshes_that_are_wrong(tmp_path, monkeypatch):
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    ph.view(run(), mesh=(corners, [[0, 1, 2]]))
    for wrong, words in [
        ((corners, [[0, 1, 3]]), "0 to 2"), ((corners, [[0, 1]]), "triangles"), (([[0, 0]], [[0, 0, 0]]), "shape"),
        (3, "mesh must be"), (tmp_path / "body.step", "must end in"), ((corners, [[0, 0.5, 1]]), "numbers of vertices"),
    ]:  # fmt: skip
        with pytest.raises(InvalidInput, match=words):
            ph.view(run(), mesh=wrong)
    with pytest.raises(FileProblem, match="no file"):
        ph.view(run(), mesh=tmp_path / "body.stl")
    pytest.importorskip("trimesh")
    (tmp_path / "torn.obj").write_bytes(b"\0\1\2nothing")
    with pytest.raises(FileProblem, match="torn"):
        ph.view(run(), mesh=tmp_path / "torn.obj")
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(MissingExtra, match=r"polhode\[mesh\]"):
        ph.view(run(), mesh=tetrahedron("body.obj", tmp_path))


# ------------------------------------------------------------------ polhode view
@pytest.fixture
def polhode(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    ph.save(run(), "a.nc")
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)

    def call(*words):
        done = CliRunner().invoke(cli.group, list(words), prog_name="polhode")
        error = done.exception
        code = getattr(error, "exit_code", done.exit_code) if error is not None else 0
        return code, done.stdout, done.stderr + (str(error) if error is not None else ""), opened

    return call


def test_command_writes_the_page_and_opens_it(polhode, tmp_path, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    code, out, err, opened = polhode("view", "a.nc")
    assert (code, out, err) == (0, "a.html\n", "") and opened == [(tmp_path / "a.html").as_uri()]
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == ph.view("a.nc").html()
    code, out, _, opened = polhode("view", "a.nc", "a.nc", "--no-open", "-o", "b/c.html", "--label", "x", "--label",
                                   "y", "--title", "T", "--frames", "50", "--from", "0.5")  # fmt: skip
    assert code == 0 and len(opened) == 1 and out == "b/c.html\n"
    scene = json.loads(re.search(r'id="polhode-scene">(.*?)</script>', (tmp_path / "b/c.html").read_text())[1])
    assert scene["title"] == "T" and [one["label"] for one in scene["runs"]] == ["x", "y"]
    assert scene["runs"][0]["clock"]["values"]["shape"] == [50]


def test_command_without_a_display_or_with_something_wrong(polhode, tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    code, out, _, opened = polhode("view", "a.nc")
    assert (code, out, opened) == (0, "a.html\n", [])
    for words, number, told in [
        (("a.nc", "-o", "a.png"), 3, ".html"), (("none.nc",), 5, "no file"), (("a.txt",), 3, "must end in"),
        (("a.nc", "--frames", "1"), 3, "frames"), (("a.nc", "--mesh", "none.stl"), 5, "no file"),
        (("a.nc", "--from", "9"), 3, "span"), ((), 2, "TRAJECTORIES"),
    ]:  # fmt: skip
        code, _, err, _ = polhode("view", *words)
        assert code == number and told in err, (words, code, err)
    assert "polhode view fast-top.nc" in polhode("view", "--help")[1]


SCENARIO = """
title = "From a file"
[system]
type = "free_body"
inertia = [2.0, 3.0, 4.5]
[initial]
angular_velocity = [0.1, 0.2, 1.0]
[run]
step = 0.05
t_end = 1.0
"""


def test_command_runs_a_scenario_and_a_first_look(polhode, tmp_path):
    (tmp_path / "body.toml").write_text(SCENARIO)
    code, out, _, _ = polhode("view", "body.toml", "--no-open")
    assert (code, out) == (0, "body.html\n") and "<title>From a file</title>" in (tmp_path / "body.html").read_text()
    code, out, _, _ = polhode("view", "--demo", "--no-open")
    assert (code, out) == (0, "fast-top.html\n") and "<title>A fast top</title>" in (tmp_path / out[:-1]).read_text()


def test_words_complete_with_what_can_be_shown(polhode, tmp_path):
    from polhode.cli.text import complete_trajectory

    for name in ("b.toml", "c.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "long.zarr").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "d.nc").write_text("")
    assert complete_trajectory(None, None, "") == ["folder/", "a.nc", "b.toml", "long.zarr"]
    assert complete_trajectory(None, None, "fo") == ["folder/", "folder/d.nc"]


def test_live_stores_are_shown(tmp_path):
    run(50, store=tmp_path / "live.zarr")
    view = ph.view(tmp_path / "live.zarr")
    assert view.scene["runs"][0]["clock"]["values"]["shape"] == [51]
