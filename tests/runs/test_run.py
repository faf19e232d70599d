"""Runs: what is recorded when, what a failure keeps, and that nothing depends on how a run is cut into slices."""

from __future__ import annotations

import itertools
import json
import os
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from cover import crossed, some
from each import each
from polhode.runs import stepping
from polhode.systems import System
from polhode.systems.loads_roles import no_loads

METHOD = "mkrk:rk4"
IMPLICIT = "trapm"
START = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.3, -0.2, 4.0)}


def top():
    return ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)


def run(method=METHOD, system=None, **more):
    return ph.integrate(system or top(), method, **{"step": 0.01, "steps": 50} | START | more)


def spin(t, q, omega, parameters):
    return (0.1 * omega[1], parameters[0], np.sin(t))


def spinning():
    return ph.rigid_body((1, 2, 2.5), torque=spin, parameters=[0.3])


def state(ds, row):
    return np.concatenate([ds.attitude.values[row], ds.angular_momentum.values[row]])


@pytest.fixture(scope="module")
def whole():
    return run(IMPLICIT)


# ------------------------------------------------------------------ what is recorded
@each("every", [1, 3, 7, 10, 50, 51, 10**6])
def test_every(whole, every):
    ds = run(IMPLICIT, every=every)
    rows = sorted({*range(0, 51, every), 50})
    for name in ("time", "attitude", "angular_momentum", "energy", "angular_velocity"):
        np.testing.assert_array_equal(ds[name], whole[name][rows])
    most = [whole.iterations.values[a + 1 : b + 1].max() for a, b in itertools.pairwise(rows)]
    np.testing.assert_array_equal(ds.iterations, [0, *most])
    assert ds.attrs["steps"] == 50


def test_t_end_and_steps_say_the_same(whole):
    assert run(IMPLICIT, steps=None, t_end=0.5).identical(whole)
    np.testing.assert_array_equal(whole.time, 0.01 * np.arange(51))


def test_a_start_time_of_ones_own():
    ds = run(start={"time": 3.0}, steps=None, t_end=3.2)
    np.testing.assert_allclose(ds.time, 3.0 + 0.01 * np.arange(21), rtol=1e-15)
    np.testing.assert_array_equal(ds.attitude, run(steps=20).attitude)  # gravity does not depend on time
    late = run(system=spinning(), start={"time": 3.0}, steps=20)
    assert not np.array_equal(late.attitude, run(system=spinning(), steps=20).attitude)


def test_no_steps_at_all():
    for span in ({"steps": 0}, {"steps": None, "t_end": 0.0}):
        ds = run(**span)
        assert ds.sizes["time"] == 1 and ds.attrs["steps"] == 0
        np.testing.assert_allclose(ds.attitude[0], START["attitude"], rtol=1e-15)
    assert run(steps=0, t_eval=[0.0]).sizes["time"] == 1


def test_there_and_back_again():
    there = run(IMPLICIT, system=spinning())
    final = state(there, -1)
    back = run(IMPLICIT, system=spinning(), start={"time": 0.5}, steps=None, t_end=0.0, attitude=final[:4],
               angular_velocity=None, angular_momentum=final[4:])  # fmt: skip
    assert back.time[0] == 0.5 and abs(back.time[-1]) < 1e-15 and (np.diff(back.time) < 0).all()
    np.testing.assert_allclose(back.attitude[::-1], there.attitude, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back.angular_momentum[::-1], there.angular_momentum, rtol=0, atol=1e-12)


# ------------------------------------------------------------------ samples
def test_samples_on_the_grid_are_the_grid(whole):
    ds = run(IMPLICIT, t_eval=whole.time.values[[0, 1, 7, 20, 50]])
    for name in ("time", "attitude", "angular_momentum", "energy"):
        np.testing.assert_array_equal(ds[name], whole[name][[0, 1, 7, 20, 50]])
    assert ds.attrs["steps"] == 50


