"""Plain Python functions of the user: every way to write one, every way to get one wrong."""

from __future__ import annotations

import functools
import math
import operator
import re
import traceback
import warnings
from fractions import Fraction

import numpy as np
import pytest

import polhode as ph
from cover import chosen
from each import each
from polhode.algebra import rotation

METHOD = "mkrk:rk4"
START = {"attitude": (0.5, 0.5, -0.5, 0.5), "angular_velocity": (0.3, -0.2, 1.1)}
NUMBERS = (0.7, -1.3)


def run(torque, steps=12, method=METHOD, parameters=NUMBERS, **more):
    system = ph.rigid_body((1.0, 2.0, 2.5), torque=torque, parameters=parameters)
    return ph.integrate(system, method, step=0.05, steps=steps, **START | more)


@pytest.fixture(scope="module")
def expected():
    return run(reference)


def reference(t, q, omega, parameters):
    """What all the spellings below mean."""
    return (
        parameters[0] * q[1] - omega[0],
        parameters[1] * math.sin(t) + 2.0 * omega[1],
        omega[0] * q[3] - parameters[0] * omega[2],
    )


# ------------------------------------------------------------------ spellings numba understands
def as_list(t, q, omega, parameters):
    return [
        parameters[0] * q[1] - omega[0],
        parameters[1] * math.sin(t) + 2 * omega[1],
        omega[0] * q[3] - parameters[0] * omega[2],
    ]


def as_array(t, q, omega, p):
    return np.array([p[0] * q[1] - omega[0], p[1] * np.sin(t) + 2 * omega[1], omega[0] * q[3] - p[0] * omega[2]])


def with_arrays(t, q, omega, p):
    diagonal = np.array([-1.0, 2.0, -p[0]])
    return diagonal * omega + np.array([p[0] * q[1], p[1] * np.sin(t), omega[0] * q[3]])


def unpacked(t, q, omega, p):
    _w, x, _y, z = q
    a, b, c = omega
    return p[0] * x - a, p[1] * math.sin(t) + b + b, a * z - p[0] * c


def doubled(t, q, omega, p):
    """Of tuples ``omega + omega`` has six entries, of arrays it is twice the vector."""
    both = omega + omega
    return (p[0] * q[1] - both[0] / 2, p[1] * math.sin(t) + both[1], omega[0] * q[3] - p[0] * both[2] / 2)


def closure(first, second):
    def torque(t, q, omega, parameters):
        return (first * q[1] - omega[0], second * math.sin(t) + 2 * omega[1], omega[0] * q[3] - first * omega[2])

    return torque


def helped(t, q, omega, p):
    return reference(t, q, omega, p)


def dictionary(t, q, omega, parameters):
    kept = {"torque": reference(t, q, omega, parameters), "time": t, 3: None}
    return kept["torque"]


COMPILED = {
    "list": as_list,
    "array": as_array,
    "arrays": with_arrays,
    "unpacked": unpacked,
    "doubled": doubled,
    "closure": closure(*NUMBERS),
    "helped": helped,
    "dictionary": dictionary,
    "lambda": lambda t, q, w, p: (p[0] * q[1] - w[0], p[1] * math.sin(t) + 2 * w[1], w[0] * q[3] - p[0] * w[2]),
}


@each("name", COMPILED)
def test_compiled_spellings(name, expected):
    ds = run(COMPILED[name])  # a SlowFunctionWarning would be an error here
    np.testing.assert_allclose(ds.angular_momentum, expected.angular_momentum, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ds.attitude, expected.attitude, rtol=0, atol=1e-14)


# ------------------------------------------------------------------ spellings that run as Python
class Motor:
    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t, q, omega, parameters):
        return reference(t, q, omega, self.gain)

    def torque(self, t, q, omega, parameters):
        return reference(t, q, omega, self.gain)


def more_arguments(gain, t, q, omega, parameters):
    return reference(t, q, omega, gain)


def fractions(t, q, omega, parameters):
    return [Fraction(x) for x in reference(t, q, omega, parameters)]


PLAIN = {
    "fractions": (fractions, "'fractions'"),
    "instance": (Motor(NUMBERS), "'Motor'"),
    "method": (Motor(NUMBERS).torque, "'torque'"),
    "partial": (functools.partial(more_arguments, NUMBERS), "'partial'"),
}


