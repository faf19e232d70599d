"""What one member leaves: its numbers by name, and where it fails a status and the sentence that says why."""

from __future__ import annotations

import contextlib
import tomllib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polhode.arguments import Indices
from polhode.ensembles.sweep.plan import Plan, Study, Variable
from polhode.errors import (
    ConvergenceError,
    FileProblem,
    Interrupted,
    InvalidInput,
    NotFinite,
    PolhodeError,
    PolhodeWarning,
    StepTooLarge,
    StepTooSmall,
    UserFunctionError,
    unknown_name,
)
from polhode.lazy_packages import xr

OK, REFUSED, KILLED, OTHER = 0, 1, 7, 8
STATUS: dict[int, str] = {
    OK: "ok", REFUSED: "refused", 2: "no convergence", 3: "step too large", 4: "not finite", 5: "step too small",
    6: "function failed", KILLED: "killed its worker", OTHER: "failed",
}  # fmt: skip
"""What the variable ``status`` says; -1 is a member that is not computed yet."""
FAILED: tuple[tuple[type[PolhodeError], int], ...] = (
    (ConvergenceError, 2), (StepTooLarge, 3), (NotFinite, 4), (StepTooSmall, 5), (UserFunctionError, 6),
    (InvalidInput, REFUSED), (PolhodeError, OTHER),
)  # fmt: skip
ALWAYS = {
    "status": Variable([], [], "i1", {
        "long_name": "0 where the run came to its end", "flag_values": list(STATUS),
        "flag_meanings": list(STATUS.values()),
    }),
    "end_time": Variable([], [], "f8", {"long_name": "time of the last row"}),
    "steps": Variable([], [], "i8", {"long_name": "steps taken"}),
}  # fmt: skip
"""What is kept of every member."""
WORST = "largest_energy_error"
ABOUT = ("system", "units", "conventions", "polhode_version", "epoch")
"""Attributes of one run that those of a sweep have in common."""


@dataclass
class Block:
    """What members that follow each other leave."""

    plan: Plan
    first: int  # the first of them, and the first behind them
    last: int
    allow_code: bool = False
    values: dict[str, Any] = field(default_factory=dict)  # arrays by name, members first
    # of those that failed number, status and sentence
    failures: list[tuple[int, int, str]] = field(default_factory=list)
    # of each kind of warning how many members gave it, the first of them, and its words
    warned: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, one in self.plan.variables.items():
            self.values[name] = np.full((self.last - self.first, *one.shape), one.fill, dtype=one.kind)
        study = self.plan.study
        self.times = np.asarray(self.plan.labels["time"]) if study.table.get("rows", "last") == "all" else None

    def fail(self, member: int, status: int, sentence: str) -> None:
        """A member is marked."""
        self.values["status"][member - self.first] = status
        self.failures.append((member, status, sentence))

    @contextlib.contextmanager
    def noted(self, member: int) -> Iterator[None]:
        """Count the warnings of a member."""
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always", PolhodeWarning)
            yield
        for warning in given:
            if issubclass(warning.category, PolhodeWarning):
                self.warned.setdefault(warning.category.__name__, [0, member, str(warning.message)])[0] += 1
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    def put(self, at: Indices, ds: xr.Dataset) -> None:
        """Put in the numbers of a trajectory, or of those members of an ensemble that came to their end: all rows where
        there are times, else the last one."""
        variables, times, several = self.plan.variables, self.times, "member" in ds.dims
        n = len(ds["time"])
        good: Any = ds["status"].values == OK if several else slice(None)
        if not n:
            return
        if times is not None and not np.array_equal(ds["time"].values, times if several else times[:n]):
            raise InvalidInput("its rows are at other times than those of the first member; name them, t_eval = [...] "
                               "under [run]")  # fmt: skip
        kept = {"energy_error" if name == WORST else name for name in variables if name not in ALWAYS}
        if several and not kept <= {*ds.variables}:
            raise InvalidInput("not all of what is kept is known of members together")
        at = at[good]
        for name, one in variables.items():
            if name in ds.variables and name not in ALWAYS:
                values = ds[name].values if several else ds[name].values[None]
                wanted = (*one.shape[1:],) if times is not None else (*one.shape,)
                if values.shape[2:] != wanted:
                    raise InvalidInput(f"{name} has the shape {values.shape[2:]} and that of the first member "
                                       f"{wanted}; keep other variables, or sweep over another key")  # fmt: skip
                if times is not None:
                    self.values[name][at, :n] = values[good]
                else:
                    self.values[name][at] = values[good][:, -1]
        self.values["end_time"][at] = ds["time"].values[-1]
        if "steps" in variables:
            self.values["steps"][at] = int(ds.attrs["steps"])
        if WORST in variables and "energy_error" in ds.variables:
            errors = ds["energy_error"].values
            self.values[WORST][at] = np.abs(errors[good] if several else errors[None]).max(axis=1)
        if several:
            self.values["status"][at] = OK

    def fill_one(self, member: int) -> None:
        """Compute one member. What is wrong with it is noted; what is wrong with the machine is not the member's."""
        with self.noted(member):
            try:
                at = np.array([member - self.first])
                self.put(at, self.plan.study.scenario(member, self.allow_code).integrate())
                self.values["status"][at] = OK
            except (Interrupted, FileProblem):
                raise
            except PolhodeError as failed:
                self.mark(member, failed)

    def mark(self, member: int, failed: PolhodeError) -> None:
        """Note a failure: rows up to it stay where rows are kept, nothing where only the last one is."""
        k, study, ds = member - self.first, self.plan.study, failed.trajectory
        for name, one in self.plan.variables.items():
            self.values[name][k] = one.fill
        if ds is not None and len(ds["time"]):
            with contextlib.suppress(InvalidInput):
                if self.times is not None:
                    self.put(np.array([k]), ds)
                self.values["end_time"][k] = ds["time"].values[-1]
                if "steps" in self.values:
                    self.values["steps"][k] = int(ds.attrs["steps"])
        status = next(code for kind, code in FAILED if isinstance(failed, kind))
        self.fail(member, status, str(failed).replace(str(study.file), study.name))


