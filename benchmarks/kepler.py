"""The motion about a centre: nanoseconds a call against C, errors against 80 digits, round-off in long runs.

    python benchmarks/kepler.py [--draws 1000] [--steps 1000000] [--repeats 9] [--skip speed,errors,energy]

speed   one point stepped again and again, and 4096 points one step each in turn, where no step prepares the processor's
        guesses for the next; ``kepler.c`` beside it, the same algorithm with the processor's fma. A ratio needs gcc.
errors  draws of every conic and of falls to the centre, against the classical equations in 80 digits
        (``tests/oracles/kepler_draws.py``), in units of the change that relative changes of 2^-52 in the data make.
energy  16 points each, steps of a fraction of the period: root mean square of the relative change of the energy and
        of the angular momentum, and the power of the number of steps with which they grow (a random walk has 0.5).

Every time is the smallest of many repeats.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from polhode.algebra import series
from polhode.flows.drift import kepler_drift
from polhode.kernel import drive, layout as L

MU, RADIUS = 3200.9998, 1664.029
ECCENTRICITIES = (0.0, 0.01, 0.25, 0.7, 0.95, 0.999, 1.0, 1.5)
FRACTIONS = (1e-3, 0.01, 0.05, 0.2, 0.37, 1.7, 100.3)
GOAL = 500.0


def drift(i, h, p):
    """The flow with its centre bound."""
    return kepler_drift(i, h, MU, p)


def points(e, count, seed=0):
    """States on conics of periapsis RADIUS, and the time in which an ellipse closes (others: that of a circle)."""
    rng = np.random.default_rng(seed)
    y = np.zeros((count, 13))
    p = RADIUS * (1.0 + e)
    for row in y:
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        if e < 1.0:
            E = rng.uniform(-np.pi, np.pi)
            nu = 2.0 * np.arctan2(np.sqrt(1 + e) * np.sin(E / 2), np.sqrt(1 - e) * np.cos(E / 2))
        else:
            nu = rng.uniform(-0.8, 0.8) * np.arccos(-1.0 / e)
        r = p / (1.0 + e * np.cos(nu))
        row[:3] = axes @ (r * np.array([np.cos(nu), np.sin(nu), 0.0]))
        row[3:6] = axes @ (np.sqrt(MU / p) * np.array([-np.sin(nu), e + np.cos(nu), 0.0]))
    a = RADIUS / (1.0 - e) if e < 1.0 else RADIUS
    return y, 2.0 * np.pi * np.sqrt(a**3 / MU)


def ours(n, h, y):
    """n steps of every point; the seconds they took."""
    K = len(y)
    bodies = np.ones((K, 8))
    status, counts, h = np.zeros(K, np.int64), np.zeros(K, np.int64), np.full(K, h)
    begun = time.perf_counter()
    drive.sweep_of(drift)(n, h, y, bodies, np.zeros(L.STEP_INFO), status, counts)
    seconds = time.perf_counter() - begun
    if status.any():
        raise SystemExit(f"a step failed with status {status.max()}")
    return seconds


def build_c(folder: Path):
    """The same steps in C, or None without gcc."""
    if shutil.which("gcc") is None:
        return None
    tables = {"SINE": series.SINE, "COSINE": series.COSINE, "CUBIC": series.CUBIC}
    lines = [f"static const double {name}[] = {{{', '.join(map(repr, row))}}};" for name, row in tables.items()]
    (folder / "series.h").write_text("\n".join(lines))
    library = folder / "kepler.so"
    source = Path(__file__).with_name("kepler.c")
    flags = ["-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC", f"-I{folder}"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    function = ctypes.CDLL(str(library)).steps

    def theirs(n, h, y):
        status, h = np.zeros(len(y), np.int64), np.full(len(y), h)
        address = [a.ctypes.data_as(ctypes.c_void_p) for a in (h, y, status)]
        begun = time.perf_counter()
        function(ctypes.c_long(n), ctypes.c_long(len(y)), address[0], ctypes.c_double(MU), *address[1:])
        seconds = time.perf_counter() - begun
        if status.any():
            raise SystemExit(f"a step in C failed with status {status.max()}")
        return seconds

    return theirs


def speed(repeats: int) -> None:
    """Print nanoseconds a call."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [run for run in (ours, build_c(Path(folder))) if run]
        one, many = points(0.3, 1)[0], points(0.3, 64)[0]
        if len(runs) == 2:
            other = many.copy()
            runs[0](3, 900.0, many)
            runs[1](3, 900.0, other)
            apart = np.abs(many[:, :6] / other[:, :6] - 1.0).max()
            if not apart < 1e-11:
                raise SystemExit(f"polhode and C differ by {apart:.1e}: not one algorithm")
        print(
            f"{'e':>6}{'period':>8}{'one ns':>8}{'in turn':>9}"
            + (f"{'C ns':>8}{'in turn':>9}{'ratio':>7}" if runs[1:] else "")
        )
        slowest = 0.0
        for e in ECCENTRICITIES:
            for fraction in FRACTIONS:
                one, period = points(e, 1)
                many, _ = points(e, 4096)
                best = np.full((len(runs), 2), np.inf)
                for _ in range(repeats):
                    for k, run in enumerate(runs):
                        if e < 1.0:
                            best[k, 0] = min(best[k, 0], run(4000, fraction * period, one.copy()) / 4000)
                        best[k, 1] = min(best[k, 1], run(1, fraction * period, many.copy()) / 4096)
                cells = [f"{1e9 * x:>8.0f}" if x < np.inf else f"{'-':>8}" for x in best[0]]
                line = f"{e:>6g}{fraction:>8g}{cells[0]}{cells[1]:>9}"
                if runs[1:]:
                    cells = [f"{1e9 * x:>8.0f}" if x < np.inf else f"{'-':>8}" for x in best[1]]
                    line += f"{cells[0]}{cells[1]:>9}{best[0, 1] / best[1, 1]:>7.2f}"
                slowest = max(slowest, *(1e9 * x for x in best[0] if x < np.inf))
                print(line, flush=True)
        print(f"slowest {slowest:.0f} ns, goal {GOAL:.0f}")


