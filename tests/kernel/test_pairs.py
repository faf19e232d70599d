"""Pairs: lists against brute force, and results whose bits depend on no list, no slice and no thread."""

from __future__ import annotations

import itertools
import json
import threading
import time
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from textwrap import dedent

import numpy as np
import pytest

import polhode as ph
from cover import chosen
from polhode.checks import load_caller
from polhode.errors import NotFinite
from polhode.kernel import pairs
from polhode.runs import stepping
from polhode.runs.initial_state import start_state


def uniform(n, box, seed=0, apart=0.7):
    """Bodies anywhere in a box, none nearer than ``apart`` to another, nearest images."""
    rng = np.random.default_rng(seed)
    edges = np.broadcast_to(np.asarray(box, dtype=float), 3)
    r = np.empty((0, 3))
    while len(r) < n:
        x = rng.uniform(size=3) * edges
        d = x - r
        d -= edges * np.rint(d / edges)
        if not len(r) or (d * d).sum(axis=1).min() > apart * apart:
            r = np.vstack([r, x])
    return r


def thermal(r, seed=1, warm=1.0):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((len(r), 4))
    return {
        "position": r, "attitude": q / np.linalg.norm(q, axis=1, keepdims=True),
        "momentum": warm * rng.standard_normal(r.shape), "angular_momentum": warm * rng.standard_normal(r.shape),
    }  # fmt: skip


class Loads:
    """Loads of a system, one call after the other with the same memory."""

    def __init__(self, system, r, **start):
        self.system = system
        start = {**thermal(np.asarray(r)), **start, "position": r}
        self.y, self.parameters = start_state(system, **start), system.with_memory
        self.role, self.call = system.compiled_loads(0.0, self.y), load_caller()

    def __call__(self, r=None, kept=False):
        if r is not None:
            self.y.reshape(-1, 13)[:, :3] = r
        out = np.full(6 * self.system.N, np.nan)
        if not kept:
            self.parameters[int(self.parameters[pairs.NOW_AT]) + pairs.PASSES] = 0.0
        self.call(self.role, 0.0, self.system.N, self.y, self.system.bodies, self.parameters, out)
        return out

    def now(self, k):
        return self.parameters[int(self.parameters[pairs.NOW_AT]) + k]

    def rows(self):
        """Neighbours of each body."""
        at, numbers = int(self.parameters[pairs.ROWS_AT]), self.parameters.view(np.int64)
        found = numbers[at : at + 2 * self.system.N].reshape(-1, 2)
        return [numbers[first : first + count].tolist() for first, count in found]


def brute_force(r, reach, box):
    """Neighbours j > i of each body within the reach."""
    rows = []
    for i in range(len(r)):
        d = r[i] - r[i + 1 :]
        if box is not None:
            d -= box * np.rint(d / box)
        rows.append((i + 1 + np.flatnonzero((d * d).sum(axis=1) < reach * reach)).tolist())
    return rows


def crowded(system):
    """The same without memory for any neighbour: it must take all pairs."""
    parameters = system.parameters.copy()
    parameters[pairs.CAPACITY] = 0.0
    return replace(system, parameters=parameters)


def test_loads_of_the_last_states_are_kept():
    """They are those of the state in every number of the last body; of more states than are kept, of the last ones."""
    r = uniform(150, 9.1)
    loads = Loads(ph.dipoles(150, cutoff=3.0, box=9.1), r)
    first, virial = loads(), loads.now(pairs.VIRIAL_SUM)
    turned = loads.y.copy()
    turned[-13 + 6 : -13 + 10] = 0.5, -0.5, 0.5, 0.5
    loads.y, begin = turned, loads.y
    other = loads(kept=True)
    assert loads.now(pairs.PASSES) == 2.0 and (other != first).any() and loads.now(pairs.VIRIAL_SUM) != virial
    np.testing.assert_array_equal(other, loads())
    loads.y = begin
    loads()
    np.testing.assert_array_equal(loads(kept=True), first)
    assert loads.now(pairs.PASSES) == 1.0 and loads.now(pairs.VIRIAL_SUM) == virial
    for k in range(1, pairs.KEPT + 1):
        loads(r + 0.01 * k, kept=True)
    np.testing.assert_array_equal(loads(r, kept=True), first)
    assert loads.now(pairs.PASSES) == pairs.KEPT + 2.0


