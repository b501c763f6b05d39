/* What follows from having to be connected: links that are alone across a cut, and open cuts. */
#include <string.h>

#include "kernel.h"

/* The clause that one of the links across a cut is used. */
int32_t cut_clause(Search *s, const uint8_t *side) {
    int32_t size = 0;
    for (int32_t link = 0; link < s->links; link++)
        if (side[s->one[link]] != side[s->two[link]]) s->literal_list[size++] = 2 * link;
    return add_clause(s, s->literal_list, size, CUT);
}

/* Of the parts that links not barred leave, marks the one with the fewest links out of it. */
static void mark_open_side(Search *s, uint8_t *side) {
    int32_t *part = s->node_space, *stack = part + s->nodes;
    int32_t best = 0, fewest = s->links + 1, parts = 0;
    for (int32_t x = 0; x < s->nodes; x++) part[x] = -1;
    for (int32_t start = 0; start < s->nodes; start++) {
        if (part[start] >= 0) continue;
        int32_t depth = 1, links_out = 0;
        stack[0] = start;
        part[start] = parts;
        while (depth > 0) {
            const int32_t node = stack[--depth];
            for (int32_t k = s->at_node.at[node]; k < s->at_node.at[node + 1]; k++) {
                const int32_t link = s->at_node.links[k];
                const int32_t other = s->one[link] + s->two[link] - node;
                if (s->value[link] == BARRED) {
                    links_out++;
                } else if (part[other] < 0) {
                    part[other] = parts;
                    stack[depth++] = other;
                }
            }
        }
        if (links_out < fewest) {
            best = parts;
            fewest = links_out;
        }
        parts++;
    }
    for (int32_t x = 0; x < s->nodes; x++) side[x] = part[x] == best;
}

/* Uses every open link that is alone across a cut of those not barred. Returns the clause of a cut across
   which none is left, or -1. A depth-first search: a link to a child from whose subtree no other link leads
   back is alone. */
int32_t use_bridges(Search *s) {
    const int32_t n = s->nodes;
    int32_t *entered = s->node_space, *lowest = entered + n, *following = lowest + n;
    int32_t *by_link = following + n, *sequence = by_link + n, *stack = sequence + n;
    int32_t *bridge = stack + n, *from = bridge + n, *to = from + n;
    int32_t bridges = 0, clock = 1, depth = 1;
    for (int32_t x = 0; x < n; x++) entered[x] = by_link[x] = -1;
    stack[0] = sequence[0] = entered[0] = lowest[0] = 0;
    following[0] = s->at_node.at[0];
    while (depth > 0) {
        const int32_t node = stack[depth - 1];
        if (following[node] < s->at_node.at[node + 1]) {
            const int32_t link = s->at_node.links[following[node]++];
            if (s->value[link] == BARRED || link == by_link[node]) continue;
            const int32_t other = s->one[link] + s->two[link] - node;
            if (entered[other] >= 0) {
                if (entered[other] < lowest[node]) lowest[node] = entered[other];
                continue;
            }
            entered[other] = lowest[other] = clock;
            sequence[clock++] = other;
            by_link[other] = link;
            following[other] = s->at_node.at[other];
            stack[depth++] = other;
        } else if (--depth > 0) {
            const int32_t parent = stack[depth - 1];
            if (lowest[node] < lowest[parent]) lowest[parent] = lowest[node];
            if (lowest[node] > entered[parent] && s->value[by_link[node]] == OPEN) {
                bridge[bridges] = by_link[node];
                from[bridges] = entered[node];
                to[bridges++] = clock;
            }
        }
    }
    if (clock < n) {
        uint8_t *side = s->side + (size_t)s->links * n; /* one row more than there are links */
        mark_open_side(s, side);
        return cut_clause(s, side);
    }
    for (int32_t k = 0; k < bridges; k++) {
        uint8_t *side = s->side + (size_t)bridge[k] * n;
        memset(side, 0, (size_t)n);
        for (int32_t step = from[k]; step < to[k]; step++) side[sequence[step]] = 1;
        decide(s, bridge[k], USED, BY_CUT);
    }
    return -1;
}
