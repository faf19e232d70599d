"""Written by .ci/stubs.py from the names of `__init__.py`."""

from polhode.runs import poinsot as poinsot
from polhode.runs.points import point_motion as point_motion
from polhode.runs.scenario import read_scenario as read_scenario
from polhode.runs.scenario import write_scenario as write_scenario

__all__ = [
    "poinsot",
    "point_motion",
    "read_scenario",
    "write_scenario",
]
