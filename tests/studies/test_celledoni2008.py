"""The study of Celledoni, Fasso, Safstrom and Zanna 2008: its quick form, its judges on made-up data, its tools."""

from __future__ import annotations

import csv

import matplotlib
import mpmath
import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from tests.support.study_parts import check_parts, quick_form

import polhode as ph
import polhode_papers as studies
from cover import some
from each import each
from free_motion import moved
from mutants import claim_of, flips, order_off, put, scaled
from polhode.errors import InvalidInput, NotFinite
from polhode.plots import style
from polhode_papers import report
from polhode_papers.celledoni2008 import (
    averages,
    changing_chart,
    charts,
    claims,
    common,
    conditions,
    exact_forms,
    fig3_3,
    fig3_6,
    fig3_7,
    fig3_8,
    fig3_9,
    fig3_10,
    formulas,
    growth,
    perturbed,
    regions,
    rotating,
    spheres,
    theta,
)
from polhode_papers.study import FAILS, HOLDS, MISPRINT, PARTLY, UNDECIDED

STUDY = studies.study("celledoni2008")
FIGURES = ["fig3_1", "fig3_3", "fig3_4", "fig3_5", "fig3_6", "fig3_7", "fig3_8", "fig3_9", "fig3_10", "rotating",
           "growth", "formulas", "exact_forms", "changing_chart", "claims"]  # fmt: skip


# ------------------------------------------------------------------ the quick form, once
@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    results, _, written = quick_form(STUDY, tmp_path_factory)
    return results, written


def verdict_of(results, figure, words):
    (found,) = [v for v in results[figure].verdicts if words in v.claim.text]
    return found


def test_all_files_are_there(quick):
    results, written = quick
    assert list(results) == FIGURES
    for name, result in results.items():
        assert result.pictures and result.tables
        for path in result.pictures:
            assert path.read_bytes().startswith(b"\x89PNG")
        with (written.parent / f"{name}.csv").open() as lines:
            header, *rows = csv.reader(lines)
        assert len(rows) >= 9 and all(len(row) == len(header) for row in rows)


def test_verdicts(quick):
    check_parts(STUDY, quick[0].values())


@pytest.mark.full
def test_verdicts_of_the_full_form(tmp_path):
    results, _ = report.reproduce(STUDY, tmp_path)
    check_parts(STUDY, results, quick=False)


def test_titles_of_maps_cover_nothing():
    """Not the long ones of the half turns either: none leaves the picture or lies on a panel or the colour bar."""
    points = common.triangle(4, 2)
    labels = [common.MATRIX_FORM[2], common.REDUCED[2]]
    data = xr.DataArray(
        np.zeros((2, 1, len(points))), dims=("flow", "step", "point"),
        coords={"flow": labels, "step": [0.4], "x": ("point", points[:, 0]), "y": ("point", points[:, 1])},
    )  # fmt: skip
    with matplotlib.rc_context(style.RC):
        picture = common.map_picture(data, [[(label, 0.4) for label in labels]] * 3, (-1.0, 1.0), "error")
        canvas = FigureCanvasAgg(picture)
        canvas.draw()
    for ax in picture.axes[:-1]:
        words = ax._left_title.get_window_extent(canvas.get_renderer())
        assert words.width > 0 and words.x1 <= picture.bbox.x1 and words.y1 <= picture.bbox.y1, ax.get_title("left")
        assert not any(words.overlaps(other.get_window_extent()) for other in picture.axes), ax.get_title("left")


def test_steps_are_labelled():
    for ax in claims.orders_picture(kept_things()).axes:
        low, high = ax.get_xlim()
        assert len([x for x in ax.get_xticks() if low <= x <= high]) >= 3, ax.get_title("left")


def test_rotations_that_cost_the_same_are_told_apart():
    for ax in growth.draw(costs(mr=100.0))["growth"].axes:
        lines = {line.get_label(): line for line in ax.get_lines()}
        looks = {(x.get_color(), x.get_linestyle(), x.get_marker()) for x in lines.values()}
        assert len(looks) == len(lines)
        for words in ("rotation, {}", "{}, all pairs", "{}, lists"):
            if words.format("mr") in lines:
                exact, mr = (lines[words.format(name)] for name in ("exact", "mr"))
                assert mr.get_markersize() > exact.get_markersize() and mr.get_markerfacecolor() == "none"


# Values measured by an independent program.
def test_the_satellite_has_the_known_energy_errors(quick):
    results, _ = quick
    assert float(results["fig3_6"].remarks["H0"]) == pytest.approx(12159566.4, rel=1e-12)
    exact = verdict_of(results, "fig3_6", "of the order").numbers["largest relative energy error"]
    assert exact == pytest.approx({"h = 0.1": 1.15e-7, "h = 0.05": 4.6e-10}, rel=0.05)
    others = verdict_of(results, "fig3_7", "very accurate").numbers
    for name, known in {
        fig3_7.PLAIN: {"h = 0.1": 1.3e-3, "h = 0.05": 8.6e-5},
        fig3_7.BOOSTED: {"h = 0.1": 5.4e-3, "h = 0.05": 1.8e-5},
        fig3_7.VERLET: {"h = 0.1": 1.5, "h = 0.05": 6.1e-3},
    }.items():
        assert others[f"{name}, largest energy error"] == pytest.approx(known, rel=0.05)


def test_orders_and_the_misprint(quick):
    found = verdict_of(quick[0], "claims", "printed coefficients").numbers["observed order, heavy top"]
    assert found[claims.MISPRINT] == pytest.approx(2.0, abs=0.1)
    assert found["S4_6"] == pytest.approx(4.0, abs=0.1)
    scheme = claims.misprinted()
    assert [letter for letter, *_ in scheme.stages] == list("ABABABABABABA")
    assert scheme.stages == scheme.stages[::-1]


@each("name", [name for name, (_, _, wrong) in formulas.FORMULAS.items() if wrong])
def test_misprints_of_section_2_and_their_corrections(name):
    error, case, _ = formulas.FORMULAS[name]
    for x in formulas.motions(5, case == "i"):
        assert error(x, False) < 1e-11
    assert max(error(x, True) for x in formulas.motions(5, case == "i")) > 0.05


def test_kosenko_alone_needs_the_projection(quick):
    gained = verdict_of(quick[0], "fig3_1", "Projection").parts["digits gained"].measured
    assert 0.3 < gained < 3.0


def rows_of(quick, name):
    with (quick[1].parent / f"{name}.csv").open() as lines:
        return list(csv.DictReader(lines))


def test_energy_errors_of_100_spheres(quick):
    known = {
        "V2": (5.6e-5, 3.5e-6, 2.2e-7, 1.4e-8), "S4_6": (2.9e-7, 1.9e-9, 8.8e-12), "RKN4_6b": (3.6e-8, 1.0e-10),
        "S6_10": (3.9e-8, 2.4e-11), "RKN6_14a": (7.9e-9, 1.3e-12),
    }  # fmt: skip
    found = {
        (row["scheme"], int(row["wanted"])): float(row["energy_error"])
        for row in rows_of(quick, "fig3_8")
        if row["flow"] == spheres.EXACT
    }
    for scheme, errors in known.items():
        for wanted, error in zip((10, 40, 160, 640), errors, strict=False):
            assert found[scheme, wanted] == pytest.approx(error, rel=0.2), (scheme, wanted)
    assert float(quick[0]["fig3_8"].remarks["H0"]) == pytest.approx(0.144083942012, rel=1e-11)
    energies = verdict_of(quick[0], "fig3_8", "has the energy").numbers
    assert energies["median |H0|"] == pytest.approx(1.1e-3, rel=0.25)
    assert 0.001 < energies["share of |H0| > 0.1"] < 0.02


