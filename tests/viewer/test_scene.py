"""What a scene holds is what the Dataset holds; every system has one."""

import functools
import json

import matplotlib as mpl
import numpy as np
import pytest

import polhode as ph
from each import each
from each_system import built, start_of
from polhode.errors import InvalidInput
from polhode.plots.shown import coastline
from polhode.trajectory.relative import fastenings, gap
from polhode.viewer.arrays import read
from polhode.viewer.page import references
from polhode.viewer.scene import dumped

EARTH = ph.planets.EARTH
R, V = [7.0e6, 1.0e5, -2.0e5], [100.0, 7.4e3, 900.0]
SI = {"units": "SI", "epoch": "2030-01-01T00:00:00"}


@functools.cache
def top(**words):
    system = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    words = {"step": 1e-3, "t_end": 0.5, "angular_velocity": (0, 0, 50)} | words
    return ph.integrate(system, "trapm", attitude=ph.rotation.exp_quaternion((0.3, 0, 0)), **words)


@functools.cache
def free():
    return ph.integrate(ph.free_body([2.0, 3.0, 4.5]), step=0.05, steps=400, angular_velocity=[0.01, 1.0, 0.3])


@functools.cache
def craft(steps=2000, every=1):
    light = ph.forces.radiation_pressure(1e-6, direction=(1, 0, 0), shadow="cylinder", radius=6.4e6)
    system = ph.spacecraft([2.0, 3.0, 4.5], EARTH.mu, 10.0, forces=[ph.forces.zonal(**EARTH.zonal), light])
    return ph.integrate(system, "v2/mr", step=5.0, steps=steps, every=every, position=R, velocity=V,
                        angular_velocity=[0.001, 0.0, 0.01], settings=SI)  # fmt: skip


def numbers(view, reference):
    return read(view.arrays, reference)


def fact(view, name, run=0):
    return dict(view.scene["runs"][run]["facts"])[name]


def angle_between(a, b):
    """Largest angle between attitudes (rad), from their differences, which is exact for small ones."""
    b = b * np.sign(np.einsum("...i,...i->...", a, b))[..., None]
    return 4.0 * np.arcsin(np.linalg.norm(a - b, axis=-1).max() / 2.0)


# ------------------------------------------------------------------ numbers
def test_attitudes_come_back_to_a_tenth_of_a_milliradian_and_shown_values_exactly():
    for ds in (top(), free(), craft()):
        view = ph.view(ds)
        run = view.scene["runs"][0]
        q = numbers(view, run["bodies"]["attitude"])[:, 0]
        q = q / np.linalg.norm(q, axis=1, keepdims=True)
        assert angle_between(ds.attitude.values, q) < 1e-4
        assert (np.einsum("fi,fi->f", q[1:], q[:-1]) > 0.0).all()
        assert np.array_equal(numbers(view, run["clock"]["values"]), ds.time.values)
        shown = {one["name"]: numbers(view, one["values"]) for one in run["invariants"]}
        assert np.array_equal(shown["energy"], ds.energy.values)
        assert np.array_equal(shown["energy error"], ds.energy_error.values)
    length = np.linalg.norm(free().angular_momentum_space.values, axis=1)
    shown = ph.view(free())
    found = next(one for one in shown.scene["runs"][0]["invariants"] if one["name"] == "length of angular momentum")
    assert np.array_equal(numbers(shown, found["values"]), length)


def test_arrows_stand_where_momentum_and_velocity_do():
    ds = top()
    view = ph.view(ds)
    arrows = {one["name"]: numbers(view, one["space"]) for one in view.scene["runs"][0]["vectors"]}
    size = np.abs(ds.angular_momentum_space.values).max()
    assert np.abs(arrows["angular momentum"] - ds.angular_momentum_space.values).max() < 2e-4 * size
    turned = ph.rotation.rotate(ds.attitude.values, ds.angular_velocity.values)
    assert np.abs(arrows["angular velocity"] - turned).max() < 2e-4 * np.abs(turned).max()


def test_every_reference_lies_within_the_numbers():
    view = ph.view(craft())
    for one in references(view.scene):
        width = {"float64": 8, "float32": 4, "uint32": 4, "int16": 2}[one["type"]]
        assert one["at"] % 8 == 0 and one["at"] + width * int(np.prod(one["shape"])) <= len(view.arrays)


def test_poinsot_of_a_free_body():
    ds = free()
    view = ph.view(ds)
    drawn = view.scene["runs"][0]["poinsot"]
    moments, m = np.array(drawn["moments"]), ds.angular_momentum.values
    polhode = numbers(view, drawn["polhode"])
    assert np.abs(polhode - m / np.linalg.norm(m[0])).max() < 2e-4
    # It lies on the sphere and on the ellipsoid of energy; the herpolhode on the ellipsoid of inertia's plane.
    assert np.abs((polhode**2 / (2.0 * moments)).sum(axis=1) - drawn["energy"]).max() < 2e-4
    curve = numbers(view, drawn["curve"])
    assert np.abs(np.linalg.norm(curve, axis=1) - 1.0).max() < 3e-4
    nearest = np.linalg.norm(polhode[:, None] - curve[None], axis=-1).min(axis=1)
    assert nearest.max() < 0.02
    tip = numbers(view, drawn["herpolhode"])
    assert np.abs(tip @ drawn["plane"]["normal"] - drawn["plane"]["distance"]).max() < 3e-4
    assert ph.view(top()).scene["runs"][0]["poinsot"]["plane"] is None


