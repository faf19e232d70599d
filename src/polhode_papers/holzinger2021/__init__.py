"""Holzinger and Gerstmayr 2021: three rotation parameters integrated through their singular points."""

from __future__ import annotations

from polhode_papers.holzinger2021 import (
    claims,
    fig03,
    fig04,
    fig04_two_pi,
    fig05,
    fig06,
    fig07,
    fig08,
    fig09,
    fig10,
    fig11,
    fig12,
    fig13,
    fig14,
    fig15,
    fig16,
    fig17,
    fig18,
    implicit,
    rivals,
    stability,
    tables,
)
from polhode_papers.study import Study

STUDY = Study(
    "holzinger2021",
    "Time integration of rigid bodies modelled with three rotation parameters",
    (
        fig03.FIGURE, fig04.FIGURE, fig04_two_pi.FIGURE, fig05.FIGURE, fig06.FIGURE, fig07.FIGURE, fig08.FIGURE,
        fig09.FIGURE, fig10.FIGURE, fig10.TABLE_1, fig11.FIGURE, fig12.FIGURE, fig13.FIGURE, fig14.FIGURE, fig15.FIGURE,
        fig16.FIGURE, fig17.FIGURE, fig18.FIGURE, tables.TABLE_2, tables.TABLE_3, implicit.FIGURE, rivals.FIGURE,
        stability.FIGURE, claims.FIGURE,
    ),
)  # fmt: skip
