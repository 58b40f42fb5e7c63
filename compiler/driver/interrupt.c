/* Signals that end the process; see interrupt.h. */
#include "driver/interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "fcl.h"

/* The signal's usual action is set again by now, and ends the process. */
static void clean_up(int number) {
    fcl_remove_temporaries();
    raise(number);
}

void interrupt_cleans_up(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before, action = {.sa_flags = SA_RESETHAND | SA_NODEFER};
        action.sa_handler = clean_up;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(numbers[i], &action, NULL);
    }
}
