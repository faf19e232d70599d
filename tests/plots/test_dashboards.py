"""Dashboards know their system; nothing overlaps or leaves the picture; no line where rows do not resolve motion."""

import warnings
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from cover import some
from each import each
from polhode.cli import group
from polhode.errors import InvalidInput
from polhode.plots import dashboard, figure
from polhode.plots.axes import plain_ticks
from polhode.plots.orbit_panels import COAST
from polhode.plots.panels import PANELS, kind_of, offered, usual
from polhode.plots.rows import filled, slopes_of, unresolved
from polhode.plots.shown import Shown, in_units
from polhode.plots.sphere_panels import inverse_inertia, polhode_loop
from polhode.trajectory.frames import shadow
from text_boxes import misplaced

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORTER = {"cubesat": {"run.t_end_d": 0.03}, "dipole-liquid": {"run.t_end": 1.0}}
SINGLE = sorted(path.stem for path in EXAMPLES.glob("*.toml") if path.stem not in ("many-tops", "water"))
MU = ph.planets.EARTH.mu
SI = {"units": "SI"}
_kept = {}


def example(name):
    """The trajectory of an example, run once, the longest ones for a shorter time."""
    if name not in _kept:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path, changes = EXAMPLES / f"{name}.toml", SHORTER.get(name)
            _kept[name] = ph.runs.read_scenario(path, allow_code=True, changes=changes).integrate()
    return _kept[name]


@pytest.fixture(scope="module")
def water():
    system = ph.rigid_water(27, "tip3p", box=0.95, cutoff=0.45)
    state = ph.initial.cubic(3, 0.31, seed=1).state | ph.initial.random_rotations(27, 1)
    state |= ph.initial.thermal(system, 300.0, 1)
    return ph.integrate(system, ph.methods.baoab(temperature=300.0, friction=1.0), step=0.001, steps=30, **state)


@pytest.fixture(scope="module")
def drawn_water(water):
    return dashboard(water)


@pytest.fixture(scope="module")
def craft():
    return example("gravity-gradient-satellite")


@pytest.fixture(scope="module")
def drawn_craft(craft):
    return dashboard(craft)


@pytest.fixture(scope="module")
def agile():
    """A spacecraft with gyros and thrusters in pulses."""
    gyros = ph.control_moment_gyros([(0, 0, 1), (0, 1, 0)], [(1, 0, 0), (1, 0, 0)], 2.0, command=(0.02, -0.01))
    jets = ph.systems.pulsed_thrusters(
        0.5, [(1, 0, 0), (-1, 0, 0)], 10.0, positions=[(0, 1, 0)] * 2, command=(0.3, 0.2)
    )
    system = ph.spacecraft((30, 35, 40), ph.planets.EARTH.mu, 100.0, gyros=gyros, pulsed_thrusters=jets)
    return ph.integrate(system, step=10.0, t_end=6000.0, position=(7e6, 0, 0), velocity=(0, 5300, 5300),
                        settings={"units": "SI"})  # fmt: skip


def point(*, position, velocity, **system):
    return ph.integrate(ph.particle(2.0, **system), "trapm", step=0.05, steps=200, position=position, velocity=velocity)


def titles(picture):
    return [axes.get_title(loc="left") for axes in picture.axes]


def axes_of(picture, words):
    found = [axes for axes in picture.axes if words in axes.get_title(loc="left")]
    assert len(found) == 1, titles(picture)
    return found[0]


def said(axes):
    return " ".join(text.get_text() for text in axes.texts)


# ------------------------------------------------------------------ places
@each("name", some(SINGLE, 2))
def test_texts_of_examples_are_apart_and_inside(name):
    assert misplaced(dashboard(example(name))) == []


def test_texts_of_gyros_and_thrusters_are_apart_and_inside(agile):
    picture = dashboard(agile)
    assert misplaced(picture) == []
    assert {"Angle of each gimbal", "Time of thrust of each thruster so far"} <= set(titles(picture))


def test_texts_of_water_are_apart_and_inside(drawn_water):
    assert misplaced(drawn_water) == []


