/* Replays an observation log through the account and prints its totals:
 *
 *   resource-tracker --observation-log FILE -- COMMAND...
 *   replay_log FILE
 *
 * A line is "name value", or "name value source" for a total; what is unknown is "-". Values are rounded as in the JSON
 * of --summary, so that they can be compared for equality. */
#include "account/observation_log.h"
#include "base/real.h"
#include "resource_tracker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE = 125 };

static void print_whole(const char *name, double value)
{
    if (isnan(value))
        printf("%s -\n", name);
    else
        printf("%s %.0f\n", name, value);
}

static void print_rounded(const char *name, double value)
{
    if (isnan(value))
        printf("%s -\n", name);
    else
        printf("%s %.6f\n", name, trk__round(value * 1e6) / 1e6);
}

static void print_total(const char *name, const struct trk_total *total, int decimals)
{
    if (!total->valid)
        printf("%s - -\n", name);
    else
        printf("%s %.*f %s\n", name, decimals,
               decimals ? trk__round(total->value * 1e6) / 1e6 : total->value, total->source);
}

static void print_summary(const struct trk_summary *summary)
{
    print_total("cpu_seconds", &summary->cpu_seconds, 6);
    print_total("cpu_user_seconds", &summary->cpu_user_seconds, 6);
    print_total("cpu_system_seconds", &summary->cpu_system_seconds, 6);
    print_rounded("cpu_sampled_seconds", summary->cpu_sampled_seconds);
    print_rounded("cpu_high_seconds", summary->cpu_high_seconds);
    print_whole("cpu_is_lower_bound", summary->cpu_is_lower_bound);
    print_total("peak_memory_bytes", &summary->peak_memory_bytes, 0);
    print_whole("peak_memory_low_bytes", summary->peak_memory_low_bytes);
    print_whole("peak_memory_high_bytes", summary->peak_memory_high_bytes);
    print_whole("peak_memory_sampled_bytes", summary->peak_memory_sampled_bytes);
    print_whole("peak_memory_sampled_low_bytes", summary->peak_memory_sampled_low_bytes);
    print_whole("peak_memory_sampled_high_bytes", summary->peak_memory_sampled_high_bytes);
    print_rounded("memory_estimated_ratio", summary->memory_estimated_ratio);
    print_total("read_bytes", &summary->read_bytes, 0);
    print_total("write_bytes", &summary->write_bytes, 0);
    print_total("processes", &summary->processes, 0);
    print_total("oom_kills", &summary->oom_kills, 0);
    print_whole("exit_code", summary->exit_code);
    print_whole("exit_signal", summary->exit_signal);
    print_whole("left_running", summary->left_running);
}

/* The answers to requests are in the log: here they only have to be taken, as the gather step takes them. */
static void take(struct trk_account *account, const struct trk_observation *observation)
{
    struct trk_request request;
    trk__account_take(account, observation);
    while (observation->kind == TRK_OBS_STEP && trk__account_request(account, &request))
        continue;
}

/* 0, or the number of the first line that is none. */
static unsigned long replay(FILE *file, struct trk_account *account)
{
    char *text = NULL;
    size_t size = 0;
    unsigned long line = 0, bad = 0;
    struct trk_account_options options;
    struct trk_observation observation;
    for (ssize_t len; !bad && (len = getline(&text, &size, file)) > 0;) {
        struct trk_cursor cursor = trk__cursor(text, (size_t)len - (text[len - 1] == '\n'));
        line++;
        int code = line == 1 ? trk__account_options_parse(cursor, &options)
                             : trk__observation_parse(cursor, &observation);
        if (code == 0 && line == 1)
            code = trk__account_init(account, &options);
        else if (code == 0)
            take(account, &observation);
        if (code < 0)
            bad = line;
    }
    free(text);
    return line ? bad : 1;
}

int main(int argc, char *argv[])
{
    struct trk_account account = {0};
    struct trk_summary summary = {.size = sizeof summary};
    if (argc != 2) {
        fprintf(stderr, "usage: replay_log FILE\n");
        return USAGE;
    }
    FILE *file = fopen(argv[1], "re");
    if (!file) {
        fprintf(stderr, "cannot read %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    unsigned long bad = replay(file, &account);
    fclose(file);
    if (bad) {
        fprintf(stderr, "%s:%lu: not a line of an observation log of this version\n", argv[1], bad);
    } else {
        trk__account_summarise(&account, &summary);
        print_summary(&summary);
    }
    trk__account_done(&account);
    return bad || fflush(stdout) != 0 ? 1 : 0;
}
