"""Surroundings of sums: what loads read of them acts as the equations say, and as the equipment of polhode does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from cover import some
from each import each
from polhode.errors import PolhodeError

MU, RATE = 3.986004415e14, 7.292115e-5
LOW = {"position": (6878e3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0)}
INERTIA = np.array([5.0, 4.0, 3.0])
AIR = (1e-12, 6878e3, 60e3)
AXES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.2], [0.0, 0.0, 1.0]])
COMMAND = (0.1, -0.3, 0.15)
RUN = {"step": 5.0, "steps": 1000, "every": 100}


def cube(*loads, **around):
    return ph.system(ph.body("bus", 120.0, INERTIA), ph.loads.central(MU), *loads, surroundings=around)


def by_hand(force, torque, spin, t_end):
    """Position, attitude and angular velocity by DOP853; by a force beside the centre's and a torque."""

    def rates(t, y):
        r, v, (a, b, c, d), w = y[:3], y[3:6], y[6:10] / np.linalg.norm(y[6:10]), y[10:]
        R = ph.rotation.matrix_from_quaternion((a, b, c, d))
        turn = 0.5 * np.array([-b * w[0] - c * w[1] - d * w[2], a * w[0] + c * w[2] - d * w[1],
                               a * w[1] + d * w[0] - b * w[2], a * w[2] + b * w[1] - c * w[0]])  # fmt: skip
        pull = -MU * r / np.linalg.norm(r) ** 3 + force(t, r, v) / 120.0
        return np.concatenate([v, pull, turn, (np.cross(INERTIA * w, w) + torque(t, r, R)) / INERTIA])

    y = np.concatenate([LOW["position"], LOW["velocity"], (1.0, 0.0, 0.0, 0.0), spin])
    scale = np.concatenate([[1e7] * 3, [1e4] * 3, [1.0] * 7])
    end = solve_ivp(rates, (0.0, t_end), y, method="DOP853", rtol=1e-13, atol=1e-13 * scale).y[:, -1]
    return end[:3], end[6:10], end[10:]


def density(r):
    return AIR[0] * np.exp(-(np.linalg.norm(r) - AIR[1]) / AIR[2])


def test_drag_in_air_that_turns_is_that_of_an_orbit_and_of_its_equation():
    ours = cube(ph.loads.drag(2.2, 50.0, rotation=RATE), air_density=ph.surroundings.exponential_air(*AIR))
    built = ph.orbit(MU, mass=120.0, forces=[ph.forces.drag(
        coefficient=2.2 * 50.0 / 120.0, density=AIR[0], radius=AIR[1], scale=AIR[2], rotation=RATE)])  # fmt: skip
    a, b, free = (ph.integrate(one, "rkn6_14a/kepler", **RUN, **LOW) for one in (ours, built, cube()))
    assert abs(a.position.values - b.position.values).max() < 1e-12 * 6878e3
    assert abs(a.work.values - b.work.values).max() < 1e-12 * abs(b.work.values).max()
    assert abs(a.position.values[-1] - free.position.values[-1]).max() > 1e-6 * 6878e3

    def force(t, r, v):
        u = v - np.cross([0.0, 0.0, RATE], r)
        return -0.5 * density(r) * 2.2 * 50.0 * np.linalg.norm(u) * u

    there, _, _ = by_hand(force, lambda t, r, R: np.zeros(3), (0.0, 0.0, 0.0), 5000.0)
    assert abs(a.position.values[-1] - there).max() < 1e-9 * 6878e3
    assert float(abs(a.energy_error).max()) < 1e-12


