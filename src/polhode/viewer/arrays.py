"""Numbers of a scene as one run of bytes, and references to its parts.

A reference is ``{"at": first byte, "shape": [..], "type": .., "scale": s}``: little-endian, aligned to 8 bytes, value =
raw number times scale (1 where it is left out). Numbers are stored no finer than a picture can show, so that the page
stays small, but for those that are shown as text, which are exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from polhode.arguments import Array, ArrayLike

WHOLE = 32767  # largest raw number of an int16
DRAWN = 4095  # steps of what is only drawn: a tenth of a pixel
ALIGNED = 8
LARGEST, SMALLEST = 1e30, 1e-30  # sizes between which numbers are stored as float32
FINE, COARSE = 19, 10
"""Bits of the mantissa that positions, and curves, keep: rounded numbers are compressed better."""

Reference = dict[str, Any]


class Arrays:
    """Bytes that grow by one array after another."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def __bytes__(self) -> bytes:
        return b"".join(self._parts)

    def _add(self, raw: ArrayLike, type_: str, scale: float = 1.0) -> Reference:
        data = np.ascontiguousarray(raw).tobytes()
        found: Reference = {"at": self._size, "shape": list(np.shape(raw)), "type": type_}
        if scale != 1.0:
            found["scale"] = scale
        filling = b"\0" * (-len(data) % ALIGNED)
        self._parts += [data, filling]
        self._size += len(data) + len(filling)
        return found

    def exact(self, values: Array) -> Reference:
        """Numbers as they are: float64."""
        return self._add(np.asarray(values, dtype="<f8"), "float64")

    def whole(self, values: ArrayLike) -> Reference:
        """Numbers that count: uint32."""
        return self._add(np.asarray(values, dtype="<u4"), "uint32")

    def single(self, values: Array, bits: int = FINE) -> Reference:
        """float32 with so many bits of the mantissa; NaN and infinity stay. float64 where float32 has no such sizes."""
        values = np.asarray(values, dtype=float)
        size = _size(values)
        if size and not SMALLEST < size < LARGEST:
            return self.exact(values)
        with np.errstate(under="ignore"):
            raw = values.astype("<f4")
        return self._add(_rounded(raw, bits), "float32")

    def short(self, values: Array, size: float | None = None, steps: int = WHOLE) -> Reference:
        """int16 of so many steps up to ``size`` (default: the largest); where a number is not finite, float32."""
        values = np.asarray(values, dtype=float)
        if not np.isfinite(values).all():
            return self.single(values, COARSE)
        size = _size(values) if size is None else size
        if size and not SMALLEST < size < LARGEST:
            return self.exact(values)
        if not size:
            return self._add(np.zeros(values.shape, dtype="<i2"), "int16")
        return self._add(np.rint(values / size * steps).astype("<i2"), "int16", size / steps)


def _size(values: Array) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


def _rounded(raw: Any, bits: int) -> Any:
    """float32 rounded to so many bits of the mantissa (of 23)."""
    drop = np.uint32(23 - bits)
    if drop == 0 or not raw.size:
        return raw
    whole = raw.view("<u4")
    half = np.uint32(1) << (drop - np.uint32(1))
    rounded = ((whole + half) >> drop) << drop
    return np.where(np.isfinite(raw), rounded.view("<f4"), raw).astype("<f4")


def read(arrays: bytes, reference: Reference) -> Any:
    """The numbers of a reference, as the page reads them."""
    types = {"float64": "<f8", "float32": "<f4", "int16": "<i2", "uint32": "<u4"}
    count = int(np.prod(reference["shape"], dtype=int))
    raw = np.frombuffer(arrays, types[reference["type"]], count, reference["at"]).reshape(reference["shape"])
    return raw.astype(float) * reference["scale"] if "scale" in reference else raw
