/* Kernels run again and again on a device: what `fclc bench` and `fclc tune` share. */
#ifndef FCL_TOOLS_TIMING_H
#define FCL_TOOLS_TIMING_H

#include "driver/device.h"

/* Reads the kernel and its arguments, as execution_read does, and chooses the device, as run does:
   one that is there, and can be timed. */
enum exit_status timing_request(struct compilation *c, struct execution *request);

/* Wall-clock seconds of `runs` runs, one after another, launches and host work included. False: the session's `why`. */
bool timing_run(struct device_session *session, int runs, double *seconds);

double timing_now(void); /* seconds of a clock that only goes forward */

void timing_sort(double *samples, size_t count);

#endif
