"""Indicators of chaos: known limits, the pairs of the spectrum, members and slices, against an independent oracle."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import polhode as ph
from each import each
from polhode.chaos import growth
from polhode.errors import InvalidInput

Q = np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95)
START = {"attitude": Q, "angular_momentum": [0.3, 0.4, 2.0]}


def top():
    """An asymmetric top whose motion from START is chaotic."""
    return ph.heavy_top([1.0, 1.7, 2.3], [0.1, 0.2, 1.0], 2.0)


def lagrange():
    """A symmetric top, which is integrable."""
    return ph.heavy_top([1.7, 1.7, 1.0], [0.0, 0.0, 1.0], 2.0)


def test_the_spectrum_pairs_and_adds_up_to_zero():
    ds = ph.chaos.lyapunov(top(), "rkn6_14a", vectors=6, step=0.1, t_end=400.0, **START)
    found = ds.exponent.values
    assert found[0] > 0.05 and (np.diff(found) <= 0.01).all()
    assert abs(found.sum()) < 0.02  # of norms of a state that comes back near, not at, where it was
    assert_allclose(found + found[::-1], 0.0, rtol=0, atol=0.02)
    assert ds.lyapunov.sizes == {"time": ds.sizes["time"], "vector": 6}
    assert (ds.exponent_error.values[:1] < 0.5 * found[0]).all()


def test_a_chaotic_top_and_an_integrable_one_are_told_apart():
    words = {"step": 0.1, "t_end": 300.0, **START}
    wild, tame = (ph.chaos.megno(system, "rkn6_14a", **words) for system in (top(), lagrange()))
    assert float(wild.final) > 8.0 and abs(float(tame.final) - 2.0) < 0.3
    assert float(wild.exponent) > 0.05
    wild, tame = (ph.chaos.fli(system, "rkn6_14a", **words) for system in (top(), lagrange()))
    assert float(wild.final) > 20.0 and 2.0 < float(tame.final) < 9.0
    assert (np.diff(tame.fli.values) >= 0.0).all()
    wild, tame = (ph.chaos.sali(system, "rkn6_14a", **words) for system in (top(), lagrange()))
    assert float(wild.final) < 1e-6 and float(tame.final) > 0.01
    assert np.nanmax(tame.sali.values) <= np.sqrt(2.0) + 1e-12


def test_free_motion_is_regular_everywhere():
    rng = np.random.default_rng(2)
    ds = ph.chaos.megno(ph.free_body([1.0, 2.0, 3.0]), "exact", step=0.25, t_end=500.0,
                        members={"angular_momentum": rng.normal(size=(12, 3))})  # fmt: skip
    assert_allclose(ds.final.values, 2.0, rtol=0, atol=0.4)


def test_a_vector_of_a_harmonic_oscillator_stays_and_that_of_a_free_point_grows_with_time():
    start = {"position": [1.0, 0.0, 0.0], "velocity": [0.0, 0.5, 0.0], "step": 0.05}
    point = ph.particle(mass=1.0, stiffness=0.0)
    ds = ph.chaos.fli(point, "v2", t_end=100.0, vectors=[[0, 0, 0, 1.0, 0, 0]], **start)
    t = ds.time.values
    scale = 1.0 / 0.5  # lengths over the distance 1, momenta over the momentum 0.5
    size = np.sqrt(scale**2 + t**2)
    assert_allclose(ds.fli.values, np.log(size / scale), rtol=0, atol=1e-9)


def test_megno_of_a_harmonic_oscillator_tends_to_zero():
    ds = ph.chaos.megno(ph.particle(mass=1.0, stiffness=1.0), "v2", step=0.1, steps=2000, position=[1.0, 0, 0],
                        velocity=[0, 0.5, 0.2])  # fmt: skip
    assert abs(float(ds.final)) < 0.02 and abs(float(ds.megno[100])) < 0.1


def test_members_have_the_numbers_that_they_have_alone_however_they_are_cut():
    spins = np.random.default_rng(3).normal(size=(5, 3))
    words = {"step": 0.05, "steps": 700, "attitude": Q, "every": 50, "seed": 4}
    together = ph.chaos.megno(top(), "v2", members={"angular_momentum": spins}, threads=2, **words)
    again = ph.chaos.megno(top(), "v2", members={"angular_momentum": spins}, threads=1, **words)
    assert_array_equal(together.megno.values, again.megno.values)
    assert together.megno.shape == (5, 15) and list(together.status.values) == [0] * 5
    few, growth.FIRST_STEPS = growth.FIRST_STEPS, 50
    try:
        cut = ph.chaos.megno(top(), "v2", members={"angular_momentum": spins}, **words)
    finally:
        growth.FIRST_STEPS = few
    assert_allclose(cut.megno.values, together.megno.values, rtol=1e-12)


def test_a_member_that_fails_says_why_and_stops_nobody():
    spins = np.array([[0.0, 0.3, 2.0], [0.0, 30.0, 200.0]])
    ds = ph.chaos.fli(top(), "trapm", step=0.1, steps=100, members={"angular_momentum": spins})
    assert list(ds.status.values != 0) == [False, True]
    assert "turned a body further" in str(ds.failure.values[1]) and np.isnan(ds.final.values[1])
    assert np.isfinite(ds.final.values[0])


def test_any_parameter_may_vary():
    ds = ph.chaos.lyapunov(top(), "v2", step=0.05, steps=200, members={"weight": [0.5, 1.0, 2.0]}, **START)
    assert ds.exponent.shape == (3, 1) and list(ds.weight.values) == [0.5, 1.0, 2.0]


@each("name", ["lyapunov", "megno"])
def test_what_is_found_can_be_saved_and_read(name, tmp_path):
    ds = getattr(ph.chaos, name)(top(), "v2", step=0.05, steps=20, members={"weight": [0.5, 1.0]}, **START)
    ph.save(ds, tmp_path / "found.nc")
    again = ph.load(tmp_path / "found.nc")
    assert_array_equal(again[name].values, ds[name].values)
    assert list(again.failure.values) == ["", ""] and list(again.weight.values) == [0.5, 1.0]


CASES = {
    "vectors": (lambda: ph.chaos.sali(top(), "v2", vectors=3, step=0.1, steps=9, **START), "vectors"),
    "shape": (lambda: ph.chaos.megno(top(), "v2", vectors=[[1.0, 2.0]], step=0.1, steps=9, **START), "6 numbers each"),
    "parallel": (lambda: ph.chaos.sali(top(), "v2", vectors=[[1.0] * 6, [2.0] * 6], step=0.1, steps=9, **START),
                 "parallel"),
    "alone": (lambda: ph.chaos.megno(top(), "v2", step=0.1, **START), "^give either t_end or steps"),
    "every": (lambda: ph.chaos.megno(top(), "v2", step=0.1, steps=9, every=0, **START), "every"),
    "zero": (lambda: ph.chaos.megno(top(), "v2", vectors=[[0.0] * 6], step=0.1, steps=9, **START), "none of them zero"),
    "tolerance": (lambda: ph.chaos.megno(top(), "taylor", steps=ph.Tolerance(1e-8), t_end=1.0, **START), "one size"),
    "method": (lambda: ph.chaos.megno(ph.dipoles(2), "langevin", step=0.1, steps=9), "langevin"),
    "argument": (lambda: ph.chaos.megno(top(), "v2", stepp=0.1, steps=9, **START), "stepp"),
    "events": (lambda: ph.chaos.megno(top(), "v2", step=0.1, steps=9, t_eval=[0.1], **START), "says nothing"),
    "surface": (lambda: ph.chaos.megno(ph.orbit(1.0, surface=0.5), "v2", step=0.1, steps=9, position=[1, 0, 0],
                                       velocity=[0, 1, 0]), "end at its surface"),
}  # fmt: skip


@each("name", CASES)
def test_what_is_wrong_is_said_in_a_sentence(name):
    call, told = CASES[name]
    with pytest.raises(InvalidInput, match=told):
        call()


def test_rows_further_apart_than_a_slice_are_those_of_shorter_slices():
    words = {"step": 0.05, "steps": 1000, "every": 600, "seed": 4, **START}
    whole = ph.chaos.megno(top(), "v2", **words)
    few, growth.FIRST_STEPS = growth.FIRST_STEPS, 70
    longest, growth.LONGEST = growth.LONGEST, 140
    try:
        cut = ph.chaos.megno(top(), "v2", **words)
    finally:
        growth.FIRST_STEPS, growth.LONGEST = few, longest
    assert_allclose(cut.time.values, [0.0, 30.0, 50.0])
    assert_allclose(cut.megno.values, whole.megno.values, rtol=1e-11)