@each("name", chosen(PLAIN, ["fractions", "instance"]))
def test_spellings_that_run_as_python(name, expected):
    function, told = PLAIN[name]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        system = ph.rigid_body((1.0, 2.0, 2.5), torque=function, parameters=NUMBERS)
        ds = ph.integrate(system, METHOD, step=0.05, steps=12, **START)
        again = ph.integrate(system, METHOD, step=0.05, steps=12, **START)
    assert [w.category for w in seen] == [ph.errors.SlowFunctionWarning]
    message = str(seen[0].message)
    assert message.startswith(f"torque {told}")
    assert "us a call" in message and "times slower (" in message
    np.testing.assert_allclose(ds.angular_momentum, expected.angular_momentum, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ds.work, expected.work, rtol=0, atol=1e-14)
    assert ds.identical(again) and abs(float(ds.work[-1, 0])) > 0.1


def test_a_builtin_as_force():
    ds = ph.integrate(ph.particle(force=lambda t, r, v, p: np.cross(v, p), parameters=(0, 0, 1.0)), METHOD,
                      step=0.05, steps=20, velocity=(1, 0, 0))  # fmt: skip
    np.testing.assert_allclose(ds.velocity[-1], [math.cos(1), -math.sin(1), 0], rtol=0, atol=1e-6)
    with pytest.raises(
        ph.errors.InvalidInput, match=r"torque 'sin' must take the arguments \(t, q, omega, parameters\)"
    ):
        ph.rigid_body((1, 2, 2.5), torque=math.sin)


def test_the_array_meaning_also_where_tuples_agree_by_accident():
    """At rest, 0 + 0 is 0 either way; the trial states that are not at rest tell the meanings apart."""

    def entries(t, q, omega, parameters):
        both = q + q
        return (both[0] + omega[0], both[2], both[3])

    ds = ph.integrate(ph.rigid_body((1, 2, 2.5), torque=entries), METHOD, step=0.01, steps=1)
    np.testing.assert_allclose(ds.angular_momentum[-1], [0.02, 0, 0], rtol=0, atol=1e-3)


def test_functions_may_return_whole_numbers():
    ds = ph.integrate(ph.rigid_body((1, 1, 1), torque=lambda t, q, w, p: (0, 0, 1)), METHOD, step=0.1, steps=10)
    np.testing.assert_allclose(ds.angular_momentum[-1], [0, 0, 1], rtol=0, atol=1e-14)


def test_parameters_are_the_users_own():
    given = [2.0, 3.0]
    ds = run(lambda t, q, w, p: (p[0], p[1], 1.0 * len(p)), parameters=given, attitude=None, angular_velocity=None,
             steps=1)  # fmt: skip
    np.testing.assert_allclose(ds.angular_momentum[-1], [0.1, 0.15, 0.1], rtol=0, atol=2e-4)
    assert given == [2.0, 3.0]


def test_a_function_that_writes_into_its_parameters_spoils_no_other_run():
    def greedy(t, q, omega, parameters):
        parameters[0] += 1.0
        return (0.0, 0.0, 0.3)

    system = ph.rigid_body((1, 2, 2.5), torque=greedy, parameters=[2.0])
    first = ph.integrate(system, METHOD, step=0.05, steps=12, **START)
    np.testing.assert_array_equal(system.parameters, [2.0])
    assert ph.rerun(first, torque=greedy).identical(first)


# ------------------------------------------------------------------ what goes wrong
def fails_late(t, q, omega, parameters):
    if t > 0.31:
        raise ValueError("the wheel is saturated")
    return (0.1, omega[0], 0.0)


def quiet(function):
    def torque(t, q, omega, parameters):
        return (0.1, omega[0], 0.0)

    return torque


@each("every", [1, 4, 100])
def test_an_exception_stops_the_run_with_the_users_traceback(every):
    with pytest.raises(ph.errors.UserFunctionError) as caught:
        run(fails_late, steps=40, every=every)
    error = caught.value
    assert "torque 'fails_late' (test_user_functions.py:" in str(error)
    assert re.search(
        r"raised ValueError: the wheel is saturated \(test_user_functions.py:\d+, at t = 0.325\) in step 6", str(error)
    )
    assert error.exit_code == 6 and error.step == 6 and error.time == pytest.approx(0.3)
    assert type(error.__cause__) is ValueError
    last = traceback.extract_tb(error.__cause__.__traceback__)[-1]
    assert last.filename == __file__ and last.name == "fails_late"
    assert last.line == 'raise ValueError("the wheel is saturated")'
    whole = run(quiet(None), steps=6)
    kept = sorted({*range(0, 7, every), 6})
    np.testing.assert_array_equal(error.trajectory.time, whole.time[kept])
    np.testing.assert_array_equal(error.trajectory.attitude, whole.attitude[kept])
    assert "ValueError" in error.trajectory.attrs["incomplete"]


