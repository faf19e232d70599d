"""Methods with a time transformation: reversible steps, the logarithmic Hamiltonian, and the runs that take them."""

import os
import signal
from math import pi, sqrt

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from polhode.errors import Interrupted, InvalidInput, StepFailed, StepTooLarge, UserFunctionError
from polhode.methods import method
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator

ROUND = 2.0 * pi
KEPLER = ph.orbit(1.0)
WALL = ph.systems.soft_wall(sign="physical")
SPIN = {"angular_velocity": (0.5, 0.7, 0.2), "attitude": ph.rotation.exp_quaternion((0.3, 0.2, 0.0))}
EVERY = ("reversible:distance:v2", "reversible:rkn6_14a", "logarithmic", "logarithmic:kl6")


def periapsis(e):
    return {"position": (1.0 - e, 0.0, 0.0), "velocity": (0.0, sqrt((1.0 + e) / (1.0 - e)), 0.0)}


def apoapsis(e):
    return {"position": (-1.0 - e, 0.0, 0.0), "velocity": (0.0, -sqrt((1.0 - e) / (1.0 + e)), 0.0)}


def exact(t, e):
    """Position on the orbit of unit axis that starts at its periapsis, by Newton's method on Kepler's equation."""
    E = np.array(t, dtype=float)
    for _ in range(60):
        E = E - (E - e * np.sin(E) - t) / (1.0 - e * np.cos(E))
    return np.stack([np.cos(E) - e, sqrt(1.0 - e * e) * np.sin(E), 0.0 * E], axis=-1)


def there_and_back(system, name, start, step, n):
    """Largest change of the state after n nominal steps and as many back, and the time between."""
    integrator = Integrator(system, method(name), start_state(system, **start))
    y = integrator.y.copy()
    assert integrator.march(0, n, n + 1, 0.0, step) == 0
    t = integrator.y[-4]
    moved = np.abs(integrator.y - y)[:-4].max()
    assert integrator.march(0, n, n + 1, 0.0, -step) == 0
    return np.abs(integrator.y - y)[:-4].max(), abs(integrator.y[-4]), t, moved


# ------------------------------------------------------------------ what the methods keep
@each(
    ("system", "name", "start", "step"),
    some([
        (KEPLER, "reversible:distance:v2", periapsis(0.9), 5e-4),
        (KEPLER, "reversible:s6_10", periapsis(0.9), 5e-4),
        (KEPLER, "logarithmic:kl6", periapsis(0.9), 5e-4),
        (WALL, "reversible:fg6_5", SPIN, 0.02),
        (WALL, "reversible:imid", SPIN, 0.02),
        (WALL, "reversible:v2/mr6", SPIN, 0.02),
    ], 4),
)  # fmt: skip
def test_steps_back_undo_steps(system, name, start, step):
    defect, late, t, moved = there_and_back(system, name, start, step, 300)
    assert t > 1.4 * 300 * step or system is WALL
    assert moved > 0.3
    assert defect < 2e-11
    assert late < 2e-11


def warming(body, heat):
    return {"heat": body.position[0] - 0.1 * heat}


def pull(body, heat):
    return {"force": -body.position * (1.0 + 0.3 * heat)}


def righting(body):
    return {"torque": -0.3 * body.attitude[1:], "force": -body.position}


WHEELS = ph.reaction_wheels(np.eye(3), 0.01, speed=20.0, command=0.01, max_torque=0.02, viscous=1e-3)
WITH_STATES = {
    "a state": (ph.system(ph.body("a", 2.0), ph.loads.of(warming).states(heat=0.1), ph.loads.of(pull)),
                {"position": (1.0, 0.2, 0.0), "velocity": (0.0, 0.7, 0.1)}),
    "wheels": (ph.system(ph.body("a", 2.0, (1, 2, 2.5), wheels=WHEELS), ph.loads.of(righting)),
               {"angular_velocity": (0.3, 1.0, 0.2), "position": (1.0, 0.2, 0.0), "velocity": (0.0, 0.7, 0.1)}),
}  # fmt: skip


