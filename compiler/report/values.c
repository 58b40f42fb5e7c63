/* The walk's knowledge of the IR's values, and names for those that it does not know. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build/fold.h"
#include "ir/build/linear.h"
#include "report/walker.h"

enum known value_state(const struct walker *w, const struct ir_value *value) {
    return value->is_constant ? KNOWN : (enum known)w->states[value->id];
}

static union scalar scalar_of(const struct walker *w, const struct ir_value *value) {
    return value->is_constant ? value->constant : w->values[value->id];
}

int64_t value_known(const struct walker *w, const struct ir_value *value) { return scalar_of(w, value).integer; }

void value_set_known(struct walker *w, const struct ir_value *value, union scalar scalar) {
    w->values[value->id] = scalar;
    w->states[value->id] = KNOWN;
}

void value_set_state(struct walker *w, const struct ir_value *value, enum known state) {
    w->states[value->id] = (uint8_t)state;
}

void value_hand_on(struct walker *w, struct ir_value *const *to, struct ir_value *const *from, size_t n) {
    union scalar *scalars = malloc((n + 1) * sizeof *scalars);
    enum known *states = malloc((n + 1) * sizeof *states);
    for (size_t i = 0; i < n; i++) {
        states[i] = value_state(w, from[i]);
        scalars[i] = scalar_of(w, from[i]);
    }
    for (size_t i = 0; i < n; i++)
        if (states[i] == KNOWN)
            value_set_known(w, to[i], scalars[i]);
        else
            value_set_state(w, to[i], states[i]);
    free(scalars);
    free(states);
}

const struct ir_region *value_taken(const struct walker *w, const struct ir_instruction *branch) {
    bool is_known = value_state(w, branch->operands[0]) == KNOWN;
    return is_known ? branch->regions[value_known(w, branch->operands[0]) ? 0 : 1] : NULL;
}

void value_join(struct walker *w, const struct ir_instruction *branch) {
    for (size_t i = 0; i < branch->result_count; i++) {
        enum known result = value_state(w, branch->operands[0]);
        for (int r = 0; r < 2; r++) {
            enum known one = value_state(w, branch->regions[r]->yields.at[i]);
            result = one > result ? one : result;
        }
        value_set_state(w, branch->results[i], result);
    }
}

void value_operation(struct walker *w, const struct ir_instruction *operation) {
    union scalar operands[3] = {{0}};
    enum known state = KNOWN;
    for (size_t i = 0; i < operation->operand_count; i++) {
        enum known one = value_state(w, operation->operands[i]);
        state = one > state ? one : state;
        operands[i] = scalar_of(w, operation->operands[i]);
    }
    const struct ir_value *result = operation->results[0];
    if (state != KNOWN) {
        value_set_state(w, result, state);
        return;
    }
    enum base base = operation->operands[operation->operand_count - 1]->base;
    value_set_known(w, result, fold_operation(operation->op, result->base, base, operands));
}

unsigned line_of(const struct walker *w, struct span span) {
    struct place place;
    bool is_known = span.end && place_of(w->request->sources, span.begin, &place);
    return is_known && !place.source->is_ours ? place.line : 0;
}

/* ---- names ---- */

static const char *unique(struct walker *w, const char *hint) {
    symbol name = symbol_of(w->symbols, hint);
    size_t before = (size_t)(uintptr_t)map_get(w->used_names, name);
    map_set(w->used_names, name, (void *)(uintptr_t)(before + 1));
    return before == 0 ? name->text : arena_printf(w->arena, "%s.%zu", hint, before + 1);
}

const char *buffer_name(struct walker *w, const struct ir_buffer *buffer) {
    const char *name = map_get(w->buffer_names, buffer);
    if (name)
        return name;
    bool is_result = buffer->is_result;
    name = unique(w, buffer->name ? buffer->name : is_result ? "result" : "array");
    map_set(w->buffer_names, buffer, (void *)(uintptr_t)name);
    return name;
}

symbol value_name(struct walker *w, const char *hint, const char *meaning) {
    for (size_t i = 0; i < w->report->names.count; i++)
        if (strcmp(w->report->names.at[i].meaning, meaning) == 0)
            return symbol_of(w->symbols, w->report->names.at[i].name);
    const char *name = unique(w, hint);
    vec_push(w->arena, &w->report->names, (struct report_name){name, meaning});
    return symbol_of(w->symbols, name);
}

enum { DEEPEST = 8, LARGEST = 100 /* values in one text */, LONGEST_NAME = 32 };

static struct amount amount_at(struct walker *w, const struct ir_value *value, int depth);

