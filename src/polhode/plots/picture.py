"""The Figure class of all plots; imported only when a plot is drawn, since importing matplotlib is slow."""

from __future__ import annotations

from io import BytesIO

import matplotlib
from matplotlib.figure import Figure

from polhode.plots import style


class Picture(Figure):
    """A Figure that notebooks display without pyplot."""

    def _repr_png_(self) -> bytes:
        """PNG for display in a notebook."""
        buffer = BytesIO()
        with matplotlib.rc_context(style.RC):
            self.savefig(buffer, format="png", dpi=style.DPI)
        return buffer.getvalue()
