// Each public function begins and ends with this: the caller may have set another locale, another
// rounding, traps, or that small numbers are 0. All of these would change results. Each public function
// of both libraries that does more than give what a structure holds begins so, and so does each thread
// of theirs; a test, state.c, has a case for each function of the headers.
#if !defined _GNU_SOURCE
#define _GNU_SOURCE // uselocale
#endif
#include "internal.h"

#include <fenv.h>
#include <locale.h>
#include <stdatomic.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#ifdef __SSE__
#include <xmmintrin.h>
#endif

_Static_assert(sizeof(fenv_t) <= sizeof((struct fcl_entry *)0)->floating, "the caller's floating-point environment");

// ---------------------------------------------------------------- floating point

#ifdef __SSE__

// Exceptions masked, to nearest, small numbers are kept; of the older unit, with its full precision, too.
enum { USUAL_SSE = 0x1F80, MODES_SSE = 0xFFC0, USUAL_X87 = 0x033F, MODES_X87 = 0x0F3F };

static bool is_usual(void) {
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (_mm_getcsr() & MODES_SSE) == USUAL_SSE && (x87 & MODES_X87) == USUAL_X87;
}

static void set_more(void) { _mm_setcsr(USUAL_SSE); }

#elif defined __aarch64__ && defined __GNUC__

static bool is_usual(void) {
    uint64_t modes;
    __asm__ volatile("mrs %0, fpcr" : "=r"(modes));
    return modes == 0;
}

static void set_more(void) {
    uint64_t usual = 0;
    __asm__ volatile("msr fpcr, %0" : : "r"(usual));
}

#else // C says no more than this, and it takes longer

static bool is_usual(void) { return false; }

static void set_more(void) {}

#endif

// ---------------------------------------------------------------- the locale

// C's own, which is made once. 0, which changes nothing: there was no memory for it.
static locale_t plain_locale(void) {
    static _Atomic(locale_t) made;
    locale_t known = atomic_load_explicit(&made, memory_order_acquire);
    if (known)
        return known;
    locale_t fresh = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!fresh || atomic_compare_exchange_strong(&made, &known, fresh))
        return fresh;
    freelocale(fresh); // another thread was faster
    return known;
}

// ---------------------------------------------------------------- both

struct fcl_entry fcl_enter(void) {
    struct fcl_entry entry;
    entry.locale = uselocale(plain_locale());
    entry.is_changed = !is_usual();
    if (entry.is_changed) {
        fenv_t before;
        fegetenv(&before);
        memcpy(entry.floating, &before, sizeof before);
        fesetenv(FE_DFL_ENV);
        set_more();
    }
    return entry;
}

void fcl_leave(const struct fcl_entry *entry) {
    if (!entry)
        return;
    if (entry->is_changed) {
        fenv_t before;
        memcpy(&before, entry->floating, sizeof before);
        fesetenv(&before);
    }
    uselocale((locale_t)entry->locale);
}
