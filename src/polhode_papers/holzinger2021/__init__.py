"""Holzinger and Gerstmayr 2021: three rotation parameters integrated through their singular points."""

from polhode_papers.study import Study

STUDY = Study.of(
    __name__,
    "Time integration of rigid bodies modelled with three rotation parameters",
    "fig03 fig04 fig04_two_pi fig05 fig06 fig07 fig08 fig09 fig10 fig11 fig12 fig13 fig14 fig15 fig16 "
    "fig17 fig18 tables implicit rivals stability claims",
)
