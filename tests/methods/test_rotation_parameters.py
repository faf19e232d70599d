"""Attitudes kept as three numbers: through singular points, at full order, and as good as any other form."""

import itertools
import json

import numpy as np
import pytest

import polhode as ph
from cover import chosen, crossed, some
from each import each
from polhode.algebra.euler import SEQUENCES
from polhode.checks import top_problem, trial_problem
from polhode.errors import InvalidInput, StepFailed, StepTooLarge
from polhode.methods import method
from polhode.methods.rotation_parameters import other_sequence
from polhode.trajectory.convergence import observed_order

BOX = ph.free_body((5.2988, 1.1775, 4.3568))  # [holzinger2021, 7.1]
TOP = ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0)
TOP_START = {"attitude": ph.rotation.exp_quaternion((0.3, 0.1, 0.2)), "angular_momentum": (0.6, 1.0, 0.5)}
EQUIVALENT = (
    "lie_rk", "rotation_vector", "euler", "terze", "gibbs_rodrigues", "modified_rodrigues", "rotation_vector:principal",
)  # fmt: skip


def final(system, label, step, t_end, **start):
    n = round(t_end / step)
    return ph.integrate(system, label, step=t_end / n, steps=n, every=n, **start).isel(time=-1)


def angle(a, b):
    return float(ph.rotation.angle_between(a.attitude.values, b.attitude.values))


# ------------------------------------------------------------------ the paper's singular points
VECTOR_EPS = (0.0, 1e-7, 1e-5, 1.0)
ANGLE_EPS = (0.0, 1e-5, 1e-2, 1e-1)
LADDERS = {
    "forward_euler": (1, 7, 10), "semi_implicit_euler": (1, 7, 10), "rk4": (4, 5, 8), "dp5": (5, 4, 7),
    "cv8": (8, 2, 4), "gauss4": (4, 4, 7), "gauss6": (6, 2, 5),
}  # fmt: skip


def orders(label, start, t_end, first, last):
    exact = final(BOX, "exact", t_end, t_end, **start)
    steps = np.array([2.0**-k for k in range(first, last + 1)])
    found = np.array([angle(final(BOX, label, h, t_end, settings={"guard": False}, **start), exact) for h in steps])
    return found, observed_order(steps, found)


@each(("tableau", "eps"), crossed(LADDERS, VECTOR_EPS))
def test_full_order_through_a_vanishing_rotation_vector(tableau, eps):
    order, first, last = LADDERS[tableau]
    start = {"coordinates": (0.0, -np.pi / 2, 0.0), "angular_velocity": (0.0, 2 * np.pi, 2 * np.pi * eps)}
    exact = {
        "attitude": ph.rotation.exp_quaternion(start["coordinates"]),
        "angular_velocity": start["angular_velocity"],
    }
    end = final(BOX, "exact", 0.5, 0.5, **exact)
    steps = np.array([2.0**-k for k in range(first, last + 1)])
    label = f"rotation_vector:{tableau}"
    errors = np.array([angle(final(BOX, label, h, 0.5, settings={"guard": False}, start=start), end) for h in steps])
    if eps == 0.0:  # a steady turn is exact in exponential coordinates
        assert errors.max() < 4e-14
    elif eps == 1.0:
        assert observed_order(steps, errors) == pytest.approx(order, abs=0.35 if order < 8 else 0.8)
    else:  # the error is eps times that of the linearised motion
        assert errors[-1] < max(2e-14, errors[0] / 2.0 ** ((order - 0.6) * (last - first)))


@each(("tableau", "eps"), crossed(LADDERS, ANGLE_EPS))
def test_full_order_through_the_singular_middle_angle(tableau, eps):
    order, first, last = LADDERS[tableau]
    start = {"angular_velocity": (0.0, np.pi, np.pi * eps)}
    found, slope = orders(f"euler:{tableau}", start, 1.0, first, last)
    if eps == 0.0:
        assert found.max() < 4e-14
    elif eps == 0.1:
        assert slope == pytest.approx(order, abs=0.35 if order < 8 else 0.8)
    else:
        assert found[-1] < max(2e-14, found[0] / 2.0 ** ((order - 0.6) * (last - first)))


