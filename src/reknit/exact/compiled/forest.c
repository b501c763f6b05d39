/* Trees of links in use: where their UAVs can be, and whether there is a place for all of them.

   For links that form a tree the places of one UAV are, from the leaves to the root, its ball cut with those of
   every child grown by 1. They are convex, and the tree can hold exactly if none of them is empty. After
   every decision the regions of the pieces that changed are computed anew. Two pieces can be linked exactly if
   the regions of the two ends are within 1 of each other, so every link that no longer fits is found by a comparison.
   The clause for it, a small tree without places, is made only when a conflict asks for it.
*/
#include <stddef.h>
#include <string.h>

#include "kernel.h"

/* Walks from a UAV along the links in use, or along the marked ones: `order`, the rows of the parents and of the first
   children, and the links to them. Returns how many UAVs were reached. */
int32_t walk(Search *s, int32_t start, bool of_set) {
    const int64_t stamp = ++s->stamp;
    int32_t count = 1;
    s->order[0] = start;
    s->parent[0] = s->by_link[0] = -1;
    s->mark[start] = stamp;
    for (int32_t row = 0; row < count; row++) {
        const int32_t uav = s->order[row];
        s->first_child[row] = count;
        for (int32_t k = s->at_uav.at[uav]; k < s->at_uav.at[uav + 1]; k++) {
            const int32_t link = s->at_uav.links[k];
            if (of_set ? !s->is_in[link] : (s->value[link] != USED || s->is_spare[link])) continue;
            const int32_t other = s->first[link] + s->second[link] - uav;
            if (s->mark[other] == stamp) continue;
            s->mark[other] = stamp;
            s->order[count] = other;
            s->parent[count] = row;
            s->by_link[count++] = link;
        }
    }
    return count;
}

/* Regions of the subtrees of the tree walked last. Returns the row at which one is empty, or -1. */
static int32_t go_up(Search *s, int32_t count) {
    for (int32_t row = 0; row < count; row++) {
        memcpy(s->up[row], s->ball[s->order[row]], sizeof(Region));
        s->edges[row] = ~(uint64_t)0;
        s->has_child[row] = false;
    }
    for (int32_t row = count - 1; row >= 0; row--) {
        if (s->has_child[row]) {
            s->tests++;
            s->edges[row] = tighten(s->up[row], s->corner);
            if (s->edges[row] == 0) return row;
        }
        if (row > 0) {
            s->has_child[s->parent[row]] = true;
            intersect_grown(s->up[s->parent[row]], s->up[row]);
        }
    }
    return -1;
}

/* After `go_up` ended at an empty region: takes the marks of the links away on which that does not rest.

   A support value is that of the ball, or of a child plus 1; that of a direction without an edge follows from those of the two
   edges next to it. So the three values that leave nothing are followed down to the balls. */
static void trace(Search *s, int32_t empty, int32_t count) {
    for (int32_t row = empty; row < count; row++) s->traced[row] = 0;
    for (int q = 0; q < 3; q++) s->traced[empty] |= (uint64_t)1 << s->corner[q];
    s->edges[empty] = ~(uint64_t)0; /* its values were not lowered */
    for (int32_t row = empty; row < count; row++) { /* children come after their parents */
        const double *here = s->up[row], *ball = s->ball[s->order[row]];
        if (s->traced[row] == 0) continue;
        for (int k = 0; k < DIRECTIONS; k++) {
            int i, j;
            if (!has_direction(s->traced[row], k) || has_direction(s->edges[row], k)) continue;
            edges_about(s->edges[row], k, &i, &j);
            s->traced[row] |= (uint64_t)1 << i | (uint64_t)1 << j;
        }
        for (int k = 0; k < DIRECTIONS; k++) {
            if (!has_direction(s->traced[row] & s->edges[row], k) || here[k] == ball[k]) continue;
            int32_t child = row + 1;
            while (child < count && (s->parent[child] != row || s->up[child][k] + 1.0 != here[k])) child++;
            if (child < count) s->traced[child] |= (uint64_t)1 << k;
        }
    }
    for (int32_t row = 1; row < count; row++)
        if (row <= empty || s->traced[row] == 0) s->is_in[s->by_link[row]] = false;
}

