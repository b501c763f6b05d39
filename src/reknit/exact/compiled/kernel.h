/* The search by clauses for plans in the plane: what all its files share.

   Every candidate link is used or not. Clauses say that one of the links across a cut is used, or that
   one of the links of a clash is not; learned clauses follow from others by resolution. A literal is 2 e
   for "link e is used" and 2 e + 1 for "it is not". Lengths are in ranges: a link holds up to length 1.
*/
#ifndef REKNIT_KERNEL_H
#define REKNIT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define DIRECTIONS 64
#define HALF (DIRECTIONS / 2)
#define LEAST_RADIUS 1e-6 /* anchors get so much room, so that their regions are polygons too */

enum { BARRED = -1, OPEN = 0, USED = 1 };                     /* what is decided of a link */
enum { BY_DECISION = -1, BY_CLASH = -2, BY_CUT = -3 };        /* why, where it was not by a clause */
enum { CLASH = 0, CUT = 1, LEARNED = 2 };                     /* kinds of clauses */
enum { PROVED = 0, CONNECTED = 1, UNDECIDED = 2, FULL = 3 };  /* how a search ends */

typedef double Region[DIRECTIONS];

/* Sets of directions are bits. */
static inline bool has_direction(uint64_t set, int k) { return (set >> k) & 1; }

typedef struct {
    int32_t *at, *links;  /* links at node x: links[at[x]] to links[at[x + 1] - 1] */
} Incidence;

typedef struct {
    int32_t next;    /* the next place that watches the same literal, or -1 */
    int32_t blocker; /* another literal of the clause: where it holds, the clause need not be looked at */
} Watcher;

typedef struct {
    double *at; /* a region */
    Region was; /* what it was before it changed */
} Saved;

typedef struct {
    /* Read by the caller too, in this order. */
    int32_t clauses;     /* how many there are */
    int32_t final;       /* the refuted clause with which a proof ends, or -1 */
    int32_t decided;     /* links on the trail */
    int32_t conflicts;
    int64_t tests;       /* regions computed */
    int64_t visits;      /* clauses looked at */
    int64_t literal_count, step_count; /* of all clauses together */
    int8_t *value;       /* of every link: USED, OPEN or BARRED */
    int32_t *trail;      /* links in the order in which they were decided */
    int32_t *reason;     /* of every link: the clause by which it was decided, or BY_... */
    int8_t *kind;        /* of every clause */
    int32_t *begin, *size, *literals;
    int64_t *step_begin; /* of every learned clause: what it was resolved from, as pairs of */
    int32_t *steps, *step; /* a clause and the link resolved on (-1 for the first) */

    /* The problem. */
    int32_t uavs, nodes, links;
    int32_t *first, *second;  /* the UAVs at the ends of every link */
    int32_t *one, *two;       /* the same ends as nodes of the graph that has to be connected */
    Incidence at_uav, at_node;
    double *length, *centre, *radius;
    int8_t *likely;           /* of every link: the direction from where its first end starts to where its second does */
    Region *ball;             /* where each UAV can be by itself */
    double share;             /* the part of the radii that the balls have now */

    /* Decisions. */
    int32_t *level, *place, *level_begin;
    int32_t depth, read;      /* decision level; how much of the trail is propagated */
    bool *is_spare;           /* of a link in use: its ends were joined before */
    uint8_t *side;            /* (links, nodes) one side of the cut across which a link is alone */

    /* Clauses. */
    int32_t clause_room;
    int64_t literal_room, step_room;
    bool *is_out;             /* no longer propagated */
    int32_t *levels;          /* how many levels a learned clause joined */
    int32_t live, most_live;
    int32_t *watch;           /* of every literal: the first place at which a clause watches it, or -1 */
    Watcher *watcher;         /* two places of every clause */
    double *activity, weight;

    /* Regions of the pieces that links in use form. */
    Region *region, *up, *down;
    uint64_t *edges;          /* of every row of the tree walked last: directions with an edge in `up` */
    uint64_t *traced;
    int corner[3];            /* directions that leave nothing of the row where `go_up` ended */
    int32_t *piece;           /* of every UAV: a name that all joined with it share */
    Region *message;          /* two of every joined link: from its first end, and from its second */
    int32_t joined, looked_at; /* how many links are joined; how much of the trail was looked at for that */
    int32_t *slot, *joined_link, *old_name;
    int32_t *joined_at, *joined_next; /* lists of the joined links at every UAV */
    Saved *saved;             /* regions and messages as they were */
    int32_t saved_count, saved_room;
    int32_t *joined_begin, *saved_begin; /* of every decision level */
    bool *is_changed;
    int32_t *changed, changes; /* UAVs with a region that links were not yet compared with */

    /* Work space. */
    bool *is_in, *is_seen, *has_child;
    int32_t *order, *parent, *first_child, *by_link, *link_list, *seen_list, *node_space, *step_list, *literal_list;
    int64_t *mark, *level_mark, stamp;
    int32_t run, since, until;
    bool is_full;             /* there was no memory for another clause */
} Search;

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* Whether a link could hold if its ends had no other. */
static inline bool is_in_reach(const Search *s, int32_t link) {
    return s->length[link] <= 1.0 + s->share * (s->radius[s->first[link]] + s->radius[s->second[link]]) + 2.0 * LEAST_RADIUS;
}

/* polygons.c */
void make_directions(void);
void make_ball(Region h, double x, double y, double radius);
uint64_t tighten(Region h, int *corner);
void edges_about(uint64_t edges, int k, int *before, int *after);
void intersect_grown(Region h, const Region other);
double gap(const Region a, const Region b);
bool are_apart(const Region a, const Region b, int likely);
int nearest_direction(double x, double y);
int widest_gap(const Region a, const Region b);
void direction(int k, double *x, double *y);
void share(double *weight, uint64_t edges);

/* forest.c */
int32_t walk(Search *s, int32_t start, bool of_set);
bool is_infeasible(Search *s, int32_t start);
int32_t refresh(Search *s);
int32_t explain_clash(Search *s, int32_t link);
int32_t clash_in_tree(Search *s, const int32_t *tree, int32_t links);
bool find_places(Search *s, int32_t start);
int marked_at(const Search *s, int32_t uav);

/* joins.c */
int32_t join_pieces(Search *s);
void take_back(Search *s, int32_t joined, int32_t saved);

/* clauses.c */
int32_t add_clause(Search *s, int32_t *literals, int32_t size, int kind);
void decide(Search *s, int32_t link, int value, int32_t reason);
void go_back(Search *s, int32_t level);
int32_t propagate(Search *s);

/* cuts.c */
int32_t cut_clause(Search *s, const uint8_t *side);
int32_t use_bridges(Search *s);

/* learning.c */
int32_t reason_clause(Search *s, int32_t link);
int32_t top_level(const Search *s, int32_t clause);
bool learn(Search *s, int32_t conflict);
void forget(Search *s);

#endif
