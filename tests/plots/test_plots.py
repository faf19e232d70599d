"""Pictures: the right content, nothing lost by drawing fewer rows, files whole, matplotlib's global state untouched."""

import contextlib
import sys
import warnings

import matplotlib
import numpy as np
import pytest
from matplotlib.image import imread

import polhode as ph
from cover import chosen, some
from each import each
from polhode.plots import dashboard as draw, style, work_precision
from polhode.plots.rows import envelope, extremes, fewest_wraps, scattered, steady_angles
from polhode.plots.shown import coastline
from polhode.plots.sphere_panels import inverse_inertia, level_curves
from polhode.trajectory.convergence import momentum_errors


def start(name):
    ready = ph.systems.problem(name)
    state = dict(ready.initial)
    if "rotation_vector" in state:
        state["attitude"] = ph.rotation.exp_quaternion(state.pop("rotation_vector"))
    return ready, state


@pytest.fixture(scope="module")
def body():
    ready, state = start("krysl_free_body")
    return ph.integrate(ready.build(), "trapm", step=0.125, t_end=20.0, settings={"units": "SI"}, **state)


@pytest.fixture(scope="module")
def top():
    ready, state = start("krysl_fast_top")
    return ph.integrate(ready.build(), "trapm", step=0.0025, t_end=2.5, **state)


@pytest.fixture(scope="module")
def point():
    return ph.integrate(
        ph.particle(2.0, stiffness=(1.0, 2.0, 3.5)), "trapm", step=0.05, t_end=10.0, position=(1, 0.2, 0.3),
        velocity=(0, 0.7, 0.2),
    )  # fmt: skip


@pytest.fixture(scope="module")
def drawn_body(body, tmp_path_factory):
    """Its dashboard, and the file."""
    path = tmp_path_factory.mktemp("drawn") / "new" / "body.png"
    return draw(body, path), path


def panel(figure, title):
    found = [axes for axes in figure.axes if title in axes.get_title(loc="left")]
    assert len(found) == 1, [axes.get_title(loc="left") for axes in figure.axes]
    return found[0]


def words(axes):
    return {text.get_text() for text in axes.texts}


def said(figure):
    return " ".join(text.get_text() for text in figure.texts)


# ------------------------------------------------------------------ content
def test_body_has_all_its_panels(body, drawn_body):
    figure, path = drawn_body
    assert "free body" in said(figure) and "trapm" in said(figure) and "step 0.125 s" in said(figure)
    energy = panel(figure, "Energy error")
    assert energy.get_xlabel() == "time (s)"
    np.testing.assert_array_equal(energy.lines[0].get_ydata(), body.energy_error.values)
    momenta = panel(figure, "spatial angular momentum")
    assert momenta.get_yscale() == "log" and {"spatial", "round-off"} <= words(momenta)
    attitude = panel(figure, "Attitude quaternion")
    assert set("wxyz") <= words(attitude) and len(attitude.lines) == 4
    for k, line in enumerate(attitude.lines):
        np.testing.assert_array_equal(line.get_ydata(), body.attitude.values[:, k])
    polhode = panel(figure, "Polhode")
    assert {"x", "y", "z", "start", "end"} <= words(polhode)
    assert panel(figure, "z axis in space")
    assert [one.name for one in path.parent.iterdir()] == ["body.png"]


def test_png_is_whole_and_not_blank(drawn_body):
    pixels = imread(drawn_body[1])
    assert pixels.shape[:2] == (900, 1200)
    for rows, columns in (
        (slice(110, 330), slice(80, 660)), (slice(380, 590), slice(80, 660)), (slice(640, 860), slice(80, 660)),
        (slice(100, 480), slice(760, 1190)), (slice(500, 880), slice(760, 1190)),
    ):  # fmt: skip
        assert pixels[rows, columns, :3].var() > 1e-3
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])[:, :3]
    assert edge.min() == 1.0, "something is cut off at the edge"


def ranges(axes):
    """Heights of the corners of what is shaded."""
    found = [path.vertices[:, 1] for one in axes.collections for path in one.get_paths()]
    return np.concatenate(found) if found else np.empty(0)


