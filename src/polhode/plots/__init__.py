"""Plots of Datasets: functions that return a Figure and, on request, write a PNG; nothing is shown on a screen.

``dashboard`` plots one run: energy error, momentum errors, attitude, the polhode on its sphere. ``work_precision``
plots the result of ``polhode.compare``: error against step and against wall time. Of ensembles, ``bands`` plots
quantiles over time, ``corner`` pairs of quantities, ``success`` which members failed. ``animate`` writes a film.
``style`` holds colours, labels and the atomic writer. matplotlib is imported when the first figure is drawn, through
its object interface, without pyplot.

Systems, methods and runs do not belong here: a plot uses only the contents of a Dataset.
"""

from __future__ import annotations

from polhode.plots.animation import animate
from polhode.plots.dashboard import dashboard, figure
from polhode.plots.members import bands, corner, success
from polhode.plots.work_precision import work_precision

__all__ = ["animate", "bands", "corner", "dashboard", "figure", "success", "work_precision"]
