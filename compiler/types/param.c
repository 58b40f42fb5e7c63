/* `param` declarations: a compile-time constant from the default or from -D, and the tuner's choices. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "types/checker.h"

static struct core *literal_core(struct checker *c, struct span span, enum base base) {
    return core_new(c, CORE_LITERAL, span, c->base_types[base]);
}

static bool fits_integer(const struct base_info *info, uint64_t magnitude, bool is_negative) {
    int bits = info->bits - info->is_signed;
    uint64_t largest = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (!is_negative)
        return magnitude <= largest;
    return info->is_signed ? magnitude <= largest + 1 : magnitude == 0;
}

static void set_integer(struct core *core, uint64_t magnitude, bool is_negative) {
    core->literal.magnitude = is_negative ? 0 - magnitude : magnitude;
}

static struct core *not_a_constant(struct checker *c, const struct ast_expr *expr, enum base base) {
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_PARAM_VALUE, expr->span,
                   "the value of a `param` of type `%s` is a literal of that type", base_info[base].name);
    diag_hint(c->diagnostics, d, "what is computed from params is a `val`");
    return NULL;
}

static struct core *out_of_range(struct checker *c, const struct ast_expr *expr, const struct base_info *info) {
    diag_error(c->diagnostics, DIAG_LITERAL_RANGE, expr->span, "this number does not fit `%s`", info->name);
    return NULL;
}

/* A literal, perhaps negated, of the param's type; NULL after an error. */
static struct core *constant_of(struct checker *c, const struct ast_expr *expr, enum base base) {
    const struct base_info *info = &base_info[base];
    const struct ast_expr *at = expr;
    bool is_negative = false;
    if (at->kind == EXPR_ERROR)
        return NULL;
    if (at->kind == EXPR_APPLY && at->apply.function->kind == EXPR_NAME &&
        at->apply.function->name.name == c->name_neg) {
        is_negative = true;
        at = at->apply.argument;
    }
    struct core *core = literal_core(c, expr->span, base);
    symbol suffix = at->kind == EXPR_INTEGER    ? at->integer.suffix
                    : at->kind == EXPR_FLOATING ? at->floating.suffix
                                                : NULL;
    enum base written;
    if (suffix && base_of_name(suffix->text, &written) && written != base)
        return not_a_constant(c, expr, base);
    if (at->kind == EXPR_BOOL && base == BASE_BOOL && !is_negative) {
        core->literal.is_bool = true;
        core->literal.magnitude = at->boolean;
    } else if (at->kind == EXPR_INTEGER && info->is_integer) {
        if (at->integer.too_large || !fits_integer(info, at->integer.value, is_negative))
            return out_of_range(c, expr, info);
        set_integer(core, at->integer.value, is_negative);
    } else if ((at->kind == EXPR_INTEGER || at->kind == EXPR_FLOATING) && info->is_floating) {
        struct floating value = at->floating.value;
        if (at->kind == EXPR_INTEGER)
            value = floating_of_natural(at->integer.value);
        core->literal.is_floating = true;
        core->literal.floating = is_negative ? floating_negated(value) : value;
        if (isinf(core_floating(core, base)) || (at->kind == EXPR_INTEGER && at->integer.too_large))
            return out_of_range(c, expr, info);
    } else {
        return not_a_constant(c, expr, base);
    }
    return core;
}

/* Without the `_` that stand between digits, as in a program. */
static const char *without_underscores(struct checker *c, const char *text) {
    char *plain = arena_strndup(c->arena, text, strlen(text)), *to = plain;
    for (const char *at = text; *at; at++)
        if (*at != '_' || at == text || !isxdigit((unsigned char)at[-1]) || !isxdigit((unsigned char)at[1]))
            *to++ = *at;
    *to = '\0';
    return plain;
}

/* The text of -D; NULL when it is no value of the type. */
static struct core *constant_of_text(struct checker *c, const char *written, enum base base, struct span span) {
    const char *text = without_underscores(c, written);
    const struct base_info *info = &base_info[base];
    struct core *core = literal_core(c, span, base);
    char *end = NULL;
    errno = 0;
    if (base == BASE_BOOL) {
        core->literal.is_bool = true;
        core->literal.magnitude = strcmp(text, "true") == 0;
        return core->literal.magnitude || strcmp(text, "false") == 0 ? core : NULL;
    }
    if (info->is_floating) {
        core->literal.is_floating = true;
        core->literal.floating = floating_read(text, &end);
        bool is_word = isalpha((unsigned char)text[strspn(text, "+-")]); /* inf */
        bool is_too_large = isinf(core_floating(core, base)) && !is_word;
        return text[0] && !*end && !is_too_large ? core : NULL;
    }
    bool is_negative = text[0] == '-';
    const char *digits = text + is_negative;
    int radix = 10;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'b')) {
        radix = digits[1] == 'x' ? 16 : 2;
        digits += 2;
    }
    if (digits[0] == '-' || digits[0] == '+' || digits[0] == ' ')
        return NULL;
    uint64_t magnitude = strtoull(digits, &end, radix);
    if (end == digits || *end || errno != 0 || !fits_integer(info, magnitude, is_negative))
        return NULL;
    set_integer(core, magnitude, is_negative);
    return core;
}

