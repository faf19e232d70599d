"""Controllers: functions that set states, at equal intervals of time, or at an event or a time in a sum.

Those at equal intervals sample and hold. Between its sampling times phase + k every (all whole k) a controller does
nothing, and what it has set is held. At such a time its function is called with the state, before the step that starts
there; a row of a trajectory at that time has what it sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from types import FunctionType
from typing import Annotated, Any, ClassVar, Self

from polhode.arguments import UNKNOWN, array, has, identifier, in_unit, mapping, number, text, truth
from polhode.arguments.recorded import made_by, plain
from polhode.arguments.words import Form, ListOf, NumberOrNumbers, Time, Unit
from polhode.errors import InvalidInput, answering, shown, unknown_name
from polhode.loads.load import RESERVED, Load, numbers_of, time_or_event
from polhode.programs.written import module_of
from polhode.systems.record import AuxiliaryVariable
from polhode.systems.states import States
from polhode.systems.user.forms import Sizes

MOST_DELAY = 1000  # longest delay in samples
WHOLE = 1e-9  # distance of a delay from a whole number of samples, in samples, that counts as none


HELD = ("phase", "delay", "limit", "resolution")
SAMPLING = ("every", "at", "once", "sets", "keeps", *HELD)
"""What says when a controller samples, and how its values are set."""


@dataclass(frozen=True, repr=False)
class Controller(Load):
    """A controller, as it was asked for: a function with bodies, parameters and states as a load has them, in a system
    of one body ``function(t, position, velocity, q, omega, parameters, states)``."""

    # every, phase, delay: time between samples, a sampling time, and how long after it values are set
    every: float = 1.0
    phase: float = 0.0
    delay: float = 0.0
    # sets, keeps: the states it sets, with limits, resolution and delay, empty where a sum finds them; and those of its
    # own that it sets at once
    sets: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()
    limit: float | tuple[float, ...] | None = None  # limit, resolution: of the numbers of ``sets``
    resolution: float | tuple[float, ...] | None = None
    once: bool = False  # of one at an event: whether it is called at the first only
    what: ClassVar[str] = "controller"
    reserved: ClassVar[tuple[str, ...]] = (*RESERVED, *SAMPLING)

    @property
    def late(self) -> tuple[int, float]:
        """The delay: whole samples, and the time beyond them."""
        along = self.delay / self.every
        whole = round(along)
        if abs(along - whole) > WHOLE:
            whole = floor(along)
            return whole, self.delay - whole * self.every
        return whole, 0.0

    def checked(self) -> Self:
        """Itself, if it can be part of a sum."""
        if not isinstance(self.function, FunctionType):
            raise InvalidInput(f"a controller of a sum is a plain Python function, not {shown(self.function)}")
        return super().checked()

    @property
    def form(self) -> tuple[Any, ...]:
        """What else than function, names and shapes its program and the registers of its delay depend on."""
        whole, beyond = self.late
        return self.sets, self.keeps, whole, beyond > 0.0

    @property
    def sampling(self) -> dict[str, Any]:
        """When it samples and how values are set, in JSON types."""
        found: dict[str, Any] = {} if self.when else {"every": self.every}
        found |= {"once": True} if self.once else {}
        found |= {name: list(getattr(self, name)) for name in ("sets", "keeps") if getattr(self, name)}
        found |= {name: getattr(self, name) for name in ("phase", "delay") if getattr(self, name)}
        return found | {
            name: plain(getattr(self, name)) for name in ("limit", "resolution") if getattr(self, name) is not None
        }

    @property
    def arguments(self) -> dict[str, Any]:
        """What it is made from as part of a sum, in JSON types, but the function."""
        return {"kind": "controller"} | self.sampling | super().arguments


@dataclass(frozen=True, repr=False)
class Steered(Controller):
    """A controller that a user hands to a builder, its function made one of bodies (``user.acting``); the registers of
    its delay are among the states."""

    @property
    def described(self) -> str:
        """The controller for messages."""
        return self.name


@answering
def controller(
    command: Annotated[Any, Form.FUNCTION_OR_NUMBERS],
    every: Time | None = None,
    sets: Annotated[Any, Form.WORDS] | None = None,
    *,
    parameters: Annotated[Any, Form.NAMED_NUMBERS] | None = None,
    keeps: Annotated[Any, Form.WORDS] = (),
    phase: Time = 0.0,
    delay: Time = 0.0,
    limit: NumberOrNumbers | None = None,
    resolution: NumberOrNumbers | None = None,
    at: Annotated[Any, Form.TIME_OR_EVENT, Unit("s")] | None = None,
    once: bool = False,
) -> Controller:
    """A controller that samples and holds: a part of ``polhode.system``, or for ``controllers=`` of ``rigid_body``,
    ``spacecraft``, ``orbit`` and ``particle``. With ``at`` it sets states at an event, or at one time.

    Parameters
    ----------
    command : function or mapping
        In ``polhode.system``: its first arguments are the bodies that ``.on`` names; the others are found by name, as
        those of a load: ``t``, a parameter, a state. It returns a mapping of names of states to their new values.
        Elsewhere ``command(t, position, velocity, q, omega, parameters, states)``, which returns the new values of the
        states named in ``sets`` and ``keeps``, in this order: the value itself if there is one, else a tuple. Beside
        ``at`` it may be such a mapping of numbers itself.
    every : float
        Time between samples, positive.
    sets : str or sequence of str
        States that it sets and that are held between samples: names in ``states`` of the system, or "wheel_command" of
        reaction wheels. No other function returns their rates. A sum finds them in what the function returns.
    parameters : mapping, optional
        Numbers by name, of a controller in a sum; others have those of the system.
    keeps : str or sequence of str
        States that are its memory, such as an integral or a filter: set likewise, but at once, as they are.
    phase : float
        A sampling time; the others are whole multiples of ``every`` from it, before and after.
    delay : float
        Time from a sample to where the values of ``sets`` take effect, of any length.
    limit : float or sequence of float, optional
        Largest magnitude of the numbers of ``sets``: one for all, or one for each.
    resolution : float or sequence of float, optional
        Their resolution: values are rounded to whole multiples of it, before they are limited.
    at : float or Event
        In a sum, instead of ``every``: the time (s), or the event from ``polhode.events`` (or a mapping of its
        arguments with a ``kind``) at which values are set, in runs forwards in time. Steps are cut there, and the
        states may have rates.
    once : bool
        Whether that is at the first such event only, instead of at each.

    Returns
    -------
    Controller
        In a sum ``.on("a", "b")`` says which bodies it reads, ``.states(command=0.0)`` gives it states of its own, and
        ``.named`` another name.

    Examples
    --------
    >>> import polhode as ph
    >>> def damping(bus, gain):
    ...     return {"command": -gain * bus.angular_velocity}
    >>> def actuator(bus, command):
    ...     return {"torque": command}
    >>> damper = controller(damping, every=0.1, parameters={"gain": 0.5}).on("bus").states(command=(0.0, 0.0, 0.0))
    >>> craft = ph.system(ph.body("bus", 4.0, (2.0, 2.5, 3.0)), ph.loads.of(actuator), damper)
    >>> ds = ph.integrate(craft, step=0.05, steps=400, angular_velocity=(0.1, 0.2, -0.1))
    >>> float(abs(ds.angular_velocity[-1]).max()) < 0.01
    True

    A neuron that fires, of states alone:

    >>> def charging(v, current):
    ...     return {"v": current - v}
    >>> def threshold(v):
    ...     return v - 1.0
    >>> neuron = ph.system(ph.states.of(charging, {"current": 1.5}, v=0.0),
    ...                    controller({"v": 0.0}, at=ph.events.of(threshold, direction=1)).named("fires"))
    >>> ph.integrate(neuron, "taylor", step=0.1, t_end=4.0).event_time.values.round(6)
    array([1.098612, 2.197225, 3.295837])
    """
    setting, keeping = _names_set(sets, keeps)
    own: dict[str, Any] = {"sets": setting, "keeps": keeping, "once": truth(once, "once")}
    if at is not None:
        timed = {"every": every, "delay": delay, "phase": phase, "limit": limit, "resolution": resolution}
        for name, given in timed.items():
            if given:
                raise InvalidInput(f"{name} is given beside at, of a controller that is called at equal times; leave "
                                   "it out")  # fmt: skip
        own["when"] = {"at": time_or_event(at, "at")}
        if once and isinstance(own["when"]["at"], float):
            raise InvalidInput("once is given, but at is a time, which comes once anyway; leave it out")
        return (_setting if isinstance(command, Mapping) else _made)(command, parameters, own)
    if once:
        raise InvalidInput("once is given without at; give the event, or leave it out")
    if every is None:
        raise InvalidInput("every is missing; give the time between samples, or at=, an event or a time")
    every = number(in_unit(every, "s", "every"), "every")
    if not every > 0.0:
        raise InvalidInput(f"every is {every:g}; a controller needs a positive time between its samples")
    phase, delay = number(in_unit(phase, "s", "phase"), "phase"), number(in_unit(delay, "s", "delay"), "delay")
    if delay < 0.0:
        raise InvalidInput(f"delay is {delay:g}; a command cannot take effect before it is computed, so give 0 or more")
    if delay > MOST_DELAY * every:
        raise InvalidInput(f"delay is {delay:g}, more than {MOST_DELAY} samples; give a shorter one")
    own |= {"limit": _positive(limit, "limit"), "resolution": _positive(resolution, "resolution")}
    return _made(command, parameters, {"every": every, "phase": phase, "delay": delay, **own})


Controllers = Annotated[Sequence[Any], ListOf(controller)]
"""The argument ``controllers`` of a builder."""


def _setting(values: Mapping[str, Any], parameters: object, given: dict[str, Any]) -> Controller:
    """A controller that sets states to these numbers."""
    if not values or parameters:
        raise InvalidInput("command has no states" if not values else "parameters are given beside numbers that are "
                           "set; they have a function of yours")  # fmt: skip
    names = ", ".join(identifier(name, "name of a state in command") for name in values)
    result = ", ".join(f"{name!r}: {name}" for name in values)
    function = module_of(f"def setting({names}):\n    return {{{result}}}\n").setting
    return _made(function, values, {**given, "kind": "controller"})


def _names_set(sets: object, keeps: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of states in ``sets`` and ``keeps``."""
    setting, keeping = () if sets is None else _words(sets, "sets"), _words(keeps, "keeps")
    if sets is not None and not setting:
        raise InvalidInput("sets names no state; give the states that the controller sets")
    for name in setting + keeping:
        if (setting + keeping).count(name) > 1:
            raise InvalidInput(f"sets and keeps name the state {name!r} twice; name it once")
    return setting, keeping


