# ---
# section: Methods and papers
# order: 62
# caption: Carson 2005: the energy of an orbit by a variational integrator and by Runge-Kutta.
# alt: Left, the energy error over a day, one swinging and one flat; right, the largest error so far over sixty
#   days, flat or growing.
# ---
# %% [markdown]
# # Paper: does an orbit keep its energy?
#
# Carson (2005) asked whether a variational integrator, which knows mechanics, beats Runge-Kutta for orbits of
# spacecraft. Figures 7 and 8 in small: the energy of an orbit of eccentricity 1/4. The variational method swings and
# returns, for ever. Runge-Kutta of order 4 is closer by far, but sinks, revolution after revolution.

# %%
import matplotlib.pyplot as plt
import numpy as np

import polhode as ph

plt.style.use("polhode.plots.style")
ready, day = ph.systems.problem("carson_elliptic"), 86400.0
orbit = ready.build()
methods = {
    "variational_midpoint": "variational, order 2",
    "mkrk:heun": "Heun, order 2",
    "mkrk:rk4": "Runge-Kutta, order 4",
}

# %%
figure, (short, long) = plt.subplots(1, 2, figsize=(9.5, 4.2))
for k, (method, name) in enumerate(methods.items()):
    ds = ph.integrate(orbit, method, step=10.0, t_end=60 * day, every=24, start=ready.initial)
    error = (ds.energy_change / abs(ds.energy[0])).values
    first = slice(0, 361)
    if k != 1:
        short.plot(ds.time[first] / 3600, error[first], color=f"C{k}", label=name)
    worst = np.maximum.accumulate(abs(error))
    long.loglog(ds.time[1:] / day, worst[1:], color=f"C{k}", label=name)
    at = np.searchsorted(ds.time.values, (day, 60 * day))
    print(f"{name:20} largest energy error on the first day {worst[at[0]]:.0e}, in sixty days {worst[at[1]]:.0e}")
short.set(xlabel="time (h)", ylabel="energy error, relative", title="One day", ylim=(None, 4e-6))
short.legend(loc="upper right")
long.set(xlabel="time (days)", ylabel="largest energy error so far", title="Sixty days", xlim=(0.05, 60))
long.legend(loc="center right")
