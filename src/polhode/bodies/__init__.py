"""Bodies: mass, moments of inertia and shape, without what acts on them; called as a function, so many equal ones."""

from __future__ import annotations

import sys
from types import ModuleType

from polhode.bodies.body import bodies
from polhode.lazy import public_names

__all__ = ["bodies"]
__dir__ = public_names(__all__)


class _Module(ModuleType):
    """``polhode.bodies(n, ...)`` beside the modules in it."""

    __call__ = staticmethod(bodies)


sys.modules[__name__].__class__ = _Module