def test_an_exception_at_the_start():
    def never(t, q, omega, parameters):
        raise RuntimeError("not today")

    with pytest.raises(ph.errors.UserFunctionError, match="raised RuntimeError: not today") as caught:
        run(never)
    assert type(caught.value.__cause__) is RuntimeError


def test_an_exception_that_comes_once():
    """In a function that runs as Python, by a memory that no reader of source sees: the failing step, taken again,
    succeeds; the error stands."""
    calls = []
    count = operator.methodcaller("append", 0.0), operator.methodcaller("__len__")

    def moody(t, q, omega, parameters):
        count[0](calls)
        if count[1](calls) == 70:
            raise ValueError("only once")
        return (0.0, 0.0, 1.0)

    with (
        pytest.warns(ph.errors.SlowFunctionWarning),
        pytest.raises(ph.errors.UserFunctionError, match="only once") as caught,
    ):
        run(moody, steps=40, every=10)
    assert 0 < caught.value.step < 20 and type(caught.value.__cause__) is ValueError
    assert caught.value.trajectory.time[-1] == caught.value.time
    assert caught.value.trajectory.sizes["time"] == caught.value.step // 10 + 1 + (caught.value.step % 10 > 0)
    assert traceback.extract_tb(caught.value.__cause__.__traceback__)[-1].name == "moody"


WRONG = {
    "two numbers": (lambda omega: np.array([1.0, 2.0]), "returned array([1., 2.]) at t = 0.325; it must return 3 num"),
    "text": (lambda omega: "abc", "returned 'abc' at t = 0.325; it must return 3 numbers"),
    "digits": (lambda omega: ("1", "2", "3"), "returned ('1', '2', '3') at t"),
    "none": (lambda omega: None, "returned None at t"),
    "complex": (lambda omega: (1j, 0, 0), "returned (1j, 0, 0) at t"),
    "ragged": (lambda omega: (1.0, (2.0, 3.0), 4.0), "returned (1.0, (2.0, 3.0), 4.0) at t"),
    "with none": (lambda omega: [1.0, None, 3.0], "returned [1.0, None, 3.0] at t"),
    "nan": (lambda omega: (1.0, math.nan, 0.0), "returned [ 1. nan  0.] at t = 0.325; every number must be finite"),
    "infinite": (lambda omega: (1.0, math.inf, 0.0), "returned [ 1. inf  0.] at t = 0.325; every number must be fi"),
    "long": (lambda omega: list(range(100)), "returned [0, 1, 2, 3"),
}


def wrong_later(t, q, omega, parameters):
    if t > 0.31:
        return LATER[int(parameters[0])](omega)
    return (0.1, 0.0, 0.0)


LATER = [later for later, _ in WRONG.values()]


@each("name", WRONG)
@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
def test_wrong_values_after_some_time(name):
    with pytest.raises(ph.errors.UserFunctionError) as caught:
        run(wrong_later, steps=40, parameters=[list(WRONG).index(name)])
    error = caught.value
    assert WRONG[name][1] in str(error) and "\n" not in str(error) and len(str(error)) < 250
    assert error.step == 6 and error.trajectory.sizes["time"] == 7
    assert error.__cause__ is None


@each("method", [METHOD, pytest.param("trapm", marks=pytest.mark.full), "mkrk:gauss4"])
def test_compiled_functions_with_wrong_values_are_named(method):
    """Compiled, a wrong length or a NaN is found by taking the failing step again in Python."""

    def short(t, q, omega, parameters):
        return omega[: 3 if t < 0.31 else 2] * 0.1

    def undefined(t, q, omega, parameters):
        return omega * (math.nan if t > 0.31 else 0.1)

    for function, told in ((short, "it must return 3 numbers"), (undefined, "every number must be finite")):
        with pytest.raises(ph.errors.UserFunctionError, match=told) as caught:
            run(function, steps=40, method=method)
        assert caught.value.trajectory.sizes["time"] == caught.value.step + 1


def test_a_run_that_blows_up_does_not_blame_the_function():
    with pytest.raises(ph.errors.NotFinite, match="infinite or not a number"):
        run(lambda t, q, w, p: w * 1e60, steps=40, method="forward_euler_m", settings={"guard": False})


