"""Molecular dynamics files of trajectories of many bodies: extended XYZ, GSD, LAMMPS dump.

========== ======================== ============================= ==========================
.          extended XYZ             GSD (schema of HOOMD)         LAMMPS dump
========== ======================== ============================= ==========================
numbers    full double precision    32 bits                       full double precision
positions  unwrapped, or centres    wrapped into [-L/2, L/2),     wrapped into [0, L), image
           of bodies in [0, L)      image flags                   flags
attitude   ``quaternion``           ``orientation``               ``c_q[1]`` ... ``c_q[4]``
rotation   ``angular_momentum``,    ``angmom``, the quaternion    ``angmomx`` ..., in space
           body frame               2 q (0, L)
dipole     ``dipoles``, in space    none                          ``mux`` ..., in space, ``mu``
energies   keys of the frame        ``log``, 64 bits              none
========== ======================== ============================= ==========================

Quaternions are polhode's: scalar first, body to space, signs unchanged. Coordinates are not shifted: a wrapped position
x and its image flags give the position of the trajectory, x + image L.

**Sites.** Molecules may be written as atoms: a site s of a body at r with attitude q is an atom at r + R(q) s with the
velocity v + R(q) (omega x s). The atoms of a body are consecutive; they have no attitude. Sites are those of the
trajectory (``site_position`` with the coordinate ``site``, whose trailing digits are dropped to get the element, and
``site_mass``, ``site_charge``) unless given; ``sites=False`` writes bodies.

**Masses and moments of inertia** are those of the trajectory (``mass``, ``inertia``) where it has them, else computed
from momenta and velocities.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from polhode.algebra import rotation
from polhode.arguments import (
    UNKNOWN,
    Array,
    ArrayLike,
    Indices,
    array,
    path as checked_path,
    squares,
    truth,
    whole as whole_number,
)
from polhode.errors import InvalidInput, answering, shown
from polhode.lazy import extra
from polhode.trajectory.files import appearing_whole
from polhode.trajectory.schema import WIDTHS, trajectory

__all__ = ["extended_xyz", "gsd", "lammps_dump"]

CONSTANT = 1e-9  # relative residual of the angular momentum up to which computed moments of inertia are accepted
BOX_MARGIN = 1.01  # factor by which the default box of bodies in free space exceeds the smallest possible one
SINGLE = 1e38  # most that a number of 32 bits may be
MARGIN = 1e-4  # margin of shrink-wrapped bounds on each side, as a fraction of the extent


class Particles(NamedTuple):
    """The particles to write, bodies or sites: n of them in T rows."""

    times: Array  # times, steps: (T,): times, and step numbers for formats that count steps
    steps: Indices
    box: Array | None  # (3,) or None: edges of the periodic box
    position: Array  # position, velocity: (T, n, 3): space frame; positions may be unwrapped
    velocity: Array
    attitude: Any  # (T, n, 4) or None: scalar first, body to space
    spin: Any  # (T, n, 3) or None: angular momentum, body frame
    dipole: Any  # (T, n, 3) or None: space frame
    mass: Array | None  # mass, charge: (n,) or None: none if unknown
    charge: Array | None
    inertia: Any  # (n, 3) or None: principal moments; zero where unknown
    species: list[str]  # species of each particle
    body: Indices  # (n,): index of the body that each particle is or belongs to
    numbers: dict[str, Any]  # (T,): other scalar time series of the trajectory


@answering
def extended_xyz(
    ds: xr.Dataset, path: str | os.PathLike[str], *, every: int = 1, wrap: bool = False,
    species: str | Sequence[str] = "X", sites: object = None, mass: ArrayLike | None = None,
) -> Path:  # fmt: skip
    """Write rows as extended XYZ, which ASE, OVITO and most others read.

    Columns ``species``, ``pos`` and ``velo``; where known ``masses``, ``initial_charges``, ``quaternion`` (w, x, y, z,
    body to space), ``angular_momentum`` (body frame) and ``dipoles`` (space); for sites ``body``, the index of their
    body. Keys of a frame: ``time``, ``step``, all scalars of the trajectory that depend on time alone, with ``energy``
    as ``total_energy`` (readers take ``energy`` for the potential energy), and the total ``dipole``.

    Parameters
    ----------
    ds : xarray.Dataset
        A trajectory of bodies that translate.
    path : path
        File to write; its folder is created if missing.
    every : int
        Write every n-th row.
    wrap : bool
        Wrap whole bodies into the box so that their centres of mass are in [0, L); else positions are unwrapped, as
        mean-square displacements need them.
    species : str or sequence of str
        Species of all bodies, or of each. "X" is not an element, but readers accept it.
    sites : sequence of (str, array_like (3,)), False or None
        Names and positions (body frame) of the sites of every body; False writes bodies; None: as in the trajectory.
    mass : array_like, optional
        Mass of each body, or with sites of each site of a body.

    Raises
    ------
    InvalidInput
        A wrong argument, by name; a trajectory without positions, or with values that are not finite.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> water, state = ph.rigid_water(64, density=997.0), ph.initial.cubic(4, spacing=0.31).state
    >>> ds = ph.integrate(water, step=1e-4, steps=10, every=5, start=state)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(ph.trajectory.export.extended_xyz(ds, f"{folder}/w.xyz").read_text().splitlines()[0])
    192
    """
    found = _particles(ds, every, species, sites, mass, None, wrap)
    columns = {
        "pos": found.position, "velo": found.velocity, "masses": _column(found.mass),
        "initial_charges": _column(found.charge), "quaternion": found.attitude,
        "angular_momentum": found.spin if found.attitude is not None else None, "dipoles": found.dipole,
    }  # fmt: skip
    columns = {name: values for name, values in columns.items() if values is not None}
    head = "species:S:1:" + "".join(f"{name}:R:{values.shape[-1]}:" for name, values in columns.items())
    of_sites = len(found.body) != found.body[-1] + 1
    head += "body:I:1:" if of_sites else ""
    n = len(found.species)
    lattice, periodic = "", "F F F"
    if found.box is not None:
        lattice, periodic = 'Lattice="{!r} 0.0 0.0 0.0 {!r} 0.0 0.0 0.0 {!r}" '.format(*found.box.tolist()), "T T T"
    target = Path(checked_path(path))
    with appearing_whole(target) as draft, draft.open("w", encoding="ascii", newline="\n") as file:
        for k in range(len(found.times)):
            keys = {"time": float(found.times[k]), "step": int(found.steps[k])}
            keys |= {name: values[k].item() for name, values in found.numbers.items()}
            words = " ".join(
                f"{'total_energy' if name == 'energy' else name}={value!r}" for name, value in keys.items()
            )
            if found.dipole is not None:
                words += ' dipole="{!r} {!r} {!r}"'.format(*found.dipole[k].sum(axis=0).tolist())
            file.write(f'{n}\n{lattice}Properties={head[:-1]} pbc="{periodic}" {words}\n')
            block = _texts(np.concatenate([_of_row(values, k) for values in columns.values()], axis=1))
            tail = [f" {i}" for i in found.body.tolist()] if of_sites else [""] * n
            file.writelines(f"{a} {b}{c}\n" for a, b, c in zip(found.species, block, tail, strict=True))
    return target


@answering
def lammps_dump(
    ds: xr.Dataset, path: str | os.PathLike[str], *, every: int = 1, species: str | Sequence[str] = "X",
    sites: object = None, mass: ArrayLike | None = None,
) -> Path:  # fmt: skip
    """Write rows as a text dump of LAMMPS (``dump custom``), which ASE, MDAnalysis, OVITO and ``read_dump`` read.

    Columns ``id type element x y z ix iy iz vx vy vz``; where known ``mass`` and ``q``; ``c_q[1]`` to ``c_q[4]``, the
    quaternion as in LAMMPS (w, i, j, k, body to space), ``angmomx angmomy angmomz`` (space), ``mux muy muz mu``
    (space, and its magnitude); for sites ``mol``, the index of their body from 1. Types number the species from 1 in
    order of appearance. A periodic box is [0, L); free space has bounds shrink-wrapped around each row. TIMESTEP is the
    time over the step of the run where all times are multiples of it, else the row number.

    Parameters
    ----------
    ds, path, every, species, sites, mass
        As for ``extended_xyz``.

    Raises
    ------
    InvalidInput, FileProblem
        As ``extended_xyz``.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> water, state = ph.rigid_water(64, density=997.0), ph.initial.cubic(4, spacing=0.31).state
    >>> ds = ph.integrate(water, step=1e-4, steps=10, every=5, start=state)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(ph.trajectory.export.lammps_dump(ds, f"{folder}/w.dump").read_text().splitlines()[3])
    192
    """
    particles = _particles(ds, every, species, sites, mass, None)
    n = len(particles.species)
    kinds = list(dict.fromkeys(particles.species))
    of_sites = n != particles.body[-1] + 1
    labels = [
        f"{i + 1} " + (f"{body + 1} " if of_sites else "") + f"{kinds.index(name) + 1} {name} "
        for i, (name, body) in enumerate(zip(particles.species, particles.body.tolist(), strict=True))
    ]
    q, mu = particles.attitude, particles.dipole
    columns = {
        "vx vy vz": particles.velocity, "mass": _column(particles.mass), "q": _column(particles.charge),
        "c_q[1] c_q[2] c_q[3] c_q[4]": q,
        "angmomx angmomy angmomz": None if q is None else rotation.rotate(q, particles.spin),
        "mux muy muz": mu, "mu": None if mu is None else np.linalg.norm(mu, axis=-1, keepdims=True),
    }  # fmt: skip
    columns = {name: values for name, values in columns.items() if values is not None}
    names = " ".join(["id mol" if of_sites else "id", "type element x y z ix iy iz", *columns])
    target = Path(checked_path(path))
    with appearing_whole(target) as draft, draft.open("w", encoding="ascii", newline="\n") as file:
        for k in range(len(particles.times)):
            if particles.box is None:
                xyz, image = particles.position[k], np.zeros((n, 3), dtype=int)
                low, high = xyz.min(axis=0), xyz.max(axis=0)
                margin = np.where(high > low, MARGIN * (high - low), 0.5)
                bounds, style = np.column_stack([low - margin, high + margin]), "ss ss ss"
            else:
                xyz, image = _wrapped(particles.position[k], particles.box, np.zeros(3))
                bounds, style = np.column_stack([np.zeros(3), particles.box]), "pp pp pp"
            file.write(f"ITEM: TIMESTEP\n{particles.steps[k]}\nITEM: NUMBER OF ATOMS\n{n}\nITEM: BOX BOUNDS {style}\n")
            file.writelines(f"{a!r} {b!r}\n" for a, b in bounds.tolist())
            file.write(f"ITEM: ATOMS {names}\n")
            positions = _texts(xyz)
            images = ["{} {} {}".format(*row) for row in image.tolist()]
            others = _texts(np.concatenate([_of_row(values, k) for values in columns.values()], axis=1))
            file.writelines(f"{a}{b} {c} {d}\n" for a, b, c, d in zip(labels, positions, images, others, strict=True))
    return target


@answering
def gsd(
    ds: xr.Dataset, path: str | os.PathLike[str], *, every: int = 1, species: str | Sequence[str] = "A",
    sites: object = None, mass: ArrayLike | None = None, inertia: ArrayLike | None = None, box: ArrayLike | None = None,
) -> Path:  # fmt: skip
    """Write rows as a GSD file of the ``hoomd`` schema, which HOOMD-blue, freud and OVITO read.

    Particle data have 32 bits, about 7 digits: enough for pictures and as the initial state of a HOOMD run, not for
    continuing a run here. Orientations are scalar first. The angular momentum is the quaternion P = 2 q (0, L) of the
    body-frame angular momentum L [kamberaj2005]. ``log`` has ``time`` and all scalars of the trajectory that depend on
    time alone, with 64 bits.

    Parameters
    ----------
    ds, path, every, species, sites, mass
        As for ``extended_xyz``; masses must be known.
    inertia : array_like (3,) or (N, 3), optional
        Principal moments of the bodies. Unless given or in the trajectory they are computed from angular momenta and
        velocities. They are zero, which HOOMD takes for a body that does not rotate, if that is impossible: the axes
        of the body are not principal, or it never rotates about one of them.
    box : array_like (3,), optional
        Edges of the box that the schema requires, for a trajectory in free space; default 1.01 times the smallest that
        contains all rows.

    Raises
    ------
    InvalidInput
        As ``extended_xyz``; unknown masses; a box for a trajectory that already has one, or one too small.
    MissingExtra
        The package ``gsd`` is not installed.
    FileProblem
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import polhode as ph
    >>> water, state = ph.rigid_water(64, density=997.0), ph.initial.cubic(4, spacing=0.31).state
    >>> ds = ph.integrate(water, step=1e-4, steps=10, every=5, start=state)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ph.trajectory.export.gsd(ds, f"{folder}/w.gsd", sites=False).name
    'w.gsd'
    """
    hoomd = extra("gsd.hoomd", "for GSD files the package gsd is needed; pip install 'polhode[md]'")
    found = _particles(ds, every, species, sites, mass, inertia)
    if found.mass is None:
        raise InvalidInput(
            "mass is missing; the trajectory does not tell it, and a GSD file would say 1, so give mass="
        )
    edges = _edges(found, box)
    large = {"mass": found.mass, "inertia": found.inertia, "box": edges, "charge": found.charge,
             "position": found.position, "attitude": found.attitude, "velocity": found.velocity,
             "momentum": found.spin}  # fmt: skip
    for what, values in large.items():
        if values is not None and values.size and np.abs(values).max() > SINGLE:
            raise InvalidInput(f"{what} has entries beyond {SINGLE:g}, which the 32 bits of a GSD file do not hold; "
                               "choose other units")  # fmt: skip
    kinds = list(dict.fromkeys(found.species))
    numbers = {name: np.asarray(values, dtype=float) for name, values in found.numbers.items()}
    target = Path(checked_path(path))
    with appearing_whole(target) as draft, hoomd.open(draft, "w") as file:
        for k in range(len(found.times)):
            frame = hoomd.Frame()
            frame.configuration.step = int(found.steps[k])
            frame.configuration.box = [*edges.tolist(), 0.0, 0.0, 0.0]
            particles = frame.particles
            particles.N = len(found.species)
            particles.types = kinds
            particles.typeid = [kinds.index(name) for name in found.species]
            particles.position, particles.image = _wrapped_single(found.position[k], edges)
            particles.velocity = found.velocity[k].astype(np.float32)
            particles.mass = found.mass.astype(np.float32)
            if found.charge is not None:
                particles.charge = found.charge.astype(np.float32)
            if found.attitude is not None:
                q = found.attitude[k]
                pure = np.concatenate([np.zeros((len(q), 1)), found.spin[k]], axis=1)
                particles.orientation = q.astype(np.float32)
                particles.angmom = (2.0 * rotation.multiply(q, pure)).astype(np.float32)
                particles.moment_inertia = found.inertia.astype(np.float32)
            frame.log["time"] = np.array([found.times[k]])
            for name, values in numbers.items():
                frame.log[name] = values[k : k + 1]
            file.append(frame)
    return target


# ------------------------------------------------------------------ data from the trajectory
def _particles(
    ds: xr.Dataset, every: int, species: object, sites: Any, mass: ArrayLike | None, inertia: ArrayLike | None,
    wrap: bool = False,
) -> Particles:  # fmt: skip
    """Bodies or sites of every ``every``-th row; with ``wrap`` the bodies' centres are in [0, L)."""
    with_rows(ds)
    every, wrap = whole_number(every, "every", 1), truth(wrap, "wrap")
    whole, ds = ds, ds.isel(time=slice(None, None, every))
    position, velocity = of_bodies(ds, "position"), of_bodies(ds, "velocity")
    turns = "attitude" in ds
    attitude = of_bodies(ds, "attitude") if turns else None
    spin = of_bodies(ds, "angular_momentum") if turns else None
    N = position.shape[1]
    box = box_of(ds)
    if wrap:
        if box is None:
            raise InvalidInput("wrap=True needs a periodic box, but the trajectory is in free space; leave it out")
        position = _wrapped(position, box, np.zeros(3))[0]
    times = np.asarray(ds["time"].values, dtype=float)
    numbers = {
        str(name): np.asarray(ds[name].values)
        for name in ds.data_vars
        if ds[name].dims == ("time",) and ds[name].dtype.kind in "fi" and name not in ("mass", "step")
    }
    common: dict[str, Any] = {"times": times, "steps": _steps(ds, times), "box": box, "numbers": numbers}
    site_data = None if sites is False else _sites(ds, sites)
    if site_data is None:
        if not isinstance(species, str | list | tuple):
            raise InvalidInput(f"species must be a name, or a list of one for each body, not {shown(species)}")
        names = [species] * N if isinstance(species, str) else list(species)
        if len(names) != N:
            raise InvalidInput(f"species has {len(names)} names for {N} bodies; give one for all or one for each")
        moving = spin is not None
        return Particles(
            **common, position=position, velocity=velocity, attitude=attitude, spin=spin,
            dipole=body_dipoles(ds) if moving and "dipole" in ds else None, mass=_masses(whole, N, mass), charge=None,
            inertia=_moments(whole, N, inertia) if moving else None, species=[_name(name) for name in names],
            body=np.arange(N),
        )  # fmt: skip
    if attitude is None:
        raise InvalidInput("this trajectory has no attitude, so its bodies have no sites; leave sites out")
    labels, site_positions, masses, charges = site_data
    masses = masses if mass is None else _shaped(mass, "mass", (len(labels),))
    omega = of_bodies(ds, "angular_velocity")
    q, T, S = attitude[:, :, None], len(times), len(labels)
    positions = position[:, :, None] + rotation.rotate(q, site_positions)
    velocities = velocity[:, :, None] + rotation.rotate(q, np.cross(omega[:, :, None], site_positions))
    return Particles(
        **common, position=positions.reshape(T, N * S, 3), velocity=velocities.reshape(T, N * S, 3), attitude=None,
        spin=None, dipole=None, mass=None if masses is None else np.tile(masses, N),
        charge=None if charges is None else np.tile(charges, N), inertia=None,
        species=[_name(name) for name in labels] * N, body=np.repeat(np.arange(N), S),
    )  # fmt: skip


