"""Thermostats: splittings with a heat bath of given temperature, Langevin or Nose-Hoover.

    "baoab:temperature=300:friction=5:seed=1"        Langevin dynamics, exact free rotations
    "baoab/mr:temperature=1:friction=0.5"            the same with any other free rotation
    "nose_hoover:temperature=300:tau=0.5"            Nose-Hoover chain, deterministic

B is a kick by the loads, A free motion (drift and free rotation), O the bath, which changes momenta only, so the free
rotation is the same as without a bath. A step evaluates the loads once. It is a palindrome of these letters; those that
occur twice take half a step each.

Langevin: O is the exact Ornstein-Uhlenbeck process of every component, [leimkuhler2013; davidchack2015, Langevin A]

    p <- c p + sqrt((1 - c^2) m kT) x,     m_k <- c' m_k + sqrt((1 - c'^2) I_k kT) x',     c = exp(-gamma h),

m_k being the angular momentum about the body's principal axis k, x standard normal numbers of a counter-based
generator (``kernel.sampling``): the key is the seed, the counter draws so far, the body, translation or rotation, and
the component. Member k of an ensemble begins with draw k 2^30, so that each has noise of its own by its number alone.
With h < 0 the bath damps too (c uses |h|), as in the time-reversed process.

Nose-Hoover: with K = twice the kinetic energy of g degrees of freedom and M links v_j, eta_j of a chain, [martyna1996]

    p' = ... - (v_1/tau) p,     v_1' = (K/(g kT) - 1)/tau - v_1 v_2/tau,     v_2' = (g v_1^2 - 1)/tau - v_2 v_3/tau,
    v_j' = (v_{j-1}^2 - 1)/tau - v_j v_{j+1}/tau,     eta_j' = v_j/tau.

v_j is tau times the rate of a link of mass Q_1 = g kT tau^2 or Q_j = kT tau^2; tau may be infinite, which means no
bath. O is split further as in that paper, with Suzuki and Yoshida's weights of order 4; it is time-symmetric. Where the
system conserves its total momentum, this bath acts on momenta relative to the centre of mass, 3 N - 3 degrees of
freedom, and leaves the total momentum unchanged. A Langevin bath changes it and thermalises all 3 N.

The bath's variables follow those of the system in the state. The total energy of bodies and bath is kept up to the
error of the splitting, and recorded: for Langevin dynamics H minus the heat taken from the bath [bussi2007], else

    H + kT (g v_1^2/2 + sum_{j>1} v_j^2/2 + g eta_1 + sum_{j>1} eta_j).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from math import exp, expm1, inf, sqrt, tanh
from typing import Any

import numpy as np

from polhode.errors import InvalidInput
from polhode.flows.kick import impulse
from polhode.kernel import layout as L
from polhode.kernel.access import get3, put3
from polhode.kernel.jit import bind, helper
from polhode.kernel.sampling import WORD, normal_pair
from polhode.methods.free_flows import free_flow
from polhode.methods.record import Bath, CompiledMethod, Method, Option, Promises, number_option, word_option
from polhode.methods.splitting import (
    BATH,
    FREE,
    KICK,
    LAST_KICK,
    WIDTH,
    compose_step,
    free_motion_of,
    splitting,
    stages,
    uniform,
)

ONE_NODE = (0.5, 1.0, 0.5, 1.0)
"""The two Gauss rules for kicks that follow the stages in the coefficients (see ``flows.kick``), with one node each."""
AFTER = len(ONE_NODE)
"""Their length; the bath's coefficients follow."""

# ------------------------------------------------------------------ Langevin
KT, FRICTION, FRICTION_ROTATION, KEY = 0, 1, 2, 3
"""Slots of the bath's coefficients: k T (energy), friction of translation and of rotation (1/time), the seed's two
words."""
DRAWS, HEAT = 0, 1
"""Slots of the bath's variables in the state: number of the next random draw, energy given to the bath."""
APART = 2.0**30
"""Draws of each member of an ensemble: member k begins with number k times this."""


