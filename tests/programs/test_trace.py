"""Functions of users run once on tracers: what they compute, what cannot be traced, mistakes found at definition."""

from __future__ import annotations

import collections
import functools
import importlib
import math
import operator

import numpy as np
import pytest
from numba import njit, typeof

import polhode
from each import each
from polhode.algebra import quaternion, rotation
from polhode.errors import UserFunctionError
from polhode.programs import tracer
from polhode.programs.attitude import STAND_INS
from polhode.programs.trace import NotTraceable, trace, where

T, R, V, P = np.float64(0.7), np.array([1.1, -0.4, 0.6]), np.array([0.3, 0.8, -0.5]), np.array([2.0, 0.3])
Q = np.array([0.5, -0.1, 0.7, 0.3]) / np.linalg.norm([0.5, -0.1, 0.7, 0.3])
ARGUMENTS = {"t": 0, "r": 3, "v": 3, "q": "attitude", "p": 2}


def agrees(function, shape=None, tolerance=4e-15):
    """The program gives what the function gives."""
    given = {"t": T, "r": R, "v": V, "q": Q, "p": P}
    found = trace(function, ARGUMENTS, shape)(**given)
    expected = np.ravel(function(T, R.copy(), V.copy(), Q.copy(), P.copy()))
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance), (found, expected)


@njit
def helper(a, b):
    return math.sqrt(a * a + b * b)


SCALE = 3.0


def plain_helper(a):
    return SCALE * math.exp(-a)


def with_local_import(t, r, v, q, p):
    import math as m

    from numpy import zeros

    out = zeros(3)
    out[0] = m.sin(r[0])
    out[1:] = r[1:] ** 2
    return out


def in_place(t, r, v, q, p):
    total = np.zeros((2, 3))
    total[0] += r
    total[1] = v
    total *= 2.0
    total[0, 1] -= t
    return total


def nested(t, r, v, q, p):
    def inner(x):
        return math.atan2(x, factor)

    factor = p[0]
    return [inner(x) for x in r]


def looped(t, r, v, q, p):
    total = 0.0
    for k in range(4):
        total += p[1] ** k * math.cos(k * t)
    return total


def deciding(t, r, v, q, p):
    if r[0] > 0.0 and (t == 0.0 or v[1] >= 0.5):
        return -r[0] if r[1] > 0.0 else math.sqrt(r[0])
    total = 0.0
    for x in r:
        total += x if x > v[0] else 0.0
    return total


