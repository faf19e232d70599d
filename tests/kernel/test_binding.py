"""Holes of templates, and what ``jit.bind`` puts into them."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from math import sin
from pathlib import Path
from types import FunctionType, SimpleNamespace

import pytest

import polhode as ph
from polhode.flows import dmv, kick
from polhode.kernel import cache, drive, jit, layout as L, reach, work_sharing
from polhode.kernel.holes import HOLES, Hole
from polhode.methods import METHODS, MethodSpec, time_transformed
from polhode.methods.splitting import bathe, compose_step

SOURCES = Path(ph.__file__).parent
compiling = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")

outer = jit.hole("outer(x, y) -> float", "The function of two numbers.")
inner = jit.hole("inner(x) -> float", default=sin)
number = jit.hole("number", "A number.")
any_of = jit.hole("any_of(...) -> float", "A function of any numbers.")


def template(p):
    return outer(p.x, inner(p.y)) + p.number


def of_a_number(x):
    return x + number


carry_out = jit.hole("carry_out(s, address)", "A hole of the same name in another module.")


def carried_out_beside(s):
    return carry_out(s, work_sharing.FIRST)


def of_any(x):
    return any_of(x) + any_of(x, x)


def added(x, y):
    return x + y


def product(*numbers):
    return numbers[0] * numbers[-1]


unbound = jit.helper(compose_step)


def through_a_helper(t, h, p):
    return unbound(t, h, p)


def growing(rate):
    @jit.helper
    def step(t, h, p):
        p.y[0] *= 1.0 + rate * h
        return L.OK

    return step


# ------------------------------------------------------------------ what is bound
def test_a_bound_template_calls_what_is_bound():
    p = SimpleNamespace(x=2.0, y=0.5, number=7.0)
    assert jit.bind(template, outer=added)(p) == 2.0 + sin(0.5) + 7.0
    assert jit.bind(template, outer=added, inner=abs)(p) == 2.0 + 0.5 + 7.0
    assert jit.bind(of_a_number, number=3.0)(1.0) == 4.0
    assert jit.bind(of_any, any_of=product)(3.0) == 18.0


def test_a_copy_can_be_bound_again():
    p = SimpleNamespace(x=2.0, y=0.5, number=7.0)
    once = jit.bind(template, outer=added)
    assert jit.bind(once, inner=abs)(p) == 9.5
    assert once(p) == 2.0 + sin(0.5) + 7.0


def test_bound_copies_leave_the_template_alone():
    copy = jit.bind(drive.march, step=growing(2.0))
    assert isinstance(drive.step, Hole) and copy.__globals__["step"] is not drive.step
    assert copy.__qualname__ != drive.march.__qualname__
    assert copy.__code__ is drive.march.__code__


def test_a_compiled_template_is_bound_by_its_python_function():
    assert jit.bind(kick.impulse, part=L.WITHOUT_SOLVED).__globals__["part"] == L.WITHOUT_SOLVED
    assert jit.bind(kick.push, add3=kick.sums.add3_compensated).__globals__["add3"] is kick.sums.add3_compensated


# ------------------------------------------------------------------ what is refused
@pytest.mark.parametrize(
    ("source", "values", "words"),
    [
        (drive.march, {"stepp": growing(2.0)}, r"has no hole 'stepp'; its holes are SAMPLES, convert, held_step"),
        (template, {"outer": added, "number": 1.0}, r"template has no hole 'number'; its holes are inner, outer$"),
        (added, {"x": 1.0}, r"added has no hole 'x'; it has none"),
        (drive.march, {"norm3": sin}, r"march has no hole 'norm3'"),
        (drive.march, {"squared_speed": sin}, r"march has no hole 'squared_speed'"),
        (template, {"outer": growing(2.0)}, r"'outer' cannot be bound into template: it is called as outer\(x, y\) -> "
                                            r"float, but .*step takes 3 arguments"),
        (drive.march, {"step": added}, r"called as step\(t, h, p\) -> status, but added takes 2 arguments"),
        (template, {"outer": 2.0}, r"it is called as outer\(x, y\) -> float, which 2.0 is not"),
        (of_a_number, {"number": added}, r"it is a value, not a function such as added"),
        (template, {}, r"template has a hole that nothing fills: outer\(x, y\) -> float \(the function of two "
                       r"numbers\); write jit.bind\(template, outer=...\)"),
        (drive.march, {}, r"march has a hole that nothing fills: step\(t, h, p\) -> status \(the step of the method\)"),
        (drive.march, {"step": time_transformed.controlled_step}, r"controlled_step has a hole .*: inner_step\(t, h"),
    ],
)  # fmt: skip
def test_what_cannot_be_bound_is_told(source, values, words):
    with pytest.raises(TypeError, match=words):
        jit.bind(source, **values)


def test_a_name_that_is_defined_nowhere_is_told():
    names = {}
    exec("def careless(x):\n    return unheard_of(x) + abs(x)", names)
    with pytest.raises(TypeError, match=r"careless reads the global name 'unheard_of', which is defined nowhere"):
        jit.bind(names["careless"])


def test_defaults_and_arguments_beyond_them_count():
    def with_default(x, y, z=1.0):
        return x + y + z

    assert jit.bind(template, outer=with_default)(SimpleNamespace(x=1.0, y=0.0, number=0.0)) == 2.0
    assert callable(jit.bind(template, outer=product))
    with pytest.raises(TypeError, match="takes 3 arguments"):
        jit.bind(template, outer=lambda x, y, z: x)


@pytest.mark.parametrize("signature", ("step(t, h", "the step", "step(t) status", ""))
def test_a_signature_in_another_form_is_told(signature):
    with pytest.raises(TypeError, match=r"a hole is written 'name\(arguments\) -> result'"):
        jit.hole(signature)


def test_a_default_that_does_not_fit_is_told():
    with pytest.raises(TypeError, match=r"the default of the hole 'inner' does not fit: .* added takes 2 arguments"):
        jit.hole("inner(x) -> float", default=added)


# ------------------------------------------------------------------ what stays unfilled
def test_an_unfilled_hole_called_from_python_says_the_same():
    words = r"template has a hole that nothing fills: outer\(x, y\) -> float \(the function of two numbers\)"
    with pytest.raises(TypeError, match=words):
        template(SimpleNamespace(x=1.0, y=1.0, number=0.0))
    with pytest.raises(TypeError, match=r"serve has a hole|has a hole that nothing fills: carry_out\(s, address\)"):
        work_sharing.carry_out(0, 0)
    assert repr(number) == "<hole number>"


def test_a_default_is_what_an_unfilled_hole_is():
    assert inner is sin and not drive.processed(None) and drive.convert(L.PREPARING, 0.0, 0.1, None) == L.OK
    assert dmv.solve is dmv.newton and bathe(0.1, None) == L.OK


@compiling
def test_no_kernel_is_compiled_with_an_unfilled_hole():
    with pytest.raises(TypeError, match=r"^march has a hole that nothing fills: step\(t, h, p\)"):
        jit.compile_kernel(drive.march, drive.MARCH)

    with pytest.raises(TypeError, match=r"^compose_step has a hole that nothing fills: run_stages\(first, last, t,"):
        jit.compile_kernel(jit.bind(drive.march, step=through_a_helper), drive.MARCH)


def test_what_reaches_an_unfilled_hole_has_no_digest():
    with pytest.raises(TypeError, match="template has a hole that nothing fills"):
        reach.digest_of(template, {})
    assert reach.digest_of(jit.bind(template, outer=added), {})


def test_holes_that_a_module_happens_to_have_do_no_harm():
    assert isinstance(work_sharing.carry_out, Hole)
    assert reach.digest_of(jit.bind(carried_out_beside, carry_out=added), {})


# ------------------------------------------------------------------ the package
def modules():
    return [importlib.import_module(found.name) for found in pkgutil.walk_packages(ph.__path__, "polhode.")]


def test_every_hole_stands_under_its_name_and_is_read():
    """Nobody overwrites a hole, and each is one of a template of its file."""
    total = 0
    for module in modules():
        holes = vars(module).get(HOLES, {})
        functions = [jit.python_of(value) for value in vars(module).values()]
        own = [f for f in functions if isinstance(f, FunctionType) and f.__module__ == module.__name__]
        read = frozenset().union(*(jit.global_names(f.__code__) for f in own)) if own else frozenset()
        for name, hole in holes.items():
            assert hole.name == name and hole.doc, f"{module.__name__}.{name}"
            assert getattr(module, name) is (hole if hole.default is None else hole.default)
            assert name in read, f"no template of {module.__name__} reads the hole {name}"
        total += len(holes)
    assert total > 100


def test_no_function_reads_a_name_that_is_empty():
    """A None or a name without a definition stands for nothing in a kernel: templates have holes for that."""
    for module in modules():
        if module.__name__.split(".")[1] not in cache.ROOMS:
            continue
        for value in list(vars(module).values()):
            function = jit.python_of(value)
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                for name in jit.global_names(function.__code__):
                    assert function.__globals__.get(name, ...) is not None, f"{module.__name__}.{name}"


def test_only_bind_makes_copies_of_functions():
    """Nothing is put into a template but through ``jit.bind``, which takes holes only.

    ``programs/rewire.py`` copies functions of users, to run them on tracers.
    """
    found = []
    for path in SOURCES.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "FunctionType" in text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "FunctionType":
                found.append(path.relative_to(SOURCES).as_posix())
    assert sorted(found) == ["kernel/jit.py", "programs/rewire.py"]


def test_every_method_fills_the_holes_of_its_templates():
    for method in METHODS.values():
        assert callable(MethodSpec(method, method.resolve_options()).with_trials.prepare().step)
