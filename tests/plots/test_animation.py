"""Films: what they show is what the rows say, they are whole or not there, and they are quick and small."""

import os
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import polhode as ph
from cover import some
from each import each
from polhode.cli import group
from polhode.errors import FileProblem, InvalidInput
from polhode.plots import animation, moving_panels, solids
from polhode.plots.animation import SIZE
from polhode.plots.film_frames import FASTEST, attitudes, frames_of, positions


@pytest.fixture(scope="module")
def body():
    return ph.integrate(ph.free_body((1, 2, 3)), step=0.05, t_end=20.0, angular_momentum=(0.01, 2, 0.01))


@pytest.fixture(scope="module")
def top():
    system = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    return ph.integrate(system, "rkn6_14a", step=1e-2, t_end=20.0, angular_velocity=(0, 0, 50),
                        attitude=ph.rotation.exp_quaternion((0.3, 0, 0)))  # fmt: skip


@pytest.fixture(scope="module")
def craft():
    earth = ph.planets.EARTH
    system = ph.spacecraft(inertia=(90, 70, 60), mu=earth.mu, mass=120, forces=[ph.forces.zonal(**earth.zonal)])
    return ph.integrate(system, step=60, t_end=12000, position=(7e6, 0, 0), velocity=(0, 5336, 5336),
                        angular_velocity=(1e-3, 2e-3, 0), settings={"units": "SI"})  # fmt: skip


@pytest.fixture(scope="module")
def water():
    system = ph.rigid_water(64, density=997)
    start = ph.initial.cubic(4, spacing=system.box[0] / 4).state | ph.initial.random_rotations(64, seed=1)
    bath = ph.methods.baoab(temperature=300, friction=5, seed=2)
    return ph.integrate(system, bath, step=0.002, t_end=0.1, every=5, **start)


def drawn(path):
    """Number of frames, size, and the frames as arrays."""
    with Image.open(path) as film:
        frames = []
        for k in range(film.n_frames):
            film.seek(k)
            frames.append(np.asarray(film.convert("RGB")).astype(int))
        return frames, film.info


# ------------------------------------------------------------------ files
@each("suffix", some([".gif", ".png", ".apng"], 1))
def test_a_film_is_an_animated_picture_that_loops(body, tmp_path, suffix):
    film = ph.plots.animate(body, tmp_path / f"body{suffix}", seconds=0.5, fps=12, size=(380, 234))
    frames, info = drawn(film.path)
    assert len(frames) == film.frames == 6 and film.seconds == 0.5
    assert frames[0].shape == (234, 380, 3) and info["loop"] == 0
    assert all((a != b).any(axis=-1).sum() > 100 for a, b in pairwise(frames))
    assert all((frame[0, 0] == 255).all() and (frame[-1, -1] == 255).all() for frame in frames)  # white, opaque
    assert str(film) == os.fspath(film) == str(tmp_path / f"body{suffix}")


def test_differences_between_frames_add_up_to_the_frames(body, tmp_path):
    whole, parts = tmp_path / "a.gif", tmp_path / "b.gif"
    film = {"seconds": 0.3, "fps": 10, "size": (380, 234)}
    ph.plots.animate(body, whole, **film)
    seen = drawn(whole)[0]
    ph.plots.animate(body, parts, **film)
    assert whole.read_bytes() == parts.read_bytes()
    ph.plots.animate(body, tmp_path / "c.apng", **film)
    other, info = drawn(tmp_path / "c.apng")
    assert all((a == b).all() for a, b in zip(seen, other, strict=True)) and info["loop"] == 0


@pytest.mark.skipif(not animation.ffmpeg(), reason="no ffmpeg")
@each("suffix", [".mp4", ".webm"])
def test_a_video_is_written_by_ffmpeg(body, tmp_path, suffix):
    film = ph.plots.animate(body, tmp_path / f"body{suffix}", seconds=0.4, fps=10, size=(380, 234))
    data = film.path.read_bytes()
    assert (data[4:8] == b"ftyp") if suffix == ".mp4" else data.startswith(b"\x1a\x45\xdf\xa3")
    assert "<video" in film._repr_html_()


