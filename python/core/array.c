/* Arrays in a device's memory. */
#include "core.h"

#include <string.h>

Py_ssize_t py_array_count(const struct array *a) {
    Py_ssize_t count = 1;
    for (int i = 0; i < a->rank; i++)
        count *= a->shape[i];
    return count;
}

static Py_ssize_t array_bytes(const struct array *a) { return py_array_count(a) * py_bases[a->base].bits / 8; }

/* Without memory yet. */
static struct array *new_array(struct device *device, int base, int rank, const Py_ssize_t *shape) {
    struct array *a = py_new_object((PyTypeObject *)py.array_type);
    if (!a)
        return NULL;
    TAKE(device);
    a->device = device;
    a->base = base;
    a->rank = rank;
    Py_ssize_t stride = py_bases[base].bits / 8;
    for (int i = rank - 1; i >= 0; i--) {
        a->shape[i] = shape[i];
        a->strides[i] = stride;
        stride *= a->shape[i];
    }
    return a;
}

struct array *py_array_new(struct device *device, struct fcl_buffer *buffer, int base, int rank,
                           const Py_ssize_t *shape) {
    struct array *a = new_array(device, base, rank, shape);
    if (a)
        a->buffer = buffer;
    else
        py_guard_free_buffer(&device->guard, buffer);
    return a;
}

static void array_free(PyObject *object) {
    struct array *a = (struct array *)object;
    if (a->device && !a->owner)
        py_guard_free_buffer(&a->device->guard, a->buffer);
    DROP(a->device);
    DROP(a->owner);
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

static int read_bytes(struct array *a, Py_ssize_t offset, void *to, Py_ssize_t bytes) {
    enum fcl_status status;
    if (py_guard_enter(&a->device->guard, 1) != 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS status = fcl_read(a->buffer, (uint64_t)offset, to, (uint64_t)bytes);
    Py_END_ALLOW_THREADS return py_device_leave(a->device, status);
}

PyObject *py_numpy_empty(int base, int rank, const Py_ssize_t *shape, Py_buffer *view) {
    PyObject *extents = py_shape_tuple(rank, shape);
    PyObject *array =
        extents ? PyObject_CallFunctionObjArgs(py.numpy_empty, extents, py.numpy_scalars[base], NULL) : NULL;
    Py_XDECREF(extents);
    if (array && PyObject_GetBuffer(array, view, PyBUF_WRITABLE) != 0)
        Py_CLEAR(array);
    return array;
}

PyObject *py_array_read(struct array *a) {
    Py_buffer view;
    PyObject *array = py_numpy_empty(a->base, a->rank, a->shape, &view);
    if (!array)
        return NULL;
    if (read_bytes(a, 0, view.buf, view.len) != 0)
        Py_CLEAR(array);
    PyBuffer_Release(&view);
    return array;
}

static PyObject *array_numpy(PyObject *object, PyObject *unused) {
    (void)unused;
    return py_array_read((struct array *)object);
}

/* ---- parts, shapes and copies ---- */

/* A copy, on the device, of what begins at that byte; the shape is its own. */
static PyObject *copy_part(struct array *a, Py_ssize_t offset, int rank, const Py_ssize_t *shape) {
    struct device *device = a->device;
    struct array *part = new_array(device, a->base, rank, shape);
    enum fcl_status status;
    if (!part)
        return NULL;
    uint64_t bytes = (uint64_t)array_bytes(part);
    if (py_guard_enter(&device->guard, 1) != 0) {
        DROP(part);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS status = fcl_buffer_new(device->context, bytes, &part->buffer);
    if (status == FCL_OK)
        status = fcl_copy(part->buffer, 0, a->buffer, (uint64_t)offset, bytes);
    Py_END_ALLOW_THREADS if (py_device_leave(device, status) == 0) return (PyObject *)part;
    DROP(part);
    return NULL;
}

static PyObject *array_copy(PyObject *object, PyObject *unused) {
    struct array *a = (struct array *)object;
    (void)unused;
    return copy_part(a, 0, a->rank, a->shape);
}

/* A number as NumPy's arrays give it. */
static PyObject *read_element(struct array *a, Py_ssize_t offset) {
    Py_buffer view;
    PyObject *array = py_numpy_empty(a->base, 0, NULL, &view), *nowhere = PyTuple_New(0), *item = NULL;
    if (array) {
        if (nowhere && read_bytes(a, offset, view.buf, view.len) == 0)
            item = PyObject_GetItem(array, nowhere);
        PyBuffer_Release(&view);
    }
    Py_XDECREF(nowhere);
    Py_XDECREF(array);
    return item;
}

/* The index is what Python has made of it: negative ones have the length added. */
static PyObject *array_item(PyObject *object, Py_ssize_t i) {
    struct array *a = (struct array *)object;
    if (i < 0 || i >= a->shape[0]) {
        PyErr_Format(PyExc_IndexError, "an index is outside of the first dimension, which has %zd", a->shape[0]);
        return NULL;
    }
    Py_ssize_t offset = i * a->strides[0];
    return a->rank > 1 ? copy_part(a, offset, a->rank - 1, a->shape + 1) : read_element(a, offset);
}

static PyObject *array_slice(struct array *a, PyObject *slice) {
    Py_ssize_t first, end, step, shape[FCLC_MAX_RANK];
    if (PySlice_Unpack(slice, &first, &end, &step) != 0)
        return NULL;
    memcpy(shape, a->shape, sizeof shape);
    shape[0] = PySlice_AdjustIndices(a->shape[0], &first, &end, step);
    if (step != 1) {
        PyErr_SetString(PyExc_ValueError, "a slice of an fcl.Array has step 1; `.numpy()` has all others");
        return NULL;
    }
    return copy_part(a, shape[0] ? first * a->strides[0] : 0, a->rank, shape);
}

static PyObject *array_subscript(PyObject *object, PyObject *index) {
    struct array *a = (struct array *)object;
    if (PySlice_Check(index))
        return array_slice(a, index);
    if (!PyIndex_Check(index)) {
        PyErr_SetString(PyExc_TypeError, "an fcl.Array is indexed by a whole number or a slice, of its first "
                                         "dimension; `.numpy()` can be indexed in other ways");
        return NULL;
    }
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred())
        return NULL;
    return array_item(object, i < 0 ? i + a->shape[0] : i);
}

static int take_extents(PyObject *extents, int *rank, Py_ssize_t *shape) {
    Py_ssize_t count = PyTuple_Size(extents);
    if (count < 1 || count > FCLC_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "an array has 1 to %d dimensions", FCLC_MAX_RANK);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        shape[i] = PyNumber_AsSsize_t(PyTuple_GetItem(extents, i), PyExc_OverflowError);
        if (shape[i] == -1 && PyErr_Occurred())
            return -1;
    }
    *rank = (int)count;
    return 0;
}

/* Puts a number in the place of -1. */
static int fits_shape(Py_ssize_t count, int rank, Py_ssize_t *shape) {
    Py_ssize_t *open = NULL, product = 1;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == -1 && !open)
            open = &shape[i];
        else if (shape[i] < 0 || (shape[i] && product > PY_SSIZE_T_MAX / shape[i]))
            return 0;
        else
            product *= shape[i];
    }
    if (open && product && count % product == 0)
        product *= *open = count / product;
    return product == count && (!open || *open >= 0);
}

