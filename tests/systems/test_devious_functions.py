"""A function of a user means what Python means, or is refused, in every role: replayed in CPython from the recorded
arguments of each call."""

from __future__ import annotations

import itertools
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import polhode as ph
from devious import KINDS as KINDS_AS_TEXT, PARAMETERS, REFUSED, Devious, corpus, functions_of
from each import each
from polhode.errors import InvalidInput, PolhodeError
from polhode.programs import purity
from polhode.systems.user.chosen import Called

STEP, STEPS = 0.1, 24
PLACE, SPEED = (0.31, -0.42, 0.53), (0.7, -0.6, 0.4)
ALL = corpus()
EXACT = {"method": "mkrk:forward_euler", "step": STEP, "steps": STEPS, "settings": {"guard": False}}


def _run(system, **more):
    return ph.integrate(system, **EXACT | more)


def force(g):
    """Rows (t, x) at which it was called, and what it returned there: the change of the velocity over a step."""
    ds = _run(ph.particle(force=lambda t, x, v, p: (g(t, x, p), 0.0, 0.0), parameters=PARAMETERS, work=False),
              position=PLACE, velocity=SPEED)  # fmt: skip
    return ds.time[:-1], ds.position[:-1], ROWS_TELL["force"](ds)


def torque(g):
    body = ph.rigid_body((1.0, 1.0, 1.0), torque=lambda t, q, omega, p: (0.0, g(t, omega, p), 0.0),
                         parameters=PARAMETERS, work=False)  # fmt: skip
    ds = _run(body, angular_velocity=SPEED, method="forward_euler")  # which adds rates, not rotations
    return ds.time[:-1], ds.angular_velocity[:-1], ROWS_TELL["torque"](ds)


def rate(g):
    def law(t, position, velocity, parameters, states):
        return (0.0, 0.0, 0.0), g(t, position, parameters)

    system = ph.particle(force=law, states={"u": 0.0}, parameters=PARAMETERS, work=False)
    ds = _run(system, position=PLACE, velocity=SPEED)
    return ds.time[:-1], ds.position[:-1], ROWS_TELL["rate"](ds)


def command(g):
    def law(t, position, velocity, q, omega, parameters, states):
        return g(t, position, parameters)

    system = ph.particle(force=lambda t, position, velocity, parameters, states: (states.u, 0.0, 0.0),
                         states={"u": 0.0}, controllers=ph.controller(law, STEP, "u"), parameters=PARAMETERS,
                         work=False)  # fmt: skip
    ds = _run(system, position=PLACE, velocity=SPEED)
    return ds.time, ds.position, ds.u


def potential(g):
    """Its values at the rows of a run in which it does next to nothing."""
    system = ph.particle(1e12, potential=lambda t, x, p: g(t, x, p), parameters=PARAMETERS)
    ds = _run(system, position=PLACE, velocity=SPEED)
    return ds.time, ds.position, ds.potential_energy


