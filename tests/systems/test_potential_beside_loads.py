"""A potential beside a torque, force or load: both act, works are recorded, the energy balances."""

import importlib
import json
import pickle

import numpy as np
import pytest

import polhode as ph
from cover import chosen
from each import each
from polhode.errors import InvalidInput, SlowFunctionWarning, UserFunctionError
from polhode.runs import stepping
from polhode.runs.scenario import read_scenario
from polhode.systems import built

TENSOR = [[2.0, 0.1, 0.0], [0.1, 2.2, 0.1], [0.0, 0.1, 2.4]]
TURN = {"angular_velocity": (0.3, 0.2, 1.0), "attitude": (0.9, 0.3, 0.1, 0.3)}
MOVE = {"position": (1.0, 0.2, 0.1), "velocity": (0.1, 0.9, 0.2)}
SHORT = {"step": 0.01, "t_end": 1.0}
GAIN = 3.0
made_by = importlib.import_module("polhode.systems.builders")


# ------------------------------------------------------------------ functions, and what they are together, by hand
def height(t, q, parameters):
    return 3.0 * (1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]))


def swinging(t, q, parameters):
    return (1.0 + 0.5 * np.sin(2.0 * t)) * height(t, q, parameters)


def damping(t, q, omega, parameters):
    return (-0.1 * omega[0], -0.1 * omega[1], -0.1 * omega[2])


def no_torque(t, q, omega, parameters):
    return (0.0, 0.0, 0.0)


def weight(size, q):
    w, x, y, z = q
    return (size * 2.0 * (y * z + w * x), -size * 2.0 * (x * z - w * y), 0.0)


def damped_weight(t, q, omega, parameters):
    T = weight(3.0, q)
    return (T[0] - 0.1 * omega[0], T[1] - 0.1 * omega[1], T[2] - 0.1 * omega[2])


def damped_swing(t, q, omega, parameters):
    T = weight(3.0 + 1.5 * np.sin(2.0 * t), q)
    return (T[0] - 0.1 * omega[0], T[1] - 0.1 * omega[1], T[2] - 0.1 * omega[2])


def spring(t, position, parameters):
    return 0.25 * (position[0] * position[0] + position[1] * position[1] + 2.0 * position[2] * position[2])


def beating(t, position, parameters):
    return (1.0 + 0.5 * np.sin(2.0 * t)) * spring(t, position, parameters)


def drag(t, position, velocity, parameters):
    return (-0.1 * velocity[0], -0.1 * velocity[1], -0.1 * velocity[2])


def no_force(t, position, velocity, parameters):
    return (0.0, 0.0, 0.0)


def damped_beat(t, position, velocity, parameters):
    k = 0.5 + 0.25 * np.sin(2.0 * t)
    x, y, z = position
    return (-k * x - 0.1 * velocity[0], -k * y - 0.1 * velocity[1], -2.0 * k * z - 0.1 * velocity[2])


def around(t, position, q, parameters):
    return spring(t, position, parameters) + height(t, q, parameters)


def beating_around(t, position, q, parameters):
    return (1.0 + 0.5 * np.sin(2.0 * t)) * around(t, position, q, parameters)


def no_load(t, position, velocity, q, omega, parameters):
    return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def both_drag(t, position, velocity, q, omega, parameters):
    return drag(t, position, velocity, parameters), damping(t, q, omega, parameters)


def both_by_hand(t, position, velocity, q, omega, parameters):
    T = weight(3.0 + 1.5 * np.sin(2.0 * t), q)
    return damped_beat(t, position, velocity, parameters), tuple(T[k] - 0.1 * omega[k] for k in range(3))


BUILD = {
    "rigid_body": (lambda **functions: ph.rigid_body(TENSOR, **functions), TURN),
    "particle": (lambda **functions: ph.particle(1.0, **functions), MOVE),
    "orbit": (lambda **functions: ph.orbit(1.0, **functions), MOVE),
    "spacecraft": (lambda **functions: ph.spacecraft(TENSOR, 1.0, mass=50.0, **functions), TURN | MOVE),
}
STILL = {
    "rigid_body": (height, {"torque": no_torque}), "particle": (spring, {"force": no_force}),
    "orbit": (spring, {"force": no_force}), "spacecraft": (around, {"load": no_load}),
}  # fmt: skip
DRIVEN = {
    "rigid_body": (swinging, {"torque": damping}, {"torque": damped_swing}),
    "particle": (beating, {"force": drag}, {"force": damped_beat}),
    "orbit": (beating, {"force": drag}, {"force": damped_beat}),
    "spacecraft": (beating_around, {"load": both_drag}, {"load": both_by_hand}),
}


