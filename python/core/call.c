/* Calls of kernels. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 16 };

/* ---- results ---- */

static PyObject *scalar_object(int base, const struct fclc_value *value) {
    char kind = py_bases[base].kind;
    PyObject *number = kind == 'f'   ? PyFloat_FromDouble(value->scalar.floating)
                       : kind == 'b' ? PyBool_FromLong(value->scalar.integer != 0)
                       : kind == 'u' ? PyLong_FromUnsignedLongLong((unsigned long long)value->scalar.integer)
                                     : PyLong_FromLongLong(value->scalar.integer);
    int shown = base == FCLC_BF16 ? FCLC_F32 : base; /* a number, not its bits */
    PyObject *result = number ? PyObject_CallFunctionObjArgs(py.numpy_scalars[shown], number, NULL) : NULL;
    Py_XDECREF(number);
    return result;
}

/* The interpreter's results are in memory that its next run takes back: in memory of ours instead. */
static int copy_results(const struct fclc_type *type, struct fclc_value **at) {
    if (type->kind == FCLC_TUPLE) {
        int is_good = 1;
        for (size_t i = 0; i < type->count; i++)
            is_good &= copy_results(&type->items[i], at);
        return is_good;
    }
    struct fclc_value *value = (*at)++;
    if (type->kind == FCLC_SCALAR || !value->data)
        return 1;
    size_t bytes = fclc_base_bytes(type->base);
    for (size_t i = 0; i < type->rank; i++)
        bytes *= (size_t)value->shape[i];
    void *copy = malloc(bytes ? bytes : 1);
    if (copy && bytes)
        memcpy(copy, value->data, bytes);
    value->data = copy;
    return copy != NULL;
}

static PyObject *host_array(int base, int rank, const Py_ssize_t *shape, const void *data) {
    Py_buffer view;
    PyObject *array = py_numpy_empty(base, rank, shape, &view);
    if (!array)
        return NULL;
    if (view.len)
        memcpy(view.buf, data, (size_t)view.len);
    PyBuffer_Release(&view);
    return array;
}

/* The place that the caller gave for a result; where the result is shorter, the part that has it. */
static PyObject *place_of(PyObject *place, Py_ssize_t room, Py_ssize_t count) {
    if (count == room)
        return Py_NewRef(place);
    if (PyObject_TypeCheck(place, (PyTypeObject *)py.array_type))
        return py_array_first((struct array *)place, count);
    PyObject *end = PyLong_FromSsize_t(count), *slice = end ? PySlice_New(NULL, end, NULL) : NULL;
    PyObject *part = slice ? PyObject_GetItem(place, slice) : NULL;
    Py_XDECREF(slice);
    Py_XDECREF(end);
    return part;
}

