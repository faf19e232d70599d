"""Files of an earlier version are read, repeated and completed with what they meant then: ``data/earlier/write.py``."""

import importlib.util
import json
import shutil
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from cover import some
from each import each
from polhode.errors import PolhodeWarning

HERE = Path(__file__).parent / "data" / "earlier"
STATES = ("position", "velocity", "attitude", "angular_velocity", "angular_momentum", "momentum")


def module():
    made = importlib.util.spec_from_file_location("laws", HERE / "laws.py")
    found = importlib.util.module_from_spec(made)
    made.loader.exec_module(found)
    return found


laws = module()
FUNCTIONS = {
    "particle": {"potential": laws.spring, "force": laws.wind},
    "rigid_body": {"torque": laws.torque},
    "rigid_body_reported": {"torque": laws.torque, "potential": laws.reported},
    "rigid_body_well": {"potential": laws.well},
    "spacecraft": {"command": laws.pointing},
    "spacecraft_pulsed": {"command": laws.valves},
    "cut": {"command": laws.pointing},
}
with zipfile.ZipFile(HERE / "earlier.zip") as kept:
    NAMES = sorted({name.split(".")[0] for name in kept.namelist() if name.endswith(".nc")})
RUNS = [name for name in NAMES if not name.startswith("of_") and name not in ("ensemble", "cut")]
LONG = ("of_cubesat", "of_many-tops")
SCENARIOS = [pytest.param(name, marks=[pytest.mark.full] * (name in LONG)) for name in NAMES if name.startswith("of_")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("earlier")
    with zipfile.ZipFile(HERE / "earlier.zip") as archive:
        archive.extractall(made)
    return made


def same(one, other, bound=1e-12):
    """States are equal to a bound, relative to the largest of each quantity."""
    found = [name for name in STATES if name in one and name in other]
    assert found
    np.testing.assert_allclose(one.time, other.time, rtol=1e-14)
    for name in found:
        a, b = one[name].values, other[name].values
        assert np.abs(a - b).max() <= bound * np.abs(b).max(), name


@each("name", RUNS)
def test_a_trajectory_is_read_and_repeated(folder, name):
    ds = ph.load(folder / f"{name}.nc")
    again = ph.rerun(ds, **FUNCTIONS.get(name, {}))
    same(again, ds)
    assert again.attrs.get("stopped", "")[:30] == ds.attrs.get("stopped", "")[:30]


@each("name", some(RUNS, 6))
def test_a_store_is_read(folder, name):
    ds = ph.load(folder / f"{name}.zarr", **FUNCTIONS.get(name, {}))
    same(ds, ph.load(folder / f"{name}.nc"), 0.0)


def test_a_store_that_was_cut_is_completed(folder, tmp_path):
    shutil.copytree(folder / "cut.zarr", tmp_path / "cut.zarr")
    before = ph.load(tmp_path / "cut.zarr", **FUNCTIONS["cut"])
    whole = ph.load(folder / "cut.nc")
    assert before.sizes["time"] < whole.sizes["time"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PolhodeWarning)  # another version, another processor
        ds = ph.resume(tmp_path / "cut.zarr", **FUNCTIONS["cut"])
    same(ds.load(), whole)


@pytest.mark.filterwarnings("ignore::polhode.errors.OldNameWarning")
@each("name", SCENARIOS)
def test_a_scenario_gives_its_numbers(folder, name):
    before = ph.load(folder / f"{name}.nc")
    scenario = ph.runs.read_scenario(folder / "scenarios" / f"{name[3:]}.toml", allow_code=True)
    if "member" in before.dims:
        ds = ph.ensembles.ensemble_of(scenario).isel(member=range(4))
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PolhodeWarning)
            ds = scenario.integrate()
    same(ds.isel(time=[0, -1]), before)


def test_an_ensemble_and_its_members(folder):
    ds = ph.load(folder / "ensemble.nc")
    first = json.loads(ds.attrs["ensemble"])["first"]
    assert first["system"]["name"] == "heavy_top" and list(ds.weight) == [20.0, 19.0]
    top = ph.heavy_top((5.0, 4.0, 3.0), (0.1, 0.0, 1.0), weight=20.0)
    members = {"angular_velocity": ds.initial_angular_velocity.values, "weight": ds.weight.values}
    same(ph.ensemble(top, "rkn6_14a", step=0.02, steps=60, every=20, members=members), ds)


def test_a_sweep_is_read_and_repeated(folder, tmp_path):
    before = ph.ensembles.open_sweep(folder / "study-sweep.zarr")
    table = {"grid": {"run.step": [0.05, 0.025, 0.02]}}
    again = ph.sweep(folder / "scenarios" / "study.toml", table, store=tmp_path / "again.zarr")
    for name in before.data_vars:
        if before[name].dtype.kind == "f" and name != "seconds":
            np.testing.assert_allclose(again[name], before[name], rtol=1e-12, atol=1e-12)