@each(("name", "size"), some([
    *product(["outer-planets", "gravity-gradient-satellite", "leo-decay", "fast-top", "detumble"], ["page", "column"])
], 2))  # fmt: skip
def test_texts_of_figures_for_papers_are_apart_and_inside(name, size):
    ds = example(name)
    picture = figure(ds, [panel.name for panel in offered(Shown(ds))], size)
    assert picture.get_figwidth() == {"page": 7.0, "column": 3.4}[size]
    assert misplaced(picture) == []


@pytest.mark.parametrize("rows", some([2, 1, 3], 1))
def test_few_rows_of_all_kinds_are_drawn(rows, craft, water):
    drawn = set()
    for ds in (craft, water, example("outer-planets"), example("leo-decay")):
        part = ds.isel(time=slice(0, rows))
        panels = [panel.name for panel in offered(Shown(part)) if panel.name not in drawn]
        assert misplaced(figure(part, panels)) == []
        drawn.update(panels)


def test_texts_of_several_craft_and_of_two_bodies_are_apart_and_inside():
    craft = ph.spacecraft([(10, 11, 12), (5, 6, 7)], MU, (100.0, 50.0))
    r, v = 7.0e6, np.sqrt(MU / 7.0e6)
    ds = ph.integrate(craft, step=60.0, steps=100, position=[(r, 0, 0), (0, r, 0)], settings=SI,
                      velocity=[(0, 0.8 * v, 0.6 * v), (-v, 0, 0)], angular_velocity=[(0, 0, 0.001)] * 2)  # fmt: skip
    picture = dashboard(ds)
    assert misplaced(picture) == [] and axes_of(picture, "Orbits about the Earth")
    eccentricity = axes_of(picture, "Eccentricity")
    assert all((line.get_ydata() == 0.0).all() for line in eccentricity.lines), "a circle, not its round-off"
    assert misplaced(dashboard(ds.isel(time=slice(None, None, -1)))) == []
    two = ph.integrate(ph.gravitating_bodies(mu=(1.0, 0.1)), "verlet", step=0.05, steps=300,
                       position=[(0, 0, 0), (1, 0, 0)], velocity=[(0, -0.1, 0), (0, 1, 0.1)])  # fmt: skip
    assert misplaced(figure(two, "system")) == []


# ------------------------------------------------------------------ what each system shows
@each(
    "name, kind",
    [
        ("gravity-gradient-satellite", "spacecraft"), ("leo-decay", "an orbit"), ("fast-top", "a top"),
        ("outer-planets", "bodies that attract each other"), ("free-body", "a rigid body"), ("dipoles", "molecules"),
    ],
)  # fmt: skip
def test_kinds(name, kind):
    assert kind_of(Shown(example(name))).name == kind


def test_spacecraft(craft, drawn_craft):
    picture = drawn_craft
    angles = axes_of(picture, "LVLH angles")
    assert {"roll", "pitch", "yaw"} <= {text.get_text() for text in angles.texts}
    pitch = angles.lines[1].get_ydata()
    assert pitch[0] == pytest.approx(10.0, abs=1e-9) and 10.0 < abs(pitch).max() < 12.0
    assert angles.get_xlabel() == "time (h)" and angles.get_xlim() == (0.0, 24.0)
    rates = axes_of(picture, "Body rates")
    assert rates.get_ylabel() == "deg s⁻¹"
    np.testing.assert_allclose(rates.lines[0].get_ydata(), np.degrees(craft.angular_velocity[:, 0]), rtol=1e-14)
    np.testing.assert_array_equal(axes_of(picture, "Attitude energy").lines[0].get_ydata(), craft.attitude_energy)
    spin = axes_of(picture, "Spin")
    np.testing.assert_array_equal(spin.lines[2].get_ydata(), craft.spin[:, 2])
    assert spin.lines[2].get_ydata().max() < 1.0, "not the orbit's 10^12"
    assert "start 621.8637 km; above 6,378.14 km" in said(axes_of(picture, "Altitude"))
    assert axes_of(picture, "Semi-major axis").get_ylabel() == "km"
    orbit = axes_of(picture, "Orbit about the Earth")
    globe = next(patch for patch in orbit.patches if hasattr(patch, "radius"))
    assert globe.radius == ph.planets.EARTH.radius and "centre to scale" in said(orbit)
    low, high = orbit.get_xlim()
    assert low < -7.0e6 and high > 7.0e6


