"""Numbers of a scene, read as the page reads them."""

import numpy as np


def read(arrays, reference):
    """The numbers of a reference, as the page reads them."""
    types = {"float64": "<f8", "float32": "<f4", "int16": "<i2", "uint32": "<u4"}
    count = int(np.prod(reference["shape"], dtype=int))
    raw = np.frombuffer(arrays, types[reference["type"]], count, reference["at"]).reshape(reference["shape"])
    return raw.astype(float) * reference["scale"] if "scale" in reference else raw
