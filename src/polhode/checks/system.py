"""``check_system``: does a system do what it declares?

    print(ph.checks.check_system(my_system, angular_velocity=(0, 0, 2)))

The measurements are in ``polhode.checks.system_measures``; here they are judged, at a few states near a given one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import number, whole
from polhode.checks import system_measures as measure
from polhode.checks.report import Line, Report
from polhode.errors import InvalidInput, answering, unknown_name
from polhode.kernel import layout as L
from polhode.runs.compare import common_start
from polhode.runs.initial_state import start_state
from polhode.runs.request import in_units_of
from polhode.runs.state import STATE_WORDS, Start, as_kept
from polhode.systems import System
from polhode.systems.record import present_system

CONSERVED = (
    "energy", "angular_momentum_space", "vertical_angular_momentum", "axial_angular_momentum", "momentum",
    "total_momentum", "total_angular_momentum",
)  # fmt: skip
"""The names a system may use in ``conserves``."""

MOST_STATES = 10_000  # largest number of states at which loads are checked

# ------------------------------------------------------------------ tolerances
DERIVATIVE_BELOW = 1e-8
"""Relative difference from a derivative by finite differences, whose own error is about 1e-10."""
PARTS_BELOW = 1e-13  # relative difference between loads and the sum of their parts: round-off
POWER_BELOW = 1e-12  # relative power of loads that do no work: round-off
CONSERVED_BELOW = 1e-11  # relative drift of a conserved quantity along an accurate run


# ------------------------------------------------------------------ lines of the report
def _shape_line(system: System) -> Line:
    """Arrays of the right shapes, positive masses and moments, unit frames, known names."""
    N = system.N
    wrong = []
    for name, shape in (("mass", (N,)), ("moments", (N, 3)), ("frames", (N, 4))):
        found = np.shape(getattr(system, name))
        if found != shape:
            wrong.append(f"{name} has shape {found} instead of {shape}")
    if not wrong:
        if not (np.all(np.asarray(system.mass) > 0) and np.all(np.asarray(system.moments) > 0)):
            wrong.append("masses and moments must be positive (infinite: pinned, or a point)")
        if np.abs(np.linalg.norm(system.frames, axis=1) - 1.0).max() > 1e-14:
            wrong.append("frames are not unit quaternions")
    if np.ndim(system.parameters) != 1 or np.asarray(system.parameters).dtype != np.float64:
        wrong.append("parameters is not a flat array of float64")
    unknown = sorted(set(system.conserves) - set(CONSERVED))
    if unknown:
        wrong.append(f"conserves names {', '.join(unknown)}; known: {', '.join(CONSERVED)}")
    if "axial_angular_momentum" in system.conserves and system.axis is None:
        wrong.append("conserves names axial_angular_momentum, but axis is None")
    return Line("shapes and names", not wrong, f"{N} bod{'y' if N == 1 else 'ies'}", "; ".join(wrong) or "as declared")


def _defect_line(
    what: str, promised: str, defects: Iterable[float], below: float, measured: str = "relative difference"
) -> Line:
    """The largest of these defects, which must not exceed ``below``; NaN where there is a kink, not everywhere."""
    found = np.array(list(defects))
    smooth = found[~np.isnan(found)]
    if not smooth.size:
        return Line(what, False, promised, "smooth at none of the states", {"defect": nan})
    worst, at = float(smooth.max()), "" if smooth.size == found.size else f", at {smooth.size} of {found.size} states"
    return Line(what, worst <= below, promised, f"{measured} {worst:.1e}{at}", {"defect": worst})


def _commutator_line(system: System, states: Sequence[Any]) -> Line:
    what, promised = "loads of the commutator", "are d(F . M^-1 F)"
    wrong = next((found for found in (measure.load_defect(system, y, part=L.COMMUTATOR) for y in states) if found), "")
    if wrong:
        return Line(what, False, promised, wrong)
    parts = (L.ALL, L.WITHOUT_SOLVED) if system.commutator_by_parts else (L.ALL,)
    defects = (measure.commutator_defect(system, y, part=part) for y in states for part in parts)
    return _defect_line(what, promised, defects, DERIVATIVE_BELOW)


def _load_lines(system: System, states: Sequence[Any]) -> list[Line]:
    """Lines about the loads, measured at single states."""

    def everywhere(measure: Callable[[System, Any], float]) -> list[float]:
        return [measure(system, y) for y in states]

    lines = []
    if not system.velocity_dependent:
        found = everywhere(measure.velocity_defect)
        lines.append(_defect_line("loads and velocities", "do not depend on them", found, 0.0, "relative change"))
    if "split_loads" in system.provides:
        promised = "add up, and depend on velocities or not"
        lines.append(_defect_line("parts of the loads", promised, everywhere(measure.parts_defect), PARTS_BELOW))
    if system.balanced and any(own.quantity == "work" for own in system.auxiliary):
        promised = "are the change of the energy"
        lines.append(_defect_line("works", promised, everywhere(measure.balance_defect), DERIVATIVE_BELOW))
    if "commutator" in system.provides:
        lines.append(_commutator_line(system, states))
    if system.series is not None:
        promised = "sums up to the loads"
        lines.append(
            _defect_line("series of the torque", promised, everywhere(measure.series_defect), DERIVATIVE_BELOW)
        )
    if "energy" in system.conserves:
        if system.potential is not None:
            found = everywhere(measure.gradient_defect)
            lines.append(_defect_line("loads and potential", "loads are -dU", found, DERIVATIVE_BELOW))
        found = everywhere(measure.power_defect)
        lines.append(_defect_line("loads in motion", "do no work of their own", found, POWER_BELOW, "relative power"))
    return lines


def _conservation_lines(system: System, states: Sequence[Any], span: float | None) -> list[Line]:
    """One line for each quantity the system declares conserved: its largest drift along runs from these states."""
    if not system.conserves:
        return []
    found = [measure.conservation_drifts(system, y, span=span) for y in states]
    if not any(found) or (span is not None and not all(found)):
        of = "" if span is None else f" of {span:g}"
        raise InvalidInput(f"{system!r} changes too fast for a span{of}, or its loads have a kink on the way; give "
                           "check_system a shorter one, or another start")  # fmt: skip
    worst = {name: max(of_state[name] for of_state in found if of_state) for name in system.conserves}
    return [
        Line(f"conserves {name}", drift <= CONSERVED_BELOW, "constant", f"changes by {drift:.1e}", {"drift": drift})
        for name, drift in worst.items()
    ]


def _states_near(system: System, count: int, rng: np.random.Generator, start: Mapping[str, Any]) -> list[Any]:
    """Random states near a given one: attitudes within 0.5 rad, others within 20 percent, or of size one if zero."""
    base, found = start_state(system, **start), list[Any]()
    for _ in range(count):
        y = base.copy()
        for i, kind in system.blocks.reshape(-1, 2):
            a = L.BODY * i
            if kind == L.ROTATION:
                rotation_vector = rng.uniform(-1.0, 1.0, 3)
                rotation_vector *= 0.5 * rng.uniform() / np.linalg.norm(rotation_vector)
                q = slice(a + L.ATTITUDE, a + L.ANGULAR)
                y[q] = rotation.multiply(y[q], rotation.exp_quaternion(rotation_vector))
                turns = np.isfinite(system.moments[i]) & (system.moments[i] > 0.0)
                vectors = [(slice(a + L.ANGULAR, a + L.BODY), turns * float(np.mean(system.moments[i][turns])))]
            else:
                vectors = [(slice(a + L.POSITION, a + L.MOMENTUM), np.ones(3)),
                           (slice(a + L.MOMENTUM, a + L.ATTITUDE), np.full(3, system.mass[i]))]  # fmt: skip
            for vector, units in vectors:
                size = float(np.linalg.norm(base[vector]))
                y[vector] += rng.uniform(-1.0, 1.0, 3) * (0.2 * size * (units > 0.0) if size > 0.0 else units)
        own = system.auxiliary_at_start(y)
        for k in range(system.read_from, len(own)):
            own[k] += rng.uniform(-1.0, 1.0) * (0.2 * abs(own[k]) if own[k] else 1.0)
        found.append(np.concatenate([y, own]))
    return found


# ------------------------------------------------------------------ the check
@answering
def check_system(
    system: System, *, start: Start = None, states: int = 3, span: float | None = None,
    seed: int = 0, **at_start: Any,
) -> Report:  # fmt: skip
    """Measure whether a system does what it declares: above all, whether its loads belong to its potential.

    A wrong sign or factor in a load does not show in a run: the motion looks plausible, but is that of another system.
    Here loads are compared with the derivative of the potential, and conserved quantities followed along accurate runs.

    Parameters
    ----------
    system : System
        Shipped or built by hand.
    start : State, mapping or xarray.Dataset, optional
        Near which state, as for ``integrate``, also by names of bodies, or near the last row of a trajectory.
    states : int
        Number of random states, near the one given, at which everything is checked.
    span : float, optional
        Length (s) of the runs along which conserved quantities are followed; by default the time in which the fastest
        body turns by two radians, and at most 2, or less where the loads have a kink on the way.
    seed : int
        Of the random states; the same seed gives the same report.
    **at_start : array_like
        The same in six words (``attitude``, ``angular_velocity``, ``position``, ...): a state in the system's own
        range; the states tried are near it (up to 0.5 rad and 20 percent away). By default random, of size one,
        attitudes within 0.5 rad of the identity. Orbits and spacecraft need a ``position``.

    Returns
    -------
    Report
        A table when printed. ``raise_for_failure()`` turns it into a test. Only what applies has a line:

        * ``shapes and names``: arrays have their shapes, masses and moments are positive, names are known. If not,
          nothing else is checked.
        * ``loads``: the function writes all of its numbers and no other, leaves its arguments alone, and gives the same
          numbers when called again. If not, nothing further is checked.
        * ``loads and velocities``: loads declared not to depend on velocities are the same, to the bit, at rest.
        * ``parts of the loads``: divided loads are the sum of their parts, to 1e-13.
        * ``works``: the sum of their rates is the rate of the energy, to 1e-8; checked where ``System.balanced``, so
          not for a potential of the user's beside a load, or one that reads the time and cannot be traced.
        * ``loads of the commutator``: they are the derivative of F . M^-1 F, to 1e-8; so are those of the loads besides
          an attraction, where they are derived.
        * ``series of the torque``: it sums up to the torque along a rotation, to 1e-8.
        * ``loads and potential``: loads at rest are minus the derivative of the potential, to 1e-8, where the energy is
          declared conserved.
        * ``loads in motion``: what velocities add to such loads does no work, to 1e-12.
        * ``conserves ...``: each declared quantity changes by less than 1e-11 along a run.

        All tolerances are relative. Loads with a kink (a tether, a contact) are judged where they are smooth: points of
        differences move together until the kink is not among them, runs end before it, and a state on it is left out.

    Raises
    ------
    InvalidInput
        Not a system, initial values that are missing or not wanted, or a span for which 4096 steps are not enough.

    Notes
    -----
    A body with a ``torque`` of the user's declares nothing conserved; to have it compared with its potential, check
    ``dataclasses.replace(system, conserves=("energy",))``.

    When a line fails:

    * Loads and potential: a difference near 2 is a wrong sign, near 1 a missing term, a small one a wrong constant. A
      torque is in the body frame, a force in the space frame.
    * Loads and velocities: leave ``velocity_independent`` out of what the system provides, or remove the velocity from
      the load.
    * Loads in motion: the loads dissipate or drive; do not declare the energy conserved.
    * Conserves: if loads and potential agree, the system lacks the symmetry behind this quantity. Remove its name.
    * Loads: write every number of ``out`` and nothing beyond, do not change arguments, keep no state between calls.

    See Also
    --------
    check_method : whether a method does what its row promises.

    Examples
    --------
    >>> import polhode as ph
    >>> def spring(body, stiffness):
    ...     return 0.5 * stiffness * body.position @ body.position
    >>> system = ph.system(ph.body("bead", 2.0), ph.loads.of(spring, stiffness=8.0))
    >>> ph.checks.check_system(system).passed
    True
    """
    system = present_system(system)
    if system.mechanism is not None:
        raise InvalidInput(f"check_system moves bodies freely, but joints hold those of {system.title}; check the "
                           "bodies and their loads without them")  # fmt: skip
    for name in at_start:
        if name not in STATE_WORDS:
            raise unknown_name("argument of check_system", name, ("start", "states", "span", "seed", *STATE_WORDS))
    if start is not None:
        given = in_units_of(
            system.units, system.name, system.arguments, "consistent", common_start(system, start, "the check").given
        )[1]
        if both := sorted(given.keys() & at_start.keys()):
            raise InvalidInput(f"{both[0]} is given, and start has it too; keep one of them")
        at_start |= as_kept(given) | {name: given[name] for name in STATE_WORDS[3:] if name in given}
    states, seed = whole(states, "states", 1, MOST_STATES), whole(seed, "seed")
    span = None if span is None else number(span, "span", "s", positive=True)
    lines = [_shape_line(system)]
    if not lines[0].passed:
        return Report(repr(system), tuple(lines))
    near = _states_near(system, states, np.random.default_rng(seed), at_start)
    wrong = next((found for found in (measure.load_defect(system, y) for y in near) if found), "")
    lines.append(Line("loads", not wrong, "write their own numbers only", wrong or "as they must"))
    if not wrong:
        lines += _load_lines(system, near)
        lines += _conservation_lines(system, near, span)
    return Report(repr(system), tuple(lines))
