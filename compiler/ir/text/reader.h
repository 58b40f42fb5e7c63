/* Declarations that the files which read the IR from text share. Private to them.

   A line is an instruction, `{` begins a region and `}` ends it. The first mistake ends the reading. Numbers that the
   text gives values are kept; names get numbers behind these. */
#ifndef FCL_IR_TEXT_READER_H
#define FCL_IR_TEXT_READER_H

#include <setjmp.h>

#include "ir/text/text.h"
#include "support/map.h"

enum { MOST_NUMBERS = 1 << 22, MOST_ELEMENTS = 1 << 20, DEEPEST_REGION = 1000 };

enum token_kind {
    TOKEN_WORD,
    TOKEN_VALUE,
    TOKEN_BUFFER,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_SIGN,
    TOKEN_LINE,
    TOKEN_END
};
struct ir_token {
    enum token_kind kind;
    const char *text; /* without %, @ and quotes; a sign is a character, or `..` */
    struct span span;
};

typedef VEC(struct ir_value *) value_list;

struct path;
struct where { /* a site is in its program */
    struct path *path;
    unsigned line, column;
    struct ir_kernel *kernel;
    size_t site;
};

struct reader {
    struct arena *arena;
    struct symbols *symbols;
    struct sources *sources;
    const struct source *source;
    struct diagnostics *diagnostics;
    jmp_buf failure;
    size_t at; /* in the source's text */
    struct ir_token token, before;
    int depth;         /* of regions */
    struct map *paths; /* of the places of checks: symbol → struct path */
    VEC(struct where) wheres;

    /* The state of one kernel: */
    struct ir_kernel *kernel;
    struct map *values, *buffers, *constants; /* symbol → them */
    struct map *is_numbered;                  /* values whose number the text gives */
    struct map *unknown;                      /* values that nothing makes, and what is computed of them */
    value_list all;                           /* values, constants too */
    uint32_t next_buffer;
    struct {
        VEC(struct ir_buffer *) of;
        VEC(struct ir_token) is;
    } capacities; /* that are values, defined later */
    VEC(struct span) takes_spans, parameter_spans, result_spans;
    struct span gives_span;
};

/* ---- read_tokens.c: tokens, constants, values ---- */

/* Ends the reading, with an error at that place. */
_Noreturn void reader_fail(struct reader *r, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void reader_expected(struct reader *r, const char *what);
/* Is the next token that word or sign? */
bool reader_is(const struct reader *r, const char *text);
/* The same, and it is taken where it is. */
bool reader_accept(struct reader *r, const char *text);
void reader_expect(struct reader *r, const char *text);
const char *reader_take(struct reader *r, enum token_kind kind, const char *what);
void reader_end_line(struct reader *r);
int64_t reader_integer(struct reader *r, int64_t least, int64_t most);
void reader_next(struct reader *r);
bool reader_is_word(int c);
struct ir_value *reader_read_constant(struct reader *r);
struct ir_value *reader_value_named(struct reader *r, const struct ir_token *token);
struct ir_value *reader_value(struct reader *r);
void reader_values(struct reader *r, value_list *list);
bool reader_is_base(const struct reader *r);
enum base reader_base(struct reader *r);
bool reader_number_of(struct reader *r, const struct ir_token *token, uint32_t *number);
struct ir_value *reader_definition(struct reader *r, struct ir_region *region);

/* ---- read_body.c: buffers and instructions ---- */

struct ir_buffer *reader_buffer_use(struct reader *r);
void reader_buffer(struct reader *r);
void reader_region(struct reader *r, struct ir_region *region);
struct ir_region *reader_new_region(struct reader *r, struct ir_instruction *owner, enum level_value ambient);
enum level_value reader_level(struct reader *r);
void reader_open(struct reader *r);
void reader_close(struct reader *r);

/* ---- read_rules.c ---- */

/* Checks the text's promises of the kernel that was read. */
void reader_check_kernel(struct reader *r);

#endif
