"""The trajectory: a plain xarray Dataset with its invariants in it.

``schema`` is the specification of names, dimensions and units; ``build`` makes a Dataset of recorded states; ``files``
writes and reads netCDF and Zarr; ``charts`` gives attitudes as three numbers; ``convergence`` compares trajectories;
``export`` writes the messages of the CCSDS, with instants from ``epochs``, and ``molecules`` the files of molecular
dynamics; ``observables`` has correlations of many bodies, ``statistics`` their errors. Dataset is never subclassed.
"""

from __future__ import annotations

from polhode.trajectory.build import dataset
from polhode.trajectory.charts import convert_branch, with_chart
from polhode.trajectory.files import load, save, suffix_of
from polhode.trajectory.schema import CONVENTIONS, UNITS

__all__ = ["CONVENTIONS", "UNITS", "convert_branch", "dataset", "load", "save", "suffix_of", "with_chart"]
