/* Better trees by walks among those that are a little slower.

   Take a link out of a tree. Where the UAVs of both parts can be tells at once, of every candidate across, whether the tree
   with it in the place of the other one can hold. So all exchanges of one link cost about as much as a few trees. A tree is
   asked for an exchange that makes it hold within the shorter of two times. Where there is none, a random exchange that
   holds within the longer time leads on to another tree, and after some of these the walk begins anew.
*/
#include <string.h>

#include "kernel.h"

#define STEPS 30     /* random exchanges before a walk begins anew */
#define PICKED 16    /* of so many links that would do, the one with the most room is taken */
#define CRITICAL 0.7 /* how often a link is taken out that keeps the tree from being faster */

/* xorshift64*, Vigna 2016. */
static uint64_t next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1DULL;
}

static int32_t below(uint64_t *state, int32_t limit) { return (int32_t)((next(state) >> 33) % (uint64_t)limit); }

/* Whether both parts that a tree falls into without a link have places, and where these are. */
static bool part(Search *s, int32_t out) {
    s->is_in[out] = false;
    const bool has_places = find_places(s, s->first[out]) && find_places(s, s->second[out]);
    s->is_in[out] = true;
    return has_places;
}

/* Of the links across, after `part`, one of those that fit: of some at random the one with the most room. -1 if none does. */
static int32_t link_across(const Search *s, int32_t out, uint64_t *random) {
    int32_t fitting = 0, best = -1, *list = s->seen_list;
    double room = 0.0;
    for (int32_t link = 0; link < s->links; link++) {
        if (link == out || s->piece[s->first[link]] == s->piece[s->second[link]]) continue;
        if (gap(s->region[s->first[link]], s->region[s->second[link]]) < 0.0) list[fitting++] = link;
    }
    for (int pick = 0; pick < PICKED && fitting > 0; pick++) {
        const int32_t link = list[below(random, fitting)];
        const double here = -gap(s->region[s->first[link]], s->region[s->second[link]]);
        if (best < 0 || here > room) {
            best = link;
            room = here;
        }
    }
    return best;
}

static void swap_link(Search *s, Search *other, int32_t *tree, int32_t size, int32_t out, int32_t in) {
    for (int32_t k = 0; k < size; k++)
        if (tree[k] == out) tree[k] = in;
    s->is_in[out] = other->is_in[out] = false;
    s->is_in[in] = other->is_in[in] = true;
}

static void mark(Search *s, const int32_t *tree, int32_t size, bool is_in) {
    for (int32_t k = 0; k < size; k++) s->is_in[tree[k]] = is_in;
}

/* Walks from a tree (numbers of links, n - 1 of them) that holds within the longer time until one is found that holds within the
   shorter one, or so much work is done. Both searches have the same links. Returns whether it was found; `tree` is where the walk
   ended. */
EXPORT int kernel_exchange(Search *shorter, Search *longer, int32_t *tree, int32_t size, uint64_t *random, int64_t tests) {
    const int64_t limit = shorter->tests + longer->tests + tests;
    int32_t *home = longer->link_list, *clash = shorter->link_list;
    int32_t steps = 0;
    bool is_found = false;
    memcpy(home, tree, (size_t)size * sizeof(int32_t));
    mark(shorter, tree, size, true);
    mark(longer, tree, size, true);
    while (shorter->tests + longer->tests < limit) {
        const int32_t critical = clash_in_tree(shorter, tree, size);
        is_found = critical == 0;
        for (int32_t k = 0; k < critical && !is_found; k++) {
            const int32_t out = clash[k];
            if (!part(shorter, out)) continue;
            const int32_t in = link_across(shorter, out, random);
            if (in < 0) continue;
            swap_link(shorter, longer, tree, size, out, in);
            is_found = true;
        }
        if (is_found) break;
        if (++steps > STEPS) {
            steps = 0;
            mark(shorter, tree, size, false);
            mark(longer, tree, size, false);
            memcpy(tree, home, (size_t)size * sizeof(int32_t));
            mark(shorter, tree, size, true);
            mark(longer, tree, size, true);
            continue;
        }
        const bool is_critical = below(random, 1000) < (int32_t)(1000 * CRITICAL);
        const int32_t out = is_critical ? clash[below(random, critical)] : tree[below(random, size)];
        const int32_t in = part(longer, out) ? link_across(longer, out, random) : -1;
        if (in >= 0) swap_link(shorter, longer, tree, size, out, in);
    }
    mark(shorter, tree, size, false);
    mark(longer, tree, size, false);
    return is_found;
}
