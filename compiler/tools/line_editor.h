/* Reading lines at a prompt: with history and completion by libedit where the system has it (it is
   loaded when a prompt is opened), and plainly where it has not, or where nobody sits there. */
#ifndef FCL_TOOLS_LINE_EDITOR_H
#define FCL_TOOLS_LINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

/* The index-th word that begins with `text`; NULL: there are no more. */
typedef const char *line_words(void *context, const char *text, size_t index);

struct line_editor;

/* One at a time. `history`: a file, or NULL. */
struct line_editor *line_editor_open(const char *history, line_words *words, void *context);
/* A line without its end, from malloc; NULL: there are no more. */
char *line_editor_read(struct line_editor *editor, const char *prompt);
/* Keeps an entry, one line or several, for later. */
void line_editor_remember(struct line_editor *editor, const char *text);
void line_editor_close(struct line_editor *editor);

#endif
