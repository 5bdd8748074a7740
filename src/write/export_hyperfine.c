/* The JSON of hyperfine's --export-json, for a benchmark of one run. */
#include "base/json.h"
#include "base/real.h"
#include "write/export.h"

enum { COMMAND_LIMIT = 1 << 20 };

/* To the millionth, so that no digits of noise are printed. */
static double rounded(double value)
{
    return trk__round(value * 1e6) / 1e6;
}

static void put(struct trk_json *json, const char *key, double value)
{
    trk__json_key(json, key);
    trk__json_double(json, rounded(value));
}

static void put_list(struct trk_json *json, const char *key, double value)
{
    trk__json_key(json, key);
    trk__json_begin_array(json);
    trk__json_double(json, rounded(value));
    trk__json_end_array(json);
}

static void put_command(struct trk_json *json, const struct trk_export_facts *facts)
{
    struct trk_buffer words;
    trk__buffer_init(&words, COMMAND_LIMIT);
    trk__export_add_command(facts, &words);
    trk__json_key(json, "command");
    trk__json_string(json, words.data ? words.data : "");
    trk__buffer_done(&words);
}

void trk__export_hyperfine(const struct trk_export_facts *facts, struct trk_buffer *text)
{
    const struct trk_run_outcome *outcome = &facts->run->metadata.outcome;
    double seconds = facts->figures.wall_seconds;
    struct trk_json json = trk__json(text);
    trk__json_begin_object(&json);
    trk__json_key(&json, "results");
    trk__json_begin_array(&json);
    trk__json_begin_object(&json);
    put_command(&json, facts);
    put(&json, "mean", seconds);
    put(&json, "stddev", NAN); /* of one run there is none */
    put(&json, "median", seconds);
    put(&json, "user", facts->run->totals.cpu.user_seconds);
    put(&json, "system", facts->run->totals.cpu.system_seconds);
    put(&json, "min", seconds);
    put(&json, "max", seconds);
    put_list(&json, "times", seconds);
    put_list(&json, "memory_usage_byte", facts->figures.memory_peak_bytes);
    put_list(&json, "exit_codes", outcome->exit_code >= 0 ? outcome->exit_code : NAN);
    trk__json_end_object(&json);
    trk__json_end_array(&json);
    trk__json_end_object(&json);
    trk__buffer_add_char(text, '\n');
}
