#include "gputracker/sub_results.h"

#include "base/array.h"
#include "base/error.h"
#include "base/json_pull.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURES_MAX = 1024, BLOCKS_MAX = 1 << 20, SCRATCH_LIMIT = 16 << 20 };

static void figures_done(struct trk_sub_figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        free(figures->item[i].name);
    free(figures->item);
    *figures = (struct trk_sub_figures){0};
}

void trk__sub_results_done(struct trk_sub_results *results)
{
    for (size_t i = 0; i < results->blocks; i++) {
        figures_done(&results->block[i].usage);
        free(results->block[i].name);
    }
    free(results->block);
    figures_done(&results->overall);
    *results = (struct trk_sub_results){0};
}

double trk__sub_figures_find(const struct trk_sub_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->count; i++)
        if (strcmp(figures->item[i].name, name) == 0)
            return figures->item[i].value;
    return NAN;
}

/* ---- reading ---- */

struct reader {
    struct trk_pull pull;
    struct trk_buffer key, scratch;
    const char *statistic;
};

static const char *key_of(const struct reader *reader)
{
    return reader->key.data ? reader->key.data : "";
}

/* {"min": ..., "max": ...}: the one that is compared. */
static double read_stats(struct reader *reader)
{
    double value = NAN, found = NAN;
    bool is_integer, is_other;
    for (int state = 0; trk__pull_next_item(&reader->pull, &state, '{', '}');) {
        if (trk__pull_key(&reader->pull, &reader->key) < 0)
            return NAN;
        bool wanted = strcmp(key_of(reader), reader->statistic) == 0;
        if (trk__pull_number(&reader->pull, &reader->scratch, &value, &is_integer, &is_other) < 0)
            return NAN;
        if (wanted)
            found = value;
    }
    return found;
}

static struct trk_sub_figure *add_figure(struct trk_sub_figures *figures, const char *name)
{
    if (figures->count == figures->capacity) {
        size_t capacity = figures->capacity ? figures->capacity * 2 : 32;
        struct trk_sub_figure *item =
            capacity > FIGURES_MAX ? NULL
                                   : trk__reallocarray(figures->item, capacity, sizeof *item);
        if (!item)
            return NULL;
        figures->item = item;
        figures->capacity = capacity;
    }
    struct trk_sub_figure *figure = &figures->item[figures->count];
    *figure = (struct trk_sub_figure){.name = strdup(name), .value = NAN};
    figures->count += figure->name != NULL;
    return figure->name ? figure : NULL;
}

static int read_usage(struct reader *reader, struct trk_sub_figures *figures)
{
    for (int state = 0; trk__pull_next_item(&reader->pull, &state, '{', '}');) {
        if (trk__pull_key(&reader->pull, &reader->key) < 0)
            break;
        struct trk_sub_figure *figure = add_figure(figures, key_of(reader));
        if (!figure)
            return trk__pull_fail(&reader->pull, "it has too many measurements");
        figure->value = read_stats(reader);
    }
    return reader->pull.failure;
}

static int read_block(struct reader *reader, struct trk_sub_result_block *block)
{
    block->time = NAN;
    for (int state = 0; trk__pull_next_item(&reader->pull, &state, '{', '}');) {
        if (trk__pull_key(&reader->pull, &reader->key) < 0)
            break;
        if (strcmp(key_of(reader), "compute_time") == 0) {
            block->time = read_stats(reader);
        } else if (strcmp(key_of(reader), "resource_usage") == 0) {
            read_usage(reader, &block->usage);
        } else if (strcmp(key_of(reader), "name") == 0 && !block->name) {
            if (trk__pull_string(&reader->pull, &reader->scratch) == 0)
                block->name = strdup(reader->scratch.data ? reader->scratch.data : "");
        } else {
            trk__pull_skip(&reader->pull, NULL);
        }
    }
    if (!reader->pull.failure && !block->name)
        return trk__pull_fail(&reader->pull, "a code block has no name");
    return reader->pull.failure;
}

static int read_blocks(struct reader *reader, struct trk_sub_results *results)
{
    size_t capacity = 0;
    for (int state = 0; trk__pull_next_item(&reader->pull, &state, '[', ']');) {
        if (results->blocks == capacity) {
            capacity = capacity ? capacity * 2 : 16;
            struct trk_sub_result_block *block =
                capacity > BLOCKS_MAX ? NULL
                                      : trk__reallocarray(results->block, capacity, sizeof *block);
            if (!block)
                return trk__pull_fail(&reader->pull, "it has too many code blocks");
            results->block = block;
        }
        struct trk_sub_result_block *block = &results->block[results->blocks++];
        *block = (struct trk_sub_result_block){0};
        if (read_block(reader, block) < 0)
            break;
    }
    return reader->pull.failure;
}

static int read_all(struct reader *reader, struct trk_sub_results *results)
{
    for (int state = 0; trk__pull_next_item(&reader->pull, &state, '{', '}');) {
        if (trk__pull_key(&reader->pull, &reader->key) < 0)
            break;
        if (strcmp(key_of(reader), "overall") == 0)
            read_usage(reader, &results->overall);
        else if (strcmp(key_of(reader), "code_block_results") == 0)
            read_blocks(reader, results);
        else
            trk__pull_skip(&reader->pull, NULL);
    }
    if (!reader->pull.failure && !results->overall.count)
        return trk__pull_fail(&reader->pull, "it is no result of sub-track analyze");
    return reader->pull.failure ? reader->pull.failure : trk__pull_end(&reader->pull);
}

int trk__sub_results_read(const char *name, const char *text, const char *statistic,
                          struct trk_sub_results *ret_results, struct trk_error *error)
{
    struct trk_input input;
    struct reader reader = {.statistic = statistic};
    struct trk_sub_results results = {0};
    int code = trk__input_init_memory(&input, text, strlen(text));
    if (code < 0)
        return trk__error_set(error, code, "%s: %s", name, strerror(-code));
    trk__buffer_init(&reader.key, SCRATCH_LIMIT);
    trk__buffer_init(&reader.scratch, SCRATCH_LIMIT);
    trk__pull_init(&reader.pull, &input, name, error);
    code = read_all(&reader, &results);
    trk__pull_done(&reader.pull);
    trk__buffer_done(&reader.key);
    trk__buffer_done(&reader.scratch);
    trk__input_done(&input);
    if (code < 0)
        trk__sub_results_done(&results);
    else
        *ret_results = results;
    return code;
}

/* ---- order ---- */

const char *trk__sub_line_number(const char *block_name)
{
    const char *colon = strrchr(block_name, ':');
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
        return NULL;
    return colon;
}

static int by_place(const void *a, const void *b)
{
    const char *left = ((const struct trk_sub_result_block *)a)->name;
    const char *right = ((const struct trk_sub_result_block *)b)->name;
    const char *left_line = trk__sub_line_number(left), *right_line = trk__sub_line_number(right);
    if (left_line && right_line && left_line - left == right_line - right &&
        memcmp(left, right, (size_t)(left_line - left)) == 0) {
        unsigned long long i = strtoull(left_line + 1, NULL, 10);
        unsigned long long j = strtoull(right_line + 1, NULL, 10);
        return (i > j) - (i < j);
    }
    return strcmp(left, right);
}

void trk__sub_results_sort(struct trk_sub_results *results)
{
    if (results->blocks)
        qsort(results->block, results->blocks, sizeof *results->block, by_place);
}
