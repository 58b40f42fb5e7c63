/* Statements and kernels in C's syntax, and whole files. */
#include "backend/print.h"

#include <stdarg.h>
#include <string.h>

static void print_block(struct printer *p, const struct target_block *block);

__attribute__((format(printf, 2, 3))) static void print_line(struct printer *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_indent(p);
    text_vprintf(p->out, format, arguments);
    text_add(p->out, "\n");
    va_end(arguments);
}

/* ---- declarations ---- */

static void print_constants(struct printer *p, const struct target_array *table) {
    enum { A_LINE = 16 };
    text_add(p->out, " = {");
    for (int64_t i = 0; i < table->capacity; i++) {
        if (i && i % A_LINE == 0) {
            text_add(p->out, ",\n");
            print_indent(p);
            text_add(p->out, "    ");
        } else if (i) {
            text_add(p->out, ", ");
        }
        if (table->element == BASE_BOOL)
            text_add(p->out, table->constants[i].integer ? "1" : "0");
        else
            print_constant(p, table->element, table->constants[i], PRECEDENCE_ANY);
    }
    text_add(p->out, "}");
}

static void print_array(struct printer *p, const struct target_array *array) {
    const struct dialect *d = p->dialect;
    bool is_dynamic = array->capacity == TARGET_CAPACITY_DYNAMIC;
    const char *alignment = array->alignment ? arena_printf(p->out->arena, d->alignment, array->alignment) : "";
    print_indent(p);
    text_printf(p->out, "%s%s%s", is_dynamic ? "extern " : "", d->spaces[array->space],
                d->alignment_is_before ? alignment : "");
    int lanes = array->lanes ? array->lanes : 1;
    const char *type = array->lanes ? vector_type(p, array->element) : memory_type(d, array->element);
    if (array->is_packed && d->loads_wide) {
        use_part(p, true, PART_PAIRS);
        text_printf(p->out, "fcl_pairs<%s, %lld> %s;\n", type, (long long)array->capacity, array->name);
        return;
    }
    bool has_pointer = p->points_to_shared && array->space == TARGET_SPACE_SHARED;
    text_printf(p->out, "%s %s%s[", type, has_pointer ? "fcl_" : "", array->name);
    if (array->lanes && d->has_own_vectors)
        text_printf(p->out, "%lld / FCL_WIDTH", (long long)array->capacity);
    else if (!is_dynamic)
        text_printf(p->out, "%lld", (long long)(array->capacity / lanes));
    text_printf(p->out, "]%s", d->alignment_is_before ? "" : alignment);
    if (array->constants)
        print_constants(p, array);
    text_add(p->out, ";\n");
    if (has_pointer)
        print_line(p, "%s%s *const %s = fcl_%s;", d->pointees[array->space], type, array->name, array->name);
}

static void print_pointer(struct printer *p, const struct target_statement *statement) {
    const struct target_array *array = statement->array, *from = statement->from;
    const struct dialect *d = p->dialect;
    const char *type = memory_type(d, array->element), *space = d->pointees[array->space];
    bool is_same = array->element == from->element;
    print_indent(p);
    text_printf(p->out, "%s%s *const %s = ", space, type, array->name);
    bool is_sum = !is_same && !is_begin(statement->index);
    if (!is_same)
        text_printf(p->out, "(%s%s *)%s", space, type, is_sum ? "(" : "");
    print_address(p, from, statement->index);
    text_add(p->out, is_sum ? ");\n" : ";\n");
}

static void print_value(struct printer *p, const struct target_variable *variable, const struct target_expr *value) {
    if (variable->lanes)
        print_widened(p, value);
    else
        print_expr(p, value, PRECEDENCE_ANY);
}

static void print_variable(struct printer *p, const struct target_statement *statement) {
    const struct target_variable *variable = statement->variable;
    print_indent(p);
    text_printf(p->out, "%s%s %s",
                variable->is_lock && quirk_is_on(QUIRK_VOLATILE_LOCKS, p->dialect->where) ? "volatile "
                : variable->is_mutable                                                    ? ""
                                                                                          : "const ",
                variable->lanes ? vector_type(p, variable->base) : p->dialect->types[variable->base], variable->name);
    if (statement->value) {
        text_add(p->out, " = ");
        print_value(p, variable, statement->value);
    }
    text_add(p->out, ";\n");
}

/* ---- control ---- */

