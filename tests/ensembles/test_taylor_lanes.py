"""Taylor steps in lanes: those of single runs, each member's own, whatever its neighbours."""

from __future__ import annotations

import re

import numpy as np
import pytest

import polhode as ph
from each import each
from machine_code import assembly
from polhode.ensembles import lanes as engines
from polhode.errors import InvalidInput
from polhode.flows.polynomial_lanes import MARCH_TAYLOR
from polhode.kernel import jit, layout as L

pytestmark = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

M, EARTH = 11, ph.planets.EARTH


def spin(t, q, omega, p):
    return (p[0] * np.sin(q[1]) - 0.1 * omega[0], 0.2 * q[2] * omega[2], p[1] * np.cos(t) - 0.05 * omega[2])


def kinked(t, q, omega, p):
    return (-0.1 * abs(omega[0]) * omega[0], 0.0, 0.0)


def spins(seed=1):
    return np.array([0.3, 0.2, 5.0]) + np.random.default_rng(seed).normal(size=(M, 3))


OBLATE = ph.forces.zonal(radius=EARTH.zonal["radius"], J2=EARTH.zonal["J2"])


def orbits():
    rng = np.random.default_rng(2)
    return {
        "position": np.array([7e6, 0.0, 0.0]) + 5e4 * rng.normal(size=(M, 3)),
        "velocity": np.array([0.0, 5336.0, 5336.0]) * np.linspace(0.95, 1.25, M)[:, None],
    }


def top_case():
    system = ph.heavy_top((5.0, 4.0, 1.0), (0.1, 0.0, 1.0), weight=20.0)
    return system, {"angular_velocity": spins()}, {"t_end": 2.0, "steps": ph.Tolerance(1e-13)}


def user_case():
    system = ph.rigid_body((5.0, 4.0, 1.0), torque=spin, parameters=(0.3, 0.2))
    members = {"angular_velocity": spins(), "parameters.0": np.linspace(0.2, 0.4, M)}
    tolerance = ph.Tolerance(1e-10, first_step=0.01)
    return system, members, {"t_end": 3.0, "steps": tolerance, "t_eval": np.linspace(0.0, 3.0, 8)}


def orbit_case():
    system = ph.orbit(mu=EARTH.mu, forces=[OBLATE], surface=0)
    times = np.array([-100.0, -2e4, -2.5e4, -3e4])
    return system, orbits(), {"t_end": -3e4, "steps": ph.Tolerance(1e-11, max_step=900.0), "t_eval": times}


def craft_case():
    system = ph.spacecraft((90, 70, 60), EARTH.mu, 120, forces=[OBLATE], surface=0)
    tolerance = ph.Tolerance(1e-11, first_step=1.0)
    return system, orbits() | {"angular_velocity": 1e-3 * spins()}, {"t_end": 6000.0, "steps": tolerance}


CASES = {
    "top": (top_case, 5e-15),
    "user": (user_case, 5e-15),
    "orbit": (orbit_case, 2e-13),
    "craft": (craft_case, 2e-14),
}
LONG = {"top", "craft"}
"""What turns and what moves, as in the others, with kernels of their own."""


@each("name", [pytest.param(name, marks=[pytest.mark.full] * (name in LONG)) for name in CASES])
def test_members_are_single_runs_to_round_off(name):
    case, bound = CASES[name]
    system, members, words = case()
    single, lanes = (
        ph.ensemble(system, "taylor", members=members, engine=one, **words) for one in ("threads", "lanes")
    )
    assert lanes.engine.startswith("lanes: ")
    assert not lanes.status.values.any()
    np.testing.assert_array_equal(lanes.time, single.time)
    for one in ("position", "velocity", "attitude", "angular_momentum", "kinetic_energy"):
        if one in single:
            expected = single[one].values
            assert np.abs(lanes[one].values - expected).max() <= bound * np.abs(expected).max(), one
    np.testing.assert_allclose(lanes.step, single.step, rtol=1e-6)


@each("case", [user_case, *(pytest.param(one, marks=pytest.mark.full) for one in (orbit_case, craft_case))])
def test_steps_of_one_size_are_those_of_single_runs(case):
    system, members, words = case()
    words = {"step": abs(words["t_end"]) / 64, "steps": 30, "every": 10}
    made = [ph.ensemble(system, "taylor12", members=members, engine=one, **words) for one in ("threads", "lanes")]
    single, lanes = made
    assert lanes.engine.startswith("lanes: ")
    assert not lanes.status.values.any()
    for one in ("position", "velocity", "attitude", "angular_momentum"):
        if one in single:
            expected = single[one].values
            assert np.abs(lanes[one].values - expected).max() <= 2e-13 * np.abs(expected).max(), one


def test_numbers_depend_on_no_neighbour():
    system, members, words = user_case()
    whole = ph.ensemble(system, "taylor", members=members, engine="lanes", **words)
    order = np.random.default_rng(3).permutation(M)[:3]
    part = {name: values[order] for name, values in members.items()}
    found = ph.ensemble(system, "taylor", members=part, engine="lanes", threads=1, **words)
    for one in ("attitude", "angular_momentum", "step"):
        np.testing.assert_array_equal(found[one], whole[one][order])


