"""Studies: the claims of a paper, recomputed and judged by numbers.

One folder per paper, each with a README (figure, file, claim, verdict, how our numbers differ), one short file per
figure (parameters as printed, compute, judge, draw) and a ``STUDY``. ``study`` defines studies, figures and claims,
``criteria`` the checks that decide a claim, ``measure`` shared measurements, ``drawing`` shared plots, and ``report``
writes results to files.

Methods, systems and anything a user needs for a run of their own do not belong here.
"""

from __future__ import annotations

import importlib

from polhode_papers.study import Study, unknown

STUDIES = {
    "krysl2006": "Dynamically equivalent implicit algorithms for rigid body rotations",
    "holzinger2021": "Three rotation parameters through their singular points, with Runge-Kutta methods",
    "vilmart2013": "Rigid body dynamics: integrators of the free body and what they preserve",
    "celledoni2008": "The exact free rigid body and its use in splitting methods",
    "carson2005": "Symplectic and variational integration of orbits, and the forces its author left for later",
}
"""Name and subject of every study; the study itself is ``polhode_papers.<name>.STUDY``."""


def study(name: str) -> Study:
    """The study with this name.

    Raises
    ------
    InvalidInput
        Unknown name; the message suggests the closest.
    """
    if name not in STUDIES:
        raise unknown("study", name, STUDIES)
    definition = importlib.import_module(f"polhode_papers.{name}").STUDY
    assert isinstance(definition, Study)
    return definition


__all__ = ["STUDIES", "Study", "study"]
