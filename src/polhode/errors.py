"""Exceptions and warnings of polhode, and helpers for their messages, which say what is wrong, where, and the remedy.

Imports nothing else of polhode.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect
import re
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, cast

__all__ = [
    "CoarseStepWarning", "ConvergenceError", "EnergyWarning", "EstimationWarning", "FileProblem", "Interrupted",
    "InvalidInput", "MissingExtra", "NotFinite", "OldNameWarning", "OtherMachineWarning", "PolhodeError",
    "PolhodeWarning", "SlowFunctionWarning", "StepFailed", "StepTooLarge", "StepTooSmall", "UserFunctionError",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


class PolhodeError(Exception):
    """Base of every error polhode raises on purpose.

    Attributes
    ----------
    exit_code : int
        Exit code of the command line.
    trajectory : xarray.Dataset or None
        Results computed before the failure, if any.
    """

    exit_code = 1

    def __init__(self, message: str, *, trajectory: Any = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory


class InvalidInput(PolhodeError, ValueError):
    """An argument or a scenario key has a value polhode cannot use (exit code 3)."""

    exit_code = 3


class MissingExtra(PolhodeError, ModuleNotFoundError):
    """An optional package is needed; the message names the pip command (exit code 2)."""

    exit_code = 2


class _AtStep(PolhodeError):
    """What fails in a step, by its number, at a time."""

    def __init__(self, message: str, *, step: int = -1, time: float = float("nan"), trajectory: Any = None) -> None:
        super().__init__(message, trajectory=trajectory)
        self.step, self.time = step, time


class StepFailed(_AtStep):
    """A step could not be completed (exit code 4).

    Attributes
    ----------
    step : int
        Number of the failing step, counted from 0.
    time : float
        Time at the start of that step.
    """

    exit_code = 4


class ConvergenceError(StepFailed):
    """An implicit solve did not reach round-off.

    Attributes
    ----------
    residual : float
        Size of the last Newton correction relative to the unknown.
    iterations : int
        Iterations spent in the failing step.
    """

    def __init__(self, message: str, *, residual: float = float("nan"), iterations: int = 0, **where: Any) -> None:
        super().__init__(message, **where)
        self.residual = residual
        self.iterations = iterations


class StepTooLarge(StepFailed):
    """A step would rotate a body by more than the method allows.

    Attributes
    ----------
    largest_step : float
        Largest step allowed at the state where the run stopped; nan where not known.
    """

    def __init__(self, message: str, *, largest_step: float = float("nan"), **where: Any) -> None:
        super().__init__(message, **where)
        self.largest_step = largest_step


class StepTooSmall(StepFailed):
    """A tolerance asks for steps so small that time in double precision does not resolve them."""


class NotFinite(StepFailed):
    """The state or a load became infinite or not a number."""


class FileProblem(PolhodeError, OSError):
    """A file could not be read or written (exit code 5)."""

    exit_code = 5


class UserFunctionError(_AtStep):
    """A function of the user failed; ``__cause__`` holds the user's exception with its traceback (exit code 6)."""

    exit_code = 6


class Interrupted(PolhodeError):
    """The run was stopped by Ctrl-C; ``trajectory`` holds the results so far (exit code 130)."""

    exit_code = 130


class PolhodeWarning(UserWarning):
    """Base of every warning polhode gives; the command line writes them to stderr.

    ``warnings.simplefilter("ignore", polhode.errors.PolhodeWarning)`` silences all of them.
    """


class EnergyWarning(PolhodeWarning):
    """The energy of a run does not follow from its motion and the work of its loads; not given without ``guard``."""


class CoarseStepWarning(PolhodeWarning):
    """The step is too large to resolve an orbit or changes of the loads; not given without ``guard``."""


class OtherMachineWarning(PolhodeWarning):
    """A continued run may not be bit-identical to an uninterrupted one: machine, version or user source changed."""


class EstimationWarning(PolhodeWarning):
    """Data do not determine what is free, look as if they were in other units, or are far from any motion."""


class SlowFunctionWarning(PolhodeWarning):
    """A user function could not be compiled and runs as plain Python, or loads are differences of a potential."""


class OldNameWarning(PolhodeWarning):
    """A name that moved, and where to: the old one goes on working for one version."""


def warn(message: str, category: type[PolhodeWarning]) -> None:
    """Give a warning that points at the first calling line outside of polhode."""
    level, frame, importing = 2, sys._getframe(1), "importlib._bootstrap."  # which warnings does not count
    inside = ("polhode.", "functools.", "contextlib.", importing)
    while frame.f_back is not None and (module := f"{frame.f_globals.get('__name__')}.").startswith(inside):
        level, frame = level + (module != importing), frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextlib.contextmanager
