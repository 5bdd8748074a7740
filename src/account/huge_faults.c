#include "account/huge_faults.h"

#include "base/buffer.h"
#include "base/less.h"
#include "base/parse.h"

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

static bool are_refused(const struct trk_context *context)
{
    char text[64];
    int len = trk__file_read_small_at(context->root_fd, HUGE_PAGES "enabled", text, sizeof text);
    return len <= 0 || strstr(text, "[never]");
}

static bool has_count(struct trk_huge_faults *huge, const struct trk_context *context,
                      uint64_t page_bytes)
{
    huge->page_bytes = page_bytes;
    snprintf(huge->path, sizeof huge->path, HUGE_PAGES "hugepages-%llukB/stats/anon_fault_alloc",
             (unsigned long long)(page_bytes / KIB));
    return faccessat(context->root_fd, huge->path, R_OK, 0) == 0;
}

/* The usual size is tried first: a start should not pay for asking. */
static void open_count(struct trk_huge_faults *huge, const struct trk_context *context)
{
    enum { USUAL_BYTES = 2 << 20 };
    uint64_t page_bytes;
    huge->is_open = true;
    if (!has_count(huge, context, USUAL_BYTES)) {
        huge->page_bytes = 0;
        if (are_refused(context) || !read_number(context, HUGE_PAGES "hpage_pmd_size", &page_bytes))
            return;
        huge->is_vmstat = !has_count(huge, context, page_bytes);
    }
    if (huge->is_vmstat)
        snprintf(huge->path, sizeof huge->path, "proc/vmstat");
    trk__kept_file_init(&huge->count_file, context->root_fd, huge->path, TRK_FILE_SHORT_RECORDS);
}

static void read_vmstat(struct trk_huge_faults *huge)
{
    struct trk_buffer text;
    struct trk_cursor line, lines = {0};
    trk__buffer_init(&text, TRK_BUFFER_LIMIT_DEFAULT);
    if (trk__kept_file_read(&huge->count_file, &text) >= 0)
        lines = trk__cursor(text.data, text.len);
    while (trk__cursor_line(&lines, &line))
        if (trk__cursor_accept(&line, "thp_fault_alloc ") && trk__cursor_u64(&line, &huge->count))
            break;
    trk__buffer_done(&text);
}

uint64_t trk__huge_faults_now(struct trk_huge_faults *huge, const struct trk_context *context)
{
    char text[32];
    if (!huge->is_open)
        open_count(huge, context);
    if (!huge->page_bytes)
        return 0;
    if (huge->is_vmstat) {
        read_vmstat(huge);
        return huge->count;
    }
    int len = trk__kept_file_read_small(&huge->count_file, text, sizeof text);
    struct trk_cursor cursor = trk__cursor(text, len > 0 ? (size_t)len : 0);
    trk__cursor_u64(&cursor, &huge->count);
    return huge->count;
}

uint64_t trk__huge_faults_bytes(const struct trk_huge_faults *huge, uint64_t faults,
                                uint64_t before)
{
    uint64_t most = trk__less(huge->count, before);
    return (faults < most ? faults : most) * huge->page_bytes;
}

void trk__huge_faults_close(struct trk_huge_faults *huge)
{
    if (huge->page_bytes)
        trk__kept_file_close(&huge->count_file);
    *huge = (struct trk_huge_faults){0};
}
