"""The Figure class of all plots; imported only when a plot is drawn, since importing matplotlib is slow."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from polhode.plots import style


class Picture(Figure):
    """A Figure that notebooks display without pyplot; no layout of the user's settings moves its axes."""

    def __init__(self, *args: Any, layout: Any = "none", **kwargs: Any) -> None:
        super().__init__(*args, layout=layout, **kwargs)

    def __repr__(self) -> str:
        wide, high = self.get_size_inches() * self.dpi
        return f"picture of {wide:.0f} x {high:.0f} pixels; .savefig(path) writes it"

    def _repr_png_(self) -> bytes:
        """PNG for display in a notebook."""
        buffer = BytesIO()
        with matplotlib.rc_context(style.RC):
            self.savefig(buffer, format="png", dpi=style.DPI)
        return buffer.getvalue()
