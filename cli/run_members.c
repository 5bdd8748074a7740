#include "run_members.h"

#include "text.h"

#include <math.h>
#include <stdio.h>

void cli_json_text(const char *key, const char *text)
{
    printf(",\"%s\":", key);
    cli_json_print(text);
}

void cli_json_number(const char *key, double value, int decimals)
{
    if (isnan(value))
        printf(",\"%s\":null", key);
    else
        printf(",\"%s\":%.*f", key, decimals, value);
}

static const char *state_of(const struct trk_run_info *run)
{
    return *run->damage       ? "damaged"
           : run->running     ? "running"
           : run->is_unknown  ? "unknown"
           : run->interrupted ? "interrupted"
                              : "finished";
}

void cli_json_run(const struct trk_run_info *run)
{
    static const char *const kinds[] = {"command", "attached", "system"};
    printf("\"id\":");
    cli_json_print(run->id);
    cli_json_text("state", state_of(run));
    cli_json_number("start_time", *run->damage ? NAN : run->start_time, 6);
    cli_json_number("wall_seconds", run->wall_seconds, 6);
    cli_json_number("cpu_seconds", run->cpu_seconds, 6);
    cli_json_number("peak_memory_bytes", run->peak_memory_bytes, 0);
    cli_json_number("exit_code", run->exit_code < 0 ? NAN : run->exit_code, 0);
    cli_json_number("signal", run->exit_signal ? run->exit_signal : NAN, 0);
    cli_json_number("oom_kills", run->oom_kills, 0);
    printf(",\"interrupted\":%s,\"running\":%s,\"samples\":%llu,\"file_bytes\":%llu",
           run->interrupted ? "true" : "false", run->running ? "true" : "false",
           (unsigned long long)run->samples, (unsigned long long)run->file_bytes);
    cli_json_text("kind", kinds[run->kind]);
    cli_json_number("time_limit_seconds", run->time_limit_seconds, 6);
    cli_json_text("host", run->host);
    cli_json_text("key", run->key);
    cli_json_text("job_name", run->job_name);
    cli_json_text("command", run->command);
    if (*run->damage)
        cli_json_text("damage", run->damage);
}
