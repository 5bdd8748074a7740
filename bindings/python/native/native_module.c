/* The module: its types, its functions, and how failures of the library become exceptions. */
#include "native.h"

#include <errno.h>
#include <math.h>
#include <string.h>

PyObject *native_raise(int code, const struct trk_error *error)
{
    switch (-code) {
    case ENOMEM:
        return PyErr_NoMemory();
    case EINVAL:
        PyErr_SetString(PyExc_ValueError, error->message);
        return NULL;
    case EALREADY:
    case ECANCELED:
    case ETIMEDOUT:
    case ENODATA:
    case ECHILD:
    case EBADMSG:
    case ENOSYS:
    case ENOTSUP:
        PyErr_SetString(PyExc_RuntimeError, error->message);
        return NULL;
    }
    /* OSError picks its subclass by the number: FileNotFoundError, ProcessLookupError... */
    PyObject *arguments = Py_BuildValue("(is)", -code, error->message);
    if (arguments)
        PyErr_SetObject(PyExc_OSError, arguments);
    Py_XDECREF(arguments);
    return NULL;
}

PyObject *native_text(int code, char *text, const struct trk_error *error)
{
    if (code < 0)
        return native_raise(code, error);
    PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    trk_free(text);
    return result;
}

PyObject *native_number(double value)
{
    if (isnan(value))
        Py_RETURN_NONE;
    return PyFloat_FromDouble(value);
}

const char **native_texts(PyObject *list, size_t *ret_count)
{
    Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : -1;
    if (count < 0) {
        PyErr_SetString(PyExc_TypeError, "a list of texts is needed");
        return NULL;
    }
    const char **texts = PyMem_Calloc((size_t)count + 1, sizeof *texts);
    for (Py_ssize_t i = 0; texts && i < count; i++) {
        PyObject *item = PyList_GetItem(list, i); /* borrowed */
        texts[i] = PyBytes_Check(item) ? PyBytes_AsString(item) : NULL;
        if (!texts[i]) {
            PyMem_Free(texts);
            PyErr_SetString(PyExc_TypeError, "a list of bytes is needed");
            return NULL;
        }
    }
    *ret_count = (size_t)count;
    return texts ? texts : (const char **)PyErr_NoMemory();
}

/* ---- functions ----------------------------------------------------------------------- */

static PyObject *recommend_classic(PyObject *module, PyObject *arguments)
{
    (void)module;
    struct trk_classic_stats run;
    struct trk_classic_need need;
    if (!PyArg_ParseTuple(arguments, "ddddd", &run.cpu_mean_cores, &run.memory_max_kib,
                          &run.gpu_mean_devices, &run.gpu_max_devices, &run.vram_max_mib))
        return NULL;
    trk_recommend_classic(&run, 1, &need);
    return Py_BuildValue("(NNNN)", native_number(need.cpu_cores), native_number(need.memory_mib),
                         native_number(need.gpu_devices), native_number(need.vram_mib));
}

static PyObject *mark(PyObject *module, PyObject *arguments)
{
    (void)module;
    int kind;
    const char *name;
    struct trk_error error = {0};
    if (!PyArg_ParseTuple(arguments, "is", &kind, &name))
        return NULL;
    int code = trk_mark(NULL, (enum trk_mark_kind)kind, name, &error);
    if (code < 0)
        return native_raise(code, &error);
    Py_RETURN_NONE;
}

/* One dict a metric; columns and factors to bytes are those of schemas v1, v2 and v3. */
static PyObject *catalogue(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    PyObject *list = PyList_New(0);
    struct trk_metric_info info = {.size = sizeof info};
    for (size_t i = 0; list && trk_metric_at(i, &info) == 0; i++) {
        PyObject *metric = Py_BuildValue(
            "{szszszsz,s(zzz),s(ddd)}", "name", info.name, "scope", info.scope, "unit", info.unit,
            "human_name", info.human_name, "columns", info.names[0], info.names[1], info.names[2],
            "bytes_factors", info.bytes_factors[0], info.bytes_factors[1], info.bytes_factors[2]);
        int code = metric ? PyList_Append(list, metric) : -1;
        Py_XDECREF(metric);
        if (code < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"recommend_classic", recommend_classic, METH_VARARGS,
     "recommend_classic(cpu_mean, memory_max_kib, gpu_mean, gpu_max, vram_max_mib)\n"
     "Cores, memory in MiB, GPUs and VRAM in MiB by the classic rule."},
    {"mark", mark, METH_VARARGS,
     "mark(kind, name)\nAn event in the run that this process belongs to."},
    {"catalogue", catalogue, METH_NOARGS,
     "catalogue()\nEvery metric: name, scope, unit, human_name (None: the column's own), its "
     "columns in the schemas\n"
     "v1, v2 and v3 (None: not there), and what makes bytes of each (0: no amount of bytes)."},
    {NULL, NULL, 0, NULL},
};

/* ---- the module ---------------------------------------------------------------------- */

static int add(PyObject *module, const char *name, PyObject *value)
{
    if (!value)
        return -1;
    int code = PyObject_SetAttrString(module, name, value);
    Py_DECREF(value);
    return code;
}

static int fill_module(PyObject *module)
{
    if (PyModule_AddFunctions(module, functions) < 0 ||
        PyModule_AddFunctions(module, native_compare_functions) < 0 ||
        PyModule_AddFunctions(module, native_gpu_functions) < 0 ||
        PyModule_AddFunctions(module, native_host_functions) < 0 ||
        PyModule_AddFunctions(module, native_reader_functions) < 0 ||
        PyModule_AddFunctions(module, native_report_functions) < 0 ||
        PyModule_AddStringConstant(module, "version", trk_version()) < 0 ||
        add(module, "Tracker", native_tracker_type()) < 0 ||
        add(module, "Session", native_session_type()) < 0 ||
        add(module, "Table", native_table_type()) < 0 ||
        add(module, "GpuTracker", native_gpu_tracker_type()) < 0 ||
        add(module, "SubTrack", native_sub_track_type()) < 0)
        return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill_module}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "resource_tracker._native",
    .m_doc = "The tracker's library.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