/* note [lines]
   With -g each kernel and statement says by `#line` which line of the program it was made of. A statement whose line is
   not known, such as a barrier, has the line of the statement before it. GCC, NVRTC and OpenCL put these into what they
   make, and so gdb, perf and NVIDIA's Nsight show the program. Code of the prelude has the line where the user's file
   calls it. The runtime asks for tables of lines where it sees `#line`. Behind a kernel the lines are those of no
   file. */
static void print_line_of(struct printer *p, struct span span) {
    struct place place;
    bool is_known = p->lines && span.end && place_of(p->lines, span.begin, &place);
    if (!is_known && !p->place.source)
        return;
    if (!is_known)
        place = p->place;
    text_printf(p->out, "#line %u", place.line);
    if (place.source != p->place.source)
        text_printf(p->out, " \"%s\"", text_in_string(p->out->arena, place.source->path));
    text_add(p->out, "\n");
    p->place = place;
}

static void print_body(struct printer *p, const struct target_block *block) {
    p->indent++;
    print_block(p, block);
    p->indent--;
}

static void print_ordered(struct printer *p, const struct target_statement *loop) {
    if (loop->is_ordered && !target_is_scalar(loop) && !p->dialect->is_plain)
        print_line(p, "%s", quirks[QUIRK_ORDERED_LOOPS].macro);
}

/* A statement that does nothing, at the beginning of the loop: GCC makes no vectors of a loop that has one. */
static void print_without_vectors(struct printer *p, const struct target_statement *loop) {
    if (!loop->is_strided || !quirk_is_on(QUIRK_STRIDED_VECTORS, p->dialect->where))
        return;
    p->indent++;
    print_line(p, "%s;", quirks[QUIRK_STRIDED_VECTORS].macro);
    p->indent--;
}

/* Note [selections] in map/selections.c: how many of the loop's rounds are done by vectors. The call of a function does
   that for each array. The last one's call moves `next` on. */
static void print_selection(struct printer *p, const struct target_statement *loop, size_t i) {
    const struct target_selection *s = loop->selection;
    bool is_last = i + 1 == s->count;
    use_part(p, true, PART_SELECTIONS);
    text_printf(p->out, "fcl_select_%zu(%s, ", target_element_bytes(s->to[i]->element), s->ones->name);
    print_expr(p, loop->limit, PRECEDENCE_ANY);
    text_printf(p->out, is_last ? ", &%s, " : ", &(int){%s}, ", s->next->name);
    print_expr(p, s->end, PRECEDENCE_ANY);
    text_add(p->out, ", ");
    print_expr(p, s->length, PRECEDENCE_ANY);
    text_printf(p->out, ", %s, %s)", s->from[i]->name, s->to[i]->name);
}

static size_t selected(const struct printer *p, const struct target_statement *loop) {
    return loop->selection && !p->dialect->is_plain ? loop->selection->count : 0;
}

static void print_loop(struct printer *p, const struct target_statement *loop) {
    const char *name = loop->variable->name;
    const char *pragma = loop->unroll ? p->dialect->unroll : p->dialect->vectors[loop->vectors];
    if (loop->is_short && p->dialect->roll)
        print_line(p, "%s", p->dialect->roll);
    else if (pragma && loop->unroll_by)
        print_line(p, "%s %d", pragma, loop->unroll_by);
    else if (pragma)
        print_line(p, "%s", pragma);
    print_ordered(p, loop);
    if (loop->is_update)
        print_line(p, "%s", quirks[QUIRK_ROLLED_UPDATES].macro);
    for (size_t i = 0; i + 1 < selected(p, loop); i++) {
        print_line_of(p, loop->span);
        print_indent(p);
        text_add(p->out, "(void)");
        print_selection(p, loop, i);
        text_add(p->out, ";\n");
    }
    print_line_of(p, loop->span);
    print_indent(p);
    text_printf(p->out, "for (%s %s = ", p->dialect->types[loop->variable->base], name);
    if (selected(p, loop))
        print_selection(p, loop, selected(p, loop) - 1);
    else
        print_expr(p, loop->value, PRECEDENCE_ANY);
    text_printf(p->out, "; %s < ", name);
    print_expr(p, loop->limit, PRECEDENCE_LESS + 1);
    if (loop->step->kind == TARGET_EXPR_CONSTANT && loop->step->constant.integer == 1) {
        text_printf(p->out, "; ++%s) {\n", name);
    } else {
        text_printf(p->out, "; %s += ", name);
        print_expr(p, loop->step, PRECEDENCE_ANY);
        text_add(p->out, ") {\n");
    }
    bool was_by_vectors = p->is_by_vectors, was_unrolled = p->is_unrolled;
    p->is_by_vectors = p->is_loop && (was_by_vectors || loop->is_by_vectors);
    p->is_unrolled = p->is_by_vectors && loop->unroll;
    print_without_vectors(p, loop);
    print_body(p, &loop->body);
    p->is_by_vectors = was_by_vectors;
    p->is_unrolled = was_unrolled;
    print_line(p, "}");
}

