"""The engine against plain C: nanoseconds a step and their ratio, interleaved in one process.

    python benchmarks/engine.py [repeats]

Needs gcc. Three steps written for polhode's time loop (a free splitting, a Strang top with a user torque, the implicit
midpoint top with the same torque) run against ``engine.c`` built here with ``-O3 -march=native``. The torque is a
function the engine does not know when it compiles the step, so C is timed twice: with the torque in the same file,
where gcc inlines it, and through a function pointer, which is what any engine with user torques has to do.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from polhode.algebra.so3 import exp_quaternion
from polhode.flows import rotors
from polhode.flows.kick import kick
from polhode.kernel import drive, jit, layout as L
from polhode.methods import method
from polhode.systems import free_body, rigid_body

STEPS = 200_000
GOALS = {"free splitting": 1.3, "Strang top": 1.2, "implicit midpoint top": 1.0}


turn = jit.helper(rotors.turn_symmetric)


def free_splitting(t, h, p):
    """Free rotation by exact rotations."""
    return turn(0, h, p)


def strang_top(t, h, p):
    """Kick, free rotation, kick."""
    kick(t, 0.5 * h, p)
    turn(0, h, p)
    kick(t + h, 0.5 * h, p)
    return L.OK


def torque(t, q, omega, parameters):
    """Weight of a symmetric top, as a user would write it."""
    return (
        2.0 * parameters[0] * (q[2] * q[3] + q[0] * q[1]),
        -2.0 * parameters[0] * (q[1] * q[3] - q[0] * q[2]),
        0.0,
    )


def build_c(folder: Path):
    """Compile engine.c and load it."""
    library = folder / "engine.so"
    source = Path(__file__).with_name("engine.c")
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    c = ctypes.CDLL(str(library))
    c.torque_address.restype = ctypes.c_void_p
    return c


def pointer(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


class Polhode:
    """One step in polhode's loop."""

    def __init__(self, step, system, start):
        self.system, self.loop = system, drive.loop_for(step)
        self.y = np.zeros(13)
        self.y[6:10], self.y[10:13] = start[3:], start[:3]
        self.loads = system.compiled_loads(0.0, self.y)
        self.step_info = np.zeros(L.STEP_INFO)
        self.arrays = (
            system.bodies, system.with_memory, np.zeros(1), np.zeros(1, np.int64), system.blocks, np.zeros(13),
            np.zeros(6), np.zeros(64), self.step_info,
        )  # fmt: skip
        self.addresses = jit.addresses_of(self.loads, *self.arrays)

    def __call__(self, n, h):
        y, self.step_info[:] = self.y.copy(), 0.0
        rows, iterations = np.empty((1, 13)), np.zeros(1, np.int64)
        begun = time.perf_counter()
        no_events = ((None, None, np.zeros(1)) if jit.disabled() else np.zeros(3, np.int64)), np.zeros(0), np.zeros(0)
        status = self.loop(
            L.MARCHING, 0, n, n + 1, 0.0, h, np.inf, 1, 1, y, self.addresses, rows, iterations, *no_events
        )
        assert status == L.OK
        return (time.perf_counter() - begun) / n * 1e9, np.concatenate([y[10:13], y[6:10]])


class PlainC:
    """The same step in C."""

    def __init__(self, function, start, *arguments):
        self.function, self.start, self.arguments = function, start, arguments

    def __call__(self, n, h):
        y = self.start.copy()
        begun = time.perf_counter()
        self.function(ctypes.c_long(n), ctypes.c_double(h), pointer(y), *self.arguments)
        return (time.perf_counter() - begun) / n * 1e9, y


def main() -> None:
    """Print the table."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as folder:
        c = build_c(Path(folder))
        address = ctypes.c_void_p(c.torque_address())
        moments = np.array([0.9144, 1.098, 1.66])
        body = np.concatenate([moments * [0.45549, 0.82623, 0.03476], [1.0, 0.0, 0.0, 0.0]])
        j, jt, p = 1.0 / moments, np.array([0.2, 0.2, 1.0]), np.array([20.0])
        top = np.concatenate([[0.0, 0.0, 50.0], exp_quaternion((0.3, 0.0, 0.0))])
        user = rigid_body((5.0, 5.0, 1.0), torque=torque, parameters=[20.0])
        midpoint = method("imid").prepare().step
        cases = [
            ("free splitting", Polhode(free_splitting, free_body(moments), body), 0.1,
             [("C", PlainC(c.free_splitting, body, pointer(j)))]),
            ("Strang top", Polhode(strang_top, user, top), 1e-3,
             [("C, torque inlined", PlainC(c.strang, top, pointer(jt), pointer(p))),
              ("C, torque by pointer", PlainC(c.strang_pointer, top, pointer(jt), pointer(p), address))]),
            ("implicit midpoint top", Polhode(midpoint, user, top), 1e-3,
             [("C, torque inlined", PlainC(c.midpoint, top, pointer(jt), pointer(p))),
              ("C, torque by pointer", PlainC(c.midpoint_pointer, top, pointer(jt), pointer(p), address))]),
        ]  # fmt: skip
        print(f"{'step':<24}{'polhode ns':>11}  {'against':<22}{'C ns':>8}{'ratio':>8}{'goal':>7}{'difference':>12}")
        for name, ours, h, rivals in cases:
            for label, theirs in rivals:
                pairs = [(ours(STEPS, h), theirs(STEPS, h)) for _ in range(repeats)]
                ratio = statistics.median(a[0] / b[0] for a, b in pairs)
                mine = statistics.median(a[0] for a, _ in pairs)
                other = statistics.median(b[0] for _, b in pairs)
                apart = np.abs(ours(1000, h)[1] - theirs(1000, h)[1]).max()
                figures = f"{other:>8.0f}{ratio:>8.2f}{GOALS[name]:>7.1f}{apart:>12.1e}"
                print(f"{name:<24}{mine:>11.0f}  {label:<22}{figures}")


if __name__ == "__main__":
    main()
