/* The module: what it has, and its functions. */
#include "core.h"

static PyObject *put_bytes(struct device *d, int base, const Py_buffer *view, const void *data) {
    struct fcl_buffer *buffer = NULL;
    enum fcl_status status;
    uint64_t bytes = (uint64_t)view->itemsize;
    for (int i = 0; i < view->ndim; i++)
        bytes *= (uint64_t)view->shape[i];
    if (py_guard_enter(&d->guard, 1) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = fcl_buffer_new(d->context, bytes, &buffer);
    if (status == FCL_OK)
        status = fcl_write(buffer, 0, data, bytes);
    Py_END_ALLOW_THREADS if (status != FCL_OK) fcl_buffer_free(buffer);
    return py_device_leave(d, status) == 0 ? (PyObject *)py_array_new(d, buffer, base, view->ndim, view->shape) : NULL;
}

/* put(device, array): a copy of an array in the device's memory. */
static PyObject *core_put(PyObject *module, PyObject *args) {
    PyObject *device, *object, *result = NULL;
    Py_buffer view;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O:put", py.device_type, &device, &object))
        return NULL;
    if (py_view_get(object, &view) != 0) {
        PyObject *type, *cause, *trace;
        if (!py_is_refusal())
            return NULL;
        PyErr_Fetch(&type, &cause, &trace);
        py_wrong_argument("put: an array is wanted, of a type that FCL has");
        py_because(type, cause, trace);
        return NULL;
    }
    int base = py_base_of_format(view.format, view.itemsize);
    if (base < 0 || view.ndim < 1 || view.ndim > FCLC_MAX_RANK) {
        py_wrong_argument("put: an array of 1 to %d dimensions is wanted, of a type that FCL has; this one has %d, and "
                          "its format is %s",
                          FCLC_MAX_RANK, view.ndim, view.format ? view.format : "?");
    } else if (py_view_is_dense(&view)) {
        result = put_bytes((struct device *)device, base, &view, view.buf);
    } else {
        PyObject *copy = py_view_copy(&view);
        const void *data = copy ? PyByteArray_AsString(copy) : NULL;
        result = copy ? put_bytes((struct device *)device, base, &view, data) : NULL;
        Py_XDECREF(copy);
    }
    PyBuffer_Release(&view);
    return result;
}

/* A dictionary for each device that there is. */
static PyObject *core_devices(PyObject *module, PyObject *unused) {
    struct fcl_device_list list;
    enum fcl_status status;
    (void)module;
    (void)unused;
    py_begin();
    Py_BEGIN_ALLOW_THREADS status = fcl_devices(&list);
    Py_END_ALLOW_THREADS py_end();
    if (status != FCL_OK)
        return py_fail_with(py.error_type, FCLC_DEVICE, fcl_status_text(status));
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
    py.numpy_asarray = py_attribute_of("numpy", "asarray");
    py.numpy_empty = py_attribute_of("numpy", "empty");
    py.numpy_array_equal = py_attribute_of("numpy", "array_equal");
    py.numpy_from_dlpack = py_attribute_of("numpy", "from_dlpack");
    py.masked_type = py_attribute_of("numpy.ma", "MaskedArray");
    if (!py.masked_type || !py.numpy_asarray || !py.numpy_empty || !py.numpy_array_equal || !py.numpy_from_dlpack)
        return -1;
    for (int i = 0; i < BASES; i++)
        if (!(py.numpy_scalars[i] = py_attribute_of("numpy", i == FCLC_BOOL ? "bool_" : py_bases[i].numpy)))
            return -1;
    return 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "fcl._core", NULL, -1, core_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    py.error_type = py_attribute_of("fcl._errors", "Error");
    py.argument_error_type = py_attribute_of("fcl._errors", "ArgumentError");
    py.warn = py_attribute_of("fcl._errors", "warn");
    py.converted = py_attribute_of("fcl._arrays", "converted");
    if (py.error_type && py.argument_error_type && py.warn && py.converted && find_numpy() == 0 &&
        py_watch_forks() == 0 && add_type(module, "Device", &py_device_spec, &py.device_type) == 0 &&
        add_type(module, "Array", &py_array_spec, &py.array_type) == 0 &&
        add_type(module, "Program", &py_program_spec, &py.program_type) == 0 &&
        add_type(module, "Kernel", &py_kernel_spec, &py.kernel_type) == 0 &&
        PyModule_AddStringConstant(module, "version", fclc_version()) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
