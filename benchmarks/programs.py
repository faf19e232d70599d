"""Loads derived from potentials against loads written by hand: time to derive and compile them, nanoseconds a call.

    python benchmarks/programs.py [repeats]

Each potential is a plain function; its loads, its commutator loads and its Taylor series follow from it. Calls are
timed in a compiled loop, derived and written ones in turn, the smallest of the repeats. Kernels are compiled in an
empty cache.
"""

from __future__ import annotations

import functools
import os
import sys
import tempfile
import time

os.environ["POLHODE_CACHE_DIR"] = tempfile.mkdtemp(prefix="polhode-benchmark-")

import numpy as np

import polhode as ph
from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.kernel import jit, layout as L
from polhode.kernel.signatures import A1, LOADS, function_type, i8, void
from polhode.programs.parts import commutator_of
from polhode.programs.potentials import loads_of, text
from polhode.programs.series_role import HEAD, SCALE, series_of_motion, series_role
from polhode.programs.trace import trace
from polhode.programs.written import module_of

CALLS = 20_000
ORDER = 20
MU, RADIUS = 398600.4418, 6378.137
J = (1.08262668e-3, -2.53266e-6, -1.61962e-6, -2.27296e-7, 5.40681e-7)


# ------------------------------------------------------------------ potentials as a user writes them
def top(q, p):
    """Weight times height."""
    return p[0] * np.dot(p[1:4], rotate_inverse(q, (0.0, 0.0, 1.0)))


def near(q, p, I):
    """Gravity gradient of a distant centre."""
    u = np.array(rotate_inverse(q, (0.0, 0.0, 1.0)))
    return 0.5 * p[0] * np.dot(u, I * u)


def wall(q, p):
    """Krysl's soft wall."""
    d = 1.1 + rotate(q, p[1:4])[2]
    return p[0] * (1.0 / d - 0.001 * d**-10)


def zonal(degree):
    """Gravity of a centre with zonal harmonics up to a degree, of a body of mass 1."""

    def potential(r, p):
        size = np.linalg.norm(r)
        s, ratio = r[2] / size, p[1] / size
        before, now, power, total = s, 1.5 * s * s - 0.5, ratio * ratio, 1.0
        for n in range(2, degree + 1):
            total = total - p[n] * power * now
            before, now = now, ((2 * n + 1) * s * now - n * before) / (n + 1)
            power = power * ratio
        return -p[0] / size * total

    return potential


def craft(r, q, p, I, mass):
    """Gravity and its gradient on a spacecraft."""
    n = np.array(rotate_inverse(q, r))
    square = np.dot(r, r)
    D = np.array([I[0] - I[2], I[1] - I[2], 0.0])
    tide = 0.5 * p[0] / (square * np.sqrt(square)) * (D[0] + D[1] - 3.0 * np.dot(n, D * n) / square)
    return -p[0] * mass / np.sqrt(square) - tide


def orbit_with(degree):
    return ph.orbit(MU, forces=[ph.forces.zonal(radius=RADIUS, **{f"J{n}": J[n - 2] for n in range(2, degree + 1)})])


TURNING = {"q": "attitude", "p": 4}
CASES = {
    "top": (top, TURNING, ("", "q"), lambda: ph.heavy_top((5, 4, 1.5), (0.1, 0.2, 1.0), 20.0), (20.0, 0.1, 0.2, 1.0)),
    "satellite": (near, {"q": "attitude", "p": 1, "I": 3}, ("", "q"),
                  lambda: ph.systems.gravity_gradient((5, 4, 1.5), 2.0, 1.7), (6.0 / 1.7**3,)),
    "soft wall": (wall, TURNING, ("", "q"), lambda: ph.systems.soft_wall((5, 4, 1.5)), (1.0, 0.0, 0.0, 1.0)),
    "J2": (zonal(2), {"r": 3, "p": 3}, ("r", ""), lambda: orbit_with(2), (MU, RADIUS, *J[:1])),
    "J2 to J6": (zonal(6), {"r": 3, "p": 7}, ("r", ""), lambda: orbit_with(6), (MU, RADIUS, *J)),
    "spacecraft": (craft, {"r": 3, "q": "attitude", "p": 1, "I": 3, "mass0": 0}, ("r", "q"),
                   lambda: ph.spacecraft((90e-6, 70e-6, 60e-6), MU, mass=120.0), (MU,)),
}  # fmt: skip


