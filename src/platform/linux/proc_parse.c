#include "platform/linux/proc_parse.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

enum { KIB = 1024, HEX = 16 };

/* Fields of stat after the name, counted from 1 as proc(5) does. */
enum {
    STAT_STATE = 3,
    STAT_PPID = 4,
    STAT_MINFLT = 10,
    STAT_CMINFLT = 11,
    STAT_MAJFLT = 12,
    STAT_CMAJFLT = 13,
    STAT_UTIME = 14,
    STAT_STIME = 15,
    STAT_CUTIME = 16,
    STAT_CSTIME = 17,
    STAT_THREADS = 20,
    STAT_START = 22,
    STAT_STARTSTACK = 28,
    STAT_FIELD_COUNT = STAT_STARTSTACK + 1
};

#define FIELD_BIT(field) (UINT64_C(1) << (field))
static const uint64_t STAT_WANTED =
    FIELD_BIT(STAT_PPID) | FIELD_BIT(STAT_MINFLT) | FIELD_BIT(STAT_CMINFLT) |
    FIELD_BIT(STAT_MAJFLT) | FIELD_BIT(STAT_CMAJFLT) | FIELD_BIT(STAT_UTIME) |
    FIELD_BIT(STAT_STIME) | FIELD_BIT(STAT_CUTIME) | FIELD_BIT(STAT_CSTIME) |
    FIELD_BIT(STAT_THREADS) | FIELD_BIT(STAT_START) | FIELD_BIT(STAT_STARTSTACK);

/* Half of the digits are in fields that nobody asks for (limits, addresses): they are jumped over. */
static bool skip_field(struct trk_cursor *text)
{
    trk__cursor_skip_blanks(text);
    const char *blank = memchr(text->at, ' ', (size_t)(text->end - text->at));
    if (!blank || blank == text->at)
        return false;
    text->at = blank;
    return true;
}

/* A process may be called "a) b (c": the name ends at the last parenthesis. */
static bool parse_name(struct trk_cursor *text, char ret_comm[TRK_COMM_SIZE])
{
    size_t len = (size_t)(text->end - text->at);
    const char *open = memchr(text->at, '(', len);
    const char *close = memrchr(text->at, ')', len);
    if (!open || !close || close < open)
        return false;
    struct trk_cursor name = {.at = open + 1, .end = close};
    trk__cursor_copy(&name, ret_comm, TRK_COMM_SIZE);
    text->at = close + 1;
    return true;
}

static int parse_stat_fields(struct trk_cursor text, uint64_t field[STAT_FIELD_COUNT],
                             char *ret_state)
{
    struct trk_cursor state;
    if (!trk__cursor_word(&text, &state))
        return -EINVAL;
    *ret_state = *state.at;
    for (unsigned i = STAT_PPID; i < STAT_FIELD_COUNT; i++)
        if (!(STAT_WANTED >> i & 1 ? trk__cursor_u64_or_negative(&text, &field[i])
                                   : skip_field(&text)))
            return -EINVAL;
    return 0;
}

int trk__proc_stat_parse(struct trk_cursor text, struct trk_proc_stat *ret_stat)
{
    struct trk_proc_stat stat = {0};
    uint64_t field[STAT_FIELD_COUNT];
    if (!parse_name(&text, stat.comm) || parse_stat_fields(text, field, &stat.state) < 0 ||
        field[STAT_PPID] > INT_MAX)
        return -EINVAL;
    stat.ppid = (pid_t)field[STAT_PPID];
    stat.minor_faults = field[STAT_MINFLT];
    stat.waited_minor_faults = field[STAT_CMINFLT];
    stat.major_faults = field[STAT_MAJFLT];
    stat.waited_major_faults = field[STAT_CMAJFLT];
    stat.user_ticks = field[STAT_UTIME];
    stat.system_ticks = field[STAT_STIME];
    stat.waited_user_ticks = field[STAT_CUTIME];
    stat.waited_system_ticks = field[STAT_CSTIME];
    stat.threads = field[STAT_THREADS];
    stat.start_ticks = field[STAT_START];
    stat.start_stack = field[STAT_STARTSTACK];
    *ret_stat = stat;
    return 0;
}

int trk__proc_statm_parse(struct trk_cursor text, struct trk_proc_statm *ret_statm)
{
    struct trk_proc_statm statm;
    if (!trk__cursor_u64(&text, &statm.size_pages) ||
        !trk__cursor_u64(&text, &statm.resident_pages) ||
        !trk__cursor_u64(&text, &statm.shared_pages))
        return -EINVAL;
    *ret_statm = statm;
    return 0;
}

/* "label: number" lines. They come in a fixed order, so each is looked for where the last was
 * found; one that the kernel does not have is left at what it was. */
