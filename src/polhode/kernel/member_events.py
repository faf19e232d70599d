"""Events of members of an ensemble, found in the rows after all their steps without any Python between them.

Times of zeros are those of ``runs.event_detection``: by steps of the single run's loop from the row before.
"""

from __future__ import annotations

from polhode.kernel import jit, layout as L
from polhode.kernel.drive import crossed, event_at
from polhode.kernel.jit import numbers_at, pointer
from polhode.kernel.many import copied, march_at, set_up
from polhode.kernel.signatures import A1, A2, A3, I1, I2, Workspace, f8, i8

ULP = 2.0**-52
RECORDED, ENDS = 1, 2
"""What a change of sign is: an event, or one that ends the run; 0 where it is none."""
NO_EDGE = -2
"""In the place of the flag of an edge, -1 without one, at which loads change."""
ALONE, FAILED = 1, 3
"""What becomes of a member beside ENDS: its next step is for its single run, in which more happens than one zero; a
step has failed behind an edge."""


def narrowing(bracket, x, fx, resolved):
    """Take the value at x into the bracket a, f(a), b, f(b), c, f(c) of a zero, a being the last place; the next place,
    or a or b, which is the zero to what can be resolved.

    Inverse quadratic interpolation where it is safe, else bisection [chandrupatla1997]."""
    a, fa, b, fb = bracket[0], bracket[1], bracket[2], bracket[3]
    c, fc = a, fa
    if (fx > 0.0) != (fa > 0.0):
        c, fc, b, fb = b, fb, a, fa
    a, fa = x, fx
    bracket[0], bracket[1], bracket[2], bracket[3], bracket[4], bracket[5] = a, fa, b, fb, c, fc
    if fa == 0.0 or abs(b - a) <= 2.0 * resolved:
        return a if abs(fa) <= abs(fb) else b
    least = resolved / abs(b - a)
    xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
    part = 0.5
    if phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi:
        part = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return a + min(1.0 - least, max(least, part)) * (b - a)


narrowed = jit.helper(narrowing)

FIND_EVENTS = i8(
    I1, I1, i8, f8, f8, A1, f8, i8, i8, i8, I2, *[A2] * 4, A1, *[A1] * 7, I1, I1, A1, A3, I2, I1, I1, A2, A2, A2, A2,
)  # fmt: skip


