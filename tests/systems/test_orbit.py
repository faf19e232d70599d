"""Orbits: each force against a formula of its own, parts and potentials that add up, and runs against SciPy."""

import inspect
import json
import re

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.interpolate import CubicSpline

import polhode as ph
from acting import acting
from each import each
from polhode import forces, planets
from polhode.checks import load_caller
from polhode.kernel import drive, layout as L
from polhode.runs.initial_state import start_state
from polhode.runs.scenario import read_scenario, schema
from polhode.runs.scenario.tables import inside
from polhode.systems.forces import FORCES, Force as ForceRecord
from polhode.systems.structure import compiled_events, table_of

MU, R0 = 3200.9998, 1664.029  # km and s, table 1 of Carson (2005)
R, V = np.array((1.1, -0.7, 0.9)), np.array((0.3, 0.8, -0.2))
AXIS = np.array((1.0, -2.0, 3.0))
TIMES = np.array((-1.0, 0.0, 0.4, 1.5, 2.0, 3.5))
PLACES = np.column_stack([9 + np.sin(TIMES), np.cos(2 * TIMES), TIMES**2])
CIRCLE = {"radius": 8.0, "period": -3.0, "phase": 0.4, "normal": (0.3, -0.4, 1.2)}
SAMPLES = {
    "zonal": forces.zonal(J2=0.1, J3=-0.2, J5=0.3, radius=0.9, axis=AXIS),
    "uniform": forces.uniform((0.1, -0.2, 0.3)),
    "at rest": forces.third_body(0.7, position=(5.0, 3.0, -4.0)),
    "circle": forces.third_body(0.7, circle=CIRCLE),
    "table": forces.third_body(0.7, times=TIMES, positions=PLACES),
    "drag": forces.drag(kd=0.2, radius=1.5, scale=0.6, rotation=0.3, axis=AXIS),
    "air": forces.drag(coefficient=0.4, table=[(1.0, 2.0), (1.5, 0.7), (3.0, 0.1)]),
    "sunlight": forces.radiation_pressure(0.3, position=(9.0, 2.0, 1.0), distance=8.0),
    "far sunlight": forces.radiation_pressure(0.3, direction=(9.0, 2.0, 1.0)),
    "even sunlight": forces.radiation_pressure(0.3, circle=CIRCLE),
    "cylinder": forces.radiation_pressure(0.3, direction=(9.0, 2.0, 1.0), shadow="cylinder", radius=1.0),
    "cone": forces.radiation_pressure(0.3, position=(-9.0, 9.0, -6.0), shadow="cone", radius=0.5, sun_radius=3.0),
    "burn": forces.thrust(0.2, vector=AXIS, start=0.0, stop=2.0),
    "along": forces.thrust(-0.2, "velocity"),
    "outwards": forces.thrust(0.2, "radial"),
}
STEADY = ("zonal", "uniform", "at rest", "sunlight", "far sunlight")
MOVING = ("circle", "table", "even sunlight")


def state(system, r=R, v=V):
    return start_state(system, position=r, velocity=v)


def settled(system, t, y):
    """Parameters as a run sets them: what is on at this time, and the light at this place."""
    parameters = system.with_memory
    system.set_switches(parameters, t)
    if system.watches:
        values = np.zeros(len(system.watches))
        role = compiled_events(system.watches, system, t, y)
        drive.event_values(role, t, y, system.bodies, parameters, table_of(system.watches, system), values)
        for watch, value in zip(system.watches, values, strict=True):
            if watch.flag >= 0:
                parameters[watch.flag] = float(value > 0.0)
    return parameters


def test_runs_watch_the_edges_of_the_cone():
    """The angle between the centres less that at which the discs touch, and less that at which one covers the other."""
    sun, body, size = np.array((-9.0, 9.0, -6.0)), 0.5, 3.0
    given = {"position": sun, "shadow": "cone", "radius": body, "sun_radius": size}
    system = ph.orbit(1.0, forces=[forces.radiation_pressure(0.3, **given)])
    y, values = state(system), np.zeros(2)
    role = compiled_events(system.watches, system, 0.3, y)
    table = table_of(system.watches, system)
    drive.event_values(role, 0.3, y, system.bodies, system.with_memory, table, values)
    d = sun - R
    a, b = np.arcsin(size / np.linalg.norm(d)), np.arcsin(body / np.linalg.norm(R))
    c = np.arccos(-(d @ R) / np.linalg.norm(d) / np.linalg.norm(R))
    np.testing.assert_allclose(values, (c - (a + b), c - abs(b - a)), rtol=1e-13)
    assert all(watch.cuts and watch.flag == -1 for watch in system.watches)


def load(system, r=R, v=V, t=0.3, part=L.ALL):
    """Acceleration by the compiled loads."""
    y, out = state(system, r, v), np.full(6 + len(system.auxiliary), np.nan)
    role = system.compiled_loads(t, y)
    load_caller(part)(role, t, 1, y, system.bodies, settled(system, t, y), out)
    np.testing.assert_array_equal(out[3:6], 0)
    return out[:3] / system.mass[0]


