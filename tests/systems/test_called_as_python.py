"""Functions that loops call as plain Python: one compiled role for all functions of a form, and what is behind it."""

import gc
import threading
import warnings

import numpy as np
import pytest
from numba.core.errors import NumbaError
from numpy.testing import assert_allclose, assert_array_equal

import polhode as ph
from polhode.errors import SlowFunctionWarning, UserFunctionError
from polhode.kernel import direct, jit
from polhode.kernel.signatures import LOADS
from polhode.kernel.source import Unsupported
from polhode.systems.loads_roles import loads_behind, loads_between
from polhode.systems.user.function import one_call

pytestmark = [
    pytest.mark.skipif(jit.disabled(), reason="nothing is compiled"),
    pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning"),
]
START = {"angular_velocity": (1.0, 2.0, 3.0)}


def torque_of(size, log):
    """A torque that is called as it is, for it leaves something behind."""

    def torque(t, q, omega, parameters):
        log.append(t)
        return (-size * omega[0], 0.1 * parameters[0], size * q[1])

    return torque


def traced_of(size):
    return lambda t, q, omega, parameters: (-size * omega[0], 0.1 * parameters[0], size * q[1])


def body(torque, **more):
    return ph.rigid_body([1.0, 2.0, 3.0], torque=torque, parameters=[0.5], **more)


def last(system, method="v2", **how):
    ds = ph.integrate(system, method, step=0.05, steps=20, **START, **how)
    return ds.angular_velocity.values[-1]


@pytest.fixture
def nothing_compiled(monkeypatch):
    def begin():
        monkeypatch.setattr(direct, "compiled", None)
        monkeypatch.setattr(jit, "compile_uncached", None)

    return begin


def test_another_function_of_a_form_compiles_nothing(nothing_compiled):
    first = last(body(torque_of(0.1, [])))
    nothing_compiled()
    log = []
    other = last(body(torque_of(0.3, log)))
    assert len(log) > 20
    again = last(body(torque_of(0.1, [])))
    assert_array_equal(again, first)
    assert np.abs(other - first).max() > 1e-3


def test_it_gives_the_numbers_of_the_traced_function():
    for size in (0.1, 0.3):
        assert_allclose(last(body(torque_of(size, []))), last(body(traced_of(size))), rtol=1e-13)


def test_more_functions_at_a_time_than_a_role_has_places():
    sizes = np.linspace(0.0, 1.0, direct.PLACES + 3)
    systems = [body(torque_of(size, [])) for size in sizes]
    found = [last(one) for one in systems]
    assert_array_equal(found, [last(one) for one in systems])  # all of them are alive, each with its own
    assert_allclose(found, [last(body(traced_of(size))) for size in sizes], rtol=1e-13)
    taken = sum(direct.PLACES - len(free) for free in jit._places.values())
    assert taken >= len(sizes)
    del systems
    gc.collect()
    assert sum(direct.PLACES - len(free) for free in jit._places.values()) <= taken - len(sizes)


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ZeroDivisionError, SystemExit])
def test_exceptions_are_those_of_the_function(problem):
    log = []

    def torque(t, q, omega, parameters):
        log.append(t)
        if t > 0.4:
            raise problem("enough")
        return (0.0, 0.0, 0.0)

    if issubclass(problem, Exception):
        with pytest.raises(UserFunctionError, match=r"'torque' .* raised ZeroDivisionError: enough") as told:
            last(body(torque))
        assert type(told.value.__cause__) is problem
    else:
        with pytest.raises(ph.errors.Interrupted if problem is KeyboardInterrupt else problem):
            last(body(torque))
    assert_allclose(last(body(torque_of(0.1, []))), last(body(traced_of(0.1))), rtol=1e-13)  # and goes on


def test_threads_that_call_functions_of_one_form():
    sizes, found = np.linspace(0.1, 0.8, 6), {}
    systems = {size: body(torque_of(size, [])) for size in sizes}

    def run(size):
        found[size] = [last(systems[size]) for _ in range(5)]

    threads = [threading.Thread(target=run, args=(size,)) for size in sizes]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for size in sizes:
        assert_allclose(found[size], [last(body(traced_of(size)))] * 5, rtol=1e-13)


TWICE = """
import json, warnings
import polhode as ph
from polhode.kernel import direct

if AGAIN:
    direct.compiled = None
log = []

def torque(t, q, omega, parameters):
    log.append(AGAIN)
    return (-0.1 * omega[0], 0.0, 0.0)

warnings.simplefilter("ignore")
ph.integrate(ph.rigid_body([1, 2, 3], torque=torque), "v2", step=0.1, steps=5, angular_velocity=(1, 2, 3))
print(json.dumps(len(log)))
"""