@each("returned", [(1.0, 2.0), None, "abc", ((1, 2, 3), (1, 2, 3))])
def test_wrong_values_at_the_start(returned):
    with pytest.raises(
        ph.errors.UserFunctionError, match=r"at t = 0; it must return 3 numbers \(x, y, z\) in the body frame"
    ):
        run(lambda t, q, w, p: returned)


def test_wrong_arguments():
    with pytest.raises(ph.errors.InvalidInput, match="must take the arguments"):
        ph.rigid_body((1, 2, 2.5), torque=lambda t, q, omega: (0, 0, 0))
    with pytest.raises(ph.errors.InvalidInput, match="must be a function of"):
        ph.rigid_body((1, 2, 2.5), torque=(0, 0, 1))
    with pytest.raises(ph.errors.InvalidInput, match=r"force '<lambda>' .* must take the arguments \(t, position"):
        ph.particle(force=lambda t: (0, 0, 0))


# ------------------------------------------------------------------ frames
def in_space(t, q, omega, parameters):
    """A torque fixed in space plus friction, in the user's body frame."""
    w, x, y, z = q
    up = (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z)
    return (0.4 * up[0] - 0.1 * omega[0], 0.4 * up[1] - 0.1 * omega[1], 0.4 * up[2] - 0.1 * omega[2])


def test_the_user_sees_the_users_own_frame_only():
    """A body described in turned axes moves as the body described in its principal axes."""
    moments = np.diag((1.0, 2.0, 2.5))
    frame = np.array((0.7, -0.1, 0.5, 0.5)) / np.linalg.norm((0.7, -0.1, 0.5, 0.5))
    R = rotation.matrix_from_quaternion(frame)
    q, omega = np.array(START["attitude"]), np.array(START["angular_velocity"])
    plain = ph.integrate(ph.rigid_body(moments, torque=in_space), METHOD, step=0.02, steps=50, **START)
    turned = ph.integrate(
        ph.rigid_body(R @ moments @ R.T, torque=in_space), METHOD, step=0.02, steps=50,
        attitude=rotation.multiply(q, rotation.conjugate(frame)), angular_velocity=R @ omega,
    )  # fmt: skip
    back = rotation.multiply(turned.attitude.values, frame)
    np.testing.assert_allclose(back, plain.attitude.values, rtol=0, atol=1e-12)
    for name in ("angular_momentum", "angular_velocity"):
        np.testing.assert_allclose(turned[name].values @ R, plain[name].values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(turned.angular_momentum_space, plain.angular_momentum_space, rtol=0, atol=1e-12)
    np.testing.assert_allclose(turned.kinetic_energy, plain.kinetic_energy, rtol=0, atol=1e-12)


def test_torque_in_a_turned_frame_acts_about_the_users_axes():
    R = rotation.matrix_from_quaternion(np.array((0.5, 0.5, 0.5, -0.5)))
    inertia = R @ np.diag((1.0, 2.0, 2.5)) @ R.T
    ds = ph.integrate(ph.rigid_body(inertia, torque=lambda t, q, w, p: (0, 0, 1)), METHOD, step=1e-3, steps=1)
    np.testing.assert_allclose(ds.angular_momentum[-1], [0, 0, 1e-3], rtol=0, atol=1e-9)


# ------------------------------------------------------------------ potentials
def height(t, q, parameters):
    """The weight of ``heavy_top``, as a potential of the user's."""
    w, x, y, z = q
    up = (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z)
    return parameters[0] * (parameters[1] * up[0] + parameters[2] * up[1] + parameters[3] * up[2])


def test_the_derivative_of_a_potential_is_its_torque():
    tensor = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, 0.2], [0.0, 0.2, 1.0]])
    system = ph.rigid_body(tensor, potential=height, parameters=(3.0, 0.1, 0.2, 0.9))
    same = ph.heavy_top(tensor, (0.1, 0.2, 0.9), 3.0)
    assert system.conserves == same.conserves == ("energy", "vertical_angular_momentum")
    mine = ph.integrate(system, METHOD, step=0.02, steps=50, **START)
    theirs = ph.integrate(same, METHOD, step=0.02, steps=50, **START)
    for name in ("attitude", "angular_momentum", "potential_energy", "energy"):
        np.testing.assert_allclose(mine[name], theirs[name], rtol=0, atol=2e-12)


