/* The target IR in a spelling of no language in particular: FCL's type names, no casts, no helpers. Also what sizes in
   comments are printed with. */
#include "backend/print.h"

static void kernel_head(struct printer *p, const struct target_kernel *kernel) {
    text_printf(p->out, "kernel %s (", kernel->name);
    print_parameters(p, kernel, "");
    text_add(p->out, ") {\n");
}

static const char *atomic(enum ir_atomic atomic, enum base base) {
    static const char *const names[ATOMIC_COUNT] = {
        "atomic_add", "atomic_min", "atomic_max",      "atomic_and",
        "atomic_or",  "atomic_xor", "atomic_exchange", "atomic_compare_exchange"};
    (void)base;
    return names[atomic];
}

const struct dialect dialect_dump = {
    .types =
        {
#define BASE(id, name, ...) [BASE_##id] = name,
            BASE_TYPES(BASE)
#undef BASE
        },
    .byte = "bool",
    .spaces = {"global ", "shared ", "private ", "table "},
    .pointees = {"global ", "shared ", "private ", "table "},
    .restrict_word = "",
    .suffix_i64 = "",
    .suffix_u64 = "",
    .hardware = {[TARGET_BLOCK_ID] = {"block_id", PRECEDENCE_PRIMARY},
                 [TARGET_BLOCK_COUNT] = {"block_count", PRECEDENCE_PRIMARY},
                 [TARGET_THREAD_ID] = {"thread_id", PRECEDENCE_PRIMARY},
                 [TARGET_THREAD_COUNT] = {"thread_count", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_THREAD_ID] = {"global_thread_id", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_THREAD_COUNT] = {"global_thread_count", PRECEDENCE_PRIMARY},
                 [TARGET_WARP_ID] = {"warp_id", PRECEDENCE_PRIMARY},
                 [TARGET_WARP_COUNT] = {"warp_count", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_WARP_ID] = {"global_warp_id", PRECEDENCE_PRIMARY},
                 [TARGET_GLOBAL_WARP_COUNT] = {"global_warp_count", PRECEDENCE_PRIMARY},
                 [TARGET_LANE_ID] = {"lane_id", PRECEDENCE_PRIMARY},
                 [TARGET_LANE_NUMBERS] = {"lane_numbers", PRECEDENCE_PRIMARY},
                 [TARGET_LANE_COUNT] = {"lane_count", PRECEDENCE_PRIMARY}},
    .infinity = {"infinity", "infinity"},
    .has_rsqrt = true,
    .block_barrier = "barrier block;",
    .global_barrier = "barrier block, global memory;",
    .warp_barrier = "barrier warp;",
    .shuffle = {[TARGET_EXCHANGE_AT] = "shuffle(",
                [TARGET_EXCHANGE_UP] = "shuffle_up(",
                [TARGET_EXCHANGE_DOWN] = "shuffle_down(",
                [TARGET_EXCHANGE_XOR] = "shuffle_xor(",
                [TARGET_EXCHANGE_MATCH] = "match("},
    .ballot = "ballot(",
    .fence = "fence;",
    .block_fence = "block fence;",
    .atomic = atomic,
    .unroll = "unrolled",
    .vectors = {[TARGET_VECTORS_WANTED] = "simd",
                [TARGET_VECTORS_WANTED_EIGHT] = "simd of eight",
                [TARGET_VECTORS_EIGHT] = "at most eight",
                [TARGET_VECTORS_NONE] = "scalar",
                [TARGET_VECTORS_WITHIN] = "scalar"},
    .alignment = " aligned %d",
    .is_plain = true,
    .kernel_head = kernel_head,
};

void backend_dump(struct text *out, const struct target_program *program) {
    struct printer *p = ARENA_NEW(out->arena, struct printer);
    p->out = out;
    p->dialect = &dialect_dump;
    for (size_t i = 0; i < program->kernels.count; i++) {
        text_add(out, i ? "\n" : "");
        print_contract(p, program->kernels.at[i], arena_printf(out->arena, "kernel %s", program->kernel->name->text));
        print_kernel(p, program->kernels.at[i]);
    }
}
