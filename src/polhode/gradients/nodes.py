"""A run as one node of a graph of JAX or PyTorch: arrays in, rows out, with its derivative."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

import numpy as np

from polhode.algebra.rotation import multiply
from polhode.arguments import ArrayLike, whole
from polhode.errors import InvalidInput, shown, unknown_name
from polhode.gradients.derivative import ROTATION, STARTS, TRANSLATION, Derivative, in_double, library, names_of
from polhode.methods import Method, MethodSpec
from polhode.runs.parameters import system_with, value_at
from polhode.runs.request import with_options
from polhode.runs.steps import Tolerance
from polhode.systems import System
from polhode.systems.record import present_system

OfArrays = Callable[[Mapping[str, Any]], dict[str, Any]]
RATES = {"angular_velocity": "rotates", "velocity": "translates"}


class Node:
    """A run as a function of arrays."""

    def __init__(self, system: System, method: str | Method | MethodSpec | None, words: Mapping[str, Any]) -> None:
        self.system, self.words = present_system(system), dict(words)
        self.method = with_options(method, system, words, "integrate", WORDS)
        if self.words.get("wrt") is None:
            raise InvalidInput("wrt must name the arguments of the run's function, such as ['angular_velocity']")
        self.names = names_of(self.words.pop("wrt"), system)
        every, t_eval = self.words.get("every"), self.words.get("t_eval")
        self.final = every is None and t_eval is None
        for name in self.names:
            if name in STARTS and self.words.get(name) is not None:
                raise InvalidInput(f"{name} is named in wrt and given; leave one of them out")
        start = self.words.get("start")
        if start is not None and not (isinstance(start, Mapping) and set(start) <= {"time"}):
            raise InvalidInput("start may only have the time here; give the state by its names, such as "
                               "angular_velocity=, or name it in wrt")  # fmt: skip
        if self.words.get("parameters") is not None:
            raise InvalidInput("parameters are not taken here; build the system with them, or name them in wrt")
        self.rows = () if self.final else (self._count(every, t_eval),)
        # A rate that is given is held when the inertia changes, as in the run itself.
        self.held = [name for name in RATES if self.words.get(name) is not None]
        self._last: tuple[Any, Derivative] | None = None

    def _count(self, every: int | None, t_eval: ArrayLike | None) -> int:
        """How many rows there are."""
        if t_eval is not None:
            return len(np.atleast_1d(np.asarray(t_eval, dtype=float)))
        steps, step, t_end = (self.words.get(name) for name in ("steps", "step", "t_end"))
        if isinstance(steps, Tolerance):
            raise InvalidInput("with a tolerance the number of rows is not known beforehand; give t_eval")
        if steps is None:
            if not step or t_end is None:
                raise InvalidInput("step and steps, or step and t_end, must be given")
            begin = float((self.words.get("start") or {}).get("time", 0.0))
            steps = round(abs(t_end - begin) / abs(step))
        return 1 + ceil(int(steps) / whole(every, "every", 1))

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """What the run shows, with shapes."""
        bodies = () if self.system.N == 1 else (self.system.N,)
        names = [*TRANSLATION * self.system.translates, *ROTATION * self.system.rotates]
        return {name: (*self.rows, *bodies, 4 if name == "attitude" else 3) for name in names}

    def checked(self, values: object, array: Callable[[Any], Any]) -> list[Any]:
        """Arguments of the function as real arrays of a library, in the order of ``wrt``."""
        if not isinstance(values, Mapping):
            raise InvalidInput(f"the function of a run takes a mapping such as {{'{self.names[0]}': array}}, not "
                               f"{shown(values)}")  # fmt: skip
        for name in values:
            if name not in self.names:
                raise unknown_name("name among the arguments of the run", name, self.names)
        for name in self.names:
            if name not in values:
                raise InvalidInput(f"the run needs {name}, which wrt names; give it")
        found = []
        for name in self.names:
            try:
                found.append(array(values[name]))
            except (TypeError, ValueError, RuntimeError):
                raise InvalidInput(f"{name} must be an array of numbers, not {shown(values[name])}") from None
            if "complex" in str(found[-1].dtype):
                raise InvalidInput(f"{name} is complex; it must be real")
        return found

    def run(self, values: list[Any]) -> Derivative:
        """The run at these arguments; the last one is kept."""
        arrays = [np.array(value, dtype=float) for value in values]
        key = [a.tobytes() for a in arrays]
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        given = dict(zip(self.names, arrays, strict=True))
        if "attitude" in given:
            q = given["attitude"]
            size = np.linalg.norm(q, axis=-1, keepdims=True) if q.shape[-1:] == (4,) else np.zeros(1)
            if not (np.isfinite(size) & (size > 0.0)).all():
                raise InvalidInput("an attitude in wrt must be quaternions (w, x, y, z) that are not zero")
            given["attitude"] = q / size
        changes = {name: a if a.ndim else float(a) for name, a in given.items() if name not in STARTS}
        for name, value in changes.items():
            shape = np.shape(value_at(self.system, name))
            if np.shape(value) != shape:
                raise InvalidInput(f"{name} must be an array of shape {shape}, not {np.shape(value)}")
        system = system_with(self.system, changes, "wrt")
        words = self.words | {name: a for name, a in given.items() if name in STARTS}
        words["every"] = words.get("every") or 1
        names = [*self.names, *(name for name in self.held if name not in self.names)]
        found = Derivative(system, self.method, words, names, self.final)
        self._last = (key, found)
        return found

    def forward(self, *values: Any) -> list[Any]:
        """What the run shows."""
        arrays = self.run(list(values)).arrays
        return [arrays[name] for name in self.outputs]

    def backward(self, values: Any, cotangents: Any) -> list[Any]:
        """Derivatives by the arguments."""
        run = self.run(list(values))
        slopes = {name: np.asarray(a, dtype=float) for name, a in zip(self.outputs, cotangents, strict=True)}
        found = run.by(slopes)
        made = []
        for name, value in zip(self.names, values, strict=True):
            slope = found[name]
            if name == "attitude":  # along the four numbers of a quaternion that is made of length 1
                q = np.array(value, dtype=float)
                size = np.linalg.norm(q, axis=-1, keepdims=True)
                slope = 2.0 * multiply(q / size, np.insert(slope, 0, 0.0, axis=-1)) / size
            made.append(np.asarray(slope, dtype=float).reshape(np.shape(value)))
        return made


WORDS = (
    "wrt", "step", "steps", "t_end", "every", "t_eval", "start", "attitude", "angular_velocity", "angular_momentum",
    "position", "velocity", "momentum", "parameters", "settings",
)  # fmt: skip


def jax_run(system: System, method: str | Method | MethodSpec | None = None, **words: Any) -> OfArrays:
    """A run as a function that JAX differentiates in reverse mode (``jax.grad``, ``jax.vjp``), also under ``jax.jit``.

    Parameters
    ----------
    system, method
        As for ``polhode.integrate``.
    **words
        ``wrt``: names of the arguments of the function, as for ``polhode.gradient``; ``step``, ``steps``, ``t_end``,
        ``every``, ``t_eval``, the rest of the start and ``settings`` as for ``polhode.integrate``. An attitude is a
        quaternion (w, x, y, z), which is made of length 1.

    Returns
    -------
    function
        Of a mapping of the names in ``wrt`` to arrays; returns a mapping of ``position``, ``momentum``, ``velocity``,
        ``attitude``, ``angular_momentum``, ``angular_velocity`` (what the system has) to arrays: of the end of the run,
        (3,) and (4,), with ``every`` or ``t_eval`` of the rows, (rows, 3). The derivative is that of this function: a
        rate that is given is held while the inertia varies. It has first derivatives; JAX refuses second ones. Under
        ``jax.vmap`` the runs are made one after the other.

    Raises
    ------
    MissingExtra
        JAX is not installed.
    InvalidInput
        An argument is wrong, or JAX computes with 32 bits.

    Examples
    --------
    >>> import jax
    >>> import polhode as ph
    >>> jax.config.update("jax_enable_x64", True)
    >>> run = ph.gradients.jax_run(ph.free_body((1, 2, 2.5)), "v2", wrt=["angular_velocity"], step=0.1, steps=50)
    >>> slope = jax.grad(lambda spin: run({"angular_velocity": spin})["angular_velocity"][2])
    >>> slope(jax.numpy.array([0.2, 1.0, 0.1])).shape
    (3,)
    """
    jax = library("jax")
    in_double(jax)
    node = Node(system, method, words)

    def like(shape: tuple[int, ...]) -> Any:
        return jax.ShapeDtypeStruct(shape, np.float64)

    def forwards(*values: Any) -> Any:
        shapes = [like(shape) for shape in node.outputs.values()]
        return jax.pure_callback(node.forward, shapes, *values, vmap_method="sequential")

    def backwards(values: Any, cotangents: Any) -> Any:
        shapes = [like(value.shape) for value in values]
        return tuple(jax.pure_callback(node.backward, shapes, values, cotangents, vmap_method="sequential"))

    run = jax.custom_vjp(forwards)
    run.defvjp(lambda *values: (forwards(*values), values), backwards)

    def of_mapping(values: Mapping[str, Any]) -> dict[str, Any]:
        in_double(jax)
        arrays = [one.astype(np.float64) for one in node.checked(values, jax.numpy.asarray)]
        return dict(zip(node.outputs, run(*arrays), strict=True))

    return of_mapping


def torch_run(system: System, method: str | Method | MethodSpec | None = None, **words: Any) -> OfArrays:
    """A run as a function of tensors that PyTorch differentiates (``backward``, ``torch.autograd``, ``torch.func``).

    Parameters
    ----------
    system, method, **words
        As for ``jax_run``.

    Returns
    -------
    function
        As that of ``jax_run``, of tensors; what it returns is of 64 bits and on the CPU. Second derivatives are
        refused. Under ``torch.func.vmap`` the runs are made one after the other.

    Raises
    ------
    MissingExtra
        PyTorch is not installed.
    InvalidInput
        An argument is wrong.

    Examples
    --------
    >>> import torch
    >>> import polhode as ph
    >>> run = ph.gradients.torch_run(ph.free_body((1, 2, 2.5)), "v2", wrt=["angular_velocity"], step=0.1, steps=50)
    >>> spin = torch.tensor([0.2, 1.0, 0.1], dtype=torch.float64, requires_grad=True)
    >>> run({"angular_velocity": spin})["angular_velocity"][2].backward()
    >>> tuple(spin.grad.shape)
    (3,)
    """
    torch = library("torch")
    node = Node(system, method, words)

    def numbers(tensor: Any) -> Any:
        return tensor.detach().cpu().double().numpy()

    class Run(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(*tensors: Any) -> Any:
            return tuple(torch.from_numpy(a.copy()) for a in node.forward(*map(numbers, tensors)))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            return Slopes.apply(*ctx.saved_tensors, *cotangents)

        @staticmethod
        def vmap(info: Any, axes: Any, *tensors: Any) -> Any:
            return one_by_one(Run, info, axes, tensors)

    class Slopes(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(*tensors: Any) -> Any:
            values, cotangents = tensors[: len(node.names)], tensors[len(node.names) :]
            found = node.backward([numbers(one) for one in values], [numbers(one) for one in cotangents])
            return tuple(torch.from_numpy(a.copy()).to(one) for a, one in zip(found, values, strict=True))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            raise InvalidInput("a run has first derivatives in PyTorch, no second ones; take differences of its "
                               "gradient")  # fmt: skip

        @staticmethod
        def vmap(info: Any, axes: Any, *tensors: Any) -> Any:
            return one_by_one(Slopes, info, axes, tensors)

    def one_by_one(function: Any, info: Any, axes: Any, tensors: Any) -> Any:
        """Members of a batch one after the other."""

        def member(k: int) -> Any:
            given = zip(tensors, axes, strict=True)
            return function.apply(*(one if axis is None else one.select(axis, k) for one, axis in given))

        made = [torch.stack(several) for several in zip(*map(member, range(info.batch_size)), strict=True)]
        return tuple(made), tuple(0 for _ in made)

    def of_mapping(values: Mapping[str, Any]) -> dict[str, Any]:
        tensors = node.checked(values, torch.as_tensor)
        return dict(zip(node.outputs, Run.apply(*tensors), strict=True))

    return of_mapping
