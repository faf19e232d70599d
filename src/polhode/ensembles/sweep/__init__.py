"""Sweeps: one scenario for many values of its keys, in this process, in worker processes, or on a cluster.

A table [sweep] in a scenario says what varies. Keys are those of the file, in quotes; entries of lists are counted from
0:

    [sweep.grid]                                # every combination; the last key varies fastest
    "run.step" = [0.1, 0.05, 0.025]
    "system.weight" = { from = 10.0, to = 20.0, count = 11 }       # spacing = "log" for even ratios
    method = ["trapm", "v2/mr"]

    [sweep.list]                                # values that belong together
    "system.inertia" = [[1.0, 2.0, 3.0], [1.0, 1.0, 3.0]]
    "initial.angular_velocity.2" = [50.0, 40.0]

    [sweep.random]                   # or latin_hypercube, or sobol; distributions of polhode.ensembles.sampling
    "system.center_of_mass.2" = { uniform = { low = 0.9, high = 1.1 } }
    "system.parameters.0" = { normal = { mean = 2.2, sigma = 0.1 } }
    "initial.attitude" = { uniform_attitude = {} }

    [sweep]
    count = 1000                                # of draws, the same for each combination of the others
    seed = 1
    keep = ["attitude", "energy_error"]         # variables; default all
    rows = "last"                               # or "all", which needs rows at the same times
    store = "study.zarr"
    chunk = 500                                 # members of a task; measured by default

A member is a run, found by its number alone: its values, its random numbers and its bits depend on nothing else. Tasks
of some members each own whole chunks of a store and are marked when they are done; what was stopped goes on.
"""

from __future__ import annotations

from polhode.ensembles.sweep.call import SweepProgress, SweepStatus, sweep, sweep_member, sweep_status
from polhode.ensembles.sweep.store import open_sweep

__all__ = ["SweepProgress", "SweepStatus", "open_sweep", "sweep", "sweep_member", "sweep_status"]
