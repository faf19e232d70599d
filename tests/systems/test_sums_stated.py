"""Loads that give their potential and, beside it, the force, torque and rate that follow from it."""

import numpy as np
import pytest

import polhode as ph
from cover import crossed
from each import each
from polhode.errors import InvalidInput

START = {"position": (1.0, 0.2, 0.1), "velocity": (0.0, 0.5, 0.3)}


def well(body, k):
    return 0.5 * k * (body.position @ body.position)


def well_and_force(body, k):
    r = body.position
    return {"potential": 0.5 * k * (r @ r), "force": -k * r}


def sway(body, t, k):
    return k * np.cos(t) * body.position[0]


def sway_and_force(body, t, k):
    x = body.position[0]
    return {"potential": k * np.cos(t) * x, "force": (-k * np.cos(t), 0.0, 0.0), "potential_rate": -k * np.sin(t) * x}


def tilt(body, k):
    return k * body.in_body((0.0, 0.0, 1.0))[0]


def tilt_and_torque(body, k):
    up = body.in_body((0.0, 0.0, 1.0))
    return {"potential": k * up[0], "torque": k * np.cross(up, (1.0, 0.0, 0.0))}


def end(act, method, inertia=None, **start):
    system = ph.system(ph.body("a", 2.0, inertia), ph.loads.of(act, k=3.0).named("spring"))
    return system, ph.integrate(system, method, step=0.01, steps=300, **(START | start))


BESIDE = {well: well_and_force, sway: sway_and_force, tilt: tilt_and_torque}


@each(("alone", "method"), crossed(BESIDE, ["v2", "fg6_5", "mkrk:cv8", "imidm", "taylor"]))
def test_they_act_as_what_is_derived(alone, method):
    both = BESIDE[alone]
    turning = alone is tilt
    more = {"inertia": (1.0, 2.0, 2.5), "angular_velocity": (0.1, 0.2, 1.0)} if turning else {}
    (first, runs), (second, others) = end(alone, method, **more), end(both, method, **more)
    what = "attitude" if turning else "position"
    np.testing.assert_allclose(others[what], runs[what], rtol=0, atol=1e-12)
    np.testing.assert_allclose(others.energy, runs.energy, rtol=0, atol=1e-11)
    assert first.conserves == second.conserves and float(abs(others[what][-1] - others[what][0]).max()) > 0.1
    assert [one.label for one in second.auxiliary] == [one.label for one in first.auxiliary]
    assert [one.label for one in second.auxiliary] == ["spring"] * (alone is sway)


def test_commutators_of_potentials_that_read_the_time():
    """Of one body, and of several alike; order 6 within round-off, the work of the time included."""
    for act in (sway, sway_and_force):
        _, ds = end(act, "fg6_5")
        assert float(abs(ds.energy_error).max()) < 1e-13 < 1e-2 < float(abs(ds.work).max())
    many = ph.system(*ph.bodies(5, 2.0), ph.loads.of(well, k=3.0), ph.loads.of(sway, k=0.1))
    places = np.random.default_rng(1).normal(size=(5, 3))
    found = [ph.integrate(many, method, position=places, step=0.01, steps=300) for method in ("fg6_5", "mkrk:cv8")]
    np.testing.assert_allclose(found[0].position[-1], found[1].position[-1], rtol=0, atol=1e-11)
    assert float(abs(found[0].energy_error).max()) < 1e-12


def wrong_force(body, k):
    return well_and_force(body, k) | {"force": -2.0 * k * body.position}


def wrong_torque(body, k):
    return tilt_and_torque(body, k) | {"torque": k * body.in_body((0.0, 0.0, 1.0))}


def wrong_rate(body, t, k):
    return sway_and_force(body, t, k) | {"potential_rate": 0.5 * k * np.sin(t)}


def dragging(body, k):
    return well_and_force(body, k) | {"potential": k * body.velocity[0]}


@each(("act", "told"), [
    (wrong_force, "other loads than follow from it"), (wrong_torque, "other loads than follow from it"),
    (wrong_rate, "other rates than follow from it"), (dragging, "depends on velocities"),
])  # fmt: skip
def test_what_does_not_follow_from_the_potential_is_refused(act, told):
    with pytest.raises(InvalidInput, match=told):
        ph.system(ph.body("a", 2.0, (1.0, 2.0, 2.5)), ph.loads.of(act, k=3.0))


def test_a_printed_sum_says_which_loads_break_a_law():
    """Each is looked at alone, beside the centre that it needs."""
    earth = ph.planets.EARTH
    low = ph.system(
        ph.body("a", 5.0, (1.0, 2.0, 2.5)), ph.loads.central(earth.mu), ph.loads.zonal(**earth.zonal),
        ph.loads.drag(Cd=2.0, area=1.0),
        surroundings={"air_density": ph.surroundings.exponential_air(1e-9, 6.4e6, 5e4)},
    )  # fmt: skip
    told = "does not conserve energy (drag), momentum (central), angular momentum space (zonal, drag)"
    assert repr(low).endswith(told) and "zonal, drag" in low._repr_html_()
    two = ph.system(ph.body("a", 5.0), ph.body("b", 1.0), ph.loads.of(sway, k=1.0).on("b"),
                    ph.loads.tether(5.0, 1.0).on("a", "b"))  # fmt: skip
    assert repr(two).endswith("energy (sway), total momentum (sway), total angular momentum (sway)")
    assert "does not conserve" not in repr(
        ph.system(ph.body("a", 5.0), ph.body("b", 1.0), ph.loads.tether(5.0, 1.0).on("a", "b"))
    )
