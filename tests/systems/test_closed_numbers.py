"""Numbers that functions close over are numbers of the system: others need no other program and no other kernel, and
the results are those of numbers that are written in the function."""

from __future__ import annotations

import gc
import linecache
import math
import re
import sys
import tracemalloc

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import UserFunctionError
from polhode.kernel import jit

STEPS = {"step": 0.05, "steps": 20, "angular_velocity": (1.0, 2.0, 3.0)}
FUNCTIONS = {
    "friction": "def torque(t, q, omega, p):\n return (-A * omega[0], -B * omega[1] + C, -0.3 * A * B * omega[2])",
    "numpy": "def torque(t, q, omega, p):\n d = np.array([A, np.sin(B), np.exp(-C)])\n return np.cross(d, omega) / A",
    "decides": "def torque(t, q, omega, p):\n return (-A * omega[0] if A > 0.5 and omega[1] > A else B, min(B, C), 0)",
    "helper": "def bend(x):\n return A * x / (C + x * x)\n"
              "def torque(t, q, omega, p):\n return [-bend(bend(w) + B) for w in omega]",
    "potential": "def potential(t, q, p):\n z = 1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)\n"
                 " return A * z * math.cos(B * t) + math.sqrt(C) * (z - B) ** 2 / A",
}  # fmt: skip
FIRST, SECOND = {"A": 0.7, "B": 1.3, "C": 2.1}, {"A": 0.83, "B": 1.7, "C": 2.6}


def made(text, numbers, how):
    """The function of a text with numbers as literals, closed over, or as globals."""
    world = {"np": np, "math": math}
    if how == "literals":
        text = re.sub(r"\b([ABC])\b", lambda found: repr(numbers[found[1]]), text)
    elif how == "globals":
        world |= numbers
    else:
        inner = "\n".join(f"  {line}" for line in text.splitlines())
        name = text.rpartition("def ")[2].partition("(")[0]
        text = f"def make(A, B, C):\n{inner}\n  return {name}\n{name} = make({', '.join(map(repr, numbers.values()))})"
    file = f"numbers_{len(text)}_{abs(hash(text))}.py"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), world)
    return {name: world[name] for name in ("torque", "potential") if name in world}


def run(function, method="v2"):
    return ph.integrate(ph.rigid_body((1.0, 2.0, 3.0), **function), method, **STEPS)


def written():
    return {name for name in sys.modules if name.startswith("polhode.programs.written_")}


def same(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one.data_vars if one[name].dtype.kind == "f")


@each("name", FUNCTIONS)
@pytest.mark.parametrize("how", ["closed over", "globals"])
def test_other_numbers_are_no_other_program(name, how):
    for method in ("v2", "mkrk:gauss6", "taylor8"):
        run(made(FUNCTIONS[name], FIRST, how), method)
        expected, known = run(made(FUNCTIONS[name], SECOND, "literals"), method), written()
        found = run(made(FUNCTIONS[name], SECOND, how), method)
        assert (
            same(found, expected) if name != "potential" else np.allclose(found.attitude, expected.attitude, 0, 1e-14)
        )
        assert written() == known


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
def test_other_numbers_are_no_other_kernel(monkeypatch):
    text = FUNCTIONS["friction"]
    run(made(text, FIRST, "closed over"))
    monkeypatch.setattr(jit, "_compiled_kernel", lambda *given, **options: pytest.fail("something is compiled"))
    run(made(text, SECOND, "closed over"))


def test_conditions_are_answered_by_the_numbers():
    text = ("def torque(t, q, omega, p):\n s = 1.0 if A > 1.0 else 3.0\n r = sum(s * A for _ in range(int(B)))\n"
            " a, b = isinstance(A, float), A in {0.5: 1}\n"
            " return (-0.1 * r * omega[0] ** C, -a * omega[1], -b * omega[2])")  # fmt: skip
    for A, B, C in ((0.5, 2.5, 2.0), (1.5, 2.5, 2.0), (0.6, 3.5, 2.0), (0.5, 2.5, 3.0), (-0.5, 2.5, 2.0)):
        numbers = {"A": A, "B": B, "C": C}
        assert same(run(made(text, numbers, "closed over")), run(made(text, numbers, "literals")))


@each("name", ["cancels", "grows", "one"])
def test_numbers_that_cancel_are_another_program(name):
    text = {"cancels": "(A - B) * omega[0] - (A - 2.0 * B) * omega[1]", "grows": "1e300 * B * A * omega[0] * 1e-300",
            "one": "A / B * omega[0] + omega[1]"}[name]  # fmt: skip
    text = f"def torque(t, q, omega, p):\n return (-({text}), -A * omega[1] / (1.0 + B), 0.0)"
    for A, B in ((0.4, 0.4), (0.7, 0.4), (0.8, 0.4), (0.5, 0.5)):
        numbers = {"A": A, "B": B, "C": 0.5}
        assert same(run(made(text, numbers, "closed over")), run(made(text, numbers, "literals")))


