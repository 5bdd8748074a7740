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

/* ---- servers ------------------------------------------------------------------------- */

static PyObject *recommend_servers(PyObject *module, PyObject *arguments)
{
    struct trk_server_options options;
    struct trk_error error = {0};
    PyObject *filters;
    size_t filter_count;
    Py_ssize_t count;
    char *text = NULL;
    int code;
    (void)module;
    trk_server_options_init(&options);
    if (!PyArg_ParseTuple(arguments, "ddddnOdz", &options.cpu_cores, &options.memory_mib,
                          &options.gpu_devices, &options.vram_total_mib, &count, &filters,
                          &options.run_seconds, &options.cloud_info))
        return NULL;
    options.count = count > 0 ? (size_t)count : 0;
    options.filters = native_texts(filters, &filter_count);
    if (!options.filters)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = trk_recommend_servers(&options, &text, &error);
    Py_END_ALLOW_THREADS;
    PyMem_Free((void *)(uintptr_t)options.filters);
    return native_text(code, text, &error);
}

static PyObject *server_price(PyObject *module, PyObject *arguments)
{
    struct trk_error error = {0};
    const char *vendor, *server, *region;
    char *text = NULL;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "ssz", &vendor, &server, &region))
        return NULL;
    int code = trk_server_price(vendor, server, region, false, &text, &error);
    return native_text(code, text, &error);
}

PyMethodDef native_host_functions[] = {
    {"recommend_servers", recommend_servers, METH_VARARGS,
     "recommend_servers(cpu, memory_mib, gpu, vram_total_mib, n, filters, run_seconds, "
     "cloud_info)\n"
     "JSON: the cheapest servers that fit, from the table."},
    {"server_price", server_price, METH_VARARGS,
     "server_price(vendor, server, region)\nJSON: what it costs an hour, from the table."},
    {"server_info", server_info, METH_NOARGS, "server_info()\nJSON: what the machine has."},
    {"cloud_info", cloud_info, METH_NOARGS, "cloud_info()\nJSON: which cloud it is in."},
    {NULL, NULL, 0, NULL},
};
