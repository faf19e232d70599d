"""Systems that cannot be changed, parameters of a run, and functions that are compiled once for all systems."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import types
import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import polhode as ph
from cover import some
from each import each
from each_system import EVERY, driven, torque
from polhode import forces
from polhode.errors import InvalidInput
from polhode.kernel import cache, jit
from polhode.kernel.later import Helper
from polhode.systems.loads_roles import no_loads
from polhode.systems.record import System

METHOD = "mkrk:rk4"
PACE = {"step": 0.05, "steps": 12}
START = {"attitude": (0.5, 0.5, -0.5, 0.5), "angular_velocity": (0.3, -0.2, 1.1)}
FLIGHT = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 0.8, 0.3)}
compiling = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")


def run(system, method=METHOD, **more):
    return ph.integrate(system, method, **(PACE | START | more))


# ------------------------------------------------------------------ nothing of a system can be changed
def reached(value, path="system", seen=None):
    """Every array, dict and list that can be reached from a system, with the way to it."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray | dict | list):
        yield path, value
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list | tuple):
        inner = enumerate(value)
    elif type(value).__module__.startswith("polhode.systems"):
        inner = [(k, v) for k, v in vars(value).items() if not k.startswith("_")]
    else:
        return
    for key, one in inner:
        yield from reached(one, f"{path}.{key}", seen)


@each("name", EVERY)
def test_nothing_that_can_be_reached_can_be_changed(name):
    system = EVERY[name]()
    found = list(reached(system))
    assert {"system.arguments", "system.parameters", "system.mass"} <= {path for path, _ in found}
    for path, value in found:
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable, path
        elif isinstance(value, dict):
            with pytest.raises(InvalidInput, match="cannot be changed"):
                value["new"] = 1.0
            with pytest.raises(InvalidInput, match="cannot be changed"):
                value |= {"new": 1.0}
            with pytest.raises(InvalidInput, match="cannot be changed"):
                value.clear()
        else:
            with pytest.raises(InvalidInput, match="cannot be changed"):
                value.append(1.0)
            with pytest.raises(InvalidInput, match="cannot be changed"):
                value.sort()
    with pytest.raises(AttributeError):
        system.parameters = np.zeros(3)
    json.dumps(system.arguments)


@each("made", [ph.reaction_wheels(np.eye(3), 0.01, imbalance=1e-6, positions=np.eye(3)),
               ph.control_moment_gyros(np.eye(3), np.eye(3)[[1, 2, 0]], 0.5, max_rate=1.0)])  # fmt: skip
def test_what_rotors_hold_cannot_be_changed(made):
    """What follows from it is kept, and would be that of before."""
    arrays = [one for one in vars(made).values() if isinstance(one, np.ndarray)]
    assert len(arrays) >= 4
    for one in arrays:
        with pytest.raises(ValueError, match="read-only"):
            one[...] = 7.0


def test_what_a_system_was_made_from_stays_the_callers():
    values, inertia = np.array([0.7, -1.3]), np.array([1.0, 2.0, 2.5])
    system = driven(values, inertia)
    values[:], inertia[:] = 99.0, 99.0
    np.testing.assert_array_equal(system.parameters, [0.7, -1.3])
    assert system.arguments["inertia"] == [1.0, 2.0, 2.5]
    with pytest.raises(ValueError, match="read-only"):
        system.parameters[0] = 5.0


def test_systems_are_copied_and_pickled():
    system = driven()
    first = run(system)
    for again in (copy.deepcopy(system), pickle.loads(pickle.dumps(driven())), copy.copy(system)):
        assert run(again).identical(first)
        with pytest.raises(InvalidInput, match="cannot be changed"):
            again.arguments["inertia"][0] = 3.0


# ------------------------------------------------------------------ parameters of a run
def test_numbers_for_the_users_functions(tmp_path):
    built, other = driven(), driven((0.2, 0.4))
    expected = run(other)
    found = run(built, parameters=(0.2, 0.4))
    assert expected.equals(found) and not expected.equals(run(built))
    assert json.loads(found.attrs["run"])["system"] == json.loads(expected.attrs["run"])["system"]
    assert ph.rerun(found, torque=torque).identical(found)
    ph.save(found, tmp_path / "run.nc")
    assert ph.rerun(ph.load(tmp_path / "run.nc"), torque=torque).equals(found)
    assert run(built, parameters={"parameters": [0.2, 0.4], "inertia": (1.0, 2.0, 2.5)}).equals(expected)


NAMED = {
    "heavy_top": ({"weight": 3.0}, START),
    "particle": ({"stiffness": [3.0, 2.0, 1.0], "mass": 0.5}, FLIGHT),
    "orbit": ({"mu": 1.1, "forces": [forces.zonal(J2=0.01, radius=0.5)]}, FLIGHT),
    "spacecraft": ({"mu": 1.1, "parameters": [0.3, 0.4]}, START | FLIGHT),
}


