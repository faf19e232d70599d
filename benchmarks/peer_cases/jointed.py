"""Mechanisms in MuJoCo and in Exudyn, ready to run: ``begin()``, then ``go()`` takes all steps, ``state()`` is the end.

Both get trees in coordinates of their joints. Joints that close loops are equality constraints in MuJoCo, which are
soft there; in Exudyn they are algebraic (its explicit solvers take none), of planar loops only those in the plane; or
all bodies have all their coordinates, and all joints are algebraic. Exudyn's trees know hinges and sliders only, so a
free body stands on three sliders and three hinges without mass.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from mechanisms import Mechanism, apart, conjugate, matrix, product, turned  # tests/support

METHODS = {
    "MuJoCo RK4": ("mujoco", "mjINT_RK4"), "MuJoCo implicitfast": ("mujoco", "mjINT_IMPLICITFAST"),
    "Exudyn RK67": ("exudyn", "RK67"), "Exudyn RK44": ("exudyn", "RK44"),
    "Exudyn gen.-alpha": ("exudyn", "GeneralizedAlpha"), "Exudyn bodies, gen.-alpha": ("exudyn", "bodies"),
}  # fmt: skip
"""By name, the package and its word; ``bodies`` is without a tree."""


def present(method: str) -> bool:
    """Whether its package is there."""
    return find_spec(METHODS[method][0]) is not None


def peer(method: str, given: Mechanism, steps: int) -> Any:
    """A mechanism in a peer; LookupError where it cannot have it."""
    package, word = METHODS[method]
    if package == "mujoco":
        return Mujoco(given, word, steps)
    _, loops = tree(given)
    if loops and word in ("RK67", "RK44"):
        raise LookupError("its explicit solvers take no algebraic constraints")
    if word == "bodies" and any(joint.stiffness for joint in given.joints):
        raise LookupError("no springs here")
    if word == "bodies":
        return Bodies(given, "GeneralizedAlpha", steps)
    return Trees(given, word, steps)


# ------------------------------------------------------------------ trees
def tree(given: Mechanism) -> tuple[list[tuple[int, int, Any, bool]], list[Any]]:
    """Body, its parent (-1 for the ground or none), the joint (None for a free body), whether the body is the first of
    it; breadth first from the ground; then the joints that close loops."""
    number = {name: i for i, name in enumerate(given.names)} | {None: -1}
    left, order, reached = list(given.joints), [], {-1}
    front = [-1]
    while len(order) < len(given.bodies):
        if not front:
            base = min(set(range(len(given.bodies))) - reached)
            order.append((base, -1, None, True))
            reached.add(base)
            front = [base]
        at = front.pop(0)
        for joint in list(left):
            a, b = number[joint.first], number[joint.second]
            other = b if a == at else a
            if at in (a, b) and other not in reached:
                order.append((other, at, joint, other == a))
                reached.add(other)
                front.append(other)
                left.remove(joint)
    return order, left


def pose(given: Mechanism, i: int) -> tuple[Any, Any, Any, Any]:
    """Place, quaternion, velocity and angular velocity (space) of a body, or the ground, at the start."""
    if i < 0:
        return np.zeros(3), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3)
    q = given.start["attitude"][i]
    return given.start["position"][i], q, given.start["velocity"][i], matrix(q) @ given.start["angular_velocity"][i]


def coordinate(given: Mechanism, i: int, up: int, joint: Any, first: bool) -> tuple[Any, Any, float]:
    """Point and axis in the axes of the child, and the rate of the joint's coordinate, child against parent."""
    point, axis = (joint.at, joint.axis) if first else (joint.of_other, joint.axis_of_other)
    x, q, v, w = pose(given, i)
    y, _, u, s = pose(given, up)
    along = matrix(q) @ axis
    if joint.kind == "hinge":
        return point, axis, along @ (w - s)
    place = x + matrix(q) @ point
    return point, axis, along @ (v + np.cross(w, place - x) - u - np.cross(s, place - y))


