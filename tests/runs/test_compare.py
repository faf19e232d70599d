"""Errors between trajectories, observed orders, and the comparison of methods, against independent arithmetic."""

import csv
import json
import tomllib
from pathlib import Path

import mpmath
import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from scipy.spatial.transform import Rotation

import polhode as ph
from each import each
from polhode.cli.compare import command
from polhode.plots import work_precision
from polhode.runs.compare import compare, compute_reference, fitting_steps, records
from polhode.trajectory.convergence import (
    asymptotic,
    attitude_error,
    errors_between,
    observed_order,
)
from text_boxes import misplaced

STATE = {"attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.2)), "angular_momentum": (0.6, 1.0, 0.5)}


def top():
    return ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0)


# ------------------------------------------------------------------ errors between states
def test_attitude_errors_against_matrices_and_scipy():
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=(50, 4)) for _ in range(2))
    a, b = (q / np.linalg.norm(q, axis=1, keepdims=True) for q in (a, b))
    R, S = (Rotation.from_quat(q[:, [1, 2, 3, 0]]) for q in (a, b))
    spectral = [np.linalg.svd(x - y, compute_uv=False)[0] for x, y in zip(R.as_matrix(), S.as_matrix(), strict=True)]
    np.testing.assert_allclose(attitude_error(a, b), spectral, rtol=1e-13)
    np.testing.assert_allclose(ph.rotation.angle_between(a, b), (R.inv() * S).magnitude(), rtol=1e-13)
    np.testing.assert_allclose(attitude_error(a, -b), attitude_error(a, b), rtol=1e-13)
    assert attitude_error((1, 0, 0, 0), (0, 0, 1, 0)) == pytest.approx(2.0)


def test_small_attitude_errors_keep_their_precision():
    q = np.array([0.5, -0.5, 0.5, 0.5])
    for shift in (1e-8, 1e-12, 1e-15):
        other = q + np.array([0.0, shift, shift, 0.0])
        with mpmath.workdps(50):
            x, y = [mpmath.mpf(float(v)) for v in q], [mpmath.mpf(float(v)) for v in other]
            cosine = sum(u * v for u, v in zip(x, y, strict=True)) / mpmath.sqrt(sum(u * u for u in x))
            angle = 2 * mpmath.acos(cosine / mpmath.sqrt(sum(v * v for v in y)))
            norm = float(2 * mpmath.sin(angle / 2))
        assert attitude_error(q, other) == pytest.approx(norm, rel=1e-7)
        assert norm > shift


def test_errors_between_trajectories_match_rows_by_time():
    coarse = ph.integrate(top(), "trapm", step=0.1, t_end=1.0, **STATE)
    fine = ph.integrate(top(), "trapm", step=0.05, t_end=1.0, **STATE)
    errors = errors_between(coarse, fine)
    every = fine.isel(time=slice(None, None, 2))
    difference = coarse.angular_momentum.values - every.angular_momentum.values
    np.testing.assert_array_equal(errors.angular_momentum_error, np.sqrt((difference**2).sum(axis=1)))
    assert errors.attitude_error[0] == 0.0 and errors.attitude_error[-1] > 1e-5
    assert set(errors.data_vars) == {"angular_momentum_error", "attitude_error", "attitude_angle"}
    shuffled = errors_between(coarse, fine.isel(time=slice(None, None, -1)))
    np.testing.assert_array_equal(shuffled.attitude_error, errors.attitude_error)
    last = errors_between(coarse.isel(time=-1), fine)
    assert last.attitude_error.dims == () and last.attitude_error == errors.attitude_error[-1]
    with pytest.raises(ph.errors.InvalidInput, match=r"no row at t = 0\.05"):
        errors_between(fine, coarse)


