"""First results: processor time of whole processes, and what many rows cost beside their steps.

    python benchmarks/first.py [warm] [commands] [imported] [lanes] [rows] [--quick]

warm       A process that builds a system, integrates ten steps and prints the first row: with all compiled (warm) and
           with an empty cache of compiled functions (cold); user's and system's time together. Beside it heyoka's and
           SciPy's for the same top, where they are installed.
commands   ``polhode run`` of two examples, each into an empty folder, with all compiled.
imported   ``import polhode`` and a printed heavy top, and whether numba is loaded then.
lanes      What the first call of an ensemble in lanes costs beyond the second, with an empty cache, in a process that
           has compiled another kernel of lanes before.
rows       10^6 rows of a top: time over that of the loop alone, memory over that of the rows.

Bytecode is there before anything is timed. Least of several; processes of one kind take turns with those of the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from figure import Figure

ROOT = Path(__file__).resolve().parent.parent
SPIN = "angular_velocity=(0.1, 0.2, 3.0)"
ORBIT = "position=(7.0e6, 0.0, 0.0), velocity=(0.0, 7500.0, 100.0)"
J2 = "forces=[ph.forces.zonal(radius=6.378e6, J2=1.08e-3)]"
BRAKED = """
def braked(t, q, omega, p):
    return (-0.1 * omega[0], 0.0, 0.0)
"""
FIRST = {
    "top": f"ds = ph.integrate(ph.heavy_top((5, 4, 3), (0, 0, 1), 20.0), 'v2', step=0.01, steps=10, {SPIN})\n",
    "user's torque": f"{BRAKED}ds = ph.integrate(ph.rigid_body((1, 2, 2.5), torque=braked), 'v2', step=0.01, steps=10, "
    f"{SPIN})\n",
    "J2 orbit": f"ds = ph.integrate(ph.orbit(3.986004415e14, {J2}), 'taylor', step=10.0, steps=10, {ORBIT})\n",
    "spacecraft": f"craft = ph.spacecraft((10, 20, 25), 3.986004415e14, mass=100.0, {J2})\n"
    f"ds = ph.integrate(craft, 's6_10/kepler', step=1.0, steps=10, {SPIN}, {ORBIT})\n",
}
PREPARED = """
import polhode as ph
made = ph.prepare(ph.heavy_top((5, 4, 3), (0, 0, 1), 20.0), 'v2', step=0.01, steps=10)
print(made.run({'angular_velocity': (0.1, 0.2, 3.0)}).states[1])
"""
TELL = "print(*[float(x) for name in ('position', 'attitude') if name in ds for x in ds[name].values[1]])\n"
PEERS = {
    "heyoka": """
import heyoka as hk
a, b, c, w, x, y, z = hk.make_vars("a", "b", "c", "w", "x", "y", "z")
I, W = (5.0, 4.0, 3.0), 20.0
u = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y))
ta = hk.taylor_adaptive([
    (a, ((I[1] - I[2]) * b * c + W * u[1]) / I[0]), (b, ((I[2] - I[0]) * c * a - W * u[0]) / I[1]),
    (c, (I[0] - I[1]) * a * b / I[2]), (w, -0.5 * (x * a + y * b + z * c)), (x, 0.5 * (w * a + y * c - z * b)),
    (y, 0.5 * (w * b + z * a - x * c)), (z, 0.5 * (w * c + x * b - y * a))], [0.1, 0.2, 3.0, 1.0, 0.0, 0.0, 0.0])
ta.propagate_until(0.1)
print(ta.state)
""",
    "scipy": """
