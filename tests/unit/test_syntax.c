/* Unit tests of compiler/syntax: precedence and forms through the dump of the tree, the FCL paper's programs, and
   the errors for common slips, deep nesting and malformed text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "syntax/draft.h"
#include "syntax/syntax.h"

struct result {
    struct arena *arena;
    size_t errors;
    const char *dump, *messages;
    const struct ast_file *file;
};

static struct result parse_bytes(const char *program, size_t length) {
    struct arena *arena = arena_new();
    struct sources *sources = sources_new(arena);
    struct diagnostics *diagnostics = diagnostics_new(arena, sources);
    const struct source *source = source_add(sources, "t.fcl", program, length);
    struct result result = {.arena = arena};
    result.file = syntax_parse(arena, symbols_new(arena), source, diagnostics);
    result.errors = diag_error_count(diagnostics);
    struct text text;
    text_init(&text, arena);
    syntax_dump_ast(&text, result.file);
    result.dump = text_string(&text);
    FILE *file = tmpfile();
    assert_non_null(file);
    diag_print_text(diagnostics, file, false, 0);
    char *messages = arena_alloc(arena, 1 << 16);
    rewind(file);
    messages[fread(messages, 1, (1 << 16) - 1, file)] = '\0';
    fclose(file);
    result.messages = messages;
    return result;
}

static struct result parse(const char *program) { return parse_bytes(program, strlen(program)); }

static void check_expression(const char *expression, const char *dump) {
    char program[512], wanted[512];
    snprintf(program, sizeof program, "val it = %s", expression);
    snprintf(wanted, sizeof wanted, "(val it %s)\n", dump);
    struct result result = parse(program);
    assert_string_equal(result.messages, "");
    assert_string_equal(result.dump, wanted);
    arena_free(result.arena);
}

static void check_declaration(const char *declaration, const char *dump) {
    struct result result = parse(declaration);
    assert_string_equal(result.messages, "");
    assert_string_equal(result.dump, dump);
    arena_free(result.arena);
}

/* `errors` errors, and `message` is among what is printed. */
static void check_error(const char *program, size_t errors, const char *message) {
    struct result result = parse(program);
    if (result.errors != errors || !strstr(result.messages, message))
        fail_msg("%s: %zu errors:\n%s", program, result.errors, result.messages);
    arena_free(result.arena);
}

static void test_precedence(void **state) {
    (void)state;
    check_expression("n-1 + n -1", "(- (+ (- n 1) n) 1)");
    check_expression("f (-1) - -x", "(- (f (neg 1)) (neg x))");
    check_expression("- a * b", "(* (neg a) b)");
    check_expression("not f x == b && c || d", "(|| (&& (== (not (f x)) b) c) d)");
    check_expression("a & b | c ^ d << 2 + 1", "(| (& a b) (^ c (<< d (+ 2 1))))");
    check_expression("f . g . h ! i", "(. f (. g (! h i)))");
    check_expression("m ! i ! j + 1", "(+ (! (! m i) j) 1)");
    check_expression("a div b mod c / d % e", "(% (/ (mod (div a b) c) d) e)");
    check_expression("1 + if c then a else b * 2", "(+ 1 (if c a (* b 2)))");
    check_expression("xs |> fn x => x + 1 |> h", "(|> xs (fn (x) (|> (+ x 1) h)))");
    check_expression("map fn x => x * 2", "(map (fn (x) (* x 2)))");
    check_expression("xs |> f |> g", "(|> (|> xs f) g)");
    check_expression("~x & not - y", "(& (~ x) (not (neg y)))");
}

static void test_sections(void **state) {
    (void)state;
    check_expression("f (+) (*) (-) (div) (not) (|>)", "(f + * - div not |>)");
    check_expression("(&&)", "(fn (a b) (&& a b))");
    check_expression("(+ 1)", "(+ 1)");
    check_expression("(- 1)", "(neg 1)");
}

static void test_levels(void **state) {
    (void)state;
    check_expression("push<block> xs", "(push <block> xs)");
    check_expression("f <l, 1+m> (g <grid>)", "(f <l, 1+m> (g <grid>))");
    check_expression("f<1+(1+Z)>", "(f <1+1+Z>)");
    check_expression("(i < n, x<y && z>w)", "(tuple (< i n) (&& (< x y) (> z w)))");
    check_expression("((a < b, c) > d)", "(> (tuple (< a b) c) d)");
    check_expression("fn <l> x => force . push <l>", "(fn <l> (x) (. force (push <l>)))");
    check_declaration("fun f<l>= 3", "(fun f <l> () 3)\n");
}

