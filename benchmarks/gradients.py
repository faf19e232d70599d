"""Gradients: the time of `polhode.gradient` over that of the run itself, against differences, and against diffrax.

    python benchmarks/gradients.py [--rounds 5]

The function is a sum of squares at the end of the run, differentiated by its start and by numbers of the system. Turns
alternate, and the smallest time of each counts; times are of whole calls, compiled before. ``differences`` are 2 n runs
for n numbers, and are good to some 1e-10 at best. diffrax (Dormand and Prince's method of order 8 with a tolerance, the
gradient by recursive checkpoints, compiled by JAX, 64 bits) gets the largest tolerance with which its state is as exact
as ours at the end; ``apart`` is the largest difference of the two gradients, relative to the largest number in them.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure

INERTIA, CENTRE, WEIGHT = np.array([1.0, 1.7, 2.3]), np.array([0.1, 0.2, 1.0]), 2.0
START = np.array([0.9, 0.1, 0.3, 0.2]) / np.sqrt(0.95)
RATE = np.array([0.3, 0.4, 2.0])
TARGET = np.array([0.2, -0.3, 0.5])
EARTH = ph.planets.EARTH
R, V = np.array([7e6, 0.0, 0.0]), np.array([0.0, 5500.0, 5500.0])
TOLERANCES = 10.0 ** np.arange(-4.0, -14.5, -0.5)
COMPARED = [("heavy top", 100), ("heavy top", 1_000), ("J2 orbit", 100), ("J2 orbit", 1_000), ("J2 orbit", 10_000)]
"""Not the top for long, whose motion is chaotic."""


def top(inertia: Any = INERTIA) -> Any:
    return ph.heavy_top(inertia, CENTRE, WEIGHT)


def orbit() -> Any:
    return ph.orbit(EARTH.mu, forces=[ph.forces.zonal(J2=1.08263e-3, radius=EARTH.radius)])


def slope_of_top(s: Any) -> Any:
    return ((s.angular_velocity - TARGET) ** 2).sum() + s.attitude[1] * s.attitude[2]


def place(s: Any) -> Any:
    return (s.position**2).sum() * 1e-14 + s.position[0] * 1e-7


CASES = {
    "heavy top": (top, "rkn6_14a", {"attitude": START, "angular_velocity": RATE}, 0.1, slope_of_top,
                  ["attitude", "angular_velocity", "inertia"]),
    "J2 orbit": (orbit, "rkn6_14a", {"position": R, "velocity": V}, 60.0, place, ["position", "velocity"]),
}  # fmt: skip


def by_diffrax(case: str, t_end: float) -> Callable[[float], tuple[Any, Any]]:
    """A function of the tolerance that gives the state at the end and the gradient."""
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def top_field(t: Any, y: Any, inertia: Any) -> Any:
        q, w = y[:4], y[4:]
        gravity = jnp.array([2 * (q[1] * q[3] - q[0] * q[2]), 2 * (q[2] * q[3] + q[0] * q[1]),
                             1 - 2 * (q[1] ** 2 + q[2] ** 2)])  # fmt: skip
        torque = jnp.cross(jnp.asarray(CENTRE), -WEIGHT * gravity)
        turned = jnp.concatenate([-(q[1:] @ w)[None], q[0] * w + jnp.cross(q[1:], w)]) * 0.5
        return jnp.concatenate([turned, (torque - jnp.cross(w, inertia * w)) / inertia])

    def orbit_field(t: Any, y: Any, _: Any) -> Any:
        x, v = y[:3], y[3:]
        r2 = x @ x
        pull = 1.5 * 1.08263e-3 * EARTH.mu * EARTH.radius**2 / r2**2.5
        z2 = 5.0 * x[2] ** 2 / r2
        return jnp.concatenate([v, -EARTH.mu * x / r2**1.5 + pull * x * (z2 - jnp.array([1.0, 1.0, 3.0]))])

    field = top_field if case == "heavy top" else orbit_field

    scale = jnp.ones(7) if case == "heavy top" else jnp.array([7e6] * 3 + [7e3] * 3)

    def value(y: Any, inertia: Any, tolerance: Any) -> tuple[Any, Any]:
        found = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, u, args: field(t, u * scale, args) / scale), diffrax.Dopri8(), 0.0, t_end, None,
            y / scale, args=inertia, stepsize_controller=diffrax.PIDController(tolerance, tolerance),
            max_steps=200_000, adjoint=diffrax.RecursiveCheckpointAdjoint())  # fmt: skip
        u = found.ys[-1] * scale
        if case == "heavy top":
            return ((u[4:] - TARGET) ** 2).sum() + u[1] * u[2], u
        return (u[:3] ** 2).sum() * 1e-14 + u[0] * 1e-7, u

    compiled = jax.jit(jax.value_and_grad(value, argnums=(0, 1), has_aux=True))
    y = jnp.asarray(np.concatenate([START, RATE] if case == "heavy top" else [R, V]))

    def call(tolerance: float) -> tuple[Any, Any]:
        (_, u), (by_start, by_inertia) = compiled(y, jnp.asarray(INERTIA), tolerance)
        found = np.asarray(by_start)
        if case == "heavy top":
            turn = 0.5 * ph.rotation.multiply(ph.rotation.conjugate(START), found[:4])[1:]
            found = np.concatenate([turn, found[4:], np.asarray(by_inertia)])
        return np.asarray(u), found

    return call


def least(calls: list[Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter) -> list[float]:
    """Smallest time of each, in turns."""
    best = [np.inf] * len(calls)
    for call in calls:
        call()
    for _ in range(rounds):
        for k, call in enumerate(calls):
            begun = clock()
            call()
            best[k] = min(best[k], clock() - begun)
    return best


def end_of(ds: Any, case: str) -> Any:
    names = ("attitude", "angular_velocity") if case == "heavy top" else ("position", "velocity")
    return np.concatenate([ds[name].values[-1] for name in names])


def far(a: Any, b: Any, case: str) -> float:
    """How far two states are apart: rad and rad / s, or m."""
    if case == "heavy top":
        return float(
            max(2.0 * min(np.abs(a[:4] - b[:4]).max(), np.abs(a[:4] + b[:4]).max()), np.abs(a[4:] - b[4:]).max())
        )
    return float(np.linalg.norm(a[:3] - b[:3]))


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``: milliseconds of gradients of ``100`` steps, or of more, and of diffrax's that are as exact.

    Time is the processor's for the whole process: JAX computes in threads of its own.
    """
    warnings.simplefilter("ignore")
    for case, steps in COMPARED if not quick else COMPARED[:4]:
        if (steps == 100) == (words == ["100"]):
            make, name, start, h, function, wrt = CASES[case]
            system, how = make(), {"step": h, "steps": steps, **start}
            run = partial(ph.integrate, system, name, every=steps, **how)
            gradient = partial(ph.gradient, function, system, name, wrt=wrt, **how)
            exact = end_of(ph.integrate(system, name, every=steps * 8, step=h / 8, steps=steps * 8, **start), case)
            ours = far(end_of(run(), case), exact, case)
            call = by_diffrax(case, h * steps)
            for tolerance in TOLERANCES:
                u, _ = call(tolerance)
                theirs = far(u, exact, case)
                if theirs <= ours:
                    break
            spent = least([gradient, partial(call, tolerance)], 8 if quick else 25, time.process_time)
            yield Figure(f"{steps} steps of a {case}", 1e3 * spent[0], 1e3 * spent[1], (ours, theirs),
                         f"set up anew {1e3 * least([make], 20)[0]:.2f}")  # fmt: skip


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--rounds", type=int, default=5)
    given = reader.parse_args()
    peer = importlib.util.find_spec("diffrax") is not None
    print(f"{'':12s}{'steps':>8s}{'run':>10s}{'gradient':>10s}{'ratio':>7s}{'differences':>13s}", end="")
    print(f"{'error':>10s}{'diffrax':>12s}{'error':>10s}{'ratio':>7s}{'apart':>9s}" if peer else "")
    for case, (make, name, start, h, function, wrt) in CASES.items():
        for steps in (100, 1_000, 10_000, 100_000):
            system = make()
            words = {"step": h, "steps": steps, **start}

            def run(system: Any = system, name: str = name, words: Any = words) -> Any:
                return ph.integrate(system, name, every=words["steps"], **words)

            def gradient(system: Any = system, name: str = name, words: Any = words, f: Any = function,
                         wrt: Any = wrt) -> Any:  # fmt: skip
                return ph.gradient(f, system, name, wrt=wrt, **words)

            plain, whole = least([run, gradient], given.rounds)
            numbers = len(gradient().flat())
            print(f"{case:12s}{steps:8d}{plain * 1e3:7.1f} ms{whole * 1e3:7.1f} ms{whole / plain:7.1f}"
                  f"{2 * numbers * plain * 1e3:10.1f} ms", end="", flush=True)  # fmt: skip
            if peer and (case, steps) in COMPARED:
                exact = end_of(ph.integrate(system, name, every=steps * 8, step=h / 8, steps=steps * 8, **start), case)
                ours = far(end_of(run(), case), exact, case)
                call = by_diffrax(case, h * steps)
                for tolerance in TOLERANCES:
                    u, slopes = call(tolerance)
                    theirs = far(u, exact, case)
                    if theirs <= ours:
                        break
                spent = least([lambda call=call, of=tolerance: call(of)], given.rounds)[0]
                flat = gradient().flat()
                apart = np.abs(slopes - flat).max() / np.abs(flat).max()
                print(f"{ours:10.1e}{spent * 1e3:9.1f} ms{theirs:10.1e}{spent / whole:7.1f}{apart:9.0e}", end="")
            print()


if __name__ == "__main__":
    main()
