/* Convex regions of the plane as polygons whose edges have fixed directions.

   A region is the array of its support values h[k] = max u_k . x in DIRECTIONS directions, evenly spread. A ball
   has h[k] = u_k . p + r, the polygon drawn about it. Growing by 1 adds 1 to every value, the intersection
   takes the smaller ones. Each polygon contains the region that it stands for, so what has no place in the
   polygons has none in the regions; the other way round they are wrong by less than one part in 800.
*/
#include <math.h>
#include <string.h>

#include "kernel.h"

#define ROUNDING 1e-12
#define SURELY_APART 1e-9

static double X[DIRECTIONS], Y[DIRECTIONS];
static double SINE[DIRECTIONS], INVERSE[DIRECTIONS]; /* of the angle between directions so many steps apart */
static int8_t BEFORE[DIRECTIONS], AFTER[DIRECTIONS];

void make_directions(void) {
    const double turn = 6.283185307179586476925286766559;
    for (int k = 0; k < DIRECTIONS; k++) {
        X[k] = cos(turn * k / DIRECTIONS);
        Y[k] = SINE[k] = sin(turn * k / DIRECTIONS);
        INVERSE[k] = 1.0 / SINE[k];
        BEFORE[k] = (int8_t)((k + DIRECTIONS - 1) % DIRECTIONS);
        AFTER[k] = (int8_t)((k + 1) % DIRECTIONS);
    }
}

void direction(int k, double *x, double *y) {
    *x = X[k];
    *y = Y[k];
}

void make_ball(Region h, double x, double y, double radius) {
    for (int k = 0; k < DIRECTIONS; k++) h[k] = X[k] * x + Y[k] * y + radius;
}

/* How far direction k is from being cut off by the corner of the directions i and j before and after it: for
   k - i = a steps and j - k = b steps, the length of its edge times sin a sin b; negative where it has none. */
static inline double slack(const Region h, int i, int k, int j, int a, int b) {
    return h[i] * SINE[b] + h[j] * SINE[a] - h[k] * SINE[a + b];
}

/* Lowers the support values to those of the polygon that they bound. Returns the set of directions that have an edge, 0 where
   it is empty; then `corner` gets three directions whose half-planes have nothing in common.

   A direction that the corner of its neighbours cuts off is taken out, and its neighbours are looked at again. That never
   changes the region, so if its neighbours are half a turn apart or more, there is none. What is left when no direction is
   cut off has edges all around, and the others get the values of the corners. */
uint64_t tighten(Region h, int *corner) {
    double room[DIRECTIONS];
    int8_t before[DIRECTIONS], after[DIRECTIONS], stack[3 * DIRECTIONS];
    uint64_t edges = ~(uint64_t)0;
    int depth = 0;
    room[0] = SINE[1] * (h[DIRECTIONS - 1] + h[1]) - SINE[2] * h[0];
    for (int k = 1; k < DIRECTIONS - 1; k++) room[k] = SINE[1] * (h[k - 1] + h[k + 1]) - SINE[2] * h[k];
    room[DIRECTIONS - 1] = SINE[1] * (h[DIRECTIONS - 2] + h[0]) - SINE[2] * h[DIRECTIONS - 1];
    for (int k = 0; k < DIRECTIONS; k++) {
        stack[depth] = (int8_t)k;
        depth += room[k] < -ROUNDING;
    }
    if (depth == 0) return edges;
    memcpy(before, BEFORE, sizeof(before));
    memcpy(after, AFTER, sizeof(after));
    while (depth > 0) {
        const int k = stack[--depth];
        if (!has_direction(edges, k)) continue;
        const int i = before[k], j = after[k];
        const int a = (k - i) & (DIRECTIONS - 1), b = (j - k) & (DIRECTIONS - 1);
        if (slack(h, i, k, j, a, b) >= -ROUNDING) continue;
        if (a + b >= HALF) {
            corner[0] = i;
            corner[1] = k;
            corner[2] = j;
            return 0;
        }
        edges &= ~((uint64_t)1 << k);
        after[i] = (int8_t)j;
        before[j] = (int8_t)i;
        stack[depth++] = (int8_t)i;
        stack[depth++] = (int8_t)j;
    }
    int first = 0;
    while (!has_direction(edges, first)) first++;
    for (int i = first, gap; i < first + DIRECTIONS; i += gap) {
        const int here = i & (DIRECTIONS - 1), there = after[here];
        gap = (there - here) & (DIRECTIONS - 1);
        const double one = h[here] * INVERSE[gap], other = h[there] * INVERSE[gap];
        for (int step = 1; step < gap; step++)
            h[(i + step) & (DIRECTIONS - 1)] = one * SINE[gap - step] + other * SINE[step];
    }
    return edges;
}

/* The edges next to a direction that has none, before and after it. */
void edges_about(uint64_t edges, int k, int *before, int *after) {
    int i = k, j = k;
    while (!has_direction(edges, i)) i = BEFORE[i];
    while (!has_direction(edges, j)) j = AFTER[j];
    *before = i;
    *after = j;
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
