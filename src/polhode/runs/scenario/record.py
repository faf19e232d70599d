"""A checked scenario: what it says to ``polhode.integrate``, its run, and the rest of an interrupted one."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import xarray as xr

from polhode.display import Progress
from polhode.errors import InvalidInput, shown
from polhode.methods import method as find_method
from polhode.runs.integrate import carry_out
from polhode.runs.request import Request, go_on_with_states, grouped, requested
from polhode.runs.result import labelled
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

        def made() -> xr.Dataset:
            live = None
            if store is not None:
                live = LiveStore(Store.of(store), self.labels, os.fspath(self.path.resolve()))
            return carry_out(self.request.on(threads), progress, live)

        return self.labelled(made)

    def labelled(self, make: Callable[[], xr.Dataset]) -> xr.Dataset:
        """What is made of it with its attributes; what is refused is told with its path."""
        try:
            return labelled(self.labels, make)
        except InvalidInput as failed:
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
        y = made.state.copy()
        go_on_with_states(y, self.before.isel(time=-1), made.system)
        return replace(made, state=y)

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


def with_changes(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a scenario with other values at some keys; the tables handed in stay as they are."""
    made: Any = dict(tables)
    for key, value in changes.items():
        made = _changed(made, path_of(made, key).split("."), value, key)
    return made


def path_of(tables: Mapping[str, Any], key: str) -> str:
    """A key with dots alone, and from the top of the file where it begins with the name of a summand."""
    dotted = re.sub(r"\[(\d{1,9})\]", r".\1", key)
    head = dotted.partition(".")[0]
    system = tables.get("system")
    groups = system.items() if head not in tables and isinstance(system, Mapping) else ()
    for group, entries in groups:
        if isinstance(entries, list) and any(name_of(one) == head for one in entries):
            return f"system.{group}.{dotted}"
    return dotted


def named_path(tables: Mapping[str, Any], key: str) -> str:
    """A key of a summand as its system has it: ``tether.stiffness`` for ``system.loads[0].stiffness``."""
    _, group, entry, *rest = path_of(tables, key).split(".")
    return ".".join([name_of(tables["system"][group][int(entry)]) if entry.isdigit() else entry, *rest])


def name_of(entry: object) -> str:
    """The name of a table of a list: its own, or that of what it is a kind of."""
    told = entry.get("name", entry.get("kind")) if isinstance(entry, Mapping) else None
    return told.rpartition(":")[2] if isinstance(told, str) else ""


def _changed(inside: object, parts: list[str], value: object, key: str) -> Any:
    if not parts:
        return value
    name, *rest = parts
    before = ".".join(key.split(".")[: -len(parts)])
    if isinstance(inside, list):
        name = next((str(k) for k, one in enumerate(inside) if name and name_of(one) == name), name)
        if not re.fullmatch(r"\d{1,9}", name) or int(name) >= len(inside):
            raise InvalidInput(
                f"the key {key!r} asks for entry {name!r} of {before}, which has {len(inside)} entries, counted from "
                "0; name one of them"
            )
        return [_changed(part, rest, value, key) if k == int(name) else part for k, part in enumerate(inside)]
    if not isinstance(inside, Mapping):
        raise InvalidInput(
            f"the key {key!r} leads into {before}, which is {shown(inside)} and no table; change {before} itself, or "
            "write it as a table"
        )
    return {**inside, name: _changed(inside.get(name, {} if rest else None), rest, value, key)}


def dated(part: object, run: Mapping[str, Any]) -> Any:
    """Tables in which ephemerides and air have the epoch and the span of the run, where they leave them out."""
    if isinstance(part, list):
        return [dated(one, run) for one in part]
    if not isinstance(part, dict):
        return part
    made = {name: dated(one, run) for name, one in part.items()}
    if isinstance(made.get("orientation"), dict) and run.get("epoch") is not None:
        made["orientation"] = {"epoch": run["epoch"]} | made["orientation"]
    if isinstance(made.get("ephemeris"), dict) or isinstance(made.get("air"), dict):
        start = run.get("t0", 0.0)
        stop = run.get("t_end")
        if stop is None and isinstance(run.get("step"), int | float) and isinstance(run.get("steps"), int):
            stop = start + run["step"] * run["steps"]
        usual = {"epoch": run.get("epoch"), "start": start, "stop": stop}
        usual = {name: one for name, one in usual.items() if one is not None}
        if isinstance(made.get("ephemeris"), dict):
            made["ephemeris"] = usual | made["ephemeris"]
        if isinstance(made.get("air"), dict):
            made["air"] = {name: one for name, one in usual.items() if name != "start"} | made["air"]
    return made
