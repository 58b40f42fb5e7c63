/* Memory that is shared with others on a device, by __cuda_array_interface__ and DLPack: ours for
   them, and theirs as arguments. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ours ---- */

PyObject *py_array_interface(PyObject *object, void *closure) {
    struct array *a = (struct array *)object;
    (void)closure;
    if (py_array_backend(a) != FCL_BACKEND_CUDA) {
        PyErr_SetString(PyExc_AttributeError, "only arrays on a CUDA device have __cuda_array_interface__");
        return NULL;
    }
    if (py_wait(a->device) != 0)
        return NULL;
    char type[16];
    snprintf(type, sizeof type, "%c%c%d", py_bases[a->base].bits == 8 ? '|' : '<', *py_bases[a->base].numpy,
             py_bases[a->base].bits / 8);
    unsigned long long address = py_array_count(a) ? (unsigned long long)fcl_buffer_native(a->buffer) : 0;
    return Py_BuildValue("{s:N,s:s,s:(KO),s:i,s:O,s:O}", "shape", py_shape_tuple(a->rank, a->shape), "typestr", type,
                         "data", address, Py_False, "version", 3, "strides", Py_None, "stream", Py_None);
}

/* DLPack's structures, version 0.8, as its specification has them. */
struct dl_tensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t rank;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
};
struct dl_managed {
    struct dl_tensor tensor;
    void *owner;
    void (*free)(struct dl_managed *);
};
enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 };

static uint8_t dl_code(int base) {
    switch (py_bases[base].kind) {
    case 'b': return DL_BOOL;
    case 'i': return DL_INT;
    case 'u': return DL_UINT;
    default: return base == FCLC_BF16 ? DL_BFLOAT : DL_FLOAT;
    }
}
static const char dl_name[] = "dltensor";

static void dl_free(struct dl_managed *managed) {
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)managed->owner);
    PyGILState_Release(state);
    free(managed->tensor.shape);
    free(managed);
}

static void dl_capsule_free(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, dl_name)) {
        struct dl_managed *managed = PyCapsule_GetPointer(capsule, dl_name);
        managed->free(managed);
    }
}

static int dl_device(struct array *a) {
    switch (py_array_backend(a)) {
    case FCL_BACKEND_C: return DL_CPU;
    case FCL_BACKEND_CUDA: return DL_CUDA;
    default: return 0;
    }
}

PyObject *py_array_dlpack_device(PyObject *object, PyObject *unused) {
    struct array *a = (struct array *)object;
    (void)unused;
    if (!dl_device(a)) {
        PyErr_SetString(PyExc_BufferError, "OpenCL's memory has no address for DLPack: numpy() copies it");
        return NULL;
    }
    return Py_BuildValue("(ii)", dl_device(a), dl_device(a) == DL_CUDA ? fcl_device(a->device->context)->index : 0);
}

/* Whatever stream the other one works on, the data is there: the device is waited for. */
PyObject *py_array_dlpack(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    PyObject *where = py_array_dlpack_device(object, NULL);
    int type, id, is_here = 1;
    if (where && device && device != Py_None)
        is_here = PyObject_RichCompareBool(where, device, Py_EQ);
    if (is_here == 0)
        PyErr_SetString(PyExc_BufferError, "this array is on another device: numpy() copies it to the host");
    int is_read = where && is_here == 1 && PyArg_ParseTuple(where, "ii", &type, &id);
    Py_XDECREF(where);
    int is_copied = copy ? PyObject_IsTrue(copy) : 0;
    if (!is_read || is_copied < 0)
        return NULL;
    object = is_copied ? PyObject_CallMethod(object, "__copy__", NULL) : Py_NewRef(object);
    struct array *a = (struct array *)object;
    if (!a || py_wait(a->device) != 0) {
        DROP(a);
        return NULL;
    }
    struct dl_managed *managed = calloc(1, sizeof *managed);
    int64_t *shape = calloc((size_t)(a->rank ? a->rank : 1), sizeof *shape);
    if (!managed || !shape) {
        free(managed);
        free(shape);
        DROP(a);
        return PyErr_NoMemory();
    }
    for (int i = 0; i < a->rank; i++)
        shape[i] = a->shape[i];
    managed->tensor = (struct dl_tensor){.data = (void *)fcl_buffer_native(a->buffer), .rank = a->rank, .shape = shape};
    managed->tensor.device.type = type;
    managed->tensor.device.id = id;
    managed->tensor.dtype.code = dl_code(a->base);
    managed->tensor.dtype.bits = (uint8_t)py_bases[a->base].bits;
    managed->tensor.dtype.lanes = 1;
    managed->owner = object;
    managed->free = dl_free;
    PyObject *capsule = PyCapsule_New(managed, dl_name, dl_capsule_free);
    if (!capsule)
        dl_free(managed);
    return capsule;
}

