"""How far a step may turn a body, by row of the method table: larger steps are refused, smaller ones are right."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from cover import chosen, some
from each import each
from polhode.algebra import rotation
from polhode.errors import InvalidInput, StepTooLarge
from polhode.flows.elliptic_forms import orbit_of, sort, stays, unsort
from polhode.kernel import layout as slots
from polhode.kernel.drive import sweep_of
from polhode.methods import method
from polhode.methods.free_flows import free_flow

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


@each("name", chosen(ROWS, {"mr", "three_rotation", "symmetric", "implicit_midpoint", "dmv6", "s6_10/mr", ROWS[-2]}))
def test_a_step_beyond_the_range_is_refused_and_one_within_is_right(name):
    """Splittings of the rotation took steps of 128 rad, and were off by pi."""
    step = largest(name)
    run(name, 0.9 * step)
    with pytest.raises(StepTooLarge):
        run(name, 1.1 * step)
    assert np.isfinite(run(name, 1.1 * step, settings={"guard": False}).attitude.values).all()
    small = 0.02 * step
    turned = ph.free_motion(BODY, BODY * OMEGA, small).attitude
    assert float(rotation.angle_between(run(name, small).attitude.values[-1], turned)) < 2e-3


def test_the_range_of_triple_jumps_is_that_of_the_longest():
    longest = 2.0 ** (1 / 3) / (2.0 - 2.0 ** (1 / 3))  # the one back, between two
    plain, boosted = method("mr"), method("mr4")
    assert boosted.method.range == pytest.approx(plain.method.range / longest, rel=1e-14)
    whole, jumps = (one.prepare().largest(BODY * OMEGA, 1.0 / BODY) for one in (plain, boosted))
    assert jumps == pytest.approx(whole / longest, rel=1e-14)


@each("name", some(["exact", "s6_10", "kosenko", "kl8"], 2))
def test_the_exact_motion_has_no_range(name):
    assert method(name).method.range == np.inf
    step = 128.0 / SPEED
    turned = ph.free_motion(BODY, BODY * OMEGA, step).attitude
    assert float(rotation.angle_between(run(name, step).attitude.values[-1], turned)) < 1e-12


@each("name", some(["mr", "three_rotation", "mr4", "symmetric"], 1))
def test_rods_and_plates_are_refused_where_rotations_about_axes_go_wrong(name):
    """What one rotation adds to the momentum about the lightest axis turns it too: by more than the body turns."""
    random = np.random.default_rng(8)
    wrong = taken = 0
    for _ in range(150):
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


# ------------------------------------------------------------------ quadratures of the angle
QUADRATURES = (
    "semiexact2", "semiexact6", "semiexact10", "semiexact6_matrix", "semiexact6:as_printed", "hermite4", "hermite8",
)  # fmt: skip
USUAL = ("semiexact6", "semiexact6_matrix", "semiexact6:as_printed", "hermite4")


def odd_bodies(count):
    """Moments and momenta: general, flat, rods down to 1e-6, nearly symmetric or spherical; near the separatrix too."""
    random = np.random.default_rng(21)
    thickness = np.concatenate([
        random.uniform(0.05, 1.0, (count, 3)), 10.0 ** random.uniform(-6, 0, (count, 3)),
        np.column_stack([np.ones(count), 10.0 ** random.uniform(-6, -1, (count, 2))]),
        np.column_stack([np.ones(count), 1 + 10.0 ** random.uniform(-8, -1, count), random.uniform(0.02, 3, count)]),
        1.0 + 10.0 ** random.uniform(-8, -1, (count, 1)) * random.uniform(-0.5, 0.5, (count, 3)),
    ])  # fmt: skip
    I = np.sort(thickness.sum(axis=1, keepdims=True) - thickness, axis=1)
    m = random.normal(size=I.shape) * 10.0 ** random.uniform(-3, 0, I.shape)
    m[::3] *= np.sqrt(I[::3])
    close = slice(1, None, 3)
    ratio = (1.0 / I[close, 0] - 1.0 / I[close, 1]) / (1.0 / I[close, 1] - 1.0 / I[close, 2])
    m[close, 2] = m[close, 0] * np.sqrt(ratio) * (1.0 + random.normal(size=ratio.size) * 1e-3)
    order = random.permuted(np.tile(np.arange(3), (len(I), 1)), axis=1)
    return np.take_along_axis(I, order, axis=1), np.take_along_axis(m, order, axis=1)


def swept(name, I, m, h, guard=False):
    """Momenta and attitudes from the identity after one step of every body, and the statuses."""
    chosen = method(name)
    turn = free_flow(chosen.method.name).build(**chosen.options)
    y, status, report = np.zeros((len(I), 13)), np.zeros(len(I), dtype=np.int64), np.zeros(slots.STEP_INFO)
    y[:, 6], y[:, 10:], report[slots.GUARDED] = 1.0, m, float(guard)
    bodies = np.column_stack([np.ones(len(I)), I, np.ones(len(I)), 1.0 / I])
    sweep_of(turn)(1, h, y, bodies, report, status, status.copy())
    return y[:, 10:], y[:, 6:10], status


def crossings(I, m):
    """Momenta of the same motions at the amplitudes 0 and pi/2."""
    low, high = m.copy(), m.copy()
    for k in range(len(I)):
        sorted_m, moments, axes = sort(tuple(m[k]), tuple(I[k]))
        o = orbit_of(sorted_m, moments)
        if not stays(o):
            for to, (x, y, z) in ((low, (o.M / o.p, 0.0, o.N / o.p)), (high, (o.L / o.r, o.N / o.r, 0.0))):
                v = np.sqrt((x, y, z) if o.around_1 else (z, y, x))
                to[k] = unsort(tuple(v), axes)
    return low, high


@each("name", chosen(QUADRATURES, USUAL))
def test_no_step_in_range_of_a_quadrature_misses_the_angle(name):
    """Half a radian of a thin rod was off by 3 rad without a word; most steps that are refused were wrong."""
    I, m = odd_bodies(120)
    random = np.random.default_rng(3)
    h = 10.0 ** random.uniform(-1.5, 2.0, len(I)) / np.linalg.norm(m / I, axis=1)
    low, high = crossings(I, m)
    worst, taken = np.zeros(len(I)), np.ones(len(I), dtype=bool)
    for middle, back in ((low, -0.5), (low, -0.2), (high, -0.5), (high, 0.1), (m, 0.0), (m, 0.7)):
        start = swept("exact", I, middle, back * h)[0]
        truth = swept("exact", I, start, h)[1]
        found, free = swept(name, I, start, h)[1:]
        error = rotation.angle_between(found, truth)
        end, same, told = swept(name, I, start, h, guard=True)
        assert not free.any() and set(told) <= {slots.OK, slots.TOO_LARGE}
        assert error[told == slots.OK].max() < 0.0505
        assert np.array_equal(same[told == slots.OK], found[told == slots.OK])
        assert np.array_equal(end[told != slots.OK], start[told != slots.OK])
        worst, taken = np.maximum(worst, error), taken & (told == slots.OK)
    short = ~taken & (h * np.linalg.norm(m / I, axis=1) < 1.0)
    assert worst.max() > 3.0 and taken.mean() > 0.5 and short.sum() > 10
    assert (worst[short] < 0.05).mean() < 0.1


@each("name", chosen(QUADRATURES, USUAL))
def test_the_largest_step_of_a_quadrature_is_the_one_of_its_guard(name):
    I, m = odd_bodies(12)
    largest = method(name).prepare().largest
    steps = np.array([largest(a, 1.0 / b) for a, b in zip(m, I, strict=True)])
    limited = np.isfinite(steps)
    assert 10 < limited.sum() < len(I) or (limited.sum() > 10 and "as_printed" in name)
    assert not swept(name, I[limited], m[limited], 0.999 * steps[limited], guard=True)[2].any()
    for more in (1.01, 3.0, 1000.0):
        assert (swept(name, I[limited], m[limited], more * steps[limited], guard=True)[2] == slots.TOO_LARGE).all()
    assert largest((0.0, 0.0, 0.0), 1.0 / BODY) == np.inf
    assert largest((0.3, 0.4, 0.0), np.array([0.5, 0.5, 0.0])) == np.inf


@each("name", chosen(["semiexact6", "semiexact10", "hermite4", "s6_10/semiexact6"], ["semiexact10"]))
def test_a_thin_rod_is_told_the_step_it_can_take(name):
    rod, m = np.array([1e-6, 1.0, 1.0 + 1e-6]), np.array([3e-6, 0.01, 0.02])
    told = {}
    for step in (20.0, 50.0):
        with pytest.raises(StepTooLarge, match="the largest safe step there is about") as refused:
            ph.integrate(ph.free_body(rod), name, step=step, steps=3, angular_momentum=m)
        told[step] = refused.value.largest_step
    assert told[20.0] == told[50.0] < 20.0
    ph.integrate(ph.free_body(rod), name, step=told[20.0], steps=3, angular_momentum=m)
    ph.integrate(ph.free_body(rod), name, step=20.0, steps=3, angular_momentum=m, settings={"guard": False})


def test_half_turns_taken_out_leave_long_steps_in_range_and_as_printed_they_are_not():
    body, m = np.array([0.8, 0.9, 1.0]), np.array([0.9, -0.4, 0.3])
    for step in (40.0, 1000.0):
        truth = ph.free_motion(body, m, step).attitude
        ds = ph.integrate(ph.free_body(body), "semiexact10", step=step, steps=1, angular_momentum=m)
        assert float(rotation.angle_between(ds.attitude.values[-1], truth)) < 0.05
    printed = "baoab/semiexact10:as_printed:temperature=0:friction=0:seed=1"
    with pytest.raises(StepTooLarge):
        ph.integrate(ph.free_body(body), printed, step=1000.0, steps=1, angular_momentum=m)


# ------------------------------------------------------------------ units
@each("factor", [1e-290, 1e-308, 1e-70, 1e70, 1e290])
def test_units_whose_squares_overflow_are_refused(factor):
    """They ended in NaN, or in steps that were off by 1e-3 without a word."""
    with pytest.raises(InvalidInput, match=r"choose other units|check its units"):
        ph.integrate(ph.free_body(BODY * factor), "imidm", step=0.1, steps=3, angular_momentum=BODY * OMEGA * factor)
    with pytest.raises(InvalidInput, match=r"choose other units|check its units"):
        ph.integrate(ph.free_body(BODY), "exact", step=0.1, steps=3, angular_momentum=BODY * OMEGA * factor)


@each("factor", [1e-315, 1e-308, 1e-290, 1e290])
def test_free_motion_takes_any_units(factor):
    """Numbers that have no inverse among them, up to the digits that such small numbers have."""
    exact = ph.free_motion(BODY, BODY * OMEGA, 3.0).attitude
    found = ph.free_motion(BODY * factor, BODY * OMEGA * factor, 3.0).attitude
    assert float(rotation.angle_between(found, exact)) < (1e-6 if factor < 1e-310 else 1e-14)