@each(
    ("sequence", "map"),
    chosen(itertools.product(SEQUENCES, ["exp", "cayley"]), [(one, "exp") for one in SEQUENCES[::3]]),
)
def test_full_order_in_every_sequence(sequence, map):
    """The motion of 7.1.2, its axis turned so that every sequence passes its own singular value."""
    first, second = (ph.rotation.quaternion_from_euler((a, b, 0.0), sequence) for a, b in ((0.4, 0.0), (0.4, 1.0)))
    omega = ph.rotation.log_quaternion(ph.rotation.multiply(ph.rotation.conjugate(first), second)) * np.pi
    start = {"attitude": first, "angular_velocity": omega + 0.3 * np.array([0.3, -0.5, 0.4])}
    found, slope = orders(f"euler:rk4:{map}:{sequence}", start, 1.0, 5, 8)
    assert slope == pytest.approx(4, abs=0.3)
    assert found[-1] < 1e-5


# ------------------------------------------------------------------ Table 1
TABLE_1 = ((5.498e-1, 1e-3), (2.348e-2, 1e-3), (9.035e-4, 1e-3), (3.763e-5, 5e-3), (1.801e-6, 5e-2))
"""Position errors of the point (1, 1, 1) at t = 1 with h = 0.01, 0.005, ...: recomputed values and their tolerances."""


@each("label", some(EQUIVALENT, 1))
def test_table_1(label):
    """Of one form; that the others are as good is the next test."""
    start = {"angular_velocity": (0.01, 0.0, 100.0)}
    exact = ph.rotation.rotate(final(BOX, "exact", 1.0, 1.0, **start).attitude.values, (1.0, 1.0, 1.0))
    for k in range(7):
        end = final(BOX, label, 0.01 / 2**k, 1.0, **start)
        error = np.linalg.norm(ph.rotation.rotate(end.attitude.values, (1.0, 1.0, 1.0)) - exact)
        if k < len(TABLE_1):
            assert error == pytest.approx(TABLE_1[k][0], rel=TABLE_1[k][1] + 1e-4)
        else:
            assert error < (2e-7, 1e-7)[k - len(TABLE_1)]


@each("steps", [range(98, 103), range(6000, 6800, 320)], ids=["coarse", "fine"])
def test_equivalent_methods_agree(steps):
    """Sharing the stages of a step, all forms of the attitude differ by round-off, on the motion of Table 1.

    What is left is a random walk of the rounding of the numbers stored; so the median over several numbers of steps is
    judged (over 25 near 6400, one run of the paper's three forms is apart by 1e-14 to 6e-14).
    """
    apart = []
    for n in steps:
        ends = [final(BOX, label, 1.0 / n, 1.0, angular_velocity=(0.01, 0.0, 100.0)) for label in EQUIVALENT]
        turns = [ph.rotation.matrix_from_quaternion(end.attitude.values) for end in ends]
        apart.append([np.abs(turn - turns[0]).max() for turn in turns])
    assert np.median(np.max([one[:3] for one in apart], axis=1)) < 4e-14  # the paper's three
    assert np.max(apart) < 1e-13


