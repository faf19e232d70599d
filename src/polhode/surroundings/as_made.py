"""Records of files and samples that know whether they were changed since."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from typing import Self

import numpy as np

from polhode.errors import InvalidInput


@dataclass(frozen=True)
class AsMade:
    """What records repeat from the arguments, or the file, that it was made of: it knows whether it is still that."""

    _seal: str = field(default="", init=False, repr=False, compare=False)

    def contents(self) -> str:
        """SHA-256 of all that it holds."""
        held = hashlib.sha256()
        for one in fields(self):
            value = getattr(self, one.name)
            if one.init:
                held.update(value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode())
        return held.hexdigest()

    def sealed(self) -> Self:
        """Itself, as made now: what ``dataclasses.replace`` makes of it is not."""
        object.__setattr__(self, "_seal", self.contents())
        return self

    @property
    def as_made(self) -> bool:
        """Whether its maker would make it again."""
        return self._seal == self.contents()

    def unchanged(self, maker: str, remedy: str) -> Self:
        """Itself, if it is as it was made."""
        if not self.as_made:
            raise InvalidInput(f"what polhode.{maker} made was changed since, so that a run with it could not be "
                               f"repeated; {remedy}")  # fmt: skip
        return self