static void test_literals(void **state) {
    (void)state;
    check_expression("[1_000i64, 0xFFu8, 0b1_0, 18446744073709551615]", "(list 1000i64 255u8 2 18446744073709551615)");
    check_expression("[1.5f32, 1e-3, 2f64, 1_0.2_5]", "(list 1.5f32 0.001 2.0f64 10.25)");
    check_expression("18446744073709551616", "too-large");
    check_expression("(true, #BlockSize, [])", "(tuple true #BlockSize (list))");
    check_expression("x' (* a (* b *) (*) *) -- c\n y", "(x' y)");
}

static void test_bindings(void **state) {
    (void)state;
    check_expression("let i = n div rows  j = n mod rows in j * rows",
                     "(let ((i (div n rows)) (j (mod n rows))) (* j rows))");
    check_expression("let (a, (b, _)) = f x _ = 3 in a", "(let (((tuple a (tuple b _)) (f x)) (_ 3)) a)");
    check_expression("let f x (a, _) = x i = 1\n g <l> b = b\n in f",
                     "(let ((f (fn (x (tuple a _)) x)) (i 1) (g (fn <l> (b) b))) f)");
    check_expression("let x = let y = 1 in y z = 2 in z", "(let ((x (let ((y 1)) y)) (z 2)) z)");
    check_expression("fn (a, b) (c : int) => a", "(fn ((tuple a b) (: c int)) a)");
}

static void test_declarations(void **state) {
    (void)state;
    check_declaration("sig f : forall <l> a. num a, ord b => <l> -> (a -> 'b) -> pair a [b]<1+l> where l < m, k < m",
                      "(sig f forall l a. num a, ord b => <l> -> (a -> 'b) -> pair a [b]<1+l> where l < m, k < m)\n");
    check_declaration("type pair a b = (a, [b])", "(type pair (a b) (a, [b]))\n");
    check_declaration("param chunk : int = 1024 in {256, 512}", "(param chunk int 1024 (256 512))\n");
    check_declaration("import \"lib/x.fcl\"", "(import \"lib/x.fcl\")\n");
    check_declaration("kernel k (xs : [float]) = xs", "(kernel k ((: xs [float])) xs)\n");
    check_declaration("val forall = where", "(val forall where)\n");
    check_declaration("", "");
}

static void test_errors(void **state) {
    (void)state;
    check_error("val a = b < c < d", 1, "comparisons do not chain");
    check_error("fun f = 3", 1, "`val name = e`");
    check_error("fun f x = let y = (x\n in y\nval b = )", 2, "t.fcl:1:19: note: to close the `(` opened here");
    check_error("fun f x = let y = 1\nfun g x = if x then 2\nval c = 1", 2, "expected `in` before the keyword `fun`");
    check_error("val a = if b = 3 then 1 else 2", 1, "`==` compares");
    check_error("val a = let x == 3 in x", 1, "names are bound with `=`");
    check_error("val a = map (\\y -> y) xs", 1, "`fn x => e`");
    check_error("val a = map (fn y -> y) xs", 1, "`fn x => e`");
    check_error("sig f : int => int", 1, "function types are written with `->`");
    check_error("val a = let type = 3 in type", 1, "`type` is a keyword");
    check_error("val a = let x := 1; y = 2 in x", 2, "no assignment");
    check_error("val a = f ()", 1, "no unit value");
    check_error("val a = \"s", 1, "no closing");
    check_error("val a x = 1", 1, "`fun name x = e`");
    check_error("val a = let f 3 = 1 in f", 1, "`let f x = e`");
    check_error("val a = [1, 2\nval b = 3 )", 2, "there is no open `(`");
    check_error("val a = 12abc + 0x + 1. + 1__0 + 0b12", 5, "malformed number `0b12`");
    check_error("val a = (* (* *)", 1, "never closed");
    check_error("val a = \xE2\x86\x92 1", 1, "write `->`");
    check_error("val a = \x80\xFF 1", 1, "not UTF-8");
    check_error("val a = f <9+l>", 1, "no such level");
    struct result result = parse_bytes("val a = 1 \0 2", 13);
    assert_int_equal(result.errors, 1);
    arena_free(result.arena);
}

