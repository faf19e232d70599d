"""Ensembles on a graphics processor: body-steps per second, or without one what its assembler says of the code.

    python benchmarks/device.py [members] [steps]

With an NVIDIA driver each case takes the members (a million unless given) through the steps (1,000), with one row at
the end. The first rate is that of the steps beyond two, which copies have no part in; the second is of all. Without a
driver, each case is compiled for an H200 and, where ptxas is found (``pip install nvidia-cuda-nvcc``), registers,
spills and the blocks that fit on a multiprocessor are printed; then a few members are taken through the same module by
this processor.
"""

from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from polhode.algebra.library import LIBRARY
from polhode.ensembles import cuda, device as engines
from polhode.ensembles.engines import Block
from polhode.kernel import device, layout as L
from polhode.methods import method as find_method
from polhode.runs.integrator import Integrator

EARTH = ph.planets.EARTH
REGISTERS = 65536
"""Of a multiprocessor."""


def torque(t, q, omega, parameters):
    """Damping and a torque that swings in space."""
    return (
        -parameters[0] * omega[0] + 0.1 * math.sin(3.0 * t),
        -parameters[0] * omega[1],
        -parameters[0] * omega[2],
    )


TOP = ph.heavy_top(inertia=(3, 2, 1), center_of_mass=(0, 0, 1), weight=20.0)
USER = ph.rigid_body([2.0, 3.0, 4.0], torque=torque, parameters=[0.05])
ORBIT = ph.orbit(mu=EARTH.mu, forces=[ph.forces.zonal(**EARTH.zonal)])
CRAFT = ph.spacecraft(inertia=(90, 70, 60), mu=EARTH.mu, mass=120, forces=[ph.forces.zonal(**EARTH.zonal)])
CASES = [
    ("free bodies", ph.free_body((1, 2, 3)), "exact", 0.01), ("tops", TOP, "v2/mr", 0.01),
    ("tops", TOP, "rkn6_14a/mr6", 0.01), ("tops", TOP, "v2", 0.01), ("tops, user's torque", USER, "v2/mr", 0.01),
    ("tops, user's torque", USER, "mkrk:rk4", 0.01), ("orbits", ORBIT, "rkn6_14a", 10.0),
    ("orbits", ORBIT, "v2/kepler", 60.0), ("orbits", ORBIT, "taylor16", 300.0),
    ("spacecraft", CRAFT, "rkn6_14a/kepler+mr6", 60.0),
]  # fmt: skip


def members_of(system: ph.System, bench: Integrator, members: int) -> np.ndarray:
    """States near each other."""
    y = np.zeros(L.BODY)
    y[L.ATTITUDE] = 1.0
    if system.rotates:
        y[L.ANGULAR : L.ANGULAR + 3] = (0.1, 0.2, 5.0) if not system.translates else (0.1, 0.2, 0.05)
    if system.translates:
        y[:3], y[3:6] = (7e6, 0, 0), np.array((0, 5336.0, 5336.0)) * system.mass[0]
    states = np.zeros((members, bench.y.size))
    states[:, : L.BODY] = y
    states[:, L.ANGULAR] *= 1.0 + 1e-3 * np.random.default_rng(1).normal(size=members)
    return states


def block_of(system: ph.System, bench: Integrator, members: int, n: int, h: float) -> Block:
    """So many members, each with its own moments of inertia."""
    states, bodies = members_of(system, bench, members), np.repeat(bench.bodies[None], members, 0)
    if system.rotates:
        factor = 1.0 + 0.01 * np.random.default_rng(2).uniform(size=(members, 1))
        bodies[:, L.INERTIA : L.INERTIA + 3] *= factor
        bodies[:, L.INVERSE_INERTIA : L.INVERSE_INERTIA + 3] /= factor
    parameters = np.zeros((1, 1)) if not system.parameters.size else np.array(system.parameters)[None]
    return Block(
        states, bodies, bench.frames[None], parameters, 0.0, h, n, n, np.zeros((members, 2, states.shape[1])),
        np.zeros((members, 2), np.int64), np.full(members, -1), np.zeros(members, np.int64),
    )  # fmt: skip