def calls(role, part, times, y, bodies, parameters, out):
    """A role called a number of times."""
    for _ in range(times):
        role(part, 0.0, 1, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(out))


def fastest(functions, repeats):
    """Seconds of each function, in turn, the smallest of the repeats."""
    best = [np.inf] * len(functions)
    for _ in range(repeats):
        for k, function in enumerate(functions):
            begin = time.perf_counter()
            function()
            best[k] = min(best[k], time.perf_counter() - begin)
    return best


def derived(program, moves, turns):
    """The module of the loads of a potential and of their commutator."""
    g, (potential,) = program.graph, program.outputs
    loads = loads_of(g, potential, moves, turns)
    return module_of(text(g, {"loads": loads, "commutator": commutator_of(g, loads, turns)}, False))


def main(repeats: int) -> None:
    loop = jit.compile_kernel(calls, void(function_type(LOADS), i8, i8, *[A1] * 4))
    print(f"{'':10}  derive  compile | loads ns: derived written | commutator: derived written | largest difference")
    for name, (function, arguments, (r, q), make, numbers) in CASES.items():
        begin = time.perf_counter()
        roles = derived(trace(function, arguments, ()), [bool(r)], [[bool(q)] * 3])
        middle = time.perf_counter()
        kernels = [jit.compile_kernel(role, LOADS) for role in (roles.loads, roles.commutator)]
        end = time.perf_counter()
        system, y = make(), np.zeros(L.BODY)
        y[:6], y[6:10], y[10:] = (4000.0, -3000.0, 4500.0, 1.0, 2.0, 3.0), (0.5, 0.1, 0.7, 0.5), (0.1, 0.2, 0.3)
        bodies, parameters = np.array(system.bodies), np.array(numbers)
        hand = system.compiled_loads(0.0, y)
        out = [np.zeros(40) for _ in range(4)]
        todo = [functools.partial(loop, kernels[k], L.ALL, CALLS, y, bodies, parameters, out[k]) for k in (0, 1)] + [
            functools.partial(loop, hand, part, CALLS, y, bodies, np.array(system.with_memory), out[k])
            for k, part in ((2, L.ALL), (3, L.COMMUTATOR))
        ]
        has = "commutator" in system.provides
        best = fastest(todo[: 3 + has], repeats)
        ns = [f"{1e9 * x / CALLS:.1f}" for x in best] + ["none"] * (not has)
        turn = slice(3, 6) if q else slice(0, 3)
        differences = [
            np.abs(out[k][turn] - out[k + 2][turn]).max() / np.abs(out[k + 2][turn]).max() for k in range(1 + has)
        ]
        print(
            f"{name:10} {middle - begin:7.3f} {end - middle:8.2f} | {ns[0]:>17} {ns[2]:>7} | {ns[1]:>19} {ns[3]:>7} | "
            + " ".join(f"{x:.1e}" for x in differences)
        )
    print(f"\n{'':10}  derive  compile products | Taylor coefficients to order {ORDER}, ns")
    for name, (function, arguments, (r, q), make, numbers) in CASES.items():
        begin = time.perf_counter()
        program = trace(function, arguments, ())
        g, (potential,) = program.graph, program.outputs
        loads = loads_of(g, potential, [bool(r)], [[bool(q)] * 3])
        given = g, 1, loads.force, loads.torque, (), (bool(r),), (bool(q),)
        role = series_role(*given)
        middle = time.perf_counter()
        kernel = jit.compile_kernel(role.function, LOADS)
        end = time.perf_counter()
        y, work = np.linspace(0.5, 0.9, L.BODY), np.zeros(role.size)
        work[SCALE] = 0.05
        (best,) = fastest(
            [functools.partial(loop, kernel, ORDER, 1000, y, np.array(make().bodies), np.array(numbers), work)], repeats
        )
        assert np.isfinite(work[HEAD:]).all()
        print(f"{name:10} {middle - begin:7.3f} {end - middle:8.2f} {len(series_of_motion(*given)[1].slots):8} | "
              f"{1e6 * best:.0f}")  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
