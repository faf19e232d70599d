"""Splines against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest

from polhode.algebra.splines import slopes_through, values_at

interpolate = pytest.importorskip("scipy.interpolate")


def test_splines_are_those_of_scipy():
    chance = np.random.default_rng(1)
    for n in range(4, 40):
        y, even = chance.normal(size=(n, 3)) * 1e11, chance.normal() + 86400.0 / n * np.arange(n)
        for x in (even, np.cumsum(chance.uniform(0.1, 1.0, n))):
            theirs, ours = interpolate.CubicSpline(x, y), slopes_through(x, y)
            at = np.append(chance.uniform(x[0], x[-1], (2, 20)), [x[[0, -1]], x[1:3]], axis=1)
            assert values_at(x, y, ours, at) == pytest.approx(theirs(at), rel=1e-12, abs=1e-1)


def test_splines_tell_nothing_beyond_their_ends():
    x, y = np.arange(5.0), np.arange(10.0).reshape(5, 2) ** 2
    at = np.array([-0.1, 0.0, 4.0, 4.1, np.nan])
    assert np.array_equal(np.isnan(values_at(x, y, slopes_through(x, y), at)[:, 0]), [True, False, False, True, True])


def test_the_sun_needs_no_scipy(forked):
    asked = """
        import json, sys
        import polhode as ph
        seen = ph.surroundings.ephemeris("sun", "2026-01-01", 86400.0)
        seen.at([0.0, 3600.0])
        print(json.dumps("scipy.interpolate" in sys.modules))
    """
    assert forked(asked) is False
