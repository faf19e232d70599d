"""A system built again with other numbers has the attributes that it would have if it were the first of its kind."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.surroundings import planets
from polhode.systems import structure, sum as sums
from polhode.systems.sampling import Sampled

I = (1.0, 2.0, 2.5)
TENSOR = np.array([[3.0, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 2.5]])


def drag(t, q, omega, parameters):
    return (-parameters[0] * omega[0], 0.0, 0.0)


def hill(t, q, parameters):
    return parameters[0] * q[1] * q[1]


def pointing(t, position, velocity, q, omega, parameters, states):
    return -parameters[0] * omega


def wearing(t, q, omega, parameters, states):
    return -parameters[0] * omega, states.wear


def wheels(k):
    return ph.reaction_wheels(np.eye(3), 0.01 * k, max_momentum=k, speed=0.1 * k)


def tethered(k):
    return ph.system(ph.body("a", k, I), ph.body("b", 2.0 * k), ph.loads.tether(k, 1.0).on("a", "b"),
                     ph.loads.weight(gravity=k).on("a"))  # fmt: skip


BUILDERS = {
    "free_body": lambda k: ph.free_body((1.0, 2.0, 1.0 + k)),
    "linear": lambda k: ph.free_body((k, k, 0.0)),
    "heavy_top": lambda k: ph.heavy_top((5.0, 5.0, 1.0), (0.0, 0.0, 1.0), weight=k),
    "heavy_top by mass": lambda k: ph.heavy_top((5.0, 5.0, 1.0), (0.0, 0.0, 1.0), mass=k),
    "heavy_top without an axis": lambda k: ph.heavy_top((5.0, 4.0, 2.0), (0.0, k, 1.0), weight=k),
    "heavy_top with a torque": lambda k: ph.heavy_top(
        (5.0, 5.0, 1.0), (0.0, 0.0, 1.0), weight=k, torque=drag, parameters=[k]
    ),
    "rigid_body": lambda k: ph.rigid_body(I, mass=k),
    "rigid_body that stays": lambda k: ph.rigid_body((1.0, 2.0, 1.0 + k)),
    "rigid_body with a torque": lambda k: ph.rigid_body(I, torque=drag, parameters=[k]),
    "rigid_body with a potential": lambda k: ph.rigid_body(I, potential=hill, parameters=[k]),
    "rigid_body without works": lambda k: ph.rigid_body(I, torque=drag, parameters=[k], work=False),
    "particle": lambda k: ph.particle(k, gravity=(0.0, 0.0, -9.81)),
    "particle on a spring": lambda k: ph.particle(k, stiffness=k),
    "particle on springs": lambda k: ph.particle(k, stiffness=(k, 1.0, 2.0)),
    "free particle": lambda k: ph.particle(k),
    "orbit": lambda k: ph.orbit(k),
    "orbit about the Earth": lambda k: ph.orbit(ph.planets.EARTH.mu * k**0),
    "orbit with J2": lambda k: ph.orbit(k, forces=[ph.forces.zonal(radius=1.0, J2=1e-3 * k)]),
    "orbit with J2 about an axis": lambda k: ph.orbit(
        k, forces=[ph.forces.zonal(radius=1.0, J2=k, axis=(0.0, float(k > 1.9), 1.0))]
    ),
    "spacecraft": lambda k: ph.spacecraft(I, mu=k, mass=k),
    "spacecraft, several": lambda k: ph.spacecraft([TENSOR, k * TENSOR], mu=k, mass=(k, 1.0)),
    "spacecraft with J2": lambda k: ph.spacecraft(I, mu=k, forces=[ph.forces.zonal(radius=1.0, J2=1e-3 * k)]),
    "spacecraft with wheels": lambda k: ph.spacecraft(I, mu=k, wheels=wheels(k)),
    "spacecraft with a controller": lambda k: ph.spacecraft(
        I, mu=k, wheels=wheels(k), parameters=[k], controllers=[ph.controller(pointing, k, "wheel_command", delay=k)]
    ),
    "spacecraft with gyros": lambda k: ph.spacecraft(
        I, mu=k, gyros=ph.control_moment_gyros([(0, 0, 1)], [(1, 0, 0)], k, max_angle=k, angle=0.1 * k)
    ),
    "spacecraft with torquers": lambda k: ph.spacecraft(
        I, mu=k, magnetic_field={"kind": "dipole"}, torquers=ph.systems.magnetic_torquers(np.eye(3), k, command=0.1 * k)
    ),
    "rigid_body with states": lambda k: ph.rigid_body(I, torque=wearing, parameters=[k], states={"wear": [k]}),
    "rigid_body with noise": lambda k: ph.rigid_body(
        I, torque=wearing, parameters=[k], states={"wear": 1, "draft": {"noise": k, "every": k, "seed": 3}}
    ),
    "gravity_gradient": lambda k: ph.systems.gravity_gradient(I, mu=k, radius=2.0),
    "soft_wall": lambda k: ph.systems.soft_wall((1.0, 2.0, 1.0 + k)),
    "tethered": tethered,
    "own axes or others": lambda k: ph.system(
        ph.body("a", k, TENSOR if k > 1.9 else I), ph.loads.thrust((k, 0.0, 0.0))
    ),
    "weights": lambda k: ph.system(ph.body("a", k, I), ph.loads.weight(gravity=k)),
}


def same(a, b):
    """Whether attributes are the same; functions that are made anew for each system are not compared."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if callable(a) and callable(b):
        told = [[getattr(one, word, type(one)) for word in ("__name__", "__module__")] for one in (a, b)]
        return told[0] == told[1]
    if isinstance(a, tuple) and a and isinstance(a[0], Sampled):
        told = [[(one.every, one.phase, one.pulses) for one in some] for some in (a, b)]
        return told[0] == told[1]
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) if type(a).__eq__ is object.__eq__ else a == b


