"""``loads=`` of the builders, and the attraction of bodies on each other as a load."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from cover import some
from each import each
from polhode.errors import InvalidInput
from vectors import cross

MU = 3.986004415e14
MASSES = (1.0, 1e-3, 2e-3)
START = {
    "position": [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 2.0, 0.1)],
    "velocity": [(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-0.7, 0.0, 0.0)],
}
ORBITERS = ("rkn6_14a/kepler", "s6_10/kepler", "mkrk:cv8", "rkn6_14a", "taylor")

JET = ph.systems.thruster(force=0.1, direction=(1, 0, 0), position=(0, 0.1, 0))


def slowed(planet, tau):
    return -planet.velocity / (2.0 * tau)


def flattened(planet, moon, strength):
    """The oblateness of one body on another one."""
    d = moon.position - planet.position
    s = d @ d
    return strength * moon.mass * s**-1.5 * (3.0 * d[2] ** 2 / s - 1.0)


def trapped(body, stiffness):
    return 0.5 * stiffness * body.position @ body.position


def rubbed(body, rate):
    return {"torque": -rate * body.angular_velocity}


def tilted(body, stiffness):
    return 0.5 * stiffness * (body.in_space((1.0, 0.0, 0.0))[0] - 0.3) ** 2


@cache
def by_hand(t_end, pulled=(2,), tau=1e3):
    """The migration of some planets, written out for SciPy."""

    def rates(t, y):
        r, v = y.reshape(2, 3, 3)
        a = np.zeros((3, 3))
        for i in range(3):
            for j in range(3):
                if i != j:
                    d = r[j] - r[i]
                    a[i] += MASSES[j] * d / np.linalg.norm(d) ** 3
        for i in pulled:
            a[i] -= v[i] / (2.0 * tau)
        return np.concatenate([v.ravel(), a.ravel()])

    start = np.concatenate([np.ravel(START["position"]), np.ravel(START["velocity"])])
    found = solve_ivp(rates, (0.0, t_end), start, method="DOP853", rtol=1e-13, atol=1e-13)
    return found.y[:9, -1].reshape(3, 3)


def migrating(**more):
    return ph.gravitating_bodies(mass=MASSES, loads=[
        ph.loads.acceleration(slowed, tau=1e3).on("body2").named("migration")], **more)  # fmt: skip


@each("method", some(ORBITERS, 3))
def test_a_planet_migrates_as_written_by_hand(method):
    ds = ph.integrate(migrating(), method, step=0.02, steps=1000, every=1000, **START)
    expected = by_hand(20.0)
    without = by_hand(20.0, pulled=())
    assert abs(expected - without).max() > 1e-2
    assert abs(ds.position.values[-1] - expected).max() < 1e-9
    assert float(abs(ds.energy_error).max()) < 1e-11
    assert ds.work.values[-1].item() < -1e-6


def test_names_of_bodies_are_those_of_loads_and_results():
    system = ph.gravitating_bodies(mass=MASSES, names=("sun", "b", "c"), loads=[
        ph.loads.of(flattened, strength=1e-9).on("b", "c")])  # fmt: skip
    assert system.conserves == ("energy", "total_momentum")
    start = {"sun": {}, "b": {"position": (1, 0, 0), "velocity": (0, 1, 0)},
             "c": {"position": (1.02, 0.01, 0.01), "velocity": (0, 1.25, 0)}}  # fmt: skip
    ds = ph.integrate(system, "rkn6_14a", step=1e-3, steps=500, every=100, start=start)
    momentum = ds.total_momentum.values
    assert abs(momentum - momentum[0]).max() < 1e-16
    assert float(abs(ds.energy_error).max()) < 1e-12
    assert ds.sel(body="c").position.shape == (6, 3)
    plain = ph.integrate(ph.gravitating_bodies(mass=MASSES), "rkn6_14a", step=1e-3, steps=500, every=100,
                         position=[(0, 0, 0), (1, 0, 0), (1.02, 0.01, 0.01)],
                         velocity=[(0, 0, 0), (0, 1, 0), (0, 1.25, 0)])  # fmt: skip
    assert abs(plain.position.values[-1] - ds.position.values[-1]).max() > 1e-6


def test_names_alone_change_no_bit():
    plain = ph.integrate(ph.gravitating_bodies(mass=MASSES), "s6_10/kepler", step=0.05, steps=100, **START)
    named = ph.integrate(ph.gravitating_bodies(mass=MASSES, names=("a", "b", "c")), "s6_10/kepler", step=0.05,
                         steps=100, **START)  # fmt: skip
    assert np.array_equal(plain.position.values, named.position.values)
    assert list(named.body.values) == ["a", "b", "c"]


def test_gravitation_as_a_load_is_the_builder():
    bodies = [ph.body(f"body{k}", mass) for k, mass in enumerate(MASSES)]
    for method in ("rkn6_14a/kepler", "v2", "mkrk:cv8"):
        one = ph.integrate(ph.system(*bodies, ph.loads.gravitation(1.0)), method, step=0.05, steps=100, **START)
        two = ph.integrate(ph.gravitating_bodies(mass=MASSES), method, step=0.05, steps=100, **START)
        assert np.array_equal(one.position.values, two.position.values), method


def test_gravitation_of_two_is_the_same_potential():
    """On two named bodies it is traced, on all of them a kernel of its own."""
    bodies = [ph.body("a", 1.0), ph.body("b", 0.3)]
    start = {"position": [(0, 0, 0), (1, 0, 0)], "velocity": [(0, 0, 0), (0, 1, 0.1)]}
    runs = [ph.integrate(ph.system(*bodies, load), "rkn6_14a", step=0.01, steps=500, **start)
            for load in (ph.loads.gravitation(1.0), ph.loads.gravitation(1.0).on("a", "b"))]  # fmt: skip
    assert abs(runs[0].position.values - runs[1].position.values).max() < 1e-13


def test_bodies_that_turn_attract_each_other_too():
    system = ph.system(ph.body("a", 1.0, (1, 2, 2.5)), ph.body("b", 0.3), ph.loads.gravitation(1.0),
                       ph.loads.of(rubbed, rate=0.1).on("a"))  # fmt: skip
    assert "mutual_gravity" not in system.provides
    ds = ph.integrate(system, "rkn6_14a", step=0.01, steps=500, every=500, position=[(0, 0, 0), (1, 0, 0)],
                      velocity=[(0, 0, 0), (0, 1, 0.1)], angular_velocity=[(0.1, 2.0, 0.3), (0, 0, 0)])  # fmt: skip
    assert float(abs(ds.energy_error).max()) < 1e-12
    assert ds.work.values[-1].item() < -0.1


def test_a_state_beside_orbits():
    def warmed(planet, heat):
        power = 0.01 * (planet.velocity @ planet.velocity)
        return {"force": -0.01 * planet.velocity * planet.mass * (1.0 + 0.0 * heat), "heat": power - 0.1 * heat}

    system = ph.gravitating_bodies(mass=MASSES, loads=[ph.loads.of(warmed).states(heat=0.5).on("body1")])
    found = {}
    for method in ("s6_10/kepler", "rkn6_14a/kepler", "mkrk:cv8"):
        ds = ph.integrate(system, method, step=0.01, steps=1000, every=1000, **START)
        assert float(abs(ds.energy_error).max()) < 1e-10, method
        found[method] = float(ds.heat[-1]), ds.position.values[-1]
    heat, place = found.pop("mkrk:cv8")
    for other, at in found.values():
        assert abs(other - heat) < 1e-9
        assert abs(at - place).max() < 1e-9


BUILT = {
    "particle": (lambda loads: ph.particle(2.0, stiffness=3.0, loads=loads), [(trapped, 0.5)],
                 {"step": 0.01, "position": (1, 0, 0)}),
    "orbit": (lambda loads: ph.orbit(MU, 500.0, forces=[ph.forces.zonal(J2=1e-3, radius=6.4e6)], loads=loads),
              [(trapped, 1e-3)], {"step": 5.0, "position": (6.9e6, 0, 0), "velocity": (0, 5400.0, 5400.0)}),
    "rigid_body": (lambda loads: ph.rigid_body((1, 2, 2.5), loads=loads), [(rubbed, 0.1), (tilted, 1.0)],
                   {"step": 0.01, "angular_velocity": (1.0, 0.1, 2.0)}),
    "free_body": (lambda loads: ph.free_body((1, 2, 2.5), loads=loads), [(tilted, 1.0)],
                  {"step": 0.01, "angular_velocity": (1.0, 0.1, 2.0)}),
    "heavy_top": (lambda loads: ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0, loads=loads), [(rubbed, 0.1)],
                  {"step": 0.01, "angular_velocity": (0, 0.1, 5.0)}),
    "gravity_gradient": (lambda loads: ph.systems.gravity_gradient((1.7, 3.7, 5.1), 3.986e14, 6.9e6, loads=loads),
                         [(rubbed, 1e-3)], {"step": 10.0, "angular_velocity": (0.001, 0.0001, 0.001)}),
    "spacecraft": (lambda loads: ph.spacecraft((90, 70, 60), MU, 120.0, loads=loads,
                                               thrusters=[JET]),
                   [(rubbed, 1e-2)], {"step": 2.0, "position": (6.9e6, 0, 0), "velocity": (0, 5400.0, 5400.0),
                                      "angular_velocity": (0.02, 0.03, -0.01)}),
    "dipoles": (lambda loads: ph.dipoles(4, loads=loads), [(trapped, 1.0)],
                {"step": 1e-3, "position": [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2)]}),
    "rigid_water": (lambda loads: ph.rigid_water(4, loads=loads), [(trapped, 50.0)],
                    {"step": 2e-4, "position": [(0, 0, 0), (0.4, 0, 0), (0, 0.4, 0), (0, 0, 0.4)]}),
}  # fmt: skip


@each("name", [*list(BUILT)[:-1], pytest.param("rigid_water", marks=pytest.mark.full)])
def test_every_builder_takes_loads(name):
    """They act, balance, and come back from the record."""
    build, given, words = BUILT[name]
    loads = [ph.loads.of(one, **{parameter: value}) for one, value in given
             for parameter in ("rate" if one is rubbed else "stiffness",)]  # fmt: skip
    system = build(loads)
    with_loads, without = (ph.integrate(one, "mkrk:cv8", steps=300, every=300, **words) for one in (system, build([])))
    turned = name in ("rigid_body", "free_body", "heavy_top", "gravity_gradient", "spacecraft")
    word = "angular_velocity" if turned else "position"
    there, here = with_loads[word].values[-1], without[word].values[-1]
    assert abs(there - here).max() > 1e-6 * abs(here).max()
    assert float(abs(with_loads.energy_error).max()) < 1e-10
    again = ph.rerun(with_loads, **{one.__name__: one for one, _ in given})
    assert np.array_equal(again[word].values, with_loads[word].values)


def test_a_builder_with_loads_is_the_sum_of_them():
    """A body in a spring and a drag of one's own, as particle and as sum."""

    def drag(body, rate):
        return {"force": -rate * body.velocity}

    acting = ph.loads.of(drag, rate=0.3)
    one = ph.particle(2.0, stiffness=3.0, loads=[acting])
    two = ph.system(ph.body("body", 2.0), acting, ph.loads.of(trapped, stiffness=3.0))
    runs = [ph.integrate(system, "mkrk:cv8", step=0.05, steps=200, position=(1, 0.2, 0)) for system in (one, two)]
    assert abs(runs[0].position.values - runs[1].position.values).max() < 1e-14


