#include "platform/linux/job_cgroup.h"

#include "base/cleanup.h"
#include "base/less.h"
#include "platform/linux/proc_look.h"
#include "platform/linux/sys_parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

/* Most jobs have none, and one that has keeps it: to look again costs two files. */
#define RETRY_NS INT64_C(30000000000)

/* What processes outside the cgroup can hold of the job's anonymous memory. */
#define OUTSIDE_RATIO_MAX 0.05

/* Processes that were forked after the scan are recognised by their ancestors. */
enum { ANCESTORS_ASKED_MAX = 16, MEMORY_STAT_SIZE = 8192, PATH_SIZE = 32 };

static const struct {
    const char *anon, *shmem, *mapped_file;
} keys[] = {
    [TRK_CGROUP_V1] = {"total_rss", "total_shmem", "total_mapped_file"},
    [TRK_CGROUP_V2] = {"anon", "shmem", "file_mapped"},
};

void trk__job_cgroup_init(struct trk_job_cgroup *cgroup)
{
    *cgroup = (struct trk_job_cgroup){.place.dir_fd = -1, .stat.fd = -1};
    trk__buffer_init(&cgroup->text, TRK_BUFFER_LIMIT_DEFAULT);
}

static void leave_place(struct trk_job_cgroup *cgroup)
{
    trk__kept_file_close(&cgroup->stat);
    if (cgroup->place.dir_fd >= 0)
        close(cgroup->place.dir_fd);
    cgroup->place = (struct trk_cgroup_place){.dir_fd = -1};
}

void trk__job_cgroup_done(struct trk_job_cgroup *cgroup)
{
    leave_place(cgroup);
    trk__buffer_done(&cgroup->text);
}

static uint64_t anon_pages(const struct trk_process *process)
{
    return trk__process_is_live(process) ? trk__less(process->resident_pages, process->shared_pages)
                                         : 0;
}

/* Whether it has released its memory, at the latest since it was sampled. The kernel's do_exit() detaches the address space
 * first: all of statm is 0 from then on, while pages are still being freed and uncharged and the process is not yet a
 * zombie. */
static bool is_exiting(const struct trk_context *context, const struct trk_process *process)
{
    struct trk_proc_files files = trk__proc_files(process->pid);
    struct trk_proc_statm now;
    return process->is_read && trk__process_is_live(process) &&
           (!process->size_pages || trk__proc_read_statm(context, &files, &now) < 0 ||
            !now.size_pages);
}

bool trk__job_cgroup_is_unsettled(const struct trk_context *context,
                                  const struct trk_process_table *table)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (is_exiting(context, &table->item[table->order[i]]))
            return true;
    return false;
}

/* ---- where it is ---- */

static int read_membership(const struct trk_context *context, const char *path,
                           struct trk_buffer *text)
{
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : trk__file_read_all(fd, TRK_FILE_ONE_RECORD, text);
}

/* Any process will do, since all have to be in it; the first can outlive the others or be gone for long. */
static int read_membership_of_job(const struct trk_context *context,
                                  const struct trk_process_table *table, struct trk_buffer *text)
{
    char path[PATH_SIZE];
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        if (!trk__process_is_live(process))
            continue;
        snprintf(path, sizeof path, "%d/cgroup", (int)process->pid);
        return read_membership(context, path, text);
    }
    return -ESRCH;
}

static int enter_place(struct trk_job_cgroup *cgroup, const struct trk_context *context,
                       const struct trk_buffer *member)
{
    struct trk_cgroup_places places;
    trk__cgroup_places_init(&places);
    trk__cgroup_places_find(context, member, &cgroup->text, &places);
    struct trk_cgroup_place *memory = &places.of[TRK_CGROUP_MEMORY];
    bool found = memory->dir_fd >= 0 && memory->exact;
    if (found) {
        cgroup->place = *memory;
        memory->dir_fd = -1;
        trk__kept_file_init(&cgroup->stat, cgroup->place.dir_fd, "memory.stat",
                            TRK_FILE_ONE_RECORD);
    }
    trk__cgroup_places_close(&places);
    return found ? 0 : -ENOENT;
}

static int locate(struct trk_job_cgroup *cgroup, const struct trk_context *context,
                  const struct trk_process_table *table)
{
    struct trk_buffer member;
    trk__buffer_init(&member, TRK_BUFFER_LIMIT_DEFAULT);
    int code = read_membership_of_job(context, table, &member);
    if (code == 0)
        code = read_membership(context, "self/cgroup", &cgroup->text);
    if (code == 0 && trk__cgroup_is_same(TRK_CGROUP_MEMORY, &member, &cgroup->text))
        code = -ENOENT; /* as usual: the job is where we are */
    if (code == 0)
        code = enter_place(cgroup, context, &member);
    trk__buffer_done(&member);
    return code;
}

