"""Soft dipolar spheres, section 3.4: initial states, runs and costs of figures 3.8 to 3.10 and of two additional ones.

Not given in the paper and chosen here: seeds; the direction of the two moving bodies, towards each other along the
lattice diagonal; uniform orientations; the definition of a lost run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D

from polhode.kernel import layout as L
from polhode.kernel.energies import write_energies
from polhode.methods import method
from polhode.plots.style import COLOURS, MARKERS
from polhode.runs.energy_guard import blown
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import Integrator
from polhode.systems import System, dipoles
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


def energies(system: System, states: Any) -> tuple[Any, Any]:
    """Total and potential energies (n,) of states (n, 13 N)."""
    potential, role = np.zeros(len(states)), system.compiled_potential(0.0, states[0])
    write_energies(np.zeros(len(states)), states, system.bodies, system.with_memory, role, potential)
    return system.kinetic_energies(states) + potential, potential


def raised(system: System, state: Mapping[str, Any], H0: float | None = None) -> tuple[Any, float]:
    """State vector with energy H0, and its energy.

    The first and the last body get opposite momenta towards each other, along the line between the corners. If H0 is
    None, the state is not changed.

    Raises
    ------
    ValueError
        The energy without these momenta exceeds H0.
    """
    y = start_state(system, **state)
    H = float(energies(system, y[None])[0][0])
    if H0 is None:
        return y, H
    if H0 < H:
        raise ValueError(f"the energy is {H:g} already, more than {H0:g}")
    momentum = np.zeros((system.N, 3))
    momentum[0] = np.sqrt((H0 - H) / 3.0)  # two bodies of mass 1
    momentum[-1] = -momentum[0]
    y = start_state(system, momentum=momentum, **state)
    return y, float(energies(system, y[None])[0][0])


def spheres() -> System:
    """The molecules of figures 3.9 and 3.10."""
    return dipoles(SIDE**3, inertia=INERTIA)


# ------------------------------------------------------------------ runs
class Outcome(NamedTuple):
    """Largest energy error of a run (infinite if it is lost), and its potential evaluations."""

    error: float
    evaluations: int


def integrators_of(system: System, methods: Sequence[str], y: Any) -> dict[str, Integrator]:
    """An integrator for each method."""
    return {name: Integrator(system, method(name), y) for name in methods}


def outcome(system: System, integrator: Integrator, y: Any, n: int, span: float) -> Outcome:
    """Run n steps; the energy is evaluated after every step.

    A run is lost if it is not finite, if ``polhode.integrate`` would report an energy explosion, or if the energy error
    exceeds LOST.
    """
    integrator.restart(y)
    rows, counts, before = np.empty((n, y.size)), np.zeros(n, dtype=np.int64), integrator.evaluations
    if integrator.march(0, n, 1, 0.0, span / n, rows, counts) != L.OK:
        return Outcome(np.inf, integrator.evaluations - before)
    states = np.vstack([y, rows])
    H, V = energies(system, states)
    error = float(np.abs(H - H[0]).max())
    lost = blown(system, states, V) or not error <= LOST * system.N
    return Outcome(np.inf if lost else error, integrator.evaluations - before)


def seconds_per_step(
    integrators: Mapping[str, Integrator], y: Any, h: float, rounds: int, evaluations: int
) -> dict[str, float]:
    """Time (s) of a step of each method on one thread, best of some rounds in which the methods alternate.

    Each method is timed over the steps for about this many evaluations, after one step that is not timed.
    """
    best = dict.fromkeys(integrators, np.inf)
    counts = {name: max(1, evaluations // stages_of(name)) for name in integrators}
    for _ in range(rounds):
        for name, integrator in integrators.items():
            integrator.restart(y)
            integrator.march(0, 1, 2, 0.0, h)
            begun = clock()
            integrator.march(1, counts[name], counts[name] + 2, 0.0, h)
            best[name] = min(best[name], (clock() - begun) / counts[name])
    return best


def stages_of(name: str) -> int:
    """Potential evaluations per step of a method string."""
    scheme = name.partition("/")[0]
    return {method_of(label, EXACT): stages for label, (stages, _) in SCHEMES.items()}.get(scheme, 1)


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
