"""Gradients of functions of runs, and runs as nodes of the graphs of JAX and PyTorch."""

from polhode.gradients.derivative import Gradient, States, gradient
from polhode.gradients.nodes import jax_run, torch_run
from polhode.lazy import public_names

__all__ = ["Gradient", "States", "gradient", "jax_run", "torch_run"]
__dir__ = public_names(__all__)
