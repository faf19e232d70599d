"""Functions of the user added to the built-in forces of an orbit."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import forces
from polhode.checks import load_caller
from polhode.kernel import layout as L
from polhode.runs.initial_state import start_state

MU, MASS = 2.0, 3.0
R, V = np.array((1.5, 0.3, 0.2)), np.array((0.1, 1.0, 0.3))
START = {"position": R, "velocity": V}
OBLATE = forces.zonal(J2=0.1, J3=-0.05, radius=1.0)
NUMBERS = (0.4, 0.7, -0.2)


def braking(t, position, velocity, parameters):
    speed = (velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2) ** 0.5
    k = -parameters[0] * speed
    return (k * velocity[0], k * velocity[1], k * velocity[2])


def braking_with_arrays(t, position, velocity, parameters):
    return -parameters[0] * np.sqrt(velocity @ velocity) * velocity


def spring(t, position, parameters):
    x, y, z = position
    return 0.5 * (parameters[0] * x * x + parameters[1] * y * y + parameters[2] * z * z)


def spring_force(t, position, velocity, parameters):
    return (-parameters[0] * position[0], -parameters[1] * position[1], -parameters[2] * position[2])


def load(system, t=0.3, part=L.ALL):
    y, out = start_state(system, **START), np.full(6 + len(system.auxiliary), np.nan)
    load_caller(part)(system.compiled_loads(t, y), t, 1, y, system.bodies, system.with_memory, out)
    assert not out[3:6].any()
    return out[:3]


def run(system, label="mkrk:gauss8", **more):
    return ph.integrate(system, label, step=0.05, steps=40, **(START | more))


@each("part", [L.ALL, L.WITHOUT_SOLVED, L.DISSIPATIVE])
def test_a_force_is_added_to_all_parts(part):
    built = ph.orbit(MU, MASS, [OBLATE])
    added = ph.orbit(MU, MASS, [OBLATE], force=braking, parameters=NUMBERS)
    change = load(added, part=part) - load(built, part=part)
    np.testing.assert_allclose(change, -0.4 * np.linalg.norm(V) * V, rtol=1e-13)


def test_the_force_of_a_potential_is_no_dissipation():
    built, added = (ph.orbit(MU, MASS, [OBLATE], **more) for more in ({}, {"potential": spring, "parameters": NUMBERS}))
    np.testing.assert_array_equal(load(added, part=L.DISSIPATIVE), 0.0)
    np.testing.assert_allclose(load(added) - load(built), -np.array(NUMBERS) * R, rtol=1e-11)
    assert added.conserves == ("energy",) and not added.velocity_dependent and "central_gravity" in added.provides


def test_a_braking_force_is_that_of_drag():
    """Drag in air of one density everywhere, by the built-in force and by functions of two kinds."""
    k = NUMBERS[0]
    air = ph.orbit(MU, MASS, [OBLATE, forces.drag(kd=k / MASS, radius=1.0, scale=1e30)])
    expected = run(air)
    for function in (braking, braking_with_arrays):
        ds = run(ph.orbit(MU, MASS, [OBLATE], force=function, parameters=NUMBERS))
        np.testing.assert_allclose(ds.position, expected.position, rtol=0, atol=1e-13)


def test_force_and_potential():
    """An energy reported beside a force enters the energy only; a potential pulls as its derivative does."""
    both = ph.orbit(MU, MASS, [OBLATE], force=spring_force, reported_energy=spring, parameters=NUMBERS)
    alone = ph.orbit(MU, MASS, [OBLATE], potential=spring, parameters=NUMBERS)
    a, b = run(both), run(alone)
    np.testing.assert_allclose(a.position, b.position, rtol=0, atol=1e-11)
    np.testing.assert_allclose(a.energy, b.energy, rtol=1e-11)
    assert np.abs(a.energy_error).max() < 1e-9 and both.conserves == ()
    plain = ph.integrate(ph.orbit(MU, MASS, [OBLATE]), "v2", step=1.0, steps=0, **START)
    assert a.energy[0] - plain.energy[0] == pytest.approx(spring(0, R, NUMBERS), rel=1e-13)


def test_splittings_about_the_centre_take_functions():
    system = ph.orbit(MU, MASS, force=spring_force, parameters=[0.01, 0.02, 0.03])
    end = ph.integrate(system, "mkrk:gauss12", step=0.02, t_end=4.0, **START).position.values[-1]
    runs = [ph.integrate(system, "s4_6/kepler", step=h, t_end=4.0, **START) for h in (0.2, 0.1)]
    errors = [np.abs(ds.position.values[-1] - end).max() for ds in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.6)


def test_runs_are_recorded_and_repeated():
    system = ph.orbit(MU, MASS, [OBLATE], force=braking, parameters=NUMBERS)
    ds = run(system)
    assert "def braking" in system.arguments["force"]["source"] and system.arguments["parameters"] == list(NUMBERS)
    np.testing.assert_array_equal(ph.rerun(ds, force=braking).position, ds.position)
    with pytest.raises(ph.errors.InvalidInput, match="hand it in again"):
        ph.rerun(ds)


@pytest.mark.full
def test_what_is_wrong_is_told_with_the_users_traceback():
    def force(t, position, velocity, parameters):
        if t > 1.0:
            raise ZeroDivisionError("the tank is empty")
        return (0.0, 0.0, 0.0)

    with pytest.raises(ph.errors.UserFunctionError, match=r"tank is empty.*in step") as caught:
        run(ph.orbit(MU, MASS, force=force))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(caught.value.trajectory.time) >= 20


def test_what_returns_too_little_is_told():
    def two(t, position, velocity, parameters):
        return (0.0, 1.0)

    with pytest.raises(ph.errors.UserFunctionError, match="must return 3 numbers"):
        run(ph.orbit(MU, MASS, force=two))


@each("arguments, said", [
    ({"force": lambda t, r, v: r}, "must take the arguments"),
    ({"force": 3.0}, "must be a function"),
    ({"parameters": [1.0]}, "none is given"),
    ({"force": braking, "parameters": ["a"]}, "parameters must be"),
    ({"force": braking, "mass": (1.0, 2.0)}, "a function of one body"),
    ({"mass": (1.0, -2.0)}, r"mass\[1\]"),
    ({"mass": [[1.0]]}, "flat sequence"),
    ({"mass": []}, "flat sequence"),
])  # fmt: skip
def test_wrong_arguments(arguments, said):
    with pytest.raises(ph.errors.InvalidInput, match=said):
        ph.orbit(**{"mu": MU} | arguments)


def test_several_points_are_each_alone():
    places, speeds = np.array([R, (0.2, 1.8, -0.3)]), np.array([V, (-1.0, 0.1, 0.2)])
    system = ph.orbit(MU, (3.0, 0.7), [OBLATE, forces.drag(kd=0.1, radius=1.0, scale=2.0)])
    both = ph.integrate(system, "mkrk:cv8", step=0.05, steps=40, position=places, velocity=speeds)
    for i, mass in enumerate((3.0, 0.7)):
        one = run(ph.orbit(MU, mass, [OBLATE, forces.drag(kd=0.1, radius=1.0, scale=2.0)]), "mkrk:cv8",
                  position=places[i], velocity=speeds[i])  # fmt: skip
        np.testing.assert_allclose(both.position[:, i], one.position, rtol=0, atol=1e-14)
    report = ph.checks.check_system(ph.orbit(MU, (3.0, 0.7), OBLATE), states=1, **START)
    report.raise_for_failure()
