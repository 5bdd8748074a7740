#include "run/phases.h"

#include "base/error.h"
#include "base/real.h"
#include "base/sized.h"
#include "run/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond these marks are rather a mistake than a description: what comes later is left out. */
enum { PHASES_MAX = 256, SPANS_MAX = 1 << 17, OPEN_MAX = 1024 };

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

/* ---- pairing ------------------------------------------------------------------------- */

static struct trk_phase_info *phase_called(struct finder *finder, const struct trk_run_event *event)
{
    char name[sizeof((struct trk_phase_info *)0)->name];
    snprintf(name, sizeof name, "%s", event->name);
    bool is_point = event->kind == TRK_MARK_POINT;
    for (size_t i = 0; i < finder->phases; i++)
        if (finder->phase[i].is_point == is_point && strcmp(finder->phase[i].name, name) == 0)
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
    memcpy(phase->name, name, sizeof phase->name);
    return phase;
}

static int open_span(struct finder *finder, size_t phase, const struct trk_run_event *event)
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
static void close_span(struct finder *finder, size_t phase, const struct trk_run_event *event)
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

static int take(struct finder *finder, const struct trk_run_event *event)
{
    if (event->kind > TRK_MARK_STOP || isnan(event->time) || !event->name || !event->name[0])
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

static struct rows rows_of(const struct trk_run *run)
{
    const struct trk_series *series = &run->process;
    struct rows rows = {.time = trk__series_find(series, TRK_M_TIMESTAMP),
                        .user = trk__series_find(series, TRK_M_PROC_UTIME),
                        .system = trk__series_find(series, TRK_M_PROC_STIME),
                        .memory = trk__series_find(series, TRK_M_PROC_MEMORY),
                        .start_time = run->metadata.identity.start_time};
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

int trk__phases_find(const struct trk_run *run, struct trk_phases *ret_phases)
{
    *ret_phases = (struct trk_phases){0};
    if (!run->events.count)
        return 0;
    struct finder *finder = calloc(1, sizeof *finder);
    if (finder)
        finder->phase = calloc(PHASES_MAX, sizeof *finder->phase);
    int code = finder && finder->phase ? 0 : -ENOMEM;
    for (size_t i = 0; i < run->events.count && code == 0; i++)
        code = take(finder, TRK_RUN_EVENT(run, i));
    struct rows rows = rows_of(run);
    if (code == 0) {
        sum_spans(finder, &rows);
        *ret_phases = (struct trk_phases){finder->phase, finder->phases};
        finder->phase = NULL;
    }
    if (finder) {
        free(finder->phase);
        free(finder->span);
    }
    free(finder);
    return code;
}

int trk_run_phases(const trk_run *run, trk_phases **ret_phases, struct trk_error *error)
{
    trk_phases *phases = calloc(1, sizeof *phases);
    int code = phases ? trk__phases_find(run, phases) : -ENOMEM;
    if (code < 0) {
        free(phases);
        return trk__error_set(error, code, "no memory for the phases");
    }
    *ret_phases = phases;
    return 0;
}

int trk_phases_new(const char *path, trk_phases **ret_phases, struct trk_error *error)
{
    struct trk_run *run;
    int code = trk__run_load(path, &run, error);
    if (code < 0)
        return code;
    code = trk_run_phases(run, ret_phases, error);
    trk__run_free(run);
    return code;
}

void trk_phases_free(trk_phases *phases)
{
    if (!phases)
        return;
    free(phases->item);
    free(phases);
}

int trk_phases_at(const trk_phases *phases, size_t index, struct trk_phase_info *ret_info)
{
    if (index >= phases->count)
        return -ERANGE;
    return trk__sized_give(ret_info, &phases->item[index], sizeof *ret_info);
}