@jit.loop(FIND_EVENTS)
def find_events(
    loop, watch, first, t0, h, times, limit, N, B, cuts, kinds, states, bodies, frames, parameters, told, y, of_bodies,
    of_frames, own, stage_state, load, step_info, addresses, no_events, nothing, rows, iterations, at, what, sides,
    scratch, found, found_states,
):  # fmt: skip
    """Look for events in the steps from row ``at[k]`` of each member k to its last, all rows being after steps to
    ``times``, number ``first`` and so on of ``h`` from ``t0``; returns how many there are. Behind an edge rows are
    taken anew.

    ``at`` is left where there is no step any more, where ``what``, 0 so far, is set, or where no more fit into
    ``found``, which receives member, number, whether it rises, time, and ``found_states`` the states there. ``kinds``
    (E, 3) says what falling and rising signs are, and which flag follows; ``sides`` (M, 2 E) as of
    ``drive.crossings``; others as of ``many.march_members``."""
    march, event, numbers = march_at(loop), event_at(watch), numbers_at(watch, 2)
    E, count, last, bracket, kept = kinds.shape[0], 0, rows.shape[1] - 1, scratch[0], scratch[1]
    begin = scratch[2]
    for k in range(rows.shape[0]):
        ready, within, a, s = False, False, 0.0, sides[k]
        while what[k] == 0 and at[k] < last and count < found.shape[0]:
            i, met, among, edge, status = at[k], 0, 0, False, L.OK
            b = times[i + 1]
            if not within:
                a = times[i]
                copied(rows[k], i, y.size, begin)
                for e in range(E):
                    kept[e] = s[e]
            p = Workspace(
                N, B, 0, pointer(rows[k, i + 1]), pointer(bodies[k if bodies.shape[0] > 1 else 0]),
                pointer(parameters[k if parameters.shape[0] > 1 else 0]),
                None, None, None, None, None, None, None, None, None,
            )  # fmt: skip
            for e in range(E if crossed(0, E, b, event, numbers, s, p) > 0 else 0):
                changed = s[e] != L.EVENT_DISABLED and s[E + e] * s[e] <= 0.0 and s[E + e] != 0.0
                if changed and (e < cuts or kinds[e, int(s[E + e] > 0.0)] != 0):
                    met, among, edge = met + 1, e, e < cuts
            if met > 1 or (edge and kinds[among, 2] == NO_EDGE):
                what[k] = ALONE
            elif met == 1:
                if not ready:
                    set_up(
                        k, states, bodies, frames, parameters, parameters.shape[1], told, y, of_bodies, of_frames, own,
                        stage_state, load, step_info,
                    )  # fmt: skip
                    ready = True
                value = s[E + among]
                for j in range(y.size):
                    y[j] = begin[j]
                fa = event(among, a, N, pointer(y), pointer(of_bodies), pointer(own), numbers)
                bracket[0], bracket[1], bracket[2], bracket[3] = b, value, a, fa
                x, going = b + 0.5 * (a - b), True
                if fa == 0.0 or fa * value > 0.0:  # it is the start of the step, to round-off
                    x = a
                while going and status == L.OK:
                    going = x != bracket[0] and x != bracket[2]
                    for j in range(y.size):
                        y[j] = rows[k, i + 1, j] if x == b else begin[j]
                    if x != a and x != b:
                        step_info[L.LOADED] = 0.0
                        status = march(
                            L.MARCHING, 0, 1, 2, a, x - a, limit, N, B, y, addresses, rows[k], at, no_events, nothing,
                            nothing,
                        )  # fmt: skip
                    if going and status == L.OK:
                        fx = event(among, x, N, pointer(y), pointer(of_bodies), pointer(own), numbers)
                        x = narrowed(bracket, x, fx, ULP * max(abs(a), abs(b)))
                rises = int(value > 0.0)
                if edge and status == L.OK:
                    s[among], a, within = 2.0 * rises - 1.0, x, True
                    if kinds[among, 2] >= 0:
                        own[kinds[among, 2]] = parameters[k, kinds[among, 2]] = float(rises)
                    for j in range(y.size):
                        begin[j] = y[j]
                    if x != b:
                        step_info[L.LOADED] = 0.0
                        status = march(
                            L.MARCHING, 0, 1, 2, x, b - x, limit, N, B, y, addresses, rows[k], at, no_events, nothing,
                            nothing,
                        )  # fmt: skip
                    for j in range(y.size):
                        rows[k, i + 1, j] = y[j]
                elif status == L.OK:
                    found[count, 0], found[count, 1], found[count, 2], found[count, 3] = k, among, rises, x
                    for j in range(y.size):
                        found_states[count, j] = y[j]
                    what[k] = ENDS if kinds[among, rises] == ENDS else 0
                    count += 1
                if status != L.OK:
                    what[k] = ALONE
            if what[k] == ALONE:
                for e in range(E):
                    s[e] = kept[e]
                    if e < cuts and kinds[e, 2] >= 0:
                        parameters[k, kinds[e, 2]] = float(s[e] > 0.0)
            elif what[k] == 0 and not edge:
                for e in range(E):
                    if abs(s[e]) <= 1.0 and s[E + e] != 0.0:
                        s[e] = 1.0 if s[E + e] > 0.0 else -1.0
                at[k] += 1
                if within and at[k] < last:
                    copied(rows[k], i + 1, y.size, y)
                    step_info[L.LOADED] = 0.0
                    status = march(
                        L.MARCHING, first + i + 1, last - i - 1, 1, t0, h, limit, N, B, y, addresses, rows[k][i + 2 :],
                        iterations[k][i + 2 :], no_events, nothing, nothing,
                    )  # fmt: skip
                    if status != L.OK:
                        what[k] = FAILED
                within = False
    return count
