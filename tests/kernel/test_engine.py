"""The engine: what is compiled when, where it is kept, and Newton's method."""

from __future__ import annotations

import dis
import json
import os
import pickle
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from math import cos, inf, nan, sin
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import polhode as ph
from polhode.algebra import so3
from polhode.kernel import cache, direct, drive, jit, layout as L, solve
from polhode.kernel.signatures import A1, f8, i8
from polhode.methods import METHODS, CompiledMethod, Method, Promises

TOP = {"attitude": (0.8, 0.6, 0.0, 0.0), "angular_velocity": (0.3, -0.2, 4.0)}


def top():
    return ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0)


# ------------------------------------------------------------------ the cache across processes
WARM = """
    import json, os
    import polhode as ph
    from polhode.kernel import drive, jit
    from polhode.kernel.many import adapt_members, march_members, potential_energies
    from polhode.methods import method

    jit.LEAVES = False

    def spin(t, q, omega, parameters):
        return (0.1 * omega[1], 0.0, parameters[0])

    def well(t, q, parameters):
        return q[1] * q[2]

    final = []
    kernels = []
    for system in (
        ph.heavy_top(inertia=(5, 5, 1), center_of_mass=(0, 0, 1), weight=20.0),
        ph.rigid_body((1, 2, 2.5), torque=spin, parameters=[0.5]),
        ph.rigid_body((1, 2, 2.5), potential=well),
    ):
        ds = ph.integrate(system, "forward_euler_m", step=0.01, steps=5, angular_velocity=(0.1, 0.2, 0.3))
        final += ds.angular_momentum.values[-1].tolist()
        kernels += system.__dict__["_compiled"].values()
    kernels += [drive.loop_for(method("forward_euler_m").prepare().step, None), potential_energies.kernel()]
    kernels += [march_members.kernel(), adapt_members.kernel()]
    root = os.environ["POLHODE_CACHE_DIR"]
    print(json.dumps({
        "final": final,
        "hits": sum(k.loaded for k in kernels),
        "misses": sum(not k.loaded for k in kernels),
        "kernels": len(kernels),
        "files": sorted(os.path.join(place, name) for place, _, names in os.walk(root) for name in names),
    }))
"""


def test_a_second_process_finds_every_kernel_and_leaves_no_file(forked, tmp_path):
    """Where nothing is left to numba, a kernel that the compiler of our own does not know ends the run."""
    cold = forked(WARM, POLHODE_CACHE_DIR=str(tmp_path))
    assert cold["misses"] == cold["kernels"] and cold["hits"] == 0
    assert cold["files"]
    warm = forked(WARM, POLHODE_CACHE_DIR=str(tmp_path))
    assert warm["misses"] == 0 and warm["hits"] == warm["kernels"]
    assert warm["files"] == cold["files"]
    assert warm["final"] == cold["final"]


TORQUE = """
    import dis
    import json
    import numpy as np
    import polhode as ph
    from polhode.kernel import cache
    from polhode.kernel.signatures import LOADS
    from polhode.systems.user.function import one_call

    top = ph.heavy_top((5, 5, 1), (0, 0, 1), 20.0)
    y, out = np.zeros(13), np.zeros(6)
    y[6:10] = (0.8, 0.6, 0.0, 0.0)
    one_call[LOADS](top.compiled_loads(0.0, y), 0.0, y, top.bodies, top.with_memory, out)
    print(json.dumps([ph.__file__, cache.digest(), str(cache.cache_folder()), out.tolist()]))
"""


