"""The loads by name, and how one of your own is added to them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from polhode.arguments import identifier, text
from polhode.arguments.words import arguments_of
from polhode.errors import InvalidInput, answering, shown
from polhode.loads.load import RESERVED, Load, of
from polhode.plugins import Registry

LOADS: dict[str, Callable[..., Load]] = Registry({})  # the loads by the name of the function that makes them


@answering
def add_load(
    function: Callable[..., Any], *, name: str | None = None, description: str | None = None
) -> Callable[..., Load]:
    """Add a load of your own under the name of its function; returns the function that makes such loads.

    From then on it is a ``kind`` of records and scenarios, with keys and units as its signature says, a line of
    ``polhode systems`` and an attribute of ``polhode.loads``; runs with it are repeated from their files. Adding the
    same function twice does nothing.

    Parameters
    ----------
    function : function
        What ``polhode.loads.of`` takes, with its parameters annotated by words of ``polhode.arguments.words`` (or
        ``float``) and described in the section Parameters of its docstring; what is not annotated are bodies and what
        is found by name. Or a function that is annotated to return a ``Load``, whose arguments are the parameters of
        that load.
    name : str, optional
        An identifier; by default the name of the function.
    description : str, optional
        One line; by default the first of its docstring.

    Returns
    -------
    function
        Its arguments are the parameters of the load.

    Raises
    ------
    InvalidInput
        Not a function, a name that another load has, or an argument whose annotation says nothing to a scenario.

    Examples
    --------
    >>> import polhode as ph
    >>> def well(body, strength: float):
    ...     return -strength / (1.0 + body.position @ body.position)
    >>> _ = ph.loads.add_load(well, description="A well about the origin.")
    >>> bead = ph.system(ph.body("bead", 2.0), ph.loads.well(2.0))
    >>> ds = ph.integrate(bead, step=0.01, steps=200, position=(1, 0, 0))
    >>> bool(abs(ds.energy_error).max() < 1e-6)
    True
    """
    if not isinstance(function, FunctionType):
        raise InvalidInput(f"function must be a plain function of bodies, or one that returns a Load, not "
                           f"{shown(function)}")  # fmt: skip
    name = identifier(function.__name__ if name is None else name, "name of a load")
    before = LOADS.get(name)
    if before is not None and function in (before, getattr(before, "__wrapped__", None)):
        return before
    if before is not None or name in (*RESERVED, "body", "of", "acceleration", "add_load", "Load"):
        raise InvalidInput(f"there is already a load {name!r}, or another thing of that name; take another name")
    build = _named(function, name, description)
    arguments_of(build)
    LOADS[name] = build
    return build


def makes_loads(function: Callable[..., Any]) -> bool:
    """Whether a function is annotated to return loads."""
    return _hints(function).get("return") is Load


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function."""
    try:
        return get_type_hints(function, include_extras=True)
    except Exception as wrong:  # of whatever an annotation evaluates
        raise InvalidInput(f"the annotations of {function.__name__} cannot be read: {wrong}; import what they "
                           "name") from wrong  # fmt: skip


def _is_number(hint: object) -> bool:
    """Whether an annotation is that of a parameter."""
    inside = [one for one in get_args(hint) if one is not type(None)]
    optional = get_origin(hint) is not Annotated and len(inside) == 1
    return hint is float or get_origin(hint) is Annotated or (optional and _is_number(inside[0]))


def _named(function: Callable[..., Any], name: str, description: str | None) -> Callable[..., Load]:
    """A function that makes loads of this name and kind, of a function of bodies or by one that makes loads."""
    hints, signature, makes = _hints(function), inspect.signature(function), makes_loads(function)
    known = signature.parameters
    numbers = {one: hint for one, hint in hints.items()
               if one != "return" and (makes or (_is_number(hint) and one not in RESERVED))}  # fmt: skip
    if not makes:
        signature = inspect.Signature([known[one] for one in known if one in numbers])

    def build(*arguments: Any, **given: Any) -> Load:
        bound = signature.bind(*arguments, **given)
        bound.apply_defaults()
        if not makes:
            made = of(function, **{one: value for one, value in bound.arguments.items() if value is not None})
            return replace(made, kind=name, name=name)
        made = function(**bound.arguments)
        if not isinstance(made, Load):
            raise InvalidInput(f"{function.__name__} is annotated to return a load, but returned {shown(made)}")
        for one in made.parameters:
            if one not in known:
                raise InvalidInput(f"{function.__name__} returned a load with the parameter {one!r}, which is no "
                                   "argument of it; call both the same")  # fmt: skip
        return replace(made, kind=name, name=name)

    first, *rest = (inspect.getdoc(function) or f"A load {name}.").split("\n", 1)
    build.__doc__ = "\n".join([first if description is None else text(description, "description"), *rest])
    build.__name__ = build.__qualname__ = name
    build.__signature__, build.__annotations__ = signature, numbers  # type: ignore[attr-defined]
    found: Any = answering(build)
    found.__wrapped__, found.__signature__, found.__annotations__ = function, signature, numbers
    return found
