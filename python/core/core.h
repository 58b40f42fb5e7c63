/* The Python module's inner part: programs, kernels, device memory and calls, over fclc.h. Here is
   what its files share, in the order in which they stand on each other: base.c, device.c, view.c,
   array.c, program.c, then arguments.c and exchange.c together, call.c, module.c. But the tables of
   Python's types name what is above: an array has methods of exchange.c, a kernel is called by
   call.c. Shared names begin with py_, as the whole compiler is linked with them.

   Locks. A context serves one thread at a time, as does a program. Each Device has a guard, which
   is held for the time of a call, with Python's own lock released; programs for the interpreter
   have one of their own. An object that one thread frees while another holds the guard is freed
   when the other lets the guard go. Nothing of Python's is called while a guard is held, as that
   may run finalisers, which may call kernels: so a thread holds one guard at most, and the holder
   waits for nobody.

   Forks. A thread is inside between py_begin and py_end. A fork waits until no thread is, and
   nobody enters meanwhile: no guard is held in the child. There memory and kernels in C live on;
   those of drivers are lost, and say so. */
#ifndef FCL_PYTHON_CORE_H
#define FCL_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <fclc.h>

/* Our objects begin as Python's do. */
#define TAKE(object) Py_XINCREF((PyObject *)(object))
#define DROP(object) Py_XDECREF((PyObject *)(object))

/* ---- base.c ---- */

struct base {
    const char *numpy, *format;
    char kind; /* as NumPy calls it; bf16 are floats, but NumPy gets their bits as numbers */
    int bits;
};
enum { BASES = FCLC_BF16 + 1 };
extern const struct base py_bases[];
int py_base_of_format(const char *format, Py_ssize_t size); /* -1: none */

extern struct own_objects {
    PyObject *error_type, *argument_error_type;
    PyObject *device_type, *array_type, *program_type, *kernel_type;
    PyObject *numpy_asarray, *numpy_empty, *numpy_array_equal, *numpy_from_dlpack, *numpy_scalars[BASES];
    PyObject *masked_type;      /* numpy.ma's */
    PyObject *warn, *converted; /* functions of ours in Python */
} py;
PyObject *py_attribute_of(const char *module, const char *name);

/* Raises fcl.Error, whose status is that of the command. */
PyObject *py_fail_with(PyObject *type, int status, const char *message);
/* Warnings that came with success are Python's; 0, or -1 where one became an error. */
int py_take_message(enum fclc_status status, char *message);
int py_wrong_argument(const char *format, ...);
/* True if the exception says that a value is not of the kind that was tried. Other exceptions go on to the caller. */
int py_is_refusal(void);
/* Makes the exception that PyErr_Fetch gave the context of the one that is raised now, as by `raise … from None`: the
   new one says all that the other does, in the caller's words. */
void py_because(PyObject *type, PyObject *cause, PyObject *trace);
/* An attribute: 1, 0 where there is none, or -1 where it raises something else. */
int py_find(PyObject *object, const char *name, PyObject **found);

void py_free_object(PyObject *self);
void *py_new_object(PyTypeObject *type);
PyObject *py_itself(PyObject *self, PyObject *unused);

/* ---- device.c ---- */

/* Things to free when the lock is let go: a buffer, or a kernel and then its program. */
struct garbage {
    struct fcl_buffer *buffer;
    struct fclc_kernel *kernel;
    PyObject *program;
};

struct guard {
    PyThread_type_lock lock;
    struct garbage *pending;
    size_t count, room;
    int is_held;
    const char *driver; /* that a fork's child loses; NULL: it has all */
    unsigned forks;     /* that led to the process that uses it */
};
int py_watch_forks(void);
void py_begin(void);
void py_end(void);
int py_guard_init(struct guard *guard);
/* -1: a fork has lost the device, which is raised where it is wanted. */
int py_guard_enter(struct guard *guard, int for_device);
void py_guard_leave(struct guard *guard);
/* This may happen anywhere, by Python's collector also in a call of this very thread: it waits for
   nothing. The guard's owner is the caller's to keep. */
void py_guard_free(struct guard *guard, struct garbage one);
void py_guard_free_buffer(struct guard *guard, struct fcl_buffer *buffer);
void py_guard_end(struct guard *guard);

struct device {
    PyObject_HEAD struct fcl_context *context;
    struct guard guard;
    int has_queue; /* of the caller's */
};
/* Leaves the guard; -1: that failed, which is raised. */
int py_device_leave(struct device *device, enum fcl_status status);
/* Until all work that was asked for is done; -1: it failed, and that is raised. */
int py_wait(struct device *device);
extern PyType_Spec py_device_spec;

/* ---- view.c ---- */

/* Does what PyObject_GetBuffer does, for memory of any form. */
int py_view_get(PyObject *object, Py_buffer *view);
/* In row-major order, without gaps. */
int py_view_is_dense(const Py_buffer *view);
/* The elements so, of a type that FCL has, as a bytearray. */
PyObject *py_view_copy(const Py_buffer *view);

