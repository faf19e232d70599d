"""What a call costs beside its kernels: microseconds of ``integrate``, of new systems and of prepared runs.

    python benchmarks/calls.py [--repeats 300] [--profile integrate|new|prepared] [--kind top]

Runs of ten steps, so short that the loop itself counts for nothing. Each figure is the least of all repeats, measured
in turns in one process, so that no call finds the caches of the processor full of its own. ``loop`` is the ten steps
alone, ``xarray`` the time that ``xarray.Dataset`` takes for the same variables, a measure of the machine.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import sys
import time

import numpy as np
import xarray as xr

import polhode as ph
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
    bench = prepared._idle[0][1]
    integrator = bench.integrator
    rows, counts = np.empty((10, integrator.y.size)), np.zeros(10, dtype=np.int64)
    begun = prepared.run(start).states[0].copy()

    def loop(_):
        integrator.y[:] = begun
        integrator.march(0, 10, 1, 0.0, bench.h, rows, counts)

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