def test_rows_have_the_energies_of_their_states():
    system = ph.dipoles(150, cutoff=3.0, box=9.1)
    ds = ph.integrate(system, "v2", step=1e-3, steps=4, **thermal(uniform(150, 9.1)))
    states = np.concatenate([ds[name].values for name in ("position", "momentum", "attitude", "angular_momentum")], -1)
    virials = np.empty(5)
    energies = system.potential_energies(states.reshape(5, -1), virials=virials)
    np.testing.assert_array_equal(ds.potential_energy, energies)


def test_a_look_at_a_step_makes_no_pass_where_the_loads_of_its_ends_are_kept():
    """Steps that are too long are told."""
    system, start = ph.dipoles(150, cutoff=3.0, box=9.1), thermal(uniform(150, 9.1))
    runs = ph.prepare(system, "v2", step=1e-3, steps=1)
    runs.dataset(start)
    parameters = runs._idle[0].integrator.parameters
    at = int(parameters[pairs.NOW_AT]) + pairs.PASSES
    before, start["position"][0] = parameters[at], start["position"][0] + 1e-9
    runs.dataset(start)
    assert parameters[at] - before == 2.0
    still = thermal(uniform(150, 9.1), warm=0.0)
    for steps in (1, 2):  # with the end of the first one, and without
        with pytest.warns(ph.errors.CoarseStepWarning, match="do not resolve the loads"):
            ph.integrate(system, "v2", step=0.02, steps=steps, every=steps, **still)


# ------------------------------------------------------------------ lists
def check_list(r, cutoff, skin, box=None):
    arguments = {} if box is None else {"box": box}
    n = len(r)
    loads = Loads(ph.dipoles(n, cutoff=cutoff, skin=skin, **arguments), r)
    out = loads()
    assert loads.now(pairs.LISTED) == 1.0 and loads.now(pairs.BUILDS) == 1.0
    edges = None if box is None else np.broadcast_to(np.asarray(box, dtype=float), 3)
    assert loads.rows() == brute_force(r, cutoff + skin, edges)
    whole = Loads(crowded(loads.system), r)
    np.testing.assert_array_equal(out, whole())
    assert whole.now(pairs.LISTED) == (-1.0 if any(loads.rows()) else 1.0)
    return loads


BOXES = {
    "one cell": (3.4, 3.4, 3.4), "two cells would be one": (6.7, 6.7, 6.7), "three cells": (9.1, 9.1, 9.1),
    "five cells": (15.5, 15.5, 15.5), "one, three and five": (4.0, 9.5, 15.2), "slab": (3.3, 14.0, 3.3),
    "four, two and one": (12.1, 6.2, 3.5), "just three": (9.0 + 1e-12, 9.0 + 1e-12, 9.0),
    "three, four and five": (9.1, 12.4, 15.5),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "n"),
    chosen(
        itertools.product(BOXES, [2, 3, 5, 40, 150]),
        [*((name, 40) for name in BOXES), ("three cells", 150), ("one, three and five", 150), ("one cell", 2),
         ("three, four and five", 150),
         ("slab", 3), ("three cells", 5)],
    ),
)  # fmt: skip
def test_lists_in_boxes(name, n):
    """Reach 3, in boxes with so many cells along their edges; dilute and dense, wrapped and not."""
    box = np.array(BOXES[name])
    if n > 0.5 * box.prod():
        n = int(0.5 * box.prod())
    r = uniform(n, box, seed=n)
    check_list(r, min(2.7, box.min() / 2), 0.3 + max(0.0, 2.7 - box.min() / 2), box)
    images = np.random.default_rng(n).integers(-5, 6, size=(n, 3))
    check_list(r + images * box, min(2.7, box.min() / 2), 0.1, box)


@pytest.mark.parametrize("n", [2, 3, 5, 63, 64, 65, 127, 128, 130, 300, 600])
def test_lists_in_free_space(n):
    """Numbers of bodies about those at which slices and marks begin."""
    side = (n / 0.4) ** (1 / 3) + 1.0
    r = uniform(n, side, seed=n)
    check_list(r, 1.6, 0.2)
    check_list(r * (1.0, 1.0, 0.0) + (0, 0, 1) * np.arange(n)[:, None], 1.6, 0.2)  # along a line
    r[0] = (1e7, -3e8, 40.0)  # one that has left
    check_list(r, 1.6, 0.2)


