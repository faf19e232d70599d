"""The algorithms of Krysl 2006 as printed, in plain numpy with rotation matrices, sharing nothing with polhode.

Corrections of the errata are marked with their number. A state is (R, Pi); ``T(t, R, Omega)`` is the body torque;
``I`` holds the principal moments. Implicit equations are solved by Newton's method with differences, to round-off.
"""

import numpy as np

ONE = np.eye(3)


def skew(w):
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def exp(psi):
    angle = np.linalg.norm(psi)
    A = skew(psi)
    return ONE + np.sinc(angle / np.pi) * A + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * A @ A


def cay(psi):
    A = skew(psi)
    return np.linalg.solve(ONE - A / 2, ONE + A / 2)  # K6


def dexp(theta):
    """Equation (9)."""
    angle = np.linalg.norm(theta)
    if angle < 1e-4:
        return ONE + skew(theta) / 2 + skew(theta) @ skew(theta) / 6
    A = skew(theta)
    return ONE + (1 - np.cos(angle)) / angle**2 * A + (1 - np.sin(angle) / angle) * A @ A / angle**2


def dcay(u):
    return (ONE + skew(u) / 2) / (1 + u @ u / 4)


def solve(f, x):
    """Newton's method until corrections no longer shrink."""
    x = np.array(x, dtype=float)
    before = np.inf
    for _ in range(40):
        r = f(x)
        J = np.empty((x.size, x.size))
        for k in range(x.size):
            d = np.zeros(x.size)
            d[k] = 1e-6
            J[:, k] = (f(x + d) - f(x - d)) / 2e-6
        step = np.linalg.solve(J, r)
        x = x - step
        size = np.abs(step).max()
        if size < 1e-13 and size >= before / 2:
            return x
        if size == 0.0:
            return x
        before = size
    raise AssertionError(f"no convergence, last correction {before}")


def rate(I, Pi):
    return -skew(Pi / I) @ Pi


# ------------------------------------------------------------------ section 3
def forward_euler(t, h, R, Pi, I, T):
    """(11)"""
    return R @ exp(h * Pi / I), Pi + h * rate(I, Pi) + h * T(t, R, Pi / I)


def backward_euler(t, h, R, Pi, I, T):
    """(12)"""

    def attitude(x):
        return R @ exp(h * x / I)

    x = solve(lambda x: Pi + h * rate(I, x) + h * T(t + h, attitude(x), x / I) - x, Pi)
    return attitude(x), x


def forward_euler_m(t, h, R, Pi, I, T):
    """(18)"""
    psi = h * Pi / I
    return R @ exp(psi), exp(-psi) @ (Pi + h * T(t, R, Pi / I))


def backward_euler_m(t, h, R, Pi, I, T):
    """(19)"""

    def new(x):
        psi = h * x / I
        return exp(-psi) @ (Pi + h * exp(psi) @ T(t + h, R @ exp(psi), x / I))

    x = solve(lambda x: new(x) - x, Pi)
    return R @ exp(h * x / I), x


def trap(t, h, R, Pi, I, T):
    def attitude(x):
        return R @ exp(h / 2 * Pi / I) @ exp(h / 2 * x / I)

    start = rate(I, Pi) + T(t, R, Pi / I)
    x = solve(lambda x: Pi + h / 2 * (start + rate(I, x) + T(t + h, attitude(x), x / I)) - x, Pi)
    return attitude(x), x


def imid(t, h, R, Pi, I, T):
    def torque(x):
        return T(t + h / 2, R @ exp(h / 2 * x / I), x / I)  # K3

    mean = solve(lambda x: Pi + h / 2 * rate(I, x) + h / 2 * torque(x) - x, Pi)
    return R @ exp(h * mean / I), Pi + h * rate(I, mean) + h * torque(mean)


def trapm(t, h, R, Pi, I, T):
    def attitude(x):
        return R @ exp(h / 2 * Pi / I) @ exp(h / 2 * x / I)

    start = Pi + h / 2 * T(t, R, Pi / I)

    def new(x):
        return attitude(x).T @ R @ start + h / 2 * T(t + h, attitude(x), x / I)

    x = solve(lambda x: new(x) - x, Pi)
    return attitude(x), x


