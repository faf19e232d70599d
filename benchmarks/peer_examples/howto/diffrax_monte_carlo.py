"""A thousand heavy tops, with diffrax: Dopri8 under jax.vmap."""

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
J = jnp.array([5.0, 4.0, 1.0])


def rates(t, y, weight):
    s, u, w = y[0], y[1:4], y[4:]
    up = jnp.array([2 * (u[0] * u[2] - s * u[1]), 2 * (u[1] * u[2] + s * u[0]), 1 - 2 * (u[0] ** 2 + u[1] ** 2)])
    torque = jnp.cross(jnp.array([0, 0, 1.0]), -weight * up)
    turned = 0.5 * jnp.concatenate([-(u @ w)[None], s * w + jnp.cross(u, w)])
    return jnp.concatenate([turned, (torque - jnp.cross(w, J * w)) / J])


@jax.jit
@jax.vmap
def axis(weight, w):
    start = jnp.concatenate([jnp.array([np.cos(0.15), np.sin(0.15), 0, 0]), w])
    control = diffrax.PIDController(rtol=1e-9, atol=1e-9)
    found = diffrax.diffeqsolve(
        diffrax.ODETerm(rates),
        diffrax.Dopri8(),
        0.0,
        4.0,
        None,
        start,
        args=weight,
        stepsize_controller=control,
        max_steps=10**5,
    )
    s, a, b, c = found.ys[0, :4]
    return jnp.arctan2(2 * (b * c - s * a), 2 * (a * c + s * b))


rng = np.random.default_rng(1)
weight, w = 20.0 + rng.normal(size=1000), np.array((0, 0, 30)) + 0.1 * rng.normal(size=(1000, 3))
low, middle, high = np.degrees(np.quantile(axis(weight, w), [0.05, 0.5, 0.95]))
print(f"the axis points {middle:.2f} degrees from x at t = 4, in 90 of 100 cases between {low:.2f} and {high:.2f}")
