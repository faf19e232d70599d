"""Texts of programs as modules: named by their digests, compiled once for all processes."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

from polhode.kernel import jit, reach
from polhode.kernel.signatures import LOADS
from polhode.programs import written
from polhode.programs.potentials import loads_of, text
from polhode.programs.trace import trace
from polhode.programs.written import module_of

compiling = pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")


def central(r, p):
    return -p[0] / np.linalg.norm(r)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(written, "cache_root", lambda: tmp_path)
    before = set(sys.modules)
    yield tmp_path / "programs"
    for name in set(sys.modules) - before:
        if name.startswith(reach.WRITTEN):
            del sys.modules[name]


def test_a_text_has_one_module_and_one_file(folder):
    made = module_of("def f(x):\n    return sqrt(x) + 1.0\n")
    assert made.f(4.0) == 3.0
    assert made is module_of("def f(x):\n    return sqrt(x) + 1.0\n")
    assert made is not module_of("def f(x):\n    return sqrt(x) + 2.0\n")
    assert len(list(folder.iterdir())) == 2
    assert sys.modules[made.__name__] is made
    assert made.f.__code__.co_filename == made.__file__


@pytest.mark.skipif(os.name != "posix", reason="files have no modes")
def test_the_folders_are_the_users_alone(tmp_path, monkeypatch):
    """The root too, in which compiled kernels are looked for only where others cannot write."""
    monkeypatch.setattr(written, "cache_root", lambda: tmp_path / "cache")
    before = os.umask(0)
    try:
        module_of("def f(x):\n    return sqrt(x) + 45.0\n")
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "cache", tmp_path / "cache" / "programs")] == [
        0o700
    ] * 2


def test_what_is_run_is_the_text_and_not_the_file(folder):
    text = "def f(x):\n    return x + 41.0\n"
    made = module_of(text)
    path = next(folder.iterdir())
    whole = path.read_text()
    path.write_text("raise SystemExit\n")
    del sys.modules[made.__name__]
    assert module_of(text).f(1.0) == 42.0
    assert path.read_text() == whole


@compiling
def test_a_file_that_is_gone_is_compiled_from_its_text(folder):
    """Vectors of four, which only the own compiler knows, and it from the source."""
    head = "from numpy import sqrt\nfrom polhode.kernel.simd import spread, sum4\n"
    made = module_of("def g(x):\n    return sum4(sqrt(spread(x)))\n", head)
    for path in folder.iterdir():
        path.unlink()
    assert jit.compile_kernel(made.g, jit.types.f8(jit.types.f8))(9.0) == 12.0


def test_where_nothing_can_be_written_functions_work(folder, monkeypatch):
    monkeypatch.setattr(written, "cache_root", lambda: folder / "a file" / "below")
    folder.mkdir()
    (folder / "a file").write_text("")
    assert module_of("def f(x):\n    return x + 43.0\n").f(1.0) == 44.0


def test_a_kernel_is_known_by_the_text(folder):
    one, same, other = (
        module_of(f"def f(x):\n    return x * {k}\n\n\ndef g(x):\n    return x\n") for k in ("2.0", "2.0", "3.0")
    )
    digests = [reach.digest_of(module.f, {}) for module in (one, same, other)]
    assert digests[0] == digests[1] != digests[2]
    assert reach.digest_of(one.f, {}) != reach.digest_of(one.g, {})
    assert jit.Made(one.f) == jit.Made(same.f) != jit.Made(other.f)


POINT = [True], [[False] * 3]
"""Which bodies move, and about which axes they turn."""


def test_the_same_function_gives_the_same_text_again():
    texts = set()
    for _ in range(2):
        program = trace(central, {"r": 3, "p": 1}, ())
        texts.add(text(program.graph, {"loads": loads_of(program.graph, program.outputs[0], *POINT)}, False))
    assert len(texts) == 1


@compiling
def test_roles_compile_as_they_run_in_python():
    program = trace(central, {"r": 3, "p": 1}, ())
    found = loads_of(program.graph, program.outputs[0], *POINT)
    assert jit.compile_kernel(module_of(text(program.graph, {"loads": found}, False)).loads, LOADS).address