class RunOf:
    """What an engine asks of a run that has not begun: here one of bodies at rest in a row."""

    adaptive = False

    def __init__(self, system: ph.System, method: str) -> None:
        y = np.zeros((system.N, L.BODY))
        y[:, L.ATTITUDE] = 1.0
        y[:, L.POSITION] = np.where(np.isfinite(system.mass), 1.0 + np.arange(system.N), 0.0)
        self.system, self.chosen = system, find_method(method)
        self.integrator = Integrator(system, self.chosen, y.ravel(), limit=self.chosen.method.range)


def measured(engine: engines.DeviceEngine) -> dict[str, int]:
    """Registers and bytes of local memory of a thread, and blocks at a time on a multiprocessor."""
    on, found, blocks = engine.device, {}, ctypes.c_int()
    for name, which in (("registers", 4), ("local_bytes", 3)):
        value = ctypes.c_int()
        on.ask("cuFuncGetAttribute", ctypes.byref(value), which, engine.function)
        found[name] = value.value
    given = engine.function, ctypes.c_int(device.THREADS), ctypes.c_size_t(0)
    on.ask("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(blocks), *given)
    return found | {"blocks": blocks.value}


def on_device(members: int, n: int) -> None:
    """Print rates."""
    print(
        f"{'':22}{'method':22}{'G body-steps/s':>15}{'with copies':>13}{'registers':>11}{'local, B':>10}{'blocks':>8}"
    )
    for name, system, method, h in CASES:
        run = RunOf(system, method)
        bench, made = run.integrator, engines.engine_for(run)
        if isinstance(made, str):
            print(f"{name:22}{method:22}{made}")
            continue
        rates = []
        for steps in (2, n, 2, n):
            block = block_of(system, bench, members, steps, h)
            begin = time.perf_counter()
            made.run(block)
            rates.append(time.perf_counter() - begin)
        good = int((block.status == L.OK).sum())
        alone = members * (n - 2) / max(min(rates[1::2]) - min(rates[::2]), 1e-9) / 1e9
        m = measured(made)
        print(
            f"{name:22}{method:22}{alone:15.2f}{members * n / min(rates[1::2]) / 1e9:13.2f}{m['registers']:11}"
            f"{m['local_bytes']:10}{m['blocks']:8}" + (f"  {members - good} failed" if good < members else "")
        )


def with_fewer_registers(members: int, n: int) -> None:
    """Print what a step of a top takes with fewer registers, of which more blocks fit, and with other blocks."""
    name, system, method, h = CASES[1]
    run = RunOf(system, method)
    made, bench = engines.engine_for(run), run.integrator
    text, usual = engines.ptx_for(made.loop, made.device.architecture), device.THREADS
    print(f"\n{name}, {method}: G body-steps/s by most registers (0: as many as it needs) and threads of a block")
    for registers in (0, 168, 128, 96, 80, 64):
        row = []
        for threads in (32, 64, 128, 256):
            device.THREADS, made.function = threads, made.device.kernel(text, device.ENTRY, registers)
            seconds = []
            for steps in (2, n):
                block = block_of(system, bench, members, steps, h)
                begin = time.perf_counter()
                try:
                    made.run(block)
                except ph.errors.PolhodeError:  # a block has not so many registers
                    break
                seconds.append(time.perf_counter() - begin)
            row.append(members * (n - 2) / (seconds[1] - seconds[0]) / 1e9 if len(seconds) == 2 else math.nan)
        print(f"{registers:5}" + "".join(f"{rate:9.2f}" for rate in row))
    device.THREADS = usual


def assembled(text: str, ptxas: str) -> tuple[int, int, int]:
    """Registers, bytes of stack and bytes of spills, as ptxas says."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.ptx").write_text(text)
        done = subprocess.run(
            [ptxas, f"-arch={device.ARCHITECTURE}", "-v", f"{folder}/a.ptx", "-o", f"{folder}/a.cubin"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    told = done.stderr.partition(f"Function properties for {device.ENTRY}")[2]
    stack, stores, loads = (int(x) for x in re.findall(r"(\d+) bytes", told)[:3])
    return int(re.search(r"Used (\d+) registers", told)[1]), stack, stores + loads


def without_device(members: int = 64, n: int = 200) -> None:
    """Print what the code is, and how fast this processor runs it."""
    ptxas = shutil.which("ptxas") or next(
        (str(found) for place in sys.path for found in Path(place).glob("nvidia/*/bin/ptxas")), ""
    )
    print(
        f"{cuda.why_none()}: compiled for {device.ARCHITECTURE}, run here" + ("" if ptxas else "; ptxas is not found")
    )
    print(f"{'':22}{'method':22}{'registers':>10}{'blocks':>7}{'stack, B':>9}{'spills, B':>10}{'f64':>6}"
          f"{'of it fma':>10}{'compiled in, s':>15}{'here, M/s':>10}")  # fmt: skip
    for name, system, method, h in CASES:
        bench = RunOf(system, method).integrator
        loop, begin = engines.loop_of(bench), time.perf_counter()
        text = device.ptx_of(loop, LIBRARY)
        seconds = time.perf_counter() - begin
        registers, stack, spilled = assembled(text, ptxas) if ptxas else (0, 0, 0)
        blocks = REGISTERS // (device.THREADS * -(-registers // 8) * 8) if registers else 0
        block, run = block_of(system, bench, members, n, h), device.Simulated(loop, LIBRARY)
        y, own = block.states.copy(), block.bodies.shape[1]
        arrays = [np.zeros((members, len(device.CARRIED))), block.rows, block.iterations]
        statuses, done = np.zeros(members, np.int64), np.zeros(members, np.int64)
        begin = time.perf_counter()
        run(members, L.MARCHING, 0, n, n, 1, 0.0, h, bench.limit, y, block.bodies, own, block.parameters, 0, *arrays,
            statuses, done)  # fmt: skip
        rate = members * n / (time.perf_counter() - begin) / 1e6
        fused, all_of = text.count("fma.rn.f64"), len(re.findall(r"\.rn\.f64", text))
        print(f"{name:22}{method:22}{registers:10}{blocks:7}{stack:9}{spilled:10}{all_of:6}{fused:10}{seconds:15.2f}"
              f"{rate:10.2f}" + ("" if not statuses.any() else "  some failed"))  # fmt: skip


def figures(words: list[str], quick: bool) -> Iterator[Any]:
    """For ``all.py``: 32 over the G steps a second of 10^6 tops, where there is a graphics processor."""
    from figure import Figure

    members, few = 1_000_000, {"angular_velocity": np.random.default_rng(1).normal(size=(1_000_000, 3))}
    try:
        spent = {}
        for steps in (2, 2_000, 2, 2_000):
            ds = ph.ensemble(ph.heavy_top((5, 4, 3), (0.1, 0, 1), 20.0), "v2/mr", members=few, step=0.01, steps=steps,
                             every=steps, engine="device")  # fmt: skip
            spent[steps] = ds.encoding["seconds"]
    except ph.errors.PolhodeError as problem:
        yield Figure("device", note=str(problem)[:160])
        return
    rate = members * 1_998 / (spent[2_000] - spent[2]) / 1e9
    yield Figure("device", 32.0 / rate, note=f"{rate:.1f} G steps/s")


def main() -> None:
    given = [int(float(word)) for word in sys.argv[1:]]
    if cuda.why_none():
        without_device()
    else:
        members, n = (given + [1_000_000, 1_000][len(given) :])[:2]
        print(f"{engines.the_device().name}: {members:,} members, {n:,} steps")
        on_device(members, n)
        with_fewer_registers(members, n)


if __name__ == "__main__":
    main()