static void test_broken_definitions_keep_their_names(void **state) {
    (void)state;
    struct result result = parse("fun f x = ]\nval g = 1\nkernel k = = 2");
    assert_int_equal(result.errors, 2);
    assert_string_equal(result.dump, "(val f <error>)\n(val g 1)\n(val k <error>)\n");
    arena_free(result.arena);
}

/* `count` times `part` between `before` and `after`. */
static struct result parse_repeated(const char *before, const char *part, size_t count, const char *after) {
    struct arena *arena = arena_new();
    struct text text;
    text_init(&text, arena);
    text_add(&text, before);
    for (size_t i = 0; i < count; i++)
        text_add(&text, part);
    text_add(&text, after);
    struct result result = parse_bytes(text_string(&text), text.length);
    arena_free(arena);
    return result;
}

static void test_sizes(void **state) {
    (void)state;
    const struct {
        const char *before, *part;
        size_t count;
        const char *after;
        bool good;
    } cases[] = {
        {"val a = ", "1", 1000000, "", true},    {"val a = [", "1, ", 300000, "1]", true},
        {"", "fun f x = x\n", 100000, "", true}, {"val a = ", "- ", 9000, "1", true},
        {"val a = ", "1 + ", 4000, "1", true},   {"val a = ", "1 + ", 20000, "1", false},
        {"val a = ", "(", 1000000, "", false},   {"sig a : ", "a -> ", 100000, "a", false},
        {"sig a : ", "[", 300000, "", false},    {"val a = ", "fn x => ", 30000, "1", false},
        {"fun f ", "(x, ", 50000, "", false},    {"", "(*", 500000, "", false},
        {"val a = ", "$ ", 100000, "", false},   {"val a = let ", "x = 1 ", 100000, "in x", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result result = parse_repeated(cases[i].before, cases[i].part, cases[i].count, cases[i].after);
        if ((result.errors == 0) != cases[i].good)
            fail_msg("case %zu: %zu errors", i, result.errors);
        arena_free(result.arena);
    }
}

static void test_spans(void **state) {
    (void)state;
    struct result result = parse("val a = f (x + y) z");
    const struct ast_expr *outer = result.file->decls.at[0]->body;
    assert_int_equal(outer->span.begin, 9);
    assert_int_equal(outer->span.end, 20);
    const struct ast_expr *sum = outer->apply.function->apply.argument;
    assert_true(sum->apply.is_operator);
    assert_true(sum->apply.function->apply.is_operator);
    assert_int_equal(sum->span.begin, 12);
    assert_int_equal(sum->apply.function->apply.function->span.begin, 14);
    arena_free(result.arena);
}

static void test_tokens(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct sources *sources = sources_new(arena);
    const char *program = "val a = f <l>\n  0x1";
    const struct source *source = source_add(sources, "t.fcl", program, strlen(program));
    struct text text;
    text_init(&text, arena);
    syntax_dump_tokens(&text, symbols_new(arena), source, diagnostics_new(arena, sources));
    assert_string_equal(text_string(&text), "1:1 keyword val\n1:5 name a\n1:7 symbol =\n1:9 name f\n1:11 level-open <\n"
                                            "1:12 name l\n1:13 level-close >\n2:3 integer 0x1\n2:6 end\n");
    arena_free(arena);
}

/* The listings of the FCL paper, section 3. */
static const char paper[] = "sig reverse : [a] -> [a]\n"
                            "fun reverse arr =\n"
                            "  let n = length arr\n"
                            "  in generate n (fn i => index arr (n - i - 1))\n"
                            "\n"
                            "sig revBlock : [a] -> [a]<block>\n"
                            "fun revBlock arr = push <block> (reverse arr)\n"
                            "\n"
                            "sig revDistribute : int -> [a] -> [a]<grid>\n"
                            "fun revDistribute chunkSize arr =\n"
                            "  splitUp chunkSize arr\n"
                            "  |> map reverseBlock\n"
                            "  |> reverse\n"
                            "  |> concat chunkSize\n"
                            "\n"
                            "sig transpose : int -> int -> [a] -> [a]\n"
                            "fun transpose cols rows arr =\n"
                            "  generate (cols * rows)\n"
                            "    (fn n =>\n"
                            "      let i = n div rows\n"
                            "          j = n mod rows\n"
                            "      in index arr (j * rows + i))\n"
                            "\n"
                            "sig transposeTiled : int -> int -> int ->\n"
                            "  [a] -> [a]<grid>\n"
                            "fun transposeTiled tileDim cols rows mat =\n"
                            "  let n = cols / tileDim\n"
                            "      m = rows / tileDim\n"
                            "  in split2DGrid tileDim cols n m mat\n"
                            "    |> map (force . push <block>)\n"
                            "    |> map (transpose tileDim tileDim)\n"
                            "    |> transpose n m\n"
                            "    |> map (push <block>)\n"
                            "    |> concat2DGrid tileDim n rows\n"
                            "\n"
                            "sig step : <lvl> -> (a -> a -> a) ->\n"
                            "  [a] -> [a]<lvl>\n"
                            "fun step <lvl> f arr =\n"
                            "  let x = halve arr\n"
                            "  in push <lvl> (zipWith f (fst x) (snd x))\n"
                            "\n"
                            "sig red : <lvl> -> (a -> a -> a) -> [a] -> [a]<lvl>\n"
                            "fun red f arr =\n"
                            "  while (fn arr => 1 != lengthPull arr)\n"
                            "    (step <lvl> f)\n"
                            "    (step <lvl> f arr)\n"
                            "  |> push <lvl>\n"
                            "\n"
                            "sig reduceGrid : (a -> a -> a) -> [a] -> [a]<grid>\n"
                            "fun reduceGrid f arr =\n"
                            "  let chunkSize = 2 * #BlockSize\n"
                            "  in splitUp chunkSize arr\n"
                            "    |> map (red <block> f)\n"
                            "    |> concat 1\n";

static void test_paper(void **state) {
    (void)state;
    struct result result = parse(paper);
    assert_string_equal(result.messages, "");
    assert_int_equal(result.file->decls.count, 16);
    assert_non_null(strstr(
        result.dump, "(fun step <lvl> (f arr) (let ((x (halve arr))) (push <lvl> (zipWith f (fst x) (snd x)))))"));
    arena_free(result.arena);
}

/* A library is read as far as the program needs it: the declarations that its names lead to, in the
   library's order. */
static void test_used_declarations(void **state) {
    (void)state;
    static const char library_text[] = "import \"other\"\n"
                                       "param size : int = 3\n"
                                       "sig twice : int -> int\nfun twice x = x + x\n"
                                       "fun unused x = twice (more x)\n"
                                       "fun four x = twice (twice x)\n"
                                       "val planned = four size\n"
                                       "fun more x = if x < 3 then 0 else less x\nfun less x = more (x - 1)\n";
    static const struct {
        const char *program, *declared;
    } cases[] = {
        {"kernel k = 3", "size "},
        {"kernel k x = twice x", "size twice twice "},
        {"kernel k x = four x -- unused", "size twice twice four "},
        {"fun f four = four", "size twice twice four "}, /* a local name, which is taken for a use */
        {"fun f x = more x", "size more less "},         /* which need each other */
        {"fun f x = scatter x", "size twice twice four planned "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new();
        struct sources *sources = sources_new(arena);
        struct diagnostics *diagnostics = diagnostics_new(arena, sources);
        struct symbols *symbols = symbols_new(arena);
        drafts library = {0}, programs = {0};
        draft_needs needs = {0};
        const char *const texts[] = {library_text, cases[i].program};
        for (int k = 0; k < 2; k++) {
            const struct source *source = source_add(sources, k ? "p.fcl" : "l.fcl", texts[k], strlen(texts[k]));
            struct draft *draft = draft_new(arena, symbols, source, diagnostics);
            if (k)
                vec_push(arena, &programs, draft);
            else
                vec_push(arena, &library, draft);
        }
        struct draft *read = library.at[0];
        draft_want_kind(read, DECL_PARAM);
        vec_push(arena, &needs, (struct draft_need){"scatter", "planned"});
        draft_want_used(&library, &programs, &needs);
        draft_read(read);
        struct text declared;
        text_init(&declared, arena);
        for (size_t k = 0; k < read->file->decls.count; k++)
            text_printf(&declared, "%s ", read->file->decls.at[k]->name->text);
        assert_string_equal(text_string(&declared), cases[i].declared);
        assert_int_equal(diag_error_count(diagnostics), 0);
        arena_free(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_bindings),
        cmocka_unit_test(test_declarations),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_broken_definitions_keep_their_names),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_paper),
        cmocka_unit_test(test_used_declarations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
