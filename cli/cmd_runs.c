/* Past runs: list, remove, prune. */
#include "cli.h"
#include "human.h"
#include "message.h"
#include "run_members.h"
#include "runs_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- list ---------------------------------------------------------------------------- */

static int refuse_action(const char *word)
{
    static const char *const actions[] = {"list", "ls", "remove", "prune"};
    struct cli_nearest nearest;
    cli_nearest_init(&nearest, word, strlen(word));
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        cli_nearest_offer(&nearest, actions[i]);
    if (strcmp(word, "export") == 0)
        return cli_misuse("a run is exported with: resource-tracker export RUN --format FORMAT");
    if (nearest.best)
        return cli_misuse("runs: unknown action '%s'; did you mean '%s'?", word, nearest.best);
    return cli_misuse("runs: unknown action '%s'; there are list, remove and prune, and "
                      "resource-tracker show RUN",
                      word);
}

/* One document. */
static size_t print_json(const struct cli_options *options, const trk_runs *runs)
{
    size_t shown = 0;
    struct trk_run_info run = {.size = sizeof run};
    printf("{\"schema_version\":1,\"runs\":[");
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++) {
        if (!cli_run_is_wanted(&run, options->match))
            continue;
        printf("%s\n{", shown++ ? "," : "");
        cli_json_run(&run);
        printf("}");
    }
    printf("\n]}\n");
    return shown;
}

static int list_runs(const struct cli_options *options, const trk_runs *runs)
{
    if (options->operands[0])
        return refuse_action(options->operands[0]);
    size_t shown =
        options->json ? print_json(options, runs) : cli_runs_table_print(runs, options->match);
    if (!shown && options->match)
        return cli_fail("no run has '%s' in its command, name or key", options->match);
    if (!shown && !options->json)
        fprintf(stderr, "resource-tracker: no run is kept yet\n");
    return 0;
}

/* ---- remove -------------------------------------------------------------------------- */

/* The index of the run that a word means; -1 with a message. */
static long find_run(const trk_runs *runs, const char *word)
{
    long found = -1;
    struct trk_run_info run = {.size = sizeof run};
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++) {
        const char *dash = strrchr(run.id, '-');
        if (strcmp(run.id, word) == 0)
            return (long)i;
        if (!*word ||
            (strncmp(run.id, word, strlen(word)) != 0 && !(dash && strcmp(dash + 1, word) == 0)))
            continue;
        if (found >= 0) {
            cli_fail("several runs begin with %s; give more of the id", word);
            return -1;
        }
        found = (long)i;
    }
    if (found < 0)
        cli_fail(access(word, F_OK) == 0 ? "%s is a file, not a run; remove it with rm"
                                         : "no such run: %s; resource-tracker runs lists them",
                 word);
    return found;
}

static int remove_one(trk_runs *runs, size_t index, bool force)
{
    struct trk_error error = {0};
    int code = force ? trk_runs_remove_by_force(runs, index, &error)
                     : trk_runs_remove(runs, index, &error);
    return code < 0 ? cli_fail("%s", error.message) : 0;
}

static int remove_runs(const struct cli_options *options, trk_runs *runs)
{
    if (!options->operands[0])
        return cli_misuse("runs remove needs the id of a run; resource-tracker runs lists them");
    int status = 0;
    for (char **word = options->operands; *word; word++) {
        long index = find_run(runs, *word);
        if (index < 0 || remove_one(runs, (size_t)index, options->session.overwrite) != 0)
            status = CLI_EXIT_FAILURE;
    }
    return status;
}

/* ---- prune --------------------------------------------------------------------------- */

/* "500M", "2GiB", "1000000"; powers of 1024. Negative: not a size. */
static double parse_size(const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double size = strtod(text, &end);
    if (end == text || !(size >= 0))
        return -1;
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    if (unit && *unit) {
        size = ldexp(size, 10 * (int)(unit - units + 1));
        end++;
    }
    if (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)
        end += strlen(end);
    return *end ? -1 : size;
}

struct limits {
    double oldest, bytes, count;
};

/* Marks what goes: too old, beyond the count, or beyond the size, the newest first; whatever is older than one that went
 * for its size goes too. A run that may be running stays, and counts. */
