"""Forces of joints at the rows of a run, against formulations that share no line with polhode."""

from __future__ import annotations

import numpy as np
import pytest

import jointed_systems as js
import mechanisms as mx
import polhode as ph
from each import each
from polhode.errors import InvalidInput

KNOWN = ["triple_pendulum", "satellite", "ball_chain", "two_hinge", "two_slider", "two_free_weld", "two_rod"]


@each("name", KNOWN)
def test_they_are_those_of_the_references(name):
    given = mx.mechanism(name)
    system = js.system_of(given)
    ds = js.run(given, "kl8/joints", 400, system=system)
    forces = ds.polhode.joints(forces=True, system=system)
    for row, state in ((0, given.start), (-1, given.end)):
        found = np.concatenate([forces.force.values[row], forces.torque.values[row]], axis=1)
        assert np.abs(found - state["reactions"]).max() < 1e-11 * np.abs(state["reactions"]).max()


def test_points_of_bodies_on_joints_feel_them():
    arm = ph.system(ph.body("arm", 2.0, (1.2, 1.15, 0.1)), ph.loads.weight(),
                    ph.joints.hinge(at=(0, 0, 1), axis=(0, 1, 0), name="pin").on("arm", ph.ground))  # fmt: skip
    ds = ph.integrate(arm, step=0.01, steps=20, start=ph.assemble(arm, {"pin": 0.4}, {"pin": 2.0}))
    points = ph.runs.point_motion(ds, [(0, 0, 1), (0, 0, 0)])
    assert abs(points.acceleration.isel(point=0)).max() < 1e-13
    force = 2.0 * (points.acceleration.isel(point=1) + [0.0, 0.0, 9.81])
    assert np.allclose(ds.polhode.joints(forces=True).force.sel(joint="pin"), force, rtol=0, atol=1e-12)
    one = ds.isel(time=5)
    assert ph.runs.joint_forces(one).force.dims == ("joint", "axis")
    free = ph.system(ph.body("a", 1.0, (1, 1, 1)))
    with pytest.raises(InvalidInput, match="system has no joints"):
        ph.runs.joint_forces(ph.integrate(free, "v2", step=0.1, steps=1))