def apart(a, b):
    names = [name for name in ("position", "velocity", "attitude", "angular_velocity") if name in a]
    return max(float(np.abs(a[name].values - b[name].values).max()) for name in names)


# ------------------------------------------------------------------ the motion and the energy
@each("name", BUILD)
def test_a_load_that_does_nothing_leaves_the_potential_as_it_is(name):
    build, start = BUILD[name]
    potential, zero = STILL[name]
    a = ph.integrate(build(potential=potential, **zero), "mkrk:dp8", **SHORT, **start)
    b = ph.integrate(build(potential=potential), "mkrk:dp8", **SHORT, **start)
    free = ph.integrate(build(**zero), "mkrk:dp8", **SHORT, **start)
    assert apart(a, b) < 1e-12 and apart(a, free) > 1e-2
    assert float(abs(a.energy_error).max()) < 1e-12 and float(abs(a.work).max()) == 0.0


@each("name", BUILD)
def test_damping_beside_a_potential_that_reads_the_time(name):
    build, start = BUILD[name]
    potential, load, by_hand = DRIVEN[name]
    system = build(potential=potential, **load)
    assert system.balanced and system.conserves == ()
    a = ph.integrate(system, "mkrk:dp8", **SHORT, **start)
    b = ph.integrate(build(**by_hand), "mkrk:dp8", **SHORT, **start)
    assert apart(a, b) < 1e-12
    assert list(a.force.values) == ["potential", *load]
    assert float(abs(a.energy_error).max()) < 1e-12
    assert float(a.work[-1, 1]) < -0.01 and abs(float(a.work[-1, 0])) > 0.01
    assert "note" not in a.energy_error.attrs


METHODS = {"s6_10": 1e-12, "rkn6_14a": 1e-12, "mkrk:cv8": 1e-12, "mkrk:gauss4": 1e-9, "taylor": 1e-12, "rattle": 2e-4,
           "imidm": 2e-4, "kl4": 1e-8, "trapm": 2e-4}  # fmt: skip


@each("method", chosen(METHODS, ["s6_10", "mkrk:cv8", "mkrk:gauss4", "taylor", "imidm"]))
def test_every_family_of_methods(method):
    a, b = (ph.integrate(system, method, **SHORT, **TURN) for system in (
        ph.rigid_body(TENSOR, potential=height, torque=damping), ph.rigid_body(TENSOR, torque=damped_weight)
    ))  # fmt: skip
    assert apart(a, b) < 1e-12
    assert float(abs(a.energy_error).max()) < METHODS[method] and list(a.force.values) == ["torque"]


@each("method", ["s4_6/kepler", "rkn6_14a/kepler", "rattle", "taylor"])
def test_orbits_by_every_family_of_methods(method):
    build, start = BUILD["orbit"]
    potential, load, by_hand = DRIVEN["orbit"]
    errors = []
    for step in (0.1, 0.05):
        a, b = (ph.integrate(build(**one), method, step=step, t_end=1.0, **start)
                for one in ({"potential": potential, **load}, by_hand))  # fmt: skip
        assert apart(a, b) < 1e-12 and list(a.force.values) == ["potential", "force"]
        errors.append(float(abs(a.energy_error).max()))
    assert errors[1] < max(errors[0] / 3.5, 1e-13)


def test_a_force_beside_zonal_gravity_and_drag_of_the_list():
    forces = [ph.forces.zonal(J2=1e-2, radius=0.5)]
    a = ph.integrate(ph.orbit(1.0, forces=forces, potential=spring, force=drag), "rkn6_14a/kepler", **SHORT, **MOVE)
    b = ph.integrate(
        ph.orbit(1.0, forces=forces, force=lambda t, r, v, p: (
            -0.5 * r[0] - 0.1 * v[0], -0.5 * r[1] - 0.1 * v[1], -r[2] - 0.1 * v[2])),
        "rkn6_14a/kepler", **SHORT, **MOVE,
    )  # fmt: skip
    assert apart(a, b) < 1e-11 and float(abs(a.energy_error).max()) < 1e-11