DAMPED = 0.5
"""Most friction times step at which transport is right to 2 percent."""


def ornstein_uhlenbeck(h, p):
    """Advance all momenta by the Ornstein-Uhlenbeck process for a time |h|; returns a status."""
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
    """The Langevin bath with the resolved options."""
    seed = int(settled["seed"])
    gamma = float(settled["friction"] or 0)
    gamma_rotation = float(settled["friction_rotation"] or gamma)

    def coefficients(boltzmann: float, translation: int, rotation: int, free: bool) -> np.ndarray:
        return np.array([float(settled["temperature"]) * boltzmann, gamma, gamma_rotation, seed & WORD, seed >> 32])

    apart = APART if settled["noise"] == "own" else 0.0
    return Bath(
        np.zeros(2), coefficients, lambda numbers, coefficients: numbers[:, HEAT], apart=apart, note=transport_note
    )


def transport_note(coefficients: np.ndarray, h: float) -> str:
    """What is to be said of diffusion where a bath damps much in a step of h: free bodies have that of the equation
    times x/2 coth(x/2), x = friction h, for the sum of momenta that keep exp(-x) of each other."""
    friction = max(float(coefficients[FRICTION]), float(coefficients[FRICTION_ROTATION]))
    x = friction * abs(h)
    if x <= DAMPED:
        return ""
    return (
        f"friction times step is {x:.3g}: bodies diffuse {100 * (0.5 * x / tanh(0.5 * x) - 1):.2g} % too fast, while "
        f"averages are those of the temperature; for transport take a step below {DAMPED / friction:.2g}"
    )


# ------------------------------------------------------------------ Nose-Hoover
RATE, RELATIVE, CHAINS, LINKS, FREEDOMS = 1, 2, 3, 4, 5
"""Slots of the bath's coefficients after KT: 1/tau, 1 where the bath acts on momenta relative to the centre of mass,
number of chains, links of each, then degrees of freedom of each. In the state: for each chain all v, then all eta."""
THIRD = 2.0 ** (1.0 / 3.0)
WEIGHTS = (1.0 / (2.0 - THIRD), -THIRD / (2.0 - THIRD), 1.0 / (2.0 - THIRD))
"""Weights of a composition of order 4 [yoshida1990]."""


@helper
def push_link(j, d, g, ratio, at, links, f, p):
    """Advance v_j of a chain by d: damped by link j + 1 for d/2, driven for d, damped for d/2; ``ratio``: K/(g kT)."""
    damping = exp(-0.5 * d * f * p.y[at + j + 1]) if j + 1 < links else 1.0
    before = 0.0 if j == 0 else p.y[at + j - 1]
    gain = ratio if j == 0 else (g if j == 1 else 1.0) * before * before
    p.y[at + j] = (p.y[at + j] * damping + d * f * (gain - 1.0)) * damping


