/* Constraints between levels: those that wait for more to be known, and are solved again where it is. */
#include "types/checker.h"

void level_require(struct checker *c, enum level_constraint_kind kind, struct level *a, struct level *b,
                   struct span span, const struct callee *reason) {
    if (kind == LEVEL_FITS) {
        struct level view = level_view(a);
        if (a == b || (!view.variable && view.value == LEVEL_PURE))
            return;
    }
    struct level_constraint *k = ARENA_NEW(c->arena, struct level_constraint);
    *k = (struct level_constraint){kind, a, b, span, reason};
    switch (level_solve(c, k)) {
    case VERDICT_HOLDS: break;
    case VERDICT_FAILS: report_constraint(c, k); break;
    case VERDICT_WAITS: vec_push(c->arena, &c->pending, k); break;
    }
}

/* Each unbound variable has the list of the constraints that mention it. A constraint is looked at
   again when a variable that it mentions has been narrowed (four times at most) or bound (once: its list goes to
   what it is bound to), so that the work is proportional to the number of constraints. */
static void watch(struct checker *c, struct level_variable *variable, struct watcher *watcher) {
    if (!variable->watched)
        vec_push(c->arena, &c->watched, variable);
    if (variable->watched_last)
        variable->watched_last->next = watcher;
    else
        variable->watched = watcher;
    variable->watched_last = watcher;
}

/* The list of a variable that was bound becomes a part of the other's. */
static void hand_over(struct checker *c, struct level_variable *from, struct level_variable *to) {
    if (!from->watched || from == to)
        return;
    if (!to->watched)
        vec_push(c->arena, &c->watched, to);
    if (to->watched_last)
        to->watched_last->next = from->watched;
    else
        to->watched = from->watched;
    to->watched_last = from->watched_last;
    from->watched = from->watched_last = NULL;
}

static void enqueue(struct propagation *p, struct waiting *waiting) {
    if (waiting->is_queued || waiting->is_settled)
        return;
    waiting->is_queued = true;
    p->queue[(p->first + p->queued++) % p->count] = waiting;
}

static struct waiting *dequeue(struct propagation *p) {
    struct waiting *waiting = p->queue[p->first];
    p->first = (p->first + 1) % p->count;
    p->queued--;
    waiting->is_queued = false;
    return waiting;
}

static void wake_watchers(struct checker *c, struct propagation *p) {
    for (size_t i = 0; i < c->touched.count; i++) {
        struct level_variable *variable = c->touched.at[i];
        for (struct watcher *watcher = variable->watched; watcher; watcher = watcher->next)
            enqueue(p, watcher->who);
        struct level self = {.variable = variable}, now = level_view(&self);
        if (variable->link && now.variable)
            hand_over(c, variable, now.variable);
    }
    c->touched.count = 0;
}

void propagation_run(struct checker *c, struct propagation *p) {
    wake_watchers(c, p);
    while (p->queued) {
        struct waiting *waiting = dequeue(p);
        enum level_verdict verdict = level_solve(c, waiting->constraint);
        if (verdict == VERDICT_FAILS)
            report_constraint(c, waiting->constraint);
        waiting->is_settled = verdict != VERDICT_WAITS;
        wake_watchers(c, p);
    }
}

/* So few constraints need no memory of their own. */
enum { FEW_CONSTRAINTS = 500 };

void propagation_begin(struct checker *c, struct propagation *p, size_t mark) {
    size_t count = c->pending.count - mark;
    *p = (struct propagation){.own = count > FEW_CONSTRAINTS ? arena_new() : NULL, .mark = mark, .count = count};
    struct arena *arena = p->own ? p->own : c->arena;
    p->all = ARENA_ARRAY(arena, struct waiting, count + 1);
    p->queue = ARENA_ARRAY(arena, struct waiting *, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct level_constraint *k = c->pending.at[mark + i];
        p->all[i].constraint = k;
        for (int side = 0; side < 2; side++) {
            struct level view = level_view(side ? k->b : k->a);
            p->all[i].sides[side] = (struct watcher){.who = &p->all[i], .is_above = side};
            if (view.variable)
                watch(c, view.variable, &p->all[i].sides[side]);
        }
        enqueue(p, &p->all[i]);
    }
    c->propagates = true;
    c->touched.count = 0;
    propagation_run(c, p);
}

void propagation_end(struct checker *c, struct propagation *p) {
    c->propagates = false;
    for (size_t i = 0; i < c->watched.count; i++)
        c->watched.at[i]->watched = c->watched.at[i]->watched_last = NULL;
    c->watched.count = 0;
    size_t kept = p->mark;
    for (size_t i = 0; i < p->count; i++)
        if (!p->all[i].is_settled)
            c->pending.at[kept++] = p->all[i].constraint;
    c->pending.count = kept;
    if (p->own)
        arena_free(p->own);
}

void level_propagate(struct checker *c, size_t mark) {
    struct propagation p;
    if (c->pending.count == mark)
        return;
    propagation_begin(c, &p, mark);
    propagation_end(c, &p);
}
