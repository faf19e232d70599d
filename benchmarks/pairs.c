/* Soft dipolar spheres as one would write them in C: all pairs, or those of a half list, one after the other.

   Built by pairs.py with -O3 -march=native. State: 13 numbers a body, as in polhode; dipoles mubar in the body frame.
   law: sigma^2, 4 epsilon, a, reaction factor, cut-off, where switching begins (cut-off 0: none), box edges (0: none). */

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { double s2, e4, a, k, cutoff, on, box[3]; } law;

static void turn(const double *q, const double *v, double s, double *out) {
    double w = q[0], x = s * q[1], y = s * q[2], z = s * q[3];
    double t[3] = {2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
    out[0] = v[0] + w * t[0] + y * t[2] - z * t[1];
    out[1] = v[1] + w * t[1] + z * t[0] - x * t[2];
    out[2] = v[2] + w * t[2] + x * t[1] - y * t[0];
}

#define BARE(S, D) S = 1; D = 0;
#define CUT(S, D) {                                                                  \
        double narrow = 1 / (l->cutoff - l->on), t = (r - l->on) * narrow;            \
        if (t <= 0) { S = 1; D = 0; }                                                 \
        else { double u = 1 - t, f = t * t * t * t, b = t * u;                        \
               S = 1 - t * f * (126 + t * (t * (540 + t * (70 * t - 315)) - 420));    \
               D = 630 * narrow * b * b * b * b * i1; } }

#define PAIR(SWITCHING) {                                                            \
        const double *m = mu + 3 * i, *n = mu + 3 * j;                                \
        double r = sqrt(rr), i1 = 1 / r, i2 = i1 * i1, i3 = i1 * i2, i5 = i3 * i2, S, D; \
        double mine = d[0] * m[0] + d[1] * m[1] + d[2] * m[2];                        \
        double other = d[0] * n[0] + d[1] * n[1] + d[2] * n[2];                       \
        double both = m[0] * n[0] + m[1] * n[1] + m[2] * n[2];                        \
        double s2 = l->s2 * i2, s6 = s2 * s2 * s2, core = l->e4 * s6 * s6, well = l->e4 * l->a * s6; \
        double product = 3 * i5 * mine * other;                                       \
        double V = core - well + i3 * both - product - l->k * both;                   \
        SWITCHING(S, D)                                                               \
        double along = S * (i2 * (12 * core - 6 * well - 5 * product) + 3 * i5 * both) + D * V; \
        double k5 = 3 * S * i5, ka = k5 * other, kb = k5 * mine, k3 = S * (l->k - i3); \
        for (int c = 0; c < 3; c++) {                                                 \
            double f = along * d[c] + ka * m[c] + kb * n[c];                          \
            Fi[c] += f;                                                               \
            F[3 * j + c] -= f;                                                        \
            Ei[c] += ka * d[c] + k3 * n[c];                                           \
            E[3 * j + c] += kb * d[c] + k3 * m[c];                                    \
            virial += f * d[c];                                                       \
        }                                                                             \
        potential += S * V;                                                           \
    }

