/* Clauses, the trail of decisions, and what follows from a decision by the clauses alone. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

static bool is_true(const Search *s, int32_t literal) {
    return s->value[literal >> 1] == ((literal & 1) ? BARRED : USED);
}

static bool is_false(const Search *s, int32_t literal) {
    return s->value[literal >> 1] == ((literal & 1) ? USED : BARRED);
}

static void watch_literal(Search *s, int32_t slot, int32_t literal, int32_t blocker) {
    s->watcher[slot] = (Watcher){s->watch[literal], blocker};
    s->watch[literal] = slot;
}

/* Stores a clause, watched by two literals that hold, are open or were refuted last, which come first in it then.
   Returns its number, or -1 if there is no room. */
int32_t add_clause(Search *s, int32_t *literals, int32_t size, int kind) {
    if (s->clauses >= s->clause_room || s->literal_count + size > s->literal_room) {
        s->is_full = true;
        return -1;
    }
    const int32_t number = s->clauses++;
    s->begin[number] = (int32_t)s->literal_count;
    s->size[number] = size;
    s->kind[number] = (int8_t)kind;
    s->step_begin[number] = s->step_count;
    s->steps[number] = 0;
    s->is_out[number] = false;
    for (int32_t watched = 0; watched < 2 && watched < size; watched++) {
        int32_t best = watched, latest = -1;
        for (int32_t k = watched; k < size; k++) {
            const int32_t place = is_false(s, literals[k]) ? s->place[literals[k] >> 1] : INT_MAX;
            if (place > latest) {
                best = k;
                latest = place;
            }
        }
        const int32_t literal = literals[best];
        literals[best] = literals[watched];
        literals[watched] = literal;
    }
    memcpy(s->literals + s->literal_count, literals, (size_t)size * sizeof(int32_t));
    s->literal_count += size;
    for (int32_t watched = 0; watched < 2 && size > 1; watched++)
        watch_literal(s, 2 * number + watched, literals[watched], literals[1 - watched]);
    return number;
}

/* Puts a link on the trail. One whose ends are joined already is spare: no tree needs it. */
void decide(Search *s, int32_t link, int value, int32_t reason) {
    if (value == USED) {
        walk(s, s->first[link], false);
        s->is_spare[link] = s->mark[s->second[link]] == s->stamp;
    }
    s->value[link] = (int8_t)value;
    s->level[link] = s->depth;
    s->place[link] = s->decided;
    s->reason[link] = reason;
    s->trail[s->decided++] = link;
}

/* Takes back all decisions above a level. */
void go_back(Search *s, int32_t level) {
    if (s->depth <= level) return;
    const int32_t begin = s->level_begin[level + 1];
    for (int32_t place = begin; place < s->decided; place++) s->value[s->trail[place]] = OPEN;
    take_back(s, s->joined_begin[level + 1], s->saved_begin[level + 1]);
    s->decided = begin;
    if (s->read > begin) s->read = begin;
    if (s->looked_at > begin) s->looked_at = begin;
    s->depth = level;
}

/* Decides what clauses with a single literal left ask for. Returns a clause that is refuted, or -1. */
int32_t propagate(Search *s) {
    while (s->read < s->decided) {
        const int32_t link = s->trail[s->read++];
        const int32_t refuted = 2 * link + (s->value[link] == USED);
        int32_t slot = s->watch[refuted], conflict = -1;
        s->watch[refuted] = -1;
        while (slot >= 0) {
            const int32_t following = s->watcher[slot].next, blocker = s->watcher[slot].blocker;
            const int32_t clause = slot >> 1, watched = slot & 1;
            s->visits++;
            if (conflict >= 0 || is_true(s, blocker)) {
                watch_literal(s, slot, refuted, blocker);
            } else if (!s->is_out[clause]) {
                int32_t *literals = s->literals + s->begin[clause];
                const int32_t other = literals[1 - watched], size = s->size[clause];
                bool is_moved = false;
                for (int32_t k = 2; k < size && !is_moved && !is_true(s, other); k++) {
                    const int32_t literal = literals[k];
                    if (is_false(s, literal)) continue;
                    literals[k] = refuted;
                    literals[watched] = literal;
                    watch_literal(s, slot, literal, other);
                    is_moved = true;
                }
                if (!is_moved) {
                    watch_literal(s, slot, refuted, other);
                    if (is_false(s, other))
                        conflict = clause;
                    else if (!is_true(s, other))
                        decide(s, other >> 1, (other & 1) ? BARRED : USED, clause);
                }
            }
            slot = following;
        }
        if (conflict >= 0) return conflict;
    }
    return -1;
}
