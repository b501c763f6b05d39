/* The search itself: decide a link, take up what follows, learn from conflicts, begin anew. And what Python calls. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define SHORT_RUN 50       /* conflicts in the shortest run */
#define FIRST_LIVE 3000    /* learned clauses that are propagated, at first */
#define MORE_LIVE 300      /* and so many more each time that some are put out */
#define FAVOUR 4.0         /* how much smaller a cut counts whose links took part in all conflicts lately */
#define VISITS_PER_TEST 40 /* clauses are looked at so many times as fast as a region is computed */
#define LITERALS_EACH 30
#define STEPS_EACH 48

static int32_t find(int32_t *root, int32_t node) {
    while (root[node] != node) node = root[node] = root[root[node]];
    return node;
}

/* An open link out of the piece with the fewest of them, fewer where they took part in conflicts: the one that did most, or
   the shortest. -1 if the links in use connect everything. */
static int32_t choose(Search *s) {
    int32_t *root = s->node_space, chosen = -1, best = -1;
    double *number = (double *)(s->node_space + 2 * ((s->nodes + 1) / 2)), *active = number + s->nodes;
    double most = 1e-300, least = 0.0, highest = 0.0;
    for (int32_t x = 0; x < s->nodes; x++) {
        root[x] = x;
        number[x] = active[x] = 0.0;
    }
    for (int32_t link = 0; link < s->links; link++) {
        if (s->activity[link] > most) most = s->activity[link];
        if (s->value[link] != USED) continue;
        const int32_t one = find(root, s->one[link]), two = find(root, s->two[link]);
        root[one > two ? one : two] = one > two ? two : one;
    }
    for (int32_t link = 0; link < s->links; link++) {
        if (s->value[link] != OPEN) continue;
        const int32_t one = find(root, s->one[link]), two = find(root, s->two[link]);
        if (one == two) continue;
        number[one] += 1.0;
        number[two] += 1.0;
        active[one] += s->activity[link] / most;
        active[two] += s->activity[link] / most;
    }
    for (int32_t x = 0; x < s->nodes; x++) {
        if (number[x] == 0.0) continue;
        const double score = number[x] / (1.0 + FAVOUR * active[x] / number[x]);
        if (best < 0 || score < least) {
            best = x;
            least = score;
        }
    }
    for (int32_t link = 0; link < s->links && best >= 0; link++) {
        if (s->value[link] != OPEN) continue;
        const int32_t one = find(root, s->one[link]), two = find(root, s->two[link]);
        if (one == two || (one != best && two != best)) continue;
        const double score = s->activity[link] / most - 1e-3 * s->length[link];
        if (chosen < 0 || score > highest) {
            chosen = link;
            highest = score;
        }
    }
    return chosen;
}

/* 1, 1, 2, 1, 1, 2, 4, ...: lengths of runs, many short and a few long ones (Luby, Sinclair and Zuckerman 1993). */
static int32_t luby(int32_t run) {
    for (;;) {
        int32_t power = 1;
        while ((1 << power) - 1 < run) power++;
        if ((1 << power) - 1 == run) return 1 << (power - 1);
        run -= (1 << (power - 1)) - 1;
    }
}

/* Everything that follows from the decisions made. Returns a clause that they refute, or -1. */
static int32_t take_up(Search *s) {
    for (;;) {
        int32_t conflict = propagate(s);
        if (conflict >= 0 || s->is_full) return conflict;
        const int32_t decided = s->decided;
        conflict = refresh(s);
        if (conflict < 0 && !s->is_full && s->decided == decided) conflict = use_bridges(s);
        if (conflict >= 0 || s->is_full || s->decided == decided) return conflict;
    }
}

static int take_conflict(Search *s, int32_t conflict) {
    s->conflicts++;
    s->since++;
    if (top_level(s, conflict) == 0) {
        go_back(s, 0); /* the proof rests on no decision */
        s->final = conflict;
        return PROVED;
    }
    return learn(s, conflict) ? UNDECIDED : FULL;
}

static int64_t work_done(const Search *s) { return s->tests + s->visits / VISITS_PER_TEST; }

/* Goes on with a search for about as much work as so many regions take. */
EXPORT int kernel_search(Search *s, int64_t tests) {
    const int64_t limit = work_done(s) + tests;
    for (;;) {
        const int32_t conflict = take_up(s);
        if (s->is_full) return FULL;
        if (conflict >= 0) {
            const int ending = take_conflict(s, conflict);
            if (ending != UNDECIDED) return ending;
            continue;
        }
        if (work_done(s) >= limit) return UNDECIDED;
        if (s->since >= s->until) {
            s->since = 0;
            s->until = SHORT_RUN * luby(++s->run);
            go_back(s, 0);
            if (s->live > s->most_live) {
                forget(s);
                s->most_live += MORE_LIVE;
            }
            continue;
        }
        const int32_t link = choose(s);
        if (link < 0) return CONNECTED;
        s->level_begin[++s->depth] = s->decided;
        s->joined_begin[s->depth] = s->joined;
        s->saved_begin[s->depth] = s->saved_count;
        decide(s, link, USED, BY_DECISION);
    }
}

