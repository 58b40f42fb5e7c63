/* Memory of the host that other objects show (PEP 3118), in whatever order it lies. */
#include "core.h"

#include <string.h>

static int has_suboffsets(const Py_buffer *view) {
    for (int i = 0; view->suboffsets && i < view->ndim; i++)
        if (view->suboffsets[i] >= 0)
            return 1;
    return 0;
}

/* ctypes says nothing of strides: such memory is dense. */
int py_view_is_dense(const Py_buffer *view) {
    return !has_suboffsets(view) &&
           (!view->strides || py_is_dense(view->ndim, view->shape, view->strides, view->itemsize));
}

static Py_ssize_t count_bytes(const Py_buffer *view) {
    Py_ssize_t bytes = view->itemsize;
    for (int i = 0; i < view->ndim; i++)
        bytes *= view->shape[i];
    return bytes;
}

/* A loop for each size: elements are copied by single instructions. */
static char *copy_line(char *to, const char *from, Py_ssize_t count, Py_ssize_t step, Py_ssize_t bytes) {
#define LINE(size)                                                                                                     \
    case size:                                                                                                         \
        for (Py_ssize_t i = 0; i < count; i++)                                                                         \
            memcpy(to + i * size, from + i * step, size);                                                              \
        break
    switch (bytes) {
        LINE(1);
        LINE(2);
        LINE(4);
        LINE(8);
    }
#undef LINE
    return to + count * bytes;
}

static char *copy_from(char *to, const Py_buffer *view, int dimension, const char *from) {
    Py_ssize_t count = view->shape[dimension], step = view->strides[dimension];
    Py_ssize_t suboffset = view->suboffsets ? view->suboffsets[dimension] : -1;
    int is_last = dimension + 1 == view->ndim;
    if (is_last && suboffset < 0)
        return copy_line(to, from, count, step, view->itemsize);
    for (Py_ssize_t i = 0; i < count; i++, from += step) {
        const char *at = from;
        if (suboffset >= 0) {
            memcpy(&at, from, sizeof at);
            at += suboffset;
        }
        to = is_last ? copy_line(to, at, 1, 0, view->itemsize) : copy_from(to, view, dimension + 1, at);
    }
    return to;
}

int py_view_get(PyObject *object, Py_buffer *view) {
    if (PyObject_GetBuffer(object, view, PyBUF_FULL_RO) != 0)
        return -1;
    if (view->ndim == 0 || (view->shape && (view->strides || !has_suboffsets(view))))
        return 0;
    PyBuffer_Release(view);
    PyErr_SetString(PyExc_BufferError, "this memory is shown without its shape");
    return -1;
}

PyObject *py_view_copy(const Py_buffer *view) {
    Py_ssize_t bytes = count_bytes(view);
    PyObject *copy = PyByteArray_FromStringAndSize(NULL, bytes);
    char *to = copy ? PyByteArray_AsString(copy) : NULL;
    if (!to || !bytes)
        return copy;
    Py_BEGIN_ALLOW_THREADS if (py_view_is_dense(view)) memcpy(to, view->buf, (size_t)bytes);
    else copy_from(to, view, 0, view->buf);
    Py_END_ALLOW_THREADS return copy;
}
