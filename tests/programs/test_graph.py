"""Rows of programs: written once, like terms and powers joined, digits kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from each import each
from polhode.errors import InvalidInput
from polhode.kernel.access import one_if
from polhode.programs.factor import depending, expanded, factored, shared_pairs, without_content
from polhode.programs.graph import FUNCTIONS, Graph
from polhode.programs.text import Lines, literal
from polhode.programs.trace import trace
from program_text import function


@pytest.fixture
def g():
    return Graph()


def test_no_row_is_written_twice(g):
    x, y = g.input("x"), g.input("y")
    assert g.sum((x, 1.0), (y, 2.0)) == g.sum((y, 2.0), (x, 1.0))
    assert g.mul(x, y) == g.mul(y, x)
    assert g.fun("sin", x) == g.fun("sin", x)
    assert g.const(1) == g.const(True)


def test_like_terms_and_powers_of_one_base_meet(g):
    x, y = g.input("x"), g.input("y")
    assert g.sum((x, 2.0), (x, -2.0)) == g.const(0.0)
    assert g.difference(g.sum((x, 1.0), (y, 1.0)), y) == x
    assert g.mul(g.power(x, -3.0), g.power(x, -2.0), g.power(x, 4.0)) == g.power(x, -1.0)
    assert g.power(g.power(x, -1.0), 0.5) == g.power(x, -0.5)
    assert g.mul(x, g.power(x, -1.0)) == g.const(1.0)
    assert g.rows[g.mul(g.sum((x, 3.0)), g.sum((y, -2.0)))] == ("sum", 0.0, ((g.mul(x, y), -6.0),))


def test_numbers_are_computed_at_once(g):
    assert g.value(g.fun("atan2", g.const(1.0), g.const(1.0))) == math.pi / 4
    assert g.value(g.power(g.const(2.0), 0.5)) == math.sqrt(2.0)
    assert g.fun("choose", g.const(1.0), g.input("x"), g.input("y")) == g.input("x")
    assert g.rows[g.power(g.const(0.0), -1.0)][0] == "mul"  # infinite where it is evaluated, not before
    with pytest.raises(InvalidInput, match="a constant is nan"):
        g.const(math.nan)


def test_large_powers_are_not_joined(g):
    ratio = g.quotient(g.input("R"), g.input("r"))
    high = g.power(ratio, 20.0)
    (value,) = g.evaluate([high], {"R": 6.4e20, "r": 6.5e20})
    assert abs(value - (6.4 / 6.5) ** 20) < 1e-14


def test_an_even_root_does_not_lose_the_sign(g):
    root = g.power(g.power(g.input("x"), 2.0), 0.5)
    assert g.evaluate([root], {"x": -3.0}) == [3.0]
    root = g.power(g.mul(g.input("x"), g.input("y")), 0.5)
    assert g.evaluate([root], {"x": -3.0, "y": -12.0}) == [6.0]


def test_differences_keep_their_digits(g):
    height = g.difference(g.input("r"), g.input("R"))
    scaled = g.sum((height, 1.0 / 7.0), (g.const(2.0), 1.0))
    (value,) = g.evaluate([scaled], {"r": 1e16 + 2.0, "R": 1e16})
    assert value == 2.0 / 7.0 + 2.0
    two = g.sum((height, 1.0), (g.difference(g.input("s"), g.input("S")), 1.0))
    assert g.evaluate([two], {"r": 1e16 + 2.0, "R": 1e16, "s": 1e-3, "S": 0.0}) == [2.001]


def test_dead_rows_change_no_text():
    def force(r, extra=False):
        if extra:
            math.sin(r[2]) + r[0] ** 7
        return r[0] / np.dot(r, r) ** 1.5, r[1] * r[0] + 2.0 * r[2]

    plain, other = (trace(f, {"r": 3}) for f in (force, lambda r: force(r, True)))
    assert len(plain.graph.rows) < len(other.graph.rows)
    texts = {function(one.graph, one.outputs, "f", {"r": 3}) for one in (plain, other)}
    assert len(texts) == 1


# ------------------------------------------------------------------ fewer products
def test_common_factors_are_taken_out(g):
    x, y, z, w = (g.input(name) for name in "xyzw")
    terms = [(g.mul(x, y, y), 1.0), (g.mul(x, y, z), -2.0), (g.mul(x, w), 1.0)]
    (row,) = factored(g, [g.sum(*terms)])
    inner = g.sum((g.mul(y, g.sum((y, 1.0), (z, -2.0))), 1.0), (w, 1.0))
    assert row == g.mul(x, inner)


def test_only_factors_that_may_be_are_taken_out(g):
    """Those that move, of a series: then the sum along x has all terms with x."""
    p, x, y = (g.input(name) for name in "pxy")
    terms = [(g.mul(p, x, y, y), 1.0), (g.mul(p, y), 2.0), (g.mul(x, y, g.const(2.0)), 1.0)]
    (row,) = factored(g, [g.sum(*terms)], among=depending(g, [x, y]))
    assert row == g.mul(y, g.sum((g.mul(x, g.sum((g.mul(p, y), 1.0), (g.const(2.0), 1.0))), 1.0), (p, 2.0)))


def test_what_all_terms_have_in_common_leaves_a_sum_that_is_a_factor(g):
    x, y, R = (g.input(name) for name in "xyR")
    inside = g.sum((g.quotient(x, R), 1.0), (g.quotient(y, g.power(R, 2.0)), -3.0))
    (row,) = without_content(g, [g.mul(g.power(inside, 2.0), g.power(R, 0.5))])
    assert row == g.mul(g.power(g.sum((x, 1.0), (g.quotient(y, R), -3.0)), 2.0), g.power(R, -1.5))
    root = g.power(inside, 0.5)
    assert without_content(g, [root, inside]) == [root, inside]


def test_products_by_one_and_something_small_are_multiplied_out(g):
    x, e = g.input("x"), g.input("e")
    row = g.mul(x, g.sum((g.const(1.0), 1.0), (e, -3.0)))
    (made,) = expanded(g, [row], 4)
    assert made == g.sum((x, 1.0), (g.mul(x, e), -3.0))


def test_pairs_of_factors_are_made_once():
    lists, made = shared_pairs([["a", "b", "c"], ["b", "a", "d"], ["c", "c"], ["c", "c", "d"]])
    assert dict(made).keys() == {"m0", "m1"}
    assert sorted(made[k][1] for k in (0, 1)) == [("a", "b"), ("c", "c")]
    assert sorted(map(len, lists)) == [1, 2, 2, 2]


def test_a_field_of_degree_20_takes_no_time_to_arrange(g):
    """A thousand products of four factors each."""
    names = [f"f{k}" for k in range(40)]
    products = [[names[(k * n + k * k) % 40] for n in range(1, 5)] for k in range(1000)]
    lists, made = shared_pairs(products)
    whole = dict(made)

    def factors(name):
        return factors(whole[name][0]) + factors(whole[name][1]) if name in whole else [name]

    for left, given in zip(lists, products, strict=True):
        assert sorted(name for one in left for name in factors(one)) == sorted(given)


# ------------------------------------------------------------------ text
def evaluated(g, rows, **given):
    body = Lines(g, rows, {name: name for name in given})
    space = {name: getattr(math, name) for name in dir(math)} | {"one_if": one_if} | given
    exec("\n".join(body.lines), space)
    return [eval(body.names[a], space) for a in rows]


@each("name", FUNCTIONS)
def test_every_function_has_a_text(g, name):
    x, y, z = (g.input(one) for one in "xyz")
    two = ("atan2", "less", "at_most", "min", "max", "pow", "outweighs", "floordiv", "plus", "minus", "times", "over")
    count = {"choose": 3, **dict.fromkeys(two, 2)}.get(name, 1)
    row = g.fun(name, *(x, y, z)[:count])
    for given in ({"x": 0.3, "y": 0.7, "z": 2.0}, {"x": 0.9, "y": 0.2, "z": -1.0}):
        assert evaluated(g, [row], **given) == [FUNCTIONS[name](*list(given.values())[:count])]


@each("e", [1, 2, 3, 4, 7, 8, 11, 16, 20, 0.5, 1.5, 3.5, 1 / 3, 0.7])
def test_powers(g, e):
    for exponent in (e, -e):
        row = g.power(g.sum((g.input("x"), 1.0), (g.input("y"), 1.0)), exponent)
        (value,) = evaluated(g, [row], x=0.75, y=0.5)
        assert math.isclose(value, 1.25**exponent, rel_tol=4e-15)


def test_sums_of_all_lengths_and_signs(g):
    given = {f"a{k}": 0.1 + k for k in range(9)}
    for n in range(1, 10):
        for sign in (lambda k: 1, lambda k: -1, lambda k: (-1) ** k, lambda k: 1 - (-1) ** k * 2.5):
            for constant in (0.0, -2.0, 3.0):
                terms = [(g.input(f"a{k}"), float(sign(k))) for k in range(n)]
                row = g.sum((g.const(constant), 1.0), *terms)
                expected = constant + sum(sign(k) * given[f"a{k}"] for k in range(n))
                assert math.isclose(evaluated(g, [row], **given)[0], expected, rel_tol=1e-14, abs_tol=1e-14)


def test_literals_are_read_back_as_they_are():
    for x in (0.1, -2.5e-300, math.inf, -math.inf, 1.0, -0.0):
        assert eval(literal(x)) == x
