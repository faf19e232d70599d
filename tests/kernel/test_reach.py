"""What a kernel is known by: all that the compiler can reach from its function, and nothing else."""

from __future__ import annotations

import cmath
import dis
import math
import re
import shutil
import textwrap
import types as python_types
from math import cos, sin
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import f8, types

import polhode
from polhode.kernel import cache, jit, reach
from polhode.kernel.reach import Unknown
from polhode.kernel.signatures import Workspace

SOURCES = Path(polhode.__file__).parent
compiling = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")


def made(source, **names):
    exec(textwrap.dedent(source), names)
    return names["f"]


def known(function, **options):
    return reach.digest_of(function, options)


# ------------------------------------------------------------------ one function
class Pair(NamedTuple):
    first: float
    second: float


class Turned(NamedTuple):
    second: float
    first: float


def module_of(**names):
    module = python_types.ModuleType("laws")
    vars(module).update(names)
    return module


PLAIN = "def f(x):\n    return g(x) + k"


def test_what_tells_functions_apart():
    one = made(PLAIN, g=sin, k=1.0)
    assert known(one) == known(made(PLAIN, g=sin, k=1.0))
    two = """
        def p(x):
            return x + 1.0
        def q(x):
            return x + 2.0
        def r(x):
            return {}
        def f(x):
            return p(x) * q(x) * r(x)
        """
    others = [
        made(PLAIN, g=sin, k=2.0),
        made(PLAIN, g=sin, k=1),
        made(PLAIN, g=sin, k=True),
        made(PLAIN, g=sin, k=-0.0),
        made(PLAIN, g=sin, k=0.0),
        made(PLAIN, g=cos, k=1.0),
        made("def f(x):\n    return g(x) - k", g=sin, k=1.0),
        made("def f(x, y=1):\n    return g(x) + k", g=sin, k=1.0),
        made("def f(x, *, y=1):\n    return g(x) + k", g=sin, k=1.0),
        made("def f(x, *, y=2):\n    return g(x) + k", g=sin, k=1.0),
        made("def f(x):\n    return (lambda y: g(y))(x) + k", g=sin, k=1.0),
        made("def f(x):\n    return (lambda y: k(y))(x) + g", g=1.0, k=sin),
        made(PLAIN, g=made("def f(x):\n    return h(x)", h=made("def f(x):\n    return 2 * x")), k=1.0),
        made(PLAIN, g=made("def f(x):\n    return h(x)", h=made("def f(x):\n    return 3 * x")), k=1.0),
        made(PLAIN, g=np.sin, k=np.arange(4.0)),
        made(PLAIN, g=np.sin, k=np.arange(4)),
        made(PLAIN, g=np.sin, k=np.arange(4.0).reshape(2, 2)),
        made(PLAIN, g=np.cos, k=np.arange(4.0)),
        made(PLAIN, g=Pair, k=1.0),
        made(PLAIN, g=Turned, k=1.0),
        made(PLAIN, g=Pair(1.0, 2.0), k=1.0),
        made(PLAIN, g=(1.0, (2.0, 3.0)), k=1.0),
        made(PLAIN, g=(1.0, 2.0, 3.0), k=1.0),
        made(PLAIN, g=types.float64, k=1.0),
        made(PLAIN, g=types.int64, k=1.0),
        made(PLAIN, g=jit.helper(sin_of), k=1.0),
        made(PLAIN, g=jit.inlined(sin_of), k=1.0),
        made("def f(x):\n    return m.g(x)", m=module_of(g=sin)),
        made("def f(x):\n    return m.g(x)", m=module_of(g=cos)),
        made("def f(x):\n    return m.k * x", m=module_of(k=2.0)),
        made("def f(x):\n    return m.k * x", m=module_of(k=3.0)),
        made("def f(x):\n    return f(x - 1)"),
        made(two.format("p(x) - q(x)")),
        made(two.format("q(x) - p(x)")),
        made("def f(x):\n    return p(x) * q(x) * r(x)", p=sin_of, q=cos_of, r=made(PLAIN, g=sin_of, k=cos_of)),
        made("def f(x):\n    return p(x) * q(x) * r(x)", p=sin_of, q=cos_of, r=made(PLAIN, g=cos_of, k=sin_of)),
    ]
    digests = [known(one), known(one, nogil=True), known(one, nogil=False), *map(known, others)]
    if jit.disabled():
        assert len(set(digests)) == len(digests) - 1  # helpers are plain functions
    else:
        assert len(set(digests)) == len(digests)


