"""A thousand satellites of uncertain drag, inertia and deployment: where will ours be, and how will it hang?

    python examples/monte_carlo_spacecraft_script.py

A satellite held upright by the gravity gradient, 400 km up. Its air drag is known to 20 %, its inertia to 3 %, its
attitude when it is let go to 5 degrees. One call runs all members; instead of their trajectories it returns quantiles
of what matters, which need no more memory for a million members. Draws monte_carlo_bands.png.
"""

import numpy as np

import polhode as ph
from polhode.ensembles import reductions, sampling

earth = ph.planets.EARTH
radius = 6_778e3  # m
speed = np.sqrt(earth.mu / radius)
hanging = [[0, 0, -1], [1, 0, 0], [0, -1, 0]]  # the body's x along the velocity, y against the orbit's normal, z down
air = {"air_density": ph.surroundings.exponential_air(3e-12, radius=radius, scale=59e3)}
loads = [ph.loads.central(earth.mu), ph.loads.gravity_gradient(), ph.loads.drag(Cd=2.25, area=0.8)]
craft = ph.system(ph.body("craft", 60.0, (40.0, 44.0, 5.0)), loads, surroundings=air)

varied = sampling.members(
    {
        "drag.Cd": sampling.lognormal(2.25, sigma=0.2),
        "craft.inertia": sampling.inertia((40.0, 44.0, 5.0), relative=0.03),  # kg m2; each is one that a body can have
        "attitude": sampling.attitude(hanging, sigma=np.deg2rad(5.0)),
        "angular_velocity": sampling.normal((0.0, -speed / radius, 0.0), sigma=1e-4),  # rad/s, once per orbit
    },
    1000,
    design="sobol",
    seed=1,
)


def drop(block):
    """How much the semi-major axis has shrunk, in metres."""
    return (radius - block.polhode.elements(mu=earth.mu).semi_major_axis).assign_attrs(units="m")


def tilt(block):
    """Angle between the body's z axis and the direction down, in degrees."""
    return block.polhode.pointing_error((0, 0, 1), "nadir", degrees=True)


ds = ph.ensemble(
    craft, "v2", members=varied, step=20.0, t_end=21_600.0, every=18, position=(radius, 0, 0), velocity=(0, speed, 0),
    settings={"units": "SI"},
    reduce=[
        reductions.quantiles("drop", of=drop), reductions.quantiles("tilt", of=tilt),
        reductions.extremes("tilt", of=tilt), reductions.crossings("tilt", 20.0, of=tilt),
    ],
)  # fmt: skip

print("  hours   drop (m): 5 %, median, 95 %    tilt (deg): median, 95 %, largest, whose    beyond 20 deg so far")
for row in range(0, ds.sizes["time"], 10):
    at = ds.isel(time=row)
    low, middle, high = at.drop_quantile.sel(quantile=[0.05, 0.5, 0.95]).values
    print(f"{float(at.time) / 3600:7.1f} {low:10.1f} {middle:8.1f} {high:8.1f} "
          f"{float(at.tilt_quantile.sel(quantile=0.5)):16.1f} {float(at.tilt_quantile.sel(quantile=0.95)):8.1f} "
          f"{float(at.tilt_max):8.1f} {int(at.tilt_max_member):6d} {int(at.tilt_crossed):18d}")  # fmt: skip
ph.plots.bands(ds, ["drop", "tilt"], "monte_carlo_bands.png")