def test_torquers_and_magnets_are_those_of_a_spacecraft_and_of_their_equation():
    field = ph.surroundings.dipole_field(angle=0.3)
    ours = cube(ph.loads.torquers(AXES, 0.2, command=(0.1, -0.2, 0.15)), ph.loads.magnet((0.0, 0.1, 0.05)), field=field)
    built = ph.spacecraft(
        INERTIA, MU, 120.0, magnetic_field=ph.surroundings.magnetic_field(angle=0.3), gravity_gradient=False,
        torquers=ph.systems.magnetic_torquers(AXES, 0.2, command=(0.1, -0.2, 0.15)),
        dipoles=[ph.systems.magnetic_dipole((0.0, 0.1, 0.05))],
    )  # fmt: skip
    spin = (0.01, 0.02, 0.03)
    a, b, free = (ph.integrate(one, "mkrk:cv8", angular_velocity=spin, **RUN | {"steps": 200}, **LOW)
                  for one in (ours, built, cube()))  # fmt: skip
    assert abs(a.attitude.values - b.attitude.values).max() < 2e-12
    assert abs(a.angular_velocity.values - b.angular_velocity.values).max() < 1e-12 * 0.03
    assert abs(a.angular_velocity.values[-1] - free.angular_velocity.values[-1]).max() > 1e-6
    assert np.array_equal(a.dipole_command, b.dipole_command) and a.dipole_command.dims == ("time", "torquer")
    moment = np.array((0.1, -0.2, 0.15)) @ (AXES / np.linalg.norm(AXES, axis=1)[:, None]) + (0.0, 0.1, 0.05)
    known = ph.surroundings.magnetic_field(angle=0.3)
    _, q, w = by_hand(lambda t, r, v: np.zeros(3), lambda t, r, R: np.cross(moment, R.T @ known.at(t, r)), spin, 1000.0)
    assert abs(a.attitude.values[-1] - q).max() < 1e-9
    assert abs(a.angular_velocity.values[-1] - w).max() < 1e-9 * 0.03
    assert float(abs(a.energy_error).max()) < 1e-12


def test_commands_beyond_the_limit_are_cut():
    field = ph.surroundings.dipole_field()
    limited = cube(ph.loads.torquers(AXES, 0.2).states(dipole_command={"start": COMMAND}), field=field)
    cut = cube(ph.loads.torquers(AXES, command=np.clip(COMMAND, -0.2, 0.2)), field=field)
    a, b = (ph.integrate(one, "mkrk:cv8", step=5.0, steps=100, **LOW).angular_velocity.values for one in (limited, cut))
    assert np.array_equal(a, b) and abs(a[-1]).max() > 1e-6


def wind(body, t, speed):
    return np.array([speed * np.cos(t), 0.0, 0.0])


def gust(body, wind, factor):
    return factor * wind


def blown(body, gust, rate):
    return {"force": -rate * (body.velocity - gust)}


def storm(count):
    return ph.system(
        ph.bodies(count, 2.0), ph.loads.of(blown, rate=0.3),
        surroundings={"gust": ph.surroundings.of(gust, factor=1.5), "wind": ph.surroundings.of(wind, speed=2.0)},
    )  # fmt: skip


def exact(t, speed=3.0, rate=0.15):
    """Of v' = -rate (v - speed cos t), v(0) = 0."""
    return rate * speed / (rate**2 + 1.0) * (rate * np.cos(t) + np.sin(t) - rate * np.exp(-rate * t))


@pytest.mark.parametrize("count", some([1, 2, 5], 1))
def test_quantities_of_the_users_read_each_other(count):
    one = storm(count)
    ds = ph.integrate(one, step=0.02, steps=200)
    assert ds.velocity.values[-1].reshape(count, 3)[:, 0] == pytest.approx(exact(4.0), rel=1e-11)
    assert float(abs(ds.energy_error).max()) < 1e-13
    twice = ph.integrate(one, step=0.02, steps=200, parameters={"wind.speed": 4.0})
    assert twice.velocity.values[-1].reshape(count, 3)[:, 0] == pytest.approx(exact(4.0, 6.0), rel=1e-11)
    members = ph.ensemble(one, step=0.02, steps=200, engine="threads", members={"gust.factor": [1.5, 3.0]})
    ends = members.velocity.values[:, -1].reshape(2, count, 3)[:, 0, 0]
    assert ends == pytest.approx([exact(4.0), exact(4.0, 6.0)], rel=1e-11)
    run = ph.integrate(one, "mkrk:rk4", step=0.02, steps=200, tangent=["wind.speed"])
    slope = run.state_transition[-1]
    of_position = run.position.values[-1].max() / 2.0  # which is proportional to the speed
    assert float(slope.sel(column="wind.speed").max()) == pytest.approx(of_position, rel=1e-11)


