"""Compensated sums: what rounding leaves out of the state is kept, and told in the trajectory."""

import json
from fractions import Fraction

import numpy as np
import pytest

import polhode as ph
from cover import crossed, some
from each import each
from polhode.errors import InvalidInput
from polhode.methods import method as method_of
from polhode.runs.initial_state import initial_state, start_state
from polhode.runs.integrator import Integrator
from polhode.runs.scenario import read_scenario

MU, R0 = 3200.9998, 1664.029
START = {"position": (0.0, R0, 0.0), "velocity": (1.550663 * np.cos(0.9), 0.0, 1.550663 * np.sin(0.9))}
FORCES = [ph.forces.zonal(J2=1e-3, radius=1560.8), ph.forces.drag(kd=2e-6, radius=R0, scale=50.0)]
ORBIT = ph.orbit(MU, forces=FORCES)
KINDS = some(["s6_10/kepler", "kl8", "aba10_6_4/kepler", "pmlf6", "rkn4_6b", "mkrk:gauss6:cayley", "mkrk:cv8"], 3)
KINDS += ["bbtrapwd"]
"""Kicks alone, about the centre, processed, with commutator loads; explicit and implicit tableaux."""
PAIR = ["position", "momentum", "position_compensation", "momentum_compensation"]


def fall(method, n, compensated, h=0.1):
    """A stone that falls in uniform gravity, in steps no double can hold."""
    system = ph.particle(mass=1.0, gravity=(0.1, 0.0, -0.3))
    start = {"position": (1000.0, 0.0, 7.0), "velocity": (0.3, 0.7, 100.0)}
    return ph.integrate(system, method, step=h, steps=n, every=n, settings={"compensated": compensated}, **start)


def error(ds, n, h=0.1):
    """Largest errors of velocity and position, in units in the last place of the largest component."""
    t, worst = n * Fraction(h), np.zeros(2)
    found = [ds[name].values[-1] for name in ("velocity", "position")]
    unit = [np.spacing(np.abs(values).max()) for values in found]
    for k, (g, v, r) in enumerate([(0.1, 0.3, 1000.0), (0.0, 0.7, 0.0), (-0.3, 100.0, 7.0)]):
        speed = Fraction(v) + Fraction(g) * t
        place = Fraction(r) + Fraction(v) * t + Fraction(g) * t * t / 2
        off = [float(abs(Fraction(x[k]) - y)) for x, y in zip(found, (speed, place), strict=True)]
        worst = np.maximum(worst, np.divide(off, unit))
    return worst


@each("method", ["v2", "kl8", "mkrk:rk4", "mkrk:gauss4"])
def test_a_long_fall_is_exact_to_the_last_place(method):
    """Measured after 1e5 steps, in units in the last place: 0.2 and 0.6, of kl8 0.9 and 1.4 (plain: 1,700 to 27,000).

    What is left comes from fractions of a step whose sum is not 1 to the last place.
    """
    n = 100_000
    assert (error(fall(method, n, True), n) <= 2.0).all()
    assert (error(fall(method, n, False), n) > 100.0).any()


@each("method", KINDS)
def test_nothing_but_round_off_changes(method):
    """Order and all else are those of the plain steps: 20 steps differ by round-off (measured: 4e-15)."""
    how = {"step": 20.0, "steps": 20, "every": 20, **START}
    plain, carried = (ph.integrate(ORBIT, method, settings={"compensated": c}, **how) for c in (False, True))
    for name in ("position", "momentum", "work"):
        size = np.abs(plain[name].values[-1]).max()
        assert np.abs(plain[name].values[-1] - carried[name].values[-1]).max() < 1e-14 * size
    assert not set(PAIR[2:]) & set(plain) and "sums" not in plain.attrs
    assert "compensated" not in json.loads(plain.attrs["run"])
    assert carried.attrs["sums"] == "compensated" and carried.attrs["order"] == plain.attrs["order"]
    carry, size = carried.position_compensation.values[-1], np.abs(carried.position.values[-1])
    assert carry.any() and (np.abs(carry) <= 0.5 * np.spacing(size)).all()


@each("method", KINDS)
def test_numbers_do_not_depend_on_rows_and_come_again(method):
    how = {"step": 20.0, "settings": {"compensated": True}, **START}
    few = ph.integrate(ORBIT, method, steps=60, every=60, **how)
    many = ph.integrate(ORBIT, method, steps=60, every=7, **how)
    aside = ph.integrate(ORBIT, method, t_end=1200.0, t_eval=[130.0, 777.7, 1200.0], **how)
    again = ph.rerun(few)
    for name in [*PAIR, "work"]:
        for other in (many, aside, again):
            assert (other[name].values[-1] == few[name].values[-1]).all()
    assert again.attrs["sums"] == "compensated"


