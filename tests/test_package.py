"""What is handed out: public names, every file of the package in the wheel, CITATION.cff as pyproject.toml has it."""

import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from operator import attrgetter
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import polhode as ph
from each import each
from polhode import __version__
from polhode.errors import OldNameWarning
from polhode.lazy import Table, unmade
from polhode.methods import FAMILIES, METHODS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
UNREACHABLE = ("No matching distribution", "Could not find a version", "Connection", "Temporary failure")
"""What pip says where it cannot fetch the build backend."""


def test_the_top_is_what_a_first_week_needs():
    assert len(ph.__all__) <= 50 and dir(ph) == sorted(ph.__all__)
    assert all(hasattr(ph, name) for name in [*ph.__all__, *ph._PACKAGES])
    with pytest.raises(AttributeError, match="no attribute 'integrates'"):
        ph.integrates  # noqa: B018


@each("name", ph._MOVED)
def test_names_that_moved_work_and_say_where_they_are(name):
    new = ph._MOVED[name]
    assert name not in dir(ph)
    with pytest.warns(OldNameWarning, match=rf"^polhode\.{name} is now polhode\.{re.escape(new)}$") as seen:
        assert getattr(ph, name) is attrgetter(new)(ph)
    assert {one.filename for one in seen} == {__file__}
    with pytest.warns(OldNameWarning, match="is now") as seen:
        exec(f"from polhode import {name}")
    assert {one.filename for one in seen} == {"<string>"}


@each("name", ["ephemeris", "gravity_field", "magnetic_field", "nrlmsis"])
def test_what_left_the_systems_says_where_it_is(name):
    with pytest.warns(ph.errors.OldNameWarning, match=f"polhode.systems.{name} is now polhode.surroundings.{name}"):
        assert getattr(ph.systems, name) is getattr(ph.surroundings, name)


def test_citation_file_agrees_with_the_project():
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited) and cited["type"] == "software"
    assert (cited["cff-version"], cited["title"]) == ("1.2.0", PROJECT["name"])
    assert str(cited["version"]) == PROJECT["version"] == __version__
    assert (cited["license"], cited["keywords"]) == (PROJECT["license"].partition(" AND ")[0], PROJECT["keywords"])
    assert [author["name"] for author in cited["authors"]] == [author["name"] for author in PROJECT["authors"]]
    assert PROJECT["description"] == cited["abstract"]


def test_classifiers_are_what_python_versions_say():
    told = PROJECT["classifiers"]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {least}" in told and len(set(told)) == len(told)
    assert "Typing :: Typed" in told and (ROOT / "src" / "polhode" / "py.typed").exists()
    assert not any(one.startswith("License ::") for one in told)  # the license is an SPDX expression


WITHDRAWN = {"zarr": (3, 0, 7), "scipy": (1, 11, 0)}
"""The last of the releases that were withdrawn: for losing data, for their license."""


def test_the_lowest_versions_are_of_all_packages_and_none_was_withdrawn():
    found = runpy.run_path(str(ROOT / ".ci" / "lowest.py"))["lowest"]()
    assert {"numpy", "numba", "jax", "torch", "ppigrf", "astropy", "pytest"} <= found.keys()
    for name, last in WITHDRAWN.items():
        assert tuple(map(int, found[name].split("."))) > last


def test_a_skip_without_a_reason_fails_where_all_packages_are(request, monkeypatch, capsys):
    hooks = request.config.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))

    def ended(reason):
        reports = {"skipped": [SimpleNamespace(longrepr=("tests/x.py", 1, f"Skipped: {reason}"))]}
        plugins = SimpleNamespace(get_plugin=lambda name: SimpleNamespace(stats=reports))
        session = SimpleNamespace(config=SimpleNamespace(pluginmanager=plugins), exitstatus=0)
        hooks.pytest_sessionfinish(session)
        return session.exitstatus, capsys.readouterr().out

    missing = "could not import 'jax': No module named 'jax'"
    assert ended(missing) == (0, "")
    monkeypatch.setenv("POLHODE_SKIPS", "reasons")
    assert ended("there is a device") == (0, "")
    status, said = ended(missing)
    assert status == pytest.ExitCode.TESTS_FAILED and "tests/x.py" in said
    assert ended("astropy is not installed (extra 'astropy')")[0] == pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of the package, built in an environment of its own from a copy of the sources."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    words = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", str(folder), str(source)]
    quick = os.environ | {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=quick)
    if done.returncode and any(words in done.stderr for words in UNREACHABLE):
        pytest.skip("the build backend cannot be fetched here")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl")), source


