/* Answers questions about target IR. */
#include "map/target.h"

bool target_has_scratch(const struct target_kernel *kernel) {
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].kind == TARGET_PARAMETER_SCRATCH)
            return true;
    return false;
}

int target_units(const struct target_kernel *kernel, enum level_value unit) {
    return unit == LEVEL_THREAD ? kernel->block_threads
           : unit == LEVEL_WARP ? kernel->block_threads / kernel->warp_threads
                                : 1;
}

size_t target_element_bytes(enum base base) { return (size_t)base_info[base].bits / 8; }

int64_t target_spare_bytes(const struct target_kernel *kernel) {
    for (size_t i = 0; i < kernel->parameters.count && kernel->dynamic.count; i++)
        if (kernel->parameters.at[i].kind == TARGET_PARAMETER_REPORT)
            return 16;
    return 0;
}

int64_t target_dynamic_bytes(const struct target_kernel *kernel, target_value_of *value_of, void *context) {
    int64_t bytes = kernel->dynamic_fixed_bytes + target_spare_bytes(kernel);
    for (size_t i = 0; i < kernel->dynamic.count; i++) {
        const struct target_dynamic *dynamic = &kernel->dynamic.at[i];
        int64_t capacity =
            dynamic->capacity->is_constant ? dynamic->capacity->constant.integer : value_of(context, dynamic->capacity);
        int64_t part = capacity * (int64_t)dynamic->element_bytes * (int64_t)dynamic->copies;
        bytes += (part + 15) / 16 * 16;
    }
    return bytes;
}

bool target_reports(const struct target_kernel *kernel) {
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].kind == TARGET_PARAMETER_REPORT)
            return true;
    return false;
}

bool target_any_reports(const struct target_program *program) {
    for (size_t i = 0; i < program->kernels.count; i++)
        if (target_reports(program->kernels.at[i]))
            return true;
    return false;
}

bool target_ends_launches(const struct target_program *program) {
    for (size_t i = 0; i < program->kernels.count; i++)
        if (target_reports(program->kernels.at[i]) && !program->kernels.at[i]->only_notes)
            return true;
    return false;
}

const struct target_kernel *target_outside(const struct target_program *program) {
    for (size_t i = 0; i < program->kernels.count; i++)
        if (program->kernels.at[i]->outside)
            return program->kernels.at[i];
    return NULL;
}

const struct target_kernel *target_kernel_of(const struct target_program *program,
                                             const struct ir_instruction *forall) {
    for (size_t i = 0; i < program->kernels.count; i++)
        if (program->kernels.at[i]->forall == forall)
            return program->kernels.at[i];
    return NULL;
}