@helper
def chain_factor(K, g, h, at, T, p):
    """Advance the chain at ``y[at:]`` by h; returns the factor for the momenta, whose g degrees of freedom have K."""
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
    """Advance the chains by h and scale all momenta accordingly; returns a status."""
    T, S = WIDTH * p.int_coefficients[0] + AFTER, L.BODY * p.N + p.S
    K_translation = K_rotation = mass = px = py = pz = 0.0
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        b = L.CONSTANTS * i
        if kind == L.ROTATION:
            for n in range(3):
                m = p.y[L.BODY * i + L.ANGULAR + n]
                K_rotation += p.bodies[b + L.INVERSE_INERTIA + n] * m * m
        else:
            P = get3(p.y, L.BODY * i + L.MOMENTUM)
            K_translation += p.bodies[b + L.INVERSE_MASS] * (P[0] * P[0] + P[1] * P[1] + P[2] * P[2])
            mass += p.bodies[b + L.MASS]
            px, py, pz = px + P[0], py + P[1], pz + P[2]
    vx = vy = vz = 0.0
    if p.coefficients[T + RELATIVE] != 0.0:
        vx, vy, vz = px / mass, py / mass, pz / mass
        K_translation -= (px * px + py * py + pz * pz) / mass
    if p.coefficients[T + CHAINS] == 1.0:
        factor = factor_rotation = chain_factor(K_translation + K_rotation, p.coefficients[T + FREEDOMS], h, S, T, p)
    else:
        at = S + 2 * int(p.coefficients[T + LINKS])
        factor = chain_factor(K_translation, p.coefficients[T + FREEDOMS], h, S, T, p)
        factor_rotation = chain_factor(K_rotation, p.coefficients[T + FREEDOMS + 1], h, at, T, p)
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        if kind == L.ROTATION:
            m = get3(p.y, L.BODY * i + L.ANGULAR)
            put3(p.y, L.BODY * i + L.ANGULAR, (factor_rotation * m[0], factor_rotation * m[1], factor_rotation * m[2]))
        else:
            P = get3(p.y, L.BODY * i + L.MOMENTUM)
            rest = (1.0 - factor) * p.bodies[L.CONSTANTS * i + L.MASS]
            put3(
                p.y,
                L.BODY * i + L.MOMENTUM,
                (factor * P[0] + rest * vx, factor * P[1] + rest * vy, factor * P[2] + rest * vz),
            )
    return L.OK


