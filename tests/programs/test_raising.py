"""Floats of Python, by which CPython raises where a program would go on: the run ends with the user's error."""

from __future__ import annotations

import math

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.programs.trace import spread, trace

THERE = {"position": (0.3, -0.2, 0.1), "velocity": (0.7, 0.5, -0.9)}


def dead(t, x, v, p):
    _ = 1.0 / (t - 0.5)
    return (0.1, 0.0, 0.0)


def cancelled(t, x, v, p):
    return (1.0 / (t - 0.5) * (t - 0.5), 0.0, 0.0)


RAISING = {
    "bump": (lambda t, x, v, p: (math.exp(-1.0 / (t - 0.5) ** 2), 0.0, 0.0), ZeroDivisionError, 0.5),
    "power": (lambda t, x, v, p: (math.atan((t - 0.5) ** -3), 0.0, 0.0), ZeroDivisionError, 0.5),
    "least": (lambda t, x, v, p: (min(1.0 / (t - 0.5), 2.0), 0.0, 0.0), ZeroDivisionError, 0.5),
    "remainder": (lambda t, x, v, p: (max(2.0 % (t - 0.5), 0.0), 0.0, 0.0), ZeroDivisionError, 0.5),
    "of position": (lambda t, x, v, p: (math.atan(1.0 / float(0.0 * x[0])), 0.0, 0.0), ZeroDivisionError, 0.0),
    "switch": (lambda t, x, v, p: (1.0 / (1.0 + math.exp(1200.0 * t)), 0.0, 0.0), OverflowError, 0.75),
    "root": (lambda t, x, v, p: (max(math.sqrt(0.6 - t), 0.1), 0.0, 0.0), ValueError, 0.75),
    "dead": (dead, ZeroDivisionError, 0.5), "cancelled": (cancelled, ZeroDivisionError, 0.5),
}  # fmt: skip


@each("name", RAISING)
def test_where_python_raises_a_program_says_so(name):
    """At the first of the times 0, 1/4, 1/2 and 3/4 at which it does."""
    force, error, time = RAISING[name]
    program = trace(force, {"t": 0, "x": 3, "v": 3, "p": 0}, (3,))

    def told(t):
        try:
            given = spread(t=t, x=THERE["position"], v=THERE["velocity"], p=0.0)
            return program.graph.evaluate([program.raised], given) != [0.0]
        except error:  # of the functions by which graphs are evaluated
            return True

    assert next(t for t in (0.0, 0.25, 0.5, 0.75) if told(t)) == time
    with pytest.raises(error):
        force(time, *map(np.array, THERE.values()), ())


@each("name", ["switch", "of position"])
def test_what_raises_in_python_ends_the_run(name):
    force, error, time = RAISING[name]
    system = ph.particle(force=force, work=False)
    with pytest.raises(ph.errors.UserFunctionError, match=f"{error.__name__}.*test_raising.py") as caught:
        ph.integrate(system, "forward_euler", step=0.25, steps=8, **THERE)
    assert type(caught.value.__cause__) is error and caught.value.time == pytest.approx(time)


def test_potentials_too():
    system = ph.particle(potential=lambda t, x, p: x[0] * math.exp(-1.0 / (t - 0.5) ** 2))
    with pytest.raises(ph.errors.UserFunctionError, match="ZeroDivisionError"):
        ph.integrate(system, "v2", step=0.25, steps=8, **THERE)


def way(t, x, v, p):
    s = t - 0.5
    return (math.exp(-1.0 / s) if s > 0.0 else 0.0, 0.0, 0.0)


def of_numpy(t, x, v, p):
    s = np.array([t - 0.5, 1.0])
    s[1] = t - 0.5
    return (math.atan(1.0 / s[0]), math.atan(x[0] / (t - 0.5)), np.exp(-1.0 / np.float64(t - 0.5) ** 2))


@each("force", [way, of_numpy], ids=["a way not taken", "floats of numpy"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_does_not_raise_goes_on(force):
    system = ph.particle(force=force, work=False)
    assert system.called.no_programs == ()
    ds = ph.integrate(system, "forward_euler", step=0.25, steps=8, **THERE)
    x, v = np.array(THERE["position"]), np.array(THERE["velocity"])
    for k in range(8):
        F = np.array(force(0.25 * k, x, v, ()), dtype=float)
        x, v = x + 0.25 * v, v + 0.25 * F
    assert ds.position[-1].values == pytest.approx(x, rel=1e-14)


@each(
    "function",
    [
        lambda t, r: r[0] / math.sqrt(r[0] ** 2 + r[1] ** 2) ** 3,
        lambda t, r: math.exp(-math.sqrt(r[0])) * math.sin(t) / (1.0 + t) + math.log(r[0]) * math.cosh(t),
        lambda t, r: math.atan(r[0] / r[1]) + math.exp(-1.0 / r[2]) + math.tanh(1.0 / np.sqrt(t)),
        lambda t, r: math.cos(1.0 / t) * r[0] + 2.0 * t**2,
    ],
)
def test_what_shows_itself_costs_nothing(function):
    program = trace(function, {"t": 0, "r": 3}, ())
    assert program.graph.value(program.raised) == 0.0 and program.guarded([5]) == [5]