def test_errors_between_of_points_and_of_what_does_not_fit():
    point = ph.integrate(ph.particle(), "trapm", step=0.1, steps=2, velocity=(1, 0, 0))
    other = ph.integrate(ph.particle(), "trapm", step=0.1, steps=2, velocity=(0, 2, 0))
    errors = errors_between(point, other)
    np.testing.assert_allclose(errors.momentum_error, np.sqrt(5.0))
    np.testing.assert_allclose(errors.position_error, np.sqrt(5.0) * np.array([0, 0.1, 0.2]))
    with pytest.raises(ph.errors.InvalidInput, match="nothing in common"):
        errors_between(ph.integrate(top(), "trapm", step=0.1, steps=2, **STATE), point)
    two = xr.Dataset({"position": (("body", "axis"), np.zeros((2, 3)))})
    with pytest.raises(ph.errors.InvalidInput, match="bodies"):
        errors_between(point.isel(time=-1), two)


# ------------------------------------------------------------------ orders
H = 0.4 * 0.5 ** np.arange(8)


@each("order", [1, 2, 4, 8])
def test_order_of_a_pure_power(order):
    assert observed_order(H, 3.0 * H**order) == pytest.approx(order, abs=1e-12)
    assert observed_order(H[::-1], 3.0 * H[::-1] ** order) == pytest.approx(order, abs=1e-12)


def test_order_leaves_out_plateau_coarse_points_and_what_is_below_the_floor():
    round_off = 1e-13 * np.array([1, 2, 1, 3, 2, 1, 2, 3])
    errors = H**4 + round_off
    assert observed_order(H, errors) == pytest.approx(4.0, abs=0.02)
    steep = H**8 * 1e-3 + round_off
    assert observed_order(H, steep) == pytest.approx(8.0, abs=0.3)
    coarse = H**2 * 1e-4
    coarse[:3] = (1.0, 0.9, 0.5)
    assert observed_order(H, coarse) == pytest.approx(2.0, abs=1e-9)
    assert not asymptotic(H, coarse)[:3].any()
    np.testing.assert_array_equal(asymptotic(H, H**2, floor=1e-2), H**2 > 1e-2)
    mixed = np.where(np.arange(8) % 5 == 4, np.nan, H**2)
    assert observed_order(H, mixed) == pytest.approx(2.0, abs=1e-9)


def test_order_that_cannot_be_told():
    for errors in (np.full(8, 1e-16), np.zeros(8), np.full(8, np.nan), np.linspace(1, 2, 8)):
        assert np.isnan(observed_order(H, errors))
    assert np.isnan(observed_order([0.1], [0.1]))
    assert observed_order([0.2, 0.1], [0.4, 0.1]) == pytest.approx(2.0)
    with pytest.raises(ph.errors.InvalidInput, match="one length"):
        observed_order([0.1, 0.2], [0.1])


# ------------------------------------------------------------------ compare
@pytest.fixture(scope="module")
def table():
    return compare(top(), ["trapm", "mkrk:rk4"], [3.2, 0.1, 0.05, 0.025], t_end=6.4, **STATE)


def test_orders_on_a_torqued_top(table):
    for name in ("attitude_error", "angular_momentum_error", "attitude_angle"):
        orders = table[f"{name}_order"].sel(integrator=["trapm", "mkrk:rk4"]).values
        np.testing.assert_allclose(orders, [2.0, 4.0], rtol=0, atol=0.2)
    assert table.energy_error_order.sel(integrator="trapm") == pytest.approx(2.0, abs=0.2)
    assert table.order.values.tolist() == [2, 4]