def test_without_ffmpeg_the_sentence_says_what_to_do(body, tmp_path, monkeypatch):
    monkeypatch.setattr(animation, "ffmpeg", lambda: False)
    with pytest.raises(InvalidInput, match=r"needs ffmpeg, which is not installed: install it .* or write a \.gif"):
        ph.plots.animate(body, tmp_path / "body.mp4")


def test_what_was_there_stays_until_the_film_is_complete(body, tmp_path):
    path = tmp_path / "body.gif"
    path.write_text("before")

    def stop(progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ph.plots.animate(body, path, seconds=0.5, fps=10, size=(380, 234), progress=stop)
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["body.gif"]


@pytest.mark.skipif(not animation.ffmpeg(), reason="no ffmpeg")
def test_ctrl_c_while_ffmpeg_writes(body, tmp_path):
    def stop(progress):
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ph.plots.animate(body, tmp_path / "body.mp4", seconds=0.5, fps=10, size=(380, 234), progress=stop)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written(body, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileProblem, match="cannot write"):
        ph.plots.animate(body, tmp_path / "file" / "body.gif", seconds=0.2, fps=10)


@pytest.mark.full
def test_a_film_of_150_frames_is_small(top, tmp_path):
    film = ph.plots.animate(top, tmp_path / "top.gif", seconds=5)
    assert film.frames == 150 and film.path.stat().st_size < 1_500_000


# ------------------------------------------------------------------ frames
def test_frames_lie_between_rows_and_turn_evenly(body):
    frames = frames_of(body, 6.0, 30, None, 1000)
    assert len(frames.times) == 180 and frames.times[0] == 0.0 and frames.times[-1] == pytest.approx(20.0)
    R = attitudes(body, frames)
    exact, _ = ph.free_motion((1, 2, 3), (0.01, 2, 0.01), frames.times)
    between = ph.rotation.angle_between(ph.rotation.quaternion_from_matrix(R), exact)
    assert np.max(between) < 2e-3  # of a turn of 0.05 rad from row to row
    assert not frames.notes


def test_a_body_that_turns_fast_is_shown_from_the_beginning(top):
    frames = frames_of(top, None, 30, None, 1000)
    turned = 50.0 * np.diff(frames.times)
    assert turned.max() <= 1.05 * FASTEST and "up to t = 1.6" in frames.notes[0]
    shown = frames_of(top, None, 30, 20.0 / 3.0, 1000)
    assert len(shown.times) == 90 and shown.times[-1] == pytest.approx(20.0)
    assert "degrees from frame to frame" in shown.notes[0]


def test_coarse_rows_are_shown_as_they_are_and_the_viewer_is_told(top):
    rows = top.isel(time=slice(None, None, 10))
    frames = frames_of(rows, None, 30, None, 1000)
    assert "rows are coarse" in frames.notes[0] and "nearest row" in frames.notes[0]
    q = ph.rotation.quaternion_from_matrix(attitudes(rows, frames))
    near = rows.attitude.values[frames.near]
    assert np.max(ph.rotation.angle_between(q, near)) < 1e-7


def test_an_orbit_is_a_smooth_curve_between_rows(craft):
    coarse = craft.isel(time=slice(None, None, 4))
    frames = frames_of(coarse, 6.0, 30, None, 1000)
    r = positions(coarse, frames)[:, 0]
    fine = np.array([np.interp(frames.times, craft.time, craft.position[:, k]) for k in range(3)]).T
    assert np.linalg.norm(r - fine, axis=1).max() < 3e-3 * 7e6


def test_a_run_backwards_is_shown_in_its_order(tmp_path):
    ds = ph.integrate(ph.free_body((1, 2, 3)), step=0.05, t_end=-2.0, angular_momentum=(0.01, 2, 0.01))
    frames = frames_of(ds, 1.0, 10, None, 100)
    assert frames.times[0] == 0.0 and frames.times[-1] == pytest.approx(-2.0) and "backwards" in frames.notes[0]
    assert ph.plots.animate(ds, tmp_path / "back.gif", seconds=0.3, fps=10, size=(380, 234)).frames == 3


def test_rows_that_are_not_finite_end_the_film(body):
    broken = body.copy(deep=True)
    broken.attitude[100:] = np.nan
    frames = frames_of(broken, 6.0, 30, None, 1000)
    assert frames.times[-1] == pytest.approx(4.95) and "not finite" in frames.notes[0]
    broken.attitude[1:] = np.nan
    with pytest.raises(InvalidInput, match="row 1 of this trajectory is not finite"):
        frames_of(broken, 1.0, 10, None, 100)


@each(("options", "words"), [
    ({"seconds": 0}, "seconds is 0"), ({"speed": -1.0}, "speed is -1"), ({"fps": 60}, "fps"),
    ({"size": (300, 201)}, "even"), ({"size": 3}, "width and height"), ({"panels": "body,orbit"}, "needs position"),
    ({"panels": "bodies"}, "the panels of a film are"), ({"panels": ["body", "body"]}, "different"),
    ({"frame": "moon"}, "frame"), ({"shape": "sphere"}, "shape"), ({"seconds": 1e6}, "frames"),
])  # fmt: skip
def test_wrong_options_are_refused_in_one_sentence(body, tmp_path, options, words):
    with pytest.raises(InvalidInput, match=words):
        ph.plots.animate(body, tmp_path / "body.gif", **options)
    assert os.listdir(tmp_path) == []


def test_one_row_and_other_datasets_are_refused(body, tmp_path):
    with pytest.raises(InvalidInput, match="one row: nothing moves"):
        ph.plots.animate(body.isel(time=[0]), tmp_path / "body.gif")
    with pytest.raises(InvalidInput, match="energy_error"):
        ph.plots.animate(body.drop_vars("energy_error"), tmp_path / "body.gif")
    with pytest.raises(InvalidInput, match=r"must end in \.gif"):
        ph.plots.animate(body, tmp_path / "body.avi")


# ------------------------------------------------------------------ panels
def test_panels_suit_the_system(body, top, craft, water):
    assert moving_panels.usual_panels(body) == moving_panels.usual_panels(top) == ("body", "polhode", "energy")
    assert moving_panels.usual_panels(craft) == ("orbit", "body", "energy")
    assert moving_panels.usual_panels(water) == ("cell", "energy")


@each("which", ["craft", "water", "bodies", "point"])
def test_every_kind_of_system_can_be_filmed(which, request, tmp_path):
    if which == "bodies":
        ds = ph.integrate(ph.gravitating_bodies(mass=(1.0, 1e-3)), step=0.05, t_end=2.0,
                          position=[[0, 0, 0], [1, 0, 0]], velocity=[[0, 0, 0], [0, 1, 0]])  # fmt: skip
    elif which == "point":
        ds = ph.integrate(ph.particle(2.0, gravity=(0, 0, -9.81)), step=0.05, t_end=1.0, velocity=(1, 0, 5))
    else:
        ds = request.getfixturevalue(which)
    film = ph.plots.animate(ds, tmp_path / "film.gif", seconds=0.2, fps=10)
    frames, _ = drawn(film.path)
    assert (frames[0] != frames[-1]).any(axis=-1).sum() > 50
    panels = len(moving_panels.usual_panels(ds)) - 1
    assert frames[0].shape == (SIZE[panels][1], SIZE[panels][0], 3)


def test_from_the_body_the_body_rests(body, tmp_path):
    film = ph.plots.animate(
        body, tmp_path / "a.gif", seconds=0.3, fps=10, panels="body", frame="body", shape="ellipsoid"
    )
    assert drawn(film.path)[0][0].shape == (500, 560, 3)


@each("solid", [solids.box((1, 2, 3)), solids.ellipsoid((1, 2, 3)), solids.cone((0, 0, 1), 2.0, 1.0)])
def test_solids_are_convex_and_closed(solid):
    heights = [float(face[0] @ normal) for face, normal in zip(solid.faces, solid.normals, strict=True)]
    corners = np.concatenate(solid.faces)
    for face, normal, height in zip(solid.faces, solid.normals, heights, strict=True):
        assert np.allclose(face @ normal, height, atol=0.02)  # flat
        assert (corners @ normal <= height + 0.05).all()  # all others behind it
    areas = np.array([0.5 * np.cross(face - face[0], np.roll(face - face[0], -1, axis=0)).sum(axis=0)
                      for face in solid.faces])  # fmt: skip
    outward = np.sign(np.einsum("ij,ij->i", areas, solid.normals))[:, None] * areas
    assert np.abs(outward.sum(axis=0)).max() < 0.02


def test_sides_have_the_moments():
    a, b, c = solids.sides((2.0, 5.0, 6.0))
    moments = np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    assert moments / moments[0] * 2.0 == pytest.approx((2.0, 5.0, 6.0))


# ------------------------------------------------------------------ command line and notebooks
def test_the_command_writes_a_film_and_says_what_to_know(top, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ph.save(top, "top.nc")
    done = CliRunner().invoke(group, ["animate", "top.nc", "--fps", "5", "--size", "380x236"])
    assert done.exit_code == 0, done.output
    assert "note: the film shows the run up to t = 0.27" in done.stderr and "written: top.gif, 30 frames" in done.stderr
    assert drawn("top.gif")[0][0].shape == (236, 380, 3)
    wrong = CliRunner().invoke(group, ["animate", "top.nc", "x.gif", "--size", "big"])
    assert isinstance(wrong.exception, InvalidInput) and "such as 960x600" in str(wrong.exception)
    itself = CliRunner().invoke(group, ["animate", "top.nc", "top.nc"])
    assert "is the trajectory itself" in str(itself.exception)


def test_a_notebook_shows_the_film(body, tmp_path):
    film = ph.plots.animate(body, tmp_path / "a<b.gif", seconds=0.2, fps=10, size=(380, 234))
    assert film._repr_html_().startswith('<img src="data:image/gif;base64,')
    film.path.unlink()
    assert "a&lt;b.gif</code> is no longer there" in film._repr_html_()


@each(("inertia", "momentum"), [((1, 2, 3), (0, 0, 0)), ((1, 1, 1), (0, 1, 0)), ((1, 1, 2), (0.3, 1, 0))])
def test_bodies_at_rest_and_round_ones_are_drawn(tmp_path, inertia, momentum):
    ds = ph.integrate(ph.free_body(inertia), step=0.1, t_end=1.0, angular_momentum=momentum)
    assert ph.plots.animate(ds, tmp_path / "a.gif", seconds=0.2, fps=10, size=(380, 234)).frames == 2


def test_what_does_not_move_and_what_moves_along_a_line_are_drawn(tmp_path):
    for position in ((0, 0, 0), (1, 0, 0)):
        ds = ph.integrate(ph.particle(1.0, stiffness=1.0), step=0.1, t_end=3.0, position=position, velocity=(0, 0, 0))
        ds.energy_error[3] = np.nan
        assert ph.plots.animate(ds, tmp_path / "a.gif", seconds=0.2, fps=10, size=(280, 250)).frames == 2


def test_an_orbit_fills_its_panel(tmp_path):
    mu = ph.planets.EARTH.mu
    ds = ph.integrate(ph.orbit(mu=mu), step=60, t_end=43200, position=(6.7e6, 0, 0), velocity=(0, 4.8e3, 8.9e3),
                      settings={"units": "SI"})  # fmt: skip
    frames, _ = drawn(ph.plots.animate(ds, tmp_path / "a.gif", seconds=0.3, fps=10, panels="orbit").path)
    rows, columns = np.nonzero((frames[-1][60:460] != 255).any(axis=-1))
    assert np.ptp(rows) > 300 or np.ptp(columns) > 400