/* A name for what is no sum of products: the text itself where that is short. */
static struct amount named(struct walker *w, const struct ir_value *value, const char *text) {
    bool is_short = strlen(text) <= LONGEST_NAME;
    const char *hint = value->name ? value->name : "size";
    symbol name = is_short ? symbol_of(w->symbols, text) : value_name(w, hint, text);
    return amount_name(w->arena, name);
}

/* In a name, where `at most` has no place. */
static const char *plain_text(struct walker *w, struct amount amount) {
    amount.is_most = amount.is_about = false;
    return amount_text(w->arena, amount);
}

static const char *text_at(struct walker *w, const struct ir_value *value, int depth) {
    if (value->base == BASE_BOOL && value->definition && value->definition->kind == IR_OPERATION && depth > 0) {
        const struct ir_instruction *test = value->definition;
        const char *sign = test->op == OP_LT   ? "<"
                           : test->op == OP_LE ? "<="
                           : test->op == OP_EQ ? "=="
                           : test->op == OP_NE ? "!="
                                               : NULL;
        if (sign)
            return arena_printf(w->arena, "%s %s %s", text_at(w, test->operands[0], depth - 1), sign,
                                text_at(w, test->operands[1], depth - 1));
    }
    return plain_text(w, amount_at(w, value, depth));
}

const char *value_text(struct walker *w, const struct ir_value *value) {
    w->room = LARGEST;
    return text_at(w, value, DEEPEST);
}

static bool is_constant(const struct ir_value *value, int64_t wanted) {
    return value->is_constant && value->constant.integer == wanted;
}

/* (x - 1) / c + 1: how many chunks of c there are in x. */
static const struct ir_value *chunked(const struct ir_instruction *sum, const struct ir_value **size,
                                      int64_t *constant) {
    for (int i = 0; i < 2; i++) {
        const struct ir_value *quotient = sum->operands[i], *one = sum->operands[1 - i];
        if (!is_constant(one, 1) || !quotient->definition || quotient->definition->kind != IR_OPERATION)
            continue;
        const struct ir_instruction *division = quotient->definition;
        if (division->op != OP_DIV && division->op != OP_SHR)
            continue;
        const struct ir_instruction *less = division->operands[0]->definition;
        bool is_less = less && less->kind == IR_OPERATION &&
                       ((less->op == OP_SUB && is_constant(less->operands[1], 1)) ||
                        (less->op == OP_ADD && is_constant(less->operands[1], -1)));
        if (!is_less)
            continue;
        *constant = linear_divisor(quotient);
        *size = division->operands[1];
        return less->operands[0];
    }
    return NULL;
}

static const char *dividend_text(struct walker *w, const struct ir_value *value, int depth) {
    return amount_closed(w->arena, plain_text(w, amount_at(w, value, depth)), " ");
}

static const char *divisor_text(struct walker *w, const struct ir_value *value, int depth) {
    return amount_closed(w->arena, plain_text(w, amount_at(w, value, depth)), " *");
}

struct amount value_ceiling(struct walker *w, struct amount x, double by) {
    return amount_ceiling(w->arena, w->symbols, x, by);
}

static bool is_index(const struct ir_value *value) {
    const struct ir_instruction *owner = value->region ? value->region->owner : NULL;
    return !value->definition && owner && owner->kind != IR_WHILE && owner->kind != IR_IF &&
           owner->parameters[0] == value;
}

static bool number_at(struct walker *w, const struct ir_value *value, int depth, struct amount *number);

/* Computes an operation on numbers, some of which may be `at most`; it must grow with those. */
static bool fold_at(struct walker *w, const struct ir_value *value, int depth, struct amount *number) {
    const struct ir_instruction *made = value->definition;
    struct amount x[3] = {{0}};
    union scalar operands[3] = {{0}};
    size_t first = made->op == OP_SELECT;
    *number = amount_number(0);
    for (size_t i = first; i < made->operand_count; i++) {
        if (!number_at(w, made->operands[i], depth - 1, &x[i]) || fabs(x[i].constant) > 0x1p53)
            return false;
        operands[i].integer = (int64_t)x[i].constant;
        number->is_most |= x[i].is_most;
        number->is_about |= x[i].is_about;
    }
    bool grows =
        made->op == OP_ADD || made->op == OP_MUL || made->op == OP_MIN || made->op == OP_MAX ||
        ((made->op == OP_SUB || made->op == OP_DIV || made->op == OP_SHL || made->op == OP_SHR) && !x[1].is_most);
    if (made->op == OP_SELECT) {
        *number = amount_larger(w->arena, x[1], x[2]);
        return true;
    }
    if (made->op == OP_REM && number->is_most && !x[1].is_most && operands[1].integer > 0) {
        number->constant = fmin(x[0].constant, x[1].constant - 1);
        return true;
    }
    if (number->is_most && !grows)
        return false;
    enum base base = made->operands[made->operand_count - 1]->base;
    number->constant = (double)fold_operation(made->op, value->base, base, operands).integer;
    return true;
}

