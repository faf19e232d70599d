"""Wrong input of many kinds: each gets one clear sentence that names place and remedy, and the documented exit code.

The lists below are the kinds. Exit codes: 2 usage, 3 invalid scenario or value, 4 did not converge or step too large,
5 file or disk, 6 the user's function failed; 130 (Ctrl-C) is in ``test_cli.py``.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode import cli
from polhode.errors import PolhodeError

GOOD = """\
title = "A top"
method = "trapm"
[system]
type = "heavy_top"
inertia = [5.0, 5.0, 1.0]
center_of_mass = [0.0, 0.0, 1.0]
weight = 20.0
[initial]
rotation_vector = [0.3, 0.0, 0.0]
angular_velocity = [0.0, 0.0, 50.0]
[run]
step = 0.001
t_end = 0.1
[output]
file = "out.nc"
"""
USER = """\
method = "trapm"
[system]
type = "rigid_body"
inertia = [2.0, 3.0, 4.0]
torque = "user.py:torque"
[initial]
angular_velocity = [0.1, 0.2, 1.0]
[run]
step = 0.001
t_end = 0.1
"""


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


def one_sentence(err, *words):
    """Exactly one line, of polhode's, with these words in it."""
    assert err.startswith("polhode: ") and err.count("\n") == 1 and "Traceback" not in err, err
    for word in words:
        assert word in err, f"{word!r} is not in: {err}"
    return True


def test_the_good_scenario_is_good(polhode):
    Path("good.toml").write_text(GOOD)
    assert polhode("run", "good.toml", "-q", "--no-picture") == (0, "", "")