def potential(system, r=R, t=0.3):
    """Potential energy over mass, as a run records it."""
    ds = ph.integrate(system, "mkrk:rk4", step=1.0, steps=0, start={"time": t}, position=r, velocity=0)
    return ds.potential_energy.item() / system.mass[0]


def alone(force, r=R, v=V, t=0.3, mu=1.0):
    """Acceleration by one force, which the mass of the point does not change."""
    found = [load(ph.orbit(mu, mass, [force]), r, v, t, L.WITHOUT_SOLVED) for mass in (1.0, 2.5)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-15, atol=1e-30)
    return found[0]


def mpmath_gradient(function, r):
    with mpmath.workdps(40):
        return [float(mpmath.diff(function, tuple(map(mpmath.mpf, r)), tuple(np.eye(3, dtype=int)[k].tolist())))
                for k in range(3)]  # fmt: skip


# ------------------------------------------------------------------ each force
@each("degrees", [(2, 3, 4, 5, 6), (2, 6), *(pytest.param((n,), marks=pytest.mark.full) for n in range(2, 7))])
def test_zonal_gravity_is_the_derivative_of_its_potential(degrees):
    J = {n: 0.01 * (-1) ** n * n for n in degrees}
    force = forces.zonal(**{f"J{n}": value for n, value in J.items()}, radius=0.8, axis=AXIS)

    def exact(x, y, z):
        r = mpmath.sqrt(x * x + y * y + z * z)
        s = (x - 2 * y + 3 * z) / mpmath.sqrt(14) / r
        return 2 / r * sum(value * (mpmath.mpf(0.8) / r) ** n * mpmath.legendre(n, s) for n, value in J.items())

    np.testing.assert_allclose(alone(force, mu=2.0), -np.array(mpmath_gradient(exact, R)), rtol=3e-15, atol=1e-17)
    with mpmath.workdps(40):
        assert potential(ph.orbit(2.0, 1.0, [force])) == pytest.approx(
            float(exact(*R)) - 2 / np.linalg.norm(R), rel=1e-15
        )


def test_zonal_gravity_over_the_pole_and_the_equator():
    """J2: 3 mu J2 R^2 / r^4 outwards over the poles, half of it inwards over the equator."""
    force = forces.zonal(J2=1e-3, radius=2.0)
    np.testing.assert_allclose(alone(force, (0, 0, -4.0)), (0, 0, -3e-3 * 4 / 256), rtol=1e-15)
    np.testing.assert_allclose(alone(force, (0, 4.0, 0)), (0, -1.5e-3 * 4 / 256, 0), rtol=1e-15)


def tide(mu, s, r):
    """Direct less indirect term with 60 digits."""
    with mpmath.workdps(60):
        s, r = ([mpmath.mpf(float(x)) for x in a] for a in (s, r))
        d = [a - b for a, b in zip(s, r, strict=True)]
        cubes = [mpmath.sqrt(sum(x * x for x in a)) ** 3 for a in (d, s)]
        return [float(mu * (a / cubes[0] - b / cubes[1])) for a, b in zip(d, s, strict=True)]


@each("far", [1.0, 1e3, 1e8, 1e12])
def test_a_third_body_without_cancellation(far):
    s = far * np.array((5.0, 3.0, -4.0))
    force = forces.third_body(0.7, position=s)
    exact = tide(0.7, s, R)
    assert np.linalg.norm(alone(force) - exact) < 1e-15 * np.linalg.norm(exact)
    with mpmath.workdps(60):
        s, r = ([mpmath.mpf(x) for x in a.tolist()] for a in (s, R))
        near = mpmath.sqrt(sum((a - b) ** 2 for a, b in zip(s, r, strict=True)))
        away, along = mpmath.sqrt(sum(x * x for x in s)), sum(a * b for a, b in zip(s, r, strict=True))
        expected = float(-mpmath.mpf(0.7) * (1 / near - 1 / away - along / away**3))
    assert acting(force, R)["potential"] == pytest.approx(expected, rel=1e-14)
    assert potential(ph.orbit(1.0, 1.0, [force])) == pytest.approx(expected - 1 / np.linalg.norm(R), rel=1e-15)


def test_a_third_body_on_a_circle():
    n = np.array(CIRCLE["normal"]) / np.linalg.norm(CIRCLE["normal"])
    node = np.cross((0, 0, 1), n) / np.linalg.norm(np.cross((0, 0, 1), n))
    for t in (0.0, 0.3, 7.7):
        angle = 0.4 - 2 * np.pi * t / 3.0
        s = 8.0 * (np.cos(angle) * node + np.sin(angle) * np.cross(n, node))
        np.testing.assert_allclose(alone(SAMPLES["circle"], t=t), tide(0.7, s, R), rtol=1e-13)
    flat = forces.third_body(1.0, circle={"radius": 8.0, "period": 4.0})
    np.testing.assert_allclose(alone(flat, t=1.0), tide(1.0, (0, 8.0, 0), R), rtol=1e-14)


@each("t", [-1.0, -0.2, 0.0, 0.7, 2.0, 3.1, 3.5])
def test_a_third_body_along_a_table(t):
    s = CubicSpline(TIMES, PLACES, bc_type="not-a-knot")(t)
    np.testing.assert_allclose(alone(SAMPLES["table"], t=t), tide(0.7, s, R), rtol=1e-12)


