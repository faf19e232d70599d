"""The study of Holzinger and Gerstmayr 2021, the part without integration: counts, updates, claims, judges.

The oracle of the updates is SciPy's ``Rotation``.
"""

from __future__ import annotations

import csv
from dataclasses import astuple
from math import pi

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation
from tests.support.study_parts import check_parts

import polhode_papers as studies
from each import each
from polhode.algebra import printed_charts
from polhode.algebra.euler import plan
from polhode_papers import report
from polhode_papers.holzinger2021 import claims, tables
from polhode_papers.holzinger2021.counting import COUNTING, PLAIN, TRIGONOMETRIC, Counted, Counts, counted
from polhode_papers.holzinger2021.updates import ANGLES, VECTOR, cay_matrix, exp_matrix
from polhode_papers.study import FAILS, HOLDS, PARTLY, UNDECIDED

STUDY = studies.study("holzinger2021")
UPDATES = {**{("vector", name): f for name, f in VECTOR.items()}, **{("angles", name): f for name, f in ANGLES.items()}}


# ------------------------------------------------------------------ numbers that count
def operations(formula, *numbers):
    values, counts = counted(formula, *numbers)
    return values, {kind: n for kind, n in zip(tables.KINDS, astuple(counts), strict=True) if n}


@each(
    ("formula", "value", "expected"),
    [
        (lambda x, y: x + y, 5.0, "additions"),
        (lambda x, y: 1.0 + x, 3.0, "additions"),
        (lambda x, y: x + 1, 3.0, "additions"),
        (lambda x, y: x - y, -1.0, "subtractions"),
        (lambda x, y: 1.0 - x, -1.0, "subtractions"),
        (lambda x, y: x * y, 6.0, "multiplications"),
        (lambda x, y: 0.5 * x, 1.0, "multiplications"),
        (lambda x, y: x / y, 2.0 / 3.0, "divisions"),
        (lambda x, y: 1.0 / y, 1.0 / 3.0, "divisions"),
    ],
)
def test_every_operation_counts_once(formula, value, expected):
    assert operations(lambda m, a: (formula(*a),), (2.0, 3.0)) == ((value,), {expected: 1})


def test_functions_count_and_signs_do_not():
    for name in TRIGONOMETRIC:
        arguments = (0.3, 0.4) if name == "atan2" else (0.3,)
        (value,), found = operations(lambda m, a, name=name: (getattr(m, name)(*a),), arguments)
        assert found == {"trigonometric": 1}
        assert value == pytest.approx(getattr(PLAIN, name)(*arguments), rel=1e-15)
    assert operations(lambda m, a: (m.sqrt(a[0]),), (4.0,)) == ((2.0,), {"roots": 1})
    assert operations(lambda m, a: (-a[0],), (4.0,)) == ((-4.0,), {})


def test_ratio_counts_a_division_in_both_cases():
    for divisor, value in ((2.0, 1.5), (0.0, 7.0)):
        assert operations(lambda m, a: (m.ratio(a[0], a[1], 7.0),), (3.0, divisor)) == ((value,), {"divisions": 1})
    np.testing.assert_array_equal(PLAIN.ratio(np.array([3.0, 3.0]), np.array([2.0, 0.0]), 7.0), [1.5, 7.0])


def test_counts_add_up_over_mixed_expressions():
    counts = Counts()
    x, y = Counted(3.0, counts), Counted(4.0, counts)
    length = COUNTING.sqrt(x * x + y * y)
    assert float(2.0 * COUNTING.atan2(-y, x) / length - 1) == pytest.approx(2 * np.arctan2(-4, 3) / 5 - 1)
    assert astuple(counts) == (1, 1, 3, 1, 1, 1) and counts.total == 8