@each("number, sequence", some(enumerate(SEQUENCES), 1))
def test_charts_agree_under_loads(number, sequence):
    """Each sequence with another tableau, map and branch, on a forced body: the matrix by the same tableau and map."""
    tableau = ("rk4", "dp5", "gauss4", "heun", "radau_iia3")[number % 5]
    map, branch = ("exp", "cayley")[number % 2], ("principal", "continuous")[number // 2 % 2]
    a = final(TOP, f"euler:{tableau}:{map}:{sequence}:{branch}:start", 0.05, 10.0, **TOP_START)
    b = final(TOP, f"lie_rk:{tableau}:{map}:start", 0.05, 10.0, **TOP_START)
    assert angle(a, b) < 1e-12
    assert angle(a, final(TOP, "fg6_5", 0.01, 10.0, **TOP_START)) < 0.1


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:the energy error of")
@pytest.mark.parametrize("tableau", ["forward_euler", "rk4", "dp8", "gauss4", "radau_iia3", "lobatto_iiia4"])
@pytest.mark.parametrize("map", ["exp", "cayley"])
def test_the_full_product(tableau, map):
    """Every sequence with every kind of tableau, map, branch and centre: the matrix by the same tableau."""
    for center in ("middle", "start"):
        wanted = final(TOP, f"lie_rk:{tableau}:{map}:{center}", 0.05, 10.0, **TOP_START)
        for sequence in SEQUENCES:
            for branch in ("principal", "continuous"):
                found = final(TOP, f"euler:{tableau}:{map}:{sequence}:{branch}:{center}", 0.05, 10.0, **TOP_START)
                assert angle(found, wanted) < 1e-12, (sequence, branch, center)


# ------------------------------------------------------------------ what is kept
def test_no_drift_from_the_group():
    """The attitude of three numbers is orthogonal to round-off however long the run; 10^6 steps in the study."""
    top = ph.heavy_top((0.234375, 0.46875, 0.234375), (0, 1, 0), mass=15.0, inertia_about="center_of_mass")
    for label in ("rotation_vector", "euler"):
        ds = ph.integrate(top, label, step=1e-3, steps=20_000, every=20, angular_velocity=(0.0, 150.0, -4.61538))
        R = ph.rotation.matrix_from_quaternion(ds.attitude.values)
        assert np.linalg.norm(np.swapaxes(R, 1, 2) @ R - np.eye(3), axis=(1, 2)).max() < 5e-15


@each(
    "label",
    some(["rotation_vector:gauss4", "euler:gauss6:cayley:ZXZ", "lie_rk:lobatto_iiia4", "gibbs_rodrigues:midpoint"], 1),
)
def test_symmetric_tableaux_are_time_symmetric_in_the_middle_chart(label):
    system, y = trial_problem("time", "potential")
    start = {"attitude": y[6:10], "angular_momentum": y[10:13]}
    there = final(system, label, 0.1, 0.1, **start)
    back = ph.integrate(
        system, label, step=0.1, start={"time": 0.1}, t_end=0.0, attitude=there.attitude.values,
        angular_momentum=there.angular_momentum.values,
    ).isel(time=-1)  # fmt: skip
    assert ph.rotation.angle_between(back.attitude.values, y[6:10]) < 1e-14
    assert np.abs(back.angular_momentum.values - y[10:13]).max() < 1e-14


def test_the_chart_at_the_start_is_not_symmetric():
    chosen = [method(f"rotation_vector:gauss4:{center}").promises for center in ("middle", "start")]
    assert [row.time_symmetric for row in chosen] == [True, False]


def test_slow_top_over_a_long_time():
    top = ph.heavy_top((15.234375, 0.46875, 15.234375), (0.0, 1.0, 0.0), 15.0 * 9.81)
    start = {"angular_velocity": (0.0, 5.0, -4.61538), "step": 0.05, "t_end": 200.0}
    middle = ph.integrate(top, "rotation_vector:gauss4", **start)
    one_sided = ph.integrate(top, "rotation_vector:gauss4:start", **start)
    assert float(np.abs(middle.energy_change).max()) < 1e-3
    assert float(np.abs(one_sided.energy_change).max()) > 20 * float(np.abs(middle.energy_change).max())


# ------------------------------------------------------------------ the numbers themselves
def test_the_dataset_carries_the_chart():
    tensor = [[1.5, 0.1, 0.2], [0.1, 1.8, -0.1], [0.2, -0.1, 2.0]]
    body = ph.heavy_top(tensor, (0.1, 0.2, 0.9), 1.0)
    ds = ph.integrate(body, ph.methods.euler(sequence="ZXZ", branch="continuous"), step=0.02, t_end=4.0, **TOP_START)
    assert ds.euler_angles.dims == ("time", "angle")
    assert ds.euler_angles.attrs["sequence"] == "ZXZ"
    assert ds.euler_angles.attrs["branch"] == "continuous"
    q = ph.rotation.quaternion_from_euler(ds.euler_angles.values, "ZXZ")
    assert ph.rotation.angle_between(q, ds.attitude.values).max() < 2e-15
    assert np.abs(np.diff(ds.euler_angles.values, axis=0)).max() < 1.0
    v = ph.integrate(body, "rotation_vector", step=0.02, t_end=4.0, **TOP_START)
    assert v.rotation_vector.attrs["branch"] == "tracked"
    assert (
        ph.rotation.angle_between(ph.rotation.exp_quaternion(v.rotation_vector.values), v.attitude.values).max() < 2e-15
    )
    again = ph.rerun(ds)
    assert (again.euler_angles.values == ds.euler_angles.values).all()


@each("branch, largest", [("tracked", 2 * np.pi), ("principal", np.pi), ("continuous", 30.0)])
def test_branches_of_the_rotation_vector(branch, largest):
    ds = ph.integrate(
        BOX, ph.methods.rotation_vector(branch=branch), step=0.01, t_end=4.0,
        start={"coordinates": (0.0, 1.5 * np.pi, 0.0)},
        angular_velocity=(0.0, 2 * np.pi, 0.0),
    )  # fmt: skip
    size = np.linalg.norm(ds.rotation_vector.values[1:], axis=1)
    assert largest - 0.2 < size.max() <= largest
    if branch == "continuous":
        wanted = 1.5 * np.pi + 2 * np.pi * ds.time.values
        assert ds.rotation_vector.values[:, 1] == pytest.approx(wanted, abs=1e-12)


def test_pure_rotation_needs_no_conversion():
    """Of the motion of figure 6 the nearest lift is the analytic solution a2 = pi t itself."""
    start = {"step": 0.01, "t_end": 100.0, "angular_velocity": (0.0, np.pi, 0.0)}
    ds = ph.integrate(BOX, ph.methods.euler(branch="continuous"), **start)
    assert np.abs(ds.euler_angles.values[:, 1] - np.pi * ds.time.values).max() < 1e-10
    assert np.abs(ds.euler_angles.values[:, [0, 2]]).max() < 1e-10
    jumps = ph.integrate(BOX, "euler", **start).euler_angles.values
    assert np.abs(jumps[:, 1]).max() <= np.pi / 2
    assert np.abs(np.diff(jumps[:, 0])).max() == pytest.approx(np.pi, abs=0.01)


def test_points_have_no_angles():
    ds = ph.integrate(ph.particle(2.0, stiffness=3.0), "euler", step=0.1, steps=10, position=(1.0, 0.0, 0.0))
    assert "euler_angles" not in ds and "angle" not in ds.coords


def test_modified_parameters_switch_to_their_shadow():
    start = {"step": 0.01, "t_end": 3.0, "angular_velocity": (0.0, 2 * np.pi, 0.3)}
    shadow = ph.integrate(BOX, "modified_rodrigues", **start).modified_rodrigues.values
    assert np.linalg.norm(shadow, axis=1).max() <= 1.0 + 1e-15
    tracked = ph.integrate(BOX, ph.methods.modified_rodrigues(branch="tracked"), **start)
    assert np.linalg.norm(tracked.modified_rodrigues.values, axis=1).max() > 10.0
    half = ph.integrate(BOX, "gibbs_rodrigues", step=0.25, t_end=1.0, angular_velocity=(0.0, 2 * np.pi, 0.0))
    assert np.abs(half.gibbs_rodrigues.values).max() > 1e15  # a half turn, and on it goes
    assert ph.rotation.angle_between(half.attitude.values[-1], (1.0, 0, 0, 0)) < 2e-15


def test_several_bodies():
    """Two bodies in space with coupled loads, each with its own angles."""
    system, y = trial_problem("potential", "place", moves=True, bodies=2)
    body = y.reshape(2, 13)
    start = {
        "attitude": body[:, 6:10], "angular_momentum": body[:, 10:], "position": body[:, :3], "momentum": body[:, 3:6],
        "step": 0.02, "t_end": 1.0,
    }  # fmt: skip
    ds = ph.integrate(system, "euler:gauss4", **start)
    other = ph.integrate(system, "lie_rk:gauss4", **start)
    assert ds.euler_angles.dims == ("time", "body", "angle")
    assert np.abs(ds.position.values - other.position.values).max() < 1e-12
    assert ph.rotation.angle_between(ds.attitude.values, other.attitude.values).max() < 1e-12


def test_stored_runs_change_their_branch():
    """Figure 7a: principal angles of a run, converted, are those of the run that continues them."""
    start = {"step": 0.01, "t_end": 3.0, "angular_velocity": (0.3, np.pi, 0.2)}
    principal, continuous = (
        ph.integrate(BOX, ph.methods.euler(branch=branch, sequence="ZYX"), **start)
        for branch in ("principal", "continuous")
    )
    converted = ph.trajectory.convert_branch(principal, "continuous").euler_angles
    assert converted.attrs["branch"] == "continuous"
    assert np.abs(converted.values - continuous.euler_angles.values).max() < 1e-10
    assert np.abs(ph.trajectory.convert_branch(continuous, "principal").euler_angles.values
                  - principal.euler_angles.values).max() < 1e-10  # fmt: skip


def test_the_picture_shows_the_chart():
    ds = ph.integrate(BOX, ph.methods.euler(sequence="ZYX"), step=0.01, t_end=1.0, angular_velocity=(0.3, 1.0, 0.2))
    titles = {axes.get_title(loc="left") for axes in ph.plots.dashboard(ds).axes}
    assert "Euler angles (ZYX, principal)" in titles


def test_singular_rows_are_named():
    """Of the proposed angles nothing is wrong there but which is which; of their rates, the attitude."""
    start = {"step": 0.25, "t_end": 1.0, "angular_velocity": (0.0, np.pi, 0.0)}
    ds = ph.integrate(BOX, "euler", **start)
    note = ds.euler_angles.attrs["note"]
    assert "1 of 5 rows, first at t = 0.5" in note and "sequence 'XYZ'" in note and "not affected" in note
    assert "note" not in ph.integrate(BOX, ph.methods.euler(sequence="ZXY"), **start).euler_angles.attrs
    direct = ph.integrate(BOX, "euler_direct", **start).euler_angles.attrs["note"]
    assert "angles[1] is within 0.01 rad of -pi/2 or pi/2" in direct and "may be wrong" in direct


# ------------------------------------------------------------------ forms that fail, where they are said to
def test_printed_update_fails_at_a_whole_turn():
    turn = (0.0, 1.5 * np.pi, 0.0)
    start = {"start": {"coordinates": turn}, "step": 1 / 128, "t_end": 0.5}
    turning = {"angular_velocity": (0.0, 2 * np.pi, 0.0)}
    printed = ph.integrate(BOX, "rotation_vector_as_printed", **start, **turning).isel(time=-1)
    proposed = ph.integrate(BOX, "rotation_vector", **start, **turning).isel(time=-1)
    exact = ph.integrate(BOX, "exact", attitude=ph.rotation.exp_quaternion(turn), step=0.5, t_end=0.5,
                         **turning).isel(time=-1)  # fmt: skip
    assert angle(printed, exact) > 1e-3
    assert angle(proposed, exact) < 2e-14


def test_direct_rates_fail_where_they_are_singular():
    exact = final(BOX, "exact", 1.0, 1.0, angular_velocity=(0.0, np.pi, 1e-5 * np.pi))
    direct = final(BOX, "euler_direct", 2.0**-10, 1.0, angular_velocity=(0.0, np.pi, 1e-5 * np.pi))
    switching = final(BOX, "euler_switching", 2.0**-10, 1.0, angular_velocity=(0.0, np.pi, 1e-5 * np.pi))
    assert angle(direct, exact) > 1e-3
    assert angle(switching, exact) < 1e-10
    # Steps that do not resolve the neighbourhood of a singular angle: the other sequence is taken well before.
    beside = {"t_end": 4.0, "angular_velocity": (0.0, np.pi, 0.01 * np.pi)}
    exact = ph.integrate(BOX, "exact", step=4.0, **beside).isel(time=-1)
    assert angle(ph.integrate(BOX, "euler_switching", step=2.0**-6, **beside).isel(time=-1), exact) < 1e-7
    with pytest.raises(StepFailed, match="the rotation vector is zero, where the printed rates divide by zero"):
        printed = ph.methods.rotation_vector_direct(form="printed")
        ph.integrate(BOX, printed, step=0.25, t_end=1.0, angular_velocity=(0, 1.0, 0))
    regular = final(BOX, "rotation_vector_direct", 2.0**-9, 0.5, angular_velocity=(0.0, 2.0, 1.0))
    assert angle(regular, final(BOX, "exact", 0.5, 0.5, angular_velocity=(0.0, 2.0, 1.0))) < 1e-10


@each("sequence", SEQUENCES[::3])
def test_damped_rates_are_the_rates_away_from_the_singular_angle(sequence):
    start = {"attitude": ph.rotation.exp_quaternion((0.4, 0.5, 0.3)), "angular_velocity": (0.3, 0.5, -0.2)}
    plain, damped = (final(BOX, f"euler_direct:rk4:{sequence}:{form}", 0.01, 1.0, **start)
                     for form in ("printed", "regularised"))  # fmt: skip
    assert (plain.euler_angles.values == damped.euler_angles.values).all()
    assert angle(plain, final(BOX, "exact", 1.0, 1.0, **start)) < 1e-8
    spun = {"angular_velocity": (0.0, np.pi, 0.0) if len(set(sequence.lower())) == 3 else (0.0, 0.0, 0.0)}
    assert np.isfinite(
        final(BOX, f"euler_direct:rk4:{sequence}:regularised", 0.5, 2.0, **spun).euler_angles.values
    ).all()


def test_closed_bch_formula_is_right_up_to_a_quarter_turn():
    for t_end, right in ((1.5, True), (1.7, False)):
        exact = final(BOX, "exact", t_end, t_end, angular_velocity=(0.0, 1.0, 0.0))
        assert (
            angle(final(BOX, "rotation_vector_bch", 0.05, t_end, angular_velocity=(0.0, 1.0, 0.0)), exact) < 1e-6
        ) == right


def test_free_quaternions_drift_and_renormalised_ones_do_not():
    run = {"step": 1e-2, "steps": 20_000, "every": 100, "angular_velocity": (0.3, 5.0, 2.0)}
    length = {}
    for label in ("terze:free", "terze", "quaternion_rk:free", "quaternion_rk"):
        ds = ph.integrate(BOX, label, **run)
        length[label] = np.abs(np.linalg.norm(ds.attitude.values, axis=1) - 1.0).max()
    assert length["quaternion_rk:free"] > 3e-8
    assert length["terze:free"] < 1e-11
    assert max(length["terze"], length["quaternion_rk"]) < 1e-15


@each("sequence", SEQUENCES)
def test_the_other_sequence_is_never_singular_together(sequence):
    a = ph.rotation.quaternion_from_euler((0.3, np.pi / 2 if len(set(sequence)) == 3 else 0.0, -0.4), sequence)
    middle = ph.rotation.euler_from_quaternion(a, other_sequence(sequence))[1]
    assert abs(np.sin(middle) if len(set(sequence)) == 3 else np.cos(middle)) > 0.99


def test_both_readings_of_explicit_euler():
    """The printed variant turns by the angular velocity of the end, the tableau by that of the start."""
    system, y = top_problem()
    start = {"attitude": y[6:10], "angular_momentum": y[10:13], "step": 0.1, "steps": 1}
    plain, printed = (ph.integrate(system, f"rotation_vector:{tableau}", **start).isel(time=-1)
                      for tableau in ("forward_euler", "semi_implicit_euler"))  # fmt: skip
    moments = np.array([1.5, 1.5, 0.8])
    after = printed.angular_momentum.values
    assert plain.angular_momentum.values == pytest.approx(after, abs=1e-15)
    for ds, m in ((plain, y[10:13]), (printed, after)):
        wanted = ph.rotation.multiply(y[6:10], ph.rotation.exp_quaternion(0.1 * m / moments))
        assert ph.rotation.angle_between(ds.attitude.values, wanted) < 1e-15


# ------------------------------------------------------------------ bad input
def test_wrong_words():
    with pytest.raises(InvalidInput, match="unknown sequence"):
        ph.integrate(BOX, ph.methods.euler(sequence="XXZ"), step=0.1, steps=1)
    with pytest.raises(InvalidInput, match="continuous"):
        ph.integrate(BOX, ph.methods.rotation_vector(branch="contiguous"), step=0.1, steps=1)
    with pytest.raises(InvalidInput, match="no coordinates"):
        ph.integrate(BOX, "exact", start={"coordinates": (0, 0, 0)}, step=0.1, steps=1)
    with pytest.raises(InvalidInput, match="both given"):
        ph.integrate(BOX, "euler", start={"coordinates": (0, 0, 0)}, attitude=(1, 0, 0, 0), step=0.1, steps=1)
    with pytest.raises(InvalidInput, match=r"coordinates\[1\] is nan"):
        ph.integrate(BOX, "euler", start={"coordinates": (0, np.nan, 0)}, step=0.1, steps=1)


def test_a_stage_that_turns_too_far_is_refused():
    """The guard sees the stages: with a strong torque they turn further than the step."""
    hard = ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 400.0)
    with pytest.raises(StepTooLarge):
        ph.integrate(hard, "rotation_vector", step=0.5, steps=4, attitude=ph.rotation.exp_quaternion((2.0, 0.0, 0.0)))