/* ---- whether it is the job's ---- */

/* Its figures include those of cgroups below it, whose processes it does not list. A folder has a link for each. */
static bool has_cgroups_below(const struct trk_cgroup_place *place)
{
    struct stat stat;
    return fstat(place->dir_fd, &stat) < 0 || stat.st_nlink > 2;
}

/* Whether a process that the table does not have was forked by the job since the last scan, or has exited. */
static bool is_new(const struct trk_context *context, const struct trk_account *account, pid_t pid,
                   unsigned *asked)
{
    struct trk_proc_stat stat;
    for (unsigned generation = 0; pid > 0 && (*asked)++ < ANCESTORS_ASKED_MAX; generation++) {
        struct trk_proc_files files = trk__proc_files(pid);
        if (trk__proc_read_stat(context, &files, &stat) < 0)
            return generation == 0;
        pid = stat.ppid;
        if (trk__process_find(&account->table, pid) != TRK_NO_PROCESS ||
            (account->options.is_child && pid == account->options.self_pid))
            return true;
    }
    return false;
}

/* Also false where the namespace hides a process from us: it is listed as 0. */
static bool holds_only_the_job(const struct trk_context *context, const struct trk_account *account,
                               struct trk_cursor list, uint64_t *ret_pages)
{
    struct trk_cursor line;
    uint64_t pid, pages = 0;
    unsigned asked = 0;
    while (trk__cursor_line(&list, &line)) {
        if (!trk__cursor_u64(&line, &pid) || pid > INT32_MAX)
            return false;
        uint32_t index = trk__process_find(&account->table, (pid_t)pid);
        if (index == TRK_NO_PROCESS && ((pid_t)pid == account->options.self_pid ||
                                        !is_new(context, account, (pid_t)pid, &asked)))
            return false;
        pages += index == TRK_NO_PROCESS ? 0 : anon_pages(&account->table.item[index]);
    }
    *ret_pages = pages;
    return true;
}

/* The list is opened anew: version 1 keeps what an open descriptor has read for as long as it is read again within a
 * second. */
static bool is_of_the_job(struct trk_job_cgroup *cgroup, const struct trk_context *context,
                          const struct trk_account *account)
{
    uint64_t inside = 0, all = 0;
    TRK_CLEANUP_FD int fd = openat(cgroup->place.dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || trk__file_read_all(fd, TRK_FILE_SHORT_RECORDS, &cgroup->text) < 0)
        return false;
    struct trk_cursor list = trk__cursor(cgroup->text.data, cgroup->text.len);
    if (has_cgroups_below(&cgroup->place) || !holds_only_the_job(context, account, list, &inside))
        return false;
    const struct trk_process_table *table = &account->table;
    for (uint32_t i = 0; i < table->count; i++)
        all += anon_pages(&table->item[table->order[i]]);
    if ((double)inside >= (1 - OUTSIDE_RATIO_MAX) * (double)all)
        return true;
    all = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct trk_process *process = &table->item[table->order[i]];
        all += is_exiting(context, process) ? 0 : anon_pages(process);
    }
    return (double)inside >= (1 - OUTSIDE_RATIO_MAX) * (double)all;
}

/* ---- what it tells ---- */

static int read_charge(struct trk_job_cgroup *cgroup, struct trk_job_charge *ret_charge)
{
    char data[MEMORY_STAT_SIZE];
    struct trk_job_charge charge = {0};
    int len = trk__kept_file_read_small(&cgroup->stat, data, sizeof data);
    if (len < 0)
        return len;
    struct trk_cursor text = trk__cursor(data, (size_t)len);
    enum trk_cgroup_version version = cgroup->place.version;
    if (!trk__flat_key_find(text, keys[version].anon, &charge.anon_bytes))
        return -EINVAL;
    /* Kernels before 4.14 do not tell shared memory: it is a floor, and none is as good as 0. */
    trk__flat_key_find(text, keys[version].shmem, &charge.shmem_bytes);
    trk__flat_key_find(text, keys[version].mapped_file, &charge.mapped_file_bytes);
    *ret_charge = charge;
    return 0;
}

int trk__job_cgroup_read(struct trk_job_cgroup *cgroup, const struct trk_context *context,
                         const struct trk_account *account, struct trk_job_charge *ret_charge)
{
    int code = 0;
    if (cgroup->place.dir_fd < 0) {
        int64_t now_ns = trk__context_monotonic_ns(context);
        if (now_ns < cgroup->retry_ns)
            return -EAGAIN;
        cgroup->retry_ns = now_ns + RETRY_NS;
        code = locate(cgroup, context, &account->table);
    }
    if (code == 0 && !is_of_the_job(cgroup, context, account))
        code = -ENOENT;
    if (code == 0)
        code = read_charge(cgroup, ret_charge);
    if (code < 0)
        leave_place(cgroup);
    return code;
}
