"""The free motion of a body without stepping, and what its exactness is worth where a torque is weak.

    python examples/free_motion_script.py

A body spun about its middle axis turns over again and again: Dzhanibekov's wing nut, the tennis racket. Nothing is
written here, only printed.
"""

import numpy as np

import polhode as ph

inertia = [[2.0, 0.1, 0.0], [0.1, 3.0, 0.2], [0.0, 0.2, 4.5]]  # any consistent units; the full tensor will do
middle = np.linalg.eigh(inertia).eigenvectors[:, 1]
momentum = 6.0 * middle + [0.0, 0.0, 1e-4]

# When does it turn over? Two periods, by elliptic integrals.
periods = ph.runs.poinsot.free_motion_periods(inertia, momentum)
print(f"it turns over every {periods.polhode / 2:.9f}")

# Where is it then, also after a million times? Every time is computed straight from the start.
print("\nturns over        momentum along the middle axis   error of energy   of momentum in space")
counts = np.array([0, 1, 2, 1001, 1_000_000])
q, m = ph.free_motion(inertia, momentum, counts * periods.polhode / 2)
energy = np.einsum("ij,jk,ik->i", m, np.linalg.inv(inertia), m) / 2
astray = np.linalg.norm(ph.rotation.rotate(q, m) - momentum, axis=1) / np.linalg.norm(momentum)
for k, n in enumerate(counts):
    print(f"{n:10d}{m[k] @ middle:24.6f}{abs(energy[k] / energy[0] - 1):28.0e}{astray[k]:21.0e}")

# The paths of the angular velocity: a closed one in the body (polhode), one in the invariable plane (herpolhode).
polhode = ph.runs.poinsot.polhode_curve(inertia, momentum).angular_velocity
herpolhode = ph.runs.poinsot.herpolhode_curve(inertia, momentum, np.linspace(0.0, periods.polhode, 200)).in_plane
print(f"\npolhode: {len(polhode)} points, ends where it starts: {bool((polhode[0] == polhode[-1]).all())}")
radius = np.linalg.norm(herpolhode, axis=1)
print(f"herpolhode: between the circles of radius {radius.min():.6f} and {radius.max():.6f}")

# The same body with a weak spring on one axis: the torque is all that a splitting with the exact rotation approximates.


def spring(body, strength):
    """A torque against the tilt about the x axis of the body."""
    return {"torque": (-strength * 2.0 * body.attitude[0] * body.attitude[1], 0.0, 0.0)}


start = {"angular_momentum": momentum}
print("\nstrength of the torque   error of a splitting step of 0.5 to t = 20: v2   v2/mr   aba10_6_4")
for strength in (1e-2, 1e-4, 1e-6):
    body = ph.system(ph.body("body", inertia=inertia, pinned=True), ph.loads.of(spring, strength=strength))
    truth = ph.integrate(body, "rkn8_17", step=0.01, t_end=20.0, every=2000, **start).attitude.values[-1]
    errors = []
    for method in ("v2", "v2/mr", "aba10_6_4"):  # guard=False: mr is not made for a radian a step
        ds = ph.integrate(body, method, step=0.5, t_end=20.0, settings={"guard": False}, **start)
        errors.append(float(ph.rotation.angle_between(ds.attitude[-1], truth)))
    print(f"{strength:22.0e}" + "".join(f"   {error:.1e}" for error in errors))