def test_no_orbit_is_drawn_through_the_earth(drawn_craft):
    orbit = axes_of(drawn_craft, "Orbit about the Earth")
    radius = ph.planets.EARTH.radius
    for line in orbit.lines:
        if line.get_linewidth() == 1.2 and line.get_alpha() == 0.5:  # behind the plane of the picture
            away = np.hypot(*(np.asarray(data, dtype=float) for data in line.get_data()))
            assert np.nanmin(away) >= radius


def test_shadows_are_grey():
    picture = dashboard(example("solar-sail"))
    (shaded,) = [patch for patch in axes_of(picture, "Altitude").patches if patch.get_zorder() == 0.5]
    expected = shadow(example("solar-sail")) / 86400.0
    corners = shaded.get_xy()[:-1].reshape(-1, 4, 2)
    assert len(corners) == len(expected) > 20
    np.testing.assert_allclose(corners[:, (0, 3), 0], expected, rtol=1e-12)
    assert np.array_equal(corners[0, :, 1], [0, 1, 1, 0]) and (corners[:, :, 1] == corners[0, :, 1]).all()


def test_all_orbits_of_planets_about_the_heaviest():
    ds = example("outer-planets")
    picture = dashboard(ds)
    system = axes_of(picture, "Orbits about body 1, the heaviest")
    colours = {line.get_color() for line in system.lines}
    assert len(colours) >= 6
    distance = axes_of(picture, "Distance from body 1")
    r = ds.position.values[:60]
    few = axes_of(figure(ds.isel(time=slice(0, 60)), "distance"), "Distance from body 1")
    for k, line in enumerate(few.lines):
        np.testing.assert_allclose(line.get_ydata(), np.linalg.norm(r[:, k + 1] - r[:, 0], axis=1))
    assert {"body 2", "body 7"} <= {text.get_text() for text in distance.texts}
    # The osculating ellipses pass through the bodies at the end.
    ellipses = [line for line in system.lines if len(line.get_xdata()) == 181]
    ends = [line for line in system.lines if len(line.get_xdata()) == 1]
    assert len(ellipses) >= 3, "of the inner bodies, whose rows are far apart"
    for ellipse in ellipses:
        place = next(end for end in ends if end.get_color() == ellipse.get_color()).get_xydata()[0]
        nearest = np.linalg.norm(ellipse.get_xydata() - place, axis=1).min()
        assert nearest < 0.05 * np.linalg.norm(place)


def test_equal_masses_are_drawn_about_their_centre():
    ready = {"position": ((1, 0, 0), (-0.5, 0.866, 0), (-0.5, -0.866, 0)),
             "velocity": ((0, 0.7, 0), (-0.6, -0.35, 0), (0.6, -0.35, 0))}  # fmt: skip
    ds = ph.integrate(ph.gravitating_bodies(mass=(1.0, 1.0, 1.0)), "verlet", step=0.01, steps=100, **ready)
    picture = dashboard(ds)
    assert axes_of(picture, "Orbits about the centre of mass") and axes_of(picture, "Distance from the centre of mass")
    assert not any("Eccentricity" in title for title in titles(picture))
    with pytest.raises(InvalidInput, match="'eccentricity' needs an orbit about a centre or the heaviest body"):
        figure(ds, "eccentricity")


def test_points_on_a_line_in_a_plane_and_in_space():
    line = point(position=(1, 0, 0), velocity=(0, 0, 0), stiffness=(1.0, 1.0, 1.0))
    picture = dashboard(line)
    assert [axes.name for axes in picture.axes].count("3d") == 0
    assert {"Position in space", "Momentum", "Phase plane of x"} <= set(titles(picture))
    assert len(axes_of(picture, "Position in space").lines) == 1
    with pytest.raises(InvalidInput, match="needs position in two or three dimensions"):
        figure(line, "path")
    flat = dashboard(point(position=(1, 0, 0), velocity=(0, 1, 0), stiffness=(1.0, 2.0, 1.0)))
    assert axes_of(flat, "Path").name == "rectilinear" and axes_of(flat, "Path").get_ylabel() == "y (length)"
    solid = dashboard(point(position=(1, 0, 0), velocity=(0, 1, 0.5), stiffness=(1.0, 2.0, 3.0)))
    assert axes_of(solid, "Path in space").name == "3d"
    for picture in (dashboard(line), flat, solid):
        assert misplaced(picture) == []