/* ---- theirs ---- */

/* The handle has a name in each library. */
static int find_handle(PyObject *object, PyObject **handle) {
    static const char *const names[] = {"cuda_stream", "ptr", "int_ptr"}; /* of PyTorch, CuPy, PyOpenCL */
    int found = py_find(object, "__cuda_stream__", handle);
    if (found == 1) { /* its version, and the handle */
        PyObject *pair = PyObject_CallNoArgs(*handle);
        Py_DECREF(*handle);
        *handle = pair ? PySequence_GetItem(pair, 1) : NULL;
        Py_XDECREF(pair);
        return *handle ? 1 : -1;
    }
    for (size_t i = 0; found == 0 && i < sizeof names / sizeof *names; i++)
        found = py_find(object, names[i], handle);
    return found;
}

int py_take_stream(struct call *call, PyObject *object) {
    struct device *device = call->kernel->program->device;
    const char *name = call->kernel->info->name;
    enum fcl_backend backend = device ? fcl_device(device->context)->backend : FCL_BACKEND_C;
    if (backend == FCL_BACKEND_C)
        return py_wrong_argument("%s: `stream` is of a CUDA or OpenCL device, and this kernel runs %s", name,
                                 device ? "in C" : "in the interpreter");
    PyObject *handle = NULL;
    char type[64];
    py_type_name(object, type, sizeof type);
    if (PyIndex_Check(object))
        handle = PyNumber_Index(object);
    else if (find_handle(object, &handle) == 0)
        return py_wrong_argument("%s: `stream` is the address of a stream or queue, or an object that has one, and "
                                 "this is of type %s",
                                 name, type);
    if (!handle)
        return -1;
    call->stream = PyLong_AsVoidPtr(handle);
    Py_DECREF(handle);
    if (PyErr_Occurred())
        return -1;
    if (!call->stream && backend != FCL_BACKEND_CUDA)
        return py_wrong_argument("%s: `stream` has the address 0, and OpenCL has no queue there", name);
    if (!call->stream)
        call->stream = CUDA_DEFAULT_STREAM;
    return 0;
}

/* Memory of somebody else's on a device of this kind. */
static int take_foreign(struct call *call, const struct fclc_type *type, unsigned long long address,
                        struct fclc_value *value) {
    static const char nothing;
    uint64_t bytes = py_bases[type->base].bits / 8;
    for (size_t i = 0; i < type->rank; i++)
        bytes *= (uint64_t)value->shape[i];
    call->has_arrays = 1;
    if (bytes)
        call->foreign[call->foreign_count++] = (struct foreign){value, (uintptr_t)address, bytes};
    else
        value->data = &nothing; /* it may have no address */
    return 0;
}

int py_is_dense(int rank, const Py_ssize_t *shape, const Py_ssize_t *strides, Py_ssize_t size) {
    for (int i = rank - 1; i >= 0; i--) {
        if (shape[i] > 1 && strides[i] != size)
            return 0;
        size *= shape[i];
    }
    return 1;
}

static int runs_on_cuda(const struct call *call) {
    struct device *device = call->kernel->program->device;
    return device && fcl_device(device->context)->backend == FCL_BACKEND_CUDA;
}