def test_a_load_of_a_body_that_moves():
    system = ph.rigid_body(TENSOR, mass=2.0, potential=height, load=both_drag)
    by_hand = ph.rigid_body(
        TENSOR, mass=2.0, load=lambda t, r, v, q, w, p: (drag(t, r, v, p), damped_weight(t, q, w, p))
    )
    a, b = (ph.integrate(one, "mkrk:dp8", **SHORT, **TURN, **MOVE) for one in (system, by_hand))
    assert apart(a, b) < 1e-12 and float(abs(a.energy_error).max()) < 1e-12


def motor(t, q, omega, parameters, states):
    return (0.0, 0.0, -0.1 * omega[2] + states.charge), omega[2] - states.charge


def weight_and_motor(t, q, omega, parameters, states):
    T, rate = motor(t, q, omega, parameters, states)
    G = weight(3.0, q)
    return (G[0] + T[0], G[1] + T[1], G[2] + T[2]), rate


def brake(t, position, velocity, q, omega, parameters, states):
    return -0.2 * omega[2]


def braked(t, q, omega, parameters, states):
    return (0.0, 0.0, states.command)


def weight_and_brake(t, q, omega, parameters, states):
    G = weight(3.0, q)
    return (G[0], G[1], G[2] + states.command)


def test_states_and_controllers_beside_a_potential():
    kept = {"states": {"charge": 1}}
    a, b = (ph.integrate(one, "mkrk:dp8", **SHORT, **TURN) for one in (
        ph.rigid_body(TENSOR, potential=swinging, torque=motor, states=kept["states"]),
        ph.rigid_body(TENSOR, torque=lambda t, q, w, p, s: (
            tuple(weight(3.0 + 1.5 * np.sin(2.0 * t), q)[k] + motor(t, q, w, p, s)[0][k] for k in range(3)),
            motor(t, q, w, p, s)[1]), **kept),
    ))  # fmt: skip
    assert apart(a, b) < 1e-12 and float(abs(a.charge - b.charge).max()) < 1e-12
    assert float(abs(a.energy_error).max()) < 1e-12 and a.work.shape[1] == 2
    law = {"states": {"command": 1}, "controllers": [ph.controller(brake, every=0.1, sets="command")]}
    a, b = (ph.integrate(one, "mkrk:dp8", **SHORT, **TURN) for one in (
        ph.rigid_body(TENSOR, potential=height, torque=braked, **law),
        ph.rigid_body(TENSOR, torque=weight_and_brake, **law),
    ))  # fmt: skip
    assert apart(a, b) < 1e-12 and float(abs(a.energy_error).max()) < 1e-12
    top = ph.heavy_top(TENSOR, (0, 0, 1), 3.0, torque=braked, **law)
    assert apart(ph.integrate(top, "mkrk:dp8", **SHORT, **TURN), b) < 1e-12


def test_a_heavy_top_with_a_torque():
    top = ph.heavy_top(TENSOR, (0, 0, 1), 3.0, torque=lambda t, q, w, p: (-p[0] * w[0], -p[0] * w[1], -p[0] * w[2]),
                       parameters=[0.1])  # fmt: skip
    by_hand = ph.rigid_body(TENSOR, torque=damped_weight)
    for method in ("mkrk:dp8", "s6_10", "taylor", "kl4"):
        a, b = (ph.integrate(one, method, **SHORT, **TURN) for one in (top, by_hand))
        assert apart(a, b) < 1e-10 and float(abs(a.energy_error).max()) < 1e-8
    assert top.recommended == "mkrk:cv8" and top.conserves == ()
    ph.checks.check_system(top, **TURN).raise_for_failure()
    assert ph.rerun(a, torque=top.functions["torque"].function).identical(a)
    lighter = ph.integrate(top, "mkrk:dp8", parameters={"weight": 1.0}, **SHORT, **TURN)
    assert apart(lighter, ph.integrate(top, "mkrk:dp8", **SHORT, **TURN)) > 1e-2
    assert ph.heavy_top(TENSOR, (0, 0, 1), 3.0).recommended == "fg6_5"


def opaque(t, q, parameters):
    if t > parameters[0]:
        raise ValueError("no potential here")
    try:
        return height(t, q, parameters)
    except ZeroDivisionError:
        return 0.0


