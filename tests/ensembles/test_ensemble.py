"""Ensembles: every member is bit for bit the run it would be alone, whatever the method, the threads and the others."""

import os
import signal
from functools import partial

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.ensembles import cuda, ensemble, members
from polhode.errors import InvalidInput

M = 5
RNG = np.random.default_rng(16)
EARTH = ph.planets.EARTH


def damping(t, q, omega, parameters):
    return (-parameters[0] * omega[0] + parameters[1] * q[1], -parameters[0] * omega[1], -parameters[0] * omega[2])


def springs(t, q, parameters):
    return parameters[0] * q[1] * q[1] + parameters[1] * q[2]


def inertias(count=M):
    return RNG.uniform(1.0, 1.4, (count, 3))


def tensors(count=M):
    q = RNG.normal(size=(count, 4))
    R = np.array([Rotation.from_quat(one).as_matrix() for one in q])
    return R @ (inertias(count)[:, :, None] * np.swapaxes(R, 1, 2))


def spins(count=M):
    return RNG.normal(size=(count, 3))


def orbits(count=M):
    r = np.array([7e6, 0, 0]) + 1e4 * RNG.normal(size=(count, 3))
    return {"position": r, "velocity": np.array([0, 5336.0, 5336.0]) + 10.0 * RNG.normal(size=(count, 3))}


TOP = ph.heavy_top((2.0, 2.5, 1.5), (0, 0.1, 0.5), weight=3.0)
USERS = ph.rigid_body((2, 3, 4), torque=damping, parameters=[0.05, 0.1])
TURNED = ph.rigid_body([[2, 0.1, 0], [0.1, 3, 0.2], [0, 0.2, 4]], torque=damping, parameters=[0.05, 0.1])
WELL = ph.rigid_body((2, 3, 4), potential=springs, parameters=[0.5, 0.1])
LOW = ph.orbit(EARTH.mu, forces=[ph.forces.zonal(**EARTH.zonal)])
CRAFT = ph.spacecraft((90, 70, 60), EARTH.mu, 120.0, forces=[ph.forces.zonal(**EARTH.zonal)])
FIXED = {"step": 0.05, "steps": 21, "every": 10}

CASES = {
    "exact": (ph.free_body((1, 2, 2)), "exact", {"inertia": inertias(), "angular_velocity": spins()}, FIXED),
    "tensors": (ph.free_body((1, 2, 2)), "exact", {"inertia": tensors(), "angular_velocity": spins()}, FIXED),
    "top": (TOP, "rkn6_14a", {"weight": 3.0 + RNG.random(M), "angular_velocity": spins()}, FIXED),
    "centre": (TOP, "fg6_5", {"center_of_mass": 0.1 * RNG.normal(size=(M, 3)), "angular_momentum": spins()}, FIXED),
    "built": (TOP, "v2", {"inertia": tensors(), "angular_velocity": spins()}, FIXED),
    "implicit": (TOP, "trapm", {"weight": 3.0 + RNG.random(M), "angular_velocity": spins()}, FIXED),
    "gauss": (TOP, "mkrk:gauss4", {"weight": 3.0 + RNG.random(M), "angular_velocity": spins()}, FIXED),
    "series": (TOP, "taylor16", {"weight": 3.0 + RNG.random(M), "angular_velocity": spins()}, FIXED),
    "processed": (TOP, "p6_7", {"weight": 3.0 + RNG.random(M), "angular_velocity": spins()}, FIXED),
    "chart": (TOP, "euler", {"euler_angles": 0.3 * spins() + 0.5, "weight": 3.0 + RNG.random(M)}, FIXED),
    "vectors": (TOP, "rotation_vector", {"rotation_vector": spins(), "angular_velocity_space": spins()}, FIXED),
    "user": (USERS, "v2", {"inertia": inertias(), "parameters.0": RNG.random(M), "angular_velocity": spins()}, FIXED),
    "user, turned": (TURNED, "mkrk:cv8", {"inertia": tensors(), "angular_velocity": spins()}, FIXED),
    "potential": (WELL, "rkn6_14a", {"parameters": RNG.random((M, 2)), "angular_velocity": spins()}, FIXED),
    "bath": (TOP, "baoab:temperature=0.5:friction=1", {"angular_velocity": spins()}, FIXED),
    "kepler": (LOW, "rkn6_14a/kepler", orbits(), {"step": 60.0, "steps": 20, "every": 7}),
    "masses": (LOW, "rkn6_14a/kepler", orbits() | {"mass": 1.0 + RNG.random(M)}, {"step": 60.0, "steps": 20}),
    "craft": (CRAFT, "rkn6_14a", orbits() | {"mass": 100.0 + RNG.random(M), "inertia": 60.0 * inertias()},
              {"step": 10.0, "steps": 20, "every": 20}),
    "backwards": (TOP, "v2", {"angular_velocity": spins()}, {"step": 0.1, "t_end": -1.0}),
    "at times": (TOP, "v2", {"angular_velocity": spins()}, {"step": 0.1, "t_end": 2.0, "t_eval": [0.0, 0.5, 0.8, 1.4]}),
    "compensated": (TOP, "rkn6_14a", {"angular_velocity": spins()}, FIXED | {"settings": {"compensated": True}}),
    "tolerance": (TOP, "mkrk:dp8", {"angular_velocity": spins(), "weight": 3.0 + RNG.random(M)},
                  {"steps": ph.Tolerance(1e-9), "t_end": 2.0, "t_eval": [0.0, 0.3, 1.1, 2.0]}),
    "taylor": (USERS, "taylor", {"angular_velocity": spins(), "parameters": RNG.random((M, 2))},
               {"steps": ph.Tolerance(1e-12), "t_end": 2.0, "t_eval": [0.5, 2.0]}),
}  # fmt: skip


