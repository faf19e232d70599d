"""The study of Holzinger and Gerstmayr 2021, figures 3 to 10 and table 1: the quick form, its numbers, its judges.

Positions and errors called known are those of an independent program; exact ends are checked against elliptic functions
in many digits.
"""

from __future__ import annotations

import csv
from math import pi

import mpmath as mp
import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation
from tests.support.study_parts import check_parts, quick_form

import polhode as ph
import polhode_papers as studies
from each import each
from mp_free_body import closed_form
from mutants import order_off, scaled
from polhode_papers import report
from polhode_papers.holzinger2021 import (
    common,
    fig03,
    fig04,
    fig04_two_pi,
    fig05,
    fig06,
    fig07,
    fig08,
    fig09,
    fig10,
)
from polhode_papers.study import FAILS, HOLDS, PARTLY

STUDY = studies.study("holzinger2021")
NAMES = ("fig03", "fig04", "fig04_two_pi", "fig05", "fig06", "fig07", "fig08", "fig09", "fig10", "table1")


# ------------------------------------------------------------------ the quick form, once
@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return quick_form(STUDY, tmp_path_factory, tuple(STUDY.figure(name) for name in NAMES))


def judged(quick, figure, words):
    (found,) = [v for v in quick[0][figure].verdicts if words in v.claim.text]
    return found


def lines(quick, name, key, value):
    """Values over steps, by the columns in ``key``, from a table of the results."""
    found = {}
    with (quick[1] / f"{name}.csv").open() as file:
        for row in csv.DictReader(file):
            found.setdefault(tuple(row[k] for k in key), {})[float(row["step"])] = float(row[value] or "nan")
    return {k: np.array([v for _, v in sorted(line.items(), reverse=True)]) for k, line in found.items()}


def test_all_files_are_there(quick):
    results, folder, written = quick
    assert [name for name in (figure.name for figure in STUDY.figures) if name in NAMES] == list(NAMES)
    for name, result in results.items():
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert all(path.stat().st_size > 30 for path in (*result.tables, *result.pictures))
        assert len(result.verdicts) == len(result.figure.claims)
        for verdict in result.verdicts:
            assert verdict.numbers and f"| {verdict.claim.text} | {verdict.summary} |" in written.read_text()


def test_verdicts(quick):
    check_parts(STUDY, quick[0].values())


@pytest.mark.full
def test_verdicts_of_the_full_form(tmp_path):
    results, _ = report.reproduce(STUDY, tmp_path, tuple(STUDY.figure(name) for name in NAMES))
    check_parts(STUDY, results, quick=False)


def test_zero_is_no_singular_point_of_the_rates(quick):
    parts = judged(quick, "fig03", "no longer be determined").parts
    assert [part.true for part in parts.values()] == [True, False, False]
    assert judged(quick, "fig03", "no longer").numbers["no number at the steps 1/"] == "2, 4, 8, 16, 32"
    reached = judged(quick, "fig03", "is reached").numbers["phi = 0 is reached at"]
    assert list(reached.values()) == [0.25, 0.5, 0.5]
    ratio = judged(quick, "fig04", "converges slower").numbers
    assert all(0.9 < x < 1.05 for line in ratio.values() for x in line.values())


def test_orders_of_figures_4_and_8(quick):
    for name, methods in (
        ("fig04", (fig03.PROPOSED, fig03.REGULAR)), ("fig08", (fig05.PROPOSED, fig08.ENTRIES, fig08.CAYLEY))
    ):  # fmt: skip
        errors = lines(quick, name, ("epsilon", "method"), "attitude_error")
        for (e, method), line in errors.items():
            if float(e) and method in methods:
                slope = np.log2(line[:-1] / line[1:]) / 2  # every second halving
                clear = (line[1:] > 1e-12) & (line[:-1] < 0.1)
                assert clear.sum() >= 1 and np.abs(slope[clear] - 4).max() < 0.35, (name, e, method)
    proposed = lines(quick, "fig08", ("epsilon", "method"), "attitude_error")
    assert proposed["0", "proposed"].max() < 2e-13 and proposed["0", fig08.CAYLEY].max() > 1e-3


