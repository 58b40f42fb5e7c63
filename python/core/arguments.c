/* The arguments of a call, as values of FCL. */
#include "core.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int wrong(const struct call *call, const char *format, va_list arguments) {
    char text[512];
    vsnprintf(text, sizeof text, format, arguments);
    if (!call->number)
        return py_wrong_argument("%s: `out`, for the result `%s`, %s", call->kernel->info->name, call->parameter->text,
                                 text);
    return py_wrong_argument("%s: argument %zu, `%s : %s`, %s", call->kernel->info->name, call->number,
                             call->parameter->name, call->parameter->text, text);
}

int py_wrong(const struct call *call, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    wrong(call, format, arguments);
    va_end(arguments);
    return -1;
}

int py_wrong_because(const struct call *call, const char *format, ...) {
    PyObject *type, *cause, *trace;
    if (!py_is_refusal())
        return -1;
    PyErr_Fetch(&type, &cause, &trace);
    va_list arguments;
    va_start(arguments, format);
    wrong(call, format, arguments);
    va_end(arguments);
    py_because(type, cause, trace);
    return -1;
}

void py_type_name(PyObject *object, char *text, size_t bytes) {
    PyObject *type, *raised, *trace; /* which may be what it is asked for */
    PyErr_Fetch(&type, &raised, &trace);
    PyObject *name = PyType_GetName(Py_TYPE(object));
    const char *string = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    snprintf(text, bytes, "%s", string ? string : "an object");
    Py_XDECREF(name);
    PyErr_Restore(type, raised, trace);
}

static int take_integer(struct call *call, const struct base *base, PyObject *object, int64_t *to) {
    PyObject *number = PyNumber_Index(object);
    char found[64];
    if (!number) {
        py_type_name(object, found, sizeof found);
        return py_wrong_because(call, "wants a whole number, not a value of type %s", found);
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

/* Would a finite number become infinite? Halves of it are rounded to even. */
static int is_beyond(int base, double number) {
    if (!isfinite(number))
        return 0;
    return base == FCLC_F32    ? isinf((float)number)
           : base == FCLC_F16  ? fabs(number) >= 65520
           : base == FCLC_BF16 ? fabs(number) >= 0x1.ffp127
                               : 0;
}

static int take_scalar(struct call *call, const struct fclc_type *type, PyObject *object) {
    const struct base *base = &py_bases[type->base];
    struct fclc_value *value = &call->values[call->value_count++];
    char found[64];
    if (!call->number)
        return py_wrong(call, "has None in the place of a number, which is given as without `out`");
    if (base->kind == 'i' || base->kind == 'u')
        return take_integer(call, base, object, &value->scalar.integer);
    if (base->kind == 'b') {
        py_type_name(object, found, sizeof found);
        if (!PyBool_Check(object) && !PyObject_TypeCheck(object, (PyTypeObject *)py.numpy_scalars[FCLC_BOOL]))
            return py_wrong(call, "wants True or False, not a value of type %s", found);
        int is_true = PyObject_IsTrue(object);
        value->scalar.integer = is_true;
        return is_true < 0 ? -1 : 0;
    }
    double number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            return py_wrong_because(call, "is out of the range of %s", base->numpy);
        py_type_name(object, found, sizeof found);
        return py_wrong_because(call, "wants a number, not a value of type %s", found);
    }
    if (is_beyond(type->base, number))
        return py_wrong(call, "is out of the range of %s", type->base == FCLC_BF16 ? "bf16" : base->numpy);
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
        if (shape[i] > INT32_MAX || (shape[i] && count > FCLC_MAX_ELEMENTS / shape[i]))
            return py_wrong(call, "is too long: FCL counts up to 2147483647 elements in a dimension");
        count *= shape[i] ? shape[i] : 1;
        value->shape[i] = shape[i];
    }
    return 0;
}

static int is_base(const struct fclc_type *type, int base) {
    return base >= 0 && strcmp(py_bases[base].numpy, py_bases[type->base].numpy) == 0;
}

/* Floats of integers and of other floats, integers of other integers: what `convert` allows. */
static int is_convertible(const struct fclc_type *type, char kind) {
    char wanted = py_bases[type->base].kind;
    return type->base != FCLC_BF16 &&
           ((wanted == 'f' && kind == 'f') || (wanted != 'b' && (kind == 'i' || kind == 'u')));
}

