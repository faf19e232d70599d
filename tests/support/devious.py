"""Functions as users write them when nobody looks: at least thirty kinds, twelve of each, as text.

Each is ``g(t, x, p)``, a number of the time, three numbers and two parameters. ``a``, ``b``, ``c`` in a skeleton are
filled in three ways. What stands before a line of dashes is the world of the kind, made anew for each function.
"""

from __future__ import annotations

import itertools
import linecache
import textwrap
import zlib
from dataclasses import dataclass

FILLINGS = (
    {"a": "x[0]", "b": "p[0] * x[1]", "c": "math.sin(3 * t)"},
    {"a": "(t - 1.1)", "b": "(x[2] - x[0])", "c": "p[1] * x[1]"},
    {"a": "(math.cos(5 * t) + x[1])", "b": "p[0]", "c": "x[0] * x[2]"},
)
PARAMETERS = (0.7, -1.3)
REFUSED = {"lists", "globals", "attributes", "iterators", "arrays in place of states", "outside"}
"""Kinds with a memory, or of more than their arguments."""

KINDS = {
    "branches": """
        if {a} > 0: return {b}
        return {c}
    ###
        y = {b}
        if {a} < 0.2:
            y = y + 1.0
            if {c} > 0: y *= 2.0
        elif {b} > {c}: y = {c}
        return y
    ###
        return {b} if {a} > 0.0 else ({c} if {b} < 0 else -1.0)
    ###
        y = 0.0
        if not ({a} > 0 and {b} < {c}): y += {b}
        if {a} > 0 or {c} > 0: y -= {c}
        return y
    """,
    "not a number": """
        y = math.nan if {a} > 0.1 else {a}
        return {b} if y != y else {c}
    ###
        y = np.sqrt({a} + 0j).real if {a} > 0 else float("nan")
        return {b} if math.isnan(y) else {c}
    ###
        y = float("nan")
        return {b} if not (y < {a}) else {c}
    ###
        return float(np.nanmax(np.array([float("nan"), {a}, {b}])))
    """,
    "signed zero": """
        y = -0.0 if {a} > 0 else 0.0
        return math.copysign(1.0, y) + {b}
    ###
        return math.atan2(0.0 * {a}, -1.0) + {b}
    ###
        return math.copysign({b}, 0.0 * {a}) + {c}
    ###
        y = min(0.0, -0.0) if {a} > 0 else max(-0.0, 0.0)
        return math.copysign(1.0, y) * {b}
    """,
    "slices": """
        return float(np.sum(x[1:]) + {b})
    ###
        y = [{a}, {b}, {c}]
        return y[::-1][0] + y[-2:][0] + len(y[1:])
    ###
        y = np.array([{a}, {b}, {c}, 1.0])
        return y[::2].sum() - y[-1:][0] + y[:2][1]
    ###
        y = np.arange(6.0) * {a}
        y[1:4] = {b}
        return y[3] + y[4] + y[:-1].sum()
    """,
    "chained comparisons": """
        return {b} if -0.3 < {a} < 0.4 else {c}
    ###
        return {b} if {a} < {b} < {c} else -{c}
    ###
        return {b} if 0 < {a} != {b} > -1 else {c}
    ###
        return (-0.5 <= {a} <= 0.5) * {b} + (0 < {c} < 1) * {c}
    """,
    "closures": """
        return add({a}) + {b}
    ###
        return twice(add, {a}) - {c}
    ###
        k = {b}
        inner = lambda y: y * k + {c}
        return inner({a})
    ###
        k = 1.0
        inner = lambda y: y * k
        k = {b}
        return inner({a})
    ------
    def maker(k):
        def add(y): return y + k
        return add
    add = maker(0.3)
    def twice(f, y): return f(f(y))
    """,
    "class attributes": """
        return Law.gain * {a} + {b}
    ###
        return Law.nested.depth * {a} - Law.table[1] * {c}
    ###
        return law.offset + law.gain * {a}
    ###
        return law.total({a}) + Law.fixed({b})
    ------
    class Depth: depth = 0.25
    class Law:
        gain = 1.5
        nested = Depth
        table = (0.1, 0.2)
        def __init__(self): self.offset = 0.125
        def total(self, y): return self.offset + self.gain * y
        @staticmethod
        def fixed(y): return 2.0 * y
    law = Law()
    """,
    "recursion": """
        return power({a}, 3) + {b}
    ###
        return fold([{a}, {b}, {c}])
    ###
        def inner(n, y): return y if n == 0 else inner(n - 1, 0.5 * y + {c})
        return inner(4, {a})
    ###
        return even({a}, 5)
    ------
    def power(y, n): return 1.0 if n == 0 else y * power(y, n - 1)
    def fold(y): return 0.0 if not y else y[0] - fold(y[1:])
    def even(y, n): return y if n == 0 else odd(y + 1.0, n - 1)
    def odd(y, n): return -y if n == 0 else even(2.0 * y, n - 1)
    """,
    "comprehensions": """
        return sum([y * y for y in x]) + {b}
    ###
        return sum(y * z for y, z in zip(x, ({a}, {b}, {c})))
    ###
        return sum(y for y in ({a}, {b}, {c}) if y > 0)
    ###
        d = {{k: y for k, y in enumerate(({a}, {b}, {c}))}}
        return d[1] + max([abs(y) for y in d.values()])
    """,
    "walrus": """
        return {b} if (y := {a}) > 0 else y
    ###
        return (y := {a}) * y + (z := {b}) - y * z
    ###
        s = 0.0
        while (s := s + 0.3) < 1.0: pass
        return s * {a}
    ###
        return sum(z for y in ({a}, {b}, {c}) if (z := 2.0 * y) > 0.1)
    """,
    "match": """
        match ({a} > 0, {b} > 0):
            case (True, True): return {c}
            case (True, False): return {b}
            case _: return {a}
    ###
        match [{a}, {b}]:
            case [y, z] if y > z: return y
            case [y, *rest]: return rest[0] + y
    ###
        match int(3 * ({a} > 0)):
            case 0: return {b}
            case 1 | 2: return -1.0
            case k: return k * {c}
    ###
        match mode:
            case "slow": return {a}
            case "fast": return {b} + {c}
    ------
    mode = "fast"
    """,
    "default arguments": """
        return shifted({a}) + {b}
    ###
        return shifted({a}, 2.0) - shifted({b}, gain={c})
    ###
        inner = lambda y, k={c}: y * k
        return inner({a}) + inner({b}, 0.5)
    ###
        return keyed({a}, power=3) + keyed({b})
    ------
    def shifted(y, k=0.5, gain=1.25): return gain * y + k
    def keyed(y, *, power=2): return y ** power
    """,
    "lists": """
        if {a} > 0.1: on[0] = 1.0
        if {a} < -0.1: on[0] = 0.0
        return on[0] * {b}
    ###
        seen.append({a})
        return seen[-1] - seen[0]
    ###
        total = kept
        total["sum"] += 0.1 * {a}
        return -total["sum"]
    ###
        def note(y, log=[0.0]):
            log[0] = 0.9 * log[0] + y
            return log[0]
        return smooth({a}) + note({b})
    ------
    on, seen, kept = [0.0], [], {"sum": 0.0}
    def smooth(y, log=[0.0]):
        log[0] = 0.9 * log[0] + y
        return log[0]
    """,
    "globals": """
        global total
        total += 0.1 * {a}
        return total
    ###
        global count
        count = count + 1
        return {b} if count > 5 else {a}
    ###
        return counted() + {b}
    ###
        import sys
        globals()["last"] = {a}
        return {b}
    ------
    total, count, last = 0.0, 0, 0.0
    def made():
        n = 0
        def counted():
            nonlocal n
            n += 1
            return n * 0.1
        return counted
    counted = made()
    """,
    "attributes": """
        return loop.step({a})
    ###
        Loop.best = max(Loop.best, {a})
        return Loop.best
    ###
        g.calls = getattr(g, "calls", 0) + 1
        return g.calls * {b}
    ###
        return loop.tick + {b}
    ------
    class Loop:
        best = -9.0
        def __init__(self): self.sum, self.n = 0.0, 0
        def step(self, e):
            self.sum += 0.1 * e
            return -self.sum
        @property
        def tick(self):
            self.n += 1
            return 0.01 * self.n
    loop = Loop()
    """,
    "iterators": """
        return next(steps) + {a}
    ###
        return {b} + gen.send(None)
    ###
        for y in steps: return y * {c}
    ###
        queue.append({a})
        return queue.popleft()
    ------
    import itertools, collections
    steps = itertools.count(0.0, 0.1)
    def generator():
        n = 0.0
        while True:
            n += 0.1
            yield n
    gen = generator()
    queue = collections.deque([0.0, 0.0])
    """,
    "arrays in place of states": """
        last[:] = 0.5 * last + x
        return last[0]
    ###
        view = table[1:]
        view += {a}
        return table.sum()
    ###
        np.add(last, x, out=last)
        return last[1] * {b}
    ###
        before = last[2]
        last[2] = {a}
        return {a} - before
    ------
    last, table = np.zeros(3), np.zeros(4)
    """,
    "outside": """
        return {a} + random.random()
    ###
        return {b} + rng.normal()
    ###
        return {c} + time.perf_counter()
    ###
        return {a} + float(np.random.normal()) + (0.0 if open else 1.0)
    ------
    import random, time
    rng = np.random.default_rng(1)
    """,
    "exceptions": """
        try: return math.sqrt({a})
        except ValueError: return {b}
    ###
        try: return {b} / (1.0 if {a} > 0 else 0)
        except ZeroDivisionError: return {c}
    ###
        try: return table[int(10 * {a})]
        except (IndexError, KeyError): return {b}
    ###
        y = 0.0
        try:
            y = math.log({a})
        except ValueError:
            y = -1.0
        else: y += {b}
        finally: y *= 2.0
        return y
    ------
    table = [1.0, 2.0, 3.0]
    """,
    "raising": """
        if {a} > 0.95: raise ValueError("too large")
        return {b}
    ###
        assert {a} < 0.95, "too large"
        return {b}
    ###
        return {b} + math.sqrt({a} + 0.9)
    ###
        return {c} + math.acos(0.9 * {a})
    """,
    "integers": """
        n = 1
        for k in range(1, 40): n *= 3
        return {a} * float(n % 1000) / 1000.0
    ###
        n = int(1e19 * (2.0 + {a}))
        return (n % 7) * 0.1
    ###
        n = 1 << 70
        return float(n >> 69) * {a}
    ###
        n = int(1000 * {a})
        return (n * n * n * n * n * n * n * n % 11) * 0.1
    """,
    "floor and remainder": """
        return {a} // 0.3 + {b} % 0.4
    ###
        return math.fmod({a}, 0.3) + -{b} % 0.7
    ###
        n = int(7 * {a})
        return n // 3 + n % 3 + (-n) // 4 + 0.0
    ###
        q, r = divmod({a}, 0.25)
        return q - r * {b}
    """,
    "divided by zero": """
        n = int(3 * {a})
        return {b} + 6 // n
    ###
        d = 1.0 if {a} > -0.9 else 0.0
        return {b} / d
    ###
        n = int(2 * {a})
        return {b} + 5 % n
    ###
        return {b} / math.floor(1.5 + {a})
    """,
    "indices": """
        return table[int(2 * abs({a}))] * {b}
    ###
        return x[int({a} > 0)] + x[-1] + x[-2]
    ###
        F = [0.0, 0.0, 0.0]
        F[int(3 * t)] = {b}
        return F[1]
    ###
        return p[int(1.2 * t)] * {a}
    ------
    table = [0.5, 1.5, 2.5]
    """,
    "loops": """
        y = {a}
        for k in range(5): y = 0.5 * y + 0.1 * k * {b}
        return y
    ###
        y, n = abs({a}), 0
        while y > 0.05 and n < 20:
            y *= 0.6
            n += 1
        return y + n * {b}
    ###
        s = 0.0
        for k, y in enumerate(x):
            for z in ({b}, {c}): s += (k + 1) * y * z
        return s
    ###
        s = 0.0
        for y in reversed(list(x)): s = s * {b} + y
        return s
    """,
    "leaving loops": """
        for y in x:
            if y > {b}: break
        else: y = {c}
        return y
    ###
        s = 0.0
        for y in ({a}, {b}, {c}):
            if y < 0: continue
            s += y
        return s
    ###
        for k in range(10):
            if k * 0.1 > {a}: return k * {b}
        return {c}
    ###
        k = 0
        while True:
            k += 1
            if k * 0.2 > {a}: break
        return k * 0.1 + {b}
    """,
    "dictionaries": """
        d = {{"y": {a}, "z": {b}}}
        return d["y"] - d.get("z") + d.get("w", {c})
    ###
        return gains["k"] * {a} + gains["deep"]["c"]
    ###
        d = dict(u={a}, v={b})
        d.update(v={c})
        return sum(d.values())
    ###
        return laws["up" if {a} > 0 else "down"]({b})
    ------
    gains = {"k": 0.5, "deep": {"c": 0.25}}
    laws = {"up": lambda y: y + 1.0, "down": lambda y: -y}
    """,
    "strings": """
        return float(f"{{{a}:.3f}}") + {b}
    ###
        return len(str(int(100 * {a}))) * {b}
    ###
        return {a} if "spin".startswith("sp") and mode == "fast" else {b}
    ###
        return float("%.2f" % {a})
    ------
    mode = "fast"
    """,
    "sorting": """
        return sorted([{a}, {b}, {c}])[1]
    ###
        return sorted(x, key=lambda y: -abs(y))[0] + {b}
    ###
        return float(np.argmax(np.array([{a}, {b}, {c}]))) + float(np.sort(x)[0])
    ###
        y = [{a}, {b}, {c}]
        y.sort(reverse=True)
        return y[0] - y[2]
    """,
    "functions of functions": """
        return sum(map(lambda y: y * y, x)) + {b}
    ###
        return functools.reduce(lambda y, z: 0.5 * y + z, ({a}, {b}, {c}))
    ###
        return half({a}) + sum(filter(lambda y: y > 0, x))
    ###
        return apply(operator.mul, {a}, {b})
    ------
    import functools, operator
    def scaled(k, y): return k * y
    half = functools.partial(scaled, 0.5)
    def apply(f, *rest): return f(*rest)
    """,
    "copies and views": """
        y = np.array(x)
        z = y
        z[0] = {b}
        return y[0] + x[0]
    ###
        y = table.copy()
        y[1] = {a}
        return y.sum() + table.sum()
    ###
        y = list(names)
        y.append({a})
        return len(y) + y[-1]
    ###
        y = np.array([[{a}, {b}], [{c}, 1.0]])
        y.T[0, 1] = 5.0
        return y[1, 0] + y[0, 1]
    ------
    table, names = np.array([0.1, 0.2, 0.3]), [1.0, 2.0]
    """,
    "in place": """
        y = np.zeros(3)
        y += x
        y *= {b}
        y[1] -= {a}
        return y.sum()
    ###
        y = np.array([{a}, {b}])
        y /= 1.0 + y @ y
        return y[0]
    ###
        y = [0.0] * 3
        for k in range(3): y[k] += k * {a}
        return sum(y) + y[2] * {b}
    ###
        y = x * 1.0
        y[y < 0] = 0.0
        return y.sum() + {c}
    """,
    "linear algebra": """
        A = np.array([[2.0 + {a} ** 2, {b}], [{b}, 3.0 + {c} ** 2]])
        return np.linalg.solve(A, np.array([{a}, 1.0]))[0]
    ###
        A = np.outer(x, x) + 2 * np.eye(3)
        return np.linalg.det(A) + np.trace(np.linalg.inv(A))
    ###
        A = np.diag([1.0, 2.0, 3.0])
        return float(x @ A @ x) + np.linalg.norm(x - {b})
    ###
        return np.einsum("i,ij,j", x, np.outer(x, x), x) + np.dot(x, np.cross(x, np.array([{a}, {b}, {c}])))
    """,
    "extremes": """
        return max({a}, {b}, {c}) - min({a}, 0.0)
    ###
        return {b} if any(y > 0.5 for y in x) else {c}
    ###
        return {b} if all([{a} > -0.5, {b} < 2.0]) else {c}
    ###
        return float(np.clip({a}, -0.2, 0.3) + np.maximum({b}, {c}))
    """,
    "rounding": """
        return round({a}) + {b}
    ###
        return round({a}, 1) + float(np.round({b}, 2))
    ###
        return math.floor(3 * {a}) * 0.5 + math.ceil({b}) + math.trunc({c})
    ###
        return int(4 * {a}) * 0.25 + float(np.rint({b}))
    """,
    "truth": """
        return ({a} > 0) + ({b} > 0) * 2.0
    ###
        return {b} * bool({a}) + (not {a} > 0)
    ###
        return ({a} > 0 and {b}) or {c}
    ###
        return float(({a} > 0) ^ ({b} > 0)) + float(~np.array([{c} > 0])[0])
    """,
    "generators": """
        def ys():
            for y in x: yield y * {b}
        return sum(ys())
    ###
        return max(y * y for y in x) + {b}
    ###
        def ys():
            yield {a}
            yield from ({b}, {c})
        return list(ys())[2]
    ###
        return dict(zip("abc", x))["b"] + {c}
    """,
    "objects": """
        return (Pair({a}, {b}) + Pair({c}, 1.0)).u
    ###
        y = Pair({a}, {b})
        y.u = {c}
        return y.u * y.v + y.size
    ###
        return body({a}) + body[1]
    ###
        return Point({a}, {b}).y + Point(y={c}, x=0.0).y
    ------
    import collections
    class Pair:
        def __init__(self, u, v): self.u, self.v = u, v
        def __add__(self, other): return Pair(self.u + other.u, self.v + other.v)
        @property
        def size(self): return abs(self.u) + abs(self.v)
    class Body:
        k = 2.0
        def __call__(self, y): return self.k * y
        def __getitem__(self, n): return 0.5 * n
    body = Body()
    Point = collections.namedtuple("Point", "x y")
    """,
    "inner names": """
        s = 0.0
        def add(y):
            nonlocal s
            s += y
        add({a})
        add({b})
        return s
    ###
        y = {a}
        def shadow(y): return y * 2.0
        return shadow({b}) + y
    ###
        fs = [lambda: k * {a} for k in range(3)]
        return fs[0]() + {b}
    ###
        sum = {a}
        return sum + {b}
    """,
    "choices of numpy": """
        return float(np.where({a} > 0, {b}, {c}))
    ###
        return float(np.where(x > 0, x, {b}).sum())
    ###
        return float(np.select([np.array({a}) > 0.5, np.array({a}) > 0], [{b}, {c}], -1.0))
    ###
        return float(np.sign({a}) * np.heaviside({b}, 0.5) + np.count_nonzero(x > 0))
    """,
    "complex": """
        z = complex({a}, {b})
        return abs(z * z) + z.real
    ###
        return ({a} + 1j * {b}).imag + {c}
    ###
        return (np.exp(1j * {a}) * {b}).real
    ###
        return cmath.phase(complex({a}, 1.0)) + {c}
    ------
    import cmath
    """,
    "unpacking": """
        u, (v, w) = {a}, ({b}, {c})
        return u - v * w
    ###
        u, *v = x
        return u + v[-1] * {b}
    ###
        u, v = {a}, {b}
        u, v = v, u + v
        return u * 2.0 - v
    ###
        return star(*x) + star(*({a}, {b}), w={c})
    ------
    def star(u, v, w): return u - 2 * v + 3 * w
    """,
    "kinds of numbers": """
        return float(np.float32({a})) + {b}
    ###
        y = np.array([1, 2, 3])
        y[0] = int(10 * {a})
        return float(y.sum()) / 2
    ###
        return float(np.array([{a}, {b}], dtype=np.float32).sum())
    ###
        y = np.arange(3) / 2
        return float(y @ x) + np.int64(7) // 2 + {c}
    """,
    "arrays of other kinds": """
        y = np.array([10 * {a}, {b}], dtype=int)
        return float(y.sum()) + {c}
    ###
        y = np.full(3, 0)
        y[1] = int(5 * {a})
        return y.sum() + {b}
    ###
        y = np.zeros(3, dtype=np.int32)
        y[:] = (10 * x).astype(np.int32)
        return float(y[0] - y[1]) + {a}
    ###
        return float(np.sum(np.array([{a}, {b}]), dtype=np.float32)) + float(np.asarray([{c}], "f4")[0])
    """,
    "small integers": """
        return float(np.uint8(200) + np.uint8(int(abs(50 * {a})) % 100)) + {b}
    ###
        y = np.array([100, 100], dtype=np.int8)
        return float((y + y)[0]) * {a}
    ###
        y = np.arange(3, dtype=np.uint8) - np.uint8(1)
        return float(y[0]) + {b}
    ###
        return float(np.int32(2147483600) + np.int32(int(20 * abs({a})))) * 1e-9
    """,
    "rests": """
        return float(np.fmod({a}, 0.3) + np.mod({b}, -0.4))
    ###
        return math.remainder({a}, 0.3) + {b}
    ###
        q, r = np.divmod({a}, 0.3)
        return float(q * 0.1 + r)
    ###
        f, w = math.modf({a} * 3)
        return f * {b} + w + float(np.trunc({c}) + np.fix(2 * {a}))
    """,
    "statistics": """
        return float(np.mean(x) + np.std(x) + np.var(np.array([{a}, {b}])))
    ###
        return float(np.median(np.array([{a}, {b}, {c}])) + np.ptp(x))
    ###
        return float(np.percentile(x, 30.0)) + {a}
    ###
        y = np.average(x, weights=np.array([1.0, 2.0, {a} ** 2 + 1.0]))
        return float(np.cumsum(x)[1] + np.diff(x)[0] + np.prod(x) + y)
    """,
    "looking up": """
        return float(np.interp({a}, xs, ys)) + {b}
    ###
        return ys[int(np.searchsorted(xs, {a}))] if {a} < 0.9 else {c}
    ###
        return float(np.polyval(np.array([0.5, {b}, 1.0]), {a}))
    ###
        return float(ys[np.argsort(x)][0] + ys[np.digitize(min({a}, 0.9), xs) - 1])
    ------
    xs, ys = np.array([-1.0, 0.0, 0.5, 1.0]), np.array([0.3, -0.2, 0.7, 0.1])
    """,
    "powers": """
        return (abs({a}) + 0.1) ** {b} + {c} ** 2
    ###
        return float(x[0]) ** 3 + pow({a}, 2) + np.power(abs({b}) + 0.5, -1.5)
    ###
        y = {a} ** 0.5 if {a} >= 0 else -((-{a}) ** 0.5)
        return y + 0.0 ** 0
    ###
        return (-8.0) ** 3 * 0.001 + 2 ** -1 + {a} ** 0 + {b} ** 1 + math.pow(abs({c}) + 0.1, 0.3)
    """,
    "roots of negative numbers": """
        y = np.sqrt({a})
        return 0.0 if np.isnan(y) else float(y)
    ###
        y = x ** 0.5
        return float(np.nansum(y)) + {b}
    ###
        y = np.log({a} + 0.3)
        return float(np.where(np.isfinite(y), y, {b}))
    ###
        y = np.arccos(1.2 * {a})
        return float(np.nan_to_num(y, nan=-1.0))
    """,
    "extremes and nan": """
        y = math.nan if {a} > 0.1 else {a}
        return float(max(y, {b}) if max(y, {b}) == max(y, {b}) else {c})
    ###
        y = float("nan") if {a} > 0 else {b}
        return min({c}, y) + 0.0
    ###
        y = np.array([{a}, float("nan") if {b} > 0 else {b}])
        return float(np.fmax(y[0], y[1]) + np.nanmin(y))
    ###
        y = np.maximum(float("nan") if {a} > 0 else {a}, {b})
        return {c} if np.isnan(y) else float(y)
    """,
    "masks": """
        y = x.copy()
        y[y > {a}] = {b}
        return float(y.sum())
    ###
        return float(x[x > -10.0].sum() + x[[2, 0]][0])
    ###
        y = np.array([{a}, {b}, {c}])
        return float(y[np.argmax(y)] - y[np.argmin(x)])
    ###
        return float(np.all(x > -9) * {a} + np.any(x > {b}) + (x > 0).sum() + np.logical_and({a} > 0, {b} > 0))
    """,
    "shapes": """
        return float((x[:, None] * x[None, :]).sum() + x.reshape(3, 1)[2, 0])
    ###
        y = np.vstack([x, x + {a}])
        return float(y.T[0, 1] + np.hstack([x, {b}])[-1] + np.roll(x, 1)[0])
    ###
        y = np.array([[{a}, {b}], [{c}, 1.0]]).reshape(4, order="F")
        return float(y[1] - y[2])
    ###
        y = np.concatenate([x, np.repeat(np.array([{a}]), 2), np.tile(np.array([{b}]), 2), np.flip(x)])
        return float(y @ np.arange(10.0)) + float(np.kron(x, np.array([1.0, {c}]))[3])
    """,
    "arguments written to": """
        x[0] = {b}
        return float(x.sum())
    ###
        y = x
        y += 1.0
        return float(x[0] + y[1])
    ###
        p[0] = 5.0
        return float(p[0]) * {a}
    ###
        q = p
        q[1] *= 2.0
        return float(p[1]) + {a}
    """,
    "truth of arrays": """
        return {a} if (x > 0).all() else {b}
    ###
        return {a} if np.array([{a}]) > 0 else {b}
    ###
        return {b} if x[:1] < {a} else {c}
    ###
        return {a} if bool(np.array({b} > 0)) else {c}
    """,
    "membership": """
        return {a} if int(3 * {a}) in (0, 1) else {b}
    ###
        return {a} if {b} in [{b}, {c}] else 0.0
    ###
        d = {{True: {a}, False: {b}}}
        return d[{c} > 0]
    ###
        return len({{int(2 * {a}), int(2 * {b}), 0}}) * 0.5 + {c}
    """,
    "functions of math": """
        m, e = math.frexp(abs({a}) + 0.1)
        return m * {b} + e
    ###
        return math.ldexp({a}, 2) + math.hypot({a}, {b}, {c}) + math.dist((1.0, {a}), ({b}, 0.0))
    ###
        return math.erf({a}) + math.gamma(abs({b}) + 1.0) + math.lgamma(abs({c}) + 1.0)
    ###
        y = math.fsum([{a}, {b}, 1e16, -1e16]) + math.prod(({a}, {b}))
        y += float(math.isclose({a}, {b}, abs_tol=0.2))
        return y + math.expm1({a}) + math.log1p(abs({b})) + math.degrees({c})
    """,
    "bits": """
        return float(int(8 * abs({a})) & 3) + {b}
    ###
        return float(int(8 * abs({a})) << 2) * 0.01 + (int(4 * abs({b})) ^ 1)
    ###
        return float(~int(3 * {a})) * 0.1
    ###
        return float(int(5 * abs({a})) | 8) + -(int(3 * {b})) // 2
    """,
    "switched errors": """
        with np.errstate(all="ignore"):
            return float(np.where({a} > 0, np.sqrt({a}), {b}))
    ###
        with np.errstate(invalid="raise"):
            return float(np.sqrt({a} + 0.9))
    ###
        with np.errstate(divide="ignore"):
            return float(np.clip(np.float64(1.0) / ({a} * 0.0 + 2.0), -1, 1)) + {b}
    ###
        with np.errstate(over="raise"):
            return float(np.exp({a})) + {c}
    """,
    "kept results": """
        return cached({a} > 0) * {b}
    ###
        return twice(3) + {a}
    ###
        return Kept({a}).size + {b}
    ###
        return Level.HIGH.value * {a} + Mode["SLOW"] * {b} + Record(1.0, {c}).v
    ------
    import functools, enum, dataclasses, typing
    @functools.lru_cache(maxsize=None)
    def cached(up): return 2.0 if up else -1.0
    @functools.cache
    def twice(n): return 2.0 * n
    class Kept:
        __slots__ = ("y",)
        def __init__(self, y): self.y = y
        @functools.lru_cache
        def fixed(self): return 1.0
        @property
        def size(self): return abs(self.y)
    class Level(enum.Enum): HIGH = 2.0
    Mode = {"SLOW": 0.5}
    class Record(typing.NamedTuple):
        u: float
        v: float
    """,
    "deleted names": """
        y = {a}
        z = y + 1.0
        del y
        return z * {b}
    ###
        s = [{a}, {b}, {c}]
        del s[1]
        return s[0] + s[1]
    ###
        d = dict(u={a}, v={b})
        return d.pop("u") + d.setdefault("w", {c}) + len(d)
    ###
        s = [{a}]
        s.extend(x)
        s.insert(0, {b})
        return s.pop() + s.pop(0) + s.index(s[0])
    """,
    "asking for nan": """
        y = np.sqrt({a})
        return {b} if y >= 0.0 else {c}
    ###
        y = np.log({a})
        return {b} if y == y else {c}
    ###
        y = np.sqrt({a})
        return {c} if y != y else {b}
    ###
        y = np.sqrt({a} - 0.2)
        return {b} if not (y <= 10.0) else float(y)
    """,
}
"""Bodies by kind: skeletons are parted by ###, the world of the kind stands behind ------."""


