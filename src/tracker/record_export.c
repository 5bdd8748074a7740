/* A record in the forms of src/export: what it does not keep (page faults, context switches) is left out there. */
#include "base/error.h"
#include "export/export.h"
#include "snapshot/snapshot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 1000, PATH_SIZE = 64 };

static struct trk_total total_of(const struct trk_snapshot *snapshot, const char *path)
{
    double value = trk__snapshot_number(snapshot, path);
    return (struct trk_total){.valid = !isnan(value), .value = value, .source = "record"};
}

static int whole_or(double value, int otherwise)
{
    return value >= 0 && value <= 255 ? (int)value : otherwise;
}

static struct trk_summary summary_of(const struct trk_snapshot *snapshot)
{
    double wall_seconds = trk__snapshot_number(snapshot, "metadata.wall_seconds");
    if (isnan(wall_seconds))
        wall_seconds = trk__snapshot_number(snapshot, "metadata.duration");
    return (struct trk_summary){
        .size = sizeof(struct trk_summary),
        .exit_code = whole_or(trk__snapshot_number(snapshot, "metadata.exit_code"), -1),
        .exit_signal = whole_or(trk__snapshot_number(snapshot, "metadata.signal"), 0),
        .time_limit_seconds = trk__snapshot_number(snapshot, "metadata.time_limit"),
        .start_time = trk__snapshot_number(snapshot, "metadata.start_time"),
        .wall_seconds = wall_seconds,
        .cpu_seconds = total_of(snapshot, "totals.cpu_seconds.value"),
        .cpu_user_seconds = total_of(snapshot, "totals.cpu_seconds.user"),
        .cpu_system_seconds = total_of(snapshot, "totals.cpu_seconds.system"),
        .peak_memory_bytes = total_of(snapshot, "totals.peak_memory_bytes.value"),
        .read_bytes = total_of(snapshot, "totals.read_bytes.value"),
        .write_bytes = total_of(snapshot, "totals.write_bytes.value"),
        .processes = total_of(snapshot, "totals.processes.value"),
        .oom_kills = total_of(snapshot, "totals.oom_kills.value"),
    };
}

/* The words of the command, NULL-terminated. The caller frees each. */
static void take_words(const struct trk_snapshot *snapshot, char *ret_words[WORDS_MAX + 1])
{
    for (int i = 0; i < WORDS_MAX; i++) {
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "metadata.command.%d", i);
        ret_words[i] = trk__snapshot_text(snapshot, path);
        if (!ret_words[i])
            return;
    }
    ret_words[WORDS_MAX] = NULL;
}

static struct trk_export_facts facts_of(const struct trk_snapshot *snapshot,
                                        const struct trk_summary *summary)
{
    const double mib = 1024.0 * 1024.0;
    return (struct trk_export_facts){
        .summary = summary,
        .rss_max_bytes = NAN,
        .rss_mean_bytes = NAN,
        .virtual_max_bytes = NAN,
        .virtual_mean_bytes = NAN,
        .memory_total_bytes = trk__snapshot_number(snapshot, "server_info.memory_mb") * mib,
        .read_chars_bytes = NAN,
        .write_chars_bytes = NAN,
        .read_calls = NAN,
        .write_calls = NAN,
        .minor_faults = NAN,
        .major_faults = NAN,
        .voluntary_switches = NAN,
        .involuntary_switches = NAN,
        .page_bytes = (double)sysconf(_SC_PAGESIZE),
    };
}

int trk_record_export(const char *path, const char *format, int fd, struct trk_error *error)
{
    struct trk_snapshot *snapshot;
    int code = trk__snapshot_load(path, &snapshot, error);
    if (code < 0)
        return code;
    struct trk_summary summary = summary_of(snapshot);
    struct trk_export_facts facts = facts_of(snapshot, &summary);
    char *words[WORDS_MAX + 1] = {NULL};
    take_words(snapshot, words);
    char *job_name = trk__snapshot_text(snapshot, "metadata.job_name");
    facts.command = words[0] ? words : NULL;
    facts.job_name = job_name && strcmp(job_name, "null") != 0 ? job_name : NULL;
    code = trk__export_to(format, &facts, fd, error);
    for (char **word = words; *word; word++)
        free(*word);
    free(job_name);
    trk__snapshot_free(snapshot);
    return code;
}