/* Whether a UAV of the tree walked last has a candidate out of it that is in reach. */
static bool is_at_edge(const Search *s, int32_t uav) {
    for (int32_t k = s->at_uav.at[uav]; k < s->at_uav.at[uav + 1]; k++) {
        const int32_t link = s->at_uav.links[k], other = s->first[link] + s->second[link] - uav;
        if (s->mark[other] != s->stamp && is_in_reach(s, link)) return true;
    }
    return false;
}

/* Where those UAVs of the tree walked last can be that have a candidate out of it, after `go_up` found places for all. */
static void go_down(Search *s, int32_t count) {
    enum { AT_EDGE = 1, LEADS_THERE = 2 };
    uint64_t *use = s->traced;
    for (int32_t row = 0; row < count; row++) {
        use[row] = is_at_edge(s, s->order[row]) ? AT_EDGE | LEADS_THERE : 0;
        s->piece[s->order[row]] = s->order[0];
    }
    for (int32_t row = count - 1; row > 0; row--) use[s->parent[row]] |= use[row] & LEADS_THERE;
    memcpy(s->region[s->order[0]], s->up[0], sizeof(Region));
    for (int32_t row = 1; row < count; row++) {
        const int32_t parent = s->parent[row], uav = s->order[row];
        if (use[row] == 0) continue;
        double *rest = s->down[row]; /* where the parent can be without this subtree */
        bool is_cut = parent > 0;
        memcpy(rest, s->ball[s->order[parent]], sizeof(Region));
        if (parent > 0) intersect_grown(rest, s->down[parent]);
        for (int32_t sibling = s->first_child[parent]; sibling < count && s->parent[sibling] == parent; sibling++)
            if (sibling != row) {
                is_cut = true;
                intersect_grown(rest, s->up[sibling]);
            }
        if (is_cut) {
            s->tests++;
            tighten(rest, s->corner);
        }
        if (!(use[row] & AT_EDGE)) continue;
        memcpy(s->region[uav], s->up[row], sizeof(Region));
        intersect_grown(s->region[uav], rest);
        s->tests++;
        tighten(s->region[uav], s->corner);
    }
}

/* Whether the marked links that hang together with a UAV cannot all hold. Then those keep their marks on which that rests. */
bool is_infeasible(Search *s, int32_t start) {
    const int32_t count = walk(s, start, true), empty = go_up(s, count);
    if (empty >= 0) trace(s, empty, count);
    return empty >= 0;
}

/* How many of the marked links a UAV has. */
int marked_at(const Search *s, int32_t uav) {
    int count = 0;
    for (int32_t k = s->at_uav.at[uav]; k < s->at_uav.at[uav + 1]; k++)
        count += s->is_in[s->at_uav.links[k]];
    return count;
}

/* Takes the marks of those links away, the latest decided first, without which the marked ones still have no
   places. */
static void leave_out(Search *s, int32_t *links, int32_t size, int32_t needed) {
    for (int32_t k = 1; k < size; k++) {
        const int32_t link = links[k];
        int32_t to = k;
        for (; to > 0 && s->place[links[to - 1]] < s->place[link]; to--) links[to] = links[to - 1];
        links[to] = link;
    }
    bool is_shorter = true;
    int32_t kept = 0; /* links at the front that are known to be needed stay there */
    while (is_shorter) {
        is_shorter = false;
        for (int32_t k = kept; k < size; k++) {
            const int32_t link = links[k];
            if (link == needed || !s->is_in[link]) continue;
            const bool is_end = marked_at(s, s->first[link]) == 1;
            if (is_end == (marked_at(s, s->second[link]) == 1)) continue;
            s->is_in[link] = false;
            if (is_infeasible(s, is_end ? s->second[link] : s->first[link])) {
                is_shorter = true;
            } else {
                s->is_in[link] = true;
                links[k] = links[kept];
                links[kept++] = link;
            }
        }
    }
}

/* The clause of as few marked links as have no places. Takes the marks away. */
static int32_t minimal_clash(Search *s, int32_t *links, int32_t size, int32_t needed) {
    leave_out(s, links, size, needed);
    int32_t count = 0;
    for (int32_t k = 0; k < size; k++)
        if (s->is_in[links[k]]) {
            s->is_in[links[k]] = false;
            s->literal_list[count++] = 2 * links[k] + 1;
        }
    return add_clause(s, s->literal_list, count, CLASH);
}

