"""Members in lanes: they are single runs to round-off, independent of their neighbours, in vector instructions."""

from __future__ import annotations

import re

import numpy as np
import pytest

import polhode as ph
from each import each
from machine_code import assembly
from polhode.ensembles import lanes
from polhode.ensembles.engines import Block
from polhode.kernel import direct, jit, layout as L
from polhode.kernel.lane_drive import MARCH_LANES
from polhode.kernel.lane_mode import LaneUnit
from polhode.kernel.machine import OPTIONS_OF_KERNELS
from polhode.methods import method
from polhode.runs import resolution
from polhode.runs.integrator import Integrator, extended

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

M, WIDTH = 21, 16
SHAPES = np.array([5.0, 4.0, 3.0]) * np.random.default_rng(8).uniform(0.9, 1.1, (40, 3))


def spin(t, q, omega, p):
    return (p[0] * np.sin(q[1]) - 0.1 * omega[0], 0.2 * q[2] * omega[2], p[1] * np.cos(t) - 0.05 * omega[2])


def height(t, q, p):
    return p[0] * q[3] * q[3] * np.cos(t) + 0.2 * np.exp(-q[2] * q[2]) + p[1] * q[1] * q[0]


def pull(t, x, v, p):
    return (-p[0] * x[0], -x[1], -x[2] * x[0])


def looked_up(t, q, omega, parameters):
    return (float(str(0.1)), 0.0 * omega[0], float(str(round(float(q[1]), 3))))


SYSTEMS = {
    "opaque": lambda: ph.rigid_body((5.0, 4.0, 1.0), torque=looked_up),
    "gradient": lambda: ph.systems.gravity_gradient((5.0, 4.0, 1.0), mu=1.0, radius=3.0),
    "orbit": lambda: ph.orbit(mu=1.0),
    "j2": lambda: ph.orbit(mu=1.0, forces=[{"kind": "zonal", "J2": 1e-3, "radius": 1.0}]),
    "particle": lambda: ph.particle(1.0, force=pull, parameters=(1.0,)),
    "three": lambda: ph.gravitating_bodies([1.0, 0.5, 0.1]),
    "top": lambda: ph.heavy_top((5.0, 4.0, 1.0), (0.1, 0.0, 1.0), weight=20.0),
    "free": lambda: ph.free_body((1.0, 2.0, 3.0)),
    "user": lambda: ph.rigid_body((5.0, 4.0, 1.0), torque=spin, parameters=(0.3, 0.2)),
    "height": lambda: ph.rigid_body((5.0, 4.0, 1.0), potential=height, parameters=(0.3, 0.2)),
}


