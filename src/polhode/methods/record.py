"""Records of a method: its row in the table, its options, its promises, and what the time loop needs to run it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import inf, pi
from typing import Any

import numpy as np

from polhode.arguments import LONGEST_WORD, NO_WHOLE, text
from polhode.capabilities import known, stated
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.kernel import layout as L

HUGE = 1e300
"""Largest finite value of a numerical option; anything beyond counts as infinite."""


@dataclass(frozen=True)
class Coordinates:
    """Attitude coordinates that a method integrates instead of the quaternion, such as Euler angles."""

    name: str  # name of their variable in a Dataset
    # coordinates of one body; in the state they follow the bodies' 13 N numbers and the S auxiliary variables
    size: int
    # what makes them unambiguous, as attributes of that variable: ``branch``, ``sequence``
    attributes: Mapping[str, str]
    # attitude, coordinates: from coordinates to the quaternion of the user's body frame, and back
    attitude: Callable[[Any], Any]
    coordinates: Callable[[Any], Any]
    rates: bool = False  # whether the method integrates the coordinates' rates, which are infinite at singular points


@dataclass(frozen=True)
class Bath:
    """The heat bath of a thermostatted method."""

    numbers: np.ndarray  # initial values of the bath's k variables, which follow the system's auxiliary variables
    # ``coefficients(boltzmann, translation, rotation, free) -> array`` for this Boltzmann constant and these numbers of
    # translational and rotational degrees of freedom; ``free`` where the system conserves its total momentum. The array
    # is appended to the method's coefficients
    coefficients: Callable[[float, int, int, bool], Any]
    # ``energy(numbers (n, k), coefficients) -> (n,)``: the bath's energy, up to a constant
    energy: Callable[[Any, Any], Any]
    keeps: tuple[str, ...] = ()  # invariants of a system that the bath does not change
    # what the first of the numbers differs by from one member of an ensemble to the next, so that each has noise of its
    # own; 0 where all have the same, or none
    apart: float = 0.0
    # ``note(coefficients, h) -> str``: what is to be said of steps of this size, empty where nothing is
    note: Callable[[Any, float], str] = lambda coefficients, h: ""


@dataclass(frozen=True)
class CompiledMethod:
    """A method with its options resolved: what the time loop needs.

    Attributes
    ----------
    step : function
        ``step(t, h, workspace) -> status``.
    coefficients, int_coefficients : arrays
        Floating-point and integer coefficients that the step reads.
    work : function
        ``work(bodies, blocks) -> length`` of the scratch array.
    converter : pair of functions, optional
        ``processed(workspace) -> bool`` and ``convert(task, t, h, workspace) -> status`` of a family with processed
        methods, whose steps advance a transformed state.
    processed : bool
        Whether this method is processed.
    largest : function, optional
        ``largest(momentum, inverse_moments) -> step``: the largest step that the method's guard accepts for a body
        with this body angular momentum; for the message of a step that was refused.
    refuses : function, optional
        ``refuses(moments) -> str``: why the method cannot rotate a body with these principal moments (infinite where
        it does not rotate), as words that follow the method's name; empty where it can.
    needs : frozenset of str
        What a system must provide, names of ``polhode.capabilities``; with those that follow from ``auxiliary_work``
        and ``step_density``.
    coordinates : Coordinates, optional
        The attitude coordinates, unless attitudes are quaternions.
    estimate : int
        Order of the error estimate of a step; 0 without one.
    controller : str
        Step size controller: a name of ``kernel.step_size.CONTROLLERS``; empty for polhode's default.
    dense : function, optional
        ``dense(begin, theta, t, h, out, workspace) -> status``: dense output, the state at t + theta h within the step
        just taken; ``begin`` is the state before it.
    auxiliary_work : int, optional
        Further scratch memory for each auxiliary variable; None where the method does not integrate them.
    step_density : str
        Step density of a method with a time transformation, whose ``step`` takes nominal steps: ``"loads"``, or
        ``"distance"`` for bodies that translate; empty where steps are steps of time.
    slopes : bool
        Whether its steps solve equations with the slopes of the loads where the system has them.
    compensation : bool
        Whether sums are compensated, with the compensation in the state (see ``flows.sums``).
    compensates_rotation : bool
        Whether those of attitudes and body angular momenta are.
    compensated : function, optional
        ``compensated() -> CompiledMethod``: the method with compensated sums.
    bath : Bath, optional
        The heat bath of a thermostatted method.
    mutual : function, optional
        ``mutual(reads) -> CompiledMethod``: what takes the place of a method with Kepler motion about a centre in a
        system of bodies that orbit each other, whose loads may read states.
    made_for : function, optional
        ``made_for(system, adaptive) -> CompiledMethod``: the method as it is for a system and for chosen steps or equal
        ones, where its step depends on what the loads are made of.
    role : function, optional
        A function with the signature LOADS that the step calls in the place of the loads.
    by_tolerance : function, optional
        ``by_tolerance(rtol) -> order``: the order that suits a relative tolerance, for the first of the integer
        coefficients.
    modified : bool
        Whether its steps may ask for commutator loads.
    polynomial : bool
        Whether its dense output is the step at every time within it, so that events need no steps of their own.
    reading : function, optional
        ``reading(wheels) -> CompiledMethod``: the method for loads that read auxiliary variables, ``wheels`` telling
        whether these are momenta of wheels; None where it has none.
    of_many : function, optional
        ``of_many() -> CompiledMethod``: the method for many bodies that all translate and rotate.
    on_joints : function, optional
        ``on_joints(reads, wheels) -> CompiledMethod``: the method for bodies that joints hold, ``reads`` and ``wheels``
        as of ``reading``; None where it has none.
    joints_at : int
        Where the whole numbers of joints begin among its own, 0 without.
    remembers : int
        How many of the first numbers of the scratch memory steps read that a step before has left there.
    carries_wheels : bool
        Whether its free rotation is that of a body with wheels, so that its loads are WITHOUT_COUPLING.
    solves_states : bool
        Whether auxiliary variables that loads read are unknowns of its equations.
    """

    step: Callable[..., int]
    work: Callable[[int, int], int]
    coefficients: np.ndarray = field(default_factory=lambda: np.zeros(1))
    int_coefficients: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    converter: tuple[Callable[..., Any], Callable[..., Any]] | None = None
    processed: bool = False
    largest: Callable[[Any, Any], float] | None = None
    refuses: Callable[[Any], str] | None = None
    needs: Set[str] = frozenset()
    coordinates: Coordinates | None = None
    estimate: int = 0
    dense: Callable[..., int] | None = None
    auxiliary_work: int | None = None
    controller: str = ""
    step_density: str = ""
    compensation: bool = False
    compensates_rotation: bool = False
    compensated: Callable[[], CompiledMethod] | None = None
    bath: Bath | None = None
    slopes: bool = False
    mutual: Callable[[bool], CompiledMethod] | None = None
    made_for: Callable[[Any, bool], CompiledMethod] | None = None
    role: Callable[..., Any] | None = None
    by_tolerance: Callable[[float], int] | None = None
    modified: bool = False
    polynomial: bool = False
    reading: Callable[[bool], CompiledMethod] | None = None
    of_many: Callable[[], CompiledMethod] | None = None
    on_joints: Callable[[bool, bool], CompiledMethod] | None = None
    joints_at: int = 0
    remembers: int = 0
    carries_wheels: bool = False
    solves_states: bool = False

    def scratch(self, bodies: int, blocks: int, variables: int, read_from: int) -> int:
        """Length of the scratch array for so many auxiliary variables, which are read from this one on."""
        more = -(-(variables - read_from) // 6) if self.solves_states else 0  # unknowns of as many blocks
        return self.work(bodies, blocks + more) + variables * (self.auxiliary_work or 0)

    def suited(self, provides: Set[str]) -> CompiledMethod:
        """This method, or its form for a system with these capabilities."""
        if "nothing_sampled" not in provides and (self.processed or self.step_density):
            return replace(self, needs=self.needs | {"nothing_sampled"})
        if "joints" in provides:
            if self.on_joints is not None:
                return self.on_joints("nothing_read" not in provides, "wheels" in provides)
            return self if self.joints_at else replace(self, needs=self.needs | {"unconstrained"})
        if self.mutual is not None and "mutual_gravity" in provides:
            return self.mutual("nothing_read" not in provides)
        if "nothing_read" in provides:
            return self
        if self.reading is None:
            return replace(self, needs=self.needs | {"nothing_read"})
        return self.reading("wheels" in provides)

    @property
    def part(self) -> int:
        """The part of the loads that its steps ask for."""
        part = L.WITHOUT_SOLVED if {"central_gravity", "mutual_gravity"} & self.needs else L.ALL
        return part | L.WITHOUT_COUPLING if self.carries_wheels else part

    def __post_init__(self) -> None:
        follows = stated(
            no_auxiliary=self.auxiliary_work is None, fixed_centre=bool(self.step_density),
            translation=self.step_density == "distance",
        )  # fmt: skip
        object.__setattr__(self, "needs", known(self.needs) | follows)


@dataclass(frozen=True)
class Option:
    """One option of a method: its default and its permitted values.

    Attributes
    ----------
    default : str
        Its value where it is not given.
    known, choices : function
        ``known(word) -> bool``: whether a word is a permitted value; ``choices()``: values to list in messages.
    description : str
        One line.
    must : str
        Of a numerical option, which is always written with its name, ``seed=1``: the permitted numbers, in words.
    trial : str
        Of a required option: the value with which the table is checked.
    recorded : bool
        Whether the method string of a run includes it even where it is the default, as it does for seeds.
    kind : type
        ``str``, or of a number ``int`` or ``float``: what a scenario may give.
    least : int, optional
        The smallest number.
    """

    default: str
    known: Callable[[str], bool]
    choices: Callable[[], Iterable[str]]
    description: str = ""
    must: str = ""
    trial: str = ""
    recorded: bool = False
    kind: type = str
    least: int | None = None

    @property
    def needed(self) -> bool:
        """Whether the user must give it."""
        return not self.default and bool(self.trial)


def word_option(description: str, *words: str) -> Option:
    """An option whose values are these words, the first by default."""
    return Option(words[0], words.__contains__, lambda: words, description)


def shortest(x: float | np.number) -> str:
    """A number in its shortest text that reads back as the same number."""
    if isinstance(x, int | np.integer):
        return str(x)
    return f"{x:g}" if float(f"{x:g}") == x else repr(float(x))


def number_option(
    description: str, *, default: str = "", trial: str = "", whole: bool = False, positive: bool = False,
    most: float = HUGE, recorded: bool = False,
) -> Option:  # fmt: skip
    """A numerical option, ``whole`` or real: from 0, or above 0 where ``positive``, up to ``most``."""

    def known(word: str) -> bool:
        try:
            x = int(word) if whole else float(word)
        except (TypeError, ValueError):
            return False
        return 0 <= x <= most and not (positive and x == 0)

    kind = "a whole number" if whole else "a positive number" if positive else "a number"
    range = "" if positive and not whole else f", {int(positive)} or more"
    limit = f", at most {shortest(most)}" if most not in (HUGE, inf) else ""
    words, numbers = f"{kind}{range}{limit}", int if whole else float
    return Option(default, known, tuple, description, words, trial, recorded, numbers, int(positive and whole))


@dataclass(frozen=True)
class Promises:
    """What a method promises: order, invariants, structure, cost. Every entry is verified by a test.

    Attributes
    ----------
    order : int or inf
        Order of accuracy under loads that depend on time and configuration; infinite where the motion is exact.
    keeps_free, keeps_top : tuple of str
        What stays constant to round-off for a free body and for a symmetric heavy top. Names: ``energy``,
        ``midpoint_energy`` (of the state after a forward Euler half step), ``momentum_length``,
        ``spatial_momentum``, ``vertical_momentum``, ``axial_momentum`` (along the body's symmetry axis).
    time_symmetric : bool
        A step with -h undoes a step with h, under loads that depend on time and configuration.
    symplectic : bool
        The step preserves the symplectic form of T*SO(3).
    implicit : bool
        Each step solves a nonlinear system that contains the loads.
    evaluations : int
        Load evaluations in a step; of an implicit method, in an iteration with the analytic Jacobian.
    order_free : int or inf, optional
        Order for a free body, infinite where its motion is exact; ``order`` unless given.
    order_velocity : int, optional
        Order under loads that also depend on velocities; ``order`` unless given.
    kept_by : str
        Where ``order_velocity`` is lower than ``order``, a similar method that keeps its order.
    at_least : bool
        Whether the order is a lower bound: some problems converge faster.
    generalised : tuple of int
        Of a method for H = A + eps B: the orders in h of the error terms in eps, eps^2, ..., the last one also for all
        higher powers.
    requires : str
        What this order requires of the system, in words; empty where nothing.
    thermal : bool
        Whether a heat bath takes part; the order is then that of averages.
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
        What kind of method it is, as the tables sort them: ``"krysl"``, ``"splitting"``, ``"taylor"``...
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
        Largest rotation that a step can represent, rad; the step guard refuses more.
    tolerances : pair of float, optional
        Default rtol and atol, for a run that is given neither a step nor a tolerance.
    with_flow : function, optional
        ``with_flow(name) -> Method``: the row with another free rotation, written after a slash.
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

    def __call__(self, *, flow: str | None = None, **options: str | float) -> MethodSpec:
        """The method with options by name, and of a splitting with another free rotation (``flow="mr"``)."""
        row = self if flow is None else self.flowing(text(flow, "flow"))
        return MethodSpec(row, row.resolve_options(**options))

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<method {self.name}: {self.description}>"

    @lru_cache(256)  # noqa: B019
    def flowing(self, flow: str) -> Method:
        """The row with another free rotation."""
        if self.with_flow is None:
            own = f"method {self.name!r} composes no flows"
            raise InvalidInput(f"{own}, so {'/' + flow!r} has no meaning; write {self.name!r}")
        return self.with_flow(flow)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the row by its name: its step is compiled and cannot be pickled."""
        from polhode.methods import by_name

        try:
            row = by_name(self.name)
        except InvalidInput:
            row = None
        if row is None or not self._same(row):
            raise InvalidInput(f"method {self.name!r} cannot be pickled: it is not the row of this name in the table; "
                               "add it with polhode.methods.add_method, here and where it is read")  # fmt: skip
        return by_name, (self.name,)

    def _repr_html_(self) -> str:
        return MethodSpec(self, self.resolve_options())._repr_html_()

    def _same(self, other: Method) -> bool:
        """Whether another row has the same data, coefficients and step function."""
        if self is other:
            return True
        words = ("name", "family", "description", "cite", "range", "tolerances")
        if any(getattr(self, name) != getattr(other, name) for name in words) or set(self.options) != set(
            other.options
        ):
            return False
        a, b = (MethodSpec(row, row.resolve_options()).with_trials.prepare() for row in (self, other))
        return (
            np.array_equal(a.coefficients, b.coefficients)
            and np.array_equal(a.int_coefficients, b.int_coefficients)
            and a.step.__qualname__ == b.step.__qualname__
        )

    def resolve_options(self, words: Iterable[str] = (), /, **chosen: object) -> dict[str, str]:
        """Values of all options, from the words after colons and from keywords; defaults for the rest.

        Raises
        ------
        InvalidInput
            For a word that is no value of any option, an unknown keyword, or an option given twice.
        """
        resolved: dict[str, str] = {}
        written = [self._of_word(word) for word in words]
        for k, (name, given) in enumerate([*written, *chosen.items()]):
            value = self._value(name, given)
            if name in resolved and (k < len(written) or resolved[name] != value):
                raise InvalidInput(f"option {name!r} of method {self.name!r} is given twice; keep one of them")
            resolved[name] = value
        return {name: resolved.get(name, option.default) for name, option in self.options.items()}

    def _of_word(self, word: str) -> tuple[str, str]:
        """Name and value of the option that a word after a colon gives."""
        name, equals, value = word.partition("=")
        if not equals:
            value = word
            name = next((key for key, option in self.options.items() if not option.must and option.known(word)), "")
        if name in self.options:
            return name, value
        known = [choice for option in self.options.values() for choice in option.choices()]
        known += [f"{key}=" for key, option in self.options.items() if option.must]
        if not known:
            raise InvalidInput(f"method {self.name!r} takes no options, but {word!r} was given; leave it out")
        raise unknown_name(f"option of method {self.name!r}", word, known)

    def _value(self, name: str, value: object) -> str:
        """The value of an option, checked; numbers in their shortest form."""
        if name not in self.options:
            raise unknown_name(f"option of method {self.name!r}", name, self.options or ["(none)"])
        option = self.options[name]
        if not isinstance(value, str):
            if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, NO_WHOLE):
                raise InvalidInput(f"{name} of method {self.name!r} must be text or a number, not {shown(value)}")
            if value > HUGE or value < -HUGE:
                raise InvalidInput(f"{name} of method {self.name!r} is beyond {HUGE:g}; take a smaller number")
            value = shortest(value)
        if not option.known(value):
            if option.must:
                quoted = value if len(value) <= LONGEST_WORD else shown(value)
                raise InvalidInput(f"{name} of method {self.name!r} is {quoted}; it must be {option.must}")
            raise unknown_name(f"{name} of method {self.name!r}", value, option.choices())
        if not option.must:
            return value
        return shortest(int(value) if value.isdigit() else float(value))

    def label(self, settled: Mapping[str, str]) -> str:
        """The method string with these options; trailing defaults are left out."""
        rows = [(settled[name], option.default) for name, option in self.options.items() if not option.must]
        while rows and rows[-1][0] == rows[-1][1]:
            rows.pop()
        complete = all(settled[name] for name, option in self.options.items() if option.needed)
        numbers = [f"{name}={settled[name]}" for name, option in self.options.items()
                   if option.must and (settled[name] != option.default or (option.recorded and complete))]  # fmt: skip
        return ":".join([self.name, *numbers, *(value for value, _ in rows)])

    def check_complete(self, settled: Mapping[str, str]) -> None:
        """Check that all required options are given.

        Raises
        ------
        InvalidInput
            One is missing.
        """
        missing = [name for name, option in self.options.items() if option.needed and not settled[name]]
        if missing:
            complete = ":".join([self.name, *(f"{name}=..." for name in missing)])
            raise InvalidInput(f"method {self.name!r} needs {' and '.join(missing)}; write {complete!r}")


@dataclass(frozen=True, eq=False, repr=False)
class MethodSpec:
    """A method with its options: the value of ``polhode.methods.baoab(temperature=300)`` and of a method string.

    It is printed as it is written in Python, ``str`` of it as it is written in scenarios and recorded in Datasets. Two
    of the same row with the same options are equal; they can be keys, and be pickled.

    Examples
    --------
    >>> import polhode as ph
    >>> bath = ph.methods.baoab(temperature=300, friction=5, seed=1)
    >>> bath == ph.methods.method("baoab:temperature=300:friction=5:seed=1"), str(bath)
    (True, 'baoab:temperature=300:friction=5:seed=1')
    """

    method: Method
    options: Mapping[str, str]  # of all options; "" of one that is required and not given yet
    compensated: bool = False  # whether sums are

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MethodSpec):
            return NotImplemented
        return self is other or (self._key == other._key and self.method._same(other.method))

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.method.name, self.compensated, *self.options.items()

    def __repr__(self) -> str:
        base, _, flow = self.method.name.partition("/")
        if not base.isidentifier():
            return f"polhode.methods.method({self.usage!r})"
        defaults = {name: option.default for name, option in self.method.options.items()}
        given = {name: value for name, value in self.options.items() if value != defaults[name]}
        words = [f"{name}={value if value[0].isdigit() else repr(value)}" for name, value in given.items()]
        return f"polhode.methods.{base}({', '.join([*words, *[f'{flow=}'] * bool(flow)])})"

    def __str__(self) -> str:
        return self.usage

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: not what follows from it."""
        return {"method": self.method, "options": self.options, "compensated": self.compensated}

    @cached_property
    def label(self) -> str:
        """The method string in canonical form, as a user could have typed it."""
        return self.method.label(self.options)

    @cached_property
    def promises(self) -> Promises:
        """What the method promises with these options."""
        return self.method.promises(**self.options)

    def _repr_html_(self) -> str:
        from polhode.methods.listing import in_html

        return in_html(self)

    @property
    def usage(self) -> str:
        """The label, with ``...`` for required options that are not given."""
        rows = self.method.options
        return self.method.label({name: value or "..." * rows[name].needed for name, value in self.options.items()})

    @property
    def with_trials(self) -> MethodSpec:
        """The same with trial values for required options that are not given; for checks of the table."""
        rows = self.method.options
        return replace(self, options={name: value or rows[name].trial for name, value in self.options.items()})

    def prepare(self) -> CompiledMethod:
        """The step and its coefficients, built once.

        Raises
        ------
        InvalidInput
            Compensated sums are requested of a method that has none.
        """
        return self._prepared

    @cached_property
    def _prepared(self) -> CompiledMethod:
        prepared = self.method.prepare(**self.options)
        if not self.compensated:
            return prepared
        if prepared.compensated is None:
            raise InvalidInput(
                f"method {self.label!r} has no compensated sums; take a splitting such as 'rkn6_14a', or 'mkrk:gauss12'"
            )
        return prepared.compensated()


UNGUARDED = inf
"""The ``range`` of methods for which the step guard sets no limit."""