def test_loads_in_loops_read_the_surroundings_of_each_body():
    def shelter(body, depth):
        return depth / (1.0 + body.position @ body.position)

    def pulled(a, b, shelter, stiffness):
        d = b.position - a.position
        return {"force": np.array([d, -d]) * stiffness * shelter}

    bodies = ph.bodies(6, 1.0)
    pairs = [(f"body{i}", f"body{i + 1}", 1.0 + 0.2 * i) for i in range(5)]
    one = ph.system(bodies, [ph.loads.of(pulled, stiffness=k).on(a, b).named(f"from_{a}") for a, b, k in pairs],
                    surroundings={"shelter": ph.surroundings.of(shelter, depth=2.0)})  # fmt: skip
    x = np.array([[0.1 * i * i, 0.3 * i, -0.2 * i] for i in range(6)])
    force = np.zeros((6, 3))
    for i, (_, _, k) in enumerate(pairs):
        pull = (x[i + 1] - x[i]) * k * 2.0 / (1.0 + x[i] @ x[i])
        force[i] += pull
        force[i + 1] -= pull
    ends = [
        ph.integrate(one, "mkrk:cv8", step=1e-4, t_end=end, position=x).velocity.values[-1] for end in (1e-4, -1e-4)
    ]
    assert (ends[0] - ends[1]) / 2e-4 == pytest.approx(force, abs=1e-7)


def calm(body, gust, most):
    return gust[0] - most


def test_events_read_the_surroundings_too():
    ds = ph.integrate(storm(2), step=0.01, steps=1000, events=[ph.events.of(calm, most=0.5).on("body1")])
    first = np.arccos(0.5 / 3.0)
    assert ds.event_time.values == pytest.approx([first, 2 * np.pi - first, 2 * np.pi + first], abs=1e-12)
    again = ph.rerun(ds, wind=wind, gust=gust, blown=blown, calm=calm)
    assert np.array_equal(again.position, ds.position) and np.array_equal(again.event_time, ds.event_time)
    with pytest.raises(PolhodeError, match="function for 'gust'"):
        ph.rerun(ds, wind=wind, blown=blown, calm=calm)


def test_a_sum_with_surroundings_is_built_again_from_its_record(tmp_path):
    one = cube(ph.loads.drag(2.2, 50.0), ph.loads.torquers(AXES, 0.2, command=0.1),
               air_density=ph.surroundings.exponential_air(*AIR), field=ph.surroundings.dipole_field())  # fmt: skip
    again = ph.system(**one.arguments)
    assert again.arguments == one.arguments and np.array_equal(again.parameters, one.parameters)
    ds = ph.integrate(one, step=5.0, steps=20, store=tmp_path / "run.zarr", **LOW)
    loaded = ph.load(tmp_path / "run.zarr")
    assert np.array_equal(ph.rerun(loaded).position, ds.position)
    given = {"air_density": {"kind": "exponential_air", "density": AIR[0], "radius": AIR[1], "scale": AIR[2]}}
    assert cube(ph.loads.drag(2.2, 50.0), **given).arguments["air_density"] == one.arguments["air_density"]


STRENGTH = [1.0]


def test_what_a_quantity_reads_is_read_anew():
    def felt(body):
        return STRENGTH[0]

    def push(body, felt):
        return {"force": [felt, 0.0, 0.0]}

    one = ph.system(ph.body("a", 2.0), ph.loads.of(push), surroundings={"felt": ph.surroundings.of(felt)})
    for strength in (1.0, 5.0, 1.0):
        STRENGTH[0] = strength
        assert float(ph.integrate(one, step=0.1, steps=10).velocity[-1, 0]) == pytest.approx(strength / 2.0, rel=1e-13)


def test_a_printed_sum_says_what_reads_the_surroundings():
    one = cube(ph.loads.drag(2.2, 50.0), air_density=ph.surroundings.exponential_air(*AIR))
    for part in ("drag on every body: Cd 2.2, area 50, rotation 0, axis (0, 0, 1); reads air_density",
                 "air_density: surroundings exponential_air: density 1e-12, radius 6878000, scale 60000"):  # fmt: skip
        assert part in repr(one)
    assert "wind: surroundings by your function wind: speed 2" in repr(storm(1))
    assert "reads air_density" in one._repr_html_()


