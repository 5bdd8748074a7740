#include "platform/linux/kernel_log.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { RECORD_SIZE = 8192 + 1, RECORDS_MAX = 1 << 20, KIB = 1024 };

/* The rest of the line behind the first `words` in it. */
static bool find(struct trk_cursor line, const char *words, struct trk_cursor *ret_rest)
{
    const char *found = line.at < line.end
                            ? memmem(line.at, (size_t)(line.end - line.at), words, strlen(words))
                            : NULL;
    if (!found)
        return false;
    *ret_rest = (struct trk_cursor){.at = found + strlen(words), .end = line.end};
    return true;
}

/* "anon-rss:203776kB" */
static uint64_t kib_after(struct trk_cursor line, const char *name)
{
    struct trk_cursor rest;
    uint64_t kib;
    return find(line, name, &rest) && trk__cursor_u64(&rest, &kib) && kib < UINT64_MAX / KIB
               ? kib * KIB
               : 0;
}

/* "Killed process 42 (a name) total-vm:..." or "(a name), UID 0, total-vm:...": a name may have brackets itself. */
static bool parse_victim(struct trk_cursor line, struct trk_oom_kill *kill)
{
    struct trk_cursor sizes, name = line;
    uint64_t pid;
    if (!trk__cursor_u64(&name, &pid) || pid == 0 || pid > INT32_MAX ||
        !trk__cursor_accept(&name, " (") || !find(name, "total-vm:", &sizes))
        return false;
    name.end = sizes.at;
    while (name.end > name.at && name.end[-1] != ')')
        name.end--;
    if (name.end == name.at)
        return false;
    name.end--;
    trk__cursor_copy(&name, kill->comm, sizeof kill->comm);
    kill->pid = (pid_t)pid;
    kill->rss_bytes = kib_after(sizes, " anon-rss:") + kib_after(sizes, " file-rss:") +
                      kib_after(sizes, " shmem-rss:");
    return true;
}

/* Linux 4.20 and later: "constraint=CONSTRAINT_MEMCG,...,oom_memcg=/a,task_memcg=/a/b,task=name,..." */
static void parse_constraint(struct trk_cursor line, struct trk_oom_kill *kill)
{
    static const char behind[] = ",task_memcg=";
    struct trk_cursor path, rest;
    kill->by_cgroup = trk__cursor_accept(&line, "CONSTRAINT_MEMCG");
    kill->cgroup[0] = '\0';
    if (!kill->by_cgroup || !find(line, ",oom_memcg=", &path))
        return;
    if (find(path, behind, &rest))
        path.end = rest.at - strlen(behind);
    trk__cursor_copy(&path, kill->cgroup, sizeof kill->cgroup);
}

/* What lines before the last tell of a kill. */
static void parse_circumstances(struct trk_cursor line, struct trk_kernel_log *log)
{
    struct trk_cursor rest;
    struct trk_oom_kill *next = &log->next;
    if (find(line, " invoked oom-killer:", &rest)) {
        *log = (struct trk_kernel_log){0};
    } else if (find(line, " are going to be killed due to memory.oom.group set", &rest)) {
        *next = log->last;
        log->is_group = true;
    } else if (trk__cursor_accept(&line, "memory: usage ")) {
        next->limit_bytes = kib_after(line, ", limit ");
    } else if (trk__cursor_accept(&line, "oom-kill:constraint=")) {
        parse_constraint(line, next);
        log->is_group = false;
    } else if (trk__cursor_accept(&line, "Task in ") && /* before Linux 4.20 */
               find(line, " killed as a result of limit of ", &rest)) {
        next->by_cgroup = true;
        trk__cursor_copy(&rest, next->cgroup, sizeof next->cgroup);
    }
}

/* "Memory cgroup out of memory: Killed process ..."; before Linux 5.3 that begins with "Kill", and a line "Killed
 * process ..." follows. */
static bool find_victim(struct trk_cursor line, struct trk_oom_kill *next,
                        struct trk_cursor *ret_victim)
{
    *ret_victim = line;
    if (trk__cursor_accept(ret_victim, "Killed process "))
        return true;
    bool by_cgroup = trk__cursor_accept(ret_victim, "Memory cgroup out of memory");
    if (!by_cgroup && !trk__cursor_accept(ret_victim, "Out of memory"))
        return false;
    next->by_cgroup = by_cgroup;
    return find(*ret_victim, ": Killed process ", ret_victim);
}

static void parse_line(struct trk_kernel_log *log, uint64_t at_us, struct trk_cursor line,
                       trk_oom_sink *sink, void *state)
{
    struct trk_cursor victim;
    parse_circumstances(line, log);
    if (!find_victim(line, &log->next, &victim) || !parse_victim(victim, &log->next))
        return;
    struct trk_oom_kill told = log->next;
    told.at_us = at_us;
    if (!told.by_cgroup) {
        told.limit_bytes = 0;
        told.cgroup[0] = '\0';
    }
    log->last = told;
    if (!log->is_group) /* of many kills in a short time the kernel tells this line alone */
        log->next = (struct trk_oom_kill){0};
    sink(state, &told);
}

void trk__kernel_log_parse(struct trk_kernel_log *log, struct trk_cursor text, trk_oom_sink *sink,
                           void *state)
{
    struct trk_cursor line, words;
    while (trk__cursor_line(&text, &line)) {
        uint64_t priority, sequence, at_us;
        if (trk__cursor_u64(&line, &priority) && trk__cursor_accept(&line, ",") &&
            trk__cursor_u64(&line, &sequence) && trk__cursor_accept(&line, ",") &&
            trk__cursor_u64(&line, &at_us) && find(line, ";", &words))
            parse_line(log, at_us, words, sink, state);
    }
}

/* Each read gives one record. One that was overwritten meanwhile is told as EPIPE, and the next is the oldest that is
 * left. */
int trk__kernel_log_read(const struct trk_context *context, trk_oom_sink *sink, void *state)
{
    char text[RECORD_SIZE];
    struct trk_kernel_log log = {0};
    TRK_CLEANUP_FD int fd = openat(context->root_fd, "dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (int i = 0; i < RECORDS_MAX; i++) {
        ssize_t len = read(fd, text, sizeof text);
        if (len > 0)
            trk__kernel_log_parse(&log, trk__cursor(text, (size_t)len), sink, state);
        else if (len == 0 || (errno != EPIPE && errno != EINTR))
            return len == 0 || errno == EAGAIN ? 0 : -errno;
    }
    return 0;
}
