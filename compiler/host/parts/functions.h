// Host functions of a kernel, piece by piece, in the order in which they come. backend/parts.h says what `//@` and `//`
// are; words in capitals stand for what fclc puts there.

// ---- declarations ----

//@ SAYS_INTO
/* the same with results in memory of the caller's: each length says how much there is room for, and then how much
   there isOF_ROWS */

//@ SAYS_ON_BUFFERS
/* the same on device buffers of this context, which it only reads */

//@ SAYS_INTO_BUFFERS
/* the same with results in buffers of the caller's, which it stores straight into where they have room for all that
   the kernel may store: fcl_into_begin of fcl.h */

//@ SAYS_RECORDED
/* the same recorded, and not done: fcl_graph_launch does it, each time on these buffers, of which none may be freed
   before the graph */

//@ SAYS_NOT_RECORDED
/* There is no FUNCTION_graph: REASON. */

// ---- what all functions have ----

//@ BEGIN
 {
    enum fcl_status status = FCL_OK;

//@ PROGRAM
    struct fcl_program *program = NULL;

//@ NO_PLACE
        return fcl_require(context, false, FCL_INVALID, "FUNCTION: a pointer to a result is NULL", 0, 0);

//@ EXPECTED
    if ((status = fcl_expect(context, BACKEND)) != FCL_OK)
        goto out;

//@ LENGTH
    if ((status = fcl_require(context, LENGTH >= 0, FCL_INVALID, "LENGTH is negative: %lld", LENGTH, 0)) != FCL_OK)
        goto out;

//@ END
    return status;
}

// ---- on buffers ----

//@ CHECKS
    static const char *const checks[] = {
TEXTS
    };
    struct fcl_buffer *report = NULL;
    (void)checks;
    (void)report;

//@ TRACES
    static const char *const traces[] = {
TEXTS
    };

//@ BUFFER
    if ((status = fcl_require(context, fcl_buffer_bytes(BUFFER) >= WANTED, FCL_INVALID,
                              "BUFFER has %lld bytes, and %lld are wanted",
                              (int64_t)fcl_buffer_bytes(BUFFER), (int64_t)(WANTED))) != FCL_OK)
        goto out;

//@ BUILT
    if ((status = BUILD) != FCL_OK)
        goto out;

//@ KERNEL
    if ((status = fcl_get_kernel(program, "KERNEL", &kernelNUMBER)) != FCL_OK)
        goto out;

//@ WATCH
    if ((status = fcl_watch(context, checks, &report)) != FCL_OK)
        goto out;

//@ REPORT
    if ((status = fcl_buffer_new(context, 3 * sizeof(int32_t), &report)) != FCL_OK ||
        (status = fcl_fill(report, 0, 3 * sizeof(int32_t), 0)) != FCL_OK)
        goto out;

//@ TRACED
    enum fcl_status traced = bNUMBER ? fcl_trace(bNUMBER, traces, COUNT) : FCL_OK;
    status = status == FCL_OK ? traced : status;

// ---- into the caller's buffers ----

//@ ARGUMENTS
    struct fcl_buffer *const given0[] = {ARGUMENTS};

//@ RESULTS
    struct fcl_buffer *const given1[] = {RESULTS};
    struct fcl_buffer *made0[] = {NOTHING};
    uint64_t bytes0[COUNT] = {0};

//@ STORED
    if ((status = fcl_into_begin(context, given1, RESULT_COUNT, GIVEN, ARGUMENT_COUNT)) != FCL_OK)
        return status;
    status = FUNCTION_device(contextARGUMENTS);
SIZES
    return fcl_into_end(context, status, made0, bytes0);
}

// ---- recorded ----
// The function builds the program and gets its kernels before it records: a driver may load a kernel's code when it is
// first asked for the kernel.

//@ BUILT_TO_RECORD
    *graph = NULL;
    if ((status = fcl_expect(context, BACKEND)) != FCL_OK || (status = BUILD) != FCL_OK)
        return status;

//@ KERNEL_TO_RECORD
    if ((status = fcl_get_kernel(program, "KERNEL", &kernel0)) != FCL_OK)
        return status;

//@ RECORD
    if ((status = fcl_graph_begin(context)) != FCL_OK)
        return status;
    status = FUNCTION_device(contextARGUMENTS);
    if ((status = fcl_graph_end(context, status, graph)) != FCL_OK) {

// ---- on arrays of the host ----

//@ COPIED_IN
    if ((status = fcl_require(context, ARRAY || COUNT == 0, FCL_INVALID,
                              "ARRAY is NULL, and is to have %lld elements", (int64_t)(COUNT), 0)) != FCL_OK)
        goto out;
    if ((status = fcl_buffer_new(context, COUNT * sizeof *ARRAY, &inNUMBER)) != FCL_OK ||
        (status = fcl_write(inNUMBER, 0, ARRAY, COUNT * sizeof *ARRAY)) != FCL_OK)
        goto out;

//@ DONE
    if ((status = FUNCTION_device(contextARGUMENTS)) != FCL_OK)
        goto out;

//@ ROOM
    if (roomNUMBER < (int64_t)(COUNT)) {
        status = fcl_require(context, false, FCL_NO_ROOM, "a result of %lld elements, and there is room for %lld",
                             (int64_t)(COUNT), roomNUMBER);
        goto out;
    }

//@ ALLOCATED
    if (!(*ARRAY = (TYPE *)malloc(COUNT > 0 ? (size_t)(COUNT * sizeof(TYPE)) : 1))) {
        status = fcl_require(context, false, FCL_NO_MEMORY, "no memory on the host for a result of %lld elements",
                             (int64_t)(COUNT), 0);
        goto out;
    }

//@ COPIED_OUT
    if ((status = fcl_read(outNUMBER, 0, ARRAY, COUNT * sizeof(TYPE))) != FCL_OK)
        goto out;