def test_known_losses_on_the_printed_lattice(quick):
    """From rest S6_10 is lost with the steps 1, 1/2, 1/4 and off by some 5 with 1/8; fast bodies are always lost."""
    found = verdict_of(quick[0], "fig3_9", "On the lattice").numbers
    assert found["part lost at 10, 20, 40, 80 evaluations, from rest"]["S6_10"] == "1, 1, 1, 0"
    words = found["mean error at 10, 20, 40, 80 evaluations, from rest"]["S6_10"].split(", ")
    assert float(words[-1]) == pytest.approx(5.5, rel=0.2)
    assert set(found["part lost at 10, 20, 40, 80 evaluations, H0 = 2000"].values()) == {"1, 1, 1, 1"}


# ------------------------------------------------------------------ soft dipolar spheres
def test_initial_states_of_spheres():
    crystal = spheres.lattice_draw(2.0, 7)
    off = crystal["position"] / 2.0 - np.round(crystal["position"] / 2.0)
    assert off.std() == pytest.approx(0.01, rel=0.1) and "angular_momentum" not in crystal
    corners = np.round(crystal["position"][[0, 1, -1]] / 2.0)
    assert corners.tolist() == [[1, 1, 1], [1, 1, 2], [5, 5, 5]]
    hot = spheres.lattice_draw(2.0, 7, True)
    squares = (hot["angular_momentum"] ** 2 / spheres.INERTIA).mean(axis=0)
    assert squares == pytest.approx((1.0, 1.0, 1.0), rel=0.5)
    assert (hot["position"] == crystal["position"]).all()


def test_the_energy_is_raised_by_the_corner_bodies():
    system = spheres.spheres()
    state = spheres.lattice_draw(3.0, 1)
    rest, low = spheres.raised(system, state)
    start, H = spheres.raised(system, state, 10.0)
    assert abs(H - 10.0) < 1e-12 and low < 4.0
    assert rest == state and start == state | {"momentum": start["momentum"]}
    p = start["momentum"]
    assert np.flatnonzero(p.any(axis=1)).tolist() == [0, 124] and (p[0] == -p[124]).all() and (p[0] > 0.0).all()
    with pytest.raises(ValueError, match="already"):
        spheres.raised(system, state, low - 1.0)
    ds = ph.integrate(system, "v2_dkd", step=0.1, steps=1, **start)
    assert float(ds.energy[0]) == pytest.approx(10.0, rel=1e-13)


def test_outcomes_are_those_of_integrate(monkeypatch):
    """Errors of a run, and which runs are lost: those that integrate refuses, and those off by too much for a body."""
    system, state = spheres.spheres(), spheres.lattice_draw(1.0, 0)

    def error(n, start=state):
        return spheres.error_of(system, "v2_dkd", start, n, 1.0)

    found = error(80)
    ds = ph.integrate(system, "v2_dkd", step=1 / 80, steps=80, **state)
    assert found == pytest.approx(float(np.abs(ds.energy - ds.energy[0]).max()), rel=1e-12)
    assert error(10) == np.inf
    with pytest.raises(NotFinite, match="blew up"):
        ph.integrate(system, "v2_dkd", step=0.1, steps=10, **state)
    apart, _ = spheres.raised(system, spheres.lattice_draw(2.0, 0), 15.0)
    off = [error(n, apart) for n in (20, 40, 80)]
    assert max(off[1:]) < 125.0 and off[2] < off[1]
    for limit, lost in ((0.99, True), (1.01, False)):
        monkeypatch.setattr(spheres, "LOST", limit * found / system.N)
        assert (error(80) == np.inf) == lost


def test_methods_of_spheres():
    assert spheres.method_of("V2", spheres.EXACT) == "v2_dkd"
    assert spheres.method_of("V2", spheres.BOOSTED) == spheres.method_of("V2", spheres.MR) == "v2_dkd/mr"
    assert spheres.method_of("S6_10", spheres.BOOSTED) == "s6_10/mr6"
    assert len(spheres.pairs_of()) == 14
    assert [spheres.steps_of("RKN6_14a", n, 1.0) for n in (10, 40, 640)] == [1, 3, 46]


def test_items_keep_their_order():
    lines = []
    assert list(spheres.each(lambda x: x * x, range(5), lines.append)) == [0, 1, 4, 9, 16]
    assert lines == ["40 %", "60 %", "80 %", "100 %"]


# ------------------------------------------------------------------ many free rotations
def some_bodies(count=40):
    random = np.random.default_rng(3)
    return common.Bodies(common.any_moments(random, count), common.random_momenta(random, count))


@each("label", [common.OURS, "dmv10", "dmv6, Newton", "semiexact6"])
def test_results_depend_neither_on_threads_nor_on_slices(label):
    flow, bodies = common.FLOWS[label], some_bodies()
    one = common.turned(flow, 25, 0.4, bodies, threads=1, size=1000)
    for threads, size in ((1, 7), (3, 7), (4, 1)):
        other = common.turned(flow, 25, 0.4, bodies, threads=threads, size=size)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(other, one, strict=True))


def test_progress_is_told():
    lines = []
    common.turned(common.FLOWS[common.OURS], 1, 0.4, some_bodies(30), lines.append, size=10)
    assert lines == ["33 %", "66 %", "100 %"]


def matrix_of(q):
    w, x, y, z = q
    return np.array([[w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z]])  # fmt: skip


@each(
    "moments, m",
    some([
        ((0.4, 0.7, 1.0), (0.6, 0.1, 0.8)), ((1.0, 0.3, 0.9), (0.48, 0.6, -0.64)), ((0.7, 0.9, 0.25), (0.3, -0.8, 0.5)),
        ((0.98, 1.0, 0.03), (-0.6, 0.7, 0.08)),
    ], 2),
)  # fmt: skip
def test_the_reference_is_the_motion(moments, m):
    """Theta functions in long doubles against Taylor series in 40 digits, axes in any order, both ways round."""
    with mpmath.workdps(40):
        exact = np.array([mpmath.mpf(x) for x in moments]), np.array([mpmath.mpf(x) for x in m])
        momentum, q = moved(*exact, mpmath.mpf("0.75"), order=30, angle=0.3)
        Q = matrix_of(q)
        found, end = theta.free_rotation([moments], [m], 0.75)
        size = 30.0 * theta.EPS / min(moments)
        assert max(abs(float(mpmath.mpf(str(x)) - y)) for x, y in zip(found[0].ravel(), Q.ravel(), strict=True)) < size
        assert max(abs(float(mpmath.mpf(str(x)) - y)) for x, y in zip(end[0], momentum, strict=True)) < size
    series = exact_forms.taylor(np.array([moments]), np.array([m]), 0.5)
    assert np.abs(series - theta.free_rotation([moments], [m], 0.5)[0]).max() < size


def in_doubles(monkeypatch):
    """As on a machine whose long doubles are doubles."""
    monkeypatch.setattr(theta, "Real", np.float64)
    monkeypatch.setattr(theta, "PI", np.float64(np.pi))
    monkeypatch.setattr(exact_forms, "Real", np.float64)


def test_the_reference_without_long_doubles(monkeypatch):
    """It is still the motion, with fewer digits."""
    bodies = some_bodies(20)
    moments, momenta = bodies
    wide = theta.free_rotation(moments, momenta, 1.0)[0]
    in_doubles(monkeypatch)
    plain = theta.free_rotation(moments, momenta, 1.0)[0]
    assert plain.dtype == np.float64
    assert np.median(np.abs(plain - wide)) < 1e-14 and np.abs(plain - wide).max() < 1e-10
    moments, momenta = exact_forms.KINDS["ordinary"](np.random.default_rng(1), 10)
    assert max(exact_forms.attitude_errors(moments, momenta)[common.MATRIX]) < 1e-13


ROUND_OFF_JUDGES = {
    "fig3_1": ("accumulate more", "A single step", "Projection", "very comparable"),
    "fig3_3": ("very similarly", "uniform accuracy", "round-off accumulates"),
    "exact_forms": ("theta functions",), "claims": ("Gauss quadrature",),
}  # fmt: skip


