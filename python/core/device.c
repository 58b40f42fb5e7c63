/* Devices, and who may use them. */
#define _POSIX_C_SOURCE 200809L /* nanosleep, strdup */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- forks ---- */

/* All of it is only touched with Python's lock held. */
static struct {
    long inside;          /* how many threads are */
    unsigned long forker; /* the thread that forks; 0: none does */
    int is_ready;         /* it found nobody inside: now it runs what others do before a fork */
    unsigned forks;       /* that led to this process */
} gate;

enum { WAIT_NANOSECONDS = 200000, PATIENCE = 1000000000 / WAIT_NANOSECONDS };

static void wait_a_little(void) {
    const struct timespec time = {.tv_nsec = WAIT_NANOSECONDS};
    Py_BEGIN_ALLOW_THREADS nanosleep(&time, NULL);
    Py_END_ALLOW_THREADS
}

/* Other libraries' work before a fork may wait for a lock of theirs, which the thread that is here may have: after a
   second it goes on. The thread that forks may have finalisers that call kernels: it never waits for itself. */
static void await_forker(void) {
    int patience = PATIENCE;
    while (gate.forker && gate.forker != PyThread_get_thread_ident() && patience > 0) {
        patience -= gate.is_ready;
        wait_a_little();
    }
}

void py_begin(void) {
    await_forker();
    gate.inside++;
}

void py_end(void) { gate.inside--; }

static PyObject *before_fork(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    await_forker();
    gate.forker = PyThread_get_thread_ident();
    while (gate.inside)
        wait_a_little();
    gate.is_ready = 1;
    Py_RETURN_NONE;
}

static PyObject *after_fork_in_parent(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    gate.forker = 0;
    gate.is_ready = 0;
    Py_RETURN_NONE;
}

static PyObject *after_fork_in_child(PyObject *module, PyObject *unused) {
    gate.inside = 0;
    gate.forks++;
    return after_fork_in_parent(module, unused);
}

int py_watch_forks(void) {
    static PyMethodDef hooks[] = {{"before", before_fork, METH_NOARGS, NULL},
                                  {"after_in_parent", after_fork_in_parent, METH_NOARGS, NULL},
                                  {"after_in_child", after_fork_in_child, METH_NOARGS, NULL}};
    PyObject *add = py_attribute_of("os", "register_at_fork"), *nothing = PyTuple_New(0), *all = PyDict_New();
    int is_good = add && nothing && all;
    for (size_t i = 0; is_good && i < sizeof hooks / sizeof *hooks; i++) {
        PyObject *hook = PyCFunction_New(&hooks[i], NULL);
        is_good = hook && PyDict_SetItemString(all, hooks[i].ml_name, hook) == 0;
        Py_XDECREF(hook);
    }
    PyObject *done = is_good ? PyObject_Call(add, nothing, all) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(all);
    Py_XDECREF(nothing);
    Py_XDECREF(add);
    return done ? 0 : -1;
}

/* ---- guards ---- */

int py_guard_init(struct guard *guard) {
    *guard = (struct guard){.lock = PyThread_allocate_lock(), .forks = gate.forks};
    if (guard->lock)
        return 0;
    PyErr_NoMemory();
    return -1;
}

/* True if a fork has lost it: all of a driver's, and what another thread was in the middle of. */
static int is_lost(struct guard *guard) {
    if (guard->forks == gate.forks)
        return 0;
    if (guard->driver || guard->is_held)
        return 1;
    guard->forks = gate.forks;
    return 0;
}

static int fail_of_fork(const struct guard *guard) {
    char text[512];
    if (guard->is_held)
        snprintf(text, sizeof text,
                 "this process was forked while another thread was in the middle of a call, of which nothing can be "
                 "used here: open a Device and load the program anew");
    else
        snprintf(text, sizeof text,
                 "this process was forked from one that had opened a device by %s, whose driver does not work in a "
                 "fork: open the device after the fork, let multiprocessing start processes by \"spawn\" or "
                 "\"forkserver\", or use target=\"c\"",
                 guard->driver);
    py_fail_with(py.error_type, FCLC_DEVICE, text);
    return -1;
}