def test_samples_between_are_side_steps_that_change_nothing(whole):
    times = [0.0, 0.013, 0.0151, 0.0151, 0.02, 0.257, 0.3, 0.499]
    ds = run(IMPLICIT, t_eval=times)
    np.testing.assert_array_equal(ds.time, times)
    for row, grid in ((0, 0), (4, 2), (6, 30)):
        np.testing.assert_array_equal(state(ds, row), state(whole, grid))
    for row, grid in ((1, 1), (2, 1), (3, 1), (5, 25), (7, 49)):
        before = state(whole, grid)
        aside = ph.integrate(top(), IMPLICIT, step=times[row] - whole.time.values[grid], steps=1,
                             attitude=before[:4], angular_momentum=before[4:])  # fmt: skip
        np.testing.assert_allclose(state(ds, row), state(aside, -1), rtol=0, atol=1e-15)
    assert (ds.iterations.values[1:] > 0).all() and ds.iterations[0] == 0
    assert ds.attrs["steps"] == 50


def test_samples_see_their_own_time():
    ds = run(system=spinning(), t_eval=[0.1234])
    exact = run(system=spinning(), step=0.1234 / 50)
    np.testing.assert_allclose(state(ds, 0), state(exact, -1), rtol=0, atol=1e-6)


def test_a_single_sample_and_samples_backwards(whole):
    ds = run(IMPLICIT, t_eval=0.3)
    np.testing.assert_array_equal(state(ds, 0), state(whole, 30))
    back = run(IMPLICIT, start={"time": 0.5}, steps=None, t_end=0.0, t_eval=[0.5, 0.333, 0.2, 0.0])
    plain = run(IMPLICIT, start={"time": 0.5}, steps=None, t_end=0.0)
    for row, grid in ((0, 0), (2, 30), (3, 50)):
        np.testing.assert_array_equal(state(back, row), state(plain, grid))


# ------------------------------------------------------------------ slices
@each("first", [1, 5, 1000])
def test_nothing_depends_on_the_slices(monkeypatch, whole, first):
    monkeypatch.setattr(stepping, "FIRST_SLICE", first)
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0 if first == 5 else 1e-4)
    assert run(IMPLICIT).identical(whole)
    for more in ({"every": 7}, {"t_eval": [0.05, 0.123, 0.4]}):
        cut = run(IMPLICIT, system=spinning(), **more)
        monkeypatch.undo()
        assert cut.identical(run(IMPLICIT, system=spinning(), **more))
        monkeypatch.setattr(stepping, "FIRST_SLICE", first)


def test_progress_is_told_and_changes_nothing(monkeypatch, whole):
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    seen = []
    assert run(IMPLICIT, progress=seen.append).identical(whole)
    assert (seen[0].stage, seen[0].done, seen[0].total) == ("preparing", 0, 50)
    assert seen[-1].stage == "running" and seen[-1].done == 50
    assert [s.done for s in seen] == sorted(s.done for s in seen) and len(seen) > 3
    sampled = []
    run(IMPLICIT, progress=sampled.append, t_eval=[0.1, 0.2])
    assert sampled[-1].done == 50


# ------------------------------------------------------------------ again
@each(("suffix", "more"), crossed([None, ".nc", ".zarr"], [
    {}, {"every": 7}, {"t_eval": [0.05, 0.1234]}, {"settings": {"guard": False, "units": "SI"}},
]))  # fmt: skip
def test_rerun_gives_the_same_bits(tmp_path, suffix, more):
    def again(ds, **functions):
        if suffix:
            ds = ph.load(ph.save(ds, tmp_path / f"run{suffix}"))
        return ph.rerun(ds, **functions)

    ds = run(IMPLICIT, **more)
    assert again(ds).identical(ds)
    if suffix != ".zarr":
        mine = run(system=spinning(), **more)
        assert again(mine, torque=spin).identical(mine)


