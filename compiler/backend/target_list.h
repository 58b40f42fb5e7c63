/* The targets, in the order in which they are listed: TARGET(name), for target_NAME, which is at
   the end of the file with its dialect. */
TARGET(cuda)
TARGET(opencl)
TARGET(c)
TARGET(hip)
