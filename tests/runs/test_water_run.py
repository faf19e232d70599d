"""Liquid water at constant energy for long: no drift, and each kind of motion has its share of the energy."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph


@pytest.mark.full
@pytest.mark.parametrize(
    ("molecules", "steps", "every", "bath", "runs"),
    [(64, 4000, 4, 2500, 6), (1000, 100_000, 50, 10_000, 1)],
)
def test_energy_does_not_drift_and_is_shared(molecules, steps, every, bath, runs):
    system = ph.rigid_water(molecules, density=997.0)
    cells = round(molecules ** (1 / 3))
    lattice = ph.initial.cubic(cells, spacing=float(system.box[0]) / cells, noise=0.02, seed=1)
    start = {"position": lattice.state["position"], **ph.initial.random_rotations(molecules, seed=2)}
    found = []
    for k in range(runs):
        heat = ph.methods.baoab(temperature=300.0, friction=2.0, seed=3 + k)
        warm = ph.integrate(system, heat, step=0.002, steps=bath, every=bath, **start)
        start = {name: warm[name].values[-1] for name in ("position", "attitude", "momentum", "angular_momentum")}
        still = start | {"momentum": start["momentum"] - start["momentum"].mean(axis=0)}
        ds = ph.integrate(system, "v2", step=0.001, steps=steps, every=every, **still)
        found.append(ph.trajectory.observables.drift(ds))

    # In few picoseconds the energy wanders more than rows of one run tell: the slopes of several runs say by how much.
    slopes = np.array([float(drift.slope) for drift in found])
    error = float(slopes.std(ddof=1)) / np.sqrt(runs) if runs > 1 else float(found[0].slope_error)
    assert abs(slopes.mean()) < (5.0 if runs > 1 else 3.0) * error  # Student's t of 5: 0.4 %, as 3 of a normal one
    # The bound is worth something: a drift of a thousandth of the kinetic energy in a run would be seen.
    assert error * float(ds.time[-1]) < 1e-3 * float(ds.kinetic_energy.mean())

    apart = ph.trajectory.observables.block_error(ds.temperature_translational - ds.temperature_rotational, blocks=8)
    assert abs(float(apart["mean"])) < 4.5 * float(apart.error)  # Student's t of 7: 0.3 %, as 3 of a normal one
    assert float(apart.error) < 0.05 * float(ds.temperature.mean())
    assert 200.0 < float(ds.temperature.mean()) < 400.0
    assert float(np.abs(ds.total_momentum).max()) < 1e-10
