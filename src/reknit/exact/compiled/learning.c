/* What is learned from a conflict: a clause that follows by resolution, up to one last decision. */
#include <string.h>

#include "kernel.h"

#define FADES 0.9 /* how much less each conflict counts than the one after it when links are weighed */
#define LARGE 1e100
#define MANY_LEVELS 64
#define KEPT_LEVELS 2 /* clauses that join so few levels are never put out */

/* The clause by which a link was decided, made now if need be; negative where there is none. */
int32_t reason_clause(Search *s, int32_t link) {
    if (s->reason[link] == BY_CLASH)
        s->reason[link] = explain_clash(s, link);
    else if (s->reason[link] == BY_CUT)
        s->reason[link] = cut_clause(s, s->side + (size_t)link * s->nodes);
    return s->reason[link];
}

/* The highest level at which a literal of a clause was decided. */
int32_t top_level(const Search *s, int32_t clause) {
    int32_t top = 0;
    for (int32_t k = 0; k < s->size[clause]; k++) {
        const int32_t level = s->level[s->literals[s->begin[clause] + k] >> 1];
        if (level > top) top = level;
    }
    return top;
}

static void weigh(Search *s, int32_t link) {
    s->activity[link] += s->weight;
    if (s->activity[link] > LARGE) {
        for (int32_t k = 0; k < s->links; k++) s->activity[k] /= LARGE;
        s->weight /= LARGE;
    }
}

static int32_t count_levels(Search *s, const int32_t *literals, int32_t size) {
    const int64_t stamp = ++s->stamp;
    int32_t levels = 0;
    for (int32_t k = 0; k < size; k++) {
        const int32_t level = s->level[literals[k] >> 1];
        levels += s->level_mark[level] != stamp;
        s->level_mark[level] = stamp;
    }
    return levels;
}

static void add_step(Search *s, int32_t *count, int32_t clause, int32_t link) {
    s->step_list[2 * *count] = clause;
    s->step_list[2 * *count + 1] = link;
    (*count)++;
}

/* Leaves literals out that follow from the others, the latest decided first: one more step each. */
static int32_t leave_out(Search *s, int32_t *literals, int32_t size, int32_t *count) {
    for (int32_t k = 2; k < size; k++) { /* sort all but the first, the latest first */
        const int32_t literal = literals[k];
        int32_t to = k;
        for (; to > 1 && s->place[literals[to - 1] >> 1] < s->place[literal >> 1]; to--)
            literals[to] = literals[to - 1];
        literals[to] = literal;
    }
    int32_t kept = 1;
    for (int32_t k = 1; k < size; k++) {
        const int32_t link = literals[k] >> 1, clause = s->reason[link];
        bool follows = clause >= 0;
        for (int32_t q = 0; follows && q < s->size[clause]; q++) {
            const int32_t other = s->literals[s->begin[clause] + q] >> 1;
            follows = other == link || s->level[other] == 0 || s->is_seen[other];
        }
        if (follows)
            add_step(s, count, clause, link);
        else
            literals[kept++] = literals[k];
    }
    return kept;
}

/* Resolves a refuted clause with the reasons of the last decisions in it until one literal of its top level is
   left, goes back to where that follows, and decides it. Literals of level 0 are left out; proofs deal with
   them at their end. Returns false if there is no room for the clause. */
bool learn(Search *s, int32_t conflict) {
    const int32_t top = top_level(s, conflict);
    int32_t size = 1, count = 0, left = 0, seen = 0, clause = conflict, link = -1;
    go_back(s, top);
    int32_t place = s->decided - 1;
    int32_t *literals = s->seen_list + s->links; /* `literal_list` is used by the reasons made on the way */
    for (;;) {
        add_step(s, &count, clause, link);
        for (int32_t k = 0; k < s->size[clause]; k++) {
            const int32_t literal = s->literals[s->begin[clause] + k], other = literal >> 1;
            if (other == link || s->is_seen[other] || s->level[other] == 0) continue;
            s->is_seen[other] = true;
            s->seen_list[seen++] = other;
            weigh(s, other);
            if (s->level[other] == top)
                left++;
            else
                literals[size++] = literal;
        }
        while (!s->is_seen[s->trail[place]]) place--;
        link = s->trail[place--];
        if (--left == 0) break;
        clause = reason_clause(s, link);
        if (clause < 0) break;
    }
    if (left == 0) {
        literals[0] = 2 * link + (s->value[link] == USED);
        size = leave_out(s, literals, size, &count);
    }
    for (int32_t k = 0; k < seen; k++) s->is_seen[s->seen_list[k]] = false;
    if (left > 0 || s->step_count + count > s->step_room) return false;
    const int32_t levels = count_levels(s, literals, size);
    int32_t back = 0;
    for (int32_t k = 1; k < size; k++)
        if (s->level[literals[k] >> 1] > back) back = s->level[literals[k] >> 1];
    go_back(s, back);
    const int32_t learned = add_clause(s, literals, size, LEARNED);
    if (learned < 0) return false;
    s->levels[learned] = levels;
    s->steps[learned] = count;
    memcpy(s->step + 2 * s->step_count, s->step_list, 2 * (size_t)count * sizeof(int32_t));
    s->step_count += count;
    s->live++;
    s->weight /= FADES;
    /* The clause is watched by its open literal first. */
    decide(s, literals[0] >> 1, (literals[0] & 1) ? BARRED : USED, learned);
    return true;
}

/* Puts half of the learned clauses out, those that join the most levels, and of these the oldest. */
void forget(Search *s) {
    int32_t number[MANY_LEVELS] = {0}, left = s->live / 2, limit = MANY_LEVELS - 1;
    for (int32_t c = 0; c < s->clauses; c++)
        if (s->kind[c] == LEARNED && !s->is_out[c])
            number[s->levels[c] < MANY_LEVELS ? s->levels[c] : MANY_LEVELS - 1]++;
    while (limit > KEPT_LEVELS && number[limit] <= left) left -= number[limit--];
    for (int32_t c = 0; c < s->clauses; c++) {
        const int32_t levels = s->levels[c] < MANY_LEVELS ? s->levels[c] : MANY_LEVELS - 1;
        if (s->kind[c] != LEARNED || s->is_out[c] || levels < limit || levels <= KEPT_LEVELS) continue;
        if (levels == limit && left-- <= 0) continue;
        const int32_t *literals = s->literals + s->begin[c];
        if (s->size[c] < 2 || s->reason[literals[0] >> 1] == c || s->reason[literals[1] >> 1] == c) continue;
        s->is_out[c] = true;
        s->live--;
    }
}