/* The clause for a link that was barred because it does not fit: a tree of it and links in use that were decided
   before it, as near to it as will do. Returns -1 if there is no room, or if rounding gets in the way. */
int32_t explain_clash(Search *s, int32_t link) {
    int32_t *links = s->link_list;
    int32_t begin = 0, size = 1;
    links[0] = link;
    s->is_in[link] = true;
    for (;;) {
        const int32_t end = size;
        for (int32_t k = begin; k < end; k++)
            for (int side = 0; side < 2; side++) {
                const int32_t uav = side ? s->second[links[k]] : s->first[links[k]];
                for (int32_t row = s->at_uav.at[uav]; row < s->at_uav.at[uav + 1]; row++) {
                    const int32_t near = s->at_uav.links[row];
                    if (s->is_in[near] || s->value[near] != USED || s->is_spare[near]) continue;
                    if (s->place[near] > s->place[link]) continue;
                    s->is_in[near] = true;
                    links[size++] = near;
                }
            }
        begin = end;
        if (is_infeasible(s, s->first[link])) {
            s->is_in[link] = true;
            return minimal_clash(s, links, size, link);
        }
        if (size == end) break;
    }
    for (int32_t k = 0; k < size; k++) s->is_in[links[k]] = false;
    return -1;
}

/* Of a tree of marked links, those of a clash, in `link_list`; 0 if all of them can hold. The marks stay. */
int32_t clash_in_tree(Search *s, const int32_t *tree, int32_t links) {
    int32_t size = 0;
    if (!is_infeasible(s, s->first[tree[0]])) return 0;
    for (int32_t k = 0; k < links; k++)
        if (s->is_in[tree[k]]) s->link_list[size++] = tree[k];
    leave_out(s, s->link_list, size, -1);
    int32_t left = 0;
    for (int32_t k = 0; k < size; k++)
        if (s->is_in[s->link_list[k]]) s->link_list[left++] = s->link_list[k];
    for (int32_t k = 0; k < links; k++) s->is_in[tree[k]] = true;
    return left;
}

/* The clause of a piece without places that a UAV is part of; -1 if there is no room, or if rounding gets in the way. */
static int32_t clash_of_piece(Search *s, int32_t uav) {
    const int32_t count = walk(s, uav, false), empty = go_up(s, count);
    int32_t size = 0;
    if (empty < 0) return -1;
    for (int32_t row = 1; row < count; row++) s->is_in[s->by_link[row]] = true;
    trace(s, empty, count);
    for (int32_t row = 1; row < count; row++)
        if (s->is_in[s->by_link[row]]) s->link_list[size++] = s->by_link[row];
    return minimal_clash(s, s->link_list, size, -1);
}

/* Where the UAVs can be that marked links join with one of them and that have a candidate in reach to another; false if
   there is no place for all. */
bool find_places(Search *s, int32_t start) {
    const int32_t count = walk(s, start, true);
    if (go_up(s, count) >= 0) return false;
    go_down(s, count);
    return true;
}

/* Bars the open links at a UAV that its region no longer allows. */
static void bar_at(Search *s, int32_t uav) {
    for (int32_t k = s->at_uav.at[uav]; k < s->at_uav.at[uav + 1]; k++) {
        const int32_t link = s->at_uav.links[k], other = s->first[link] + s->second[link] - uav;
        if (s->value[link] != OPEN || s->piece[other] == s->piece[uav]) continue;
        if (are_apart(s->region[s->first[link]], s->region[s->second[link]], s->likely[link])) decide(s, link, BARRED, BY_CLASH);
    }
}

/* Joins the links in use and bars those that no longer fit. Returns the clause of a piece without places, or -1. */
int32_t refresh(Search *s) {
    int32_t clause = -1, without = 0;
    while (clause < 0 && !s->is_full && (without = join_pieces(s)) >= 0) clause = clash_of_piece(s, without);
    for (int32_t k = 0; k < s->changes; k++) {
        s->is_changed[s->changed[k]] = false;
        if (without < 0) bar_at(s, s->changed[k]);
    }
    s->changes = 0;
    return clause;
}
