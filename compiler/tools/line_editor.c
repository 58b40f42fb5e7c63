/* Lines by libedit, through the interface that it has in common with GNU Readline; see
   line_editor.h. */
#include "tools/line_editor.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/fatal.h"

typedef char *generator(const char *text, int state);
typedef char **completer(const char *text, int start, int end);

struct line_editor {
    bool is_prompted; /* somebody sits there */
    void *library;    /* NULL: none */
    const char *history;
    line_words *words;
    void *context;
    size_t index; /* of the next word to offer */
    char *(*readline)(const char *prompt);
    int (*add_history)(const char *line);
    int (*read_history)(const char *path);
    int (*write_history)(const char *path);
    char **(*completion_matches)(const char *text, generator *generate);
};

/* libedit has no place for a context. */
static struct line_editor *current;

static char *next_word(const char *text, int state) {
    if (state == 0)
        current->index = 0;
    const char *word = current->words(current->context, text, current->index++);
    return word ? strdup(word) : NULL;
}

/* There are no files to complete: what no word begins with stays. */
static char **complete(const char *text, int start, int end) {
    (void)start, (void)end;
    return current->completion_matches(text, next_word);
}

static char *complete_nothing(const char *text, int state) {
    (void)text, (void)state;
    return NULL;
}

static bool find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static void set_variable(void *library, const char *name, const void *value) {
    void *variable = dlsym(library, name);
    if (variable)
        memcpy(variable, value, sizeof(void *));
}

static void load(struct line_editor *editor) {
    void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    if (!find(library, "readline", &editor->readline) || !find(library, "add_history", &editor->add_history) ||
        !find(library, "read_history", &editor->read_history) ||
        !find(library, "write_history", &editor->write_history) ||
        !find(library, "rl_completion_matches", &editor->completion_matches)) {
        dlclose(library);
        return;
    }
    editor->library = library;
    completer *completes = complete;
    generator *entries = complete_nothing;
    const char *program = "fclc", *ends = " \t\n\"()[]{},<>=+-*/%!.|&^~:";
    set_variable(library, "rl_readline_name", &program);
    set_variable(library, "rl_attempted_completion_function", &completes);
    set_variable(library, "rl_completion_entry_function", &entries);
    set_variable(library, "rl_basic_word_break_characters", &ends);
    set_variable(library, "rl_completer_word_break_characters", &ends);
    if (editor->history)
        editor->read_history(editor->history);
}

struct line_editor *line_editor_open(const char *history, line_words *words, void *context) {
    struct line_editor *editor = calloc(1, sizeof *editor);
    if (!editor)
        fatal_out_of_memory(sizeof *editor);
    editor->history = history;
    editor->words = words;
    editor->context = context;
    editor->is_prompted = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    current = editor;
    if (editor->is_prompted)
        load(editor);
    return editor;
}

char *line_editor_read(struct line_editor *editor, const char *prompt) {
    if (editor->library)
        return editor->readline(prompt);
    if (editor->is_prompted) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&line, &capacity, stdin);
    if (length < 0) {
        free(line);
        return NULL;
    }
    if (length > 0 && line[length - 1] == '\n')
        line[length - 1] = '\0';
    return line;
}

void line_editor_remember(struct line_editor *editor, const char *text) {
    if (editor->library && *text)
        editor->add_history(text);
}

void line_editor_close(struct line_editor *editor) {
    if (editor->library && editor->history)
        editor->write_history(editor->history);
    if (editor->is_prompted)
        putchar('\n');
    current = NULL;
    free(editor);
}
