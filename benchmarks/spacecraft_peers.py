"""Wheels and a gravity field beside Basilisk, and orbits beside SGP4, in one run.

    python benchmarks/spacecraft_peers.py          (with bsk and sgp4 installed; what is not there is left out)

wheels     Ten minutes of a satellite with three balanced wheels under constant motor torques, in steps of 0.1 s: RK4 of
           Basilisk and polhode's v2 and s4_6; largest differences of rates and speeds of wheels from a reference
           (mkrk:cv8, steps of 0.02 s), and times.
field      A day in the field EGM2008 to degree and order 10, which does not turn, in steps of 10 s: the same numbers in
           both; largest differences of positions from a reference, and times.
elements   A day from two-line elements by SGP4, which has a mean theory of its own, and by models of more and more
           forces from the same start: how far apart they come.

Coupled orbit and attitude against heyoka is a case of peers.py. Times are the best of five calls in warm processes,
without building the models.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph

MU = ph.gravity_field("egm2008").mu
ORBIT = {"position": (7.0e6, 0.0, 0.0), "velocity": (0.0, 5336.0, 5500.0)}
INERTIA = np.array([[90.0, 1.0, -2.0], [1.0, 70.0, 0.5], [-2.0, 0.5, 60.0]])
RATES = (2e-3, 1e-3, -3e-3)
ISS = """ISS (ZARYA)
1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537"""
SPEEDS, TORQUES, SPIN_INERTIA = (100.0, -60.0, 30.0), (0.02, -0.01, 0.015), 0.08


def best(call: Callable[[], Any], times: int = 5) -> tuple[float, Any]:
    """The shortest time of a call, s, and what it returned."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        answer = call()
        found.append(time.perf_counter() - begun)
    return min(found), answer


# ------------------------------------------------------------------ Basilisk
class Basilisk:
    """A spacecraft of Basilisk, built anew for every run."""

    def __init__(self, step: float, stop: float) -> None:
        from Basilisk.simulation import spacecraft
        from Basilisk.utilities import SimulationBaseClass, macros, simIncludeGravBody

        self.sim = SimulationBaseClass.SimBaseClass()
        self.sim.CreateNewProcess("dynamics").addTask(self.sim.CreateNewTask("steps", macros.sec2nano(step)))
        self.craft = spacecraft.Spacecraft()
        self.craft.ModelTag = "craft"
        self.craft.hub.mHub = 120.0
        self.craft.hub.IHubPntBc_B = INERTIA.tolist()
        self.craft.hub.r_CN_NInit = [[x] for x in ORBIT["position"]]
        self.craft.hub.v_CN_NInit = [[x] for x in ORBIT["velocity"]]
        self.craft.hub.omega_BN_BInit = [[x] for x in RATES]
        self.gravity = simIncludeGravBody.gravBodyFactory()
        self.earth = self.gravity.createEarth()
        self.earth.isCentralBody, self.earth.mu = True, MU
        self.stop = macros.sec2nano(stop)
        self.kept: list[Any] = []

    def run(self) -> tuple[float, Any]:
        """The time of the run, and the state at its end."""
        self.gravity.addBodiesTo(self.craft)
        self.sim.AddModelToTask("steps", self.craft)
        self.sim.InitializeSimulation()
        self.sim.ConfigureStopTime(self.stop)
        begun = time.perf_counter()
        self.sim.ExecuteSimulation()
        return time.perf_counter() - begun, self.craft.scStateOutMsg.read()


def basilisk_wheels() -> tuple[float, Any]:
    from Basilisk.architecture import messaging
    from Basilisk.simulation import reactionWheelStateEffector
    from Basilisk.utilities import simIncludeRW

    one = Basilisk(0.1, 600.0)
    factory = simIncludeRW.rwFactory()
    for axis, speed in zip(np.eye(3), SPEEDS, strict=True):
        factory.create("custom", axis.tolist(), Js=SPIN_INERTIA, Omega=speed * 30 / np.pi, useMaxTorque=False,
                       RWModel=messaging.BalancedWheels)  # fmt: skip
    wheels = reactionWheelStateEffector.ReactionWheelStateEffector()
    factory.addToSpacecraft("wheels", wheels, one.craft)
    command = messaging.ArrayMotorTorqueMsg().write(messaging.ArrayMotorTorqueMsgPayload(motorTorque=list(TORQUES)))
    wheels.rwMotorCmdInMsg.subscribeTo(command)
    one.sim.AddModelToTask("steps", wheels)
    one.kept += [factory, wheels, command]
    took, state = one.run()
    speeds = wheels.rwSpeedOutMsg.read().wheelSpeeds[:3]
    return took, np.array([*state.omega_BN_B, *speeds])


def basilisk_field(file: Path) -> tuple[float, Any]:
    one = Basilisk(10.0, 86400.0)
    one.earth.useSphericalHarmonicsGravityModel(str(file), 10)
    took, state = one.run()
    return took, np.array(state.r_BN_N)