/* A number, where that follows from the sizes: without names. */
static bool number_at(struct walker *w, const struct ir_value *value, int depth, struct amount *number) {
    const struct ir_instruction *made = value->definition;
    if (base_info[value->base].is_floating)
        return false;
    if (value_state(w, value) == KNOWN) {
        *number = amount_number((double)scalar_of(w, value).integer);
        return true;
    }
    if (depth == 0)
        return false;
    if (is_index(value) && number_at(w, value->region->owner->operands[0], depth - 1, number)) {
        number->constant--;
        number->is_most = true;
        return true;
    }
    if (made && made->kind == IR_OPERATION)
        return fold_at(w, value, depth, number);
    if (!made || made->kind != IR_IF)
        return false;
    size_t which = 0;
    struct amount yes, no;
    while (made->results[which] != value)
        which++;
    if (!number_at(w, made->regions[0]->yields.at[which], depth - 1, &yes) ||
        !number_at(w, made->regions[1]->yields.at[which], depth - 1, &no))
        return false;
    *number = amount_larger(w->arena, yes, no);
    return true;
}

static struct amount operation_at(struct walker *w, const struct ir_value *value, int depth) {
    const struct ir_instruction *made = value->definition;
    struct ir_value *const *x = made->operands;
    struct arena *arena = w->arena;
    const struct ir_value *size;
    int64_t constant;
    const struct ir_value *all = made->op == OP_ADD ? chunked(made, &size, &constant) : NULL;
    struct amount chunks = all ? amount_at(w, all, depth - 1) : amount_number(0);
    if (all && amount_is_number(chunks) && constant)
        return value_ceiling(w, chunks, (double)constant);
    if (all) {
        const char *of = dividend_text(w, all, depth - 1);
        const char *by = constant ? arena_printf(arena, "%lld", (long long)constant) : divisor_text(w, size, depth - 1);
        return named(w, value, arena_printf(arena, "ceil(%s / %s)", of, by));
    }
    switch (made->op) {
    case OP_ADD:
    case OP_SUB: {
        struct amount right = amount_at(w, x[1], depth - 1);
        if (made->op == OP_SUB)
            right = amount_product(arena, w->symbols, right, amount_number(-1));
        return amount_sum(arena, amount_at(w, x[0], depth - 1), right);
    }
    case OP_MUL: return amount_product(arena, w->symbols, amount_at(w, x[0], depth - 1), amount_at(w, x[1], depth - 1));
    case OP_SHL:
        if (x[1]->is_constant && x[1]->constant.integer < 31)
            return amount_product(arena, w->symbols, amount_at(w, x[0], depth - 1),
                                  amount_number((double)(1 << x[1]->constant.integer)));
        break;
    case OP_CONVERT: return amount_at(w, x[0], depth - 1);
    case OP_MAX: /* a length is not negative */
        if (is_constant(x[0], 0) || is_constant(x[1], 0))
            return amount_at(w, x[is_constant(x[0], 0)], depth - 1);
        break;
    case OP_SELECT: /* `nothing where the array is empty` */
        if (is_constant(x[2], 0) || is_constant(x[1], 0)) {
            struct amount some = amount_at(w, x[is_constant(x[1], 0) ? 2 : 1], depth - 1);
            some.is_most |= value_state(w, x[0]) != KNOWN_BY_SIZE;
            return some;
        }
        return named(w, value,
                     arena_printf(arena, "(%s ? %s : %s)", text_at(w, x[0], depth - 1), text_at(w, x[1], depth - 1),
                                  text_at(w, x[2], depth - 1)));
    case OP_DIV: {
        struct amount divided = amount_at(w, x[0], depth - 1), by = amount_at(w, x[1], depth - 1);
        if (amount_is_number(divided) && amount_is_number(by) && by.constant > 0) {
            divided.constant = trunc(divided.constant / by.constant);
            divided.is_most |= by.is_most;
            return divided;
        }
        return named(
            w, value,
            arena_printf(arena, "floor(%s / %s)", dividend_text(w, x[0], depth - 1), divisor_text(w, x[1], depth - 1)));
    }
    default: break;
    }
    int64_t divisor = linear_divisor(value);
    struct amount divided = divisor ? amount_at(w, x[0], depth - 1) : amount_number(0);
    if (divisor && amount_is_number(divided)) {
        divided.constant = floor(divided.constant / (double)divisor);
        return divided;
    }
    if (divisor)
        return named(w, value,
                     arena_printf(arena, "floor(%s / %lld)", dividend_text(w, x[0], depth - 1), (long long)divisor));
    struct text text;
    text_init(&text, arena);
    text_printf(&text, "%s(", ir_op_info[made->op].name);
    for (size_t i = 0; i < made->operand_count; i++)
        text_printf(&text, "%s%s", i ? ", " : "", text_at(w, x[i], depth - 1));
    text_add(&text, ")");
    return named(w, value, text_string(&text));
}

