"""The free rotations against plain C: nanoseconds a step of the same algorithms, in one process.

    python benchmarks/free_flows.py [--flows exact,dmv6] [--steps 0.1,1] [--repeats 15]

Needs gcc. ``free_flows.c``, built here with ``-O3 -march=native -fno-math-errno``, holds each flow as one would write
it in C for a single body. Timed are

sweep   the flow alone, many steps of one body (``drive.sweep_of``)
v2      the same in polhode's time loop as a method, ``v2/<flow>`` of a free body: the flow, two kicks by a load of
        zero that is called by pointer, the check of the state after each step
C       the flow alone

for steps h with h omega from 0.001 to 1e4, omega the initial angular speed, as far as the flow takes them. Both take
the same steps from the same states ("apart": largest difference), and differ by round-off or the script ends.
Splittings of the rotation are compared up to h omega = 1: far beyond, they are chaotic, and round-off grows within a
step.

Last, 1024 random bodies (moments from 0.3 to 1, any direction of the momentum), the exact flow, in two ways:
50 steps of one body after the other, and one step of each in turn, where no step can prepare the processor's guesses
for the next.

Every figure is the smallest of many repeats, taken in turn with those it is compared to: what disturbs a shared machine
only adds.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from polhode.kernel import drive, layout as L
from polhode.methods import method
from polhode.methods.free_flows import free_flow
from polhode.runs.integrator import Integrator
from polhode.systems import free_body

FLOWS = (
    "exact", "semiexact6", "semiexact8", "semiexact10", "semiexact6_matrix", "semiexact8_matrix", "semiexact10_matrix",
    "dmv2", "dmv6", "dmv10", "implicit_midpoint", "mr", "mr6", "symmetric", "three_rotation", "kosenko", "van_zon",
    "exact_matrix", "jacobi",
)  # fmt: skip
STEPS = (1e-3, 1e-2, 1e-1, 0.3, 1.0, 3.0, 10.0, 100.0, 1e3, 1e4)
MOMENTS = np.array([0.9144, 1.098, 1.66])
SPEED = np.array([0.45549, 0.82623, 0.03476])
WORTH = 2e-3
"""Seconds that one timing should take, so that its clock does not count."""

CHECKED = 8
ROUND_OFF = 5e-15
"""Largest difference of polhode and C in a step, per 1 + h omega: both round in another order."""

GOALS = {False: 150.0, True: 600.0}
"""Nanoseconds of the exact flow for h omega up to 1, and for any."""


def build_c(folder: Path):
    """Compile free_flows.c and load it."""
    library = folder / "free_flows.so"
    source = Path(__file__).with_name("free_flows.c")
    flags = ["-O3", "-march=native", "-fno-math-errno", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


class Bodies:
    """Bodies at rest in memory, and the two ways to turn them."""

    def __init__(self, moments, momenta):
        K = len(moments)
        self.y = np.zeros((K, 13))
        self.y[:, 6] = 1.0
        self.y[:, 10:] = momenta
        self.bodies = np.column_stack([np.ones(K), moments, np.ones(K), 1.0 / moments])
        self.step_info, self.status, self.counts = np.zeros(L.STEP_INFO), np.zeros(K, np.int64), np.zeros(K, np.int64)
        self.step_info[L.GUARDED] = 1.0

    def polhode(self, name):
        """A function (n, h) -> (seconds, states, all went well) for polhode's loop."""
        loop = drive.sweep_of(free_flow(name).build())

        def run(n, h):
            y, h = self.y.copy(), np.broadcast_to(h, len(self.y)).copy()
            begun = time.perf_counter()
            loop(n, h, y, self.bodies, self.step_info, self.status, self.counts)
            return time.perf_counter() - begun, y, not self.status.any()

        return run

    def plain(self, function):
        """The same for a function of the C library."""
        address = [a.ctypes.data_as(ctypes.c_void_p) for a in (self.bodies, self.status)]

        def run(n, h):
            y, h = self.y.copy(), np.broadcast_to(h, len(self.y)).copy()
            state, step = y.ctypes.data_as(ctypes.c_void_p), h.ctypes.data_as(ctypes.c_void_p)
            begun = time.perf_counter()
            function(ctypes.c_long(n), ctypes.c_long(len(y)), step, state, *address)
            return time.perf_counter() - begun, y, not self.status.any()

        return run


def method_loop(name, start):
    """A method on the free body, as ``Bodies.polhode``."""
    integrator = Integrator(free_body(MOMENTS), method(name), start)

    def run(n, h):
        integrator.y[:] = start
        begun = time.perf_counter()
        status = integrator.march(0, n, n + 1, 0.0, h)
        return time.perf_counter() - begun, integrator.y, status == L.OK

    return run