def alone(system, method, values, k, words):
    """The run of a member, from its own system."""
    start = {name: value[k] for name, value in values.items() if name in ("angular_velocity", "angular_momentum",
             "euler_angles", "rotation_vector", "angular_velocity_space", "position", "velocity")}  # fmt: skip
    changes = {name: value[k] for name, value in values.items() if name not in start}
    if method.startswith("baoab"):
        start["thermostat"] = (k * 2.0**30, 0.0)
    for name in [name for name in changes if "." in name]:
        numbers = list(system.arguments["parameters"])
        numbers[int(name.partition(".")[2])] = changes.pop(name)
        changes["parameters"] = numbers
    return ph.integrate(system, method, start=start, parameters=changes or None, **words)


def assert_same(member, one):
    for name in one.data_vars:
        assert np.array_equal(member[name].values, one[name].values, equal_nan=True), name
    assert np.array_equal(member.time.values, one.time.values)


LONG = {"centre", "gauss", "vectors", "user, turned", "potential", "craft"}
"""Kernels of their own, of kinds that others of these cases have."""


@each("name", [pytest.param(name, marks=[pytest.mark.full] * (name in LONG)) for name in CASES])
@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_a_member_is_the_run_it_would_be_alone(name):
    system, method, values, words = CASES[name]
    ds = ph.ensemble(system, method, members=values, threads=2, **words)
    assert ds.attrs["engine"].startswith("threads: the compiled loop")
    assert ds.status.values.tolist() == [0] * M
    for k in (0, 2, M - 1):
        assert_same(ds.isel(member=k), alone(system, method, values, k, words))


def test_threads_and_other_members_change_no_bit():
    values = {"weight": 3.0 + RNG.random(40), "angular_velocity": spins(40)}
    one = ph.ensemble(TOP, "v2", members=values, threads=1, **FIXED)
    three = ph.ensemble(TOP, "v2", members=values, threads=3, **FIXED)
    few = ph.ensemble(TOP, "v2", members={name: value[7:9] for name, value in values.items()}, **FIXED)
    for name in one.data_vars:
        assert np.array_equal(one[name], three[name]), name
        assert np.array_equal(one[name][7:9], few[name]), name


def test_a_number_of_members_that_do_not_differ():
    ds = ph.ensemble(TOP, "v2", members=3, angular_velocity=(1, 2, 3), **FIXED)
    assert dict(ds.sizes)["member"] == 3
    assert_same(ds.isel(member=1), ph.integrate(TOP, "v2", angular_velocity=(1, 2, 3), **FIXED))


