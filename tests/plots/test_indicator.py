"""Plots of indicators of chaos: what is drawn of a run, of members on a grid and off it, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import polhode as ph
from polhode.errors import InvalidInput

TIME = np.linspace(0.0, 10.0, 5)


def of_members(count=6, **coordinates):
    values = np.arange(1.0, count + 1)
    return xr.Dataset(
        {"megno": (("member", "time"), np.outer(values, TIME)), "final": ("member", values)},
        {"time": TIME, **{name: ("member", value) for name, value in coordinates.items()}},
        {"title": "MEGNO: a top"},
    )


def test_members_on_a_grid_are_pixels_at_their_places():
    x, y = (part.ravel() for part in np.meshgrid([1.0, 2.0, 3.0], [10.0, 20.0]))
    order = [3, 0, 5, 1, 4, 2]
    ds = of_members(weight=x[order], mass=y[order])
    drawn = ph.plots.indicator(ds, limits=(1.0, 6.0)).axes[0]
    pixels = np.asarray(drawn.collections[0].get_array())
    expected = np.empty(6)
    expected[order] = ds.final.values
    assert np.allclose(pixels, expected.reshape(2, 3))
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("weight", "mass")
    assert np.allclose(ph.plots.indicator(ds, "weight", y[order]).axes[0].get_ylim(), drawn.get_ylim())


def test_failed_members_are_crosses_and_scattered_ones_dots(tmp_path):
    ds = of_members()
    ds.final[2] = np.nan
    x = np.array([0.0, 1.0, 2.0, 3.5, 4.0, 4.2])
    axes = ph.plots.indicator(ds, x, x**2, path=tmp_path / "chaos.pdf").axes[0]
    assert np.array_equal(axes.collections[0].get_offsets()[:, 0], x) and (tmp_path / "chaos.pdf").exists()
    assert axes.lines[0].get_xydata().tolist() == [[2.0, 4.0]]


def test_a_run_and_members_over_time():
    axes = ph.plots.indicator(of_members().isel(member=0)).axes[0]
    assert np.array_equal(axes.lines[0].get_ydata(), TIME[1:]) and axes.lines[1].get_ydata()[0] == 2.0
    ds = of_members(8, weight=np.arange(8.0))
    assert len(ph.plots.indicator(ds, "time").axes[0].lines) == 9
    assert np.array_equal(ph.plots.indicator(ds).axes[0].lines[0].get_ydata(), ds.final)
    both = ph.plots.indicator(of_members())
    assert ph.plots.indicator(of_members(), axes=both.axes[0]) is both


def test_what_is_wrong_is_said():
    ds = of_members(weight=np.arange(6.0))
    for words, said in (
        ({"x": "wait"}, "unknown x 'wait'; did you mean 'weight'"),
        ({"x": [1.0, 2.0]}, "x has 2 numbers; give one for each of the 6 members"),
        ({"y": "weight"}, "y is given and x is not"),
        ({"x": "time", "y": "weight"}, "leave y out"),
        ({"limits": (2.0, 1.0)}, "two increasing numbers"),
    ):
        with pytest.raises(InvalidInput, match=said):
            ph.plots.indicator(ds, **words)
    with pytest.raises(InvalidInput, match="this is one run, drawn over time"):
        ph.plots.indicator(ds.isel(member=0), "weight")
    for cut in (ds.isel(time=0), ds.isel(time=slice(0))):
        with pytest.raises(InvalidInput, match="no rows along time"):
            ph.plots.indicator(cut.isel(member=0))
    with pytest.raises(InvalidInput, match="no indicator of chaos"):
        ph.plots.indicator(ds.drop_vars("megno"))
