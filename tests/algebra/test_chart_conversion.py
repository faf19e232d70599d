"""Recorded attitudes as three numbers: the branches, and the way from one to another."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from each import each
from polhode.algebra import rotation
from polhode.algebra.euler import SEQUENCES
from polhode.trajectory.charts import CHARTS
from polhode.trajectory.schema import MEANING, UNITS

BOX = (5.2988, 1.1775, 4.3568)  # [holzinger2021, 7.1]
EVERY = [(chart, branch) for chart, branches in CHARTS.items() for branch in branches]


def recorded(q, times=None, omega=None):
    """A Dataset of nothing but attitudes, with angular velocities where they are given."""
    times = np.arange(len(q), dtype=float) if times is None else times
    ds = xr.Dataset({"attitude": (("time", "quaternion"), q)}, {"time": times})
    return ds if omega is None else ds.assign(angular_velocity=(("time", "axis"), omega))


@pytest.fixture(scope="module")
def tumbling():
    """A box tumbling for some ten turns, recorded densely."""
    return ph.integrate(ph.free_body(BOX), "exact", step=0.01, t_end=20.0, angular_velocity=(4.0, 0.3, 1.0))


def attitude_of(ds, chart):
    """Unit quaternions of a chart's numbers, from the definition of each."""
    u = ds[chart].values
    if chart == "euler_angles":
        return rotation.quaternion_from_euler(u, ds[chart].attrs["sequence"])
    size = np.linalg.norm(u, axis=-1, keepdims=True)
    if chart == "rotation_vector":
        return np.concatenate([np.cos(size / 2), u * np.sinc(size / (2 * pi)) / 2], axis=-1)
    if chart == "gibbs_rodrigues":
        return np.concatenate([np.ones_like(size), u], axis=-1) / np.sqrt(1 + size**2)
    return np.concatenate([(1 - size**2) / (1 + size**2), 2 * u / (1 + size**2)], axis=-1)


def followed(q):
    """Quaternions with the signs that make neighbours close, the first with a scalar part that is not negative."""
    signs = np.sign((q[1:] * q[:-1]).sum(axis=1))
    return q * np.cumprod(np.concatenate([[1.0 if q[0, 0] >= 0 else -1.0], signs]))[:, None]


# ------------------------------------------------------------------ the paper
def test_the_steady_turn_of_the_paper():
    """[holzinger2021, 7.1.2, figs. 6b and 7a]: principal angles jump by pi, converted ones are a2 = pi t."""
    ds = ph.integrate(ph.free_body(BOX), "mkrk:rk4", step=0.01, t_end=100.0, angular_velocity=(0.0, pi, 0.0))
    principal = ph.trajectory.with_chart(ds, "euler_angles")
    assert (principal.euler_angles.attrs["sequence"], principal.euler_angles.attrs["branch"]) == ("XYZ", "principal")
    a, t = principal.euler_angles.values, ds.time.values
    assert np.abs(a[:, 1]).max() <= pi / 2 and np.abs(np.abs(a[:, (0, 2)]) * (np.abs(a[:, (0, 2)]) - pi)).max() < 1e-14
    assert (np.abs(np.diff(a[:, 0])) > 3.0).sum() == 100  # at the middle angle pi/2 + n pi
    smooth = ph.trajectory.convert_branch(principal, "continuous")
    assert smooth.euler_angles.attrs["branch"] == "continuous"
    assert np.abs(smooth.euler_angles[:, 1] - pi * t).max() < 1e-12
    assert np.abs(smooth.euler_angles[:, [0, 2]]).max() < 1e-15
    back = ph.trajectory.convert_branch(smooth, "principal")
    off = t % 1.0 != 0.5  # in gimbal lock one angle is free
    np.testing.assert_allclose(back.euler_angles[off, 1], a[off, 1], rtol=0, atol=2e-13)
    assert "euler_angles" not in ds and principal.euler_angles.attrs["branch"] == "principal"  # left as they were


