"""A system built again with other numbers has the attributes that it would have if it were the first of its kind."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.systems import structure
from polhode.systems.sampling import Sampled

I = (1.0, 2.0, 2.5)


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
    "spacecraft": lambda k: ph.spacecraft(I, mu=k, mass=k),
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
    "weights": lambda k: ph.system(ph.body("a", k, I), ph.loads.weight(gravity=k)),
}


def same(a, b):
    """Whether attributes are the same; functions that are made anew for each system are not compared."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    if callable(a) and callable(b):
        return getattr(a, "__name__", type(a)) == getattr(b, "__name__", type(b))
    if isinstance(a, tuple) and a and isinstance(a[0], Sampled):
        told = [[(one.every, one.phase, one.pulses) for one in some] for some in (a, b)]
        return told[0] == told[1]
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) if type(a).__eq__ is object.__eq__ else a == b


@pytest.fixture(scope="module")
def again():
    """All of them built with other numbers first, so that each may find the kind of another one."""
    structure._kept.clear()
    for build in [*BUILDERS.values(), *reversed(BUILDERS.values())]:
        build(1.5)
    return {name: build(2.0) for name, build in BUILDERS.items()}


@each("name", BUILDERS)
def test_a_system_built_again_is_as_the_first_of_its_kind(name, again):
    structure._kept.clear()
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
