"""Studies: the quick form end to end, the judges on made-up data, the names a user types."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import xarray as xr
from click.testing import CliRunner
from tests.support.study_parts import check_parts, quick_form

import polhode_papers as studies
from each import each
from polhode.cli.reproduce import command
from polhode.errors import FileProblem, InvalidInput
from polhode_papers import criteria, report
from polhode_papers.krysl2006 import claims, common, fig01, fig02, fig03, fig04, fig05
from polhode_papers.study import FAILS, HOLDS, MISPRINT, PARTLY, UNDECIDED, Check, Claim, Figure, Finding, Verdict

STUDY = studies.study("krysl2006")


# ------------------------------------------------------------------ the quick form, once
@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return quick_form(STUDY, tmp_path_factory)


def numbers_of(quick, figure, words):
    (found,) = [v for v in quick[0][figure].verdicts if words in v.claim.text]
    return found.verdict, found.numbers


def test_all_files_are_there(quick):
    results, folder, written = quick
    assert list(results) == [figure.name for figure in STUDY.figures]
    assert {"fig01", "fig02", "fig03", "fig04", "fig05", "claims"} <= set(results)
    for result in results.values():
        assert result.pictures and result.tables
        for path in result.pictures:
            assert path.stat().st_size > 500, path
        for path in result.tables:
            with path.open() as lines:
                header, *rows = csv.reader(lines)
            assert len(rows) >= 2 and all(len(row) == len(header) for row in rows), path
        assert (folder / f"{result.figure.name}.png").read_bytes().startswith(b"\x89PNG")
        with (folder / f"{result.figure.name}.csv").open() as lines:
            header, *rows = csv.reader(lines)
        assert len(rows) >= 9 and all(len(row) == len(header) for row in rows)
    assert written == folder / "report.md"


def test_every_claim_is_judged_and_reported(quick):
    results, _, written = quick
    text = written.read_text()
    for result in results.values():
        assert len(result.verdicts) == len(result.figure.claims)
        for verdict in result.verdicts:
            assert verdict.numbers
            assert f"| {verdict.claim.text} | {verdict.summary} |" in text


def test_verdicts(quick):
    check_parts(STUDY, quick[0].values())


# Values measured by an independent program: momentum and attitude.
KNOWN = {
    "fig01": (fig01, 0.125, {
        "TRAP": (1.26e-3, 5.13e-3), "IMID": (6.16e-4, 5.64e-3), "TRAPM": (5.26e-3, 6.15e-3),
        "IMIDM": (6.92e-3, 7.91e-3), "SWC1": (1.94e-2, 2.02e-2), "BBTRAP": (1.94e-2, 2.02e-2),
        "AKW": (6.16e-4, 1.17e-1), "BBTRAPWD": (9.90e-3, 1.11e-2),
    }),
    "fig02": (fig02, 0.0125, {
        "TRAP": (1.86e-2, 9.4e-3), "IMID": (1.74e-2, 9.4e-3), "TRAPM": (1.12e-2, 1.52e-2),
        "IMIDM": (1.15e-2, 1.52e-2), "SWC1": (5.8e-3, 1.12e-2), "AKW": (3.7e-2, 3.9e-2), "BBTRAP": (1.35e-2, 2.2e-2),
    }),
    "fig03": (fig03, 0.005, {
        "TRAP": (8.8e-2, 2.1e-3), "IMID": (8.5e-2, 2.1e-3), "TRAPM": (8.6e-3, 1.7e-4), "IMIDM": (8.2e-3, 1.6e-4),
        "SWC1": (5.0e-2, 9.7e-4), "AKW": (2.5e-1, 2.6e-1), "BBTRAP": (4.9e-2, 9.7e-4), "BBTRAPWD": (8.8e-3, 1.7e-4),
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_errors_are_the_known_ones(quick, name):
    figure, step, known = KNOWN[name]
    with (quick[1] / f"{name}.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:
        if float(row["step"]) == step and row["method"] in known and float(row.get("t_end", 1)) == 1.0:
            found = float(row["angular_momentum_error"]), float(row["attitude_error"])
            # One unit of the last digit of the known values.
            assert found == pytest.approx(known[row["method"]], rel=0.01 if figure is fig01 else 0.035), row
            known = {label: value for label, value in known.items() if label != row["method"]}
    assert not known


def test_references_agree(quick):
    for name in ("fig01", "fig02", "fig03"):
        remarks = [text for key, text in quick[0][name].remarks.items() if "reference" in key]
        assert remarks and all(float(text.rsplit(" ", 1)[1]) < 1e-9 for text in remarks)
    known = [text for key, text in quick[0]["fig01"].remarks.items() if "known" in key]
    assert len(known) == 2 and all(float(text.split()[2]) < 1e-12 for text in known)


def test_soft_wall_numbers(quick):
    _, numbers = numbers_of(quick, "fig05", "superior")
    ranges = numbers["half-range (median of the starts)"]
    for label, value in {"TRAP": 0.0078, "IMID": 0.0039, "TRAPM": 0.0091, "IMIDM": 0.0042}.items():
        assert ranges[label] == pytest.approx(value, rel=0.02)
    assert numbers["extremes of H/H0"]["TRAP"] == "[0.99094, 1.0064]"
    remarks = quick[0]["fig04"].remarks
    assert float(remarks["H0 of the printed sign"]) == pytest.approx(2.587300987776925, rel=1e-15)
    assert float(remarks["H0 of the physical sign"]) == pytest.approx(1.634921234445296, rel=1e-15)


def test_symplectic_numbers(quick):
    _, numbers = numbers_of(quick, "claims", "IMIDM is symplectic")
    assert 1e-4 < numbers["defect of the form, free"]["IMIDM"] < 1e-2
    floor = quick[0]["claims"].remarks["symplectic defect of the exact flow"]
    assert float(floor.split()[0]) < 1e-11


# ------------------------------------------------------------------ verdicts can fail
YES, NO, OPEN = (Check("it is 1", x, true) for x, true in ((1, True), (0, False), ("?", None)))
NOTHING = criteria.at_most(np.nan, 1.0)


def test_a_verdict_follows_from_its_parts():
    assert Finding({"a": YES, "b": YES}, {}).verdict == HOLDS
    assert Finding({"a": YES, "b": NO}, {}).verdict == PARTLY
    assert Finding({"a": NO, "b": NO}, {}).verdict == FAILS
    with pytest.raises(ValueError, match="at least one part"):
        _ = Finding({}, {}).verdict
    with pytest.raises(TypeError, match="the part 'a' has no criterion"):
        Finding({"a": True}, {})
    with pytest.raises(TypeError, match="the part 'b' has no criterion"):
        Finding({"a": NO}, {}, {"b": True})


def test_a_verdict_counts_its_parts():
    assert Finding({"a": YES, "b": NO, "c": YES}, {}).summary == "holds partly (2 of 3)"
    assert Finding({"a": YES, "b": NO, "c": OPEN}, {}).summary == "holds partly (1 of 2, 1 undecided)"
    assert Finding({"a": YES, "b": OPEN}, {}).summary == "holds (1 of 1, 1 undecided)"
    assert Finding({"a": NO, "b": OPEN}, {}).summary == "fails (0 of 1, 1 undecided)"
    assert Finding({"a": YES}, {}).summary == HOLDS and Finding({"a": NO}, {}).summary == FAILS
    assert Finding({"a": NO}, {}, {"b": YES, "c": NO}).summary == "fails as printed; holds partly (1 of 2) corrected"


def test_where_nothing_was_measured_nothing_is_decided():
    assert not NOTHING and NOTHING.true is False
    assert Finding({"a": NOTHING, "b": NOTHING}, {}).verdict == UNDECIDED
    assert Finding({"a": NOTHING}, {}, {"b": NOTHING}).verdict == UNDECIDED
    assert Finding({"a": NOTHING, "b": YES}, {}).verdict == PARTLY  # a lost run is no reason to forget its part
    every = criteria.every({"x": np.nan, "y": np.nan}, lambda x: criteria.at_most(x, 1.0))
    assert Finding({"a": every}, {}).verdict == UNDECIDED


def test_what_only_the_full_form_can_tell_is_undecided_in_the_reduced_one():
    claim = Claim("it is", "1", lambda d: Finding({"a, small": YES, "b": NO}, {}, {"c, small": YES}), ("small",))
    figure = Figure("fig01", "made up", lambda quick, report_progress: xr.Dataset(), lambda d: {}, (claim,))
    (full,), (quick,) = (figure.judge(xr.Dataset(), quick) for quick in (False, True))
    assert full.summary == "holds partly (1 of 2) as printed; holds corrected"
    assert quick.summary == "fails (0 of 1, 1 undecided) as printed; undecided corrected"


def test_a_misprint_fails_as_printed_and_holds_corrected():
    right, wrong = {"a": YES}, {"a": NO}
    assert Finding(wrong, {}, right).verdict == MISPRINT == "fails as printed; holds corrected"
    assert Finding({"a": YES, "b": NO}, {}, right).verdict == "holds partly as printed; holds corrected"
    assert Finding(wrong, {}, wrong).verdict == "fails as printed; fails corrected"
    assert Finding(right, {}, right).verdict == HOLDS  # what is printed right needs no correction


def test_what_cannot_be_told_decides_nothing():
    unknown, true = criteria.fewer(109, 108, 2), criteria.fewer(68, 123, 2)
    assert not unknown and unknown.true is None and true
    assert Finding({"a": unknown}, {}).verdict == Finding({"a": unknown, "b": unknown}, {}).verdict == UNDECIDED
    assert Finding({"a": unknown, "b": true}, {}).verdict == HOLDS
    assert Finding({"a": unknown, "b": NO}, {}).verdict == FAILS
    claim = Claim("it is less", "1", lambda data: Finding({}, {}))
    (line,) = report.details(Verdict({"a < b": unknown}, {}, claim=claim))
    assert line == "undecided: a < b [fewer by over 2; undecided within; found 109 against 108]"


# ------------------------------------------------------------------ criteria
STEPS = np.array([0.4, 0.2, 0.1, 0.05])


def test_an_order_has_two_sides():
    for order in (1, 2, 4, 6, 8, 10):
        assert criteria.order_within(STEPS, 3.0 * STEPS**order, order, floor=0.0)
        for other in (order - 1, order + 1):
            assert not criteria.order_within(STEPS, 3.0 * STEPS**other, order, 0.49)
    found = criteria.order_within(STEPS, 3.0 * STEPS**7.91, 6, 0.3)
    assert not found and found.measured == pytest.approx(7.91)
    assert found.criterion == "order 6: 5.7 to 6.3, over 3 steps or more; undecided where fewer tell"
    assert criteria.order_is(np.inf, np.inf) and not criteria.order_is(12.0, np.inf)
    assert not criteria.order_is(np.nan, 2) and not criteria.order_is(np.inf, 2)


def test_an_order_needs_three_steps():
    """Two points are always on a line: what they cannot tell is not false."""
    assert criteria.order_within(STEPS, [1e-3, 1.6e-3, 4e-4, 1e-4], 2)
    for errors in ([1e-3, 1e-3, 4e-4, 1e-4], [1e-2, 1e-5, 1e-7, 3e-8], [np.nan, np.nan, 4e-4, 1e-4], [np.nan] * 4):
        assert criteria.order_within(STEPS, errors, 2).true is None
    assert criteria.order_within(STEPS[:2], STEPS[:2] ** 2, 2).true is None
    assert criteria.order_within(STEPS, [1e-3, 1e-7, 1e-9, 1e-12], 6, floor=1e-10).true is None


def test_a_method_that_does_not_converge_has_no_order():
    """Errors that fall too slowly everywhere decide, even where no three steps agree."""
    for errors in ([0.6, 0.61, 0.59, 0.6], [1e-2, 9e-3, 3e-3, 2.9e-3]):
        check = criteria.order_within(STEPS, errors, 6)
        assert check.true is False and check.measured < 2.0
    assert criteria.order_within(STEPS, STEPS**2, 6).true is False


def test_falling_values_are_judged():
    assert criteria.falling([3.0, 2.0, 1.0]) and not criteria.falling([3.0, 2.0, 2.0])
    assert not criteria.falling([3.0]) and not criteria.falling([3.0, np.nan, 1.0])


def test_numbers_are_judged_from_both_sides():
    assert criteria.ratio_within(5.0, 5.0, 1.5)
    assert not criteria.ratio_within(10.0, 5.0, 1.9) and not criteria.ratio_within(2.5, 5.0, 1.9)
    assert criteria.within(1.0, 0.9, 1.1) and not criteria.within(np.nan, 0.9, 1.1)
    assert criteria.at_most(1.0, 1.0) and not criteria.at_most(np.nan, 1.0)
    assert criteria.at_least(1.0, 1.0) and not criteria.at_least(np.nan, 1.0)
    assert criteria.rising({"a": 1.0, "b": 2.1, "c": 5.0}, 2.0) and not criteria.rising({"a": 1.0, "b": 1.9}, 2.0)
    assert not criteria.rising({"a": 2.0, "b": 1.0}) and not criteria.rising({"a": 1.0, "b": np.nan})


@each(
    "soft",
    [lambda: criteria.order_is(2.0, 2, 0.5), lambda: criteria.ratio_within(1.0, 1.0, 2.0),
     lambda: criteria.ratio_within(1.0, 1.0, 1.0), lambda: criteria.within(1.0, 2.0, 1.0)],
)  # fmt: skip
def test_soft_criteria_are_refused(soft):
    with pytest.raises(ValueError):
        soft()


def test_a_share_agrees_with_a_count():
    """Bounds of the binomial distribution, by its definition."""
    from math import comb

    def tail(p, counts):
        return sum(comb(100, k) * p**k * (1 - p) ** (100 - k) for k in counts)

    check = criteria.share_within(0.68, 75, 100)
    low, high = (float(x) for x in check.criterion.split(",")[0].split(" to "))
    assert tail(low, range(75, 101)) == pytest.approx(0.025, abs=2e-3)
    assert tail(high, range(76)) == pytest.approx(0.025, abs=2e-3)
    assert check and not criteria.share_within(low - 0.01, 75, 100) and not criteria.share_within(high + 0.01, 75, 100)
    assert criteria.share_within(0.0, 0, 10) and criteria.share_within(1.0, 10, 10)


def test_every_shows_what_fails():
    check = criteria.every({"a": 2.0, "b": 2.05, "c": 3.0}, lambda x: criteria.order_is(x, 2))
    assert not check and check.measured == {"c": 3.0} and check.criterion == "order 2: 1.9 to 2.1, each"
    check = criteria.every({"a": 2.0, "b": 2.05, "c": 1.95}, lambda x: criteria.order_is(x, 2))
    assert check and check.measured == {"c": 1.95, "b": 2.05}


def test_a_report_shows_criterion_and_measurement():
    claim = Claim("it is of order 2", "1", lambda data: Finding({}, {}))
    found = Finding({"as printed": criteria.order_is(1.0, 2)}, {"n": 3}, {"with b2 < 0": criteria.order_is(2.0, 2)})
    lines = report.details(Verdict(found.parts, found.numbers, found.corrected, claim=claim))
    assert lines == [
        "no: as printed [order 2: 1.9 to 2.1; found 1.00]",
        "yes: corrected: with b2 < 0 [order 2: 1.9 to 2.1; found 2.00]",
        "n: 3",
    ]
    assert bool(Check("", 0, True)) and not Check("", 0, False)


def errors(power, **sizes):
    """Made-up convergence: size * step^power in both norms, unless a pair of sizes is given."""
    steps = np.array([0.25, 0.125, 0.0625, 0.0125, 0.005, 0.0025, 0.00125])
    table = np.array([np.broadcast_to(sizes.get(label, 1.0), 2) for label in common.ALL])
    values = table[:, :, None] * steps**power
    return xr.Dataset(
        {norm: (("method", "step"), values[:, k]) for k, norm in enumerate(common.NORMS)},
        {"method": list(common.ALL), "step": steps},
    )


def verdict_of(figure, words, data):
    (found,) = [v for v in figure.FIGURE.claims if words in v.text]
    return found.judge(data).verdict


def test_orders_are_judged():
    assert common.second_order(errors(2.0)).verdict == HOLDS
    assert common.second_order(errors(1.0)).verdict == FAILS
    data = errors(2.0)
    data.attitude_error.loc[{"method": "AKW"}] = errors(1.7).attitude_error.sel({"method": "AKW"})
    assert common.second_order(data).verdict == PARTLY


def test_accuracy_is_judged():
    assert verdict_of(fig01, "most accurate", errors(2.0, IMID=0.5)) == HOLDS
    assert verdict_of(fig01, "most accurate", errors(2.0, IMID=(0.5, 2.0))) == PARTLY
    assert verdict_of(fig01, "most accurate", errors(2.0, IMID=2.0)) == FAILS
    assert verdict_of(fig01, "most accurate", errors(2.0, IMID=1.02)) == FAILS
    assert verdict_of(fig01, "AKW matches", errors(2.0, AKW=(1.0, 20.0))) == HOLDS
    assert verdict_of(fig01, "AKW matches", errors(2.0, AKW=(1.0, 40.0))) == PARTLY
    assert verdict_of(fig01, "AKW matches", errors(2.0)) == PARTLY
    assert verdict_of(fig01, "AKW matches", errors(2.0, AKW=(2.0, 100.0))) == FAILS
    assert verdict_of(fig01, "AKW matches", errors(2.0, AKW=(0.5, 1.0))) == FAILS
    for trap, half_step, verdict in ((1.3, 1.0, HOLDS), (2.0, 1.0, PARTLY), (1.3, 2.0, PARTLY), (1.3, 0.5, PARTLY),
                                     (1.0, 1.0, PARTLY), (0.5, 2.0, PARTLY), (4.0, 4.0, PARTLY)):  # fmt: skip
        data = errors(2.0, TRAP=trap)
        moved = half_step * float(data.angular_momentum_error.sel({"method": "IMID", "step": fig01.AT}))
        data = data.assign_coords(norm=list(common.NORMS)).assign(trap_shifted_error=("norm", [moved, moved]))
        assert verdict_of(fig01, "TRAP is slightly", data) == verdict
    assert verdict_of(fig01, "rather inaccurate", errors(2.0, BBTRAP=12, SWC1=12)) == HOLDS
    assert verdict_of(fig01, "rather inaccurate", errors(2.0, BBTRAP=6, SWC1=12)) == FAILS
    assert verdict_of(fig02, "outstanding", errors(2.0, AKW=9, BBTRAP=9, SWC1=9)) == HOLDS
    assert verdict_of(fig02, "outstanding", errors(2.0, AKW=0.1)) == FAILS
    fast = xr.concat(
        [errors(2.0, TRAPM=0.1, IMIDM=0.1), errors(2.0)], xr.DataArray([1.0, 20.0], dims="t_end", name="t_end")
    )
    assert verdict_of(fig03, "significantly", fast) == PARTLY


def wall(lost=(), wander=0.5, ours=0.005):
    """Made-up runs of the soft wall."""
    labels, ladder = list(common.PRINTED), [0.5, 0.05]
    present = np.array([label in common.PRESENT for label in labels])
    n = len(labels)
    return xr.Dataset(
        {
            "energy_ratio": (("shown", "time"), 1.0 + ours * np.sin(np.arange(100.0)) * np.ones((n, 1))),
            "steps_kept": (("method", "start"), [[40_000.0, 100.0 if label in lost else 40_000.0] for label in labels]),
            "half_range": (("method", "start"), np.where(present, ours, 0.03)[:, None] * np.ones(2)),
            "outcome": ("method", ["completed"] * n),
            "peak_frequency": ("method", [1.0, 1.0, 1.0, 0.2, 0.3, 0.2, 0.3]),
            "peak_share": ("method", [0.1, 0.1, 0.1, 0.5, 0.3, 0.5, 0.3]),
            "wander": ("method", np.where(present, 0.01, wander)),
            "rotation_median_deg": ("method", [33.0] * n),
            "rotation_max_deg": ("method", [40.0] * n),
            "share_over_30_deg": ("method", [0.8] * n),
            "physical_largest_error": (("method", "physical_step"), np.ones((n, 2))),
            "physical_steps_done": (("method", "physical_step"), np.ones((n, 2))),
            "physical_outcome": (("method", "physical_step"), [["StepTooLarge in step 3", "completed"]] * n),
        },
        {"method": labels, "shown": labels, "start": [0, 1], "time": np.arange(100.0), "physical_step": ladder},
    )


def test_the_soft_wall_is_judged():
    assert verdict_of(fig04, "30 degrees", wall()) == HOLDS
    assert verdict_of(fig04, "30 degrees", wall().assign(rotation_median_deg=("method", [20.0] * 7))) == FAILS
    assert verdict_of(fig04, "exactly", wall(ours=0.0)) == FAILS
    assert verdict_of(fig04, "blow up", wall()) == HOLDS
    assert verdict_of(fig04, "blow up", wall(lost=["SWC1"])) == FAILS
    assert verdict_of(fig04, "irregular", wall()) == HOLDS
    assert verdict_of(fig04, "irregular", wall(wander=0.02)) == FAILS
    assert verdict_of(fig04, "repelling wall", wall()) == FAILS
    assert verdict_of(fig05, "1/5", wall()) == HOLDS
    assert verdict_of(fig05, "1/5", wall(ours=0.006)) == HOLDS
    assert verdict_of(fig05, "1/5", wall(ours=0.003)) == PARTLY
    assert verdict_of(fig05, "1/5", wall(ours=0.012)) == PARTLY
    assert verdict_of(fig05, "1/5", wall(ours=0.05)) == FAILS
    assert verdict_of(fig05, "clean", wall(lost=["TRAP"])) == PARTLY
    assert verdict_of(fig05, "Trapezoids", wall()) == PARTLY
    higher = xr.DataArray([1.3, 1.0, 1.3, 1.0], {"method": list(common.PRESENT)}, "method")
    for factor, verdict in ((1.0, HOLDS), (2.0, PARTLY), (0.5, PARTLY)):
        data = wall()
        data.half_range.loc[{"method": list(common.PRESENT)}] *= xr.where(higher > 1.0, factor * higher, 1.0)
        assert verdict_of(fig05, "Trapezoids", data) == verdict
    for name in ("peak_frequency", "peak_share"):
        data[name] = wall()[name] * 0.0 + 1.0
    assert [bool(part) for part in fig05.trapezoids(data).parts.values()] == [False, False, False, True]
    assert verdict_of(fig05, "superior", wall(ours=0.05, wander=0.001)) == FAILS


def test_falling_into_the_well_is_seen():
    steady = 1.0 + 0.01 * np.sin(np.arange(1000.0))
    assert common.kept(steady) == 999
    steady[400] = 1.5
    assert common.kept(steady) == 400
    steady[300] = np.nan
    assert common.kept(steady) == 300
    assert common.half_range(np.array([0.9, 1.1])) == pytest.approx(0.1)
    tone = np.sin(2 * np.pi * 0.2 * 0.5 * np.arange(4096))
    frequency, share = common.peak(tone + 0.5 * np.sin(2 * np.pi * 0.6 * 0.5 * np.arange(4096)), 0.5)
    assert frequency == pytest.approx(0.2, rel=2e-3) and share == pytest.approx(0.8, abs=1e-3)


@each("label", common.ALL)
def test_a_spoiled_step_does_not_satisfy_the_printed_equations(label):
    from polhode.checks import stepper
    from polhode.runs.initial_state import start_state

    y = start_state(claims.TORQUED, **claims.START)
    end = stepper(common.ALL[label], claims.TORQUED, y)(y, 0.0, claims.H)
    assert claims.printed_residual(label, claims.H, y, end) < claims.EXACT
    spoiled = end.copy()
    spoiled[-1] += 1e-9
    assert claims.printed_residual(label, claims.H, y, spoiled) > 1e-10


@each("label", claims.VECTOR_STEPS)
def test_a_spoiled_step_is_neither_of_the_rules_of_section_2(label):
    """Momenta and displacements solved here by sweeps."""
    masses, h, late = np.array(claims.MASSES)[:, None], claims.H, 1.0 if label == "TRAP" else 0.5
    u, v = (np.array(claims.START_OF_PARTICLES[name]) for name in ("position", "velocity"))
    p = masses * v

    def force(x):
        apart = x[1] - x[0]
        return np.array([1, -1])[:, None] * masses.prod() * apart / np.linalg.norm(apart) ** 3

    new = p
    for _ in range(200):
        moved = u + late * h * (p + new) / 2 / masses
        new = p + h * ((force(u) + force(moved)) / 2 if label == "TRAP" else force(moved))
    share = 0.5 if label == "IMID as printed" else 1.0
    moved = u + share * h * (p + new) / 2 / masses
    if label == "IMID as printed":  # its printed force is that of the middle between the ends
        for _ in range(200):
            new = p + h * force((u + moved) / 2)
            moved = u + h / 2 * (p + h / 2 * force((u + moved) / 2)) / masses
    states = [np.concatenate([x, y, np.zeros((2, 7))], axis=1).ravel() for x, y in ((u, p), (moved, new))]
    assert claims.vector_residual(label, h, *states) < claims.EXACT
    for spoiled in (3, 0):
        states[1][spoiled] += 1e-9
        assert claims.vector_residual(label, h, *states) > 1e-10


def rows_of_claims(**changes):
    """Made-up one-step measurements of ``claims``, everything as claimed but for the changes."""
    labels = list(common.ALL)
    values = {
        "defect_torqued": ("identity", [1e-6 if name == "SWC1 = BBTRAP" else 1e-16 for name in claims.IDENTITIES]),
        "vector_defect": ("vector_identity", np.full(len(claims.VECTOR_IDENTITIES), 1e-16)),
        "vector_residual": ("vector_step", [1e-16, 0.1, 1e-16]),
        "series_misfit": (("series_of", "series_order"), [[1e-9, 0.06], [1e-9, 1e-8]]),
        "order": ("method", np.full(len(labels), 2.0)),
        "drift_free": (("method", "quantity"), np.full((len(labels), 1), 1e-15)),
    }
    coordinates = {
        "identity": list(claims.IDENTITIES), "vector_identity": list(claims.VECTOR_IDENTITIES), "method": labels,
        "vector_step": list(claims.VECTOR_STEPS), "series_of": ["TRAPM", "trapezoid"], "series_order": [3, 4],
        "quantity": ["energy"],
    }  # fmt: skip
    data = xr.Dataset(values, coordinates)
    data.drift_free.loc[{"method": "BBTRAPWD"}] = 1e-4
    for name, (where, value) in changes.items():
        data[name].loc[where] = value
    return data


def test_the_claims_without_a_figure_are_judged():
    identity = {"vector_identity": "BE(-h) after FE(h)"}
    assert verdict_of(claims, "On a vector space", rows_of_claims()) == HOLDS
    assert verdict_of(claims, "On a vector space", rows_of_claims(vector_defect=(identity, 1e-9))) == PARTLY
    assert verdict_of(claims, "is (5)", rows_of_claims()) == MISPRINT
    assert verdict_of(claims, "is (5)", rows_of_claims(vector_residual=({}, 1e-16))) == HOLDS
    assert (
        verdict_of(claims, "is (5)", rows_of_claims(vector_residual=({}, 0.1)))
        == f"{FAILS} as printed; {FAILS} corrected"
    )
    assert verdict_of(claims, "does not seem", rows_of_claims()) == HOLDS
    assert verdict_of(claims, "does not seem", rows_of_claims(series_misfit=({"series_of": "TRAPM"}, 1e-8))) == PARTLY
    assert verdict_of(claims, "Truncating", rows_of_claims()) == HOLDS
    for order in (1.0, 3.0):
        assert verdict_of(claims, "Truncating", rows_of_claims(order=({"method": "BBTRAP"}, order))) == PARTLY


def test_lines_on_each_other_are_drawn_in_turns():
    from polhode_papers import drawing

    x = np.array([1.0, 4.0, 16.0])
    assert drawing.coincident([x, 2 * x, 1.05 * x, 2 * x, np.nan * x]) == [(0, 2), (0, 2), (1, 2), (1, 2), (0, 1)]
    first, second = drawing.turns(0, 2), drawing.turns(1, 2)
    assert first["markevery"] == (0, 2) and second["markevery"] == (1, 2)
    assert first["linestyle"][0] != second["linestyle"][0] and first["linestyle"][1] == second["linestyle"][1]
    assert drawing.turns(0, 1) == {}


def test_only_a_map_with_a_tableau_is_fitted():
    from polhode_papers.krysl2006 import tableaux

    half = tableaux.munthe_kaas(np.array([[0.5]]), np.array([1.0]))
    assert tableaux.misfit(3, half) < 1e-6 and tableaux.misfit(3, tableaux.trapm) < 1e-6
    assert tableaux.misfit(3, lambda j, Pi, h: half(j, Pi, h) + h**3 * np.cross(Pi, j * Pi)) > 1e-2


# ------------------------------------------------------------------ names and the command
def test_names():
    for word in ("fig1", "fig01", "figure1", "FIG1"):
        assert STUDY.figure(word) is fig01.FIGURE
    assert STUDY.figure("claims") is claims.FIGURE
    with pytest.raises(InvalidInput, match="did you mean 'fig0"):
        STUDY.figure("fig0")
    with pytest.raises(InvalidInput, match="did you mean 'krysl2006'"):
        studies.study("krysl2007")


def made_up():
    """A study without integration."""
    data = xr.Dataset({"x": ("n", [1.0, np.nan])}, {"n": [0, 1]}, {"remark": "made up"})
    one, two = (lambda d, n=n: {"one": criteria.within(d.x[0], n - 0.1, n + 0.1)} for n in (1, 2))
    good = Claim("one is one", "1", lambda d: Finding(one(d), {"x": {"first": 1.0}, "n": 2}))
    bad = Claim("one is two", "2", lambda d: Finding(two(d), {"x": float("nan")}))
    figure = Figure("fig01", "made up", lambda quick, report_progress: data, lambda d: {}, (good, bad))
    return studies.Study("made2026", "Made up", (figure,))


def test_report_of_a_made_up_study(tmp_path):
    study = made_up()
    results, written = report.reproduce(study, tmp_path / "deep" / "folder")
    assert [v.verdict for v in results[0].verdicts] == [HOLDS, FAILS]
    assert "1 hold, 0 hold partly, 1 fail" in written.read_text()
    assert "remark: made up" in written.read_text()
    facts = report.as_json(study, results, False, written)
    assert json.loads(json.dumps(facts, allow_nan=False))["figures"]["fig01"]["claims"][1]["numbers"] == {"x": None}
    assert "fails" in report.plain(results[0])
    drawn, _ = report.reproduce(study, tmp_path / "pictures", tables=False)
    assert results[0].tables and not drawn[0].tables and not list((tmp_path / "pictures").glob("*.csv"))
    single, other = report.reproduce(study, tmp_path, study.figures)
    assert other.name == "fig01.md" and len(single) == 1


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileProblem, match="choose another folder"):
        report.reproduce(made_up(), tmp_path / "file")


def run_command(monkeypatch, *arguments):
    monkeypatch.setattr(studies, "study", lambda name: made_up())
    return CliRunner().invoke(command, arguments)


def test_command(monkeypatch, tmp_path):
    shown = run_command(monkeypatch, "made2026", "-o", str(tmp_path))
    assert shown.exit_code == 0
    assert "fails         [2] one is two" in shown.stdout
    assert "1 of 1: fig01 done" in shown.stderr
    facts = run_command(monkeypatch, "made2026/fig1", "-o", str(tmp_path), "--json", "--quiet")
    assert facts.stderr == ""
    assert json.loads(facts.stdout)["figures"]["fig01"]["claims"][0]["verdict"] == HOLDS


def test_command_names():
    wrong = CliRunner().invoke(command, ["krysl2005"])
    assert isinstance(wrong.exception, InvalidInput) and wrong.exception.exit_code == 3
    wrong = CliRunner().invoke(command, ["krysl2006/figg1"])
    assert isinstance(wrong.exception, InvalidInput) and "did you mean" in str(wrong.exception)
    listed = CliRunner().invoke(command, [])
    assert listed.exit_code == 0 and "krysl2006 " in listed.output