def test_loads_of_a_centre_take_the_gravity_parameter_of_the_builder():
    flat = {"J2": 1.0826e-3, "radius": 6378136.3}
    start = {"position": (7e6, 0.0, 1e5), "velocity": (0.0, 7.4e3, 1e3)}
    ends = [
        ph.integrate(ph.orbit(MU, **words), "mkrk:gauss8", step=10.0, steps=100, every=100, **start).position[-1]
        for words in ({"forces": [ph.forces.zonal(**flat)]}, {"loads": [ph.loads.zonal(**flat)]}, {})
    ]
    assert abs(ends[0] - ends[1]).max() < 1e-6 and abs(ends[0] - ends[2]).max() > 100.0


def swept(body):
    """A long force at rest, whose power needs it again."""
    r, total = body.position, np.zeros(3)
    for k in range(1, 14):
        d = r - np.array([10.0 * np.cos(k), 10.0 * np.sin(k), float(k)])
        total = total - d * (d @ d) ** -1.5
    return {"force": total + np.array([-r[1], r[0], 0.0])}


@each("make", [
    pytest.param(lambda: ph.orbit(1.0, loads=[ph.loads.of(swept)]), marks=pytest.mark.full),
    lambda: ph.particle(1.0, loads=[ph.loads.of(swept)]),
    lambda: ph.spacecraft((1.0, 2.0, 2.5), 1.0, loads=[ph.loads.of(swept)]),
    lambda: ph.system(ph.body("a", 1.0), ph.loads.central(1.0), ph.loads.of(swept)),
    lambda: ph.particle(1.0, force=lambda t, position, velocity, parameters: -position),
])  # fmt: skip
def test_loads_write_within_their_parameters(make):
    """What is remembered of loads at rest has a place of its own."""
    start = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 0.8, 0.3)}
    ph.checks.check_system(make(), states=1, **start).raise_for_failure()


