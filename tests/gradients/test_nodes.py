"""Runs as nodes of JAX and PyTorch, where these are installed; what is said where they are not."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import polhode as ph
from each import each
from polhode.errors import InvalidInput, MissingExtra
from polhode.gradients.nodes import Node

pytestmark = pytest.mark.usefixtures("columns_by_twos")
Q = np.array([0.9, 0.1, 0.3, 0.2])
OMEGA, MOMENTS, TARGET = np.array([0.3, 0.4, 1.0]), np.array([1.0, 1.7, 2.3]), np.array([0.1, -0.2, 0.3])
WORDS = {"step": 0.1, "steps": 20}
VALUES = {"attitude": Q, "angular_velocity": OMEGA, "inertia": MOMENTS}


def body():
    return ph.free_body([1.0, 2.0, 2.5])


def by_differences(function, x, h=1e-3):
    terms = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
    return np.array([sum(w * (function(x + k * e) - function(x - k * e)) for k, w in terms) / h
                     for e in h * np.eye(len(x))])  # fmt: skip


def test_node_is_the_derivative_of_its_own_function():
    node = Node(body(), "trapm", {**WORDS, "wrt": list(VALUES), "every": 10})
    weights = [np.cos(1.0 + np.arange(np.prod(shape))).reshape(shape) for shape in node.outputs.values()]

    def value(x):
        return sum(float((w * a).sum()) for w, a in zip(weights, node.forward(x[:4], x[4:7], x[7:]), strict=True))

    found = np.concatenate(node.backward(tuple(VALUES.values()), weights))
    assert_allclose(found, by_differences(value, np.concatenate(list(VALUES.values()))), rtol=1e-8, atol=1e-8)


def test_node_holds_a_given_rate():
    node = Node(body(), "trapm", {**WORDS, "wrt": ["inertia"], "angular_velocity": OMEGA})
    weights = [np.ones(shape) for shape in node.outputs.values()]

    def value(x):
        return sum(float(a.sum()) for a in node.forward(x))

    assert_allclose(node.backward((MOMENTS,), weights)[0], by_differences(value, MOMENTS), rtol=1e-8, atol=1e-8)


@each("words, said", [
    ({}, "wrt must name"), ({"wrt": ["attitude"], "attitude": Q}, "leave one of them out"),
    ({"wrt": ["attitude"], "start": {"attitude": Q}}, "start may only have the time"),
    ({"wrt": ["attitude"], "every": 1, "steps": ph.Tolerance(1e-6), "step": None, "t_end": 1.0}, "give t_eval"),
    ({"wrt": ["attitude"], "parameters": {"inertia": MOMENTS}}, "parameters are not taken here"),
])  # fmt: skip
def test_bad_words_are_named(words, said):
    with pytest.raises(InvalidInput, match=said):
        Node(body(), "v2", WORDS | words)


def test_arguments_are_checked():
    node = Node(body(), "v2", WORDS | {"wrt": ["inertia"]})
    for values, said in (
        (3, "takes a mapping"),
        ({"inertai": 1}, "did you mean"),
        ({}, "needs inertia"),
        ({"inertia": 1j * MOMENTS}, "inertia is complex"),
    ):
        with pytest.raises(InvalidInput, match=said):
            node.checked(values, np.asarray)
    with pytest.raises(InvalidInput, match="array of shape"):
        node.forward(np.ones(2))


@each("name", ["jax", "torch"])
def test_missing_extra_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=f"polhode\\[{name}\\]"):
        getattr(ph.gradients, f"{name}_run")(body(), "trapm", **WORDS, wrt=["attitude"])
    with pytest.raises(MissingExtra, match=f"polhode\\[{name}\\]"):
        ph.gradient(lambda s: s.attitude[0], body(), "trapm", **WORDS, wrt=["inertia"], written_in=name)


def plain(s):
    return ((s["angular_velocity"] - TARGET) ** 2).sum() + s["attitude"][1] * s["attitude"][2]


def plain_in_torch(s):
    torch = pytest.importorskip("torch")
    return ((s["angular_velocity"] - torch.tensor(TARGET)) ** 2).sum() + s["attitude"][1] * s["attitude"][2]


def expected():
    q = Q / np.linalg.norm(Q)
    return ph.gradient(lambda s: plain(vars(s)), ph.free_body(MOMENTS), "trapm", wrt=list(VALUES), attitude=q,
                       angular_velocity=OMEGA, **WORDS)  # fmt: skip


@pytest.fixture
def jax():
    found = pytest.importorskip("jax")
    before = found.config.jax_enable_x64
    found.config.update("jax_enable_x64", True)
    yield found
    found.config.update("jax_enable_x64", before)


def test_jax_grad(jax):
    run = ph.gradients.jax_run(body(), "trapm", wrt=list(VALUES), **WORDS)
    for transformed in (jax.grad, lambda f: jax.jit(jax.grad(f))):
        found = transformed(lambda values: plain(run(values)))(VALUES)
        for name in ("angular_velocity", "inertia"):
            assert_allclose(found[name], expected()[name], rtol=1e-12, atol=1e-13)
        by_turn = 0.5 * ph.rotation.multiply(ph.rotation.conjugate(Q), np.asarray(found["attitude"]))[1:]
        assert_allclose(by_turn, expected()["attitude"], rtol=1e-12, atol=1e-13)
        assert abs(found["attitude"] @ Q) < 1e-13  # its length does not matter


def test_objective_in_jax(jax):
    found = ph.gradient(lambda s: plain(vars(s)), ph.free_body(MOMENTS), "trapm", written_in="jax", wrt=list(VALUES),
                        attitude=Q / np.linalg.norm(Q), angular_velocity=OMEGA, **WORDS)  # fmt: skip
    assert_allclose(found.flat(), expected().flat(), rtol=1e-12, atol=1e-13)


def test_jax_with_32_bits_is_refused(jax):
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(InvalidInput, match="jax_enable_x64"):
        ph.gradients.jax_run(body(), "v2", wrt=["attitude"], **WORDS)


def test_vmap_and_rows(jax):
    run = ph.gradients.jax_run(body(), "v2", wrt=["angular_velocity"], t_eval=[0.5, 1.0, 1.73], **WORDS)
    rates = np.stack([OMEGA, 2.0 * OMEGA])
    rows = jax.vmap(lambda w: run({"angular_velocity": w})["attitude"])(rates)
    ds = ph.integrate(body(), "v2", t_eval=[0.5, 1.0, 1.73], angular_velocity=2.0 * OMEGA, **WORDS)
    assert_allclose(rows[1], ds.attitude.values, rtol=0, atol=1e-13)


def test_torch_backward():
    torch = pytest.importorskip("torch")
    run = ph.gradients.torch_run(body(), "trapm", wrt=list(VALUES), **WORDS)
    values = {name: torch.tensor(a, requires_grad=True) for name, a in VALUES.items()}
    plain_in_torch(run(values)).backward()
    for name in ("angular_velocity", "inertia"):
        assert_allclose(values[name].grad.numpy(), expected()[name], rtol=1e-12, atol=1e-13)


def with_rate(rate):
    """A number of the run by its angular velocity."""
    run = ph.gradients.torch_run(body(), "trapm", wrt=["angular_velocity"], **WORDS)
    return (run({"angular_velocity": rate})["angular_velocity"] ** 2 * 0.5).sum()


def test_torch_func():
    torch = pytest.importorskip("torch")
    rates = torch.tensor(np.stack([OMEGA, 2.0 * OMEGA]))
    one = torch.func.grad(with_rate)(rates[1])
    assert_allclose(one, by_differences(lambda x: float(with_rate(torch.tensor(x))), rates[1].numpy()), rtol=1e-8)
    assert_allclose(torch.func.vmap(with_rate)(rates)[1], with_rate(rates[1]), rtol=1e-15)
    assert_allclose(torch.func.vmap(torch.func.grad(with_rate))(rates)[1], one, rtol=1e-15)


def test_second_derivatives_are_refused_by_torch():
    """They would be zero without a word, as the run is no graph of tensors."""
    torch = pytest.importorskip("torch")
    with pytest.raises(InvalidInput, match="no second ones"):
        torch.autograd.functional.hessian(with_rate, torch.tensor(OMEGA))


def test_objective_in_torch():
    pytest.importorskip("torch")
    found = ph.gradient(lambda s: plain_in_torch(vars(s)), ph.free_body(MOMENTS), "trapm", written_in="torch",
                        wrt=list(VALUES), attitude=Q / np.linalg.norm(Q), angular_velocity=OMEGA, **WORDS)  # fmt: skip
    assert_allclose(found.flat(), expected().flat(), rtol=1e-12, atol=1e-13)


@each("name", ["jax", "torch"])
def test_what_is_no_real_array(name, request):
    library = request.getfixturevalue("jax") if name == "jax" else pytest.importorskip(name)
    assert library.__name__ == name
    run = getattr(ph.gradients, f"{name}_run")(body(), "v2", wrt=["angular_velocity"], **WORDS)
    for given, said in (("fast", "an array of numbers, not 'fast'"), (1j * OMEGA, "is complex; it must be real")):
        with pytest.raises(InvalidInput, match=said):
            run({"angular_velocity": given})