def test_paper_error_and_attitude_error_agree(quick):
    for name, method in (("fig04", "proposed"), ("fig08", "proposed"), ("fig08", fig08.ENTRIES)):
        attitude = lines(quick, name, ("epsilon", "method"), "attitude_error")
        parameter = lines(quick, name, ("epsilon", "method"), "parameter_error")
        for key, mine in attitude.items():
            if key[1] == method:
                clear = (mine > 1e-11) & (mine < 0.1)
                assert (parameter[key][clear] / mine[clear] < 3).all() and (parameter[key] < 20).all()


def test_through_a_full_turn(quick):
    half = judged(quick, "fig04_two_pi", "half angle").numbers
    assert half["largest at eps = 0"] < 1e-11
    printed = judged(quick, "fig04_two_pi", "update as printed")
    assert printed.numbers["largest at eps = 0"] > 1.0 and printed.parts["eps = 1: order 4"]
    assert 1e-3 < printed.numbers["attitude error at h = 1/512"]["1e-07"] < 0.5
    assert 1e-7 < printed.numbers["attitude error at h = 1/512"]["1e-05"] < 1e-4
    direct = judged(quick, "fig04_two_pi", "slows down")
    assert [part.true for part in direct.parts.values()] == [True, True, True, False]


def test_rates_of_angles_fail_beside_the_singular_point_and_not_in_it(quick):
    parts = judged(quick, "fig05", "no longer").parts
    assert {k: x.true for k, x in parts.items()} == {"eps = 0": False, "eps = 1e-05": True, "eps = 0.01": True}
    assert judged(quick, "fig08", "even fails").numbers["largest attitude error"] < 1e-12


def test_jumps_and_conversion(quick):
    assert judged(quick, "fig06", "jumps").numbers["jumps where pi t is, in units of pi/2"] == "1, 3, 5, 7"
    assert judged(quick, "fig07", "converted").numbers["largest alpha2 - pi t"] < 1e-11
    entries = judged(quick, "fig07", "five entries").numbers["largest attitude error, t <= 20"]
    assert entries["0.01"] == pytest.approx(6e-6, rel=0.3)
    assert max(judged(quick, "fig07", "by half angles").numbers["largest attitude error, t <= 20"].values()) < 2e-13


def test_orders_can_be_selected(quick):
    found = judged(quick, "fig09", "can be selected").parts
    assert [part.measured for part in found.values()] == pytest.approx([*fig09.EXPECTED.values()], rel=0.06)
    errors = lines(quick, "fig09", ("method",), "attitude_error")
    at = {n: sorted({*fig09.COUNTS, *fig09.BETWEEN} - {50_000, 100_000}).index(n) for n in (100, 1000)}
    assert errors["RK4",][at[100]] == pytest.approx(4.9e-3, rel=0.05)
    assert errors["RK4",][at[1000]] == pytest.approx(2.4e-7, rel=0.2)
    assert np.isnan(errors["RK4",][0])


# Position errors for h = 0.01/2^k, by an independent program; the last two are of the size of its reference's error.
TABLE_1 = ((5.498e-1, 1e-3), (2.348e-2, 1e-3), (9.035e-4, 1e-3), (3.763e-5, 5e-3), (1.80e-6, 0.05))


@pytest.mark.parametrize("against", ["position_error", "position_error_by_reference"])
def test_table_1(quick, against):
    errors = lines(quick, "table1", ("method",), against)
    for name in (fig10.LIE, *fig10.EQUIVALENT):
        line = errors[name,]
        for size, (known, tolerance) in zip(line, TABLE_1, strict=False):
            assert size == pytest.approx(known, rel=tolerance)
        bound = (2e-7, 1e-7) if against == "position_error" else (4e-7, 3e-7)
        assert line[5] < bound[0] and line[6] < bound[1]


