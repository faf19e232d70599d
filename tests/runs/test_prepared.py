"""Many runs by one preparation: the same bits as one run after the other."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.kernel import jit
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator
from polhode.runs.parameters import with_parameters

TOP = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
BODIES = {
    "top": (TOP, "s4_6", {"step": 0.01, "steps": 25, "every": 10}, {"angular_velocity": (0.3, 0, 9)}),
    "chosen": (TOP, "mkrk:dp5", {"steps": ph.Tolerance(1e-8), "t_end": 0.5}, {"angular_velocity": (0.3, 0, 9)}),
    "orbit": (ph.orbit(1.0), "pmlf4", {"step": 0.1, "t_end": 1.0}, {"position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}),
    "clock": (ph.orbit(1.0), "reversible:v2", {"step": 0.1, "t_end": 1.0}, {
        "position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}),
    "burn": (ph.orbit(1.0, forces=[ph.forces.impulse(0.5, 0.1, "velocity")]), "mkrk:cv8", {"step": 0.1, "t_end": 1.0}, {
        "position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}),
}  # fmt: skip


@each("name", BODIES)
def test_prepared_runs_are_those_of_integrate_bit_for_bit(name):
    system, method, how, start = BODIES[name]
    prepared = ph.prepare(system, method, **how)
    turned = {key: tuple(1.1 * x for x in value) for key, value in start.items()}
    for given in (start, turned, start, turned):
        rows, ds = prepared.run(given), ph.integrate(system, method, start=given, **how)
        assert prepared.dataset(given).identical(ds)
        for key in ("time", "position", "momentum", "velocity", "attitude", "angular_momentum", "angular_velocity",
                    "energy"):  # fmt: skip
            assert key not in ds or (getattr(rows, key) == ds[key].values).all(), key


def test_parameters_and_a_run_that_goes_on():
    prepared = ph.prepare(TOP, "s4_6", step=0.01, steps=20)
    begun = ph.integrate(TOP, "s4_6", step=0.01, steps=10, angular_velocity=(0.3, 0, 9))
    prepared.run({"angular_velocity": (1.0, 0, 2)})
    lighter = {"start": begun, "parameters": {"weight": 10.0}}
    ds = ph.integrate(TOP, "s4_6", step=0.01, steps=20, **lighter)
    assert (prepared.run(**lighter).attitude == ds.attitude.values).all() and prepared.dataset(**lighter).identical(ds)


def test_a_failure_is_that_of_integrate():
    prepared = ph.prepare(ph.free_body((1, 2, 3)), "trapm", step=1.0, steps=3)
    calm = prepared.run({"angular_momentum": (0, 0.1, 0)}).attitude
    with pytest.raises(ph.errors.StepTooLarge) as caught:
        prepared.run({"angular_momentum": (0, 90.0, 0)})
    assert caught.value.trajectory is not None
    assert (prepared.run({"angular_momentum": (0, 0.1, 0)}).attitude == calm).all()
    with pytest.raises(ph.errors.InvalidInput, match="spin"):
        prepared.run({"spin": (0, 0, 1)})


@each(
    ("words", "told"),
    [
        ({"stepp": 0.1}, "argument of prepare .*did you mean 'step'"),
        ({"tableau": "rk4"}, "option of method 'v2/mr' 'tableau'"),
        ({"angular_velocity": (0, 0, 1)}, "angular_velocity is not for all runs of prepare"),
        ({"t_eval": [0.1]}, "t_eval is not for all runs of prepare"),
    ],
)
def test_a_word_unknown_is_refused_before_the_first_run(words, told):
    with pytest.raises(ph.errors.InvalidInput, match=told):
        ph.prepare(ph.free_body((1, 2, 3)), "v2/mr", step=0.1, steps=3, **words)


def braked(t, attitude, angular_velocity, parameters):
    return (-parameters[0] * angular_velocity[0], 0.0, parameters[1])


def counted(t, attitude, parameters):
    """Decides by a parameter, so that other values make another role."""
    return sum(attitude[1] ** 2 for _ in range(int(parameters[0])))


USER = ph.rigid_body((1, 2, 2.5), torque=braked, parameters=[0.1, 0.2])
SPIN, ORBIT = {"angular_velocity": (0.3, 0.1, 2.0)}, {"position": (1.0, 0, 0), "velocity": (0, 1.1, 0)}
J2 = ph.forces.zonal(radius=0.3, J2=1e-3)
GIVEN = {
    "weight": (TOP, "v2", SPIN, [{"weight": 19.0}, {"weight": -2}, None]),
    "top built again": (TOP, "v2", SPIN, [{"center_of_mass": (0, 0.1, 1)}, None, {"inertia": (5, 4, 2), "weight": 3}]),
    "numbers": (USER, "mkrk:cv8", SPIN, [[0.3, 0.1], (0.0, 1), {"parameters": [0.2, 0.2]}, None]),
    "inertia": (USER, "mkrk:cv8", SPIN, [{"inertia": (1, 2, 2.6), "parameters": [0.3, 0.1]}, None]),
    "free": (ph.free_body((1, 2, 2.5)), "exact", SPIN, [{"inertia": (1, 1, 2)}, {"inertia": (1, 2, 2.6)}, None]),
    "mu": (ph.orbit(1.0, forces=[J2]), "rkn6_14a/kepler", ORBIT, [{"mu": 1.2}, None, {"forces": [], "mu": 1.1}]),
    "craft": (ph.spacecraft((1, 2, 2.5), 1.0, mass=2.0, forces=[J2]), "rkn6_14a/kepler", ORBIT | SPIN, [{"mu": 1.2}]),
    "chosen": (TOP, "mkrk:dp5", SPIN, [{"weight": 19.0}, None, {"center_of_mass": (0, 0.1, 1)}]),
    "series": (TOP, "taylor", SPIN, [{"weight": 19.0}, {"center_of_mass": (0, 0.1, 1)}, None]),
    "count": (ph.rigid_body((1, 2, 2.5), potential=counted, parameters=[2]), "v2", SPIN, [[3], [2], None]),
    "two bodies": (
        ph.gravitating_bodies((1.0, 0.1)), "v2",
        {"position": ((0, 0, 0), (1, 0, 0)), "velocity": ((0, 0, 0), (0, 1, 0))}, [None, {"mu": (1.0, 0.2)}],
    ),
}  # fmt: skip


@each("name", GIVEN)
@each("every", [1, 3])
def test_parameters_of_a_run_give_the_bits_of_integrate(name, every):
    system, method, start, several = GIVEN[name]
    chosen = name in ("chosen", "series")
    how = {"steps": ph.Tolerance(1e-9), "t_end": 0.7} if chosen else {"step": 0.02, "steps": 10}
    how["every"] = every
    prepared = ph.prepare(system, method, **how)
    prepared.run(start)
    for given in several + several:
        rows, ds = (
            prepared.run(start, parameters=given),
            ph.integrate(system, method, start=start, parameters=given, **how),
        )
        assert (rows.time == ds.time.values).all()
        for key in ("attitude", "angular_velocity", "position", "velocity", "energy"):
            assert key not in ds or (getattr(rows, key) == ds[key].values).all(), (given, key)


@pytest.mark.skipif(jit.disabled() or sys.getprofile() is not None, reason="other functions are called then")
@each(
    ("name", "given"),
    [("weight", {"weight": 19.0}), ("numbers", [0.3, 0.1]), ("mu", {"mu": 1.2}), ("weight", None), ("free", None)],
)
def test_a_run_is_one_call_of_its_loop_and_little_else(name, given):
    system, method, start, _ = GIVEN[name]
    prepared, count, loops = ph.prepare(system, method, step=0.02, steps=10), [], []
    prepared.run(start)
    prepared.run(start, parameters=given)

    def profile(frame, event, called):
        if event == "call":
            count.append(frame.f_code.co_qualname)
        elif event == "c_call" and called.__name__.startswith("polhode_"):  # a kernel
            loops.append(called.__name__)

    sys.setprofile(profile)
    try:
        prepared.run(start, parameters=given)
    finally:
        sys.setprofile(None)
    assert len(loops) == 1 and loops[0].startswith("polhode_march_") and len(count) < 20, count


@each("name", ["top built again", "inertia", "free"])
def test_a_system_built_again_is_not_set_up_again(name, monkeypatch):
    system, method, start, (given, *_) = GIVEN[name]
    prepared = ph.prepare(system, method, step=0.02, steps=10)
    prepared.run(start)
    monkeypatch.setattr(Integrator, "__init__", None)
    monkeypatch.setattr(jit, "_compiled_kernel", None)
    assert len(prepared.run(start, parameters=given).time) == 11


@each("name", ["weight", "mu", "craft"])
def test_direct_arguments_are_parameters_and_nothing_else(name):
    system = GIVEN[name][0]
    for word, (k, _) in system.direct.items():
        other = with_parameters(system, {word: 1.25})
        parameters = system.parameters.copy()
        parameters[k] = 1.25
        assert (other.parameters == parameters).all() and (other.bodies == system.bodies).all()
        assert other.provides == system.provides and other.auxiliary == system.auxiliary


def pushed(t, position, velocity, parameters):
    return (parameters[0], 0.0, -parameters[1] * velocity[2])


def twisted(t, q, omega, parameters):
    return (parameters[0], 0.0, -parameters[1] * omega[2])


WITH_NUMBERS = {
    "body": lambda p: ph.rigid_body((1, 2, 2.5), torque=braked, parameters=p),
    "body in space": lambda p: ph.rigid_body(np.diag([1, 2, 2.5]) + 0.1, torque=braked, mass=2.0, parameters=p),
    "particle": lambda p: ph.particle(2.0, force=pushed, parameters=p),
    "orbit": lambda p: ph.orbit(
        1.0, 2.0, [J2, ph.forces.drag(kd=1e-3, radius=0.5, scale=1.0)], force=pushed, parameters=p
    ),
    "craft": lambda p: ph.spacecraft((1, 2, 2.5), 1.0, mass=2.0, forces=[J2], torque=twisted, parameters=p),
}


@each("name", WITH_NUMBERS)
def test_numbers_of_users_stand_behind_all_others(name):
    system, other = WITH_NUMBERS[name]([0.1, 0.2]), WITH_NUMBERS[name]([0.3, 0.5])
    parameters = system.parameters.copy()
    assert (parameters[-2:] == [0.1, 0.2]).all()
    parameters[-2:] = 0.3, 0.5
    assert (other.parameters == parameters).all() and (other.bodies == system.bodies).all()


def test_what_is_refused_is_told_after_runs_that_were_not():
    prepared = ph.prepare(TOP, "v2", step=0.02, steps=10)
    prepared.run(SPIN)
    calm = prepared.run(SPIN, parameters={"weight": 1.0}).attitude
    wrong = [
        (SPIN, {"weight": float("nan")}, "weight is nan"), (SPIN, {"wait": 1.0}, "weight"),
        (SPIN, {"weight": "heavy"}, "weight"), ({"angular_velocity": (0, 0)}, None, "angular_velocity"),
        (SPIN, [1.0], "takes numbers"), (SPIN, {"inertia": (1, 1, 3)}, "exceeds"),
    ]  # fmt: skip
    for start, given, told in wrong:
        with pytest.raises(ph.errors.InvalidInput, match=told):
            prepared.run(start, parameters=given)
    assert (prepared.run(SPIN, parameters={"weight": 1.0}).attitude == calm).all()
    positive = ph.prepare(ph.orbit(1.0), "rkn6_14a", step=0.02, steps=10)
    positive.run(ORBIT)
    with pytest.raises(ph.errors.InvalidInput, match="mu"):
        positive.run(ORBIT, parameters={"mu": -1.0})


GAIN = 0.3


def damped(t, attitude, angular_velocity, parameters):
    return (-GAIN * angular_velocity[0], parameters[0], 0.1)


def test_threads_share_what_is_prepared():
    interval = sys.getswitchinterval()
    system = ph.rigid_body((1, 2, 2.5), torque=damped, parameters=[0.1])
    starts = [{"angular_velocity": (0.3, 0.1 * k, 2.0)} for k in range(40)]
    how = {"step": 0.02, "steps": 30}
    wanted = [ph.integrate(system, "mkrk:cv8", start=start, **how).angular_velocity.values for start in starts]
    prepared = ph.prepare(system, "mkrk:cv8", **how)

    def right(k):
        found = [prepared.run(starts[k], parameters=[0.1] if k % 2 else None) for _ in range(10)]
        return all((one.angular_velocity == wanted[k]).all() for one in found)

    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(right, range(40)))
    finally:
        sys.setswitchinterval(interval)


def test_a_run_that_is_asked_for_within_a_run_has_arrays_of_its_own():
    system = ph.free_body((1, 2, 3))
    prepared = ph.prepare(system, "v2", step=0.1, steps=5)
    wanted = prepared.run(SPIN).angular_velocity.copy()
    arrays = prepared._idle.pop()  # as while a function of the user's runs
    other = prepared.run({"angular_velocity": (1, 0, 0)})
    prepared._idle.append(arrays)
    assert (other.angular_velocity[-1] == (1, 0, 0)).all()
    assert (prepared.run(SPIN).angular_velocity == wanted).all()


def test_what_a_function_reads_is_seen_when_it_changes(monkeypatch):
    cells = [0.3]

    def closed(t, attitude, angular_velocity, parameters):
        return (-cells[0] * angular_velocity[0], 0.0, 0.1)

    how = {"step": 0.02, "steps": 20}
    for torque in (damped, closed):
        system = ph.rigid_body((1, 2, 2.5), torque=torque, parameters=[0.0])
        prepared = ph.prepare(system, "mkrk:cv8", **how)
        for value in (0.3, 3.0, 0.0, 0.3):
            monkeypatch.setitem(globals(), "GAIN", value)
            cells[0] = value
            wanted = ph.integrate(system, "mkrk:cv8", start=SPIN, **how).angular_velocity.values
            for _ in range(2):
                assert (prepared.run(SPIN).angular_velocity == wanted).all(), (torque, value)


BEND = np.sin


def pushed_by_a_library(t, attitude, angular_velocity, parameters):
    return (BEND(t), 0.0, 0.1)


def test_a_name_of_a_library_may_be_given_to_another_of_its_functions(monkeypatch):
    system, how = ph.rigid_body((1, 2, 2.5), torque=pushed_by_a_library), {"step": 0.02, "steps": 20}
    prepared, found = ph.prepare(system, "mkrk:cv8", **how), []
    for bend in (np.sin, np.cos, np.sin):
        monkeypatch.setitem(globals(), "BEND", bend)
        found += [prepared.run(SPIN).angular_velocity[-1] for _ in range(2)]
        assert (found[-1] == ph.integrate(system, "mkrk:cv8", start=SPIN, **how).angular_velocity.values[-1]).all()
    assert (found[1] != found[3]).any() and (found[1] == found[5]).all()


def test_functions_of_their_arguments_alone_are_not_looked_at():
    assert jit.self_contained(braked) and jit.self_contained(counted) and not jit.self_contained(damped)
    assert not jit.self_contained(lambda t, gain=[1.0]: gain[0])
    assert not jit.self_contained(sys)


class Odd:
    """A number by its method alone."""

    def __float__(self):
        return 1.0


STARTS = (
    {}, {"angular_velocity": [1, 2, 3]}, {"angular_velocity": np.array([1.0, 2, 3])}, {"angular_velocity": None},
    {"angular_velocity": np.arange(3)}, {"angular_velocity": np.array(1.0)}, {"angular_velocity": np.eye(3)},
    {"angular_velocity": (True, 0, 0)}, {"angular_velocity": (np.float64(1), np.int64(2), np.float32(3))},
    {"angular_velocity": ("1", 0, 0)}, {"angular_velocity": (Odd(), 0, 0)}, {"angular_velocity": (10**400, 0, 0)},
    {"angular_velocity": (1e300, 0, 0)}, {"angular_velocity": (np.nan, 0, 0)}, {"angular_velocity": (1e-70, 0, 0)},
    {"angular_velocity": (0, 0, 1), "angular_momentum": (0, 0, 1)}, {"angular_velocity": (0, 1)},
    {"attitude": (1, 0, 0, 1e-9)}, {"attitude": (2, 0, 0, 0)}, {"attitude": np.eye(3)}, {"attitude": (0, 0, 0, 0)},
    {"position": (1, 0, 0), "velocity": (0, 1, 0)}, {"position": (1.0, 0, 0), "velocity": 0}, {"velocity": 0.0},
    {"position": (1.0, 0, 0)}, {"position": (0.0, 0, 0), "velocity": (0, 1, 0)}, {"velocity": (0, 1, 0)},
    {"position": (0.1, 0, 0), "velocity": (0, 1, 0)}, {"velocity": (0, 1, 0), "momentum": (0, 1, 0)},
    {"position": (1.0, 0, 0), "momentum": (0, 2, 0)}, {"position": (1e200, 0, 0)}, {"spin": (0, 0, 1)},
    {"position": (1.0, 0, 0), "velocity": (0, 1e99, 0)}, {"time": 1.0}, {"euler_angles": (0, 0, 1)},
    {"angular_velocity": (0, 0, 1)}, {"angular_velocity": (0, 0, 1), "attitude": np.roll(np.eye(3), 1, 0)},
    {"angular_velocity": (0, 0, 2)}, {"attitude": (0, 1.0, 0, 0), "angular_velocity": (0, 1)},
    {"angular_velocity": (0, 0, 3)},
)  # fmt: skip


@each("name", ["free", "point", "body", "craft"])
def test_whatever_a_start_says_is_what_integrate_makes_of_it(name):
    """What the kernel of repeated runs does not take is told as ever."""
    system, usual = {
        "free": (ph.free_body(np.diag((1, 2, 2.5)) + 0.1), SPIN), "point": (ph.orbit(1.0, surface=0.5), ORBIT),
        "body": (ph.rigid_body((1, 2, 2.5), mass=1e250), SPIN), "craft": (ph.spacecraft((1, 2, 3), 1.0), ORBIT | SPIN),
    }[name]  # fmt: skip
    prepared = ph.prepare(system, "v2", step=1e-3, steps=3)
    prepared.run(usual)
    fresh = ph.prepare(system, "v2", step=1e-3, steps=3)

    def told(run, start):
        try:
            rows = run(start)
        except ph.errors.PolhodeError as refused:
            return type(refused), str(refused)
        return rows.time.tobytes(), rows.states.tobytes()

    for start in STARTS:
        fresh._idle.clear()
        assert told(prepared.run, start) == told(fresh.run, start), start
        assert prepared._idle


@each("name", ["top", "orbit"])
@each("first", ["run", "dataset"])
def test_datasets_are_made_on_what_other_runs_have_left(name, first, monkeypatch):
    system, method, how, start = BODIES[name]
    prepared, other = ph.prepare(system, method, **how), {word: np.multiply(x, 1.1) for word, x in start.items()}
    wanted = [ph.integrate(system, method, start=one, **how) for one in (start, other)]
    getattr(prepared, first)(start)
    monkeypatch.setattr(Integrator, "__init__", None)
    assert all(prepared.dataset(one).identical(ds) for one, ds in zip((start, other), wanted, strict=True))
    assert (prepared.run(other).attitude == wanted[1].attitude.values).all() if "attitude" in wanted[1] else True


def test_a_start_by_the_kernel_is_that_of_arrays():
    """A row of one body goes another way than plain numbers do, over arrays of all bodies."""
    rng = np.random.default_rng(3)
    for moments in ((1.0, 1.7, 2.3), np.diag([2.0, 3.0, 4.0]) + 0.1):
        system = ph.rigid_body(moments)
        q, spin = rng.normal(size=4), rng.normal(size=3)
        q /= np.linalg.norm(q)
        for word in ("angular_velocity", "angular_momentum"):
            plain = start_state(system, attitude=tuple(q), **{word: tuple(spin)})
            np.testing.assert_array_equal(plain, start_state(system, attitude=q[None], **{word: spin[None]}))
