"""Good calls with one thing wrong, found by spoiling every number and Dataset in them: each ends in a sentence."""

import json

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from each import each
from polhode.errors import InvalidInput, UserFunctionError
from polhode.trajectory.schema import trajectory
from public_calls import circling, gas, turning

SUN = {"times": [0.0, 1.0, 2.0, 3.0], "positions": [[1e308, 0, 0], [1e8, 1e6, 0], [1e8, 2e6, 0], [1e8, 3e6, 0]]}
WATER = {"OBJECT_NAME": "A\nB", "EPOCH": "2026-03-01T12:00:00", "MEAN_MOTION": 15.5, "ECCENTRICITY": 7e-4,
         "INCLINATION": 51.6, "RA_OF_ASC_NODE": 247.5, "ARG_OF_PERICENTER": 130.5, "MEAN_ANOMALY": 325.0}  # fmt: skip


def top(**words):
    return ph.heavy_top((2.0, 3.0, 4.5), **{"center_of_mass": (0, 0, 1.0), "mass": 2.0} | words)


def still(**changes):
    return turning().assign(**changes)


def raising(states):
    raise KeyError("mine")


WRONG = {
    "a path too steep for numbers": (lambda: ph.forces.third_body(4.9e12, **SUN), "positions change faster than"),
    "activity of no sun": (lambda: ph.surroundings.nrlmsis("2026-03-20", f107=1e300), "no density for f107 = 1e\\+300"),
    "a centre of mass far away": (lambda: top(center_of_mass=(0, 0, 1e200), inertia_about="center_of_mass"),
                                  "^center_of_mass is beyond"),
    "a number too large for a member": (
        lambda: ph.ensemble(ph.free_body((2, 3, 4.5)), "v2/mr", members={"angular_velocity": [[10**400, 0, 0]] * 2},
                            step=0.1, steps=2), "^members"),
    "a name in two lines": (lambda: ph.initial.omm(WATER, satellite="C"), "it has A B"),
    "a panel of a long name": (lambda: ph.plots.animate(turning(), "x.gif", panels="body" * 5000),
                               "^panels has 'body"),
    "an attitude without times": (lambda: ph.view(still(attitude=turning().attitude[0])), "^attitude has the dim"),
    "two axes": (lambda: ph.runs.point_motion(turning().isel(axis=slice(2)), (1, 2, 3)), "axis"),
    "three parts of a quaternion": (lambda: ph.trajectory.with_chart(turning().isel(quaternion=slice(3)),
                                                                     "rotation_vector"), "^attitude has the dim"),
    "no rows": (lambda: ph.trajectory.with_chart(turning().isel(time=slice(0)), "rotation_vector"), "no rows"),
    "complex numbers": (lambda: ph.view(still(angular_velocity=turning().angular_velocity + 1j)), "no real numbers"),
    "times that are no numbers": (lambda: ph.trajectory.export.oem(
        circling().assign_coords(time=circling().time * np.nan), "a.oem", object_name="X", center_name="EARTH"),
        "^time has entries"),
    "a box of one edge": (lambda: ph.trajectory.observables.radial_distribution(gas().assign(box=gas().box[0])),
                          "^box has the dim"),
}  # fmt: skip


@each("what", WRONG)
def test_near_misses_are_told_in_one_sentence(what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, told = WRONG[what]
    with pytest.raises(InvalidInput, match=told) as refused:
        call()
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 400


def test_an_objective_that_raises_is_the_users_failure(columns_by_twos):
    run = {"step": 5.0, "steps": 2, "position": (7e6, 0, 0), "velocity": (0, 7.4e3, 0)}
    with pytest.raises(UserFunctionError, match="the objective raised KeyError"):
        ph.gradient(raising, ph.orbit(3.986e14), "mkrk:cv8", **run)


def test_a_view_shows_what_an_attribute_says():
    ds = turning().copy()
    ds.attrs["steps"] = "north"
    assert "north" in json.dumps(ph.view(ds).scene)


def test_what_varies_among_members_is_a_coordinate_and_no_variable_of_a_trajectory():
    inertia = ("member", "inertia_0"), np.array([[1.0, 2.0, 2.5], [1.0, 2.0, 2.9]])
    ds = xr.Dataset({"energy": (("member", "time"), np.ones((2, 3)))}, {"inertia": inertia, "time": np.arange(3.0)})
    assert trajectory(ds, "energy") is ds
    with pytest.raises(InvalidInput, match="inertia has the dimensions"):
        trajectory(ds.reset_coords("inertia"))