int py_take_base(struct call *call, const struct fclc_type *type, int base, const char *format) {
    if (is_base(type, base))
        return 0;
    if (base >= 0 && !call->number)
        return py_wrong(call, "wants elements of type %s, and this array's are %s", py_bases[type->base].numpy,
                        py_bases[base].numpy);
    if (base < 0)
        return py_wrong(call, "wants elements of type %s, and this array has others (%s)", py_bases[type->base].numpy,
                        format ? format : "?");
    return py_wrong(call, "wants elements of type %s, and this array's are %s; `.astype(numpy.%s)` converts%s",
                    py_bases[type->base].numpy, py_bases[base].numpy,
                    type->base == FCLC_BOOL ? "bool_" : py_bases[type->base].numpy,
                    is_convertible(type, py_bases[base].kind) ? ", as does `convert=True`" : "");
}

static int take_device_array(struct call *call, const struct fclc_type *type, struct array *a,
                             struct fclc_value *value) {
    if (!is_base(type, a->base))
        return py_wrong(call,
                        "wants elements of type %s, and this array's are %s: `.numpy()` copies it, to be converted",
                        py_bases[type->base].numpy, py_bases[a->base].numpy);
    if (py_take_shape(call, type, a->rank, a->shape, value) != 0)
        return -1;
    if (call->kernel->program->device != a->device)
        return py_wrong(call, "is on another device (%s): `.numpy()` copies it", fcl_device(a->device->context)->name);
    call->has_arrays = 1;
    value->buffer = a->buffer;
    TAKE(a);
    return py_hold(call, (PyObject *)a);
}

/* 1, 0, or -1: asking failed. */
static int converts(struct call *call) {
    if (call->converts < 0) {
        PyObject *answer = PyObject_GetAttrString((PyObject *)call->kernel, "_converts");
        call->converts = answer ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(answer);
    }
    return call->converts;
}

static int take_view(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value) {
    Py_buffer *view = &call->views[call->view_count];
    if (py_view_get(object, view) != 0) { /* dates of NumPy's, or memory that is released */
        char found[64];
        py_type_name(object, found, sizeof found);
        return py_wrong_because(call, "wants elements of type %s, and this %s does not show such",
                                py_bases[type->base].numpy, found);
    }
    call->view_count++;
    if (!call->number && view->readonly)
        return py_wrong(call, "wants an array that can be written");
    int base = py_base_of_format(view->format, view->itemsize);
    if (!is_base(type, base) && type->base != FCLC_BF16 && call->number) {
        int is_wanted = converts(call);
        PyObject *other = is_wanted == 1
                              ? PyObject_CallFunctionObjArgs(py.converted, object, py.numpy_scalars[type->base], NULL)
                              : NULL;
        if (other && other != Py_None)
            return py_hold(call, other) != 0 ? -1 : take_view(call, type, other, value);
        Py_XDECREF(other);
        if (PyErr_Occurred())
            return py_wrong_because(call, "has elements that are out of the range of %s", py_bases[type->base].numpy);
    }
    if (py_take_base(call, type, base, view->format) != 0 ||
        py_take_shape(call, type, view->ndim, view->shape, value) != 0)
        return -1;
    value->data = view->buf;
    if (py_view_is_dense(view) && (uintptr_t)view->buf % (uintptr_t)view->itemsize == 0)
        return 0;
    if (!call->number)
        return py_wrong(call, "wants an array without gaps, in row-major order");
    PyObject *copy = py_view_copy(view);
    value->data = copy ? PyByteArray_AsString(copy) : NULL;
    return py_hold(call, copy);
}

/* The attribute `dtype.kind` of an array of NumPy's. */
static char kind_of(PyObject *array) {
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    PyObject *kind = dtype ? PyObject_GetAttrString(dtype, "kind") : NULL;
    const char *text = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    char result = text ? *text : 0;
    Py_XDECREF(kind);
    Py_XDECREF(dtype);
    return result;
}

static int is_empty(PyObject *array) {
    PyObject *size = PyObject_GetAttrString(array, "size");
    int result = size && PyObject_IsTrue(size) == 0;
    Py_XDECREF(size);
    return result;
}