def test_what_raises_raises_for_its_number_alone():
    def make(k):
        return lambda t, q, omega, p: (-omega[0] / (k - 2.0), -math.sqrt(k) * omega[1], 0.0)

    for k, told in ((3.0, ""), (2.0, "divide by zero"), (5.0, ""), (-1.0, "ValueError")):
        if told:
            with pytest.raises(UserFunctionError, match=told):
                run({"torque": make(k)})
        else:
            assert run({"torque": make(k)}).attitude.notnull().all()


def test_a_number_that_is_changed_is_seen_by_the_next_run():
    k = 0.5

    def torque(t, q, omega, p):
        return -k * omega

    def load(body):
        return {"torque": -k * body.angular_velocity}

    bodies = (ph.rigid_body((1, 2, 3), torque=torque), ph.system(ph.body("a", 1.0, (1, 2, 3)), ph.loads.of(load)))
    before = [ph.integrate(one, "v2", **STEPS).angular_velocity[-1] for one in bodies]
    k = 0.75
    after = [ph.integrate(one, "v2", **STEPS).angular_velocity[-1] for one in bodies]
    bodies = (ph.rigid_body((1, 2, 3), torque=torque), ph.system(ph.body("a", 1.0, (1, 2, 3)), ph.loads.of(load)))
    anew = [ph.integrate(one, "v2", **STEPS).angular_velocity[-1] for one in bodies]
    for old, new, other in zip(before, after, anew, strict=True):
        assert np.array_equal(new, other) and not np.array_equal(old, new)


def test_numbers_of_parts_and_defaults():
    def law(t, r, v, p, stiffness=2.5, drag=0.25):
        return -stiffness * r - drag * v

    def other(t, r, v, p, stiffness=3.5, drag=0.35):
        return -stiffness * r - drag * v

    def fixed(t, r, v, p):
        return -3.5 * r - 0.35 * v

    there = {"step": 0.01, "steps": 20, "position": (1, 0, 0), "velocity": (0, 1, 0)}
    ph.integrate(ph.particle(force=law), "v2", **there)
    known = written()
    expected, found = (ph.integrate(ph.particle(force=one), "v2", **there) for one in (fixed, other))
    assert same(found, expected) and len(written() - known) <= 1
    numbers = ph.particle(force=other).parameters
    assert {3.5, 0.35} <= {*numbers.tolist()}


def test_members_of_a_body_with_such_numbers():
    def make(k):
        return lambda t, q, omega, p: (-k * p[0] * omega[0], -k * omega[1], p[0] * omega[2])

    for k in (0.5, 0.75):
        body = ph.rigid_body((1.0, 2.0, 3.0), torque=make(k), parameters=[0.3])
        one = ph.integrate(body, "v2", **STEPS)
        several = ph.ensemble(body, "v2", members=8, **STEPS)
        assert np.array_equal(several.angular_velocity[3], one.angular_velocity)


def test_the_numbers_that_functions_are_handed_stay_the_last_ones():
    def make(k):
        return lambda t, q, omega, p: (-k * omega[0], p[-1], 0.1)

    def turned(t, position, velocity, q, omega, p):
        return omega[0] - p[-1] - 0.1 * len(p)

    for torque in (make(0.3), make(0.4)):
        body = ph.rigid_body((1.0, 2.0, 2.5), torque=torque, parameters=[0.2, 0.1])
        wanted = ph.integrate(body, "mkrk:cv8", events=[ph.events.user(turned)], **STEPS)
        assert np.isclose(wanted.event_angular_velocity[0, 0], 0.3, 0.0, 1e-9)
        prepared = ph.prepare(body, "mkrk:cv8", step=0.05, steps=20)
        for given in (None, [0.2, 0.1], [0.2, 0.15]):
            found = prepared.run({"angular_velocity": (1.0, 2.0, 3.0)}, parameters=given).angular_velocity
            assert np.array_equal(found, wanted.angular_velocity) == (given != [0.2, 0.15])


def test_a_number_costs_little_memory():
    def make(k):
        return lambda t, q, omega, p: (-k * omega[0], -k * omega[1], -0.3 * k * omega[2])

    def several(first):
        for n in range(50):
            run({"torque": make(first + 0.01 * n)})

    several(1.5)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    several(2.5)
    gc.collect()
    kept = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept < 50 * 10 * 1024