static void print_while(struct printer *p, const struct target_statement *loop) {
    if (p->dialect->vectors[loop->vectors])
        print_line(p, "%s", p->dialect->vectors[loop->vectors]);
    print_ordered(p, loop);
    print_line_of(p, loop->span);
    print_indent(p);
    if (loop->value) {
        text_add(p->out, "while (");
        print_expr(p, loop->value, PRECEDENCE_ANY);
        text_add(p->out, ") {\n");
    } else {
        text_add(p->out, "for (;;) {\n");
    }
    print_body(p, &loop->body);
    print_line(p, "}");
}

static void print_if(struct printer *p, const struct target_statement *statement) {
    bool has_then = statement->body.statements.count;
    print_indent(p);
    text_add(p->out, has_then ? "if (" : "if (!");
    print_expr(p, statement->value, has_then ? PRECEDENCE_ANY : PRECEDENCE_PRIMARY);
    text_add(p->out, ") {\n");
    print_body(p, has_then ? &statement->body : &statement->other);
    if (has_then && statement->other.statements.count) {
        print_line(p, "} else {");
        print_body(p, &statement->other);
    }
    print_line(p, "}");
}

/* An array, and a place in it in two parts: note [steady places] in ir/passes/steady.c. */
static void print_steps(struct printer *p, const struct target_array *array, const struct target_expr *place) {
    bool is_sum = place->kind == TARGET_EXPR_OPERATION && place->op == OP_ADD;
    text_printf(p->out, "%s, ", array->name);
    print_expr(p, is_sum ? place->operands[0] : place, PRECEDENCE_ANY);
    text_add(p->out, ", ");
    if (is_sum)
        print_expr(p, place->operands[1], PRECEDENCE_ANY);
    else
        text_add(p->out, "0");
}

static void print_mma(struct printer *p, const struct target_statement *statement) {
    enum base base = statement->operands[0]->base;
    const struct mma_form form = mma_form(base);
    if (base_info[base].is_narrow)
        use_narrow_conversion(p, BASE_F32, base); /* where there is no matrix unit */
    print_indent(p);
    text_printf(p->out, "%s ", p->dialect->types[form.sum]);
    for (size_t i = 0; i < MMA_SUMS; i++)
        text_printf(p->out, "%s%s", i ? ", " : "", statement->results[i]->name);
    text_add(p->out, ";\n");
    print_line_of(p, statement->span);
    print_indent(p);
    bool of_second = statement->rows && !statement->rows[0];
    p->products[base] |=
        part_bit(PART_PRODUCTS) | (statement->held   ? part_bit(PART_HELD_ROWS) | part_bit(PART_PRODUCTS_OF_HELD)
                                   : of_second       ? part_bit(PART_PRODUCTS_OF_SECOND)
                                   : statement->rows ? part_bit(PART_PRODUCTS_OF_ROWS)
                                                     : 0);
    text_printf(p->out, "fcl_mma_%s%s%s(", base_info[base].name,
                statement->held   ? "_held"
                : of_second       ? "_second"
                : statement->rows ? "_rows"
                                  : "",
                statement->held || !statement->rows ? ""
                : statement->are_columns            ? "<true>"
                                                    : "<false>");
    for (size_t i = 0; i < MMA_SUMS; i++)
        text_printf(p->out, "%s%s", i ? ", " : "", statement->results[i]->name);
    for (size_t i = 0; i < statement->operand_count; i++) {
        bool is_element = i < form.first + form.second;
        if (is_element && i % form.pack == 0)
            text_printf(p->out, ", fcl_word_%s(", base_info[base].name);
        else
            text_add(p->out, ", ");
        print_expr(p, statement->operands[i], PRECEDENCE_ANY);
        if (is_element && i % form.pack == form.pack - 1)
            text_add(p->out, ")");
    }
    for (size_t i = of_second; i < MMA_PLACES && statement->rows; i++) {
        text_add(p->out, ", ");
        if (statement->held)
            print_address(p, statement->held[i]->array, statement->held[i]->operands[0]);
        else
            print_steps(p, statement->rows[i]->array, statement->rows[i]->operands[0]);
    }
    if (statement->rows && !statement->held) {
        text_add(p->out, ", ");
        print_expr(p, statement->rows[MMA_PLACES], PRECEDENCE_ANY);
    }
    text_add(p->out, ");\n");
}

