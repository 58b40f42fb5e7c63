/* Facts about machines, as constants: machine.def says where each comes from. */
#ifndef FCL_IR_MACHINE_H
#define FCL_IR_MACHINE_H

enum machine_constant {
#define MACHINE(name, value, from) name = (value),
#include "ir/machine.def"
#undef MACHINE
};

#endif
