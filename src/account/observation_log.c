#include "account/observation_log.h"

#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { LOG_CHUNK = 64 << 10, LOG_LIMIT = 1 << 20, NAME_SIZE = 32 };

/* ---- the fields of each kind ---- */

enum field_type {
    FIELD_U64,
    FIELD_I64,
    FIELD_INT,
    FIELD_BOOL,
    FIELD_CHAR,
    FIELD_TEXT,
    FIELD_USAGE
};

struct field {
    const char *name;
    enum field_type type;
    size_t offset, size;
};

#define FIELD(type, root, part, member)                                                            \
    {                                                                                              \
#member, type, offsetof(struct root, part.member), sizeof(((struct root *)0)->part.member) \
    }
#define OBS(type, part, member) FIELD(type, trk_observation, part, member)
#define WHOLE(type, member)                                                                        \
    {                                                                                              \
#member, type, offsetof(struct trk_observation, member),                                   \
            sizeof(((struct trk_observation *)0)->member)                                          \
    }

static const struct field found_fields[] = {OBS(FIELD_INT, found, ppid),
                                            OBS(FIELD_U64, found, start_ticks),
                                            OBS(FIELD_TEXT, found, comm),
                                            OBS(FIELD_BOOL, found, is_root),
                                            {0}};
static const struct field read_fields[] = {
    OBS(FIELD_U64, read, start_ticks),    OBS(FIELD_INT, read, ppid),
    OBS(FIELD_TEXT, read, comm),          OBS(FIELD_CHAR, read, state),
    OBS(FIELD_BOOL, read, io_known),      OBS(FIELD_BOOL, read, io_denied),
    OBS(FIELD_U64, read, threads),        OBS(FIELD_U64, read, start_stack),
    OBS(FIELD_U64, read, size_pages),     OBS(FIELD_U64, read, resident_pages),
    OBS(FIELD_U64, read, shared_pages),   OBS(FIELD_USAGE, read, usage.own),
    OBS(FIELD_USAGE, read, usage.waited), {0}};
static const struct field status_fields[] = {OBS(FIELD_BOOL, status, has_memory),
                                             OBS(FIELD_BOOL, status, is_denied),
                                             OBS(FIELD_BOOL, status, ignores_sigchld),
                                             OBS(FIELD_U64, status, peak_rss_bytes),
                                             {0}};
static const struct field wait_fields[] = {OBS(FIELD_INT, wait, status),
                                           OBS(FIELD_U64, wait, user_ns),
                                           OBS(FIELD_U64, wait, system_ns),
                                           OBS(FIELD_U64, wait, minor_faults),
                                           OBS(FIELD_U64, wait, major_faults),
                                           OBS(FIELD_U64, wait, read_bytes),
                                           OBS(FIELD_U64, wait, write_bytes),
                                           OBS(FIELD_U64, wait, voluntary_switches),
                                           OBS(FIELD_U64, wait, involuntary_switches),
                                           OBS(FIELD_U64, wait, peak_rss_bytes),
                                           {0}};
static const struct field event_fields[] = {
    OBS(FIELD_INT, event, ppid), OBS(FIELD_INT, event, status), OBS(FIELD_TEXT, event, comm), {0}};
static const struct field record_fields[] = {
    OBS(FIELD_INT, record, status),         OBS(FIELD_BOOL, record, is_last),
    OBS(FIELD_TEXT, record, comm),          OBS(FIELD_U64, record, cpu_ns),
    OBS(FIELD_U64, record, peak_rss_bytes), OBS(FIELD_U64, record, read_bytes),
    OBS(FIELD_U64, record, write_bytes),    {0}};
static const struct field exited_fields[] = {
    OBS(FIELD_INT, exited, ppid),          OBS(FIELD_U64, exited, start_ticks),
    OBS(FIELD_TEXT, exited, comm),         OBS(FIELD_INT, exited, status),
    OBS(FIELD_BOOL, exited, has_bytes),    OBS(FIELD_U64, exited, user_ns),
    OBS(FIELD_U64, exited, system_ns),     OBS(FIELD_U64, exited, read_bytes),
    OBS(FIELD_U64, exited, write_bytes),   OBS(FIELD_U64, exited, faults),
    OBS(FIELD_U64, exited, waited_faults), {0}};
static const struct field machine_fields[] = {
    OBS(FIELD_U64, machine, cpu_ns),       OBS(FIELD_U64, machine, idle_ns),
    OBS(FIELD_U64, machine, other_ns),     OBS(FIELD_U64, machine, forks),
    OBS(FIELD_U64, machine, memory_bytes), {0}};
