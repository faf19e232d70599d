"""Pictures of ensembles: bands, pairs and success show the numbers of the members."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.image import imread

import polhode as ph
from each import each
from polhode.errors import InvalidInput
from polhode.plots import bands, corner, members, success
from polhode.plots.picture import Picture
from text_boxes import misplaced


@pytest.fixture(scope="module")
def ensemble():
    rng = np.random.default_rng(1)
    n, rows = 600, 30
    spin = rng.normal((0.1, 0.0, 2.0), (0.05, 0.1, 0.5), (n, 3))
    rate = spin[:, None] * np.cos(np.linspace(0.0, 3.0, rows))[:, None]
    status = np.where(spin[:, 2] > 2.5, 2, 0)
    rate[status > 0, 10:] = np.nan
    q = ph.rotation.exp_quaternion(0.1 * rng.normal(size=(n, 3)))
    return xr.Dataset(
        {
            "angular_velocity": (("member", "time", "axis"), rate, {"units": "rad s-1"}),
            "attitude": (("member", "time", "quaternion"), np.repeat(q[:, None], rows, axis=1)),
            "energy": (("member", "time"), rate[..., 2] ** 2, {"units": "J"}),
            "status": ("member", status, {"flags": "0: ran to its end; 2: a step too large; -1: not run"}),
            "failure": ("member", np.where(status > 0, "a step of 1 turns the body by 2 rad", "")),
        },
        {
            "time": ("time", np.linspace(0.0, 3.0, rows), {"units": "s"}), "axis": ["x", "y", "z"],
            "initial_angular_velocity": (("member", "axis"), spin), "initial_attitude": (("member", "quaternion"), q),
            "mass": ("member", rng.uniform(1, 2, n), {"units": "kg"}), "weight": ("member", np.ones(n)),
            "inertia": (("member", "axis", "inertia_1"), rng.normal(size=(n, 3, 3))),
        },
        {"system": "rigid_body", "method": "v2"},
    )  # fmt: skip


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def edges_of(axes, k):
    """Lower and upper edge of a band, by time."""
    corners = axes.collections[k].get_paths()[0].vertices
    times = np.unique(corners[:, 0])
    at = [corners[corners[:, 0] == time, 1] for time in times]
    return np.array([part.min() for part in at]), np.array([part.max() for part in at])


# ------------------------------------------------------------------ bands
def test_bands_are_the_quantiles_of_the_members(ensemble, tmp_path):
    figure = bands(ensemble, "angular_velocity", tmp_path / "bands.png")
    assert isinstance(figure, Picture)
    assert titles(figure) == [f"angular velocity {axis} (rad s⁻¹)" for axis in "xyz"]
    rate = ensemble.angular_velocity.values
    for k, axes in enumerate(figure.axes):
        np.testing.assert_allclose(axes.lines[0].get_ydata(), np.nanmedian(rate[..., k], axis=0), rtol=1e-12)
        for band, (low, high) in enumerate(((0.05, 0.95), (0.25, 0.75))):
            expected = np.nanquantile(rate[..., k], (low, high), axis=0)
            np.testing.assert_allclose(edges_of(axes, band), expected, rtol=1e-12)
        assert {text.get_text() for text in axes.texts} == {"90 %", "50 %", "median"}
    assert figure.axes[-1].get_xlabel() == "time (s)"
    assert "600 members, 84 failed" in [text.get_text() for text in figure.texts]
    assert imread(tmp_path / "bands.png").shape[1] == 900


def test_bands_of_reductions_are_those_of_the_members(ensemble):
    reduced = ph.ensembles.reductions.apply(ensemble, {"angular_velocity": "quantiles", "energy": ["mean", "std"]})
    assert titles(bands(reduced)) == titles(bands(ensemble))[:3] == titles(bands(reduced, "angular_velocity"))
    figure = bands(reduced, ["angular_velocity", "energy"])
    whole = bands(ensemble, ["angular_velocity", "energy"])
    assert titles(figure) == titles(whole)
    for one, other in zip(figure.axes[:3], whole.axes[:3], strict=True):
        np.testing.assert_allclose(edges_of(one, 0), edges_of(other, 0), rtol=1e-12)
    energy = figure.axes[3]
    assert {text.get_text() for text in energy.texts} == {"2 std", "1 std", "mean"}
    values = ensemble.energy.values
    mean, std = np.nanmean(values, axis=0), np.nanstd(values, axis=0, ddof=1)
    np.testing.assert_allclose(edges_of(energy, 0), (mean - 2 * std, mean + 2 * std), rtol=1e-10, atol=1e-12)
    assert "600 members, 84 failed" in [text.get_text() for text in figure.texts]
    three = ph.ensembles.reductions.apply(ensemble, [ph.ensembles.reductions.quantiles("energy", [0.01, 0.3, 0.99])])
    assert {text.get_text() for text in bands(three, "energy").axes[0].texts} == {"98 %", "30 % quantile"}


def test_many_rows_and_rows_without_members_are_drawn():
    values = np.ones((4, 5000)) * np.arange(4)[:, None]
    values[:, 4000:] = np.nan
    ds = xr.Dataset({"x": (("member", "time"), values)}, {"time": np.arange(5000.0)})
    line = bands(ds, "x").axes[0].lines[0]
    assert len(line.get_xdata()) == members.MOST_ROWS and line.get_xdata()[-1] == 4999.0
    assert np.nanmax(line.get_ydata()) == 1.5 and np.isnan(line.get_ydata()[-1])
    bands(ds.isel(time=[0]), "x")


# ------------------------------------------------------------------ pairs
def test_corners_have_a_panel_for_each_pair(ensemble, tmp_path):
    figure = corner(ensemble, ["initial_angular_velocity", "mass", "energy"], tmp_path / "corner.png", row=0)
    assert isinstance(figure, Picture)
    assert len(figure.axes) == 15
    last = [axes.get_xlabel() for axes in figure.axes if axes.get_xlabel()]
    assert last == [*(f"initial angular\nvelocity {axis}" for axis in "xyz"), "mass (kg)", "energy (J)"]
    spin = ensemble.initial_angular_velocity.values
    panel = figure.axes[1]  # y over x
    failed = ensemble.status.values > 0
    np.testing.assert_array_equal(panel.lines[0].get_xydata(), spin[~failed, :2])
    np.testing.assert_array_equal(panel.lines[1].get_xydata(), spin[failed, :2])
    expected = np.corrcoef(spin[~failed, 0], spin[~failed, 1])[0, 1]
    assert panel.texts[0].get_text() == f"{expected:.2f}".replace("-", "−")
    assert imread(tmp_path / "corner.png").ndim == 3


def test_corners_of_what_varied_leave_out_what_did_not(ensemble):
    some = ensemble.drop_vars(["inertia", "initial_angular_velocity"])
    labels = [axes.get_xlabel() for axes in corner(some).axes if axes.get_xlabel()]
    assert labels == [*(f"initial attitude {axis}\n(deg)" for axis in "xyz"), "mass (kg)"]
    angles = corner(some).axes[0].patches
    assert len(angles) > 5
    one = ensemble.isel(member=slice(1))
    assert len(corner(one, "inertia").axes) == 21
    many = ensemble.sel(member=np.arange(9000) % 600)
    assert len(corner(many, ["mass", "energy"]).axes[1].lines[0].get_xdata()) < members.MOST_POINTS


@each("size, wide", [("column", 3.4), ("page", 7.0)])
def test_pictures_of_members_fit_papers(ensemble, size, wide):
    """No text meets another or leaves the figure, which has no heading."""
    for figure in (
        bands(ensemble, ["angular_velocity", "energy"], size=size),
        bands(ensemble, "energy", size=size),
        corner(ensemble, ["initial_angular_velocity", "mass"], size=size),
    ):
        assert figure.get_figwidth() == wide and not figure.texts
        assert misplaced(figure) == []
    with pytest.raises(InvalidInput, match="size"):
        bands(ensemble, "angular_velocity", size="poster")


# ------------------------------------------------------------------ success
def test_success_is_drawn_over_what_decides_it(ensemble, tmp_path):
    passed = ensemble.mass.values > 1.05
    figure = success(ensemble, path=tmp_path / "success.png", passed=passed)
    assert isinstance(figure, Picture)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("initial angular velocity z", "mass (kg)")
    good = (ensemble.status.values == 0) & passed
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), ensemble.mass.values[good])
    legend = [text.get_text() for text in axes.texts]
    assert legend == [f"{good.sum()}  reached the end", "84  a step too large",
                      f"{600 - 84 - good.sum()}  missed the condition"]  # fmt: skip
    share = axes.collections[0].get_array()
    assert np.nanmin(share) == 0.0 and np.nanmax(share) == 100.0
    assert f"{100 * good.mean():.4g} % succeeded" in figure.texts[1].get_text()


def test_the_plane_of_success_can_be_named(ensemble):
    axes = success(ensemble, ["mass", "initial_angular_velocity"]).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mass (kg)", "initial angular velocity z")
    axes = success(ensemble, "initial_angular_velocity").axes[0]
    assert axes.get_xlabel() == "initial angular velocity z"
    everybody = success(ensemble.assign(status=("member", np.zeros(600))), ["mass", "energy"])
    assert len(everybody.axes) == 1 and [text.get_text() for text in everybody.axes[0].texts] == [
        "600  reached the end"
    ]
    plain = success(ensemble.drop_vars(["status", "failure"]), ["mass", "energy"], passed=np.arange(600) % 2)
    assert "300  missed the condition" in [text.get_text().replace("\n", " ") for text in plain.axes[0].texts]


# ------------------------------------------------------------------ errors
def test_what_cannot_be_drawn_is_refused_in_one_sentence(ensemble, tmp_path):
    single = ensemble.isel(member=0)
    for call, sentence in (
        (lambda: bands(ensemble, "attitude"), "attitude are attitudes, whose components have no bands"),
        (lambda: bands(ensemble, "enrgy"), "unknown variable of the ensemble 'enrgy'; did you mean 'energy'"),
        (lambda: bands(ensemble, "mass"), "mass does not depend on time; see polhode.plots.corner"),
        (lambda: bands(single, "energy"), "energy has no members here"),
        (lambda: bands(ensemble, ["angular_velocity"] * 5), "these are 15 panels; draw at most 12"),
        (lambda: bands(ensemble, []), "names must be the name of a variable, or several"),
        (lambda: bands(ensemble, "energy", tmp_path / "a.jpg"), r"must end in \.png"),
        (lambda: corner(single), "this Dataset has no members; take that of an ensemble"),
        (lambda: corner(ensemble), "these are 13 numbers of each member; draw at most 12"),
        (lambda: corner(ensemble, "failure"), "failure is no number of each member"),
        (lambda: corner(ensemble, "energy", row=30), "row is 30, but there are 30 rows"),
        (lambda: corner(ensemble[["energy"]].drop_vars("mass")), "nothing varies in this ensemble"),
        (lambda: success(ensemble, ["mass", "weight"]), "fewer than two numbers vary here"),
        (lambda: success(ensemble, passed=[True]), r"passed must have one entry for each of 600 members"),
        (lambda: success(ensemble, passed=ensemble.mass), r"passed must be True or False for each member; give a cond"),
        (lambda: success(ensemble.isel(member=slice(0))), "this ensemble has no members"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            call()
