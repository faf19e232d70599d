"""Tables in programs: rows that look up, with derivatives and series of what is between them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import polhode as ph
from acting import compiled
from each import each
from polhode.errors import InvalidInput
from polhode.kernel import jit
from polhode.kernel.access import segment
from polhode.programs import derive
from polhode.programs.graph import Graph
from polhode.programs.primitives import FIRST, MEMORY, PRIMITIVES, Primitive
from polhode.programs.series import Series
from polhode.programs.trace import trace
from polhode.programs.written import module_of
from polhode.surroundings.paths import path_of, place_at, velocity_at
from program_text import function

TIMES = np.array([0.0, 1.0, 2.5, 3.0, 4.5])
PLACES = np.column_stack([np.cos(TIMES), np.sin(TIMES), TIMES**2])
NUMBERS = path_of(None, TIMES, PLACES, None).numbers
ARGUMENTS = {"p": range(len(NUMBERS)), "at": None, "t": 0}
INSIDE = (0.0, 0.3, 1.7, 2.5, 2.9, 4.4)


def program_of(function=place_at):
    return trace(function, ARGUMENTS, (3,), numbers={"p": NUMBERS})


@each("t", [*INSIDE, -0.1, 4.6])
def test_a_table_as_a_program_is_what_it_holds(t):
    p = np.array(NUMBERS)
    np.testing.assert_allclose(program_of()(t=t, p=NUMBERS), place_at(p, 0, t), rtol=1e-15, equal_nan=True)


@each("t", INSIDE)
def test_its_derivative_is_the_velocity(t):
    program = program_of()
    rates = derive.rate_in_time(program.graph, program.outputs)
    given = {"t": t} | {f"p{k}": x for k, x in enumerate(NUMBERS)}
    found = program.graph.evaluate(rates, given)
    np.testing.assert_allclose(found, velocity_at(np.array(NUMBERS), 0, t), rtol=0.0, atol=1e-14)


def test_only_what_it_asks_for_is_a_constant():
    constants = program_of().fixed
    assert constants == {"p0": 2.0}
    other = path_of(None, TIMES + 1.0, 2.0 * PLACES, None).numbers
    assert trace(place_at, ARGUMENTS, (3,), numbers={"p": other}).graph.rows == program_of().graph.rows


@pytest.mark.skipif(jit.disabled(), reason="compiles")
@each("at", [0, 3])
def test_the_text_reads_the_numbers_at_their_place(at):
    program = program_of()
    given = {MEMORY: "p", FIRST: "at + "} | {f"p{k}": f"p[at + {k}]" for k in range(len(NUMBERS))}
    text = function(program.graph, program.outputs, "place", {"p": 0, "at": 0, "t": 0}, given=given)
    place = module_of(text).place
    p = np.concatenate([np.full(at, 7.0), NUMBERS])
    for t in INSIDE:
        np.testing.assert_allclose(place(p, at, t), place_at(p, at, t), rtol=1e-15)


def test_a_series_is_the_polynomial_of_the_interval():
    """Of the motion x' = place(t): exact to order 4, zero beyond."""
    program = program_of()
    g, states = program.graph, [program.graph.input(f"x{k}") for k in range(3)]
    series = Series(g, states, list(program.outputs))
    assert {rule.operands[0] for rule in series.rules if rule.kind == "step"} >= {"segment", "entry"}


@each(("x", "edges"), [(0.5, (-math.inf, 2.0)), (2.0, (2.0, 3.0)), (9.0, (3.0, math.inf))])
def test_edges_of_a_lookup(x, edges):
    """Between which values the row that is found does not change."""
    numbers = [7.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0]
    found = float(segment(numbers, 1, 2, 3, x))
    words = PRIMITIVES["segment"].bounds({MEMORY: "numbers"}, repr(found), "1.0", "2.0", "3.0", repr(x))
    assert tuple(eval(one, {"numbers": numbers, "whole": int}) for one in words) == edges


def test_a_row_of_numbers_is_no_constant():
    g = Graph()
    a = g.fun("entry", g.const(3.0))
    assert g.rows[a] == ("fun", "entry", (g.const(3.0),))
    assert g.evaluate([a], {"p3": 5.0}) == [5.0]
    assert derive.partials(g, a) == []


@pytest.mark.skipif(jit.disabled(), reason="compiles")
def test_a_force_whose_potential_follows_a_table():
    """Its acceleration and its rate in time follow, NaN beyond the table."""

    def potential(p, at, mu, t, r):
        s = place_at(p, at, t)
        return r[0] * s[0] + r[1] * s[1] * s[2]

    force = ph.forces.Force("mine", "follows a table", {}, NUMBERS, potential=potential)
    p, r = np.array(NUMBERS), (0.3, 0.4, 0.5)
    acceleration, slope = compiled(force, r, 1.7)
    s, ds = place_at(p, 0, 1.7), velocity_at(p, 0, 1.7)
    np.testing.assert_allclose(acceleration, (-s[0], -s[1] * s[2], 0.0), rtol=1e-14)
    rate = r[0] * ds[0] + r[1] * (ds[1] * s[2] + s[1] * ds[2])
    assert slope == pytest.approx(rate, rel=1e-14)
    assert math.isnan(compiled(force, r, 5.0)[0][0])


def test_a_primitive_may_have_slopes_of_its_own(monkeypatch):
    """The error function, say: value, text and derivative are its own, and it has no Taylor series."""

    def slopes(g, a, x):
        bell = g.fun("exp", g.negative(g.mul(x[0], x[0])))
        return [(x[0], g.sum((bell, 2.0 / math.sqrt(math.pi))))]

    monkeypatch.setitem(PRIMITIVES, "erf", Primitive(lambda numbers, x: math.erf(x), "erf({0})", slopes))
    g = Graph()
    x = g.input("x0")
    y = g.fun("erf", g.mul(x, x))
    (rate,) = derive.forward(g, [y], {x: g.const(1.0)})
    found, slope = g.evaluate([y, rate], {"x0": 0.7})
    assert found == math.erf(0.49)
    assert slope == pytest.approx(1.4 * 2.0 / math.sqrt(math.pi) * math.exp(-(0.49**2)), rel=1e-15)
    with pytest.raises(InvalidInput, match="'erf' has no Taylor series"):
        Series(g, [x], [y])