def test_a_table_ends_where_it_ends():
    assert np.isnan(alone(SAMPLES["table"], t=3.6)).all() and np.isnan(alone(SAMPLES["table"], t=-1.1)).all()
    with pytest.raises(ph.errors.NotFinite):
        ph.integrate(ph.orbit(1.0, forces=[SAMPLES["table"]]), "mkrk:rk4", step=0.25, t_end=5.0, position=R, velocity=V)


def test_drag():
    u = V - np.cross(0.3 * AXIS / np.linalg.norm(AXIS), R)
    exact = -0.2 * np.exp(-(np.linalg.norm(R) - 1.5) / 0.6) * np.linalg.norm(u) * u
    np.testing.assert_allclose(alone(SAMPLES["drag"]), exact, rtol=1e-15)
    same = forces.drag(coefficient=0.1, density=4.0, radius=1.5, scale=0.6, rotation=0.3, axis=AXIS)
    np.testing.assert_allclose(alone(same), exact, rtol=1e-15)
    np.testing.assert_allclose(alone(SAMPLES["drag"], v=V - u), 0, rtol=0, atol=1e-16)


@each("size", [0.8, 1.0, 1.2, 1.5, 2.9, 3.0, 4.0])
def test_drag_of_tabulated_air(size):
    """Linear between logarithms; the end pieces go on."""
    r = size * R / np.linalg.norm(R)
    a = (size - 1.0) / 0.5 if size <= 1.5 else (size - 1.5) / 1.5
    ends = (2.0, 0.7) if size <= 1.5 else (0.7, 0.1)
    density = ends[0] ** (1 - a) * ends[1] ** a
    np.testing.assert_allclose(alone(SAMPLES["air"], r), -0.2 * density * np.linalg.norm(V) * V, rtol=2e-15)


def test_sunlight():
    d = np.array((9.0, 2.0, 1.0)) - R
    far = np.linalg.norm(d)
    np.testing.assert_allclose(alone(SAMPLES["sunlight"]), -0.3 * 64 / far**3 * d, rtol=1e-15)
    np.testing.assert_allclose(alone(SAMPLES["far sunlight"]), -0.3 / np.sqrt(86) * np.array((9, 2, 1)), rtol=1e-15)
    assert np.linalg.norm(alone(SAMPLES["even sunlight"])) == pytest.approx(0.3, rel=1e-15)


def test_a_shadow_like_a_cylinder():
    sun = np.array((9.0, 2.0, 1.0)) / np.sqrt(86)
    beside = np.cross(sun, (0, 0, 1)) / np.linalg.norm(np.cross(sun, (0, 0, 1)))
    for along, across, light in ((-2, 0.999, 0), (-2, 1.001, 1), (2, 0.5, 1), (-50, 0.999, 0)):
        found = np.linalg.norm(alone(SAMPLES["cylinder"], along * sun + across * beside))
        assert found == pytest.approx(0.3 * light, rel=1e-15)


def seen(a, b, c):
    """Share of a disc of radius a that another of radius b, at distance c, leaves free: strips, by quadrature."""

    def covered(x):
        half, other = np.sqrt(max(0.0, a * a - x * x)), np.sqrt(max(0.0, b * b - (x - c) ** 2))
        return 2.0 * min(half, other)

    low, high = max(-a, c - b), min(a, c + b)
    if high <= low:
        return 1.0
    kink = min(max(0.5 * (c + (a * a - b * b) / c), low), high) if c else low
    return 1.0 - sum(quad(covered, *ends, epsabs=1e-13, limit=400)[0] for ends in ((low, kink), (kink, high))) / (
        np.pi * a * a
    )


@each("radius, offsets", [(0.5, (0.0, 0.3, 0.8, 1.2, 3.0)), (2.0, (0.0, 1.0, 2.5, 3.0, 9.0))])
def test_a_shadow_with_penumbra(radius, offsets):
    """From far behind the body: rings, full shadow, penumbra, light."""
    sun = np.array((100.0, 0.0, 0.0))
    force = forces.radiation_pressure(1.0, position=sun, shadow="cone", radius=radius, sun_radius=10.0)
    kinds = set()
    for offset in offsets:
        r = np.array((-10.0, offset, 0.0))
        d = sun - r
        a, b = np.arcsin(10.0 / np.linalg.norm(d)), np.arcsin(radius / np.linalg.norm(r))
        c = np.arccos(-d @ r / np.linalg.norm(d) / np.linalg.norm(r))
        light = -alone(force, r) @ d / np.linalg.norm(d)
        assert light == pytest.approx(seen(a, b, c), abs=1e-9)
        kinds.add("light" if c >= a + b else "full" if c <= b - a else "ring" if c <= a - b else "part")
    assert kinds == ({"ring", "part", "light"} if radius < 1 else {"full", "part", "light"})
    assert np.linalg.norm(alone(force, (10.0, 0.1, 0.0))) == pytest.approx(1.0, rel=1e-15)


