"""Soft dipolar spheres, section 3.4: the initial states, runs and costs of figures 3.8 to 3.10 and of two of our own.

What the paper does not say is chosen here: seeds; that the two bodies which get momentum fly at each other along the
diagonal of the lattice; that orientations are uniform; what a lost run is.
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

from polhode.kernel import drive
from polhode.kernel import layout as L
from polhode.methods import method
from polhode.plots.style import COLOURS, MARKERS
from polhode.runs.energy_guard import first_blown, kinetic_energy
from polhode.runs.integrator import Integrator
from polhode.runs.single import start_state
from polhode.studies.study import Tell
from polhode.systems import System, dipoles

SCHEMES = {"V2": (1, 2), "S4_6": (6, 4), "RKN4_6b": (6, 4), "S6_10": (10, 6), "RKN6_14a": (14, 6)}
"""Stages, which are potential evaluations, and order."""
EXACT, BOOSTED, MR = "exact", "boosted MR", "MR"
FLOWS = (EXACT, BOOSTED, MR)
"""Free rotations: exact; McLachlan and Reich's, boosted to the order of the scheme; theirs as it is, of order 2."""
HIGH = ("RKN4_6b", "S6_10", "RKN6_14a")
INERTIA = (1.0, 1.88, 2.88)  # [celledoni2008, 3.4]
SIDE = 5
LOST = 1.0
"""A run whose energy is off by so much for each body, in units of epsilon, is lost."""
clock = time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter
"""Seconds of this thread, where the system counts them finely: other work on the machine does not spoil them."""
ROUND_OFF = 1e-12
"""Energy errors below are mostly round-off: nothing is read from them."""


def method_of(scheme: str, flow: str) -> str:
    """Method string."""
    order = SCHEMES[scheme][1]
    turn = {EXACT: "", MR: "/mr", BOOSTED: "/mr" if order == 2 else f"/mr{order}"}[flow]
    return ("v2_dkd" if scheme == "V2" else scheme.lower()) + turn


def pairs_of(schemes: Sequence[str] = tuple(SCHEMES), flows: Sequence[str] = FLOWS) -> dict[str, tuple[str, str]]:
    """Scheme and flow of every method string; plain MR is boosted to the order of V2 as it is."""
    return {method_of(scheme, flow): (scheme, flow) for scheme in schemes for flow in flows}


def steps_of(scheme: str, evaluations: float, span: float) -> int:
    """Number of steps in a span, with so many potential evaluations in a unit of time, or as near as steps allow."""
    return max(1, round(evaluations * span / SCHEMES[scheme][0]))


