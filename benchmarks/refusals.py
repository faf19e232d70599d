"""What is refused, and with which sentence: features of systems by methods and by what is done with runs.

    python benchmarks/refusals.py [states] [samples] [switches] [pairs] [bodies] [choices] [lanes] [stores] [series]

Each is tried on a short run; ``series`` tells in how many seconds Taylor's loops for many bodies and fields are
compiled. Whether numbers are right is for tests to say, not for this.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import polhode as ph
from figure import Figure, attempt

EARTH = ph.planets.EARTH
MU, RADIUS = EARTH.mu, EARTH.radius
ORBIT = {"position": (6.878e6, 0.0, 0.0), "velocity": (0.0, 4732.0, 5963.0)}
START = ORBIT | {"attitude": ph.rotation.exp_quaternion((0.5, -1.0, 0.8)), "angular_velocity": (0.03, -0.03, 0.03)}
J2 = {"kind": "zonal", "J2": 1.0826e-3, "radius": RADIUS}
SPINS = np.array(START["angular_velocity"]) + 1e-3 * np.random.default_rng(1).normal(size=(8, 3))
PLACES = np.array(ORBIT["position"]) + 100.0 * np.random.default_rng(1).normal(size=(8, 3))


# ------------------------------------------------------------------------------------------------ systems
def craft(**more: Any) -> Any:
    """A spacecraft with equipment."""
    return ph.spacecraft((40.0, 44.0, 25.0), MU, mass=60.0, forces=[J2], **more)


def wheels(**more: Any) -> Any:
    """Three wheels."""
    return ph.reaction_wheels(np.eye(3), 2e-3, speed=(100.0, -150.0, 120.0), **more)


def lagging(t, q, omega, parameters, states):
    """A torque by a state of one's own, and its rate."""
    return -states.lag * 0.05, (omega - states.lag) / 20.0


def damping(t, position, velocity, q, omega, parameters, states):
    """Commands of wheels."""
    return (0.02 * omega[0], 0.02 * omega[1], 0.02 * omega[2])


def pulses(t, position, velocity, q, omega, parameters, states):
    """Commands of valves."""
    return (0.3 + 5.0 * omega[0], 0.4 - 4.0 * omega[1])


def gyros() -> Any:
    """Three gyros."""
    return ph.control_moment_gyros(np.eye(3), [[0, 1, 0], [0, 0, 1], [1, 0, 0]], 0.5, command=(0.01, -0.02, 0.015))


def field() -> Any:
    """A dipole, and coils in it."""
    return {
        "magnetic_field": ph.surroundings.magnetic.magnetic_field(),
        "torquers": ph.systems.magnetic_torquers(np.eye(3), command=(2.0, -1.0, 1.0)),
    }


def valves() -> Any:
    """Thrusters in pulses."""
    return ph.systems.pulsed_thrusters(0.1, [[1, 0, 0], [0, 1, 0]], 1.0, positions=[[0, 0.5, 0], [0, 0, 0.5]])


STATES = {
    "wheels": lambda: craft(wheels=wheels(viscous=1e-6, command=(1e-5, -2e-5, 1.5e-5))),
    "gyros": lambda: craft(gyros=gyros()),
    "torquers": lambda: craft(**field()),
    "own states": lambda: craft(torque=lagging, states={"lag": 3}),
}
SAMPLES = {
    "controllers": lambda: craft(
        wheels=wheels(), controllers=[ph.controller(damping, every=1.0, sets="wheel_command")]
    ),
    "valves": lambda: craft(
        pulsed_thrusters=valves(), controllers=[ph.controller(pulses, every=1.0, sets="thruster_command")]
    ),
}
SWITCHES = {
    "burns": lambda: ph.orbit(MU, forces=[J2, ph.forces.thrust(1e-3, "velocity", start=25.0, stop=52.0)]),
    "thrusters": lambda: craft(thrusters=[ph.systems.thruster((0.1, 0, 0), position=(0, 0.1, 0), start=25, stop=52)]),
    "impulses": lambda: ph.orbit(MU, forces=[J2, ph.forces.impulse(25.0, (0.0, 1.0, 0.0), "rtn")]),
}  # fmt: skip


def objective(s: Any) -> Any:
    """A number at the end."""
    return (s.position**2).sum() * 1e-14


METHODS = ("taylor14", "rkn6_14a", "mkrk:cv8")
"""Of which one has to do what is not asked of a certain one."""


def any_of(call: Callable[[str], Any]) -> Callable[[], Any]:
    """A call by the first method that is not refused; the sentence is that of the first."""

    def run() -> Any:
        refused = None
        for name in METHODS:
            try:
                return call(name)
            except ph.errors.InvalidInput as problem:
                refused = refused or problem
        raise refused or AssertionError

    return run