def nose_hoover_bath(settled: Mapping[str, str]) -> Bath:
    """The bath of one or two Nose-Hoover chains with the resolved options."""
    links = int(settled["chain"])
    chains = 2 if settled["baths"] == "separate" else 1

    def coefficients(boltzmann: float, translation: int, rotation: int, free: bool) -> np.ndarray:
        relative = translation - 3 if free else translation
        freedoms = [relative, rotation] if chains == 2 else [relative + rotation]
        kT = float(settled["temperature"]) * boltzmann
        return np.array([kT, 1.0 / float(settled["tau"]), float(free), chains, links, *freedoms])

    def energy(numbers: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
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
    """Float and integer coefficients of the stages named by letters, as ``splitting.stages`` reads them."""
    rows, kinds, time_fraction = [], [], 0.0
    for k, letter in enumerate(letters):
        fraction = 1.0 / letters.count(letter)
        last = letter == "B" and "A" not in letters[k:]
        kinds.append({"A": FREE, "B": LAST_KICK if last else KICK, "O": BATH}[letter])
        time_fraction += fraction if letter == "A" else 0.0
        rows.append((fraction, 0.0, time_fraction - 1.0 if last else time_fraction))
    return np.array([*np.ravel(rows), *ONE_NODE]), np.array([len(letters), 0, 0, 1, *kinds], dtype=np.int64)


@cache
def step_of(rotate_free: Callable[..., Any], bath: Callable[..., Any], many: bool = False) -> Callable[..., Any]:
    """The step with a free rotation and a bath bound in; for ``many`` rigid bodies."""
    together = free_motion_of(rotate_free, uniform, many)
    return bind(compose_step, run_stages=helper(bind(stages, free_motion=together, push=impulse, bathe=bath)))


TEMPERATURE = "of a heat bath, as an energy: times Boltzmann's constant of the system"
LANGEVIN = {
    "temperature": number_option(TEMPERATURE, trial="1"),
    "friction": number_option("rate at which a Langevin bath damps momenta, 1/time; 0: no bath", trial="0"),
    "friction_rotation": number_option("the same of angular momenta; default: the same rate"),
    "seed": number_option(
        "of the random numbers of a Langevin bath", default="0", whole=True, most=2**64 - 1, recorded=True
    ),
}
NOISE = {
    "noise": word_option("of members of an ensemble: each its own, by its number, or all the same", "own", "common")
}
"""Of Langevin baths, behind the options of the free rotation."""
NOSE_HOOVER = {
    "temperature": number_option(TEMPERATURE, trial="1", positive=True),
    "tau": number_option("relaxation time of Nose-Hoover chains; inf: no bath", trial="inf", positive=True, most=inf),
    "chain": number_option("links of a Nose-Hoover chain", default="3", whole=True, positive=True, most=20),
    "baths": word_option(
        "one chain for all that moves, or one for translation and one for rotation", "joint", "separate"
    ),
}

_Kind = tuple[str, str, str, Any, Callable[[Mapping[str, str]], Bath], Mapping[str, Option], Callable[..., bool]]
_LANGEVIN = (
    ornstein_uhlenbeck, langevin_bath, LANGEVIN,
    lambda friction="", friction_rotation="", **_: friction == "0" and friction_rotation in ("", "0"),
)  # fmt: skip

KINDS: dict[str, _Kind] = {
    "baoab": ("BAOAB", "Langevin dynamics, bath between two halves of the free motion", "leimkuhler2013", *_LANGEVIN),
    "aboba": ("ABOBA", "Langevin dynamics, bath between two halves of the kick", "leimkuhler2013", *_LANGEVIN),
    "obabo": ("OBABO", "Langevin dynamics, half of the bath at each end", "bussi2007", *_LANGEVIN),
    "nose_hoover": ("OBABO", "Nose-Hoover chains, half of them at each end", "martyna1996",
                    nose_hoover_chains, nose_hoover_bath, NOSE_HOOVER, lambda tau="", **_: tau == "inf"),
}  # fmt: skip
"""By name: letters of a step, description, citation, map of the bath, function that makes its ``Bath``, options, and
the test for options that switch the bath off."""


def thermostat(name: str, flow: str = "exact") -> Method:
    """The row of a thermostat with a free rotation."""
    letters, title, cite, bathe, bath, own, is_none = KINDS[name]
    if flow.partition("+")[0] == "kepler":
        raise InvalidInput(
            f"method '{name}/{flow}' would follow the motion about a centre, which heat baths do not; write {name!r}, "
            f"or name a free rotation after the slash, such as '{name}/mr'"
        )
    rotation = free_flow(flow)
    coefficients, int_coefficients = numbers_of(letters)
    longest = 1.0 / letters.count("A")
    plain = splitting("v2_dkd" if letters.replace("O", "")[0] == "A" else "v2", rotation)
    largest = rotation.largest

    def prepare(**options: str) -> CompiledMethod:
        of_flow = {key: options[key] for key in rotation.options}
        rotating = rotation.build(**of_flow)
        made = CompiledMethod(
            step_of(rotating, bathe), lambda bodies, blocks: 3 * L.LOAD * bodies, coefficients,
            int_coefficients,
            largest=None if largest is None else lambda m, j: largest(m, j, **of_flow) / longest,
            refuses=rotation.refuses,
            auxiliary_work=3, bath=bath(options),
        )  # fmt: skip
        if flow != "exact":
            return made
        return replace(made, of_many=lambda: replace(made, step=step_of(rotating, bathe, True)))

    def promised(**options: str) -> Promises:
        without = replace(plain.promises(), generalised=())
        if is_none(**options):
            return without
        return Promises(
            order=2, at_least=without.at_least, evaluations=without.evaluations, thermal=True,
            axis_order_dependent=without.axis_order_dependent or "seed" in own,
        )  # fmt: skip

    description = title if flow == "exact" else f"{title}; {rotation.description}"
    label = name if flow == "exact" else f"{name}/{rotation.name}"
    return Method(
        label, "thermostats", description, cite, prepare, promised,
        {**own, **rotation.options, **(NOISE if "seed" in own else {})},
        range=rotation.range / longest, with_flow=lambda other: thermostat(name, other),
    )  # fmt: skip


ROWS = tuple(thermostat(name) for name in KINDS)
"""Every thermostat with the exact free rotation."""
