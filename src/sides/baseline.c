#include "sides/baseline.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_pull.h"
#include "base/number.h"
#include "base/real.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int trk__baseline_path(const char *name, char ret_path[TRK_BASELINE_PATH_SIZE])
{
    size_t len = strlen(name);
    if (len == 0)
        return -EINVAL;
    bool is_path = strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".json") == 0);
    int size = snprintf(ret_path, TRK_BASELINE_PATH_SIZE,
                        is_path ? "%s" : ".resource-tracker/%s.json", name);
    return size < TRK_BASELINE_PATH_SIZE ? 0 : -ENAMETOOLONG;
}

/* ---- writing ------------------------------------------------------------------------- */

/* Digits that a rerun would change anyway are left out: microseconds, bytes, billionths of a dollar. */
static double rounded(enum trk_figure_unit unit, double value)
{
    if (!isfinite(value))
        return NAN;
    return trk__number_rounded(value, unit == TRK_FIGURE_SECONDS ? 6
                                      : unit == TRK_FIGURE_BYTES ? 0
                                                                 : 9);
}

/* A number, or [value, low, high] where it is a bracket; null there is without a limit. */
static void put_figures(struct trk_json *json, const struct trk_figures *figures)
{
    for (int i = 0; i < TRK_FIGURE_COUNT; i++) {
        const struct trk_figure *figure = &figures->of[i];
        const struct trk_figure_kind *kind = &trk__figure_kinds[i];
        if (isnan(figure->value))
            continue;
        double value = rounded(kind->unit, figure->value);
        double low = rounded(kind->unit, trk__fmin(figure->low, figure->value));
        double high = rounded(kind->unit, trk__fmax(figure->high, figure->value));
        trk__json_key(json, kind->name);
        if (low == high) {
            trk__json_double(json, value);
            continue;
        }
        trk__json_begin_array(json);
        trk__json_double(json, value);
        trk__json_double(json, low);
        trk__json_double(json, high);
        trk__json_end_array(json);
    }
}

static void put_run(const struct trk_side_run *run, struct trk_buffer *line)
{
    struct trk_json json = trk__json(line);
    trk__json_begin_object(&json);
    trk__json_key(&json, "run");
    trk__json_string(&json, run->label);
    put_figures(&json, &run->whole);
    if (run->phase_count) {
        trk__json_key(&json, "phases");
        trk__json_begin_object(&json);
        for (size_t p = 0; p < run->phase_count; p++) {
            trk__json_key(&json, run->phases[p].name);
            trk__json_begin_object(&json);
            put_figures(&json, &run->phases[p].figures);
            trk__json_end_object(&json);
        }
        trk__json_end_object(&json);
    }
    trk__json_end_object(&json);
}

static int compare_lines(const void *a, const void *b)
{
    const struct trk_buffer *x = a, *y = b;
    return strcmp(x->data ? x->data : "", y->data ? y->data : "");
}

/* The lines are sorted as they are written: bytes of a label that are no UTF-8 are replaced, and would be at another place when
 * the file is read and written again. */
void trk__baseline_write(const struct trk_side *side, struct trk_buffer *text)
{
    TRK_CLEANUP_FREE struct trk_buffer *lines = calloc(side->count + 1, sizeof *lines);
    if (!lines) {
        text->failure = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < side->count; i++) {
        trk__buffer_init(&lines[i], TRK_BASELINE_BYTES_MAX);
        put_run(&side->runs[i], &lines[i]);
        text->failure = text->failure ? text->failure : lines[i].failure;
    }
    qsort(lines, side->count, sizeof *lines, compare_lines);
    trk__buffer_add_text(text, "{\n\"baseline_version\": 1,\n\"runs\": [\n");
    for (size_t i = 0; i < side->count; i++) {
        if (lines[i].data)
            trk__buffer_add_text(text, lines[i].data);
        trk__buffer_add_text(text, ",\n");
        trk__buffer_done(&lines[i]);
    }
    trk__buffer_add_text(text, "null\n]\n}\n");
}

/* ---- reading ------------------------------------------------------------------------- */

#define FIGURE_MAX 1e18 /* bytes or seconds: more is no measurement, and fits in no column */

struct reader {
    struct trk_pull pull;
    struct trk_buffer text; /* of keys and strings */
    size_t runs;            /* read until now */
};

/* A number as a baseline has them. What is wrong is a fault and not an unknown figure: a gate on it would pass. */
static double read_number(struct reader *reader)
{
    double value = NAN;
    int first = trk__pull_peek(&reader->pull);
    if (first >= '0' && first <= '9')
        trk__pull_number(&reader->pull, &reader->text, &value, &(bool){false}, &(bool){false});
    if (!(value <= FIGURE_MAX))
        trk__pull_fail(&reader->pull, "expected a number from 0 to 1e18");
    return value;
}

