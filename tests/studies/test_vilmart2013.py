"""The study of Vilmart's paper: the quick form end to end, its instruments on known and on spoiled maps, its judges."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import xarray as xr
from tests.support.study_parts import check_parts, quick_form

import polhode_papers as studies
from cover import chosen
from each import each
from mutants import claim_of, flips, order_off, put, scaled
from polhode.algebra import rotation
from polhode.checks import stepper, symplectic_defect
from polhode.kernel import layout as L
from polhode.runs.initial_state import start_state
from polhode_papers.study import FAILS, HOLDS, PARTLY
from polhode_papers.vilmart2013 import claims, common, dmv, fig01, measured, nystrom, printed, roundoff, table2, work

STUDY = studies.study("vilmart2013")
y0, Q0 = np.array([0.0, 0.6, -0.8]), np.eye(3)  # figure 1 of the paper


# ------------------------------------------------------------------ the quick form, once
@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return quick_form(STUDY, tmp_path_factory)


def judged(quick, figure, words):
    (found,) = [v for v in quick[0][figure].verdicts if words in v.claim.text]
    return found


def rows(quick, name):
    with (quick[1] / f"{name}.csv").open() as lines:
        return list(csv.DictReader(lines))


def test_all_files_are_there(quick):
    results, folder, written = quick
    assert list(results) == ["fig01", "work", "table2", "splittings", "dmv", "nystrom", "roundoff", "claims"]
    for name, result in results.items():
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert all(path.stat().st_size > 30 for path in result.tables)
        assert len(rows(quick, name)) >= 10
    text = written.read_text()
    for result in results.values():
        assert len(result.verdicts) == len(result.figure.claims)
        for verdict in result.verdicts:
            assert verdict.numbers and f"| {verdict.claim.text} | {verdict.summary} |" in text


def test_verdicts(quick):
    check_parts(STUDY, quick[0].values())


def test_what_is_printed_fails_and_what_is_corrected_holds(quick):
    for result in quick[0].values():
        for verdict in result.verdicts:
            assert all(verdict.corrected.values()), verdict
    verdict = judged(quick, "dmv", "modified moments")
    assert [bool(verdict.parts[f"order {p}"]) for p in (4, 6, 8)] == [True, False, False]
    assert len(verdict.corrected) == 3
    row = judged(quick, "table2", "Symmetric+Rotation")
    wrong = [part for part, true in row.parts.items() if not true]
    assert "order 2" in wrong and len(row.corrected) == 2 * len(row.parts)


# Table 2 as printed, and what polhode's other methods do: order, then Qy, C, H, Poisson, symplectic.
TABLE = {
    "jacobi": ("inf", "11111"), "symmetric": ("2", "11011"), "dmv2": ("2", "11111"),
    "implicit_midpoint": ("2", "11100"), "dmv4": ("4", "11110"), "dmv6": ("6", "11110"), "dmv8": ("8", "11110"),
    "dmv10": ("10", "11110"), "exact": ("inf", "11111"), "three_rotation": ("2", "11011"), "mr4": ("4", "11011"),
    "hermite4": ("4", "11110"), "trap": ("2", "00000"), "imid": ("2", "01100"), "imidm": ("2", "11000"),
    "trapm": ("2", "11000"), "akw": ("2", "11100"), "swc1": ("2", "11100"), "mkrk": ("4", "11000"),
    "forward_euler": ("1", "00000"), "mkrk:gauss8": ("8", "11000"),
}  # fmt: skip


def test_table_2(quick):
    found = {}
    for row in rows(quick, "table2_by_method_column"):
        found.setdefault(row["method"], {})[row["column"]] = row["tick"]
    orders = {row["method"]: float(row["order"] or "nan") for row in rows(quick, "table2_by_method")}
    for method, (order, ticks) in TABLE.items():
        assert "".join(found[method][c][:1] for c in ("Qy", "C", "H", "Poisson", "symplectic")) == ticks, method
        assert orders[method] == pytest.approx(float(order), rel=0.03), method
    assert set(orders) >= set(table2.PRINTED) and len(orders) >= 40


def test_every_method_of_polhode_is_in_the_table():
    from polhode.methods import FLOW_NAMES, METHODS

    accurate = {"taylor12", "taylor16", "taylor20", "taylor30", "taylor"}  # to round-off at the steps of the table
    charts = {name for name, row in METHODS.items() if row.family == "rotation_parameters"}  # see holzinger2021
    points = {name for name, row in METHODS.items() if row.family in ("variational", "conic")}  # bodies do not turn
    baths = {name for name, row in METHODS.items() if row.family == "thermostats"}  # not the motion of the system alone
    steps = {"ode45"}  # with steps of one size it is mkrk:dp5
    elsewhere = accurate | charts | points | baths | steps
    assert {*METHODS, *FLOW_NAMES} - elsewhere <= {*measured.METHODS_MEASURED, *measured.SPLITTINGS}


def test_round_off_of_the_exact_flow_grows_like_a_root(quick):
    numbers = judged(quick, "roundoff", "no faster than the root").numbers
    assert numbers["steps"] == 100_000
    assert all(0.3 < x < 0.65 for x in numbers["exponent"].values())
    assert all(1e-15 < x < 1e-13 for x in numbers["error"].values())
    afresh = judged(quick, "roundoff", "computed afresh").numbers
    assert all(x > 2e-13 for x in afresh["computed afresh"].values())


def test_errors_against_the_step(quick):
    found = {(r["flow"], int(r["steps"])): float(r["error"] or "nan") for r in rows(quick, "work_by_flow_steps")}
    for flow, order in (("symmetric", 2), ("three_rotation", 2), ("dmv2", 2), ("dmv4", 4), ("dmv6", 6)):
        assert np.log2(found[flow, 160] / found[flow, 320]) == pytest.approx(order, abs=0.05)
    assert max(found[flow, n] for flow in work.EXACT_FLOWS for n in (10, 160, 2560)) < 2e-13


# ------------------------------------------------------------------ errors known from an independent program
KNOWN = {  # steps in t = 10, errors of y and Q from y(0) = (0, 0.6, -0.8)
    "implicit_midpoint": (200, 6.9e-4, 5.8e-3), "three_rotation": (200, 1.7e-3, 1.7e-3), "dmv2": (200, 3.9e-3, 8.0e-3),
    "dmv4": (200, 1.4e-6, 1.8e-6), "dmv6": (120, 7.0e-9, 7.0e-9), "dmv8": (80, 9.1e-11, 9.8e-11),
    "dmv10": (60, 1.4e-12, 1.8e-12), "algorithm 2": (200, 5.7e-5, 2.5e-4),
}  # fmt: skip


@each("name", chosen(KNOWN, ["implicit_midpoint", "three_rotation", "dmv4", "dmv10", "algorithm 2"]))
def test_errors_are_the_known_ones(name):
    n, of_y, of_Q = KNOWN[name]
    step = printed.algorithm_2("corrected", common.BOOK) if " " in name else common.body_map(name, common.BOOK)
    y, Q = common.repeated(step, y0, Q0, 10.0, n)
    y1, Q1 = common.body_map("exact", common.BOOK)(y0, Q0, 10.0)
    assert np.linalg.norm(y - y1) == pytest.approx(of_y, rel=0.04)
    assert np.linalg.norm(Q - Q1, 2) == pytest.approx(of_Q, rel=0.04)


def test_the_period():
    y1, _ = common.body_map("exact", common.BOOK)(y0, Q0, common.period(common.BOOK, y0))
    assert np.abs(y1 - y0).max() < 1e-14
    round_1 = np.array([0.9, 0.2, -0.3])
    y1, _ = common.body_map("exact", common.BOOK)(round_1, Q0, common.period(common.BOOK, round_1))
    assert np.abs(y1 - round_1).max() < 1e-14


# ------------------------------------------------------------------ instruments
@pytest.fixture(scope="module")
def exact():
    system, y = common.BODY_OF_FIG_1, start_state(common.BODY_OF_FIG_1, **common.START)
    return stepper("exact", system, y), y, system


def test_the_poisson_instrument(exact):
    advance, y, _ = exact
    assert measured.poisson_defect(advance, y, 0.4) < 1e-13

    def spoiled(y, t, h):
        end = advance(y, t, h)
        end[L.ANGULAR] += 1e-6 * y[L.ANGULAR + 1] * y[L.ANGULAR + 2]
        return end

    assert 1e-7 < measured.poisson_defect(spoiled, y, 0.4) < 1e-5

    def a_poisson_map_that_is_not_the_flow(y, t, h):  # the flow of another Hamiltonian, a function of y[0]
        end = y.copy()
        turn = rotation.exp_matrix((-0.3 * np.sin(y[L.ANGULAR]), 0.0, 0.0))
        end[L.ANGULAR : L.BODY] = turn @ y[L.ANGULAR : L.BODY]
        return end

    assert measured.poisson_defect(a_poisson_map_that_is_not_the_flow, y, 0.4) < 1e-12


def test_the_symplectic_instrument(exact):
    advance, y, system = exact
    assert symplectic_defect(lambda z: advance(z, 0.0, 0.4), system, y) < 1e-12

    def spoiled(z):  # the momentum stays what it was, so this is still a Poisson map
        end = advance(z, 0.0, 0.4)
        turn = rotation.exp_quaternion((1e-6 * z[L.ANGULAR + 2], 0.0, 0.0))
        end[L.ATTITUDE : L.ANGULAR] = rotation.multiply(end[L.ATTITUDE : L.ANGULAR], turn)
        return end

    assert 1e-7 < symplectic_defect(spoiled, system, y) < 1e-5


def test_the_momentum_of_a_method_may_depend_on_the_attitude(exact):
    advance, y, _ = exact
    assert measured.influence_of_Q(advance, y, 0.4) < 1e-15

    def spoiled(y, t, h):
        end = advance(y, t, h)
        end[L.ANGULAR] += 1e-9 * y[L.ATTITUDE]
        return end

    assert measured.influence_of_Q(spoiled, y, 0.4) > 1e-10


def test_ticks():
    assert measured.verdicts(np.array([1e-14, 1e-3, 5e-12, np.inf])) == pytest.approx([1, 0, np.nan, 0], nan_ok=True)
    assert measured.tick(1e-14, True) and not measured.tick(5e-12, True) and not measured.tick(np.inf, True)
    assert measured.tick(1e-3, False) and not measured.tick(5e-12, False)


def test_orders_are_read_without_knowing_the_promised_one():
    steps = measured.SPAN / np.array(measured.LADDER)
    for order in (1, 2, 4, 6, 8, 10):
        errors = 1e-3 * (steps / steps[0]) ** order
        assert measured.observed(errors, 1.0) == pytest.approx(order, abs=1e-6)
    assert measured.observed(errors, 1e-14) == np.inf


@each("form", roundoff.NAIVE)
def test_naive_forms_are_the_motion(form):
    for y in roundoff.momenta(4):
        end = common.body_map("exact", common.BOOK)(y, Q0, 1.7)[0]
        assert roundoff.NAIVE[form](tuple(y), common.BOOK, 1.7) == pytest.approx(end, abs=1e-14)
        assert printed.jacobi_1850(y, common.BOOK, 1.7) == pytest.approx(end, abs=1e-14)


def test_growth_is_seen():
    counts = [10, 100, 1000, 10_000]
    assert roundoff.exponent(counts, [1.0, 1.0, 10.0, 100.0]) == pytest.approx(1.0)

    def drifting(n, q, y):
        return q, y * (1.0 + 1e-12) ** n

    found = roundoff.grow(drifting, roundoff.momenta(2), counts)
    assert found[:, 1] == pytest.approx(2e-12 * np.array(counts), rel=1e-3)
    assert roundoff.exponent(counts, found[:, 0]) == pytest.approx(1.0, abs=1e-3)


def test_residuals_see_a_spoiled_constant(monkeypatch):
    assert claims.rattle_free() < common.EXACT
    monkeypatch.setattr(claims, "I", claims.I * (1.0 + 1e-9))
    assert claims.rattle_free() > 1e-11
    assert claims.midpoint_rule() > 1e-11
    assert claims.from_algorithm_3("implicit_midpoint") > 1e-11


def test_functions_by_the_agm():
    assert printed.jacobi_by_agm(1.0, 0.0) == pytest.approx((np.sin(1.0), np.cos(1.0), 1.0), abs=1e-15)
    sn, cn, dn = printed.jacobi_by_agm(0.8, 1.0 - 1e-14)
    assert (sn, cn, dn) == pytest.approx((np.tanh(0.8), 1 / np.cosh(0.8), 1 / np.cosh(0.8)), abs=1e-7)


def test_brackets():
    found = nystrom.brackets()
    (a, b), (u, v, w) = (1 / np.array(nystrom.MOMENTS))[:2], common.STATE[1][2]
    assert found["V - (Q32^2/I1 + Q31^2/I2)"] < 1e-14 < 1e-3 < a * v * v + b * u * u
    omega = common.STATE[0] / np.array(nystrom.MOMENTS)  # u' = u x omega, u'' = u x omega' + (u x omega) x omega
    rate = np.cross(common.STATE[0], omega) / np.array(nystrom.MOMENTS)
    row = np.array([u, v, w])
    second = np.cross(row, rate) + np.cross(np.cross(row, omega), omega)
    assert found["{T, {T, U}}"] == pytest.approx(abs(second[2]), rel=1e-6)


# ------------------------------------------------------------------ verdicts can fail
def verdict_of(figure, words, data):
    (found,) = [v for v in figure.FIGURE.claims if words in v.text]
    return found.judge(data).verdict


def table():
    """Made-up measurements of table 2 that are as printed, of the library's methods and of the paper's algorithms."""
    rows = {name: row for name, (_, row) in table2.PRINTED.items()}
    for name, forms in table2.ALGORITHMS.items():
        for form, step in zip(("printed", "corrected"), forms, strict=True):
            if step is not None:
                rows[f"{table2.ALGORITHM}{name}, {form}"] = table2.PRINTED[name][1]
    size = np.array([[1e-14 if tick else 1e-3 for tick in ticks] for _, *ticks in rows.values()])
    orders = np.array([order for order, *_ in rows.values()])
    rung = measured.SPAN / np.array(measured.LADDER)
    errors = 1e-3 * (rung / rung[0]) ** np.where(np.isinf(orders), 0.0, orders)[:, None]
    return xr.Dataset(
        {
            "defect": (("method", "column", "step"), size[:, :, None] * np.array([0.5, 1.0])),
            "error": (("method", "rung"), errors), "order": ("method", orders),
            "influence_of_Q": ("method", np.zeros(len(rows))),
        },
        {"method": list(rows), "column": list(measured.COLUMNS), "step": [0.1, 0.2], "rung": rung},
    )  # fmt: skip


@each("name", table2.PRINTED)
def test_every_tick_of_table_2_is_judged(name):
    """A tick or a cross that is not so, an order off by one: of what is printed, and of the library beside it."""
    assert table2.row(name, table()).verdict == HOLDS
    order, *ticks = table2.PRINTED[name][1]
    label = f"{table2.ALGORITHM}{name}, printed" if name in table2.ALGORITHMS else name
    for column, tick in zip(measured.COLUMNS, ticks, strict=True):
        spoiled = put(table(), "defect", 1e-3 if tick else 1e-14, method=label, column=column)
        assert not table2.row(name, spoiled).parts[f"{column}{'' if tick else ' not'}"]
        unclear = put(table(), "defect", 5e-12, method=label, column=column)
        assert not table2.row(name, unclear).parts[f"{column}{'' if tick else ' not'}"]
    for by in (-1, 1):
        spoiled = put(table(), "order", 8.0, method=name) if np.isinf(order) else order_off(
            table(), "error", by, "rung", method=label)  # fmt: skip
        assert not table2.row(name, spoiled).parts["exact" if np.isinf(order) else f"order {order:g}"]


def test_orders_and_invariants_are_judged():
    steps = np.array(dmv.STEPS, dtype=float)
    names = [*dmv.KEPT, *(f"order {p}, {form}" for form in ("printed", "corrected") for p in (4, 6, 8))]
    powers = [*dmv.ORDERS, 4, 6, 8, 4, 6, 8]
    data = xr.Dataset(
        {
            "error": (("method", "step"), [1e6 * steps**-p for p in powers]),
            "change": (("kept_by", "quantity", "time"), np.full((5, 3, 4), 1e-15)),
        },
        {"method": names, "step": 10.0 / steps, "kept_by": list(dmv.KEPT), "quantity": ["H", "C", "Qy"]},
    )
    assert verdict_of(dmv, "any order", data) == HOLDS
    assert verdict_of(dmv, "modified moments", data) == HOLDS
    for name in ("printed", "corrected"):
        spoiled = order_off(data, "error", -1, method=f"order 6, {name}")
        assert verdict_of(dmv, "modified moments", spoiled) == (
            "holds partly as printed; holds corrected" if name == "printed" else HOLDS
        )
    assert verdict_of(dmv, "quadratic invariants", data) == HOLDS
    data.error[4] = data.error[0]
    data.change[0, 0, -1] = 1e-9
    assert verdict_of(dmv, "any order", data) == PARTLY
    assert verdict_of(dmv, "quadratic invariants", data) == PARTLY


def test_round_off_is_judged():
    counts = np.array([10.0**k for k in range(1, 7)])
    forms = [*roundoff.FLOWS.values(), *roundoff.NAIVE]
    good = np.array([1e-16 * np.sqrt(counts)] * 3 + [1e-17 * counts] * 2)
    data = xr.Dataset(
        {"error": (("form", "quantity", "count"), np.repeat(good[:, None], 3, axis=1))},
        {"form": forms, "quantity": list(roundoff.QUANTITIES), "count": counts},
    )
    for words in ("no faster than the root", "accumulation", "computed afresh"):
        assert verdict_of(roundoff, words, data) == HOLDS
    bad = data.assign(error=data.error * 0 + 1e-15 * data["count"])
    for words, verdict in (("no faster than the root", FAILS), ("accumulation", PARTLY), ("computed afresh", FAILS)):
        assert verdict_of(roundoff, words, bad) == verdict


def test_figure_1_is_judged():
    data = fig01.compute(True, lambda line: None)
    assert verdict_of(fig01, "order 10", data) == HOLDS
    assert data.axes.values[0] == pytest.approx(np.eye(3))
    data.error_in_axes[7] = 1e-9
    assert verdict_of(fig01, "order 10", data) == PARTLY


def row_of(name, form="printed"):
    return f"{table2.ALGORITHM}{name}, {form}"


def an_order_off(name):
    return lambda data: order_off(data, "error", 1, "rung", method=name)


MUTANTS = {
    "fig01": {
        "order 10": lambda data: scaled(data, "error_in_axes", 100.0),
        "nearly flat": lambda data: scaled(data, "d", 3.0, body_axis=3),
        "non trivial": lambda data: scaled(data, "after_a_period", 1e-2, what="angle of Q"),
    },
    "work": {"more efficient": lambda data: scaled(data, "error_of_random_bodies", 1e3, splitting="symmetric")},
    "table2": {
        "Jacobi": lambda data: put(data, "order", 12.0, method="jacobi"),
        "Symmetric+Rotation": an_order_off(row_of("symmetric", "corrected")),
        "RATTLE/DMV": an_order_off(row_of("dmv2")),
        "Implicit midpoint": an_order_off(row_of("implicit_midpoint")), "2p = 4": an_order_off(row_of("dmv4")),
        "2p = 6": an_order_off(row_of("dmv6", "corrected")), "2p = 8": an_order_off(row_of("dmv8", "corrected")),
        "2p = 10": an_order_off("dmv10"),
        "moves by itself": lambda data: put(data, "influence_of_Q", 1e-6, method="mr4"),
        "whose free rotations are exact": lambda data: scaled(data, "defect_of_splittings", 1e3),
        "method table says": lambda data: put(data, "defect", 1e-9, method="mr", column="C"),
    },
    "splittings": {
        "three rotation": lambda data: order_off(data, "error", 1, method="three rotations, corrected"),
        "Algorithm 2 is a": lambda data: order_off(data, "error", -1, method="algorithm 2, corrected"),
        "Algorithm 2 is exact": lambda data: put(data, "error_of_one_step", 1e-9, body="I1 = I2"),
        "nearly symmetric": lambda data: order_off(data, "error_near", 1, "asymmetry", splitting="symmetric"),
    },
    "dmv": {
        "any order": lambda data: order_off(data, "error", 1, method="dmv6"),
        "modified moments": lambda data: order_off(data, "error", -1, method="order 6, corrected"),
        "quadratic invariants": lambda data: put(data, "change", 1e-11, kept_by="dmv8", quantity="C"),
    },
    "nystrom": {
        "(16)": lambda data: order_off(data, "error", 1, method="v2/dmv2"),
        "bracket that vanishes": lambda data: put(data, "bracket", 1e-9, of="{U, {U, {U, T}}}"),
        "depends on the orientation": lambda data: put(data, "bracket", 1e-9, of="change of V with y"),
        "second order can": lambda data: order_off(data, "error", 1, method="rkn4_6b"),
        "with the flow of V": lambda data: order_off(data, "error", -1, method="V corrected"),
    },
    "roundoff": {
        "Orthogonal": lambda data: scaled(data, "departure", 1e-6, carried_as="matrix"),
        "avoids the round-off": lambda data: order_off(data, "error", 1, "count", form="algorithm 1"),
        "no faster than": lambda data: order_off(data, "error", 1, "count", form="exact, by increments"),
        "computed afresh": lambda data: scaled(data, "error", 1e-3, form=roundoff.JACOBI),
    },
    "claims": {
        words: lambda data, equation=equation: put(data, "residual", 1e-9, equation=equation)
        for words, equation in {
            "Jacobi and of algorithm 1": "algorithm 1 and the exact flow, its case",
            "Similar formulas": "axes 1 and 3 exchanged, the other case", "sn, cn, dn": "sn, cn, dn by the AGM",
            "equivalent to RATTLE": "RATTLE and DMV, free body", "exactly conserves": "change of Qy, C, H by RATTLE",
            "Cayley": "transform (I + e)(I - e)^-1",
            "Suppressing alpha": "(14), (15) without alpha and the midpoint rule",
            "AKW": "the midpoint rule and AKW", "kinetic energy": "T and half of it",
            "skew part is": "hat(y) = Q^T P - P^T Q", "|q|^2": "matrix of a quaternion",
            "Lie-Poisson": "B skew, Jacobi identity", "canonical": "smallest singular value of B(y)",
            "is symplectic": "forms of P, Q and of Pbar, Q",
            "are equivalent to (7)": "(7) and (8), a potential without symmetry",
            "vector part of a quaternion": "tan(theta/2) = |e|/q0, and Q e = e", "k1, k2, k3": "k1, k2, k3 by C and H",
        }.items()
    } | {"few fixed-point": lambda data: scaled(data, "iterations", 2.0, step=0.01)},
}  # fmt: skip
"""For every claim data that are spoiled: an order off by one, or a number far enough off."""


@pytest.mark.parametrize("name", MUTANTS)
def test_every_claim_sees_its_mutant(quick, name):
    result = quick[0][name]
    claims_of = [claim.text for claim in result.figure.claims]
    found = [claim_of(result.figure, words).text for words in MUTANTS[name]]
    assert sorted(found) == sorted(claims_of)
    for words, mutant in MUTANTS[name].items():
        assert flips(result.figure, words, result.data, mutant), words


# ------------------------------------------------------------------ instruments of the equations
def test_forms_see_a_change_of_variables_that_is_not_symplectic():
    assert claims.symplectic_change() < 1e-13
    spoiled = claims.form(lambda P, Q: P - Q @ (Q.T @ P - P.T @ Q) / 4) - claims.form(lambda P, Q: P)
    assert np.abs(spoiled).max() > 0.1
    longer = claims.form(lambda P, Q: P + 0.01 * Q @ np.diag(np.diag(Q.T @ P)))  # symmetric, but not constant: no harm
    assert np.abs(longer - claims.form(lambda P, Q: P)).max() < 1e-12


def test_a_spoiled_torque_is_no_equivalent(monkeypatch):
    assert claims.equivalent() < 1e-12
    monkeypatch.setattr(claims, "D", claims.D * 1.001)
    assert claims.equivalent() > 1e-5


def test_names_a_user_types():
    for word in ("fig1", "table2", "work", "claims"):
        assert STUDY.figure(word) in STUDY.figures
