"""A long run of liquid water at constant energy: does the energy drift, and does each kind of motion have its share?

    python benchmarks/water.py [--molecules 1000] [--steps 100000] [--step 0.001] [--method v2] [--threads 1]

SPC/E at 997 kg/m3: 20 ps in a Langevin bath at 300 K, then so many steps without a bath. Prints the slope of the total
energy with the standard error of its estimator (least squares; the error from the slopes of batches, see
``polhode.trajectory.observables.drift``), the temperatures of translation and of rotation with standard errors by block
averages, which must agree, the pressure, and what a step costs.
"""

from __future__ import annotations

import argparse

import numpy as np

import polhode as ph


def averaged(series):
    """Mean of a variable and its standard error by block averages."""
    found = ph.trajectory.observables.block_error(series)
    return float(found["mean"]), float(found.error)


def main() -> None:
    """Equilibrate, run, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--molecules", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--step", type=float, default=0.001, help="ps")
    parser.add_argument("--method", default="v2")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--warm-up", type=float, default=20.0, help="ps in the bath")
    chosen = parser.parse_args()

    n = chosen.molecules
    system = ph.rigid_water(n, density=997.0)
    cells = round(np.ceil(n ** (1 / 3)))
    sites = ph.initial.cubic(cells, spacing=float(system.box[0]) / cells, noise=0.02, seed=1).state["position"][:n]
    start = {"position": sites, **ph.initial.random_rotations(n, seed=2)}
    bath = ph.integrate(
        system, ph.methods.baoab(temperature=300.0, friction=2.0, seed=3), step=0.002,
        steps=round(chosen.warm_up / 0.002), every=500, settings={"threads": chosen.threads}, **start,
    )  # fmt: skip
    last = bath.isel(time=-1)
    start = {name: last[name].values for name in ("position", "attitude", "momentum", "angular_momentum")}
    # The bath has given the whole a momentum, which no motion of the molecules can take up.
    start["momentum"] = start["momentum"] - start["momentum"].mean(axis=0)
    ds = ph.integrate(
        system, chosen.method, step=chosen.step, steps=chosen.steps, every=max(1, chosen.steps // 2000),
        settings={"threads": chosen.threads}, **start,
    )  # fmt: skip
    slope = ph.trajectory.observables.drift(ds)
    translation, rotation = averaged(ds.temperature_translational), averaged(ds.temperature_rotational)
    difference = averaged(ds.temperature_translational - ds.temperature_rotational)
    pressure = averaged(ds.pressure)
    print(f"{n} molecules, {chosen.steps} steps of {chosen.step * 1000:g} fs, {chosen.method}")
    print(f"energy slope {float(slope.slope):.3g} +- {float(slope.slope_error):.3g} kJ/mol per ps "
          f"({int(slope.batches)} batches of {int(slope.batch_rows)} rows)")  # fmt: skip
    print(f"temperature of translation {translation[0]:8.3f} +- {translation[1]:.3f} K")
    print(f"temperature of rotation    {rotation[0]:8.3f} +- {rotation[1]:.3f} K")
    print(f"difference                 {difference[0]:8.3f} +- {difference[1]:.3f} K")
    print(f"pressure {pressure[0] * 1.66053907:.2f} +- {pressure[1] * 1.66053907:.2f} MPa")
    kinetic = float(ds.kinetic_energy.mean())
    print(f"energy: standard deviation {float(ds.energy.std()):.4g}, largest change "
          f"{float(abs(ds.energy_change).max()):.4g}, mean kinetic energy {kinetic:.6g} kJ/mol")  # fmt: skip
    print(f"{ds.encoding['seconds'] / chosen.steps * 1e3:.3f} ms a step, {ds.encoding['seconds']:.0f} s in all")


if __name__ == "__main__":
    main()
