"""What becomes of a call of a public function: an answer, an error of polhode, or something that is wrong."""

from __future__ import annotations

import dataclasses
import signal
import threading
import warnings
from collections.abc import Mapping

import numpy as np
import xarray as xr

from polhode.errors import PolhodeError, PolhodeWarning
from public_calls import public_functions

FUNCTIONS = public_functions()


class TooLong(BaseException):
    """A call that does not come back."""


def leaves(thing, depth=0):
    """All arrays of floats in an answer; of an ensemble, of members that did not fail, reduced: of rows with any."""
    if isinstance(thing, xr.Dataset):
        if "status" in thing and thing.status.dims == ("member",):
            thing = thing.isel(member=thing.status.values == 0)
        for name in [name for name in thing.data_vars if str(name).endswith("_count") and "time" in thing[name].dims]:
            thing = thing.isel(time=(thing[name] > 0).values)
        for variable in thing.variables.values():
            yield from leaves(variable.values, depth + 1)
    elif isinstance(thing, xr.DataArray):
        yield from leaves(thing.values, depth + 1)
    elif isinstance(thing, float | np.ndarray | np.floating):
        array = np.asarray(thing)
        if array.dtype.kind == "f":
            yield array
    elif depth < 4 and isinstance(thing, Mapping):
        for part in thing.values():
            yield from leaves(part, depth + 1)
    elif depth < 4 and isinstance(thing, tuple | list):
        for part in thing:
            yield from leaves(part, depth + 1)
    elif depth < 4 and dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        for field in dataclasses.fields(thing):
            yield from leaves(getattr(thing, field.name), depth + 1)


def outcome(name, arguments, seconds=120.0, warned=True):
    """``("fine", answer)``, ``("refused", error)``, or how the call went wrong and what with.

    ``warned``: a warning that is not polhode's is wrong, too.
    """

    def out_of_time(*_):
        raise TooLong

    if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
        before = signal.signal(signal.SIGALRM, out_of_time)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    else:
        before = None
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            answer = FUNCTIONS[name](**arguments)
    except PolhodeError as refused:
        return ("refused", refused)
    except (Exception, TooLong) as raw:
        return (type(raw).__name__, raw)
    finally:
        if before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
    for warning in told:
        if warned and not issubclass(warning.category, PolhodeWarning):
            return (warning.category.__name__, warning.message)
    try:
        if any(np.isnan(array).any() for array in leaves(answer)) and name not in NAN_BY_CHOICE:
            return ("nan", answer)
    except PolhodeError as refused:  # members are drawn when they are read, and there may be too many of them
        return ("refused", refused)
    return ("fine", answer)


NAN_BY_CHOICE = {
    "trajectory.observables.dipole_correlations", "trajectory.observables.radial_distribution",
    "trajectory.observables.kirkwood_factor", "trajectory.observables.block_error", "trajectory.observables.drift",
    "trajectory.observables.dielectric_constant", "trajectory.observables.autocorrelation",
    "runs.poinsot.free_motion_periods", "compare", "chaos.lyapunov", "chaos.megno", "chaos.sali", "chaos.gali",
}  # fmt: skip
"""What has nan where there is nothing to tell, as documented: too few rows, empty shells, no period, no time yet."""


class few_gigabytes:
    """No more memory than this for the while, so that what asks for all of it fails at once."""

    LIMIT = 10 << 30

    def __enter__(self):
        try:
            import resource
        except ImportError:
            self.before = None
            return
        self.before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (self.LIMIT, self.before[1]))

    def __exit__(self, *_):
        if self.before is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, self.before)


EXPENSIVE = {
    "integrate", "rerun", "resume", "compare", "checks.check_method", "checks.check_system", "plots.dashboard",
    "plots.figure", "surroundings.nrlmsis_air", "chaos.gali", "chaos.sali", "chaos.fli", "chaos.lyapunov",
}  # fmt: skip
"""Runs, which compile, air that is, and indicators of chaos but for the one that asks as all do: in the long form."""
