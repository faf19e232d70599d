"""A loop that integrates Euler angles, and the one line that takes it through its singular point.

    python examples/euler_rates_script.py

The loop is the kind found in flight and multibody codes: angular velocity by Euler's equations, angles by their rates.
Where the middle angle comes near 90 degrees the rates are unbounded, and the attitude is lost. Nothing is written
here, only printed.
"""

import numpy as np

import polhode as ph

J = np.array([5.2988, 1.1775, 4.3568])  # principal moments of a box
SEQUENCE = "XYZ"  # any of the 24


def simulate(update, steps, t_end=2.0):
    """Explicit Euler, as simple as it gets: the last line of the loop is the one to be replaced."""
    h = t_end / steps
    angles, omega = np.zeros(3), np.array([0.0, np.pi, 1e-3 * np.pi])
    for _ in range(steps):
        omega = omega + h * np.cross(J * omega, omega) / J
        angles = update(angles, omega, h)
    return angles


def by_rates(angles, omega, h):
    """Before."""
    return angles + h * ph.rotation.euler_rates(angles, omega, SEQUENCE)


def by_increment(angles, omega, h):
    """After: the turn h omega of this step, as a change of the angles."""
    return angles + ph.rotation.euler_increment(angles, h * omega, SEQUENCE, branch="continuous")


truth = ph.integrate(ph.free_body(J), "exact", step=2.0, t_end=2.0, angular_velocity=(0.0, np.pi, 1e-3 * np.pi))
print("a box turns once about its second axis: the middle angle passes 90 and 270 degrees\n")
print(" steps   error of the attitude, by rates   by increments   angles in degrees, by increments")
for steps in (1000, 2000, 4000):
    error, found = {}, {}
    for update in (by_rates, by_increment):
        found[update] = simulate(update, steps)
        q = ph.rotation.quaternion_from_euler(found[update], SEQUENCE)
        error[update] = float(ph.rotation.angle_between(q, truth.attitude[-1]))
    words = "  ".join(f"{a:.2f}" for a in np.rad2deg(found[by_increment]))
    print(f"{steps:6d}{error[by_rates]:34.1e}{error[by_increment]:16.1e}   {words}")

# The same with a step of order 4, angles and all, and no loop of one's own:
ds = ph.integrate(
    ph.free_body(J), ph.methods.euler(sequence=SEQUENCE, branch="continuous"), step=0.01, t_end=2.0,
    angular_velocity=(0.0, np.pi, 1e-3 * np.pi),
)  # fmt: skip
error = float(ph.rotation.angle_between(ds.attitude[-1], truth.attitude[-1]))
print(f"\npolhode.integrate, method 'euler', 200 steps of order 4: error {error:.1e}")

# Rotation vectors are updated the same way, v = ph.rotation.compose(v, h * omega), and pass whole turns likewise.
v = np.array([0.0, 1.9 * np.pi, 0.0])
for _ in range(20):
    v = ph.rotation.compose(v, (0.0, 0.02 * np.pi, 0.0), branch="continuous")
print(f"\na rotation vector that passes a whole turn: {v[1] / np.pi:.2f} pi about the second axis")
