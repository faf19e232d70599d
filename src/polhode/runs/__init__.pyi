"""Written by .ci/stubs.py from the names of `__init__.py`."""

from polhode.runs import poinsot as poinsot
from polhode.runs.free_motion import free_rotation as free_rotation
from polhode.runs.initial_state import ANGULAR_MOMENTUM as ANGULAR_MOMENTUM
from polhode.runs.initial_state import ATTITUDE as ATTITUDE
from polhode.runs.initial_state import start_state as start_state
from polhode.runs.points import joint_forces as joint_forces
from polhode.runs.points import point_motion as point_motion
from polhode.runs.scenario import read_scenario as read_scenario
from polhode.runs.scenario import write_scenario as write_scenario

__all__ = [
    "ANGULAR_MOMENTUM",
    "ATTITUDE",
    "free_rotation",
    "joint_forces",
    "poinsot",
    "point_motion",
    "read_scenario",
    "start_state",
    "write_scenario",
]
