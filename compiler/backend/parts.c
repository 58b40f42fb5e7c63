/* Parts of texts; see parts.h. */
#include "backend/parts.h"

#include <string.h>

#include "support/fatal.h"

static const char *const names[PART_COUNT] = {
#define TEXT_PART(id) #id,
#include "backend/parts.def"
#undef TEXT_PART
};

struct found {
    enum part part;
    part_set wants;
    const char *text, *end; /* from the line behind its mark to the blank line before the next one */
};

/* The part that is named at `*at`, which moves behind the name. */
static enum part read_name(const char **at) {
    size_t length = strcspn(*at, ": \n");
    for (enum part part = 0; part < PART_COUNT; part++)
        if (strlen(names[part]) == length && strncmp(*at, names[part], length) == 0) {
            *at += length;
            return part;
        }
    fatal_internal("parts", "no part is called `%.*s`", (int)length, *at);
}

/* Finds the next part from `*at` on, which moves to its end; false: there is none. */
static bool find_part(const char **at, struct found *found) {
    static const char mark[] = "\n//@ ";
    const char *line = strstr(*at, mark);
    if (!line)
        return false;
    line += strlen(mark);
    found->part = read_name(&line);
    found->wants = 0;
    for (line += *line == ':'; *line == ' ';) {
        line++;
        found->wants |= part_bit(read_name(&line));
    }
    found->end = strstr(line, mark);
    if (!found->end)
        found->end = line + strlen(line);
    found->text = line < found->end ? line + 1 : line;
    *at = found->end;
    return true;
}

static part_set with_wanted(const char *text, part_set wanted) {
    struct found found;
    for (part_set before = 0; before != wanted;) {
        before = wanted;
        for (const char *at = text; find_part(&at, &found);)
            wanted |= wanted & part_bit(found.part) ? found.wants : 0;
    }
    return wanted;
}

void parts_print(struct text *out, const char *text, part_set wanted, const struct text_word *words,
                 const char *after) {
    struct found found;
    wanted = with_wanted(text, wanted);
    while (find_part(&text, &found)) {
        if (!(wanted & part_bit(found.part)))
            continue;
        for (const char *line = found.text, *next; line < found.end; line = next) {
            next = line + strcspn(line, "\n") + 1;
            if (strncmp(line, "//", 2) != 0)
                text_add_replaced(out, line, (size_t)(next - line), words);
        }
        text_add(out, after);
    }
}
