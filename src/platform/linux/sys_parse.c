#include "platform/linux/sys_parse.h"

#include <string.h>

/* The kernel has printed at least these four since 2.4. */
enum { TICKS_AT_LEAST = 4 };

static bool parse_cpu_line(struct trk_cursor *line, struct trk_stat_line *ret_line)
{
    if (!trk__cursor_word(line, &ret_line->name))
        return false;
    ret_line->kind =
        trk__cursor_equals(&ret_line->name, "cpu") ? TRK_STAT_CPU_TOTAL : TRK_STAT_CPU_CORE;
    unsigned count = 0;
    while (count < TRK_TICK_COUNT && trk__cursor_u64(line, &ret_line->ticks[count]))
        count++;
    for (unsigned i = count; i < TRK_TICK_COUNT; i++)
        ret_line->ticks[i] = 0;
    ret_line->tick_count = count;
    return count >= TICKS_AT_LEAST;
}

static bool parse_stat_line(struct trk_cursor *line, struct trk_stat_line *ret_line)
{
    if (trk__cursor_at_end(line))
        return false;
    switch (*line->at) {
    case 'c':
        if (!trk__cursor_accept(line, "ctxt "))
            return (size_t)(line->end - line->at) > 3 && memcmp(line->at, "cpu", 3) == 0 &&
                   parse_cpu_line(line, ret_line);
        ret_line->kind = TRK_STAT_CONTEXT_SWITCHES;
        break;
    case 'p':
        if (trk__cursor_accept(line, "processes "))
            ret_line->kind = TRK_STAT_FORKS;
        else if (trk__cursor_accept(line, "procs_running "))
            ret_line->kind = TRK_STAT_RUNNING;
        else if (trk__cursor_accept(line, "procs_blocked "))
            ret_line->kind = TRK_STAT_BLOCKED;
        else
            return false;
        break;
    default:
        return false;
    }
    return trk__cursor_u64(line, &ret_line->value);
}

bool trk__stat_next(struct trk_cursor *text, struct trk_stat_line *ret_line)
{
    struct trk_cursor line;
    while (trk__cursor_line(text, &line))
        if (parse_stat_line(&line, ret_line))
            return true;
    return false;
}

static const struct {
    const char *name;
    size_t len;
} memory_names[TRK_MEMORY_FIELD_COUNT] = {
#define NAME(field, text) [TRK_MEMORY_##field] = {text, sizeof text - 1}
    NAME(TOTAL, "MemTotal"),
    NAME(FREE, "MemFree"),
    NAME(AVAILABLE, "MemAvailable"),
    NAME(BUFFERS, "Buffers"),
    NAME(CACHED, "Cached"),
    NAME(ACTIVE, "Active"),
    NAME(INACTIVE, "Inactive"),
    NAME(ACTIVE_ANON, "Active(anon)"),
    NAME(INACTIVE_ANON, "Inactive(anon)"),
    NAME(SWAP_TOTAL, "SwapTotal"),
    NAME(SWAP_FREE, "SwapFree"),
    NAME(DIRTY, "Dirty"),
    NAME(SHMEM, "Shmem"),
    NAME(RECLAIMABLE, "SReclaimable"),
#undef NAME
};

/* The field of this name, looked for from the one that the kernel's order makes likely. */
static unsigned memory_field(const char *name, size_t len, unsigned likely)
{
    for (unsigned i = 0; i < TRK_MEMORY_FIELD_COUNT; i++) {
        unsigned field = likely + i;
        if (field >= TRK_MEMORY_FIELD_COUNT)
            field -= TRK_MEMORY_FIELD_COUNT;
        if (memory_names[field].len == len && memcmp(memory_names[field].name, name, len) == 0)
            return field;
    }
    return TRK_MEMORY_FIELD_COUNT;
}

void trk__meminfo_parse(struct trk_cursor text, struct trk_memory_info *ret_info)
{
    const uint32_t all = (UINT32_C(1) << TRK_MEMORY_FIELD_COUNT) - 1;
    unsigned likely = 0;
    struct trk_cursor line;
    ret_info->valid = 0;
    while (ret_info->valid != all && trk__cursor_line(&text, &line)) {
        const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
        if (!colon)
            continue;
        unsigned field = memory_field(line.at, (size_t)(colon - line.at), likely);
        if (field == TRK_MEMORY_FIELD_COUNT)
            continue;
        likely = field + 1;
        uint64_t kib;
        line.at = colon + 1;
        if (!trk__cursor_u64(&line, &kib) || kib > UINT64_MAX / 1024)
            continue;
        ret_info->bytes[field] = kib * 1024;
        ret_info->valid |= UINT32_C(1) << field;
    }
}

