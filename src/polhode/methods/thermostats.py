"""Thermostats: a heat bath of a given temperature beside the kicks and free motions of a splitting.

    "baoab:temperature=300:friction=5:seed=1"        Langevin dynamics, exact free rotations
    "baoab/mr:temperature=1:friction=0.5"            the same with any other free rotation
    "nose_hoover:temperature=300:tau=0.5"            Nose-Hoover chain, deterministic

B is a kick by the loads, A free motion (drift and free rotation), O the bath, which changes momenta only. So the free
rotation is what it was without a bath, and one evaluation of the loads in a step suffices. In every row a step is a
palindrome of these letters; letters that occur twice take half a step each.

Langevin: O is the exact Ornstein-Uhlenbeck process of every component, [leimkuhler2013; davidchack2015, Langevin A]

    p <- c p + sqrt((1 - c^2) m kT) x,     m_k <- c' m_k + sqrt((1 - c'^2) I_k kT) x',     c = exp(-gamma h),

m_k being the angular momentum about the body's principal axis k, x normal numbers by counting (``kernel.random``): key:
the seed; counter: draws so far, body, what moves, component. Backwards in time the bath damps as well, as the process
reversed in time does.

Nose-Hoover: with K = twice the kinetic energy of g degrees of freedom and M links v_j, eta_j of a chain, [martyna1996]

    p' = ... - (v_1/tau) p,     v_1' = (K/(g kT) - 1)/tau - v_1 v_2/tau,     v_2' = (g v_1^2 - 1)/tau - v_2 v_3/tau,
    v_j' = (v_{j-1}^2 - 1)/tau - v_j v_{j+1}/tau,     eta_j' = v_j/tau.

These are the rates times tau of links of masses Q_1 = g kT tau^2 and Q_j = kT tau^2, so that tau may be infinite, which
is no bath. O is split further as in that paper, with Suzuki and Yoshida's weights of order 4; it is time-symmetric.
Where the system keeps its total momentum the bath acts on momenta relative to the centre of mass, 3 N - 3 degrees of
freedom: the total momentum then stays what it is. A Langevin bath changes it; all 3 N have the temperature.

The bath's numbers follow those of the system in the state. The energy of bodies and bath together is kept up to the
error of the splitting, and recorded: of Langevin dynamics, H less the heat taken from the bath [bussi2007]; else

    H + kT (g v_1^2/2 + sum_{j>1} v_j^2/2 + g eta_1 + sum_{j>1} eta_j).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from math import exp, expm1, inf, sqrt
from typing import Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.flows.kick import impulse
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, helper
from polhode.kernel.random import WORD, normal_pair
from polhode.methods.free_flows import free_flow
from polhode.methods.record import Bath, CompiledMethod, Method, Option, Promises, number_option
from polhode.methods.splitting import BATH, FREE, KICK, LAST_KICK, WIDTH, compose_step, splitting, stages, uniform

ONE_NODE = (0.5, 1.0, 0.5, 1.0)
"""The two rules for kicks that follow the stages in a table (see ``flows.kick``), both of one node."""
AFTER = len(ONE_NODE)
"""The bath's own numbers follow the stages and these."""

# ------------------------------------------------------------------ Langevin
KT, FRICTION, FRICTION_ROTATION, KEY = 0, 1, 2, 3
"""In the table: temperature as an energy, rates of friction, the seed's two words."""
DRAWS, HEAT = 0, 1
"""In the state: random draws so far, energy given to the bath."""


