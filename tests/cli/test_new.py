"""``polhode new`` and what shells complete: scenarios that run as they are, with every key of their system."""

import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import polhode as ph
from each import each
from polhode import cli
from polhode.arguments.words import Function, Mass, arguments_of
from polhode.cli.text import complete_scenario, complete_study, complete_system
from polhode.errors import InvalidInput
from polhode.loads import LOADS
from polhode.runs.scenario.starters import BODIES, STARTERS, as_toml, starter
from polhode.systems import SYSTEMS
from polhode_papers import STUDIES

OWN = [*sorted(STARTERS), "bodies"]


@pytest.fixture
def polhode(monkeypatch, capsys, tmp_path):
    """Call the command in a folder of its own; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["polhode", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return call


def keys_in(text):
    """Keys of [system] and all others, given or behind a #, with their values."""
    found, part = {}, ""
    for line in text.splitlines():
        part = line if line.startswith("[") else part
        match = re.fullmatch(r"(# (?=.*  # (?:default|example)$)|)(\w+) = (.*)", line)
        if match:
            found[part, match[2]] = tomllib.loads(f"{match[2]} = {match[3]}")[match[2]]
    return found


def test_every_system_of_polhode_has_a_scenario():
    assert set(SYSTEMS) >= set(STARTERS)
    for name, build in SYSTEMS.items():
        assert name in STARTERS or not build.__module__.startswith("polhode.")


def test_every_load_stands_in_that_of_bodies_and_is_toml():
    text = starter("bodies")
    uncommented = re.sub(r"^# (?=\[\[|\w+ = )", "", text, flags=re.M)
    loads = uncommented[uncommented.index("[[system.loads]]") : uncommented.index("# What surrounds")]
    found = tomllib.loads(loads)["system"]["loads"]
    assert [one["kind"] for one in found if ":" not in one["kind"]] == ["tether", "central", *(
        name for name in LOADS if name not in ("tether", "central"))]  # fmt: skip
    for one in found:
        assert ":" in one["kind"] or set(arguments_of(LOADS[one["kind"]])) <= set(one), one["kind"]
    assert all(len(line) <= 120 for line in text.splitlines())


@pytest.mark.parametrize("name", OWN)
def test_it_runs_unedited(polhode, tmp_path, name):
    code, out, err = polhode("new", name)
    assert (code, out, err) == (0, "", f"written: {name}.toml; next: polhode run {name}.toml\n")
    code, out, err = polhode("run", f"{name}.toml", "-q", "--no-picture")
    assert (code, out, err) == (0, "", "")
    ds = ph.load(tmp_path / f"{name}.nc")
    assert ds.attrs["title"] == STARTERS.get(name, BODIES).title and ds.sizes["time"] > 50
    assert float(abs(ds.energy_error).max()) < 1e-2


@each("name", sorted(STARTERS))
def test_every_key_stands_in_it_and_is_toml(name):
    text = starter(name)
    known = keys_in(text)
    for key, argument in arguments_of(SYSTEMS[name]).items():
        assert ("[system]", key) in known, key
        if argument.default is not None and key not in STARTERS[name].system:
            value = known["[system]", key]
            assert value == (list(argument.default) if isinstance(argument.default, tuple) else argument.default)
        start = " ".join(argument.description.split()[:4])
        assert start in " ".join(text.replace("\n# ", " ").split()), key
    for key in ("step", "t_end", "rtol", "every", "guard"):
        assert ("[run]", key) in known
    assert all(value not in ("", {}) for value in known.values())
    assert all(len(line) <= 120 for line in text.splitlines())


def test_units_and_defaults_are_told():
    text = starter("heavy_top")
    assert "used with mass [m/s2]\n# gravity = 9.81  # default" in text
    assert "example\n" in text and "[kg m2]\ninertia = [5.0, 5.0, 1.0]" in text.replace("centre of mass ", "")
    assert "euler_angles" in text and "velocity = [0.0, 0.0, 50.0]" in text and "# position" not in text
    assert "angular" not in starter("particle") and "lattice" not in starter("orbit")


@each("words, names", [("new", ["bodies", *SYSTEMS]), ("reproduce", STUDIES)])
def test_without_a_name_those_that_there_are_are_listed(polhode, words, names):
    code, out, err = polhode(words)
    assert (code, err) == (0, "") and [line.split()[0] for line in out.splitlines()[1:]] == list(names)


