"""Users' functions added to the built-in loads of a system."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from polhode.errors import InvalidInput
from polhode.kernel import layout as slots
from polhode.kernel.jit import python_of
from polhode.systems.user import roles
from polhode.systems.user.derived import program_of
from polhode.systems.user.function import UserFunction
from polhode.systems.user.roles import FORMS, Form
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

ENERGIES = ("potential", "reported_energy")
"""Functions that are energies; all others are loads."""
ACTS = {"acts": True}
"""In the record of a potential beside a load. In records that were written before there was ``reported_energy`` it is
missing, and such a potential was only reported."""


def records_of(functions: Mapping[str, UserFunction]) -> dict[str, Any]:
    """Records of functions, among the arguments of a system."""
    found: dict[str, Any] = {name: function.record() for name, function in functions.items()}
    if "potential" in found and len(found) > 1:
        found["potential"] |= ACTS
    return found


def takes_states(form: Form, function: Any) -> bool:
    """Whether a function takes one argument more than those of a form without states."""
    try:
        inspect.signature(python_of(function)).bind(*form.arguments.split(","), "states")
    except Exception:  # no function: what it is given to says so
        return False
    return True


def check_together(
    functions: Mapping[str, tuple[Any, ...]], parameters: Any, states: bool, handed: bool = False
) -> None:
    """Refuse functions that cannot be combined, or are missing: those by keyword that are given, or None.

    Raises
    ------
    InvalidInput
    """
    names = [name for name, (function, *_) in functions.items() if function is not None]
    forces = [name for name in names if name not in ENERGIES]
    takers = " or ".join(name for name in functions if name not in ENERGIES)
    if "reported_energy" in names and "potential" in names:
        raise InvalidInput("potential and reported_energy are both given; the energy of the potential is reported "
                           "anyway, so leave reported_energy out")  # fmt: skip
    if "reported_energy" in names and not forces:
        raise InvalidInput(f"reported_energy is only reported, beside a {takers}, but none is given; a potential that "
                           "acts is given as potential")  # fmt: skip
    if states and not forces:
        raise InvalidInput(f"states are read and changed by a {takers}, but none is given; write it, with states as "
                           "its last argument")  # fmt: skip
    if not names and parameters is not None and not handed:
        raise InvalidInput(f"parameters are handed to a function ({', '.join(functions)}), but none is given")
    if len(forces) > 1:
        raise InvalidInput(f"{' and '.join(forces)} are given; keep one of them, a load contains force and torque")


@dataclass(frozen=True)
class AddedFunctions:
    """Roles of a system with the user's functions included, and the record of the functions.

    Attributes
    ----------
    loads, potential : function or UserFunction
        The roles.
    parameters : array
        The built-in parameters, then the user's.
    work : tuple of str
        The functions whose works are auxiliary variables, after the built-in ones. That of a potential is what it does
        by changing in time.
    given : mapping of str to UserFunction
        The functions by keyword.
    arguments : mapping
        Records of the functions and the user's parameters; empty without functions.
    """

    loads: Any
    potential: Any
    parameters: Any
    work: tuple[str, ...] = ()
    given: dict[str, UserFunction] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)

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
    loads: Any,
    potential: Any,
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
        By keyword: the function or None, the role that adds it and, for a potential that acts, the role of its
        derivative. Loads are added to the built-in ones and to these.
    loads, potential : function or None
        The built-in roles; None where there are none, and a load is added to a potential's or stands alone.
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
        More than one load; a function with several bodies; parameters without a function; an energy that is reported
        of nothing.
    """
    held, own_states, cleared, handed = states
    names = [name for name, (function, *_) in functions.items() if function is not None]
    forces = [name for name in names if name not in ENERGIES]
    check_together(functions, parameters, bool(own_states or cleared), handed)
    if not names:
        if parameters is not None and handed:
            handed_on = {"parameters": parameters.tolist()}
            return AddedFunctions(loads, potential, np.concatenate([numbers, parameters]), arguments=handed_on)
        return AddedFunctions(loads, potential, numbers)
    if N > 1:
        raise InvalidInput(f"{names[0]} is a function of one body, but there are {N}; build a system for each of them")
    user_values = np.zeros(0) if parameters is None else parameters
    every = np.concatenate([numbers, user_values])
    given: dict[str, UserFunction] = {}
    work: tuple[str, ...] = ()
    acting = functions.get("potential", (None,))[0] is not None
    if acting:
        function, _, slope = functions["potential"]
        loads = UserFunction(_form_of(slope, "potential"), function, slope, frame, every, loads, len(numbers))
        work = ("potential",) * (record_work and loads.drives)
    work += tuple(forces) * (record_work and "reported_energy" not in names)
    read_from = own + len(work)
    size = slots.LOAD + read_from + sum(max(1, one) for _, one in (*held, *own_states))
    if acting:
        loads = replace(loads, own=own if "potential" in work else -1, size=size, states_at=read_from)
    for name in names:
        function, role, *_ = functions[name]
        form = _form_of(role, name)
        if name in ENERGIES:
            looked = loads.looked if acting else None  # the same function
            energy = UserFunction(form, function, role, frame, every, potential, len(numbers), looked=looked)
            potential = given[name] = energy
            continue
        if own_states or cleared or (held and takes_states(form, function)):
            form, role = form.with_states((*held, *own_states), len(held), cleared), roles.load_with_states_added
        loads = given[name] = UserFunction(
            form, function, role, frame, every, loads, len(numbers), read_from - 1 if name in work else -1, size,
            states_at=read_from,
        )  # fmt: skip
    arguments = records_of(given) | ({} if parameters is None else {"parameters": user_values.tolist()})
    return AddedFunctions(loads, potential, every, work, given, arguments)


def _form_of(role: Any, name: str) -> Form:
    """The form of a function by the role that adds it and its keyword."""
    kind = role.__name__.removesuffix("_loads").removesuffix("_added").replace("_gradient", "_potential")
    form = FORMS[kind]
    return replace(form, what=name) if name in ENERGIES else form
