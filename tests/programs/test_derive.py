"""What is derived from programs, against differences of 60 digits and against formulas written by hand."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import mp_program as oracle
from acting import acting
from each import each
from polhode import forces
from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.programs import derive
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import Graph
from polhode.programs.motion import equations
from polhode.programs.potentials import loads_of
from polhode.programs.trace import spread, trace, where


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(oracle.DIGITS):
        yield


def loads(g, potential, moves=True, turns=True):
    """Force and torque of one body."""
    found = loads_of(g, potential, [moves], [[turns] * 3])
    return found.force, found.torque


# ------------------------------------------------------------------ derivatives of rows
OF_ONE = {
    "exp": 0.4, "log": 0.4, "sin": 0.4, "cos": 0.4, "tan": 0.4, "asin": 0.4, "acos": 0.4, "atan": 0.4, "sinh": 0.4,
    "cosh": 0.4, "tanh": 0.4, "abs": -0.4,
}  # fmt: skip
OF_TWO = {"atan2": (0.4, -0.7), "pow": (1.4, -0.7), "min": (0.4, 0.3), "max": (0.4, 0.3)}


def check_slopes(g, row, given):
    """Forward and backward derivatives, and second ones, by all inputs of a row."""
    names = list(given)
    leaves = [g.input(name) for name in names]
    precise = oracle.precise(given)
    back = derive.backward(g, row, leaves)
    for name, leaf, slope in zip(names, leaves, back, strict=True):
        expected = oracle.slope_of(g, row, precise, name)
        (ahead,) = derive.forward(g, [row], {leaf: g.const(1.0)})
        for found in g.evaluate([slope, ahead], given):
            assert abs(found - expected) <= 4e-15 * max(1.0, abs(expected))
        (second,) = derive.forward(g, [slope], {leaf: g.const(1.0)})
        expected = oracle.slope_of(g, slope, precise, name)
        assert abs(g.evaluate([second], given)[0] - expected) <= 3e-14 * max(1.0, abs(expected))


@each("name", OF_ONE)
def test_slopes_of_functions(name):
    g = Graph()
    inner = g.sum((g.input("x"), 1.0), (g.mul(g.input("x"), g.input("y")), 0.1))
    check_slopes(g, g.fun(name, inner), {"x": OF_ONE[name], "y": 0.3})


@each("name", OF_TWO)
def test_slopes_of_functions_of_two_numbers(name):
    g = Graph()
    x, y = OF_TWO[name]
    check_slopes(g, g.mul(g.fun(name, g.input("x"), g.input("y")), g.input("x")), {"x": x, "y": y})


@each("e", [-2.5, -1.0, 0.5, 1 / 3, 2.0, 12.0])
def test_slopes_of_powers_and_sums(e):
    g = Graph()
    x, y = g.input("x"), g.input("y")
    base = g.sum((g.mul(x, x), 2.0), (y, -1.0), (g.const(1.0), 1.0))
    check_slopes(g, g.mul(g.power(base, e), y, y), {"x": 0.6, "y": 0.4})


def test_steps_have_no_slope_and_what_is_not_chosen_does_not_count():
    g = Graph()
    x = g.input("x")
    for name in ("sign", "floor"):
        assert derive.forward(g, [g.fun(name, x)], {x: g.const(1.0)}) == [g.const(0.0)]
    program = trace(lambda r: where(r[0] > 0, np.sqrt(np.abs(r[0])), r[0] * r[1]), {"r": 3}, ())
    force, _ = loads(program.graph, program.outputs[0], turns=False)
    for r in ((0.0, 2.0, 3.0), (-1.0, 2.0, 3.0)):  # the slope of the root is infinite at 0
        assert np.array_equal(program.graph.evaluate(force, spread(r=r)), [-2.0, -r[0], 0.0])


# ------------------------------------------------------------------ ten potentials
def up(q):
    return rotate_inverse(q, (0.0, 0.0, 1.0))


def tides(t, r, q, p, I):
    s = p[2] * np.array([np.cos(p[3] * t), np.sin(p[3] * t), 0.3])
    return -p[1] * (1.0 / np.linalg.norm(s - r) - np.dot(r, s) / np.dot(s, s) ** 1.5)


def harmonics(t, r, q, p, I):
    size = np.linalg.norm(r)
    s, ratio = r[2] / size, 0.9 / size
    before, now, power, total = s, 1.5 * s * s - 0.5, ratio * ratio, 1.0
    for n in range(2, 7):
        total = total - 0.1 * p[1] * power * now
        before, now = now, ((2 * n + 1) * s * now - n * before) / (n + 1)
        power = power * ratio
    return -p[0] / size * total


def gradient(t, r, q, p, I):
    n = np.array(rotate_inverse(q, r))
    square = np.dot(r, r)
    return -p[0] / np.sqrt(square) - 0.5 * p[0] / square**1.5 * (sum(I) - 3.0 * np.dot(n, I * n) / square)


POTENTIALS = {
    "central": lambda t, r, q, p, I: -p[0] / math.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2),
    "spring": lambda t, r, q, p, I: 0.5 * p[0] * np.dot(r - np.array([0.1, 0.2, 0.3]), r) + p[1] * r[0] ** 4,
    "zonal": harmonics, "tides": tides, "gradient": gradient,
    "top": lambda t, r, q, p, I: p[0] * np.dot((0.1, -0.2, 0.9), up(q)),
    "wall": lambda t, r, q, p, I: 1.0 / (1.5 + up(q)[2]) - 0.001 * (1.5 + up(q)[2]) ** -10,
    "dipole in a field": lambda t, r, q, p, I: -np.dot(rotate(q, p[:3]), [np.sin(t), r[2], r[0] * r[1]]),
    "own quaternion": lambda t, r, q, p, I: (
        p[0] * (q[1] ** 2 + q[2] ** 2) + p[1] * q[0] * q[3] + np.arctan2(q[1], 2 + q[0])
    ),
    "special functions": lambda t, r, q, p, I: (
        np.exp(-p[0] * r[0]) * np.tanh(r[1]) + np.log(2 + r[2] ** 2) * np.cos(up(q)[0])
        + np.arcsin(0.3 * r[0]) / np.cosh(t)
    ),
}  # fmt: skip
GIVEN = {
    "t": 0.7, "r": (1.1, -0.6, 0.8), "q": (0.5, -0.1, 0.7, 0.3), "p": (1.3, 0.4, 2.7, 0.2), "I": (2.0, 1.5, 1.0),
    "mass0": 1.25, "j": (0.5, 1 / 1.5, 1.0), "v": (0.3, -0.2, 0.9), "m": (0.4, 1.1, -0.7),
}  # fmt: skip
ARGUMENTS = {"t": 0, "r": 3, "q": "attitude", "p": 4, "I": 3}


def normal(given):
    size = math.sqrt(sum(x * x for x in given["q"]))
    return {**given, "q": tuple(x / size for x in given["q"])}


def directions(precise):
    """The six ways to move: along the axes of space, about the axes of the body."""
    for k in range(3):
        yield lambda e, k=k: oracle.moved(precise, "r", k, e)
    for k in range(3):
        yield lambda e, k=k: oracle.rotated(precise, k, e)


def slopes(g, outputs):
    """Derivatives of rows by displacements along the axes of space, then by turns about the axes of the body."""
    axes = [[g.const(float(i == k)) for i in range(3)] for k in range(3)]
    seeds = [{g.input(f"r{k}"): g.const(1.0)} for k in range(3)] + [derive.turned(g, "q", axis) for axis in axes]
    return [derive.forward(g, outputs, one) for one in seeds]


@each("name", POTENTIALS)
def test_loads_commutator_and_rates_of_ten_potentials(name):
    program = trace(POTENTIALS[name], ARGUMENTS, ())
    g, (U,) = program.graph, program.outputs
    precise, given = oracle.precise(GIVEN), spread(**normal(GIVEN))
    force, torque = loads(g, U)
    acting_on = [*force, *torque]

    # Loads: slopes of the potential.
    found = g.evaluate(acting_on, given)
    level = [-oracle.slope(lambda at: oracle.values(g, [U], at)[0], change) for change in directions(precise)]
    size = max(abs(x) for x in level) + abs(oracle.values(g, [U], precise)[0])
    assert max(abs(a - b) for a, b in zip(found, level, strict=True)) <= 2e-15 * size

    # Commutator: slopes of F . F / m + T . J T.
    def square(at):
        x = oracle.values(g, acting_on, at)
        return (1 / at["mass0"]) * mp.fsum(a * a for a in x[:3]) + mp.fsum(
            j * a * a for j, a in zip(at["j"], x[3:], strict=True)
        )

    pushed, twisted, _ = derive.commutator(g, force, torque, [])
    found = g.evaluate([*pushed, *twisted], given)
    expected = [oracle.slope(square, change) for change in directions(precise)]
    columns = [
        [oracle.slope(lambda at, k=k: oracle.values(g, [acting_on[k]], at)[0], change) for k in range(6)]
        for change in directions(precise)
    ]
    curvature = max(abs(x) for column in columns for x in column)
    size = 4 * (1 + curvature) * max(map(abs, level))
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= 1e-15 * size

    # Slopes of the loads, the rate in time.
    for column, expected in zip(slopes(g, acting_on), columns, strict=True):
        found = g.evaluate(column, given)
        assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= 4e-15 * (1 + curvature)
    (rate,) = g.evaluate(derive.rate_in_time(g, [U]), given)
    expected = oracle.slope_of(g, U, precise, "t")
    assert abs(rate - expected) <= 1e-15 * (1 + abs(expected))


def test_slopes_by_velocities():
    def load(t, r, v, q, omega, p):
        force = -p[0] * np.linalg.norm(v) * v
        return force, -p[1] * omega + np.cross(rotate_inverse(q, v), omega)

    program = trace(load, {"t": 0, "r": 3, "v": 3, "q": "attitude", "w": 3, "p": 2}, (2, 3))
    g, rows = program.graph, program.outputs
    given = {**GIVEN, "w": (0.3, 0.7, -0.4)}
    inputs, precise = spread(**normal(given)), oracle.precise(given)
    for name in "vw":
        for k, a in enumerate(g.inputs(name, 3)):
            column = derive.forward(g, rows, {a: g.const(1.0)})
            expected = [oracle.slope_of(g, row, precise, name, k) for row in rows]
            assert np.allclose(g.evaluate(column, inputs), np.array(expected, float), rtol=0, atol=4e-15)


def test_equations_of_motion():
    program = trace(POTENTIALS["gradient"], ARGUMENTS, ())
    g = program.graph
    force, torque = loads(g, program.outputs[0])
    names, rates = equations(Dynamics(g, 1, tuple(force), tuple(torque)), [True], [True])
    inputs = spread(**normal(GIVEN))
    found = dict(zip(names, g.evaluate(rates, inputs), strict=True))
    F, T = np.array(g.evaluate(force, inputs)), np.array(g.evaluate(torque, inputs))
    w = np.array(GIVEN["j"]) * GIVEN["m"]
    assert np.array_equal([found[f"r{k}"] for k in range(3)], GIVEN["v"])
    assert np.allclose([found[f"v{k}"] for k in range(3)], F / GIVEN["mass0"], rtol=1e-15)
    assert np.allclose([found[f"m{k}"] for k in range(3)], np.cross(GIVEN["m"], w) + T, rtol=4e-15)
    a, b, c, d = normal(GIVEN)["q"]
    turn = [-b * w[0] - c * w[1] - d * w[2], a * w[0] + c * w[2] - d * w[1], a * w[1] + d * w[0] - b * w[2],
            a * w[2] + b * w[1] - c * w[0]]  # fmt: skip
    assert np.allclose([found[f"q{k}"] for k in range(4)], np.array(turn) / 2, rtol=4e-15)
    u = [inputs[f"q_u{k}"] for k in range(3)]
    assert np.allclose([found[f"q_u{k}"] for k in range(3)], np.cross(u, w), rtol=4e-15)


# ------------------------------------------------------------------ forces
def derived_force(potential, size, **given):
    program = trace(potential, {"t": 0, "r": 3, "p": size}, ())
    force, _ = loads(program.graph, program.outputs[0], turns=False)
    return np.array(program.graph.evaluate(force, spread(**given)))


def test_zonal_gravity_equals_what_is_written_by_hand():
    J = (1.08e-3, -2.5e-6, -1.6e-6, -2.3e-7, 5.4e-7)
    mu, radius = 398600.0, 6378.0
    force = forces.zonal(radius=radius, **{f"J{n}": J[n - 2] for n in range(2, 7)})

    def potential(t, r, p):
        size = np.linalg.norm(r)
        s, ratio = r[2] / size, p[1] / size
        before, now, power, total = s, 1.5 * s * s - 0.5, ratio * ratio, 0.0
        for n in range(2, 7):
            total = total + p[n] * power * now
            before, now = now, ((2 * n + 1) * s * now - n * before) / (n + 1)
            power = power * ratio
        return p[0] / size * total

    draw = np.random.default_rng(2)
    for _ in range(10):
        r = draw.normal(size=3)
        r *= draw.uniform(6600.0, 20000.0) / np.linalg.norm(r)
        found = derived_force(potential, 7, t=0.0, r=r, p=(mu, radius, *J))
        expected = acting(force, r, mu=mu)["force"]
        size = mu * J[0] / np.dot(r, r) * 6.0
        assert np.abs(found - expected).max() <= 4e-16 * size


def test_a_third_body_equals_what_is_written_by_hand():
    """Without cancellation, as the potential is written so."""
    mu, s = 4903.0, (3.1e5, -2.0e5, 9e4)

    def potential(t, r, p):
        s = p[1:4]
        square = np.dot(s, s)
        q = np.dot(r, r - 2.0 * s) / square
        w = np.sqrt(1.0 + q)
        tide = q * q * (w + 2.0) / (2.0 * w * (1.0 + w) * (1.0 + w)) - 0.5 * np.dot(r, r) / square
        return -p[0] / np.sqrt(square) * tide

    force = forces.third_body(mu, position=s)
    for r in ((7000.0, 100.0, -50.0), (100.0, -42000.0, 3000.0)):
        found = derived_force(potential, 4, t=0.0, r=r, p=(mu, *s))
        expected = acting(force, r)["force"]
        size = 4.0 * mu * np.linalg.norm(r) / np.linalg.norm(s) ** 3  # of r and of f s
        assert np.abs(found - expected).max() <= 4e-16 * size


def test_the_commutator_of_a_spacecraft_has_all_digits():
    """At 6,700 km the torque is the rest of two cross products of vectors that are parallel to 15 digits."""

    def potential(r, q, p, I, mass):
        n = np.array(rotate_inverse(q, r))
        square = np.dot(r, r)
        D = np.array([I[0] - I[2], I[1] - I[2], 0.0])
        tide = 0.5 * p[0] / (square * np.sqrt(square)) * (D[0] + D[1] - 3.0 * np.dot(n, D * n) / square)
        return -p[0] * mass / np.sqrt(square) - tide

    program = trace(potential, {"r": 3, "q": "attitude", "p": 1, "I": 3, "mass0": 0}, ())
    g, (U,) = program.graph, program.outputs
    force, torque = loads(g, U)
    given = {
        "r": (4000.0, -3000.0, 4500.0), "q": (0.5, 0.5, -0.5, 0.5), "p": (398600.0,), "I": (90e-6, 70e-6, 60e-6),
        "mass0": 120.0, "j": (1 / 90e-6, 1 / 70e-6, 1 / 60e-6),
    }  # fmt: skip
    pushed, twisted, _ = derive.commutator(g, force, torque, [])
    found = g.evaluate([*pushed, *twisted], spread(**given))
    precise = oracle.precise(given)

    def square(at):
        x = oracle.values(g, [*force, *torque], at)
        return 1 / at["mass0"] * mp.fsum(a * a for a in x[:3]) + mp.fsum(
            j * a * a for j, a in zip(at["j"], x[3:], strict=True)
        )

    expected = [oracle.slope(square, change) for change in directions(precise)]
    for mine, theirs in ((found[:3], expected[:3]), (found[3:], expected[3:])):
        size = max(map(abs, theirs))
        assert max(abs(a - b) for a, b in zip(mine, theirs, strict=True)) <= 1e-15 * size
