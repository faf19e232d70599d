"""From a run to files that flight software reads: an orbit as CCSDS OEM, a tumbling body as CCSDS AEM."""

import polhode as ph

earth = ph.planets.EARTH
r, v = ph.kepler.state(earth.mu, semi_major_axis=7078.1e3, eccentricity=0.001, inclination=1.7137)
orbit = ph.integrate(
    ph.system(ph.body("observer", 1.0), ph.loads.central(earth.mu), ph.loads.zonal(**earth.zonal)), "aba10_6_4/kepler",
    step=60.0, t_end=7200.0, position=r, velocity=v, settings={"units": "SI", "epoch": "2026-03-01T00:00:00 TDB"},
)  # fmt: skip
body = ph.integrate(
    ph.free_body((120.0, 150.0, 90.0)), step=1.0, t_end=600.0, every=10,
    angular_velocity=(0.01, 0.03, -0.02), settings={"units": "SI", "epoch": "2026-03-01T00:00:00 TDB"},
)  # fmt: skip

oem = ph.trajectory.export.oem(orbit, "observer.oem", object_name="OBSERVER", object_id="2026-001A",
                               center_name="EARTH", ref_frame="GCRF")  # fmt: skip
aem = ph.trajectory.export.aem(body, "observer.aem", object_name="OBSERVER", object_id="2026-001A", ref_frame="GCRF")
for path in (oem, aem):
    lines = path.read_text().splitlines()
    print(f"{path}: {len(lines)} lines, the last row of numbers")
    print("   ", next(line for line in reversed(lines) if line.startswith("2026")))
