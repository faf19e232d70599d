"""The study of Carson's paper: the quick form end to end, its instruments on known motions, its judges."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import xarray as xr
from mpmath import mp
from tests.support.study_parts import check_parts, quick_form

import polhode_papers as studies
from each import each
from mutants import flips, order_off, put, scaled
from polhode import kepler
from polhode_papers.carson2005 import (
    claims,
    common,
    correction,
    cost,
    digits,
    drag,
    fig02,
    fig03,
    fig04,
    fig05,
    fig06,
    fig07,
    fig08,
    higher,
    impulse,
    multi_body,
    period,
    sunlight,
    thrust,
)
from polhode_papers.carson2005.common import CIRCULAR, CONIC, ELLIPTIC, HEUN, MIDPOINT, RK4, RK45, SYMPLECTIC
from polhode_papers.study import FAILS, HOLDS, PARTLY

STUDY = studies.study("carson2005")


# ------------------------------------------------------------------ the quick form, once
@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return quick_form(STUDY, tmp_path_factory)


def judged(quick, figure, words):
    (found,) = [v for v in quick[0][figure].verdicts if words in v.claim.text]
    return found


def test_all_files_are_there(quick):
    results, folder, written = quick
    assert list(results) == [
        "claims", "fig02", "fig03", "fig04", "fig05", "fig06", "fig07", "fig08", "correction", "impulse", "thrust",
        "sunlight", "drag", "higher", "period", "cost", "alpha", "digits", "multi_body",
    ]  # fmt: skip
    text = written.read_text()
    for name, result in results.items():
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        with (folder / f"{name}.csv").open() as lines:
            assert len(list(csv.DictReader(lines))) >= 8
        assert result.verdicts and len(result.verdicts) == len(result.figure.claims)
        for verdict in result.verdicts:
            assert verdict.numbers and f"| {verdict.claim.text} | {verdict.summary} |" in text


def test_verdicts(quick):
    check_parts(STUDY, quick[0].values())


# Measured by an independent program on the printed data, steps of 10 s.
def test_numbers_are_the_known_ones(quick):
    close = {"abs": 0.0, "rel": 0.02}
    numbers = judged(quick, "fig04", "false dissipation").numbers
    assert numbers["lost in the day, relative"] == pytest.approx(8.1e-11, **close)
    numbers = judged(quick, "fig06", "significantly").numbers["distance after a day, km"]
    for label, km in {RK4: 1.5e-5, SYMPLECTIC: 4.2, HEUN: 8.9, MIDPOINT: 2.3}.items():
        assert numbers[label] == pytest.approx(km, **close)
    numbers = judged(quick, "fig07", "oscillates about").numbers
    assert numbers["mean less the actual energy, relative"] == pytest.approx(-1.14e-5, **close)
    assert numbers["half the swing, relative"] == pytest.approx(0.78e-5, **close)
    assert judged(quick, "fig07", "RK2 decays").numbers["change from start to end, relative"][HEUN] == pytest.approx(
        4.0e-5, **close
    )
    assert judged(quick, "fig08", "10th digit").numbers["lost, relative"] == pytest.approx(6.8e-11, **close)
    printed = judged(quick, "claims", "Table 1").numbers["from the momentum as printed"]
    assert printed == {CIRCULAR: "-0.96182215336", ELLIPTIC: "-0.72136636959"}
    assert judged(quick, "fig02", "winds").numbers["relative to the energy at the start"] == pytest.approx(
        0.247, rel=0.01
    )
    assert judged(quick, "fig05", "wind").numbers["energy at the end, relative"] == pytest.approx(-0.148, rel=0.01)


# ------------------------------------------------------------------ instruments
def test_the_conic_has_no_offset_and_the_known_period():
    t = np.linspace(0.0, common.DAY, 50)
    r, _ = common.conic(ELLIPTIC, t)
    assert np.abs(common.offset(ELLIPTIC, r)).max() < 1e-9
    assert common.offset(ELLIPTIC, 1.001 * r) == pytest.approx(0.001 * np.linalg.norm(r, axis=1))
    assert common.period(CIRCULAR) == pytest.approx(7538.38576696, abs=1e-8)
    assert common.period(ELLIPTIC) == pytest.approx(11606.11006131, abs=1e-8)
    assert common.chord(10.0) == pytest.approx(0.0145, rel=0.01)


def test_means_over_revolutions():
    t = np.linspace(0.0, 10.0, 2001)
    assert common.revolutions(t, np.cos(2 * np.pi * t / 3.0) + t, 3.0) == pytest.approx([1.5, 4.5, 7.5], abs=1e-5)


def test_passes_of_the_conic_are_whole_periods():
    t = np.arange(0.0, common.DAY, 700.0)
    r, v = common.conic(ELLIPTIC, t)
    ds = xr.Dataset({"position": (("time", "axis"), r), "velocity": (("time", "axis"), v)}, {"time": t})
    found = period.passes(ELLIPTIC, ds)
    assert found / common.period(ELLIPTIC) == pytest.approx(np.arange(1, 8), abs=1e-12)


def test_the_formulas_of_the_paper_by_differences():
    z = np.concatenate([*common.STARTS[ELLIPTIC].values()]) + np.array([100.0, -50.0, 20.0, 0.1, 0.2, -0.1])

    def H(z):
        return z[3:] @ z[3:] / 2 - common.MU / np.linalg.norm(z[:3])

    def slope(f, scale):
        return np.array([(f(z + d) - f(z - d)) / (2 * scale[k]) for k, d in enumerate(np.diag(scale))])

    scale = 1e-4 * claims.SCALE
    assert slope(H, scale) == pytest.approx(claims.gradient(z), rel=1e-6)
    assert slope(claims.gradient, scale) == pytest.approx(claims.hessian(z), rel=1e-6, abs=1e-12)


def test_newton_solves_the_implicit_equation_and_the_printed_jacobian_does_so_slowly():
    z = np.concatenate([*common.STARTS[ELLIPTIC].values()])
    few, state = claims.newton(z, 60.0, lambda A: np.eye(6) - A)
    many, other = claims.newton(z, 60.0, claims.cayley)
    assert few <= 4 < many < 100
    assert state == pytest.approx(other, rel=1e-13)
    residual = state - z - 60.0 * claims.J @ claims.gradient(0.5 * (state + z))
    assert np.abs(residual / claims.SCALE).max() < 1e-14
    assert claims.newton(z, 60.0, lambda A: -np.eye(6))[0] == 100


def test_a_map_that_is_not_symplectic_is_seen():
    shear = np.eye(6) + 0.1 * np.eye(6, k=3) * common.R0 / claims.CIRCLE
    assert claims.symplectic_defect(shear) < 1e-15
    assert claims.symplectic_defect(1.001 * shear) == pytest.approx(2e-3, rel=0.01)


# ------------------------------------------------------------------ judges on spoiled data
def verdict_of(figure, words, data):
    (found,) = [v for v in figure.FIGURE.claims if words in v.text]
    return found.judge(data).verdict


def spoiled(data, variable, label, values):
    """A copy of the data with other values of one method."""
    copy = data.copy(deep=True)
    copy[variable].loc[{"method": label}] = values
    return copy


@pytest.fixture(scope="module")
def circular():
    return common.shown(CIRCULAR, (SYMPLECTIC, RK45, RK4, CONIC), "position", "energy", "offset")


@pytest.fixture(scope="module")
def elliptic():
    labels = (SYMPLECTIC, RK45, *common.RK2, RK4, CONIC)
    return common.shown(ELLIPTIC, labels, "position", "energy", "distance", "offset")


def test_judges_of_the_circular_orbit(circular):
    hours = circular.time.values / 3600.0
    steady = circular.assign(
        chosen_energy=circular.chosen_energy * 0.0 + 1.0, chosen_radius=circular.chosen_radius * 0.0 + common.R0
    )
    assert verdict_of(fig02, "winds", circular) == HOLDS
    assert verdict_of(fig02, "winds", steady) == FAILS
    assert verdict_of(fig02, "cannot be separated", circular) == HOLDS
    assert verdict_of(fig02, "cannot be separated", spoiled(circular, "offset", RK4, 10.0)) == PARTLY
    off_plane = circular.copy(deep=True)
    off_plane.position[0, 7, 2] = 1e-9
    assert verdict_of(fig02, "planar", off_plane) == FAILS
    start = common.energy_of(CIRCULAR)
    assert verdict_of(fig04, "conservation of energy", spoiled(circular, "energy", SYMPLECTIC, start)) == PARTLY
    assert verdict_of(fig04, "false dissipation", spoiled(circular, "energy", RK4, start + 1e-12 * hours)) == FAILS
    assert verdict_of(fig04, "10th digit", spoiled(circular, "energy", RK4, start - 1e-8 * hours)) == PARTLY
    assert verdict_of(fig04, "analytic solution", spoiled(circular, "energy", CONIC, start - 1e-11 * hours)) == FAILS
    assert verdict_of(fig03, "both with an offset", spoiled(circular, "offset", RK4, 0.0)) == PARTLY


def test_judges_of_the_elliptic_orbit(elliptic):
    t, start = elliptic.time.values, common.energy_of(ELLIPTIC)
    assert verdict_of(fig05, "more closely", elliptic) == HOLDS
    assert verdict_of(fig05, "more closely", spoiled(elliptic, "distance", HEUN, 1e5)) == PARTLY
    falling = start - 1e-9 * t
    both = spoiled(spoiled(elliptic, "energy", HEUN, falling), "energy", MIDPOINT, falling)
    assert verdict_of(fig07, "RK2 decays", both) == HOLDS
    assert verdict_of(fig07, "RK2 decays", spoiled(elliptic, "energy", HEUN, falling)) == PARTLY
    data = elliptic.assign(mean_offset=("step", [16.0, 4.0, 1.0, 0.25])).assign_coords(step=list(fig07.STEPS))
    assert verdict_of(fig07, "oscillates", data) == HOLDS
    assert verdict_of(fig07, "oscillates", spoiled(data, "energy", SYMPLECTIC, falling)) == PARTLY
    assert verdict_of(fig07, "appears", spoiled(data, "energy", RK4, falling)) == FAILS
    assert verdict_of(fig08, "10th digit", elliptic) == HOLDS
    assert verdict_of(fig08, "10th digit", spoiled(elliptic, "energy", RK4, start + 1e-12 * t)) == PARTLY
    assert verdict_of(fig08, "cryptic", spoiled(elliptic, "energy", RK4, start - 1e-6 * t)) == PARTLY


def test_the_judge_of_offsets_over_steps():
    steps = [5.0, 10.0, 20.0]

    def data(a, b):
        return xr.Dataset({"worst": (("scheme", "step"), [a, b])}, {"scheme": [SYMPLECTIC, RK4], "step": steps})

    assert verdict_of(fig03, "smaller offset", data([1, 1, 1], [2, 2, 2])) == HOLDS
    assert verdict_of(fig03, "smaller offset", data([1, 3, 1], [2, 2, 2])) == PARTLY
    assert verdict_of(fig03, "smaller offset", data([3, 3, 3], [2, 2, 2])) == FAILS


def test_judges_of_errors_over_steps():
    steps = np.array([40.0, 20.0, 10.0, 5.0])

    def data(powers):
        table = [steps**p for p in powers]
        return xr.Dataset(
            {"error_elliptic": (("scheme", "step"), table), "error_circular": (("scheme", "step"), table)},
            {"scheme": list(fig06.LABELS), "step": steps},
        )

    assert verdict_of(fig06, "fourth order", data((2, 2, 2, 4))) == HOLDS
    assert verdict_of(fig06, "fourth order", data((1, 2, 2, 4))) == PARTLY
    assert verdict_of(fig06, "differs", data((2, 2, 2, 4))) == HOLDS
    assert verdict_of(fig06, "differs", data((4, 2, 2, 2))) == FAILS


def test_judges_of_the_corrected_energy():
    over = ("method", "orbit", "step")
    shape = (2, 2, 4)

    def data(mean, swing, distance):
        table = {"mean": mean, "swing": swing, "distance": distance}
        h = np.array(correction.STEPS)
        made = {name: (over, np.broadcast_to(np.array(v)[:, None, None] * h**2, shape)) for name, v in table.items()}
        found = xr.Dataset(made, {"method": list(correction.LABELS), "orbit": list(correction.ORBITS), "step": h})
        found["mean"] = found["mean"].copy()
        found["mean"][1] *= h**2 / 100.0
        return found

    assert verdict_of(correction, "realizable", data((1.0, 0.001), (2.0, 2.0), (1, 1))) == HOLDS
    assert verdict_of(correction, "realizable", data((1.0, 0.5), (2.0, 2.0), (1, 1))) == PARTLY
    assert verdict_of(correction, "(not said)", data((1.0, 0.5), (2.0, 2.0), (1, 0.001))) == HOLDS
    assert verdict_of(correction, "(not said)", data((1.0, 0.5), (2.0, 2.0), (1, 1))) == FAILS


def test_judges_of_drag():
    counts = np.array(drag.COUNTS[:3], dtype=float)
    over = ("orbit", "method", "count")

    def data(**sizes):
        sizes = [sizes.get(label, 1.0) for label in drag.STAGES]
        energy = np.array(sizes)[None, :, None] * np.ones((2, 1, 1)) * 1e-3 * (counts[0] / counts) ** 2
        spent = np.broadcast_to(counts, energy.shape)
        return xr.Dataset(
            {
                "energy": (over, energy),
                "spent": (over, spent),
                "decay": ("orbit", [0.1, 0.1]),
                "forced_residual": ("law", [1e-14]),
            },
            {"orbit": list(drag.AIR), "method": list(drag.STAGES), "count": counts.astype(int), "law": ["(28)"]},
        )

    rk2 = {HEUN: 300.0, MIDPOINT: 200.0}
    assert verdict_of(drag, "equal order", data(**rk2)) == HOLDS
    assert verdict_of(drag, "equal order", data()) == FAILS
    assert verdict_of(drag, "equal order", data(**rk2, **{common.VERLET: 100.0})) == PARTLY
    assert verdict_of(drag, "than RK4", data(**{RK4: 3.0})) == HOLDS
    assert verdict_of(drag, "than RK4", data(**{RK4: 0.3})) == FAILS
    assert verdict_of(drag, "derivable", data().assign(forced_residual=("law", [1e-6]))) == FAILS
    assert verdict_of(drag, "preserve", data(**rk2)) == HOLDS
    assert verdict_of(drag, "preserve", data(**rk2, **{SYMPLECTIC: 1000.0})) == PARTLY


def test_judges_of_orders_and_periods():
    def made(spoil=1.0):
        table = [[[x**p for x in higher.LADDERS[higher.ORDERS["conic"][k]]] for k, p in higher.ORDERS[kind].items()]
                 for kind in higher.KINDS]  # fmt: skip
        steps = [higher.LADDERS[p] for p in higher.ORDERS["conic"].values()]
        data = xr.Dataset(
            {"error": (("force", "method", "level"), table), "steps": (("method", "level"), steps)},
            {"force": list(higher.KINDS), "method": list(higher.ORDERS["conic"]), "level": [0, 1, 2]},
        )
        data.error[1, 3, 2] *= spoil
        return data

    assert verdict_of(higher, "exist", made(50.0)) == HOLDS
    assert verdict_of(higher, "keep their orders", made()) == HOLDS
    assert verdict_of(higher, "keep their orders", made(50.0)) == PARTLY

    def periods(factor, power):
        table = [
            [factor * np.array(period.LADDERS[p]) ** (p if k != RK4 else power) for k, p in period.ORDERS.items()]
        ] * 2
        return xr.Dataset({"error": (("orbit", "method", "level"), table),
                           "steps": (("method", "level"), [period.LADDERS[p] for p in period.ORDERS.values()])},
                          {"orbit": list(period.ORBITS), "method": list(period.ORDERS), "level": range(4)})  # fmt: skip

    assert verdict_of(period, "recoverable", periods(1e-16, 4)) == HOLDS
    assert verdict_of(period, "recoverable", periods(1.0, 4)) == FAILS
    assert verdict_of(period, "with the order", periods(1e-8, 4)) == HOLDS
    assert verdict_of(period, "with the order", periods(1e-8, 2)) == PARTLY


def costs(**factors):
    """Made-up errors that fall with the eighth power of the evaluations, of the second for those of low order."""
    counts = np.array([2e3, 4e3, 8e3, 16e3])
    spent = [[counts * factors.get(label, 1.0) * d for label in cost.LABELS] for d in (1, 4)]
    error = [[1e3 * (1e3 / counts) ** (2 if label in cost.LOW else 8) for label in cost.LABELS] for d in (1, 4)]
    return xr.Dataset(
        {"error": (("days", "method", "level"), error), "evaluations": (("days", "method", "level"), spent)},
        {"days": [1, 4], "method": list(cost.LABELS), "level": range(4)},
    )


def test_judges_of_cost():
    assert cost.needed(costs(), 1, RK4, 1e3 / 4.0**8) == pytest.approx(4e3)
    assert cost.needed(costs(), 1, common.VERLET, 1e3 / 64.0**2) == pytest.approx(64e3)
    assert verdict_of(cost, "Explicit", costs(symplectic=5.0)) == HOLDS
    assert verdict_of(cost, "Explicit", costs(symplectic=0.5)) == FAILS
    assert verdict_of(cost, "Higher-order", costs()) == HOLDS
    assert verdict_of(cost, "Higher-order", costs(rkn6_14a=1e4)) == PARTLY
    assert verdict_of(cost, "beats", costs(DOP853=2.0, RK4=2.0)) == HOLDS
    assert verdict_of(cost, "beats", costs(DOP853=0.5, RK4=2.0)) == PARTLY


def test_judges_of_forces_with_starts_and_stops():
    for module, dimension, kinds, words in (
        (impulse, "impulse", impulse.TIMES, "starts and stops"), (thrust, "burn", thrust.BURNS, "starts and stops"),
        (sunlight, "light", sunlight.LIGHT, "starts and stops"),
    ):  # fmt: skip
        steps = np.array(list(module.STEPS.values()))
        errors = np.array([[np.array(module.STEPS[k]) ** p for k, p in module.ORDERS.items()]] * 2)
        over = {dimension: list(kinds), "scheme": list(module.ORDERS), "level": range(3)}
        data = xr.Dataset(
            {"error": ((dimension, "scheme", "level"), errors), "steps": (("scheme", "level"), steps)}, over
        )
        if module is sunlight:
            ladder = np.array(sunlight.UNCUT)
            data = data.assign(uncut=("uncut_step", ladder**1.5), crossing=("edge", [1.0])).assign_coords(
                uncut_step=ladder
            )
        assert verdict_of(module, words, data) == HOLDS
        data.error[1, 1, 2] *= 5.0
        assert verdict_of(module, words, data) == PARTLY


def test_judges_of_the_impulse():
    def data(wobble, hand=0.0):
        t_fine = np.linspace(0.0, common.DAY, 2001)
        level = np.where(t_fine < 43_200.0, -0.96, -0.93)
        swing = wobble * np.sin(2.0 * np.pi * t_fine / kepler.period(*impulse.after(43_200.0), common.MU))
        return xr.Dataset(
            {"energy": (("method", "time"), [level + swing, level + swing, level]), "by_hand": ("axis", [hand] * 3)},
            {"method": list(impulse.LABELS), "time": t_fine},
        )

    assert verdict_of(impulse, "bumping", data(1e-9)) == HOLDS
    assert verdict_of(impulse, "bumping", data(1e-2)) in (FAILS, PARTLY)
    assert verdict_of(impulse, "stopped", data(0.0)) == HOLDS
    assert verdict_of(impulse, "stopped", data(0.0, 1e-12)) == FAILS


def test_the_two_arcs_meet_at_the_impulse():
    at = impulse.TIMES["within a step"]
    before, after = impulse.truth(at, np.array([at - 1e-6, at]))
    assert np.linalg.norm(after - before) < 1e-5
    r, v = impulse.after(at)
    w = common.conic(CIRCULAR, at)[1]
    assert np.linalg.norm(v) - np.linalg.norm(w) == pytest.approx(impulse.SIZE)
    assert np.linalg.norm(np.cross(v, w)) < 1e-12
    assert kepler.specific_energy(r, v, common.MU) > common.energy_of(CIRCULAR) + 0.02


# ------------------------------------------------------------------ every judge of an order, a share or a size can fail
MUTANTS = [
    ("claims", "first-order", lambda d: put(d, "measured", 1.0, quantity="order")),
    ("impulse", "starts and stops", lambda d: order_off(d, "error", 1, d.steps, scheme=RK4)),
    ("impulse", "starts and stops", lambda d: order_off(d, "error", -1, d.steps, scheme=RK4)),
    ("thrust", "starts and stops", lambda d: order_off(d, "error", 1, d.steps, scheme=HEUN)),
    ("thrust", "starts and stops", lambda d: order_off(d, "error", -1, d.steps, scheme=HEUN)),
    ("sunlight", "starts and stops", lambda d: order_off(d, "error", 1, d.steps, scheme="rkn6_14a")),
    ("sunlight", "starts and stops", lambda d: order_off(d, "error", -1, d.steps, scheme="rkn6_14a")),
    ("higher", "orders 4, 6 and 8", lambda d: order_off(d, "error", 1, d.steps, force="conic", method="rkn4_6b")),
    ("higher", "orders 4, 6 and 8", lambda d: order_off(d, "error", -1, d.steps, force="conic", method="rkn4_6b")),
    ("period", "with the order", lambda d: order_off(d, "error", 1, d.steps, method=HEUN)),
    ("period", "with the order", lambda d: order_off(d, "error", -1, d.steps, method=HEUN)),
    ("correction", "likely realizable", lambda d: order_off(d, "mean", 1, method="symplectic, corrected")),
    ("correction", "likely realizable", lambda d: order_off(d, "mean", -1, method="symplectic, corrected")),
    ("alpha", "gives order 2", lambda d: order_off(d, "error", 1, alpha=0.25)),
    ("alpha", "gives order 2", lambda d: order_off(d, "error", -1, alpha=0.25)),
    ("alpha", "defines a variational", lambda d: put(d, "residual", 1e-9, alpha=0.75)),
    ("alpha", "and of no other", lambda d: put(d, "from_midpoint", 0.0, alpha=0.4)),
    ("alpha", "and of no other", lambda d: put(d, "from_midpoint", 1e-6, alpha=0.5)),
    ("alpha", "keeps the angular momentum", lambda d: put(d, "momentum_drift", 1e-9, alpha=1.0)),
    ("alpha", "the same integrator", lambda d: put(d, "mirrored", 1e-6, alpha=0.25)),
    ("alpha", "closest to the orbit", lambda d: scaled(d, "error", 0.1, alpha=0.5)),
    ("digits", "the integrators of the paper", lambda d: put(d, "digits", 15.1, method=RK4)),
    ("digits", "by the exact flow", lambda d: put(d, "digits", 14.9, method=digits.EXACT)),
    ("digits", "compensated sums", lambda d: put(d, "digits", 12.0, method=digits.COMPENSATED[0])),
    ("digits", "good enough", lambda d: d.assign(of_data=d.of_data + 2.0)),
    ("multi_body", "exists as well", lambda d: put(d, "change", 1e-12, method="rkn6_14a")),
    ("multi_body", "of the whole system", lambda d: d.assign(own=1.0 + 0.0 * d.own)),
    ("multi_body", "as their order says", lambda d: order_off(d, "error", 1, d.steps, scheme="s4_6")),
    ("multi_body", "as their order says", lambda d: order_off(d, "error", -1, d.steps, scheme="s4_6")),
    ("multi_body", "non-conservative", lambda d: d.assign(falling=-d.falling)),
]


@pytest.mark.parametrize(("figure", "words", "mutant"), MUTANTS)
def test_judges_see_what_is_wrong(quick, figure, words, mutant):
    result = quick[0][figure]
    assert flips(result.figure, words, result.data, mutant)


@each("name", digits.ORBITS)
def test_places_after_a_day_are_those_of_keplers_equation(name):
    """E - e sin E = n t from an apsis, in 40 digits, for the printed data and for the same as doubles."""
    with mp.workdps(40):
        for data, known in ((str, digits.OF_DECIMALS), (float, digits.OF_DOUBLES)):
            mu, r, v = (mp.mpf(data(x)) for x in (common.MU, common.R0, common.STARTS[name]["momentum"][0]))
            a = 1 / (2 / r - v**2 / mu)
            e, n = 1 - r / a, mp.sqrt(mu / a**3)
            E = mp.findroot(lambda E, e=e, n=n: E - e * mp.sin(E) - n * mp.mpf(common.DAY), n * common.DAY)
            place = a * mp.sqrt(1 - e**2) * mp.sin(E), a * (mp.cos(E) - e)
            for x, y in zip(place, known[name], strict=True):
                assert abs(x - mp.mpf(y)) < mp.mpf("1e-20")


def test_the_slots_of_any_alphaby_differences():
    """D1 and D2 of (14), from its values."""
    a, b, h = np.array([100.0, 1660.0, 30.0]), np.array([140.0, 1655.0, 20.0]), 25.0

    def action(x, y, alpha):
        v = (y - x) / h
        places = (1 - alpha) * x + alpha * y, alpha * x + (1 - alpha) * y
        return sum(h / 2 * (v @ v / 2 + common.MU / np.linalg.norm(q)) for q in places)

    for alpha in (0.0, 0.3, 0.5):
        found = claims.slots(a[None], b[None], h, alpha)
        for k in range(3):
            d = 1e-2 * np.eye(3)[k]
            first = (action(a + d, b, alpha) - action(a - d, b, alpha)) / 2e-2
            second = (action(a, b + d, alpha) - action(a, b - d, alpha)) / 2e-2
            assert (found[0][0, k], found[1][0, k]) == pytest.approx((first, second), rel=1e-7, abs=1e-9)


def test_the_bodies_start_about_their_centre_of_mass():
    _, start = multi_body.system_and_start()
    masses = np.array(multi_body.SIZES)
    assert np.abs(masses @ start["position"]).max() < 1e-16 and np.abs(masses @ start["velocity"]).max() < 1e-16
    ds = multi_body.travel("rkn6_14a", 0.1, 10)
    other = multi_body.travel(common.GAUSS, 0.1, 10)
    assert np.abs(ds.position - other.position).max() < 1e-6
    speed = np.gradient(multi_body.own_energy(ds), ds.time.values)
    assert np.abs(speed).max() > 1e-2