STATES = dict.fromkeys(("force", "rate", "command", "potential"), lambda ds: ds.position.values)
STATES |= {"torque": lambda ds: ds.angular_velocity.values}
"""The three numbers that a function is given, from the rows of a run, in each role."""
ROWS_TELL = {
    "force": lambda ds: np.diff(ds.velocity[:, 0]) / np.diff(ds.time),
    "torque": lambda ds: np.diff(ds.angular_velocity[:, 1]) / np.diff(ds.time),
    "rate": lambda ds: np.diff(ds.u) / np.diff(ds.time),
}
"""What a function returned at the rows but the last."""
BEYOND = 1e50
"""Where a step of such functions, which are products of their arguments, soon overflows."""
ROLES = {one.__name__: one for one in (force, torque, rate, command, potential)}
KINDS = list(dict.fromkeys(one.kind for one in ALL))
LONG = list(itertools.product(ALL, ROLES))
QUICK = {"membership": 0, "rounding": 7, "complex": 3, "truth of arrays": 3, "indices": 9, "choices of numpy": 7}
"""Which of a kind numba compiles in less time."""
SHORT = [
    (one, list(ROLES)[(k + one.number + k // 12) % len(ROLES)])
    for k, one in enumerate(ALL) if one.number == QUICK.get(one.kind, 6 * (KINDS.index(one.kind) % 2))
]  # fmt: skip
"""Each kind in one role."""
FOUND = (
    ("floor and remainder", 1, "force"), ("kinds of numbers", 6, "force"), ("raising", 8, "rate"),
    ("divided by zero", 5, "rate"), ("signed zero", 4, "potential"), ("default arguments", 11, "torque"),
    ("kinds of numbers", 6, "command"),
    ("small integers", 0, "force"), ("rests", 4, "potential"), ("rests", 7, "rate"), ("asking for nan", 1, "force"),
    ("roots of negative numbers", 9, "command"), ("roots of negative numbers", 10, "potential"),
)  # fmt: skip
"""What the product has found to be other than in Python, or to end without a sentence."""
LATE = {("kinds of numbers", 6, "command"), ("roots of negative numbers", 10, "potential")}
"""Of these, what numba compiles as it does another one; in the product only."""
SHORT += [(one, role) for kind, number, role in FOUND for one in ALL
          if (one.kind, one.number) == (kind, number) and (kind, number, role) not in LATE]  # fmt: skip


BRIDGED = {("kinds of numbers", 6, "force"), ("raising", 8, "rate")}
"""Two of those that are called as Python, which are called so in the same way."""


OTHER_PROGRAMS = {"signed zero", "roots of negative numbers", "asking for nan"}
NO_SIGNS = "when it is traced, but"
"""What a potential is told whose program, whose derivatives are the loads, is another function: it knows no -0.0."""


class AsPython(Exception):
    """A function is to be called by the interpreter, and means what it means."""


@contextmanager
def until_python():
    def called(*given):
        raise AsPython

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Called, "_bridge", called)
        yield


def judge(one: Devious, role: str, source: bool = True, bridge: bool = True) -> str:
    """What became of a function in a role: "agrees", "refused", "raises"; a difference is an error. Without a bridge
    the run of one that is called as Python ends there."""
    g = one.made(source)["g"]
    with warnings.catch_warnings(), np.errstate(all="ignore"), nullcontext() if bridge else until_python():
        warnings.simplefilter("ignore")
        try:
            times, places, found = map(np.asarray, ROLES[role](g))
        except InvalidInput as refused:
            signs = one.kind in OTHER_PROGRAMS and role == "potential" and NO_SIGNS in str(refused)
            assert signs or "remembers" in str(refused) or "depends on more" in str(refused), refused
            return "agrees" if signs else "refused"
        except AsPython:
            return "agrees"
        except PolhodeError as told:
            assert told.time is not None, told
            return _raises(one, role, told)
        wanted = _replayed(one, times, places)
        at = np.flatnonzero(~np.isclose(found, wanted, rtol=1e-9, atol=1e-9, equal_nan=True))
        assert not len(at), (f"{one.name} as {role}: {found[at[0]]} for {wanted[at[0]]} at t = {times[at[0]]}, "
                             f"x = {places[at[0]]}\n{one.body}")  # fmt: skip
        return "agrees"


def _replayed(one: Devious, times, places) -> list[float]:
    g = one.made()["g"]
    return [float(g(float(t), np.array(x), np.array(PARAMETERS))) for t, x in zip(times, places, strict=True)]


def _raises(one: Devious, role: str, told: PolhodeError) -> str:
    """A run that ended in an error: CPython raises, too, or returns what is not finite, at a state on the way there; or
    the rows before it are those of CPython, and lead beyond all numbers."""
    kept = getattr(told, "trajectory", None)
    g, p = one.made()["g"], np.array(PARAMETERS)
    draws = np.random.default_rng(1).uniform(-4.0, 4.0, (2000, 3))
    rows = [] if kept is None else list(zip(kept.time.values, STATES[role](kept), strict=True))
    values: list[float] = []
    for t, x in [*rows, *((told.time, x) for x in draws)]:
        try:
            values.append(float(g(np.float64(t), np.array(x), p)))
        except Exception:
            return "raises"
        if not np.isfinite(values[-1]):
            return "raises"
    assert len(rows) > 1 and max(map(abs, (*rows[-1][1], values[len(rows) - 1]))) > BEYOND, (
        f"{one.name} as {role}: {told}, but CPython returns numbers"
    )
    if role in ROWS_TELL:
        found = ROWS_TELL[role](kept)
        np.testing.assert_allclose(found, values[: len(rows) - 1], rtol=1e-9, atol=1e-9)
    return "raises"


def expected(one: Devious) -> tuple[str, ...]:
    return ("refused",) if one.kind in REFUSED else ("agrees", "raises")


@each("kind", KINDS)
def test_functions_mean_what_python_means(kind):
    for one, role in SHORT:
        if one.kind == kind:
            assert judge(one, role, bridge=(kind, one.number, role) in BRIDGED) in expected(one), (one.name, role)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_every_function_in_every_role(kind):
    for one, role in LONG:
        if one.kind == kind:
            assert judge(one, role) in expected(one), (one.name, role)


@each("kind", sorted(REFUSED))
def test_memory_is_seen_without_source(kind):
    for one in ALL[::6]:
        if one.kind == kind:
            assert judge(one, "force", source=False) == "refused", one.name


def test_pure_functions_are_refused_without_source_only_where_they_write_to_what_they_made():
    refused = {one.kind for one in ALL[::3] if one.kind not in REFUSED
               for found in purity.findings(one.made(False)["g"]) if found.kind in ("memory", "outside")}  # fmt: skip
    assert refused == {"copies and views", "objects"}


NARROW = {"small integers", "arrays of other kinds", "kinds of numbers"}
"""Kinds whose numbers have few bits, which only the source tells; without it the trials of a compiled role compare."""


@each("kind", sorted({one.kind for one in ALL} - REFUSED))
def test_what_makes_a_function_run_as_python_is_seen_without_source(kind):
    for one in ALL[::2]:
        if one.kind == kind:
            ours, theirs = ({found.kind for found in purity.findings(one.made(way)["g"])} for way in (True, False))
            of_source = {"generator", "argument"} | ({"integers"} if kind in NARROW else set())
            assert ours - of_source <= theirs, one.name


@each("source", [True, False])
@each(("world", "law"), [
    ("table = np.array([100, 100, 30], dtype=np.int8)", "float(table[int(t)] + table[0])"),
    ("k = np.float32(0.1)", "float(k * t)"),
    ("class Law: k = np.float32(0.1)", "float(Law.k * float(x[1]))"),
    ("def scaled(y, k=np.float32(0.1)): return k * y", "float(scaled(float(x[1])))"),
])  # fmt: skip
def test_numbers_of_few_bits_that_are_read_stay_what_they_are(world, law, source):
    """Where no trial sees them."""
    one = Devious("few bits", 0, f"return x[0] if t < 1.7 else {law}", world)
    assert judge(one, "force", source, bridge=False) == "agrees"


@each("body", [
    "return 1.0 if t.__class__ is float else x[0]",  # as a program another number
    "y = float('nan')\nreturn float((x + x)[1]) if not (y < x[0]) else 0.0",  # compiled with tuples
])  # fmt: skip
def test_what_returns_other_numbers_when_it_is_tried_is_not_taken(body):
    assert judge(Devious("other numbers", 0, body, ""), "force", bridge=False) == "agrees"


def test_a_program_that_two_functions_have_is_tried_for_both():
    rounded, exact = (
        functions_of("kinds of numbers", [{"a": "x[0]", "b": "p[0] * x[1]", "c": "t"}])[2].body,
        "s = 0.0\ns += x[0]\ns += p[0] * x[1]\nreturn s",
    )
    for body in (exact, rounded):
        assert judge(Devious("sums", 0, body, ""), "force") == "agrees", body


@each("law", [
    "math.floor(t / 0.1)", "math.ceil(t / 0.1) * x[0]", "np.floor(2 * t / 0.2 + 0.5)", "float((t + 0.05) / 0.1 == 3.0)",
    "1.0 if (t / 0.1) % 1.0 < 0.5 else x[1]", "x[0] if t / 0.1 >= 3.0 else p[0]",
    "1.0 if math.sin(2 * math.pi * t / 0.1) >= 0.0 else -1.0",
])  # fmt: skip
def test_times_of_steps_lie_on_the_side_of_a_jump_where_python_has_them(law):
    g = Devious("grid", 0, f"return {law}", "").made()["g"]
    system = ph.particle(force=lambda t, x, v, p: (g(t, x, p), 0.0, 0.0), parameters=PARAMETERS, work=False)
    ds = _run(system, position=PLACE, velocity=SPEED, step=0.01, steps=300)
    wanted = [float(g(t, x, PARAMETERS)) for t, x in zip(ds.time.values[:-1], ds.position.values[:-1], strict=True)]
    np.testing.assert_allclose(ROWS_TELL["force"](ds), wanted, rtol=1e-9, atol=1e-9)


@each("store", ["on[:] = [t, t]", "on[0 : int(t)] = [t]", "del on[0 : int(t)]"])
def test_slices_that_outlive_a_call_are_seen_without_source_and_module(store):
    for names in ({"on": [0.0, 1.0]}, {"on": [0.0, 1.0], "__name__": "law"}):
        exec(compile(f"def g(t, x, p):\n    {store}\n    return on[0]", "<unseen>", "exec"), names)
        with pytest.raises(InvalidInput, match="remembers"):
            force(names["g"])


@each(
    ("body", "kinds"),
    [
        ("return sum([2.0 * one for one in x])", set()),
        ("return max({k: x[k] for k in range(3)}.values())", set()),
        ("try:\n        return 1.0 / t\n    except ZeroDivisionError:\n        return 0.0", {"handler"}),
        ("try:\n        return t\n    finally:\n        t = 0.0", {"handler"}),
        ("with np.errstate(all='ignore'):\n        return x[0]", {"handler"}),
    ],
)
def test_handlers_are_told_from_loops_in_brackets_without_source(body, kinds):
    names = {"np": np, "__name__": "law"}
    exec(compile(f"def g(t, x, p):\n    {body}", "<unseen>", "exec"), names)
    assert {one.kind for one in purity.findings(names["g"])} == kinds


NUMBERS = st.sampled_from(["x[0]", "x[1]", "x[2]", "t", "p[0]", "p[1]", "0.0", "-0.0", "1.5"])
TERMS = st.recursive(NUMBERS, lambda inner: st.one_of(
    st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda one: f"({one[0]} {one[1]} {one[2]})"),
    inner.map(lambda one: f"math.sin({one})"), inner.map(lambda one: f"abs({one})"),
    st.tuples(inner, inner).map(lambda one: f"max({one[0]}, {one[1]})"),
    st.tuples(inner, inner, inner).map(lambda one: f"({one[0]} if {one[1]} > 0.1 else {one[2]})"),
), max_leaves=6)  # fmt: skip


@pytest.mark.full
@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(KINDS_AS_TEXT)), st.integers(0, 3), TERMS, TERMS, TERMS, st.sampled_from(sorted(ROLES)))
def test_functions_that_are_grown(kind, number, a, b, c, role):
    grown = functions_of(kind, [{"a": a, "b": b, "c": c}])[number]
    assert judge(grown, role) in expected(grown), grown.body


OUTLIVING = {"rows": [], "old": 0.0}


def annotated(t):
    rows: list = OUTLIVING["rows"]
    rows.append(t)


def deletes(t):
    del OUTLIVING["old"]


def matches(t):
    match OUTLIVING:
        case {"rows": rows}:
            rows.append(t)


def within(t):
    with np.errstate(all="raise"):
        return 1.0 / t


def defines(t):
    class Inside:
        pass

    return t


def bounded(t):
    k = int(t)
    return float((k % 7) * k)


def unbounded(t):
    k = int(t)
    return float(k * k)


@each("function, kind", [(annotated, "log"), (deletes, "log"), (matches, "log"), (within, "handler"),
                         (defines, "unknown"), (bounded, ""), (unbounded, "integers")])  # fmt: skip
def test_what_statements_do_is_found(function, kind):
    assert "".join(one.kind for one in purity.findings(function)) == kind
