/* The module: what it has, and its functions. */
#include "core.h"

/* put(device, array): a copy of a NumPy array, dense, in the device's memory. */
static PyObject *core_put(PyObject *module, PyObject *args) {
    PyObject *device, *object;
    Py_buffer view;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O:put", py.device_type, &device, &object))
        return NULL;
    if (PyObject_GetBuffer(object, &view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        PyErr_Clear();
        py_wrong_argument("put: an array is wanted, of a type that FCL has");
        return NULL;
    }
    int base = py_base_of_format(view.format, view.itemsize);
    struct device *d = (struct device *)device;
    struct fcl_buffer *buffer = NULL;
    struct array *result = NULL;
    int64_t shape[FCLC_MAX_RANK];
    if (base < 0 || view.ndim < 1 || view.ndim > FCLC_MAX_RANK) {
        py_wrong_argument("put: an array of 1 to %d dimensions is wanted, of a type that FCL has; its format is %s",
                          FCLC_MAX_RANK, view.format ? view.format : "?");
    } else {
        for (int i = 0; i < view.ndim; i++)
            shape[i] = view.shape[i];
        enum fcl_status status;
        py_guard_enter(&d->guard);
        Py_BEGIN_ALLOW_THREADS status = fcl_buffer_new(d->context, (uint64_t)view.len, &buffer);
        if (status == FCL_OK)
            status = fcl_write(buffer, 0, view.buf, (uint64_t)view.len);
        Py_END_ALLOW_THREADS if (status != FCL_OK) fcl_buffer_free(buffer);
        py_guard_leave(&d->guard);
        if (status != FCL_OK)
            py_context_error(d->context);
        else
            result = py_array_new(d, buffer, base, view.ndim, shape);
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
    Py_END_ALLOW_THREADS if (status != FCL_OK) return py_fail_with(py.error_type, FCLC_DEVICE, fcl_status_text(status));
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
    if (!py.numpy_asarray || !py.numpy_empty || !py.numpy_array_equal || !py.numpy_from_dlpack)
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
    py.warning_type = py_attribute_of("fcl._errors", "Warning");
    if (py.error_type && py.argument_error_type && py.warning_type && find_numpy() == 0 &&
        add_type(module, "Device", &py_device_spec, &py.device_type) == 0 &&
        add_type(module, "Array", &py_array_spec, &py.array_type) == 0 &&
        add_type(module, "Program", &py_program_spec, &py.program_type) == 0 &&
        add_type(module, "Kernel", &py_kernel_spec, &py.kernel_type) == 0 &&
        PyModule_AddStringConstant(module, "version", fclc_version()) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