def test_a_member_that_fails_is_repeated_alone_and_stops_no_other():
    system = ph.orbit(mu=1.0, forces=[ph.forces.zonal(radius=0.01, J2=1e-3)])
    position, velocity = np.tile([1.0, 0.0, 0.0], (M, 1)), np.tile([0.0, 1.0, 0.1], (M, 1))
    velocity[4] = 0.0  # falls into the centre
    words = {"t_end": 3.0, "steps": ph.Tolerance(1e-10)}
    made = [
        ph.ensemble(system, "taylor", members={"position": position, "velocity": velocity}, engine=one, **words)
        for one in ("threads", "lanes")
    ]
    single, lanes = made
    assert lanes.status.values[4] != 0
    np.testing.assert_array_equal(lanes.status, single.status)
    np.testing.assert_array_equal(lanes.failure, single.failure)
    good = np.arange(M) != 4
    np.testing.assert_allclose(lanes.position[good], single.position[good], rtol=0, atol=1e-13)


def test_most_steps_are_those_of_a_single_run():
    system, members, words = user_case()
    words |= {"steps": ph.Tolerance(1e-13, max_steps=5)}
    made = [ph.ensemble(system, "taylor", members=members, engine=one, **words) for one in ("threads", "lanes")]
    assert made[0].status.values.all()
    np.testing.assert_array_equal(made[1].status, made[0].status)


def test_what_is_not_done_over_lanes_has_a_reason():
    words = {"members": {"angular_velocity": spins()}, "t_end": 1.0, "steps": ph.Tolerance(1e-9), "engine": "lanes"}
    body = ph.rigid_body((5.0, 4.0, 1.0), torque=kinked)
    with pytest.raises(InvalidInput, match="choose between formulas"):
        ph.ensemble(body, "taylor", **words)
    with pytest.raises(InvalidInput, match="each its own"):
        ph.ensemble(ph.free_body((1, 2, 3)), "mkrk:dp8", **words)
    ds = ph.ensemble(body, "taylor", **words | {"engine": "auto"})
    assert ds.engine.startswith("threads")


def test_widths_agree(monkeypatch):
    system, members, words = user_case()
    found = []
    for width in (4, 8):
        monkeypatch.setattr(engines, "lane_width", lambda series, width=width: width)
        found.append(ph.ensemble(system, "taylor", members=members, engine="lanes", **words))
    assert found[0].engine.startswith("lanes: 4")
    for one in ("attitude", "angular_momentum"):
        np.testing.assert_array_equal(found[0][one], found[1][one])


def test_sums_of_products_are_vector_instructions():
    system, width = top_case()[0], engines.lane_width(series=True)
    kernel = engines.taylor_template(system, engines.series_of(system), ((L.COMPENSATION_AT, 13.0),))
    text = assembly(kernel, MARCH_TAYLOR, width)
    products = re.findall(rf"vf?n?m(?:add|sub)\w*pd.*{'zmm' if width == 8 else 'ymm'}", text)
    assert len(products) > 10 * len(re.findall(r"vf?n?m(?:add|sub)\w*sd\s", text))


TOLERANCES = {"rtol": np.geomspace(1e-13, 1e-5, M), "atol": np.geomspace(1e-6, 1e2, M)[::-1].copy()}


@each("names", [("rtol",), ("atol",), ("rtol", "atol")])
def test_members_have_tolerances_of_their_own(names):
    system, members, _ = orbit_case()
    own = {name: TOLERANCES[name] for name in names}
    words = {"t_end": 9000.0, "steps": ph.Tolerance(1e-10)}
    threads, lanes = (
        ph.ensemble(system, "taylor", members=members | own, engine=one, **words) for one in ("threads", "lanes")
    )
    assert lanes.engine.startswith("lanes") and threads.engine.startswith("threads: the compiled loop")
    counts = set()
    for k in range(M):
        chosen = {"rtol": 1e-10} | {name: float(values[k]) for name, values in own.items()}
        start = {name: values[k] for name, values in members.items()}
        alone = ph.integrate(system, "taylor", t_end=9000.0, steps=ph.Tolerance(**chosen), **start)
        counts.add(alone.attrs["steps"])
        assert float(threads.step[k, -1]) == float(alone.step[-1])
        for name in ("position", "velocity"):
            last = alone[name].values[-1]
            np.testing.assert_array_equal(threads[name].values[k, -1], last)
            np.testing.assert_allclose(lanes[name].values[k, -1], last, rtol=0, atol=2e-13 * abs(last).max())
    assert len(counts) > 2
    np.testing.assert_allclose(lanes.step, threads.step, rtol=1e-6)


def test_a_tolerance_that_is_none_is_that_of_its_member():
    system, members, words = user_case()
    for engine in ("threads", "lanes"):
        with pytest.raises(InvalidInput, match="member 5: rtol is 2; it must be"):
            bad = np.where(np.arange(M) == 5, 2.0, 1e-9)
            ph.ensemble(system, "taylor", members=members | {"rtol": bad}, engine=engine, **words)


def test_members_that_fail_have_their_tolerance_where_they_are_repeated():
    system, position = ph.orbit(mu=1.0), np.tile([1.0, 0.0, 0.0], (M, 1))
    velocity = np.tile([0.0, 1.0, 0.1], (M, 1))
    velocity[4] = 0.0  # falls into the centre
    members = {"position": position, "velocity": velocity, "rtol": TOLERANCES["rtol"]}
    words = {"t_end": 3.0, "steps": ph.Tolerance(1e-10), "members": members}
    threads, lanes = (ph.ensemble(system, "taylor", engine=one, **words) for one in ("threads", "lanes"))
    np.testing.assert_array_equal(lanes.status.values, threads.status.values)
    assert threads.status.values.nonzero()[0].tolist() == [4]
    np.testing.assert_array_equal(lanes.failure.values, threads.failure.values)
