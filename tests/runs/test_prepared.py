"""Many runs by one preparation: the same bits as one run after the other."""

from __future__ import annotations

import pytest

import polhode as ph

TOP = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
BODIES = {
    "top": (TOP, "s4_6", {"step": 0.01, "steps": 25, "every": 10}, {"angular_velocity": (0.3, 0, 9)}),
    "chosen": (TOP, "mkrk:dp5", {"steps": ph.Tolerance(1e-8), "t_end": 0.5}, {"angular_velocity": (0.3, 0, 9)}),
    "orbit": (ph.orbit(1.0), "pmlf4", {"step": 0.1, "t_end": 1.0}, {"position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}),
    "clock": (ph.orbit(1.0), "reversible:v2", {"step": 0.1, "t_end": 1.0}, {
        "position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}),
    "burn": (ph.orbit(1.0, forces=[ph.forces.impulse(0.5, 0.1, "velocity")]), "mkrk:cv8", {"step": 0.1, "t_end": 1.0}, {
        "position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_prepared_runs_are_those_of_integrate_bit_for_bit(name):
    system, method, how, start = BODIES[name]
    prepared = ph.prepare(system, method, **how)
    turned = {key: tuple(1.1 * x for x in value) for key, value in start.items()}
    for given in (start, turned, start, turned):
        rows, ds = prepared.run(given), ph.integrate(system, method, start=given, **how)
        assert prepared.dataset(given).identical(ds)
        for key in ("time", "position", "momentum", "velocity", "attitude", "angular_momentum", "angular_velocity",
                    "energy"):  # fmt: skip
            assert key not in ds or (getattr(rows, key) == ds[key].values).all(), key


def test_parameters_and_a_run_that_goes_on():
    prepared = ph.prepare(TOP, "s4_6", step=0.01, steps=20)
    begun = ph.integrate(TOP, "s4_6", step=0.01, steps=10, angular_velocity=(0.3, 0, 9))
    prepared.run({"angular_velocity": (1.0, 0, 2)})
    lighter = {"start": begun, "parameters": {"weight": 10.0}}
    ds = ph.integrate(TOP, "s4_6", step=0.01, steps=20, **lighter)
    assert (prepared.run(**lighter).attitude == ds.attitude.values).all() and prepared.dataset(**lighter).identical(ds)


def test_a_failure_is_that_of_integrate():
    prepared = ph.prepare(ph.free_body((1, 2, 3)), "trapm", step=1.0, steps=3)
    calm = prepared.run({"angular_momentum": (0, 0.1, 0)}).attitude
    with pytest.raises(ph.errors.StepTooLarge) as caught:
        prepared.run({"angular_momentum": (0, 90.0, 0)})
    assert caught.value.trajectory is not None
    assert (prepared.run({"angular_momentum": (0, 0.1, 0)}).attitude == calm).all()
    with pytest.raises(ph.errors.InvalidInput, match="spin"):
        prepared.run({"spin": (0, 0, 1)})