FUNCTIONS = {
    "arithmetic": lambda t, r, v, q, p: (r[0] + 2) * r[1] - r[2] / (1 - v[0]) + (-t) ** 2 + 2**t - +p[0] ** p[1],
    "remainders": lambda t, r, v, q, p: (7.3 * t) % 2.0 + (7.3 * t) // 2.0 + math.floor(-3 * t) + math.ceil(9 * t),
    "math": lambda t, r, v, q, p: (
        math.exp(r[0]) + math.log(p[0]) + math.sin(t) * math.cos(t) + math.tan(t) + math.asin(v[0]) + math.acos(v[1])
        + math.atan(r[1]) + math.atan2(r[1], r[2]) + math.sinh(t) + math.cosh(t) + math.tanh(r[2]) + math.fabs(v[2])
        + math.sqrt(p[0]) + math.hypot(*r) + math.pow(p[0], 3) + math.dist(r, v) + math.copysign(2.0, v[2])
        + math.radians(t) + math.log10(p[0]) + math.fsum(r)
    ),
    "numpy": lambda t, r, v, q, p: (
        np.exp(r) + np.log(p[0]) * np.sin(r) / np.cos(v) + np.tan(v) + np.arcsin(v) * np.arccos(v) + np.arctan(r)
        + np.arctan2(r, v) + np.sinh(r) * np.cosh(r) - np.tanh(v) + np.sqrt(p[0]) + np.cbrt(r) + np.abs(v) + np.sign(v)
        + np.hypot(r, v) + np.square(r) + np.reciprocal(p[0]) + np.float64(t) + np.deg2rad(r) + np.log2(p[0])
    ),
    "vectors": lambda t, r, v, q, p: (
        np.cross(r, v) + np.dot(r, v) * r + np.outer(r, v) @ r + np.linalg.norm(r) * v + np.inner(r, v)
        + np.einsum("ij,j->i", np.outer(r, r), [1.0, 2.0, 3.0]) + np.vdot(v, v) + r @ v + np.matmul(np.eye(3), r)
    ),
    "shapes": lambda t, r, v, q, p: (
        np.concatenate([r[:2], v[2:]]) + np.stack((r, v)).sum(axis=0) + np.array([r, v]).T @ p + np.hstack((t, p))
        + np.array([[1.0, 2.0, 3.0]])[0] * np.asarray(r, dtype=float) + np.full(3, t) + np.vstack((r, v))[1]
        + np.zeros_like(r) + np.ones(3) * np.mean(r) + r[::-1].copy() + np.reshape(r, (1, 3))[0] + r.astype(float)
    ),
    "reductions": lambda t, r, v, q, p: (
        r.sum() + np.sum(v) + sum(r) + np.max(r) - r.min() + np.prod(v) + max(r) + min(v[0], v[1], 0.1) + max(p)
        + np.linalg.norm(r, 1) + np.linalg.norm(r, np.inf) + np.linalg.norm(np.outer(r, v)) + np.add.reduce(r)
    ),
    "choices": lambda t, r, v, q, p: (
        where(r > 0.5, v, r) + where(t < 1, 1.0, 0.0) + np.where(v >= 0.3, r, 2.0) + np.clip(r, -0.1, 0.7)
        + np.minimum(r, v) + np.maximum(r, 0.2) + where((t > 0.5) & (r[0] <= 1.1), 3.0, 4.0) + where(~(t != 0.7), 1, 2)
        + np.where(np.logical_or(r < 0, v > 10), 1.0, 2.0) + where(t == 0.7, 5.0, 6.0)
    ),
    "helpers": lambda t, r, v, q, p: helper(r[0], r[1]) + plain_helper(r[2]) + functools.reduce(max, [t, r[0], 0.1]),
    "compiled": njit(lambda t, r, v, q, p: math.sqrt(r[0]) + p[0] * t),
    "partial": functools.partial(lambda a, t, r, v, q, p: a * r, 2.5),
    "local import": with_local_import, "in place": in_place, "nested": nested, "loop": looped,
    "constant": lambda t, r, v, q, p: (1.0, 2, np.float64(3.0)),
    "decisions": deciding, "sort": lambda t, r, v, q, p: np.sort(r)[1],
    "float": lambda t, r, v, q, p: float(t) * isinstance(2.0, float) * np.zeros(2, dtype=float)[0] + float(r[0]),
    "lists": lambda t, r, v, q, p: np.dot([r[0], r[1], t], [1.0, v[0], 2.0]) + np.linalg.norm([t, r[0]]),
    "attitude, tuples": lambda t, r, v, q, p: np.add(quaternion.rotate(q, r), quaternion.rotate_inverse(q, (0, 0, 1))),
    "attitude, public": lambda t, r, v, q, p: (
        rotation.rotate(q, r) + rotation.rotate_inverse(q, v) + rotation.matrix_from_quaternion(q)[2]
    ),
    "attitude, maps": lambda t, r, v, q, p: rotation.hat(v) @ rotation.exp_matrix(r)[0] * rotation.exp_quaternion(v)[0],
    "attitude, logarithm": lambda t, r, v, q, p: rotation.log_quaternion(q) * rotation.angle_between(q, [1, 0, 0, 1]),
    "blocks": lambda t, r, v, q, p: np.block([[np.outer(r, v), np.eye(3)], [np.eye(3), np.ones((3, 3))]])[1] @ [*r, *v],
    "attitude, own formula": lambda t, r, v, q, p: 2 * (q[1] * q[3] - q[0] * q[2]) + 1 - 2 * (q[1] ** 2 + q[2] ** 2),
    "attitude, products": lambda t, r, v, q, p: quaternion.multiply(q, quaternion.conjugate((0.6, 0.0, 0.8, 0.0))),
    "attitude, matrix": lambda t, r, v, q, p: np.array(quaternion.to_matrix(q)).reshape(3, 3).T @ r,
}  # fmt: skip


@each("name", FUNCTIONS)
def test_programs_compute_what_functions_compute(name):
    agrees(FUNCTIONS[name])


def test_methods_closures_and_modules_of_the_user_are_followed():
    class Field:
        strength = 3.0

        def potential(self, t, r, v, q, p):
            return self.strength * helper(r[0], r[1])

    agrees(Field().potential)
    given = [2.0, plain_helper]
    agrees(lambda t, r, v, q, p: given[0] * r)
    inside = plain_helper
    agrees(lambda t, r, v, q, p: inside(r[0]) * math.cos(t))


