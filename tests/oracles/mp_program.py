"""Programs in 60 digits: values of rows, slopes by differences. Knows what rows mean, nothing of derivatives."""

import mpmath as mp

from polhode.programs.trace import spread

DIGITS = 60
STEP = mp.mpf(10) ** -15

FUNCTIONS = {name: getattr(mp, name) for name in ("exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
                                                  "sinh", "cosh", "tanh", "floor")} | {
    "abs": abs, "sign": lambda a: mp.mpf(1) if a >= 0 else mp.mpf(-1), "pow": lambda a, b: a**b,
    "less": lambda a, b: mp.mpf(a < b), "choose": lambda c, a, b: a if c != 0 else b, "min": min, "max": max,
    "outweighs": lambda a, b: mp.mpf(abs(a) > abs(b)), "at_most": lambda a, b: mp.mpf(a <= b),
    "floordiv": lambda a, b: mp.floor(a / b),
    "plus": lambda a, b: a + b, "minus": lambda a, b: a - b, "times": lambda a, b: a * b, "over": lambda a, b: a / b,
}  # fmt: skip


def precise(given):
    """Numbers and vectors by name as precise numbers, vectors as lists; a quaternion exactly normalised."""
    made = {k: [mp.mpf(float(x)) for x in v] if hasattr(v, "__len__") else mp.mpf(float(v)) for k, v in given.items()}
    if "q" in made:
        size = mp.sqrt(mp.fsum(x * x for x in made["q"]))
        made["q"] = [x / size for x in made["q"]]
    return made


def values(graph, outputs, given):
    """Values of rows from precise numbers and vectors by name."""
    inputs, found = spread(**given), {}
    for a in graph.needed(outputs):
        kind, *rest = graph.rows[a]
        if kind == "const":
            found[a] = mp.mpf(rest[0])
        elif kind == "in":
            found[a] = inputs[rest[0]]
        elif kind == "sum":
            found[a] = mp.fsum([rest[0], *(mp.mpf(f) * found[b] for b, f in rest[1])])
        elif kind == "mul":
            found[a] = mp.fprod(found[b] ** mp.mpf(e) for b, e in rest[0])
        else:
            found[a] = FUNCTIONS[rest[0]](*(found[b] for b in rest[1]))
    return [found[a] for a in outputs]


def moved(given, name, k, step):
    """The inputs with component k of a vector (a number for k = None) changed by a step."""
    if k is None:
        return {**given, name: given[name] + step}
    return {**given, name: [x + step * (i == k) for i, x in enumerate(given[name])]}


def rotated(given, axis, angle):
    """The inputs with the body turned about one of its axes."""
    w, x, y, z = given["q"]
    c, s = mp.cos(angle / 2), [mp.sin(angle / 2) * (k == axis) for k in range(3)]
    turn = [
        w * c - x * s[0] - y * s[1] - z * s[2], w * s[0] + x * c + y * s[2] - z * s[1],
        w * s[1] - x * s[2] + y * c + z * s[0], w * s[2] + x * s[1] - y * s[0] + z * c,
    ]  # fmt: skip
    return {**given, "q": turn}


def slope(function, change):
    """Derivative of a function of inputs along ``change(step)``, by central differences of order 4."""
    h = STEP
    near, far = (function(change(k * h)) - function(change(-k * h)) for k in (1, 2))
    return (8 * near - far) / (12 * h)


def slope_of(graph, output, given, name, k=None):
    """Derivative of a row by an input."""
    return slope(lambda at: values(graph, [output], at)[0], lambda e: moved(given, name, k, e))
