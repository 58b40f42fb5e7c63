/* What a call is given, as values of FCL. */
#include "core.h"

#include <stdio.h>
#include <string.h>

int py_wrong(const struct call *call, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return py_wrong_argument("%s: argument %zu, `%s : %s`, %s", call->kernel->info->name, call->number,
                             call->parameter->name, call->parameter->text, text);
}

void py_type_name(PyObject *object, char *text, size_t bytes) {
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__");
    const char *string = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    snprintf(text, bytes, "%s", string ? string : "an object");
    PyErr_Clear();
    Py_XDECREF(name);
}

static int take_integer(struct call *call, const struct base *base, PyObject *object, int64_t *to) {
    PyObject *number = PyNumber_Index(object);
    char found[64];
    if (!number) {
        PyErr_Clear();
        py_type_name(object, found, sizeof found);
        return py_wrong(call, "wants a whole number, not a value of type %s", found);
    }
    int is_good = 1;
    if (base->kind == 'u') {
        unsigned long long value = PyLong_AsUnsignedLongLong(number);
        is_good = !PyErr_Occurred() && (base->bits == 64 || value < 1ull << base->bits);
        *to = (int64_t)value;
    } else {
        long long value = PyLong_AsLongLong(number);
        long long most = base->bits == 64 ? INT64_MAX : (1ll << (base->bits - 1)) - 1;
        is_good = !PyErr_Occurred() && value <= most && value >= -most - 1;
        *to = value;
    }
    PyErr_Clear();
    Py_DECREF(number);
    return is_good ? 0 : py_wrong(call, "is out of the range of %s", base->numpy);
}

static int take_scalar(struct call *call, const struct fclc_type *type, PyObject *object) {
    const struct base *base = &py_bases[type->base];
    struct fclc_value *value = &call->values[call->value_count++];
    char found[64];
    if (base->kind == 'i' || base->kind == 'u')
        return take_integer(call, base, object, &value->scalar.integer);
    if (base->kind == 'b') {
        py_type_name(object, found, sizeof found);
        if (!PyBool_Check(object) && strncmp(found, "bool", 4) != 0)
            return py_wrong(call, "wants True or False, not a value of type %s", found);
        value->scalar.integer = PyObject_IsTrue(object);
        return 0;
    }
    double number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred()) {
        int is_large = PyErr_ExceptionMatches(PyExc_OverflowError);
        PyErr_Clear();
        if (is_large)
            return py_wrong(call, "is out of the range of %s", base->numpy);
        py_type_name(object, found, sizeof found);
        return py_wrong(call, "wants a number, not a value of type %s", found);
    }
    value->scalar.floating = number;
    return 0;
}

int py_hold(struct call *call, PyObject *object) {
    if (object)
        call->held[call->held_count++] = object;
    return object ? 0 : -1;
}

int py_take_shape(struct call *call, const struct fclc_type *type, int rank, const Py_ssize_t *shape,
                  struct fclc_value *value) {
    if ((size_t)rank != type->rank)
        return py_wrong(call, "wants an array of %zu dimension%s, and this one has %d", type->rank,
                        type->rank == 1 ? "" : "s", rank);
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0) /* only others' descriptions of memory can say so */
            return py_wrong(call, "has a dimension of %zd elements", shape[i]);
        if (shape[i] > INT32_MAX || (count *= shape[i] ? shape[i] : 1) > INT32_MAX)
            return py_wrong(call, "is too long: FCL counts up to 2147483647 elements");
        value->shape[i] = shape[i];
    }
    return 0;
}

int py_take_base(struct call *call, const struct fclc_type *type, int base, const char *format) {
    if (base == (int)type->base || (base >= 0 && strcmp(py_bases[base].numpy, py_bases[type->base].numpy) == 0))
        return 0;
    if (base < 0)
        return py_wrong(call, "wants elements of type %s, and this array has others (%s)", py_bases[type->base].numpy,
                        format ? format : "?");
    return py_wrong(call, "wants elements of type %s, and this array's are %s; `.astype(numpy.%s)` converts",
                    py_bases[type->base].numpy, py_bases[base].numpy,
                    type->base == FCLC_BOOL ? "bool_" : py_bases[type->base].numpy);
}

static int take_device_array(struct call *call, const struct fclc_type *type, struct array *a,
                             struct fclc_value *value) {
    if (py_take_base(call, type, a->base, NULL) != 0 || py_take_shape(call, type, a->rank, a->shape, value) != 0)
        return -1;
    if (call->kernel->program->device != a->device)
        return py_wrong(call, "is on another device (%s): `.numpy()` copies it", fcl_device(a->device->context)->name);
    call->has_arrays = 1;
    value->buffer = a->buffer;
    TAKE(a);
    return py_hold(call, (PyObject *)a);
}

/* In row-major order, without gaps, and where elements of their size may lie. */
static PyObject *dense_copy(PyObject *object) {
    PyObject *array = PyObject_CallFunctionObjArgs(py.numpy_asarray, object, NULL);
    PyObject *copy = array ? PyObject_CallMethod(array, "copy", "s", "C") : NULL;
    Py_XDECREF(array);
    return copy;
}