def test_rerun_of_every_kind_of_system():
    def potential(t, r, parameters):
        return parameters[0] * r[0] ** 2

    tensor = [[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]]
    turning = {"angular_velocity": (0.3, -0.2, 1.0)}
    for system, start, functions in (
        (ph.free_body(tensor), turning, {}),
        (ph.systems.soft_wall(sign="physical"), turning, {}),
        (ph.particle(mass=np.float64(2.0), stiffness=np.int64(3)), {"position": (1, 0, 0)}, {}),
        (ph.particle(potential=potential, parameters=[2]), {"position": (1, 0, 0)}, {"potential": potential}),
        (ph.rigid_body(np.array(tensor), mass=np.int64(2)), turning | {"velocity": (1, 2, 3)}, {}),
    ):
        ds = ph.integrate(system, METHOD, step=0.01, steps=5, start={"time": -1.0}, **start)
        assert ph.rerun(ds, **functions).identical(ds)
    back = run(start={"time": 0.5}, steps=None, t_end=0.0)
    assert ph.rerun(back).identical(back)
    option = ph.integrate(ph.free_body((1, 2, 2.5)), ph.methods.mkrk(tableau="heun", map="cayley"), step=0.01, steps=2)
    assert option.attrs["method"] == "mkrk:heun:cayley" and ph.rerun(option).identical(option)


def test_rerun_asks_for_the_functions():
    ds = run(system=spinning())
    with pytest.raises(ph.errors.InvalidInput, match=r"used a function for 'torque', 'spin'.*rerun\(ds, torque=spin\)"):
        ph.rerun(ds)
    with pytest.raises(ph.errors.InvalidInput, match="torqe"):
        ph.rerun(ds, torque=spin, torqe=spin)
    with pytest.raises(ph.errors.InvalidInput, match="records no run"):
        ph.rerun(xr.Dataset())
    with pytest.raises(ph.errors.InvalidInput, match="no function of polhode builds the system 'two'"):
        ph.rerun(ph.integrate(two_bodies(), METHOD, step=0.1, steps=1))


# ------------------------------------------------------------------ failures
def test_a_step_too_large_names_one_that_works():
    with pytest.raises(ph.errors.StepTooLarge) as caught:
        run(step=1.0, steps=10)
    error = caught.value
    assert error.step == 0 and error.time == 0.0 and error.exit_code == 4
    assert "4.02 rad" in str(error) and f"{error.largest_step:g}" in str(error)
    assert 0.7 < error.largest_step < np.pi / 4
    assert error.trajectory.sizes["time"] == 1
    turn = np.linalg.norm(START["angular_velocity"])
    free = {"system": ph.free_body((1, 1, 1)), "steps": 3}
    assert run(step=error.largest_step, **free).sizes["time"] == 4
    with pytest.raises(ph.errors.StepTooLarge):
        run(step=np.pi / turn * 1.001, **free)
    assert run(step=np.pi / turn * 1.001, settings={"guard": False}, **free).sizes["time"] == 4


def motor(t, q, omega, parameters):
    return (0.0, 0.0, parameters[0] if q[3] > 0.0 else parameters[1])


def test_the_guard_stops_a_run_that_speeds_up():
    body = ph.rigid_body((1, 1, 1), torque=motor, parameters=(10.0, 10.0))
    with pytest.raises(ph.errors.StepTooLarge) as caught:
        ph.integrate(body, METHOD, step=0.1, steps=100, every=8)
    error = caught.value
    assert error.step == 31 and error.time == pytest.approx(3.1)
    np.testing.assert_allclose(error.trajectory.time, [0, 0.8, 1.6, 2.4, 3.1], rtol=1e-15)
    np.testing.assert_allclose(error.trajectory.angular_momentum[:, 2], 10 * error.trajectory.time, rtol=1e-12)
    assert error.largest_step < 0.1 and "too large" not in str(error)


