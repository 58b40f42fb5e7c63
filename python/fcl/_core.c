/* The Python module's inner part: programs, kernels, device memory and calls, over fclc.h.

   Locks. A context serves one thread at a time, as does a program. Each Device has a guard, which is held for
   the time of a call, with Python's own lock released; programs for the interpreter have one of their own.
   What is freed while another thread holds the guard is freed when that one lets it go. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#define _POSIX_C_SOURCE 200809L /* strdup */
#include <Python.h>

#include <fclc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Our objects begin as Python's do. */
#define TAKE(object) Py_XINCREF((PyObject *)(object))
#define DROP(object) Py_XDECREF((PyObject *)(object))

/* ---- base types ---- */

static const struct base {
    const char *numpy, *format;
    char kind; /* as NumPy calls it; bf16 are floats, but NumPy gets their bits as numbers */
    int bits;
} bases[] = {
    [FCLC_BOOL] = {"bool", "?", 'b', 8},    [FCLC_I8] = {"int8", "b", 'i', 8},
    [FCLC_I16] = {"int16", "h", 'i', 16},   [FCLC_I32] = {"int32", "i", 'i', 32},
    [FCLC_I64] = {"int64", "q", 'i', 64},   [FCLC_U8] = {"uint8", "B", 'u', 8},
    [FCLC_U16] = {"uint16", "H", 'u', 16},  [FCLC_U32] = {"uint32", "I", 'u', 32},
    [FCLC_U64] = {"uint64", "Q", 'u', 64},  [FCLC_F32] = {"float32", "f", 'f', 32},
    [FCLC_F64] = {"float64", "d", 'f', 64}, [FCLC_F16] = {"float16", "e", 'f', 16},
    [FCLC_BF16] = {"uint16", "H", 'f', 16},
};
enum { BASES = sizeof bases / sizeof *bases };
_Static_assert((int)BASES == (int)FCLC_BF16 + 1, "all base types");

static int base_of_format(const char *format, Py_ssize_t size) {
    if (!format)
        format = "B";
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
        if (bases[i].kind == kind && bases[i].bits == size * 8)
            return i;
    return -1;
}

/* ---- the module's own objects ---- */

static PyObject *error_type, *argument_error_type, *warning_type;
static PyObject *device_type, *array_type, *program_type, *kernel_type;
static PyObject *numpy_asarray, *numpy_empty, *numpy_array_equal, *numpy_from_dlpack, *numpy_scalars[BASES];

static PyObject *attribute_of(const char *module, const char *name) {
    PyObject *from = PyImport_ImportModule(module);
    PyObject *found = from ? PyObject_GetAttrString(from, name) : NULL;
    Py_XDECREF(from);
    return found;
}

