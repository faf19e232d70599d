"""Statistics of the rows of one run, taken while they come."""

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from polhode.runs import rows, stepping

R = ph.ensembles.reductions
EARTH = ph.planets.EARTH
TOP = ph.heavy_top((5, 4, 3), (0, 0, 1), 20.0)
START = {"attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.0)), "angular_velocity": (0.1, 0.2, 3.0)}
TIMES = np.linspace(0.0, 12.0, 601) ** 1.1 / 12.0**0.1


def speed(block):
    return (block.angular_velocity**2).sum("axis") ** 0.5


def own():
    """A reduction of the user's: how many rows turn fast, and which was the last."""

    def add(state, block):
        return state[0] + int((speed(block) > 3.0).sum()), float(block.time[-1])

    return R.user(
        "fast", start=lambda: (0, 0.0), add=add, merge=lambda a, b: (a[0] + b[0], b[1]), result=lambda s: s[0]
    )


def wanted():
    omega = [kind("angular_velocity") for kind in (R.mean, R.std, R.covariance)]
    return [*omega, R.extremes("energy"), R.quantiles("speed", (0.1, 0.5), of=speed), R.mean("attitude"),
            R.std("attitude"), own()]  # fmt: skip


def few(monkeypatch):
    """Rows leave the memory after a few of them."""
    monkeypatch.setattr(rows, "SLICE", 8 * 100 * 13)
    monkeypatch.setattr(rows, "KEPT", 8 * 50 * 13)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 20)


