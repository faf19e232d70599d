"""Celledoni, Fasso, Safstrom and Zanna 2008: exact and approximate free rotation, splittings; figures 3.1 to 3.10."""

from __future__ import annotations

from polhode_papers.celledoni2008 import (
    changing_chart,
    claims,
    exact_forms,
    fig3_1,
    fig3_3,
    fig3_4,
    fig3_5,
    fig3_6,
    fig3_7,
    fig3_8,
    fig3_9,
    fig3_10,
    formulas,
    growth,
    rotating,
)
from polhode_papers.study import Study

STUDY = Study(
    "celledoni2008",
    "The exact computation of the free rigid body motion and its use in splitting methods",
    (
        fig3_1.FIGURE,
        fig3_3.FIGURE,
        fig3_4.FIGURE,
        fig3_5.FIGURE,
        fig3_6.FIGURE,
        fig3_7.FIGURE,
        fig3_8.FIGURE,
        fig3_9.FIGURE,
        fig3_10.FIGURE,
        rotating.FIGURE,
        growth.FIGURE,
        formulas.FIGURE,
        exact_forms.FIGURE,
        changing_chart.FIGURE,
        claims.FIGURE,
    ),
)