int py_guard_enter(struct guard *guard, int for_device) {
    if (is_lost(guard) && (for_device || guard->is_held))
        return fail_of_fork(guard);
    py_begin();
    if (!PyThread_acquire_lock(guard->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(guard->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    guard->is_held = 1;
    return 0;
}

/* Frees what is pending, and lets the lock go, before it drops programs: that runs Python's code. */
static void release(struct guard *guard) {
    struct garbage *pending = guard->pending;
    size_t count = guard->count;
    guard->pending = NULL;
    guard->count = guard->room = 0;
    for (size_t i = 0; i < count; i++) {
        fcl_buffer_free(pending[i].buffer);
        fclc_close(pending[i].kernel);
    }
    guard->is_held = 0;
    PyThread_release_lock(guard->lock);
    for (size_t i = 0; i < count; i++)
        Py_XDECREF(pending[i].program);
    free(pending);
}

void py_guard_leave(struct guard *guard) {
    py_end();
    release(guard);
}

void py_guard_free(struct guard *guard, struct garbage one) {
    if (is_lost(guard))
        return; /* to free it would take the driver */
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
        release(guard);
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

int py_device_leave(struct device *device, enum fcl_status status) {
    char *why = status == FCL_OK ? NULL : strdup(fcl_error(device->context)); /* another thread's may be next */
    py_guard_leave(&device->guard);
    if (status == FCL_OK)
        return 0;
    py_fail_with(py.error_type, FCLC_DEVICE, why ? why : fcl_status_text(status));
    free(why);
    return -1;
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
    py_begin();
    Py_BEGIN_ALLOW_THREADS status = fcl_open(&self->context, &options, why, sizeof why);
    Py_END_ALLOW_THREADS py_end();
    if (status == FCL_OK) {
        enum fcl_backend backend = fcl_device(self->context)->backend;
        self->guard.driver = backend == FCL_BACKEND_C ? NULL : fcl_backend_name(backend);
        self->has_queue = options.queue != NULL;
        return (PyObject *)self;
    }
    DROP(self);
    return py_fail_with(py.error_type, FCLC_DEVICE, why);
}

static void device_free(PyObject *object) {
    struct device *self = (struct device *)object;
    if (!is_lost(&self->guard))
        fcl_close(self->context);
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
    if (py_guard_enter(&device->guard, 1) != 0)
        return -1;
    Py_BEGIN_ALLOW_THREADS status = fcl_finish(device->context);
    Py_END_ALLOW_THREADS return py_device_leave(device, status);
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

/* Opened by its name where it is unpickled, as fcl.device does, in this process too. */
static PyObject *device_reduce(PyObject *object, PyObject *unused) {
    struct device *self = (struct device *)object;
    const struct fcl_device_info *info = fcl_device(self->context);
    (void)unused;
    if (self->has_queue) {
        PyErr_SetString(PyExc_TypeError, "a Device that works on a queue of the caller's cannot be pickled");
        return NULL;
    }
    PyObject *open = py_attribute_of("fcl", "device");
    PyObject *name = PyUnicode_FromFormat("%s:%d", fcl_device_kind_name(info->kind), info->index);
    if (open && name)
        return Py_BuildValue("(N(N))", open, name);
    Py_XDECREF(open);
    Py_XDECREF(name);
    return NULL;
}

static PyGetSetDef device_fields[] = {
    {"name", device_name, NULL, "as its driver calls it", NULL},
    {"kind", device_kind, NULL, "cuda, opencl-gpu, opencl-cpu, opencl-other or c", NULL},
    {"backend", device_backend, NULL, "cuda, opencl or c", NULL},
    {0},
};
static PyMethodDef device_methods[] = {
    {"finish", device_finish, METH_NOARGS, "finish($self, /)\n--\n\nWait until all work that was asked for is done."},
    {"__reduce__", device_reduce, METH_NOARGS, "Pickled, it is its name, by which it is opened."},
    {"__copy__", py_itself, METH_NOARGS, "Itself."},
    {"__deepcopy__", py_itself, METH_O, "Itself."},
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
