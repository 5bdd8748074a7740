/* Comparisons and gates. */
#include "native.h"

#include <stdio.h>

/* A side of a list: a str names runs as on the command line, bytes are a snapshot. None: no side. 0, or a negative code
 * with `error`; an exception where the list is none. */
static int fill_side(trk_side *side, PyObject *list, struct trk_error *error)
{
    Py_ssize_t count = PyList_Size(list);
    int code = count < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; code == 0 && i < count; i++) {
        PyObject *item = PyList_GetItem(list, i); /* borrowed */
        char label[32];
        snprintf(label, sizeof label, "tracker %zd", i + 1);
        if (PyBytes_Check(item)) {
            trk_run *run;
            code = trk_run_parse(PyBytes_AsString(item), (size_t)PyBytes_Size(item), &run, error);
            if (code == 0) {
                code = trk_side_add_run(side, run, label, error);
                trk_run_free(run);
            }
            continue;
        }
        PyObject *bytes = PyUnicode_EncodeFSDefault(item);
        code = bytes ? trk_side_add(side, PyBytes_AsString(bytes), error) : -1;
        Py_XDECREF(bytes);
    }
    return code;
}

/* The gates of a list of str. */
static int hold_gates(trk_comparison *comparison, PyObject *gates, struct trk_error *error)
{
    Py_ssize_t count = PyList_Size(gates);
    int code = count < 0 ? -1 : 0;
    for (Py_ssize_t i = 0; code == 0 && i < count; i++) {
        PyObject *bytes = PyUnicode_AsUTF8String(PyList_GetItem(gates, i));
        enum trk_gate_outcome outcome;
        const char *words;
        code = bytes ? trk_comparison_gate(comparison, PyBytes_AsString(bytes), &outcome, &words,
                                           error)
                     : -1;
        Py_XDECREF(bytes);
    }
    return code;
}

/* (JSON, Markdown, page or None) */
static PyObject *texts_of(const trk_comparison *comparison, int with_page, struct trk_error *error)
{
    char *json = NULL, *markdown = NULL, *page = NULL;
    int code = trk_comparison_text(comparison, TRK_COMPARISON_JSON, &json, NULL, error);
    if (code == 0)
        code = trk_comparison_text(comparison, TRK_COMPARISON_MARKDOWN, &markdown, NULL, error);
    if (code == 0 && with_page)
        code = trk_comparison_page(comparison, &page, NULL, error);
    PyObject *result =
        code < 0 ? native_raise(code, error) : Py_BuildValue("(ssz)", json, markdown, page);
    trk_free(json);
    trk_free(markdown);
    trk_free(page);
    return result;
}

static PyObject *compare(PyObject *module, PyObject *arguments)
{
    PyObject *base_list, *new_list, *gates, *result = NULL;
    int with_page;
    struct trk_error error = {0};
    trk_side *base = NULL, *new_side = NULL;
    trk_comparison *comparison = NULL;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOOp", &base_list, &new_list, &gates, &with_page))
        return NULL;
    int code = trk_side_new(&new_side, &error);
    if (code == 0 && base_list != Py_None)
        code = trk_side_new(&base, &error);
    if (code == 0 && base)
        code = fill_side(base, base_list, &error);
    if (code == 0)
        code = fill_side(new_side, new_list, &error);
    if (code == 0)
        code = trk_compare(base, new_side, &comparison, &error);
    if (code == 0)
        code = hold_gates(comparison, gates, &error);
    if (code == 0)
        result = texts_of(comparison, with_page, &error);
    else if (!PyErr_Occurred())
        native_raise(code, &error);
    trk_comparison_free(comparison);
    trk_side_free(new_side);
    trk_side_free(base);
    return result;
}

static PyObject *gate_check(PyObject *module, PyObject *arguments)
{
    const char *gate;
    bool needs_base;
    struct trk_error error = {0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "s", &gate))
        return NULL;
    int code = trk_gate_check(gate, &needs_base, &error);
    return code < 0 ? native_raise(code, &error) : PyBool_FromLong(needs_base);
}

PyMethodDef native_compare_functions[] = {
    {"compare", compare, METH_VARARGS,
     "compare(base, new, gates, with_page)\nJSON, Markdown and the page of a comparison."},
    {"gate_check", gate_check, METH_VARARGS,
     "gate_check(gate)\nWhether a gate needs a base; ValueError where it cannot be read."},
    {NULL, NULL, 0, NULL},
};