static const struct field huge_fields[] = {
    OBS(FIELD_U64, huge, bytes), OBS(FIELD_U64, huge, largest_page), {0}};
static const struct field exact_fields[] = {
    OBS(FIELD_U64, exact, pss_bytes), OBS(FIELD_U64, exact, rss_bytes), {0}};
static const struct field memory_fields[] = {OBS(FIELD_BOOL, memory, known),
                                             OBS(FIELD_U64, memory, total_bytes),
                                             OBS(FIELD_U64, memory, low_bytes),
                                             OBS(FIELD_U64, memory, high_bytes),
                                             OBS(FIELD_U64, memory, estimated_bytes),
                                             OBS(FIELD_U64, memory, given_back_bytes),
                                             OBS(FIELD_U64, memory, rss_bytes),
                                             OBS(FIELD_U64, memory, virtual_bytes),
                                             {0}};
static const struct field oom_kill_fields[] = {
    OBS(FIELD_U64, oom_kill, at_us),       OBS(FIELD_INT, oom_kill, pid),
    OBS(FIELD_TEXT, oom_kill, comm),       OBS(FIELD_U64, oom_kill, rss_bytes),
    OBS(FIELD_BOOL, oom_kill, by_cgroup),  OBS(FIELD_TEXT, oom_kill, cgroup),
    OBS(FIELD_U64, oom_kill, limit_bytes), {0}};
static const struct field number_fields[] = {WHOLE(FIELD_U64, number), {0}};
static const struct field source_fields[] = {
    OBS(FIELD_INT, source, id), OBS(FIELD_INT, source, change), {0}};
static const struct field step_fields[] = {WHOLE(FIELD_INT, step), {0}};
static const struct field no_fields[] = {{0}};

static const struct {
    const char *name;
    const struct field *fields;
} kinds[TRK_OBS_KINDS] = {
    [TRK_OBS_FOUND] = {"found", found_fields},
    [TRK_OBS_READ] = {"read", read_fields},
    [TRK_OBS_GONE] = {"gone", number_fields},
    [TRK_OBS_STATUS] = {"status", status_fields},
    [TRK_OBS_WAIT] = {"wait", wait_fields},
    [TRK_OBS_ROOT_EXIT] = {"root_exit", no_fields},
    [TRK_OBS_FORK] = {"fork", event_fields},
    [TRK_OBS_EXEC] = {"exec", event_fields},
    [TRK_OBS_EXIT] = {"exit", event_fields},
    [TRK_OBS_RECORD] = {"record", record_fields},
    [TRK_OBS_TRACED] = {"traced", no_fields},
    [TRK_OBS_EXITING] = {"exiting", number_fields},
    [TRK_OBS_EXITED] = {"exited", exited_fields},
    [TRK_OBS_COUNTER] = {"counter", number_fields},
    [TRK_OBS_MACHINE] = {"machine", machine_fields},
    [TRK_OBS_HUGE] = {"huge", huge_fields},
    [TRK_OBS_EXACT] = {"exact", exact_fields},
    [TRK_OBS_MEMORY] = {"memory", memory_fields},
    [TRK_OBS_TEARDOWN] = {"teardown", number_fields},
    [TRK_OBS_OOM_KILL] = {"oom_kill", oom_kill_fields},
    [TRK_OBS_OOM_COUNT] = {"oom_count", number_fields},
    [TRK_OBS_SOURCE] = {"source", source_fields},
    [TRK_OBS_STEP] = {"step", step_fields},
};

#define OPTION(type, member)                                                                       \
    {                                                                                              \
#member, type, offsetof(struct trk_account_options, member),                               \
            sizeof(((struct trk_account_options *)0)->member)                                      \
    }

static const struct field option_fields[] = {
    OPTION(FIELD_INT, root_pid),       OPTION(FIELD_INT, self_pid),
    OPTION(FIELD_BOOL, is_child),      OPTION(FIELD_BOOL, has_children),
    OPTION(FIELD_INT, histories_max),  OPTION(FIELD_INT, cores),
    OPTION(FIELD_U64, page_bytes),     OPTION(FIELD_U64, ticks_per_second),
    OPTION(FIELD_I64, start_ns),       OPTION(FIELD_I64, realtime_offset_ns),
    OPTION(FIELD_I64, boot_offset_ns), OPTION(FIELD_U64, own_peak_rss_bytes),
    OPTION(FIELD_INT, wanted),         {0}};

/* ---- writing ---- */

/* A name of a process can have any byte: what would end the field is written as %XX. */
static void put_text(struct trk_buffer *text, const char *value)
{
    for (const unsigned char *c = (const unsigned char *)value; *c; c++)
        if (*c <= ' ' || *c == '%' || *c >= 0x7f)
            trk__buffer_printf(text, "%%%02X", *c);
        else
            trk__buffer_add_char(text, (char)*c);
}