def test_the_derivative_torque_at_many_attitudes():
    generator = np.random.default_rng(1)
    step = 1e-6
    for _ in range(5):
        q = generator.normal(size=4)
        q /= np.linalg.norm(q)
        system = ph.rigid_body((1, 1.5, 2), potential=height, parameters=(3.0, 0.1, 0.2, 0.9))
        ds = ph.integrate(system, "forward_euler", step=step, steps=1, attitude=q)
        up = rotation.rotate_inverse(q, np.array((0, 0, 1.0)))
        exact = -3.0 * np.cross((0.1, 0.2, 0.9), up)
        np.testing.assert_allclose(ds.angular_momentum.values[-1] / step, exact, rtol=0, atol=3e-13)


def test_a_reported_energy_only_enters_the_energy():
    ds = ph.integrate(ph.rigid_body((1, 2, 2.5), torque=reference, reported_energy=height,
                                    parameters=(0.7, -1.3, 0.2, 1.0)),
                      METHOD, step=0.05, steps=12, **START)  # fmt: skip
    alone = run(reference)
    np.testing.assert_array_equal(ds.angular_momentum, alone.angular_momentum)
    q = ds.attitude.values
    np.testing.assert_allclose(
        ds.potential_energy, [height(0, x, (0.7, -1.3, 0.2, 1.0)) for x in q], rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(ds.energy, alone.kinetic_energy + ds.potential_energy, rtol=0, atol=1e-15)
    assert "potential_energy" not in alone


@each("value", ["raise", "nan"])
def test_a_reported_energy_that_fails_late_costs_no_trajectory(value):
    def potential(t, q, parameters):
        if t > 0.31:
            if parameters[0] > 0.0:
                raise ValueError("no potential here")
            return math.nan
        return q[0]

    system = ph.rigid_body((1, 2, 2.5), torque=lambda t, q, w, p: (0.0, 0.0, 0.1), reported_energy=potential,
                           parameters=[1.0 if value == "raise" else -1.0])  # fmt: skip
    with pytest.raises(ph.errors.UserFunctionError) as caught:
        ph.integrate(system, METHOD, step=0.05, steps=12, **START)
    error = caught.value
    assert ("no potential here" if value == "raise" else "every number must be finite") in str(error)
    assert error.step == 7 and error.time == pytest.approx(0.35)
    assert error.trajectory.sizes["time"] == 7 and np.isfinite(error.trajectory.energy).all()


# ------------------------------------------------------------------ bodies that move through space
def test_a_particle_in_its_own_potential():
    stiffness = 4.0
    built_in = ph.integrate(ph.particle(mass=2.0, stiffness=stiffness), METHOD, step=0.02, steps=100,
                            position=(1, 0, 0.5), velocity=(0, 1, 0))  # fmt: skip
    for given in (
        {"potential": lambda t, r, p: 0.5 * p[0] * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2])},
        {"force": lambda t, r, v, p: -p[0] * r},
    ):
        ds = ph.integrate(ph.particle(mass=2.0, parameters=[stiffness], **given), METHOD, step=0.02, steps=100,
                          position=(1, 0, 0.5), velocity=(0, 1, 0))  # fmt: skip
        np.testing.assert_allclose(ds.position, built_in.position, rtol=0, atol=1e-12)
    omega = math.sqrt(stiffness / 2.0)
    exact = np.cos(2 * omega) * np.array((1, 0, 0.5)) + np.sin(2 * omega) / omega * np.array((0, 1, 0))
    np.testing.assert_allclose(built_in.position[-1], exact, rtol=0, atol=1e-6)


def test_the_derivative_force_of_a_kepler_potential():
    def kepler(t, r, p):
        return -p[0] / math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])

    r = np.array((0.8, -0.3, 0.5))
    ds = ph.integrate(ph.particle(potential=kepler, parameters=[1.0]), "forward_euler", step=1e-3, steps=1, position=r)
    np.testing.assert_allclose(ds.momentum[-1] / 1e-3, -r / np.linalg.norm(r) ** 3, rtol=1e-10)


