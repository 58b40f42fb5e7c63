/* The core as text: a definition a paragraph, S-expressions with the instances that names carry. */
#include <stdlib.h>

#include "support/map.h"
#include "types/core.h"

enum { MOST_INDENT = 100 }; /* deeper nesting is shown by no more blanks, which would be most of the text */

static void indent(struct text *out, int depth) {
    text_printf(out, "\n%*s", (depth < MOST_INDENT ? depth : MOST_INDENT) * 2, "");
}

/* A local's number stands behind this until number_locals makes it one of its definition. */
enum { LOCAL_MARK = 1 };

static void dump_local(struct text *out, const struct core_local *local) {
    text_printf(out, "%s%c%u", local->name ? local->name->text : "_", LOCAL_MARK, (unsigned)local->id);
}

/* Locals are numbered through the whole program; shown are their numbers within the definition, by
   first mention, so that a change elsewhere changes nothing here. */
static void number_locals(struct text *out, const char *definition) {
    struct map *numbers = map_new(out->arena);
    for (const char *c = definition; *c;) {
        if (*c != LOCAL_MARK) {
            text_add_n(out, c++, 1);
            continue;
        }
        char *end;
        const void *key = (const void *)(uintptr_t)(strtoul(c + 1, &end, 10) + 1);
        if (!map_has(numbers, key))
            map_set(numbers, key, (void *)(uintptr_t)(map_count(numbers) + 1));
        text_printf(out, ".%u", (unsigned)(uintptr_t)map_get(numbers, key));
        c = end;
    }
}

static void dump_instance(struct text *out, const struct core_instance *instance) {
    const struct scheme *scheme = instance->scheme;
    if (!scheme || (scheme->type_count == 0 && scheme->proper_count == 0))
        return;
    text_add(out, "{");
    for (size_t i = 0; instance->levels && i < scheme->proper_count; i++) {
        text_add(out, i ? ", <" : "<");
        level_print(out, instance->levels[i]);
        text_add(out, ">");
    }
    for (size_t i = 0; instance->types && i < scheme->type_count; i++) {
        text_add(out, i || scheme->proper_count ? ", " : "");
        type_print(out, instance->types[i]);
    }
    text_add(out, "}");
}

static void dump_literal(struct text *out, const struct core *core) {
    if (core->literal.is_bool)
        text_add(out, core->literal.magnitude ? "true" : "false");
    else if (core->literal.is_floating)
        text_printf(out, "%.17g", core->literal.floating.as_double);
    else
        text_printf(out, "%llu", (unsigned long long)core->literal.magnitude);
    text_add(out, ":");
    type_print(out, type_without_levels(core->type));
}

static void dump(struct text *out, const struct core *core, int depth);

static void dump_child(struct text *out, const struct core *core, int depth) {
    if (!core_part(core, 0) && core->kind != CORE_LIST)
        text_add(out, " ");
    else
        indent(out, depth + 1);
    dump(out, core, depth + 1);
}

static void dump_apply(struct text *out, const struct core *core, int depth) {
    if (core->kind != CORE_APPLY) {
        dump(out, core, depth);
        return;
    }
    dump_apply(out, core->apply.function, depth);
    dump_child(out, core->apply.argument, depth);
}

static void dump(struct text *out, const struct core *core, int depth) {
    switch (core->kind) {
    case CORE_LITERAL: dump_literal(out, core); break;
    case CORE_LOCAL:
        dump_local(out, core->local.local);
        dump_instance(out, &core->local.instance);
        break;
    case CORE_GLOBAL:
        text_add(out, core->global.global->name->text);
        dump_instance(out, &core->global.instance);
        break;
    case CORE_PRIMITIVE:
        text_add(out, primitive_info[core->primitive.primitive].name);
        dump_instance(out, &core->primitive.instance);
        break;
    case CORE_CONFIG: text_add(out, core_config_info[core->config].name); break;
    case CORE_LAMBDA:
        text_add(out, "(fn ");
        dump_local(out, core->lambda.parameter);
        dump_child(out, core->lambda.body, depth);
        text_add(out, ")");
        break;
    case CORE_APPLY:
        text_add(out, "(");
        dump_apply(out, core, depth);
        text_add(out, ")");
        break;
    case CORE_LET:
        text_add(out, "(let ");
        dump_local(out, core->let.local);
        if (core->let.scheme) {
            text_add(out, " : ");
            scheme_print(out, core->let.scheme, true);
        }
        dump_child(out, core->let.value, depth);
        indent(out, depth); /* a chain of lets stays at its depth */
        dump(out, core->let.body, depth);
        text_add(out, ")");
        break;
    case CORE_IF:
        text_add(out, "(if");
        dump_child(out, core->conditional.condition, depth);
        dump_child(out, core->conditional.then_branch, depth);
        dump_child(out, core->conditional.else_branch, depth);
        text_add(out, ")");
        break;
    case CORE_TUPLE:
    case CORE_LIST:
        text_add(out, core->kind == CORE_TUPLE ? "(tuple" : "(list");
        for (size_t i = 0; i < core->sequence.count; i++)
            dump_child(out, core->sequence.items[i], depth);
        text_add(out, ")");
        break;
    case CORE_ZERO: text_add(out, "zero"); break;
    case CORE_SELECT:
        text_printf(out, "(select %zu", core->select.index);
        dump_child(out, core->select.tuple, depth);
        text_add(out, ")");
        break;
    }
}

void core_dump(struct text *out, const struct program *program, bool with_prelude) {
    static const char *const words[] = {"fun", "val", "kernel", "param"};
    for (size_t i = 0; i < program->globals.count; i++) {
        const struct core_global *global = program->globals.at[i];
        if (global->from_prelude && !with_prelude)
            continue;
        text_printf(out, "%s %s : ", words[global->kind], global->name->text);
        scheme_print(out, global->scheme, true);
        struct text body;
        text_init(&body, out->arena);
        indent(&body, 1);
        dump(&body, global->body, 1);
        number_locals(out, text_string(&body));
        text_add(out, "\n");
    }
}
