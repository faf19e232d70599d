"""A day on an orbit about the oblate Earth with Orekit, by orekit_jpype: DormandPrince853. Metres, seconds."""

import orekit_jpype

orekit_jpype.initVM()

from org.hipparchus.geometry.euclidean.threed import Vector3D  # noqa: E402
from org.hipparchus.ode.nonstiff import DormandPrince853Integrator  # noqa: E402
from org.orekit.forces.gravity import J2OnlyPerturbation  # noqa: E402
from org.orekit.frames import FramesFactory  # noqa: E402
from org.orekit.orbits import CartesianOrbit, OrbitType  # noqa: E402
from org.orekit.propagation import SpacecraftState  # noqa: E402
from org.orekit.propagation.numerical import NumericalPropagator  # noqa: E402
from org.orekit.time import AbsoluteDate  # noqa: E402
from org.orekit.utils import PVCoordinates  # noqa: E402

mu, radius, J2 = 3.986004415e14, 6378136.3, 0.0010826266835531513
inertial, begin = FramesFactory.getEME2000(), AbsoluteDate.J2000_EPOCH
where = PVCoordinates(Vector3D(7.0e6, 0.0, 0.0), Vector3D(0.0, 5336.0, 5500.0))
# measured: begin
integrator = DormandPrince853Integrator(0.001, 1000.0, 1e-6, 1e-12)
propagator = NumericalPropagator(integrator)
propagator.setOrbitType(OrbitType.CARTESIAN)
propagator.setInitialState(SpacecraftState(CartesianOrbit(where, inertial, begin, mu)))
propagator.addForceModel(J2OnlyPerturbation(mu, radius, J2, inertial))
end = propagator.propagate(begin.shiftedBy(86400.0)).getPVCoordinates()
# measured: end
r, v = end.getPosition(), end.getVelocity()
result = {
    "position": [float(r.getX()), float(r.getY()), float(r.getZ())],
    "velocity": [float(v.getX()), float(v.getY()), float(v.getZ())],
}