def ornstein_uhlenbeck(h, p):
    """The Ornstein-Uhlenbeck process of all momenta for a time h."""
    T, S = WIDTH * p.int_coefficients[0] + AFTER, L.BODY * p.N + p.S
    kT, low, high = p.coefficients[T + KT], int(p.coefficients[T + KEY]), int(p.coefficients[T + KEY + 1])
    draw = int(p.y[S + DRAWS])
    rate, rate_rotation = p.coefficients[T + FRICTION] * abs(h), p.coefficients[T + FRICTION_ROTATION] * abs(h)
    left, left_rotation = exp(-rate), exp(-rate_rotation)
    noise, noise_rotation = sqrt(-expm1(-2.0 * rate) * kT), sqrt(-expm1(-2.0 * rate_rotation) * kT)
    heat = 0.0
    for k in range(p.B):
        i, kind = int(p.blocks[2 * k]), int(p.blocks[2 * k + 1])
        c, s = (left_rotation, noise_rotation) if kind == L.ROTATION else (left, noise)
        x, y = normal_pair(draw & WORD, draw >> 32, i, 2 * kind, low, high)
        z, _ = normal_pair(draw & WORD, draw >> 32, i, 2 * kind + 1, low, high)
        at, b = L.BODY * i + (L.ANGULAR if kind == L.ROTATION else L.MOMENTUM), L.CONSTANTS * i
        for n in range(3):
            heavy = p.bodies[b + (L.INERTIA + n if kind == L.ROTATION else L.MASS)]
            light = p.bodies[b + (L.INVERSE_INERTIA + n if kind == L.ROTATION else L.INVERSE_MASS)]
            if light > 0.0:
                old = p.y[at + n]
                new = c * old + s * sqrt(heavy) * (x, y, z)[n]
                p.y[at + n] = new
                heat += 0.5 * light * (old - new) * (old + new)
    p.y[S + DRAWS] += 1.0
    p.y[S + HEAT] += heat
    return L.OK


def langevin_bath(settled: Mapping[str, str]) -> Bath:
    """Numbers of a Langevin bath."""
    seed = int(settled["seed"])
    gamma = float(settled["friction"] or 0)
    turning = float(settled["friction_rotation"] or gamma)

    def coefficients(boltzmann: float, translation: int, rotation: int, free: bool) -> Any:
        return np.array([float(settled["temperature"]) * boltzmann, gamma, turning, seed & WORD, seed >> 32])

    return Bath(np.zeros(2), coefficients, lambda numbers, coefficients: numbers[:, HEAT])


# ------------------------------------------------------------------ Nose-Hoover
RATE, RELATIVE, CHAINS, LINKS, FREEDOMS = 1, 2, 3, 4, 5
"""In the table, after KT: 1/tau, whether the bath sees momenta relative to the centre of mass only, numbers of chains
and of their links, the degrees of freedom of each. In the state: of each chain all v, then all eta."""
THIRD = 2.0 ** (1.0 / 3.0)
WEIGHTS = (1.0 / (2.0 - THIRD), -THIRD / (2.0 - THIRD), 1.0 / (2.0 - THIRD))
"""Of order 4 [yoshida1990]."""


@helper
def push_link(j, d, g, ratio, at, links, f, p):
    """Link j of a chain for a time d: damped by the next one for d/2, pushed, damped; ``ratio`` is K/(g kT)."""
    damping = exp(-0.5 * d * f * p.y[at + j + 1]) if j + 1 < links else 1.0
    before = 0.0 if j == 0 else p.y[at + j - 1]
    gain = ratio if j == 0 else (g if j == 1 else 1.0) * before * before
    p.y[at + j] = (p.y[at + j] * damping + d * f * (gain - 1.0)) * damping


@helper
def chain_factor(K, g, h, at, T, p):
    """Advance the chain at ``y[at:]`` by h; returns by what it multiplies the momenta, of which K is of g degrees."""
    f, links = p.coefficients[T + RATE], int(p.coefficients[T + LINKS])
    factor = 1.0
    if g == 0.0:
        return factor
    ratio = K / (g * p.coefficients[T + KT])
    for weight in WEIGHTS:
        d = weight * h
        for n in range(links):
            push_link(links - 1 - n, 0.5 * d, g, ratio, at, links, f, p)
        scale = exp(-d * f * p.y[at])
        factor *= scale
        ratio *= scale * scale
        for j in range(links):
            p.y[at + links + j] += d * f * p.y[at + j]
        for j in range(links):
            push_link(j, 0.5 * d, g, ratio, at, links, f, p)
    return factor


