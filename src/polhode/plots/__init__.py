"""Pictures of Datasets. Nothing is shown on a screen: a Figure is returned and, where asked, a PNG written whole.

``dashboard`` draws one run: energy error, momentum errors, attitude, the polhode on its sphere. ``work_precision``
draws what ``polhode.compare`` found: error against step and against wall time. ``style`` holds
colours, labels and the atomic writer. matplotlib is imported when the first picture is drawn, through its object
interface: pyplot and its state are never touched.

Here may not live: systems, methods, runs. A picture knows only what a Dataset carries.
"""

from __future__ import annotations

from polhode.plots.dashboard import dashboard
from polhode.plots.work_precision import work_precision

__all__ = ["dashboard", "work_precision"]