static void put_field(struct trk_buffer *text, const struct field *field, const void *from)
{
    const char *at = (const char *)from + field->offset;
    uint64_t wide;
    int narrow;
    switch (field->type) {
    case FIELD_U64:
        memcpy(&wide, at, sizeof wide);
        trk__buffer_printf(text, " %s=%llu", field->name, (unsigned long long)wide);
        break;
    case FIELD_I64:
        memcpy(&wide, at, sizeof wide);
        trk__buffer_printf(text, " %s=%lld", field->name, (long long)wide);
        break;
    case FIELD_INT:
        memcpy(&narrow, at, sizeof narrow);
        trk__buffer_printf(text, " %s=%d", field->name, narrow);
        break;
    case FIELD_BOOL:
        trk__buffer_printf(text, " %s=1", field->name);
        break;
    case FIELD_CHAR:
        trk__buffer_printf(text, " %s=%d", field->name, *at);
        break;
    case FIELD_TEXT:
        trk__buffer_printf(text, " %s=", field->name);
        put_text(text, at);
        break;
    case FIELD_USAGE:
        trk__buffer_printf(text, " %s=", field->name);
        for (size_t i = 0; i < TRK_USAGE_COUNT; i++) {
            memcpy(&wide, at + i * sizeof wide, sizeof wide);
            trk__buffer_printf(text, i ? ",%llu" : "%llu", (unsigned long long)wide);
        }
        break;
    }
}

static bool is_zero(const struct field *field, const void *from)
{
    const char *at = (const char *)from + field->offset;
    for (size_t i = 0; i < field->size; i++)
        if (at[i])
            return false;
    return true;
}

static void put_fields(struct trk_buffer *text, const struct field *fields, const void *from)
{
    for (; fields->name; fields++)
        if (!is_zero(fields, from))
            put_field(text, fields, from);
    trk__buffer_add_char(text, '\n');
}

void trk__observation_put(struct trk_buffer *text, const struct trk_observation *observation)
{
    trk__buffer_printf(text, "%s %d %lld", kinds[observation->kind].name, (int)observation->pid,
                       (long long)observation->at_ns);
    put_fields(text, kinds[observation->kind].fields, observation);
}

void trk__account_options_put(struct trk_buffer *text, const struct trk_account_options *options)
{
    trk__buffer_add_text(text, "account 1");
    put_fields(text, option_fields, options);
}

/* ---- reading ---- */