def test_bodies_on_faces_and_corners():
    """Where a place divided by the edge is a whole number, or just below one."""
    box = np.array((9.0, 9.0, 9.0))
    r = np.array([
        (0, 0, 0), (9.0, 1.5, 0), (-9.0, 3.0, 0), (0, 4.5, 9.0), (-1e-17, 6.0, 0), (np.nextafter(9, 0), 7.5, -1e-300),
        (3.0, 0, 3.0), (6.0, 1.5, 3.0), (3.0, 3.0, -3.0), (4.5, 4.5, 4.5), (-4.5, 6.0, 4.5), (18.0, 7.5, 27.0 - 1.5),
    ])  # fmt: skip
    check_list(r, 2.7, 0.3, box)
    for shift in (-1e-16, 1e-16, 3.0, 4.5, 9.0 * 2**20):
        check_list(r + shift, 2.7, 0.3, box)


def test_all_in_one_plane_or_on_a_line():
    line = np.zeros((30, 3))
    line[:, 0] = np.arange(30.0)
    check_list(line, 2.4, 0.3)
    check_list(line[:, [1, 0, 2]], 2.4, 0.3)


def test_a_list_stays_while_bodies_move_less_than_half_the_skin():
    r = uniform(60, 8.0)
    loads = Loads(ph.dipoles(60, cutoff=2.0, skin=0.4, box=8.0), r)
    loads()
    moved = r.copy()
    moved[17] += (0.0, 0.19, 0.0)
    loads(moved)
    assert loads.now(pairs.BUILDS) == 1.0
    moved[17] += (0.0, 0.02, 0.0)
    loads(moved)
    assert loads.now(pairs.BUILDS) == 2.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_positions_beyond_reason_make_loads_that_are_no_numbers(bad):
    r = uniform(60, 8.0)
    loads = Loads(ph.dipoles(60, cutoff=2.0, box=8.0), r)
    assert np.isfinite(loads()).all()
    wrong = r.copy()
    wrong[30, 1] = bad
    assert np.isnan(loads(wrong)).all()
    np.testing.assert_array_equal(loads(r), Loads(loads.system, r)())


# ------------------------------------------------------------------ bits
LIQUID = {"attraction": True, "cutoff": 2.5, "box": 7.2, "reaction_field": 20.0}


def path(system, r, label="v2", steps=60, step=0.004, threads=1, **options):
    ds = ph.integrate(
        system,
        label,
        step=step,
        steps=steps,
        settings={"guard": False, "threads": threads},
        **thermal(r),
        **{"every": 20, **options},
    )
    return np.concatenate([ds[name].values.reshape(-1) for name in
                           ("position", "momentum", "attitude", "angular_momentum", "energy")])  # fmt: skip


@pytest.fixture(scope="module")
def liquid():
    return uniform(200, 7.2, apart=0.95)


@pytest.fixture(scope="module")
def usual(liquid):
    return path(ph.dipoles(200, **LIQUID), liquid)


@pytest.mark.parametrize("skin", chosen([0.0, 1e-3, 0.05, 0.3, 1.0, 3.0], [0.0, 0.05, 3.0]))
def test_no_bit_depends_on_the_skin(liquid, usual, skin):
    np.testing.assert_array_equal(path(ph.dipoles(200, **LIQUID, skin=skin), liquid), usual)


@pytest.mark.parametrize(("cutoff", "rooms"), [(2.5, (10, 300, 1500)), (1.3, (10, 300))], ids=["one cell", "cells"])
def test_no_bit_depends_on_the_room_for_lists(liquid, cutoff, rooms):
    system = ph.dipoles(200, **LIQUID | {"cutoff": cutoff})
    usual = path(system, liquid)
    np.testing.assert_array_equal(path(crowded(system), liquid), usual)
    for room in rooms:  # of which some hold some slices
        parameters = system.parameters.copy()
        parameters[pairs.CAPACITY] = room
        np.testing.assert_array_equal(path(replace(system, parameters=parameters), liquid), usual)