/* Before a search: the links from one number on are in use, whatever else is decided. */
EXPORT void kernel_hold(Search *s, int32_t from) {
    for (int32_t link = from; link < s->links; link++)
        if (s->value[link] == OPEN) decide(s, link, USED, BY_DECISION);
}

EXPORT int64_t kernel_work(const Search *s) { return work_done(s); }

/* Adds the clash of some links, all in use, and learns from it. Returns how the search stands; the clash is the last clause
   before the one learned. */
EXPORT int kernel_refute(Search *s, const int32_t *links, int32_t size) {
    for (int32_t k = 0; k < size; k++) s->literal_list[k] = 2 * links[k] + 1;
    const int32_t clause = add_clause(s, s->literal_list, size, CLASH);
    return clause < 0 ? FULL : take_conflict(s, clause);
}

/* After a proof: makes the reasons of all that was decided without a supposition, and marks every clause that the proof needs.
   Returns how many clauses there are then, -1 if there was no room. */
EXPORT int32_t kernel_needed(Search *s, uint8_t *is_needed) {
    for (int32_t place = 0; place < s->decided; place++)
        if (reason_clause(s, s->trail[place]) < 0) return -1;
    memset(is_needed, 0, (size_t)s->clauses);
    is_needed[s->final] = 1;
    for (int32_t place = 0; place < s->decided; place++) is_needed[s->reason[s->trail[place]]] = 1;
    for (int32_t c = s->clauses - 1; c >= 0; c--)
        if (is_needed[c] && s->kind[c] == LEARNED)
            for (int32_t k = 0; k < s->steps[c]; k++) is_needed[s->step[2 * (s->step_begin[c] + k)]] = 1;
    return s->clauses;
}

static bool make_incidence(Incidence *rows, const int32_t *a, const int32_t *b, int32_t links, int32_t nodes) {
    rows->at = calloc((size_t)nodes + 2, sizeof(int32_t));
    rows->links = calloc(2 * (size_t)links + 1, sizeof(int32_t));
    if (rows->at == NULL || rows->links == NULL) return false;
    for (int32_t k = 0; k < links; k++) {
        rows->at[a[k] + 2]++;
        rows->at[b[k] + 2]++;
    }
    for (int32_t x = 2; x <= nodes; x++) rows->at[x + 1] += rows->at[x];
    for (int32_t k = 0; k < links; k++) {
        rows->links[rows->at[a[k] + 1]++] = k;
        rows->links[rows->at[b[k] + 1]++] = k;
    }
    return true;
}

EXPORT void kernel_free(Search *s) {
    if (s == NULL) return;
    void *arrays[] = {
        s->value, s->trail, s->reason, s->kind, s->begin, s->size, s->literals, s->step_begin, s->steps, s->step, s->first,
        s->second, s->one, s->two, s->at_uav.at, s->at_uav.links, s->at_node.at, s->at_node.links, s->length, s->centre,
        s->radius, s->likely, s->ball, s->level, s->place, s->level_begin, s->is_spare, s->side, s->is_out, s->levels, s->watch,
        s->watcher, s->activity, s->region, s->up, s->down, s->edges, s->traced, s->piece, s->message, s->slot, s->joined_link, s->old_name,
        s->joined_at, s->joined_next, s->saved, s->joined_begin, s->saved_begin, s->is_changed, s->changed, s->is_in, s->is_seen, s->has_child,
        s->order, s->parent, s->first_child, s->by_link, s->link_list, s->seen_list, s->node_space, s->step_list, s->literal_list, s->mark,
        s->level_mark,
    };
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]); k++) free(arrays[k]);
    free(s);
}

/* A copy of `count` items, or so many zeros if there is nothing to copy. */
static bool take(void *to, const void *from, size_t count, size_t item) {
    void *made = calloc(count + 1, item);
    if (made == NULL) return false;
    if (from != NULL && count > 0) memcpy(made, from, count * item);
    memcpy(to, &made, sizeof(made));
    return true;
}

/* A search for UAVs (centre, radius) and links between them, given as UAVs (first, second) and as nodes (one, two) of the graph that
   has to be connected. NULL if there is no memory. */