static PyObject *array_object(struct call *call, int base, int rank, struct fclc_value *value, int keep) {
    struct device *device = call->kernel->program->device;
    Py_ssize_t shape[FCLC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        shape[i] = (Py_ssize_t)value->shape[i];
    size_t which = (size_t)(value - call->results);
    if (call->out && call->places[which])
        return place_of(call->places[which], (Py_ssize_t)call->into[which].shape[0], shape[0]);
    if (!device)
        return host_array(base, rank, shape, value->data);
    struct array *a = py_array_new(device, value->buffer, base, rank, shape);
    value->buffer = NULL;
    if (!a || keep)
        return (PyObject *)a;
    PyObject *result = py_array_backend(a) == FCL_BACKEND_C
                           ? PyObject_CallFunctionObjArgs(py.numpy_asarray, (PyObject *)a, NULL)
                           : py_array_read(a);
    DROP(a);
    return result;
}

static PyObject *result_object(struct call *call, const struct fclc_type *type, struct fclc_value **at, int keep);

/* A dict of the fields. */
static PyObject *record_object(struct call *call, const struct fclc_type *type, struct fclc_value **at, int keep) {
    PyObject *record = PyDict_New();
    for (size_t i = 0; record && i < type->count; i++) {
        PyObject *item = result_object(call, &type->items[i], at, keep);
        if (!item || PyDict_SetItemString(record, type->fields[i], item) != 0)
            Py_CLEAR(record);
        Py_XDECREF(item);
    }
    return record;
}

static PyObject *result_object(struct call *call, const struct fclc_type *type, struct fclc_value **at, int keep) {
    if (type->kind == FCLC_SCALAR)
        return scalar_object((int)type->base, (*at)++);
    if (type->kind == FCLC_ARRAY)
        return array_object(call, (int)type->base, (int)type->rank, (*at)++, keep);
    if (type->fields)
        return record_object(call, type, at, keep);
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
static enum fclc_status run_wrapped(struct call *call, char **message) {
    struct kernel *k = call->kernel;
    struct fcl_context *context = k->program->device ? k->program->device->context : NULL;
    enum fclc_status status = FCLC_GOOD;
    size_t wrapped = 0;
    *message = NULL;
    if (call->stream && fcl_use_queue(context, call->stream) != FCL_OK) {
        *message = strdup(fcl_error(context));
        return FCLC_DEVICE;
    }
    for (; status == FCLC_GOOD && wrapped < call->foreign_count; wrapped++) {
        const struct foreign *one = &call->foreign[wrapped];
        if (fcl_buffer_wrap(context, one->address, one->bytes, &one->value->buffer) != FCL_OK) {
            status = FCLC_DEVICE;
            *message = strdup(fcl_error(context));
        }
    }
    if (status == FCLC_GOOD)
        status = fclc_run_into(k->kernel, call->values, call->out ? call->into : NULL, call->results, message);
    if (call->stream)
        fcl_use_queue(context, NULL);
    else if (wrapped) /* their owner may write there next */
        fcl_finish(context);
    while (wrapped)
        fcl_buffer_free(call->foreign[--wrapped].value->buffer);
    return status;
}

static void free_results(struct kernel *k, struct guard *guard, struct fclc_value *results) {
    for (size_t i = 0; i < k->result_count; i++)
        if (k->program->device)
            py_guard_free_buffer(guard, results[i].buffer);
        else
            free((void *)results[i].data);
}

/* `keep`: 1, 0, or -1, as the arguments are. */
static PyObject *run(struct call *call, int keep) {
    struct kernel *k = call->kernel;
    struct guard *guard = py_program_guard(k->program);
    char *opening = NULL, *message = NULL;
    struct fclc_value *results = call->results, *at = results;
    int is_copied = 1;
    if (py_guard_enter(guard, 1) != 0)
        return NULL;
    memset(results, 0, k->result_count * sizeof *results);
    enum fclc_status opened = py_kernel_open(k, &opening), status = FCLC_WRONG;
    if (opened == FCLC_GOOD) {
        Py_BEGIN_ALLOW_THREADS status = run_wrapped(call, &message);
        if (status == FCLC_GOOD && !k->program->device)
            is_copied = copy_results(&k->info->result.type, &at);
        Py_END_ALLOW_THREADS
    }
    py_guard_leave(guard);
    int is_good = py_take_message(opened, opening) == 0;
    if (is_good && status == FCLC_USAGE) { /* a result does not fit */
        py_wrong_argument("%s", message ? message : "fclc failed, and did not say why");
        is_good = 0;
        fclc_free(message);
    } else if (is_good) {
        is_good = py_take_message(status, message) == 0;
    } else {
        fclc_free(message);
    }
    if (is_good && !is_copied)
        PyErr_NoMemory();
    at = results;
    PyObject *result = is_good && is_copied
                           ? result_object(call, &k->info->result.type, &at, keep < 0 ? call->has_arrays : keep)
                           : NULL;
    if (status == FCLC_GOOD)
        free_results(k, guard, results);
    return result;
}

/* How a call is to be made, by keywords: 1, 0, or -1, and objects, or NULL: it was not said. */
struct manner {
    int keep, convert;
    PyObject *out, *stream; /* of the caller's keywords, which live as long */
};

/* 1: it is such a keyword, and was taken; 0: it is not; -1: its value is wrong. */
static int take_manner(struct manner *manner, const char *name, PyObject *value) {
    int *way = strcmp(name, "keep") == 0 ? &manner->keep : strcmp(name, "convert") == 0 ? &manner->convert : NULL;
    PyObject **object = strcmp(name, "out") == 0 ? &manner->out : strcmp(name, "stream") == 0 ? &manner->stream : NULL;
    if (way)
        return (*way = PyObject_IsTrue(value)) < 0 ? -1 : 1;
    if (object)
        *object = value == Py_None ? NULL : value;
    return object != NULL;
}

/* Calls with few values take no memory for them. */
static PyObject *take_and_run(struct kernel *k, PyObject *args, const struct manner *manner) {
    struct fclc_value few_values[FEW], few_results[FEW];
    Py_buffer few_views[2 * FEW];
    PyObject *few_held[4 * FEW], *few_places[FEW];
    struct foreign few_foreign[FEW];
    struct call call = {.kernel = k,
                        .values = few_values,
                        .views = few_views,
                        .held = few_held,
                        .foreign = few_foreign,
                        .places = few_places,
                        .results = few_results,
                        .out = manner->out,
                        .converts = manner->convert};
    size_t parts = k->argument_count + k->result_count;
    char *room = NULL;
    if (parts > FEW) {
        room = malloc(parts * (2 * sizeof *call.values + 2 * sizeof *call.views + sizeof *call.foreign +
                               4 * sizeof *call.held + sizeof *call.places));
        if (!room)
            return PyErr_NoMemory();
        call.values = (struct fclc_value *)room;
        call.results = call.values + parts;
        call.views = (Py_buffer *)(call.results + parts);
        call.foreign = (struct foreign *)(call.views + 2 * parts);
        call.held = (PyObject **)(call.foreign + parts);
        call.places = call.held + 4 * parts;
    }
    call.into = call.values + k->argument_count;
    memset(call.values, 0, (manner->out ? parts : k->argument_count) * sizeof *call.values);
    memset(call.places, 0, k->result_count * sizeof(PyObject *));
    int is_taken = (!manner->stream || py_take_stream(&call, manner->stream) == 0) && py_take_all(&call, args) == 0;
    PyObject *result = is_taken ? run(&call, manner->keep) : NULL;
    while (call.view_count)
        PyBuffer_Release(&call.views[--call.view_count]);
    while (call.held_count)
        Py_DECREF(call.held[--call.held_count]);
    free(room);
    return result;
}

/* Puts parameters that are given by name in their places, and takes out how to call; the rest is in *others. */
static PyObject *sort_keywords(struct kernel *k, PyObject *args, PyObject *kwargs, struct manner *manner,
                               PyObject **others) {
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
        int is_bad = !text, way = 0;
        if (text && i < count) {
            is_bad = i < given || PyTuple_GetItem(all, (Py_ssize_t)i);
            if (is_bad)
                py_wrong_argument("%s: `%s` is given twice", k->info->name, text);
            else {
                Py_INCREF(value);
                PyTuple_SetItem(all, (Py_ssize_t)i, value);
                filled++;
            }
        } else if (text && (way = take_manner(manner, text, value))) {
            is_bad = way < 0;
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
    PyObject *variant = *others ? PyObject_CallMethod((PyObject *)k, "_variant", "O", *others) : NULL;
    Py_XDECREF(variant);
    if (*others && !variant) { /* a name that is wrong may be why one is missing */
        Py_DECREF(all);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (i >= given && !PyTuple_GetItem(all, (Py_ssize_t)i)) {
            py_wrong_argument("%s: argument %zu, `%s : %s`, is missing", k->info->name, i + 1,
                              k->info->parameters[i].name, k->info->parameters[i].text);
            break;
        }
    Py_DECREF(all);
    return NULL;
}

static PyObject *call_with(struct kernel *k, PyObject *args, const struct manner *manner) {
    size_t given = (size_t)PyTuple_Size(args), count = k->info->parameter_count;
    if (given == count)
        return take_and_run(k, args, manner);
    if (given < count)
        py_wrong_argument("%s: argument %zu, `%s : %s`, is missing", k->info->name, given + 1,
                          k->info->parameters[given].name, k->info->parameters[given].text);
    else
        py_wrong_argument("%s takes %zu argument%s, and %zu were given; its type is %s", k->info->name, count,
                          count == 1 ? "" : "s", given, k->info->text);
    return NULL;
}

PyObject *py_kernel_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    struct kernel *k = (struct kernel *)object;
    struct manner manner = {-1, -1, NULL, NULL};
    if (!kwargs || PyDict_Size(kwargs) == 0)
        return call_with(k, args, &manner);
    PyObject *others = NULL, *all = sort_keywords(k, args, kwargs, &manner, &others), *result = NULL;
    if (all && !others) {
        result = call_with(k, all, &manner);
    } else if (all) { /* options: that is a kernel of its own */
        PyObject *variant = PyObject_CallMethod(object, "_variant", "O", others);
        if (variant)
            result = call_with((struct kernel *)variant, all, &manner);
        Py_XDECREF(variant);
    }
    Py_XDECREF(all);
    Py_XDECREF(others);
    return result;
}
