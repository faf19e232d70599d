"""Loads of many members over lanes, against those of one member at a time."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from cover import crossed, some
from each import each
from polhode.errors import InvalidInput
from polhode.kernel import direct, jit, layout as L, reach
from polhode.kernel.signatures import LOADS
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import FUNCTIONS, Graph
from polhode.programs.roles import member_text
from polhode.programs.written import module_of
from polhode.systems.user.function import one_call
from program_text import over_lanes

F, EARTH, T = ph.forces, ph.planets.EARTH, 0.3
TABLE = {"times": np.linspace(-9.0, 9.0, 12), "positions": np.linspace((4e8, 1e8, 2e7), (3e8, 3e8, 1e7), 12)}


def potential(t, r, q, p):
    axis = np.array(ph.algebra.quaternion.rotate(q, (0.0, 0.0, 1.0)))
    return np.where(r[0] > p[0], np.exp(-t), 2.0) * np.dot(r, axis) + np.abs(r[1]) ** 1.3 + np.arctan2(r[1], r[2])


SYSTEMS = {
    "top": lambda: ph.heavy_top((1.0, 2.0, 3.0), (0.1, 0.2, 0.3), weight=2.0),
    "wall": ph.systems.soft_wall,
    "satellite": lambda: ph.systems.gravity_gradient(inertia=(1.0, 2.0, 3.0), mu=1.0, radius=1.0),
    "forces": lambda: ph.orbit(EARTH.mu, forces=[
        F.zonal(J2=1e-3, radius=6.4e6), F.drag(kd=1e-9, radius=6.4e6, scale=5e4, rotation=7e-5),
        F.thrust(acceleration=1e-3, direction="velocity", start=0.0, stop=9.0),
    ]),
    "spacecraft": lambda: ph.spacecraft((90.0, 70.0, 60.0), EARTH.mu, mass=120.0, forces=[F.zonal(**EARTH.zonal)]),
    "planets": lambda: ph.gravitating_bodies(mu=[1.0, 1e-3, 1e-4]),
    "user": lambda: ph.spacecraft((0.9, 0.7, 0.6), 1.0, mass=2.0, potential=potential, parameters=[0.3]),
}  # fmt: skip


TWO = ("atan2", "pow", "less", "at_most", "min", "max", "outweighs", "floordiv", "plus", "minus", "times", "over")
ARGUMENTS = {"choose": 3} | dict.fromkeys(TWO, 2)
"""How many a function has, if more than one."""


def every_function():
    """A program of one body that has all functions, by position and velocity."""
    g = Graph()
    r, v, t = g.inputs("r", 3), g.inputs("v", 3), g.input("t")
    found = []
    for name, function in FUNCTIONS.items():
        count = ARGUMENTS.get(name, 1)
        found.append(g.fun(name, *(r[k] for k in range(count))))
        assert callable(function)
    turns = [g.difference(r[0], v[k]) for k in range(3)]
    found += [g.fun("choose", g.fun("less", turns[0], turns[1]), turns[2], g.const(-1.0)), g.fun("sign", turns[2])]
    found += [g.power(r[0], e) for e in (-2.5, 0.5, 1.5, 3.0, -1.0, 0.3, 20.0)] + [g.const(0.5), g.mul(t, t), t]
    found += [g.fun("choose", g.fun("less", t, g.const(1.0)), r[2], t)]
    return Dynamics(g, 1, (g.const(0.0),) * 3, (g.const(0.0),) * 3, tuple(found))


def members(system, count):
    """States, constants and parameters of members, a row of each."""
    rng = np.random.default_rng(7)
    y = np.tile(state_of(system), (count, 1))
    for i in range(system.N):
        body = y[:, L.BODY * i : L.BODY * (i + 1)]
        body[:, :6] *= 1.0 + 0.1 * rng.uniform(-1.0, 1.0, (count, 6))
        body[:, L.ATTITUDE : L.ANGULAR] += rng.uniform(-0.9, 0.9, (count, 4))
        body[:, L.ATTITUDE : L.ANGULAR] /= np.linalg.norm(body[:, L.ATTITUDE : L.ANGULAR], axis=1)[:, None]
    bodies = np.tile(system.bodies, (count, 1))
    parameters = np.tile(system.parameters, (count, 1))
    for k in range(parameters.shape[1]):
        if f"p{k}" not in system.dynamics.fixed:
            parameters[:, k] *= 1.0 + 0.01 * np.arange(count)
    return y, bodies, parameters


def state_of(system):
    y = np.zeros(L.BODY * system.N)
    near = 1.0 if system.name != "orbit" and system.parameters.max(initial=0.0) < 1e9 else 7e6
    if system.name == "spacecraft" and near == 1.0 and EARTH.mu in system.parameters:
        near = 7e6
    for i in range(system.N):
        body = y[L.BODY * i : L.BODY * (i + 1)]
        body[:3], body[3:6] = near * np.array((0.6 + i, -0.5, 0.7)), (0.3, -0.4, 0.2)
        body[L.ATTITUDE], body[L.ANGULAR :] = 1.0, (0.4, 0.5, -0.6)
    return y


def called(dynamics, width, y, bodies, parameters, compiled=True):
    """Loads of ``width`` members at a time, a row of each member."""
    role = module_of(member_text(dynamics)).loads if width == 1 else over_lanes(dynamics, width)
    out = np.zeros((len(y), L.LOAD * dynamics.N + len(dynamics.rates)))
    for k in range(0, len(y), width):
        flat = [np.ascontiguousarray(rows[k : k + width].T).ravel() for rows in (y, bodies, parameters)]
        into = np.zeros(width * out.shape[1])
        if compiled:
            one_call[LOADS](jit.compile_kernel(role, LOADS), T, *flat, into)
        else:
            role(L.ALL, T, dynamics.N, *flat, into)
        out[k : k + width] = into.reshape(-1, width).T
    return out


def close(found, expected, ulps):
    """Whether numbers differ by so many units of the last digit, those of a vector of its size."""
    return np.array_equal(np.isnan(found), np.isnan(expected)) and np.all(
        np.nan_to_num(np.abs(found - expected)) <= ulps * 2.3e-16 * np.nan_to_num(np.abs(expected)).max(axis=1)[:, None]
    )


@each(("name", "width"), crossed(SYSTEMS, [4, 8]))
def test_every_lane_has_the_loads_of_its_member(name, width):
    system = SYSTEMS[name]()
    given = members(system, 8)
    one, several = (called(system.dynamics, w, *given) for w in (1, width))
    assert close(several, one, 2)
    out = np.zeros(several.shape[1])
    loads = system.compiled_loads(T, given[0][0])
    if system.N == 1:
        one_call[LOADS](loads, T, given[0][0], system.bodies, system.with_memory, out)
    else:
        jit.python_of(system.loads)(L.ALL, T, system.N, given[0][0], system.bodies, system.with_memory, out)
    assert np.allclose(several[0], out, rtol=0, atol=1e-14 * np.abs(out).max())


@each(("compiled", "width"), crossed([True, False], [4, 8]))
def test_every_function_over_lanes(width, compiled):
    rng = np.random.default_rng(3)
    y = np.tile(np.eye(L.BODY)[L.ATTITUDE], (16, 1))
    y[:, :6] = rng.uniform(0.05, 0.95, (16, 6))
    bodies, none = np.ones((16, L.OF_BODY)), np.zeros((16, 0))
    one, several = (called(every_function(), w, y, bodies, none, compiled) for w in (1, width))
    assert np.all(np.abs(several - one) <= 4e-16 * np.abs(one))


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
@each("width", some([4, 8], 1))
def test_lanes_are_instructions_on_vectors(width):
    role = over_lanes(SYSTEMS["forces"]().dynamics, width)
    text = str(direct.optimised(role, jit.typed(LOADS), jit.OPTIONS_OF_KERNELS)[2])
    vector = f"<{width} x double>"
    assert (
        f"fmul contract {vector}" in text and f"call {vector} @llvm.sqrt" in text and "fmul contract double" not in text
    )


def test_a_compiled_role_of_lanes_is_kept_on_disk():
    assert reach.digest_of(over_lanes(every_function(), 4), {})


def test_what_has_no_form_over_lanes_is_said():
    system = ph.orbit(EARTH.mu, forces=[F.third_body(4.9e12, **TABLE)])
    assert "segment(parameters" in member_text(system.dynamics)
    with pytest.raises(InvalidInput, match=r"looks up a table .* take one member at a time"):
        over_lanes(system.dynamics, 4)