static bool same_constant(const struct core *a, const struct core *b) {
    return a->literal.is_floating ? core_floating(a, a->type->base) == core_floating(b, b->type->base)
                                  : a->literal.magnitude == b->literal.magnitude;
}

static const char *choices_text(struct checker *c, const struct core_global *global) {
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < global->choice_count; i++) {
        const struct core *choice = global->choices[i];
        text_add(&text, i ? ", " : "{");
        if (choice->literal.is_bool)
            text_add(&text, choice->literal.magnitude ? "true" : "false");
        else if (choice->literal.is_floating)
            text_printf(&text, "%g", choice->literal.floating.as_double);
        else
            text_printf(&text, "%lld", (long long)choice->literal.magnitude);
    }
    text_add(&text, "}");
    return text_string(&text);
}

static bool is_choice(const struct core_global *global, const struct core *value) {
    bool found = global->choice_count == 0;
    for (size_t i = 0; i < global->choice_count; i++)
        found |= same_constant(global->choices[i], value);
    return found;
}

static void reject_setting(struct checker *c, const struct ast_decl *decl, const struct param_setting *setting,
                           enum base base) {
    const char *text = setting->value;
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_PARAM_VALUE, decl->name_span, "-D %s=%s: `%s` is not a value of type `%s`",
                   setting->name, text, text, base_info[base].name);
    size_t digits = strspn(text, "-0123456789.");
    if (digits > 0 && (text[digits] == 'i' || text[digits] == 'u'))
        diag_hint(c->diagnostics, d, "the number has no suffix here: the `param` says its type");
}

/* The value, and the set to choose from. NULL after an error in the value. */
static struct core *check_constants(struct checker *c, struct core_global *global, const struct ast_decl *decl,
                                    enum base base, enum diag_code code) {
    struct core *value = constant_of(c, decl->body, base);
    global->choices = ARENA_ARRAY(c->arena, struct core *, decl->choices.count + 1);
    for (size_t i = 0; i < decl->choices.count; i++) {
        struct core *choice = constant_of(c, decl->choices.at[i], base);
        if (choice)
            global->choices[global->choice_count++] = choice;
    }
    if (value && !is_choice(global, value))
        diag_error(c->diagnostics, code, decl->body->span, "the default of `%s` is not among its choices %s",
                   global->name->text, choices_text(c, global));
    return value;
}

enum { MOST_BLOCK_THREADS = 1024 }; /* of every GPU; --block-size has the same bounds */

/* Says so when the number of a block's threads cannot be that. */
static bool is_block_size(struct checker *c, const struct ast_expr *expr) {
    if (expr->kind == EXPR_ERROR)
        return false;
    if (expr->kind != EXPR_INTEGER) {
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_LAUNCH_SHAPE, expr->span,
                                          "the threads of a block are a number that stands here, as in "
                                          "`with #BlockSize = 128`");
        const struct ast_expr *head = expr;
        while (head->kind == EXPR_APPLY && !head->apply.is_operator)
            head = head->apply.function;
        if (head != expr && head->kind == EXPR_INTEGER) {
            diag_hint(c->diagnostics, d, "parameters stand before it: `kernel f x with #BlockSize = %llu = e`",
                      (unsigned long long)head->integer.value);
            return false;
        }
        diag_hint(c->diagnostics, d,
                  "where it is to be found by trying, give it choices, `with #BlockSize = 128 in {64, 128, 256}`, and "
                  "let `fclc tune` choose; `--block-size` sets it for one run");
        return false;
    }
    if (expr->integer.suffix && strcmp(expr->integer.suffix->text, "i32") != 0) {
        diag_error(c->diagnostics, DIAG_LAUNCH_SHAPE, expr->span,
                   "`#BlockSize` is an `int`, and this number is of type `%s`", expr->integer.suffix->text);
        return false;
    }
    if (!expr->integer.too_large && expr->integer.value >= 1 && expr->integer.value <= MOST_BLOCK_THREADS)
        return true;
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_LAUNCH_SHAPE, expr->span, "a block has 1 to %d threads", MOST_BLOCK_THREADS);
    if (expr->integer.value != 0)
        diag_hint(c->diagnostics, d,
                  "more elements than threads are no problem: each thread takes several; how many elements a block "
                  "has is said by the chunks, `splitUp 4096 xs`");
    return false;
}