def refused():
    a, of = ph.body("a", 1.0, (1, 1, 1)), ph.surroundings.of
    air = ph.surroundings.exponential_air(*AIR)

    def first(body, second):
        return second

    def second(body, first):
        return first

    def push(body, first):
        return {"force": [first, 0.0, 0.0]}

    return {
        "asks for 'air_density', which nothing gives; there are Cd, area": lambda: ph.system(a, ph.loads.drag(2, 1)),
        "there are Cd, area, axis, field": lambda: ph.system(
            a, ph.loads.drag(2.0, 1.0), surroundings={"field": ph.surroundings.dipole_field()}
        ),
        "'first' asks for 'second' asks for 'first'": lambda: ph.system(
            a, ph.loads.of(push), surroundings={"first": of(first), "second": of(second)}
        ),
        "make a quantity of it: polhode.surroundings.of": lambda: ph.system(a, surroundings={"first": first}),
        "must be made by polhode.surroundings": lambda: ph.system(a, surroundings={"first": 3.0}),
        "kind of surroundings 'first' 'airy'": lambda: ph.system(a, surroundings={"first": {"kind": "airy"}}),
        "surroundings must be a mapping": lambda: ph.system(a, surroundings=air),
        "two summands called 'a'": lambda: ph.system(a, surroundings={"a": air}),
        "a name that is taken": lambda: ph.system(a, surroundings={"t": air}),
        "has no argument 'speed'": lambda: of(gust, speed=1.0),
        "takes no argument": lambda: of(lambda: 1.0),
        "is a plain Python function": lambda: of(np.sin),
        "returns no numbers": lambda: ph.system(a, ph.loads.of(push), surroundings={"first": of(lambda body: "calm")}),
        "cannot be a part of a sum: it prints": lambda: ph.system(
            a, surroundings={"first": of(lambda body: [print("x"), 1.0][1])}
        ),
        "density is -1; it must be positive": lambda: ph.surroundings.exponential_air(-1.0, 1.0, 1.0),
        "torquer 0 is saturated from the start": lambda: ph.loads.torquers(AXES, 0.1, command=0.3),
        "one for each of 3 torquers": lambda: ph.loads.torquers(AXES, (0.1, 0.2)),
        "which something else in a trajectory has": lambda: ph.system(
            a, ph.loads.of(lambda body, dipole_command: 0.0).states(dipole_command=0.0)
        ),
    }


@each("said", refused())
def test_what_cannot_surround_is_said_in_a_sentence(said):
    with pytest.raises(PolhodeError) as told:
        refused()[said]()
    assert said in str(told.value) and "\n" not in str(told.value)


CUBESAT = """
[system]
type = "system"
[[system.bodies]]
name = "bus"
mass_kg = 120
inertia = [5, 4, 3]
[[system.loads]]
kind = "central"
mu = 3.986004415e14
[[system.loads]]
kind = "torquers"
axes = [[1, 0, 0], [0, 1, 0]]
max_dipole = 0.2
command = [0.01, -0.02]
[system.surroundings.field]
kind = "dipole_field"
angle = 0.3
[initial.bus]
position = [6878e3, 0, 0]
velocity = [0, 5383, 5383]
[run]
step = 5
t_end = 50
"""


def test_torquers_in_a_scenario_have_their_command(tmp_path):
    (tmp_path / "sat.toml").write_text(CUBESAT)
    ds = ph.runs.read_scenario(tmp_path / "sat.toml").integrate()
    ours = cube(
        ph.loads.torquers(np.eye(2, 3), 0.2, command=(0.01, -0.02)), field=ph.surroundings.dipole_field(angle=0.3)
    )
    made = ph.integrate(ours, step=5.0, t_end=50.0, **LOW)
    assert np.array_equal(ds.dipole_command, made.dipole_command)
    assert list(ds.dipole_command.values[0]) == [0.01, -0.02]
    assert np.array_equal(ds.attitude, made.attitude)
