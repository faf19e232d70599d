"""What a call costs beside its kernels: counted in calls of Python functions, not timed."""

from __future__ import annotations

import json
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import methods
from polhode.kernel import jit
from polhode.runs import initial_state, request, resolution
from polhode.runs.repeated import Repeated
from polhode.runs.request import Request

TOP = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
TENSOR = ((3.0, 0.2, 0.1), (0.2, 2.0, 0.3), (0.1, 0.3, 2.5))
counting = pytest.mark.skipif(jit.disabled() or sys.getprofile() is not None, reason="other functions are called then")


def calls(run):
    """How many Python functions a second and later calls of ``run`` call: the least of some."""
    counts = []

    def count(frame, event, _):
        counts[-1] += event == "call"

    run()
    for _ in range(3):
        counts.append(0)
        sys.setprofile(count)
        try:
            run()
        finally:
            sys.setprofile(None)
    return min(counts)


@counting
@each(("system", "method", "most"), [(TOP, "v2", 640), (ph.free_body((1, 2, 3)), "exact", 540)], ids=["top", "free"])
def test_a_short_run_calls_few_functions(system, method, most):
    def run(steps=10):
        ph.integrate(system, method, step=0.01, steps=steps, angular_velocity=(0, 0.1, 5))

    assert calls(run) < most
    assert calls(lambda: run(500)) <= calls(run) + 60  # further slices


@counting
def test_the_loads_of_all_rows_are_looked_at_together(monkeypatch):
    loop, counted = resolution.load_loop(), []
    monkeypatch.setattr(resolution, "load_loop", lambda *part: lambda *given: counted.append(1) or loop(*given))
    ph.integrate(TOP, "v2", step=0.01, steps=20, angular_velocity=(0, 0.1, 5))
    assert counted == [1]


STARTS = {
    "top": (TOP, {"attitude": (0.6, 0.0, 0.8, 0.0), "angular_velocity": (0.1, -0.3, 5)}),
    "turned": (ph.heavy_top(TENSOR, (0, 0, 1), 2.0), {"attitude": [0.6, 0, 0.8, 1e-8], "angular_momentum": (1, 2, 3)}),
    "rest": (TOP, {}),
    "body": (ph.rigid_body(TENSOR, mass=3.0), {"angular_velocity": np.array([1.0, 2, 3]), "velocity": (1.0, 0.1, 7)}),
    "point": (ph.orbit(2.0), {"position": (1.1, 0, 0), "velocity": 0}),
    "momentum": (ph.particle(2.0), {"position": (1.1, 0, 0), "momentum": (0.1, 0.2, 0.3)}),
}


@each("name", STARTS)
def test_the_short_way_to_a_start_gives_the_bits_of_the_long_one(name, monkeypatch):
    system, given = STARTS[name]
    quick = initial_state.start_state(system, **given)
    used = []
    monkeypatch.setattr(initial_state, "of_one_body", lambda *_: used.append(1))
    slow = initial_state.start_state(system, **given)
    assert used and quick.tobytes() == slow.tobytes()
    monkeypatch.undo()
    assert initial_state.of_one_body(system.alone, given) is not None
    prepared = ph.prepare(system, "v2", step=1e-3, steps=1)
    prepared.run(given)
    assert (left := prepared._idle[0].answer(given)) and left[2][0, :13].tobytes() == slow.tobytes()


def test_coordinates_that_are_labels_are_indexes():
    """Variables along a dimension of their own name, such as the sites of a molecule."""
    water = ph.rigid_water(2, box=2.0)
    ds = ph.integrate(water, "v2", step=1e-4, steps=1, position=((0, 0, 0), (0.5, 0.5, 0.5)))
    assert "site" in ds.indexes and "site" in ds.coords and ds.site_mass.sel(site="O").item() > 10


def braked(t, attitude, angular_velocity, parameters):
    return (-parameters[0] * angular_velocity[0], 0.0, 0.1)


def well(t, attitude, parameters):
    return parameters[0] * attitude[1] ** 2


