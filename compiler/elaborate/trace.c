/* `trace "label" x`: x, and a record of it for the host to print.

   note [traces]
   The driver decides where the output of a device's print appears, if anywhere. So a kernel leaves records in a
   buffer of its own. The host reads and prints them when the kernel has run (fcl_trace describes a record).
   The buffer is an ordinary one: each record takes its place by an atomic addition to the first word, so nothing else
   needs to know of traces. */
#include <string.h>

#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"
#include "support/text.h"

/* Words of 32 bits: 4 MiB, or some 200,000 records of a number. */
enum { TRACE_WORDS = 1 << 20 };

static struct ir_buffer *trace_buffer(struct elaborator *e) {
    struct ir_kernel *kernel = e->kernel;
    if (!kernel->trace) {
        kernel->trace =
            ir_buffer_new(e->builder, MEMORY_OUTPUT, LEVEL_GRID, BASE_U32, ir_int(e->builder, TRACE_WORDS), "trace");
        kernel->trace->rewritten = kernel->trace->is_zeroed = kernel->trace->is_result = true;
    }
    return kernel->trace;
}

/* The label's bytes; in a format, where `%` is doubled. */
static void add_label(struct elaborator *e, struct text *format, struct pull *label) {
    if (label->kind != PULL_LIST)
        elab_fail(e, DIAG_STRING_VALUE, e->span, "the label of `trace` is not written in quotes");
    int64_t length = label->length->constant.integer;
    for (int64_t i = 0; i < length; i++) {
        const struct ir_value *byte = elab_as_scalar(e, elab_index(e, label, ir_int(e->builder, i)));
        char c = (char)byte->constant.natural;
        if (!c)
            elab_fail(e, DIAG_STRING_VALUE, e->span, "the label of `trace` has a byte 0, which ends what is printed");
        text_printf(format, c == '%' ? "%%%%" : "%c", c);
    }
}

static void add_word(struct elaborator *e, ir_values *words, struct ir_value *value) {
    struct ir_builder *b = e->builder;
    const struct base_info *info = &base_info[value->base];
    if (info->is_narrow)
        value = ir_convert(b, value, BASE_F32);
    else if (info->bits < 32)
        value = ir_convert(b, value, BASE_I32);
    struct ir_value *bits = ir_bits(b, value);
    vec_push(e->arena, words, ir_convert(b, bits, BASE_U32));
    if (base_info[bits->base].bits == 64)
        vec_push(e->arena, words,
                 ir_convert(b,
                            ir_binary(b, OP_SHR, ir_convert(b, bits, BASE_U64),
                                      ir_constant(b, BASE_U64, (union scalar){.natural = 32})),
                            BASE_U32));
}

/* How fcl_trace prints a number of that type. */
static char directive_of(enum base base) {
    const struct base_info *info = &base_info[base];
    if (base == BASE_BOOL)
        return 'b';
    if (info->is_floating)
        return info->bits == 64 ? 'd' : 'f';
    if (info->bits == 64)
        return info->is_signed ? 'l' : 'n';
    return info->is_signed || info->bits < 32 ? 'i' : 'u';
}

static void add_value(struct elaborator *e, struct text *format, ir_values *words, struct elab_value *value) {
    if (value->kind == ELAB_TUPLE) {
        for (size_t i = 0; i < value->tuple.count; i++) {
            text_add(format, i ? "," : "(");
            add_value(e, format, words, value->tuple.items[i]);
        }
        text_add(format, ")");
        return;
    }
    struct ir_value *scalar = elab_as_scalar(e, value);
    text_printf(format, "%%%c", directive_of(scalar->base));
    add_word(e, words, scalar);
}

/* The indices of the parallel loops that this is in, outermost first. */
static bool add_place(struct elaborator *e, struct text *format, ir_values *words, const struct ir_region *region) {
    if (!region)
        return false;
    bool is_second = add_place(e, format, words, region->parent);
    const struct ir_instruction *loop = region->owner;
    if (!loop || loop->kind != IR_FORALL)
        return is_second;
    text_printf(format, "%s%s %%i", is_second ? ", " : " [", level_names[loop->inner]);
    add_word(e, words, loop->parameters[0]);
    return true;
}

static uint32_t add_site(struct elaborator *e, const char *format) {
    struct ir_kernel *kernel = e->kernel;
    for (size_t i = 0; i < kernel->traces.count; i++)
        if (strcmp(kernel->traces.at[i], format) == 0)
            return (uint32_t)i;
    vec_push(e->kept, &kernel->traces, arena_printf(e->kept, "%s", format));
    return (uint32_t)kernel->traces.count - 1;
}

static struct ir_value *word(struct elaborator *e, uint64_t natural) {
    return ir_constant(e->builder, BASE_U32, (union scalar){.natural = natural});
}

/* Writes a record; one thread runs this. See note [traces]. */
static void record(struct elaborator *e, const char *format, const ir_values *words) {
    struct ir_builder *b = e->builder;
    struct ir_buffer *trace = trace_buffer(e);
    uint64_t size = words->count + 1;
    struct ir_value *at = ir_atomic(b, ATOMIC_ADD, trace, ir_int(b, 0), word(e, size));
    ir_begin_if(b, ir_binary(b, OP_LT, at, word(e, TRACE_WORDS - size)));
    struct ir_value *place = ir_convert(b, at, BASE_I32);
    ir_bound(place, 0, TRACE_WORDS - (int64_t)size - 1);
    ir_store(b, trace, ir_binary(b, OP_ADD, place, ir_int(b, 1)), word(e, add_site(e, format)));
    for (size_t i = 0; i < words->count; i++)
        ir_store(b, trace, ir_binary(b, OP_ADD, place, ir_int(b, (int64_t)i + 2)), words->at[i]);
    ir_end_only(b);
}

PRIMITIVE(TRACE) {
    if (e->shape)
        return arguments[1];
    struct text format;
    text_init(&format, e->arena);
    ir_values words = {0};
    add_label(e, &format, elab_as_pull(e, arguments[0]));
    text_add(&format, add_place(e, &format, &words, ir_current(e->builder)) ? "]: " : ": ");
    add_value(e, &format, &words, arguments[1]);
    enum level_value level = ir_ambient(e->builder);
    struct ir_value *one = elab_begin_threads(e, level, ir_int(e->builder, 1));
    record(e, text_string(&format), &words);
    elab_end_threads(e, level, one);
    return arguments[1];
}
