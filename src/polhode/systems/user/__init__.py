"""Users' functions, as what a compiled loop can call.

A function is traced; where it is no program it is compiled with tuples as arguments; if that fails, with arrays; if
that fails, it runs as Python through a bridge, more slowly and with one warning. It is always called in plain Python
with arrays first, so that a mistake shows the user's own traceback. A compiled form is used only if it returns the same
numbers, at the initial state and at two generic states (at rest, ``omega + omega`` of tuples and of arrays may agree by
accident).
"""

from __future__ import annotations

from polhode.systems.user.function import UserFunction, repeated
from polhode.systems.user.roles import FORMS

__all__ = ["FORMS", "repeated", "UserFunction"]