def test_what_varied_is_in_the_coordinates():
    values = {"weight": 3.0 + RNG.random(M), "angular_velocity": spins()}
    ds = ph.ensemble(TOP, "v2", members=values, **FIXED)
    assert np.array_equal(ds.weight, values["weight"])
    assert np.array_equal(ds.initial_angular_velocity, values["angular_velocity"])
    assert ds.initial_angular_velocity.dims == ("member", "axis")
    assert ds.attrs["system"] == "heavy_top" and "run" not in ds.attrs


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_a_number_within_an_argument():
    system = ph.orbit(EARTH.mu, forces=[ph.forces.zonal(**EARTH.zonal)])
    J2 = 1e-3 * (1.0 + 0.1 * RNG.random(M))
    assert "J2" in system.arguments["forces"][0]
    ds = ph.ensemble(system, "v2/kepler", members=orbits() | {"forces.0.J2": J2}, step=60.0, steps=10)
    own = ph.orbit(EARTH.mu, forces=[{**dict(system.arguments["forces"][0]), "J2": float(J2[3])}])
    start = {"position": ds.initial_position.values[3], "velocity": ds.initial_velocity.values[3]}
    assert_same(ds.isel(member=3), ph.integrate(own, "v2/kepler", step=60.0, steps=10, start=start))


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_a_member_that_fails_stops_nobody_and_says_why():
    fast = spins()
    fast[1] *= 400.0
    ds = ph.ensemble(TOP, "trapm", members={"angular_velocity": fast}, step=0.05, steps=40, every=4)
    assert ds.status.values.tolist() == [0, 2, 0, 0, 0]
    with pytest.raises(ph.errors.StepTooLarge) as told:
        ph.integrate(TOP, "trapm", angular_velocity=fast[1], step=0.05, steps=40, every=4)
    assert ds.failure.values.tolist() == ["", str(told.value), "", "", ""]
    assert np.isnan(ds.attitude[1, 1:]).all() and np.isfinite(ds.attitude[[0, 2, 3, 4]]).all()
    assert np.array_equal(ds.attitude[1, 0], told.value.trajectory.attitude[0])


def runaway(t, q, omega, parameters):
    return (parameters[0] * omega[0] * omega[0], 0.0, 0.0)


def test_rows_before_a_failure_stay():
    system = ph.rigid_body((1, 1, 1), torque=runaway, parameters=[1.0])
    words = {"step": 0.01, "steps": 200, "angular_velocity": (1, 0, 0), "settings": {"guard": False}}
    ds = ph.ensemble(system, "trapm", members={"parameters.0": [0.1, 3.0, 0.2]}, **words)
    assert ds.status[0] == 0 and ds.status[1] != 0 and ds.status[2] == 0
    with pytest.raises(ph.errors.StepFailed) as told:
        ph.integrate(system, "trapm", parameters=[3.0], **words)
    rows = told.value.trajectory.sizes["time"]
    assert np.isfinite(ds.energy[1, : rows - 1]).all() and np.isnan(ds.energy[1, rows:]).all()
    assert str(ds.failure[1].values) == str(told.value)


def test_events_make_each_member_a_run_by_itself():
    system, start = ph.orbit(EARTH.mu), orbits(3)
    ds = ph.ensemble(system, "kepler", members=start, step=300.0, steps=30, events=["node"])
    assert "events" in ds.attrs["engine"]
    one = ph.integrate(system, "kepler", step=300.0, steps=30, events=["node"],
                       start={name: value[2] for name, value in start.items()})  # fmt: skip
    assert np.array_equal(ds.event_time[2].values[: one.sizes["event"]], one.event_time)
    assert np.array_equal(ds.position[2], one.position)
    assert ds.status.values.tolist() == [0, 0, 0]


def test_seeds_of_a_bath_vary():
    bath, words = ph.methods.baoab(temperature=0.5, friction=1), {"step": 0.05, "steps": 20}
    ds = ph.ensemble(TOP, bath, members={"seed": [1, 2, 3]}, **words)
    one = ph.integrate(TOP, ph.methods.method(bath, seed=2), **words)
    assert np.array_equal(ds.attitude[1], one.attitude) and not np.array_equal(ds.attitude[0], ds.attitude[1])