def test_the_tumbling_box_of_the_paper():
    """[holzinger2021, 7.1.1], epsilon = 1, t = 0.5: digits of a computation with 34 in which two methods agreed."""
    ready = ph.systems.problem("holzinger_box_vector")
    start = dict(ready.initial)
    start["attitude"] = ph.rotation.exp_quaternion(start.pop("rotation_vector"))
    ds = ph.integrate(ready.build(), "exact", step=ready.step, t_end=ready.t_end, **start)
    exact = {
        ("rotation_vector", "tracked"): (-2.5726607205858315788, 0.88849151272672569887, -1.8798174760596635365),
        ("rotation_vector", "principal"): (2.3140845670300373491, -0.79918991302898940727, 1.6908784649973021293),
        ("euler_angles", "principal"): (2.244473338511579045, 0.98530833567259223127, 1.1707164630453315787),
    }
    for (chart, branch), numbers in exact.items():
        found = ph.trajectory.with_chart(ds, chart, branch=branch)[chart]
        np.testing.assert_allclose(found[-1], numbers, rtol=0, atol=1e-13)
    followed = ph.trajectory.with_chart(ds, "rotation_vector", branch="continuous").rotation_vector
    np.testing.assert_allclose(followed[0], (0.0, -pi / 2, 0.0), rtol=0, atol=1e-15)
    lengths = np.linalg.norm(followed, axis=1)
    assert np.abs(np.diff(lengths)).max() < 2 * pi * np.sqrt(2) * ready.step * 1.05
    assert ph.systems.problem("holzinger_box_angles").build().arguments == ready.build().arguments


# ------------------------------------------------------------------ every chart and branch
@each("chart, branch", [*EVERY, ("gibbs_rodrigues", None)])
def test_attitudes_come_back(tumbling, chart, branch):
    sequences = ("XYZ", "ZXZ", "zyx", "yzy") if chart == "euler_angles" else (None,)
    for sequence in sequences:
        ds = ph.trajectory.with_chart(tumbling, chart, sequence=sequence, branch=branch)
        variable = ds[chart]
        last = "angle" if chart == "euler_angles" else "axis"
        assert variable.dims == ("time", last) and list(ds[last].values) == ([1, 2, 3] if sequence else list("xyz"))
        assert variable.attrs.get("branch") == branch and variable.attrs.get("sequence") == sequence
        assert variable.attrs["long_name"] == MEANING[chart] and variable.attrs["units"] == UNITS["SI"][chart]
        size = np.abs(variable).max() if chart in ("rotation_vector", "euler_angles") else 0.0
        worst = rotation.angle_between(attitude_of(ds, chart), tumbling.attitude.values).max()
        assert worst < max(4e-15, 6e-16 * size), sequence
        assert chart not in tumbling and set(ds) - set(tumbling) == {chart}


def test_ranges_of_branches(tumbling):
    def lengths(chart, branch):
        return np.linalg.norm(ph.trajectory.with_chart(tumbling, chart, branch=branch)[chart], axis=1)

    assert 3.0 < lengths("rotation_vector", "principal").max() <= pi * (1 + 1e-15)
    assert 6.2 < lengths("rotation_vector", "tracked").max() <= 2 * pi
    assert lengths("rotation_vector", "continuous").max() > 12.0
    assert 0.97 < lengths("modified_rodrigues", "principal").max() <= 1 + 1e-15
    assert lengths("modified_rodrigues", "tracked").max() > 100.0
    for sequence, low, high in (("ZXZ", 0.0, pi), ("XYZ", -pi / 2, pi / 2)):
        a = ph.trajectory.with_chart(tumbling, "euler_angles", sequence=sequence).euler_angles.values
        assert low <= a[:, 1].min() and a[:, 1].max() <= high
        assert -pi < a[:, (0, 2)].min() < -3.0 and 3.0 < a[:, (0, 2)].max() <= pi


def test_tracked_vectors_follow_the_sign_of_the_quaternion(tumbling):
    tumbling = tumbling.isel(time=slice(1, None))  # the first row is the identity
    q = followed(tumbling.attitude.values)
    s = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    exact = 2 * np.arctan2(s, q[:, :1]) / s * q[:, 1:]
    v = ph.trajectory.with_chart(tumbling, "rotation_vector").rotation_vector
    assert v.attrs["branch"] == "tracked"
    assert np.linalg.norm(v - exact, axis=1).max() < 1e-14 / s.min() and s.min() > 1e-3
    m = ph.trajectory.with_chart(tumbling, "modified_rodrigues", branch="tracked").modified_rodrigues
    np.testing.assert_allclose(m, q[:, 1:] / (1 + q[:, :1]), rtol=1e-9)
    g = ph.trajectory.with_chart(tumbling, "gibbs_rodrigues").gibbs_rodrigues
    np.testing.assert_allclose(g, q[:, 1:] / q[:, :1], rtol=1e-12)


