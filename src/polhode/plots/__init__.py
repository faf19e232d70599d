"""Plots of Datasets: functions that return a Figure and, on request, write PNG, PDF or SVG; nothing is shown.

``dashboard`` plots one run in the panels of its system, ``figure`` panels of choice for a paper; ``panels`` is the
table of them, drawn by ``time_panels``, ``craft_panels``, ``orbit_panels``, ``sphere_panels`` and ``molecules`` with
``axes``, from a run as ``shown`` sees it; ``between`` decides where rows may be joined. ``work_precision`` plots the
result of ``polhode.compare``: error against step and against wall time. Of ensembles, ``bands`` plots quantiles over
time, ``corner`` pairs of quantities, ``success`` which members failed; ``indicator`` plots indicators of chaos.
``animate`` writes a film. ``style`` holds colours, labels and the atomic writer. matplotlib is imported when the first
figure is drawn, through its object interface, without pyplot.

Systems, methods and runs do not belong here: a plot uses only the contents of a Dataset.
"""

from __future__ import annotations

from polhode.lazy import public_names
from polhode.plots.animation import animate
from polhode.plots.dashboard import dashboard, figure
from polhode.plots.indicators import indicator
from polhode.plots.members import bands, corner, success
from polhode.plots.work_precision import work_precision

__all__ = ["animate", "bands", "corner", "dashboard", "figure", "indicator", "success", "work_precision"]
__dir__ = public_names(__all__)
