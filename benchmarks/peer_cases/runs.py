"""Runs that are measured: error and time of each, the front of the best, and tables of polhode against others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import polhode as ph
from polhode.systems import System

LINGERING = 5
"""So many runs in turn without a smaller error: the floor of round-off is reached."""
NEAR = 1.6
"""Runs that take longer than so many times the best of their error at first sight are not timed again."""


CHOSEN = tuple(f"taylor{order} (rtol)" for order in ("", 10, 12, 14, 16))
"""Series with steps that a tolerance chooses."""


@dataclass
class Run:
    """Something that can be run again: from the start to the end. Seconds are those of the processor for this thread.

    Attributes
    ----------
    label : str
        Method, or integrator and its variant.
    cost : float
        What makes it finer: number of steps, or minus the logarithm of the tolerance.
    begin, go : function
        ``begin()`` restores the start, ``go() -> None`` is what is timed.
    end : function
        ``end()`` after it: the quantities that are compared, see ``distance``.
    whole : function, optional
        A call of the library that does everything.
    prepared : function, optional
        A run of what is ready, from the same start, with arrays as answer.
    error, seconds : float
        Of this run; the error that counts is ``certain``.
    """

    label: str
    cost: float
    begin: Callable[[], None]
    go: Callable[[], None]
    end: Callable[[], Any]
    whole: Callable[[], Any] | None = None
    prepared: Callable[[], Any] | None = None
    error: float = np.nan
    certain: float = np.nan
    seconds: float = np.inf
    shown: dict[str, Any] = field(default_factory=dict)

    def measure(self, reference) -> None:
        """Run once, for the error; and what it took."""
        self.begin()
        begun = time.thread_time()
        self.go()
        self.seconds = min(self.seconds, time.thread_time() - begun)
        self.error = distance(self.end(), reference)

    def clock(self) -> None:
        """Run for the time: short runs thrice, since what ran before has left the memory cold."""
        for _ in range(3):
            self.begin()
            begun = time.thread_time()
            self.go()
            self.seconds = min(self.seconds, time.thread_time() - begun)
            if self.seconds > 1e-3:
                break


@dataclass(frozen=True)
class Problem:
    """Something to integrate, for polhode and in the equations of others.

    Attributes
    ----------
    title : str
        What it is.
    t_end : float
        From time 0 to here.
    system : System
        polhode's.
    y : array
        Its state at the start.
    initial : mapping
        The same as arguments of ``polhode.integrate``.
    forms : mapping
        By name, ``form(number) -> (equations, start)`` for heyoka with numbers of a type.
    ours, theirs : function
        ``ours(y)`` and ``theirs(state, form)`` are the quantities that are compared, see ``distance``.
    methods : sequence of str
        polhode's that are tried.
    targets : sequence of float
        Errors of the table.
    scipy : function, optional
        The compiled right-hand side ``f(t, y)`` and ``state(y)`` for SciPy.
    most : int
        Of the variants of heyoka so many go on to the fine grid of tolerances.
    coarse : sequence of float
        Tolerances with which all variants are tried.
    apart : bool
        Whether heyoka's forms are shown beside each other.
    compact : bool
        Whether heyoka's compact mode alone is tried, where the other takes minutes to compile.
    """

    title: str
    t_end: float
    system: System
    y: Any
    initial: Mapping[str, Any]
    forms: Mapping[str, Callable[[Any], tuple[list[Any], list[Any]]]]
    ours: Callable[[Any], Any]
    theirs: Callable[[Any, str], Any]
    methods: Sequence[str]
    targets: Sequence[float]
    scipy: tuple[Any, Any] | None = None
    most: int = 3
    coarse: Sequence[float] = tuple(10.0**-k for k in range(3, 17, 2))
    apart: bool = False
    compact: bool = False


def distance(end, reference) -> float:
    """The largest difference of two ends, which are mappings of quantities.

    Those called "attitude" are quaternions, compared by angle; of others it is the norm of the difference over the
    norm of the reference, row by row where they have two dimensions.
    """
    worst = 0.0
    for name, b in reference.items():
        a = end[name]
        if not all(np.isfinite(float(x)) for x in np.ravel(a)):
            return np.inf
        if name == "attitude":
            unit = np.asarray(a, float)
            worst = max(worst, float(ph.rotation.angle_between(unit / np.linalg.norm(unit), np.asarray(b, float))))
            continue
        off, size = np.asarray(np.atleast_2d(a) - np.atleast_2d(b), float), np.asarray(np.atleast_2d(b), float)
        worst = max(worst, float((np.linalg.norm(off, axis=1) / np.linalg.norm(size, axis=1)).max()))
    return worst


# ------------------------------------------------------------------------------------------------ the best of them


def settle(runs: Iterable[Run]) -> list[Run]:
    """The runs of one kind from coarse to fine, each with the larger of its own error and that of the next finer."""
    runs = sorted(runs, key=lambda run: run.cost)
    for run, finer in zip(runs, runs[1:] + runs[-1:], strict=True):
        run.certain = max(run.error, finer.error)
    return runs


def front(runs: Iterable[Run]) -> tuple[Any, Any]:
    """Logarithms of error and time of the runs worth taking, errors falling, times rising."""
    found: list[tuple[float, float]] = []
    for seconds, error in sorted((run.seconds, run.certain) for run in runs):
        if 0.0 < error < np.inf and (not found or error < found[-1][0]):
            found.append((error, seconds))
    return np.log([f[0] for f in found]), np.log([f[1] for f in found])


def at(curve, target: float) -> float:
    """Seconds for an error; nan outside."""
    errors, seconds = curve
    x = np.log(target)
    if not len(errors) or x < errors[-1]:
        return np.nan
    if x > errors[0]:
        return float(np.exp(seconds[0]))
    return float(np.exp(np.interp(-x, -errors, seconds)))


def worth(kinds: Mapping[str, list[Run]], near: float = NEAR) -> dict[str, list[Run]]:
    """Of each kind the runs that are near the front of all kinds, with the next finer one of each."""
    best = front(run for runs in kinds.values() for run in runs)
    kept = {}
    for name, runs in kinds.items():
        good = {k for k, run in enumerate(runs) if run.seconds <= near * at(best, run.certain)}
        good |= {k + 1 for k in good if k + 1 < len(runs)}
        if good:
            kept[name] = [runs[k] for k in sorted(good)]
    return kept


def least(values: Mapping[str, float]) -> tuple[str, float]:
    """Name and seconds of the fastest."""
    good = {name: value for name, value in values.items() if value == value}
    if not good:
        return "-", np.nan
    name = min(good, key=lambda k: good[k])
    return name, good[name]


def floors(kinds: Mapping[str, list[Run]]) -> list[tuple[float, str]]:
    """The smallest certain errors, and whose they are."""
    return sorted((min(run.certain for run in runs), name) for name, runs in kinds.items())


# ------------------------------------------------------------------------------------------------ the table


def clock_all(sides: Sequence[Mapping[str, list[Run]]], rounds: int) -> None:
    """All runs in turns."""
    everyone = [run for side in sides for runs in side.values() for run in runs]
    for _ in range(rounds):
        for run in everyone:
            run.clock()


def whole_call(runs: list[Run], target: float, rounds: int, kind: str = "whole") -> float:
    """Seconds of a call of the library within an error: all of it, or what is ``prepared``."""
    within = next((run for run in runs if run.certain <= target), None)
    call = None if within is None else getattr(within, kind)
    if call is None:
        return np.nan
    best = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.errors.CoarseStepWarning)  # the errors are known
        call()
        for _ in range(max(3, rounds // 3)):
            begun = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - begun)
    return best


def show(title: str, ours: Mapping[str, list[Run]], others: Mapping[str, Mapping[str, list[Run]]],
         targets: Sequence[float], rounds: int) -> dict[str, list[float]]:  # fmt: skip
    """Time the best of both sides in turns and print them; the ratios by name of the other side are returned."""
    all_ours, all_others = ours, others
    ours, others = worth(ours), {who: worth(kinds) for who, kinds in others.items()}
    clock_all([ours, *others.values()], rounds)
    mine = {name: front(runs) for name, runs in ours.items()}
    theirs = {who: {name: front(runs) for name, runs in kinds.items()} for who, kinds in others.items()}
    print(f"\n{title}\n{'error':>8}{'polhode':>11}  {'method':<25}"
          + "".join(f"{who:>11}  {'variant':<31}{'ratio':>7}" for who in others)
          + f"{'prepared':>11}{'whole call':>12}")  # fmt: skip
    ratios: dict[str, list[float]] = {who: [] for who in others}
    for target in targets:
        name, seconds = least({key: at(curve, target) for key, curve in mine.items()})
        line = f"{target:>8.0e}{1e6 * seconds:>11.1f}  {name:<25}"
        for who, curves in theirs.items():
            rival, needed = least({key: at(curve, target) for key, curve in curves.items()})
            ratios[who].append(needed / seconds)
            line += f"{1e6 * needed:>11.1f}  {rival:<31}{needed / seconds:>7.2f}"
        kinds = [whole_call(all_ours[name], target, rounds, kind) if name != "-" else np.nan
                 for kind in ("prepared", "whole")]  # fmt: skip
        print(f"{line}{1e6 * kinds[0]:>11.0f}{1e6 * kinds[1]:>12.0f}", flush=True)
    print("floors: " + ", ".join(f"{name} {error:.1e}" for error, name in floors(all_ours)[:4]) + "; "
          + "; ".join(f"{who}: " + ", ".join(f"{name} {error:.1e}" for error, name in floors(kinds)[:2])
                      for who, kinds in all_others.items()))  # fmt: skip
    return ratios


def every_method(ours: Mapping[str, list[Run]], targets: Sequence[float]) -> None:
    """Print microseconds of each method at first sight, before the best were timed again."""
    print("every method, microseconds:\n" + " " * 26 + "".join(f"{target:>10.0e}" for target in targets))
    for name, runs in ours.items():
        curve = front(runs)
        print(f"{name:<26}" + "".join(f"{1e6 * at(curve, target):>10.1f}" for target in targets))


def finished(runs: list[Run]) -> bool:
    """Whether the last of runs from coarse to fine bring no smaller errors any more."""
    errors = [run.error for run in runs]
    best, worse = np.inf, 0
    for error in errors:
        worse = worse + 1 if error > 0.7 * best else 0
        best = min(best, error)
    return worse >= LINGERING
