/* Scope-exit cleanup. A value leaves its scope's care only through TRK_STEAL. */
#ifndef TRK_BASE_CLEANUP_H
#define TRK_BASE_CLEANUP_H

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static inline void trk__cleanup_free(void *pointer)
{
    free(*(void **)pointer);
}

static inline void trk__cleanup_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void trk__cleanup_dir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static inline int trk__steal_fd(int *fd)
{
    int stolen = *fd;
    *fd = -1;
    return stolen;
}

#define TRK_CLEANUP_FREE __attribute__((cleanup(trk__cleanup_free)))
#define TRK_CLEANUP_FD __attribute__((cleanup(trk__cleanup_fd)))
#define TRK_CLEANUP_DIR __attribute__((cleanup(trk__cleanup_dir)))

#define TRK_STEAL(pointer)                                                                         \
    __extension__({                                                                                \
        __typeof__(pointer) stolen_ = (pointer);                                                   \
        (pointer) = NULL;                                                                          \
        stolen_;                                                                                   \
    })

#endif