def test_penumbra_has_no_jumps():
    sun = (100.0, 0.0, 0.0)
    for radius, until in ((0.5, 2.0), (2.0, 3.5)):
        force = forces.radiation_pressure(1.0, position=sun, shadow="cone", radius=radius, sun_radius=10.0)
        system = ph.orbit(1.0, 1.0, force)
        places = [(-10.0, x, 0.0) for x in np.arange(0.0, until, 0.005)]
        light = np.array([np.linalg.norm(load(system, r, part=L.WITHOUT_SOLVED)) for r in places])
        assert (np.diff(light) > -1e-12).all() and np.diff(light).max() < 0.006 and light[-1] == pytest.approx(1.0)


def test_thrust():
    e = AXIS / np.linalg.norm(AXIS)
    np.testing.assert_allclose(alone(SAMPLES["burn"]), 0.2 * e, rtol=1e-15)
    np.testing.assert_allclose(alone(SAMPLES["along"]), -0.2 * V / np.linalg.norm(V), rtol=1e-15)
    np.testing.assert_allclose(alone(SAMPLES["outwards"]), 0.2 * R / np.linalg.norm(R), rtol=1e-15)
    assert not alone(SAMPLES["along"], v=(0, 0, 0)).any()
    on = [alone(SAMPLES["burn"], t=t).any() for t in (-1e-12, 0.0, 1.999999, 2.0, 3.0)]
    assert on == [False, True, True, False, False]


# ------------------------------------------------------------------ the system
@each("name", SAMPLES)
def test_parts_add_up(name):
    system = ph.orbit(1.7, 2.5, [SAMPLES[name]])
    whole, rest, lost = (load(system, part=part) for part in (L.ALL, L.WITHOUT_SOLVED, L.DISSIPATIVE))
    np.testing.assert_allclose(whole - rest, -1.7 * R / np.linalg.norm(R) ** 3, rtol=2e-15)
    np.testing.assert_array_equal(lost, 0 if SAMPLES[name].conservative else rest)
    assert rest.any()


def test_forces_add_up():
    system = ph.orbit(1.7, 2.5, list(SAMPLES.values()))
    parts = [alone(force, mu=1.7) for force in SAMPLES.values()]
    np.testing.assert_allclose(load(system, part=L.WITHOUT_SOLVED), sum(parts), rtol=1e-14)
    lost = [a for a, force in zip(parts, SAMPLES.values(), strict=True) if not force.conservative]
    np.testing.assert_allclose(load(system, part=L.DISSIPATIVE), sum(lost), rtol=1e-14)
    assert not load(ph.orbit(1.7), part=L.WITHOUT_SOLVED).any() and not load(ph.orbit(1.7), part=L.DISSIPATIVE).any()


@each("name", [(), STEADY, *(pytest.param((name,), marks=pytest.mark.full) for name in STEADY)], ids=str)
def test_systems_keep_what_they_say(name):
    system = ph.orbit(2.0, 3.0, [SAMPLES[key] for key in name])
    report = ph.checks.check_system(system, position=(1.5, 0.3, 0.2), velocity=(0.1, 1.0, 0.3))
    report.raise_for_failure()
    assert {"loads and potential", "conserves energy"} <= {line.what for line in report.lines}


@each("name", MOVING)
def test_potentials_that_depend_on_time(name):
    system, h = ph.orbit(2.0, 3.0, [SAMPLES[name]]), 1e-3
    for t in (0.3, 1.1):
        for k, e in enumerate(np.eye(3)):
            values = [potential(system, R + n * h * e, t) for n in (-2, -1, 1, 2)]
            slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
            assert -slope == pytest.approx(load(system, t=t)[k], abs=1e-10)


def test_what_is_conserved():
    point, oblate = ph.orbit(1.0), forces.zonal(J2=1e-3, radius=0.9)
    assert point.conserves == ("energy", "angular_momentum_space") and "commutator" in point.provides
    upright = ph.orbit(
        1.0, forces=[oblate, forces.zonal(J3=1e-3, radius=0.9, axis=(0, 0, -2.0)), forces.uniform((0, 0, 1))]
    )
    assert upright.conserves == ("energy", "vertical_angular_momentum") and "commutator" in upright.provides
    ph.checks.check_system(upright, position=(1.5, 0.3, 0.2), velocity=(0.1, 1.0, 0.3)).raise_for_failure()
    both = {name: ph.orbit(1.0, forces=[oblate, SAMPLES[name]]) for name in SAMPLES}
    assert {name for name, one in both.items() if "energy" in one.conserves} == set(STEADY)
    reads = {name for name, one in both.items() if one.velocity_dependent}
    assert reads == {"drag", "air", "along"}
    assert {name for name in SAMPLES if not SAMPLES[name].autonomous} == {"circle", "table", "even sunlight", "burn"}
    assert both["drag"].recommended == "mkrk:cv8" and upright.recommended == "abah10_6_4/kepler"


@each("name", SAMPLES)
def test_systems_are_built_again_from_what_they_record(name):
    system = ph.orbit(2.0, 3.0, [SAMPLES[name], SAMPLES["uniform"]])
    again = ph.orbit(**json.loads(json.dumps(system.arguments)))
    np.testing.assert_array_equal(again.parameters, system.parameters)
    assert again.arguments == system.arguments and again.conserves == system.conserves
    if name == "zonal":
        assert ph.orbit(2.0, 3.0, SAMPLES[name]).arguments["forces"] == [SAMPLES[name].arguments]