def test_a_zonal_load_without_coefficients_is_refused():
    with pytest.raises(InvalidInput, match="J2 to J6 are all zero; give at least one of them, or leave this load out"):
        ph.loads.zonal(radius=6378136.3)


def of_time_constant(tau):
    return ph.gravitating_bodies(mass=MASSES, loads=[
        ph.loads.acceleration(slowed, tau=tau).on("body2").named("migration")])  # fmt: skip


def test_numbers_of_loads_vary_in_members_and_have_derivatives():
    words = {"step": 0.05, "steps": 100, **START}
    ends = ph.ensemble(of_time_constant(1e3), "rkn6_14a/kepler", members={"loads.migration.tau": [1e3, 2e3]}, **words)
    for k, tau in enumerate((1e3, 2e3)):
        alone = ph.integrate(of_time_constant(tau), "rkn6_14a/kepler", **words)
        assert np.array_equal(ends.position.values[k], alone.position.values)
    up, down = (ph.integrate(of_time_constant(tau), "mkrk:cv8", **words).position.values[-1] for tau in (1001.0, 999.0))
    found = ph.gradient(lambda rows: rows.position[2, 0], of_time_constant(1e3), "mkrk:cv8",
                        wrt=["loads.migration.tau"], **words)  # fmt: skip
    assert float(found.by["loads.migration.tau"]) == pytest.approx(0.5 * (up - down)[2, 0], rel=1e-6)


