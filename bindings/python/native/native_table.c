#include "native_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct table *table_of(PyObject *object)
{
    return (struct table *)object;
}

static PyTypeObject *table_type; /* borrowed from the module, which lives as long as the process */

static struct table *table_alloc(size_t columns, size_t rows)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(table_type, Py_tp_alloc);
    struct table *table = (struct table *)allocate(table_type, 0);
    if (!table)
        return NULL;
    table->rows = rows;
    table->column = calloc(columns + 1, sizeof *table->column);
    if (!table->column) {
        Py_DECREF(table);
        return (struct table *)PyErr_NoMemory();
    }
    table->columns = columns;
    return table;
}

static void table_dealloc(PyObject *object)
{
    struct table *table = table_of(object);
    PyTypeObject *type = Py_TYPE(object);
    for (size_t i = 0; i < table->columns; i++) {
        struct column *column = &table->column[i];
        free(column->name);
        free(column->own_number);
        free(column->offset);
        free(column->text);
        free(column->present);
    }
    free(table->column);
    trk_frame_free(table->frame);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* ---- what is absent ------------------------------------------------------------------ */

static int set_absent(struct column *column, size_t rows, size_t row)
{
    size_t bytes = rows / 8 + 1;
    if (!column->present) {
        column->present = malloc(bytes);
        if (!column->present)
            return -1;
        memset(column->present, 0xff, bytes);
    }
    column->present[row / 8] &= (uint8_t) ~(1u << (row % 8));
    column->absent++;
    return 0;
}

static bool is_absent(const struct column *column, size_t row)
{
    return column->present && !(column->present[row / 8] >> (row % 8) & 1);
}

static int mark_absent(struct column *column, size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        if (isnan(column->number[row]) && set_absent(column, rows, row) < 0)
            return -1;
    return 0;
}

/* ---- from a frame -------------------------------------------------------------------- */

PyObject *native_table(trk_frame *frame)
{
    struct table *table = table_alloc(trk_frame_columns(frame), trk_frame_rows(frame));
    if (!table) {
        trk_frame_free(frame);
        return NULL;
    }
    table->frame = frame;
    for (size_t i = 0; i < table->columns; i++) {
        struct column *column = &table->column[i];
        column->name = strdup(trk_frame_name(frame, i));
        column->number = trk_frame_values(frame, i);
        if (!column->name || mark_absent(column, table->rows) < 0) {
            Py_DECREF(table);
            return PyErr_NoMemory();
        }
    }
    return (PyObject *)table;
}

/* ---- from lists ---------------------------------------------------------------------- */

static int take_numbers(struct column *column, PyObject *values, size_t rows)
{
    column->number = column->own_number = malloc((rows + 1) * sizeof *column->own_number);
    if (!column->own_number)
        return PyErr_NoMemory(), -1;
    for (size_t row = 0; row < rows; row++) {
        PyObject *value = PySequence_GetItem(values, (Py_ssize_t)row);
        if (!value)
            return -1;
        column->own_number[row] = value == Py_None ? NAN : PyFloat_AsDouble(value);
        bool failed = value != Py_None && column->own_number[row] == -1 && PyErr_Occurred();
        Py_DECREF(value);
        if (failed)
            return -1;
    }
    return mark_absent(column, rows) < 0 ? (PyErr_NoMemory(), -1) : 0;
}

/* One value as text; NULL with an exception set. None is an empty one. */
static PyObject *as_utf8(PyObject *value)
{
    if (value == Py_None)
        return PyBytes_FromStringAndSize("", 0);
    PyObject *text = PyObject_Str(value);
    PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
    Py_XDECREF(text);
    return bytes;
}

static int add_text(struct column *column, PyObject *value, size_t rows, size_t row)
{
    PyObject *bytes = as_utf8(value);
    if (!bytes)
        return -1;
    size_t len = (size_t)PyBytes_Size(bytes), at = (size_t)column->offset[row];
    char *text = at + len < INT32_MAX ? realloc(column->text, at + len + 1) : NULL;
    if (text) {
        memcpy(text + at, PyBytes_AsString(bytes), len);
        column->text = text;
        column->offset[row + 1] = (int32_t)(at + len);
    }
    Py_DECREF(bytes);
    if (!text || (value == Py_None && set_absent(column, rows, row) < 0))
        return PyErr_NoMemory(), -1;
    return 0;
}

static int take_texts(struct column *column, PyObject *values, size_t rows)
{
    column->offset = calloc(rows + 1, sizeof *column->offset);
    column->text = malloc(1);
    if (!column->offset || !column->text)
        return PyErr_NoMemory(), -1;
    for (size_t row = 0; row < rows; row++) {
        PyObject *value = PySequence_GetItem(values, (Py_ssize_t)row);
        int code = value ? add_text(column, value, rows, row) : -1;
        Py_XDECREF(value);
        if (code < 0)
            return -1;
    }
    return 0;
}

/* Numbers, unless some value is a text. 1 and 0; -1 with an exception set. */
static int has_text(PyObject *values, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        PyObject *value = PySequence_GetItem(values, (Py_ssize_t)row);
        if (!value)
            return -1;
        int is_text = PyUnicode_Check(value);
        Py_DECREF(value);
        if (is_text)
            return 1;
    }
    return 0;
}

static int take_column(struct column *column, PyObject *name, PyObject *values, size_t rows)
{
    PyObject *utf8 = as_utf8(name);
    column->name = utf8 ? strdup(PyBytes_AsString(utf8)) : NULL;
    Py_XDECREF(utf8);
    if (!column->name)
        return -1;
    int texts = has_text(values, rows);
    if (texts < 0)
        return -1;
    return texts ? take_texts(column, values, rows) : take_numbers(column, values, rows);
}

