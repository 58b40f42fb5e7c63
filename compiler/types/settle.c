/* The last look at a definition: links disappear from its types, what nothing decided gets its default, and literals
   are checked against the types they got. */
#include <math.h>

#include "types/checker.h"

static struct level *settle_level(struct checker *c, struct level *level) {
    struct level view = level_view(level);
    if (view.variable && view.variable->depth != DEPTH_QUANTIFIED) {
        int value = 0;
        while (value < LEVEL_VALUE_COUNT - 1 && !(view.variable->domain & (1u << value)))
            value++;
        view.variable->link = level_constant(c, (enum level_value)value);
        view = level_view(level);
    }
    if (!view.variable)
        return level_constant(c, view.value < LEVEL_VALUE_COUNT ? view.value : LEVEL_GRID);
    if (level->variable != view.variable || level->offset != view.offset)
        *level = view;
    return level;
}

static struct type *settle_type(struct checker *c, struct type *type) {
    type = type_resolve(type);
    if (type->is_settled)
        return type;
    if (type->kind == TYPE_VARIABLE) {
        struct type_variable *variable = type->variable;
        if (variable->depth == DEPTH_QUANTIFIED)
            return type;
        variable->link = c->base_types[variable->classes & CLASS_FLOATING ? BASE_F64 : BASE_I32];
        return variable->link;
    }
    type->is_settled = true;
    for (size_t i = 0; type_part(type, i); i++)
        *type_part(type, i) = settle_type(c, *type_part(type, i));
    if (type_level(type))
        *type_level(type) = settle_level(c, *type_level(type));
    struct type *is = type_resolve(type); /* what is stored may be known now */
    return is == type ? type : settle_type(c, is);
}

void settle_scheme(struct checker *c, struct scheme *scheme) {
    scheme->type = settle_type(c, scheme->type);
    for (size_t i = 0; i < scheme->constraints.count; i++) {
        struct level_constraint *k = &scheme->constraints.at[i];
        k->a = settle_level(c, k->a);
        k->b = settle_level(c, k->b);
    }
}

static void settle_instance(struct checker *c, struct core_instance *instance) {
    if (!instance->scheme)
        return;
    for (size_t i = 0; instance->types && i < instance->scheme->type_count; i++)
        instance->types[i] = settle_type(c, instance->types[i]);
    for (size_t i = 0; instance->levels && i < instance->scheme->level_count; i++)
        instance->levels[i] = settle_level(c, instance->levels[i]);
}

void settle_core(struct checker *c, struct core *core) {
    core->type = settle_type(c, core->type);
    if (core->kind == CORE_LOCAL)
        settle_instance(c, &core->local.instance);
    else if (core->kind == CORE_GLOBAL)
        settle_instance(c, &core->global.instance);
    else if (core->kind == CORE_PRIMITIVE)
        settle_instance(c, &core->primitive.instance);
    else if (core->kind == CORE_LET && core->let.scheme)
        settle_scheme(c, (struct scheme *)(uintptr_t)core->let.scheme);
    for (size_t i = 0; core_part(core, i); i++)
        settle_core(c, core_part(core, i));
}

/* ---- literals ---- */

/* Overflows of a floating base; the hint says what it holds, and names a wider one that holds the number. */
static void check_size(struct checker *c, const struct core *core, enum base base) {
    static const struct {
        enum base base;
        const char *most;
    } largest[] = {
        {BASE_F16, "an f16 holds up to 65504"},
        {BASE_BF16, "a bf16 holds up to 3.39e38"},
        {BASE_F32, "a float holds up to 3.4e38"},
        {BASE_F64, "a double holds up to 1.8e308"},
    };
    if (!isinf(core_floating(core, base)))
        return;
    struct diagnostic *d = diag_error(c->diagnostics, DIAG_LITERAL_RANGE, core->span, "this number does not fit `%s`",
                                      base_info[base].name);
    const char *own = "", *wider = "";
    for (size_t i = 0; i < sizeof largest / sizeof *largest; i++)
        if (largest[i].base == base)
            own = largest[i].most;
        else if (!base_info[largest[i].base].is_narrow && !*wider && !isinf(core_floating(core, largest[i].base)))
            wider = largest[i].most;
    diag_hint(c->diagnostics, d, "%s%s%s; `1.0 / 0.0` is infinite", own, *wider ? ", " : "", wider);
}

static void check_literal(struct checker *c, const struct literal_check *check) {
    const struct core *core = check->core;
    struct type *type = type_without_levels(core->type);
    if (type->kind == TYPE_ERROR)
        return;
    if (check->too_large) {
        struct diagnostic *d =
            diag_error(c->diagnostics, DIAG_LITERAL_RANGE, core->span, "this number does not fit any integer type");
        if (type->kind == TYPE_BASE && base_info[type->base].is_floating)
            diag_hint(c->diagnostics, d, "`.0` after it makes it a `%s`", base_info[type->base].name);
        return;
    }
    if (core->literal.is_floating) {
        bool is_known = type->kind == TYPE_BASE && base_info[type->base].is_floating;
        check_size(c, core, is_known ? type->base : BASE_F64);
        return;
    }
    if (type->kind == TYPE_BASE && base_info[type->base].is_floating && isinf(core_floating(core, type->base))) {
        check_size(c, core, type->base);
        return;
    }
    if (type->kind != TYPE_BASE || !base_info[type->base].is_integer)
        return;
    const struct base_info *info = &base_info[type->base];
    int value_bits = info->bits - info->is_signed;
    uint64_t largest = value_bits == 64 ? UINT64_MAX : (UINT64_C(1) << value_bits) - 1;
    uint64_t lowest = info->is_signed ? largest + 1 : 0; /* its magnitude */
    uint64_t magnitude = core->literal.magnitude;
    if (magnitude <= (check->is_negated ? lowest : largest))
        return;
    const char *minus = check->is_negated ? "-" : "";
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_LITERAL_RANGE, core->span,
                   "%s%llu does not fit `%s`, which holds %s%llu to %llu", minus, (unsigned long long)magnitude,
                   info->name, info->is_signed ? "-" : "", (unsigned long long)lowest, (unsigned long long)largest);
    if (!info->is_signed && check->is_negated && magnitude <= largest)
        diag_hint(c->diagnostics, d, "the `%s` with these bits is %llu", info->name,
                  (unsigned long long)(largest - magnitude + 1));
    else if (info->bits == 32 && !(check->is_negated && magnitude > (uint64_t)INT64_MAX + 1))
        diag_hint(c->diagnostics, d, "a suffix gives it a wider type: `%s%llu%s`", minus, (unsigned long long)magnitude,
                  magnitude > INT64_MAX && !check->is_negated ? "u64" : "i64");
}

void check_literals(struct checker *c) {
    for (size_t i = 0; i < c->literals.count; i++)
        check_literal(c, &c->literals.at[i]);
    c->literals.count = 0;
}
