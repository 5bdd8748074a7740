/* The text of /proc/PID files as numbers. Pure: no I/O, any bytes are survived. */
#ifndef TRK_LINUX_PROC_PARSE_H
#define TRK_LINUX_PROC_PARSE_H

#include "account/observation.h"
#include "base/parse.h"

#include <sys/types.h>

struct trk_proc_stat {
    char comm[TRK_COMM_SIZE];
    char state;
    pid_t ppid;
    uint64_t minor_faults, waited_minor_faults, major_faults, waited_major_faults;
    uint64_t user_ticks, system_ticks, waited_user_ticks, waited_system_ticks;
    uint64_t threads;
    uint64_t start_ticks; /* since boot; with the pid it identifies a process */
    uint64_t start_stack; /* equal in processes that forked without exec; 0 where it is hidden */
};

struct trk_proc_statm {
    uint64_t size_pages, resident_pages, shared_pages;
};

struct trk_proc_io {
    uint64_t read_chars, write_chars, read_calls, write_calls, read_bytes, write_bytes;
};

struct trk_proc_switches {
    uint64_t voluntary, involuntary;
};

struct trk_proc_status {
    uint64_t peak_rss_bytes;
    bool ignores_sigchld; /* no parent takes over what its children used */
};

struct trk_proc_rollup {
    uint64_t rss_bytes, pss_bytes, pss_anon_bytes, pss_file_bytes, pss_shmem_bytes;
    uint64_t private_clean_bytes, private_dirty_bytes, anonymous_bytes, swap_pss_bytes;
};

/* Each returns 0, or -EINVAL where the text is not what the kernel writes. */
int trk__proc_stat_parse(struct trk_cursor text, struct trk_proc_stat *ret_stat);
int trk__proc_statm_parse(struct trk_cursor text, struct trk_proc_statm *ret_statm);
int trk__proc_io_parse(struct trk_cursor text, struct trk_proc_io *ret_io);
int trk__proc_switches_parse(struct trk_cursor text, struct trk_proc_switches *ret_switches);
/* -ENODATA: it has no memory (a zombie, a kernel thread); the rest is set. */
int trk__proc_status_parse(struct trk_cursor text, struct trk_proc_status *ret_status);
int trk__proc_rollup_parse(struct trk_cursor text, struct trk_proc_rollup *ret_rollup);

#endif
