/* Scripts by which shells complete the command line, made from the tables of options and commands. */
#ifndef FCL_TOOLS_COMPLETION_H
#define FCL_TOOLS_COMPLETION_H

#include <stdio.h>

/* For "bash", "zsh" or "fish". */
void completion_print(FILE *out, const char *shell);

#endif
