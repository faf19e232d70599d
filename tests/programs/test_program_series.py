"""Taylor coefficients of every kind of row against mpmath, and of motions against their equations."""

from __future__ import annotations

import inspect
import math

import mpmath as mp
import numpy as np
from numba import f8, i8, types

from each import each
from polhode import programs
from polhode.algebra.quaternion import rotate_inverse
from polhode.kernel import jit, layout as L
from polhode.programs.dynamics import Dynamics
from polhode.programs.graph import FUNCTIONS
from polhode.programs.motion import equations, with_quaternions
from polhode.programs.potentials import loads_of
from polhode.programs.series import Series, best_series
from polhode.programs.series_role import AT_ONCE, HEAD, LANES, MANY, SCALE, series_of_motion, series_role
from polhode.programs.trace import spread, trace, where
from polhode.systems import forces, heavy_top, orbit, spacecraft

T, H, ORDER = 0.7, 0.5, 20
coefficients = jit.hole("coefficients(part, t, N, y, bodies, parameters, out)")


def arguments_of(g, force=None, torque=None, rates=()):
    """Of a body that moves or turns where loads are given, and of auxiliary variables."""
    loads = (tuple(one or [g.const(0.0)] * 3) for one in (force, torque))
    return g, 1, *loads, tuple(rates), (force is not None,), (torque is not None,)


def role_of(g, **loads):
    return series_role(*arguments_of(g, **loads))


def call(part, t, N, y, bodies, parameters, out):
    coefficients(part, t, N, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(out))


def compiled(role):
    signature = types.void(i8, f8, i8, *[f8[::1]] * 4)
    return jit.compile_kernel(jit.bind(call, coefficients=role.function), signature)


def taylor(role, y, t, h, K, p=(), run=None):
    """Coefficients of the states in powers of (time - t)/h, K + 1 rows; the body has mass 1.25, moments 2, 1.5, 1."""
    bodies, work = np.zeros(L.OF_BODY), np.full(role.size, np.nan)
    bodies[[L.MASS, L.INVERSE_MASS]] = 1.25, 0.8
    bodies[L.INERTIA : L.INERTIA + 3] = 2.0, 1.5, 1.0
    bodies[L.INVERSE_INERTIA : L.INVERSE_INERTIA + 3] = 1.0 / bodies[L.INERTIA : L.INERTIA + 3]
    work[SCALE] = h
    work[role.code_at : role.code_at + role.code.size] = role.code.view(float)
    given = K, t, 1, np.array(y, float), bodies, np.array(p, float), work
    (run or (compiled(role) if role.code.size else role.function))(*given)
    return work[HEAD : HEAD + role.width * (K + 1)].reshape(K + 1, -1)


A, A3 = mp.mpf(0.2), mp.mpf(0.3)


def three_equations(t, e):
    """Whose second row is taken first."""
    return [[0.125 * t, 4.0, -1.0], [5.0, 0.25 * e, 0.5], [-1.0, 0.25 * t, 6.0]], [t, 1.0, e]


def solved(t):
    a, b = three_equations(t, np.exp(t))
    return np.linalg.solve(np.array(a), b)[1] + np.linalg.det(a)


def precisely_solved(t):
    a, b = three_equations(t, mp.exp(t))
    return mp.lu_solve(mp.matrix(a), mp.matrix(b))[1] + mp.det(mp.matrix(a))


