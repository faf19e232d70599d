"""Celledoni, Fasso, Safstrom and Zanna 2008: exact and approximate free rotation, splittings; figures 3.1 to 3.10."""

from polhode_papers.study import Study

STUDY = Study.of(
    __name__,
    "The exact computation of the free rigid body motion and its use in splitting methods",
    "fig3_1 fig3_3 fig3_4 fig3_5 fig3_6 fig3_7 fig3_8 fig3_9 fig3_10 rotating growth formulas exact_forms "
    "changing_chart claims",
)
