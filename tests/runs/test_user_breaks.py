"""Breaks: times at which loads of the user's jump. The oracle is an oscillator's closed form."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.runs import stepping

START = {"position": (1.0, 0.0, 0.0), "velocity": (0.0, 0.5, 0.0)}
ON_GRID, OFF_GRID = (1.0, 2.0), (0.9137, 2.0411)
T_END = 3.0


def half_open(t, position, velocity, parameters):
    push = parameters[0] if parameters[1] <= t < parameters[2] else 0.0
    return (push - position[0], -position[1], -position[2])


def other_half(t, position, velocity, parameters):
    push = parameters[0] if parameters[1] < t <= parameters[2] else 0.0
    return (push - position[0], -position[1], -position[2])


@cache
def pushed(pulse, size=2.0, force=half_open):
    return ph.particle(force=force, parameters=[size, *pulse])


def closed_form(pulse, size=2.0, t=T_END):
    """Position along x: free oscillation, about a shifted centre during the pulse, free again."""
    x, v, now = 1.0, 0.0, 0.0
    for until, centre in ((min(t, pulse[0]), 0.0), (min(t, pulse[1]), size), (t, 0.0)):
        c, s = np.cos(until - now), np.sin(until - now)
        x, v, now = centre + (x - centre) * c + v * s, v * c - (x - centre) * s, until
    return x


def end(method, pulse, **more):
    return float(ph.integrate(pushed(pulse), method, t_end=T_END, **START, **more).position[-1, 0])


@each("pulse", [ON_GRID, OFF_GRID], ids=["on grid", "off grid"])
@each(
    ("method", "n", "order"),
    [("v2", 48, 2), ("s6_10", 12, 6), ("rkn6_14a", 6, 6), ("mkrk:rk4", 24, 4), ("mkrk:gauss8", 3, 8)],
)
def test_methods_keep_their_order_across_a_pulse(pulse, method, n, order):
    truth = closed_form(pulse)
    coarse, fine = (abs(end(method, pulse, step=T_END / k, breaks=pulse) - truth) for k in (n, 2 * n))
    assert np.log2(coarse / fine) > order - 0.5 and coarse < 1e-3
    blind = [abs(end(method, OFF_GRID, step=T_END / k) - closed_form(OFF_GRID)) for k in (n, 2 * n)]
    assert max(blind) > 20 * fine  # which is what breaks are for


@each("method, pace", [("rkn6_14a", {"step": 0.1}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-9)})])
def test_either_side_of_the_jump_may_hold_the_equals_sign(method, pace):
    for pulse in (ON_GRID, OFF_GRID):
        one, other = (
            ph.integrate(pushed(pulse, force=force), method, t_end=T_END, breaks=pulse, **pace, **START)
            for force in (half_open, other_half)
        )
        np.testing.assert_array_equal(one.position, other.position)
        assert float(one.position[-1, 0]) == pytest.approx(closed_form(pulse), rel=0, abs=1e-8)


def test_a_pulse_that_chosen_steps_leap_over():
    short = (2.2, 2.2 + 1e-6)
    blow, blind = 1e6 * np.sin(T_END - 2.2), np.cos(T_END)
    system = pushed(short, size=1e12)
    pace = {"steps": ph.Tolerance(1e-6), "t_end": T_END} | START
    missed = float(ph.integrate(system, "mkrk:dp5", **pace).position[-1, 0])
    assert missed == pytest.approx(blind, abs=1e-4)  # why it has to be said
    found = ph.integrate(system, "mkrk:dp5", breaks=short, **pace)
    assert float(found.position[-1, 0]) == pytest.approx(blow, rel=1e-4)
    assert set(short) <= set(found.time.values)
    wide = (2.2, 2.3)
    seen = ph.integrate(
        pushed(wide, size=1e3), "mkrk:dp5", steps=ph.Tolerance(1e-6, max_step=0.05), t_end=T_END, **START
    )
    assert float(seen.position[-1, 0]) == pytest.approx(closed_form(wide, 1e3), rel=1e-4)


@each("pulse", [ON_GRID, OFF_GRID])
def test_reversible_steps_keep_their_order(pulse):
    errors = []
    for h in (0.02, 0.01):
        ds = ph.integrate(pushed(pulse), "reversible:v2", step=h, t_end=T_END, breaks=pulse, **START)
        errors.append(abs(float(ds.position[-1, 0]) - closed_form(pulse)))
    assert errors[0] < 1e-3 and np.log2(errors[0] / errors[1]) > 1.8


@each("method, pace", [("mkrk:gauss8", {"step": 0.1}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-13)})])
def test_backwards_it_is_undone(method, pace):
    for pulse in (ON_GRID, OFF_GRID, (0.0, T_END)):
        there = ph.integrate(pushed(pulse), method, t_end=T_END, breaks=pulse, **pace, **START)
        last = {name: there[name][-1].values for name in START}
        back = ph.integrate(pushed(pulse), method, start={"time": T_END}, t_end=0.0, breaks=pulse, **pace, **last)
        for name, value in START.items():
            np.testing.assert_allclose(back[name][-1], value, rtol=0, atol=1e-11)


@each("method, pace", [("rkn6_14a", {"step": 0.1}), ("mkrk:dp8", {"steps": ph.Tolerance(1e-11)})])
def test_slices_samples_events_and_resuming_change_nothing(monkeypatch, tmp_path, method, pace):
    arguments = {"t_end": T_END, "breaks": OFF_GRID, "events": ["apsis"], **pace, **START}
    whole = ph.integrate(pushed(OFF_GRID), method, **arguments)
    samples = ph.integrate(pushed(OFF_GRID), method, **arguments, t_eval=[0.95, 1.3, T_END])
    assert float(samples.position[0, 0]) == pytest.approx(closed_form(OFF_GRID, t=0.95), abs=1e-8)
    np.testing.assert_array_equal(samples.position[-1], whole.position[-1])
    monkeypatch.setattr(stepping, "FIRST_SLICE", 1)
    monkeypatch.setattr(stepping.Run, "adjust", lambda run, elapsed: None)
    cut = ph.integrate(pushed(OFF_GRID), method, **arguments)
    assert cut.identical(whole) and ph.rerun(whole, force=half_open).identical(whole)

    class Stop(Exception):
        pass

    def stopping(progress):
        if progress.share >= 0.5:  # between the two breaks
            raise Stop

    store = tmp_path / "run.zarr"
    with pytest.raises(Stop):
        ph.integrate(
            pushed(OFF_GRID), method, **arguments, store=ph.Store(store, checkpoint_seconds=0), progress=stopping
        )
    assert ph.resume(store, force=half_open).identical(whole)


def test_what_breaks_must_be():
    for wrong, told in (
        ([0.5, 3.5], r"breaks has t = 3.5, outside of the run from t = 0 to 3"), ([np.nan], "finite"),
        ("soon", "breaks must be real numbers"), ([[1.0]], "flat sequence"),
    ):  # fmt: skip
        with pytest.raises(ph.errors.InvalidInput, match=told):
            ph.integrate(pushed(ON_GRID), "v2", step=0.1, t_end=T_END, breaks=wrong, **START)


def test_breaks_in_a_scenario(tmp_path):
    (tmp_path / "pulse.py").write_text(
        "def push(t, position, velocity, parameters):\n"
        "    on = parameters[0] if parameters[1] <= t < parameters[2] else 0.0\n"
        "    return (on - position[0], -position[1], -position[2])\n"
    )
    scenario = tmp_path / "pulse.toml"
    scenario.write_text(
        'method = "rkn6_14a"\n[system]\ntype = "particle"\nforce = "pulse.py:push"\n'
        "parameters = [2.0, 0.9137, 2.0411]\n"
        "[initial]\nposition = [1.0, 0.0, 0.0]\nvelocity = [0.0, 0.5, 0.0]\n"
        "[run]\nstep = 0.05\nt_end = 3.0\nbreaks = [0.9137, 2.0411]\n"
    )
    ds = ph.runs.read_scenario(scenario, allow_code=True).integrate()
    assert float(ds.position[-1, 0]) == pytest.approx(closed_form(OFF_GRID), abs=1e-9)
    scenario.write_text(scenario.read_text().replace("[0.9137, 2.0411]\n", "[0.9137, 4]\n"))
    with pytest.raises(ph.errors.InvalidInput, match=r"pulse.toml:12: run.breaks.*outside of the run"):
        ph.runs.read_scenario(scenario, allow_code=True)
