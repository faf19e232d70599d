"""Vilmart 2013: integrators of the free rigid body, figure 1, table 2 and all claims."""

from polhode_papers.study import Study

STUDY = Study.of(__name__, "Rigid body dynamics", "fig01 work table2 splittings dmv nystrom roundoff claims")