static void read_figure(struct reader *reader, struct trk_figure *figure)
{
    if (!trk__pull_accept(&reader->pull, '[')) {
        *figure = trk__figure_exact(read_number(reader));
        return;
    }
    figure->value = read_number(reader);
    trk__pull_expect(&reader->pull, ',');
    figure->low = read_number(reader);
    trk__pull_expect(&reader->pull, ',');
    figure->high = INFINITY;
    if (trk__pull_peek(&reader->pull) == 'n')
        trk__pull_skip(&reader->pull, NULL);
    else
        figure->high = read_number(reader);
    trk__pull_expect(&reader->pull, ']');
    if (!(figure->low <= figure->value && figure->value <= figure->high))
        trk__pull_fail(&reader->pull, "expected [value, low, high] with the value between");
}

static void read_member(struct reader *reader, struct trk_figures *figures)
{
    enum trk_figure_id id = trk__figure_find(reader->text.data, reader->text.len);
    if (id == TRK_FIGURE_COUNT)
        trk__pull_fail(&reader->pull, "unknown figure; docs/schema/baseline.json lists them");
    else
        read_figure(reader, &figures->of[id]);
}

static void read_phases(struct reader *reader, struct trk_side_run *run)
{
    for (int state = 0; trk__pull_next_item(&reader->pull, &state, '{', '}');) {
        if (trk__pull_key(&reader->pull, &reader->text) < 0)
            return;
        struct trk_figures *figures = trk__side_run_add_phase(run, reader->text.data);
        if (!figures) {
            trk__pull_fail(&reader->pull, "more phases than fit");
            return;
        }
        for (int inner = 0; trk__pull_next_item(&reader->pull, &inner, '{', '}');)
            if (trk__pull_key(&reader->pull, &reader->text) == 0)
                read_member(reader, figures);
    }
}

/* Members may be in any order: the label can be the last. */
static void read_run(struct reader *reader, struct trk_side *side)
{
    TRK_CLEANUP_FREE char *label = NULL;
    struct trk_side_run run = {.whole = trk__figures_absent()};
    for (int state = 0; trk__pull_next_item(&reader->pull, &state, '{', '}');) {
        if (trk__pull_key(&reader->pull, &reader->text) < 0)
            break;
        if (strcmp(reader->text.data, "run") == 0) {
            if (trk__pull_string(&reader->pull, &reader->text) == 0) {
                free(label);
                label = strdup(reader->text.data ? reader->text.data : "");
            }
        } else if (strcmp(reader->text.data, "phases") == 0)
            read_phases(reader, &run);
        else
            read_member(reader, &run.whole);
    }
    struct trk_side_run *added = NULL;
    if (!reader->pull.failure && !label)
        trk__pull_fail(&reader->pull, "a run without the member \"run\"");
    else if (!reader->pull.failure && !(added = trk__side_place(side, label, NULL)))
        trk__pull_fail_by(&reader->pull, -ENOMEM, "out of memory");
    if (added) {
        added->whole = run.whole;
        added->phases = TRK_STEAL(run.phases);
        added->phase_count = run.phase_count;
        run.phase_count = 0;
        reader->runs++;
    }
    trk__side_run_clear(&run);
}

int trk__baseline_read(struct trk_side *side, const char *name, const char *data, size_t len,
                       struct trk_error *error)
{
    struct trk_input input;
    int code = trk__input_init_memory(&input, data, len);
    if (code < 0)
        return trk__error_set(error, code, "%s: out of memory", name);
    struct reader reader = {.runs = 0};
    double version = NAN;
    trk__pull_init(&reader.pull, &input, name, error);
    trk__buffer_init(&reader.text, TRK_BASELINE_BYTES_MAX);
    for (int state = 0; trk__pull_next_item(&reader.pull, &state, '{', '}');) {
        if (trk__pull_key(&reader.pull, &reader.text) < 0)
            break;
        if (strcmp(reader.text.data, "baseline_version") == 0)
            version = read_number(&reader);
        else if (strcmp(reader.text.data, "runs") != 0)
            trk__pull_skip(&reader.pull, NULL);
        else
            for (int item = 0; trk__pull_next_item(&reader.pull, &item, '[', ']');) {
                if (trk__pull_peek(&reader.pull) == '{')
                    read_run(&reader, side);
                else
                    trk__pull_skip(&reader.pull, NULL); /* the null at the end */
            }
    }
    code = reader.pull.failure;
    if (code == 0 && isnan(version))
        code = -ENOTSUP;
    else if (code == 0 && version != 1)
        code = trk__error_set(error, -EPROTO,
                              version > 1 ? "%s is a baseline of a newer release"
                                          : "%s: baseline_version must be 1",
                              name);
    else if (code == 0)
        code = trk__pull_end(&reader.pull);
    if (code == 0 && !reader.runs)
        code = trk__error_set(error, -ENODATA, "%s: the baseline has no runs", name);
    trk__buffer_done(&reader.text);
    trk__pull_done(&reader.pull);
    trk__input_done(&input);
    return code;
}
