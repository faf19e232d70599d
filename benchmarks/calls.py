"""What a call costs beside its kernels: microseconds of ``integrate``, of new systems and of prepared runs.

    python benchmarks/calls.py [--repeats 300] [--profile integrate|new|prepared] [--kind top]

Runs of ten steps, so short that the loop itself counts for nothing. Each figure is the least of all repeats, measured
in turns in one process, so that no call finds the caches of the processor full of its own. ``loop`` is the ten steps
alone, ``xarray`` the time that ``xarray.Dataset`` takes for the same variables, a measure of the machine.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import os
import pstats
import resource
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import xarray as xr

import polhode as ph
from figure import Figure, in_turns
from polhode.bodies.inertia import principal, principal_of_many

SPIN = {"angular_velocity": (0.1, 0.2, 3.0)}
ORBIT = {"position": (7.0e6, 0.0, 0.0), "velocity": (0.0, 7500.0, 100.0)}
MU = 3.986004415e14
TENSOR = np.array([[3.0, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 2.5]])


def braked(t, q, omega, parameters):
    """A torque of a user's."""
    return (-parameters[0] * omega[0], 0.0, 0.0)


def zonal(k):
    """Oblateness of the Earth."""
    return ph.forces.zonal(radius=6.378e6, J2=1.08e-3 * k)


# Name: how a system of the kind is built from a number near 1, method, step, start, and the number as a parameter.
KINDS = {
    "free body": (lambda k: ph.free_body((1, 2, 2.5 * k)), "exact", 0.1, SPIN, None),
    "free tensor": (lambda k: ph.free_body(k * TENSOR), "exact", 0.1, SPIN, None),
    "top": (lambda k: ph.heavy_top((5, 5, 1), (0, 0, 1), 20 * k), "v2", 0.01, SPIN, lambda k: {"weight": 20 * k}),
    "user's torque": (
        lambda k: ph.rigid_body((1, 2, 2.5), torque=braked, parameters=[0.1 * k]), "v2", 0.01, SPIN,
        lambda k: [0.1 * k],
    ),
    "J2 orbit": (
        lambda k: ph.orbit(MU * k, forces=[zonal(1.0)]), "rkn6_14a/kepler", 10.0, ORBIT, lambda k: {"mu": MU * k},
    ),
    "spacecraft": (
        lambda k: ph.spacecraft((10, 20, 25 * k), MU, mass=100.0), "rkn6_14a/kepler", 1.0, ORBIT | SPIN,
        lambda k: {"mu": MU * k},
    ),
}  # fmt: skip
COLUMNS = (
    "integrate",
    "build",
    "new + integrate",
    "parameters=",
    "prepared",
    "with parameters",
    "loop",
    "Dataset",
    "xarray",
)


def cases(kind):
    """What is timed of a kind, by column; each takes a number near 1."""
    build, method, step, start, parameter = KINDS[kind]
    system, how = build(1.0), {"step": step, "steps": 10}
    prepared = ph.prepare(system, method, **how)
    prepared.run(start)
    ds = ph.integrate(system, method, **how, **start)
    bench = prepared._idle[0]
    integrator = bench.integrator
    rows, counts = np.empty((10, integrator.y.size)), np.zeros(10, dtype=np.int64)
    begun = prepared.run(start).states[0].copy()

    def loop(_):
        integrator.y[:] = begun
        integrator.march(0, 10, 1, 0.0, bench.run.h, rows, counts)

    variables = {name: (one.dims, one.values, one.attrs) for name, one in ds.data_vars.items()}
    coordinates = {name: (one.dims, one.values, one.attrs) for name, one in ds.coords.items()}
    return {
        "integrate": lambda _: ph.integrate(system, method, **how, **start),
        "build": build,
        "new + integrate": lambda k: ph.integrate(build(k), method, **how, **start),
        "parameters=": parameter and (lambda k: ph.integrate(system, method, **how, **start, parameters=parameter(k))),
        "prepared": lambda _: prepared.run(start),
        "with parameters": parameter and (lambda k: prepared.run(start, parameters=parameter(k))),
        "loop": loop,
        "Dataset": lambda _: prepared.dataset(start),
        "xarray": lambda _: xr.Dataset(variables, coordinates, ds.attrs),
    }


