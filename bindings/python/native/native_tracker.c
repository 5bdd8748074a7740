/* A tracker with a process of its own. */
#include "native.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct tracker {
    PyObject_HEAD trk_tracker *tracker;
    pthread_mutex_t lock; /* the library lets one thread in at a time */
    pid_t owner; /* whom the lock belongs to: in a child born by fork it may be held for ever */
};

/* ---- one thread at a time ------------------------------------------------------------ */

/* A call of the library with everything it needs, run without the interpreter's lock. */
struct call {
    int (*run)(trk_tracker *tracker, struct call *call);
    struct trk_error error;
    char *text;
    const char *path;
    int (*get)(trk_tracker *, char **, struct trk_error *);
    struct trk_frame_options frame_options;
    trk_frame *frame;
    uint64_t count;
};

static int locked(struct tracker *self, struct call *call)
{
    int code;
    if (self->owner != getpid()) {
        pthread_mutex_init(&self->lock, NULL);
        self->owner = getpid();
    }
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&self->lock);
    code = self->tracker ? call->run(self->tracker, call) : -EBADF;
    pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS;
    if (code == -EBADF && !self->tracker)
        strcpy(call->error.message, "the tracker was closed");
    return code;
}

static PyObject *done(int code, const struct call *call)
{
    if (code < 0)
        return native_raise(code, &call->error);
    Py_RETURN_NONE;
}

/* ---- life ---------------------------------------------------------------------------- */

static PyObject *tracker_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct tracker *self = (struct tracker *)allocate(type, 0);
    if (!self)
        return NULL;
    pthread_mutex_init(&self->lock, NULL);
    self->owner = getpid();
    return (PyObject *)self;
}

static int tracker_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    static const char *const names[] = {
        "pid",          "children",        "interval",       "autostart", "track_processes",
        "track_system", "discover_server", "discover_cloud", "program",   NULL};
    struct tracker *self = (struct tracker *)object;
    struct trk_tracker_options options;
    struct trk_error error = {0};
    int pid, children, autostart, processes, system, server, cloud;
    trk_tracker_options_init(&options);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "ipdpppppz", (char **)(uintptr_t)names,
                                     &pid, &children, &options.interval_seconds, &autostart,
                                     &processes, &system, &server, &cloud, &options.program))
        return -1;
    options.pid = pid;
    options.children = children;
    options.autostart = autostart;
    options.track_processes = processes;
    options.track_system = system;
    options.discover_server = server;
    options.discover_cloud = cloud;
    trk_tracker_free(self->tracker);
    self->tracker = NULL;
    int code = trk_tracker_new(&options, &self->tracker, &error);
    if (code < 0)
        native_raise(code, &error);
    return code < 0 ? -1 : 0;
}

static void close_tracker(struct tracker *self)
{
    trk_tracker *tracker = self->tracker;
    self->tracker = NULL;
    Py_BEGIN_ALLOW_THREADS;
    trk_tracker_free(tracker);
    Py_END_ALLOW_THREADS;
}

