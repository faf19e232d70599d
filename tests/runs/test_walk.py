"""The walk of system and step: through how many functions they pass on the way from the call to the kernel."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import polhode as ph
from polhode.kernel import jit
from polhode.runs.request import Request
from polhode.systems import System

STEP = 0.0123456789
SOURCE = str(Path(ph.__file__).parent)
READERS = "arguments/__init__.py"
"""Reads all numbers of all users."""
MOST = 12


def walked(run):
    """Functions of polhode that have the system or the request, and the step, among their arguments, but for methods of
    their own class; of the step up to the first kernel."""
    of_system, of_step, there = set(), set(), False

    def watch(frame, event, _):
        nonlocal there
        code = frame.f_code
        if not code.co_filename.startswith(SOURCE):
            return
        there = there or (event == "return" and code.co_qualname == "Integrator.march")
        if event != "call" or code.co_qualname == "answering.<locals>.wrapper":  # which hands everything on
            return
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        for name in code.co_varnames[:count]:
            value = frame.f_locals.get(name)
            parts = list(value.values()) if isinstance(value, dict) else [value]
            if name != "self" and any(isinstance(part, System | Request) for part in parts):
                of_system.add(code.co_qualname)
            if any(isinstance(part, float) and abs(part) == STEP for part in parts) and not there:
                of_step.add(code.co_qualname)

    def outside(frame, event, argument):
        if not frame.f_code.co_filename.endswith(READERS):
            watch(frame, event, argument)

    sys.setprofile(outside)
    try:
        run()
    finally:
        sys.setprofile(None)
    return of_system, of_step


@pytest.mark.skipif(jit.disabled(), reason="kernels are functions of Python then")
@pytest.mark.skipif(sys.getprofile() is not None, reason="another profiler is at work")
def test_the_walk_is_short():
    tops = [ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0) for _ in range(2)]
    tilt = ph.rotation.exp_quaternion((0.3, 0, 0))

    def run(top):
        ph.integrate(top, "v2", step=STEP, steps=50, attitude=tilt, angular_velocity=(0, 0, 20))

    run(tops[0])  # compiled
    of_system, of_step = walked(lambda: run(tops[1]))  # a system that keeps no request of before
    assert {"integrate", "requested", "Run.__init__", "Integrator.__init__", "dataset"} <= of_system
    assert {"integrate", "requested", "span", "Integrator.march"} <= of_step
    assert len(of_system) <= MOST, sorted(of_system)
    assert len(of_step) <= MOST, sorted(of_step)