def test_top_shows_each_conserved_momentum_and_all_of_its_turning(top):
    figure = draw(top)
    momenta = panel(figure, "conserved momenta")
    assert {"vertical", "axial"} <= words(momenta)
    assert {"10⁻¹⁶"} <= {label.get_text() for label in momenta.get_yticklabels()}
    assert panel(figure, "Polhode").child_axes, "a small polhode is enlarged"
    long = ph.integrate(
        ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0), "trapm", step=0.0025, t_end=25.0, angular_velocity=(0, 0.1, 90),
    )  # fmt: skip
    shown = panel(ph.plots.figure(long, ["attitude"]), "Attitude quaternion")
    assert any("shaded: range" in text for text in words(shown))
    assert shown.get_xlim() == (0.0, 25.0) and max(line.get_xdata()[-1] for line in shown.lines) > 24.9
    assert ranges(shown).min() == pytest.approx(-1.0, abs=1e-3) and ranges(shown).max() == pytest.approx(1.0, abs=1e-3)
    tilt = panel(draw(long), "Nutation").lines[0]
    z = ph.rotation.rotate(long.attitude.values, (0, 0, 1))
    expected = np.interp(tilt.get_xdata(), long.time.values, np.degrees(np.arccos(np.clip(z[:, 2], -1, 1))))
    np.testing.assert_allclose(tilt.get_ydata(), expected, rtol=0, atol=1e-5)


def test_particle_has_orbit_and_phase_plane(point, tmp_path):
    figure = draw(point, tmp_path / "point.png")
    assert any(axes.name == "3d" for axes in figure.axes)
    phase = panel(figure, "Phase plane of x")
    assert phase.get_xlabel() == "position x (length)"
    np.testing.assert_array_equal(phase.lines[0].get_xdata(), point.position.values[:, 0])
    assert set("xyz") <= words(panel(figure, "Position in space"))
    assert "not conserved by this system" in words(panel(figure, "Angular momentum in space"))


@each(
    "work, title, note",
    [(True, "Energy change less work / energies so far", "largest"), (False, "Energy change", "kinetic energy only")],
)
def test_units_and_titles_of_what_is_not_conserved(work, title, note):
    body = ph.rigid_body((1.0, 1.7, 2.4), torque=lambda t, q, omega, p: (-0.1 * omega[0], 0.0, 0.02), work=work)
    ds = ph.integrate(body, "trapm", step=0.1, t_end=3.0, angular_velocity=(0.3, 0.5, 0.2), settings={"units": "SI"})
    figure = draw(ds)
    assert any(note in word for word in words(panel(figure, title)))
    assert panel(figure, "Angular momentum in space").get_ylabel() == "N m s"


@each("rows", some([1, 2, 3], 1))
def test_incomplete_runs_are_drawn(top, rows):
    part = top.isel(time=slice(0, rows)).assign_attrs(incomplete="step too large")
    figure = draw(part)
    figure.canvas.draw()
    assert "Incomplete run: step too large" in said(figure)
    assert panel(figure, "Energy error").lines[0].get_marker() == "o"


def test_odd_trajectories_are_drawn_without_a_warning(body, point):
    zero = body.copy(deep=True)
    zero.energy_error[:] = 0.0
    zero.angular_momentum_space[:] = zero.angular_momentum_space[0]
    zero.angular_momentum[:] = 0.0
    bad = body.copy(deep=True)
    bad.energy_error[-1], bad.angular_momentum_space[-1] = np.inf, np.nan
    explosion = body.copy(deep=True)
    explosion.energy_error[:] = 1e-9 * 10.0 ** (np.arange(len(body.time)) / 10)
    resting = point.copy(deep=True)
    resting.position[:], resting.momentum[:] = 0.0, 0.0
    drawn = [draw(ds) for ds in (zero, explosion.isel(time=slice(None, None, -1)), bad, resting)]
    for picture in drawn:
        picture.canvas.draw()
    assert "exactly zero" in words(panel(drawn[0], "Energy"))
    assert panel(drawn[0], "Energy").get_ylim()[1] < 1e-12
    assert panel(drawn[1], "Energy").get_yscale() == "symlog"
    times = panel(drawn[1], "Energy").lines[0].get_xdata()
    assert (np.diff(times) > 0).all()


def test_several_bodies_show_the_first_and_the_sum(body):
    single = ("attitude", "angular_momentum", "angular_velocity", "angular_momentum_space")
    both = body.drop_vars(single)
    for name in single:
        twice = np.stack([body[name].values, body[name].values * (1.0 if name == "attitude" else 2.0)], axis=1)
        both[name] = (("time", "body", body[name].dims[-1]), twice, body[name].attrs)
    figure = draw(both)
    assert ", body 1" in panel(figure, "Polhode").get_title(loc="left")
    polhode = momentum_errors(both)["angular_momentum_space"][0]
    np.testing.assert_allclose(polhode, momentum_errors(body)["angular_momentum_space"][0], rtol=0, atol=1e-15)


