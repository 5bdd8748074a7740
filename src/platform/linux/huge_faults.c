#include "platform/linux/huge_faults.h"

#include "base/buffer.h"
#include "base/parse.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HUGE_PAGES "sys/kernel/mm/transparent_hugepage/"

enum { KIB = 1024 };

static bool read_number(const struct trk_context *context, const char *path, uint64_t *ret_value)
{
    char text[32];
    int len = trk__file_read_small_at(context->root_fd, path, text, sizeof text);
    struct trk_cursor cursor = trk__cursor(text, len > 0 ? (size_t)len : 0);
    return trk__cursor_u64(&cursor, ret_value);
}

static bool is_refused(const struct trk_context *context, const char *path)
{
    char text[64];
    return trk__file_read_small_at(context->root_fd, path, text, sizeof text) > 0 &&
           strstr(text, "[never]");
}

static void add_size(struct trk_huge_faults *huge, const struct trk_context *context,
                     uint64_t page_bytes, const char *path)
{
    struct trk_huge_size *size = &huge->size[huge->size_count++];
    size->page_bytes = page_bytes;
    snprintf(size->path, sizeof size->path, "%s", path);
    trk__kept_file_init(&size->count_file, context->root_fd, size->path, TRK_FILE_SHORT_RECORDS);
    if (page_bytes > huge->largest_bytes)
        huge->largest_bytes = page_bytes;
}

/* A folder for each size, with its own switch and its own count. */
static void open_sizes(struct trk_huge_faults *huge, const struct trk_context *context)
{
    int fd = openat(context->root_fd, HUGE_PAGES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) && huge->size_count < TRK_HUGE_SIZES_MAX) {
        char path[TRK_HUGE_PATH_SIZE];
        uint64_t kib;
        struct trk_cursor name = trk__cursor(entry->d_name, strlen(entry->d_name));
        if (!trk__cursor_accept(&name, "hugepages-") || !trk__cursor_u64(&name, &kib))
            continue;
        snprintf(path, sizeof path, HUGE_PAGES "hugepages-%llukB/enabled", (unsigned long long)kib);
        if (is_refused(context, path))
            continue;
        snprintf(path, sizeof path, HUGE_PAGES "hugepages-%llukB/stats/anon_fault_alloc",
                 (unsigned long long)kib);
        if (faccessat(context->root_fd, path, R_OK, 0) == 0)
            add_size(huge, context, kib * KIB, path);
    }
    if (dir)
        closedir(dir);
}

static void open_count(struct trk_huge_faults *huge, const struct trk_context *context)
{
    uint64_t page_bytes;
    huge->is_open = true;
    open_sizes(huge, context);
    if (huge->size_count || is_refused(context, HUGE_PAGES "enabled") ||
        !read_number(context, HUGE_PAGES "hpage_pmd_size", &page_bytes))
        return;
    huge->is_vmstat = true;
    add_size(huge, context, page_bytes, "proc/vmstat");
}

static void read_vmstat(struct trk_huge_size *size)
{
    struct trk_buffer text;
    struct trk_cursor line, lines = {0};
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    if (trk__kept_file_read(&size->count_file, &text) >= 0)
        lines = trk__cursor(text.data, text.len);
    while (trk__cursor_line(&lines, &line))
        if (trk__cursor_accept(&line, "thp_fault_alloc ") && trk__cursor_u64(&line, &size->count))
            break;
    trk__buffer_done(&text);
}

uint64_t trk__huge_faults_now(struct trk_huge_faults *huge, const struct trk_context *context)
{
    if (!huge->is_open)
        open_count(huge, context);
    huge->bytes = 0;
    for (unsigned i = 0; i < huge->size_count; i++) {
        struct trk_huge_size *size = &huge->size[i];
        char text[32];
        if (huge->is_vmstat) {
            read_vmstat(size);
        } else {
            int len = trk__kept_file_read_small(&size->count_file, text, sizeof text);
            struct trk_cursor cursor = trk__cursor(text, len > 0 ? (size_t)len : 0);
            trk__cursor_u64(&cursor, &size->count); /* else the last count stands */
        }
        huge->bytes += size->count * size->page_bytes;
    }
    return huge->bytes;
}

void trk__huge_faults_close(struct trk_huge_faults *huge)
{
    for (unsigned i = 0; i < huge->size_count; i++)
        trk__kept_file_close(&huge->size[i].count_file);
    *huge = (struct trk_huge_faults){0};
}
