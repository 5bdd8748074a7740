/* One look at a process or at the machine. One reader serves the whole process; a child born by fork makes its
 * own, because the threads that ask a GPU stay with the parent. */
#include "native.h"

#include <pthread.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pid_t owner;
    trk_reader *reader;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* With the interpreter's lock held, so that two threads do not both find that the process is new. */
static void note_fork(void)
{
    if (shared.owner == getpid())
        return;
    pthread_mutex_init(&shared.lock, NULL);
    shared.owner = getpid();
    shared.reader = NULL;
}

static int look(pid_t pid, bool children, char **ret_text, struct trk_error *error)
{
    pthread_mutex_lock(&shared.lock);
    int code = shared.reader ? 0 : trk_reader_new(NULL, &shared.reader, error);
    if (code == 0)
        code = pid ? trk_reader_process(shared.reader, pid, children, ret_text, error)
                   : trk_reader_system(shared.reader, ret_text, error);
    pthread_mutex_unlock(&shared.lock);
    return code;
}

static PyObject *look_as_text(pid_t pid, bool children)
{
    struct trk_error error = {0};
    char *text = NULL;
    int code;
    note_fork();
    Py_BEGIN_ALLOW_THREADS;
    code = look(pid, children, &text, &error);
    Py_END_ALLOW_THREADS;
    return native_text(code, text, &error);
}

static PyObject *read_process(PyObject *module, PyObject *arguments)
{
    (void)module;
    int pid, children;
    if (!PyArg_ParseTuple(arguments, "ip", &pid, &children))
        return NULL;
    if (pid <= 0) {
        PyErr_Format(PyExc_ValueError, "%d is not the number of a process", pid);
        return NULL;
    }
    return look_as_text(pid, children);
}

static PyObject *read_system(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    return look_as_text(0, false);
}

PyMethodDef native_reader_functions[] = {
    {"read_process", read_process, METH_VARARGS,
     "read_process(pid, children)\nJSON: what a process and its descendants have used so far."},
    {"read_system", read_system, METH_NOARGS,
     "read_system()\nJSON: what the machine has used since boot."},
    {NULL, NULL, 0, NULL},
};