def test_convergence_on_a_wrong_branch_is_no_success():
    """TRAPM converges in a few iterations at 15 rad a step [errata]; the guard refuses."""
    fast = {
        "step": 0.3,
        "steps": 5,
        "attitude": ph.rotation.exp_quaternion((0.3, 0, 0)),
        "angular_velocity": (0, 0, 50),
    }
    with pytest.raises(ph.errors.StepTooLarge, match=r"15 rad in step 0.*guard': False"):
        run(IMPLICIT, **fast)


def test_no_convergence_carries_where_and_how_far():
    """A torque that jumps with the attitude leaves the implicit step without a solution."""
    body = ph.rigid_body((1, 1, 1), torque=motor, parameters=(-40.0, 40.0))
    with pytest.raises(ph.errors.ConvergenceError) as caught:
        ph.integrate(body, IMPLICIT, step=0.1, steps=200, every=3,
                     attitude=(0.9, 0, 0, -(0.19**0.5)), angular_velocity=(0, 0, 1))  # fmt: skip
    error = caught.value
    assert error.exit_code == 4 and error.iterations > 10 and error.residual > 1e-12
    assert error.time == pytest.approx(0.1 * error.step)
    assert f"in step {error.step}" in str(error) and "take a smaller step than 0.1" in str(error)
    assert error.trajectory.time[-1] == error.time
    assert "could be followed no further than" in error.trajectory.attrs["incomplete"]


def test_what_is_not_finite_stops_the_run():
    with pytest.raises(ph.errors.NotFinite, match="infinite or not a number in step") as caught:
        ph.integrate(ph.particle(stiffness=-1e9), METHOD, step=1.0, steps=100, position=(1, 0, 0))
    assert 0 < caught.value.step < 10
    assert np.isfinite(caught.value.trajectory.position).all()


@each("more", [{}, {"every": 7}, {"t_eval": [0.0, 0.113, 0.2, 0.45]}])
def test_ctrl_c_keeps_what_was_computed(monkeypatch, whole, more):
    monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(stepping, "FIRST_SLICE", 8)

    def interrupt(progress):
        if progress.done >= 16:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ph.errors.Interrupted, match=r"interrupted after \d+ of 50 steps") as caught:
        run(IMPLICIT, progress=interrupt, **more)
    assert signal.getsignal(signal.SIGINT) is before
    kept = caught.value.trajectory
    assert caught.value.exit_code == 130 and "interrupted" in kept.attrs["incomplete"]
    done = kept.attrs["steps"]
    assert 16 <= done < 50
    np.testing.assert_array_equal(state(kept, -1), state(whole, done))
    assert kept.time[-1] == whole.time[done]
    monkeypatch.undo()
    uninterrupted = run(IMPLICIT, **more)
    rows = kept.sizes["time"] - 1
    np.testing.assert_array_equal(kept.attitude[:rows], uninterrupted.attitude[:rows])


def test_a_run_in_another_thread_leaves_signals_alone(whole):
    results = []
    thread = threading.Thread(target=lambda: results.append(run(IMPLICIT)))
    thread.start()
    thread.join()
    assert results[0].identical(whole)


def test_a_few_wrong_arguments():
    for more, told in (
        ({"step": -0.1}, "step is -0.1; it must be positive"),
        ({"step": 0.0}, "must be positive"),
        ({"steps": -1}, "must not be negative"),
        ({"steps": None}, "either t_end or steps"),
        ({"t_end": 1.0}, "either t_end or steps"),
        ({"steps": None, "t_end": 0.505}, "the nearest step that fits is 0.01"),
        ({"every": 0}, "1 or more"),
        ({"every": 2, "t_eval": [0.1]}, "every and t_eval"),
        ({"t_eval": [0.2, 0.1]}, "must not go back"),
        ({"t_eval": [0.6]}, "must lie between"),
        ({"t_eval": []}, "at least one"),
        ({"position": (1, 0, 0)}, "do not move through space"),
        ({"angular_momentum": (1, 0, 0)}, "keep one of them"),
        ({"attitude": (1, 1, 0, 0)}, "unit quaternion"),
    ):
        with pytest.raises(ph.errors.InvalidInput, match=told):
            run(**more)


