"""The heavy top of Holzinger and Gerstmayr 2021, figures 11 to 18: the quick form, its oracle, its judges.

Values called known are those of an independent program.
"""

from __future__ import annotations

import csv

import numpy as np
import pytest
import xarray as xr
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from tests.support.study_parts import check_parts

import polhode_papers as studies
from each import each
from mutants import flips, order_off, put, scaled
from polhode.algebra import rotation
from polhode_papers import report
from polhode_papers.holzinger2021 import (
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    fig17,
    fig18,
    implicit,
    long_run,
    rivals,
    stability,
    top,
)
from polhode_papers.study import FAILS, HOLDS, PARTLY

STUDY = studies.study("holzinger2021")
FIGURES = ("fig11", "fig12", "fig13", "fig14", "fig15", "fig16", "fig17", "fig18", "implicit", "rivals", "stability")


# ------------------------------------------------------------------ the oracle
def by_matrices(t_end, tilt=0.0, spin=150.0):
    """R and omega from (74) to (76) as printed, R' = R hat(omega), by SciPy."""
    r = np.array([0.0, 1.0, 0.0])
    J = np.diag([0.234375, 0.46875, 0.234375]) - 15.0 * rotation.hat(r) @ rotation.hat(r)

    def rates(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        torque = 15.0 * np.cross(r, R.T @ [0.0, 0.0, -9.81])
        return np.concatenate([(R @ rotation.hat(w)).ravel(), np.linalg.solve(J, torque - np.cross(w, J @ w))])

    start = np.concatenate([Rotation.from_rotvec([0.0, tilt, 0.0]).as_matrix().ravel(), [0.0, spin, -4.61538]])
    end = solve_ivp(rates, (0.0, t_end), start, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return end[:9].reshape(3, 3), end[9:]


@each(("tilt", "spin"), [(0.0, 150.0), (fig18.TILT, 150.0), (0.0, implicit.SPIN)])
def test_the_power_series_solves_the_equations_of_motion(tilt, spin):
    R, w = by_matrices(0.2, tilt, spin)
    last = top.exact(0.2, 1, tilt, spin).isel(time=-1)
    np.testing.assert_allclose(rotation.matrix_from_quaternion(last.attitude.values), R, rtol=0, atol=3e-11)
    np.testing.assert_allclose(last.angular_velocity, w, rtol=0, atol=3e-10)


def test_the_power_series_has_the_known_digits():
    """At t = 0.1: digits of a computation with 30, in which two methods agreed to 5e-28."""
    last = top.exact(0.1).isel(time=-1)
    position = rotation.rotate(last.attitude.values, (0.0, 1.0, 0.0))
    exact = (0.42129665892540204365, 0.89457197434559299089, -0.14916470056189961162)
    np.testing.assert_allclose(position, exact, rtol=0, atol=2e-15)
    np.testing.assert_allclose(
        last.angular_velocity, (4.8089413317280923, 150.0, 1.0283007567183298), rtol=0, atol=3e-14
    )


def test_rows_of_the_power_series():
    fine, coarse = top.exact(0.1, 5), top.exact(0.1)
    np.testing.assert_allclose(fine.time, np.linspace(0.0, 0.1, 51), rtol=0, atol=1e-16)
    for name in ("attitude", "angular_velocity"):
        np.testing.assert_array_equal(fine[name][::5], coarse[name])
    np.testing.assert_allclose(np.linalg.norm(fine.attitude, axis=1), 1.0, rtol=0, atol=5e-16)
    R, w = by_matrices(0.054)
    np.testing.assert_allclose(rotation.matrix_from_quaternion(fine.attitude.values[27]), R, rtol=0, atol=1e-11)
    np.testing.assert_allclose(fine.angular_velocity[27], w, rtol=0, atol=1e-10)


# ------------------------------------------------------------------ matrices of stored numbers
def test_matrices_are_the_rotations():
    random = np.random.default_rng(17)
    v, a, q = random.normal(size=(20, 3)), random.uniform(-3, 3, (20, 3)), random.normal(size=(20, 4))
    v[0], q = 0.0, q / np.linalg.norm(q, axis=1, keepdims=True)
    expected = {
        "rotation vector": (v, Rotation.from_rotvec(v)), "Cardan angles": (a, Rotation.from_euler("XYZ", a)),
        "quaternion (Terze et al.)": (q, Rotation.from_quat(np.roll(q, -1, axis=1))),
    }  # fmt: skip
    for label, (numbers, exact) in expected.items():
        np.testing.assert_allclose(long_run.METHODS[label][1](numbers), exact.as_matrix(), rtol=0, atol=2e-15)


def test_deviations_are_seen():
    q = np.array([[1.0, 0.0, 0.0, 0.0], [0.6, 0.0, 0.8, 0.0]])
    assert long_run.deviation(long_run.of_quaternion(q)).max() < 1e-15
    longer = long_run.deviation(long_run.of_quaternion(1.000001 * q))
    assert longer[0] == 0.0 and 1e-6 < longer[1] < 1e-5  # the identity has no vector part to be too long
    matrix = np.array([[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]])
    matrix[0, 1] += 1e-9
    assert long_run.deviation(long_run.of_matrix(matrix)) == pytest.approx([np.sqrt(2.0) * 1e-9], rel=1e-6)


# ------------------------------------------------------------------ the quick form, once
@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    mine = tuple(STUDY.figure(name) for name in FIGURES)
    results, written = report.reproduce(STUDY, tmp_path_factory.mktemp("results"), mine, quick=True)
    return {result.figure.name: result for result in results}, written.parent


def numbers(quick, figure, words):
    (found,) = [v for v in quick[0][figure].verdicts if words in v.claim.text]
    return found.numbers


def test_all_files_are_there(quick):
    results, folder = quick
    for name, result in results.items():
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert all(path.stat().st_size > 30 for path in result.tables)
        assert len(result.verdicts) == len(result.figure.claims) > 0


def test_verdicts(quick):
    check_parts(STUDY, quick[0].values())


def test_the_motion(quick):
    """RK4 with steps of 1e-3 is a few 1e-4 off; the centre of mass passes below the fixed point."""
    position = numbers(quick, "fig11", "path")
    assert position["largest difference"] < 1e-12 and 1e-4 < position["from the power series"] < 3e-4
    assert -1.0 <= numbers(quick, "fig12", "stays 1 m")["lowest z"] < -0.999
    assert 6.0 < numbers(quick, "fig13", "Cardan")["largest size"] < 6.6
    assert max(numbers(quick, "fig14", "constant")["|omega_2 - 150|"].values()) < 1e-12


def test_singular_points(quick):
    vector, angles = numbers(quick, "fig15", "2 pi"), numbers(quick, "fig16", "pi/2")
    assert vector["times it turns back before 2 pi"] == 24 and angles["times the middle angle turns back"] == 97
    assert vector["closest to 2 pi"] == pytest.approx(0.193, abs=0.001)
    assert vector["closest to 0 after the start"] == pytest.approx(0.3426, abs=0.001)
    assert angles["closest"] == pytest.approx(0.00506, abs=0.0001)
    for found in (vector, angles):
        assert found["largest turn in a step"] == pytest.approx(0.15, abs=0.001)
        assert found["attitude, from the matrix"] < 1e-12
    assert vector["largest change of the vector in a step"] > 3.0 and angles["of alpha_1"] > 3.0
    sizes = numbers(quick, "fig16", "Cayley")["largest attitude error in 2 s"]
    assert sizes == pytest.approx({"exp": 9.1e-4, "Cayley": 9.5e-4}, rel=0.02)


def test_orthogonality(quick):
    found = numbers(quick, "fig17", "machine precision")["largest"]
    assert 1e-15 < found["rotation vector"] < 5e-15 and found["Cardan angles"] < 2e-15
    assert 1e-14 < found["matrix (Lie group)"] < 1e-12 and 2e-14 < found["quaternion (Terze et al.)"] < 1e-12
    assert found["quaternion, renormalised"] < 5e-15
    remarks = quick[0]["fig17"].remarks
    assert remarks["energy"].startswith("-0.596 J after 20 s")
    assert 6.2 < float(remarks["longest rotation vector"].split()[0]) < 2 * np.pi


# Frobenius norms of the error of the matrix at t = 1, steps of 1e-2, 5e-3, ...
KNOWN = (2.2, 0.56, 2.6e-2, 1.3e-3, 6.8e-5, 4.0e-6, 2.4e-7, 1.5e-8, 9.2e-10, 5.7e-11, 3.6e-12)
KNOWN_DIRECT = {"rotation vector": 2.5e-4, "Cardan angles": 1.6e-4}  # at the seventh step


def errors(folder):
    with (folder / "fig18.csv").open() as lines:
        for row in csv.DictReader(lines):
            yield (row["parameters"], row["way"], row["norm"]), float(row["step"]), float(row["error"])


def frobenius(angle):
    return 2.0 * np.sqrt(2.0) * np.sin(angle / 2.0)


def check_errors(folder, n):
    found = {}
    for key, _, error in errors(folder):
        found.setdefault(key, []).append(error)
    for pair in fig18.PAIRS:
        np.testing.assert_allclose(frobenius(np.array(found[pair, "proposed", "attitude"])), KNOWN[:n], rtol=0.05)
        assert frobenius(found[pair, "direct", "attitude"][6]) == pytest.approx(KNOWN_DIRECT[pair], rel=0.03)
    ratio = (
        np.array(found["rotation vector", "proposed", "parameters"])
        / (found["rotation vector", "direct", "parameters"])
    )
    assert np.all((ratio[5:] > 5e-4) & (ratio[5:] < 2e-3))  # a thousand times, not a hundred
    ratio = np.array(found["Cardan angles", "proposed", "attitude"]) / found["Cardan angles", "direct", "attitude"]
    assert np.all((ratio[6:] > 1e-3) & (ratio[6:] < 6e-3))


def test_errors_are_the_known_ones(quick):
    check_errors(quick[1], 9)
    orders = numbers(quick, "fig18", "order depends")["order"]
    assert all(3.9 < order < 4.15 for order in orders.values())


def test_implicit_schemes(quick):
    worst = numbers(quick, "implicit", "drifting")["largest energy change, J"]
    known = {"exp, middle": 0.01286, "exp, start": 0.268, "cayley, middle": 0.00752, "cayley, start": 2.63}
    assert worst == pytest.approx(known, rel=0.01)
    defect = numbers(quick, "implicit", "symmetric steps")
    assert defect["Gauss 4"]["exp, start"] == pytest.approx(9.4e-6, rel=0.01)
    assert defect["Gauss 2"]["exp, start"] < 1e-14  # the midpoint rule is symmetric anyway
    for order in implicit.ORDERS:
        found = numbers(quick, "implicit", "embedded")[f"order of Gauss {order}"]
        assert all(x == pytest.approx(order, rel=0.04) for x in found.values())


# ------------------------------------------------------------------ verdicts can fail
def judge(figure, words, data):
    (claim,) = [claim for claim in figure.FIGURE.claims if words in claim.text]
    return claim.judge(data)


def quiet(line):
    pass


def test_motions_are_judged():
    data = top.centre_of_mass("position", quiet)
    assert top.alike("position", data).verdict == HOLDS
    spoiled = data.copy(deep=True)
    spoiled.position[1, 700] += 1e-9
    assert top.alike("position", spoiled).verdict == PARTLY
    assert judge(fig12, "stays", spoiled).verdict == PARTLY
    spoiled.position[0, :, 2] += 0.01
    assert top.alike("position", spoiled).verdict == FAILS
    assert judge(fig12, "stays", spoiled).verdict == FAILS


def test_velocities_are_judged():
    data = fig13.compute(True, quiet)
    assert judge(fig13, "kinematic", data).verdict == HOLDS
    spoiled = data.assign(velocity=1.01 * data.velocity)
    assert judge(fig13, "kinematic", spoiled).parts["at right angles to it"]
    assert judge(fig13, "kinematic", spoiled).verdict == PARTLY
    assert judge(fig13, "kinematic", data.assign(velocity=data.velocity + 0.1)).verdict == FAILS
    turning = fig14.compute(True, quiet)
    turning.angular_velocity[0, 5, 1] += 1e-11
    assert judge(fig14, "omega_2", turning).verdict == PARTLY


def test_charts_are_judged():
    data = fig15.compute(True, quiet)
    assert judge(fig15, "2 pi", data).verdict == HOLDS
    assert judge(fig15, "2 pi", data.assign(same_branch=-data.same_branch)).verdict == PARTLY
    data = fig16.compute(True, quiet)
    assert judge(fig16, "pi/2", data).verdict == HOLDS
    assert judge(fig16, "pi/2", data.assign(from_the_matrix=data.from_the_matrix + 1e-9)).verdict == PARTLY
    assert judge(fig16, "Cayley", data.assign(error=data.error * [[1.0], [4.0]])).verdict == PARTLY
    assert judge(fig16, "Cayley", data.assign(error=data.error * [[1.0], [40.0]])).verdict == FAILS


def test_orthogonality_is_judged():
    time = np.arange(1.0, 101.0)
    flat, growing = np.full(100, 3e-15), 1e-14 * np.sqrt(time)

    def data(vector, angles, quaternion):
        rows = [vector, angles, growing, quaternion, flat]
        return xr.Dataset(
            {"deviation": (("method", "time"), rows), "apart": ("method", np.zeros(5))},
            {"method": list(long_run.METHODS), "time": time},
        )

    good = data(flat, flat, growing)
    for claim in fig17.FIGURE.claims:
        assert claim.judge(good).verdict == HOLDS
    assert judge(fig17, "drift", data(growing, flat, growing)).verdict == PARTLY
    assert judge(fig17, "drift", data(growing, growing, growing)).verdict == FAILS
    assert judge(fig17, "machine", data(growing, flat, growing)).verdict == PARTLY
    assert judge(fig17, "Terze", data(flat, flat, 3 * flat)).verdict == FAILS


def test_errors_are_judged():
    steps = np.array(fig18.STEPS)

    def data(power, ratio):
        proposed = 10.0 * (100.0 * steps) ** power
        error = np.broadcast_to(np.array([proposed, proposed / ratio])[None, :, None], (2, 2, 2, 11))
        return xr.Dataset(
            {"error": (("parameters", "way", "norm", "step"), error)},
            {"parameters": list(fig18.PAIRS), "way": list(fig18.WAYS), "norm": list(fig18.NORMS), "step": steps},
        )

    assert judge(fig18, "order depends", data(4, 0.01)).verdict == HOLDS
    assert judge(fig18, "order depends", data(2, 0.01)).verdict == FAILS
    for ratio, verdict in ((0.01, HOLDS), (0.001, PARTLY), (2.0, FAILS)):
        assert judge(fig18, "about the order", data(4, ratio)).verdict == verdict
    assert judge(fig18, "Especially", data(4, 0.5)).verdict == FAILS


def test_implicit_schemes_are_judged():
    time = np.arange(100.0)
    steps = np.array(implicit.STEPS)

    def data(drift, defect, lost):
        energy = np.where(np.array(["middle", "start"])[:, None] == "start", 1e-3 * time, drift * time + np.cos(time))
        sizes = np.broadcast_to(np.array([defect, 1e-6])[:, None], (2, 2, 4))
        error = np.array([(10 * steps) ** (order - lost) for order in implicit.ORDERS])
        return xr.Dataset(
            {
                "energy_change": (("map", "center", "time"), np.array([energy, energy])),
                "defect": (("map", "center", "order"), sizes),
                "error": (("map", "center", "order", "step"), np.broadcast_to(error, (2, 2, *error.shape))),
            },
            {"map": list(implicit.MAPS), "center": list(implicit.CENTERS), "order": list(implicit.ORDERS),
             "step": steps, "time": time},
        )  # fmt: skip

    good = data(0.0, 1e-16, 0)
    for claim in implicit.FIGURE.claims:
        assert claim.judge(good).verdict == HOLDS
    assert judge(implicit, "embedded", data(0.0, 1e-16, 1)).verdict == FAILS
    assert judge(implicit, "symmetric steps", data(0.0, 1e-9, 0)).verdict == PARTLY
    assert judge(implicit, "drifting", data(0.1, 1e-16, 0)).verdict == PARTLY


# ------------------------------------------------------------------ rivals and stability
def test_rates_behind_an_artificial_rotation_by_differences():
    """g' and v' of the attitude that turns with the angular velocity w in the body frame."""
    c, w, h = np.array([0.5, -0.3, 0.4]), np.array([0.7, 0.2, -1.1]), 1e-5
    for attitude, parameters, rates in rivals.CHARTS.values():
        for c_ in (c, 3.0 * c, 0.1 * c):
            turn = rotation.exp_quaternion(h * w)
            ends = [parameters(rotation.multiply(attitude(c_), x)) for x in (turn, rotation.conjugate(turn))]
            if np.linalg.norm(c_) < 2.0:
                assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(rates(c_, w), rel=1e-8)


def test_euler_parameters_with_a_multiplier_obey_eulers_equations():
    random = np.random.default_rng(5)
    q = random.normal(size=4)
    q /= np.linalg.norm(q)
    w = random.normal(size=3)
    G = rivals.rates_matrix(q)
    dq = 0.5 * G.T @ w
    assert 2.0 * G @ dq == pytest.approx(w) and abs(q @ dq) < 1e-15
    assert dq == pytest.approx(0.5 * rotation.multiply(q, np.array([0.0, *w])))
    ddq = rivals.constrained_field(np.concatenate([q, dq]))[4:]
    assert 2.0 * G @ ddq == pytest.approx(rivals.acceleration(q, w), rel=1e-12)  # G' q' = 0
    assert q @ ddq == pytest.approx(-(dq @ dq))
    assert pytest.approx([15.234375, 0.46875, 15.234375]) == rivals.J  # [holzinger2021, eq. 75]


def test_growth_is_that_of_the_stability_functions(quick):
    data = quick[0]["stability"].data
    for k, z in enumerate(stability.PRODUCTS):
        for name in list(stability.METHODS)[:2]:
            assert float(data.factor.sel({"method": name})[k]) == pytest.approx(abs(1 - z), rel=1e-6)
        rk4 = abs(1 - z + z**2 / 2 - z**3 / 6 + z**4 / 24)
        assert float(data.factor.sel({"method": "RK4"})[k]) == pytest.approx(rk4, rel=1e-6)
        gauss = abs((1 - z / 2 + z**2 / 12) / (1 + z / 2 + z**2 / 12))
        assert float(data.factor.sel({"method": "Gauss 4"})[k]) == pytest.approx(gauss, rel=1e-6)


MUTANTS = [
    ("rivals", "artificial rotation", lambda d: order_off(d, "error", 1, method=rivals.RODRIGUES)),
    ("rivals", "artificial rotation", lambda d: order_off(d, "error", -1, method=rivals.VECTOR)),
    ("rivals", "artificial rotation", lambda d: d.assign(largest=1.3 * d.largest)),
    ("rivals", "artificial rotation", lambda d: d.assign(changes=0 * d.changes)),
    ("rivals", "than these rates", lambda d: scaled(d, "error", 2.0, method=rivals.RODRIGUES)),
    ("rivals", "extra work", lambda d: order_off(d, "error", 1, method=rivals.PROJECTED)),
    ("rivals", "extra work", lambda d: order_off(d, "error", -1, method=rivals.PROJECTED)),
    ("rivals", "extra work", lambda d: order_off(d, "drift", -2, form=rivals.MULTIPLIER)),
    ("rivals", "eliminated", lambda d: put(d, "drift", 1e-11, form=rivals.TERZE)),
    ("rivals", "eliminated", lambda d: scaled(d, "error", 1.02, method=rivals.TERZE)),
    ("rivals", "eliminated", lambda d: order_off(d, "error", 1, method=rivals.TERZE)),
    ("stability", "RK1 has", lambda d: put(d, "factor", 0.99, product=2.02)),
    ("stability", "RK1 has", lambda d: put(d, "factor", 1.01, product=1.98)),
    ("stability", "RK4 has", lambda d: put(d, "factor", 1.01, product=2.75)),
    ("stability", "RK4 has", lambda d: put(d, "factor", 1.01, method="Gauss 4", product=4.0)),
]


@pytest.mark.parametrize(("figure", "words", "mutant"), MUTANTS)
def test_judges_see_what_is_wrong(quick, figure, words, mutant):
    result = quick[0][figure]
    assert flips(result.figure, words, result.data, mutant)


# ------------------------------------------------------------------ the full form
@pytest.mark.full
def test_a_million_steps(tmp_path):
    mine = tuple(STUDY.figure(name) for name in ("fig17", "fig18", "implicit"))
    results, written = report.reproduce(STUDY, tmp_path, mine)
    found = {result.figure.name: result for result in results}, written.parent
    check_parts(STUDY, results, quick=False)
    check_errors(tmp_path, 11)
    remarks = found[0]["fig17"].remarks
    assert remarks["longest rotation vector"].startswith("6.2564 rad")
    assert remarks["energy"].startswith("-28.1 J after 1000 s")
    assert numbers(found, "fig17", "machine")["largest"]["rotation vector"] < 5e-15
    worst = numbers(found, "implicit", "drifting")["largest energy change, J"]
    known = {"exp, middle": 0.01286, "exp, start": 1.042, "cayley, middle": 0.00752, "cayley, start": 10.73}
    assert worst == pytest.approx(known, rel=0.01)