@each("what", WITH_STATES)
@each(
    "name, order", [("reversible:v2", 2), ("reversible:distance:v2", 2), ("logarithmic:v2", 2), ("logarithmic:kl4", 4)]
)
def test_states_that_loads_read_are_carried_along(what, name, order):
    system, start = WITH_STATES[what]
    defect, late, _t, moved = there_and_back(system, name, start, 0.02, 100)
    assert moved > 0.3 and defect < 2e-13 and late < 2e-13
    rows = ["position", "momentum", *(["heat"] if what == "a state" else ["attitude", "wheel_momentum"])]
    exact = ph.integrate(system, "mkrk:cv8", step=0.01, t_end=2.0, every=200, start=start)
    runs = [ph.integrate(system, name, step=h, t_end=2.0, every=10**6, start=start) for h in (0.16, 0.08)]
    errors = [max(float(abs(ds[row][-1] - exact[row][-1]).max()) for row in rows) for ds in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_a_method_that_is_not_symmetric_would_show():
    integrator = Integrator(KEPLER, method("mkrk:rk4"), start_state(KEPLER, **periapsis(0.9)))
    y = integrator.y.copy()
    integrator.march(0, 300, 301, 0.0, 5e-4)
    integrator.march(0, 300, 301, 0.15, -5e-4)
    assert np.abs(integrator.y - y).max() > 1e-10  # what the test above would see


@each(
    ("name", "order", "steps"),
    [
        ("reversible:distance:v2", 2, (4e-3, 2e-3, 1e-3)),
        ("reversible:v2", 2, (4e-3, 2e-3, 1e-3)),
        ("reversible:distance:yoshida4", 4, (4e-3, 2e-3, 1e-3)),
        ("logarithmic", 2, (4e-3, 2e-3, 1e-3)),
        ("logarithmic:kl4", 4, (1e-2, 5e-3, 2.5e-3)),
        ("logarithmic:kl6", 6, (4e-2, 2e-2, 1e-2)),
        ("logarithmic:kl8", 8, (2.8e-1, 2e-1, 1.4e-1)),
    ],
)
def test_order_at_a_given_time(name, order, steps):
    e, t = 0.6, 4.0
    errors = []
    for h in steps:
        ds = ph.integrate(KEPLER, name, step=h, t_end=t, every=10**6, **periapsis(e))
        errors.append(np.linalg.norm(ds.position.values[-1] - exact(t, e)))
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert method(name).promises.order == order
    assert slopes[-1] == pytest.approx(order, abs=0.3)


@each("e", [0.9, 0.99, 0.999])
@each("name", ["logarithmic", "logarithmic:kl8"])
def test_the_logarithmic_orbit_is_the_conic(e, name):
    ds = ph.integrate(KEPLER, name, step=0.02 * (1.0 - e), t_end=5.2 * ROUND, **periapsis(e))
    r = ds.position.values
    assert np.abs(np.linalg.norm(r, axis=1) + e * r[:, 0] - (1.0 - e * e)).max() < 1e-13  # focal equation of the conic
    assert np.abs(ds.energy_error.values).max() < 1e-13 / (1.0 - e)
    assert ds.attrs["steps"] < 2000


def test_the_error_of_the_logarithmic_orbit_is_one_of_time_alone():
    e, t = 0.9, 1.7 * ROUND
    ds = ph.integrate(KEPLER, "logarithmic", step=2e-3, t_end=t, **periapsis(e))
    late = np.linalg.norm(ds.position.values - exact(ds.time.values, e), axis=1).max()
    assert 1e-4 < late < 1e-2
    with_kicks_first = ph.integrate(KEPLER, "reversible:distance:v2", step=2e-3, t_end=t, **periapsis(e))
    assert np.abs(with_kicks_first.energy_error.values).max() > 1e-4


def test_no_drift_of_energy_in_thousands_of_turns():
    e, turns = 0.9, 2000
    kept = ph.integrate(
        KEPLER, "reversible:distance:rkn6_14a", step=0.5, t_end=turns * ROUND, every=7, **apoapsis(e)
    ).energy_error.values
    tenth = len(kept) // 10
    assert np.abs(kept).max() < 2e-8
    assert abs(kept[-tenth:].mean() - kept[:tenth].mean()) < 1e-10
    drifted = ph.integrate(KEPLER, "mkrk:dp8", steps=ph.Tolerance(1e-7), t_end=200 * ROUND, every=7, **apoapsis(e))
    assert abs(float(drifted.energy_change[-1] / drifted.energy[0])) > 1e-5  # at a higher cost, in a tenth of the time


def test_equal_cost_at_the_soft_wall():
    span = {"t_end": 100.0, **SPIN}
    ours = ph.integrate(WALL, "reversible:rkn6_14a", step=0.1, **span)
    plain = ph.integrate(WALL, "rkn6_14a", step=100.0 / 1400, **span)
    assert ours.attrs["load_evaluations"] < 1.02 * plain.attrs["load_evaluations"]
    assert np.abs(ours.energy_error.values).max() < 0.05 * np.abs(plain.energy_error.values).max()
    steps = ours.step.values[1:-1]
    assert steps.max() > 4.0 * steps.min()


def test_steps_follow_the_distance():
    ds = ph.integrate(KEPLER, "reversible:distance:s6_10", step=0.01, t_end=3.0 * ROUND, **periapsis(0.8))
    r = np.linalg.norm(ds.position.values, axis=1)
    middle = 0.5 * (r[1:-2] + r[2:-1])
    ratio = ds.step.values[2:-1] / middle**1.5
    assert ratio.max() < 1.01 * ratio.min()


def test_steps_follow_the_loads():
    ds = ph.integrate(WALL, "reversible:s6_10", step=0.01, t_end=20.0, **SPIN)
    u = ph.rotation.rotate_inverse(ds.attitude.values, (0.0, 0.0, 1.0))
    d = 1.1 + u[:, 2]
    slope = -(0.01 * d**-11 - d**-2)  # of the potential -(1/d - 0.001/d^10)
    swing = slope[:, None] * np.cross(u, (0.0, 0.0, 1.0)) / (2.0, 3.0, 4.5)
    wanted = ((swing**2).sum(axis=1) + (ds.angular_velocity.values**2).sum(axis=1) ** 2) ** 0.25
    density = ds.time_variables.values[1:, 2] / wanted[1:]
    assert wanted.max() > 4.5 * wanted.min()
    assert density.max() < 1.02 * density.min()

    ds = ph.integrate(KEPLER, "reversible:s6_10", step=2e-3, t_end=2.5 * ROUND, **periapsis(0.8))
    r, v = (np.linalg.norm(ds[name].values, axis=1) for name in ("position", "velocity"))
    density = ds.time_variables.values[1:, 2] / (r**-6 + v**4 / r**4)[1:] ** 0.25
    assert density.max() < 1.02 * density.min()


@each("name", some(["reversible:v2", "reversible:euler:gauss4:ZYX:middle", "reversible:s6_10/mr6"], 2))
def test_what_a_method_keeps_it_keeps_with_reversible_steps(name):
    top = ph.heavy_top((1.0, 1.0, 0.4), (0.0, 0.0, 1.0), 3.0)
    start = {"attitude": ph.rotation.exp_quaternion((1.2, 0.0, 0.0)), "angular_velocity": (0.3, 0.2, 4.0)}
    ds = ph.integrate(top, name, step=0.01, t_end=10.0, **start)
    assert ds.step.values[1:-1].max() > 1.01 * ds.step.values[1:-1].min()
    for kept in method(name).promises.keeps_top:
        found = ds[kept.replace("_momentum", "_angular_momentum")].values
        assert np.abs(found - found[0]).max() < 1e-12 * np.abs(ds.angular_momentum.values).max()
    assert "axial_momentum" in method(name).promises.keeps_top or "mr6" in name
    late = ph.integrate(top, "mkrk:gauss8", step=0.01, t_end=10.0, **start)
    off = ph.rotation.angle_between(ds.attitude.values[-1], late.attitude.values[-1])
    assert off < (2e-3 if "v2" in name else 1e-6)
    if "euler_angles" in ds:
        again = ph.rotation.quaternion_from_euler(ds.euler_angles.values[-1], "ZYX")
        assert ph.rotation.angle_between(ds.attitude.values[-1], again) < 1e-12


def test_perturbed_orbit_in_transformed_time():
    forces = [ph.forces.zonal(J2=1e-3, radius=0.05)]
    system, e, t = ph.orbit(1.0, forces=forces), 0.9, 3.3
    truth = ph.integrate(system, "mkrk:gauss10", step=t / 40000, t_end=t, every=40000, **periapsis(e))
    ours = ph.integrate(system, "logarithmic:kl8", step=2e-3, t_end=t, **periapsis(e))
    assert np.abs(ours.position.values[-1] - truth.position.values[-1]).max() < 1e-11
    assert np.abs(ours.energy_error.values).max() < 1e-11
    coarse = ph.integrate(system, "logarithmic", step=2e-3, t_end=t, **periapsis(e))
    assert np.abs(coarse.position.values[-1] - truth.position.values[-1]).max() > 1e-5


def test_loads_see_their_own_time():
    def push(t, position, velocity, parameters):
        return (np.cos(3.0 * t) - position[0], 0.0, 0.0)

    system = ph.particle(force=push)
    t = 2.3  # x'' = cos 3t - x from x = 1 at rest: x = (9 cos t - cos 3t) / 8
    for name in ("reversible:yoshida4", "reversible:distance:s6_10", "logarithmic:kl6"):
        start = {"position": (1.0, 0.0, 0.5), "velocity": (0.0, 0.1, 0.0)}
        ds = ph.integrate(system, name, step=0.01, t_end=t, **start)
        assert float(ds.position[-1, 0]) == pytest.approx((9.0 * np.cos(t) - np.cos(3.0 * t)) / 8.0, abs=2e-8)
        assert ds.step.values[1:-1].max() > 1.05 * ds.step.values[1:-1].min()


# ------------------------------------------------------------------ runs
@each("name", EVERY)
def test_the_end_is_reached_exactly(name):
    for t_end in (0.7, 1.0 + 1e-9, 5e-4, -0.7):
        ds = ph.integrate(KEPLER, name, step=2e-3, t_end=t_end, **periapsis(0.5))
        assert float(ds.time[-1]) == t_end
        assert (np.diff(ds.time.values) * t_end > 0.0).all()
        assert np.abs(np.diff(ds.time.values)) == pytest.approx(ds.step.values[1:], rel=1e-9)
        assert ds.attrs["steps"] == len(ds.time) - 1
        assert np.linalg.norm(ds.position.values[-1] - exact(t_end, 0.5)) < 2e-5
    still = ph.integrate(KEPLER, name, step=2e-3, t_end=3.0, start={"time": 3.0}, **periapsis(0.5))
    assert still.attrs["steps"] == 0
    assert still.time.values.tolist() == [3.0]


@each("name", EVERY)
def test_samples_are_side_steps(name):
    plain = ph.integrate(KEPLER, name, step=5e-3, t_end=4.0, **periapsis(0.5))
    times = [0.0, 0.001, 0.002, float(plain.time[40]), 0.5, 2.0, 3.999, 4.0, 4.0]
    some = ph.integrate(KEPLER, name, step=5e-3, t_end=4.0, t_eval=times, **periapsis(0.5))
    assert some.time.values.tolist() == times
    assert some.attrs["steps"] == plain.attrs["steps"]
    assert (some.position.values[3] == plain.position.values[40]).all()
    assert (some.position.values[-2:] == plain.position.values[-1]).all()
    assert np.abs(some.position.values - exact(np.array(times), 0.5)).max() < 1e-3
    assert (some.time_variables.values[-1] == plain.time_variables.values[-1]).all()


def test_counted_steps_and_every():
    one = ph.integrate(KEPLER, "reversible:v2", step=1e-2, steps=100, **periapsis(0.5))
    some = ph.integrate(KEPLER, "reversible:v2", step=1e-2, steps=100, every=30, **periapsis(0.5))
    assert len(one.time) == 101
    assert some.time.values.tolist() == one.time.values[[0, 30, 60, 90, 100]].tolist()
    assert (some.position.values == one.position.values[[0, 30, 60, 90, 100]]).all()
    assert (some.step.values == one.step.values[[0, 30, 60, 90, 100]]).all()
    assert some.attrs["step_largest"] == one.step.values.max() > one.attrs["step_smallest"] > 0.0
    with pytest.raises(InvalidInput, match="give t_end"):
        ph.integrate(KEPLER, "reversible:v2", step=1e-2, steps=100, t_eval=[0.1], **periapsis(0.5))


@each("name", EVERY)
def test_slices_change_nothing(name, monkeypatch):
    span = {"step": 5e-3, "t_end": 3.0, **periapsis(0.7)}
    whole = ph.integrate(KEPLER, name, **span)
    monkeypatch.setattr("polhode.runs.stepping.FIRST_SLICE", 1)
    monkeypatch.setattr("polhode.runs.variable_steps.TimeTransformedRun.adjust", lambda self, elapsed: None)
    cut = ph.integrate(KEPLER, name, **span)
    assert cut.identical(whole)


@each("name", EVERY)
def test_going_on_with_the_time_variables(name):
    first = ph.integrate(KEPLER, name, step=5e-3, steps=70, **periapsis(0.7))
    whole = ph.integrate(KEPLER, name, step=5e-3, steps=170, **periapsis(0.7))
    last = first.isel(time=-1)
    rest = ph.integrate(
        KEPLER, name, step=5e-3, steps=100, position=last.position.values,
        momentum=last.momentum.values, start={"time": float(last.time), "time_variables": last.time_variables.values},
    )  # fmt: skip
    assert (rest.time.values == whole.time.values[70:]).all()
    assert (rest.position.values == whole.position.values[70:]).all()
    assert ph.rerun(rest).identical(rest)
    again = ph.integrate(KEPLER, start=first, steps=100)
    assert again.variables.keys() == rest.variables.keys()
    assert all(
        (again[key].values == rest[key].values).all() for key in ("time", "position", "momentum", "time_variables")
    )


# ------------------------------------------------------------------ switches
OBLATE = ph.forces.zonal(J2=1e-2, radius=0.3)
ECCENTRIC = {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 0.6, 0.2)}
SWITCHED = {
    "burn": ph.orbit(1.0, forces=[OBLATE, ph.forces.thrust(0.05, "velocity", start=2.5, stop=5.2)]),
    "impulses": ph.orbit(1.0, forces=[
        OBLATE, ph.forces.impulse(2.5, (0.1, 0.3, 0.05), "rtn"), ph.forces.impulse(5.2, (0.0, -0.3, 0.05), "rtn")]),
}  # fmt: skip