def test_methods_are_equivalent(quick):
    found = judged(quick, "table1", "due to round-off").numbers["largest difference"]
    assert all(found[name] < 2e-13 for name in (*fig10.EQUIVALENT, fig10.ENTRIES))
    assert 1e-12 < found[fig10.COSINE] < 1e-9
    sample = judged(quick, "fig10", "is converged").numbers["error of the reference"]
    assert 3e-9 < sample["median"] < 1.5e-7


# ------------------------------------------------------------------ instruments
@each("t", common.KNOWN)
def test_the_exact_end(t):
    with mp.workdps(40):
        J = [mp.mpf(x) for x in ("5.2988", "1.1775", "4.3568")]
        m = [J[0] / 100, mp.mpf(0), 100 * J[2]]
        q = np.array([float(x) for x in closed_form(J, m, mp.mpf(t), 40)[1]])
    assert ph.rotation.angle_between(q, common.KNOWN[t]) < 1e-15
    end = common.Motion(common.BESIDE_UNSTABLE, t).exact()
    assert ph.rotation.angle_between(end.attitude.values, q) < 1e-13


def test_a_motion_begins_where_it_should():
    start = (0.0, 1.5 * pi, 0.0)
    motion = common.Motion((0.1, 0.2, 0.3), 0.5, start)
    for method in ("rotation_vector", "lie_rk"):
        ds, outcome = motion.run(method, 0.125)
        assert outcome == "completed" and ds.sizes["time"] == 5
        expected = np.roll(Rotation.from_rotvec(start).as_quat(), 1)
        assert ph.rotation.angle_between(ds.attitude.values[0], expected) < 1e-15
    assert motion.run("rotation_vector", 0.125)[0].rotation_vector.values[0] == pytest.approx(start, abs=1e-15)
    angles = common.Motion((0.1, 0.2, 0.3), 0.5, (0.3, 2.0, -0.4), common.ANGLES).run("euler", 0.25)[0]
    assert angles.euler_angles.values[0] == pytest.approx((0.3, 2.0, -0.4), abs=1e-15)


def test_a_ladder_tells_which_runs_ended_early():
    case = fig03.motion(fig03.PRINTED, 0.0, 0.5)
    data = common.ladder(case, {"rates": fig03.FORMS[fig03.RATES]}, [1 / 32, 1 / 64], lambda line: None)
    assert data.outcome.values.tolist() == [["NotFinite in step 7", "completed"]]
    assert np.isnan(data.attitude_error.values).tolist() == [[True, False]] and data.attitude_error[0, 1] < 1e-13


def row(**parameters):
    return xr.Dataset({name: ("component", np.array(value)) for name, value in parameters.items()})


def test_distances_of_parameters():
    distance = common.parameter_distance
    assert distance(row(rotation_vector=(1, 2, 3)), row(rotation_vector=(1, 2, 5))) == 2.0
    here = row(euler_angles=(0.1, 0.2, 0.3))
    assert distance(row(euler_angles=(0.1 + 2 * pi, 0.2, 0.4 - 2 * pi)), here) == pytest.approx(0.1)
    assert distance(row(euler_angles=(0.1 + pi, pi - 0.2, 0.3 - pi)), here) == pytest.approx(0.0, abs=1e-15)
    assert np.isnan(distance(row(rotation_matrix=(1, 2, 3)), here))


@each("sequence", ["XYZ", "ZXZ", "zyx"])
def test_angles_are_continued(sequence):
    time = np.linspace(0.0, 7.0, 200)
    wound = np.stack([np.sin(time), 2.0 * time + 0.3, 0.5 * time * time], axis=1)
    folded = Rotation.from_euler(sequence, wound).as_euler(sequence)
    folded[0] = wound[0]
    found = common.continued(folded, sequence)
    assert np.abs(found - wound).max() < 1e-10
    assert np.abs(folded - wound).max() > 5.0


