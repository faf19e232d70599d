"""What a method is: a row of data and the name of one step function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, pi
from typing import Any

import numpy as np

from polhode.arguments import LONGEST_WORD, NO_WHOLE
from polhode.errors import InvalidInput, shown, unknown_name

HUGE = 1e300
"""A number of an option beyond this counts as infinite."""


@dataclass(frozen=True)
class Coordinates:
    """The numbers a method keeps each attitude as, in the place of the quaternion.

    Attributes
    ----------
    name : str
        The variable of a Dataset.
    size : int
        Numbers of a body; they follow the 13 N numbers of the state.
    attributes : mapping
        What says which of the numbers of an attitude they are: ``branch``, ``sequence``.
    attitude, coordinates : function
        From the numbers to the quaternion of the user's body frame, and back.
    rates : bool
        Whether the method integrates the rates of the numbers, which are infinite at singular points.
    """

    name: str
    size: int
    attributes: Mapping[str, str]
    attitude: Callable[[Any], Any]
    coordinates: Callable[[Any], Any]
    rates: bool = False


@dataclass(frozen=True)
class Bath:
    """The heat bath of a thermostatted method.

    Attributes
    ----------
    numbers : array
        The bath's numbers at the start of a run; they follow those of the system in the state.
    coefficients : function
        ``coefficients(boltzmann, translation, rotation, free) -> array`` for a system with this Boltzmann
        constant and these degrees of freedom, ``free`` where it keeps its total momentum; the array follows the
        method's own coefficients.
    energy : function
        ``energy(numbers (n, k), coefficients) -> (n,)``: the bath's energy, up to a constant.
    keeps : tuple of str
        What a system's exact motion may keep and the bath leaves alone.
    """

    numbers: Any
    coefficients: Callable[[float, int, int, bool], Any]
    energy: Callable[[Any, Any], Any]
    keeps: tuple[str, ...] = ()


@dataclass(frozen=True)
class CompiledMethod:
    """A method with its options settled: what the time loop needs.

    Attributes
    ----------
    step : function
        ``step(t, h, workspace) -> status``.
    coefficients, int_coefficients : arrays
        Coefficients and integers the step reads.
    work : function
        ``work(bodies, blocks) -> length`` of the scratch array.
    converter : pair of functions, optional
        ``processed(workspace) -> bool`` and ``convert(task, t, h, workspace) -> status`` of a family with processed
        methods, which work on states other than the system's.
    processed : bool
        Whether this method is one.
    largest : function, optional
        ``largest(momentum, inverse_moments) -> step``: the largest step in which the method's own guard lets a body
        with this body angular momentum turn; for the message of a step that was refused.
    refuses : function, optional
        ``refuses(moments) -> str``: why the method cannot turn a body with these principal moments (infinite where it
        does not turn), in words that follow its name; empty where it can.
    series : bool
        Whether the step asks the loads for the part SERIES, so that the system must have one.
    attracted : bool
        Whether the step solves the attraction by a centre, so that the system must have one.
    alone : bool
        Whether it solves nothing else, so that nothing else may act.
    points : bool
        Whether the step moves bodies through space only, so that none may turn.
    coordinates : Coordinates, optional
        What the method keeps attitudes as, where it is not the quaternion.
    estimate : int
        Order of the error estimate of a step; 0 without one.
    controller : str
        By what rules steps are chosen: a name of ``kernel.drive.CONTROLLERS``, else those of polhode.
    dense : function, optional
        ``dense(begin, theta, t, h, out, workspace) -> status``: the state within the step just taken.
    auxiliary_work : int, optional
        Further scratch memory for each number of the system's own; None where the method does not advance them.
    step_density : str
        What sets the steps of a method with a clock of its own, whose ``step`` takes nominal steps: ``"loads"`` or
        ``"distance"``, the latter for bodies that move through space; empty where the step is that of time.
    compensation : bool
        Whether sums are compensated, with carries in the state (see ``flows.sums``).
    compensated : function, optional
        ``compensated() -> CompiledMethod``: the method with compensated sums.
    bath : Bath, optional
        The heat bath of a thermostatted method.
    """

    step: Callable[..., int]
    work: Callable[[int, int], int]
    coefficients: Any = field(default_factory=lambda: np.zeros(1))
    int_coefficients: Any = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    converter: tuple[Callable[..., Any], Callable[..., Any]] | None = None
    processed: bool = False
    largest: Callable[[Any, Any], float] | None = None
    refuses: Callable[[Any], str] | None = None
    series: bool = False
    attracted: bool = False
    alone: bool = False
    points: bool = False
    coordinates: Coordinates | None = None
    estimate: int = 0
    dense: Callable[..., int] | None = None
    auxiliary_work: int | None = None
    controller: str = ""
    step_density: str = ""
    compensation: bool = False
    compensated: Callable[[], CompiledMethod] | None = None
    bath: Bath | None = None


@dataclass(frozen=True)
class Option:
    """One option of a method: its default and the test of whether a word is one of its values.

    Attributes
    ----------
    default : str
        Its value where it is not given.
    known, choices : function
        ``known(word) -> bool``, and words to show.
    description : str
        One line.
    must : str
        Of an option that is a number: what it must be, in words. It is always written with its name, ``seed=1``.
    trial : str
        Of an option without a default that has to be given: a value for the checks of the table.
    told : bool
        Whether the method string of a run tells it also where it is the default, as it does seeds.
    """

    default: str
    known: Callable[[str], bool]
    choices: Callable[[], Iterable[str]]
    description: str = ""
    must: str = ""
    trial: str = ""
    told: bool = False

    @property
    def needed(self) -> bool:
        """Whether it has to be given."""
        return not self.default and bool(self.trial)


def shortest(x: Any) -> str:
    """A number in as few digits as tell it from all others."""
    if isinstance(x, int | np.integer):
        return str(x)
    return f"{x:g}" if float(f"{x:g}") == x else repr(float(x))


def number_option(
    description: str, *, default: str = "", trial: str = "", whole: bool = False, positive: bool = False,
    most: float = HUGE, told: bool = False,
) -> Option:  # fmt: skip
    """An option that is a number, from 0 or more than 0 up to the most."""

    def known(word: str) -> bool:
        try:
            x = int(word) if whole else float(word)
        except (TypeError, ValueError):
            return False
        return 0 <= x <= most and not (positive and x == 0)

    kind = "a whole number" if whole else "a positive number" if positive else "a number"
    range = "" if positive and not whole else f", {int(positive)} or more"
    limit = f", at most {shortest(most)}" if most not in (HUGE, inf) else ""
    return Option(default, known, tuple, description, f"{kind}{range}{limit}", trial, told)


@dataclass(frozen=True)
class Promises:
    """What a method promises; every entry is kept by a test.

    Attributes
    ----------
    order : int or inf
        Order of accuracy under loads that depend on time and configuration; infinite where the motion is exact.
    keeps_free, keeps_top : tuple of str
        What stays constant to round-off for a free body and for a symmetric heavy top. Names: ``energy``,
        ``midpoint_energy`` (of the state pushed half a step by forward Euler), ``momentum_length``,
        ``spatial_momentum``, ``vertical_momentum``, ``axial_momentum`` (along the body's symmetry axis).
    time_symmetric : bool
        A step back undoes a step, under loads that depend on time and configuration.
    symplectic : bool
        The step preserves the symplectic form of T*SO(3).
    implicit : bool
        The loads enter a nonlinear system that is solved in each step.
    evaluations : int
        Load evaluations in a step; of an implicit method, in an iteration with the analytic Jacobian.
    order_free : int or inf, optional
        Order for a free body, infinite where its motion is exact; ``order`` unless given.
    order_velocity : int, optional
        Order under loads that also depend on velocities; ``order`` unless given.
    kept_by : str
        Where that order is lower, a method of the same kind that keeps it.
    at_least : bool
        Whether problems may show a higher order, this one being that of a part of the step which not all need.
    generalised : tuple of int
        Of a method for H = A + eps B: the orders of the errors of first, second, ... order in eps, the last one for all
        that follow.
    requires : str
        What the system must provide for that order, in words; empty where nothing is needed.
    thermal : bool
        A heat bath takes part: the motion is not that of the system alone, and the order is that of averages.
    axis_order_dependent : bool
        The result depends on the numbering of the body's axes, within the error of the method.
    frame_dependent : bool
        The result depends on the user's body frame, within the error of the method.
    """

    order: float
    keeps_free: tuple[str, ...] = ()
    keeps_top: tuple[str, ...] = ()
    time_symmetric: bool = False
    symplectic: bool = False
    implicit: bool = False
    evaluations: int = 1
    order_free: float = 0
    order_velocity: float = 0
    kept_by: str = ""
    at_least: bool = False
    generalised: tuple[int, ...] = ()
    requires: str = ""
    thermal: bool = False
    axis_order_dependent: bool = False
    frame_dependent: bool = False

    def __post_init__(self) -> None:
        for name in ("order_free", "order_velocity"):
            if not getattr(self, name):
                object.__setattr__(self, name, self.order)


@dataclass(frozen=True)
class Method:
    """A row of the method table.

    Attributes
    ----------
    name : str
        What a user types.
    family : str
        The file of ``polhode.methods`` its step is in.
    description : str
        One line.
    cite : str
        Key in ``references.bib``.
    prepare : function
        ``prepare(**options) -> CompiledMethod``.
    promises : function
        ``promises(**options) -> Promises``.
    options : mapping of str to Option
        In the order in which they are written after colons.
    range : float
        Largest rotation in a step the method can represent, rad; the step guard refuses more.
    tolerances : pair of float, optional
        The rtol and atol of a run that is given neither a step nor a tolerance.
    with_flow : function, optional
        ``with_flow(name) -> Method``: the row with another free flow, which stands after a slash.
    """

    name: str
    family: str
    description: str
    cite: str
    prepare: Callable[..., CompiledMethod]
    promises: Callable[..., Promises]
    options: Mapping[str, Option] = field(default_factory=dict)
    range: float = pi
    with_flow: Callable[[str], Method] | None = None
    tolerances: tuple[float, float] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Rows travel to other processes by their names, for steps are functions made here.

        Raises
        ------
        InvalidInput
            A row that its name does not find.
        """
        from polhode.methods import by_name

        try:
            found = by_name(self.name)
        except InvalidInput:
            found = None
        if found is None or not self._same(found):
            raise InvalidInput(f"method {self.name!r} cannot be pickled: it is not the row of this name in the table; "
                               "add it with polhode.add_method, here and where it is read")  # fmt: skip
        return by_name, (self.name,)

    def _same(self, other: Method) -> bool:
        """Whether another row does the same."""
        if self is other:
            return True
        words = ("name", "family", "description", "cite", "range", "tolerances")
        if any(getattr(self, name) != getattr(other, name) for name in words) or set(self.options) != set(
            other.options
        ):
            return False
        mine, its = (MethodSpec(row, row.resolve_options()).tried.prepare() for row in (self, other))
        return (
            np.array_equal(mine.coefficients, its.coefficients)
            and np.array_equal(mine.int_coefficients, its.int_coefficients)
            and mine.step.__qualname__ == its.step.__qualname__
        )  # fmt: skip

    def resolve_options(self, words: Iterable[str] = (), **chosen: str) -> dict[str, str]:
        """Values of all options from words after colons and from keywords.

        Raises
        ------
        InvalidInput
            For a word that is no value of any option, an unknown keyword, or an option given twice.
        """
        settled: dict[str, str] = {}
        for word in words:
            name, equals, value = word.partition("=")
            if not equals:
                value = word
                name = next((key for key, option in self.options.items() if not option.must and option.known(word)), "")
            if name not in self.options:
                known = [choice for option in self.options.values() for choice in option.choices()]
                known += [f"{key}=" for key, option in self.options.items() if option.must]
                if not known:
                    raise InvalidInput(f"method {self.name!r} takes no options, but {word!r} was given; leave it out")
                raise unknown_name(f"option of method {self.name!r}", word, known)
            if name in settled:
                raise InvalidInput(f"option {name!r} of method {self.name!r} is given twice; keep one of them")
            settled[name] = self._value(name, value)
        for name, given in chosen.items():
            if name not in self.options:
                raise unknown_name(f"option of method {self.name!r}", name, self.options or ["(none)"])
            number = isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, NO_WHOLE)
            if not number and not isinstance(given, str):
                raise InvalidInput(f"{name} of method {self.name!r} must be text or a number, not {shown(given)}")
            if not isinstance(given, str) and abs(given) > HUGE:
                raise InvalidInput(f"{name} of method {self.name!r} is beyond {HUGE:g}; take a smaller number")
            value = self._value(name, shortest(given) if number else given)
            if settled.get(name, value) != value:
                raise InvalidInput(f"option {name!r} of method {self.name!r} is given twice; keep one of them")
            settled[name] = value
        return {name: settled.get(name, option.default) for name, option in self.options.items()}

    def _value(self, name: str, value: str) -> str:
        """A value of an option, numbers in their shortest form."""
        option = self.options[name]
        if not option.known(value):
            if option.must:
                told = value if len(value) <= LONGEST_WORD else shown(value)
                raise InvalidInput(f"{name} of method {self.name!r} is {told}; it must be {option.must}")
            raise unknown_name(f"{name} of method {self.name!r}", value, option.choices())
        if not option.must:
            return value
        return shortest(int(value) if value.isdigit() else float(value))

    def label(self, settled: Mapping[str, str]) -> str:
        """The method string with these options, defaults left out where nothing after them differs."""
        rows = [(settled[name], option.default) for name, option in self.options.items() if not option.must]
        while rows and rows[-1][0] == rows[-1][1]:
            rows.pop()
        whole = all(settled[name] for name, option in self.options.items() if option.needed)
        numbers = [f"{name}={settled[name]}" for name, option in self.options.items()
                   if option.must and (settled[name] != option.default or (option.told and whole))]  # fmt: skip
        return ":".join([self.name, *numbers, *(value for value, _ in rows)])

    def check_complete(self, settled: Mapping[str, str]) -> None:
        """Refuse options among which one is missing that has no default.

        Raises
        ------
        InvalidInput
        """
        missing = [name for name, option in self.options.items() if option.needed and not settled[name]]
        if missing:
            whole = ":".join([self.name, *(f"{name}=..." for name in missing)])
            raise InvalidInput(f"method {self.name!r} needs {' and '.join(missing)}; write {whole!r}")


