"""Soft dipolar spheres, section 3.4: initial states, runs and costs of figures 3.8 to 3.10 and of two additional ones.

Not given in the paper and chosen here: seeds; the direction of the two moving bodies, towards each other along the
lattice diagonal; uniform orientations; the definition of a lost run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

import polhode as ph
from polhode_papers.celledoni2008.common import UNGUARDED
from polhode_papers.drawing import COLOURS, MARKERS
from polhode_papers.study import Reporter

SCHEMES = {"V2": (1, 2), "S4_6": (6, 4), "RKN4_6b": (6, 4), "S6_10": (10, 6), "RKN6_14a": (14, 6)}
"""Stages (potential evaluations per step) and order."""
EXACT, BOOSTED, MR = "exact", "boosted MR", "MR"
FLOWS = (EXACT, BOOSTED, MR)
"""Free rotations: exact; McLachlan and Reich's boosted to the order of the scheme; theirs of order 2."""
HIGH = ("RKN4_6b", "S6_10", "RKN6_14a")
INERTIA = (1.0, 1.88, 2.88)  # [celledoni2008, 3.4]
SIDE = 5
LOST = 1.0
"""A run is lost if its energy error per body, in units of epsilon, exceeds this."""
clock = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter
"""CPU time of this thread (s) if the system resolves it, so that other work does not disturb; else wall time."""
ROUND_OFF = 1e-12
"""Energy errors below this are mostly round-off and are ignored."""


def method_of(scheme: str, flow: str) -> str:
    """Method string of a scheme and a free rotation."""
    order = SCHEMES[scheme][1]
    turn = {EXACT: "", MR: "/mr", BOOSTED: "/mr" if order == 2 else f"/mr{order}"}[flow]
    return ("v2_dkd" if scheme == "V2" else scheme.lower()) + turn


def pairs_of(schemes: Sequence[str] = tuple(SCHEMES), flows: Sequence[str] = FLOWS) -> dict[str, tuple[str, str]]:
    """Scheme and flow by method string; for V2, boosted MR is the same as plain MR."""
    return {method_of(scheme, flow): (scheme, flow) for scheme in schemes for flow in flows}


def steps_of(scheme: str, evaluations: float, span: float) -> int:
    """Number of steps in a span, for this many potential evaluations per unit time as nearly as possible."""
    return max(1, round(evaluations * span / SCHEMES[scheme][0]))


