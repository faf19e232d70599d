"""``Force``: what acts on a point, with the functions that are compiled into the loads of a system."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from polhode.errors import InvalidInput, shown
from polhode.kernel import jit
from polhode.kernel.jit import python_of
from polhode.loads import Load
from polhode.loads.thrust import Impulse
from polhode.programs.purity import findings
from polhode.programs.rewire import user_line
from polhode.programs.trace import Program
from polhode.systems.event_record import Watch
from polhode.systems.record import Switch
from polhode.systems.user.function import HERE, Traced, jumps, may_read, traced

ARGUMENTS = {
    "acceleration": ("p", "at", "mu", "t", "r", "v"),
    "potential": ("p", "at", "mu", "t", "r"),
    "potential_rate": ("p", "at", "mu", "t", "r"),
}
"""Arguments of the functions of a force: pointer to numbers, index of the first that is the force's, gravity parameter
of the centre, time, position, velocity."""
TIME, VELOCITY = 3, 5  # index of the time and of the velocity among these
PLACE = tuple(np.array((0.8, 0.5, 0.3))), tuple(np.array((0.2, 0.7, -0.4)))
"""Position and velocity at which functions are tried."""

reads = lru_cache(1024)(may_read)


@lru_cache(1024)
def takes(function: Callable[..., Any], names: tuple[str, ...]) -> bool:
    """Whether a function can be called with as many positional arguments."""
    try:
        inspect.signature(function).bind(*names)
    except TypeError:
        return False
    return True


@dataclass(frozen=True)
class Force:
    """One force: its functions, the numbers they read, and what a run switches.

    The functions are plain Python that numba can compile. ``p[at]``, ``p[at + 1]``, ... are the ``numbers``; position
    ``r`` and velocity ``v`` are tuples of 3 numbers, relative to the centre and in the axes of space; ``mu`` is the
    gravity parameter of the centre. What they read by name (constants, other functions) must not change later.

    Attributes
    ----------
    kind : str
        Name of the function that made it.
    description : str
        One line that describes it.
    arguments : mapping
        Its arguments in JSON types, from which the function makes it again; ``kind`` is added.
    numbers : tuple of float
        Its parameters in the compiled loads.
    acceleration : function
        ``acceleration(p, at, mu, t, r, v) -> (x, y, z)``; what acts is derived from a potential where it is not given.
    potential : function or None
        ``potential(p, at, mu, t, r) -> float``, per unit mass, of which the acceleration is the negative gradient. None
        where there is none: the work of the force is then recorded.
    potential_rate : function or None
        ``potential_rate(p, at, mu, t, r) -> float``: partial time derivative of a potential that depends on time;
        derived where it is not given.
    velocity_dependent : bool
        Whether it depends on the velocity; by default whether the acceleration may read it.
    autonomous : bool
        Whether it does not depend explicitly on time; by default whether no function reads the time.
    axial : bool
        Whether it conserves the angular momentum about z; no longer read, as what a system conserves is found.
    flow : float
        Mass flow rate while its switch is on; if positive, ``numbers[0]`` is a force, not an acceleration.
    surface : bool
        Whether it is a surface force, whose acceleration grows as the mass falls.
    switches : tuple of Switch
        Numbers of the force that are 1 between two times, else 0: the index is that among ``numbers``.
    watches : tuple of Watch
        Where its loads jump or kink, such as the edges of a shadow; a flag is an index among ``numbers``.
    impulse : Impulse or None
        A sudden change of velocity, instead of an acceleration.
    centre : float
        Gravity parameter of the centre it belongs to; 0 if it may act about any.
    load : Load or None
        What acts, in the place of numbers and functions, of those that polhode has; indices of switches and watches are
        then those from its first number on.
    conservative : bool
        Whether it has a potential, which may depend on time.

    Raises
    ------
    InvalidInput
        A function that is missing or takes other arguments, or one that contradicts another; a potential that cannot be
        traced, without the functions that would be derived from it.
    """

    kind: str
    description: str
    arguments: Mapping[str, Any]
    numbers: tuple[float, ...] = ()
    acceleration: Callable[..., Any] | None = None
    potential: Callable[..., Any] | None = None
    potential_rate: Callable[..., Any] | None = None
    velocity_dependent: bool = None  # type: ignore[assignment]
    autonomous: bool = None  # type: ignore[assignment]
    axial: bool = False
    flow: float = 0.0
    surface: bool = False
    switches: tuple[Switch, ...] = ()
    watches: tuple[Watch, ...] = ()
    impulse: Impulse | None = None
    centre: float = 0.0
    load: Load | None = field(default=None, compare=False)
    conservative: bool = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        own = self.__dict__  # the dataclass is frozen from here on
        own["arguments"] = {"kind": self.kind, **self.arguments}
        if self.load is not None:
            for name, default in (("velocity_dependent", False), ("autonomous", True), ("conservative", False)):
                own[name] = default if own[name] is None else own[name]
            return
        own["conservative"], given = self.potential is not None, self.numbers
        try:
            own["numbers"] = tuple(map(float, self.numbers))
        except (TypeError, ValueError):
            own["numbers"] = (math.nan,)
        if not all(map(math.isfinite, own["numbers"])):
            raise self._wrong(f"has the numbers {shown(given)}; they must be finite numbers, in a tuple")
        if self.impulse is None and self.acceleration is None and self.potential is None:
            raise self._wrong(f"has no acceleration; give acceleration({', '.join(ARGUMENTS['acceleration'])}), or the "
                              f"potential({', '.join(ARGUMENTS['potential'])}) from which it follows")  # fmt: skip
        if self.impulse is not None and (self.acceleration is not None or self.potential is not None):
            raise self._wrong("is an impulse; leave out acceleration and potential")
        own |= {name: self._checked_function(name) for name in ARGUMENTS}
        if self.potential is not None:
            self._check_derived()
        if self.velocity_dependent is None:
            own["velocity_dependent"] = self.acceleration is not None and reads(self.acceleration, VELOCITY)
        if self.autonomous is None:
            functions = [one for one in (self.acceleration, self.potential) if one is not None]
            own["autonomous"] = not any(reads(one, TIME) for one in functions)
        if self.flow > 0.0 and not (self.numbers and any(math.isfinite(one.stop - one.start) for one in self.switches)):
            raise self._wrong("uses up mass, but no switch says from when to when; give one with both times")
        if self.potential is not None and self.velocity_dependent:
            raise self._wrong("has a potential, but its acceleration depends on the velocity; leave one of them out")
        if self.potential_rate is not None and self.potential is None:
            raise self._wrong("has a potential_rate without a potential; give both, or leave it out")

    def _check_derived(self) -> None:
        """Refuse a potential from which its acceleration, or its rate in time, must follow and does not."""
        assert self.potential is not None
        rate = self.potential_rate is None and self.autonomous is not True and reads(self.potential, TIME)
        if self.acceleration is not None and not rate:
            return
        self._called("potential", 1, 0, *PLACE)
        found, lacks = self.traced("potential"), "acceleration" if self.acceleration is None else "potential_rate"
        reason = found.reason
        if found.program is not None and not self._agrees(found.program):
            reason = "it computes something else from arrays than from tuples"
        elif found.program is not None and rate and jumps(found.program.graph, found.program.outputs):
            reason, lacks = "it decides by the time, and may jump", "potential_rate"
        if reason:
            raise self._wrong(f"has the potential {self.potential.__name__!r}, from which its {lacks} does not follow: "
                              f"{reason}; or give {lacks}({', '.join(ARGUMENTS[lacks])})")  # fmt: skip

    def traced(self, name: str) -> Traced:
        """One of its functions as a program, for all values of its numbers that a run changes."""
        changing = frozenset({one.index for one in self.switches} | {one.flag for one in self.watches if one.flag >= 0})
        inputs = (("p", range(len(self.numbers))), ("at", None), ("mu", 0), ("t", 0), ("r", 3))
        more, shape = ((("v", 3),), (3,)) if name == "acceleration" else ((), ())
        return traced(jit.Made(getattr(self, name)), (*inputs, *more), shape, name, self.numbers, changing)

    def _agrees(self, program: Program) -> bool:
        """Whether a program gives what the potential gives, at a place where it gives a number."""
        r, t, mu = (0.8, 0.5, 0.3), 0.4, 1.3
        try:
            with np.errstate(all="ignore"):
                expected = float(self.potential(np.array(self.numbers), 0, mu, t, tuple(np.array(r))))  # type: ignore[misc]
                (value,) = program(t=t, mu=mu, r=r, p=self.numbers)
        except Exception:  # told by ``tried``
            return True
        return not abs(value - expected) > 1e-12 * abs(expected)

    @property
    def made(self) -> tuple[Any, ...]:
        """What acts, equal to that of other forces that come to the same code at present."""
        functions = (self.acceleration, self.potential, self.potential_rate)
        return (*(one and jit.Made(one) for one in functions), self.load and self.load.function)

    def _wrong(self, problem: str) -> InvalidInput:
        return InvalidInput(f"force {self.kind!r} {problem}")

    def _checked_function(self, name: str) -> FunctionType | None:
        """The plain function of this name, or None."""
        function = python_of(getattr(self, name))
        if function is None:
            return None
        if not inspect.isfunction(function):
            raise self._wrong(f"has {shown(function)} as its {name}; it must be a plain function")
        for one in findings(function):
            raise self._wrong(f"has the {name} {function.__name__!r}, which must do nothing but return numbers, as it "
                              f"is compiled; but it {one.what} ({one.line})")  # fmt: skip
        if not takes(function, ARGUMENTS[name]):
            raise self._wrong(f"has the {name} {function.__name__!r}, which must take the arguments "
                              f"({', '.join(ARGUMENTS[name])}), in this order")  # fmt: skip
        return function

    def tried(self) -> None:
        """Call its functions in plain Python at some place, to find mistakes before they are compiled."""
        for name, count in (("acceleration", 3), ("potential", 1), ("potential_rate", 1)):
            function = getattr(self, name)
            if function is not None:
                first, other = (self._called(name, count, lead, *PLACE) for lead in (0, 2))
                if first is not None and not np.array_equal(first, other, equal_nan=True):
                    raise self._wrong(f"has the {name} {function.__name__!r}, whose result changes with at; its "
                                      "numbers are p[at], p[at + 1], ...")  # fmt: skip

    def _called(self, name: str, count: int, lead: int, r: object, v: object) -> Any:
        """What a function returns with its numbers behind ``lead`` others, as an array; None after bad arithmetic."""
        function, t, mu = getattr(self, name), np.float64(0.4), np.float64(1.3)
        p = np.array([1.7] * lead + list(self.numbers))
        described = f"has the {name} {function.__name__!r}, which"
        try:
            with np.errstate(all="ignore"):
                result = function(p, lead, mu, t, r, v) if count == 3 else function(p, lead, mu, t, r)
                values = np.array(result, dtype=float)
        except (ArithmeticError, ValueError):
            return None
        except Exception as problem:
            line = user_line(problem, HERE)
            told = f"{type(problem).__name__}: {problem}" + (f" ({line})" if line else "")
            raise self._wrong(f"{described} raised {told}; mend it") from problem
        if result is None or values.shape != ((3,) if count == 3 else ()):
            wanted = "3 numbers (x, y, z)" if count == 3 else "one number"
            raise self._wrong(f"{described} must return {wanted}, not {shown(result)}")
        return values

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items() if key != "kind")
        return f"{self.kind}({inside})"
