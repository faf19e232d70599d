"""What holds bodies together: joints, each one short function that returns its equations.

ph.joints.hinge(at=(0, 0, 0), axis=(0, 1, 0), name="shoulder").on("upper", ph.ground)

Points and axes are in the first body's own axes; ``of_other`` and ``axis_of_other`` are in those of the second, or in
space where that is the ground.
"""

from __future__ import annotations

from polhode.joints.joint import JOINTS as JOINTS, Joint
from polhode.joints.kinds import ball, hinge, rod, slider, weld
from polhode.lazy import public_names

__all__ = ["Joint", "ball", "hinge", "rod", "slider", "weld"]
__dir__ = public_names(__all__)

JOINTS |= {build.__name__: build for build in (ball, hinge, slider, weld, rod)}
