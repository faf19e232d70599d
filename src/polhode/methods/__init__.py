"""The table of methods: each a row of data that names its step function, independent of any system.

One file per family: ``krysl`` (trapezoid and midpoint on SO(3) as pairs of Euler steps, and others),
``munthe_kaas`` (any Runge-Kutta tableau on the rotation group) and ``rotation_parameters`` (the same with rotation
vectors, Euler angles and others), both over ``stages`` and the coefficients in ``tableaux``; ``commutator_free``
(Runge-Kutta by products of exponentials); ``splitting`` (kicks between free motions; coefficients in
``splitting_tables``, free rotations in ``free_flows``), ``thermostats`` (splittings with a heat bath),
``taylor_series``, ``euler_lagrange`` (discrete Euler-Lagrange equations, for point masses), ``conic`` (exact orbits),
``time_transformed`` (time transformations of the others).
``record`` defines a row, ``other_names`` lists synonyms, ``listing`` formats rows for reading. A method with the same
step and other coefficients is a new row; another step is a new file.

Time loops, systems, Datasets and files do not belong here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from types import ModuleType
from typing import Any

from polhode.arguments import LONGEST_WORD, text
from polhode.errors import InvalidInput, closest, shown, unknown_name
from polhode.lazy import opened, unmade
from polhode.methods import splitting as splittings
from polhode.methods.free_flows import FLOW_NAMES
from polhode.methods.other_names import INSTEAD, METHOD_OF, OTHER_NAMES, as_here, other_names
from polhode.methods.record import CompiledMethod, Method, MethodSpec, Option, Promises
from polhode.methods.splitting import splitting
from polhode.methods.splitting_tables import SCHEMES, Scheme
from polhode.methods.tableaux import add_tableau, tableau, tableau_names
from polhode.plugins import Registry

__all__ = [
    "FLOW_NAMES", "METHODS", "OTHER_NAMES", "MethodSpec", "Method", "Option", "CompiledMethod", "Promises", "SCHEMES",
    "Scheme", "add_method", "add_tableau", "as_here", "each_default", "method", "method_table", "other_names",
    "splitting", "tableau", "tableau_names",
]  # fmt: skip

LONGEST = 400
"""Most characters of a method string with all its options."""

FAMILIES = {
    "krysl": "forward_euler backward_euler forward_euler_m backward_euler_m trap imid trapm imidm swc1 akw bbtrap"
             " liemid_e1 liemid_e2 liemid_ea",
    "munthe_kaas": "mkrk bbtrapwd ode45",
    "commutator_free": "cg3 cg4 cf3 cf4",
    "rotation_parameters": "rotation_vector euler gibbs_rodrigues modified_rodrigues lie_rk terze"
                           " rotation_vector_as_printed rotation_vector_bch euler_as_printed rotation_vector_direct"
                           " euler_direct euler_switching quaternion_rk",
    "splitting": " ".join(splittings.ROWS),
    "thermostats": "baoab aboba obabo nose_hoover",
    "taylor_series": "taylor8 taylor12 taylor16 taylor20 taylor30 taylor",
    "euler_lagrange": "variational variational_midpoint variational_midpoint4 galerkin4 galerkin6 galerkin8",
    "conic": "kepler",
}  # fmt: skip
"""The names of the rows of each file, which is read when one of them is asked for."""
TIME_TRANSFORMATIONS = ("reversible", "logarithmic")
"""What stands before the name of another method: functions of the file ``time_transformed``."""
FOUND = ("taylor_series", "euler_lagrange", "splitting")
"""Files that find further rows by their names."""


def _file(family: str) -> Any:
    return opened(f"polhode.methods.{family}")


def _made(family: str, name: str) -> Method:
    rows = _file(family).ROWS
    return rows[name] if family == "splitting" else next(row for row in rows if row.name == name)


METHODS: dict[str, Method] = Registry({
    name: unmade(_made, family, name)
    for family, names in FAMILIES.items() for name in names.split()
})  # fmt: skip
"""Every method by name."""


def method(named: str | Method | MethodSpec, **options: Any) -> MethodSpec:
    """Resolve a method string ``[step_density:]name[/flow][:option...]``.

    Parameters
    ----------
    named : str, Method or MethodSpec
        Such as ``"trapm"``, ``"mkrk:gauss4:cayley"``, ``"s6_10/mr6"``, ``"taylor14"`` or ``"reversible:v2"``; synonyms
        are understood (``"leapfrog"``, ``"RK45"``). Or a row, which need not be in the table.
    **options : str
        The same options by name, such as ``tableau="gauss4"``.

    Raises
    ------
    InvalidInput
        Unknown name, order, flow or option; the message names the closest known ones.

    Examples
    --------
    >>> import polhode as ph
    >>> chosen = ph.methods.method("leapfrog")
    >>> chosen.label, ph.methods.method("mkrk", tableau="gauss4").label
    ('v2', 'mkrk:gauss4')
    """
    if isinstance(named, Method):
        return named(**options)
    if isinstance(named, MethodSpec):
        given = {name: value for name, value in named.options.items() if value}
        return replace(named, options=named.method.resolve_options(**given | options)) if options else named
    if not isinstance(named, str) or not 0 < len(named) <= LONGEST:
        raise InvalidInput(f"a method is named by a string such as 'trapm' or 'mkrk:gauss4', not {shown(named)}")
    text = as_here(named)
    head, *words = text.split(":")
    if head in TIME_TRANSFORMATIONS:
        transformed: Callable[..., MethodSpec] = getattr(_file("time_transformed"), head)
        return transformed(method, ":".join(words), **options)
    if not options:
        return _resolved(head, *words, known=METHODS.get(head.partition("/")[0]))
    return MethodSpec(row := _row(head), row.resolve_options(words, **options))


@lru_cache(512)
def _resolved(head: str, *words: str, known: Method | None) -> MethodSpec:
    """What a method string means while a row is in the table, so that what follows from it is built once."""
    row = _row(head)
    return MethodSpec(row, row.resolve_options(words))


def _row(head: str) -> Method:
    """The row of ``name[/flow]``."""
    name, slash, flow = head.partition("/")
    row = METHODS.get(name) or next(filter(None, (one.find(name) for one in map(_file, FOUND))), None)
    if row is None:
        said = INSTEAD.get(name.lower().replace("-", "_"))
        if name in tableau_names():
            said = f"a Runge-Kutta tableau is an option of 'mkrk': write 'mkrk:{name}'"
        if said:
            raise InvalidInput(f"unknown method {name!r}; {said}")
        raise unknown_name("method", name, [*METHODS, *(name for names in OTHER_NAMES.values() for name in names)])
    return row.flowing(flow) if slash else row


def __getattr__(name: str) -> Method:
    """The row of a method, by its name or another one: ``polhode.methods.baoab(temperature=300, friction=5)``."""
    if not name.startswith("_"):
        with suppress(InvalidInput):
            return _row(METHOD_OF.get(name.lower(), name))
    meant = repr(method(name)) if name.lower() in METHOD_OF else "".join(closest(name, __dir__(), 1))
    raise AttributeError(f"polhode.methods has no {name!r}" + f"; did you mean {meant}?" * bool(meant))


def __dir__() -> list[str]:
    return sorted({*__all__, *METHODS})


def options_by_name() -> dict[str, tuple[Option, ...]]:
    """The options of all methods by name, each with its different forms; schemes have none of their own."""
    found: dict[str, list[Option]] = {}
    for row in (*(METHODS[name] for name in METHODS if name not in SCHEMES), _row("v2/kepler")):
        for name, option in row.options.items():
            if option not in found.setdefault(name, []):
                found[name].append(option)
    return {name: tuple(options) for name, options in found.items()}


def by_name(name: str) -> Method:
    """The row of this name; unpickles rows."""
    try:
        return method(name).method
    except InvalidInput as unknown:
        raise InvalidInput(
            f"{unknown}; a method of your own is added by polhode.methods.add_method in every process"
        ) from None


def add_method(row: Method) -> Method:
    """Add a row to the table; returns it.

    Parameters
    ----------
    row : Method
        What the functions of this module and ``dataclasses.replace`` of a row make.

    Raises
    ------
    InvalidInput
        Not a row, or another method has that name or synonym.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import polhode as ph
    >>> mine = ph.methods.add_method(replace(ph.methods.METHODS["trapm"], name="mine"))
    >>> ph.integrate(ph.free_body((1, 2, 2.5)), "mine", step=0.1, steps=10, angular_velocity=(0.2, 1, 0.1)).method
    'mine'
    """
    if not isinstance(row, Method):
        raise InvalidInput(f"row must be a method such as polhode.methods.splitting(...) gives, not {shown(row)}")
    if row.name in METHOD_OF:
        raise InvalidInput(f"{row.name!r} is another name of {METHOD_OF[row.name]!r}; choose another one")
    if METHODS.get(row.name, row) is not row:
        raise InvalidInput(f"there is already a method {row.name!r}; choose another name")
    text(row.name, "the name of the method", LONGEST_WORD)
    METHODS[row.name] = row
    return row


def each_default() -> Iterator[MethodSpec]:
    """Every row with its default options.

    Examples
    --------
    >>> import polhode as ph
    >>> [row.label for row in ph.methods.each_default() if row.method.family == "krysl"][:3]
    ['forward_euler', 'backward_euler', 'forward_euler_m']
    """
    for name in METHODS:
        yield method(name)


def method_table() -> str:
    """The table of methods by kind: order, invariants, cost in load evaluations, citation; then the synonyms.

    Examples
    --------
    >>> import polhode as ph
    >>> [line for line in ph.methods.method_table().splitlines() if line.startswith("trapm ")][0].split()[1]
    '2'
    """
    return str(_Module.__call__(sys.modules[__name__]))


class _Module(ModuleType):
    """``polhode.methods()``: the tables, which a terminal prints and a notebook shows."""

    def __call__(self: ModuleType) -> Any:
        from polhode.html import Tables
        from polhode.methods.listing import listings

        return Tables(tuple(listings(each_default())), f"Other names\n{other_names()}")


sys.modules[__name__].__class__ = _Module