def damped(t, q, w, p):
    return -p[0] * w


def command(t, r, v, q, w, p, states):
    return -p[0] * w


def by_command(t, q, w, p, states):
    return p[1] * states.command


def in_python(t, q, w, p):
    return [-p[0] * float(repr(float(x))) for x in w]


def worn(t, q, w, p, states):
    return -p[0] * states.wear * w, w @ w - states.wear


def heats(body, rate, heat, wear=None):
    return {"torque": -rate * heat * body.angular_velocity, "heat": body.angular_velocity @ body.angular_velocity}


TENSOR = np.array([(2.0, 0.1, 0.0), (0.1, 3.0, 0.2), (0.0, 0.2, 4.0)])
SAMPLED = {"states": {"command": 3}, "controllers": [ph.controller(command, every=0.1, sets="command")]}
HANDED = {
    "a torque": {"torque": damped, "parameters": [0.2]},
    "a function without a program": {"torque": in_python, "parameters": [0.2]},
    "a potential beside it": {"torque": damped, "potential": lambda t, q, p: q[1] * q[2], "parameters": [0.2]},
    "a state": {"torque": worn, "parameters": [0.2], "states": {"wear": 0.5}},
    "a sampled controller": {"torque": by_command, "parameters": [0.2, 0.5], **SAMPLED},
    "wheels": {"torque": damped, "parameters": [0.2], "wheels": ph.reaction_wheels(np.eye(3), 0.01)},
}


