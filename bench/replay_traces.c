/* Replays recorded traces of true memory through the model and prints how far off it was.
 *
 *   replay_traces [--budget PERCENT] [--rollup-only] [--stall-cap-ms MS] [--cgroup] [--every N]
 *                 [--ticks] TRACE...
 *
 * The format of a trace is described in docs/memory.md; tests/data/pss-traces has some. */
#include "trace_replay.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_tick(void *context, size_t tick, const struct trk_mem_total *total,
                       double true_kb)
{
    (void)context;
    printf("  tick %4zu true %10.0f estimate %10.0f low %10.0f high %10.0f error %+6.1f%% %s\n",
           tick, true_kb, total->pss_kb, total->low_kb, total->high_kb,
           true_kb > 0 ? 100 * (total->pss_kb - true_kb) / true_kb : 0,
           true_kb < total->low_kb || true_kb > total->high_kb ? "outside" : "");
}

static void print_read(void *context, size_t tick, const struct trk_mem_choice *choice,
                       uint64_t cost_ns)
{
    (void)context;
    printf("  tick %4zu %s of %d, %.0f pages: %.2f ms, predicted %.2f\n", tick,
           choice->primitive == TRK_MEM_SAMPLE ? "sample" : "rollup", choice->pid,
           choice->resident_pages, (double)cost_ns / 1e6, choice->predicted_ns / 1e6);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

struct sums {
    double peak_error, peak_error_worst;
    size_t traces, ticks, ticks_inside, peaks_inside;
    double widths[256];
};

static void print_result(const char *path, const struct replay_result *result, struct sums *sums)
{
    double error = fabs(result->peak_error_ratio);
    printf("%-20s peak %9.0f error %+7.2f%% mean %6.2f%% inside %6.2f%% %s width %6.1f%% reads "
           "%3lu samples %3lu "
           "stall %6.2f ms spent %.3f%%\n",
           name_of(path), result->true_peak_kb, 100 * result->peak_error_ratio,
           100 * result->mean_error_ratio,
           100.0 * (double)result->ticks_inside / (double)result->ticks,
           result->peak_inside ? "peak in " : "peak OUT", 100 * result->median_width_ratio,
           result->reads, result->samples, (double)result->longest_stall_ns / 1e6,
           100 * result->spent_ratio);
    sums->peak_error += error;
    sums->peak_error_worst = fmax(sums->peak_error_worst, error);
    if (sums->traces < sizeof(sums->widths) / sizeof(sums->widths[0]))
        sums->widths[sums->traces++] = result->median_width_ratio;
    sums->ticks += result->ticks;
    sums->ticks_inside += result->ticks_inside;
    sums->peaks_inside += result->peak_inside;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void print_sums(struct sums *sums)
{
    qsort(sums->widths, sums->traces, sizeof(sums->widths[0]), compare_doubles);
    printf("%zu traces: peak error %.2f%% on average, %.2f%% at worst; inside %.2f%% of ticks, %zu "
           "peaks; median "
           "width %.1f%%\n",
           sums->traces, 100 * sums->peak_error / (double)sums->traces,
           100 * sums->peak_error_worst, 100.0 * (double)sums->ticks_inside / (double)sums->ticks,
           sums->peaks_inside, 100 * sums->widths[sums->traces / 2]);
}

static int replay_file(const char *path, const struct replay_options *options, struct sums *sums)
{
    struct trace trace;
    int r = trace_load(path, &trace);
    struct replay_result result;
    if (r == 0) {
        r = trace_replay(&trace, options, &result);
        trace_done(&trace);
    }
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(-r));
        return r;
    }
    print_result(path, &result, sums);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option options_table[] = {
        {"budget", required_argument, NULL, 'b'},
        {"rollup-only", no_argument, NULL, 'r'},
        {"stall-cap-ms", required_argument, NULL, 's'},
        {"cgroup", no_argument, NULL, 'c'},
        {"every", required_argument, NULL, 'e'},
        {"ticks", no_argument, NULL, 't'},
        {0},
    };
    struct replay_options options = {
        .budget_ratio = 0.001, .may_sample = true, .stall_cap_ns = 2000000};
    for (int c; (c = getopt_long(argc, argv, "", options_table, NULL)) != -1;) {
        switch (c) {
        case 'b':
            options.budget_ratio = atof(optarg) / 100;
            break;
        case 'r':
            options.may_sample = false;
            break;
        case 's':
            options.stall_cap_ns = (uint64_t)(atof(optarg) * 1e6);
            break;
        case 'e':
            options.every = (size_t)atol(optarg);
            break;
        case 'c':
            options.use_cgroup = true;
            break;
        case 't':
            options.on_tick = print_tick, options.on_read = print_read;
            break;
        default:
            return 125;
        }
    }
    struct sums sums = {0};
    for (int i = optind; i < argc; i++)
        if (replay_file(argv[i], &options, &sums) < 0)
            return 1;
    if (sums.traces > 0)
        print_sums(&sums);
    return 0;
}