@each(
    ("members", "words", "said"),
    [
        ({"angular_velocity": np.ones((3, 3)), "weight": [1.0, 2.0]}, {}, "3 values of angular_velocity but 2 of"),
        ({"weight": [1.0, np.nan]}, {}, "no finite weight for member 1: nan"),
        ({"weight": [1.0, 2.0], "wait": [1, 2]}, {}, "unknown name in members 'wait'; did you mean 'weight'"),
        ({"inertia": [[2.0, 2, 2], [2, 2, -1]]}, {}, "member 1: inertia[2] = -1.0 is not positive"),
        ({"inertia": [[2.0, 2, -1], [2, 2, 2]]}, {}, "member 0: inertia[2] = -1.0 is not positive"),
        ({"angular_velocity": np.ones((2, 3))}, {"angular_velocity": (1, 2, 3)}, "is given for all too"),
        ({"attitude": [[1, 0, 0, 0], [2, 0, 0, 0]]}, {}, "member 1: attitude has length 2"),
        ({"angular_velocity": np.ones((2, 2))}, {}, "angular_velocity must be 3 numbers"),
        ({"weight": [1.0, 2.0]}, {"angular_velocity": np.ones((2, 3))},
         "but has shape (2, 3); a row for each member is given as members={'angular_velocity': ...}"),
        ({}, {}, "members is empty"),
        (0, {}, "members is 0; it must be 1 or more"),
        ("many", {}, "members must be arrays by name"),
        ({"rtol": [1e-6, 1e-8]}, {}, "steps is no polhode.Tolerance"),
        ({"parameters.0": [1, 2]}, {}, "parameters.0"),
        ({"weight": [1.0, 2.0]}, {"step": None}, "give either step"),
        ({"weight": [1.0, 2.0]}, {"engine": "cray"}, "unknown engine 'cray'"),
        ({"weight": [1.0, 2.0]}, {"breaks": [0.05], "engine": "lanes"}, "engine 'lanes' cannot run these members"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(members, words, said):
    with pytest.raises(InvalidInput) as told:
        ph.ensemble(TOP, "v2", members=members, **({"step": 0.1, "steps": 10} | words))
    assert said in str(told.value)


def test_a_member_that_cannot_begin_is_found_among_many():
    inertia = inertias(1000)
    inertia[617] = (1, 1, 3)
    with pytest.raises(InvalidInput, match=r"^member 617: inertia\[2\] = 3.0 exceeds"):
        ph.ensemble(ph.free_body((1, 1, 1)), members={"inertia": inertia}, step=1.0, steps=1)


def test_nothing_is_compiled_for_other_members():
    first = ph.ensemble(TOP, "v2", members={"weight": [1.0, 2.0]}, **FIXED)
    told = []
    ph.ensemble(TOP, "v2", members={"weight": 5.0 + RNG.random(7), "inertia": tensors(7)},
                progress=lambda progress: told.append(progress.stage), **FIXED)  # fmt: skip
    assert first.sizes["member"] == 2 and "compiling" not in told and told[-1] == "running"


def test_reductions_in_the_place_of_trajectories():
    count = 1100
    values = {"weight": 3.0 + RNG.random(count), "angular_velocity": spins(count)}
    words = {"step": 0.05, "steps": 8, "every": 4, "engine": "threads"}
    wanted = {"angular_velocity": ["mean", "covariance"], "energy": ["extremes", "quantiles"], "attitude": "mean"}
    kept = ph.ensemble(TOP, "v2", members=values, threads=1, **words)
    one = ph.ensemble(TOP, "v2", members=values, reduce=wanted, threads=1, **words)
    three = ph.ensemble(TOP, "v2", members=values, reduce=wanted, threads=3, **words)
    assert "member" not in one.dims and one.attrs["members"] == count and one.attrs["failed"] == 0
    assert np.allclose(one.angular_velocity_mean, kept.angular_velocity.mean("member"), rtol=0, atol=1e-13)
    again = ph.ensembles.reductions.apply(kept, wanted)
    for name in one.data_vars:
        assert np.array_equal(one[name], three[name]) and np.array_equal(one[name], again[name]), name
    assert one.attrs["engine"].startswith("threads")


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_reductions_tell_of_members_that_fail():
    fast = spins(20)
    fast[7] *= 400.0
    ds = ph.ensemble(TOP, "trapm", members={"angular_velocity": fast}, step=0.05, steps=20, every=4,
                     reduce={"energy": "mean"})  # fmt: skip
    assert ds.attrs["failed"] == 1 and ds.attrs["failures"][0].startswith("member 7: a step of 0.05 turns the body")
    assert ds.energy_count.values.tolist() == [20, 19, 19, 19, 19, 19]


def test_reductions_of_members_that_are_runs_by_themselves():
    start = orbits(4)
    words = {"step": 300.0, "steps": 30, "events": ["node"]}
    kept = ph.ensemble(ph.orbit(EARTH.mu), "kepler", members=start, **words)
    ds = ph.ensemble(
        ph.orbit(EARTH.mu), "kepler", members=start, reduce=[ph.ensembles.reductions.mean("position")], **words
    )
    assert np.allclose(ds.position_mean, kept.position.mean("member"), rtol=1e-14)


def test_lanes_are_the_same_to_rounding_and_taken_where_they_pay():
    values = {"inertia": inertias(50), "angular_velocity": spins(50)}
    words = {"step": 0.01, "steps": 40, "every": 20}
    one = ph.ensemble(TOP, "v2/mr", members=values, engine="threads", **words)
    lanes = ph.ensemble(TOP, "v2/mr", members=values, engine="lanes", threads=2, **words)
    auto = ph.ensemble(TOP, "v2/mr", members=values, **words)
    assert lanes.attrs["engine"].startswith("lanes: ") and auto.attrs["engine"].startswith("threads: ")
    for name in ("attitude", "angular_velocity", "energy"):
        assert np.allclose(one[name], lanes[name], rtol=0, atol=1e-13), name


def test_what_a_call_has_found_of_systems_serves_later_ones(monkeypatch):
    """Within the numbers it has seen, members of a later call need no systems beside the first; their constants are
    those that would be found anew, also outside."""
    top, rng = ph.heavy_top((5.0, 4.0, 3.0), (0.1, 0.0, 1.0), weight=20.0), np.random.default_rng(3)
    built, system_of, tensors = [], members.system_of, inertias(9)
    monkeypatch.setattr(members, "system_of", lambda *given: built.append(given) or system_of(*given))

    def run(spread):
        built.clear()
        values = {"weight": 20.0 + spread * rng.uniform(-1.0, 1.0, 9), "inertia": tensors[rng.permutation(9)]}
        arms = np.array([0.1, 0.0, 1.0]) * (1.0 + spread * rng.uniform(-0.1, 0.1, (9, 1)))
        call = partial(ph.ensemble, members=values | {"center_of_mass": arms}, step=0.01, steps=3, engine="threads")
        ds, many = call(top, angular_velocity=(0.1, 0.2, 3.0)), len(built)
        anew = call(ph.heavy_top((5.0, 4.0, 3.0), (0.1, 0.0, 1.0), weight=20.0), angular_velocity=(0.1, 0.2, 3.0))
        assert all(np.array_equal(ds[name], anew[name]) for name in ("attitude", "energy", "angular_momentum"))
        return many

    assert run(1.0) > 3
    assert run(0.5) == 0
    assert run(2.0) > 3
    symmetric = ph.heavy_top((5.0, 5.0, 3.0), (0.0, 0.0, 1.0), weight=20.0)
    call = partial(ph.ensemble, symmetric, angular_velocity=(0.1, 0.2, 3.0), step=0.01, steps=3)
    assert "axial_angular_momentum" in call(members={"inertia": [(4.0, 4.0, 3.0), (6.0, 6.0, 3.0)]})
    assert "axial_angular_momentum" not in call(members={"inertia": [(5.0, 5.0, 3.0), (4.5, 5.5, 3.0)]})


def test_members_are_in_lanes_from_eight_on(monkeypatch, worth_lanes):
    monkeypatch.setattr(ensemble, "WORTH_LANES", worth_lanes)
    call, values = partial(ph.ensemble, TOP, "v2/mr", step=0.01, steps=4), {"angular_velocity": spins(8)}
    auto, together = call(members=values), call(members=values, engine="lanes")
    assert auto.attrs["engine"].startswith("lanes: ") and np.array_equal(auto.attitude, together.attitude)
    fewer = call(members={"angular_velocity": spins(7)})
    assert fewer.attrs["engine"] == "threads: the compiled loop of a single run, one member after the other"


@each(
    ("engine", "words", "said"),
    [
        ("lanes", {"method": "taylor16", "step": 0.1, "steps": 2}, "engine 'lanes' cannot run these members"),
        ("lanes", {"method": "mkrk:dp8", "steps": ph.Tolerance(1e-6), "t_end": 1.0}, "each its own"),
        ("device", {"method": "v2", "step": 0.1, "steps": 2}, "engine 'device' cannot run these members"),
    ],
)
def test_an_engine_that_cannot_says_why(engine, words, said):
    if engine == "device" and not cuda.why_none():
        pytest.skip("there is a device")
    with pytest.raises(InvalidInput) as told:
        ph.ensemble(TOP, members={"weight": [1.0, 2.0]}, engine=engine, **words)
    assert said in str(told.value)


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_constants_that_are_products_of_what_varies(monkeypatch):
    air = ph.forces.drag(coefficient=0.02, density=3e-12, radius=6.778e6, scale=60e3)
    craft = ph.spacecraft((90, 70, 60), EARTH.mu, 120.0, forces=[ph.forces.zonal(**EARTH.zonal), air])
    count, built = 300, []
    values = {"forces.1.coefficient": 0.02 * (1.0 + 0.1 * RNG.random(count)), "inertia": 60.0 * inertias(count)}
    own = members.system_of
    monkeypatch.setattr(members, "system_of", lambda *given: built.append(1) or own(*given))
    words = {"step": 30.0, "steps": 4, "position": (6.778e6, 0, 0), "velocity": (0, 5000.0, 5800.0)}
    ds = ph.ensemble(craft, "rkn6_14a", members=values, **words)
    assert len(built) < 100
    for k in (1, 150, 298):
        changes = [dict(craft.arguments["forces"][0]), dict(craft.arguments["forces"][1])]
        changes[1]["coefficient"] = float(values["forces.1.coefficient"][k])
        changed = {"forces": changes, "inertia": values["inertia"][k]}
        assert_same(ds.isel(member=k), ph.integrate(craft, "rkn6_14a", parameters=changed, **words))


@each(("one", "few"), [(None, True), (tensors(1)[0], True), (np.diag([1.0, 1.2, 1.1]), False)],
                         ids=["moments", "tensors", "the axes of one are those of the body"])  # fmt: skip
def test_inertias_of_a_body_of_a_sum_build_few_systems(monkeypatch, one, few):
    given = inertias(300) if one is None else np.concatenate([tensors(150), [one], tensors(149)])
    pair = ph.system(ph.body("a", 2.0, (1, 1.2, 1.4)), ph.body("b", 1.0, given[1]), ph.loads.central(1.0),
                     ph.loads.gravity_gradient())  # fmt: skip
    built, own = [], members.system_of
    monkeypatch.setattr(members, "system_of", lambda *given: built.append(1) or own(*given))
    words = {"step": 0.1, "steps": 5, "start": {"a": {"position": (4, 0, 0), "velocity": (0, 0.5, 0)},
                                                "b": {"position": (5, 0, 0), "velocity": (0, 0.4, 0)}}}  # fmt: skip
    ds = ph.ensemble(pair, "rkn6_14a", members={"b.inertia": given}, **words)
    assert (len(built) < 100) is few
    for k in (1, 150, 298):
        assert_same(ds.isel(member=k), ph.integrate(pair, "rkn6_14a", parameters={"b.inertia": given[k]}, **words))


def decides(t, q, omega, parameters):
    if parameters[0] > 0.5:
        return (-omega[0], 0.0, 0.0)
    return (0.0, -2.0 * omega[1], 0.0)


def test_a_function_that_decides_by_what_varies_is_right_for_every_member():
    system = ph.rigid_body((2, 3, 4), torque=decides, parameters=[0.0])
    words = {"angular_velocity": (1, 2, 3), "step": 0.05, "steps": 10}
    ds = ph.ensemble(system, "v2", members={"parameters.0": [0.0, 1.0, 0.2, 0.7]}, **words)
    for k, value in enumerate((0.0, 1.0, 0.2, 0.7)):
        assert_same(ds.isel(member=k), ph.integrate(system, "v2", parameters=[value], **words))


def test_energies_that_are_off_are_warned_of_once():
    fast = np.tile([0.0, 0.1, 9.0], (40, 1)) * np.linspace(0.1, 1.0, 40)[:, None]
    words = {"step": 1.0, "steps": 60, "threads": 2, "angular_velocity": None}
    for reduce in (None, {"energy": "mean"}):
        with pytest.warns(ph.errors.EnergyWarning, match="of 40 members") as told:
            ph.ensemble(TOP, "quaternion_rk", members={"angular_velocity": fast}, reduce=reduce,
                        settings={"guard": True}, **words)  # fmt: skip
        assert len([one for one in told if one.category is ph.errors.EnergyWarning]) == 1


@each("events", [(), ["node"]])
def test_ctrl_c_keeps_the_members_that_are_done(monkeypatch, events):
    monkeypatch.setattr(ensemble, "BLOCK_SECONDS", 0.0)
    told_at = []

    def press(progress):
        told_at.append(progress.done)
        if told_at.count(3) == 1 and told_at[-1] == 3:
            os.kill(os.getpid(), signal.SIGINT)

    system, start = ph.orbit(EARTH.mu), orbits(20)
    with pytest.raises(ph.errors.Interrupted, match="of 20 members") as told:
        ph.ensemble(system, "kepler", members=start, step=300.0, steps=4, events=events, progress=press, threads=1)
    ds = told.value.trajectory
    done = ds.status.values == 0
    assert 3 <= done.sum() < 20 and (ds.status.values[~done] == -1).all()
    assert np.isfinite(ds.position[done]).all() and np.isnan(ds.position[~done]).all()
    assert "interrupted" in str(ds.failure.values[-1])


def test_what_only_some_members_conserve_is_left_out():
    symmetric = ph.heavy_top((5, 5, 1), (0, 0, 1), weight=20.0)
    values = {"inertia": [[5.0, 5.0, 1.0], [5.0, 4.9, 1.0], [4.8, 5.0, 1.0]]}
    words = {"angular_velocity": (0.1, 0, 9), "step": 0.01, "steps": 20, "every": 10}
    ds = ph.ensemble(symmetric, "v2", members=values, **words)
    assert ds.attrs["engine"].startswith("threads: the compiled loop")
    assert "axial_angular_momentum" not in ds and "axial" not in ds.attrs["conserves"]
    for k, inertia in enumerate(values["inertia"]):
        one = ph.integrate(symmetric, "v2", parameters={"inertia": inertia}, **words)
        assert_same(ds.isel(member=k), one.drop_vars("axial_angular_momentum", errors="ignore"))
    same = ph.ensemble(symmetric, "v2", members={"weight": [20.0, 21.0]}, **words)
    assert same.axial_angular_momentum.sizes == {"member": 2, "time": 3}
    alone = ph.ensemble(ph.orbit(EARTH.mu), "kepler", members=orbits(2) | {"mass": [1.0, 2.0]}, step=60.0, steps=4,
                        events=["node"])  # fmt: skip
    assert alone.sizes["member"] == 2


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_members_go_on_from_the_end_of_a_run():
    words = {"step": 0.05, "steps": 10, "settings": {"compensated": True}}
    begun = ph.integrate(TOP, "rkn6_14a", angular_velocity=(1, 2, 3), **words)
    weights = [2.0, 3.0, 4.0]
    ds = ph.ensemble(TOP, "rkn6_14a", members={"weight": weights}, start=begun, **words)
    one = ph.integrate(TOP, "rkn6_14a", start=begun, parameters={"weight": 4.0}, **words)
    assert_same(ds.isel(member=2), one)


def test_numbers_of_a_method_vary():
    turned = np.array([[0.1, 0.2, 7.0], [0.1, 0.2, 0.3]])  # beyond a half turn: no attitude says so
    words = {"step": 0.05, "steps": 10, "angular_velocity": (0, 0, 1.0)}
    ds = ph.ensemble(TOP, "rotation_vector:continuous", members={"coordinates": turned}, **words)
    one = ph.integrate(TOP, "rotation_vector:continuous", start={"coordinates": turned[0]}, **words)
    assert_same(ds.isel(member=0), one)


def refuses(t, q, omega, parameters):
    if omega[2] > 5.0:
        raise ValueError("too fast for the wheel")
    return (-0.1 * omega[0], 0.0, 0.0)


def slow(t, q, omega, parameters):
    return tuple(-parameters[0] * float(str(one)) for one in omega)


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_a_function_that_raises_for_one_member():
    system = ph.rigid_body((2, 3, 4), torque=refuses)
    words = {"step": 0.05, "steps": 10}
    ds = ph.ensemble(system, "v2", members={"angular_velocity": [[1, 2, 3.0], [1, 2, 9.0], [3, 2, 1.0]]}, **words)
    assert ds.status.values.tolist() == [0, 101, 0]
    assert "ValueError: too fast for the wheel" in str(ds.failure[1].values)
    assert_same(ds.isel(member=2), ph.integrate(system, "v2", angular_velocity=(3, 2, 1), **words))


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
def test_a_function_that_cannot_be_compiled():
    system = ph.rigid_body((2, 3, 4), torque=slow, parameters=[0.1])
    words = {"step": 0.05, "steps": 6, "angular_velocity": (1, 2, 3)}
    ds = ph.ensemble(system, "v2", members={"parameters.0": [0.1, 0.2, 0.3]}, threads=2, **words)
    assert_same(ds.isel(member=1), ph.integrate(system, "v2", parameters=[0.2], **words))


def test_runs_by_themselves_with_a_tolerance_have_rows_at_the_start_and_the_end_too():
    """So that members of unequal numbers of steps can be reduced, whatever computes them."""
    orbit = ph.orbit(1.0, forces=[ph.forces.impulse(1.0, 0.01, "velocity")])
    how = {"steps": ph.Tolerance(1e-9), "t_end": 5.0, "position": (1.0, 0, 0)}
    members = {"velocity": [[0, 1.0, 0], [0, 1.2, 0], [0, 0.7, 0]]}
    ds = ph.ensemble(orbit, members=members, **how)
    assert "one run each" in ds.engine and ds.time.values.tolist() == [0.0, 5.0]
    mean = ph.ensemble(orbit, members=members, reduce={"position": "mean"}, **how)
    np.testing.assert_allclose(mean.position_mean, ds.position.mean("member"), rtol=1e-14, atol=1e-15)
    alone = ph.integrate(orbit, velocity=members["velocity"][1], t_eval=[0.0, 5.0], **how)
    assert (ds.position[1].values == alone.position.values).all()


@each(
    ("given", "sentence"),
    [
        (
            {"parameters": np.ones((2, 2)), "parameters.0": [1.0, 2.0]},
            "values of parameters as well as of parameters.0",
        ),
        (
            {"parameters.0": [1.0, 2.0], "parameters": np.ones((2, 2))},
            "values of parameters as well as of parameters.0",
        ),
        ({"rtol": [[1e-6], [1e-9]]}, r"rtol must be one number for each member, but has shape \(2, 1\); give \(2,\)"),
        ({"seed": [[1.0], [2.0]]}, r"seed must be one number for each member, but has shape \(2, 1\); give \(2,\)"),
        ({"angular_velocity": 1j * np.ones((2, 3))}, "must be real numbers"),
        (None, r"members must be arrays by name, .* a table .* or a whole number of members, not None"),
        ("members.txt", "a file that ends in .csv"),
        (10**15, "members asks for .* more than the memory of this machine holds"),
        (
            ph.ensembles.sampling.members({"angular_velocity": ph.ensembles.sampling.normal((0, 0, 1), 0.1)}, 10**15),
            "members asks for .*",
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_members_cannot_be_is_said_in_one_sentence(given, sentence):
    words = {"steps": ph.Tolerance(1e-6), "t_end": 1.0} if "rtol" in str(given) else {"step": 0.1, "steps": 2}
    bath = ph.methods.baoab(temperature=1.0, friction=1.0)
    method = bath if "seed" in str(given) else "taylor" if "rtol" in str(given) else "v2"
    with pytest.raises(InvalidInput, match=sentence):
        ph.ensemble(USERS, method, members=given, **words)


def test_arrays_with_labels_have_their_members_where_the_labels_say():
    spun = xr.DataArray(spins(3), dims=("member", "axis"))
    words = {"step": 0.1, "steps": 2}
    a, b = (ph.ensemble(USERS, "v2", members={"angular_velocity": one}, **words) for one in (spun, spun.T))
    assert (a.angular_velocity.values == b.angular_velocity.values).all()


def test_a_start_of_many_members_is_no_start_of_each():
    many = ph.ensemble(USERS, "v2", members={"angular_velocity": spins(3)}, step=0.1, steps=2)
    with pytest.raises(
        InvalidInput, match=r"start has the dimension 'member'; take one of them, start.isel\(member=0\)"
    ):
        ph.ensemble(USERS, "v2", members=3, start=many, step=0.1, steps=2)


@each("tensor", [False, True])
def test_what_one_member_among_many_does_not_conserve_is_not_recorded(tensor):
    moments = np.tile([2.0, 2.0, 1.0], (1000, 1))
    moments[501] = 2.0, 2.1, 1.0
    given = moments[:, :, None] * np.eye(3) if tensor else moments
    top = ph.heavy_top((2, 2, 1), (0, 0, 1), weight=1.0)
    ds = ph.ensemble(top, "v2", members={"inertia": given}, angular_velocity=(0, 0.1, 1), step=0.1, steps=2)
    assert "axial" not in ds.attrs["conserves"] and "axial_angular_momentum" not in ds


def test_only_scenarios_are_run_as_such():
    with pytest.raises(
        InvalidInput, match=r"scenario must be what polhode.runs.read_scenario returns, not 'tops.toml'"
    ):
        ph.ensembles.ensemble_of("tops.toml")


def test_members_that_are_done_before_an_interrupt_are_reduced():
    def press(progress):
        if progress.done == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(ph.errors.Interrupted, match=r"interrupted after \d+ of 20 members") as told:
        ph.ensemble(ph.orbit(EARTH.mu), "kepler", members=orbits(20), step=300.0, steps=4, events=["node"],
                    progress=press, threads=1, reduce={"energy": "mean"})  # fmt: skip
    ds = told.value.trajectory
    assert 3 <= ds.attrs["members"] < 20 and (ds.energy_count.values == ds.attrs["members"]).all()


def test_a_misspelt_argument_is_one_of_ensemble():
    with pytest.raises(InvalidInput, match=r"argument of ensemble .*'engin'.*engine"):
        ph.ensemble(ph.free_body((1, 2, 2.5)), "v2", members=2, step=0.1, steps=1, engin="threads")


def looked_up(t, position, velocity, parameters):
    return -parameters[int(2.0 * t)] * position


def test_an_index_that_is_computed_is_for_threads():
    """Members have the numbers they have alone; over lanes it is refused, with place, reason and remedy."""
    system = ph.particle(force=looked_up, parameters=[1.0, 2.0, 3.0])
    how = {"step": 0.1, "steps": 10, "velocity": (0.0, 1.0, 0.0)}
    starts = np.random.default_rng(0).normal(size=(ensemble.WORTH_LANES, 3))
    ds = ph.ensemble(system, "v2", members={"position": starts}, every=10, **how)
    assert ds.attrs["engine"].startswith("threads: ") and "an index" in ds.attrs["engine"]
    for k in (0, len(starts) - 1):
        alone = ph.integrate(system, "v2", position=starts[k], **how)
        assert np.array_equal(ds.position[k, -1], alone.position[-1])
    with pytest.raises(
        InvalidInput, match=r"engine 'lanes' cannot .*an index.*\(test_ensemble.py:\d+\); leave engine out"
    ):
        ph.ensemble(system, "v2", members={"position": starts[:2]}, engine="lanes", **how)