/* See note [narrow elements] in map/copies.c. */
static void print_own_copy(struct printer *p, const struct target_statement *copy) {
    bool is_load = copy->array->space == TARGET_SPACE_PRIVATE;
    print_indent(p);
    text_printf(p->out, "%s(%s, %lld, ", is_load ? "FCL_LOAD_OWN" : "FCL_STORE_OWN",
                memory_type(p->dialect, copy->array->element), (long long)copy->copied);
    print_address(p, copy->array, copy->index);
    text_add(p->out, ", ");
    print_address(p, copy->value->array, copy->value->operands[0]);
    text_add(p->out, ");\n");
}

/* See note [copies by 16 bytes] in map/copies.c. */
static void print_copy(struct printer *p, const struct target_statement *copy) {
    static const char *const names[TARGET_PIECE_COUNT] = {"fcl_copy_piece", "fcl_copy_aligned", "fcl_copy_apart",
                                                          "fcl_copy_own"};
    bool is_own = copy->piece == TARGET_PIECE_OWN;
    use_part(p, true, copy->threads ? PART_COPIES : is_own ? PART_OWN_COPIES : PART_AHEAD);
    if (is_own && p->dialect->language == LANGUAGE_OPENCL) {
        print_own_copy(p, copy);
        return;
    }
    print_indent(p);
    const struct target_padding *to = &copy->paddings[0], *from = &copy->paddings[1];
    if (copy->threads && (to->row || from->row))
        text_printf(p->out, "fcl_copy<%lld, %d, %lld, %lld, %lld, %lld>(", (long long)copy->copied, copy->threads,
                    (long long)to->row, (long long)to->elements, (long long)from->row, (long long)from->elements);
    else if (copy->threads)
        text_printf(p->out, "fcl_copy<%lld, %d>(", (long long)copy->copied, copy->threads);
    else if (copy->copied > 1)
        text_printf(p->out, "%s<%lld>(", names[copy->piece], (long long)copy->copied);
    else
        text_add(p->out, "fcl_copy_ahead(");
    if (!copy->threads && copy->copied > 1 && copy->piece == TARGET_PIECE_ALIGNED)
        print_steps(p, copy->array, copy->index);
    else
        print_address(p, copy->array, copy->index);
    text_add(p->out, ", ");
    print_address(p, copy->value->array, copy->value->operands[0]);
    if (copy->threads) {
        text_add(p->out, ", ");
        print_expr(p, copy->limit, PRECEDENCE_ANY);
    }
    text_add(p->out, ");\n");
}

