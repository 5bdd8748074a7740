/* Reading the files of one process. Each returns 0 or a negative code; -ESRCH and -ENOENT mean that it does not exist any
 * more. */
#ifndef TRK_LINUX_PROC_LOOK_H
#define TRK_LINUX_PROC_LOOK_H

#include "base/context.h"
#include "platform/linux/proc_parse.h"

enum trk_proc_file { TRK_PROC_STAT, TRK_PROC_STATM, TRK_PROC_IO, TRK_PROC_FILE_COUNT };

/* A process and its files, as far as they are kept open (-1: a file is opened at each read). */
struct trk_proc_files {
    pid_t pid;
    int fd[TRK_PROC_FILE_COUNT];
};

static inline struct trk_proc_files trk__proc_files(pid_t pid)
{
    return (struct trk_proc_files){.pid = pid, .fd = {-1, -1, -1}};
}

/* Opens what is not open yet; returns how many are open. */
int trk__proc_files_open(const struct trk_context *context, struct trk_proc_files *files);

/* Returns how many were closed. */
int trk__proc_files_close(struct trk_proc_files *files);

int trk__proc_read_stat(const struct trk_context *context, const struct trk_proc_files *files,
                        struct trk_proc_stat *ret_stat);
int trk__proc_read_statm(const struct trk_context *context, const struct trk_proc_files *files,
                         struct trk_proc_statm *ret_statm);
int trk__proc_read_io(const struct trk_context *context, const struct trk_proc_files *files,
                      struct trk_proc_io *ret_io);

/* Whether two processes have one address space, as the child of a vfork has that of its parent until its exec. 1: yes,
 * 0: no, negative: unknown. */
int trk__proc_share_memory(pid_t one, pid_t other);

int trk__proc_read_cpu_ns(const struct trk_context *context, pid_t pid, uint64_t *ret_cpu_ns);

/* An exact read of the memory of a process. It walks the page tables: 36-160 ns a page, during which the process cannot
 * map or unmap. */
int trk__proc_read_rollup(const struct trk_context *context, pid_t pid,
                          struct trk_proc_rollup *ret_rollup);

/* Peak RSS and ignored signals, from /proc/PID/status: some 10 us. -ENODATA: it has no memory (a zombie); the ignored
 * signals are set. */
int trk__proc_read_status(const struct trk_context *context, pid_t pid,
                          struct trk_proc_status *ret_status);

/* Context switches of all threads; -E2BIG for a process with too many of them to be read in each sample. */
int trk__proc_read_switches(const struct trk_context *context, pid_t pid, uint64_t threads,
                            struct trk_proc_switches *ret_switches);

#endif