static PyObject *from_columns(PyObject *type, PyObject *arguments)
{
    PyObject *names, *lists;
    Py_ssize_t rows;
    (void)type;
    if (!PyArg_ParseTuple(arguments, "OOn", &names, &lists, &rows))
        return NULL;
    Py_ssize_t columns = PySequence_Size(names);
    if (columns < 0 || rows < 0 || PySequence_Size(lists) != columns) {
        PyErr_SetString(PyExc_ValueError, "as many names as columns are needed");
        return NULL;
    }
    struct table *table = table_alloc((size_t)columns, (size_t)rows);
    for (Py_ssize_t i = 0; table && i < columns; i++) {
        PyObject *name = PySequence_GetItem(names, i), *values = PySequence_GetItem(lists, i);
        int code = name && values ? take_column(&table->column[i], name, values, (size_t)rows) : -1;
        Py_XDECREF(name);
        Py_XDECREF(values);
        if (code < 0) {
            Py_DECREF(table);
            return PyErr_Occurred() ? NULL : PyErr_NoMemory();
        }
    }
    return (PyObject *)table;
}

/* ---- reading ------------------------------------------------------------------------- */

static PyObject *value_at(const struct column *column, size_t row)
{
    if (is_absent(column, row))
        Py_RETURN_NONE;
    if (column->number)
        return PyFloat_FromDouble(column->number[row]);
    return PyUnicode_FromStringAndSize(column->text + column->offset[row],
                                       column->offset[row + 1] - column->offset[row]);
}

static PyObject *names(PyObject *object, PyObject *nothing)
{
    const struct table *table = table_of(object);
    (void)nothing;
    PyObject *list = PyList_New((Py_ssize_t)table->columns);
    for (size_t i = 0; list && i < table->columns; i++) {
        PyObject *name = PyUnicode_FromString(table->column[i].name);
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

/* The column's index if there is such a one; else an exception is set. */
static bool takes_index(PyObject *argument, size_t end, size_t *ret_index)
{
    Py_ssize_t index = PyLong_AsSsize_t(argument);
    if (index == -1 && PyErr_Occurred())
        return false;
    if (index < 0 || (size_t)index >= end) {
        PyErr_SetString(PyExc_IndexError, "out of range");
        return false;
    }
    *ret_index = (size_t)index;
    return true;
}

static PyObject *column_values(PyObject *object, PyObject *argument)
{
    const struct table *table = table_of(object);
    size_t index;
    if (!takes_index(argument, table->columns, &index))
        return NULL;
    PyObject *list = PyList_New((Py_ssize_t)table->rows);
    for (size_t row = 0; list && row < table->rows; row++) {
        PyObject *value = value_at(&table->column[index], row);
        if (!value || PyList_SetItem(list, (Py_ssize_t)row, value) < 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *row_values(PyObject *object, PyObject *argument)
{
    const struct table *table = table_of(object);
    size_t row;
    if (!takes_index(argument, table->rows, &row))
        return NULL;
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < table->columns; i++) {
        PyObject *value = value_at(&table->column[i], row);
        int code = value ? PyDict_SetItemString(dict, table->column[i].name, value) : -1;
        Py_XDECREF(value);
        if (code < 0) {
            Py_DECREF(dict);
            return NULL;
        }
    }
    return dict;
}

/* Where a column lies: kind, address and bytes of its values, of its offsets and of its presence bits. */
static PyObject *column_memory(PyObject *object, PyObject *argument)
{
    const struct table *table = table_of(object);
    size_t index;
    if (!takes_index(argument, table->columns, &index))
        return NULL;
    const struct column *column = &table->column[index];
    const void *values = column->number ? (const void *)column->number : column->text;
    size_t bytes =
        column->number ? table->rows * sizeof(double) : (size_t)column->offset[table->rows];
    return Py_BuildValue("(sNnNNnn)", column->number ? "g" : "u",
                         PyLong_FromVoidPtr((void *)(uintptr_t)values), (Py_ssize_t)bytes,
                         PyLong_FromVoidPtr(column->offset), PyLong_FromVoidPtr(column->present),
                         (Py_ssize_t)(table->rows / 8 + 1), (Py_ssize_t)column->absent);
}

static Py_ssize_t table_len(PyObject *object)
{
    return (Py_ssize_t)table_of(object)->rows;
}

static PyMethodDef methods[] = {
    {"from_columns", from_columns, METH_VARARGS | METH_CLASS,
     "from_columns(names, lists, rows)\nA table of copies."},
    {"names", names, METH_NOARGS, "names()\nThe columns' names."},
    {"column", column_values, METH_O, "column(index)\nIts values as a list."},
    {"row", row_values, METH_O, "row(index)\nA row as a dict."},
    {"memory", column_memory, METH_O, "memory(index)\nWhere the column lies in memory."},
    {NULL, NULL, 0, NULL},
};

PyObject *native_table_type(void)
{
    static PyMethodDef all[16];
    size_t count = 0;
    for (size_t i = 0; methods[i].ml_name; i++)
        all[count++] = methods[i];
    for (size_t i = 0; native_arrow_methods[i].ml_name; i++)
        all[count++] = native_arrow_methods[i];
    static PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(uintptr_t) "Columns in memory."},
        {Py_tp_dealloc, (void *)table_dealloc},
        {Py_sq_length, (void *)table_len},
        {Py_tp_methods, all},
        {0, NULL},
    };
    static PyType_Spec spec = {"resource_tracker._native.Table", sizeof(struct table), 0,
                               Py_TPFLAGS_DEFAULT, slots};
    PyObject *type = PyType_FromSpec(&spec);
    table_type = (PyTypeObject *)type;
    return type;
}
