"""Works of the loads that users write: the energy error means the same for every system."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import polhode as ph
from cover import chosen, crossed
from each import each
from polhode import forces
from polhode.checks import load_caller
from polhode.errors import InvalidInput, SlowFunctionWarning
from polhode.kernel import jit, layout as L
from polhode.programs.parts import REMEMBERED
from polhode.runs.initial_state import start_state
from polhode.trajectory.convergence import observed_order

SPIN = {"attitude": (0.5, 0.5, -0.5, 0.5), "angular_velocity": (0.3, -0.2, 1.1)}
FLIGHT = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 0.8, 0.3)}
TENSOR = ((2.0, 0.3, -0.1), (0.3, 2.4, 0.2), (-0.1, 0.2, 1.8))


def damping(t, q, omega, p):
    return (-p[0] * omega[0], -p[0] * omega[1], -p[0] * omega[2])


def damping_in_python(t, q, omega, p):
    try:
        return [-p[0] * w for w in omega]
    except ZeroDivisionError:
        return (0.0, 0.0, 0.0)


def drive(t, q, omega, p):
    return (0.0, 0.0, p[0] * math.cos(t))


def swing(t, q, omega, p):
    return (p[0] * math.cos(t) * q[1], p[0] * q[0] * q[3], p[0] * math.sin(2.0 * t))


def pull(t, position, velocity, p):
    return (-p[0] * position[1], p[0] * position[0], 0.1 - p[0] * position[2])


def both(t, position, velocity, q, omega, p):
    return (-p[0] * velocity[0], 0.1 * q[1], position[0]), (0.2 * position[1], -p[0] * omega[1], 0.1)


def turning(t, q, p):
    return p[0] * math.cos(1.3 * t) * q[1] * q[2] + q[0] * q[3]


def waving(t, position, p):
    return p[0] * np.sin(1.3 * t + position[0]) * position[2]


def nodding(t, position, q, p):
    return waving(t, position, p) * (1.0 + q[1] * q[2])


# ------------------------------------------------------------------ one meaning
def test_damping_that_can_be_solved():
    """A sphere: its rate falls as exp(-p t / I), and its energy by the square of that."""
    system = ph.rigid_body((2, 2, 2), torque=damping, parameters=[0.5])
    ds = ph.integrate(system, "mkrk:cv8", step=0.05, t_end=2.0, angular_velocity=(0.3, -0.2, 1.1))
    start = 0.5 * 2 * (0.09 + 0.04 + 1.21)
    lost = start * (np.exp(-0.5 * ds.time.values) - 1.0)
    np.testing.assert_allclose(ds.energy_change, lost, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ds.work[:, 0], lost, rtol=0, atol=1e-12)
    assert float(abs(ds.energy_error).max()) < 1e-12 and list(ds.force.values) == ["torque"]
    assert ds.energy_error.attrs["long_name"] == "energy error, (H - H0 - work)/scale"
    assert "note" not in ds.energy_error.attrs and ds.attrs["conserves"] == ""


@each("function", [damping, swing])
def test_the_same_torque_has_the_same_work_on_a_spacecraft(function):
    """Far from the centre a spacecraft turns as the body alone does."""
    body = ph.rigid_body(TENSOR, torque=function, parameters=[0.4])
    craft = ph.spacecraft(TENSOR, 1.0, gravity_gradient=False, torque=function, parameters=[0.4])
    alone = ph.integrate(body, "mkrk:gauss6", step=0.05, t_end=2.0, **SPIN)
    there = ph.integrate(craft, "mkrk:gauss6", step=0.05, t_end=2.0, **SPIN, **FLIGHT)
    np.testing.assert_allclose(alone.work, there.work, rtol=0, atol=1e-12)
    for ds in (alone, there):
        assert abs(float(ds.energy_change[-1])) > 0.05 and float(abs(ds.energy_error).max()) < 1e-8
        np.testing.assert_array_equal(ds.energy_change, ds.energy - ds.energy[0])


BALANCED = {
    "torque": (lambda: ph.rigid_body(TENSOR, torque=swing, parameters=[0.4]), SPIN),
    "load": (lambda: ph.rigid_body(TENSOR, load=both, mass=2.0, parameters=[0.4]), SPIN | FLIGHT),
    "force": (lambda: ph.particle(2.0, force=pull, parameters=[0.4]), FLIGHT),
    "force of an orbit": (lambda: ph.orbit(1.0, force=pull, parameters=[0.1]), FLIGHT),
    "potential that reads the time": (lambda: ph.rigid_body(TENSOR, potential=turning, parameters=[0.4]), SPIN),
    "the same of a place": (lambda: ph.particle(2.0, potential=waving, parameters=[0.4]), FLIGHT),
    "the same in an orbit": (
        lambda: ph.orbit(1.0, 2.0, [forces.uniform((0, 0, 0.1))], potential=waving, parameters=[0.4]),
        FLIGHT,
    ),
    "the same of a spacecraft": (
        lambda: ph.spacecraft(TENSOR, 1.0, 2.0, gravity_gradient=False, potential=nodding, parameters=[0.4]),
        SPIN | FLIGHT,
    ),
    "potential": (lambda: ph.rigid_body(TENSOR, potential=lambda t, q, p: q[1] * q[2]), SPIN),
}


@each("name", chosen(BALANCED, ["torque", "load", "force", "potential that reads the time", "the same in an orbit",
                                "potential"]))  # fmt: skip
def test_the_change_of_the_energy_less_the_work_is_nothing(name):
    make, start = BALANCED[name]
    report = ph.checks.check_system(make(), states=1, **start)
    report.raise_for_failure()
    assert ("works" in [line.what for line in report.lines]) == (name != "potential")
    ds = ph.integrate(make(), "mkrk:gauss6", step=0.02, t_end=1.0, **start)
    change = float(abs(ds.energy_change).max())
    assert float(abs(ds.energy_error).max()) < 1e-10
    assert change > 0.01 if name != "potential" else change < 1e-10
    functions = {key: one.function for key, one in make().functions.items()}
    assert ph.rerun(ds, **functions).identical(ds)


ORDERS = {"mkrk:heun": 2, "mkrk:rk4": 4, "mkrk:gauss4": 4, "trapm": 2, "bbtrap": 2, "v2": 2, "s4_6": 4, "euler:rk4": 4}


@each("name, order", chosen(ORDERS.items(), [(one, ORDERS[one]) for one in ("mkrk:heun", "mkrk:rk4", "s4_6", "trapm")]))
def test_works_have_the_order_of_the_method(name, order):
    """About a fixed axis of a sphere: the rate is w0 + (p / I) sin t, the work what that gives."""
    system = ph.rigid_body((2, 2, 2), torque=drive, parameters=[0.7])
    rate = 0.4 + 0.35 * math.sin(1.0)
    exact = rate * rate - 0.4 * 0.4
    errors, steps = [], (0.1, 0.05)
    for step in steps:
        ds = ph.integrate(system, name, step=step, t_end=1.0, angular_velocity=(0, 0, 0.4))
        errors.append(abs(float(ds.work[-1, 0]) - exact))
    assert errors[0] > 1e-12 and observed_order(np.array(steps), np.array(errors)) == pytest.approx(order, abs=0.15)


@each("name", ["fg6_5", "pmlf6", "rkn6_14a"])
@each(
    "kind",
    ["potential that reads the time", "the same of a place", "the same in an orbit", "the same of a spacecraft"],
)
def test_works_of_potentials_have_the_order_of_the_motion(kind, name):
    """With commutator loads too: they change the rate of the work."""
    make, start = BALANCED[kind]
    errors = []
    for step in (0.4, 0.2):
        ds = ph.integrate(make(), name, step=step, t_end=2.0, **start)
        errors.append(abs(float(ds.energy_error[-1])))
        assert list(ds.force.values) == ["potential"] and "note" not in ds.energy_error.attrs
    assert errors[1] < 1e-8 and math.log2(errors[0] / errors[1]) > 5.0


# ------------------------------------------------------------------ what is not recorded is said
def test_what_is_not_recorded_is_said():
    inertia, level = (1.0, 2.0, 2.5), {"potential": lambda t, q, p: q[1] * q[2]}
    changing = ph.rigid_body(inertia, potential=lambda t, q, p: math.cos(t) * q[1], work=False)
    beside = ph.rigid_body(inertia, torque=swing, parameters=[0.4], reported_energy=level["potential"])
    jumping = ph.rigid_body(inertia, potential=lambda t, q, p: q[1] if t < 0.5 else 0.1 * q[1])
    without = ph.rigid_body(inertia, torque=swing, parameters=[0.4], work=False)
    assert ph.rigid_body(inertia, **level).conserves == ("energy",)
    assert ph.particle(1.0, potential=lambda t, r, p: r[0] ** 2).conserves == ("energy",)
    assert ph.particle(1.0, potential=lambda t, r, p: t * r[0] ** 2).conserves == ()
    assert "energy" not in ph.orbit(1.0, potential=lambda t, r, p: t * r[0]).conserves
    for system, note in ((changing, "reads the time"), (jumping, "reads the time"),
                         (beside, "taken for those of reported_energy"), (without, "kinetic energy only")):  # fmt: skip
        assert system.conserves == () and not system.auxiliary
        ds = ph.integrate(system, "mkrk:rk4", step=0.1, steps=10, **SPIN)
        assert note in ds.energy_error.attrs["note"] and "work" not in ds
        scale = np.maximum.accumulate(ds.kinetic_energy.values)
        if "potential_energy" in ds:
            moved = abs(ds.potential_energy.values - ds.potential_energy.values[0])
            scale = scale + np.maximum.accumulate(moved)
        np.testing.assert_allclose(ds.energy_error, ds.energy_change / scale, rtol=1e-15)
    assert ph.rerun(ds, torque=swing).identical(ds)
    with pytest.raises(InvalidInput, match="work must be True or False, not 'no'"):
        ph.rigid_body(inertia, torque=swing, work="no")


def test_the_motion_does_not_depend_on_the_work():
    systems = [ph.rigid_body(TENSOR, torque=swing, parameters=[0.4], work=work) for work in (True, False)]
    for name in ("mkrk:rk4", "trapm", "v2"):
        with_work, without = (ph.integrate(system, name, step=0.05, steps=20, **SPIN) for system in systems)
        np.testing.assert_array_equal(with_work.attitude, without.attitude)
        np.testing.assert_array_equal(with_work.angular_momentum, without.angular_momentum)


# ------------------------------------------------------------------ the function is called once at a place
@pytest.mark.skipif(jit.disabled(), reason="plain Python has no memory")
def test_power_at_a_place_where_the_load_has_just_been():
    """What a function that is no program returned there is taken from memory, nowhere else; functions that see
    velocities have none."""
    calls = []

    def counted(t, q, omega, p):
        calls.append(t)
        return json.loads(json.dumps(swing(t, q, None, p)))

    system = ph.rigid_body(TENSOR, torque=counted, parameters=[0.4])
    assert system.memory == REMEMBERED and ph.rigid_body(TENSOR, torque=damping_in_python, parameters=[0.4]).memory == 0
    y, parameters, out = start_state(system, **SPIN), system.with_memory, np.zeros(7)
    with pytest.warns(SlowFunctionWarning):
        role, bodies = system.compiled_loads(0.3, y), system.bodies

    def asked(part, t=0.3, state=y):
        before = len(calls)
        load_caller(part)(role, t, 1, state, bodies, parameters, out)
        return out.copy(), len(calls) - before

    whole, called = asked(L.ALL)
    assert whole[3:6].any() and whole[6] != 0.0 and called == 1
    (resting, none), (moving, nor) = asked(L.RESTING), asked(L.MOVING)
    np.testing.assert_array_equal(resting, [*whole[:6], 0.0])
    np.testing.assert_array_equal(moving, [0.0] * 6 + [whole[6]])
    faster = y.copy()
    faster[10:13] *= 2.0
    doubled, also_none = asked(L.MOVING, state=faster)
    assert doubled[6] == pytest.approx(2.0 * whole[6], rel=1e-14) and none == nor == also_none == 0
    turned = y.copy()
    turned[6:10] = turned[6:10][[1, 0, 3, 2]]
    assert [asked(L.ALL, t=0.4)[1], asked(L.ALL, state=turned)[1], asked(L.ALL)[1]] == [1, 1, 1]
    np.testing.assert_array_equal(out, whole)


# ------------------------------------------------------------------ every system by its check
AIR = forces.drag(kd=0.01, radius=1.0, scale=0.5)
LISTS = {
    "none": [], "drag": [AIR], "zonal": [forces.zonal(J2=1e-2, radius=1.0)],
    "uniform, impulse": [forces.uniform((0.01, 0, 0)), forces.impulse(1.0, (0, 0, 0.1))],
    "third body": [forces.third_body(0.01, circle={"radius": 6.0, "period": 9.0})],
    "light": [forces.radiation_pressure(0.01, circle={"radius": 90.0, "period": 9.0}, shadow="cone", radius=0.5,
                                        sun_radius=0.7)],
    "thrusts": [forces.thrust(0.01, "velocity"), forces.thrust(0.02, vector=(1, 0, 1), start=0.2, stop=0.9)],
    "all": [AIR, forces.zonal(J2=1e-2, radius=1.0), forces.thrust(0.01, "radial")],
}  # fmt: skip
ORBIT = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 0.8, 0.3)}
AROUND = {
    "orbit": lambda forces: ph.orbit(1.0, 2.0, forces),
    "spacecraft": lambda forces: ph.spacecraft((0.01, 0.01, 0.02), 1.0, forces=forces),
}
OTHERS = {
    "free_body": (lambda: ph.free_body((1, 2, 2.5)), {}),
    "rigid_body": (lambda: ph.rigid_body((1, 2, 2.5), torque=damping, parameters=[0.4]), {}),
    "heavy_top": (lambda: ph.heavy_top((1, 1, 2), (0, 0, 1), weight=9.81), {}),
    "gravity_gradient": (lambda: ph.systems.gravity_gradient((1.7, 3.7, 4.4), mu=1.0, radius=2.0), {}),
    "soft_wall": (lambda: ph.systems.problem("krysl_soft_wall").build(), {}),
    "particle": (lambda: ph.particle(2.0, stiffness=(1, 2, 3), gravity=(0, 0, -1)), {}),
    "particle, force": (lambda: ph.particle(2.0, force=pull, parameters=[0.4]), {}),
    "two spacecraft": (lambda: ph.spacecraft([(0.01, 0.02, 0.02)] * 2, 1.0, [1.0, 2.0], forces=[AIR]), ORBIT),
    "plates": (lambda: ph.spacecraft(
        (0.01, 0.01, 0.02), 1.0, thrusters=[ph.systems.thruster((0.01, 0, 0), position=(0, 0.1, 0))],
        plates=[ph.systems.plate(0.1, (0, 0, 1), drag_coefficient=2.0),
                ph.systems.plate(0.1, (1, 0, 0), specular=0.3, diffuse=0.2)],
        atmosphere={"density": 0.1, "radius": 1.0, "scale": 0.5},
        sunlight={"pressure": 0.01, "direction": (1, 0, 0)},
    ), ORBIT),
    "gravitating_bodies": (lambda: ph.gravitating_bodies((1.0, 0.5)),
                           {"position": ((1.0, 0, 0), (-1.0, 0.3, 0)), "velocity": ((0, 0.3, 0.1), (0, -0.5, 0))}),
}  # fmt: skip


@each("around, which", [*crossed(AROUND, LISTS), *(("other", name) for name in OTHERS)])
def test_every_system_is_what_it_declares(around, which):
    """With every kind of force; an IndexError once ended the check of a spacecraft in the air."""
    if around == "other":
        make, start = OTHERS[which]
        system = make()
    else:
        system, start = AROUND[around](LISTS[which]), ORBIT
    report = ph.checks.check_system(system, states=1, span=0.2, **start)
    report.raise_for_failure()
    told = {line.what for line in report.lines}
    assert "loads" in told and ("works" in told) == bool(system.auxiliary)
    assert {f"conserves {name}" for name in system.conserves} <= told