# ------------------------------------------------------------------ initial states
def unit_quaternions(random: np.random.Generator, n: int) -> Any:
    """Uniformly random orientations, quaternions (n, 4)."""
    q = random.standard_normal((n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def lattice_draw(spacing: float, seed: int, thermal: bool = False, side: int = SIDE) -> dict[str, Any]:
    """Cubic lattice with sites perturbed by 1 %, random orientations; ``thermal`` bodies rotate with temperature 1."""
    random, n = np.random.default_rng(seed), side**3
    sites = np.stack(np.meshgrid(*3 * [np.arange(1.0, side + 1.0)], indexing="ij"), axis=-1).reshape(n, 3)
    position = spacing * (sites + 0.01 * random.standard_normal((n, 3)))
    state = {"position": position, "attitude": unit_quaternions(random, n)}
    if thermal:
        state["angular_momentum"] = np.sqrt(INERTIA) * random.standard_normal((n, 3))
    return state


def energies(system: ph.systems.System, states: Any) -> Any:
    """Total energies (n,) of states (n, 13 N)."""
    return system.kinetic_energies(states) + system.potential_energies(states)


def energy_of(system: ph.systems.System, state: Mapping[str, Any]) -> float:
    """Total energy of a start."""
    return float(energies(system, ph.runs.start_state(system, **state)[None])[0])


def raised(system: ph.systems.System, state: dict[str, Any], H0: float | None = None) -> tuple[dict[str, Any], float]:
    """A start with energy H0 (unchanged for None), and its energy; ValueError where it has more.

    The first and the last body get opposite momenta towards each other, along the line between the corners.
    """
    H = energy_of(system, state)
    if H0 is None:
        return state, H
    if H0 < H:
        raise ValueError(f"the energy is {H:g} already, more than {H0:g}")
    momentum = np.zeros((system.N, 3))
    momentum[0] = np.sqrt((H0 - H) / 3.0)  # two bodies of mass 1
    momentum[-1] = -momentum[0]
    state = state | {"momentum": momentum}
    return state, energy_of(system, state)


def spheres() -> ph.systems.System:
    """The molecules of figures 3.9 and 3.10."""
    return ph.dipoles(SIDE**3, inertia=INERTIA)


# ------------------------------------------------------------------ runs
def error_of(system: ph.systems.System, method: str, start: Mapping[str, Any], n: int, span: float) -> float:
    """Largest energy error of a run of n steps; infinite if it is not finite somewhere or exceeds LOST."""
    try:
        states = ph.prepare(system, method, step=span / n, steps=n, settings=UNGUARDED).run(start).states
    except ph.errors.StepFailed:
        return np.inf
    H = energies(system, states)
    error = float(np.abs(H - H[0]).max())
    return error if error <= LOST * system.N else np.inf


def errors(system: ph.systems.System, start: Mapping[str, Any], evaluations: float, span: float) -> list[list[float]]:
    """Largest energy errors, (scheme, flow), at so many evaluations per unit time; for V2 the two MR are one."""
    found = {name: error_of(system, name, start, steps_of(scheme, evaluations, span), span)
             for name, (scheme, _) in pairs_of().items()}  # fmt: skip
    return [[found[method_of(scheme, flow)] for flow in FLOWS] for scheme in SCHEMES]


def seconds_per_step(
    system: ph.systems.System, start: Mapping[str, Any], h: float, rounds: int, evaluations: int,
    schemes: Sequence[str] = tuple(SCHEMES), flows: Sequence[str] = FLOWS,
) -> Any:  # fmt: skip
    """Time (s) of a step, (scheme, flow), on one thread, best of some rounds in which the methods alternate.

    Each method is timed over the steps for about this many evaluations, after one step that is not timed.
    """
    pairs, y = pairs_of(schemes, flows), ph.runs.start_state(system, **start)
    best, steppers = dict.fromkeys(pairs, np.inf), {name: ph.checks.stepper(name, system, y) for name in pairs}
    for _ in range(rounds):
        for name, take_steps in steppers.items():
            count = max(1, evaluations // SCHEMES[pairs[name][0]][0])
            take_steps(y, 0.0, h)
            begun = clock()
            take_steps(y, 0.0, h, count)
            best[name] = min(best[name], (clock() - begun) / count)
    return np.array([[best[method_of(scheme, flow)] for flow in flows] for scheme in schemes])


def each(function: Callable[[Any], Any], items: Sequence[Any], report_progress: Reporter) -> Iterator[Any]:
    """Results of the function for every item, in order; the first runs alone (it compiles), the others on threads."""
    yield function(items[0])
    pool = ThreadPoolExecutor(cpu_count() or 1)
    try:
        for k, result in enumerate(pool.map(function, items[1:]), 2):
            report_progress(f"{100 * k // len(items)} %")
            yield result
    finally:
        pool.shutdown(cancel_futures=True)


# ------------------------------------------------------------------ pictures
LINES = {EXACT: "-", BOOSTED: (0, (4.0, 2.0)), MR: "-."}
MARK_SIZES = {EXACT: 4.5, BOOSTED: 8.5, MR: 13.0}
"""Sizes that keep coinciding markers visible: a dot, a ring around it, a stroke through both."""


def line_style(scheme: str, flow: str) -> dict[str, Any]:
    """Style of a curve: colour and marker by scheme, line and marker size by free rotation."""
    i = list(SCHEMES).index(scheme)
    return {
        "color": COLOURS[i], "marker": "|" if flow == MR else MARKERS[i], "linestyle": LINES[flow],
        "markerfacecolor": COLOURS[i] if flow == EXACT else "none", "markersize": MARK_SIZES[flow],
        "markeredgewidth": 1.2, "zorder": 3.0 if flow == EXACT else 2.5, "label": f"{scheme}, {flow}",
    }  # fmt: skip


def legend_below(picture: Picture, ax: Axes, columns: int) -> None:
    """One legend for all panels, below them, with a column per scheme if all are present."""
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) % columns:  # V2 has no separate boosted MR
        handles.insert(1, Line2D([], [], linestyle=""))
        labels.insert(1, "")
    picture.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, handlelength=3.5)
