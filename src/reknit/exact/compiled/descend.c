/* Better trees by descents, each from a tree that is shaken out of the best one.

   Take a link out of a tree. Where the UAVs of both parts can be tells at once, of every candidate across, whether the tree
   with it in the place of the other one can hold. So all exchanges of one link cost about as much as a few trees. A descent
   asks for a time a little shorter, and for one exchange if need be, until there is none. Then some random exchanges within a longer
   time lead to where the next descent begins; one that ends later goes back to where that one began.
*/
#include <string.h>

#include "kernel.h"

#define PICKED 4    /* of so many links that would do, the one with the most room is taken */
#define STEP 0.005  /* by how much the time is made shorter at once */
#define FAILURES 1  /* how often in a row a random exchange is tried where none makes it shorter */
#define WORSE 1.002 /* a descent may end so much later than the one before */
#define KICK 0.2    /* by how much the time may be longer while the tree is shaken */
#define SHAKES 20   /* random exchanges between two descents, at most */

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
        if (link == out || s->piece[s->first[link]] == s->piece[s->second[link]] || !is_in_reach(s, link)) continue;
        if (!are_apart(s->region[s->first[link]], s->region[s->second[link]], s->likely[link])) list[fitting++] = link;
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

static void swap_link(Search *s, int32_t *tree, int32_t size, int32_t out, int32_t in) {
    for (int32_t k = 0; k < size; k++)
        if (tree[k] == out) tree[k] = in;
    s->is_in[out] = false;
    s->is_in[in] = true;
}

static void mark(Search *s, const int32_t *tree, int32_t size, bool is_in) {
    for (int32_t k = 0; k < size; k++) s->is_in[tree[k]] = is_in;
}

/* Gives the UAVs so large a part of the time for which the search was made. */
static void allow(Search *s, double share) {
    s->share = share;
    for (int32_t x = 0; x < s->uavs; x++) {
        const double radius = share * s->radius[x];
        make_ball(s->ball[x], s->centre[2 * x], s->centre[2 * x + 1], radius > LEAST_RADIUS ? radius : LEAST_RADIUS);
    }
}

/* Whether the tree holds within the time allowed, if need be with one other link in the place of one that keeps it from that. */
static bool holds(Search *s, int32_t *tree, int32_t size, uint64_t *random) {
    int32_t *clash = s->link_list;
    int32_t left = clash_in_tree(s, tree, size);
    if (left == 0) return true;
    while (left > 0) {
        const int32_t k = below(random, left), out = clash[k];
        clash[k] = clash[--left];
        const int32_t in = part(s, out) ? link_across(s, out, random) : -1;
        if (in < 0) continue;
        swap_link(s, tree, size, out, in);
        return true;
    }
    return false;
}

/* Exchanges a link at random for one with which the tree holds. */
static void shake(Search *s, int32_t *tree, int32_t size, uint64_t *random) {
    const int32_t out = tree[below(random, size)];
    const int32_t in = part(s, out) ? link_across(s, out, random) : -1;
    if (in >= 0) swap_link(s, tree, size, out, in);
}

/* Descends from a tree that holds within the share `now` of the time of the search until one is found that holds within the share `goal`,
   or so much work is done. Returns the share within which `tree` holds then. */
EXPORT double kernel_descend(Search *s, int32_t *tree, int32_t size, uint64_t *random, int64_t tests, double now, double goal) {
    const int64_t limit = s->tests + tests;
    int32_t *home = s->trail; /* of a search that has not begun */
    double at_home = now, share = now;
    memcpy(home, tree, (size_t)size * sizeof(int32_t));
    mark(s, tree, size, true);
    while (s->tests < limit) {
        int failed = 0;
        while (share > goal && failed <= FAILURES && s->tests < limit) {
            const double less = share * (1.0 - STEP);
            allow(s, less);
            if (holds(s, tree, size, random)) {
                share = less;
                failed = 0;
                continue;
            }
            failed++;
            allow(s, share);
            shake(s, tree, size, random);
        }
        const bool is_taken = share <= at_home * WORSE;
        if (is_taken) {
            at_home = share;
            memcpy(home, tree, (size_t)size * sizeof(int32_t));
        } else {
            mark(s, tree, size, false);
            memcpy(tree, home, (size_t)size * sizeof(int32_t));
            mark(s, tree, size, true);
        }
        if (share <= goal) break;
        share = at_home * (1.0 + KICK * (1 + below(random, 1000)) / 1000.0);
        if (share > 1.0) share = 1.0;
        allow(s, share);
        for (int32_t k = 1 + below(random, SHAKES); k > 0; k--) shake(s, tree, size, random);
    }
    mark(s, tree, size, false);
    memcpy(tree, home, (size_t)size * sizeof(int32_t));
    return at_home;
}