def test_a_run_is_repeated():
    system = ph.orbit(2.0, 3.0, list(SAMPLES.values()))
    ds = ph.integrate(system, step=0.01, t_end=1.0, position=R, velocity=V)
    np.testing.assert_array_equal(ph.rerun(ds).position, ds.position)
    assert "orbit" in ds.attrs["title"] and ds.position.shape == (101, 3)


def test_the_centre_is_no_place_to_be():
    for given, told in ({}, "position is missing"), ({"position": (0, 0, 0)}, "position is at the centre"):
        with pytest.raises(ph.errors.InvalidInput, match=told):
            ph.integrate(ph.orbit(1.0), "mkrk:rk4", step=0.1, steps=5, velocity=(1, 0, 0), **given)


@each("system", [ph.orbit(1.0), ph.spacecraft((1.0, 2.0, 2.5), 1.0)], ids=lambda system: system.name)
def test_a_fall_from_rest_has_to_be_said(system, tmp_path):
    pace = {"method": "mkrk:gauss4", "step": 0.01, "steps": 10, "position": (1.0, 0.0, 0.0)}
    with pytest.raises(ph.errors.InvalidInput, match=r"velocity is missing.*velocity=0 where that is meant"):
        ph.integrate(system, **pace)
    fallen = ph.integrate(system, **pace, velocity=0)
    assert fallen.identical(ph.integrate(system, **pace, velocity=(0, 0, 0)).assign_attrs(fallen.attrs))
    scenario = tmp_path / "fall.toml"
    inertia = "inertia = [1.0, 2.0, 2.5]\n" if system.rotates else ""
    text = (
        f'method = "mkrk:gauss4"\n[system]\ntype = "{system.name}"\nmu = 1.0\n{inertia}[run]\nstep = 0.01\nsteps = 10\n'
    )
    scenario.write_text(text + "[initial]\nposition = [1, 0, 0]\n")
    with pytest.raises(ph.errors.InvalidInput, match=r"initial.*velocity is missing"):
        ph.runs.read_scenario(scenario)
    for said in ("velocity = 0", "velocity = 0.0", "velocity_km_s = 0", "velocity = [0, 0, 0]"):
        scenario.write_text(text + f"[initial]\nposition = [1.0, 0, 0]\n{said}\n")
        np.testing.assert_array_equal(ph.runs.read_scenario(scenario).integrate().position, fallen.position)
    scenario.write_text(text + "[initial]\nposition = [1.0, 0, 0]\nvelocity = 3\n")
    with pytest.raises(ph.errors.InvalidInput, match=r"velocity: .*0"):
        ph.runs.read_scenario(scenario)


# ------------------------------------------------------------------ runs
@each("name, energy, printed, period, factor", [
    ("carson_circular", -0.961822119687, -0.96182215336, 7538.38576696, 1.0),
    ("carson_elliptic", -0.721366589765, -0.72136636959, 11606.11006131, 1.25),
])  # fmt: skip
def test_the_orbits_of_carson(name, energy, printed, period, factor):
    """Table 1: the printed energies belong to the exact shapes, the printed momenta are rounded."""
    ready = ph.systems.problem(name)
    system, start = ready.build(), dict(ready.initial)
    assert (ready.step, ready.t_end) == (10.0, 86400.0) and system.arguments == {
        "mu": MU,
        "mass": 1.0,
        "forces": [],
        "surface": None,
    }
    ds = ph.integrate(system, "rkn8_17", step=period / 400, steps=400, every=400, **start)
    assert ds.energy[0] == pytest.approx(printed, abs=5e-12)
    np.testing.assert_allclose(ds.position[1], ds.position[0], rtol=0, atol=2e-7)
    assert ds.angular_momentum_space[0, 2] < 0
    half = ph.integrate(system, "rkn8_17", step=period / 400, steps=200, every=200, **start)
    assert (np.linalg.norm(half.position[1]) > 1.1 * R0) == (factor > 1)
    start["momentum"] = (np.sqrt(factor * MU / R0), 0.0, 0.0)
    exact = ph.integrate(system, "rkn8_17", step=1.0, steps=0, **start)
    assert exact.energy.item() == pytest.approx(energy, abs=5e-13)


def test_an_oblate_centre_for_a_day():
    start = {"position": (0.0, R0, 0.0), "velocity": 1.550663 * np.array((np.cos(0.9), 0.0, np.sin(0.9)))}
    system = ph.orbit(MU, forces=[forces.zonal(J2=1e-3, radius=1560.8)])

    def rate(t, y):
        """Gravity with J2 in Cartesian components."""
        r2 = y[:3] @ y[:3]
        bulge = 1.5e-3 * 1560.8**2 / r2 * (1 - 5 * y[2] ** 2 / r2 + np.array((0, 0, 2)))
        return np.concatenate([y[3:], -MU / r2**1.5 * y[:3] * (1 + bulge)])

    first = np.concatenate([start["position"], start["velocity"]])
    scipy = solve_ivp(rate, (0, 86400), first, method="DOP853", rtol=1e-13, atol=1e-13).y[:3, -1]
    runs = [("rkn8_17", 7200), ("mkrk:gauss8", 7200)]
    ends = [ph.integrate(system, m, step=86400 / n, steps=n, every=n, **start).position[-1].values for m, n in runs]
    size = np.linalg.norm(scipy)
    assert np.linalg.norm(ends[0] - ends[1]) < 1e-10 * size
    assert np.linalg.norm(ends[0] - scipy) < 1e-9 * size
    flat = ph.integrate(ph.orbit(MU), "rkn8_17", step=12, steps=7200, every=7200, **start).position[-1].values
    assert np.linalg.norm(flat - scipy) > 0.01 * size


