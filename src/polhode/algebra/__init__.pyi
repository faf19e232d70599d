"""Written by .ci/stubs.py from the names of `__init__.py`."""

from polhode.algebra import elliptic as elliptic
from polhode.algebra import variational as variational

__all__ = [
    "elliptic",
    "variational",
]