def test_common_parts_are_written_once():
    def potential(t, r, p):
        return -p[0] / np.sqrt(np.dot(r, r)) + 1.0 / np.linalg.norm(r) ** 3

    program = trace(potential, {"t": 0, "r": 3, "p": 2}, ())
    squares = [row for row in program.graph.rows if row[0] == "sum" and len(row[2]) == 3]
    assert len(squares) == 1


def test_parameters_that_count_loops_are_taken_as_numbers():
    def field(t, r, p):
        return sum(p[1] * r[k] for k in range(int(p[0])))

    arguments = {"t": 0, "r": 3, "p": 2}
    with pytest.raises(NotTraceable, match="asks for the value"):
        trace(field, arguments, ())
    program = trace(field, arguments, (), numbers={"p": np.array([2.0, 0.5])})
    assert program.fixed == {"p0": 2.0}
    assert program(t=0.0, r=(1.0, 2.0, 4.0), p=(2.0, 0.5)) == [1.5]
    assert program(t=0.0, r=(1.0, 2.0, 4.0), p=(2.0, 2.0)) == [6.0]


@each("r0", [-1.0, 1.0])
@each("v1", [0.1, 0.8])
@each("r1", [-0.4, 0.4])
def test_every_way_through_a_function_is_in_its_program(r0, v1, r1):
    r, v = np.array([r0, r1, 0.6]), np.array([0.3, v1, -0.5])
    found = trace(deciding, ARGUMENTS, ())(t=T, r=r, v=v, q=Q, p=P)
    assert found == pytest.approx([deciding(T, r, v, Q, P)], rel=1e-15)


def test_what_a_function_decides_by_stays_an_input():
    def field(t, r, p):
        size = p[2] * r[0]
        for k in range(int(p[0])):
            size = size * p[3] if p[1] > k else size + np.zeros(int(p[0]))[k]
        return size

    arguments = {"t": 0, "r": 3, "p": 4}
    program = trace(field, arguments, (), numbers={"p": [3.0, 2.0, 0.7, 1.5]})
    assert program.fixed == {"p0": 3.0, "p1": 2.0}
    assert program(t=0.0, r=(1.0, 2.0, 4.0), p=(3.0, 2.0, 0.5, 2.0)) == [2.0]
    again = trace(field, arguments, (), numbers={"p": [3.0, 1.5, 0.2, 1.5]})
    assert again.fixed == {"p0": 3.0, "p1": 1.5} and again.graph.rows == program.graph.rows


def test_the_attitude_is_that_of_the_users_frame():
    frame = tuple(np.array([0.9, 0.1, -0.3, 0.2]) / np.linalg.norm([0.9, 0.1, -0.3, 0.2]))

    def seen(q):
        return np.concatenate([np.array(quaternion.rotate(q, (1.0, 2.0, 3.0))), q])

    found = trace(seen, {"q": frame})(q=Q)
    inside = quaternion.multiply(tuple(Q), quaternion.conjugate(frame))
    expected = [*quaternion.rotate(inside, (1.0, 2.0, 3.0)), *inside]
    assert np.allclose(found, expected, rtol=0, atol=2e-15)


# ------------------------------------------------------------------ what cannot be traced
CALLS, SEEN, KEPT = [0], [], [0.0]
HIDDEN = operator.methodcaller("append", 0.0)  # what no reader of source sees
MEMORY, TURN = collections.deque((1.0, 2.0, 3.0)), operator.methodcaller("rotate", 1)


def counting(t, r, v, q, p):
    CALLS[0] += 1
    return r[0] * CALLS[0]


def searching(t, r, v, q, p):
    x = r[0]
    while x > 1e-3:
        x = 0.5 * x
    return x


