"""Vectors of three numbers in equations that are written by hand and evaluated thousands of times."""

from __future__ import annotations

from typing import Any

import numpy as np


def cross(a: Any, b: Any) -> Any:
    """The vector product; ``numpy.cross`` takes ten times as long for two vectors, most of the time of an oracle."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
