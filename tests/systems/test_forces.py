"""Forces as records: of one's own with and without potential, kinds that share code, refusals; paths of bodies."""

from __future__ import annotations

import dataclasses
import json
import re
import runpy
import textwrap
from math import pi

import mpmath
import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import forces
from polhode.algebra.so3 import axpy, dot, scale
from polhode.errors import InvalidInput
from polhode.kernel.jit import disabled
from polhode.surroundings import paths
from polhode.systems.record import Switch
from test_orbit import CIRCLE, PLACES, SAMPLES, TIMES, R, V, load, potential


# ------------------------------------------------------------------ forces of one's own
def yukawa_acceleration(p, at, mu, t, r, v):
    size = np.sqrt(dot(r, r))
    w = p[at] * mu * np.exp(-size / p[at + 1]) / (size * size * size) * (1.0 + size / p[at + 1])
    return (-w * r[0], -w * r[1], -w * r[2])


def yukawa_potential(p, at, mu, t, r):
    size = np.sqrt(dot(r, r))
    return -p[at] * mu * np.exp(-size / p[at + 1]) / size


def yukawa(strength, reach):
    given = {"strength": strength, "reach": reach}
    return forces.Force(
        "yukawa", "a fifth force", given, (strength, reach), yukawa_acceleration, yukawa_potential, axial=True
    )


def schwarzschild_acceleration(p, at, mu, t, r, v):
    """First post-Newtonian term of a point mass, harmonic coordinates."""
    size = np.sqrt(dot(r, r))
    w = mu / (p[at] * p[at] * size * size * size)
    return axpy(w * (4.0 * mu / size - dot(v, v)), r, scale(4.0 * w * dot(r, v), v))


def schwarzschild(speed):
    return forces.Force("schwarzschild", "bent space", {"speed": speed}, (speed,), schwarzschild_acceleration)


def swing_acceleration(p, at, mu, t, r, v):
    return (0, 0, p[at] * np.cos(p[at + 1] * t))  # whole numbers are numbers too


def swing_potential(p, at, mu, t, r):
    return -p[at] * np.cos(p[at + 1] * t) * r[2]


def swing_rate(p, at, mu, t, r):
    return p[at] * p[at + 1] * np.sin(p[at + 1] * t) * r[2]


def swing(size, rate):
    given = {"size": size, "rate": rate}
    functions = (swing_acceleration, swing_potential, swing_rate)
    return forces.Force("swing", "a field that swings", given, (size, rate), *functions)


def test_a_force_of_ones_own_with_a_potential():
    """Against the derivative of its potential by mpmath, and in a run whose energy stays."""
    system, mu = ph.orbit(2.0, 3.0, [forces.uniform((0.0, 0.0, 0.1)), yukawa(0.3, 0.8)]), 2.0

    def exact(x, y, z):
        size = mpmath.sqrt(x * x + y * y + z * z)
        return -mu / size * (1 + mpmath.mpf(0.3) * mpmath.exp(-size / mpmath.mpf(0.8))) - mpmath.mpf(0.1) * z

    with mpmath.workdps(40):
        at = tuple(map(mpmath.mpf, R))
        slope = [float(mpmath.diff(exact, at, tuple(np.eye(3, dtype=int)[k].tolist()))) for k in range(3)]
        assert potential(system) == pytest.approx(float(exact(*at)), rel=2e-15)
    np.testing.assert_allclose(load(system), np.negative(slope), rtol=2e-15)
    assert system.conserves == ("energy", "vertical_angular_momentum") and not system.auxiliary
    ph.checks.check_system(system, position=(1.5, 0.3, 0.2), velocity=(0.1, 1.0, 0.3)).raise_for_failure()
    ds = ph.integrate(system, "rkn6_14a/kepler", step=0.01, t_end=20.0, every=200, position=R, velocity=V)
    assert abs(ds.energy_error).max() < 1e-11
    craft = ph.spacecraft((1.0, 1.5, 2.0), 2.0, 3.0, forces=[yukawa(0.3, 0.8)])
    ph.checks.check_system(craft, position=(1.5, 0.3, 0.2), velocity=(0.1, 1.0, 0.3)).raise_for_failure()


