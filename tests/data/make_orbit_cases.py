"""States of five forced orbits in 25 digits, by Taylor series in multiple precision: writes ``orbit_cases.json``.

    python tests/data/make_orbit_cases.py            # 20 seconds

The data are those of Carson 2005, table 1, in km and s, as they are printed: decimals, not the doubles next to them,
which would move the ends by 2e-11 to 5e-11 km (``--doubles`` shows it, and writes nothing).

========== ===================================================================================================
case       motion from (0, r0, 0) over a day
========== ===================================================================================================
impulse    circular, 0.02 km/s along the velocity at 43,200 s
drag       elliptic, a = -kd exp(-(r - r0)/50) |v| v with kd = 2e-6/km, in air at rest
uniform    elliptic, a = (1e-7, 0, 0) km/s^2
thrust     circular, 5e-6 km/s^2 along the velocity for 20,000 <= t <= 30,000 s, mass constant
oblate     v = 1.550663 (cos 0.9, 0, sin 0.9), J2 = 1e-3 of radius 1560.8 km about z
========== ===================================================================================================

Each case is integrated twice, with other orders, tolerances and digits, and written where both agree to 1e-20 of the
radius. The coefficients of a step follow one another: with s = r . r,

    s^a:      n s_0 c_n = sum_{k=1..n} (a k - (n - k)) s_k c_{n-k}         (also for |v| and its inverse)
    exp g:    n c_n = sum_{k=1..n} k g_k c_{n-k}

and a step is as long as the last two coefficients of position and velocity allow. Nothing of polhode is imported. The
state at 43,200 s of ``impulse`` is that after the impulse.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from mpmath import mp, mpf

MU, R0, CIRCULAR, ELLIPTIC = "3200.9998", "1664.029", "1.386955", "1.550663"
TIMES = (21600, 43200, 64800, 86400)
IMPULSE_AT, BURN = 43200, (20000, 30000)
RUNS = ((36, 30, 42), (46, 34, 50))
"""Order, digits of a step and digits carried, of both integrations."""


def number(text):
    """A decimal, or with ``--doubles`` the double next to it."""
    return mpf(float(text)) if DOUBLES else mpf(text)


DOUBLES = False


class Series:
    """Taylor coefficients of position and velocity at one time, made one after another."""

    def __init__(self, r, v, case, burning, order):
        self.order, self.case, self.burning = order, case, burning
        self.mu, self.r0 = number(MU), number(R0)
        self.r, self.v = [[x] for x in r], [[x] for x in v]
        self.s, self.w = [], []  # r.r and v.v
        self.u3, self.u5, self.size, self.air, self.speed, self.inverse = [], [], [], [], [], []
        self.k, self.z2, self.u7 = [], [], []
        for n in range(order):
            a = self.acceleration(n)
            for c in range(3):
                self.r[c].append(self.v[c][n] / (n + 1))
                self.v[c].append(a[c] / (n + 1))

    @staticmethod
    def product(f, g, n):
        """Coefficient n of f g."""
        return mp.fdot(f[: n + 1], g[n::-1])

    @staticmethod
    def power(f, c, a, n):
        """Append coefficient n of f^a to c."""
        if n == 0:
            c.append(f[0] ** a)
        else:
            c.append(mp.fdot([(a * k - (n - k)) * f[k] for k in range(1, n + 1)], c[n - 1 :: -1]) / (n * f[0]))

    def acceleration(self, n):
        """Coefficient n of the acceleration, from the coefficients 0 to n of position and velocity."""
        r, v, product = self.r, self.v, self.product
        self.s.append(sum(product(x, x, n) for x in r))
        self.power(self.s, self.u3, mpf(-3) / 2, n)
        a = [-self.mu * product(x, self.u3, n) for x in r]
        if self.case == "uniform":
            a[0] += number("1e-7") if n == 0 else 0
        if self.case in ("drag", "thrust"):
            self.w.append(sum(product(x, x, n) for x in v))
        if self.case == "drag":
            self.power(self.s, self.size, mpf(1) / 2, n)
            self.power(self.w, self.speed, mpf(1) / 2, n)
            if n == 0:
                self.air.append(mp.exp(-(self.size[0] - self.r0) / 50))
            else:
                self.air.append(mp.fdot([-k * self.size[k] / 50 for k in range(1, n + 1)], self.air[n - 1 :: -1]) / n)
            self.k.append(product(self.air, self.speed, n))
            a = [b - number("2e-6") * product(self.k, x, n) for b, x in zip(a, v, strict=True)]
        if self.case == "thrust" and self.burning:
            self.power(self.w, self.inverse, mpf(-1) / 2, n)
            a = [b + number("5e-6") * product(self.inverse, x, n) for b, x in zip(a, v, strict=True)]
        if self.case == "oblate":
            # From the potential (mu J2 R^2 / 2) (3 z^2 / r^5 - 1 / r^3) of a unit of mass.
            self.power(self.s, self.u5, mpf(-5) / 2, n)
            self.power(self.s, self.u7, mpf(-7) / 2, n)
            self.z2.append(product(r[2], r[2], n))
            self.k.append(15 * product(self.z2, self.u7, n) / 2 - 3 * self.u5[n] / 2)
            w = self.mu * number("1e-3") * number("1560.8") ** 2
            a = [b + w * product(self.k, x, n) for b, x in zip(a, r, strict=True)]
            a[2] -= 3 * w * product(self.u5, r[2], n)
        return a

    def longest(self, digits):
        """The step at which the last two terms are 10^-digits of the first."""
        h = mp.inf
        for f in (self.r, self.v):
            first = max(abs(x[0]) for x in f)
            for n in (self.order - 1, self.order):
                last = max(abs(x[n]) for x in f)
                if last:
                    h = min(h, (first * mpf(10) ** -digits / last) ** (mpf(1) / n))
        return h

    def at(self, h):
        """Position and velocity after h."""
        powers = [h**k for k in range(len(self.r[0]))]
        return [mp.fdot(x, powers) for x in self.r], [mp.fdot(x, powers) for x in self.v]


def start(case):
    """Position and velocity."""
    r = [mpf(0), number(R0), mpf(0)]
    if case == "oblate":
        return r, [number(ELLIPTIC) * mp.cos(mpf("0.9")), mpf(0), number(ELLIPTIC) * mp.sin(mpf("0.9"))]
    return r, [number(CIRCULAR if case in ("impulse", "thrust") else ELLIPTIC), mpf(0), mpf(0)]


def integrate(case, order, digits, carried):
    """States at TIMES, and the number of steps."""
    mp.dps = carried
    (r, v), t, states, steps = start(case), mpf(0), [], 0
    for stop in sorted({*TIMES, *(BURN if case == "thrust" else ())}):
        while t < stop:
            series = Series(r, v, case, BURN[0] <= t < BURN[1], order)
            h = min(series.longest(digits), stop - t)
            (r, v), t, steps = series.at(h), t + h, steps + 1
        if case == "impulse" and stop == IMPULSE_AT:
            size = mp.sqrt(sum(x * x for x in v))
            v = [x + number("0.02") * x / size for x in v]
        if stop in TIMES:
            states.append((r, v))
    return states, steps


CASES = {
    "impulse": "circular, 0.02 km/s along the velocity at 43200 s",
    "drag": "elliptic, a = -2e-6 exp(-(r - 1664.029)/50) |v| v",
    "uniform": "elliptic, a = (1e-7, 0, 0)",
    "thrust": "circular, 5e-6 along the velocity for 20000 <= t <= 30000",
    "oblate": "v = 1.550663 (cos 0.9, 0, sin 0.9), J2 = 1e-3, R = 1560.8, axis z",
}


def main() -> None:
    """Write the file, or tell what the doubles do."""
    global DOUBLES
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--doubles", action="store_true")
    doubles = words.parse_args().doubles
    found = {}
    for case, title in CASES.items():
        first, n = integrate(case, *RUNS[0])
        DOUBLES = doubles
        second, m = integrate(case, *RUNS[1])
        DOUBLES = False
        apart = [mp.norm([a - b for a, b in zip(x[0], y[0], strict=True)]) for x, y in zip(first, second, strict=True)]
        print(f"{case}: {n} and {m} steps, apart by {', '.join(mp.nstr(d, 2) for d in apart)} km", flush=True)
        if not doubles and max(apart) > mpf(R0) * mpf("1e-20"):
            raise SystemExit("the integrations disagree")
        found[case] = {
            "motion": title,
            "position": [[mp.nstr(x, 25) for x in r] for r, _ in second],
            "velocity": [[mp.nstr(x, 25) for x in v] for _, v in second],
        }
    if not doubles:
        data = {"units": "km, s", "mu": MU, "r0": R0, "times": TIMES, "cases": found}
        Path(__file__).with_name("orbit_cases.json").write_text(json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