def check(found, kept):
    """Statistics against numpy over the rows."""
    omega, energy, v = kept.angular_velocity.values, kept.energy.values, speed(kept).values
    n = len(omega)
    np.testing.assert_allclose(found.angular_velocity_mean, omega.mean(axis=0), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.angular_velocity_std, omega.std(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(found.angular_velocity_covariance, np.cov(omega.T), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(found.speed_quantile, np.quantile(v, (0.1, 0.5)), rtol=1e-13)
    assert found.angular_velocity_count == n and found.fast == (v > 3.0).sum()
    assert (found.energy_min, found.energy_min_row) == (energy.min(), energy.argmin())
    assert (found.energy_max, found.energy_max_row) == (energy.max(), energy.argmax())
    q = found.attitude_mean.values
    off = ph.rotation.log_quaternion(ph.rotation.multiply(ph.rotation.conjugate(q), kept.attitude.values))
    assert q[0] >= 0.0 and found.attitude_std.shape == (3,) and np.isfinite(off).all()


@pytest.mark.parametrize(
    ("method", "how"),
    [
        ("v2", {"step": 0.02, "t_end": 12.0, "t_eval": TIMES}),
        ("v2", {"step": 0.02, "steps": 600}),
        ("taylor", {"steps": ph.Tolerance(1e-9), "t_end": 12.0, "t_eval": TIMES}),
    ],
    ids=["t_eval", "every", "tolerance"],
)
def test_statistics_are_those_of_the_rows_which_need_not_be_kept(monkeypatch, tmp_path, method, how):
    few(monkeypatch)
    kept = ph.integrate(TOP, method, **how, **START)
    found = ph.integrate(TOP, method, settings={"reduce": wanted()}, **how, **START)
    check(found, kept)
    names = list(kept.data_vars)
    labels = ["axis", "quaternion"]
    xr.testing.assert_equal(found[names].drop_vars(labels), kept[names].isel(time=[-1]).drop_vars(labels))
    stored = ph.integrate(TOP, method, settings={"reduce": wanted()}, store=tmp_path / "run.zarr", **how, **START)
    for name in set(found.data_vars) - set(names):
        xr.testing.assert_equal(stored[name], found[name])
    xr.testing.assert_equal(stored[names].load(), kept[names])


def test_the_rows_of_a_long_run_leave_the_memory(monkeypatch):
    few(monkeypatch)
    seen = []
    forget = rows.Record.forget

    def looked(record, stored):
        forget(record, stored)
        seen.append(record.held)

    monkeypatch.setattr(rows.Record, "forget", looked)
    ds = ph.integrate(TOP, "v2", step=0.02, t_end=12.0, t_eval=TIMES, settings={"reduce": {"energy": "mean"}}, **START)
    assert ds.energy_count == len(TIMES) and len(seen) > 2 and max(seen) < 500


def test_a_run_that_is_stopped_has_the_statistics_of_its_rows_and_goes_on(monkeypatch, tmp_path):
    few(monkeypatch)
    how = {"step": 0.02, "t_end": 12.0, "t_eval": TIMES} | START
    whole = ph.integrate(TOP, "v2", settings={"reduce": wanted()[:-1]}, store=tmp_path / "whole.zarr", **how).load()
    told = []

    def stop(progress):
        told.append(progress)
        if progress.done > 300:
            raise KeyboardInterrupt

    kept = {}
    for name, more in (("store", {"store": tmp_path / "run.zarr"}), ("none", {})):
        monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
        with pytest.raises((ph.errors.Interrupted, ph.errors.UserFunctionError)) as stopped:
            ph.integrate(TOP, "v2", settings={"reduce": wanted()[:-1]}, progress=stop, **more, **how)
        kept[name] = stopped.value.trajectory
        assert 0 < kept[name].angular_velocity_count < len(TIMES) and "incomplete" in kept[name].attrs
    n = kept["store"].sizes["time"]
    np.testing.assert_allclose(kept["store"].energy_min, whole.energy[:n].min(), rtol=0)
    read = ph.load(tmp_path / "run.zarr", speed=speed)
    xr.testing.assert_equal(read.energy_max, kept["store"].energy_max)
    on = ph.resume(tmp_path / "run.zarr", speed=speed).load()
    xr.testing.assert_equal(on, whole)
    with pytest.raises(ph.errors.InvalidInput, match=r"reduction 'speed'; hand it in again: resume\(.*speed=speed\)"):
        ph.resume(tmp_path / "run.zarr")


def test_reductions_are_part_of_the_record():
    how = {"step": 0.1, "steps": 20} | START
    ds = ph.integrate(TOP, "v2", settings={"reduce": wanted()}, **how)
    xr.testing.assert_identical(ph.rerun(ds, speed=speed, fast=own()), ds)
    with pytest.raises(ph.errors.InvalidInput, match=r"reduction 'fast'; hand it in again: .*fast=reductions.user"):
        ph.rerun(ds, speed=speed)
    on = ph.integrate(TOP, "v2", start=ds, step=0.1, steps=5)
    assert on.time[0] == ds.time[-1]


WRONG = {
    "a name": ({"positon": "mean"}, "did you mean"),
    "no number for each row": ({"axis": "mean"}, "axis is the same for all rows"),
    "of members": ([R.events("node")], "of one run give events="),
    "crossings": ([R.crossings("energy", 1.0)], "of one run give events="),
    "a function": ([R.mean("x", of=lambda block: block.nothing)], "the function of 'x' failed"),
    "empty": ([], "reduce is empty"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_wrong_is_told_before_the_first_step(kind, tmp_path):
    reduce, sentence = WRONG[kind]
    told = []
    with pytest.raises(ph.errors.PolhodeError, match=sentence):
        ph.integrate(ph.orbit(EARTH.mu), "kepler", step=10.0, steps=10, position=(7e6, 0, 0), velocity=(0, 7.5e3, 0),
                     settings={"reduce": reduce}, progress=told.append, store=tmp_path / "run.zarr")  # fmt: skip
    assert not any(one.stage == "running" for one in told) and not (tmp_path / "run.zarr").exists()


def test_a_function_that_fails_later_tells_so_with_the_run_so_far(tmp_path):
    def late(block):
        if (block.time > 1.0).any():
            raise ValueError("late")
        return block.energy

    for more in ({}, {"store": tmp_path / "run.zarr"}):
        with pytest.raises(ph.errors.UserFunctionError, match="the function of 'x' failed: ValueError: late") as told:
            ph.integrate(TOP, "v2", step=0.1, steps=20, settings={"reduce": [R.mean("x", of=late)]}, **more, **START)
        assert told.value.trajectory.time[-1] == 2.0


def test_others_say_that_they_have_no_rows_to_reduce():
    reduce, how = {"energy": "mean"}, {"step": 0.1, "steps": 3} | START
    with pytest.raises(ph.errors.InvalidInput, match="tangent and reduce are both given"):
        ph.integrate(TOP, "v2", settings={"reduce": reduce}, tangent=True, **how)
    with pytest.raises(ph.errors.InvalidInput, match="says nothing of many members"):
        ph.chaos.megno(TOP, "v2", settings={"reduce": reduce}, **how)
    with pytest.raises(ph.errors.InvalidInput, match="says nothing of all runs of prepare"):
        ph.prepare(TOP, "v2", settings={"reduce": reduce}, step=0.1, steps=3)


def test_scenarios_have_it_too(tmp_path):
    reduce, how = {"energy": ["mean", "extremes"]}, {"step": 0.1, "steps": 30} | START
    ph.runs.write_scenario(tmp_path / "top.toml", TOP, "v2", settings={"reduce": reduce}, **how)
    found, kept = ph.runs.read_scenario(tmp_path / "top.toml").integrate(), ph.integrate(TOP, "v2", **how)
    assert found.energy_max_row == kept.energy.values.argmax() and found.sizes["time"] == 1
    with pytest.raises(ph.errors.InvalidInput, match="has quantiles of 'energy' with a function or numbers of its own"):
        ph.runs.write_scenario(
            tmp_path / "no.toml", TOP, "v2", settings={"reduce": [R.quantiles("energy", [0.5])]}, **how
        )
