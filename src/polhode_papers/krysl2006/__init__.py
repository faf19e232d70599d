"""Krysl 2006: midpoint and trapezoidal rule on SO(3) as compositions of Euler steps; figures 1 to 5 and all claims."""

from polhode_papers.study import Study

STUDY = Study.of(
    __name__,
    "Dynamically equivalent implicit algorithms for the integration of rigid body rotations",
    "fig01 fig02 fig03 fig04 fig05 claims",
)
