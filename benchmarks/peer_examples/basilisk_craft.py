"""Six hours of a tumbling satellite with Basilisk: point mass of the Earth, gravity gradient, RK4 at two seconds."""

import numpy as np
from Basilisk.simulation import GravityGradientEffector, spacecraft
from Basilisk.utilities import RigidBodyKinematics, SimulationBaseClass, macros, simIncludeGravBody

# measured: begin
sim = SimulationBaseClass.SimBaseClass()
sim.CreateNewProcess("dynamics").addTask(sim.CreateNewTask("integration", macros.sec2nano(2.0)))
craft = spacecraft.Spacecraft()
craft.ModelTag = "craft"
craft.hub.mHub = 120.0
craft.hub.IHubPntBc_B = [[90.0, 0, 0], [0, 70.0, 0], [0, 0, 60.0]]
craft.hub.r_CN_NInit = [[7.0e6], [0.0], [0.0]]
craft.hub.v_CN_NInit = [[0.0], [5336.0], [5500.0]]
craft.hub.sigma_BNInit = [[0.0], [0.0], [0.0]]
craft.hub.omega_BN_BInit = [[2e-3], [1e-3], [-3e-3]]
gravity = simIncludeGravBody.gravBodyFactory()
earth = gravity.createEarth()
earth.isCentralBody, earth.mu = True, 3.986004415e14
gravity.addBodiesTo(craft)
gradient = GravityGradientEffector.GravityGradientEffector()
gradient.addPlanetName(earth.planetName)
craft.addDynamicEffector(gradient)
sim.AddModelToTask("integration", craft)
sim.AddModelToTask("integration", gradient)
sim.InitializeSimulation()
sim.ConfigureStopTime(macros.sec2nano(6 * 3600.0))
sim.ExecuteSimulation()
# measured: end
state = craft.scStateOutMsg.read()
result = {
    "matrix": np.array(RigidBodyKinematics.MRP2C(state.sigma_BN)).T.tolist(),  # body to space
    "position": list(state.r_BN_N),
    "velocity": list(state.v_BN_N),
}