static void print_statement(struct printer *p, const struct target_statement *statement) {
    switch (statement->kind) {
    case TARGET_DECLARE: print_variable(p, statement); return;
    case TARGET_ASSIGN:
        print_indent(p);
        text_printf(p->out, "%s = ", statement->variable->name);
        print_value(p, statement->variable, statement->value);
        text_add(p->out, ";\n");
        return;
    case TARGET_STORE:
        print_indent(p);
        if (statement->lanes && !statement->array->lanes) {
            print_vector_store(p, statement);
            return;
        }
        if (statement->is_volatile && has_words(p, statement->array)) {
            use_part(p, true, PART_WORDS);
            text_add(p->out, p->dialect->show);
            print_address(p, statement->array, statement->index);
            text_add(p->out, ", ");
            print_expr(p, statement->value, PRECEDENCE_ANY);
            text_add(p->out, ");\n");
            return;
        }
        print_element(p, statement->array, statement->index, statement->is_volatile || statement->may_meet);
        text_add(p->out, " = ");
        if (statement->array->lanes && p->dialect->has_own_vectors)
            print_widened(p, statement->value);
        else
            print_expr(p, statement->value, PRECEDENCE_ANY);
        text_add(p->out, ";\n");
        return;
    case TARGET_ATOMIC: print_atomic(p, statement); return;
    case TARGET_SHUFFLE:
        print_indent(p);
        use_part(p, statement->exchange == TARGET_EXCHANGE_MATCH, PART_MATCHES);
        text_printf(p->out, "const %s %s = %s", p->dialect->types[statement->variable->base], statement->variable->name,
                    statement->index ? p->dialect->shuffle[statement->exchange] : p->dialect->ballot);
        print_expr(p, statement->value, PRECEDENCE_ANY);
        if (statement->index) {
            text_add(p->out, ", ");
            print_expr(p, statement->index, PRECEDENCE_ANY);
        }
        text_add(p->out, ");\n");
        return;
    case TARGET_COPY: print_copy(p, statement); return;
    case TARGET_END_COPIES:
        use_part(p, true, PART_AHEAD);
        print_line(p, "fcl_end_copies<%lld>();", (long long)statement->copied);
        return;
    case TARGET_NOW:
        if (statement->is_used)
            print_line(p, "const unsigned %s = fcl_now();", statement->variable->name);
        return;
    case TARGET_MMA: print_mma(p, statement); return;
    case TARGET_HOLD_ROWS:
        print_indent(p);
        text_printf(p->out, "fcl_hold_%s(", statement->are_columns ? "columns" : "rows");
        print_address(p, statement->array, statement->index);
        text_add(p->out, ", ");
        print_steps(p, statement->value->array, statement->value->operands[0]);
        text_add(p->out, ");\n");
        return;
    case TARGET_CHECK: print_check(p, statement); return;
    case TARGET_FENCE:
        if (!statement->is_pause)
            print_line(p, "%s", statement->is_global ? p->dialect->fence : p->dialect->block_fence);
        else if (p->dialect->pause)
            print_line(p, "%s", p->dialect->pause);
        use_part(p, statement->is_pause, PART_PAUSES);
        return;
    case TARGET_DECLARE_ARRAY: print_array(p, statement->array); return;
    case TARGET_DECLARE_POINTER: print_pointer(p, statement); return;
    case TARGET_FOR: print_loop(p, statement); return;
    case TARGET_WHILE: print_while(p, statement); return;
    case TARGET_LEAVE_UNLESS:
        print_indent(p);
        text_printf(p->out, "if (!%s",
                    statement->value->lanes ? arena_printf(p->out->arena, "%sany(", vector_prefix(p)) : "");
        print_expr(p, statement->value, statement->value->lanes ? PRECEDENCE_ANY : PRECEDENCE_PRIMARY);
        text_add(p->out, statement->value->lanes ? ")) break;\n" : ") break;\n");
        return;
    case TARGET_IF: print_if(p, statement); return;
    case TARGET_BLOCK_BARRIER:
        print_line(p, "%s", statement->is_global ? p->dialect->global_barrier : p->dialect->block_barrier);
        return;
    case TARGET_WARP_BARRIER: print_line(p, "%s", p->dialect->warp_barrier); return;
    }
}

/* How many statements from the i-th on are stores to registers by one load: note [loads by vectors] in own_places.c. */
static int wide_load(const struct printer *p, const struct target_block *block, size_t i) {
    const struct target_statement *first = block->statements.at[i];
    if (!p->dialect->loads_wide || first->kind != TARGET_STORE || first->value->kind != TARGET_EXPR_ELEMENT)
        return 0;
    int count = first->value->of;
    if (i + (size_t)count > block->statements.count)
        return 0;
    for (int n = 0; n < count; n++) {
        const struct target_statement *at = block->statements.at[i + (size_t)n];
        if (at->kind != TARGET_STORE || at->array != first->array || at->array->space != TARGET_SPACE_PRIVATE ||
            at->index->kind != TARGET_EXPR_CONSTANT || at->value->kind != TARGET_EXPR_ELEMENT ||
            at->value->nth != n + 1 || at->value->of != count ||
            at->index->constant.integer != first->index->constant.integer + n)
            return 0;
    }
    return first->array->is_packed && first->index->constant.integer % 2 ? 0 : count;
}

static void print_wide_load(struct printer *p, const struct target_statement *first, int count) {
    bool is_packed = first->array->is_packed;
    use_part(p, !is_packed, PART_WIDE_LOADS);
    print_indent(p);
    int at = (int)first->index->constant.integer / (is_packed ? 2 : 1);
    if (is_packed)
        text_printf(p->out, "fcl_load_halves<%d>(%s.words", count, first->array->name);
    else
        text_printf(p->out, "fcl_load_four(%s", first->array->name);
    if (at)
        text_printf(p->out, " + %d", at);
    text_add(p->out, ", ");
    print_address(p, first->value->array, first->value->operands[0]);
    text_add(p->out, ");\n");
}

