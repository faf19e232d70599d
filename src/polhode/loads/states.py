"""States without a body: numbers that have rates, such as temperatures, spins, or any system of equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polhode.arguments import ArrayLike, mapping
from polhode.errors import InvalidInput, answering
from polhode.lazy import public_names
from polhode.loads.load import Load, of_user

__all__ = ["of"]
__dir__ = public_names(__all__)


@answering
def of(
    function: Callable[..., Any], parameters: Mapping[str, Any] | None = None, **starts: ArrayLike | Mapping[str, Any]
) -> Load:
    """States of your own that belong to no body, for ``polhode.system``.

    A system may have nothing else: methods for any equations (Runge-Kutta, implicit ones, Taylor series) integrate
    them, and they have derivatives, ensembles and events as bodies have.

    Parameters
    ----------
    function : function
        Its arguments are found by name: ``t`` (s), a parameter, a state, of these or of loads. It returns a mapping of
        the names of states to their rates.
    parameters : mapping, optional
        Its numbers by name.
    **starts : float, array_like or mapping
        The states: their values at the start, or how many numbers there are (an int), or a mapping with ``size`` or
        ``start``, and ``unit``.

    Returns
    -------
    Load
        A summand on no body.

    Raises
    ------
    InvalidInput
        No plain function, no state, or a name that is taken.

    Examples
    --------
    >>> import polhode as ph
    >>> def predators(hares, lynxes, growth, hunger):
    ...     return {"hares": growth * hares - hares * lynxes, "lynxes": hares * lynxes - hunger * lynxes}
    >>> pair = ph.system(ph.states.of(predators, {"growth": 1.1, "hunger": 0.4}, hares=1.0, lynxes=0.5))
    >>> ds = ph.integrate(pair, step=0.05, steps=200)
    >>> round(float(ds.hares[-1]), 6)
    0.555524
    """
    if not starts:
        raise InvalidInput("there is no state; give the values at the start by their names, such as heat=20.0")
    return of_user(function, mapping({} if parameters is None else parameters, "parameters"), "states").states(**starts)
