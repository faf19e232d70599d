"""Impulses on the bodies of a sum."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.errors import InvalidInput

MU = 3.986004415e14
PLACES = [(6.9e6, 0.0, 0.0), (6.9e6, 1000.0, 200.0)]
SPEEDS = [(0.0, 5383.0, 5383.0), (10.0, 5380.0, 5390.0)]
CHANGES = {"inertial": (3.0, -1.0, 2.0), "rtn": (0.5, 4.0, -1.0), "velocity": -3.0}


@pytest.mark.parametrize("method", ("rkn6_14a/kepler", "mkrk:cv8", "taylor"))
@pytest.mark.parametrize("frame", CHANGES)
def test_an_impulse_is_that_of_an_orbit_on_the_body_it_is_on(frame, method):
    """Of two bodies one is pushed at a time between steps; each moves as its own orbit does."""
    sudden = ph.loads.impulse(CHANGES[frame], at=123.4, frame=frame)
    both = ph.system(ph.body("a", 500.0), ph.body("b", 20.0), ph.loads.central(MU), sudden.on("b"))
    words = {"step": 10.0, "t_end": 600.0, "every": 60}
    ds = ph.integrate(both, method, position=PLACES, velocity=SPEEDS, **words)
    pushed = ph.orbit(MU, 20.0, [ph.forces.impulse(123.4, CHANGES[frame], frame)])
    for name, system, k in (("a", ph.orbit(MU, 500.0), 0), ("b", pushed, 1)):
        alone = ph.integrate(system, method, position=PLACES[k], velocity=SPEEDS[k], **words)
        assert abs(ds.position.sel(body=name).values - alone.position.values).max() < 1e-6
        if k:
            assert float(ds.work[-1, 0]) == pytest.approx(float(alone.work[-1, 0]), rel=1e-12)
    assert float(abs(ds.energy_error).max()) < 1e-13
    assert [float(t) for t in ds.event_time] == [123.4]
    assert np.array_equal(ph.rerun(ds).position.values, ds.position.values)


def test_without_on_every_body_is_pushed_and_back_again():
    sudden = ph.loads.impulse((1.0, 0.0, 0.0), at=0.5)
    free = ph.system(ph.body("a", 2.0), ph.body("b", 3.0, (1, 1, 1)), sudden)
    there = ph.integrate(free, "v2", step=0.1, steps=10)
    assert np.allclose(there.velocity.values[-1], [(1, 0, 0)] * 2) and float(there.work[-1, 0]) == pytest.approx(2.5)
    back = ph.integrate(free, "v2", step=0.1, t_end=0.0, start=there)
    assert abs(back.position.values[-1]).max() < 1e-15 and abs(back.velocity.values[-1]).max() < 1e-15


def test_what_is_no_impulse_is_said():
    with pytest.raises(InvalidInput, match="delta_v is zero"):
        ph.loads.impulse((0, 0, 0), at=1.0)
    with pytest.raises(InvalidInput, match="one number"):
        ph.loads.impulse((0, 1, 0), at=1.0, frame="velocity")
    with pytest.raises(InvalidInput, match="frame"):
        ph.loads.impulse((0, 1, 0), at=1.0, frame="body")
    with pytest.raises(InvalidInput, match="at"):
        ph.loads.impulse((0, 1, 0), at="noon")
    with pytest.raises(InvalidInput, match="'top', which is pinned"):
        ph.system(ph.body("top", inertia=(1, 1, 1), pinned=True), ph.loads.impulse((0, 1, 0), at=1.0))