def test_without_long_doubles_round_off_is_not_judged(quick):
    for name, claims_ in ROUND_OFF_JUDGES.items():
        data = quick[0][name].data
        assert data.attrs[theta.REMARK] == theta.DIGITS
        for words in claims_:
            judge = claim_of(STUDY.figure(name), words).judge
            found = judge(data.assign_attrs({theta.REMARK: 53}))
            assert found.verdict == UNDECIDED and "53 binary digits" in found.numbers["not decided"], words
            assert judge(data.assign_attrs({theta.REMARK: 64})).verdict in (HOLDS, PARTLY)


def test_the_reference_is_none_of_the_flows(monkeypatch):
    """It does not move when the exact rotation of the library does."""
    bodies = some_bodies(3)
    before = common.reference(bodies)
    monkeypatch.setitem(common.FLOWS, common.OURS, common.FLOWS["dmv6"])
    assert np.array_equal(common.reference(bodies), before)


def test_half_turns_as_printed():
    """A thin body in the corner of figure 3.4: the rule over the whole step is the less accurate one."""
    bodies = common.Bodies(np.array([[0.05, 0.96, 1.0]] * 3), common.random_momenta(np.random.default_rng(1), 3))
    truth = common.reference(bodies)
    flows = common.FLOWS | common.HALF_TURNS
    errors = {label: common.log_errors(common.turned(flows[label], 25, 0.4, bodies), truth).mean()
              for label in (common.MATRIX_FORM[0], common.REDUCED[0])}  # fmt: skip
    assert errors[common.REDUCED[0]] < errors[common.MATRIX_FORM[0]] - 0.5


# ------------------------------------------------------------------ order conditions
def test_order_conditions_of_known_schemes():
    strang = [("A", 0.5), ("B", 1.0), ("A", 0.5)]
    left = [conditions.residual(x) for x in conditions.errors(strang, 3, False)[1:]]
    assert max(left[:2]) < 1e-18 and left[2] > 0.01
    # exp(A/2) exp(B) exp(A/2): -[A,[A,B]]/24 - [B,[A,B]]/12, in right-nested commutators
    words, _ = conditions.basis(3, False)
    found = dict(zip(words, conditions.coordinates(conditions.errors(strang, 3, False)[3], 3, False), strict=True))
    assert found == pytest.approx({"AAB": -1 / 24, "BAB": -1 / 12}, abs=1e-15)
    assert conditions.effective_error(strang, 2, 1, False) == pytest.approx((5**0.5 / 24) ** 0.5, rel=1e-12)
    for degree, dimensions in ((5, (6, 4)), (6, (9, 5)), (7, (18, 10))):  # of the free Lie algebra, and the quotient
        assert tuple(len(conditions.basis(degree, nystrom)[0]) for nystrom in (False, True)) == dimensions
    with pytest.raises(ValueError, match="no element"):
        conditions.coordinates({"AAB": 1.0}, 3, False)


def test_effective_errors_in_the_basis_of_nested_commutators():
    found = {
        name: conditions.effective_error(
            claims.stages_of(name), claims.SCHEMES[name], claims.STAGES[name], name in claims.NYSTROM
        )
        for name in claims.EFFECTIVE
    }
    assert found == pytest.approx({"S6_10": 1.1181, "S4_6": 0.5593, "RKN4_6b": 0.2911, "RKN6_14a": 0.6282}, abs=1e-4)


# ------------------------------------------------------------------ exact forms
def reach(error=1e-15, integral=1e-15):
    kinds, forms = list(exact_forms.KINDS), list(exact_forms.FORMS)
    return xr.Dataset(
        {"error": (("form", "kind", "body"), np.full((len(forms), len(kinds), 3), error)),
         "integral_error": (("kind", "body"), np.full((len(kinds), 3), integral))},
        {"form": forms, "kind": kinds},
    )  # fmt: skip


def test_the_reach_of_exact_forms_is_judged():
    good = reach(1e-16)
    for judge in (exact_forms.carlson, exact_forms.uniformly, exact_forms.by_theta):
        assert judge(good).verdict == HOLDS, judge
    assert exact_forms.carlson(put(good, "integral_error", 1e-12, kind="rods")).verdict == PARTLY
    assert exact_forms.uniformly(put(good, "error", 1e-11, kind="rods", form=common.MATRIX)).verdict == PARTLY
    assert exact_forms.by_theta(put(good, "error", 1e-15, kind="ordinary", form=exact_forms.THETA)).verdict == PARTLY


@each("kind", exact_forms.KINDS)
def test_bodies_of_special_shapes_are_bodies(kind):
    moments, m = exact_forms.KINDS[kind](np.random.default_rng(0), 50)
    assert (moments > 0).all() and np.linalg.norm(m, axis=1) == pytest.approx(np.ones(50))
    a, b, c = np.sort(moments, axis=1).T
    assert (a + b >= c * (1 - 1e-12)).all()


def test_dmv_as_printed_accepts_what_ours_refuses():
    """Along a principal axis beyond a quarter turn the printed iteration converges to the wrong rotation."""
    bodies = common.Bodies(np.array([[0.2, 0.9, 1.0]]), np.array([[1.0, 0.0, 0.0]]))  # 5 rad in a unit of time
    truth = common.turned(common.FLOWS[common.OURS], 1, 0.4, bodies)
    printed = common.turned(common.FLOWS["dmv10"], 1, 0.4, bodies)
    refused = common.turned(common.FLOWS["dmv10, Newton"], 1, 0.4, bodies)
    assert not refused.good and refused.attitude.tolist() == [[1.0, 0.0, 0.0, 0.0]]
    assert not np.allclose(printed.attitude, truth.attitude, atol=1e-3)


def test_errors_are_those_of_the_rotation_matrix():
    a, q = 1e-4, np.array([(1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), (-0.5, 0.5, -0.5, 0.5)])
    truth = ph.rotation.matrix_from_quaternion(
        [(1, 0, 0, 0), (np.cos(a / 2), 0, 0, np.sin(a / 2)), (0.5, -0.5, 0.5, -0.5)]
    )
    found = common.log_errors(common.Ends(q, np.zeros((3, 3)), np.array([False, True, True])), truth)
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(np.log10(np.sin(a) + 1.0 - np.cos(a)), abs=1e-9)
    assert found[2] == pytest.approx(np.log10(common.ROUND_OFF))


def test_draws():
    random = np.random.default_rng(0)
    physical, anything = common.physical_moments(random, 2000), common.any_moments(random, 2000)
    for moments in (physical, anything):
        assert (np.diff(moments, axis=1) >= 0.0).all() and (moments[:, 2] == 1.0).all() and (moments > 0.0).all()
    assert (physical[:, 0] + physical[:, 1] >= 1.0).all()
    assert 0.4 < (anything[:, 0] + anything[:, 1] < 1.0).mean() < 0.6
    momenta = common.random_momenta(random, 500)
    assert (momenta >= 0.0).all() and np.abs(np.linalg.norm(momenta, axis=1) - 1.0).max() < 1e-15
    for moments, momentum in perturbed.perturbed_bodies(1, 20):
        assert moments[0] == 1.0
        assert (np.array(momentum) ** 2 / moments).sum() / 2.0 == pytest.approx(1.0, rel=1e-14)
    assert perturbed.perturbed_bodies(1, 2)[1][1] != perturbed.perturbed_bodies(2, 2)[1][1]


@each("columns, rows, count", [(100, 50, 2450), (4, 2, 2), (20, 10, 90)])
def test_the_grid_is_inside_the_triangle(columns, rows, count):
    points = common.triangle(columns, rows)
    x, y = points.T
    assert len(points) == count == len(np.unique(points, axis=0))
    assert ((1.0 - y < x - 1e-12) & (x < y - 1e-12) & (y < 1.0)).all()