def nose_hoover_chains(h, p):
    """The chains and what they do to all momenta for a time h."""
    T, S = WIDTH * p.int_coefficients[0] + AFTER, L.BODY * p.N + p.S
    moving = turning = mass = px = py = pz = 0.0
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        b = L.CONSTANTS * i
        if kind == L.ROTATION:
            for n in range(3):
                m = p.y[L.BODY * i + L.ANGULAR + n]
                turning += p.bodies[b + L.INVERSE_INERTIA + n] * m * m
        else:
            P = get3(p.y, L.BODY * i + L.MOMENTUM)
            moving += p.bodies[b + L.INVERSE_MASS] * (P[0] * P[0] + P[1] * P[1] + P[2] * P[2])
            mass += p.bodies[b + L.MASS]
            px, py, pz = px + P[0], py + P[1], pz + P[2]
    vx = vy = vz = 0.0
    if p.coefficients[T + RELATIVE] != 0.0:
        vx, vy, vz = px / mass, py / mass, pz / mass
        moving -= (px * px + py * py + pz * pz) / mass
    if p.coefficients[T + CHAINS] == 1.0:
        slower = slowed = chain_factor(moving + turning, p.coefficients[T + FREEDOMS], h, S, T, p)
    else:
        at = S + 2 * int(p.coefficients[T + LINKS])
        slower = chain_factor(moving, p.coefficients[T + FREEDOMS], h, S, T, p)
        slowed = chain_factor(turning, p.coefficients[T + FREEDOMS + 1], h, at, T, p)
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        if kind == L.ROTATION:
            m = get3(p.y, L.BODY * i + L.ANGULAR)
            put3(p.y, L.BODY * i + L.ANGULAR, (slowed * m[0], slowed * m[1], slowed * m[2]))
        else:
            P = get3(p.y, L.BODY * i + L.MOMENTUM)
            rest = (1.0 - slower) * p.bodies[L.CONSTANTS * i + L.MASS]
            put3(
                p.y,
                L.BODY * i + L.MOMENTUM,
                (slower * P[0] + rest * vx, slower * P[1] + rest * vy, slower * P[2] + rest * vz),
            )
    return L.OK


def nose_hoover_bath(settled: Mapping[str, str]) -> Bath:
    """Numbers of one or two Nose-Hoover chains."""
    links = int(settled["chain"])
    chains = 2 if settled["baths"] == "separate" else 1

    def coefficients(boltzmann: float, translation: int, rotation: int, free: bool) -> Any:
        moving = translation - 3 if free else translation
        freedoms = [moving, rotation] if chains == 2 else [moving + rotation]
        kT = float(settled["temperature"]) * boltzmann
        return np.array([kT, 1.0 / float(settled["tau"]), float(free), chains, links, *freedoms])

    def energy(numbers: Any, coefficients: Any) -> Any:
        total = np.zeros(len(numbers))
        for n in range(chains):
            v, eta = (numbers[:, (2 * n + j) * links : (2 * n + j + 1) * links] for j in range(2))
            weight = np.ones(links)
            weight[0] = coefficients[FREEDOMS + n]
            total += coefficients[KT] * (0.5 * v**2 + eta) @ weight
        return total

    return Bath(np.zeros(2 * links * chains), coefficients, energy, keeps=("total_momentum",))


# ------------------------------------------------------------------ the rows
def numbers_of(letters: str) -> tuple[Any, Any]:
    """Table and layout of the stages named by letters, as ``splitting.stages`` reads them."""
    rows, kinds, time_fraction = [], [], 0.0
    for k, letter in enumerate(letters):
        fraction = 1.0 / letters.count(letter)
        last = letter == "B" and "A" not in letters[k:]
        kinds.append({"A": FREE, "B": LAST_KICK if last else KICK, "O": BATH}[letter])
        time_fraction += fraction if letter == "A" else 0.0
        rows.append((fraction, 0.0, time_fraction - 1.0 if last else time_fraction))
    return np.array([*np.ravel(rows), *ONE_NODE]), np.array([len(letters), 0, 0, 1, *kinds], dtype=np.int64)


@cache
def step_of(rotate_free: Any, bath: Any) -> Any:
    """The step with a free rotation and a bath bound in."""
    return bind(compose_step, run_stages=helper(bind(stages, free=rotate_free, move=uniform, push=impulse, bathe=bath)))


