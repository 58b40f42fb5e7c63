/* Arrays in a device's memory. */
#include "core.h"

Py_ssize_t py_array_count(const struct array *a) {
    Py_ssize_t count = 1;
    for (int i = 0; i < a->rank; i++)
        count *= a->shape[i];
    return count;
}

static Py_ssize_t array_bytes(const struct array *a) { return py_array_count(a) * py_bases[a->base].bits / 8; }

struct array *py_array_new(struct device *device, struct fcl_buffer *buffer, int base, int rank, const int64_t *shape) {
    struct array *a = py_new_object((PyTypeObject *)py.array_type);
    if (!a) {
        py_guard_free_buffer(&device->guard, buffer);
        return NULL;
    }
    TAKE(device);
    a->device = device;
    a->buffer = buffer;
    a->base = base;
    a->rank = rank;
    Py_ssize_t stride = py_bases[base].bits / 8;
    for (int i = rank - 1; i >= 0; i--) {
        a->shape[i] = (Py_ssize_t)shape[i];
        a->strides[i] = stride;
        stride *= a->shape[i];
    }
    return a;
}

static void array_free(PyObject *object) {
    struct array *a = (struct array *)object;
    if (a->device)
        py_guard_free_buffer(&a->device->guard, a->buffer);
    DROP(a->device);
    Py_XDECREF(a->owner);
    py_free_object(object);
}

enum fcl_backend py_array_backend(const struct array *a) { return fcl_device(a->device->context)->backend; }

static int array_export(PyObject *object, Py_buffer *view, int flags) {
    struct array *a = (struct array *)object;
    if (py_array_backend(a) != FCL_BACKEND_C) {
        PyErr_SetString(PyExc_BufferError, "this array is in a device's memory: numpy() copies it");
        return -1;
    }
    static char nothing;
    void *data = (void *)fcl_buffer_native(a->buffer);
    *view = (Py_buffer){.buf = data ? data : &nothing,
                        .len = array_bytes(a),
                        .itemsize = py_bases[a->base].bits / 8,
                        .ndim = a->rank,
                        .format = flags & PyBUF_FORMAT ? (char *)py_bases[a->base].format : NULL,
                        .shape = flags & PyBUF_ND ? a->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL};
    Py_INCREF(object);
    view->obj = object;
    return 0;
}

PyObject *py_shape_tuple(int rank, const Py_ssize_t *shape) {
    PyObject *tuple = PyTuple_New(rank);
    for (int i = 0; tuple && i < rank; i++)
        PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(shape[i]));
    return tuple;
}

PyObject *py_array_read(struct array *a, int is_held) {
    PyObject *shape = py_shape_tuple(a->rank, a->shape);
    PyObject *array =
        shape ? PyObject_CallFunctionObjArgs(py.numpy_empty, shape, py.numpy_scalars[a->base], NULL) : NULL;
    Py_XDECREF(shape);
    Py_buffer view;
    if (!array || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) != 0) {
        Py_XDECREF(array);
        return NULL;
    }
    enum fcl_status status;
    if (!is_held)
        py_guard_enter(&a->device->guard);
    Py_BEGIN_ALLOW_THREADS status = fcl_read(a->buffer, 0, view.buf, (uint64_t)view.len);
    Py_END_ALLOW_THREADS if (!is_held) py_guard_leave(&a->device->guard);
    PyBuffer_Release(&view);
    if (status == FCL_OK)
        return array;
    Py_DECREF(array);
    return py_context_error(a->device->context);
}

static PyObject *array_numpy(PyObject *object, PyObject *unused) {
    (void)unused;
    return py_array_read((struct array *)object, 0);
}

static PyObject *array_as_numpy(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"dtype", "copy", NULL};
    PyObject *dtype = Py_None, *copy = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy))
        return NULL;
    if (copy == Py_False) {
        PyErr_SetString(PyExc_ValueError, "an array in a device's memory is copied to become NumPy's");
        return NULL;
    }
    PyObject *array = py_array_read((struct array *)object, 0);
    if (!array || dtype == Py_None)
        return array;
    PyObject *other = PyObject_CallMethod(array, "astype", "O", dtype);
    Py_DECREF(array);
    return other;
}

static PyObject *array_shape(PyObject *object, void *closure) {
    (void)closure;
    return py_shape_tuple(((struct array *)object)->rank, ((struct array *)object)->shape);
}

static PyObject *array_dtype(PyObject *object, void *closure) {
    (void)closure;
    PyObject *make = py_attribute_of("numpy", "dtype");
    PyObject *dtype =
        make ? PyObject_CallFunctionObjArgs(make, py.numpy_scalars[((struct array *)object)->base], NULL) : NULL;
    Py_XDECREF(make);
    return dtype;
}

static PyObject *array_device(PyObject *object, void *closure) {
    (void)closure;
    PyObject *device = (PyObject *)((struct array *)object)->device;
    Py_INCREF(device);
    return device;
}

static PyObject *array_size(PyObject *object, void *closure) {
    (void)closure;
    return PyLong_FromSsize_t(py_array_count((struct array *)object));
}

static Py_ssize_t array_length(PyObject *object) {
    struct array *a = (struct array *)object;
    return a->rank ? a->shape[0] : 0;
}

static PyObject *array_repr(PyObject *object) {
    struct array *a = (struct array *)object;
    PyObject *shape = py_shape_tuple(a->rank, a->shape), *text = NULL;
    if (shape)
        text = PyUnicode_FromFormat("<fcl.Array of %s, shape %R, on %s>", py_bases[a->base].numpy, shape,
                                    fcl_device(a->device->context)->name);
    Py_XDECREF(shape);
    return text;
}

static PyGetSetDef array_fields[] = {
    {"shape", array_shape, NULL, "a tuple of extents", NULL},
    {"dtype", array_dtype, NULL, "NumPy's", NULL},
    {"size", array_size, NULL, "how many elements there are", NULL},
    {"device", array_device, NULL, "the Device it is on", NULL},
    {"__cuda_array_interface__", py_array_interface, NULL, "version 3; only on CUDA devices", NULL},
    {0},
};
static PyMethodDef array_methods[] = {
    {"numpy", array_numpy, METH_NOARGS, "A copy of it as a NumPy array."},
    {"__array__", (PyCFunction)(void (*)(void))array_as_numpy, METH_VARARGS | METH_KEYWORDS, "For numpy.asarray."},
    {"__dlpack__", (PyCFunction)(void (*)(void))py_array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule that shares the memory, on CUDA devices and for C."},
    {"__dlpack_device__", py_array_dlpack_device, METH_NOARGS, "DLPack's type and number of the device."},
    {0},
};
static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, array_free},
    {Py_tp_repr, array_repr},
    {Py_tp_getset, array_fields},
    {Py_tp_methods, array_methods},
    {Py_sq_length, array_length},
    {Py_bf_getbuffer, array_export},
    {Py_tp_doc, "An array in a device's memory: what fcl.put gives, and kernels called with keep=True."},
    {0},
};
PyType_Spec py_array_spec = {"fcl.Array", sizeof(struct array), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, array_slots};