def with_rows(ds: xr.Dataset) -> xr.Dataset:
    """The trajectory of one run, checked: it has rows."""
    if "time" not in trajectory(ds, "time").dims:
        raise InvalidInput("this Dataset has no dimension time; take several rows of a run, ds.isel(time=slice(...))")
    found: xr.Dataset = ds
    if not found.sizes["time"]:
        raise InvalidInput("the trajectory has no rows; take some of them")
    return found


def stated(ds: xr.Dataset, name: str, *layouts: tuple[str, ...]) -> Array:
    """A variable as real numbers, along the one of these layouts that it has."""
    variable = ds[name].variable
    for layout in layouts:
        if set(layout) == set(variable.dims):
            if variable.dtype.kind not in "fiu":
                raise InvalidInput(f"{name} holds {variable.dtype}, no real numbers; take the Dataset of a run")
            return np.asarray(variable.transpose(*layout).values, dtype=float)
    has, known = ", ".join(map(str, variable.dims)), " or ".join(f"({', '.join(layout)})" for layout in layouts)
    raise InvalidInput(f"{name} has the dimensions ({has}), but here it must have {known}; take the Dataset of a run, "
                       "and of several members one: ds.isel(member=0)")  # fmt: skip


def box_of(ds: xr.Dataset) -> Array | None:
    """Edges (3,) of the periodic box, None in free space."""
    if "box" not in ds:
        return None
    box = stated(ds, "box", ("axis",))
    if not ((box > 1.0 / MOST_EDGE) & (box < MOST_EDGE)).all():
        raise InvalidInput(f"box is {box.tolist()}; its edges must be finite and positive")
    return box