def test_precession_counts_turns():
    picture = figure(example("slow-top"), ["precession", "tilt"])
    ds = example("slow-top")
    z = ph.rotation.rotate(ds.attitude.values, (0, 0, 1))
    turns = np.unwrap(np.arctan2(z[:, 1], z[:, 0]))
    drawn = axes_of(picture, "Precession").lines[0].get_ydata()
    np.testing.assert_allclose(drawn[-1], (turns[-1] - turns[0]) / (2 * np.pi), rtol=0, atol=1e-12)


def test_molecules_in_a_bath_show_its_energy(drawn_water):
    told = titles(drawn_water)
    assert {"Temperatures", "Energies per body", "Radial distribution function, second half"} <= set(told)
    assert axes_of(drawn_water, "Energy with the bath's")


# ------------------------------------------------------------------ units
@each("last, unit", [(100.0, "s"), (3000.0, "min"), (2e4, "h"), (1e6, "d"), (1e9, "yr")])
def test_clock(last, unit):
    ds = ph.integrate(
        ph.free_body((1, 2, 3)), "exact", step=last / 4, steps=4, angular_velocity=(1e-4, 0, 0), settings=SI
    )
    assert Shown(ds).time_unit[1] == unit
    assert axes_of(figure(ds, "rates"), "Body rates").get_xlabel() == f"time ({unit})"


def test_units_for_people():
    assert in_units("m", 7e6) == (1e-3, "km") and in_units("m", 5.0) == (1.0, "m")
    assert in_units("m", 1.5e11)[1] == "au" and in_units("length", 1e9) == (1.0, "length")


def test_powers_of_ten_are_in_labels_not_on_titles():
    from matplotlib.figure import Figure

    for values, exponent in (((0, 2e7), 6), ((0, 3e-5), -6), ((0, 40.0), 0), ((6.9999e6, 7.0001e6), 6)):
        axes = Figure().add_subplot()
        axes.plot((0, 1), values)
        assert plain_ticks(axes.yaxis, max(values)) == exponent
        axes.figure.canvas.draw()
        labels = [text.get_text() for text in axes.get_yticklabels()]
        assert axes.yaxis.get_offset_text().get_text() == "" and len(set(labels)) == len(labels)
        np.testing.assert_allclose(
            [float(text.replace("−", "-")) * 10.0**exponent for text in labels],
            axes.get_yticks(),
            rtol=1e-9,
            atol=1e-12,
        )


# ------------------------------------------------------------------ lines between rows
def test_curves_between_rows_pass_through_the_orbit():
    t = np.linspace(0.0, 2 * np.pi, 13)
    r, v = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([-np.sin(t), np.cos(t)])
    gaps = unresolved(t, r, v, 1.0)
    assert not gaps.any()
    times, path = filled(t, r, v, gaps)
    assert len(times) > 200
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), 1.0, rtol=0, atol=1e-3)
    np.testing.assert_allclose(slopes_of(t, t[:, None] ** 2)[:, 0], 2 * t, rtol=0, atol=1e-12)


def test_no_line_where_rows_are_too_far_apart():
    t = np.concatenate([np.linspace(0, 3.0, 20), 3.0 + 2.2 * np.arange(1, 15)])
    r, v = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([-np.sin(t), np.cos(t)])
    gaps = unresolved(t, r, v, 1.0)
    assert not gaps[:17].any() and gaps[20:].all()
    _, path = filled(t, r, v, gaps)
    assert np.nanmax(np.abs(np.linalg.norm(path, axis=1) - 1.0)) < 0.02


def test_sparse_rows_of_orbits_are_dots():
    r, v = (7.0e6, 0, 0), (0, 7546.05, 0)
    ds = ph.integrate(ph.orbit(MU), "kepler", step=4000.0, steps=50, position=r, velocity=v, settings=SI)
    assert "dots: rows are too far apart for a line" in said(axes_of(figure(ds, "orbit"), "Orbit"))
    fine = ph.integrate(ph.orbit(MU), "kepler", step=500.0, steps=10, position=r, velocity=v, settings=SI)
    axes = axes_of(figure(fine, "orbit"), "Orbit")
    assert "dots" not in said(axes)
    front = [line for line in axes.lines if line.get_linewidth() == 1.2]
    assert sum(np.isfinite(line.get_xdata()).sum() for line in front) > 150