NEW = {
    "torque of a user": (
        lambda k: ph.rigid_body((1, 2, 2.5 + k), torque=braked, parameters=[0.1 + k]), "mkrk:cv8",
        {"angular_velocity": (0, 0.1, 5)},
    ),
    "potential of a user": (
        lambda k: ph.rigid_body((1, 2, 2.5 + k), potential=well, parameters=[0.1 + k]), "v2",
        {"angular_velocity": (0, 0.1, 5)},
    ),
    "top": (lambda k: ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0 + k), "v2", {"angular_velocity": (0, 0.1, 5)}),
    "tensor": (lambda k: ph.free_body(np.array(TENSOR) * (1 + k)), "exact", {"angular_velocity": (0, 0.1, 5)}),
    "rod": (lambda k: ph.heavy_top((5 + k, 5 + k, 0), (0, 0, 1), 20.0), "v2", {"angular_velocity": (0, 0.1, 0)}),
    "orbit": (
        lambda k: ph.orbit(1.0 + k, forces=[ph.forces.drag(kd=1e-3 * k, radius=0.5, scale=1.0)]), "mkrk:cv8",
        {"position": (1.0, 0, 0), "velocity": (0, 1.1, 0)},
    ),
}  # fmt: skip


@counting
@each("name", NEW)
def test_a_new_system_of_a_kind_finds_its_kernels_in_the_process(name, monkeypatch):
    """Nothing is compiled, digested, bound or read from disk for it."""
    make, method, start = NEW[name]

    def run(k, times=1):
        system = make(k)
        for _ in range(times):
            ph.integrate(system, method, step=0.01, steps=5, **start)

    run(0.01, 2)  # of which the second has a kernel of its own
    for function in ("bind", "_compiled_kernel", "helper"):
        monkeypatch.setattr(jit, function, None)
    run(0.02)
    again = make(0.03)
    assert calls(lambda: ph.integrate(make(0.04), method, step=0.01, steps=5, **start)) < 900 + calls(
        lambda: ph.integrate(again, method, step=0.01, steps=5, **start)
    )


def test_the_record_of_many_bodies_holds_the_bytes_of_their_state():
    """Written as digits, the numbers of 10^4 bodies took two thirds of the time of a call."""
    n, rng = 100, np.random.default_rng(1)
    bodies = ph.gravitating_bodies(np.full(n, 1e-3))
    start = {"position": rng.normal(size=(n, 3)), "velocity": 0.1 * rng.normal(size=(n, 3))}
    ds = ph.integrate(bodies, "v2", step=1e-3, steps=2, **start)
    kept = json.loads(ds.attrs["run"])["state"]
    assert isinstance(kept, str) and len(kept) < 15 * n * 13
    assert ph.rerun(ds).identical(ds)
    asked = Request.from_json(ds.attrs["run"], {})
    assert json.loads(asked.to_text()) == asked.to_json()
    assert (ph.integrate(bodies, "v2", step=1e-3, steps=1, start=ds.isel(time=[0, 1])).time.values[-1]) == 2e-3
    short = ph.integrate(TOP, "v2", step=1e-3, steps=1, angular_velocity=(0, 0, 1))
    assert isinstance(json.loads(short.attrs["run"])["state"], list)
    for wrong in ("AAAA", initial_state.PACKED + "*", initial_state.PACKED + "AAAA", 7):
        ds.attrs["run"] = json.dumps(json.loads(ds.attrs["run"]) | {"state": wrong})
        with pytest.raises(ph.errors.InvalidInput):
            ph.rerun(ds)


