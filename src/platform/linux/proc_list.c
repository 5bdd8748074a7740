#include "platform/linux/proc_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Even an unchanged machine is listed this often: some sandboxes show counters that never move. */
static const int64_t LISTING_TRUSTED_NS = INT64_C(10000000000);

enum { DIRENT_CHUNK = 16384, PIDS_MAX = 1 << 22 };

/* What getdents64 writes. musl has no name for it, and glibc has the call since 2.30. */
struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short len;
    unsigned char type;
    char name[];
};

void trk__proc_list_init(struct trk_proc_list *list, const struct trk_context *context)
{
    *list = (struct trk_proc_list){.context = context, .dir_fd = -1};
}

void trk__proc_list_done(struct trk_proc_list *list)
{
    if (list->dir_fd >= 0)
        close(list->dir_fd);
    free(list->now.item);
    free(list->before.item);
    trk__proc_list_init(list, list->context);
}

static int append(struct trk_pid_array *array, pid_t pid, uint64_t inode)
{
    if (array->count == array->capacity) {
        size_t capacity = array->capacity ? array->capacity * 2 : 128;
        struct trk_pid *item =
            capacity <= PIDS_MAX ? realloc(array->item, capacity * sizeof *item) : NULL;
        if (!item)
            return -ENOMEM;
        array->item = item;
        array->capacity = capacity;
    }
    array->item[array->count++] = (struct trk_pid){.pid = pid, .inode = inode};
    return 0;
}

/* The pid that a name of /proc stands for, 0 for other names. */
static pid_t pid_of_name(const char *name)
{
    pid_t pid = 0;
    for (; *name >= '0' && *name <= '9' && pid < 100000000; name++)
        pid = pid * 10 + (*name - '0');
    return *name ? 0 : pid;
}

static int append_entries(struct trk_pid_array *array, const char *data, ssize_t len)
{
    for (ssize_t at = 0; at < len;) {
        const struct entry *entry = (const struct entry *)(const void *)(data + at);
        pid_t pid = pid_of_name(entry->name);
        if (pid > 0 && append(array, pid, entry->inode) < 0)
            return -ENOMEM;
        at += entry->len;
    }
    return 0;
}

static int by_pid(const void *a, const void *b)
{
    const struct trk_pid *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The kernel lists pids in order; a fixture's file system need not. */
static void ensure_order(struct trk_pid_array *array)
{
    for (size_t i = 1; i < array->count; i++)
        if (array->item[i - 1].pid > array->item[i].pid) {
            qsort(array->item, array->count, sizeof *array->item, by_pid);
            return;
        }
}

static int read_directory(struct trk_proc_list *list, struct trk_pid_array *array)
{
    if (list->dir_fd < 0)
        list->dir_fd = openat(list->context->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (list->dir_fd < 0 || lseek(list->dir_fd, 0, SEEK_SET) < 0)
        return -errno;
    _Alignas(struct entry) char chunk[DIRENT_CHUNK];
    array->count = 0;
    for (;;) {
        ssize_t got = syscall(SYS_getdents64, list->dir_fd, chunk, sizeof chunk);
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        if (append_entries(array, chunk, got) < 0)
            return -ENOMEM;
    }
    ensure_order(array);
    return 0;
}

static void mark_fresh(struct trk_pid_array *now, const struct trk_pid_array *before)
{
    size_t old = 0;
    for (size_t i = 0; i < now->count; i++) {
        struct trk_pid *entry = &now->item[i];
        while (old < before->count && before->item[old].pid < entry->pid)
            old++;
        const struct trk_pid *same = old < before->count ? &before->item[old] : NULL;
        entry->fresh = !same || same->pid != entry->pid || same->inode != entry->inode;
        if (!entry->fresh)
            entry->ppid = same->ppid;
    }
}

bool trk__proc_list_has(const struct trk_proc_list *list, pid_t pid)
{
    const struct trk_pid key = {.pid = pid};
    return bsearch(&key, list->now.item, list->now.count, sizeof key, by_pid) != NULL;
}

static uint64_t link_count(const struct trk_proc_list *list)
{
    struct stat stat;
    return fstat(list->context->proc_fd, &stat) < 0 ? 0 : (uint64_t)stat.st_nlink;
}

/* Forks move the count of forks, exits the link count of /proc: with both unchanged no process has come or gone. Neither
 * is trusted where it cannot be right. For a count the change of the link count is enough, in the first PID namespace,
 * where it counts all processes. */
static bool still_valid(const struct trk_proc_list *list, uint64_t forks, bool counts_only,
                        int64_t now_ns)
{
    if (!list->listed || now_ns - list->listed_ns >= LISTING_TRUSTED_NS)
        return false;
    if (counts_only && list->now.count && list->now.item[0].pid == 1)
        return true;
    return forks >= list->now.count && forks == list->forks && list->links_now == list->links;
}

uint64_t trk__proc_list_count(const struct trk_proc_list *list)
{
    return list->now.count + list->links_now - list->links;
}

int trk__proc_list_refresh(struct trk_proc_list *list, uint64_t forks, bool counts_only,
                           bool *ret_changed)
{
    int64_t now_ns = trk__context_monotonic_ns(list->context);
    *ret_changed = false;
    list->links_now = link_count(list);
    if (still_valid(list, forks, counts_only, now_ns))
        return 0;
    int code = read_directory(list, &list->before);
    if (code < 0)
        return code;
    mark_fresh(&list->before, &list->now);
    struct trk_pid_array swap = list->now;
    list->now = list->before;
    list->before = swap;
    list->forks = forks;
    /* For a count the link count after the listing is the right one, because the newest PIDs are listed last. Where it
     * shows that a process exited, it is the one before, so that nothing is missed. */
    if (counts_only)
        list->links_now = link_count(list);
    list->links = list->links_now;
    list->listed_ns = now_ns;
    list->listed = true;
    *ret_changed = true;
    return 0;
}