def test_errors_are_those_of_an_independent_reference(table):
    from scipy.integrate import solve_ivp

    inertia, com = np.array([1.0, 1.5, 2.2]), np.array([0.1, 0.2, 0.9])

    def rates(t, y):
        R, m = y[:9].reshape(3, 3), y[9:]
        w = m / inertia
        turn = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return np.concatenate([(R @ turn).ravel(), np.cross(m, w) - np.cross(com, R[2])])

    R0 = Rotation.from_rotvec((0.3, 0.1, 0.2)).as_matrix()
    end = solve_ivp(rates, (0, 6.4), [*R0.ravel(), 0.6, 1.0, 0.5], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    ds = ph.integrate(top(), "trapm", step=0.05, t_end=6.4, **STATE).isel(time=-1)
    q = ds.attitude.values
    R = Rotation.from_quat(q[[1, 2, 3, 0]]).as_matrix()
    row = table.sel(integrator="trapm", step=0.05)
    assert row.attitude_error == pytest.approx(np.linalg.norm(R - end[:9].reshape(3, 3), 2), rel=1e-6)
    assert row.angular_momentum_error == pytest.approx(np.linalg.norm(ds.angular_momentum - end[9:]), rel=1e-6)
    assert 0.0 < table.attitude_error.attrs["reference_accuracy"] < 1e-12
    assert "rkn8_17" in table.attrs["reference"] and "sp8/exact_matrix" in table.attrs["reference"]


def test_the_reference_under_drag():
    """Splittings fall to order 2 there, so the reference is another."""
    body = ph.rigid_body((1.0, 1.5, 2.2), torque=lambda t, q, w, p: (-0.1 * w[0], -0.1 * w[1], -0.1 * w[2]))
    found = ph.compare(body, ["mkrk:rk4"], steps=[0.1, 0.05], t_end=1.0, angular_velocity=(0.3, 1.0, 0.2))
    assert "mkrk:gauss8" in found.attrs["reference"] and "mkrk:cv8:cayley" in found.attrs["reference"]


def test_a_failed_run_is_a_mark_not_a_crash(table):
    failed = table.sel(step=3.2)
    assert set(failed.status.values) <= {"StepTooLarge", "ConvergenceError"}
    assert all(failed.message.values) and np.isnan(failed.attitude_error).all() and np.isnan(failed.seconds).all()
    assert (table.sel(step=[0.1, 0.05, 0.025]).status == "ok").all()


def test_cost_is_recorded(table):
    good = table.sel(step=[0.1, 0.05, 0.025])
    assert (good.ns_per_step > 0).all() and (good.load_evaluations.sel(integrator="mkrk:rk4") == 4).all()
    np.testing.assert_allclose(good.seconds, good.ns_per_step * good.steps * 1e-9)
    assert (good.iterations.sel(integrator="trapm") >= 2).all() and (
        good.iterations.sel(integrator="mkrk:rk4") == 0
    ).all()


def test_records_are_plain(table):
    rows = records(table)
    assert len(rows) == 8 and json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert rows[0]["attitude_error"] is None and rows[0]["status"] != "ok" and rows[1]["method"] == "trapm"


def test_errors_below_the_reference_are_only_bounds():
    ds = compare(top(), "mkrk:gauss8", [0.05, 0.025], t_end=1.0, **STATE)
    accuracy = ds.attitude_error.attrs["reference_accuracy"]
    assert ds.attitude_error_is_bound.all()
    assert (ds.attitude_error >= accuracy).all() and (ds.attitude_error < 4.01 * accuracy).all()
    assert np.isnan(ds.attitude_error_order).all()


def test_a_given_reference_is_taken_at_its_word():
    exact = {"position": (np.cos(2.0), 0.0, 0.0), "momentum": (-np.sin(2.0), 0.0, 0.0)}
    system = ph.particle(1.0, stiffness=1.0)
    ds = compare(system, ["trapm"], [0.1, 0.05, 0.025], t_end=2.0, reference=exact, position=(1, 0, 0))
    phase = 2.0 / 0.05 * 2.0 * np.arctan(0.025)
    away = abs(np.cos(phase) - np.cos(2.0))
    assert ds.position_error.sel(integrator="trapm", step=0.05) == pytest.approx(away, rel=1e-8)
    assert ds.position_error_order == pytest.approx(2.0, abs=0.05)
    assert not ds.position_error_is_bound.any() and "given" in ds.attrs["reference"]
    again = ph.integrate(system, "mkrk:gauss8", step=0.1, t_end=2.0, position=(1, 0, 0))
    other = compare(system, ["trapm"], [0.1, 0.05, 0.025], t_end=2.0, reference=again, position=(1, 0, 0))
    np.testing.assert_allclose(other.position_error, ds.position_error, rtol=1e-6)


def test_backwards_in_time():
    ds = compare(ph.particle(1.0, stiffness=1.0), "trapm", [0.1, 0.05], t_end=-1.0, position=(1, 0, 0))
    assert ds.position_error_order == pytest.approx(2.0, abs=0.1)


def test_a_coarse_reference_says_so():
    reference = compute_reference(
        ph.rigid_body((1, 2, 3), torque=lambda t, q, omega, p: (1.0 if t > 0.333 else -1.0, 0.0, 0.0)),
        t_end=1.0, largest=0.1, smallest=0.05,
    )  # fmt: skip
    assert reference.accuracy["attitude_error"] > 1e-8


@each(
    ("change", "match"),
    [
        ({"methods": "trapn"}, "trapm"),
        ({"methods": []}, "at least one method"),
        ({"steps": []}, "at least one method and one step"),
        ({"steps": [0.3]}, "nearest step"),
        ({"steps": [-0.1]}, "positive"),
        ({"steps": ["x"]}, "number"),
        ({"steps": [0.1, 0.1]}, "twice"),
        ({"methods": ["mkrk", "mkrk:rk4"]}, "twice"),
        ({"every": 2}, "no place"),
        ({"t_end": 0.0}, "nothing to compare"),
        ({"reference": {"position": (0, 0, 0)}}, "position"),
        ({"reference": {"attitude": (0, 0, 1)}}, "shape"),
        ({"reference": {"attitude": "x"}}, "numbers"),
        ({"reference": {}}, "empty"),
        ({"reference": 3}, "Dataset or a mapping"),
    ],
)
def test_what_is_refused(change, match):
    arguments = {"methods": "trapm", "steps": [0.1], "t_end": 1.0, "reference": {"attitude": (1, 0, 0, 0)}, **STATE}
    with pytest.raises(ph.errors.InvalidInput, match=match):
        compare(top(), **(arguments | change))


def test_reference_without_the_end_time_is_refused():
    short = ph.integrate(top(), "trapm", step=0.1, t_end=0.5, **STATE)
    with pytest.raises(ph.errors.InvalidInput, match="no row at t = 1"):
        compare(top(), "trapm", 0.1, t_end=1.0, reference=short, **STATE)


def test_ctrl_c_keeps_the_table_so_far(monkeypatch):
    said = []

    def progress(words):
        said.append(words)
        if words.startswith("trap, 2 of 2:"):
            raise KeyboardInterrupt

    with pytest.raises(ph.errors.Interrupted) as stopped:
        compare(
            top(),
            ["trapm", "trap"],
            [0.1, 0.05],
            t_end=1.0,
            reference={"attitude": (1, 0, 0, 0)},
            progress=progress,
            **STATE,
        )
    ds = stopped.value.trajectory
    assert ds.status.values.tolist() == [["ok", "ok"], ["not run", "not run"]]
    assert (
        said[0].startswith("runs: 4 (methods: 2, steps: 2), of 10 to 20 steps, each timed for 0.1 s")
        and " s to go" in said[-1]
    )
    work_precision(ds)


def test_usual_steps_divide_the_span():
    assert fitting_steps(0.1, 4.0) == pytest.approx([0.4, 0.2, 0.1, 0.05])
    for size in fitting_steps(0.1, 0.7):
        assert abs(0.7 / size - round(0.7 / size)) < 1e-9
    assert fitting_steps(0.1, 0.1) == pytest.approx([0.1, 0.05])


# ------------------------------------------------------------------ the picture and the command
def test_work_precision_picture(table, tmp_path):
    from matplotlib.image import imread

    figure = work_precision(table, tmp_path / "wp.png")
    assert len(figure.axes) == 4
    left, right = figure.axes[:2]
    assert left.get_xlabel() == "step" and right.get_xlabel() == "wall time (s)"
    np.testing.assert_array_equal(np.sort(left.lines[0].get_ydata()), np.sort(table.attitude_error.values[0, 1:]))
    texts = {text.get_text() for text in right.texts}
    assert {"trapm  2.0", "mkrk:rk4  4.0"} <= {text.replace("4.1", "4.0") for text in texts}
    assert any("failed" in text.get_text() for text in left.texts)
    assert imread(tmp_path / "wp.png")[..., :3].var() > 1e-3


def test_work_precision_fits_papers(table):
    """Panels below each other in a column, side by side on a page; no text meets another or leaves the figure."""
    for size, wide, columns in (("column", 3.4, 1), ("page", 7.0, 2)):
        figure = work_precision(table, size=size)
        assert figure.get_figwidth() == wide and not figure.texts and misplaced(figure) == []
        assert len({round(axes.get_position().x0, 3) for axes in figure.axes}) == columns


def test_work_precision_where_all_failed(table):
    work_precision(table.sel(step=[3.2])).canvas.draw()


@each(
    ("spoil", "told"),
    [
        (lambda ds: ds.rename(integrator="other"), "integrator of this Dataset is not one for each integrator"),
        (lambda ds: ds.isel(step=0), "step of this Dataset is not one for each step"),
        (lambda ds: ds.isel(step=slice(0)), "step of this Dataset is not one for each step"),
        (lambda ds: ds.drop_vars("seconds"), "seconds of this Dataset is not one for each integrator and step"),
        (lambda ds: ds.assign(seconds=ds.seconds.astype(str)), "seconds holds <U.*, no numbers"),
        (lambda ds: ds.assign_coords(step=ds.step * np.nan), "step has entries that are not positive and finite"),
        (
            lambda ds: ds.assign(attitude_error=ds.attitude_error * 0 + 1e300),
            "attitude_error has entries beyond 1e-150",
        ),
    ],
)
def test_a_table_that_no_comparison_gives_is_refused(table, spoil, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        work_precision(spoil(table))


def test_seconds_of_zero_are_not_drawn(table):
    work_precision(table.assign(seconds=table.seconds * 0.0)).canvas.draw()


SCENARIO = """
[system]
type = "heavy_top"
inertia = [1.0, 1.5, 2.2]
center_of_mass = [0.1, 0.2, 0.9]
weight = 1.0

[initial]
rotation_vector = [0.3, 0.1, 0.2]
angular_momentum = [0.6, 1.0, 0.5]

[run]
step = 0.1
t_end = 1.6
every = 4
"""


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("top.toml")
    path.write_text(SCENARIO)
    assert tomllib.loads(SCENARIO)
    return path


def run(*words):
    return CliRunner().invoke(command, [str(word) for word in words])


def test_command_prints_a_table_and_writes_files(scenario):
    done = run(scenario, "--methods", "trapm, mkrk:rk4", "--steps", "0.1,0.05,0.025", "-o", "out")
    assert done.exit_code == 0, done.output
    assert "trapm" in done.stdout and "order" in done.stdout and "Reference: computed by rkn8_17" in done.stdout
    with Path("out/top-compare.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6 and float(rows[0]["step"]) == 0.1 and rows[0]["status"] == "ok"
    assert sorted(path.name for path in Path("out").iterdir()) == ["top-compare.csv", "top-compare.png"]


def test_command_for_machines_with_its_usual_steps(scenario, monkeypatch):
    monkeypatch.setattr(ph.plots, "work_precision", lambda ds, path: Path(path).touch())
    done = run(scenario, "--methods", "trapm", "--json", "--quiet", "-o", "table.csv")
    assert done.exit_code == 0 and done.stderr == ""
    facts = json.loads(done.stdout)
    assert [row["step"] for row in facts["rows"]] == pytest.approx([0.4, 0.2, 0.1, 0.05])
    assert facts["written"] == ["table.csv", "table.png"] and Path("table.png").exists()


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--methods", "trapm,,imid"], "separated by commas"),
        (["--methods", "trapn"], "did you mean"),
        (["--steps", "0.1,x"], "'x' is no number"),
        (["--steps", "0.3"], "nearest step"),
        (["-o", "table.txt"], "must end in .csv"),
    ],
)
def test_command_refuses(scenario, words, match):
    done = run(scenario, *words)
    assert isinstance(done.exception, ph.errors.InvalidInput) and match in str(done.exception)
    assert not list(Path().glob("*.png"))


def test_command_refuses_a_place_it_cannot_write(scenario):
    Path("file").write_text("")
    done = run(scenario, "-o", "file/table.csv")
    assert isinstance(done.exception, ph.errors.FileProblem)
