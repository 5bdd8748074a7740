#include "signal_events.h"
#include "summary.h"

#include "human.h"

#include <math.h>
#include <stdio.h>

static void signal_words(const struct trk_summary *summary, char words[CLI_OUTCOME_SIZE])
{
    const char *name = cli_signal_name(summary->exit_signal);
    snprintf(words, CLI_OUTCOME_SIZE, "killed by signal %d%s%s%s%s", summary->exit_signal,
             name ? " (" : "", name ? name : "", name ? ")" : "",
             summary->core_dumped ? ", core dumped" : "");
}

void cli_outcome_words(const struct trk_summary *summary, char ret_words[CLI_OUTCOME_SIZE])
{
    char limit[CLI_HUMAN_SIZE];
    if (!isnan(summary->time_limit_seconds))
        snprintf(ret_words, CLI_OUTCOME_SIZE, "ended at its time limit of %s",
                 cli_human_seconds(summary->time_limit_seconds, limit));
    else if (summary->exit_signal > 0)
        signal_words(summary, ret_words);
    else if (summary->exit_code == 0)
        snprintf(ret_words, CLI_OUTCOME_SIZE, "finished, exit 0");
    else if (summary->exit_code > 0)
        snprintf(ret_words, CLI_OUTCOME_SIZE, "failed, exit %d", summary->exit_code);
    else if (summary->ended)
        snprintf(ret_words, CLI_OUTCOME_SIZE, "ended");
    else
        snprintf(ret_words, CLI_OUTCOME_SIZE, "still running");
}
