/* gpu-tracker: its tracker, its logs of code blocks, and what is made of them. */
#include "native.h"

#include <string.h>

/* ---- the tracker --------------------------------------------------------------------- */

struct gpu_tracker {
    PyObject_HEAD trk_gpu_tracker *tracker;
    bool busy; /* some thread waits in the library */
};

static int gpu_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    struct gpu_tracker *self = (struct gpu_tracker *)object;
    struct trk_gpu_tracker_options options;
    struct trk_error error = {0};
    int pid, cores, overwrite;
    (void)keywords;
    trk_gpu_tracker_options_init(&options);
    if (!PyArg_ParseTuple(arguments, "idsssizzzpz", &pid, &options.interval_seconds,
                          &options.form.ram_unit, &options.form.gpu_ram_unit,
                          &options.form.time_unit, &cores, &options.gpu_uuids, &options.gpu_brand,
                          &options.tracking_file, &overwrite, &options.program))
        return -1;
    if (cores < 0) {
        PyErr_Format(PyExc_ValueError, "%d cores can't be expected", cores);
        return -1;
    }
    options.pid = pid;
    options.n_expected_cores = (uint32_t)cores;
    options.overwrite = overwrite;
    options.form.compat = TRK_GPU_COMPAT_5;
    trk_gpu_tracker_free(self->tracker);
    self->tracker = NULL;
    int code = trk_gpu_tracker_new(&options, &self->tracker, &error);
    if (code < 0)
        native_raise(code, &error);
    return code < 0 ? -1 : 0;
}

static void gpu_close(struct gpu_tracker *self)
{
    trk_gpu_tracker *tracker = self->tracker;
    self->tracker = NULL;
    Py_BEGIN_ALLOW_THREADS;
    trk_gpu_tracker_free(tracker);
    Py_END_ALLOW_THREADS;
}

static void gpu_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    gpu_close((struct gpu_tracker *)object);
    release(object);
    Py_DECREF(type);
}

static bool is_free(const struct gpu_tracker *self)
{
    if (self->tracker && !self->busy)
        return true;
    PyErr_SetString(PyExc_RuntimeError,
                    self->tracker ? "another thread uses this tracker" : "the tracker was closed");
    return false;
}

static PyObject *gpu_call(PyObject *object, int (*call)(trk_gpu_tracker *, struct trk_error *))
{
    struct gpu_tracker *self = (struct gpu_tracker *)object;
    struct trk_error error = {0};
    int code;
    if (!is_free(self))
        return NULL;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS;
    code = call(self->tracker, &error);
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (code < 0)
        return native_raise(code, &error);
    Py_RETURN_NONE;
}

static PyObject *gpu_start(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return gpu_call(object, trk_gpu_tracker_start);
}

static PyObject *gpu_stop(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    return gpu_call(object, trk_gpu_tracker_stop);
}

static PyObject *gpu_json(PyObject *object, PyObject *nothing)
{
    struct gpu_tracker *self = (struct gpu_tracker *)object;
    struct trk_error error = {0};
    char *text = NULL;
    (void)nothing;
    if (!is_free(self))
        return NULL;
    int code = trk_gpu_tracker_json(self->tracker, &text, &error);
    return native_text(code, text, &error);
}

static PyObject *gpu_close_method(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    if (!((struct gpu_tracker *)object)->busy)
        gpu_close((struct gpu_tracker *)object);
    Py_RETURN_NONE;
}

static PyMethodDef gpu_methods[] = {
    {"start", gpu_start, METH_NOARGS, "start()\nStarts the tracker's process."},
    {"stop", gpu_stop, METH_NOARGS, "stop()\nEnds it, and waits for the last figures."},
    {"json", gpu_json, METH_NOARGS, "json()\nThe figures up to now, in the form of release 5."},
    {"close", gpu_close_method, METH_NOARGS, "close()\nEnds it and removes what it left on disk."},
    {NULL, NULL, 0, NULL},
};

