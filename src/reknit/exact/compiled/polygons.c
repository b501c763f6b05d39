/* Convex regions of the plane as polygons whose edges have fixed directions.

   A region is the array of its support values h[k] = max u_k . x in DIRECTIONS directions, evenly spread. A ball
   has h[k] = u_k . p + r, the polygon drawn about it. Growing by 1 adds 1 to every value, the intersection
   takes the smaller ones. Each polygon contains the region that it stands for, so what has no place in the
   polygons has none in the regions; the other way round they are wrong by less than one part in 800.
*/
#include <math.h>

#include "kernel.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if defined(_MSC_VER)
#include <intrin.h>
#endif

#define ROUNDING 1e-12
#define SURELY_APART 1e-9

static double X[DIRECTIONS], Y[DIRECTIONS];
static double SINE[DIRECTIONS], INVERSE[DIRECTIONS]; /* of the angle between directions so many steps apart */

/* How many steps direction j is after i. */
static inline int steps(int i, int j) { return (j - i) & (DIRECTIONS - 1); }

/* Sets of directions: turned by so many steps, their lowest and highest, and the nearest after and before one. */
static inline uint64_t turned(uint64_t set, int by) { return set >> by | set << (-by & (DIRECTIONS - 1)); }

#if defined(_MSC_VER)
static inline int lowest(uint64_t set) {
    unsigned long at;
    _BitScanForward64(&at, set);
    return (int)at;
}

static inline int highest(uint64_t set) {
    unsigned long at;
    _BitScanReverse64(&at, set);
    return (int)at;
}
#else
static inline int lowest(uint64_t set) { return __builtin_ctzll(set); }
static inline int highest(uint64_t set) { return DIRECTIONS - 1 - __builtin_clzll(set); }
#endif

static inline int edge_after(uint64_t edges, int k) {
    const int next = (k + 1) & (DIRECTIONS - 1);
    return (next + lowest(turned(edges, next))) & (DIRECTIONS - 1);
}

static inline int edge_before(uint64_t edges, int k) { return (k + highest(turned(edges, k))) & (DIRECTIONS - 1); }

void make_directions(void) {
    const double turn = 6.283185307179586476925286766559;
    for (int k = 0; k < DIRECTIONS; k++) {
        X[k] = cos(turn * k / DIRECTIONS);
        Y[k] = SINE[k] = sin(turn * k / DIRECTIONS);
        INVERSE[k] = 1.0 / SINE[k];
    }
}

void direction(int k, double *x, double *y) {
    *x = X[k];
    *y = Y[k];
}

void make_ball(Region h, double x, double y, double radius) {
    for (int k = 0; k < DIRECTIONS; k++) h[k] = X[k] * x + Y[k] * y + radius;
}

/* Whether direction k is cut off by the corner of the directions i and j before and after it: for k - i = a steps and j - k = b steps,
   the length of its edge is (h_i sin b + h_j sin a - h_k sin(a + b)) / (sin a sin b). */
static inline bool is_cut_off(const Region h, int i, int k, int j) {
    const int a = steps(i, k), b = steps(k, j);
    return h[i] * SINE[b] + h[j] * SINE[a] - h[k] * SINE[(a + b) & (DIRECTIONS - 1)] < -ROUNDING;
}

/* The numbers below 0 as a set. */
static inline uint64_t negative(const double *values) {
    uint64_t set = 0;
#if defined(__SSE2__)
    for (int k = 0; k < DIRECTIONS; k += 2) set |= (uint64_t)_mm_movemask_pd(_mm_loadu_pd(values + k)) << k;
#else
    for (int k = 0; k < DIRECTIONS; k++) set |= (uint64_t)(values[k] < 0.0) << k;
#endif
    return set;
}

/* The directions that are cut off by the corners of those next to them. */
static inline uint64_t cut_off(const Region h) {
    double room[DIRECTIONS];
    room[0] = SINE[1] * (h[DIRECTIONS - 1] + h[1]) - SINE[2] * h[0] + ROUNDING;
    for (int k = 1; k < DIRECTIONS - 1; k++) room[k] = SINE[1] * (h[k - 1] + h[k + 1]) - SINE[2] * h[k] + ROUNDING;
    room[DIRECTIONS - 1] = SINE[1] * (h[DIRECTIONS - 2] + h[0]) - SINE[2] * h[DIRECTIONS - 1] + ROUNDING;
    return negative(room);
}

