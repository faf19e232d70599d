"""Loads of orbits and spacecraft as they are compiled, and their commutators: against what was written by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import mpmath as mp
import numpy as np
import pytest

import mp_program
import polhode as ph
import written_loads as by_hand
from acting import acting, compiled
from each import each
from polhode.algebra import rotation
from polhode.checks import load_caller
from polhode.kernel import jit, layout as L
from polhode.programs.parts import PARTS
from polhode.surroundings.paths import path_of
from polhode.systems.loads_roles import role_of

EARTH, F = ph.planets.EARTH, ph.forces
TENSOR = [[90.0, 4.0, 0.0], [4.0, 70.0, 2.0], [0.0, 2.0, 60.0]]
TIMES = np.linspace(-1e5, 1e6, 40)
TABLE = {"times": TIMES, "positions": np.outer(np.cos(2e-6 * TIMES), (4e8, 1e8, 2e7)) + np.outer(TIMES, (1.0, 900, 50))}
CIRCLE = {"circle": {"radius": 4e8, "period": 2e6, "normal": (0.0, 0.3, 1.0)}}
FIELD, AIR = F.zonal(**EARTH.zonal), F.drag(kd=1e-9, radius=6.4e6, scale=5e4, rotation=7e-5)
START = {"position": (4e6, -3e6, 4.5e6), "velocity": (3e3, 5e3, 2e3)}
PLATES = {
    "plates": [ph.systems.plate(2.0, n, position=(0, 1, 0), drag_coefficient=2.0, specular=0.3, diffuse=0.3)
               for n in ((1, 0, 0), (-1, 0, 0), (0, 1, 0))],
    "atmosphere": {"density": 1e-11, "radius": 6.8e6, "scale": 5e4},
    "sunlight": {"pressure": 4.5e-6, "direction": (1, 0.3, 0)},
}  # fmt: skip


def bowl(t, position, parameters):
    return 0.5 * parameters[0] * np.dot(position, position)


def tilting(t, position, q, parameters):
    return parameters[0] * rotation.rotate(q, np.array([1.0, 0.0, 0.5]))[2] * position[0]


@cache
def system_of(name):
    return (SYSTEMS | OTHERS)[name]()


def craft(**more):
    return ph.spacecraft(**{"inertia": TENSOR, "mu": EARTH.mu, "mass": 120.0} | more)


SYSTEMS = {
    "bare": partial(ph.orbit, EARTH.mu),
    "zonal": partial(ph.orbit, EARTH.mu, forces=[FIELD]),
    "moon": partial(ph.orbit, EARTH.mu, forces=[F.third_body(4.9e12, **CIRCLE), F.uniform((0, 1e-6, 1e-6))]),
    "table": partial(ph.orbit, EARTH.mu, forces=[F.third_body(4.9e12, **TABLE), FIELD]),
    "sun": partial(ph.orbit, EARTH.mu, forces=[F.radiation_pressure(1e-7, **TABLE, distance=1e11)]),
    "added": partial(ph.orbit, EARTH.mu, forces=[FIELD], potential=bowl, parameters=[1e-9]),
    "craft": craft,
    "craft, added": partial(craft, forces=[FIELD], potential=tilting, parameters=[1e-9]),
    "craft, no gradient": partial(craft, gravity_gradient=False),
}
"""Loads that all have a potential."""
OTHERS = {
    "air": partial(ph.orbit, EARTH.mu, forces=[FIELD, AIR]),
    "burn": partial(ph.orbit, EARTH.mu, 500.0, forces=[
        FIELD, AIR, F.thrust(force=0.3, direction="velocity", start=0.0, stop=50.0, specific_impulse=300.0)]),
    "shadow": partial(ph.orbit, EARTH.mu, forces=[
        F.radiation_pressure(1e-7, direction=(1, 0, 0), shadow="cylinder", radius=6.4e6)]),
    "cone": partial(ph.orbit, EARTH.mu, forces=[
        F.radiation_pressure(1e-7, **TABLE, shadow="cone", radius=6.4e6, sun_radius=7e7)]),
    "plates": partial(craft, forces=[FIELD], **PLATES),
    "thrusters": partial(craft, thrusters=[ph.systems.thruster((1, 0, 0), position=(0, 1, 0), start=0.0, stop=9.0)]),
    "torque": partial(craft, forces=[AIR], torque=lambda t, q, w, p: -p[0] * w, parameters=[0.1]),
}  # fmt: skip


def state_of(system, seed=0):
    rng = np.random.default_rng(seed)
    blocks = []
    for mass in system.mass:
        q = rng.normal(size=4)
        blocks += [*rng.normal(size=3) * 4e6, *rng.normal(size=3) * 5e3 * mass, *(q / np.linalg.norm(q)),
                   *rng.normal(size=3)]  # fmt: skip
    return np.array([*blocks, *np.zeros(len(system.auxiliary))])


def evaluated(role, system, y, part, t=0.3):
    out = np.zeros(L.LOAD * system.N + len(system.auxiliary))
    load_caller(part)(role, t, system.N, y, system.bodies, system.with_memory, out)
    return out


def in_python(system, y, part, t=0.3):
    """The loads by the role that was traced, in plain Python."""
    out = np.zeros(L.LOAD * system.N + len(system.auxiliary))
    role = system.loads if system.functions == {} else None
    jit.python_of(role)(part, t, system.N, y, system.bodies, system.with_memory, out)
    return out


# ------------------------------------------------------------------ loads
@each("part", [*PARTS, L.ALL, L.WITHOUT_SOLVED, L.ALL & ~L.MOVING, L.DISSIPATIVE])
@each("name", [one for one in SYSTEMS | OTHERS if "added" not in one and one != "torque"])
def test_compiled_loads_are_the_role_part_by_part(name, part):
    system = system_of(name)
    y = state_of(system)
    found, expected = evaluated(system.compiled_loads(0.3, y), system, y, part), in_python(system, y, part)
    for k in range(0, found.size, 3):
        size = np.abs(expected[k : k + 3]).max() if k < 6 else 0.0
        np.testing.assert_allclose(found[k : k + 3], expected[k : k + 3], rtol=1e-12, atol=4e-15 * size)


@each("name", ["zonal", "table", "air", "burn", "craft", "plates", "thrusters"])
def test_they_are_written_from_the_program(name):
    system = system_of(name)
    assert (system._from_program("loads") or system.loads).__module__.startswith("polhode.programs.written_")


def test_new_values_are_the_same_kernel():
    made = [ph.orbit(mu, m, forces=[F.zonal(J2=J, radius=R)]) for mu, m, J, R in ((1.0, 1.0, 0.1, 1.0), (2, 3, 0.2, 4))]
    kernels = [one.compiled_loads(0.0, state_of(one)) for one in made]
    assert kernels[0] is kernels[1]


def test_what_computes_much_that_it_leaves_out_stays_as_it_is():
    """The overlap of two discs is computed only near the edge of the shadow."""
    assert OTHERS["cone"]()._from_program("loads") is None


def test_what_cannot_be_traced_stays_as_it_is():
    def odd(p, at, mu, t, r, v):
        x = 1.0
        for _ in range(int(8.0 * abs(r[0])) % 3):
            x = 0.5 * x
        return (x, 0.0, 0.0)

    system = ph.orbit(1.0, forces=[F.Force("odd", "odd", {}, (), odd)])
    assert system._from_program("loads") is None
    y = state_of(system)
    np.testing.assert_array_equal(evaluated(system.compiled_loads(0.3, y), system, y, L.RESTING)[1:], 0.0)


def test_several_bodies_are_one_after_the_other():
    masses, inertias = (120.0, 3.0), [TENSOR, np.diag((2.0, 3.0, 4.0))]
    forces = [FIELD, F.third_body(4.9e12, **TABLE)]
    system = craft(inertia=inertias, mass=masses, forces=forces)
    y = state_of(system)
    found = evaluated(system.compiled_loads(0.3, y), system, y, L.ALL)
    pushed = evaluated(system.compiled_loads(0.3, y), system, y, L.COMMUTATOR)
    work = 0.0
    for i in range(2):
        one = craft(inertia=inertias[i], mass=masses[i], forces=forces)
        of_one = np.array([*y[13 * i : 13 * i + 13], 0.0])
        alone = evaluated(one.compiled_loads(0.3, of_one), one, of_one, L.ALL)
        np.testing.assert_allclose(found[6 * i : 6 * i + 6], alone[:6], rtol=1e-15)
        work += alone[6]
        alone = evaluated(one.compiled_loads(0.3, of_one), one, of_one, L.COMMUTATOR)
        np.testing.assert_allclose(pushed[6 * i : 6 * i + 6], alone[:6], rtol=1e-15)
    assert found[12] == pytest.approx(work, rel=1e-15)
    assert role_of("loads", system.loads, system._turns, 1, system.parameters, frozenset()) is not None
    assert not craft(inertia=inertias, mass=masses, thrusters=[ph.systems.thruster((1, 0, 0))]).each_alone


# ------------------------------------------------------------------ what is derived in the place of what was written
MOON = path_of(None, None, None, CIRCLE["circle"]).numbers


@each("path", [MOON, path_of(None, *TABLE.values(), None).numbers], ids=["circle", "table"])
@each("r", [(7e6, 1e5, -5e4), (1e5, -4.2e7, 3e6), (3e8, 1e8, -1e7), (60.0, 10.0, -30.0)])
def test_a_third_body_has_all_digits(path, r):
    """Of the pull, and of the rate of its potential, relative to |r|/|s| of either, at every distance."""
    m, t = 4.9e12, 3e5
    force = F.third_body(m, **(CIRCLE if path is MOON else TABLE))
    assert force.load.parameters["path"] == path
    place, speed = by_hand.at(path, t)
    found, rate = acting(force, r, t=t)["force"], compiled(force, r, t)[1]
    with mp.workdps(50):
        s, ds, x = (tuple(map(mp.mpf, map(float, one))) for one in (place, speed, r))
        expected = np.array([float(a) for a in by_hand.third_body_acceleration(mp.mpf(m), s, x)])
        slope = float(by_hand.third_body_rate(mp.mpf(m), s, ds, x))
    size = m * np.linalg.norm(r) / min(np.linalg.norm(place), np.linalg.norm(np.subtract(place, r))) ** 3
    assert np.abs(np.array(found) - expected).max() <= 2e-15 * size
    assert abs(rate - slope) <= 4e-15 * size * np.linalg.norm(r) / np.linalg.norm(place) * np.linalg.norm(speed)


@each("distance", [None, 1e11])
def test_light_does_its_work(distance):
    A, t, r = 1e-7, 3e5, (7e6, 1e5, -5e4)
    force = F.radiation_pressure(A, **TABLE, **({} if distance is None else {"distance": distance}))
    place, speed = by_hand.at(path_of(None, *TABLE.values(), None).numbers, t)
    _, found = compiled(force, r, t)
    with mp.workdps(50):
        s, ds, x = (tuple(map(mp.mpf, map(float, one))) for one in (place, speed, r))
        expected = float(by_hand.light_rate(mp.mpf(A), distance, s, ds, x))
    assert found == pytest.approx(expected, rel=1e-14)


@each("inertia", [(90.0, 70.0, 60.0), (90.0, 90.0 - 1e-9, 90.0 + 1e-9)], ids=["body", "nearly sphere"])
def test_the_gravity_gradient_has_all_digits(inertia):
    system, bare = craft(inertia=inertia), craft(inertia=inertia, gravity_gradient=False)
    for seed in range(3):
        y = state_of(system, seed)
        F_all, F_bare = (evaluated(one.compiled_loads(0.0, y), one, y, L.POTENTIAL_PART) for one in (system, bare))
        with mp.workdps(50):
            q = [mp.mpf(x) for x in y[6:10]]
            q = [x / mp.sqrt(sum(a * a for a in q)) for x in q]
            R = [
                [q_row for q_row in row] for row in rotation.matrix_from_quaternion(np.array(q, dtype=object)).tolist()
            ]
            force, torque = by_hand.gradient(*(
                [mp.mpf(float(x)) for x in v] if np.ndim(v) else mp.mpf(v)
                for v in (EARTH.mu, system.constants_of_bodies[0][1:4], y[:3])
            ), R)  # fmt: skip
        np.testing.assert_array_equal(F_bare, 0.0)
        for found, expected in ((F_all[:3], force), (F_all[3:], torque)):
            expected = np.array([float(x) for x in expected])
            assert np.abs(found - expected).max() <= 8e-15 * np.abs(expected).max()


# ------------------------------------------------------------------ commutators
@each("part", [L.ALL, L.WITHOUT_SOLVED])
@each("name", SYSTEMS)
def test_commutators_are_twice_the_derivative_of_the_loads(name, part):
    """Along the displacement that the loads cause, by differences of order 6; the rates of works likewise."""
    system, t = system_of(name), 0.3
    y = state_of(system)
    role = system.compiled_loads(t, y)
    loads = evaluated(role, system, y, part)
    lightness, j = 1.0 / system.mass[0], system.constants_of_bodies[0][5:]
    s = 1e-2 / max(np.abs(loads[:3]).max() * lightness / 4e6, np.abs(j * loads[3:6]).max(), 1e-300)

    def moved(k):
        other = y.copy()
        other[:3] += k * s * lightness * loads[:3]
        other[6:10] = rotation.multiply(y[6:10], rotation.exp_quaternion(k * s * j * loads[3:6]))
        return evaluated(role, system, other, part)

    weights = ((1, 45.0 / 60.0), (2, -9.0 / 60.0), (3, 1.0 / 60.0))
    slope = sum(w * (moved(k) - moved(-k)) for k, w in weights) / s
    expected = 2.0 * slope
    expected[3:6] += 2.0 * np.cross(j * loads[3:6], loads[3:6])
    found = evaluated(role, system, y, L.COMMUTATOR if part == L.ALL else L.COMMUTATOR_OF_REST)
    for k in range(0, found.size, 3):
        some, other = found[k : k + 3], expected[k : k + 3]
        noise = 1e-13 * np.abs(loads[k : k + 3]).max(initial=0.0) / s
        assert np.abs(some - other).max(initial=0.0) <= 1e-8 * np.abs(some).max(initial=0.0) + noise


@each("name", ["craft", "zonal", "moon"])
def test_commutators_have_all_digits(name):
    """At the scale of a satellite, where the force is 10^14 times what turns it: against 60 digits."""
    system, t = system_of(name), 0.3
    dynamics, y = system.dynamics, state_of(system, 3)
    role = system.compiled_loads(t, y)
    found = evaluated(role, system, y, L.COMMUTATOR)
    g, c = dynamics.graph, system.constants_of_bodies[0]
    with mp.workdps(60):
        q = [mp.mpf(x) for x in y[6:10]]
        given = {"t": mp.mpf(t), "mass0": mp.mpf(float(c[0])), "r": [mp.mpf(x) for x in y[:3]]}
        given |= {"q": [x / mp.sqrt(sum(a * a for a in q)) for x in q], "I": [mp.mpf(float(x)) for x in c[1:4]]}
        given |= {"j": [mp.mpf(float(x)) for x in c[5:8]], "p": [mp.mpf(float(x)) for x in system.parameters]}

        def squares(at):
            F = mp_program.values(g, [*dynamics.force, *dynamics.torque], at)
            return sum(x * x for x in F[:3]) / at["mass0"] + sum(k * x * x for k, x in zip(at["j"], F[3:], strict=True))

        changes = [partial(mp_program.moved, given, "r", k) for k in range(3)]
        changes += [partial(mp_program.rotated, given, k) for k in range(3)] if system.rotates else []
        mp_program_step, scale = mp_program.STEP, mp.mpf(10) ** 6
        expected = []
        for k, change in enumerate(changes):
            unit = scale if k < 3 else mp.mpf(1)
            expected.append(float(mp_program.slope(squares, lambda e, c=change, u=unit: c(e * u)) / unit))
    assert mp_program_step == mp_program.STEP
    for k in range(0, len(expected), 3):
        size = np.abs(expected[k : k + 3]).max()
        assert np.abs(found[k : k + 3] - expected[k : k + 3]).max() <= 4e-15 * size


@each("name", OTHERS)
def test_loads_without_a_potential_have_none(name):
    assert "commutator" not in system_of(name).provides


@each(("name", "method", "order"), [
    ("zonal", "fg6_5", 6), ("zonal", "fg6_5/kepler", 6), ("moon", "fg6_5/kepler", 6), ("added", "pmlf6", 6),
    ("craft", "fg6_5", 6), ("craft, added", "fg6_5/kepler", 6), ("table", "v2/kepler:corrected", 2),
    pytest.param("zonal", "variational_midpoint4", 4, marks=pytest.mark.full),
])  # fmt: skip
def test_methods_with_modified_kicks_take_it(name, method, order):
    """Their order, against a method without it."""
    system, ends = system_of(name), []
    start = START | ({"angular_velocity": (1e-3, 2e-3, 1e-3)} if system.rotates else {})
    for chosen, h in ((method, 200.0), (method, 100.0), ("rkn6_14a", 10.0)):
        ends.append(ph.integrate(system, chosen, step=h, t_end=2000.0, **start).position.values[-1])
    errors = [np.linalg.norm(end - ends[2]) for end in ends[:2]]
    assert errors[1] <= max(1.5 * errors[0] / 2.0**order, 1e-6)


def test_a_commutator_is_one_evaluation_and_its_differences_are_four():
    system = SYSTEMS["zonal"]()
    counts = []
    for one in (system, replace(system, all_potential=False)):
        run = ph.integrate(one, "fg6_5/kepler", step=100.0, t_end=1000.0, **START)
        counts.append(int(run.attrs["load_evaluations"]))
    assert counts[0] < counts[1]


def test_only_methods_that_ask_for_it_compile_it():
    assert not ph.methods.method("rkn6_14a").prepare().modified
    assert all(ph.methods.method(one).prepare().modified for one in ("fg6_5/kepler", "variational_midpoint4", "pmlf6"))


def test_a_potential_that_cannot_be_traced_has_none():
    def rounded(t, position, parameters):
        return 1e-3 * position[0] * float(int(position[1]))

    system = ph.orbit(EARTH.mu, potential=rounded)
    assert "commutator" not in system.provides


def test_a_longer_table_is_the_same_kernel():
    """Its numbers lie behind those of other forces, and how many there are is no constant."""
    made = [
        ph.orbit(EARTH.mu, forces=[F.third_body(4.9e12, times=TIMES[:n], positions=TABLE["positions"][:n]), FIELD])
        for n in (20, 21)
    ]
    kernels = [one.compiled_loads(0.0, state_of(one)) for one in made]
    assert kernels[0] is kernels[1]


@each("name", SYSTEMS)
def test_systems_keep_what_they_say(name):
    system = system_of(name)
    start = START | ({"angular_velocity": (1e-3, 2e-3, 1e-3)} if system.rotates else {})
    report = ph.checks.check_system(system, states=1, **start)
    report.raise_for_failure()
    assert "loads of the commutator" in {line.what for line in report.lines}