def _made(command: Any, parameters: object, given: dict[str, Any]) -> Controller:
    """A controller by these attributes."""
    if not callable(command):
        raise InvalidInput(f"command must be a function, not {shown(command)}")
    called_so = str(command.__name__) if has(command, "__name__") else ""
    name = called_so if called_so.isidentifier() else "controller"
    numbers = numbers_of(mapping({} if parameters is None else parameters, "parameters"), f"controller {name!r}")
    made = Controller(command, name, numbers, **given)
    return made.checked() if numbers else made


def _words(given: object, name: str) -> tuple[str, ...]:
    given = (given,) if isinstance(given, str) else given
    if not isinstance(given, Sequence):
        raise InvalidInput(f"{name} must be the name of a state or a list of names, not {shown(given)}")
    return tuple(text(one, name, 100) for one in given)


def _positive(given: object, name: str) -> float | tuple[float, ...] | None:
    if given is None:
        return None
    values = array(given, name, UNKNOWN)
    if values.ndim > 1 or not (values > 0.0).all() or not values.size:
        raise InvalidInput(
            f"{name} is {shown(plain(given))}; give a positive number, or one for each number that is set"
        )
    return tuple(values.tolist()) if values.ndim else float(values)


# ------------------------------------------------------------------ in a system
def controllers_of(given: object) -> tuple[Controller, ...]:
    """Controllers from the argument ``controllers`` of a system."""
    if given is None:
        return ()
    if not isinstance(given, tuple | list) and isinstance(given, Controller | Mapping):
        given = (given,)
    if not isinstance(given, tuple | list | Sequence) or isinstance(given, str):
        raise InvalidInput(f"controllers must be a list of polhode.controller(...), not {shown(given)}")
    made: list[Controller] = []
    for k, described in enumerate(given):
        one: Controller = made_by(controller, Controller, described, f"controllers[{k}]", "controller")
        if one.when:
            raise InvalidInput(f"controllers[{k}] is at an event or a time, which is for polhode.system; give every=")
        if not one.sets:
            raise InvalidInput(f"controllers[{k}] names no states that it sets; give sets=")
        for word, given_too in (("parameters", one.parameters), (".on", one.bodies), (".states", one.starts)):
            if given_too:
                raise InvalidInput(f"controllers[{k}] has {word}, which is for controllers in polhode.system; here the "
                                   "system has the parameters and the states, of one body")  # fmt: skip
        made.append(one)
    setters: dict[str, int] = {}
    for k, one in enumerate(made):
        for name in one.sets + one.keeps:
            if name in setters:
                raise InvalidInput(f"controllers[{setters[name]}] and controllers[{k}] both set the state {name!r}; "
                                   "let one of them set it")  # fmt: skip
            setters[name] = k
    return tuple(made)