def ways(system: Any, start: dict[str, Any], members: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """What is done with a system, by name: steps of 10 s to 100 s, off the times of switches."""
    grid = {"step": 10.0, "steps": 10}
    tolerance = {"steps": ph.Tolerance(1e-9), "t_end": 100.0}
    few = {"members": members, "engine": "lanes"} | {name: x for name, x in start.items() if name not in members}
    return {
        "Taylor": lambda: ph.integrate(system, "taylor", **tolerance, **start),
        "implicit": lambda: ph.integrate(system, "mkrk:gauss6", **grid, **start),
        "reversible": lambda: ph.integrate(system, "reversible:v2", step=10.0, t_end=100.0, **start),
        "chaos": any_of(lambda name: ph.chaos.megno(system, name, **grid, **start)),
        "Taylor ensembles": lambda: ph.ensemble(system, "taylor", **tolerance, **few),
        "gradients": any_of(lambda name: ph.gradient(objective, system, name, wrt=["position"], **grid, **start)),
        "lanes": any_of(lambda name: ph.ensemble(system, name, **grid, **few)),
        "backward": any_of(lambda name: ph.integrate(system, name, step=10.0, t_end=-100.0, **start)),
    }


def features(kind: str, systems: dict[str, Callable[[], Any]], names: tuple[str, ...]) -> Iterator[Figure]:
    """Systems by what is done with them."""
    for name, build in systems.items():
        turns = name not in ("burns", "impulses")
        found = ways(build(), START if turns else ORBIT, {"angular_velocity": SPINS} if turns else {"position": PLACES})
        for what in names:
            yield attempt(f"{kind},{name},{what}", found[what])


# ------------------------------------------------------------------------------------------------ others
def lists() -> Iterator[Figure]:
    """Pair lists."""
    system = ph.dipoles(64, attraction=True, cutoff=2.0, skin=0.3, box=5.2)
    start = {**ph.initial.cubic(4, spacing=1.3, noise=0.02, seed=1).state, **ph.initial.random_rotations(64, seed=2)}
    start.pop("box", None)
    grid = {"step": 1e-3, "steps": 3}
    yield attempt("pairs,Taylor", lambda: ph.integrate(system, "taylor8", **grid, **start))
    places = np.stack([start["position"]] * 8)
    rest = {name: value for name, value in start.items() if name != "position"}
    yield attempt(
        "pairs,lanes", lambda: ph.ensemble(system, "v2", members={"position": places}, engine="lanes", **grid, **rest)
    )


def several() -> Iterator[Figure]:
    """Events of several bodies."""
    planets = ph.system(*(ph.body(name, m) for name, m in (("sun", 1.0), ("one", 1e-3), ("two", 1e-3))),
                        ph.loads.mutual_gravity(G=1.0).on(ph.pairs))  # fmt: skip

    def near(a: Any, b: Any) -> Any:
        """Of two bodies."""
        d = a.position - b.position
        return d @ d - 2.0

    start = {"position": [(0, 0, 0), (1, 0, 0), (0, 1.8, 0)], "velocity": [(0, 0, 0), (0, 1, 0), (-0.7, 0, 0)]}
    yield attempt("bodies,events", lambda: ph.integrate(
        planets, "rkn6_14a", step=0.05, t_end=10.0, events=[ph.events.of(near).on("one", "two")], **start))  # fmt: skip


def choices() -> Iterator[Figure]:
    """What runs say of themselves."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        stiff = craft(wheels=wheels(viscous=2e3, command=1e-4))
        words = ""
        try:
            ph.integrate(stiff, "taylor", steps=ph.Tolerance(1e-9), t_end=0.02, **START)
        except Exception as problem:
            words = str(problem)
        words += " ".join(str(one.message) for one in told)
    yield Figure("choices,stiff", float("radau" not in words), refused="" if "radau" in words else words or "no word")
    top = ph.heavy_top((5, 4, 3), (0, 0, 1), 20.0)
    spin = {"angular_velocity": (0.1, 0.2, 3.0)}
    try:
        ds = ph.integrate(top, t_end=1.0, **spin)
        done = ds.attrs["method"].startswith("taylor") and "1e-10" in str(ds.attrs)
        yield Figure("choices,neither", float(not done), refused="" if done else f"method {ds.attrs['method']}")
    except Exception as problem:
        yield Figure("choices,neither", 1.0, refused=str(problem))
    ds = ph.integrate(top, "taylor16", step=0.3, steps=10, **spin)
    said = [f"{name}: {value}" for name, value in ds.attrs.items() if "drift" in f"{name} {value}"]
    yield Figure("choices,drift", float(not said), note=said[0][:120] if said else "",
                 refused="" if said else "no attribute speaks of drift")  # fmt: skip


def in_lanes() -> Iterator[Figure]:
    """What lanes may have."""
    members, grid = {"position": PLACES}, {"step": 10.0, "steps": 300}
    more = {"velocity": ORBIT["velocity"], "engine": "lanes"}
    orbit = ph.orbit(MU, forces=[J2])
    yield attempt(
        "lanes,events", lambda: ph.ensemble(orbit, "taylor14", members=members, events=["node"], **grid, **more)
    )
    burns, more_of = SWITCHES["burns"](), {"members": members} | grid | more
    yield attempt("lanes,burns", any_of(lambda name: ph.ensemble(burns, name, **more_of)))
    own = members | {"rtol": np.geomspace(1e-10, 1e-6, 8)}
    chosen = {"steps": ph.Tolerance(1e-9), "t_end": 3000.0}
    yield attempt("lanes,own tolerances", lambda: ph.ensemble(orbit, "taylor", members=own, **chosen, **more))
    lit = ph.orbit(MU, forces=[J2, ph.forces.radiation_pressure(
        acceleration=1e-7, direction=(1.0, 0.0, 0.0), shadow="cylinder", radius=RADIUS)])  # fmt: skip
    yield attempt("lanes,shadows", any_of(lambda name: ph.ensemble(lit, name, **more_of)))


def stores() -> Iterator[Figure]:
    """An ensemble that is interrupted and called again; statistics of one run on the way."""
    orbit = ph.orbit(MU, forces=[J2])

    def goes_on() -> None:
        with tempfile.TemporaryDirectory() as folder:
            places = np.repeat(PLACES, 500, axis=0)
            words = {"members": {"position": places}, "velocity": ORBIT["velocity"], "step": 10.0, "steps": 1000,
                     "every": 1000, "store": f"{folder}/members.zarr", "engine": "threads"}  # fmt: skip
            told = []

            def stop(progress: Any) -> None:
                told.append(progress)
                raise KeyboardInterrupt

            try:
                ph.ensemble(orbit, "rkn6_14a", progress=stop, **words)
            except (ph.errors.Interrupted, KeyboardInterrupt):
                ph.ensemble(orbit, "rkn6_14a", **words)

    yield attempt("stores,goes on", goes_on)
    from polhode.ensembles import reductions

    yield attempt("stores,statistics", lambda: ph.integrate(
        orbit, "taylor", steps=ph.Tolerance(1e-9), t_end=3000.0, t_eval=np.linspace(0.0, 3000.0, 50),
        settings={"reduce": [reductions.mean("position")]}, **ORBIT))  # fmt: skip


SERIES = """
import time, warnings
import numpy as np
import polhode as ph
warnings.simplefilter("ignore")
kind = %r
earth = ph.planets.EARTH
ph.integrate(ph.orbit(earth.mu, forces=[ph.forces.zonal(J2=1e-3, radius=earth.radius)]), "taylor", step=10.0, steps=2,
             position=(7e6, 0, 0), velocity=(0, 7.5e3, 0))
if kind.endswith("bodies"):
    n = int(kind.split()[0])
    rng = np.random.default_rng(1)
    system = ph.gravitating_bodies(mu=np.full(n, 1.0 / n))
    start = {"position": 3.0 * rng.normal(size=(n, 3)), "velocity": 0.1 * rng.normal(size=(n, 3))}
    step = 1e-3
else:
    force = {"kind": "gravity_field", "field": "egm2008", "degree": int(kind.split()[-1])}
    system = ph.orbit(earth.mu, forces=[force])
    start, step = {"position": (7e6, 0.0, 0.0), "velocity": (0.0, 5e3, 5.5e3)}, 10.0
begun = time.process_time()
ph.integrate(system, "taylor", step=step, steps=2, **start)
first = time.process_time() - begun
begun = time.process_time()
ph.integrate(system, "taylor", step=step, steps=2, **start)
print(first - (time.process_time() - begun))
"""


def series(quick: bool) -> Iterator[Figure]:
    """Seconds beyond those of the second call, with an empty cache."""
    for kind in ("10 bodies", "40 bodies", "field of degree 10", "field of degree 20")[: 3 if quick else 4]:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", SERIES % kind], capture_output=True, text=True, check=False,
                env=os.environ | {"POLHODE_CACHE_DIR": folder},
            )  # fmt: skip
        if done.returncode:
            told = done.stderr.strip().splitlines()[-1].removeprefix("polhode.errors.InvalidInput: ")
            yield Figure(f"series,{kind}", 1.0, refused=told)
        else:
            yield Figure(f"series,{kind}", float(done.stdout))


KINDS: dict[str, Callable[[bool], Iterator[Figure]]] = {
    "states": lambda quick: features(
        "states", STATES, ("Taylor", "implicit", "reversible", "chaos", "Taylor ensembles")
    ),
    "samples": lambda quick: features("samples", SAMPLES, ("gradients", "chaos", "lanes", "backward")),
    "switches": lambda quick: features("switches", SWITCHES, ("gradients", "chaos", "lanes", "reversible")),
    "pairs": lambda quick: lists(),
    "bodies": lambda quick: several(),
    "choices": lambda quick: choices(),
    "lanes": lambda quick: in_lanes(),
    "stores": lambda quick: stores(),
    "series": series,
}


def figures(words: list[str], quick: bool) -> Iterator[Figure]:
    """For ``all.py``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for word in words:
            yield from KINDS[word](quick)


def main() -> None:
    """Print what is asked for."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("kinds", nargs="*", default=[], help=", ".join(KINDS))
    for one in figures(reader.parse_args().kinds or list(KINDS), False):
        print(
            f"{one.name:40} {one.refused or (one.note or ('done' if not one.ours else f'{one.ours:.2f}'))}", flush=True
        )


if __name__ == "__main__":
    main()
