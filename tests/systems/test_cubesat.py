"""The controllers of examples/cubesat.toml: stable from wherever they begin, and what a day of them keeps."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each

EXAMPLES = Path(__file__).parents[2] / "examples"
_found = importlib.util.spec_from_file_location("cubesat", EXAMPLES / "cubesat.py")
cubesat = importlib.util.module_from_spec(_found)
_found.loader.exec_module(cubesat)


@pytest.fixture(scope="module")
def scenario():
    return ph.runs.read_scenario(EXAMPLES / "cubesat.toml", allow_code=True)


def off_the_sun(ds):
    """Angle (deg) of the panels' normal to the Sun, at each row."""
    return np.degrees(ds.polhode.pointing_error((0, 0, 1), "sun").values)


def begun(seed):
    """A draw of attitude and rates."""
    draw = np.random.default_rng(seed)
    q, w = draw.normal(size=4), draw.normal(size=3)
    return {"attitude": q / np.linalg.norm(q), "angular_velocity": np.radians(6.0) * w / np.linalg.norm(w)}


@each("seed", some(range(4), 1))
def test_it_faces_the_sun_from_wherever_it_begins(scenario, seed):
    given = dict(scenario.arguments) | begun(seed)
    start = {name: given[name] for name in ("position", "velocity", "attitude", "angular_velocity")}
    ds = ph.integrate(scenario.system, "s4_6", **start, step=0.5, t_end=10800.0, every=60, settings={"units": "SI"})
    rates = np.degrees(np.linalg.norm(ds.angular_velocity, axis=1))
    before, settled = ds.time.values <= 7200.0, ds.time.values > 9000.0
    assert rates[before][-1] < 0.2 and rates[settled].max() < 1e-3
    assert off_the_sun(ds)[settled].max() < 0.1
    assert rates[~before].max() < 0.31 and abs(ds.wheel_command).max() < 4e-3 and "wheel_saturated" not in ds.event_kind
    assert float(abs(ds.energy_error).max()) < 1e-12


@pytest.mark.full
def test_wheels_are_unloaded_to_what_disturbs_them(scenario):
    """From half their capacity, within six hours, while the panels stay at the Sun."""
    given = dict(scenario.arguments)
    arguments = scenario.system.arguments
    loaded = dict(arguments["wheels"]) | {"speed": [375.0, -300.0, 250.0]}
    words = {
        name: arguments[name]
        for name in (
            "inertia",
            "mu",
            "mass",
            "forces",
            "plates",
            "atmosphere",
            "sunlight",
            "magnetic_field",
            "torquers",
            "dipoles",
        )
    }
    pairs = ((cubesat.coils, 2.0, "dipole_command"), (cubesat.wheels, 0.5, "wheel_command"))
    numbers = [*arguments["parameters"][:5], -1.0]  # the wheels have taken over
    craft = ph.spacecraft(**words, wheels=loaded, parameters=numbers, controllers=[ph.controller(*p) for p in pairs])
    start = {name: given[name] for name in ("position", "velocity")}
    ds = ph.integrate(craft, "s4_6", **start, step=0.5, t_end=21600.0, every=120, settings={"units": "SI"})
    momentum = np.linalg.norm(ds.wheel_momentum, axis=1)
    assert momentum[0] > 0.02 and momentum[-1] < 1e-3
    assert off_the_sun(ds)[ds.time.values > 3000.0].max() < 0.5
