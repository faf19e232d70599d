"""Users' functions that cannot be traced are compiled with all they call, and their indices are checked."""

from __future__ import annotations

import importlib.util
import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import polhode as ph
from cover import chosen
from each import each
from polhode.kernel import direct, jit, source
from polhode.systems.user import chosen as of_users

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

THERE = {"position": (0.3, 0.1, 0.1), "velocity": (1.0, -0.4, 0.2)}
EULER = "forward_euler"


def in_python(force, steps=40, step=0.05, parameters=()):
    """Where Euler's method leads, in plain Python."""
    x, v = np.array(THERE["position"]), np.array(THERE["velocity"])
    for k in range(steps):
        F = np.array(force(k * step, x, v, np.array(parameters, dtype=float)))
        x, v = x + step * v, v + step * F
    return x


def run(force, steps=40, parameters=(), **more):
    system = ph.particle(force=force, parameters=parameters, work=False)
    return ph.integrate(system, EULER, step=0.05, steps=steps, settings={"guard": False}, **THERE | more)


# ------------------------------------------------------------------ what a function calls
GAIN = 0.7


def bump(a):
    return a * math.exp(-a * a)


def deep(a, power=2):
    return bump(a) + GAIN * a**power


def summed(n, a):
    total = 0.0
    for _ in range(n):
        total += 0.1 * deep(a)
        if total > 0.5:
            break
    return total


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def halved(a):
    """Which cannot be traced: it halves as often as the number says."""
    while abs(a) > 1.0:
        a = 0.5 * a
    return a


def by_name(t, x, v, p):
    return (summed(int(3 + abs(x[1])), halved(x[0])), -0.1 * deep(x[1], power=3), -0.01 * factorial(int(abs(x[2])) + 2))


def in_closures():
    scale = 0.3

    def inner(a):
        return scale * bump(a)

    def outer(a):
        return inner(a) + inner(2.0 * a)

    return lambda t, x, v, p: (outer(halved(x[0])), outer(x[1]), 0.0)


def turned(t, x, v, p):
    q = np.array([1.0, 0.1 * halved(x[0]), 0.2, -0.1 * t])
    return -0.1 * ph.rotation.rotate(q, x)


def turned_in_all_ways(t, x, v, p):
    q = np.array([1.0, 0.1 * halved(x[0]), 0.2, -0.1 * t])
    r = ph.rotation.rotate(q, x) + ph.rotation.rotate_inverse(q, np.array([1.0, 0.2, 0.1]))
    u = ph.rotation.multiply(ph.rotation.conjugate(q), ph.rotation.normalize(q))
    R, w = ph.rotation.matrix_from_quaternion(q), ph.rotation.log_quaternion(ph.rotation.exp_quaternion(0.1 * x))
    return np.array([-0.1 * r[0] + u[0], R[0, 1] - w[1], 0.1 * ph.rotation.angle_between(q, u)])


def in_a_module(tmp_path):
    (tmp_path / "laws_of_mine.py").write_text(
        "import math\nSTIFFNESS = 0.4\n\ndef pull(a):\n    return -STIFFNESS * spring(a)\n\n"
        "def spring(a):\n    return math.sinh(a)\n"
    )
    spec = importlib.util.spec_from_file_location("laws_of_mine", tmp_path / "laws_of_mine.py")
    laws = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(laws)
    return lambda t, x, v, p: (laws.pull(halved(x[0])), -laws.STIFFNESS * x[1], laws.spring(x[2]))


class Law:
    exponent = 2

    def __init__(self, gain):
        self.gain, self.table, self.rest = gain, np.array([1.0, 2.0, 3.0]), SimpleNamespace(scale=0.2)

    @property
    def doubled(self):
        return 2.0 * self.gain

    def pull(self, a):
        return -self.gain * self.spring(a, self.rest.scale)

    def spring(self, a, scale):
        return scale * bump(a)


FIRST, SECOND = Law(0.5), Law(0.7)


def of_two_laws(t, x, v, p):
    return (
        FIRST.pull(halved(x[0])) + 0.1 * FIRST.table[1],
        SECOND.pull(x[1]) - SECOND.doubled * x[1],
        Law.exponent * 0.1,
    )


def of_several(tmp_path):
    """One function that calls by name, in closures, in a module, methods of objects and rotations."""
    closed, of_module = in_closures(), in_a_module(tmp_path)

    def force(t, x, v, p):
        a, b, c, d = by_name(t, x, v, p), closed(t, x, v, p), of_module(t, x, v, p), of_two_laws(t, x, v, p)
        e = turned(t, x, v, p)
        return (a[0] + b[0] + c[0] + d[0] + e[0], a[1] + b[1] + c[1] + d[1] + e[1], a[2] + c[2] + d[2] + e[2])

    return force