LANGEVIN = {
    "temperature": number_option("as an energy: times Boltzmann's constant of the system", trial="1"),
    "friction": number_option("rate at which momenta are damped, 1/time; 0: no bath", trial="0"),
    "friction_rotation": number_option("the same of angular momenta, unless it is the same"),
    "seed": number_option("of the random numbers", default="0", whole=True, most=2**64 - 1, told=True),
}
NOSE_HOOVER = {
    "temperature": number_option("as an energy: times Boltzmann's constant of the system", trial="1", positive=True),
    "tau": number_option("relaxation time of the chain; inf: no bath", trial="inf", positive=True, most=inf),
    "chain": number_option("its number of links", default="3", whole=True, positive=True, most=20),
    "baths": Option("joint", ("joint", "separate").__contains__, lambda: ("joint", "separate"),
                    "one chain for all that moves, or one for translation and one for rotation"),
}  # fmt: skip

_Kind = tuple[str, str, str, Any, Callable[[Mapping[str, str]], Bath], Mapping[str, Option], Callable[..., bool]]


def _no_friction(friction: str = "", friction_rotation: str = "", **_: str) -> bool:
    return friction == "0" and friction_rotation in ("", "0")


_LANGEVIN = (ornstein_uhlenbeck, langevin_bath, LANGEVIN, _no_friction)

KINDS: dict[str, _Kind] = {
    "baoab": ("BAOAB", "Langevin dynamics, bath between two halves of the free motion", "leimkuhler2013", *_LANGEVIN),
    "aboba": ("ABOBA", "Langevin dynamics, bath between two halves of the kick", "leimkuhler2013", *_LANGEVIN),
    "obabo": ("OBABO", "Langevin dynamics, half of the bath at each end", "bussi2007", *_LANGEVIN),
    "nose_hoover": ("OBABO", "Nose-Hoover chains, half of them at each end", "martyna1996",
                    nose_hoover_chains, nose_hoover_bath, NOSE_HOOVER, lambda tau="", **_: tau == "inf"),
}  # fmt: skip
"""Letters of a step, what it is, whom to cite, the bath's map, its numbers, its options, and when it is none."""


def thermostat(name: str, flow: str = "exact") -> Method:
    """The row of a thermostat with a free rotation.

    Raises
    ------
    InvalidInput
        Unknown free rotation; motion about a centre, which these do not follow.
    """
    letters, title, cite, bathe, bath, own, is_none = KINDS[name]
    if flow.partition("+")[0] == "kepler":
        raise InvalidInput(
            f"method '{name}/{flow}' would follow the motion about a centre, which heat baths do not; write {name!r}, "
            f"or name a free rotation after the slash, such as '{name}/mr'"
        )
    turning = free_flow(flow)
    coefficients, int_coefficients = numbers_of(letters)
    longest = 1.0 / letters.count("A")
    plain = splitting("v2_dkd" if letters.replace("O", "")[0] == "A" else "v2", turning)
    largest = turning.largest

    def prepare(**options: str) -> CompiledMethod:
        its = {key: options[key] for key in turning.options}
        return CompiledMethod(
            step_of(turning.build(**its), bathe), lambda bodies, blocks: 3 * L.LOAD * bodies, coefficients,
            int_coefficients,
            largest=None if largest is None else lambda m, j: largest(m, j, **its) / longest, refuses=turning.refuses,
            auxiliary_work=2, bath=bath(options),
        )  # fmt: skip

    def promised(**options: str) -> Promises:
        without = replace(plain.promises(), generalised=())
        if is_none(**options):
            return without
        return Promises(
            order=2, at_least=without.at_least, evaluations=without.evaluations, thermal=True,
            axis_order_dependent=without.axis_order_dependent or "seed" in own,
        )  # fmt: skip

    described = title if flow == "exact" else f"{title}; {turning.description}"
    label = name if flow == "exact" else f"{name}/{turning.name}"
    return Method(
        label, "thermostats", described, cite, prepare, promised, {**own, **turning.options},
        range=turning.range / longest, with_flow=lambda other: thermostat(name, other),
    )  # fmt: skip


ROWS = tuple(thermostat(name) for name in KINDS)
"""Every thermostat with the exact free rotation."""
