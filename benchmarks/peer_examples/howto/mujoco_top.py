"""A spinning top with friction, with MuJoCo: a ball joint with damping."""

import mujoco
import numpy as np

model = mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option timestep="1e-4" gravity="0 0 -10" integrator="RK4"/>
  <worldbody>
    <body quat="{np.cos(0.05)} {np.sin(0.05)} 0 0">
      <joint type="ball" damping="2e-4"/>
      <inertial pos="0 0 0.05" mass="0.2" diaginertia="0.0045 0.0045 0.001"/>
    </body>
  </worldbody>
</mujoco>
""")
data = mujoco.MjData(model)
data.qvel[:] = 0, 0, 200.0
mujoco.mj_forward(model, data)
while data.xmat[1][8] > 0.0:
    mujoco.mj_step(model, data)
print(f"its axis is level after {data.time:.3f} s")
