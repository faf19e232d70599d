"""What numba knows of lanes: types of numbers, integers and truths in them, the functions of ``simd``."""

from __future__ import annotations

from functools import partial

from numba import types
from numba.extending import models, register_model

from polhode.kernel.later import by_hand
from polhode.kernel.simd import IN_KERNELS, vector


class Wide(types.Type):  # type: ignore[misc]
    """The type of something in each of so many lanes."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"{type(self).__name__}({width})")


class Truths(Wide):
    """The type of a comparison of lanes: a bit for each."""


class Wholes(Wide):
    """The type of an integer in each lane."""


class Lanes(Wide):
    """The type of a number in each lane."""


@register_model(Lanes)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, front_end):
        super().__init__(manager, front_end, vector(front_end.width))


BY_HAND = {
    function: by_hand(function.__name__, partial(typed, Lanes), write)
    for function, (typed, write) in IN_KERNELS.items()
}
"""For each function of ``simd``, which intrinsic it is in kernels."""