static bool parse_i64(struct trk_cursor *text, int64_t *ret_value)
{
    uint64_t value;
    bool is_negative = trk__cursor_accept(text, "-");
    if (!trk__cursor_u64(text, &value) || value > (uint64_t)INT64_MAX + is_negative)
        return false;
    *ret_value = (int64_t)(is_negative ? 0 - value : value);
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool parse_text(struct trk_cursor value, char *ret_text, size_t size)
{
    size_t len = 0;
    memset(ret_text, 0, size);
    for (const char *c = value.at; c < value.end; c++) {
        char byte = *c;
        if (byte == '%') {
            if (value.end - c < 3 || hex_digit(c[1]) < 0 || hex_digit(c[2]) < 0)
                return false;
            byte = (char)(hex_digit(c[1]) * 16 + hex_digit(c[2]));
            c += 2;
        }
        if (len + 1 >= size || !byte)
            return false;
        ret_text[len++] = byte;
    }
    return true;
}

static bool parse_field(const struct field *field, struct trk_cursor value, void *into)
{
    char *at = (char *)into + field->offset;
    int64_t number;
    uint64_t wide;
    switch (field->type) {
    case FIELD_TEXT:
        return parse_text(value, at, field->size);
    case FIELD_USAGE:
        for (size_t i = 0; i < TRK_USAGE_COUNT; i++) {
            if ((i && !trk__cursor_accept(&value, ",")) || !trk__cursor_u64(&value, &wide))
                return false;
            memcpy(at + i * sizeof wide, &wide, sizeof wide);
        }
        return trk__cursor_at_end(&value);
    case FIELD_U64:
        if (!trk__cursor_u64(&value, &wide))
            return false;
        memcpy(at, &wide, sizeof wide);
        return trk__cursor_at_end(&value);
    default:
        if (!parse_i64(&value, &number) || !trk__cursor_at_end(&value))
            return false;
    }
    if (field->type == FIELD_I64)
        memcpy(at, &number, sizeof number);
    else if (field->type == FIELD_INT && number >= INT_MIN && number <= INT_MAX)
        memcpy(at, &(int){(int)number}, sizeof(int));
    else if (field->type == FIELD_BOOL && (number == 0 || number == 1))
        memcpy(at, &(bool){number != 0}, sizeof(bool));
    else if (field->type == FIELD_CHAR && number >= CHAR_MIN && number <= CHAR_MAX)
        *at = (char)number;
    else
        return false;
    return true;
}

static int parse_fields(struct trk_cursor line, const struct field *fields, void *into)
{
    struct trk_cursor word;
    while (trk__cursor_word(&line, &word)) {
        const char *equals = memchr(word.at, '=', (size_t)(word.end - word.at));
        const struct field *field = fields;
        if (!equals)
            return -EINVAL;
        size_t len = (size_t)(equals - word.at);
        while (field->name &&
               (strlen(field->name) != len || memcmp(field->name, word.at, len) != 0))
            field++;
        if (!field->name ||
            !parse_field(field, (struct trk_cursor){.at = equals + 1, .end = word.end}, into))
            return -EINVAL;
    }
    return 0;
}

int trk__observation_parse(struct trk_cursor line, struct trk_observation *ret_observation)
{
    struct trk_observation observation = {0};
    struct trk_cursor name;
    int64_t pid;
    unsigned kind = 0;
    if (!trk__cursor_word(&line, &name))
        return -EINVAL;
    while (kind < TRK_OBS_KINDS && !trk__cursor_equals(&name, kinds[kind].name))
        kind++;
    trk__cursor_skip_blanks(&line);
    if (kind == TRK_OBS_KINDS || !parse_i64(&line, &pid) || pid < INT_MIN || pid > INT_MAX)
        return -EINVAL;
    trk__cursor_skip_blanks(&line);
    if (!parse_i64(&line, &observation.at_ns))
        return -EINVAL;
    observation.kind = (enum trk_observation_kind)kind;
    observation.pid = (pid_t)pid;
    int code = parse_fields(line, kinds[kind].fields, &observation);
    bool is_valid =
        (kind != TRK_OBS_SOURCE || ((unsigned)observation.source.id < TRK_BY_COUNT &&
                                    (unsigned)observation.source.change <= TRK_CHANGE_CLOSED)) &&
        (kind != TRK_OBS_STEP || (unsigned)observation.step <= TRK_STEP_FINISH);
    if (code < 0 || !is_valid)
        return -EINVAL;
    *ret_observation = observation;
    return 0;
}

int trk__account_options_parse(struct trk_cursor line, struct trk_account_options *ret_options)
{
    struct trk_account_options options = {0};
    if (!trk__cursor_accept(&line, "account 1") ||
        parse_fields(line, option_fields, &options) < 0 || !options.ticks_per_second ||
        !options.page_bytes)
        return -EINVAL;
    *ret_options = options;
    return 0;
}

/* ---- the stream ---- */

void trk__stream_init(struct trk_stream *stream, struct trk_account *account)
{
    *stream = (struct trk_stream){.account = account, .log_fd = -1};
    trk__buffer_init(&stream->text, LOG_LIMIT);
}

static void flush(struct trk_stream *stream)
{
    int code = stream->text.failure;
    if (code == 0 && stream->text.len)
        code = trk__file_write_all(stream->log_fd, stream->text.data, stream->text.len);
    if (code < 0 && !stream->failure)
        stream->failure = code;
    trk__buffer_clear(&stream->text);
}

void trk__stream_log_to(struct trk_stream *stream, int fd)
{
    stream->log_fd = fd;
}

int trk__stream_start(struct trk_stream *stream, const struct trk_account_options *options)
{
    if (stream->log_fd >= 0)
        trk__account_options_put(&stream->text, options);
    return trk__account_init(stream->account, options);
}

void trk__stream_done(struct trk_stream *stream)
{
    if (stream->log_fd >= 0) {
        flush(stream);
        close(stream->log_fd);
    }
    trk__buffer_done(&stream->text);
    stream->log_fd = -1;
}

void trk__observe(struct trk_stream *stream, const struct trk_observation *observation)
{
    if (stream->log_fd >= 0 && !stream->failure) {
        trk__observation_put(&stream->text, observation);
        if (stream->text.len > LOG_CHUNK)
            flush(stream);
    }
    trk__account_take(stream->account, observation);
}

void trk__observe_step(struct trk_stream *stream, enum trk_step step, pid_t pid, int64_t at_ns)
{
    trk__observe(stream, &(struct trk_observation){
                             .kind = TRK_OBS_STEP, .pid = pid, .at_ns = at_ns, .step = step});
}
