"""Users' functions added to the built-in loads of a system."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InvalidInput
from polhode.kernel import layout as slots
from polhode.kernel.jit import python_of
from polhode.systems.user.derived import program_of
from polhode.systems.user.function import UserFunction
from polhode.systems.user.roles import FORMS, Form, load_with_states_added
from polhode.systems.user.states import Sizes


class Behind(NamedTuple):
    """States behind all works, for functions.

    Attributes
    ----------
    held : tuple of (str, int)
        Names and sizes of those whose rates no function returns: it may read them, if it takes states.
    own : tuple of (str, int)
        Those of the user behind them, whose rates a function returns.
    cleared : int
        How many numbers of ``held``, the last ones, have the rate zero, for which a function must be there.
    handed : bool
        Whether others, too, take the user's parameters.
    """

    held: Sizes = ()
    own: Sizes = ()
    cleared: int = 0
    handed: bool = False


NONE_BEHIND = Behind()


def takes_states(form: Form, function: Any) -> bool:
    """Whether a function takes one argument more than those of a form without states."""
    try:
        inspect.signature(python_of(function)).bind(*form.arguments.split(","), "states")
    except Exception:  # no function: what it is given to says so
        return False
    return True


@dataclass(frozen=True)
class AddedFunctions:
    """Roles of a system with the user's functions included, and the record of the functions.

    Attributes
    ----------
    loads, potential : function or UserFunction
        The roles.
    parameters : array
        The built-in parameters, then the user's.
    work : str
        The function whose work is an auxiliary variable, after the built-in ones; empty if none. That of a potential is
        what it does by changing in time.
    given : mapping of str to UserFunction
        The functions by keyword.
    arguments : mapping
        Records of the functions and the user's parameters; empty without functions.
    """

    loads: Any
    potential: Any
    parameters: Any
    work: str
    given: dict[str, UserFunction]
    arguments: dict[str, Any]

    @property
    def conservative(self) -> bool:
        """Whether there are no functions, or only a potential that does not read the time."""
        return not set(self.given) - {"potential"} and all(one.autonomous for one in self.given.values())

    @property
    def all_potential(self) -> bool:
        """Whether the loads of the functions, if there are any, are those of a potential that can be traced."""
        loads = self.loads
        return not isinstance(loads, UserFunction) or (
            set(self.given) == {"potential"} and program_of(loads).program is not None
        )

    @property
    def velocity_dependent(self) -> bool:
        """Whether the user's function may depend on velocities."""
        return isinstance(self.loads, UserFunction) and self.loads.velocity_dependent


def added_functions(
    functions: Mapping[str, tuple[Any, ...]],
    loads: Callable[..., Any],
    potential: Callable[..., Any],
    numbers: Any,
    own: int,
    parameters: Any,
    N: int = 1,
    frame: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0),
    record_work: bool = True,
    states: Behind = NONE_BEHIND,
) -> AddedFunctions:
    """Add the user's functions to built-in roles.

    Parameters
    ----------
    functions : mapping
        By keyword: the function or None, the role that adds it and, for a potential, the role of its derivative.
    loads, potential : function
        The built-in roles.
    numbers : array
        Their parameters.
    own : int
        Number of their auxiliary variables.
    parameters : array, optional
        The user's parameters.
    N : int
        Number of bodies.
    frame : 4-tuple
        Quaternion from the principal to the user's body frame.
    record_work : bool
        Whether the work of the functions is recorded.
    states : Behind
        The states that follow all works.

    Raises
    ------
    InvalidInput
        More than one load; a function with several bodies; parameters without a function.
    """
    held, own_states, cleared, handed = states
    names = [name for name, (function, *_) in functions.items() if function is not None]
    forces = [name for name in names if name != "potential"]
    if (own_states or cleared) and not forces:
        takers = " or ".join(name for name in functions if name != "potential")
        raise InvalidInput(f"states are read and changed by a {takers}, but none is given; write it, with states as "
                           "its last argument")  # fmt: skip
    if not names:
        if parameters is not None and handed:
            handed_on = {"parameters": parameters.tolist()}
            return AddedFunctions(loads, potential, np.concatenate([numbers, parameters]), "", {}, handed_on)
        if parameters is not None:
            raise InvalidInput(f"parameters are handed to a function ({', '.join(functions)}), but none is given")
        return AddedFunctions(loads, potential, numbers, "", {}, {})
    if len(forces) > 1:
        raise InvalidInput(f"{' and '.join(forces)} are given; keep one of them, a load contains force and torque")
    if N > 1:
        raise InvalidInput(f"{names[0]} is a function of one body, but there are {N}; build a system for each of them")
    user_values = np.zeros(0) if parameters is None else parameters
    every = np.concatenate([numbers, user_values])
    work = forces[0] if forces and "potential" not in names else ""
    if not forces:
        function, role, slope = functions["potential"]
        form = FORMS[role.__name__.removesuffix("_added")]
        if UserFunction(form, function, slope, frame, every, loads, len(numbers)).drives:
            work = "potential"
    work = work if record_work else ""
    read_from = own + bool(work)
    size = slots.LOAD + read_from + sum(max(1, one) for _, one in (*held, *own_states))
    work_slots: dict[str, Any] = {"own": own if work else -1, "size": size, "states_at": read_from}
    given: dict[str, UserFunction] = {}
    roles: dict[str, Any] = {"loads": loads, "potential": potential}
    for name in names:
        function, role, *slope = functions[name]
        form = FORMS[role.__name__.removesuffix("_added")]
        if name != "potential" and (own_states or cleared or (held and takes_states(form, function))):
            form = form.with_states((*held, *own_states), len(held), cleared)
            role = load_with_states_added
        built = potential if name == "potential" else loads
        slots_of: dict[str, Any] = {} if name == "potential" else work_slots
        given[name] = UserFunction(form, function, role, frame, every, built, len(numbers), **slots_of)
        roles["potential" if name == "potential" else "loads"] = given[name]
        if slope and not forces:
            roles["loads"] = UserFunction(form, function, slope[0], frame, every, loads, len(numbers), **work_slots)
    arguments = {name: function.record() for name, function in given.items()}
    return AddedFunctions(
        roles["loads"], roles["potential"], every, work, given,
        arguments if parameters is None else {**arguments, "parameters": user_values.tolist()},
    )  # fmt: skip