# ------------------------------------------------------------------ scenarios: exit code 3, with file, line and key
# name: (what is replaced in GOOD, by what, line, words of the sentence)
SCENARIOS = {
    "unknown key at the top": ("title =", "ttle =", 1, "ttle: unknown key; did you mean 'title'?"),
    "unknown table": ("[output]", "[outputs]", 14, "outputs: unknown key; did you mean 'output'?"),
    "unknown key in a table": ("t_end =", "tend =", 13, "run.tend: unknown key; did you mean 't_end'?"),
    "unknown key with nothing near": (
        "t_end =",
        "zzz =",
        13,
        "run.zzz: unknown key; known here: atol, breaks, commanded, compensated, epoch",
    ),
    "unknown system": ('"heavy_top"', '"heavytop"', 3, "system: expected type = ", "did you mean 'heavy_top'?"),
    "system without type": ('type = "heavy_top"\n', "", 3, "system: expected a key type, one of dipoles, free_body"),
    "system without an argument": (
        "center_of_mass = [0.0, 0.0, 1.0]\n",
        "",
        3,
        "system: center_of_mass is missing; give its position relative to the fixed point",
    ),
    "top without weight or mass": ("weight = 20.0\n", "", 3, "system: neither weight nor mass is given"),
    "top with weight and mass": ("weight = 20.0", "weight = 20.0\nmass = 2.0", 7, "system.weight: weight and mass are"),
    "top of weightless inertia": (
        "weight = 20.0",
        'inertia_about = "center_of_mass"\nweight = 20.0',
        7,
        "system.inertia_about: inertia_about is 'center_of_mass', but the mass is not given",
    ),
    "inertia about nothing known": (
        "weight = 20.0",
        'mass = 2.0\ninertia_about = "centre"',
        8,
        "system.inertia_about: expected 'fixed_point' or 'center_of_mass' (got \"centre\"); did you mean",
    ),
    "top too heavy for its inertia": ("weight = 20.0", "mass = 20.0", 5, "system.inertia: inertia is too small to be"),
    "argument of another system": ("weight = 20.0", "weight = 2.0\nsign = 1", 8, "system.sign: unknown key"),
    "number as text": ("step = 0.001", 'step = "0.001"', 12, 'run.step: expected a number (got "0.001")'),
    "true as number": ("weight = 20.0", "weight = true", 7, "system.weight: expected a number (got true)"),
    "number as text in a list": (
        "[0.3, 0.0, 0.0]",
        '[0.3, "0", 0.0]',
        9,
        "initial.rotation_vector[1]: expected a number",
    ),
    "fraction as count": ("t_end = 0.1", "steps = 10.5", 13, "run.steps: expected a whole number (got 10.5)"),
    "number as text in a switch": ("t_end = 0.1", 't_end = 0.1\nguard = "no"', 14, "run.guard: expected true or false"),
    "number as method": ('"trapm"', "4", 2, "method: expected a table (got 4)"),
    "date as number": ("t_end = 0.1", "t_end = 2020-01-01", 13, "run.t_end: expected a number"),
    "vector too short": ("[0.0, 0.0, 50.0]", "[0.0, 50.0]", 10, "initial.angular_velocity: expected 3 entries (got 2"),
    "vector too long": ("[0.0, 0.0, 1.0]", "[0, 0, 0, 1]", 6, "system.center_of_mass: expected 3 entries (got 4"),
    "number for vector": ("[0.0, 0.0, 1.0]", "1.0", 6, "system.center_of_mass: expected a list (got 1.0)"),
    "nan": ("weight = 20.0", "weight = nan", 7, "system.weight: expected a finite number (got nan)"),
    "infinity in a vector": (
        "[0.3, 0.0, 0.0]",
        "[inf, 0.0, 0.0]",
        9,
        "initial.rotation_vector[0]: expected a finite number",
    ),
    "zero inertia": ("[5.0, 5.0, 1.0]", "[5.0, 4.0, 0.0]", 5, "system.inertia: inertia[2] = 0.0 is not positive"),
    "negative inertia": ("[5.0, 5.0, 1.0]", "[5.0, -5.0, 1.0]", 5, "system.inertia: inertia[1] = -5.0 is not positive"),
    "triangle violation": ("[5.0, 5.0, 1.0]", "[5.0, 3.0, 1.0]", 5, "system.inertia: inertia[0] = 5.0 exceeds"),
    "asymmetric tensor": (
        "[5.0, 5.0, 1.0]",
        "[[5, 1, 0],\n[0, 5, 0],\n[0, 0, 1]]",
        5,
        "system.inertia: inertia is not symmetric",
        "[0,1]",
    ),
    "tensor with a short row": (
        "[5.0, 5.0, 1.0]",
        "[[5, 0, 0],\n[0, 5],\n[0, 0, 1]]",
        6,
        "system.inertia[1]: expected 3 entries",
    ),
    "inertia of no shape": ("[5.0, 5.0, 1.0]", "{ about = [0, 0, 1] }", 5, "system.inertia: expected one shape of box"),
    "inertia of two shapes": (
        "[5.0, 5.0, 1.0]",
        "{ disk = { mass = 1, radius = 1 }, sphere = { mass = 1, radius = 1 } }",
        5,
        "system.inertia: expected one shape of box",
        "(got sphere and disk)",
    ),
    "unknown shape": (
        "[5.0, 5.0, 1.0]",
        "{ boxx = { mass = 1 } }",
        5,
        "system.inertia.boxx: unknown key; did you mean 'box'?",
    ),
    "shape of negative size": (
        "[5.0, 5.0, 1.0]",
        "{ disk = { mass = 1, radius = -1 } }",
        5,
        "system.inertia.disk.radius: radius is -1; it must be",
    ),
    "unknown method": ('"trapm"', '"trapn"', 2, "method: unknown method 'trapn'; did you mean 'trap"),
    "unknown option of a method": (
        '"trapm"',
        '"mkrk:gaus4"',
        2,
        "method: unknown option of method 'mkrk' 'gaus4'; did you mean 'gauss4'",
    ),
    "option of a method without options": ('"trapm"', '"trapm:gauss4"', 2, "method: method 'trapm' takes no options"),
    "tableau as method": ('"trapm"', '"gauss4"', 2, "write 'mkrk:gauss4'"),
    "unknown tableau by name": (
        'method = "trapm"',
        'method = { name = "mkrk", tableau = "gaus4" }',
        2,
        "method.tableau: unknown tableau of method 'mkrk' 'gaus4'",
    ),
    "unknown map by name": (
        'method = "trapm"',
        'method = { name = "mkrk", map = "kayley" }',
        2,
        "method.map: ",
        "did you mean 'cayley'",
    ),
    "zero step": ("step = 0.001", "step = 0.0", 12, "run.step: step is 0; it must be positive"),
    "negative step": ("step = 0.001", "step = -0.001", 12, "run.step: step is -0.001; it must be positive"),
    "no step": ("step = 0.001\n", "", 11, "run: expected a step (got none)"),
    "no end": ("t_end = 0.1\n", "", 11, "run: give either t_end or steps"),
    "two ends": ("t_end = 0.1", "t_end = 0.1\nsteps = 100", 13, "run.t_end: give either t_end or steps"),
    "negative count of steps": ("t_end = 0.1", "steps = -3", 13, "run.steps: steps is -3; it must not be negative"),
    "end off the grid": ("t_end = 0.1", "t_end = 0.1004", 13, "run.t_end: ", "the nearest step that fits is 0.001004"),
    "record every 0 steps": (
        "t_end = 0.1",
        "t_end = 0.1\nevery = 0",
        14,
        "run.every: expected a whole number, 1 or more (got 0)",
    ),
    "samples outside": (
        "t_end = 0.1",
        "t_end = 0.1\nt_eval = [0.0, 0.2]",
        14,
        "run.t_eval: t_eval must lie between the start of the run, t = 0",
    ),
    "samples out of order": (
        "t_end = 0.1",
        "t_end = 0.1\nt_eval = [0.1, 0.0]",
        14,
        "run.t_eval: ",
        "times must not go back",
    ),
    "samples and every": (
        "t_end = 0.1",
        "t_end = 0.1\nevery = 2\nt_eval = [0.1]",
        14,
        "every and t_eval are both given",
    ),
    "unknown units": (
        "t_end = 0.1",
        't_end = 0.1\nunits = "si"',
        14,
        "run.units: expected 'consistent', 'SI' or 'molecular' (got \"si\")",
    ),
    "two attitudes": (
        "angular_velocity",
        "attitude = [1, 0, 0, 0]\nangular_velocity",
        9,
        "attitude and rotation_vector are given; keep one",
    ),
    "two turnings": (
        "[run]",
        "angular_momentum = [0, 0, 1]\n[run]",
        11,
        "angular_velocity and angular_momentum are given; keep one",
    ),
    "zero quaternion": (
        "rotation_vector = [0.3, 0.0, 0.0]",
        "attitude = [0, 0, 0, 0]",
        9,
        "initial.attitude: attitude has length 0",
    ),
    "quaternion off the unit sphere": (
        "rotation_vector = [0.3, 0.0, 0.0]",
        "attitude = [1, 1, 0, 0]",
        9,
        "give a unit quaternion (w, x, y, z)",
    ),
    "unknown sequence": (
        "rotation_vector = [0.3, 0.0, 0.0]",
        'euler_angles = [0, 0, 0]\nsequence = "XYY"',
        10,
        "initial.sequence: ",
        "'XYY'",
    ),
    "sequence without angles": (
        "[run]",
        'sequence = "XYZ"\n[run]',
        11,
        "initial.sequence: sequence belongs to euler_angles",
    ),
    "motion through space of a pinned body": (
        "[run]",
        "velocity = [0, 0, 1]\n[run]",
        11,
        "initial.velocity: velocity is given, but",
    ),
    "problem and system": (
        'title = "A top"',
        'problem = "krysl_fast_top"',
        3,
        "system: a system is given, but problem brings its own",
    ),
    "unknown problem": (
        'title = "A top"',
        'problem = "krysl_fast_topp"',
        1,
        "problem: unknown problem 'krysl_fast_topp'; did you mean",
    ),
    "output of unknown kind": ('"out.nc"', '"out.h5"', 15, "output.file: 'out.h5' must end in .nc (netCDF) or .zarr"),
    "picture of unknown kind": (
        'file = "out.nc"',
        'picture = "out.jpg"',
        15,
        "output.picture: expected a name that ends in .png, .pdf or .svg",
    ),
    "key given twice": ("weight = 20.0", "weight = 20.0\nweight = 3.0", 8, "not valid TOML: cannot overwrite a value"),
    "torn TOML": ("[0.0, 0.0, 50.0]", "[0.0, 0.0", 11, "not valid TOML: unclosed array"),
    "TOML without quotes": ('"heavy_top"', "heavy_top", 4, "not valid TOML: invalid value"),
    "TOML cut off": ('"out.nc"\n', '"out', 15, "not valid TOML: "),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_wrong_scenario(polhode, name):
    old, new, line, *words = SCENARIOS[name]
    assert GOOD.count(old) == 1 or name == "two attitudes"
    text = GOOD.replace(old, new, 1)
    if name in ("problem and system", "unknown problem"):
        text = "\n".join(text.splitlines()[:-2])
    if name == "unknown problem":
        text = text.replace(text[text.index("[system]") : text.index("[initial]")], "")
    Path("bad.toml").write_text(text)
    code, out, err = polhode("run", "bad.toml", "-q")
    assert code == 3 and out == ""
    assert one_sentence(err, f"bad.toml:{line}: ", *words)
    assert not Path("out.nc").exists()


def test_scenario_of_nothing(polhode):
    Path("empty.toml").write_text("")
    code, _, err = polhode("run", "empty.toml", "-q")
    assert code == 3 and "empty.toml:1: no system; write a [system] table" in err


def test_scenario_that_is_no_text(polhode):
    Path("bad.toml").write_bytes(b"title = '\xff\xfe'")
    code, _, err = polhode("run", "bad.toml", "-q")
    assert code == 3 and one_sentence(err, "bad.toml is not a text file in UTF-8 (byte 9)")


# ------------------------------------------------------------------ the command line
# name: (arguments, exit code, words)
COMMANDS = {
    "unknown command": (["rum", "good.toml"], 2, "unknown command 'rum'; did you mean 'run'"),
    "unknown flag": (["run", "good.toml", "--quite"], 2, "No such option", "--quiet"),
    "no scenario": (["run"], 2, "Missing argument 'SCENARIO'"),
    "word for a number": (["run", "good.toml", "--step", "small"], 2, "'small' is not a valid float"),
    "missing scenario": (["run", "nowhere.toml"], 5, "cannot read the scenario 'nowhere.toml': there is no such file"),
    "folder for a scenario": (["run", "."], 5, "cannot read the scenario '.'"),
    "wrong suffix": (["run", "good.toml", "-o", "a.txt"], 3, "'a.txt' must end in .nc (netCDF) or .zarr"),
    "unwritable output": (
        ["run", "good.toml", "-o", "good.toml/a.nc"],
        5,
        "cannot write good.toml/a.nc",
        "choose another place with -o",
    ),
    "unknown method asked for": (
        ["run", "good.toml", "--method", "imidd"],
        3,
        "unknown method 'imidd'; did you mean 'imid",
    ),
    "step asked for that does not fit": (["run", "good.toml", "--step", "0.03"], 3, "the nearest step that fits is"),
    "negative step asked for": (["run", "good.toml", "--step", "-1"], 3, "step is -1; it must be positive"),
    "going on from nothing": (["run", "good.toml", "--from", "old.nc"], 5, "there is no file 'old.nc'"),
    "citing a missing file": (["cite", "old.nc"], 5, "there is no file 'old.nc'; check the name"),
    "citing a torn file": (["cite", "torn.nc"], 5, "cannot read 'torn.nc': it is torn or not a trajectory"),
    "citing another file": (["cite", "good.toml"], 3, "'good.toml' must end in .nc (netCDF) or .zarr"),
    "citing an unknown method": (["cite", "trapn"], 3, "unknown method 'trapn'; did you mean"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_wrong_command(polhode, name):
    words, expected, *sentence = COMMANDS[name]
    Path("good.toml").write_text(GOOD)
    Path("torn.nc").write_bytes(b"\x89HDF\r\n\x1a\n and no more")
    code, out, err = polhode(*words, *(["-q", "--no-picture"] if "--from" in words or "-o" in words else []))
    err = err.removeprefix("compiling (the first run of a method takes some seconds longer)\n")
    assert code == expected and out == ""
    if expected == 2:
        assert err.startswith("Usage: polhode") and "Traceback" not in err
        assert all(word in err for word in sentence), err
    else:
        assert one_sentence(err, *sentence)


def test_torn_netcdf_of_a_real_run(polhode):
    Path("good.toml").write_text(GOOD)
    assert polhode("run", "good.toml", "-q", "--no-picture")[0] == 0
    whole = Path("out.nc").read_bytes()
    Path("out.nc").write_bytes(whole[: len(whole) // 2])
    code, _, err = polhode("cite", "out.nc")
    assert code == 5 and one_sentence(err, "'out.nc' is torn or was changed: it has")


def test_netcdf_of_another_program(polhode):
    import xarray as xr

    xr.Dataset({"a": ("x", [1.0])}).to_netcdf("other.nc", engine="h5netcdf")
    code, _, err = polhode("cite", "other.nc")
    assert code == 5 and one_sentence(err, "'other.nc' was not written by polhode")


def test_going_on_into_the_same_file(polhode):
    Path("good.toml").write_text(GOOD)
    assert polhode("run", "good.toml", "-q", "--no-picture")[0] == 0
    code, _, err = polhode("run", "good.toml", "-q", "--from", "out.nc")
    assert code == 3 and one_sentence(err, "out.nc is what the run goes on from", "name another with -o")
    code, _, err = polhode("run", "good.toml", "-q", "--from", "out.nc", "-o", "rest.nc")
    assert code == 3 and one_sentence(err, "nothing is left to compute")


def test_picture_that_cannot_be_written(polhode):
    Path("bad.toml").write_text(GOOD + 'picture = "bad.toml/look.png"\n')
    code, _, err = polhode("run", "bad.toml", "-q")
    assert code == 5 and one_sentence(err, "cannot write the picture bad.toml/look.png", "--no-picture")
    assert Path("out.nc").exists()


# ------------------------------------------------------------------ steps that fail: exit code 4, nothing is lost
FAILURES = {
    "step too large": (
        "step = 0.001",
        "step = 0.1",
        "more than 'trapm' can represent",
        "the largest safe step there is",
    ),
    "did not converge": (
        "step = 0.001\nt_end = 0.1",
        "step = 3.0\nt_end = 30\nguard = false",
        "the solution of 'trapm' that belongs to the step could be followed no further than to a step of",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failing_step(polhode, name):
    old, new, *words = FAILURES[name]
    Path("bad.toml").write_text(GOOD.replace(old, new))
    code, _, err = polhode("run", "bad.toml", "-q")
    assert code == 4 and one_sentence(err, "in step ", "(t = ", *words, "rows up to t = ", "are in out.nc")
    ds = ph.load("out.nc")
    assert "in step" in ds.attrs["incomplete"] and np.isfinite(ds.attitude).all()


# ------------------------------------------------------------------ the user's code
# name: (the file user.py, exit code, words); without words a traceback is expected too
LATE = "def torque(t, q, omega, parameters):\n    if t > 0.05:\n        {}\n    return (0.0, 0.0, 0.1)\n"
CODE = {
    "file missing": (None, 3, "bad.toml:5: system.torque: there is no file 'user.py'; the path is relative"),
    "function missing": (
        "def my_torque(t, q, omega, parameters):\n    return (0, 0, 0)\n",
        3,
        "user.py has no function 'torque'; did you mean 'my_torque'?",
    ),
    "other arguments": (
        "def torque(t, q):\n    return (0, 0, 0)\n",
        3,
        "torque 'torque' (user.py:1) must take the arguments (t, q, omega, parameters)",
    ),
    "too few numbers": (
        "def torque(t, q, omega, parameters):\n    return (0.0, 1.0)\n",
        6,
        "returned (0.0, 1.0) at t = 0; it must return 3 numbers",
    ),
    "no number": (
        "def torque(t, q, omega, parameters):\n    return 'up'\n",
        6,
        "returned 'up' at t = 0; it must return 3 numbers",
    ),
    "nothing returned": ("def torque(t, q, omega, parameters):\n    pass\n", 6, "returned None at t = 0"),
    "not a number": (
        "def torque(t, q, omega, parameters):\n    return (0.0, float('nan'), 0.0)\n",
        6,
        "every number must be finite",
    ),
}


@pytest.mark.parametrize("name", CODE)
def test_wrong_user_code(polhode, name):
    source, expected, *words = CODE[name]
    Path("bad.toml").write_text(USER)
    if source is not None:
        Path("user.py").write_text(source)
    code, _, err = polhode("run", "bad.toml", "-q", "--allow-code")
    assert code == expected and one_sentence(err, *words)


def test_user_code_without_permission(polhode):
    Path("bad.toml").write_text(USER)
    Path("user.py").write_text("raise SystemExit('this must not run')\n")
    code, _, err = polhode("run", "bad.toml", "-q")
    assert code == 3 and one_sentence(err, "bad.toml:5: system.torque: ", "read user.py, then add --allow-code")


def test_user_code_named_wrongly(polhode):
    Path("bad.toml").write_text(USER.replace("user.py:torque", "user.torque"))
    code, _, err = polhode("run", "bad.toml", "-q", "--allow-code")
    assert code == 3 and one_sentence(err, "system.torque: expected 'file.py:function' (got \"user.torque\")")


@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("import math\n\ntorque = math.nothing\n", "AttributeError: module 'math' has no attribute 'nothing'"),
        ("def torque(t, q, omega, parameters:\n", "SyntaxError: "),
        (
            "def torque(t, q, omega, parameters):\n    return helper(t)\n\n\ndef helper(t):\n    return 1 / 0\n",
            "ZeroDivisionError: division by zero",
        ),
        (LATE.format("raise ValueError('fuel is gone')"), "ValueError: fuel is gone"),
    ],
    ids=["while loading", "syntax", "at the start", "on the way"],
)
def test_exception_in_user_code(polhode, source, last):
    Path("bad.toml").write_text(USER)
    Path("user.py").write_text(source)
    code, _, err = polhode("run", "bad.toml", "-q", "--allow-code", "--no-picture")
    *traceback, cause, sentence = err.rstrip().splitlines()
    assert code == 6 and cause.startswith(last) and sentence.startswith("polhode: ")
    assert any("user.py" in line for line in traceback)
    assert not any("polhode" + end in line for line in traceback for end in ("/systems", "/kernel", "/runs"))
    late = "fuel" in last
    assert Path("bad.nc").exists() == late
    if late:
        assert "rows up to t = 0.05 are in bad.nc" in sentence
        assert float(ph.load("bad.nc").time[-1]) == pytest.approx(0.05)


def test_not_a_number_on_the_way(polhode):
    Path("bad.toml").write_text(USER)
    Path("user.py").write_text(LATE.format("return (float('nan'), 0.0, 0.0)"))
    code, _, err = polhode("run", "bad.toml", "-q", "--allow-code", "--no-picture")
    assert code in (4, 6) and one_sentence(err, "step ", "rows up to t = ", "are in bad.nc")


# ------------------------------------------------------------------ Python
BODY = (2.0, 3.0, 4.0)
RUN = {"step": 0.01, "steps": 3}


def still(t, q, omega, parameters):
    return (0.0, 0.0, 0.0)


def run(system=None, method="trapm", **options):
    return ph.integrate(ph.free_body(BODY) if system is None else system, method, **{**RUN, **options})


# name: (call, words of the sentence)
CALLS = {
    "inertia of 2 numbers": (lambda: ph.free_body((1, 2)), "inertia must be 3 principal moments or a 3x3 tensor"),
    "inertia as text": (lambda: ph.free_body("heavy"), "inertia must be real numbers"),
    "inertia not a number": (lambda: ph.free_body((1, 2, np.nan)), "inertia[2] is nan"),
    "centre of mass of 2 numbers": (lambda: ph.heavy_top(BODY, (0, 1), 1.0), "center_of_mass must be 3 numbers"),
    "weight and mass": (lambda: ph.heavy_top(BODY, (0, 0, 1), 1.0, mass=1.0), "weight and mass are both given"),
    "no weight, no mass": (lambda: ph.heavy_top(BODY, (0, 0, 1)), "neither weight nor mass is given"),
    "weight and gravity": (lambda: ph.heavy_top(BODY, (0, 0, 1), 1.0, gravity=1.62), "gravity and weight are both"),
    "parallel axis without mass": (
        lambda: ph.heavy_top(BODY, (0, 0, 1), 1.0, inertia_about="center_of_mass"),
        "inertia_about is 'center_of_mass', but the mass is not given; give mass",
    ),
    "inertia about an unknown point": (
        lambda: ph.heavy_top(BODY, (0, 0, 1), mass=1.0, inertia_about="center"),
        "unknown inertia_about 'center'; did you mean 'center_of_mass'?",
    ),
    "inertia about the wrong point": (
        lambda: ph.heavy_top(BODY, (0, 0, 1), mass=3.0),
        "say so with inertia_about='center_of_mass'",
    ),
    "inertia about the centre of mass that no body has": (
        lambda: ph.heavy_top((1, 1, 3), (0, 0, 1), mass=3.0, inertia_about="center_of_mass"),
        "inertia[2] = 3.0 exceeds",
    ),
    "mass of a top not positive": (lambda: ph.heavy_top(BODY, (0, 0, 1), mass=0.0), "mass is 0; it must be positive"),
    "gravity of a top as text": (
        lambda: ph.heavy_top(BODY, (0, 0, 1), mass=1.0, gravity="down"),
        "gravity must be a number, not 'down'",
    ),
    "weight as text": (lambda: ph.heavy_top(BODY, (0, 0, 1), "1"), "weight must be a number, not '1'"),
    "unknown sign": (lambda: ph.systems.soft_wall(sign="physicl"), "unknown sign 'physicl'; did you mean 'physical'?"),
    "mass zero": (lambda: ph.particle(mass=0.0), "mass is 0; it must be positive"),
    "load without mass": (lambda: ph.rigid_body(BODY, load=lambda *a: 0), "give its mass too"),
    "torque and load": (lambda: ph.rigid_body(BODY, torque=still, load=still), "torque and load are both given"),
    "torque that is no function": (lambda: ph.rigid_body(BODY, torque=3.0), "torque must be a function of"),
    "parameters for nobody": (lambda: ph.particle(parameters=[1.0]), "neither is given"),
    "unknown problem": (lambda: ph.systems.problem("fast_top"), "unknown problem 'fast_top'; did you mean"),
    "no system": (lambda: run("top"), "the first argument must be a system"),
    "method of no text": (lambda: run(method=4), "a method is named by a string"),
    "flow of a method without": (lambda: run(method="trapm/exact"), "composes no flows"),
    "option unknown by name": (
        lambda: run(method="mkrk", tablo="rk4"),
        "method 'mkrk' 'tablo'; did you mean 'tableau'",
    ),
    "option given twice": (lambda: run(method="mkrk:rk4:gauss4"), "'tableau' of method 'mkrk' is given twice"),
    "every a fraction": (lambda: run(every=1.5), "every must be a whole number, not 1.5"),
    "attitude of 3 numbers": (lambda: run(attitude=(1, 0, 0)), "attitude must be 4 numbers"),
    "velocity not finite": (lambda: run(angular_velocity=(0, np.inf, 0)), "angular_velocity[1] is inf"),
    "velocity and momentum": (
        lambda: run(angular_velocity=(0, 0, 1), angular_momentum=(0, 0, 1)),
        "are both given; keep one of them",
    ),
    "attitude of a particle": (
        lambda: run(ph.particle(), attitude=(1, 0, 0, 0)),
        "the bodies of 'particle' do not turn",
    ),
    "samples none": (lambda: run(t_eval=[]), "t_eval must be a flat sequence of at least one finite time"),
    "samples of text": (lambda: run(t_eval="often"), "t_eval must be real numbers"),
    "units unknown": (lambda: run(settings={"units": "cgs"}), "unknown units 'cgs'"),
    "function not handed in again": (lambda: ph.rerun(run(ph.rigid_body(BODY, torque=still))), "hand it in again"),
    "Dataset of no run": (lambda: ph.rerun(run().drop_attrs()), "records no run"),
    "reference unknown": (
        lambda: ph.references.cite("krysl2007"),
        "unknown reference 'krysl2007'; did you mean 'krysl2006'",
    ),
    "citation of nothing": (
        lambda: ph.references.cite(3.0),
        "only a trajectory or the key of a reference can be cited",
    ),
    "suffix unknown": (lambda: ph.save(run(), "a.csv"), "'a.csv' must end in .nc (netCDF) or .zarr"),
    "sequence unknown": (lambda: ph.rotation.quaternion_from_euler((0, 0, 0), "XYY"), "'XYY'"),
}


@each("name", CALLS)
def test_wrong_call(name):
    call, words = CALLS[name]
    with pytest.raises(PolhodeError) as caught:
        call()
    message = str(caught.value)
    assert caught.value.exit_code == 3
    assert words in message and "\n" not in message


@each("how", [
    {"step": 0.01, "steps": 1000}, {"steps": ph.Tolerance(1e-9), "t_end": 1e16 + 10.0},
])  # fmt: skip
def test_times_that_do_not_tell_steps_apart_are_refused(how):
    with pytest.raises(ph.errors.InvalidInput, match=r"at times near 1e\+16, which numbers tell apart by 2.2"):
        ph.integrate(ph.free_body((1, 2, 3)), start={"time": 1e16}, **how)
    far = ph.integrate(ph.free_body((1, 2, 3)), step=0.01, steps=20, start={"time": 4e9})
    assert len(set(far.time.values.tolist())) == 21
    with pytest.raises(ph.errors.InvalidInput, match="step is"):
        ph.integrate(ph.free_body((1, 2, 3)), step=0.01, steps=20, start={"time": 5e9})
