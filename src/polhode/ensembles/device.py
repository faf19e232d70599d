"""The engine of graphics processors: a thread for each member, by PTX that polhode writes itself (``kernel.device``).

Members lie in the memory of the device one after the other and are read once a launch; a launch takes thousands of
steps. Rows are written to one of two pieces of memory and fetched from there, by a second stream, while the next launch
fills the other. A member whose step fails is left alone from then on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.errors import PolhodeError
from polhode.kernel import device
from polhode.kernel import layout as L
from polhode.kernel.source import Unsupported
from polhode.methods import MethodSpec, method
from polhode.runs.integrator import Integrator
from polhode.systems import System

MOST_MEMORY = 4096
"""Most numbers of scratch memory of a member."""


def reason_against(system: System, chosen: MethodSpec) -> str:
    """Why members of a system cannot be taken by this method on any device, one sentence; empty where they can."""
    prepared, what = chosen.prepare().suited(system.provides), f"of {system.name!r} by {chosen.label!r}"
    if prepared.step_density:
        return f"members {what} choose their steps by a time transformation, which devices do not take"
    if system.serve is not None or system.memory > MOST_MEMORY:
        return f"the loads {what} are shared among threads of this machine"
    if system.watches or system.switches or system.impulses:
        return f"members {what} have breaks or events (burns, shadows, impulses), for which each run stops by itself"
    return ""


def loop_of(integrator: Integrator) -> device.Loop:
    """What the loop of members is made of, from the arrays of one run."""
    prepared, system = integrator.prepared, integrator.system
    return device.Loop(
        prepared.step, prepared.converter, integrator.loads, system.N, integrator.blocks, len(system.auxiliary),
        integrator.y.size, integrator.load.size, integrator.work.size, integrator.coefficients,
        integrator.int_coefficients, integrator.step_info.copy(), system.parameters.size, system.memory,
    )  # fmt: skip


def loop_for(system: System, chosen: MethodSpec | str, y: Any = None, guard: bool = True) -> device.Loop | str:
    """The loop of members of a system by a method, or why there is none, one sentence.

    Parameters
    ----------
    y : array (13 N), optional
        A state of the system, at which a user's function is tried out; bodies at rest in a row without it.
    guard : bool
        Whether steps beyond the range of the method are refused.
    """
    chosen = method(chosen) if isinstance(chosen, str) else chosen
    why = reason_against(system, chosen)
    if why:
        return why
    try:
        integrator = Integrator(system, chosen, resting(system) if y is None else y,
                                limit=chosen.method.range if guard else None)  # fmt: skip
    except PolhodeError as problem:
        return str(problem)
    loop = loop_of(integrator)
    size = loop.load + loop.work + 4 * loop.width + loop.copied()
    if size > MOST_MEMORY:
        return (f"a member of {system.name!r} by {chosen.label!r} needs {size} numbers of memory of its own, and a "
                f"device has {MOST_MEMORY} for each")  # fmt: skip
    return loop


def resting(system: System) -> Any:
    """A state of bodies at rest in a row; those that do not move are at the origin."""
    y = np.zeros((system.N, L.BODY))
    y[:, L.ATTITUDE] = 1.0
    y[:, L.POSITION] = np.where(np.isfinite(system.mass), 1.0 + np.arange(system.N), 0.0)
    return y.ravel()


def ptx_for(loop: device.Loop, architecture: str = device.ARCHITECTURE) -> str:
    """The PTX of a loop, or the reason why there is none, a clause that begins with a small letter."""
    from polhode.algebra.library import LIBRARY

    try:
        return device.ptx_of(loop, LIBRARY, architecture)
    except Unsupported as problem:
        return f"the code has {problem}"