static int take_view(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value) {
    Py_buffer *view = &call->views[call->view_count];
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        PyErr_Clear(); /* dates of NumPy's, or memory that is released */
        char found[64];
        py_type_name(object, found, sizeof found);
        return py_wrong(call, "wants elements of type %s, and this %s does not show such", py_bases[type->base].numpy,
                        found);
    }
    call->view_count++;
    int base = py_base_of_format(view->format, view->itemsize);
    if (py_take_base(call, type, base, view->format) != 0 ||
        py_take_shape(call, type, view->ndim, view->shape, value) != 0)
        return -1;
    if (py_is_dense(view->ndim, view->shape, view->strides, view->itemsize) &&
        (uintptr_t)view->buf % (uintptr_t)view->itemsize == 0) {
        value->data = view->buf;
        return 0;
    }
    PyObject *dense = dense_copy(object);
    return py_hold(call, dense) != 0 ? -1 : take_view(call, type, dense, value);
}

/* The attribute `dtype.kind` of an array, 0 where it has none. */
static char kind_of(PyObject *array) {
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const char *text = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    char result = text ? *text : 0;
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    PyErr_Clear();
    return result;
}

static int is_empty(PyObject *array) {
    PyObject *size = PyObject_GetAttrString(array, "size");
    int result = size && PyObject_IsTrue(size) == 0;
    Py_XDECREF(size);
    return result;
}

/* An array of a list's elements, each as it is: NumPy would make 1 of 1.5, True of 2, a number of "3", and NaN of
   None. */
static PyObject *array_of_list(const struct fclc_type *type, PyObject *list) {
    char wanted = *py_bases[type->base].numpy;
    int is_whole = wanted == 'i' || wanted == 'u';
    /* Integers are compared with what is made of them: NumPy has no type for all of [1, 2^64 - 1]. */
    PyObject *found =
        PyObject_CallFunctionObjArgs(py.numpy_asarray, list, is_whole ? (PyObject *)&PyBaseObject_Type : NULL, NULL);
    PyObject *array =
        found ? PyObject_CallFunctionObjArgs(py.numpy_asarray, list, py.numpy_scalars[type->base], NULL) : NULL;
    int is_same = 0;
    if (array && is_whole) {
        PyObject *answer = PyObject_CallFunctionObjArgs(py.numpy_array_equal, found, array, NULL);
        is_same = answer && PyObject_IsTrue(answer) == 1;
        Py_XDECREF(answer);
    } else if (array) {
        char kind = kind_of(found);
        is_same = is_empty(array) || (kind && strchr(wanted == 'f' ? "biuf" : "b", kind));
    }
    if (!is_same)
        Py_CLEAR(array);
    Py_XDECREF(found);
    return array;
}

int py_take_host(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value) {
    if (PyObject_CheckBuffer(object))
        return take_view(call, type, object, value);
    PyObject *array = NULL;
    char found[64];
    py_type_name(object, found, sizeof found);
    if (PyList_Check(object) || PyTuple_Check(object) || strcmp(found, "range") == 0)
        array = array_of_list(type, object);
    else if (PyObject_HasAttrString(object, "__array__"))
        array = PyObject_CallFunctionObjArgs(py.numpy_asarray, object, NULL);
    else
        return py_wrong(call, "wants an array, not a value of type %s", found);
    if (!array) {
        PyErr_Clear();
        return py_wrong(call, "cannot be made an array of %s", py_bases[type->base].numpy);
    }
    py_hold(call, array);
    return take_view(call, type, array, value);
}

static int take_array(struct call *call, const struct fclc_type *type, PyObject *object) {
    struct fclc_value *value = &call->values[call->value_count++];
    if (PyObject_TypeCheck(object, (PyTypeObject *)py.array_type))
        return take_device_array(call, type, (struct array *)object, value);
    if (PyObject_CheckBuffer(object) || PyList_Check(object))
        return py_take_host(call, type, object, value);
    PyObject *interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (interface && PyDict_Check(interface)) {
        Py_INCREF(object);
        py_hold(call, object);
        int status = py_take_cuda(call, type, interface, value);
        Py_DECREF(interface);
        return status;
    }
    Py_XDECREF(interface);
    PyErr_Clear();
    if (PyObject_HasAttrString(object, "__dlpack__"))
        return py_take_dlpack(call, type, object, value);
    return py_take_host(call, type, object, value);
}

static int take(struct call *call, const struct fclc_type *type, PyObject *object) {
    if (type->kind == FCLC_SCALAR)
        return take_scalar(call, type, object);
    if (type->kind == FCLC_ARRAY)
        return take_array(call, type, object);
    if (!PyTuple_Check(object) || (size_t)PyTuple_Size(object) != type->count)
        return py_wrong(call,
                        type->rank ? "wants a tuple of %zu arrays, one for each component, all of one shape"
                                   : "wants a tuple of %zu values",
                        type->count);
    size_t first = call->value_count;
    for (size_t i = 0; i < type->count; i++)
        if (take(call, &type->items[i], PyTuple_GetItem(object, (Py_ssize_t)i)) != 0)
            return -1;
    for (size_t i = first + 1; type->rank && i < call->value_count; i++)
        if (memcmp(call->values[i].shape, call->values[first].shape, type->rank * sizeof(int64_t)) != 0)
            return py_wrong(call, "wants arrays of one shape");
    return 0;
}

int py_take_all(struct call *call, PyObject *args) {
    for (size_t i = 0; i < call->kernel->info->parameter_count; i++) {
        call->parameter = &call->kernel->info->parameters[i];
        call->number = i + 1;
        if (take(call, &call->parameter->type, PyTuple_GetItem(args, (Py_ssize_t)i)) != 0)
            return -1;
    }
    return 0;
}
