"""An installed package adds a system, a method, a force, a tableau, a recipe; a broken one is skipped."""

import os
from pathlib import Path

import polhode

MODULE = """
from dataclasses import replace
import numpy as np
import polhode as ph
from polhode.algebra.so3 import dot, scale
from polhode.arguments.words import Acceleration, Length, Mass

def falling(mass: Mass, gravity: Acceleration = 9.81) -> ph.systems.System:
    "A body that falls."
    return replace(ph.particle(mass, gravity=(0.0, 0.0, -gravity)), name="falling", arguments={"mass": mass})

def tilt(strength: Acceleration) -> ph.forces.Force:
    "A force along z."
    return ph.forces.uniform((0.0, 0.0, strength))

def yukawa(strength: float, reach: Length) -> ph.forces.Force:
    \"\"\"A fifth force of the centre.

    Parameters
    ----------
    strength : float
        Of gravity's.
    reach : float
        Distance over which it falls.
    \"\"\"
    given = {"strength": strength, "reach": reach}
    return ph.forces.Force("yukawa", "a fifth force", given, (strength, reach), pull, depth, axial=True)

def pull(p, at, mu, t, r, v):
    size = np.sqrt(dot(r, r))
    return scale(-p[at] * mu / size**3 * np.exp(-size / p[at + 1]) * (1.0 + size / p[at + 1]), r)

def depth(p, at, mu, t, r):
    size = np.sqrt(dot(r, r))
    return -p[at] * mu / size * np.exp(-size / p[at + 1])

def friction(rate: float) -> ph.forces.Force:
    "Friction that is linear in the velocity."
    return ph.forces.Force("friction", "friction", {"rate": rate}, (rate,), slowed)

def slowed(p, at, mu, t, r, v):
    return scale(-p[at], v)

def ring(system: ph.systems.System, ring: Length, lift: float = 0.0) -> dict:
    "Bodies on a circle."
    return {"position": [(ring, 0.0, lift)] * system.N}

def add():
    ph.initial.add_recipe(ring, sets=["position"])
    ph.forces.add_force(yukawa)
    ph.forces.add_force(friction)
    ph.systems.add_system(falling)
    ph.methods.add_method(replace(ph.methods.METHODS["trapm"], name="plugged"))
    ph.forces.add_force(tilt)
    ph.methods.add_tableau("plug2", [[], [2 / 3]], [1 / 4, 3 / 4])

def broken():
    raise RuntimeError("no such thing")
"""
ENTRIES = "[polhode.plugins]\nmine = plugged:add\nodd = plugged:broken\ngone = no_such_module:add\n"


def ask(forked, folder: Path, code: str) -> tuple[str, list[str]]:
    """What a new process prints with a package in ``folder``, and its warnings."""
    (folder / "plugged.py").write_text(MODULE)
    about = folder / "plugged-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    source = Path(polhode.__file__).parents[1]
    place = f"import os, warnings\nos.chdir({str(folder)!r})\nwarnings.simplefilter('default')\n"
    process = forked.start(place + code, PYTHONPATH=os.pathsep.join([str(folder), str(source)]))
    status, said = process.end()
    assert status == 0, said
    return process.out, [line for line in said.splitlines() if "PolhodeWarning" in line]


SCENARIO = """
method = "rkn6_14a/kepler"
[system]
type = "orbit"
mu_km3_s2 = 4e-4
mass = 2.0
forces = [{ kind = "yukawa", strength = 0.3, reach_km = 0.05 }]
[initial]
position = [90.0, 0.0, 20.0]
velocity = [0.0, 60.0, 5.0]
[run]
step = 0.05
steps = 400
"""


def test_a_package_adds_rows_at_the_first_look_up(forked, tmp_path):
    """Also a force with its own acceleration and potential, from a scenario with keys in units, in listings and the
    schema; energies against closed forms. A name that nobody has is told as ever, where it is the first that is looked
    up."""
    (tmp_path / "run.toml").write_text(SCENARIO)
    out, warned = ask(
        forked,
        tmp_path,
        "import json, sys, numpy as np, polhode as ph\n"
        "ph.heavy_top, ph.methods.METHODS['trapm'], ph.methods.tableau('rk4')\n"
        "print('plugged' in sys.modules)\n"
        "try:\n    ph.methods.tableau('rk44')\n"
        "except ph.errors.InvalidInput as no:\n    print(no)\n"
        "print(ph.systems.falling(2.0).name, ph.methods.tableau('plug2').order, ph.forces.FORCES['tilt'](1.0).kind)\n"
        "from polhode.methods import method\n"
        "from polhode.systems.listing import system_facts as facts\n"
        "from polhode.runs.scenario import json_schema\n"
        "print(method('plugged').method.name, 'mkrk:plug2' == method('mkrk:plug2').label)\n"
        "known = json_schema()['$defs']\n"
        "print('Falling' in known, 'TiltForce' in known, 'falling' in dir(ph.systems))\n"
        "print({'ring', 'ring_km', 'lift'} <= set(known['Initial']['properties']))\n"
        "listed = {row['name']: row for row in facts()['forces']}['yukawa']\n"
        "print(listed['arguments']['reach']['unit'], 'reach_km' in known['YukawaForce']['properties'])\n"
        "scenario = ph.runs.read_scenario('run.toml')\n"
        "ds = scenario.integrate()\n"
        "print(json.dumps(dict(scenario.system.arguments['forces'][0])))\n"
        "print(abs(ds.energy_error).max().item() < 1e-12, 'work' in ds, scenario.system.conserves)\n"
        "size = np.linalg.norm(ds.position, axis=1)\n"
        "level = -2.0 * 4e5 / size * (1 + 0.3 * np.exp(-size / 50.0))\n"
        "print(np.allclose(ds.potential_energy, level, rtol=1e-14, atol=0), ph.rerun(ds).equals(ds))\n"
        "slow = ph.orbit(4e5, 2.0, [ph.forces.friction(0.01), {'kind': 'yukawa', 'strength': 0.3, 'reach': 50.0}])\n"
        "ds = ph.integrate(slow, 'mkrk:cv8', step=0.01, steps=200, position=(90.0, 0, 20), velocity=(0, 60.0, 5))\n"
        "print([one.label for one in slow.auxiliary], abs(ds.energy_error).max().item() < 1e-13)\n"
        "print((ds.energy_change.item(-1) < -1.0))\n",
    )
    first, told, *rest = out.splitlines()
    assert first == "False" and "unknown tableau 'rk44'; did you mean" in told
    assert rest == [
        "falling 2 uniform",
        "plugged True",
        "True True True",
        "True",
        "m True",
        '{"kind": "yukawa", "strength": 0.3, "reach": 50.0}',
        "True False ('energy', 'angular_momentum_space')",
        "True True",
        "['friction'] True",
        "True",
    ]
    assert len(warned) == 2
    assert "plug-in 'odd' (plugged:broken) is skipped, for it raised RuntimeError: no such thing" in "".join(warned)
    assert "plug-in 'gone' (no_such_module:add) is skipped, for it raised ModuleNotFoundError" in "".join(warned)