def test_a_force_of_ones_own_without_potential():
    """The periapsis advances by 6 pi mu / (c^2 a (1 - e^2)) in a revolution; the work of the force is booked."""
    speed, e = 1e4, 0.3
    force = schwarzschild(speed)
    assert force.velocity_dependent and force.autonomous and not force.conservative
    system = ph.orbit(1.0, forces=[force])
    assert [one.label for one in system.auxiliary] == ["schwarzschild"] and system.recommended == "mkrk:cv8"
    start = {"position": (1 - e, 0, 0), "velocity": (0, np.sqrt((1 + e) / (1 - e)), 0)}
    turns = 20
    ds = ph.integrate(system, "mkrk:gauss8", step=2 * pi / 200, t_end=2 * pi * turns, every=100, events=["periapsis"],
                      **start)  # fmt: skip
    r = ds.event_position.values
    angle = np.unwrap(np.arctan2(r[:, 1], r[:, 0]))
    advance = np.polyfit(np.arange(len(angle)), angle, 1)[0]
    assert advance == pytest.approx(6 * pi / (speed**2 * (1 - e * e)), rel=1e-3)
    assert abs(ds.energy_error).max() < 1e-13 and abs(ds.work).max() > 0


def test_a_potential_of_ones_own_that_depends_on_time():
    system = ph.orbit(1.0, 2.0, [swing(0.1, 1.3), swing(0.2, 0.4)])
    assert [one.label for one in system.auxiliary] == ["swing 1", "swing 2"]
    np.testing.assert_allclose(
        load(system)[2] + R[2] / np.linalg.norm(R) ** 3, 0.1 * np.cos(0.39) + 0.2 * np.cos(0.12), rtol=1e-14
    )
    ds = ph.integrate(system, "rkn8_17", step=0.02, t_end=10.0, every=100, position=(1, 0, 0.2), velocity=(0, 1, 0.1))
    assert abs(ds.energy_error).max() < 1e-12 and abs(ds.energy_change).max() > 0.01


@each("name, expected", [("fg6_5", 6), ("pmlf6", 6), ("s4_6", 4)])
def test_works_of_a_potential_that_depends_on_time_have_the_order_of_the_motion(name, expected):
    """Modified kicks change the rate of the work too."""
    system = ph.orbit(1.0, 1.0, [swing(0.3, 1.3)])
    start = {"position": (1, 0, 0.2), "velocity": (0, 1, 0.1), "t_end": 2.0}
    truth = ph.integrate(system, "rkn8_17", step=0.02, **start).work[-1, 0]
    errors = [abs(float(ph.integrate(system, name, step=h, **start).work[-1, 0] - truth)) for h in (0.1, 0.05)]
    assert errors[0] < 1e-6 and np.log2(errors[0] / errors[1]) == pytest.approx(expected, abs=0.6)


def test_a_potential_is_enough():
    """Acceleration and rate are derived; equal to those by hand, without more auxiliary variables or kinds."""
    given, reach = forces.Force("yukawa", "a fifth force", {}, (0.3, 0.8), potential=yukawa_potential), yukawa(0.3, 0.8)
    assert given.autonomous and not given.velocity_dependent and given.potential_rate is None
    swinging = forces.Force("swing", "a field that swings", {}, (0.1, 1.3), potential=swing_potential)
    halfway = forces.Force("swing", "", {}, (0.1, 1.3), swing_acceleration, swing_potential)
    by_hand = ph.orbit(2.0, 3.0, [reach, swing(0.1, 1.3)])
    for one in (swinging, halfway):
        system = ph.orbit(2.0, 3.0, [given, one])
        np.testing.assert_allclose(load(system), load(by_hand), rtol=2e-15)
        assert [a.label for a in system.auxiliary] == ["swing"] and not one.autonomous
    start = {"position": (1.5, 0.3, 0.2), "velocity": (0.1, 1.0, 0.3)}
    ph.checks.check_system(system, **start).raise_for_failure()
    ph.checks.check_system(
        ph.spacecraft((1.0, 1.5, 2.0), 2.0, 3.0, forces=[given, swinging]), **start
    ).raise_for_failure()
    ds = ph.integrate(system, "rkn8_17", step=0.02, t_end=10.0, every=100, **start)
    assert abs(ds.energy_error).max() < 1e-12 and abs(ds.energy_change).max() > 0.01
    other = dataclasses.replace(given, numbers=(0.1, 0.4))
    assert given.made == other.made and ph.orbit(2.0, forces=[given]).loads is ph.orbit(2.0, forces=[other]).loads


