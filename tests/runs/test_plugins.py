"""An installed package adds a system, a method, a force and a tableau; a broken one is skipped with a warning."""

import os
import subprocess
import sys
from pathlib import Path

import polhode

MODULE = """
from dataclasses import replace
import polhode as ph
from polhode.systems.words import Acceleration, Mass

def falling(mass: Mass, gravity: Acceleration = 9.81) -> ph.System:
    "A body that falls."
    return replace(ph.particle(mass, gravity=(0.0, 0.0, -gravity)), name="falling", arguments={"mass": mass})

def tilt(strength: Acceleration) -> ph.forces.Force:
    "A force along z."
    return ph.forces.uniform((0.0, 0.0, strength))

def add():
    ph.add_system(falling)
    ph.add_method(replace(ph.METHODS["trapm"], name="plugged"))
    ph.forces.add_force(tilt)
    ph.add_tableau("plug2", [[], [2 / 3]], [1 / 4, 3 / 4])

def broken():
    raise RuntimeError("no such thing")
"""
ENTRIES = "[polhode.plugins]\nmine = plugged:add\nodd = plugged:broken\ngone = no_such_module:add\n"


def ask(folder: Path, code: str) -> tuple[str, list[str]]:
    """What a new process prints with a package in ``folder``, and its warnings."""
    (folder / "plugged.py").write_text(MODULE)
    about = folder / "plugged-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    source = Path(polhode.__file__).parents[1]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(source)])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "PolhodeWarning" in line]


def test_a_package_adds_rows_at_the_first_look_up(tmp_path):
    out, warned = ask(
        tmp_path,
        "import sys, polhode as ph\n"
        "ph.heavy_top, ph.METHODS['trapm'], ph.tableau('rk4')\n"
        "print('plugged' in sys.modules)\n"
        "print(ph.falling(2.0).name, ph.tableau('plug2').order, ph.forces.FORCES['tilt'](1.0).kind)\n"
        "from polhode.methods import method\n"
        "from polhode.runs.scenario import json_schema\n"
        "print(method('plugged').method.name, 'mkrk:plug2' == method('mkrk:plug2').label)\n"
        "known = json_schema()['$defs']\n"
        "print('Falling' in known, 'TiltForce' in known, 'falling' in dir(ph))\n",
    )
    assert out.split() == ["False", "falling", "2", "uniform", "plugged", "True", "True", "True", "True"]
    assert len(warned) == 2
    assert "plug-in 'odd' (plugged:broken) is skipped, for it raised RuntimeError: no such thing" in "".join(warned)
    assert "plug-in 'gone' (no_such_module:add) is skipped, for it raised ModuleNotFoundError" in "".join(warned)


def test_a_name_that_nobody_has_is_told_as_ever(tmp_path):
    out, _ = ask(
        tmp_path, "import polhode as ph\ntry:\n    ph.tableau('rk44')\nexcept ph.InvalidInput as no:\n    print(no)\n"
    )
    assert "unknown tableau 'rk44'; did you mean" in out
