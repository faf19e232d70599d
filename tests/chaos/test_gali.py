"""GALI: of order 2 it is the sine of SALI's angle; its powers on tori, members and slices, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import polhode as ph
from polhode.chaos import growth
from polhode.errors import InvalidInput

START = {"attitude": np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95), "angular_momentum": [0.3, 0.4, 2.0]}
TOP = ph.heavy_top([1.0, 1.7, 2.3], [0.1, 0.2, 1.0], 2.0)


def test_the_second_order_is_the_sine_of_the_angle_of_sali():
    words = {"step": 0.05, "steps": 1003, "every": 20, **START}
    of_two, two = ph.chaos.gali(TOP, "v2", **words), ph.chaos.sali(TOP, "v2", **words)
    s = two.sali.values
    assert_array_equal(of_two.time, two.time)
    assert np.isnan(of_two.gali[0]) and of_two.sizes["time"] == 52
    assert_allclose(of_two.gali[1:], 0.5 * (s * np.sqrt(4.0 - s * s))[1:], rtol=1e-9, atol=1e-14)


def test_orders_tell_the_dimension_of_a_torus_and_chaos_falls_faster():
    """Those of Lagrange's top have three: above, GALI falls as t to the power -2 (order - 3) [skokos2007]."""
    lagrange = ph.heavy_top([1.7, 1.7, 1.0], [0.0, 0.0, 1.0], 2.0)
    words = {"step": 0.1, "t_end": 1000.0, "seed": 4, **START}
    second, third, fourth, fifth = (ph.chaos.gali(lagrange, "rkn6_14a", order=k, **words).gali for k in (2, 3, 4, 5))
    assert second[50:].min() > 0.3 and third[50:].min() > 0.02
    for values, power in ((fourth, -2.0), (fifth, -4.0)):
        assert abs(np.log(values[200] / values[50]) / np.log(4.0) - power) < 0.3
    wild = ph.chaos.gali(TOP, "rkn6_14a", order=3, **(words | {"t_end": 300.0}))
    assert float(wild.final) < 1e-12


def test_members_and_slices_do_not_matter(monkeypatch):
    spins = np.random.default_rng(1).normal(size=(5, 3))
    words = {"step": 0.05, "steps": 700, "order": 4, "attitude": START["attitude"]}
    members = {"angular_momentum": spins}
    found = ph.chaos.gali(TOP, "v2", members=members, threads=2, every=300, **words)
    monkeypatch.setattr(growth, "FIRST_STEPS", 77)
    monkeypatch.setattr(growth, "SLICE_SECONDS", 0.0)
    again = ph.chaos.gali(TOP, "v2", members=members, threads=1, every=300, **words)
    assert_array_equal(found.gali, again.gali)
    assert found.gali.shape == (5, 4) and ((found.gali[:, 1:] > 0.0) & (found.gali[:, 1:] <= 1.0)).all()


def test_what_is_wrong_is_said():
    words = {"step": 0.05, "steps": 10, **START}
    with pytest.raises(InvalidInput, match="order"):
        ph.chaos.gali(TOP, "v2", order=7, **words)
    with pytest.raises(InvalidInput, match="depend on each other linearly"):
        ph.chaos.gali(TOP, "v2", order=3, vectors=[[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0]], **words)
    with pytest.raises(InvalidInput, match="give 3 to 3 vectors"):
        ph.chaos.gali(TOP, "v2", order=3, vectors=np.eye(6)[:2], **words)