def test_frame_of_a_tilted_inertia():
    turn = ph.rotation.matrix_from_quaternion(ph.rotation.exp_quaternion((0.3, -0.4, 0.9)))
    tensor = turn @ np.diag([2.0, 3.0, 4.5]) @ turn.T
    ds = ph.integrate(ph.free_body(tensor), step=0.05, steps=40, angular_velocity=[0.01, 1.0, 0.3])
    view = ph.view(ds)
    run = view.scene["runs"][0]
    axes = np.reshape(run["poinsot"]["frame"], (3, 3))
    assert np.abs(axes.T @ np.diag(run["poinsot"]["moments"]) @ axes - tensor).max() < 1e-12
    box = run["bodies"]["shapes"][0]
    turn = ph.rotation.matrix_from_quaternion(box["frame"])
    drawn = turn @ ph.inertia.box(1.0, box["size"]).inertia @ turn.T
    assert np.abs(drawn / np.trace(drawn) - tensor / np.trace(tensor)).max() < 1e-12


# ------------------------------------------------------------------ shapes
@each("moments", [(2.0, 3.0, 4.5), (1.0, 1.0, 2.0), (4.0, 4.0, 4.0)])
def test_cuboid_has_the_proportions_of_the_moments(moments):
    ds = ph.integrate(ph.free_body(moments), step=0.1, steps=2, angular_velocity=[0.1, 0.2, 0.3])
    size = np.array(ph.view(ds).scene["runs"][0]["bodies"]["shapes"][0]["size"])
    made = np.diag(ph.inertia.box(1.0, size).inertia)
    plate = size.min() < 0.05
    assert np.allclose(made / made.sum(), np.array(moments) / np.sum(moments), atol=2e-3 if plate else 1e-12)


def test_moments_that_no_body_has_are_drawn_thin_and_told():
    ds = free()
    view = ph.view(ds.assign_attrs(run=ds.attrs["run"].replace("[2.0, 3.0, 4.5]", "[1.0, 2.0, 9.0]")))
    size = view.scene["runs"][0]["bodies"]["shapes"][0]["size"]
    assert min(size) > 0.03 * max(size) and "no body has these moments" in fact(view, "shape")


def test_top_stands_on_its_tip_with_its_centre_of_mass_and_moments():
    system = ph.heavy_top(inertia=(3, 5, 5), center_of_mass=(0.5, 0, 0), weight=20.0)
    run = ph.view(ph.integrate(system, "trapm", step=1e-3, steps=5, angular_velocity=(20, 0, 0))).scene["runs"][0]
    disc = run["bodies"]["shapes"][0]
    assert run["pivot"] == [-0.5, 0.0, 0.0] and disc["axis"] == [1.0, 0.0, 0.0] and disc["height"] == 0.5
    moments = np.diag(ph.inertia.cylinder(1.0, disc["radius"], disc["thick"]).inertia)[[2, 0, 1]] + [0, 0.25, 0.25]
    assert np.allclose(moments / moments.sum(), np.array([3, 5, 5]) / 13, rtol=0, atol=1e-12)


def test_the_shape_of_a_top_says_what_is_not_its_own():
    """A thin disc has I3/I1 = (r^2/2)/(l^2 + r^2/4) about the end of its stem."""
    start = {"step": 1e-2, "steps": 3, "angular_velocity": (0, 0, 5)}
    for moments, centre, words in (
        ((1.0, 1.0, 1.2), (0, 0, 0.9), "same ratio of the moments"),
        ((1.0, 1.0, 1.7), (0, 0, 0.3), "less wide than its moments ask for"),
        ((1.0, 1.5, 2.2), (0.1, 0.2, 0.3), "for a mass of 0.815, since the record states none that fits"),
    ):
        view = ph.view(ph.integrate(ph.heavy_top(moments, centre, weight=8.0), "trapm", **start))
        assert words in fact(view, "shape")
        if words.startswith("same"):
            square = view.scene["runs"][0]["bodies"]["shapes"][0]["radius"] ** 2
            assert (square / 2.0) / (0.9**2 + square / 4.0) == pytest.approx(moments[2] / moments[0], rel=5e-3)


def test_spacecraft_have_panels_and_heavy_bodies_are_rock():
    shape = ph.view(craft()).scene["runs"][0]["bodies"]["shapes"][0]
    made = np.diag(ph.inertia.box(10.0, shape["size"]).inertia)
    assert (shape["kind"], shape["panels"]) == ("craft", True) and np.allclose(made, [2.0, 3.0, 4.5], rtol=1e-9)
    axes = (104.0, 80.0, 66.0)
    rock = ph.body("moon", inertia=ph.inertia.ellipsoid(4.3e9, axes))
    pair = ph.system(rock, ph.body("probe", 10.0), ph.loads.mutual_gravity(6.7e-11).on("moon", "probe"))
    view = ph.view(ph.integrate(pair, step=1.0, steps=2, position=[(0, 0, 0), (300, 0, 0)]))
    shape = view.scene["runs"][0]["bodies"]["shapes"][0]
    assert shape["kind"] == "ellipsoid" and np.allclose(shape["axes"], axes, rtol=1e-9)
    assert fact(view, "shape") == "ellipsoid of uniform density with these moments"


