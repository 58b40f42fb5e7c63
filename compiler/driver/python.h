/* A Python module of a program's kernels. */
#ifndef FCL_DRIVER_PYTHON_H
#define FCL_DRIVER_PYTHON_H

#include "driver/compilation.h"

/* Its text: the program and what it imports of the user's, the options, and a function for each kernel with
   annotations for type checkers. It wants the package `fcl`. */
const char *python_module(struct compilation *c);

#endif