def multipoles(p, at, mu, t, r):
    """Of as many terms as its first number says."""
    size, total = np.sqrt(dot(r, r)), 0.0
    for n in range(int(p[at])):
        total += p[at + 1] * (r[2] / size) ** n / size ** (n + 1)
    return total


def test_a_potential_may_loop_over_its_numbers():
    three = forces.Force("poles", "", {}, (3.0, 0.1), potential=multipoles)
    weaker, two = (dataclasses.replace(three, numbers=n) for n in ((3.0, 0.05), (2.0, 0.1)))
    both, alone = ph.orbit(2.0, forces=[three, two]), [ph.orbit(2.0, forces=[one]) for one in (three, weaker, two)]
    assert alone[1].loads is alone[0].loads is not alone[2].loads
    centre = load(ph.orbit(2.0))
    np.testing.assert_allclose(load(both) + centre, load(alone[0]) + load(alone[2]), rtol=1e-14)
    ph.checks.check_system(both, position=R, velocity=V).raise_for_failure()


def test_a_potential_may_use_what_kernels_do_not_have():
    """``np.dot`` of tuples cannot be compiled; what it computes can."""
    given = forces.Force("spring", "", {}, (0.7,), potential=lambda p, at, mu, t, r: 0.5 * p[at] * np.dot(r, r))
    system = ph.orbit(2.0, forces=[given])
    ph.checks.check_system(system, position=R, velocity=V).raise_for_failure()
    assert potential(system) == pytest.approx(-2.0 / np.linalg.norm(R) + 0.35 * np.dot(R, R), rel=1e-15)


def test_what_a_run_switches_is_not_built_in():
    def gated(p, at, mu, t, r):
        return p[at + 1] * r[0] if p[at] > 0.0 else 0.0

    force = forces.Force("gate", "", {}, (0.0, 0.3), potential=gated, switches=(Switch(0, 1.0, 2.0, "gate"),))
    system, bare = ph.orbit(1.0, forces=[force]), load(ph.orbit(1.0))
    for t, on in ((0.5, 0.0), (1.5, 1.0)):
        np.testing.assert_allclose(load(system, t=t) - bare, (-0.3 * on, 0.0, 0.0), rtol=1e-14, atol=1e-16)


def test_flags_follow_from_what_the_functions_read():
    assert swing(1.0, 1.0).autonomous is False and yukawa(1.0, 1.0).autonomous is True
    assert schwarzschild(1.0).velocity_dependent is True and yukawa(1.0, 1.0).velocity_dependent is False
    assert forces.thrust(1.0, "velocity").velocity_dependent and not forces.thrust(1.0, "radial").velocity_dependent