def test_inertia_about_the_centre_of_mass_is_that_about_the_tip():
    system = ph.heavy_top((0.5, 0.5, 1), (0, 0, 1), mass=2.0, inertia_about="center_of_mass")
    view = ph.view(ph.integrate(system, "trapm", step=1e-3, steps=5, angular_velocity=(0.1, 0, 20)))
    assert view.scene["runs"][0]["poinsot"]["moments"] == [2.5, 2.5, 1.0]


def test_uneven_top_is_a_cuboid_beside_its_fixed_point():
    system = ph.heavy_top(inertia=(3, 4, 5), center_of_mass=(0.2, 0.1, 1.0), weight=9.81)
    run = ph.view(ph.integrate(system, "trapm", step=1e-3, steps=5, angular_velocity=(20, 0, 0))).scene["runs"][0]
    assert run["pivot"] == [-0.2, -0.1, -1.0] and "cuboid" in dict(run["facts"])["shape"]


def test_molecules_are_atoms_in_their_box():
    water = ph.rigid_water(8, box=3.0, cutoff=1.0)
    start, _ = ph.initial.cubic(2, spacing=1.5, seed=1)
    ds = ph.integrate(water, "v2", step=0.001, steps=5, **start)
    view = ph.view(ds)
    run = view.scene["runs"][0]
    atoms = run["bodies"]["shapes"][0]["atoms"]
    assert [round(atom["radius"], 3) for atom in atoms] == [0.089, 0.042, 0.042] and run["cell"] == [3.0] * 3
    r = numbers(view, run["bodies"]["position"])
    assert r.shape == (6, 8, 3) and r.min() >= 0.0 and r.max() <= 3.0
    assert np.abs(r - np.mod(ds.position.values, 3.0)).max() < 1e-4
    assert [one["group"] for one in run["series"]].count("Temperature") == 1


def test_a_gas_is_drawn_larger():
    far, _ = ph.initial.cubic(2, spacing=50.0, seed=1)
    view = ph.view(ph.integrate(ph.dipoles(8), step=1e-3, steps=2, **far))
    ends = view.scene["runs"][0]["bodies"]["shapes"][0]["atoms"]
    assert ends[0]["radius"] > 2.0 and "times as large" in fact(view, "shape")


def test_dipoles_show_their_two_ends():
    view = ph.view(ph.integrate(ph.dipoles(8, box=10.0, cutoff=3.0), step=1e-3, steps=2, **lattice()))
    plus, minus = view.scene["runs"][0]["bodies"]["shapes"][0]["atoms"]
    assert np.allclose(plus["at"], -np.array(minus["at"])) and plus["colour"] != minus["colour"]


def lattice():
    return ph.initial.cubic(2, spacing=5.0, seed=1)[0]


# ------------------------------------------------------------------ frames
def test_frames_are_spread_evenly_in_time_with_the_ends():
    ds = craft()
    view = ph.view(ds, frames=101)
    times = numbers(view, view.scene["runs"][0]["clock"]["values"])
    assert len(times) == 101 and times[0] == 0.0 and times[-1] == ds.time.values[-1]
    assert np.ptp(np.diff(times)) <= 10.0 and fact(view, "frames").startswith("101 of 2,001 rows")
    path = numbers(view, view.scene["runs"][0]["orbit"]["path"])
    assert path.shape == (2001, 1, 3)  # the path is drawn finer than the frames


def test_too_few_frames_for_a_spin_show_a_part_and_say_so():
    ds = top(t_end=2.0, every=2)  # 50 rad/s, rows each 2 ms
    whole = ph.view(ds, frames=200)
    times = numbers(whole, whole.scene["runs"][0]["clock"]["values"])
    assert times[-1] == ds.time.values[-1] and 0.0 < np.diff(times).max() * 50.0 < np.pi / 2
    part = ph.view(ds, frames=20)
    times = numbers(part, part.scene["runs"][0]["clock"]["values"])
    assert len(times) == 20 and np.diff(times).max() * 50.0 <= np.pi / 2
    assert fact(part, "shown").startswith(f"t = 0 to {times[-1]:.6g} of 0 to 2")
    asked = ph.view(ds, frames=20, span=(0.0, 2.0))
    assert len(numbers(asked, asked.scene["runs"][0]["clock"]["values"])) == 20
    assert fact(asked, "coarse").startswith("up to 304 degrees of turn")


def test_sparse_rows_are_said_to_be_coarse():
    ds = top(t_end=2.0, every=100)
    assert fact(ph.view(ds), "coarse").startswith("up to 286 degrees of turn")
    assert "coarse" not in dict(ph.view(free()).scene["runs"][0]["facts"])


def test_errors_between_frames_are_not_lost():
    ds = free().copy(deep=True)
    ds.energy_error[123] = -0.5
    view = ph.view(ds, frames=20)
    curve = numbers(view, view.scene["runs"][0]["series"][0]["lines"][0]["values"])
    assert curve.max() == 0.5 and fact(view, "largest energy error").startswith("0.5,")


