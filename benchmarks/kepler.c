/* The motion about a centre as polhode/algebra/kepler.py has it, with the processor's fma for exact products.
 * series.h, written by kepler.py, holds the Taylor coefficients of the universal functions. */
#include <math.h>
#include "series.h"

typedef struct { double h, t; } two;
typedef struct { double x, y, z; } vec;

static const double TWO_PI = 6.283185307179586, TWO_PI_TAIL = 2.4492935982947064e-16;

static inline two sum(double x, double y) { double s = x + y, z = s - x; return (two){s, (x - (s - z)) + (y - z)}; }
static inline two product(double x, double y) { double p = x * y; return (two){p, fma(x, y, -p)}; }
static inline two times(two x, two y) { two p = product(x.h, y.h); p.t += x.h * y.t + y.h * x.t; return p; }
static inline two plus(two x, two y) { two s = sum(x.h, y.h); return sum(s.h, s.t + (x.t + y.t)); }
static inline two one(double x) { return (two){x, 0.0}; }
static inline two minus(two x) { return (two){-x.h, -x.t}; }
static inline two root(two x) { double s = sqrt(x.h); two u = product(s, s); return (two){s, ((x.h - u.h) - u.t + x.t) / (2 * s)}; }
static inline two ratio(two x, two y) {
    double w = x.h / y.h;
    two u = product(w, y.h);
    return (two){w, ((x.h - u.h) - u.t + x.t - w * y.t) / y.h};
}
static inline double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec axpy(double s, vec a, vec b) { return (vec){s * a.x + b.x, s * a.y + b.y, s * a.z + b.z}; }
static inline vec scale(double s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
static inline vec cross(vec a, vec b) { return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
static inline two dot2(vec a, vec b) {
    two x = product(a.x, b.x), y = product(a.y, b.y), z = product(a.z, b.z), s = sum(x.h, y.h), u = sum(s.h, z.h);
    return sum(u.h, (x.t + y.t + z.t) + (s.t + u.t));
}
static inline double summed1(double x, double a, double y, double b, double tail) {
    two p = product(x, a), q = product(y, b), s = sum(p.h, q.h);
    return s.h + (s.t + (p.t + q.t) + tail);
}
static vec summed(double x, vec a, double y, vec b, vec tail) {
    return (vec){summed1(x, a.x, y, b.x, tail.x), summed1(x, a.y, y, b.y, tail.y), summed1(x, a.z, y, b.z, tail.z)};
}
static vec cross_exact(vec a, vec b) {
    return (vec){summed1(a.y, b.z, -a.z, b.y, 0), summed1(a.z, b.x, -a.x, b.z, 0), summed1(a.x, b.y, -a.y, b.x, 0)};
}

static inline double polynomial(const double *c, double x) {
    double z = x * x;
    double even = c[2] + z * (c[4] + z * (c[6] + z * (c[8] + z * (c[10] + z * c[12]))));
    double odd = c[3] + z * (c[5] + z * (c[7] + z * (c[9] + z * (c[11] + z * c[13]))));
    return c[0] + x * (c[1] + x * (even + x * odd));
}

static inline void universal(double b, double s, double *G1, double *G2, double *G3) {
    double x = b * s * s, h, c, w, a;
    if (fabs(x) < 10.0) {
        h = s * polynomial(SINE, x);
        *G1 = 2 * h * polynomial(COSINE, x);
        *G2 = 2 * h * h;
        *G3 = s * s * s * polynomial(CUBIC, x);
        return;
    }
    if (x > 0) {
        w = sqrt(b);
        a = 0.5 * w * s;
        h = sin(a) / w;
        c = cos(a);
    } else {
        w = sqrt(-b);
        a = exp(0.5 * w * s);
        h = 0.5 * (a - 1 / a) / w;
        c = 0.5 * (a + 1 / a);
    }
    *G1 = 2 * h * c;
    *G2 = 2 * h * h;
    *G3 = (s - *G1) / b;
}

static inline int anomaly(double b, double r0, double eta, double zeta, double t, double s, double *g1, double *g2) {
    double low = 0, high = INFINITY;
    for (int k = 0; k < 60; k++) {
        double G1, G2, G3;
        universal(b, s, &G1, &G2, &G3);
        double G0 = 1 - b * G2, error = (r0 * s - t) + eta * G2 + zeta * G3;
        double r = r0 + eta * G1 + zeta * G2, slope = eta * G0 + zeta * G1;
        if (error > 0) high = s; else low = s;
        double d = -5 * error / (r + sqrt(fabs(16 * r * r - 20 * error * slope)));
        if (fabs(d) <= 3e-6 * s && d * d * fabs(b) <= 9e-12 && fabs(d * slope) <= 1e-5 * r
            && d * d * fabs(zeta * G0 - b * eta * G1) <= 1e-10 * r) {
            double c = 0.5 * d * d;
            *g1 = G1 + (d * G0 - c * b * G1);
            *g2 = G2 + (d * G1 + c * G0);
            return 0;
        }
        s += d;
        if (!(low < s && s < high)) s = high < INFINITY ? 0.5 * (low + high) : 2 * low;
    }
    return 1;
}

static double guess_around(double mu, double b, double q, double zeta, double t) {
    double P = 2 * q / zeta, Q = 3 * t / zeta, w = cbrt(Q + sqrt(Q * Q + P * P * P));
    double s = 2 * Q / (w * w + P + (P / w) * (P / w));
    if (b * s * s > -6) return s;
    w = sqrt(-b);
    double x = -t * b * w / zeta;
    return asinh(x + mu / zeta * asinh(x)) / w;
}

static int around(double mu, vec r, vec v, double t, double r0, double b, double eta, double zeta, vec *R, vec *V) {
    vec h = cross_exact(r, v), axis;
    double hh = dot(h, h), e = sqrt(fmax(0, 1 - b * (hh / mu) / mu)), q = hh / (mu * (1 + e)), w = 0, s0, G1, G2, G3;
    axis = axpy(-mu / r0, r, cross(v, h));
    axis = scale(1 / sqrt(dot(axis, axis)), axis);
    double zq = mu * e;
    if (b > 0) { w = sqrt(b); s0 = atan2(w * eta, zeta) / w; }
    else if (b < 0) { w = sqrt(-b); s0 = asinh(w * eta / zq) / w; }
    else s0 = eta / zq;
    universal(b, s0, &G1, &G2, &G3);
    t += q * s0 + zq * G3;
    if (b > 0 && t * w * b > M_PI * mu) t -= TWO_PI * mu / (w * b);
    G1 = G2 = 0;
    if (t != 0) {
        double size = fabs(t);
        if (anomaly(b, q, 0, zq, size, guess_around(mu, b, q, zq, size), &G1, &G2)) return 1;
        G1 = copysign(G1, t);
    }
    double r1 = q + zq * G2;
    if (!(r1 > 0)) return 3;
    vec across = cross(h, axis);
    *R = axpy(G1, across, scale(q - mu * G2, axis));
    *V = axpy((1 - b * G2) / r1, across, scale(-mu * G1 / r1, axis));
    return 0;
}

static int motion(double mu, vec *r_, vec *v_, double t) {
    vec r = *r_, v = *v_;
    two r2 = dot2(r, r), v2 = dot2(v, v);
    if (!(r2.h > 0 && r2.h + v2.h + fabs(t) < INFINITY && mu > 0)) return 3;
    if (t == 0) return 0;
    two r0 = root(r2), b = plus(ratio(one(2 * mu), r0), minus(v2));
    if (b.h > 0 && fabs(t) * sqrt(b.h) * (b.h / mu) > M_PI) {
        two period = ratio(times(one(mu), (two){TWO_PI, TWO_PI_TAIL}), times(b, root(b)));
        double n = floor(t / period.h + 0.5);
        if (!(fabs(n) < 1e15)) return 1;
        two z = product(n, period.h);
        t = (t - z.h) - (z.t + n * period.t);
        if (t == 0) return 0;
    }
    double direction = copysign(1, t);
    t = fabs(t);
    two eta = dot2(r, v);
    eta = (two){direction * eta.h, direction * eta.t};
    two zeta = plus(one(mu), minus(times(b, r0)));
    double s = t / r0.h, bend = 0.5 * eta.h * s / r0.h, turn = zeta.h * s * s / (6 * r0.h);
    if (fabs(bend) < 0.15 && fabs(turn) < 0.1) {
        s = s * (1 - bend + 2 * bend * bend - turn);
    } else if (b.h > 0 && zeta.h * zeta.h + b.h * eta.h * eta.h < 0.9999 * mu * mu) {
        double w = sqrt(b.h), x = zeta.h / mu, y = eta.h * w / mu, a = t * b.h * w / mu - y;
        a += copysign(0.85 * sqrt(x * x + y * y), x * sin(a) + y * cos(a));
        s = fmin(fmax(a, 0.1), TWO_PI) / w;
    } else if (b.h <= 0 && eta.h >= 0) {
        s = fmin(s, cbrt(6 * t / zeta.h));
        if (2 * t < eta.h * s * s) s = sqrt(2 * t / eta.h);
        double w = sqrt(-b.h);
        if (w * s > 2) s = fmin(s, log(1 - 2 * t * b.h * w / (zeta.h + eta.h * w)) / w + 1);
    } else {
        int status = around(mu, r, scale(direction, v), t, r0.h, b.h, eta.h, zeta.h, r_, v_);
        *v_ = scale(direction, *v_);
        return status;
    }
    double g1, g2;
    if (anomaly(b.h, r0.h, eta.h, zeta.h, t, s, &g1, &g2)) return 1;
    two G1 = one(g1), G2 = one(g2);
    two x = plus(times(plus(times(b, G2), one(-2)), G2), product(g1, g1));
    if (b.h <= 0) G1.t = -0.5 * (x.h + x.t) / g1;
    else if (g2 > 0) {
        double excess = 0.5 * (x.h + x.t) / g2;
        G1.t = -excess * g1;
        G2.t = -excess * g2;
    }
    two r1 = plus(r0, plus(times(eta, G1), times(zeta, G2))), g = plus(times(r0, G1), times(eta, G2));
    two pull = times(one(-mu), G2), f = ratio(pull, r0), gdot = ratio(pull, r1);
    two fdot = ratio(times(one(-mu), G1), times(r0, r1));
    fdot = (two){direction * fdot.h, direction * fdot.t};
    g = (two){direction * g.h, direction * g.t};
    vec small = axpy(f.t, r, scale(g.t, v)), little = axpy(fdot.t, r, scale(gdot.t, v));
    if (r0.h < 4 * r1.h && r1.h < 4 * r0.h) {
        *r_ = axpy(1, r, axpy(1, axpy(f.h, r, scale(g.h, v)), small));
        *v_ = axpy(1, v, axpy(1, axpy(fdot.h, r, scale(gdot.h, v)), little));
    } else {
        f = (two){sum(f.h, 1).h, sum(f.h, 1).t};
        gdot = (two){sum(gdot.h, 1).h, sum(gdot.h, 1).t};
        *r_ = summed(f.h, r, g.h, v, axpy(f.t, r, small));
        *v_ = summed(fdot.h, r, gdot.h, v, axpy(gdot.t, v, little));
    }
    return dot(*r_, *r_) + dot(*v_, *v_) < INFINITY ? 0 : 3;
}

/* n steps of each of K points, 13 numbers a point as in polhode's state, of unit mass. */
void steps(long n, long K, const double *h, double mu, double *y, long *status) {
    for (long k = 0; k < K; k++) {
        vec *r = (vec *)(y + 13 * k), *v = r + 1;
        status[k] = 0;
        for (long i = 0; i < n && !status[k]; i++) status[k] = motion(mu, r, v, h[k]);
    }
}