def test_an_edited_callee_gives_the_new_numbers(forked, tmp_path):
    package = tmp_path / "polhode"
    shutil.copytree(Path(ph.__file__).parent, package)
    places = {"PYTHONPATH": str(tmp_path), "POLHODE_CACHE_DIR": str(tmp_path / "cache")}
    file, first, folder, before = forked(TORQUE, **places)
    assert Path(file).parent == package
    kernels = set(Path(folder).iterdir())
    for path, old, new in (
        ("loads/gravity.py", "return newtons * body.point", "return 2.0 * newtons * body.point"),
        ("systems/seen.py", "return matrix_of(self.attitude) @ array_of(v) if",
         "return 1.5 * matrix_of(self.attitude) @ array_of(v) if"),
    ):  # fmt: skip
        source = (package / path).read_text()
        assert old in source
        (package / path).write_text(source.replace(old, new, 1))
    _, digest, _, after = forked(TORQUE, **places)
    assert digest == first and kernels < set(Path(folder).iterdir())
    np.testing.assert_allclose(after, np.array(before) * 3.0, rtol=1e-14)


def test_old_generations_are_pruned_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    names = [f"{k:016x}" for k in range(7)]
    for k, name in enumerate(names):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (1000.0 + k, 1000.0 + k))
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("not ours")
    assert cache.cache_folder.__wrapped__() == tmp_path / cache.digest()
    kept = {cache.digest(), *names[-(cache.KEPT_GENERATIONS - 1) :], "thesis"}
    assert {path.name for path in tmp_path.iterdir()} == kept
    assert (tmp_path / "thesis" / "chapter1.tex").exists()


def test_where_the_cache_is(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / "mine"))
    assert cache.cache_root() == tmp_path / "mine"
    monkeypatch.delenv("POLHODE_CACHE_DIR")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_root() == tmp_path / "polhode"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache.cache_root().parts[-3:] == ("Library", "Caches", "polhode")
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert cache.cache_root() == tmp_path / "polhode"


def test_an_unwritable_cache_folder_costs_time_only(forked, tmp_path):
    (tmp_path / "file").write_text("in the way")
    _, _, folder, torque = forked(TORQUE, POLHODE_CACHE_DIR=str(tmp_path / "file" / "cache"))
    assert Path(folder).name.startswith("polhode-")
    assert not Path(folder).exists()  # gone with the process
    np.testing.assert_allclose(torque, [0, 0, 0, 20.0 * 0.96, 0, 0], rtol=1e-15)


# ------------------------------------------------------------------ steps that a user writes
def growing(factor):
    def step(t, h, p):
        p.y[10] = p.y[10] * factor
        return 0

    return step


def in_one_step(step, name):
    """Angular momentum (1, 1, 1) after one of these steps."""
    row = Method(name, "test", "a step of a test", "none", lambda: CompiledMethod(step, lambda bodies, blocks: 1),
                 lambda: Promises(1))  # fmt: skip
    METHODS[name] = row
    try:
        ds = ph.integrate(ph.free_body((1, 1, 1)), name, step=0.1, steps=1, angular_momentum=(1, 1, 1))
    finally:
        del METHODS[name]
    return ds.angular_momentum.values[-1]


@pytest.mark.filterwarnings("ignore::polhode.errors.EnergyWarning")  # no steps of a motion
def test_steps_of_one_factory_are_not_confused():
    np.testing.assert_array_equal(in_one_step(growing(2.0), "twice"), [2, 1, 1])
    np.testing.assert_array_equal(in_one_step(growing(3.0), "thrice"), [3, 1, 1])


@pytest.mark.filterwarnings("ignore::polhode.errors.EnergyWarning")  # no steps of a motion
@pytest.mark.parametrize(("function", "factor"), [("sin", 2.0), pytest.param("cos", 2.0, marks=pytest.mark.full)])
def test_a_step_without_a_file(function, factor):
    names = {"sin": sin, "cos": cos, "factor": factor}
    exec(f"def step(t, h, p):\n    p.y[10] = factor * {function}(p.y[10])\n    return 0", names)
    expected = factor * names[function](1.0)
    np.testing.assert_allclose(in_one_step(names["step"], "nowhere"), [expected, 1, 1], rtol=1e-15)


