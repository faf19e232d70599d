"""The short form of the suite, ``pytest -m quick``: one method of each family, one run of each system, one scenario."""

from __future__ import annotations

from math import isinf
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from each import each
from each_system import built, start_of
from polhode.methods import METHODS, method

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parent.parent
TOP = ph.heavy_top((1.0, 1.2, 2.0), (0.1, 0.0, 1.0), weight=3.0)
SPIN = {"attitude": (0.5, 0.5, -0.5, 0.5), "angular_velocity": (0.3, -0.2, 1.1)}
ORBIT = ph.orbit(1.0)
FLIGHT = {"position": (1.0, 0.2, -0.1), "velocity": (0.1, 0.9, 0.3)}
END = 0.8
ROWS = {row.family: name for name, row in reversed(METHODS.items())}
"""The first method of each family."""


def end(system, chosen, start, n):
    given = options(chosen)
    chosen = getattr(ph.methods, chosen)(**given) if given else chosen
    return ph.integrate(system, chosen, step=END / n, steps=n, every=n, **start).isel(time=-1)


def turned(row):
    """Attitude and momentum of a row."""
    return np.concatenate([row.attitude.values, row.angular_momentum.values])


def options(name):
    """Values of the options that have to be given: a heat bath that does nothing."""
    return {key: option.trial for key, option in method(name).method.options.items() if option.needed}


@each("name", ROWS.values(), ids=ROWS)
def test_one_method_of_each_family_has_its_order(name):
    """Errors at two steps, against a method of order 8 and another kind, or Kepler's motion."""
    order = method(name).promises.order
    n = 4 if 6 < order < 100 else 16
    if "points" in method(name).with_trials.prepare().needs:
        exact = ph.kepler.propagate(FLIGHT["position"], FLIGHT["velocity"], END, mu=1.0)[0]
        error = [np.abs(end(ORBIT, name, FLIGHT, k).position.values - exact).max() for k in (n, 2 * n)]
    else:
        exact = turned(end(TOP, "mkrk:cv8", SPIN, 64))
        error = [np.abs(turned(end(TOP, name, SPIN, k)) - exact).max() for k in (n, 2 * n)]
    if isinf(order):
        assert max(error) < 1e-12
    else:
        assert np.log2(error[0] / error[1]) == pytest.approx(order, abs=0.5)


@pytest.mark.filterwarnings("ignore::polhode.errors.PolhodeWarning")
@each("name", ph.systems.SYSTEMS)
def test_one_run_of_each_system_keeps_its_energy(name):
    """With the method that is recommended for it; what its loads do is on the record."""
    system = built(name)
    step = 0.05 if "central_gravity" in system.provides or name == "gravity_gradient" else 1e-3
    ds = ph.integrate(system, step=step, steps=20, every=5, **start_of(system))
    assert ds.sizes["time"] == 5
    assert np.isfinite(ds.attitude.values if system.rotates else ds.position.values).all()
    if "energy_error" in ds:
        assert np.abs(ds.energy_error).max() < 1e-6


def test_a_scenario_runs_and_is_read_back(tmp_path):
    ds = ph.runs.read_scenario(ROOT / "examples" / "slow-top.toml").integrate()
    ph.save(ds, tmp_path / "run.nc")
    assert ph.rerun(ph.load(tmp_path / "run.nc")).equals(ds)


def test_bad_input_gets_a_sentence():
    with pytest.raises(ph.errors.InvalidInput, match="step"):
        ph.integrate(TOP, "v2", step=-0.1, steps=3, **SPIN)
