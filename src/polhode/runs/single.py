"""Names that moved to ``integrate``, ``request``, ``result`` and ``display``."""

from __future__ import annotations

from typing import Any

from polhode.runs.display import Progress, teller
from polhode.runs.integrate import integrate, rerun
from polhode.runs.request import (
    ADAPTIVE,
    MOST_STEPS,
    TIMES,
    check_moving,
    checked_breaks,
    grid,
    in_units_of,
    planned,
    rebuild,
    sample_times,
    span,
    start_state,
)
from polhode.runs.result import release

__all__ = [
    "ADAPTIVE", "MOST_STEPS", "TIMES", "Progress", "check_moving", "checked_breaks", "in_units_of", "integrate",
    "rebuild", "release", "rerun", "sample_times", "span", "start_state", "teller", "time_transformed_span",
    "tolerances", "whole",
]  # fmt: skip


def tolerances(**given: Any) -> Any:
    """What a run with chosen steps is told, checked."""
    return planned(given, False)


def time_transformed_span(step: Any, t_end: Any, steps: Any, t0: Any) -> Any:
    """What a run of a method with a clock is told, checked."""
    return planned({"step": step, "t_end": t_end, "steps": steps, "t0": t0}, True)


def whole(told: Any) -> tuple[float, int, float]:
    """The span of a run with chosen steps as one step: signed size, number, start; no step where it is empty."""
    return (*grid(*told), told[1])