def of_bodies(ds: xr.Dataset, name: str) -> Array:
    """Return a variable of all bodies as a finite array (time, body, components)."""
    if name not in with_rows(ds):
        has = "do not turn" if name in ("attitude", "angular_momentum", "angular_velocity") else "do not move"
        raise InvalidInput(f"this trajectory has no {name}: the bodies it describes {has}")
    last = WIDTHS[name][0]
    values = stated(ds, name, ("time", "body", last), *((("time", last),) if "body" not in ds.dims else ()))
    values = values if values.ndim == 3 else values[:, None]
    if not values.shape[1]:
        raise InvalidInput("this trajectory has no bodies; take that of some")
    wrong = np.flatnonzero(~np.isfinite(values).all(axis=(1, 2)))
    if wrong.size:
        raise InvalidInput(f"{name} is not finite in row {wrong[0]}; leave such rows out: ds.isel(time=slice(...))")
    return squares(values, name)


def body_dipoles(ds: xr.Dataset, dipole: ArrayLike | None = None) -> Array:
    """Dipoles of all bodies in the space frame, (time, body, 3)."""
    q = of_bodies(ds, "attitude")
    if dipole is None:
        if "dipole" not in ds:
            raise InvalidInput("dipole is missing; the trajectory has none, give that of a body, such as (0, 0, 1)")
        dipole = stated(ds, "dipole", ("body", "axis"), ("axis",))
    return rotation.rotate(q, _shaped(dipole, "dipole", (q.shape[1], 3)))