# ------------------------------------------------------------------ the updates
KNOWN = {
    "vector": {
        "proposed": (12, 4, 38, 6, 6, 2), "Lie group, exp": (36, 12, 62, 5, 6, 2),
        "Lie group, Cayley": (37, 12, 64, 4, 4, 1), "quaternion": (10, 6, 34, 3, 6, 2),
        "half angles": (12, 6, 37, 3, 5, 3),
    },
    "angles": {
        "proposed, exp": (27, 9, 58, 2, 11, 2), "proposed, Cayley": (28, 9, 60, 1, 9, 1),
        "Lie group, exp": (29, 6, 58, 2, 11, 2), "Lie group, Cayley": (30, 6, 60, 1, 9, 1),
        "quaternion, exp": (13, 12, 52, 1, 11, 1), "quaternion, Cayley": (14, 12, 52, 1, 9, 1),
        "five entries, exp": (21, 6, 46, 2, 11, 2), "five entries, Cayley": (22, 6, 48, 1, 9, 1),
        "half angles, exp": (16, 12, 45, 1, 11, 3), "half angles, Cayley": (17, 12, 45, 1, 9, 3),
    },
}  # fmt: skip
"""Additions, subtractions, multiplications, divisions, trigonometric functions, roots."""


@each("key", UPDATES, ids=" ".join)
def test_counts_are_known_and_do_not_depend_on_the_numbers(key):
    random = np.random.default_rng(1)
    inputs = [*random.normal(size=(20, 2, 3)), np.zeros((2, 3)), [(0.3, 0.1, 0.2), (0, 0, 0)], [(0, 0, 0), (1, 2, -1)]]
    for old, turn in inputs:
        values, counts = counted(UPDATES[key], old, turn)
        assert astuple(counts) == KNOWN[key[0]][key[1]]
        plain = UPDATES[key](PLAIN, tuple(map(float, old)), tuple(map(float, turn)))
        np.testing.assert_allclose(values, plain, rtol=0, atol=1e-14)


def test_every_update_is_in_a_table():
    assert {kind: set(known) for kind, known in KNOWN.items()} == {"vector": set(VECTOR), "angles": set(ANGLES)}


def rotations(kind, parameters):
    return Rotation.from_rotvec(parameters) if kind == "vector" else Rotation.from_euler("XYZ", parameters)


def turned(name, w):
    """The turns, from the definition of the Cayley map where it is meant."""
    if not name.endswith("Cayley"):
        return Rotation.from_rotvec(w)
    K = np.cross(np.eye(3), w[:, None, :])
    return Rotation.from_matrix(np.linalg.solve(2 * np.eye(3) - K, 2 * np.eye(3) + K))


def errors(key, old, w):
    new = np.transpose(UPDATES[key](PLAIN, tuple(old.T), tuple(w.T)))
    exact = rotations(key[0], old) * turned(key[1], w)
    return (exact.inv() * rotations(key[0], new)).magnitude()


@each("key", UPDATES, ids=" ".join)
def test_all_updates_do_the_same_turn(key):
    random = np.random.default_rng(2)
    old, w = random.uniform(-0.7, 0.7, (3000, 3)), random.uniform(-0.4, 0.4, (3000, 3))
    assert errors(key, old, w).max() < 3e-14


def test_maps_are_theirs():
    w = np.random.default_rng(3).normal(size=(50, 3))
    for map, name in ((exp_matrix, "exp"), (cay_matrix, "Cayley")):
        found = np.transpose(map(PLAIN, tuple(w.T))).reshape(-1, 3, 3)
        np.testing.assert_allclose(found, turned(name, w).as_matrix(), rtol=0, atol=2e-15)


NEAR = 1e-6
"""Distance from a singular point, where every update but those by half angles has lost this much."""
LOSS = {
    ("vector", "proposed"): (1e-4, 1e-1), ("vector", "quaternion"): (1e-4, 1e-1),
    ("vector", "half angles"): (0, 4e-15),
    **{("angles", f"{name}, {map}"): bounds for map in ("exp", "Cayley") for name, bounds in (
        ("proposed", (1e-11, 1e-9)), ("Lie group", (1e-11, 1e-9)), ("five entries", (1e-11, 1e-9)),
        ("quaternion", (1e-11, 1e-9)), ("half angles", (0, 4e-15)))},
}  # fmt: skip


@each("key", LOSS, ids=" ".join)
def test_only_half_angles_survive_beside_singular_points(key):
    kind, name = key
    if kind == "vector":
        old, w = claims.ending_at_length(2 * pi - NEAR)
    else:
        old, w = claims.ending_at_middle("XYZ", NEAR)
        if name.endswith("Cayley"):  # the Cayley vector of the same turn
            size = np.linalg.norm(w, axis=1, keepdims=True)
            w = w * 2 * np.tan(size / 2) / size
    least, most = LOSS[key]
    assert least <= errors(key, old, w).max() < most