/* ---- array.c ---- */

struct array {
    PyObject_HEAD struct device *device;
    struct fcl_buffer *buffer;
    struct array *owner; /* of the buffer, where another array has it */
    int base, rank;
    Py_ssize_t shape[FCLC_MAX_RANK], strides[FCLC_MAX_RANK];
};
/* Takes the buffer over. */
struct array *py_array_new(struct device *device, struct fcl_buffer *buffer, int base, int rank,
                           const Py_ssize_t *shape);
Py_ssize_t py_array_count(const struct array *a);
enum fcl_backend py_array_backend(const struct array *a);
PyObject *py_shape_tuple(int rank, const Py_ssize_t *shape);
/* An array of NumPy's, and its memory. */
PyObject *py_numpy_empty(int base, int rank, const Py_ssize_t *shape, Py_buffer *view);
/* A copy as a NumPy array. */
PyObject *py_array_read(struct array *a);
/* The memory of its first `count` rows. */
PyObject *py_array_first(struct array *a, Py_ssize_t count);
extern PyType_Spec py_array_spec;

/* ---- program.c ---- */

struct program {
    PyObject_HEAD struct fclc_program *program;
    struct device *device; /* NULL: the interpreter */
    struct guard own;      /* where there is no device */
    const struct fclc_kernel_info *kernels;
    size_t kernel_count;
};
struct guard *py_program_guard(struct program *p);
extern PyType_Spec py_program_spec;

struct kernel {
    PyObject_HEAD struct program *program;
    const struct fclc_kernel_info *info;
    struct fclc_kernel *kernel;          /* compiled by the first call */
    size_t argument_count, result_count; /* parts */
};
/* The caller holds the guard. It gives the message to py_take_message after it has released the guard. */
enum fclc_status py_kernel_open(struct kernel *k, char **message);
/* Arrays and numbers, through all tuples. */
size_t py_count_parts(const struct fclc_type *type);
extern PyType_Spec py_kernel_spec;

/* ---- arguments.c ---- */

/* Everything that a call holds while it runs. */
struct call {
    struct kernel *kernel;
    const struct fclc_parameter *parameter; /* in work, */
    size_t number;                          /* from 1; 0: it is the result, whose places are taken */
    struct fclc_value *values;              /* the arguments' parts, so far; then, with `out`, the results' places */
    size_t value_count;
    PyObject **places; /* what the caller gave for each part of the result; NULL: nothing */
    PyObject *out;     /* these, as the caller gave them; or NULL */
    struct fclc_value *into, *results;
    void *stream;     /* that the call works on; NULL: the device's */
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
    int converts;   /* arrays of other types; -1: as the program says */
};
/* Raises what is wrong with the argument in work; -1. */
int py_wrong(const struct call *call, const char *format, ...);
/* The same, because of what was raised; where that is no refusal, it stays. */
int py_wrong_because(const struct call *call, const char *format, ...);
void py_type_name(PyObject *object, char *text, size_t bytes);
/* Keeps it until the call has ended; -1: there is none. */
int py_hold(struct call *call, PyObject *object);
/* These compare the array that is given with the type that is wanted. */
int py_take_shape(struct call *call, const struct fclc_type *type, int rank, const Py_ssize_t *shape,
                  struct fclc_value *value);
int py_take_base(struct call *call, const struct fclc_type *type, int base, const char *format);
int py_take_host(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value);
/* Also the places of the results, if there are any. */
int py_take_all(struct call *call, PyObject *args);

/* ---- exchange.c ---- */

#define CUDA_DEFAULT_STREAM ((void *)1) /* the legacy one, as CUDA and DLPack call it */
/* The handle of a CUDA stream or OpenCL queue: a number, or an object of PyTorch, CuPy, PyOpenCL and others. */
int py_take_stream(struct call *call, PyObject *object);

/* `fcl.Array` gives these to NumPy, CuPy and others: a field and two methods. */
PyObject *py_array_interface(PyObject *object, void *closure);
PyObject *py_array_dlpack_device(PyObject *object, PyObject *unused);
PyObject *py_array_dlpack(PyObject *object, PyObject *args, PyObject *kwargs);
/* `interface`, by which the object describes itself, is a dictionary of version 2 or 3. */
int py_take_cuda(struct call *call, const struct fclc_type *type, PyObject *interface, struct fclc_value *value);
int py_take_dlpack(struct call *call, const struct fclc_type *type, PyObject *object, struct fclc_value *value);
/* In row-major order, without gaps. */
int py_is_dense(int rank, const Py_ssize_t *shape, const Py_ssize_t *strides, Py_ssize_t size);

/* ---- call.c ---- */

PyObject *py_kernel_call(PyObject *object, PyObject *args, PyObject *kwargs);

#endif