KINDS = {"by name": by_name, "in closures": in_closures(), "of objects": of_two_laws, "of rotations": turned,
         "of all rotations": turned_in_all_ways}  # fmt: skip


@each("kind", chosen([*KINDS, "in a module", "of several"], ["of several"]))
def test_what_a_function_calls_is_compiled_with_it(kind, tmp_path):
    force = KINDS.get(kind) or (in_a_module if kind == "in a module" else of_several)(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = run(force).position[-1].values
    assert found == pytest.approx(in_python(force), rel=1e-13)


def test_a_helper_that_changes_is_compiled_anew():
    kept = {"factor": 1.0}

    def make(factor):
        def inner(a):
            return factor * a

        kept["factor"] = factor
        return lambda t, x, v, p: (inner(halved(x[0])), 0.0, 0.0)

    ends = [run(make(factor)).position[-1].values for factor in (0.5, -0.5)]
    assert abs(ends[0] - ends[1]).max() > 0.1
    for factor, end in zip((0.5, -0.5), ends, strict=True):
        assert end == pytest.approx(in_python(make(factor)), rel=1e-13)


def test_an_attribute_that_changes_is_seen_where_it_is_read_late():
    law = Law(0.5)

    def late(t, x, v, p):
        return (law.gain * halved(x[0]) if t > 1.0 else 0.0, 0.0, 0.0)

    ends = []
    for gain in (0.5, -0.5):
        law.gain = gain
        ends.append(run(late).position[-1].values)
        assert ends[-1] == pytest.approx(in_python(late), rel=1e-13)
    assert abs(ends[0] - ends[1]).max() > 0.1


# ------------------------------------------------------------------ indices
WEIGHTS = (1.0, 2.0, 3.0)
LEVELS = np.array([1.0, 2.0, 3.0])


def written_to(t, x, v, p):
    F = np.zeros(3)
    F[int(t)] = 0.01
    return F


def parameter(t, x, v, p):
    return (p[int(t)], 0.0, 0.0)


def from_the_end(t, x, v, p):
    return (p[-1 - int(t)], 0.0, 0.0)


def of_a_slice(t, x, v, p):
    return (p[1:][int(t) - 1] if t >= 1.0 else 0.0, 0.0, 0.0)


def of_a_tuple(t, x, v, p):
    return (WEIGHTS[int(t)], 0.0, 0.0)


def of_an_array(t, x, v, p):
    return (LEVELS[int(t)], 0.0, 0.0)


def entry(numbers, k):
    return numbers[k]


def in_a_helper(t, x, v, p):
    return (entry(p, int(t)), 0.0, 0.0)


USUAL, LONG = (written_to, from_the_end), (parameter, of_a_slice, of_a_tuple, of_an_array, in_a_helper)


@each(("force", "compiler"), [*((force, "") for force in USUAL), (in_a_helper, "numba"),
                              *(pytest.param(force, "", marks=pytest.mark.full) for force in LONG),
                              *(pytest.param(force, "numba", marks=pytest.mark.full) for force in USUAL + LONG[:-1])],
      ids=lambda one: getattr(one, "__name__", one))  # fmt: skip
def test_an_index_outside_is_the_users_own_index_error(force, compiler, monkeypatch):
    refused = []

    def refuse(*_, **__):
        refused.append(1)
        raise source.Unsupported("whatever it is")

    if compiler:
        whole, closed = direct.compiled, jit.closed

        def closed_by_ours(*given):  # numba compiles no role that calls Python
            with monkeypatch.context() as usual:
                usual.setattr(direct, "compiled", whole)
                return closed(*given)

        monkeypatch.setattr(jit, "closed", closed_by_ours)
        monkeypatch.setattr(direct, "compiled", refuse)
        monkeypatch.setattr(jit, "compiler", lambda: compiler)  # no kernel from the disk
    of_users._compiled.cache_clear()
    told = rf"'{force.__name__}' .*raised IndexError: .* (out of bounds|out of range)"
    with pytest.raises(ph.errors.UserFunctionError, match=told) as e:
        run(force, steps=100, parameters=[0.1, 0.2, 0.3])
    assert type(e.value.__cause__) is IndexError and e.value.step == 60 and e.value.time == pytest.approx(3.0)
    assert bool(refused) == bool(compiler)


# ------------------------------------------------------------------ what can be neither
def spelled(t, x, v, p):
    return (-x[0], 0.01 * len(f"{x[1]:.3f}".split(".")), 0.0)


def test_the_warning_names_what_tracing_could_not_take():
    told = r"'spelled' .* times slower \(tracing: it makes a string .*\(test_compilable.py:\d+\); compiling: .+\)"
    with pytest.warns(ph.errors.SlowFunctionWarning, match=told):
        run(spelled, steps=2)
