"""How far a step may turn a body, by row of the method table: larger steps are refused, smaller ones are right."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.algebra import rotation
from polhode.errors import InvalidInput, StepTooLarge
from polhode.methods import method

BODY = np.array([0.9144, 1.098, 1.66])
OMEGA = np.array([0.45549, 0.82623, 0.03476])
SPEED = float(np.linalg.norm(OMEGA))
ROWS = (
    "mr", "mr4", "mr6", "mr8", "three_rotation", "symmetric", "implicit_midpoint", "dmv2", "dmv4", "dmv6", "dmv8",
    "dmv10",
    "s6_10/mr", "kl8/symmetric", "rkn6_14a/mr6", "reversible:loads:v2/mr", "reversible:loads:v2/symmetric",
)  # fmt: skip


def run(name, step, **options):
    return ph.integrate(ph.free_body(BODY), name, step=step, steps=1, angular_velocity=OMEGA, **options)


def largest(name):
    """The step that the message names, which is safe."""
    with pytest.raises(StepTooLarge) as told:
        run(name, 128.0 / SPEED)
    assert 0.0 < told.value.largest_step < np.pi / SPEED
    return told.value.largest_step


@pytest.mark.parametrize("name", ROWS)
def test_a_step_beyond_the_range_is_refused_and_one_within_is_right(name):
    """Splittings of the rotation took steps of 128 rad, and were off by pi."""
    step = largest(name)
    run(name, 0.9 * step)
    with pytest.raises(StepTooLarge):
        run(name, 1.1 * step)
    assert np.isfinite(run(name, 1.1 * step, guard=False).attitude.values).all()
    small = 0.02 * step
    turned = ph.free_motion(BODY, BODY * OMEGA, small).attitude
    assert float(rotation.angle_between(run(name, small).attitude.values[-1], turned)) < 2e-3


@pytest.mark.parametrize("name", ["exact", "s6_10", "kl8", "kosenko"])
def test_the_exact_motion_has_no_range(name):
    assert method(name).method.range == np.inf
    step = 128.0 / SPEED
    turned = ph.free_motion(BODY, BODY * OMEGA, step).attitude
    assert float(rotation.angle_between(run(name, step).attitude.values[-1], turned)) < 1e-12


@pytest.mark.parametrize("name", ["mr", "three_rotation", "mr4", "symmetric"])
def test_rods_and_plates_are_refused_where_rotations_about_axes_go_wrong(name):
    """What one rotation adds to the momentum about the lightest axis turns it too: by more than the body turns."""
    random = np.random.default_rng(8)
    wrong = taken = 0
    for _ in range(300):
        d = 10.0 ** random.uniform(-3, 0, 3)
        I = np.array([d[1] + d[2], d[2] + d[0], d[0] + d[1]])
        m = random.normal(size=3) * 10.0 ** random.uniform(-2, 0, 3)
        step = 0.5 / np.linalg.norm(m / I)
        try:
            ds = ph.integrate(ph.free_body(I), name, step=step, steps=1, angular_momentum=m)
        except StepTooLarge as refused:
            assert refused.largest_step < step
            continue
        taken += 1
        wrong += rotation.angle_between(ds.attitude.values[-1], ph.free_motion(I, m, step).attitude) > 0.15
    assert wrong == 0 and taken > 30


# ------------------------------------------------------------------ units
@pytest.mark.parametrize("factor", [1e-290, 1e-308, 1e-70, 1e70, 1e290])
def test_units_whose_squares_overflow_are_refused(factor):
    """They ended in NaN, or in steps that were off by 1e-3 without a word."""
    with pytest.raises(InvalidInput, match=r"choose other units|check its units"):
        ph.integrate(ph.free_body(BODY * factor), "imidm", step=0.1, steps=3, angular_momentum=BODY * OMEGA * factor)
    with pytest.raises(InvalidInput, match=r"choose other units|check its units"):
        ph.integrate(ph.free_body(BODY), "exact", step=0.1, steps=3, angular_momentum=BODY * OMEGA * factor)


@pytest.mark.parametrize("factor", [1e-315, 1e-308, 1e-290, 1e290])
def test_free_motion_takes_any_units(factor):
    """Numbers that have no inverse among them, up to the digits that such small numbers have."""
    exact = ph.free_motion(BODY, BODY * OMEGA, 3.0).attitude
    found = ph.free_motion(BODY * factor, BODY * OMEGA * factor, 3.0).attitude
    assert float(rotation.angle_between(found, exact)) < (1e-6 if factor < 1e-310 else 1e-14)
