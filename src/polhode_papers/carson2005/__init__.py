"""Carson 2005: symplectic and variational integration of orbits, figures 2 to 8, all claims, and its future work."""

from __future__ import annotations

from polhode_papers.carson2005 import (
    alpha,
    claims,
    correction,
    cost,
    digits,
    drag,
    fig02,
    fig03,
    fig04,
    fig05,
    fig06,
    fig07,
    fig08,
    higher,
    impulse,
    multi_body,
    period,
    sunlight,
    thrust,
)  # fmt: skip
from polhode_papers.study import Study

STUDY = Study(
    "carson2005",
    "Examining geometric integration for propagating orbit trajectories with non-conservative forcing",
    tuple(
        module.FIGURE
        for module in (
            claims,
            fig02,
            fig03,
            fig04,
            fig05,
            fig06,
            fig07,
            fig08,
            correction,
            impulse,
            thrust,
            sunlight,
            drag,
            higher,
            period,
            cost,
            alpha,
            digits,
            multi_body,
        )
    ),
)