# ------------------------------------------------------------------ verdicts can fail
def verdict_of(figure, words, data, name="FIGURE"):
    (found,) = [claim for claim in getattr(figure, name).claims if words in claim.text]
    return found.judge(data).verdict


def convergence(epsilons, methods, steps, order=4, zero=1e-15):
    """Made-up errors that fall with this order, but for the first epsilon, where they are ``zero``."""
    h = np.asarray(steps)
    error = np.array([[(e * h**order if e else zero + 0 * h) for _ in methods] for e in epsilons])
    dims = ("epsilon", "method", "step")
    return xr.Dataset(
        {"attitude_error": (dims, error), "parameter_error": (dims, error.copy()),
         "outcome": (dims, np.full(error.shape, "completed"))},
        {"epsilon": list(epsilons), "method": list(methods), "step": list(steps)},
    )  # fmt: skip


@each(
    ("figure", "words", "methods", "epsilons"),
    [(fig04, "fourth order for all", fig03.FORMS, fig03.EPSILONS),
     (fig04_two_pi, "half angle", fig04_two_pi.METHODS, fig03.EPSILONS),
     (fig04_two_pi, "update as printed", fig04_two_pi.METHODS, fig03.EPSILONS),
     (fig08, "proposed approach is of fourth", fig08.METHODS, fig05.EPSILONS),
     (fig08, "five entries", fig08.METHODS, fig05.EPSILONS)],
)  # fmt: skip
def test_orders_are_judged(figure, words, methods, epsilons):
    steps = common.halvings(1, 14)
    assert verdict_of(figure, words, convergence(epsilons, methods, steps)) == HOLDS
    assert verdict_of(figure, words, convergence(epsilons, methods, steps, zero=1e-6)) == PARTLY
    assert verdict_of(figure, words, convergence(epsilons, methods, steps, order=3)) == PARTLY
    assert verdict_of(figure, words, convergence(epsilons, methods, steps, order=3, zero=1e-6)) == FAILS


def test_direct_integration_is_judged():
    data = convergence(fig03.EPSILONS, fig03.FORMS, common.halvings(1, 14))
    assert verdict_of(fig04, "slower", data) == FAILS and verdict_of(fig04, "even fails", data) == FAILS
    assert verdict_of(fig04, "as good as", data) == HOLDS
    for form in (fig03.RATES, fig03.REGULAR):
        data.attitude_error.loc[{"method": form, "epsilon": [1e-7, 1e-5]}] *= 3.0
        data.outcome.loc[{"method": form, "epsilon": 0.0}] = "stopped"
    assert verdict_of(fig04, "slower", data) == HOLDS and verdict_of(fig04, "even fails", data) == HOLDS
    assert verdict_of(fig04, "as good as", data) == PARTLY
    angles = convergence(fig05.EPSILONS, fig08.METHODS, common.halvings(0, 13))
    assert verdict_of(fig08, "slower", angles) == FAILS and verdict_of(fig08, "even fails", angles) == FAILS
    angles.attitude_error.loc[{"epsilon": 0.0, "method": fig05.DIRECT}] = 0.5
    assert verdict_of(fig08, "even fails", angles) == HOLDS


def test_figure_3_is_judged():
    data = fig03.compute(True, lambda line: None)
    assert verdict_of(fig03, "passes through", data) == HOLDS
    data.attitude_error.loc[{"epsilon": 0.0, "form": fig03.PROPOSED, "time": 1.0}] = np.nan
    assert verdict_of(fig03, "passes through", data) == PARTLY
    data.attitude_error.loc[{"form": fig03.REGULAR}] = 1.0
    data.outcome_at_zero[:] = "stopped"
    assert verdict_of(fig03, "no longer", data) == HOLDS