def least(cases, repeats):
    """Microseconds of each of some functions, taken in turns."""
    found, rng = dict.fromkeys(cases, float("inf")), np.random.default_rng(1)
    for _ in range(repeats):
        k = float(rng.uniform(1.0, 1.01))
        for name, call in cases.items():
            if call is not None:
                begun = time.perf_counter()
                call(k)
                found[name] = min(found[name], 1e6 * (time.perf_counter() - begun))
    return found


def closures(quick):
    """Milliseconds and kB of memory of a run whose function closes over another number than those before."""

    def torque_of(k):
        def torque(t, q, omega, parameters):
            return (-k * omega[0], -k * omega[1], -0.3 * k * omega[2])

        return torque

    def potential_of(k):
        def potential(t, q, parameters):
            return k * (1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2))

        return potential

    kinds = {"torque": (torque_of, ph.rigid_body), "potential": (potential_of, ph.rigid_body)}
    held = Path("/proc/self/statm")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["POLHODE_CACHE_DIR"] = folder
        for kind, (made, build) in kinds.items():

            def run(k, kind=kind, made=made, build=build):
                begun = time.thread_time()
                ph.integrate(build((1, 2, 2.5), **{kind: made(float(k))}), "v2", step=0.01, steps=10, **SPIN)
                return time.thread_time() - begun

            numbers = np.random.default_rng(1).uniform(1.0, 2.0, 70 if quick else 150)
            for k in numbers[:20]:
                run(k)
            gc.collect()
            before = int(held.read_text().split()[1])
            spent = [run(k) for k in numbers[20:]]
            gc.collect()
            grown = (int(held.read_text().split()[1]) - before) * resource.getpagesize() / 1e3 / len(spent)
            yield Figure(f"closure, ms, {kind}", 1e3 * min(spent), note=f"median {1e3 * np.median(spent):.2f}")
            yield Figure(f"closure, kB, {kind}", max(grown, 0.0))


def conics(quick):
    """Microseconds of single motions: Kepler's, and Poinsot's of many bodies."""
    r, v = np.array(ORBIT["position"]), np.array(ORBIT["velocity"])
    times, rng = np.linspace(0.0, 86400.0, 1441), np.random.default_rng(0)
    moments, m = 1.0 + 0.3 * rng.random((10_000, 3)), np.array([1.0, 2.0, 3.0])
    tensors = np.repeat(TENSOR[None], 10_000, axis=0) * np.linspace(1.0, 2.0, 10_000)[:, None, None]
    found = in_turns(
        {
            "one state": lambda: ph.kepler.propagate(r, v, 100.0, MU),
            "1,441 times": lambda: ph.kepler.propagate(r, v, times, MU),
        },
        100 if quick else 1000,
        time.perf_counter,
    )
    found |= in_turns(
        {
            "10,000 moments": lambda: ph.free_motion(moments, m, 1.0),
            "10,000 tensors": lambda: ph.free_motion(tensors, m, 1.0),
        },
        10 if quick else 30,
    )
    for name, seconds in found.items():
        yield Figure(name, 1e6 * seconds)


def builds(quick):
    """Microseconds of new spacecraft."""
    wheels = ph.reaction_wheels(np.eye(3), 2e-3, speed=(100.0, -150.0, 120.0))
    tensor, near = (10.0, 20.0, 25.0), iter(MU * np.random.default_rng(1).uniform(1.0, 1.01, 3000))
    found = in_turns(
        {
            "spacecraft": lambda: ph.spacecraft(tensor, next(near), mass=100.0),
            "with wheels": lambda: ph.spacecraft(tensor, next(near), mass=100.0, wheels=wheels),
        },
        100 if quick else 1000,
        time.perf_counter,
    )
    for name, seconds in found.items():
        yield Figure(f"build, {name}", 1e6 * seconds)


def threads(quick):
    """Two threads of one prepared run, each with its starts, over one thread that does half of them."""
    build, method, _, start, _ = KINDS["top"]
    prepared = ph.prepare(build(1.0), method, step=0.01, steps=20_000, every=20_000)

    def work():
        for _ in range(3):
            prepared.run(start)

    def both():
        others = [threading.Thread(target=work) for _ in range(2)]
        for one in others:
            one.start()
        for one in others:
            one.join()

    found = in_turns({"one": work, "both": both}, 20 if quick else 100, time.perf_counter)
    yield Figure("two threads", found["both"] / found["one"], note=f"{1e3 * found['one']:.1f} ms by one")