def _shaped(value: ArrayLike, name: str, shape: tuple[int, ...], unit: str = UNKNOWN) -> Array:
    """Finite numbers broadcast to this shape."""
    given = array(value, name, unit)
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise InvalidInput(f"{name} must be numbers of the shape {shape}, but has the shape {given.shape}") from None


def _sites(ds: xr.Dataset, sites: Any) -> tuple[list[str], Array, Array | None, Array | None] | None:
    """Names, positions, masses and charges of the sites of a body, or None where it has none."""
    if sites is None:
        if "site_position" not in ds:
            return None
        positions = stated(ds, "site_position", ("site", "axis"))
        names = [str(name).rstrip("0123456789") or "X" for name in ds["site"].values]
        mass, charge = (stated(ds, v, ("site",)) if v in ds else None for v in ("site_mass", "site_charge"))
        return names, positions, mass, charge
    pairs: list[Any] = []
    try:
        pairs = list(sites.items()) if isinstance(sites, Mapping) else list(sites)
        names = [name for name, _ in pairs]
        positions = _shaped([list(xyz) for _, xyz in pairs], "sites", (len(pairs), 3))
    except Exception:  # user objects may raise anything when iterated
        pairs = []
    if not pairs:
        raise InvalidInput("sites must be pairs of a name and a place, such as [('O', (0, 0, 0)), ('H', (0, 0.1, 0))]")
    return names, positions, None, None


