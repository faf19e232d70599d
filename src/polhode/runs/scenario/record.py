"""A checked scenario: what it says to ``polhode.integrate``, its run, and the rest of an interrupted one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import xarray as xr

from polhode.display import Progress
from polhode.errors import InvalidInput, PolhodeError
from polhode.methods import method as find_method
from polhode.runs.initial_state import InitialState
from polhode.runs.integrate import carry_out
from polhode.runs.request import Request, go_on_with_states, grouped, requested
from polhode.runs.state import State
from polhode.runs.steps import grid, planned
from polhode.runs.store import LiveStore, Store
from polhode.systems import System
from polhode.systems.registry import handed_in
from polhode.trajectory.schema import COMMANDS


@dataclass(frozen=True)
class Files:
    """Where the results of a scenario go; None where it does not say."""

    file: Path | None = None
    picture: Path | None = None
    store: Path | None = None


@dataclass(frozen=True)
class Scenario:
    """A checked scenario.

    Attributes
    ----------
    path : Path
        The file.
    text : str
        What it says.
    title : str
        Its title, or what the ready-made problem is, or the name of the system.
    system : System
        What moves.
    method : str
        Method string; the recommended one where the file names none.
    arguments : dict
        Arguments of ``polhode.integrate`` besides system and method, with the words of a tolerance and of a start flat.
    output : Files
        Where results go.
    changes : dict
        What the caller changed (``method``, ``step``, ``rtol``).
    seed : int or None
        Of the random numbers of its initial state, where that has some.
    members : dict, optional
        What varies among its members, where it is an ensemble: the words of its [members].
    before : Dataset, optional
        The last row of the run that it continues, for the states that loads read.
    member : int
        Its number among the members of a sweep, whose noise it has.
    named : bool
        Whether the file, or the caller, names the method.
    """

    path: Path
    text: str
    title: str
    system: System
    method: str
    arguments: dict[str, Any]
    output: Files
    changes: dict[str, Any]
    seed: int | None = None
    members: dict[str, Any] | None = None
    before: xr.Dataset | None = None
    member: int = 0
    named: bool = True

    def integrate(
        self,
        progress: Callable[[Progress], None] | bool | None = None,
        store: str | os.PathLike[str] | Store | None = None,
        threads: int = 1,
    ) -> xr.Dataset:
        """Run it; the trajectory carries the text of the scenario and its title, and so does a store.

        Raises
        ------
        PolhodeError
            As ``polhode.integrate``; a scenario with [members], which is many runs.
        """
        if self.members is not None:
            raise InvalidInput(f"{self.path} is many members; run them with `polhode run` or "
                               "polhode.ensembles.ensemble_of(scenario)")  # fmt: skip
        try:
            live = None
            if store is not None:
                live = LiveStore(Store.of(store), self.labels, os.fspath(self.path.resolve()))
            return self._label(carry_out(self.request.on(threads), progress, live))
        except PolhodeError as failed:
            if failed.trajectory is not None:
                self._label(failed.trajectory)
            if isinstance(failed, InvalidInput):
                failed.args = (f"{self.path}: {failed}",)
            raise

    @property
    def asked(self) -> str | None:
        """The method, where one is named."""
        return self.method if self.named else None

    @property
    def request(self) -> Request:
        """Its run, checked.

        Raises
        ------
        InvalidInput
            As ``polhode.integrate``.
        """
        made = requested(self.system, self.asked, grouped(self.arguments)).of_member(self.member)
        if self.before is None:
            return made
        y = made.state.values.copy()
        go_on_with_states(y, self.before.isel(time=-1), made.system)
        return replace(made, state=InitialState(y))

    def continued(self, ds: xr.Dataset) -> Scenario:
        """The rest of this scenario, from where a trajectory of it stopped.

        The numbers agree with those of an uninterrupted run to round-off, not bit for bit; with ``rtol`` to the
        tolerance, for the choice of steps begins anew, from the size of the last one.

        Parameters
        ----------
        ds : xarray.Dataset
            What had been computed, such as the ``trajectory`` of an ``Interrupted``.

        Raises
        ------
        InvalidInput
            A trajectory of something else, or one with nothing left to compute.
        """
        if ds.attrs.get("system") != self.system.name:
            raise InvalidInput(
                f"that trajectory is of {ds.attrs.get('system')!r}, but {self.path} describes {self.system.name!r}"
            )
        keep = dict(self.arguments)
        time_transformed = has_step_density(self.method)
        h, n, start = span_of(keep, time_transformed)
        last = ds.isel(time=-1)
        now = float(last.time)
        left = n - (now - start) / h
        if time_transformed and "steps" in keep:
            left = n = keep["steps"] - int(ds.attrs["steps"])
        least = 0.0 if "rtol" in keep or time_transformed else 0.5
        if not least < left <= n + least:
            raise InvalidInput(
                f"nothing is left to compute: that trajectory ends at t = {now:g}"
                + ("" if time_transformed else f", the run at t = {start + n * h:g}")
            )
        keep = {name: value for name, value in keep.items() if name not in (*STATE, "angular_velocity", "velocity")}
        method = replace(find_method(self.method), compensated=keep.get("compensated", False))
        state = State.of(ds, method=method).given
        state = {name: value for name, value in state.items() if name not in ("time", "since", "commanded", "states")}
        keep |= {"clock" if name == "time_variables" else name: value.tolist() for name, value in state.items()}
        keep |= {"t0": now, "t_end": self.arguments.get("t_end", start + n * h), "since": keep.get("since", start)}
        keep |= {"commanded": True} if COMMANDS.items() <= ds.attrs.items() else {}
        if keep.pop("steps", None) is not None and time_transformed:
            del keep["t_end"]
            keep["steps"] = n
        if time_transformed:
            del keep["since"]
        if "rtol" in keep and "step" in last and float(last.step) > 0.0:
            keep["first_step"] = float(last.step)
        if "t_eval" in keep:
            keep["t_eval"] = [t for t in keep["t_eval"] if (t - now) * h > 0] or [keep["t_end"]]
        return replace(self, arguments=keep, changes=self.changes | {"continued_from": now}, before=ds.isel(time=[-1]),
                       member=0)  # fmt: skip

    def _label(self, ds: xr.Dataset) -> xr.Dataset:
        ds.attrs |= self.labels
        return ds

    @property
    def labels(self) -> dict[str, Any]:
        """The attributes a scenario gives to its trajectory."""
        changes = {"scenario_changes": json.dumps(self.changes)} if self.changes else {}
        seed = {} if self.seed is None else {"seed": self.seed}
        return {"title": self.title, "scenario": self.text} | seed | changes

    @property
    def functions(self) -> dict[str, Callable[..., Any]]:
        """The Python functions it names, by what ``rerun`` and ``resume`` call them."""
        found = handed_in(self.system)
        for event in self.arguments.get("events", ()):
            for watch in event.watches:
                if (one := watch.function or watch.of) is not None:
                    found[event.arguments["name"]] = one.function
        return found


STATE = ("attitude", "angular_momentum", "position", "momentum")


def has_step_density(label: str) -> bool:
    """Whether a method has a time transformation; False where there is no method."""
    return bool(label and find_method(label).prepare().step_density)


def span_of(times: Mapping[str, Any], time_transformed: bool = False) -> tuple[float, int, float]:
    """Signed step, number of steps and start time of a run; one with chosen steps counts as one step."""
    steps, t0, t_end = planned(grouped(times) | {"time": times.get("t0")}, time_transformed)
    return (*grid(steps, t0, t_end), t0)