def test_a_potential_that_cannot_be_traced():
    """It is told once though it is the torque too; what it raises late says when."""
    system = ph.rigid_body(TENSOR, potential=opaque, torque=damping, parameters=[1.0])
    with pytest.warns(SlowFunctionWarning) as told:
        a = ph.integrate(system, "mkrk:dp8", step=0.05, t_end=0.5, **TURN)
    assert len(told) == 1 and "potential 'opaque'" in str(told[0].message)
    late = pytest.raises(UserFunctionError, match="no potential here")
    with pytest.warns(SlowFunctionWarning), late as caught:
        ph.integrate(system, "mkrk:dp8", step=0.05, t_end=0.5, parameters={"parameters": [0.31]}, **TURN)
    assert caught.value.step == 6 and caught.value.time == pytest.approx(0.3)
    b = ph.integrate(ph.rigid_body(TENSOR, torque=damped_weight), "mkrk:dp8", step=0.05, t_end=0.5, **TURN)
    assert apart(a, b) < 1e-11


def test_a_global_that_changes_is_seen():
    global GAIN

    def energy(t, q, parameters):
        return GAIN * q[1]

    system = ph.rigid_body(TENSOR, potential=energy, torque=damping)
    first = ph.integrate(system, "mkrk:dp8", **SHORT, **TURN)
    GAIN = 6.0
    try:
        again = ph.integrate(system, "mkrk:dp8", **SHORT, **TURN)
        fresh = ph.integrate(ph.rigid_body(TENSOR, potential=energy, torque=damping), "mkrk:dp8", **SHORT, **TURN)
    finally:
        GAIN = 3.0
    assert apart(again, fresh) == 0.0 and apart(first, again) > 1e-2


@each("name", BUILD)
def test_the_checks_of_a_system(name):
    build, start = BUILD[name]
    potential, load, _ = DRIVEN[name]
    ph.checks.check_system(build(potential=potential, **load), **start).raise_for_failure()


def test_without_work_it_is_said():
    for system, start in ((ph.rigid_body(TENSOR, potential=height, torque=damping, work=False), TURN),
                          (ph.particle(potential=spring, force=drag, work=False), MOVE)):  # fmt: skip
        ds = ph.integrate(system, "mkrk:rk4", step=0.1, t_end=1.0, **start)
        assert "work=False" in ds.energy_error.attrs["note"] and not system.balanced and "work" not in ds


# ------------------------------------------------------------------ derivatives, members
@pytest.mark.full
def test_derivatives():
    system, by_hand = (
        ph.rigid_body(TENSOR, potential=height, torque=damping),
        ph.rigid_body(TENSOR, torque=damped_weight),
    )
    a, b = (ph.integrate(one, "mkrk:rk4", step=0.05, t_end=0.5, tangent=True, **TURN) for one in (system, by_hand))
    np.testing.assert_allclose(a.state_transition, b.state_transition, rtol=0, atol=1e-11)


def test_members_in_lanes():
    speeds = np.linspace(0.5, 2.0, 9)[:, None] * np.array((0.3, 0.2, 1.0))
    words = {"attitude": TURN["attitude"], "step": 0.05, "t_end": 0.5}
    system = ph.rigid_body(TENSOR, potential=swinging, torque=damping)
    every = ph.ensemble(system, "mkrk:rk4", members={"angular_velocity": speeds}, **words)
    alone = ph.integrate(system, "mkrk:rk4", angular_velocity=speeds[4], **words)
    last = every.isel(member=4).angular_velocity.values.ravel()[-3:]
    np.testing.assert_allclose(last, alone.angular_velocity[-1], rtol=0, atol=1e-12)


# ------------------------------------------------------------------ an energy that is only reported
def test_a_reported_energy_moves_nothing():
    for name, (build, start) in BUILD.items():
        potential, load, _ = DRIVEN[name]
        system = build(reported_energy=potential, **load)
        a, b = (ph.integrate(one, "mkrk:rk4", step=0.1, t_end=0.5, **start) for one in (system, build(**load)))
        assert apart(a, b) == 0.0 and not system.balanced
        assert "reported_energy" in a.energy_error.attrs["note"] and "work" not in a
        assert float(abs(a.energy - b.energy).max()) > 0.1


def test_what_does_not_go_together():
    with pytest.raises(InvalidInput, match="potential and reported_energy are both given"):
        ph.rigid_body(TENSOR, potential=height, reported_energy=height, torque=damping)
    for build in (lambda **given: ph.rigid_body(TENSOR, **given), lambda **given: ph.spacecraft(TENSOR, 1.0, **given)):
        with pytest.raises(InvalidInput, match=r"reported_energy is only reported, beside a torque or .*load"):
            build(reported_energy=height)