def _name(value: object) -> str:
    """A species name, checked: one word of printable ASCII."""
    if not isinstance(value, str) or not value or not value.isascii() or not value.isprintable() or " " in value:
        raise InvalidInput(f"species must be words of ASCII letters, not {shown(value)}")
    return value


def _masses(ds: xr.Dataset, N: int, given: ArrayLike | None) -> Array | None:
    """Masses of the bodies (N,), or None unless all are given or can be computed from momenta and velocities."""
    if given is not None:
        return _shaped(given, "mass", (N,))
    if "mass" in ds and "time" not in ds["mass"].dims:
        return np.broadcast_to(stated(ds, "mass", ("body",), ()), (N,))
    p, v = (np.linalg.norm(of_bodies(ds, name), axis=2) for name in ("momentum", "velocity"))
    fastest, bodies = v.argmax(axis=0), np.arange(N)
    if not v[fastest, bodies].all():
        return None
    return np.array([float(f"{m:.15g}") for m in p[fastest, bodies] / v[fastest, bodies]])


def _moments(ds: xr.Dataset, N: int, given: ArrayLike | None) -> Array:
    """Principal moments of the bodies (N, 3), zero for bodies whose moments the trajectory does not determine."""
    if given is None and "inertia" in ds and set(ds["inertia"].dims) <= {"body", "axis"}:
        given = stated(ds, "inertia", ("body", "axis"), ("axis",))
    if given is not None:
        return _shaped(given, "inertia", (N, 3))
    spin, omega = of_bodies(ds, "angular_momentum"), of_bodies(ds, "angular_velocity")
    fastest = np.abs(omega).argmax(axis=0)[None]
    with np.errstate(divide="ignore", invalid="ignore"):
        moments = (np.take_along_axis(spin, fastest, 0) / np.take_along_axis(omega, fastest, 0))[0]
    rest = np.abs(spin - moments * omega).max(axis=0)
    known = (rest <= CONSTANT * np.abs(spin).max(axis=(0, 2))[:, None]).all(axis=1) & np.isfinite(moments).all(axis=1)
    rounded = np.array([float(f"{m:.15g}") for m in moments.ravel()]).reshape(N, 3)
    return np.where(known[:, None], rounded, 0.0)