def block_of(system, h=0.01, n=40, every=10, members=M, label="v2"):
    """Members with different states and moments."""
    rng = np.random.default_rng(5)
    N, width = system.N, L.BODY * system.N + len(system.auxiliary)
    y, bodies = np.zeros((members, width)), np.tile(system.bodies, (members, 1))
    for i in range(N):
        a, b = L.BODY * i, L.CONSTANTS * i
        q = rng.normal(size=(members, 4))
        y[:, a + 6 : a + 10] = q / np.linalg.norm(q, axis=1)[:, None]
        if np.isfinite(system.mass[i]):
            y[:, a : a + 3] = 3.0 + rng.normal(size=(members, 3))
            y[:, a + 3 : a + 6] = rng.normal(size=(members, 3)) * system.mass[i] * 0.3
        factors = rng.uniform(0.9, 1.1, (members, 3))
        bodies[:, b + 1 : b + 4] *= factors
        bodies[:, b + 5 : b + 8] /= factors
        y[:, a + 10 : a + 13] = rng.normal(size=(members, 3)) * np.where(system.moments[i] < 1e9, system.moments[i], 0)
    parameters = np.tile(system.parameters, (members, 1)) * rng.uniform(0.9, 1.1, (members, 1))
    prepared = method(label).prepare().suited(system.provides)
    y = np.array([extended(system, prepared, one[: L.BODY * N]) for one in y])
    R, width = 1 - (-n // every), y.shape[1]
    counts = [np.zeros(members, dtype=np.int64) for _ in range(2)]
    rows = np.full((members, R, width), np.nan)
    return Block(
        y, bodies, system.bodies[None, 8 * N :].copy(), parameters, 0.1, h, n, every, rows,
        np.ones((members, R), dtype=np.int64), *counts,
    )  # fmt: skip


def alone(system, chosen, block, i):
    """Rows of a member as a single run takes its steps, iterations, and the status."""
    bench = Integrator(system, chosen, block.states[i], block.t0, limit=chosen.method.range)
    bench.bodies[:], bench.parameters[: block.parameters.shape[1]] = block.bodies[i], block.parameters[i]
    bench.prepare(block.t0, block.h)
    rows, counts = np.empty((block.n // block.every, bench.y.size)), np.zeros(block.n // block.every, dtype=np.int64)
    return rows, counts, bench.march(0, block.n, block.every, block.t0, block.h, rows, counts)


CASES = [
    ("top", "v2/mr"), ("top", "v2/three_rotation"), ("top", "v2/symmetric"), ("top", "v2"), ("top", "fg6_5"),
    ("top", "s6_10/mr6"), ("top", "v2/dmv6"), ("top", "v2/implicit_midpoint"), ("free", "v2"), ("free", "exact"),
    ("free", "v2/semiexact6"),
    ("user", "v2/mr"), ("height", "rkn6_14a/mr4"), ("gradient", "v2/mr"), ("orbit", "kepler"), ("j2", "rkn6_14a"),
    ("j2", "rkn6_14a/kepler"), ("particle", "rkn6_14a"), ("three", "v2"),
    ("j2", "v2/kepler:corrected"), ("top", "pmlf4"), ("top", "mkrk:cv8"), ("user", "mkrk:dp8"), ("top", "euler"),
    ("top", "mkrk:gauss6"), ("top", "trap"),
]  # fmt: skip
FEW = [("top", "v2/mr"), ("top", "v2")]
"""Implicit steps are in ``test_switches_in_lanes.py``, orbits below."""
ROUND_OFF = 4e-15


@each(("name", "label"), [pytest.param(*one, marks=() if one in FEW else pytest.mark.full) for one in CASES])
def test_members_are_single_runs_to_round_off(name, label):
    system, chosen = SYSTEMS[name](), method(label)
    engine = lanes.engine_for(system, chosen, width=WIDTH)
    assert not isinstance(engine, str), engine
    block = block_of(system, label=label)
    engine.run(block)
    np.testing.assert_array_equal(block.status, 0)
    np.testing.assert_array_equal(block.done, block.n)
    np.testing.assert_array_equal(block.rows[:, 0], block.states)
    for i in range(0, M, 4):
        rows, counts, status = alone(system, chosen, block, i)
        assert status == 0
        np.testing.assert_array_equal(block.iterations[i], [0, *counts])
        assert np.abs(block.rows[i, 1:] - rows).max() <= ROUND_OFF * np.abs(rows).max()


def test_numbers_depend_on_no_neighbour():
    system = SYSTEMS["top"]()
    engine = lanes.engine_for(system, method("v2"), width=WIDTH)
    whole = block_of(system, n=25)
    whole.states[3, 10:13] *= 40.0  # takes long turns
    engine.run(whole)
    order = np.random.default_rng(1).permutation(M)[:9]
    part = block_of(system, n=25, members=9)
    for name in ("states", "bodies", "parameters"):
        getattr(part, name)[:] = getattr(whole, name)[order]
    engine.run(part)
    assert whole.rows.shape[1] == 4  # the last row is the end
    np.testing.assert_array_equal(part.rows, whole.rows[order])
    np.testing.assert_array_equal(part.status, whole.status[order])


def test_a_member_that_fails_stops_no_other():
    system, chosen = SYSTEMS["top"](), method("v2/mr")
    engine = lanes.engine_for(system, chosen)
    good, bad = block_of(system), block_of(system)
    bad.states[2, 10:13] *= 1e3  # beyond the range of the first step
    bad.parameters[7, 0] *= 800.0  # beyond it later on
    bad.states[9, 6] = np.nan
    engine.run(good)
    engine.run(bad)
    others = np.delete(np.arange(M), [2, 7, 9])
    np.testing.assert_array_equal(bad.rows[others], good.rows[others])
    assert bad.status[[2, 9]].tolist() == [L.TOO_LARGE, L.TOO_LARGE]
    assert bad.done[[2, 9]].tolist() == [0, 0]
    assert bad.status[7] == L.TOO_LARGE
    assert 0 < bad.done[7] < bad.n
    *_, status = alone(system, chosen, bad, 7)
    assert status == L.TOO_LARGE


def test_states_of_another_length_are_refused():
    system = SYSTEMS["top"]()
    block = block_of(system)
    block.states = block.states[:, :12].copy()
    with pytest.raises(ValueError, match="members have 12 numbers"):
        lanes.engine_for(system, method("v2/mr")).run(block)


def test_compensated_sums_in_lanes():
    given = {"members": {"position": 1.0 + np.eye(3)[np.arange(20) % 3]}, "velocity": (0.0, 0.7, 0.1), "step": 0.01}
    given |= {"steps": 50, "method": "p6_7", "settings": {"compensated": True}}
    fast, slow = (ph.ensemble(SYSTEMS["j2"](), engine=name, **given) for name in ("lanes", "threads"))
    np.testing.assert_allclose(fast.position, slow.position, rtol=0, atol=4e-15)
    assert fast.attrs["engine"].startswith("lanes")


class Repeating:
    """An engine that notes whom it is given."""

    name = about = "again"

    def __init__(self):
        self.given = []

    def run(self, block):
        self.given.append(block.first)
        block.status[:] = 100


def test_members_that_fail_are_repeated_by_another_engine():
    system, other = SYSTEMS["top"](), Repeating()
    engine = lanes.engine_for(system, method("v2/mr"), again=lambda: other)
    block = block_of(system)
    block.states[[2, 9], 10:13] *= 1e3
    engine.run(block)
    assert other.given == [2, 9]
    assert np.flatnonzero(block.status).tolist() == [2, 9]


def test_the_call_takes_lanes_and_says_so():
    turned = {"angular_velocity": np.random.default_rng(2).normal(size=(40, 3)), "inertia": SHAPES}
    given = {"members": turned, "step": 0.01, "steps": 50, "method": "v2/mr"}
    system = SYSTEMS["top"]()
    fast, slow = (ph.ensemble(system, engine=name, **given) for name in ("lanes", "threads"))
    assert fast.attrs["engine"].startswith(f"lanes: {lanes.lane_width()} members at a time")
    np.testing.assert_allclose(fast.attitude, slow.attitude, rtol=0, atol=2e-14)


def test_constants_that_all_members_share():
    system = SYSTEMS["top"]()
    engine = lanes.engine_for(system, method("v2/mr"))
    many, one = block_of(system), block_of(system)
    many.bodies[:], many.parameters[:] = many.bodies[4], many.parameters[4]
    one.bodies, one.parameters = many.bodies[:1].copy(), many.parameters[:1].copy()
    engine.run(many)
    engine.run(one)
    np.testing.assert_array_equal(one.rows, many.rows)


def test_steps_are_vector_instructions():
    system = SYSTEMS["top"]()
    width = lanes.lane_width()
    kernel = lanes.template(system, method("fg6_5/mr").prepare(), guard=True)
    text = assembly(kernel, MARCH_LANES, width)
    register = "zmm" if width == 16 else "ymm"
    products = re.findall(rf"vf?n?m(?:add|sub)\w*pd.*{register}", text)
    plain = re.findall(r"vf?n?m(?:add|sub)\w*sd\s", text)
    assert len(products) > 400
    assert len(plain) < 60
    assert not re.findall(r"\b(sin|cos)\b", text)


@each(
    ("name", "label", "told"),
    [("top", "taylor", "written for each system"), ("opaque", "v2/mr", "no program")],
)
def test_what_has_no_lanes_says_why(name, label, told):
    found = lanes.engine_for(SYSTEMS[name](), method(label))
    assert isinstance(found, str)
    assert told in found


def test_kernels_have_no_commutator_loads_where_the_method_asks_for_none(monkeypatch):
    """They were a third of what was compiled."""
    written, old = [], LaneUnit.written

    def noted(self, function, options, arguments):
        written.append(function.__name__)
        return old(self, function, options, arguments)

    monkeypatch.setattr(LaneUnit, "written", noted)
    monkeypatch.setattr(direct, "optimised_module", lambda codegen, module, thorough=False: module)
    for label, asks in (("v2/mr", False), ("fg6_5/mr", True)):
        written.clear()
        kernel = lanes.template(SYSTEMS["top"](), method(label).prepare(), True)
        direct.optimised(kernel, jit.typed(MARCH_LANES), OPTIONS_OF_KERNELS, lanes=8)
        assert ("commutator_load" in written) is asks and "impulse" in written


def test_members_take_no_steps_but_their_own_where_these_are_fine(monkeypatch):
    """Whether steps resolve the loads is told by the rows."""
    monkeypatch.setattr(resolution, "_changes", None)
    spins = {"angular_velocity": np.random.default_rng(1).normal(size=(8, 3))}
    ph.ensemble(SYSTEMS["top"](), "v2", members=spins, step=0.001, steps=8, engine="lanes")