def molecules(quick):
    """Of 1,000 molecules of water: what a call costs beside its steps, in steps; milliseconds of a step. Starts differ
    a little, as loads of the last states are kept."""
    n = 1000
    system = ph.rigid_water(n, density=997.0)
    cells = round(np.ceil(n ** (1 / 3)))
    start = {
        "position": ph.initial.cubic(cells, spacing=float(system.box[0]) / cells, noise=0.02, seed=1).state["position"],
        **ph.initial.random_rotations(n, seed=2),
    }
    warm = ph.integrate(
        system, ph.methods.baoab(temperature=300.0, friction=20.0, seed=3), step=0.001, steps=500, every=500, **start
    )
    start = {name: warm[name].values[-1] for name in ("position", "attitude", "momentum", "angular_momentum")}
    few, many = 1, 41

    def run(steps):
        def call():
            start["position"][0] += 1e-13
            return ph.integrate(system, "v2", step=1e-3, steps=steps, every=steps, settings={"threads": 1}, **start)

        return call

    found = in_turns({"few": run(few), "many": run(many)}, 5 if quick else 15)
    step = (found["many"] - found["few"]) / (many - few)
    yield Figure("fixed part, steps", found["few"] / step - few, note=f"{1e3 * step:.2f} ms a step")
    yield Figure("water, ms a step", 1e3 * step, note="1,000 molecules, one thread, lists included")


def figures(words, quick):
    """For ``all.py``: of ``short``, ``conics``, ``builds``, ``closures``, ``threads`` or ``molecules``."""
    if words != ["short"]:
        yield from {"conics": conics, "builds": builds, "closures": closures, "threads": threads,
                    "molecules": molecules}[words[0]](quick)  # fmt: skip
        return
    for kind in KINDS:
        found = least(cases(kind), 60 if quick else 300)
        build, method, step, start, _ = KINDS[kind]
        call = partial(ph.integrate, build(1.0), method, step=step, steps=10, **start)
        again = in_turns({"": call}, 300, time.perf_counter)[""]
        yield Figure(f"integrate, {kind}", found["integrate"], note=f"called again and again {1e6 * again:.0f}")
        yield Figure(f"beyond the loop, {kind}", found["prepared"] - found["loop"])


def profile(kind, column, repeats):
    """The profile of a column: Python functions that it calls, and where its time goes."""
    call, rng = cases(kind)[column], np.random.default_rng(1)
    call(1.0)
    watch = cProfile.Profile()
    for _ in range(repeats):
        k = float(rng.uniform(1.0, 1.01))
        watch.enable()
        call(k)
        watch.disable()
    stats = pstats.Stats(watch)
    print(f"{kind}, {column}: {stats.total_calls / repeats:.0f} calls of functions a call")  # type: ignore[attr-defined]
    stats.sort_stats("cumulative").print_stats(40)


def main():
    """Print the table, or a profile."""
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--repeats", type=int, default=300)
    words.add_argument("--profile", choices=["integrate", "new", "prepared"])
    words.add_argument("--kind", choices=KINDS, default="top")
    asked = words.parse_args()
    if asked.profile:
        column = {"new": "new + integrate"}.get(asked.profile, asked.profile)
        profile(asked.kind, column, asked.repeats)
        return
    print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}, xarray {xr.__version__}; least microseconds")
    print(" " * 14 + "".join(f"{name:>17}" for name in COLUMNS))
    for kind in KINDS:
        found = least(cases(kind), asked.repeats)
        print(f"{kind:14}" + "".join(f"{x:17.1f}" if x < 1e9 else " " * 16 + "-" for x in map(found.get, COLUMNS)))
    many = np.repeat(TENSOR[None], 10_000, axis=0) * np.linspace(1.0, 2.0, 10_000)[:, None, None]
    told = least({"one": lambda _: principal(TENSOR), "many": lambda _: principal_of_many(many)}, 20)
    print(f"principal axes: {told['one']:.1f} us of one tensor, {told['many'] / 10_000:.2f} us each of 10,000")


if __name__ == "__main__":
    main()
