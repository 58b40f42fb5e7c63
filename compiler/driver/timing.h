/* Kernels run again and again on a device: what `fclc bench` and `fclc tune` share. */
#ifndef FCL_DRIVER_TIMING_H
#define FCL_DRIVER_TIMING_H

#include "driver/compilation.h"
#include "driver/device.h"

/* Checks the file and reads the arguments that the command line names: then the request is
   complete but for what a command wants of its own, and *is_ready. Otherwise the status, with what
   is wrong said or among the diagnostics. */
enum exit_status timing_request(struct compilation *c, struct device_request *request, bool *is_ready);

/* Wall-clock seconds of `runs` runs, one after another, launches and host work included. False: the session's `why`. */
bool timing_run(struct device_session *session, int runs, double *seconds);

double timing_now(void); /* seconds of a clock that only goes forward */

void timing_sort(double *samples, size_t count);

#endif
