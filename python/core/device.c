/* Devices, and who may use them. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

/* ---- guards ---- */

int py_guard_init(struct guard *guard) {
    *guard = (struct guard){PyThread_allocate_lock(), NULL, 0, 0};
    if (guard->lock)
        return 0;
    PyErr_NoMemory();
    return -1;
}

void py_guard_enter(struct guard *guard) {
    if (PyThread_acquire_lock(guard->lock, NOWAIT_LOCK))
        return;
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(guard->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

void py_guard_leave(struct guard *guard) {
    while (guard->count) {
        struct garbage one = guard->pending[--guard->count];
        fcl_buffer_free(one.buffer);
        fclc_close(one.kernel);
        Py_XDECREF(one.program);
    }
    PyThread_release_lock(guard->lock);
}

void py_guard_free(struct guard *guard, struct garbage one) {
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
        py_guard_leave(guard);
}

void py_guard_free_buffer(struct guard *guard, struct fcl_buffer *buffer) {
    if (buffer)
        py_guard_free(guard, (struct garbage){.buffer = buffer});
}

void py_guard_end(struct guard *guard) {
    if (guard->lock)
        PyThread_free_lock(guard->lock);
    free(guard->pending);
}

/* ---- devices ---- */

PyObject *py_context_error(struct fcl_context *context) {
    return py_fail_with(py.error_type, FCLC_DEVICE, fcl_error(context));
}

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"name", "queue", NULL};
    const char *name = "any";
    PyObject *queue = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|zO:Device", names, &name, &queue))
        return NULL;
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    if (name && fcl_parse_device(name, &options.kind, &options.index) != FCL_OK)
        return py_fail_with(py.argument_error_type, FCLC_USAGE,
                            "a device is any, cuda, opencl, opencl-gpu, opencl-cpu, opencl-other or c, and may "
                            "have a number, as in cuda:1");
    if (queue && queue != Py_None && !(options.queue = PyLong_AsVoidPtr(queue)) && PyErr_Occurred())
        return NULL;
    struct device *self = py_new_object(type);
    if (!self)
        return NULL;
    if (py_guard_init(&self->guard) != 0) {
        DROP(self);
        return NULL;
    }
    char why[4096] = "";
    enum fcl_status status;
    Py_BEGIN_ALLOW_THREADS status = fcl_open(&self->context, &options, why, sizeof why);
    Py_END_ALLOW_THREADS if (status == FCL_OK) return (PyObject *)self;
    DROP(self);
    return py_fail_with(py.error_type, FCLC_DEVICE, why);
}

static void device_free(PyObject *object) {
    struct device *self = (struct device *)object;
    if (self->context) {
        py_guard_enter(&self->guard);
        py_guard_leave(&self->guard);
        fcl_close(self->context);
    }
    py_guard_end(&self->guard);
    py_free_object(object);
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

int py_wait(struct device *device) {
    enum fcl_status status;
    py_guard_enter(&device->guard);
    Py_BEGIN_ALLOW_THREADS status = fcl_finish(device->context);
    Py_END_ALLOW_THREADS py_guard_leave(&device->guard);
    if (status == FCL_OK)
        return 0;
    py_context_error(device->context);
    return -1;
}

static PyObject *device_finish(PyObject *object, PyObject *unused) {
    (void)unused;
    if (py_wait((struct device *)object) != 0)
        return NULL;
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
PyType_Spec py_device_spec = {"fcl.Device", sizeof(struct device), 0, Py_TPFLAGS_DEFAULT, device_slots};