UNTRACEABLE = {
    "search": (searching, "decides too often by the numbers it is given.*polhode.where.*test_trace.py"),
    "int": (lambda t, r, v, q, p: int(r[0]), "asks for the value"),
    "range": (lambda t, r, v, q, p: sum(range(int(t))), "asks for the value"),
    "interp": (lambda t, r, v, q, p: np.interp(t, [0, 1], [0, 1]), "uses np.interp, for which there is no rule"),
    "eigenvalues": (lambda t, r, v, q, p: np.linalg.eigvalsh(np.outer(r, r))[0], "uses np.linalg.eigvalsh"),
    "rotation": (lambda t, r, v, q, p: rotation.dexp(r, v)[0], r"asks for the value.*\(test_trace.py"),
    "special": (lambda t, r, v, q, p: math.lgamma(t), "uses 'lgamma', for which there is no rule"),
    "string": (lambda t, r, v, q, p: len(f"{t:.3f}"), "makes a string"),
    "complex": (lambda t, r, v, q, p: abs(t + 1j), "complex numbers"),
    "round": (lambda t, r, v, q, p: round(t, 2), "rounds a number"),
    "counter": (counting, r"writes to CALLS\[0\], which outlives the call"),
    "list": (lambda t, r, v, q, p: SEEN.append(t) or t, "calls SEEN.append, which changes what outlives the call"),
    "hidden list": (lambda t, r, v, q, p: HIDDEN(KEPT) or t, "writes to what outlives the call"),
    "hidden memory": (
        lambda t, r, v, q, p: TURN(MEMORY) or MEMORY[0] * t,
        "returns other numbers when it is called again",
    ),
    "print": (lambda t, r, v, q, p: print("called") or t, "it prints"),
    "random": (lambda t, r, v, q, p: np.random.default_rng().random() * t, "calls default_rng of random numbers"),
    "error": (lambda t, r, v, q, p: {}["drag"] * t, "raised KeyError: 'drag'.*test_trace.py"),
    "object": (math.sqrt, "no plain function but of type 'builtin_function_or_method'"),
}


@each("name", UNTRACEABLE)
def test_what_cannot_be_traced_says_why_and_where(name):
    function, reason = UNTRACEABLE[name]
    with pytest.raises(NotTraceable, match=reason):
        trace(function, ARGUMENTS, ())
    assert CALLS == [0] and SEEN == [] and KEPT == [0.0]  # nothing of the user's is changed


# ------------------------------------------------------------------ mistakes
MISTAKES = {
    "unknown name": (lambda t, r, v, q, p: r[0] * strength, r"reads the name 'strength' \(test_trace.py:\d+\)"),  # noqa: F821
    "unknown attribute": (lambda t, r, v, q, p: np.sqroot(t), r"reads numpy.sqroot \(test_trace.py:\d+\), which does"),
    "nothing returned": (lambda t, r, v, q, p: None, "returns no numbers; it must return one number"),
    "too many": (lambda t, r, v, q, p: r, r"returns numbers of shape \(3,\); it must return one number"),
    "nan": (lambda t, r, v, q, p: math.nan * t, r"a constant is nan; give a number \(test_trace.py:\d+\)"),
    "nan returned": (lambda t, r, v, q, p: math.nan, "returns nan whatever it is given"),
}


@each("name", MISTAKES)
def test_mistakes_are_found_at_definition_with_the_users_line(name):
    function, message = MISTAKES[name]
    with pytest.raises(UserFunctionError, match=r"potential '<lambda>' \(test_trace.py:\d+\).*" + message):
        trace(function, ARGUMENTS, (), "potential")


def test_a_force_must_return_three_numbers():
    with pytest.raises(UserFunctionError, match="must return 3 numbers"):
        trace(lambda t, r, v, q, p: (t, t), ARGUMENTS, (3,), "force")


# ------------------------------------------------------------------ where
def test_where_of_numbers_and_arrays():
    assert where(True, 1.0, 2.0) == 1.0
    assert where(0.1 > 0.2, 1.0, 2.0) == 2.0
    assert np.array_equal(where(np.array([True, False]), [1.0, 2.0], 5.0), [1.0, 5.0])
    assert polhode.where is where


@njit
def chosen(x):
    return where(x > 0.0, 1.0, 2.0)


def test_where_in_compiled_functions():
    assert chosen(-1.0) == 2.0 and chosen(3.0) == 1.0
    condition, array, number = (typeof(one) for one in (np.array([True]), np.array([1.0]), 5.0))
    of_arrays = tracer._where_in_kernels(condition, array, number)
    a = np.array([-1.0, 3.0])
    assert np.array_equal(of_arrays(a > 0.0, a, 5.0), [5.0, 3.0])


@each("first", [False, True])
def test_where_in_compiled_functions_of_a_fresh_process(python, forked, first):
    """Numba knows it whichever is imported first, also where it is found while the function is compiled."""
    code = """
        import json
        {}
        import numba, numpy, polhode

        @numba.njit
        def of_arrays(a):
            return {}where(a > 0.0, a, 5.0)

        print(json.dumps(of_arrays(numpy.array([-1.0, 3.0])).tolist()))
    """
    asked = python(code.format("from polhode import where", "")) if first else forked(code.format("", "polhode."))
    assert asked == [5, 3]


def test_functions_of_attitudes_are_found_by_their_names():
    """A module that moves would otherwise lose its stand-ins silently."""
    for module, name in STAND_INS:
        assert getattr(importlib.import_module(module), name).__module__ == module
