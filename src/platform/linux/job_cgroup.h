/* The memory cgroup that a job has for itself: one that a container, a unit or `cgexec` made for it.
 *
 * It shows what no process does: anonymous and shared memory of all of them, each page once. It is the job's own when it
 * is not ours, has none below it, and holds nearly all of the job and nothing else. That is checked at each read, since
 * processes can be moved. Whether its charges are the job's is for the caller to judge: they stay where they were
 * made. */
#ifndef TRK_LINUX_JOB_CGROUP_H
#define TRK_LINUX_JOB_CGROUP_H

#include "account/account.h"
#include "base/buffer.h"
#include "base/file.h"
#include "platform/linux/cgroup_place.h"
#include "platform/linux/proc_look.h"

struct trk_job_cgroup {
    struct trk_cgroup_place place; /* without one: not found, or not the job's */
    struct trk_kept_file stat;     /* memory.stat */
    struct trk_buffer text;
    int64_t retry_ns; /* not looked for before; 0: at once */
};

struct trk_job_charge {
    uint64_t anon_bytes;
    uint64_t shmem_bytes;
    uint64_t mapped_file_bytes; /* with shared memory */
};

void trk__job_cgroup_init(struct trk_job_cgroup *cgroup);
void trk__job_cgroup_done(struct trk_job_cgroup *cgroup);

/* After a scan. Fails where the job has no cgroup of its own, with -EAGAIN while it is too early to look for one
 * again. */
int trk__job_cgroup_read(struct trk_job_cgroup *cgroup, const struct trk_context *context,
                         const struct trk_account *account, struct trk_job_charge *ret_charge);

/* Whether a member is exiting or has exited since it was sampled. The charge is read after the members, so the two then
 * disagree in either direction, which proves nothing against the cgroup. Reads a file for each member. */
bool trk__job_cgroup_is_unsettled(const struct trk_context *context,
                                  const struct trk_process_table *table);

#endif
