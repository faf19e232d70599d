"""Every public callable has an example in its docstring, and what the example shows is what comes out."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import matplotlib
import pytest

import polhode as ph
from each import tables_kept

SOURCE = Path(ph.__file__).parent
MISSING = {
    name for name, there in {
        "surroundings.igrf_field": find_spec("ppigrf"), "surroundings.nrlmsis": find_spec("pymsis"),
        "surroundings.nrlmsis_air": find_spec("pymsis"), "initial.tle": find_spec("sgp4"),
        "initial.omm": find_spec("sgp4"), "trajectory.export.gsd": find_spec("gsd"),
        "gradients.jax_run": find_spec("jax"), "gradients.torch_run": find_spec("torch"),
    }.items() if there is None
}  # fmt: skip
"""Those whose example needs a package that is not installed."""
LONG = {"surroundings.nrlmsis", "surroundings.nrlmsis_air"} - MISSING
"""Those with an example that is long."""


def callables():
    """``{name under polhode: function}`` of every public function, and of what the public modules have inside."""
    found, seen = {}, set()

    def look(name, thing):
        if isinstance(thing, ModuleType):
            if thing.__name__.startswith("polhode") and thing not in seen:
                seen.add(thing)
                for key in getattr(thing, "__all__", ()):
                    look(f"{name}.{key}", getattr(thing, key))
        elif inspect.isroutine(thing) and inspect.unwrap(thing) not in seen:
            seen.add(inspect.unwrap(thing))
            if str(inspect.unwrap(thing).__module__).startswith("polhode"):
                found[name] = thing

    for name in (*ph.__all__, *ph._PACKAGES):
        look(name, getattr(ph, name))
    return found


def by_module():
    groups = {}
    for name, thing in callables().items():
        groups.setdefault(name.rpartition(".")[0] or "polhode", {})[name] = thing
    return groups


GROUPS = by_module()


@pytest.fixture
def nothing_added(monkeypatch):
    """What examples add to tables, and how they set matplotlib and JAX, is gone after them."""
    with tables_kept(), matplotlib.rc_context():
        yield
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", False)


def run(example):
    """Run an example; what comes out otherwise than it is shown is the message of a failure."""
    told = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(example, out=told.append)
    assert not told, "".join(told)


@pytest.mark.parametrize("module", [*GROUPS, pytest.param("", marks=pytest.mark.full, id="long")])
def test_examples_show_what_comes_out(module, nothing_added, columns_by_twos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, thing in GROUPS[module].items() if module else callables().items():
        text = inspect.getdoc(thing) or ""
        assert ">>>" in text, f"{name} has no example"
        if name in MISSING or (name in LONG) is bool(module):
            continue
        scope = vars(sys.modules[inspect.unwrap(thing).__module__])
        run(doctest.DocTestParser().get_doctest(text, dict(scope), name, None, 0))
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


def test_examples_of_methods_and_of_what_is_inside_show_what_comes_out(nothing_added, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    public = {f"{one.__module__}.{one.__qualname__}" for one in map(inspect.unwrap, callables().values())}
    count = 0
    for path in sorted(SOURCE.rglob("*.py")):
        if ">>>" in path.read_text(encoding="utf-8"):
            name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
            for example in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name), name):
                if example.examples and example.name not in public:
                    run(example)
                    count += 1
    assert count > 10
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


def test_parameters_are_described():
    told_elsewhere = {"algebra.elliptic.RC", "algebra.elliptic.RD", "algebra.elliptic.E"}  # in their first sentence
    for name, thing in callables().items():
        section = re.search(r"Parameters\n-+\n(.*?)(\n\n[A-Z][A-Za-z ]+\n-+|\Z)", inspect.getdoc(thing), re.DOTALL)
        lines = [line for line in (section[1].split("\n") if section else ()) if line and not line.startswith(" ")]
        told = {word.strip().lstrip("*") for line in lines for word in line.split(" : ")[0].split(",")}
        missing = [word for word in inspect.signature(thing).parameters if word not in told]
        assert not missing or name in told_elsewhere, f"{name} does not describe {', '.join(missing)}"


def test_docstrings_say_what_is_returned_and_raised():
    returns, raises = "\n\nReturns\n-------\n{}", "\n\nRaises\n------\nInvalidInput\n    "
    central, on, apsis = map(inspect.getdoc, (ph.loads.central, ph.loads.Load.on, ph.events.apsis))
    assert returns.format("Load") + raises + "No positive number, or a negative surface." in central
    assert on.count(returns.format("Load") + raises + "Another number of bodies") == 1
    assert returns.format("Event") + raises + "Names the argument that is wrong.\n\nExamples\n" in apsis
