/* Atomics. Where a language has a function for one it is called by its name; the others become helpers: a loop around
   compare-and-swap of a word, which compares bits (a NaN is equal to itself). */
#include "backend/print.h"
#include "ir/build/fold.h"

static const char *helper_of(struct arena *arena, enum ir_atomic atomic, enum base base, enum target_space space) {
    static const char *const words[ATOMIC_COUNT] = {"add", "min", "max", "and", "or", "xor", "exchange", "replace"};
    return arena_printf(arena, "fcl_atomic_%s_%s%s", words[atomic], base_info[base].name,
                        space == TARGET_SPACE_SHARED ? "_shared" : "");
}

/* The helper's loop needs compare-and-swap, and the operation itself where that is a helper. */
static const char *function_of(struct printer *p, enum ir_atomic atomic, enum base base, enum target_space space) {
    const struct dialect *d = p->dialect;
    const char *own = d->atomic ? d->atomic(atomic, base) : NULL;
    if (own)
        return own;
    p->helpers[HELPER_ATOMIC + atomic][base][space] = true;
    if (base_info[base].is_floating && !base_info[base].is_narrow && !d->has_generic_atomics) {
        p->helpers[OP_BITS][base_of_bits(base)][0] = true;
        p->helpers[OP_BITS][base][0] = true;
    }
    return helper_of(p->out->arena, atomic, base, space);
}

void print_atomic(struct printer *p, const struct target_statement *atomic) {
    enum base base = atomic->array->element;
    print_indent(p);
    if (atomic->variable)
        text_printf(p->out, "const %s %s = ", p->dialect->types[atomic->variable->base], atomic->variable->name);
    text_printf(p->out, "%s(&%s[", function_of(p, atomic->atomic, base, atomic->array->space), atomic->array->name);
    print_expr(p, atomic->index, PRECEDENCE_ANY);
    text_add(p->out, "], ");
    if (atomic->expected) {
        print_expr(p, atomic->expected, PRECEDENCE_ANY);
        text_add(p->out, ", ");
    }
    print_expr(p, atomic->value, PRECEDENCE_ANY);
    text_add(p->out, ");\n");
}

/* ---- helpers ---- */

static const char *operation_text(enum ir_atomic atomic) {
    switch (atomic) {
    case ATOMIC_ADD: return "old + x";
    case ATOMIC_MIN: return "x < old ? x : old";
    case ATOMIC_MAX: return "old < x ? x : old";
    case ATOMIC_AND: return "old & x";
    case ATOMIC_OR: return "old | x";
    case ATOMIC_XOR: return "old ^ x";
    case ATOMIC_EXCHANGE:
    case ATOMIC_COMPARE_EXCHANGE:
    case ATOMIC_COUNT: break;
    }
    return "x";
}

/* C: the built-in functions take any type; minimum, maximum and floating sums are loops around them. */
static void print_c_helper(struct printer *p, enum ir_atomic atomic, enum base base, const char *type,
                           const char *name) {
    const char *head = p->dialect->function_head;
    static const char *const built_in[ATOMIC_COUNT] = {
        [ATOMIC_ADD] = "add", [ATOMIC_AND] = "and", [ATOMIC_OR] = "or", [ATOMIC_XOR] = "xor"};
    if (atomic == ATOMIC_COMPARE_EXCHANGE) {
        text_printf(p->out,
                    "%s%s %s(%s *p, %s expected, %s desired) {\n"
                    "    __atomic_compare_exchange(p, &expected, &desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);\n"
                    "    return expected;\n}\n",
                    head, type, name, type, type, type);
        return;
    }
    text_printf(p->out, "%s%s %s(%s *p, %s x) {\n    ", head, type, name, type, type);
    if (atomic == ATOMIC_EXCHANGE)
        text_printf(p->out, "%s old;\n    __atomic_exchange(p, &x, &old, __ATOMIC_ACQ_REL);\n    return old;\n}\n",
                    type);
    else if (built_in[atomic] && base_info[base].is_integer)
        text_printf(p->out, "return __atomic_fetch_%s(p, x, __ATOMIC_RELAXED);\n}\n", built_in[atomic]);
    else
        text_printf(p->out,
                    "%s old, next;\n    __atomic_load(p, &old, __ATOMIC_RELAXED);\n    do\n        next = %s;\n"
                    "    while (!__atomic_compare_exchange(p, &old, &next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));\n"
                    "    return old;\n}\n",
                    type, operation_text(atomic));
}

/* An element of a byte or two, by the word of 32 bits that it lies in, whose other bytes stay as
   they are. The last word of an array may end behind it: memory comes in words
   (runtime/buffers.c). */
static void print_narrow_helper(struct printer *p, enum base base, enum target_space space, const char *type,
                                const char *name) {
    const struct dialect *d = p->dialect;
    bool is_byte = base_info[base].bits <= 8;
    const char *at = d->pointees[space], *word = d->types[BASE_U32];
    const char *part = d->types[is_byte ? BASE_U8 : BASE_U16], *mask = is_byte ? "0xffu" : "0xffffu";
    text_printf(p->out,
                "%s%s %s(%s%s *p, %s expected, %s desired) {\n"
                "    %s%s *word = (%s%s *)((size_t)p & ~(size_t)3);\n"
                "    const %s at = ((%s)(size_t)p & 3u) * 8u;\n"
                "    %s seen = *(volatile %s%s *)word, was;\n"
                "    do {\n"
                "        was = seen;\n"
                "        if ((was >> at & %s) != (%s)(%s)expected) return (%s)(was >> at & %s);\n"
                "        seen = %s(word, was, (was & ~(%s << at)) | (%s)(%s)desired << at);\n"
                "    } while (seen != was);\n"
                "    return expected;\n}\n",
                d->function_head, type, name, at, type, type, type, at, word, at, word, word, word, word, at, word,
                mask, word, part, type, mask, d->atomic(ATOMIC_COMPARE_EXCHANGE, BASE_U32), mask, word, part);
}

