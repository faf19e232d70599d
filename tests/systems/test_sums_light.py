"""Sunlight and its shadows in sums: the same numbers as forces of polhode, and steps that are cut at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import polhode as ph
from cover import crossed
from each import each
from polhode.errors import PolhodeError

EARTH = ph.planets.EARTH
LOW = {"position": (6878e3, 0.0, 0.0), "velocity": (0.0, 5383.0, 5383.0)}
RUN = {"step": 5.0, "steps": 1200, "every": 100}
TOWARDS, PRESSURE, CR, AREA = np.array([0.9, 0.3, 0.1]), 4.56e-6, 1.3, 400.0
SUN = tuple(1.496e11 * TOWARDS)
CONE = {"shadow": "cone", "radius": EARTH.radius, "sun_radius": 6.957e8}
CYLINDER = {"shadow": "cylinder", "radius": EARTH.radius}


def craft(*loads, **around):
    return ph.system(ph.body("bus", 120.0, (5.0, 4.0, 3.0)), ph.loads.central(EARTH.mu), *loads, surroundings=around)


def lit(towards=None, **how):
    around = {} if towards is not None else {"sun": ph.surroundings.path(position=SUN)}
    light = ph.surroundings.sunlight(PRESSURE, direction=towards, **how)
    return craft(ph.loads.radiation(CR, AREA), sunlight=light, **around)


CASES = {
    "everywhere": {}, "inverse square": {"distance": 1e11}, "far": {"towards": TOWARDS}, "cone": CONE,
    "cylinder": CYLINDER, "cylinder, far": {"towards": TOWARDS, **CYLINDER},
}  # fmt: skip


@each(("name", "method"), crossed(CASES, ["mkrk:cv8", "rkn6_14a/kepler"]))
def test_radiation_is_that_of_an_orbit(name, method):
    how = dict(CASES[name])
    ours, towards = lit(**how), how.pop("towards", None)
    where = {"position": SUN} if towards is None else {"direction": towards}
    force = ph.forces.radiation_pressure(PRESSURE * CR * AREA / 120.0, **where, **how)
    built = ph.orbit(EARTH.mu, mass=120.0, forces=[force])
    free = ph.integrate(craft(), **RUN, **LOW).position.values[-1]
    a, b = (ph.integrate(one, method, **RUN, **LOW) for one in (ours, built))
    assert abs(a.position.values - b.position.values).max() < 1e-12 * 6878e3
    assert abs(a.position.values[-1] - free).max() > 1e-6 * 6878e3
    assert float(abs(a.energy_error).max()) < 1e-12
    if "work" in b:
        assert a.work.values[-1] == pytest.approx(b.work.values[-1], rel=1e-9)
    assert ph.system(**ours.arguments).arguments == ours.arguments


def test_steps_are_cut_at_the_edges_of_a_shadow():
    """Against DOP853 in pieces, each of which is lit or dark throughout."""
    sun, end = np.array(SUN), 6000.0

    def outside(t, y, on=1.0):
        s = sun / np.linalg.norm(sun)
        return max(y[:3] @ s, np.linalg.norm(np.cross(y[:3], s)) - EARTH.radius)

    def rates(t, y, on):
        r, d = y[:3], sun - y[:3]
        light = -on * PRESSURE * CR * AREA / 120.0 * d / np.linalg.norm(d)
        return np.concatenate([y[3:], light - EARTH.mu * r / np.linalg.norm(r) ** 3])

    outside.terminal = True
    how = {"method": "DOP853", "rtol": 1e-13, "atol": [1e-6] * 3 + [1e-9] * 3}
    t, y, on, edges = 0.0, np.concatenate([LOW["position"], LOW["velocity"]]), 1.0, []
    while t < end:
        away = solve_ivp(rates, (t, t + 1.0), y, args=(on,), **how).y[:, -1]
        found = solve_ivp(rates, (t + 1.0, end), away, args=(on,), events=[outside], **how)
        t, y, on = float(found.t[-1]), found.y[:, -1], 1.0 - on
        edges.append(t)
    assert len(edges) == 3 and edges[-1] == end
    ds = ph.integrate(lit(**CYLINDER), "mkrk:cv8", step=30.0, t_end=end, **LOW)
    assert abs(ds.position.values[-1] - y[:3]).max() < 1e-9 * 6878e3


@each(("count", "shadow"), crossed([2, 5], ["cylinder", "cone"]))
def test_bodies_are_lit_where_they_are(count, shadow):
    """As each of them alone, also where their loads are a loop; a cylinder switches the light of each of them."""
    light = ph.surroundings.sunlight(PRESSURE, **{"cone": CONE, "cylinder": CYLINDER}[shadow])
    around = {"sun": ph.surroundings.path(position=SUN), "sunlight": light}
    loads = [ph.loads.central(EARTH.mu), ph.loads.radiation(CR, AREA)]
    both = ph.system(ph.bodies(count, 120.0), loads, surroundings=around)
    alone = ph.system(ph.body("a", 120.0), loads, surroundings=around)
    angles = np.arange(count) * 2.3
    starts = [{"position": 6878e3 * np.array([np.cos(a), np.sin(a), 0.1 * k]), "velocity": 7700.0 * np.array(
        [-np.sin(a), np.cos(a), 0.05 * k])} for k, a in enumerate(angles)]  # fmt: skip
    words = {"step": 60.0, "t_end": 6000.0, "every": 10}
    ds = ph.integrate(both, "mkrk:cv8", **words, **{name: [one[name] for one in starts] for name in LOW})
    dark = 0
    for i, one in enumerate(starts):
        apart = ph.integrate(alone, "mkrk:cv8", **words, **one)
        assert abs(ds.position.values[:, i] - apart.position.values).max() < 1e-10 * 6878e3
        assert float(apart.work.values[-1, 0]) != 0.0
        everywhere = ph.integrate(lit(), "mkrk:cv8", **words, **one)
        dark += abs(everywhere.position.values[-1] - apart.position.values[-1]).max() > 1e-6
    assert dark > 1 and float(abs(ds.energy_error).max()) < 1e-12
    assert np.array_equal(ph.rerun(ds).position, ds.position)
    assert ph.system(**both.arguments).arguments == both.arguments


@pytest.mark.full
def test_an_edge_of_one_of_two_bodies_moves_with_its_start_and_the_radius():
    """The transition matrix past the edges that both meet, against differences of runs."""
    around = {"sunlight": ph.surroundings.sunlight(10.0 * PRESSURE, direction=TOWARDS, **CYLINDER)}
    loads = [ph.loads.central(EARTH.mu), ph.loads.radiation(CR, AREA)]
    both = ph.system(ph.bodies(2, 120.0), loads, surroundings=around)
    place, speed = np.array([LOW["position"], (-6878e3, 0.0, 0.0)]), np.array([LOW["velocity"], (0.0, -5383.0, 5383.0)])
    words = {"step": 60.0, "t_end": 6000.0}

    def end(position=place, velocity=speed, **more):
        return ph.integrate(both, "mkrk:cv8", position=position, velocity=velocity, **words, **more)

    def ends(offset, **moved):
        return end(**moved).position.values[-1].ravel() / offset

    ds = end(tangent=["sunlight.radius"])
    which = np.zeros((2, 3))
    which[1, 1] = 1.0
    runs = {
        "position_y.1": (100.0, lambda s: {"position": place + s * which}),
        "momentum_y.1": (12.0, lambda s: {"velocity": speed + s / 120.0 * which}),
        "sunlight.radius": (2e3, lambda s: {"parameters": {"sunlight.radius": EARTH.radius + s}}),
    }
    rows = [f"position_{axis}.{i}" for i in range(2) for axis in "xyz"]
    for name, (offset, moved) in runs.items():
        wanted = sum(weight * (ends(offset, **moved(k * offset)) - ends(offset, **moved(-k * offset)))
                     for k, weight in ((1, 2 / 3), (2, -1 / 12)))  # fmt: skip
        found = ds.state_transition.sel(column=name, row=rows).values[-1]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-7 * abs(wanted).max())


def refused():
    light = ph.surroundings.sunlight
    return {
        "asks for 'sun', which nothing gives": lambda: craft(ph.loads.radiation(1.3, 4.0), sunlight=light(PRESSURE)),
        "asks for 'sunlight', which nothing gives": lambda: craft(ph.loads.radiation(1.3, 4.0)),
        "radius is missing; a shadow of the kind 'cylinder'": lambda: light(PRESSURE, shadow="cylinder"),
        "sun_radius is missing": lambda: light(PRESSURE, shadow="cone", radius=6.4e6),
        "radius is given, but shadow is 'none'": lambda: light(PRESSURE, radius=6.4e6),
        "distance is given beside direction": lambda: light(PRESSURE, direction=(1, 0, 0), distance=1e11),
    }


@each("said", refused())
def test_what_light_lacks_is_said_in_a_sentence(said):
    with pytest.raises(PolhodeError) as told:
        refused()[said]()
    assert said in str(told.value) and "\n" not in str(told.value) and " edge " not in str(told.value)