def test_the_recipe_keeps_the_chart():
    ds = ph.integrate(BOX, "euler:rk4:exp:ZYX:continuous", step=0.1, steps=3, start={"coordinates": (9.0, 0.2, -8.0)})
    assert len(json.loads(ds.attrs["run"])["state"]) == 16
    assert ds.attrs["method"] == "euler:rk4:exp:ZYX:continuous"
    assert ds.euler_angles.values[0] == pytest.approx((9.0, 0.2, -8.0))


CHARTS = ["euler:gauss8", "rotation_vector:gauss8", "gibbs_rodrigues:gauss8", "lie_rk:gauss8"]


@each("method", some(CHARTS, 2))
def test_a_full_inertia_tensor_gives_the_motion_of_a_splitting(method):
    """The user's frame is not the principal one: numbers, attitude and torque must all be of the same."""
    tensor = np.array([[2.0, 0.3, -0.2], [0.3, 2.6, 0.4], [-0.2, 0.4, 3.1]])
    top = ph.heavy_top(inertia=tensor, center_of_mass=(0.3, -0.2, 0.9), weight=4.0)
    start = {"attitude": ph.rotation.exp_quaternion((0.4, -0.2, 0.7)), "angular_velocity": (0.5, -1.0, 2.0)}
    found = ph.integrate(top, method, step=0.02, t_end=2.0, every=100, **start)
    other = ph.integrate(top, "fg6_5", step=0.005, t_end=2.0, every=400, **start)
    turned, wanted = found.attitude[-1].to_numpy(), other.attitude[-1].to_numpy()
    np.testing.assert_allclose(turned * np.sign(turned @ wanted), wanted, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.angular_momentum[-1], other.angular_momentum[-1], rtol=0, atol=1e-9)