PyObject *native_gpu_tracker_type(void)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(uintptr_t) "What gpu-tracker tells of a process."},
        {Py_tp_new, (void *)PyType_GenericNew},
        {Py_tp_init, (void *)gpu_init},
        {Py_tp_dealloc, (void *)gpu_dealloc},
        {Py_tp_methods, gpu_methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"resource_tracker._native.GpuTracker", sizeof(struct gpu_tracker), 0,
                               Py_TPFLAGS_DEFAULT, slots};
    return PyType_FromSpec(&spec);
}

/* ---- logs of code blocks ------------------------------------------------------------- */

struct sub_track {
    PyObject_HEAD trk_sub_track *log;
};

static int sub_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    struct sub_track *self = (struct sub_track *)object;
    struct trk_error error = {0};
    const char *path;
    int overwrite;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "sp", &path, &overwrite))
        return -1;
    trk_sub_track_free(self->log);
    self->log = NULL;
    int code = trk_sub_track_new(path, overwrite, &self->log, &error);
    if (code < 0)
        native_raise(code, &error);
    return code < 0 ? -1 : 0;
}

static void sub_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    trk_sub_track_free(((struct sub_track *)object)->log);
    release(object);
    Py_DECREF(type);
}

static PyObject *sub_log(PyObject *object, PyObject *arguments)
{
    const struct sub_track *self = (struct sub_track *)object;
    struct trk_error error = {0};
    int pid, position;
    const char *name;
    double time;
    if (!PyArg_ParseTuple(arguments, "isid", &pid, &name, &position, &time))
        return NULL;
    int code = trk_sub_track_log(self->log, pid, name, (enum trk_sub_track_position)position, time,
                                 &error);
    if (code < 0)
        return native_raise(code, &error);
    Py_RETURN_NONE;
}

static PyMethodDef sub_methods[] = {
    {"log", sub_log, METH_VARARGS, "log(pid, name, position, time)\nAppends a line."},
    {NULL, NULL, 0, NULL},
};

PyObject *native_sub_track_type(void)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(uintptr_t) "A log of code blocks."},
        {Py_tp_new, (void *)PyType_GenericNew},
        {Py_tp_init, (void *)sub_init},
        {Py_tp_dealloc, (void *)sub_dealloc},
        {Py_tp_methods, sub_methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"resource_tracker._native.SubTrack", sizeof(struct sub_track), 0,
                               Py_TPFLAGS_DEFAULT, slots};
    return PyType_FromSpec(&spec);
}

/* ---- what is made of them ------------------------------------------------------------ */

static PyObject *sub_combine(PyObject *module, PyObject *arguments)
{
    struct trk_error error = {0};
    const char *path;
    PyObject *list;
    size_t count;
    int code;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "sO", &path, &list))
        return NULL;
    const char **files = native_texts(list, &count);
    if (!files)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = trk_sub_track_combine(path, files, count, &error);
    Py_END_ALLOW_THREADS;
    PyMem_Free(files);
    if (code < 0)
        return native_raise(code, &error);
    Py_RETURN_NONE;
}

static PyObject *sub_analyze(PyObject *module, PyObject *arguments)
{
    struct trk_error error = {0};
    const char *tracking, *log;
    char *text = NULL;
    int code;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "ss", &tracking, &log))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = trk_sub_track_analyze(tracking, log, TRK_SUB_TRACK_JSON, &text, &error);
    Py_END_ALLOW_THREADS;
    return native_text(code, text, &error);
}

