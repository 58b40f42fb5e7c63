/* What is known of machines, as constants: machine.def says of each where it comes from. */
#ifndef FCL_IR_MACHINE_H
#define FCL_IR_MACHINE_H

enum machine_constant {
#define MACHINE(name, value, from) name = (value),
#include "ir/machine.def"
#undef MACHINE
};

#endif