def test_the_polhode_of_sparse_rows_is_the_exact_curve():
    ds = ph.integrate(ph.free_body((1.0, 1.7, 2.4)), "exact", step=3.0, steps=40, angular_velocity=(0.9, 0.4, 0.2))
    directions = ds.angular_momentum.values / np.linalg.norm(ds.angular_momentum.values, axis=1, keepdims=True)
    J = inverse_inertia(ds.angular_momentum.values, ds.angular_velocity.values)
    loop = polhode_loop(J, directions[0])
    for row in directions:
        assert np.linalg.norm(loop - row, axis=1).min() < 0.01
    assert polhode_loop(np.eye(3), directions[0]) is None
    sphere = axes_of(figure(ds, "polhode"), "Polhode")
    for line in sphere.lines:  # no chord: every line on the sphere has short pieces
        x, y = (np.asarray(data, dtype=float) for data in line.get_data())
        if line.get_color() == "#0072b2" and line.get_linestyle() == "-":
            assert np.nanmax(np.hypot(np.diff(x), np.diff(y))) < 0.05


def test_attitudes_far_apart_are_dots():
    ds = ph.integrate(ph.free_body((1.0, 1.7, 2.4)), "exact", step=2.0, steps=50, angular_velocity=(1.5, 0.4, 0.2))
    axes = axes_of(figure(ds, "attitude"), "Attitude quaternion")
    assert "too far apart" in said(axes)
    assert all(np.isnan(line.get_ydata()).any() for line in axes.lines if line.get_linestyle() == "-")


# ------------------------------------------------------------------ figures, files, the command
def test_formats_are_whole_and_the_same_each_time(craft, tmp_path):
    for suffix, mark in ((".pdf", b"%PDF"), (".svg", b"<?xml"), (".png", b"\x89PNG")):
        one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
        figure(craft, ["energy"], "column", one)
        figure(craft, "energy", "column", two)
        data = one.read_bytes()
        assert data.startswith(mark) and data == two.read_bytes()
        assert b"CreationDate" not in data and b"<dc:date>" not in data
    assert b"/FontFile2" in (tmp_path / "one.pdf").read_bytes()
    assert b"<text" not in (tmp_path / "one.svg").read_bytes(), "letters are outlines"


def test_what_figures_refuse(craft):
    with pytest.raises(InvalidInput, match="unknown panel 'lvl'; did you mean 'lvlh'"):
        figure(craft, "lvl")
    with pytest.raises(InvalidInput, match="'rdf' needs molecules, which this trajectory lacks; it offers energy"):
        figure(craft, ["energy", "rdf"])
    for wrong in ([], 3, [3]):
        with pytest.raises(InvalidInput, match="panels must be the name"):
            figure(craft, wrong)
    with pytest.raises(InvalidInput, match="size"):
        figure(craft, "energy", size="poster")
    members = ph.integrate(ph.free_body((1, 2, 3)), "exact", step=0.1, steps=2, angular_velocity=(1, 0, 0))
    with pytest.raises(InvalidInput, match="ensemble: take one member"):
        dashboard(members.expand_dims(member=2))
    for times in ([0.0, 0.1, 0.1], [0.0, 0.2, 0.1], [0.0, 0.1, 1e300]):
        with pytest.raises(InvalidInput, match="time is not in order from row to row"):
            dashboard(members.assign_coords(time=times))


def test_euler_angles_are_cut_where_they_pass_half_a_turn():
    ds = ph.integrate(
        ph.free_body((1.0, 1.7, 2.4)), "euler:cv8:sequence=ZYX:branch=principal", step=0.02, steps=1000,
        angular_velocity=(0.1, 0.2, 1.5),
    )  # fmt: skip
    assert (np.abs(np.diff(np.degrees(ds.euler_angles.values), axis=0)) > 300.0).any()
    for line in axes_of(figure(ds, "attitude"), "Euler angles").lines:
        assert not (np.abs(np.diff(line.get_ydata())) > 90.0).any()