@each("what", SWITCHED)
@each("name, order, steps", [
    ("reversible:v2", 2, (0.04, 0.02)), ("reversible:distance:v2", 2, (0.04, 0.02)), ("logarithmic", 2, (0.04, 0.02)),
    ("reversible:s6_10", 6, (0.15, 0.075)),
])  # fmt: skip
def test_methods_keep_their_order_across_switches(what, name, order, steps):
    exact = ph.integrate(SWITCHED[what], "mkrk:dp8", steps=ph.Tolerance(1e-13), t_end=9.0, **ECCENTRIC)
    errors = []
    for h in steps:
        ds = ph.integrate(SWITCHED[what], name, step=h, t_end=9.0, **ECCENTRIC)
        assert {2.5, 5.2} < set(ds.time.values.tolist()) and ds.attrs["steps"] == len(ds.time) - 1
        errors.append(np.linalg.norm(ds.position.values[-1] - exact.position.values[-1]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    last = {word: ds[word].values[-1] for word in ECCENTRIC}
    back = ph.integrate(SWITCHED[what], name, step=float(ds.step[-2]), start={"time": 9.0}, t_end=0.0, **last)
    assert np.linalg.norm(back.position.values[-1] - ECCENTRIC["position"]) < 10 * errors[-1]


@each("what", SWITCHED)
@each("name", ["reversible:v2", "logarithmic"])
def test_no_drift_between_switches(what, name):
    ds = ph.integrate(SWITCHED[what], name, step=0.02, t_end=2000.0, every=7, **ECCENTRIC)
    energy = ds.energy.values[ds.time.values > 5.3]
    parts = [part.mean() for part in np.array_split(energy, 8)]
    assert np.ptp(energy) > 1e-6
    assert abs(np.polyfit(range(8), parts, 1)[0]) * 8 < 0.02 * np.ptp(energy)


def test_the_density_rises_and_falls_with_that_of_the_loads():
    thruster = ph.systems.thruster((0.1, 0, 0), position=(0, 0.1, 0), start=25.0, stop=52.0)
    craft = ph.spacecraft((40.0, 44.0, 25.0), 3.986e14, mass=60.0, thrusters=[thruster])
    start = {"position": (6.878e6, 0.0, 0.0), "velocity": (0.0, 4732.0, 5963.0)}
    ds = ph.integrate(craft, "reversible:v2", step=5.0, t_end=100.0, **start)
    t, z = ds.time.values, ds.time_variables.values[:, 2]
    begun, ended = (int(np.flatnonzero(t == at)[0]) for at in (25.0, 52.0))
    r, v, w = 6.878e6, np.linalg.norm(start["velocity"]), np.linalg.norm(ds.angular_velocity.values, axis=1)
    orbit, pushed = (3.986e14 / r**2 / r) ** 2 + (v / r) ** 4, (0.01 / 25.0) ** 2
    assert z[1:begun] == pytest.approx(1.0, rel=1e-3)
    assert z[begun] == pytest.approx(((orbit + pushed) / orbit) ** 0.25, rel=1e-3)
    assert z[begun] > 10.0 and z[ended - 1] - z[ended] > 5.0
    assert z[ended:] == pytest.approx(((orbit + w[ended:] ** 4) / orbit) ** 0.25, rel=1e-2)


@each("name", ["reversible:v2", "logarithmic"])
def test_slices_samples_and_resuming_change_nothing_at_switches(name, monkeypatch, tmp_path):
    words = {"step": 0.02, "t_end": 9.0, **ECCENTRIC}
    whole = ph.integrate(SWITCHED["impulses"], name, **words)
    assert whole.event_time.values.tolist() == [2.5, 5.2]
    times = [0.0, 2.4999, 2.5, 2.5, 3.0, 5.2, 9.0]
    some = ph.integrate(SWITCHED["impulses"], name, t_eval=times, **words)
    for t in (2.5, 5.2, 9.0):
        row = int(np.flatnonzero(whole.time.values == t)[0])
        assert (some.velocity.values[times.index(t)] == whole.velocity.values[row]).all()
    assert abs(some.velocity.values[2] - some.velocity.values[1]).max() > 0.1
    monkeypatch.setattr("polhode.runs.stepping.FIRST_SLICE", 1)
    monkeypatch.setattr("polhode.runs.variable_steps.TimeTransformedRun.adjust", lambda self, elapsed: None)
    assert ph.integrate(SWITCHED["impulses"], name, **words).identical(whole)

    class Stop(Exception):
        pass

    def stopping(progress):
        if progress.done > 150:
            raise Stop

    store = ph.Store(tmp_path / "run.zarr", checkpoint_seconds=0)
    with pytest.raises(Stop):
        ph.integrate(SWITCHED["impulses"], name, **words, store=store, progress=stopping)
    assert ph.resume(store).identical(whole)


def test_what_is_met_again_and_again_is_refused():
    with pytest.raises(InvalidInput, match="cannot be cut at shadows or events"):
        ph.integrate(KEPLER, "reversible:v2", step=0.01, t_end=1.0, events=["apsis"], **ECCENTRIC)


def test_a_scenario_goes_on(tmp_path):
    path = tmp_path / "comet.toml"
    path.write_text(
        'method = "reversible:distance:s6_10"\n[system]\ntype = "orbit"\nmu = 1.0\n[initial]\n'
        "position = [0.2, 0, 0]\nvelocity = [0, 3, 0]\n[run]\nstep = 0.01\nt_end = 12.345\n"
    )
    scenario = ph.runs.read_scenario(path)
    seen = []

    def interrupt(progress):
        seen.append(progress)
        if progress.done > 60 and len(seen) < 10**6:
            seen.extend([None] * 10**6)
            os.kill(os.getpid(), signal.SIGINT)

    whole = scenario.integrate()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("polhode.runs.stepping.SLICE_SECONDS", 0.0)
        with pytest.raises(Interrupted) as stopped:
            scenario.integrate(progress=interrupt)
    part = stopped.value.trajectory
    assert 60 < part.attrs["steps"] < whole.attrs["steps"]
    rest = scenario.continued(part).integrate()
    assert float(rest.time[-1]) == 12.345
    assert (rest.position.values[-1] == whole.position.values[-1]).all()
    assert part.attrs["steps"] + rest.attrs["steps"] == whole.attrs["steps"]
    with pytest.raises(InvalidInput, match="nothing is left"):
        scenario.continued(whole)


def test_time_keeps_its_digits():
    ds = ph.integrate(KEPLER, "reversible:distance:v2", step=1e-3, steps=20000, start={"time": 1e6}, **periapsis(0.3))
    early = ph.integrate(KEPLER, "reversible:distance:v2", step=1e-3, steps=20000, **periapsis(0.3))
    assert np.abs(ds.time.values - 1e6 - early.time.values).max() < 2e-10  # two roundings of 1e6, not of 20000 steps


# ------------------------------------------------------------------ what goes wrong
def test_refusals():
    with pytest.raises(InvalidInput, match="not time-symmetric"):
        method("reversible:mkrk:rk4")
    with pytest.raises(InvalidInput, match="processed"):
        method("reversible:pmlf6")
    with pytest.raises(InvalidInput, match="time transformation already"):
        method("reversible:logarithmic")
    with pytest.raises(InvalidInput, match="quadratic in the momenta"):
        method("logarithmic:rkn6_14a")
    with pytest.raises(InvalidInput, match="free rotation"):
        method("logarithmic:v2/kepler")
    with pytest.raises(InvalidInput, match="do not move through space"):
        ph.integrate(WALL, "logarithmic", step=0.1, t_end=1.0, **SPIN)
    pair = ph.gravitating_bodies((1.0, 2.0))
    apart = {"position": [(1.0, 0.0, 0.0), (-0.5, 0.0, 0.0)], "velocity": [(0.0, 1.0, 0.0), (0.0, -0.5, 0.0)]}
    for text in ("logarithmic:kl8", "reversible:distance:v2", "reversible:v2"):
        with pytest.raises(InvalidInput, match=r"centre at the origin, as in orbit\(...\).*move about each other"):
            ph.integrate(pair, text, step=0.01, t_end=1.0, **apart)
        with pytest.raises(InvalidInput, match="position is the origin"):
            ph.integrate(ph.particle(stiffness=1.0), text, step=0.01, t_end=1.0, velocity=(0, 1, 0))
    drag = ph.orbit(1.0, forces=[ph.forces.drag(kd=1e-3, radius=1.0, scale=0.1)])
    with pytest.raises(InvalidInput, match="about a centre of attraction and nothing else"):
        ph.integrate(drag, "kepler", step=0.01, t_end=1.0, position=(1, 0, 0), velocity=(0, 1, 0))
    with pytest.raises(InvalidInput, match="no time transformation"):
        ph.integrate(WALL, "v2", step=0.1, t_end=1.0, start={"time_variables": (0, 0, 1, 0)}, **SPIN)
    with pytest.raises(InvalidInput, match="estimate"):
        ph.integrate(WALL, "reversible:v2", steps=ph.Tolerance(1e-6), t_end=1.0, **SPIN)
    for text in ("reversible:v2/mr6", "reversible:distance:rkn6_14a", "logarithmic:kl8", "reversible:imid"):
        assert method(text).label == text
    assert method("logarithmic").label == "logarithmic:v2"


def test_steps_too_large_for_the_time():
    with pytest.raises(StepFailed, match="stand still") as failed:
        ph.integrate(WALL, "reversible:v2", step=1.0, t_end=50.0, **SPIN)
    part = failed.value.trajectory
    assert np.isfinite(part.energy.values).all()
    assert float(part.time[-1]) == failed.value.time


def test_the_guard_speaks_of_the_step_that_was_given():
    free = ph.free_body((2.0, 3.0, 4.5))
    with pytest.raises(StepTooLarge) as failed:
        ph.integrate(free, "reversible:imid", step=4.0, t_end=50.0, **SPIN)
    assert failed.value.largest_step < 4.0
    assert ph.integrate(free, "reversible:imid", step=0.02, t_end=1.0, **SPIN).attrs["steps"] > 40


def test_a_failing_function_shows_its_own_error():
    def push(t, position, velocity, parameters):
        if t > 0.5:
            raise ValueError("no more")
        return (-position[0], 0.0, 0.0)

    with pytest.raises(UserFunctionError, match="no more") as failed:
        ph.integrate(
            ph.particle(force=push), "reversible:v2", step=0.01, t_end=2.0, position=(1.0, 0, 0.2), velocity=(0, 0.1, 0)
        )
    assert 0.4 < float(failed.value.trajectory.time[-1]) <= 0.51