def unwarned() -> Iterator[None]:
    """Suppress warnings about energy and coarse steps, for comparisons and studies, which measure errors themselves."""
    with warnings.catch_warnings():
        for kind in (EnergyWarning, CoarseStepWarning):
            warnings.simplefilter("ignore", kind)
        yield


FEW = 12
MANY = 30  # up to FEW known names are always listed in a message; never more than MANY

_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple = 3, 12, 12
_SHORT.maxstring, _SHORT.maxother, _SHORT.maxlong = 80, 120, 60


@contextlib.contextmanager
def naming(**arguments: str) -> Iterator[None]:
    """Refusals of inner functions name the arguments of the outer one: ``naming(v="momentum")``."""
    try:
        yield
    except InvalidInput as refused:
        inner = "|".join(arguments)
        said = re.sub(rf"(?:^|(?<=: ))({inner})(?=[ \[])", lambda word: arguments[word[0]], str(refused))
        raise InvalidInput(said) from refused.__cause__


def shown(value: object) -> str:
    """A short form of any value on one line, for messages."""
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:
        return f"something of type {type(value).__name__}"


Asked = TypeVar("Asked", bound=Callable[..., Any])

OTHER_WORDS: dict[str, tuple[str, ...]] = {
    "omega": ("angular_velocity",), "w": ("angular_velocity",), "q": ("attitude",), "quaternion": ("attitude",),
    "orientation": ("attitude",), "rotation": ("attitude",), "rotvec": ("rotation_vector",), "euler": ("euler_angles",),
    "l": ("angular_momentum",), "r": ("position",), "x": ("position",), "x0": ("position",),
    "v": ("velocity",), "v0": ("velocity",), "p": ("momentum",), "dt": ("step",), "h": ("step",), "stepsize": ("step",),
    "tol": ("rtol",), "nsteps": ("steps",), "n_steps": ("steps",), "tmax": ("t_end",), "t_final": ("t_end",),
    "tf": ("t_end",), "t1": ("t_end",), "t_start": ("t0",), "i": ("inertia",), "j": ("inertia",),
    "moments": ("inertia",), "com": ("center_of_mass",), "m": ("mass",), "masses": ("mass",),
    "g": ("gravity",), "gm": ("mu",), "k": ("stiffness",), "thrust": ("forces", "thrusters"), "solver": ("method",),
    "integrator": ("method",), "temp": ("temperature",), "random_state": ("seed",), "rng": ("seed",),
}  # fmt: skip
"""Names that other programs use for an argument, and polhode's names for it."""

NOT_HERE: dict[str, tuple[tuple[str, str], ...]] = {
    "pressure": (
        ("cutoff", "the box keeps its size, there is no barostat: choose box or density, the result has the pressure"),
        ("sunlight", "light presses on what sunlight= says, air on what atmosphere= says, anything else is a load="),
        ("forces", "light and air press by forces=[polhode.forces.radiation_pressure(...), polhode.forces.drag(...)]"),
        ("load", "what a pressure does is a torque= or load= of your own"),
        ("torque", "what a pressure does is a torque= of your own"),
        ("force", "what a pressure does is a force= of your own"),
        ("step", "a run keeps the size of its box, there is no barostat; the system says what presses on its bodies"),
        ("", "nothing presses on these bodies; rigid_body and particle take a load or force of your own"),
    ),
    "field": (
        ("reaction_field", "there is no field from outside, only dipoles or charges that act on each other"),
        (
            "magnetic_field",
            "a magnetic field is magnetic_field=, gravity one of forces=, others a load= of your own",
        ),
        ("forces", "gravity is one of forces=: polhode.forces.gravity_field(...); another is a force= of your own"),
        ("load", "a field acts by a function of your own, potential=, torque= or load="),
        ("torque", "a field acts by a torque= of your own, beside the weight"),
        ("force", "a field acts by a function of your own, potential= or force="),
        ("step", "fields are no part of a run; the system has those that act on its bodies"),
        ("", "no other field acts on these bodies; rigid_body and particle take a potential of your own"),
    ),
    "charge": (
        ("model", "charges are those of the water's model="),
        ("dipole", "bodies have point dipoles, dipole=, and no charges"),
        ("load", "what acts on a charge is a load= or potential= of your own, with the charge among parameters="),
        ("force", "what acts on a charge is a force= or potential= of your own, with the charge among parameters="),
        ("torque", "what acts on a charge is a torque= of your own, with the charge among parameters="),
        ("step", "charges are no part of a run; the system has what acts on its bodies"),
        ("", "these bodies have no charges; rigid_body and particle take a load or force of your own"),
    ),
}
"""What is said of a word for which there is no argument, by an argument that the function has."""
NOT_HERE |= {word + "s": NOT_HERE[word] for word in ("field", "charge")}