static void check_setting(struct checker *c, struct core_global *kernel, const struct ast_decl *setting) {
    if (!setting->body) {
        const char *name = setting->name->text;
#define LEAVE(field, word)                                                                                             \
    if (strcmp(name, word) == 0) {                                                                                     \
        if (kernel->field)                                                                                             \
            diag_error(c->diagnostics, DIAG_LAUNCH_SHAPE, setting->name_span, "`%s` is said twice", name);             \
        kernel->field = true;                                                                                          \
    }
#include "syntax/leaves.def"
#undef LEAVE
        return;
    }
    if (strcmp(setting->name->text, core_config_info[CONFIG_BLOCK_SIZE].name) != 0) {
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_LAUNCH_SHAPE, setting->name_span,
                                          "a kernel cannot set `%s`", setting->name->text);
        bool is_grid = strcmp(setting->name->text, core_config_info[CONFIG_GRID_SIZE].name) == 0;
        diag_hint(c->diagnostics, d, "%s",
                  is_grid ? "how many blocks there are follows from the chunks, and any number of them is right; "
                            "`--grid-size` sets the constant"
                          : "`with` says how many threads a block has: `with #BlockSize = 128`");
        return;
    }
    if (kernel->block_size) {
        diag_error(c->diagnostics, DIAG_LAUNCH_SHAPE, setting->name_span, "`#BlockSize` is said twice");
        return;
    }
    bool is_good = is_block_size(c, setting->body);
    for (size_t i = 0; i < setting->choices.count; i++)
        is_good &= is_block_size(c, setting->choices.at[i]);
    struct core_global *global = ARENA_NEW(c->arena, struct core_global);
    *global = (struct core_global){.kind = GLOBAL_PARAM,
                                   .name = setting->name,
                                   .span = setting->name_span,
                                   .source = kernel->source,
                                   .scheme = scheme_of_type(c, c->base_types[BASE_I32])};
    kernel->block_size = global;
    global->body = is_good ? check_constants(c, global, setting, BASE_I32, DIAG_LAUNCH_SHAPE) : NULL;
}

void check_launch(struct checker *c, struct core_global *kernel, const struct ast_decl *decl) {
    for (size_t i = 0; i < decl->launch.count; i++)
        check_setting(c, kernel, decl->launch.at[i]);
}

int64_t core_block_size(const struct core_global *kernel, int64_t otherwise) {
    return kernel->block_size ? (int64_t)kernel->block_size->body->literal.magnitude : otherwise;
}

void check_param(struct checker *c, struct core_global *global, const struct ast_decl *decl) {
    struct type *type = type_of_ast(c, decl->type, SIGNATURE_ANNOTATION, NULL);
    global->scheme = scheme_of_type(c, c->error_type);
    global->body = error_core(c, decl->span);
    if (type->kind == TYPE_ERROR)
        return;
    if (type->kind != TYPE_BASE) {
        diag_error(c->diagnostics, DIAG_PARAM_TYPE, decl->type->span, "a `param` is a scalar, but this is `%s`",
                   type_text(c, type));
        return;
    }
    global->scheme = scheme_of_type(c, type);
    struct core *value = check_constants(c, global, decl, type->base, DIAG_PARAM_VALUE);
    for (size_t i = 0; i < c->setting_count; i++) {
        struct param_setting *setting = &c->settings[i];
        if (strcmp(setting->name, global->name->text) != 0 || (setting->only && setting->only != c->scope->file))
            continue;
        setting->used = true;
        size_t errors = diag_error_count(c->diagnostics);
        struct core *set = constant_of_text(c, setting->value, type->base, decl->span);
        if (!set)
            reject_setting(c, decl, setting, type->base);
        else if (!is_choice(global, set))
            diag_error(c->diagnostics, DIAG_PARAM_VALUE, decl->name_span, "-D %s=%s: not among the choices %s",
                       setting->name, setting->value, choices_text(c, global));
        else
            value = set;
        setting->wrong = diag_error_count(c->diagnostics) != errors;
    }
    if (value)
        global->body = value;
}