@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
@each("name", [pytest.param(one, marks=[pytest.mark.full] * (one == "a function without a program")) for one in HANDED])
def test_loads_stand_beside_what_a_user_hands_to_a_builder(name):
    """Functions, states, controllers and wheels: as by hand with SciPy; energy less work stays, runs are repeated."""
    more = [ph.loads.of(tilted, stiffness=0.7), ph.loads.of(heats, rate=0.3).states(heat=0.1)]
    system = ph.rigid_body(TENSOR, **HANDED[name], loads=more)
    ds = ph.integrate(system, "mkrk:cv8", step=0.01, steps=100, angular_velocity=(1.0, 0.4, -0.7))
    p = HANDED[name]["parameters"]

    def rates(t, y, held=None):
        q, w, heat, wear = y[:4] / np.linalg.norm(y[:4]), y[4:7], y[7], y[8]
        R = np.asarray(ph.rotation.matrix_from_quaternion(q))
        torque = -0.3 * heat * w
        x = R @ (1.0, 0.0, 0.0)
        torque = torque - cross((1.0, 0.0, 0.0), R.T @ (0.7 * (x[0] - 0.3) * np.array((1.0, 0.0, 0.0))))
        torque = torque + (p[1] * held if held is not None else -p[0] * w * (wear if name == "a state" else 1.0))
        if name == "a potential beside it":
            slope = np.array((0.0, q[2], q[1], 0.0))  # by the quaternion, of which q' = q (0, w) / 2
            torque = torque - 0.5 * np.array([slope @ turned(q, k) for k in range(3)])
        inertia = TENSOR
        spin = cross(w, TENSOR @ w)
        if name == "wheels":  # at rest in the body, without friction: their momenta along the axes stay
            inertia, h = TENSOR - 0.01 * np.eye(3), ds.wheel_momentum.values[0]
            spin = cross(w, inertia @ w + h)
        spun = 0.5 * sum(w[k] * turned(q, k) for k in range(3))
        return np.concatenate([spun, np.linalg.solve(inertia, torque - spin), (w @ w, w @ w - wear)])

    def turned(q, k):
        """q times the unit k."""
        a, b, c, d = q
        return np.array([(-b, a, d, -c), (-c, -d, a, b), (-d, c, -b, a)][k])

    y = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.4, -0.7, 0.1, 0.5])
    for k in range(10):
        held = -p[0] * y[4:7] if name == "a sampled controller" else None
        end = solve_ivp(rates, (0.1 * k, 0.1 * k + 0.1), y, "DOP853", rtol=1e-12, atol=1e-14, args=(held,))
        y = end.y[:, -1]
    assert np.abs(ds.angular_velocity.values[-1] - y[4:7]).max() < 1e-9
    assert np.abs(ds.heat.values[-1] - y[7]) < 1e-9
    assert float(np.abs(ds.energy_error).max()) < 1e-9
    functions = {one.__name__: one for one in (tilted, heats)}
    own = {"command": command} if name == "a sampled controller" else {}
    own |= {key: value for key, value in HANDED[name].items() if callable(value)}
    again = ph.rerun(ds, **functions, **own)
    assert np.array_equal(again.angular_velocity.values, ds.angular_velocity.values)


def lifted(t, r, q, p):
    return p[0] * np.sin(0.3 * t) * (q[1] * q[2] + 0.1 * r[0])


def lifting(t, r, v, q, w, p):
    """Its force and torque, by hand."""
    size = p[0] * np.sin(0.3 * t)
    a, b, c, d = q
    slope = np.array([0.0, c, b, 0.0]) * size
    turns = np.array([(-b, a, d, -c), (-c, -d, a, b), (-d, c, -b, a)])
    return (-0.1 * size, 0.0, 0.0), -0.5 * (turns @ slope)


def standing(t, q, p):
    return 0.3 * q[1] * q[2]


def leaning(t, q, w, p):
    a, b, c, d = q
    return -0.15 * (np.array([(-b, a, d, -c), (-c, -d, a, b), (-d, c, -b, a)]) @ np.array([0.0, c, b, 0.0]))


GYROS = {"gimbal_axes": [(1, 0, 0)], "spin_axes": [(0, 0, 1)], "momentum": 0.5, "command": 0.2}


def test_potentials_stand_beside_wheels():
    """They act as their force and torque written out do; one that reads the time does work."""
    wheels = ph.reaction_wheels(np.eye(3), 0.01, speed=5.0)
    start = {"angular_velocity": (0.3, 0.2, -0.1)}
    there = {"position": (2.0, 0.0, 0.0), "velocity": (0.0, 0.7, 0.0), **start}
    craft = {"inertia": TENSOR, "mu": 1.0, "mass": 3.0, "wheels": wheels, "parameters": [0.2]}
    body = {"inertia": TENSOR, "wheels": wheels}
    for one, other, words in (
        (ph.spacecraft(potential=lifted, **craft), ph.spacecraft(load=lifting, **craft), there),
        (ph.rigid_body(potential=standing, **body), ph.rigid_body(torque=leaning, **body), start),
        (
            ph.rigid_body(TENSOR, potential=standing, gyros=GYROS),
            ph.rigid_body(TENSOR, torque=leaning, gyros=GYROS),
            start,
        ),
        (ph.rigid_body(torque=leaning, reported_energy=standing, **body), ph.rigid_body(torque=leaning, **body), start),
    ):
        runs = [ph.integrate(system, "mkrk:cv8", step=0.01, steps=200, **words) for system in (one, other)]
        for name in {"angular_velocity", "attitude", "wheel_momentum", "gimbal_angle"} & set(runs[0]):
            assert np.abs(runs[0][name].values - runs[1][name].values).max() < 1e-12
        assert np.abs(runs[0].angular_velocity.values[-1] - start["angular_velocity"]).max() > 1e-2
        assert all(float(np.abs(ds.energy_error).max()) < 1e-9 for ds in runs)
    assert list(runs[0].force.values) == ["wheels"]
    assert "potential" in ph.spacecraft(potential=lifted, **craft).auxiliary[1].label


