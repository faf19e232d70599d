"""The README's moving picture: small, moving, without a seam, and what its script draws."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

DOCS = Path(__file__).resolve().parents[2] / "docs"
FILE = DOCS / "images" / "tumbling.gif"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("moving_picture", DOCS / "moving_picture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_file_is_small_and_moves():
    assert FILE.stat().st_size <= 1_000_000
    with Image.open(FILE) as film:
        assert film.n_frames > 100 and film.size[0] >= 480 and film.info["loop"] == 0
        first = np.asarray(film.convert("RGB")).astype(int)
        film.seek(film.n_frames // 2)
        assert (np.abs(np.asarray(film.convert("RGB")) - first).max(axis=-1) > 40).sum() > 1000


def test_the_script_draws_these_frames(script):
    figure, show, frames = script.picture()
    with Image.open(FILE) as film:
        assert (film.n_frames, film.size) == (frames, script.SIZE)
        committed = np.asarray(film.convert("RGB")).astype(int)
    show(0)
    figure.canvas.draw()
    drawn = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    assert (drawn[0, 0] == committed[0, 0]).all()  # the background, exactly
    assert np.abs(drawn - committed).mean() < 2.5


def test_the_film_has_no_seam(script):
    R, m, _ = script.motion(200)
    turned = [np.arccos(np.clip((np.trace(R[k - 1].T @ R[k]) - 1.0) / 2.0, -1.0, 1.0)) for k in range(200)]
    assert max(turned) < 0.4 and turned[0] == pytest.approx(turned[1], rel=0.05)  # from the last to the first, too
    assert np.linalg.norm(m[0] - m[-1]) < 1.1 * np.linalg.norm(np.diff(m, axis=0), axis=1).max()
    assert np.allclose(np.einsum("fij,fj->fi", R, m), (0.0, 0.0, 1.0), atol=1e-12)  # upright, of unit size
    assert (m[:, 1] > 0.9).any() and (m[:, 1] < -0.9).any()  # it turns over
