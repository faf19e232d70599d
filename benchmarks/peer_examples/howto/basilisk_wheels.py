"""Feedback of modified Rodrigues parameters to three reaction wheels, with Basilisk."""

import numpy as np
from Basilisk.architecture import messaging
from Basilisk.fswAlgorithms import attTrackingError, inertial3D, mrpFeedback, rwMotorTorque
from Basilisk.simulation import reactionWheelStateEffector, simpleNav, spacecraft
from Basilisk.utilities import SimulationBaseClass, macros, simIncludeGravBody, simIncludeRW

sim = SimulationBaseClass.SimBaseClass()
sim.CreateNewProcess("dynamics", 10).addTask(sim.CreateNewTask("steps", macros.sec2nano(0.5)))
sim.CreateNewProcess("control", 5).addTask(sim.CreateNewTask("laws", macros.sec2nano(0.5)))
inertia = np.diag([900.0, 800.0, 600.0])
craft = spacecraft.Spacecraft()
craft.hub.mHub, craft.hub.IHubPntBc_B = 750.0, inertia.tolist()
craft.hub.r_CN_NInit, craft.hub.v_CN_NInit = [[1e7], [0.0], [0.0]], [[0.0], [6313.5], [0.0]]
turn = np.array([0.4, 0.8, -1.2])
craft.hub.sigma_BNInit = [[x] for x in turn / np.linalg.norm(turn) * np.tan(np.linalg.norm(turn) / 4)]
craft.hub.omega_BN_BInit = [[0.001], [-0.01], [0.03]]
gravity = simIncludeGravBody.gravBodyFactory()
gravity.createEarth().isCentralBody = True
gravity.addBodiesTo(craft)
factory = simIncludeRW.rwFactory()
for axis in np.eye(3):
    factory.create("custom", axis.tolist(), Js=0.16, useMaxTorque=False, RWModel=messaging.BalancedWheels)
wheels = reactionWheelStateEffector.ReactionWheelStateEffector()
factory.addToSpacecraft("wheels", wheels, craft)
sim.AddModelToTask("steps", craft)
sim.AddModelToTask("steps", wheels, 20)

known, aim, error = simpleNav.SimpleNav(), inertial3D.inertial3D(), attTrackingError.attTrackingError()
law, motors = mrpFeedback.mrpFeedback(), rwMotorTorque.rwMotorTorque()
known.scStateInMsg.subscribeTo(craft.scStateOutMsg)
aim.sigma_R0N = [0.0, 0.0, 0.0]
error.attNavInMsg.subscribeTo(known.attOutMsg)
error.attRefInMsg.subscribeTo(aim.attRefOutMsg)
law.K, law.P, law.Ki = 35.0, 200.0, -1.0
law.guidInMsg.subscribeTo(error.attGuidOutMsg)
shape = messaging.VehicleConfigMsg().write(messaging.VehicleConfigMsgPayload(ISCPntB_B=inertia.ravel().tolist()))
law.vehConfigInMsg.subscribeTo(shape)
motors.controlAxes_B = np.eye(3).ravel().tolist()
motors.vehControlInMsg.subscribeTo(law.cmdTorqueOutMsg)
configuration = factory.getConfigMessage()
motors.rwParamsInMsg.subscribeTo(configuration)
wheels.rwMotorCmdInMsg.subscribeTo(motors.rwMotorTorqueOutMsg)
for k, module in enumerate((known, aim, error, law, motors)):
    sim.AddModelToTask("laws", module, 10 - k)
log = craft.scStateOutMsg.recorder()
sim.AddModelToTask("steps", log)
sim.InitializeSimulation()
sim.ConfigureStopTime(macros.sec2nano(300.0))
sim.ExecuteSimulation()
off = np.degrees(4 * np.arctan(np.linalg.norm(log.sigma_BN, axis=1)))
print(f"off by {off[0]:.2f} degrees, after half a minute by {off[60]:.3f}, after five by {off[600]:.4f}")