def imidm(t, h, R, Pi, I, T):
    def torque(psi):
        return T(t + h / 2, R @ exp(psi / 2), psi / h)  # K3

    psi = solve(lambda psi: h * (exp(-psi / 2) @ Pi + h / 2 * torque(psi)) / I - psi, h * Pi / I)
    return R @ exp(psi), exp(-psi) @ Pi + h * exp(-psi / 2) @ torque(psi)


def mkrk(A, b, c, turn=exp, tangent=dexp):
    """The Munthe-Kaas method of a tableau; all stages are unknowns, whatever the tableau."""
    s = len(b)

    def step(t, h, R, Pi, I, T):
        def pieces(x):
            psi, m = x[: 3 * s].reshape(s, 3), x[3 * s :].reshape(s, 3)
            k = [np.linalg.solve(tangent(-psi[j]), m[j] / I) for j in range(s)]
            l = [turn(psi[j]) @ T(t + c[j] * h, R @ turn(psi[j]), m[j] / I) for j in range(s)]
            return psi, m, np.array(k), np.array(l)

        def residual(x):
            psi, m, k, l = pieces(x)
            stages = [turn(-psi[i]) @ (Pi + h * A[i] @ l) for i in range(s)]
            return np.concatenate([(h * A @ k - psi).ravel(), (np.array(stages) - m).ravel()])

        _, _, k, l = pieces(solve(residual, np.concatenate([np.outer(c, h * Pi / I).ravel(), np.tile(Pi, s)])))
        psi = h * b @ k
        return R @ turn(psi), turn(-psi) @ (Pi + h * b @ l)

    return step


# ------------------------------------------------------------------ section 4
def mean_turn(h, Pi, x, I):
    return h / 2 * (x / I + Pi / I)


def swc1(t, h, R, Pi, I, T):
    def new(x):
        psi = mean_turn(h, Pi, x, I)
        return exp(-psi) @ Pi + h * exp(-psi / 2) @ T(t + h / 2, R @ exp(psi / 2), psi / h)  # K4

    x = solve(lambda x: new(x) - x, Pi)
    return R @ exp(mean_turn(h, Pi, x, I)), x


def akw(t, h, R, Pi, I, T):
    def attitude(x):
        return R @ cay(h * (Pi + x) / 2 / I)

    def new(x):
        return Pi + h * rate(I, (Pi + x) / 2) + h / 2 * (T(t, R, Pi / I) + T(t + h, attitude(x), x / I))

    x = solve(lambda x: new(x) - x, Pi)
    return attitude(x), x


def bbtrapwd(t, h, R, Pi, I, T):
    def residual(z):
        psi, x = z[:3], z[3:]
        turn = h / 2 * (np.linalg.solve(dexp(-psi), x / I) + Pi / I)
        new = exp(-psi) @ (Pi + h / 2 * T(t, R, Pi / I)) + h / 2 * T(t + h, R @ exp(psi), x / I)
        return np.concatenate([turn - psi, new - x])

    z = solve(residual, np.concatenate([h * Pi / I, Pi]))
    return R @ exp(z[:3]), z[3:]


def bbtrap(t, h, R, Pi, I, T):
    def new(x):
        psi = mean_turn(h, Pi, x, I)
        return exp(-psi) @ (Pi + h / 2 * T(t, R, Pi / I)) + h / 2 * T(t + h, R @ exp(psi), x / I)

    x = solve(lambda x: new(x) - x, Pi)
    return R @ exp(mean_turn(h, Pi, x, I)), x


# ------------------------------------------------------------------ references 8 and 9
def liemid_e1(t, h, R, Pi, I, T):
    start = Pi + h * T(t, R, Pi / I)
    psi = solve(lambda psi: h * (exp(-psi / 2) @ start) / I - psi, h * Pi / I)
    return R @ exp(psi), exp(-psi) @ start


def liemid_e2(t, h, R, Pi, I, T):
    psi = solve(lambda psi: h * (exp(-psi / 2) @ Pi) / I - psi, h * Pi / I)
    free = exp(-psi) @ Pi
    return R @ exp(psi), solve(lambda x: free + h * T(t + h, R @ exp(psi), x / I) - x, free)


def liemid_ea(t, h, R, Pi, I, T):
    R, Pi = liemid_e1(t, h / 2, R, Pi, I, T)
    return liemid_e2(t + h / 2, h / 2, R, Pi, I, T)


# ------------------------------------------------------------------ section 2; f(t, u, v) is the force, M the mass
def vector_forward_euler(t, h, u, p, M, f):
    """(2)"""
    return u + h * p / M, p + h * f(t, u, p / M)


