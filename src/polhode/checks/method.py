"""``check_method``: does a method do what its row in the table promises?

    ph.checks.check_method("trapm").raise_for_failure()

The measurements are in ``polhode.checks.method_measures``; here they are judged. Promises are checked in both
directions: a quantity that is conserved without being promised is a failure too, so that the table of methods stays
true.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from polhode.arguments import Array
from polhode.checks import method_measures as measure, problems
from polhode.checks.report import Line, Report
from polhode.checks.steps import exact_state, state_distance, stepper, traveller, trial_form
from polhode.errors import InvalidInput, PolhodeError
from polhode.methods import Method, MethodSpec
from polhode.systems import System

Problem = tuple[System, Array, Array, float]  # system, initial state, exact end state, initial time

# ------------------------------------------------------------------ tolerances
HIGHEST_IN_SHORT = 24  # order up to which orders are measured over ``ORDER_SPAN``

ORDER_TOLERANCE = 0.2
"""How far a measured order may be from the promised one.

At high order, errors reach round-off before their leading term dominates. From order 6 on the measured order may lie
above the promise by a third, from order 8 on below it by a tenth; from order 8 on the slope fitted to all usable errors
counts where it is nearer to the promise."""
EXACT_BELOW = 1e-12  # error of one long step that counts as exact; the reference is no better
ROUND_OFF = 1e-13  # difference in one step that counts as round-off
KEPT_BELOW, LOST_ABOVE = 2e-12, 1e-11
"""Relative drifts: a quantity is kept below the first, not kept above the second, undecided between them."""
NOT_SYMPLECTIC_ABOVE = 1e-11  # defect of the symplectic form too large to be an error of the differences
TRANSFORMED_STEPS = 16
"""Nominal steps over the span of a free body, for a method whose exact motion comes in steps of its own choice."""
LONG_STEPS = (1.6, 2.0, 2.4, 2.8)
"""Steps long enough to show what a Taylor series of high order does not conserve."""


# ------------------------------------------------------------------ orders
def _order_lines(chosen: MethodSpec) -> list[Line]:
    """Orders under the loads the method is made for, then where its order differs: with velocities, for a free body."""
    promises = chosen.promises
    falls = promises.order_velocity != promises.order
    loads = problems.CONFIGURATION if falls else problems.SWITCHES
    prepared = chosen.prepare()
    if "only_central_gravity" in prepared.needs:
        system, y = problems.orbit_problem()
        problem = system, y, exact_state(system, y, 0.0, problems.ORDER_SPAN), 0.0
        return [_exact_line(chosen, "orbit", problem, problems.ORDER_SPAN)]
    points = "points" in prepared.needs
    names: Iterable[str] = problems.ORDER_PROBLEMS
    if points:
        names = problems.POINT_PROBLEMS
    elif problems.needs_places(chosen):
        names = problems.SPACE_PROBLEMS
    pull = {"attracted": "central_gravity" in prepared.needs}
    span = problems.LONG_SPAN if promises.order > HIGHEST_IN_SHORT else problems.ORDER_SPAN
    lines = [
        _order_line(chosen, what, promises.order, problems.order_problem(what, *loads, **pull, span=span), span)
        for what in names
    ]
    if problems.sums_series(chosen):
        problem = problems.order_problem(problems.SERIES_PROBLEM, problems.VERTICAL, span=span)
        lines.append(_order_line(chosen, "order, torque by the vertical", promises.order, problem, span))
    if falls:
        what = "order, particle" if points else "order, body in space"
        problem = problems.order_problem(what, *problems.SWITCHES, **pull)
        lines.append(_order_line(chosen, "order, loads by velocity", promises.order_velocity, problem))
    free = problems.free_problem(problems.needs_places(chosen), **pull)
    if promises.order_free == inf:
        lines.append(_exact_line(chosen, "free body", free, problems.FREE_SPAN))
    elif promises.order_free != promises.order:
        lines.append(_order_line(chosen, "order, free body", promises.order_free, free, problems.FREE_SPAN))
    return lines


def _exact_line(chosen: MethodSpec, what: str, problem: Problem, span: float) -> Line:
    """Whether one step over the whole span ends at the exact state; with a time transformation, several."""
    system, y, end, t = problem
    n = TRANSFORMED_STEPS if chosen.prepare().step_density else 1
    error = state_distance(traveller(chosen, system, y)(y, t, span, n), end, system)
    steps = "one step" if n == 1 else f"steps that begin with {span / n:g}"
    return Line(what, error <= EXACT_BELOW, "exact", f"error of {steps} {error:.1e}", {"error": error})


def _order_line(
    chosen: MethodSpec, what: str, promised: float, problem: Problem, span: float = problems.ORDER_SPAN
) -> Line:
    convergence = measure.measure_order(chosen, *problem, span)
    order = convergence.order
    if promised >= 8 and not abs(convergence.fitted - promised) >= abs(order - promised):
        order = convergence.fitted
    found = {"order": order, "steps": convergence.steps, "errors": convergence.errors}
    above = inf if chosen.promises.at_least else ORDER_TOLERANCE if promised < 6 else promised / 3.0
    below = ORDER_TOLERANCE if promised < 8 else promised / 10.0
    good = promised - below <= order <= promised + above
    return Line(what, good, f"{promised:g}", f"{order:.2f}", found)


# ------------------------------------------------------------------ symmetry, invariants, symplecticity
def _symmetry_line(chosen: MethodSpec) -> Line:
    promised = chosen.promises.time_symmetric
    defects: dict[float, float] = {}
    system, y = problems.problem_for(chosen, "time", "potential")
    for h in (0.2, 0.4, 0.8, *LONG_STEPS * problems.sums_series(chosen)):
        try:
            defects[h] = measure.symmetry_defect(chosen, system, y, h=h)
        except PolhodeError:  # too large a step; the smaller ones decide
            break
    worst = max(defects.values(), default=inf)
    symmetric = bool(defects) and all(defect <= ROUND_OFF for defect in defects.values())
    return Line(
        "time symmetry",
        symmetric == promised and (symmetric or worst > 10 * ROUND_OFF),
        "a step back undoes a step" if promised else "not symmetric",
        f"defect {worst:.1e}",
        {"defects": defects},
    )


def _kept_line(chosen: MethodSpec, what: str, problem: tuple[System, Array], promised: Sequence[str]) -> Line:
    """Whether the promised quantities, and no others, are constant at every step size that can be completed."""
    if unknown := sorted(set(promised) - set(measure.QUANTITIES)):
        raise InvalidInput(f"{chosen.label!r} promises {unknown}; known: {measure.QUANTITIES}")
    worst = dict.fromkeys(measure.QUANTITIES, 0.0)
    sizes = []
    long_steps = ((h, 8) for h in LONG_STEPS * problems.sums_series(chosen))
    for h, steps in ((0.25, 120), (0.5, 60), (1.0, 20), (1.6, 12), *long_steps):
        try:
            found = measure.drifts(chosen, *problem, h=h, steps=steps)
        except PolhodeError:  # large steps are tried only to make small drifts visible
            break
        sizes.append(h)
        worst = {name: max(worst[name], found[name]) for name in measure.QUANTITIES}
        if all(worst[name] > LOST_ABOVE for name in measure.QUANTITIES if name not in promised):
            break
    kept = {name for name in measure.QUANTITIES if worst[name] <= KEPT_BELOW}
    implied = {"vertical_momentum", "momentum_length"} if "spatial_momentum" in promised else set()
    lost = [name for name in promised if name not in kept]
    extra = [name for name in measure.QUANTITIES if name in kept and name not in promised and name not in implied]
    unclear = [name for name in measure.QUANTITIES if name not in promised and KEPT_BELOW < worst[name] <= LOST_ABOVE]
    faults = [f"{name} changes by {worst[name]:.1e}" for name in lost]
    faults += [f"{name} is kept too ({worst[name]:.1e})" for name in extra]
    faults += [f"{name} changes by {worst[name]:.1e} only, too little to tell" for name in unclear]
    least = min((worst[name] for name in measure.QUANTITIES if name not in {*promised, *implied}), default=inf)
    summary = f"others change by {least:.1e} and more"
    if promised:
        summary = f"within {max(worst[name] for name in promised):.1e}, {summary}"
    return Line(
        what,
        bool(sizes) and not faults,
        ", ".join(promised) or "nothing",
        "; ".join(faults) or (summary if sizes else "no step works"),
        {"drifts": worst, "steps": tuple(sizes)},
    )


def _symplectic_line(chosen: MethodSpec, what: str, promised: bool, *loads: str) -> Line:
    system, y = problems.problem_for(chosen, *loads)
    take_steps = stepper(chosen, system, y)
    defects: dict[float, float] = {}
    # Small steps suffice for a symplectic method; at large ones the Jacobian by differences is inaccurate.
    for h in (0.1, 0.2, 0.4) if promised else (0.1, 0.2, 0.4, 0.8, 1.2, *LONG_STEPS * problems.sums_series(chosen)):
        try:
            defects[h] = measure.symplectic_defect(lambda z, h=h: take_steps(z, 0.0, h), system, y)  # type: ignore[misc]
        except PolhodeError:  # too large a step; the smaller ones decide
            break
        if h >= 0.4 and defects[h] > NOT_SYMPLECTIC_ABOVE:
            break
    worst = max(defects.values(), default=inf)
    symplectic = bool(defects) and worst <= measure.SYMPLECTIC_BELOW
    return Line(
        what,
        symplectic if promised else worst > NOT_SYMPLECTIC_ABOVE,
        "symplectic" if promised else "not symplectic",
        "defect " + ", ".join(f"{defect:.1e} (h = {h:g})" for h, defect in defects.items()),
        {"defects": defects},
    )


# ------------------------------------------------------------------ what must not influence a run
def _slicing_line(chosen: MethodSpec) -> Line:
    needs = chosen.prepare().needs
    system, y = (
        problems.problem_for(chosen, *problems.SWITCHES, bodies=2) if "points" in needs
        else problems.trial_problem(*problems.SWITCHES, moves=True, bodies=2, attracted="central_gravity" in needs)
    )  # fmt: skip
    defect = measure.slicing_defect(chosen, system, y)
    return Line("slicing and recording", defect == 0.0, "no influence", f"difference {defect:.1e}", {"defect": defect})


def _axes_line(what: str, defect: float, promised: bool) -> Line:
    """``promised``: the row declares a dependence on the axes, as of Euler angles."""
    expected = "some influence" if promised else "no influence"
    return Line(what, (defect > 20 * ROUND_OFF) == promised, expected, f"difference {defect:.1e}", {"defect": defect})


def check_method(method: str | Method | MethodSpec, **options: str) -> Report:
    """Measure whether a method does what its row in the table promises.

    Takes seconds. The method runs on small built-in problems in which no term vanishes. Promises are checked both
    ways: a quantity that is conserved although the row does not say so fails as well.

    Parameters
    ----------
    method : str, Method or MethodSpec
        A method string such as ``"mkrk:gauss4:cayley"``, or a row, which need not be in the table.
    **options : str
        Options by name.

    Returns
    -------
    Report
        A table when printed. ``raise_for_failure()`` turns it into a test. Its lines, and what a pass means:

        * ``order, ...``: errors at the end of a run fall with the promised power of the step, against an independent
          reference; for a pinned body, a particle, a body in space and two coupled bodies, under loads that depend on
          time, attitude, position and velocity. A lower order under loads that depend on velocities has a line of its
          own, and so has a different order for a free body. ``free body`` or ``orbit``: one long step is exact to
          1e-12.
        * ``time symmetry``: a step of h, then one of -h, returns to the initial state to 1e-13; if not promised, it
          does not.
        * ``kept, free body`` and ``kept, heavy top``: the promised quantities change by less than 2e-12 (relative) at
          every step size, all others by more than 1e-11 at one.
        * ``symplectic, ...``: one step preserves the symplectic form to 2e-12, without loads and in a potential; if
          not promised, it does not.
        * ``slicing and recording``: a run cut into pieces, or recorded more often, gives the same bits.
        * ``numbering of the axes``, ``frame of the inertia``: to round-off, results do not depend on the numbering of
          the body's axes or on the frame of the inertia; where a dependence is declared, they do.

        Each method gets problems it can take: a method for points particles, one that solves a central attraction alone
        an orbit, one that follows orbits between kicks a centre beside the other loads, one whose steps follow places
        bodies in space. One that sums Taylor series is measured under a torque with a series of its own, too. Steps of
        a method with a time transformation are nominal; its errors are those at the end of the span, which a shortened
        last step reaches. Of a thermostat with friction or a relaxation time only slicing is checked; without them the
        bath does nothing, and the method is checked as any other.

    Raises
    ------
    InvalidInput
        Unknown method, or a promise with an unknown name.

    Notes
    -----
    When a line fails:

    * A low order: look for a wrong coefficient, or a load evaluated at the wrong time. Low with two coupled bodies
      only: loads that see one body before and the other after the step. The errors themselves are in
      ``report["order, particle"].numbers``.
    * Order NaN: no two errors lie between 3e-12 and 0.05; the step failed, or diverges.
    * A high order, or "is kept too": the method is better than its row says; correct the row.
    * Slicing: the step keeps something outside the state from one step to the next.
    * Numbering or frame: the step treats one axis differently from the others.

    Measured orders may be 0.2 off. From order 6 on, where round-off comes near, they may lie above the promise by a
    third (without a bound where the promise is "at least"), from order 8 on below it by a tenth.

    See Also
    --------
    check_system : whether a system does what it declares.

    Examples
    --------
    >>> import polhode as ph
    >>> ph.checks.check_method("v2").passed  # doctest: +SKIP
    True
    """
    chosen = trial_form(method, **options)
    promises = chosen.promises
    slicing = _slicing_line(chosen)
    if promises.thermal:
        return Report(chosen.label, (slicing,))
    if "points" in chosen.prepare().needs:
        in_potential = _symplectic_line(chosen, "symplectic, in a potential", promises.symplectic, "potential")
        return Report(chosen.label, (*_order_lines(chosen), _symmetry_line(chosen), in_potential, slicing))
    lines = [
        *_order_lines(chosen),
        _symmetry_line(chosen),
        _kept_line(chosen, "kept, free body", problems.body_problem(chosen), promises.keeps_free),
        _kept_line(chosen, "kept, heavy top", problems.top_problem(chosen), promises.keeps_top),
        _symplectic_line(chosen, "symplectic, free body", promises.symplectic),
        _symplectic_line(chosen, "symplectic, in a potential", promises.symplectic, "potential"),
        slicing,
        _axes_line("numbering of the axes", measure.numbering_defect(chosen), promises.axis_order_dependent),
        _axes_line(
            "frame of the inertia",
            measure.frame_defect(chosen),
            promises.axis_order_dependent or promises.frame_dependent,
        ),
    ]
    return Report(chosen.label, tuple(lines))
