"""The figure that every picture is; imported where one is made, since matplotlib takes its time."""

from __future__ import annotations

from io import BytesIO

import matplotlib
from matplotlib.figure import Figure

from polhode.plots import style


class Picture(Figure):
    """A figure that notebooks show, without pyplot."""

    def _repr_png_(self) -> bytes:
        """What a notebook shows."""
        made = BytesIO()
        with matplotlib.rc_context(style.RC):
            self.savefig(made, format="png", dpi=style.DPI)
        return made.getvalue()