def vector_backward_euler(t, h, u, p, M, f):
    """(3)"""
    x = solve(lambda x: p + h * f(t + h, u + h * x / M, x / M) - x, p)
    return u + h * x / M, x


def vector_trapezoid(t, h, u, p, M, f):
    """(4)"""

    def place(x):
        return u + h / 2 * (p + x) / M

    x = solve(lambda x: p + h / 2 * (f(t, u, p / M) + f(t + h, place(x), x / M)) - x, p)
    return place(x), x


def vector_midpoint(t, h, u, p, M, f):
    """(5), K1"""
    mean = solve(lambda x: p + h / 2 * f(t + h / 2, u + h / 2 * x / M, x / M) - x, p)
    return u + h * mean / M, p + h * f(t + h / 2, u + h / 2 * mean / M, mean / M)


# ------------------------------------------------------------------ Holzinger & Gerstmayr 2021
def lie(A, b, c, turn=exp, tangent=dexp, middle=False):
    """Section 6 with any tableau: (51) with (1) in one step, then (5); the tangent operator of (6) is ``tangent(-O)``.

    With ``middle`` the chart is centred on half the turn of the step.
    """

    def step(t, h, R, Pi, I, T):
        s = len(b)

        def slopes(K):
            O, P = K[:, :3], K[:, 3:]
            base = turn(h * b @ O / 2) if middle else ONE
            start = -h * b @ O / 2 if middle else np.zeros(3)
            found = np.empty((s, 6))
            for i in range(s):
                o, p = start + h * A[i] @ O, Pi + h * A[i] @ P
                found[i, :3] = np.linalg.solve(tangent(-o), p / I)
                found[i, 3:] = rate(I, p) + T(t + c[i] * h, R @ base @ turn(o), p / I)
            return found

        K = np.zeros((s, 6))
        for _ in range(s):  # of an explicit tableau, a stage more is right each time
            K = slopes(K)
        if np.triu(A).any():
            K = solve(lambda x: (slopes(x.reshape(s, 6)) - x.reshape(s, 6)).ravel(), K.ravel()).reshape(s, 6)
        half = h * b @ K[:, :3] / 2
        whole = turn(half) @ turn(half) if middle else turn(2 * half)
        return R @ whole, Pi + h * b @ K[:, 3:]

    return step


def semi_implicit_euler(t, h, R, Pi, I, T):
    """(53) and (54) as printed."""
    Pi1 = Pi + h * rate(I, Pi) + h * T(t, R, Pi / I)
    return R @ exp(h * Pi1 / I), Pi1


def vector_of(R):
    angle = np.arccos((np.trace(R) - 1) / 2)
    return angle / (2 * np.sin(angle)) * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])


def cardan(a):
    """(37) with (38)."""
    return exp(a[0] * ONE[0]) @ exp(a[1] * ONE[1]) @ exp(a[2] * ONE[2])


def cardan_of(R):
    return np.array([np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])])


def cardan_rates(a, w):
    """(88)"""
    u = (np.cos(a[2]) * w[0] - np.sin(a[2]) * w[1]) / np.cos(a[1])
    return np.array([u, np.sin(a[2]) * w[0] + np.cos(a[2]) * w[1], w[2] - np.sin(a[1]) * u])


def quaternion_matrix(q):
    K = skew(q[1:])
    return ONE + 2 * q[0] * K + 2 * K @ K


def quaternion_of(R):
    v = vector_of(R)
    angle = np.linalg.norm(v)
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * v / angle)])


def quaternion_rates(q, w):
    return 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])


def rates(A, b, c, numbers, matrix, slope):
    """(4) and (1) by an explicit tableau: ``numbers`` of a matrix, their ``matrix``, and their ``slope``."""

    def step(t, h, R, Pi, I, T):
        start = numbers(R)
        x, P = np.zeros((len(b), start.size)), np.zeros((len(b), 3))
        for i in range(len(b)):
            at, p = start + h * A[i] @ x, Pi + h * A[i] @ P
            x[i], P[i] = slope(at, p / I), rate(I, p) + T(t + c[i] * h, matrix(at), p / I)
        end = start + h * b @ x
        return matrix(end / np.linalg.norm(end) if start.size == 4 else end), Pi + h * b @ P

    return step