def test_too_many_rows_are_refused_at_once():
    with pytest.raises(
        ph.errors.InvalidInput,
        match=r"100000000001 rows would need 10,400 GB of memory; record less with a larger every",
    ):
        run(steps=10**11 - 1)


def test_long_runs_record_little(whole):
    ds = run("forward_euler_m", steps=200_000, step=1e-6, every=100_000)
    assert ds.sizes["time"] == 3
    np.testing.assert_allclose(ds.time, [0, 0.1, 0.2], rtol=1e-15)


# ------------------------------------------------------------------ energy and attributes
def test_energy_error_is_over_the_energies_so_far():
    ds = run()
    moved = abs(ds.potential_energy - ds.potential_energy[0])
    scale = np.maximum.accumulate(ds.kinetic_energy.values) + np.maximum.accumulate(moved.values)
    np.testing.assert_array_equal(ds.energy_error, ds.energy_change / scale)
    np.testing.assert_array_equal(ds.energy_change, ds.energy - ds.energy[0])
    below = ph.integrate(top(), METHOD, step=0.01, steps=50, attitude=(0, 1, 0, 0), angular_velocity=(0.1, 0, 1))
    assert below.energy[0] < 0
    assert float(abs(below.energy_error).max()) <= 1.0
    rest = ph.integrate(ph.rigid_body((1, 1, 1), torque=lambda t, q, w, p: (0, 0, 1)), METHOD, step=0.1, steps=10)
    assert rest.energy[0] == 0
    size = np.maximum.accumulate(rest.kinetic_energy.values) + np.maximum.accumulate(abs(rest.work.values[:, 0]))
    np.testing.assert_array_equal(rest.energy_error[1:], (rest.energy_change - rest.work[:, 0])[1:] / size[1:])
    assert rest.energy_error[0] == 0.0 and size[0] == 0.0
    np.testing.assert_allclose(rest.energy_change[-1], 0.5, rtol=1e-12)
    assert float(abs(rest.energy_error).max()) < 1e-14 and "note" not in ds.energy.attrs


def test_attributes_tell_the_run(whole):
    a = whole.attrs
    assert (a["method"], a["order"], a["citation"], a["step"], a["steps"]) == ("trapm", 2, "krysl2006", 0.01, 50)
    assert a["system"] == "heavy_top" and "scalar first" in a["conventions"] and a["polhode_version"] == ph.__version__
    recipe = json.loads(a["run"])
    assert recipe["system"]["arguments"]["weight"] == 20.0 and not recipe["backwards"]
    function = json.loads(run(system=spinning()).attrs["run"])["system"]["arguments"]["torque"]
    assert function["function"] == "spin" and "np.sin(t)" in function["source"] and len(function["sha256"]) == 64
    assert "incomplete" not in a
    assert ph.integrate(top(), step=0.01, steps=1).attrs["method"] == top().recommended


# ------------------------------------------------------------------ more than one body
def two_bodies():
    moments = np.array([(1.0, 2.0, 2.5), (5.0, 5.0, 1.0)])
    return System(
        name="two", arguments={}, mass=np.array([2.0, np.inf]), moments=moments,
        frames=np.array([(1.0, 0, 0, 0), (0.5, 0.5, 0.5, 0.5)]), loads=no_loads,
        conserves=("energy", "angular_momentum_space"),
    )  # fmt: skip