# ------------------------------------------------------------------ refusals and files
def test_what_is_refused(body, tmp_path):
    with pytest.raises(ph.errors.InvalidInput, match="no trajectory"):
        draw(body.drop_vars("energy_error"))
    with pytest.raises(ph.errors.InvalidInput, match="no rows"):
        draw(body.isel(time=slice(0, 0)))
    with pytest.raises(ph.errors.InvalidInput, match=r"\.png, \.pdf or \.svg"):
        draw(body, tmp_path / "body.jpg")
    with pytest.raises(ph.errors.InvalidInput, match="no comparison"):
        work_precision(body)
    (tmp_path / "file").write_text("")
    with pytest.raises(ph.errors.FileProblem, match="cannot write"):
        ph.plots.figure(body, "energy", path=tmp_path / "file" / "body.png")


@contextlib.contextmanager
def files_of_at_most(size):
    """Writes beyond so many bytes of a file fail, as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@each("kind", chosen(["png", "pdf", "svg", "gif"], ["svg", "gif"]))
def test_a_failed_write_leaves_the_old_picture(body, tmp_path, kind):
    path = tmp_path / f"body.{kind}"

    def write():
        if kind == "gif":
            ph.plots.animate(body, path, seconds=0.2, fps=10, size=(380, 234))
        else:
            ph.plots.figure(body, "attitude", path=path)

    write()
    old = path.read_bytes()
    with files_of_at_most(4096), pytest.raises(ph.errors.FileProblem, match=r"cannot write .*body\."):
        write()
    assert path.read_bytes() == old and [item.name for item in tmp_path.iterdir()] == [path.name]


def test_pyplot_and_settings_stay_as_they_are(body, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)  # who imports it fails
    before = dict(matplotlib.rcParams)
    draw(body)
    assert dict(matplotlib.rcParams) == before


# ------------------------------------------------------------------ fewer rows
def test_layouts_of_the_users_settings_move_no_panel(body, drawn_body):
    plain = [axes.get_position().bounds for axes in drawn_body[0].axes]
    with matplotlib.rc_context({"figure.constrained_layout.use": True}):
        picture = draw(body)
        picture.canvas.draw()
        assert [axes.get_position().bounds for axes in picture.axes] == plain


def test_extremes_keeps_every_spike():
    rng = np.random.default_rng(1)
    values = rng.normal(size=123_457)
    for at, spike in ((17, 90.0), (60_000, -80.0), (123_455, 70.0)):
        values[at] = spike
    chosen = extremes(values, bins=500)
    assert len(chosen) <= 1002 and (np.diff(chosen) > 0).all()
    assert {0, 17, 60_000, 123_455, 123_456} <= set(chosen.tolist())
    size = -(-len(values) // 500)
    for first in range(0, len(values), size):
        inside = values[first : first + size]
        kept = values[chosen[(chosen >= first) & (chosen < first + size)]]
        assert kept.max() == inside.max() and kept.min() == inside.min()


def test_extremes_leaves_short_series_and_passes_over_nan():
    np.testing.assert_array_equal(extremes(np.arange(100.0)), np.arange(100))
    values = np.sin(np.arange(100_000.0))
    values[500] = np.nan
    values[700] = np.inf
    chosen = extremes(values, bins=100)
    assert 500 not in chosen and 700 not in chosen
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        extremes(np.full(100_000, np.nan))


def test_a_spike_in_a_long_run_is_drawn(body):
    n = 200_000
    times = np.arange(n) * 0.1
    long = body.isel(time=np.zeros(n, dtype=int)).assign_coords(time=("time", times, body.time.attrs))
    error = 1e-6 * np.sin(times)
    error[123_457] = 3e-5
    long["energy_error"] = ("time", error, body.energy_error.attrs)
    long["angular_momentum_space"][54_321, 0] += 1e-3
    figure = draw(long)
    axes = panel(figure, "Energy")
    assert ranges(axes).max() == 3e-5 and sum(len(line.get_ydata()) for line in axes.lines) < 6000
    assert "shaded: range of fast swings" in said(figure)
    size = np.linalg.norm(body.angular_momentum_space[0])
    momenta = panel(figure, "spatial angular momentum").lines[0]
    assert momenta.get_ydata().max() == pytest.approx(1e-3 / size, rel=1e-9) and len(momenta.get_ydata()) < 3000


def test_scattered_rows_hit_no_period():
    chosen = scattered(1_000_000, 5000)
    assert chosen[0] == 0 and chosen[-1] == 999_999 and len(chosen) <= 5000
    for period in (100, 200, 400, 1000):
        phase = np.bincount(chosen % period * 10 // period, minlength=10)
        assert phase.min() > 0.8 * phase.mean()


def test_an_envelope_has_the_spike_of_a_million_rows_and_leaves_lines_what_they_can_show():
    n = 1_000_000
    t = np.linspace(0.0, 1000.0, n)
    fast = np.where(t < 500.0, np.sin(40.0 * t), np.sin(0.1 * t))
    fast[123_456], fast[777_777] = 7.0, np.nan
    at, low, mean, high, busy = envelope(t, fast, 400)
    assert busy[: n * 49 // 100].all() and not busy[n * 53 // 100 :].any()
    shaded = np.isfinite(low)
    assert np.nanmax(high) == 7.0 and at[np.nanargmax(high)] == pytest.approx(t[123_456], abs=2.5 * 4)
    assert (
        np.nanmin(low) < -0.9999 and (high[shaded][:-12] > 0.999).all() and (np.abs(mean[shaded][8:-20]) < 0.03).all()
    )
    assert at[shaded].max() < 530.0, "what follows is a line"
    slow = np.cos(0.1 * t) + 1e-9 * np.random.default_rng(0).normal(size=n)
    assert not envelope(t, slow, 400)[-1].any(), "round-off is no motion"
    assert not envelope(t, fast, 400, unseen=20.0)[-1].any(), "nor what no pixel of the panel shows"
    assert not envelope(t[:2], fast[:2], 400)[-1].any() and not envelope(t[:1], fast[:1], 400)[-1].any()
    for rate in (0.55, 0.628, 0.7):  # with about as many turns as half the columns: one or the other, not shreds
        swing = np.sin(rate * t[::5]) + 0.4 * np.sin(2.0 * rate * t[::5] + 1.0)
        assert np.count_nonzero(np.diff(envelope(t[::5], swing, 400)[-1])) <= 1
    held = np.repeat([0.0, 1.0], n // 2) + 1e-16 * np.random.default_rng(1).normal(size=n)
    assert not envelope(t, held, 400)[-1].any()


def test_angles_are_cut_at_their_wraps_and_seldom():
    turning = np.linspace(0.0, 12.0 * np.pi, 2000)
    about_half = np.pi + 0.2 * np.sin(turning)
    angles = np.column_stack([np.angle(np.exp(1j * turning)), np.angle(np.exp(1j * about_half)), 0.3 * np.sin(turning)])
    found = fewest_wraps(angles)
    np.testing.assert_array_equal(found[:, [0, 2]], angles[:, [0, 2]])
    np.testing.assert_allclose(found[:, 1], about_half, rtol=0, atol=1e-12)


def test_angles_of_a_craft_that_pitches_over_do_not_flip():
    """Of another sequence than the usual where pitch passes 90 degrees; of every sequence near its lock the axes'."""
    pitch = np.linspace(0.0, 4.0 * np.pi, 801)
    nods = ph.rotation.exp_quaternion(np.outer(0.3 * np.sin(pitch), (0, 1, 0)))
    names, angles, note = steady_angles(nods)
    assert names == ("roll", "pitch", "yaw") and not note
    np.testing.assert_allclose(angles[:, 1], 0.3 * np.sin(pitch), rtol=0, atol=1e-14)
    rolled = (np.cos(0.1), np.sin(0.1), 0.0, 0.0)
    over = ph.rotation.multiply(ph.rotation.exp_quaternion(np.outer(pitch, (0, 1, 0))), rolled)
    over[5] = np.nan
    names, angles, note = steady_angles(over)
    assert names == ("roll", "pitch", "yaw") and note == "about y, then x, then z" and np.isnan(angles[5]).all()
    known = np.arange(801) != 5
    np.testing.assert_allclose(angles[known][:, [0, 2]], [[0.2, 0.0]] * 800, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.exp(1j * (angles[known, 1] - pitch[known])), 1.0, rtol=0, atol=1e-13)
    everywhere = ph.rotation.normalize(np.random.default_rng(2).normal(size=(4000, 4)))
    names, angles, note = steady_angles(everywhere)
    assert names == ("x", "y", "z") and note == "each axis of the body to that of LVLH"
    between = np.arccos(np.einsum("kii->ki", ph.rotation.matrix_from_quaternion(everywhere)))
    np.testing.assert_allclose(angles, between, rtol=0, atol=1e-7)


