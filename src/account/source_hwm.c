#include "account/high_water.h"
#include "account/source.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { KIB = 1024, STATUS_SIZE = 4096, HEX = 16 };

static bool read_hex(struct trk_cursor *cursor, uint64_t *ret_value)
{
    uint64_t value = 0;
    trk__cursor_skip_blanks(cursor);
    const char *first = cursor->at;
    for (; cursor->at < cursor->end && cursor->at - first < HEX; cursor->at++) {
        char c = *cursor->at;
        if (c >= '0' && c <= '9')
            value = value * HEX + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * HEX + (uint64_t)(c - 'a' + 10);
        else
            break;
    }
    *ret_value = value;
    return cursor->at > first;
}

int trk__high_water_parse(struct trk_cursor text, struct trk_high_water *ret_mark)
{
    struct trk_cursor line;
    struct trk_high_water mark = {0};
    uint64_t value;
    bool found = false;
    while (trk__cursor_line(&text, &line)) {
        if (trk__cursor_accept(&line, "VmHWM:") && trk__cursor_u64(&line, &value)) {
            mark.peak_rss_bytes = value * KIB;
            found = true;
        } else if (trk__cursor_accept(&line, "SigIgn:") && read_hex(&line, &value)) {
            mark.ignores_sigchld = value >> (SIGCHLD - 1) & 1;
        }
    }
    *ret_mark = mark;
    return found ? 0 : -ENODATA;
}

int trk__high_water_read(const struct trk_context *context, pid_t pid,
                         struct trk_high_water *ret_mark)
{
    char path[32];
    char text[STATUS_SIZE];
    snprintf(path, sizeof path, "%d/status", (int)pid);
    int len = trk__file_read_small_at(context->proc_fd, path, text, sizeof text);
    return len < 0 ? len : trk__high_water_parse(trk__cursor(text, (size_t)len), ret_mark);
}

static int hwm_open(const struct trk_source_setup *setup, void **ret_self, char why[TRK_WHY_SIZE])
{
    char text[STATUS_SIZE];
    struct trk_high_water mark;
    int code = trk__file_read_small_at(setup->context->proc_fd, "self/status", text, sizeof text);
    if (code >= 0)
        code = trk__high_water_parse(trk__cursor(text, (size_t)code), &mark);
    if (code < 0)
        return trk__source_refuse(why, code, "/proc/PID/status shows no high-water mark: %s",
                                  strerror(-code));
    *ret_self = NULL;
    return 0;
}

static void hwm_close(void *self)
{
    (void)self; /* nothing is kept open */
}

const struct trk_source_ops trk__source_hwm_ops = {
    .name = "hwm",
    .gives = "largest resident size of each process, also between two samples",
    .open = hwm_open,
    .close = hwm_close,
};