def test_a_second_process_compiles_nothing(tmp_path, forked):
    found = []
    for again in (False, True):
        path = tmp_path / f"asks_{again}.py"
        path.write_text(f"AGAIN = {again}\n{TWICE}")
        found.append(forked(f"import runpy\nrunpy.run_path({str(path)!r})", POLHODE_CACHE_DIR=str(tmp_path / "cache")))
    assert found[0] == found[1] > 5


# ------------------------------------------------------------------ roles in which they are called
def by_numba(t, position, velocity, q, omega, parameters, states):
    a = np.zeros((3, 3))
    for k in range(3):
        a[k, k] = 2.0 + 0.0 * omega[k]
    return (0.0, 0.0, 0.0), tuple(np.linalg.solve(a, np.array([states.u[0], states.u[1], states.u[2]])))


def as_program(t, position, velocity, q, omega, parameters, states):
    return (0.0, 0.0, 0.0), 0.5 * states.u


def steered(load, log):
    def command(t, position, velocity, q, omega, parameters, states):
        log.append(t)
        return -0.3 * np.asarray(omega)

    def clear(t, position, velocity, q, omega, parameters, states):
        return -0.3 * omega

    chosen = clear if log is None else command
    control = ph.controller(chosen, every=0.1, sets="u")
    return ph.rigid_body([1.0, 2.0, 3.0], load=load, states={"u": [0.0] * 3}, controllers=[control], mass=1.0)


@pytest.mark.parametrize("method", ["v2", "mkrk:gauss4"])
def test_controllers_beside_loads_of_each_kind(method):
    log, logs = [], []

    def logging(*given):
        logs.append(given[0])
        return as_program(*given)

    wanted = last(steered(as_program, None), method)
    for load in (as_program, by_numba):
        log.clear()
        assert_allclose(last(steered(load, log), method), wanted, rtol=1e-12)
        assert len(log) == 11
    assert_allclose(last(steered(logging, None), method), wanted, rtol=1e-12)
    assert_allclose(last(steered(logging, log), method), wanted, rtol=1e-12)
    assert logs


def test_breaks_are_seen_by_functions():
    def torque(t, q, omega, parameters):
        times.append(t)
        return (0.0, 1.0 if t < 0.52 else -1.0, 0.0)

    times = []
    found = last(body(torque), breaks=[0.52])
    clear = last(body(lambda t, q, omega, parameters: (0.0, np.where(t < 0.52, 1.0, -1.0), 0.0)), breaks=[0.52])
    assert_allclose(found, clear, rtol=1e-13)
    assert min(abs(t - 0.52) for t in times) < 1e-12


# ------------------------------------------------------------------ what cannot be
def test_a_role_with_something_behind_it_is_bound_into_nothing():
    role = body(torque_of(0.1, [])).compiled_loads(0.0, np.array([0.0] * 6 + [1.0] + [0.0] * 7))
    with pytest.raises(NumbaError, match="alone"):
        jit.compile_kernel(jit.bind(loads_between, loads=role, at=0), LOADS)


def reads_behind(part, t, N, y, bodies, parameters, out):
    out[0] = float(jit.data_behind()[0])


@pytest.mark.parametrize("how", [{"lanes": 8}, {"directions": 3}])
def test_neither_lanes_nor_derivatives_call_python(how):
    with pytest.raises(Unsupported, match="Python called from a loop"):
        jit.compile_kernel(reads_behind, LOADS, **how)


def fails(part, t, N, y, bodies, parameters, out):
    if t > 0.0:
        raise ArithmeticError("not here")


def test_exceptions_of_roles_behind_a_role_are_its_own():
    behind = jit.compile_uncached(fails, LOADS)[0]
    role, numbers = jit.closed(jit.bind(loads_behind, at=0), LOADS, [behind]), np.zeros(20)
    one_call[LOADS](role, 0.0, *[numbers] * 4)
    with pytest.raises(ArithmeticError, match="not here"):
        one_call[LOADS](role, 1.0, *[numbers] * 4)


def test_the_warning_is_told():
    with pytest.warns(SlowFunctionWarning, match="runs as Python, slower by far"), warnings.catch_warnings():
        warnings.simplefilter("always")
        last(body(torque_of(0.1, [])))