static size_t choose(const struct cli_options *options, const trk_runs *runs,
                     const struct limits *limits, bool *ret_goes, double *ret_bytes)
{
    double kept_bytes = 0, kept = 0;
    bool is_full = false;
    size_t count = 0;
    struct trk_run_info run = {.size = sizeof run};
    *ret_bytes = 0;
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++) {
        if (!cli_run_is_wanted(&run, options->match))
            continue;
        bool may_run = run.running || run.is_unknown;
        bool is_old = run.start_time < limits->oldest;
        is_full |= !is_old && kept_bytes + (double)run.file_bytes > limits->bytes;
        ret_goes[i] = !may_run && (is_old || is_full || kept >= limits->count);
        if (ret_goes[i]) {
            count++;
            *ret_bytes += (double)run.file_bytes;
        } else {
            kept++;
            kept_bytes += (double)run.file_bytes;
        }
    }
    return count;
}

/* Without a terminal nothing is asked: a script has said what it wants. */
static bool is_confirmed(const struct cli_options *options, size_t count, const char *size)
{
    char answer[16] = "";
    if (options->yes || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return true;
    fprintf(stderr, "Remove %zu run%s, %s? [y/N] ", count, count == 1 ? "" : "s", size);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int prune(const struct cli_options *options, trk_runs *runs, const struct limits *limits,
                 bool *goes)
{
    char size[CLI_HUMAN_SIZE];
    double bytes;
    size_t count = choose(options, runs, limits, goes, &bytes);
    cli_human_bytes(bytes, size);
    struct trk_run_info run = {.size = sizeof run};
    for (size_t i = 0; options->dry_run && trk_runs_at(runs, i, &run) == 0; i++)
        if (goes[i])
            printf("%s\n", run.id);
    if (options->dry_run) {
        fprintf(stderr, "resource-tracker: %zu run%s, %s, would be removed\n", count,
                count == 1 ? "" : "s", size);
        return 0;
    }
    if (count && !is_confirmed(options, count, size))
        return cli_fail("nothing was removed");
    int status = 0;
    size_t removed = 0;
    for (size_t i = 0; trk_runs_at(runs, i, &run) == 0; i++) {
        if (!goes[i])
            continue;
        int one = remove_one(runs, i, false);
        removed += one == 0;
        status = status ? status : one;
    }
    printf("%zu run%s removed\n", removed, removed == 1 ? "" : "s");
    return status;
}

static int prune_runs(const struct cli_options *options, trk_runs *runs)
{
    if (options->operands[0])
        return cli_misuse(
            "runs prune takes no run ('%s'); resource-tracker runs remove removes one",
            options->operands[0]);
    double size = options->max_size ? parse_size(options->max_size) : INFINITY;
    if (size < 0)
        return cli_misuse("--max-size: '%s' is not a size; write it as 500M or 2G",
                          options->max_size);
    if (!options->max_size && options->older_than_seconds < 0 && options->keep < 0)
        return cli_misuse("runs prune needs --older-than TIME, --keep COUNT or --max-size SIZE");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct limits limits = {
        .oldest =
            options->older_than_seconds < 0
                ? -INFINITY
                : (double)now.tv_sec + (double)now.tv_nsec * 1e-9 - options->older_than_seconds,
        .bytes = size,
        .count = options->keep < 0 ? INFINITY : options->keep,
    };
    bool *goes = calloc(trk_runs_count(runs) + 1, sizeof *goes);
    int status = goes ? prune(options, runs, &limits, goes) : cli_fail("no memory for the list");
    free(goes);
    return status;
}

int cli_cmd_runs(const struct cli_options *options)
{
    trk_runs *runs;
    struct trk_error error = {0};
    const char *action = options->action ? options->action : "list";
    if (trk_runs_new(NULL, &runs, &error) < 0)
        return cli_fail("%s", error.message);
    int status = strcmp(action, "remove") == 0  ? remove_runs(options, runs)
                 : strcmp(action, "prune") == 0 ? prune_runs(options, runs)
                                                : list_runs(options, runs);
    trk_runs_free(runs);
    return cli_finish_stdout(status);
}