@each("name", NAMED)
def test_parameters_by_name(name):
    """The run is that of a system built so, and both are repeated from what they record."""
    changes, start = NAMED[name]
    system = EVERY[name]()
    functions = {key: one.function for key, one in system.functions.items()}
    changed = ph.systems.SYSTEMS[name](**{**system.arguments, **functions, **changes})
    found = ph.integrate(system, METHOD, **PACE, **start, parameters=changes)
    assert found.equals(ph.integrate(changed, METHOD, **PACE, **start))
    assert not found.equals(ph.integrate(system, METHOD, **PACE, **start))
    assert ph.rerun(found, **functions).identical(found)


def test_live_stores_keep_parameters(tmp_path):
    """A run that was stopped goes on with its own parameters, from its recipe alone or with the system handed in."""

    def stop(progress):
        if progress.stage == "running" and progress.done:
            raise KeyboardInterrupt

    whole = run(driven(), step=1e-3, steps=40_000, every=2_000, parameters=(0.2, 0.4))
    by_hand = replace(hand_made(), parameters=np.array([2.0]))
    for name, system, more, again in (
        ("a", driven(), {"parameters": (0.2, 0.4)}, {"torque": torque}),
        ("b", hand_made(), {"parameters": [2.0]}, {"system": hand_made()}),
    ):
        path = tmp_path / f"{name}.zarr"
        with pytest.raises(ph.errors.Interrupted):
            run(system, step=1e-3, steps=40_000, every=2_000, store=path, progress=stop, **more)
        resumed = ph.resume(path, **again)
        assert resumed.sizes["time"] == 21
        if name == "a":
            assert resumed.equals(whole)
        else:
            assert resumed.equals(run(by_hand, step=1e-3, steps=40_000, every=2_000))


def leaning(part, t, N, y, bodies, parameters, out):
    out[0] = out[1] = out[2] = out[3] = out[4] = 0.0
    out[5] = parameters[0]


def hand_made():
    return System(
        name="leaning", arguments={}, mass=np.array([np.inf]), moments=np.array([[1.0, 2.0, 2.5]]),
        frames=np.array([(1.0, 0.0, 0.0, 0.0)]), loads=leaning, provides={"velocity_independent"},
        parameters=np.array([1.0]),
    )  # fmt: skip


def test_parameters_of_a_system_built_by_hand():
    found = run(hand_made(), parameters=[2.0])
    assert found.equals(run(replace(hand_made(), parameters=np.array([2.0]))))
    with pytest.raises(InvalidInput, match="no function of polhode builds the system 'leaning'; give its 1 parameters"):
        run(hand_made(), parameters={"a": 1.0})


@each(
    "system, parameters, sentence",
    [
        ("rigid_body", [1.0], r"parameters has 1 numbers, but the system was built with 2; give as many"),
        ("rigid_body", {"parameters": [1.0, 2.0, 3.0]}, r"parameters has 3 numbers"),
        ("rigid_body", {"torque": torque}, r"unknown parameter of rigid_body 'torque'"),
        ("rigid_body", [np.nan, 1.0], r"parameters is not finite"),
        ("heavy_top", [1.0], r"heavy_top has no function that takes numbers; give parameters as a mapping by name, of "
                             r"inertia, center_of_mass, weight"),
        ("heavy_top", {"weigt": 1.0}, r"unknown parameter of heavy_top 'weigt'.*weight"),
        ("heavy_top", {"mass": 1.0}, r"weight and mass are both given"),
        ("heavy_top", {"inertia": (1.0, 1.0, 9.0)}, r"inertia"),
        ("heavy_top", 3.0, r"give parameters as a mapping"),
        ("heavy_top", {"weight": [1.0, 2.0]}, r"weight is one number in a run.*members={'weight': ...}"),
        ("orbit", {"forces.0.J2": np.ones(2)}, r"forces.0.J2 is one number in a run.*members={'forces.0.J2': ...}"),
    ],
)  # fmt: skip
def test_parameters_that_cannot_be(system, parameters, sentence):
    with pytest.raises(InvalidInput, match=sentence):
        run(EVERY[system](), parameters=parameters)


# ------------------------------------------------------------------ compiled once
def spinning(k):
    def torque(t, q, omega, parameters):
        return (0.0, 0.0, k)

    return torque