@each("method", ["kl8", "rkn6_14a/kepler", "mkrk:cv8", "mkrk:gauss6"])
def test_a_run_goes_on_from_the_carries(method):
    """Bit for bit with them, not without."""
    how = {"step": 16.0, "settings": {"compensated": True}, "every": 64}
    system = ph.orbit(MU, forces=FORCES[:1])
    whole = ph.integrate(system, method, steps=128, **START, **how)
    last = ph.integrate(system, method, steps=64, **START, **how).isel(time=-1)
    state = {name: last[name].values for name in ("position", "momentum")}
    carries = [*last.position_compensation.values, *last.momentum_compensation.values]
    on = ph.integrate(system, method, steps=64, start={"time": 1024.0, "compensation": carries}, **state, **how)
    anew = ph.integrate(system, method, start={"time": 1024.0}, steps=64, **state, **how)
    for name in PAIR:
        assert (on[name].values[-1] == whole[name].values[-1]).all()
    assert (anew.position.values[-1] != whole.position.values[-1]).any()


def test_chosen_steps_and_rows_between_them():
    """Dense output has carries of its own, and rejected steps leave none behind."""
    how = {"steps": ph.Tolerance(1e-12, first_step=9000.0), "t_end": 12000.0, **START}
    times = np.linspace(0.0, 12000.0, 41)
    carried = ph.integrate(ORBIT, "mkrk:dp8", settings={"compensated": True}, t_eval=times, **how)
    plain = ph.integrate(ORBIT, "mkrk:dp8", t_eval=times, **how)
    assert carried.attrs["steps_rejected"] > 0
    assert np.abs(carried.position.values - plain.position.values).max() < 1e-8
    held = np.abs(carried.position_compensation.values[1:])
    assert (held <= 0.5 * np.spacing(np.abs(carried.position.values[1:]))).all()
    alone = ph.integrate(ORBIT, "mkrk:dp8", settings={"compensated": True}, **how)
    assert (alone.position.values[-1] == carried.position.values[-1]).all()


@each("method", ["s6_10", "s6_10/dmv6", "mkrk:cv8"])
def test_bodies_that_also_turn(method):
    """Nothing couples the rotation to the motion through space; its sums are compensated by most methods, too."""
    body = ph.rigid_body([1.0, 2.0, 3.0], mass=3.0)
    start = {"position": (1000.0, 0.0, 0.0), "velocity": (0.1, 0.7, 0.3), "angular_velocity": (0.1, 0.2, 0.3)}
    plain, carried = (
        ph.integrate(body, method, step=0.1, steps=200, every=200, settings={"compensated": c}, **start)
        for c in (False, True)
    )
    for name in ("attitude", "angular_momentum"):
        assert np.abs(plain[name].values - carried[name].values).max() < 5e-15
        assert (plain[name].values == carried[name].values).all() == (method == "s6_10/dmv6")
        assert (f"{name}_compensation" in carried) == (method != "s6_10/dmv6")
    assert (plain.position.values[-1] != carried.position.values[-1]).any()


@each("method", ["trapm", "rotation_vector", "forward_euler"])
def test_methods_without_say_which_have_them(method):
    with pytest.raises(InvalidInput, match=r"no compensated sums; take a splitting such as 'rkn6_14a', or 'mkrk:gaus"):
        ph.integrate(ph.particle(gravity=(0.0, 0.0, -1.0)), method, step=0.1, steps=1, settings={"compensated": True})


def test_where_nothing_is_summed():
    with pytest.raises(InvalidInput, match="do not move through space; leave them out, or take a splitting with ex"):
        ph.integrate(ph.free_body([1.0, 2.0, 3.0]), "s6_10/dmv6", step=0.1, steps=1, settings={"compensated": True})
    with pytest.raises(InvalidInput, match="compensation is given without the setting compensated"):
        ph.integrate(ORBIT, "s6_10", step=0.1, steps=1, start={"compensation": [0.0] * 6}, **START)
    with pytest.raises(InvalidInput, match="compensation must be"):
        ph.integrate(
            ORBIT,
            "s6_10",
            step=0.1,
            steps=1,
            start={"compensation": [0.0] * 3},
            settings={"compensated": True},
            **START,
        )


