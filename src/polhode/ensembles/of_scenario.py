"""The ensemble of a scenario: what its table [members] says varies, in the place of the values of its other tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polhode.display import Progress
from polhode.ensembles.ensemble import ensemble
from polhode.ensembles.sampling import Members, members
from polhode.errors import InvalidInput, shown
from polhode.lazy import xr
from polhode.runs.request import grouped
from polhode.runs.scenario import Scenario
from polhode.runs.state import ATTITUDES, TURNING

ALIKE = ((*ATTITUDES, "sequence", "coordinates"), TURNING, ("position",), ("velocity", "momentum"))
"""Words of a start that say the same thing: one that varies takes the place of all of them."""

WITHIN = (*ATTITUDES[1:], "sequence", *TURNING[2:])
"""Words of a start that are no arguments of ``polhode.ensemble``."""


def ensemble_of(
    scenario: Scenario, progress: Callable[[Progress], None] | bool | None = None, threads: int | None = None
) -> xr.Dataset:
    """Run all members of a scenario with a table [members].

        [members]
        count = 1000
        seed = 7
        vary = { weight = { normal = { mean = 20.0, sigma = 0.1 } }, angular_velocity = { ... } }
        reduce = { angular_velocity = "quantiles" }     # left out: all trajectories are kept

    Names are those of ``polhode.ensemble``; numbers are plain, of a scenario with units in its keys in SI.
    Distributions are written as ``polhode.ensembles.sampling.from_record`` reads them, reductions as
    ``polhode.ensembles.reductions.reductions_from`` does.

    Parameters
    ----------
    scenario : Scenario
        From ``polhode.runs.read_scenario``.
    progress, threads
        As of ``polhode.ensemble``.

    Returns
    -------
    xarray.Dataset
        As of ``polhode.ensemble``, with the text of the scenario.

    Raises
    ------
    InvalidInput
        A scenario without [members], or as ``polhode.ensemble``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polhode as ph
    >>> top = ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "top.toml")
    ...     _ = ph.runs.write_scenario(file, top, step=0.01, steps=100, start={"angular_velocity": (0.1, 0, 20)})
    ...     _ = file.write_text(file.read_text() + "[members]\\ncount = 4\\n[members.vary]\\n"
    ...                         "weight = { normal = { mean = 20.0, sigma = 0.1 } }\\n")
    ...     ds = ph.ensembles.ensemble_of(ph.runs.read_scenario(file))
    >>> ds.sizes["member"]
    4
    """
    if not isinstance(scenario, Scenario):
        raise InvalidInput(f"scenario must be what polhode.runs.read_scenario returns, not {shown(scenario)}")
    words = scenario.members
    if words is None:
        raise InvalidInput(f"{scenario.path} has no [members]; run it with scenario.integrate()")

    def made() -> xr.Dataset:
        varied, given = members_of(scenario, words)
        return ensemble(
            scenario.system, scenario.asked, members=varied, reduce=words["reduce"], engine=words["engine"],
            threads=threads, progress=progress, **given,
        )  # fmt: skip

    return scenario.labelled(made)


def members_of(scenario: Scenario, words: Mapping[str, Any]) -> tuple[Members, dict[str, Any]]:
    """The members of a scenario, and its arguments without those in whose place something varies."""
    if words["count"] is None and all(isinstance(one, Mapping) for one in (words["vary"] or {"": 0}).values()):
        raise InvalidInput("count is missing; say how many members to draw: count = 1000")
    varied: Members = members(
        words["table"] or words["vary"], words["count"], design=words["design"], seed=words["seed"]
    )
    names = set(varied)
    gone = {word for group in ALIKE if names.intersection(group) for word in group}
    found = {name: value for name, value in grouped(scenario.arguments).items() if name not in gone}
    start = {name: value for name, value in (found.pop("start", None) or {}).items() if name not in gone}
    start |= {name: found.pop(name) for name in WITHIN if name in found}
    return varied, found | ({"start": start} if start else {})
