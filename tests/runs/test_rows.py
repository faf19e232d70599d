"""The rows of a run: all of them in memory, or those of late where a store has the others."""

from __future__ import annotations

import numpy as np
import pytest

import polhode as ph
from polhode.runs import rows


def filled(monkeypatch, kept, most=rows.LARGEST_ROWS):
    monkeypatch.setattr(rows, "KEPT", kept)
    record = rows.Record(4, 2, most)
    for k in range(10):
        record.add(float(k), np.full(2, k), k)
    return record


def test_rows_that_a_store_has_leave_the_memory(monkeypatch):
    record = filled(monkeypatch, 3 * 16, most=5)
    record.forget(3)  # three rows may stay
    assert (record.first, record.held) == (0, 10)
    record.forget(8)
    assert (record.first, record.held, record.count, record.last) == (8, 2, 10, 9.0)
    times, states, iterations, sizes = record.between(8, 10)
    assert times.tolist() == [8.0, 9.0] and states[:, 1].tolist() == [8.0, 9.0]
    assert iterations.tolist() == [8, 9] and sizes.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="row 7 has left the memory, which begins with row 8"):
        record.between(7, 9)
    record.add([10.0, 11.0], np.ones((2, 2)), 0)
    record.cut(10.5, 1.0)
    record.replace(10.0, np.array([5.0, 6.0]))
    assert record.count == 11 and record.between(10, 11)[1].tolist() == [[5.0, 6.0]]
    record.forget(11)  # the last row stays: what comes next is compared with it
    assert (record.first, record.held, record.last) == (8, 3, 10.0)
    monkeypatch.setattr(rows, "KEPT", 0)
    record.forget(11)
    assert (record.first, record.held, record.last) == (10, 1, 10.0)


def test_without_a_store_all_rows_stay(monkeypatch):
    record = filled(monkeypatch, 0)
    record.forget(10)
    assert (record.first, record.held) == (0, 10) and record.steps(7, 3) >= 2**31


def test_a_slice_records_so_many_rows_at_most():
    record = rows.Record(4, 2, most=5)
    assert [record.steps(done, 3) for done in (0, 1, 2, 3)] == [15, 14, 13, 15]
    for done in range(7):
        assert (done + record.steps(done, 3)) // 3 - done // 3 == 5


def test_memory_of_a_run_whose_rows_are_stored():
    from polhode.runs.request import requested

    body = ph.free_body(inertia=(1, 2, 3))
    request = requested(body, "v2/mr", {"step": 1e-3, "steps": 10**11, "every": 1, "t_eval": None})
    with pytest.raises(ph.errors.InvalidInput, match=r"larger every, or let them go to a store \(store='run.zarr'\)"):
        request.record()
    record = request.record(stored=True)
    assert record.states.nbytes < 2 * rows.SLICE + rows.KEPT + 1000 and record.most * 13 * 8 <= rows.SLICE
