"""A run that means nothing does not end in silence: energies, orbits and loads that the steps do not resolve."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import cli
from polhode.trajectory.quantities import BEYOND, LARGE

EARTH = 3.986004415e14
LOW = {"position": (7000.0, 0.0, 0.0), "velocity": (0.0, 7.5, 0.0)}  # kilometres


def said(run):
    """Categories and words of the warnings of a run, and what it returned or raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = run()
        except ph.errors.PolhodeError as failed:
            result = failed
    assert all(warning.filename == __file__ for warning in caught)
    return [(warning.category, str(warning.message)) for warning in caught], result


# ------------------------------------------------------------------ energies
@each("method", ["mkrk:cv8", "v2", "rkn6_14a"])
def test_kilometres_for_metres(method):
    told, failed = said(lambda: ph.integrate(ph.orbit(EARTH), method, step=10.0, t_end=6000.0, **LOW))
    assert [kind for kind, _ in told] == [ph.errors.CoarseStepWarning]
    assert "period" in told[0][1] and "kilometres for metres" in told[0][1]
    assert isinstance(failed, ph.errors.NotFinite) and "the run blew up between" in str(failed)
    assert "kilometres for metres" in str(failed)
    kept = failed.trajectory
    assert kept.sizes["time"] >= 1 and kept.attrs["incomplete"] == str(failed)
    assert float(abs(kept.energy_error).max()) < BEYOND


def test_an_energy_error_that_does_not_explode_is_a_warning():
    top = ph.systems.problem("asymmetric_top").build()
    run = {"step": 4.0, "t_end": 64.0, "angular_momentum": (0.6, 1.0, 0.5)}
    told, ds = said(lambda: ph.integrate(top, "s6_10", **run))
    assert [kind for kind, _ in told] == [ph.errors.EnergyWarning, ph.errors.CoarseStepWarning]
    words = told[0][1]
    assert "'s6_10'" in words and "smaller step than 4" in words and "mixed units" in words
    there = ds.kinetic_energy.max() + abs(ds.potential_energy - ds.potential_energy[0]).max()
    assert f"reaches {float(abs(ds.energy_change).max() / there):.2g} " in words
    assert f"from t = {float(ds.time[abs(ds.energy_error.values) > LARGE][0]):.6g} " in words
    silent, same = said(lambda: ph.integrate(top, "s6_10", settings={"guard": False}, **run))
    assert silent == [] and same.identical(ds.assign_attrs(same.attrs))  # no bit of a result depends on it


def test_chosen_steps_are_told_to_be_finer():
    start = {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 1.2, 0.0)}
    told, _ = said(lambda: ph.integrate(ph.orbit(1.0), "mkrk:dp5", steps=ph.Tolerance(0.3, 0.3), t_end=300.0, **start))
    assert [kind for kind, _ in told] == [ph.errors.EnergyWarning]
    assert "tighten rtol = 0.3 and atol = 0.3" in told[0][1]


def test_work_counts_as_energy():
    """An orbit raised by a thrust a hundred times its own energy is as it should be."""
    push = ph.forces.thrust(3.0, vector=(0.0, 0.0, 1.0))
    told, ds = said(
        lambda: ph.integrate(ph.orbit(1.0, forces=[push]), "mkrk:cv8", step=0.02, t_end=10.0, position=(1, 0, 0),
                             velocity=(0, 1, 0))
    )  # fmt: skip
    assert told == [] and float(abs(ds.energy[-1])) > 100 * float(abs(ds.energy[0]))


def braking_spring(t, position, velocity, p):
    x, v = position, velocity
    return (-p[0] * x[0] - v[0], -p[0] * x[1] - v[1], -p[0] * x[2] - v[2])


def spring_level(t, position, p):
    return 0.5 * p[0] * (position[0] ** 2 + position[1] ** 2 + position[2] ** 2)


def rising_level(t, position, p):
    return 5.0 * t * position[0] + 0.0 * round(t)  # which cannot be traced


def falling_torque(t, q, omega, p):
    return (0.0, 0.0, -p[0])


