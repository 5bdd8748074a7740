/* A session inside this process: rows go to a file or descriptor, events come to Python. */
#include "native.h"

#include <errno.h>

struct session {
    PyObject_HEAD trk_session *session;
    bool busy; /* some thread waits in the library */
};

static int session_init(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    static const char *const names[] = {"pid",    "interval",   "children",  "rows", "schema",
                                        "output", "start_time", "overwrite", NULL};
    struct session *self = (struct session *)object;
    struct trk_options options;
    struct trk_error error = {0};
    int pid, children = 1, rows = TRK_ROWS_PROCESS, schema = TRK_SCHEMA_V2, overwrite = 1;
    trk_options_init(&options);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "id|piizdp", (char **)(uintptr_t)names,
                                     &pid, &options.interval_seconds, &children, &rows, &schema,
                                     &options.output_path, &options.start_time, &overwrite))
        return -1;
    if (self->session) {
        PyErr_SetString(PyExc_RuntimeError, "the session was made already");
        return -1;
    }
    options.children = children;
    options.rows = (enum trk_rows)rows;
    options.schema = (enum trk_schema)schema;
    options.overwrite = overwrite;
    options.format = TRK_FORMAT_CSV;
    options.interruptible = true;
    int code = trk_session_new(&options, &self->session, &error);
    if (code == 0)
        code = trk_session_start(self->session, pid, &error);
    if (code < 0)
        native_raise(code, &error);
    return code < 0 ? -1 : 0;
}

static void session_close(struct session *self)
{
    trk_session *session = self->session;
    self->session = NULL;
    Py_BEGIN_ALLOW_THREADS;
    trk_session_free(session);
    Py_END_ALLOW_THREADS;
}

static void session_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    session_close((struct session *)object);
    release(object);
    Py_DECREF(type);
}

static bool is_usable(const struct session *self)
{
    if (self->session && !self->busy)
        return true;
    PyErr_SetString(PyExc_RuntimeError, self->session
                                            ? "another thread waits for this session's rows"
                                            : "the session was closed");
    return false;
}

/* True with a row, False at the end. */
static PyObject *session_next(PyObject *object, PyObject *nothing)
{
    struct session *self = (struct session *)object;
    (void)nothing;
    if (!is_usable(self))
        return NULL;
    for (;;) {
        struct trk_error error = {0};
        struct trk_event event = {0};
        int code;
        self->busy = true;
        Py_BEGIN_ALLOW_THREADS;
        code = trk_session_next(self->session, &event, &error);
        Py_END_ALLOW_THREADS;
        self->busy = false;
        if (PyErr_CheckSignals() < 0)
            return NULL;
        if (code < 0 && code != -EINTR)
            return native_raise(code, &error);
        if (code == 0 && (event.kind == TRK_EVENT_ROW || event.kind == TRK_EVENT_END))
            return PyBool_FromLong(event.kind == TRK_EVENT_ROW);
    }
}

static PyObject *session_close_method(PyObject *object, PyObject *nothing)
{
    struct session *self = (struct session *)object;
    (void)nothing;
    if (self->busy)
        return is_usable(self), NULL;
    session_close(self);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"next", session_next, METH_NOARGS,
     "next()\nWaits. True: a row was written; False: the process has ended."},
    {"close", session_close_method, METH_NOARGS, "close()\nEnds without a closing row."},
    {NULL, NULL, 0, NULL},
};

PyObject *native_session_type(void)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(uintptr_t) "Measures at intervals and writes CSV."},
        {Py_tp_new, (void *)PyType_GenericNew},
        {Py_tp_init, (void *)session_init},
        {Py_tp_dealloc, (void *)session_dealloc},
        {Py_tp_methods, methods},
        {0, NULL},
    };
    static PyType_Spec spec = {"resource_tracker._native.Session", sizeof(struct session), 0,
                               Py_TPFLAGS_DEFAULT, slots};
    return PyType_FromSpec(&spec);
}
