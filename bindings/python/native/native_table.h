/* A table of columns in memory: numbers (NaN is absent) or texts. Nothing in it changes once it is made, so that
 * others may look at its memory for as long as they hold it. */
#ifndef TRK_PYTHON_NATIVE_TABLE_H
#define TRK_PYTHON_NATIVE_TABLE_H

#include "native.h"

struct column {
    char *name;
    const double *number; /* NULL: texts */
    double *own_number;   /* where they are not the frame's */
    int32_t *offset;      /* of text i in `text`: offset[i] to offset[i + 1] */
    char *text;
    uint8_t *present; /* one bit a row, the lowest first; NULL: every value is there */
    int64_t absent;
};

struct table {
    PyObject_HEAD trk_frame *frame; /* owns the numbers; NULL: the columns do */
    size_t columns, rows;
    struct column *column;
};

extern PyMethodDef native_arrow_methods[];

#endif