/* The same memory in another shape. */
static PyObject *in_shape(struct array *a, int rank, const Py_ssize_t *shape) {
    struct array *other = new_array(a->device, a->base, rank, shape);
    if (other) {
        other->buffer = a->buffer;
        other->owner = a->owner ? a->owner : a;
        TAKE(other->owner);
    }
    return (PyObject *)other;
}

PyObject *py_array_first(struct array *a, Py_ssize_t count) {
    Py_ssize_t shape[FCLC_MAX_RANK];
    memcpy(shape, a->shape, sizeof shape);
    shape[0] = count;
    return in_shape(a, a->rank, shape);
}

/* In a shape of extents, or a tuple of them. */
static PyObject *array_reshape(PyObject *object, PyObject *args) {
    struct array *a = (struct array *)object;
    PyObject *only = PyTuple_Size(args) == 1 ? PyTuple_GetItem(args, 0) : NULL;
    PyObject *extents = only && !PyIndex_Check(only) ? PySequence_Tuple(only) : Py_NewRef(args);
    Py_ssize_t shape[FCLC_MAX_RANK];
    int rank, is_read = extents && take_extents(extents, &rank, shape) == 0;
    PyObject *other = NULL;
    if (is_read && !fits_shape(py_array_count(a), rank, shape))
        PyErr_Format(PyExc_ValueError, "an array of %zd elements cannot have the shape %R", py_array_count(a), extents);
    else if (is_read)
        other = in_shape(a, rank, shape);
    Py_XDECREF(extents);
    return other;
}

/* Pickled, it is NumPy's array, which is put on the device of that name. */
static PyObject *array_reduce(PyObject *object, PyObject *unused) {
    struct array *a = (struct array *)object;
    (void)unused;
    PyObject *array = py_array_read(a), *put = array ? py_attribute_of("fcl", "put") : NULL;
    if (put)
        return Py_BuildValue("(N(NO))", put, array, (PyObject *)a->device);
    Py_XDECREF(array);
    return NULL;
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
    PyObject *array = py_array_read((struct array *)object);
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
    return a->shape[0];
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
    {"numpy", array_numpy, METH_NOARGS, "numpy($self, /)\n--\n\nA copy of it as a NumPy array."},
    {"reshape", array_reshape, METH_VARARGS,
     "reshape($self, /, *shape)\n--\n\nThe same memory with other extents, of which one may be -1."},
    {"__array__", (PyCFunction)(void (*)(void))array_as_numpy, METH_VARARGS | METH_KEYWORDS,
     "__array__($self, /, dtype=None, copy=None)\n--\n\nFor numpy.asarray."},
    {"__dlpack__", (PyCFunction)(void (*)(void))py_array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, /, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A DLPack capsule that shares the memory, on CUDA devices and for C."},
    {"__dlpack_device__", py_array_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self, /)\n--\n\nDLPack's type and number of the device."},
    {"__reduce__", array_reduce, METH_NOARGS, "Pickled, it is its elements and its device's name."},
    {"__copy__", array_copy, METH_NOARGS, "A copy on its device."},
    {"__deepcopy__", array_copy, METH_O, "A copy on its device."},
    {0},
};
static PyType_Slot array_slots[] = {
    {Py_tp_dealloc, array_free},
    {Py_tp_repr, array_repr},
    {Py_tp_getset, array_fields},
    {Py_tp_methods, array_methods},
    {Py_sq_length, array_length},
    {Py_sq_item, array_item},
    {Py_tp_iter, PySeqIter_New},
    {Py_mp_length, array_length},
    {Py_mp_subscript, array_subscript},
    {Py_bf_getbuffer, array_export},
    {Py_tp_doc, "An array in a device's memory: what fcl.put gives, and kernels called with keep=True."},
    {0},
};
PyType_Spec py_array_spec = {"fcl.Array", sizeof(struct array), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, array_slots};
