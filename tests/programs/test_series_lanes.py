"""The series for lanes has the coefficients of the series of one member, on plain numbers."""

from __future__ import annotations

import numpy as np

import polhode as ph
from each import each
from polhode.programs.series_lanes import series_of_lanes
from polhode.programs.series_role import HEAD, SCALE, series_of_motion, series_role

ORDER, H, TIME = 14, 0.125, 0.4


def spin(t, q, omega, p):
    u = np.array(omega)
    return (p[0] * np.sin(q[1]) * t, 0.2 * q[2] / (2.0 + u[2] * u[2]), p[1] * np.cos(3.0 * t) * np.exp(-0.1 * u[0]))


def energy(t, q, p):
    return p[0] * q[3] ** 2 * np.cos(t) + 0.2 * np.sqrt(2.0 + q[2]) ** 3 + p[1] * np.arctan(q[1])


SYSTEMS = {
    "top": lambda: ph.heavy_top((5.0, 4.0, 1.0), (0.1, 0.0, 1.0), weight=20.0),
    "torque": lambda: ph.rigid_body((5.0, 4.0, 1.0), torque=spin, parameters=(0.3, 0.2)),
    "potential": lambda: ph.rigid_body((5.0, 4.0, 1.0), potential=energy, parameters=(0.3, 0.2)),
    "orbit": lambda: ph.orbit(mu=1.0, forces=[ph.forces.zonal(radius=0.9, J2=1e-2, J3=1e-3)]),
    "craft": lambda: ph.spacecraft(
        inertia=(3.0, 2.0, 1.5), mu=1.0, mass=2.0, forces=[ph.forces.zonal(radius=0.9, J2=1e-2)]
    ),
}


@each("name", SYSTEMS)
def test_coefficients_are_those_of_one_member(name):
    system = SYSTEMS[name]()
    dynamics = system.dynamics
    moves, turns = (tuple(np.isfinite(one).tolist()) for one in (system.mass, np.min(system.moments, axis=1)))
    of = dynamics.graph, system.N, dynamics.force, dynamics.torque, dynamics.rates, moves, turns
    lanes, role = series_of_lanes(*of), series_role(*of)
    assert lanes.states == role.states
    y = np.concatenate([np.random.default_rng(1).normal(size=13 * system.N), np.zeros(len(system.auxiliary))])
    y[6:10] /= np.linalg.norm(y[6:10])
    found = []
    for made, function in ((lanes, lanes.series), (role, role.function)):
        work = np.full(made.size, 0.0)
        work[SCALE] = H
        function(ORDER, TIME, system.N, y, system.bodies, system.parameters, work)
        rows = work[HEAD : HEAD + made.width * (ORDER + 1)].reshape(-1, made.width)
        found.append(rows[:, : lanes.states])
        if made is lanes:
            lanes.increments(0.5, ORDER, work)
            sums = work[lanes.sums : lanes.sums + lanes.states]
    ours, theirs = found
    np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13 * np.abs(theirs).max())
    powers = 0.5 ** np.arange(1, ORDER + 1)
    np.testing.assert_allclose(sums, powers @ theirs[1:], rtol=1e-11, atol=1e-14)


def test_products_of_a_sum_are_added_up_with_it():
    """The 21 products of a top are ten sums: three of the moments, four of the quaternion, three of the vertical."""
    dynamics = SYSTEMS["top"]().dynamics
    _, series = series_of_motion(dynamics.graph, 1, dynamics.force, dynamics.torque, dynamics.rates, (False,), (True,))
    joined = series.with_joined_products()
    assert len(series.slots) == 21
    assert sorted(map(len, joined.slots)) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3]


def test_loads_that_choose_have_none():
    body = ph.rigid_body((5.0, 4.0, 1.0), torque=lambda t, q, omega, p: (-0.1 * abs(omega[0]), 0.0, 0.0))
    dynamics = body.dynamics
    of = dynamics.graph, 1, dynamics.force, dynamics.torque, dynamics.rates, (False,), (True,)
    assert series_of_lanes(*of) is None