/* Also in lists of lists, but in no more than an array has dimensions: a list may have itself as an element. */
static int has_mask(PyObject *object, int depth) {
    if (PyObject_TypeCheck(object, (PyTypeObject *)py.masked_type))
        return 1;
    int is_list = PyList_Check(object);
    if (depth > FCLC_MAX_RANK || (!is_list && !PyTuple_Check(object)))
        return 0;
    for (Py_ssize_t i = 0; i < (is_list ? PyList_Size(object) : PyTuple_Size(object)); i++)
        if (has_mask(is_list ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i), depth + 1))
            return 1;
    return 0;
}

/* An array of a list's elements, each as it is or rounded: NumPy would make 1 of 1.5, True of 2, a number of "3", NaN
   of None, and infinity of 1e39. */
static PyObject *array_of_list(const struct fclc_type *type, PyObject *list) {
    char wanted = *py_bases[type->base].numpy;
    int is_whole = wanted == 'i' || wanted == 'u';
    /* Integers are compared with what is made of them: NumPy has no type for all of [1, 2^64 - 1]. */
    PyObject *found =
        PyObject_CallFunctionObjArgs(py.numpy_asarray, list, is_whole ? (PyObject *)&PyBaseObject_Type : NULL, NULL);
    char kind = '\0';
    if (found && !is_whole)
        kind = kind_of(found);
    int is_rounded = wanted == 'f' && kind && strchr("iuf", kind);
    PyObject *array = found
                          ? PyObject_CallFunctionObjArgs(is_rounded ? py.converted : py.numpy_asarray,
                                                         is_rounded ? found : list, py.numpy_scalars[type->base], NULL)
                          : NULL;
    int is_same = 0;
    if (array && is_whole) {
        PyObject *answer = PyObject_CallFunctionObjArgs(py.numpy_array_equal, found, array, NULL);
        is_same = answer && PyObject_IsTrue(answer) == 1;
        Py_XDECREF(answer);
    } else if (array) {
        is_same = is_empty(array) || (kind && strchr(wanted == 'f' ? "biuf" : "b", kind));
    }
    if (!is_same || PyErr_Occurred())
        Py_CLEAR(array);
    if (!array && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "an element would become another");
    Py_XDECREF(found);
    return array;
}

int py_take_host(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value) {
    if (PyObject_CheckBuffer(object))
        return take_view(call, type, object, value);
    PyObject *array, *method;
    char found[64];
    py_type_name(object, found, sizeof found);
    if (!call->number) /* what is made of it would be a copy */
        return py_wrong(call, "wants an array to store into, not a value of type %s", found);
    if (PyList_Check(object) || PyTuple_Check(object) || strcmp(found, "range") == 0) {
        if (!(array = array_of_list(type, object)))
            return py_wrong_because(call, "cannot be made an array of %s", py_bases[type->base].numpy);
    } else {
        int is_array = py_find(object, "__array__", &method);
        if (is_array == 0)
            py_wrong(call, "wants an array, not a value of type %s", found);
        if (is_array != 1)
            return -1;
        Py_DECREF(method);
        array = PyObject_CallFunctionObjArgs(py.numpy_asarray, object, NULL);
    }
    return py_hold(call, array) != 0 ? -1 : take_view(call, type, array, value);
}

static int take_array(struct call *call, const struct fclc_type *type, PyObject *object) {
    struct fclc_value *value = &call->values[call->value_count++];
    if (!call->number) {
        call->places[call->value_count - 1 - call->kernel->argument_count] = object;
        py_hold(call, Py_NewRef(object));
    }
    if (PyObject_TypeCheck(object, (PyTypeObject *)py.array_type))
        return take_device_array(call, type, (struct array *)object, value);
    if (PyObject_CheckBuffer(object) || PyList_Check(object))
        return py_take_host(call, type, object, value);
    PyObject *interface, *method;
    if (py_find(object, "__cuda_array_interface__", &interface) < 0)
        return -1;
    if (interface && PyDict_Check(interface)) {
        Py_INCREF(object);
        py_hold(call, object);
        int status = py_take_cuda(call, type, interface, value);
        Py_DECREF(interface);
        return status;
    }
    Py_XDECREF(interface);
    if (py_find(object, "__dlpack__", &method) < 0)
        return -1;
    Py_XDECREF(method);
    return method ? py_take_dlpack(call, type, object, value) : py_take_host(call, type, object, value);
}

