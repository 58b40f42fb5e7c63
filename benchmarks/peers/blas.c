// The side of a CPU's BLAS library, such as OpenBLAS.
#include "bench.h"

#include <cblas.h>
#include <string.h>

const char *const side_name = "blas";

static struct {
    const struct problem *p;
    float *out;
} side;

int side_begin(struct problem *p, const struct options *o) {
    (void)o;
    side.p = p;
    if (p->task->id != TASK_SGEMM && p->task->id != TASK_MATVEC)
        return STATUS_NO_TASK;
    side.out = allocate(array_bytes(&p->out[0]));
    return 0;
}

void side_run(void) {
    const struct problem *p = side.p;
    int rows = p->rows, columns = p->columns;
    if (p->task->id == TASK_MATVEC)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, rows, columns, 1, p->in[0].at, columns, p->in[1].at, 1, 0, side.out,
                    1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, rows, rows, 1, p->in[0].at, rows, p->in[1].at,
                    rows, 0, side.out, rows);
}

size_t side_launches(double seconds[MOST_LAUNCHES], const char *names[MOST_LAUNCHES]) {
    (void)seconds;
    (void)names;
    return 0;
}

void side_results(struct array *results) { memcpy(results[0].at, side.out, array_bytes(&results[0])); }

const char *side_device(void) { return "CPU"; }
#ifdef OPENBLAS_VERSION
const char *side_driver(void) { return openblas_get_config(); }
#else
const char *side_driver(void) { return "CBLAS"; }
#endif
const char *side_target(void) { return "c"; }
void side_end(void) {}