/* Potential; forces and torques in the body frames to out, 6 a body. list: rows[i] ... rows[i + 1] of j > i, or NULL. */
double loads(long n, const double *y, const double *mubar, const law *l, const long *rows, const int *list,
             double *memory, double *out) {
    double *mu = memory, *F = mu + 3 * n, *E = F + 3 * n, *r = E + 3 * n, potential = 0, virial = 0;
    for (long i = 0; i < n; i++) {
        turn(y + 13 * i + 6, mubar + 3 * i, 1, mu + 3 * i);
        memcpy(r + 3 * i, y + 13 * i, 3 * sizeof(double));
    }
    memset(F, 0, 6 * n * sizeof(double));
    double inverse[3];
    for (int c = 0; c < 3; c++) inverse[c] = l->box[c] > 0 ? 1 / l->box[c] : 0;
    double cut = l->cutoff * l->cutoff;
    for (long i = 0; i < n; i++) {
        double Fi[3] = {0}, Ei[3] = {0};
        if (list) {
            for (long k = rows[i]; k < rows[i + 1]; k++) {
                long j = list[k];
                double d[3], rr = 0;
                for (int c = 0; c < 3; c++) {
                    d[c] = r[3 * i + c] - r[3 * j + c];
                    d[c] -= l->box[c] * rint(d[c] * inverse[c]);
                    rr += d[c] * d[c];
                }
                if (rr < cut) PAIR(CUT)
            }
        } else {
            for (long j = i + 1; j < n; j++) {
                double d[3], rr = 0;
                for (int c = 0; c < 3; c++) {
                    d[c] = r[3 * i + c] - r[3 * j + c];
                    rr += d[c] * d[c];
                }
                PAIR(BARE)
            }
        }
        for (int c = 0; c < 3; c++) { F[3 * i + c] += Fi[c]; E[3 * i + c] += Ei[c]; }
    }
    for (long i = 0; i < n; i++) {
        const double *m = mubar + 3 * i;
        double e[3];
        turn(y + 13 * i + 6, E + 3 * i, -1, e);
        memcpy(out + 6 * i, F + 3 * i, 3 * sizeof(double));
        out[6 * i + 3] = m[1] * e[2] - m[2] * e[1];
        out[6 * i + 4] = m[2] * e[0] - m[0] * e[2];
        out[6 * i + 5] = m[0] * e[1] - m[1] * e[0];
    }
    out[6 * n] = virial;
    return potential;
}

void many(long times, long n, const double *y, const double *mubar, const law *l, const long *rows, const int *list,
          double *memory, double *out) {
    for (long k = 0; k < times; k++) loads(n, y, mubar, l, rows, list, memory, out);
}

/* A half list by cells of at least the reach, bodies chained in each; needs three cells or more along each edge. */
long listed(long n, const double *y, const double *box, double reach, long *rows, int *list) {
    int m[3];
    for (int c = 0; c < 3; c++) m[c] = (int)(box[c] / reach);
    int cells = m[0] * m[1] * m[2];
    int *head = malloc(cells * sizeof(int)), *next = malloc(n * sizeof(int)), *at = malloc(3 * n * sizeof(int));
    double *r = malloc(3 * n * sizeof(double));
    for (int k = 0; k < cells; k++) head[k] = -1;
    for (long i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++) {
            double x = y[13 * i + c], u = x / box[c];
            u -= floor(u);
            r[3 * i + c] = x;
            int k = (int)(u * m[c]);
            at[3 * i + c] = k < m[c] ? k : m[c] - 1;
        }
        int cell = (at[3 * i] * m[1] + at[3 * i + 1]) * m[2] + at[3 * i + 2];
        next[i] = head[cell];
        head[cell] = (int)i;
    }
    long count = 0;
    for (long i = 0; i < n; i++) {
        rows[i] = count;
        for (int dx = -1; dx <= 1; dx++)
            for (int dy = -1; dy <= 1; dy++)
                for (int dz = -1; dz <= 1; dz++) {
                    int cx = (at[3 * i] + dx + m[0]) % m[0], cy = (at[3 * i + 1] + dy + m[1]) % m[1],
                        cz = (at[3 * i + 2] + dz + m[2]) % m[2];
                    for (int j = head[(cx * m[1] + cy) * m[2] + cz]; j > i; j = next[j]) {
                        double rr = 0;
                        for (int c = 0; c < 3; c++) {
                            double d = r[3 * i + c] - r[3 * j + c];
                            d -= box[c] * rint(d / box[c]);
                            rr += d * d;
                        }
                        if (rr < reach * reach) list[count++] = j;
                    }
                }
    }
    rows[n] = count;
    free(head); free(next); free(at); free(r);
    return count;
}