/* Do the stores from the i-th on store a pair that lies in registers by pairs? See note [stores of pairs]. */
static bool stores_pair(const struct printer *p, const struct target_block *block, size_t i) {
    for (size_t n = 0; n < 2; n++) {
        const struct target_statement *at = i + n < block->statements.count ? block->statements.at[i + n] : NULL;
        if (!at || !p->dialect->loads_wide || at->kind != TARGET_STORE || at->of_pair != (int)n + 1 ||
            at->value->kind != TARGET_EXPR_ELEMENT || !at->value->array->is_packed)
            return false;
    }
    return true;
}

static void print_pair(struct printer *p, struct target_statement *const *stores) {
    use_part(p, true, PART_PAIR_STORES);
    print_indent(p);
    text_add(p->out, "fcl_store_pair(");
    print_address(p, stores[0]->array, stores[0]->index);
    for (int n = 0; n < 2; n++) {
        text_add(p->out, ", ");
        print_expr(p, stores[n]->value, PRECEDENCE_ANY);
    }
    text_add(p->out, ");\n");
}

static void print_block(struct printer *p, const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *next = block->statements.at[i];
        if (next->kind != TARGET_FOR && next->kind != TARGET_WHILE) /* in which it stands behind pragmas */
            print_line_of(p, next->span);
        int count = wide_load(p, block, i);
        if (stores_pair(p, block, i)) {
            print_pair(p, &block->statements.at[i++]);
        } else if (count > 0) {
            print_wide_load(p, block->statements.at[i], count);
            i += (size_t)count - 1;
        } else {
            print_statement(p, block->statements.at[i]);
        }
    }
}

/* ---- kernels and files ---- */

static void print_parameter(struct printer *p, const struct target_parameter *parameter) {
    const struct dialect *d = p->dialect;
    const char *type = memory_type(d, parameter->base);
    if (parameter->kind == TARGET_PARAMETER_SCALAR)
        text_printf(p->out, "%s %s", type, parameter->name);
    else
        text_printf(p->out, "%s%s%s *%s%s", d->pointees[parameter->array->space], parameter->is_const ? "const " : "",
                    type, parameter->is_met ? "" : arena_printf(p->out->arena, "%s ", d->restrict_word),
                    parameter->name);
}

void print_parameters(struct printer *p, const struct target_kernel *kernel, const char *more) {
    size_t length = strlen(kernel->name) + strlen(more);
    for (size_t i = 0; i < kernel->parameters.count; i++)
        length += strlen(kernel->parameters.at[i].name) + 24;
    const char *separator = length > 130 ? ",\n    " : ", ";
    text_add(p->out, length > 130 ? "\n    " : "");
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        text_add(p->out, i ? separator : "");
        print_parameter(p, &kernel->parameters.at[i]);
    }
    text_printf(p->out, "%s%s", *more && kernel->parameters.count ? separator : "", more);
}

void print_kernel(struct printer *p, const struct target_kernel *kernel) {
    p->is_approximate = kernel->approximates;
    p->is_loop = kernel->mapping == TARGET_LOOP && !p->dialect->is_plain;
    print_line_of(p, kernel->forall->users);
    p->dialect->kernel_head(p, kernel);
    print_body(p, &kernel->body);
    print_line_of(p, (struct span){0, 0});
    print_line(p, "}");
    if (p->place.source)
        text_add(p->out, "#line 1 \"fclc\"\n");
    p->place.source = NULL;
    if (p->dialect->kernel_tail)
        p->dialect->kernel_tail(p, kernel);
}

/* The FCL kernels that launch it. */
static const char *users_of(struct arena *arena, const struct target_kernel *kernel,
                            const struct target_program *const *programs, size_t count) {
    struct text users;
    text_init(&users, arena);
    size_t user_count = 0;
    for (size_t i = 0; i < count; i++) {
        bool uses = false;
        for (size_t k = 0; k < programs[i]->kernels.count; k++)
            uses |= programs[i]->kernels.at[k] == kernel || programs[i]->kernels.at[k]->same == kernel;
        if (uses)
            text_printf(&users, "%s%s", user_count++ ? ", " : "", programs[i]->kernel->name->text);
    }
    return arena_printf(arena, "kernel%s %s", user_count > 1 ? "s" : "", text_string(&users));
}

