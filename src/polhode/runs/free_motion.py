"""The free motion of a rigid body without stepping: attitudes and momenta at any times.

Arguments are arrays whose leading axes broadcast against each other, so that one body at many times, many bodies at one
time, and every mixture is one call; one body at one time takes a short way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.algebra import rotation
from polhode.algebra.quaternion import conjugate, multiply, normalize, rotate, rotate_inverse
from polhode.algebra.short_rows import largest, smallest
from polhode.algebra.so3 import add, axpy, dot, scale
from polhode.algebra.vectorised import Operand, Rows, numbers, plain
from polhode.arguments import Mask, array, number, text, truth
from polhode.bodies.inertia import RELATIVE_TOLERANCE
from polhode.bodies.inertia.principal_axes import of_many
from polhode.errors import InvalidInput, unknown_name
from polhode.flows import free_rotation as flow
from polhode.flows.sums import shortfall, swing
from polhode.kernel import drive, layout as slots
from polhode.kernel.jit import helper
from polhode.methods import method as find_method
from polhode.methods.free_flows import FLOW_NAMES, find
from polhode.runs.initial_state import ANGULAR_MOMENTUM, ATTITUDE
from polhode.runs.state import FORMS, State, as_kept

Array = NDArray[np.float64]

IDENTITY = (1.0, 0.0, 0.0, 0.0)
FARTHEST = 1e150
"""Most that a moment of inertia may be in units of another one of the body, so that products do not overflow."""
UNTURNED = np.array(IDENTITY)
THIN = -1.0
"""The status of a motion that is refused with NO_TURN."""
NO_TURN = (
    "momentum has a part along the axis about which the moment of inertia is zero, but a body without thickness does "
    "not turn about its own axis; leave that part out, or give the body a thickness"
)


class FreeMotion(NamedTuple):
    """Attitudes (..., 4), body to space, and angular momenta (..., 3) in the body frame."""

    attitude: Array
    angular_momentum: Array


# ------------------------------------------------------------------ input
def momenta_of(value: ArrayLike, name: str = "momentum") -> Array:
    m = array(value, name, "kg * m**2 / s")
    if m.shape[-1:] != (3,):
        raise InvalidInput(f"momentum has shape {m.shape}; its last axis must have length 3")
    return m


def bodies_of(inertia: ArrayLike, physical: bool) -> tuple[Array, Array]:
    """Principal moments (..., 3) and frames (..., 4) of every body, of those only that can exist if ``physical``."""
    given = array(inertia, "inertia", "kg * m**2")
    if given.shape[-1:] != (3,):
        raise InvalidInput(f"inertia has shape {given.shape}; its last axis must have length 3")
    leading = given.shape[: -2 if given.shape[-2:] == (3, 3) else -1]
    at: Any = lambda k: "inertia" + f"[{','.join(map(str, np.unravel_index(k, leading)))}]" * bool(leading)  # noqa: E731
    moments, frames = of_many(given.reshape(-1, *given.shape[len(leading) :]), physical, at)
    for k in np.flatnonzero(_too_far_apart(moments)):
        raise InvalidInput(f"{at(k)} has moments more than {FARTHEST:g} times as large as others; check their "
                           "units, or give 0 for that of a rod about its axis")  # fmt: skip
    return moments.reshape(*leading, 3), frames.reshape(*leading, 4)


def _too_far_apart(moments: Array) -> Mask:
    return largest(moments) / FARTHEST > smallest(np.where(moments > 0.0, moments, np.inf))


def solid(moments: Array, m: Array) -> tuple[Array, Array]:
    """Moments (..., 3) and momenta (..., 3, principal frame); a body without thickness turns as a sphere does."""
    thin = moments == 0.0
    if not thin.any():
        return moments, m
    along = np.where(thin, m, 0.0)
    if (np.linalg.norm(along, axis=-1) > RELATIVE_TOLERANCE * np.linalg.norm(m, axis=-1)).any():
        raise InvalidInput(NO_TURN)
    return np.where(thin, moments.max(axis=-1, keepdims=True), moments), m - along


def _of_state(state: State, moments: Array, frames: Array) -> tuple[ArrayLike, ArrayLike | None]:
    """Angular momentum (body frame) and attitude of a state that says nothing else."""
    for name in state.given:
        if name not in (*FORMS, "time", "since"):
            raise InvalidInput(f"{name} is given, but the free motion is that of a body that turns; leave it out")
    turned = as_kept(state.given)
    if "angular_velocity" in turned:
        w = to_principal(frames, array(turned["angular_velocity"], "angular_velocity", "rad / s"))
        return to_user(frames, moments * w), turned.get("attitude")
    return turned.get("angular_momentum", (0.0, 0.0, 0.0)), turned.get("attitude")


def attitudes_of(attitude: ArrayLike | None) -> Array:
    if attitude is None:
        return UNTURNED
    return rotation.as_quaternion(attitude)


def _turns(frames: Array) -> bool:
    return bool((frames != IDENTITY).any())


def to_principal(frames: Array, m: Array) -> Array:
    return rotation.rotate_inverse(frames, m) if _turns(frames) else m


def to_user(frames: Array, m: Array) -> Array:
    return rotation.rotate(frames, m) if _turns(frames) else m


# ------------------------------------------------------------------ motion
@functools.lru_cache(256)
def _body(inertia: tuple[float, ...], physical: bool) -> Array:
    """Principal moments and frame of one body, of 3 moments or of the 9 entries of a tensor."""
    return np.concatenate(bodies_of(inertia if len(inertia) == 3 else np.reshape(inertia, (3, 3)), physical))


@helper
def moved(body, m, t, q):
    """Attitude and angular momentum of a body of these moments and frame after the time t, and a status."""
    I, frame = (body[0], body[1], body[2]), (body[3], body[4], body[5], body[6])
    turned = not (frame[0] == 1.0 and frame[1] == 0.0 and frame[2] == 0.0 and frame[3] == 0.0)
    if turned:
        m, q = rotate_inverse(normalize(frame), m), multiply(q, frame)
    most, status = max(I[0], I[1], I[2]), float(slots.OK)
    if I[0] == 0.0 or I[1] == 0.0 or I[2] == 0.0:  # a body without thickness turns as a sphere does
        along = (m[0] if I[0] == 0.0 else 0.0, m[1] if I[1] == 0.0 else 0.0, m[2] if I[2] == 0.0 else 0.0)
        if sqrt(dot(along, along)) > RELATIVE_TOLERANCE * sqrt(dot(m, m)):
            status = THIN
        I, m = (most, most, most), axpy(-1.0, along, m)
    unit = flow.power_of_two(I)  # of inertia and momentum together: subnormal moments have no inverses
    I, m = scale(unit, I), scale(unit, m)
    j = (1.0 / I[0], 1.0 / I[1], 1.0 / I[2])
    angle = t * (abs(j[0] * m[0]) + abs(j[1] * m[1]) + abs(j[2] * m[2]))
    if 0.0 * angle != 0.0:
        return q + m + (float(slots.NOT_FINITE),)
    dm, e = flow.increment(j, I, m, t)
    a, m = swing(q, e, shortfall(q)), add(m, dm)
    q, m = (q[0] + a[0], q[1] + a[1], q[2] + a[2], q[3] + a[3]), (m[0] / unit, m[1] / unit, m[2] / unit)
    if 0.0 * (q[0] + q[1] + q[2] + q[3]) != 0.0:
        status = float(slots.NOT_FINITE)
    if turned:
        q, m = multiply(q, conjugate(frame)), rotate(normalize(frame), m)
    return q + m + (status,)


_MOVED = Rows(moved, (8,), inertia=Operand(7, array), momentum=Operand(3, momenta_of), t=numbers("s"),
              attitude=Operand(4, array))  # fmt: skip


def free_motion(
    inertia: ArrayLike, momentum: ArrayLike | State, t: ArrayLike, attitude: ArrayLike | None = None,
    *, physical: bool = True,
) -> FreeMotion:  # fmt: skip
    """Attitude and angular momentum of a free rigid body at any times, each straight from the state at time 0.

    No stepping: every time costs less than a microsecond and has the error of the data alone, which grows with time
    only as the phase of the motion does (about 1e-16 times the angle turned).

    Parameters
    ----------
    inertia : array_like (..., 3) or (..., 3, 3)
        Three principal moments in any order, or the full tensor, in the body frame, as of
        ``free_body``. An array that ends in (3, 3) is read as tensors: for three bodies given by
        their moments, write shape (3, 1, 3) or stack diagonal tensors.
    momentum : array_like (..., 3), or State
        Angular momentum at time 0, body frame. Zero is allowed. Or the ``polhode.State`` of a body that turns, with its
        time, attitude and rates in any of their forms.
    t : array_like (...)
        Times, of any sign, size and order.
    attitude : array_like (..., 4), optional
        Attitude at time 0, a unit quaternion (w, x, y, z), body to space; the identity when left out.
    physical : bool
        Whether a moment above the sum of the two others, which no body can have, is refused, as by ``free_body``.

    Returns
    -------
    FreeMotion
        ``attitude`` (..., 4) and ``angular_momentum`` (..., 3) at the times, the latter in the body frame. Leading axes
        of all arguments broadcast: ``t`` of shape (n,) and one momentum of shape (3,) give (n, 4) and (n, 3).

    Raises
    ------
    InvalidInput
        Wrong shapes, not finite, moments not positive or of no body, attitudes not of unit length, times at which the
        angle turned overflows, or a State that says more than how a body is turned and turns.

    Notes
    -----
    Jacobi's elliptic functions and an integral over the motion [celledoni2008, prop. 2.1], see
    ``polhode.flows.free_rotation``. In 10,000 stress draws (rods, near-symmetric bodies, momenta near axes and
    separatrix, angles to 1e4) the error was never more than a few times what one unit in the last place of the data
    changes; energy and spatial momentum hold to 2e-15 at any time.

    Examples
    --------
    >>> import numpy as np
    >>> q, m = free_motion((1.0, 1.5, 2.0), (0.1, 1.0, 0.2), np.linspace(0, 1e6, 5))
    >>> q.shape, m.shape
    ((5, 4), (5, 3))
    >>> energy = np.sum(m * m / (1.0, 1.5, 2.0), axis=-1) / 2
    >>> bool(np.ptp(energy) < 1e-15)
    True
    """
    real = truth(physical, "physical")
    given = plain(inertia, 3)
    if given is None and type(inertia) is np.ndarray and inertia.shape == (3, 3) and inertia.dtype == float:
        given = inertia.ravel().tolist()
    body = np.concatenate(bodies_of(inertia, real), axis=-1) if given is None else _body(tuple(given), real)
    if isinstance(momentum, State):
        if attitude is not None:
            raise InvalidInput("attitude is given, but a State has it; keep one of them")
        t = array(t, "t", "s") - number(momentum.time, "time", "s")
        momentum, attitude = _of_state(momentum, body[..., :3], body[..., 3:])
    out = _MOVED(body, momentum, t, attitudes_of(attitude))
    if out.ndim == 1 and out[7] == slots.OK:
        return FreeMotion(out[:4], out[4:7])
    status = out[..., 7]
    if status.any():
        if (status == THIN).any():
            raise InvalidInput(NO_TURN)
        k = np.flatnonzero(status)[0]
        when = np.broadcast_to(array(t, "t"), status.shape).reshape(-1)[k]
        raise InvalidInput(f"the angle turned by t = {when:g} overflows; check the units of inertia, momentum and t")
    return FreeMotion(np.ascontiguousarray(out[..., :4]), np.ascontiguousarray(out[..., 4:7]))


def free_rotation(flow: str, *, guard: bool = True, **options: Any) -> Callable[..., tuple[Array, Array, Mask]]:
    """A free rotation of splittings, which turns many bodies at once, each on its own and step by step.

    Parameters
    ----------
    flow : str
        Its name, such as ``"dmv6"``: see ``polhode.methods.FLOW_NAMES``.
    guard : bool
        Whether steps that turn a body further than this rotation is made for fail, as they do in runs.
    **options
        Options of the rotation, such as ``solver="fixed_point"``.

    Returns
    -------
    function
        ``turn(attitude, angular_momentum, moments, h, n=1)`` takes n steps of h from attitudes (K, 4) and angular
        momenta (K, 3) of bodies with these principal moments (K, 3), and returns the attitudes and momenta that they
        lead to, and whether all steps were taken (K,). A body whose step fails stays there. Momenta are in the frame of
        the principal axes. The moments may be such as no body has; nothing is checked. Threads may share it.

    Raises
    ------
    InvalidInput
        An unknown name or option.

    See Also
    --------
    free_motion : the exact motion at any times, without steps.

    Examples
    --------
    >>> import polhode as ph
    >>> turn = ph.runs.free_rotation("dmv6")
    >>> q, m, good = turn([(1, 0, 0, 0)], [(0.1, 1.0, 0.2)], [(1.0, 1.5, 2.0)], 0.01, 100)
    >>> exact = ph.free_motion((1.0, 1.5, 2.0), (0.1, 1.0, 0.2), 1.0)
    >>> good.tolist(), bool(abs(m[0] - exact.angular_momentum).max() < 1e-12)
    ([True], True)
    """
    row = find(text(flow, "flow"))
    if row is None:
        raise unknown_name("free rotation", flow, FLOW_NAMES)
    chosen = find_method(f"v2/{flow}", **options).options
    sweep, guarded = drive.sweep_of(row.build(**{name: chosen[name] for name in row.options})), truth(guard, "guard")

    def turn(
        attitude: Array, angular_momentum: Array, moments: ArrayLike, h: float, n: int = 1
    ) -> tuple[Array, Array, Mask]:
        return _turned(sweep, attitude, angular_momentum, np.asarray(moments, dtype=float), h, n, guarded)

    return turn


def _turned(
    sweep: Callable[..., None], q: Array, m: Array, moments: Array, h: float | Array, n: int = 1, guarded: bool = False
) -> tuple[Array, Array, Mask]:
    """Attitudes and momenta of bodies after n steps of a compiled loop, and whether all were taken."""
    y, step_info, ones = np.zeros((len(moments), slots.BODY)), np.zeros(slots.STEP_INFO), np.ones((len(moments), 1))
    y[:, ATTITUDE], y[:, ANGULAR_MOMENTUM], step_info[slots.GUARDED] = q, m, guarded
    status, iterations = np.zeros((2, len(y)), dtype=np.int64)
    bodies = np.hstack([ones, moments, ones, 1.0 / moments])
    sweep(n, np.full(len(y), h, dtype=float), y, bodies, step_info, status, iterations)
    return y[:, ATTITUDE], y[:, ANGULAR_MOMENTUM], status == slots.OK


def power_of_two(a: Array) -> Array:
    one: Array = np.ldexp(1.0, -np.clip(np.frexp(np.abs(a).max(axis=-1, keepdims=True))[1], -1000, 1000))
    return one