# ------------------------------------------------------------------ initial states
def unit_quaternions(random: np.random.Generator, n: int) -> Any:
    """Orientations (n, 4), uniform."""
    q = random.standard_normal((n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def lattice_draw(spacing: float, seed: int, thermal: bool = False, side: int = SIDE) -> dict[str, Any]:
    """A cubic lattice with sites off by 1 %, then orientations; ``thermal`` bodies rotate with temperature 1."""
    random, n = np.random.default_rng(seed), side**3
    sites = np.stack(np.meshgrid(*3 * [np.arange(1.0, side + 1.0)], indexing="ij"), axis=-1).reshape(n, 3)
    position = spacing * (sites + 0.01 * random.standard_normal((n, 3)))
    state = {"position": position, "attitude": unit_quaternions(random, n)}
    if thermal:
        state["angular_momentum"] = np.sqrt(INERTIA) * random.standard_normal((n, 3))
    return state


def energies(system: System, states: Any) -> tuple[Any, Any]:
    """Total and potential energies of states (n, 13 N)."""
    potential, role = np.zeros(len(states)), system.compiled_potential(0.0, states[0])
    drive.energy_loop()(np.zeros(len(states)), states, system.bodies, system.with_memory, role, potential)
    return kinetic_energy(system, states) + potential, potential


def raised(system: System, state: Mapping[str, Any], H0: float | None = None) -> tuple[Any, float]:
    """State vector of this energy, and its energy.

    The first and the last body fly at each other along the line between the corners. Without an energy the state stays
    as it is.

    Raises
    ------
    ValueError
        The state has more energy at rest.
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
    """Largest energy error of a run, infinite where the run is lost, and its potential evaluations."""

    error: float
    evaluations: int


def benches_of(system: System, methods: Sequence[str], y: Any) -> dict[str, Integrator]:
    """A bench for each method."""
    return {name: Integrator(system, method(name), y) for name in methods}


def outcome(system: System, integrator: Integrator, y: Any, n: int, span: float) -> Outcome:
    """A run of n steps; the energy is looked at after every step.

    Lost are runs that are no longer finite, that ``polhode.integrate`` would say have blown up, and that have an energy
    error beyond LOST.
    """
    integrator.restart(y)
    rows, counts, before = np.empty((n, y.size)), np.zeros(n, dtype=np.int64), integrator.evaluations
    if integrator.march(0, n, 1, 0.0, span / n, rows, counts) != L.OK:
        return Outcome(np.inf, integrator.evaluations - before)
    states = np.vstack([y, rows])
    H, V = energies(system, states)
    error = float(np.abs(H - H[0]).max())
    lost = first_blown(system, states, V) is not None or not error <= LOST * system.N
    return Outcome(np.inf if lost else error, integrator.evaluations - before)


def seconds_per_step(
    benches: Mapping[str, Integrator], y: Any, h: float, rounds: int, evaluations: int
) -> dict[str, float]:
    """Time of a step of each method, the best of some rounds in which they take turns, on one thread.

    A method is timed over as many steps as make so many evaluations, after one that is not timed.
    """
    best = dict.fromkeys(benches, np.inf)
    counts = {name: max(1, evaluations // stages_of(name)) for name in benches}
    for _ in range(rounds):
        for name, integrator in benches.items():
            integrator.restart(y)
            integrator.march(0, 1, 2, 0.0, h)
            begun = clock()
            integrator.march(1, counts[name], counts[name] + 2, 0.0, h)
            best[name] = min(best[name], (clock() - begun) / counts[name])
    return best


def stages_of(name: str) -> int:
    """Potential evaluations in a step of a method string."""
    scheme = name.partition("/")[0]
    return {method_of(label, EXACT): stages for label, (stages, _) in SCHEMES.items()}.get(scheme, 1)


def each(function: Callable[[Any], Any], items: Sequence[Any], report_progress: Tell) -> Iterator[Any]:
    """The function of every item, in their order; of the first alone, which compiles, of the others on threads."""
    yield function(items[0])
    pool = ThreadPoolExecutor(cpu_count() or 1)
    try:
        for k, found in enumerate(pool.map(function, items[1:]), 2):
            report_progress(f"{100 * k // len(items)} %")
            yield found
    finally:
        pool.shutdown(cancel_futures=True)


# ------------------------------------------------------------------ pictures
LINES = {EXACT: "-", BOOSTED: (0, (4.0, 2.0)), MR: "-."}
MARK_SIZES = {EXACT: 4.5, BOOSTED: 8.5, MR: 13.0}
"""So that all three are seen where they coincide: a dot, a ring round it, a stroke through both."""


def line_style(scheme: str, flow: str) -> dict[str, Any]:
    """Of a curve: colour and marker tell the scheme, line and the size of its marks the free rotation."""
    i = list(SCHEMES).index(scheme)
    return {
        "color": COLOURS[i], "marker": "|" if flow == MR else MARKERS[i], "linestyle": LINES[flow],
        "markerfacecolor": COLOURS[i] if flow == EXACT else "none", "markersize": MARK_SIZES[flow],
        "markeredgewidth": 1.2, "zorder": 3.0 if flow == EXACT else 2.5, "label": f"{scheme}, {flow}",
    }  # fmt: skip


def legend_below(picture: Picture, ax: Axes, columns: int) -> None:
    """One legend for all panels under them, a column for each scheme where all are there."""
    handles, labels = ax.get_legend_handles_labels()
    if len(labels) % columns:  # V2, which has no boosted MR of its own
        handles.insert(1, Line2D([], [], linestyle=""))
        labels.insert(1, "")
    picture.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, handlelength=3.5)
