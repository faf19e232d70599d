"""Starts of mechanisms: refused where joints are open, projected, or assembled from coordinates of joints."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.runs.initial_state import rows_by_name
from polhode.systems.joined import Configuration, told_open

BAR = (0.1, 0.105, 0.01)
ball, hinge, slider, weld, rod = (getattr(ph.joints, name) for name in ("ball", "hinge", "slider", "weld", "rod"))


def bars(*names):
    return [ph.body(name, 1.0, BAR) for name in names]


def mechanism():
    """All joints: a tensor that is not along the axes, and joints whose first body is the parent and the child."""
    tensor = [[1.0, 0.1, 0.0], [0.1, 1.2, 0.0], [0.0, 0.0, 0.5]]
    return ph.system(
        ph.body("upper", 2.0, tensor), bars("lower", "cart", "mast"), ph.body("bob", 1.0),
        hinge((0, 0, 0.2), (0, 1, 0.3), axis_of_other=(1, 2, 3), name="shoulder").on("upper", ph.ground),
        ball(at=(0, 0, 1), of_other=(0, 0, -1)).on("upper", "lower"),
        slider((1, 2, 0), (0.1, 0, 0), (0, 0, 0.3), axis_of_other=(0, 1, 1), name="rail").on("cart", "lower"),
        rod(1.5, of_other=(0, 0, 0.3)).on("bob", "cart"),
        weld(at=(0, 0.3, 0), of_other=(0.1, 0.2, 0.3), attitude=(0.5, 0.5, 0.5, 0.5)).on("mast", "cart"),
        ph.loads.weight(),
    )  # fmt: skip


def state_of(system, start):
    return ph.runs.start_state(system, **rows_by_name(system.names, start))


def at_random(system, seed=3):
    rng = np.random.default_rng(seed)
    q = rng.normal(size=(system.N, 4))
    return {"position": rng.normal(size=(system.N, 3)), "attitude": q / np.linalg.norm(q, axis=1, keepdims=True),
            "velocity": rng.normal(size=(system.N, 3)),
            "angular_velocity": rng.normal(size=(system.N, 3)) * np.isfinite(system.moments)}  # fmt: skip


def moved(body, h, motion):
    """Bodies (N, 13) after a small motion (N, 6) in space."""
    made = body.copy()
    made[:, :3] += h * motion[:, :3]
    made[:, 6:10] = ph.rotation.multiply(ph.rotation.exp_quaternion(h * motion[:, 3:]), body[:, 6:10])
    return made


def here(system, body):
    return Configuration(system, body.reshape(1, system.N, 13))


# ------------------------------------------------------------------ residuals, rows and coordinates by NumPy
def test_rows_are_the_slopes_of_residuals():
    system = mechanism()
    body = state_of(system, at_random(system)).reshape(-1, 13)
    now, h = here(system, body), 1e-6
    motion = now.velocities[0, : system.N]
    slope = (here(system, moved(body, h, motion)).residuals - here(system, moved(body, -h, motion)).residuals) / (2 * h)
    rates = now.along(now.rows, now.a[now.of_rows], now.b[now.of_rows])
    one = next(one for one in system.mechanism.joints if one.kind == "rod")
    rates[:, one.row] *= np.sqrt((now.d[0, one.piece] ** 2).sum()) / 1.5  # it is along the present direction
    assert np.abs(slope - rates).max() < 1e-8 and np.abs(rates).min() > 1e-3


def test_coordinates_and_rates_are_those_that_were_asked_for():
    system = mechanism()
    start = ph.assemble(system, {"shoulder": 0.7, "rail": -0.4}, {"shoulder": 1.5, "rail": 0.3})
    body = state_of(system, start).reshape(-1, 13)
    now = here(system, body)
    assert not told_open(system, body) and np.abs(now.residuals).max() < 1e-14
    for name, value, rate in (("shoulder", 0.7, 1.5), ("rail", -0.4, 0.3)):
        one = next(one for one in system.mechanism.joints if one.name == name)
        found, row = now.coordinate(one)
        assert abs(found[0] - value) < 1e-14 and abs(now.rate(one, row)[0] - rate) < 1e-14
        motion = now.velocities[0, : system.N]
        two = (here(system, moved(body, h, motion)).coordinate(one)[0][0] for h in (1e-6, -1e-6))
        assert abs((next(two) - next(two)) / 2e-6 - rate) < 1e-9


def test_angles_are_zero_where_own_axes_coincide_and_turn_about_the_axis():
    system = ph.system(bars("a", "b"), hinge((0, 0, 1), (0, 3, 0), name="h").on("a", "b"))
    start = ph.assemble(system, start={"a": {"rotation_vector": (0.3, 0.2, 0.1)}})
    assert np.allclose(start["a"]["attitude"], start["b"]["attitude"], rtol=0, atol=1e-15)
    turned = ph.assemble(system, {"h": 0.5}, start={"b": {"rotation_vector": (0, 0, 0)}})
    against = ph.rotation.multiply(ph.rotation.conjugate(turned["b"]["attitude"]), turned["a"]["attitude"])
    assert np.allclose(ph.rotation.log_quaternion(against), (0, 0.5, 0), rtol=0, atol=1e-14)


@each("joint", [
    hinge((1, 0, 0), (0, 1, 1), (0, 2, 0), (1, 0, 0), name="j"),
    slider((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), name="j"),
    rod(2.0, (1, 0, 0), (0, 1, 0), name="j"), weld((1, 0, 0), (0, 1, 0), (0.5, 0.5, 0.5, 0.5), name="j"),
])  # fmt: skip
@each("first, second", [("a", "b"), ("b", "a")])
def test_either_body_of_a_joint_may_be_the_one_that_is_placed(joint, first, second):
    tensor = [[1.0, 0.1, 0.0], [0.1, 1.2, 0.0], [0.0, 0.0, 0.5]]
    system = ph.system(ph.body("a", 2.0, tensor), bars("b"), joint.on(first, second))
    root = {"position": (1, 2, 3), "velocity": (0.3, 0.1, 0.2), "rotation_vector": (0.4, 0.2, -0.6)}
    has = {"j": 0.7} if joint.kind in ("hinge", "slider") else {}
    start = ph.assemble(system, has, has, start={"a": {**root, "angular_velocity": (0.3, -0.5, 0.7)}})
    body = state_of(system, start).reshape(-1, 13)
    assert not told_open(system, body) and np.array_equal(start["a"]["position"], root["position"])
    moving = ph.integrate(system, "v2", step=1e-3, steps=1, start=start).polhode.joints().isel(time=0, joint=0)
    assert bool(has) == bool(np.isfinite(moving.coordinate))
    assert not has or max(abs(float(moving.coordinate) - 0.7), abs(float(moving.rate) - 0.7)) < 1e-14
    told = joint.recorded
    u, w = (start[name]["position"] + ph.rotation.rotate(start[name]["attitude"], told.get(word, (0.0, 0.0, 0.0)))
            for name, word in ((first, "at"), (second, "of_other")))  # fmt: skip
    d = ph.rotation.rotate_inverse(start[second]["attitude"], u - w)
    if joint.kind == "rod":
        assert abs(d @ d - 4.0) < 1e-14
        return
    axis = np.array(told.get("axis_of_other", (0, 0, 0))) / np.linalg.norm(told.get("axis_of_other", 1))
    assert np.allclose(d, 0.7 * axis if joint.kind == "slider" else 0.0, rtol=0, atol=1e-14)
    if has:
        own = ph.rotation.rotate(start[first]["attitude"], np.array(told["axis"]) / np.linalg.norm(told["axis"]))
        assert np.allclose(own, ph.rotation.rotate(start[second]["attitude"], axis), rtol=0, atol=1e-14)


def test_angles_are_followed_through_turns():
    system = ph.system(bars("a"), hinge((0, 0, 0), (0, 1, 0), name="h").on("a", ph.ground))
    ds = ph.integrate(system, "v2", step=0.01, steps=500, every=25, start=ph.assemble(system, {"h": 0.5}, {"h": -4.0}))
    h = ds.polhode.joints().sel(joint="h")
    assert np.allclose(h.coordinate, 0.5 - 4.0 * ds.time, rtol=0, atol=1e-12)
    assert np.allclose(h.rate, -4.0, rtol=0, atol=1e-12) and h.gap.max() < 1e-14
    with pytest.raises(InvalidInput, match="'system' has no joints"):
        ph.integrate(ph.system(bars("a")), "v2", step=1.0, steps=1).polhode.joints()


# ------------------------------------------------------------------ refused, and projected
PENDULUM = [ph.loads.weight(), hinge((0, 0, 1), (0, 1, 0), name="h").on("a", ph.ground),
            ball(at=(0, 0, 1), of_other=(0, 0, -1), name="k").on("b", "a")]  # fmt: skip
GOOD = {"a": {"position": (0, 0, -1)}, "b": {"position": (0, 0, -3)}}


@each("changes, gap", [
    ({"b": {"position": (0, 0.25, -3)}}, "ball 'k' by 0.25 m;"),
    ({"a": {"position": (0, 0, -1), "rotation_vector": (0, 0, 0.3)}}, "hinge 'h' by 0.3 rad;"),
    ({"a": {"position": (0, 0, 1), "rotation_vector": (np.pi, 0, 0)}}, "ball 'k' by 4 m, hinge 'h' by 3.14 rad;"),
    ({"b": {"position": (0, 0, -3), "velocity": (0, 0, 2)}}, "ball 'k' by 2 m/s;"),
    ({"a": {"position": (0, 0, -1), "angular_velocity": (0, 0, 0.4)}}, "hinge 'h' by 0.4 rad/s;"),
    ({"a": {"position": (0, 0, -1 + 1e-7)}, "b": {"position": (0, 0, -3 + 1e-7)}}, "hinge 'h' by 1e-07 m;"),
])  # fmt: skip
def test_open_joints_are_refused_with_their_gaps(changes, gap):
    system = ph.system(bars("a", "b"), PENDULUM)
    with pytest.raises(InvalidInput, match=r"polhode\.assemble.* project=True") as told:
        ph.integrate(system, "v2", step=0.01, steps=1, start=GOOD | changes)
    assert gap in str(told.value) and "\n" not in str(told.value)


def test_what_was_written_down_is_no_gap():
    system = ph.system(bars("a", "b"), PENDULUM)
    start = ph.assemble(system, {"h": 0.3}, {"h": 2.0})
    rounded = {name: {word: np.round(x, 12) for word, x in one.items()} for name, one in start.items()}
    assert np.isfinite(ph.integrate(system, "v2", step=0.01, steps=2, start=rounded).energy).all()


def test_projection_meets_the_joints_and_is_least_by_the_masses():
    system, seed = mechanism(), 3
    start = at_random(system, seed)
    with pytest.raises(InvalidInput, match=r"does not meet the joints: .* and 2 more; take"):
        ph.integrate(system, "v2", step=1e-3, steps=1, **start)
    ds = ph.integrate(system, "v2", step=1e-3, steps=1, project=True, **start)
    first = ds.isel(time=0)
    words = ("position", "attitude", "momentum", "angular_momentum")
    state = ph.runs.start_state(system, **{word: first[word].values for word in words})
    assert not told_open(system, state) and np.abs(here(system, state).residuals).max() < 1e-14
    assert ph.rerun(ds).equals(ds)


def test_projected_momenta_are_the_nearest():
    system = ph.system(bars("a", "b"), PENDULUM)
    start = {name: dict(one) for name, one in GOOD.items()}
    start["b"] |= {"velocity": (0.4, 0.3, 2.0), "angular_velocity": (0.1, 0.2, 0.3)}
    first = ph.integrate(system, "v2", step=1e-3, steps=1, start=start, project=True).isel(time=0)
    assert np.array_equal(first.position, [one["position"] for one in GOOD.values()])
    given = np.array([[0, 0, 0, 0, 0, 0], [*start["b"]["velocity"], *start["b"]["angular_velocity"]]])
    found = np.concatenate([first.velocity, first.angular_velocity], axis=1)
    change = (found - given) * np.array([1, 1, 1, *BAR])
    rng = np.random.default_rng(1)
    for _ in range(3):  # what joints allow: the change does no work along it
        w, v = rng.normal(size=3), rng.normal()
        arm = np.array([0, v, 0])
        tip = np.cross(arm, (0, 0, -2.0))
        allowed = np.array([[*np.cross(arm, (0, 0, -1.0)), *arm], [*(tip + np.cross(w, (0, 0, -1.0))), *w]])
        assert abs((change * allowed).sum()) < 1e-13


def test_project_is_for_joints():
    with pytest.raises(InvalidInput, match="project is for systems with joints, and free_body has none"):
        ph.integrate(ph.free_body((1, 2, 3)), "v2", step=0.1, steps=1, project=True)
    with pytest.raises(InvalidInput, match="project"):
        ph.integrate(ph.system(bars("a", "b"), PENDULUM), "v2", step=0.1, steps=1, start=GOOD, project="yes")


def test_runs_of_one_kind_are_refused_one_by_one():
    system = ph.system(ph.body("bob", 1.0), ph.loads.weight(), rod(1.0).on("bob", ph.ground))
    for x in (1.0, -1.0):
        assert ph.integrate(system, "v2", step=0.01, steps=2, position=(x, 0, 0)).sizes["time"] == 3
    with pytest.raises(InvalidInput, match=r"rod 'rod' by 0\.1 m"):
        ph.integrate(system, "v2", step=0.01, steps=2, position=(1.1, 0, 0))


def test_runs_go_on_from_their_rows():
    system = ph.system(bars("a", "b"), PENDULUM)
    ds = ph.integrate(system, "s6_10", step=0.01, steps=20, start=ph.assemble(system, {"h": 0.4}, {"h": 1.0}))
    both = ph.integrate(system, "s6_10", step=0.01, steps=20, start=ds)
    assert float(both.time[-1]) == pytest.approx(0.4) and float(abs(both.energy_error).max()) < 1e-9


def test_members_are_refused_by_what_they_are():
    system = ph.system(bars("a", "b"), PENDULUM)
    start = {name: {"position": one["position"]} for name, one in ph.assemble(system).items()}
    with pytest.raises(InvalidInput, match=r"member 1: the start does not meet the joints: ball 'k' by 0\.1 m/s"):
        ph.ensemble(system, "v2", step=0.01, steps=2, start=start,
                    members={"velocity": [np.zeros((2, 3)), [(0, 0, 0), (0, 0, 0.1)]]})  # fmt: skip


# ------------------------------------------------------------------ assembled
def four_bar(**more):
    return ph.system(
        bars("crank", "coupler", "rocker"), ph.loads.weight(),
        hinge((-0.2, 0, 0), (0, 1, 0), name="A").on("crank", ph.ground),
        hinge((-0.5, 0, 0), (0, 1, 0), of_other=(0.2, 0, 0), name="B").on("coupler", "crank"),
        hinge((-0.4, 0, 0), (0, 1, 0), of_other=(0.5, 0, 0), name="C").on("rocker", "coupler"),
        hinge((0.4, 0, 0), (0, 1, 0), of_other=(0.9, 0, 0), name="D").on("rocker", ph.ground),
    )  # fmt: skip


def test_loops_are_closed_and_move_together():
    system = four_bar()
    assert system.mechanism.integers[1] - system.mechanism.integers[2] == 5
    start = ph.assemble(system, {"A": -0.9}, {"A": 2.0})
    body = state_of(system, start).reshape(-1, 13)
    assert not told_open(system, body) and np.abs(here(system, body).residuals).max() < 1e-13
    assert np.allclose(start["crank"]["angular_velocity"], (0, 2, 0), rtol=0, atol=1e-12)
    assert np.allclose(start["crank"]["position"], (0.2 * np.cos(0.9), 0, 0.2 * np.sin(0.9)), rtol=0, atol=1e-12)
    ds = ph.integrate(system, "s6_10", step=1e-3, steps=50, start=start)
    assert float(abs(ds.energy_error).max()) < 1e-9


def test_slider_crank():
    """The crank turns about its centre, at the origin, where lengths have no size of their own."""
    system = ph.system(
        bars("crank", "rod", "piston"), ph.loads.weight(),
        hinge((0, 0, 0), (0, 1, 0), name="main").on("crank", ph.ground),
        hinge((-0.5, 0, 0), (0, 1, 0), of_other=(0.2, 0, 0), name="pin").on("rod", "crank"),
        hinge((0, 0, 0), (0, 1, 0), of_other=(0.5, 0, 0), name="wrist").on("piston", "rod"),
        slider((1, 0, 0), name="bore").on("piston", ph.ground),
    )  # fmt: skip
    for angle, side, near in ((0.0, 1, None), (0.8, 1, None), (2.4, -1, None), (2.4, 1, {"pin": -2.4})):
        start = ph.assemble(system, {"main": angle}, {"main": 10.0}, near=near)
        sine, cosine = np.sin(angle), np.cos(angle)
        far = np.sqrt(1.0 - 0.04 * sine**2)
        assert abs(start["piston"]["position"][0] - (0.2 * cosine + side * far)) < 1e-13
        speed = -2.0 * sine - side * 0.4 * sine * cosine / far
        assert abs(start["piston"]["velocity"][0] - speed) < 1e-12
    ds = ph.integrate(system, "s6_10", step=1e-3, steps=50, start=start)
    assert float(abs(ds.energy_error).max()) < 1e-9
    assert np.allclose(ph.assemble(system, {"bore": 0.9})["piston"]["position"], (0.9, 0, 0), rtol=0, atol=1e-13)


def test_stretched_mechanisms_are_bent():
    system = ph.system(
        bars("a", "b"), hinge((-0.5, 0, 0), (0, 1, 0), name="A").on("a", ph.ground),
        hinge((-0.5, 0, 0), (0, 1, 0), of_other=(0.5, 0, 0), name="B").on("b", "a"),
        ball(at=(0.5, 0, 0), of_other=(1.2, 0, 0), name="C").on("b", ph.ground),
    )  # fmt: skip
    assert not told_open(system, state_of(system, ph.assemble(system)))


def bricard():
    """Six bars of one metre and six hinges, along edges of a cube: one of thirty rows is implied by the others."""
    corners = np.array([(1, -1, 0), (1, -1, -1), (0, -1, -1), (0, 0, -1), (0, 0, 0), (1, 0, 0)], dtype=float)
    corners += (0.0, 1.0, 0.0)
    axes = np.array([(0, 1, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 1)], dtype=float)
    places = (corners + np.roll(corners, -1, axis=0)) / 2
    names = [f"bar{k}" for k in range(5)]
    joints = []
    for k in range(6):  # hinge k stands at corner k, between bars k - 1 and k; the last bar is the ground
        a, b = (k, k - 1) if k < 5 else (4, -1)
        of_other, other = (corners[k] - places[b], names[b]) if b >= 0 else (corners[k], ph.ground)
        joints.append(hinge(corners[k] - places[a], axes[k], of_other, name=f"h{k}").on(names[a], other))
    bodies = [ph.body(name, 1.0, (0.09, 0.09, 0.01)) for name in names]
    return ph.system(bodies, joints, ph.loads.weight()), dict(zip(names, places[:5], strict=True))


def test_rows_that_others_imply_are_no_error():
    system, places = bricard()
    assert system.mechanism.rows == 30
    start = {name: {"position": place} for name, place in places.items()}
    assert not told_open(system, state_of(system, start))
    shaken = {name: {"position": place + 1e-2 * np.sin(place + 1.0), "velocity": np.cos(place)}
              for name, place in places.items()}  # fmt: skip
    ds = ph.integrate(system, "v2", step=1e-3, steps=1, start=shaken, project=True)
    first = ds.isel(time=0)
    words = ("position", "attitude", "momentum", "angular_momentum")
    state = ph.runs.start_state(system, **{word: first[word].values for word in words})
    assert not told_open(system, state) and float(abs(first.velocity).max()) > 0.01


@each("given, rates, sentence", [
    ({"A": -0.9, "C": 0.3}, None, "no position was found that meets the joints with A = -0.9, C = 0.3: .*fewer"),
    ({"A": -0.9}, {"A": 1.0, "D": 1.0}, "no velocities meet the joints with the rates A = 1, D = 1: more are given"),
    ({"X": 1.0}, None, "unknown joint in given 'X'"), (None, {"X": 1.0}, "unknown joint in rates 'X'"),
    ({"A": np.nan}, None, r"given\['A'\]"), ({"A": "left"}, None, r"given\['A'\]"), ([1.0], None, "given"),
])  # fmt: skip
def test_what_cannot_be_assembled(given, rates, sentence):
    with pytest.raises(InvalidInput, match=sentence) as told:
        ph.assemble(four_bar(), given, rates)
    assert "\n" not in str(told.value)


def test_other_sentences_of_assemble():
    with pytest.raises(InvalidInput, match="system has no joints to assemble"):
        ph.assemble(ph.system(bars("a")))
    with pytest.raises(InvalidInput, match="given has k, but a ball has no coordinate"):
        ph.assemble(ph.system(bars("a", "b"), PENDULUM), {"k": 0.1})
    two = [ball(of_other=(x, 0, 0), name=name).on("a", ph.ground) for name, x in (("one", 0), ("two", 3))]
    far = ph.system(bars("a"), two)
    with pytest.raises(InvalidInput, match=r"no position was found that meets the joints: ball .* out of reach"):
        ph.assemble(far)


def test_what_floats_stays_where_it_is_said_to_be():
    system = ph.system(bars("bus", "left", "right"), *[
        hinge((side, 0, 0), (0, 1, 0), name=f"on_{name}").on(name, "bus") for name, side in (("left", 1), ("right", -1))
    ])  # fmt: skip
    base = {"position": (7e6, 0, 0), "velocity": (0, 7.5e3, 0), "rotation_vector": (0, 0, 1.0)}
    base["angular_velocity"] = (0, 0, 0.1)
    start = ph.assemble(system, {"on_left": 0.2}, {"on_right": 0.5}, start={"bus": base})
    assert np.array_equal(start["bus"]["position"], base["position"])
    assert np.allclose(start["bus"]["velocity"], base["velocity"], rtol=1e-15, atol=0)
    assert np.allclose(start["bus"]["angular_velocity"], (0, 0, 0.1), rtol=0, atol=1e-15)
    assert np.allclose(start["right"]["angular_velocity"], (0, 0.5, 0.1), rtol=0, atol=1e-15)
    assert not told_open(system, state_of(system, start))
    balls = ph.system(bars("a", "b"), PENDULUM)
    turned = ph.assemble(balls, start={"b": {"rotation_vector": (0.5, 0, 0)}})
    assert np.allclose(ph.rotation.log_quaternion(turned["b"]["attitude"]), (0.5, 0, 0), rtol=0, atol=1e-15)


# ------------------------------------------------------------------ scenarios
TOML = """\
method = "v2"
[system]
type = "system"
[[system.bodies]]
name = "upper"
mass = 2.0
inertia = [1.0, 1.0, 0.1]
[[system.bodies]]
name = "lower"
mass = 1.0
inertia = [0.5, 0.5, 0.1]
[[system.loads]]
kind = "weight"
[[system.joints]]
kind = "hinge"
name = "shoulder"
at = [0, 0, 1]
axis = [0, 1, 0]
on = ["upper", "ground"]
[[system.joints]]
kind = "ball"
at_km = [0, 0, 0.001]
of_other = [0, 0, -1]
on = ["lower", "upper"]
[initial.upper]
position = [0.0, 0.0, -1.0]
[initial.lower]
position = [0.0, 0.0, -3.1]
[run]
step = 0.01
steps = 10
"""


def test_scenario(tmp_path):
    (tmp_path / "arm.toml").write_text(TOML)
    with pytest.raises(InvalidInput, match=r"ball 'ball' by 0\.1 m"):
        ph.runs.read_scenario(tmp_path / "arm.toml")
    (tmp_path / "arm.toml").write_text(TOML + "project = true\n")
    scenario = ph.runs.read_scenario(tmp_path / "arm.toml")
    assert scenario.system.arguments["ball"]["at"] == [0.0, 0.0, 1.0]
    ds = scenario.integrate()
    assert np.allclose(ds.position[0], [(0, 0, -1), (0, 0, -3)], rtol=0, atol=1e-14)
    start = {"upper": {"position": (0, 0, -1)}, "lower": {"position": (0, 0, -3.1)}}
    words = {"step": 0.01, "steps": 10, "start": start, "project": True}
    ph.runs.write_scenario(tmp_path / "again.toml", scenario.system, "v2", **words)
    again = ph.runs.read_scenario(tmp_path / "again.toml")
    assert again.system.arguments == scenario.system.arguments and again.integrate().position.equals(ds.position)


def test_scenario_is_assembled(tmp_path):
    text = TOML[: TOML.index("[initial")] + "[initial]\njoints = { shoulder = 0.3 }\njoint_rates = { shoulder = 2.0 }\n"
    (tmp_path / "arm.toml").write_text(text + "[run]\nstep = 0.01\nsteps = 10\n")
    scenario = ph.runs.read_scenario(tmp_path / "arm.toml")
    start = ph.assemble(scenario.system, {"shoulder": 0.3}, {"shoulder": 2.0})
    ds = ph.integrate(scenario.system, "v2", step=0.01, steps=10, start=start)
    assert abs(scenario.integrate().position - ds.position).max() < 1e-13
    (tmp_path / "arm.toml").write_text(text.replace("joints = { shoulder", "joints = { elbow") + "[run]\nstep = 0.01\n")
    with pytest.raises(InvalidInput, match="unknown joint in given 'elbow'"):
        ph.runs.read_scenario(tmp_path / "arm.toml")


@each("line, sentence", [
    ('on = ["lower", "upper"]', "on"), ('kind = "ball"', "kind"),
])  # fmt: skip
def test_scenario_names_what_is_missing(tmp_path, line, sentence):
    (tmp_path / "arm.toml").write_text(TOML.replace(line, "", 1))
    with pytest.raises(InvalidInput, match=sentence):
        ph.runs.read_scenario(tmp_path / "arm.toml")


def test_a_craft_is_assembled_where_its_bus_is():
    mu, r = 3.986004418e14, 7.0e6
    craft = ph.system(ph.body("bus", 200.0, (40, 40, 30)), ph.body("panel", 12.0, (1.0, 9.0, 10.0)),
                      ph.joints.hinge((0, 0.5, 0), (1, 0, 0), (0, -0.7, 0), name="h").on("panel", "bus"),
                      ph.loads.central(mu))  # fmt: skip
    start = ph.assemble(craft, {"h": 0.0}, start={"bus": {"position": (r, 0, 0), "velocity": (0, (mu / r) ** 0.5, 0)}})
    assert np.allclose(start["panel"]["position"], (r, -1.2, 0.0), rtol=0, atol=1e-8)
    assert np.allclose(start["panel"]["velocity"], start["bus"]["velocity"])