def test_decay_in_thin_air():
    start = {"position": (0.0, R0, 0.0), "velocity": (1.550663, 0.0, 0.0)}
    system = ph.orbit(MU, forces=[forces.drag(kd=2e-6, radius=R0, scale=50.0)])

    def rate(t, y):
        r, speed = np.linalg.norm(y[:3]), np.linalg.norm(y[3:])
        return np.concatenate([y[3:], -MU / r**3 * y[:3] - 2e-6 * np.exp(-(r - R0) / 50) * speed * y[3:]])

    first = np.concatenate([start["position"], start["velocity"]])
    scipy = solve_ivp(rate, (0, 86400), first, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    ds = ph.integrate(system, step=20.0, t_end=86400, every=4320, **start)
    assert ds.attrs["method"] == "mkrk:cv8" and "energy" not in system.conserves
    np.testing.assert_allclose(ds.position[-1], scipy[:3], rtol=0, atol=1e-9 * R0)
    before, after = ds.energy.values
    assert after == pytest.approx(scipy[3:] @ scipy[3:] / 2 - MU / np.linalg.norm(scipy[:3]), rel=1e-9)
    assert after < before * 1.0004


def test_a_satellite_under_everything():
    """A low orbit about the Earth in SI units, two revolutions, a burn between steps; the rates in plain NumPy."""
    earth, moon = planets.EARTH, 3.844e8
    period, burn = 2360591.5, (3000.0, 3600.0)
    sun = np.array((0.6, -0.8, 0.0))
    system = ph.orbit(earth.mu, 500.0, [
        forces.zonal(J2=earth.J["J2"], radius=earth.radius),
        forces.third_body(planets.MOON.mu, circle={"radius": moon, "period": period}),
        forces.drag(coefficient=0.02, density=1e-11, radius=6778e3, scale=6e4, rotation=earth.rotation),
        forces.radiation_pressure(1e-7, direction=sun),
        forces.thrust(2e-3, "velocity", start=burn[0], stop=burn[1]),
    ])  # fmt: skip
    start = {"position": (6778e3, 0.0, 1e5), "velocity": (0.0, 5400.0, 5400.0)}

    def rate(t, y, on):
        r, v = y[:3], y[3:]
        size = np.linalg.norm(r)
        bulge = 1.5 * earth.J["J2"] * (earth.radius / size) ** 2 * (1 - 5 * (r[2] / size) ** 2 + np.array((0, 0, 2)))
        a = -earth.mu / size**3 * r * (1 + bulge)
        s = moon * np.array((np.cos(2 * np.pi * t / period), np.sin(2 * np.pi * t / period), 0.0))
        a = a + planets.MOON.mu * ((s - r) / np.linalg.norm(s - r) ** 3 - s / moon**3)
        u = v - earth.rotation * np.array((-r[1], r[0], 0.0))
        a = a - 0.01 * 1e-11 * np.exp(-(size - 6778e3) / 6e4) * np.linalg.norm(u) * u - 1e-7 * sun
        return np.concatenate([v, a + on * 2e-3 * v / np.linalg.norm(v)])

    y = np.concatenate([start["position"], start["velocity"]])
    for ends, on in (((0, burn[0]), 0), (burn, 1), ((burn[1], 12000.0), 0)):
        y = solve_ivp(rate, ends, y, method="DOP853", rtol=1e-13, atol=1e-8, args=(on,)).y[:, -1]
    ds = ph.integrate(system, "mkrk:gauss8", step=20.0, t_end=12000.0, every=600, **start)
    np.testing.assert_allclose(ds.position[-1], y[:3], rtol=0, atol=1e-3)
    none = ph.orbit(earth.mu, 500.0)
    lost = ph.integrate(none, "mkrk:gauss8", step=20.0, t_end=12000.0, every=600, **start)
    assert np.linalg.norm(lost.position[-1] - y[:3]) > 1e4


# ------------------------------------------------------------------ mistakes
WRONG = {
    "mu": (lambda: ph.orbit(-1.0), "mu is -1; it must be positive"),
    "mass": (lambda: ph.orbit(1.0, mass=0.0), "mass is 0; it must be positive"),
    "forces": (lambda: ph.orbit(1.0, forces=3), "forces must be a list"),
    "number": (lambda: ph.orbit(1.0, forces=[3]), r"forces\[0\]: a force must be made by polhode.forces"),
    "kind": (lambda: ph.orbit(1.0, forces=[{"kind": "drga"}]), "did you mean 'drag'"),
    "argument": (lambda: ph.orbit(1.0, forces=[{"kind": "thrust", "acceleration": 1, "stat": 2}]), "mean 'start'"),
    "missing": (lambda: ph.orbit(1.0, forces=[{"kind": "uniform"}]), r"forces\[0\]: acceleration is missing"),
    "no J": (lambda: forces.zonal(radius=1.0), "J2 to J6 are all zero; give at least one"),
    "radius": (lambda: forces.zonal(J2=1.0, radius=-1.0), "radius is -1; it must be positive"),
    "axis": (lambda: forces.zonal(J2=1.0, radius=1.0, axis=(0, 0, 0)), "axis is zero; give a direction"),
    "J2": (lambda: forces.zonal(J2="x", radius=1.0), "J2 must be a number, not 'x'"),
    "vector": (lambda: forces.uniform((1, 2)), "acceleration must be 3 numbers"),
    "nowhere": (lambda: forces.third_body(1.0), "nothing says where the body is; give"),
    "twice": (lambda: forces.third_body(1.0, position=(1, 0, 0), circle=CIRCLE), "position and circle are given"),
    "at the centre": (lambda: forces.third_body(1.0, position=(0, 0, 0)), "position is zero"),
    "half a table": (lambda: forces.third_body(1.0, times=TIMES), "positions is missing"),
    "short": (lambda: forces.third_body(1.0, times=[0, 1], positions=[(1, 0, 0)] * 2), "positions must be 4 or more"),
    "unequal": (lambda: forces.third_body(1.0, times=TIMES, positions=PLACES[:-1]), "times has 6 entries, but"),
    "unsorted": (lambda: forces.third_body(1.0, times=-TIMES, positions=PLACES), "times must rise"),
    "circle": (lambda: forces.third_body(1.0, circle={"radius": 1.0}), "circle has no period"),
    "circle key": (lambda: forces.third_body(1.0, circle={"radius": 1.0, "perioid": 1}), "did you mean 'period'"),
    "no turn": (lambda: forces.third_body(1.0, circle={"radius": 1.0, "period": 5e-324}), "period of circle is 4.94"),
    "still circle": (lambda: forces.third_body(1.0, circle={"radius": 1.0, "period": 0}), "period of circle is 0"),
    "no air": (lambda: forces.drag(radius=1.0, scale=1.0), "coefficient is missing; drag takes kd, radius and scale"),
    "two airs": (lambda: forces.drag(kd=1.0, density=1.0, radius=1.0, scale=1.0), "density is given beside kd"),
    "air and table": (lambda: forces.drag(coefficient=1.0, table=[(1, 1), (2, 1)], scale=1.0), "scale is given beside"),
    "thin table": (lambda: forces.drag(coefficient=1.0, table=[(1, 1), (2, 0)]), "table must have rising radii"),
    "scale": (lambda: forces.drag(kd=1.0, radius=1.0, scale=0.0), "scale is 0; it must be positive"),
    "shadow": (lambda: forces.radiation_pressure(1.0, direction=(1, 0, 0), shadow="cnoe"), "mean .*'cone'"),
    "no body": (lambda: forces.radiation_pressure(1.0, direction=(1, 0, 0), shadow="cylinder"), "radius is missing"),
    "no shadow": (lambda: forces.radiation_pressure(1.0, direction=(1, 0, 0), radius=1.0), "but shadow is 'none'"),
    "no sun": (
        lambda: forces.radiation_pressure(1.0, position=(9, 0, 0), shadow="cone", radius=1.0), "sun_radius is missing"
    ),
    "two suns": (lambda: forces.radiation_pressure(1.0, direction=(1, 0, 0), position=(9, 0, 0)), "beside a place"),
    "far sun": (lambda: forces.radiation_pressure(1.0, direction=(1, 0, 0), distance=1.0), "distance needs a place"),
    "dark": (lambda: forces.radiation_pressure(1.0), "give a place of the Sun: direction, position"),
    "no vector": (lambda: forces.thrust(1.0), "vector is missing"),
    "vector too": (lambda: forces.thrust(1.0, "radial", vector=(1, 0, 0)), "but direction is 'radial'"),
    "direction": (lambda: forces.thrust(1.0, "velocty"), "did you mean 'velocity'"),
    "times": (lambda: forces.thrust(1.0, "radial", start=2.0, stop=1.0), "stop is 1, not after start, 2"),
}  # fmt: skip


@each("name", WRONG)
def test_mistakes_are_told(name):
    wrong, told = WRONG[name]
    with pytest.raises(ph.errors.InvalidInput, match=told):
        wrong()


# ------------------------------------------------------------------ scenarios
SCENARIO = """\
[system]
type = "orbit"
mu = 2
mass = 3.0
forces = [
  { kind = "zonal", J2 = 0.1, J3 = -0.2, J5 = 0.3, radius = 0.9, axis = [1, -2, 3] },
  { kind = "third_body", mu = 0.7, circle = { radius = 8, period = -3, phase = 0.4, normal = [0.3, -0.4, 1.2] } },
]
[initial]
position = [1.1, -0.7, 0.9]
velocity = [0.3, 0.8, -0.2]
[run]
step = 0.01
t_end = 0.1
"""


@pytest.fixture
def read(tmp_path):
    def write_and_read(text):
        path = tmp_path / "scenario.toml"
        path.write_text(text)
        return read_scenario(path)

    return write_and_read


def test_tables_of_forces_are_those_of_python():
    forces = schema.part_of(schema.table_of(ph.orbit).keys["forces"].type)
    tables = {table.tag: set(table.keys) - {"kind"} for table in inside(forces)}
    assert tables == {name: set(inspect.signature(build).parameters) for name, build in FORCES.items()}


def test_a_scenario_with_forces(read):
    scenario = read(SCENARIO)
    system = ph.orbit(2.0, 3.0, [SAMPLES["zonal"], SAMPLES["circle"]])
    assert scenario.system.arguments == system.arguments and scenario.method == "abah10_6_4/kepler"
    ds = ph.integrate(system, step=0.01, t_end=0.1, position=R, velocity=V)
    np.testing.assert_array_equal(scenario.integrate().position, ds.position)
    text = SCENARIO.replace("forces = [", "more = [")
    parts = [json.dumps(dict(force.arguments)) for force in SAMPLES.values()]
    toml = [re.sub(r'"(\w+)": ', r"\1 = ", part) for part in parts]
    text = re.sub(r"more = \[.*?\n\]", lambda _: "forces = [" + ",\n".join(toml) + "]", text, flags=re.DOTALL)
    every = ph.orbit(2.0, 3.0, list(SAMPLES.values()))
    np.testing.assert_array_equal(read(text).system.parameters, every.parameters)


@each("old, new, line, told", [
    ("J2 = 0.1", "J2 = 'x'", 6, "system.forces[0].J2: expected a number"),
    ("J2 = 0.1", "J22 = 0.1", 6, "system.forces[0].J22: unknown key; did you mean 'J2'"),
    ("radius = 0.9", "radius = -0.9", 6, "system.forces[0].radius: radius is -0.9; it must be positive"),
    ("axis = [1, -2, 3]", "axis = [1, -2]", 6, "system.forces[0].axis: expected 3 entries"),
    ("mu = 0.7", "mu = 0", 7, "system.forces[1].mu: mu is 0; it must be positive"),
    ("period = -3, ", "", 7, "system.forces[1].circle.period: expected this key"),
    ("period = -3, ", "perod = -3, ", 7, "system.forces[1].circle.perod: unknown key; did you mean 'period'"),
    ('kind = "third_body"', 'kind = "thirdbody"', 7, "did you mean 'third_body'"),
    ('kind = "third_body", ', "", 7, "system.forces[1]: expected a key kind, one of drag, gravity_field, impulse"),
    ("mu = 2\n", "mu = -2\n", 3, "system.mu: mu is -2; it must be positive"),
])  # fmt: skip
def test_mistakes_in_scenarios_are_told_where_they_stand(read, old, new, line, told):
    assert SCENARIO.count(old) == 1
    with pytest.raises(ph.errors.InvalidInput) as wrong:
        read(SCENARIO.replace(old, new))
    assert f"scenario.toml:{line}: " in str(wrong.value) and told in str(wrong.value)


def test_a_ready_made_orbit_in_a_scenario(read):
    scenario = read('problem = "carson_elliptic"\n')
    assert tuple(scenario.arguments["position"]) == (0.0, R0, 0.0) and scenario.arguments["step"] == 10.0
    assert tuple(scenario.arguments["momentum"]) == (1.550663, 0.0, 0.0)
    other = read('problem = "carson_elliptic"\n[initial]\nposition = [0, 2000.0, 0]\nvelocity = [1, 0, 0]\n')
    assert other.arguments["position"] == [0, 2000.0, 0] and "momentum" not in other.arguments


# ------------------------------------------------------------------ constants
def test_constants_of_planets():
    """Against numbers that follow from them and are known on their own."""
    earth = planets.EARTH
    assert (earth.mu / earth.rotation**2) ** (1 / 3) == pytest.approx(42164.17e3, rel=1e-7)  # geostationary
    known = (1.08262668e-3, -2.532656e-6, -1.619622e-6, -2.27296e-7, 5.40681e-7)
    assert list(earth.J.values()) == pytest.approx(known, rel=1e-5)
    gauss = 0.01720209895  # au^(3/2) / day
    assert planets.SUN.mu == pytest.approx(gauss**2 * planets.ASTRONOMICAL_UNIT**3 / 86400**2, rel=1e-8)
    assert 2 * np.pi / planets.MOON.rotation == pytest.approx(27.321661 * 86400, rel=1e-6)
    assert 2 * np.pi / planets.EUROPA.rotation == pytest.approx(3.551181 * 86400, rel=1e-6)
    assert 2 * np.pi / planets.MARS.rotation == pytest.approx(24.622962 * 3600, rel=1e-6)
    assert earth.mu / planets.MOON.mu == pytest.approx(81.3006, rel=1e-5)
    assert planets.SUN.mu / planets.MARS.mu == pytest.approx(3098703.59, rel=1e-6)
    gravity = {"EARTH": 9.82, "MOON": 1.62, "MARS": 3.728, "EUROPA": 1.315, "SUN": 274.2}
    for name, g in gravity.items():
        planet = getattr(planets, name)
        assert planet.mu / planet.mean_radius**2 == pytest.approx(g, rel=3e-3)
        assert isinstance(forces.zonal(**planet.zonal), ForceRecord)
