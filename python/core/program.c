/* Programs and their kernels. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

struct guard *py_program_guard(struct program *p) {
    return p->device ? &p->device->guard : &p->own;
}

/* Program(files, options): (path, text or None) pairs, and words as `fclc run` has them. */
static PyObject *program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *files, *words;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!O!:Program", &PyTuple_Type, &files, &PyTuple_Type, &words))
        return NULL;
    size_t file_count = (size_t)PyTuple_Size(files), word_count = (size_t)PyTuple_Size(words);
    struct program *self = py_new_object(type);
    struct fclc_file *given = calloc(file_count + 1, sizeof *given);
    const char **options = calloc(word_count + 1, sizeof *options);
    int is_good = self && given && options && py_guard_init(&self->own) == 0;
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
        py_begin();
        Py_BEGIN_ALLOW_THREADS status = fclc_load(&self->program, given, file_count, options, word_count, &message);
        Py_END_ALLOW_THREADS py_end();
        is_good = py_take_message(status, message) == 0;
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
    py_guard_end(&self->own);
    py_free_object(object);
}

/* A base type's name; ("array", name, rank); ("tuple", rank, items). */
static PyObject *type_object(const struct fclc_type *type) {
    const char *base = type->base == FCLC_BF16 ? "bfloat16" : py_bases[type->base].numpy;
    if (type->kind == FCLC_SCALAR)
        return PyUnicode_FromString(base);
    if (type->kind == FCLC_ARRAY)
        return Py_BuildValue("(ssn)", "array", base, (Py_ssize_t)type->rank);
    PyObject *items = PyTuple_New((Py_ssize_t)type->count);
    for (size_t i = 0; items && i < type->count; i++)
        if (PyTuple_SetItem(items, (Py_ssize_t)i, type_object(&type->items[i])) != 0)
            Py_CLEAR(items);
    return items ? Py_BuildValue("(snN)", "tuple", (Py_ssize_t)type->rank, items) : NULL;
}

/* For each kernel (name, type, comment, path, line, parameters, result). A parameter is (name, type as text, type), the
   result (type as text, type). */
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

/* The device that the program's options ask for, in Device's form; None: the interpreter. */
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
    if (self->device || !PyObject_TypeCheck(device, (PyTypeObject *)py.device_type)) {
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
    if (py_guard_enter(py_program_guard(self), 0) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = fclc_text(self->program, kernel, target, &text, &message);
    Py_END_ALLOW_THREADS py_guard_leave(py_program_guard(self));
    PyObject *result = NULL;
    if (py_take_message(status, message) == 0)
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
    if (py_guard_enter(py_program_guard(self), 0) != 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status =
        fclc_report(self->program, kernel, target, sizes, device, (enum fclc_report_form)form, &text, &message);
    Py_END_ALLOW_THREADS py_guard_leave(py_program_guard(self));
    PyObject *result = NULL;
    if (py_take_message(status, message) == 0)
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
PyType_Spec py_program_spec = {"fcl._core.Program", sizeof(struct program), 0, Py_TPFLAGS_DEFAULT, program_slots};

/* ---- kernels ---- */

size_t py_count_parts(const struct fclc_type *type) {
    size_t count = type->kind != FCLC_TUPLE;
    for (size_t i = 0; type->kind == FCLC_TUPLE && i < type->count; i++)
        count += py_count_parts(&type->items[i]);
    return count;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    PyObject *program;
    const char *name;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O!s:Kernel", py.program_type, &program, &name))
        return NULL;
    struct program *p = (struct program *)program;
    for (size_t i = 0; i < p->kernel_count; i++)
        if (strcmp(p->kernels[i].name, name) == 0) {
            struct kernel *self = py_new_object(type);
            if (!self)
                return NULL;
            Py_INCREF(program);
            self->program = p;
            self->info = &p->kernels[i];
            self->result_count = py_count_parts(&self->info->result.type);
            for (size_t n = 0; n < self->info->parameter_count; n++)
                self->argument_count += py_count_parts(&self->info->parameters[n].type);
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
        py_guard_free(py_program_guard(p), (struct garbage){.kernel = self->kernel, .program = (PyObject *)p});
        DROP(device);
    }
    DROP(p);
    py_free_object(object);
}

enum fclc_status py_kernel_open(struct kernel *k, char **message) {
    enum fclc_status status = FCLC_GOOD;
    struct fcl_context *context = k->program->device ? k->program->device->context : NULL;
    if (k->kernel)
        return status;
    Py_BEGIN_ALLOW_THREADS status = fclc_open(&k->kernel, k->program->program, k->info->name, context, message);
    Py_END_ALLOW_THREADS return status;
}

static PyObject *kernel_compile(PyObject *object, PyObject *unused) {
    struct kernel *k = (struct kernel *)object;
    (void)unused;
    char *message = NULL;
    if (py_guard_enter(py_program_guard(k->program), 1) != 0)
        return NULL;
    enum fclc_status status = py_kernel_open(k, &message);
    py_guard_leave(py_program_guard(k->program));
    if (py_take_message(status, message) != 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef kernel_methods[] = {
    {"compile", kernel_compile, METH_NOARGS, "compile($self, /)\n--\n\nCompile it now, not with its first call."},
    {0},
};
static PyType_Slot kernel_slots[] = {
    {Py_tp_new, kernel_new},
    {Py_tp_dealloc, kernel_free},
    {Py_tp_call, py_kernel_call},
    {Py_tp_methods, kernel_methods},
    {0},
};
PyType_Spec py_kernel_spec = {"fcl._core.Kernel", sizeof(struct kernel), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                              kernel_slots};