def test_continuous_angles_are_unwrapped_ones_away_from_gimbal_lock():
    """A top that nutates between tilts: precession and spin add up for many turns."""
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    ds = ph.integrate(top, "mkrk:rk4", step=0.005, t_end=20.0, attitude=ph.rotation.exp_quaternion((0.8, 0, 0)),
                      angular_velocity=(0, 0, 30))  # fmt: skip
    principal = ph.trajectory.with_chart(ds, "euler_angles", sequence="ZXZ")
    a = principal.euler_angles.values
    assert a[:, 1].min() > 0.7
    smooth = ph.trajectory.convert_branch(principal, "continuous").euler_angles.values
    assert smooth[-1, 2] > 500.0
    np.testing.assert_allclose(smooth, np.unwrap(a, axis=0), rtol=0, atol=1e-12)
    again = ph.trajectory.convert_branch(
        ph.trajectory.convert_branch(principal, "continuous"), "principal"
    ).euler_angles.values
    np.testing.assert_allclose(again, a, rtol=0, atol=1e-12)


@each("sequence", SEQUENCES)
def test_through_gimbal_lock(sequence):
    """A steady turn of the middle angle from -1 to 9 passes lock three times; the outer angles stay."""
    start = np.array((0.3, 1.0 if sequence[0] != sequence[2] else -1.0, -0.7))
    middle = start[1] + np.linspace(0.0, 10.0, 401)
    angles = np.stack([np.full(401, start[0]), middle, np.full(401, start[2])], axis=1)
    ds = ph.trajectory.with_chart(
        recorded(rotation.quaternion_from_euler(angles, sequence)), "euler_angles", sequence=sequence
    )
    smooth = ph.trajectory.convert_branch(ds, "continuous").euler_angles.values
    inside = 0.0 <= start[1] <= pi if sequence[0] == sequence[2] else True
    shift = smooth[0] - angles[0]
    sign = 1.0 if inside else -1.0  # the principal triple of the first row has the middle angle 1 instead of -1
    assert np.abs(smooth[:, 1] - smooth[0, 1] - sign * (middle - start[1])).max() < 1e-13
    assert np.abs(smooth[:, (0, 2)] - angles[:, (0, 2)] - shift[[0, 2]]).max() < 1e-13
    assert np.allclose(shift, 0.0, atol=1e-15) if inside else np.allclose(np.abs(shift), (pi, 2.0, pi), atol=1e-15)


@each("miss", [0.0, 1e-12, 1e-7, 1e-5, 1e-2])
def test_attitudes_survive_the_neighbourhood_of_gimbal_lock(miss):
    """[holzinger2021, 7.1.2]: angles beside lock are uncertain, attitudes are not."""
    ds = ph.integrate(ph.free_body(BOX), "exact", step=0.01, t_end=5.0, angular_velocity=(0.0, pi, pi * miss))
    for branch in ("principal", "continuous"):
        charted = ph.trajectory.convert_branch(ph.trajectory.with_chart(ds, "euler_angles"), branch)
        worst = rotation.angle_between(attitude_of(charted, "euler_angles"), ds.attitude.values).max()
        assert worst < 6e-15


# ------------------------------------------------------------------ from one to another
def lifted(v, branch):
    """A Dataset whose rotation vectors say which branch they follow."""
    ds = recorded(rotation.exp_quaternion(v))
    return ds.assign(rotation_vector=(("time", "axis"), v, {"branch": branch, "note": "kept"}))