def test_the_wheel_holds_every_file_of_the_package(wheel):
    path, source = wheel
    package = {one.relative_to(source / "src").as_posix() for one in (source / "src").rglob("*") if one.is_file()}
    with zipfile.ZipFile(path) as held:
        names = {name for name in held.namelist() if ".dist-info/" not in name}
        about = next(name for name in held.namelist() if name.endswith(".dist-info/METADATA"))
        told = message_from_string(held.read(about).decode())
    assert names == package
    assert {"polhode/references.bib", "polhode/py.typed", "polhode/viewer/assets/three.min.js"} <= names
    assert (told["Name"], told["Version"], told["License-Expression"]) == ("polhode", __version__, PROJECT["license"])
    assert "Project-URL" not in told  # none until the project has a public address


def test_xarray_finds_the_engine_of_a_wheel_and_what_is_in_it_works(wheel, tmp_path):
    """By the entry point, without polhode being imported by hand."""
    path, _ = wheel
    with zipfile.ZipFile(path) as held:
        held.extractall(tmp_path)
    code = (
        "import sys, xarray as xr; found = xr.backends.list_engines()['polhode'];"
        "print(sys.modules[type(found).__module__].__file__, hasattr(xr.Dataset, 'polhode'));"
        "import polhode, polhode.references as r; print(polhode.__file__, len(r.entries()) > 20)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-P", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment, check=True)
    files = (str(tmp_path / "polhode" / name) for name in ("xarray_engine.py", "__init__.py"))
    assert done.stdout.split() == [next(files), "True", next(files), "True"]


WITHOUT_ALL = """
import json, sys, tempfile
import importlib.abc, importlib.util

MISSING = {*sys.argv[1].split()}


class NotInstalled(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, NotInstalled())
import polhode as ph

importlib.util.find_spec("xarray")
early = [name for name in ("xarray",) if name in sys.modules]  # finding it is not importing it
from xarray.core import common
import xarray

early += [name for name in ("polhode.trajectory", "matplotlib") if name in sys.modules]
found = [hasattr(xarray.Dataset, "polhode"), [1 for one in sys.meta_path if type(one).__name__ == "WithXarray"]]

import polhode.epochs

ph.plots  # imports none of them either
top = ph.systems.heavy_top((1.0, 1.2, 2.0), (0.1, 0.0, 1.0), weight=3.0)
once = {"step": 0.01, "steps": 20, "angular_velocity": (0.0, 0.0, 1.0)}
ds = ph.integrate(top, **once)
folder = tempfile.mkdtemp()
calls = {
    "save": lambda: ph.save(ds, folder + "/a.nc"), "zarr": lambda: ph.save(ds, folder + "/a.zarr"),
    "store": lambda: ph.integrate(top, store=folder + "/b.zarr", **once), "plot": lambda: ds.polhode.plot(),
    "figure": lambda: ph.plots.figure(ds, panels=["energy"]), "film": lambda: ds.polhode.animate(folder + "/a.gif"),
    "sweep": lambda: ph.sweep(file, {"grid": {"run.steps": [1, 2]}}, store=folder + "/c.zarr"),
}
file = folder + "/a.toml"
with open(file, "w") as written:
    written.write('problem = "krysl_fast_top"\\n[run]\\nstep = 1e-3\\nsteps = 20\\n')
scenario = ph.runs.read_scenario(file).integrate()
members = ph.ensemble(top, "trapm", members=3, **once)
ph.trajectory.export.oem, ph.planets.EARTH, ph.epochs.epoch_of("2026-01-01 TDB")
said = {"steps": [ds.attrs["steps"], scenario.attrs["steps"]], "members": members.sizes["member"]}
said |= {"early": early, "xarray": found}
said["loaded"] = [name for name in ("astropy", "erfa") if name in sys.modules]
for name, call in calls.items():
    try:
        said[name] = str(call())
    except ph.errors.MissingExtra as told:
        said[name] = str(told)
sys.argv = ["polhode", "methods"]
try:
    __import__("polhode.__main__").__main__.main()
except SystemExit as end:
    said["command"] = end.code
print(json.dumps(said))
"""


