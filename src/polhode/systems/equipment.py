"""What a body carries that has states of its own: rotors, torquers, pulsed thrusters, as its system takes them in.

Their works stand behind those of the other loads, then, behind the work of the user's function, come their states, and
those of the user's that controllers set. Each kind adds its loads, and the rates of its states, to what is there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from polhode.kernel import jit
from polhode.kernel import layout as L
from polhode.kernel.jit import bind, hole
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.user.states import Sizes

inner = hole("inner(part, t, N, y, bodies, parameters, out)", "The loads without equipment.")
FIRST = hole("FIRST", "The first auxiliary variable whose rate is set to zero.")
COUNT = hole("COUNT", "How many these are.")


def cleared_loads(part, t, N, y, bodies, parameters, out):
    """The loads, and zero for the rates to which equipment adds."""
    inner(part, t, N, y, bodies, parameters, out)
    for k in range(COUNT):
        out[L.LOAD * N + FIRST + k] = 0.0


@lru_cache(jit.KEPT_KERNELS)
def cleared(loads: Any, first: int, count: int) -> Any:
    """``cleared_loads`` with these loads and auxiliary variables."""
    return bind(cleared_loads, inner=loads, FIRST=first, COUNT=count)


def sizes_of(variables: tuple[AuxiliaryVariable, ...]) -> Sizes:
    """The names by which functions read variables, and how many numbers each has."""
    found: dict[str, int] = {}
    for one in variables:
        found[one.quantity] = found.get(one.quantity, 0) + 1
    return tuple(found.items())


class Fitting(NamedTuple):
    """Where equipment is in its system, and what it meets there.

    Attributes
    ----------
    first : int
        The first of its auxiliary variables.
    work : int
        That of its first work.
    at : int
        Where its table begins in the parameters.
    frame : 4-tuple
        Quaternion from the principal to the user's body frame.
    where : function
        ``where(parameters) -> int``, where its table begins.
    field : function
        The magnetic field, if there is one, as a force has an acceleration.
    field_at : int
        Index of the numbers of the field.
    """

    first: int
    work: int
    at: int
    frame: Any
    where: Any
    field: Any = None
    field_at: int = 0