def turned_level(t, position, q, p):
    return 0.01 * q[1] * q[1]


@each("functions", [
    {"force": braking_spring, "reported_energy": spring_level}, {"potential": rising_level},
], ids=["beside a force", "that reads the time"])  # fmt: skip
def test_one_recorded_work_is_no_judge_of_a_potential_of_the_users(functions):
    """The work of drag is recorded; what else changes the energy is not, and a note says so."""
    drag = ph.forces.drag(kd=1e-4, radius=1.0, scale=1e30)
    system = ph.orbit(2.0, 3.0, [drag], parameters=[1.0], **functions)
    start = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 1.0, 0.3)}
    told, ds = said(lambda: ph.integrate(system, "mkrk:cv8", step=0.01, t_end=2.0, **start))
    assert [category for category, _ in told] == [ph.errors.SlowFunctionWarning] * ("force" not in functions)
    assert float(abs(ds.energy_error).max()) > 0.2
    assert "record" in ds.energy_error.attrs["note"] or "any other work" in ds.energy_error.attrs["note"]
    assert list(ds.force.values) == ["drag"] and not system.balanced
    report = ph.checks.check_system(system, states=1, **start)
    report.raise_for_failure()
    assert "works" not in str(report)


def test_one_recorded_work_is_no_judge_of_a_spacecraft():
    push = ph.forces.thrust(1e-3, vector=(0.0, 0.0, 1.0))
    start = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 1.0, 0.3)}
    functions = {"torque": falling_torque, "reported_energy": turned_level, "parameters": [20.0]}
    craft = ph.spacecraft((2.0, 3.0, 4.0), 2.0, forces=[push], **functions)
    told, ds = said(lambda: ph.integrate(craft, "mkrk:cv8", step=0.01, t_end=2.0, **start))
    assert told == [] and "any other work" in ds.energy_error.attrs["note"] and list(ds.force.values) == ["thrust"]


@each("functions", [{"force": braking_spring}, {"potential": spring_level}])
def test_where_all_work_is_recorded_the_energy_judges(functions):
    drag = ph.forces.drag(kd=1e-4, radius=1.0, scale=1e30)
    system = ph.orbit(2.0, 3.0, [drag], parameters=[1.0], **functions)
    start = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 1.0, 0.3)}
    told, ds = said(lambda: ph.integrate(system, "mkrk:cv8", step=0.01, t_end=1.0, **start))
    assert told == [] and float(abs(ds.energy_error).max()) < 1e-9 and system.balanced
    told, _ = said(lambda: ph.integrate(system, "mkrk:forward_euler", step=0.25, t_end=6.0, **start))
    assert ph.errors.EnergyWarning in [kind for kind, _ in told]


# ------------------------------------------------------------------ orbits
@each("system", [ph.orbit(1.0), ph.spacecraft((1e-6, 2e-6, 2.5e-6), 1.0)], ids=lambda s: s.name)
def test_a_step_beyond_a_passage_is_named_with_one_that_does(system):
    e = 0.9
    start = {"position": (1.0 + e, 0.0, 0.0), "velocity": (0.0, np.sqrt((1 - e) / (1 + e)), 0.0)}
    step, span = 0.05, {"t_end": 7.0}
    told, _ = said(lambda: ph.integrate(system, "mkrk:gauss8", step=step, **span, **start))
    passage = (1 - e) ** 2 / np.sqrt(1 - e * e)  # one radian at the periapsis
    assert step > passage and f"one radian in {passage:.2g} at its periapsis, 0.1 from the centre" in told[0][1]
    better = float(told[0][1].split("take ")[1].split(",")[0])
    assert passage / 12 < better <= passage / 10
    steps = round(7.0 / better)
    silent, ds = said(lambda: ph.integrate(system, "mkrk:gauss8", step=7.0 / steps, steps=steps, **start))
    assert silent == [] and float(abs(ds.energy_error).max()) < 1e-6
    # Before the passage, below the surface, or where the motion about the centre is solved, nothing is wrong.
    for run in (
        lambda: ph.integrate(system, "mkrk:gauss8", step=0.05, t_end=2.0, **start),
        lambda: ph.integrate(ph.orbit(1.0, surface=0.5), "mkrk:gauss8", step=0.05, **span, **start),
        lambda: ph.integrate(ph.orbit(1.0), "kepler", step=50.0, steps=3, **start),
        lambda: ph.integrate(ph.orbit(1.0), "v2/kepler", step=50.0, steps=3, **start),
        lambda: ph.integrate(system, steps=ph.Tolerance(1e-9), t_end=7.0, **start),
    ):
        assert said(run)[0] == []