def write_field(file: Path, degree: int) -> None:
    """The coefficients of EGM2008 as Basilisk reads them."""
    field = ph.gravity_field("egm2008")
    rows = [f"{field.radius!r}, {field.mu!r}, 0, {degree}, {degree}, 1, 0, 0"]
    for n in range(degree + 1):
        for m in range(n + 1):
            rows.append(
                f"{n}, {m}, {1.0 if n == 0 else field.C[n, m]!r}, {field.S[n, m]!r}, 0, 0".replace("np.float64", "")
            )
    file.write_text("\n".join(rows).replace("(", "").replace(")", "") + "\n", encoding="utf-8")


# ------------------------------------------------------------------ the three comparisons
def wheels() -> None:
    craft = ph.spacecraft(INERTIA, MU, mass=120.0, gravity_gradient=False, wheels=ph.reaction_wheels(
        np.eye(3), SPIN_INERTIA, speed=SPEEDS, command=TORQUES))  # fmt: skip

    def ours(method: str, step: float) -> Any:
        ds = ph.integrate(craft, method, step=step, t_end=600.0, every=round(600.0 / step), **ORBIT,
                          angular_velocity=RATES)  # fmt: skip
        rates = ds.angular_velocity[-1].values
        return np.array([*rates, *(ds.wheel_momentum[-1].values / SPIN_INERTIA - rates)])

    exact = ours("mkrk:cv8", 0.02)
    table("wheels", [(f"polhode {name}", *best(lambda name=name: ours(name, 0.1))) for name in ("v2", "s4_6")], exact,
          lambda: basilisk_wheels(), ("rates (rad/s)", slice(0, 3)), ("speeds (rad/s)", slice(3, 6)))  # fmt: skip


def field() -> None:
    craft = ph.spacecraft(INERTIA, MU, mass=120.0, gravity_gradient=False,
                          forces=[ph.forces.gravity_field("egm2008", degree=10, rotation=0.0)])  # fmt: skip

    def ours(method: str, step: float) -> Any:
        return ph.integrate(craft, method, step=step, t_end=86400.0, every=round(86400.0 / step), **ORBIT,
                            angular_velocity=RATES).position[-1].values  # fmt: skip

    exact = ours("mkrk:cv8", 5.0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "egm.csv"
        write_field(file, 10)
        table("field", [(f"polhode {name}", *best(lambda name=name: ours(name, 10.0)))
                        for name in ("mkrk:rk4", "s6_10/kepler")],
              exact, lambda: basilisk_field(file), ("position (m)", slice(0, 3)))  # fmt: skip


def table(what: str, ours: Any, exact: Any, theirs: Callable[[], Any], *parts: Any) -> None:
    """Rows of errors and times; ``theirs`` is not called where Basilisk is not installed."""
    rows = list(ours)
    try:
        import Basilisk  # noqa: F401
    except ImportError:
        print(f"{what:8} Basilisk is not installed (pip install bsk)")
    else:
        runs = [theirs() for _ in range(5)]
        rows.append(("Basilisk RK4", min(took for took, _ in runs), runs[0][1]))
    for name, took, state in rows:
        errors = "   ".join(f"{words} {np.abs(state[at] - exact[at]).max():.1e}" for words, at in parts)
        print(f"{what:8} {name:22} {errors}   {1e3 * took:8.1f} ms")
    if len(rows) > len(ours):
        print(f"{what:8} Basilisk over {ours[-1][0]}: {rows[-1][1] / ours[-1][1]:.0f} times")


def elements() -> None:
    """A day of a satellite from its two-line elements: what each part of the model explains of the distance."""
    try:
        iss = ph.tle(ISS)
    except ph.errors.MissingExtra as missing:
        print(f"elements {missing}")
        return
    angle = ph.planets.earth_rotation_angle(iss.epoch)
    earth = ph.planets.EARTH
    models = {
        "a point mass": [], "J2 to J6": [ph.forces.zonal(**earth.zonal)],
        "EGM2008 to degree 20": [ph.forces.gravity_field("egm2008", angle=angle)],
        "and drag": [ph.forces.gravity_field("egm2008", angle=angle),
                     ph.forces.drag(coefficient=2e-3, table=ph.forces.standard_air(), rotation=earth.rotation)],
    }  # fmt: skip
    for name, forces in models.items():
        ds = ph.integrate(
            ph.orbit(MU, forces=forces), "s6_10/kepler", step=20.0, t_end=86400.0, every=10, **iss.start()
        )
        apart = np.linalg.norm(ds.position - iss.at(ds.time)[0], axis=1)
        print(f"elements {name:22} up to {apart.max() / 1e3:8.1f} km from SGP4 within a day")


if __name__ == "__main__":
    wheels()
    field()
    elements()
