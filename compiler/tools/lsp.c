/* fclc lsp: the language server. It speaks JSON-RPC on standard input and output, and keeps the
   documents that are open.

   note [children]
   Whatever looks at a program runs in a child process, which has the documents by being a copy of
   the server, and writes its answer to a pipe. So a program that takes too long, or the compiler
   down, costs an answer and nothing else, and memory needs no care. Answers are waited for, a few
   milliseconds. The diagnostics of a document are not: their child is ended when the document
   changes, and writes what the checker finds first, then what compiling finds. */
#define _GNU_SOURCE /* memmem */
#include "tools/lsp.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/commands.h"
#include "driver/later_stages.h"
#include "driver/output.h"
#include "tools/timing.h"
#include "support/fatal.h"

enum {
    ANSWER_SECONDS = 10,
    DIAGNOSTICS_SECONDS = 30,
    TYPING_MILLISECONDS = 60, /* without a change, before diagnostics are looked for */
    HEADER_LARGEST = 64 * 1024,
    MESSAGE_LARGEST = 256 * 1024 * 1024,
};
enum {
    ERROR_PARSE = -32700,
    ERROR_REQUEST = -32600,
    ERROR_METHOD = -32601,
    ERROR_INTERNAL = -32603,
    ERROR_FAILED = -32803,
    ERROR_NOT_INITIALIZED = -32002
};

struct bytes { /* on the heap: the server runs for days */
    char *at;
    size_t length, capacity;
};

/* A child that writes to us. */
struct child {
    pid_t id; /* 0: none */
    int pipe;
    struct bytes written;
    double deadline;
};

struct server {
    struct options *options;
    struct arena *arena; /* of the list of documents */
    lsp_documents documents;
    lsp_folders folders;                /* of the workspace */
    VEC(struct lsp_document *) changed; /* whose diagnostics are to be looked for, once each */
    double changed_at;
    struct bytes input;
    struct child diagnosing;
    const struct lsp_document *diagnosed;
    bool has_published; /* of that child */
    bool is_initialized, is_shut_down, has_ended;
    enum exit_status status;
};

/* ---- messages ---- */

static void bytes_add(struct bytes *bytes, const char *from, size_t length) {
    if (bytes->capacity - bytes->length < length + 1) {
        bytes->capacity = (bytes->capacity + length) * 2 + 4096;
        char *larger = realloc(bytes->at, bytes->capacity);
        if (!larger)
            fatal_out_of_memory(bytes->capacity);
        bytes->at = larger;
    }
    memcpy(bytes->at + bytes->length, from, length);
    bytes->length += length;
    bytes->at[bytes->length] = '\0';
}

static void bytes_drop(struct bytes *bytes, size_t count) {
    memmove(bytes->at, bytes->at + count, bytes->length - count + 1);
    bytes->length -= count;
}

/* Adds what there is to read; false: the other end has closed. */
static bool bytes_read(struct bytes *bytes, int from) {
    char buffer[65536];
    ssize_t got;
    do
        got = read(from, buffer, sizeof buffer);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        bytes_add(bytes, buffer, (size_t)got);
    return got > 0;
}

static void send_text(const char *text) {
    printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
    fflush(stdout);
}