@each("method", [METHOD, IMPLICIT])
def test_two_free_bodies_move_like_one_and_one(method):
    omega = np.array([(0.3, -0.2, 1.1), (0.1, 2.0, 0.4)])
    q = np.array([(1.0, 0, 0, 0), (0.8, 0, 0.6, 0)])
    ds = ph.integrate(two_bodies(), method, step=0.02, steps=50, attitude=q, angular_velocity=omega,
                      position=[(1, 2, 3), (0, 0, 0)], velocity=[(0.5, 0, 0), (0, 0, 0)])  # fmt: skip
    assert ds.attitude.dims == ("time", "body", "quaternion") and ds.energy.dims == ("time",)
    R = np.array([(0, 0, 1.0), (1, 0, 0), (0, 1, 0)])  # of the second frame
    for k, inertia in enumerate((np.diag((1.0, 2.0, 2.5)), R @ np.diag((5.0, 5.0, 1.0)) @ R.T)):
        alone = ph.integrate(ph.free_body(inertia), method, step=0.02, steps=50, attitude=q[k],
                             angular_velocity=omega[k])  # fmt: skip
        for name in ("attitude", "angular_momentum", "angular_velocity"):
            np.testing.assert_allclose(ds[name][:, k], alone[name], rtol=0, atol=2e-13)
    np.testing.assert_allclose(ds.position[-1], [(1.5, 2, 3), (0, 0, 0)], rtol=0, atol=8e-14)
    total = ds.angular_momentum_space.sum("body").values
    np.testing.assert_allclose(total, total[:1].repeat(51, 0), rtol=0, atol=1e-13)
    with pytest.raises(
        ph.errors.InvalidInput, match="velocity of body 1 is not zero, but that body does not move through sp"
    ):
        ph.integrate(two_bodies(), method, step=0.02, steps=1, velocity=(0, 0, 1))
    with pytest.raises(ph.errors.InvalidInput, match="angular_velocity"):
        ph.integrate(two_bodies(), method, step=0.02, steps=1, angular_velocity=np.zeros((3, 3)))


@each("method", some(["forward_euler", "akw", "trapm", "liemid_ea", "mkrk:gauss4", "mkrk:rk4"], 3))
def test_quaternion_stays_at_unit_length(method):
    """The same tiny increment rounds the same way in every step: 3e5 ulps would be 3e-11."""
    ds = ph.integrate(top(), method, step=2e-8, steps=300_000, every=300_000, angular_velocity=(0.3, 0.2, 50.0))
    assert float(abs(np.linalg.norm(ds.attitude, axis=1) - 1.0).max()) < 2e-14


def test_bodies_without_places_are_told_so():
    spheres = ph.dipoles(8)
    with pytest.raises(ph.errors.InvalidInput, match=r"^position is missing; .* polhode\.initial\.cubic"):
        ph.integrate(spheres, "v2", step=0.01, steps=1)
    with pytest.raises(ph.errors.InvalidInput, match="cannot start: bodies 0 and 1 overlap: they are 0 apart"):
        ph.integrate(spheres, "v2", step=0.01, steps=1, position=(1, 2, 3))


def test_runs_about_a_known_centre_are_labelled_SI():
    """Unless units are given; a centre of mu = 1, and one in kilometres, are in the user's own."""
    mu, there = ph.planets.EARTH.mu, {"step": 60.0, "steps": 2, "position": (7e6, 0, 0), "velocity": (0, 7546.0, 0)}
    summed = ph.system(ph.body("craft", 2.0), ph.loads.central(mu))
    for system in (ph.orbit(mu), ph.orbit(3.986e14), summed):
        ds = ph.integrate(system, **there)
        assert ds.attrs["units"] == "SI" and ds["momentum"].attrs["units"] == "kg m s-1"
        assert ph.trajectory.surroundings.centre(ds).name == "Earth"
    own = ph.integrate(summed, **there, settings={"units": "consistent"})
    goes_on = ph.integrate(summed, step=60.0, steps=2, start=own)
    assert [one.attrs["units"] for one in (own, goes_on, ph.rerun(own))] == ["consistent"] * 3
    for system in (ph.orbit(1.0), ph.orbit(mu / 1e9)):
        far = ph.integrate(system, step=1e-3, steps=2, position=(7e3, 0, 0), velocity=(0, 0.01, 0))
        assert far.attrs["units"] == "consistent"


