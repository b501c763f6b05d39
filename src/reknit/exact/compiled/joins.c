/* Regions of the pieces that links in use form, kept up to date while links are joined and taken back.

   Every joined link carries two messages: where the UAV at one end can be, as far as the tree behind it is concerned. The
   region of a UAV is its ball cut with the messages to it, grown by 1. A new link lets each side know of the other; from
   there a message goes on only where it makes another one smaller. What was there before is saved, and put
   back when the link is taken back.
*/
#include <stdlib.h>
#include <string.h>

#include "kernel.h"

#define NOTICED 1e-9 /* a message that cuts off less than this makes no difference */

/* Puts a region by that is about to change. */
static bool save(Search *s, double *region) {
    if (s->saved_count == s->saved_room) {
        const int32_t room = 2 * s->saved_room + 64;
        Saved *saved = realloc(s->saved, (size_t)room * sizeof(Saved));
        if (saved == NULL) return false;
        s->saved = saved;
        s->saved_room = room;
    }
    Saved *here = s->saved + s->saved_count++;
    here->at = region;
    memcpy(here->was, region, sizeof(Region));
    return true;
}

static bool is_cut(const Region h, const Region message) {
    double most = 0.0;
    for (int k = 0; k < DIRECTIONS; k++) {
        const double beyond = h[k] - message[k];
        most = beyond > most ? beyond : most;
    }
    return most > 1.0 + NOTICED;
}

/* Cuts a region with a grown message. Returns 1 if that made it smaller, 0 if not, -1 if nothing is left, -2 if there is no memory. */
static int cut(Search *s, double *region, const double *message) {
    if (!is_cut(region, message)) return 0;
    if (!save(s, region)) return -2;
    intersect_grown(region, message);
    s->tests++;
    return tighten(region, s->corner) == 0 ? -1 : 1;
}

/* The message along a joined link to one of its ends. */
static double *message_to(const Search *s, int32_t link, int32_t uav) {
    return s->message[2 * s->slot[link] + (uav == s->first[link])];
}

/* Gives all that hang together with a UAV by joined links the same name. */
static void name_piece(Search *s, int32_t start, int32_t name) {
    int32_t count = 1;
    const int64_t stamp = ++s->stamp;
    s->order[0] = start;
    s->mark[start] = stamp;
    for (int32_t row = 0; row < count; row++) {
        const int32_t uav = s->order[row];
        s->piece[uav] = name;
        for (int32_t link = s->joined_at[uav]; link >= 0; link = s->joined_next[2 * link + (s->second[link] == uav)]) {
            const int32_t other = s->first[link] + s->second[link] - uav;
            if (s->mark[other] == stamp) continue;
            s->mark[other] = stamp;
            s->order[count++] = other;
        }
    }
}

static void list_at(Search *s, int32_t link, int32_t uav) {
    s->joined_next[2 * link + (s->second[link] == uav)] = s->joined_at[uav];
    s->joined_at[uav] = link;
}

static void unlist_at(Search *s, int32_t link, int32_t uav) { /* the last one listed there */
    s->joined_at[uav] = s->joined_next[2 * link + (s->second[link] == uav)];
}

static void note_change(Search *s, int32_t uav) {
    if (s->is_changed[uav]) return;
    s->is_changed[uav] = true;
    s->changed[s->changes++] = uav;
}

/* Lets a UAV know of the message along one of its links, and all to whom that makes a difference. Returns false if somebody has no
   place left, who is `s->order[0]` then. */
static bool spread(Search *s, int32_t uav, int32_t link) {
    int32_t *stack = s->order, *by = s->by_link, depth = 1;
    stack[0] = uav;
    by[0] = link;
    while (depth > 0) {
        const int32_t x = stack[--depth], from = by[depth];
        const double *message = message_to(s, from, x);
        const int change = cut(s, s->region[x], message);
        if (change == -2) s->is_full = true;
        if (change == -1) stack[0] = x;
        if (change < 0) return false;
        if (change > 0) note_change(s, x);
        for (int32_t on = s->joined_at[x]; on >= 0; on = s->joined_next[2 * on + (s->second[on] == x)]) {
            if (on == from) continue;
            const int32_t other = s->first[on] + s->second[on] - x;
            const int further = cut(s, message_to(s, on, other), message);
            if (further == -2) s->is_full = true;
            if (further == -1) stack[0] = x;
            if (further < 0) return false;
            if (further == 0) continue;
            stack[depth] = other;
            by[depth++] = on;
        }
    }
    return true;
}

/* Joins the pieces at the ends of a link. Returns false if there is no place for all, see `spread`. */
static bool join(Search *s, int32_t link) {
    const int32_t a = s->first[link], b = s->second[link], slot = s->joined++;
    s->joined_link[slot] = link;
    s->slot[link] = slot;
    memcpy(s->message[2 * slot], s->region[a], sizeof(Region));
    memcpy(s->message[2 * slot + 1], s->region[b], sizeof(Region));
    s->old_name[slot] = s->piece[b];
    name_piece(s, b, s->piece[a]);
    list_at(s, link, a);
    list_at(s, link, b);
    note_change(s, a);
    note_change(s, b);
    return spread(s, a, link) && spread(s, b, link);
}

/* Takes back what was joined and cut since there were so few of both. */
void take_back(Search *s, int32_t joined, int32_t saved) {
    while (s->saved_count > saved) {
        const Saved *here = s->saved + --s->saved_count;
        memcpy(here->at, here->was, sizeof(Region));
    }
    while (s->joined > joined) {
        const int32_t link = s->joined_link[--s->joined];
        unlist_at(s, link, s->second[link]);
        unlist_at(s, link, s->first[link]);
        name_piece(s, s->second[link], s->old_name[s->joined]);
    }
}

/* Joins the links in use that are not joined yet. Returns a UAV of a piece without places, or -1. */
int32_t join_pieces(Search *s) {
    while (s->looked_at < s->decided) {
        const int32_t link = s->trail[s->looked_at++];
        if (s->value[link] != USED || s->is_spare[link]) continue;
        if (!join(s, link)) return s->is_full ? -1 : s->order[0];
    }
    return -1;
}
