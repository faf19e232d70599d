"""Write ``earlier.zip``: files of runs by an earlier version, which the present one reads, repeats and completes.

    python write.py FOLDER_OF_A_CHECKOUT earlier.zip

FOLDER_OF_A_CHECKOUT holds the sources of commit e5d2622, the last one before potentials beside loads acted; the files
that are kept are its. One netCDF file and one store of every builder, a store cut in mid-run, an ensemble, a sweep, and
the scenarios of ``examples`` with a hundredth of their spans.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent


def runs(ph):
    """Name: system, method, the words of the run."""
    import laws
    import numpy as np

    earth = ph.planets.EARTH
    spin = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.3, -0.2, 1.1)}
    place = {"position": (1.0, 0.5, -0.3), "velocity": (0.0, 0.7, 0.2)}
    orbit = {"position": (7.0e6, 0.0, 1e5), "velocity": (0.0, 7500.0, 300.0)}
    slow = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.01, -0.02, 0.03)}
    wheels = ph.reaction_wheels(np.eye(3), 0.05, speed=(10.0, 0.0, -5.0), viscous=1e-4)
    plates = [ph.plate(2.0, (1.0, 0.0, 0.0), position=(0.0, 0.3, 0.1), drag_coefficient=2.2)]
    air = {"density": 1e-11, "scale": 5e4, "radius": 6.6e6}
    lattice = ph.initial.cubic(3, spacing=1.3).state
    return {
        "particle": (ph.particle(2.0, potential=laws.spring, force=laws.wind, parameters=[1.5]), "mkrk:gauss4",
                     {"step": 0.05, "steps": 60, **place}),
        "free_body": (ph.free_body((1.0, 2.0, 2.5)), "exact", {"step": 0.1, "steps": 60, **spin}),
        "rigid_body": (ph.rigid_body((1.0, 2.0, 2.5), torque=laws.torque, parameters=[0.05], wheels=wheels),
                       "mkrk:cv8", {"step": 0.05, "steps": 60, **spin}),
        "rigid_body_reported": (ph.rigid_body((1.0, 2.0, 2.5), torque=laws.torque, potential=laws.reported,
                                              parameters=[0.05]), "mkrk:dp8",
                                {"step": 0.05, "steps": 60, **spin}),
        "rigid_body_well": (ph.rigid_body((1.0, 2.0, 2.5), potential=laws.well), None,
                            {"steps": ph.Tolerance(1e-10), "t_end": 3.0, **spin}),
        "heavy_top": (ph.heavy_top((5.0, 4.0, 3.0), (0.1, 0.0, 1.0), weight=20.0), "rkn6_14a",
                      {"step": 0.02, "steps": 60, **spin}),
        "gravity_gradient": (ph.gravity_gradient((5.0, 4.0, 3.0), earth.mu, 7e6), "v2",
                             {"step": 10.0, "steps": 60, **slow}),
        "soft_wall": (ph.soft_wall(), "imid", {"step": 0.05, "steps": 60, **spin}),
        "orbit": (ph.orbit(earth.mu, 100.0, forces=[ph.forces.zonal(**earth.zonal),
                                                   ph.forces.thrust(1e-3, "velocity", start=100.0, stop=400.0)]),
                  "rkn6_14a/kepler", {"step": 30.0, "steps": 60, "events": ["node"], **orbit}),
        "orbit_ending": (ph.orbit(earth.mu, surface=6.4e6), "v2/kepler",
                         {"step": 10.0, "steps": 200, "position": (7e6, 0, 0), "velocity": (0.0, 6000.0, 0.0)}),
        "orbit_falling": (ph.orbit(earth.mu), "v2/kepler",
                          {"step": 10.0, "steps": 80, "position": (7e6, 0, 0), "velocity": (0.0, 6000.0, 0.0)}),
        "spacecraft": (ph.spacecraft((10.0, 12.0, 14.0), earth.mu, 50.0, forces=[ph.forces.zonal(**earth.zonal)],
                                     wheels=wheels,
                                     controllers=[ph.controller(laws.pointing, 0.5, "wheel_command", limit=0.2)]),
                       "v2/kepler", {"step": 0.5, "steps": 60, **orbit, **slow}),
        "spacecraft_in_air": (ph.spacecraft((10.0, 12.0, 14.0), earth.mu, 50.0, plates=plates, atmosphere=air),
                              "mkrk:dp8", {"step": 5.0, "steps": 60, **orbit, **slow}),
        "spacecraft_pulsed": (ph.spacecraft((10.0, 12.0, 14.0), earth.mu, 50.0,
                                            pulsed_thrusters=ph.pulsed_thrusters(
                                                0.5, [(0, 1, 0), (0, -1, 0)], 1.0, positions=[(0, 0, 1), (0, 0, 1)]),
                                            controllers=[ph.controller(laws.valves, 1.0, "thruster_command")]),
                              "mkrk:cv8", {"step": 0.5, "steps": 60, **orbit, **slow}),
        "gravitating_bodies": (ph.gravitating_bodies(mass=[1.0, 1e-3, 3e-4], G=39.47841760435743), "sbab5/kepler",
                               {"step": 0.05, "steps": 60,
                                "position": [(0, 0, 0), (5.2, 0, 0), (0, 9.5, 0.3)],
                                "velocity": [(0, 0, 0), (0, 2.75, 0), (-2.03, 0, 0)]}),
        "dipoles": (ph.dipoles(27), "baoab:temperature=1.2:friction=0.5:seed=1",
                    {"step": 0.002, "steps": 40, "every": 20, **lattice}),
        "rigid_water": (ph.rigid_water(27), "v2", {"step": 0.0005, "steps": 40, "every": 20,
                                                   **ph.initial.cubic(3, spacing=0.31).state}),
    }  # fmt: skip


def shortened(ph, path):
    """The run of a scenario to a hundredth of its end, or the first part of it that whole steps reach."""
    text = path.read_text()
    for part in (100.0, 50.0, 10.0, 5.0, 1.0):
        path.write_text(re.sub(r"^(t_end\w* = )([0-9.e+]+)", partial(_shorter, part), text, flags=re.M))
        with suppress(ph.errors.InvalidInput):
            scenario = ph.read_scenario(path, allow_code=True)
            return ph.ensemble_of(scenario).isel(member=range(4)) if "[members]" in text else scenario.integrate()
    raise RuntimeError(f"{path.name} does not run")


def _shorter(part, found):
    return f"{found[1]}{float(found[2]) / part!r}"


def write(folder):
    """Everything, with the version that is imported."""
    import warnings

    import polhode as ph

    warnings.simplefilter("ignore")
    for name, (system, method, words) in runs(ph).items():
        words = {"every": 10, **words}
        ph.integrate(system, method, **words).to_netcdf(folder / f"{name}.nc")
        ph.integrate(system, method, **words, store=folder / f"{name}.zarr")

    def cut(progress):
        if progress.done > 4000:
            raise KeyboardInterrupt

    system, method, words = runs(ph)["spacecraft"]
    words = {**words, "steps": 12_000, "every": 3000, "store": ph.Store(folder / "cut.zarr", checkpoint_seconds=0.01)}
    whole = {key: value for key, value in words.items() if key != "store"}
    ph.integrate(system, method, **whole).to_netcdf(folder / "cut.nc")
    with suppress(ph.errors.Interrupted):
        ph.integrate(system, method, **words, progress=cut)
    top = ph.heavy_top((5.0, 4.0, 3.0), (0.1, 0.0, 1.0), weight=20.0)
    members = {"angular_velocity": [(0.3, -0.2, 1.1), (0.3, -0.2, 5.0)], "weight": [20.0, 19.0]}
    ph.ensemble(top, "rkn6_14a", step=0.02, steps=60, every=20, members=members).to_netcdf(folder / "ensemble.nc")
    scenarios = folder / "scenarios"
    for path in sorted(scenarios.glob("*.toml")):
        ds = shortened(ph, path).isel(time=[0, -1])
        ds.to_netcdf(folder / f"of_{path.stem}.nc")
    study = scenarios / "study.toml"
    study.write_text((scenarios / "slow-top.toml").read_text())
    ph.sweep(study, {"grid": {"run.step": [0.05, 0.025, 0.02]}}, store=folder / "study-sweep.zarr")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.path.insert(0, str(HERE))
        write(Path(sys.argv[1]))
        sys.exit()
    checkout, target = map(Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(checkout / "examples", folder / "scenarios", ignore=shutil.ignore_patterns("gallery", "sweeps"))
        subprocess.run(
            [sys.executable, __file__, made], env={**os.environ, "PYTHONPATH": str(checkout / "src")}, check=True
        )
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    archive.write(path, path.relative_to(folder))