def test_energy_is_that_of_the_system():
    top = ph.heavy_top((1.0, 1.5, 2.2), (0.0, 0.0, 1.0), 0.3)
    ds = ph.integrate(top, "v2", step=0.1, steps=3, angular_momentum=(0.6, 1.0, 0.5))
    states = np.zeros((4, 13))
    states[:, 6:10], states[:, 10:] = ds.attitude, ds.angular_momentum
    assert perturbed.energy(np.array((1.0, 1.5, 2.2)), 0.3, states) == pytest.approx(ds.energy.values, rel=1e-14)


def test_equal_loads_and_boosted_orders():
    assert perturbed.method_of("V2", perturbed.MR) == "v2/mr"
    assert perturbed.method_of("RKN6_14a", perturbed.MR) == "rkn6_14a/mr6"
    assert perturbed.method_of("S4_6", perturbed.EXACT) == "s4_6/exact"


# ------------------------------------------------------------------ verdicts can fail
def averaged(**changes):
    """Made-up averages over two steps: error and time of each group of flows at the large and the small step."""
    groups = {
        "exact": common.FLOWS.keys() & {common.OURS, common.MATRIX, common.QUATERNION},
        "semiexact": {*common.SEMIEXACT, *common.MATRIX_FORM}, "dmv": common.DMV, "safe": common.SAFE,
    }  # fmt: skip
    plain = {
        "error": {"exact": (-14.0, -13.0), "semiexact": (-8.0, -12.0), "dmv": (-5.0, -13.5), "safe": (-5.0, -13.5)},
        "seconds": {"exact": (3.0, 5.0), "semiexact": (1.1, 1.7), "dmv": (1.0, 1.0), "safe": (0.5, 0.5)},
        "converged": {"exact": (1, 1), "semiexact": (1, 1), "dmv": (0.7, 1), "safe": (0.7, 1)},
    }
    for key, value in changes.items():
        what, _, group = key.partition("_")
        if what in plain:
            plain[what][group] = value
    labels = list(common.FLOWS)
    table = {
        what: [next(rows[g] for g in groups if label in groups[g]) for label in labels] for what, rows in plain.items()
    }
    shares = np.broadcast_to(np.array(changes.get("shares", (0.7, 0.9)))[:, None, None], (2, 3, 4))
    return xr.Dataset(
        {
            "log_error": (("flow", "step"), table["error"]), "seconds": (("flow", "step"), table["seconds"]),
            "converged": (("flow", "step"), table["converged"]),
            "converged_of_many": (("drawn", "dmv", "share_step"), shares),
            "log_error_of_one_step": ("form", [changes.get("once", -14.5)] * 2),
            "log_error_of_products": ("projection", list(changes.get("products", (-12.0, -13.0)))),
        },
        {"flow": labels, "step": [0.4, 0.01], "drawn": list(averages.DRAWN), "dmv": list(common.DMV),
         "share_step": list(averages.SHARE_STEPS), "form": list(averages.CLOSED), "projection": list(averages.WAYS)},
    )  # fmt: skip


def test_averages_are_judged():
    good = averaged()
    assert averages.expensive(good).verdict == HOLDS
    assert averages.expensive(averaged(seconds_dmv=(9, 9))).verdict == FAILS
    assert averages.always(good).verdict == HOLDS
    assert averages.always(averaged(converged_semiexact=(0.99, 1))).verdict == FAILS
    assert averages.three_quarters(good).verdict == PARTLY
    assert averages.three_quarters(averaged(shares=(0.75, 0.8))).verdict == HOLDS
    assert averages.three_quarters(averaged(shares=(0.5, 0.95))).verdict == FAILS
    assert averages.one_third(good).verdict == HOLDS
    assert averages.one_third(averaged(seconds_semiexact=(1.8, 3.0))).verdict == PARTLY
    assert averages.one_third(averaged(seconds_semiexact=(2.9, 4.9))).verdict == FAILS
    assert averages.cheapest(good).verdict == HOLDS
    assert averages.cheapest(averaged(seconds_dmv=(9, 9))).verdict == PARTLY
    assert averages.large_steps(good).verdict == HOLDS
    assert averages.large_steps(averaged(seconds_exact=(5, 3), seconds_semiexact=(2, 1))).verdict == FAILS
    assert averages.accumulation(good).verdict == HOLDS
    assert averages.accumulation(averaged(error_exact=(-14, -14), error_semiexact=(-8, -14))).verdict == FAILS
    assert averages.one_step(good).verdict == HOLDS
    assert averages.one_step(averaged(once=-13.1)).verdict == FAILS
    assert averages.projection(good).verdict == HOLDS
    assert averages.projection(averaged(products=(-13.0, -12.9))).verdict == FAILS
    assert averages.comparable(good).verdict == HOLDS
    worse = good.copy(deep=True)
    worse.log_error.loc[{"flow": common.MATRIX}] += 1.0
    worse.seconds.loc[{"flow": common.MATRIX}] *= 2.0
    assert averages.comparable(worse).verdict == FAILS


def mapped(labels, steps, error, corner=0.0, failed=0.0):
    """Made-up maps of 200 points: ``error(label, step)`` everywhere, worse by ``corner`` in the corner."""
    points = common.triangle(30, 15)
    inside = (points[:, 0] < common.CORNER[0]) & (points[:, 1] > common.CORNER[1])
    assert 3 < inside.sum() < len(points) / 4
    values = [[error(label, h) + corner * inside for h in steps] for label in labels]
    lost = [[failed * (1.0 + inside) * label.startswith("dmv") for _ in steps] for label in labels]
    dims = ("flow", "step", "point")
    return xr.Dataset(
        {"log_error": (dims, values), "failed": (dims, lost)},
        {"flow": list(labels), "step": list(steps), "x": ("point", points[:, 0]), "y": ("point", points[:, 1])},
    )


def region(semiexact=-10.5, dmv=-5.0, small=-14.0, corner=4.0, failed=0.1, matrix=0.0, reduced=1.0):
    def error(label, h):
        if h == common.STEPS[1]:
            return small + ("dmv6" in label) + 0.5 * ("dmv8" in label)
        return (dmv if label.startswith("dmv") else semiexact + matrix * ("matrix" in label)) + 0.0

    labels = (*regions.BOTH, *common.REDUCED, *common.DMV, *common.SAFE)
    found = mapped(labels, common.STEPS, error, corner, failed)
    gained = reduced * (common.corner(found) & (found.step == common.STEPS[0]))
    mine = xr.DataArray([label in common.REDUCED for label in labels], {"flow": list(labels)}, ("flow",))
    return found.assign(log_error=(found.log_error - gained * mine).transpose("flow", "step", "point"))


def test_regions_are_judged():
    good = region()
    for judge in (regions.five_nodes, regions.same_forms, regions.worse_in_corner, regions.less_accurate,
                  regions.failures, regions.well_at_small_steps, regions.of_interest, regions.robust,
                  regions.half_turns):  # fmt: skip
        assert judge(good).verdict == HOLDS, judge
    assert regions.five_nodes(region(semiexact=-9.9)).verdict == FAILS
    assert regions.same_forms(region(matrix=-1.0)).verdict == FAILS
    assert regions.worse_in_corner(region(corner=0.5)).verdict == FAILS
    assert regions.less_accurate(region(semiexact=-4.0)).verdict == FAILS
    assert regions.failures(region(failed=0.0)).verdict == FAILS
    assert regions.well_at_small_steps(region(small=-9.0)).verdict == PARTLY
    assert regions.well_at_small_steps(region(corner=0.0)).verdict == PARTLY
    assert regions.of_interest(region(semiexact=-4.0)).verdict == PARTLY
    assert regions.half_turns(region(reduced=0.2)).verdict == PARTLY
    assert regions.robust(region(semiexact=-4.0, corner=3.0)).verdict == PARTLY


