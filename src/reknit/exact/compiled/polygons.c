/* Convex regions of the plane as polygons whose edges have fixed directions.

   A region is the array of its support values h[k] = max u_k . x in DIRECTIONS directions, evenly spread. A ball
   has h[k] = u_k . p + r, the polygon drawn about it. Growing by 1 adds 1 to every value, the intersection
   takes the smaller ones. Each polygon contains the region that it stands for, so what has no place in the
   polygons has none in the regions; the other way round they are wrong by less than one part in 800.
*/
#include <math.h>

#include "kernel.h"

#define ROUNDING 1e-12
#define SURELY_APART 1e-9

static double X[DIRECTIONS], Y[DIRECTIONS];
static double SINE[DIRECTIONS]; /* of the angle between directions so many steps apart */

void make_directions(void) {
    const double turn = 6.283185307179586476925286766559;
    for (int k = 0; k < DIRECTIONS; k++) {
        X[k] = cos(turn * k / DIRECTIONS);
        Y[k] = SINE[k] = sin(turn * k / DIRECTIONS);
    }
}

void direction(int k, double *x, double *y) {
    *x = X[k];
    *y = Y[k];
}

void make_ball(Region h, double x, double y, double radius) {
    for (int k = 0; k < DIRECTIONS; k++) h[k] = X[k] * x + Y[k] * y + radius;
}

/* Where the lines of directions i and j meet; j comes after i by less than half a turn. */
static inline void corner(const Region h, int i, int j, double *x, double *y) {
    const int k = j % DIRECTIONS;
    const double sine = SINE[j - i];
    *x = (h[i] * Y[k] - h[k] * Y[i]) / sine;
    *y = (h[k] * X[i] - h[i] * X[k]) / sine;
}

/* Whether the line of direction k cuts that corner off. */
static inline bool is_beyond(const Region h, int i, int j, int k) {
    double x, y;
    corner(h, i, j, &x, &y);
    return x * X[k] + y * Y[k] > h[k];
}

/* Lowers the support values to those of the polygon that they bound. Returns how many edges it has, 0 where
   it is empty; `edges` (2 DIRECTIONS long) gets their directions in order. The half-planes are sorted by
   angle, so that a queue of those that still have an edge suffices. */
int tighten(Region h, int *edges) {
    int first = 0, last = -1;
    for (int k = 0; k < DIRECTIONS; k++) {
        while (last > first && is_beyond(h, edges[last - 1], edges[last], k)) last--;
        while (last > first && is_beyond(h, edges[first], edges[first + 1], k)) first++;
        if (last >= first && k - edges[last] >= HALF) return 0;
        edges[++last] = k;
    }
    while (last > first + 1 && is_beyond(h, edges[last - 1], edges[last], edges[first])) last--;
    while (last > first + 1 && is_beyond(h, edges[first], edges[first + 1], edges[last])) first++;
    const int count = last - first + 1;
    if (count < 3) return 0;
    for (int q = 0; q < count; q++) edges[q] = edges[first + q];
    edges[count] = edges[0] + DIRECTIONS;
    for (int q = 0; q < count; q++)
        if (edges[q + 1] - edges[q] >= HALF) return 0;
    double x0, y0, x, y;
    corner(h, edges[count - 1], edges[count], &x0, &y0);
    for (int q = 0; q < count; q++) {
        const int i = edges[q], j = edges[q + 1];
        corner(h, i, j, &x, &y);
        if ((y - y0) * X[i] - (x - x0) * Y[i] < -ROUNDING) return 0; /* the edge would run backwards */
        for (int step = i + 1; step < j; step++) {
            const int k = step % DIRECTIONS;
            const double value = x * X[k] + y * Y[k];
            if (value > h[k] + ROUNDING) return 0;
            h[k] = value;
        }
        x0 = x;
        y0 = y;
    }
    return count;
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

bool are_apart(const Region a, const Region b) { return gap(a, b) > SURELY_APART; }

/* The direction in which b is farthest from a. */
int widest_gap(const Region a, const Region b) {
    int best = 0;
    for (int k = 1; k < DIRECTIONS; k++)
        if (a[k] + b[(k + HALF) % DIRECTIONS] < a[best] + b[(best + HALF) % DIRECTIONS]) best = k;
    return best;
}

/* Shares the weights of directions without an edge between the edges on both sides of them:
   u_k = (sin(j - k) u_i + sin(k - i) u_j) / sin(j - i). */
void share(double *weight, const int *edges, int count) {
    for (int q = 0; q < count; q++) {
        const int i = edges[q], j = q + 1 < count ? edges[q + 1] : edges[0] + DIRECTIONS;
        for (int step = i + 1; step < j; step++) {
            const int k = step % DIRECTIONS;
            weight[i] += weight[k] * SINE[j - step] / SINE[j - i];
            weight[j % DIRECTIONS] += weight[k] * SINE[step - i] / SINE[j - i];
            weight[k] = 0.0;
        }
    }
}