def planar(given: Mechanism) -> bool:
    """Whether all hinges have the same direction at the start."""
    axes = [
        matrix(pose(given, given.names.index(one.first))[1]) @ one.axis for one in given.joints if one.kind == "hinge"
    ]
    return bool(np.allclose(np.abs(np.array(axes) @ axes[0]), 1.0)) if axes else False


def spring_angle(given: Mechanism, joint: Any) -> float:
    """The angle of a hinge at the start, first against second."""
    names = given.names
    q = given.start["attitude"][names.index(joint.first)]
    if joint.second is not None:
        q = product(conjugate(given.start["attitude"][names.index(joint.second)]), q)
    return float(2 * np.arctan2(q[1:] @ joint.axis, q[0]))


# ------------------------------------------------------------------ MuJoCo
class Mujoco:
    """A model of MuJoCo; a hinge that closes a loop is two points of its axis."""

    def __init__(self, given: Mechanism, integrator: str, steps: int) -> None:
        import mujoco

        mujoco.set_mju_user_warning(lambda _: None)  # it writes a file of them
        self.mujoco, self.steps, self.given = mujoco, steps, given
        self.order, loops = tree(given)
        if any(joint.kind not in ("hinge", "slider", "ball") for joint in given.joints):
            raise LookupError("no rods here")
        spec = mujoco.MjSpec()
        spec.option.timestep = given.stop / steps
        spec.option.integrator = getattr(mujoco.mjtIntegrator, integrator)
        spec.option.gravity = given.gravity
        spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
        spec.option.tolerance, spec.option.iterations = 0.0, 20
        spec.compiler.degree = False
        made, speeds = {-1: spec.worldbody}, {}
        for i, up, joint, first in self.order:
            x, q, v, w = pose(given, i)
            y, p, _, s = pose(given, up)
            body = given.bodies[i]
            J = body.inertia
            made[i] = made[up].add_body(
                name=body.name, pos=matrix(p).T @ (x - y), quat=product(conjugate(p), q), mass=body.mass,
                ipos=np.zeros(3),
                fullinertia=[J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]], explicitinertial=True,
            )  # fmt: skip
            if joint is None:
                made[i].add_freejoint(name=body.name)
                speeds[body.name] = [*v, *(matrix(q).T @ w)]
                continue
            words: dict[str, Any] = {"name": body.name, "pos": joint.at if first else joint.of_other}
            if joint.kind == "ball":
                words["type"] = mujoco.mjtJoint.mjJNT_BALL
                speeds[body.name] = matrix(q).T @ (w - s)
            else:
                _, axis, rate = coordinate(given, i, up, joint, first)
                words |= {
                    "axis": axis,
                    "type": getattr(mujoco.mjtJoint, f"mjJNT_{'HINGE' if joint.kind == 'hinge' else 'SLIDE'}"),
                }
                speeds[body.name] = [rate]
            if joint.stiffness:
                words |= {"stiffness": joint.stiffness, "springref": -spring_angle(given, joint) * (1 if first else -1)}
            made[i].add_joint(**words)
        for joint in loops:
            for shift in (-0.5, 0.5) if joint.kind == "hinge" else (0.0,):
                spec.add_equality(
                    type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY, name1=joint.first,
                    name2=joint.second or "world",
                    data=[*(joint.at + shift * joint.axis), *[0.0] * (mujoco.mjNEQDATA - 3)],
                    solref=[2 * given.stop / steps, 1.0], solimp=[0.9999, 0.9999, 0.001, 0.5, 2.0],
                )  # fmt: skip
        self.model = spec.compile()
        self.data, self.speeds = mujoco.MjData(self.model), np.zeros(self.model.nv)
        for name, rates in speeds.items():
            at = self.model.joint(name).dofadr[0]
            self.speeds[at : at + len(rates)] = rates

    def begin(self) -> None:
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qvel[:] = self.speeds

    def go(self) -> None:
        self.mujoco.mj_step(self.model, self.data, nstep=self.steps)

    def state(self) -> dict[str, Any]:
        self.mujoco.mj_forward(self.model, self.data)
        at = [self.model.body(name).id for name in self.given.names]
        return {"position": self.data.xpos[at].copy(), "attitude": self.data.xquat[at].copy()}


