"""The satellite of examples/satellite.toml by the Python interface, and the question how large a step may be.

    python examples/satellite_script.py

A scenario is for a run one wants to keep; a script is for asking questions. Nothing is written here, only printed.
"""

import numpy as np
from satellite import eddy_currents

import polhode as ph

inertia = [[0.34, 0.02, -0.01], [0.02, 0.42, 0.03], [-0.01, 0.03, 0.21]]  # kg m2
satellite = ph.system(ph.body("satellite", inertia=inertia, pinned=True),
                      ph.loads.of(eddy_currents, field=3e-5, rate=2.2e-3, damping=2e5))  # fmt: skip
start = {
    "attitude": ph.rotation.quaternion_from_euler(np.deg2rad([20.0, -10.0, 45.0]), "ZYX"),
    "angular_velocity": [0.04, 0.09, -0.02],  # rad/s, body frame
}

# A trajectory is an xarray Dataset: attitude, angular_velocity, energy and so on over time.
ds = ph.integrate(satellite, "mkrk:gauss4", step=0.5, t_end=6000.0, every=1200, settings={"units": "SI"}, **start)
rate = np.degrees(np.linalg.norm(ds.angular_velocity, axis=1))
for t, degrees in zip(ds.time.values, rate, strict=True):
    print(f"t = {t:6.0f} s   {degrees:6.3f} deg/s")

# Halve the step until the answer stays: the error of an order-4 method falls by 16 each time.
print("\nstep (s)   attitude error (rad) after 600 s")
fine = ph.integrate(satellite, "mkrk:gauss6", step=0.25, t_end=600.0, every=2400, **start)
for step in (8.0, 4.0, 2.0, 1.0):
    run = ph.integrate(satellite, "mkrk:gauss4", step=step, t_end=600.0, every=10_000, **start)
    error = ph.rotation.angle_between(run.attitude.values[-1], fine.attitude.values[-1])
    print(f"{step:8.2f}   {float(error):.1e}")