def kept_of(ds: xr.Dataset, study: Study) -> tuple[dict[str, Variable], dict[str, list[Any]], dict[str, Any]]:
    """What is kept of members such as the one whose trajectory this is: variables, labels and attributes."""
    table, whole = study.table, study.table.get("rows", "last") == "all"
    of_time = {str(name): part for name, part in ds.variables.items()
               if part.dims[:1] == ("time",) and name != "time" and part.dtype.kind in "fib"}  # fmt: skip
    for name in table.get("keep") or ():
        if name not in of_time:
            raise InvalidInput(f"{study.name}: sweep.keep: {unknown_name('variable', name, of_time)}")
    if whole:
        _check_rows(ds, study)
    found = dict(ALWAYS)
    if "step" in of_time and _timed(study):
        del found["steps"]  # which members together do not tell
    for name in table.get("keep") or of_time:
        part = of_time[name]
        dims, shape = [str(dim) for dim in part.dims], list(part.shape)
        words = {key: part.attrs[key] for key in ("long_name", "units") if key in part.attrs}
        found[name] = Variable(dims[not whole :], shape[not whole :], "f8" if part.dtype.kind == "f" else "i8", words)
    if "energy_error" in of_time:
        words = {"long_name": "largest |energy error| of all rows", "units": "1"}
        found[WORST] = Variable([], [], "f8", words)
    used = {dim for one in found.values() for dim in one.dims}
    labels = {dim: ds[dim].values.tolist() for dim in sorted(used) if dim in ds.coords and ds[dim].ndim == 1}
    attributes = {name: ds.attrs[name] for name in ABOUT if name in ds.attrs}
    unit = ds["time"].attrs.get("units")
    if unit:
        one = found["end_time"]
        found["end_time"] = Variable(one.dims, one.shape, one.kind, {**one.attributes, "units": unit})
    return found, labels, attributes


def _timed(study: Study) -> bool:
    """Whether the scenario names the times of its rows."""
    return any(name.startswith("t_eval") for name in tomllib.loads(study.text).get("run", {}))


def _check_rows(ds: xr.Dataset, study: Study) -> None:
    """Whether all members have the rows of this one, as far as that can be known before."""
    timed = _timed(study)
    varies = [name for name in study.design.names if name.startswith(("run.", "method")) or name == "problem"]
    of_t_eval = [name for name in varies if name.startswith("run.t_eval")]
    if of_t_eval or (not timed and (varies or "step" in ds.variables or "stopped" in ds.attrs)):
        remedy = "keep it as it is" if of_t_eval else "name their times, t_eval = [...] under [run]"
        why = f"{(of_t_eval or varies)[0]} varies" if of_t_eval or varies else "they are where the motion puts them"
        raise InvalidInput(f"{study.name}: sweep.rows = \"all\" needs the same rows of all members, and {why}; "
                           f"{remedy}")  # fmt: skip