def test_the_maps_of_the_exact_methods_are_judged():
    def exact(small=-13.5, once=-14.5, gap=0.0, corner=0.0):
        level = {common.STEPS[0]: -14.3, common.STEPS[1]: small, common.T_END: once}
        labels = (*fig3_3.PRINTED, common.OURS)
        return mapped(labels, level, lambda label, h: level[h] + gap * (label == common.MATRIX), corner)

    judges = (fig3_3.similar, fig3_3.uniform, fig3_3.accumulates)
    assert [judge(exact()).verdict for judge in judges] == [HOLDS] * 3
    assert fig3_3.similar(exact(gap=1.0)).verdict == FAILS
    assert fig3_3.uniform(exact(corner=3.0)).verdict == FAILS
    assert fig3_3.accumulates(exact(small=-14.3)).verdict == PARTLY
    assert fig3_3.accumulates(exact(small=-14.3, once=-13.0)).verdict == FAILS


def weak(exact=0.1, mr=100.0, mr_follows=False, price=1.2, draws=0.5, v2_loads=1.0):
    """Made-up energy errors: ``exact`` and ``mr`` in units of epsilon (mr: of the larger one) at the largest step."""
    eps, steps = np.array(perturbed.EPSILONS), np.array((8.0, 1.0))
    names, shape = list(perturbed.SCHEMES), (2, len(perturbed.SCHEMES), 2, 2)
    error = np.empty(shape)
    error[:, :, 0] = exact * eps[:, None, None] * (steps / 8.0) ** 4
    error[:, :, 1] = mr * (eps if mr_follows else eps[:1].repeat(2))[:, None, None] * (steps / 8.0) ** 4
    seconds = np.ones(shape) / steps
    seconds[:, :, 1] *= 0.8 * np.array([price ** (order - 2) for _, order in perturbed.SCHEMES.values()])[:, None]
    loads = np.full(shape[1:], 200.0) / steps
    loads[0] *= v2_loads
    dims = ("epsilon", "scheme", "flow", "basic_step")
    return xr.Dataset(
        {
            "energy_error": (dims, error), "seconds": (dims, seconds), "evaluations": (dims[1:], loads),
            "error_over_epsilon": (("scheme", "draw"), np.full((len(names), 2), draws)),
        },
        {"epsilon": eps, "scheme": names, "flow": [perturbed.EXACT, perturbed.MR], "basic_step": steps, "draw": [0, 1]},
    )  # fmt: skip


def test_formulas_are_judged():
    table = closed_forms(1e-13)
    assert formulas.right(table, "prop. 2.1 (i)", "prop. 2.1 (ii)").verdict == HOLDS
    assert formulas.right(table, "cor. 2.3, case (i)").verdict == HOLDS
    table.error.loc[{"formula": "prop. 2.1 (ii)", "form": "printed"}] = 1e-3
    assert formulas.right(table, "prop. 2.1 (i)", "prop. 2.1 (ii)").verdict == PARTLY
    assert formulas.right(closed_forms(1e-3), "cor. 2.3, case (i)").verdict == "fails as printed; fails corrected"
    table.error.loc[{"formula": "cor. 2.3, case (i)", "form": "printed"}] = 1e-3
    assert formulas.right(table, "cor. 2.3, case (i)").verdict == MISPRINT


def closed_forms(error):
    names = list(formulas.FORMULAS)
    return xr.Dataset(
        {"error": (("formula", "form"), np.full((len(names), 2), error))},
        {"formula": names, "form": ["printed", "corrected"]},
        {"bodies": "none"},
    )


def test_perturbed_bodies_are_judged():
    good = weak()
    for judge in (perturbed.same_loads, perturbed.scales, perturbed.cost, perturbed.leading_error,
                  perturbed.below_epsilon, perturbed.of_interest):  # fmt: skip
        assert judge(good).verdict == HOLDS, judge
    assert perturbed.same_loads(weak(v2_loads=2.0)).verdict == FAILS
    assert perturbed.scales(weak(mr_follows=True)).verdict == PARTLY
    assert perturbed.cost(weak(price=0.5)).verdict == PARTLY
    assert perturbed.cost(weak(price=1.6)).verdict == PARTLY
    assert perturbed.leading_error(weak(mr=1.0)).verdict == FAILS
    assert perturbed.below_epsilon(weak(draws=1.1)).verdict == PARTLY
    assert perturbed.below_epsilon(weak(exact=2.0, mr=0.5)).verdict == FAILS
    assert perturbed.of_interest(weak(exact=0.1, mr=0.01, mr_follows=True, price=1.0)).verdict == FAILS


def test_the_satellite_is_judged():
    def orbit(first, second, exact=(1e-7, 1e-10)):
        names = [fig3_6.EXACT, fig3_7.PLAIN, fig3_7.BOOSTED, fig3_7.VERLET]
        return xr.Dataset(
            {"largest_energy_error": (("method", "step"), [(first, second)] * 4),
             "exact_energy_error": ("step", [*exact])},
            {"method": names, "step": [0.1, 0.05]}, {"H0": "12159566.4"},
        )  # fmt: skip

    assert fig3_6.digits(orbit(1e-7, 1e-10)).verdict == HOLDS
    assert fig3_6.digits(orbit(1e-7, 1e-8)).verdict == PARTLY
    assert fig3_6.start(orbit(0, 0)).verdict == HOLDS
    assert fig3_6.start(orbit(0, 0).assign_attrs(H0="12159567.0")).verdict == FAILS
    assert fig3_7.worse(orbit(1e-3, 1e-5)).verdict == HOLDS
    assert fig3_7.worse(orbit(1e-7, 1e-10)).verdict == FAILS


def kept_things():
    """Made-up measurements of the claims: everything as it should be."""
    labels, schemes = list(claims.FLOWS), list(claims.SCHEMES)
    approximate = np.array([label in claims.DMV for label in labels])
    form = np.array([label not in (*claims.EXACT, claims.MR) for label in labels]) * 1e-6
    left = np.full((len(schemes), 8), 1e-16)
    for k, order in enumerate(claims.SCHEMES.values()):
        left[k, order + 1 :] = 1e-5
    free = 4.0 / np.array(claims.FREE_STEPS)
    small, mr = claims.QUADRATURE_SPAN / np.array(claims.QUADRATURE_STEPS), 4.0 / np.array(claims.MR_STEPS)
    table = xr.Dataset(
        {
            "drift": (("flow", "quantity"), np.full((len(labels), 3), 1e-15)),
            "symplectic_defect": (("flow", "step"), np.outer(form, np.ones(3))),
            "there_and_back": ("flow", np.full(len(labels), 1e-16)),
            "momentum_error": ("flow", approximate * 1e-8),
            "poisson_defect": ("flow", np.full(len(labels), 1e-12)),
            "order": ("scheme", np.array([*claims.SCHEMES.values()], dtype=float)),
            "residual": (("scheme", "degree"), left),
            "effective_error": ("scheme", [claims.EFFECTIVE.get(name, np.nan) for name in schemes]),
            "free_error": (("rotation", "free_step"), [10.0 * free**order for order in claims.ROTATIONS.values()]),
            "quadrature_error": (("form", "points", "small_step"),
                                 [[1e-2 * (small / small[0]) ** (2 * n) for n in claims.POINTS]] * 2),
            "family_error": ("c3", np.full(len(claims.C3), 1e-16)),
            "interchanged_residual": ("scheme", [1e-5 if name in claims.NYSTROM else 1e-16 for name in schemes]),
            "interchanged_error": ("scheme", np.ones(len(schemes))),
            "interchanged_order": ("scheme", np.full(len(schemes), 4.0)),
            "hermite_error": (("form", "small_step"), [1e-2 * (small / small[0]) ** 4] * 2),
            "mr_apart": ("step", np.full(len(claims.STEPS), 1e-16)),
            "mr_error": ("mr_step", 1e-2 * mr**2),
        },
        {"flow": labels, "quantity": list(claims.QUANTITIES), "step": list(claims.STEPS), "scheme": schemes,
         "rotation": list(claims.ROTATIONS), "free_step": free, "degree": range(8), "c3": list(claims.C3),
         "form": ["matrix", "quaternion"], "points": list(claims.POINTS), "small_step": small,
         "mr_step": mr},
        {"body": "", "one step": "", "quadrature": ""},
    )  # fmt: skip
    table.drift.loc[{"flow": claims.MR, "quantity": "energy"}] = 1e-3
    return table