def test_files_are_not_overwritten_unless_forced(polhode, tmp_path):
    Path("kept.toml").write_text("mine")
    code, _, err = polhode("new", "orbit", "-o", "kept.toml")
    assert code == 5 and "there is already a file kept.toml; choose another with -o, or add --force" in err
    assert Path("kept.toml").read_text() == "mine"
    assert polhode("new", "orbit", "-o", "kept.toml", "--force", "-q") == (0, "", "")
    assert (
        ph.runs.read_scenario("kept.toml").system.name == "orbit" and "run kept.toml" in Path("kept.toml").read_text()
    )


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["orbti"], 3, "unknown system 'orbti'; did you mean 'orbit'"),
        (["orbit", "-o", "a.txt"], 3, "'a.txt' must end in .toml"),
        (["orbit", "-o", "no/such/a.toml"], 5, "choose another place with -o"),
    ],
)
def test_what_is_refused(polhode, tmp_path, words, code, said):
    ended, _, err = polhode("new", *words)
    assert ended == code and said in err and not list(tmp_path.rglob("*.*"))


def test_a_system_of_ones_own_gets_samples(monkeypatch, tmp_path):
    def weight(mass: Mass, gravity: float = 9.81):
        """A falling mass.

        Parameters
        ----------
        mass : float
            Mass, positive.
        gravity : float
            Downwards.
        """
        made = ph.particle(mass, gravity=(0.0, 0.0, -gravity))
        return replace(made, name="weight", arguments={"mass": mass, "gravity": gravity})

    def held(torque: Function):
        """Needs a function."""
        raise InvalidInput("never built")

    monkeypatch.setitem(SYSTEMS, "weight", weight)
    monkeypatch.setitem(SYSTEMS, "held", held)
    path = tmp_path / "weight.toml"
    path.write_text(starter("weight"))
    assert "# A falling mass." in path.read_text() and "# gravity = 9.81  # default" in path.read_text()
    assert ph.runs.read_scenario(path).system.name == "weight"
    with pytest.raises(InvalidInput, match="no sample of argument 'torque'"):
        starter("held")


@each(
    ("value", "text"),
    [(True, "true"), (3.986004418e14, "3.986004418e14"), (float("inf"), "inf"), (1e-9, "1e-09"),
     ({"a": (1, 2.5)}, "{ a = [1, 2.5] }"), ("x", '"x"')],
)  # fmt: skip
def test_values_as_toml(value, text):
    assert as_toml(value) == text
    read = tomllib.loads(f"v = {text}")["v"]
    assert read == value or read == {"a": [1, 2.5]}


# ------------------------------------------------------------------ completion
def test_scenarios_complete_to_toml_files_and_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("top.toml", "top.nc", ".hidden.toml", "runs/a.toml", "runs/a.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")

    def known(typed):
        return complete_scenario(None, None, typed)

    assert known("") == ["runs/", "top.toml"] and known("to") == ["top.toml"]
    assert known("runs/") == ["runs/a.toml"] and known(".h") == [".hidden.toml"] and known("nowhere/") == []
    assert known("ru") == ["runs/", "runs/a.toml"]  # no space behind the slash
    assert known(f"{tmp_path}/t") == [f"{tmp_path}/top.toml"]


def test_systems_and_studies_complete():
    assert complete_system(None, None, "heavy") == ["heavy_top"]
    assert complete_study(None, None, "kry") == ["krysl2006"]
    assert "krysl2006/fig01" in complete_study(None, None, "krysl2006/fig") and complete_study(None, None, "no/f") == []


@each(
    ("typed", "wanted"),
    [("run to", "top.toml"), ("compare to", "top.toml"), ("sweep to", "top.toml"), ("reproduce kry", "krysl2006"),
     ("new heav", "heavy_top")],
)  # fmt: skip
def test_the_shell_is_answered(tmp_path, monkeypatch, typed, wanted):
    from click.shell_completion import BashComplete

    monkeypatch.chdir(tmp_path)
    (tmp_path / "top.toml").write_text("")
    *words, last = typed.split()
    found = BashComplete(cli.group, {}, "polhode", "_POLHODE_COMPLETE").get_completions(words, last)
    assert wanted in [item.value for item in found]