/* Gives the directions without an edge the values of the corners there. */
static void lower(Region h, uint64_t edges) {
    const uint64_t rest = ~edges;
    for (uint64_t begins = rest & ~turned(rest, DIRECTIONS - 1); begins != 0; begins &= begins - 1) {
        const int first = lowest(begins), i = (first - 1) & (DIRECTIONS - 1), j = edge_after(edges, first);
        const int wide = steps(i, j);
        const double one = h[i] * INVERSE[wide], other = h[j] * INVERSE[wide];
        const int whole = i + wide <= DIRECTIONS ? wide : DIRECTIONS - i;
        int step = 1;
        for (; step < whole; step++) h[i + step] = one * SINE[HALF - wide + step] + other * SINE[step];
        for (; step < wide; step++) h[i + step - DIRECTIONS] = one * SINE[HALF - wide + step] + other * SINE[step];
    }
}

/* Lowers the support values to those of the polygon that they bound. Returns the set of directions that have an edge, 0 where
   it is empty; then `corner` gets three directions whose half-planes have nothing in common.

   A direction that the corner of its neighbours cuts off is taken out, and its neighbours are looked at again. That never
   changes the region, so if its neighbours are half a turn apart or more, there is none. What is left when no direction is
   cut off has edges all around, and the others get the values of the corners. */
uint64_t tighten(Region h, int *corner) {
    uint64_t edges = ~(uint64_t)0;
    for (uint64_t left = cut_off(h); left != 0; left &= left - 1) {
        int k = lowest(left);
        if (!has_direction(edges, k)) continue;
        int i = edge_before(edges, k), j = edge_after(edges, k);
        if (!is_cut_off(h, i, k, j)) continue;
        for (;;) {
            if (steps(i, k) + steps(k, j) >= HALF) {
                corner[0] = i;
                corner[1] = k;
                corner[2] = j;
                return 0;
            }
            edges &= ~((uint64_t)1 << k);
            const int before = edge_before(edges, i), after = edge_after(edges, j);
            if (is_cut_off(h, before, i, j)) {
                k = i;
                i = before;
            } else if (is_cut_off(h, i, j, after)) {
                k = j;
                j = after;
            } else {
                break;
            }
        }
    }
    if (~edges != 0) lower(h, edges);
    return edges;
}

/* The edges next to a direction that has none, before and after it. */
void edges_about(uint64_t edges, int k, int *before, int *after) {
    *before = edge_before(edges, k);
    *after = edge_after(edges, k);
}

/* Cuts a region with another one that is grown by 1. */
void intersect_grown(Region h, const Region other) {
    for (int k = 0; k < DIRECTIONS; k++) {
        const double value = other[k] + 1.0;
        if (value < h[k]) h[k] = value;
    }
}

/* By how much two regions are farther apart than 1, negative where they are nearer; of polygons with these edges
   the directions tell all. */
double gap(const Region a, const Region b) {
    double least = a[0] + b[HALF];
    for (int k = 0; k < HALF; k++) {
        const double there = a[k] + b[k + HALF], back = a[k + HALF] + b[k];
        least = there < least ? there : least;
        least = back < least ? back : least;
    }
    return -1.0 - least;
}

/* Whether two regions are farther apart than 1, asked first in the direction in which that is likely. */
bool are_apart(const Region a, const Region b, int likely) {
    if (-1.0 - (a[likely] + b[(likely + HALF) & (DIRECTIONS - 1)]) > SURELY_APART) return true;
    return gap(a, b) > SURELY_APART;
}

/* The direction nearest to that of a vector. */
int nearest_direction(double x, double y) {
    int best = 0;
    for (int k = 1; k < DIRECTIONS; k++)
        if (X[k] * x + Y[k] * y > X[best] * x + Y[best] * y) best = k;
    return best;
}

/* The direction in which b is farthest from a. */
int widest_gap(const Region a, const Region b) {
    int best = 0;
    for (int k = 1; k < DIRECTIONS; k++)
        if (a[k] + b[(k + HALF) % DIRECTIONS] < a[best] + b[(best + HALF) % DIRECTIONS]) best = k;
    return best;
}

/* Shares the weights of directions without an edge between the edges on both sides of them:
   u_k = (sin(j - k) u_i + sin(k - i) u_j) / sin(j - i). */
void share(double *weight, uint64_t edges) {
    for (int k = 0; k < DIRECTIONS; k++) {
        if (has_direction(edges, k) || weight[k] == 0.0) continue;
        int i, j;
        edges_about(edges, k, &i, &j);
        const int a = (k - i) & (DIRECTIONS - 1), b = (j - k) & (DIRECTIONS - 1);
        weight[i] += weight[k] * SINE[b] / SINE[a + b];
        weight[j] += weight[k] * SINE[a] / SINE[a + b];
        weight[k] = 0.0;
    }
}