@pytest.fixture(scope="module")
def again():
    """All of them built with other numbers first, so that each may find the kind of another one."""
    structure._kept.clear(), sums._known.clear()
    for build in [*BUILDERS.values(), *reversed(BUILDERS.values())]:
        build(1.5)
    assert sums._known
    return {name: build(2.0) for name, build in BUILDERS.items()}


@each("name", BUILDERS)
def test_a_system_built_again_is_as_the_first_of_its_kind(name, again):
    structure._kept.clear(), sums._known.clear()
    first, made = BUILDERS[name](2.0), again[name]
    for field in fields(first):
        assert same(getattr(made, field.name), getattr(first, field.name)), field.name
    assert made.frames.flags.writeable is made.parameters.flags.writeable is made.mass.flags.writeable is False


def test_the_first_of_a_kind_is_left_as_it_is():
    """The numbers of the one are not those of the other, in whatever order they run."""
    tops = [ph.heavy_top((5.0, 5.0, 1.0), (0.0, 0.0, 1.0), weight=w) for w in (10.0, 20.0)]
    runs = [ph.integrate(top, step=0.01, steps=20, angular_velocity=(0.1, 0.0, 5.0), attitude=(0.8, 0.6, 0.0, 0.0))
            for top in (*tops, *tops[::-1])]  # fmt: skip
    assert np.array_equal(runs[0].attitude, runs[3].attitude) and np.array_equal(runs[1].attitude, runs[2].attitude)
    assert not np.array_equal(runs[0].attitude, runs[1].attitude)


def test_the_next_of_a_kind_is_numbers_alone(monkeypatch):
    """No sum of polhode's own loads is made twice, and nothing that one system holds is in the next."""
    known = ["free_body", "spacecraft with wheels", "spacecraft with J2", "tethered"]
    before = {name: BUILDERS[name](1.5).parameters for name in known}
    sums._known.clear()
    for name in known:
        first = BUILDERS[name](1.5).parameters
        first.setflags(write=True)
        first[:] = -1.0
    monkeypatch.setattr(sums, "sum_of", None)
    for name in known:
        made, other = BUILDERS[name](1.5), BUILDERS[name](2.0)
        for field in ("mass", "moments", "frames", "parameters"):
            assert not np.shares_memory(getattr(made, field), getattr(other, field))
        assert np.array_equal(made.parameters, before[name])


STIFFNESS = 1.0


def spring(body):
    return 0.5 * STIFFNESS * (body.position @ body.position)


def test_what_a_function_reads_is_read_for_every_system(monkeypatch):
    def read():
        bead = ph.system(ph.body("bead", 1.0), ph.loads.of(spring))
        ds = ph.integrate(bead, "v2", step=0.01, steps=1, position=(1.0, 0.0, 0.0))
        return float(ds.energy[0]), bead.parameters.tolist()

    soft = read()
    monkeypatch.setitem(globals(), "STIFFNESS", 3.0)
    stiff = read()
    assert (soft[0], stiff[0]) == (0.5, 1.5) and soft[1] != stiff[1]


@each(
    "given, told",
    [
        ({"mu": -1.0}, "mu is -1; it must be positive"),
        ({"inertia": (1.0, 2.0, np.nan)}, "inertia is not finite"),
        ({"inertia": (1.0, 2.0, 9.0)}, r"exceeds inertia\[0\]"),
        ({"inertia": (1.0, 2.0, 10**400)}, "inertia has numbers beyond 1e308"),
        ({"mass": 0.0}, "mass is 0; it must be positive"),
        *(({name: 0}, f"{name} must be") for name in ("thrusters", "plates", "dipoles", "controllers", "loads")),
        ({"wheels": 0}, "wheels must be made by"),
        ({"masses": 1.0}, "unknown argument of spacecraft 'masses'"),
    ],
)
def test_numbers_of_a_known_kind_are_checked(given, told):
    ph.spacecraft(I, mu=1.0)
    with pytest.raises(InvalidInput, match=told):
        ph.spacecraft(**{"inertia": I, "mu": 1.0, **given})


def test_grounds_are_those_of_bodies_near_by():
    for name, body in planets.KNOWN.items():
        for metres in (1.0, 1e3):
            mu = body.mu / metres**3
            for off, there in ((-1.1, False), (-0.9, True), (0.0, True), (0.9, True), (1.1, False)):
                ground = planets.ground_of(None, mu * (1.0 + off * planets.ALIKE), 1)
                assert ground == (planets.Ground(body.mean_radius / metres, assumed=True) if there else None), name
            assert planets.ground_of(None, mu, 2) is None
    assert planets.ground_of(None, 1.0, 1) is planets.ground_of(None, 1e30, 1) is None
