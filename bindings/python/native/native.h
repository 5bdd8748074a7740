/* The extension's inside. Every call into the library that may wait releases the interpreter's lock. */
#ifndef TRK_PYTHON_NATIVE_H
#define TRK_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "resource_tracker.h"

/* Sets the Python exception that stands for a code of the library, and returns NULL. */
PyObject *native_raise(int code, const struct trk_error *error);

/* A str from a text of the library, which is freed; or the exception where `code` tells of a failure. */
PyObject *native_text(int code, char *text, const struct trk_error *error);

/* The texts of a list of bytes, which keeps them, ended by NULL; NULL with an exception set. The caller frees the array
 * with PyMem_Free. */
const char **native_texts(PyObject *list, size_t *ret_count);

/* A float, None for NaN. */
PyObject *native_number(double value);

/* A table over a frame, which it owns from then on, also on failure. */
PyObject *native_table(trk_frame *frame);

/* The types; each returns NULL with an exception set. */
PyObject *native_tracker_type(void);
PyObject *native_session_type(void);
PyObject *native_table_type(void);
PyObject *native_gpu_tracker_type(void);
PyObject *native_sub_track_type(void);

/* Functions of the module itself, in tables that end with a NULL name. */
extern PyMethodDef native_compare_functions[];
extern PyMethodDef native_gpu_functions[];
extern PyMethodDef native_host_functions[];
extern PyMethodDef native_reader_functions[];
extern PyMethodDef native_report_functions[];

#endif