def test_fingerprints_tell_functions_apart_and_do_not_change():
    def made(source, **names):
        exec(source, names)
        return names["f"]

    one = made("def f(x):\n    return g(x) + k", g=sin, k=1.0)
    assert jit.fingerprint(one) == jit.fingerprint(made("def f(x):\n    return g(x) + k", g=sin, k=1.0))
    others = [
        made("def f(x):\n    return g(x) + k", g=sin, k=2.0),
        made("def f(x):\n    return g(x) + k", g=cos, k=1.0),
        made("def f(x):\n    return g(x) - k", g=sin, k=1.0),
        made("def f(x, y=1):\n    return g(x) + k", g=sin, k=1.0),
        made("def f(x, y=2):\n    return g(x) + k", g=sin, k=1.0),
        made("def f(x):\n    return g(x) + k", g=made("def f(x):\n    return x"), k=1.0),
        made("def f(x):\n    return g(x) + k", g=made("def f(x):\n    return 2 * x"), k=1.0),
        made("def f(x):\n    return (lambda y: g(y))(x) + k", g=sin, k=1.0),
        made("def f(x):\n    return (lambda y: k(y))(x) + g", g=1.0, k=sin),
        made("def f(x):\n    return g(x) + k", g=np.sin, k=np.arange(3.0)),
        made("def f(x):\n    return g(x) + k", g=np.sin, k=np.arange(4.0)),
        made("def f(x):\n    return f(x - 1)"),
        growing(2.0),
        growing(3.0),
    ]
    assert len({jit.fingerprint(f) for f in [one, *others]}) == len(others) + 1


# ------------------------------------------------------------------ binding and helpers
def test_global_names_are_those_of_dis():
    """Of code of all kinds, with more names than fit into a byte among it."""
    many = compile("def f(x):\n    return " + " + ".join(f"name{k} + x.part{k}" for k in range(700)), "many", "exec")
    found = [many]
    for path in (Path(ph.__file__).parent / "kernel").glob("*.py"):
        found.append(compile(path.read_text(encoding="utf-8"), str(path), "exec"))
    for code in found:  # grows
        found += [part for part in code.co_consts if hasattr(part, "co_code")]
    assert len(found) > 200
    for code in found:
        told = {step.argval for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
        inner = [jit.global_names(part) for part in code.co_consts if hasattr(part, "co_code")]
        assert jit.global_names(code) == told.union(*inner)


def test_helpers_called_from_python_are_plain_python():
    result = so3.cross((1, 0, 0), (0, 1, 0))
    assert result == (0, 0, 1)
    assert all(type(x) is int for x in result)  # compiled, they would be floats


# ------------------------------------------------------------------ without compilation
PLAIN = """
    import json
    import numpy as np
    import polhode as ph
    from polhode.kernel import jit

    def spin(t, q, omega, parameters):
        return omega + np.array([t, parameters[0], q[1]])

    def lift(t, q, parameters):
        return parameters[0] * q[1] * q[2]

    systems = (
        ph.heavy_top((5, 5, 1), (0.1, 0, 1), 20.0),
        ph.rigid_body([[2, 0.1, 0], [0.1, 1.5, 0.2], [0, 0.2, 1]], torque=spin, parameters=[0.5]),
        ph.rigid_body((1, 2, 2.5), potential=lift, parameters=[0.5]),
    )
    results = []
    for method in ("akw", "mkrk:gauss4"):
        for system in systems:
            ds = ph.integrate(system, method, step=0.02, steps=4, angular_velocity=(0.3, -0.2, 4.0), every=3)
            results.append(ds.attitude.values[-1].tolist() + ds.angular_momentum.values[-1].tolist())
    def fail(t, q, omega, parameters):
        if t > 0.03:
            raise ValueError("on purpose")
        return (0.0, 0.0, 0.0)
    try:
        ph.integrate(ph.rigid_body((1, 2, 2.5), torque=fail), "mkrk:rk4", step=0.02, steps=4)
    except ph.errors.UserFunctionError as problem:
        failure = [type(problem.__cause__).__name__, problem.step, problem.trajectory.sizes["time"]]
    print(json.dumps([jit.disabled(), results, failure]))
"""


def test_without_compilation_the_numbers_are_the_same(forked):
    """In a process of its own; those of this one are compiled."""
    plain, slow, failure = forked(PLAIN, NUMBA_DISABLE_JIT="1")
    with redirect_stdout(StringIO()) as told:
        exec(dedent(PLAIN), {"__name__": "plain"})
    compiled, fast, same_failure = json.loads(told.getvalue().splitlines()[-1])
    assert plain and not compiled
    np.testing.assert_allclose(slow, fast, rtol=0, atol=1e-13)
    assert failure == same_failure == ["ValueError", 1, 2]


# ------------------------------------------------------------------ threads
def test_two_threads_get_what_one_gets():
    def spin(t, q, omega, parameters):
        return (0.1 * omega[1], sin(t), 0.0)

    def work(k):
        system = top() if k % 2 else ph.rigid_body((1, 2, 2.5), torque=spin)
        return ph.integrate(system, "trapm", step=0.01, steps=2000, **TOP)

    alone = [work(k) for k in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, range(4)))
    for one, other in zip(alone, together, strict=True):
        assert one.identical(other)