static int wait_for(struct call *call, void *stream) {
    struct device *device = call->kernel->program->device;
    enum fcl_status status;
    if (py_guard_enter(&device->guard, 1) != 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS status = fcl_finish_queue(device->context, stream);
    Py_END_ALLOW_THREADS return py_device_leave(device, status);
}

static Py_ssize_t sequence_of_sizes(PyObject *sequence, Py_ssize_t *to) {
    Py_ssize_t count = PySequence_Size(sequence);
    for (Py_ssize_t i = 0; i < count && i < FCLC_MAX_RANK; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        to[i] = item ? PyLong_AsSsize_t(item) : -1;
        Py_XDECREF(item);
    }
    return PyErr_Occurred() ? -1 : count;
}

int py_take_cuda(struct call *call, const struct fclc_type *type, PyObject *interface, struct fclc_value *value) {
    PyObject *shape = PyDict_GetItemString(interface, "shape"), *format = PyDict_GetItemString(interface, "typestr");
    PyObject *data = PyDict_GetItemString(interface, "data"), *strides = PyDict_GetItemString(interface, "strides");
    PyObject *stream = PyDict_GetItemString(interface, "stream");
    const char *text = format ? PyUnicode_AsUTF8AndSize(format, NULL) : NULL;
    Py_ssize_t extents[FCLC_MAX_RANK] = {0}, steps[FCLC_MAX_RANK] = {0};
    Py_ssize_t rank = shape ? sequence_of_sizes(shape, extents) : -1;
    unsigned long long address;
    int is_read_only, base = -1;
    if (!runs_on_cuda(call)) {
        PyErr_Clear(); /* of a shape that is none */
        return py_wrong(call, "is in a CUDA device's memory, and this kernel runs elsewhere: use target=\"cuda\"");
    }
    if (!text || !data || rank < 0 || rank > FCLC_MAX_RANK || !PyArg_ParseTuple(data, "Kp", &address, &is_read_only)) {
        PyErr_Clear();
        return py_wrong(call, "has a __cuda_array_interface__ that makes no sense");
    }
    for (int i = 0; i < BASES; i++)
        if (strlen(text) == 3 && text[0] != '>' && text[1] == *py_bases[i].numpy &&
            (text[2] - '0') * 8 == py_bases[i].bits)
            base = i;
    if (is_read_only && !call->number)
        return py_wrong(call, "wants an array that can be written");
    if (py_take_base(call, type, base, text) != 0 || py_take_shape(call, type, (int)rank, extents, value) != 0)
        return -1;
    if (strides && strides != Py_None &&
        (sequence_of_sizes(strides, steps) != rank ||
         !py_is_dense((int)rank, extents, steps, py_bases[base].bits / 8))) {
        PyErr_Clear();
        return py_wrong(call, "wants an array without gaps, in row-major order");
    }
    if (stream && stream != Py_None) { /* 1 and 2 are the default streams */
        void *handle = PyLong_AsVoidPtr(stream);
        if (PyErr_Occurred())
            return -1;
        if ((!call->stream || handle != call->stream) && wait_for(call, (uintptr_t)handle <= 2 ? NULL : handle) != 0)
            return -1;
    }
    return take_foreign(call, type, address, value);
}

int py_take_dlpack(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value) {
    PyObject *where = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    if (!where)
        return py_wrong_because(call, "has no __dlpack_device__ that works");
    int device = 0, id = 0, is_read = PyTuple_Check(where) && PyArg_ParseTuple(where, "ii", &device, &id);
    Py_XDECREF(where);
    if (!is_read) {
        PyErr_Clear();
        return py_wrong(call, "has a __dlpack_device__ that makes no sense");
    }
    if (device != DL_CUDA && device != DL_CUDA_MANAGED) {
        PyObject *array = PyObject_CallFunctionObjArgs(py.numpy_from_dlpack, object, NULL);
        return py_hold(call, array) != 0 ? -1 : py_take_host(call, type, array, value);
    }
    if (!runs_on_cuda(call))
        return py_wrong(call, "is in a CUDA device's memory, and this kernel runs elsewhere: use target=\"cuda\"");
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *none = PyTuple_New(0);
    PyObject *stream = PyLong_FromVoidPtr(call->stream ? call->stream : CUDA_DEFAULT_STREAM);
    PyObject *keywords = stream ? Py_BuildValue("{s:N}", "stream", stream) : NULL;
    PyObject *capsule = method && none && keywords ? PyObject_Call(method, none, keywords) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(keywords);
    if (py_hold(call, capsule) != 0 || (!call->stream && wait_for(call, NULL) != 0))
        return -1;
    struct dl_managed *managed = PyCapsule_GetPointer(capsule, dl_name);
    if (!managed)
        return -1;
    const struct dl_tensor *t = &managed->tensor;
    Py_ssize_t extents[FCLC_MAX_RANK] = {0}, steps[FCLC_MAX_RANK] = {0};
    int base = -1;
    for (int i = 0; i < BASES; i++) {
        if (t->dtype.lanes == 1 && t->dtype.code == dl_code(i) && t->dtype.bits == py_bases[i].bits)
            base = i;
    }
    if (py_take_base(call, type, base, "by DLPack") != 0)
        return -1;
    for (int i = 0; i < t->rank && i < FCLC_MAX_RANK; i++) {
        extents[i] = (Py_ssize_t)t->shape[i];
        steps[i] = t->strides ? (Py_ssize_t)t->strides[i] : 0;
    }
    if (py_take_shape(call, type, t->rank, extents, value) != 0)
        return -1;
    if (t->strides && !py_is_dense(t->rank, extents, steps, 1))
        return py_wrong(call, "wants an array without gaps, in row-major order");
    return take_foreign(call, type, (unsigned long long)(uintptr_t)t->data + t->byte_offset, value);
}
