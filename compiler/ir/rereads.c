/* Finds arrays that are stored for nothing: each element is read once, by the thread that wrote
   it. Nothing is changed here: later passes may keep such elements in registers, and the
   programmer is told (kernel->rereads).

   A thread is the iteration of a parallel loop: the array is stored by one such loop and read by
   one behind it in the same region, with as many iterations, each of which touches the element of
   its own index, and that once. */
#include "ir/pass_list.h"
#include "support/map.h"

struct touches {
    struct ir_buffer *buffer;
    const struct ir_instruction *stored, *loaded; /* the loops */
    int stores, loads;
    bool is_other; /* touched in another way */
};

struct search {
    struct arena *arena;
    struct map *touches; /* by buffer */
    VEC(struct touches *) all;
};

static struct touches *touches_of(struct search *s, struct ir_buffer *buffer) {
    struct touches *touches = map_get(s->touches, buffer);
    if (!touches) {
        touches = ARENA_NEW(s->arena, struct touches);
        touches->buffer = buffer;
        map_set(s->touches, buffer, touches);
        vec_push(s->arena, &s->all, touches);
    }
    return touches;
}

static void note(struct search *s, const struct ir_instruction *instruction, const struct ir_instruction *loop) {
    struct touches *touches = touches_of(s, instruction->buffer);
    bool is_own = loop && instruction->operands[0] == loop->parameters[0] && !instruction->is_volatile;
    bool is_store = instruction->kind == IR_STORE;
    touches->is_other |= !is_own || !(is_store || instruction->kind == IR_LOAD);
    if (is_store) {
        touches->stores++;
        touches->stored = loop;
    } else {
        touches->loads++;
        touches->loaded = loop;
    }
}

/* `loop`: the parallel loop whose iteration this is, or NULL. */
static void look(struct search *s, const struct ir_region *region, const struct ir_instruction *loop) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        const struct ir_instruction *inner = loop;
        switch (instruction->kind) {
        case IR_LOAD:
        case IR_STORE:
        case IR_ATOMIC: note(s, instruction, loop); break;
        case IR_SWAP:
            touches_of(s, instruction->buffer)->is_other = true;
            touches_of(s, IR_PART(instruction, swap).other)->is_other = true;
            break;
        case IR_FORALL: inner = instruction->inner == LEVEL_THREAD ? instruction : NULL; break;
        case IR_FOR:
        case IR_WHILE: inner = NULL; break; /* what is in it comes more than once */
        default: break;
        }
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r])
                look(s, instruction->regions[r], inner);
    }
}

static bool is_read_once(const struct touches *t) {
    const struct ir_instruction *stored = t->stored, *loaded = t->loaded;
    return !t->is_other && !t->buffer->is_result && !ir_is_constant_memory(t->buffer) && t->stores == 1 &&
           t->loads == 1 && stored != loaded && stored->region == loaded->region && stored->outer == loaded->outer &&
           stored->operands[0] == loaded->operands[0];
}

/* Where one `force` stores several arrays, as those of a tuple's components, their readers may
   share what it has computed. In a branch each, they are the same array of whole chunks and of the
   last one: then it must be stored for nothing in both, and is told of once. */
static bool is_needless(const struct search *s, size_t index) {
    const struct touches *t = s->all.at[index];
    if (!t->buffer->is_plain || !is_read_once(t))
        return false;
    struct span span = t->buffer->span;
    for (size_t i = 0; i < s->all.count; i++) {
        const struct touches *other = s->all.at[i];
        bool is_same = other->buffer->span.begin == span.begin && other->buffer->span.end == span.end;
        if (i != index && is_same && (i < index || !is_read_once(other) || other->stored->region == t->stored->region))
            return false;
    }
    return true;
}

void pass_rereads(struct arena *arena, struct ir_kernel *kernel) {
    struct search s = {.arena = arena, .touches = map_new(arena)};
    look(&s, kernel->body, NULL);
    for (size_t i = 0; i < s.all.count; i++)
        if (is_needless(&s, i))
            vec_push(arena, &kernel->rereads, s.all.at[i]->buffer->span);
}
