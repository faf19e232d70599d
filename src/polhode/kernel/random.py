"""Counter-based random numbers: each follows from a key and a counter alone, by Philox4x32-10 [salmon2011].

There is no generator state, so numbers do not depend on the order in which they are drawn, nor on slices, threads or
restarts. 32-bit words are held in signed 64-bit integers, whose products wrap around in compiled code but not in
Python; the masks make both the same.
"""

from __future__ import annotations

from math import cos, log, pi, sin, sqrt

from polhode.kernel.jit import inlined

WORD = 0xFFFFFFFF
FIRST_FACTOR, SECOND_FACTOR = 0xD2511F53, 0xCD9E8D57
FIRST_STEP, SECOND_STEP = 0x9E3779B9, 0xBB67AE85
ROUNDS = 10


@inlined
def philox(c0, c1, c2, c3, k0, k1):
    """Four random words from four words of a counter and two of a key [salmon2011, sec. 3.3]."""
    for _ in range(ROUNDS):
        a, b = FIRST_FACTOR * c0, SECOND_FACTOR * c2
        c0, c1, c2, c3 = ((b >> 32) & WORD) ^ c1 ^ k0, b & WORD, ((a >> 32) & WORD) ^ c3 ^ k1, a & WORD
        k0, k1 = (k0 + FIRST_STEP) & WORD, (k1 + SECOND_STEP) & WORD
    return c0, c1, c2, c3


@inlined
def normal_pair(c0, c1, c2, c3, k0, k1):
    """Two independent normal numbers of mean 0 and variance 1, by the Box-Muller map of 53-bit uniforms [box1958]."""
    x0, x1, x2, x3 = philox(c0, c1, c2, c3, k0, k1)
    u = ((x0 >> 5) * 67108864.0 + (x1 >> 6) + 1.0) / 9007199254740992.0  # in (0, 1]
    v = ((x2 >> 5) * 67108864.0 + (x3 >> 6)) / 9007199254740992.0
    r = sqrt(-2.0 * log(u))
    return r * cos(2.0 * pi * v), r * sin(2.0 * pi * v)