def test_functions_with_other_numbers_in_them_are_others():
    """Of one code, but each with its own number: in a closure, as a default, as a global, in a module, in a helper."""
    config = types.ModuleType("config")

    def made(kind, k):
        if kind == "closure":
            return spinning(k)
        names = {"config": config, "k": k}
        config.k = k
        source = {
            "default": f"def torque(t, q, omega, parameters, k={k!r}):\n    return (0.0, 0.0, k)",
            "global": "def torque(t, q, omega, parameters):\n    return (0.0, 0.0, k)",
            "module": "def torque(t, q, omega, parameters):\n    return (0.0, 0.0, config.k)",
            "helper": "def helper():\n    return k\n\ndef torque(t, q, omega, parameters):\n"
            "    return (0.0, 0.0, helper())",
            "array": "def torque(t, q, omega, parameters):\n    return (0.0, 0.0, a[1])",
        }[kind]
        if kind == "helper" and not jit.disabled():
            from numba import njit

            exec("def helper():\n    return k", names)
            names["helper"] = njit(names["helper"])
            source = source.split("\n\n")[1]
        names["a"] = np.array([0.0, k])
        exec(source, names)
        return names["torque"]

    for kind in ("closure", "default", "global", "module", "helper", "array"):
        for k in (1.0, 2.0, 1.0):
            system = ph.rigid_body((1, 1, 1), torque=made(kind, k))
            ds = ph.integrate(system, METHOD, step=0.1, steps=2)
            assert float(ds.angular_momentum[-1, 2]) == pytest.approx(0.2 * k, rel=1e-15), kind


def test_a_function_that_reads_what_has_changed_is_another():
    """Of one system, too: what a compiler has frozen into it is not what the function says now."""
    names = {"k": 1.0}
    exec("def torque(t, q, omega, parameters):\n    return (0.0, 0.0, k)", names)
    system = ph.rigid_body((1, 1, 1), torque=names["torque"])
    for k in (1.0, 3.0, 1.0):
        names["k"] = k
        ds = ph.integrate(system, METHOD, step=0.1, steps=2)
        assert float(ds.angular_momentum[-1, 2]) == pytest.approx(0.2 * k, rel=1e-15)


def potential(t, position, q, parameters):
    return parameters[0] * (position[0] + q[1])


MANY = {
    "torque": (lambda k, M: ph.rigid_body(M, torque=torque, parameters=(0.7, k)), START),
    "parameters of a run": (lambda k, M: driven(), START),
    "python": (lambda k, M: ph.rigid_body(M, torque=slow, parameters=(0.7, k)), START),
    "spacecraft": (lambda k, M: ph.spacecraft(M, 1.0 + k, potential=potential, parameters=[k]), START | FLIGHT),
    "particle": (lambda k, M: ph.particle(1.0 + k, force=lambda t, r, v, p: (-r[0], -r[1], -p[0] * v[2]),
                                          parameters=[k]), FLIGHT),
    "built-in": (lambda k, M: ph.heavy_top(M, (0, 0, 1), weight=k), START),
}  # fmt: skip


def slow(t, q, omega, parameters):
    try:  # of which nothing is compiled
        return parameters[1], 0.0, 0.0
    except KeyError:
        return 0.0, 0.0, 0.0


def sample(name, k, events=False):
    """A run of one of many systems, all with another tensor of inertia, other parameters and other frames."""
    make, start = MANY[name]
    turn = ph.rotation.exp_matrix((0.1 * k + 0.1, 0.2, 0.3))
    system = make(0.1 * k, turn @ np.diag((1.0, 1.2 + 0.001 * k, 1.5)) @ turn.T)
    more = {"parameters": (0.1, 0.1 * k)} if name == "parameters of a run" else {}
    if events:
        more["events"] = [ph.events.user(crossing)]
    return ph.integrate(system, METHOD, step=0.05, steps=2, **start, **more)


def crossing(t, position, velocity, q, omega, parameters):
    return omega[0] - 10.0


@compiling
@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
@each("name", MANY)
def test_nothing_is_compiled_for_the_next_of_many(name, monkeypatch):
    sample(name, 1, True)
    recorded = []
    with monkeypatch.context() as listening:
        listening.setattr(cache, "listeners", [recorded.append])
        ends = {float(np.sum(sample(name, k, True).energy_change)) for k in range(2, 6)}
    assert not recorded and len(ends) == 4


@compiling
@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
@pytest.mark.parametrize("name", some(MANY, 1))
def test_memory_is_that_of_one_system(name):
    """Nothing of a system is left when it is gone: no compiled function, no memory beyond the noise."""
    for k in range(3):
        sample(name, k)

    def left():
        gc.collect()
        kinds = Counter(map(type, gc.get_objects()))
        return sum(count for kind, count in kinds.items() if issubclass(kind, Dispatcher | Helper)), resident()

    grown = []
    for _ in range(3):  # what leaks does so every time; what else a process holds on to does not
        functions, memory = left()
        for k in range(30):
            last = weakref.ref(sample(name, k))
        after, now = left()
        assert last() is None and after <= functions
        grown.append(now - memory)
        if grown[-1] < 30 * 50e3:
            break
    assert min(grown) < 30 * 50e3, grown


def resident():
    """Bytes of memory of this process; 0 where nothing tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


def test_no_loads_is_one_function():
    assert ph.free_body((1, 2, 3)).loads is no_loads