/* A branch's result: of the side that has something to do. */
static struct amount chosen_at(struct walker *w, const struct ir_value *value, int depth) {
    const struct ir_instruction *branch = value->definition;
    size_t which = 0;
    while (branch->results[which] != value)
        which++;
    const struct ir_value *yes = branch->regions[0]->yields.at[which], *no = branch->regions[1]->yields.at[which];
    bool is_nothing = is_constant(yes, 0);
    if (!is_nothing && !is_constant(no, 0) && yes != no)
        return named(w, value,
                     arena_printf(w->arena, "(%s ? %s : %s)", text_at(w, branch->operands[0], depth - 1),
                                  text_at(w, yes, depth - 1), text_at(w, no, depth - 1)));
    struct amount some = amount_at(w, is_nothing ? no : yes, depth - 1);
    some.is_most |= value_state(w, branch->operands[0]) != KNOWN_BY_SIZE;
    return some;
}

/* From here on by a name of its own, whose meaning is the rest. */
static struct amount with_rest_named(struct walker *w, const struct ir_value *value) {
    symbol name = map_get(w->rests, value);
    if (name)
        return amount_name(w->arena, name);
    const char *unknown = arena_printf(w->arena, "value %u", value->id);
    map_set(w->rests, value, (void *)(uintptr_t)symbol_of(w->symbols, unknown));
    unsigned room = w->room;
    w->room = LARGEST;
    struct amount rest = named(w, value, plain_text(w, amount_at(w, value, DEEPEST)));
    w->room = room;
    map_set(w->rests, value, (void *)(uintptr_t)rest.terms[0].names[0]);
    return rest;
}

static struct amount amount_at(struct walker *w, const struct ir_value *value, int depth) {
    if (value_state(w, value) == KNOWN) {
        union scalar scalar = scalar_of(w, value);
        return amount_number(base_info[value->base].is_floating ? scalar.floating : (double)scalar.integer);
    }
    const struct ir_instruction *made = value->definition;
    struct amount number;
    if (made && depth > 0 && number_at(w, value, depth, &number))
        return number;
    if (!made && !value->region) /* a parameter of the kernel */
        return amount_name(w->arena, symbol_of(w->symbols, value->name ? value->name : "size"));
    if (is_index(value)) { /* as large as it gets */
        struct amount last = amount_sum(w->arena, value_count(w, value->region->owner->operands[0]), amount_number(-1));
        last.is_most = true;
        return last;
    }
    bool is_taken_apart = made && (made->kind == IR_OPERATION || made->kind == IR_IF);
    if (is_taken_apart && depth > 0 && w->room > 0) {
        w->room--;
        return made->kind == IR_OPERATION ? operation_at(w, value, depth) : chosen_at(w, value, depth);
    }
    if (is_taken_apart)
        return with_rest_named(w, value);
    unsigned line = made ? line_of(w, made->span) : 0;
    const char *what =
        value_state(w, value) == KNOWN_BY_DATA ? "a number that data decide" : "a number that sizes decide";
    const char *meaning = line ? arena_printf(w->arena, "%s, in line %u (value %u)", what, line, value->id)
                               : arena_printf(w->arena, "%s (value %u)", what, value->id);
    return amount_name(w->arena, value_name(w, value->name ? value->name : "size", meaning));
}

/* How large it is, in names where it is not known. */
static struct amount value_amount(struct walker *w, const struct ir_value *value) {
    w->room = LARGEST;
    return amount_at(w, value, DEEPEST);
}

struct amount value_count(struct walker *w, const struct ir_value *value) {
    struct amount amount = value_amount(w, value);
    if (amount_is_number(amount) && amount.constant < 0)
        amount.constant = 0;
    return amount;
}