CLAIM_MUTANTS = {
    "exactly": lambda d: put(d, "momentum_error", 1e-8, flow="semiexact6"),
    "spatial angular": lambda d: put(d, "drift", 1e-9, flow="semiexact6", quantity="spatial_momentum"),
    "preserve energy": lambda d: put(d, "drift", 1e-9, flow="dmv6"),
    "DMV methods are time-reversible": lambda d: put(d, "there_and_back", 1e-9, flow="dmv6"),
    "semiexact methods are not symplectic": lambda d: put(d, "symplectic_defect", 1e-14, flow="semiexact6"),
    "MR is time": lambda d: put(d, "there_and_back", 1e-9, flow="MR"),
    "printed coefficients": lambda d: put(d, "residual", 1e-5, scheme="S6_10", degree=6),
    "square root": lambda d: scaled(d, "effective_error", 1.03, scheme="S6_10"),
    "interchangeable": lambda d: put(d, "interchanged_residual", 1e-5, scheme="S6_10"),
    "Hermite": lambda d: order_off(d, "hermite_error", 1, "small_step", form="matrix"),
    "MR is phi1": lambda d: order_off(d, "mr_error", 1, "mr_step"),
    "effective errors": lambda d: scaled(d, "effective_error", 1.03, scheme="S6_10"),
    "Gauss quadrature": lambda d: order_off(d, "quadrature_error", -1, "small_step", points=3, form="matrix"),
    "dmv10 have orders": lambda d: order_off(d, "free_error", 1, "free_step", rotation="dmv6"),
    "Lie-Poisson": lambda d: put(d, "poisson_defect", 1e-6, flow="dmv6"),
    "constants c0, c3": lambda d: put(d, "family_error", 1e-6, c3=0.5),
}


def test_claims_are_judged():
    data = kept_things()
    for claim in claims.FIGURE.claims:
        misprinted = "square root" in claim.text
        assert claim.judge(data).verdict == (MISPRINT if misprinted else HOLDS), claim.text
    assert len(CLAIM_MUTANTS) == len(claims.FIGURE.claims)
    for words, mutant in CLAIM_MUTANTS.items():
        assert flips(claims.FIGURE, words, data, mutant), words
    too_high = put(data, "residual", 1e-16, scheme="RKN6_14a", degree=7)
    assert claim_of(claims.FIGURE, "printed coefficients").judge(too_high).verdict == PARTLY
    misprint = put(data, "residual", 1e-3, scheme=claims.MISPRINT, degree=3)
    found = claim_of(claims.FIGURE, "printed coefficients").judge(misprint)
    assert found.verdict == "holds partly as printed; holds corrected"


def ladder(plain=3e-7, boosted=1.0, exact=None, dear=1.06, share=0.01):
    """Made-up runs of figure 3.8; plain MR adds an error of its own, ``plain`` over the square of the evaluations."""
    wanted = np.array(fig3_8.EVALUATIONS)
    size = {"V2": 1e-2, "S4_6": 1e-3, "RKN4_6b": 1e-5, "S6_10": 1e-3, "RKN6_14a": 1e-5} | (exact or {})
    error = np.zeros((5, 3, len(wanted)))
    for i, (scheme, (_, order)) in enumerate(spheres.SCHEMES.items()):
        for k, factor in enumerate((1.0, boosted, 1.0)):
            error[i, k] = factor * size[scheme] * (5.0 / wanted) ** order + 1e-13
        error[i, 2] += plain * wanted**-2.0
    counts = np.broadcast_to(wanted, error.shape)
    stages = np.array([s for s, _ in spheres.SCHEMES.values()])[:, None, None]
    dims = ("scheme", "flow", "wanted")
    return xr.Dataset(
        {
            "energy_error": (dims, error), "evaluations": (dims, counts), "steps": (dims, counts / stages),
            "seconds": (dims, counts * np.array([dear, 1.1, 1.0])[:, None]),
            "other_draws": ("statistic", [1e-3, share, 0.0]),
        },
        {"scheme": list(spheres.SCHEMES), "flow": list(spheres.FLOWS), "wanted": wanted,
         "statistic": list(fig3_8.STATISTICS)},
        {"H0": "0.14", "draws": "100"},
    )  # fmt: skip


def test_the_100_spheres_are_judged():
    good = ladder()
    for judge in (fig3_8.splitting_dominates, fig3_8.asymptotic, fig3_8.orders, fig3_8.nystroem, fig3_8.same_loads):
        assert judge(good).verdict == HOLDS, judge
    assert fig3_8.splitting_dominates(ladder(boosted=1.2)).verdict == FAILS
    assert fig3_8.asymptotic(ladder(plain=0.0)).verdict == UNDECIDED
    assert fig3_8.asymptotic(ladder(plain=1e-2)).verdict == FAILS
    assert fig3_8.nystroem(ladder(exact={"S4_6": 1e-6, "S6_10": 1e-6})).verdict == FAILS
    assert fig3_8.energy(good).verdict == PARTLY
    assert fig3_8.energy(ladder(share=0.0)).verdict == FAILS
    assert fig3_8.energy(ladder(share=0.5)).verdict == HOLDS
    assert fig3_8.cost(ladder(dear=1.01)).verdict == HOLDS
    assert fig3_8.cost(good).verdict == PARTLY
    assert fig3_8.cost(ladder(dear=2.0)).verdict == FAILS
    wrong = ladder()
    for scheme, (_, order) in spheres.SCHEMES.items():
        for by in (-1, 1, 1.91):  # an order of 7.91 is not one of 6
            wrong = ladder()
            wrong.energy_error.loc[{"scheme": scheme}] *= (wrong.wanted.values / 10.0) ** -by
            wrong.energy_error.values += 1e-13
            assert not fig3_8.orders(wrong).parts[scheme], (scheme, order + by)
    wrong = ladder()
    wrong["steps"] = good.steps**2
    assert fig3_8.orders(wrong).verdict == FAILS
    wrong["evaluations"] = wrong.evaluations * (1 + (wrong.scheme == "V2"))
    assert fig3_8.same_loads(wrong).verdict == PARTLY  # the count of S6_10 at the largest step is right


def lattices(lost=0.0, fast=0.0, plain=(1.0, 3.0), boosted=1.5, higher=1.0):
    """Made-up averages of figure 3.9: ratios at large and small steps at the lowest energy, elsewhere ``higher``."""
    settings, steps = list(fig3_9.SETTINGS), list(fig3_9.BASIC_STEPS)
    ratio = np.full((len(settings), 5, 3, 4), higher)
    ratio[:, :, 0] = 1.0
    ratio[-1, :, 1] = boosted
    ratio[-1, :, 2] = [plain[0], plain[0], plain[1], plain[1]]
    return xr.Dataset(
        {
            "over_exact": (("setting", "scheme", "flow", "basic_step"), ratio),
            "energy_error": (("setting", "scheme", "flow", "basic_step"), ratio),
            "lost": (("setting", "scheme", "flow", "basic_step"), np.full(ratio.shape, lost)),
            "lost_at_speed": (("scheme", "basic_step"), np.full((5, 4), fast)),
            "start_energy": (("setting", "of"), np.ones((len(settings), 3))),
        },
        {"setting": settings, "scheme": list(spheres.SCHEMES), "flow": list(spheres.FLOWS), "basic_step": steps},
    )


