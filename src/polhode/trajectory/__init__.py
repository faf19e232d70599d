"""The trajectory: a plain xarray Dataset with its invariants in it.

``schema`` is the specification of names, dimensions and units; ``build`` makes a Dataset of recorded states; ``files``
writes and reads netCDF and Zarr; ``convergence`` compares trajectories. Dataset is never subclassed.
"""

from __future__ import annotations

from polhode.trajectory.build import dataset
from polhode.trajectory.files import load, save, suffix_of
from polhode.trajectory.schema import CONVENTIONS, UNITS

__all__ = ["CONVENTIONS", "UNITS", "dataset", "load", "save", "suffix_of"]