# ------------------------------------------------------------------ Exudyn
def euler_angles(R: Any) -> Any:
    """Of R = X(a) Y(b) Z(c)."""
    return np.array([np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])])


class Exudyn:
    """What both kinds have in common: settings, and steps without anything written."""

    def __init__(self, given: Mechanism, solver: str, steps: int) -> None:
        import exudyn

        self.exu, self.given, self.solver = exudyn, given, getattr(exudyn.DynamicSolverType, solver)
        self.container = exudyn.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.build()
        self.mbs.Assemble()
        self.settings = exudyn.SimulationSettings()
        one = self.settings.timeIntegration
        one.numberOfSteps, one.endTime, one.verboseMode = steps, given.stop, 0
        one.generalizedAlpha.spectralRadius = 0.9
        one.generalizedAlpha.computeInitialAccelerations = True
        one.newton.relativeTolerance, one.newton.absoluteTolerance = 1e-10, 1e-12
        one.newton.useModifiedNewton = True
        one.newton.numericalDifferentiation.forODE2 = False
        one.explicitIntegration.dynamicSolverType = self.solver
        one.automaticStepSize = False
        self.settings.solutionSettings.writeSolutionToFile = False
        self.settings.solutionSettings.sensorsWritePeriod = 1e9
        self.settings.displayStatistics = self.settings.displayComputationTime = False
        if given.implied and not (planar(given) and isinstance(self, Trees)):
            self.settings.linearSolverType = exudyn.LinearSolverType.EigenDense
            self.settings.linearSolverSettings.ignoreSingularJacobian = True

    def build(self) -> None:
        raise NotImplementedError

    def begin(self) -> None:
        pass  # it begins from the initial configuration

    def go(self) -> None:
        self.mbs.SolveDynamic(self.settings, solverType=self.solver, updateInitialValues=False)

    def state(self) -> dict[str, Any]:
        kind = self.exu.OutputVariableType
        place = [self.output(i, kind.Position) for i in range(len(self.given.bodies))]
        turns = [np.reshape(self.output(i, kind.RotationMatrix), (3, 3)) for i in range(len(self.given.bodies))]
        return {"position": np.array(place), "attitude": np.array([quaternion(R) for R in turns])}

    def output(self, i: int, kind: Any) -> Any:
        raise NotImplementedError


