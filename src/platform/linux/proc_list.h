/* Which PIDs there are. /proc is listed only when a process can have been forked or has exited since the last time; what
 * is new is found without opening anything. */
#ifndef TRK_LINUX_PROC_LIST_H
#define TRK_LINUX_PROC_LIST_H

#include "base/context.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The inode of /proc/PID changes when the pid is used again: it is the hint that a known number is a new
 * process. (It may also change under memory pressure; then a known process is looked at once more.) */
struct trk_pid {
    pid_t pid;
    pid_t ppid; /* as the last look found it; 0: nobody needs to know, or no look yet */
    bool fresh; /* not in the listing before */
    uint64_t inode;
};

struct trk_pid_array {
    struct trk_pid *item;
    size_t count, capacity;
};

struct trk_proc_list {
    const struct trk_context *context;
    int dir_fd;
    struct trk_pid_array now;    /* ascending by PID */
    struct trk_pid_array before; /* kept for its memory */
    uint64_t forks, links;       /* what the listing is valid for */
    uint64_t links_now;          /* at the last refresh */
    int64_t listed_ns;
    bool listed;
};

void trk__proc_list_init(struct trk_proc_list *list, const struct trk_context *context);
void trk__proc_list_done(struct trk_proc_list *list);

/* Brings the listing up to date. `forks` is the kernel's count of forks since boot, read before this call; 0: unknown.
 * `counts_only`: only the number of processes is needed. Sets *ret_changed when /proc was listed (fresh entries are
 * marked). */
int trk__proc_list_refresh(struct trk_proc_list *list, uint64_t forks, bool counts_only,
                           bool *ret_changed);

/* How many processes the machine has now. */
uint64_t trk__proc_list_count(const struct trk_proc_list *list);

/* Whether the listing has a process of that number. */
bool trk__proc_list_has(const struct trk_proc_list *list, pid_t pid);

#endif
