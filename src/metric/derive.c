#include "metric/derive.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void trk__row_done(struct trk_row *row)
{
    for (unsigned s = 0; s < TRK_DEVICE_SCOPE_COUNT; s++)
        free(row->devices[s].item);
    *row = (struct trk_row){0};
}

/* Counters may go back (a device that was replaced, a kernel that rounds): never negative. */
static uint64_t saturating_growth(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

static double derive_one(const struct trk_metric_def *metric, bool had, uint64_t before, bool has,
                         uint64_t now, int64_t elapsed_ns)
{
    double scale = trk__unit_scale(metric->unit);
    if (!has)
        return NAN;
    if (!trk__kind_is_counter(metric->kind))
        return (double)now * scale;
    if (!had)
        return NAN;
    double growth = (double)saturating_growth(before, now) * scale;
    if (metric->kind == TRK_KIND_DELTA)
        return growth;
    /* Two samples at one instant have no rate. */
    return elapsed_ns > 0 ? growth / ((double)elapsed_ns * 1e-9) : NAN;
}

static int64_t source_elapsed_ns(const struct trk_sample *before, const struct trk_sample *now,
                                 enum trk_source source, int64_t elapsed_ns)
{
    if (!before->read_ns[source] || !now->read_ns[source])
        return elapsed_ns;
    return now->read_ns[source] - before->read_ns[source];
}

/* The row of the device called `name`, appended if it is new; NULL without memory. `hint`: where it is looked for
 * first. */
static struct trk_device_row *row_of(struct trk_device_rows *rows, const char *name, uint32_t hint)
{
    if (hint < rows->count && strcmp(rows->item[hint].name, name) == 0)
        return &rows->item[hint];
    for (uint32_t i = 0; i < rows->count; i++)
        if (strcmp(rows->item[i].name, name) == 0)
            return &rows->item[i];
    if (rows->count == rows->capacity) {
        uint32_t capacity = rows->capacity ? rows->capacity * 2 : 4;
        struct trk_device_row *item = realloc(rows->item, capacity * sizeof *item);
        if (!item)
            return NULL;
        rows->item = item;
        rows->capacity = capacity;
    }
    struct trk_device_row *row = &rows->item[rows->count++];
    memcpy(row->name, name, sizeof row->name);
    return row;
}

static const struct trk_device *device_called(const struct trk_devices *devices, const char *name,
                                              uint32_t hint)
{
    if (hint < devices->count && strcmp(devices->item[hint].name, name) == 0)
        return &devices->item[hint];
    for (uint32_t i = 0; i < devices->count; i++)
        if (strcmp(devices->item[i].name, name) == 0)
            return &devices->item[i];
    return NULL;
}

static void derive_device(const struct trk_device *before, const struct trk_device *now,
                          enum trk_metric first, enum trk_metric end, int64_t elapsed_ns,
                          struct trk_device_row *row)
{
    for (unsigned m = first; m < end; m++) {
        unsigned slot = m - first;
        bool had = before && before->valid >> slot & 1;
        row->value[slot] = derive_one(&trk__metrics[m], had, had ? before->raw[slot] : 0,
                                      now->valid >> slot & 1, now->raw[slot], elapsed_ns);
    }
}

static int derive_devices(const struct trk_sample *before, const struct trk_sample *now,
                          enum trk_scope scope, int64_t elapsed_ns, struct trk_device_rows *rows)
{
    const struct trk_devices *old = &before->devices[scope - TRK_SCOPE_DEVICE_FIRST];
    const struct trk_devices *new = &now->devices[scope - TRK_SCOPE_DEVICE_FIRST];
    enum trk_metric first = trk__scope_first(scope);
    enum trk_metric end = trk__scope_end(scope);
    int64_t source_ns = source_elapsed_ns(before, now, trk__metrics[first].source, elapsed_ns);
    for (uint32_t i = 0; i < rows->count; i++)
        for (unsigned slot = 0; slot < end - first; slot++)
            rows->item[i].value[slot] = NAN;
    for (uint32_t i = 0; i < new->count; i++) {
        const char *name = new->item[i].name;
        struct trk_device_row *row = row_of(rows, name, i);
        if (!row)
            return -ENOMEM;
        derive_device(device_called(old, name, i), &new->item[i], first, end, source_ns, row);
    }
    return 0;
}

/* The kernel counts in ticks of 10 ms, so a row of 4 ms can seem to have more cores than there are. */
static void bound_by_cores(struct trk_row *row)
{
    double cores = row->value[TRK_M_SYS_CPU_COUNT];
    if (row->value[TRK_M_SYS_CPU] > cores)
        row->value[TRK_M_SYS_CPU] = cores;
    struct trk_device_rows *rows = &row->devices[TRK_SCOPE_CORE - TRK_SCOPE_DEVICE_FIRST];
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->item[i].value[0] > 1)
            rows->item[i].value[0] = 1;
}

int trk__derive(const struct trk_sample *before, const struct trk_sample *now, int64_t elapsed_ns,
                struct trk_row *row)
{
    int code = 0;
    row->elapsed_seconds = (double)elapsed_ns * 1e-9;
    for (unsigned m = 0; m < TRK_METRIC_COUNT; m++) {
        const struct trk_metric_def *metric = &trk__metrics[m];
        if (metric->scope >= TRK_SCOPE_DEVICE_FIRST)
            continue;
        row->value[m] =
            derive_one(metric, trk__sample_has(before, m), before->raw[m], trk__sample_has(now, m),
                       now->raw[m], source_elapsed_ns(before, now, metric->source, elapsed_ns));
    }
    for (unsigned s = TRK_SCOPE_DEVICE_FIRST; s < TRK_SCOPE_COUNT && !row->without_devices; s++)
        if (derive_devices(before, now, s, elapsed_ns, &row->devices[s - TRK_SCOPE_DEVICE_FIRST]) <
            0)
            code = -ENOMEM;
    bound_by_cores(row);
    return code;
}
