"""Scenarios: a run written down as a TOML file, checked before anything is computed.

    title = "Fast Lagrangian top"
    problem = "krysl_fast_top"        # or a [system] of one's own
    method = "trapm"                  # left out: the recommended one. Its options (tableau, sequence, ...) stand
                                      # beside it, or with its name in a table [method]

    [run]
    step = 2e-5                       # or rtol = 1e-8: steps chosen by this tolerance
    t_end = 20.0
    every = 100

A key may have its unit behind its name: ``position_km``, ``mu_m3_s2``, ``t_end_d``, ``inclination_deg``. Once one
beside angles has, the run is in SI: such values are turned into metres, kilograms and seconds, all others are taken to
be in them. An orbit may begin with its [elements] instead of a position and a velocity. Many bodies may begin on a
lattice, with attitudes and momenta drawn at random, by the functions of ``polhode.initial``:

    [initial]
    lattice = "cubic"                 # or "bcc", "fcc"; or draw = "gaussian"
    cells = 5
    noise = 0.01
    rotations = "random"
    temperature = 1.0                 # and/or energy = 20.0: momenta scaled to that total energy
    seed = 7

Every mistake in a file is reported at once, each with file, line and key. Python code named by a scenario
(``torque = "satellite.py:torque"``) is loaded only where the caller allows it.
"""

from __future__ import annotations

from polhode.runs.scenario.reader import read_scenario, sweep_table
from polhode.runs.scenario.record import Files, Scenario
from polhode.runs.scenario.schema import json_schema
from polhode.runs.scenario.toml_lines import key_lines
from polhode.runs.scenario.writer import write_scenario

__all__ = ["Files", "Scenario", "json_schema", "key_lines", "read_scenario", "sweep_table", "write_scenario"]
