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

enum { BARRED = -1, OPEN = 0, USED = 1 };                     /* what is decided of a link */
enum { BY_DECISION = -1, BY_CLASH = -2, BY_CUT = -3 };        /* why, where it was not by a clause */
enum { CLASH = 0, CUT = 1, LEARNED = 2 };                     /* kinds of clauses */
enum { PROVED = 0, CONNECTED = 1, UNDECIDED = 2, FULL = 3 };  /* how a search ends */

typedef double Region[DIRECTIONS];

typedef struct {
    int32_t *at, *links;  /* links at node x: links[at[x]] to links[at[x + 1] - 1] */
} Incidence;

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
    Region *ball;             /* where each UAV can be by itself */

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
    int32_t *watch, *watch_next;
    double *activity, weight;

    /* Regions of the pieces that links in use form. */
    Region *region, *up, *down;
    int8_t *is_stale;
    int32_t *piece;

    /* Work space. */
    bool *is_in, *is_seen, *has_child;
    int32_t *order, *parent, *by_link, *link_list, *seen_list, *node_space, *step_list, *literal_list;
    int64_t *mark, *level_mark, stamp;
    int32_t run, since, until;
    bool is_full;             /* there was no memory for another clause */
} Search;

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* polygons.c */
void make_directions(void);
void make_ball(Region h, double x, double y, double radius);
int tighten(Region h, int *edges);
void intersect_grown(Region h, const Region other);
double gap(const Region a, const Region b);
bool are_apart(const Region a, const Region b);
int widest_gap(const Region a, const Region b);
void direction(int k, double *x, double *y);
void share(double *weight, const int *edges, int count);

/* forest.c */
int32_t walk(Search *s, int32_t start, bool of_set);
bool is_infeasible(Search *s, int32_t start);
int32_t refresh(Search *s);
int32_t explain_clash(Search *s, int32_t link);
int32_t clash_in_tree(Search *s, const int32_t *tree, int32_t links);
bool find_places(Search *s, int32_t start);
int marked_at(const Search *s, int32_t uav);

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