def test_ground_tracks_have_the_coasts_of_the_earth_alone(craft):
    def coasts(ds):
        axes = axes_of(figure(ds, "ground_track"), "Ground track")
        numbers = [tick.get_text() for tick in axes.get_xticklabels() + axes.get_yticklabels()]
        assert "−90" in numbers and not any("$" in text for text in numbers)  # mathtext takes 10 ms each
        return [line for line in axes.lines if line.get_color() == COAST and len(line.get_xdata()) > 3000]

    assert len(coasts(craft)) == 1
    moon = ph.planets.MOON
    ds = ph.integrate(ph.orbit(moon.mu), "kepler", step=100.0, steps=80, position=(1.9e6, 0, 0),
                      velocity=(0, 1000.0, 1200.0), settings=SI)  # fmt: skip
    assert coasts(ds) == []


def test_units_of_the_si_and_names_of_bodies():
    def law(craft, field):
        return {"dipole_command": 100.0 * np.cross(craft.angular_velocity, craft.in_body(field))}

    craft = ph.system(
        ph.body("bus", 4.0, (0.04, 0.05, 0.02)), ph.loads.central(MU), ph.controller(law, every=10.0),
        ph.loads.torquers(np.eye(3), max_dipole=0.2), surroundings={"field": ph.surroundings.dipole_field()},
    )  # fmt: skip
    ds = ph.integrate(craft, step=10.0, steps=60, position=(7e6, 0, 0), velocity=(0, 5300, 5300), settings=SI,
                      angular_velocity=(0.01, 0.02, -0.01))  # fmt: skip
    picture = figure(ds, ["torquers", "spin", "angular_momentum", "attitude_energy"])
    labels = [axes.get_ylabel().rpartition("  ")[2] for axes in picture.axes]
    assert [label.removeprefix("10⁻³ ").removeprefix("10⁻⁶ ") for label in labels[:2]] == ["A m²", "N m s"]
    assert labels[2].endswith("N m s") and labels[3].endswith("J")
    heading = " ".join(text.get_text() for text in dashboard(ds).texts)
    assert "bus  ·  " in heading and "step 10 s" in heading


def test_steps_that_somebody_wrote_are_shown_as_they_are():
    ds = ph.integrate(ph.free_body((1, 2, 3)), "exact", step=0.1, steps=2, angular_velocity=(1, 0, 0))
    heading = [text.get_text() for text in dashboard(ds.assign_attrs(step="north", steps="many")).texts]
    assert any("step north" in text for text in heading) and any("many steps" in text for text in heading)


def jointed():
    """A pendulum on a hinge."""
    system = ph.system(ph.body("bar", 1.0, (1, 1, 0.1)), ph.loads.weight(),
                       ph.joints.hinge((0, 0, 1), (0, 1, 0)).on("bar", ph.ground))  # fmt: skip
    return ph.integrate(system, "v2", step=0.01, steps=20, start=ph.assemble(system, {"hinge": 0.3}))


def test_every_panel_is_offered_somewhere(craft, water, agile):
    found = {panel.name for ds in (
        craft, water, agile, example("outer-planets"), example("leo-decay"), example("detumble-in-orbit"),
        example("cubesat"), sprung(), jointed(),
        point(position=(1, 0, 0), velocity=(0, 1, 0), stiffness=(1.0, 2.0, 1.0)),
    ) for panel in offered(Shown(ds))}  # fmt: skip
    assert found == set(PANELS)
    for ds in _kept.values():
        assert usual(Shown(ds))


def sprung(names="ab"):
    """Bodies with an inertia in a row, each joined to the next by a spring."""

    def spring(a, b, stiffness):
        d = b.position - a.position
        return 0.5 * stiffness * d @ d

    system = ph.system(
        [ph.body(name, 1.0, (1, 2, 2.5)) for name in names],
        [ph.loads.of(spring, stiffness=2.0).on(a, b).named(a + b) for a, b in pairwise(names)],
    )
    spins = np.eye(3)[: len(names)] * 0.5
    return ph.integrate(system, step=0.05, t_end=10.0, position=[(1.0 * k, 0.2 * k * k, 0) for k in range(len(names))],
                        angular_velocity=spins)  # fmt: skip


