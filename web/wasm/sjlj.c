/* The functions that clang's pass for setjmp calls (-mllvm -wasm-enable-sjlj). A function that calls setjmp has
   a table of its calls that are in force: which jmp_buf each one filled, and which label of the
   function goes on there. A longjmp is an exception of WebAssembly; who catches it looks in its
   own table, and throws it again where it is not there. */
#include <setjmp.h>
#include <stdlib.h>

struct entry {
    unsigned long number; /* of the jmp_buf; 0: the table ends here */
    int label;
};

/* The exception carries this. */
struct jump {
    jmp_buf *to;
    int value;
};

static unsigned long calls;
static int second_result;

/* The ABI of 32 bits: a second result goes through here. */
void setTempRet0(int value) { second_result = value; }
int getTempRet0(void) { return second_result; }

struct entry *saveSetjmp(jmp_buf buffer, int label, struct entry *table, int size) {
    int at = 0;
    while (at < size && table[at].number)
        at++;
    if (at + 1 >= size) { /* one place is for the end */
        size = 2 * size + 2;
        table = realloc(table, (size_t)size * sizeof *table);
        if (!table)
            abort();
    }
    buffer->number = ++calls;
    table[at] = (struct entry){calls, label};
    table[at + 1].number = 0;
    setTempRet0(size);
    return table;
}

int testSetjmp(unsigned long number, const struct entry *table, int size) {
    for (int i = 0; i < size && table[i].number; i++)
        if (table[i].number == number)
            return table[i].label;
    return 0;
}

_Noreturn void __wasm_longjmp(jmp_buf *to, int value) {
    static struct jump jump;
    jump = (struct jump){to, value ? value : 1};
    __builtin_wasm_throw(1, &jump);
    __builtin_unreachable();
}
