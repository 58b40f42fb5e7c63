/* The interpreter of IR that was read, on the host's values. */
#ifndef FCL_DRIVER_EVALUATE_H
#define FCL_DRIVER_EVALUATE_H

#include "driver/executor.h"

/* Runs the execution's kernel; the status is an executor's. */
enum exit_status evaluate_ir(const struct execution *e, struct host_value **result);

#endif
