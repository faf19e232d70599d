"""Members that are runs by themselves: with events, breaks, switches, steps that follow the motion, or kinds of their
own. Each is what ``integrate`` makes of it; their Datasets are put together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from polhode.display import Progress
from polhode.ensembles.engines import NOT_RUN, over_threads
from polhode.ensembles.members import Varied
from polhode.ensembles.outcome import LANDED, STATUS, attributes_of, code_of, coordinates_of, note_of
from polhode.ensembles.plan import Plan
from polhode.errors import InvalidInput, PolhodeError, PolhodeWarning, warn
from polhode.kernel import layout as L
from polhode.lazy_packages import xr
from polhode.runs.integrate import RUNS, carry_out
from polhode.runs.stepping import ON_THE_GROUND


class Members:
    """Runs of the members of a plan, each by itself."""

    def __init__(
        self, plan: Plan, about: Mapping[str, Any], workers: int, report_progress: Callable[[Progress], None]
    ) -> None:
        self.plan, self.about, self.workers, self.report_progress = plan, about, workers, report_progress
        self.done, self.begun, self.lock = 0, perf_counter(), Lock()
        self.stopped: Callable[[], bool] = lambda: False  # whether no further one is to begin
        self.refused: list[tuple[int, InvalidInput]] = []
        self.instead: list[int] = []
        self.warnings: list[tuple[type[PolhodeWarning], str]] = []
        request = plan.request(0)
        self.run = RUNS[type(request.steps)](request)

    @property
    def seconds(self) -> float:
        return perf_counter() - self.begun

    def together(self, first: int, last: int) -> xr.Dataset:
        """The Dataset of members ``first`` to ``last - 1``; a member that cannot begin is named by its number."""
        M = last - first
        found: list[Any] = [None] * M
        status, failures = np.full(M, NOT_RUN), [""] * M
        total = self.plan.varied.count

        def one(k: int) -> None:
            if self.stopped() or self.refused:
                return
            try:
                request = self.plan.request(first + k)
                ds, code = carry_out(request), L.OK
                sentence = ds.attrs.get("stopped", "")
                if sentence.endswith(ON_THE_GROUND):
                    code = LANDED
                else:  # an event that was asked for
                    sentence = ""
            except InvalidInput as problem:
                self.refused.append((first + k, problem))
                return
            except PolhodeError as error:
                ds, code, sentence = error.trajectory, code_of(error), str(error)
            with self.lock:
                if ds is not None and ds.attrs["method"] != self.run.chosen.label:
                    self.instead.append(first + k)
                found[k], status[k], failures[k] = ds, code, sentence
                self.done += 1
                self.report_progress(Progress(self.done, total, self.seconds, "running", self.done / total))

        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always", PolhodeWarning)
            over_threads(one, range(M), self.workers)
        self.warnings += [(w.category, str(w.message)) for w in given if issubclass(w.category, PolhodeWarning)]
        if self.refused:
            raise self.plan.whose(*min(self.refused, key=lambda pair: pair[0])) from None
        about = attributes_of(self.plan, self.run, dict(self.about) | note_of(self.instead))
        return combined(found, status, failures, self.plan.varied.part(first, last), about)

    def warn(self) -> None:
        """Give the warnings of all members, one of each kind."""
        for category in dict.fromkeys(category for category, _ in self.warnings):
            alike = [message for other, message in self.warnings if other is category]
            warn(f"{len(alike)} of {self.plan.varied.count} members, the first of them: {alike[0]}", category)


def _of_all(found: list[Any], name: str, shape: tuple[int, ...], kind: np.dtype[Any]) -> Any:
    """The values of a variable of all members, in a corner of this shape each."""
    empty: Any = "" if kind.kind in "OU" else -1 if kind.kind == "i" else np.nan
    made = np.full((len(found), *shape), empty, dtype=object if kind.kind in "OU" else kind)
    for k, ds in enumerate(found):
        if ds is not None:
            values = ds[name].values
            made[(k, *(slice(length) for length in values.shape))] = values
    return made


def combined(
    found: list[Any], status: Any, failures: list[str], varied: Varied, attributes: dict[str, Any]
) -> xr.Dataset:
    """One Dataset from those of members, which may have unequal numbers of rows and events: missing numbers are NaN,
    whole ones -1, words empty."""
    M = varied.count
    there = [ds for ds in found if ds is not None]
    for k in map(int, np.flatnonzero(status == NOT_RUN)):
        failures[k] = "its turn did not come before the ensemble was interrupted"
    more: dict[str, Any] = {
        "status": (("member",), status, {"long_name": "how a member ended", "flags": STATUS}),
        "failure": (("member",), np.array(failures), {"long_name": "why a member failed"}),
    }
    if not there:
        return xr.Dataset({name: xr.Variable(*given) for name, given in more.items()}, attrs=attributes)
    whole = max(there, key=lambda ds: ds.sizes.get("time", 0))
    variables: dict[str, Any] = {}
    for name in whole.data_vars:
        if not all(name in ds for ds in there):  # what only some of them conserve
            continue
        own = whole[name]
        ragged = {"time", "event"} & set(map(str, own.dims))
        if not ragged and all(np.array_equal(own.values, ds[name].values) for ds in there):
            variables[str(name)] = (own.dims, own.values, own.attrs)
            continue
        odd = next((dim for dim in own.dims if dim not in ragged and len({ds.sizes[dim] for ds in there}) > 1), None)
        if odd is not None and str(name).endswith("_delayed"):  # what is on its way, of delays of several lengths
            continue
        if odd is not None:
            counts = " and ".join(map(str, sorted({ds.sizes[odd] for ds in there})))
            raise InvalidInput(f"members have {counts} numbers of {name!r}, which no Dataset of all of them can hold; "
                               "run them one by one")  # fmt: skip
        shape = tuple(max(ds.sizes[dim] for ds in there) if dim in ragged else own.sizes[dim] for dim in own.dims)
        variables[str(name)] = (("member", *own.dims), _of_all(found, str(name), shape, own.dtype), own.attrs)
    times = [ds.time.values for ds in there]
    used = {dim for dims, *_ in variables.values() for dim in dims}
    coords: dict[str, Any] = {str(name): one for name, one in whole.coords.items()
                              if name != "time" and used.issuperset(one.dims)}  # fmt: skip
    longest = whole.time.values
    if all(np.array_equal(own, longest[: len(own)]) for own in times):
        coords["time"] = ("time", longest, whole.time.attrs)
    else:
        own_times = _of_all(found, "time", longest.shape, longest.dtype)
        coords["time"] = (("member", "time"), own_times, whole.time.attrs)
    coords["member"] = ("member", np.arange(M), {"long_name": "number of the member"})
    coords |= coordinates_of(varied, "quaternion" in coords, variables | more)
    return xr.Dataset(variables | more, coords, attributes)