def test_lattices_are_judged():
    good = lattices()
    for judge in (fig3_9.usable, fig3_9.small_energies, fig3_9.higher_energies, fig3_9.earlier):
        assert judge(good).verdict == HOLDS, judge
    assert fig3_9.usable(lattices(lost=0.5)).verdict == PARTLY
    assert fig3_9.usable(lattices(lost=0.5, fast=1.0)).verdict == FAILS
    assert fig3_9.small_energies(lattices(boosted=1.0)).verdict == PARTLY
    assert fig3_9.small_energies(lattices(plain=(1.0, 1.0), boosted=1.0)).verdict == FAILS
    assert fig3_9.higher_energies(lattices(higher=1.2)).verdict == FAILS
    assert fig3_9.higher_energies(lattices(higher=np.nan)).verdict == UNDECIDED
    assert fig3_9.earlier(lattices(higher=3.0)).verdict == FAILS


def spans(fourth, sixth, plain=1.0):
    """Made-up errors of figure 3.10, the same in both settings."""
    error = np.array([[np.array(row), np.array(row) * plain] for row in (fourth, sixth)])
    wanted = np.array(fig3_10.EVALUATIONS[: len(fourth)])
    return xr.Dataset(
        {
            "energy_error": (("setting", "scheme", "flow", "wanted"), [error, error]),
            "steps": (("scheme", "wanted"), [10 * wanted // 6, 10 * wanted // 14]),
            "evaluations": (("scheme", "wanted"), [wanted, wanted]),
        },
        {"setting": list(fig3_10.SETTINGS), "scheme": [fig3_10.FOURTH, fig3_10.SIXTH],
         "flow": [spheres.EXACT, spheres.MR], "wanted": wanted},
    )  # fmt: skip


def test_two_schemes_are_judged():
    lost = np.nan
    good = spans([lost, 1.0, 6e-2, 4e-3, 2e-4, 1.2e-5], [lost, lost, 9e-1, 1.4e-2, 2e-4, 3e-6])
    for judge in (fig3_10.same_loads, fig3_10.too_large, fig3_10.efficiency, fig3_10.rotation):
        assert judge(good).verdict == HOLDS, judge
    assert fig3_10.crossing(good, fig3_10.CLOSE) == 2e-4
    slow = spans([1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5], [0.5, 0.1, 5e-2, 1e-2, 5e-3, 1e-3])
    assert fig3_10.too_large(slow).verdict == FAILS
    assert fig3_10.efficiency(slow).verdict == FAILS
    assert fig3_10.crossing(slow, fig3_10.CLOSE) == 0.0
    assert fig3_10.crossing(spans([1.0, 0.1], [0.5, 0.05]), fig3_10.CLOSE) == np.inf
    assert fig3_10.rotation(spans([1.0, 0.1], [0.5, 0.05], 3.0)).verdict == FAILS


def apart(boosted, plain, H0=186, widest=100.0):
    """Made-up errors of bodies that rotate, with the exact rotation 1e-6."""
    error = 1e-6 * np.array([[[1.0] * 4, [boosted] * 4, [plain] * 4]] * 5)
    wide = 1e-6 * np.array([[[1.0, 1.0, 1.0]] * 5, [[1.0, widest, widest]] * 5])
    return xr.Dataset(
        {
            "energy_error": (("scheme", "flow", "wanted"), error),
            "error_by_spacing": (("spacing", "scheme", "flow"), wide),
        },
        {
            "scheme": list(spheres.SCHEMES),
            "flow": list(spheres.FLOWS),
            "wanted": [10, 20, 40, 80],
            "spacing": [2.0, 8.0],
        },
        {"H0": str(H0)},
    )


def test_rotating_bodies_are_judged():
    assert rotating.pays(apart(3.0, 20.0)).verdict == HOLDS
    assert rotating.pays(apart(1.5, 20.0)).verdict == PARTLY
    assert rotating.pays(apart(1.5, 5.0)).verdict == FAILS
    assert rotating.only_low(apart(3.0, 20.0)).verdict == PARTLY
    assert rotating.only_low(apart(3.0, 20.0, H0=20)).verdict == HOLDS
    assert rotating.only_low(apart(3.0, 20.0, widest=1.0)).verdict == FAILS
    fine = apart(3.0, 20.0)
    assert np.isnan(rotating.gains(fine.energy_error * 1e-9, spheres.MR)).all()


def costs(power=1.0, turn=100.0, mr=80.0, lists=1.0):
    """Made-up times of growing numbers of bodies: all pairs 10 ns N^power a body, lists 2 us."""
    n = np.array([8, 125, 1000, 10000])
    potential = np.array([10.0 * n**power, np.full(4, 2000.0 * lists)])
    turns = np.array([[turn] * 4, [mr] * 4, [700.0] * 4])
    return xr.Dataset(
        {
            "step": (("way", "n"), potential + turn), "potential": (("way", "n"), potential),
            "turn": (("turn_by", "n"), turns),
            "share": (("way", "turn_by", "n"), turns / (potential[:, None] + turns)),
        },
        {"way": list(growth.WAYS), "turn_by": list(growth.TURNS), "n": n},
    )  # fmt: skip


def test_growth_is_judged():
    for judge in (growth.growth, growth.irrelevant, growth.dominates):
        assert judge(costs()).verdict == HOLDS, judge
    assert growth.growth(costs(power=0.0)).verdict == PARTLY
    assert growth.irrelevant(costs(turn=1000.0)).verdict == PARTLY
    assert growth.irrelevant(costs(turn=1e5)).verdict == FAILS
    assert growth.dominates(costs(lists=0.1)).verdict == PARTLY
    assert growth.dominates(costs(turn=1e5)).verdict == FAILS


def test_the_bracket_is_measured():
    y = np.array([0.0] * 6 + [1.0, 0.0, 0.0, 0.0, 0.6, 1.0, 0.5])
    turn = ph.rotation.matrix_from_quaternion((0.5, 0.5, -0.5, 0.5))

    def moved(factor):
        return lambda z: np.concatenate([z[:10], factor * turn @ z[10:]])

    assert claims.poisson_defect(moved(1.0), y) < 1e-11
    assert claims.poisson_defect(moved(1.001), y) > 1e-3


# ------------------------------------------------------------------ charts that are changed
TOP = (1.0, 0.6, 0.3, 0.8, 0.0, 0.6)


def a_state(seed):
    random = np.random.default_rng(seed)
    q = random.normal(size=4)
    return ph.rotation.matrix_from_quaternion(q / np.linalg.norm(q)), random.normal(size=3)


@each("seed", range(6))
def test_charts_mean_the_same_state(seed):
    """Also with the axis of the body along z of space, where chart 0 is singular, or x, where chart 1 is."""
    Q, m = a_state(seed)
    Q = (Q, np.eye(3), np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]))[seed % 3]
    chart, x = charts.in_a_chart(Q, m)
    assert abs(np.cos(x[1])) <= 0.5**0.5 + 1e-12
    assert changing_chart.far(charts.on_the_manifold(chart, x), (Q, m)) < 2e-15
    if seed % 3 == 0:
        assert changing_chart.far(charts.on_the_manifold(1 - chart, charts.changed(chart, x)), (Q, m)) < 1e-14
    kinetic, potential = charts.energies(chart, x, TOP)
    assert kinetic == pytest.approx((m**2 / (1.0, 1.0, 0.6)).sum() / 2.0, rel=1e-13)
    assert potential == pytest.approx(0.3 * (Q @ TOP[3:])[2], abs=1e-14)