def parted(states: States, controllers: Sequence[Controller], others: Sizes = ()) -> tuple[States, States]:
    """The user's states that controllers set, with the registers of their delays, and those with rates."""
    if not (states.sizes or controllers):
        return states, states
    own, known = dict(states.sizes), dict((*states.sizes, *others))
    setters: dict[str, Any] = {name: one for one in controllers for name in one.sets + one.keeps}
    for name, noise in states.noises:
        if name in setters:
            raise InvalidInput(f"a controller sets the state {name!r}, which is noise; let it set another one")
        setters[name] = noise
    for k, one in enumerate(controllers):
        for name in one.sets + one.keeps:
            if name not in known:
                raise unknown_name(f"state that controllers[{k}] sets", name, known or ["(none; write states=)"])
    groups = {name: [one for one in states.auxiliary if one.quantity == name] for name in own}
    held, rated = list[tuple[str, int, list[AuxiliaryVariable]]](), list[tuple[str, int, list[AuxiliaryVariable]]]()
    for name, size in own.items():
        (held if name in setters else rated).append((name, size, groups[name]))
    for one in controllers:
        for name in one.sets:
            starts = [variable.start for variable in groups.get(name, [])] or [0.0] * (known[name] or 1)
            if delayed := registers(one, name, starts):
                held.append((register_of(name), len(delayed), delayed))
    found = (States(tuple((name, size) for name, size, _ in some), tuple(own for *_, every in some for own in every),
                    states.arguments) for some in (held, rated))  # fmt: skip
    return next(found), next(found)


def register_of(name: str) -> str:
    """The name of the registers in which values of a state are on their way."""
    return f"{name.replace('.', '_')}_delayed"


def registers(one: Controller, name: str, starts: Sequence[float]) -> list[AuxiliaryVariable]:
    """The registers of a state with these values at the start: those of whole samples number by number, then those of
    what is set between samples."""
    whole, beyond = one.late
    register, words = register_of(name), f"values of {name!r} on their way"
    held = [x for x in starts for _ in range(whole)] + list(starts) * (beyond > 0.0)
    return [AuxiliaryVariable(register, str(k), True, True, x, f"{register}_component", "", words)
            for k, x in enumerate(held)]  # fmt: skip
