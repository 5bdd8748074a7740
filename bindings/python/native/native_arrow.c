/* A table through the Arrow C data interface: who imports it reads the table's own memory and holds the table until
 * it calls release. https://arrow.apache.org/docs/format/CDataInterface.html */
#include "native_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As the interface lays them down. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum { NULLABLE = 2 };

static void hold(struct table *table)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_INCREF(table);
    PyGILState_Release(state);
}

/* Importers release from any thread. */
static void let_go(void *table)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)table);
    PyGILState_Release(state);
}

/* ---- schema -------------------------------------------------------------------------- */

static void release_schema_child(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

/* Children lie in one block behind the pointers to them. */
static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    free(schema->children);
    let_go(schema->private_data);
    schema->release = NULL;
}

static int make_schema(struct table *table, struct ArrowSchema *schema)
{
    size_t count = table->columns;
    struct ArrowSchema **children = malloc((count + 1) * (sizeof *children + sizeof **children));
    if (!children)
        return ENOMEM;
    struct ArrowSchema *child = (struct ArrowSchema *)(void *)(children + count + 1);
    for (size_t i = 0; i < count; i++) {
        child[i] = (struct ArrowSchema){.format = table->column[i].number ? "g" : "u",
                                        .name = table->column[i].name,
                                        .flags = NULLABLE,
                                        .release = release_schema_child};
        children[i] = &child[i];
    }
    *schema = (struct ArrowSchema){.format = "+s",
                                   .name = "",
                                   .n_children = (int64_t)count,
                                   .children = children,
                                   .release = release_schema,
                                   .private_data = table};
    hold(table);
    return 0;
}

/* ---- array --------------------------------------------------------------------------- */

/* A column may be moved out of the struct and released on its own, so each holds the table. */
static void release_array_child(struct ArrowArray *array)
{
    let_go(array->private_data);
    free((void *)(uintptr_t)array->buffers);
    array->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free((void *)(uintptr_t)array->buffers);
    let_go(array->private_data);
    array->release = NULL;
}

static int make_child(struct table *table, const struct column *column, struct ArrowArray *array)
{
    const void **buffers = calloc(3, sizeof *buffers);
    if (!buffers)
        return ENOMEM;
    buffers[0] = column->present;
    buffers[1] = column->number ? (const void *)column->number : column->offset;
    buffers[2] = column->text;
    *array = (struct ArrowArray){.length = (int64_t)table->rows,
                                 .null_count = column->absent,
                                 .n_buffers = column->number ? 2 : 3,
                                 .buffers = buffers,
                                 .release = release_array_child,
                                 .private_data = table};
    hold(table);
    return 0;
}

static int make_array(struct table *table, struct ArrowArray *ret_array)
{
    struct ArrowArray array = {.length = (int64_t)table->rows,
                               .n_buffers = 1,
                               .buffers = calloc(1, sizeof *array.buffers),
                               .children = calloc(table->columns + 1, sizeof *array.children),
                               .release = release_array,
                               .private_data = table};
    int code = array.buffers && array.children ? 0 : ENOMEM;
    hold(table);
    for (size_t i = 0; i < table->columns && code == 0; i++) {
        struct ArrowArray *child = calloc(1, sizeof *child);
        code = child ? make_child(table, &table->column[i], child) : ENOMEM;
        if (code == 0)
            array.children[array.n_children++] = child;
        else
            free(child);
    }
    if (code)
        release_array(&array);
    else
        *ret_array = array;
    return code;
}

/* ---- stream: the whole table as one batch -------------------------------------------- */

struct stream {
    struct table *table;
    bool is_over;
};

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *ret_schema)
{
    return make_schema(((struct stream *)self->private_data)->table, ret_schema);
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *ret_array)
{
    struct stream *stream = self->private_data;
    if (stream->is_over) {
        *ret_array = (struct ArrowArray){0};
        return 0;
    }
    stream->is_over = true;
    return make_array(stream->table, ret_array);
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    (void)self;
    return "out of memory";
}

static void release_stream(struct ArrowArrayStream *self)
{
    struct stream *stream = self->private_data;
    let_go(stream->table);
    free(stream);
    self->release = NULL;
}

/* ---- capsules ------------------------------------------------------------------------ */

/* Who imports takes the structure out and leaves release NULL; what nobody took is released here. */
#define DEFINE_CAPSULE_END(type, capsule_name)                                                     \
    static void end_##type(PyObject *capsule)                                                      \
    {                                                                                              \
        struct type *held = PyCapsule_GetPointer(capsule, capsule_name);                           \
        if (held && held->release)                                                                 \
            held->release(held);                                                                   \
        free(held);                                                                                \
    }

DEFINE_CAPSULE_END(ArrowSchema, "arrow_schema")
DEFINE_CAPSULE_END(ArrowArray, "arrow_array")
DEFINE_CAPSULE_END(ArrowArrayStream, "arrow_array_stream")

static PyObject *schema_capsule(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    if (!schema || make_schema((struct table *)object, schema)) {
        free(schema);
        return PyErr_NoMemory();
    }
    return PyCapsule_New(schema, "arrow_schema", end_ArrowSchema);
}

static PyObject *array_capsules(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    (void)arguments,
        (void)keywords; /* another schema may be asked for; what there is may be given */
    struct ArrowArray *array = calloc(1, sizeof *array);
    if (!array || make_array((struct table *)object, array)) {
        free(array);
        return PyErr_NoMemory();
    }
    PyObject *data = PyCapsule_New(array, "arrow_array", end_ArrowArray);
    PyObject *schema = data ? schema_capsule(object, NULL) : NULL;
    return Py_BuildValue("(NN)", schema, data);
}

static PyObject *stream_capsule(PyObject *object, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    struct ArrowArrayStream *self = calloc(1, sizeof *self);
    struct stream *stream = calloc(1, sizeof *stream);
    if (!self || !stream) {
        free(self);
        free(stream);
        return PyErr_NoMemory();
    }
    Py_INCREF(object);
    stream->table = (struct table *)object;
    *self = (struct ArrowArrayStream){.get_schema = stream_schema,
                                      .get_next = stream_next,
                                      .get_last_error = stream_error,
                                      .release = release_stream,
                                      .private_data = stream};
    return PyCapsule_New(self, "arrow_array_stream", end_ArrowArrayStream);
}

PyMethodDef native_arrow_methods[] = {
    {"__arrow_c_schema__", schema_capsule, METH_NOARGS, "The schema as a capsule."},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))array_capsules, METH_VARARGS | METH_KEYWORDS,
     "Schema and data as capsules."},
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))stream_capsule,
     METH_VARARGS | METH_KEYWORDS, "A stream of one batch as a capsule."},
    {NULL, NULL, 0, NULL},
};
