"""Moments that no body has, where Euler's equations alone matter; tops made of bodies; forms that fail on rods."""

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput

BOOK = (2.0, 1.0, 2 / 3)
SPIN = (0.3, 1.0, 0.2)


def motions():
    yield lambda **words: ph.free_body(BOOK, **words)
    yield lambda **words: ph.rigid_body(BOOK, **words)
    yield lambda **words: ph.rigid_body(BOOK, torque=lambda t, q, omega, parameters: (0.0, 0.0, 0.0), **words)
    yield lambda **words: ph.heavy_top(BOOK, (0, 0, 1), 1e-30, **words)


@each("make", list(motions()))
def test_a_body_of_the_textbooks_turns_by_eulers_equations(make):
    with pytest.raises(InvalidInput, match=r"no body can have.*where only Euler's equations matter, physical=False"):
        make()
    with pytest.raises(InvalidInput, match="physical"):
        make(physical="no")
    system = make(physical=False)
    assert system.arguments["physical"] is False
    ds = ph.integrate(system, "rkn6_14a", step=0.02, t_end=4.0, every=50, angular_velocity=SPIN)
    q, m = ph.free_motion(BOOK, np.multiply(BOOK, SPIN), ds.time.values, physical=False)
    np.testing.assert_allclose(ds.angular_momentum, m, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ds.attitude, q, rtol=0, atol=1e-9)


@each("t", [1.0, [1.0, 2.0]])
def test_free_motion_asks_as_the_builders_do(t):
    with pytest.raises(InvalidInput, match="no body can have"):
        ph.free_motion(BOOK, (0.1, 1, 0.2), t)
    assert ph.free_motion(BOOK, (0.1, 1, 0.2), t, physical=False).attitude.shape[-1] == 4
    with pytest.raises(InvalidInput, match="no body can have"):  # after it, too
        ph.free_motion(BOOK, (0.1, 1, 0.2), t)


@each("of_poinsot", [
    lambda **words: ph.runs.poinsot.free_motion_periods(BOOK, SPIN, **words),
    lambda **words: ph.runs.poinsot.polhode_curve(BOOK, SPIN, 5, **words),
    lambda **words: ph.runs.poinsot.herpolhode_curve(BOOK, SPIN, [0.0, 1.0], **words),
])  # fmt: skip
def test_curves_and_periods_ask_as_the_free_motion_does(of_poinsot):
    with pytest.raises(InvalidInput, match="no body can have"):
        of_poinsot()
    with pytest.raises(InvalidInput, match="physical must be True or False"):
        of_poinsot(physical="no")
    assert all(np.isfinite(one).all() for one in of_poinsot(physical=False))


def test_runs_and_members_of_such_a_body():
    ds = ph.integrate(ph.free_body(BOOK, physical=False), "exact", step=0.5, steps=3, angular_velocity=SPIN)
    assert ph.rerun(ds).attitude.equals(ds.attitude)
    assert "physical" not in ph.free_body((1, 2, 2.5)).arguments
    members = {"inertia": np.array([BOOK, (3.0, 1.0, 1.0), (1.0, 2.0, 2.5)])}
    runs = ph.ensemble(ph.free_body(BOOK, physical=False), "exact", members=members, step=0.5, steps=3,
                       angular_velocity=SPIN)  # fmt: skip
    np.testing.assert_array_equal(runs.attitude.isel(member=0), ds.attitude)


def test_a_top_made_of_a_body_takes_its_centre_of_mass():
    cone = ph.inertia.cylinder(2.0, 0.3, 0.1).translated((0, 0, 0.7))
    top = ph.heavy_top(cone)
    given = ph.heavy_top(cone, (0, 0, 0.7))
    assert top.arguments == given.arguments and top.arguments["center_of_mass"] == [0.0, 0.0, 0.7]
    np.testing.assert_array_equal(top.moments, given.moments)
    assert ph.heavy_top(cone, (0, 0, 0.2)).arguments["center_of_mass"] == [0.0, 0.0, 0.2]
    with pytest.raises(InvalidInput, match="the fixed point; move the body with translated, or give center_of_mass"):
        ph.heavy_top(ph.inertia.box(1.0, (1, 2, 3)))
    with pytest.raises(InvalidInput, match="center_of_mass is missing"):
        ph.heavy_top((1, 1, 2), weight=1.0)


@each(("name", "thinnest"), [("kosenko", 1e-6), ("van_zon", 1e-6), ("jacobi", 1e-4)])
def test_published_forms_say_where_they_lose_digits(name, thinnest):
    with pytest.raises(InvalidInput, match=r"1e-12 of the largest.*take 'exact'"):
        ph.integrate(ph.free_body((1e-12, 1, 1)), name, step=1.0, steps=3, angular_momentum=(0, 0.6, 0.8))
    thin = 1.1 * thinnest
    body, m = (thin, 1.0, 1.0 + thin / 2), np.array([0.3 * thinnest, 0.5, 0.8])
    ds = ph.integrate(ph.free_body(body), name, step=1.0, steps=3, angular_momentum=m, settings={"guard": False})
    assert ph.rotation.angle_between(ds.attitude.values[-1], ph.free_motion(body, m, 3.0).attitude) < 1e-8
