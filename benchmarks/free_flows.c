/* polhode's free rotations, the same algorithms as one would write them in C for a single body.
   Built by free_flows.py with gcc -O3 -march=native -fno-math-errno.

   Every flow is exported as
       name(n, K, h, y, bodies, status)
   n applications to each of K bodies: h (K), y (K, 13) with the attitude quaternion at 6 and the body angular momentum at
   10, bodies (K, 8) with the moments at 1 and their inverses at 5, status (K). The formulas, their sources and their
   symbols are those of src/polhode/flows and src/polhode/algebra. */
#include <math.h>

#define INLINE static inline __attribute__((always_inline))
#define M_PI_2_ 1.57079632679489661923
enum { OK, NOT_CONVERGED, TOO_LARGE, NOT_FINITE };
typedef struct { double x, y, z; } v3;
typedef struct { double w, x, y, z; } q4;
typedef struct { double a[3], j[3]; } body; /* moments and their inverses */

INLINE double least(double a, double b) { return b < a ? b : a; }
INLINE double most(double a, double b) { return b > a ? b : a; }
INLINE double least3(double a, double b, double c) { return least(least(a, b), c); }
INLINE double most3(double a, double b, double c) { return most(most(a, b), c); }
INLINE v3 add(v3 a, v3 b) { return (v3){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE v3 scale(double s, v3 a) { return (v3){s * a.x, s * a.y, s * a.z}; }
INLINE v3 axpy(double s, v3 a, v3 b) { return (v3){s * a.x + b.x, s * a.y + b.y, s * a.z + b.z}; }
INLINE v3 times(v3 a, v3 b) { return (v3){a.x * b.x, a.y * b.y, a.z * b.z}; }
INLINE double dot(v3 a, v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE v3 cross(v3 a, v3 b) { return (v3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
INLINE q4 multiply(q4 a, q4 b) {
    return (q4){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
INLINE double square(q4 q) { return q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z; }
INLINE q4 compose(q4 q, q4 e) {
    q4 r = multiply(q, e);
    double n = square(r);
    if (fabs(n - 1) > 2e-14) {
        double f = 1.5 - .5 * n;
        r = (q4){f * r.w, f * r.x, f * r.y, f * r.z};
    }
    return r;
}

/* sin(theta/2)/theta and cos(theta/2) of theta^2. */
static const double SINE[] = {
    0.5, -0.020833333333333332, 0.00026041666666666666, -1.5500992063492063e-06, 5.382288910934745e-09,
    -1.2232474797578965e-11, 1.9603324996120133e-14, -2.333729166204778e-17, 2.1449716601146855e-20,
    -1.5679617398499164e-23, 9.333105594344741e-27, -4.6112181790240814e-30, 1.9213409079267006e-33,
    -6.842382150736113e-37};
static const double COSINE[] = {
    1.0, -0.125, 0.0026041666666666665, -2.170138888888889e-05, 9.68812003968254e-08, -2.691144455467372e-10,
    5.096864498991235e-13, -7.001187498614334e-16, 7.292903644389931e-19, -5.958254611429682e-22,
    3.919904349624791e-25, -2.1211603623510776e-28, 9.606704539633503e-32, -3.694886361397501e-35};
#define SWITCH 10.0
INLINE double polynomial(const double *c, double x) {
    double z = x * x;
    double even = c[2] + z * (c[4] + z * (c[6] + z * (c[8] + z * (c[10] + z * c[12]))));
    double odd = c[3] + z * (c[5] + z * (c[7] + z * (c[9] + z * (c[11] + z * c[13]))));
    return c[0] + x * (c[1] + x * (even + x * odd));
}
INLINE void half_sinc(double x, double *s, double *c) {
    if (x < SWITCH) {
        *s = polynomial(SINE, x);
        *c = polynomial(COSINE, x);
    } else {
        double t = sqrt(x);
        *s = sin(.5 * t) / t;
        *c = cos(.5 * t);
    }
}
INLINE q4 exp_quaternion(v3 v) {
    double s, c;
    half_sinc(dot(v, v), &s, &c);
    return (q4){c, s * v.x, s * v.y, s * v.z};
}

/* ------------------------------------------------------------------------------------------- the exact rotation */

#define PANEL 0.9
#define HYPERBOLIC 0.04
#define SEPARATRIX 1e-139
#define REST 160.0
/* Gauss rules of 5 and 9 nodes: the positive nodes; the weights of the middle and of these. */
static const double NODES5[] = {0.5384693101056831, 0.906179845938664},
                    WEIGHTS5[] = {0.5688888888888889, 0.4786286704993665, 0.23692688505618908};
static const double NODES9[] = {0.32425342340380893, 0.6133714327005904, 0.8360311073266358, 0.9681602395076261},
                    WEIGHTS9[] = {0.3302393550012598, 0.31234707704000284, 0.26061069640293544, 0.18064816069485740,
                                  0.08127438836157441};
typedef struct { double G, r, w, p, M, alpha, beta, k1, c0; } motion;
typedef struct { double c[9]; } terms;

INLINE void exchange(int f, double *a, double *b) { if (f) { double t = *a; *a = *b; *b = -t; } }
INLINE void restore(int f, double *a, double *b) { if (f) { double t = *a; *a = -*b; *b = t; } }
INLINE void order(int f, double *a, double *b) { if (f) { double t = *a; *a = *b; *b = t; } }

INLINE terms series(double a, double b) {
    double e = a + b, f = a * b, g = e * e, h = f * f;
    return (terms){{
        -e / 6,
        (g + 12 * f) / 120,
        -e * (g + 132 * f) / 5040,
        (g * (g + 1224 * f) + 3024 * h) / 362880,
        -e * (g * (g + 11064 * f) + 132624 * h) / 39916800,
        (g * (g * (g + 99636 * f) + 4095792 * h) + 4390848 * h * f) / 6227020800.,
        -e * (g * (g * (g + 896796 * f) + 111810672 * h) + 490287168 * h * f) / 1307674368000.,
        (g * (g * (g * (g + 8071248 * f) + 2901537504. * h) + 35424905472. * h * f) + 21224560896. * h * h)
            / 355687428096000.,
        -e * (g * (g * (g * (g + 72641328 * f) + 73688590944. * h) + 2134087471872. * h * f) + 4824426168576. * h * h)
            / 121645100408832000.}};
}
INLINE double sigma(double tau, double t, const double *c, int count) {
    double z = tau * tau, v = z * z, odd = 0, even = 0;
    for (int k = count - 1; k >= 0; k--) {
        if (k % 2) even = c[k] + v * even;
        else odd = c[k] + v * odd;
    }
    return tau * t * (1 + z * (odd + z * even));
}
INLINE double doubled(double s, double alpha, double beta, double *cb, double *db) {
    double A = alpha * s * s, B = beta * s * s, a = 1 - A, b = 1 - B, i = 2 / (1 - A * B);
    *cb = A * b * i;
    *db = B * a * i;
    return s * sqrt(a * b) * i;
}
INLINE v3 change(double x, double y, double z, double s, double cb, double db, const motion *o) {
    double t = o->r * o->w * (y * s) * (y * s), i = 1 / (1 - t), C = 1 - cb, D = 1 - db;
    return (v3){i * (x * (t - db) - y * z * C * s * o->w), i * (y * (t - cb - C * db) + o->p * s * z * x),
                i * (z * (t - cb) - y * x * s * D * o->r)};
}
INLINE double pair(double tau, double t, const double *c, int count, double x, double y, double z, const motion *o) {
    double s = sigma(tau, t, c, count), A = o->alpha * s * s, B = o->beta * s * s, a = 1 - A, b = 1 - B, n = 1 - A * B, u = a * b;
    double e = n * n - 4 * o->r * o->w * (y * s) * (y * s) * u, f = x * n * (n - 2 * B * a);
    double g = 2 * y * z * o->w * s * sqrt(u) * (n - 2 * A * b), d = o->G * e + f;
    return (o->k1 * (f * d - g * g) + o->c0 * e * d) / ((d - g) * (d + g));
}
INLINE double mean(double t, const double *c, int count, const double *nodes, const double *weights, double x, double y,
                   double z, const motion *o) {
    double total = .5 * weights[0] * (o->k1 * x + o->c0) / (o->G + x);
    for (int k = 0; k < count / 2; k++) total += weights[k + 1] * pair(nodes[k], t, c, count, x, y, z, o);
    return total;
}
INLINE v3 short_turn(double x, double y, double z, double h, double way, int count, const double *nodes,
                     const double *weights, const motion *o, double *psi) {
    double t = .25 * h, cb, db;
    terms c = series(o->alpha * t * t, o->beta * t * t);
    double s = doubled(way * sigma(1, t, c.c, count), o->alpha, o->beta, &cb, &db);
    v3 d = change(x, y, z, s, cb, db, o);
    *psi = h * mean(t, c.c, count, nodes, weights, x + d.x, y + d.y, z + d.z, o);
    s = doubled(s, o->alpha, o->beta, &cb, &db);
    return change(x, y, z, s, cb, db, o);
}
INLINE double cel(double kc, double p, double a, double b);
INLINE double nome(double small, double large) {
    double k = sqrt(large), s = 1 + sqrt(k), l = .5 * small / ((1 + k) * s * s), v = (l * l) * (l * l);
    return l * (1 + v * (2 + v * (15 + v * (150 + v * (1707 + v * (20910 + v * (268616 + v * (3567400
           + v * (48555069 + v * 673458874)))))))));
}

static __attribute__((noinline)) double long_turn(double *px, double *py, double *pz, double h, double sign, double kp2,
                                                  const motion *o, double *windings) {
    double x = *px, y = *py, z = *pz, rate = sqrt(o->alpha), k2 = least(1, o->beta / o->alpha);
    int hyperbolic = kp2 < HYPERBOLIC;
    if (kp2 < SEPARATRIX) kp2 = 0;
    double q = hyperbolic ? nome(kp2, k2) : nome(k2, kp2), q2 = q * q, q4 = q2 * q2;
    double q6 = q4 * q2, q9 = q4 * q4 * q, q12 = q4 * q4 * q4, q16 = (q4 * q4) * (q4 * q4), q20 = q16 * q4;
    double A0 = 1 - q2 - q6 + q12 + q20, A2 = 4 * (q6 - q12) - 12 * q20, A4 = 16 * q20;
    double B0 = 2 * (q6 - q2) + 4 * (q12 - q20), B2 = 8 * (q20 - q12);
    double C0 = 1 - 2 * (q4 - q16), C2 = 4 * q4 - 16 * q16, C4 = 16 * q16, D0 = 2 * q - 6 * q9, D2 = 8 * q9;
    double t2 = 1 + q2 + q6 + q12 + q20, t3 = 1 + 2 * (q + q4 + q9 + q16), t4 = 1 - 2 * (q - q4 + q9 - q16);
    double reach, to_s, to_c, to_d;
    if (hyperbolic) {
        reach = q > 0 ? -.5 * log(q) : 1e300;
        to_s = t3 / t4; to_c = t2 / t4; to_d = t2 / t3;
    } else {
        reach = M_PI_2_;
        to_s = t3 / t2; to_c = t4 / t2; to_d = t4 / t3;
    }
    double per = 1 / (t3 * t3), K = reach * t3 * t3, u = rate * h, turns = floor(.5 * u / K + .5);
    double rest = u - 2 * K * turns, bound = K;
    if (K > REST) bound = x > 0 ? least(REST, 45 + log(2 * o->G / x)) : 0;
    rest = least(most(rest, -bound), bound);
    double total = 0, X = sqrt(o->M / o->p);
    *windings = 0;
    if (turns != 0 && o->k1 > 0) {
        total = 2 * turns * o->G * o->w * cel(sqrt(kp2), o->p / o->r, 0, o->p / o->r);
        *windings = turns - 2 * floor(.5 * turns);
    } else if (turns != 0) {
        int count = (int)(K * (1 + sqrt(k2))) + 1;
        double d = .5 * reach / count, c = hyperbolic ? .5 * (exp(d) + exp(-d)) : cos(d), f = 4 * c * c - 2;
        double before = c, here = c;
        for (int i = 0; i < count; i++) {
            double v = here * here, C = C0 + v * (C2 + v * C4), D = here * (D0 + v * D2), below = C - D;
            if (hyperbolic) {
                double A = A0 + v * (A2 + v * A4), B = here * (B0 + v * B2);
                below = sqrt(.5 * (1 + here)) * (A - B);
            }
            double dn = to_d * (C + D) / below, a = X * dn, b = X * sqrt(kp2) / dn;
            total += o->c0 / (o->G + a) + o->c0 / (o->G + b);
            double next = f * here - before;
            before = here;
            here = next;
        }
        total *= turns * K / count;
    } else if (K > REST) {
        total = (u - rest) * o->c0 / o->G;
    }
    int count = (int)(fabs(rest) * (1 / PANEL)) + 1;
    double step = rest / count, t = .25 * step / rate, sum = 0;
    terms c = series(o->alpha * t * t, o->beta * t * t);
    double parity = 1 - 2 * (turns - 2 * floor(.5 * turns)), x1 = x, y1 = y, z1 = z;
    for (int i = 0; i <= count; i++) {
        double v = per * (i < count ? (i + .5) * step : rest), sv, cv, here;
        if (hyperbolic) {
            double a = exp(v), b = 1 / a;
            sv = .5 * (a - b); cv = .5 * (a + b);
            here = 1 + 2 * sv * sv;
        } else {
            half_sinc(4 * v * v, &sv, &cv);
            sv *= 2 * v;
            here = 1 - 2 * sv * sv;
        }
        double b = here * here, A = A0 + b * (A2 + b * A4), B = here * (B0 + b * B2);
        double C = C0 + b * (C2 + b * C4), D = here * (D0 + b * D2);
        double sn = sv * (A + B), cn = cv * (A - B), dn = C + D, a;
        if (hyperbolic) {
            a = 1 / cn;
            cn = C - D;
        } else {
            a = 1 / (C - D);
        }
        sn = to_s * sn * a * sign; cn = to_c * cn * a; dn = to_d * dn * a;
        if (i == count) { sn *= parity; cn *= parity; }
        a = 1 / (cn * cn + sn * sn * (o->p * x * x / o->M));
        double s = sn / rate;
        x1 = a * (x * dn - y * z * cn * s * o->w);
        y1 = a * (y * cn * dn + o->p * s * z * x);
        z1 = a * (z * cn - y * x * s * dn * o->r);
        if (i < count) sum += mean(t, c.c, 9, NODES9, WEIGHTS9, x1, y1, z1, o);
    }
    double a = o->G / sqrt(x1 * x1 + y1 * y1 + z1 * z1);
    *px = a * x1; *py = a * y1; *pz = a * z1;
    return (total + step * sum) / rate;
}

INLINE v3 ordinary(const double *j, const double *I, v3 m, double h, q4 *turn) {
    double i0 = I[0], i1 = I[1], i2 = I[2], j0 = j[0], j1 = j[1], j2 = j[2], m0 = m.x, m1 = m.y, m2 = m.z;
    int first = i0 > i1;
    order(first, &i0, &i1); order(first, &j0, &j1); exchange(first, &m0, &m1);
    int second = i1 > i2;
    order(second, &i1, &i2); order(second, &j1, &j2); exchange(second, &m1, &m2);
    int third = i0 > i1;
    order(third, &i0, &i1); order(third, &j0, &j1); exchange(third, &m0, &m1);
    double low = (i1 - i0) * j0 * j1, high = (i2 - i1) * j1 * j2, p = (i2 - i0) * j0 * j2;
    double L = low * m0 * m0 - high * m2 * m2, r = low, w = high, x = m0, y = m1, z = m2;
    int about_third = !(L > 0);
    order(about_third, &r, &w);
    exchange(about_third, &x, &z);
    double sign = x >= 0 ? 1 : -1;
    x = fabs(x);
    double G = sqrt(x * x + y * y + z * z), N = r * y * y + p * z * z, M = p * x * x + w * y * y, alpha = M * r, beta = N * w;
    motion o = {G, r, w, p, M, alpha, beta, about_third ? 0 : p * G, about_third ? N : M};
    double way = about_third ? -sign : sign, size = alpha * h * h, x1, y1, z1, psi, windings = 0;
    v3 d;
    if (!(size < INFINITY)) {
        *turn = (q4){NAN, NAN, NAN, NAN};
        return (v3){NAN, NAN, NAN};
    }
    if (size <= PANEL * PANEL) {
        if (size <= .2 * .2) d = short_turn(x, y, z, h, way, 5, NODES5, WEIGHTS5, &o, &psi);
        else d = short_turn(x, y, z, h, way, 9, NODES9, WEIGHTS9, &o, &psi);
        x1 = x + d.x; y1 = y + d.y; z1 = z + d.z;
    } else {
        x1 = x; y1 = y; z1 = z;
        psi = long_turn(&x1, &y1, &z1, h, way, least(1, p * fabs(L) / alpha), &o, &windings);
        d = (v3){x1 - x, y1 - y, z1 - z};
    }
    psi += h * j2 * G;
    double a = psi * psi, s, c;
    if (a < SWITCH) {
        half_sinc(a, &s, &c);
        s *= psi;
    } else {
        s = sin(.5 * psi); c = cos(.5 * psi);
    }
    if (windings == 1) { double f = s; s = c; c = -f; }
    s *= sign;
    double g = G + x, g1 = G + x1, across = z * d.y - y * d.z, along = z * z1 + y * y1, n = .5 / (G * sqrt(g * g1));
    q4 e = {n * (c * (g * g1 + along) + s * across), n * (s * (g * g1 - along) + c * across),
            n * sign * (c * (g * d.z - d.x * z) + s * (g * y1 + g1 * y)),
            n * sign * (s * (g * z1 + g1 * z) - c * (g * d.y - d.x * y))};
    d.x *= sign;
    restore(about_third, &d.x, &d.z); restore(about_third, &e.x, &e.z);
    restore(third, &d.x, &d.y); restore(third, &e.x, &e.y);
    restore(second, &d.y, &d.z); restore(second, &e.y, &e.z);
    restore(first, &d.x, &d.y); restore(first, &e.x, &e.y);
    *turn = e;
    return d;
}
static double power_of_two(double a, double b, double c) {
    int e;
    frexp(most3(fabs(a), fabs(b), fabs(c)), &e);
    return ldexp(1, e > 1000 ? -1000 : e < -1000 ? 1000 : -e);
}
static __attribute__((noinline)) v3 scaled(const double *j, const double *I, v3 m, double h, q4 *e) {
    double f = power_of_two(m.x, m.y, m.z), g = power_of_two(I[0], I[1], I[2]);
    double jg[3] = {j[0] / g, j[1] / g, j[2] / g}, Ig[3] = {g * I[0], g * I[1], g * I[2]};
    return scale(1 / f, ordinary(jg, Ig, scale(f, m), h * (g / f), e));
}
INLINE int exact_turn(double h, v3 *m, q4 *q, const body *b) {
    double angle = h * (fabs(b->j[0] * m->x) + fabs(b->j[1] * m->y) + fabs(b->j[2] * m->z));
    if (0 * angle != 0) return NOT_FINITE;
    double size = most3(fabs(m->x), fabs(m->y), fabs(m->z));
    if (size == 0) return OK;
    q4 e;
    v3 d;
    if (1e-60 < size && size < 1e60 && least3(b->a[0], b->a[1], b->a[2]) > 1e-60 && most3(b->a[0], b->a[1], b->a[2]) < 1e60)
        d = ordinary(b->j, b->a, *m, h, &e);
    else
        d = scaled(b->j, b->a, *m, h, &e);
    double vv = e.x * e.x + e.y * e.y + e.z * e.z, c = .5 * (1 - square(*q));
    double w = (e.w > .875 ? -vv / (1 + e.w) : e.w - 1) + c * e.w, f = 1 + c;
    q4 a = multiply(*q, (q4){w, f * e.x, f * e.y, f * e.z});
    q4 r = {q->w + a.w, q->x + a.x, q->y + a.y, q->z + a.z};
    if (0 * (r.w + r.x + r.y + r.z) != 0) return NOT_FINITE;
    *m = add(*m, d);
    *q = r;
    return OK;
}

/* ------------------------------------------------------------------------------------- rotations about body axes */

INLINE void half_and_whole(double a, double *c, double *s, double *C, double *S) {
    *c = cos(.5 * a); *s = sin(.5 * a);
    *C = 1 - 2 * *s * *s; *S = 2 * *c * *s;
}
INLINE void about_1(v3 *m, q4 *q, double a) {
    double c, s, C, S;
    half_and_whole(a, &c, &s, &C, &S);
    *m = (v3){m->x, C * m->y + S * m->z, C * m->z - S * m->y};
    *q = (q4){q->w * c - q->x * s, q->x * c + q->w * s, q->y * c + q->z * s, q->z * c - q->y * s};
}
INLINE void about_2(v3 *m, q4 *q, double a) {
    double c, s, C, S;
    half_and_whole(a, &c, &s, &C, &S);
    *m = (v3){C * m->x - S * m->z, m->y, C * m->z + S * m->x};
    *q = (q4){q->w * c - q->y * s, q->x * c - q->z * s, q->y * c + q->w * s, q->z * c + q->x * s};
}
INLINE void about_3(v3 *m, q4 *q, double a) {
    double c, s, C, S;
    half_and_whole(a, &c, &s, &C, &S);
    *m = (v3){C * m->x + S * m->y, C * m->y - S * m->x, m->z};
    *q = (q4){q->w * c - q->z * s, q->x * c + q->y * s, q->y * c - q->x * s, q->z * c + q->w * s};
}
INLINE int three_rotation_turn(double h, v3 *m, q4 *q, const body *b) {
    double d = .5 * h;
    about_3(m, q, d * b->j[2] * m->z);
    about_2(m, q, d * b->j[1] * m->y);
    about_1(m, q, h * b->j[0] * m->x);
    about_2(m, q, d * b->j[1] * m->y);
    about_3(m, q, d * b->j[2] * m->z);
    return OK;
}
INLINE int mr_turn(double h, v3 *m, q4 *q, const body *b) {
    double d = .5 * h;
    about_1(m, q, d * b->j[0] * m->x);
    about_2(m, q, d * b->j[1] * m->y);
    about_3(m, q, h * b->j[2] * m->z);
    about_2(m, q, d * b->j[1] * m->y);
    about_1(m, q, d * b->j[0] * m->x);
    return OK;
}
static const double JUMPS[] = {
    1.5872249277222432, -1.9997780973551231, 1.5872249277222432, -1.8232426634848289, 2.2971418107909307,
    -1.8232426634848289, 1.5872249277222432, -1.9997780973551231, 1.5872249277222432};
INLINE int mr6_turn(double h, v3 *m, q4 *q, const body *b) {
    for (int k = 0; k < 9; k++) mr_turn(JUMPS[k] * h, m, q, b);
    return OK;
}
INLINE int symmetric_turn(double h, v3 *m, q4 *q, const body *b) {
    double j0 = b->j[0], j1 = b->j[1], j2 = b->j[2];
    double d12 = fabs(j0 - j1), d23 = fabs(j1 - j2), d31 = fabs(j2 - j0);
    int n = 0;
    if (d23 < d12 || d31 < d12) n = d23 <= d31 ? 1 : 2;
    for (int i = 0; i < n; i++) {
        double t = j0;
        j0 = j1; j1 = j2; j2 = t;
        *m = (v3){m->y, m->z, m->x};
        *q = (q4){q->w, q->y, q->z, q->x};
    }
    double d = .5 * h * (j0 - j1);
    int first = d * h >= 0;
    for (int part = 0; part < 3; part++) {
        if (part == 1) {
            double across = first ? j1 : j0;
            *q = multiply(*q, exp_quaternion(scale(h * across, *m)));
            about_3(m, q, h * (j2 - across) * m->z);
        } else if (first) {
            about_1(m, q, d * m->x);
        } else {
            about_2(m, q, -d * m->y);
        }
    }
    for (int i = 0; i < (3 - n) % 3; i++) {
        *m = (v3){m->y, m->z, m->x};
        *q = (q4){q->w, q->y, q->z, q->x};
    }
    return OK;
}

/* --------------------------------------------------------------------------------------------- implicit midpoint */

INLINE v3 solve3(const double *a, v3 b) {
    double c0 = a[4] * a[8] - a[5] * a[7], c1 = a[5] * a[6] - a[3] * a[8], c2 = a[3] * a[7] - a[4] * a[6];
    double d = 1 / (a[0] * c0 + a[1] * c1 + a[2] * c2);
    return (v3){d * (c0 * b.x + (a[2] * a[7] - a[1] * a[8]) * b.y + (a[1] * a[5] - a[2] * a[4]) * b.z),
                d * (c1 * b.x + (a[0] * a[8] - a[2] * a[6]) * b.y + (a[2] * a[3] - a[0] * a[5]) * b.z),
                d * (c2 * b.x + (a[1] * a[6] - a[0] * a[7]) * b.y + (a[0] * a[4] - a[1] * a[3]) * b.z)};
}
INLINE v3 gain(v3 Y, v3 g) { return (v3){g.x * Y.y * Y.z, g.y * Y.z * Y.x, g.z * Y.x * Y.y}; }
INLINE int implicit_midpoint_turn(double h, v3 *m, q4 *q, const body *b) {
    v3 j = {b->j[0], b->j[1], b->j[2]}, w = times(j, *m), Y = *m;
    v3 g = {.5 * h * (j.z - j.y), .5 * h * (j.x - j.z), .5 * h * (j.y - j.x)};
    double angle = fabs(h) * sqrt(dot(w, w)), size = dot(*m, *m);
    int pieces = angle <= 1 ? 1 : 1 + (int)(2 * least(angle, 100));
    for (int piece = 1; piece <= pieces; piece++) {
        v3 G = scale((double)piece / pieces, g);
        double previous = INFINITY;
        int status = NOT_CONVERGED;
        for (int k = 0; k < 50; k++) {
            v3 f = axpy(-1, gain(Y, G), axpy(-1, *m, Y));
            double A[9] = {1, -G.x * Y.z, -G.x * Y.y, -G.y * Y.z, 1, -G.y * Y.x, -G.z * Y.y, -G.z * Y.x, 1};
            v3 d = solve3(A, f);
            Y = axpy(-1, d, Y);
            double correction = dot(d, d), scale_ = size + dot(Y, Y);
            if (!(correction < INFINITY)) break;
            if (correction <= 1e-30 * scale_ || (k > 0 && correction * correction <= 1e-32 * scale_ * previous)
                || (correction <= 1e-26 * scale_ && correction >= .25 * previous)) {
                status = OK;
                break;
            }
            previous = correction;
        }
        if (status != OK) return status;
    }
    v3 v = scale(h, times(j, Y));
    double c = 1 / sqrt(1 + .25 * dot(v, v)), s = .5 * c;
    *q = compose(*q, (q4){c, s * v.x, s * v.y, s * v.z});
    *m = axpy(2, gain(Y, g), *m);
    return OK;
}

/* ------------------------------------------------------------------------------------------ discrete Moser-Veselov */

#define LARGEST_TERM 0.03
INLINE int modified(int order, v3 a_, v3 u, v3 *b) {
    double a = least3(a_.x, a_.y, a_.z);
    v3 d = {a_.x - a, a_.y - a, a_.z - a};
    double high = most3(d.x, d.y, d.z), w = .5 * dot(d, times(u, u)), c = .5 * dot(u, u);
    double r = d.x * d.y + d.y * d.z + d.z * d.x, aa = a * a, z = aa * c, v = r * c;
    double S = 1, G = a, s = 0, g = 0;
    if (order >= 4) {
        S += (v - 3 * z - 2 * w) * (1. / 6);
        G += ((r - 3 * aa) * w - 2 * a * z) * (1. / 6);
        s = ((2 * v - 5 * z) * v + 5 * z * z
             + w * ((6 * a - 2) * v + (10 - 10 * a) * z + w * (2 - r - 2 * a + 3 * aa))) * (1. / 60);
        g = (2 * a * z * z + w * (5 * aa * z - r * v + w * ((15 * a - 5) * aa - (1 + 7 * a) * r))) * (1. / 60);
    }
    if (order >= 6) { S += s; G += g; }
    if (order >= 8) {
        s = (((17 * v - 42 * z) * v + 35 * z * z) * v - 14 * z * z * z
             + w * (((52 * a - 36) * v + (42 - 126 * a) * z) * v + (126 * a - 70) * z * z
             + w * ((6 + 41 * r - 36 * a - 30 * aa) * v + (112 * a - 42 - 63 * aa) * z
             + w * (4 * r - 4 + 8 * a + 72 * a * r + (60 - 144 * a) * aa)))) * (1. / 2520);
        g = (w * (2 * r * v * v - 14 * aa * z * z
             + w * (((13 + 73 * a) * r + (84 - 112 * a) * aa) * v + (35 - 105 * a) * aa * z
             + w * ((2 - 26 * r - 40 * a + 228 * aa) * r + (252 * a - 42 - 378 * aa) * aa)))
             - 4 * a * z * z * z) * (1. / 2520);
        S += s; G += g;
    }
    if (order >= 10) {
        s = ((((62 * v - 153 * z) * v + 126 * z * z) * v - 42 * z * z * z) * v + 9 * z * z * z * z
             + w * ((((318 * a - 154) * v + (324 - 636 * a) * z) * v + (378 * a - 126) * z * z) * v
             + (84 - 180 * a) * z * z * z
             + w * (((156 + 18 * r - 504 * a + 180 * aa) * v + (324 * a - 54 - 234 * aa) * z) * v
             + (126 - 504 * a + 504 * aa) * z * z
             + w * ((36 * a - 4 - (264 + 216 * a) * r + (468 * a - 396) * aa) * v
             + (36 - 156 * a + (540 * a - 36) * aa) * z
             + w * (2 - 6 * a + (126 * a - 3 + 153 * r - 918 * aa) * r + (135 - 864 * a + 1377 * aa) * aa)))))
            * (1. / 45360);
        g = (2 * a * z * z * z * z
             + w * (9 * aa * z * z * z - r * v * v * v
             + w * (((192 * a - 288) * aa - (30 + 198 * a) * r) * v * v + (504 * a - 252) * aa * v * z
             + (126 * a - 42) * aa * z * z
             + w * (((324 * a - 30 + 194 * r - 1422 * aa) * r + (288 - 1560 * a + 1710 * aa) * aa) * v
             + (126 - 756 * a + 1134 * aa) * aa * z
             + w * (((612 * a - 6) * r - 1 - 153 * a + (1539 - 3213 * a) * aa) * r
             + (1377 * a - 153 + (4131 * a - 4131) * aa) * aa))))) * (1. / 45360);
        S += s; G += g;
    }
    double widest = order == 2 ? 0.8 : order == 4 ? 1.0 : 1.2;
    int fits = 2 * (a * a * c + (a + (a + high)) * w) <= widest * widest && fabs(g) <= LARGEST_TERM * G
               && fabs(g + s * high) <= LARGEST_TERM * (G + S * high);
    S *= .5; G *= .5;
    *b = (v3){G + S * d.x, G + S * d.y, G + S * d.z};
    return fits;
}
static __attribute__((noinline)) int polished(v3 b, v3 u, v3 e, q4 *out) {
    for (int k = 0; k < 50; k++) {
        double s = dot(e, u);
        v3 Y = axpy(s, e, axpy(1, cross(u, e), u));
        double A[9] = {1 - b.x * (e.x * u.x + s), b.x * (u.z - e.x * u.y), -b.x * (u.y + e.x * u.z),
                       -b.y * (u.z + e.y * u.x), 1 - b.y * (e.y * u.y + s), b.y * (u.x - e.y * u.z),
                       b.z * (u.y - e.z * u.x), -b.z * (u.x + e.z * u.y), 1 - b.z * (e.z * u.z + s)};
        v3 d = solve3(A, axpy(-1, times(b, Y), e));
        e = axpy(-1, d, e);
        if (dot(d, d) <= 1e-16 * dot(e, e)) {
            *out = (q4){1, e.x, e.y, e.z};
            return 1;
        }
    }
    return 0;
}
INLINE int newton(v3 b, v3 u, q4 *out) {
    v3 q = times(u, u), bb = {b.y * b.z, b.z * b.x, b.x * b.y};
    double n = q.x + q.y + q.z, kappa = dot(b, q), third = b.x * bb.x, second = bb.x + bb.y + bb.z;
    double d = 1 / (1 + second * n), c0 = d * (kappa + third * n * n), c2 = d * (b.x + b.y + b.z + 2 * third * n);
    double c3 = d * second, c4 = d * third, x = least(c2 * c0, .25), y = c3 * c0 * c0, z = c4 * c0 * c0 * c0;
    double s = c0 * (1 + x * (1 + x * (2 + x * (5 + 14 * x) - 21 * y) - 5 * y + 6 * z) - y * (1 - 3 * y) + z), slope = 1;
    int found = 0;
    for (int k = 0; k < 50; k++) {
        slope = 1 - s * (2 * c2 - s * (3 * c3 - 4 * s * c4));
        if (!(slope > 0)) break;
        d = (c0 - s * (1 - s * (c2 - s * (c3 - s * c4)))) / slope;
        s += d;
        if (fabs(d) <= 1e-8 * fabs(s)) {
            found = 1;
            break;
        }
    }
    v3 g = {1 - b.x * s, 1 - b.y * s, 1 - b.z * s};
    *out = (q4){g.x * g.y * g.z + g.x * bb.x * q.x + g.y * bb.y * q.y + g.z * bb.z * q.z,
                b.x * ((g.y * g.z + bb.x * n) * u.x + (b.z - b.y) * u.y * u.z),
                b.y * ((g.z * g.x + bb.y * n) * u.y + (b.x - b.z) * u.z * u.x),
                b.z * ((g.x * g.y + bb.z * n) * u.z + (b.y - b.x) * u.x * u.y)};
    if (found && slope < .1) return polished(b, u, (v3){out->x / out->w, out->y / out->w, out->z / out->w}, out);
    return found;
}
INLINE int dmv(int order, double h, v3 *m, q4 *q, const body *c) {
    double total = c->j[0] + c->j[1] + c->j[2];
    v3 u = scale(h * total, *m), b;
    double size = dot(u, u);
    if (!(size < INFINITY)) return NOT_FINITE;
    if (size == 0) return OK;
    if (!modified(order, scale(1 / total, (v3){c->j[0], c->j[1], c->j[2]}), u, &b)) return TOO_LARGE;
    q4 e;
    if (!newton(b, u, &e)) return TOO_LARGE;
    double n = square(e), f = 1 / sqrt(n);
    v3 v = {e.x, e.y, e.z}, w = cross(*m, v);
    *m = axpy(2 / n, axpy(e.w, w, cross(w, v)), *m);
    *q = compose(*q, (q4){f * e.w, f * e.x, f * e.y, f * e.z});
    return OK;
}
INLINE int dmv2_turn(double h, v3 *m, q4 *q, const body *b) { return dmv(2, h, m, q, b); }
INLINE int dmv6_turn(double h, v3 *m, q4 *q, const body *b) { return dmv(6, h, m, q, b); }
INLINE int dmv10_turn(double h, v3 *m, q4 *q, const body *b) { return dmv(10, h, m, q, b); }

/* ---------------------------------------------------------------------------------- closed forms and quadratures */

#define NEARLY_EQUAL 1e-8
#define TINY 1e-60
INLINE double half_turns(double phi, double *rest) {
    double j = floor(phi / M_PI + .5);
    *rest = (phi - j * 3.140625) - j * 9.676535897932384626e-4;
    return j;
}
/* Bulirsch's descending Landen steps, down on a small stack and up again; a mean has converged long before 64. */
INLINE void elliptic(double u, double mc, double *sn, double *cn, double *dn, double *am) {
    if (fabs(u) < TINY) {
        *sn = u; *cn = 1; *dn = 1; *am = u;
        return;
    }
    if (mc == 0) {
        double e = exp(-fabs(u));
        *sn = tanh(u); *cn = *dn = 2 * e / (1 + e * e); *am = atan2(*sn, *cn);
        return;
    }
    double es[64], ns[64], e = 1, n = sqrt(mc), v;
    int k = 0;
    while (fabs(e - n) > NEARLY_EQUAL * e) {
        es[k] = e; ns[k++] = n;
        double t = .5 * (e + n);
        n = sqrt(e * n);
        e = t;
    }
    double middle = .5 * (e + n), j = half_turns(u * middle, &v);
    v = copysign(most(fabs(v), TINY), v);
    double a = cos(v) / sin(v), c = middle * a, d = 1;
    while (k--) {
        a *= c;
        c *= d;
        d = (ns[k] + a) / (es[k] + a);
        a = c / es[k];
    }
    double s = copysign(1 / sqrt(1 + c * c), c), f = 1 - 2 * (j - 2 * floor(.5 * j));
    c *= s;
    *sn = f * s; *cn = f * c; *dn = d; *am = j * M_PI + atan2(s, c);
}
INLINE double cel(double kc, double p, double a, double b) {
    double e = kc, m = 1, n = kc, f, g, q;
    if (p > 0) {
        p = sqrt(p);
        b /= p;
    } else {
        g = 1 - p;
        q = (1 - kc * kc) * (b - a * p);
        p = sqrt((kc * kc - p) / g);
        a = (a - b) / g;
        b = a * p - q / (g * g * p);
    }
    for (;;) {
        f = a;
        a += b / p;
        g = e / p;
        b = 2 * (b + f * g);
        p += g;
        g = m;
        m += n;
        if (!(fabs(g - n) > NEARLY_EQUAL * g)) return M_PI_2_ * (b + a * m) / (m * (m + p));
        n = 2 * sqrt(e);
        e = n * m;
    }
}
static __attribute__((noinline)) double complete_third(double nc, double mc) {
    if (nc == 0) return INFINITY;
    if (mc == 0) return copysign(INFINITY, nc);
    return cel(sqrt(mc), nc, 1, 1);
}
#define FAR 150.0
INLINE double RC(double x, double y) {
    double t = y - x, w = sqrt(fabs(t));
    if (t > 0) return atan2(w, sqrt(x)) / w;
    if (t < 0) return asinh(w / sqrt(y)) / w;
    return 1 / sqrt(x);
}
INLINE double RF(double x, double y, double z) {
    double A = (x + y + z) / 3, X = A - x, Y = A - y, far = FAR * most3(fabs(X), fabs(Y), fabs(A - z)), f = 1;
    while (far > f * A) {
        double p = sqrt(x), q = sqrt(y), r = sqrt(z), l = p * q + p * r + q * r;
        x = .25 * (x + l); y = .25 * (y + l); z = .25 * (z + l); A = .25 * (A + l);
        f *= 4;
    }
    X /= f * A; Y /= f * A;
    double Z = -X - Y, e2 = X * Y - Z * Z, e3 = X * Y * Z, e = e2 * e2;
    double sum = -e2 / 10 + e3 / 14 + e / 24 - 3 * e2 * e3 / 44;
    sum = sum - 5 * e2 * e / 208 + 3 * e3 * e3 / 104 + e * e3 / 16;
    return (1 + sum) / sqrt(A);
}
INLINE double RJ(double x, double y, double z, double p) {
    double A = (x + y + z + 2 * p) / 5, X = A - x, Y = A - y, Z = A - z, f = 1, total = 0;
    double far = FAR * most(most3(fabs(X), fabs(Y), fabs(Z)), fabs(A - p));
    while (far > f * A) {
        double a = sqrt(x), b = sqrt(y), c = sqrt(z), l = a * b + a * c + b * c;
        double g = p * (a + b + c) + a * b * c, h = (p + l) / g;
        total += RC(1, p * h * h) / (f * g);
        x = .25 * (x + l); y = .25 * (y + l); z = .25 * (z + l); A = .25 * (A + l);
        p = .25 * (p + l);
        f *= 4;
    }
    X /= f * A; Y /= f * A; Z /= f * A;
    double P = -.5 * (X + Y + Z), xyz = X * Y * Z, pp = P * P, e2 = X * Y + X * Z + Y * Z - 3 * pp;
    double e3 = xyz + 2 * P * (e2 + 2 * pp), e4 = P * (2 * xyz + P * (e2 + 3 * pp)), e5 = xyz * pp, e = e2 * e2;
    double near = -3 * e2 / 14 + e3 / 6 + 9 * e / 88 - 3 * e4 / 22 - 9 * e2 * e3 / 52 + 3 * e5 / 26;
    double rest = -e * e2 / 16 + 3 * e3 * e3 / 40 + 3 * e2 * e4 / 20 + 45 * e * e3 / 272;
    return 3 * total + (1 + (near + (rest - 9 * (e3 * e4 + e2 * e5) / 68))) / (f * A * sqrt(A));
}
INLINE double third_part(double s, double c, double nc, double mc) { /* nc > 0, as for every body */
    double c2 = c * c, s2 = s * s, d2 = c2 + mc * s2;
    return s * (RF(c2, d2, 1) + (1 - nc) / 3 * s2 * RJ(c2, d2, 1, c2 + nc * s2));
}

typedef struct { int first, second, third; v3 signs; } axes;
typedef struct { int around_1; double x, y, z, r, w, p, L, M, N; } orbit;
typedef struct { double s0, c0, phi0, s1, c1, phi1, lam, mc; v3 m; } arc;

INLINE v3 sort(v3 m, double *I, axes *t) {
    t->first = I[0] > I[1];
    order(t->first, I, I + 1);
    t->second = I[1] > I[2];
    order(t->second, I + 1, I + 2);
    t->third = I[0] > I[1];
    order(t->third, I, I + 1);
    exchange(t->first, &m.x, &m.y); exchange(t->second, &m.y, &m.z); exchange(t->third, &m.x, &m.y);
    double x = m.x < 0 ? -1 : 1, z = m.z < 0 ? -1 : 1;
    t->signs = (v3){x, x * z, z};
    return times(t->signs, m);
}
INLINE v3 unsort(v3 v, const axes *t) {
    v = times(t->signs, v);
    restore(t->third, &v.x, &v.y); restore(t->second, &v.y, &v.z); restore(t->first, &v.x, &v.y);
    return v;
}
INLINE orbit orbit_of(v3 m, const double *I) {
    double d12 = (I[1] - I[0]) / (I[0] * I[1]), d23 = (I[2] - I[1]) / (I[1] * I[2]), p = (I[2] - I[0]) / (I[0] * I[2]);
    double L = d12 * m.x * m.x - d23 * m.z * m.z, x = m.x, y = m.y, z = m.z, r = d12, w = d23;
    int around_1 = L > 0 || (L == 0 && d12 > 0);
    order(!around_1, &x, &z);
    order(!around_1, &r, &w);
    return (orbit){around_1, x, y, z, r, w, p, fabs(L), p * x * x + w * y * y, r * y * y + p * z * z};
}
INLINE int stays(const orbit *o) { return !(o->M * o->r * o->N > 0 && o->x + o->z > 0); }
INLINE q4 uniform(q4 q, v3 m, const body *b, double h) {
    return compose(q, exp_quaternion((v3){h * m.x / b->a[0], h * m.y / b->a[1], h * m.z / b->a[2]}));
}

INLINE arc by_phase(const orbit *o, double h) {
    double lam = sqrt(o->M * o->r), mc = least(o->p * o->L / (o->M * o->r), 1);
    double s0 = o->y * sqrt(o->r / o->N), c0 = o->z * sqrt(o->p / o->N), c2 = c0 * c0, s1, c1, d1, phi1;
    elliptic(s0 * RF(c2, c2 + mc * s0 * s0, 1) + lam * h, mc, &s1, &c1, &d1, &phi1);
    double X = sqrt(o->M / o->p), Y = sqrt(o->N / o->r), Z = sqrt(o->N / o->p);
    v3 m = o->around_1 ? (v3){X * d1, Y * s1, Z * c1} : (v3){Z * c1, Y * s1, X * d1};
    return (arc){s0, c0, atan2(s0, c0), s1, c1, phi1, lam, mc, m};
}
INLINE arc by_algorithm_1(const orbit *o, double h) {
    double k = o->r / o->p, l = 1 - k, k1 = sqrt(o->z * o->z + k * o->y * o->y), k2 = sqrt(o->z * o->z / k + o->y * o->y);
    double k3 = sqrt(l * o->y * o->y + o->x * o->x), mc = most(1 - l * k1 * k1 / (k * k3 * k3), 0);
    double lam = sqrt(o->r * o->p) * k3, s0 = o->y / k2, c0 = o->z / k1, c2 = c0 * c0, s1, c1, d1, phi1;
    elliptic(s0 * RF(c2, c2 + mc * s0 * s0, 1) + lam * h, mc, &s1, &c1, &d1, &phi1);
    double y = k2 * s1, x = sqrt(most(k3 * k3 - l * y * y, 0));
    v3 m = o->around_1 ? (v3){x, y, k1 * c1} : (v3){k1 * c1, y, x};
    return (arc){s0, c0, atan2(s0, c0), s1, c1, phi1, lam, mc, m};
}
INLINE arc by_addition(const orbit *o, double h) {
    double lam = sqrt(o->M * o->r), mc = least(o->p * o->L / (o->M * o->r), 1), S, C, D, phi, x, y, z;
    elliptic(lam * h, mc, &S, &C, &D, &phi);
    double over = S * S * o->w * o->y * o->y / o->M, wz = S * o->w / lam, py = S * o->p / lam, rz = S * sqrt(o->r / o->M);
    if (phi * phi < 1) {
        double near_c = S * S / (1 + C), near_d = o->w * o->N / (o->r * o->M) * S * S / (1 + D), f = 1 / (1 - over);
        x = o->x + f * (o->x * (over - near_d) - o->y * o->z * C * wz);
        y = o->y + f * (o->y * (over - near_c - C * near_d) + py * o->z * o->x);
        z = o->z + f * (o->z * (over - near_c) - o->y * o->x * D * rz);
    } else {
        double f = 1 / (C * C + S * S * o->p * o->x * o->x / o->M);
        x = f * (o->x * D - o->y * o->z * C * wz);
        y = f * (o->y * C * D + py * o->z * o->x);
        z = f * (o->z * C - o->y * o->x * D * rz);
        double g = sqrt((o->x * o->x + o->y * o->y + o->z * o->z) / (x * x + y * y + z * z));
        x *= g; y *= g; z *= g;
    }
    double ry = sqrt(o->r / o->N), pz = sqrt(o->p / o->N), s0 = o->y * ry, c0 = o->z * pz, s1 = y * ry, c1 = z * pz;
    double phi0 = atan2(s0, c0), turn = atan2(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0) - phi;
    double phi1 = phi0 + phi + (turn - 2 * M_PI * floor(turn / (2 * M_PI) + .5));
    return (arc){s0, c0, phi0, s1, c1, phi1, lam, mc, o->around_1 ? (v3){x, y, z} : (v3){z, y, x}};
}

INLINE double by_carlson(const arc *a, double nc) {
    double rest, j = half_turns(a->phi1, &rest), f = 1 - 2 * (j - 2 * floor(.5 * j));
    double total = third_part(f * a->s1, f * a->c1, nc, a->mc) - third_part(a->s0, a->c0, nc, a->mc);
    return j == 0 ? total : total + 2 * j * complete_third(nc, a->mc);
}
/* Gauss-Legendre rules on -1/2 ... 1/2: number of pairs, their nodes and weights, weight of the middle. */
typedef struct { int pairs; double a[2], b[2], middle; } rule;
static const rule GAUSS3 = {1, {0.3872983346207417}, {0.2777777777777778}, 0.4444444444444444};
static const rule GAUSS4 = {2, {0.16999052179242813, 0.4305681557970263}, {0.32607257743127305, 0.17392742256872692}, 0};
static const rule GAUSS5 = {2, {0.26923465505284155, 0.453089922969332}, {0.23931433524968324, 0.11846344252809454},
                            0.28444444444444444};
INLINE double by_gauss(const arc *a, double nc, const rule *r) {
    double width = a->phi1 - a->phi0;
    int j = (int)(width / M_PI);
    width -= j * M_PI;
    double middle = a->phi0 + .5 * width, s = sin(middle), c = cos(middle), s2 = s * s, c2 = c * c;
    double total = r->middle / ((c2 + nc * s2) * sqrt(c2 + a->mc * s2));
    for (int i = 0; i < r->pairs; i++) {
        double sb = sin(r->a[i] * width), cb = cos(r->a[i] * width);
        double right = s * cb + c * sb, left = s * cb - c * sb, u2 = right * right, t2 = left * left;
        right = c * cb - s * sb; left = c * cb + s * sb;
        double v2 = right * right, d2 = left * left;
        total += r->b[i] * (1 / ((v2 + nc * u2) * sqrt(v2 + a->mc * u2)) + 1 / ((d2 + nc * t2) * sqrt(d2 + a->mc * t2)));
    }
    total *= width;
    return j == 0 ? total : total + 2 * j * complete_third(nc, a->mc);
}

INLINE q4 family(v3 m, double c0, double c3) {
    double f = sqrt(1 + m.z);
    return (q4){c0 * f, (c3 * m.x + c0 * m.y) / f, (c3 * m.y - c0 * m.x) / f, c3 * f};
}
INLINE q4 smallest(v3 m, double *angle) {
    *angle = -atan2(m.y, m.x);
    return family(m, 0.70710678118654752440, 0);
}
INLINE q4 across(v3 m, double *angle) {
    double rho = sqrt(m.x * m.x + m.y * m.y), c = sqrt(.25 * (1 + fabs(m.y) / rho)), e = .25 * m.x / (rho * c);
    *angle = 0;
    return m.y >= 0 ? family(m, c, e) : family(m, e, c);
}

typedef struct { double a[9]; } mat;
INLINE mat matrix_product(mat A, mat B) {
    mat C;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            C.a[3 * i + k] = A.a[3 * i] * B.a[k] + A.a[3 * i + 1] * B.a[3 + k] + A.a[3 * i + 2] * B.a[6 + k];
    return C;
}
INLINE mat to_matrix(q4 q) {
    double x = 2 * q.x, y = 2 * q.y, z = 2 * q.z, wx = q.w * x, wy = q.w * y, wz = q.w * z;
    double xx = q.x * x, xy = q.x * y, xz = q.x * z, yy = q.y * y, yz = q.y * z, zz = q.z * z;
    return (mat){{1 - (yy + zz), xy - wz, xz + wy, xy + wz, 1 - (xx + zz), yz - wx, xz - wy, yz + wx, 1 - (xx + yy)}};
}
INLINE q4 from_matrix(mat M) {
    const double *m = M.a;
    double trace = m[0] + m[4] + m[8];
    q4 q;
    if (trace >= m[0] && trace >= m[4] && trace >= m[8]) q = (q4){1 + trace, m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    else if (m[0] >= m[4] && m[0] >= m[8]) q = (q4){m[7] - m[5], 1 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]};
    else if (m[4] >= m[8]) q = (q4){m[2] - m[6], m[1] + m[3], 1 + m[4] - m[8] - m[0], m[5] + m[7]};
    else q = (q4){m[3] - m[1], m[2] + m[6], m[5] + m[7], 1 + m[8] - m[0] - m[4]};
    double n = sqrt(square(q));
    if (q.w < 0 || (q.w == 0 && (q.x < 0 || (q.x == 0 && (q.y < 0 || (q.y == 0 && q.z < 0)))))) n = -n;
    return (q4){q.w / n, q.x / n, q.y / n, q.z / n};
}
INLINE void rows_of(v3 m, double G, const double *I, const axes *t, v3 *v, v3 *w, v3 *u) {
    *u = scale(1 / G, m);
    *v = cross(*u, (v3){m.x / I[0], m.y / I[1], m.z / I[2]});
    *v = scale(1 / sqrt(dot(*v, *v)), *v);
    *w = unsort(cross(*u, *v), t);
    *v = unsort(*v, t);
    *u = unsort(*u, t);
}

#define BY_QUATERNION(NAME, MOTION, THIRD, FRAME)                                                                      \
    INLINE int NAME##_turn(double h, v3 *m, q4 *q, const body *b) {                                                    \
        double I[3] = {b->a[0], b->a[1], b->a[2]}, start, end;                                                         \
        axes t;                                                                                                        \
        v3 m0 = sort(*m, I, &t);                                                                                       \
        orbit o = orbit_of(m0, I);                                                                                     \
        if (stays(&o)) { *q = uniform(*q, *m, b, h); return OK; }                                                      \
        arc a = MOTION(&o, h);                                                                                         \
        double G = sqrt(dot(*m, *m)), nc = o.around_1 ? G * G / (o.M / o.p) : o.p / o.r;                               \
        q4 p0 = FRAME(scale(1 / G, m0), &start), p1 = FRAME(scale(1 / G, a.m), &end);                                  \
        double psi = G * h / I[2] + o.p * G / a.lam * THIRD + (end - start);                                           \
        q4 e = multiply((q4){p0.w, -p0.x, -p0.y, -p0.z}, multiply((q4){cos(.5 * psi), 0, 0, sin(.5 * psi)}, p1));      \
        v3 v = unsort((v3){e.x, e.y, e.z}, &t);                                                                        \
        *q = compose(*q, (q4){e.w, v.x, v.y, v.z});                                                                    \
        *m = unsort(a.m, &t);                                                                                          \
        return OK;                                                                                                     \
    }
#define BY_MATRIX(NAME, MOTION, THIRD)                                                                                 \
    INLINE int NAME##_turn(double h, v3 *m, q4 *q, const body *b) {                                                    \
        double I[3] = {b->a[0], b->a[1], b->a[2]};                                                                     \
        axes t;                                                                                                        \
        v3 m0 = sort(*m, I, &t);                                                                                       \
        orbit o = orbit_of(m0, I);                                                                                     \
        if (stays(&o)) { *q = uniform(*q, *m, b, h); return OK; }                                                      \
        arc a = MOTION(&o, h);                                                                                         \
        double G = sqrt(dot(*m, *m)), T2 = m0.x * m0.x / I[0] + m0.y * m0.y / I[1] + m0.z * m0.z / I[2], nc = o.L / o.M; \
        double part = o.L / (G * a.lam) * THIRD, psi = T2 / G * h + (o.around_1 ? -part : part);                       \
        double c = cos(psi), s = sin(psi);                                                                             \
        v3 v0, w0, u0, v, w, u;                                                                                        \
        rows_of(m0, G, I, &t, &v0, &w0, &u0);                                                                          \
        rows_of(a.m, G, I, &t, &v, &w, &u);                                                                            \
        v3 k = axpy(c, v, scale(-s, w)), l = axpy(s, v, scale(c, w));                                                  \
        mat first = {{v0.x, w0.x, u0.x, v0.y, w0.y, u0.y, v0.z, w0.z, u0.z}};                                          \
        mat turned = {{k.x, k.y, k.z, l.x, l.y, l.z, u.x, u.y, u.z}};                                                  \
        *q = from_matrix(matrix_product(to_matrix(*q), matrix_product(first, turned)));                                \
        *m = unsort(a.m, &t);                                                                                          \
        return OK;                                                                                                     \
    }
BY_QUATERNION(kosenko, by_phase, by_carlson(&a, nc), smallest)
BY_QUATERNION(van_zon, by_phase, by_carlson(&a, nc), across)
BY_QUATERNION(jacobi, by_algorithm_1, by_carlson(&a, nc), smallest)
BY_MATRIX(exact_matrix, by_phase, by_carlson(&a, nc))
BY_QUATERNION(semiexact6, by_addition, by_gauss(&a, nc, &GAUSS3), smallest)
BY_QUATERNION(semiexact8, by_addition, by_gauss(&a, nc, &GAUSS4), smallest)
BY_QUATERNION(semiexact10, by_addition, by_gauss(&a, nc, &GAUSS5), smallest)
BY_MATRIX(semiexact6_matrix, by_addition, by_gauss(&a, nc, &GAUSS3))
BY_MATRIX(semiexact8_matrix, by_addition, by_gauss(&a, nc, &GAUSS4))
BY_MATRIX(semiexact10_matrix, by_addition, by_gauss(&a, nc, &GAUSS5))

/* ------------------------------------------------------------------------------------------------------ the loops */

#define LOOP(NAME)                                                                                                     \
    void NAME(long n, long K, const double *h, double *y, const double *bodies, long *status) {                        \
        for (long k = 0; k < K; k++) {                                                                                 \
            double *s = y + 13 * k;                                                                                    \
            const double *c = bodies + 8 * k;                                                                          \
            body b = {{c[1], c[2], c[3]}, {c[5], c[6], c[7]}};                                                         \
            q4 q = {s[6], s[7], s[8], s[9]};                                                                           \
            v3 m = {s[10], s[11], s[12]};                                                                              \
            status[k] = OK;                                                                                            \
            for (long i = 0; i < n && status[k] == OK; i++) status[k] = NAME##_turn(h[k], &m, &q, &b);                 \
            s[6] = q.w; s[7] = q.x; s[8] = q.y; s[9] = q.z;                                                            \
            s[10] = m.x; s[11] = m.y; s[12] = m.z;                                                                     \
        }                                                                                                              \
    }
LOOP(exact) LOOP(semiexact6) LOOP(semiexact8) LOOP(semiexact10)
LOOP(semiexact6_matrix) LOOP(semiexact8_matrix) LOOP(semiexact10_matrix)
LOOP(dmv2) LOOP(dmv6) LOOP(dmv10) LOOP(implicit_midpoint)
LOOP(mr) LOOP(mr6) LOOP(symmetric) LOOP(three_rotation)
LOOP(kosenko) LOOP(van_zon) LOOP(exact_matrix) LOOP(jacobi)
