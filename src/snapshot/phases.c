#include "snapshot/phases.h"

#include "base/real.h"
#include "snapshot/json_pull.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these a record is rather a mistake than a description: what comes later is left out. */
enum { PHASES_MAX = 256, SPANS_MAX = 1 << 17, OPEN_MAX = 1024, WORD_MAX = 4096 };

struct event {
    double time;
    int kind; /* enum trk_mark_kind; -1: not understood */
    double pid, tid;
    char name[sizeof((struct trk_phase_info *)0)->name];
};

/* One stretch of a phase. */
struct span {
    size_t phase;
    double from, to; /* to NaN: it has not ended */
    double pid, tid;
};

struct finder {
    struct trk_phase_info *phase;
    size_t phases;
    struct span *span;
    size_t spans, span_capacity;
    size_t open[OPEN_MAX]; /* spans without an end, the oldest first */
    size_t open_count;
};

/* ---- events -------------------------------------------------------------------------- */

static int kind_of(const char *word)
{
    static const char *const kinds[] = {"point", "start", "stop"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, kinds[i]) == 0)
            return i;
    return -1;
}

static void take_field(struct trk_pull *pull, const char *key, struct trk_buffer *scratch,
                       struct event *event)
{
    bool integer, other;
    double *number = strcmp(key, "timestamp") == 0 ? &event->time
                     : strcmp(key, "pid") == 0     ? &event->pid
                     : strcmp(key, "tid") == 0     ? &event->tid
                                                   : NULL;
    bool is_text = strcmp(key, "name") == 0 || strcmp(key, "kind") == 0;
    if (number) {
        trk__pull_number(pull, scratch, number, &integer, &other);
    } else if (is_text && trk__pull_peek(pull) == '"') {
        trk__pull_string(pull, scratch);
        const char *text = scratch->data ? scratch->data : "";
        if (key[0] == 'k')
            event->kind = kind_of(text);
        else
            snprintf(event->name, sizeof event->name, "%s", text);
    } else {
        trk__pull_skip(pull, NULL);
    }
}

static struct event take_event(struct trk_pull *pull, struct trk_buffer *key,
                               struct trk_buffer *scratch)
{
    struct event event = {.time = NAN, .kind = -1, .pid = NAN, .tid = NAN};
    for (int state = 0; trk__pull_next_item(pull, &state, '{', '}');) {
        if (trk__pull_key(pull, key) < 0)
            break;
        take_field(pull, key->data ? key->data : "", scratch, &event);
    }
    return event;
}

/* ---- pairing ------------------------------------------------------------------------- */

static struct trk_phase_info *phase_called(struct finder *finder, const struct event *event)
{
    bool is_point = event->kind == TRK_MARK_POINT;
    for (size_t i = 0; i < finder->phases; i++)
        if (finder->phase[i].is_point == is_point &&
            strcmp(finder->phase[i].name, event->name) == 0)
            return &finder->phase[i];
    if (finder->phases == PHASES_MAX)
        return NULL;
    struct trk_phase_info *phase = &finder->phase[finder->phases++];
    *phase = (struct trk_phase_info){.size = sizeof *phase,
                                     .is_point = is_point,
                                     .start_time = event->time,
                                     .seconds = NAN,
                                     .cpu_seconds = NAN,
                                     .peak_memory_bytes = NAN};
    memcpy(phase->name, event->name, sizeof phase->name);
    return phase;
}

