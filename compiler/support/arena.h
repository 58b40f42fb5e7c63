/* Arenas: memory with one owner and one lifetime. Single nodes are never freed. */
#ifndef FCL_SUPPORT_ARENA_H
#define FCL_SUPPORT_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *arena);

/* Zeroed memory aligned for any type. Never returns NULL: out of memory ends the process through the
   handler installed by the driver (support/fatal.h). */
void *arena_alloc(struct arena *arena, size_t bytes);
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t arena_bytes(const struct arena *arena); /* bytes handed out so far */

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(count)))

#endif