def sin_of(x):
    return sin(x)


def cos_of(x):
    return cos(x)


def test_two_that_were_met_before_are_not_confused():
    """A fingerprint once said of a function that it had been met, but not which one."""

    def mixed(**names):
        inner = made("def f(x):\n    return a(x) - b(x)", **names)
        return made("def f(x):\n    return p(x) * q(x) * r(x)", p=sin_of, q=cos_of, r=inner)

    one, other = mixed(a=sin_of, b=cos_of), mixed(a=cos_of, b=sin_of)
    assert jit.fingerprint(one) != jit.fingerprint(other) and jit.Made(one) != jit.Made(other)


def test_what_does_not_count():
    variants = [
        """
        def f(x):
            return g(x) + 3.5
        """,
        '''
        def f(x):
            """Told."""
            return g(x) + 3.5
        ''',
        '''
        # A comment.
        unused = 3.0

        def f(x):
            """Told otherwise,

            and at length.
            """
            # Inside.
            return (
                g(x)
                + 3.5
            )
        ''',
    ]
    assert len({known(made(source, g=sin, other=object())) for source in variants}) == 1
    counts = ['def f(x):\n    """a"""\n    return g("a")', 'def f(x):\n    """b"""\n    return g("b")']
    assert len({known(made(source, g=sin)) for source in counts}) == 2  # one constant for both


def test_a_module_is_seen_as_it_is_now():
    module = module_of(g=sin, k=1.0)
    function = made("def f(x):\n    return m.g(x) * m.k", m=module)
    before = known(function)
    module.other = object()
    assert known(function) == before
    module.k = 2.0
    assert known(function) != before


@pytest.mark.parametrize("thing", [object(), {"a": 1}, [1.0], {1.0}, Unknown, np.array([object()]), python_types])
def test_what_is_not_known_is_not_guessed(thing):
    function = made("def f(x):\n    return k.SimpleNamespace", k=thing)
    if thing is Unknown:  # exceptions are known by name
        known(function)
    else:
        with pytest.raises(Unknown):
            known(function)
        assert cache.place_of(function, (f8,), {}) is None


def test_signatures():
    class Other(NamedTuple):
        y: float
        x: float

    class Same(NamedTuple):
        x: float
        y: float

    Other.__name__ = Other.__qualname__ = Same.__qualname__ = "Same"
    a, b = (types.NamedTuple((f8, types.int64), kind) for kind in (Other, Same))
    P = types.CPointer(f8)
    called = types.FunctionType(f8(P, a))
    given = [f8(f8), f8(P), (f8,), (P,), "f8(f8)", f8(a), f8(b), f8(called), f8(types.CPointer(a))]
    assert len({reach.digest_of_signature(one) for one in given}) == len(given)
    assert Workspace._fields


# ------------------------------------------------------------------ all of polhode
def test_every_kernel_is_known(monkeypatch):
    """Or it would be compiled in every process."""
    from each_system import EVERY
    from polhode.kernel import drive
    from polhode.methods import METHODS, method

    asked = []
    with monkeypatch.context() as patch:
        patch.setattr(jit, "compile_kernel", lambda function, signature: asked.append((function, signature)))
        for name in METHODS:
            drive.loop_for.__wrapped__(method(name).prepare().step)
    roles = [
        getattr(build(), role) for build in EVERY.values() for role in ("loads", "potential", "commutator", "series")
    ]
    functions = [jit.python_of(role) for role in roles if isinstance(jit.python_of(role), python_types.FunctionType)]
    assert len(asked) > 50 and len(functions) > 15
    for function in [one for one, _ in asked] + functions:
        assert known(function) == known(function)
    for _, signature in asked:
        reach.digest_of_signature(signature)