TOPS = {
    "one": (ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0), {}),
    "in space": (ph.rigid_body((1.0, 1.5, 2.2), mass=3.0),
                 {"position": (1000.0, 0.0, 0.0), "velocity": (0.1, 0.7, 0.3)}),
}  # fmt: skip
SPIN = {"rotation_vector": (0.3, 0.1, 0.2), "angular_momentum": (0.6, 1.0, 0.5)}


@each(("method", "top"), crossed(["taylor16", "s6_10", "rkn6_14a", "mkrk:cv8", "mkrk:gauss6:cayley"], TOPS))
def test_rotations_do_not_depend_on_rows_and_go_on_from_their_compensation(top, method):
    """Taylor methods always compensate; mkrk and splittings with exact free rotations where it is asked for."""
    system, start = TOPS[top]
    how = {"step": 0.03125, "settings": {} if method == "taylor16" else {"compensated": True}}
    attitude = ph.rotation.exp_quaternion(SPIN["rotation_vector"])
    start = start | {"attitude": attitude, "angular_momentum": SPIN["angular_momentum"]}
    whole = ph.integrate(system, method, steps=96, every=96, **start, **how)
    assert whole.attrs["sums"] == "compensated"
    rows = ph.integrate(system, method, steps=96, every=7, **start, **how)
    half = ph.integrate(system, method, steps=48, every=48, **start, **how)
    rest = ph.integrate(system, method, steps=48, every=48, start=half, **how)
    left = np.concatenate([half[name].values[-1] for name in half if name.endswith("_compensation")])
    names = {name: half[name].values[-1] for name in start if name != "velocity"}
    if "velocity" in start:
        names["momentum"] = half.momentum.values[-1]
    numbers = left if top == "in space" else [*np.zeros(6), *left]
    typed = ph.integrate(
        system, method, steps=48, every=48, start={"time": 1.5, "compensation": numbers}, **names, **how
    )
    anew = ph.integrate(system, method, steps=48, every=48, start={"time": 1.5}, **names, **how)
    compensated = [name for name in whole if name.endswith("_compensation")]
    assert {"attitude_compensation", "angular_momentum_compensation"} <= set(compensated)
    for name in ("attitude", "angular_momentum", *compensated):
        for other in (rows, ph.rerun(whole), rest, typed):
            assert (other[name].values[-1] == whole[name].values[-1]).all()
    assert (anew.attitude_compensation.values[-1] != whole.attitude_compensation.values[-1]).any()
    size = np.spacing(np.abs(whole.attitude.values[-1]))
    assert (np.abs(whole.attitude_compensation.values[-1]) <= 0.5 * size).all()


def test_compensation_is_in_the_users_frame():
    """As attitude and angular momentum are: what a row says makes the state the run had, up to round-off."""
    tensor = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]])
    top, taylor16 = ph.heavy_top(tensor, (0.1, 0.2, 0.9), 1.0), method_of("taylor16")
    bench = Integrator(top, taylor16, start_state(top, angular_momentum=(0.6, 1.0, 0.5)))
    assert bench.march(0, 32, 33, 0.0, 0.03125) == 0
    ds = ph.integrate(top, "taylor16", step=0.03125, steps=32, every=32, angular_momentum=(0.6, 1.0, 0.5))
    names = ("attitude", "angular_momentum", "compensation")
    given = {name: value[None] for name, value in ph.State.of(ds).given.items() if name in names}
    made = initial_state(top, taylor16, given, 0.0)
    np.testing.assert_allclose(made[:13], bench.y[:13], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(made[13:], bench.y[13:], rtol=1e-12, atol=1e-30)
    assert bench.y[13:].any()


def test_scenarios_and_their_rest(tmp_path):
    path = tmp_path / "orbit.toml"
    path.write_text(
        'method = "kl8"\n[system]\ntype = "orbit"\nmu = 3200.9998\n[initial]\nposition = [0.0, 1664.029, 0.0]\n'
        "velocity = [1.550663, 0.0, 0.0]\n[run]\nstep = 16.0\nsteps = 128\nevery = 64\ncompensated = true\n"
    )
    scenario = read_scenario(path)
    whole = scenario.integrate()
    half = whole.isel(time=slice(0, 2))
    rest = scenario.continued(half).integrate()
    assert rest.attrs["sums"] == "compensated"
    for name in PAIR:
        assert (rest[name].values[-1] == whole[name].values[-1]).all()
