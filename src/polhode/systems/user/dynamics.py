"""The dynamics of a system, its roles and the user's functions in them run on tracers; see ``programs.dynamics``."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from polhode.kernel import jit
from polhode.programs.dynamics import Dynamics, FromPotential, OfUser, of_roles
from polhode.programs.graph import Graph
from polhode.programs.rewire import rewired
from polhode.programs.tracer import NotTraceable
from polhode.systems.user.derived import DERIVED
from polhode.systems.user.function import UserFunction

_kept: OrderedDict[Any, list[Dynamics]] = OrderedDict()


def _key(role: Any) -> Any:
    """What the program of a role depends on, but for the values of parameters."""
    if not isinstance(role, UserFunction):
        return role
    return role.made, role.template, role._bound(), _key(role.built)


def role_on_tracers(user: UserFunction) -> Any:
    """The role of a user's function as it is traced: the loads of a potential by its derivatives.

    Raises
    ------
    NotTraceable
        It is no plain function.
    """
    function = jit.python_of(user.function)
    if not isinstance(function, FunctionType):
        raise NotTraceable(f"it is no plain function but of type {type(user.function).__name__!r}")
    if user.form.states:
        calling = user.form.adapters.plain
        function = jit.in_python(calling, {"user": function})
    call = OfUser(rewired(function), user.described)
    bound: dict[str, Any] = dict(user._bound()) | {"call": call}
    if user.template in DERIVED:
        names = user.form.arguments.split(", ")
        built = None if user.built is None else rewired(jit.python_of(user.built))
        frame = bound.get("turned", False)
        return FromPotential(
            call, "position" in names, "q" in names, frame, user.first, len(user.parameters), built, user.own
        )
    if isinstance(user.built, UserFunction):
        bound["built"] = role_on_tracers(user.built)
    elif user.built is not None:
        bound["built"] = jit.python_of(user.built)
    return jit.bind(user.template, **bound)


def dynamics_of_roles(
    loads: Any,
    potential: Any,
    turns: Sequence[Sequence[bool]],
    auxiliary: int,
    parameters: Any,
    changing: frozenset[int],
    part: int,
) -> Dynamics:
    """The dynamics of a system; arguments as of ``programs.dynamics.of_roles``, roles may be ``UserFunction``.

    Systems whose programs are the same share one.
    """
    key = (_key(loads), _key(potential), turns, auxiliary, len(parameters), changing, part)
    for made in _kept.setdefault(key, []):
        if all(parameters[int(name[1:])] == value for name, value in made.fixed.items()):
            _kept.move_to_end(key)
            return made
    while len(_kept) > jit.KEPT_KERNELS:
        _kept.popitem(last=False)
    try:
        acting, energy = (role_on_tracers(one) if isinstance(one, UserFunction) else one for one in (loads, potential))
    except NotTraceable as problem:
        return Dynamics(Graph(), len(turns), reason=str(problem))
    made = of_roles(acting, energy, turns, auxiliary, parameters, changing, part)
    _kept[key].append(made)
    return made
