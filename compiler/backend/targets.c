/* The table of targets, and the target of a name, a file or a program. */
#include <string.h>

#include "backend/print.h"
#include "map/map.h"

#define TARGET(name) extern const struct target target_##name;
#include "backend/target_list.h"
#undef TARGET

const struct target *const targets[] = {
#define TARGET(name) &target_##name,
#include "backend/target_list.h"
#undef TARGET
    NULL};

const struct target *target_named(const char *name) {
    for (size_t i = 0; targets[i]; i++)
        if (strcmp(targets[i]->name, name) == 0)
            return targets[i];
    return NULL;
}

/* A kind of device is called as its target, or `opencl-cpu`. */
const struct target *target_of_device(const char *kind) {
    for (size_t i = 0; targets[i]; i++) {
        size_t length = strlen(targets[i]->name);
        if (strncmp(targets[i]->name, kind, length) == 0 && (!kind[length] || kind[length] == '-'))
            return targets[i];
    }
    return NULL;
}

const struct machine *target_machine(const struct target *target, const char *kind) {
    if (!target->simt || (kind && target->loop && strcmp(kind, target->loop->device) == 0))
        return target->loop;
    return target->simt;
}