def test_the_base_computes_and_says_what_is_missing_for_the_rest(python):
    """Without the packages of ``polhode[all]``, of which none is imported on the way."""
    packages = " ".join(re.findall(r"[a-z0-9]+(?=>=)", " ".join(PROJECT["optional-dependencies"]["all"])))
    said = python(WITHOUT_ALL.replace("sys.argv[1]", repr(packages)))
    assert (said.pop("steps"), said.pop("members"), said.pop("command")) == ([20, 20], 3, 2)
    assert (said.pop("early"), said.pop("loaded"), said.pop("xarray")) == ([], [], [True, []])
    needed = {"save": "h5netcdf", "zarr": "numcodecs", "store": "numcodecs", "sweep": "numcodecs"}
    assert said == {
        name: f"this needs {needed.get(name, 'matplotlib')}, which is not installed: pip install 'polhode[all]'"
        for name in said
    }
    assert {*packages.split()} == ph.errors.OF_ALL


def public_modules():
    found = {}
    for name in [*ph.__all__, *ph._PACKAGES]:
        value = getattr(ph, name)
        for one in [value, *(getattr(value, inner) for inner in getattr(value, "__all__", ()))]:
            if isinstance(one, ModuleType) and one.__name__.startswith("polhode"):
                found[one.__name__] = one
    return found


@each("module", public_modules().values(), ids=public_modules())
def test_a_listed_module_shows_public_names_only(module):
    assert dir(module) == sorted(dir(module)) and {*module.__all__} <= {*dir(module)}
    assert not [
        name for name in dir(module) if name not in module.__all__ and name not in {*ph.systems.SYSTEMS, *METHODS}
    ]


def test_rows_of_a_table_are_made_once_and_when_they_are_asked_for():
    made = []
    table = Table({"a": 1, "b": unmade(lambda n: made.append(n) or n, 2), "c": unmade(made.append, 3)})
    assert list(table) == ["a", "b", "c"] and not made
    assert table["b"] == table.get("b") == 2 and table.get("d", 4) == 4 and made == [2]
    assert list(table.values()) == [1, 2, None] and dict(table.items()) == dict(table) and made == [2, 3]
    assert repr(table) == "{'a': 1, 'b': 2, 'c': None}"


def test_a_method_makes_no_row_of_another():
    text = "import sys; from polhode.methods import METHODS as all, method; method('v2')\n"
    text += "print(all['v2'], dict.values(all), *sys.modules)"
    told = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    assert "<method v2: Stoermer-Verlet, kick-flow-kick>" in told and told.count("Unmade") > 100
    assert "polhode.methods.rotation_parameters" not in told


@each("file", FAMILIES)
def test_names_of_methods_are_those_of_the_rows(file):
    rows = importlib.import_module(f"polhode.methods.{file}").ROWS
    assert FAMILIES[file].split() == [getattr(row, "name", row) for row in rows]
    assert all(METHODS[name].name == name for name in FAMILIES[file].split())


def test_writers_create_the_folder_of_their_file(tmp_path):
    top = ph.heavy_top((5, 5, 1), (0, 0, 1), weight=20.0)
    ds = ph.integrate(top, "v2", step=0.1, steps=2, angular_velocity=(0, 0.1, 9.0))
    writers = {
        "a.nc": lambda path: ph.save(ds, path), "b.html": lambda path: ph.view(ds).save(path),
        "c.png": lambda path: ph.plots.figure(ds, "energy", path=path),
        "d.toml": lambda path: ph.runs.write_scenario(path, top, step=0.1, steps=2, angular_velocity=(0, 0.1, 9.0)),
    }  # fmt: skip
    for name, write in writers.items():
        write(tmp_path / name.partition(".")[0] / "new" / name)
        assert (tmp_path / name.partition(".")[0] / "new" / name).stat().st_size > 0
    (tmp_path / "file").touch()
    for name, write in writers.items():
        with pytest.raises(ph.errors.FileProblem, match=r"cannot write .*choose another place"):
            write(tmp_path / "file" / name)