def test_a_force_that_was_added_is_a_kind_of_mappings(monkeypatch):
    monkeypatch.setattr(forces, "FORCES", type(forces.FORCES)(forces.FORCES))

    def hill(strength: float, reach: float = 0.5) -> forces.Force:
        """A fifth force."""
        return dataclasses.replace(yukawa(strength, reach), kind="hill", arguments={"strength": strength})

    with pytest.raises(AttributeError, match=r"'polhode\.forces' has no attribute 'hill'"):
        _ = forces.hill
    assert forces.add_force(hill) is hill and forces.hill is hill
    system = ph.orbit(2.0, forces=[{"kind": "hill", "strength": 0.3}])
    assert system.arguments["forces"] == [{"kind": "hill", "strength": 0.3}]
    ds = ph.integrate(system, "v2", step=0.01, steps=5, position=R, velocity=V)
    np.testing.assert_array_equal(ph.rerun(ds).position, ds.position)


def test_a_force_that_was_not_added_acts_but_is_not_repeated():
    system = ph.orbit(2.0, forces=[yukawa(0.3, 0.8)])
    ds = ph.integrate(system, "v2", step=0.01, steps=5, position=R, velocity=V)
    with pytest.raises(
        InvalidInput, match=r"unknown kind of force 'yukawa'; .*; add_force makes one of your own known"
    ):
        ph.rerun(ds)


def test_the_example_of_the_module_runs(monkeypatch):
    monkeypatch.setattr(forces, "FORCES", type(forces.FORCES)(forces.FORCES))
    block = re.search(r"there is one:\n\n((?: {4}.*\n|\n)+)", forces.__doc__)[1]
    names = {"forces": forces}
    exec(textwrap.dedent(block), names)
    system = ph.orbit(1.0, forces=[{"kind": "friction", "rate": 0.5}])
    np.testing.assert_allclose(load(system) + R / np.linalg.norm(R) ** 3, -0.5 * V, rtol=1e-14)
    assert system.arguments == ph.orbit(1.0, forces=[forces.friction(0.5)]).arguments


# ------------------------------------------------------------------ kinds
def factory(power):
    def acceleration(p, at, mu, t, r, v):
        return scale(-(p[at] ** power), v)

    return forces.Force("brake", "a brake", {}, (0.5,), acceleration)


def test_forces_of_one_kind_share_their_code():
    """Other values change no kernel."""
    first = [forces.zonal(J2=0.1, radius=0.9), forces.drag(kd=0.2, radius=1.5, scale=0.6)]
    second = [forces.zonal(J2=0.3, radius=2.0, axis=(0, 0, -1)), forces.drag(kd=0.1, radius=1.0, scale=0.5, rotation=1)]
    one, other = ph.orbit(1.0, forces=first), ph.orbit(2.0, 3.0, second)
    assert one.loads is other.loads and one.potential is other.potential
    assert ph.orbit(1.0).loads is ph.orbit(3.0).loads is not one.loads
    assert len({one.load.function for one in SAMPLES.values()}) == 9


def test_functions_that_compile_to_the_same_are_one_kind():
    same, cubed = [factory(2), factory(2)], factory(3)
    assert same[0].acceleration is not same[1].acceleration and same[0].made == same[1].made
    assert same[0].made != cubed.made
    expected = -(0.25 + 0.25 + 0.125) * V
    system = ph.orbit(1.0, forces=[same[0], cubed, same[1]])
    np.testing.assert_allclose(load(system) + R / np.linalg.norm(R) ** 3, expected, rtol=1e-14)


SCRIPT = """
import numpy as np, polhode as ph
from polhode.kernel import jit
def mine(p, at, mu, t, r, v):
    return (-p[at] * v[0], -p[at] * v[1], -VALUE * v[2])
force = ph.forces.Force("mine", "mine", {}, (0.5,), mine)
system, compiled = ph.orbit(1.0, forces=[force, ph.forces.uniform((0, 0, 1.0))]), []
with jit.watched(lambda: compiled.append(1)):
    system.compiled_loads(0.0, np.zeros(13))
print(len(compiled))
"""