def test_the_first_row_keeps_its_lift():
    axis, turned = np.array((0.6, 0.0, 0.8)), np.linspace(0.0, 9.0, 91)[:, None]
    for start in (0.5, 5.0, -2.0, 7.0, 40.0):
        v = (start + turned) * axis
        ds = lifted(v, "continuous")
        tracked, principal = ph.trajectory.convert_branch(ds, "tracked"), ph.trajectory.convert_branch(ds, "principal")
        assert tracked.rotation_vector.attrs == {"branch": "tracked", "note": "kept"}
        q = rotation.exp_quaternion(v)
        np.testing.assert_allclose(rotation.exp_quaternion(tracked.rotation_vector), q, rtol=0, atol=2e-14)
        assert np.linalg.norm(tracked.rotation_vector, axis=1).max() <= 2 * pi * (1 + 1e-15)
        np.testing.assert_allclose(principal.rotation_vector, rotation.log_quaternion(q), rtol=0, atol=1e-15)
        smooth = ph.trajectory.convert_branch(tracked, "continuous").rotation_vector
        turns = np.round((v[0] - smooth[0].values) @ axis / (2 * pi))
        np.testing.assert_allclose(smooth + 2 * pi * turns * axis, v, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(smooth[0], tracked.rotation_vector[0])
    kept = ph.trajectory.convert_branch(lifted(5.0 * axis + 0 * turned + 0.1 * turned * axis, "tracked"), "continuous")
    np.testing.assert_array_equal(kept.rotation_vector[0], 5.0 * axis)
    assert np.linalg.norm(kept.rotation_vector[-1]) == pytest.approx(5.9, abs=1e-14)


@each("chart, branch", EVERY)
def test_the_signs_of_stored_quaternions_do_not_matter(tumbling, chart, branch):
    signs = np.random.default_rng(3).choice((-1.0, 1.0), (tumbling.sizes["time"], 1))
    shuffled = tumbling.assign(attitude=tumbling.attitude * signs)
    found, exact = (ph.trajectory.with_chart(ds, chart, branch=branch)[chart] for ds in (shuffled, tumbling))
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-12)
    if chart == "rotation_vector":  # principal vectors, whose quaternions jump where they do
        principal = ph.trajectory.with_chart(tumbling, chart, branch="principal")
        np.testing.assert_allclose(
            ph.trajectory.convert_branch(principal, branch)[chart], exact, rtol=1e-12, atol=1e-12
        )


def test_turns_of_angles_are_kept_too():
    angles = np.array((2 * pi, 0.3, -4 * pi)) + np.linspace(0, 5, 51)[:, None] * (1.0, 0.1, 2.0)
    ds = recorded(rotation.quaternion_from_euler(angles, "XYZ"))
    ds = ds.assign(euler_angles=(("time", "angle"), angles, {"branch": "principal", "sequence": "XYZ"}))
    np.testing.assert_allclose(ph.trajectory.convert_branch(ds, "continuous").euler_angles, angles, rtol=0, atol=1e-14)
    back = ph.trajectory.convert_branch(ds, "principal").euler_angles  # wound-up angles come into their range
    assert np.abs(back).max() <= pi
    np.testing.assert_allclose(np.cos(back - angles), 1.0, rtol=0, atol=1e-15)


def test_what_follows_a_branch_already_is_left_alone():
    ds = lifted(np.array([(0.0, 0.0, 1.0), (0.0, 0.0, 9.0)]), "continuous")  # too far apart to be followed
    ds = ds.assign(angular_velocity=(("time", "axis"), [(0.0, 0.0, 8.0)] * 2))
    assert ph.trajectory.convert_branch(ds, "continuous").equals(ds)


def test_after_a_whole_turn_the_axis_is_kept():
    axis = np.array((0.0, 0.6, 0.8))
    v = (np.arange(9) * pi / 2)[:, None] * axis
    tracked = ph.trajectory.with_chart(recorded(rotation.exp_quaternion(v)), "rotation_vector").rotation_vector
    np.testing.assert_allclose(tracked[4], 2 * pi * axis, rtol=0, atol=4e-15)
    np.testing.assert_allclose(tracked[5], -1.5 * pi * axis, rtol=0, atol=4e-15)
    smooth = ph.trajectory.with_chart(recorded(rotation.exp_quaternion(v)), "rotation_vector", branch="continuous")
    np.testing.assert_allclose(smooth.rotation_vector, v, rtol=0, atol=4e-15)


