"""The first page: its pictures are drawn by polhode, and its pieces are there with and without the view."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def landing(monkeypatch):
    """The module that draws them; it leaves no trace in the import system."""
    for folder in (DOCS / "_ext", DOCS):
        monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield importlib.import_module("generate.landing")
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in ("generate", "bibliography", "plain_docstrings", "equations"):
            del sys.modules[name]


def test_a_ball_is_bright_where_light_comes_from(landing):
    scene = landing.Scene((60, 40), (1, 0, 0), 1.0)
    scene.ball((0, 0, 0), 0.8, (200, 100, 50))
    picture = np.asarray(scene.done(), dtype=int)
    assert picture.shape == (40, 60, 3)
    assert picture[12, 24].sum() > 2 * picture[28, 38].sum()
    assert tuple(picture[1, 1]) == landing.GROUND


def test_places_in_the_picture(landing):
    """Seen along x: y to the right, z up."""
    scene = landing.Scene((60, 40), (1, 0, 0), 1.0)
    (x, y), *_ = scene.pixels(scene.seen((5.0, 0.5, 0.25)))
    assert (x / 2, y / 2) == pytest.approx((30 + 20 * 0.5, 20 - 20 * 0.25))


def test_rotations_of_quaternions_are_those_of_polhode(landing):
    import polhode

    q = polhode.rotation.exp_quaternion((0.3, -0.4, 0.5))
    np.testing.assert_allclose(landing.matrices(q), polhode.rotation.matrix_from_quaternion(q), rtol=0, atol=1e-15)


def test_polhodes_are_drawn(landing):
    picture = np.asarray(landing.sphere())
    assert picture.shape[:2] == landing.SIZE[::-1] and len(np.unique(picture.reshape(-1, 3), axis=0)) > 2000


def test_pieces_with_and_without_a_view(landing, tmp_path):
    landing.place(None, tmp_path / "a", tmp_path / "b")
    assert "<button" not in (tmp_path / "a" / "hero.html").read_text()
    drawn = tmp_path / "drawn"
    drawn.mkdir()
    for name in ("orbits.webp", "tumbling.webp", "view.html"):
        (drawn / name).write_bytes(b"x")
    landing.place(drawn, tmp_path / "a", tmp_path / "b")
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"orbits.webp", "hero.html"}
    assert {path.name for path in (tmp_path / "b").iterdir()} == {"tumbling.webp", "view.html"}
    assert 'data-view="_static/view.html"' in (tmp_path / "a" / "hero.html").read_text()


def test_the_command_is_that_of_the_readme(landing):
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    commands = [line for line in readme.splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2 and commands[0] in page


def test_every_door_has_its_picture(landing):
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    assert all(f":img-top: generated/landing/{name}.webp" in page for name in landing.DOORS)
