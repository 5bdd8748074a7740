/* Facts about the machine. */
#include "base/file.h"
#include "base/parse.h"
#include "platform/linux/mount_table.h"
#include "platform/linux/proc_list.h"
#include "platform/platform.h"

#include <math.h>
#include <unistd.h>

/* The first processor's part of cpuinfo is enough: the whole has one for each, and costs as much. */
enum { CPUINFO_SIZE = 2048, SMALL_SIZE = 4096, CPUS_MAX = 1 << 16 };

/* "0-3,8" is five. */
static unsigned count_list(struct trk_cursor text)
{
    unsigned count = 0;
    for (uint64_t first, last; trk__cursor_u64(&text, &first);) {
        last = first;
        if (trk__cursor_accept(&text, "-") && !trk__cursor_u64(&text, &last))
            break;
        if (last >= first && last - first < CPUS_MAX)
            count += (unsigned)(last - first) + 1;
        if (!trk__cursor_accept(&text, ","))
            break;
    }
    return count;
}

unsigned trk__machine_cpus(const struct trk_context *context)
{
    char text[SMALL_SIZE];
    int len = trk__file_read_small_at(context->root_fd, "sys/devices/system/cpu/online", text,
                                      sizeof text);
    unsigned count = len > 0 ? count_list(trk__cursor(text, (size_t)len)) : 0;
    long known = sysconf(_SC_NPROCESSORS_ONLN);
    return count ? count : known > 0 ? (unsigned)known : 1;
}

double trk__machine_memory_bytes(const struct trk_context *context)
{
    char text[SMALL_SIZE];
    int len = trk__file_read_small_at(context->proc_fd, "meminfo", text, sizeof text);
    struct trk_cursor cursor = trk__cursor(text, len > 0 ? (size_t)len : 0);
    uint64_t kib;
    if (!trk__cursor_accept(&cursor, "MemTotal:") || !trk__cursor_u64(&cursor, &kib))
        return NAN;
    return (double)kib * 1024;
}

/* "model name" on x86; ARM shows numbers alone, which no person reads. */
bool trk__machine_cpu_model(const struct trk_context *context, char *ret_model, size_t size)
{
    char text[CPUINFO_SIZE];
    int len = trk__file_read_small_at(context->proc_fd, "cpuinfo", text, sizeof text);
    struct trk_cursor cursor = trk__cursor(text, len > 0 ? (size_t)len : 0), line;
    while (trk__cursor_line(&cursor, &line)) {
        if (!trk__cursor_accept(&line, "model name"))
            continue;
        trk__cursor_skip_blanks(&line);
        if (!trk__cursor_accept(&line, ":"))
            continue;
        trk__cursor_skip_blanks(&line);
        trk__cursor_copy(&line, ret_model, size);
        return *ret_model != '\0';
    }
    return false;
}

uint64_t trk__machine_processes(const struct trk_context *context)
{
    struct trk_proc_list list;
    bool changed;
    trk__proc_list_init(&list, context);
    uint64_t count = trk__proc_list_refresh(&list, 0, true, &changed) == 0 ? list.now.count : 0;
    trk__proc_list_done(&list);
    return count;
}

/* A file system that another machine serves is left out: it may never answer, and the caller would wait. */
void trk__mounts_visit(const struct trk_context *context, trk_mount_visitor *visit, void *state)
{
    struct trk_mount_table table = {0};
    struct trk_kept_file file;
    struct trk_buffer text;
    trk__kept_file_init(&file, context->proc_fd, "self/mountinfo", TRK_FILE_MANY_RECORDS);
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    if (trk__kept_file_read(&file, &text) == 0)
        trk__mount_table_parse(&table, context, trk__cursor(text.data, text.len));
    for (uint32_t i = 0; i < table.count; i++) {
        const struct trk_mount *mount = &table.item[i];
        struct statvfs stat;
        if (!mount->remote && !mount->copy && context->statvfs(context, mount->point, &stat) == 0 &&
            stat.f_blocks)
            visit(state, mount->point, &stat);
    }
    trk__mount_table_done(&table);
    trk__buffer_done(&text);
    trk__kept_file_close(&file);
}