# ------------------------------------------------------------------ import
def test_what_is_heavy_comes_with_what_needs_it(python):
    """Numpy and numba with the first system; pandas and xarray, which take as long as all the rest, with a run or a
    file."""
    seconds, loaded, lazy, before, after, dask = python(
        """
        import json, sys, time
        start = time.perf_counter()
        import polhode
        seconds = time.perf_counter() - start
        heavy = ("numba", "numpy", "scipy", "xarray", "matplotlib", "zarr", "dask")
        loaded = [name for name in heavy if name in sys.modules]
        before = "heavy_top" in vars(polhode)
        polhode.heavy_top
        lazy = [before, "heavy_top" in vars(polhode), "xarray" in sys.modules]
        ph = polhode
        ph.integrate, ph.methods.METHODS, ph.save
        heavy = ("xarray", "pandas", "scipy.spatial", "scipy.integrate", "scipy.fft", "matplotlib", "zarr",
                 "h5py", "h5netcdf", "click", "dask", "rich", "astropy", "numpy.ma", "email.parser", "polhode.plots",
                 "polhode.checks", "polhode.runs.scenario", "numpy.polynomial", "polhode.runs.variable_steps",
                 "polhode.trajectory.reductions", "polhode.methods.listing", "polhode.methods.time_transformed",
                 "polhode.systems.shown")
        before = [name for name in heavy if name in sys.modules]
        from polhode.errors import InvalidInput
        from polhode.trajectory import with_chart
        try:
            with_chart(3, "euler_angles")
        except InvalidInput as problem:
            assert "attitude" in str(problem)
        after = "xarray" in sys.modules
        ph.integrate(ph.rigid_body([1.0, 2.0, 3.0]), t_end=0.1, step=0.05, method="v2", tangent=True)
        print(json.dumps([seconds, loaded, lazy, before, after, "dask.array" in sys.modules]))
        """
    )
    assert loaded == []
    assert seconds < 0.5
    assert lazy == [False, True, False]
    assert before == [] and after and not dask