static void tracker_dealloc(PyObject *object)
{
    struct tracker *self = (struct tracker *)object;
    PyTypeObject *type = Py_TYPE(object);
    close_tracker(self);
    if (self->owner == getpid())
        pthread_mutex_destroy(&self->lock);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static int run_close(trk_tracker *tracker, struct call *call)
{
    (void)call;
    (void)tracker;
    return 0;
}

/* Waits for a thread that is inside, then ends everything. */
static PyObject *tracker_close(PyObject *object, PyObject *nothing)
{
    struct tracker *self = (struct tracker *)object;
    struct call call = {.run = run_close};
    (void)nothing;
    if (self->tracker && locked(self, &call) == 0)
        close_tracker(self);
    Py_RETURN_NONE;
}

/* ---- loading ------------------------------------------------------------------------- */

static PyObject *adopt(PyObject *type, int code, trk_tracker *tracker,
                       const struct trk_error *error)
{
    if (code < 0)
        return native_raise(code, error);
    PyObject *object = tracker_new((PyTypeObject *)type, NULL, NULL);
    if (object)
        ((struct tracker *)object)->tracker = tracker;
    else
        trk_tracker_free(tracker);
    return object;
}

static PyObject *tracker_load(PyObject *type, PyObject *path)
{
    PyObject *bytes;
    struct trk_error error = {0};
    trk_tracker *tracker = NULL;
    int code;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = trk_tracker_load(PyBytes_AsString(bytes), &tracker, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(bytes);
    return adopt(type, code, tracker, &error);
}

static PyObject *tracker_loads(PyObject *type, PyObject *data)
{
    char *text;
    Py_ssize_t len;
    struct trk_error error = {0};
    trk_tracker *tracker = NULL;
    int code;
    if (PyBytes_AsStringAndSize(data, &text, &len) < 0)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = trk_tracker_loads(text, (size_t)len, &tracker, &error);
    Py_END_ALLOW_THREADS;
    return adopt(type, code, tracker, &error);
}

/* ---- methods ------------------------------------------------------------------------- */

static int run_start(trk_tracker *tracker, struct call *call)
{
    return trk_tracker_start(tracker, &call->error);
}

static PyObject *tracker_start(PyObject *object, PyObject *nothing)
{
    struct call call = {.run = run_start};
    (void)nothing;
    return done(locked((struct tracker *)object, &call), &call);
}

static int run_stop(trk_tracker *tracker, struct call *call)
{
    return trk_tracker_stop(tracker, &call->error);
}

static PyObject *tracker_stop(PyObject *object, PyObject *nothing)
{
    struct call call = {.run = run_stop};
    (void)nothing;
    return done(locked((struct tracker *)object, &call), &call);
}

static int run_count(trk_tracker *tracker, struct call *call)
{
    call->count = trk_tracker_n_samples(tracker);
    return 0;
}

static PyObject *tracker_n_samples(PyObject *object, PyObject *nothing)
{
    struct call call = {.run = run_count};
    (void)nothing;
    int code = locked((struct tracker *)object, &call);
    return code < 0 ? native_raise(code, &call.error) : PyLong_FromUnsignedLongLong(call.count);
}

static int run_check(trk_tracker *tracker, struct call *call)
{
    return trk_tracker_check(tracker, &call->error);
}

static PyObject *tracker_check(PyObject *object, PyObject *nothing)
{
    struct call call = {.run = run_check};
    (void)nothing;
    return done(locked((struct tracker *)object, &call), &call);
}

static int run_get(trk_tracker *tracker, struct call *call)
{
    return call->get(tracker, &call->text, &call->error);
}

static int get_stats(trk_tracker *tracker, char **ret_text, struct trk_error *error)
{
    return trk_tracker_stats_json(tracker, NULL, 0, ret_text, error);
}

static PyObject *tracker_text(PyObject *object, PyObject *argument)
{
    static const struct {
        const char *name;
        int (*get)(trk_tracker *, char **, struct trk_error *);
    } texts[] = {{"server_info", trk_tracker_server_info}, {"cloud_info", trk_tracker_cloud_info},
                 {"snapshot", trk_tracker_snapshot},       {"totals", trk_tracker_totals},
                 {"processes", trk_tracker_processes},     {"stats", get_stats}};
    struct call call = {.run = run_get};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (PyUnicode_CompareWithASCIIString(argument, texts[i].name) == 0)
            call.get = texts[i].get;
    if (!call.get) {
        PyErr_SetObject(PyExc_KeyError, argument);
        return NULL;
    }
    int code = locked((struct tracker *)object, &call);
    return native_text(code, call.text, &call.error);
}

static int run_save(trk_tracker *tracker, struct call *call)
{
    return trk_tracker_save(tracker, call->path, &call->error);
}

static PyObject *tracker_save(PyObject *object, PyObject *path)
{
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    struct call call = {.run = run_save, .path = PyBytes_AsString(bytes)};
    PyObject *result = done(locked((struct tracker *)object, &call), &call);
    Py_DECREF(bytes);
    return result;
}

static int run_frame(trk_tracker *tracker, struct call *call)
{
    return trk_tracker_frame(tracker, &call->frame_options, &call->frame, &call->error);
}

static PyObject *tracker_frame(PyObject *object, PyObject *arguments)
{
    struct call call = {.run = run_frame};
    struct trk_frame_options *options = &call.frame_options;
    unsigned long long first, count;
    int rows, bytes, human;
    trk_frame_options_init(options);
    if (!PyArg_ParseTuple(arguments, "ippzzKK", &rows, &bytes, &human, &options->system_prefix,
                          &options->process_prefix, &first, &count))
        return NULL;
    options->rows = (enum trk_rows)rows;
    options->bytes = bytes;
    options->human_names = human;
    options->first = first;
    options->count = count;
    int code = locked((struct tracker *)object, &call);
    return code < 0 ? native_raise(code, &call.error) : native_table(call.frame);
}

static PyObject *tracker_settings(PyObject *object, PyObject *nothing)
{
    struct trk_tracker_options options = {.size = sizeof options};
    double start, stop;
    const struct tracker *self = (struct tracker *)object;
    (void)nothing;
    if (!self->tracker) {
        PyErr_SetString(PyExc_ValueError, "the tracker was closed");
        return NULL;
    }
    trk_tracker_settings(self->tracker, &options, &start, &stop);
    return Py_BuildValue("{s:i,s:O,s:d,s:O,s:O,s:O,s:O,s:N,s:N}", "pid", (int)options.pid,
                         "children", options.children ? Py_True : Py_False, "interval",
                         options.interval_seconds, "track_processes",
                         options.track_processes ? Py_True : Py_False, "track_system",
                         options.track_system ? Py_True : Py_False, "discover_server",
                         options.discover_server ? Py_True : Py_False, "discover_cloud",
                         options.discover_cloud ? Py_True : Py_False, "start_time",
                         native_number(start), "stop_time", native_number(stop));
}

static PyObject *tracker_mark(PyObject *object, PyObject *arguments)
{
    const struct tracker *self = (struct tracker *)object;
    struct trk_error error = {0};
    int kind;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "is", &kind, &name))
        return NULL;
    if (!self->tracker) {
        PyErr_SetString(PyExc_ValueError, "the tracker was closed");
        return NULL;
    }
    int code = trk_mark(self->tracker, (enum trk_mark_kind)kind, name, &error);
    if (code < 0)
        return native_raise(code, &error);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", tracker_start, METH_NOARGS, "start()\nStarts the tracker's process."},
    {"stop", tracker_stop, METH_NOARGS, "stop()\nEnds it, and waits for the last totals."},
    {"close", tracker_close, METH_NOARGS, "close()\nEnds it and removes what it left on disk."},
    {"n_samples", tracker_n_samples, METH_NOARGS, "n_samples()\nRows so far."},
    {"check", tracker_check, METH_NOARGS,
     "check()\nRaises where no more rows will come, with why."},
    {"text", tracker_text, METH_O,
     "text(what)\nJSON: server_info, cloud_info, snapshot, totals, processes, stats."},
    {"save", tracker_save, METH_O, "save(path)\nThe snapshot as gzip."},
    {"frame", tracker_frame, METH_VARARGS,
     "frame(rows, bytes, human, system_prefix, process_prefix, first, count)\nA table of rows."},
    {"settings", tracker_settings, METH_NOARGS, "settings()\nWhat it was told, and its times."},
    {"mark", tracker_mark, METH_VARARGS, "mark(kind, name)\nAn event in the record."},
    {"load", tracker_load, METH_O | METH_CLASS, "load(path)\nA stopped tracker from a file."},
    {"loads", tracker_loads, METH_O | METH_CLASS, "loads(data)\nThe same from bytes."},
    {NULL, NULL, 0, NULL},
};

PyObject *native_tracker_type(void)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(uintptr_t) "A tracker with a process of its own."},
        {Py_tp_new, (void *)tracker_new},
        {Py_tp_init, (void *)tracker_init},
        {Py_tp_dealloc, (void *)tracker_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"resource_tracker._native.Tracker", sizeof(struct tracker), 0,
                               Py_TPFLAGS_DEFAULT, slots};
    return PyType_FromSpec(&spec);
}
