"""Krysl 2006: midpoint and trapezoidal rule on SO(3) as compositions of Euler steps; figures 1 to 5 and all claims."""

from __future__ import annotations

from polhode_papers.krysl2006 import claims as claims, fig01, fig02, fig03, fig04, fig05
from polhode_papers.study import Study

STUDY = Study(
    "krysl2006",
    "Dynamically equivalent implicit algorithms for the integration of rigid body rotations",
    (fig01.FIGURE, fig02.FIGURE, fig03.FIGURE, fig04.FIGURE, fig05.FIGURE, claims.FIGURE),
)