def test_numba_comes_with_what_is_compiled(python, tmp_path):
    """Not with systems, their loads and what they conserve, methods, numbers of users and what is printed of them."""
    code = """
        import json, sys
        import polhode as ph
        top = ph.heavy_top([5, 5, 1], center_of_mass=[0, 0, 1], weight=20.0)
        assert "weight" in str(top)
        mail = [name for name in ("importlib.metadata", "email", "tempfile", "socket") if name in sys.modules]
        systems = [
            top, ph.rigid_body([1, 2, 2.5]),
            ph.orbit(3.986e14, mass=500.0, forces=[ph.forces.zonal(**ph.planets.EARTH.zonal)]), ph.particle(1.0),
            ph.spacecraft([30, 35, 40], ph.planets.EARTH.mu, 100.0),
        ]
        assert len(str(systems)) > 100 and systems[0].conserves
        assert len(str(ph.methods())) > 1000 and ph.methods.method("mkrk:gauss4").prepare().step
        before = [name for name in ("numba", "llvmlite") if name in sys.modules]
        def spin(t, q, omega, parameters):
            return (0.1 * omega[1], 0.0, parameters[0])
        assert ph.rotation.rotate((1.0, 0.0, 0.0, 0.0), (1.0, 2.0, 3.0)).tolist() == [1.0, 2.0, 3.0]
        for system in (top, ph.rigid_body((1, 2, 2.5), torque=spin, parameters=[0.5])):
            ds = ph.integrate(system, step=0.01, steps=3, angular_velocity=(0.1, 0.2, 3.0))
        print(json.dumps([mail, before, "numba" in sys.modules, ds.attitude.values[-1].tolist()]))
        """
    found = [python(code, POLHODE_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    for (mail, before, after, _), compiled in zip(found, (True, False), strict=True):
        assert mail == [] and before == [] and after == (compiled and not jit.disabled())
    assert found[0][3] == found[1][3]


@pytest.mark.skipif(jit.disabled(), reason="nothing is compiled")
def test_functions_of_users_that_numba_compiles_call_kernels():
    import numba

    @numba.njit
    def outer(array):
        a = jit.pointer(array)
        b = so3.cross((a[0], a[1], a[2]), (1.0, 0.0, 0.0))
        return so3.dot(b, b) + ph.where(a[0] > 0.5, 1.0, 2.0)

    direct.teach()
    assert outer(np.array([1.0, 2.0, 3.0])) == 13.0 + 1.0
    assert pickle.loads(pickle.dumps(so3.cross)) is so3.cross
    assert outer.py_func is not outer and so3.cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)) == (0.0, 0.0, 1.0)
    with pytest.raises(NotImplementedError, match="pointer exists in kernels only"):
        jit.pointer(np.zeros(3))


def test_what_a_run_does_not_use_is_not_loaded(python):
    """Rows as arrays need no Dataset, and runs neither derivatives nor files unless they are asked for."""
    rows, dataset = python(
        """
        import json, sys
        import polhode as ph
        heavy = ["xarray", "pandas", "scipy.spatial", "scipy.interpolate", "matplotlib", "dask"]
        unused = ["scipy.spatial", "matplotlib", "dask", "polhode.runs.store", "polhode.runs.tangent.engine",
                  "polhode.trajectory.files", "polhode.kernel.lane_mode", "polhode.kernel.tangent_mode"]
        loaded = lambda names: [name for name in names if name in sys.modules]
        top = ph.heavy_top([5, 5, 1], center_of_mass=[0, 0, 1], weight=20.0)
        assert ph.prepare(top, step=0.01, steps=10).run({"angular_velocity": (0, 1, 20)}).time.size == 11
        rows = loaded({*heavy, *unused})
        from polhode.runs.integrate import Watch
        Watch()
        assert "xarray" in sys.modules, "Ctrl-C could find it half imported when the run is over"
        ph.integrate(top, step=0.01, steps=10, angular_velocity=(0, 1, 20))
        print(json.dumps([rows, loaded(unused)]))
        """
    )
    assert rows == [] and dataset == []


@pytest.mark.parametrize("on", [True, False])
def test_a_saved_run_needs_no_dask_and_python_looks_for_unused_objects_as_before(python, tmp_path, on):
    """Also where it is to look for events, of which there are none, and is summed up by the command."""
    dask, collects, kept, kinds = python(
        f"""
        import gc, json, sys
        ({"gc.enable" if on else "gc.disable"})()
        import polhode as ph
        from polhode.cli.run import summary
        words = {{"position": (1, 0, 0), "velocity": (0, 1, 0), "events": [ph.events.altitude(0.1, 0.5)]}}
        ds = ph.integrate(ph.orbit(1.0), step=0.01, steps=10, **words)
        facts = summary(ds)
        ph.save(ds, {str(tmp_path / "run.nc")!r})
        dask = "dask" in sys.modules
        kinds = ph.load({str(tmp_path / "run.nc")!r}).event_kind
        assert facts["t"] == [0.0, ds.time.values[-1]] and kinds.dtype.kind == "U"
        print(json.dumps([dask, gc.isenabled(), gc.get_freeze_count(), list(kinds.shape)]))
        """
    )
    assert not dask and collects is on and kept == 0 and kinds == [0]


