"""Reductions over members: the numbers of NumPy and SciPy, whatever the blocks, threads and order."""

import json
import pickle
import threading
import tracemalloc
from itertools import pairwise
from math import log2, sqrt

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.ensembles.reductions import Running, reductions_from
from polhode.errors import InvalidInput, UserFunctionError

R = ph.ensembles.reductions
TIMES = np.linspace(0.0, 1.0, 4)


def block_of(first, stop, spread=0.3, rows=4):
    """Members of a made-up ensemble, each from its own number alone."""
    g = np.stack([np.random.default_rng([7, k]).normal(size=(rows, 8)) for k in range(first, stop)])
    q = ph.rotation.multiply([0.6, 0.0, 0.8, 0.0], ph.rotation.exp_quaternion(spread * g[..., :3]))
    q *= np.where(g[..., 3:4] < 0.0, -1.0, 1.0)  # either sign means the same attitude
    energy = g[..., 4] + np.arange(rows)
    rate = g[..., 5:]
    failed = np.arange(first, stop) % 10 == 3
    for values in (q, energy, rate):
        values[failed, 2:] = np.nan
    return xr.Dataset(
        {
            "attitude": (("member", "time", "quaternion"), q),
            "energy": (("member", "time"), energy, {"units": "J"}),
            "angular_velocity": (("member", "time", "axis"), rate, {"units": "rad s-1"}),
            "status": ("member", failed.astype(int)),
        },
        {"time": ("time", np.linspace(0.0, 1.0, rows), {"units": "s"}), "axis": ["x", "y", "z"],
         "quaternion": ["w", "x", "y", "z"]},
        {"system": "made_up"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def ensemble():
    return block_of(0, 3000)


def speed(block):
    return (block.angular_velocity**2).sum("axis", skipna=False) ** 0.5


def every_reduction():
    return [
        R.mean("attitude"), R.std("attitude"), R.covariance("attitude"), R.mean("energy"), R.std("energy"),
        R.extremes("energy"), R.quantiles("energy"), R.covariance("angular_velocity"), R.mean("angular_velocity"),
        R.quantiles("speed", of=speed, size=512), R.crossings("energy", 1.0, "rising"),
        R.user("largest", start=list, add=lambda state, block: state.append(float(block.energy.max())),
               merge=lambda a, b: a + b, result=np.array),
    ]  # fmt: skip


def running_of(ensemble, cuts, reductions=None):
    running = Running(reductions or every_reduction(), 3000)
    for first, stop in cuts:
        running.add(first, ensemble.isel(member=slice(first, stop)))
    return running


# ------------------------------------------------------------------ the order
def test_blocks_threads_and_order_change_no_bit(ensemble):
    whole = running_of(ensemble, [(0, 3000)]).result()
    assert whole.attrs["members"] == 3000 and whole.attrs["failed"] == 300 and whole.attrs["system"] == "made_up"
    edges = [0, 1, 500, 512, 700, 1100, 1536, 2999, 3000]
    cuts = list(pairwise(edges))
    xr.testing.assert_identical(running_of(ensemble, cuts).result(), whole)
    xr.testing.assert_identical(running_of(ensemble, cuts[::-1]).result(), whole)
    threaded = Running(every_reduction(), 3000)
    threads = [
        threading.Thread(target=lambda part=part: [threaded.add(a, ensemble.isel(member=slice(a, b))) for a, b in part])
        for part in (cuts[::2], cuts[1::2])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    xr.testing.assert_identical(threaded.result(), whole)
    xr.testing.assert_identical(R.apply(ensemble, every_reduction(), block=777), whole)


def test_parts_that_two_processes_reduced_come_together(ensemble):
    reductions = [R.mean("attitude"), R.quantiles("energy"), R.mean("angular_velocity")]
    a, b = (running_of(ensemble, cut, reductions) for cut in ([(0, 700), (1500, 1700)], [(700, 1500), (1700, 3000)]))
    joined = Running(reductions, 3000)
    for part in (b, a):
        joined.absorb(pickle.loads(pickle.dumps(part)))
    xr.testing.assert_identical(joined.result(), R.apply(ensemble, reductions))
    nothing = Running(reductions, 3000)
    nothing.absorb(Running(reductions, 3000))
    with pytest.raises(InvalidInput, match="no member has been reduced yet"):
        nothing.result()


def test_what_is_there_so_far_can_be_asked_for(ensemble):
    part = running_of(ensemble, [(0, 600), (1024, 1500)], {"energy": "mean"}).result()
    both = np.concatenate([ensemble.energy.values[:600], ensemble.energy.values[1024:1500]])
    np.testing.assert_allclose(part.energy_mean, np.nanmean(both, axis=0), rtol=1e-13)
    assert part.attrs["members"] == 1076


# ------------------------------------------------------------------ against NumPy and SciPy
def test_moments_of_numbers_and_vectors_are_numpys(ensemble):
    found = R.apply(ensemble, {"energy": ["mean", "std"], "angular_velocity": ["mean", "std", "covariance"]})
    energy, rate = ensemble.energy.values, ensemble.angular_velocity.values
    np.testing.assert_allclose(found.energy_mean, np.nanmean(energy, axis=0), rtol=1e-13)
    np.testing.assert_allclose(found.energy_std, np.nanstd(energy, axis=0, ddof=1), rtol=1e-13)
    np.testing.assert_allclose(found.angular_velocity_std, np.nanstd(rate, axis=0, ddof=1), rtol=1e-13)
    np.testing.assert_array_equal(found.energy_count, [3000, 3000, 2700, 2700])
    assert found.angular_velocity_covariance.dims == ("time", "axis", "other_axis")
    assert list(found.other_axis.values) == ["x", "y", "z"]
    for k in range(4):
        there = rate[np.isfinite(rate[:, k, 0]), k]
        np.testing.assert_allclose(found.angular_velocity_covariance[k], np.cov(there.T), rtol=1e-11)
    assert (
        found.energy_mean.attrs == {"units": "J"} and found.angular_velocity_covariance.attrs["units"] == "(rad s-1)2"
    )
    np.testing.assert_array_equal(found.time, ensemble.time)


@each(("spread", "of_mean", "of_covariance"), [(0.3, 3e-4, 1e-2), (0.6, 4e-3, 6e-2)])
def test_mean_attitudes_are_those_of_the_group(spread, of_mean, of_covariance):
    """Against SciPy's chordal mean improved to that of rotation vectors; tolerances in statistical errors."""
    ensemble = block_of(0, 3000, spread, rows=2)
    found = R.apply(ensemble, {"attitude": ["mean", "std", "covariance"]})
    for k in range(2):
        drawn = Rotation.from_quat(ensemble.attitude.values[:, k, [1, 2, 3, 0]])
        mean = drawn.mean()
        for _ in range(20):
            mean = mean * Rotation.from_rotvec((mean.inv() * drawn).as_rotvec().mean(axis=0))
        vectors = (mean.inv() * drawn).as_rotvec()
        away = (mean.inv() * Rotation.from_quat(found.attitude_mean.values[k, [1, 2, 3, 0]])).magnitude()
        assert away < of_mean * spread / sqrt(3000)
        exact = np.cov(vectors.T)
        np.testing.assert_allclose(
            found.attitude_covariance[k], exact, rtol=0, atol=of_covariance * spread**2 / sqrt(3000)
        )
        np.testing.assert_allclose(found.attitude_std[k] ** 2, found.attitude_covariance.values[k].diagonal())
    assert found.attitude_std.dims == ("time", "axis") and found.attitude_std.attrs["units"] == "rad"


def test_mean_attitudes_of_one_batch_are_exact_and_continuous():
    times = np.linspace(0.0, 20.0, 60)
    turning = ph.rotation.exp_quaternion(np.multiply.outer(times, (0.0, 0.0, 1.0)))
    q = ph.rotation.multiply(
        turning, ph.rotation.exp_quaternion(0.2 * np.random.default_rng(1).normal(size=(400, 1, 3)))
    )
    found = R.apply(xr.Dataset({"attitude": (("member", "time", "quaternion"), q)}), {"attitude": "mean"}).attitude_mean
    assert found[0, 0] > 0 and (np.einsum("ij,ij->i", found[1:], found[:-1]) > 0.9).all() and (found[:, 0] < -0.9).any()
    w = ph.rotation.log_quaternion(ph.rotation.multiply(ph.rotation.conjugate(found.values), q))
    assert abs(w.mean(axis=0)).max() < 1e-13
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-14)


def test_nothing_and_one_member_have_no_spread():
    ds = block_of(0, 1)
    ds.energy[0, 3] = np.nan
    ds.attitude[0, 3] = np.nan
    found = R.apply(ds, [*every_reduction()[:-1]])
    for name in ("energy_mean", "energy_min", "energy_quantile", "attitude_mean"):
        values = found[name].transpose("time", ...).values
        assert np.isfinite(values[:3]).all() and np.isnan(values[3]).all(), name
    assert np.isnan(found.energy_std).all() and np.isnan(found.attitude_covariance).all()
    np.testing.assert_array_equal(found.energy_min_member, [0, 0, 0, -1])
    np.testing.assert_array_equal(found.energy_count, [1, 1, 1, 0])


def test_extremes_say_whose_they_are(ensemble):
    found = R.apply(ensemble, [R.extremes("energy")])
    energy = ensemble.energy.values
    np.testing.assert_array_equal(found.energy_max, np.nanmax(energy, axis=0))
    np.testing.assert_array_equal(found.energy_min, np.nanmin(energy, axis=0))
    np.testing.assert_array_equal(found.energy_max_member, np.nanargmax(energy, axis=0))
    np.testing.assert_array_equal(found.energy_min_member, np.nanargmin(energy, axis=0))
    same = xr.Dataset({"x": ("member", np.ones(2000))})
    assert R.apply(same, [R.extremes("x")]).x_max_member == 0


def test_quantiles_are_numpys_until_the_sketch_is_full(ensemble):
    q = [0.0, 0.025, 0.5, 0.9, 1.0]
    found = R.apply(ensemble, [R.quantiles("energy", q), R.quantiles("angular_velocity", q)])
    np.testing.assert_allclose(found.energy_quantile, np.nanquantile(ensemble.energy, q, axis=0), rtol=1e-14)
    rates = np.nanquantile(ensemble.angular_velocity, q, axis=0)
    np.testing.assert_allclose(found.angular_velocity_quantile, rates, rtol=1e-13, atol=1e-15)
    assert found.energy_quantile.dims == ("quantile", "time") and found.energy_quantile.attrs["rank_error"] == 0.0
    np.testing.assert_array_equal(found.coords["quantile"], q)


@each("order", ["random", "increasing", "wave"])
def test_sketches_keep_within_the_error_of_ranks_they_state(order):
    n, size, q = 60_000, 512, np.linspace(0.01, 0.99, 50)
    x = np.random.default_rng(2).exponential(size=n)
    x = {"random": x, "increasing": np.sort(x), "wave": np.sin(0.01 * np.arange(n)) + 1e-9 * x}[order]
    found = R.apply(xr.Dataset({"x": ("member", x)}), [R.quantiles("x", q, size=size)])
    error = abs(np.searchsorted(np.sort(x), found.x_quantile.values) / n - q).max()
    stated = found.x_quantile.attrs["rank_error"]
    assert error < stated + 1 / n and 0 < stated <= log2(n / size) / (2 * size)
    assert error < 0.4 * stated  # errors of halvings cancel


def test_memory_does_not_grow_with_the_members():
    rng = np.random.default_rng(3)
    reductions = {"x": ["mean", "std", "covariance", "extremes", "quantiles"]}

    def peak(members, chunk=8192):
        tracemalloc.start()
        running = Running(reductions, members)
        for first in range(0, members, chunk):
            many = min(chunk, members - first)
            running.add(first, xr.Dataset({"x": (("member", "axis"), rng.normal(size=(many, 2)))}))
        found = running.result()
        high = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return high, found

    few, _ = peak(16_000)
    many, found = peak(250_000)
    assert many < few + 2e6  # 2 MB for 4 MB of numbers
    np.testing.assert_allclose(found.x_mean, 0.0, rtol=0, atol=5e-3)
    np.testing.assert_allclose(found.x_quantile.sel(quantile=0.95), 1.645, rtol=0, atol=0.02)


def test_ensembles_are_drawn_part_by_part(monkeypatch):
    """The same bits as of one part; numbers of members, of failures too, are those of the whole."""
    from polhode.ensembles import ensemble as home

    S = ph.ensembles.sampling
    varied = {"inertia": S.inertia((3.0, 2.0, 1.5), 0.1), "angular_velocity": S.normal((0.1, 2.0, 0.0), (0.01, 0.4, 0))}
    drawn = S.members(varied, 700, seed=4)
    told = []
    what = {"step": 0.36, "steps": 5, "engine": "threads", "reduce": {"attitude": "mean", "energy": "extremes"}}
    whole = ph.ensemble(ph.free_body((3.0, 2.0, 1.5)), "v2/mr", members=drawn, **what)
    monkeypatch.setattr(home, "PART", 256)
    parts = ph.ensemble(ph.free_body((3.0, 2.0, 1.5)), "v2/mr", members=drawn, progress=told.append, **what)
    xr.testing.assert_identical(parts, whole)
    assert parts.attrs["members"] == 700 and parts.attrs["title"].startswith("700 members")
    assert parts.attrs["failed"] > 50 and json.loads(parts.attrs["ensemble"])["drawn"] == drawn.record()
    done = [at.done for at in told]
    assert done == sorted(done) and done[-1] == 700 and {at.total for at in told} == {700}
    assert all(0.0 <= at.share <= 1.0 for at in told) and [at.seconds for at in told] == sorted(
        at.seconds for at in told
    )
    table = S.members({"mass": np.where(np.arange(700) == 600, -1.0, 1.0), "velocity": S.normal((0, 0, 1), 1.0)})
    with pytest.raises(InvalidInput, match=r"member 600: mass is -1"):
        ph.ensemble(ph.particle(1.0), members=table, step=0.1, steps=2, reduce={"velocity": "mean"})


def test_memory_of_ensembles_does_not_grow_with_their_members(monkeypatch):
    from polhode.ensembles import ensemble as home

    monkeypatch.setattr(home, "PART", 2048)
    body = ph.free_body((3.0, 2.0, 1.5))
    varied = {
        "inertia": ph.ensembles.sampling.inertia((3.0, 2.0, 1.5), 0.1),
        "angular_velocity": ph.ensembles.sampling.normal((0, 0, 1), 0.1),
    }
    what = {"step": 1.0, "steps": 1, "engine": "threads", "threads": 1, "reduce": {"angular_velocity": "mean"}}

    def peak(count):
        tracemalloc.start()
        ph.ensemble(body, "exact", members=ph.ensembles.sampling.members(varied, count), **what)
        high = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return high

    peak(4096)
    assert peak(32_768) < peak(4096) + 1e6  # the numbers that differ are 3 MB


# ------------------------------------------------------------------ crossings and events
def test_crossings_are_counted_and_timed():
    phase = np.linspace(0.0, 6.0, 700)
    times = np.linspace(0.0, 2.0, 401)
    x = np.sin(2 * np.pi * times - phase[:, None])
    ds = xr.Dataset({"x": (("member", "time"), x)}, {"time": ("time", times, {"units": "s"})})
    for direction, sign in (("rising", 1), ("falling", -1)):
        found = R.apply(ds, [R.crossings("x", 0.5, direction)])
        above = sign * (x - 0.5) > 0
        first = np.array([np.flatnonzero(~row[:-1] & row[1:])[0] for row in above])
        by_hand = (~above[:, :-1] & above[:, 1:]).sum(axis=0)
        np.testing.assert_array_equal(found.x_crossings, np.concatenate([[0], np.cumsum(by_hand)]))
        np.testing.assert_array_equal(found.x_crossed, [(first + 1 <= k).sum() for k in range(401)])
        angle = np.pi / 6 if direction == "rising" else 5 * np.pi / 6
        exact = np.mod(angle + phase, 2 * np.pi) / (2 * np.pi)
        exact = np.where(abs(exact - 1.0) < 1e-9, 0.0, exact)
        np.testing.assert_allclose(found.x_first_crossing_mean, exact.mean(), rtol=0, atol=1e-4)
        np.testing.assert_allclose(found.x_first_crossing_std, exact.std(ddof=1), rtol=0, atol=1e-4)
        assert found.x_first_crossing_mean.attrs["units"] == "s"
    both = R.apply(ds, [R.crossings("x", 0.5)])
    assert both.x_crossings[-1] == sum(int(R.apply(ds, [R.crossings("x", 0.5, d)]).x_crossings[-1])
                                       for d in ("rising", "falling"))  # fmt: skip
    back = R.apply(ds.isel(time=slice(None, None, -1)), [R.crossings("x", 0.5, "rising")])
    assert back.x_first_crossing_mean > 1.0  # the first in the order of the run
    never = R.apply(ds, [R.crossings("x", 5.0)])
    assert never.x_crossed[-1] == 0 and np.isnan(never.x_first_crossing_mean)


def test_events_are_counted_and_timed():
    rng = np.random.default_rng(4)
    times = np.sort(rng.uniform(0, 9, (600, 5)), axis=1)
    kinds = rng.choice(["node", "apsis"], (600, 5))
    times[:, 4] = np.where(rng.random(600) < 0.5, np.nan, times[:, 4])
    kinds[np.isnan(times)] = ""
    ds = xr.Dataset(
        {"event_time": (("member", "event"), times, {"units": "s"}), "event_kind": (("member", "event"), kinds)}
    )
    running = Running([R.events("node")], 600)
    running.add(0, ds.isel(member=slice(100)))
    running.add(100, ds.isel(member=slice(100, 600)).pad(event=(0, 2)))  # blocks differ in their most events
    found = running.result()
    node = kinds == "node"
    first = np.array([row[k][0] if k.any() else np.nan for row, k in zip(times, node, strict=True)])
    assert found.node_events == node.sum() and found.node_members == node.any(axis=1).sum()
    np.testing.assert_allclose(found.node_events_mean, node.sum(axis=1).mean())
    np.testing.assert_allclose(found.node_first_time_mean, np.nanmean(first))
    np.testing.assert_allclose(found.node_first_time_std, np.nanstd(first, ddof=1))
    assert found.node_first_time_min == np.nanmin(first) and found.node_first_time_min_member == np.nanargmin(first)
    assert found.node_first_time_min.attrs["units"] == "s"
    with pytest.raises(InvalidInput, match=r"no events to reduce; ask for events=\['node'\]"):
        R.apply(block_of(0, 2), [R.events("node")])


def test_one_component_and_all_of_them_fit_into_one_dataset(ensemble):
    turned = R.mean("turned", of=lambda block: block.angular_velocity.sel(axis="y"))
    found = R.apply(ensemble, [R.mean("angular_velocity"), turned])
    np.testing.assert_array_equal(found.turned_mean, found.angular_velocity_mean[:, 1])
    two = R.mean("two", of=lambda block: block.angular_velocity[:, :, :2])
    with pytest.raises(InvalidInput, match=r"do not fit into one Dataset: .*axis"):
        R.apply(ensemble, [R.mean("angular_velocity"), two])


# ------------------------------------------------------------------ a user's own
def test_a_users_reduction_gets_batches_in_order_and_makes_variables():
    seen = []

    def add(state, block):
        seen.append(block.sizes["member"])
        return [*state, float(block.energy.isel(time=0).sum())]

    ds = block_of(0, 1300)
    own = R.user("own", start=list, add=add, merge=lambda a, b: a.extend(b), result=lambda state: {
        "sums": state, "total": xr.DataArray(np.sum(state), attrs={"units": "J"})})  # fmt: skip
    found = R.apply(ds, [own], block=100)
    assert seen == [512, 512, 276] and found.own_sums.sizes == {"own_sums_0": 3}
    np.testing.assert_allclose(found.own_total, ds.energy.isel(time=0).sum(), rtol=1e-12)
    assert found.own_total.attrs == {"units": "J"} and json.loads(found.attrs["reductions"]) == [
        {"user": {"name": "own"}}
    ]


# ------------------------------------------------------------------ words, records, errors
def test_reductions_are_read_from_words_and_records():
    record = [one.record() for one in every_reduction()[:9]]
    assert [one.record() for one in reductions_from(json.loads(json.dumps(record)))] == record
    words = reductions_from({"attitude": "mean", "energy": ["extremes", "quantiles"]})
    assert [(one.kind, one.name) for one in words] == [
        ("mean", "attitude"), ("extremes", "energy"), ("quantiles", "energy")]  # fmt: skip
    assert reductions_from([{"mean": "energy"}])[0].name == "energy"
    assert reductions_from(R.mean("x"))[0].name == "x"
    assert json.loads(R.apply(block_of(0, 2), [R.quantiles("s", [0.5], of=speed)]).attrs["reductions"]) == [
        {"quantiles": {"name": "s", "of": "speed", "q": [0.5], "size": 2048}}]  # fmt: skip


def failing(block):
    raise ValueError("too hot")


WRONG = {
    "no variable": ({"enrgy": "mean"}, r"unknown variable to reduce 'enrgy'; did you mean 'energy'"),
    "no reduction": ({"energy": "meen"}, r"unknown reduction 'meen'; did you mean 'mean'"),
    "no word": ({"energy": [["mean"]]}, r"unknown reduction \['mean'\]"),
    "nothing": ([], r"reduce is empty; give at least one reduction"),
    "two of one name": ([R.mean("a", of=speed), R.std("a")], r"two reductions are called 'a'"),
    "twice": ([R.mean("energy"), R.mean("energy")], r"two reductions are called 'energy'"),
    "two sets of q": ([R.quantiles("energy", [0.5]), R.quantiles("a", of=speed)], r"quantiles of energy and a are at"),
    "quantiles of attitudes": ({"attitude": "quantiles"}, r"attitude are attitudes, which have no order"),
    "covariance of a number": ({"energy": "covariance"}, r"energy is one number at each time and has no covariance"),
    "the same for all": ([R.mean("time")], r"time is the same for all members"),
    "two keys": ([{"mean": "x", "std": "y"}], r"a reduction must have one key, such as mean"),
    "no times": ([R.crossings("status")], r"status does not depend on time and crosses no level"),
}


@each("kind", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(kind):
    reductions, sentence = WRONG[kind]
    with pytest.raises(InvalidInput, match=sentence):
        R.apply(block_of(0, 2), reductions)


def test_more_wrong_things(ensemble):
    for call, sentence in (
        (lambda: R.quantiles("x", [0.5, 0.1]), "q must be probabilities between 0 and 1, increasing"),
        (lambda: R.quantiles("x", size=1000), "size is 1000; it must be one of 512, 1024"),
        (lambda: R.crossings("x", 1.0, "up"), "unknown direction 'up'"),
        (lambda: R.mean("x", of=3), "of must be a function"),
        (lambda: R.apply(ensemble.isel(member=0), {"energy": "mean"}), "ds must be a Dataset with the dim"),
        (lambda: running_of(ensemble, [(0, 2)]).add(2, block_of(0, 2, rows=3)), r"has shape \(3, 4\) in some members"),
        (lambda: Running({"energy": "mean"}, 2).add(1, block_of(0, 2)), "members 1 to 2 are added to an ensemble of 2"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            call()
    for of, sentence in (
        (failing, "function of 'a' failed: ValueError: too hot"),
        (len, "must return a DataArray with"),
    ):
        with pytest.raises(UserFunctionError, match=sentence):
            R.apply(block_of(0, 2), [R.mean("a", of=of)])
    with pytest.raises(UserFunctionError, match="add of the reduction 'a' failed: ValueError: too hot"):
        R.apply(block_of(0, 2), [R.user("a", start=list, add=lambda s, b: failing(b), merge=max, result=max)])
    with pytest.raises(UserFunctionError, match="result of the reduction 'a' must be numbers"):
        R.apply(block_of(0, 2), [R.user("a", start=list, add=lambda s, b: None, merge=max, result=lambda s: [None])])


@each("one", [R.mean("energy"), R.crossings("energy")])
def test_rows_at_other_times_in_each_member_are_not_mixed(one):
    speeds = [[0.0, speed, 0.0] for speed in (0.8, 0.9)]
    words = {"position": (1, 0, 0), "step": 0.1, "t_end": 5.0, "events": ph.events.altitude(0.05, 0.8, terminal=True)}
    with pytest.raises(InvalidInput, match=r"energy is at other times in each member; give t_eval, or reduce what"):
        ph.ensemble(ph.orbit(mu=1.0), members={"velocity": speeds}, reduce=one, **words)
    ds = ph.ensemble(ph.orbit(mu=1.0), members={"velocity": speeds}, reduce=R.events("altitude_falling"), **words)
    assert ds.altitude_falling_members == 2
    assert json.loads(ds.attrs["reductions"]) == [{"events": "altitude_falling"}]
    last = R.mean("last", of=lambda block: block.energy.max("time"))
    assert ph.ensemble(ph.orbit(mu=1.0), members={"velocity": speeds}, reduce=last, **words).last_count == 2


def test_kinds_of_events_that_cannot_occur_are_refused():
    words = {"position": (1, 0, 0), "step": 0.1, "steps": 5, "events": ["periapsis", ph.events.altitude(0.05, 0.8)]}
    with pytest.raises(InvalidInput, match=r"unknown kind of event to reduce 'altitude'; did you mean 'altitude_"):
        ph.ensemble(ph.orbit(mu=1.0), members={"velocity": [[0, 1.1, 0]]}, reduce=R.events("altitude"), **words)
    ds = ph.ensemble(ph.orbit(mu=1.0), members={"velocity": [[0, 1.1, 0]]}, reduce=R.events("periapsis"), **words)
    assert ds.periapsis_members == 1