def test_no_bit_depends_on_when_a_list_was_made(liquid):
    """Loads of a path back and forth, with an old list and with a new one for each."""
    rng = np.random.default_rng(4)
    loads = Loads(ph.dipoles(200, **LIQUID), liquid)
    for size in (0.0, 0.1, 0.05, 0.3, 0.0, 2.0, 0.1):
        r = liquid + size * rng.uniform(-1, 1, size=liquid.shape)
        np.testing.assert_array_equal(loads(r), Loads(loads.system, r)())
    assert 2 < loads.now(pairs.BUILDS) < 8


@pytest.mark.parametrize("threads", chosen([2, 3, 5, 40], [2, 5, 40]))
def test_no_bit_depends_on_the_number_of_threads(liquid, usual, threads):
    np.testing.assert_array_equal(path(ph.dipoles(200, **LIQUID), liquid, threads=threads), usual)


@pytest.mark.parametrize("arguments", [{}, {"cutoff": 2.0}])
def test_no_bit_depends_on_threads_in_free_space(arguments):
    r = uniform(530, 12.0, apart=0.9)
    one = path(ph.dipoles(530, **arguments), r, steps=6, every=3)
    for threads in (2, 3):
        np.testing.assert_array_equal(path(ph.dipoles(530, **arguments), r, steps=6, every=3, threads=threads), one)


def test_threads_share_the_work_of_all_loops(liquid):
    system = ph.dipoles(200, **LIQUID)
    one, two = (
        ph.integrate(
            system, "mkrk:dp5", settings={"threads": k}, steps=ph.Tolerance(1e-5), t_end=0.03, **thermal(liquid)
        )
        for k in (1, 2)
    )
    np.testing.assert_array_equal(one.position, two.position)
    assert one.time.size > 3


def test_no_bit_depends_on_slices_or_rows(liquid, usual, monkeypatch):
    system = ph.dipoles(200, **LIQUID)
    for first in (1, 7):
        monkeypatch.setattr(stepping, "FIRST_SLICE", first)
        monkeypatch.setattr(stepping, "SLICE_SECONDS", 0.0)
        np.testing.assert_array_equal(path(system, liquid), usual)
    often = ph.integrate(
        system, "v2", step=0.004, steps=60, every=1, settings={"threads": 2, "guard": False}, **thermal(liquid)
    )
    np.testing.assert_array_equal(often.position.values[::20].ravel(), usual[: 4 * 600])
    np.testing.assert_array_equal(ph.rerun(often).position, often.position)


def test_a_run_goes_on_from_its_rows(liquid):
    system = ph.dipoles(200, **LIQUID)
    whole = ph.integrate(system, "v2", step=0.004, steps=40, every=20, settings={"guard": False}, **thermal(liquid))
    middle = whole.isel(time=1)
    kept = {name: middle[name].values for name in ("position", "momentum", "attitude", "angular_momentum")}
    rest = ph.integrate(
        system,
        "v2",
        step=0.004,
        steps=20,
        settings={"guard": False, "threads": 2},
        start={"time": middle.time.item()},
        **kept,
    )
    for name in kept:
        np.testing.assert_allclose(rest[name][-1], whole[name][-1], rtol=0, atol=1e-12)


def test_backwards(liquid):
    system = ph.dipoles(200, **LIQUID)
    there = ph.integrate(system, "v2", step=0.004, steps=20, settings={"guard": False}, **thermal(liquid)).isel(time=-1)
    kept = {name: there[name].values for name in ("position", "momentum", "attitude", "angular_momentum")}
    back = ph.integrate(
        system,
        "v2",
        step=0.004,
        start={"time": there.time.item()},
        t_end=0.0,
        settings={"threads": 2, "guard": False},
        **kept,
    )
    np.testing.assert_allclose(back.position[-1], liquid, rtol=0, atol=1e-11)