# ------------------------------------------------------------------ linear equations
@pytest.mark.parametrize("n", range(1, 10))
def test_factor_and_substitute_against_numpy(n):
    generator = np.random.default_rng(n)
    for matrix in (generator.normal(size=(n, n)), np.eye(n)[::-1], np.diag(10.0 ** -np.arange(n))):
        right = generator.normal(size=n)
        work = np.concatenate([[7.0], matrix.ravel(), right, np.zeros(n), [7.0]])
        a, b, pivots = 1, 1 + n * n, 1 + n * n + n
        assert solve.factor(work, a, n, pivots)
        solve.substitute(work, a, n, pivots, b)
        found, expected = work[b : b + n], np.linalg.solve(matrix, right)
        assert np.abs(found - expected).max() <= 1e-14 * np.linalg.cond(matrix) * np.abs(expected).max()
        assert work[0] == work[-1] == 7.0


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.outer((1.0, 2, 4), (1.0, 1, 2)), np.full((2, 2), nan)])
def test_factor_refuses_a_singular_matrix(matrix):
    n = len(matrix)
    work = np.concatenate([matrix.ravel(), np.zeros(n)])
    assert not solve.factor(work, 0, n, n * n)


def test_solve3_against_numpy():
    generator = np.random.default_rng(0)
    for _ in range(20):
        a, b = generator.normal(size=(3, 3)), generator.normal(size=3)
        found = solve.solve3(tuple(a.ravel()), tuple(b))
        np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-13 * np.linalg.cond(a))


# ------------------------------------------------------------------ Newton's method
def quadratic(x, full, data):
    return (x[0] * x[0] - data[0], x[1] * x[0] - data[1], x[2] + x[1] * x[1] - data[2])


def quadratic_slope(x, full, data):
    return (2 * x[0], 0.0, 0.0, x[1], x[0], 0.0, 0.0, 2 * x[1], 1.0)


def poor_slope(x, full, data):
    return (3.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0)


def no_root(x, full, data):
    return (x[0] * x[0] + 1.0, x[1], x[2])