def test_the_coasts_are_those_of_the_earth():
    lon, lat = coastline().T
    known = np.isfinite(lon)
    assert known.sum() > 3000 and (known == np.isfinite(lat)).all() and not known.all()
    assert np.abs(lon[known]).max() <= 180.0 and np.abs(lat[known]).max() <= 90.0
    for place in ((18.4, -34.1), (-9.4, 38.7), (-70.0, 12.2), (153.5, -28.0)):  # four capes
        assert np.nanmin(np.hypot(lon - place[0], lat - place[1])) < 1.5


def test_labels_are_apart_in_order_and_inside():
    for heights in (
        [0.5, 0.5, 0.5, 0.5],
        [0.0, 0.01, 0.02],
        [0.98, 0.99, 1.0],
        [0.1, 0.4, 0.41, 0.9],
        [-3.0, 0.5, 9.0],
    ):
        placed = style.spread(heights, 0.08)
        assert (np.diff(placed) > 0.08 - 1e-12).all() and placed[0] >= 0.0 and placed[-1] <= 1.0
    assert style.spread([0.1, 0.5], 0.08) == pytest.approx([0.1, 0.5])
    assert np.mean(style.spread([0.5, 0.5, 0.5], 0.1)) == pytest.approx(0.5)


def test_numbers_and_units_for_people():
    assert style.scientific(3.21e-7) == "3.2×10⁻⁷" and style.scientific(-0.0865) == "−0.0865"
    assert style.scientific(-1.5e-7, 3) == "−1.5×10⁻⁷" and style.scientific(0.0) == "0"
    assert [style.decade(x) for x in (1e-16, 1.0, 2e-4, 1e23)] == ["10⁻¹⁶", "10⁰", "2.0×10⁻⁴", "10²³"]
    assert style.pretty_units("kg m2 s-1") == "kg m² s⁻¹" and style.with_units("time", "time") == "time"


