"""Written by .ci/stubs.py from the names of `__init__.py`."""

from polhode.ensembles import reductions as reductions
from polhode.ensembles import sampling as sampling
from polhode.ensembles.of_scenario import ensemble_of as ensemble_of
from polhode.ensembles.sweep import open_sweep as open_sweep
from polhode.ensembles.sweep import sweep_member as sweep_member
from polhode.ensembles.sweep import sweep_status as sweep_status

__all__ = [
    "ensemble_of",
    "open_sweep",
    "reductions",
    "sampling",
    "sweep_member",
    "sweep_status",
]
