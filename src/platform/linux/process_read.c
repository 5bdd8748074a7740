/* Single processes, read outside of a sample. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "platform/linux/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int trk__gather_memory_now(const struct trk_gather *gather, uint32_t index,
                           struct trk_memory_figures *ret_figures)
{
    struct trk_proc_stat stat;
    struct trk_proc_statm statm;
    int code =
        trk__scan_read_now(&gather->state->scan, &gather->account.table, index, &stat, &statm);
    if (code < 0)
        return code;
    if (stat.state == 'Z' || stat.state == 'X' || !statm.size_pages)
        return -ESRCH;
    *ret_figures = (struct trk_memory_figures){.resident_pages = statm.resident_pages,
                                               .shared_pages = statm.shared_pages,
                                               .faults = stat.minor_faults + stat.major_faults,
                                               .start_stack = stat.start_stack};
    return 0;
}

bool trk__gather_still_runs(const struct trk_gather *gather, uint32_t index)
{
    struct trk_proc_stat stat;
    struct trk_proc_statm statm;
    return trk__scan_read_now(&gather->state->scan, &gather->account.table, index, &stat, &statm) !=
           -ESRCH;
}

bool trk__gather_share_memory(const struct trk_gather *gather, pid_t one, pid_t other)
{
    return gather->context->is_machine && trk__proc_share_memory(one, other) > 0;
}

/* A process can change its words or hide them, and then has a name at least. */
size_t trk__process_command(const struct trk_context *context, pid_t pid, char *ret_words,
                            size_t size, char *ret_folder, size_t folder_size)
{
    char path[32], folder[PATH_MAX];
    snprintf(path, sizeof path, "%d/cwd", (int)pid);
    ssize_t folder_len = readlinkat(context->proc_fd, path, folder, sizeof folder - 1);
    folder[folder_len > 0 ? folder_len : 0] = '\0';
    snprintf(ret_folder, folder_size, "%s", folder);
    snprintf(path, sizeof path, "%d/cmdline", (int)pid);
    TRK_CLEANUP_FD int fd = openat(context->proc_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t len = fd < 0 ? -1 : read(fd, ret_words, size - 1);
    if (len > 0) {
        ret_words[len] = '\0';
        return (size_t)len;
    }
    snprintf(path, sizeof path, "%d/comm", (int)pid);
    if (trk__file_read_small_at(context->proc_fd, path, ret_words, size) <= 0)
        return 0;
    ret_words[strcspn(ret_words, "\n")] = '\0';
    return strlen(ret_words) + 1;
}

/* Not ru_maxrss: that is inherited from whatever started the tracker. */
double trk__own_peak_rss_bytes(const struct trk_context *context)
{
    struct trk_cursor cursor, line;
    char text[4096];
    uint64_t kib;
    int len = trk__file_read_small_at(context->proc_fd, "self/status", text, sizeof text);
    cursor = trk__cursor(text, len > 0 ? (size_t)len : 0);
    while (trk__cursor_line(&cursor, &line))
        if (trk__cursor_accept(&line, "VmHWM:") && trk__cursor_u64(&line, &kib))
            return (double)kib * 1024;
    return NAN;
}

/* ---- a tree ---- */

/* The job of one read: no descriptors are kept and no source is opened. */
static int find_tree(struct trk_gather *gather, pid_t root_pid)
{
    struct trk_scan *scan = &gather->state->scan;
    struct trk_account_options options = {
        .root_pid = root_pid,
        .has_children = true,
        .histories_max = 1,
        .page_bytes = gather->context->page_bytes,
        .ticks_per_second = (uint64_t)gather->context->ticks_per_second,
    };
    scan->self_pid = 0; /* the reader can be in the tree */
    scan->keeps_no_fds = true;
    int code = trk__account_init(&gather->account, &options);
    if (code == 0)
        code = trk__scan_root(scan, &gather->stream, root_pid);
    return code < 0 ? code : trk__scan_find(scan, &gather->stream, 0, false, false);
}

static void add_cpu(struct trk_tree_sums *sums, const struct trk_context *context, pid_t pid,
                    bool with_waited)
{
    struct trk_proc_files files = trk__proc_files(pid);
    struct trk_proc_stat stat;
    if (trk__proc_read_stat(context, &files, &stat) < 0)
        return;
    sums->user_ticks += stat.user_ticks + (with_waited ? stat.waited_user_ticks : 0);
    sums->system_ticks += stat.system_ticks + (with_waited ? stat.waited_system_ticks : 0);
}

/* Where the share of a process cannot be read (another user's), its resident memory stands in. */
static void add_memory_and_io(struct trk_tree_sums *sums, const struct trk_context *context,
                              pid_t pid)
{
    struct trk_proc_files files = trk__proc_files(pid);
    struct trk_proc_statm statm;
    struct trk_proc_rollup rollup;
    struct trk_proc_io io;
    if (trk__proc_read_statm(context, &files, &statm) < 0 || !statm.size_pages)
        return;
    uint64_t resident = statm.resident_pages * context->page_bytes;
    sums->resident_bytes += resident;
    sums->memory_bytes +=
        trk__proc_read_rollup(context, pid, &rollup) == 0 ? rollup.pss_bytes : resident;
    if (trk__proc_read_io(context, &files, &io) < 0)
        return;
    sums->read_chars += io.read_chars;
    sums->write_chars += io.write_chars;
    sums->read_calls += io.read_calls;
    sums->write_calls += io.write_calls;
    sums->read_bytes += io.read_bytes;
    sums->write_bytes += io.write_bytes;
}

int trk__gather_read_tree(struct trk_gather *gather, pid_t root_pid, bool with_children,
                          struct trk_tree_sums *ret_sums)
{
    const struct trk_process_table *table = &gather->account.table;
    struct trk_tree_sums sums = {0};
    int code = find_tree(gather, root_pid);
    if (code < 0)
        return code;
    uint32_t count = with_children ? table->count : 1;
    for (uint32_t i = 0; i < count; i++)
        add_cpu(&sums, gather->context, table->item[table->order[i]].pid, with_children);
    sums.cpu_read_ns = trk__context_monotonic_ns(gather->context);
    for (uint32_t i = 0; i < count; i++)
        add_memory_and_io(&sums, gather->context, table->item[table->order[i]].pid);
    *ret_sums = sums;
    return 0;
}