def test_bodies_that_loads_join_are_seen_from_each_other():
    def drawn(ds, panel):
        axes = figure(ds, panel).axes[0]
        return axes.get_title(loc="left"), [line.get_ydata() for line in axes.lines if len(line.get_ydata()) > 2]

    pair, three = sprung(), sprung("abc")
    assert [panel.name for panel in usual(Shown(pair))][1:3] == ["relative_position", "relative_attitude"]
    words, lines = drawn(pair, "relative_position")
    assert words == "b as seen from a, in space" and len(lines) == 4
    np.testing.assert_allclose(lines[3], np.linalg.norm(np.diff(pair.position, axis=1)[:, 0], axis=1))
    words, lines = drawn(three, "relative_attitude")
    assert words == "Angle between the attitudes of bodies that act on each other" and len(lines) == 2
    np.testing.assert_allclose(lines[1], np.degrees(three.polhode.relative("b", "c").angle))
    assert not {"relative_position", "relative_attitude"} & {
        one.name for one in offered(Shown(three.isel(body=[0, 2])))
    }
    assert dashboard(three.isel(body=0)).axes


def test_wheels_of_several_bodies_have_their_names():
    wheels = ph.reaction_wheels(np.eye(3)[:2], 0.01, speed=(1.0, 2.0))
    system = ph.system(ph.body("a", 1.0, (1, 2, 2.5), wheels=wheels), ph.body("b", 1.0, (1, 2, 2.5), wheels=wheels))
    ds = ph.integrate(system, step=0.1, steps=20, position=[(0, 0, 0), (1, 0, 0)])
    assert {"a.0", "a.1", "b.0", "b.1"} <= {text.get_text() for text in figure(ds, "wheels").axes[0].texts}


def test_a_sum_that_is_a_top_is_shown_as_one():
    top = ph.system(ph.body("top", inertia=(5, 5, 1), pinned=True), ph.loads.weight(20.0, at=(0, 0, 1)))
    free = ph.system(ph.body("top", inertia=(5, 5, 1), pinned=True))
    kinds = [
        kind_of(Shown(ph.integrate(one, "v2", step=0.1, steps=3, angular_velocity=(0, 1, 5)))) for one in (top, free)
    ]
    assert [kind.name for kind in kinds] == ["a top", "a rigid body"]


def test_the_command(craft, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ph.save(craft.isel(time=slice(0, 300)), "run.nc")
    run = CliRunner().invoke
    listed = run(group, ["plot", "run.nc", "--list"])
    assert listed.exit_code == 0 and "* lvlh " in listed.output and "rdf" not in listed.output
    assert "spacecraft; * in its dashboard" in listed.output and not Path("run.png").exists()
    assert run(group, ["plot", "run.nc"]).exit_code == 0 and Path("run.png").read_bytes().startswith(b"\x89PNG")
    assert run(group, ["plot", "run.nc", "--panels", "energy,lvlh", "--size", "column", "-o", "a.pdf"]).exit_code == 0
    assert Path("a.pdf").read_bytes().startswith(b"%PDF")
    helped = run(group, ["plot", "--help"]).output
    assert all(name in helped for name in PANELS)
    for words, error in (
        (["plot", "run.nc", "--panels", "rdf"], "needs molecules"), (["plot", "run.nc", "-o", "a.jpg"], "must end in"),
        (["plot", "run.nc", "--size", "page"], "--size is the width of --panels"), (["plot", "no.nc"], "no.nc"),
    ):  # fmt: skip
        refused = run(group, words)
        assert refused.exit_code != 0 and error in str(refused.exception)


def test_a_million_rows_are_thinned(craft):
    n = 300_000
    long = craft.isel(time=np.arange(n) % craft.sizes["time"]).assign_coords(
        time=("time", np.arange(n) * 60.0, craft.time.attrs)
    )
    picture = dashboard(long)
    for axes in picture.axes:
        assert all(len(line.get_xdata()) < 80_000 for line in axes.lines)


def test_the_axis_of_a_pinned_body_goes_through_where_its_weight_acts():
    top = ph.system(ph.body("top", inertia=(5, 5, 1), pinned=True), ph.loads.weight(20.0, at=(0.3, 0, 0.4)))
    ds = ph.integrate(top, step=0.01, steps=5, angular_velocity=(0, 0, 9.0))
    np.testing.assert_allclose(Shown(ds).axis, (0.6, 0, 0.8), rtol=1e-15)