@dataclass(frozen=True)
class Devious:
    """A function of the corpus: its kind, its number there, the text of its body and of its world."""

    kind: str
    number: int
    body: str
    world: str

    @property
    def name(self) -> str:
        return f"{self.kind.replace(' ', '_')}_{self.number}"

    def made(self, source: bool = True) -> dict:
        """The names of a module with ``g``, made anew; without ``source`` nobody can read it or its like."""
        text = f"import math\nimport numpy as np\n{self.world}\ndef g(t, x, p):\n{textwrap.indent(self.body, '    ')}\n"
        file = f"<{self.name} {zlib.crc32(text.encode())}>"
        if source:
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        names = {"__name__": "devious"}
        exec(compile(text if source else f"\n{text}", file if source else "<unseen>", "exec"), names)
        return names


def corpus() -> list[Devious]:
    """All functions, in an order that stays."""
    return [one for kind in KINDS for one in functions_of(kind, FILLINGS)]


def functions_of(kind: str, fillings) -> list[Devious]:
    """The functions of a kind, its skeletons filled in these ways."""
    bodies, _, world = KINDS[kind].partition("    ------\n")
    found = []
    for k, (skeleton, filling) in enumerate(itertools.product(bodies.split("    ###\n"), fillings)):
        body = textwrap.dedent(skeleton.rstrip().lstrip("\n"))
        found.append(Devious(kind, k, body.format(**filling), textwrap.dedent(world)))
    return found
