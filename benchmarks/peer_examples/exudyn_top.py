"""The fast top with Exudyn: a rigid body with rotation vectors, RK44. Its moments are those about the fixed point."""

import exudyn as exu
from exudyn.itemInterface import Force, MarkerBodyPosition, NodeRigidBodyRotVecLG, ObjectRigidBody

system = exu.SystemContainer().AddSystem()
node = system.AddNode(
    NodeRigidBodyRotVecLG(referenceCoordinates=[0, 0, 0, 0.3, 0, 0], initialVelocities=[0, 0, 0, 0, 0, 50.0])
)
body = system.AddObject(ObjectRigidBody(mass=1.0, inertia=[5, 5, 1, 0, 0, 0], nodeNumber=node))
center = system.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=[0, 0, 1]))
system.AddLoad(Force(markerNumber=center, loadVector=[0, 0, -20.0]))
system.Assemble()

settings = exu.SimulationSettings()
settings.solution.file.write = False
settings.timeIntegration.verboseMode = 0
settings.timeIntegration.endTime = 20.0
settings.timeIntegration.numberOfSteps = 20000
settings.timeIntegration.explicit.computeEndOfStepAccelerations = False
# measured: begin
system.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
# measured: end
result = {"matrix": [float(x) for x in system.GetNodeOutput(node, exu.OutputVariableType.RotationMatrix)]}