def test_updates_as_printed_are_the_kernels():
    random = np.random.default_rng(4)
    for old, w in random.normal(size=(50, 2, 3)):
        for name, map in (("exp", Rotation.from_rotvec(w)), ("Cayley", turned("Cayley", w[None])[0])):
            e = tuple(np.roll(map.as_quat(), 1))
            angles = old + printed_charts.euler_as_printed(tuple(old), e, plan("XYZ"))
            np.testing.assert_allclose(
                ANGLES[f"proposed, {name}"](PLAIN, tuple(old), tuple(w)), angles, rtol=0, atol=1e-13
            )
            if name == "exp" and e[0] * np.cos(np.linalg.norm(w) / 2) > 0:  # the same sign of the quaternion
                vector = printed_charts.compose_as_printed(tuple(old), e)
                np.testing.assert_allclose(VECTOR["proposed"](PLAIN, tuple(old), tuple(w)), vector, rtol=0, atol=1e-12)


# ------------------------------------------------------------------ the quick form
@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    mine = tuple(STUDY.figure(name) for name in ("table2", "table3", "claims"))
    results, written = report.reproduce(STUDY, tmp_path_factory.mktemp("results"), mine, quick=True)
    return {result.figure.name: result for result in results}, written.parent


def test_verdicts(quick):
    check_parts(STUDY, quick[0].values())


def numbers_of(quick, figure, words):
    (found,) = [v for v in quick[0][figure].verdicts if words in v.claim.text]
    return found


def test_files_and_columns(quick):
    results, folder = quick
    assert {path.name for result in results.values() for path in result.pictures} == {
        "table2.png", "table3.png", "claims.png", "singular_points.png"}  # fmt: skip
    with (folder / "table2.csv").open() as lines:
        rows = {row.pop("method"): row for row in csv.DictReader(lines)}
    assert list(rows["proposed"]) == [*tables.KINDS, "total", "attitude_error"]
    assert tuple(int(rows["proposed"][kind]) for kind in tables.KINDS) == KNOWN["vector"]["proposed"]
    assert all(float(row["attitude_error"]) < 1e-15 for row in rows.values())


def test_what_the_hazards_are(quick):
    """Sizes measured by an independent program: within a factor of ten of them."""
    vector = numbers_of(quick, "claims", "restrictions: beside a full turn").numbers["attitude error at the distance"]
    for d, size in {"0.1": 2e-13, "1e-3": 6e-9, "1e-5": 4e-5}.items():
        assert 0.1 < vector[d] / size < 10
    assert vector["1e-8"] > 0.3 and vector["0"] > 0.3
    for sequence in ("XYZ", "ZXZ"):
        angles = numbers_of(quick, "claims", f"cases: {sequence}").numbers["attitude error at the distance"]
        assert 1e-9 < angles["1e-8"] < 1e-7 and angles["0"] > 0.1
    asin = numbers_of(quick, "claims", "arc sine").numbers
    assert 1e-9 < asin["asin at 1e-8"] < 1e-7 and asin["atan2, worst"] < 2e-15
    (share,) = numbers_of(quick, "claims", "it is a number").numbers.values()
    assert 0.01 < share["1e-09"] < 0.2 and share["1e-07"] < 0.01


# ------------------------------------------------------------------ verdicts can fail
def test_tables_are_printed_as_tables(quick):
    results, folder = quick
    text = report.plain(results["table3"])
    assert (
        "    half angles, Cayley          17            12               45          1              9      3     87"
        in text
    )
    assert "| proposed, exp | 27 | 9 | 58 | 2 | 11 | 2 | 109 |" in (folder / "report.md").read_text()


def made_up(**operations):
    totals = list(operations.values())
    return xr.Dataset(
        {"total": ("method", totals), "trigonometric": ("method", totals)},
        {"method": [name.replace("_", " ").replace("  ", ", ") for name in operations]},
    )


