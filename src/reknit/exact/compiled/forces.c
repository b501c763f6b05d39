/* The forces that prove a clash, read off the regions of its tree without a cone program.

   Take the tree but for one leaf: where the UAV next to that leaf can be lies, in some direction u, too far from where
   the leaf can be. That direction's support value comes from the two edges of the region on both sides of it, each of
   them from a ball or from the region of a child grown by 1, and so on. Following the values down, every link
   gets a sum of directions with weights w >= 0. This is its force y, and |y| <= sum w: by weak duality the
   forces prove at least the time for which the regions were made.
*/
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

/* Adds a force on a link that is counted from one of its ends, with the sign of its first end. */
static void pull(const Search *s, double *force, int32_t link, int32_t uav, int towards, double weight) {
    double x, y;
    direction(towards, &x, &y);
    const double sign = s->first[link] == uav ? weight : -weight;
    force[0] += sign * x;
    force[1] += sign * y;
}

/* Forces that hold the rest of the tree against a leaf; false if it is within reach. `space` has room for three
   regions of every UAV. */
static bool forces_from(Search *s, const int32_t *links, int32_t size, double *forces, int32_t last, int32_t leaf,
                        int32_t root, Region *space) {
    s->is_in[links[last]] = false;
    const int32_t count = walk(s, root, true);
    s->is_in[links[last]] = true;
    Region *up = space, *weight = space + count, *source = weight + count;
    uint64_t *edges = s->edges;
    for (int32_t row = 0; row < count; row++) {
        memcpy(up[row], s->ball[s->order[row]], sizeof(Region));
        for (int k = 0; k < DIRECTIONS; k++) {
            weight[row][k] = 0.0;
            source[row][k] = -1.0;
        }
    }
    for (int32_t row = count - 1; row >= 0; row--) {
        edges[row] = tighten(up[row], s->corner);
        if (edges[row] == 0) return false;
        if (row == 0) break;
        const int32_t parent = s->parent[row];
        for (int k = 0; k < DIRECTIONS; k++)
            if (up[row][k] + 1.0 < up[parent][k]) source[parent][k] = row;
        intersect_grown(up[parent], up[row]);
    }
    if (!are_apart(up[0], s->ball[leaf], s->likely[links[last]])) return false;
    const int towards = widest_gap(up[0], s->ball[leaf]);
    memset(forces, 0, 2 * (size_t)size * sizeof(double));
    pull(s, forces + 2 * last, links[last], root, towards, -1.0);
    weight[0][towards] = 1.0;
    for (int32_t row = 0; row < count; row++) {
        share(weight[row], edges[row]);
        for (int k = 0; k < DIRECTIONS; k++) {
            if (weight[row][k] == 0.0 || source[row][k] < 0.0) continue;
            const int32_t child = (int32_t)source[row][k];
            int32_t here = 0;
            while (links[here] != s->by_link[child]) here++;
            weight[child][k] += weight[row][k];
            pull(s, forces + 2 * here, links[here], s->order[row], k, weight[row][k]);
        }
    }
    return true;
}

/* The time that forces prove by weak duality, as a part of the trial time. */
static double proved_share(Search *s, const int32_t *links, int32_t size, const double *forces, double *balance) {
    double top = 0.0, bottom = 0.0;
    for (int32_t k = 0; k < size; k++)
        for (int side = 0; side < 2; side++) {
            double *z = balance + 2 * (side ? s->second[links[k]] : s->first[links[k]]);
            z[0] = z[1] = 0.0;
        }
    for (int32_t k = 0; k < size; k++) {
        const double *y = forces + 2 * k;
        const int32_t i = s->first[links[k]], j = s->second[links[k]];
        for (int axis = 0; axis < 2; axis++) {
            balance[2 * i + axis] += y[axis];
            balance[2 * j + axis] -= y[axis];
            top += y[axis] * (s->centre[2 * i + axis] - s->centre[2 * j + axis]);
        }
        top -= sqrt(y[0] * y[0] + y[1] * y[1]);
    }
    for (int32_t k = 0; k < size; k++)
        for (int side = 0; side < 2; side++) {
            const int32_t uav = side ? s->second[links[k]] : s->first[links[k]];
            double *z = balance + 2 * uav;
            bottom += s->radius[uav] * sqrt(z[0] * z[0] + z[1] * z[1]);
            z[0] = z[1] = 0.0;
        }
    return bottom > 0.0 ? top / bottom : (top > 0.0 ? INFINITY : 0.0);
}

/* Forces on the links of a clash, in their order. Returns the part of the trial time that they prove, 0 where the
   regions do not tell, -1 if there is no memory. */
EXPORT double kernel_forces(Search *s, const int32_t *links, int32_t size, double *forces) {
    Region *space = malloc((size_t)(s->uavs + 1) * 3 * sizeof(Region));
    bool is_proved = false;
    if (space == NULL) return -1.0;
    for (int32_t k = 0; k < size; k++) s->is_in[links[k]] = true;
    for (int32_t k = 0; k < size && !is_proved; k++)
        for (int side = 0; side < 2 && !is_proved; side++) {
            const int32_t leaf = side ? s->second[links[k]] : s->first[links[k]];
            const int32_t root = side ? s->first[links[k]] : s->second[links[k]];
            if (marked_at(s, leaf) == 1) is_proved = forces_from(s, links, size, forces, k, leaf, root, space);
        }
    for (int32_t k = 0; k < size; k++) s->is_in[links[k]] = false;
    const double part = is_proved ? proved_share(s, links, size, forces, (double *)space) : 0.0;
    free(space);
    return part;
}
