/* A root folder that a test fills as it goes: proc and sys as files that it writes. */
#ifndef TRK_TESTS_FAKE_ROOT_H
#define TRK_TESTS_FAKE_ROOT_H

#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_root {
    char path[64];
};

static inline void fake_root_init(struct fake_root *root)
{
    strcpy(root->path, "/tmp/trk-root-XXXXXX");
    if (!mkdtemp(root->path))
        abort();
}

static inline int fake_root_remove_one(const char *path, const struct stat *stat, int type,
                                       struct FTW *ftw)
{
    (void)stat, (void)type, (void)ftw;
    return remove(path);
}

static inline void fake_root_done(const struct fake_root *root)
{
    nftw(root->path, fake_root_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void fake_root_remove(const struct fake_root *root, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root->path, name);
    nftw(path, fake_root_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below the root, making the folders on the way. The inode stays: kept descriptors see the
 * new text. */
__attribute__((format(printf, 3, 4))) static inline void
fake_root_write(const struct fake_root *root, const char *name, const char *format, ...)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root->path, name);
    for (char *slash = strchr(path + strlen(root->path) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

/* A process with round figures: CPU ticks of its own and waited for, faults likewise. */
struct fake_process {
    int pid, ppid;
    const char *comm;
    char state;
    unsigned long utime, stime, cutime, cstime, minflt, cminflt;
    unsigned long start;
    unsigned long resident, shared; /* pages */
    unsigned long read_bytes;
};

static inline void fake_process_write(const struct fake_root *root, const struct fake_process *p)
{
    char name[64];
    snprintf(name, sizeof name, "proc/%d/stat", p->pid);
    fake_root_write(
        root, name,
        "%d (%s) %c %d 1 1 0 -1 4194304 %lu %lu 0 0 %lu %lu %lu %lu 20 0 3 0 %lu 100000 "
        "%lu 18446744073709551615 1 1 140000000000 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
        p->pid, p->comm ? p->comm : "job", p->state ? p->state : 'S', p->ppid, p->minflt,
        p->cminflt, p->utime, p->stime, p->cutime, p->cstime, p->start, p->resident);
    snprintf(name, sizeof name, "proc/%d/statm", p->pid);
    fake_root_write(root, name, "%lu %lu %lu 1 0 1 0\n", p->resident * 2, p->resident, p->shared);
    snprintf(name, sizeof name, "proc/%d/io", p->pid);
    fake_root_write(root, name,
                    "rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 2\nread_bytes: %lu\nwrite_bytes: 0\n"
                    "cancelled_write_bytes: 0\n",
                    p->read_bytes);
}

#endif
