"""Written by .ci/stubs.py from the names of `__init__.py`."""

from polhode.algebra import elliptic as elliptic, variational as variational

__all__ = [
    "elliptic",
    "variational",
]
