"""Orbits: about an oblate body, with drag, Sun and Moon, with zonal harmonics from a potential; the outer planets."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import heyoka as hk
import numpy as np

import polhode as ph
from peer_cases.runs import CHOSEN, Problem
from polhode.runs.initial_state import start_state
from polhode.systems import System

DAY = 86400.0
FEW = (1e-5, 1e-9, 1e-15)
"""Tolerances on which variants are tried of equations that take long to compile."""
FAR = tuple(10.0**-k for k in range(3, 15))
SERIES = ("taylor8", "taylor10", "taylor12", "taylor14", "taylor16", "taylor20", *CHOSEN)
POINTS = ("rkn6_14a", "rkn6_7", "rkn8_17", "p8", "sp10", "s6_10", "kl8", "mkrk:cv8", "mkrk:gauss12", "mkrk:dp8 (rtol)")
ABOUT = (
    "rkn4_6b/kepler", "rkn6_14a/kepler", "s6_10/kepler", "rkn8_17/kepler", "aba8_6_4/kepler", "aba10_6_4/kepler",
    "p8/kepler", "rkn4_6b/kepler:corrected", "rkn6_14a/kepler:corrected", "s6_10/kepler:corrected",
)  # fmt: skip


def position(y):
    """What is compared."""
    return {"position": y[:3]}


def made(title: str, days: float, system: System, initial: dict[str, Any], forms: dict[str, Any], methods: Any,
         **options: Any) -> Problem:  # fmt: skip
    """A problem of one point; ``form(number, r, v) -> acceleration``."""
    start = [float(x) for x in (*initial["position"], *initial["velocity"])]

    def equations(form):
        def built(number):
            r, v = hk.make_vars("x", "y", "z"), hk.make_vars("u", "v", "w")
            pairs = list(zip(r, v, strict=True)) + list(zip(v, form(number, r, v), strict=True))
            return pairs, [number(x) for x in start]

        return built

    return Problem(
        title, DAY * days, system, start_state(system, **initial), initial,
        {name: equations(form) for name, form in forms.items()}, position, lambda s, form: position(s), methods, FAR,
        **options,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ an oblate body
MU, R0, SPEED, J2, RADIUS = 3200.9998, 1664.029, 1.550663, 1e-3, 1560.8


def by_powers(number, r, mu, k):
    """Gravity with J2; k = 1.5 J2 R^2: with powers of r . r."""
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    b = -mu * square ** number(-1.5)
    f, z = k / square, 5.0 * (r[2] * r[2]) / square
    return [b * (1.0 + f * (1.0 - z)) * r[0], b * (1.0 + f * (1.0 - z)) * r[1], b * (1.0 + f * (3.0 - z)) * r[2]]


def by_roots(number, r, mu, k):
    """The same with one square root, and its reciprocal."""
    inverse = 1.0 / hk.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    square = inverse * inverse
    b = -mu * (inverse * square)
    f, z = k * square, 5.0 * (r[2] * r[2]) * square
    across = b * (1.0 + f * (1.0 - z))
    return [across * r[0], across * r[1], b * (1.0 + f * (3.0 - z)) * r[2]]


OBLATE = {"powers": by_powers, "roots": by_roots}


def oblate(days: int) -> Problem:
    """Carson's elliptic orbit, tilted, about a body with J2."""
    initial = {"position": (0.0, R0, 0.0), "velocity": (SPEED * cos(0.9), 0.0, SPEED * sin(0.9))}

    def form(write):
        def acceleration(number, r, v):
            k = number(1.5) * number(J2) * number(RADIUS) * number(RADIUS)
            return write(number, r, number(MU), k)

        return acceleration

    return made(
        f"J2, e = 1/4, {days} day{'s' * (days > 1)}", days,
        ph.orbit(MU, forces=[ph.forces.zonal(J2=J2, radius=RADIUS)]), initial,
        {name: form(write) for name, write in OBLATE.items()}, (*POINTS, *ABOUT, *SERIES), most=4,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ near the Earth
EARTH, EARTH_RADIUS, EARTH_J2, TURN = 398600.4415, 6378.1363, 1.0826e-3, 7.292e-5
MOON = (4902.8, {"radius": 384400.0, "period": 27.32 * DAY, "phase": 0.7, "normal": (0.0, -0.4, 0.9)})
SUN = (1.32712440018e11, {"radius": 1.496e8, "period": 365.25 * DAY, "phase": 2.1, "normal": (0.0, -0.398, 0.917)})
KD, AIR, SCALE = 5e-10, 6778.0, 60.0


def perturbed() -> Problem:
    """A low orbit with J2, drag in an atmosphere that turns, Sun and Moon on circles."""
    others = [ph.forces.third_body(mu, circle=circle) for mu, circle in (MOON, SUN)]
    system = ph.orbit(EARTH, forces=[
        ph.forces.zonal(J2=EARTH_J2, radius=EARTH_RADIUS),
        ph.forces.drag(kd=KD, radius=AIR, scale=SCALE, rotation=TURN),
        *others,
    ], work=False)  # fmt: skip  # heyoka integrates no works
    speed = np.sqrt(EARTH / 6978.0 * 1.02 / 0.98)
    initial = {"position": (6978.0 * 0.98, 0.0, 0.0), "velocity": (0.0, speed * cos(1.1), speed * sin(1.1))}

    def pull(number, other, r, direct):
        mu, (_, rate, phase, *axes) = (
            number(float(other.load.parameters["mu"])),
            map(number, other.load.parameters["path"]),
        )
        angle = rate * hk.time + phase
        c, s = hk.cos(angle), hk.sin(angle)
        at = [c * axes[i] + s * axes[3 + i] for i in range(3)]
        d = [at[i] - r[i] for i in range(3)]
        near = mu * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) ** number(-1.5)
        square = axes[0] * axes[0] + axes[1] * axes[1] + axes[2] * axes[2]
        if direct:
            far = mu * square ** number(-1.5)
            return [near * d[i] - far * at[i] for i in range(3)]
        q = sum(r[i] * (r[i] - 2.0 * at[i]) for i in range(3)) / square
        f = q * (3.0 + q * (3.0 + q)) / (1.0 + (1.0 + q) ** number(1.5))
        return [-near * (r[i] + f * at[i]) for i in range(3)]

    def form(write, direct):
        def acceleration(number, r, v):
            k = number(1.5) * number(EARTH_J2) * number(EARTH_RADIUS) * number(EARTH_RADIUS)
            a = write(number, r, number(EARTH), k)
            for other in others:
                a = [x + y for x, y in zip(a, pull(number, other, r, direct), strict=True)]
            u = (v[0] + number(TURN) * r[1], v[1] - number(TURN) * r[0], v[2])
            size = hk.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
            thick = number(KD) * hk.exp((number(AIR) - size) / number(SCALE))
            push = -thick * hk.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
            return [x + push * y for x, y in zip(a, u, strict=True)]

        return acceleration

    forms = {"powers, direct": form(by_powers, True), "roots, direct": form(by_roots, True),
             "powers, Battin": form(by_powers, False)}  # fmt: skip
    methods = (*POINTS, *ABOUT[:7], "wisdom7/kepler", "saba4/kepler", "pmlf6/kepler", *SERIES)
    return made("J2, drag, Sun and Moon, 1 day", 1.0, system, initial, forms, methods, coarse=FEW)


