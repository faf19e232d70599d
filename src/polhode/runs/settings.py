"""How a run is computed and labelled, beside what moves: ``Settings``; and where arguments of before have gone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.arguments import choice, mapping, truth, whole
from polhode.epochs import epoch_of
from polhode.errors import InvalidInput, closest, said_of, shown, unknown_name
from polhode.lazy import opened
from polhode.trajectory import UNITS

if TYPE_CHECKING:
    from polhode.trajectory.reductions import Reductions


@dataclass(frozen=True)
class Settings:
    """Settings of a run: ``polhode.integrate(..., settings=polhode.Settings(...))``, or a mapping of the same names.

    Attributes
    ----------
    compensated : bool, optional
        Carry what rounding leaves out of positions, momenta and work into their next sums; with ``mkrk`` and exact free
        rotations also out of attitudes and angular momenta. For runs of very many steps, and for small forces on
        ``/kepler`` methods. The Dataset then has ``position_compensation``, ``attitude_compensation`` and so on.
        ``taylor`` always does so. By default so for bodies with wheels or gyros, whose momentum of the whole is then
        kept to the last digits, by methods that can.
    guard : bool
        Refuse steps that turn a body further than the method can represent, end a run whose energy explodes, and warn
        of large energy errors and of steps that do not resolve an orbit or the loads. Without it none of this; only
        runs of molecules end where their energy explodes in any case.
    units : {"consistent", "SI"}, optional
        How the variables are labelled; no number changes. By default SI where the gravity parameter of the centre is
        that of a known body, such as ``polhode.planets.EARTH.mu``. Quantities of astropy among the arguments (times,
        positions, velocities, momenta) are turned into SI, and the run is labelled SI: then plain numbers must be in it
        too.
    epoch : str, datetime or astropy Time, optional
        Which instant time 0 is, such as ``"2030-01-01T00:00:00 TDB"``, UTC unless it says so: recorded for exports,
        while no load reads it.
    threads : int
        How many processors may share the loads of many bodies; no bit of a result depends on it.
    reduce : Reduction, list or mapping, optional
        Of ``polhode.integrate``: statistics of the rows, taken while they come, of ``polhode.ensembles.reductions``,
        ``[reductions.mean("attitude")]``, or ``{"energy": ["mean", "extremes"]}``, as of the members of
        ``polhode.ensemble`` but for crossings and events; functions ``of`` get rows, with ``time`` in the place of
        ``member``. The result has ``energy_mean``, ``energy_min_row`` and so on, and of the rows the last one alone, so
        that memory does not grow with them; with a ``store`` all are there.

    Raises
    ------
    InvalidInput
        A value that is none of its kind.
    """

    compensated: bool | None = None
    guard: bool = True
    units: str = ""
    epoch: str | None = None
    threads: int = 1
    reduce: Reductions | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        if self.compensated is not None:
            set_(self, "compensated", truth(self.compensated, "compensated"))
        set_(self, "guard", truth(self.guard, "guard"))
        if self.units != "":
            choice(self.units, "units", UNITS)
        set_(self, "threads", whole(self.threads, "threads", 1, 4096))
        if self.epoch is not None:
            set_(self, "epoch", str(epoch_of(self.epoch)))

    @classmethod
    def of(cls, given: Settings | Mapping[str, Any] | None) -> Settings:
        """The settings that a mapping, or a ``Settings``, is; those by default for None.

        Raises
        ------
        InvalidInput
            Something else, a name that it does not know, or as ``Settings``.
        """
        if given is None:
            return BY_DEFAULT
        if isinstance(given, Settings):
            return given
        known = [field.name for field in fields(cls)]
        for name in mapping(given, "settings"):
            if name not in known:
                raise unknown_name("name in settings", name, known)
        return cls(**given)

    def of_whole(self, what: str) -> None:
        """Refuse statistics of rows in what has none of one run."""
        if self.reduce is not None:
            raise InvalidInput(f"reduce in settings is for rows of one run, and says nothing of {what}; leave it out")


BY_DEFAULT = Settings()
"""The settings of which nothing is said."""


# ------------------------------------------------------------------ arguments of before
def _start(name: str, value: str) -> str:
    return f"start={{{name!r}: {value}}}"


MOVED: dict[str, Callable[[str, str], str]] = {
    "rtol": lambda name, value: f"steps=polhode.Tolerance({value})",
    **dict.fromkeys(
        ("atol", "max_step", "first_step", "max_steps"),
        lambda name, value: f"steps=polhode.Tolerance(rtol, {name}={value})",
    ),
    "t0": lambda name, value: _start("time", value),
    **dict.fromkeys(
        ("time", "rotation_vector", "euler_angles", "euler_angles_deg", "angular_velocity_space",
         "angular_momentum_space", "since", "coordinates", "thermostat", "compensation", "time_variables"), _start,
    ),
    "sequence": lambda name, value: f"start={{'euler_angles': ..., 'sequence': {value}}}",
    "clock": lambda name, value: _start("time_variables", value),
    "carries": lambda name, value: _start("compensation", value),
    **dict.fromkeys(
        ("compensated", "guard", "units", "epoch", "threads"),
        lambda name, value: f"settings={{{name!r}: {value}}}",
    ),
    "checkpoint_seconds": lambda name, value: f"store=polhode.Store(path, checkpoint_seconds={value})",
}  # fmt: skip
"""Words that were arguments of ``integrate``, and what is written instead."""


ELSEWHERE: dict[str, Callable[[str, str], str]] = {
    **dict.fromkeys(("tolerance", "tol", "accuracy"), MOVED["rtol"]),
    "reduce": lambda name, value: f"settings={{{name!r}: ...}}",
    **dict.fromkeys(("t_span", "tspan"), lambda name, value: "t_end=..., and start={'time': ...}"),
    **dict.fromkeys(("y0", "x0", "initial", "initial_state"), lambda name, value: "start={'position': ..., ...}"),
}
"""Words of other packages, and what is written here."""


def unknown_argument(name: str, value: object, known: Iterable[str], what: str) -> InvalidInput:
    """The error for an argument of a run that is none, or that is one no more."""
    value = value.item() if isinstance(value, np.generic) else value
    told = shown(value) if isinstance(value, bool | int | float | str) else "..."
    if name in MOVED:
        return InvalidInput(f"{name} is no longer an argument: write {MOVED[name](name, told)}")
    if name in ELSEWHERE:
        return InvalidInput(f"unknown {what} {name!r}; did you mean {ELSEWHERE[name](name, told)}?")
    near = closest(name, [*known, *MOVED], 1)
    if near and near[0] in MOVED and not said_of(name, known):
        return InvalidInput(f"unknown {what} {name!r}; did you mean {MOVED[near[0]](near[0], told)}?")
    return unknown_name(what, name, known)


def refuse_moved(given: Mapping[str, Any]) -> None:
    """Refuse arguments of before among others that are passed on."""
    for name, value in given.items():
        if name in MOVED:
            raise unknown_argument(name, value, (), "argument")


def only_functions(given: Mapping[str, Any], caller: str, known: Iterable[str]) -> None:
    """Refuse what is no function among those that are handed in by keyword."""
    refuse_moved(given)
    for name, value in given.items():
        if not (callable(value) or isinstance(value, opened("polhode.trajectory.reductions").Reduction)):
            raise unknown_name(f"argument of {caller}", name, known)


STATE = "state"


def wanted(tangent: object) -> tuple[str, ...] | None:
    """Names of parameters beside the state; None where no derivatives are asked for."""
    if tangent is None or tangent is False:
        return None
    if tangent is True or (isinstance(tangent, str) and tangent == STATE):
        return ()
    names = [tangent] if isinstance(tangent, str) else tangent
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(
            f"tangent must be True, 'state', or names of parameters such as ['inertia'], not {shown(tangent)}"
        )
    return tuple(name for name in names if name != STATE)