def test_small_vectors_keep_their_digits():
    v = 1e-20 * np.array([(1.0, -2.0, 3e-5), (2.0, -1.0, 0.0), (0.0, 0.0, 0.0)])
    for chart, factor in (("rotation_vector", 1.0), ("modified_rodrigues", 0.25), ("gibbs_rodrigues", 0.5)):
        for branch in CHARTS[chart] or (None,):
            found = ph.trajectory.with_chart(recorded(rotation.exp_quaternion(v)), chart, branch=branch)[chart]
            np.testing.assert_allclose(found, factor * v, rtol=1e-15, atol=1e-50)


# ------------------------------------------------------------------ Datasets of every kind
@each("chart, branch", EVERY)
def test_several_bodies_and_single_rows(tumbling, chart, branch):
    other = tumbling.assign(attitude=tumbling.attitude * 0 + ph.rotation.exp_quaternion((0.1, 0.2, 0.3)))
    both = xr.concat([tumbling[["attitude", "angular_velocity"]], other[["attitude", "angular_velocity"]]], "body")
    alone = ph.trajectory.with_chart(tumbling, chart, branch=branch)[chart]
    for shuffled in (both, both.transpose("time", "body", ...), both.transpose("quaternion", "axis", "time", "body")):
        found = ph.trajectory.with_chart(shuffled, chart, branch=branch)
        assert found[chart].dims[:2] == ("time", "body")
        np.testing.assert_array_equal(found[chart].sel(body=0), alone)
        assert np.ptp(found[chart].sel(body=1).values, axis=0).max() < 1e-15
        for name in CHARTS[chart]:
            one = ph.trajectory.convert_branch(ph.trajectory.with_chart(tumbling, chart, branch=branch), name)[chart]
            np.testing.assert_array_equal(ph.trajectory.convert_branch(found, name)[chart].sel(body=0), one)
    row = ph.trajectory.with_chart(tumbling.isel(time=0), chart, branch=branch)[chart]
    assert row.ndim == 1
    np.testing.assert_array_equal(row, alone[0])


@each("suffix", ["nc", "zarr"])
def test_to_disk_and_on(tmp_path, tumbling, suffix):
    ds = ph.trajectory.with_chart(ph.trajectory.with_chart(tumbling, "rotation_vector"), "euler_angles", sequence="zyx")
    ph.save(ds, tmp_path / f"run.{suffix}")
    found = ph.load(tmp_path / f"run.{suffix}")
    assert found.equals(ds)
    for chart in ("rotation_vector", "euler_angles"):
        assert found[chart].attrs == ds[chart].attrs
        xr.testing.assert_identical(
            ph.trajectory.convert_branch(found, "continuous", chart)[chart],
            ph.trajectory.convert_branch(ds, "continuous", chart)[chart],
        )


# ------------------------------------------------------------------ refusals
def test_rows_too_far_apart():
    """The body turns by 0.1 a step; every 40 steps are 4 rad."""
    body, rate = ph.free_body(BOX), {"angular_velocity": (0.0, 10.0, 0.0)}
    far = ph.integrate(body, "exact", step=0.01, steps=400, every=40, start={"time": 2.0}, **rate)
    for chart, branch in EVERY:
        if branch == "principal":
            ph.trajectory.with_chart(far, chart, branch=branch)
            continue
        with pytest.raises(
            ph.errors.InvalidInput, match=rf"row 1 \(time 2\.4\) may be 4 rad .*{branch!r}.*at least 2 times"
        ):
            ph.trajectory.with_chart(far, chart, branch=branch)
    with pytest.raises(ph.errors.InvalidInput, match=r"every= or t_eval=.*'principal'"):
        ph.trajectory.convert_branch(ph.trajectory.with_chart(far, "euler_angles"), "continuous")
    dense = ph.integrate(body, "exact", step=0.01, steps=400, every=20, start={"time": 2.0}, **rate)
    smooth = ph.trajectory.with_chart(dense, "rotation_vector", branch="continuous").rotation_vector
    np.testing.assert_allclose(smooth[:, 1], 10.0 * (dense.time - 2.0), rtol=0, atol=1e-12)
    backwards = ph.integrate(body, "exact", step=0.01, steps=400, every=40, **rate).isel(time=slice(None, None, -1))
    with pytest.raises(ph.errors.InvalidInput, match=r"row 1 \(time 3\.6\) may be 4 rad"):
        ph.trajectory.with_chart(backwards, "rotation_vector")
    omega = np.zeros((3, 3))
    omega[2] = (0.0, 0.0, 3.2)
    with pytest.raises(ph.errors.InvalidInput, match=r"row 2 \(time 2\)"):
        ph.trajectory.with_chart(recorded(np.tile((1.0, 0, 0, 0), (3, 1)), omega=omega), "rotation_vector")


