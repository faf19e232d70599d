"""Wheels and gyros in the bodies of a sum: against systems of one body, and against equations written by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from cover import chosen, crossed
from each import each
from polhode.errors import InvalidInput, PolhodeError
from vectors import cross

MU, RADIUS, J2 = 3.986004415e14, 6378136.3, 1.08262668e-3
TENSOR = [[90.0, 2.0, -1.0], [2.0, 70.0, 3.0], [-1.0, 3.0, 60.0]]
LOW = {"position": (6878136.3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0), "angular_velocity": (0.02, 0.03, -0.01)}
METHODS = ("v2/kepler", "rkn6_14a/kepler", "mkrk:cv8", "mkrk:gauss4")
KINDS = {
    "viscous": {}, "coulomb": {"coulomb": 1e-3}, "saturated": {"max_momentum": (0.6, 1.01, 1.6)},
    "speed": {"mode": "speed", "gain": 0.02, "command": (12.0, -19.0, 28.0)},
    "imbalanced": {"imbalance": 1e-4, "positions": 0.2 * np.eye(3)},
}  # fmt: skip


def wheels(**more):
    given = {"max_torque": 0.2, "speed": (10.0, -20.0, 30.0), "viscous": 1e-4, "command": (0.01, -0.02, 0.005)} | more
    return ph.reaction_wheels(np.eye(3), 0.05, **given)


def loads():
    return [ph.loads.central(MU), ph.loads.zonal(MU, RADIUS, J2), ph.loads.gravity_gradient(MU)]


def built(**more):
    return ph.spacecraft(TENSOR, MU, 120.0, forces=[ph.forces.zonal(J2=J2, radius=RADIUS)], wheels=wheels(**more))


def differ(a, b, names):
    return {name: float(abs(a[name].values - b[name].values).max() / abs(a[name].values).max()) for name in names}


@each(("kind", "method"), [*crossed(KINDS, METHODS[:3]), *(pytest.param(kind, METHODS[3], marks=pytest.mark.full)
                                                           for kind in KINDS)])  # fmt: skip
def test_a_craft_with_wheels_is_that_of_polhode(kind, method):
    more = KINDS[kind]
    ours = ph.system(ph.body("craft", 120.0, TENSOR, wheels=wheels(**more)), loads())
    assert ours.recommended == built().recommended == "rkn6_14a/kepler"
    assert "max_torque 0.2" in str(ours) and "(axes" in str(ours) and ("coulomb " in str(ours)) == (kind == "coulomb")
    run = {"step": 0.01 if kind == "imbalanced" else 0.5, "steps": 400, "every": 100}
    a, b = (ph.integrate(one, method, **run, **LOW) for one in (built(**more), ours))
    worst = differ(a, b, ("position", "attitude", "angular_velocity", "wheel_momentum", "work", "spin"))
    assert max(worst.values()) < 1e-12, (method, worst)
    assert float(abs(b.energy_error).max()) < 2e-10
    assert abs(b.wheel_momentum.values[-1] - b.wheel_momentum.values[0]).max() > 1e-3  # they acted
    if kind == "saturated":
        assert list(b.event_kind.values) == ["wheel_saturated"] * 3
        assert np.array_equal(a.event_time, b.event_time)


GYROS = {
    "one gimbal": {"spin_axes": [(0, 1, 0), (0, 0, 1), (1, 0, 0)]},
    "two": {"spin_axes": [(0, 0, 1), (1, 0, 0), (0, 1, 0)], "inner_axes": [(0, 1, 0), (0, 0, 1), (1, 0, 0)]},
    "stops": {"spin_axes": [(0, 1, 0), (0, 0, 1), (1, 0, 0)], "max_angle": 0.5},
    "beside wheels": {"spin_axes": [(0, 1, 0), (0, 0, 1), (1, 0, 0)]},
}


@each(("kind", "method"), crossed(GYROS, ["v2", "rkn6_14a", "mkrk:cv8"]))
def test_gyros_in_a_body_are_those_of_polhode(kind, method):
    tensor = [[2.0, 0.1, -0.05], [0.1, 1.5, 0.1], [-0.05, 0.1, 2.2]]
    numbers = {"momentum": (0.5, 0.6, 0.7), "command": (0.1, 0.2, -0.3), "max_rate": 0.25, "angle": (0.1, 0.2, 0.3)}
    rotors = {"gyros": ph.control_moment_gyros(np.eye(3), **GYROS[kind], **numbers)}
    if kind == "beside wheels":
        rotors["wheels"] = ph.reaction_wheels(np.eye(3), 0.01, speed=(10.0, 20.0, 30.0), command=0.01)
    ours = ph.system(ph.body("x", inertia=tensor, pinned=True, **rotors))
    theirs = ph.rigid_body(tensor, **rotors)
    assert ours.conserves == theirs.conserves == ("spin",)
    run = {"step": 0.02, "steps": 200, "every": 20, "angular_velocity": (0.02, 0.3, -0.1)}
    a, b = (ph.integrate(one, method, **run) for one in (theirs, ours))
    worst = differ(a, b, ("attitude", "angular_velocity", "gimbal_angle", "work", "spin"))
    assert max(worst.values()) < 1e-12, (method, worst)
    assert float(abs(b.spin - b.spin[0]).max()) < 1e-13
    if kind == "stops":
        assert list(b.event_kind.values) == list(a.event_kind.values) == ["gimbal_stopped"] * 2


def formation(*names, **more):
    return ph.system([ph.body(name, 120.0, TENSOR, wheels=wheels(**more)) for name in names], loads())


def apart(names):
    return {name: {**LOW, "position": (6878136.3 + 100.0 * k, 0, 0), "angular_velocity": (0.02, 0.03 * k, -0.01)}
            for k, name in enumerate(names)}  # fmt: skip


@each("method", chosen(METHODS, METHODS[:1]))
def test_a_formation_is_so_many_craft(method):
    names = ("lead", "left", "right")
    run = {"step": 0.5, "steps": 400, "every": 100}
    ds = ph.integrate(formation(*names), method, start=apart(names), **run)
    assert float(abs(ds.energy_error).max()) < 2e-10
    for name, start in apart(names).items():
        one, mine = ph.integrate(built(), method, **run, **start), ds.sel(body=name)
        worst = differ(one, mine, ("position", "attitude", "angular_velocity", "spin"))
        assert max(worst.values()) < 1e-12, worst
        own = [f"{name}.{k}" for k in range(3)]
        assert abs(one.wheel_momentum.values - mine.wheel_momentum.sel(wheel=own).values).max() < 1e-12
        assert abs(one.work.values[:, 0] - mine.work.sel(force=f"{name}.wheels").values).max() < 1e-12


@each("kind", ["saturated", "imbalanced"])
def test_a_formation_of_unlike_craft_is_so_many_craft(kind):
    names, more = ("lead", "left"), ({}, KINDS[kind])
    bodies = [ph.body(name, 120.0, TENSOR, wheels=wheels(**own)) for name, own in zip(names, more, strict=True)]
    ours = ph.system(bodies, loads())
    run = {"step": 0.01 if kind == "imbalanced" else 0.5, "steps": 400, "every": 100}
    ds = ph.integrate(ours, "rkn6_14a/kepler", start=apart(names), **run)
    for (name, start), own in zip(apart(names).items(), more, strict=True):
        one, mine = ph.integrate(built(**own), "rkn6_14a/kepler", **run, **start), ds.sel(body=name)
        worst = differ(one, mine, ("position", "attitude", "angular_velocity", "spin"))
        assert max(worst.values()) < 1e-12, worst  # whose steps are cut where another's wheels are saturated
        states = ["wheel_momentum"] + ["wheel_angle"] * ("wheel_angle" in one)
        for state in states:
            there = mine[state].sel(wheel=[f"{name}.{k}" for k in range(3)]).values
            assert abs(one[state].values - there).max() < 1e-9, state
    assert "event_kind" not in ds or list(ds.event_kind.values) == ["wheel_saturated"] * 3
    assert ("wheel_angle" in ds) == (kind == "imbalanced")


OF_A, OF_B, STIFFNESS, LENGTH = np.array([0.0, 0.3, 1.0]), np.array([0.2, 0.0, -0.3]), 5.0, 2.0
I_A, I_B, MASSES = np.array([2.0, 3.0, 2.5]), np.array([0.5, 0.4, 0.6]), (10.0, 2.0)
AXES_B = np.array([(0.0, 0.0, 1.0), (np.sqrt(0.5), np.sqrt(0.5), 0.0)])
PAIR = {
    "a": {"angular_velocity": (0.1, 0.2, -0.3)},
    "b": {"position": (0.5, 0.0, 4.5), "velocity": (0.1, 0.0, 0.2), "angular_velocity": (0.3, 0.0, 0.1)},
}


def tethered(turning=True, **more):
    """Both have wheels; those of the first alone may have limits, and then the other has none."""
    spun = turning and ph.reaction_wheels(np.eye(3), 0.01, speed=(10.0, -20.0, 30.0), viscous=1e-4,
                                          command=(0.02, 0.01, -0.03), **more)  # fmt: skip
    other = turning and not more and ph.reaction_wheels(AXES_B, 0.005, speed=40.0, command=0.01)
    return ph.system(ph.body("a", MASSES[0], I_A, wheels=spun or None),
                     ph.body("b", MASSES[1], I_B, wheels=other or None),
                     ph.loads.tether(STIFFNESS, LENGTH, OF_A, OF_B).on("a", "b"))  # fmt: skip


@cache
def by_hand(t_end):
    """Quaternions, angular velocities and momenta of wheels in DOP853, with the inertia tensors of the bodies without
    their wheels."""
    axes, inertia = (np.eye(3), AXES_B), (np.full(3, 0.01), np.full(2, 0.005))
    commands, viscous = (np.array([0.02, 0.01, -0.03]), np.full(2, 0.01)), (1e-4, 0.0)
    J = [np.diag(whole) - np.einsum("k,ki,kj->ij", i, a, a)
         for whole, a, i in zip((I_A, I_B), axes, inertia, strict=True)]  # fmt: skip
    spins = (np.array([10.0, -20.0, 30.0]), np.full(2, 40.0))
    sizes = (16, 15)

    def rates(t, y):
        bodies = np.split(y, [sizes[0]])
        R = [ph.rotation.matrix_from_quaternion(one[6:10] / np.linalg.norm(one[6:10])) for one in bodies]
        arms = [R[0] @ OF_A, R[1] @ OF_B]
        d = bodies[1][:3] + arms[1] - bodies[0][:3] - arms[0]
        F = STIFFNESS * max(np.linalg.norm(d) - LENGTH, 0.0) * d / np.linalg.norm(d)
        out = []
        for i, (one, force) in enumerate(zip(bodies, (F, -F), strict=True)):
            w, (a, b, c, e), h = one[10:13], one[6:10], one[13:]
            turn = 0.5 * np.array([-b * w[0] - c * w[1] - e * w[2], a * w[0] + c * w[2] - e * w[1],
                                   a * w[1] + e * w[0] - b * w[2], a * w[2] + b * w[1] - c * w[0]])  # fmt: skip
            u = commands[i] - viscous[i] * (h / inertia[i] - axes[i] @ w)
            torque = cross(J[i] @ w + h @ axes[i], w) + R[i].T @ cross(arms[i], force) - u @ axes[i]
            out += [one[3:6], force / MASSES[i], turn, np.linalg.solve(J[i], torque), u]
        return np.concatenate(out)

    begin = []
    for i, name in enumerate("ab"):
        given = PAIR[name]
        w = np.array(given["angular_velocity"])
        begin += [given.get("position", np.zeros(3)), given.get("velocity", np.zeros(3)), (1.0, 0.0, 0.0, 0.0), w,
                  inertia[i] * (spins[i] + axes[i] @ w)]  # fmt: skip
    end = solve_ivp(rates, (0.0, t_end), np.concatenate(begin), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return np.split(end, [sizes[0]])


@each("method", ["mkrk:cv8", "mkrk:gauss6", "rkn6_14a"])
def test_wheels_on_both_ends_of_a_tether_are_as_their_equations_say(method):
    ds = ph.integrate(tethered(), method, step=0.0025, steps=200, every=200, start=PAIR)
    assert list(ds.wheel.values) == ["a.0", "a.1", "a.2", "b.0", "b.1"]
    bare = ph.integrate(tethered(False), "mkrk:cv8", step=0.0025, steps=200, every=200, start=PAIR)
    for name, end, count in zip("ab", by_hand(0.5), (3, 2), strict=True):
        one = ds.sel(body=name).isel(time=-1)
        for what, values in (("position", end[:3]), ("attitude", end[6:10]), ("angular_velocity", end[10:13])):
            assert abs(one[what].values - values).max() < 1e-9, (name, what)
        h = one.wheel_momentum.sel(wheel=[f"{name}.{k}" for k in range(count)])
        assert abs(h.values - end[13:]).max() < 1e-9
        without = bare.angular_velocity.sel(body=name).values[-1]
        assert abs(one.angular_velocity.values - without).max() > 1e-2  # they acted
    assert float(abs(ds.energy_error).max()) < 1e-9 and float(abs(ds.work[-1]).min()) > 1e-3


AXES_OF_GIMBALS = (np.eye(3), np.array([(0.0, 0.0, 1.0)]))
SPIN_AXES = (np.array([(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)]), np.array([(1.0, 0.0, 0.0)]))
RATES = (np.array([0.2, -0.3, 0.1]), np.array([0.5]))
MOMENTA = (np.array([0.5, 0.6, 0.7]), np.array([0.2]))


def gyrated():
    gyros = [ph.control_moment_gyros(axes, spin, h, command=rate)
             for axes, spin, h, rate in zip(AXES_OF_GIMBALS, SPIN_AXES, MOMENTA, RATES, strict=True)]  # fmt: skip
    return ph.system(ph.body("a", MASSES[0], I_A, gyros=gyros[0]), ph.body("b", MASSES[1], I_B, gyros=gyros[1]),
                     ph.loads.tether(STIFFNESS, LENGTH, OF_A, OF_B).on("a", "b"))  # fmt: skip


def gyrating(t, y):
    """Rates of position, velocity, attitude, angular velocity of both bodies, whose gimbals turn at equal rates."""
    bodies = y.reshape(2, 13)
    R = [ph.rotation.matrix_from_quaternion(one[6:10] / np.linalg.norm(one[6:10])) for one in bodies]
    arms = [R[0] @ OF_A, R[1] @ OF_B]
    d = bodies[1, :3] + arms[1] - bodies[0, :3] - arms[0]
    F = STIFFNESS * max(np.linalg.norm(d) - LENGTH, 0.0) * d / np.linalg.norm(d)
    out = []
    for i, (one, force, I) in enumerate(zip(bodies, (F, -F), (I_A, I_B), strict=True)):
        w, (a, b, c, e) = one[10:], one[6:10]
        H, rate = np.zeros(3), np.zeros(3)
        for g, s, h, r in zip(AXES_OF_GIMBALS[i], SPIN_AXES[i], MOMENTA[i], RATES[i], strict=True):
            now = np.cos(r * t) * s + np.sin(r * t) * cross(g, s)
            H, rate = H + h * now, rate + h * r * cross(g, now)
        turn = 0.5 * np.array([-b * w[0] - c * w[1] - e * w[2], a * w[0] + c * w[2] - e * w[1],
                               a * w[1] + e * w[0] - b * w[2], a * w[2] + b * w[1] - c * w[0]])  # fmt: skip
        torque = cross(I * w + H, w) + R[i].T @ cross(arms[i], force) - rate
        out += [one[3:6], force / MASSES[i], turn, torque / I]
    return np.concatenate(out)


@pytest.fixture(scope="module")
def gyrated_end():
    """The state after 0.5 by DOP853."""
    y = np.zeros((2, 13))
    y[:, 6], y[0, 10:], y[1, 10:] = 1.0, PAIR["a"]["angular_velocity"], PAIR["b"]["angular_velocity"]
    y[1, :6] = (*PAIR["b"]["position"], *PAIR["b"]["velocity"])
    return solve_ivp(gyrating, (0.0, 0.5), y.ravel(), method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1].reshape(2, 13)


@each("method", ["mkrk:cv8", "rkn6_14a"])
def test_gyros_on_both_ends_of_a_tether_are_as_their_equations_say(method, gyrated_end):
    end = gyrated_end
    ds = ph.integrate(gyrated(), method, step=0.0025, steps=200, every=50, start=PAIR)
    bare = ph.integrate(tethered(False), "mkrk:cv8", step=0.0025, steps=200, every=200, start=PAIR)
    for what, own in (("position", slice(3)), ("attitude", slice(6, 10)), ("angular_velocity", slice(10, 13))):
        assert abs(ds[what].values[-1] - end[:, own]).max() < 1e-9, what
    assert abs(ds.angular_velocity.values[-1] - bare.angular_velocity.values[-1]).max() > 1e-2  # they acted
    assert list(ds.gimbal.values) == ["a.0", "a.1", "a.2", "b.0"]
    assert list(ds.force.values) == ["a.gyros", "b.gyros"] and float(abs(ds.energy_error).max()) < 1e-9
    whole = ds.total_angular_momentum.values
    assert abs(whole - whole[0]).max() < 1e-13  # a kick takes the change from the axes before and after it


def numbers(ds):
    return np.concatenate(
        [np.ravel(ds[name]) for name in ("position", "attitude", "angular_velocity", "wheel_momentum")]
    )


def test_limits_of_many_motors_do_not_stop_series():
    """What decides more often than one could follow both ways: the program of a sum is not traced again."""
    pair = tethered(max_torque=0.025, max_momentum=(0.108, 1.0, 1.0))
    series = ph.integrate(pair, "taylor", steps=ph.Tolerance(1e-13), t_end=0.5, start=PAIR)
    stages = ph.integrate(pair, "mkrk:cv8", step=0.00125, steps=400, every=400, start=PAIR)
    assert abs(numbers(series.isel(time=[-1])) - numbers(stages.isel(time=[-1]))).max() < 1e-10
    assert list(series.event_kind.values) == ["wheel_saturated"]
    assert float(abs(series.energy_error).max()) < 1e-12


NUMBERS = {"a.wheels.viscous": 1e-4, "b.wheels.inertia": 0.005}
VARIED = {
    "a.wheels.viscous": [0.0, 1e-4, 1e-2], "b.wheels.inertia": [0.005, 0.006, 0.004], "b.mass": [2.0, 3.0, 4.0],
    "a.wheels.axes": [np.eye(3), np.eye(3)[::-1], np.eye(3)[[1, 2, 0]]], "a.wheels.coulomb": [0.0, 1e-3, 2e-3],
}  # fmt: skip


@each("name", VARIED)
def test_members_differ_in_any_number_of_wheels(name):
    pair, run = tethered(), {"step": 0.0025, "steps": 100, "every": 50, "start": PAIR}
    alone = [ph.integrate(pair, parameters={name: one}, **run) for one in VARIED[name]]
    assert abs(numbers(alone[1]) - numbers(alone[0])).max() > 1e-6
    engines = ("threads",) if name in ("b.wheels.inertia", "a.wheels.coulomb") else ("threads", "lanes")
    for engine in engines:
        together = ph.ensemble(pair, engine=engine, members={name: VARIED[name]}, **run)
        for k, one in enumerate(alone):
            assert abs(numbers(together.isel(member=k)) - numbers(one)).max() < 1e-14
            assert abs(together.spin.values[k] - one.spin.values).max() < 1e-14


def test_derivatives_by_the_numbers_of_wheels(columns_by_fours):
    """And by the angular velocities of bodies, relative to which wheels start."""
    pair, run = tethered(), {"step": 0.0025, "steps": 100, "every": 100, "start": PAIR}

    def end(rows):
        return rows.attitude.ravel()[-1] + 100.0 * rows.wheel_momentum.ravel()[-4]

    slopes = ph.gradient(end, pair, "mkrk:cv8", wrt=["angular_velocity", "a.wheels.viscous", "b.wheels.inertia"], **run)

    def moved(s, name="", body="a"):
        start = {one: dict(given) for one, given in PAIR.items()}
        given = {} if name == "angular_velocity" else {"parameters": {name: NUMBERS[name] + s}}
        if not given:
            start[body]["angular_velocity"] = np.array(start[body]["angular_velocity"]) + (0.0, s, 0.0)
        ds = ph.integrate(pair, "mkrk:cv8", **run | {"start": start}, **given).isel(time=-1)
        return float(ds.attitude.values.ravel()[-1] + 100.0 * ds.wheel_momentum.values[1])

    def slope(offset, *at):
        return (moved(offset, *at) - moved(-offset, *at)) / (2.0 * offset)

    for k, body in enumerate("ab"):
        wanted = slope(1e-5, "angular_velocity", body)
        assert abs(slopes["angular_velocity"][k, 1] - wanted) < 1e-8
    for name in ("a.wheels.viscous", "b.wheels.inertia"):
        assert slopes[name] == pytest.approx(slope(1e-3 * NUMBERS[name], name), rel=1e-7)


def test_a_run_with_wheels_is_repeated_and_goes_on(tmp_path):
    pair = tethered(max_torque=0.025, max_momentum=(0.108, 1.0, 1.0))
    run = {"step": 0.0025, "every": 50, "start": PAIR}
    whole = ph.integrate(pair, "v2", steps=200, **run)
    for other in (ph.rerun(whole), ph.system(**pair.arguments)):
        again = other if hasattr(other, "position") else ph.integrate(other, "v2", steps=200, **run)
        assert np.array_equal(numbers(again), numbers(whole))
    half = ph.integrate(pair, "v2", steps=100, **run)
    rest = ph.integrate(pair, steps=100, every=50, start=half)
    assert abs(numbers(rest.isel(time=[-1])) - numbers(whole.isel(time=[-1]))).max() < 1e-14
    assert list(whole.event_kind.values) == list(rest.event_kind.values) == ["wheel_saturated"]
    ph.integrate(pair, "v2", steps=200, store=tmp_path / "run.zarr", **run)
    assert np.array_equal(numbers(ph.load(tmp_path / "run.zarr")), numbers(whole))
    ph.save(whole, tmp_path / "run.nc")
    assert np.array_equal(numbers(ph.rerun(ph.load(tmp_path / "run.nc"))), numbers(whole))


def test_what_a_pair_with_wheels_conserves_includes_them():
    pair = tethered()
    assert pair.conserves == ("total_momentum", "total_angular_momentum")
    ds = ph.integrate(pair, "v2", step=0.0025, steps=400, every=40, start=PAIR)
    whole, alone = ds.total_angular_momentum.values, ds.angular_momentum_space.sum("body").values
    assert abs(whole - whole[0]).max() < 1e-13 < 1e-3 < abs(alone - alone[0]).max()


@each("turning", [True, pytest.param(False, marks=pytest.mark.full)])
def test_about_the_axis_of_an_oblate_centre_the_angular_momentum_of_all_bodies_remains(turning):
    def calm(a, gain):
        return {"wheel_command": gain * a.angular_velocity}

    def aside(b):
        return {"force": np.array([1.0, 0.0, 0.0])}

    spun = ph.reaction_wheels(np.eye(3), 0.01) if turning else None
    steered = [ph.controller(calm, every=0.5, parameters={"gain": 2.0}).on("a")] if turning else []
    around = [ph.loads.central(50.0), ph.loads.zonal(50.0, 1.0, 0.3), ph.loads.gravity_gradient(50.0)]
    a, b = ph.body("a", 10.0, I_A, wheels=spun), ph.body("b", 2.0, I_B)
    tie = ph.loads.tether(STIFFNESS, LENGTH, OF_A, OF_B).on("a", "b")
    pair = ph.system(a, b, tie, around, steered)
    assert pair.conserves == ("energy",) * (not turning) + ("vertical_angular_momentum",)
    assert "vertical_angular_momentum" not in ph.system(a, b, tie, around, ph.loads.of(aside).on("b")).conserves
    start = {name: {**one, "position": np.add(one.get("position", (0, 0, 0)), (12.0, 0.0, 0.0)),
                    "velocity": np.add(one.get("velocity", (0, 0, 0)), (0.0, 1.8, 0.9))}
             for name, one in PAIR.items()}  # fmt: skip
    ds = ph.integrate(pair, "rkn6_14a/kepler", step=0.005, steps=1000, every=100, start=start)
    found, bodies = ds.vertical_angular_momentum.values, ds.angular_momentum_space.sum("body").values
    assert abs(found - found[0]).max() < 1e-12 * abs(found[0])
    assert abs(bodies[:, :2] - bodies[0, :2]).max() > 0.1  # the others do not remain
    assert (abs(found - bodies[:, 2]).max() > 0.1) == turning  # wheels are in it


def test_bodies_offer_their_wheels_and_the_inertia_of_the_whole():
    ours = formation("lead", "left")

    def first(lead):
        return lead.wheel_speed[1] + 20.05

    def both(lead, left):
        tensor = lead.inertia - np.array(TENSOR)
        return left.wheel_momentum[0] - 0.52 + 1e9 * (np.sum(tensor**2) > 1e-20)

    run = {"step": 0.5, "steps": 100, "start": apart(("lead", "left"))}
    ds = ph.integrate(
        ours, "v2/kepler", events=[ph.events.of(first).on("lead"), ph.events.of(both).on("lead", "left")], **run
    )
    assert list(ds.event_kind.values) == ["first", "both"]
    steps = ph.integrate(ours, "v2/kepler", step=float(ds.event_time[0]), steps=1, start=run["start"])
    speed = steps.wheel_momentum.sel(wheel="lead.1")[-1] / 0.05 - steps.angular_velocity.sel(body="lead")[-1, 1]
    assert abs(float(speed) + 20.05) < 1e-6


def test_wheels_start_as_a_body_says():
    run = {"step": 0.5, "steps": 100, "every": 50}
    names, given = ("lead", "left"), {"wheel_momentum": (0.1, 0.2, 0.3), "wheel_command": (0.0, 0.01, 0.0)}
    start = apart(names)
    start["left"] |= given
    ds = ph.integrate(formation(*names), "v2/kepler", start=start, **run)
    assert np.array_equal(ds.wheel_momentum.sel(wheel=[f"left.{k}" for k in range(3)])[0], given["wheel_momentum"])
    one = ph.integrate(built(), "v2/kepler", start={**apart(names)["left"], "states": given}, **run)
    assert differ(one, ds.sel(body="left"), ("attitude",))["attitude"] < 1e-12
    assert (
        differ(ph.integrate(built(), "v2/kepler", **run, **apart(names)["left"]), one, ("attitude",))["attitude"] > 1e-6
    )
    alone = ph.system(ph.body("left", 120.0, TENSOR, wheels=wheels()), loads())
    again = ph.integrate(alone, "v2/kepler", start={"left": start["left"]}, **run)
    assert differ(one, again, ("attitude",))["attitude"] < 1e-12
    with pytest.raises(InvalidInput, match=r"word in start\.left.*'wheel_speed'"):
        ph.integrate(alone, "v2/kepler", start={"left": {**LOW, "wheel_speed": 1.0}}, **run)


def test_what_cannot_be_carried_is_a_sentence():
    spun = wheels()
    with pytest.raises(InvalidInput, match="'p' is a point, in which no rotor turns; give its inertia"):
        ph.body("p", 1.0, wheels=spun)
    with pytest.raises(InvalidInput, match="without that of the wheels about their axes has the moment"):
        ph.body("p", 1.0, (0.01, 0.01, 0.01), wheels=spun)
    with pytest.raises(InvalidInput, match=r"gyros of body 'p' must be made by polhode\.control_moment_gyros"):
        ph.body("p", 1.0, (1, 1, 1), gyros=spun)

    def reading(body):
        return {"torque": body.wheel_speed}

    with pytest.raises(InvalidInput, match="reads 'wheel_speed' of 'b', which has no wheels"):
        ph.system(ph.body("a", 1.0, TENSOR, wheels=spun), ph.body("b", 1.0, (1, 1, 1)), ph.loads.of(reading).on("b"))

    def wind(body, rate):
        return {"force": -rate * body.velocity}

    with pytest.raises(InvalidInput, match="'wheels' is the name of the work of the wheels in body 'a'"):
        ph.system(ph.body("a", 1.0, TENSOR, wheels=spun), ph.loads.of(wind, rate=1.0).named("wheels"))

    def braking(body, wheel_command):
        return {"torque": -wheel_command}

    ph.system(ph.body("a", 1.0, TENSOR, wheels=spun), ph.body("b", 1.0, (1, 1, 1)), ph.loads.of(braking))
    with pytest.raises(InvalidInput, match=r"'wheel_command', which a and b have; read it of the body, such as a\."):
        ph.system([ph.body(name, 1.0, TENSOR, wheels=spun) for name in "ab"], ph.loads.of(braking))

    def winding(a):
        return {"wheel_momentum": np.ones(3)}

    with pytest.raises(PolhodeError, match="returns 'wheel_momentum'; it may return 'force', 'torque'"):
        ph.system(ph.body("a", 1.0, TENSOR, wheels=spun), ph.loads.of(winding))


def spinning(names):
    ours = ph.system([ph.body(name, 4.0, (3.0, 2.0, 2.5), wheels=wheels()) for name in names])
    return ph.integrate(ours, "v2", step=0.01, steps=20)


@each("names", [pytest.param(("wheels",), marks=pytest.mark.full), ("a", "b")])
def test_a_view_shows_the_wheels_of_sums(names):
    rotors = ph.view(spinning(names)).scene["runs"][0]["rotors"]
    assert [one["body"] for one in rotors] == [k for k in range(len(names)) for _ in range(3)]


@pytest.mark.full
@each("names", [("wheels",), ("a", "b")])
def test_pictures_show_the_wheels_of_sums(names):
    ds = spinning(names)
    assert ph.plots.dashboard(ds).axes and "at their axes" in ph.view(ds)._repr_html_()


def test_the_wheels_of_the_one_body_that_has_some_start_by_their_words():
    """Among the other words of a start, of a sum and of a builder; of a system without wheels they are no states."""
    axes, start = np.eye(3), {"angular_velocity": (0.01, 0.02, 0.0), "wheel_momentum": (0.1, 0.0, -0.2)}
    craft = ph.system(ph.body("craft", 120.0, (5, 4, 3), wheels=ph.reaction_wheels(axes, 0.01)), ph.body("other", 1.0))
    built = ph.rigid_body((5, 4, 3), wheels=ph.reaction_wheels(axes, 0.01))
    named = {"craft": start, "other": {}}
    flat = start | {"angular_velocity": [start["angular_velocity"], (0, 0, 0)]}
    one, other = (ph.integrate(craft, step=0.5, steps=20, start=how) for how in (named, flat))
    assert one.equals(other)
    alone = ph.integrate(built, step=0.5, steps=20, start=start)
    np.testing.assert_array_equal(alone.wheel_momentum[0], start["wheel_momentum"])
    np.testing.assert_allclose(one.sel(body="craft").angular_velocity, alone.angular_velocity, rtol=0, atol=1e-12)
    with pytest.raises(InvalidInput, match="unknown state of free_body, given in start 'wheel_momentum'"):
        ph.integrate(ph.free_body((5, 4, 3)), step=0.5, steps=20, start=start)