@each("axes", [(0.0, 0.0, 0.0), (0.7, -1.1, 0.4), (0.4, 0.2, 1.6)])
def test_a_passage_is_named_where_it_lies_ahead(axes):
    """Within the span, seen from before it, in any plane, and forwards or backwards in time."""
    R, e, E = ph.rotation.exp_matrix(axes), 0.9, 4.5  # an eccentric anomaly before the periapsis, 0.9 ahead
    r = np.array((np.cos(E) - e, np.sqrt(1 - e * e) * np.sin(E), 0.0))
    v = np.array((-np.sin(E), np.sqrt(1 - e * e) * np.cos(E), 0.0)) / (1.0 - e * np.cos(E))
    for span, sign, named in ((1.5, 1, True), (0.6, 1, False), (1.5, -1, False), (-1.5, 1, False), (-1.5, -1, True)):
        start = {"position": R @ r, "velocity": sign * (R @ v)}
        told, ds = said(lambda t=span, start=start: ph.integrate(ph.orbit(1.0), "v2", step=0.05, t_end=t, **start))
        assert float(ds.time[-1]) == pytest.approx(span)
        found = [words for _, words in told if "one radian in 0.023 at its periapsis, 0.1 from the centre" in words]
        assert len(found) == named, (span, sign, told)


def test_a_fall_from_rest_is_named():
    told, _ = said(lambda: ph.integrate(ph.orbit(1.0), "v2", step=0.01, t_end=2.0, position=(1, 0, 0), velocity=0))
    assert told[0][0] is ph.errors.CoarseStepWarning and "the orbit falls into the centre" in told[0][1]


# ------------------------------------------------------------------ loads
def fast_top(step, method="s6_10", **more):
    made = ph.systems.problem("krysl_fast_top")
    start = {"attitude": ph.rotation.exp_quaternion((0.3, 0.0, 0.0)), "angular_velocity": (0.0, 0.0, 50.0)}
    return ph.integrate(made.build(), method, step=step, t_end=20.48, **start, **more)


def test_splittings_whose_step_does_not_resolve_the_load():
    """The turn is exact at any step, and yet attitudes are wrong by radians: 128 rad a step."""
    truth = fast_top(0.02, "rkn8_17").attitude[-1]
    for step, wrong in ((2.56, True), (1.28, True), (0.32, False), (0.16, False)):
        told, ds = said(lambda step=step: fast_top(step))
        error = float(ph.rotation.angle_between(ds.attitude[-1], truth))
        assert (error > 1.0) is wrong and (error < 1e-3) is not wrong
        assert [kind for kind, _ in told] == [ph.errors.CoarseStepWarning] * wrong
        if wrong:
            better = float(told[0][1].split("; ")[1].split(" would do")[0])
            fine = fast_top(20.48 / np.ceil(20.48 / better))
            assert float(ph.rotation.angle_between(fine.attitude[-1], truth)) < 1e-4


@each("method", ["v2", "mkrk:rk4", "trapm"])
def test_a_torque_faster_than_the_steps(method):
    def shaking(t, q, omega, parameters):
        return (np.sin(40.0 * t), 0.0, 100.0 * np.cos(40.0 * t))

    body = ph.rigid_body((1.0, 2.0, 2.5), torque=shaking)
    for step, coarse in ((0.2, True), (0.002, False)):
        told, _ = said(
            lambda step=step: ph.integrate(body, method, step=step, t_end=4.0, angular_velocity=(0.1, 0.2, 0.3))
        )
        assert (ph.errors.CoarseStepWarning in [kind for kind, _ in told]) is coarse and (coarse or not told), told


