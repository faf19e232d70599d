"""Two bobs on stiff springs, with Exudyn: mass points and spring-dampers."""

import exudyn as exu
from exudyn.itemInterface import (
    Force,
    MarkerBodyPosition,
    NodePoint,
    ObjectGround,
    ObjectMassPoint,
    SpringDamper,
)

system = exu.SystemContainer().AddSystem()
last = system.AddMarker(MarkerBodyPosition(bodyNumber=system.AddObject(ObjectGround())))
for place in ([0.6, 0, -0.8], [0.6, 0, -1.8]):
    node = system.AddNode(NodePoint(referenceCoordinates=place))
    body = system.AddObject(ObjectMassPoint(physicsMass=1.0, nodeNumber=node))
    marker = system.AddMarker(MarkerBodyPosition(bodyNumber=body))
    system.AddLoad(Force(markerNumber=marker, loadVector=[0, 0, -9.81]))
    system.AddObject(SpringDamper(markerNumbers=[last, marker], referenceLength=1.0, stiffness=1e4, damping=0.0))
    last = marker
system.Assemble()
settings = exu.SimulationSettings()
settings.solution.file.write = False
settings.timeIntegration.verboseMode = 0
settings.timeIntegration.endTime = 10.0
settings.timeIntegration.numberOfSteps = 20000
system.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
x, y, z = system.GetNodeOutput(node, exu.OutputVariableType.Position)
print(f"the lower bob after 10 s: x = {x:.4f} m, z = {z:.4f} m")