# ------------------------------------------------------------------ numbers behind the pictures
def test_momentum_errors_against_plain_arithmetic(top):
    errors = momentum_errors(top)
    assert set(errors) == {"vertical_angular_momentum", "axial_angular_momentum"}
    axial = top.angular_momentum.values[:, 2]
    np.testing.assert_allclose(
        errors["axial_angular_momentum"][0], abs(axial - axial[0]) / abs(axial[0]), rtol=0, atol=1e-16
    )


def test_inertia_and_level_curves_from_the_trajectory(body):
    J = inverse_inertia(body.angular_momentum.values, body.angular_velocity.values)
    np.testing.assert_allclose(np.linalg.eigvalsh(J), sorted(1 / np.array([0.9144, 1.098, 1.66])), rtol=1e-10)
    curves = level_curves(J)
    assert len(curves) == 2 + 2 * 2 * 3
    for curve in curves:
        np.testing.assert_allclose(np.linalg.norm(curve, axis=1), 1.0, rtol=0, atol=1e-12)
        energy = np.einsum("ij,jk,ik->i", curve, J, curve)
        assert np.ptp(energy) < 1e-12
    assert level_curves(np.eye(3)) == []
    assert inverse_inertia(np.ones((10, 3)), np.ones((10, 3))) is None


# ------------------------------------------------------------------ molecules
@pytest.fixture(scope="module")
def liquid():
    system = ph.dipoles(27, attraction=True, box=4.5, cutoff=2.0)
    state = ph.initial.cubic(3, 1.5, 0.05, seed=1).state | ph.initial.random_rotations(27, 1)
    state |= ph.initial.thermal(system, 1.0, 1)
    return ph.integrate(system, ph.methods.baoab(temperature=1.0, friction=1.0), step=0.005, steps=40, **state)


def test_molecules_in_a_bath(liquid):
    figure = draw(liquid)
    axes = panel(figure, "Energies per body")
    for line, name in zip(axes.get_lines(), ("kinetic", "potential"), strict=True):
        np.testing.assert_allclose(line.get_ydata(), liquid[f"{name}_energy"] / 27, rtol=1e-14)
    change = panel(figure, "Energy with the bath").get_lines()[0].get_ydata()
    bath = liquid.conserved_energy
    np.testing.assert_allclose(change, (bath - bath[0]) / liquid.kinetic_energy.mean(), rtol=0, atol=1e-15)
    assert panel(figure, "Temperatures").get_ylabel() == "energy / boltzmann"
    assert not any("Angular momentum" in axes.get_title(loc="left") for axes in figure.axes)