def _steps(ds: xr.Dataset, times: Array) -> Indices:
    """Step numbers at these times, or row numbers if the times are not multiples of the step."""
    h = ds.attrs.get("step")
    if isinstance(h, int | float | np.number) and h != 0:
        steps = times / float(h)
        whole = np.rint(steps)
        if (np.abs(steps - whole) < 1e-6).all() and (whole >= 0).all() and (np.diff(whole) > 0).all():
            return whole.astype(np.int64)
    return np.arange(len(times))


# ------------------------------------------------------------------ boxes
MOST_EDGE = 1e90  # no edge of a box is longer, nor one over it: its volume is a number
MOST_IMAGES = 2**31  # boxes from the first one that file formats can name


def _wrapped(position: Array, box: Array, low: Array) -> tuple[Array, Indices]:
    """Positions wrapped into [low, low + box), and their image flags."""
    image = np.floor((position - low) / box)
    if not (np.abs(image) < MOST_IMAGES).all():
        raise InvalidInput(
            f"position is more than {MOST_IMAGES} boxes away; leave such rows out: ds.isel(time=slice(...))"
        )
    inside = position - image * box
    over = inside >= low + box  # by rounding
    return np.where(over, low, np.maximum(inside, low)), (image + over).astype(np.int64)


def _wrapped_single(position: Array, edges: Array) -> tuple[Any, Any]:
    """Positions wrapped into [-L/2, L/2) in 32 bits, strictly below L/2 after rounding, and their image flags."""
    half = (edges.astype(np.float32) / 2).astype(np.float32)
    inside, image = _wrapped(position, edges, -edges / 2)
    rounded = inside.astype(np.float32)
    over = rounded >= half
    return np.where(over, -half, np.maximum(rounded, -half)), (image + over).astype(np.int32)


def _edges(particles: Particles, box: ArrayLike | None) -> Array:
    """Edges of the box of a GSD file."""
    if particles.box is not None:
        if box is not None:
            raise InvalidInput("box is given, but the trajectory has its own; leave it out")
        return particles.box
    least = 2.0 * np.abs(particles.position).max(axis=(0, 1))
    if box is None:
        return np.where(least > 0.0, BOX_MARGIN * least, 1.0)
    edges = np.array(_shaped(box, "box", (3,)))
    if (edges <= least).any():
        raise InvalidInput(f"box is {edges.tolist()}, but the bodies need more than {least.tolist()} around the origin")
    return edges


# ------------------------------------------------------------------ text
def _column(values: Array | None) -> Array | None:
    """Numbers of particles as a column."""
    return None if values is None else values[:, None]


def _of_row(values: Array, k: int) -> Array:
    """Values of row ``k``; arrays without a time dimension are constant."""
    return values[k] if values.ndim == 3 else values


def _texts(block: Array) -> list[str]:
    """Each row of numbers as text, in the shortest form that reads back as the same doubles."""
    return [" ".join(map(repr, line)) for line in block.tolist()]