def test_backwards_incomplete_single_and_broken_rows():
    back = ph.integrate(ph.free_body([2.0, 3.0, 4.5]), step=0.05, t_end=-1.0, angular_velocity=[0.1, 1.0, 0.3])
    view = ph.view(back)
    times = numbers(view, view.scene["runs"][0]["clock"]["values"])
    assert times[0] == -1.0 and (np.diff(times) > 0.0).all() and "backwards" in fact(view, "direction")
    energy = view.scene["runs"][0]["invariants"][0]
    assert np.array_equal(numbers(view, energy["values"]), back.energy.values[::-1])

    assert ph.view(free().isel(time=[0])).scene["runs"][0]["clock"]["values"]["shape"] == [1]
    ds = free().copy(deep=True)
    ds.attitude[5] = np.nan
    ds.attitude[9] = 0.0
    ds.energy[7] = np.nan
    view = ph.view(ds)
    assert view.scene["runs"][0]["clock"]["values"]["shape"] == [399]
    dumped(view.scene)
    ds.attitude[:] = np.nan
    with pytest.raises(InvalidInput, match="finite"):
        ph.view(ds)
    with pytest.raises(InvalidInput, match="no rows"):
        ph.view(free().isel(time=slice(0, 0)))
    told = ph.view(free().assign_attrs(incomplete="stopped at step 3")).scene["runs"][0]["facts"]
    assert told[0] == ["incomplete", "stopped at step 3"]


