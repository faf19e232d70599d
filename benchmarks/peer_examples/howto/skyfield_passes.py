"""Passes over a station, with Skyfield."""

from skyfield.api import EarthSatellite, load, wgs84

times = load.timescale(builtin=True)
iss = EarthSatellite(
    "1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927",
    "2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537",
    "ISS (ZARYA)", times,
)  # fmt: skip
station = wgs84.latlon(48.1, 11.3)
t, events = iss.find_events(station, iss.epoch, iss.epoch + 1.0, altitude_degrees=10.0)
edges = [1440 * (one - iss.epoch) for one, event in zip(t, events, strict=True) if event != 1]
print(f"{len(edges) // 2} passes above 10 degrees; the first from {edges[0]:.1f} to {edges[1]:.1f} minutes")
