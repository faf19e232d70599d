"""What several files of tests of runs share."""

from __future__ import annotations

import pytest

from polhode.runs.tangent import transition


@pytest.fixture
def few_at_once(monkeypatch):
    """Kernels of two columns are compiled in half the time of those of 24; matrices are carried in parts."""
    monkeypatch.setattr(transition, "MOST_AT_ONCE", 2)