@each("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_huge_and_tiny_units(scale):
    ds = ph.integrate(ph.particle(2.0, stiffness=(1, 2, 3)), step=0.1, steps=5, position=[1.0, 2.0, 3.0])
    ds = ds.assign(position=ds.position * scale)
    view = ph.view(ds)
    back = numbers(view, view.scene["runs"][0]["bodies"]["position"])[:, 0]
    assert np.abs(back / scale - ds.position.values / scale).max() < 1e-5
    assert json.loads(dumped(view.scene))["runs"][0]["bodies"]["shapes"][0]["radius"] > 0.0


# ------------------------------------------------------------------ orbits
def test_spacecraft_about_the_earth():
    ds = craft()
    view = ph.view(ds)
    orbit = view.scene["runs"][0]["orbit"]
    angle = orbit["central"].pop("rotation_at_zero")
    assert orbit["central"] == {"name": "Earth", "radius": EARTH.radius, "rotation_rate": EARTH.rotation}
    east = np.arctan2(ds.position.values[0, 1], ds.position.values[0, 0]) - angle
    assert np.sin(east - float(ds.polhode.ground_track().longitude[0])) == pytest.approx(0.0, abs=1e-12)
    r = numbers(view, view.scene["runs"][0]["bodies"]["position"])[:, 0]
    assert np.abs(r - ds.position.values).max() < 1e-6 * np.abs(ds.position.values).max()
    frame = numbers(view, orbit["lvlh"])
    down = ph.rotation.rotate(frame / np.linalg.norm(frame, axis=1, keepdims=True), [0.0, 0.0, 1.0])
    assert np.abs(down + r / np.linalg.norm(r, axis=1, keepdims=True)).max() < 1e-4
    track = numbers(view, orbit["ground_track"])
    told = ph.trajectory.frames.ground_track(ds)
    assert np.abs(track[:, 1] - np.degrees(told.latitude.values)).max() < 0.006
    coast, shore = numbers(view, orbit["coast"]), coastline()
    assert np.abs(coast - shore)[np.isfinite(shore)].max() <= 0.051 and (coast[np.isnan(shore)] > 200.0).all()
    assert fact(view, "local vertical").startswith("LVLH: z to the centre, y against r x v, ")
    assert len(orbit["shadow"]) == 2 and all(a < b for a, b in orbit["shadow"])
    groups = [one["group"] for one in view.scene["runs"][0]["series"]]
    assert {"Altitude", "Attitude to the local vertical (LVLH: about y, then z, then x)"} <= set(groups)
    assert "Body z to the centre" in groups


def test_molecules_in_a_bath_show_the_energy_that_is_kept():
    spheres = ph.dipoles(8, box=4.0, cutoff=1.9)
    start = ph.initial.cubic(2, 2.0, seed=1).state | ph.initial.random_rotations(8, 1)
    start |= ph.initial.thermal(spheres, 1.0, 1)
    ds = ph.integrate(spheres, ph.methods.nose_hoover(temperature=1.0, tau=0.5), step=0.01, steps=40, **start)
    view = ph.view(ds)
    run = view.scene["runs"][0]
    first = run["series"][0]
    assert first["group"] == "Energy with the bath's: change / kinetic energy"
    change = np.abs(ds.conserved_energy - ds.conserved_energy[0]).values / float(ds.kinetic_energy.mean())
    np.testing.assert_allclose(numbers(view, first["lines"][0]["values"]), change, rtol=1e-3, atol=1e-9)
    assert "energy error" not in {one["name"] for one in run["invariants"]}
    assert (
        fact(view, "largest energy error")
        == f"{change.max():.3g}, with the bath's, over the kinetic energy, of all rows"
    )


def test_bodies_without_names_are_counted_from_one():
    pair = ph.integrate(ph.gravitating_bodies(mu=[3.0, 1.0]), "v2", step=0.01, steps=5,
                        position=[(0, 0, 0), (1, 0, 0)], velocity=[(0, 0, 0), (0, 1.5, 0)])  # fmt: skip
    groups = {one["group"]: one for one in ph.view(pair).scene["runs"][0]["series"]}
    lines = groups["Distance from the barycentre"]["lines"]
    assert [one["label"] for one in lines] == ["body 1", "body 2"]


def test_events_are_counted():
    ds = ph.integrate(ph.orbit(1.0), "v2", step=0.01, t_end=10.0, position=[1, 0, 0], velocity=[0, 1.2, 0],
                      events=["periapsis", "apoapsis"])  # fmt: skip
    assert fact(ph.view(ds), "events") == "1 periapsis, 1 apoapsis"
    assert sorted(ds.event_kind.values) == ["apoapsis", "periapsis"]
    assert "events" not in dict(ph.view(free()).scene["runs"][0]["facts"])


def test_a_centre_that_is_not_known_is_told():
    ds = ph.integrate(ph.orbit(1.0), "v2", step=0.05, steps=20, position=[1, 0, 0], velocity=[0, 1, 0])
    view = ph.view(ds)
    orbit = view.scene["runs"][0]["orbit"]
    assert orbit["ground_track"] is None and "not in the record" in fact(view, "ground track")
    assert orbit["central"]["radius"] == pytest.approx(0.1, rel=1e-2) and "tenth" in fact(view, "centre")


def test_gravitating_bodies_move_about_their_barycentre():
    ds = ph.integrate(ph.gravitating_bodies(mu=[3.0, 1.0]), "v2", step=0.01, steps=50,
                      position=[[5, 0, 0], [6, 0, 0]], velocity=[[0, 1, 0], [0, 3, 0]])  # fmt: skip
    view = ph.view(ds)
    r = numbers(view, view.scene["runs"][0]["bodies"]["position"])
    assert np.abs(r[:, 0] * 3.0 + r[:, 1]).max() < 1e-5 and "barycentre" in fact(view, "positions")


def test_paths_between_rows_are_curves_or_are_not_drawn():
    def circle(step, steps):
        ds = ph.integrate(ph.orbit(1.0), step=step, steps=steps, position=[1, 0, 0], velocity=[0, 1, 0])
        view = ph.view(ds)
        return view, numbers(view, view.scene["runs"][0]["orbit"]["path"])[:, 0]

    view, path = circle(0.5, 40)
    assert len(path) == 40 * 9 + 1 and np.abs(np.linalg.norm(path, axis=1) - 1.0).max() < 3e-4
    assert np.abs(path[::9] - numbers(view, view.scene["runs"][0]["bodies"]["position"])[:, 0]).max() < 1e-4
    view, path = circle(2.5, 40)
    assert np.ptp(path, axis=0).max() == 0.0 and fact(view, "path").startswith("the path is not drawn")


def test_bodies_without_mass_are_shown_about_the_barycentre_of_the_others():
    places, speeds = [[5, 0, 0], [7, 0, 0], [16, 0, 0]], [[1, -1, 0], [1, 1, 0], [1, 0, 0]]
    system = ph.gravitating_bodies(mu=[1.0, 1.0, 0.0])
    ds = ph.integrate(system, "v2", step=0.01, steps=5, position=places, velocity=speeds)
    view = ph.view(ds)
    r = numbers(view, view.scene["runs"][0]["bodies"]["position"])
    assert r[0, :, 0].tolist() == [-1.0, 1.0, 10.0] and np.abs(r[:, 0] + r[:, 1]).max() < 1e-6


# ------------------------------------------------------------------ several
def test_several_runs_have_labels_and_their_own_clocks():
    other = ph.integrate(ph.free_body([2.0, 3.0, 4.5]), "mkrk:gauss4", step=0.1, steps=20, angular_velocity=[0.1, 1, 0])
    view = ph.view(free(), other)
    assert [run["label"] for run in view.scene["runs"]] == ["exact, step 0.05", "mkrk:gauss4, step 0.1"]
    assert ph.view(free(), free()).scene["runs"][1]["label"] == "exact, step 0.05 (2)"
    assert [run["label"] for run in ph.view(free(), other, labels=["a", "b"]).scene["runs"]] == ["a", "b"]
    with pytest.raises(InvalidInput, match="1 labels for 2 runs"):
        ph.view(free(), other, labels=["a"])
    with pytest.raises(InvalidInput, match="9 runs"):
        ph.view(*[free()] * 9)


def test_headings_say_it_once():
    def said(*given, **words):
        scene = ph.view(*given, **words).scene
        return scene["title"], scene["subtitle"]

    assert said(top()) == ("Heavy top", "trapm, step 0.001")
    assert said(craft()) == ("Spacecraft", "v2/mr, step 5 s")
    assert said(top(), free()) == ("Heavy top and free body", "2 runs")
    assert said(top().assign_attrs(title="Mine")) == ("Mine", "heavy top  ·  trapm, step 0.001")
    assert said(top(), title="Ours")[0] == "Ours"


def test_members_of_an_ensemble():
    system = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    given = {"angular_velocity": [[0.1, 0, 50 + k] for k in range(6)], "weight": [20.0 + k for k in range(6)]}
    ds = ph.ensemble(system, "trapm", members=given, step=1e-3, steps=5)
    view = ph.view(ds)
    assert [run["label"] for run in view.scene["runs"]] == [f"member {k}" for k in range(4)]
    assert view.scene["runs"][0]["pivot"] == [0.0, 0.0, -1.0]  # the record of the system is found
    view = ph.view(ds, members=[5])
    w = view.scene["runs"][0]["series"][-3]
    assert view.scene["runs"][0]["label"] == "member 5" and w["lines"]
    alone = ph.view(ds.isel(member=5))
    assert dict(alone.scene["runs"][0], label="") == dict(view.scene["runs"][0], label="")
    assert ph.view(ds.isel(member=[2, 5])).scene["runs"][1]["label"] == "member 5"
    for wrong in ([6], [-1], [True], ["a"], []):
        with pytest.raises(InvalidInput, match="member"):
            ph.view(ds, members=wrong)
    with pytest.raises(InvalidInput, match="one run"):
        ph.view(free(), members=[0])
    with pytest.raises(InvalidInput, match="no trajectory"):
        ph.view(ph.ensemble(system, "trapm", members=given, step=1e-3, steps=5, reduce={"energy": ["mean"]}))


@each(
    ("varied", "sides"),
    [
        ({"craft": {"angular_velocity": [[0.1, 1, 0.2], [0.2, 1, 0.3]]}}, (7.0, 3.0, 1.0)),
        ({"craft.inertia": [[1, 2, 2.5], [1, 1.5, 2]]}, (5.0, 3.0, 1.0)),
    ],
)
def test_a_member_of_a_sum_has_its_own_body(varied, sides):
    craft = ph.system(ph.body("craft", mass=3.0, inertia=(1, 2, 2.5)))
    words = {} if "craft" in varied else {"start": {"craft": {"angular_velocity": (0.1, 1, 0.2)}}}
    ds = ph.ensemble(craft, members=varied, step=0.05, steps=20, **words)
    shape = ph.view(ds, members=[1]).scene["runs"][0]["bodies"]["shapes"][0]
    assert np.square(shape["size"]) == pytest.approx(sides, rel=1e-12)


def test_one_body_of_several():
    for name in ("gravitating_bodies", "dipoles"):
        system = built(name)
        ds = ph.integrate(system, step=1e-3, steps=4, **start_of(system))
        assert ph.view(ds.isel(body=1)).scene["runs"][0]["bodies"]["count"] == 1


def test_what_is_no_trajectory_is_refused():
    table = ph.compare(ph.free_body((1, 2, 3)), ["v2/mr"], [0.05], t_end=0.2, angular_velocity=[0.1, 0.2, 0.3])
    for wrong in (table, 3, None, free().drop_vars("time"), free().drop_vars(["attitude"])):
        with pytest.raises(InvalidInput, match=r"Dataset|times"):
            ph.view(wrong)


# ------------------------------------------------------------------ every system
@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
@each("name", sorted(ph.systems.SYSTEMS))
def test_every_system_has_a_scene(name):
    system = built(name)
    ds = ph.integrate(system, step=1e-3, steps=8, **start_of(system))
    view = ph.view(ds)
    text = dumped(view.scene)  # allow_nan=False
    run = json.loads(text)["runs"][0]
    assert run["clock"]["values"]["shape"] == [9] and run["bodies"]["shapes"] and run["series"] and run["invariants"]
    assert run["bodies"]["attitude"] or run["bodies"]["position"]
    assert len(run["bodies"]["shapes"]) in (1, run["bodies"]["count"])
    assert {name for name, _ in run["facts"]} >= {"system", "method", "shape", "conventions", "units"}


def test_a_page_of_five_thousand_frames_is_less_than_a_megabyte():
    """With three.js and the viewer in it, also of a spacecraft whose path has more points than frames."""
    assert len(ph.view(craft(steps=20_000, every=2)).html().encode()) < 1_000_000


# ------------------------------------------------------------------ what a spacecraft carries and meets
@functools.cache
def equipped():
    """A spacecraft with wheels, gyros, torquers in a field, thrusters in pulses, in sunlight."""
    system = ph.spacecraft(
        [2.0, 3.0, 4.5], EARTH.mu, 10.0,
        wheels=ph.reaction_wheels([(1, 0, 0), (0, 1, 1)], 0.01, speed=(50.0, -20.0), command=(1e-4, 2e-4)),
        gyros=ph.control_moment_gyros([(0, 0, 1)], [(1, 0, 0)], 0.5, command=0.01),
        magnetic_field=ph.surroundings.magnetic_field("dipole", epoch=2025.0),
        torquers=ph.systems.magnetic_torquers([(1, 0, 0), (0, 0, 1)], 0.2, command=(0.1, -0.2)),
        pulsed_thrusters=ph.systems.pulsed_thrusters(0.1, [(1, 0, 0)], 20.0, command=0.25),
        plates=[ph.systems.plate(1.0, (1, 0, 0), specular=0.5, diffuse=0.2)],
        sunlight={"pressure": 4.5e-6, "direction": (1.0, 2.0, 0.5)},
    )  # fmt: skip
    return ph.integrate(system, "s4_6", step=5.0, steps=200, position=R, velocity=V,
                        angular_velocity=[0.001, 0.0, 0.01], settings=SI)  # fmt: skip


def test_arrows_of_what_a_spacecraft_meets():
    ds = equipped()
    view = ph.view(ds)
    arrows = {one["name"]: numbers(view, one["space"]) for one in view.scene["runs"][0]["vectors"]}
    sun = np.array((1.0, 2.0, 0.5)) / np.linalg.norm((1.0, 2.0, 0.5))
    assert np.abs(arrows["to the Sun"] - sun).max() < 3e-4
    B = ph.surroundings.magnetic_field("dipole", epoch=2025.0).at(ds.time.values, ds.position.values)
    assert np.abs(arrows["magnetic field"] - B).max() < 3e-4 * np.abs(B).max()
    m = ph.rotation.rotate(ds.attitude.values, (0.1, 0.0, -0.2))
    assert np.abs(arrows["dipole of the torquers"] - m).max() < 3e-4 * 0.3
    assert not {"to the Sun", "magnetic field"} & {one["name"] for one in ph.view(free()).scene["runs"][0]["vectors"]}


def test_rotors_stand_at_their_axes():
    ds = equipped()
    view = ph.view(ds)
    first, second, gyro = view.scene["runs"][0]["rotors"]
    assert first["axis"] == [1.0, 0.0, 0.0] and second["axis"] == pytest.approx([0.0, 0.5**0.5, 0.5**0.5])
    h = ds.wheel_momentum.values
    for k, one in enumerate((first, second)):
        assert np.abs(numbers(view, one["share"]) - h[:, k] / np.abs(h).max()).max() < 2e-3
    angle = ds.gimbal_angle.values
    turned = np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    assert np.abs(numbers(view, gyro["axis"]) - turned).max() < 3e-4 and angle.max() > 5.0
    assert fact(view, "wheels").startswith("2, at their axes") and fact(view, "gyros").startswith("1, at their spin")
    assert ph.view(craft()).scene["runs"][0]["rotors"] == []


def test_curves_of_what_a_spacecraft_carries():
    ds = equipped()
    view = ph.view(ds)
    groups = {one["group"]: one for one in view.scene["runs"][0]["series"]}
    lines = groups["Body axes to the Sun"]["lines"]
    angle = np.degrees(ds.polhode.pointing_error((1, 0, 0), "sun").values)
    assert np.abs(numbers(view, lines[0]["values"]) - angle).max() < 0.2 and len(lines) == 3
    assert groups["Momentum of each wheel"]["unit"] == "N m s" and groups["Angle of each gimbal"]["unit"] == "deg"
    fired = numbers(view, groups["Time of thrust of each thruster"]["lines"][0]["values"])
    assert np.abs(fired - ds.thruster_fired.values[:, 0]).max() < 0.2 and fired[-1] > 200.0
    assert "Commanded dipole of each torquer" in groups


def test_a_field_whose_file_is_gone_is_no_arrow():
    ds = equipped().copy()
    record = json.loads(ds.attrs["run"])
    record["system"]["arguments"]["magnetic_field"] = {"kind": "igrf", "epoch": 2025.0, "file": "gone.shc"}
    view = ph.view(ds.assign_attrs(run=json.dumps(record)))
    assert "magnetic field" not in {one["name"] for one in view.scene["runs"][0]["vectors"]}


# ------------------------------------------------------------------ bodies that act on each other
@functools.cache
def tethered(about=True):
    """Two bodies with wheels and a point, in orbit or in free space; a tether between the first and the last."""
    wheels = [ph.reaction_wheels(np.eye(3)[:k], 0.01, speed=np.arange(k) + 5.0) for k in (1, 2)]
    system = ph.system(
        ph.body("a", 100.0, (20, 30, 25), wheels=wheels[0]), ph.body("b", 10.0, (1, 1, 1.5), wheels=wheels[1]),
        ph.body("c", 2.0), ph.loads.tether(5.0, 90.0, of_a=(0.5, 0, 0)).on("a", "c"),
        [ph.loads.central(EARTH.mu)] if about else [],
    )  # fmt: skip
    start = {name: {"position": np.add((7e6, 0, 0), place), "velocity": (0, 5336.0, 5336.0), "angular_velocity": spin}
             for name, place, spin in (("a", (0, 0, 0), (0, 0.1, 0)), ("b", (50, 20, 0), (0.1, 0, 0)))}  # fmt: skip
    start["c"] = {"position": (7e6, 100.0, 10.0), "velocity": (0, 5336.0, 5336.0)}
    return ph.integrate(system, step=1.0, t_end=60.0, start=start, settings=SI)


def test_bodies_together_are_seen_from_the_first():
    ds = tethered()
    view = ph.view(ds)
    found = view.scene["runs"][0]["together"]
    r, q = numbers(view, found["position"]), numbers(view, found["attitude"])
    for k, name in enumerate("bc", 1):
        seen = ds.polhode.relative("a", name, frame="lvlh")
        np.testing.assert_allclose(r[:, k], seen.position, rtol=0, atol=1e-3)
    assert (
        not r[:, 0].any()
        and angle_between(q[:, 0], ds.polhode.lvlh(body="a", rotation=True).as_quat(scalar_first=True)) < 2e-4
    )
    assert found["links"] == [
        {"bodies": [0, 2]}, {"bodies": [0, 2], "at": [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]], "length": 90.0},
    ] and found["local"]  # fmt: skip
    assert "in its LVLH" in fact(view, "together")
    drifting = tethered(about=False)
    free = ph.view(drifting)
    found = free.scene["runs"][0]["together"]
    r = numbers(free, found["position"])
    assert np.abs(np.einsum("b,fbi->fi", (100.0, 10.0, 2.0), r)).max() < 1.0 and not found["local"]
    np.testing.assert_allclose(
        np.linalg.norm(r[:, 1] - r[:, 0], axis=1), tethered(about=False).polhode.relative().distance, rtol=1e-5
    )
    assert ph.view(ds.isel(body=[0, 1])).scene["runs"][0]["together"] is None