class Trees(Exudyn):
    """ObjectKinematicTree: link k's frame is at the joint, its z axis (hinge) or x axis (slider) along it."""

    def build(self) -> None:
        exu, given = self.exu, self.given
        from exudyn import itemInterface as item

        self.order, loops = tree(given)
        kinds, parents, masses, springs, shifts = [], [], [], [], []
        turns, inertias, offsets, points = (
            getattr(exu, f"{one}3DList")() for one in ("Matrix", "Matrix", "Vector", "Vector")
        )
        coordinates, rates = [], []
        self.links: dict[int, tuple[int, Any, Any]] = {
            -1: (-1, np.eye(3), np.zeros(3))
        }  # body: link, axes and origin in the link's

        def add(
            kind: str, parent: int, A: Any, at: Any, x: float, rate: float, body: Any = None, point: Any = None,
            J: Any = None, spring: float = 0.0, rest: float = 0.0,
        ) -> int:  # fmt: skip
            kinds.append(getattr(exu.JointType, kind))
            parents.append(parent)
            turns.Append(A)
            offsets.Append(at)
            masses.append(0.0 if body is None else body.mass)
            points.Append(np.zeros(3) if point is None else point)
            inertias.Append(np.zeros((3, 3)) if J is None else J)
            springs.append(spring)
            shifts.append(rest)
            coordinates.append(x)
            rates.append(rate)
            return len(kinds) - 1

        for i, up, joint, first in self.order:
            x, q, v, w = pose(given, i)
            body = given.bodies[i]
            link, A_up, c_up = self.links[up]
            if joint is None:
                angles = euler_angles(matrix(q))
                a, b = angles[:2]
                cols = np.array(
                    [[1, 0, np.sin(b)], [0, np.cos(a), -np.sin(a) * np.cos(b)], [0, np.sin(a), np.cos(a) * np.cos(b)]]
                )
                turning = np.linalg.solve(cols, w)
                for k, axis in enumerate("XYZ"):
                    link = add(f"Prismatic{axis}", link, np.eye(3), np.zeros(3), x[k], v[k])
                for k, axis in enumerate("XYZ"):
                    last = k == 2
                    link = add(f"Revolute{axis}", link, np.eye(3), np.zeros(3), angles[k], turning[k],
                               body if last else None,
                               np.zeros(3) if last else None, body.inertia if last else None)  # fmt: skip
                self.links[i] = link, np.eye(3), np.zeros(3)
                continue
            if joint.kind not in ("hinge", "slider"):
                raise LookupError("its trees have no such joint")
            point, axis, rate = coordinate(given, i, up, joint, first)
            y, p, _, _ = pose(given, up)
            # axes of the new link in space at the start (coordinate 0), z along the joint
            z = matrix(q) @ axis / np.linalg.norm(axis)
            one = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
            one = one / np.linalg.norm(one)
            L = np.column_stack([one, np.cross(z, one), z])
            parent_axes = matrix(p) @ A_up.T  # of the parent's link in space at the start
            parent_origin = y - parent_axes @ c_up
            at = x + matrix(q) @ point
            if joint.kind == "slider":
                L = L[:, [2, 0, 1]]
            A = L.T @ matrix(q)  # body axes in the link's
            rest = -spring_angle(given, joint) * (1 if first else -1) if joint.stiffness else 0.0
            new = add("RevoluteZ" if joint.kind == "hinge" else "PrismaticX", link, parent_axes.T @ L,
                      parent_axes.T @ (at - parent_origin), 0.0, rate, body, -A @ point,
                      A @ body.inertia @ A.T, joint.stiffness, rest)  # fmt: skip
            self.links[i] = new, A, -A @ point
        n = len(kinds)
        node = self.mbs.AddNode(item.NodeGenericODE2(referenceCoordinates=[0.0] * n, initialCoordinates=coordinates,
                                                     initialCoordinates_t=rates,
                                                     numberOfODE2Coordinates=n))  # fmt: skip
        more = {"jointPControlVector": springs, "jointDControlVector": [0.0] * n, "jointPositionOffsetVector": shifts,
                "jointVelocityOffsetVector": [0.0] * n} if any(springs) else {}  # fmt: skip
        self.tree = self.mbs.AddObject(item.ObjectKinematicTree(
            nodeNumber=node, jointTypes=kinds, linkParents=parents, jointTransformations=turns, jointOffsets=offsets,
            linkInertiasCOM=inertias, linkCOMs=points, linkMasses=masses, baseOffset=[0.0] * 3,
            gravity=list(given.gravity), **more,
        ))  # fmt: skip

        for joint in loops:
            self.close(joint)
        kind = exu.OutputVariableType
        self.sensors = {
            (i, what): self.mbs.AddSensor(item.SensorKinematicTree(
                objectNumber=self.tree, linkNumber=link, localPosition=list(c), writeToFile=False,
                outputVariableType=what))
            for i, (link, _, c) in self.links.items() if i >= 0 for what in (kind.Position, kind.RotationMatrix)
        }  # fmt: skip

    def close(self, joint: Any) -> None:
        """A loop by algebraic equations; its hinge or slider has its axis along z or x."""
        from exudyn import itemInterface as item

        given, markers, frames = self.given, [], []
        _, q, _, _ = pose(given, given.names.index(joint.first))
        axis = matrix(q) @ joint.axis / np.linalg.norm(joint.axis)
        one = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        one = one / np.linalg.norm(one)
        F = np.column_stack([one, np.cross(axis, one), axis])  # in space at the start
        if joint.kind == "slider":
            F = F[:, [2, 0, 1]]
        for name, point in ((joint.second, joint.of_other), (joint.first, joint.at)):
            if name is None:
                ground = self.mbs.AddObject(item.ObjectGround())
                markers.append(self.mbs.AddMarker(item.MarkerBodyRigid(bodyNumber=ground, localPosition=list(point))))
                frames.append(F)
                continue
            i = given.names.index(name)
            link, A, c = self.links[i]
            markers.append(self.mbs.AddMarker(item.MarkerKinematicTreeRigid(
                objectNumber=self.tree, linkNumber=link, localPosition=list(A @ point + c))))  # fmt: skip
            frames.append(A @ matrix(pose(given, i)[1]).T @ F)
        free = [1, 1, 0, 0, 0, 0] if planar(given) else [1, 1, 1, 1, 1, 0]
        if joint.kind == "slider":
            raise LookupError("no loop is closed by a slider here")
        self.mbs.AddObject(item.GenericJoint(markerNumbers=markers, constrainedAxes=free, rotationMarker0=frames[0],
                                             rotationMarker1=frames[1]))  # fmt: skip

    def output(self, i: int, kind: Any) -> Any:
        found = np.array(self.mbs.GetSensorValues(self.sensors[i, kind]))
        return found if len(found) == 3 else found.reshape(3, 3) @ self.links[i][1]


