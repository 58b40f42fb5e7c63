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
    const char *name;       /* then, behind a colon, the names of those that it wants */
    const char *text, *end; /* from the line behind its mark to the blank lines and comments before the next one */
};

/* The end of a part: behind it come blank lines and comments of the file. */
static const char *without_rest(const char *text, const char *end) {
    for (const char *line = end; line > text;) {
        do
            line--;
        while (line > text && line[-1] != '\n');
        if (*line != '\n' && strncmp(line, "//", 2) != 0)
            break;
        end = line;
    }
    return end;
}

/* Finds the next part from `*at` on, which moves to its end; false: there is none. */
static bool find_part(const char **at, struct found *found) {
    static const char mark[] = "\n//@ ";
    const char *line = strstr(*at, mark);
    if (!line)
        return false;
    found->name = line + strlen(mark);
    found->text = found->name + strcspn(found->name, "\n");
    found->end = strstr(found->text, mark);
    if (!found->end)
        found->end = found->text + strlen(found->text);
    *at = found->end;
    found->text += found->text < found->end;
    found->end = without_rest(found->text, found->end);
    return true;
}

static bool is_called(const struct found *found, const char *name) {
    return strcspn(found->name, ": \n") == strlen(name) && strncmp(found->name, name, strlen(name)) == 0;
}

static void print_found(struct text *out, const struct found *found, const struct text_word *words) {
    for (const char *line = found->text, *next; line < found->end; line = next) {
        next = line + strcspn(line, "\n") + 1;
        if (strncmp(line, "//", 2) != 0)
            text_add_replaced(out, line, (size_t)(next - line), words);
    }
}

void part_print(struct text *out, const char *text, const char *name, const struct text_word *words) {
    struct found found;
    do {
        if (!find_part(&text, &found))
            fatal_internal("parts", "no part is called `%s`", name);
    } while (!is_called(&found, name));
    print_found(out, &found, words);
}

/* ---- sets of parts ---- */

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

static part_set with_wanted(const char *text, part_set wanted) {
    struct found found;
    for (part_set before = 0; before != wanted;) {
        before = wanted;
        for (const char *at = text; find_part(&at, &found);) {
            const char *name = found.name;
            bool is_wanted = wanted & part_bit(read_name(&name));
            for (name += *name == ':'; *name == ' ' && is_wanted;) {
                name++;
                wanted |= part_bit(read_name(&name));
            }
        }
    }
    return wanted;
}

void parts_print(struct text *out, const char *text, part_set wanted, const struct text_word *words,
                 const char *after) {
    struct found found;
    wanted = with_wanted(text, wanted);
    while (find_part(&text, &found)) {
        if (!(wanted & part_bit(read_name(&found.name))))
            continue;
        print_found(out, &found, words);
        text_add(out, after);
    }
}
