"""Members that are runs by themselves: with events, breaks, switches, steps that follow the motion, or kinds of their
own. Each is what ``integrate`` makes of it; their Datasets are put together."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.ensembles.engines import NOT_RUN
from polhode.ensembles.outcome import STATUS, attributes_of, code_of, coordinates_of
from polhode.ensembles.plan import Plan
from polhode.errors import Interrupted, InvalidInput, PolhodeError, PolhodeWarning, warn
from polhode.kernel import layout as L
from polhode.runs.display import Progress
from polhode.runs.integrate import RUNS, carry_out

if TYPE_CHECKING:
    import xarray as xr


def each_alone(
    plan: Plan, why: str, workers: int, report_progress: Callable[[Progress], None], interruptible: Any
) -> xr.Dataset:
    """Run every member of a plan by itself.

    Parameters
    ----------
    plan : Plan
    why : str
        A clause that says why.
    workers : int
        How many threads.
    report_progress : function
        Told how far it is.
    interruptible : class
        Of a block in which Ctrl-C is noticed.

    Raises
    ------
    InvalidInput
        Of a member that cannot begin, with its number.
    Interrupted
        Ctrl-C.
    """
    M = plan.varied.count
    found: list[Any] = [None] * M
    status, failures = np.full(M, NOT_RUN), [""] * M
    warned: Counter[tuple[Any, str]] = Counter()
    lock, begun = Lock(), perf_counter()
    refused: list[tuple[int, InvalidInput]] = []
    done = 0

    def one(k: int) -> None:
        nonlocal done
        if watch.pressed or refused:
            return
        try:
            request = plan.request(k)
        except InvalidInput as problem:
            refused.append((k, problem))
            return
        try:
            ds, code, sentence = carry_out(request), L.OK, ""
        except PolhodeError as error:
            if isinstance(error, InvalidInput):
                refused.append((k, error))
                return
            ds, code, sentence = error.trajectory, code_of(error), str(error)
        with lock:
            found[k], status[k], failures[k], done = ds, code, sentence, done + 1
        report_progress(Progress(done, M, perf_counter() - begun, "running", done / M))

    with interruptible() as watch, warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", PolhodeWarning)
        one(0)  # which compiles what all need
        if workers > 1 and M > 1:
            with ThreadPoolExecutor(min(workers, M - 1), "polhode") as pool:
                for future in [pool.submit(one, k) for k in range(1, M)]:
                    future.result()
        else:
            for k in range(1, M):
                one(k)
        pressed = watch.pressed
    if refused:
        raise plan.whose(*min(refused, key=lambda pair: pair[0])) from None
    for warning in given:
        warned[warning.category, str(warning.message).partition(":")[0]] += 1
    for category, _ in warned:
        if issubclass(category, PolhodeWarning):
            alike = [str(w.message) for w in given if w.category is category]
            warn(f"{len(alike)} of {M} members, the first of them: {alike[0]}", category)
    run = RUNS[type(plan.request(0).steps)](plan.request(0))
    ds = combined(
        found, status, failures, plan, attributes_of(plan, run, {"engine": f"threads: one run each, for {why}"})
    )
    ds.encoding["seconds"] = perf_counter() - begun
    if pressed:
        raise Interrupted(f"interrupted after {done} of {M} members", trajectory=ds)
    return ds


def combined(found: list[Any], status: Any, failures: list[str], plan: Plan, attributes: dict[str, Any]) -> xr.Dataset:
    """One Dataset from those of members, which may have unequal numbers of rows and events: missing numbers are NaN,
    whole ones -1, words empty."""
    import xarray as xr

    M = plan.varied.count
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
        own = whole[name]
        ragged = {"time", "event"} & set(map(str, own.dims))
        if not ragged and all(np.array_equal(own.values, ds[name].values) for ds in there):
            variables[str(name)] = (own.dims, own.values, own.attrs)
            continue
        shape = tuple(max(ds.sizes[dim] for ds in there) if dim in ragged else own.sizes[dim] for dim in own.dims)
        kind = own.dtype.kind
        empty: Any = "" if kind in "OU" else -1 if kind == "i" else np.nan
        made = np.full((M, *shape), empty, dtype=object if kind in "OU" else own.dtype)
        for k, ds in enumerate(found):
            if ds is not None:
                values = ds[name].values
                corner: Any = (k, *(slice(length) for length in values.shape))
                made[corner] = values
        variables[str(name)] = (("member", *own.dims), made, own.attrs)
    times = [ds.time.values for ds in there]
    coords: dict[str, Any] = {str(name): one for name, one in whole.coords.items() if name != "time"}
    longest = whole.time.values
    if all(np.array_equal(own, longest[: len(own)]) for own in times):
        coords["time"] = ("time", longest, whole.time.attrs)
    else:
        own_times = np.full((M, max(map(len, times))), np.nan)
        for k, ds in enumerate(found):
            if ds is not None:
                own_times[k, : ds.sizes["time"]] = ds.time.values
        coords["time"] = (("member", "time"), own_times, whole.time.attrs)
    coords["member"] = ("member", np.arange(M), {"long_name": "number of the member"})
    coords |= coordinates_of(plan.varied, "quaternion" in coords, variables | more)
    return xr.Dataset(variables | more, coords, attributes)