class Bodies(Exudyn):
    """Rigid bodies with all coordinates, and joints as algebraic equations."""

    def build(self) -> None:
        exu, given = self.exu, self.given
        import exudyn.utilities as use

        ground = self.mbs.AddObject(use.ObjectGround())
        self.bodies = {None: ground}
        for i, body in enumerate(given.bodies):
            x, q, v, w = pose(given, i)
            inertia = use.RigidBodyInertia(body.mass, body.inertia, com=[0.0] * 3)
            self.bodies[body.name] = self.mbs.CreateRigidBody(
                inertia=inertia, nodeType=exu.NodeType.RotationEulerParameters, referencePosition=list(x),
                referenceRotationMatrix=matrix(q), initialVelocity=list(v), initialAngularVelocity=list(w),
                gravity=list(given.gravity),
            )  # fmt: skip
        for joint in given.joints:
            # frames whose z axis is that of the joint
            pair = [self.bodies[joint.second], self.bodies[joint.first]]
            i = given.names.index(joint.first)
            x, q, _, _ = pose(given, i)
            at = x + matrix(q) @ joint.at
            if joint.kind == "hinge":
                self.mbs.CreateRevoluteJoint(bodyNumbers=pair, position=list(at), axis=list(matrix(q) @ joint.axis),
                                             useGlobalFrame=True)  # fmt: skip
            elif joint.kind == "slider":
                self.mbs.CreatePrismaticJoint(bodyNumbers=pair, position=list(at), axis=list(matrix(q) @ joint.axis),
                                              useGlobalFrame=True)  # fmt: skip
            else:
                raise LookupError(f"no {joint.kind} here")

    def output(self, i: int, kind: Any) -> Any:
        return np.array(self.mbs.GetObjectOutputBody(self.bodies[self.given.names[i]], kind, localPosition=[0.0] * 3))


def quaternion(R: Any) -> Any:
    """Of a rotation matrix, by its largest part."""
    four = np.array([1 + R[0, 0] + R[1, 1] + R[2, 2], 1 + R[0, 0] - R[1, 1] - R[2, 2], 1 - R[0, 0] + R[1, 1] - R[2, 2],
                     1 - R[0, 0] - R[1, 1] + R[2, 2]])  # fmt: skip
    k = int(np.argmax(four))
    rows = [[four[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], four[1], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], four[2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], four[3]]]  # fmt: skip
    q = np.array(rows[k])
    return q / np.linalg.norm(q)


__all__ = ["METHODS", "apart", "peer", "present", "turned"]
