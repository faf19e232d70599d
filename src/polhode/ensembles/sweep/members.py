"""What one member leaves: its numbers by name, and where it fails a status and the sentence that says why."""

from __future__ import annotations

import contextlib
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from polhode.ensembles.sweep.plan import Study, Variable
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

    first: int  # the first of them
    values: dict[str, Any]  # arrays by name, members first
    # of those that failed number, status and sentence
    failures: list[tuple[int, int, str]] = field(default_factory=list)
    # of each kind of warning how many members gave it, the first of them, and its words
    warned: dict[str, list[Any]] = field(default_factory=dict)

    @classmethod
    def empty(cls, variables: Mapping[str, Variable], first: int, last: int) -> Block:
        """One with nothing in it yet."""
        values = {
            name: np.full((last - first, *one.shape), one.fill, dtype=one.kind) for name, one in variables.items()
        }
        return cls(first, values)

    def fail(self, member: int, status: int, sentence: str) -> None:
        """A member is marked."""
        self.values["status"][member - self.first] = status
        self.failures.append((member, status, sentence))

    def warn(self, member: int, kind: str, words: str) -> None:
        """A member gave a warning."""
        self.warned.setdefault(kind, [0, member, words])[0] += 1


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


def put(block: Block, member: int, ds: xr.Dataset, variables: Mapping[str, Variable], times: Any) -> None:
    """Put the numbers of a trajectory into a block; all rows where there are times, else the last one."""
    k, n = member - block.first, len(ds["time"])
    if not n:
        return
    if times is not None and (n > len(times) or not np.array_equal(ds["time"].values, times[:n])):
        raise InvalidInput("its rows are at other times than those of the first member; name them, t_eval = [...] "
                           "under [run]")  # fmt: skip
    for name, one in variables.items():
        if name in ds.variables and name not in ALWAYS:
            values = ds[name].values
            wanted = (*one.shape[1:],) if times is not None else (*one.shape,)
            if values.shape[1:] != wanted:
                raise InvalidInput(f"{name} has the shape {values.shape[1:]} and that of the first member {wanted}; "
                                   "keep other variables, or sweep over another key")  # fmt: skip
            if times is not None:
                block.values[name][k, :n] = values
            else:
                block.values[name][k] = values[-1]
    block.values["end_time"][k] = ds["time"].values[-1]
    if "steps" in variables:
        block.values["steps"][k] = int(ds.attrs["steps"])
    if WORST in variables and "energy_error" in ds.variables:
        block.values[WORST][k] = np.abs(ds["energy_error"].values).max()


def fill_one(
    block: Block, member: int, study: Study, variables: Mapping[str, Variable], times: Any, allow_code: bool
) -> None:
    """Compute one member. What is wrong with it is noted; what is wrong with the machine is not the member's."""
    with noted(block, member):
        try:
            put(block, member, study.scenario(member, allow_code).integrate(), variables, times)
            block.values["status"][member - block.first] = OK
        except (Interrupted, FileProblem):
            raise
        except PolhodeError as failed:
            mark(block, member, failed, study, variables, times)


def mark(
    block: Block, member: int, failed: PolhodeError, study: Study, variables: Mapping[str, Variable], times: Any
) -> None:
    """Note a failure: rows up to it stay where rows are kept, nothing where only the last one is."""
    for name, one in variables.items():
        block.values[name][member - block.first] = one.fill
    ds = failed.trajectory
    if ds is not None and len(ds["time"]):
        with contextlib.suppress(InvalidInput):
            if times is not None:
                put(block, member, ds, variables, times)
            block.values["end_time"][member - block.first] = ds["time"].values[-1]
            if "steps" in variables:
                block.values["steps"][member - block.first] = int(ds.attrs["steps"])
    status = next(code for kind, code in FAILED if isinstance(failed, kind))
    block.fail(member, status, str(failed).replace(str(study.file), study.name))


@contextlib.contextmanager
def noted(block: Block, member: int) -> Iterator[None]:
    """Warnings of a member go into its block."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", PolhodeWarning)
        yield
    for warning in given:
        if issubclass(warning.category, PolhodeWarning):
            block.warn(member, warning.category.__name__, str(warning.message))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