static int open_span(struct finder *finder, size_t phase, const struct event *event)
{
    if (finder->spans == SPANS_MAX)
        return 0;
    if (finder->spans == finder->span_capacity) {
        size_t capacity = finder->span_capacity ? 2 * finder->span_capacity : 64;
        struct span *grown = realloc(finder->span, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        finder->span = grown;
        finder->span_capacity = capacity;
    }
    if (finder->open_count == OPEN_MAX)
        memmove(finder->open, finder->open + 1, --finder->open_count * sizeof *finder->open);
    finder->open[finder->open_count++] = finder->spans;
    finder->span[finder->spans++] = (struct span){
        .phase = phase, .from = event->time, .to = NAN, .pid = event->pid, .tid = event->tid};
    return 0;
}

/* The start that a stop belongs to: the last of its name, of the same thread if there is one, else of the same
 * process, else of anyone. */
static void close_span(struct finder *finder, size_t phase, const struct event *event)
{
    size_t best = OPEN_MAX;
    int best_nearness = -1;
    for (size_t i = finder->open_count; i-- > 0 && best_nearness < 2;) {
        const struct span *span = &finder->span[finder->open[i]];
        int nearness = span->pid != event->pid ? 0 : span->tid != event->tid ? 1 : 2;
        if (span->phase != phase || nearness <= best_nearness)
            continue;
        best = i;
        best_nearness = nearness;
    }
    if (best == OPEN_MAX)
        return; /* an end without a beginning */
    finder->span[finder->open[best]].to = event->time;
    memmove(finder->open + best, finder->open + best + 1,
            (--finder->open_count - best) * sizeof *finder->open);
}

static int take(struct finder *finder, const struct event *event)
{
    if (event->kind < 0 || isnan(event->time) || !event->name[0])
        return 0;
    if (event->kind == TRK_MARK_STOP && !finder->open_count)
        return 0; /* an end without a beginning */
    struct trk_phase_info *phase = phase_called(finder, event);
    if (!phase)
        return 0;
    if (event->kind == TRK_MARK_STOP) {
        close_span(finder, (size_t)(phase - finder->phase), event);
        return 0;
    }
    phase->count++;
    return event->kind == TRK_MARK_START ? open_span(finder, (size_t)(phase - finder->phase), event)
                                         : 0;
}

static int take_events(struct finder *finder, const char *json)
{
    struct trk_input input;
    struct trk_pull pull;
    struct trk_buffer key, scratch;
    trk__input_init_memory(&input, json, strlen(json));
    trk__pull_init(&pull, &input, "events", NULL);
    trk__buffer_init(&key, WORD_MAX);
    trk__buffer_init(&scratch, WORD_MAX);
    int code = 0;
    for (int state = 0; code == 0 && trk__pull_next_item(&pull, &state, '[', ']');) {
        if (trk__pull_peek(&pull) != '{') {
            trk__pull_skip(&pull, NULL);
            continue;
        }
        struct event event = take_event(&pull, &key, &scratch);
        code = pull.failure ? 0 : take(finder, &event);
    }
    trk__buffer_done(&key);
    trk__buffer_done(&scratch);
    trk__pull_done(&pull);
    trk__input_done(&input);
    return code;
}

/* ---- rows ---------------------------------------------------------------------------- */

struct rows {
    const struct trk_series_column *time, *user, *system, *memory;
    size_t count;
    double start_time; /* of the first row's interval */
};

static double cell(const struct trk_series_column *column, size_t row)
{
    return column ? trk__series_value(column, row) : NAN;
}

static struct rows rows_of(const struct trk_snapshot *snapshot)
{
    const struct trk_series *series = &snapshot->process;
    struct rows rows = {.time = trk__series_find(series, TRK_M_TIMESTAMP),
                        .user = trk__series_find(series, TRK_M_PROC_UTIME),
                        .system = trk__series_find(series, TRK_M_PROC_STIME),
                        .memory = trk__series_find(series, TRK_M_PROC_MEMORY),
                        .start_time = trk__snapshot_number(snapshot, "metadata.start_time")};
    rows.count = rows.time ? series->rows : 0;
    return rows;
}

/* The first row that ends after `time`. */
static size_t row_after(const struct rows *rows, double time)
{
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cell(rows->time, middle) > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static double plus(double sum, double value)
{
    return isnan(value) ? sum : isnan(sum) ? value : sum + value;
}

/* A row that is only partly in the stretch gives as much of its CPU time; its memory is that of the moment in which
 * it ends. */
static void add_rows(const struct rows *rows, double from, double to, struct trk_phase_info *phase)
{
    size_t row = row_after(rows, from);
    for (; row < rows->count; row++) {
        double end = cell(rows->time, row);
        double begin = row ? cell(rows->time, row - 1) : rows->start_time;
        double covered = trk__fmin(end, to) - trk__fmax(begin, from);
        if (!(begin < to))
            break;
        if (end > begin && covered > 0)
            phase->cpu_seconds =
                plus(phase->cpu_seconds,
                     (cell(rows->user, row) + cell(rows->system, row)) * covered / (end - begin));
        if (end <= to)
            phase->peak_memory_bytes = trk__fmax(phase->peak_memory_bytes, cell(rows->memory, row));
    }
}

/* ---- together ------------------------------------------------------------------------ */

static int by_phase_and_time(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->phase != b->phase)
        return a->phase < b->phase ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static void close_at_the_end(struct finder *finder, const struct rows *rows)
{
    double end = rows->count ? cell(rows->time, rows->count - 1) : NAN;
    for (size_t i = 0; i < finder->spans; i++) {
        struct span *span = &finder->span[i];
        if (!isnan(span->to))
            continue;
        finder->phase[span->phase].is_open = true;
        span->to = end > span->from ? end : span->from;
    }
}

/* Stretches of one phase that overlap, as those of several workers do, count once. */
static void sum_spans(struct finder *finder, const struct rows *rows)
{
    close_at_the_end(finder, rows);
    if (finder->spans)
        qsort(finder->span, finder->spans, sizeof *finder->span, by_phase_and_time);
    for (size_t i = 0; i < finder->spans;) {
        struct trk_phase_info *phase = &finder->phase[finder->span[i].phase];
        double from = finder->span[i].from, to = finder->span[i].to;
        size_t next = i + 1;
        for (; next < finder->spans && finder->span[next].phase == finder->span[i].phase &&
               finder->span[next].from <= to;
             next++)
            to = trk__fmax(to, finder->span[next].to);
        phase->seconds = plus(phase->seconds, trk__fmax(to - from, 0));
        add_rows(rows, from, to, phase);
        i = next;
    }
}

int trk__phases_find(const struct trk_snapshot *snapshot, struct trk_phase_list *ret_list)
{
    *ret_list = (struct trk_phase_list){0};
    const char *events = trk__snapshot_get(snapshot, "events");
    if (!events || strcmp(events, "[]") == 0 || strcmp(events, "null") == 0)
        return 0;
    struct finder *finder = calloc(1, sizeof *finder);
    if (finder)
        finder->phase = calloc(PHASES_MAX, sizeof *finder->phase);
    int code = finder && finder->phase ? take_events(finder, events) : -ENOMEM;
    struct rows rows = rows_of(snapshot);
    if (code == 0) {
        sum_spans(finder, &rows);
        *ret_list = (struct trk_phase_list){finder->phase, finder->phases};
        finder->phase = NULL;
    }
    if (finder) {
        free(finder->phase);
        free(finder->span);
    }
    free(finder);
    return code;
}

void trk__phases_done(struct trk_phase_list *list)
{
    free(list->item);
    *list = (struct trk_phase_list){0};
}
