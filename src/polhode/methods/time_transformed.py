"""Time transformations: methods whose step size follows the motion without losing the structure that equal steps keep.

    "reversible:s6_10"            any time-symmetric method; its steps follow the loads and the speeds
    "reversible:distance:v2"      steps proportional to the distance from the origin to the power 3/2, as fall times are
    "logarithmic:kl8"             a splitting of the logarithmic Hamiltonian, for orbits of any eccentricity

The step that a user gives is nominal: the size s of the first one. The step density z is nominal step over step; it is
part of the state, like the time, and both are advanced by maps that a step of opposite sign undoes.

**Reversible.** With R(y) the desired density and G = d/dt log R along the motion [hairer2005],

    z' = z + (s/2) G(y),     step of size h = s/z',     z = z' + (s/2) G(y)

Densities (sums over bodies implied; J inertia, T torque, w angular velocity, a acceleration, r position, v velocity):

    loads       R^4 = |J^-1 T|^2 + |w|^4 + |a|^2 / r^2 + |v|^4 / r^4          2 more evaluations of the loads in a step
    distance    R^2 = r^-3

**Logarithmic.** Time-transformed leapfrog: between kicks all bodies move freely for the time s/W; a kick acts for the
time s/Omega(r), Omega = 1/|r|, and changes W, which approximates Omega, by dOmega/dt at the mean velocity
[mikkola2002, sec. 2]. Both are exact flows, so every splitting for two arbitrary parts keeps its order. In a Kepler
field W is the kinetic energy up to a constant, and the method is that of the logarithmic Hamiltonian,
log(T - E) - log(-U): its points lie on the exact conic, and the only error is in time [mikkola1999; preto1999]. Other
loads, of any kind, are part of the kicks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from polhode.algebra.quaternion import multiply
from polhode.algebra.so3 import add, axpy, cross, dot, exp_quaternion, scale, times
from polhode.errors import InvalidInput, unknown_name
from polhode.flows import gyrostat
from polhode.flows.kick import kick_of
from polhode.kernel import layout as L
from polhode.kernel.access import get3, get4, put3, put4
from polhode.kernel.jit import bind, helper, hole, inlined
from polhode.kernel.solve import norm3
from polhode.methods.free_flows import free_flow
from polhode.methods.other_names import as_here
from polhode.methods.record import CompiledMethod, Method, MethodSpec, Promises
from polhode.methods.splitting import COUNTS, FREE, NODES, WIDTH, splitting, tables, uniform
from polhode.methods.splitting_tables import Scheme, scheme, stages_of

NEARBY = 1e-4
"""Displacement (rad, or relative to the distance) of the difference quotients for the rate of the loads."""


@inlined
def later(t, carry, h):
    """Compensated sum t + carry + h of times: the rounded sum and the new compensation."""
    h += carry
    after = t + h
    part = after - t
    return after, (t - (after - part)) + (h - part)


# ------------------------------------------------------------------ densities
def distance_rate(t, p):
    """d/dt log R of the density |r|^(-3/2)."""
    total = change = 0.0
    for k in range(p.B):
        if p.blocks[2 * k + 1] != L.ROTATION:
            i = p.blocks[2 * k]
            r, v = get3(p.y, L.BODY * i + L.POSITION), get3(p.y, L.BODY * i + L.MOMENTUM)
            d = norm3(r)
            total += 1.0 / (d * d * d)
            change -= 1.5 * p.bodies[L.CONSTANTS * i + L.INVERSE_MASS] * dot(r, v) / (d * d * d * d * d)
    return change / total


def load_rate(t, p):
    """d/dt log R of the density ``loads``, by a central difference along the motion; ERROR receives R^4."""
    rate_of_change = p.step_info[L.ERROR] = 0.0
    for k in range(p.B):
        i = p.blocks[2 * k]
        if p.blocks[2 * k + 1] == L.ROTATION:
            speed = norm3(times(get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA), get3(p.y, L.BODY * i + L.ANGULAR)))
        else:
            speed = p.bodies[L.CONSTANTS * i + L.INVERSE_MASS] * norm3(get3(p.y, L.BODY * i + L.MOMENTUM))
            speed /= norm3(get3(p.y, L.BODY * i + L.POSITION))
        rate_of_change = max(rate_of_change, speed)
    if rate_of_change == 0.0:
        return 0.0
    s = NEARBY / rate_of_change
    for k in range(L.BODY * p.N + p.S):
        p.stage_state[k] = p.y[k]
    size = L.LOAD * p.N + p.S
    for n in range(2):
        offset = -s if n == 0 else s
        for k in range(p.B):  # uniform motion
            i = p.blocks[2 * k]
            a, b = L.BODY * i, L.CONSTANTS * i
            if p.blocks[2 * k + 1] == L.ROTATION:
                w = times(get3(p.bodies, b + L.INVERSE_INERTIA), get3(p.y, a + L.ANGULAR))
                rotation = exp_quaternion(scale(offset, w))
                put4(p.stage_state, a + L.ATTITUDE, multiply(get4(p.y, a + L.ATTITUDE), rotation))
            else:
                shift = offset * p.bodies[b + L.INVERSE_MASS]
                put3(p.stage_state, a + L.POSITION, axpy(shift, get3(p.y, a + L.MOMENTUM), get3(p.y, a + L.POSITION)))
        for k in range(size * n):
            p.work[size + k] = p.work[k]
        p.loads(L.ALL, t + offset, p.N, p.stage_state, p.bodies, p.parameters, p.work)
    p.step_info[L.EVALUATIONS] += 2.0
    p.step_info[L.LOADED] = min(p.step_info[L.LOADED], 1.0)  # overwrites commutator loads in ``work``
    total = change = 0.0
    for k in range(p.B):
        i, kind = p.blocks[2 * k], p.blocks[2 * k + 1]
        at = L.LOAD * i + 3 * kind
        after, before = get3(p.work, at), get3(p.work, size + at)
        f = scale(0.5, add(before, after))
        rise = scale(0.5 / s, axpy(-1.0, before, after))
        if kind == L.ROTATION:
            m, j = get3(p.y, L.BODY * i + L.ANGULAR), get3(p.bodies, L.CONSTANTS * i + L.INVERSE_INERTIA)
            v, f, rise = times(j, m), times(j, f), times(j, rise)
            gain = add(f, times(j, cross(m, v)))
            e, e1 = 1.0, 0.0
        else:
            r, w = get3(p.y, L.BODY * i + L.POSITION), p.bodies[L.CONSTANTS * i + L.INVERSE_MASS]
            v, f, rise = scale(w, get3(p.y, L.BODY * i + L.MOMENTUM)), scale(w, f), scale(w, rise)
            gain = f
            e = 1.0 / dot(r, r)
            e1 = -2.0 * e * e * dot(r, v)
        force, fast = dot(f, f), dot(v, v)
        total += e * (force + e * fast * fast)
        change += 2.0 * e * dot(f, rise) + e1 * force + 2.0 * e * fast * (2.0 * e * dot(v, gain) + e1 * fast)
    p.step_info[L.ERROR] = total
    return 0.25 * change / total if total > 0.0 else 0.0


DENSITIES = {"loads": helper(load_rate), "distance": helper(distance_rate)}
"""d/dt log R of the step densities, by name."""


# ------------------------------------------------------------------ any method, reversible steps
rate = hole("rate(t, p) -> float", "d/dt log R of the step density.")
inner_step = hole("inner_step(t, h, p) -> status", "The step of the method.")


def controlled_step(_, s, p):
    """One reversible step of nominal size s; returns a status, STOPPED where the density is not positive."""
    time_at = int(p.step_info[L.TIME_AT])
    t, carry, z, g = get4(p.y, time_at)
    if z == 0.0:
        z, g = 1.0, rate(t, p)
    z += 0.5 * s * g  # [hairer2005]
    if not z > 0.0:
        return L.STOPPED if z <= 0.0 else L.NOT_FINITE
    h = s / z
    after, carry = later(t, carry, h)
    p.step_info[L.NEXT_TIME] = after
    status = inner_step(t, h, p)
    if status != L.OK:
        return status
    g = rate(after, p)
    z += 0.5 * s * g
    put4(p.y, time_at, (after, carry, z, g))
    return L.OK if z > 0.0 else L.STOPPED if z <= 0.0 else L.NOT_FINITE


@cache
def controlled(step: Callable[..., Any], step_density: str) -> Callable[..., Any]:
    """The reversible step that wraps a step, with a step density of ``DENSITIES``."""
    return bind(controlled_step, inner_step=helper(step), rate=DENSITIES[step_density])


def reversible(find: Callable[..., MethodSpec], text: str, **options: str) -> MethodSpec:
    """``[step_density:]method`` with reversible steps; ``find`` resolves the method."""
    word, _, rest = text.partition(":")
    step_density = word if word in DENSITIES else "loads"
    inner = find((rest if word in DENSITIES else text) or "v2", **options)
    prepared, promises, row = inner.prepare(), inner.promises, inner.method
    if prepared.step_density:
        raise InvalidInput(f"method {inner.label!r} has a time transformation already; take one of the two")
    if prepared.processed:
        raise InvalidInput(
            f"method {inner.label!r} is processed, which is for steps of one size; take one that is not, such as "
            "'v2', 's6_10' or 'kl8'"
        )
    if not promises.time_symmetric:
        raise InvalidInput(
            f"method {inner.label!r} is not time-symmetric, so that reversible steps would keep nothing; take one that "
            "is, such as 'v2', 's6_10', 'kl8', 'imid' or 'mkrk:gauss2'"
        )

    def wrapped(base: CompiledMethod) -> CompiledMethod:
        read = base.reading
        return replace(
            base, step=controlled(base.step, step_density), step_density=step_density, estimate=0, dense=None,
            converter=None, compensated=None, reading=read and (lambda wheels: wrapped(read(wheels))),
            work=lambda bodies, blocks: max(base.work(bodies, blocks), 2 * L.LOAD * bodies),
            auxiliary_work=None if base.auxiliary_work is None else max(2, base.auxiliary_work),
        )  # fmt: skip

    def promised(**chosen: str) -> Promises:
        base = row.promises(**chosen)
        return replace(
            base, symplectic=False, evaluations=base.evaluations + 2 * (step_density == "loads"), generalised=()
        )

    name = ":".join(["reversible", *["distance"] * (step_density == "distance"), row.name])
    description = f"{row.description}; reversible steps that follow the {step_density}"
    return MethodSpec(Method(
        name, "time_transformed", description, "hairer2005", lambda **chosen: wrapped(row.prepare(**chosen)), promised,
        row.options, row.range,
    ), inner.options)  # fmt: skip


# ------------------------------------------------------------------ logarithmic Hamiltonian
free = hole("free(i, h, p) -> status", "The free rotation of body i.")
push = hole("push(t, h, g, s, rules, p) -> status", "The kick.")


@inlined
def weight(p):
    """Sum of 1/|r| over all bodies that translate, and its time derivative."""
    total = change = 0.0
    for k in range(p.B):
        if p.blocks[2 * k + 1] != L.ROTATION:
            i = p.blocks[2 * k]
            r, v = get3(p.y, L.BODY * i + L.POSITION), get3(p.y, L.BODY * i + L.MOMENTUM)
            d = norm3(r)
            total += 1.0 / d
            change -= p.bodies[L.CONSTANTS * i + L.INVERSE_MASS] * dot(r, v) / (d * d * d)
    return total, change


def transformed_stages(_, s, p):
    """One step of nominal size s: the stages of a splitting in transformed time; returns a status."""
    time_at = int(p.step_info[L.TIME_AT])
    t, carry, W, unit = get4(p.y, time_at)
    if W == 0.0:
        W, unit = 1.0, 1.0 / weight(p)[0]
    for n in range(p.int_coefficients[0]):
        span = p.coefficients[WIDTH * n] * s
        if p.int_coefficients[COUNTS + n] == FREE:
            span /= W
            for k in range(p.B):
                i = p.blocks[2 * k]
                status = free(i, span, p) if p.blocks[2 * k + 1] == L.ROTATION else uniform(i, span, p)
                if status != L.OK:
                    return status
            t, carry = later(t, carry, span)
            p.step_info[L.LOADED] = 0.0
        else:
            total, before = weight(p)
            span /= unit * total
            status = push(t, span, 0.0, p.int_coefficients[NODES], WIDTH * p.int_coefficients[0], p)
            if status != L.OK:
                return status
            total, after = weight(p)
            W += 0.5 * span * unit * (before + after)  # [mikkola2002, sec. 2]
            if not W > 0.0:
                return L.STOPPED if W <= 0.0 else L.NOT_FINITE
    p.step_info[L.NEXT_TIME] = t
    put4(p.y, time_at, (t, carry, W, unit))
    return L.OK


@cache
def transformed(rotate_free: Callable[..., Any], reads: bool, wheels: bool) -> Callable[..., Any]:
    """The step in transformed time with a free rotation bound in; the rest as for ``splitting.functions_of``."""
    kick = kick_of(L.ALL | L.WITHOUT_COUPLING if wheels else L.ALL, False, reads)
    return bind(transformed_stages, free=gyrostat.rotate_free if wheels else rotate_free, push=kick)


def flow_first(rule: Scheme) -> Scheme:
    """The scheme with A and B exchanged if it is for arbitrary parts and begins with a kick; else the scheme."""
    if rule.requires != "any" or rule.stages[0][0] == "A":
        return rule
    stages = tuple(("B" if step[0] == "A" else "A", step[1]) for step in rule.exact_stages)
    return Scheme(rule.name, rule.title, rule.cite, rule.order, stages)


def logarithmic(_: Callable[..., MethodSpec], text: str, **options: str) -> MethodSpec:
    """The splitting ``scheme[/flow]`` of the logarithmic Hamiltonian; by default leapfrog, ``"v2"``.

    It begins with the free motion, which keeps compositions of leapfrogs on the conic of a Kepler field."""
    head, *words = as_here(text or "v2").split(":")
    name, _slash, flow = head.partition("/")
    rule = scheme(name)
    if rule.pre or rule.requires not in ("any", "near"):
        raise InvalidInput(
            f"scheme {rule.name!r} is {'processed' if rule.pre else 'for motion that is quadratic in the momenta'}, "
            "which that of the logarithmic Hamiltonian is not; take one for any two parts, such as 'v2', 'kl6' or 'kl8'"
        )
    if flow.partition("+")[0] == "kepler":
        raise unknown_name("free rotation", flow, ["exact"])
    plain, rotation = splitting(rule, flow or "exact"), free_flow(flow or "exact")
    nodes = (int(plain.promises().order_velocity) + 1) // 2
    coefficients, int_coefficients = tables(flow_first(rule), nodes)

    def prepare(**chosen: str) -> CompiledMethod:
        rotate_free = rotation.build(**chosen)

        def wrapped(base: CompiledMethod, reads: bool = False) -> CompiledMethod:
            read, step = base.reading, transformed(rotate_free, reads, base.carries_wheels)
            return replace(
                base, step=step, coefficients=coefficients, int_coefficients=int_coefficients, converter=None,
                largest=None, compensated=None, step_density="distance",
                reading=read and (lambda wheels: wrapped(read(wheels), True)),
            )  # fmt: skip

        return wrapped(plain.prepare(**chosen))

    def promised(**chosen: str) -> Promises:
        return replace(
            plain.promises(**chosen), symplectic=False, generalised=(), requires="", evaluations=stages_of(rule)
        )

    row = Method(
        f"logarithmic:{plain.name}", "time_transformed", f"logarithmic Hamiltonian, {plain.description}",
        "mikkola1999", prepare, promised, plain.options, plain.range,
    )  # fmt: skip
    return MethodSpec(row, row.resolve_options(words, **options))
