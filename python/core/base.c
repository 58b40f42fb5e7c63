/* Base types, errors and objects, which all other files need. */
#include "core.h"

#include <stdio.h>
#include <string.h>

/* ---- base types ---- */

const struct base py_bases[] = {
    [FCLC_BOOL] = {"bool", "?", 'b', 8},    [FCLC_I8] = {"int8", "b", 'i', 8},
    [FCLC_I16] = {"int16", "h", 'i', 16},   [FCLC_I32] = {"int32", "i", 'i', 32},
    [FCLC_I64] = {"int64", "q", 'i', 64},   [FCLC_U8] = {"uint8", "B", 'u', 8},
    [FCLC_U16] = {"uint16", "H", 'u', 16},  [FCLC_U32] = {"uint32", "I", 'u', 32},
    [FCLC_U64] = {"uint64", "Q", 'u', 64},  [FCLC_F32] = {"float32", "f", 'f', 32},
    [FCLC_F64] = {"float64", "d", 'f', 64}, [FCLC_F16] = {"float16", "e", 'f', 16},
    [FCLC_BF16] = {"uint16", "H", 'f', 16},
};
_Static_assert(sizeof py_bases / sizeof *py_bases == BASES, "all base types");

int py_base_of_format(const char *format, Py_ssize_t size) {
    if (!format)
        format = "B";
    if (size == 1 && (*format == '>' || *format == '!'))
        format++; /* a byte has no order */
    if (*format == '@' || *format == '=' || *format == '<')
        format++;
    if (!*format || format[1])
        return -1;
    char kind = *format == '?'              ? 'b'
                : strchr("bhilqn", *format) ? 'i'
                : strchr("BHILQN", *format) ? 'u'
                : strchr("efd", *format)    ? 'f'
                                            : 0;
    for (int i = 0; i < BASES; i++)
        if (py_bases[i].kind == kind && py_bases[i].bits == size * 8)
            return i;
    return -1;
}

/* ---- the module's own objects, and errors ---- */

struct own_objects py;

PyObject *py_attribute_of(const char *module, const char *name) {
    PyObject *from = PyImport_ImportModule(module);
    PyObject *found = from ? PyObject_GetAttrString(from, name) : NULL;
    Py_XDECREF(from);
    return found;
}

PyObject *py_fail_with(PyObject *type, int status, const char *message) {
    size_t length = strlen(message);
    while (length && message[length - 1] == '\n')
        length--;
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)length, "replace");
    PyObject *error = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    PyObject *number = error ? PyLong_FromLong(status) : NULL;
    if (number && PyObject_SetAttrString(error, "status", number) == 0)
        PyErr_SetObject(type, error);
    Py_XDECREF(number);
    Py_XDECREF(error);
    Py_XDECREF(text);
    return NULL;
}

int py_take_message(enum fclc_status status, char *message) {
    int result = 0;
    if (status != FCLC_GOOD) {
        py_fail_with(py.error_type, (int)status, message && *message ? message : "fclc failed, and did not say why");
        result = -1;
    } else if (message) {
        PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
        PyObject *done = text ? PyObject_CallFunctionObjArgs(py.warn, text, NULL) : NULL;
        result = done ? 0 : -1;
        Py_XDECREF(text);
        Py_XDECREF(done);
    }
    fclc_free(message);
    return result;
}

int py_wrong_argument(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    py_fail_with(py.argument_error_type, FCLC_USAGE, text);
    return -1;
}

int py_is_refusal(void) {
    return PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
           PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_BufferError);
}

void py_because(PyObject *type, PyObject *cause, PyObject *trace) {
    PyObject *error_type, *error, *error_trace;
    PyErr_Fetch(&error_type, &error, &error_trace);
    PyErr_NormalizeException(&error_type, &error, &error_trace);
    PyErr_NormalizeException(&type, &cause, &trace);
    if (trace)
        PyException_SetTraceback(cause, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    PyException_SetContext(error, cause);
    PyObject_SetAttrString(error, "__suppress_context__", Py_True);
    PyErr_Restore(error_type, error, error_trace);
}

int py_find(PyObject *object, const char *name, PyObject **found) {
    *found = PyObject_GetAttrString(object, name);
    if (*found)
        return 1;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
        return -1;
    PyErr_Clear();
    return 0;
}

/* ---- objects ---- */

PyObject *py_itself(PyObject *self, PyObject *unused) {
    (void)unused;
    Py_INCREF(self);
    return self;
}

void py_free_object(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

void *py_new_object(PyTypeObject *type) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}