def test_what_is_taught_is_kept():
    """Overloads are reached by no name, so the file that has them says all of itself, or is part of the compiler, whose
    digest is in every key."""
    compiler = {SOURCES / "kernel" / f"{one}.py" for one in reach.COMPILER}
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py") if path.stem != "later"}
    teachers = {path: text for path, text in texts.items() if re.search(r"\b(overload, |register_model\()", text)}
    assert {path.stem for path in teachers} == {"tracer", "numba_lanes"}
    for path, text in teachers.items():
        assert path in compiler or re.search(r"^MODULE_CODE = ", text, re.MULTILINE), path
    from polhode.kernel import simd

    assert simd.MODULE_CODE.co_filename == simd.__file__ and simd.MODULE_CODE.co_name == "<module>"
    source = Path(simd.__file__).read_text(encoding="utf-8")
    changed = source.replace("lanes, a: types.f8(lanes(4)), _sum)", "lanes, a: types.f8(lanes(4)), _first)")
    assert changed != source
    digests = {
        reach.contents(compile(text, str(simd.__file__), "exec", dont_inherit=True))[0]
        for text in (source, "# A comment.\n" + source.replace('"""Four numbers at a time', '"""Now five', 1), changed)
    }
    assert len(digests) == 2


# ------------------------------------------------------------------ edits
KNOWN = """
    import json
    from polhode.algebra import vectorised
    from polhode.kernel import cache, drive, jit, pairs, reach
    from polhode.kernel.many import potential_energies
    from polhode.kernel.signatures import LOADS, POTENTIAL
    from polhode.methods import method
    from polhode.systems.gravitation import gravity_potential
    from polhode.systems.gravity_gradient import gradient_series
    from polhode.systems.heavy_top import top_series
    from polhode.systems.loads_roles import both_levels, no_loads

    done = {}
    for role, signature in ((top_series, LOADS), (no_loads, LOADS),
                            (gravity_potential, POTENTIAL), (None, None)):
        cache.listeners[:] = [(compiled := []).append]
        potential_energies.kernel() if role is None else jit.compile_kernel(role, signature)
        done[role.__name__ if role else "loop"] = bool(compiled)
    asked = []
    jit.compile_kernel = lambda function, signature: asked.append(function)
    for name in (methods := ("forward_euler_m", "trapm", "taylor8")):
        drive.loop_for(method(name).prepare().step)
    names = dict(zip(methods, asked, strict=True))
    names |= {one.__name__: one for one in (top_series, no_loads, gradient_series, gravity_potential)}
    names["bound"] = jit.bind(both_levels, first_level=gravity_potential, others_level=gravity_potential)
    read = jit.bind(vectorised.row_of, get=vectorised.number, operands=vectorised.no_more)
    rows = {"operands": read, "write": vectorised.write1}
    names["lanes"] = jit.bind(vectorised.each, formula=pairs.load4, **rows)
    digests = {name: reach.digest_of(one, {}).hex() for name, one in names.items()}
    print(json.dumps([digests, [name for name, compiled in done.items() if compiled]]))
"""