def said_of(name: object, known: Iterable[str]) -> str:
    """The sentence about a word of NOT_HERE, "" of others and where the function has such an argument."""
    names = {*known}
    told = NOT_HERE.get(name.lower(), ()) if isinstance(name, str) and name not in names else ()
    return next((sentence for argument, sentence in told if argument in {"", *names}), "")


def closest(name: object, known: Iterable[str], most: int = 3, likeness: float = 0.5) -> list[str]:
    """Up to ``most`` known names similar to a name (or its synonyms in OTHER_WORDS), the most similar first."""
    if not isinstance(name, str):
        return []
    names, word = sorted(known), name[:100].lower()
    same = [other for other in names if other.lower() == word]
    meant = [other for other in OTHER_WORDS.get(word, ()) if other in names]
    lowered = {other.lower(): other for other in names}
    near = [lowered[match] for match in difflib.get_close_matches(word, lowered, n=most, cutoff=likeness)]
    return list(dict.fromkeys([*same, *meant, *near]))[: 1 if same else most]


def unknown_name(what: str, name: object, known: Iterable[str]) -> InvalidInput:
    """The error for an unknown name; it suggests the closest known names, and lists all where they are few."""
    names = sorted(known)
    told = said_of(name, names)
    if told:
        return InvalidInput(f"unknown {what} {shown(name)}; {told}")
    close = closest(name, names)
    hints = [f"did you mean {' or '.join(map(repr, close))}?"] if close else []
    if not close or len(names) <= FEW:
        hints.append(f"known: {', '.join(names[:MANY])}{f' and {len(names) - MANY} more' * (len(names) > MANY)}")
    return InvalidInput(f"unknown {what} {shown(name)}; {' '.join(hints)}")


OF_ALL = {"matplotlib", "h5netcdf", "h5py", "zarr", "numcodecs", "click", "rich"}
"""Packages that ``polhode[all]`` installs beside those that every computation needs."""


def missing(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The error of a package that is not there, in a sentence if ``polhode[all]`` installs it."""
    package = (error.name or "").partition(".")[0]
    if package not in OF_ALL:
        return error
    return MissingExtra(f"this needs {package}, which is not installed: pip install 'polhode[all]'")


def sections_of(
    function: Callable[..., Any], returned: str = "", refused: str = "Names the argument that is wrong."
) -> str | None:
    """The docstring of a function, with what it returns and raises where it says nothing else than its annotation."""
    text, returned = function.__doc__, returned or str(function.__annotations__.get("return"))
    returned = function.__qualname__.partition(".")[0] if returned == "Self" else returned
    for name, said in (("Returns", [returned]), ("Raises", ["InvalidInput", f"    {refused}"])):
        behind = re.search(r"\n( *)(Raises|Warns|See Also|Examples)\n", text or "")
        if text and behind and f"\n{behind[1]}{name}\n" not in text and said != ["None"]:
            at, indent = behind.span()[0] + 1, behind[1]
            section = "".join(f"{indent}{line}\n" for line in (name, "-" * len(name), *said))
            text = f"{text[:at]}{section}\n{text[at:]}"
    return text


def _what_is(argument: str, docstring: str | None) -> str:
    """What a docstring says an argument is: its type and its first sentence."""
    said = re.search(rf"\n *{argument} : (.+)\n\s*((?:.|\n)+?)[.;]\s", docstring or "")
    return f" ({said[1]}: {' '.join(said[2].split())})".replace("``", "") if said else ""


def answering(function: Asked) -> Asked:
    """Decorator: unknown or missing arguments raise ``InvalidInput``, which suggests the closest known names; and the
    sections Returns and Raises of its docstring are there, see ``sections_of``.

    Raises
    ------
    InvalidInput
        On a call with such arguments, instead of Python's ``TypeError``.
    MissingExtra
        Where the call needs a package that is not installed.
    """
    function.__doc__ = sections_of(function)
    signature = inspect.signature(function)
    known = [name for name, parameter in signature.parameters.items() if parameter.kind is not parameter.VAR_KEYWORD]
    open_ended, names = len(known) < len(signature.parameters), frozenset(known)

    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        if not (open_ended or names.issuperset(keywords)):
            name = next(name for name in keywords if name not in names)
            raise unknown_name(f"argument of {function.__name__}", name, known)
        try:
            return function(*arguments, **keywords)
        except TypeError:
            try:
                signature.bind(*arguments, **keywords)
            except TypeError as error:
                told = f"{error}{_what_is(str(error).rpartition(': ')[2].strip(chr(39)), function.__doc__)}"
                raise InvalidInput(f"{function.__name__}: {told}; its arguments are {', '.join(known)}") from None
            raise  # of its own
        except ModuleNotFoundError as error:
            raise missing(error) from None

    return cast(Asked, wrapper)