def fastest(runs, h, repeats):
    """Nanoseconds a step of each run, the smallest of the repeats, taken in turn; None where a step is refused."""
    counts = []
    for run in runs:
        n, seconds = 1000, 0.0
        while seconds < 0.2 * WORTH:
            n *= 4
            if not run(n, h)[2]:
                return None
            seconds = min(run(n, h)[0] for _ in range(3))
        counts.append(max(1, int(n * WORTH / seconds)))
    best = [np.inf] * len(runs)
    for _ in range(repeats):
        for k, (run, n) in enumerate(zip(runs, counts, strict=True)):
            best[k] = min(best[k], run(n, h)[0] / n)
    return [1e9 * b for b in best]


def agree(one, ours, theirs, angle, h):
    """Largest difference of both after a step, over some steps that start from polhode's states.

    Raises
    ------
    SystemExit
        When it is more than round-off.
    """
    begun, apart = one.y.copy(), 0.0
    for _ in range(CHECKED):
        a, b = ours(1, h)[1], theirs(1, h)[1]
        b[:, 6:10] *= np.sign((a[:, 6:10] * b[:, 6:10]).sum(axis=1))[:, None]
        apart = max(apart, float(np.abs(a - b).max()))
        one.y[:] = a
    one.y[:] = begun
    if not apart <= ROUND_OFF * (1.0 + angle):
        raise SystemExit(f"polhode and C differ by {apart:.1e} in a step of {angle:g} rad: not one algorithm")
    return apart


def random_bodies(count):
    """Moments, and momenta of angular speed 1."""
    rng = np.random.default_rng(1)
    moments = rng.uniform(0.3, 1.0, (count, 3))
    momenta = rng.normal(size=(count, 3))
    return moments, momenta / np.linalg.norm(momenta / moments, axis=1)[:, None]


def main() -> None:
    """Print the tables."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--flows", default=",".join(FLOWS))
    words.add_argument("--steps", default=",".join(map(str, STEPS)))
    words.add_argument("--repeats", type=int, default=15)
    given = words.parse_args()
    steps = [float(word) for word in given.steps.split(",")]
    one = Bodies(MOMENTS[None], (MOMENTS * SPEED)[None])
    omega = float(np.linalg.norm(SPEED))
    head = f"{'h omega':>9}{'sweep ns':>10}{'v2 ns':>8}{'C ns':>8}{'sweep/C':>9}{'v2/C':>7}{'apart':>9}"
    worst: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        c = build_c(Path(folder))
        for name in given.flows.split(","):
            runs = (one.polhode(name), method_loop(f"v2/{name}", one.y[0]), one.plain(getattr(c, name)))
            print(f"\n{name}\n{head}" + (f"{'goal':>7}" if name == "exact" else ""))
            for angle in steps:
                h = angle / omega
                found = fastest(runs, h, given.repeats)
                if found is None:
                    print(f"{angle:>9g}  refused: beyond the range of the flow")
                    continue
                comparable = free_flow(name).keeps_energy or angle <= 1.0
                apart = f"{agree(one, runs[0], runs[2], angle, h):9.0e}" if comparable else f"{'-':>9}"
                sweep, loop, plain = found
                worst[name] = max(worst.get(name, 0.0), sweep / plain)
                goal = f"{GOALS[angle > 1.0]:>7.0f}" if name == "exact" else ""
                print(
                    f"{angle:>9g}{sweep:>10.0f}{loop:>8.0f}{plain:>8.0f}{sweep / plain:>9.2f}{loop / plain:>7.2f}"
                    f"{apart}{goal}",
                    flush=True,
                )
        print("\nlargest sweep/C:  " + "  ".join(f"{name} {ratio:.2f}" for name, ratio in worst.items()))
        many = Bodies(*random_bodies(1024))
        runs = (many.polhode("exact"), many.plain(c.exact))
        print(
            f"\nexact, mean over 1024 random bodies\n{'':>9}{'one after the other':>27}{'one step of each in turn':>28}"
        )
        print(
            f"{'h omega':>9}{'sweep ns':>11}{'C ns':>8}{'ratio':>8}{'sweep ns':>12}{'C ns':>8}{'ratio':>8}{'goal':>7}"
        )
        for angle in steps:
            cells = []
            for n in (50, 1):
                pairs = [[run(n, angle)[0] for run in runs] for _ in range(given.repeats)]
                ours, theirs = (min(column) / (1024e-9 * n) for column in zip(*pairs, strict=True))
                cells += [ours, theirs, ours / theirs]
            a, b, ab, d, e, de = cells
            print(
                f"{angle:>9g}{a:>11.0f}{b:>8.0f}{ab:>8.2f}{d:>12.0f}{e:>8.0f}{de:>8.2f}{GOALS[angle > 1.0]:>7.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