import numpy as np
from scipy.integrate import solve_ivp
I, W = (5.0, 4.0, 3.0), 20.0
def rates(t, s):
    a, b, c, w, x, y, z = s
    u = (2.0 * (x * z - w * y), 2.0 * (y * z + w * x))
    return [((I[1] - I[2]) * b * c + W * u[1]) / I[0], ((I[2] - I[0]) * c * a - W * u[0]) / I[1],
            (I[0] - I[1]) * a * b / I[2],
            -0.5 * (x * a + y * b + z * c), 0.5 * (w * a + y * c - z * b), 0.5 * (w * b + z * a - x * c),
            0.5 * (w * c + x * b - y * a)]
print(solve_ivp(rates, (0.0, 0.1), [0.1, 0.2, 3.0, 1.0, 0.0, 0.0, 0.0], rtol=1e-10).y[:, -1])
""",
}
IMPORTED = """
import sys
import polhode as ph
print(ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0))
print("numba" in sys.modules)
"""
LANES = """
import time
import numpy as np
import polhode as ph
import warnings
warnings.simplefilter("ignore")
spins = {"angular_velocity": np.random.default_rng(1).normal(size=(16, 3))}
def seconds(call):
    begun = time.process_time()
    call()
    return time.process_time() - begun
def free():
    ph.ensemble(ph.free_body((1, 2, 2.5)), "exact", members=spins, step=0.1, steps=10, engine="lanes", threads=1)
free()
places = {"position": np.array([7e6, 0, 0]) + 1e4 * np.random.default_rng(1).normal(size=(16, 3))}
j2 = ph.orbit(3.986004415e14, forces=[ph.forces.zonal(radius=6.378e6, J2=1.08e-3)])
top = ph.heavy_top((5, 4, 3), (0.1, 0, 1), 20.0)
def braked(t, q, omega, p):
    return (-0.1 * omega[0], 0.0, 0.0)
kinds = {
    "top": lambda: ph.ensemble(top, "v2", members=spins, step=0.01, steps=10, engine="lanes", threads=1),
    "user's torque": lambda: ph.ensemble(ph.rigid_body((1, 2, 2.5), torque=braked), "v2", members=spins, step=0.01,
                                         steps=10, engine="lanes", threads=1),
    "J2 orbit": lambda: ph.ensemble(j2, "rkn6_14a/kepler", members=places, step=10.0, steps=10, engine="lanes",
                                    velocity=(0.0, 7500.0, 100.0), threads=1),
    "J2 orbit, taylor": lambda: ph.ensemble(j2, "taylor", members=places, steps=ph.Tolerance(1e-9), t_end=600.0,
                                            engine="lanes", velocity=(0.0, 7500.0, 100.0), threads=1),
}
for name, call in kinds.items():
    first = seconds(call)
    print(name, first - seconds(call), sep=": ")
"""
ROWS = """
import resource, time
import numpy as np
import polhode as ph
top = ph.heavy_top((5, 4, 3), (0.1, 0, 1), 20.0)
words = {"angular_velocity": (0.1, 0.2, 3.0)}
n = int(%d)
for steps in (10, n):  # the second: memory
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ds = ph.integrate(top, "v2", step=0.01, steps=steps, **words)
grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
bytes_of = sum(one.nbytes for one in ds.variables.values())
del ds
prepared = ph.prepare(top, "v2", step=0.01, steps=n, every=n)
calls = {"rows": lambda: ph.integrate(top, "v2", step=0.01, steps=n, **words), "loop": lambda: prepared.run(words)}
best = dict.fromkeys(calls, 9e9)
for _ in range(5):
    for name, call in calls.items():
        begun = time.process_time()
        call()
        best[name] = min(best[name], time.process_time() - begun)
print(best["rows"], best["loop"], grown, bytes_of)
"""


def process(words: list[str], cache: Path, folder: Path | None = None) -> tuple[float, str]:
    """Processor time of a process and all that it starts, and what it prints."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, cwd=folder or cache.parent,
        env=clean | {"POLHODE_CACHE_DIR": str(cache), "MPLBACKEND": "Agg", "PYTHONPATH": path},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "a process failed")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def code(text: str) -> list[str]:
    """A process that runs a text."""
    return [sys.executable, "-c", text]