EXPORT Search *kernel_new(int32_t uavs, const double *centre, const double *radius, int32_t links, const int32_t *first,
                          const int32_t *second, int32_t nodes, const int32_t *one, const int32_t *two, const double *length,
                          int32_t clauses) {
    Search *s = calloc(1, sizeof(Search));
    if (s == NULL) return NULL;
    const size_t u = (size_t)uavs, m = (size_t)links, n = (size_t)nodes, c = (size_t)clauses;
    s->uavs = uavs;
    s->links = links;
    s->nodes = nodes;
    s->clause_room = clauses;
    s->literal_room = (int64_t)LITERALS_EACH * clauses;
    s->step_room = (int64_t)STEPS_EACH * clauses;
    s->final = -1;
    s->run = 1;
    s->until = SHORT_RUN;
    s->most_live = FIRST_LIVE;
    s->weight = 1.0;
    const bool is_made =
        take(&s->value, NULL, m, 1) && take(&s->trail, NULL, m, 4) && take(&s->reason, NULL, m, 4) &&
        take(&s->kind, NULL, c, 1) && take(&s->begin, NULL, c, 4) && take(&s->size, NULL, c, 4) &&
        take(&s->literals, NULL, (size_t)s->literal_room, 4) && take(&s->step_begin, NULL, c, 8) &&
        take(&s->steps, NULL, c, 4) && take(&s->step, NULL, 2 * (size_t)s->step_room, 4) && take(&s->first, first, m, 4) &&
        take(&s->second, second, m, 4) && take(&s->one, one, m, 4) && take(&s->two, two, m, 4) &&
        make_incidence(&s->at_uav, first, second, links, uavs) && make_incidence(&s->at_node, one, two, links, nodes) &&
        take(&s->length, length, m, 8) && take(&s->centre, centre, 2 * u, 8) && take(&s->radius, radius, u, 8) &&
        take(&s->likely, NULL, m, 1) && take(&s->ball, NULL, u, sizeof(Region)) && take(&s->level, NULL, m, 4) && take(&s->place, NULL, m, 4) &&
        take(&s->level_begin, NULL, m + 2, 4) && take(&s->is_spare, NULL, m, sizeof(bool)) &&
        take(&s->side, NULL, (m + 1) * n, 1) && take(&s->is_out, NULL, c, sizeof(bool)) && take(&s->levels, NULL, c, 4) &&
        take(&s->watch, NULL, 2 * m, 4) && take(&s->watcher, NULL, 2 * c, sizeof(Watcher)) && take(&s->activity, NULL, m, 8) &&
        take(&s->region, NULL, u, sizeof(Region)) && take(&s->up, NULL, u, sizeof(Region)) &&
        take(&s->down, NULL, u, sizeof(Region)) && take(&s->edges, NULL, u, 8) &&
        take(&s->traced, NULL, u, 8) && take(&s->piece, NULL, u, 4) &&
        take(&s->message, NULL, 2 * u, sizeof(Region)) && take(&s->slot, NULL, m, 4) && take(&s->joined_link, NULL, u, 4) &&
        take(&s->old_name, NULL, u, 4) && take(&s->joined_at, NULL, u, 4) && take(&s->joined_next, NULL, 2 * m, 4) &&
        take(&s->joined_begin, NULL, m + 2, 4) && take(&s->saved_begin, NULL, m + 2, 4) &&
        take(&s->is_changed, NULL, u, sizeof(bool)) && take(&s->changed, NULL, u, 4) &&
        take(&s->is_in, NULL, m, sizeof(bool)) && take(&s->is_seen, NULL, m, sizeof(bool)) &&
        take(&s->has_child, NULL, u, sizeof(bool)) && take(&s->order, NULL, u, 4) && take(&s->parent, NULL, u, 4) && take(&s->first_child, NULL, u, 4) &&
        take(&s->by_link, NULL, u, 4) && take(&s->link_list, NULL, m, 4) && take(&s->seen_list, NULL, 2 * m + u + 2, 4) &&
        take(&s->node_space, NULL, 9 * n + 8, 4) && take(&s->step_list, NULL, 4 * m + 8, 4) &&
        take(&s->literal_list, NULL, m, 4) && take(&s->mark, NULL, u, 8) && take(&s->level_mark, NULL, m + 2, 8);
    if (!is_made) {
        kernel_free(s);
        return NULL;
    }
    for (int32_t x = 0; x < uavs; x++) {
        make_ball(s->ball[x], centre[2 * x], centre[2 * x + 1], radius[x] > LEAST_RADIUS ? radius[x] : LEAST_RADIUS);
        memcpy(s->region[x], s->ball[x], sizeof(Region));
        s->piece[x] = s->changed[x] = x;
        s->is_changed[x] = true;
        s->joined_at[x] = -1;
    }
    for (int32_t link = 0; link < links; link++) {
        const double *a = centre + 2 * first[link], *b = centre + 2 * second[link];
        s->likely[link] = (int8_t)nearest_direction(b[0] - a[0], b[1] - a[1]);
    }
    s->changes = uavs;
    for (int32_t literal = 0; literal < 2 * links; literal++) s->watch[literal] = -1;
    return s;
}

/* The functions above are called by address; the module only makes the library one that installers build and find. */
static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "_kernel", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) {
    make_directions();
    return PyModule_Create(&MODULE);
}