def no_root_slope(x, full, data):
    return (2 * x[0], 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def not_a_number(x, full, data):
    return (data[0], 0.0, 0.0)


def flat(x, full, data):
    return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def newton(function, slope, x, data=(0.0, 0.0, 0.0)):
    report = np.zeros(L.STEP_INFO)
    status, found = solve.newton3(function, slope, x, 1.0, inf, inf, False, False, data, report)
    return status, found, report


@pytest.mark.parametrize("slope", [quadratic_slope, poor_slope])
def test_newton_reaches_round_off(slope):
    status, x, report = newton(quadratic, slope, (1.3, 1.0, 0.5), (2.0, 3.0, 1.0))
    exact = (2**0.5, 3 / 2**0.5, 1.0 - 4.5)
    assert status == L.OK
    np.testing.assert_allclose(x, exact, rtol=1e-15)
    assert 3 <= report[L.ITERATIONS] <= 12
    assert report[L.RESIDUAL] < 1e-7


def test_newton_asks_for_the_full_jacobian_where_corrections_shrink_slowly():
    asked = []

    def slope(x, full, data):
        asked.append(full)
        return quadratic_slope(x, full, data) if full else poor_slope(x, full, data)

    report = np.zeros(L.STEP_INFO)
    status, x = solve.newton3(quadratic, slope, (1.3, 1.0, 0.5), 1.0, inf, inf, False, True, (2.0, 3.0, 1.0), report)
    assert status == L.OK and asked == [False, False] + [True] * (len(asked) - 2)
    np.testing.assert_allclose(x, (2**0.5, 3 / 2**0.5, 1.0 - 4.5), rtol=1e-15)


def test_newton_at_the_solution_takes_one_iteration():
    status, x, report = newton(quadratic, quadratic_slope, (1.0, 1.0, 0.0), (1.0, 1.0, 1.0))
    assert status == L.OK and x == (1.0, 1.0, 0.0) and report[L.ITERATIONS] == 1


def test_newton_says_when_there_is_no_root():
    status, _, report = newton(no_root, no_root_slope, (0.7, 1.0, 1.0))
    assert status == L.NOT_CONVERGED
    assert report[L.ITERATIONS] <= solve.MOST_ITERATIONS
    assert report[L.RESIDUAL] > 1e-10


@pytest.mark.parametrize("bad", [nan, inf])
def test_newton_says_when_the_function_is_not_finite(bad):
    assert newton(not_a_number, quadratic_slope, (1.0, 1.0, 1.0), (bad, 0.0, 0.0))[0] == L.NOT_FINITE


@pytest.mark.filterwarnings("ignore")
def test_newton_says_when_the_jacobian_is_singular():
    function = jit.compile_kernel(singular, i8(A1))
    assert function(np.zeros(L.STEP_INFO)) == L.NOT_CONVERGED


flat_helper = jit.inlined(flat)
quadratic_helper, slope_helper = jit.inlined(quadratic), jit.inlined(quadratic_slope)


def singular(report):
    return solve.newton3(
        quadratic_helper, flat_helper, (1.0, 1.0, 1.0), 1.0, inf, inf, False, False, (2.0, 3.0, 1.0), report
    )[0]


def compiled_root(report):
    _, x = solve.newton3(
        quadratic_helper, slope_helper, (1.3, 1.0, 0.5), 1.0, inf, inf, False, False, (2.0, 3.0, 1.0), report
    )
    return x[0] + x[1] + x[2]


def test_newton_compiled_and_plain():
    compiled, plain = np.zeros(L.STEP_INFO), np.zeros(L.STEP_INFO)
    total = jit.compile_kernel(compiled_root, f8(A1))(compiled)
    assert abs(total - compiled_root(plain)) < 1e-14
    assert compiled[L.ITERATIONS] == plain[L.ITERATIONS]


# ------------------------------------------------------------------ the loop
def test_kernels_release_the_gil():
    """While one thread integrates, another one runs."""
    ticks = []

    def tick():
        while not done:
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    done = []
    ph.integrate(ph.free_body((1, 2, 2.5)), "mkrk:rk4", step=0.01, steps=1, angular_velocity=(1, 2, 3))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(tick)
        start = time.perf_counter()
        ph.integrate(
            ph.free_body((1, 2, 2.5)), "mkrk:rk4", step=0.01, steps=300_000, every=300_000, angular_velocity=(1, 2, 3)
        )
        end = time.perf_counter()
        done.append(True)
    assert sum(start < t < end for t in ticks) > 3


def test_squared_speed_of_the_fastest_body():
    bodies = np.array([1.0, 1, 2, 4, 1, 1, 0.5, 0.25, 2.0, 1, 1, 1, 0.5, 1, 1, 1])
    y = np.zeros(28)
    y[L.ANGULAR : L.ANGULAR + 3] = (1, 2, 4)
    y[13 + L.ANGULAR : 13 + L.ANGULAR + 3] = (0, 2, 0)
    y[26:] = (1e300, np.nan)
    assert drive.squared_speed(2, 1, y, bodies) == 4.0
    assert drive.squared_speed(2, 2, y, bodies) == inf
    y[13 + 3] = inf
    assert drive.squared_speed(2, 1, y, bodies) == inf


def test_statuses_are_told_apart():
    from polhode.ensembles.outcome import LANDED, STATUS

    names = ("OK", "NOT_CONVERGED", "TOO_LARGE", "NOT_FINITE", "TOO_SMALL", "CROSSED", "CUT", "SINGULAR", "STOPPED",
             "PASSED", "LOST", "BELOW")  # fmt: skip
    statuses = [getattr(L, name) for name in names]
    assert len({*statuses, LANDED}) == len(names) + 1 and f" {LANDED}:" in STATUS
