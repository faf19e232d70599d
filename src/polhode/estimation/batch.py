"""Batch least squares: initial values, parameters and biases from all data at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from polhode.algebra import rotation
from polhode.arguments import ArrayLike, choice, number, whole
from polhode.errors import EstimationWarning, InvalidInput, StepFailed, answering, shown, warn
from polhode.estimation import solve as least_squares
from polhode.estimation.bodies import start_words
from polhode.estimation.data import read, with_noise
from polhode.estimation.guesses import guess_of
from polhode.estimation.measurements import Measurement
from polhode.estimation.models import residual_among, whitened
from polhode.estimation.observability import unobservable
from polhode.estimation.problem import Linearisation, Problem, RunWords, numbers_in_range, rows_of
from polhode.estimation.quantities import list_of_names, quantities
from polhode.estimation.result import Fit, covariance_of, residuals_of
from polhode.estimation.solve import PATIENCE, POOR, SOLVERS, Solution, SolverWords, cost, grown, shoot, solve
from polhode.methods import MethodSpec, method as find_method
from polhode.runs.parameters import with_parameters
from polhode.runs.request import ARGUMENTS, Parameters, with_options
from polhode.runs.settings import Settings
from polhode.runs.state import STATE_WORDS, Start, State
from polhode.runs.steps import Tolerance, check_told_apart
from polhode.systems import System
from polhode.systems.record import present_system

ESTIMATED = "the noise is estimated from the residuals"
MUCH_BETTER = 1e-3  # chi squared relative to that before of a fit that is much better
EXACT = ("exact", "kepler")  # methods whose steps may have any length


@answering
@numbers_in_range("the fit")
def fit(
    system: System,
    data: Any,
    free: Sequence[str],
    method: str | MethodSpec | None = None,
    *,
    noise: Mapping[str, Any] | float | None = None,
    prior: Mapping[str, Any] | None = None,
    step: float | None = None,
    steps: Tolerance | None = None,
    t_end: float | None = None,
    start: Start = None,
    attitude: ArrayLike | None = None,
    angular_velocity: ArrayLike | None = None,
    angular_momentum: ArrayLike | None = None,
    position: ArrayLike | None = None,
    velocity: ArrayLike | None = None,
    momentum: ArrayLike | None = None,
    parameters: Parameters = None,
    arcs: int = 1,
    solver: str = "trf",
    loss: str = "linear",
    loss_scale: float = 1.0,
    max_evaluations: int = 100,
    settings: Settings | Mapping[str, Any] | None = None,
    **options: Any,
) -> Fit:
    """Fit initial values and parameters of a system to measurements, by least squares with exact derivatives.

    Every residual comes from one run with its ``state_transition``, so the Jacobian is that of the numerical motion to
    round-off, at the cost of about two plain runs. Steps do not depend on the times of the data.

    Parameters
    ----------
    system : System
        Its parameters are the first guess of those that are free.
    data : list of Measurement, mapping, xarray.Dataset, pandas.DataFrame or path
        What was measured: from ``polhode.estimation.gyro``, ``direction``, ``attitude``, ``position``, ``velocity``,
        ``range``, ``range_rate``; or arrays by name, as ``polhode.estimation.read`` takes them:
        ``{"gyro": (t, w), "sun": {"time": t, "values": u, "reference": (1, 0, 0)}}``, ``"flight.csv"``. Several kinds
        and instruments together, at any times, in any order. Of several bodies those that they are of: ``body="a"``,
        or ``{"a.position": (t, r)}``.
    free : list of str
        What is fitted: ``attitude``; ``angular_velocity`` or ``angular_momentum``; ``position``; ``velocity`` or
        ``momentum``, all at the start, of several bodies ``a.attitude`` and so on; ``inertia`` or ``a.inertia``, three
        moments or a tensor, as the system was built, of a body that can exist; any parameter by its name in
        ``polhode.ensemble(members=...)``, such as ``mu``, ``weight``, ``a.mass``, ``parameters.0``,
        ``forces.1.coefficient``, or by its last name alone where there is only one (``j2``); biases of instruments
        (``gyro.bias``). All else is held.
    method : str or Method, optional
        The integrator, as for ``polhode.integrate``.
    noise : mapping, float or array_like, optional
        Standard deviations or covariances by the names of instruments or kinds, where the data do not have them:
        ``{"gyro": 1e-3, "position": (5, 5, 15)}``; one value is that of all instruments, which then are of one kind.
        With one instrument it may be left out: it is estimated from the residuals then.
    prior : mapping, optional
        Standard deviations or covariances of the first guess of free quantities, which then counts as a measurement:
        ``{"forces.0.j2": 1e-6, "attitude": 0.1}`` (an attitude's in rad).
    step, steps : float, Tolerance
        Step of the integrator, or a tolerance, as for ``polhode.integrate``. Methods that are exact need none.
    t_end : float, optional
        Data beyond it are refused; unless given the run ends with the data.
    start, attitude, angular_velocity, angular_momentum, position, velocity, momentum
        First guess of the initial state, as for ``polhode.integrate``; ``start={"time": t0}`` says the time of it, 0
        unless given. A free quantity without a guess begins at the first of the data that tell of it.
    parameters : mapping or sequence of float, optional
        First guess of parameters in the place of those the system was built with.
    arcs : int, optional
        Multiple shooting: the span is divided into this many arcs, each with an initial state of its own at first;
        their ends are joined as the fit converges [bock1983]. For long arcs and chaotic motions, where the run from a
        wrong guess soon has nothing to do with the data; not for systems with wheels or states of their own.
    solver : {"trf", "dogbox", "lm"}, optional
        Algorithm of ``scipy.optimize.least_squares``.
    loss : {"linear", "soft_l1", "huber", "cauchy", "arctan"}, optional
        How residuals count; all but ``"linear"`` let outliers count less.
    loss_scale : float, optional
        Normalised residual beyond which one is an outlier.
    max_evaluations : int, optional
        Most runs of the solver.
    settings : Settings or mapping, optional
        As for ``polhode.integrate``.
    **options
        Further arguments of ``polhode.integrate``, such as ``breaks``.

    Returns
    -------
    Fit
        Values, standard deviations, covariance, residuals, what could not be determined, and the fitted run.

    Raises
    ------
    InvalidInput
        Data or names that are wrong, with instrument, row and remedy; nothing that is free changes the data.
    PolhodeError
        The run at the first guess fails.

    Warns
    -----
    EstimationWarning
        A combination of what is free changes nothing in the data: it is named, and held; the solver did not converge;
        the data look as if they were in other units; residuals are much larger than the noise.

    See Also
    --------
    polhode.estimation.kalman : the state after each datum, with noise of the motion.

    Examples
    --------
    >>> import numpy as np, polhode as ph
    >>> truth = ph.integrate(ph.free_body((1, 2, 2.5)), "exact", step=0.1, t_end=20, angular_velocity=(0.2, 1, 0.1))
    >>> found = ph.fit(ph.free_body((1.2, 2, 2.6)), {"gyro": (truth.time, truth.angular_velocity)},
    ...                ["inertia", "angular_velocity"], "exact", noise=1e-3, prior={"inertia": 1})
    >>> print(np.round(found.values["inertia"] / found.values["inertia"][0], 6))
    [1.  2.  2.5]

    Of two bodies, by the distance between them:

    >>> def pair(stiffness):
    ...     return ph.system(ph.body("a", 1.0), ph.body("b", 2.0), ph.loads.tether(stiffness, 1.0).on("a", "b"))
    >>> start = {"a": {"position": (0, 0, 0)}, "b": {"position": (1.3, 0, 0)}}
    >>> truth = ph.integrate(pair(5.0), step=0.01, t_end=1, start=start)
    >>> apart = np.linalg.norm(truth.position[:, 1] - truth.position[:, 0], axis=1)
    >>> link = ph.estimation.range(truth.time, apart, station="b", sigma=1e-6, body="a")
    >>> round(ph.fit(pair(4.0), link, ["stiffness"], step=0.01, start=start).values["tether.stiffness"], 6)
    5.0
    """
    said = {name: value for name, value in locals().items() if name in STATE_WORDS}
    system = present_system(system)
    solving = SolverWords(
        choice(solver, "solver", SOLVERS), choice(loss, "loss", least_squares.LOSSES),
        number(loss_scale, "loss_scale", positive=True), whole(max_evaluations, "max_evaluations", 1),
    )  # fmt: skip
    if solving.solver == "lm" and solving.loss != "linear":
        raise InvalidInput(f"solver 'lm' knows no loss {loss!r}; take solver='trf'")
    if isinstance(method, str) and method in SOLVERS:
        raise InvalidInput(f"method is the integrator, and {method!r} a solver; write solver={method!r}")
    if parameters is not None:
        system = with_parameters(system, parameters)
    measurements = with_noise(read(data), noise)
    guess, t0 = guess_of(system, start, said, list_of_names(free), measurements)
    check_times(measurements, t0, t_end)
    measurements, notes = known_noise(measurements)
    words = run_words(system, method, step, steps, t0, measurements, settings, options)
    problem = Problem(system, measurements, quantities(system, free, guess, measurements), guess, words, prior)
    problem.noise = 0.0 if notes[:1] == [ESTIMATED] else 1.0
    problem.evaluate(problem.start)
    suspicious = suspicious_units(problem)
    if whole(arcs, "arcs", 1, 10**6) > 1:
        solution = shoot(problem, arcs, solving)
    elif suspicious:  # nothing better is to be found
        solution = solve(problem, replace(solving, max_evaluations=min(PATIENCE, max_evaluations)))
    else:
        solution = least_squares.solve_from_anywhere(
            problem, solving, lambda found: in_degrees(problem, solving, found)
        )
        suspicious = problem.suspicious
    return finished(problem, solution, notes, suspicious)


def in_degrees(problem: Problem, words: SolverWords, before: Solution) -> bool:
    """Warn where rates fit much better than before if they are taken for degrees, and say whether they do."""
    names = [one.name for one in problem.measurements if one.kind == "gyro"]
    if not names:
        return False
    rad = np.pi / 180.0
    measurements = [
        replace(one, values=one.values * rad, whitening=one.whitening / rad) if one.kind == "gyro" else one
        for one in problem.measurements
    ]
    spin = ("angular_velocity", "angular_momentum")
    guess = {name: value * (rad if name.endswith(spin) else 1.0) for name, value in problem.guess.items()}
    free = quantities(problem.system, [one.name for one in problem.free], guess, measurements)
    other = Problem(problem.system, measurements, free, guess, problem.words)
    try:
        found = solve(other, replace(words, max_evaluations=min(PATIENCE, words.max_evaluations)))
        if cost(found.at) > POOR:
            found = grown(other, words, found) or found
    except (InvalidInput, StepFailed):
        return False
    if cost(found.at) > max(POOR, MUCH_BETTER * cost(before.at)):
        return False
    problem.suspicious = True
    warn(f"{names[0]} may be in degrees: as such it is a motion of this body, and in rad it is none; multiply it by "
         "pi / 180", EstimationWarning)  # fmt: skip
    return True


def check_times(measurements: Sequence[Measurement], t0: float, t_end: float | None) -> None:
    """Refuse data before the start, and beyond the end where there is one."""
    end = np.inf if t_end is None else number(t_end, "t_end")
    for one in measurements:
        early, late = np.flatnonzero(one.times < t0), np.flatnonzero(one.times > end)
        if early.size:
            row = int(early[0])
            raise InvalidInput(f"{one.name} in row {row} is of t = {one.times[row]:g}, before the start at {t0:g}; "
                               "leave it out, or give the time of the guess: start={'time': ...}")  # fmt: skip
        if late.size:
            row = int(late[0])
            raise InvalidInput(f"{one.name} in row {row} is of t = {one.times[row]:g}, beyond the end at {end:g}; "
                               "leave it out, give a later t_end, or check the units of the times")  # fmt: skip


def known_noise(measurements: Sequence[Measurement]) -> tuple[list[Measurement], list[str]]:
    """Measurements that all have a noise: of a single instrument without one it is 1, and a note says so."""
    lacking = [one for one in measurements if one.whitening is None]
    if lacking and len(measurements) > 1:
        raise InvalidInput(f"noise of {lacking[0].name} is missing; give noise={{{lacking[0].name!r}: ...}}, the "
                           "standard deviation by which it is weighed against the others")  # fmt: skip
    notes = gaps(measurements)
    return ([lacking[0].with_noise(1.0)], [ESTIMATED, *notes]) if lacking else (list(measurements), notes)


def run_words(
    system: System,
    method: str | MethodSpec | None,
    step: float | None,
    steps: object,
    t0: float,
    data: Sequence[Measurement],
    settings: Settings | Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> RunWords:
    """How the runs are made; a method that is exact takes the span in one step."""
    last = max(float(one.times.max()) for one in data)
    if steps is not None and not isinstance(steps, Tolerance):
        raise InvalidInput(f"steps must be a polhode.Tolerance, not {shown(steps)}; the data say where the run ends")
    if step is not None and steps is not None:
        raise InvalidInput("step and steps are both given; keep one of them")
    if step is None and steps is None:
        chosen = find_method(system.recommended if method is None else method)
        if chosen.method.name not in EXACT:
            raise InvalidInput(f"step is missing; give the step of {chosen.label}, as for polhode.integrate")
        step = last - t0 or 1.0
    if step is not None:
        step = number(step, "step", "s", positive=True)
        check_told_apart(step, "step", max(abs(t0), abs(last)))
    more = {name: value for name, value in options.items() if name in ARGUMENTS}
    more |= {} if settings is None else {"settings": settings}
    return RunWords(with_options(method, system, {"steps": steps, **options}, "integrate"), step, steps, t0, more)


def finished(problem: Problem, solution: Solution, notes: Sequence[str], suspicious: bool = False) -> Fit:
    """The result of a solution, with its warnings; one about units says enough."""
    x, at, found = solution.x, solution.at, solution.found
    estimated = not problem.noise
    count = sum(np.size(one) for one in at.residuals)
    priors = len(at.f) - count
    dof = len(at.f) - found.sizes.size
    chi2 = float(at.f @ at.f)
    variance = 1.0
    if estimated:
        if dof <= 0:
            raise InvalidInput(f"{count} numbers were measured for {found.sizes.size} unknowns, too few to estimate "
                               "their noise; give noise=")  # fmt: skip
        variance = chi2 / dof
        problem.measurements[0] = problem.measurements[0].with_noise(max(np.sqrt(variance), 1e-300))
        chi2 = float(dof)
    point = problem.point(x)
    covariance, std = covariance_of(problem, found, variance)
    lost = unobservable(found, problem.free, point.values)
    values = {one.name: one.shown(point.values[one.name]) for one in problem.free}
    start = State(time=problem.words.t0, **start_words(point.system, point.start))
    result = Fit(
        values, std, covariance, residuals_of(problem, at.residuals), chi2, dof, lost, solution.convergence,
        tuple(notes), point.system, start, problem, x, found, variance,
    )  # fmt: skip
    if lost:
        warn("the data do not determine " + "; nor ".join(str(one) for one in lost) + ": held at the guess, with an "
             "infinite standard deviation", EstimationWarning)  # fmt: skip
    if not solution.convergence.converged and not suspicious:
        warn(f"the fit did not converge after {solution.convergence.evaluations} runs; give a better guess, more "
             "max_evaluations, or arcs", EstimationWarning)  # fmt: skip
    if not estimated and dof > priors and not suspicious:
        poor(problem, at, chi2 / max(dof, 1))
    return result


NEAR = 0.2  # how near a ratio must be to a factor between units, relative
DEGREES = 180.0 / np.pi
FACTORS = {
    "gyro": {DEGREES: ("degrees", "multiply it by pi / 180")},
    "length": {1e-3: ("km, the run in m", "multiply it by 1000"), 1e3: ("m, the run in km", "divide it by 1000")},
}
LONG_GAP = 10.0  # gaps longer than this many of the usual intervals are noted
BEYOND_NOISE = 100.0  # chi squared per degree of freedom beyond which model, noise or data are wrong


def gaps(measurements: Sequence[Measurement]) -> list[str]:
    """A note for each instrument whose data have gaps."""
    found = []
    for one in measurements:
        times = np.unique(one.times)
        between = np.diff(times)
        if len(between) < 5:
            continue
        long = np.flatnonzero(between > LONG_GAP * np.median(between))
        if long.size:
            k = int(between.argmax())
            more = "" if long.size == 1 else f", the longest of {long.size} gaps"
            found.append(f"{one.name} has no data between t = {times[k]:g} and {times[k + 1]:g}{more}")
    return found


def suspicious_units(problem: Problem) -> bool:
    """Warn where sizes of data and of the first guess differ by a factor between units, and say whether they do."""
    point = problem.point(problem.start)
    ds = problem.run(point, tangent=False)
    if "stopped" in ds.attrs:  # it met the surface of the planet, before the last of the data
        return False
    rows = rows_of(ds, point)
    rates = _rates_of_attitudes(problem.measurements)
    for one in problem.measurements:
        kind = "gyro" if one.kind == "gyro" else "length" if one.kind in ("position", "velocity", "range") else None
        if kind is None:
            continue
        residual, _ = residual_among(one, problem.of[one.name], rows, problem.indices[one.name])
        measured = float(np.median(np.linalg.norm(one.values, axis=1)))
        predicted = float(np.median(np.linalg.norm(one.values - residual, axis=1)))
        for size in (predicted, rates if kind == "gyro" else None):
            if not size or not measured:
                continue
            for factor, (units, remedy) in FACTORS[kind].items():
                if abs(measured / size / factor - 1.0) < NEAR:
                    ratio = f"{measured / size:.3g}"
                    warn(f"{one.name} may be in {units}: it is {ratio} times what the guess or other data say; "
                         f"{remedy}", EstimationWarning)  # fmt: skip
                    return True
    return False


def _rates_of_attitudes(measurements: Sequence[Measurement]) -> float | None:
    """The usual angular velocity between measured attitudes, where these are close enough to tell."""
    for one in measurements:
        if one.kind != "attitude" or len(one.times) < 5:
            continue
        times, index = np.unique(one.times, return_index=True)
        q = one.values[index]
        angles = rotation.angle_between(q[:-1], q[1:])
        if float(angles.max()) < 1.0:
            return float(np.median(angles / np.diff(times)))
    return None


def poor(problem: Problem, at: Linearisation, ratio: float) -> None:
    """Warn where residuals are far beyond the noise, with the worst of them."""
    if ratio < BEYOND_NOISE:
        return
    worst: tuple[float, Any, int] = (0.0, "", 0)
    for one, residual in zip(problem.measurements, at.residuals, strict=True):
        size = np.linalg.norm(whitened(one, residual), axis=1)
        k = int(size.argmax())
        worst = max(worst, (float(size[k]), one.name, k), key=lambda found: found[0])
    warn(f"residuals are {np.sqrt(ratio):.3g} times the noise, the largest that of {worst[1]} in row {worst[2]}; check "
         "units, noise and guess, or take a loss that bears outliers, loss='soft_l1'", EstimationWarning)  # fmt: skip