# ------------------------------------------------------------------ records
def as_before(text):
    """The record of a run as it was written when a potential beside a load was only reported."""
    kept = json.loads(text)
    arguments = kept["system"]["arguments"]
    arguments["potential"] = arguments.pop("reported_energy")
    return json.dumps(kept)


@each("name", BUILD)
def test_records(name):
    build, start = BUILD[name]
    potential, load, _ = DRIVEN[name]
    new = ph.integrate(build(potential=potential, **load), "mkrk:rk4", step=0.1, t_end=0.5, **start)
    assert ph.rerun(new, potential=potential, **load).identical(new)
    reported = ph.integrate(build(reported_energy=potential, **load), "mkrk:rk4", step=0.1, t_end=0.5, **start)
    assert ph.rerun(reported, reported_energy=potential, **load).identical(reported)
    old = reported.assign_attrs(run=as_before(reported.run))
    again = ph.rerun(old, potential=potential, **load)
    assert again.identical(reported) and apart(again, new) > 1e-3
    assert ph.rerun(old, reported_energy=potential, **load).identical(reported)
    with pytest.raises(InvalidInput, match=r"hand it in again: .*reported_energy="):
        ph.rerun(old, **load)


class Stop(Exception):
    """What ends a run in the middle."""


def test_stores_and_pickles_from_before_go_on_with_what_they_meant(tmp_path, monkeypatch):
    functions = {"torque": damping, "potential": height}
    words = {"step": 0.01, "steps": 100} | TURN
    whole = ph.integrate(ph.rigid_body(TENSOR, torque=damping, reported_energy=height), "mkrk:rk4", **words)

    def stop(progress):
        if progress.done >= 40:
            raise Stop

    with monkeypatch.context() as before:
        before.setattr(stepping, "SLICE_SECONDS", 0.0)
        before.setattr(stepping, "FIRST_SLICE", 8)
        before.setattr(stepping.Run, "adjust", lambda run, elapsed: None)
        names = {"reported_energy": "potential"}
        before.setattr(made_by, "records_of", lambda given: {
            names.get(name, name): made_by.record_of(one.function) for name, one in given.items()
        })  # fmt: skip
        old = ph.rigid_body(TENSOR, torque=damping, reported_energy=height)
        with pytest.raises(Stop):
            ph.integrate(old, "mkrk:rk4", store=tmp_path / "run.zarr", progress=stop, **words)
    assert "acts" not in str(old.arguments) and "reported_energy" not in str(old.arguments)
    with pytest.raises(
        InvalidInput, match="with the functions reported_energy, torque, but that handed in has potential"
    ):
        ph.resume(tmp_path / "run.zarr", system=ph.rigid_body(TENSOR, **functions))
    ds = ph.resume(tmp_path / "run.zarr", **functions)
    np.testing.assert_array_equal(ds.attitude, whole.attitude)
    again = built("rigid_body", dict(old.arguments), functions)
    assert list(again.functions) == ["torque", "reported_energy"] and not again.balanced
    new = pickle.loads(pickle.dumps(ph.rigid_body(TENSOR, **functions)))
    assert list(new.functions) == ["torque", "potential"] and new.balanced and len(new.auxiliary) == 1


SCENARIO = """
method = "mkrk:rk4"
[system]
type = "rigid_body"
inertia = [1, 2, 2.5]
torque = "mine.py:torque"
potential = "mine.py:energy"
[initial]
angular_velocity = [0.3, 0.2, 1.0]
[run]
step = 0.1
t_end = 1.0
"""
CODE = """
def torque(t, q, omega, parameters):
    return -0.1 * omega

def energy(t, q, parameters):
    return 3.0 * q[1]
"""


def test_scenarios_say_what_they_mean(tmp_path):
    (tmp_path / "mine.py").write_text(CODE)
    path = tmp_path / "scenario.toml"

    def read(text):
        path.write_text(text)
        return read_scenario(path, allow_code=True)

    with pytest.raises(InvalidInput, match=r"scenario\.toml:7: system\.potential: .*version = 2.*reported_energy"):
        read(SCENARIO)
    acting, reported = read("version = 2\n" + SCENARIO), read(SCENARIO.replace("potential =", "reported_energy ="))
    assert list(acting.system.functions) == ["torque", "potential"] and acting.integrate().work.shape == (11, 1)
    assert list(reported.system.functions) == ["torque", "reported_energy"] and "work" not in reported.integrate()
    assert list(read(SCENARIO.replace('torque = "mine.py:torque"\n', "")).system.functions) == ["potential"]