/* Raises fcl.Error, whose status is that of the command. */
static PyObject *fail_with(PyObject *type, int status, const char *message) {
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

/* Warnings that came with success are Python's; 0, or -1 where one became an error. */
static int take_message(enum fclc_status status, char *message) {
    int result = 0;
    if (status != FCLC_GOOD) {
        fail_with(error_type, (int)status, message && *message ? message : "fclc failed, and did not say why");
        result = -1;
    } else if (message) {
        result = PyErr_WarnEx(warning_type, message, 2);
    }
    fclc_free(message);
    return result;
}

static int wrong_argument(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fail_with(argument_error_type, FCLC_USAGE, text);
    return -1;
}

/* ---- guards ---- */

/* What is to be freed when the lock is let go: a buffer, or a kernel and then its program. */
struct garbage {
    struct fcl_buffer *buffer;
    struct fclc_kernel *kernel;
    PyObject *program;
};

struct guard {
    PyThread_type_lock lock;
    struct garbage *pending;
    size_t count, room;
};

static int guard_init(struct guard *guard) {
    *guard = (struct guard){PyThread_allocate_lock(), NULL, 0, 0};
    if (guard->lock)
        return 0;
    PyErr_NoMemory();
    return -1;
}

static void guard_enter(struct guard *guard) {
    if (PyThread_acquire_lock(guard->lock, NOWAIT_LOCK))
        return;
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(guard->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

/* Freeing a program may free more, which becomes pending meanwhile. */
static void guard_leave(struct guard *guard) {
    while (guard->count) {
        struct garbage one = guard->pending[--guard->count];
        fcl_buffer_free(one.buffer);
        fclc_close(one.kernel);
        Py_XDECREF(one.program);
    }
    PyThread_release_lock(guard->lock);
}

/* This may happen anywhere, by Python's collector also in a call of this very thread: it waits for nothing. The
   guard's owner is the caller's to keep. */
static void guard_free(struct guard *guard, struct garbage one) {
    if (guard->count == guard->room) {
        size_t room = guard->room ? 2 * guard->room : 16;
        struct garbage *more = realloc(guard->pending, room * sizeof *more);
        if (!more)
            return; /* what is left over goes with the context */
        guard->pending = more;
        guard->room = room;
    }
    guard->pending[guard->count++] = one;
    if (PyThread_acquire_lock(guard->lock, NOWAIT_LOCK))
        guard_leave(guard);
}

static void guard_free_buffer(struct guard *guard, struct fcl_buffer *buffer) {
    if (buffer)
        guard_free(guard, (struct garbage){.buffer = buffer});
}

static void guard_end(struct guard *guard) {
    if (guard->lock)
        PyThread_free_lock(guard->lock);
    free(guard->pending);
}

/* ---- types ---- */

static void free_object(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void *new_object(PyTypeObject *type) {
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

/* ---- devices ---- */

struct device {
    PyObject_HEAD struct fcl_context *context;
    struct guard guard;
};

static PyObject *context_error(struct fcl_context *context) {
    return fail_with(error_type, FCLC_DEVICE, fcl_error(context));
}

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"name", "queue", NULL};
    const char *name = "any";
    PyObject *queue = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|zO:Device", names, &name, &queue))
        return NULL;
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    if (name && fcl_parse_device(name, &options.kind, &options.index) != FCL_OK)
        return fail_with(argument_error_type, FCLC_USAGE,
                         "a device is any, cuda, opencl, opencl-gpu, opencl-cpu, opencl-other or c, and may "
                         "have a number, as in cuda:1");
    if (queue && queue != Py_None && !(options.queue = PyLong_AsVoidPtr(queue)) && PyErr_Occurred())
        return NULL;
    struct device *self = new_object(type);
    if (!self)
        return NULL;
    if (guard_init(&self->guard) != 0) {
        DROP(self);
        return NULL;
    }
    char why[4096] = "";
    enum fcl_status status;
    Py_BEGIN_ALLOW_THREADS status = fcl_open(&self->context, &options, why, sizeof why);
    Py_END_ALLOW_THREADS if (status == FCL_OK) return (PyObject *)self;
    DROP(self);
    return fail_with(error_type, FCLC_DEVICE, why);
}

static void device_free(PyObject *object) {
    struct device *self = (struct device *)object;
    if (self->context) {
        guard_enter(&self->guard);
        guard_leave(&self->guard);
        fcl_close(self->context);
    }
    guard_end(&self->guard);
    free_object(object);
}

static PyObject *device_name(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_DecodeUTF8(fcl_device(((struct device *)self)->context)->name,
                                (Py_ssize_t)strlen(fcl_device(((struct device *)self)->context)->name), "replace");
}

static PyObject *device_kind(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(fcl_device_kind_name(fcl_device(((struct device *)self)->context)->kind));
}

static PyObject *device_backend(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(fcl_backend_name(fcl_device(((struct device *)self)->context)->backend));
}

static PyObject *device_finish(PyObject *object, PyObject *unused) {
    struct device *self = (struct device *)object;
    enum fcl_status status;
    (void)unused;
    guard_enter(&self->guard);
    Py_BEGIN_ALLOW_THREADS status = fcl_finish(self->context);
    Py_END_ALLOW_THREADS guard_leave(&self->guard);
    if (status != FCL_OK)
        return context_error(self->context);
    Py_RETURN_NONE;
}

static PyObject *device_repr(PyObject *self) {
    const struct fcl_device_info *info = fcl_device(((struct device *)self)->context);
    return PyUnicode_FromFormat("<fcl.Device %s:%d (%s)>", fcl_device_kind_name(info->kind), info->index, info->name);
}

static PyGetSetDef device_fields[] = {
    {"name", device_name, NULL, "as its driver calls it", NULL},
    {"kind", device_kind, NULL, "cuda, opencl-gpu, opencl-cpu, opencl-other or c", NULL},
    {"backend", device_backend, NULL, "cuda, opencl or c", NULL},
    {0},
};
static PyMethodDef device_methods[] = {
    {"finish", device_finish, METH_NOARGS, "Wait until all work that was asked for is done."},
    {0},
};
static PyType_Slot device_slots[] = {
    {Py_tp_new, device_new},
    {Py_tp_dealloc, device_free},
    {Py_tp_repr, device_repr},
    {Py_tp_getset, device_fields},
    {Py_tp_methods, device_methods},
    {Py_tp_doc, "Device(name='any', queue=None)\n--\n\n"
                "A device that kernels run on, open: 'cuda', 'opencl-gpu', 'c', "
                "'cuda:1' and so on.\n"
                "`queue` is the address of a cl_command_queue or CUstream of the "
                "caller's to work on.\n"
                "Raises Error where there is no such device."},
    {0},
};
static PyType_Spec device_spec = {"fcl.Device", sizeof(struct device), 0, Py_TPFLAGS_DEFAULT, device_slots};

/* ---- arrays in a device's memory ---- */

struct array {
    PyObject_HEAD struct device *device;
    struct fcl_buffer *buffer;
    PyObject *owner; /* of memory that is not ours; or NULL */
    int base, rank;
    Py_ssize_t shape[FCLC_MAX_RANK], strides[FCLC_MAX_RANK];
};

static Py_ssize_t array_count(const struct array *a) {
    Py_ssize_t count = 1;
    for (int i = 0; i < a->rank; i++)
        count *= a->shape[i];
    return count;
}

static Py_ssize_t array_bytes(const struct array *a) { return array_count(a) * bases[a->base].bits / 8; }

/* Takes the buffer over. */
static struct array *array_new(struct device *device, struct fcl_buffer *buffer, int base, int rank,
                               const int64_t *shape) {
    struct array *a = new_object((PyTypeObject *)array_type);
    if (!a) {
        guard_free_buffer(&device->guard, buffer);
        return NULL;
    }
    TAKE(device);
    a->device = device;
    a->buffer = buffer;
    a->base = base;
    a->rank = rank;
    Py_ssize_t stride = bases[base].bits / 8;
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
        guard_free_buffer(&a->device->guard, a->buffer);
    DROP(a->device);
    Py_XDECREF(a->owner);
    free_object(object);
}

static enum fcl_backend array_backend(const struct array *a) { return fcl_device(a->device->context)->backend; }

static int array_export(PyObject *object, Py_buffer *view, int flags) {
    struct array *a = (struct array *)object;
    if (array_backend(a) != FCL_BACKEND_C) {
        PyErr_SetString(PyExc_BufferError, "this array is in a device's memory: numpy() copies it");
        return -1;
    }
    static char nothing;
    void *data = (void *)fcl_buffer_native(a->buffer);
    *view = (Py_buffer){.buf = data ? data : &nothing,
                        .len = array_bytes(a),
                        .itemsize = bases[a->base].bits / 8,
                        .ndim = a->rank,
                        .format = flags & PyBUF_FORMAT ? (char *)bases[a->base].format : NULL,
                        .shape = flags & PyBUF_ND ? a->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? a->strides : NULL};
    Py_INCREF(object);
    view->obj = object;
    return 0;
}

static PyObject *shape_tuple(int rank, const Py_ssize_t *shape) {
    PyObject *tuple = PyTuple_New(rank);
    for (int i = 0; tuple && i < rank; i++)
        PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(shape[i]));
    return tuple;
}

/* A copy as a NumPy array; the guard is not held, unless the caller holds it. */
static PyObject *array_read(struct array *a, int is_held) {
    PyObject *shape = shape_tuple(a->rank, a->shape);
    PyObject *array = shape ? PyObject_CallFunctionObjArgs(numpy_empty, shape, numpy_scalars[a->base], NULL) : NULL;
    Py_XDECREF(shape);
    Py_buffer view;
    if (!array || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) != 0) {
        Py_XDECREF(array);
        return NULL;
    }
    enum fcl_status status;
    if (!is_held)
        guard_enter(&a->device->guard);
    Py_BEGIN_ALLOW_THREADS status = fcl_read(a->buffer, 0, view.buf, (uint64_t)view.len);
    Py_END_ALLOW_THREADS if (!is_held) guard_leave(&a->device->guard);
    PyBuffer_Release(&view);
    if (status == FCL_OK)
        return array;
    Py_DECREF(array);
    return context_error(a->device->context);
}

static PyObject *array_numpy(PyObject *object, PyObject *unused) {
    (void)unused;
    return array_read((struct array *)object, 0);
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
    PyObject *array = array_read((struct array *)object, 0);
    if (!array || dtype == Py_None)
        return array;
    PyObject *other = PyObject_CallMethod(array, "astype", "O", dtype);
    Py_DECREF(array);
    return other;
}

static int finish_array(struct array *a) {
    enum fcl_status status;
    guard_enter(&a->device->guard);
    Py_BEGIN_ALLOW_THREADS status = fcl_finish(a->device->context);
    Py_END_ALLOW_THREADS guard_leave(&a->device->guard);
    if (status == FCL_OK)
        return 0;
    context_error(a->device->context);
    return -1;
}

static PyObject *array_interface(PyObject *object, void *closure) {
    struct array *a = (struct array *)object;
    (void)closure;
    if (array_backend(a) != FCL_BACKEND_CUDA) {
        PyErr_SetString(PyExc_AttributeError, "only arrays on a CUDA device have __cuda_array_interface__");
        return NULL;
    }
    if (finish_array(a) != 0)
        return NULL;
    char type[16];
    snprintf(type, sizeof type, "%c%c%d", bases[a->base].bits == 8 ? '|' : '<', *bases[a->base].numpy,
             bases[a->base].bits / 8);
    unsigned long long address = array_count(a) ? (unsigned long long)fcl_buffer_native(a->buffer) : 0;
    return Py_BuildValue("{s:N,s:s,s:(KO),s:i,s:O,s:O}", "shape", shape_tuple(a->rank, a->shape), "typestr", type,
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
    switch (bases[base].kind) {
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
    switch (array_backend(a)) {
    case FCL_BACKEND_C: return DL_CPU;
    case FCL_BACKEND_CUDA: return DL_CUDA;
    default: return 0;
    }
}

static PyObject *array_dlpack_device(PyObject *object, PyObject *unused) {
    struct array *a = (struct array *)object;
    (void)unused;
    if (!dl_device(a)) {
        PyErr_SetString(PyExc_BufferError, "OpenCL's memory has no address for DLPack: numpy() copies it");
        return NULL;
    }
    return Py_BuildValue("(ii)", dl_device(a), dl_device(a) == DL_CUDA ? fcl_device(a->device->context)->index : 0);
}

/* Whatever stream the other one works on, the data is there: the device is waited for. */
static PyObject *array_dlpack(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
    struct array *a = (struct array *)object;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:__dlpack__", names, &stream, &version, &device, &copy))
        return NULL;
    PyObject *where = array_dlpack_device(object, NULL);
    int type, id;
    if (!where || !PyArg_ParseTuple(where, "ii", &type, &id) || finish_array(a) != 0) {
        Py_XDECREF(where);
        return NULL;
    }
    Py_DECREF(where);
    struct dl_managed *managed = calloc(1, sizeof *managed);
    int64_t *shape = calloc((size_t)(a->rank ? a->rank : 1), sizeof *shape);
    if (!managed || !shape) {
        free(managed);
        free(shape);
        return PyErr_NoMemory();
    }
    for (int i = 0; i < a->rank; i++)
        shape[i] = a->shape[i];
    managed->tensor = (struct dl_tensor){.data = (void *)fcl_buffer_native(a->buffer), .rank = a->rank, .shape = shape};
    managed->tensor.device.type = type;
    managed->tensor.device.id = id;
    managed->tensor.dtype.code = dl_code(a->base);
    managed->tensor.dtype.bits = (uint8_t)bases[a->base].bits;
    managed->tensor.dtype.lanes = 1;
    managed->owner = object;
    managed->free = dl_free;
    Py_INCREF(object);
    PyObject *capsule = PyCapsule_New(managed, dl_name, dl_capsule_free);
    if (!capsule)
        dl_free(managed);
    return capsule;
}

static PyObject *array_shape(PyObject *object, void *closure) {
    (void)closure;
    return shape_tuple(((struct array *)object)->rank, ((struct array *)object)->shape);
}

static PyObject *array_dtype(PyObject *object, void *closure) {
    (void)closure;
    PyObject *make = attribute_of("numpy", "dtype");
    PyObject *dtype =
        make ? PyObject_CallFunctionObjArgs(make, numpy_scalars[((struct array *)object)->base], NULL) : NULL;
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
    return PyLong_FromSsize_t(array_count((struct array *)object));
}

static Py_ssize_t array_length(PyObject *object) {
    struct array *a = (struct array *)object;
    return a->rank ? a->shape[0] : 0;
}

static PyObject *array_repr(PyObject *object) {
    struct array *a = (struct array *)object;
    PyObject *shape = shape_tuple(a->rank, a->shape), *text = NULL;
    if (shape)
        text = PyUnicode_FromFormat("<fcl.Array of %s, shape %R, on %s>", bases[a->base].numpy, shape,
                                    fcl_device(a->device->context)->name);
    Py_XDECREF(shape);
    return text;
}

static PyGetSetDef array_fields[] = {
    {"shape", array_shape, NULL, "a tuple of extents", NULL},
    {"dtype", array_dtype, NULL, "NumPy's", NULL},
    {"size", array_size, NULL, "how many elements there are", NULL},
    {"device", array_device, NULL, "the Device it is on", NULL},
    {"__cuda_array_interface__", array_interface, NULL, "version 3; only on CUDA devices", NULL},
    {0},
};
static PyMethodDef array_methods[] = {
    {"numpy", array_numpy, METH_NOARGS, "A copy of it as a NumPy array."},
    {"__array__", (PyCFunction)(void (*)(void))array_as_numpy, METH_VARARGS | METH_KEYWORDS, "For numpy.asarray."},
    {"__dlpack__", (PyCFunction)(void (*)(void))array_dlpack, METH_VARARGS | METH_KEYWORDS,
     "A DLPack capsule that shares the memory, on CUDA devices and for C."},
    {"__dlpack_device__", array_dlpack_device, METH_NOARGS, "DLPack's type and number of the device."},
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
static PyType_Spec array_spec = {"fcl.Array", sizeof(struct array), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, array_slots};

/* ---- programs ---- */

struct program {
    PyObject_HEAD struct fclc_program *program;
    struct device *device; /* NULL: the interpreter */
    struct guard own;      /* where there is no device */
    const struct fclc_kernel_info *kernels;
    size_t kernel_count;
};

static struct guard *program_guard(struct program *p) { return p->device ? &p->device->guard : &p->own; }

/* Program(files, options): (path, text or None) pairs, and words as `fclc run` has them. */
static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *files, *words;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!O!:Program", &PyTuple_Type, &files, &PyTuple_Type, &words))
        return NULL;
    size_t file_count = (size_t)PyTuple_Size(files), word_count = (size_t)PyTuple_Size(words);
    struct program *self = new_object(type);
    struct fclc_file *given = calloc(file_count + 1, sizeof *given);
    const char **options = calloc(word_count + 1, sizeof *options);
    int is_good = self && given && options && guard_init(&self->own) == 0;
    for (size_t i = 0; is_good && i < file_count; i++) {
        Py_ssize_t length = 0;
        is_good =
            PyArg_ParseTuple(PyTuple_GetItem(files, (Py_ssize_t)i), "sz#", &given[i].path, &given[i].text, &length);
        given[i].length = (size_t)length;
    }
    for (size_t i = 0; is_good && i < word_count; i++)
        is_good = (options[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(words, (Py_ssize_t)i), NULL)) != NULL;
    if (is_good) {
        char *message = NULL;
        enum fclc_status status;
        Py_BEGIN_ALLOW_THREADS status = fclc_load(&self->program, given, file_count, options, word_count, &message);
        Py_END_ALLOW_THREADS is_good = take_message(status, message) == 0;
    } else if (!PyErr_Occurred()) {
        PyErr_NoMemory();
    }
    free(given);
    free(options);
    if (is_good) {
        self->kernels = fclc_kernels(self->program, &self->kernel_count);
        return (PyObject *)self;
    }
    DROP(self);
    return NULL;
}

static void program_free(PyObject *object) {
    struct program *self = (struct program *)object;
    fclc_unload(self->program);
    DROP(self->device);
    guard_end(&self->own);
    free_object(object);
}

/* A base type's name; ("array", name, rank); ("tuple", rank, items). */
static PyObject *type_object(const struct fclc_type *type) {
    if (type->kind == FCLC_SCALAR)
        return PyUnicode_FromString(bases[type->base].numpy);
    if (type->kind == FCLC_ARRAY)
        return Py_BuildValue("(ssn)", "array", bases[type->base].numpy, (Py_ssize_t)type->rank);
    PyObject *items = PyTuple_New((Py_ssize_t)type->count);
    for (size_t i = 0; items && i < type->count; i++)
        if (PyTuple_SetItem(items, (Py_ssize_t)i, type_object(&type->items[i])) != 0)
            Py_CLEAR(items);
    return items ? Py_BuildValue("(snN)", "tuple", (Py_ssize_t)type->rank, items) : NULL;
}

/* (name, type, comment, path, line, ((name, type as text, type), …), (result's type as text, type)) of each kernel. */
static PyObject *program_kernels(PyObject *object, void *closure) {
    struct program *self = (struct program *)object;
    PyObject *list = PyList_New(0);
    (void)closure;
    for (size_t i = 0; list && i < self->kernel_count; i++) {
        const struct fclc_kernel_info *k = &self->kernels[i];
        PyObject *parameters = PyTuple_New((Py_ssize_t)k->parameter_count);
        for (size_t n = 0; parameters && n < k->parameter_count; n++)
            PyTuple_SetItem(parameters, (Py_ssize_t)n,
                            Py_BuildValue("(ssN)", k->parameters[n].name, k->parameters[n].text,
                                          type_object(&k->parameters[n].type)));
        PyObject *one = Py_BuildValue("(ssssIN(sN))", k->name, k->text, k->comment, k->path, k->line, parameters,
                                      k->result.text, type_object(&k->result.type));
        if (!one || PyList_Append(list, one) != 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* What its options ask for, as Device wants it; None: the interpreter. */
static PyObject *program_target(PyObject *object, void *closure) {
    bool runs;
    enum fcl_device_kind kind = fclc_device_kind(((struct program *)object)->program, &runs);
    (void)closure;
    if (runs)
        return PyUnicode_FromString(fcl_device_kind_name(kind));
    Py_RETURN_NONE;
}

static PyObject *program_use(PyObject *object, PyObject *device) {
    struct program *self = (struct program *)object;
    if (self->device || !PyObject_TypeCheck(device, (PyTypeObject *)device_type)) {
        PyErr_SetString(PyExc_TypeError, "a Device is wanted, once");
        return NULL;
    }
    Py_INCREF(device);
    self->device = (struct device *)device;
    Py_RETURN_NONE;
}

static PyObject *program_text(PyObject *object, PyObject *args) {
    struct program *self = (struct program *)object;
    const char *kernel, *target;
    if (!PyArg_ParseTuple(args, "zs:text", &kernel, &target))
        return NULL;
    char *text = NULL, *message = NULL;
    enum fclc_status status;
    guard_enter(program_guard(self));
    Py_BEGIN_ALLOW_THREADS status = fclc_text(self->program, kernel, target, &text, &message);
    Py_END_ALLOW_THREADS guard_leave(program_guard(self));
    PyObject *result = NULL;
    if (take_message(status, message) == 0)
        result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    fclc_free(text);
    return result;
}

static PyObject *program_report(PyObject *object, PyObject *args) {
    struct program *self = (struct program *)object;
    const char *kernel, *target, *sizes, *device;
    int form;
    if (!PyArg_ParseTuple(args, "zzzzi:report", &kernel, &target, &sizes, &device, &form))
        return NULL;
    char *text = NULL, *message = NULL;
    enum fclc_status status;
    guard_enter(program_guard(self));
    Py_BEGIN_ALLOW_THREADS status =
        fclc_report(self->program, kernel, target, sizes, device, (enum fclc_report_form)form, &text, &message);
    Py_END_ALLOW_THREADS guard_leave(program_guard(self));
    PyObject *result = NULL;
    if (take_message(status, message) == 0)
        result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    fclc_free(text);
    return result;
}

static PyGetSetDef program_fields[] = {
    {"kernels", program_kernels, NULL, NULL, NULL},
    {"target", program_target, NULL, NULL, NULL},
    {0},
};
static PyMethodDef program_methods[] = {
    {"use", program_use, METH_O, "Run on that Device."},
    {"text", program_text, METH_VARARGS, "text(kernel or None, target)"},
    {"report", program_report, METH_VARARGS, "report(kernel, target, sizes, device, form), each but the last or None"},
    {0},
};
static PyType_Slot program_slots[] = {
    {Py_tp_new, program_new},
    {Py_tp_dealloc, program_free},
    {Py_tp_getset, program_fields},
    {Py_tp_methods, program_methods},
    {0},
};
static PyType_Spec program_spec = {"fcl._core.Program", sizeof(struct program), 0, Py_TPFLAGS_DEFAULT, program_slots};

/* ---- kernels ---- */

struct kernel {
    PyObject_HEAD struct program *program;
    const struct fclc_kernel_info *info;
    struct fclc_kernel *kernel;          /* compiled by the first call */
    size_t argument_count, result_count; /* parts */
};

static size_t count_parts(const struct fclc_type *type) {
    size_t count = type->kind != FCLC_TUPLE;
    for (size_t i = 0; type->kind == FCLC_TUPLE && i < type->count; i++)
        count += count_parts(&type->items[i]);
    return count;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *program;
    const char *name;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!s:Kernel", program_type, &program, &name))
        return NULL;
    struct program *p = (struct program *)program;
    for (size_t i = 0; i < p->kernel_count; i++)
        if (strcmp(p->kernels[i].name, name) == 0) {
            struct kernel *self = new_object(type);
            if (!self)
                return NULL;
            Py_INCREF(program);
            self->program = p;
            self->info = &p->kernels[i];
            self->result_count = count_parts(&self->info->result.type);
            for (size_t n = 0; n < self->info->parameter_count; n++)
                self->argument_count += count_parts(&self->info->parameters[n].type);
            return (PyObject *)self;
        }
    PyErr_Format(PyExc_AttributeError, "there is no kernel `%s`", name);
    return NULL;
}

static void kernel_free(PyObject *object) {
    struct kernel *self = (struct kernel *)object;
    struct program *p = self->program;
    if (p && self->kernel) { /* its program, and with it the guard, are there until it is closed */
        struct device *device = p->device;
        TAKE(device);
        TAKE(p);
        guard_free(program_guard(p), (struct garbage){.kernel = self->kernel, .program = (PyObject *)p});
        DROP(device);
    }
    DROP(p);
    free_object(object);
}

/* With the guard held. */
static int kernel_open(struct kernel *k) {
    if (k->kernel)
        return 0;
    char *message = NULL;
    enum fclc_status status;
    struct fcl_context *context = k->program->device ? k->program->device->context : NULL;
    Py_BEGIN_ALLOW_THREADS status = fclc_open(&k->kernel, k->program->program, k->info->name, context, &message);
    Py_END_ALLOW_THREADS return take_message(status, message);
}

static PyObject *kernel_compile(PyObject *object, PyObject *unused) {
    struct kernel *k = (struct kernel *)object;
    (void)unused;
    guard_enter(program_guard(k->program));
    int status = kernel_open(k);
    guard_leave(program_guard(k->program));
    if (status != 0)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- arguments ---- */

enum { FEW = 16 };

/* What a call holds while it runs. */
struct call {
    struct kernel *kernel;
    const struct fclc_parameter *parameter; /* in work, */
    size_t number;                          /* from 1 */
    struct fclc_value *values;              /* the arguments' parts, so far */
    size_t value_count;
    Py_buffer *views; /* of host memory */
    size_t view_count;
    PyObject **held; /* what keeps memory alive */
    size_t held_count;
    struct foreign {
        struct fclc_value *value;
        uintptr_t address;
        uint64_t bytes;
    } * foreign; /* memory of the device that is not ours */
    size_t foreign_count;
    int has_arrays; /* of the device among the arguments */
};

static int wrong(const struct call *call, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return wrong_argument("%s: argument %zu, `%s : %s`, %s", call->kernel->info->name, call->number,
                          call->parameter->name, call->parameter->text, text);
}

static void type_name(PyObject *object, char *text, size_t bytes) {
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
        type_name(object, found, sizeof found);
        return wrong(call, "wants a whole number, not a value of type %s", found);
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
    return is_good ? 0 : wrong(call, "is out of the range of %s", base->numpy);
}

static int take_scalar(struct call *call, const struct fclc_type *type, PyObject *object) {
    const struct base *base = &bases[type->base];
    struct fclc_value *value = &call->values[call->value_count++];
    char found[64];
    if (base->kind == 'i' || base->kind == 'u')
        return take_integer(call, base, object, &value->scalar.integer);
    if (base->kind == 'b') {
        type_name(object, found, sizeof found);
        if (!PyBool_Check(object) && strncmp(found, "bool", 4) != 0)
            return wrong(call, "wants True or False, not a value of type %s", found);
        value->scalar.integer = PyObject_IsTrue(object);
        return 0;
    }
    double number = PyFloat_AsDouble(object);
    if (number == -1 && PyErr_Occurred()) {
        int is_large = PyErr_ExceptionMatches(PyExc_OverflowError);
        PyErr_Clear();
        if (is_large)
            return wrong(call, "is out of the range of %s", base->numpy);
        type_name(object, found, sizeof found);
        return wrong(call, "wants a number, not a value of type %s", found);
    }
    value->scalar.floating = number;
    return 0;
}

static int hold(struct call *call, PyObject *object) {
    if (object)
        call->held[call->held_count++] = object;
    return object ? 0 : -1;
}

static int take_shape(struct call *call, const struct fclc_type *type, int rank, const Py_ssize_t *shape,
                      struct fclc_value *value) {
    if ((size_t)rank != type->rank)
        return wrong(call, "wants an array of %zu dimension%s, and this one has %d", type->rank,
                     type->rank == 1 ? "" : "s", rank);
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0) /* only others' descriptions of memory can say so */
            return wrong(call, "has a dimension of %zd elements", shape[i]);
        if (shape[i] > INT32_MAX || (count *= shape[i] ? shape[i] : 1) > INT32_MAX)
            return wrong(call, "is too long: FCL counts up to 2147483647 elements");
        value->shape[i] = shape[i];
    }
    return 0;
}

static int take_base(struct call *call, const struct fclc_type *type, int base, const char *format) {
    if (base == (int)type->base || (base >= 0 && strcmp(bases[base].numpy, bases[type->base].numpy) == 0))
        return 0;
    if (base < 0)
        return wrong(call, "wants elements of type %s, and this array has others (%s)", bases[type->base].numpy,
                     format ? format : "?");
    return wrong(call, "wants elements of type %s, and this array's are %s; `.astype(numpy.%s)` converts",
                 bases[type->base].numpy, bases[base].numpy,
                 type->base == FCLC_BOOL ? "bool_" : bases[type->base].numpy);
}

static int take_host(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value);

static int take_device_array(struct call *call, const struct fclc_type *type, struct array *a,
                             struct fclc_value *value) {
    if (take_base(call, type, a->base, NULL) != 0 || take_shape(call, type, a->rank, a->shape, value) != 0)
        return -1;
    if (call->kernel->program->device != a->device)
        return wrong(call, "is on another device (%s): `.numpy()` copies it", fcl_device(a->device->context)->name);
    call->has_arrays = 1;
    value->buffer = a->buffer;
    TAKE(a);
    return hold(call, (PyObject *)a);
}

/* Memory of somebody else's on a device of this kind. */
static int take_foreign(struct call *call, const struct fclc_type *type, unsigned long long address,
                        struct fclc_value *value) {
    static const char nothing;
    uint64_t bytes = bases[type->base].bits / 8;
    for (size_t i = 0; i < type->rank; i++)
        bytes *= (uint64_t)value->shape[i];
    call->has_arrays = 1;
    if (bytes)
        call->foreign[call->foreign_count++] = (struct foreign){value, (uintptr_t)address, bytes};
    else
        value->data = &nothing; /* it may have no address */
    return 0;
}

static int is_dense(int rank, const Py_ssize_t *shape, const Py_ssize_t *strides, Py_ssize_t size) {
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
    guard_enter(&device->guard);
    Py_BEGIN_ALLOW_THREADS status = fcl_finish_queue(device->context, stream);
    Py_END_ALLOW_THREADS guard_leave(&device->guard);
    if (status == FCL_OK)
        return 0;
    context_error(device->context);
    return -1;
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

/* What it says of itself, `interface`, is a dictionary of version 2 or 3. */
static int take_cuda(struct call *call, const struct fclc_type *type, PyObject *interface, struct fclc_value *value) {
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
        return wrong(call, "is in a CUDA device's memory, and this kernel runs elsewhere: use target=\"cuda\"");
    }
    if (!text || !data || rank < 0 || rank > FCLC_MAX_RANK || !PyArg_ParseTuple(data, "Kp", &address, &is_read_only)) {
        PyErr_Clear();
        return wrong(call, "has a __cuda_array_interface__ that makes no sense");
    }
    for (int i = 0; i < BASES; i++)
        if (strlen(text) == 3 && text[0] != '>' && text[1] == *bases[i].numpy && (text[2] - '0') * 8 == bases[i].bits)
            base = i;
    if (take_base(call, type, base, text) != 0 || take_shape(call, type, (int)rank, extents, value) != 0)
        return -1;
    if (strides && strides != Py_None &&
        (sequence_of_sizes(strides, steps) != rank || !is_dense((int)rank, extents, steps, bases[base].bits / 8))) {
        PyErr_Clear();
        return wrong(call, "wants an array without gaps, in row-major order");
    }
    if (stream && stream != Py_None) { /* 1 and 2 are the default streams */
        void *handle = PyLong_AsVoidPtr(stream);
        if (PyErr_Occurred() || wait_for(call, (uintptr_t)handle <= 2 ? NULL : handle) != 0)
            return -1;
    }
    return take_foreign(call, type, address, value);
}

static int take_dlpack(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value) {
    PyObject *where = PyObject_CallMethod(object, "__dlpack_device__", NULL);
    int device = 0, id = 0, is_read = where && PyTuple_Check(where) && PyArg_ParseTuple(where, "ii", &device, &id);
    Py_XDECREF(where);
    if (!is_read) {
        PyErr_Clear();
        return wrong(call, "has a __dlpack_device__ that makes no sense");
    }
    if (device != DL_CUDA && device != DL_CUDA_MANAGED) {
        PyObject *array = PyObject_CallFunctionObjArgs(numpy_from_dlpack, object, NULL);
        return hold(call, array) != 0 ? -1 : take_host(call, type, array, value);
    }
    if (!runs_on_cuda(call))
        return wrong(call, "is in a CUDA device's memory, and this kernel runs elsewhere: use target=\"cuda\"");
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__"), *none = PyTuple_New(0);
    PyObject *keywords = Py_BuildValue("{s:i}", "stream", 1); /* the legacy default stream: it is waited for */
    PyObject *capsule = method && none && keywords ? PyObject_Call(method, none, keywords) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(keywords);
    if (hold(call, capsule) != 0 || wait_for(call, NULL) != 0)
        return -1;
    struct dl_managed *managed = PyCapsule_GetPointer(capsule, dl_name);
    if (!managed)
        return -1;
    const struct dl_tensor *t = &managed->tensor;
    Py_ssize_t extents[FCLC_MAX_RANK] = {0}, steps[FCLC_MAX_RANK] = {0};
    int base = -1;
    for (int i = 0; i < BASES; i++) {
        if (t->dtype.lanes == 1 && t->dtype.code == dl_code(i) && t->dtype.bits == bases[i].bits)
            base = i;
    }
    if (take_base(call, type, base, "by DLPack") != 0)
        return -1;
    for (int i = 0; i < t->rank && i < FCLC_MAX_RANK; i++) {
        extents[i] = (Py_ssize_t)t->shape[i];
        steps[i] = t->strides ? (Py_ssize_t)t->strides[i] : 0;
    }
    if (take_shape(call, type, t->rank, extents, value) != 0)
        return -1;
    if (t->strides && !is_dense(t->rank, extents, steps, 1))
        return wrong(call, "wants an array without gaps, in row-major order");
    return take_foreign(call, type, (unsigned long long)(uintptr_t)t->data + t->byte_offset, value);
}

/* In row-major order, without gaps, and where elements of their size may lie. */
static PyObject *dense_copy(PyObject *object) {
    PyObject *array = PyObject_CallFunctionObjArgs(numpy_asarray, object, NULL);
    PyObject *copy = array ? PyObject_CallMethod(array, "copy", "s", "C") : NULL;
    Py_XDECREF(array);
    return copy;
}

static int take_view(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value) {
    Py_buffer *view = &call->views[call->view_count];
    if (PyObject_GetBuffer(object, view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        PyErr_Clear(); /* dates of NumPy's, or memory that is released */
        char found[64];
        type_name(object, found, sizeof found);
        return wrong(call, "wants elements of type %s, and this %s does not show such", bases[type->base].numpy, found);
    }
    call->view_count++;
    int base = base_of_format(view->format, view->itemsize);
    if (take_base(call, type, base, view->format) != 0 || take_shape(call, type, view->ndim, view->shape, value) != 0)
        return -1;
    if (is_dense(view->ndim, view->shape, view->strides, view->itemsize) &&
        (uintptr_t)view->buf % (uintptr_t)view->itemsize == 0) {
        value->data = view->buf;
        return 0;
    }
    PyObject *dense = dense_copy(object);
    return hold(call, dense) != 0 ? -1 : take_view(call, type, dense, value);
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
    char wanted = *bases[type->base].numpy;
    int is_whole = wanted == 'i' || wanted == 'u';
    /* Integers are compared with what is made of them: NumPy has no type for all of [1, 2^64 - 1]. */
    PyObject *found =
        PyObject_CallFunctionObjArgs(numpy_asarray, list, is_whole ? (PyObject *)&PyBaseObject_Type : NULL, NULL);
    PyObject *array = found ? PyObject_CallFunctionObjArgs(numpy_asarray, list, numpy_scalars[type->base], NULL) : NULL;
    int is_same = 0;
    if (array && is_whole) {
        PyObject *answer = PyObject_CallFunctionObjArgs(numpy_array_equal, found, array, NULL);
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

static int take_host(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value) {
    if (PyObject_CheckBuffer(object))
        return take_view(call, type, object, value);
    PyObject *array = NULL;
    char found[64];
    type_name(object, found, sizeof found);
    if (PyList_Check(object) || PyTuple_Check(object) || strcmp(found, "range") == 0)
        array = array_of_list(type, object);
    else if (PyObject_HasAttrString(object, "__array__"))
        array = PyObject_CallFunctionObjArgs(numpy_asarray, object, NULL);
    else
        return wrong(call, "wants an array, not a value of type %s", found);
    if (!array) {
        PyErr_Clear();
        return wrong(call, "cannot be made an array of %s", bases[type->base].numpy);
    }
    hold(call, array);
    return take_view(call, type, array, value);
}

static int take_array(struct call *call, const struct fclc_type *type, PyObject *object) {
    struct fclc_value *value = &call->values[call->value_count++];
    if (PyObject_TypeCheck(object, (PyTypeObject *)array_type))
        return take_device_array(call, type, (struct array *)object, value);
    if (PyObject_CheckBuffer(object) || PyList_Check(object))
        return take_host(call, type, object, value);
    PyObject *interface = PyObject_GetAttrString(object, "__cuda_array_interface__");
    if (interface && PyDict_Check(interface)) {
        Py_INCREF(object);
        hold(call, object);
        int status = take_cuda(call, type, interface, value);
        Py_DECREF(interface);
        return status;
    }
    Py_XDECREF(interface);
    PyErr_Clear();
    if (PyObject_HasAttrString(object, "__dlpack__"))
        return take_dlpack(call, type, object, value);
    return take_host(call, type, object, value);
}

static int take(struct call *call, const struct fclc_type *type, PyObject *object) {
    if (type->kind == FCLC_SCALAR)
        return take_scalar(call, type, object);
    if (type->kind == FCLC_ARRAY)
        return take_array(call, type, object);
    if (!PyTuple_Check(object) || (size_t)PyTuple_Size(object) != type->count)
        return wrong(call,
                     type->rank ? "wants a tuple of %zu arrays, one for each component, all of one shape"
                                : "wants a tuple of %zu values",
                     type->count);
    size_t first = call->value_count;
    for (size_t i = 0; i < type->count; i++)
        if (take(call, &type->items[i], PyTuple_GetItem(object, (Py_ssize_t)i)) != 0)
            return -1;
    for (size_t i = first + 1; type->rank && i < call->value_count; i++)
        if (memcmp(call->values[i].shape, call->values[first].shape, type->rank * sizeof(int64_t)) != 0)
            return wrong(call, "wants arrays of one shape");
    return 0;
}

static int take_all(struct call *call, PyObject *args) {
    for (size_t i = 0; i < call->kernel->info->parameter_count; i++) {
        call->parameter = &call->kernel->info->parameters[i];
        call->number = i + 1;
        if (take(call, &call->parameter->type, PyTuple_GetItem(args, (Py_ssize_t)i)) != 0)
            return -1;
    }
    return 0;
}

/* ---- results ---- */

static PyObject *scalar_object(int base, const struct fclc_value *value) {
    char kind = bases[base].kind;
    PyObject *number = kind == 'f'   ? PyFloat_FromDouble(value->scalar.floating)
                       : kind == 'b' ? PyBool_FromLong(value->scalar.integer != 0)
                       : kind == 'u' ? PyLong_FromUnsignedLongLong((unsigned long long)value->scalar.integer)
                                     : PyLong_FromLongLong(value->scalar.integer);
    int shown = base == FCLC_BF16 ? FCLC_F32 : base; /* a number, not its bits */
    PyObject *result = number ? PyObject_CallFunctionObjArgs(numpy_scalars[shown], number, NULL) : NULL;
    Py_XDECREF(number);
    return result;
}

/* The interpreter's results are in memory that its next run takes back. */
static PyObject *host_array(int base, int rank, const struct fclc_value *value) {
    Py_ssize_t shape[FCLC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        shape[i] = (Py_ssize_t)value->shape[i];
    PyObject *extents = shape_tuple(rank, shape);
    PyObject *array = extents ? PyObject_CallFunctionObjArgs(numpy_empty, extents, numpy_scalars[base], NULL) : NULL;
    Py_XDECREF(extents);
    Py_buffer view;
    if (!array || PyObject_GetBuffer(array, &view, PyBUF_WRITABLE) != 0) {
        Py_XDECREF(array);
        return NULL;
    }
    if (view.len)
        memcpy(view.buf, value->data, (size_t)view.len);
    PyBuffer_Release(&view);
    return array;
}

static PyObject *array_object(struct call *call, int base, int rank, struct fclc_value *value, int keep) {
    struct device *device = call->kernel->program->device;
    if (!device)
        return host_array(base, rank, value);
    struct array *a = array_new(device, value->buffer, base, rank, value->shape);
    value->buffer = NULL;
    if (!a || keep)
        return (PyObject *)a;
    PyObject *result = array_backend(a) == FCL_BACKEND_C
                           ? PyObject_CallFunctionObjArgs(numpy_asarray, (PyObject *)a, NULL)
                           : array_read(a, 1);
    DROP(a);
    return result;
}

static PyObject *result_object(struct call *call, const struct fclc_type *type, struct fclc_value **at, int keep) {
    if (type->kind == FCLC_SCALAR)
        return scalar_object((int)type->base, (*at)++);
    if (type->kind == FCLC_ARRAY)
        return array_object(call, (int)type->base, (int)type->rank, (*at)++, keep);
    PyObject *tuple = PyTuple_New((Py_ssize_t)type->count);
    for (size_t i = 0; tuple && i < type->count; i++) {
        PyObject *item = result_object(call, &type->items[i], at, keep);
        if (!item || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) != 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

/* ---- calls ---- */

/* With the guard held, and Python's lock not. */
static enum fclc_status run_wrapped(struct call *call, struct fclc_value *results, char **message) {
    struct kernel *k = call->kernel;
    struct fcl_context *context = k->program->device ? k->program->device->context : NULL;
    enum fclc_status status = FCLC_GOOD;
    size_t wrapped = 0;
    *message = NULL;
    for (; status == FCLC_GOOD && wrapped < call->foreign_count; wrapped++) {
        const struct foreign *one = &call->foreign[wrapped];
        if (fcl_buffer_wrap(context, one->address, one->bytes, &one->value->buffer) != FCL_OK) {
            status = FCLC_DEVICE;
            *message = strdup(fcl_error(context));
        }
    }
    if (status == FCLC_GOOD)
        status = fclc_run(k->kernel, call->values, results, message);
    if (wrapped) /* their owner may write there next */
        fcl_finish(context);
    while (wrapped)
        fcl_buffer_free(call->foreign[--wrapped].value->buffer);
    return status;
}

/* `keep`: 1, 0, or -1, as the arguments are. */
static PyObject *run(struct call *call, struct fclc_value *results, int keep) {
    struct kernel *k = call->kernel;
    struct guard *guard = program_guard(k->program);
    PyObject *result = NULL;
    guard_enter(guard);
    if (kernel_open(k) == 0) {
        char *message = NULL;
        enum fclc_status status;
        Py_BEGIN_ALLOW_THREADS status = run_wrapped(call, results, &message);
        Py_END_ALLOW_THREADS struct fclc_value *at = results;
        if (take_message(status, message) == 0)
            result = result_object(call, &k->info->result.type, &at, keep < 0 ? call->has_arrays : keep);
        for (size_t i = 0; !result && status == FCLC_GOOD && k->program->device && i < k->result_count; i++)
            fcl_buffer_free(results[i].buffer);
    }
    guard_leave(guard);
    return result;
}

/* Calls with few values take no memory for them. */
static PyObject *take_and_run(struct kernel *k, PyObject *args, int keep) {
    struct fclc_value few_values[FEW], few_results[FEW];
    Py_buffer few_views[2 * FEW];
    PyObject *few_held[3 * FEW];
    struct foreign few_foreign[FEW];
    struct call call = {
        .kernel = k, .values = few_values, .views = few_views, .held = few_held, .foreign = few_foreign};
    struct fclc_value *results = few_results;
    size_t most = k->argument_count > k->result_count ? k->argument_count : k->result_count;
    char *room = NULL;
    if (most > FEW) {
        room = malloc(
            most * (2 * sizeof *call.values + 2 * sizeof *call.views + 3 * sizeof *call.held + sizeof *call.foreign));
        if (!room)
            return PyErr_NoMemory();
        call.values = (struct fclc_value *)room;
        results = call.values + most;
        call.views = (Py_buffer *)(results + most);
        call.foreign = (struct foreign *)(call.views + 2 * most);
        call.held = (PyObject **)(call.foreign + most);
    }
    memset(call.values, 0, k->argument_count * sizeof *call.values);
    PyObject *result = take_all(&call, args) == 0 ? run(&call, results, keep) : NULL;
    while (call.view_count)
        PyBuffer_Release(&call.views[--call.view_count]);
    while (call.held_count)
        Py_DECREF(call.held[--call.held_count]);
    free(room);
    return result;
}

/* Puts parameters that are given by name in their places, and takes `keep` out; the rest is in *others. */
static PyObject *sort_keywords(struct kernel *k, PyObject *args, PyObject *kwargs, int *keep, PyObject **others) {
    size_t count = k->info->parameter_count, given = (size_t)PyTuple_Size(args);
    PyObject *all = PyTuple_New((Py_ssize_t)(given > count ? given : count)), *name, *value;
    if (!all)
        return NULL;
    for (size_t i = 0; i < given; i++) {
        PyObject *item = PyTuple_GetItem(args, (Py_ssize_t)i);
        Py_INCREF(item);
        PyTuple_SetItem(all, (Py_ssize_t)i, item);
    }
    Py_ssize_t at = 0;
    size_t filled = given;
    while (PyDict_Next(kwargs, &at, &name, &value)) {
        const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
        size_t i = 0;
        while (text && i < count && strcmp(k->info->parameters[i].name, text) != 0)
            i++;
        int is_bad = !text;
        if (text && i < count) {
            is_bad = i < given || PyTuple_GetItem(all, (Py_ssize_t)i);
            if (is_bad)
                wrong_argument("%s: `%s` is given twice", k->info->name, text);
            else {
                Py_INCREF(value);
                PyTuple_SetItem(all, (Py_ssize_t)i, value);
                filled++;
            }
        } else if (text && strcmp(text, "keep") == 0) {
            *keep = PyObject_IsTrue(value);
        } else if (text) {
            if (!*others)
                *others = PyDict_New();
            is_bad = !*others || PyDict_SetItem(*others, name, value) != 0;
        }
        if (is_bad) {
            Py_DECREF(all);
            return NULL;
        }
    }
    if (filled >= count)
        return all;
    for (size_t i = 0; i < count; i++)
        if (i >= given && !PyTuple_GetItem(all, (Py_ssize_t)i)) {
            wrong_argument("%s: argument %zu, `%s : %s`, is missing", k->info->name, i + 1, k->info->parameters[i].name,
                           k->info->parameters[i].text);
            break;
        }
    Py_DECREF(all);
    return NULL;
}

static PyObject *call_with(struct kernel *k, PyObject *args, int keep) {
    size_t given = (size_t)PyTuple_Size(args), count = k->info->parameter_count;
    if (given == count)
        return take_and_run(k, args, keep);
    if (given < count)
        wrong_argument("%s: argument %zu, `%s : %s`, is missing", k->info->name, given + 1,
                       k->info->parameters[given].name, k->info->parameters[given].text);
    else
        wrong_argument("%s takes %zu argument%s, and %zu were given; its type is %s", k->info->name, count,
                       count == 1 ? "" : "s", given, k->info->text);
    return NULL;
}

static PyObject *kernel_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    struct kernel *k = (struct kernel *)object;
    if (!kwargs || PyDict_Size(kwargs) == 0)
        return call_with(k, args, -1);
    int keep = -1;
    PyObject *others = NULL, *all = sort_keywords(k, args, kwargs, &keep, &others), *result = NULL;
    if (all && !others) {
        result = call_with(k, all, keep);
    } else if (all) { /* options: that is a kernel of its own */
        PyObject *variant = PyObject_CallMethod(object, "_variant", "O", others);
        if (variant)
            result = call_with((struct kernel *)variant, all, keep);
        Py_XDECREF(variant);
    }
    Py_XDECREF(all);
    Py_XDECREF(others);
    return result;
}

static PyMethodDef kernel_methods[] = {
    {"compile", kernel_compile, METH_NOARGS, "Compile it now, not with its first call."},
    {0},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_free},
    {Py_tp_call, kernel_call},
    {Py_tp_methods, kernel_methods},
    {0},
};
static PyType_Spec kernel_spec = {"fcl._core.Kernel", sizeof(struct kernel), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kernel_slots};

/* ---- the module ---- */

/* put(device, array): a copy of a NumPy array, dense, in the device's memory. */
static PyObject *core_put(PyObject *module, PyObject *args) {
    PyObject *device, *object;
    Py_buffer view;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O:put", device_type, &device, &object))
        return NULL;
    if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        PyErr_Clear();
        wrong_argument("put: an array is wanted, of a type that FCL has");
        return NULL;
    }
    int base = base_of_format(view.format, view.itemsize);
    struct device *d = (struct device *)device;
    struct fcl_buffer *buffer = NULL;
    struct array *result = NULL;
    int64_t shape[FCLC_MAX_RANK];
    if (base < 0 || view.ndim < 1 || view.ndim > FCLC_MAX_RANK) {
        wrong_argument("put: an array of 1 to %d dimensions is wanted, of a type that FCL has; its format is %s",
                       FCLC_MAX_RANK, view.format ? view.format : "?");
    } else {
        for (int i = 0; i < view.ndim; i++)
            shape[i] = view.shape[i];
        enum fcl_status status;
        guard_enter(&d->guard);
        Py_BEGIN_ALLOW_THREADS status = fcl_buffer_new(d->context, (uint64_t)view.len, &buffer);
        if (status == FCL_OK)
            status = fcl_write(buffer, 0, view.buf, (uint64_t)view.len);
        Py_END_ALLOW_THREADS if (status != FCL_OK) fcl_buffer_free(buffer);
        guard_leave(&d->guard);
        if (status != FCL_OK)
            context_error(d->context);
        else
            result = array_new(d, buffer, base, view.ndim, shape);
    }
    PyBuffer_Release(&view);
    return (PyObject *)result;
}

/* A dictionary for each device that there is. */
static PyObject *core_devices(PyObject *module, PyObject *unused) {
    struct fcl_device_list list;
    enum fcl_status status;
    (void)module;
    (void)unused;
    Py_BEGIN_ALLOW_THREADS status = fcl_devices(&list);
    Py_END_ALLOW_THREADS if (status != FCL_OK) return fail_with(error_type, FCLC_DEVICE, fcl_status_text(status));
    PyObject *result = PyList_New(0);
    for (size_t i = 0; result && i < list.count; i++) {
        const struct fcl_device_info *d = &list.devices[i];
        PyObject *one =
            Py_BuildValue("{s:s,s:i,s:s,s:s,s:s,s:K,s:I,s:O,s:s}", "kind", fcl_device_kind_name(d->kind), "index",
                          d->index, "name", d->name, "platform", d->platform, "driver", d->driver, "memory_bytes",
                          (unsigned long long)d->memory_bytes, "compute_units", (unsigned)d->compute_units,
                          "has_double", d->has_double ? Py_True : Py_False, "problem", d->problem);
        if (!one || PyList_Append(result, one) != 0)
            Py_CLEAR(result);
        Py_XDECREF(one);
    }
    fcl_device_list_free(&list);
    return result;
}

static PyMethodDef core_methods[] = {
    {"put", core_put, METH_VARARGS, NULL},
    {"devices", core_devices, METH_NOARGS, NULL},
    {0},
};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec, PyObject **type) {
    *type = PyType_FromSpec(spec);
    return *type ? PyModule_AddObjectRef(module, name, *type) : -1;
}

static int find_numpy(void) {
    numpy_asarray = attribute_of("numpy", "asarray");
    numpy_empty = attribute_of("numpy", "empty");
    numpy_array_equal = attribute_of("numpy", "array_equal");
    numpy_from_dlpack = attribute_of("numpy", "from_dlpack");
    if (!numpy_asarray || !numpy_empty || !numpy_array_equal || !numpy_from_dlpack)
        return -1;
    for (int i = 0; i < BASES; i++)
        if (!(numpy_scalars[i] = attribute_of("numpy", i == FCLC_BOOL ? "bool_" : bases[i].numpy)))
            return -1;
    return 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "fcl._core", NULL, -1, core_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    error_type = attribute_of("fcl._errors", "Error");
    argument_error_type = attribute_of("fcl._errors", "ArgumentError");
    warning_type = attribute_of("fcl._errors", "Warning");
    if (error_type && argument_error_type && warning_type && find_numpy() == 0 &&
        add_type(module, "Device", &device_spec, &device_type) == 0 &&
        add_type(module, "Array", &array_spec, &array_type) == 0 &&
        add_type(module, "Program", &program_spec, &program_type) == 0 &&
        add_type(module, "Kernel", &kernel_spec, &kernel_type) == 0 &&
        PyModule_AddStringConstant(module, "version", fclc_version()) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
