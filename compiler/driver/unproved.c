/* Warns of each check that is left: what the check asks, and what is known of the two numbers that it looks at. */
#include "driver/unproved.h"

#include <string.h>

#include "ir/walk.h"

/* All instructions that check one thing at one place: of a loop that was unrolled there are many. */
struct left {
    const struct ir_check_site *site;
    size_t count;
    int64_t low[2], high[2]; /* of the two numbers */
};
typedef VEC(struct left) lefts;

static bool is_same_site(const struct ir_check_site *x, const struct ir_check_site *y) {
    return x->check == y->check && x->span.begin == y->span.begin && x->span.end == y->span.end &&
           x->found.begin == y->found.begin && x->found.end == y->found.end;
}

static void add(struct arena *arena, lefts *all, const struct ir_check_site *site, const struct ir_instruction *check) {
    size_t at = 0;
    while (at < all->count && !is_same_site(all->at[at].site, site))
        at++;
    if (at == all->count)
        vec_push(arena, all,
                 ((struct left){.site = site, .low = {INT64_MAX, INT64_MAX}, .high = {INT64_MIN, INT64_MIN}}));
    struct left *left = &all->at[at];
    left->count++;
    for (int k = 0; k < 2; k++) {
        const struct ir_value *x = check->operands[1 + k];
        left->low[k] = x->low < left->low[k] ? x->low : left->low[k];
        left->high[k] = x->high > left->high[k] ? x->high : left->high[k];
    }
}

/* The message of a failure, with letters for its numbers; and how many it has. */
static const char *asked(struct arena *arena, enum ir_check check, int *numbers) {
    struct text text;
    text_init(&text, arena);
    *numbers = 0;
    for (const char *p = ir_check_info[check].message; *p; p++) {
        bool is_number = strncmp(p, "%lld", 4) == 0;
        text_printf(&text, "%c", is_number ? "ab"[(*numbers)++] : *p);
        p += is_number ? 3 : 0;
    }
    return text_string(&text);
}

static const char *known(struct arena *arena, char letter, int64_t low, int64_t high) {
    if (low == high)
        return arena_printf(arena, "%c is %lld", letter, (long long)low);
    if (low == INT32_MIN && high == INT32_MAX)
        return arena_printf(arena, "%c is any int", letter);
    return arena_printf(arena, "%c is from %lld to %lld", letter, (long long)low, (long long)high);
}

void unproved_tell(struct arena *arena, const struct ir_kernel *kernel, struct diagnostics *diagnostics) {
    lefts all = {0};
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_CHECK)
            add(arena, &all, &kernel->checks.at[walk.at->site], walk.at);
    for (size_t i = 0; i < all.count; i++) {
        const struct left *left = &all.at[i];
        int numbers;
        const char *what = asked(arena, left->site->check, &numbers);
        struct diagnostic *told = diag_warning(diagnostics, DIAG_UNPROVED, left->site->span,
                                               "not proved, so that it is checked in a run: %s", what);
        if (left->site->found.end)
            diag_note(diagnostics, told, left->site->found, "it is asked here");
        if (numbers == 0)
            continue;
        const char *text = known(arena, 'a', left->low[0], left->high[0]);
        if (numbers == 2)
            text = arena_printf(arena, "%s, and %s", text, known(arena, 'b', left->low[1], left->high[1]));
        diag_note(diagnostics, told, (struct span){0, 0}, "known in `%s`: %s", kernel->name->text, text);
    }
}