def test_without_compilation(forked):
    """Plain Python gives the same to round-off, with lists and threads asked for."""
    code = """
    import json, sys
    import numpy as np
    import polhode as ph
    rng = np.random.default_rng(0)
    r = 1.9 * np.array(list(np.ndindex(3, 3, 3)), dtype=float)[:21] + 0.1 * rng.standard_normal((21, 3))
    r[0] = 0.0
    p = rng.standard_normal((21, 3))
    found = []
    for arguments in ({}, {"cutoff": 2.5, "box": 5.7, "reaction_field": 5.0}):
        ds = ph.integrate(
            ph.dipoles(21, **arguments), "v2", step=0.01, steps=1, position=r, momentum=p, settings={"threads": 2}
        )
        last = ds.isel(time=-1)
        found += [*last.position.values.ravel(), *last.attitude.values.ravel(), last.energy.item()]
        found.append(float(last.get("pressure", 0.0)))
    print(json.dumps(found))
    """
    with redirect_stdout(StringIO()) as told:
        exec(dedent(code), {})
    plain, compiled = forked(code, NUMBA_DISABLE_JIT="1"), json.loads(told.getvalue().splitlines()[-1])
    np.testing.assert_allclose(plain, compiled, rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------------ threads
def helpers():
    return [thread for thread in threading.enumerate() if thread.name == "polhode"]


def within(seconds, work):
    """Do the work in a thread, so that one which hangs fails the test."""
    failed = []

    def guarded():
        try:
            work()
        except BaseException as problem:
            failed.append(problem)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "hangs"
    if failed:
        raise failed[0]


def test_many_short_runs_with_threads(liquid):
    """More threads than processors, beside others that take their time; and all are gone at the end."""
    system, start = ph.dipoles(200, **LIQUID), thermal(liquid)
    expected = ph.integrate(system, "v2", step=0.004, steps=3, settings={"guard": False}, **start).position.values
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            np.linalg.inv(np.eye(60) + 0.1)

    others = [threading.Thread(target=busy, daemon=True) for _ in range(2)]
    for other in others:
        other.start()

    def runs():
        for k in range(20):
            ds = ph.integrate(
                system, "v2", step=0.004, steps=3, settings={"guard": False, "threads": 2 + k % 3}, **start
            )
            np.testing.assert_array_equal(ds.position, expected)

    try:
        within(120.0, runs)
    finally:
        stop.set()
    for other in others:
        other.join()
    assert not helpers()


def test_two_runs_at_once(liquid, usual):
    """Each has helpers and memory of its own."""
    system, found = ph.dipoles(200, **LIQUID), []

    def run():
        found.append(path(system, liquid, threads=2))

    def both():
        runs = [threading.Thread(target=run) for _ in range(2)]
        for one in runs:
            one.start()
        for one in runs:
            one.join()

    within(120.0, both)
    assert len(found) == 2 and all(np.array_equal(one, usual) for one in found)
    assert not helpers()


def test_helpers_go_when_a_run_fails_or_is_interrupted(liquid):
    system = ph.dipoles(200, **LIQUID)
    with pytest.raises(NotFinite):
        ph.integrate(
            system, "v2", step=0.5, steps=200, settings={"guard": False, "threads": 3}, **thermal(liquid, warm=5.0)
        )
    assert not helpers()

    class Stop(Exception):
        pass

    def progress(state):
        if state.done:
            raise Stop

    with pytest.raises(Stop):
        ph.integrate(system, "v2", step=0.004, steps=10**6, every=10**6, progress=progress,
                     settings={"guard": False, "threads": 3}, **thermal(liquid))  # fmt: skip
    assert not helpers()


def test_helpers_are_there_while_a_run_goes_on_and_no_more_than_slices(liquid):
    from polhode.runs.integrator import ThreadPool

    system = ph.dipoles(200, **LIQUID)
    parameters = system.with_memory
    for threads, there in ((1, 0), (2, 1), (3, 2), (100, 2)):  # 200 bodies make three slices
        with ThreadPool(system.serve, parameters, threads):
            assert len(helpers()) == there
        assert not helpers()
    with ThreadPool(ph.dipoles(20).serve, ph.dipoles(20).with_memory, 4):
        assert not helpers()


@pytest.mark.full
def test_threads_for_a_minute(liquid, usual):
    begun, system = time.monotonic(), ph.dipoles(200, **LIQUID)

    def runs():
        k = 0
        while time.monotonic() - begun < 60.0:
            np.testing.assert_array_equal(path(system, liquid, threads=2 + k % 4), usual)
            k += 1

    within(120.0, runs)