def warm(quick: bool) -> Iterator[Figure]:
    """Warm and cold, by kind."""
    texts = {kind: f"import polhode as ph\n{text}{TELL}" for kind, text in FIRST.items()} | {"prepared top": PREPARED}
    peers = {name: text for name, text in PEERS.items() if importlib.util.find_spec(name)}
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        for k in range(2 if quick else 3):
            for kind, text in texts.items():
                spent, _ = process(code(text), Path(name) / f"{kind} {k}")
                if k:  # the first time bytecode is written
                    best[f"cold, {kind}"] = min(spent, best.get(f"cold, {kind}", 9e9))
        for _ in range(3 if quick else 8):
            for kind, text in texts.items():
                spent, _ = process(code(text), Path(name) / f"{kind} 1")
                best[f"warm, {kind}"] = min(spent, best.get(f"warm, {kind}", 9e9))
            for kind, text in peers.items():
                spent, _ = process(code(text), Path(name) / "none")
                best[kind] = min(spent, best.get(kind, 9e9))
    beside = ", ".join(f"{kind} {best[kind]:.2f}" for kind in peers)
    for kind in (kind for kind in best if kind not in peers):
        yield Figure(kind, best[kind], note=beside if kind.endswith("top") else "")


def commands(quick: bool) -> Iterator[Figure]:
    """``polhode run``."""
    with tempfile.TemporaryDirectory() as name:
        cache = Path(name) / "cache"
        for example, more in (("fast-top", []), ("cubesat", ["--allow-code"])):
            words = [sys.executable, "-m", "polhode", "run", str(ROOT / "examples" / f"{example}.toml"), *more]
            best = float("inf")
            for k in range(2 if quick else 4):
                folder = Path(name) / f"{example}{k}"
                folder.mkdir()
                spent, _ = process(words, cache, folder)
                best = min(best, spent) if k else best  # the first compiles
            yield Figure(f"run {example}", best)


def imported(quick: bool) -> Iterator[Figure]:
    """The import."""
    with tempfile.TemporaryDirectory() as name:
        found = [process(code(IMPORTED), Path(name) / "cache") for _ in range(4 if quick else 12)]
    yield Figure("import and print", min(spent for spent, _ in found[1:]))
    loaded = found[-1][1].strip().endswith("True")
    yield Figure("numba loaded", float(loaded))


def lanes(quick: bool) -> Iterator[Figure]:
    """New kernels of lanes."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        for k in range(1 if quick else 3):
            for line in process(code(LANES), Path(name) / f"cache{k}")[1].splitlines():
                kind, spent = line.split(": ")
                best[kind] = min(float(spent), best.get(kind, 9e9))
    for kind, spent in best.items():
        yield Figure(f"lanes, {kind}", spent)


def rows(quick: bool) -> Iterator[Figure]:
    """Many rows."""
    n = 100_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        _, told = process(code(ROWS % n), Path(name) / "cache")
    spent, loop, grown, held = (float(x) for x in told.split())
    yield Figure("rows, time", spent / loop, note=f"{spent:.2f} s, loop {loop:.3f} s, {n:,} rows")
    yield Figure("rows, bytes", grown / held, note=f"{grown / 1e6:.0f} MB for {held / 1e6:.0f}")


KINDS = {"warm": warm, "commands": commands, "imported": imported, "lanes": lanes, "rows": rows}


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``."""
    for word in words:
        yield from KINDS[word](quick)


def main() -> None:
    """Print what is asked for."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("kinds", nargs="*", default=[], help=", ".join(KINDS))
    reader.add_argument("--quick", action="store_true", help="fewer processes, fewer rows")
    given = reader.parse_args()
    for one in figures(given.kinds or list(KINDS), given.quick):
        print(f"{one.name:28} {one.ours:8.3f}  {one.note}", flush=True)


if __name__ == "__main__":
    main()