def test_the_attraction_of_bodies_stands_beside_a_centre():
    """Satellites of one centre that attract each other, as planets of a heavy body that stays."""
    start = {"position": [(1.0, 0.0, 0.0), (0.0, 1.6, 0.1)], "velocity": [(0.0, 1.0, 0.0), (-0.8, 0.0, 0.1)]}
    words = {"step": 0.005, "steps": 400, "every": 400}
    pair = ph.orbit(1.0, mass=[0.01, 0.02], loads=[ph.loads.gravitation(1.0)])
    ds = ph.integrate(pair, "mkrk:cv8", **words, **start)

    def rates(t, y):
        r, v = y.reshape(2, 2, 3)
        a = [-one / np.linalg.norm(one) ** 3 for one in r]
        d = r[1] - r[0]
        d = d / np.linalg.norm(d) ** 3
        return np.concatenate([v.ravel(), a[0] + 0.02 * d, a[1] - 0.01 * d])

    y = np.concatenate([np.ravel(start["position"]), np.ravel(start["velocity"])])
    end = solve_ivp(rates, (0.0, 2.0), y, "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
    assert np.abs(ds.position.values[-1].ravel() - end[:6]).max() < 1e-9
    assert float(np.abs(ds.energy_error).max()) < 1e-10


def test_numbers_that_are_handed_in_stand_behind_every_table():
    """A controller is handed them also where forces have longer tables."""
    layers = [(6.4e6 + 1e5 * k, 1e-9 * np.exp(-k)) for k in range(8)]
    system = ph.orbit(
        MU, forces=[ph.forces.drag(coefficient=1e-3, table=layers)], parameters=[3.0, -2.0], states={"push": 0.0},
        force=lambda t, r, v, p, states: (p[1] * states.push, 0.0, 0.0),
        controllers=[ph.controller(lambda t, r, v, q, w, p, states: 10.0 * p[0] + p[1], every=5.0, sets="push")],
    )  # fmt: skip
    ds = ph.integrate(system, "mkrk:rk4", step=1.0, steps=10, position=(6.9e6, 0, 0), velocity=(0, 7600.0, 0))
    assert ds["push"].values[-1] == 28.0
    without = ph.orbit(MU, forces=[ph.forces.drag(coefficient=1e-3, table=layers)])
    free = ph.integrate(without, "mkrk:rk4", step=1.0, steps=10, position=(6.9e6, 0, 0), velocity=(0, 7600.0, 0))
    assert float(ds.velocity[-1, 0] - free.velocity[-1, 0]) == pytest.approx(-2.0 * 28.0 * 10.0, rel=1e-4)


def test_numbers_that_are_handed_in_stand_behind_arrays_of_loads():
    """Also behind a longer one that a load of one's own calls parameters."""

    def pull(body, parameters):
        return {"force": -1e-3 * parameters[3] * body.position}

    system = ph.particle(
        1.0, force=lambda t, r, v, p, states: (states.push, p[0], p[1]), parameters=[3.0, -2.0], states={"push": 0.0},
        controllers=[ph.controller(lambda t, r, v, q, w, p, states: 10.0 * p[0] + p[1], every=5.0, sets="push")],
        loads=[ph.loads.of(pull, parameters=[1.0, 2.0, 4.0, 5.0])],
    )  # fmt: skip
    ds = ph.integrate(system, "mkrk:rk4", step=0.1, steps=1, position=(1000.0, 0, 0))
    assert ds["push"].values[-1] == 28.0
    assert ds.velocity.values[-1] == pytest.approx([0.1 * (28.0 - 5.0), 0.3, -0.2], rel=1e-2)


def test_works_of_two_loads_with_one_name_are_told_apart():
    def drag(body, rate):
        return {"force": -rate * body.velocity}

    air = [ph.forces.drag(coefficient=1e-3, density=1e-12, radius=6.9e6, scale=5e4)]
    system = ph.orbit(MU, 2.0, air, loads=[ph.loads.of(drag, rate=1e-7)])
    ds = ph.integrate(system, "mkrk:cv8", step=5.0, steps=100, position=(6.9e6, 0, 0), velocity=(0, 7600.0, 0))
    assert list(ds.force.values) == ["drag", "loads.drag"]
    power = 1e-7 * np.sum(ds.velocity.values**2, axis=1)
    assert float(ds.work.sel(force="loads.drag")[-1]) == pytest.approx(-np.trapezoid(power, ds.time), rel=1e-5)
    assert float(abs(ds.energy_error).max()) < 1e-12


STIFF = [1.0]


def springy(body):
    return 0.5 * STIFF[0] * body.position @ body.position


def test_loads_of_a_builder_are_read_anew():
    system, ends = ph.particle(2.0, stiffness=3.0, loads=[ph.loads.of(springy)]), []
    for STIFF[0] in (1.0, 4.0):
        ends.append(ph.integrate(system, "mkrk:cv8", step=0.01, steps=100, position=(1, 0, 0)).position[-1, 0])
    assert ends == pytest.approx([np.cos(np.sqrt(2.0)), np.cos(np.sqrt(3.5))], abs=1e-10)


def test_what_cannot_be_together_is_said():
    with pytest.raises(InvalidInput, match="two summands called 'torque'; name one of them otherwise with"):
        ph.rigid_body((1, 2, 2.5), torque=damped, loads=[ph.loads.of(rubbed, rate=0.1).named("torque")])
    with pytest.raises(InvalidInput, match=r"controllers\[0\] sets the state 'command', which controller 'still' "):
        ph.rigid_body((1, 2, 2.5), torque=by_command, parameters=[0.2, 0.5], **SAMPLED, loads=[
            ph.controller(lambda body: {"command": np.zeros(3)}, every=0.2).named("still")])  # fmt: skip
    with pytest.raises(InvalidInput, match="has a state 'charge', as something else is called"):
        ph.particle(force=lambda t, r, v, p, s: (-r, 0.0), states={"charge": 1.0},
                    loads=[ph.loads.of(rubbed, rate=0.1).states(charge=2.0)])  # fmt: skip
    with pytest.raises(InvalidInput, match="list of loads"):
        ph.orbit(MU, loads=3.0)
    with pytest.raises(InvalidInput, match="body3"):
        ph.gravitating_bodies(mass=MASSES, loads=[ph.loads.acceleration(slowed, tau=1.0).on("body3")])
    with pytest.raises(InvalidInput, match="one for each"):
        ph.gravitating_bodies(mass=MASSES, names=("a", "b"))
    with pytest.raises(InvalidInput, match="there is one"):
        ph.system(ph.body("a", 1.0), ph.loads.gravitation(1.0))
    with pytest.raises(InvalidInput, match="pinned"):
        ph.system(ph.body("a", inertia=(1, 1, 1), pinned=True), ph.body("b", 1.0), ph.loads.gravitation(1.0))


SCENARIO = """
method = "rkn6_14a/kepler"

[system]
type = "gravitating_bodies"
mass = [1.0, 1e-3, 2e-3]

[[system.loads]]
kind = "laws.py:slowed"
returns = "acceleration"
name = "migration"
on = ["body2"]
tau = 1000.0

[initial]
position = [[0, 0, 0], [1.0, 0, 0], [0, 2.0, 0.1]]
velocity = [[0, 0, 0], [0, 1.0, 0], [-0.7, 0, 0]]

[run]
step = 0.02
t_end = 20.0
every = 1000
"""


def test_loads_of_any_system_in_a_scenario(tmp_path):
    (tmp_path / "laws.py").write_text("def slowed(planet, tau):\n    return -planet.velocity / (2.0 * tau)\n")
    path = tmp_path / "migration.toml"
    path.write_text(SCENARIO)
    with pytest.raises(InvalidInput, match="only when allowed"):
        ph.runs.read_scenario(path)
    found = ph.runs.read_scenario(path, allow_code=True).integrate()
    expected = ph.integrate(migrating(), "rkn6_14a/kepler", step=0.02, steps=1000, every=1000, **START)
    assert np.array_equal(found.position.values[-1], expected.position.values[-1])
    path.write_text(SCENARIO.replace('"body2"', '"body7"'))
    with pytest.raises(InvalidInput, match="body7"):
        ph.runs.read_scenario(path, allow_code=True)
