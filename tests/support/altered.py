"""Copies of the package's functions with some of the names they read changed: what a check must notice."""

from __future__ import annotations

from types import FunctionType

from polhode.kernel.jit import global_names, helper, python_of


def altered(function, **values):
    """A copy of a function, compiled or not, with other values of global names that it reads; plain ones of functions
    become helpers."""
    source = python_of(function)
    assert values.keys() <= global_names(source.__code__), f"{source.__qualname__} does not read {list(values)}"
    new = {name: helper(value) if isinstance(value, FunctionType) else value for name, value in values.items()}
    copy = FunctionType(source.__code__, source.__globals__ | new, source.__name__, source.__defaults__)
    copy.__module__ = source.__module__
    return copy
