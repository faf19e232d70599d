"""The trajectory: a plain xarray Dataset that includes its conserved quantities.

``schema`` specifies names, dimensions and units; ``build`` turns recorded states into a Dataset; ``files`` writes and
reads netCDF and Zarr, guarded by ``digests`` and ``foreign``; ``charts`` converts attitudes to three numbers;
``convergence`` compares trajectories; ``export`` writes CCSDS messages (epochs from ``epochs``), ``molecules`` writes
molecular dynamics files; ``frames`` sees orbits and attitudes from the orbit (LVLH, elements, ground track, shadow), by
what the record of the run tells of its ``surroundings``; ``observables`` computes correlations of many bodies,
``statistics`` their errors. Dataset is never subclassed.
"""

from __future__ import annotations

from typing import Any

from polhode.lazy import loaded, public_names
from polhode.trajectory.build import dataset
from polhode.trajectory.charts import convert_branch, with_chart
from polhode.trajectory.schema import CONVENTIONS, UNITS

_HOMES = {"convergence": "convergence", "export": "export", "observables": "observables", "load": "files:",
          "save": "files:", "suffix_of": "files:"}  # fmt: skip
__all__ = ["CONVENTIONS", "UNITS", "convert_branch", "dataset", "with_chart", *_HOMES]
__dir__ = public_names(__all__)


def __getattr__(name: str) -> Any:
    return loaded(__name__, _HOMES, name)
