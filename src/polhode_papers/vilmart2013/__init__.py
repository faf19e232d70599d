"""Vilmart 2013: integrators of the free rigid body, figure 1, table 2 and all claims."""

from __future__ import annotations

from polhode_papers.study import Study
from polhode_papers.vilmart2013.claims import FIGURE as CLAIMS
from polhode_papers.vilmart2013.dmv import FIGURE as DMV
from polhode_papers.vilmart2013.fig01 import FIGURE as FIG01
from polhode_papers.vilmart2013.nystrom import FIGURE as NYSTROM
from polhode_papers.vilmart2013.roundoff import FIGURE as ROUNDOFF
from polhode_papers.vilmart2013.splittings import FIGURE as SPLITTINGS
from polhode_papers.vilmart2013.table2 import FIGURE as TABLE2
from polhode_papers.vilmart2013.work import FIGURE as WORK

STUDY = Study("vilmart2013", "Rigid body dynamics", (FIG01, WORK, TABLE2, SPLITTINGS, DMV, NYSTROM, ROUNDOFF, CLAIMS))