def test_operations_are_judged():
    vector = tables.TABLE_2.claims[0].judge
    assert vector(made_up(proposed=50, Lie_group__exp=60, Lie_group__Cayley=70)).verdict == HOLDS
    assert vector(made_up(proposed=60, Lie_group__exp=50, Lie_group__Cayley=70)).verdict == PARTLY
    assert vector(made_up(proposed=80, Lie_group__exp=60, Lie_group__Cayley=70)).verdict == FAILS
    for total in (58, 59, 60, 61, 62):  # no ranking
        assert vector(made_up(proposed=total, Lie_group__exp=60, Lie_group__Cayley=60)).verdict == UNDECIDED
    assert vector(made_up(proposed=57, Lie_group__exp=60, Lie_group__Cayley=58)).verdict == HOLDS
    assert vector(made_up(proposed=63, Lie_group__exp=60, Lie_group__Cayley=62)).verdict == FAILS
    assert tables.TABLE_2.claims[1].judge(made_up(proposed=80, quaternion=83)).verdict == FAILS
    angles = tables.TABLE_3.claims[0].judge
    rows = {"Lie_group__exp": 60, "Lie_group__Cayley": 40}
    assert angles(made_up(proposed__exp=50, proposed__Cayley=30, **rows)).verdict == HOLDS
    assert angles(made_up(proposed__exp=50, proposed__Cayley=50, **rows)).verdict == PARTLY
    assert angles(made_up(proposed__exp=70, proposed__Cayley=50, **rows)).verdict == FAILS
    for cayley, verdict in ((100, FAILS), (99, PARTLY), (80, HOLDS), (120, HOLDS)):
        assert tables.map_matters(made_up(proposed__exp=100, proposed__Cayley=cayley)).verdict == verdict


def claim_of(words):
    (found,) = [claim for claim in claims.FIGURE.claims if words in claim.text]
    return found.judge


def residuals(value, *names):
    return xr.Dataset({"residual": ("equation", [value] * len(names))}, {"equation": list(names)})


def beside(name, size):
    error = np.broadcast_to(size, claims.DISTANCES.shape)[None]
    return xr.Dataset({"error": (("update", "distance"), error)}, {"update": [name], "distance": claims.DISTANCES})


def test_equations_are_judged():
    names = ("tangent operator of exp", "tangent operator of cay")
    assert claim_of("tangent operators")(residuals(1e-15, *names)).verdict == HOLDS
    assert claim_of("tangent operators")(residuals(1e-3, *names)).verdict == FAILS
    assert claim_of("whole turns")(residuals(np.inf, "(35)")).verdict == FAILS


def test_singular_points_are_judged():
    printed, safe = "vector as printed, beside 2 pi", "vector by half angles, beside 2 pi"
    assert claim_of("restrictions: beside a full turn")(beside(printed, 1e-15)).verdict == HOLDS
    lost = np.where(claims.DISTANCES > 1e-4, 1e-15, 1.0)
    assert claim_of("restrictions: beside a full turn")(beside(printed, lost)).verdict == PARTLY
    assert claim_of("restrictions: beside a full turn")(beside(printed, 1.0)).verdict == FAILS
    assert claim_of("loses nothing beside a full turn")(beside(safe, 1e-15)).verdict == HOLDS
    assert claim_of("loses nothing beside a full turn")(beside(safe, lost)).verdict == FAILS


def test_other_claims_are_judged():
    total = np.array([0.5, 1.5, 1.7, 3.0])
    for error, verdict in (
        (np.maximum(0, 2 * total - pi), HOLDS),
        (0 * total, PARTLY),
        (1 + 0 * total, PARTLY),
        (np.where(total < pi / 2, 1.0, 0.0), FAILS),
    ):
        data = xr.Dataset({"total_angle": ("product", total), "larger_factor": ("product", total / 2),
                           "bch_error": ("product", error)})  # fmt: skip
        assert claim_of("closed formula")(data).verdict == verdict
    for share, verdict in ((0.0, HOLDS), (0.01, FAILS)):
        data = xr.Dataset({"not_a_number": ("undone", [0.0, share])}, {"undone": [0.0, 1e-9]})
        assert claim_of("it is a number")(data).verdict == verdict
    for size, verdict in ((1e-15, HOLDS), (1e-3, FAILS)):
        data = xr.Dataset({"error_as_printed": ("sequence", [size]), "error_by_half_angles": ("sequence", [0.0])})
        assert claim_of("any set of Euler angles")(data).verdict == verdict
