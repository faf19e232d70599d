"""Sun and outer planets for a thousand years with REBOUND's WHFast. Solar masses, au, days."""

import rebound

sun_and_planets = [
    (1.00000597682, (0, 0, 0), (0, 0, 0)),
    (9.54786104043e-4, (-3.5023653, -3.8169847, -1.5507963), (0.00565429, -0.00412490, -0.00190589)),
    (2.85583733151e-4, (9.0755314, -3.0458353, -1.6483708), (0.00168318, 0.00483525, 0.00192462)),
    (4.37273164546e-5, (8.3101420, -16.2901086, -7.2521278), (0.00354178, 0.00137102, 0.00055029)),
    (5.17759138449e-5, (11.4707666, -25.7294829, -10.8169456), (0.00288930, 0.00114527, 0.00039677)),
]
# measured: begin
sim = rebound.Simulation()
sim.G = 2.95912208286e-4
for mass, (x, y, z), (vx, vy, vz) in sun_and_planets:
    sim.add(m=mass, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
sim.move_to_com()
before = sim.energy()
sim.integrator = "whfast"
sim.integrator.corrector = 17
sim.integrator.kernel = "lazy"
sim.integrator.safe_mode = 0
sim.dt = 200.0
sim.steps(1826)
sim.synchronize()
# measured: end
sun = sim.particles[0]
result = {
    "time": sim.t,
    "position": [[p.x - sun.x, p.y - sun.y, p.z - sun.z] for p in sim.particles],
    "energy_error": abs(sim.energy() / before - 1),
}