def test_a_request_is_checked_once_and_the_start_each_time(monkeypatch):
    """What a system was asked for the last two times is kept with it; anything else is checked from the beginning."""
    top, planned = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0), []
    real = request.planned
    monkeypatch.setattr(request, "planned", lambda *given: planned.append(1) or real(*given))

    def run(method="v2", **other):
        how = {"step": 0.01, "steps": 5, "angular_velocity": (0, 0.1, 5)} | other
        fresh = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
        ds, before = ph.integrate(top, method, **how), len(planned)
        assert ds.identical(ph.integrate(fresh, method, **how)) and len(planned) == before + 1
        return ds

    counts = []
    for other in (
        {}, {"angular_velocity": (0, 1, 2)}, {"attitude": (0.6, 0, 0.8, 0)}, {"angular_momentum": [1, 2, 3.0],
        "angular_velocity": None}, {"step": 0.02}, {}, {"method": "s4_6"}, {"steps": None, "t_end": 0.05}, {"every": 2},
        {"attitude": np.eye(3)}, {"settings": {"compensated": False}}, {"t_eval": [0.02]}, {"breaks": [0.02]},
        {"start": {"time": 1.0}}, {"parameters": {"weight": 3.0}}, {"method": ph.methods.mkrk(tableau="gauss4")},
        {"method": "rotation_vector:gauss4"},
    ):  # fmt: skip
        planned.clear()
        run(**other)
        counts.append(len(planned))
    assert counts[:6] == [2, 1, 1, 1, 2, 1]
    for wrong in ({"step": True}, {"step": float("nan")}, {"angular_velocity": (0, 0)}, {"position": (0, 0, 0)}):
        with pytest.raises(ph.errors.InvalidInput):
            run(**wrong)
    orbit = ph.orbit(1.0)
    ph.integrate(orbit, "v2", step=0.1, steps=2, position=(1, 0, 0), velocity=(0, 1, 0))
    with pytest.raises(ph.errors.InvalidInput, match="velocity is missing"):
        ph.integrate(orbit, "v2", step=0.1, steps=2, position=(1, 0, 0))


PUSH = 1.0


def pushed(a, command):
    return {"torque": (command, 0.0, 0.0)}


def slowed(a):
    return {"command": -a.angular_velocity[0]}


def decided(t, q, omega, parameters):
    return (-PUSH * omega[0] if t > 0.03 else 0.0, 0.0, 0.0)


TWICE = {
    "top": (lambda: ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0), "v2", {"angular_velocity": (0, 0.1, 5)}),
    "body": (lambda: ph.free_body(TENSOR), "s6_10/mr6", {"angular_velocity": (0.2, 0.1, 1.0)}),
    "implicit": (lambda: ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0), "mkrk:gauss4", {"angular_velocity": (0, 0.1, 5)}),
    "processed": (lambda: ph.particle(2.0, stiffness=1.0), "rkn6_14a", {"position": (1.1, 0, 0)}),
    "time transformed": (lambda: ph.orbit(1.0), "reversible:v2", {"position": (1, 0, 0), "velocity": (0, 1.1, 0)}),
    "ground": (lambda: ph.orbit(1.0, surface=0.5), "v2", {"position": (1, 0, 0), "velocity": (0, 1.0, 0)}),
    "burn": (
        lambda: ph.orbit(1.0, forces=[ph.forces.thrust(0.5, "velocity", start=0.02, stop=0.045)]),
        "v2",
        {"position": (1, 0, 0), "velocity": (0, 1.1, 0)},
    ),
    "impulse": (
        lambda: ph.orbit(1.0, forces=[ph.forces.impulse(0.03, (0.1, 0, 0))]),
        "v2",
        {"position": (1, 0, 0), "velocity": (0, 1.1, 0)},
    ),
    "sampled": (
        lambda: ph.system(
            ph.body("a", 1.0, (1, 2, 3)), ph.loads.of(pushed).states(command=0.0), ph.controller(slowed, every=0.02)
        ),
        "v2",
        {"angular_velocity": (0.2, 0.1, 1.0)},
    ),
    "user": (lambda: ph.rigid_body((1, 2, 3), torque=decided), "v2", {"angular_velocity": (0.2, 0.1, 1.0)}),
    "heat": (lambda: ph.free_body((1, 2, 3)), ph.methods.baoab(temperature=1.0, friction=1.0, seed=3), {}),
}


@each("name", TWICE)
def test_a_run_like_others_has_the_bits_of_one_alone(name, monkeypatch):
    """The third run of a kind is taken on the arrays of the second, where nothing else depends on it; and nobody writes
    into what others have."""
    build, method, start = TWICE[name]
    system, kept = build(), []
    starts = [{word: tuple(x * factor for x in value) for word, value in start.items()} for factor in (1, 0.9, 1.2, 1)]
    for n, given in enumerate(starts):
        monkeypatch.setitem(globals(), "PUSH", 1.0 + n)
        ds = ph.integrate(system, method, step=0.01, steps=7, **given)
        alone = ph.integrate(build(), method, step=0.01, steps=7, **given)
        assert ds.identical(alone) and ds.attrs == alone.attrs
        kept.append((ds, ds.copy(deep=True)))
        own = ph.integrate(system, method, step=0.01, steps=7, **given)
        for one in own.variables.values():
            one.attrs["of"] = name
            one.encoding["of"] = name
        own.attrs.clear()
        own["more"] = own.time * 2.0
        for one in own.data_vars.values():
            one.values[...] = 0
    assert all(ds.identical(before) for ds, before in kept)


