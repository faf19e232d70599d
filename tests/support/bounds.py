"""Bounds of time and memory, as the system itself keeps them."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

counted = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no bound of memory here")


class TooSlow(BaseException):
    """Something has taken too long."""


@contextlib.contextmanager
def bounded(memory, seconds=0):
    """Bytes that may be taken beside those that are, and seconds until ``TooSlow``; others by ``signal.alarm``."""

    def ring(*_):
        raise TooSlow

    import resource

    with open("/proc/self/statm") as counts:
        used = int(counts.read().split()[0]) * resource.getpagesize()
    before, handler = resource.getrlimit(resource.RLIMIT_AS), signal.signal(signal.SIGALRM, ring)
    resource.setrlimit(resource.RLIMIT_AS, (used + memory, before[1]))
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGALRM, handler)