def test_a_wall_that_lies_within_a_step():
    """Where states on the straight line of the step see it, ahead and not behind."""

    def wall(t, r, v, p):
        return (p[0] * np.exp(-10.0 * r[0]), 0.0, 0.0)

    body = ph.particle(force=wall, parameters=[2.0])
    for speed, coarse in ((-1.0, True), (1.0, False)):
        told, _ = said(
            lambda v=speed: ph.integrate(body, "v2", step=1.0, steps=1, position=(1, 0, 0), velocity=(v, 0, 0))
        )
        assert (ph.errors.CoarseStepWarning in [kind for kind, _ in told]) is coarse, told


def test_a_body_that_turns_twice_in_each_step():
    """At both ends of a step the torque is the same, and along a straight line between them, too."""

    def turning_torque(t, q, omega, parameters):
        return (0.0, 0.0, parameters[0] * (1.0 - 2.0 * (q[2] ** 2 + q[3] ** 2)))

    for push, coarse in ((30.0, True), (0.3, False)):
        body = ph.rigid_body((1.0, 1.0, 1.0), torque=turning_torque, parameters=[push])
        spin = (0.0, 0.0, 8 * np.pi - push / 4)  # what the first half of the step adds makes it two whole turns
        told, ds = said(lambda body=body, spin=spin: ph.integrate(body, "v2", step=0.5, steps=1, angular_velocity=spin))
        assert (
            abs(ds.attitude[1, 0] - 1.0) < 1e-12
            and [kind for kind, _ in told] == [ph.errors.CoarseStepWarning] * coarse
        ), told


def test_ready_made_problems_are_quiet_at_their_own_steps():
    for name, made in ph.systems.PROBLEMS.items():
        start = dict(made.initial)
        if "rotation_vector" in start:
            start["attitude"] = ph.rotation.exp_quaternion(start.pop("rotation_vector"))
        n = min(round(made.t_end / made.step), 2000)
        for method in (None, "v2"):
            told, _ = said(lambda: ph.integrate(made.build(), method, step=made.step, steps=n, **start))  # noqa: B023
            assert told == [], (name, method)


def test_jumps_at_breaks_and_burns_are_no_alarm():
    def pulse(t, q, omega, parameters):
        return (0.0, 0.0, 50.0) if 1.05 <= t < 1.1 else (0.0, 0.0, 0.0)

    body = ph.rigid_body((1.0, 2.0, 2.5), torque=pulse)
    told, _ = said(
        lambda: ph.integrate(body, "v2", step=0.05, t_end=2.0, angular_velocity=(0.1, 0.2, 0.3), breaks=[1.05, 1.1])
    )
    assert told == []