def test_units_of_molecules_are_those_of_molecules():
    for units in ("molecular", "SI"):
        with pytest.raises(
            ph.errors.InvalidInput, match=f"dipoles is in consistent units with k_B = 1, not in {units} ones"
        ):
            ph.integrate(
                ph.dipoles(2), "v2", step=0.01, steps=1, position=[(0, 0, 0), (2, 0, 0)], settings={"units": units}
            )
    with pytest.raises(
        ph.errors.InvalidInput, match="units is 'molecular', but free_body has no such units of its own"
    ):
        ph.integrate(ph.free_body((1, 2, 3)), "v2", step=0.01, steps=1, settings={"units": "molecular"})


def test_a_run_goes_on_from_a_dataset():
    """With its method, step, units and time; from the words of a mapping it is the same bit for bit."""
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    part = ph.integrate(top, "s4_6", step=0.01, steps=30, settings={"units": "SI"}, angular_velocity=(0.3, 0, 9))
    rest = ph.integrate(top, start=part, t_end=0.5)
    last = part.isel(time=-1)
    words = {"attitude": last.attitude.values, "angular_momentum": last.angular_momentum.values, "time": 0.3}
    same = ph.integrate(top, "s4_6", step=0.01, t_end=0.5, settings={"units": "SI"}, start=words | {"since": 0.0})
    assert rest.identical(same) and rest.time[0] == part.time[-1] and json.loads(rest.attrs["run"])["since"] == 0.0
    anew = ph.integrate(top, "s4_6", step=0.01, start=replace(ph.State.of(part), time=0.0, since=None), steps=20)
    assert anew.time[0] == 0.0 and "since" not in json.loads(anew.attrs["run"])
    whole = ph.integrate(top, "s4_6", step=0.01, t_end=0.5, angular_velocity=(0.3, 0, 9))
    assert abs(rest.attitude.values - whole.attitude.values[30:]).max() < 1e-14


def test_a_run_goes_on_from_any_row_bit_for_bit():
    """What rounding has made of the length of a quaternion is not taken out of it."""
    whole = ph.integrate(ph.free_body((1, 2, 3)), "exact", step=0.05, steps=400, angular_velocity=(0.3, 1, 0.2))
    for k in range(20, 400, 20):
        rest = ph.integrate(ph.free_body((1, 2, 3)), "exact", step=0.05, steps=5, start=ph.State.of(whole, k))
        assert (rest.attitude.values == whole.attitude.values[k : k + 6]).all()


@each(
    ("start", "told"),
    [
        (7, "start must be a mapping"),
        ({"attitud": 1}, "attitud"),
        ({"angular_velocity": (0, 0, 2)}, "angular_velocity is given, and start has it too"),
        ({"time_variables": [0.0, 0.0, 1.0, 0.0]}, "has no time transformation"),
        ({"clock": [0.0, 0.0, 1.0, 0.0]}, "clock is called time_variables"),
        (lambda: ph.integrate(ph.free_body((1, 2, 3)), step=0.1, steps=1), "start is a trajectory of 'free_body'"),
    ],
)
def test_a_wrong_start_is_refused(start, told):
    start = start() if callable(start) else start
    with pytest.raises(ph.errors.InvalidInput, match=told):
        ph.integrate(ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0), step=0.1, steps=1, start=start,
                     angular_velocity=(0, 0, 1))  # fmt: skip


@each(("method", "order"), some([("exact", "exact"), ("semiexact10", 10), ("mr6", 6), ("trapm", 2)], 3))
def test_the_order_recorded_is_that_of_the_motion(method, order):
    """A free body turns with the order of the free rotation, whatever the order of the kicks that it does not have."""
    ds = ph.integrate(ph.free_body((1, 2, 3)), method, step=0.01, steps=2, angular_velocity=(0.1, 0.2, 1.0))
    assert ds.attrs["order"] == order
