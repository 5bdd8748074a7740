/* The report's page. */
#include "native.h"

static PyObject *report(PyObject *module, PyObject *arguments)
{
    struct trk_report_options options;
    struct trk_error error = {0};
    const char *snapshot;
    Py_ssize_t snapshot_len;
    char *html = NULL;
    int status_failed, code;
    (void)module;
    trk_report_options_init(&options);
    if (!PyArg_ParseTuple(arguments, "s#spz", &snapshot, &snapshot_len, &options.integration,
                          &status_failed, &options.historical_stats))
        return NULL;
    options.status_failed = status_failed;
    Py_BEGIN_ALLOW_THREADS;
    code = trk_report(snapshot, (size_t)snapshot_len, &options, &html, NULL, &error);
    Py_END_ALLOW_THREADS;
    return native_text(code, html, &error);
}

PyMethodDef native_report_functions[] = {
    {"report", report, METH_VARARGS,
     "report(snapshot, integration, status_failed, historical_stats)\nHTML: the page of a run."},
    {NULL, NULL, 0, NULL},
};