def test_joints_are_between_their_bodies_and_panels_say_how_far_they_are_open():
    system = ph.system(
        ph.body("cart", 2.0, (1, 1, 1)), ph.body("arm", 1.0, (0.2, 0.2, 0.05)), ph.body("bob", 0.5),
        ph.joints.slider((1, 0, 0), (0, 0, 0.1), (0.2, 0, 0.1), attitude=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
        .on("cart", ph.ground),
        ph.joints.hinge((0, 0, 0.5), (0, 2, 0), name="pin").on("arm", "cart"),
        ph.joints.rod(0.7, of_other=(0, 0, -0.5)).on("bob", "arm"), ph.loads.weight(),
    )  # fmt: skip
    start = ph.assemble(system, {"slider": 0.3, "pin": 1.0}, {"slider": 0.5})
    ds = ph.integrate(system, "v2", step=0.01, steps=40, start=start)
    view = ph.view(ds)
    found = view.scene["runs"][0]["together"]
    rail, pin, rod = found["joints"]
    assert [one["bodies"] for one in found["joints"]] == [[0, -1], [1, 0], [2, 1]] and not found["links"]
    np.testing.assert_allclose(numbers(view, found["position"])[-1], ds.position[-1], rtol=1e-6)
    np.testing.assert_allclose(rail["axes"], [(1, 0, 0), (0, 1, 0)], rtol=0, atol=1e-15)
    along = ds.position[:, 0, 1]  # of the cart's middle, which its point is above of
    np.testing.assert_allclose(rail["span"], [along.min(), along.max()], rtol=0, atol=1e-14)
    assert pin["axes"] == [[0, 1, 0], [0, 1, 0]] and rod["at"][1] == [0, 0, -0.5]
    assert "true to scale" in fact(view, "together")
    open_by = [gap(ds, one) for one in fastenings(ds)]
    assert max(map(max, open_by)) < 1e-13
    moved = ds.assign(position=ds.position + [(0, 0.1, 0.02), (0, 0.1, 0.05), (0, 0.1, 0.05)])
    far = [gap(moved, one) for one in fastenings(moved)]
    for one, least in zip(far, (0.02, 0.03, 0.0), strict=True):
        np.testing.assert_allclose(one, least, rtol=0, atol=1e-13)
    said = " ".join(one.get_text() for one in ph.plots.figure(moved, ["joints"]).findobj(mpl.text.Text))
    assert "How far joints are open" in said and "largest 0.03" in said


def test_bodies_of_a_sum_have_their_shapes_and_their_wheels():
    view = ph.view(tethered())
    run = view.scene["runs"][0]
    sides = [np.array(one.get("size", 0.0)) for one in run["bodies"]["shapes"]]
    for size, mass, moments in zip(sides[:2], (100.0, 10.0), ((20, 30, 25), (1, 1, 1.5)), strict=True):
        np.testing.assert_allclose(mass / 12 * (np.sum(size**2) - size**2), moments)
    ball = run["bodies"]["shapes"][2]
    assert ball["kind"] == "sphere" and 4 / 3 * np.pi * ball["radius"] ** 3 == pytest.approx(0.02 * sides[0].prod())
    assert [(one["body"], one["axis"]) for one in run["rotors"]] == [(0, [1, 0, 0]), (1, [1, 0, 0]), (1, [0, 1, 0])]
    h = tethered().wheel_momentum.values
    assert np.abs(numbers(view, run["rotors"][2]["share"]) - h[:, 2] / np.abs(h).max()).max() < 2e-3
    assert run["orbit"]["central"]["name"] == "Earth"


def test_a_sum_that_is_a_top_is_drawn_as_one():
    ours = ph.system(ph.body("top", inertia=(5, 5, 1), pinned=True), ph.loads.weight(20.0, at=(0, 0, 1)))
    ds = ph.integrate(ours, "trapm", step=1e-3, t_end=0.5, attitude=ph.rotation.exp_quaternion((0.3, 0, 0)),
                      angular_velocity=(0, 0, 50))  # fmt: skip
    found, built = (ph.view(one).scene["runs"][0] for one in (ds, top()))
    assert (
        found["pivot"] == built["pivot"] == [0, 0, -1]
        and dict(found["facts"])["shape"] == dict(built["facts"])["shape"]
    )
    assert "Tilt from the vertical" in {one["group"] for one in found["series"]}
    two = ph.system(
        [ph.body(name, inertia=(5, 5, 1), pinned=True) for name in "ab"], ph.loads.weight(20.0, at=(0, 0, 1))
    )
    ds = ph.integrate(two, "v2", step=0.01, steps=3)
    assert "pivot" not in ph.view(ds).scene["runs"][0]


def test_pinned_bodies_stand_where_they_are_pinned():
    of_rod = {"inertia": (0.1, 0.1, 0.01), "pinned": True}
    rods = ph.system(ph.body("a", **of_rod), ph.body("b", **of_rod, at=(1, 0, 0)), ph.loads.weight(9.81, at=(0, 0, -1)))
    view = ph.view(ph.integrate(rods, step=0.01, steps=20))
    r = numbers(view, view.scene["runs"][0]["bodies"]["position"]).reshape(-1, 2, 3)
    assert (r == [[0, 0, 0], [1, 0, 0]]).all()