static PyObject *sub_compare(PyObject *module, PyObject *arguments)
{
    struct trk_error error = {0};
    PyObject *name_list, *result_list;
    const char *statistic;
    size_t count, result_count = 0;
    char *text = NULL, *warnings = NULL;
    int code;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOs", &name_list, &result_list, &statistic))
        return NULL;
    const char **names = native_texts(name_list, &count);
    const char **results = names ? native_texts(result_list, &result_count) : NULL;
    if (!results || result_count != count) {
        PyMem_Free(names);
        PyMem_Free(results);
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "as many names as results");
    }
    Py_BEGIN_ALLOW_THREADS;
    code = trk_sub_track_compare(names, results, count, statistic, TRK_SUB_TRACK_JSON, &text,
                                 &warnings, &error);
    Py_END_ALLOW_THREADS;
    PyMem_Free(names);
    PyMem_Free(results);
    PyObject *compared = native_text(code, text, &error);
    PyObject *pair = compared ? Py_BuildValue("(Nz)", compared, warnings) : NULL;
    trk_free(warnings);
    return pair;
}

static PyObject *path_text(PyObject *arguments,
                           int (*call)(const char *, char **, struct trk_error *))
{
    struct trk_error error = {0};
    const char *path;
    char *text = NULL;
    if (!PyArg_ParseTuple(arguments, "s", &path))
        return NULL;
    int code = call(path, &text, &error);
    return native_text(code, text, &error);
}

static PyObject *sub_static(PyObject *module, PyObject *arguments)
{
    (void)module;
    return path_text(arguments, trk_sub_track_static);
}

static PyObject *sub_names(PyObject *module, PyObject *arguments)
{
    (void)module;
    return path_text(arguments, trk_sub_track_names);
}

static PyObject *sub_overall(PyObject *module, PyObject *arguments)
{
    (void)module;
    return path_text(arguments, trk_sub_track_overall);
}

static PyObject *sub_calls(PyObject *module, PyObject *arguments)
{
    struct trk_error error = {0};
    const char *path, *name;
    char *text = NULL;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "ss", &path, &name))
        return NULL;
    int code = trk_sub_track_calls(path, name, &text, &error);
    return native_text(code, text, &error);
}

static double (*spans_of(PyObject *pairs, size_t *ret_count))[2]
{
    Py_ssize_t count = PySequence_Size(pairs);
    if (count < 0)
        return NULL;
    double(*spans)[2] = PyMem_Calloc((size_t)count + 1, sizeof *spans);
    for (Py_ssize_t i = 0; spans && i < count; i++) {
        PyObject *pair = PySequence_GetItem(pairs, i);
        PyObject *tuple = pair ? PySequence_Tuple(pair) : NULL;
        bool taken = tuple && PyArg_ParseTuple(tuple, "dd", &spans[i][0], &spans[i][1]);
        Py_XDECREF(tuple);
        Py_XDECREF(pair);
        if (!taken) {
            PyMem_Free(spans);
            return NULL;
        }
    }
    *ret_count = (size_t)count;
    return spans;
}

static PyObject *sub_rows(PyObject *module, PyObject *arguments)
{
    struct trk_error error = {0};
    const char *path;
    PyObject *pairs;
    size_t count;
    char *text = NULL;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "sO", &path, &pairs))
        return NULL;
    double(*spans)[2] = spans_of(pairs, &count);
    if (!spans)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    int code = trk_sub_track_rows(path, (const double(*)[2])spans, count, &text, &error);
    PyMem_Free(spans);
    return native_text(code, text, &error);
}

PyMethodDef native_gpu_functions[] = {
    {"sub_combine", sub_combine, METH_VARARGS, "sub_combine(path, files)"},
    {"sub_analyze", sub_analyze, METH_VARARGS, "sub_analyze(tracking_file, sub_tracking_file)"},
    {"sub_compare", sub_compare, METH_VARARGS, "sub_compare(names, results, statistic)"},
    {"sub_static", sub_static, METH_VARARGS, "sub_static(tracking_file)"},
    {"sub_names", sub_names, METH_VARARGS, "sub_names(sub_tracking_file)"},
    {"sub_overall", sub_overall, METH_VARARGS, "sub_overall(tracking_file)"},
    {"sub_calls", sub_calls, METH_VARARGS, "sub_calls(sub_tracking_file, name)"},
    {"sub_rows", sub_rows, METH_VARARGS, "sub_rows(tracking_file, calls)"},
    {NULL, NULL, 0, NULL},
};
