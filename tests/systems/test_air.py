"""The standard exponential atmosphere."""

from itertools import pairwise

import numpy as np
import pytest

import polhode as ph
from acting import acting
from polhode.surroundings.air import STANDARD


def test_scale_heights_lead_from_row_to_row():
    for (low, rho, height), (high, after, _) in pairwise(STANDARD):
        np.testing.assert_allclose(rho * np.exp((low - high) / height), after, rtol=2e-3)


def test_it_is_a_table_of_drag():
    table = np.array(ph.forces.standard_air(6.4e6))
    assert table.shape == (29, 2) and table[0].tolist() == [6.4e6, 1.225]
    force = ph.forces.drag(coefficient=2.0, table=table)
    r, v = (6.8e6, 0.0, 0.0), (0.0, 7e3, 0.0)
    at = acting(force, r, v)["force"]
    np.testing.assert_allclose(at, (0.0, -3.725e-12 * 7e3**2, 0.0), rtol=1e-12)


def test_wrong_surface():
    with pytest.raises(ph.errors.InvalidInput, match="surface"):
        ph.forces.standard_air(-1.0)