@dataclass(frozen=True)
class MethodSpec:
    """A method string resolved: the row, its options, what follows from them, and whether its sums are compensated."""

    method: Method
    options: Mapping[str, str]
    compensated: bool = False

    @property
    def label(self) -> str:
        """The same string a user could have typed."""
        return self.method.label(self.options)

    @property
    def promises(self) -> Promises:
        """What the method promises with these options."""
        return self.method.promises(**self.options)

    @property
    def shown(self) -> str:
        """The label with dots for what has yet to be given."""
        rows = self.method.options
        return self.method.label({name: value or "..." * rows[name].needed for name, value in self.options.items()})

    @property
    def tried(self) -> MethodSpec:
        """The same with values for what has to be given, as the checks of the table take it."""
        rows = self.method.options
        return replace(self, options={name: value or rows[name].trial for name, value in self.options.items()})

    def prepare(self) -> CompiledMethod:
        """What the time loop needs.

        Raises
        ------
        InvalidInput
            Compensated sums are asked of a method that has none.
        """
        prepared = self.method.prepare(**self.options)
        if not self.compensated:
            return prepared
        if prepared.compensated is None:
            raise InvalidInput(
                f"method {self.label!r} has no compensated sums; take a splitting such as 'rkn6_14a', or 'mkrk:gauss12'"
            )
        return prepared.compensated()


UNGUARDED = inf