def test_figures_5_to_7_are_judged():
    five = fig05.compute(True, lambda line: None)
    assert verdict_of(fig05, "passes through", five) == HOLDS
    five.attitude_error.loc[{"form": fig05.PROPOSED, "epsilon": 1e-2}] = np.nan
    assert verdict_of(fig05, "passes through", five) == PARTLY
    five.attitude_error.loc[{"form": fig05.DIRECT, "epsilon": 0.0}] = 1.0
    assert verdict_of(fig05, "no longer", five) == HOLDS
    six = fig06.compute(True, lambda line: None)
    smooth = six.copy(deep=True)
    smooth.angle.loc[{"form": fig05.PROPOSED}] = six.angle.sel(form=fig05.DIRECT)
    assert verdict_of(fig06, "finite jumps", smooth) == FAILS
    six.angle.loc[{"form": fig05.DIRECT, "axis": 2, "time": 1.0}] += 1e-6
    assert verdict_of(fig06, "solves (88)", six) == FAILS
    seven = fig07.compute(True, lambda line: None)
    seven.angle.loc[{"axis": 2, "time": seven.time[-1]}] += 1e-6
    assert verdict_of(fig07, "converted", seven) == PARTLY
    assert verdict_of(fig07, "continue the old", seven) == PARTLY
    seven.attitude_error[:] = 1e-6
    assert verdict_of(fig07, "by half angles", seven) == FAILS


def test_figures_9_and_10_are_judged():
    h = 0.5 / np.array([64, 128, 256, 512, 1024])
    order = [next(p for key, p in fig09.EXPECTED.items() if name.startswith(key)) for name in fig09.METHODS]
    orders = fig09.EXPECTED.values()
    early = fig09.EARLY / np.array([16, 32, 64, 128])
    data = xr.Dataset(
        {"attitude_error": (("method", "step"), [1e-5 * (h / h[-1]) ** p for p in order]),
         "early_error": (("tableau", "early_step"), [1e-6 * (early / early[-1]) ** p for p in orders])},
        {"method": list(fig09.METHODS), "step": h, "tableau": list(fig09.EXPECTED), "early_step": early},
    )  # fmt: skip
    for words in ("First and fourth", "can be selected", "with Euler angles", "with Euler parameters"):
        assert verdict_of(fig09, words, data) == HOLDS
    for tableau in (fig09.RK4, fig09.RK1):
        for by in (1, -1):
            for words in ("First and fourth", "can be selected"):
                spoiled = order_off(data, "early_error", by, "early_step", tableau=tableau)
                assert verdict_of(fig09, words, spoiled) == PARTLY
    for chart, words in ((fig09.ANGLES, "with Euler angles"), (fig09.PARAMETERS, "with Euler parameters")):
        assert verdict_of(fig09, words, scaled(data, "attitude_error", 2.0, method=f"{fig09.RK4}, {chart}")) == PARTLY

    computed = fig10.compute(True, lambda line: None)
    ten = computed.copy(deep=True)
    ten.position_error.loc[{"method": fig10.VECTOR}] *= 1.1
    assert verdict_of(fig10, "converges as", ten) == PARTLY
    off = order_off(computed, "position_error", 1, method=fig10.VECTOR)
    assert verdict_of(fig10, "converges as", off) == PARTLY
    ten.difference_from_lie[:] = 1e-9
    assert verdict_of(fig10, "equivalent", ten, "TABLE_1") == FAILS
    assert verdict_of(fig10, "is converged", ten.assign(reference_error=ten.reference_error * 1e-4)) == HOLDS
    assert verdict_of(fig10, "is converged", ten.assign(reference_error=ten.reference_error * 1e4)) == FAILS


def test_names_a_user_types():
    for word in ("fig3", "fig04", "fig04_two_pi", "figure10", "table1"):
        assert STUDY.figure(word) in STUDY.figures