struct labelled {
    const char *label;
    size_t len;
    size_t offset; /* of a uint64_t in the result */
};
#define LABELLED(label, type, member)                                                              \
    {                                                                                              \
        label, sizeof label - 1, offsetof(type, member)                                            \
    }

static bool has_label(const struct trk_cursor *line, const struct labelled *wanted)
{
    return (size_t)(line->end - line->at) >= wanted->len &&
           memcmp(line->at, wanted->label, wanted->len) == 0;
}

static unsigned parse_labelled(struct trk_cursor text, const struct labelled *wanted, size_t count,
                               uint64_t scale, void *result)
{
    struct trk_cursor line;
    unsigned found = 0;
    size_t next = 0;
    while (next < count && trk__cursor_line(&text, &line)) {
        size_t i = next;
        while (i < count && !has_label(&line, &wanted[i]))
            i++;
        if (i == count)
            continue;
        uint64_t value;
        line.at += wanted[i].len;
        if (!trk__cursor_u64(&line, &value) || value > UINT64_MAX / scale)
            continue;
        value *= scale;
        memcpy((char *)result + wanted[i].offset, &value, sizeof value);
        found++;
        next = i + 1;
    }
    return found;
}

int trk__proc_io_parse(struct trk_cursor text, struct trk_proc_io *ret_io)
{
    static const struct labelled wanted[] = {
        LABELLED("rchar:", struct trk_proc_io, read_chars),
        LABELLED("wchar:", struct trk_proc_io, write_chars),
        LABELLED("syscr:", struct trk_proc_io, read_calls),
        LABELLED("syscw:", struct trk_proc_io, write_calls),
        LABELLED("read_bytes:", struct trk_proc_io, read_bytes),
        LABELLED("write_bytes:", struct trk_proc_io, write_bytes),
    };
    enum { COUNT = sizeof wanted / sizeof *wanted };
    struct trk_proc_io io = {0};
    if (parse_labelled(text, wanted, COUNT, 1, &io) != COUNT)
        return -EINVAL;
    *ret_io = io;
    return 0;
}

int trk__proc_switches_parse(struct trk_cursor text, struct trk_proc_switches *ret_switches)
{
    static const struct labelled wanted[] = {
        LABELLED("voluntary_ctxt_switches:", struct trk_proc_switches, voluntary),
        LABELLED("nonvoluntary_ctxt_switches:", struct trk_proc_switches, involuntary),
    };
    enum { COUNT = sizeof wanted / sizeof *wanted };
    struct trk_proc_switches switches = {0};
    if (parse_labelled(text, wanted, COUNT, 1, &switches) != COUNT)
        return -EINVAL;
    *ret_switches = switches;
    return 0;
}

int trk__proc_rollup_parse(struct trk_cursor text, struct trk_proc_rollup *ret_rollup)
{
    /* Pss_Anon and the like came with Linux 5.4: where they are missing they stay 0. */
    static const struct labelled wanted[] = {
        LABELLED("Rss:", struct trk_proc_rollup, rss_bytes),
        LABELLED("Pss:", struct trk_proc_rollup, pss_bytes),
        LABELLED("Pss_Anon:", struct trk_proc_rollup, pss_anon_bytes),
        LABELLED("Pss_File:", struct trk_proc_rollup, pss_file_bytes),
        LABELLED("Pss_Shmem:", struct trk_proc_rollup, pss_shmem_bytes),
        LABELLED("Private_Clean:", struct trk_proc_rollup, private_clean_bytes),
        LABELLED("Private_Dirty:", struct trk_proc_rollup, private_dirty_bytes),
        LABELLED("Anonymous:", struct trk_proc_rollup, anonymous_bytes),
        LABELLED("SwapPss:", struct trk_proc_rollup, swap_pss_bytes),
    };
    struct trk_proc_rollup rollup = {0};
    if (parse_labelled(text, wanted, sizeof wanted / sizeof *wanted, 1024, &rollup) < 2)
        return -EINVAL;
    *ret_rollup = rollup;
    return 0;
}

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

int trk__proc_status_parse(struct trk_cursor text, struct trk_proc_status *ret_status)
{
    struct trk_cursor line;
    struct trk_proc_status status = {0};
    uint64_t value;
    bool found = false;
    while (trk__cursor_line(&text, &line)) {
        if (trk__cursor_accept(&line, "VmHWM:") && trk__cursor_u64(&line, &value)) {
            status.peak_rss_bytes = value * KIB;
            found = true;
        } else if (trk__cursor_accept(&line, "SigIgn:") && read_hex(&line, &value)) {
            status.ignores_sigchld = value >> (SIGCHLD - 1) & 1;
        }
    }
    *ret_status = status;
    return found ? 0 : -ENODATA;
}