/* Checks that the parts of an array of tuples, from `first` on, have one shape. */
static int check_shapes(struct call *call, const struct fclc_type *type, size_t first) {
    for (size_t i = first + 1; type->rank && call->number && i < call->value_count; i++)
        if (memcmp(call->values[i].shape, call->values[first].shape, type->rank * sizeof(int64_t)) != 0)
            return py_wrong(call, "wants arrays of one shape");
    return 0;
}

static int take(struct call *call, const struct fclc_type *type, PyObject *object);

/* Is it an array, or an element, with named fields? */
static int is_structured(PyObject *object) {
    PyObject *dtype, *names = NULL;
    if (py_find(object, "dtype", &dtype) < 0)
        return -1;
    if (dtype && py_find(dtype, "names", &names) < 0) {
        Py_DECREF(dtype);
        return -1;
    }
    int is_so = names && names != Py_None;
    Py_XDECREF(names);
    Py_XDECREF(dtype);
    return is_so;
}

/* A field of a dict, of a structured array, whose fields are copied side by side, or of any object with such
   attributes, as those of a dataclass. */
static PyObject *field_of(PyObject *object, const char *name, int structured) {
    if (!PyDict_Check(object) && !structured)
        return PyObject_GetAttrString(object, name);
    PyObject *key = PyUnicode_FromString(name), *item = key ? PyObject_GetItem(object, key) : NULL, *copy = item;
    Py_XDECREF(key);
    if (structured && item) {
        copy = PyObject_CallMethod(item, "copy", NULL);
        Py_DECREF(item);
    }
    return copy;
}

static int take_record(struct call *call, const struct fclc_type *type, PyObject *object) {
    int structured = is_structured(object);
    if (structured < 0)
        return -1;
    if (structured && !call->number)
        return py_wrong(call, "wants an array for each field, in a dict or a tuple");
    if (PyDict_Check(object) && (size_t)PyDict_Size(object) > type->count)
        return py_wrong(call, "wants a dict of %zu fields, and has %zu", type->count, (size_t)PyDict_Size(object));
    size_t first = call->value_count;
    for (size_t i = 0; i < type->count; i++) {
        PyObject *item = field_of(object, type->fields[i], structured);
        if (!item) {
            PyErr_Clear();
            return py_wrong(call,
                            "wants a dict, a structured array, or an object with attributes, and the field `%s` "
                            "is missing",
                            type->fields[i]);
        }
        int status = take(call, &type->items[i], item); /* which holds what it needs */
        Py_DECREF(item);
        if (status != 0)
            return -1;
    }
    return check_shapes(call, type, first);
}

static int take(struct call *call, const struct fclc_type *type, PyObject *object) {
    if (!call->number && object == Py_None) {
        call->value_count += py_count_parts(type);
        return 0;
    }
    if (has_mask(object, 0))
        return py_wrong(call, "has a mask, which a kernel would not see: `.filled(0)` gives an array without one, with "
                              "0 where it masks");
    if (type->kind == FCLC_SCALAR)
        return take_scalar(call, type, object);
    if (type->kind == FCLC_ARRAY)
        return take_array(call, type, object);
    if (type->fields && !PyTuple_Check(object))
        return take_record(call, type, object);
    if (!PyTuple_Check(object) || (size_t)PyTuple_Size(object) != type->count)
        return py_wrong(call,
                        type->rank ? "wants a tuple of %zu arrays, one for each component, all of one shape"
                                   : "wants a tuple of %zu values",
                        type->count);
    size_t first = call->value_count;
    for (size_t i = 0; i < type->count; i++)
        if (take(call, &type->items[i], PyTuple_GetItem(object, (Py_ssize_t)i)) != 0)
            return -1;
    return check_shapes(call, type, first);
}

int py_take_all(struct call *call, PyObject *args) {
    for (size_t i = 0; i < call->kernel->info->parameter_count; i++) {
        call->parameter = &call->kernel->info->parameters[i];
        call->number = i + 1;
        if (take(call, &call->parameter->type, PyTuple_GetItem(args, (Py_ssize_t)i)) != 0)
            return -1;
    }
    int has_arrays = call->has_arrays;
    call->parameter = &call->kernel->info->result;
    call->number = 0;
    if (call->out && take(call, &call->parameter->type, call->out) != 0)
        return -1;
    call->has_arrays = has_arrays;
    return 0;
}