/* `to` as the base of its bits in a word, and back. */
static const char *to_word(struct printer *p, enum base base, enum base word, const char *text) {
    if (base_info[base].is_floating)
        return arena_printf(p->out->arena, "%s(%s)", helper_name(p->out->arena, OP_BITS, word, 0), text);
    return arena_printf(p->out->arena, "(%s)%s", p->dialect->types[word], text);
}

static const char *from_word(struct printer *p, enum base base, const char *text) {
    if (base_info[base].is_floating)
        return arena_printf(p->out->arena, "%s(%s)", helper_name(p->out->arena, OP_BITS, base, 0), text);
    return arena_printf(p->out->arena, "(%s)%s", memory_type(p->dialect, base), text);
}

/* A word's compare-and-swap does it. */
static void print_word_helper(struct printer *p, enum ir_atomic atomic, enum base base, enum target_space space,
                              const char *type, const char *name) {
    const struct dialect *d = p->dialect;
    enum base word = base_of_bits(base);
    const char *head = d->function_head, *at = d->pointees[space], *words = d->types[word];
    const char *replace = d->atomic(ATOMIC_COMPARE_EXCHANGE, word);
    if (base_info[base].bits < 32) {
        print_narrow_helper(p, base, space, type, name);
        return;
    }
    if (atomic == ATOMIC_COMPARE_EXCHANGE) {
        text_printf(p->out, "%s%s %s(%s%s *p, %s expected, %s desired) {\n", head, type, name, at, type, type, type);
        const char *call = arena_printf(p->out->arena, "%s((%s%s *)p, %s, %s)", replace, at, words,
                                        to_word(p, base, word, "expected"), to_word(p, base, word, "desired"));
        text_printf(p->out, "    return %s;\n}\n", from_word(p, base, call));
        return;
    }
    text_printf(p->out, "%s%s %s(%s%s *p, %s x) {\n", head, type, name, at, type, type);
    bool is_of_bits =
        base_info[base].is_integer ? atomic != ATOMIC_MIN && atomic != ATOMIC_MAX : atomic == ATOMIC_EXCHANGE;
    const char *of_word = base_info[base].bits >= 32 && is_of_bits ? d->atomic(atomic, word) : NULL;
    if (of_word) {
        const char *call =
            arena_printf(p->out->arena, "%s((%s%s *)p, %s)", of_word, at, words, to_word(p, base, word, "x"));
        text_printf(p->out, "    return %s;\n}\n", from_word(p, base, call));
        return;
    }
    text_printf(p->out, "    %s seen = *(volatile %s%s *)p, was;\n    %s old;\n    do {\n        was = seen;\n", words,
                at, words, type);
    text_printf(p->out, "        old = %s;\n", from_word(p, base, "was"));
    const char *next = arena_printf(p->out->arena, "(%s)(%s)", type, operation_text(atomic));
    text_printf(p->out, "        seen = %s((%s%s *)p, was, %s);\n    } while (seen != was);\n    return old;\n}\n",
                replace, at, words, to_word(p, base, word, next));
}

void print_atomic_helper(struct printer *p, enum ir_atomic atomic, enum base base, enum target_space space) {
    const char *type = memory_type(p->dialect, base), *name = helper_of(p->out->arena, atomic, base, space);
    if (p->dialect->has_generic_atomics)
        print_c_helper(p, atomic, base, type, name);
    else
        print_word_helper(p, atomic, base, space, type, name);
}

/* ---- checks ---- */

void print_check(struct printer *p, const struct target_statement *check) {
    print_indent(p);
    if (check->variable && check->value->kind == TARGET_EXPR_CONSTANT && !check->value->constant.integer) {
        text_printf(p->out, "%s = %u;\n", check->variable->name, (unsigned)check->site);
        return;
    }
    text_add(p->out, "if (!");
    print_expr(p, check->value, PRECEDENCE_PRIMARY);
    if (check->variable) {
        text_printf(p->out, ") %s = %u;\n", check->variable->name, (unsigned)check->site);
        return;
    }
    p->helpers[HELPER_REPORT][BASE_I32][0] = true;
    text_printf(p->out, ") fcl_failed(%s, %u, ", check->array->name, (unsigned)check->site);
    print_expr(p, check->index, PRECEDENCE_ANY);
    text_add(p->out, ", ");
    print_expr(p, check->limit, PRECEDENCE_ANY);
    text_add(p->out, ");\n");
}

/* The first one stays. */
void print_report_helper(struct printer *p) {
    const struct dialect *d = p->dialect;
    const char *head = d->failed_head ? d->failed_head : d->function_head;
    text_printf(p->out, "%svoid fcl_failed(%sint *report, int site, int a, int b) {\n", head,
                d->pointees[TARGET_SPACE_GLOBAL]);
    if (d->has_generic_atomics)
        text_add(p->out, "    int none = 0;\n    if (__atomic_compare_exchange(&report[0], &none, &site, 0, "
                         "__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {\n");
    else
        text_printf(p->out, "    if (%s(&report[0], 0, site) == 0) {\n", d->atomic(ATOMIC_COMPARE_EXCHANGE, BASE_I32));
    text_add(p->out, "        report[1] = a;\n        report[2] = b;\n    }\n}\n");
}
