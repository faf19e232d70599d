"""What one function of a run leaves behind is no memory of another one; logs may be shared."""

import numpy as np
import pytest

import polhode as ph
from each import each
from polhode.errors import InvalidInput

BODY, RUN = (1.0, 2.0, 2.5), {"step": 0.1, "steps": 20, "angular_velocity": (0.0, 0.0, 0.1)}
last, told = [0.0], []


class Box:
    value = 0.0


def writes(t, q, omega, parameters):
    last[0] = omega[2]
    return (0.0, 0.0, 0.1)


def writes_an_attribute(t, q, omega, parameters):
    Box.value = omega[2]
    return (0.0, 0.0, 0.1)


def tells(t, q, omega, parameters):
    told.append(t)
    return (0.0, 0.0, 0.1)


def event_of(body):
    return ph.events.user(body)


def read_by_an_event():
    seen = event_of(lambda t, position, velocity, q, omega, parameters: last[0] - 0.15)
    return ph.rigid_body(BODY, torque=writes), [seen]


def read_by_an_event_as_an_attribute():
    seen = event_of(lambda t, position, velocity, q, omega, parameters: Box.value - 0.15)
    return ph.rigid_body(BODY, torque=writes_an_attribute), [seen]


def read_by_a_potential():
    return ph.rigid_body(BODY, torque=writes, potential=lambda t, q, parameters: last[0] * q[3]), []


def read_by_a_controller():
    def command(t, position, velocity, q, omega, parameters, states):
        return last[0]

    return ph.rigid_body(BODY, torque=lambda t, q, omega, parameters, states: writes(t, q, omega, parameters),
                         states={"u": 0.0}, controllers=ph.controller(command, 0.1, "u")), []  # fmt: skip


def written_by_an_event():
    def seen(t, position, velocity, q, omega, parameters):
        last[0] = omega[2]
        return omega[2] - 0.15

    return ph.rigid_body(BODY, torque=lambda t, q, omega, parameters: (0.0, 0.0, last[0])), [event_of(seen)]


@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
@each("shared", [
    read_by_an_event, read_by_an_event_as_an_attribute, read_by_a_potential, read_by_a_controller, written_by_an_event,
])  # fmt: skip
def test_what_one_function_writes_and_another_reads_is_refused(shared):
    with pytest.raises(InvalidInput, match=r"reads what .* leaves behind; .* must be part of the state"):
        system, events = shared()
        ph.integrate(system, "mkrk:rk4", **RUN, events=events)


@pytest.mark.filterwarnings("ignore::polhode.errors.SlowFunctionWarning")
def test_two_functions_may_tell_the_same_list():
    def seen(t, position, velocity, q, omega, parameters):
        told.append(t)
        return omega[2] - 0.15

    ds = ph.integrate(ph.rigid_body(BODY, torque=tells), "mkrk:rk4", **RUN, events=[event_of(seen)])
    plain = ph.integrate(ph.rigid_body(BODY, torque=lambda t, q, omega, parameters: (0.0, 0.0, 0.1)), "mkrk:rk4", **RUN)
    assert told and ds.event_time.size == 1 and np.array_equal(ds.angular_velocity, plain.angular_velocity)


def test_an_event_that_remembers_is_refused():
    def relay(t, position, velocity, q, omega, parameters):
        last[0] = 0.9 * last[0]
        return omega[2] - last[0]

    with pytest.raises(InvalidInput, match=r"event 'relay' .* remembers from call to call"):
        event_of(relay)


# ------------------------------------------------------------------ whose index it was
def of_another(t, q, omega, parameters):
    table = np.zeros(1)
    return (0.0, 0.0, table[len(parameters)])


def of_the_parameters(t, q, omega, parameters):
    p = parameters
    return (0.0, 0.0, p[1])


@each(("torque", "said"), [(of_another, False), (of_the_parameters, True)])
def test_the_number_of_parameters_is_told_where_it_is_they_that_were_indexed(torque, said):
    with pytest.raises(ph.errors.UserFunctionError, match="index 1 is out of bounds") as raised:
        ph.integrate(ph.rigid_body(BODY, torque=torque, parameters=[0.5]), "mkrk:rk4", **RUN)
    assert ("; parameters is an array of 1 number (" in str(raised.value)) == said


# ------------------------------------------------------------------ states without bounds
@each("method", ["mkrk:forward_euler", "mkrk:rk4", "v2/mr"])
def test_a_state_that_is_not_finite_ends_the_run(method):
    body = ph.rigid_body(BODY, states={"u": 0.0}, work=False, torque=lambda t, q, omega, parameters, states: (
        (0.0, 0.0, 0.0), np.sqrt(0.5 - t)))  # fmt: skip
    with np.errstate(invalid="ignore"), pytest.raises(ph.errors.UserFunctionError, match="as the rate of u"):
        ph.integrate(body, method, **RUN)
    with np.errstate(invalid="ignore"):
        found = ph.ensemble(body, method, members=2, **RUN)
    assert (found.status != 0).all()
