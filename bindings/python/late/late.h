/* A library that is opened when it is first called. */
#ifndef TRK_PYTHON_LATE_H
#define TRK_PYTHON_LATE_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* The function of this name; NULL where the library is not here. It stays open: others may use it too. */
static inline void *late_find(_Atomic(void *) *library, const char *file, const char *name)
{
    void *opened = atomic_load(library);
    if (!opened) {
        opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        atomic_store(library, opened);
    }
    return opened ? dlsym(opened, name) : NULL;
}

/* A function that hands over to the library's, or returns `otherwise` where that is not here. `copy` is as POSIX has it: no
 * cast from data to code. */
#define LATE_FUNCTION(type, name, parameters, arguments, otherwise)                                \
    type name parameters                                                                           \
    {                                                                                              \
        type(*real) parameters = NULL;                                                             \
        void *found = late_find(&library, LIBRARY, #name);                                         \
        memcpy(&real, &found, sizeof real);                                                        \
        return real ? real arguments : otherwise;                                                  \
    }

#endif
