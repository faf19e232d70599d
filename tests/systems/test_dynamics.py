"""The dynamics of a system as a program: the loads and potentials of its roles, to rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.kernel import jit, layout as L
from polhode.kernel.signatures import LOADS, POTENTIAL
from polhode.programs.dynamics import of_roles
from polhode.programs.motion import equations
from polhode.systems.loads_roles import _traceable as energy_as_load_of
from polhode.systems.user.function import one_call

EARTH, F = ph.planets.EARTH, ph.forces
TENSOR = [[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]]
J2 = F.zonal(J2=1e-3, radius=6.4e6)
AIR = F.drag(kd=1e-9, radius=6.4e6, scale=5e4, rotation=7e-5)
BURN = F.thrust(acceleration=1e-3, direction="velocity", start=0.0, stop=9.0)
TIMES = np.linspace(-1e5, 1e6, 40)
TABLE = {
    "times": TIMES, "positions": np.outer(np.cos(2e-6 * TIMES), (4e8, 1e8, 2e7)) + np.outer(TIMES, (1.0, 900.0, 50.0))
}  # fmt: skip
CIRCLE = {"radius": 4e8, "period": 2e6, "normal": (0.0, 0.3, 1.0)}


def both_ways(t, r, v, p):
    return -p[0] * r - v if t < 1.0 else -r


SYSTEMS = {
    "top": lambda: ph.heavy_top((1.0, 2.0, 3.0), (0.1, 0.2, 0.3), weight=2.0),
    "wall": ph.systems.soft_wall,
    "gradient": lambda: ph.systems.gravity_gradient(inertia=(1.0, 2.0, 3.0), mu=1.0, radius=1.0),
    "free": lambda: ph.free_body((1.0, 2.0, 3.0)),
    "particle": lambda: ph.particle(stiffness=2.0, gravity=(0.0, 0.0, -9.8)),
    "planets": lambda: ph.gravitating_bodies(mu=[1.0, 1e-3, 1e-4]),
    "orbit": lambda: ph.orbit(EARTH.mu),
    "forces": lambda: ph.orbit(
        EARTH.mu, forces=[J2, AIR, F.third_body(1e13, circle=CIRCLE)]
    ),
    "zonal": lambda: ph.orbit(EARTH.mu, forces=[F.zonal(**EARTH.zonal)]),
    "thrust": lambda: ph.orbit(EARTH.mu, forces=[BURN]),
    "light": lambda: ph.orbit(
        EARTH.mu, forces=[F.radiation_pressure(1e-7, position=(1.5e11, 0.0, 1e10), shadow="cylinder", radius=6.4e6)]
    ),
    "third body from a table": lambda: ph.orbit(EARTH.mu, forces=[F.third_body(4.9e12, **TABLE), J2]),
    "sun from a table": lambda: ph.orbit(
        EARTH.mu, forces=[F.radiation_pressure(1e-7, **TABLE, distance=1e11), F.third_body(4.9e12, **TABLE)]
    ),
    "cone": lambda: ph.orbit(
        EARTH.mu, forces=[F.radiation_pressure(1e-7, **TABLE, shadow="cone", radius=6.4e6, sun_radius=1e8)]
    ),
    "air from a table": lambda: ph.orbit(
        EARTH.mu, forces=[F.drag(coefficient=0.01, table=[(5e6, 1e-9), (6e6, 3e-10), (7e6, 1e-11), (8e6, 1e-12)])]
    ),
    "plates": lambda: ph.spacecraft(
        inertia=TENSOR, mu=EARTH.mu, mass=120.0, atmosphere={"density": 1e-11, "radius": 6.8e6, "scale": 5e4},
        sunlight={"pressure": 4.5e-6, **TABLE},
        plates=[ph.systems.plate(2.0, (1, 0, 0), position=(0, 1, 0), drag_coefficient=2.0, specular=0.3, diffuse=0.3)],
    ),
    "spacecraft": lambda: ph.spacecraft(
        inertia=TENSOR, mu=EARTH.mu, mass=120.0, forces=[J2],
        thrusters=[ph.systems.thruster((1, 0, 0), position=(0, 1, 0))],
    ),
    "added potential": lambda: ph.spacecraft(
        inertia=TENSOR, mu=1.0, mass=2.0, parameters=[0.3],
        potential=lambda t, r, q, p: p[0] * ph.rotation.rotate(q, np.array([1.0, 0.0, 0.5]))[2] * r[0],
    ),
    "added torque": lambda: ph.spacecraft(
        inertia=TENSOR, mu=1.0, mass=2.0, parameters=[0.3], torque=lambda t, q, w, p: -p[0] * w
    ),
    "added force": lambda: ph.orbit(1.0, force=lambda t, r, v, p: -p[0] * v, parameters=[0.3], forces=[J2]),
    "torque": lambda: ph.rigid_body(TENSOR, torque=lambda t, q, w, p: -p[0] * w * w, parameters=[0.3]),
    "attitude": lambda: ph.rigid_body(
        TENSOR, potential=lambda t, q, p: p[0] * ph.rotation.rotate(q, np.array([1.0, 0.0, 0.5]))[2], parameters=[0.3]
    ),
    "load": lambda: ph.rigid_body(TENSOR, mass=2.0, load=lambda t, r, v, q, w, p: (-r - 0.1 * v, -0.2 * w)),
    "position": lambda: ph.particle(2.0, potential=lambda t, r, p: p[0] * np.dot(r, r) ** 1.5, parameters=[0.3]),
    "deciding": lambda: ph.particle(2.0, force=both_ways, parameters=[0.3]),
}  # fmt: skip

COMPILED = ("forces", "sun from a table", "plates", "deciding")
"""Whose roles are compiled; those of the others are called as they are written."""


def state_of(system):
    """A state near nothing in particular, at the scale of the system."""
    rng = np.random.default_rng(4)
    place, speed = (7e6, 7e3) if system.arguments.get("mu") == EARTH.mu else (1.0, 1.0)
    y = np.zeros(L.BODY * system.N + len(system.auxiliary))
    for i in range(system.N):
        q = rng.normal(size=4)
        mass = system.mass[i] if np.isfinite(system.mass[i]) else 0.0
        y[L.BODY * i :][: L.BODY] = [
            *(place * rng.normal(size=3)), *(mass * speed * rng.normal(size=3)), *(q / np.linalg.norm(q)),
            *rng.normal(size=3),
        ]  # fmt: skip
    return y


def inputs_of(system, y, t):
    """The inputs of its program."""
    given = {"t": t} | {f"p{k}": x for k, x in enumerate(system.parameters)}
    for i in range(system.N):
        b, c = y[L.BODY * i :], system.constants_of_bodies[i]
        R = ph.rotation.matrix_from_quaternion(b[L.ATTITUDE : L.ANGULAR])
        given[f"mass{i}"] = c[L.MASS]
        for k in range(3):
            given |= {
                f"r{3 * i + k}": b[k], f"v{3 * i + k}": b[L.MOMENTUM + k] * c[L.INVERSE_MASS],
                f"m{3 * i + k}": b[L.ANGULAR + k], f"I{3 * i + k}": c[1 + k], f"j{3 * i + k}": c[5 + k],
            } | {f"q_{row}{3 * i + k}": R[n, k] for n, row in enumerate("uvw")}  # fmt: skip
        given |= {f"q{4 * i + k}": b[L.ATTITUDE + k] for k in range(4)}
        given |= {f"f{4 * i + k}": system.frames[i][k] for k in range(4)}
    return given


@each("name", SYSTEMS)
def test_programs_of_systems_are_their_loads(name):
    system, t = SYSTEMS[name](), 0.3
    dynamics, y, N = system.dynamics, state_of(system), system.N
    assert dynamics.traced, dynamics.reason
    out, memory = np.zeros(L.LOAD * N + len(system.auxiliary)), system.with_memory
    if name in COMPILED:
        one_call[LOADS](system.compiled_loads(t, y), t, y, system.bodies, memory, out)
    else:
        jit.python_of(system.loads)(L.ALL, t, N, y, system.bodies, memory, out)
    given, g = inputs_of(system, y, t), dynamics.graph
    F, T = (np.array(g.evaluate(rows, given)).reshape(N, 3) for rows in (dynamics.force, dynamics.torque))
    for i in range(N):
        for found, expected in ((F[i], out[6 * i : 6 * i + 3]), (T[i], out[6 * i + 3 : 6 * i + 6])):
            assert np.allclose(found, expected, rtol=0.0, atol=4e-15 * np.abs(expected).max())
    assert np.allclose(g.evaluate(dynamics.rates, given), out[6 * N :], rtol=1e-14, atol=1e-300)
    if system.potential is not None and N == 1:
        level = np.zeros(1)
        if name in COMPILED:
            one_call[POTENTIAL](system.compiled_potential(t, y), t, y, system.bodies, memory, level)
        else:
            level[0] = jit.python_of(system.potential)(t, N, y, system.bodies, memory)
        traced = of_roles(energy_as_load_of(system.potential), system._turns, 0, system.parameters, system._changing)
        assert math.isclose(traced.graph.evaluate(traced.force[:1], given)[0], level[0], rel_tol=4e-15)
        if dynamics.potential is not None:
            assert math.isclose(g.evaluate([dynamics.potential], given)[0], level[0], rel_tol=4e-15)


def test_equal_structure_is_one_program_whatever_the_values():
    one, other = (ph.orbit(mu, forces=[F.zonal(J2=J, radius=R)]) for mu, J, R in ((1.0, 1e-3, 2.0), (3.0, 0.2, 0.5)))
    assert one.dynamics is other.dynamics
    assert ph.orbit(1.0, forces=[F.zonal(J3=1e-3, radius=2.0)]).dynamics is not one.dynamics


def test_a_table_of_other_values_is_the_same_program():
    one, other = (F.third_body(4.9e12, times=TIMES, positions=TABLE["positions"] * k) for k in (1.0, 2.0))
    assert ph.orbit(1.0, forces=[one]).dynamics is ph.orbit(1.0, forces=[other]).dynamics


def test_parameters_a_function_decides_by_are_fixed():
    def either(t, r, v, p):
        return -p[1] * r if p[0] > 0.0 else -p[1] * v

    above, below, more = (ph.particle(1.0, force=either, parameters=p) for p in ([1.0, 2.0], [-1.0, 2.0], [1.0, 5.0]))
    assert above.dynamics is not below.dynamics
    assert above.dynamics is more.dynamics
    assert dict(above.dynamics.fixed) == {"p0": 1.0}


def test_what_a_run_switches_is_never_fixed():
    system = SYSTEMS["thrust"]()
    (switch,) = system.switches
    assert f"p{switch.index}" not in system.dynamics.fixed
    y = state_of(system)
    given = inputs_of(system, y, 0.3)
    on, off = (
        np.array(system.dynamics.graph.evaluate(system.dynamics.force, given | {f"p{switch.index}": flag}))
        for flag in (1.0, 0.0)
    )
    attraction = np.array(
        ph.orbit(EARTH.mu).dynamics.graph.evaluate(ph.orbit(EARTH.mu).dynamics.force, given | {"p0": EARTH.mu})
    )
    assert np.allclose(off, attraction, rtol=1e-15, atol=0.0)
    assert np.linalg.norm(on - off) == pytest.approx(1e-3, rel=1e-9)


@each(
    ("made", "reason"),
    [
        (
            lambda: ph.dipoles(n=8),
            "all pairs of 8 bodies are a pass over neighbours; Taylor series are of 64 at most, without works and "
            "states",
        ),
        (lambda: ph.particle(1.0, force=lambda t, r, v, p: np.interp(t, [0.0, 1.0], [0.0, 1.0]) * r), "np.interp"),
    ],
)
def test_what_cannot_be_traced_says_why(made, reason):
    dynamics = made().dynamics
    assert not dynamics.traced
    assert reason in dynamics.reason


def test_equations_of_motion_of_several_bodies():
    system = SYSTEMS["planets"]()
    y = state_of(system)
    names, rates = equations(system.dynamics, [True] * 3, [False] * 3)
    given = inputs_of(system, y, 0.0)
    found = dict(zip(names, system.dynamics.graph.evaluate(rates, given), strict=True))
    out = np.zeros(18)
    jit.python_of(system.loads)(L.ALL, 0.0, 3, y, system.bodies, system.with_memory, out)
    for i in range(3):
        for k in range(3):
            assert found[f"r{3 * i + k}"] == given[f"v{3 * i + k}"]
            assert found[f"v{3 * i + k}"] == pytest.approx(out[6 * i + k] / system.mass[i], rel=1e-13)