def test_a_body_with_six_degrees_of_freedom():
    """A thruster fixed in a body that spins about it: force and torque each follow their law."""

    def thruster(t, position, velocity, q, omega, parameters):
        w, x, y, z = q
        thrust = parameters[0]
        along = (2 * (x * z + w * y) * thrust, 2 * (y * z - w * x) * thrust, (1 - 2 * x * x - 2 * y * y) * thrust)
        return along, (0.0, 0.0, parameters[1])

    system = ph.rigid_body((1, 1, 2), mass=2.0, load=thruster, parameters=(3.0, 0.5))
    ds = ph.integrate(system, METHOD, step=0.05, steps=40, attitude=(0.8, 0.6, 0, 0), position=(1, 2, 3))
    direction = rotation.rotate(np.array((0.8, 0.6, 0, 0)), np.array((0, 0, 1.0)))
    t = ds.time.values[:, None]
    np.testing.assert_allclose(ds.position, (1, 2, 3) + 0.5 * t**2 * 1.5 * direction, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ds.angular_momentum[:, 2], 0.5 * ds.time, rtol=0, atol=1e-12)
    arrays = ph.rigid_body((1, 1, 2), mass=2.0, parameters=(3.0, 0.5),
                           load=lambda t, r, v, q, w, p: (-p[0] * r - v, np.array([0.0, 0.0, p[1]])))  # fmt: skip
    ds = ph.integrate(arrays, METHOD, step=0.05, steps=40, position=(1, 2, 3))
    assert np.linalg.norm(ds.position[-1]) < np.linalg.norm(ds.position[0])
    np.testing.assert_allclose(ds.angular_momentum[-1], [0, 0, 1.0], rtol=0, atol=1e-12)


def test_a_load_of_the_wrong_shape():
    with pytest.raises(ph.errors.UserFunctionError, match=r"it must return a force .* and a torque"):
        ph.integrate(ph.rigid_body((1, 1, 2), mass=2.0, load=lambda t, r, v, q, w, p: (0.0, 0.0, 1.0)), METHOD,
                     step=0.05, steps=1)  # fmt: skip


# ------------------------------------------------------------------ mistakes of users, and what they are told
def swapped(position, t, parameters):
    return position[0]


def of_another_system(t, position, parameters):
    return position[0]


def by_name(t, q, parameters):
    return parameters["stiffness"] * q[1]


def forgotten(t, q, parameters):
    return parameters[1] * q[1]


def too_far(t, q, parameters):
    return q[4]


class Measured:
    """What astropy's quantities are like."""

    unit = "J"

    def __repr__(self):
        return "<Quantity 3.0\n J>"


AT_DEFINITION = {
    "swapped": (ph.particle, {"potential": swapped}, r"'swapped' \(.*\) has the argument 'position' where it is given "
                r"t; it must take the arguments \(t, position, parameters\), in this order"),
    "of another system": (lambda **given: ph.rigid_body((1, 2, 2.5), **given), {"potential": of_another_system},
                          "has the argument 'position' where it is given q"),
    "too few": (ph.particle, {"force": lambda t, r: r}, r"in this order, not \(t, r\)"),
}  # fmt: skip
AT_FIRST_CALL = {
    "by name": (
        by_name,
        r"only integers.*; parameters is an array of 1 number \(test_user_functions.py:\d+, at t = 0\)",
    ),
    "forgotten": (forgotten, r"index 1 is out of bounds.*; parameters is an array of 1 number \(test_user_func"),
    "too far": (too_far, r"index 4 is out of bounds for axis 0 with size 4 \(test_user_functions.py:\d+, at t = 0\)"),
    "with a unit": (
        lambda t, q, p: Measured(),
        "returned <Quantity 3.0 J> at t = 0; it must return one number, plain",
    ),
}


@each("name", AT_DEFINITION)
def test_mistakes_at_definition(name):
    build, given, said = AT_DEFINITION[name]
    with pytest.raises(ph.errors.InvalidInput, match=said):
        build(**given)


@each("name", AT_FIRST_CALL)
def test_mistakes_found_by_the_first_call(name):
    function, said = AT_FIRST_CALL[name]
    system = ph.rigid_body((1, 2, 2.5), potential=function, parameters=[1.0])
    with pytest.raises(ph.errors.UserFunctionError, match=said):
        ph.integrate(system, "v2", step=0.1, steps=2)


def test_a_place_may_be_called_q():
    assert ph.particle(potential=lambda t, q, p: q[0] ** 2).conserves == ("energy",)


def test_a_function_made_from_a_text_has_no_source_of_another_file():
    from polhode.systems.user.function import record_of

    names = {"__name__": "polhode.errors"}  # whose loader knows its own file, and no file "cell"
    exec(compile("\n\n\ndef pull(body):\n    return body.position[2]\n", "cell", "exec"), names)
    assert record_of(names["pull"])["source"] == "(no source: pull)"
