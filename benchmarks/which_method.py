"""Which method is cheapest for which problem and accuracy: the measurement behind ``System.recommended``.

    python benchmarks/which_method.py [free_body heavy_top soft_wall particle rigid_body]

For each problem and method the step is halved until the error (attitude angle or relative position at the end of the
run) is below 1e-4, 1e-7 and 1e-10; printed are wall time, best of three, relative to the cheapest, and the largest
relative energy error of that run. The reference is mkrk:gauss10 with far smaller steps, checked against mkrk:cv8.
"""

from __future__ import annotations

import sys
import time
from math import sin

import numpy as np

import polhode as ph
from polhode.runs.single import integrate

METHODS = (
    "imid", "trapm", "liemid_ea", "mkrk:rk4", "mkrk:dp5", "mkrk:cv8", "mkrk:gauss4", "mkrk:gauss6", "mkrk:gauss8",
    "mkrk:gauss6:cayley",
)  # fmt: skip
TARGETS = (1e-4, 1e-7, 1e-10)
MOST_STEPS = 400_000


def torque(t, q, omega, parameters):
    """A control torque and a load that depends on time."""
    return (
        -0.2 * omega[0] - q[1] + 0.1 * sin(t),
        -0.2 * omega[1] - q[2],
        -0.2 * omega[2] - q[3],
    )


PROBLEMS = {
    "free_body": (ph.free_body((0.9144, 1.098, 1.66)), {"angular_velocity": (0.45549, 0.82623, 0.03476)}, 50.0),
    "heavy_top": (
        ph.heavy_top((1.0, 1.5, 2.2), (0.1, 0.2, 0.9), 1.0),
        {"attitude": ph.so3.exp_quaternion((0.3, 0.1, 0.2)), "angular_momentum": (0.6, 1.0, 0.5)},
        10.0,
    ),
    "soft_wall": (ph.soft_wall(), {"angular_momentum": (2.0, 2.0, 2.0)}, 20.0),
    "particle": (ph.particle(stiffness=(1.0, 2.0, 3.0)), {"position": (1, 0, 0.5), "velocity": (0, 1, 0)}, 50.0),
    "rigid_body": (ph.rigid_body((1.0, 1.5, 2.2), torque=torque), {"angular_velocity": (0.5, 1.0, 0.3)}, 20.0),
}


def error(ds, reference) -> float:
    """Attitude angle, or relative distance, at the end."""
    if "attitude" in ds:
        return float(ph.so3.angle_between(ds.attitude.values[-1], reference.attitude.values[-1]))
    far = ds.position.values[-1] - reference.position.values[-1]
    return float(np.linalg.norm(far) / np.linalg.norm(reference.position.values[-1]))


def main() -> None:
    """Print the tables."""
    for name in sys.argv[1:] or PROBLEMS:
        system, start, t_end = PROBLEMS[name]
        fine = {"t_end": t_end, "every": 10**9, **start}
        reference = integrate(system, "mkrk:gauss10", step=t_end / 8192, **fine)
        check = error(integrate(system, "mkrk:cv8", step=t_end / 16384, **fine), reference)
        print(f"\n{name}, to t = {t_end:g} (references agree to {check:.1e})")
        found: dict[str, list[tuple[float, float] | None]] = {}
        for method in METHODS:
            row: list[tuple[float, float] | None] = []
            n = 16
            for target in TARGETS:
                while n <= MOST_STEPS:
                    try:
                        ds = integrate(system, method, step=t_end / n, **fine)
                    except ph.StepFailed:
                        n *= 2
                        continue
                    if error(ds, reference) < target:
                        break
                    n *= 2
                if n > MOST_STEPS:
                    row.append(None)
                    continue
                best = 1e9
                for _ in range(3):
                    begun = time.perf_counter()
                    run = integrate(system, method, step=t_end / n, **fine)
                    best = min(best, run.encoding.get("seconds") or time.perf_counter() - begun)
                record = integrate(system, method, step=t_end / n, t_end=t_end, **start)
                row.append((best, float(abs(record.energy_error).max())))
            found[method] = row
        print(f"{'method':<22}" + "".join(f"{f'error {target:g}':>24}" for target in TARGETS))
        cheapest = [min((r[k][0] for r in found.values() if r[k]), default=1.0) for k in range(len(TARGETS))]
        for method, row in found.items():
            cells = [f"{r[0] / c:>10.1f}x  (dH {r[1]:.0e})" if r else "-" for r, c in zip(row, cheapest, strict=True)]
            print(f"{method:<22}" + "".join(f"{cell:>24}" for cell in cells))


if __name__ == "__main__":
    main()