static bool parse_disk_line(struct trk_cursor line, struct trk_disk_line *ret_line)
{
    enum { READ_OPS, READ_SECTORS = 2, WRITE_OPS = 4, WRITE_SECTORS = 6, BUSY_MS = 9, FIELDS };
    uint64_t number;
    uint64_t field[FIELDS];
    if (!trk__cursor_u64(&line, &number) || !trk__cursor_u64(&line, &number) ||
        !trk__cursor_word(&line, &ret_line->name))
        return false;
    /* Partitions of kernels before 2.6.25 have four figures only: they are not whole disks. */
    for (unsigned i = 0; i < FIELDS; i++)
        if (!trk__cursor_u64(&line, &field[i]))
            return false;
    ret_line->read_ops = field[READ_OPS];
    ret_line->read_sectors = field[READ_SECTORS];
    ret_line->write_ops = field[WRITE_OPS];
    ret_line->write_sectors = field[WRITE_SECTORS];
    ret_line->busy_ms = field[BUSY_MS];
    return true;
}

bool trk__diskstats_next(struct trk_cursor *text, struct trk_disk_line *ret_line)
{
    struct trk_cursor line;
    while (trk__cursor_line(text, &line))
        if (parse_disk_line(line, ret_line))
            return true;
    return false;
}

bool trk__disk_name_is_virtual(struct trk_cursor name)
{
    static const char *const prefixes[] = {"loop", "ram", "zram", "dm-", "md"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct trk_cursor rest = name;
        if (trk__cursor_accept(&rest, prefixes[i]))
            return true;
    }
    return false;
}

static bool parse_net_line(struct trk_cursor line, struct trk_net_line *ret_line)
{
    enum { PACKETS_TO_SENT = 6 }; /* errs drop fifo frame compressed multicast */
    trk__cursor_skip_blanks(&line);
    const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
    if (!colon || colon == line.at)
        return false;
    ret_line->name = (struct trk_cursor){.at = line.at, .end = colon};
    line.at = colon + 1;
    return trk__cursor_u64(&line, &ret_line->recv_bytes) &&
           trk__cursor_u64(&line, &ret_line->recv_packets) &&
           trk__cursor_skip_words(&line, PACKETS_TO_SENT) &&
           trk__cursor_u64(&line, &ret_line->sent_bytes) &&
           trk__cursor_u64(&line, &ret_line->sent_packets);
}

bool trk__netdev_next(struct trk_cursor *text, struct trk_net_line *ret_line)
{
    struct trk_cursor line;
    while (trk__cursor_line(text, &line))
        if (parse_net_line(line, ret_line))
            return true;
    return false;
}

bool trk__loadavg_parse(struct trk_cursor text, uint64_t ret_hundredths[3])
{
    uint64_t load[3];
    for (unsigned i = 0; i < 3; i++)
        if (!trk__cursor_hundredths(&text, &load[i]))
            return false;
    memcpy(ret_hundredths, load, sizeof load);
    return true;
}

/* " avg10=0.00 avg60=0.00 avg300=0.00 total=123" */
static bool pressure_total(struct trk_cursor line, uint64_t *ret_us)
{
    struct trk_cursor word;
    while (trk__cursor_word(&line, &word))
        if (trk__cursor_accept(&word, "total="))
            return trk__cursor_u64(&word, ret_us);
    return false;
}

void trk__pressure_parse(struct trk_cursor text, struct trk_pressure *ret_pressure)
{
    struct trk_cursor line;
    *ret_pressure = (struct trk_pressure){0};
    while (trk__cursor_line(&text, &line)) {
        if (trk__cursor_accept(&line, "some "))
            ret_pressure->has_some = pressure_total(line, &ret_pressure->some_us);
        else if (trk__cursor_accept(&line, "full "))
            ret_pressure->has_full = pressure_total(line, &ret_pressure->full_us);
    }
}