# ------------------------------------------------------------------------------------------------ zonal harmonics
J = (1.0826e-3, -2.53e-6, -1.62e-6, -2.27e-7, 5.4e-7)


def harmonics(t, position, parameters):
    """J2 to J6 by the recursion of Legendre's polynomials: as a user writes it."""
    mu, radius = parameters[0], parameters[1]
    size = np.sqrt(position[0] ** 2 + position[1] ** 2 + position[2] ** 2)
    s, ratio = position[2] / size, radius / size
    before, now, power, total = s, 1.5 * s * s - 0.5, ratio * ratio, 0.0
    for n in range(2, 7):
        total = total + parameters[n] * power * now
        before, now = now, ((2 * n + 1) * s * now - n * before) / (n + 1)
        power = power * ratio
    return mu / size * total


def zonal() -> Problem:
    """A day with J2 to J6, of which both sides are given the potential."""
    system = ph.orbit(EARTH, potential=harmonics, parameters=(EARTH, EARTH_RADIUS, *J))
    speed = np.sqrt(EARTH / 8500.0 * 1.2 / 0.8)
    initial = {"position": (8500.0 * 0.8, 0.0, 0.0), "velocity": (0.0, speed * cos(1.1), speed * sin(1.1))}

    def potential(number, r):
        mu, radius = number(EARTH), number(EARTH_RADIUS)
        size = hk.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
        s, ratio = r[2] / size, radius / size
        before, now, power, total = s, 1.5 * s * s - 0.5, ratio * ratio, number(0.0)
        for n in range(2, 7):
            total = total + number(J[n - 2]) * power * now
            before, now = now, ((2.0 * n + 1.0) * s * now - float(n) * before) / (n + 1.0)
            power = power * ratio
        return -mu / size * (1.0 - total)

    def by_diff(number, r, v):
        V = potential(number, r)
        return [-hk.diff(V, x) for x in r]

    def by_tensors(number, r, v):
        tensors = hk.diff_tensors([potential(number, r)], diff_args=list(r), diff_order=1)
        return [-x for x in tensors.gradient]

    return made(
        "J2 to J6 from a potential, 1 day", 1.0, system, initial, {"diff": by_diff, "tensors": by_tensors},
        (*POINTS, *ABOUT[:7], *SERIES), apart=True, coarse=FEW, most=1,
    )  # fmt: skip