CASES = {
    "exp": (lambda t: np.exp(-2 * t), lambda t: mp.exp(-2 * t)),
    "log": (lambda t: np.log(t + 2), lambda t: mp.log(t + 2)),
    "sin": (lambda t: np.sin(2 * t + t * t), lambda t: mp.sin(2 * t + t * t)),
    "swing": (
        lambda t: np.cos(3 * t + 0.5) * np.exp(t / 4) - np.sin(3 * t + 0.5) + np.sinh(t) ** 2,
        lambda t: mp.cos(3 * t + 0.5) * mp.exp(t / 4) - mp.sin(3 * t + 0.5) + mp.sinh(t) ** 2,
    ),
    "cos": (lambda t: np.cos(2 * t + t * t), lambda t: mp.cos(2 * t + t * t)),
    "tan": (lambda t: np.tan(t), mp.tan),
    "tanh": (lambda t: np.tanh(t * t + 0.2), lambda t: mp.tanh(t * t + A)),
    "sinh": (lambda t: np.sinh(t) * np.cosh(2 * t), lambda t: mp.sinh(t) * mp.cosh(2 * t)),
    "atan": (lambda t: np.arctan(2 * t), lambda t: mp.atan(2 * t)),
    "asin": (lambda t: np.arcsin(t / 2), lambda t: mp.asin(t / 2)),
    "acos": (lambda t: np.arccos(t / 2), lambda t: mp.acos(t / 2)),
    "atan2": (lambda t: np.arctan2(np.sin(t), t - 2), lambda t: mp.atan2(mp.sin(t), t - 2)),
    "pow": (lambda t: (t + 1.5) ** t, lambda t: (t + mp.mpf(1.5)) ** t),
    "root": (lambda t: (t * t + 1.5) ** (1 / 3), lambda t: (t * t + mp.mpf(1.5)) ** mp.mpf(1 / 3)),
    "reciprocal": (lambda t: 3 / (t * t + 1.5), lambda t: 3 / (t * t + mp.mpf(1.5))),
    "powers": (
        lambda t: (t * t + 1.5) ** -2.5 - 3 / (t * t + 1.5) + (t + 2) ** 7,
        lambda t: (t * t + mp.mpf(1.5)) ** mp.mpf(-2.5) - 3 / (t * t + mp.mpf(1.5)) + (t + 2) ** 7,
    ),
    "products": (lambda t: t * np.sin(t) ** 2 * np.exp(t) * 2.5, lambda t: t * mp.sin(t) ** 2 * mp.exp(t) * 2.5),
    "choice": (lambda t: where(t > 0.1, np.exp(t), np.abs(t - 1)), mp.exp),
    "size": (lambda t: np.abs(np.sin(3 * t + 3)), lambda t: -mp.sin(3 * t + 3)),
    "least": (lambda t: np.minimum(np.maximum(np.exp(t), t), 5 + np.floor(t)) * np.sign(t), mp.exp),
    "constant": (lambda t: 2.5, lambda t: mp.mpf(2.5)),
    "outweighs": (solved, precisely_solved),
    "floor of a quotient": (lambda t: np.exp(t) * (t // 0.3 + t % 5.0), lambda t: mp.exp(t) * (mp.floor(t / A3) + t)),
    "at most": (lambda t: where(t <= 0.1, np.abs(t - 1), np.exp(t)), mp.exp),
    "plus minus times over": (lambda t: where(2.0 * (t + 0.4) / 0.5 - 1.0 <= 0.1, np.abs(t - 1), np.exp(t)), mp.exp),
}


@each("name", CASES)
def test_coefficients_of_every_function(name):
    """The integral of a function of time; errors relative to the convergence of its series."""
    function, precise = CASES[name]
    program = trace(function, {"t": 0}, ())
    y = [*np.zeros(L.BODY), 1.0]
    found = taylor(role_of(program.graph, rates=program.outputs), y, T, H, ORDER)[:, 0]
    with mp.workdps(40):
        known = mp.taylor(precise, mp.mpf(T), ORDER)
        known = [1.0, *(float(c * mp.mpf(H) ** (k + 1) / (k + 1)) for k, c in enumerate(known[:-1]))]
    sizes = np.abs(known)
    ratio = max(0.05, *(sizes[k] ** (1 / k) for k in range(8, ORDER + 1)))
    scale = ratio ** np.arange(ORDER + 1)
    assert np.all(np.abs(found - known) <= 3e-15 * scale * max(sizes / scale))


def test_every_kind_of_row_has_a_rule():
    tried = " ".join(CASES) + " abs min max sign floor less choose cosh floordiv at_most"
    assert all(name in tried for name in FUNCTIONS)


# ------------------------------------------------------------------ motions
def j2(t, r, p):
    square = np.dot(r, r)
    return -p[0] / np.sqrt(square) * (1 - p[1] / square * (r[2] * r[2] / square - 1 / 3))


def drag(t, r, v, p):
    size = np.linalg.norm(r)
    wind = v - np.array([-0.1 * r[1], 0.1 * r[0], 0.0])
    pull = -p[0] / size**3 * r + 0.01 * np.array([np.cos(t), np.sin(t), 0.0])
    return pull - p[1] * np.exp(-(size - 1.0) / 0.3) * np.linalg.norm(wind) * wind


def top(t, q, p):
    return p[0] * np.dot(p[1:4], rotate_inverse(q, (0.0, 0.0, 1.0)))


def damped(t, q, omega, p):
    return -p[0] * omega * (1.0 + np.abs(omega[1])) + p[1] * np.array([np.tanh(q[0]), q[1] * q[2], np.cos(3.0 * t)])


def orbit_of(function, size):
    program = trace(function, {"t": 0, "r": 3, "p": size}, ())
    return program.graph, {"force": loads_of(program.graph, program.outputs[0], [True], [[False] * 3]).force}


def pushed_orbit():
    program = trace(drag, {"t": 0, "r": 3, "v": 3, "p": 2}, (3,))
    return program.graph, {"force": program.outputs}


def spinning_top():
    program = trace(top, {"t": 0, "q": "attitude", "p": 4}, ())
    return program.graph, {"torque": loads_of(program.graph, program.outputs[0], [False], [[True] * 3]).torque}


def damped_body():
    program = trace(damped, {"t": 0, "q": "attitude", "m": 3, "p": 2}, (3,))
    return program.graph, {"torque": program.outputs}


def motion(g, **loads):
    """Names of the states and rows of their rates."""
    *given, moves, turns = arguments_of(g, **loads)
    return equations(Dynamics(*given), moves, turns)


P = (1.3, 0.04, 0.3, 0.9)
START = {"r": (1.1, -0.3, 0.2), "v": (0.2, 0.9, 0.3), "m": (0.4, 1.1, -0.7), "q": (0.5, -0.1, 0.7, 0.5)}
FLAT = [*START["r"], *(1.25 * x for x in START["v"]), *START["q"], *START["m"]]
MOTIONS = {
    "J2": lambda: orbit_of(j2, 2), "drag": pushed_orbit, "top": spinning_top, "damped": damped_body,
}  # fmt: skip


@each("name", MOTIONS)
def test_the_series_of_a_motion_satisfies_its_equations(name):
    g, loads = MOTIONS[name]()
    names, rates = motion(g, **loads)
    h = 0.05
    X = taylor(role_of(g, **loads), FLAT, T, h, ORDER, P)[:, : len(names)]
    known = spread(p=P, j=(0.5, 1 / 1.5, 1.0), mass0=1.25)
    for x in (0.0, 0.5, 1.0):
        state = dict(zip(names, x ** np.arange(ORDER + 1) @ X, strict=True))
        slope = np.arange(1, ORDER + 1) * x ** np.arange(ORDER) @ X[1:] / h
        expected = g.evaluate(rates, known | {"t": T + h * x} | state)
        assert np.allclose(slope, expected, rtol=0, atol=1e-14)


def test_a_circular_orbit_has_the_series_of_sine_and_cosine():
    g, loads = orbit_of(lambda t, r, p: -p[0] / np.linalg.norm(r), 1)
    y = [1.0, 0.0, 0.0, 0.0, 1.25, 0.0, 1.0, *[0.0] * 6]
    X = taylor(role_of(g, **loads), y, 0.0, 1.0, ORDER, (1.25,))
    for k in range(ORDER + 1):
        cosine, sine = (0.5 * (1j**k + s * (-1j) ** k) / s.real for s in (1 + 0j, -1 + 0j))
        expected = [(cosine / math.factorial(k)).real, (abs(sine) * [0, 1, 0, -1][k % 4]) / math.factorial(k), 0.0]
        assert np.allclose(X[k, :3], expected, rtol=0, atol=1e-15)


def best_of(g, **loads):
    names, rates = motion(g, **loads)
    return best_series(g, [g.input(name) for name in names], rates)


def test_the_fewest_products_are_taken():
    g, loads = orbit_of(j2, 2)
    assert len(best_of(g, **loads).slots) <= 11


MOON = forces.third_body(0.01, circle={"radius": 60.0, "period": 400.0, "normal": (0.0, -0.4, 0.9)})
DRAG = forces.drag(kd=1e-3, radius=1.0, scale=0.01, rotation=0.05)
FEWEST = {
    "J2": (lambda: orbit(1.0, forces=[forces.zonal(J2=1e-3, radius=0.9)]), 11),
    "J2, tilted": (lambda: orbit(1.0, forces=[forces.zonal(J2=1e-3, radius=0.9, axis=(0.1, 0.2, 1.0))]), 13),
    "J2 to J6": (
        lambda: orbit(1.0, forces=[forces.zonal(J2=1e-3, J3=1e-6, J4=1e-6, J5=1e-6, J6=1e-6, radius=0.9)]),
        23,
    ),
    "moon": (lambda: orbit(1.0, forces=[MOON]), 29),
    "all": (lambda: orbit(1.0, forces=[forces.zonal(J2=1e-3, radius=0.9), DRAG, MOON, MOON]), 72),
    "spacecraft": (lambda: spacecraft((3.0, 2.0, 1.0), 1.0, mass=100.0), 65),
}


@each("name", FEWEST)
def test_the_fewest_products_of_loads_as_they_are_traced(name):
    """With J2: 3 squares, the rate of r . r and three powers, z^2 times one of them, and three products with the sum
    along r; about another axis the square of r along it and its product, too. Works are states."""
    make, most = FEWEST[name]
    dynamics = with_quaternions(make().dynamics)
    names, rates = equations(dynamics, (True,), (name == "spacecraft",))
    g = dynamics.graph
    every = [*names, *(f"w{k}" for k in range(len(dynamics.rates)))]
    assert len(best_series(g, [g.input(one) for one in every], [*rates, *dynamics.rates]).slots) <= most


def test_matrices_of_which_much_is_read_are_made_of_quaternions():
    """Two spacecraft, whose loads read whole matrices, and a top, whose loads read one row."""
    before = spacecraft([(3.0, 2.0, 1.0), (5.0, 4.0, 2.0)], 1.0, mass=(1.0, 2.0)).dynamics
    after = with_quaternions(before)
    g, outputs = before.graph, [[*one.force, *one.torque] for one in (before, after)]
    names = {name: float(np.sin(n + 1.0)) for n, name in enumerate(sorted(g.names(outputs[0])))}
    for i, q in enumerate(([0.5, 0.1, -0.7, 0.5], [0.5, -0.5, 0.5, 0.5])):
        names |= {f"q{4 * i + k}": x for k, x in enumerate(q)}
        R = [rotate_inverse(q, e) for e in np.eye(3)]
        names |= {f"q_{row}{3 * i + k}": R[n][k] for n, row in enumerate("uvw") for k in range(3)}
    assert not any(name.startswith("q_") for name in g.names(outputs[1]))
    assert np.allclose(*(g.evaluate(rows, names) for rows in outputs), rtol=0, atol=1e-13)
    top = heavy_top((3.0, 2.0, 1.0), (0.1, 0.2, 0.3), 1.0).dynamics
    assert with_quaternions(top) is top


def test_sums_of_many_products_are_made_in_parts_that_fit_in_registers():
    of = spacecraft((3.0, 2.0, 1.0), 1.0, mass=100.0).dynamics
    given = of.graph, 1, of.force, of.torque, of.rates, (True,), (True,)
    slots = len(series_of_motion(*given)[1].slots)
    text = inspect.getsource(series_role(*given).function)
    loops = -(-slots // (LANES * AT_ONCE))
    assert slots >= MANY and text.count("for j in range(1, (k + 1) // 2)") == loops > 1
    g, loads = orbit_of(j2, 2)
    text = inspect.getsource(role_of(g, **loads).function)
    assert text.count("for j in range(2, (k + 1) // 2)") == 1


def test_no_form_is_tried_twice(monkeypatch):
    """Of a circular orbit there is one form only: nothing can be multiplied out or taken out."""
    made = []
    monkeypatch.setattr(programs.series, "Series", lambda *given: made.append(given[2]) or Series(*given))
    g, loads = orbit_of(lambda t, r, p: -p[0] / np.linalg.norm(r), 1)
    best_of(g, **loads)
    assert len(made) == len(set(map(tuple, made))) == 1


def test_compiled_as_in_python():
    g, loads = orbit_of(j2, 2)
    role = role_of(g, **loads)
    expected, found = (taylor(role, FLAT, T, H, ORDER, P, run) for run in (None, compiled(role)))
    size = np.abs(expected).max(axis=1, keepdims=True)
    assert np.all(np.abs(found - expected) <= 1e-12 * size)
