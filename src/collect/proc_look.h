/* Reading the files of one process. Each returns 0 or a negative code; -ESRCH and -ENOENT mean that it
 * is gone. */
#ifndef TRK_COLLECT_PROC_LOOK_H
#define TRK_COLLECT_PROC_LOOK_H

#include "collect/proc_tree.h"

/* Opens what is not open yet; returns how many are open. */
int trk__proc_files_open(const struct trk_context *context, struct trk_proc *proc);

/* Returns how many were closed. */
int trk__proc_files_close(struct trk_proc *proc);

int trk__proc_read_stat(const struct trk_context *context, const struct trk_proc *proc,
                        struct trk_proc_stat *ret_stat);
int trk__proc_read_statm(const struct trk_context *context, const struct trk_proc *proc,
                         struct trk_proc_statm *ret_statm);
int trk__proc_read_io(const struct trk_context *context, const struct trk_proc *proc,
                      struct trk_proc_io *ret_io);

/* Whether two have one address space, as the child of a vfork has its parent's until it runs another program. 1: yes,
 * 0: no, negative: not known. */
int trk__proc_share_memory(pid_t one, pid_t other);

int trk__proc_read_cpu_ns(const struct trk_context *context, pid_t pid, uint64_t *ret_cpu_ns);

/* A true read of a process's memory. It walks the page tables: 36-160 ns a page, during which the process can't
 * map or unmap. */
int trk__proc_read_rollup(const struct trk_context *context, pid_t pid,
                          struct trk_proc_rollup *ret_rollup);

/* Context switches of all threads; -E2BIG for a process with too many of them to be asked each tick. */
int trk__proc_read_switches(const struct trk_context *context, pid_t pid, uint64_t threads,
                            struct trk_proc_switches *ret_switches);

#endif
