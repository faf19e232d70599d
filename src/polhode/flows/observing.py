"""What a page that takes the steps itself (``kernel.wasm``) asks beside them: energies, momenta, a push."""

from __future__ import annotations

from typing import NamedTuple

from polhode.algebra.quaternion import rotate, rotate_inverse
from polhode.algebra.so3 import add, cross, dot
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3
from polhode.kernel.device import shifted
from polhode.kernel.jit import hole

TOLD = (
    "kinetic_energy", "potential_energy", "work",
    *(f"{name}_{axis}" for name in ("angular_momentum", "momentum") for axis in "xyz"),
)  # fmt: skip
"""What ``observe`` tells, in its order."""

numbers = hole("numbers() -> pointer", "The numbers of the module.")
told = hole("told() -> pointer", "Step info at the start.")
potential = hole("potential(t, N, y, bodies, parameters) -> float", "The potential energy.")
rotors = hole("rotors(i, p) -> vector", "Angular momentum of the rotors of a body, principal frame.")
N = hole("N", "Number of bodies.")
WORKS = hole("WORKS", "How many auxiliary variables are works.")
BODIES = hole("BODIES", "Slot of the constants of the bodies.")
PARAMETERS = hole("PARAMETERS", "Slot of the parameters.")
SLOT = hole("SLOT", "Slot of what is told, or given.")


class Seen(NamedTuple):
    """What the momentum of rotors follows from, as of ``Workspace``."""

    N: int
    y: object
    parameters: object
    step_info: object


def observe(t):
    """Tell of the present state what ``TOLD`` says; angular momentum about the origin of space, rotors included."""
    y = numbers()
    bodies, parameters = shifted(y, BODIES), shifted(y, PARAMETERS)
    p = Seen(N, y, parameters, told())
    kinetic, work, angular, momentum = 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(N):
        a, b = L.BODY * i, L.CONSTANTS * i
        v, m = get3(y, a + L.MOMENTUM), get3(y, a + L.ANGULAR)
        kinetic += 0.5 * bodies[b + L.INVERSE_MASS] * dot(v, v)
        for k in range(3):
            kinetic += 0.5 * bodies[b + L.INVERSE_INERTIA + k] * m[k] * m[k]
        spin = rotate(get4(y, a + L.ATTITUDE), add(m, rotors(i, p)))
        angular = add(angular, add(spin, cross(get3(y, a + L.POSITION), v)))
        momentum = add(momentum, v)
    for k in range(WORKS):
        work += y[L.BODY * N + k]
    y[SLOT], y[SLOT + 1], y[SLOT + 2] = kinetic, potential(t, N, y, bodies, parameters), work
    put3(y, SLOT + 3, angular)
    put3(y, SLOT + 6, momentum)


def push(body):
    """Give a body an impulse at a point: 3 numbers of the point in space, from its position, and 3 of the impulse."""
    y, i = numbers(), int(body)
    a, b, impulse = L.BODY * i, BODIES + L.CONSTANTS * i, get3(y, SLOT + 3)
    moment = rotate_inverse(get4(y, a + L.ATTITUDE), cross(get3(y, SLOT), impulse))
    for k in range(3):
        if y[b + L.INVERSE_INERTIA + k] != 0.0:
            y[a + L.ANGULAR + k] += moment[k]
        if y[b + L.INVERSE_MASS] != 0.0:
            y[a + L.MOMENTUM + k] += impulse[k]


def no_potential(t, N, y, bodies, parameters):
    """Of a system without one."""
    return 0.0


def no_rotors(i, p):
    """Of a system without wheels."""
    return (0.0, 0.0, 0.0)
