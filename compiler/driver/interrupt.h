/* Removes temporary files when a signal ends the process. */
#ifndef FCL_DRIVER_INTERRUPT_H
#define FCL_DRIVER_INTERRUPT_H

/* From now on such a signal removes the files of builds under way first. Those that are ignored stay so. */
void interrupt_cleans_up(void);

#endif
