"""Holzinger and Gerstmayr 2021: three rotation parameters integrated through their singular points."""

from __future__ import annotations

from polhode.studies.holzinger2021 import claims, tables
from polhode.studies.study import Study

STUDY = Study(
    "holzinger2021",
    "Time integration of rigid bodies modelled with three rotation parameters",
    (tables.TABLE_2, tables.TABLE_3, claims.FIGURE),
)