# ------------------------------------------------------------------ who tells
def test_the_command_line_tells_too(tmp_path, monkeypatch, capsys):
    scenario = tmp_path / "coarse.toml"
    scenario.write_text('problem = "asymmetric_top"\nmethod = "s6_10"\n[run]\nstep = 4.0\nt_end = 64.0\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["polhode", "run", str(scenario), "--no-picture", "--json"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    assert not ended.value.code and json.loads(said.out)["complete"]
    assert "polhode: note: the energy error of 's6_10' reaches" in said.err
    assert "polhode: note: steps of 4 do not resolve the loads" in said.err


def test_one_class_for_all_warnings():
    for kind in (
        ph.errors.EnergyWarning,
        ph.errors.CoarseStepWarning,
        ph.errors.SlowFunctionWarning,
        ph.errors.OtherMachineWarning,
    ):
        assert issubclass(kind, ph.errors.PolhodeWarning) and issubclass(kind, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ph.errors.PolhodeWarning)
        fast_top(1.28)


# ------------------------------------------------------------------ stiff friction
SLEWING = {
    "position": (6.878e6, 0.0, 0.0), "velocity": (0.0, 4732.0, 5963.0), "angular_velocity": (0.03, -0.03, 0.03)
}  # fmt: skip


def rubbing(viscous):
    wheels = ph.reaction_wheels(np.eye(3), 2e-3, speed=(100.0, -150.0, 120.0), viscous=viscous, command=1e-4)
    return ph.spacecraft((40.0, 44.0, 25.0), EARTH, mass=60.0, wheels=wheels)


@each("method", ["mkrk:rk4", "mkrk:cv8", "s6_10", "taylor", "reversible:v2"])
def test_stiff_friction_says_so_where_a_run_fails(method):
    told, failed = said(lambda: ph.integrate(rubbing(2e3), method, step=1e-3, t_end=0.02, **SLEWING))
    assert told == [] and isinstance(failed, ph.errors.PolhodeError)
    words = str(failed)
    assert "wheel_momentum decays with a time constant of 1e-06" in words and "'mkrk:radau_iia5'" in words
    assert failed.trajectory.attrs["incomplete"] == words


def test_stiff_friction_says_so_where_steps_are_chosen_and_not_where_it_is_borne():
    steps = ph.Tolerance(1e-9)
    told, exact = said(lambda: ph.integrate(rubbing(2e3), "mkrk:dp8", steps=steps, t_end=0.02, **SLEWING))
    (kind, words), *more = told
    assert not more and kind is ph.errors.PolhodeWarning and "time constant of 1e-06" in words and "radau" in words
    told, ds = said(lambda: ph.integrate(rubbing(2e3), "mkrk:radau_iia5", step=5e-3, t_end=0.02, **SLEWING))
    assert told == []
    np.testing.assert_allclose(ds.wheel_momentum[-1], exact.wheel_momentum[-1], rtol=1e-6)
    np.testing.assert_allclose(ds.angular_velocity[-1], exact.angular_velocity[-1], rtol=1e-7)


def test_implicit_methods_say_what_they_have_left_of_a_stiff_decay():
    (_, words), *more = said(lambda: ph.integrate(rubbing(2e3), "mkrk:gauss6", step=1e-3, steps=100, **SLEWING))[0]
    assert not more and "wheel_momentum decays with a time constant of 1e-06, of which 'mkrk:gauss6' has left" in words
    left = float(words.split("has left ")[1].split(" ")[0])  # Pade's (3, 3) at -1000, of the initial momentum
    assert left == pytest.approx((1 - 24 / 1000) ** 100, rel=0.15)
    ends = [
        ph.integrate(rubbing(2e3), name, step=1e-3, steps=100, settings={"guard": False}, **SLEWING).wheel_momentum[-1]
        for name in ("mkrk:gauss6", "mkrk:radau_iia5")
    ]
    np.testing.assert_allclose(ends[0] - ends[1], left * 2e-3 * np.array([100, -150, 120]), rtol=0.15)
    # The same decay is forgotten within a few longer runs' steps, and radau leaves nothing of it.
    for name, steps in (("mkrk:gauss6", 1000), ("mkrk:radau_iia5", 100)):
        assert said(lambda n=name, k=steps: ph.integrate(rubbing(2e3), n, step=1e-3, steps=k, **SLEWING))[0] == []


def test_other_runs_say_nothing_of_stiffness():
    steps = ph.Tolerance(1e-9, max_step=1e-3)
    for viscous in (1.0, 0.0):  # which decays within two steps, and not at all
        told, ds = said(lambda viscous=viscous: ph.integrate(
            rubbing(viscous), "mkrk:dp8", steps=steps, t_end=1.2, every=1, **SLEWING))  # fmt: skip
        assert told == [] and ds.attrs["steps"] >= 1000
    driven = ph.particle(force=lambda t, r, v, p: (2e6 * v[0], 0.0, 0.0))  # grows, where nothing decays
    told, failed = said(
        lambda: ph.integrate(driven, "mkrk:rk4", step=1.0, t_end=100.0, position=(1, 0, 0), velocity=(1, 0, 0))
    )
    assert isinstance(failed, ph.errors.PolhodeError) and "stiff" not in str(failed)