def errors(draws: int) -> None:
    """Print percentiles of the errors."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "oracles"))
    from kepler_draws import draw, excess, fall

    for name, source in (("conics", draw), ("falls", fall)):
        rng = np.random.default_rng(0)
        found = [excess(*source(rng)) for _ in range(draws)]
        median, most, nearly, worst = np.percentile(found, [50, 90, 99, 100])
        print(
            f"{name:>8}: median {median:.3f}, 90 % {most:.2f}, 99 % {nearly:.2f}, largest {worst:.2f} of {draws}",
            flush=True,
        )


def invariants(y):
    """Energy and angular momentum in long double."""
    y = y.astype(np.longdouble)
    r, v = y[:, :3], y[:, 3:6]
    energy = 0.5 * (v * v).sum(axis=1) - np.longdouble(MU) / np.sqrt((r * r).sum(axis=1))
    return energy, np.sqrt((np.cross(r, v) ** 2).sum(axis=1))


def energy(steps: int) -> None:
    """Print how round-off grows."""
    print(f"{'e':>6}{'period':>8}{'energy':>10}{'power':>7}{'momentum':>10}{'power':>7}   after {steps} steps")
    for e in (0.0, 0.25, 0.7, 0.9, 0.97, 0.995):
        for fraction in (0.001, 1 / 97.3, 0.05, 0.2, 0.313):
            y, period = points(e, 16, seed=3)
            begun, sizes, done = invariants(y), [], 0
            for n in (steps // 1000, steps):
                ours(n - done, fraction * period, y)
                done = n
                pairs = zip(invariants(y), begun, strict=True)
                sizes.append([float(np.sqrt(np.mean((a / b - 1) ** 2))) for a, b in pairs])
            (a, b), (c, d) = sizes
            powers = np.log10([c / a, d / b]) / 3.0
            print(f"{e:>6g}{fraction:>8.4f}{c:>10.1e}{powers[0]:>7.2f}{d:>10.1e}{powers[1]:>7.2f}", flush=True)


def main() -> None:
    """Print the tables."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--draws", type=int, default=1000)
    words.add_argument("--steps", type=int, default=1_000_000)
    words.add_argument("--repeats", type=int, default=9)
    words.add_argument("--skip", default="")
    given = words.parse_args()
    for name, run, size in (
        ("speed", speed, given.repeats),
        ("errors", errors, given.draws),
        ("energy", energy, given.steps),
    ):
        if name not in given.skip.split(","):
            print(f"\n{name}")
            run(size)


if __name__ == "__main__":
    main()