def field() -> Problem:
    """Six hours in EGM2008 to degree and order 10, at rest; heyoka's states in units of radius and mu."""
    made_of = ph.surroundings.gravity_field("egm2008")
    mu, radius = float(made_of.mu), float(made_of.radius)
    system = ph.orbit(mu, forces=[ph.forces.gravity_field("egm2008", degree=10, rotation=0.0)])
    initial = {"position": (7e6, 0.0, 1e5), "velocity": (0.0, 5400.0, 5400.0)}
    unit = (radius**3 / mu) ** 0.5

    def equations(number):
        r, v = hk.make_vars("x", "y", "z"), hk.make_vars("u", "v", "w")
        pull, slow = hk.model.egm2008_acc(list(r), 10, 10, mu=number(1.0), a=number(1.0)), number(1.0 / unit)
        pairs = list(zip((*r, *v), [slow * x for x in (*v, *pull)], strict=True))
        return pairs, [number(float(x / radius)) for x in initial["position"]] + [
            number(float(x * unit / radius)) for x in initial["velocity"]
        ]

    return Problem(
        "EGM2008 to degree 10, 6 hours", 21600.0, system, start_state(system, **initial), initial,
        {"egm2008": equations}, position,
        lambda s, form: {"position": np.array([x * number_of(radius, s) for x in s[:3]])},
        ("rkn6_14a", "s6_10", "rkn8_17", "rkn6_14a/kepler", "s6_10/kepler", "mkrk:cv8", *SERIES), FAR, coarse=FEW,
        most=1, compact=True,
    )  # fmt: skip


def number_of(value, state):
    """A number as those of a state."""
    return value if isinstance(state[0], float) else type(state[0])(value)


# ------------------------------------------------------------------------------------------------ the outer planets
G = 2.95912208286e-4
"""In astronomical units, solar masses and days, as the masses and starts below [hairer2006, table I.2.2]."""
MASSES = (1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1.0 / 1.3e8)
PLACES = (
    (0.0, 0.0, 0.0), (-3.5023653, -3.8169847, -1.5507963), (9.0755314, -3.0458353, -1.6483708),
    (8.3101420, -16.2901086, -7.2521278), (11.4707666, -25.7294829, -10.8169456),
    (-15.5387357, -25.2225594, -3.1902382),
)  # fmt: skip
SPEEDS = (
    (0.0, 0.0, 0.0), (0.00565429, -0.00412490, -0.00190589), (0.00168318, 0.00483525, 0.00192462),
    (0.00354178, 0.00137102, 0.00055029), (0.00288930, 0.00114527, 0.00039677),
    (0.00276725, -0.00170702, -0.00136504),
)  # fmt: skip


def planets(years: float) -> Problem:
    """Sun, Jupiter to Neptune, and Pluto."""
    mu = [G * m for m in MASSES]
    system = ph.gravitating_bodies(mu=mu)
    initial = {"position": PLACES, "velocity": SPEEDS}
    start = [x for r, v in zip(PLACES, SPEEDS, strict=True) for x in (*r, *v)]

    def equations(number):
        return hk.model.nbody(6, masses=[number(m) for m in mu], Gconst=number(1.0)), [number(x) for x in start]

    def places(rows):
        return {"position": np.array([[rows[i][k] - rows[0][k] for k in range(3)] for i in range(1, 6)])}

    return Problem(
        f"outer planets, {years:g} years", years * 365.25, system, start_state(system, **initial), initial,
        {"nbody": equations}, lambda y: places(y[: 13 * 6].reshape(6, 13)),
        lambda s, form: places(s.reshape(6, 6)),
        ("rkn6_14a", "rkn6_7", "rkn8_17", "p8", "sp10", "s6_10", "kl8", "pmlf6", "fg6_5", "mkrk:cv8", "mkrk:gauss12",
         "mkrk:dp8 (rtol)", "v2/kepler", "v2/kepler:corrected", "aba8_6_4/kepler", "aba10_6_4/kepler", *SERIES),
        tuple(10.0**-k for k in range(3, 14)), coarse=FEW,
    )  # fmt: skip
