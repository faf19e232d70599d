/* The same three steps as polhode's engine takes, as one would write them in C for a single body.
   Built by engine.py with gcc -O3 -march=native. */
#include <math.h>

typedef struct { double m[3], q[4]; } body;

static void about_1(body *b, double a) {
    double c = cos(.5 * a), s = sin(.5 * a), C = 1 - 2 * s * s, S = 2 * c * s, *m = b->m, *q = b->q;
    double m1 = C * m[1] + S * m[2], m2 = C * m[2] - S * m[1];
    double q0 = q[0] * c - q[1] * s, q1 = q[1] * c + q[0] * s, q2 = q[2] * c + q[3] * s, q3 = q[3] * c - q[2] * s;
    m[1] = m1; m[2] = m2; q[0] = q0; q[1] = q1; q[2] = q2; q[3] = q3;
}

static void multiply(const double *a, const double *b, double *r) {
    r[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    r[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    r[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    r[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static void symmetric(body *b, double h, const double *j) {
    double *m = b->m, *q = b->q, e[4], r[4];
    double n = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]), a = .5 * h * j[1] * n, s = n > 0 ? sin(a) / n : 0;
    e[0] = cos(a); e[1] = s * m[0]; e[2] = s * m[1]; e[3] = s * m[2];
    multiply(q, e, r);
    double d = .5 * h * (j[2] - j[1]) * m[2], c = cos(d), t = sin(d), C = 1 - 2 * t * t, S = 2 * c * t;
    double m0 = C * m[0] + S * m[1], m1 = C * m[1] - S * m[0];
    m[0] = m0; m[1] = m1;
    q[0] = r[0] * c - r[3] * t; q[1] = r[1] * c + r[2] * t; q[2] = r[2] * c - r[1] * t; q[3] = r[3] * c + r[0] * t;
}

static void turn(body *b, double h, const double *j) {
    about_1(b, .5 * h * (j[0] - j[1]) * b->m[0]);
    symmetric(b, h, j);
    about_1(b, .5 * h * (j[0] - j[1]) * b->m[0]);
}

static void torque(double t, const double *q, const double *omega, const double *p, double *T) {
    T[0] = 2 * p[0] * (q[2] * q[3] + q[0] * q[1]);
    T[1] = -2 * p[0] * (q[1] * q[3] - q[0] * q[2]);
    T[2] = 0;
}

typedef void (*torque_function)(double, const double *, const double *, const double *, double *);
torque_function torque_address(void) { return torque; }

void free_splitting(long n, double h, double *y, const double *j) {
    body b = {{y[0], y[1], y[2]}, {y[3], y[4], y[5], y[6]}};
    for (long k = 0; k < n; k++) turn(&b, h, j);
    for (int i = 0; i < 3; i++) y[i] = b.m[i];
    for (int i = 0; i < 4; i++) y[3 + i] = b.q[i];
}

/* q = q e at unit length, as polhode keeps it. */
static void compose(double *r) {
    double n = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
    if (fabs(n - 1) > 2e-14)
        for (int i = 0; i < 4; i++) r[i] *= 1.5 - .5 * n;
}

#define TORQUE(f) { double w[3] = {j[0] * b.m[0], j[1] * b.m[1], j[2] * b.m[2]}; f; }

#define STRANG(NAME, CALL, ...)                                                             \
    void NAME(long n, double h, double *y, const double *j, const double *p, ##__VA_ARGS__) { \
        body b = {{y[0], y[1], y[2]}, {y[3], y[4], y[5], y[6]}};                            \
        double T[3];                                                                        \
        for (long k = 0; k < n; k++) {                                                      \
            TORQUE(CALL(k * h, b.q, w, p, T))                                               \
            for (int i = 0; i < 3; i++) b.m[i] += .5 * h * T[i];                            \
            turn(&b, h, j);                                                                 \
            TORQUE(CALL((k + 1) * h, b.q, w, p, T))                                         \
            for (int i = 0; i < 3; i++) b.m[i] += .5 * h * T[i];                            \
        }                                                                                   \
        for (int i = 0; i < 3; i++) y[i] = b.m[i];                                          \
        for (int i = 0; i < 4; i++) y[3 + i] = b.q[i];                                      \
    }
STRANG(strang, torque)
STRANG(strang_pointer, f, torque_function f)

/* Implicit midpoint (IMID): Newton with the Jacobian of the inertial part, as polhode does, then the explicit half. */
static void turned(const double *q, const double *w, double a, double *r) {
    double x = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], e[4], s;
    double n = sqrt(x);
    s = n > 0 ? sin(.5 * a * n) / n : .5 * a;
    e[0] = cos(.5 * a * n); e[1] = s * w[0]; e[2] = s * w[1]; e[3] = s * w[2];
    multiply(q, e, r);
}

#define MIDPOINT(NAME, CALL, ...)                                                                          \
    void NAME(long n, double h, double *y, const double *j, const double *p, ##__VA_ARGS__) {              \
        double m[3] = {y[0], y[1], y[2]}, q[4] = {y[3], y[4], y[5], y[6]}, T[3], r[4], w[3], g = .5 * h;    \
        for (long k = 0; k < n; k++) {                                                                     \
            double x[3] = {m[0], m[1], m[2]}, before = INFINITY;                                           \
            double size = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);                                   \
            for (int it = 0; it < 50; it++) {                                                              \
                for (int i = 0; i < 3; i++) w[i] = j[i] * x[i];                                            \
                turned(q, w, g, r);                                                                        \
                CALL((k + .5) * h, r, w, p, T);                                                            \
                double F[3] = {x[0] - m[0] - g * (x[1] * w[2] - x[2] * w[1] + T[0]),                       \
                               x[1] - m[1] - g * (x[2] * w[0] - x[0] * w[2] + T[1]),                       \
                               x[2] - m[2] - g * (x[0] * w[1] - x[1] * w[0] + T[2])};                      \
                double A[9] = {1, -g * (w[2] - x[2] * j[1]), -g * (x[1] * j[2] - w[1]),                    \
                               -g * (x[2] * j[0] - w[2]), 1, -g * (w[0] - x[0] * j[2]),                    \
                               -g * (w[1] - x[1] * j[0]), -g * (x[0] * j[1] - w[0]), 1};                   \
                double c0 = A[4] * A[8] - A[5] * A[7], c1 = A[5] * A[6] - A[3] * A[8],                     \
                       c2 = A[3] * A[7] - A[4] * A[6], d = 1 / (A[0] * c0 + A[1] * c1 + A[2] * c2);        \
                double dx[3] = {                                                                           \
                    d * (c0 * F[0] + (A[2] * A[7] - A[1] * A[8]) * F[1] + (A[1] * A[5] - A[2] * A[4]) * F[2]), \
                    d * (c1 * F[0] + (A[0] * A[8] - A[2] * A[6]) * F[1] + (A[2] * A[3] - A[0] * A[5]) * F[2]), \
                    d * (c2 * F[0] + (A[1] * A[6] - A[0] * A[7]) * F[1] + (A[0] * A[4] - A[1] * A[3]) * F[2])}; \
                for (int i = 0; i < 3; i++) x[i] -= dx[i];                                                 \
                double step = sqrt(dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2]);                         \
                double scale = size + sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);                       \
                if (step <= 1e-15 * scale || (it > 0 && step * step <= 1e-16 * scale * before)) break;     \
                before = step;                                                                             \
            }                                                                                              \
            for (int i = 0; i < 3; i++) w[i] = j[i] * x[i];                                                \
            turned(q, w, g, r); compose(r);                                                                \
            CALL((k + .5) * h, r, w, p, T);                                                                \
            m[0] = x[0] + g * (x[1] * w[2] - x[2] * w[1] + T[0]);                                          \
            m[1] = x[1] + g * (x[2] * w[0] - x[0] * w[2] + T[1]);                                          \
            m[2] = x[2] + g * (x[0] * w[1] - x[1] * w[0] + T[2]);                                          \
            turned(r, w, g, q); compose(q);                                                                \
        }                                                                                                  \
        for (int i = 0; i < 3; i++) y[i] = m[i];                                                           \
        for (int i = 0; i < 4; i++) y[3 + i] = q[i];                                                       \
    }
MIDPOINT(midpoint, torque)
MIDPOINT(midpoint_pointer, f, torque_function f)