def test_half_turns_have_no_gibbs_vector():
    q = rotation.exp_quaternion(np.array((0.0, 0.0, 0.25 * pi)) * np.arange(9)[:, None])
    with pytest.raises(ph.errors.InvalidInput, match=r"row 4 \(time 2\) is a half turn.*take 'modified_rodrigues'"):
        ph.trajectory.with_chart(recorded(q, 0.5 * np.arange(9)), "gibbs_rodrigues")
    assert float(ph.trajectory.with_chart(recorded(q[:4]), "gibbs_rodrigues").gibbs_rodrigues[2, 2]) == pytest.approx(
        1.0
    )


def test_wrong_calls(tumbling):
    euler = ph.trajectory.with_chart(tumbling, "euler_angles")
    both = ph.trajectory.with_chart(euler, "rotation_vector")
    gibbs = ph.trajectory.with_chart(tumbling.isel(time=slice(2)), "gibbs_rodrigues")
    bare = euler.assign(euler_angles=euler.euler_angles.drop_attrs())
    halfway = euler.assign(euler_angles=euler.euler_angles.assign_attrs(sequence="XYX!"))
    wrong = {
        "unknown chart 'euler'; did you mean 'euler_angles'": lambda: ph.trajectory.with_chart(tumbling, "euler"),
        "unknown Euler sequence 'XYY'": lambda: ph.trajectory.with_chart(tumbling, "euler_angles", sequence="XYY"),
        "a sequence belongs to Euler angles": lambda: ph.trajectory.with_chart(
            tumbling, "rotation_vector", sequence="XYZ"
        ),
        "unknown branch of 'euler_angles' 'tracked'": lambda: ph.trajectory.with_chart(
            tumbling, "euler_angles", branch="tracked"
        ),
        "unknown branch of 'rotation_vector' 'full'": lambda: ph.trajectory.with_chart(
            tumbling, "rotation_vector", branch="full"
        ),
        "'gibbs_rodrigues' has no branches": lambda: ph.trajectory.with_chart(
            tumbling, "gibbs_rodrigues", branch="principal"
        ),
        "no variable 'attitude'": lambda: ph.trajectory.with_chart(tumbling.drop_vars("attitude"), "euler_angles"),
        "no variable 'attitude' ": lambda: ph.trajectory.with_chart("run.nc", "euler_angles"),
        "has no chart; add one: with_chart": lambda: ph.trajectory.convert_branch(tumbling, "principal"),
        r"unknown chart of this Dataset 'rotation_vector'; .*known: euler_angles": lambda: ph.trajectory.convert_branch(
            euler, "principal", "rotation_vector"
        ),
        r"convert_branch\(ds, 'tracked', 'rotation_vector'\)": lambda: ph.trajectory.convert_branch(both, "tracked"),
        "unknown branch of 'euler_angles' 'smooth'": lambda: ph.trajectory.convert_branch(euler, "smooth"),
        "unknown branch of 'euler_angles' 3": lambda: ph.trajectory.convert_branch(euler, 3),
        "one attitude has one such vector$": lambda: ph.trajectory.convert_branch(gibbs, "principal"),
        "does not say which branch": lambda: ph.trajectory.convert_branch(bare, "principal"),
        "does not say its Euler sequence": lambda: ph.trajectory.convert_branch(halfway, "continuous"),
    }
    for words, call in wrong.items():
        with pytest.raises(ph.errors.InvalidInput, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    mixed = ph.trajectory.convert_branch(both, "tracked", "rotation_vector")
    assert (
        mixed.equals(both)
        and ph.trajectory.convert_branch(both, "continuous").rotation_vector.attrs["branch"] == "continuous"
    )
