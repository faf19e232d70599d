"""Holes: the names of a template that ``jit.bind`` fills with functions and numbers.

A template such as the time loop says what it wants from outside, at the top of its file:

    step = jit.hole("step(t, h, p) -> status", "The step of the method.")

and ``jit.bind(march, step=...)`` makes a copy with it. Nothing but holes can be bound. A hole with a default is the
default until it is bound; one without is a ``Hole``, which no kernel can be compiled with.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from types import FunctionType, MethodType
from typing import Any, NoReturn

HOLES = "__holes__"
"""Global name of a module's holes, by name; copies that ``jit.bind`` makes keep it."""
SIGNATURE = re.compile(r"(\w+)(?:\(([^()]*)\)(?: -> .+)?)?")


class Hole:
    """A name of a template that nothing fills.

    ``signature`` is how templates call it, ``name(arguments) -> result``, three dots for any number of arguments; the
    name alone for what is no function. ``doc`` says what it is; ``default`` is what it is where nothing is bound."""

    def __init__(self, signature: str, doc: str = "", default: object = None) -> None:
        parts = SIGNATURE.fullmatch(signature)
        if parts is None:
            raise TypeError(f"a hole is written 'name(arguments) -> result', or 'name' for a value, not {signature!r}")
        self.signature, self.doc, self.default = signature, doc, default
        self.name, self.called = parts[1], parts[2] is not None
        words = [word.strip() for word in (parts[2] or "").split(",") if word.strip()]
        self.arguments = None if "..." in words else len(words)

    def refusal(self, template: str) -> TypeError:
        """The error for a template with this hole, of this name."""
        what = f" ({self.doc[0].lower()}{self.doc[1:].rstrip('.')})" if self.doc else ""
        remedy = f"write jit.bind({template.rpartition('.')[2]}, {self.name}=...)"
        return TypeError(f"{template} has a hole that nothing fills: {self.signature}{what}; {remedy}")

    def misfit(self, value: object) -> str:
        """Why ``value`` cannot fill it, for a message; empty where it can."""
        function = getattr(value, "py_func", value)
        if not self.called:
            wrong = isinstance(function, FunctionType | MethodType)
            return f"it is a value, not a function such as {_named(function)}" if wrong else ""
        if not callable(function):
            return f"it is called as {self.signature}, which {value!r} is not"
        if self.arguments is None or not isinstance(function, FunctionType):
            return ""
        code, defaults = function.__code__, function.__defaults__ or ()
        most = code.co_argcount
        enough = most - len(defaults) <= self.arguments and (self.arguments <= most or code.co_flags & 0x04)
        return "" if enough else f"it is called as {self.signature}, but {_named(function)} takes {most} arguments"

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise self.refusal(sys._getframe(1).f_code.co_qualname)

    def __repr__(self) -> str:
        return f"<hole {self.signature}>"


def _named(function: object) -> str:
    return str(getattr(function, "__qualname__", type(function).__name__))


def hole(signature: str, doc: str = "", default: object = None) -> Any:
    """Declare a hole of the templates in the module that calls this; assign the result to its name.


    Examples
    --------
    >>> rate = hole("rate(t, p) -> float", "The step density.")
    >>> rate(0.0, None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    TypeError: ... has a hole that nothing fills: rate(t, p) -> float (the step density); write jit.bind(...
    """
    made = Hole(signature, doc, default)
    wrong = "" if default is None else made.misfit(default)
    if wrong:
        raise TypeError(f"the default of the hole {made.name!r} does not fit: {wrong}")
    sys._getframe(1).f_globals.setdefault(HOLES, {})[made.name] = made
    return made if default is None else default


def replaceable(function: Any) -> Any:
    """Declare a function, by its own name, as a hole of the templates in its module whose default it is."""
    plain = getattr(function, "py_func", function)
    code = plain.__code__
    signature = f"{plain.__name__}({', '.join(code.co_varnames[: code.co_argcount])})"
    made = Hole(signature, (plain.__doc__ or "").partition("\n")[0], function)
    plain.__globals__.setdefault(HOLES, {})[made.name] = made
    return function


def holes_among(names: Iterable[str], namespace: dict[str, Any]) -> dict[str, Hole]:
    """The holes among global names, by name, filled or not; ``namespace``: the globals of a template."""
    known: dict[str, Hole] = namespace.get(HOLES, {})
    return {name: known[name] for name in sorted(names) if name in known}


def check_filled(template: str, names: Iterable[str], namespace: dict[str, Any]) -> None:
    """Check that no global name of a template is an unfilled hole."""
    for name in sorted(names):
        inside = namespace.get(name)
        if isinstance(inside, Hole):
            raise inside.refusal(template)