def test_runs_of_one_kind_do_not_meet_in_threads_or_after_a_failure():
    system, spins = ph.free_body((1, 2, 3)), np.linspace(0.1, 2.0, 40)

    def run(spin, of=system):
        return ph.integrate(
            of, "trapm", step=0.01, steps=300, angular_velocity=(spin, 0.1, 0.2)
        ).angular_momentum.values

    alone = [run(spin, ph.free_body((1, 2, 3))) for spin in spins]
    with ThreadPoolExecutor(4) as pool:
        assert all(map(np.array_equal, pool.map(run, spins), alone))
    with pytest.raises(ph.errors.StepTooLarge):
        run(1e5)
    assert np.array_equal(run(spins[3]), alone[3])


def test_what_runs_leave_for_others_does_not_grow():
    """One run is idle, however many starts there were that it does not serve."""
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    for _ in range(4):
        ph.integrate(top, "v2", step=0.01, steps=3, attitude=np.eye(3), angular_velocity=(0, 0.1, 5))
        (one,) = top.__dict__["_requests"][0][1].__dict__["idle"]
    assert one.system is top


def test_what_takes_runs_like_others_is_compiled_for_the_second(monkeypatch):
    asked, again = [], Repeated.again
    monkeypatch.setattr(Repeated, "again", SimpleNamespace(kernel=lambda: asked.append(True) or again.kernel()))
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    for known in ([], [True], [True]):
        ph.integrate(top, "v2", step=0.01, steps=3, angular_velocity=(0, 0.1, 5))
        assert asked == known


def test_ctrl_c_during_a_run_like_others_leaves_all_of_it(monkeypatch):
    top, how = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0), {"step": 0.01, "steps": 3, "angular_velocity": (0, 0.1, 5)}
    whole, answer = ph.integrate(top, "v2", **how), Repeated.answer

    def pressed(self, *given):
        signal.raise_signal(signal.SIGINT)
        return answer(self, *given)

    monkeypatch.setattr(Repeated, "answer", pressed)
    with pytest.raises(ph.errors.Interrupted, match="when the run was over") as caught:
        ph.integrate(top, "v2", **how)
    assert caught.value.trajectory.identical(whole)


@counting
def test_a_call_visits_few_files_before_its_loop():
    """At most 150 functions in 15 files, of a system that has been run before."""
    found, on = set(), []

    def visit(frame, event, _):
        code = frame.f_code
        if event == "call" and on and "polhode" in code.co_filename:
            if code.co_qualname in ("Integrator.march", "Repeated.rows_of"):
                on.clear()
            found.add((code.co_filename, code.co_qualname))

    for _ in range(3):
        found.clear()
        on.append(1)
        sys.setprofile(visit)
        try:
            ph.integrate(TOP, "v2", step=0.01, steps=10, angular_velocity=(0, 0.1, 5))
        finally:
            sys.setprofile(None)
    assert len({file for file, _ in found}) <= 15 and len(found) <= 150


def test_a_method_by_name_is_made_once(monkeypatch):
    for name in ("v2", "rkn6_14a/kepler", "s4_6/mr", "mkrk:gauss4:cayley", "taylor14"):
        found = methods.method(name)
        assert methods.method(name) is found and methods.method(name).prepare() is found.prepare()
    kept = methods.method("v2")
    monkeypatch.setitem(methods.METHODS, "v2", methods.METHODS["trapm"])
    assert methods.method("v2").method is methods.METHODS["trapm"]
    monkeypatch.undo()
    assert methods.method("v2").method is kept.method
    assert methods.method("mkrk", tableau="gauss6") is not methods.method("mkrk", tableau="gauss6")


def test_the_text_of_a_record_is_that_of_json():
    made = request.requested(ph.free_body((1, 2, 3)), "v2", {"step": 0.1, "steps": 2, "t_eval": None, "breaks": ()})
    y = made.state.copy()
    y[:4] = np.nan, np.inf, -np.inf, 1e-300
    for one in (made, made.from_another(y)):
        assert one.to_text() == json.dumps(one.to_json())