@pytest.fixture
def sources(tmp_path):
    """A copy of the package and its bytecode, of which ``edit(file, old, new)`` changes the text."""
    shutil.copytree(SOURCES, tmp_path / "src" / "polhode")

    def edit(name, old, new):
        path = tmp_path / "src" / "polhode" / name
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{name} has no {old!r} any more"
        path.write_text(text.replace(old, new), encoding="utf-8")

    edit.environment = {"PYTHONPATH": str(tmp_path / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    edit.root = tmp_path / "src" / "polhode"
    return edit


def comment_on_everything(root):
    """A comment before all lines of all files, and other words in their docstrings."""
    for path in root.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text("# A comment.\n\n" + text.replace('.\n\n    """', '. Indeed.\n\n    """')
                        .replace('."""\n', '. Indeed."""\n'), encoding="utf-8")  # fmt: skip


def changed(before, after):
    assert before.keys() == after.keys()
    return {name for name in before if before[name] != after[name]}


@compiling
def test_an_edit_concerns_what_reaches_it_and_only_that_is_compiled(sources, forked, tmp_path):
    def ask():
        return forked(KNOWN, POLHODE_CACHE_DIR=str(tmp_path / "kernels"), **sources.environment)

    before, compiled = ask()
    assert len(set(before.values())) == len(before) >= 8
    assert compiled == ["top_series", "no_loads", "gravity_potential", "loop"]
    edits = (
        ("algebra/so3.py", "def dot(a, b):", "def dot(a, b, more=0.0):"),
        ("systems/loads_roles.py", "for k in range(6, 6 * N):", "for k in range(6, 6 * N + 0):"),
    )
    for file, old, new in edits:
        sources(file, old, new)
    after, compiled = ask()
    assert changed(before, after) == before.keys() - {"top_series", "gradient_series", "lanes", "taylor8"}
    assert compiled == ["no_loads", "gravity_potential"]
    for file, old, new in edits:
        sources(file, new, old)
    sources("systems/heavy_top.py", "scale(-parameters[0], cross(get3(parameters, 1), get3(u, 3 * k)))",
            "scale(-2.0 * parameters[0], cross(get3(parameters, 1), get3(u, 3 * k)))")  # fmt: skip
    sources("kernel/simd.py", 'each(builder, "rint", a)', 'each(builder, "floor", a)')
    sources("systems/gravitation.py", "total -= parameters[i] *", "total -= 2.0 * parameters[i] *")
    comment_on_everything(sources.root)
    last, compiled = ask()
    assert changed(before, last) == {"bound", "gravity_potential", "lanes", "taylor8", "top_series"}
    assert compiled == ["top_series", "gravity_potential"]  # the first kernels are kept


def test_code_of_many_names_and_constants(monkeypatch):
    """Read without ``dis``, six times as fast; arguments beyond 255 come in two instructions."""
    lines = [f"    x = x + a{k} * {k}.5" for k in range(300)]
    text = "\n".join(['def f(x):\n    "Doc."', *lines, "    return x"])
    monkeypatch.setattr(dis, "get_instructions", None)
    codes = [
        compile(one, "", "exec") for one in (text, text.replace("Doc.", "Other."), text.replace("299.5", "299.25"))
    ]
    digests, names = zip(*(reach.contents.__wrapped__(code) for code in codes), strict=True)
    assert names[0] == tuple(sorted(f"a{k}" for k in range(300)))
    assert digests[0] == digests[1] != digests[2]


def test_code_is_told_apart_by_what_its_names_stand_for():
    """Functions that read libraries alone are known by their code and these; all others by what they read."""
    code = compile("def f(x):\n    return m.sin(x)\n", "here", "exec").co_consts[0]

    def made(**known):
        return jit.Made(FunctionType(code, {"__name__": "here", **known}, "f"))

    every = [made(m=math), made(m=np), made(m=cmath), made(m=SimpleNamespace(sin=abs)), made(m=[1.0]), made()]
    assert made(m=math) == every[0] and len({one.digest for one in every}) == len(every)
    assert not every[0].opaque and every[3].opaque
    more = FunctionType(code, {"__name__": "here", "m": math}, "f", (1.0,))
    there = FunctionType(code, {"__name__": "there", "m": math}, "f")
    assert every[0] not in (jit.Made(more), jit.Made(there))