const char *backend_kernel(struct arena *arena, const struct target *target, const struct target_kernel *kernel) {
    struct text out;
    text_init(&out, arena);
    struct printer *p = ARENA_NEW(arena, struct printer);
    p->out = &out;
    p->dialect = target->dialect;
    struct target_kernel renamed = *kernel;
    renamed.name = "kernel";
    print_contract(p, &renamed, "kernel");
    print_kernel(p, &renamed);
    return text_string(&out);
}

static void print_file_head(struct printer *p) {
    bool are_whole = p->warp_threads == 64;
    use_part(p, true, PART_HEAD);
    use_part(p, p->helpers[OP_CONVERT][BASE_F16][BASE_F32] || p->helpers[OP_CONVERT][BASE_F32][BASE_F16], PART_HALVES);
    use_part(p, p->quirks & quirk_bit(QUIRK_CHOSEN_LOADS), PART_APART);
    use_part(p, true, are_whole ? PART_LANES_64 : PART_LANES_32);
    const struct quirk_row *safe = &quirks[QUIRK_SAFE_LOOPS];
    struct text macros;
    text_init(&macros, p->out->arena);
    quirks_print(&macros, p->quirks, p->dialect->where);
    use_part(p, macros.length, PART_QUIRKS);
    const struct text_word words[] = {
        {"MACROS_OF_QUIRKS\n", text_string(&macros)},
        {"QUIRK_SAFE_LOOPS", arena_printf(p->out->arena, "%s /* %s */", safe->guard, safe->what)},
        {"NO_LANES", are_whole ? "0ull" : "0u"},
        {0}};
    if (p->dialect->head)
        parts_print(p->out, p->dialect->head, p->parts, words, "");
}

static void print_matrices(struct printer *p) {
    part_set common = p->products[BASE_F32] ? part_bit(PART_ROUNDED_FLOATS) : 0;
    for (enum base base = 0; base < BASE_COUNT; base++)
        common |= p->products[base] & part_bit(PART_HELD_ROWS);
    const struct text_word none = {0};
    if (common)
        parts_print(p->out, p->dialect->matrices, common, &none, "\n");
    for (enum base base = 0; base < BASE_COUNT; base++)
        if (p->products[base])
            parts_print(p->out, p->dialect->matrices, p->products[base] & ~common, p->dialect->products[base], "\n");
}

void backend_print(struct text *out, const struct target *target, const struct target_program *const *programs,
                   size_t count, const struct backend_options *options) {
    /* The kernels first, to learn which helpers they need. */
    struct text kernels;
    text_init(&kernels, out->arena);
    struct printer *p = ARENA_NEW(out->arena, struct printer);
    p->out = &kernels;
    p->dialect = target->dialect;
    p->are_first = options->is_linked;
    p->lines = options->lines;
    p->quirks = options->is_unoptimised ? quirk_bit(QUIRK_COUNTED_DOWN) : 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < programs[i]->kernels.count; k++) {
            const struct target_kernel *kernel = programs[i]->kernels.at[k];
            if (kernel->same)
                continue;
            use_part(p, kernel->uses_double, PART_DOUBLES);
            use_part(p, kernel->uses_atomic64, PART_ATOMICS64);
            use_part(p, kernel->mapping == TARGET_LOOP, PART_LOOPS);
            use_part(p, kernel->has_scalar_loops, PART_SCALAR_LOOPS);
            use_part(p, kernel->needs_warps, PART_WARPS);
            p->quirks |= kernel->quirks;
            p->warp_threads = kernel->warp_threads;
            text_add(&kernels, kernels.length ? "\n" : "");
            print_contract(p, kernel, users_of(out->arena, kernel, programs, count));
            print_kernel(p, kernel);
        }
    text_printf(out, "/* Generated by fclc %s%s%s; do not edit. */\n", options->version ? options->version : "",
                options->source ? " from " : "", options->source ? text_in_comment(out->arena, options->source) : "");
    text_add(out, options->notes ? options->notes : "");
    p->out = out;
    print_file_head(p);
    text_add(out, "\n");
    print_helpers(p);
    print_matrices(p);
    text_add(out, text_string(&kernels));
}