def test_the_free_flow_of_a_chart_is_the_motion():
    """Against Taylor series in 40 digits."""
    m = (0.6, -0.5, 0.7)
    with mpmath.workdps(40):
        moments, start = (1.0, 1.0, 0.6), [mpmath.mpf(x) for x in m]
        momentum, q = moved([mpmath.mpf(x) for x in moments], start, mpmath.mpf(1), order=30, angle=0.3)
        truth = np.array(matrix_of(q), dtype=float), np.array(momentum, dtype=float)
    chart, x = charts.in_a_chart(np.eye(3), m)
    assert changing_chart.far(charts.on_the_manifold(chart, charts.free(1.0, x, (1.0, 0.6))), truth) < 1e-14
    at_rest = (0.1, 1.0, 0.2, 0.0, 0.0, 0.0)
    assert charts.free(1.0, at_rest, (1.0, 0.6)) == at_rest
    back = charts.free(-1.0, charts.free(1.0, x, (1.0, 0.6)), (1.0, 0.6))
    assert changing_chart.far(charts.on_the_manifold(chart, back), (np.eye(3), np.array(m))) < 1e-14


@each("chart", [0, 1])
def test_forces_are_the_derivatives_of_the_energy(chart):
    x = np.array((0.4, 1.2, -0.7, 0.5, 0.3, 0.8))
    slopes = []
    for shift in 1e-5 * np.eye(6):
        high, low = (sum(charts.energies(chart, tuple(x + sign * shift), TOP)) for sign in (1.0, -1.0))
        slopes.append((high - low) / 2e-5)
    found = charts.rates(chart, tuple(x), TOP)
    assert found == pytest.approx([*slopes[3:], *(-np.array(slopes[:3]))], abs=1e-9)
    kicked = np.array(charts.kick(chart, 0.1, tuple(x), (*TOP[:2], 0.0, *TOP[3:])))
    assert (kicked == x).all()


def test_large_steps_are_made_in_pieces():
    """A step that turns the axis by radians crosses both singular points, and is still the exact flow."""
    m = np.array((0.0, 5.0, 1e-9))
    run = charts.Run(charts.in_a_chart(np.eye(3), m), (1.0, 0.6, 0.0, 0.0, 0.0, 1.0)).take_steps(2, 2.0)
    truth = ph.rotation.matrix_from_quaternion(ph.rotation.exp_quaternion((0.0, 20.0, 0.0)))
    assert changing_chart.far(run.state, (truth, m)) < 1e-7
    assert run.changes > 10 and run.worst < 1e-13


def test_mutants_of_the_charts_are_not_canonical(monkeypatch):
    chart, x = charts.in_a_chart(*a_state(11))
    x = np.array(x)
    proper = changing_chart.canonical_defect(lambda y: charts.changed(chart, y), x)
    angles_only = changing_chart.canonical_defect(lambda y: (*charts.changed(chart, y)[:3], *y[3:]), x)
    assert proper < 1e-11 and angles_only > 0.1
    step = changing_chart.canonical_defect(lambda y: charts.free(0.3, y, (1.0, 0.6)), x)
    late = changing_chart.canonical_defect(
        lambda y: (*charts.free(0.3, y, (1.0, 0.6))[:4], charts.free(0.31, y, (1.0, 0.6))[4], y[5]), x
    )
    assert step < 1e-11 and late > 1e-4


def test_midpoint_is_good_in_one_chart():
    """It is the change of the chart that makes the control lose energy: a fast top upright never leaves chart 1."""
    Q, m = ph.rotation.matrix_from_quaternion(ph.rotation.exp_quaternion((0.2, 0.1, 0.0))), np.array((0.0, 0.1, 2.0))
    early = charts.Run(charts.in_a_chart(Q, m), TOP, "midpoint").take_steps(1000, 0.05)
    late = charts.Run(charts.in_a_chart(Q, m), TOP, "midpoint").take_steps(4000, 0.05)
    assert late.changes == 0 and late.chart == 1
    assert 0.0 < late.worst < 1.5 * early.worst < 0.01


def chart_numbers():
    """Made-up measurements of the changing-chart algorithm: everything as it should be."""
    h, steps = np.array(changing_chart.STEPS), np.array([10, 100, 1000, 10_000, 100_000])
    eps = np.array(changing_chart.EPSILONS)
    orders = [changing_chart.SPAN / n for n in changing_chart.ORDER_STEPS]
    return xr.Dataset(
        {
            "free_error": (("quantity", "body"), np.full((3, 2), 1e-15)),
            "apart": (("limit", "count"), np.full((3, 4), 1e-14)), "changes": (("limit", "count"), np.full((3, 4), 20)),
            "defect": ("of", np.full(4, 1e-13)), "kept": ("what", np.full(3, 1e-15)),
            "error": ("step", np.square(orders)),
            "energy_error": (("epsilon", "h"), np.outer(eps, h**2)),
            "doubled_error": (("epsilon", "h"), np.outer(eps, np.ones(len(h)))),
            "long_error": (("rule", "steps"), [[1e-4] * 5, [1e-3, 1e-3, 1e-2, 1e-1, np.inf]]),
            "long_changes": (("rule", "steps"), np.full((2, 5), 2000)), "seconds": ("program", [4e-7, 1e-7]),
        },
        {"quantity": ["attitude", "momentum_length", "energy"], "limit": list(changing_chart.LIMITS),
         "count": list(changing_chart.COUNTS), "of": list(changing_chart.MAPS),
         "what": ["state over a change", "energy over a change", "there and back"], "step": orders,
         "epsilon": eps, "h": h, "rule": list(charts.RULES), "steps": steps, "program": ["charts", "polhode"]},
    )  # fmt: skip


CHART_MUTANTS = {
    "trigonometric": [lambda d: put(d, "free_error", 1e-12, quantity="attitude")],
    "one map": [lambda d: put(d, "apart", 1e-10, limit=0.9), lambda d: put(d, "changes", 2, count=1000),
                lambda d: put(d, "kept", 1e-10, what="state over a change")],
    "in every chart": [lambda d: put(d, "defect", 1e-9, of="change of the chart"), lambda d: order_off(d, "error", 1),
                      lambda d: order_off(d, "error", -1), lambda d: put(d, "kept", 1e-9, what="there and back")],
    "nearby Hamiltonian": [lambda d: order_off(d, "energy_error", 1, "h"),
                           lambda d: order_off(d, "doubled_error", 2, "h"),
                           lambda d: scaled(d, "energy_error", 100.0)],
    "smaller than the perturbation": [lambda d: scaled(d, "energy_error", 2.0, epsilon=1e-6),
                                      lambda d: scaled(d, "energy_error", 0.5, epsilon=1e-6),
                                      lambda d: scaled(d, "energy_error", 100.0)],
    "interpolating": [lambda d: scaled(d, "long_error", 2.0, rule="leapfrog", steps=100_000),
                      lambda d: put(d, "long_changes", 10, rule="leapfrog")],
    "loses the energy": [lambda d: put(d, "long_error", 1e-3, rule="midpoint")],
    "cost more": [lambda d: scaled(d, "seconds", 0.1, program="charts")],
}  # fmt: skip


def test_the_changing_chart_is_judged():
    data, figure = chart_numbers(), changing_chart.FIGURE
    for claim in figure.claims:
        assert claim.judge(data).verdict == (MISPRINT if "nearby" in claim.text else HOLDS), claim.text
    assert len(CHART_MUTANTS) == len(figure.claims)
    for words, mutants in CHART_MUTANTS.items():
        for k, mutant in enumerate(mutants):
            assert flips(figure, words, data, mutant), (words, k)


# ------------------------------------------------------------------ names
def test_names():
    for word in ("fig3.1", "fig3_1", "figure3.1", "FIG3.01"):
        assert STUDY.figure(word).name == "fig3_1"
    assert STUDY.figure("fig3.10").name == "fig3_10" and STUDY.figure("fig3.8").name == "fig3_8"
    with pytest.raises(InvalidInput, match="did you mean 'fig3_"):
        STUDY.figure("fig3.2")
