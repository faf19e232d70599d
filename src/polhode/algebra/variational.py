"""Discrete mechanics of arrays, as ``polhode.algebra.variational``: discrete Lagrangians, their equations and momenta.

A discrete Lagrangian L_d(q0, q1) approximates the action of a step h from q0 to q1. Here it is the symmetric one,

    L_d = (h/2) [L(x, v) + L(y, v)],   x = (1 - a) q0 + a q1,   y = a q0 + (1 - a) q1,   v = (q1 - q0)/h,

with a = ``alpha`` from 0 to 1 [carson2005, eq. 14]; a force F(t, q, v) is evaluated at the same points, x at the time
t + a h and y at t + (1 - a) h. Three points of a motion satisfy the discrete Euler-Lagrange equations,

    D2 L_d(q0, q1) + F+(q0, q1) + D1 L_d(q1, q2) + F-(q1, q2) = 0                       [carson2005, eq. 12, 28]

and the momenta at both ends of a step are the discrete Legendre transforms [marsden2001, 1.5, 3.2]

    p0 = -D1 L_d(q0, q1) - F-(q0, q1),      p1 = D2 L_d(q0, q1) + F+(q0, q1).

The methods "variational" and "variational_midpoint" solve these equations; the functions here are for any L and any
number n of coordinates. ``L(q, v)`` takes arrays (..., n) and returns (...,); ``gradient(q, v)``, where given, returns
its derivatives with respect to q and v, each (..., n); the default is central differences of order 8, which lose about
three digits. ``F(t, q, v)`` returns (..., n). Points have shape (..., n) with leading axes that broadcast; units are
any consistent set. Two more functions compute and compensate the energy offset of the midpoint rule on an ellipse.
Invalid arguments raise ``polhode.errors.InvalidInput``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from polhode.arguments import UNKNOWN, Array, array, function, number
from polhode.errors import InvalidInput, UserFunctionError, shown
from polhode.lazy import public_names

__all__ = [
    "discrete_euler_lagrange", "discrete_forces", "discrete_lagrangian", "legendre_minus", "legendre_plus",
    "midpoint_energy_offset", "midpoint_shifted_velocity", "slot_derivatives",
]  # fmt: skip
__dir__ = public_names(__all__)

Lagrangian = Callable[[Any, Any], Any]
Gradient = Callable[[Any, Any], tuple[Any, Any]]
Force = Callable[[Any, Any, Any], Any]

WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)  # coefficients of central differences of order 8
LARGEST = 1e100  # largest number and inverse step accepted; much larger ones would overflow when squared
SHIFT = 5e-3  # smallest shift of the differences, relative to the size of the argument, or absolute if that is 0


def _quadrature_points(
    q0: ArrayLike, q1: ArrayLike, h: ArrayLike, alpha: float
) -> tuple[Array, Array, Array, float, float]:
    """The points x and y and the velocity v of a step, with h and alpha as floats."""
    start, end = array(q0, "q0", UNKNOWN), array(q1, "q1", UNKNOWN)
    step, share = number(h, "h", UNKNOWN), number(alpha, "alpha")
    try:
        a, b = np.broadcast_arrays(start, end)
    except ValueError:
        raise InvalidInput(f"q0 and q1 have the shapes {start.shape} and {end.shape}, which do not fit") from None
    if a.ndim == 0 or not a.size:
        raise InvalidInput("q0 and q1 must have a last axis, that of the coordinates, with one or more numbers")
    largest = max(np.abs(start).max(initial=0.0), np.abs(end).max(initial=0.0))
    if not 1.0 / LARGEST <= abs(step) <= LARGEST:
        raise InvalidInput(f"h is {step:g}; a step must be finite and not zero, from {1 / LARGEST:g} to {LARGEST:g}")
    if largest > LARGEST:
        raise InvalidInput(f"q0 or q1 has entries beyond {LARGEST:g}; check the units")
    if not 0.0 <= share <= 1.0:
        raise InvalidInput(f"alpha is {share:g}; it must lie between 0 and 1")
    return (1.0 - share) * a + share * b, share * a + (1.0 - share) * b, (b - a) / step, step, share


def discrete_lagrangian(L: Lagrangian, q0: ArrayLike, q1: ArrayLike, h: float, alpha: float = 0.5) -> Array:
    """The symmetric discrete Lagrangian of a step, (...,) [carson2005, eq. 14].

    Parameters
    ----------
    L : function
        ``L(q, v)``, see the docstring of this module.
    q0, q1 : array_like (..., n)
        Start and end of the step.
    h : float
        Step size, not zero.
    alpha : float
        From 0 to 1; 1/2 is the midpoint rule, 0 and 1 the Stoermer-Verlet method.

    Raises
    ------
    InvalidInput
        Shapes that do not broadcast, h = 0, alpha out of range, numbers beyond 1e100, a function that returns the
        wrong shape.
    UserFunctionError
        L failed; ``__cause__`` is the exception it raised.

    Examples
    --------
    >>> L = lambda q, v: 0.5 * (v**2).sum(-1) - 0.5 * (q**2).sum(-1)
    >>> float(discrete_lagrangian(L, [1.0], [1.5], 0.5))
    -0.140625
    """
    x, y, v, step, _ = _quadrature_points(q0, q1, h, alpha)
    return 0.5 * step * (_checked_call(L, "L", x.shape[:-1], x, v) + _checked_call(L, "L", x.shape[:-1], y, v))


def _call(user_function: Callable[..., Any], name: str, *at: object) -> Any:
    """Call a user function; its exceptions become UserFunctionError."""
    try:
        return function(user_function, name)(*at)
    except InvalidInput:
        raise
    except Exception as failed:
        raise UserFunctionError(f"{name} failed: {type(failed).__name__}: {shown(str(failed))}") from failed


def _checked_call(user_function: Callable[..., Any], name: str, shape: tuple[int, ...], *at: object) -> Array:
    """Call a user function and check the shape of the result."""
    result = array(_call(user_function, name, *at), f"what {name} gives", UNKNOWN)
    if result.shape != shape:
        raise InvalidInput(f"what {name} gives has the shape {result.shape}; it must be {shape}, that of its arguments")
    return result


def _differences(function: Callable[[Array], Any], at: Array) -> Array:
    """Derivatives of a function (..., n) -> (...,) by central differences of order 8, (..., n)."""
    size = np.abs(at).max(axis=-1)
    shift = SHIFT * np.where(size > 0.0, size, 1.0)
    derivatives = np.empty_like(at)
    for k in range(at.shape[-1]):
        total: float | Array = 0.0
        for n, weight in enumerate(WEIGHTS, 1):
            shifted = at.copy()
            shifted[..., k] = at[..., k] + n * shift
            ahead = np.asarray(function(shifted))
            shifted = at.copy()
            shifted[..., k] = at[..., k] - n * shift
            total = total + weight * (ahead - np.asarray(function(shifted)))
        derivatives[..., k] = total / shift
    return derivatives


def _gradient_of(L: Lagrangian) -> Gradient:
    """Both derivatives of L by central differences."""

    def gradient(q: Array, v: Array) -> tuple[Array, Array]:
        return _differences(lambda x: L(x, v), q), _differences(lambda u: L(q, u), v)

    return gradient


def slot_derivatives(
    L: Lagrangian | None, q0: ArrayLike, q1: ArrayLike, h: float, alpha: float = 0.5, gradient: Gradient | None = None
) -> tuple[Array, Array]:
    """Derivatives D1 L_d and D2 L_d of the discrete Lagrangian with respect to q0 and q1, each (..., n).

    For alpha = 1/2 they are [carson2005, eq. 16, 17].

    Parameters
    ----------
    L : function or None
        ``L(q, v)``; None where ``gradient`` is given.
    q0, q1, h, alpha
        As for ``discrete_lagrangian``.
    gradient : function, optional
        ``gradient(q, v) -> (dL/dq, dL/dv)``; default central differences of L.

    Raises
    ------
    InvalidInput
        As ``discrete_lagrangian``, or neither L nor its gradient given.
    UserFunctionError
        L or its gradient failed.

    Examples
    --------
    >>> L = lambda q, v: 0.5 * (v**2).sum(-1) - 0.5 * (q**2).sum(-1)
    >>> first, second = slot_derivatives(L, [1.0], [1.5], 0.5)
    >>> round(float(first[0]), 6), round(float(second[0]), 6)
    (-1.3125, 0.6875)
    """
    x, y, v, step, a = _quadrature_points(q0, q1, h, alpha)
    if gradient is None:
        if L is None:
            raise InvalidInput("give the Lagrangian L(q, v) or its gradient")
        discrete_lagrangian(L, q0, q1, h, alpha)  # checks L
        gradient = _gradient_of(L)
    (by_x, at_x), (by_y, at_y) = (_pair(gradient, x.shape, point, v) for point in (x, y))
    momentum = 0.5 * (at_x + at_y)
    first = 0.5 * step * ((1.0 - a) * by_x + a * by_y) - momentum
    return first, 0.5 * step * (a * by_x + (1.0 - a) * by_y) + momentum


def _pair(gradient: Callable[..., Any], shape: tuple[int, ...], *at: object) -> tuple[Array, Array]:
    """The two derivatives that a gradient function returns, checked."""
    both = _call(gradient, "gradient", *at)
    if not isinstance(both, tuple | list) or len(both) != 2:
        raise InvalidInput("what gradient gives must be two arrays, the derivatives by q and by v")
    return _checked_call(lambda: both[0], "gradient", shape), _checked_call(lambda: both[1], "gradient", shape)


def discrete_forces(
    F: Force, q0: ArrayLike, q1: ArrayLike, h: float, alpha: float = 0.5, t: float = 0.0
) -> tuple[Array, Array]:
    """The symmetric discrete forces F-(q0, q1) and F+(q0, q1) of a step that begins at t, each (..., n).

    Their virtual work on a sequence of points approximates that of ``F(t, q, v)`` [marsden2001, 3.2]. For F = -dV/dq
    they are the derivatives of the part of the discrete Lagrangian that comes from -V.

    Parameters
    ----------
    F : function
        ``F(t, q, v)``, the force, of the shape of q.
    q0, q1, h, alpha
        As for ``discrete_lagrangian``.
    t : float
        Time of q0.

    Raises
    ------
    InvalidInput
        As for ``discrete_lagrangian``.
    UserFunctionError
        F failed.

    Examples
    --------
    >>> drag = lambda t, q, v: -0.2 * v
    >>> before, after = discrete_forces(drag, [1.0], [1.5], 0.5)
    >>> round(float(before[0]), 6), round(float(after[0]), 6)
    (-0.05, -0.05)
    """
    x, y, v, step, a = _quadrature_points(q0, q1, h, alpha)
    start: Any = array(t, "t", UNKNOWN)[()]
    at_x = _checked_call(F, "F", x.shape, start + a * step, x, v)
    at_y = _checked_call(F, "F", x.shape, start + (1.0 - a) * step, y, v)
    return 0.5 * step * ((1.0 - a) * at_x + a * at_y), 0.5 * step * (a * at_x + (1.0 - a) * at_y)


def _ends(
    L: Lagrangian | None, q0: ArrayLike, q1: ArrayLike, h: float, alpha: float, gradient: Gradient | None,
    F: Force | None, t: float,
) -> tuple[Array, Array]:  # fmt: skip
    """D1 L_d + F- and D2 L_d + F+ of a step."""
    first, second = slot_derivatives(L, q0, q1, h, alpha, gradient)
    if F is not None:
        minus, plus = discrete_forces(F, q0, q1, h, alpha, t)
        first, second = first + minus, second + plus
    return first, second


def legendre_minus(
    L: Lagrangian | None, q0: ArrayLike, q1: ArrayLike, h: float, alpha: float = 0.5, *,
    gradient: Gradient | None = None, F: Force | None = None, t: float = 0.0,
) -> Array:  # fmt: skip
    """The momentum p0 = -D1 L_d - F- at the start of a step from q0 to q1 that begins at t, (..., n).

    Arguments as for ``slot_derivatives`` and ``discrete_forces``. Without a force this is the discrete Legendre
    transform F^- L_d [carson2005, eq. 18], with a force that of [marsden2001, 3.2.3].

    Parameters
    ----------
    L, gradient
        As for ``slot_derivatives``.
    q0, q1, h, alpha
        As for ``discrete_lagrangian``.
    F, t
        As for ``discrete_euler_lagrange``.

    Examples
    --------
    >>> L = lambda q, v: 0.5 * (v**2).sum(-1) - 9.81 * q.sum(-1)
    >>> round(float(legendre_minus(L, [0.0], [1.0], 0.1)[0]), 6)
    10.4905
    """
    return -_ends(L, q0, q1, h, alpha, gradient, F, t)[0]


def legendre_plus(
    L: Lagrangian | None, q0: ArrayLike, q1: ArrayLike, h: float, alpha: float = 0.5, *,
    gradient: Gradient | None = None, F: Force | None = None, t: float = 0.0,
) -> Array:  # fmt: skip
    """The momentum p1 = D2 L_d + F+ at the end of a step from q0 to q1 that begins at t, (..., n).

    Arguments as for ``slot_derivatives`` and ``discrete_forces`` [carson2005, eq. 13].

    Parameters
    ----------
    L, gradient
        As for ``slot_derivatives``.
    q0, q1, h, alpha
        As for ``discrete_lagrangian``.
    F, t
        As for ``discrete_euler_lagrange``.

    Examples
    --------
    >>> L = lambda q, v: 0.5 * (v**2).sum(-1) - 9.81 * q.sum(-1)
    >>> round(float(legendre_plus(L, [0.0], [1.0], 0.1)[0]), 6)
    9.5095
    """
    return _ends(L, q0, q1, h, alpha, gradient, F, t)[1]


def discrete_euler_lagrange(
    L: Lagrangian | None, q0: ArrayLike, q1: ArrayLike, q2: ArrayLike, h: float, alpha: float = 0.5, *,
    gradient: Gradient | None = None, F: Force | None = None, t: float = 0.0,
) -> Array:  # fmt: skip
    """Residual of the discrete Euler-Lagrange equations at q1, (..., n): zero along a motion.

    D2 L_d(q0, q1) + D1 L_d(q1, q2), plus both discrete forces where there is a force [carson2005, eq. 12, 28]. It has
    the unit of momentum.

    Parameters
    ----------
    L, gradient
        As for ``slot_derivatives``.
    q0, q1, q2 : array_like (..., n)
        Three points at times t, t + h, t + 2 h.
    h, alpha
        As for ``discrete_lagrangian``.
    F : function, optional
        ``F(t, q, v)``, the forces that are not in L.
    t : float
        Time of q0.

    Raises
    ------
    InvalidInput, UserFunctionError
        As for ``slot_derivatives``.

    Examples
    --------
    >>> import numpy as np
    >>> L = lambda q, v: 0.5 * (v**2).sum(-1) - 0.5 * (q**2).sum(-1)
    >>> t = 0.01 * np.arange(3.0)
    >>> residual = discrete_euler_lagrange(L, *np.cos(t)[:, None], 0.01)
    >>> bool(abs(residual[0]) < 1e-6)
    True
    """
    end = legendre_plus(L, q0, q1, h, alpha, gradient=gradient, F=F, t=t)
    later: Any = array(t, "t", UNKNOWN) + number(h, "h", UNKNOWN)
    return end - legendre_minus(L, q1, q2, h, alpha, gradient=gradient, F=F, t=later)


# ------------------------------------------------------------------ energy of the midpoint rule on an ellipse
def midpoint_energy_offset(position: ArrayLike, velocity: ArrayLike, h: float, mu: float) -> Array:
    """Mean energy offset of the midpoint rule (alpha = 1/2) on an elliptic orbit.

    The rule conserves H - (h^2/24) H''(z', z') to O(h^4) [hairer2006, IX.3], and with a unit mass and V = -mu/r

        H''(z', z') = d/dt (v . grad V) + 2 mu^2/r^4,   mean of 1/r^4 = (1 + e^2/2) / (a^4 (1 - e^2)^(5/2)),

    so the offset is h^2/24 times the mean of this expression minus its initial value.

    Parameters
    ----------
    position, velocity : array_like (..., 3)
        Initial state, relative to the centre.
    h : float
        Step size.
    mu : float
        Gravity parameter, positive.

    Returns
    -------
    array (...)
        Mean energy minus initial energy, per unit mass, to O(h^4).

    Raises
    ------
    InvalidInput
        Not an ellipse, or mu not positive.

    Examples
    --------
    >>> orbit = (0.0, 1664.029, 0.0), (1.550663, 0.0, 0.0)
    >>> float(midpoint_energy_offset(*orbit, 10.0, 3200.9998) / 0.7213663695887)
    -1.1448...e-05
    """
    r, v = array(position, "position", "m"), array(velocity, "velocity", "m / s")
    h, mu = number(h, "h", "s", most=LARGEST), number(mu, "mu", "m**3 / s**2", most=LARGEST)
    if r.shape[-1:] != (3,) or v.shape[-1:] != (3,):
        raise InvalidInput("position and velocity must have a last axis of length 3")
    try:
        np.broadcast_shapes(r.shape, v.shape)
    except ValueError:
        raise InvalidInput(f"position and velocity have the shapes {r.shape} and {v.shape}, which do not fit") from None
    with np.errstate(all="ignore"):
        d, square, along = np.linalg.norm(r, axis=-1), (v * v).sum(-1), (r * v).sum(-1)
        inverse_a = 2.0 / d - square / mu
        momentum = d * d * square - along * along
        eccentric = 1.0 - momentum * inverse_a / mu  # e^2
        if not (mu > 0.0 and np.all(inverse_a > 0.0) and np.all(momentum > 0.0)):
            raise InvalidInput("the orbit must be an ellipse about a centre of positive mu: no mean exists on others")
        mean = 2.0 * mu**2 * inverse_a**4 * (1.0 + 0.5 * eccentric) / (1.0 - eccentric) ** 2.5
        start = mu * (square / d**3 - mu / d**4 - 3.0 * along**2 / d**5) + 2.0 * mu**2 / d**4
        offset = np.asarray(h * h / 24.0 * (mean - start))
    if not np.isfinite(offset).all():
        raise InvalidInput("position, velocity and mu are beyond what can be squared; check their units")
    return offset


def midpoint_shifted_velocity(position: ArrayLike, velocity: ArrayLike, h: float, mu: float) -> Array:
    """Initial velocity for which the energy of the midpoint rule oscillates about that of the given orbit, (..., 3).

    The given velocity, rescaled to cancel ``midpoint_energy_offset`` up to O(h^4). This corrects the mean energy only;
    the phase error remains O(h^2). The method "variational_midpoint4" removes both, for all loads that depend on time
    and configuration.

    Parameters
    ----------
    position, velocity : array_like (..., 3)
        State at the start.
    h : float
        Step size.
    mu : float
        Gravity parameter, positive.

    Raises
    ------
    InvalidInput
        As ``midpoint_energy_offset``, or a step so large that no velocity has that energy.

    Examples
    --------
    >>> v = midpoint_shifted_velocity((7000e3, 0.0, 0.0), (0.0, 7.6e3, 0.0), 60.0, 3.986e14)
    >>> round(float(v[1]), 2)
    7600.16
    """
    v = array(velocity, "velocity", "m / s")
    square = 1.0 - 2.0 * midpoint_energy_offset(position, v, h, mu) / (v * v).sum(-1)
    if not np.all(square > 0.0):
        raise InvalidInput(
            f"h is {h:g}, and the energy offset of such steps exceeds the kinetic energy at position; take a "
            "smaller step"
        )
    return np.asarray(np.sqrt(square)[..., None] * v)
