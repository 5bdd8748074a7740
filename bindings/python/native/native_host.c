/* The machine and the cloud it is in. */
#include "native.h"

static PyObject *server_info(PyObject *module, PyObject *nothing)
{
    struct trk_error error = {0};
    char *text = NULL;
    int code;
    (void)module, (void)nothing;
    Py_BEGIN_ALLOW_THREADS;
    code = trk_server_info_json(NULL, &text, &error);
    Py_END_ALLOW_THREADS;
    return native_text(code, text, &error);
}

static PyObject *cloud_info(PyObject *module, PyObject *nothing)
{
    struct trk_error error = {0};
    char *text = NULL;
    int code;
    (void)module, (void)nothing;
    Py_BEGIN_ALLOW_THREADS;
    code = trk_cloud_info_json(NULL, &text, &error);
    Py_END_ALLOW_THREADS;
    return native_text(code, text, &error);
}

PyMethodDef native_host_functions[] = {
    {"server_info", server_info, METH_NOARGS, "server_info()\nJSON: what the machine has."},
    {"cloud_info", cloud_info, METH_NOARGS, "cloud_info()\nJSON: which cloud it is in."},
    {NULL, NULL, 0, NULL},
};