@pytest.mark.skipif(disabled(), reason="nothing is compiled")
def test_a_force_of_ones_own_is_compiled_by_one_process(tmp_path, capsys, forked):
    """The second process finds the kernel on disk, of a number that no kernel had before."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("VALUE", repr(1.0 + np.random.default_rng().random())))
    runpy.run_path(str(script))
    assert capsys.readouterr().out.strip() == "1"
    assert forked(f"import runpy; runpy.run_path({str(script)!r})") == 0


# ------------------------------------------------------------------ refusals
def short(p, at, mu, t, r, v):
    return (p[at], 0.0)


def careless(p, at, mu, t, r, v):
    return (p[0], 0.0, 0.0)


def broken(p, at, mu, t, r, v):
    return (r.x, 0.0, 0.0)


def gated_potential(p, at, mu, t, r):
    while t > p[at + 1]:
        t = t - p[at + 1]
    return -p[at] * r[2] * t


def switched_potential(p, at, mu, t, r):
    return -p[at] * r[2] if t < p[at + 1] else 0.0


def of_tuples(p, at, mu, t, r):
    return dot((r + r)[0:3], r)


def careless_potential(p, at, mu, t, r):
    return p[0] * r[0]


def made(*functions, numbers=(1.0,), **more):
    return forces.Force("mine", "mine", {}, numbers, *functions, **more)


@each(
    ("build", "said"),
    [
        (lambda: made(), r"force 'mine' has no acceleration; give acceleration\(p, at, mu, t, r, v\)"),
        (lambda: made(3), "force 'mine' has 3 as its acceleration; it must be a plain function"),
        (lambda: made(lambda p, at: p), r"which must take the arguments \(p, at, mu, t, r, v\), in this order"),
        (lambda: made(swing_acceleration, swing_acceleration), r"the potential 'swing_acceleration', which must take"),
        (lambda: made(swing_acceleration, gated_potential, numbers=(1.0, 2.0)),
         r"the potential 'gated_potential', from which its potential_rate does not follow: it decides .*"
         r"test_forces.py:\d+\); or give potential_rate\(p, at, mu, t, r\)"),
        (lambda: made(None, gated_potential, numbers=(1.0, 2.0)), r"its acceleration does not follow: .*; or give"),
        (lambda: made(None, switched_potential, numbers=(1.0, 2.0)),
         "'switched_potential', from which its potential_rate does not follow: it decides by the time, and may jump"),
        (lambda: made(None, lambda p, at, mu, t, r: None), "which must return one number, not None"),
        (lambda: made(None, of_tuples), "from arrays than from tuples; or give acceleration"),
        (lambda: ph.orbit(1.0, forces=[made(None, careless_potential)]), r"whose result changes with at; its numbers"),
        (lambda: ph.orbit(1.0, forces=[forces.Force("uniform", "", {"acceleration": (0, 0, 1.0)}, (1.0, 2.0), None,
                                                    yukawa_potential)]), "has other functions than polhode.forces"),
        (lambda: made(yukawa_acceleration, None, swing_rate), "potential_rate without a potential; give both"),
        (lambda: made(schwarzschild_acceleration, yukawa_potential), "its acceleration depends on the velocity"),
        (lambda: made(yukawa_acceleration, numbers=(1.0, np.nan)), r"has the numbers \(1.0, nan\); they must be"),
        (lambda: made(yukawa_acceleration, numbers=3.0), "has the numbers 3.0; they must be finite numbers"),
        (lambda: made(yukawa_acceleration, flow=1.0), "uses up mass, but no switch says from when to when; give one"),
        (lambda: ph.orbit(1.0, forces=[dataclasses.replace(yukawa(1.0, 2.0), kind="uniform",
                                                           arguments={"acceleration": (0, 0, 1.0)})]),
         r"forces\[0\]: force 'uniform' has other functions than polhode\.forces\.uniform gives it; change its kind"),
        (lambda: ph.orbit(1.0, forces=[made(short)]), r"forces\[0\]: .*'short', which must return 3 numbers \(x, y"),
        (lambda: ph.orbit(1.0, forces=[made(careless)]), r"'careless', whose result changes with at; its numbers are"),
        (lambda: ph.orbit(1.0, forces=[made(broken)]), r"'broken', which raised .* \(test_forces.py:\d+\); mend it"),
        (lambda: ph.spacecraft((1, 1, 2), 1.0, forces=[forces.uniform((0, 0, 1)), made(broken)]), r"forces\[1\]: "),
    ],
)  # fmt: skip
def test_what_is_no_force_is_told(build, said):
    with pytest.raises(InvalidInput, match=said):
        build()


def test_arithmetic_at_the_trial_is_not_judged():
    def steep(p, at, mu, t, r, v):
        return (1.0 / (p[at] - 1.0), 10.0 ** (p[at] * 1e6), 0.0)

    assert ph.orbit(1.0, forces=[made(steep)]).velocity_dependent is False


@pytest.mark.skipif(disabled(), reason="nothing is compiled")
def test_a_function_that_does_not_compile_is_named():
    def odd(p, at, mu, t, r, v):
        return (p[at], 0.0, json.loads(str(r[0])))

    system = ph.orbit(1.0, forces=[made(odd)])
    with pytest.raises(InvalidInput, match=r"the loads of 'orbit' cannot be compiled: .* \(in the function 'odd'\)"):
        ph.integrate(system, "mkrk:rk4", step=0.1, steps=1, position=R, velocity=V)


# ------------------------------------------------------------------ paths of other bodies
def slopes(x, y):
    """Of the not-a-knot spline, from all conditions on the coefficients of its pieces as one linear system."""
    n, h = len(x), np.diff(x)
    A, b = [], []

    def row(right, **pieces):
        line = np.zeros((n - 1, 4))
        for name, values in pieces.items():
            line[int(name[1:])] = values
        A.append(line.ravel())
        b.append(right)

    for i in range(n - 1):
        powers = h[i] ** np.arange(4)
        row(y[i], **{f"p{i}": [1, 0, 0, 0]})
        row(y[i + 1], **{f"p{i}": powers})
        if i < n - 2:
            first = np.array([0, 1, 2 * h[i], 3 * h[i] ** 2])
            row(0, **{f"p{i}": first, f"p{i + 1}": [0, -1, 0, 0]})
            row(0, **{f"p{i}": [0, 0, 2, 6 * h[i]], f"p{i + 1}": [0, 0, -2, 0]})
    for i in (0, n - 3):
        row(0, **{f"p{i}": [0, 0, 0, 1], f"p{i + 1}": [0, 0, 0, -1]})
    pieces = np.linalg.solve(A, b).reshape(n - 1, 4)
    return np.append(pieces[:, 1], pieces[-1, 1:] @ (np.array((1, 2, 3)) * h[-1] ** np.arange(3)))


def test_slopes_of_a_table_are_those_of_its_spline():
    rows = np.reshape(paths.path_of(None, TIMES, PLACES, None).numbers[2:], (len(TIMES), 7))
    np.testing.assert_array_equal(rows[:, :4], np.column_stack([TIMES, PLACES]))
    for k in range(3):
        np.testing.assert_allclose(rows[:, 4 + k], slopes(TIMES, PLACES[:, k]), rtol=1e-12, atol=1e-13)


@each("given", [
    {"position": (1.0, 2.0, 3.0)}, {"circle": CIRCLE}, {"times": TIMES, "positions": PLACES},
], ids=("rest", "circle", "table"))  # fmt: skip
def test_velocities_are_the_rates_of_places(given):
    path, h = paths.path_of(**(dict.fromkeys(("position", "times", "positions", "circle")) | given)), 1e-4
    p = np.array((9.0, *path.numbers))
    for t in (-0.7, 0.2, 1.1, 3.3):
        near = [np.array(paths.place_at(p, 1, t + n * h)) for n in (-2, -1, 1, 2)]
        slope = (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h)
        np.testing.assert_allclose(paths.velocity_at(p, 1, t), slope, rtol=0, atol=1e-10)
    assert path.still == ("position" in given)
