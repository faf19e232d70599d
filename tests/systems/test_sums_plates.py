"""Plates in air and light, and what records of loads keep: the same bits when a sum is built again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from each import each
from polhode.errors import PolhodeError

EARTH, RATE = ph.planets.EARTH, 7.292115e-5
LOW = {"position": (6878e3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0), "angular_velocity": (0.01, 0.02, 0.03)}
INERTIA = np.array([5.0, 4.0, 3.0])
NORMALS = np.array([(1, 0, 0), (-1, 0, 0), (0, 1, 0.2), (0, 0.3, -1)])
PLACES, AREAS = 0.01 * NORMALS + (0.0, 0.01, 0.02), np.array([2.0, 2.5, 3.0, 1.0])
SUN, PRESSURE = (1.3464e11, 4.488e10, 1.496e10), 4.56e-6
CONE = {"shadow": "cone", "radius": EARTH.radius, "sun_radius": 6.957e8}
AIR = {"density": 1e-12, "radius": 6878e3, "scale": 60e3}


def around():
    return {
        "sun": ph.surroundings.path(position=SUN), "sunlight": ph.surroundings.sunlight(PRESSURE, **CONE),
        "air_density": ph.surroundings.exponential_air(**AIR),
    }  # fmt: skip


def craft(*loads):
    return ph.system(ph.body("bus", 120.0, INERTIA), ph.loads.central(EARTH.mu), *loads, surroundings=around())


def panels():
    return (ph.loads.plates_in_air(AREAS, NORMALS, PLACES, drag_coefficient=2.2, rotation=RATE),
            ph.loads.plates_in_light(AREAS, NORMALS, PLACES, specular=0.3, diffuse=0.2))  # fmt: skip


def test_plates_are_those_of_a_spacecraft():
    built = ph.spacecraft(
        INERTIA, EARTH.mu, 120.0, gravity_gradient=False, atmosphere={**AIR, "rotation": RATE},
        sunlight={"pressure": PRESSURE, "position": SUN, **CONE},
        plates=[ph.systems.plate(a, n, position=x, drag_coefficient=2.2, specular=0.3, diffuse=0.2)
                for a, n, x in zip(AREAS, NORMALS, PLACES, strict=True)],
    )  # fmt: skip
    run = {"step": 5.0, "steps": 400, "every": 100}
    for method in ("mkrk:cv8", "rkn6_14a/kepler"):
        a, b, free = (ph.integrate(one, method, **run, **LOW) for one in (craft(*panels()), built, craft()))
        assert abs(a.position.values - b.position.values).max() < 1e-13 * 6878e3, method
        assert abs(a.attitude.values - b.attitude.values).max() < 1e-12, method
        assert a.work.values[-1] == pytest.approx(b.work.values[-1], rel=1e-11)
        assert abs(a.attitude.values[-1] - free.attitude.values[-1]).max() > 1e-6
        assert float(abs(a.energy_error).max()) < 1e-12


def test_plates_in_light_act_as_their_equation_says():
    size, towards = 0.05, np.array([0.6, 0.6, 0.5])
    light = ph.surroundings.sunlight(size, direction=towards)
    one = ph.system(ph.body("bus", 120.0, INERTIA), panels()[1], surroundings={"sunlight": light})
    ds = ph.integrate(one, "mkrk:cv8", step=0.1, steps=100, angular_velocity=LOW["angular_velocity"])
    e, beam = NORMALS / np.linalg.norm(NORMALS, axis=1)[:, None], -size * towards / np.linalg.norm(towards)

    def rates(t, y):
        a, b, c, d = y[6:10] / np.linalg.norm(y[6:10])
        R, w = ph.rotation.matrix_from_quaternion((a, b, c, d)), y[10:]
        inside = R.T @ beam
        F, T = np.zeros(3), np.zeros(3)
        for n, area, x in zip(e, AREAS, PLACES, strict=True):
            cos = max(0.0, -(n @ inside) / size)
            f = area * cos * (0.7 * inside - size * (0.6 * cos + 0.4 / 3.0) * n)
            F, T = F + f, T + np.cross(x, f)
        turn = 0.5 * np.array([-b * w[0] - c * w[1] - d * w[2], a * w[0] + c * w[2] - d * w[1],
                               a * w[1] + d * w[0] - b * w[2], a * w[2] + b * w[1] - c * w[0]])  # fmt: skip
        return np.concatenate([y[3:6], R @ F / 120.0, turn, (np.cross(INERTIA * w, w) + T) / INERTIA])

    y = np.array([0.0] * 6 + [1.0, 0.0, 0.0, 0.0, *LOW["angular_velocity"]])
    end = solve_ivp(rates, (0.0, 10.0), y, method="DOP853", rtol=1e-13, atol=1e-16).y[:, -1]
    assert abs(ds.position.values[-1] - end[:3]).max() < 1e-9 * abs(end[:3]).max()
    assert abs(ds.attitude.values[-1] - end[6:10]).max() < 1e-9 and abs(end[:3]).max() > 1e-3
    assert abs(ds.angular_velocity.values[-1] - end[10:]).max() < 1e-9 * abs(end[10:] - LOW["angular_velocity"]).max()


def test_records_build_the_same_bits():
    odd = np.array([(0.1, 0.7, 0.3), (1.3, -0.2, 0.9), (0.3, 0.3, 0.7), (1e-3, 2.0, 5.0)])
    light = ph.surroundings.sunlight(PRESSURE, direction=odd[3], shadow="cylinder", radius=6.4e6)
    field = ph.surroundings.dipole_field(axis=odd[2], angle=0.3)
    one = ph.system(
        ph.body("bus", 120.0, INERTIA), ph.loads.drag(2.2, 0.3, rotation=RATE, axis=odd[0]),
        ph.loads.torquers(odd, 0.2), ph.loads.plates_in_light(AREAS, odd, specular=0.1),
        ph.loads.plates_in_air(1.0, odd, axis=odd[1]), ph.loads.harmonics("egm2008", degree=4, axis=odd[2]),
        surroundings={**around(), "sunlight": light, "field": field},
    )  # fmt: skip
    again = ph.system(**one.arguments)
    assert again.arguments == one.arguments and np.array_equal(again.parameters, one.parameters)


def refused():
    plates = ph.loads.plates_in_light
    return {
        "area must be one number or one for each of 4 plates": lambda: plates((1.0, 2.0), NORMALS),
        "area is -1; give a positive number": lambda: plates(-1.0, NORMALS),
        "positions must be 3 numbers or one row": lambda: plates(1.0, NORMALS, np.zeros((2, 3))),
        "of a sum up to 1": lambda: plates(1.0, NORMALS, specular=0.7, diffuse=0.4),
        "normals[1] is zero": lambda: plates(1.0, [(1, 0, 0), (0, 0, 0)]),
        "asks for 'air_density'": lambda: ph.system(ph.body("a", 1.0), ph.loads.plates_in_air(1.0, NORMALS)),
    }


@each("said", refused())
def test_what_is_no_plate_is_said_in_a_sentence(said):
    with pytest.raises(PolhodeError) as told:
        refused()[said]()
    assert said in str(told.value) and "\n" not in str(told.value)
