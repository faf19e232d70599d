"""The indicator of chaos of a scenario, of its members where it has a table [members]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polhode.chaos.indicators import fli, gali, lyapunov, megno, sali
from polhode.display import Progress
from polhode.ensembles.of_scenario import members_of
from polhode.errors import InvalidInput
from polhode.lazy_packages import xr
from polhode.runs.request import grouped
from polhode.runs.scenario import Scenario

INDICATORS = {"megno": megno, "lyapunov": lyapunov, "fli": fli, "sali": sali, "gali": gali}
RECORDED = ("every", "record", "progress")
"""Words of a run that say which rows a trajectory has, and nothing of an indicator."""
LENGTH = ("steps", "t_end", "t_eval")
"""Words of a run that say how long it is."""


def indicator_of(
    scenario: Scenario, indicator: str = "megno", *, t_end: float | None = None, vectors: int | None = None,
    seed: int = 0, threads: int | None = None, progress: Callable[[Progress], None] | bool | None = None,
) -> xr.Dataset:  # fmt: skip
    """An indicator of chaos of what a scenario describes."""
    compute: Any = INDICATORS[indicator]
    try:
        varied, given = None, grouped(scenario.arguments)
        if scenario.members is not None:
            varied, given = members_of(scenario, scenario.members)
        given = {name: value for name, value in given.items() if name not in RECORDED}
        if t_end is not None:
            given = {name: value for name, value in given.items() if name not in LENGTH} | {"t_end": t_end}
        if vectors is not None:
            given["order" if indicator == "gali" else "vectors"] = vectors
        ds: xr.Dataset = compute(
            scenario.system, scenario.method, members=varied, seed=seed, threads=threads, progress=progress, **given
        )
    except InvalidInput as failed:
        failed.args = (f"{scenario.path}: {failed}",)
        raise
    return ds.assign_attrs(scenario.labels, title=f"{ds.attrs['title'].split(':')[0]} of {scenario.title}")
