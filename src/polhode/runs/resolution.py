"""Whether the steps of a run are short enough for what happens within them: the passages of an orbit, and the loads.

Both estimates warn only; what they look at is the motion as it is, not its error, which has to be found by another run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from math import acos, acosh, floor, hypot, inf, log10, pi, sin, sinh, sqrt

import numpy as np

from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.algebra.so3 import axpy, dot
from polhode.arguments import Array
from polhode.errors import CoarseStepWarning, PolhodeError, PolhodeWarning, StepFailed, warn
from polhode.kernel import jit, layout as L
from polhode.kernel.access import get3, get4
from polhode.kernel.jit import numbers_at, pointer
from polhode.kernel.signatures import A1, A2, I1, LOAD_CHANGES, LOADS, f8, void
from polhode.methods import tableau as find_tableau
from polhode.runs.stepping import Run
from polhode.systems.loads_roles import no_loads
from polhode.systems.record import System

loads_at = jit.function_at(LOADS)
PUSHED = [(first + k, part + k, name) for first, part, name in
          ((L.MOMENTUM, 0, "momentum"), (L.ANGULAR, 3, "angular_momentum")) for k in range(3)]  # fmt: skip
"""Where the momenta of a body stand in a state, what changes them in loads, and their names."""
COARSE = 0.25
"""Change within a step, in rad or relative to the way, from which on it counts as coarse, over the order of the method:
those of higher order have more stages in a step. Measured on tops, satellites and oscillators."""
SAFE = 0.25 * COARSE
"""Likewise, up to which states on a straight line between the ends of a step tell enough, of bodies that turn by less
than one radian in it."""
FINE = 0.1
"""Change within the step that a warning proposes."""
ROWS, SPEEDS = 4, 64
"""Most rows at which loads are looked at, and of which the speed is taken."""
PARTS = (0.381966, 1.0)
"""Where in the step, beside its start: not a simple fraction, so that a load with the period of the step shows."""
ALONG = np.array([0.0, *PARTS])
HALVINGS = 20


def rounded_down(x: float) -> float:
    """Two digits, so that what is printed is not more than what was found."""
    digits = 10.0 ** (floor(log10(x)) - 1)
    return float(f"{floor(x / digits) * digits:.2g}")


# ------------------------------------------------------------------ orbits
def _until_periapsis(mu: float, r: float, energy: float, e: float, inbound: bool) -> float:
    """Time to the next periapsis of a conic; infinite where there is none ahead."""
    if energy >= 0.0:
        a = 0.5 * mu / max(energy, 1e-12 * mu / r)
        F = acosh(max(1.0, (1.0 + r / a) / e))
        return (e * sinh(F) - F) * sqrt(a**3 / mu) if inbound else inf
    a = -0.5 * mu / energy
    E = acos(min(1.0, max(-1.0, (1.0 - r / a) / e)))
    since = (E - e * sin(E)) * sqrt(a**3 / mu)
    return since if inbound else 2.0 * pi * sqrt(a**3 / mu) - since


ORBITS = {"central_gravity", "mutual_gravity"}
"""What systems provide whose steps are compared with orbits."""
OF_A_PERIOD = 0.25
"""Step, over the shortest period, above which disturbances between orbits are not resolved."""


def shortest_period(system: System, y: Array) -> float:
    """Of the orbits in Jacobi coordinates that begin a run; infinite where none is closed."""
    N, periods = system.N, [inf]
    body, mu = y[: L.BODY * N].reshape(N, L.BODY), system.parameters[:N]
    r, v = body[:, L.POSITION : L.MOMENTUM], body[:, L.MOMENTUM : L.ATTITUDE] / system.mass[:, None]
    for i in range(1, N):
        c, w = (x[i] - mu[:i] @ x[:i] / mu[:i].sum() for x in (r, v))
        distance = float(np.linalg.norm(c))
        M = float(mu[: i + 1].sum())
        energy = 0.5 * float(w @ w) - M / distance if distance > 0.0 else 0.0
        if energy < 0.0:
            periods.append(pi * M / (sqrt(2.0) * (-energy) ** 1.5))
    return min(periods)


def coarse_orbit(run: Run) -> str:
    """What is wrong with steps of one size along the orbits that begin a run; empty where nothing is.

    The orbits are those about the centre alone. A passage through the periapsis within the span counts by the time in
    which the direction turns by one radian there, q^2 / |r x v|; one below the surface does not count.
    """
    system, prepared, h = run.system, run.integrator.prepared, run.h
    if "mutual_gravity" in prepared.needs and system.N > 2 and run.total:
        period = shortest_period(system, run.start)
        if abs(h) > OF_A_PERIOD * period:
            return (
                f"a step of {abs(h):g} is too long: the shortest orbit of a body about those before it has a period of "
                f"{period:.3g}; take {rounded_down(period / 20.0):g}, or number the bodies from the centre outwards"
            )
    if (
        "central_gravity" not in system.provides
        or run.adaptive
        or run.time_transformed_run
        or "central_gravity" in prepared.needs
        or not run.total
    ):
        return ""
    mu, step, span = float(system.parameters[0]), abs(h), abs(run.final - run.t0)
    surface = 0.0 if run.event_detection.ground is None else run.event_detection.ground.radius
    body = run.start[: L.BODY * system.N].reshape(system.N, L.BODY)
    told = []
    for i in np.flatnonzero(np.isfinite(system.mass)):
        x, y, z = body[i, L.POSITION : L.POSITION + 3].tolist()
        u, v, w = (body[i, L.MOMENTUM : L.MOMENTUM + 3] / system.mass[i]).tolist()
        distance, energy = hypot(x, y, z), 0.5 * (u * u + v * v + w * w) - mu / hypot(x, y, z)
        spin, along = hypot(y * w - z * v, z * u - x * w, x * v - y * u), x * u + y * v + z * w
        period = inf if energy >= 0.0 else pi * mu / (sqrt(2.0) * (-energy) ** 1.5)
        e = sqrt(max(0.0, 1.0 + 2.0 * energy * (spin / mu) ** 2))
        nearest = spin * spin / (mu * (1.0 + e))
        if step > period:
            told.append((period / 100.0, f"the orbit has a period of {period:.3g}"))
            continue
        there = nearest > 0.9 * distance  # a periapsis is not far, whatever is ahead
        if nearest < surface or not (there or _until_periapsis(mu, distance, energy, e, along * h < 0) <= span):
            continue
        passage = nearest * nearest / spin if spin > 0.0 else 0.0
        if step > passage:
            where = f"turns by one radian in {passage:.2g} at its periapsis, {nearest:.3g} from the centre"
            told.append((passage / 10.0, f"the orbit {where}" if passage else "the orbit falls into the centre"))
    if not told:
        return ""
    better, words = min(told)
    which = "" if system.N == 1 else " of one of the bodies"
    if better < 1e-9 * step:
        return f"a step of {step:g} is too long: {words}{which}; take steps=polhode.Tolerance(1e-9)"
    return (
        f"a step of {step:g} is too long: {words}{which}; take {rounded_down(better):g}, or look for mixed "
        "units (kilometres for metres)"
    )


def tell_of_orbit(run: Run) -> None:
    """Warn of such steps."""
    if run.guard and not ORBITS.isdisjoint(run.system.provides) and (coarse := coarse_orbit(run)):
        warn(coarse, CoarseStepWarning)


# ------------------------------------------------------------------ loads
PART = jit.hole("PART", "The part of the loads.", default=L.ALL)


def load_changes(N, rotates, translates, times, rows, addresses, speed, most_turn, load, out):
    """Write what loads that change between the states of each group make of the motion of N bodies from the first to
    the last of them, at ``times`` (groups, states): of the turn of a body, in rad, where it ``rotates`` (by angular
    acceleration, of torques as they act in space, in the body frame of the first state; infinite where the body turns
    by more than ``most_turn``), or of its way where it ``translates``, relative to that at its own or the usual
    ``speed``; of several bodies the root mean square. Each is that of the worst state, and NaN where a load is not
    finite. The ``addresses`` are those of ``march``, and ``load`` receives the loads of a group.
    """
    loads, bodies, parameters = loads_at(addresses), numbers_at(addresses, 2), numbers_at(addresses, 3)
    group = times.shape[1]
    for g in range(out.size):
        first, turning, pushing, most, here, spin = pointer(rows[g * group]), 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(group):
            y, mine, own = pointer(rows[g * group + j]), pointer(load[j]), pointer(load[0])
            loads(PART, times[g, j], N, y, bodies, parameters, mine)
            turned, pushed, force = 0.0, 0.0, 0.0
            for i in range(N):
                a, b, c = L.BODY * i, L.LOAD * i, L.CONSTANTS * i
                q, light = get4(first, a + L.ATTITUDE), get3(bodies, c + L.INVERSE_INERTIA)
                now = rotate(get4(y, a + L.ATTITUDE), get3(mine, b + 3))
                change = rotate_inverse(q, axpy(-1.0, rotate(q, get3(own, b + 3)), now))
                spun = (light[0] * change[0], light[1] * change[1], light[2] * change[2])
                turned += dot(spun, spun)
                light_mass, there, then = bodies[c + L.INVERSE_MASS], get3(mine, b), get3(own, b)
                difference = axpy(-1.0, then, there)
                pushed += light_mass * dot(difference, difference)
                force += light_mass * dot(there, there)
                if j == 0:
                    p, m = get3(first, a + L.MOMENTUM), get3(first, a + L.ANGULAR)
                    w = (light[0] * m[0], light[1] * m[1], light[2] * m[2])
                    here, spin = here + light_mass * dot(p, p), max(spin, dot(w, w))
            turning = max(turning, turned) + 0.0 * turned
            pushing = max(pushing, pushed) + 0.0 * pushed
            most = max(most, force) + 0.0 * force
        h, told = abs(times[g, group - 1] - times[g, 0]), 0.0
        if rotates:
            told = np.inf if h * sqrt(spin) > most_turn else h * h * sqrt(turning / N)
        if translates:
            moved = h * max(speed, sqrt(here)) + h * h * sqrt(most)
            way = h * h * sqrt(pushing) / moved if moved > 0.0 else 0.0
            told = way if way > told or not rotates else told
        out[g] = told


@functools.cache
def load_loop(part: int = L.ALL) -> Callable[..., None]:
    """The compiled ``load_changes`` of a part of the loads."""
    return jit.compile_kernel(load_changes if part == L.ALL else jit.bind(load_changes, PART=part), LOAD_CHANGES)


def _changes(run: Run, starts: Sequence[tuple[float, Array, float]], speed: float, ends: bool = False) -> list[float]:
    """How much the loads change in a step of the method from each of some states (``load_changes``), or between its
    ``ends`` if bodies turn little; NaN where it fails."""
    times, rows, kept = list[list[float]](), list[list[Array]](), list[int]()
    for k, (t, y, h) in enumerate(starts):
        states, at, run.step_info[L.COMMANDED] = [y], [t], t  # a row has what controllers set there
        try:
            for part in PARTS[ends:]:
                states.append(after := run.part(t, y, t + part * h))
                at.append(float(after[int(run.step_info[L.TIME_AT])]) if run.time_transformed_run else t + part * h)
        except PolhodeError:
            continue
        times, rows, kept = [*times, at], [*rows, states], [*kept, k]
    found = [float("nan")] * len(starts)
    try:
        changes = _told(run, np.array(times), np.concatenate(rows), speed, 1.0 if ends else inf) if kept else []
        for k, change in zip(kept, changes, strict=True):
            found[k] = change
    except Exception:  # a function of the user's, beyond the run
        if len(starts) > 1:
            return [change for start in starts for change in _changes(run, [start], speed, ends)]
    return found


def _told(
    run: Run, times: Array, rows: Array, speed: float, most_turn: float = inf, room: Sequence[Array] = ()
) -> list[float]:
    """``load_changes`` of groups of states at ``times`` (groups, states), a row each."""
    system, integrator = run.system, run.integrator
    loads, out = room or (np.zeros((times.shape[1], integrator.load.size)), np.empty(len(times)))
    loop = load_loop(L.ALL | (integrator.prepared.part & L.WITHOUT_COUPLING))
    loop(
        system.N, system.rotates, system.translates, times, rows, integrator.addresses_for_loads, speed, most_turn,
        loads, out,
    )  # fmt: skip
    return out.tolist()


@jit.loop(void(A1, A2, I1, f8, A1, A2, A2))
def straight(times, states, at, h, along, of_groups, groups):
    """Write times and states ``along`` straight lines between rows ``at`` and those behind them, the ends of steps."""
    for g in range(at.size):
        k = at[g]
        for j in range(along.size):
            of_groups[g, j] = times[k] + along[j] * h
            for i in range(states.shape[1]):
                groups[along.size * g + j, i] = (1.0 - along[j]) * states[k, i] + along[j] * states[k + 1, i]


def _straight(run: Run, times: Array, states: Array, speed: float, room: Sequence[Array]) -> float:
    """The largest such change where states within the step that begins at each of some rows, and ends at the next, lie
    on a straight line; infinite where that may tell nothing. ``room``: the rows, and memory."""
    along, at, of_groups, groups, *more = room
    if not isinstance(states, np.ndarray):  # on the disk
        ends = np.column_stack([at, at + 1]).ravel()
        times, states, at = times[ends], states[ends], np.arange(0, ends.size, 2)
    straight(times, states, at, run.h, along, of_groups, groups)
    try:
        changes = _told(run, of_groups, groups, speed, 1.0, more)
    except Exception:  # a function of the user's, beside the run
        return inf
    return max(changes) if all(change == change for change in changes) else inf


def _at_rows(run: Run, n: int) -> tuple[float, Sequence[int], bool, bool, Sequence[Array]]:
    """How the loads of a run of n rows are looked at: the order of the method, at which rows (none: not at all),
    whether they are the same all the time, whether the ends of a step tell enough (of pairs without time, by methods of
    order two, which come back nowhere within one), and memory for ``_straight`` where those are rows."""
    prepared, system = run.integrator.prepared, run.system
    solved = prepared.needs & {"central_gravity", "mutual_gravity"} or prepared.step_density == "distance"
    logged = any(one.logs for one in system.functions.values())  # of the calls of the run, and no others
    still = not (system.translates or system.rotates)  # states alone
    if run.adaptive or solved or logged or still or system.loads is no_loads or n < 2:
        return 0.0, (), False, False, ()
    many, p = max(1, ROWS // system.N), run.chosen.promises
    order = p.order_velocity if system.velocity_dependent else p.order
    asked, steady = run.request, not (system.switches or system.impulses or system.watched or run.cuts)
    each = type(run) is Run and asked.recording.every == 1 and asked.samples is None and not asked.events
    chosen = sorted({k * (n - 2) // max(1, many - 1) for k in range(many)})
    ends = steady and order <= 2 and hasattr(system.quantities, "of_virials") and "loads" not in system.arguments
    if not (steady and each) or system.sampled:
        return order, chosen, steady, ends, ()
    along, count = ALONG[:: 1 + ends].copy(), len(chosen)
    return order, chosen, steady, ends, (
        along, np.array(chosen), np.empty((count, along.size)), np.empty((count * along.size, run.start.size)),
        np.zeros((along.size, run.integrator.load.size)), np.empty(count),
    )  # fmt: skip


def coarse_loads(run: Run, times: Array, states: Array) -> str:
    """What is to be said of steps in which the loads change too much; empty where they do not."""
    if (n := len(times)) not in run.at_rows:
        run.at_rows[n] = _at_rows(run, n)
    order, chosen, steady, by_ends, room = run.at_rows[n]
    if not chosen:
        return ""
    system, speed = run.system, 0.0
    if room and _straight(run, times, states, speed, room) < SAFE * order:  # were they no faster than in those rows
        return ""
    if system.translates:
        some = states[np.arange(n) if n <= SPEEDS else sorted({k * (n - 1) // (SPEEDS - 1) for k in range(SPEEDS)})]
        speed = float(np.sqrt(2.0 * system.kinetic_energies(some, turning=False).mean()))
        if room and _straight(run, times, states, speed, room) < SAFE * order:
            return ""
    parameters = run.integrator.parameters[: len(system.parameters)]  # memory behind them goes with the states
    breaks = run.integrator.parameters[len(run.integrator.parameters) - 2 * run.integrator.breaks :]
    step_info, kept, ends = run.step_info.copy(), parameters.copy(), breaks.copy()
    try:
        starts, changes = list[tuple[float, Array, float]](), list[float]()
        for k in chosen:
            t, y = float(times[k]), states[k]
            if h := run.h if steady else run.set_at(t):  # that behind a controlled step has the next commands
                starts.append((t, y, h))
                changes += [] if steady else _changes(run, starts[-1:], speed)
        quick = _changes(run, starts, speed, True) if by_ends else [inf]
        changes = changes or (quick if max(quick) < SAFE * order else _changes(run, starts, speed))
        worst, found = max(
            ((change, start) for change, start in zip(changes, starts, strict=True) if change == change),
            key=lambda one: one[0], default=(0.0, (0.0, states[0], 0.0)),
        )  # fmt: skip
        if not worst > COARSE * order:
            return ""
        t, y, h = found
        run.set_at(t)
        better = h
        for _ in range(HALVINGS):
            better *= 0.5
            if _changes(run, [(t, y, better)], speed)[0] < FINE:
                break
        else:  # what changes however short the step is no question of the step
            return ""
        made = f"{worst:.2g} rad" if system.rotates else f"{worst:.2g} of the way"
        return (
            f"steps of {abs(run.h):g} do not resolve the loads: within the one from t = {t:.6g} they change so much "
            f"that this alone makes {made}; {rounded_down(abs(run.h * better / h)):g} would do"
        )
    finally:
        run.step_info[:], parameters[:], breaks[:] = step_info, kept, ends
        run.integrator.forget()


# ------------------------------------------------------------------ stiffness
STIFF, UNDAMPED, LONG, SOME, MOST = 2.0, 1e-6, 1000, 50, 100
"""Time constants of a decay in a step from which on explicit methods follow stability, not accuracy; part that an
implicit one may leave of it; steps of a run that is looked at for them, of chosen size or by an implicit method; most
numbers that may decay."""


def stability(tableau: str, z: float) -> float:
    """Stability function of a Runge-Kutta method, 1 + z b (1 - z A)^-1 1 [hairer1996, IV.3]."""
    found = find_tableau(tableau)
    return float(1.0 + z * found.b @ np.linalg.solve(np.eye(len(found.b)) - z * found.A, np.ones(len(found.b))))


def tell_of_stiffness(run: Run, t: float, y: Array, error: PolhodeError | None) -> None:
    """Warn of friction or damping, at a state of a run that has taken many steps, by which numbers decay faster than
    steps resolve, or say so in the error of one that has failed; methods that bear it are not looked at."""
    system, own, N, promised = run.system, run.integrator, run.system.N, run.chosen.promises
    enough = LONG if run.adaptive else SOME if promised.implicit else inf
    many = isinstance(error, StepFailed) if error else run.guard and run.done >= enough
    if not many or not system.velocity_dependent or "radau" in run.chosen.label:
        return
    h = abs(run.now - run.t0) / run.done if run.adaptive and run.done else run.last or abs(run.h)
    numbers = [(L.BODY * i + k, L.LOAD * i + j, name) for i in range(N) for k, j, name in PUSHED]
    named = enumerate(system.auxiliary[system.read_from :], system.read_from)
    numbers += [(L.BODY * N + k, L.LOAD * N + k, one.quantity) for k, one in named]
    if len(numbers) > MOST or any(one.logs for one in system.functions.values()):
        return
    places, rates, names = zip(*numbers, strict=True)
    offsets = 1e-4 * np.maximum(np.abs(y[list(places)]), 1e-2)
    rows = np.tile(y, (2 * len(places), 1))
    rows[range(len(rows)), 2 * places] += np.append(offsets, -offsets)
    loads = np.zeros((len(rows), L.LOAD * N + len(system.auxiliary)))
    try:
        load_loop()(N, 0, 0, np.full((1, len(rows)), t), rows, own.addresses_for_loads, 0.0, inf, loads, np.empty(1))
        slopes = -np.diff(loads[:, rates].reshape(2, len(places), -1), axis=0)[0].T / (2.0 * offsets)
        values = np.linalg.eigvals(slopes)
    except Exception:  # a function of the user's, beyond the run; or what is not finite
        return
    decay = run.direction * values.real
    rate = -float(np.where(decay + np.abs(values.imag) <= 0.0, decay, 0.0).min())
    if not rate * h > STIFF:
        return
    needs = f"and {run.chosen.label!r} needs steps as short"
    if promised.implicit and not error:
        left = abs(stability(str(run.chosen.options.get("tableau", "gauss2")), -rate * h)) ** run.done
        needs = f"of which {run.chosen.label!r} has left {left:.1g} after {run.done} steps of {h:.2g}"
        if left < UNDAMPED:
            return
    told = (
        f"friction or damping is stiff here: {names[int(np.argmin(run.direction * np.diagonal(slopes)))]} decays with "
        f"a time constant of {1.0 / rate:.2g}, {needs}; take 'mkrk:radau_iia5', whose steps may be longer"
    )
    if error is None:
        warn(told, PolhodeWarning)
    else:
        error.args = (f"{error}; {told}",)
