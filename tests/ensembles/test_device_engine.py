"""The engine of devices, over a driver that is none, and what it says where it cannot be."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from cover import some
from device_runs import RunOf
from each import each
from fake_cuda import FakeCuda
from polhode.algebra.library import LIBRARY
from polhode.ensembles import cuda, device as engines
from polhode.ensembles.engines import Block, ThreadsEngine
from polhode.errors import InvalidInput, SlowFunctionWarning
from polhode.kernel import device, jit, layout as L
from polhode.kernel.many import TOO_MANY_STEPS
from polhode.runs.request import requested
from polhode.runs.variable_steps import AdaptiveRun

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
KINDS = [ctypes.c_int64, *(ctypes.c_double if k is device.FLOAT else ctypes.c_int64 for k in device.ARGUMENTS)]


@functools.cache
def top():
    return ph.heavy_top(inertia=(3, 2, 1), center_of_mass=(0, 0, 1), weight=20.0)


@functools.cache
def simulated(chosen):
    return device.Simulated(engines.loop_of(RunOf(top(), chosen).integrator), LIBRARY)


def engine(chosen="v2/mr", **words):
    """An engine on a device that is none, and its driver."""
    library = FakeCuda(simulated(chosen), KINDS, **words)
    return engines.engine_for(RunOf(top(), chosen), on=cuda.Device(library)), library


def block_of(members, n, every, chosen="v2/mr", own=False):
    bench = RunOf(top(), chosen).integrator
    states = np.repeat(bench.y[None], members, 0)
    states[:, L.ANGULAR : L.ANGULAR + 3] = np.random.default_rng(3).normal(size=(members, 3)) + (0, 0, 5)
    R = 1 + -(-n // every)
    bodies, parameters = bench.bodies[None], np.array(top().parameters, dtype=float)[None]
    if own:
        bodies, parameters = np.repeat(bodies, members, 0), np.repeat(parameters, members, 0)
        bodies[:, L.INVERSE_INERTIA] *= np.linspace(1.0, 1.5, members)
        parameters *= np.linspace(1.0, 2.0, members)[:, None]
    return bench, Block(
        states, bodies, bench.frames[None], parameters, 0.5, 0.01, n, every,
        np.full((members, R, states.shape[1]), 7.0),
        np.full((members, R), -7), np.full(members, -1), np.zeros(members, np.int64),
    )  # fmt: skip


def expected(bench, block, k):
    """Rows of member k by the loop of runs."""
    pick = lambda a: a[k if len(a) > 1 else 0]  # noqa: E731
    bench.bodies[:], bench.parameters[: block.parameters.shape[1]] = pick(block.bodies), pick(block.parameters)
    bench.y[:] = block.states[k]
    whole, rest = divmod(block.n, block.every)
    rows = np.zeros((whole + bool(rest), bench.y.size))
    assert bench.prepare(block.t0, block.h) == L.OK
    marched = bench.march(0, whole * block.every, block.every, block.t0, block.h, rows, np.zeros(whole, np.int64))
    assert marched == L.OK
    if rest:
        first = whole * block.every
        bench.march(first, rest, block.n, block.t0, block.h, rows[-1:], np.zeros(1, np.int64))
    return np.concatenate([block.states[k : k + 1], rows])


@functools.cache
def simulated_adaptive(chosen, **words):
    run = adaptive_run(chosen)
    return device.Simulated(engines.loop_of(run.integrator, True), LIBRARY)


def adaptive_run(chosen, rtol=1e-9, **words):
    given = {"steps": ph.Tolerance(rtol, **words), "t_end": 1.0, "start": {"angular_velocity": (0.1, 0.2, 5.0)}}
    return AdaptiveRun(requested(top(), chosen, given))


@pytest.mark.parametrize("chosen", some(["mkrk:dp5", "taylor"], 1))
def test_steps_of_chosen_size(chosen, monkeypatch):
    run = adaptive_run(chosen)
    kinds = [ctypes.c_int64, *(ctypes.c_double if k is device.FLOAT else ctypes.c_int64
                               for k in device.ADAPTIVE_ARGUMENTS)]  # fmt: skip
    library = FakeCuda(simulated_adaptive(chosen), kinds)
    made = engines.engine_for(run, on=cuda.Device(library))
    samples = np.array([0.0, 0.3, 0.31, 1.0])
    states = np.repeat(run.integrator.y[None], 4, 0)
    states[:, L.ANGULAR] += np.arange(4)
    states[3, L.ANGULAR] = math.nan
    own = run.integrator
    monkeypatch.setattr(engines, "ATTEMPTS", 2)

    def taken(engine, part=slice(None)):
        M = len(states[part])
        block = Block(
            states[part], own.bodies[None].copy(), own.frames[None].copy(), np.array(top().parameters)[None], 0.0, 1.0,
            1, 1, np.zeros((M, 4, states.shape[1])), np.zeros((M, 4), np.int64), np.full(M, -1),
            np.zeros(M, np.int64), samples, np.zeros((M, 4)),
        )  # fmt: skip
        engine.run(block)
        return block

    found, wanted = taken(made), taken(ThreadsEngine(run))
    assert len(library.launched) > 3
    assert found.status.tolist() == wanted.status.tolist() == [L.OK, L.OK, L.OK, found.status[3]]
    assert found.status[3] != L.OK
    assert found.done[:3].tolist() == wanted.done[:3].tolist() == [4, 4, 4]
    np.testing.assert_allclose(found.rows[:3, :, :13], wanted.rows[:3, :, :13], rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.sizes[:3], wanted.sizes[:3], rtol=1e-4)
    assert not library.memory
    alone = taken(made, slice(1, 2))
    np.testing.assert_array_equal(alone.rows[0], found.rows[1])


def test_too_many_steps():
    run = adaptive_run("mkrk:dp5", max_steps=3)
    kinds = [ctypes.c_int64, *(ctypes.c_double if k is device.FLOAT else ctypes.c_int64
                               for k in device.ADAPTIVE_ARGUMENTS)]  # fmt: skip
    made = engines.engine_for(run, on=cuda.Device(FakeCuda(simulated_adaptive("mkrk:dp5"), kinds)))
    y = run.integrator.y[None].copy()
    block = Block(
        y, run.integrator.bodies[None], run.integrator.frames[None], np.array(top().parameters)[None], 0.0, 1.0, 1, 1,
        np.zeros((1, 2, y.size)), np.zeros((1, 2), np.int64), np.full(1, -1), np.zeros(1, np.int64),
        np.array([0.0, 1.0]), np.zeros((1, 2)),
    )  # fmt: skip
    made.run(block)
    assert block.status.tolist() == [TOO_MANY_STEPS]
    assert block.done.tolist() == [1]


def test_what_is_stopped_has_not_run():
    _, block = block_of(3, 10, 5)
    block.stopped = lambda: True
    engine()[0].run(block)
    assert block.status.tolist() == [-1, -1, -1]


def assert_close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-13)


@each(("n", "every", "own"), [(12, 4, False), (13, 4, True), (3, 5, False), (7, 1, True)])
def test_rows_are_those_of_runs(n, every, own):
    bench, block = block_of(5, n, every, own=own)
    made, library = engine()
    made.run(block)
    for k in range(5):
        assert_close(block.rows[k], expected(bench, block, k))
    assert block.status.tolist() == [L.OK] * 5
    assert block.done.tolist() == [n] * 5
    assert not library.memory and not library.pinned, "memory was not given back"
    assert block.iterations.tolist() == [[0] * block.rows.shape[1]] * 5
    assert made.name == "device" and "a fake device" in made.about


def test_what_a_kernel_takes_is_printed_by_the_benchmark():
    spec = importlib.util.spec_from_file_location("device", Path(__file__).parents[2] / "benchmarks" / "device.py")
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    assert benchmark.measured(engine()[0]) == {"registers": 156, "local_bytes": 0, "blocks": 3}


class Slow(engines.LaunchLength):
    """Launches of so many steps, which are as long as they are to be."""

    def took(self, steps, seconds):
        self.known = True


def test_launches_and_buffers_change_nothing(monkeypatch):
    _, whole = block_of(7, 40, 3)
    engine()[0].run(whole)
    monkeypatch.setattr(engines, "BUFFER", 400)
    monkeypatch.setattr(engines, "LaunchLength", lambda: Slow(6))
    _, parts = block_of(7, 40, 3)
    made, library = engine()
    made.run(parts)
    assert len(library.launched) > 12
    np.testing.assert_array_equal(parts.rows, whole.rows)
    np.testing.assert_array_equal(parts.done, whole.done)


def test_members_in_turns_where_memory_is_small():
    _, whole = block_of(300, 4, 4, own=True)
    engine()[0].run(whole)
    _, parts = block_of(300, 4, 4, own=True)
    made, library = engine(free=100_000)
    made.run(parts)
    assert {values[0] for values in library.launched} != {300}
    assert library.most <= 100_000
    np.testing.assert_array_equal(parts.rows, whole.rows)


def named(loop, architecture=device.ARCHITECTURE):
    """In the place of PTX, of which a device that is none reads the name alone."""
    return f".target {architecture}\n.entry {device.ENTRY}("


def test_processed_methods(monkeypatch):
    monkeypatch.setattr(engines, "ptx_for", named)
    bench, block = block_of(3, 6, 3, "p6_7/mr6")
    assert bench.prepared.processed
    engine("p6_7/mr6")[0].run(block)
    for k in range(3):
        assert_close(block.rows[k], expected(bench, block, k))


def test_a_member_that_fails_stops_nobody():
    bench, block = block_of(4, 10, 5)
    block.states[2, L.ANGULAR] = 1e4
    engine()[0].run(block)
    assert block.status.tolist() == [L.OK, L.OK, L.TOO_LARGE, L.OK]
    assert block.done.tolist() == [10, 10, 0, 10]
    for k in (0, 1, 3):
        assert_close(block.rows[k], expected(bench, block, k))


@each(
    ("n", "every", "most_rows", "most_steps"),
    [(10, 3, 2, 100), (10, 3, 9, 4), (10, 20, 1, 3), (9, 3, 2, 6), (5, 1, 2, 3)],
)
def test_launches_cover_all_steps_and_rows(n, every, most_rows, most_steps):
    made = list(engines.launches(n, every, most_rows, engines.LaunchLength(most_steps)))
    assert [one.first for one in made] == [0, *(one.last for one in made[:-1])]
    assert made[-1].last == n
    rows = [one.row + k for one in made for k in range(one.due)]
    assert rows == list(range(1, 1 + -(-n // every)))
    assert all(one.due <= most_rows for one in made)
    assert all(one.last - one.first <= max(most_steps, every) for one in made)


def test_the_length_of_launches():
    """Each time eight times as many steps until a launch takes long enough to be measured."""
    length, steps, cost = engines.LaunchLength(), [], 1e-4
    for launch in engines.launches(50_000, 10, 10**6, length):
        steps.append(launch.last - launch.first)
        if not length.known:
            length.took(steps[-1], cost * steps[-1])
    assert steps[:3] == [30, 250, 2500]
    assert all(one == 2500 for one in steps[3:-1])
    assert sum(steps) == 50_000
    slow = engines.LaunchLength()
    slow.took(32, 8.0)
    assert (slow.steps, slow.known) == (1, True)
    few = engines.LaunchLength()
    few.took(3, 1e-5)  # as there is no room for more rows
    assert (few.steps, few.known) == (32, True)


# ------------------------------------------------------------------ where there is none
def test_without_a_driver(monkeypatch):
    monkeypatch.setattr(cuda, "driver", lambda: None)
    assert (
        engines.engine_for(RunOf(top(), "v2/mr"))
        == f"there is no NVIDIA driver on this machine ({cuda.cuda_drivers()[0]} is not found)"
    )


def test_without_a_device(monkeypatch):
    library = FakeCuda(refuse={"cuInit": 100})
    monkeypatch.setattr(cuda, "driver", lambda: library)
    assert engines.engine_for(RunOf(top(), "v2/mr")) == "the NVIDIA driver of this machine does not start"


def test_the_driver_compiles_a_text_once():
    library = FakeCuda(simulated("v2/mr"), KINDS)
    on = cuda.Device(library)
    first, second = (engines.engine_for(RunOf(top(), "v2/mr"), on=on) for _ in range(2))
    assert library.loaded == 1
    assert first.function is second.function
    on.kernel(library.ptx, device.ENTRY, registers=64)
    assert library.loaded == 2
    assert library.options == {0: 64, 5: library.options[5], 6: 4096}


def test_without_compilation(monkeypatch):
    monkeypatch.setattr(cuda, "why_none", lambda: "")
    monkeypatch.setattr(jit, "disabled", lambda: True)
    why = "nothing is compiled in this process (NUMBA_DISABLE_JIT is set)"
    assert engines.engine_for(RunOf(top(), "exact")) == why


def test_a_function_that_runs_as_python():
    def torque(t, q, omega, parameters):
        try:  # of which nothing is compiled
            return (parameters[0] * omega[0], 0.0, 0.0)
        except KeyError:
            return (0.0, 0.0, 0.0)

    body = ph.rigid_body([2, 3, 4], torque=torque, parameters=[1.0])
    with pytest.warns(SlowFunctionWarning):
        said = engines.engine_for(RunOf(body, "v2/mr"), on=cuda.Device(FakeCuda()))
    assert isinstance(said, str)
    assert "is nothing for a device" in said


def test_what_is_nothing_for_a_device():
    on = cuda.Device(FakeCuda())
    earth = ph.planets.EARTH
    burn = ph.orbit(mu=earth.mu, forces=[ph.forces.impulse(10.0, 1.0, "velocity")])
    assert "breaks or events" in engines.engine_for(RunOf(burn, "rkn6_14a"), on=on)
    water = ph.rigid_water(64, density=997)
    assert "shared among threads" in engines.engine_for(RunOf(water, "v2"), on=on)


def test_a_function_that_devices_lack():
    def torque(t, q, omega, parameters):
        return (math.erf(omega[0]), 0.0, 0.0)

    body = ph.rigid_body([2, 3, 4], torque=torque, parameters=[1.0])
    said = engines.engine_for(RunOf(body, "v2/mr"), on=cuda.Device(FakeCuda()))
    assert isinstance(said, str)
    assert "'rigid_body' by 'v2/mr' is nothing for a device: a call of erf" in said


@each(
    ("refused", "words"),
    [
        ({"cuModuleLoadDataEx": 222}, "the NVIDIA driver is older than CUDA 12; update it"),
        ({"cuModuleLoadDataEx": 218}, "the driver cannot compile the code of the device: error 218"),
        ({"cuModuleGetFunction": 500}, "the device reports error 500, unknown error"),
    ],
)
def test_a_driver_that_refuses_the_code(refused, words):
    said = engines.engine_for(RunOf(top(), "v2/mr"), on=cuda.Device(FakeCuda(refuse=refused)))
    assert words in said
    assert "engine='threads'" in said


def test_errors_of_launches_give_memory_back():
    _, block = block_of(3, 4, 4)
    made, library = engine()
    library.refuse["cuLaunchKernel"] = 700
    with pytest.raises(cuda.DeviceProblem, match="700, an illegal memory access"):
        made.run(block)
    assert not library.memory and not library.pinned
    del library.refuse["cuLaunchKernel"]
    library.refuse["cuMemAllocHost_v2"] = 2
    with pytest.raises(cuda.DeviceProblem, match=r"memory .* is full \(cuMemAllocHost_v2\); record less"):
        made.run(block)
    assert not library.memory


@each(("capability", "architecture"), [((10, 0), "sm_90"), ((7, 5), "sm_75")])
def test_ptx_is_for_the_device(capability, architecture):
    made = engines.engine_for(RunOf(top(), "v2/mr"), on=cuda.Device(library := FakeCuda(capability=capability)))
    assert f".target {architecture}" in library.ptx
    assert made.device.architecture == architecture


# ------------------------------------------------------------------ the public call
@pytest.fixture
def a_device(monkeypatch):
    """A machine with a device: whatever loop is asked for is run by the simulator."""
    library = FakeCuda()

    def ptx_for(loop, architecture):
        library.run = device.Simulated(loop, LIBRARY)
        library.kinds = [ctypes.c_int64, *(ctypes.c_double if k is device.FLOAT else ctypes.c_int64
                                           for k in loop.arguments)]  # fmt: skip
        return named(loop, architecture)

    monkeypatch.setattr(cuda, "driver", lambda: library)
    monkeypatch.setattr(engines, "ptx_for", ptx_for)
    monkeypatch.setattr(engines, "_devices", {})
    return library


def torque(t, q, omega, parameters):
    return (-parameters[0] * omega[0], -parameters[0] * omega[1], 0.1 * math.sin(t))


def test_ensembles_of_a_device_are_those_of_threads(a_device):
    body = ph.rigid_body([2.0, 3.0, 4.0], torque=torque, parameters=[0.05])
    rng = np.random.default_rng(5)
    members = {
        "angular_velocity": rng.normal((1, 2, 3), 0.1, (40, 3)),
        "parameters.0": rng.uniform(0.0, 0.1, 40),
        "inertia": np.array([2.0, 3.0, 4.0]) * rng.uniform(1.0, 1.1, (40, 1)),
    }
    members["angular_velocity"][7] = (1e6, 0, 0)
    given = {"members": members, "step": 0.01, "steps": 25, "every": 10}
    found = ph.ensemble(body, "v2/mr", engine="device", **given)
    wanted = ph.ensemble(body, "v2/mr", engine="threads", **given)
    assert found.attrs["engine"] == "device: a thread for each member on a fake device"
    assert found.sizes == wanted.sizes
    assert found.status.values.tolist() == wanted.status.values.tolist()
    assert found.failure.values.tolist() == wanted.failure.values.tolist()
    assert np.flatnonzero(found.status).tolist() == [7]
    for name in ("attitude", "angular_momentum", "energy"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=2e-14, atol=2e-14)
    assert len(a_device.launched) == 2


def test_orbits_with_a_tolerance(a_device):
    earth = ph.planets.EARTH
    one = ph.orbit(mu=earth.mu, forces=[ph.forces.zonal(radius=earth.radius, J2=1.08e-3)])
    given = {
        "members": {"position": [[7e6, 0, 0], [7.1e6, 0, 0]]}, "velocity": (0, 5336.0, 5336.0),
        "steps": ph.Tolerance(1e-10), "t_end": 6000.0, "t_eval": [0.0, 3000.0, 6000.0],
    }  # fmt: skip
    found = ph.ensemble(one, "taylor", engine="device", **given)
    wanted = ph.ensemble(one, "taylor", engine="threads", **given)
    np.testing.assert_allclose(found.position, wanted.position, rtol=1e-12, atol=1e-4)
    assert found.attrs["engine"].startswith("device")


def test_a_device_that_is_asked_for_and_is_not_there(monkeypatch):
    monkeypatch.setattr(cuda, "driver", lambda: None)
    with pytest.raises(InvalidInput, match="engine 'device' cannot run these members: there is no NVIDIA driver"):
        ph.ensemble(top(), "v2/mr", members=2, angular_velocity=(0, 0, 5), step=0.01, steps=2, engine="device")