static void respond(struct arena *arena, yyjson_val *id, const char *result) {
    yyjson_alc *none = NULL;
    char *shown = yyjson_val_write_opts(id, 0, none, NULL, NULL);
    send_text(arena_printf(arena, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", shown ? shown : "null", result));
    free(shown);
}

static void respond_error(struct arena *arena, yyjson_val *id, int code, const char *message) {
    char *shown = id ? yyjson_val_write_opts(id, 0, NULL, NULL, NULL) : NULL;
    yyjson_mut_doc *json = json_new(arena);
    send_text(arena_printf(arena, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":%s}}",
                           shown ? shown : "null", code, json_write(arena, json_text(json, arena, message))));
    free(shown);
}

static void notify(struct arena *arena, const char *method, const char *params) {
    send_text(arena_printf(arena, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s}", method, params));
}

static void publish(struct arena *arena, const char *params) {
    notify(arena, "textDocument/publishDiagnostics", params);
}

/* ---- children; see note [children] ---- */

static void write_line(int to, struct arena *arena, const yyjson_mut_val *value) {
    const char *text = arena_printf(arena, "%s\n", json_write(arena, value));
    if (!output_pipe(to, text, strlen(text)))
        _exit(FATAL_EXIT_STATUS);
}

/* In the child gives true, with where to write; its standard input and output are not for it. */
static bool child_start(struct child *child, int seconds, int *to) {
    int ends[2];
    child->id = 0;
    child->written.length = 0;
    fflush(stdout);
    if (pipe(ends) != 0)
        return false;
    pid_t id = fork();
    if (id == 0) {
        close(ends[0]);
        if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout))
            _exit(FATAL_EXIT_STATUS);
        *to = ends[1];
        return true;
    }
    close(ends[1]);
    if (id < 0) {
        close(ends[0]);
        return false;
    }
    child->id = id;
    child->pipe = ends[0];
    child->deadline = timing_now() + seconds;
    return false;
}

/* How the child ended: NULL: well. */
static const char *child_end(struct arena *arena, struct child *child, bool is_late) {
    int status = 0;
    if (is_late)
        kill(child->id, SIGKILL);
    while (waitpid(child->id, &status, 0) < 0 && errno == EINTR)
        continue;
    close(child->pipe);
    child->id = 0;
    if (is_late)
        return "the compiler was stopped: it took too long";
    if (WIFSIGNALED(status))
        return arena_printf(arena, "the compiler has crashed (signal %d): this is a bug in it", WTERMSIG(status));
    return WEXITSTATUS(status) ? "the compiler has failed: this is a bug in it" : NULL;
}

static int milliseconds_until(double deadline) {
    double left = deadline - timing_now();
    return left > 0 ? (int)(left * 1000) + 1 : 0;
}

/* ---- answers ---- */

static const struct {
    const char *method;
    lsp_answer *answer;
} answers[] = {
    {"textDocument/hover", lsp_hover},
    {"textDocument/definition", lsp_definition},
    {"textDocument/references", lsp_references},
    {"textDocument/documentHighlight", lsp_highlight},
    {"textDocument/prepareRename", lsp_prepare_rename},
    {"textDocument/rename", lsp_rename},
    {"textDocument/completion", lsp_completion},
    {"textDocument/signatureHelp", lsp_signature},
    {"textDocument/inlayHint", lsp_inlays},
    {"textDocument/formatting", lsp_format},
    {"textDocument/codeAction", lsp_actions},
    {"textDocument/documentSymbol", lsp_symbols},
};

static lsp_answer *answer_to(const char *method) {
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (strcmp(answers[i].method, method) == 0)
            return answers[i].answer;
    return NULL;
}

static struct lsp_document *find_document(const struct server *s, const char *uri) {
    for (size_t i = 0; uri && i < s->documents.count; i++)
        if (strcmp(s->documents.at[i]->uri, uri) == 0)
            return s->documents.at[i];
    return NULL;
}

static const char *uri_of(yyjson_val *params) {
    return yyjson_get_str(yyjson_obj_get(yyjson_obj_get(params, "textDocument"), "uri"));
}

static _Noreturn void answer_in_child(struct server *s, int to, lsp_answer *answer, const struct lsp_document *document,
                                      yyjson_val *params) {
    struct arena *arena = arena_new();
    yyjson_mut_doc *json = json_new(arena);
    struct lsp_view *view = lsp_view_open(arena, s->options, &s->documents, document);
    view->folders = &s->folders;
    yyjson_mut_val *result = view->source ? answer(view, json, params) : yyjson_mut_null(json);
    write_line(to, arena, result);
    _exit(0);
}

static void answer_request(struct server *s, struct arena *arena, yyjson_val *id, lsp_answer *answer,
                           yyjson_val *params) {
    const struct lsp_document *document = find_document(s, uri_of(params));
    if (!document) {
        respond_error(arena, id, ERROR_REQUEST, "the document is not open");
        return;
    }
    struct child child = {0};
    int to;
    if (child_start(&child, ANSWER_SECONDS, &to))
        answer_in_child(s, to, answer, document, params);
    const char *failure = "no process could be started";
    if (child.id) {
        bool is_open = true, is_late = false;
        while (is_open && !is_late) {
            struct pollfd end = {.fd = child.pipe, .events = POLLIN};
            is_late = poll(&end, 1, milliseconds_until(child.deadline)) == 0;
            if (!is_late)
                is_open = bytes_read(&child.written, child.pipe);
        }
        failure = child_end(arena, &child, is_late);
    }
    const char *why, *refusal = NULL;
    if (!failure) {
        yyjson_val *result = json_read(arena, child.written.at, child.written.length, &why);
        refusal = yyjson_get_str(yyjson_obj_get(result, LSP_REFUSAL));
    }
    if (failure || refusal)
        respond_error(arena, id, failure ? ERROR_INTERNAL : ERROR_FAILED, failure ? failure : refusal);
    else
        respond(arena, id, child.written.at);
    free(child.written.at);
}

/* ---- diagnostics ---- */

struct failing {
    int to;
    const struct lsp_document *document;
};

/* The compiler's own end is an error of the document, too. */
static void tell_of_failure(void *context, const char *message) {
    const struct failing *failing = context;
    fatal_set_handler(NULL, NULL);
    struct arena *arena = arena_new();
    yyjson_mut_doc *json = json_new(arena);
    write_line(failing->to, arena,
               lsp_diagnostics_of_failure(json, failing->document->uri, failing->document->version, message));
    _exit(0);
}

static _Noreturn void diagnose_in_child(struct server *s, int to, const struct lsp_document *document) {
    struct failing failing = {to, document};
    fatal_set_handler(tell_of_failure, &failing);
    struct arena *arena = arena_new();
    struct lsp_view *view = lsp_view_open(arena, s->options, &s->documents, document);
    if (!view->source)
        tell_of_failure(&failing, "the prelude is not found; set FCL_PRELUDE to its directory");
    write_line(to, arena, lsp_diagnostics(view, json_new(arena)));
    if (view->status == EXIT_GOOD && compilation_is_good(view->c)) {
        check_later_stages(view->c);
        write_line(to, arena, lsp_diagnostics(view, json_new(arena)));
    }
    _exit(0);
}

static void stop_diagnosing(struct server *s) {
    if (!s->diagnosing.id)
        return;
    struct arena *arena = arena_new();
    child_end(arena, &s->diagnosing, true);
    arena_free(arena);
}

static void start_diagnosing(struct server *s) {
    const struct lsp_document *document = s->changed.at[0];
    memmove(s->changed.at, s->changed.at + 1, --s->changed.count * sizeof *s->changed.at);
    s->diagnosed = document;
    s->has_published = false;
    int to;
    if (child_start(&s->diagnosing, DIAGNOSTICS_SECONDS, &to))
        diagnose_in_child(s, to, document);
}

static void publish_lines(struct server *s, struct arena *arena) {
    struct bytes *written = &s->diagnosing.written;
    for (char *newline; written->length && (newline = memchr(written->at, '\n', written->length));) {
        *newline = '\0';
        publish(arena, written->at);
        s->has_published = true;
        bytes_drop(written, (size_t)(newline - written->at) + 1);
    }
}

/* Takes what the child has written, and notes when it has ended or is late. */
static void go_on_diagnosing(struct server *s, bool is_late) {
    struct arena *arena = arena_new();
    bool is_open = !is_late && bytes_read(&s->diagnosing.written, s->diagnosing.pipe);
    publish_lines(s, arena);
    if (!is_open) {
        const char *failure = child_end(arena, &s->diagnosing, is_late);
        if (failure && !s->has_published)
            publish(arena, json_write(arena, lsp_diagnostics_of_failure(json_new(arena), s->diagnosed->uri,
                                                                        s->diagnosed->version, failure)));
        else if (failure)
            fprintf(stderr, "fclc lsp: %s: %s\n", s->diagnosed->path, failure);
    }
    arena_free(arena);
}

static void look_at(struct server *s, struct lsp_document *document) {
    s->changed_at = timing_now();
    if (s->diagnosing.id && s->diagnosed == document)
        stop_diagnosing(s);
    for (size_t i = 0; i < s->changed.count; i++)
        if (s->changed.at[i] == document)
            return;
    vec_push(s->arena, &s->changed, document);
}

/* ---- documents ---- */

static void set_text(struct lsp_document *document, yyjson_val *text, yyjson_val *version) {
    free((char *)document->text);
    document->length = yyjson_get_len(text);
    char *copy = malloc(document->length + 1);
    if (!copy)
        fatal_out_of_memory(document->length);
    memcpy(copy, document->length ? yyjson_get_str(text) : "", document->length);
    copy[document->length] = '\0';
    document->text = copy;
    document->version = yyjson_get_sint(version);
}

/* Others may import it. */
static void look_at_others(struct server *s, const struct lsp_document *document) {
    for (size_t i = 0; i < s->documents.count; i++)
        if (s->documents.at[i] != document)
            look_at(s, s->documents.at[i]);
}

static void open_document(struct server *s, yyjson_val *params) {
    yyjson_val *item = yyjson_obj_get(params, "textDocument");
    const char *uri = uri_of(params);
    if (!uri || !yyjson_is_str(yyjson_obj_get(item, "text")))
        return;
    struct lsp_document *document = find_document(s, uri);
    if (!document) {
        document = ARENA_NEW(s->arena, struct lsp_document);
        document->uri = arena_strndup(s->arena, uri, strlen(uri));
        document->path = lsp_path_of_uri(s->arena, uri);
        vec_push(s->arena, &s->documents, document);
    }
    set_text(document, yyjson_obj_get(item, "text"), yyjson_obj_get(item, "version"));
    look_at(s, document);
}

static void change_document(struct server *s, yyjson_val *params) {
    struct lsp_document *document = find_document(s, uri_of(params));
    yyjson_val *changes = yyjson_obj_get(params, "contentChanges");
    yyjson_val *text = yyjson_obj_get(yyjson_arr_get_last(changes), "text");
    if (!document || !yyjson_is_str(text))
        return;
    set_text(document, text, yyjson_obj_get(yyjson_obj_get(params, "textDocument"), "version"));
    look_at(s, document);
    look_at_others(s, document);
}

static void save_document(struct server *s, yyjson_val *params) {
    struct lsp_document *document = find_document(s, uri_of(params));
    if (document)
        look_at(s, document);
}

static void close_document(struct server *s, yyjson_val *params) {
    struct lsp_document *document = find_document(s, uri_of(params));
    if (!document)
        return;
    if (s->diagnosing.id && s->diagnosed == document)
        stop_diagnosing(s);
    size_t kept = 0;
    for (size_t i = 0; i < s->documents.count; i++)
        if (s->documents.at[i] != document)
            s->documents.at[kept++] = s->documents.at[i];
    s->documents.count = kept;
    kept = 0;
    for (size_t i = 0; i < s->changed.count; i++)
        if (s->changed.at[i] != document)
            s->changed.at[kept++] = s->changed.at[i];
    s->changed.count = kept;
    struct arena *arena = arena_new();
    yyjson_mut_doc *json = json_new(arena);
    yyjson_mut_val *none = yyjson_mut_obj(json);
    json_add_text(json, arena, none, "uri", document->uri);
    json_add_array(json, none, "diagnostics");
    publish(arena, json_write(arena, none));
    arena_free(arena);
    free((char *)document->text);
    document->text = NULL;
}

static const struct {
    const char *method;
    void (*take)(struct server *s, yyjson_val *params);
} notifications[] = {
    {"textDocument/didOpen", open_document},
    {"textDocument/didChange", change_document},
    {"textDocument/didSave", save_document},
    {"textDocument/didClose", close_document},
};

/* ---- the session ---- */

static const char capabilities[] = "{\"capabilities\":{"
                                   "\"positionEncoding\":\"utf-16\","
                                   "\"textDocumentSync\":{\"openClose\":true,\"change\":1,\"save\":true},"
                                   "\"hoverProvider\":true,"
                                   "\"definitionProvider\":true,"
                                   "\"referencesProvider\":true,"
                                   "\"documentHighlightProvider\":true,"
                                   "\"renameProvider\":{\"prepareProvider\":true},"
                                   "\"completionProvider\":{\"triggerCharacters\":[\"#\",\"<\",\"\\\"\"]},"
                                   "\"signatureHelpProvider\":{\"triggerCharacters\":[\" \"]},"
                                   "\"inlayHintProvider\":true,"
                                   "\"documentFormattingProvider\":true,"
                                   "\"codeActionProvider\":{\"codeActionKinds\":[\"quickfix\",\"refactor\"]},"
                                   "\"documentSymbolProvider\":true},"
                                   "\"serverInfo\":{\"name\":\"fclc\",\"version\":\"" FCLC_VERSION "\"}}";

static void add_folder(struct server *s, const char *uri) {
    if (uri && strncmp(uri, "file://", strlen("file://")) == 0)
        vec_push(s->arena, &s->folders, lsp_path_of_uri(s->arena, uri));
}

/* Takes the folders of the editor's workspace: older editors tell of one. */
static void take_folders(struct server *s, yyjson_val *params) {
    yyjson_val *folders = yyjson_obj_get(params, "workspaceFolders");
    if (!yyjson_is_arr(folders))
        add_folder(s, yyjson_get_str(yyjson_obj_get(params, "rootUri")));
    for (size_t i = 0; i < yyjson_arr_size(folders); i++)
        add_folder(s, yyjson_get_str(yyjson_obj_get(yyjson_arr_get(folders, i), "uri")));
}

static void take_request(struct server *s, struct arena *arena, yyjson_val *id, const char *method,
                         yyjson_val *params) {
    lsp_answer *answer = answer_to(method);
    if (strcmp(method, "initialize") == 0) {
        s->is_initialized = true;
        take_folders(s, params);
        respond(arena, id, capabilities);
    } else if (!s->is_initialized) {
        respond_error(arena, id, ERROR_NOT_INITIALIZED, "`initialize` comes first");
    } else if (s->is_shut_down) {
        respond_error(arena, id, ERROR_REQUEST, "the server was shut down");
    } else if (strcmp(method, "shutdown") == 0) {
        s->is_shut_down = true;
        respond(arena, id, "null");
    } else if (answer) {
        answer_request(s, arena, id, answer, params);
    } else {
        respond_error(arena, id, ERROR_METHOD, arena_printf(arena, "no method `%s`", method));
    }
}

static void take_notification(struct server *s, const char *method, yyjson_val *params) {
    if (strcmp(method, "exit") == 0) {
        s->has_ended = true;
        s->status = s->is_shut_down ? EXIT_GOOD : EXIT_PROGRAM_WRONG;
    }
    for (size_t i = 0; s->is_initialized && i < sizeof notifications / sizeof *notifications; i++)
        if (strcmp(notifications[i].method, method) == 0)
            notifications[i].take(s, params);
}

static void take_message(struct server *s, const char *text, size_t length) {
    struct arena *arena = arena_new();
    const char *why;
    yyjson_val *message = json_read(arena, text, length, &why);
    const char *method = yyjson_get_str(yyjson_obj_get(message, "method"));
    yyjson_val *id = yyjson_obj_get(message, "id");
    yyjson_val *params = yyjson_obj_get(message, "params");
    if (!message)
        respond_error(arena, NULL, ERROR_PARSE, why);
    else if (method && id)
        take_request(s, arena, id, method, params);
    else if (method)
        take_notification(s, method, params);
    else if (id && !yyjson_obj_get(message, "result") && !yyjson_obj_get(message, "error"))
        respond_error(arena, id, ERROR_REQUEST, "a request has a method");
    arena_free(arena);
}

/* The header's end and the length that it gives; false: there is none yet. */
static bool find_message(struct server *s, size_t *begin, size_t *length) {
    static const char name[] = "Content-Length:";
    const char *end = s->input.length ? memmem(s->input.at, s->input.length, "\r\n\r\n", 4) : NULL;
    if (!end) {
        s->has_ended = s->input.length > HEADER_LARGEST;
        s->status = s->has_ended ? EXIT_USAGE : s->status;
        return false;
    }
    *begin = (size_t)(end - s->input.at) + 4;
    *length = 0;
    for (const char *line = s->input.at; line < end;
         line = (const char *)memmem(line, (size_t)(end + 2 - line), "\r\n", 2) + 2)
        if (strncasecmp(line, name, strlen(name)) == 0)
            *length = strtoull(line + strlen(name), NULL, 10);
    if (*length > MESSAGE_LARGEST) {
        s->has_ended = true;
        s->status = EXIT_USAGE;
    }
    return s->input.length - *begin >= *length;
}

static void take_messages(struct server *s) {
    size_t begin, length;
    while (!s->has_ended && find_message(s, &begin, &length) && !s->has_ended) {
        take_message(s, s->input.at + begin, length);
        bytes_drop(&s->input, begin + length);
    }
}

/* Waits for what comes next: a message, what the child writes, or that it is time for something. */
static void wait_and_act(struct server *s) {
    struct pollfd ends[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = s->diagnosing.id ? s->diagnosing.pipe : -1, .events = POLLIN}};
    double quiet = s->changed_at + 1e-3 * TYPING_MILLISECONDS;
    bool waits = s->changed.count && !s->diagnosing.id;
    int timeout = waits              ? milliseconds_until(quiet)
                  : s->diagnosing.id ? milliseconds_until(s->diagnosing.deadline)
                                     : -1;
    int ready = poll(ends, 2, timeout);
    if (ready < 0)
        return; /* a signal */
    if (ends[1].revents)
        go_on_diagnosing(s, false);
    if (ends[0].revents) {
        if (!bytes_read(&s->input, STDIN_FILENO)) {
            s->has_ended = true; /* without `exit`: the editor is gone */
            s->status = s->is_shut_down ? EXIT_GOOD : EXIT_PROGRAM_WRONG;
        }
        take_messages(s);
    }
    if (ready == 0 && waits)
        start_diagnosing(s);
    else if (ready == 0)
        go_on_diagnosing(s, true);
}

enum exit_status command_lsp(struct options *options) {
    struct server s = {.options = options, .arena = arena_new()};
    signal(SIGPIPE, SIG_IGN);
    while (!s.has_ended)
        wait_and_act(&s);
    stop_diagnosing(&s);
    for (size_t i = 0; i < s.documents.count; i++)
        free((char *)s.documents.at[i]->text);
    free(s.input.at);
    free(s.diagnosing.written.at);
    enum exit_status status = s.status;
    arena_free(s.arena);
    return status;
}
